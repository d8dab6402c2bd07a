/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/significance.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"
#include "mine/analytic.h"
#include "mine/best_delay.h"
#include "mine/family.h"
#include "mine/fitted.h"
#include "mine/found.h"
#include "mine/rows.h"
#include "mine/splits.h"
#include "mine/surrogate_blur.h"
#include "mine/surrogate_near.h"
#include "mine/surrogate_run.h"
#include "mine/surrogate_scatter.h"
#include "mine/ways.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A segment is at least this many shifts long: where two segments meet, spikes pile up or leave a gap. */
#define SEGMENT_WIDTHS 10

/* Segments that a recording is cut into where none are asked for, unless they were shorter than a second.
 * What a count loses at seams weighs as their number over the square root of the recording's length, and many
 * segments are what the scatter of surrogates is known from. Where a unit fires more than so often within the
 * largest delay, counts saturate and lose more, in units of 15 to 50 Hz a quarter of their standard deviation
 * with the many. */
#define SEGMENTS 360
#define SEGMENTS_OF_FAST 60
#define SEGMENTS_OF_CROWDED 12
/* Spikes of a unit in the largest delay: where it holds several, counts lose where two segments meet. */
#define FAST 0.2
#define CROWDED 0.75

/* Shifts are this many times as long as the largest delay: wide ones move more of a link out of its delay,
 * narrow ones move less of what units share. */
#define WIDE 3
#define NARROW(delay_ns) ((delay_ns) + (delay_ns) / 2)

/* Shifts are wide where what units share is smooth as far as that: */
#define SMOOTH_DIVISOR (SF_SMOOTH_DIVISOR / 2)
#define SMOOTH_SHARPNESS (SF_SHARPNESS_MOST / 2)

/* What a side says of a frequent episode. All are 0 where it is none of its candidates: the worse side
 * counts. */
typedef struct verdict {
    double p, q, fitted, expected;
    double stands_out;
    uint64_t needed; /* the least count for a q below SF_SIGNIFICANT_Q */
    bool judged;
} verdict;

/* A run of sf_significance_test. */
typedef struct test {
    sf_significance *told;
    sf_mine_result *result;
    const sf_mine_input *input;
    const sf_mining_options *mining;
    const sf_test_shape *shape; /* measured in other spikes; or NULL before `own` is */
    sf_test_shape own;
    sf_surrogate_request request;
    sf_events events;
    double *x_um, *y_um;
    uint32_t least;
    unsigned threads;
    bool chooses_width;
    int64_t widest_ns;
    sf_choice choice;
    verdict (*verdicts[SF_EPISODE_MAX_SIZE + 1])[2]; /* [size][node][side] */
    const sf_progress *progress;                     /* of the caller, who sees both sides as one work */
    uint32_t side;
} test;

/* ---- names and defaults ---- */

_Static_assert((int)SF_SIGNIFICANCE_SEGMENT_SHIFT == (int)SF_SURROGATE_SEGMENT_SHIFT &&
                   (int)SF_SIGNIFICANCE_JITTER == (int)SF_SURROGATE_JITTER &&
                   (int)SF_SIGNIFICANCE_SHIFT == (int)SF_SURROGATE_SHIFT &&
                   (int)SF_SIGNIFICANCE_DITHER == (int)SF_SURROGATE_DITHER &&
                   (int)SF_SIGNIFICANCE_JOINT_ISI == (int)SF_SURROGATE_JOINT_ISI,
               "kinds of tests by surrogates have the values of the surrogates");

int sf_significance_find(sf_significance_kind *kind, const char *name, sf_error *error)
{
    for (*kind = SF_SIGNIFICANCE_SEGMENT_SHIFT; *kind <= SF_SIGNIFICANCE_JOINT_ISI; (*kind)++)
        if (strcmp(name, sf_significance_name(*kind)) == 0) return SF_OK;
    return sf_fail(error, SF_USAGE, NULL,
                   "found '%s', expected segment-shift, jitter, shift, analytic, dither or joint-isi", name);
}

static int64_t span_of_spikes(const sf_mine_input *input)
{
    size_t count = input->spikes != NULL ? input->spike_count : 0; /* they may be read in pieces */
    return count > 0 ? input->spikes[count - 1].time_ns - input->spikes[0].time_ns : 0;
}

static int check_splits(const test *t, sf_error *error)
{
    const sf_significance_options *options = &t->told->options;
    if (t->result->found->asked[1] == NULL)
        return sf_fail(
            error, SF_USAGE, "splits",
            "are of chains that were chosen before the recording was looked at: give them to count");
    if (options->kind != SF_SIGNIFICANCE_SEGMENT_SHIFT && options->kind != SF_SIGNIFICANCE_SHIFT)
        return sf_fail(error, SF_USAGE, "splits", "go with segment-shift or shift, not with %s",
                       sf_significance_name(options->kind));
    if (options->correction != SF_CORRECTION_MAXIMUM)
        return sf_fail(error, SF_USAGE, "splits", "are corrected by the maximum, not by the rate");
    for (size_t i = 0; i < t->result->count; i++)
        if (t->result->items[i].size < 3 || t->result->items[i].size > SF_SPLITS_LARGEST)
            return sf_fail(error, SF_USAGE, "splits",
                           "are of chains of 3 to %d units, and episode %zu has %u", SF_SPLITS_LARGEST, i + 1,
                           t->result->items[i].size);
    return SF_OK;
}

static int check_options(const test *t, sf_error *error)
{
    if (t->told->options.splits && check_splits(t, error) != SF_OK) return SF_USAGE;
    const sf_significance_options *options = &t->told->options;
    if (options->kind == SF_SIGNIFICANCE_ANALYTIC)
        return options->link > 0 && options->link <= 1
                   ? SF_OK
                   : sf_fail(
                         error, SF_USAGE, NULL,
                         "the probability of a link under the null is %g, expected more than 0 and at most 1",
                         options->link);
    if (sf_keys_check(&sf_significance_table, options, SF_USAGE, error) != SF_OK) return SF_USAGE;
    if (options->segment_ns < 1 || span_of_spikes(t->input) / options->segment_ns >= UINT32_MAX - 1)
        return sf_fail(error, SF_USAGE, NULL, "segments of %" PRId64 " ns make more than 2^32 of them",
                       options->segment_ns);
    return SF_OK;
}

/* ---- from the result to candidates ---- */

/* Lays the spikes of the frequent units out as mining did. */
static int lay_out(test *t, sf_error *error)
{
    const sf_mine_found *found = t->result->found;
    uint32_t units = found->tree.unit_count;
    bool *keep = sf_alloc(t->input->units->count, sizeof *keep);
    t->x_um = sf_resize(NULL, units, sizeof *t->x_um);
    t->y_um = sf_resize(NULL, units, sizeof *t->y_um);
    int status = keep == NULL || t->x_um == NULL || t->y_um == NULL ? sf_fail_memory(error) : SF_OK;
    for (uint32_t u = 0; status == SF_OK && u < units; u++) {
        const sf_unit *unit = &t->input->units->items[found->units[u]];
        keep[found->units[u]] = true;
        t->x_um[u] = unit->x_um;
        t->y_um[u] = unit->y_um;
    }
    if (status == SF_OK) {
        sf_events_choice choice = {.keep = keep, .threads = t->threads};
        status = sf_events_lay_out(&t->events, t->input->spikes, t->input->spike_count,
                                   t->input->units->count, &choice, error);
    }
    sf_free(keep);
    return status;
}

/* The caller's progress, with both sides as one work. */
static bool update(void *user, const char *what, double done, double total)
{
    const test *t = user;
    return sf_progress_update(t->progress, what, t->side * total + done, 2 * total);
}

static int prepare(test *t, const sf_progress *progress, sf_error *error)
{
    const sf_significance_options *options = &t->told->options;
    const sf_mine_found *found = t->result->found;
    int status = lay_out(t, error);
    if (status != SF_OK) return status;
    t->request = (sf_surrogate_request){
        .events = &t->events,
        .tree = &found->tree,
        .pairs = {t->mining->repeats, t->mining->min_distance_um, t->x_um, t->y_um},
        .max_size = t->mining->max_size,
        .delays = found->delays,
        .trains = found->units,
        .origin_ns = t->events.origin_ns - t->input->spikes[0].time_ns,
        .rule = {(sf_surrogate_kind)options->kind, options->width_ns, options->segment_ns, options->seed},
        .found_only = options->found_only,
        .asked = found->asked[1] != NULL ? found->asked : NULL,
        .progress = progress};
    for (uint32_t size = 2; size <= t->mining->max_size; size++) {
        t->verdicts[size] = sf_alloc(found->tree.levels[size - 1].count, sizeof **t->verdicts);
        if (t->verdicts[size] == NULL) return sf_fail_memory(error);
    }
    return SF_OK;
}

/* ---- what cannot be tested ---- */

static bool returns(const test *t, uint32_t size, size_t node)
{
    if (size < 2) return false;
    const sf_tree *tree = &t->result->found->tree;
    const sf_node *at = &tree->levels[size - 1].nodes[node];
    return sf_tree_returns(tree, size, at->parent, at->step);
}

/* From the lowest bound to the largest. */
static sf_delay span_of(const sf_mining_options *mining)
{
    sf_delay span = mining->delays[0];
    for (size_t i = 1; i < mining->delay_count; i++) {
        span.low_ns = mining->delays[i].low_ns < span.low_ns ? mining->delays[i].low_ns : span.low_ns;
        span.high_ns = mining->delays[i].high_ns > span.high_ns ? mining->delays[i].high_ns : span.high_ns;
    }
    return span;
}

/* Measures the spikes as a whole: by the job's width, or by one that is chosen (widest_ns > 0). */
static int measure_shape(sf_test_shape *shape, const sf_survey_job *job, int64_t widest_ns, sf_error *error)
{
    *shape = (sf_test_shape){.groups = sf_alloc(job->unit_count, sizeof *shape->groups)};
    if (shape->groups == NULL) return sf_fail_memory(error);
    return widest_ns > 0
               ? sf_significance_choose_width(&shape->sharpness, shape->groups, job, widest_ns, error)
               : sf_sharpness_measure(&shape->sharpness, shape->groups, job, error);
}

/* Looks at the recording as a whole, with these delays, and at groups of its units. */
static int look_at_recording(test *t, sf_error *error)
{
    sf_significance *told = t->told;
    sf_significance_options *options = &told->options;
    if (!options->always && options->kind == SF_SIGNIFICANCE_SEGMENT_SHIFT &&
        options->width_ns > t->widest_ns)
        told->not_tested = SF_DELAYS_TOO_LONG;
    if (told->not_tested != SF_TESTABLE || options->width_ns > SF_SHARPNESS_WIDEST) return SF_OK;
    const sf_mine_found *found = t->result->found;
    const sf_survey_job job = {.spikes = t->input->spikes,
                               .count = t->input->spike_count,
                               .others = t->input->others,
                               .other_count = t->input->other_count,
                               .unit_count = t->input->units->count,
                               .wanted = found->units,
                               .wanted_count = found->tree.unit_count,
                               .delay = span_of(t->mining),
                               .width_ns = options->width_ns,
                               .segment_ns = options->segment_ns,
                               .threads = t->threads,
                               .progress = t->progress};
    int status = SF_OK;
    if (t->shape == NULL) {
        bool chooses = t->chooses_width && options->kind == SF_SIGNIFICANCE_SEGMENT_SHIFT;
        status = measure_shape(&t->own, &job, chooses ? t->widest_ns : 0, error);
        t->shape = &t->own;
    }
    told->sharpness = t->shape->sharpness;
    options->width_ns = told->sharpness.width_ns;
    if (status == SF_OK && !options->always) told->not_tested = sf_sharpness_verdict(&told->sharpness);
    return status;
}

static void forget_verdict(sf_mine_item *item)
{
    item->p = item->q = item->p_first = item->p_last = item->p_links = item->expected_given_rest = NAN;
    item->needed = SF_NO_COUNT;
}

/* Two units are of one group. */
static bool shares_events(const test *t, size_t i)
{
    sf_episode episode;
    if (t->told->options.always || t->shape == NULL || t->shape->groups == NULL ||
        t->told->sharpness.groups == 0)
        return false;
    sf_mine_result_episode(t->result, i, &episode);
    for (uint32_t a = 0; a < episode.size; a++)
        for (uint32_t b = 0; b < a; b++)
            if (t->shape->groups[episode.units[a]] != 0 &&
                t->shape->groups[episode.units[a]] == t->shape->groups[episode.units[b]])
                return true;
    return false;
}

/* Intervals of Poisson trains differ from the next by half of their sum on average, whatever the rate; those
 * of gamma trains of shape 5 by a quarter. */
#define REGULAR 0.35
#define LEAST_INTERVALS 50

typedef struct intervals {
    int64_t last_ns, interval_ns; /* 0: not known */
    double sum;
    size_t count, spikes;
} intervals;

static void see_spike(intervals *of, int64_t time_ns)
{
    int64_t interval_ns = time_ns - of->last_ns;
    if (of->spikes >= 2 && interval_ns + of->interval_ns > 0) {
        of->sum += fabs((double)(interval_ns - of->interval_ns)) / (double)(interval_ns + of->interval_ns);
        of->count++;
    }
    of->interval_ns = interval_ns;
    of->last_ns = time_ns;
    of->spikes++;
}

/* Most of the units that fire enough are. */
static int are_regular(bool *regular, const sf_mine_input *input, sf_error *error)
{
    size_t known = 0, found = 0;
    intervals *units = sf_alloc(input->units->count, sizeof *units);
    if (units == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < input->spike_count; i++)
        see_spike(&units[input->spikes[i].unit], input->spikes[i].time_ns);
    for (size_t u = 0; u < input->units->count; u++) {
        known += units[u].count >= LEAST_INTERVALS;
        found += units[u].count >= LEAST_INTERVALS && units[u].sum < REGULAR * (double)units[u].count;
    }
    sf_free(units);
    *regular = 2 * found > known;
    return SF_OK;
}

/* What is seen that makes p less sure, where there is one. */
static int find_cautions(test *t, sf_error *error)
{
    sf_significance *told = t->told;
    const sf_sharpness *sharpness = &told->sharpness;
    bool regular = false, measured = !isnan(sharpness->low_share);
    int status = are_regular(&regular, t->input, error);
    if (status != SF_OK || told->not_tested != SF_TESTABLE) return status;
    told->cautions |= measured ? 0 : (unsigned)SF_CAUTION_FEW_PAIRS;
    /* Beyond what is due to chance. */
    bool stands_out = measured && sharpness->sharpness > 0 && sharpness->low_share >= SF_LOW_SHARE_MOST;
    told->cautions |= stands_out ? (unsigned)SF_CAUTION_STANDING_OUT : 0;
    told->cautions |= regular ? (unsigned)SF_CAUTION_REGULAR : 0;
    told->cautions |= sharpness->groups > 0 ? (unsigned)SF_CAUTION_SHARED : 0;
    if (told->options.kind == SF_SIGNIFICANCE_JITTER && sharpness->bursts)
        told->cautions |= SF_CAUTION_JITTER;
    return SF_OK;
}

/* Sets the reason of every item. */
static void mark_items(const test *t)
{
    for (size_t i = 0; i < t->result->count; i++) {
        sf_mine_item *item = &t->result->items[i];
        forget_verdict(item);
        item->not_tested = returns(t, item->size, item->node)   ? SF_UNIT_RETURNS
                           : t->told->not_tested != SF_TESTABLE ? t->told->not_tested
                           : shares_events(t, i)                ? SF_SHARED_EVENTS
                                                                : SF_TESTABLE;
    }
}

/* ---- verdicts ---- */

/* A count on one side, and what its surrogates count. */
typedef struct counted {
    uint32_t recorded, observed; /* as mined, and less what is no link's */
    double ratio;
    const sf_surrogate_scale *scale;
    const sf_surrogate_reached *reached;
} counted;

static verdict judge(const counted *of, uint32_t n)
{
    const sf_surrogate_scale *scale = of->scale;
    double edge = sf_surrogate_edge(scale->mean, of->observed, of->ratio);
    verdict found = {.p = (1 + sf_surrogate_as_extreme(edge, scale, of->reached)) / (1.0 + n),
                     .expected = scale->mean + ((double)of->recorded - (double)of->observed),
                     .stands_out = sf_surrogate_stands_out(of->observed, of->ratio, scale, n),
                     .judged = true};
    /* Counts that do not vary leave nothing to fit. */
    found.fitted = scale->scale == 0
                       ? found.p
                       : sf_fitted_tail(scale->mean, 1 / (scale->scale * scale->scale), n, edge + 0.5);
    return found;
}

/* The least count, of which `blur` is no link's, that stands out further than `critical`, by bisection. */
static uint64_t needed_for(double critical, double blur, double ratio, const sf_surrogate_scale *scale,
                           uint32_t n)
{
    uint64_t low = 0, high = UINT32_MAX;
    if (isnan(critical) || !(sf_surrogate_stands_out((double)high - blur, ratio, scale, n) > critical))
        return SF_NO_COUNT;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sf_surrogate_stands_out((double)middle - blur, ratio, scale, n) > critical)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void judge_level(test *t, const sf_surrogate_side *side, sf_surrogate_outcome *outcome, uint32_t k,
                        uint64_t base)
{
    uint32_t size = k + 2, n = outcome->surrogates;
    const sf_level *nodes = &t->result->found->tree.levels[size - 1];
    for (size_t i = 0; i < nodes->count; i++) {
        if (side->candidate_of[k][i] == SF_NO_CANDIDATE) continue;
        uint64_t own = side->candidate_of[k][i];
        const sf_surrogate_scale *scale = &outcome->scales[base + own];
        counted of = {nodes->nodes[i].count, side->observed[k][own],
                      sf_surrogate_side_ratio(side, k, own, scale->mean), scale,
                      &outcome->reached[base + own]};
        t->verdicts[size][i][side->mirrored] = judge(&of, n);
    }
}

/* What pairs would have had to count: those that as much is expected of as of a quarter of all, half and
 * three quarters. Of pairs that chance does not even give one count nothing is told: there the threshold
 * decides, and no test. */
static int find_power(test *t, const sf_surrogate_side *side, const sf_surrogate_outcome *outcome,
                      uint64_t pairs, sf_error *error)
{
    double *expected = sf_resize(NULL, pairs, sizeof *expected);
    uint64_t known = 0;
    if (expected == NULL) return sf_fail_memory(error);
    for (uint64_t i = 0; i < pairs; i++)
        if (outcome->scales[i].mean >= SF_POWER_LEAST) expected[known++] = outcome->scales[i].mean;
    sf_reals_sort(expected, known);
    t->told->power_pairs = known;
    for (uint64_t k = 0; k < SF_POWER_QUARTERS && known > 0; k++) {
        double at = expected[(k + 1) * (known - 1) / (SF_POWER_QUARTERS + 1)];
        uint64_t i = 0;
        while (outcome->scales[i].mean != at)
            i++;
        uint64_t needed = needed_for(t->told->critical[2][0], 0, sf_surrogate_side_ratio(side, 0, i, at),
                                     &outcome->scales[i], outcome->surrogates);
        t->told->power[k] = (sf_power){at, needed > t->least ? needed : t->least};
    }
    sf_free(expected);
    return SF_OK;
}

/* q of the frequent episodes of a level, and what they would have had to count for a low one. */
static void correct_level(test *t, const sf_surrogate_side *side, const sf_surrogate_outcome *outcome,
                          const sf_family *family, uint32_t k, uint64_t base)
{
    uint32_t size = k + 2;
    double critical = sf_family_critical(family, SF_SIGNIFICANT_Q);
    t->told->critical[size][side->mirrored] = isfinite(critical) ? critical : NAN;
    for (size_t i = 0; i < t->result->found->tree.levels[size - 1].count; i++) {
        verdict *found = &t->verdicts[size][i][side->mirrored];
        if (side->candidate_of[k][i] == SF_NO_CANDIDATE) continue;
        uint64_t own = side->candidate_of[k][i];
        const sf_surrogate_scale *scale = &outcome->scales[base + own];
        uint64_t needed =
            needed_for(critical, found->expected - scale->mean,
                       sf_surrogate_side_ratio(side, k, own, scale->mean), scale, outcome->surrogates);
        found->q = sf_family_q(family, found->stands_out);
        found->needed = needed > t->least ? needed : t->least;
    }
}

/* Each size among its own candidates. */
static int correct(test *t, const sf_surrogate_side *side, const sf_surrogate_outcome *outcome,
                   sf_error *error)
{
    uint64_t base = 0;
    int status = SF_OK;
    for (uint32_t k = 0; k < side->plan.level_count && status == SF_OK; k++) {
        uint64_t candidates = side->levels[k].first[side->levels[k].prefix_count];
        if (candidates == 0) continue;
        sf_family family;
        status = sf_family_open(&family, outcome->maxima + (size_t)k * outcome->surrogates,
                                outcome->surrogates, error);
        if (status == SF_OK) correct_level(t, side, outcome, &family, k, base);
        sf_family_close(&family);
        if (status == SF_OK && k == 0 && t->told->options.correction == SF_CORRECTION_MAXIMUM)
            status = find_power(t, side, outcome, candidates, error);
        base += candidates;
    }
    return status;
}

static void judge_levels(test *t, const sf_surrogate_side *side, sf_surrogate_outcome *outcome)
{
    uint64_t base = 0;
    for (uint32_t k = 0; k < side->plan.level_count; k++) {
        uint64_t candidates = side->levels[k].first[side->levels[k].prefix_count];
        if (candidates == 0) continue;
        judge_level(t, side, outcome, k, base);
        base += candidates;
    }
}

/* What is no link's of counts, and how much less they deviate than those of surrogates. */
static int prepare_side(test *t, sf_surrogate_side *side, sf_error *error)
{
    const sf_significance *told = t->told;
    if (told->options.kind != SF_SIGNIFICANCE_SEGMENT_SHIFT) return SF_OK;
    side->saturations = sf_resize(NULL, side->plan.delay_count, sizeof *side->saturations);
    if (side->saturations == NULL) return sf_fail_memory(error);
    for (uint32_t d = 0; d < side->plan.delay_count; d++) {
        double share = 1 / told->sharpness.divisor;
        sf_surrogate_scatter scatter =
            sf_surrogate_scatter_of(side->plan.delays[d], told->options.width_ns, share);
        side->ratios[d] = sqrt(scatter.recorded / scatter.surrogates);
        side->saturations[d] =
            sf_surrogate_saturation_of(side->plan.delays[d], told->options.width_ns, share, 0);
    }
    if (sf_surrogate_find_near(side, SF_SURROGATE_MOST_NEAR, t->threads, error) != SF_OK) return SF_NO_MEMORY;
    return sf_surrogate_blur_take_off(side, told->sharpness.divisor, &t->choice, t->threads, error);
}

static int judge_side(test *t, bool mirrored, sf_error *error)
{
    sf_surrogate_side side;
    sf_surrogate_outcome outcome;
    t->side = mirrored;
    int status = sf_surrogate_side_open(&side, &t->request, mirrored, error);
    if (status != SF_OK) return status;
    for (uint32_t k = 0; k + 2 <= t->mining->max_size; k++)
        if (side.candidates[k] > 0) t->told->candidates[k + 2] = side.candidates[k];
    if (side.plan.level_count > 0) {
        status = prepare_side(t, &side, error);
        if (status == SF_OK)
            status = sf_surrogate_run(&outcome, &side, t->told->options.surrogates, t->least, &t->choice,
                                      t->threads, error);
        if (status == SF_OK) {
            judge_levels(t, &side, &outcome);
            status = correct(t, &side, &outcome, error);
            sf_surrogate_outcome_free(&outcome);
        }
    }
    sf_surrogate_side_close(&side);
    return status;
}

/* ---- links ---- */

/* Where the pair of a unit and a step lies among the frequent ones; their count where it is none. */
static size_t find_pair(const sf_tree *tree, uint32_t unit, uint32_t step)
{
    sf_node_range range = sf_tree_children(tree, 1, unit);
    for (; range.begin < range.end; range.begin++)
        if (tree->levels[1].nodes[range.begin].step == step) return range.begin;
    return tree->levels[1].count;
}

/* The link to unit k >= 1 of an episode with these steps, as a pair. */
static size_t find_link(const sf_tree *tree, const uint32_t *steps, uint32_t k)
{
    return find_pair(tree, steps[k - 1] % tree->unit_count, steps[k]);
}

/* The worst of each number over the links of a chain, each tested as a pair. */
static verdict worst_link(const test *t, uint32_t size, size_t node)
{
    const sf_tree *tree = &t->result->found->tree;
    uint32_t steps[SF_EPISODE_MAX_SIZE];
    verdict worst = {0};
    sf_tree_steps(tree, size, node, steps);
    for (uint32_t k = 1; k < size; k++) {
        const verdict *link = &t->verdicts[2][find_link(tree, steps, k)][0];
        worst.p = fmax(worst.p, link->p);
        worst.q = fmax(worst.q, link->q);
        worst.fitted = fmax(worst.fitted, link->fitted);
    }
    return worst;
}

/* Goes through the frequent episodes of all sizes that were judged, to get their p or to put their q; p NULL:
 * only counts them. */
static size_t for_judged(const test *t, double *p, bool puts_q)
{
    size_t count = 0;
    for (uint32_t size = 2; size <= t->mining->max_size; size++)
        for (size_t i = 0; i < t->result->found->tree.levels[size - 1].count; i++) {
            verdict *sides = t->verdicts[size][i];
            if (!sides[0].judged && !sides[1].judged) continue;
            if (puts_q)
                sides[0].q = sides[1].q = p[count];
            else if (p != NULL)
                p[count] = fmax(fmax(sides[0].fitted, sides[1].fitted), worst_link(t, size, i).fitted);
            count++;
        }
    return count;
}

static int control_rate(test *t, sf_error *error)
{
    uint64_t candidates = 0;
    for (uint32_t size = 2; size <= t->mining->max_size; size++)
        candidates += t->told->candidates[size];
    size_t count = for_judged(t, NULL, false);
    double *p = sf_resize(NULL, count, sizeof *p);
    if (p == NULL) return sf_fail_memory(error);
    for_judged(t, p, false);
    int status = sf_false_discovery(p, count, candidates, error);
    if (status == SF_OK) for_judged(t, p, true);
    sf_free(p);
    return status;
}

/* Roughly what a core needs to move one spike of a surrogate, to sort it in, and to find what follows it. */
#define IMAGE_SECONDS 4e-8

/* What one core would need, roughly: a prefix has about as many ends as it has counts, each is followed by
 * the spikes within a delay, and either end of longer episodes than pairs is shifted. */
static double core_seconds(const test *t)
{
    const sf_tree *tree = t->request.tree;
    double spikes = t->events.count, span = spikes > 1 ? (double)t->events.times[t->events.count - 1] : 0,
           ends = 0;
    for (uint32_t size = 1; size < t->mining->max_size; size++)
        for (size_t i = 0; i < tree->levels[size - 1].count; i++)
            ends += tree->levels[size - 1].nodes[i].count;
    double pairs = sf_mine_core_seconds(t->request.delays, tree->delay_count, spikes, span);
    double sides = t->mining->max_size > 2 ? 2 : 1;
    return spikes > 0 ? sides * t->told->options.surrogates * (pairs * ends / spikes + IMAGE_SECONDS * spikes)
                      : 0;
}

/* Mining has refused a device that is missing; one that failed since leaves the work to the CPU. */
static int choose_devices(test *t, sf_error *error)
{
    sf_surrogate_work job = {
        .kind = t->request.rule.kind, .core_seconds = core_seconds(t), .threads = t->threads};
    sf_how how = {
        .device = t->told->options.device, .most = sf_devices_worth(job.core_seconds), .forgiving = true};
    return sf_choose(&t->choice, sf_surrogate_ways, &how, &job, error);
}

static void fill_item(const test *t, sf_mine_item *item)
{
    const verdict *sides = t->verdicts[item->size][item->node], links = worst_link(t, item->size, item->node);
    bool chain = item->size > 2;
    item->p_last = sides[0].p;
    item->p_first = chain ? sides[1].p : NAN;
    item->p_links = chain ? links.p : NAN;
    item->p = fmax(fmax(sides[0].p, sides[1].p), links.p);
    item->q = fmax(fmax(sides[0].q, sides[1].q), links.q);
    /* Where a link is not significant, no count of the chain makes it so. */
    if (t->told->options.correction == SF_CORRECTION_MAXIMUM && !(chain && links.q >= SF_SIGNIFICANT_Q))
        item->needed = sides[0].needed > sides[1].needed ? sides[0].needed : sides[1].needed;
    item->expected_given_rest = fmax(sides[0].expected, sides[1].expected);
}

/* Keeps q of all pairs beside those of the items, which need not list every link. */
static int keep_pairs(const test *t, sf_error *error)
{
    sf_mine_found *found = t->result->found;
    size_t pairs = found->tree.levels[1].count;
    double *q = sf_resize(found->pair_q, pairs, sizeof *q);
    if (q == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < pairs; i++)
        q[i] = t->verdicts[2][i][0].judged ? t->verdicts[2][i][0].q : NAN;
    found->pair_q = q;
    return SF_OK;
}

static void fill_items(const test *t)
{
    for (size_t i = 0; i < t->result->count; i++) {
        sf_mine_item *item = &t->result->items[i];
        if (item->not_tested != SF_TESTABLE || item->size < 2) continue;
        fill_item(t, item);
    }
}

/* ---- splits ---- */

/* The chain of an item; the units are those of the events. */
static sf_split_chain chain_of(const test *t, const sf_mine_item *item)
{
    const sf_mine_found *found = t->result->found;
    uint32_t steps[SF_EPISODE_MAX_SIZE];
    sf_split_chain chain = {.size = item->size};
    sf_tree_steps(&found->tree, item->size, item->node, steps);
    for (uint32_t k = 0; k < item->size; k++) {
        chain.units[k] = steps[k] % found->tree.unit_count;
        if (k > 0) chain.delays[k - 1] = found->delays[steps[k] / found->tree.unit_count];
    }
    return chain;
}

static int test_splits_of(test *t, sf_split_chain *chains, sf_split_verdict *verdicts, sf_error *error)
{
    const sf_significance *told = t->told;
    sf_mine_result *result = t->result;
    const sf_splits_request request = {.events = &t->events,
                                       .trains = t->request.trains,
                                       .origin_ns = t->request.origin_ns,
                                       .rule = t->request.rule,
                                       .divisor = told->sharpness.divisor,
                                       .surrogates = told->options.surrogates,
                                       .threads = t->threads,
                                       .progress = t->progress};
    size_t count = 0;
    for (size_t i = 0; i < result->count; i++)
        if (result->items[i].not_tested == SF_TESTABLE) chains[count++] = chain_of(t, &result->items[i]);
    int status = sf_splits_test(verdicts, chains, count, &request, error);
    for (size_t i = result->count; i-- > 0 && status == SF_OK;) {
        sf_mine_item *item = &result->items[i];
        if (item->not_tested != SF_TESTABLE) continue;
        const sf_split_verdict *own = &verdicts[--count];
        item->p = own->p;
        item->q = own->q;
        item->expected_given_rest = own->expected;
        t->told->candidates[item->size]++;
    }
    return status;
}

static int test_splits(test *t, sf_error *error)
{
    sf_split_chain *chains = sf_resize(NULL, t->result->count, sizeof *chains);
    sf_split_verdict *verdicts = sf_resize(NULL, t->result->count, sizeof *verdicts);
    int status = chains != NULL && verdicts != NULL ? test_splits_of(t, chains, verdicts, error)
                                                    : sf_fail_memory(error);
    sf_free(chains);
    sf_free(verdicts);
    snprintf(t->told->ran.device, sizeof t->told->ran.device, "cpu");
    return status;
}

static int test_by_surrogates(test *t, sf_error *error)
{
    sf_progress progress = {update, t};
    int status = look_at_recording(t, error);
    if (status == SF_OK) status = find_cautions(t, error);
    if (status != SF_OK) return status;
    mark_items(t);
    if (t->told->not_tested != SF_TESTABLE) return SF_OK;
    status = prepare(t, &progress, error);
    if (status == SF_OK && t->told->options.splits) return test_splits(t, error);
    if (status == SF_OK) status = choose_devices(t, error);
    for (int mirrored = 0; mirrored < 2 && status == SF_OK; mirrored++)
        status = judge_side(t, mirrored, error);
    if (status == SF_OK && t->told->options.correction == SF_CORRECTION_RATE) status = control_rate(t, error);
    if (status != SF_OK) return status;
    sf_choice_tell(&t->choice, &t->told->ran);
    fill_items(t);
    return keep_pairs(t, error);
}

/* ---- the analytic test ---- */

static void test_analytically(test *t)
{
    const sf_mine_found *found = t->result->found;
    double seconds = (double)t->input->duration_ns * 1e-9;
    for (size_t i = 0; i < t->result->count && seconds > 0; i++) {
        sf_mine_item *item = &t->result->items[i];
        uint32_t steps[SF_EPISODE_MAX_SIZE];
        if (item->size < 2) continue;
        sf_tree_steps(&found->tree, item->size, item->node, steps);
        double span_s = 0;
        bool by_chance = false;
        for (uint32_t k = 1; k < item->size; k++) {
            sf_delay delay = found->delays[steps[k] / found->tree.unit_count];
            double hz = sf_mine_result_spikes(t->result, i, k) / seconds;
            span_s += (double)delay.high_ns * 1e-9;
            by_chance = by_chance ||
                        -expm1(-hz * (double)(delay.high_ns - delay.low_ns) * 1e-9) > t->told->options.link;
        }
        t->told->by_chance += by_chance;
        double first_hz = found->tree.levels[0].nodes[steps[0]].count / seconds;
        item->p = sf_analytic_p(
            sf_analytic_count(item->size, first_hz, span_s, seconds, t->told->options.link), item->count);
        double p = item->p;
        forget_verdict(item);
        item->p = p;
        item->not_tested = SF_TESTABLE;
    }
    snprintf(t->told->ran.device, sizeof t->told->ran.device, "cpu");
}

/* ---- the whole ---- */

int64_t sf_significance_width(const sf_delay *delays, size_t count)
{
    int64_t largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = delays[i].high_ns > largest ? delays[i].high_ns : largest;
    return NARROW(largest);
}

int64_t sf_significance_segment(int64_t span_ns, uint32_t most_spikes, int64_t longest_ns)
{
    double held = (double)most_spikes * (double)longest_ns, span = (double)span_ns;
    int64_t segments = held > CROWDED * span ? SEGMENTS_OF_CROWDED
                       : held > FAST * span  ? SEGMENTS_OF_FAST
                                             : SEGMENTS;
    int64_t seconds = (span_ns + segments * SF_SECOND / 2) / (segments * SF_SECOND);
    return seconds > 1 ? seconds * SF_SECOND : SF_SECOND;
}

static int64_t choose_segment(const test *t)
{
    const sf_level *units = &t->result->found->tree.levels[0];
    uint32_t most = 0;
    for (size_t u = 0; u < units->count; u++)
        most = units->nodes[u].count > most ? units->nodes[u].count : most;
    return sf_significance_segment(span_of_spikes(t->input), most, span_of(t->mining).high_ns);
}

/* Of spikes that were chosen. */
static int choose_width(sf_sharpness *sharpness, uint32_t *groups, const sf_survey_job *job,
                        int64_t widest_ns, sf_error *error)
{
    sf_survey_job as = *job;
    as.width_ns = WIDE * job->delay.high_ns;
    if (as.width_ns <= widest_ns) {
        int status = sf_sharpness_measure(sharpness, groups, &as, error);
        /* What a group shares stands out less against narrower shifts, which may not show it. */
        double most = sharpness->groups > 0 ? SF_SHARPNESS_MOST : SMOOTH_SHARPNESS;
        if (status != SF_OK || (!isnan(sharpness->low_share) && sharpness->divisor >= SMOOTH_DIVISOR &&
                                sharpness->sharpness <= most))
            return status;
    }
    as.width_ns = NARROW(job->delay.high_ns);
    return sf_sharpness_measure(sharpness, groups, &as, error);
}

int sf_significance_choose_width(sf_sharpness *sharpness, uint32_t *groups, const sf_survey_job *job,
                                 int64_t widest_ns, sf_error *error)
{
    if (job->chosen != NULL) return choose_width(sharpness, groups, job, widest_ns, error);
    sf_survey_spikes own;
    sf_survey_job as = *job;
    if (sf_survey_spikes_open(&own, job) != SF_OK) return sf_fail_memory(error);
    as.chosen = &own;
    int status = choose_width(sharpness, groups, &as, widest_ns, error);
    sf_survey_spikes_close(&own);
    return status;
}

int64_t sf_significance_widest(int64_t segment_ns)
{
    return (segment_ns > 0 ? segment_ns : SF_SECOND) / SEGMENT_WIDTHS;
}

int sf_significance_shape(sf_test_shape *shape, const sf_survey_job *job,
                          const sf_significance_options *options, sf_error *error)
{
    sf_survey_job as = *job;
    bool segments = options->kind == SF_SIGNIFICANCE_SEGMENT_SHIFT,
         chooses = segments && options->width_ns == 0;
    int64_t widest_ns = segments ? sf_significance_widest(options->segment_ns) : SF_SHARPNESS_WIDEST;
    as.width_ns = options->width_ns > 0 ? options->width_ns : sf_significance_width(&job->delay, 1);
    as.segment_ns = options->segment_ns > 0 ? options->segment_ns : SF_SECOND;
    if (as.width_ns <= widest_ns) return measure_shape(shape, &as, chooses ? widest_ns : 0, error);
    *shape = (sf_test_shape){.sharpness = {.delay = job->delay,
                                           .width_ns = as.width_ns,
                                           .divisor = SF_SMOOTH_DIVISOR,
                                           .low_share = NAN,
                                           .testable = true}};
    return SF_OK;
}

void sf_test_shape_free(sf_test_shape *shape)
{
    sf_free(shape->groups);
    *shape = (sf_test_shape){0};
}

int sf_significance_test(sf_significance *significance, sf_mine_result *result, const sf_mine_input *input,
                         const sf_mining_options *mining, const sf_significance_options *options,
                         const sf_progress *progress, sf_error *error)
{
    return sf_significance_test_by(significance, result, input, mining, options, NULL, progress, error);
}

int sf_significance_test_by(sf_significance *significance, sf_mine_result *result, const sf_mine_input *input,
                            const sf_mining_options *mining, const sf_significance_options *options,
                            const sf_test_shape *shape, const sf_progress *progress, sf_error *error)
{
    double start = sf_clock_seconds();
    *significance =
        (sf_significance){.options = *options, .sharpness = {.divisor = SF_SMOOTH_DIVISOR, .low_share = NAN}};
    test t = {.told = significance,
              .result = result,
              .input = input,
              .mining = mining,
              .shape = shape,
              .progress = progress};
    t.threads = options->threads > 0 ? options->threads : sf_thread_cores();
    t.least = result->least;
    t.chooses_width = options->width_ns == 0;
    t.widest_ns = sf_significance_widest(options->segment_ns);
    significance->longest_delay_ns = t.widest_ns * 2 / 3;
    if (options->width_ns == 0)
        significance->options.width_ns = sf_significance_width(mining->delays, mining->delay_count);
    if (options->segment_ns == 0) significance->options.segment_ns = choose_segment(&t);
    for (uint32_t size = 0; size <= SF_EPISODE_MAX_SIZE; size++)
        significance->critical[size][0] = significance->critical[size][1] = NAN;
    int status = check_options(&t, error);
    if (status == SF_OK && options->kind == SF_SIGNIFICANCE_ANALYTIC)
        test_analytically(&t);
    else if (status == SF_OK && result->count > 0)
        status = test_by_surrogates(&t, error);
    sf_events_close(&t.events);
    sf_free(t.x_um);
    sf_free(t.y_um);
    sf_test_shape_free(&t.own);
    for (uint32_t size = 0; size <= SF_EPISODE_MAX_SIZE; size++)
        sf_free(t.verdicts[size]);
    significance->options.device = NULL;
    significance->ran.seconds = sf_clock_seconds() - start;
    return status;
}

/* ---- the reverse of a link ---- */

/* A pair with a q below this is a link, as far as its reverse is concerned. */
#define LINK_Q 0.05

/* groups: of delays that are one question (mine/best_delay.h). */
static bool is_reverse_of_link(const sf_mine_found *found, const uint32_t *groups, size_t pair)
{
    const sf_tree *tree = &found->tree;
    const sf_node *at = &tree->levels[1].nodes[pair], *links = tree->levels[1].nodes;
    uint32_t units = tree->unit_count, group = groups[at->step / units];
    sf_node_range range = sf_tree_children(tree, 1, at->step % units);
    bool reverses = false;
    for (size_t i = range.begin; i < range.end; i++)
        reverses = reverses || (links[i].step % units == at->parent &&
                                groups[links[i].step / units] == group && found->pair_q[i] < LINK_Q);
    return reverses && found->pair_q[pair] >= LINK_Q;
}

static bool has_reverse_of_link(const sf_mine_found *found, const uint32_t *groups, const sf_mine_item *item)
{
    uint32_t steps[SF_EPISODE_MAX_SIZE];
    sf_tree_steps(&found->tree, item->size, item->node, steps);
    for (uint32_t k = 1; k < item->size; k++)
        if (is_reverse_of_link(found, groups, find_link(&found->tree, steps, k))) return true;
    return false;
}

int sf_significance_mark_reverses(sf_mine_result *result, sf_error *error)
{
    const sf_mine_found *found = result->found;
    if (found->pair_q == NULL) /* no test by surrogates */
        return SF_OK;
    uint32_t *groups = sf_resize(NULL, found->tree.delay_count, sizeof *groups);
    int status = groups != NULL ? sf_delays_group(groups, found->delays, found->tree.delay_count, error)
                                : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < result->count; i++) {
        sf_mine_item *item = &result->items[i];
        if (item->not_tested != SF_TESTABLE || item->size < 2 || !has_reverse_of_link(found, groups, item))
            continue;
        item->not_tested = item->size == 2 ? SF_REVERSE_OF_LINK : SF_LINK_NOT_TESTABLE;
        forget_verdict(item);
    }
    sf_free(groups);
    return status;
}
