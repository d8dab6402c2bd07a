/* SPDX-License-Identifier: Apache-2.0 */
/** Helpers of readers of binary files: bytes at an offset, and text. */
#ifndef SF_REPLAY_BINARY_H
#define SF_REPLAY_BINARY_H

#include "core/little.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Reads the first `size` bytes of a file; false if it is no regular file, cannot be opened or is shorter. */
bool sf_binary_begin(const char *path, void *to, size_t size);

/**
 * Converts text up to a NUL or `size` bytes to UTF-8: valid UTF-8 is copied, anything else is taken as
 * Latin-1. Cut at a whole character to fit `room`.
 */
void sf_binary_text(char *to, size_t room, const unsigned char *from, size_t size);

/** Appends a character in UTF-8 to the *length bytes of `to`; false if there is no room. */
bool sf_binary_put_character(char *to, size_t room, size_t *length, uint32_t code);

/** Removes white space at the end of a text; at both ends. */
void sf_binary_trim_end(char *text);
void sf_binary_trim(char *text);

#endif
