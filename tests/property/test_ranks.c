/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever ranks a job is divided among, all of them have the result of one that does it alone. */
#include "support/ranks.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "mine/interval.h"
#include "oracle/count_oracle.h"
#include "window/summaries.h"

#include <math.h>

/* ---- joining ---- */

/* Ranks whose data are words append them, which does not commute. */
static void append_words(void *context, const void *left, void *right)
{
    (void)context;
    char both[64];
    snprintf(both, sizeof both, "%s%s", (const char *)left, (char *)right);
    memcpy(right, both, 32);
}

typedef struct words {
    char joined[TEST_MOST_RANKS][32];
    uint64_t sums[TEST_MOST_RANKS];
    int items[TEST_MOST_RANKS][20];
    int status[TEST_MOST_RANKS];
    sf_error errors[TEST_MOST_RANKS];
    uint32_t failing, failing_too; /* ranks, or those that there are not */
} words;

static void join_words(void *context, uint32_t rank)
{
    words *w = context;
    sf_error *error = &w->errors[rank];
    int status = rank == w->failing || rank == w->failing_too
                     ? sf_fail(error, SF_IO, "somewhere", "rank %u has failed", rank)
                     : SF_OK;
    snprintf(w->joined[rank], sizeof w->joined[rank], "%c", (int)('a' + rank));
    w->sums[rank] = rank + 1;
    sf_ranks_part own = sf_ranks_share(20);
    for (size_t i = own.first; i < own.last; i++)
        w->items[rank][i] = (int)i;
    status = sf_ranks_join(w->joined[rank], 32, append_words, NULL, status, error);
    status = sf_ranks_add(&w->sums[rank], 1, status, error);
    status = sf_ranks_collect(w->items[rank], 20, sizeof(int), status, error);
    w->status[rank] = sf_ranks_agree(status, error);
}

static void test_all_have_what_all_had(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= TEST_MOST_RANKS; count++) {
        words w = {.failing = UINT32_MAX, .failing_too = UINT32_MAX};
        test_ranks_run(count, count, join_words, &w);
        for (uint32_t r = 0; r < count; r++) {
            char expected[] = "abcdefgh";
            expected[count] = '\0';
            assert_int_equal(w.status[r], SF_OK);
            assert_string_equal(w.joined[r], expected);
            assert_int_equal(w.sums[r], count * (count + 1) / 2);
            for (int i = 0; i < 20; i++)
                assert_int_equal(w.items[r][i], i);
        }
    }
}

static void test_what_one_fails_at_all_know(void **state)
{
    (void)state;
    for (uint32_t count = 2; count <= TEST_MOST_RANKS; count++)
        for (uint32_t failing = 0; failing < count; failing++) {
            words w = {.failing = failing, .failing_too = failing / 2};
            char sentence[32];
            snprintf(sentence, sizeof sentence, "rank %u has failed", failing / 2);
            test_ranks_run(count, 1, join_words, &w);
            for (uint32_t r = 0; r < count; r++) {
                assert_int_equal(w.status[r], SF_IO);
                assert_string_equal(w.errors[r].text, sentence);
                assert_string_equal(w.errors[r].place, "somewhere");
            }
        }
}

static void go_apart(void *context, uint32_t rank)
{
    words *w = context;
    w->status[rank] = rank == 0 ? sf_ranks_agree(SF_OK, &w->errors[rank])
                                : sf_ranks_add(&w->sums[rank], 1, SF_OK, &w->errors[rank]);
}

static void test_ranks_that_go_apart_are_told(void **state)
{
    (void)state;
    words w = {0};
    test_ranks_run(3, 1, go_apart, &w);
    for (uint32_t r = 0; r < 3; r++)
        test_assert_fails(w.status[r], &w.errors[r], SF_INTERNAL, "different steps");
}

static void join_apart(void *context, uint32_t rank)
{
    words *w = context;
    w->status[rank] = sf_ranks_add(w->sums, rank == 2 ? 1 : 2, SF_OK, &w->errors[rank]);
}

/* Sums of another length are no sums of the same. */
static void test_ranks_that_join_other_sizes_are_told(void **state)
{
    (void)state;
    words w = {0};
    test_ranks_run(3, 1, join_apart, &w);
    for (uint32_t r = 0; r < 3; r++)
        test_assert_fails(w.status[r], &w.errors[r], SF_INTERNAL, "different steps");
}

/* ---- stretches of a stream ---- */

/* A stream cut anywhere, a stretch for each rank: also empty ones, and ones shorter than an occurrence. */
typedef struct stretches {
    sf_events events;
    sf_candidates candidates;
    uint32_t cuts[TEST_MOST_RANKS + 1];
    uint64_t *counts[TEST_MOST_RANKS];
    int status[TEST_MOST_RANKS];
} stretches;

static void count_stretch(void *context, uint32_t rank)
{
    stretches *s = context;
    sf_count_tally tally = {0};
    sf_count_job job = {.events = &s->events,
                        .first = s->cuts[rank],
                        .last = s->cuts[rank + 1],
                        .candidates = &s->candidates,
                        .threads = 1,
                        .tally = &tally};
    size_t count = s->candidates.count;
    sf_summary *summaries = sf_summaries_new(count);
    s->counts[rank] = calloc(count, sizeof **s->counts);
    s->status[rank] = sf_interval_summarise(summaries, &job, 0, 0, NULL);
    s->status[rank] = sf_summaries_count(s->counts[rank], summaries, count, s->status[rank], NULL);
    sf_summaries_free(summaries, count);
}

static int compare_cuts(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

enum { CANDIDATES = 12 };

/* Candidates of one size over all units, which are all kept, so that their numbers are those of the stream.
 */
static void choose_candidates(sf_candidates *c, sf_episode *episodes, test_random *random, uint32_t units)
{
    static uint32_t of_units[CANDIDATES * 4], of_delays[CANDIDATES * 4];
    static sf_delay intervals[3];
    for (uint32_t k = 0; k < 3; k++) {
        intervals[k].low_ns = (int64_t)test_random_below(random, 8);
        intervals[k].high_ns = intervals[k].low_ns + 1 + (int64_t)test_random_below(random, 12);
    }
    uint32_t size = 1 + (uint32_t)test_random_below(random, 4);
    *c = (sf_candidates){size, CANDIDATES, of_units, of_delays, intervals, 3};
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        episodes[i] = (sf_episode){.size = size};
        for (uint32_t node = 0; node < size; node++) {
            uint32_t unit = (uint32_t)test_random_below(random, units),
                     delay = (uint32_t)test_random_below(random, 3);
            of_units[i * size + node] = episodes[i].units[node] = unit;
            if (node > 0) {
                of_delays[i * (size - 1) + node - 1] = delay;
                episodes[i].delays[node - 1] = intervals[delay];
            }
        }
    }
}

static void test_stretches_compose(void **state)
{
    (void)state;
    test_random random = test_random_start("test_stretches_compose", 9001);
    for (int round = 0; round < test_rounds(150); round++) {
        const uint32_t units = 3;
        sf_episode episodes[CANDIDATES];
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, 20 + test_random_below(&random, 300), units,
                                          (int64_t)test_random_below(&random, 600));
        stretches s = {0};
        choose_candidates(&s.candidates, episodes, &random, units);
        sf_events_choice all = {.threads = 1};
        assert_int_equal(sf_events_lay_out(&s.events, spikes, count, units, &all, NULL), SF_OK);
        assert_int_equal(sf_events_time_units(&s.events, 1, NULL), SF_OK);
        bool complete = s.events.unit_count == units;
        uint32_t ranks = 1 + (uint32_t)test_random_below(&random, TEST_MOST_RANKS);
        for (uint32_t r = 1; r < ranks; r++)
            s.cuts[r] = (uint32_t)test_random_below(&random, count + 1);
        s.cuts[ranks] = (uint32_t)count;
        qsort(s.cuts, ranks + 1, sizeof *s.cuts, compare_cuts);
        if (complete) test_ranks_run(ranks, random.state, count_stretch, &s);
        for (uint32_t r = 0; complete && r < ranks; r++) {
            assert_int_equal(s.status[r], SF_OK);
            for (size_t i = 0; i < CANDIDATES; i++)
                assert_int_equal(s.counts[r][i], oracle_count(spikes, count, &episodes[i]));
            free(s.counts[r]);
        }
        sf_events_close(&s.events);
        free(spikes);
    }
}

/* ---- what is divided ---- */

static sf_recording *make_recording(test_random *random, size_t count, uint32_t units)
{
    sf_spike *spikes;
    sf_recording_input input = sf_recording_input_default();
    input.spike_count = test_random_stream(random, &spikes, count, units, (int64_t)count * 4 * 1000000);
    input.spikes = spikes;
    input.unit_count = units;
    sf_recording *recording;
    assert_int_equal(sf_recording_new(&recording, &input, NULL), SF_OK);
    free(spikes);
    return recording;
}

/* One job, and what each rank has of it, as numbers that must be the same. */
typedef struct work {
    const sf_recording *recording;
    int (*job)(const struct work *w, double **numbers, size_t *count);
    double *numbers[TEST_MOST_RANKS];
    size_t counts[TEST_MOST_RANKS];
    int status[TEST_MOST_RANKS];
    const char *engine;
} work;

static void do_work(void *context, uint32_t rank)
{
    work *w = context;
    w->status[rank] = w->job(w, &w->numbers[rank], &w->counts[rank]);
}

static void check_divided(work *w)
{
    double *expected;
    size_t count;
    assert_int_equal(w->job(w, &expected, &count), SF_OK);
    assert_true(count > 10);
    for (uint32_t ranks = 1; ranks <= TEST_MOST_RANKS; ranks += ranks > 2 ? 2 : 1) {
        test_ranks_run(ranks, ranks, do_work, w);
        for (uint32_t r = 0; r < ranks; r++) {
            assert_int_equal(w->status[r], SF_OK);
            assert_int_equal(w->counts[r], count);
            for (size_t i = 0; i < count; i++)
                test_assert_same(w->numbers[r][i], expected[i]);
            free(w->numbers[r]);
        }
    }
    free(expected);
}

static const sf_delay delays[] = {{0, 5000000}, {5000000, 20000000}};

static int tell_episodes(sf_episodes *found, double **numbers, size_t *count)
{
    sf_episodes_columns told = {.size = sizeof told};
    sf_episodes_get_columns(found, &told);
    *numbers = calloc(told.count * 14 + told.window_count * told.count + 1, sizeof **numbers);
    *count = 0;
    for (size_t i = 0; i < told.count; i++) {
        const double own[] = {told.episodes[i].size,
                              told.episodes[i].units[told.episodes[i].size - 1],
                              (double)told.counts[i],
                              told.expected[i],
                              told.p != NULL ? told.p[i] : 0,
                              told.q != NULL ? told.q[i] : 0,
                              (double)told.details[i].occurrences,
                              (double)told.details[i].links[0].quantiles_ns[2],
                              (double)told.reverse[i]};
        memcpy(*numbers + *count, own, sizeof own);
        *count += sizeof own / sizeof *own;
    }
    for (size_t i = 0; i < told.window_count * told.count; i++)
        (*numbers)[(*count)++] = (double)told.window_counts[i];
    sf_episodes_free(found);
    return SF_OK;
}

static int mine(const work *w, double **numbers, size_t *count)
{
    sf_mining_options options = sf_mining_options_default();
    sf_significance_options test = sf_significance_options_default();
    sf_episodes *found;
    test.surrogates = 19;
    test.always = true;
    test.width_ns = 40000000;
    options.delays = delays;
    options.delay_count = 2;
    options.threshold = 40;
    options.details = true;
    options.engine = w->engine;
    options.significance = strcmp(w->engine, "auto") == 0 ? &test : NULL;
    int status = sf_mine(&found, w->recording, &options, NULL, NULL);
    return status == SF_OK ? tell_episodes(found, numbers, count) : status;
}

static int count_given(const work *w, double **numbers, size_t *count)
{
    sf_counting_options options = sf_counting_options_default();
    sf_episode episodes[5];
    test_random random = {7};
    sf_episodes *found;
    for (size_t i = 0; i < 5; i++)
        episodes[i] = test_random_episode(&random, 4, 6, 30000000);
    options.details = true;
    options.engine = w->engine;
    options.window_ns = options.hop_ns = 300000000;
    int status = sf_count(&found, w->recording, episodes, 5, &options, NULL, NULL);
    return status == SF_OK ? tell_episodes(found, numbers, count) : status;
}

static int tile(const work *w, double **numbers, size_t *count)
{
    sf_graph_options options = sf_graph_options_default();
    sf_tiling_options tiling = sf_tiling_options_default();
    sf_graph *graph;
    tiling.surrogates = 9;
    tiling.percentile = 0.1;
    int status = sf_graph_of_tiling(&graph, w->recording, &tiling, &options, NULL, NULL);
    if (status != SF_OK) return status;
    sf_graph_columns told = {.size = sizeof told};
    sf_graph_get_columns(graph, &told);
    *numbers = calloc(3 * told.link_count + 1, sizeof **numbers);
    *count = 0;
    for (size_t i = 0; i < told.link_count; i++) {
        (*numbers)[(*count)++] = told.from[i] * 100 + told.to[i];
        (*numbers)[(*count)++] = told.weight[i];
        (*numbers)[(*count)++] = told.p[i];
    }
    sf_graph_free(graph);
    return SF_OK;
}

static void test_divided_work_is_that_of_one(void **state)
{
    (void)state;
    test_random random = test_random_start("test_divided_work_is_that_of_one", 9002);
    work w = {.recording = make_recording(&random, 1200, 6), .engine = "auto"};
    w.job = mine;
    check_divided(&w);
    w.job = count_given;
    check_divided(&w);
    w.job = tile;
    check_divided(&w);
    w.engine = "two-pass"; /* candidates are divided, not the stream */
    w.job = mine;
    check_divided(&w);
    w.job = count_given;
    check_divided(&w);
    sf_recording_free((sf_recording *)(uintptr_t)w.recording);
}

/* ---- one that stops ---- */

typedef struct stopping {
    const sf_recording *recording;
    uint32_t stops; /* which rank is told to */
    int status[TEST_MOST_RANKS];
    sf_error errors[TEST_MOST_RANKS];
} stopping;

static bool stop(void *user, const char *what, double done, double total)
{
    (void)what, (void)done, (void)total;
    return user == NULL;
}

static void mine_and_stop(void *context, uint32_t rank)
{
    stopping *s = context;
    sf_mining_options options = sf_mining_options_default();
    sf_progress progress = {stop, rank == s->stops ? s : NULL};
    sf_episodes *found;
    options.delays = delays;
    options.delay_count = 2;
    options.threshold = 40;
    options.keep_stopped = true; /* what there is of several ranks is not kept */
    s->status[rank] = sf_mine(&found, s->recording, &options, &progress, &s->errors[rank]);
    sf_episodes_free(found);
}

static void test_one_that_stops_stops_all(void **state)
{
    (void)state;
    test_random random = test_random_start("test_one_that_stops_stops_all", 9003);
    sf_recording *recording = make_recording(&random, 800, 6);
    for (uint32_t stops = 0; stops < 3; stops++) {
        stopping s = {.recording = recording, .stops = stops};
        test_ranks_run(3, 1, mine_and_stop, &s);
        for (uint32_t r = 0; r < 3; r++)
            test_assert_fails(s.status[r], &s.errors[r], SF_CANCELLED, "stopped while counting pairs");
    }
    sf_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_have_what_all_had),
        cmocka_unit_test(test_what_one_fails_at_all_know),
        cmocka_unit_test(test_ranks_that_go_apart_are_told),
        cmocka_unit_test(test_ranks_that_join_other_sizes_are_told),
        cmocka_unit_test(test_stretches_compose),
        cmocka_unit_test(test_divided_work_is_that_of_one),
        cmocka_unit_test(test_one_that_stops_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
