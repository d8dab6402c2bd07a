/* SPDX-License-Identifier: Apache-2.0 */
/* The triad census, rewired graphs, spreads of counts in them, and patterns by name. */
#include "oracle/census_oracle.h"
#include "support/support.h"

#include "core/error.h"
#include "core/memory.h"
#include "graph/motif/motif.h"
#include "graph/motif/rewire.h"
#include "graph/motif/spread.h"
#include "io/graph/file.h"
#include "io/graph/pattern.h"

#include <math.h>

static sf_csr build(sf_edge_list *list, unsigned flags)
{
    sf_csr csr;
    assert_int_equal(sf_csr_build(&csr, list, flags, NULL), SF_OK);
    sf_edge_list_free(list);
    return csr;
}

/* Loops and parallel edges among them; the column tells edges apart. */
static sf_csr random_graph(test_random *random, bool directed)
{
    sf_edge_list list = {.directed = directed};
    uint32_t vertices = 1 + (uint32_t)test_random_below(random, 14);
    size_t edges = test_random_below(random, vertices * vertices + 1), column;
    assert_int_equal(sf_edge_list_set_vertices(&list, vertices, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.edge_columns, "weight", &column, NULL), SF_OK);
    for (size_t i = 0; i < edges; i++) {
        uint32_t from = (uint32_t)test_random_below(random, vertices);
        uint32_t to = (uint32_t)test_random_below(random, vertices);
        assert_int_equal(sf_edge_list_add(&list, from, to, NULL), SF_OK);
        list.edge_columns.items[0].values[i] = (double)i;
    }
    return build(&list, 0);
}

static sf_csr read_worm(char *path)
{
    sf_edge_list list;
    assert_int_equal(sf_graph_read(&list, path, NULL, NULL), SF_OK);
    list.directed = true;
    free(path);
    return build(&list, SF_CSR_DROP_DUPLICATES);
}

/* ---- the census ---- */

static void the_census_is_that_of_the_definition(void **state)
{
    (void)state;
    test_random random = test_random_start("census", 3);
    for (int round = 0; round < 500; round++) {
        sf_csr graph = random_graph(&random, round % 4 != 0);
        uint64_t expected[SF_TRIADS], found[SF_TRIADS];
        census_oracle(expected, &graph);
        assert_int_equal(sf_triad_census(found, &graph, 1 + (unsigned)round % 3, NULL, NULL), SF_OK);
        assert_memory_equal(found, expected, sizeof found);
        sf_csr_free(&graph);
    }
}

static void large_graphs_are_counted_on_any_number_of_threads(void **state)
{
    (void)state;
    enum { VERTICES = 3000, EDGES = 20000 };
    test_random random = test_random_start("census threads", 4);
    sf_edge_list list = {.directed = true};
    assert_int_equal(sf_edge_list_set_vertices(&list, VERTICES, NULL), SF_OK);
    for (size_t i = 0; i < EDGES; i++)
        assert_int_equal(sf_edge_list_add(&list, (uint32_t)test_random_below(&random, VERTICES),
                                          (uint32_t)test_random_below(&random, VERTICES / 10), NULL),
                         SF_OK);
    sf_csr graph = build(&list, 0);
    uint64_t one[SF_TRIADS], four[SF_TRIADS], all = 0;
    assert_int_equal(sf_triad_census(one, &graph, 1, NULL, NULL), SF_OK);
    assert_int_equal(sf_triad_census(four, &graph, 4, NULL, NULL), SF_OK);
    assert_memory_equal(one, four, sizeof one);
    for (int t = 0; t < SF_TRIADS; t++)
        all += one[t];
    assert_int_equal(all, UINT64_C(3000) * 2999 * 2998 / 6);
    sf_csr_free(&graph);
}

static uint64_t count_motif(const sf_csr *graph, const char *pattern)
{
    sf_pattern parsed;
    sf_match_index *index;
    sf_match_result result;
    sf_error error;
    if (sf_motif_read(&parsed, pattern, true, &error) != SF_OK)
        fail_msg("%s: %s: %s", pattern, error.place, error.text);
    assert_int_equal(sf_match_open(&index, graph, NULL), SF_OK);
    assert_int_equal(sf_match_run(index, &parsed, &(sf_match_options){.threads = 1}, &result, NULL, NULL),
                     SF_OK);
    uint64_t count = result.count;
    sf_match_result_free(&result);
    sf_match_close(index);
    sf_pattern_free(&parsed);
    return count;
}

/* What a published census of this graph says (networkx gives the same numbers), and the identity that ties it
 * to the count of feed-forward loops. */
static void the_worm_has_its_census(void **state)
{
    (void)state;
    static const uint64_t expected[SF_TRIADS] = {10611620, 1224317, 247656, 17788, 15179, 24252, 9402, 11574,
                                                 2965,     158,     2531,   996,   1957,  644,   1057, 273};
    char *path = test_data_path("subgraph/celegans/celegans_chem.edges");
    if (path == NULL) skip();
    sf_csr worm = read_worm(path);
    uint64_t found[SF_TRIADS];
    assert_int_equal(sf_triad_census(found, &worm, 2, NULL, NULL), SF_OK);
    assert_memory_equal(found, expected, sizeof found);
    assert_int_equal(count_motif(&worm, "feed-forward-loop"),
                     found[8] + 2 * found[11] + 2 * found[12] + found[13] + 3 * found[14] + 6 * found[15]);
    sf_csr_free(&worm);
}

/* ---- rewired graphs ---- */

typedef struct degrees {
    uint32_t out[16], in[16];
} degrees;

static degrees degrees_of(const sf_csr *graph)
{
    degrees d = {{0}, {0}};
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
            d.out[v]++;
            d.in[graph->targets[e]]++;
        }
    return d;
}

/* Pairs joined, each once. */
static size_t pairs_of(const sf_csr *graph, size_t *loops)
{
    size_t pairs = 0;
    *loops = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
            bool is_new = e == graph->offsets[v] || graph->targets[e] != graph->targets[e - 1];
            pairs += is_new;
            *loops += is_new && graph->targets[e] == v;
        }
    return pairs;
}

static uint32_t tail_of(const sf_csr *graph, double weight)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++)
            if (graph->edge_columns.items[0].values[e] == weight) return v;
    return SF_NO_VERTEX;
}

static void rewired_graphs_keep_degrees_and_what_edges_carry(void **state)
{
    (void)state;
    test_random random = test_random_start("rewire", 6);
    size_t moved = 0;
    for (int round = 0; round < 500; round++) {
        sf_csr graph = random_graph(&random, round % 3 != 0), rewired;
        sf_rewiring rewiring;
        size_t loops, rewired_loops;
        assert_int_equal(sf_rewiring_open(&rewiring, &graph, NULL), SF_OK);
        assert_int_equal(sf_rewire(&rewired, &rewiring, 7, (uint32_t)round, NULL), SF_OK);
        sf_rewiring_close(&rewiring);
        assert_int_equal(rewired.directed, graph.directed);
        degrees before = degrees_of(&graph), after = degrees_of(&rewired);
        size_t pairs = pairs_of(&graph, &loops);
        /* Bundles of different sizes may trade places: then pairs, and not edges, are what a vertex keeps. */
        if (pairs == sf_csr_edge_count(&graph)) assert_memory_equal(&before, &after, sizeof before);
        assert_int_equal(pairs_of(&rewired, &rewired_loops), pairs);
        assert_int_equal(rewired_loops, loops);
        assert_int_equal(sf_csr_edge_count(&rewired), sf_csr_edge_count(&graph));
        for (uint32_t v = 0; graph.directed && v < graph.vertex_count; v++)
            for (uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; e++)
                assert_int_equal(tail_of(&rewired, graph.edge_columns.items[0].values[e]), v);
        moved +=
            memcmp(graph.targets, rewired.targets, sf_csr_edge_count(&graph) * sizeof *graph.targets) != 0;
        sf_csr_free(&graph);
        sf_csr_free(&rewired);
    }
    assert_true(moved > 200);
}

/* How often each of the graphs that have these degrees comes up, against equal shares. */
static double chi_square(const sf_edge *edges, size_t count, uint32_t vertices, bool directed, size_t graphs)
{
    enum { DRAWS = 4500, MOST = 32 };
    sf_edge_list list = {.directed = directed};
    assert_int_equal(sf_edge_list_set_vertices(&list, vertices, NULL), SF_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sf_edge_list_add(&list, edges[i].from, edges[i].to, NULL), SF_OK);
    sf_csr graph = build(&list, 0);
    sf_rewiring rewiring;
    assert_int_equal(sf_rewiring_open(&rewiring, &graph, NULL), SF_OK);
    uint32_t seen[MOST][16];
    size_t times[MOST] = {0}, kinds = 0, entries = sf_csr_edge_count(&graph);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        sf_csr rewired;
        assert_int_equal(sf_rewire(&rewired, &rewiring, 11, draw, NULL), SF_OK);
        size_t kind = 0;
        while (kind < kinds && memcmp(seen[kind], rewired.targets, entries * sizeof(uint32_t)) != 0)
            kind++;
        assert_true(kind < MOST);
        if (kind == kinds) memcpy(seen[kinds++], rewired.targets, entries * sizeof(uint32_t));
        times[kind]++;
        sf_csr_free(&rewired);
    }
    assert_int_equal(kinds, graphs);
    double sum = 0, share = (double)DRAWS / (double)graphs;
    for (size_t i = 0; i < kinds; i++)
        sum += ((double)times[i] - share) * ((double)times[i] - share) / share;
    sf_rewiring_close(&rewiring);
    sf_csr_free(&graph);
    return sum;
}

/* Every vertex keeps one edge, so that targets alone tell graphs apart: matchings, and permutations without a
 * fixed point. The bounds are passed once in ten thousand runs of a right program, and the seed is fixed. */
static void every_graph_with_the_degrees_is_as_likely(void **state)
{
    (void)state;
    static const sf_edge matching[] = {{0, 3}, {1, 4}, {2, 5}};
    static const sf_edge permutation[] = {{0, 1}, {1, 0}, {2, 3}, {3, 2}};
    assert_true(chi_square(matching, 3, 6, true, 6) < 25.7);
    assert_true(chi_square(matching, 3, 6, false, 15) < 42.6);
    assert_true(chi_square(permutation, 4, 4, true, 9) < 31.8);
}

/* ---- spreads ---- */

static void spreads_are_those_of_the_rewired_graphs(void **state)
{
    (void)state;
    enum { GRAPHS = 9 };
    test_random random = test_random_start("spread", 21);
    sf_csr graph;
    do {
        graph = random_graph(&random, true);
        if (sf_csr_edge_count(&graph) >= 20) break;
        sf_csr_free(&graph);
    } while (true);
    double counts[SF_TRIADS] = {[3] = 100}, values[GRAPHS][SF_TRIADS];
    sf_rewiring rewiring;
    assert_int_equal(sf_rewiring_open(&rewiring, &graph, NULL), SF_OK);
    for (uint32_t g = 0; g < GRAPHS; g++) {
        sf_csr rewired;
        uint64_t census[SF_TRIADS];
        assert_int_equal(sf_rewire(&rewired, &rewiring, 5, g, NULL), SF_OK);
        assert_int_equal(sf_triad_census(census, &rewired, 1, NULL, NULL), SF_OK);
        for (int t = 0; t < SF_TRIADS; t++)
            values[g][t] = (double)census[t];
        sf_csr_free(&rewired);
    }
    sf_rewiring_close(&rewiring);
    for (unsigned threads = 1; threads <= 3; threads++) {
        sf_spread spreads[SF_TRIADS];
        sf_measure measure = sf_measure_census();
        sf_rewired_options options = {.graphs = GRAPHS, .seed = 5, .threads = threads};
        assert_int_equal(sf_spread_find(spreads, counts, &graph, &measure, &options, NULL, NULL, NULL),
                         SF_OK);
        for (int t = 0; t < SF_TRIADS; t++) {
            double mean = 0, square = 0;
            for (int g = 0; g < GRAPHS; g++)
                mean += values[g][t] / GRAPHS;
            for (int g = 0; g < GRAPHS; g++)
                square += (values[g][t] - mean) * (values[g][t] - mean);
            double sd = sqrt(square / (GRAPHS - 1));
            assert_true(fabs(spreads[t].mean - mean) < 1e-9 && fabs(spreads[t].sd - sd) < 1e-9);
            assert_true(sd < 1e-9 ? isnan(spreads[t].z)
                                  : fabs(spreads[t].z - (counts[t] - mean) / sd) < 1e-6);
        }
    }
    sf_csr_free(&graph);
}

static bool refuse(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)total;
    return done < *(double *)user;
}

static void a_spread_can_be_stopped_and_says_what_failed(void **state)
{
    (void)state;
    test_random random = test_random_start("spread stop", 22);
    sf_csr graph = random_graph(&random, true);
    double counts[SF_TRIADS] = {0}, most = 2;
    sf_spread spreads[SF_TRIADS];
    sf_measure measure = sf_measure_census();
    sf_progress progress = {.update = refuse, .user = &most};
    sf_rewired_options options = {.graphs = 50, .threads = 1};
    sf_error error = {0};
    test_assert_fails(sf_spread_find(spreads, counts, &graph, &measure, &options, NULL, &progress, &error),
                      &error, SF_CANCELLED, "2 of 50 rewired graphs");

    /* Where they are asked for, those that there were are told of: as if no more had been asked for. */
    uint32_t made = 0;
    options.made = &made;
    sf_spread of_two[SF_TRIADS];
    test_assert_fails(sf_spread_find(spreads, counts, &graph, &measure, &options, NULL, &progress, &error),
                      &error, SF_CANCELLED, "2 of 50 rewired graphs");
    assert_int_equal(made, 2);
    options.graphs = 2;
    assert_int_equal(sf_spread_find(of_two, counts, &graph, &measure, &options, NULL, NULL, NULL), SF_OK);
    assert_memory_equal(spreads, of_two, sizeof of_two);
    sf_pattern pattern;
    assert_int_equal(sf_motif_read(&pattern, "A -> B [colour = 3]", true, NULL), SF_OK);
    const sf_match_options match = {0};
    const sf_pattern_set set = {&pattern, &match, 1};
    measure = sf_measure_patterns(&set);
    options = (sf_rewired_options){.graphs = 3, .threads = 2};
    test_assert_fails(sf_spread_find(spreads, counts, &graph, &measure, &options, NULL, NULL, &error), &error,
                      SF_USAGE, "colour");
    sf_pattern_free(&pattern);
    sf_csr_free(&graph);
}

/* ---- patterns by name ---- */

static uint64_t choose(uint64_t n, uint64_t k)
{
    uint64_t ways = 1;
    for (uint64_t i = 0; i < k; i++)
        ways = ways * (n - i) / (i + 1);
    return n < k ? 0 : ways;
}

static void named_patterns_count_what_they_say(void **state)
{
    (void)state;
    test_random random = test_random_start("named patterns", 8);
    for (int round = 0; round < 60; round++) {
        sf_csr any = random_graph(&random, true);
        sf_edge_list list = {.directed = true};
        assert_int_equal(sf_edge_list_set_vertices(&list, any.vertex_count, NULL), SF_OK);
        for (uint32_t v = 0; v < any.vertex_count; v++)
            for (uint64_t e = any.offsets[v]; e < any.offsets[v + 1]; e++)
                assert_int_equal(sf_edge_list_add(&list, v, any.targets[e], NULL), SF_OK);
        sf_csr graph = build(&list, SF_CSR_SIMPLE);
        sf_csr_free(&any);
        degrees d = degrees_of(&graph);
        uint64_t mutual = 0, chains = 0, out = 0, in = 0;
        for (uint32_t v = 0; v < graph.vertex_count; v++) {
            uint64_t both = 0;
            for (uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; e++)
                both += sf_csr_find(&graph, graph.targets[e], v) != UINT64_MAX;
            mutual += both;
            chains += (uint64_t)d.in[v] * d.out[v] - both;
            out += choose(d.out[v], 3);
            in += choose(d.in[v], 4);
        }
        assert_int_equal(count_motif(&graph, "reciprocal-pair"), mutual / 2);
        assert_int_equal(count_motif(&graph, "chain-2"), sf_csr_edge_count(&graph));
        assert_int_equal(count_motif(&graph, "chain-3"), chains);
        assert_int_equal(count_motif(&graph, "diverging-3"), out);
        assert_int_equal(count_motif(&graph, "converging-4"), in);
        sf_csr_free(&graph);
    }
    static const char *const others[] = {"chain-1", "chain-17", "chain-", "diverging", "chain-3x", "ffl"};
    sf_text text = {0};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(sf_motif_named(&text, others[i]));
    assert_null(text.data);
}

/* ---- memory ---- */

static int use_everything(void *context)
{
    const sf_csr *graph = context;
    sf_pattern pattern;
    sf_spread spread;
    uint64_t census[SF_TRIADS];
    double count = 0;
    int status = sf_triad_census(census, graph, 1, NULL, NULL);
    if (status == SF_OK) status = sf_motif_read(&pattern, "chain-3", true, NULL);
    if (status != SF_OK) return status;
    const sf_match_options match = {0};
    const sf_pattern_set set = {&pattern, &match, 1};
    const sf_rewired_options options = {.graphs = 2, .threads = 1};
    sf_measure measure = sf_measure_patterns(&set);
    status = sf_spread_find(&spread, &count, graph, &measure, &options, NULL, NULL, NULL);
    sf_pattern_free(&pattern);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_edge_list list = {.directed = true};
    assert_int_equal(sf_edge_list_set_vertices(&list, 4, NULL), SF_OK);
    for (uint32_t v = 0; v < 4; v++)
        assert_int_equal(sf_edge_list_add(&list, v, (v + 1) % 4, NULL), SF_OK);
    sf_csr graph = build(&list, 0);
    test_fail_every_allocation(use_everything, &graph);
    sf_csr_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_census_is_that_of_the_definition),
        cmocka_unit_test(large_graphs_are_counted_on_any_number_of_threads),
        cmocka_unit_test(the_worm_has_its_census),
        cmocka_unit_test(rewired_graphs_keep_degrees_and_what_edges_carry),
        cmocka_unit_test(every_graph_with_the_degrees_is_as_likely),
        cmocka_unit_test(spreads_are_those_of_the_rewired_graphs),
        cmocka_unit_test(a_spread_can_be_stopped_and_says_what_failed),
        cmocka_unit_test(named_patterns_count_what_they_say),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
