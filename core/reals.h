/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers; in ascending order none of them is NaN. Of none the pointer may be NULL. */
#ifndef SF_CORE_REALS_H
#define SF_CORE_REALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void sf_reals_sort(double *values, size_t count);
void sf_times_sort(int64_t *times_ns, size_t count);
void sf_counts_sort(uint64_t *counts, size_t count);

/** Sorts where that takes no more steps than there are times, as where few are out of order; else false, and
 * they are not in order yet. */
bool sf_times_settle(int64_t *times_ns, size_t count);

/** Sorts the values and returns their median: the mean of the middle two where their number is even, NaN
 * where there are none. */
double sf_reals_median(double *values, size_t count);

/** Index of the first that is at least `least`; `count` where none is. */
size_t sf_reals_lower_bound(const double *ascending, size_t count, double least);

/** The sum of a[i] b[i], from the first on. */
static inline double sf_reals_product(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/** How much of something there is at `index` elsewhere. */
typedef struct sf_rank {
    double amount;
    size_t index;
} sf_rank;

/** Ascending, equal amounts by index. */
void sf_ranks_sort(sf_rank *ranks, size_t count);

#endif
