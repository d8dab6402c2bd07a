/* SPDX-License-Identifier: Apache-2.0 */
/* What a hop publishes: the counts with the predictions of rules, and the status. */
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "mine/folding.h"
#include "mine/mine.h"
#include "pipeline/accelerator.h"
#include "pipeline/connections.h"
#include "pipeline/counting.h"
#include "pipeline/densities.h"
#include "pipeline/discovery.h"
#include "pipeline/hop.h"
#include "pipeline/predictions.h"
#include "pipeline/publisher.h"
#include "pipeline/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int tell(sf_hop *hop, sf_error *error);
static int report(sf_hop *hop, sf_error *error);

const sf_stage sf_stage_tell = {
    .name = "tell",
    .in = "window extract; rates extract; tracked extract; counts extract; tests extract",
    .out = "rules assign; triggers add; sinks add",
    .part = SF_PART_PUBLISH,
    .run = tell,
};

/* Also between two hops. */
const sf_stage sf_stage_report = {
    .name = "report",
    .in =
        "sources extract; history extract; device extract; summaries extract; window extract; rates extract; "
        "pairs extract; tracked extract; found extract; tests extract; graph extract; densities extract; "
        "sinks extract",
    .out = "sinks add",
    .part = SF_PART_NONE,
    .run = report,
};

/* Episodes that a thread fills at a time. */
#define FILL_AT_ONCE 2048

/* What episodes messages are built from, and what folding needs of each episode, in one block. */
typedef struct filling {
    sf_episodes_message *episodes;
    const sf_tracked *tracked;
    const uint64_t *counts;
    const sf_hop_rates *rates;
    const sf_testing *tests;
    sf_left_out limits;
    double *expected, *q;
    size_t *parents;
    bool *told;
} filling;

static bool is_told(const sf_left_out *limits, const sf_episode_count *item)
{
    return sf_within_limits((sf_limits){limits->max_p, limits->max_q}, item->p, item->q);
}

static void fill_episode(const filling *f, size_t i)
{
    const sf_tracked *tracked = &f->tracked[i];
    sf_episode_count *item = &f->episodes->items[i];
    sf_verdict verdict = sf_testing_verdict(f->tests, &tracked->episode);
    *item = (sf_episode_count){
        .episode = tracked->episode,
        .count = f->counts[i],
        .expected = sf_expected_episode(&tracked->episode, f->rates->spikes, f->rates->observed_ns),
        .p = verdict.p,
        .q = verdict.q,
        .p_age_s = sf_verdict_age_s(&verdict, f->episodes->window.stop_ns),
        .tests = verdict.tests,
        .least_q = verdict.least_q,
        .not_tested = verdict.not_tested};
    memcpy(item->id, tracked->id, sizeof item->id);
    f->expected[i] = item->expected;
    f->q[i] = item->q;
    f->told[i] = is_told(&f->limits, item);
}

static void name_parent(const filling *f, size_t i)
{
    sf_episode_count *item = &f->episodes->items[i];
    if (f->parents[i] != SIZE_MAX)
        memcpy(item->folded_under, f->tracked[f->parents[i]].id, sizeof item->folded_under);
}

static void fill_some(void *context, unsigned worker, size_t number)
{
    (void)worker;
    const filling *f = context;
    for (size_t i = number * FILL_AT_ONCE; i < (number + 1) * FILL_AT_ONCE && i < f->episodes->count; i++)
        fill_episode(f, i);
}

static void name_some(void *context, unsigned worker, size_t number)
{
    (void)worker;
    const filling *f = context;
    for (size_t i = number * FILL_AT_ONCE; i < (number + 1) * FILL_AT_ONCE && i < f->episodes->count; i++)
        name_parent(f, i);
}

static void for_all(const sf_hop *hop, filling *f, void (*body)(void *, unsigned, size_t))
{
    size_t parts = (f->episodes->count + FILL_AT_ONCE - 1) / FILL_AT_ONCE;
    if (hop->team != NULL)
        sf_team_run(hop->team, parts, body, f);
    else
        for (size_t part = 0; part < parts; part++)
            body(f, 0, part);
}

/* Folds as for a recording: chains are counted among all tracked episodes, parts are folded under published
 * ones. */
static void fold(const sf_hop *hop, filling *f)
{
    const sf_parts *parts = (const sf_parts *)sf_read_tracked(hop)->now.parts;
    size_t count = f->episodes->count;
    sf_foldable of = {.counts = f->counts, .expected = f->expected, .q = f->q};
    sf_fold_by(f->parents, parts, &of, count);
    sf_chain_count found = sf_count_chains(f->parents, f->q, count);
    f->episodes->chains = found.chains;
    f->episodes->parts = found.parts;
    if (memchr(f->told, false, count) != NULL) {
        of.told = f->told;
        sf_fold_by(f->parents, parts, &of, count);
    }
    for_all(hop, f, name_some);
}

static int open_filling(filling *f, size_t count, sf_error *error)
{
    f->expected =
        sf_resize(NULL, count, sizeof *f->expected + sizeof *f->q + sizeof *f->parents + sizeof *f->told);
    f->episodes->items = sf_resize(NULL, count, sizeof *f->episodes->items);
    if (f->expected == NULL || f->episodes->items == NULL) return sf_fail_memory(error);
    f->q = f->expected + count;
    f->parents = (size_t *)(f->q + count);
    f->told = (bool *)(f->parents + count);
    f->episodes->count = count;
    return SF_OK;
}

static int fill_episodes(const sf_hop *hop, sf_episodes_message *episodes, sf_error *error)
{
    const sf_hop_window *window = sf_read_window(hop);
    const sf_tracking *tracking = &sf_read_tracked(hop)->now;
    episodes->hop = hop->segment->hop;
    episodes->window = window->span;
    episodes->partial = hop->segment->partial;
    episodes->spikes = window->end - window->begin;
    episodes->list_age_s = sf_tracked_age_s(sf_read_tracked(hop), window->span.stop_ns);
    filling f = {.episodes = episodes,
                 .tracked = tracking->items,
                 .counts = sf_read_counts(hop)->items,
                 .rates = sf_read_rates(hop),
                 .tests = sf_read_tests(hop),
                 .limits = sf_testing_limits(hop->config)};
    int status = open_filling(&f, tracking->count, error);
    if (status == SF_OK) {
        for_all(hop, &f, fill_some);
        fold(hop, &f);
    }
    sf_free(f.expected);
    return status;
}

/* Runs after the rules' predictions, which may concern episodes that are not published. */
static void leave_out(const sf_hop *hop, sf_episodes_message *episodes)
{
    sf_left_out left_out = sf_testing_limits(hop->config);
    size_t kept = 0;
    if (left_out.max_p <= 0 && left_out.max_q <= 0) {
        episodes->counted = episodes->count;
        episodes->left_out = left_out;
        return;
    }
    for (size_t i = 0; i < episodes->count; i++) {
        const sf_episode_count *item = &episodes->items[i];
        if (!is_told(&left_out, item)) {
            left_out.untested += isnan(item->p) ? 1 : 0;
            continue;
        }
        if (kept < i) episodes->items[kept] = *item;
        kept++;
    }
    left_out.count = episodes->count - kept;
    episodes->count = episodes->counted = kept;
    episodes->left_out = left_out;
}

/* Triggers that wait for what a rule says from now on. On a virtual clock all arrives when it happens. */
static void fire(const sf_hop *hop, const sf_predictions *rules)
{
    int64_t time_ns = hop->segment->window.stop_ns,
            arrival_ns = hop->virtual_clock ? time_ns : hop->arrival_ns;
    const sf_live_options *config = hop->config;
    for (uint32_t i = 0; (i = sf_predictions_next(rules, config, i)) < config->trigger_count; i++) {
        sf_hop_triggers *triggers = sf_change_triggers(hop, SF_PLAN_ADD);
        if (!triggers->fire(triggers->user, i, time_ns, arrival_ns))
            sf_log(SF_LOG_WARNING, "trigger %s: its rule's label changed, and there was no room to tell",
                   config->triggers[i].name);
    }
}

static int tell(sf_hop *hop, sf_error *error)
{
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    if (message == NULL) return sf_fail_memory(error);
    message->time_ns = hop->segment->window.stop_ns;
    sf_predictions *rules = sf_change_rules(hop, SF_PLAN_ASSIGN);
    int told = fill_episodes(hop, &message->episodes, error);
    if (told == SF_OK) told = sf_predictions_tell(rules, &message->episodes, error);
    if (told == SF_OK) {
        fire(hop, rules);
        leave_out(hop, &message->episodes);
        told = sf_message_rank(message, hop->team, error);
    }
    if (told != SF_OK) {
        sf_message_release(message);
        return told;
    }
    sf_hop_publish(hop, message);
    return SF_OK;
}

/* ---- status ---- */

static void tell_device(const sf_hop *hop, sf_status_message *into)
{
    const sf_discovered *newest = &sf_read_found(hop)->taken;
    memcpy(into->device_note, newest->device_note, sizeof into->device_note);
    sf_accelerator_status(sf_read_device(hop), into);
    snprintf(into->counting_device, sizeof into->counting_device, "%s",
             sf_counting_device(sf_read_summaries(hop)));
    memcpy(into->discovery_device, newest->device, sizeof into->discovery_device);
    into->discovery_ms = newest->device[0] != '\0' ? newest->seconds * 1e3 : NAN;
}

static void tell_testing(const sf_hop *hop, sf_status_message *into)
{
    const sf_testing_status *testing = &sf_read_tests(hop)->status;
    into->tested = testing->tested;
    into->tests = testing->tests;
    into->tests_missed = testing->missed;
    memcpy(into->test_device, testing->device, sizeof into->test_device);
    into->test_ms = testing->tests > 0 ? testing->seconds * 1e3 : NAN;
    into->test_share = testing->tests > 0 ? testing->share : NAN;
    into->test_length_s =
        hop->config->significance.kind != 0 ? (double)sf_testing_length_ns(hop->config) * 1e-9 : NAN;
    const bool waits = testing->not_tested == NULL
                           ? testing->tests == 0 && !isnan(into->test_length_s)
                           : strcmp(testing->not_tested, sf_verdict_untested.not_tested) == 0;
    into->not_tested = hop->last && waits ? sf_verdict_by_the_end : testing->not_tested;
}

static void tell_part(sf_status_message *into, sf_hop_part part, const char *device)
{
    if (into->stages[part].last_ms > 0)
        snprintf(into->stages[part].device, sizeof into->stages[part].device, "%s", device);
}

/* On a virtual clock mining is a part of the hop that asks for it; else `discover` is what a hop does for it.
 */
static bool is_mined_inside(const sf_hop *hop)
{
    return hop->virtual_clock && hop->times->ns[SF_PART_MINE] > 0;
}

/* Where each part of a hop ran last; the whole graph, and the hop, have no single place. */
static void tell_parts(const sf_hop *hop, sf_status_message *into)
{
    const sf_connections *graph = sf_read_graph(hop);
    sf_times_tell(hop->times, into);
    tell_part(into, SF_PART_COUNT, into->counting_device);
    tell_part(into, SF_PART_DISCOVER, is_mined_inside(hop) ? into->discovery_device : "cpu");
    tell_part(into, SF_PART_TEST, "cpu");
    tell_part(into, SF_PART_DENSITY, sf_densities_device(sf_read_densities(hop)));
    tell_part(into, SF_PART_PUBLISH, "cpu");
    tell_part(into, SF_PART_PAIRS, sf_pairing_device(sf_read_pairs(hop)));
    tell_part(into, SF_PART_REACH, sf_reaching_device(&graph->queries.reaching));
    tell_part(into, SF_PART_PATTERNS, graph->queries.matched_on);
    tell_part(into, SF_PART_CENSUS, "cpu");
    tell_part(into, SF_PART_MINE, into->discovery_device);
    tell_part(into, SF_PART_REWIRE, "cpu");
}

static int tell_sinks(const sf_hop *hop, sf_status_message *into, sf_error *error)
{
    sf_publisher *sinks =
        (sf_publisher *)sf_read_sinks(hop); /* counting calls changes nothing that is told */
    into->sinks = sf_alloc(sinks->outlet_count, sizeof *into->sinks);
    if (into->sinks == NULL) return sf_fail_memory(error);
    if (!sf_publisher_enter(sinks)) return SF_OK;
    for (size_t i = 0; i < sinks->outlet_count; i++) {
        const sf_outlet *outlet = &sinks->outlets[i];
        if (outlet->kind->status != NULL)
            outlet->kind->status(outlet->self, &into->sinks[into->sink_count++]);
        if (outlet->kind->tell != NULL) outlet->kind->tell(outlet->self, into);
    }
    sf_publisher_leave(sinks);
    return SF_OK;
}

/* Sum over the units that were observed; NaN if none was. */
static double rate_of_all(const sf_hop_rates *rates, size_t unit_count)
{
    double sum = NAN;
    for (size_t unit = 0; unit < unit_count; unit++)
        if (!isnan(rates->hz[unit])) sum = isnan(sum) ? rates->hz[unit] : sum + rates->hz[unit];
    return sum;
}

static int fill_status(const sf_hop *hop, sf_status_message *into, sf_error *error)
{
    const sf_hop_rates *rates = sf_read_rates(hop);
    into->unit_count = hop->units->count;
    into->unit_rates_hz = sf_alloc(into->unit_count, sizeof *into->unit_rates_hz);
    if (into->unit_rates_hz == NULL) return sf_fail_memory(error);
    memcpy(into->unit_rates_hz, rates->hz, into->unit_count * sizeof *into->unit_rates_hz);
    into->spikes = sf_read_history(hop)->end;
    into->rate_hz = rate_of_all(rates, into->unit_count);
    const sf_tracked_episodes *tracked = sf_read_tracked(hop);
    into->tracked = tracked->now.count;
    into->list_age_s = sf_tracked_age_s(tracked, sf_read_window(hop)->span.stop_ns);
    into->list_every_s = tracked->every_ns > 0 ? (double)tracked->every_ns * 1e-9 : NAN;
    into->lists_missed = sf_read_found(hop)->missed;
    into->edges = sf_read_graph(hop)->snapshot.count;
    into->last = hop->last;
    into->control_refused = -1;
    tell_device(hop, into);
    tell_testing(hop, into);
    tell_parts(hop, into);
    const sf_hop_sources *sources = sf_read_sources(hop);
    int told = tell_sinks(hop, into, error);
    return told == SF_OK ? sources->complete_status(sources->user, rates, into, error) : told;
}

static int report(sf_hop *hop, sf_error *error)
{
    sf_message *message = sf_message_new(SF_TOPIC_STATUS);
    if (message == NULL) return sf_fail_memory(error);
    message->time_ns = sf_read_window(hop)->span.stop_ns;
    int told = fill_status(hop, &message->status, error);
    if (told == SF_OK)
        sf_hop_publish(hop, message);
    else
        sf_message_release(message);
    return told;
}
