/* SPDX-License-Identifier: Apache-2.0 */
/** The permutation test of responses, as analysis/responses.h says. */
#ifndef SF_ANALYSIS_RESPONSE_TEST_H
#define SF_ANALYSIS_RESPONSE_TEST_H

#include <synfire/error.h>

/**
 * What a permutation can change: of each item the trials, or blocks of them, whose windows do not all count
 * the same. A deviation is (windows * count - sum over the windows): a whole number, and those of a row have
 * the sum 0. Zero-initialise, set `windows`.
 */
typedef struct sf_response_rows {
    size_t windows; /**< of a trial, the response window first */
    size_t *first;  /**< of item i, rows first[i] .. first[i + 1]) */
    size_t item_count, item_room;
    uint32_t *blocks;    /**< of each row, ascending within an item */
    int64_t *deviations; /**< rows of `windows` */
    size_t count, block_room, deviation_room;
} sf_response_rows;

/** Begins the next item; adds a row to it unless all counts are the same. SF_NO_MEMORY. */
int sf_response_rows_begin(sf_response_rows *rows, sf_error *error);
int sf_response_rows_add(sf_response_rows *rows, uint32_t block, const uint64_t *counts, sf_error *error);
void sf_response_rows_free(sf_response_rows *rows);

typedef struct sf_response_tested {
    double p, q; /**< NaN: the item has no rows */
} sf_response_tested;

#define SF_LEAST_BLOCKS 10

/** Tests all items by permutations of blocks of 1, 2, 4, ... trials; the rows are merged on the way.
 * *longest_block and *least_p are as in sf_responses. SF_NO_MEMORY. `threads` 0: all. */
int sf_response_test(sf_response_tested *tested, uint64_t *longest_block, double *least_p,
                     sf_response_rows *rows, size_t trials, uint64_t permutations, uint64_t seed,
                     unsigned threads, sf_error *error);

#endif
