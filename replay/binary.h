/* SPDX-License-Identifier: Apache-2.0 */
/** What readers of binary files share: bytes at a place, and text. */
#ifndef SF_REPLAY_BINARY_H
#define SF_REPLAY_BINARY_H

#include "core/little.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The first `size` bytes of a file; false where it is no regular file, cannot be opened or is shorter. */
bool sf_binary_begin(const char *path, void *to, size_t size);

/**
 * Text of one byte a character, up to a NUL or `size` bytes: UTF-8 where it is, else Latin-1, as UTF-8. Cut
 * at a whole character to fit `room`.
 */
void sf_binary_text(char *to, size_t room, const unsigned char *from, size_t size);

/** Appends a character in UTF-8 to the *length bytes of `to`; false where there is no room. */
bool sf_binary_put_character(char *to, size_t room, size_t *length, uint32_t code);

/** Takes white space off the end of a text, or off both. */
void sf_binary_trim_end(char *text);
void sf_binary_trim(char *text);

#endif
