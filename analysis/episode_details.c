/* SPDX-License-Identifier: Apache-2.0 */
/* Details of each episode besides its count: bursts, delays, its reverse, electrodes, folding, spans. */
#include "analysis/episodes.h"
#include "analysis/one_neuron.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "core/thread.h"
#include "mine/details.h"

#include <math.h>
#include <stdatomic.h>

/* ---- occurrences ---- */

typedef struct looking {
    sf_episodes *told;
    const sf_counter *counter;
    sf_error *errors; /* by worker */
    const sf_progress *progress;
    sf_ranks_part own; /* the episodes that this rank looks at */
    atomic_size_t done;
} looking;

/* For longer chains, and if a unit follows itself, chance is unknown: all delays are treated alike. */
static bool is_pair(const sf_episode *episode)
{
    return episode->size == 2 && episode->units[0] != episode->units[1];
}

static void tell_chance(const sf_episodes *e, size_t i)
{
    const sf_episode *episode = &e->episodes[i];
    double rate_hz = 0;
    if (is_pair(episode))
        rate_hz = (double)(e->unit_spikes[episode->units[0]] + e->unit_spikes[episode->units[1]]) /
                  ((double)sf_recording_duration_ns(e->recording) * 1e-9);
    for (uint32_t link = 0; link + 1 < episode->size; link++)
        sf_delay_chance(e->details[i].links[link].by_chance, episode->delays[link], rate_hz);
}

static bool goes_on(const looking *l, size_t done)
{
    return sf_progress_update(l->progress, "looking at occurrences", (double)done,
                              (double)(l->own.last - l->own.first));
}

static int look_at(void *context, unsigned worker, size_t item)
{
    looking *l = context;
    sf_episodes *e = l->told;
    size_t i = l->own.first + item;
    int64_t *times;
    size_t count, done = atomic_fetch_add(&l->done, 1);
    if (worker == 0 && done > 0 && !goes_on(l, done))
        return sf_fail(&l->errors[0], SF_CANCELLED, NULL, "stopped while looking at occurrences");
    int status = sf_counter_occurrences(l->counter, i, &times, &count, &l->errors[worker]);
    if (status == SF_OK)
        status =
            sf_details_make(&e->details[i], &e->episodes[i], times, count, &e->bursts, &l->errors[worker]);
    if (status == SF_OK) tell_chance(e, i);
    sf_free(times);
    return status;
}

static int look_at_all(sf_episodes *e, const sf_counter *counter, const sf_progress *progress,
                       sf_error *error)
{
    unsigned threads = sf_thread_cores();
    looking l = {.told = e,
                 .counter = counter,
                 .errors = sf_alloc(threads, sizeof *l.errors),
                 .progress = progress,
                 .own = sf_ranks_share(e->count)};
    e->details = sf_alloc(e->count, sizeof *e->details);
    int status = e->details != NULL && l.errors != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK && !goes_on(&l, 0)) /* this thread may get no work at all, so it checks here */
        status = sf_fail(&l.errors[0], SF_CANCELLED, NULL, "stopped while looking at occurrences");
    if (status == SF_OK) status = sf_parallel_for(threads, l.own.last - l.own.first, look_at, &l);
    for (unsigned worker = 0; status != SF_OK && l.errors != NULL && worker < threads; worker++)
        if ((int)l.errors[worker].code == status && error != NULL) *error = l.errors[worker];
    sf_free(l.errors);
    return sf_ranks_collect(e->details, e->count, sizeof *e->details, status, error);
}

/* ---- the other way round ---- */

static int count_pairs(uint64_t *counts, const sf_recording *recording, const sf_episode *pairs, size_t count,
                       const sf_progress *progress, sf_error *error)
{
    sf_counter *counter;
    int status = sf_counter_open(&counter, recording->spikes, recording->spike_count, recording->units.count,
                                 pairs, count, NULL, 0, error);
    if (status != SF_OK) return status;
    sf_counter_tell(counter, progress);
    status = sf_counter_count(counter, NULL, counts, error);
    sf_counter_close(counter);
    return status;
}

static bool has_spikes(const sf_episodes *e)
{
    return e->recording->pieces == NULL && e->stopped == SF_NOT_STOPPED;
}

static int count_reverse(sf_episodes *e, const sf_progress *progress, sf_error *error)
{
    sf_episode *pairs = sf_resize(NULL, e->count, sizeof *pairs);
    uint64_t *counts = sf_resize(NULL, e->count, sizeof *counts);
    size_t pair_count = 0, next = 0;
    e->reverse = sf_resize(NULL, e->count, sizeof *e->reverse);
    e->asymmetry = sf_resize(NULL, e->count, sizeof *e->asymmetry);
    int status = SF_OK;
    if (pairs == NULL || counts == NULL || e->reverse == NULL || e->asymmetry == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; i < e->count && status == SF_OK; i++) {
        const sf_episode *episode = &e->episodes[i];
        if (is_pair(episode))
            pairs[pair_count++] = (sf_episode){
                .size = 2, .units = {episode->units[1], episode->units[0]}, .delays = {episode->delays[0]}};
    }
    if (status == SF_OK && has_spikes(e))
        status = count_pairs(counts, e->recording, pairs, pair_count, progress, error);
    bool kept = sf_episodes_keep(e, status, SF_STOPPED_TELLING);
    for (size_t i = 0; i < e->count && kept; i++) {
        bool pair = has_spikes(e) && is_pair(&e->episodes[i]);
        e->reverse[i] = pair ? counts[next++] : SF_NO_COUNT;
        e->asymmetry[i] = pair ? sf_asymmetry(e->counts[i], e->reverse[i]) : NAN;
    }
    sf_free(pairs);
    sf_free(counts);
    return status;
}

/* ---- without spikes ---- */

static int find_electrodes(sf_episodes *e, sf_error *error)
{
    sf_neurons trains;
    e->one_electrode = sf_alloc(e->count, sizeof *e->one_electrode);
    if (e->one_electrode == NULL) return sf_fail_memory(error);
    int status = sf_neurons_lay_out(&trains, e->recording, error);
    if (status != SF_OK) return status;
    bool few = e->count <= SF_MOST_DETAILED;
    for (size_t i = 0; i < e->count; i++)
        for (uint32_t link = 0; link + 1 < e->episodes[i].size; link++) {
            uint32_t from = e->episodes[i].units[link], to = e->episodes[i].units[link + 1];
            if (few ? sf_neurons_look_alike(&trains, from, to)
                    : sf_units_share_electrode(&e->recording->units, from, to))
                e->one_electrode[i] |= (uint16_t)(1u << link);
        }
    sf_neurons_free(&trains);
    return SF_OK;
}

/* ---- spans ---- */

int sf_spans_count(uint64_t **counts, size_t *counted, sf_counter *counter, size_t count,
                   const sf_span *spans, size_t span_count, const char *what, const sf_progress *progress,
                   sf_error *error)
{
    size_t done = 0;
    *counts = sf_resize(NULL, span_count * count, sizeof **counts);
    if (*counts == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    sf_ranks_part own = sf_ranks_share(span_count);
    sf_counter_tell(counter, NULL); /* how far single ones are is not told */
    for (size_t i = own.first; i < own.last && status == SF_OK; i++) {
        status = sf_counter_count(counter, &spans[i], *counts + i * count, error);
        done += status == SF_OK;
        if (status == SF_OK &&
            !sf_progress_update(progress, what, (double)done, (double)(own.last - own.first)))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped while %s", what);
    }
    status = sf_ranks_collect(*counts, span_count, count * sizeof **counts, status, error);
    done = status == SF_OK ? span_count : done;
    if (counted != NULL) *counted = done;
    if (status != SF_OK && !(status == SF_CANCELLED && counted != NULL)) {
        sf_free(*counts);
        *counts = NULL;
    }
    return status;
}

/* Counts the bursts or spans in which each episode occurs, whichever are more numerous. */
static int count_stretches(sf_episodes *e, sf_error *error)
{
    bool know_bursts = e->details != NULL && e->bursts.count > 0;
    e->stretches = sf_resize(NULL, e->count, sizeof *e->stretches);
    if (e->stretches == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < e->count; i++) {
        uint64_t spans = 0;
        for (size_t k = 0; e->span_counts != NULL && k < e->span_count; k++)
            spans += e->span_counts[k * e->count + i] > 0;
        e->stretches[i] = know_bursts && e->details[i].bursts > spans ? e->details[i].bursts : spans;
        if (!know_bursts && e->span_counts == NULL) e->stretches[i] = SF_NO_COUNT;
    }
    return SF_OK;
}

/* ---- together ---- */

/* What takes time, until it is stopped. */
static int count_spans(sf_episodes *e, sf_counter *counter, const sf_progress *progress, sf_error *error)
{
    if (e->span_count == 0 || e->stopped != SF_NOT_STOPPED) return SF_OK;
    return sf_spans_count(&e->span_counts, NULL, counter, e->count, e->spans, e->span_count, "counting spans",
                          progress, error);
}

static int look_at_occurrences(sf_episodes *e, const sf_counter *counter, const sf_progress *progress,
                               sf_error *error)
{
    if (e->count > SF_MOST_DETAILED || !has_spikes(e)) return SF_OK;
    int status = look_at_all(e, counter, progress, error);
    if (status == SF_CANCELLED) {
        sf_free(e->details);
        e->details = NULL;
    }
    return status;
}

int sf_episodes_detail(sf_episodes *e, sf_counter *counter, const sf_progress *progress, sf_error *error)
{
    int first = count_spans(e, counter, progress, error);
    if (!sf_episodes_keep(e, first, SF_STOPPED_TELLING) || !e->wants_details) return first;
    int status = find_electrodes(e, error);
    if (status == SF_OK) status = count_reverse(e, progress, error);
    if (status == SF_OK) status = look_at_occurrences(e, counter, progress, error);
    if (!sf_episodes_keep(e, status, SF_STOPPED_TELLING)) return status;
    first = first == SF_OK ? status : first;
    status = count_stretches(e, error);
    return status == SF_OK ? first : status;
}
