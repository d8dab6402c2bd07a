/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bytes that the program must still send to a device when a signal ends it, such as those that lower the
 * output line of a stimulator. A device driver claims a slot, fills it before it raises the line and clears
 * it once the lowering bytes are sent.
 */
#ifndef SF_IO_LAST_WORDS_H
#define SF_IO_LAST_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes that one slot holds at most. */
#define SF_LAST_WORDS_BYTES 256

typedef struct sf_last_words sf_last_words;

/** Claims one of the program's 64 slots; NULL if none is free. Any thread. */
sf_last_words *sf_last_words_claim(void);
void sf_last_words_release(sf_last_words *slot); /**< NULL is allowed */

/** Registers `length` bytes to be written to the open file. Ignored if length > SF_LAST_WORDS_BYTES. */
void sf_last_words_owe(sf_last_words *slot, int file, const char *bytes, size_t length);
void sf_last_words_clear(sf_last_words *slot);

/** Writes all registered bytes without waiting. Safe in a signal handler. */
void sf_last_words_say(void);

#endif
