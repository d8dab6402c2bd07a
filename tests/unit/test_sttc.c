/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "oracle/sttc_oracle.h"

#include <math.h>

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12)) fail_msg("found %.17g, expected %.17g", found, expected);
}

/* The coefficient of two trains, NaN where the graph has none. */
static double coefficient_of(sf_train a, sf_train b, int64_t dt_ns, sf_recorded recorded)
{
    sf_train items[] = {a, b};
    const sf_unit_trains trains = {.items = items, .count = 2};
    const sf_sttc_options options = {.dt_ns = dt_ns, .recorded = recorded, .threads = 1};
    sf_connectivity graph;
    assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
    double coefficient = graph.count == 1 ? graph.links[0].coefficient : NAN;
    sf_connectivity_free(&graph);
    return coefficient;
}

static void hand_values_come_out(void **state)
{
    (void)state;
    static const int64_t a[] = {1300000, 7560000, 15870000, 28230000, 30900000, 34200000, 38200000, 43200000};
    static const int64_t b[] = {1020000, 2710000, 18820000, 28460000, 28790000, 43600000};
    const sf_train x = {a, 8}, y = {b, 6}, none = {a, 0};
    const sf_recorded span = {0, 50000000};
    assert_near(coefficient_of(x, y, 5000000, span), 0.4958601655933762);
    test_assert_same(coefficient_of(x, y, 5000000, span), coefficient_of(y, x, 5000000, span));
    assert_near(coefficient_of(x, x, 5000000, span), 1);
    assert_true(isnan(coefficient_of(x, none, 5000000, span)));
    assert_true(isnan(coefficient_of(none, none, 5000000, span)));
    static const int64_t c[] = {1000, 2000, 3000, 4000, 5000}, d[] = {1500, 2500, 3500, 4500, 5500};
    const sf_train e = {c, 5}, f = {d, 5};
    assert_near(coefficient_of(e, f, 50, (sf_recorded){1000, 5500}),
                -0.1); /* half of a tile is cut off, and of the time */
    assert_near(coefficient_of(e, f, 50, (sf_recorded){750, 5750}), -0.1);
    assert_near(coefficient_of(e, e, 100000, (sf_recorded){1000, 5500}),
                1); /* everything tiled: 0 / 0 is 1 */
}

static size_t draw_train(test_random *random, int64_t *times, int64_t length)
{
    size_t count = test_random_below(random, 12);
    for (size_t i = 0; i < count; i++) {
        times[i] = (int64_t)test_random_below(random, (uint64_t)length + 1);
        for (size_t j = i; j > 0 && times[j] < times[j - 1]; j--) {
            int64_t swapped = times[j];
            times[j] = times[j - 1];
            times[j - 1] = swapped;
        }
    }
    return count;
}

static void random_trains_have_the_value_of_the_definition(void **state)
{
    (void)state;
    test_random random = test_random_start("sttc", 9);
    for (int round = 0; round < 3000; round++) {
        int64_t length = (int64_t)test_random_below(&random, 200) + 1, a[12], b[12];
        sf_train x = {a, draw_train(&random, a, length)}, y = {b, draw_train(&random, b, length)};
        int64_t dt = (int64_t)test_random_below(&random, round % 10 == 0 ? 300 : 12);
        double expected = sttc_oracle(x, y, dt, (sf_recorded){0, length});
        double found = coefficient_of(x, y, dt, (sf_recorded){0, length});
        if (isnan(expected))
            assert_true(isnan(found));
        else
            assert_near(found, expected);
    }
}

/* ---- spans of recorded time ---- */

enum { MOST_SPANS = 5, FEW_UNITS = 6 };

/* Spans of some length with pauses between them, some of none, and spikes in them, also at their ends. */
static size_t draw_spans(test_random *random, sf_span *spans)
{
    size_t count = 1 + test_random_below(random, MOST_SPANS);
    int64_t at = 0;
    for (size_t k = 0; k < count; k++) {
        at += (int64_t)test_random_below(random, 2) * (int64_t)test_random_below(random, 30);
        spans[k].start_ns = at;
        at += 1 + (int64_t)test_random_below(random, 120);
        spans[k].stop_ns = at;
    }
    return count;
}

static sf_unit_trains draw_trains(test_random *random, const sf_span *spans, size_t span_count)
{
    sf_spike stream[60];
    size_t count = 1 + test_random_below(random, 60);
    for (size_t i = 0; i < count; i++) {
        sf_span span = spans[test_random_below(random, span_count)];
        uint64_t length = (uint64_t)(span.stop_ns - span.start_ns);
        stream[i] = (sf_spike){.time_ns = span.start_ns + (int64_t)test_random_below(random, length + 1),
                               .unit = (uint32_t)test_random_below(random, FEW_UNITS)};
    }
    assert_int_equal(sf_spikes_sort(stream, count, NULL), SF_OK);
    sf_unit_trains trains;
    assert_int_equal(sf_trains_split(&trains, stream, count, FEW_UNITS, NULL), SF_OK);
    return trains;
}

static void spans_stand_alone(void **state)
{
    (void)state;
    test_random random = test_random_start("sttc in spans", 19);
    for (int round = 0; round < 1000; round++) {
        sf_span spans[MOST_SPANS];
        size_t span_count = draw_spans(&random, spans), place = 0;
        sf_unit_trains trains = draw_trains(&random, spans, span_count);
        const sf_sttc_options options = {.dt_ns = (int64_t)test_random_below(&random, 40),
                                         .recorded = {spans[0].start_ns, spans[span_count - 1].stop_ns},
                                         .observed = spans,
                                         .observed_count = span_count,
                                         .threads = 1 + (unsigned)round % 2};
        sf_connectivity graph;
        assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
        for (size_t a = 0; a < FEW_UNITS; a++)
            for (size_t b = a + 1; b < FEW_UNITS; b++) {
                double expected = sttc_oracle_in(trains.items[a], trains.items[b], &options);
                if (!isnan(expected)) assert_near(graph.links[place++].coefficient, expected);
            }
        assert_int_equal(graph.count, place);
        assert_int_equal(graph.pairs, place);
        sf_connectivity_free(&graph);
        sf_trains_free(&trains);
    }
}

/* p and q of the pairs that are edges, which are those above 0 with a p of 1 - percentile or less. */
static size_t compare_test(const sf_unit_trains *trains, const sf_sttc_options *options)
{
    enum { PAIRS = FEW_UNITS * (FEW_UNITS - 1) / 2 };
    double p[PAIRS], q[PAIRS];
    size_t place = 0, edge = 0;
    sf_connectivity graph;
    assert_int_equal(sf_sttc_graph(&graph, trains, options, NULL), SF_OK);
    sttc_oracle_test(p, q, trains, options);
    for (uint32_t a = 0; a < FEW_UNITS; a++)
        for (uint32_t b = a + 1; b < FEW_UNITS; b++) {
            double value = sttc_oracle_in(trains->items[a], trains->items[b], options);
            if (isnan(value)) continue;
            bool is_edge = value > 0 && p[place] <= 1 - options->percentile + 1e-9;
            const sf_link *link = &graph.links[edge];
            assert_true(is_edge == (edge < graph.count && link->from == a && link->to == b));
            if (is_edge) {
                assert_near(link->p, p[place]);
                assert_near(link->q, q[place]);
                edge++;
            }
            place++;
        }
    assert_int_equal(edge, graph.count);
    sf_connectivity_free(&graph);
    return edge;
}

static void p_and_q_are_those_of_all_surrogates(void **state)
{
    (void)state;
    test_random random = test_random_start("sttc surrogates", 20);
    size_t edges = 0;
    for (int round = 0; round < 60; round++) {
        sf_span spans[MOST_SPANS];
        size_t span_count = draw_spans(&random, spans);
        sf_unit_trains trains = draw_trains(&random, spans, span_count);
        const sf_sttc_options options = {.dt_ns = 1 + (int64_t)test_random_below(&random, 6),
                                         .recorded = {spans[0].start_ns, spans[span_count - 1].stop_ns},
                                         .observed = spans,
                                         .observed_count = span_count,
                                         .surrogates = 19,
                                         .percentile = 0.5,
                                         .seed = (uint64_t)round,
                                         .threads = 1 + (unsigned)round % 3};
        edges += compare_test(&trains, &options);
        sf_trains_free(&trains);
    }
    printf("%zu edges compared\n", edges);
    assert_true(edges > 100);
}

/* Units that have nothing to do with each other but that all fire more in every other epoch. */
static sf_unit_trains trains_by_epoch(size_t units, const sf_span *spans, size_t span_count)
{
    test_random random = {8};
    size_t count = 0;
    sf_spike *stream = calloc(units * span_count * 90, sizeof *stream);
    for (uint32_t u = 0; u < units; u++)
        for (size_t k = 0; k < span_count; k++)
            for (size_t i = 0; i < (k % 2 == 0 ? 10 : 80); i++)
                stream[count++] =
                    (sf_spike){.time_ns = spans[k].start_ns +
                                          (int64_t)test_random_below(
                                              &random, (uint64_t)(spans[k].stop_ns - spans[k].start_ns)),
                               .unit = u};
    assert_int_equal(sf_spikes_sort(stream, count, NULL), SF_OK);
    sf_unit_trains trains;
    assert_int_equal(sf_trains_split(&trains, stream, count, units, NULL), SF_OK);
    free(stream);
    return trains;
}

/* By a shift over all epochs nearly all pairs would be edges. */
static void rates_that_differ_by_epoch_are_no_coupling(void **state)
{
    (void)state;
    enum { UNITS = 24, EPOCHS = 8, LENGTH = 10000000 };
    sf_span spans[EPOCHS];
    for (size_t k = 0; k < EPOCHS; k++)
        spans[k] = (sf_span){(int64_t)k * LENGTH, (int64_t)(k + 1) * LENGTH};
    sf_unit_trains trains = trains_by_epoch(UNITS, spans, EPOCHS);
    sf_sttc_options options = {.dt_ns = 30000,
                               .recorded = {0, (int64_t)EPOCHS * LENGTH},
                               .observed = spans,
                               .observed_count = EPOCHS,
                               .surrogates = 199,
                               .percentile = 0.95,
                               .seed = 1,
                               .threads = 2};
    sf_connectivity graph;
    assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
    assert_in_range(graph.count, 1, 25); /* of 276 pairs, 14 by chance */
    assert_near(sf_connectivity_by_chance(&graph, (sf_limits){0, 0}), 276 * 0.05);
    assert_near(sf_connectivity_by_chance(&graph, (sf_limits){.max_p = 0.01}), 276 * 0.01);
    assert_true(isnan(sf_connectivity_by_chance(&graph, (sf_limits){.max_q = 0.05})));
    sf_connectivity_keep(&graph, (sf_limits){.max_q = 0.05});
    assert_int_equal(graph.count, 0);
    sf_connectivity_free(&graph);
    options.observed_count = 0;
    assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
    assert_in_range(graph.count, 100, 276);
    sf_connectivity_free(&graph);
    sf_trains_free(&trains);
}

static sf_unit_trains make_trains(size_t units, size_t spikes, uint64_t seed, int64_t length)
{
    test_random random = {seed};
    sf_spike *stream = calloc(spikes, sizeof *stream);
    for (size_t i = 0; i < spikes; i++)
        stream[i] =
            (sf_spike){.time_ns = (int64_t)test_random_below(&random, (uint64_t)length),
                       .unit = (uint32_t)test_random_below(&random, units - 1)}; /* the last is silent */
    for (size_t i = spikes / 2; i < spikes; i++) {                               /* unit 1 follows unit 0 */
        stream[i].unit = i % 2 == 0 ? 0 : 1;
        if (i % 2 == 1) stream[i].time_ns = stream[i - 1].time_ns;
    }
    assert_int_equal(sf_spikes_sort(stream, spikes, NULL), SF_OK);
    sf_unit_trains trains;
    assert_int_equal(sf_trains_split(&trains, stream, spikes, units, NULL), SF_OK);
    free(stream);
    return trains;
}

static void every_pair_is_an_edge_on_any_number_of_threads(void **state)
{
    (void)state;
    enum { UNITS = 9 };
    sf_unit_trains trains = make_trains(UNITS, 400, 4, 100000);
    sf_sttc_options options = {.dt_ns = 50, .recorded = {0, 100000}};
    for (options.threads = 1; options.threads <= 3; options.threads++) {
        sf_connectivity graph;
        size_t place = 0;
        assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
        for (uint32_t a = 0; a + 1 < UNITS; a++)
            for (uint32_t b = a + 1; b + 1 < UNITS; b++, place++) {
                assert_int_equal(graph.links[place].from, a);
                assert_int_equal(graph.links[place].to, b);
                test_assert_same(graph.links[place].coefficient,
                                 coefficient_of(trains.items[a], trains.items[b], 50, options.recorded));
            }
        assert_int_equal(graph.count, place);
        sf_connectivity_free(&graph);
    }
    sf_connectivity graph;
    sf_error error = {0};
    options.recorded.stop_ns = 10;
    test_assert_fails(sf_sttc_graph(&graph, &trains, &options, &error), &error, SF_DATA, "outside");
    options.recorded.stop_ns = 0;
    test_assert_fails(sf_sttc_graph(&graph, &trains, &options, &error), &error, SF_DATA, "empty");
    sf_trains_free(&trains);
}

/* The planted pair is an edge; of the independent pairs about one in twenty passes its own threshold. */
static void surrogates_keep_what_is_above_them(void **state)
{
    (void)state;
    enum { UNITS = 30 };
    sf_unit_trains trains = make_trains(UNITS, 6000, 6, 10000000);
    sf_sttc_options options = {.dt_ns = 500,
                               .recorded = {0, 10000000},
                               .surrogates = 200,
                               .percentile = 0.95,
                               .seed = 1,
                               .threads = 2};
    sf_connectivity graph, again;
    assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
    assert_true(graph.is_tiling);
    assert_int_equal(graph.links[0].from, 0);
    assert_int_equal(graph.links[0].to, 1);
    test_assert_same(graph.links[0].p, 1.0 / 201);
    test_assert_same(graph.links[0].coefficient,
                     coefficient_of(trains.items[0], trains.items[1], 500, options.recorded));
    assert_in_range(graph.count, 5, 50); /* of 406 pairs with spikes, 20 by chance */
    for (size_t i = 0; i < graph.count; i++)
        assert_true(graph.links[i].to < UNITS - 1 && graph.links[i].p <= 10.0 / 201);
    options.threads = 1;
    assert_int_equal(sf_sttc_graph(&again, &trains, &options, NULL), SF_OK);
    assert_int_equal(again.count, graph.count);
    for (size_t i = 0; i < graph.count; i++)
        test_assert_same(again.links[i].p, graph.links[i].p);
    sf_connectivity_free(&again);
    options.surrogates = 0;
    assert_int_equal(sf_sttc_graph(&again, &trains, &options, NULL), SF_OK);
    assert_int_equal(again.count, 29 * 28 / 2);
    sf_connectivity_free(&again);
    sf_connectivity_free(&graph);
    sf_trains_free(&trains);
}

/* The greatest coefficient of all is significant, and no pair by chance. */
static void q_keeps_what_no_pair_has_by_chance(void **state)
{
    (void)state;
    sf_unit_trains trains = make_trains(20, 4000, 6, 10000000);
    const sf_sttc_options options = {.dt_ns = 500,
                                     .recorded = {0, 10000000},
                                     .surrogates = 200,
                                     .percentile = 0.95,
                                     .seed = 1,
                                     .threads = 2};
    sf_connectivity graph;
    assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
    assert_true(graph.count > 1);
    sf_connectivity_keep(&graph, (sf_limits){.max_q = 0.05});
    assert_int_equal(graph.count, 1);
    assert_true(graph.links[0].from == 0 && graph.links[0].to == 1);
    test_assert_same(graph.links[0].q, 1.0 / 201);
    sf_connectivity_free(&graph);
    sf_trains_free(&trains);
}

static int make_graph(void *context)
{
    const sf_sttc_options *options = context;
    static const sf_spike spikes[] = {{.time_ns = 1}, {.time_ns = 2, .unit = 1}, {.time_ns = 9, .unit = 2}};
    sf_unit_trains trains;
    sf_connectivity graph = {0};
    int status = sf_trains_split(&trains, spikes, 3, 3, NULL);
    if (status == SF_OK) status = sf_sttc_graph(&graph, &trains, options, NULL);
    sf_connectivity_free(&graph);
    sf_trains_free(&trains);
    return status;
}

static bool stop(void *user, const char *what, double done, double total)
{
    (void)user;
    (void)what;
    return done < total / 2;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_sttc_options options = {
        .dt_ns = 2, .recorded = {0, 10}, .surrogates = 4, .percentile = 0.5, .threads = 1};
    test_fail_every_allocation(make_graph, &options);
    const sf_progress progress = {.update = stop};
    options.progress = &progress;
    assert_int_equal(make_graph(&options), SF_CANCELLED);
    bool stopped = false;
    options.stopped = &stopped;
    assert_int_equal(make_graph(&options), SF_OK);
    assert_true(stopped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_values_come_out),
        cmocka_unit_test(random_trains_have_the_value_of_the_definition),
        cmocka_unit_test(every_pair_is_an_edge_on_any_number_of_threads),
        cmocka_unit_test(surrogates_keep_what_is_above_them),
        cmocka_unit_test(spans_stand_alone),
        cmocka_unit_test(p_and_q_are_those_of_all_surrogates),
        cmocka_unit_test(rates_that_differ_by_epoch_are_no_coupling),
        cmocka_unit_test(q_keeps_what_no_pair_has_by_chance),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
