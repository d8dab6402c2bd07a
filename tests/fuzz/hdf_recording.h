/* SPDX-License-Identifier: Apache-2.0 */
/** What both fuzz programs of HDF5 recordings do with a file, whole or not. */
#ifndef SF_TESTS_FUZZ_HDF_RECORDING_H
#define SF_TESTS_FUZZ_HDF_RECORDING_H

#include "fuzz/hdf_image.h"
#include "fuzz/recording_input.h"
#include "replay/reader.h"
#include "support/read_hdf5.h"

/** Reads one stream of the file, or a part of it as ranks do (1), or a piece (2); false where it has several
 * and none was chosen, or has no pieces. */
static inline bool read_part(hid_t file, bool live, const char *stream, int how)
{
    sf_recording recording;
    sf_error error = {0};
    const sf_hdf_input input = {.file = file,
                                .live = live,
                                .path = "fuzz",
                                .stream = stream,
                                .part = how > 0,
                                .parts = how > 0 ? 3 : 0,
                                .only_part = how == 2};
    int status = test_read_hdf5(&recording, &input, &error);
    if (status == SF_OK && recording.is_part && how == 1) { /* as whoever joins parts does */
        status = sf_recording_finish(&recording, &error);
        if (status != SF_OK) sf_recording_clear(&recording);
    }
    if (status == SF_OK) {
        check_recording(&recording);
        sf_recording_clear(&recording);
    } else if (error.text[0] == '\0') {
        abort();
    }
    return status != SF_USAGE;
}

static inline bool read_stream(hid_t file, bool live, const char *stream)
{
    bool chosen = read_part(file, live, stream, 0);
    for (int how = 1; chosen && how < 3; how++)
        read_part(file, live, stream, how);
    return chosen;
}

/** Reads the file both as one that was closed and as one whose writer was killed, and closes it. */
static inline void read_recording(hid_t file)
{
    static const char *const streams[] = {"well000/rec0000", "A1", "0"}; /* of the images that have several */
    for (int live = 0; file >= 0 && live < 2; live++)
        if (!read_stream(file, live != 0, NULL))
            for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
                read_stream(file, live != 0, streams[i]);
    sf_hdf_close(file);
    if (sf_memory_live() != 0) abort();
}

#endif
