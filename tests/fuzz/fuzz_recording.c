/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an HDF5 file in memory give a recording in order, or a refusal. */
#include "core/memory.h"
#include "fuzz/hdf_image.h"
#include "replay/overview.h"
#include "replay/reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const sf_recording *recording)
{
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        if (spike->unit >= recording->units.count || (i > 0 && spike->time_ns < spike[-1].time_ns) ||
            spike->time_ns < recording->recorded.start_ns || spike->time_ns >= recording->recorded.stop_ns)
            abort();
    }
    sf_overview overview;
    sf_error error;
    if (sf_overview_make(&overview, recording, &error) == SF_OK)
        sf_overview_free(&overview);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_hdf_begin();
    hid_t file = open_image(data, size);
    sf_recording recording;
    sf_error error;
    /* Both as a file that was closed and as one whose writer was killed. */
    for (int live = 0; file >= 0 && live < 2; live++) {
        if (sf_recording_read_hdf5(&recording, file, live != 0, "fuzz", NULL, NULL, &error) != SF_OK)
            continue;
        check(&recording);
        sf_recording_free(&recording);
    }
    sf_hdf_close(file);
    if (sf_memory_live() != 0)
        abort();
    return 0;
}
