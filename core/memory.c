/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory.h"

#include "core/platform.h"
#include "core/spare.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <synfire/error.h>

static atomic_long successes_left = LONG_MAX;
static atomic_long live_blocks;

void sf_memory_fail_after(long successes)
{
    atomic_store(&successes_left, successes < 0 ? LONG_MAX : successes);
}

long sf_memory_live(void)
{
    return atomic_load(&live_blocks);
}

static int must_fail(void)
{
    long left = atomic_load_explicit(&successes_left, memory_order_relaxed);
    if (left == LONG_MAX) return 0;
    return atomic_fetch_sub(&successes_left, 1) <= 0;
}

/* So large a block is backed with pages of the larger kind where the system has them: each is made at one
 * fault, where 512 of the smaller kind take as many, and fewer addresses are looked up when the block is read
 * in no order. */
#define LARGE_BYTES ((size_t)4 << 20)

static void ask_for_large_pages(void *memory, size_t bytes)
{
    const uintptr_t page = (uintptr_t)1 << 21; /* of the larger kind on x86 and most others */
    uintptr_t begin = ((uintptr_t)memory + page - 1) / page * page,
              end = ((uintptr_t)memory + bytes) / page * page;
    sf_platform_large_pages((void *)begin, end - begin);
}

/* From what is kept, or a block with some room to spare; NULL: as of malloc. */
static void *take_large(size_t bytes)
{
    void *block = sf_spare_take(bytes);
    if (block != NULL) return block;
    size_t room = sf_spare_room(bytes);
    block = malloc(room);
    if (block != NULL && room >= LARGE_BYTES) ask_for_large_pages(block, room);
    return block;
}

void *sf_resize(void *memory, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    if (must_fail()) return NULL;
    size_t bytes = count * size;
    bool may_be_kept = memory == NULL && bytes >= SF_SPARE_LARGE && sf_spare_is_on();
    void *resized = may_be_kept ? take_large(bytes) : realloc(memory, bytes != 0 ? bytes : 1);
    if (resized != NULL && memory == NULL) atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
    if (resized != NULL && bytes >= LARGE_BYTES && !may_be_kept) ask_for_large_pages(resized, bytes);
    return resized;
}

void sf_free(void *memory)
{
    if (memory == NULL) return;
    atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
    if (!sf_spare_is_on() || !sf_spare_give(memory)) free(memory);
}

void sf_release(void *memory)
{
    sf_free(memory);
}

void *sf_alloc(size_t count, size_t size)
{
    void *memory = sf_resize(NULL, count, size);
    if (memory != NULL) memset(memory, 0, count * size);
    return memory;
}

char *sf_copy_string(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = sf_resize(NULL, length, 1);
    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

int sf_reserve(void *items_at, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity) return 0;
    size_t grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (grown < needed) grown = needed;
    void *items;
    memcpy(&items, items_at, sizeof items);
    items = sf_resize(items, grown, size);
    if (items == NULL) return -1;
    memcpy(items_at, &items, sizeof items);
    *capacity = grown;
    return 0;
}
