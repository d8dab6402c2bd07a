/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/quantity_kind.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

enum { FIRST_SAMPLES = 64 };

static const sf_quantity_kind *const kinds[] = {
    [SF_QUANTITY_ISI] = &sf_interval_kind,
    [SF_QUANTITY_DELAY] = &sf_link_kind,
    [SF_QUANTITY_RATE] = &sf_rate_kind,
    [SF_QUANTITY_POSITION] = &sf_position_kind,
};

sf_domain sf_quantity_domain(sf_quantity quantity)
{
    return kinds[quantity]->domain;
}

/* ---- observed time ---- */

/* Index of the first span that ends after a time; `count` if none does. */
static size_t span_after(const sf_observed *observed, int64_t time_ns)
{
    size_t low = 0, high = observed->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (observed->spans[middle].stop_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t sf_observed_ns(const sf_observed *observed, size_t count, sf_span within)
{
    int64_t total_ns = 0;
    for (int64_t at_ns = within.start_ns; at_ns < within.stop_ns;) {
        sf_span next = {at_ns, within.stop_ns}; /* intersection of the next span of every entry */
        for (size_t i = 0; i < count; i++) {
            size_t k = span_after(&observed[i], at_ns);
            if (k == observed[i].count) return total_ns;
            const sf_span *span = &observed[i].spans[k];
            next.start_ns = span->start_ns > next.start_ns ? span->start_ns : next.start_ns;
            next.stop_ns = span->stop_ns < next.stop_ns ? span->stop_ns : next.stop_ns;
        }
        if (next.start_ns == at_ns) total_ns += next.stop_ns - at_ns;
        at_ns = next.start_ns == at_ns ? next.stop_ns : next.start_ns;
    }
    return total_ns;
}

/* ---- opening ---- */

static int copy_observed(sf_quantity_state *q, const sf_quantity_setup *setup, sf_error *error)
{
    q->observed = sf_alloc(setup->observed_count, sizeof *q->observed);
    q->next_gap = sf_alloc(setup->observed_count, sizeof *q->next_gap);
    if (q->observed == NULL || q->next_gap == NULL) return sf_fail_memory(error);
    q->observed_count = setup->observed_count;
    for (size_t i = 0; i < setup->observed_count; i++)
        q->observed[i] = setup->observed[i];
    return SF_OK;
}

int sf_quantity_open(sf_quantity_state **state, const sf_quantity_setup *setup, sf_error *error)
{
    sf_quantity_state *q = *state = sf_alloc(1, sizeof *q);
    if (q == NULL) return sf_fail_memory(error);
    q->kind = kinds[setup->quantity];
    bool room = sf_reserve(&q->samples, &q->capacity, FIRST_SAMPLES, sizeof *q->samples) == 0;
    int status = room ? copy_observed(q, setup, error) : sf_fail_memory(error);
    if (status == SF_OK) status = q->kind->open(q, setup, error);
    if (status != SF_OK) {
        sf_quantity_close(q);
        *state = NULL;
    }
    return status;
}

void sf_quantity_close(sf_quantity_state *q)
{
    if (q == NULL) return;
    q->kind->close(q);
    sf_free(q->observed);
    sf_free(q->next_gap);
    sf_free(q->samples);
    sf_free(q);
}

/* ---- the window ---- */

int sf_quantity_put(sf_quantity_state *q, int64_t time_ns, size_t of, double value)
{
    if (q->newest == q->capacity &&
        sf_reserve(&q->samples, &q->capacity, q->newest + 1, sizeof *q->samples) != 0)
        return SF_NO_MEMORY;
    q->samples[q->newest++] = (sf_sample){time_ns, value, (uint32_t)of};
    return SF_OK;
}

/* Reclaims the room of samples that left once they are as many as those held, so that each sample is moved
 * about once. */
static void begin_news(sf_quantity_state *q)
{
    if (q->oldest > q->newest - q->oldest) {
        memmove(q->samples, q->samples + q->oldest, (q->newest - q->oldest) * sizeof *q->samples);
        q->newest -= q->oldest;
        q->oldest = 0;
    }
    q->leaving = q->oldest;
    q->told = q->newest;
}

int sf_quantity_gap(sf_quantity_state *q, uint32_t first_unit, size_t unit_count, sf_span span,
                    sf_error *error)
{
    size_t first = first_unit > q->first_unit ? first_unit - q->first_unit : 0;
    size_t end = first_unit + unit_count > q->first_unit ? first_unit + unit_count - q->first_unit : 0;
    end = end < q->states ? end : q->states;
    if (q->kind->gap == NULL || first >= end) return SF_OK;
    return q->kind->gap(q, first, end - first, span) == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* Before, between and after the spans. */
static sf_span gap_of(const sf_observed *observed, size_t gap)
{
    return (sf_span){gap > 0 ? observed->spans[gap - 1].stop_ns : INT64_MIN,
                     gap < observed->count ? observed->spans[gap].start_ns : INT64_MAX};
}

/* The earliest gap that begins before stop_ns. */
static bool next_gap(sf_quantity_state *q, int64_t stop_ns, const sf_observed **of, sf_span *gap)
{
    size_t found = q->observed_count;
    gap->start_ns = stop_ns;
    for (size_t i = 0; i < q->observed_count; i++) {
        const sf_observed *observed = &q->observed[i];
        if (q->next_gap[i] > observed->count || gap_of(observed, q->next_gap[i]).start_ns >= gap->start_ns)
            continue;
        *gap = gap_of(observed, q->next_gap[i]);
        *of = observed;
        found = i;
    }
    if (found < q->observed_count) q->next_gap[found]++;
    return found < q->observed_count;
}

static int enter(sf_quantity_state *q, const sf_spike *spikes, size_t count, sf_error *error)
{
    return q->kind->enter(q, spikes, count) == SF_OK ? SF_OK : sf_fail_memory(error);
}

int sf_quantity_enter(sf_quantity_state *q, const sf_spike *spikes, size_t count, int64_t stop_ns,
                      sf_error *error)
{
    const sf_observed *of = NULL;
    sf_span gap;
    size_t entered = 0;
    int status = SF_OK;
    begin_news(q);
    while (status == SF_OK && next_gap(q, stop_ns, &of, &gap)) {
        size_t before = entered + sf_spikes_lower_bound(spikes + entered, count - entered, gap.start_ns);
        status = enter(q, spikes + entered, before - entered, error);
        entered = before;
        if (status == SF_OK) status = sf_quantity_gap(q, of->first_unit, of->unit_count, gap, error);
    }
    if (status == SF_OK) status = enter(q, spikes + entered, count - entered, error);
    if (status == SF_OK && q->kind->advance != NULL && q->kind->advance(q, stop_ns) != SF_OK)
        status = sf_fail_memory(error);
    return status;
}

void sf_quantity_leave(sf_quantity_state *q, int64_t start_ns)
{
    while (q->oldest < q->newest && q->samples[q->oldest].time_ns < start_ns)
        q->oldest++;
}

/* ---- samples ---- */

static const sf_sample *list(const sf_quantity_state *q, size_t from, size_t to, size_t *count)
{
    *count = to - from;
    return q->samples + from;
}

const sf_sample *sf_quantity_entered(const sf_quantity_state *q, size_t *count)
{
    return list(q, q->told, q->newest, count);
}

const sf_sample *sf_quantity_left(const sf_quantity_state *q, size_t *count)
{
    return list(q, q->leaving, q->oldest, count);
}

const sf_sample *sf_quantity_held(const sf_quantity_state *q, size_t *count)
{
    return list(q, q->oldest, q->newest, count);
}

/* Stable sort by state, so that later passes touch the memory of each state once. */
int sf_quantity_sort(const sf_quantity_state *q, const sf_sample *samples, size_t count,
                     sf_state_samples *sorted, sf_error *error)
{
    if (sf_reserve(&sorted->values, &sorted->capacity, count + 1, sizeof *sorted->values) != 0)
        return sf_fail_memory(error);
    size_t *first = sorted->first != NULL ? sorted->first : sf_alloc(q->states + 1, sizeof *first);
    if (first == NULL) return sf_fail_memory(error);
    sorted->first = first;
    memset(first, 0, (q->states + 1) * sizeof *first);
    for (size_t i = 0; i < count; i++)
        first[samples[i].state + 1]++;
    for (size_t s = 0; s < q->states; s++)
        first[s + 1] += first[s];
    for (size_t i = 0; i < count; i++)
        sorted->values[first[samples[i].state]++] = samples[i].value;
    for (size_t s = q->states; s > 0; s--) /* each now begins where the next one did */
        first[s] = first[s - 1];
    first[0] = 0;
    return SF_OK;
}

void sf_state_samples_free(sf_state_samples *samples)
{
    sf_free(samples->values);
    sf_free(samples->first);
    *samples = (sf_state_samples){0};
}

size_t sf_quantity_states(const sf_quantity_state *q)
{
    return q->states;
}

uint64_t sf_quantity_coincident(const sf_quantity_state *q)
{
    return q->coincident;
}

uint64_t sf_quantity_overflows(const sf_quantity_state *q)
{
    return q->watch != NULL ? sf_watch_overflows(q->watch) : 0;
}

const double *sf_quantity_places(const sf_quantity_state *q)
{
    return q->xy;
}
