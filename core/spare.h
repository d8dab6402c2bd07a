/* SPDX-License-Identifier: Apache-2.0 */
/** Large blocks that were freed and are kept for whoever asks next: what core/memory.c has of a run. */
#ifndef SF_CORE_SPARE_H
#define SF_CORE_SPARE_H

#include <stdbool.h>
#include <stddef.h>

/** Smaller blocks are left to the system's allocator, which keeps them itself; at most this many bytes, in at
 * most this many blocks, are kept here. */
#define SF_SPARE_LARGE ((size_t)128 << 10)
#define SF_SPARE_BYTES ((size_t)256 << 20)
#define SF_SPARE_BLOCKS 64

/** Any thread. Keeping begins with the first of these and ends, and all blocks are freed, with the last. */
void sf_spare_begin(void);
void sf_spare_end(void);
bool sf_spare_is_on(void);

/** So many bytes as a block is to have that is asked for with `bytes`: a little more, so that it also serves
 * who asks for a little more next. */
size_t sf_spare_room(size_t bytes);

/** The smallest block that is kept with room for these bytes and less than twice as much, or NULL. */
void *sf_spare_take(size_t bytes);

/** Takes over a block of malloc, for which others may have to go; false: it is too small or too large. */
bool sf_spare_give(void *block);

#endif
