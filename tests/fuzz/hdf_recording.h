/* SPDX-License-Identifier: Apache-2.0 */
/** What both fuzz programs of HDF5 recordings do with a file, whole or not. */
#ifndef SF_TESTS_FUZZ_HDF_RECORDING_H
#define SF_TESTS_FUZZ_HDF_RECORDING_H

#include "core/memory.h"
#include "fuzz/hdf_image.h"
#include "replay/reader.h"

#include <stdlib.h>

static inline void check_recording(const sf_recording *recording)
{
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        if (spike->unit >= recording->units.count || (i > 0 && spike->time_ns < spike[-1].time_ns) ||
            spike->time_ns < recording->recorded.start_ns || spike->time_ns >= recording->recorded.stop_ns)
            abort();
    }
    sf_overview *overview;
    sf_error error;
    if (sf_recording_overview(&overview, recording, NULL, &error) == SF_OK)
        sf_overview_free(overview);
}

/** Reads the file both as one that was closed and as one whose writer was killed, and closes it. */
static inline void read_recording(hid_t file)
{
    for (int live = 0; file >= 0 && live < 2; live++) {
        sf_recording recording;
        sf_error error = {0};
        const sf_hdf_input input = {.file = file, .live = live != 0, .path = "fuzz"};
        if (sf_recording_read_hdf5(&recording, &input, &error) == SF_OK) {
            check_recording(&recording);
            sf_recording_clear(&recording);
        } else if (error.text[0] == '\0') {
            abort();
        }
    }
    sf_hdf_close(file);
    if (sf_memory_live() != 0)
        abort();
}

#endif
