/* SPDX-License-Identifier: Apache-2.0 */
/** The permutation test of responses, as analysis/responses.h says. */
#ifndef SF_ANALYSIS_RESPONSE_TEST_H
#define SF_ANALYSIS_RESPONSE_TEST_H

#include <synfire/error.h>

/**
 * Everything that a permutation can change: for each item, the trials (or blocks of trials) whose windows do
 * not all have the same count. A deviation is windows * count - (sum over the windows), an integer; the
 * deviations of a row sum to 0. Zero-initialise, then set `windows`.
 */
typedef struct sf_response_rows {
    size_t windows; /**< windows per trial, the response window first */
    size_t *first;  /**< rows of item i are first[i] .. first[i + 1] - 1 */
    size_t item_count, item_room;
    uint32_t *blocks;    /**< block of each row, ascending within an item */
    int64_t *deviations; /**< rows of `windows` */
    size_t count, block_room, deviation_room;
} sf_response_rows;

/** sf_response_rows_begin begins the next item; sf_response_rows_add adds a row to it unless all counts are
 * equal. SF_NO_MEMORY. */
int sf_response_rows_begin(sf_response_rows *rows, sf_error *error);
int sf_response_rows_add(sf_response_rows *rows, uint32_t block, const uint64_t *counts, sf_error *error);
void sf_response_rows_free(sf_response_rows *rows);

typedef struct sf_response_tested {
    double p, q; /**< NaN: the item has no rows */
} sf_response_tested;

#define SF_LEAST_BLOCKS 10

/** Tests all items by permutations of blocks of 1, 2, 4, ... trials, merging the rows in place.
 * *longest_block and *least_p are as in sf_responses. `threads` 0: all cores. SF_NO_MEMORY. */
int sf_response_test(sf_response_tested *tested, uint64_t *longest_block, double *least_p,
                     sf_response_rows *rows, size_t trials, uint64_t permutations, uint64_t seed,
                     unsigned threads, sf_error *error);

#endif
