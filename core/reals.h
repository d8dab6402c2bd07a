/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers in ascending order; none of them is NaN. */
#ifndef SF_CORE_REALS_H
#define SF_CORE_REALS_H

#include <stddef.h>

void sf_reals_sort(double *values, size_t count);

/** Index of the first that is at least `least`; `count` where none is. */
size_t sf_reals_lower_bound(const double *ascending, size_t count, double least);

/** How much of something there is at `index` elsewhere. */
typedef struct sf_rank {
    double amount;
    size_t index;
} sf_rank;

/** Ascending, equal amounts by index. */
void sf_ranks_sort(sf_rank *ranks, size_t count);

#endif
