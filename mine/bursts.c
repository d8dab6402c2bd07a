/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/bursts.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#define BIN_NS (100 * SF_MILLISECOND)
#define TIMES_THE_MEAN 3
#define LEAST_SPIKES 10

/* A run of bins at or above the mean. */
typedef struct run {
    int64_t first, last; /* bins; last < first: none is going on */
    size_t most;
} run;

typedef struct finder {
    sf_bursts *bursts;
    size_t capacity;
    int64_t origin_ns;
    double mean;
} finder;

static int end_run(finder *f, run *r, sf_error *error)
{
    bool burst =
        r->last >= r->first && r->most >= LEAST_SPIKES && (double)r->most >= TIMES_THE_MEAN * f->mean;
    sf_span span = {f->origin_ns + r->first * BIN_NS, f->origin_ns + (r->last + 1) * BIN_NS};
    *r = (run){0, -1, 0};
    if (!burst)
        return SF_OK;
    void *items = f->bursts->items;
    if (sf_reserve(&items, &f->capacity, f->bursts->count + 1, sizeof span) != 0)
        return sf_fail_memory(error);
    f->bursts->items = items;
    f->bursts->items[f->bursts->count++] = span;
    return SF_OK;
}

/* One bin that holds spikes; those between it and the one before hold none. */
static int add_bin(finder *f, run *r, int64_t bin, size_t spikes, sf_error *error)
{
    int status = SF_OK;
    bool above = (double)spikes >= f->mean;
    if (!above || bin != r->last + 1)
        status = end_run(f, r, error);
    if (above) {
        r->first = r->last < r->first ? bin : r->first;
        r->last = bin;
        r->most = spikes > r->most ? spikes : r->most;
    }
    return status;
}

int sf_bursts_find(sf_bursts *bursts, const sf_spike *spikes, size_t count, int64_t duration_ns,
                   sf_error *error)
{
    *bursts = (sf_bursts){0};
    if (count == 0 || duration_ns <= 0)
        return SF_OK;
    finder f = {.bursts = bursts, .origin_ns = spikes[0].time_ns};
    f.mean = (double)count * (double)BIN_NS / (double)duration_ns;
    run r = {0, -1, 0};
    int status = SF_OK;
    for (size_t begin = 0, end; begin < count && status == SF_OK; begin = end) {
        int64_t bin = (spikes[begin].time_ns - f.origin_ns) / BIN_NS;
        end = begin + 1;
        while (end < count && (spikes[end].time_ns - f.origin_ns) / BIN_NS == bin)
            end++;
        status = add_bin(&f, &r, bin, end - begin, error);
    }
    if (status == SF_OK)
        status = end_run(&f, &r, error);
    if (status != SF_OK)
        sf_bursts_free(bursts);
    return status;
}

void sf_bursts_free(sf_bursts *bursts)
{
    sf_free(bursts->items);
    *bursts = (sf_bursts){0};
}

size_t sf_bursts_at(const sf_bursts *bursts, int64_t time_ns)
{
    size_t low = 0, high = bursts->count; /* the first that ends after it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bursts->items[middle].stop_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < bursts->count && bursts->items[low].start_ns <= time_ns ? low : SIZE_MAX;
}

/* ---- of one unit ---- */

/* The run that begins with the first short interval from *next on; 0 spikes: there is none. */
static sf_unit_burst next_run(const int64_t *times_ns, size_t count, size_t *next, const sf_burst_rule *rule)
{
    size_t i = *next;
    while (i + 1 < count && times_ns[i + 1] - times_ns[i] > rule->begin_ns)
        i++;
    size_t last = i + 1;
    if (last >= count)
        return (sf_unit_burst){.spikes = 0};
    while (last + 1 < count && times_ns[last + 1] - times_ns[last] <= rule->within_ns)
        last++;
    *next = last + 1;
    return (sf_unit_burst){i, last - i + 1, times_ns[i], times_ns[last]};
}

static bool is_burst(const sf_unit_burst *burst, const sf_burst_rule *rule)
{
    return burst->last_ns - burst->first_ns >= rule->least_ns && burst->spikes >= rule->least_spikes;
}

static int add_unit_burst(sf_unit_bursts *bursts, const sf_unit_burst *burst, const sf_burst_rule *rule,
                          sf_error *error)
{
    if (burst->spikes == 0 || !is_burst(burst, rule))
        return SF_OK;
    if (sf_reserve(&bursts->items, &bursts->capacity, bursts->count + 1, sizeof *burst) != 0)
        return sf_fail_memory(error);
    bursts->items[bursts->count++] = *burst;
    return SF_OK;
}

int sf_unit_bursts_find(sf_unit_bursts *bursts, const int64_t *times_ns, size_t count,
                        const sf_burst_rule *rule, sf_error *error)
{
    size_t next = 0;
    int status = SF_OK;
    sf_unit_burst before = next_run(times_ns, count, &next, rule);
    while (before.spikes > 0 && status == SF_OK) {
        sf_unit_burst after = next_run(times_ns, count, &next, rule);
        if (after.spikes > 0 && after.first_ns - before.last_ns < rule->apart_ns) {
            before.last_ns = after.last_ns;
            before.spikes = after.first + after.spikes - before.first;
            continue;
        }
        status = add_unit_burst(bursts, &before, rule, error);
        before = after;
    }
    return status;
}
