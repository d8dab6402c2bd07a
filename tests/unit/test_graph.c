/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of synfire/graph.h. */
#include "support/support.h"

#include "analysis/graph.h"
#include "analysis/links.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/recording.h"
#include "oracle/bfs_oracle.h"

#include <math.h>

/* ---- what the tests are made of ---- */

/* Zeroed columns with their size set. */
#define COLUMNS(name, type, of, get)                                                                         \
    type name = {.size = sizeof name};                                                                       \
    get(of, &name)

static sf_graph *draw_graph(test_random *random, uint32_t vertices, size_t edges, bool directed)
{
    uint32_t *ends = calloc(2 * edges, sizeof *ends);
    for (size_t i = 0; i < 2 * edges; i++)
        ends[i] = (uint32_t)test_random_below(random, vertices);
    const sf_graph_edges list = {.size = sizeof list,
                                 .vertex_count = vertices,
                                 .directed = directed,
                                 .count = edges,
                                 .from = ends,
                                 .to = ends + edges};
    sf_graph_options options = sf_graph_options_default();
    options.parallel = SF_PARALLEL_DROP;
    sf_graph *graph;
    assert_int_equal(sf_graph_new(&graph, &list, &options, NULL), SF_OK);
    free(ends);
    return graph;
}

/* Five units on a line, 100 um apart; unit 1 follows unit 0 after 5 ms, and all else is chance. */
static void record(sf_recording *recording, test_random *random, bool declared)
{
    *recording = (sf_recording){.declared = declared};
    for (int u = 0; u < 5; u++)
        assert_int_equal(sf_units_add(&recording->units,
                                      &(sf_unit){.x_um = 100.0 * u, .y_um = 0, .electrode = u / 2}, NULL),
                         SF_OK);
    assert_int_equal(sf_units_finish(&recording->units, NULL), SF_OK);
    recording->spikes = sf_alloc(800, sizeof *recording->spikes);
    for (int k = 0; k < 200; k++) {
        int64_t start = k * INT64_C(100000000) + (int64_t)test_random_below(random, 30000000);
        recording->spikes[recording->spike_count++] = (sf_spike){.time_ns = start, .unit = 0};
        recording->spikes[recording->spike_count++] = (sf_spike){.time_ns = start + 5000000, .unit = 1};
        recording->spikes[recording->spike_count++] =
            (sf_spike){.time_ns = start + 6000000 + (int64_t)test_random_below(random, 60000000),
                       .unit = 2 + (uint32_t)test_random_below(random, 3)};
    }
    if (declared) recording->recorded = (sf_span){-1000000, INT64_C(20500000000)};
    assert_int_equal(sf_recording_finish(recording, NULL), SF_OK);
}

static bool refuse(void *user, const char *what, double done, double total)
{
    assert_true(what[0] != '\0' && done <= total);
    int *left = user;
    return --*left > 0;
}

/* ---- making and reading ---- */

static void edges_in_memory_become_sorted_lists(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "b"};
    static const uint32_t from[] = {0, 0, 2, 1, 0, 2}, to[] = {2, 1, 2, 0, 1, 0};
    const sf_graph_edges edges = {.size = sizeof edges,
                                  .vertex_count = 4,
                                  .directed = true,
                                  .names = names,
                                  .count = 6,
                                  .from = from,
                                  .to = to};
    sf_graph *graph;
    assert_int_equal(sf_graph_new(&graph, &edges, NULL, NULL), SF_OK);
    COLUMNS(all, sf_graph_columns, graph, sf_graph_get_columns);
    assert_true(all.directed && all.vertex_count == 4 && all.edge_count == 6 && all.link_count == 0);
    static const uint64_t offsets[] = {0, 3, 4, 6, 6};
    static const uint32_t targets[] = {1, 1, 2, 0, 0, 2};
    assert_memory_equal(all.offsets, offsets, sizeof offsets);
    assert_memory_equal(all.targets, targets, sizeof targets);
    assert_string_equal(all.names[2], "c");
    uint32_t vertex = 9;
    sf_error error;
    assert_int_equal(sf_graph_find(graph, "c", &vertex, NULL), SF_OK);
    assert_int_equal(vertex, 2);
    test_assert_fails(sf_graph_find(graph, "b", &vertex, &error), &error, SF_USAGE, "several vertices");
    sf_graph_free(graph);

    sf_graph_options options = sf_graph_options_default();
    options.parallel = SF_PARALLEL_DROP;
    options.drop_loops = options.undirected = true;
    assert_int_equal(sf_graph_new(&graph, &edges, &options, NULL), SF_OK);
    sf_graph_get_columns(graph, &all);
    static const uint32_t both[] = {1, 2, 0, 0};
    assert_true(!all.directed && all.edge_count == 4);
    assert_memory_equal(all.targets, both, sizeof both);
    sf_graph_free(graph);
    sf_graph_free(NULL);
}

static void edges_that_carry_values_stay_apart(void **state)
{
    (void)state;
    static const uint32_t from[] = {0, 0}, to[] = {1, 1}, labels[] = {7, 8};
    static const double weights[] = {2, 5};
    sf_graph_edges edges = {.size = sizeof edges,
                            .vertex_count = 2,
                            .directed = true,
                            .labels = labels,
                            .count = 2,
                            .from = from,
                            .to = to};
    sf_graph_options options = sf_graph_options_default();
    options.parallel = SF_PARALLEL_WITH_VALUES;
    for (int weighted = 0; weighted < 2; weighted++) {
        sf_graph *graph;
        edges.weights = weighted ? weights : NULL;
        assert_int_equal(sf_graph_new(&graph, &edges, &options, NULL), SF_OK);
        COLUMNS(all, sf_graph_columns, graph, sf_graph_get_columns);
        assert_int_equal(all.edge_count, 1 + weighted);
        sf_motif *motif;
        assert_int_equal(sf_motif_new(&motif, "A -> B [weight > 4]; A.label = 7", false, NULL), SF_OK);
        assert_true(sf_motif_is_directed(motif));
        sf_matches *matches;
        sf_error error;
        int status = sf_graph_match(&matches, graph, motif, NULL, NULL, &error);
        if (weighted) {
            assert_int_equal(status, SF_OK);
            COLUMNS(found, sf_matches_columns, matches, sf_matches_get_columns);
            assert_int_equal(found.count, 1);
        } else {
            test_assert_fails(status, &error, SF_USAGE, "weight");
            assert_null(matches);
        }
        sf_matches_free(matches);
        sf_motif_free(motif);
        sf_graph_free(graph);
    }
}

static void bad_edges_and_options_are_refused(void **state)
{
    (void)state;
    static const uint32_t from[] = {0}, to[] = {3};
    sf_graph_edges edges = {.size = sizeof edges, .vertex_count = 3, .count = 1, .from = from, .to = to};
    sf_graph *graph;
    sf_error error;
    test_assert_fails(sf_graph_new(&graph, &edges, NULL, &error), &error, SF_DATA, NULL);
    assert_null(graph);
    sf_graph_options options = sf_graph_options_default();
    options.size = 1;
    edges.count = 0;
    test_assert_fails(sf_graph_new(&graph, &edges, &options, &error), &error, SF_USAGE, "size");
    options = sf_graph_options_default();
    options.directed = options.undirected = true;
    test_assert_fails(sf_graph_new(&graph, &edges, &options, &error), &error, SF_USAGE, "excludes");
    test_assert_fails(sf_graph_kronecker(&graph, "40:1:1", NULL, NULL, &error), &error, SF_USAGE, "scale");
    assert_null(graph);
}

/* ---- graphs of recordings ---- */

static void tiling_links_are_columns(void **state)
{
    (void)state;
    test_random random = test_random_start("tiling", 5);
    for (int declared = 0; declared < 2; declared++) {
        sf_recording recording;
        record(&recording, &random, declared);
        sf_tiling_options tiling = sf_tiling_options_default();
        assert_true(tiling.half_width_ns == 50000000 && tiling.surrogates == 200 && tiling.seed == 1);
        tiling.half_width_ns = 10000000;
        tiling.surrogates = 0;
        sf_graph *graph;
        assert_int_equal(sf_graph_of_tiling(&graph, &recording, &tiling, NULL, NULL, NULL), SF_OK);
        COLUMNS(all, sf_graph_columns, graph, sf_graph_get_columns);
        assert_true(all.is_tiling && !all.directed && all.link_count == 10 && all.edge_count == 20);
        size_t best = 0;
        for (size_t i = 0; i < all.link_count; i++) {
            assert_true(all.from[i] < all.to[i] && isnan(all.p[i]) && isnan(all.q[i]) &&
                        isnan(all.expected[i]) && isnan(all.asymmetry[i]) && all.low_ns[i] == 0 &&
                        all.high_ns[i] == 10000000);
            assert_int_equal(all.one_electrode[i], all.from[i] / 2 == all.to[i] / 2);
            best = all.weight[i] > all.weight[best] ? i : best;
        }
        assert_true(all.from[best] == 0 && all.to[best] == 1);
        assert_true(all.x_um[4] == 400 && all.y_um[4] == 0);
        test_assert_same(all.rates_hz[0], 200 / ((double)sf_recording_duration_ns(&recording) * 1e-9));

        double within[10]; /* the whole again, as parts are taken */
        assert_int_equal(sf_graph_tiling_in(within, graph, &recording, NULL), SF_OK);
        assert_memory_equal(within, all.weight, sizeof within);

        sf_graph *far; /* 100 um apart are four pairs */
        tiling.min_distance_um = 150;
        assert_int_equal(sf_graph_of_tiling(&far, &recording, &tiling, NULL, NULL, NULL), SF_OK);
        sf_graph_get_columns(far, &all);
        assert_int_equal(all.link_count, 6);
        sf_graph_free(far);
        sf_graph_free(graph);
        sf_recording_clear(&recording);
    }
}

static void what_tiling_cannot_do_is_said(void **state)
{
    (void)state;
    test_random random = test_random_start("tiling refused", 6);
    sf_recording recording, few = {0};
    record(&recording, &random, true);
    sf_tiling_options tiling = sf_tiling_options_default();
    sf_graph *graph;
    sf_error error;
    tiling.percentile = 95;
    test_assert_fails(sf_graph_of_tiling(&graph, &recording, &tiling, NULL, NULL, &error), &error, SF_USAGE,
                      "from 0 to 1");
    tiling = sf_tiling_options_default();
    tiling.min_distance_um = 10;
    assert_int_equal(sf_units_add(&few.units, &(sf_unit){.x_um = NAN, .y_um = NAN}, NULL), SF_OK);
    test_assert_fails(sf_graph_of_tiling(&graph, &few, &tiling, NULL, NULL, &error), &error, SF_USAGE,
                      "positions");
    assert_null(graph);
    tiling.surrogates = 20;
    tiling.min_distance_um = 0;
    assert_int_equal(sf_graph_of_tiling(&graph, &recording, &tiling, NULL, NULL, NULL), SF_OK);
    double none[1];
    test_assert_fails(sf_graph_tiling_in(none, graph, &few, &error), &error, SF_USAGE, "1 units");
    sf_graph_free(graph);
    graph = draw_graph(&random, 5, 5, true);
    test_assert_fails(sf_graph_tiling_in(none, graph, &recording, &error), &error, SF_USAGE, "not one");
    sf_graph_free(graph);
    sf_recording_clear(&few);
    sf_recording_clear(&recording);
}

static sf_link link_of(uint32_t from, uint32_t to, int64_t high_ms, uint64_t count, double expected)
{
    return (sf_link){.from = from,
                     .to = to,
                     .delay = {0, high_ms * SF_MILLISECOND},
                     .count = count,
                     .expected = expected,
                     .p = NAN,
                     .q = 0.5,
                     .expected_given_rest = NAN};
}

static sf_graph *link_units(const sf_recording *recording, const sf_graph_options *options)
{
    const sf_link links[] = {link_of(0, 1, 5, 30, 10), link_of(1, 0, 5, 10, 10), link_of(0, 1, 9, 40, 1),
                             link_of(1, 2, 5, 20, 2)};
    sf_connectivity connectivity;
    sf_graph *graph;
    assert_int_equal(sf_connectivity_build(&connectivity, 5, links, 4, NULL), SF_OK);
    assert_int_equal(sf_graph_of_links(&graph, &connectivity, recording, options, NULL), SF_OK);
    return graph;
}

/* Edges without a verdict are left out too; a reverse link that is left out still tells its asymmetry. */
static void limits_leave_out_what_a_test_did(void **state)
{
    (void)state;
    test_random random = test_random_start("limits", 9);
    sf_recording recording;
    record(&recording, &random, true);
    sf_link links[] = {link_of(0, 1, 5, 30, 10), link_of(1, 0, 5, 10, 10), link_of(1, 2, 5, 20, 2),
                       link_of(3, 4, 5, 8, 2)};
    const double p[] = {0.001, 0.2, 0.02, NAN}, q[] = {0.01, 0.9, 0.05, NAN};
    for (int i = 0; i < 4; i++)
        links[i].p = p[i], links[i].q = q[i];
    static const struct {
        double max_p, max_q;
        size_t kept;
    } cases[] = {{0, 0, 4}, {0, 0.05, 2}, {0, 0.9, 3}, {0.01, 0, 1}, {0.02, 0.01, 1}, {0.0001, 1, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sf_graph_options options = sf_graph_options_default();
        options.max_p = cases[k].max_p, options.max_q = cases[k].max_q;
        sf_connectivity connectivity;
        sf_graph *graph;
        assert_int_equal(sf_connectivity_build(&connectivity, 5, links, 4, NULL), SF_OK);
        assert_int_equal(sf_graph_of_links(&graph, &connectivity, &recording, &options, NULL), SF_OK);
        COLUMNS(all, sf_graph_columns, graph, sf_graph_get_columns);
        assert_true(all.link_count == cases[k].kept && all.edge_count == cases[k].kept &&
                    all.links_found == 4);
        assert_true(cases[k].kept == 0 || (all.asymmetry[0] == 0.5 && all.q[0] == 0.01));
        assert_true(cases[k].kept == 0 || (all.ratio_low[0] < 3 && all.ratio_high[0] > 3));
        if (cases[k].kept > 0)
            assert_int_equal(all.tested, cases[k].kept < 3 ? SF_EDGES_SIGNIFICANT : SF_EDGES_TESTED);
        sf_graph_free(graph);
    }
    sf_recording_clear(&recording);

    static const uint32_t from[] = {0}, to[] = {1};
    const sf_graph_edges edges = {
        .size = sizeof edges, .vertex_count = 2, .directed = true, .count = 1, .from = from, .to = to};
    sf_graph_options options = sf_graph_options_default();
    options.max_q = 0.05;
    sf_graph *graph;
    sf_error error;
    test_assert_fails(sf_graph_new(&graph, &edges, &options, &error), &error, SF_USAGE, "have no q");
    assert_string_equal(error.place, "max_q");
}

static void links_keep_what_a_simple_graph_drops(void **state)
{
    (void)state;
    test_random random = test_random_start("links", 7);
    sf_recording recording;
    record(&recording, &random, true);
    sf_graph_options simple = {.size = sizeof simple, .parallel = SF_PARALLEL_DROP, .drop_loops = true};
    sf_graph *graph = link_units(&recording, &simple);
    COLUMNS(all, sf_graph_columns, graph, sf_graph_get_columns);
    assert_true(!all.is_tiling && all.directed && all.link_count == 4 && all.edge_count == 3);
    static const double weights[] = {20, 39, 0, 18};
    static const uint64_t counts[] = {30, 40, 10, 20};
    assert_memory_equal(all.weight, weights, sizeof weights);
    assert_memory_equal(all.count, counts, sizeof counts);
    test_assert_same(all.asymmetry[0], 0.5);
    test_assert_same(all.asymmetry[2], -0.5);
    assert_true(isnan(all.asymmetry[1]) && isnan(all.asymmetry[3])); /* no reverse of that delay */
    assert_true(all.q[3] == 0.5 && isnan(all.p[3]));

    const uint32_t source = 0;
    sf_searches *searches;
    assert_int_equal(sf_graph_search(&searches, graph, &source, 1, NULL, NULL, NULL), SF_OK);
    COLUMNS(found, sf_searches_columns, searches, sf_searches_get_columns);
    assert_true(found.reached[0] == 3 && found.depth[0] == 2);
    assert_true(found.path_high_ns[1] == 5 * SF_MILLISECOND && found.path_high_ns[2] == 10 * SF_MILLISECOND &&
                found.path_low_ns[2] == 0);
    sf_searches_free(searches);
    sf_graph_free(graph);

    simple.undirected = true;
    graph = link_units(&recording, &simple);
    assert_int_equal(sf_graph_search(&searches, graph, &source, 1, NULL, NULL, NULL), SF_OK);
    sf_searches_get_columns(searches, &found);
    assert_null(found.path_high_ns); /* against the direction a link has no delay */
    sf_searches_free(searches);
    sf_graph_free(graph);
    sf_recording_clear(&recording);
}

/* The same links, whether mined and tested, or counted. */
static void pairs_among_episodes_are_edges(void **state)
{
    (void)state;
    test_random random = test_random_start("episodes", 14);
    sf_recording recording;
    record(&recording, &random, true);
    const sf_delay delay = {4000000, 6000000};
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 20;
    sf_mining_options mining = sf_mining_options_default();
    mining.delays = &delay;
    mining.delay_count = 1;
    mining.threshold = 2;
    mining.max_size = 3;
    mining.significance = &test;
    sf_episodes *found, *counted;
    assert_int_equal(sf_mine(&found, &recording, &mining, NULL, NULL), SF_OK);
    sf_episodes_columns of = {.size = sizeof of};
    sf_episodes_get_columns(found, &of);
    assert_int_equal(sf_count(&counted, &recording, of.episodes, of.count, NULL, NULL, NULL), SF_OK);
    sf_graph *mined, *given;
    assert_int_equal(sf_graph_of_episodes(&mined, found, NULL, NULL), SF_OK);
    assert_int_equal(sf_graph_of_episodes(&given, counted, NULL, NULL), SF_OK);
    COLUMNS(a, sf_graph_columns, mined, sf_graph_get_columns);
    COLUMNS(b, sf_graph_columns, given, sf_graph_get_columns);
    size_t pairs = 0;
    for (size_t i = 0; i < of.count; i++) {
        if (of.episodes[i].size != 2) continue;
        size_t link = 0;
        while (a.from[link] != of.episodes[i].units[0] || a.to[link] != of.episodes[i].units[1])
            assert_true(++link < a.link_count);
        assert_true(a.count[link] == of.counts[i] && a.low_ns[link] == delay.low_ns);
        test_assert_same(a.expected[link], of.expected[i]);
        test_assert_same(a.p[link], of.p[i]);
        test_assert_same(a.q[link], of.q[i]);
        test_assert_same(a.expected_given_rest[link], of.expected_given_rest[i]);
        test_assert_same(a.weight[link], (double)of.counts[i] - of.expected[i]);
        pairs++;
    }
    assert_true(pairs > 2 && a.link_count == pairs && b.link_count == pairs && !isnan(a.p[0]));
    for (size_t i = 0; i < pairs; i++)
        assert_true(b.from[i] == a.from[i] && b.to[i] == a.to[i] && b.count[i] == a.count[i] &&
                    isnan(b.p[i]) && isnan(b.expected_given_rest[i]) && b.not_tested[i] == NULL);
    sf_graph_free(mined);
    sf_graph_free(given);
    sf_episodes_free(counted);
    sf_episodes_free(found);

    const sf_episode twice[] = {{.size = 2, .units = {0, 1}, .delays = {{0, 5000000}}},
                                {.size = 2, .units = {0, 1}, .delays = {{0, 5000000}}}};
    sf_error error;
    assert_int_equal(sf_count(&counted, &recording, twice, 2, NULL, NULL, NULL), SF_OK);
    test_assert_fails(sf_graph_of_episodes(&given, counted, NULL, &error), &error, SF_DATA, "same delay");
    assert_null(given);
    sf_episodes_free(counted);
    sf_recording_clear(&recording);
}

/* ---- searching ---- */

static void searches_are_right_one_by_one_and_together(void **state)
{
    (void)state;
    test_random random = test_random_start("searches", 8);
    for (int round = 0; round < 20; round++) {
        bool directed = round % 2 == 0;
        uint32_t vertices = 1 + (uint32_t)test_random_below(&random, 60), sources[7];
        sf_graph *graph = draw_graph(&random, vertices, vertices + test_random_below(&random, 100), directed);
        for (int i = 0; i < 7; i++)
            sources[i] = (uint32_t)test_random_below(&random, vertices);
        sf_search_options options = sf_search_options_default();
        options.device = "cpu";
        options.parents = true;
        sf_searches *many;
        assert_int_equal(sf_graph_search(&many, graph, sources, 7, &options, NULL, NULL), SF_OK);
        COLUMNS(together, sf_searches_columns, many, sf_searches_get_columns);
        assert_true(together.source_count == 7 && together.vertex_count == vertices && together.edges == 0);
        for (int i = 0; i < 7; i++) {
            sf_searches *one;
            options.direction = (sf_bfs_direction)(i % 3);
            options.repeat = 1 + (uint32_t)i % 2;
            assert_int_equal(sf_graph_search(&one, graph, &sources[i], 1, &options, NULL, NULL), SF_OK);
            COLUMNS(alone, sf_searches_columns, one, sf_searches_get_columns);
            sf_bfs_result as_result = {.levels = (uint32_t *)alone.levels,
                                       .parents = (uint32_t *)alone.parents,
                                       .reached = alone.reached[0],
                                       .edges = alone.edges,
                                       .depth = alone.depth[0],
                                       .level_sizes = (uint64_t *)alone.level_sizes};
            assert_null(bfs_oracle_check(&graph->csr, sources[i], &as_result));
            assert_memory_equal(together.levels + (size_t)i * vertices, alone.levels,
                                vertices * sizeof *alone.levels);
            assert_true(together.reached[i] == alone.reached[0] && together.depth[i] == alone.depth[0]);
            assert_memory_equal(together.level_sizes + together.first_size[i], alone.level_sizes,
                                (alone.depth[0] + 1) * sizeof *alone.level_sizes);
            as_result.parents = (uint32_t *)together.parents + (size_t)i * vertices;
            assert_null(bfs_oracle_check(&graph->csr, sources[i], &as_result));
            assert_string_equal(alone.ran->device, "cpu");
            sf_searches_free(one);
        }
        uint32_t *reached = malloc(vertices * sizeof *reached), *depth = malloc(vertices * sizeof *depth),
                 *component = malloc(vertices * sizeof *component);
        assert_int_equal(sf_graph_reach_all(graph, UINT32_MAX, 2, reached, depth, NULL, NULL), SF_OK);
        for (int i = 0; i < 7; i++)
            assert_true(reached[sources[i]] == together.reached[i] && depth[sources[i]] == together.depth[i]);
        uint32_t components = sf_graph_components(graph, component), smallest = 0;
        for (uint32_t v = 0; v < vertices; v++)
            smallest += component[v] == v;
        assert_int_equal(components, smallest);
        free(reached);
        free(depth);
        free(component);
        sf_searches_free(many);
        sf_graph_free(graph);
    }
    sf_searches_free(NULL);
}

static void searches_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    test_random random = test_random_start("refused searches", 9);
    sf_graph *graph = draw_graph(&random, 10, 20, true);
    const uint32_t sources[] = {3, 10};
    sf_search_options options = sf_search_options_default();
    sf_searches *searches;
    sf_error error;
    test_assert_fails(sf_graph_search(&searches, graph, sources, 2, NULL, NULL, &error), &error, SF_USAGE,
                      "no vertex 10");
    assert_null(searches);
    test_assert_fails(sf_graph_search(&searches, graph, sources, 0, NULL, NULL, &error), &error, SF_USAGE,
                      NULL);
    options.enterprise = true;
    options.device = "cpu";
    test_assert_fails(sf_graph_search(&searches, graph, sources, 1, &options, NULL, &error), &error, SF_USAGE,
                      "GPU");
    assert_string_equal(error.place, "features");
    options = sf_search_options_default();
    options.direction = SF_BFS_BOTTOM_UP;
    test_assert_fails(sf_graph_search(&searches, graph, (const uint32_t[]){1, 2}, 2, &options, NULL, &error),
                      &error, SF_USAGE, "one source");
    options.device = "abacus";
    test_assert_fails(sf_graph_search(&searches, graph, sources, 1, &options, NULL, &error), &error, SF_USAGE,
                      "expected auto, cpu, cuda");
    sf_graph_free(graph);
}

/* ---- patterns and triads ---- */

static void counts_hang_together(void **state)
{
    (void)state;
    test_random random = test_random_start("counts", 10);
    sf_graph *graph = draw_graph(&random, 30, 200, true);
    uint64_t triads[SF_TRIADS], loops, all = 0;
    assert_int_equal(sf_graph_census(triads, graph, 2, NULL, NULL), SF_OK);
    for (int t = 0; t < SF_TRIADS; t++)
        all += triads[t];
    assert_int_equal(all, 30 * 29 * 28 / 6);
    const sf_triad *list = sf_triad_list();
    assert_string_equal(list[8].name, "030T");
    assert_string_equal(list[15].name, "300");

    sf_motif *motif;
    sf_match_options options = sf_match_options_default();
    options.keep = 5;
    options.device = "cpu";
    sf_matches *matches;
    assert_int_equal(sf_motif_new(&motif, "feed-forward-loop", false, NULL), SF_OK);
    assert_int_equal(sf_graph_match(&matches, graph, motif, &options, NULL, NULL), SF_OK);
    COLUMNS(found, sf_matches_columns, matches, sf_matches_get_columns);
    loops = found.count;
    assert_int_equal(loops, triads[8] + 2 * triads[11] + 2 * triads[12] + triads[13] + 3 * triads[14] +
                                6 * triads[15]);
    assert_true(found.kept == 5 && found.vertex_count == 3 && !found.truncated && found.labelled[0] == 30);
    assert_string_equal(found.vertex_names[1], "B");
    assert_string_equal(found.ran->device, "cpu");
    assert_string_equal(found.ran->engine, "auto");
    for (size_t i = 0; i < found.kept; i++) {
        const uint32_t *at = found.embeddings + 3 * i;
        assert_true(sf_csr_find(&graph->csr, at[0], at[1]) != UINT64_MAX &&
                    sf_csr_find(&graph->csr, at[1], at[2]) != UINT64_MAX &&
                    sf_csr_find(&graph->csr, at[0], at[2]) != UINT64_MAX);
    }
    sf_matches_free(matches);

    /* The same rewired graphs, whether their loops are matched or told from their triads. */
    sf_rewired_options rewired = sf_rewired_options_default();
    assert_true(rewired.graphs == 100 && rewired.seed == 1);
    rewired.graphs = 12;
    rewired.device = "cpu";
    sf_spread of_triads[SF_TRIADS], of_loops[2];
    sf_ran ran;
    const sf_motif *const both[] = {motif, motif};
    const uint64_t counts[] = {loops, 0};
    assert_int_equal(sf_graph_rewire(of_triads, triads, graph, NULL, 0, NULL, &rewired, &ran, NULL, NULL),
                     SF_OK);
    assert_int_equal(sf_graph_rewire(of_loops, counts, graph, both, 2, &options, &rewired, NULL, NULL, NULL),
                     SF_OK);
    double mean = of_triads[8].mean + 2 * of_triads[11].mean + 2 * of_triads[12].mean + of_triads[13].mean +
                  3 * of_triads[14].mean + 6 * of_triads[15].mean;
    assert_true(fabs(of_loops[0].mean - mean) < 1e-6 && of_loops[1].mean == of_loops[0].mean);
    assert_true(fabs(of_loops[0].z - ((double)loops - mean) / of_loops[0].sd) < 1e-6);
    assert_true(of_loops[1].z < of_loops[0].z);
    assert_string_equal(ran.device, "cpu");
    rewired.graphs = 0;
    sf_error error;
    test_assert_fails(sf_graph_rewire(of_loops, counts, graph, both, 2, NULL, &rewired, NULL, NULL, &error),
                      &error, SF_USAGE, "from 2 to 1000000");
    sf_motif_free(motif);
    sf_motif_free(NULL);
    sf_matches_free(NULL);
    sf_graph_free(graph);
}

/* ---- files ---- */

static void graphs_go_through_files(void **state)
{
    (void)state;
    static const char *const endings[] = {
        ".mtx", ".el",
#ifdef SYNFIRE_HAVE_IO
        ".graphml", /* read with libexpat */
#endif
    };
    test_random random = test_random_start("files", 11);
    sf_graph *graph = draw_graph(&random, 20, 60, true), *read;
    sf_error error;
    COLUMNS(before, sf_graph_columns, graph, sf_graph_get_columns);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *path = test_temporary_path(endings[i]);
        assert_int_equal(sf_graph_file_kind(path), SF_GRAPH_FILE_NONE);
        assert_int_equal(sf_graph_save(graph, path, "{}", NULL), SF_OK);
        assert_int_equal(sf_graph_file_kind(path), SF_GRAPH_FILE_READ);
        assert_int_equal(sf_graph_open(&read, path, NULL, NULL, NULL), SF_OK);
        COLUMNS(after, sf_graph_columns, read, sf_graph_get_columns);
        assert_int_equal(after.edge_count, before.edge_count);
        assert_memory_equal(after.targets, before.targets, before.edge_count * sizeof *before.targets);
        sf_graph_free(read);
        int left = 1;
        const sf_progress progress = {refuse, &left};
        test_assert_fails(sf_graph_open(&read, path, NULL, &progress, &error), &error, SF_CANCELLED, NULL);
        assert_null(read);
        remove(path);
        free(path);
    }
    char *dot = test_temporary_path(".dot");
    assert_int_equal(sf_graph_save(graph, dot, NULL, NULL), SF_OK);
    assert_int_equal(sf_graph_file_kind(dot), SF_GRAPH_FILE_WRITTEN_ONLY);
    test_assert_fails(sf_graph_open(&read, dot, NULL, NULL, &error), &error, SF_DATA, "only written");
    assert_null(read);
    remove(dot);
    free(dot);
    assert_int_equal(sf_graph_save(NULL, "x.mtx", NULL, NULL), SF_OK);
    test_assert_fails(sf_graph_save(NULL, "x.png", NULL, &error), &error, SF_USAGE, ".graphml");
    sf_graph_free(graph);
}

/* ---- stopping ---- */

typedef struct stopped {
    sf_graph *graph;
    sf_motif *motif;
    const sf_recording *recording;
} stopped;

/* Every long call, each stopped when it asks for the `asks`-th time; true while one of them did. */
static bool stop_each(const stopped *s, int asks)
{
    static const uint32_t sources[200] = {1, 2, 3};
    uint64_t triads[SF_TRIADS] = {0};
    uint32_t reached[2000], depth[2000];
    sf_spread spreads[SF_TRIADS];
    sf_rewired_options rewired = sf_rewired_options_default();
    sf_search_options searching = sf_search_options_default();
    sf_match_options matching = sf_match_options_default();
    matching.threads = searching.threads = rewired.threads = 2;
    matching.device = searching.device = rewired.device = "cpu";
    rewired.graphs = 5;
    int results[8], left[8];
    sf_progress progress[8];
    for (int i = 0; i < 8; i++) {
        left[i] = asks;
        progress[i] = (sf_progress){refuse, &left[i]};
    }
    void *objects[5];
    results[0] = sf_graph_kronecker((sf_graph **)&objects[0], "14:8:1", NULL, &progress[0], NULL);
    results[1] = sf_graph_of_tiling((sf_graph **)&objects[1], s->recording, NULL, NULL, &progress[1], NULL);
    results[2] =
        sf_graph_search((sf_searches **)&objects[2], s->graph, sources, 1, &searching, &progress[2], NULL);
    results[3] =
        sf_graph_search((sf_searches **)&objects[3], s->graph, sources, 200, &searching, &progress[3], NULL);
    results[4] =
        sf_graph_match((sf_matches **)&objects[4], s->graph, s->motif, &matching, &progress[4], NULL);
    results[5] = sf_graph_reach_all(s->graph, UINT32_MAX, 2, reached, depth, &progress[5], NULL);
    results[6] = sf_graph_census(triads, s->graph, 2, &progress[6], NULL);
    results[7] =
        sf_graph_rewire(spreads, triads, s->graph, NULL, 0, NULL, &rewired, NULL, &progress[7], NULL);
    bool any = false;
    for (int i = 0; i < 8; i++) {
        bool was_stopped = left[i] <= 0;
        assert_int_equal(results[i], was_stopped ? SF_CANCELLED : SF_OK);
        if (was_stopped && i < 5) assert_null(objects[i]);
        any = any || was_stopped;
        if (asks == 1) assert_true(was_stopped);
    }
    if (results[0] == SF_OK) sf_graph_free(objects[0]);
    if (results[1] == SF_OK) sf_graph_free(objects[1]);
    if (results[2] == SF_OK) sf_searches_free(objects[2]);
    if (results[3] == SF_OK) sf_searches_free(objects[3]);
    if (results[4] == SF_OK) sf_matches_free(objects[4]);
    return any;
}

static void every_long_call_can_be_stopped(void **state)
{
    (void)state;
    test_random random = test_random_start("stopping", 12);
    sf_recording recording;
    record(&recording, &random, true);
    stopped s = {.graph = draw_graph(&random, 2000, 8000, true), .recording = &recording};
    assert_int_equal(sf_motif_new(&s.motif, "A -> B; B -> C; C -> D; D -> E; E -> F", false, NULL), SF_OK);
    for (int asks = 1; asks < 4; asks++)
        assert_true(stop_each(&s, asks));
    sf_motif_free(s.motif);
    sf_graph_free(s.graph);
    sf_recording_clear(&recording);
}

/* ---- memory ---- */

static int use_everything(void *context)
{
    const sf_recording *recording = context;
    sf_tiling_options tiling = sf_tiling_options_default();
    tiling.surrogates = 2;
    tiling.threads = 1;
    static const uint32_t sources[] = {0, 1};
    static const char *const names[] = {"a", "b", "c"};
    static const double weights[] = {1, 2};
    const sf_graph_edges edges = {.size = sizeof edges,
                                  .vertex_count = 3,
                                  .directed = true,
                                  .names = names,
                                  .count = 2,
                                  .from = (const uint32_t[]){0, 1},
                                  .to = (const uint32_t[]){1, 2},
                                  .weights = weights};
    sf_rewired_options rewired = sf_rewired_options_default();
    rewired.graphs = 2;
    rewired.threads = 1;
    sf_graph *tiled = NULL, *graph = NULL;
    sf_searches *one = NULL, *many = NULL;
    sf_motif *motif = NULL;
    sf_matches *matches = NULL;
    uint64_t triads[SF_TRIADS];
    sf_spread spreads[SF_TRIADS];
    double coefficients[10];
    int status = sf_graph_of_tiling(&tiled, recording, &tiling, NULL, NULL, NULL);
    if (status == SF_OK) status = sf_graph_tiling_in(coefficients, tiled, recording, NULL);
    if (status == SF_OK) status = sf_graph_new(&graph, &edges, NULL, NULL);
    if (status == SF_OK) status = sf_graph_search(&one, tiled, sources, 1, NULL, NULL, NULL);
    if (status == SF_OK) status = sf_graph_search(&many, graph, sources, 2, NULL, NULL, NULL);
    if (status == SF_OK) status = sf_motif_new(&motif, "chain-2", false, NULL);
    if (status == SF_OK) status = sf_graph_match(&matches, graph, motif, NULL, NULL, NULL);
    if (status == SF_OK) status = sf_graph_census(triads, graph, 1, NULL, NULL);
    if (status == SF_OK)
        status = sf_graph_rewire(spreads, triads, graph, (const sf_motif *const[]){motif}, 1, NULL, &rewired,
                                 NULL, NULL, NULL);
    sf_matches_free(matches);
    sf_motif_free(motif);
    sf_searches_free(many);
    sf_searches_free(one);
    sf_graph_free(graph);
    sf_graph_free(tiled);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("memory", 13);
    sf_recording recording;
    record(&recording, &random, true);
    test_fail_every_allocation(use_everything, &recording);
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_in_memory_become_sorted_lists),
        cmocka_unit_test(edges_that_carry_values_stay_apart),
        cmocka_unit_test(bad_edges_and_options_are_refused),
        cmocka_unit_test(tiling_links_are_columns),
        cmocka_unit_test(what_tiling_cannot_do_is_said),
        cmocka_unit_test(links_keep_what_a_simple_graph_drops),
        cmocka_unit_test(limits_leave_out_what_a_test_did),
        cmocka_unit_test(pairs_among_episodes_are_edges),
        cmocka_unit_test(searches_are_right_one_by_one_and_together),
        cmocka_unit_test(searches_that_make_no_sense_are_refused),
        cmocka_unit_test(counts_hang_together),
        cmocka_unit_test(graphs_go_through_files),
        cmocka_unit_test(every_long_call_can_be_stopped),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
