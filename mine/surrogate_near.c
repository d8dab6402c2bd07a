/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_near.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "mine/positions.h"
#include "mine/surrogate_scatter.h"

#include <math.h>
#include <string.h>

typedef struct nearness {
    sf_surrogate_side *side;
    int64_t least_ns, most_ns; /* lags that offsets can bring into a delay */
    uint32_t stride;
    double *sums; /* [worker][step] */
} nearness;

static size_t steps_of(const sf_surrogate_side *side)
{
    return (size_t)side->plan.delay_count * side->events.unit_count;
}

/* Adds what surrogates bring from the spikes around one at `at_ns`, the first of which is no further before
 * it than the least lag. */
static void look_around(const nearness *n, double *sums, int64_t at_ns, uint32_t from)
{
    const sf_surrogate_side *side = n->side;
    const sf_events *events = &side->events;
    for (uint32_t p = from; p < events->count && events->times[p] <= at_ns + n->most_ns; p++)
        for (uint32_t d = 0; d < side->plan.delay_count; d++)
            sums[(size_t)d * events->unit_count + events->owner[p]] += sf_surrogate_reach(
                side->plan.delays[d], side->plan.rule.width_ns, (double)(events->times[p] - at_ns));
}

static int look_at_unit(void *context, unsigned worker, size_t unit)
{
    nearness *n = context;
    sf_surrogate_side *side = n->side;
    const sf_events *events = &side->events;
    const sf_surrogate_level *pairs = &side->levels[0];
    double *sums = n->sums + worker * steps_of(side), seen = 0;
    uint32_t begin = events->first[unit], end = events->first[unit + 1], from = 0;
    if (pairs->first[unit] == pairs->first[unit + 1]) return SF_OK;
    memset(sums, 0, steps_of(side) * sizeof *sums);
    for (uint32_t i = begin; i < end; i += n->stride, seen++) {
        int64_t at_ns = events->times[events->positions[i]];
        from = sf_times_from(events->times, from, events->count, at_ns + n->least_ns);
        look_around(n, sums, at_ns, from);
    }
    for (uint64_t c = pairs->first[unit]; c < pairs->first[unit + 1]; c++)
        side->near[c] = seen > 0 ? sums[pairs->candidates[c]] * (end - begin) / seen : 0;
    return SF_OK;
}

/* Pairs of spikes whose lag offsets can bring into a delay. */
static double count_pairs(const nearness *n)
{
    const sf_events *events = &n->side->events;
    double pairs = 0;
    for (uint32_t i = 0, from = 0, to = 0; i < events->count; i++) {
        while (from < events->count && events->times[from] < events->times[i] + n->least_ns)
            from++;
        while (to < events->count && events->times[to] <= events->times[i] + n->most_ns)
            to++;
        pairs += to - from;
    }
    return pairs;
}

static void find_lags(nearness *n, double most)
{
    const sf_surrogate_plan *plan = &n->side->plan;
    for (uint32_t d = 0; d < plan->delay_count; d++) {
        int64_t least_ns = plan->delays[d].low_ns - plan->rule.width_ns,
                most_ns = plan->delays[d].high_ns + plan->rule.width_ns;
        n->least_ns = d == 0 || least_ns < n->least_ns ? least_ns : n->least_ns;
        n->most_ns = d == 0 || most_ns > n->most_ns ? most_ns : n->most_ns;
    }
    n->stride = 1 + (uint32_t)fmin(count_pairs(n) * plan->delay_count / most, UINT32_MAX / 2);
}

int sf_surrogate_find_near(sf_surrogate_side *side, double most, unsigned threads, sf_error *error)
{
    nearness n = {.side = side};
    const sf_surrogate_level *pairs = &side->levels[0];
    if (side->mirrored) return SF_OK;
    side->near = sf_resize(NULL, pairs->first[pairs->prefix_count], sizeof *side->near);
    n.sums = sf_resize(NULL, threads * steps_of(side), sizeof *n.sums);
    int status = SF_NO_MEMORY;
    if (side->near != NULL && n.sums != NULL) {
        find_lags(&n, most);
        status = sf_parallel_for(threads, pairs->prefix_count, look_at_unit, &n);
    }
    sf_free(n.sums);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}
