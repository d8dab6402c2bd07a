/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reals.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void sf_reals_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
}

static int compare_ranks(const void *a, const void *b)
{
    const sf_rank *left = a, *right = b;
    int order = compare(&left->amount, &right->amount);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

void sf_ranks_sort(sf_rank *ranks, size_t count)
{
    qsort(ranks, count, sizeof *ranks, compare_ranks);
}

size_t sf_reals_lower_bound(const double *ascending, size_t count, double least)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ascending[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
