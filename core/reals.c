/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reals.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static int compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int compare_counts(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* qsort may not be given NULL. */
static void sort(void *numbers, size_t count, size_t size, int (*order)(const void *a, const void *b))
{
    if (count > 1) qsort(numbers, count, size, order);
}

void sf_reals_sort(double *values, size_t count)
{
    sort(values, count, sizeof *values, compare);
}

bool sf_times_settle(int64_t *times_ns, size_t count)
{
    size_t steps = 0;
    for (size_t i = 1; i < count; i++) {
        int64_t time_ns = times_ns[i];
        size_t at = i;
        for (; at > 0 && times_ns[at - 1] > time_ns && steps <= count; at--, steps++)
            times_ns[at] = times_ns[at - 1];
        times_ns[at] = time_ns;
    }
    return steps <= count;
}

void sf_times_sort(int64_t *times_ns, size_t count)
{
    if (!sf_times_settle(times_ns, count)) sort(times_ns, count, sizeof *times_ns, compare_times);
}

void sf_counts_sort(uint64_t *counts, size_t count)
{
    sort(counts, count, sizeof *counts, compare_counts);
}

double sf_reals_median(double *values, size_t count)
{
    sf_reals_sort(values, count);
    return count == 0 ? (double)NAN : (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static int compare_ranks(const void *a, const void *b)
{
    const sf_rank *left = a, *right = b;
    int order = compare(&left->amount, &right->amount);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

void sf_ranks_sort(sf_rank *ranks, size_t count)
{
    sort(ranks, count, sizeof *ranks, compare_ranks);
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
