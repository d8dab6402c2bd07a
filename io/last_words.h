/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bytes that a program owes a device, such as those that lower a stimulator's line, and that it sends even
 * where a signal ends it. Whoever owes some claims a slot, fills it before it raises the line and clears it
 * once the bytes are out.
 */
#ifndef SF_IO_LAST_WORDS_H
#define SF_IO_LAST_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes that one slot holds at most. */
#define SF_LAST_WORDS_BYTES 256

typedef struct sf_last_words sf_last_words;

/** A slot of this program, which has 64; NULL where none is free. Any thread. */
sf_last_words *sf_last_words_claim(void);
void sf_last_words_release(sf_last_words *slot); /**< NULL is allowed */

/** From now on these bytes are owed to the open file. More than SF_LAST_WORDS_BYTES are not kept. */
void sf_last_words_owe(sf_last_words *slot, int file, const char *bytes, size_t length);
void sf_last_words_clear(sf_last_words *slot);

/** Writes what is owed, without waiting. Safe in a handler of signals. */
void sf_last_words_say(void);

#endif
