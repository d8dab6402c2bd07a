/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plexon files of any bytes: a recording in order, or a refusal. Headers are long and mostly nothing: an
 * input begins with the first 256 bytes of the file's, and the zeros up to 7,504 are put in.
 */
#include "fuzz/file_input.h"
#include "fuzz/recording_input.h"

#include <string.h>

enum { FIRST = 256, HEADER = 7504 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sf_reading ways[] = {{0}, {.stream = "joined"}, {.stream = "session2", .rate_hz = 1e9}};
    size_t first = size < FIRST ? size : FIRST;
    uint8_t *file_bytes = calloc(HEADER + size - first, 1);
    if (file_bytes == NULL) abort();
    memcpy(file_bytes, data, first);
    if (size > first) memcpy(file_bytes + HEADER, data + first, size - first);
    file_input file = open_input(file_bytes, size > first ? HEADER + size - first : first);
    read_each_way(file.path, ways, sizeof ways / sizeof ways[0], read_any);
    close_input(&file);
    free(file_bytes);
    return 0;
}
