/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/episodes.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/pieces.h"

#include <math.h>
#include <string.h>

/* ---- the result ---- */

static int count_units(sf_episodes *episodes, sf_error *error)
{
    const sf_recording *recording = episodes->recording;
    episodes->unit_spikes = sf_alloc(recording->units.count, sizeof *episodes->unit_spikes);
    if (episodes->unit_spikes == NULL) return sf_fail_memory(error);
    if (recording->pieces != NULL)
        memcpy(episodes->unit_spikes, recording->pieces->unit_spikes,
               recording->units.count * sizeof *episodes->unit_spikes);
    for (size_t i = 0; i < recording->spike_count; i++)
        episodes->unit_spikes[recording->spikes[i].unit]++;
    return SF_OK;
}

static int copy_spans(sf_episodes *episodes, const sf_span *spans, size_t count, sf_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].start_ns > spans[i].stop_ns)
            return sf_fail(error, SF_USAGE, "spans", "span %zu ends before it begins", i + 1);
    episodes->spans = sf_resize(NULL, count, sizeof *spans);
    if (episodes->spans == NULL) return sf_fail_memory(error);
    if (count > 0) memcpy(episodes->spans, spans, count * sizeof *spans);
    episodes->span_count = count;
    return SF_OK;
}

int sf_episodes_new(sf_episodes **created, const sf_recording *recording, const sf_span *spans,
                    size_t span_count, sf_error *error)
{
    *created = NULL;
    sf_episodes *episodes = sf_alloc(1, sizeof *episodes);
    if (episodes == NULL) return sf_fail_memory(error);
    episodes->recording = recording;
    episodes->tick_ns = recording->tick_ns;
    int status = count_units(episodes, error);
    if (status == SF_OK) status = sf_bursts_find(&episodes->bursts, recording, &SF_NETWORK_RULE, error);
    if (status == SF_OK) status = copy_spans(episodes, spans, span_count, error);
    if (status == SF_OK)
        *created = episodes;
    else
        sf_episodes_free(episodes);
    return status;
}

static int reserve_reals(double **const *reals, size_t columns, size_t count, sf_error *error)
{
    bool complete = true;
    for (size_t i = 0; i < columns; i++) {
        *reals[i] = sf_resize(*reals[i], count, sizeof **reals[i]);
        complete = complete && *reals[i] != NULL;
        for (size_t k = 0; *reals[i] != NULL && k < count; k++)
            (*reals[i])[k] = NAN;
    }
    return complete ? SF_OK : sf_fail_memory(error);
}

#define COUNTED_REALS(e) &(e)->expected, &(e)->ratio_low, &(e)->ratio_high
#define VERDICT_REALS(e)                                                                                     \
    &(e)->strength, &(e)->p, &(e)->q, &(e)->p_last, &(e)->p_first, &(e)->p_links, &(e)->expected_given_rest

int sf_episodes_reserve_verdicts(sf_episodes *e, sf_error *error)
{
    double **const reals[] = {VERDICT_REALS(e)};
    e->needed = sf_resize(e->needed, e->count, sizeof *e->needed);
    e->not_tested = sf_resize(e->not_tested, e->count, sizeof *e->not_tested);
    e->worth_showing = sf_resize(e->worth_showing, e->count, sizeof *e->worth_showing);
    if (e->needed == NULL || e->not_tested == NULL || e->worth_showing == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < e->count; i++) {
        e->needed[i] = SF_NO_COUNT;
        e->not_tested[i] = SF_TESTABLE;
        e->worth_showing[i] = false;
    }
    return reserve_reals(reals, sizeof reals / sizeof *reals, e->count, error);
}

int sf_episodes_reserve(sf_episodes *e, size_t count, sf_error *error)
{
    double **const reals[] = {COUNTED_REALS(e)};
    e->episodes = sf_resize(NULL, count, sizeof *e->episodes);
    e->counts = sf_alloc(count, sizeof *e->counts);
    e->count = count;
    if (e->episodes == NULL || e->counts == NULL) return sf_fail_memory(error);
    int status = reserve_reals(reals, sizeof reals / sizeof *reals, count, error);
    return status == SF_OK && e->result != NULL ? sf_episodes_reserve_verdicts(e, error) : status;
}

void sf_episodes_take_verdict(sf_episodes *e, size_t i, const sf_mine_item *item)
{
    e->p[i] = item->p;
    e->q[i] = item->q;
    e->p_last[i] = item->p_last;
    e->p_first[i] = item->p_first;
    e->p_links[i] = item->p_links;
    e->expected_given_rest[i] = item->expected_given_rest;
    e->needed[i] = item->needed;
    e->not_tested[i] = item->not_tested;
}

void sf_episodes_move(sf_episodes *e, size_t from, size_t to)
{
    double **const reals[] = {COUNTED_REALS(e), VERDICT_REALS(e)};
    for (size_t c = 0; c < sizeof reals / sizeof *reals; c++)
        (*reals[c])[to] = (*reals[c])[from];
    e->episodes[to] = e->episodes[from];
    e->counts[to] = e->counts[from];
    e->needed[to] = e->needed[from];
    e->not_tested[to] = e->not_tested[from];
    e->worth_showing[to] = e->worth_showing[from];
}

void sf_episodes_clear(sf_episodes *e)
{
    double **const reals[] = {COUNTED_REALS(e), VERDICT_REALS(e)};
    void *const others[] = {e->items,         e->episodes,  e->counts,      e->needed,       e->not_tested,
                            e->worth_showing, e->details,   e->reverse,     e->asymmetry,    e->one_electrode,
                            e->parents,       e->stretches, e->span_counts, e->window_counts};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        sf_free(*reals[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        sf_free(others[i]);
    for (size_t i = 0; i < e->correlogram_count; i++)
        sf_correlogram_free(&e->correlograms[i]);
    sf_free(e->correlograms);
    sf_windows_free(&e->windows);
    *e = (sf_episodes){.recording = e->recording,
                       .unit_spikes = e->unit_spikes,
                       .tick_ns = e->tick_ns,
                       .bursts = e->bursts,
                       .spans = e->spans,
                       .span_count = e->span_count,
                       .wants_details = e->wants_details,
                       .keeps_stopped = e->keeps_stopped,
                       .stopped = e->stopped,
                       .result = e->result,
                       .mining = e->mining,
                       .delays = e->delays,
                       .threshold_why = e->threshold_why,
                       .limits = e->limits,
                       .is_tested = e->is_tested,
                       .significance = e->significance,
                       .ran = e->ran};
}

void sf_episodes_free(sf_episodes *episodes)
{
    if (episodes == NULL) return;
    sf_episodes_clear(episodes);
    sf_mine_result_free(episodes->result);
    sf_bursts_free(&episodes->bursts);
    sf_free(episodes->unit_spikes);
    sf_free(episodes->spans);
    sf_free(episodes->delays);
    sf_free(episodes);
}

double sf_episodes_expect(const sf_episodes *episodes, const sf_episode *episode)
{
    return sf_expected_episode(episode, episodes->unit_spikes, sf_recording_duration_ns(episodes->recording));
}

/* Interval of a Poisson mean (Rothman and Boice 1979), within 1 % of the exact one for counts of at least 5.
 */
sf_ratio_interval sf_ratio_interval_of(uint64_t count, double expected)
{
    if (!(expected > 0)) return (sf_ratio_interval){NAN, NAN};
    const double of_normal = 1.959964;
    double n = (double)count, above = n + 1;
    double low = n > 0 ? n * pow(1 - 1 / (9 * n) - of_normal / (3 * sqrt(n)), 3) : 0;
    double high = above * pow(1 - 1 / (9 * above) + of_normal / (3 * sqrt(above)), 3);
    return (sf_ratio_interval){fmax(low, 0) / expected, high / expected};
}

bool sf_episodes_keep(sf_episodes *episodes, int status, sf_stopped where)
{
    if (status != SF_CANCELLED || !episodes->keeps_stopped) return status == SF_OK;
    if (episodes->stopped == SF_NOT_STOPPED) episodes->stopped = where;
    return true;
}

/* ---- what it tells ---- */

static void tell_how(const sf_episodes *e, sf_episodes_columns *told)
{
    const sf_mine_result *result = e->result;
    told->ran = e->ran;
    told->found = e->count;
    told->passing = e->passing;
    told->tick_ns = e->tick_ns;
    told->stopped = e->stopped;
    told->worth = e->worth;
    told->returning = e->returning;
    told->chains = e->chains;
    told->parts = e->parts;
    told->significance = e->is_tested ? &e->significance : NULL;
    if (result == NULL) {
        told->found = e->given;
        return;
    }
    told->threshold = result->threshold;
    told->threshold_why = e->threshold_why;
    told->levels = result->levels;
    told->level_count = result->level_count;
    told->found = result->count;
}

void sf_episodes_get_columns(const sf_episodes *e, sf_episodes_columns *columns)
{
    sf_episodes_columns told = {.count = e->count,
                                .episodes = e->episodes,
                                .counts = e->counts,
                                .expected = e->expected,
                                .ratio_low = e->ratio_low,
                                .ratio_high = e->ratio_high,
                                .needed = e->needed,
                                .strength = e->strength,
                                .p = e->p,
                                .q = e->q,
                                .p_last = e->p_last,
                                .p_first = e->p_first,
                                .p_links = e->p_links,
                                .expected_given_rest = e->expected_given_rest,
                                .not_tested = e->not_tested,
                                .worth_showing = e->worth_showing,
                                .details = e->details,
                                .reverse = e->reverse,
                                .asymmetry = e->asymmetry,
                                .one_electrode = e->one_electrode,
                                .parents = e->parents,
                                .stretches = e->stretches,
                                .bursts = e->bursts.items,
                                .burst_count = e->bursts.count,
                                .span_counts = e->span_counts,
                                .span_count = e->span_counts != NULL ? e->span_count : 0,
                                .windows = e->windows.items,
                                .window_count = e->windows.count,
                                .window_counts = e->window_counts,
                                .window_recorded_ns = e->windows.recorded_ns,
                                .last_is_partial = e->windows.last_is_partial,
                                .correlograms = e->correlograms,
                                .correlogram_count = e->correlogram_count};
    if (e->stopped != SF_NOT_STOPPED) { /* of all links or of none */
        told.correlograms = NULL;
        told.correlogram_count = 0;
    }
    tell_how(e, &told);
    sf_columns_fill(columns, &told, sizeof told);
}

bool sf_worth_showing(const sf_mine_result *result, size_t i, int64_t duration_ns)
{
    const sf_mine_item *item = &result->items[i];
    bool active = true;
    for (uint32_t k = 0; k < item->size; k++)
        active = active && (double)sf_mine_result_spikes(result, i, k) > 0.1e-9 * (double)duration_ns;
    return active && item->count >= 20 && item->q < 0.05;
}
