/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewiring on devices: with a plugin that needs none, and does one try after the other, what it is asked and
 * what happens where it fails; and on every device that is there, the same graphs as on the CPU to the last
 * edge.
 */
#include "core/backend/find.h"
#include "core/error.h"
#include "core/memory.h"
#include "graph/motif/rewire_device.h"
#include "graph/motif/spread.h"
#include "io/graph/pattern.h"
#include "support/support.h"

static void use_test_plugin(void)
{
    sf_error error;
    if (sf_devices_use(TEST_PLUGIN, &error) != SF_OK) fail_msg("%s", error.text);
}

static sf_csr draw_graph(test_random *random, uint32_t vertices, uint64_t edges, bool directed)
{
    sf_edge_list list = {.directed = directed};
    assert_int_equal(sf_edge_list_set_vertices(&list, vertices, NULL), SF_OK);
    for (uint64_t e = 0; e < edges; e++) { /* a third of them at few vertices */
        uint32_t from = (uint32_t)test_random_below(random, e % 3 == 0 ? 1 + vertices / 8 : vertices);
        uint32_t to = (uint32_t)test_random_below(random, vertices);
        assert_int_equal(sf_edge_list_add(&list, from, to, NULL), SF_OK);
    }
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, SF_CSR_DROP_DUPLICATES, NULL), SF_OK);
    sf_edge_list_free(&list);
    return graph;
}

/* ---- graphs ---- */

/* Graphs 5 to 5 + count - 1 of the device and their triads against those of the CPU. */
static void compare(sf_device *device, const sf_csr *graph, uint32_t count)
{
    sf_rewiring rewiring;
    sf_error error;
    assert_int_equal(sf_rewiring_open(&rewiring, graph, NULL), SF_OK);
    size_t moving = rewiring.moving;
    sf_edge *ends = sf_resize(NULL, count, moving * sizeof *ends);
    sf_edge *expected = sf_resize(NULL, moving, sizeof *expected);
    uint64_t(*triads)[SF_TRIADS] = sf_resize(NULL, count, sizeof *triads);
    sf_rewired_graphs graphs = {.seed = 77, .first = 5, .count = count, .ends = ends, .triads = triads};
    if (sf_rewire_on_device(device, &rewiring, &graphs, &error) != SF_OK) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(sf_rewire_ends(expected, &rewiring, 77, 5 + i, NULL), SF_OK);
        if (moving > 0) assert_memory_equal(ends + i * moving, expected, moving * sizeof *expected);
        sf_csr rewired;
        uint64_t census[SF_TRIADS];
        assert_int_equal(sf_rewire_build(&rewired, &rewiring, expected, NULL), SF_OK);
        assert_int_equal(sf_triad_census(census, &rewired, 1, NULL, NULL), SF_OK);
        assert_memory_equal(triads[i], census, sizeof census);
        sf_csr_free(&rewired);
    }
    sf_free(ends);
    sf_free(expected);
    sf_free(triads);
    sf_rewiring_close(&rewiring);
}

static void check_small_graphs(sf_device *device, int rounds)
{
    test_random random = test_random_start(sf_device_name(device), 12);
    for (int round = 0; round < rounds; round++) {
        uint32_t vertices = 1 + (uint32_t)test_random_below(&random, 40);
        uint64_t edges = test_random_below(&random, (uint64_t)vertices * vertices);
        sf_csr graph = draw_graph(&random, vertices, edges, round % 2 != 0);
        compare(device, &graph, 1 + (uint32_t)test_random_below(&random, 6));
        sf_csr_free(&graph);
    }
}

static void a_device_makes_the_graphs_of_the_cpu(void **state)
{
    (void)state;
    use_test_plugin();
    sf_device *device;
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    check_small_graphs(device, 60);
    sf_devices_close();
}

/* Edges are looked up in a matrix, or where there are many vertices in a table: with the same outcome. */
static void how_edges_are_looked_up_changes_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("sets", 3);
    for (int round = 0; round < 40; round++) {
        sf_csr graph = draw_graph(&random, 30, 20 + test_random_below(&random, 400), round % 2 != 0);
        sf_rewiring rewiring;
        assert_int_equal(sf_rewiring_open(&rewiring, &graph, NULL), SF_OK);
        sf_edge found[2][512];
        assert_true(rewiring.moving <= 512);
        assert_int_equal(sf_rewire_ends(found[0], &rewiring, 1, 2, NULL), SF_OK);
        rewiring.list.vertex_count = 1000000;
        assert_int_equal(sf_rewire_ends(found[1], &rewiring, 1, 2, NULL), SF_OK);
        assert_memory_equal(found[0], found[1], rewiring.moving * sizeof(sf_edge));
        sf_rewiring_close(&rewiring);
        sf_csr_free(&graph);
    }
}

/* ---- spreads ---- */

enum { GRAPHS = 20 };

/* Of the census and of two patterns, by the device of that name. */
typedef struct found {
    sf_spread census[SF_TRIADS], patterns[2];
    sf_ran place[2];
} found;

static int find(found *f, const sf_csr *graph, const char *device, unsigned threads, sf_error *error)
{
    double counts[SF_TRIADS] = {0};
    sf_pattern patterns[2] = {{0}};
    sf_match_options each[2] = {{.threads = 1}, {.threads = 1, .device = "cpu"}};
    const sf_rewired_options options = {.graphs = GRAPHS, .seed = 9, .threads = threads, .device = device};
    const sf_pattern_set set = {patterns, each, 2};
    sf_measure census = sf_measure_census(), searches = sf_measure_patterns(&set);
    memset(f, 0, sizeof *f);
    int status = sf_motif_read(&patterns[0], "feed-forward-loop", true, error);
    if (status == SF_OK) status = sf_motif_read(&patterns[1], "chain-3", true, error);
    if (status == SF_OK)
        status = sf_spread_find(f->census, counts, graph, &census, &options, &f->place[0], NULL, error);
    if (status == SF_OK)
        status = sf_spread_find(f->patterns, counts, graph, &searches, &options, &f->place[1], NULL, error);
    sf_pattern_free(&patterns[0]);
    sf_pattern_free(&patterns[1]);
    return status;
}

static void expect_found(const sf_csr *graph, const char *device, const found *expected, const char *where)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        found f;
        sf_error error;
        if (find(&f, graph, device, threads, &error) != SF_OK) fail_msg("on %s: %s", device, error.text);
        assert_memory_equal(f.census, expected->census, sizeof f.census);
        assert_memory_equal(f.patterns, expected->patterns, sizeof f.patterns);
        assert_string_equal(f.place[0].device, where);
        assert_string_equal(f.place[1].device, where);
        assert_true((f.place[0].note[0] != '\0') == (strcmp(device, where) != 0));
    }
}

static void check_spreads(const sf_csr *graph)
{
    found expected;
    assert_int_equal(find(&expected, graph, "cpu", 1, NULL), SF_OK);
    assert_true(expected.census[8].mean > 0 && expected.patterns[0].sd > 0);
    expect_found(graph, "cpu", &expected, "cpu");
    expect_found(graph, "test:0", &expected, "test:0");
    expect_found(graph, "test:2", &expected, "cpu"); /* it refuses */
    found f;
    assert_int_equal(find(&f, graph, "test:1", 1, NULL), SF_OK); /* lost in its second job */
    assert_string_equal(f.place[0].device, "test:1");
    assert_string_equal(f.place[1].device, "cpu");
    assert_non_null(strstr(f.place[1].note, "fallen off the bus"));
    assert_memory_equal(f.census, expected.census, sizeof f.census);
    assert_memory_equal(f.patterns, expected.patterns, sizeof f.patterns);
    sf_error error;
    test_assert_fails(find(&f, graph, "test:9", 1, &error), &error, SF_UNAVAILABLE, "test:9");
}

static void spreads_are_the_same_wherever_graphs_are_rewired(void **state)
{
    (void)state;
    use_test_plugin();
    test_random random = test_random_start("spreads", 4);
    sf_csr graph = draw_graph(&random, 25, 150, true);
    check_spreads(&graph);
    sf_csr_free(&graph);
    sf_devices_close();
}

/* A device that is in use takes what is worth it, and nothing else. */
static void many_graphs_go_to_a_device(void **state)
{
    (void)state;
    use_test_plugin();
    test_random random = test_random_start("many", 4);
    sf_csr graph = draw_graph(&random, 25, 150, true);
    found f;
    assert_int_equal(find(&f, &graph, NULL, 1, NULL), SF_OK);
    assert_string_equal(f.place[0].device, "cpu"); /* none is running yet */
    assert_int_equal(find(&f, &graph, "test:0", 1, NULL), SF_OK);
    sf_measure census = sf_measure_census();
    double counts[SF_TRIADS] = {0};
    sf_rewired_options options = {.graphs = 100, .seed = 9, .threads = 1};
    assert_int_equal(sf_spread_find(f.census, counts, &graph, &census, &options, &f.place[0], NULL, NULL),
                     SF_OK);
    assert_string_equal(f.place[0].device, "test:0");
    options.threads = 64;
    assert_int_equal(sf_spread_find(f.census, counts, &graph, &census, &options, &f.place[0], NULL, NULL),
                     SF_OK);
    assert_string_equal(f.place[0].device, "cpu");
    sf_csr_free(&graph);
    sf_devices_close();
}

static bool refuse_to_go_on(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)done;
    (void)total;
    return ++*(int *)user < 5;
}

static void a_device_is_stopped(void **state)
{
    (void)state;
    use_test_plugin();
    test_random random = test_random_start("stop", 4);
    sf_csr graph = draw_graph(&random, 25, 150, true);
    int asked = 0;
    const sf_progress progress = {.update = refuse_to_go_on, .user = &asked};
    sf_measure census = sf_measure_census();
    double counts[SF_TRIADS] = {0};
    sf_spread spreads[SF_TRIADS];
    const sf_rewired_options options = {.graphs = 50, .device = "test:0"};
    assert_int_equal(sf_spread_find(spreads, counts, &graph, &census, &options, NULL, &progress, NULL),
                     SF_CANCELLED);
    sf_csr_free(&graph);
    sf_devices_close();
}

static int find_once(void *context)
{
    found f;
    return find(&f, context, "test:0", 1, NULL);
}

static void no_memory_is_no_crash(void **state)
{
    (void)state;
    use_test_plugin();
    test_random random = test_random_start("memory", 4);
    sf_csr graph = draw_graph(&random, 8, 20, true);
    sf_device *device;
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    assert_int_equal(find_once(&graph), SF_OK); /* the device is open */
    test_fail_every_allocation(find_once, &graph);
    sf_csr_free(&graph);
    sf_devices_close();
}

/* ---- devices that are there ---- */

static void every_device_makes_the_graphs_of_the_cpu(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    for (uint32_t i = 0; i < sf_device_count(); i++)
        check_small_graphs(sf_device_at(i), test_rounds(100));
    sf_devices_close();
}

/* By one warp and by several, in shared memory and beyond it, the matrices of the census too; and more graphs
 * than run at once. */
static void every_device_makes_large_graphs_of_the_cpu(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    static const struct {
        uint32_t vertices, edges, graphs;
    } sizes[] = {{26, 300, 5000}, {300, 3000, 40}, {800, 10000, 12}, {1500, 40000, 6}, {9000, 20000, 3}};
    bool few = test_is_short();
    test_random random = test_random_start("large", 8);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (few && sizes[i].edges > 10000) continue;
        sf_csr graph = draw_graph(&random, sizes[i].vertices, sizes[i].edges, i % 2 == 0);
        for (uint32_t d = 0; d < sf_device_count(); d++)
            compare(sf_device_at(d), &graph, few ? 1 : sizes[i].graphs);
        sf_csr_free(&graph);
    }
    sf_devices_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_makes_the_graphs_of_the_cpu),
        cmocka_unit_test(how_edges_are_looked_up_changes_nothing),
        cmocka_unit_test(spreads_are_the_same_wherever_graphs_are_rewired),
        cmocka_unit_test(many_graphs_go_to_a_device),
        cmocka_unit_test(a_device_is_stopped),
        cmocka_unit_test(no_memory_is_no_crash),
        cmocka_unit_test(every_device_makes_the_graphs_of_the_cpu),
        cmocka_unit_test(every_device_makes_large_graphs_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
