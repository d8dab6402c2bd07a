/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/stretch.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

/* So many rows are read as fast as one. */
enum { FEW = 128 };

/* Between two times, the rows of each train: before `low_ns` there are `low` of them, before `high_ns`
 * `high`. */
typedef struct bracket {
    int64_t low_ns, high_ns;
    size_t *low, *high, *middle;
    size_t all_low, all_high;
} bracket;

static size_t begin_of(const sf_trains_in_seconds *trains, size_t train)
{
    return train > 0 ? trains->ends[train - 1] : 0;
}

/* The place in between where the share would be if all were even. */
static uint64_t between(uint64_t length, uint64_t share, uint64_t whole)
{
    return whole > 0 ? (uint64_t)((unsigned __int128)length * share / whole) : length / 2;
}

/* How many spikes of the train are before `time_ns`: guessed, and every other time by halves, as trains need
 * not be even. */
static int count_before(size_t *count, size_t train, int64_t time_ns, const bracket *b,
                        const sf_trains_in_seconds *trains, sf_error *error)
{
    size_t low = b->low[train], high = b->high[train], begin = begin_of(trains, train);
    int64_t low_ns = b->low_ns, high_ns = b->high_ns, times[FEW];
    for (bool halve = false; high - low > FEW; halve = !halve) {
        uint64_t share = (uint64_t)time_ns - (uint64_t)low_ns, whole = (uint64_t)high_ns - (uint64_t)low_ns;
        size_t at = low + (halve || share >= whole ? (high - low) / 2 : between(high - low, share, whole));
        int status = sf_train_times_read(times, trains, train, begin + at, 1, error);
        if (status != SF_OK)
            return status;
        if (times[0] < time_ns) {
            low = at + 1;
            low_ns = times[0] > low_ns ? times[0] : low_ns;
        } else {
            high = at;
            high_ns = times[0] < high_ns ? times[0] : high_ns;
        }
    }
    int status = sf_train_times_read(times, trains, train, begin + low, high - low, error);
    size_t few = 0;
    while (status == SF_OK && few < high - low && times[few] < time_ns)
        few++;
    *count = low + few;
    return status;
}

/* The first and the last spike of all. */
static int find_ends(bracket *b, const sf_trains_in_seconds *trains, sf_error *error)
{
    bool any = false;
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < trains->count; i++) {
        size_t begin = begin_of(trains, i), end = trains->ends[i];
        int64_t first, last;
        if (begin == end)
            continue;
        status = sf_train_times_read(&first, trains, i, begin, 1, error);
        if (status == SF_OK)
            status = sf_train_times_read(&last, trains, i, end - 1, 1, error);
        if (status == SF_OK) {
            b->low_ns = !any || first < b->low_ns ? first : b->low_ns;
            b->high_ns = !any || last >= b->high_ns ? last + 1 : b->high_ns;
            any = true;
        }
        b->high[i] = end - begin;
    }
    b->all_high = trains->count > 0 ? trains->ends[trains->count - 1] : 0;
    return status;
}

static int count_all_before(bracket *b, size_t *all, int64_t time_ns, const sf_trains_in_seconds *trains,
                            sf_error *error)
{
    int status = SF_OK;
    *all = 0;
    for (size_t i = 0; status == SF_OK && i < trains->count; i++) {
        b->middle[i] = b->low[i];
        if (b->low[i] < b->high[i])
            status = count_before(&b->middle[i], i, time_ns, b, trains, error);
        *all += b->middle[i];
    }
    return status;
}

static void swap(size_t **a, size_t **b)
{
    size_t *was = *a;
    *a = *b;
    *b = was;
}

/* Until what is before the lower time is at most `row`, and what is not after it is more. */
static int narrow(bracket *b, size_t row, const sf_trains_in_seconds *trains, sf_error *error)
{
    int status = SF_OK;
    for (bool halve = false; status == SF_OK && b->all_low < row && b->high_ns - b->low_ns > 1;
         halve = !halve) {
        uint64_t length = (uint64_t)(b->high_ns - b->low_ns);
        uint64_t share = halve ? length / 2 : between(length, row - b->all_low, b->all_high - b->all_low);
        int64_t middle_ns = b->low_ns + (int64_t)(share < 1 ? 1 : share >= length ? length - 1 : share);
        size_t all;
        status = count_all_before(b, &all, middle_ns, trains, error);
        if (status == SF_OK && all <= row) {
            swap(&b->low, &b->middle);
            b->low_ns = middle_ns;
            b->all_low = all;
        } else if (status == SF_OK) {
            swap(&b->high, &b->middle);
            b->high_ns = middle_ns;
            b->all_high = all;
        }
    }
    return status;
}

/* Of those at the same time, units in their order. */
static void take_first_units(size_t *begins, const bracket *b, size_t row, size_t count)
{
    size_t missing = row > b->all_low ? row - b->all_low : 0;
    for (size_t i = 0; i < count; i++) {
        size_t there = b->high[i] > b->low[i] ? b->high[i] - b->low[i] : 0;
        size_t taken = there < missing ? there : missing;
        begins[i] = b->low[i] + taken;
        missing -= taken;
    }
}

int sf_stretch_begins(size_t *begins, size_t row, const sf_trains_in_seconds *trains, sf_error *error)
{
    size_t count = trains->count;
    size_t *places = sf_alloc(count, 3 * sizeof *places);
    if (places == NULL)
        return sf_fail_memory(error);
    bracket b = {.low = places, .high = places + count, .middle = places + 2 * count};
    int status = row > 0 ? find_ends(&b, trains, error) : SF_OK;
    if (status == SF_OK && row > 0 && row < b.all_high)
        status = narrow(&b, row, trains, error);
    if (status == SF_OK)
        take_first_units(begins, &b, row, count);
    sf_free(places);
    return status;
}
