/* SPDX-License-Identifier: Apache-2.0 */
/* Surrogates and counts in them against the obvious: shift one train, rebuild the stream, count by the
 * oracle. */
#include "support/support.h"

#include "core/backend/find.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/vector.h"
#include "mine/dither.h"
#include "mine/engine.h"
#include "mine/resident.h"
#include "mine/surrogate_near.h"
#include "mine/surrogate_side.h"
#include "mine/surrogates.h"
#include "oracle/count_oracle.h"

#include <math.h>

#define UNITS 4u
#define MOST_UNITS 60u

/* ---- draws ---- */

static void draws_are_the_same_for_ever(void **state)
{
    (void)state;
    sf_surrogate_rule rule = {SF_SURROGATE_SEGMENT_SHIFT, 5 * SF_MILLISECOND, SF_SECOND, 1};
    const int64_t time = 90 * SF_SECOND + 123456789;
    int64_t found[6];
    for (int kind = 0; kind < 3; kind++) {
        rule.kind = (sf_surrogate_kind)(kind + 1);
        found[2 * kind] = sf_surrogate_time(&rule, 0, 0, 0, time) - time;
        found[2 * kind + 1] = sf_surrogate_time(&rule, 999, 4095, 77, time) - time;
    }
    static const int64_t expected[] = {1104108, -1763713, 1566551, -1562717, -676522, -442564};
    for (int i = 0; i < 6; i++)
        if (found[i] != expected[i])
            fail_msg("draw %d is %lld, expected %lld", i, (long long)found[i], (long long)expected[i]);
}

/* The train moves by parts as long as a segment, each as a whole, which begin elsewhere in each surrogate;
 * and by differences of two uniform numbers, whose mean square is a sixth of the width's. */
static void segments_shift_as_wholes(void **state)
{
    (void)state;
    enum { SEGMENTS = 400, SURROGATES = 200 };
    test_random random = test_random_start("segments", 31);
    const sf_surrogate_rule rule = {SF_SURROGATE_SEGMENT_SHIFT, 1000000, 100, test_random_bits(&random)};
    uint64_t seams[10] = {0}, offsets = 0;
    double squares = 0;
    for (uint32_t s = 0; s < SURROGATES; s++) {
        uint32_t train = (uint32_t)test_random_bits(&random);
        int64_t before = sf_surrogate_time(&rule, s, train, 5, 0), seam = 0;
        for (int64_t time = 1; time < 100 * SEGMENTS; time++) {
            int64_t offset = sf_surrogate_time(&rule, s, train, 9, time) - time;
            assert_in_range(offset + rule.width_ns, 0, 2 * rule.width_ns);
            if (offset == before) continue;
            assert_true(seam == 0 || time == seam + 100);
            if (seam == 0) seams[time % 100 / 10]++;
            seam = time;
            before = offset;
            squares += (double)offset * (double)offset;
            offsets++;
        }
        assert_true(seam > 100 * (SEGMENTS - 2));
    }
    assert_true(fabs(squares / (double)offsets / 1e12 * 6 - 1) < 0.02);
    for (int i = 0; i < 10; i++)
        assert_in_range(seams[i], 5, 40);
}

/* 0, what was recorded, has any rank among the offsets of nine surrogates equally often. */
static void trains_shift_within_an_interval_that_holds_what_was_recorded(void **state)
{
    (void)state;
    enum { N = 9, ROUNDS = 20000 };
    test_random random = test_random_start("shifts", 38);
    const sf_surrogate_rule rule = {SF_SURROGATE_SHIFT, 1000000, 100, test_random_bits(&random)};
    uint64_t ranks[N + 1] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t train = (uint32_t)test_random_bits(&random), rank = 0;
        int64_t least = 0, most = 0;
        for (uint32_t s = 0; s < N; s++) {
            int64_t offset = sf_surrogate_time(&rule, s, train, 5, 500) - 500;
            least = offset < least ? offset : least;
            most = offset > most ? offset : most;
            rank += offset < 0;
        }
        assert_true(most - least <= rule.width_ns);
        ranks[rank]++;
    }
    double chi = 0, expected = ROUNDS / (N + 1.0); /* N degrees of freedom */
    for (int i = 0; i <= N; i++)
        chi += ((double)ranks[i] - expected) * ((double)ranks[i] - expected) / expected;
    assert_true(chi < 35);
}

static void jitter_stays_in_its_interval_and_trains_shift_as_wholes(void **state)
{
    (void)state;
    test_random random = test_random_start("jitter", 32);
    sf_surrogate_rule rule = {SF_SURROGATE_JITTER, 20, 100, 7};
    bool differs = false;
    for (int round = 0; round < 2000; round++) {
        int64_t time = (int64_t)test_random_below(&random, 100000);
        int64_t first = sf_surrogate_time(&rule, 1, 2, 3, time),
                second = sf_surrogate_time(&rule, 1, 2, 4, time);
        assert_int_equal(first / 40, time / 40);
        differs = differs || first != second;
    }
    assert_true(differs);
    rule.kind = SF_SURROGATE_SHIFT;
    int64_t offset = sf_surrogate_time(&rule, 1, 2, 3, 0);
    assert_in_range(offset + 20, 0, 40);
    for (int64_t time = 0; time < 1000; time += 33)
        assert_int_equal(sf_surrogate_time(&rule, 1, 2, (uint32_t)time, time), time + offset);
}

/* ---- trials ---- */

typedef struct trial {
    sf_spike *spikes;
    size_t count;
    sf_delay delays[2];
    sf_events events;
    sf_tree tree;
    uint32_t trains[MOST_UNITS];
    sf_surrogate_request request;
    unsigned threads;
} trial;

static void find_tree(trial *t, uint32_t least)
{
    sf_mine_job job = {.events = &t->events,
                       .delays = t->delays,
                       .delay_count = t->tree.delay_count,
                       .pairs = t->request.pairs,
                       .least = least,
                       .max_size = t->request.max_size,
                       .most = 100000,
                       .threads = 1};
    double seconds[SF_EPISODE_MAX_SIZE + 1];
    t->tree.unit_count = t->events.unit_count;
    for (uint32_t u = 0; u < t->tree.unit_count; u++)
        assert_int_equal(
            sf_level_append(&t->tree.levels[0], 0, u, t->events.first[u + 1] - t->events.first[u]), SF_OK);
    assert_int_equal(sf_engine_interval.mine(&t->tree, seconds, &job, NULL), SF_OK);
}

static void set_up(trial *t, test_random *random)
{
    *t = (trial){0};
    t->count = test_random_stream(random, &t->spikes, 20 + test_random_below(random, 100), UNITS,
                                  20 + (int64_t)test_random_below(random, 200));
    t->tree.delay_count = 1 + (uint32_t)test_random_below(random, 2);
    for (int64_t d = 0; d < 2; d++) {
        int64_t low = (int64_t)test_random_below(random, 6) + 10 * d;
        t->delays[d] = (sf_delay){low, low + 1 + (int64_t)test_random_below(random, 9)};
    }
    bool keep[UNITS];
    for (uint32_t u = 0; u < UNITS; u++)
        keep[u] = test_random_below(random, 4) > 0;
    assert_int_equal(sf_events_open(&t->events, t->spikes, t->count, UNITS, keep, NULL), SF_OK);
    memcpy(t->trains, t->events.unit, t->events.unit_count * sizeof *t->trains);
    t->request = (sf_surrogate_request){
        .events = &t->events,
        .tree = &t->tree,
        .pairs = {.self = test_random_below(random, 2) > 0},
        .max_size = 2 + (uint32_t)test_random_below(random, 3),
        .delays = t->delays,
        .trains = t->trains,
        .origin_ns = t->count > 0 ? t->events.origin_ns - t->spikes[0].time_ns : 0,
        .rule = {(sf_surrogate_kind)(1 + test_random_below(random, 6)),
                 1 + (int64_t)test_random_below(random, 12), 10 + (int64_t)test_random_below(random, 50),
                 test_random_bits(random)},
        .found_only = test_random_below(random, 4) == 0};
    find_tree(t, 1 + (uint32_t)test_random_below(random, 5));
}

/* All that `set_up` asks, of more spikes: windows long enough for a device to walk them one by one. */
static void set_up_large(trial *t, test_random *random, size_t spikes, int64_t last_ns)
{
    set_up(t, random);
    sf_events_close(&t->events);
    sf_tree_free(&t->tree);
    free(t->spikes);
    t->count = test_random_stream(random, &t->spikes, spikes, MOST_UNITS, last_ns);
    assert_int_equal(sf_events_open(&t->events, t->spikes, t->count, MOST_UNITS, NULL, NULL), SF_OK);
    memcpy(t->trains, t->events.unit, sizeof t->trains);
    t->tree.delay_count = 2;
    t->request.max_size = 3;
    t->request.origin_ns = 0;
    find_tree(t, 40);
}

static void tear_down(trial *t)
{
    sf_events_close(&t->events);
    sf_tree_free(&t->tree);
    free(t->spikes);
}

/* ---- the oracle ---- */

static int by_time_and_unit(const void *a, const void *b)
{
    const sf_spike *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return (left->unit > right->unit) - (left->unit < right->unit);
}

/* Candidate `index` of a level as an episode of units of the recording, forwards whichever side it is of. */
static sf_episode candidate_at(const trial *t, const sf_surrogate_side *side, uint32_t level, uint64_t index)
{
    const sf_surrogate_plan *plan = &side->plan;
    uint32_t steps[SF_EPISODE_MAX_SIZE], prefix = 0, units = side->events.unit_count;
    while (plan->levels[level].first[prefix + 1] <= index)
        prefix++;
    steps[level + 1] = plan->levels[level].candidates[index];
    for (uint32_t k = level; k > 0; k--) {
        steps[k] = plan->levels[k].steps[prefix];
        prefix = plan->levels[k].parents[prefix];
    }
    steps[0] = prefix;
    sf_episode episode = {.size = level + 2};
    for (uint32_t i = 0; i < episode.size; i++) {
        uint32_t to = side->mirrored ? episode.size - 1 - i : i;
        episode.units[to] = plan->trains[steps[i] % units];
        if (i > 0)
            episode.delays[side->mirrored ? episode.size - 1 - i : i - 1] = t->delays[steps[i] / units];
    }
    return episode;
}

/* The count with the unit at one end of the episode replaced by its shifted train, a unit of its own that
 * comes right after (last) or before (first) the recorded one where they share an instant. */
static int64_t shifted_time(const trial *t, uint32_t surrogate, uint32_t train, uint32_t number,
                            int64_t since)
{
    const sf_surrogate_rule *rule = &t->request.rule;
    int64_t fired[200], moved[200];
    size_t count = 0;
    sf_dither by;
    if (!sf_is_dither(rule->kind)) return sf_surrogate_time(rule, surrogate, train, number, since);
    for (size_t i = 0; i < t->count; i++)
        if (t->spikes[i].unit == train) fired[count++] = t->spikes[i].time_ns - t->spikes[0].time_ns;
    assert_int_equal(sf_dither_open(&by, rule->kind, fired, count), SF_OK);
    sf_dither_train(moved, &by, rule, surrogate, train, fired, count);
    sf_dither_close(&by);
    return moved[number];
}

static uint64_t count_shifted(const trial *t, sf_episode episode, bool first, uint32_t surrogate)
{
    sf_spike all[2 * 200];
    size_t count = 0;
    uint32_t shifted = episode.units[first ? 0 : episode.size - 1], number = 0;
    for (size_t i = 0; i < t->count; i++) {
        sf_spike spike = t->spikes[i];
        all[count++] = (sf_spike){.time_ns = spike.time_ns, .unit = 2 * spike.unit + first};
        if (spike.unit != shifted) continue;
        int64_t since = spike.time_ns - t->spikes[0].time_ns;
        since = shifted_time(t, surrogate, shifted, number++, since);
        all[count++] = (sf_spike){.time_ns = t->spikes[0].time_ns + since, .unit = 2 * shifted + !first};
    }
    for (uint32_t i = 0; i < episode.size; i++)
        episode.units[i] = 2 * episode.units[i] + first;
    episode.units[first ? 0 : episode.size - 1] = 2 * shifted + !first;
    qsort(all, count, sizeof *all, by_time_and_unit);
    return oracle_count(all, count, &episode);
}

/* ---- counting ---- */

static bool returns(const trial *t, uint32_t size, size_t node)
{
    uint32_t steps[SF_EPISODE_MAX_SIZE], units = t->tree.unit_count;
    bool seen[MOST_UNITS] = {false}, again = false;
    sf_tree_steps(&t->tree, size, node, steps);
    for (uint32_t i = 0; i < size; i++) {
        again = again || seen[steps[i] % units];
        seen[steps[i] % units] = true;
    }
    return again;
}

static uint64_t compare_side(const trial *t, bool mirrored, unsigned threads)
{
    sf_surrogate_side side;
    assert_int_equal(sf_surrogate_side_open(&side, &t->request, mirrored, NULL), SF_OK);
    uint64_t candidates = sf_surrogate_candidates(&side.plan), total = 0;
    sf_surrogate_tally *tallies = calloc(candidates + 1, sizeof *tallies);
    sf_surrogate_counter *counter;
    assert_int_equal(sf_surrogate_counter_open(&counter, &side.events, &side.plan, threads, NULL), SF_OK);
    for (uint32_t surrogate = 5; surrogate < 8; surrogate++) {
        assert_int_equal(sf_surrogate_counter_tally(counter, surrogate, 1, tallies, NULL), SF_OK);
        uint64_t at = 0;
        for (uint32_t k = 0; k < side.plan.level_count; k++)
            for (uint64_t i = 0; i < side.levels[k].first[side.levels[k].prefix_count]; i++, at++) {
                sf_episode episode = candidate_at(t, &side, k, i);
                for (uint32_t a = 0; a < episode.size; a++)
                    for (uint32_t b = 0; b < a; b++)
                        assert_true(episode.units[a] != episode.units[b]);
                uint64_t expected = count_shifted(t, episode, mirrored, surrogate);
                if (tallies[at].sum != expected)
                    fail_msg("side %d, size %u, candidate %llu: %llu, expected %llu", mirrored, k + 2,
                             (unsigned long long)i, (unsigned long long)tallies[at].sum,
                             (unsigned long long)expected);
                assert_int_equal(tallies[at].sum_squares, expected * expected);
                uint64_t observed = oracle_count(t->spikes, t->count, &episode);
                if (side.observed[k][i] != UINT32_MAX) assert_int_equal(side.observed[k][i], observed);
                total += expected;
            }
    }
    /* Every frequent episode is one of the candidates, but for pairs on the mirrored side and those in which
     * a unit returns. */
    for (uint32_t k = mirrored; k < side.plan.level_count; k++)
        for (size_t i = 0; i < t->tree.levels[k + 1].count; i++) {
            uint64_t candidate = side.candidate_of[k][i];
            assert_true((candidate == SF_NO_CANDIDATE) == returns(t, k + 2, i));
            if (candidate != SF_NO_CANDIDATE)
                assert_int_equal(side.observed[k][candidate], t->tree.levels[k + 1].nodes[i].count);
        }
    sf_surrogate_counter_close(counter);
    sf_surrogate_side_close(&side);
    free(tallies);
    return total;
}

static void counts_are_those_of_the_rebuilt_stream(void **state)
{
    (void)state;
    test_random random = test_random_start("surrogates", 33);
    uint64_t total = 0;
    int rounds = test_rounds(150);
    for (int round = 0; round < rounds; round++) {
        trial t;
        set_up(&t, &random);
        sf_vector_limit((int)test_random_below(&random, 3));
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            sf_surrogate_counter_limit(test_random_below(&random, 2) != 0, test_random_below(&random, 400));
            total += compare_side(&t, mirrored, 1 + (unsigned)test_random_below(&random, 4));
        }
        tear_down(&t);
    }
    sf_surrogate_counter_limit(false, SIZE_MAX);
    sf_vector_limit(SF_VECTOR_AVX512);
    assert_true(total > 130 * (uint64_t)rounds);
}

static sf_surrogate_scale random_scale(test_random *random)
{
    return (sf_surrogate_scale){
        test_random_unit(random) * 8, test_random_below(random, 5) > 0 ? test_random_unit(random) : 0,
        test_random_below(random, 5) > 0 ? (uint32_t)test_random_below(random, 12) : UINT32_MAX};
}

/* Sums, and what is compared by the counts kept and by counting again, against the counts one by one. */
static void check_sums_and_comparisons(sf_surrogate_side *side, test_random *random, uint32_t n)
{
    enum { MOST = 40 };
    const sf_surrogate_plan *plan = &side->plan;
    uint64_t candidates = sf_surrogate_candidates(plan);
    uint32_t least = 1 + (uint32_t)test_random_below(random, 4);
    sf_surrogate_tally *one = calloc(candidates + 1, sizeof *one), *all = calloc(candidates + 1, sizeof *all);
    sf_surrogate_tally *sums = calloc(candidates + 1, sizeof *sums);
    sf_surrogate_scale *scales = calloc(candidates + 1, sizeof *scales);
    sf_surrogate_reached *expected_reached = calloc(candidates + 1, sizeof *expected_reached);
    sf_surrogate_reached *reached = calloc(candidates + 1, sizeof *reached);
    double expected[SF_EPISODE_MAX_SIZE][MOST], found[2][SF_EPISODE_MAX_SIZE * MOST];
    for (uint64_t i = 0; i < candidates; i++)
        scales[i] = random_scale(random);
    sf_surrogate_counter *single, *whole;
    sf_surrogate_counter_limit(test_random_below(random, 2) != 0, SIZE_MAX);
    assert_int_equal(sf_surrogate_counter_open(&single, &side->events, plan, 1, NULL), SF_OK);
    sf_surrogate_counter_limit(false, test_random_below(random, 2) != 0 ? SIZE_MAX : 400);
    assert_int_equal(sf_surrogate_counter_open(&whole, &side->events, plan,
                                               1 + (unsigned)test_random_below(random, 4), NULL),
                     SF_OK);
    sf_surrogate_counter_limit(false, SIZE_MAX);
    for (uint32_t s = 0; s < n; s++) {
        assert_int_equal(sf_surrogate_counter_tally(single, 3 + s, 1, one, NULL), SF_OK);
        uint64_t at = 0;
        for (uint32_t k = 0; k < plan->level_count; k++) {
            expected[k][s] = -INFINITY;
            for (uint64_t i = 0; i < side->levels[k].first[side->levels[k].prefix_count]; i++, at++) {
                all[at].sum += one[at].sum;
                all[at].sum_squares += one[at].sum_squares;
                expected_reached[at].as_much += one[at].sum >= scales[at].recorded;
                expected_reached[at].more += one[at].sum > scales[at].recorded;
                double z = ((double)one[at].sum - scales[at].mean) * scales[at].scale;
                if (one[at].sum >= least && scales[at].scale > 0) expected[k][s] = fmax(expected[k][s], z);
            }
        }
    }
    assert_int_equal(sf_surrogate_counter_tally(whole, 3, n, sums, NULL), SF_OK);
    assert_memory_equal(sums, all, candidates * sizeof *sums);
    for (int way = 0; way < 2; way++) {
        assert_int_equal(sf_surrogate_counter_compare(way == 0 ? whole : single, 3, n, least, scales, reached,
                                                      found[way], NULL),
                         SF_OK);
        assert_memory_equal(reached, expected_reached, candidates * sizeof *reached);
        for (uint32_t k = 0; k < plan->level_count; k++)
            for (uint32_t s = 0; s < n; s++)
                test_assert_same(found[way][k * n + s], expected[k][s]);
    }
    sf_surrogate_counter_close(single);
    sf_surrogate_counter_close(whole);
    free(one);
    free(all);
    free(sums);
    free(scales);
    free(reached);
    free(expected_reached);
}

static void sums_and_comparisons_are_those_of_the_counts(void **state)
{
    (void)state;
    test_random random = test_random_start("sums", 34);
    int rounds = test_rounds(25);
    for (int round = 0; round < rounds; round++) {
        trial t;
        set_up(&t, &random);
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            sf_surrogate_side side;
            assert_int_equal(sf_surrogate_side_open(&side, &t.request, mirrored, NULL), SF_OK);
            check_sums_and_comparisons(&side, &random, 40);
            sf_surrogate_side_close(&side);
        }
        tear_down(&t);
    }
}

enum { LONG = 140000 }; /* spikes */

/* Two units in turn, one spike a nanosecond. */
static void set_up_long_trains(trial *t, test_random *random)
{
    set_up(t, random);
    sf_events_close(&t->events);
    sf_tree_free(&t->tree);
    free(t->spikes);
    t->spikes = malloc(LONG * sizeof *t->spikes);
    t->count = LONG;
    for (uint32_t i = 0; i < LONG; i++)
        t->spikes[i] = (sf_spike){.time_ns = i, .unit = i & 1};
    assert_int_equal(sf_events_open(&t->events, t->spikes, t->count, 2, NULL, NULL), SF_OK);
    t->trains[0] = 0;
    t->trains[1] = 1;
    t->delays[0] = (sf_delay){0, 5};
    t->tree.delay_count = 1;
    t->request.max_size = 2;
    t->request.origin_ns = 0;
    t->request.found_only = false;
    t->request.rule = (sf_surrogate_rule){SF_SURROGATE_SHIFT, 4, LONG, 1};
    find_tree(t, 1);
}

/* Of every second nanosecond in a delay of 5, two and a half are spikes of the other unit. */
static void of_crowds_some_spikes_speak_for_all(void **state)
{
    (void)state;
    test_random random = test_random_start("crowds", 39);
    trial t;
    set_up_long_trains(&t, &random);
    static const double most[] = {1e9, 1e4};
    for (int i = 0; i < 2; i++) {
        sf_surrogate_side side;
        assert_int_equal(sf_surrogate_side_open(&side, &t.request, false, NULL), SF_OK);
        assert_int_equal(sf_surrogate_find_near(&side, most[i], 2, NULL), SF_OK);
        assert_true(fabs(side.near[0] / (2.5 * LONG / 2) - 1) < 0.01);
        sf_surrogate_side_close(&side);
    }
    tear_down(&t);
}

/* Counts that 16 bits do not hold. */
static void counts_of_long_trains_are_kept_whole(void **state)
{
    (void)state;
    test_random random = test_random_start("long trains", 38);
    trial t;
    set_up_long_trains(&t, &random);
    sf_surrogate_side side;
    assert_int_equal(sf_surrogate_side_open(&side, &t.request, false, NULL), SF_OK);
    sf_surrogate_counter *counter;
    sf_surrogate_tally tallies[8] = {{0}};
    assert_true(sf_surrogate_candidates(&side.plan) > 0 && sf_surrogate_candidates(&side.plan) <= 8);
    assert_int_equal(sf_surrogate_counter_open(&counter, &side.events, &side.plan, 1, NULL), SF_OK);
    assert_int_equal(sf_surrogate_counter_tally(counter, 3, 1, tallies, NULL), SF_OK);
    assert_true(tallies[0].sum > UINT16_MAX);
    sf_surrogate_counter_close(counter);
    check_sums_and_comparisons(&side, &random, 2);
    sf_surrogate_side_close(&side);
    tear_down(&t);
}

/* ---- devices ---- */

/* Tallies and comparisons of a device, by the counts kept and, of a part that was not, by counting again. */
static void compare_held(sf_device *device, sf_surrogate_side *side, sf_surrogate_counter *here,
                         test_random *random)
{
    enum { FIRST = 2, N = 70, LATER = 5 }; /* more than a batch */
    uint64_t candidates = sf_surrogate_candidates(&side->plan);
    uint32_t least = 1 + (uint32_t)test_random_below(random, 4), levels = side->plan.level_count;
    sf_surrogate_tally *expected = calloc(candidates + 1, sizeof *expected);
    sf_surrogate_tally *found = calloc(candidates + 1, sizeof *found);
    sf_surrogate_scale *scales = calloc(candidates + 1, sizeof *scales);
    sf_surrogate_reached *expected_reached = calloc(candidates + 1, sizeof *expected_reached);
    sf_surrogate_reached *found_reached = calloc(candidates + 1, sizeof *found_reached);
    double expected_maxima[SF_EPISODE_MAX_SIZE * N], found_maxima[SF_EPISODE_MAX_SIZE * N];
    for (uint64_t i = 0; i < candidates; i++)
        scales[i] = random_scale(random);
    const sf_backend *backend = sf_device_backend(device);
    sf_backend_stream *stream;
    sf_backend_surrogate_job *job;
    sf_stream spikes = sf_events_stream(&side->events);
    sf_error error;
    if (backend->episodes->stream_open(&stream, sf_device_opened(device), &spikes, &error) != SF_OK ||
        backend->surrogates->open(&job, stream, &side->plan, &error) != SF_OK ||
        backend->surrogates->tally(job, FIRST, N, found, &error) != SF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sf_surrogate_counter_tally(here, FIRST, N, expected, NULL), SF_OK);
    assert_memory_equal(found, expected, candidates * sizeof *found);
    for (uint32_t later = 0; later <= LATER; later += LATER) {
        if (backend->surrogates->compare(job, FIRST + later, N, least, scales, found_reached, found_maxima,
                                         &error) != SF_OK)
            fail_msg("%s", error.text);
        assert_int_equal(sf_surrogate_counter_compare(here, FIRST + later, N, least, scales, expected_reached,
                                                      expected_maxima, NULL),
                         SF_OK);
        assert_memory_equal(found_reached, expected_reached, candidates * sizeof *found_reached);
        for (uint32_t i = 0; i < levels * N; i++)
            test_assert_same(found_maxima[i], expected_maxima[i]);
    }
    backend->surrogates->close(job);
    backend->episodes->stream_close(stream);
    free(expected);
    free(found);
    free(scales);
    free(expected_reached);
    free(found_reached);
}

static void compare_trial(sf_device *device, const trial *t, test_random *random)
{
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        sf_surrogate_side side;
        sf_surrogate_counter *here;
        assert_int_equal(sf_surrogate_side_open(&side, &t->request, mirrored, NULL), SF_OK);
        assert_int_equal(sf_surrogate_counter_open(&here, &side.events, &side.plan, 1, NULL), SF_OK);
        assert_int_equal(sf_device_hold(device, NULL), SF_OK);
        compare_held(device, &side, here, random);
        assert_int_equal(sf_device_release(device, SF_OK, NULL, NULL), SF_OK);
        sf_surrogate_counter_close(here);
        sf_surrogate_side_close(&side);
    }
}

static void devices_count_what_the_cpu_does(void **state)
{
    (void)state;
    int rounds = test_rounds(60);
    uint32_t devices = sf_device_count();
    if (test_no_device()) skip();
    for (uint32_t d = 0; d < devices; d++) {
        test_random random = test_random_start("devices", 37);
        sf_device *device;
        assert_int_equal(sf_device_find(&device, sf_device_name(sf_device_at(d)), NULL), SF_OK);
        for (int round = 0; round < rounds; round++) {
            trial t;
            if (round % 10 == 1)
                set_up_large(&t, &random, 4000, round % 20 == 1 ? 1000 : 20000);
            else
                set_up(&t, &random);
            if (sf_is_dither(t.request.rule.kind)) /* the CPU's alone */
                t.request.rule.kind = SF_SURROGATE_SEGMENT_SHIFT;
            compare_trial(device, &t, &random);
            tear_down(&t);
        }
    }
    sf_devices_close();
}

/* ---- stopping and failing ---- */

static bool stop(void *user, const char *what, double done, double total)
{
    (void)what;
    assert_true(done <= total);
    return ++*(int *)user < 2;
}

static int run_side(void *context)
{
    const trial *t = context;
    sf_surrogate_side side;
    sf_surrogate_counter *counter = NULL;
    int status = sf_surrogate_side_open(&side, &t->request, false, NULL);
    if (status != SF_OK) return status;
    uint64_t candidates = sf_surrogate_candidates(&side.plan);
    sf_surrogate_tally *tallies = calloc(candidates + 1, sizeof *tallies);
    sf_surrogate_scale *scales = calloc(candidates + 1, sizeof *scales);
    sf_surrogate_reached *reached = calloc(candidates + 1, sizeof *reached);
    double maxima[SF_EPISODE_MAX_SIZE * 4];
    status = sf_surrogate_counter_open(&counter, &side.events, &side.plan, t->threads, NULL);
    if (status == SF_OK) status = sf_surrogate_counter_tally(counter, 0, 4, tallies, NULL);
    if (status == SF_OK)
        status = sf_surrogate_counter_compare(counter, 0, 4, 1, scales, reached, maxima, NULL);
    sf_surrogate_counter_close(counter);
    sf_surrogate_side_close(&side);
    free(tallies);
    free(scales);
    free(reached);
    return status;
}

static void counting_can_be_stopped_and_may_run_out_of_memory(void **state)
{
    (void)state;
    test_random random = test_random_start("stopping", 36);
    trial t;
    set_up(&t, &random);
    int calls = 0;
    sf_progress progress = {stop, &calls};
    t.request.progress = &progress;
    t.threads = 1; /* only the calling thread asks */
    assert_int_equal(run_side(&t), SF_CANCELLED);
    assert_int_equal(calls, 2);
    t.request.progress = NULL;
    t.threads = 2;
    test_fail_every_allocation(run_side, &t);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_the_same_for_ever),
        cmocka_unit_test(segments_shift_as_wholes),
        cmocka_unit_test(trains_shift_within_an_interval_that_holds_what_was_recorded),
        cmocka_unit_test(jitter_stays_in_its_interval_and_trains_shift_as_wholes),
        cmocka_unit_test(counts_are_those_of_the_rebuilt_stream),
        cmocka_unit_test(sums_and_comparisons_are_those_of_the_counts),
        cmocka_unit_test(counts_of_long_trains_are_kept_whole),
        cmocka_unit_test(of_crowds_some_spikes_speak_for_all),
        cmocka_unit_test(devices_count_what_the_cpu_does),
        cmocka_unit_test(counting_can_be_stopped_and_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
