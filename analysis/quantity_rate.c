/* SPDX-License-Identifier: Apache-2.0 */
/* Rates: spikes of a unit in a bin, in Hz. Bins lie end to end from the start of an observed interval; a bin
 * that a gap cuts is dropped. */
#include "analysis/quantity_kind.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

static int open_rates(sf_quantity_state *q, const sf_quantity_setup *setup, sf_error *error)
{
    q->states = setup->unit_count;
    q->first_unit = setup->first_unit;
    q->bin_ns = setup->bin_ns;
    q->next_ns = INT64_MAX;
    q->from_ns = sf_resize(NULL, q->states, sizeof *q->from_ns);
    q->spikes = sf_alloc(q->states, sizeof *q->spikes);
    if (q->from_ns == NULL || q->spikes == NULL) return sf_fail_memory(error);
    for (size_t s = 0; s < q->states; s++)
        q->from_ns[s] = INT64_MIN;
    return SF_OK;
}

static void close_rates(sf_quantity_state *q)
{
    sf_free(q->from_ns);
    sf_free(q->spikes);
}

/* End of the state's bin; INT64_MAX if none has begun or none can end any more. */
static int64_t end_of(const sf_quantity_state *q, size_t s)
{
    bool begun = q->from_ns[s] != INT64_MIN && q->from_ns[s] < INT64_MAX - q->bin_ns;
    return begun ? q->from_ns[s] + q->bin_ns : INT64_MAX;
}

static void find_next(sf_quantity_state *q)
{
    q->next_ns = INT64_MAX;
    for (size_t s = 0; s < q->states; s++)
        if (end_of(q, s) < q->next_ns) q->next_ns = end_of(q, s);
}

/* Completes all bins that end at or before `stop_ns`, in that order. */
static int complete(sf_quantity_state *q, int64_t stop_ns)
{
    while (q->next_ns <= stop_ns && q->next_ns != INT64_MAX) {
        for (size_t s = 0; s < q->states; s++) {
            if (end_of(q, s) != q->next_ns) continue;
            double hertz = (double)q->spikes[s] * (double)SF_SECOND / (double)q->bin_ns;
            if (sf_quantity_put(q, q->from_ns[s], s, hertz) != SF_OK) return SF_NO_MEMORY;
            q->from_ns[s] = q->next_ns;
            q->spikes[s] = 0;
        }
        find_next(q);
    }
    return SF_OK;
}

static int enter(sf_quantity_state *q, const sf_spike *spikes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t state = (size_t)spikes[i].unit - q->first_unit;
        if (spikes[i].time_ns >= q->next_ns && complete(q, spikes[i].time_ns) != SF_OK) return SF_NO_MEMORY;
        if (state < q->states && q->from_ns[state] != INT64_MIN && spikes[i].time_ns >= q->from_ns[state])
            q->spikes[state]++;
    }
    return SF_OK;
}

static int begin_behind(sf_quantity_state *q, size_t first, size_t count, sf_span span)
{
    int status = complete(q, span.start_ns);
    for (size_t s = first; status == SF_OK && s < first + count; s++) {
        q->from_ns[s] = span.stop_ns > q->from_ns[s] ? span.stop_ns : q->from_ns[s];
        q->spikes[s] = 0;
    }
    find_next(q);
    return status;
}

const sf_quantity_kind sf_rate_kind = {.domain = SF_DOMAIN_REFLECT,
                                       .open = open_rates,
                                       .close = close_rates,
                                       .enter = enter,
                                       .gap = begin_behind,
                                       .advance = complete};
