/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/quantity.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

static void close_samples(sf_state_samples *samples)
{
    sf_free(samples->found);
    sf_free(samples->values);
    sf_free(samples->first);
}

static int64_t *forgotten_times(size_t count)
{
    int64_t *times = sf_resize(NULL, count, sizeof *times);
    for (size_t i = 0; times != NULL && i < count; i++)
        times[i] = INT64_MIN;
    return times;
}

static int open_kind(sf_quantity *q, const sf_episode *episodes, size_t unit_count, sf_error *error)
{
    bool complete = true;
    switch (q->kind) {
    case SF_LIVE_ISI:
        q->last_ns = forgotten_times(q->count);
        q->gone_ns = forgotten_times(q->count);
        complete = q->last_ns != NULL && q->gone_ns != NULL;
        break;
    case SF_LIVE_DELAY:
        return sf_watch_open(&q->watch, episodes, q->count, unit_count, 0, error);
    case SF_LIVE_RATE:
        q->spikes = sf_alloc(q->count * SF_DENSITY_RATES, sizeof *q->spikes);
        complete = q->spikes != NULL;
        break;
    case SF_LIVE_POSITION: /* of the array: pipeline/positions.h */
        break;
    }
    return complete ? SF_OK : sf_fail_memory(error);
}

int sf_quantity_open(sf_quantity *quantity, sf_live_quantity kind, size_t count, uint32_t first_unit,
                     const sf_episode *episodes, size_t unit_count, sf_error *error)
{
    *quantity = (sf_quantity){.kind = kind, .count = count, .first_unit = first_unit};
    quantity->entered.first = sf_alloc(count + 1, sizeof *quantity->entered.first);
    quantity->left.first = sf_alloc(count + 1, sizeof *quantity->left.first);
    int status =
        quantity->entered.first != NULL && quantity->left.first != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = open_kind(quantity, episodes, unit_count, error);
    if (status != SF_OK)
        sf_quantity_close(quantity);
    return status;
}

void sf_quantity_close(sf_quantity *quantity)
{
    close_samples(&quantity->entered);
    close_samples(&quantity->left);
    sf_free(quantity->last_ns);
    sf_free(quantity->gone_ns);
    sf_watch_close(quantity->watch);
    sf_free(quantity->delays);
    sf_free(quantity->spikes);
    *quantity = (sf_quantity){0};
}

/* ---- samples by state ---- */

static int add_sample(sf_state_samples *samples, size_t state, double value)
{
    void *found = samples->found;
    if (sf_reserve(&found, &samples->capacity, samples->count + 1, sizeof *samples->found) != 0)
        return SF_NO_MEMORY;
    samples->found = found;
    samples->found[samples->count++] = (sf_state_sample){value, (uint32_t)state};
    return SF_OK;
}

/* Those of a state come to lie together, so that its memory is gone through once; their order stays. */
static int sort_samples(sf_state_samples *samples, size_t states)
{
    void *values = samples->values;
    if (sf_reserve(&values, &samples->value_capacity, samples->count, sizeof *samples->values) != 0)
        return SF_NO_MEMORY;
    samples->values = values;
    memset(samples->first, 0, (states + 1) * sizeof *samples->first);
    for (size_t i = 0; i < samples->count; i++)
        samples->first[samples->found[i].state + 1]++;
    for (size_t s = 0; s < states; s++)
        samples->first[s + 1] += samples->first[s];
    for (size_t i = 0; i < samples->count; i++)
        samples->values[samples->first[samples->found[i].state]++] = samples->found[i].value;
    for (size_t s = states; s > 0; s--) /* each now begins where the next one did */
        samples->first[s] = samples->first[s - 1];
    samples->first[0] = 0;
    return SF_OK;
}

/* ---- intervals ---- */

/* The interval that ends with each spike, given when the spike before it came. */
static int add_intervals(const sf_quantity *q, sf_state_samples *samples, int64_t *before_ns,
                         const sf_spike *spikes, size_t count, uint64_t *coincident)
{
    for (size_t i = 0; i < count; i++) {
        size_t state = (size_t)spikes[i].unit - q->first_unit;
        if (state >= q->count)
            continue;
        int64_t before = before_ns[state];
        before_ns[state] = spikes[i].time_ns;
        if (before == INT64_MIN)
            continue;
        if (before == spikes[i].time_ns)
            (*coincident)++;
        else if (add_sample(samples, state, (double)(spikes[i].time_ns - before) * 1e-9) != SF_OK)
            return SF_NO_MEMORY;
    }
    return SF_OK;
}

static int slide_intervals(sf_quantity *q, const sf_window_change *change)
{
    uint64_t again = 0; /* those were counted when they entered */
    int status =
        add_intervals(q, &q->entered, q->last_ns, change->entered, change->entered_count, &q->coincident);
    return status == SF_OK ? add_intervals(q, &q->left, q->gone_ns, change->left, change->left_count, &again)
                           : status;
}

int sf_quantity_take_window(sf_quantity *quantity, const sf_window_change *change, sf_error *error)
{
    sf_quantity *q = quantity;
    uint64_t again = 0;
    q->entered.count = q->left.count = 0;
    memcpy(q->last_ns, q->gone_ns, q->count * sizeof *q->last_ns);
    int status = add_intervals(q, &q->entered, q->last_ns, change->window, change->window_count, &again);
    if (status == SF_OK)
        status = sort_samples(&q->entered, q->count);
    if (status == SF_OK)
        status = sort_samples(&q->left, q->count);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* ---- delays ---- */

static int keep_delay(sf_quantity *q, const sf_completion *completion)
{
    const int64_t *times = completion->spike_times_ns;
    uint32_t last = completion->size - 1;
    double delay = last > 0 ? (double)(times[last] - times[last - 1]) * 1e-9 : 0;
    void *delays = q->delays;
    if (q->oldest > 0 && q->newest == q->delay_capacity) {
        memmove(q->delays, q->delays + q->oldest, (q->newest - q->oldest) * sizeof *q->delays);
        q->newest -= q->oldest;
        q->oldest = 0;
    }
    if (sf_reserve(&delays, &q->delay_capacity, q->newest + 1, sizeof *q->delays) != 0)
        return SF_NO_MEMORY;
    q->delays = delays;
    q->delays[q->newest++] = (sf_window_delay){times[last], completion->episode, delay};
    return add_sample(&q->entered, completion->episode, delay);
}

static int slide_delays(sf_quantity *q, const sf_window_change *change)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < change->entered_count; i++) {
        const sf_completion *completions;
        size_t count = sf_watch_advance(q->watch, &change->entered[i], &completions);
        for (size_t c = 0; status == SF_OK && c < count; c++)
            status = keep_delay(q, &completions[c]);
    }
    for (; status == SF_OK && q->oldest < q->newest && q->delays[q->oldest].time_ns < change->window_start_ns;
         q->oldest++)
        status = add_sample(&q->left, q->delays[q->oldest].state, q->delays[q->oldest].delay);
    return status;
}

/* ---- rates ---- */

static uint32_t *spikes_at(const sf_quantity *q, size_t state, uint64_t hop)
{
    return &q->spikes[state * SF_DENSITY_RATES + hop % SF_DENSITY_RATES];
}

double sf_quantity_rate(const sf_quantity *quantity, size_t state, uint64_t age, int64_t hop_ns)
{
    return *spikes_at(quantity, state, quantity->hops - 1 - age) / ((double)hop_ns * 1e-9);
}

uint64_t sf_quantity_rates_kept(const sf_quantity *quantity)
{
    return quantity->hops < SF_DENSITY_RATES ? quantity->hops : SF_DENSITY_RATES;
}

static int slide_rates(sf_quantity *q, const sf_window_change *change)
{
    if (change->partial)
        return SF_OK;
    int status = SF_OK;
    bool full = q->hops >= SF_DENSITY_RATES;
    for (size_t s = 0; status == SF_OK && full && s < q->count; s++)
        status = add_sample(&q->left, s, sf_quantity_rate(q, s, SF_DENSITY_RATES - 1, change->hop_ns));
    if (status != SF_OK)
        return status;
    q->hops++;
    for (size_t s = 0; s < q->count; s++)
        *spikes_at(q, s, q->hops - 1) = 0;
    for (size_t i = 0; i < change->entered_count; i++) {
        size_t state = (size_t)change->entered[i].unit - q->first_unit;
        if (state < q->count)
            ++*spikes_at(q, state, q->hops - 1);
    }
    for (size_t s = 0; status == SF_OK && s < q->count; s++)
        status = add_sample(&q->entered, s, sf_quantity_rate(q, s, 0, change->hop_ns));
    return status;
}

int sf_quantity_slide(sf_quantity *quantity, const sf_window_change *change, sf_error *error)
{
    quantity->entered.count = quantity->left.count = 0;
    int status = SF_OK;
    switch (quantity->kind) {
    case SF_LIVE_ISI:
        status = slide_intervals(quantity, change);
        break;
    case SF_LIVE_DELAY:
        status = slide_delays(quantity, change);
        break;
    case SF_LIVE_RATE:
        status = slide_rates(quantity, change);
        break;
    case SF_LIVE_POSITION:
        break;
    }
    if (status == SF_OK)
        status = sort_samples(&quantity->entered, quantity->count);
    if (status == SF_OK)
        status = sort_samples(&quantity->left, quantity->count);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}
