/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals: from each spike of a unit to its next one, in s. Across a gap the unit may have fired
 * unobserved, so no interval is taken; nor one of length 0, from two spikes at one time. */
#include "analysis/quantity_kind.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

static int open_intervals(sf_quantity_state *q, const sf_quantity_setup *setup, sf_error *error)
{
    q->states = setup->unit_count;
    q->first_unit = setup->first_unit;
    q->last_ns = sf_resize(NULL, q->states, sizeof *q->last_ns);
    if (q->last_ns == NULL) return sf_fail_memory(error);
    for (size_t s = 0; s < q->states; s++)
        q->last_ns[s] = INT64_MIN;
    return SF_OK;
}

static void close_intervals(sf_quantity_state *q)
{
    sf_free(q->last_ns);
}

static int enter(sf_quantity_state *q, const sf_spike *spikes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t state = (size_t)spikes[i].unit - q->first_unit;
        if (state >= q->states) continue;
        int64_t time_ns = spikes[i].time_ns, before_ns = q->last_ns[state];
        q->last_ns[state] = time_ns;
        if (before_ns == INT64_MIN) continue;
        if (before_ns == time_ns)
            q->coincident++;
        else if (sf_quantity_put(q, time_ns, state, (double)(time_ns - before_ns) / (double)SF_SECOND) !=
                 SF_OK)
            return SF_NO_MEMORY;
    }
    return SF_OK;
}

static int forget(sf_quantity_state *q, size_t first, size_t count, sf_span span)
{
    (void)span;
    for (size_t s = first; s < first + count; s++)
        q->last_ns[s] = INT64_MIN;
    return SF_OK;
}

const sf_quantity_kind sf_interval_kind = {
    .domain = SF_DOMAIN_LOG, .open = open_intervals, .close = close_intervals, .enter = enter, .gap = forget};
