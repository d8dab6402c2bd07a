/* SPDX-License-Identifier: Apache-2.0 */
/** The one pair of functions that all allocation goes through, so that a test can fail the Nth one. */
#ifndef SF_CORE_MEMORY_H
#define SF_CORE_MEMORY_H

#include <stddef.h>

/**
 * Resizes `memory` (NULL: allocates) to count * size bytes. Returns NULL where the product overflows or
 * memory is out; the old block is then untouched. New bytes are not cleared. count * size == 0 gives a block
 * of one byte.
 */
void *sf_resize(void *memory, size_t count, size_t size);

/** Releases a block of sf_resize, sf_alloc, sf_copy_string; NULL is allowed. */
void sf_free(void *memory);

/** count * size zeroed bytes by sf_resize, or NULL. */
void *sf_alloc(size_t count, size_t size);

/** A copy of a string, or NULL. */
char *sf_copy_string(const char *text);

/**
 * Makes room for `needed` items in a growing array: the pointer to the items, of whatever type, lies at
 * items_at and has room for *capacity of `size` bytes each. It grows by half. Returns 0, or -1 with
 * everything as it was.
 */
int sf_reserve(void *items_at, size_t *capacity, size_t needed, size_t size);

/** Tests: the allocation after `successes` more fails, and every one after it; a negative number turns this
 * off. */
void sf_memory_fail_after(long successes);

/** Tests: blocks allocated and not yet freed. */
long sf_memory_live(void);

#endif
