/* SPDX-License-Identifier: Apache-2.0 */
/** The bounds of this process, by its system: limits_linux.c, or limits_windows.c. */
#ifndef SF_READER_LIMITS_H
#define SF_READER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/** The file in memory that synfire gave for the parcel; -1: it was not synfire that started this. */
int reader_parcel(void);

/** Dies with the thread that started it, on Windows with its process; false where that is gone by now. */
bool reader_stay_with(const char *parent);

/** Takes no more memory and processor time than a file of this length needs (io/apart.h). */
void reader_keep_limits(uint64_t length);

/** How many bytes a file that this process writes may have; UINT64_MAX: any number. */
uint64_t reader_file_limit(void);

/** Nothing is to be put in order here, and a damaged file may have broken what would do it. */
__attribute__((noreturn)) void reader_leave(void);

#endif
