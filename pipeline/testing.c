/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/testing.h"

#include "core/ahead.h"
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
                  behind[] = "tests are behind", too_many[] = "too many to test", silent[] = "silent stretch",
                  too_few[] = "too few so far", alone[] = "no link to test", nothing[] = "nothing to test",
                  random_too[] = "random pairs stand out";

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

/* Outcomes that are tested together: with the same longest delay, in the same spikes. */
typedef struct group {
    sf_test_outcome *outcomes;
    size_t count;
    const sf_delay *delays; /* NULL: those of the episodes */
    size_t delay_count;
    const sf_test_shape *shape;
} group;

static sf_significance_options options_of(const sf_testing *testing)
{
    const sf_live_significance *asked = &testing->config->significance;
    sf_significance_options options = sf_significance_options_default();
    options.kind = (sf_significance_kind)asked->kind;
    options.surrogates = asked->surrogates;
    options.seed = (uint64_t)asked->seed << 32 | (uint32_t)testing->job.number; /* anew for each stretch */
    options.found_only = true;
    options.device = testing->device;
    options.threads = testing->config->mine.threads;
    return options;
}

/* p of a chain is its ends'; its links have tests of their own. */
static void read_outcome(sf_test_outcome *outcome, const sf_mine_item *item, uint32_t surrogates)
{
    double n = surrogates;
    if (item->not_tested != SF_TESTABLE) {
        outcome->not_tested = sf_not_tested_text(item->not_tested);
        return;
    }
    outcome->mean = (n * item->expected_given_rest + item->count) / (n + 1);
    outcome->not_tested = outcome->mean < SF_TESTING_LEAST_COUNT ? too_few : NULL;
    outcome->p = outcome->not_tested == NULL ? fmax(item->p_last, item->p_first) : NAN;
}

static int test_group(sf_testing *testing, const group *of)
{
    sf_progress progress = sf_background_progress(&testing->background);
    sf_significance_options options = options_of(testing);
    int64_t duration_ns = of->outcomes->have * testing->length_ns;
    sf_mine_input input = {.units = testing->units, .duration_ns = duration_ns};
    input.spikes = sf_past_since(&testing->past, of->outcomes->since, &input.spike_count);
    sf_episode *episodes = sf_resize(NULL, of->count, sizeof *episodes);
    if (episodes == NULL) return sf_fail_memory(&testing->error);
    for (size_t i = 0; i < of->count; i++)
        episodes[i] = of->outcomes[i].episode;
    sf_mine_result *result;
    sf_mining_options mining;
    sf_significance told;
    int status = sf_mine_given(&result, &mining, &input, episodes, of->count, options.threads, &progress,
                               &testing->error);
    sf_free(episodes);
    if (status != SF_OK) return status;
    if (of->delays != NULL) {
        mining.delays = of->delays;
        mining.delay_count = of->delay_count;
    }
    status = sf_significance_test_by(&told, result, &input, &mining, &options, of->shape, &progress,
                                     &testing->error);
    for (size_t i = 0; status == SF_OK && i < of->count; i++)
        read_outcome(&of->outcomes[i], &result->items[i], options.surrogates);
    if (status == SF_OK) memcpy(testing->ran_on, told.ran.device, sizeof testing->ran_on);
    sf_mine_result_free(result);
    return status;
}

static void widen(sf_delay *span, const sf_delay *delays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        span->low_ns = delays[i].low_ns < span->low_ns ? delays[i].low_ns : span->low_ns;
        span->high_ns = delays[i].high_ns > span->high_ns ? delays[i].high_ns : span->high_ns;
    }
}

static int find_shape(sf_testing *testing, const sf_test_shape **shape, uint64_t since, sf_delay span)
{
    sf_progress progress = sf_background_progress(&testing->background);
    sf_significance_options options = options_of(testing);
    return sf_past_find_shape(&testing->past, shape, since, testing->units->count, span, &options, &progress,
                              &testing->error);
}

/* If there was nothing before the stretch, there is no shape to test it by. */
static int test_alike(sf_testing *testing, sf_test_outcome *outcomes, size_t count)
{
    group of = {.outcomes = outcomes, .count = count};
    sf_delay span = {INT64_MAX, 0};
    if (outcomes->longest_ns == 0) {
        of.delays = testing->delays;
        of.delay_count = testing->delay_count;
        widen(&span, of.delays, of.delay_count);
    }
    for (size_t i = 0; i < count && of.delays == NULL; i++)
        widen(&span, outcomes[i].episode.delays, outcomes[i].episode.size - 1);
    int status = find_shape(testing, &of.shape, outcomes->since, span);
    if (status == SF_OK && of.shape != NULL) return test_group(testing, &of);
    for (size_t i = 0; i < count; i++)
        outcomes[i].not_tested = sf_verdict_untested.not_tested;
    return status;
}

/* Measures the shape for tests that began with this stretch, while the earlier spikes are still kept. */
static int look_ahead(sf_testing *testing)
{
    const sf_test_shape *shape;
    sf_delay span = {INT64_MAX, 0};
    widen(&span, testing->delays, testing->delay_count);
    return find_shape(testing, &shape, testing->job.number, span);
}

static int test_stretch(sf_testing *testing)
{
    const sf_stretch_test *job = &testing->job;
    sf_test_outcome *all = job->outcomes;
    sf_past_forget(&testing->past, job->oldest, job->waits);
    int status = sf_past_append(&testing->past, job->number, job->spikes, job->count, &testing->error);
    if (status == SF_OK) status = look_ahead(testing);
    for (size_t from = 0, to = 0; from < job->outcome_count && status == SF_OK; from = to) {
        while (to < job->outcome_count && all[to].longest_ns == all[from].longest_ns &&
               all[to].since == all[from].since)
            to++;
        status = test_alike(testing, all + from, to - from);
    }
    return status == SF_OK ? sf_past_learn(&testing->past, job->number, job->spikes, job->count,
                                           testing->units->count, &testing->error)
                           : status;
}

static void work(void *job)
{
    sf_testing *testing = job;
    double begin = sf_clock_seconds();
    testing->result = test_stretch(testing);
    testing->seconds = sf_clock_seconds() - begin;
}

/* ---- episodes ---- */

static sf_episode link_of(const sf_episode *chain, uint32_t k)
{
    return (sf_episode){
        .size = 2, .units = {chain->units[k], chain->units[k + 1]}, .delays = {chain->delays[k]}};
}

/* The longest delay of an episode if it exceeds those of discovery; else 0. */
static int64_t longest_of(const sf_testing *testing, const sf_episode *episode)
{
    sf_delay usual = {0}, own = {0};
    widen(&usual, testing->delays, testing->delay_count);
    widen(&own, episode->delays, episode->size - 1);
    return own.high_ns > usual.high_ns ? own.high_ns : 0;
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
    for (size_t i = 0; i < ledger->count; i++) {
        const sf_tested *entry = &ledger->items[i];
        if (entry->wanted + (uint64_t)SF_TESTING_KEEP * entry->own.needs >= testing->now.number)
            ledger->items[kept++] = *entry;
    }
    ledger->count = kept;
}

/* The own stretch that follows stretch `number`: those of one length begin together, so that they are tested
 * together. */
static sf_own_stretch begin_own(uint64_t number, uint32_t needs)
{
    return (sf_own_stretch){.since = (number + needs - 1) / needs * needs + 1, .needs = needs};
}

/* All that begins in a stretch is a lot. */
static void set_prices(sf_testing *testing)
{
    sf_ledger *ledger = &testing->ledger;
    size_t news = 0;
    for (size_t i = 0; i < ledger->count; i++)
        news += ledger->items[i].price == 0;
    testing->lots += news > 0;
    double lots = (double)testing->lots;
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->items[i].price == 0) ledger->items[i].price = (double)news * lots * (lots + 1);
}

/* Adds what the stretch wants tested to the ledger. An episode that it leaves out has a gap in its own
 * stretch, and begins another one. */
static int enter(sf_testing *testing, sf_error *error)
{
    sf_ledger *ledger = &testing->ledger;
    uint64_t number = testing->now.number;
    size_t known = ledger->count;
    void *items = ledger->items;
    if (sf_reserve(&items, &ledger->capacity, known + testing->wanted_count + 1, sizeof *ledger->items) != 0)
        return sf_fail_memory(error);
    ledger->items = items;
    for (size_t i = 0; i < testing->wanted_count; i++) {
        const sf_wanted *wanted = &testing->wanted[i];
        sf_tested *entry = find_among(ledger->items, known, &wanted->episode);
        if (entry == NULL) {
            entry = &ledger->items[ledger->count++];
            *entry = (sf_tested){.episode = wanted->episode,
                                 .longest_ns = longest_of(testing, &wanted->episode),
                                 .own = begin_own(number - 1, 1),
                                 .verdict = sf_verdict_untested};
        }
        entry->listed = number;
        if (!wanted->kept) entry->wanted = number;
    }
    for (size_t i = 0; i < known; i++)
        if (ledger->items[i].listed != number)
            ledger->items[i].own = begin_own(number, ledger->items[i].own.needs);
    if (testing->random_pairs.alarmed == 0) /* else nothing begins */
        set_prices(testing);
    if (ledger->count > known) qsort(ledger->items, ledger->count, sizeof *ledger->items, by_episode);
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
        if (entry->evidence.tests == 0) entry->verdict.not_tested = reason;
    }
}

/* Discards an episode's results, which are wrong or cannot be known. */
static void begin_anew(sf_tested *entry, const char *reason)
{
    entry->evidence = entry->most = (sf_evidence){0};
    entry->price = 0;
    entry->verdict = sf_verdict_untested;
    entry->verdict.not_tested = reason;
}

/* After a test: begins another own stretch, or continues this one to twice its length. A quiet stretch says
 * nothing about how long the next burst will take. */
static void go_on(const sf_testing *testing, sf_own_stretch *own, double mean)
{
    if (mean < SF_TESTING_LEAST_COUNT && own->have < testing->most) {
        own->needs = 2 * own->have;
        return;
    }
    uint32_t needs = 1;
    while (needs * mean < own->have * SF_TESTING_LEAST_COUNT && needs < testing->most)
        needs *= 2;
    *own = begin_own(testing->job.number, needs);
}

static double q_of(const sf_tested *entry, const sf_evidence *evidence)
{
    return fmin(1, entry->price / sf_evidence_of(evidence));
}

static void take_up(const sf_testing *testing, sf_tested *entry, const sf_test_outcome *outcome)
{
    sf_verdict *verdict = &entry->verdict;
    if (entry->own.since != outcome->since) return; /* it has begun anew while the test went on */
    go_on(testing, &entry->own, outcome->mean);
    if (testing->random_pairs.alarmed > 0) return;
    if (isnan(outcome->p)) {
        if (isnan(outcome->mean) && entry->evidence.tests > 0)
            begin_anew(entry, outcome->not_tested);
        else if (entry->evidence.tests == 0)
            verdict->not_tested = outcome->not_tested;
        return;
    }
    sf_evidence_add(&entry->evidence, outcome->p, testing->chance);
    sf_evidence_add(&entry->most, 1 / (testing->config->significance.surrogates + 1.0), testing->chance);
    *verdict = (sf_verdict){.p = outcome->p,
                            .q = q_of(entry, &entry->evidence),
                            .least_q = q_of(entry, &entry->most),
                            .tested_ns = testing->job.span.stop_ns,
                            .tests = entry->evidence.tests};
}

static void take_drawn(sf_testing *testing)
{
    const sf_stretch_test *job = &testing->job;
    size_t paid_by = 0, kept = 0;
    double paid = 0;
    for (size_t i = 0; i < job->outcome_count; i++) {
        const sf_test_outcome *outcome = &job->outcomes[i];
        if (outcome->drawn == SF_NOT_DRAWN) continue;
        if (!isnan(outcome->p)) {
            paid += sf_random_pair_pays(outcome->p);
            paid_by++;
        }
        sf_own_stretch *own = &testing->drawn[outcome->drawn].own;
        go_on(testing, own, outcome->mean);
        own->needs = own->have > 0 ? own->needs : 0; /* it was its one test */
    }
    for (size_t i = 0; i < testing->drawn_count; i++)
        if (testing->drawn[i].own.needs > 0) testing->drawn[kept++] = testing->drawn[i];
    testing->drawn_count = kept;
    sf_random_pairs_take(&testing->random_pairs, paid, paid_by);
    for (size_t i = 0; i < testing->ledger.count && testing->random_pairs.alarmed > 0; i++)
        begin_anew(&testing->ledger.items[i], random_too);
}

/* A reason of single episodes, and not of all. */
static bool is_of_one(const char *reason)
{
    return strcmp(reason, sf_not_tested_text(SF_UNIT_RETURNS)) == 0 ||
           strcmp(reason, sf_not_tested_text(SF_SHARED_EVENTS)) == 0;
}

/* Why no episode has a p of this stretch. */
static const char *reason_of(const sf_testing *testing)
{
    const sf_stretch_test *job = &testing->job;
    const char *reason = NULL;
    if (testing->random_pairs.alarmed > 0) return random_too;
    for (size_t i = 0; i < job->outcome_count; i++) {
        const sf_test_outcome *outcome = &job->outcomes[i];
        if (outcome->not_tested != NULL && (reason == NULL || is_of_one(reason)))
            reason = outcome->not_tested; /* the first that is not of single episodes alone */
    }
    return reason != NULL ? reason : testing->ledger.count > 0 ? too_few : nothing;
}

static int take_results(sf_testing *testing, sf_error *error)
{
    if (!sf_background_take(&testing->background)) return SF_OK;
    const sf_stretch_test *job = &testing->job;
    if (testing->result == SF_CANCELLED) /* halted: nobody waits for it */
        return SF_OK;
    if (testing->result != SF_OK)
        return sf_fail(error, testing->result, testing->error.place, "%s", testing->error.text);
    sf_testing_status *status = &testing->status;
    size_t tested = 0, asked = 0;
    take_drawn(testing);
    for (size_t i = 0; i < job->outcome_count; i++) {
        const sf_test_outcome *outcome = &job->outcomes[i];
        sf_tested *entry = outcome->drawn == SF_NOT_DRAWN ? find(testing, &outcome->episode) : NULL;
        asked += outcome->drawn == SF_NOT_DRAWN;
        if (entry == NULL) /* a random pair, or forgotten while the test went on */
            continue;
        take_up(testing, entry, outcome);
        tested += !isnan(outcome->p) && testing->random_pairs.alarmed == 0;
    }
    status->tested = tested;
    status->not_tested = tested == 0 ? reason_of(testing) : NULL;
    status->tests += asked > 0;
    status->seconds = testing->seconds;
    memcpy(status->device, testing->ran_on, sizeof status->device);
    status->share = testing->seconds / ((double)(job->span.stop_ns - job->span.start_ns) * 1e-9);
    if (!testing->inside && !testing->waits) /* where results may depend on the time it takes */
        testing->rest = (uint64_t)fmax(0, ceil(status->share / SF_TESTING_MOST_SHARE) - 1);
    post(testing);
    return SF_OK;
}

/* ---- what is to be tested ---- */

static int compare_wanted(const void *a, const void *b)
{
    return sf_episode_compare(&((const sf_wanted *)a)->episode, &((const sf_wanted *)b)->episode);
}

static int want_one(sf_testing *testing, const sf_episode *episode, bool kept, sf_error *error)
{
    void *room = testing->wanted;
    if (sf_reserve(&room, &testing->wanted_capacity, testing->wanted_count + 1, sizeof *testing->wanted) != 0)
        return sf_fail_memory(error);
    testing->wanted = room;
    testing->wanted[testing->wanted_count++] = (sf_wanted){*episode, kept};
    return SF_OK;
}

/* A unit alone has no link to test; a chain is tested with its links. */
static int want(sf_testing *testing, const sf_episode *episode, bool kept, sf_error *error)
{
    int status = episode->size > 1 ? want_one(testing, episode, kept, error) : SF_OK;
    for (uint32_t k = 0; episode->size > 2 && k + 1 < episode->size && status == SF_OK; k++) {
        const sf_episode link = link_of(episode, k);
        status = want_one(testing, &link, kept, error);
    }
    return status;
}

/* Orders what is wanted and drops what is wanted twice. */
static void settle_wanted(sf_testing *testing)
{
    sf_wanted *all = testing->wanted;
    size_t kept = 0;
    if (testing->wanted_count > 0) qsort(all, testing->wanted_count, sizeof *all, compare_wanted);
    for (size_t i = 0; i < testing->wanted_count; i++)
        if (kept == 0 || compare_wanted(&all[kept - 1], &all[i]) != 0)
            all[kept++] = all[i];
        else
            all[kept - 1].kept = all[kept - 1].kept && all[i].kept;
    testing->wanted_count = kept;
}

static size_t room_in(const sf_testing *testing)
{
    size_t most = testing->config->significance.most;
    return most > testing->wanted_count ? most - testing->wanted_count : 0;
}

/* Adds episodes that were wanted in earlier stretches and are not now; if there is no room for all, the best
 * so far. */
static int want_again(sf_testing *testing, sf_error *error)
{
    const sf_ledger *ledger = &testing->ledger;
    size_t settled = testing->wanted_count, count = 0;
    sf_rank *order = sf_resize(NULL, ledger->count, sizeof *order);
    if (order == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < ledger->count; i++) {
        const sf_tested *entry = &ledger->items[i];
        const sf_wanted wanted = {.episode = entry->episode};
        if (settled == 0 ||
            bsearch(&wanted, testing->wanted, settled, sizeof *testing->wanted, compare_wanted) == NULL)
            order[count++] =
                (sf_rank){entry->price > 0 ? -sf_evidence_of(&entry->evidence) / entry->price : 0, i};
    }
    if (count > room_in(testing)) sf_ranks_sort(order, count);
    int status = SF_OK;
    for (size_t i = 0; i < count && room_in(testing) > 0 && status == SF_OK; i++)
        status = want(testing, &ledger->items[order[i].index].episode, true, error);
    sf_free(order);
    return status;
}

/* If there is no room for all edges, takes those that count most above chance; else in the order of links. */
static int want_edges(sf_testing *testing, const sf_connectivity *graph, size_t room, sf_error *error)
{
    size_t count = graph != NULL && !graph->is_tiling ? graph->count + graph->left_out : 0;
    testing->truncated = count > room;
    sf_rank *order = sf_resize(NULL, count, sizeof *order);
    if (order == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        double expected = graph->links[i].expected;
        order[i] = (sf_rank){(expected - (double)graph->links[i].count) / sqrt(fmax(expected, 1)), i};
    }
    if (testing->truncated) sf_ranks_sort(order, count);
    int status = SF_OK;
    for (size_t i = 0; i < count && i < room && status == SF_OK; i++) {
        const sf_link *link = &graph->links[order[i].index];
        const sf_episode pair = {.size = 2, .units = {link->from, link->to}, .delays = {link->delay}};
        status = want(testing, &pair, false, error);
    }
    sf_free(order);
    return status;
}

/* Each drawn pair resembles one of the wanted pairs. Pairs drawn for a skipped stretch are still kept. */
static int draw_pairs(sf_testing *testing, sf_error *error)
{
    void *room = testing->drawn;
    size_t pairs = 0, fresh = 0; /* which come first */
    for (size_t i = 0; i < testing->drawn_count; i++)
        fresh += testing->drawn[i].own.have == 0;
    while (pairs < testing->wanted_count && testing->wanted[pairs].episode.size == 2)
        pairs++;
    if (sf_reserve(&room, &testing->drawn_capacity, testing->drawn_count + SF_RANDOM_PAIRS,
                   sizeof *testing->drawn) != 0)
        return sf_fail_memory(error);
    testing->drawn = room;
    uint64_t number = testing->now.number, seed = testing->config->significance.seed;
    for (uint64_t i = fresh; i < SF_RANDOM_PAIRS && pairs > 0; i++) {
        const sf_episode *like = &testing->wanted[sf_random_pair_choose(pairs, seed, number, i)].episode;
        const sf_tested *entry = find(testing, like);
        sf_drawn_pair *drawn = &testing->drawn[testing->drawn_count];
        *drawn =
            (sf_drawn_pair){.longest_ns = entry->longest_ns, .own = begin_own(number - 1, entry->own.needs)};
        testing->drawn_count += drawn->own.since == number &&
                                sf_random_pair_draw(&drawn->pair, like, &testing->rates, seed, number, i);
    }
    return SF_OK;
}

/* Fixes what is tested in the next stretch. `graph` NULL: only what the configuration names, which needed no
 * look at the data. */
static int settle(sf_testing *testing, const sf_tracking *tracking, const sf_connectivity *graph,
                  sf_error *error)
{
    testing->now.number++;
    testing->wanted_count = 0;
    testing->crowded = false;
    int status = SF_OK;
    for (size_t i = 0; i < testing->watched_count && status == SF_OK; i++)
        status = want(testing, &testing->watched[i], false, error);
    for (size_t i = 0; i < tracking->count && status == SF_OK; i++)
        if (tracking->items[i].pinned || (graph != NULL && room_in(testing) > 0))
            status = want(testing, &tracking->items[i].episode, false, error);
        else
            testing->crowded = graph != NULL;
    settle_wanted(testing);
    forget(testing);
    if (status == SF_OK) status = want_again(testing, error);
    settle_wanted(testing);
    if (status == SF_OK) status = want_edges(testing, graph, room_in(testing), error);
    settle_wanted(testing);
    if (status == SF_OK) status = enter(testing, error);
    return status == SF_OK ? draw_pairs(testing, error) : status;
}

/* ---- stretches ---- */

static void open_stretch(sf_testing *testing, int64_t start_ns, uint64_t position)
{
    sf_stretch_test *now = &testing->now;
    now->span = (sf_span){start_ns, sf_time_plus(start_ns, testing->length_ns)};
    now->count = 0;
    memset(testing->fired, 0, testing->units->count * sizeof *testing->fired);
    testing->copied = position;
    testing->breaks = testing->newest_breaks;
    testing->open = true;
}

int sf_testing_begin(sf_testing *testing, const sf_segment *segment, const sf_tracking *tracking,
                     const sf_connectivity *graph, sf_error *error)
{
    if (!is_on(testing) || (segment->hop + 1) % testing->hops != 0) return SF_OK;
    open_stretch(testing, segment->window.stop_ns, segment->end);
    return settle(testing, tracking, graph, error);
}

/* Makes room for `count` spikes so far, and an estimate of those in the rest of the stretch. */
static int make_room(sf_testing *testing, const sf_segment *segment, size_t count, sf_error *error)
{
    sf_stretch_test *now = &testing->now;
    return sf_reserve_ahead(&now->spikes, &now->capacity, count, sizeof *now->spikes,
                            segment->window.stop_ns - now->span.start_ns, testing->length_ns) == 0
               ? SF_OK
               : sf_fail_memory(error);
}

static int gather(sf_testing *testing, const sf_segment *segment, const sf_history *history, sf_error *error)
{
    sf_stretch_test *now = &testing->now;
    size_t count = (size_t)(segment->end - testing->copied);
    int status = make_room(testing, segment, now->count + count + 1, error);
    if (status != SF_OK) return status;
    if (count > 0)
        memcpy(now->spikes + now->count, sf_history_view(history, testing->copied),
               count * sizeof *now->spikes);
    for (size_t i = now->count; i < now->count + count; i++)
        testing->fired[now->spikes[i].unit]++;
    now->count += count;
    testing->copied = segment->end;
    return SF_OK;
}

/* Why nothing can be tested in the stretch that ends with this window; NULL: it can be tested. */
static const char *obstacle(const sf_testing *testing, const sf_segment *segment)
{
    const sf_stretch_test *now = &testing->now;
    if (segment->window.stop_ns != now->span.stop_ns ||
        !sf_observed_whole(testing->observed, testing->observed_count, now->span))
        return gap;
    if (testing->newest_breaks != testing->breaks) return broken;
    if (now->count == 0) return silent;
    return testing->rest == 0 && sf_background_is_idle(&testing->background) ? NULL : behind;
}

static int compare_outcomes(const void *a, const void *b)
{
    const sf_test_outcome *x = a, *y = b;
    if (x->longest_ns != y->longest_ns) return x->longest_ns < y->longest_ns ? -1 : 1;
    if (x->since != y->since) return x->since < y->since ? -1 : 1;
    return sf_episode_compare(&x->episode, &y->episode);
}

/* Adds a stretch for an episode or random pair, and lists it for a test if its own stretch is long enough. */
static void add_stretch(sf_stretch_test *job, const sf_episode *episode, int64_t longest_ns,
                        sf_own_stretch *own, size_t drawn)
{
    if (job->number < own->since) return;
    if (++own->have >= own->needs)
        job->outcomes[job->outcome_count++] = (sf_test_outcome){.episode = *episode,
                                                                .longest_ns = longest_ns,
                                                                .since = own->since,
                                                                .have = own->have,
                                                                .drawn = drawn,
                                                                .p = NAN,
                                                                .mean = NAN};
    job->oldest = own->since < job->oldest ? own->since : job->oldest;
    for (uint32_t k = 0; own->since < job->number && k < episode->size; k++)
        job->waits[episode->units[k]] = true;
}

/* Prepares the worker's job now that the stretch is over. */
static int prepare_job(sf_testing *testing, sf_error *error)
{
    sf_stretch_test *job = &testing->now;
    sf_ledger *ledger = &testing->ledger;
    size_t most = ledger->count + testing->drawn_count, units = testing->units->count;
    void *room = job->outcomes;
    if (sf_reserve(&room, &job->outcome_capacity, most + 1, sizeof *job->outcomes) != 0)
        return sf_fail_memory(error);
    job->outcomes = room;
    if (job->waits == NULL) job->waits = sf_resize(NULL, units, sizeof *job->waits);
    if (job->waits == NULL) return sf_fail_memory(error);
    memset(job->waits, 0, units * sizeof *job->waits);
    job->outcome_count = 0;
    job->oldest = job->number;
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->items[i].listed == job->number)
            add_stretch(job, &ledger->items[i].episode, ledger->items[i].longest_ns, &ledger->items[i].own,
                        SF_NOT_DRAWN);
    for (size_t i = 0; i < testing->drawn_count; i++)
        add_stretch(job, &testing->drawn[i].pair, testing->drawn[i].longest_ns, &testing->drawn[i].own, i);
    if (job->outcome_count > 0)
        qsort(job->outcomes, job->outcome_count, sizeof *job->outcomes, compare_outcomes);
    return sf_rates_rank(&testing->rates, testing->fired, units, error);
}

static int close_stretch(sf_testing *testing, const sf_segment *segment, sf_error *error)
{
    if (testing->waits) {
        sf_background_wait(&testing->background);
        int status = take_results(testing, error);
        if (status != SF_OK) return status;
    }
    const char *reason = obstacle(testing, segment);
    testing->open = false;
    testing->rest -= testing->rest > 0;
    testing->status.missed += reason == behind;
    if (reason != NULL) {
        excuse(testing, reason);
        if (segment->window.stop_ns == testing->now.span.stop_ns) post(testing);
        return SF_OK;
    }
    int status = prepare_job(testing, error);
    if (status != SF_OK) return status;
    sf_stretch_test done = testing->now;
    testing->now = testing->job;
    testing->now.number = done.number;
    testing->job = done;
    sf_background_start(&testing->background);
    return SF_OK;
}

int sf_testing_advance(sf_testing *testing, const sf_segment *segment, const sf_history *history,
                       uint64_t breaks, sf_error *error)
{
    if (!is_on(testing)) return SF_OK;
    testing->newest_breaks = breaks;
    int status = take_results(testing, error);
    if (!testing->begun)
        open_stretch(testing, segment->window.start_ns, sf_history_find(history, segment->window.start_ns));
    testing->begun = true;
    if (status == SF_OK && testing->open) status = gather(testing, segment, history, error);
    if (status != SF_OK || !testing->open || segment->window.stop_ns < testing->now.span.stop_ns)
        return status;
    status = close_stretch(testing, segment, error);
    return status == SF_OK ? take_results(testing, error) : status; /* on a virtual clock they are there */
}

/* ---- verdicts ---- */

/* A stream that is over has no first test to come. */
static sf_verdict as_of_now(const sf_testing *testing, sf_verdict verdict)
{
    if (testing->ended && verdict.not_tested == sf_verdict_untested.not_tested)
        verdict.not_tested = sf_verdict_by_the_end;
    return verdict;
}

/* The verdict on an episode of this size that is not in the ledger. A chain found since the stretch began is
 * waiting, whether or not edges lacked room. */
static sf_verdict absent(const sf_testing *testing, uint32_t size)
{
    sf_verdict verdict = sf_verdict_untested;
    if (!is_on(testing))
        verdict.not_tested = off;
    else if (testing->random_pairs.alarmed > 0)
        verdict.not_tested = random_too;
    else if (testing->crowded || (testing->truncated && size == 2))
        verdict.not_tested = too_many;
    return verdict;
}

/* The worst of an episode's own and of its links'. */
static sf_verdict with_links(const sf_testing *testing, const sf_tested *entry)
{
    sf_verdict worst = entry->verdict;
    const sf_episode *episode = &entry->episode;
    for (uint32_t k = 0; episode->size > 2 && k + 1 < episode->size && worst.not_tested == NULL; k++) {
        const sf_episode pair = link_of(episode, k);
        const sf_tested *link = find(testing, &pair);
        const sf_verdict *of = link != NULL ? &link->verdict : &sf_verdict_untested;
        if (of->not_tested != NULL) {
            worst = sf_verdict_untested;
            worst.not_tested = of->not_tested;
        }
        worst.p = fmax(worst.p, of->p);
        worst.q = fmax(worst.q, of->q);
        worst.least_q = fmax(worst.least_q, of->least_q);
        worst.tests = of->tests < worst.tests ? of->tests : worst.tests;
    }
    return worst;
}

sf_verdict sf_testing_verdict(const sf_testing *testing, const sf_episode *episode)
{
    const sf_tested *entry = find(testing, episode);
    if (entry != NULL) return as_of_now(testing, with_links(testing, entry));
    sf_verdict verdict = absent(testing, episode->size);
    if (episode->size < 2) verdict.not_tested = alone;
    return as_of_now(testing, verdict);
}

void sf_testing_mark(const sf_testing *testing, sf_connectivity *graph)
{
    const sf_ledger *ledger = &testing->ledger;
    const sf_verdict none = absent(testing, 2);
    size_t next = 0; /* pairs come first in the ledger, and in the order of links */
    sf_episode pair = {.size = 2};
    for (size_t i = 0; i < graph->count && !graph->is_tiling; i++) {
        sf_link *link = &graph->links[i];
        pair.units[0] = link->from;
        pair.units[1] = link->to;
        pair.delays[0] = link->delay;
        while (next < ledger->count && sf_episode_compare(&ledger->items[next].episode, &pair) < 0)
            next++;
        bool known = next < ledger->count && sf_episode_compare(&ledger->items[next].episode, &pair) == 0;
        const sf_verdict verdict = as_of_now(testing, known ? ledger->items[next].verdict : none);
        link->p = verdict.p;
        link->q = verdict.q;
        link->least_q = verdict.least_q;
        link->not_tested = verdict.not_tested;
    }
}

void sf_testing_date(const sf_testing *testing, sf_edge_change *changes, size_t count, int64_t stop_ns)
{
    for (size_t i = 0; i < count; i++) {
        sf_edge_change *change = &changes[i];
        change->p_age_s = NAN;
        if (isnan(change->p)) continue;
        const sf_episode pair = {.size = 2, .units = {change->from, change->to}, .delays = {change->delay}};
        const sf_tested *entry = find(testing, &pair);
        if (entry != NULL) change->p_age_s = sf_verdict_age_s(&entry->verdict, stop_ns);
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

static sf_background_place place_of(const sf_testing_setup *setup)
{
    if (setup->inside) return SF_BACKGROUND_INSIDE;
    return setup->waits ? SF_BACKGROUND_AWAITED : SF_BACKGROUND_BESIDE;
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
                            .waits = setup->waits,
                            .device = setup->device,
                            .chance = sf_evidence_chance(config->significance.surrogates),
                            .length_ns = sf_testing_length_ns(config)};
    testing->hops = (uint64_t)(testing->length_ns / sf_seconds_to_ns(config->window.hop_s));
    for (testing->most = 1; 2 * testing->most * testing->length_ns <= SF_TESTING_MOST_S * SF_SECOND;)
        testing->most *= 2;
    testing->fired = sf_alloc(setup->units->count, sizeof *testing->fired);
    if (testing->fired == NULL) return sf_fail_memory(error);
    int status = sf_delays_parse(testing->delays, sizeof testing->delays / sizeof *testing->delays,
                                 &testing->delay_count, config->mine.delays_ms, error);
    if (status == SF_OK) status = parse_watched(testing, error);
    if (status == SF_OK && is_on(testing))
        status =
            sf_background_open(&testing->background, "synfire-test", place_of(setup), work, testing, error);
    if (status == SF_OK && is_on(testing)) status = settle(testing, setup->pinned, NULL, error);
    if (status == SF_OK)
        post(testing);
    else
        sf_testing_close(testing);
    return status;
}

static void free_stretch(sf_stretch_test *stretch)
{
    sf_free(stretch->spikes);
    sf_free(stretch->outcomes);
    sf_free(stretch->waits);
}

void sf_testing_close(sf_testing *testing)
{
    sf_background_close(&testing->background);
    free_stretch(&testing->now);
    free_stretch(&testing->job);
    sf_free(testing->ledger.items);
    sf_free(testing->wanted);
    sf_free(testing->drawn);
    sf_free(testing->fired);
    sf_rates_free(&testing->rates);
    sf_past_free(&testing->past);
    sf_free(testing->watched);
    *testing = (sf_testing){0};
}
