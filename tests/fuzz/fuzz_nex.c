/* SPDX-License-Identifier: Apache-2.0 */
/* NeuroExplorer files, of any bytes: a recording in order, or a refusal. Its sessions, too, where a clock
 * steps back. */
#include "core/memory.h"
#include "fuzz/file_input.h"
#include "fuzz/hdf_recording.h"
#include "replay/recording_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sf_reading hows[] = {{0}, {.stream = "joined"}, {.stream = "session2", .rate_hz = 1e9}};
    file_input file = open_input(data, size);
    for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i++) {
        sf_recording recording;
        sf_error error = {0};
        if (sf_recording_read(&recording, file.path, &hows[i], NULL, &error) == SF_OK)
            check_recording(&recording);
        else if (error.text[0] == '\0')
            abort();
        sf_recording_clear(&recording);
    }
    close_input(&file);
    if (sf_memory_live() != 0)
        abort();
    return 0;
}
