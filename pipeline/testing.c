/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/testing.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "mine/given.h"
#include "pipeline/watched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char off[] = "tests are off", gap[] = "observation gap", broken[] = "spikes were lost",
                  behind[] = "tests are behind", too_many[] = "too many to test", silent[] = "no spikes",
                  too_few[] = "too few to test", alone[] = "no link to test", nothing[] = "nothing to test";

static bool is_on(const sf_testing *testing)
{
    return testing->config->significance.kind != 0;
}

int64_t sf_testing_length_ns(const sf_live_options *config)
{
    int64_t given_ns = sf_seconds_to_ns(config->significance.length_s),
            window_ns = sf_seconds_to_ns(config->window.length_s),
            hop_ns = sf_seconds_to_ns(config->window.hop_s),
            least_ns = (SF_TESTING_LEAST_S * SF_SECOND + hop_ns - 1) / hop_ns * hop_ns;
    return given_ns > 0 ? given_ns : window_ns > least_ns ? window_ns : least_ns;
}

/* ---- the worker's side ---- */

/* Tests episodes with the same longest delay; `delays` NULL: those of the episodes. */
static int test_alike(sf_testing *testing, sf_test_outcome *outcomes, size_t count, const sf_delay *delays,
                      size_t delay_count)
{
    const sf_stretch_test *job = &testing->job;
    const sf_live_significance *asked = &testing->config->significance;
    sf_progress progress = sf_background_progress(&testing->background);
    sf_mine_input input = {.spikes = job->spikes,
                           .spike_count = job->count,
                           .units = testing->units,
                           .duration_ns = job->span.stop_ns - job->span.start_ns};
    sf_significance_options options = sf_significance_options_default();
    options.kind = (sf_significance_kind)asked->kind;
    options.surrogates = asked->surrogates;
    options.seed = (uint64_t)asked->seed << 32 | (uint32_t)job->number; /* drawn anew for each stretch */
    options.found_only = true;
    options.device = testing->device;
    options.threads = testing->config->mine.threads;
    sf_episode *episodes = sf_resize(NULL, count, sizeof *episodes);
    if (episodes == NULL)
        return sf_fail_memory(&testing->error);
    for (size_t i = 0; i < count; i++)
        episodes[i] = outcomes[i].episode;
    sf_mine_result *result;
    sf_mine_options mining;
    sf_significance told;
    int status =
        sf_mine_given(&result, &mining, &input, episodes, count, options.threads, &progress, &testing->error);
    sf_free(episodes);
    if (status != SF_OK)
        return status;
    if (delays != NULL) {
        mining.delays = delays;
        mining.delay_count = delay_count;
    }
    status = sf_significance_test(&told, result, &input, &mining, &options, &progress, &testing->error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        const sf_mine_item *item = &result->items[i];
        double n = options.surrogates, mean = (n * item->expected + item->count) / (n + 1);
        outcomes[i].not_tested = isnan(item->p)                  ? sf_not_testable_text(item->not_testable)
                                 : mean < SF_TESTING_LEAST_COUNT ? too_few
                                                                 : NULL;
        outcomes[i].p = outcomes[i].not_tested == NULL ? item->p : NAN;
        outcomes[i].chance_hz = item->expected / ((double)testing->length_ns * 1e-9);
    }
    if (status == SF_OK)
        memcpy(testing->ran_on, told.ran.device, sizeof testing->ran_on);
    sf_mine_result_free(result);
    return status;
}

static int test_stretch(sf_testing *testing)
{
    sf_test_outcome *all = testing->job.episodes;
    size_t count = testing->job.episode_count;
    int status = SF_OK;
    for (size_t from = 0, to = 0; from < count && status == SF_OK; from = to) {
        while (to < count && all[to].longest_ns == all[from].longest_ns)
            to++;
        bool usual = all[from].longest_ns == 0;
        status =
            test_alike(testing, all + from, to - from, usual ? testing->delays : NULL, testing->delay_count);
    }
    return status;
}

static void work(void *job)
{
    sf_testing *testing = job;
    double begin = sf_clock_seconds();
    testing->result = test_stretch(testing);
    testing->seconds = sf_clock_seconds() - begin;
}

/* ---- the ledger ---- */

static int by_episode(const void *a, const void *b)
{
    return sf_episode_compare(&((const sf_tested *)a)->episode, &((const sf_tested *)b)->episode);
}

static sf_tested *find_among(const sf_tested *items, size_t count, const sf_episode *episode)
{
    const sf_tested wanted = {.episode = *episode};
    return count > 0 ? bsearch(&wanted, items, count, sizeof *items, by_episode) : NULL;
}

static sf_tested *find(const sf_testing *testing, const sf_episode *episode)
{
    return find_among(testing->ledger.items, testing->ledger.count, episode);
}

static void forget(sf_testing *testing)
{
    sf_ledger *ledger = &testing->ledger;
    size_t kept = 0;
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->items[i].wanted + SF_TESTING_KEEP >= testing->now.number)
            ledger->items[kept++] = ledger->items[i];
    ledger->count = kept;
}

/* Enters what the stretch wants tested, as one lot of those that are new. */
static int enter(sf_testing *testing, sf_error *error)
{
    sf_ledger *ledger = &testing->ledger;
    const sf_stretch_test *now = &testing->now;
    size_t known = ledger->count;
    void *items = ledger->items;
    if (sf_reserve(&items, &ledger->capacity, known + now->episode_count + 1, sizeof *ledger->items) != 0)
        return sf_fail_memory(error);
    ledger->items = items;
    for (size_t i = 0; i < now->episode_count; i++) {
        sf_tested *entry = find_among(ledger->items, known, &now->episodes[i].episode);
        if (entry == NULL) {
            entry = &ledger->items[ledger->count++];
            *entry = (sf_tested){.episode = now->episodes[i].episode, .verdict = sf_verdict_untested};
        }
        if (!now->episodes[i].kept)
            entry->wanted = now->number;
    }
    size_t news = ledger->count - known;
    testing->lots += news > 0;
    double lots = (double)testing->lots;
    for (size_t i = known; i < ledger->count; i++)
        ledger->items[i].price = (double)news * lots * (lots + 1);
    if (news > 0)
        qsort(ledger->items, ledger->count, sizeof *ledger->items, by_episode);
    return SF_OK;
}

static void post(const sf_testing *testing)
{
    for (size_t i = 0; i < testing->watched_count; i++) {
        sf_verdict verdict = sf_testing_verdict(testing, &testing->watched[i]);
        sf_board_post(testing->board, i, &verdict);
    }
}

/* The stretch gave no p at all. */
static void excuse(sf_testing *testing, const char *reason)
{
    testing->status.not_tested = reason;
    for (size_t i = 0; i < testing->ledger.count; i++) {
        sf_tested *entry = &testing->ledger.items[i];
        if (entry->evidence.tests == 0)
            entry->verdict.not_tested = reason;
    }
}

static void take_up(sf_tested *entry, const sf_test_outcome *outcome, int64_t tested_ns)
{
    sf_verdict *verdict = &entry->verdict;
    if (isnan(outcome->p)) {
        if (entry->evidence.tests == 0)
            verdict->not_tested = outcome->not_tested;
        return;
    }
    sf_evidence_add(&entry->evidence, outcome->p);
    *verdict = (sf_verdict){.p = outcome->p,
                            .q = fmin(1, entry->price / sf_evidence_of(&entry->evidence)),
                            .tested_ns = tested_ns,
                            .tests = entry->evidence.tests,
                            .chance_hz = outcome->chance_hz};
}

/* A reason of single episodes, and not of all. */
static bool is_of_one(const char *reason)
{
    return strcmp(reason, sf_not_testable_text(SF_UNIT_RETURNS)) == 0 ||
           strcmp(reason, sf_not_testable_text(SF_SHARED_EVENTS)) == 0;
}

static int take_results(sf_testing *testing, sf_error *error)
{
    if (!sf_background_take(&testing->background))
        return SF_OK;
    const sf_stretch_test *job = &testing->job;
    if (testing->result != SF_OK)
        return sf_fail(error, testing->result, testing->error.place, "%s", testing->error.text);
    sf_testing_status *status = &testing->status;
    const char *reason = NULL;
    status->tested = 0;
    for (size_t i = 0; i < job->episode_count; i++) {
        const sf_test_outcome *outcome = &job->episodes[i];
        sf_tested *entry = find(testing, &outcome->episode);
        if (entry != NULL) /* not forgotten while the test went on */
            take_up(entry, outcome, job->span.stop_ns);
        status->tested += isnan(outcome->p) ? 0 : 1;
        if (outcome->not_tested != NULL && (reason == NULL || is_of_one(reason)))
            reason = outcome->not_tested; /* the first that is not of single episodes alone */
    }
    status->not_tested = status->tested == 0 ? reason : NULL;
    status->tests++;
    status->seconds = testing->seconds;
    memcpy(status->device, testing->ran_on, sizeof status->device);
    status->share = testing->seconds / ((double)(job->span.stop_ns - job->span.start_ns) * 1e-9);
    if (!testing->inside) /* where results may depend on the time it takes */
        testing->rest = (uint64_t)fmax(0, ceil(status->share / SF_TESTING_MOST_SHARE) - 1);
    post(testing);
    return SF_OK;
}

/* ---- what is to be tested ---- */

static int compare_outcomes(const void *a, const void *b)
{
    const sf_test_outcome *x = a, *y = b;
    if (x->longest_ns != y->longest_ns)
        return x->longest_ns < y->longest_ns ? -1 : 1;
    return sf_episode_compare(&x->episode, &y->episode);
}

static sf_test_outcome wanted_of(const sf_testing *testing, const sf_episode *episode, bool kept)
{
    int64_t usual_ns = 0, longest_ns = 0;
    for (size_t i = 0; i < testing->delay_count; i++)
        usual_ns = testing->delays[i].high_ns > usual_ns ? testing->delays[i].high_ns : usual_ns;
    for (uint32_t k = 0; k + 1 < episode->size; k++)
        longest_ns = episode->delays[k].high_ns > longest_ns ? episode->delays[k].high_ns : longest_ns;
    return (sf_test_outcome){
        .episode = *episode, .longest_ns = longest_ns > usual_ns ? longest_ns : 0, .kept = kept, .p = NAN};
}

/* A unit alone has no link to test. */
static int want(sf_testing *testing, const sf_episode *episode, bool kept, sf_error *error)
{
    if (episode->size < 2)
        return SF_OK;
    sf_stretch_test *now = &testing->now;
    void *room = now->episodes;
    if (sf_reserve(&room, &now->episode_capacity, now->episode_count + 1, sizeof *now->episodes) != 0)
        return sf_fail_memory(error);
    now->episodes = room;
    now->episodes[now->episode_count++] = wanted_of(testing, episode, kept);
    return SF_OK;
}

/* Orders what is wanted and drops what is wanted twice. */
static void settle_wanted(sf_stretch_test *now)
{
    size_t kept = 0;
    if (now->episode_count > 0)
        qsort(now->episodes, now->episode_count, sizeof *now->episodes, compare_outcomes);
    for (size_t i = 0; i < now->episode_count; i++)
        if (kept == 0 || compare_outcomes(&now->episodes[kept - 1], &now->episodes[i]) != 0)
            now->episodes[kept++] = now->episodes[i];
        else
            now->episodes[kept - 1].kept = now->episodes[kept - 1].kept && now->episodes[i].kept;
    now->episode_count = kept;
}

static size_t room_in(const sf_testing *testing)
{
    size_t most = testing->config->significance.most, count = testing->now.episode_count;
    return most > count ? most - count : 0;
}

/* What was wanted in stretches before, and is not now; where there is no room for all, the best so far. */
static int want_again(sf_testing *testing, size_t room, sf_error *error)
{
    const sf_ledger *ledger = &testing->ledger;
    const sf_stretch_test *now = &testing->now;
    sf_rank *order = sf_resize(NULL, ledger->count, sizeof *order);
    if (order == NULL)
        return sf_fail_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        const sf_tested *entry = &ledger->items[i];
        const sf_test_outcome wanted = wanted_of(testing, &entry->episode, true);
        if (now->episode_count == 0 || bsearch(&wanted, now->episodes, now->episode_count,
                                               sizeof *now->episodes, compare_outcomes) == NULL)
            order[count++] = (sf_rank){-sf_evidence_of(&entry->evidence) / entry->price, i};
    }
    if (count > room)
        sf_ranks_sort(order, count);
    int status = SF_OK;
    for (size_t i = 0; i < count && i < room && status == SF_OK; i++)
        status = want(testing, &ledger->items[order[i].index].episode, true, error);
    sf_free(order);
    return status;
}

/* Where there is no room for all, those that count most above chance, else in the order of links. */
static int want_edges(sf_testing *testing, const sf_connectivity *graph, size_t room, sf_error *error)
{
    size_t count = graph != NULL && !graph->is_tiling ? graph->count + graph->left_out : 0;
    testing->truncated = count > room;
    sf_rank *order = sf_resize(NULL, count, sizeof *order);
    if (order == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        double expected = graph->links[i].expected;
        order[i] = (sf_rank){(expected - (double)graph->links[i].count) / sqrt(fmax(expected, 1)), i};
    }
    if (testing->truncated)
        sf_ranks_sort(order, count);
    int status = SF_OK;
    for (size_t i = 0; i < count && i < room && status == SF_OK; i++) {
        const sf_link *link = &graph->links[order[i].index];
        const sf_episode pair = {.size = 2, .units = {link->from, link->to}, .delays = {link->delay}};
        status = want(testing, &pair, false, error);
    }
    sf_free(order);
    return status;
}

/* What is tested in the next stretch. `graph` NULL: only what the configuration names, which nothing had to
 * be looked at for. */
static int settle(sf_testing *testing, const sf_tracking *tracking, const sf_connectivity *graph,
                  sf_error *error)
{
    sf_stretch_test *now = &testing->now;
    size_t most = testing->config->significance.most;
    now->number++;
    now->episode_count = 0;
    int status = SF_OK;
    for (size_t i = 0; i < testing->watched_count && status == SF_OK; i++)
        status = want(testing, &testing->watched[i], false, error);
    for (size_t i = 0; i < tracking->count && status == SF_OK; i++)
        if (tracking->items[i].pinned || (graph != NULL && now->episode_count < most))
            status = want(testing, &tracking->items[i].episode, false, error);
    settle_wanted(now);
    forget(testing);
    if (status == SF_OK)
        status = want_again(testing, room_in(testing), error);
    settle_wanted(now);
    if (status == SF_OK)
        status = want_edges(testing, graph, room_in(testing), error);
    settle_wanted(now);
    return status == SF_OK ? enter(testing, error) : status;
}

/* ---- stretches ---- */

static void open_stretch(sf_testing *testing, int64_t start_ns, uint64_t position)
{
    sf_stretch_test *now = &testing->now;
    now->span = (sf_span){start_ns, sf_time_plus(start_ns, testing->length_ns)};
    now->count = 0;
    testing->copied = position;
    testing->breaks = testing->newest_breaks;
    testing->open = true;
}

int sf_testing_begin(sf_testing *testing, const sf_segment *segment, const sf_tracking *tracking,
                     const sf_connectivity *graph, sf_error *error)
{
    if (!is_on(testing) || (segment->hop + 1) % testing->hops != 0)
        return SF_OK;
    open_stretch(testing, segment->window.stop_ns, segment->end);
    return settle(testing, tracking, graph, error);
}

static int gather(sf_testing *testing, const sf_segment *segment, const sf_history *history, sf_error *error)
{
    sf_stretch_test *now = &testing->now;
    size_t count = (size_t)(segment->end - testing->copied);
    void *room = now->spikes;
    if (sf_reserve(&room, &now->capacity, now->count + count + 1, sizeof *now->spikes) != 0)
        return sf_fail_memory(error);
    now->spikes = room;
    if (count > 0)
        memcpy(now->spikes + now->count, sf_history_view(history, testing->copied),
               count * sizeof *now->spikes);
    now->count += count;
    testing->copied = segment->end;
    return SF_OK;
}

static bool was_observed(const sf_testing *testing, const sf_span *span)
{
    for (size_t i = 0; i < testing->observed_count; i++) {
        const sf_observed *observed = &testing->observed[i];
        bool within = false;
        for (size_t k = 0; k < observed->count && !within; k++)
            within =
                observed->spans[k].start_ns <= span->start_ns && span->stop_ns <= observed->spans[k].stop_ns;
        if (!within)
            return false;
    }
    return true;
}

/* Why nothing can be tested in the stretch that ends with this window; NULL: nothing speaks against it. */
static const char *obstacle(const sf_testing *testing, const sf_segment *segment)
{
    const sf_stretch_test *now = &testing->now;
    if (segment->window.stop_ns != now->span.stop_ns || !was_observed(testing, &now->span))
        return gap;
    if (testing->newest_breaks != testing->breaks)
        return broken;
    if (now->episode_count == 0)
        return nothing;
    if (now->count == 0)
        return silent;
    return testing->rest == 0 && sf_background_is_idle(&testing->background) ? NULL : behind;
}

static void close_stretch(sf_testing *testing, const sf_segment *segment)
{
    const char *reason = obstacle(testing, segment);
    testing->open = false;
    testing->rest -= testing->rest > 0;
    testing->status.missed += reason == behind;
    if (reason != NULL) {
        excuse(testing, reason);
        if (segment->window.stop_ns == testing->now.span.stop_ns)
            post(testing);
        return;
    }
    sf_stretch_test done = testing->now;
    testing->now = testing->job;
    testing->now.number = done.number;
    testing->job = done;
    sf_background_start(&testing->background);
}

int sf_testing_advance(sf_testing *testing, const sf_segment *segment, const sf_history *history,
                       uint64_t breaks, sf_error *error)
{
    if (!is_on(testing))
        return SF_OK;
    testing->newest_breaks = breaks;
    int status = take_results(testing, error);
    if (!testing->begun)
        open_stretch(testing, segment->window.start_ns, sf_history_find(history, segment->window.start_ns));
    testing->begun = true;
    if (status == SF_OK && testing->open)
        status = gather(testing, segment, history, error);
    if (status != SF_OK || !testing->open || segment->window.stop_ns < testing->now.span.stop_ns)
        return status;
    close_stretch(testing, segment);
    return take_results(testing, error); /* on a virtual clock they are there */
}

/* ---- verdicts ---- */

/* Of an episode that is not in the ledger. */
static sf_verdict absent(const sf_testing *testing)
{
    sf_verdict verdict = sf_verdict_untested;
    if (!is_on(testing))
        verdict.not_tested = off;
    else if (testing->truncated)
        verdict.not_tested = too_many;
    return verdict;
}

sf_verdict sf_testing_verdict(const sf_testing *testing, const sf_episode *episode)
{
    const sf_tested *entry = find(testing, episode);
    if (entry != NULL)
        return entry->verdict;
    sf_verdict verdict = absent(testing);
    if (episode->size < 2)
        verdict.not_tested = alone;
    return verdict;
}

void sf_testing_mark(const sf_testing *testing, sf_connectivity *graph)
{
    const sf_ledger *ledger = &testing->ledger;
    const sf_verdict none = absent(testing);
    size_t next = 0; /* pairs come first in the ledger, and in the order of links */
    for (size_t i = 0; i < graph->count && !graph->is_tiling; i++) {
        sf_link *link = &graph->links[i];
        const sf_episode pair = {.size = 2, .units = {link->from, link->to}, .delays = {link->delay}};
        while (next < ledger->count && sf_episode_compare(&ledger->items[next].episode, &pair) < 0)
            next++;
        bool known = next < ledger->count && sf_episode_compare(&ledger->items[next].episode, &pair) == 0;
        const sf_verdict *verdict = known ? &ledger->items[next].verdict : &none;
        link->p = verdict->p;
        link->q = verdict->q;
        link->not_testable = verdict->not_tested;
    }
}

void sf_testing_date(const sf_testing *testing, sf_edge_change *changes, size_t count, int64_t stop_ns)
{
    for (size_t i = 0; i < count; i++) {
        sf_edge_change *change = &changes[i];
        const sf_episode pair = {.size = 2, .units = {change->from, change->to}, .delays = {change->delay}};
        const sf_tested *entry = isnan(change->p) ? NULL : find(testing, &pair);
        change->p_age_s = entry != NULL ? sf_verdict_age_s(&entry->verdict, stop_ns) : NAN;
    }
}

/* ---- opening and closing ---- */

static int parse_watched(sf_testing *testing, sf_error *error)
{
    size_t count = sf_watched_count(testing->config);
    sf_watched *all = sf_alloc(count, sizeof *all);
    testing->watched = sf_alloc(count, sizeof *testing->watched);
    int status = all != NULL && testing->watched != NULL
                     ? sf_watched_parse(all, testing->config, testing->units, error)
                     : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        testing->watched[testing->watched_count++] = all[i].episode;
    sf_free(all);
    return status;
}

int sf_testing_open(sf_testing *testing, const sf_testing_setup *setup, sf_error *error)
{
    const sf_live_options *config = setup->config;
    *testing = (sf_testing){.config = config,
                            .units = setup->units,
                            .observed = setup->observed,
                            .observed_count = setup->observed_count,
                            .board = setup->board,
                            .inside = setup->inside,
                            .device = setup->device,
                            .length_ns = sf_testing_length_ns(config)};
    testing->hops = (uint64_t)(testing->length_ns / sf_seconds_to_ns(config->window.hop_s));
    int status = sf_delays_parse(testing->delays, sizeof testing->delays / sizeof *testing->delays,
                                 &testing->delay_count, config->mine.delays_ms, error);
    if (status == SF_OK)
        status = parse_watched(testing, error);
    if (status == SF_OK && is_on(testing))
        status =
            sf_background_open(&testing->background, "synfire-test", setup->inside, work, testing, error);
    if (status == SF_OK && is_on(testing))
        status = settle(testing, setup->pinned, NULL, error);
    if (status == SF_OK)
        post(testing);
    else
        sf_testing_close(testing);
    return status;
}

static void free_stretch(sf_stretch_test *stretch)
{
    sf_free(stretch->spikes);
    sf_free(stretch->episodes);
}

void sf_testing_close(sf_testing *testing)
{
    sf_background_close(&testing->background);
    free_stretch(&testing->now);
    free_stretch(&testing->job);
    sf_free(testing->ledger.items);
    sf_free(testing->watched);
    *testing = (sf_testing){0};
}
