/* SPDX-License-Identifier: Apache-2.0 */
/** Sorted lists of distinct numbers. */
#ifndef SF_GRAPH_MATCH_SORTED_H
#define SF_GRAPH_MATCH_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is in both, into `out` (room for the shorter one, which it may be); returns how many. */
uint32_t sf_sorted_intersect(uint32_t *out, const uint32_t *a, uint32_t a_count, const uint32_t *b,
                             uint32_t b_count);

/** Index of the first number that is not less than `value`. */
uint32_t sf_sorted_lower_bound(const uint32_t *list, uint32_t count, uint32_t value);

/**
 * Ways to choose a different number from each of the lists (at most 8): inclusion and exclusion over the ways
 * to split the lists into blocks that share a number, which is 3^count steps of numbers from one intersection
 * for each subset. scratch has room for all lists together, `depth` times over where depth is `count`.
 * UINT64_MAX where it does not fit.
 */
uint64_t sf_sorted_choices(const uint32_t *const *lists, const uint32_t *counts, uint32_t count,
                           uint32_t *scratch);

/** The same by shared[subset]: how many numbers all lists of a subset hold. */
uint64_t sf_choices(const uint32_t *shared, uint32_t count);

/** n (n - 1) ... (n - k + 1); UINT64_MAX where it does not fit. */
uint64_t sf_falling_factorial(uint64_t n, uint32_t k);

#endif
