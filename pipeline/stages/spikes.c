/* SPDX-License-Identifier: Apache-2.0 */
/* The window's spikes: fed, the window moved over them, and let go. */
#include "pipeline/hop.h"
#include "window/segment.h"

#include <math.h>

static int feed(sf_hop *hop, sf_error *error);
static int slide(sf_hop *hop, sf_error *error);
static int drop(sf_hop *hop, sf_error *error);

const sf_stage sf_stage_feed = {
    .name = "feed",
    .out = "queue remove; history add",
    .part = SF_PART_NONE,
    .run = feed,
};

const sf_stage sf_stage_slide = {
    .name = "slide",
    .in = "history extract",
    .out = "window assign; rates assign",
    .part = SF_PART_COUNT,
    .run = slide,
};

const sf_stage sf_stage_drop = {
    .name = "drop",
    .in = "window extract",
    .out = "history remove",
    .part = SF_PART_NONE,
    .run = drop,
};

static int feed(sf_hop *hop, sf_error *error)
{
    sf_hop_batch *queue = sf_change_queue(hop, SF_PLAN_REMOVE);
    int status = sf_history_append(sf_change_history(hop, SF_PLAN_ADD), queue->spikes, queue->count, error);
    *queue = (sf_hop_batch){0};
    return status;
}

/* Newly observed time that no earlier window covered; windows skipped in a silence count as not recorded. */
static int64_t newly_covered_ns(const sf_hop_rates *rates, sf_span before, sf_span now)
{
    bool goes_on = rates->so_far_ns > 0 && before.stop_ns > now.start_ns;
    const sf_span new = {goes_on ? before.stop_ns : now.start_ns, now.stop_ns};
    return sf_observed_ns(rates->observed, rates->observed_count, new);
}

static void find_hz(sf_hop_rates *rates, uint32_t first, size_t count, int64_t observed_ns)
{
    double seconds = (double)observed_ns * 1e-9;
    for (size_t unit = first; unit < first + count; unit++)
        rates->hz[unit] = observed_ns > 0 ? (double)rates->spikes[unit] / seconds : NAN;
}

/* At a cost of the spikes that come and go. */
static int slide(sf_hop *hop, sf_error *error)
{
    (void)error;
    const sf_history *history = sf_read_history(hop);
    sf_hop_window *window = sf_change_window(hop, SF_PLAN_ASSIGN);
    sf_hop_rates *rates = sf_change_rates(hop, SF_PLAN_ASSIGN);
    uint64_t begin = sf_history_find(history, hop->segment->window.start_ns), end = hop->segment->end;
    const sf_spike *came = sf_history_view(history, window->end);
    for (uint64_t i = window->end; i < end; i++) {
        rates->spikes[came[i - window->end].unit]++;
        rates->so_far[came[i - window->end].unit]++;
    }
    const sf_spike *left = sf_history_view(history, window->begin);
    for (uint64_t i = window->begin; i < begin; i++)
        rates->spikes[left[i - window->begin].unit]--;
    rates->so_far_ns += newly_covered_ns(rates, window->span, hop->segment->window);
    *window = (sf_hop_window){hop->segment->window, begin, end};
    rates->observed_ns = sf_observed_ns(rates->observed, rates->observed_count, window->span);
    find_hz(rates, 0, hop->units->count, window->span.stop_ns - window->span.start_ns);
    for (size_t i = 0; i < rates->observed_count; i++) {
        const sf_observed *observed = &rates->observed[i];
        find_hz(rates, observed->first_unit, observed->unit_count, sf_observed_ns(observed, 1, window->span));
    }
    return SF_OK;
}

static int drop(sf_hop *hop, sf_error *error)
{
    (void)error;
    uint64_t begin = sf_read_window(hop)->begin;
    sf_history_drop_before(sf_change_history(hop, SF_PLAN_REMOVE), begin);
    return SF_OK;
}
