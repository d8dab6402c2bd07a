/* SPDX-License-Identifier: Apache-2.0 */
#include "core/arena.h"

#include "core/memory.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <synfire/error.h>

enum { LEAST_BYTES = 16 << 10, MOST_BYTES = 4 << 20 }; /* of a chunk, unless one block takes more */

typedef struct sf_arena_chunk {
    struct sf_arena_chunk *before;
    size_t used, room;
    alignas(max_align_t) char bytes[];
} chunk;

static int add_chunk(sf_arena *arena, size_t bytes)
{
    chunk *added = bytes <= SIZE_MAX - sizeof *added ? sf_resize(NULL, sizeof *added + bytes, 1) : NULL;
    if (added == NULL) return SF_NO_MEMORY;
    added->before = arena->newest;
    added->used = 0;
    added->room = bytes;
    arena->newest = added;
    return SF_OK;
}

static size_t rounded(size_t bytes)
{
    return (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}

int sf_arena_open(sf_arena *arena, size_t bytes)
{
    arena->newest = NULL;
    int status = add_chunk(arena, rounded(bytes));
    if (status == SF_OK) memset(arena->newest->bytes, 0, bytes);
    return status;
}

void *sf_arena_take(sf_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - alignof(max_align_t)) return NULL;
    bytes = rounded(bytes);
    if (arena->newest == NULL || arena->newest->room - arena->newest->used < bytes) {
        size_t room = arena->newest == NULL               ? LEAST_BYTES
                      : arena->newest->room >= MOST_BYTES ? MOST_BYTES
                                                          : 2 * arena->newest->room;
        if (add_chunk(arena, bytes > room ? bytes : room) != SF_OK) return NULL;
    }
    void *block = arena->newest->bytes + arena->newest->used;
    arena->newest->used += bytes;
    return block;
}

void sf_arena_trim(sf_arena *arena, void *block, size_t bytes)
{
    arena->newest->used = (size_t)((char *)block - arena->newest->bytes) + rounded(bytes);
}

/* The largest chunk that is no block of its own stays. */
void sf_arena_empty(sf_arena *arena)
{
    chunk *kept = NULL;
    for (chunk *at = arena->newest, *before; at != NULL; at = before) {
        before = at->before;
        const bool is_larger = at->room <= MOST_BYTES && (kept == NULL || at->room > kept->room);
        sf_free(is_larger ? kept : at);
        kept = is_larger ? at : kept;
    }
    arena->newest = kept;
    if (kept != NULL) {
        kept->before = NULL;
        kept->used = 0;
    }
}

void sf_arena_free(sf_arena *arena)
{
    for (chunk *at = arena->newest, *before; at != NULL; at = before) {
        before = at->before;
        sf_free(at);
    }
    arena->newest = NULL;
}
