/* SPDX-License-Identifier: Apache-2.0 */
/* Frequent episodes of a recording: mining, testing, and selection of those to report. */
#include "analysis/episodes.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "core/standing.h"
#include "mine/best_delay.h"
#include "mine/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

#define LEAST_COUNT 20
#define SHARE_OF_UNIT 40

/* Count expected by chance of `size` units in a row with the same rate, for the widest delay. */
static double expect_alike(const sf_mining_options *asked, double rate_hz, uint32_t size, double seconds)
{
    sf_delay widest = {0, 0};
    for (size_t i = 0; i < asked->delay_count; i++)
        if (asked->delays[i].high_ns - asked->delays[i].low_ns > widest.high_ns - widest.low_ns)
            widest = asked->delays[i];
    const double rates_hz[] = {rate_hz, rate_hz, rate_hz};
    const sf_delay delays[] = {widest, widest};
    return sf_expected_count(size, rates_hz, delays, seconds);
}

/* A fixed fraction of a unit's spikes, independent of the number of units. If units fire so fast that chance
 * links them as often, nearly every chain of three, four, ... would be frequent: then the threshold lies
 * between the chance counts of three units and of two. */
static double default_threshold(const sf_episodes *e, const sf_mining_options *asked, const char **why)
{
    double active = 0, seconds = (double)sf_recording_duration_ns(e->recording) * 1e-9;
    for (size_t u = 0; u < e->recording->units.count; u++)
        active += e->unit_spikes[u] > 0 ? 1 : 0;
    double spikes = active > 0 ? (double)sf_recording_spike_count(e->recording) / active : 0,
           rate_hz = seconds > 0 ? spikes / seconds : 0, share = spikes / SHARE_OF_UNIT,
           two = expect_alike(asked, rate_hz, 2, seconds), three = expect_alike(asked, rate_hz, 3, seconds),
           chance = three + (two - three) / 4;
    *why = "the least by default";
    if (!(share > LEAST_COUNT) && !(chance > LEAST_COUNT)) return LEAST_COUNT;
    *why = chance > share
               ? "a quarter of the way from what chance gives three mean units to what it gives two"
               : "a fortieth of a mean unit's spikes";
    return chance > share ? chance : share;
}

/* For spikes that are not in memory, only results that follow from counts are available. */
static int check_pieces(const sf_mining_options *asked, sf_error *error)
{
    const char *needs = asked->span_count > 0 ? "spans"
                        : asked->significance != NULL && asked->significance->kind != SF_SIGNIFICANCE_ANALYTIC
                            ? "significance"
                            : NULL;
    if (needs == NULL) return SF_OK;
    return sf_fail(error, SF_USAGE, needs, "needs all spikes at once, and these are read in pieces");
}

static int check(const sf_mining_options *asked, const sf_recording *recording, sf_error *error)
{
    int status = sf_check_device(asked->device, error);
    if (status == SF_OK && recording->pieces != NULL) status = check_pieces(asked, error);
    if (status == SF_OK && asked->min_distance_um > 0 && !sf_units_have_geometry(&recording->units))
        status = sf_fail(error, SF_USAGE, "min_distance_um", "%s holds no positions of its units",
                         recording->path != NULL ? recording->path : "the recording");
    if (status == SF_OK)
        status = sf_limits_check((sf_limits){asked->max_p, asked->max_q}, asked->significance, error);
    if (status == SF_OK && asked->threshold == 0 && asked->threshold_kind != SF_THRESHOLD_COUNT)
        status = sf_fail(error, SF_USAGE, "threshold", "is 0, expected more: only a count has a default");
    return status;
}

/* Keeps the options that a later test needs. */
static int keep_options(sf_episodes *e, const sf_mining_options *asked, sf_error *error)
{
    e->wants_details = asked->details;
    e->keeps_stopped = asked->keep_stopped && sf_ranks_count() == 1;
    e->limits = (sf_limits){asked->max_p, asked->max_q};
    e->delays = sf_resize(NULL, asked->delay_count, sizeof *e->delays);
    if (e->delays == NULL) return sf_fail_memory(error);
    if (asked->delay_count > 0) memcpy(e->delays, asked->delays, asked->delay_count * sizeof *e->delays);
    e->mining = *asked;
    e->mining.delays = e->delays;
    e->mining.keep_stopped = e->keeps_stopped;
    if (asked->threshold == 0) e->mining.threshold = default_threshold(e, asked, &e->threshold_why);
    return SF_OK;
}

static sf_mine_input input_of(const sf_recording *recording)
{
    return (sf_mine_input){.spikes = recording->spikes,
                           .spike_count = sf_recording_spike_count(recording),
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording),
                           .pieces = recording->pieces,
                           .others = recording->others,
                           .other_count = recording->other_count};
}

/* ---- which are told of ---- */

static bool is_worth(const sf_episodes *e, size_t i)
{
    return e->is_tested && e->significance.options.kind != SF_SIGNIFICANCE_ANALYTIC &&
           sf_worth_showing(e->result, i, sf_recording_duration_ns(e->recording));
}

/* Sorted by size, then by the selected key, then in the order of the result. */
typedef struct ranked {
    uint32_t size;        /* 0: of all sizes */
    double first, second; /* ascending, NaN last */
    size_t item;
} ranked;

static int compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int compare_ranks(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    int order = compare_reals(a->first, b->first);
    order = order != 0 ? order : compare_reals(a->second, b->second);
    return order != 0 ? order : (a->item > b->item) - (a->item < b->item);
}

static ranked rank_of(const sf_episodes *e, size_t i)
{
    const sf_mine_item *item = &e->result->items[i];
    ranked rank = {.size = item->size, .item = i};
    double ratio = sf_ratio_interval_of(item->count, item->expected).low;
    if (e->mining.order == SF_ORDER_Q) {
        rank.first = item->q;
        rank.second = -ratio;
    } else if (e->mining.order == SF_ORDER_RATIO) {
        rank.first = -ratio;
    } else if (e->mining.order == SF_ORDER_STRENGTH) {
        rank.first = -item->strength;
    } else if (e->mining.order == SF_ORDER_STANDING) {
        double above = sf_above_chance(item->count, item->expected);
        rank.first = sf_standing_class(item->q, false, above, item->size);
        rank.second = -above;
    }
    return rank;
}

/* Selects, among those within the limits, the first `top` of each size, and in addition the first `top_worth`
 * that are worth showing. */
static void choose_ranked(sf_episodes *e, const ranked *ranks, size_t *chosen)
{
    const sf_mine_result *result = e->result;
    uint64_t of_size = 0, worth_of_size = 0;
    for (size_t r = 0; r < result->count; r++) {
        const sf_mine_item *item = &result->items[ranks[r].item];
        bool worth = is_worth(e, ranks[r].item);
        if (r > 0 && ranks[r].size != ranks[r - 1].size) of_size = worth_of_size = 0;
        e->worth += worth;
        e->returning += e->is_tested && item->not_tested == SF_UNIT_RETURNS;
        bool untested = e->stopped != SF_NOT_STOPPED; /* stopped before any p was computed: no filter */
        if (!untested && !sf_within_limits(e->limits, item->p, item->q)) continue;
        e->passing++;
        of_size++;
        worth_of_size += worth;
        if (e->mining.top == 0 || of_size <= e->mining.top || (worth && worth_of_size <= e->mining.top_worth))
            e->items[(*chosen)++] = ranks[r].item;
    }
}

static int choose(sf_episodes *e, size_t *chosen, sf_error *error)
{
    size_t count = e->result->count;
    ranked *ranks = sf_resize(NULL, count, sizeof *ranks);
    e->items = sf_resize(NULL, count, sizeof *e->items);
    int status = ranks != NULL && e->items != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        ranks[i] = rank_of(e, i);
    if (status == SF_OK && e->mining.order != SF_ORDER_COUNT && count > 0)
        qsort(ranks, count, sizeof *ranks, compare_ranks);
    if (status == SF_OK) choose_ranked(e, ranks, chosen);
    sf_free(ranks);
    return status;
}

static void spell_out(sf_episodes *e)
{
    for (size_t i = 0; i < e->count; i++) {
        const sf_mine_item *item = &e->result->items[e->items[i]];
        sf_mine_result_episode(e->result, e->items[i], &e->episodes[i]);
        e->counts[i] = item->count;
        e->expected[i] = item->expected;
        sf_ratio_interval interval = sf_ratio_interval_of(item->count, item->expected);
        e->ratio_low[i] = interval.low;
        e->ratio_high[i] = interval.high;
        e->strength[i] = item->strength;
        sf_episodes_take_verdict(e, i, item);
        e->worth_showing[i] = is_worth(e, e->items[i]);
    }
}

static int compare_items(const void *left, const void *right)
{
    const size_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Orders the selected episodes by how much they stand out, once folding is known: `items` and `parents`. */
static int order_by_standing(sf_episodes *e, sf_error *error)
{
    ranked *ranks = sf_resize(NULL, e->count, sizeof *ranks);
    size_t *items = sf_resize(NULL, e->count, sizeof *items),
           *places = sf_resize(NULL, e->count, sizeof *places),
           *parents = e->parents != NULL ? sf_resize(NULL, e->count, sizeof *parents) : NULL;
    bool made = ranks != NULL && items != NULL && places != NULL && (parents != NULL || e->parents == NULL);
    for (size_t i = 0; made && i < e->count; i++) {
        bool folded = parents != NULL && e->parents[i] != SF_NO_PARENT;
        double above = sf_above_chance(e->counts[i], e->expected[i]);
        ranks[i] = (ranked){.first = sf_standing_class(e->q[i], folded, above, e->episodes[i].size),
                            .second = -above,
                            .item = i};
    }
    if (made && e->count > 0) qsort(ranks, e->count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; made && i < e->count; i++) {
        items[i] = e->items[ranks[i].item];
        places[ranks[i].item] = i;
    }
    for (size_t i = 0; made && parents != NULL && i < e->count; i++) {
        size_t parent = e->parents[ranks[i].item];
        parents[i] = parent == SF_NO_PARENT ? parent : places[parent];
    }
    for (size_t i = 0; made && i < e->count; i++)
        e->items[i] = items[i];
    for (size_t i = 0; made && parents != NULL && i < e->count; i++)
        e->parents[i] = parents[i];
    sf_free(ranks);
    sf_free(items);
    sf_free(places);
    sf_free(parents);
    return made ? SF_OK : sf_fail_memory(error);
}

/* Fills the columns from the result. */
static int tell(sf_episodes *e, const sf_progress *progress, sf_error *error)
{
    const sf_recording *recording = e->recording;
    size_t chosen = 0;
    sf_episodes_clear(e);
    int status = choose(e, &chosen, error);
    if (status == SF_OK) status = sf_episodes_reserve(e, chosen, error);
    if (status != SF_OK) return status;
    if (e->mining.order == SF_ORDER_STANDING && chosen > 0) /* folding requires sf_mine's own order */
        qsort(e->items, chosen, sizeof *e->items, compare_items);
    spell_out(e);
    status = sf_episodes_fold(e, error);
    if (status == SF_OK && e->mining.order == SF_ORDER_STANDING) {
        status = order_by_standing(e, error);
        spell_out(e);
    }
    if (status != SF_OK) return status;
    if (!e->wants_details && e->span_count == 0) return SF_OK;
    if (recording->pieces != NULL) return sf_episodes_detail(e, NULL, progress, error);
    sf_counter *counter;
    status = sf_counter_open(&counter, recording->spikes, recording->spike_count, recording->units.count,
                             e->episodes, e->count, NULL, 0, error);
    if (status == SF_OK) status = sf_episodes_detail(e, counter, progress, error);
    sf_counter_close(counter);
    return status;
}

/* ---- finding and testing ---- */

static int test(sf_episodes *e, const sf_significance_options *asked, const sf_progress *progress,
                sf_error *error)
{
    sf_significance_options options;
    int status = sf_keys_read(&sf_significance_table, &options, asked, "significance", error);
    if (status != SF_OK) return status;
    sf_mine_input input = input_of(e->recording);
    status = sf_significance_test(&e->significance, e->result, &input, &e->mining, &options, progress, error);
    if (status == SF_OK) status = sf_significance_mark_reverses(e->result, error);
    if (status == SF_OK) status = sf_mine_correct_choice(e->result, options.correction, error);
    e->is_tested = status == SF_OK;
    for (size_t i = 0; status == SF_CANCELLED && i < e->result->count; i++)
        e->result->items[i].not_tested = SF_TESTABLE; /* nobody knows */
    return status;
}

/* Number of surrogates for the expected counts of a pair's intervals, of which only the mean is used. */
#define CHOOSING_SURROGATES 100

/* Computes expected counts of pairs, by which each pair chooses among its intervals. */
static int expect_pairs(sf_mine_result *pairs, const sf_mine_input *input, const sf_mining_options *mining,
                        const sf_significance_options *asked, const sf_progress *progress, sf_error *error)
{
    sf_significance told;
    sf_significance_options options;
    int status = sf_keys_read(&sf_significance_table, &options, asked, "significance", error);
    if (status != SF_OK || options.kind == SF_SIGNIFICANCE_ANALYTIC) return status;
    options.surrogates = options.surrogates < CHOOSING_SURROGATES ? options.surrogates : CHOOSING_SURROGATES;
    return sf_significance_test(&told, pairs, input, mining, &options, progress, error);
}

/* Chooses the pairs that mining grows from if intervals overlap: mine/best_delay.h. */
static int choose_delays(sf_pair_count **pairs, size_t *count, double *seconds, const sf_mine_input *input,
                         const sf_mining_options *options, const sf_progress *progress, sf_error *error)
{
    const sf_significance_options *test = options->significance;
    sf_mining_options of_pairs = *options;
    sf_mine_result *result;
    of_pairs.max_size = 2;
    of_pairs.closed = of_pairs.keep_stopped = false;
    int status = sf_mine_spikes(&result, input, &of_pairs, progress, error);
    if (status != SF_OK) return status;
    if (test != NULL) status = expect_pairs(result, input, &of_pairs, test, progress, error);
    if (status == SF_OK) status = sf_mine_best_delays(pairs, count, result, error);
    *seconds = result->ran.seconds;
    sf_mine_result_free(result);
    return status;
}

static int search(sf_episodes *e, const sf_progress *progress, sf_error *error)
{
    sf_mine_input input = input_of(e->recording);
    sf_pair_count *pairs = NULL;
    double seconds = 0;
    input.unit_spikes = e->unit_spikes;
    int status = sf_delays_overlap(e->delays, e->mining.delay_count)
                     ? choose_delays(&pairs, &input.pair_count, &seconds, &input, &e->mining, progress, error)
                     : SF_OK;
    input.pairs = pairs;
    if (status == SF_OK) status = sf_mine_spikes(&e->result, &input, &e->mining, progress, error);
    if (e->result != NULL) e->result->ran.seconds += seconds;
    if (e->result != NULL && e->result->level_count > 0 && e->recording->selected != NULL)
        e->result->levels[0].candidates = e->recording->selected->unit_count;
    sf_free(pairs);
    return status;
}

static int find(sf_episodes *e, const sf_mining_options *asked, const sf_progress *progress, sf_error *error)
{
    int status = search(e, progress, error);
    if (e->result == NULL || !sf_episodes_keep(e, status, SF_STOPPED_SEARCHING)) return status;
    e->ran = e->result->ran;
    if (status == SF_OK && asked->significance != NULL)
        status = test(e, asked->significance, progress, error);
    if (!sf_episodes_keep(e, status, SF_STOPPED_TESTING)) return status;
    int told = tell(e, progress, error);
    return told == SF_OK ? status : told;
}

int sf_mine(sf_episodes **episodes, const sf_recording *recording, const sf_mining_options *options,
            const sf_progress *progress, sf_error *error)
{
    *episodes = NULL;
    sf_mining_options asked;
    sf_episodes *found = NULL;
    int status = sf_keys_read(&sf_mining_table, &asked, options, "mining", error);
    if (status == SF_OK) status = check(&asked, recording, error);
    if (status == SF_OK) status = sf_episodes_new(&found, recording, asked.spans, asked.span_count, error);
    if (status == SF_OK) status = keep_options(found, &asked, error);
    if (status == SF_OK) status = find(found, &asked, progress, error);
    if (status == SF_OK || (status == SF_CANCELLED && found->stopped != SF_NOT_STOPPED))
        *episodes = found;
    else
        sf_episodes_free(found);
    return status;
}

int sf_episodes_test(sf_episodes *episodes, const sf_significance_options *options,
                     const sf_progress *progress, sf_error *error)
{
    if (episodes->result == NULL) return sf_episodes_test_given(episodes, options, progress, error);
    int status = test(episodes, options, progress, error);
    return status == SF_OK ? tell(episodes, progress, error) : status;
}
