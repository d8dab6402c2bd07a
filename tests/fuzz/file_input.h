/* SPDX-License-Identifier: Apache-2.0 */
/** For what is read by its path: the input as a file in memory. */
#ifndef SF_TESTS_FUZZ_FILE_INPUT_H
#define SF_TESTS_FUZZ_FILE_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct file_input {
    int descriptor;
    char path[64];
} file_input;

static inline file_input open_input(const uint8_t *data, size_t size)
{
    file_input input = {.descriptor = memfd_create("fuzz", MFD_CLOEXEC)};
    if (input.descriptor < 0 || write(input.descriptor, data, size) != (ssize_t)size) abort();
    snprintf(input.path, sizeof input.path, "/proc/self/fd/%d", input.descriptor);
    return input;
}

static inline void close_input(const file_input *input)
{
    close(input->descriptor);
}

#endif
