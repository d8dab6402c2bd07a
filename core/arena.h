/* SPDX-License-Identifier: Apache-2.0 */
/** Many small blocks that are freed together: each is the next piece of a larger one. */
#ifndef SF_CORE_ARENA_H
#define SF_CORE_ARENA_H

#include <stddef.h>

/** Zero-initialise. Used by one thread at a time. */
typedef struct sf_arena {
    struct sf_arena_chunk *newest;
} sf_arena;

/** Allocates the first chunk, of this many bytes, and writes to it so that the system maps its pages now.
 * SF_NO_MEMORY. */
int sf_arena_open(sf_arena *arena, size_t bytes);

/** count * size bytes, aligned for any type and not cleared; NULL where memory is out. */
void *sf_arena_take(sf_arena *arena, size_t count, size_t size);

/** Gives back all but the first `bytes` of the block that was taken last. */
void sf_arena_trim(sf_arena *arena, void *block, size_t bytes);

/** All blocks are given back; a chunk of up to 4 MiB stays for others. */
void sf_arena_empty(sf_arena *arena);

void sf_arena_free(sf_arena *arena);

#endif
