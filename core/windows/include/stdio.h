/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_STDIO_H
#define SF_WINDOWS_STDIO_H
#include_next <stdio.h>

/** Takes the place of what has the new name, as POSIX's does. */
int sf_windows_rename(const char *from, const char *to);
#define rename sf_windows_rename

/** A pipe that nobody reads any more is EPIPE; Microsoft says EINVAL. */
size_t sf_windows_fwrite(const void *from, size_t size, size_t count, FILE *file);
int sf_windows_fflush(FILE *file);
#define fwrite sf_windows_fwrite
#define fflush sf_windows_fflush

#endif
