/* SPDX-License-Identifier: Apache-2.0 */
/* Who drives whom, held against the definitions, and what is planted found with its sign. */
#include "support/support.h"

#include "analysis/cholesky.h"
#include "analysis/drive.h"
#include "analysis/graph.h"
#include "core/memory.h"
#include "oracle/drive_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MS = 1000000 };

static int by_time(const void *a, const void *b)
{
    const sf_spike *x = a, *y = b;
    return x->time_ns != y->time_ns ? (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns)
                                    : (x->unit > y->unit) - (x->unit < y->unit);
}

/* Spikes at random, every third of unit 0 followed by one of unit 1 within some milliseconds. */
static size_t draw(sf_spike *spikes, test_random *random, size_t count, uint32_t units, int64_t stop_ns)
{
    size_t made = 0;
    while (made + 1 < count) {
        sf_spike spike = {.time_ns = (int64_t)test_random_below(random, (uint64_t)stop_ns),
                          .unit = (uint32_t)test_random_below(random, units)};
        spikes[made++] = spike;
        if (spike.unit == 0 && test_random_below(random, 3) == 0 && spike.time_ns + 6 * MS < stop_ns)
            spikes[made++] = (sf_spike){
                .time_ns = spike.time_ns + (int64_t)(2 + test_random_below(random, 4)) * MS, .unit = 1};
    }
    qsort(spikes, made, sizeof *spikes, by_time);
    return made;
}

static void assert_alike(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

/* In one span and in several, on one thread and on two. */
static void methods_are_their_definitions(void **state)
{
    (void)state;
    enum { UNITS = 5, SPIKES = 260 };
    test_random random = test_random_start("drive", 3);
    const sf_span spans[] = {{0, 400 * MS}, {450 * MS, 801 * MS + 300}, {900 * MS, 1300 * MS}};
    for (int round = 0; round < test_rounds(4); round++) {
        sf_spike spikes[SPIKES];
        size_t count = draw(spikes, &random, SPIKES, UNITS, 1300 * MS), span_count = round % 2 == 0 ? 3 : 1;
        const sf_span whole = {0, 1300 * MS}, *observed = span_count == 1 ? &whole : spans;
        uint32_t first = 1 + (uint32_t)test_random_below(&random, 3), last = first + 2 + (uint32_t)round;
        sf_binned trains;
        assert_int_equal(sf_binned_open(&trains, spikes, count, UNITS, observed, span_count, NULL), SF_OK);
        for (int method = 0; method < SF_DRIVE_METHODS; method++) {
            double expected[UNITS * UNITS];
            const sf_drive_job job = {.method = (sf_drive_method)method,
                                      .trains = &trains,
                                      .first_lag = first,
                                      .last_lag = last,
                                      .threads = 2 - (unsigned)round % 2};
            sf_drive_pairs pairs;
            assert_int_equal(sf_drive_pairs_open(&pairs, &job, NULL), SF_OK);
            drive_oracle(expected, (sf_drive_method)method, spikes, count, UNITS, observed, span_count, first,
                         last);
            for (size_t i = 0; i < UNITS * UNITS; i++)
                assert_alike((method == SF_DRIVE_REGRESSION ? pairs.statistic : pairs.value)[i], expected[i]);
            sf_drive_pairs_close(&pairs);
        }
        sf_binned_close(&trains);
    }
}

/* A A' of random A, larger than a block and no multiple of one, is factored into what gives it back. */
static void triangles_give_the_matrix_back(void **state)
{
    (void)state;
    enum { SIZE = 329 };
    test_random random = test_random_start("cholesky", 5);
    double *matrix = sf_resize(NULL, (size_t)SIZE * SIZE, sizeof *matrix),
           *copy = sf_resize(NULL, (size_t)SIZE * SIZE, sizeof *copy),
           *right = sf_resize(NULL, (size_t)SIZE * SF_CHOLESKY_WIDTH, sizeof *right);
    assert_true(matrix != NULL && copy != NULL && right != NULL);
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j <= i; j++)
            matrix[i * SIZE + j] = i == j ? SIZE : test_random_unit(&random) - 0.5;
    memcpy(copy, matrix, (size_t)SIZE * SIZE * sizeof *copy);
    for (size_t i = 0; i < (size_t)SIZE * SF_CHOLESKY_WIDTH; i++)
        right[i] = (double)(i % 7) - 3;
    assert_int_equal(sf_cholesky(matrix, SIZE, 2, NULL), SF_OK);
    sf_cholesky_forward(right, matrix, SIZE, 0);
    sf_cholesky_backward(right, matrix, SIZE);
    for (size_t i = 0; i < SIZE; i++)
        for (size_t c = 0; c < SF_CHOLESKY_WIDTH; c++) {
            double sum = 0;
            for (size_t j = 0; j < SIZE; j++)
                sum += (j <= i ? copy[i * SIZE + j] : copy[j * SIZE + i]) * right[j * SF_CHOLESKY_WIDTH + c];
            assert_alike(sum, (double)((i * SF_CHOLESKY_WIDTH + c) % 7) - 3);
        }
    copy[300 * SIZE + 300] = -1;
    assert_int_equal(sf_cholesky(copy, SIZE, 1, NULL), SF_DATA);
    sf_free(matrix);
    sf_free(copy);
    sf_free(right);
}

/* A trough is judged by what lies below the median, a peak by what lies above. */
static void sides_have_nulls_of_their_own(void **state)
{
    (void)state;
    enum { COUNT = 2001 };
    test_random random = test_random_start("nulls", 7);
    double statistics[COUNT], scores[COUNT], confidence[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        double z = sqrt(-2 * log(1 - test_random_unit(&random))) *
                   cos(6.283185307179586 * test_random_unit(&random));
        statistics[i] = 1 + z * (z < 0 ? 0.5 : 2);
    }
    statistics[0] = 1 - 0.5 * 6, statistics[1] = 1 + 2 * 6, statistics[2] = 1 + 0.5 * 6;
    memcpy(scores, statistics, sizeof scores);
    sf_drive_null null = sf_drive_null_of(scores, COUNT);
    assert_true(fabs(null.median - 1) < 0.1 && fabs(null.below - 0.5) < 0.05 && fabs(null.above - 2) < 0.15);
    for (size_t i = 0; i < COUNT; i++)
        scores[i] = sf_drive_standardise(&null, statistics[i]);
    assert_int_equal(sf_drive_confidence(confidence, scores, COUNT, NULL), SF_OK);
    assert_true(confidence[0] > 0.999 && confidence[1] > 0.999 && confidence[2] < 0.5);
    size_t believed = 0;
    for (size_t i = 3; i < COUNT; i++)
        believed += confidence[i] >= 0.95;
    assert_true(believed <= 2);
}

/* Twelve units that fire alone, but: 0 excites 1, and 2 silences 3 for 10 ms. Unit 5 is slow. */
static sf_recording *record_signs(void)
{
    enum { SPIKES = 60000, UNITS = 12, SLOW = 5 };
    static sf_spike spikes[SPIKES];
    test_random random = test_random_start("signs", 11);
    size_t count = 0, kept = 0;
    int64_t silent_until = 0;
    for (int64_t ms = 0; ms < 240000; ms++)
        for (uint32_t unit = 0; unit < UNITS && count + 2 < SPIKES; unit++) {
            if (test_random_below(&random, unit == SLOW ? 4000 : 80) != 0) continue;
            spikes[count++] =
                (sf_spike){.time_ns = ms * MS + (int64_t)test_random_below(&random, MS), .unit = unit};
            if (unit == 0 && test_random_below(&random, 10) == 0)
                spikes[count++] = (sf_spike){.time_ns = (ms + 4) * MS, .unit = 1};
        }
    qsort(spikes, count, sizeof *spikes, by_time);
    for (size_t i = 0; i < count; i++) {
        if (spikes[i].unit == 2) silent_until = spikes[i].time_ns + 10 * MS;
        if (spikes[i].unit != 3 || spikes[i].time_ns >= silent_until) spikes[kept++] = spikes[i];
    }
    sf_recording *recording;
    sf_recording_input input = sf_recording_input_default();
    input.unit_count = UNITS;
    input.spikes = spikes;
    input.spike_count = kept;
    assert_int_equal(sf_recording_new(&recording, &input, NULL), SF_OK);
    return recording;
}

static void planted_signs_are_found(void **state)
{
    (void)state;
    sf_recording *recording = record_signs();
    for (int method = 0; method < SF_DRIVE_METHODS; method++) {
        sf_drive_options how = sf_drive_options_default();
        sf_graph *graph;
        how.method = (sf_drive_method)method;
        how.surrogates = 19;
        assert_int_equal(sf_graph_of_drive(&graph, recording, &how, NULL, NULL, NULL), SF_OK);
        sf_graph_columns all = {.size = sizeof all};
        sf_graph_get_columns(graph, &all);
        bool excites = false, inhibits = false;
        assert_in_range(all.link_count, 1, 8); /* what is planted, what follows of it, and little by chance */
        assert_true(all.is_signed && all.directed && !all.is_tiling && all.tested == SF_EDGES_TESTED);
        assert_int_equal(all.pairs_compared, 132);
        assert_in_range(all.troughs_hidden, 22, 30); /* those of the slow unit */
        for (size_t i = 0; i < all.link_count; i++) {
            assert_true(all.sign[i] * all.score[i] > 0 && all.confidence[i] >= 0.95);
            if (all.from[i] == 0 && all.to[i] == 1)
                excites = all.sign[i] == 1 && all.p[i] <= 1 / 20.0 && all.q[i] <= 1 / 20.0;
            if (all.from[i] == 2 && all.to[i] == 3)
                inhibits =
                    all.sign[i] == -1 && all.p[i] <= 1 / 20.0 && (double)all.count[i] < all.expected[i];
        }
        assert_true(excites);
        assert_true(inhibits || method == SF_DRIVE_TSPE); /* whose filters look for what is shorter */
        sf_graph_free(graph);
    }
    sf_recording_free(recording);
}

/* Twelve units, of which 1 follows 0, and 2 follows 1 whatever made that fire. */
static sf_recording *record_chain(void)
{
    enum { SPIKES = 60000, UNITS = 12 };
    static sf_spike spikes[SPIKES];
    test_random random = test_random_start("chain", 13);
    size_t count = 0;
    for (int64_t ms = 0; ms < 200000; ms++)
        for (uint32_t unit = 0; unit < UNITS && count + 3 < SPIKES; unit++) {
            if (test_random_below(&random, 100) != 0) continue;
            spikes[count++] = (sf_spike){.time_ns = ms * MS, .unit = unit};
            bool second = unit == 1;
            if (unit == 0 && test_random_below(&random, 2) == 0) {
                spikes[count++] = (sf_spike){.time_ns = (ms + 4) * MS, .unit = 1};
                second = true;
            }
            if (second && test_random_below(&random, 2) == 0)
                spikes[count++] = (sf_spike){.time_ns = (ms + (unit == 0 ? 8 : 4)) * MS, .unit = 2};
        }
    sf_recording *recording;
    sf_recording_input input = sf_recording_input_default();
    input.unit_count = UNITS;
    input.spikes = spikes;
    input.spike_count = count;
    assert_int_equal(sf_recording_new(&recording, &input, NULL), SF_OK);
    return recording;
}

static bool joins(const sf_graph_columns *all, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < all->link_count; i++)
        if (all->from[i] == from && all->to[i] == to) return true;
    return false;
}

/* What reaches a unit by way of another is a link for whoever looks at pairs, and none for the regression. */
static void what_goes_through_a_third_is_no_link(void **state)
{
    (void)state;
    sf_recording *recording = record_chain();
    for (int pairwise = 0; pairwise < 2; pairwise++) {
        sf_drive_options how = sf_drive_options_default();
        sf_graph *graph;
        how.method = pairwise ? SF_DRIVE_EXCESS : SF_DRIVE_REGRESSION;
        assert_int_equal(sf_graph_of_drive(&graph, recording, &how, NULL, NULL, NULL), SF_OK);
        sf_graph_columns all = {.size = sizeof all};
        sf_graph_get_columns(graph, &all);
        assert_true(joins(&all, 0, 1) && joins(&all, 1, 2));
        assert_int_equal(joins(&all, 0, 2), pairwise);
        sf_graph_free(graph);
    }
    sf_recording_free(recording);
}

/* With all pairs edges, those that are too slow for a trough say so. */
static void slow_pairs_have_no_trough(void **state)
{
    (void)state;
    sf_recording *recording = record_signs();
    sf_drive_options how = sf_drive_options_default();
    sf_graph *graph;
    sf_error error;
    how.max_false = 1;
    assert_int_equal(sf_graph_of_drive(&graph, recording, &how, NULL, NULL, NULL), SF_OK);
    sf_graph_columns all = {.size = sizeof all};
    sf_graph_get_columns(graph, &all);
    assert_int_equal(all.link_count, 132);
    assert_true(all.tested == SF_EDGES_UNTESTED);
    size_t said = 0;
    for (size_t i = 0; i < all.link_count; i++) {
        bool few = all.expected[i] < SF_DRIVE_LEAST_EXPECTED;
        assert_int_equal(all.not_tested[i] != NULL, few && all.sign[i] < 0);
        said += all.not_tested[i] != NULL;
        assert_true(isnan(all.p[i]) && isnan(all.q[i]));
    }
    assert_true(said > 0);
    sf_graph_free(graph);
    how.high_ns = 60 * MS;
    test_assert_fails(sf_graph_of_drive(&graph, recording, &how, NULL, NULL, &error), &error, SF_USAGE,
                      "50 ms");
    how.high_ns = 0;
    const sf_graph_options limits = {.size = sizeof limits, .max_q = 0.05};
    test_assert_fails(sf_graph_of_drive(&graph, recording, &how, &limits, NULL, &error), &error, SF_USAGE,
                      "needs surrogates");
    sf_recording_free(recording);
}

/* Trains so sparse that most pairs have no coincidence: one or two by chance are no edge, nor is chance
 * between two that fire often. */
static void few_coincidences_are_no_edges(void **state)
{
    (void)state;
    enum { UNITS = 10, SPIKES = 20 * UNITS, MORE = 8000, RECORDINGS = 100 };
    static sf_spike spikes[SPIKES + MORE];
    test_random random = test_random_start("sparse", 17);
    size_t with_edges[SF_DRIVE_METHODS] = {0};
    for (int round = 0; round < RECORDINGS; round++) {
        uint32_t count = round % 2 == 0 ? SPIKES : SPIKES + MORE;
        for (uint32_t i = 0; i < count; i++)
            spikes[i] = (sf_spike){.time_ns = (int64_t)test_random_below(&random, 600000) * MS,
                                   .unit = i % (i < SPIKES ? UNITS : 2)};
        qsort(spikes, count, sizeof *spikes, by_time);
        sf_recording_input input = sf_recording_input_default();
        sf_recording *recording;
        input.unit_count = UNITS;
        input.spikes = spikes;
        input.spike_count = count;
        assert_int_equal(sf_recording_new(&recording, &input, NULL), SF_OK);
        for (int method = 0; method < SF_DRIVE_METHODS; method++) {
            sf_drive_options how = sf_drive_options_default();
            sf_graph *graph;
            how.method = (sf_drive_method)method;
            assert_int_equal(sf_graph_of_drive(&graph, recording, &how, NULL, NULL, NULL), SF_OK);
            sf_graph_columns all = {.size = sizeof all};
            sf_graph_get_columns(graph, &all);
            with_edges[method] += all.link_count > 0;
            sf_graph_free(graph);
        }
        sf_recording_free(recording);
    }
    for (int method = 0; method < SF_DRIVE_METHODS; method++) {
        printf("method %d: edges in %zu of %d\n", method, with_edges[method], RECORDINGS);
        assert_in_range(with_edges[method], 0, 10);
    }
}

typedef struct listener {
    const char *stop_at; /* a step, or NULL */
    bool heard;
} listener;

static bool listen(void *user, const char *what, double done, double total)
{
    listener *l = user;
    bool here = l->stop_at != NULL && strcmp(what, l->stop_at) == 0;
    assert_true(done >= 0 && done <= total);
    l->heard = l->heard || here;
    return !here;
}

/* Each step says how far it is, and ends the work where it is asked to. */
static void every_step_can_be_stopped(void **state)
{
    (void)state;
    static const char *const steps[] = {"lags", "factors", "errors", "regression", "surrogates"};
    sf_recording *recording = record_signs();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        listener listening = {.stop_at = steps[i]};
        const sf_progress progress = {listen, &listening};
        sf_drive_options how = sf_drive_options_default();
        sf_graph *graph = NULL;
        how.surrogates = 1;
        assert_int_equal(sf_graph_of_drive(&graph, recording, &how, NULL, &progress, NULL), SF_CANCELLED);
        assert_true(listening.heard);
    }
    sf_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_are_their_definitions),
        cmocka_unit_test(triangles_give_the_matrix_back),
        cmocka_unit_test(sides_have_nulls_of_their_own),
        cmocka_unit_test(planted_signs_are_found),
        cmocka_unit_test(what_goes_through_a_third_is_no_link),
        cmocka_unit_test(slow_pairs_have_no_trough),
        cmocka_unit_test(few_coincidences_are_no_edges),
        cmocka_unit_test(every_step_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
