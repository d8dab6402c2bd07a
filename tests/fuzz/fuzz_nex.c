/* SPDX-License-Identifier: Apache-2.0 */
/* NeuroExplorer files, of any bytes: a recording in order, or a refusal. Its sessions, too, where a clock
 * steps back. */
#include "fuzz/file_input.h"
#include "fuzz/recording_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sf_reading ways[] = {{0}, {.stream = "joined"}, {.stream = "session2", .rate_hz = 1e9}};
    file_input file = open_input(data, size);
    read_each_way(file.path, ways, sizeof ways / sizeof ways[0], read_any);
    close_input(&file);
    return 0;
}
