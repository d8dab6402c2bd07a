/* SPDX-License-Identifier: Apache-2.0 */
/** Resource limits of this process, per operating system: limits_linux.c or limits_windows.c. */
#ifndef SF_READER_LIMITS_H
#define SF_READER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/** Descriptor of the memory file for the parcel; -1 if synfire did not start this process. */
int reader_parcel(void);

/** Arranges that this process dies with the thread (Windows: process) that started it; false if that is
 * already gone. */
bool reader_stay_with(const char *parent);

/** Limits memory and processor time to what a file of this length needs (io/apart.h). */
void reader_keep_limits(uint64_t length);

/** Maximum size of a file that this process may write; UINT64_MAX: unlimited. */
uint64_t reader_file_limit(void);

/** Exits without cleanup, which a damaged file may have broken. */
__attribute__((noreturn)) void reader_leave(void);

#endif
