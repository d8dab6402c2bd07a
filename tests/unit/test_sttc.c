/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "oracle/sttc_oracle.h"

#include <math.h>

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12))
        fail_msg("found %.17g, expected %.17g", found, expected);
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
        if (i % 2 == 1)
            stream[i].time_ns = stream[i - 1].time_ns;
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
        assert_true(graph.links[i].to < UNITS - 1 && graph.links[i].p <= 11.0 / 201);
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

static int make_graph(void *context)
{
    const sf_sttc_options *options = context;
    static const sf_spike spikes[] = {{.time_ns = 1}, {.time_ns = 2, .unit = 1}, {.time_ns = 9, .unit = 2}};
    sf_unit_trains trains;
    sf_connectivity graph = {0};
    int status = sf_trains_split(&trains, spikes, 3, 3, NULL);
    if (status == SF_OK)
        status = sf_sttc_graph(&graph, &trains, options, NULL);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_values_come_out),
        cmocka_unit_test(random_trains_have_the_value_of_the_definition),
        cmocka_unit_test(every_pair_is_an_edge_on_any_number_of_threads),
        cmocka_unit_test(surrogates_keep_what_is_above_them),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
