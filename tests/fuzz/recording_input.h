/* SPDX-License-Identifier: Apache-2.0 */
/** What fuzz targets do with what a reader makes of a file. */
#ifndef SF_TESTS_FUZZ_RECORDING_INPUT_H
#define SF_TESTS_FUZZ_RECORDING_INPUT_H

#include "core/memory.h"
#include "replay/recording_file.h"

#include <stdlib.h>
#include <synfire/recording.h>

static inline void check_recording(const sf_recording *recording)
{
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        if (spike->unit >= recording->units.count || (i > 0 && spike->time_ns < spike[-1].time_ns) ||
            spike->time_ns < recording->recorded.start_ns || spike->time_ns >= recording->recorded.stop_ns)
            abort();
    }
    for (size_t i = 0; i < recording->observed_count; i++)
        if (recording->observed[i].start_ns >= recording->observed[i].stop_ns ||
            (i > 0 && recording->observed[i].start_ns < recording->observed[i - 1].stop_ns))
            abort();
    if (recording->recorded.start_ns > recording->recorded.stop_ns) abort();
    sf_overview *overview;
    sf_error error;
    if (sf_recording_overview(&overview, recording, NULL, &error) == SF_OK) sf_overview_free(overview);
}

/** Reads a file as each of these says: a recording in order, or a refusal. */
static inline void read_each_way(const char *path, const sf_reading *ways, size_t count,
                                 int (*read)(sf_recording *recording, const char *path, const sf_reading *how,
                                             sf_error *error))
{
    for (size_t i = 0; i < count; i++) {
        sf_recording recording;
        sf_error error = {0};
        if (read(&recording, path, &ways[i], &error) == SF_OK)
            check_recording(&recording);
        else if (error.text[0] == '\0')
            abort();
        sf_recording_clear(&recording);
    }
    if (sf_memory_live() != 0) abort();
}

/** The reader of any layout, for read_each_way. */
static inline int read_any(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    return sf_recording_read(recording, path, how, NULL, error);
}

#endif
