/* SPDX-License-Identifier: Apache-2.0 */
/* Searching on devices with a plugin that needs none: what is asked of it, and what happens where it fails.
 * The devices that are there are held against the CPU by test_bfs, graph by graph. */
#include "core/backend/find.h"
#include "support/support.h"

#include "analysis/graph.h"
#include "graph/search/device.h"
#include "graph/store/kronecker.h"
#include "oracle/bfs_oracle.h"
#include "pipeline/reaching.h"
#include "support/plugin_work.h"

static const sf_backend_search_options fastest = {.direction = SF_BFS_AUTO};

static sf_csr draw(const char *kind, bool directed)
{
    sf_kronecker kronecker;
    sf_edge_list list;
    sf_csr graph;
    assert_int_equal(sf_kronecker_parse(&kronecker, kind, NULL), SF_OK);
    assert_int_equal(sf_kronecker_edges(&list, &kronecker, 1, NULL, NULL), SF_OK);
    list.directed = directed;
    assert_int_equal(sf_csr_build(&graph, &list, SF_CSR_SIMPLE, NULL), SF_OK);
    sf_edge_list_free(&list);
    return graph;
}

static sf_device *find(const char *name)
{
    sf_device *device = NULL;
    sf_error error;
    if (sf_devices_use(TEST_PLUGIN, &error) != SF_OK || sf_device_find(&device, name, &error) != SF_OK)
        fail_msg("%s %s", error.place, error.text);
    return device;
}

static void check(const sf_csr *graph, uint32_t source, const sf_bfs_result *result)
{
    const char *wrong = bfs_oracle_check(graph, source, result);
    if (wrong != NULL) fail_msg("from %u: %s", source, wrong);
}

static void a_device_searches(void **state)
{
    (void)state;
    sf_device *device = find("test:0");
    for (int directed = 0; directed < 2; directed++) {
        sf_csr graph = draw("8:4:3", directed == 1);
        sf_device_graph copy;
        sf_device_search search;
        sf_bfs_result result = {0};
        assert_int_equal(sf_device_graph_open(&copy, device, &graph, NULL), SF_OK);
        assert_int_equal(sf_device_search_open(&search, &copy, &(sf_backend_search_options){0}, NULL), SF_OK);
        test_assert_same(search.preparation, 0.25);
        for (uint32_t source = 0; source < 40; source++) { /* in the same memory */
            assert_int_equal(sf_device_search_run(&search, source, &result, NULL), SF_OK);
            check(&graph, source, &result);
        }
        sf_error error = {0};
        test_assert_fails(sf_device_search_run(&search, 256, &result, &error), &error, SF_USAGE,
                          "no vertex 256: the graph has 256");
        assert_null(result.levels);
        sf_device_search_close(&search);
        sf_device_graph_close(&copy);
        sf_csr_free(&graph);
    }
    sf_devices_close();
}

static void a_job_may_leave_levels_there_and_ask_for_times(void **state)
{
    (void)state;
    sf_device *device = find("test:0");
    sf_csr graph = draw("8:4:3", false);
    sf_device_graph copy;
    sf_device_search search;
    sf_bfs_result expected;
    sf_backend_level log[3];
    sf_backend_bfs_job job = {.source = 5, .log = log, .log_room = 3};
    assert_int_equal(sf_bfs(&expected, &graph, 5, UINT32_MAX, NULL), SF_OK);
    assert_int_equal(sf_device_graph_open(&copy, device, &graph, NULL), SF_OK);
    assert_int_equal(sf_device_search_open(&search, &copy, &(sf_backend_search_options){0}, NULL), SF_OK);
    assert_int_equal(sf_device_search_job(&search, &job, NULL), SF_OK);
    assert_int_equal(job.reached, expected.reached);
    assert_int_equal(job.edges, expected.edges);
    assert_int_equal(job.depth, expected.depth);
    for (int level = 0; level < 3; level++)
        assert_int_equal(log[level].found, expected.level_sizes[level]);
    sf_bfs_result_free(&expected);
    sf_device_search_close(&search);
    sf_device_graph_close(&copy);
    sf_csr_free(&graph);
    sf_devices_close();
}

static void a_device_draws_a_graph(void **state)
{
    (void)state;
    sf_device *device = find("test:0");
    sf_csr graph = draw("9:8:2", false), found;
    sf_kronecker kind = {.scale = 9, .edge_factor = 8, .seed = 2};
    sf_device_graph drawn;
    assert_int_equal(sf_device_graph_generate(&drawn, device, &kind, NULL), SF_OK);
    assert_int_equal(sf_device_graph_edges(&drawn), sf_csr_edge_count(&graph));
    assert_int_equal(sf_device_graph_read(&found, &drawn, true, NULL), SF_OK);
    assert_memory_equal(found.offsets, graph.offsets, 513 * sizeof *graph.offsets);
    assert_memory_equal(found.targets, graph.targets, sf_csr_edge_count(&graph) * sizeof *graph.targets);
    sf_csr_free(&found);
    assert_int_equal(sf_device_graph_read(&found, &drawn, false, NULL), SF_OK);
    assert_null(found.targets);
    sf_csr_free(&found);
    sf_device_graph_close(&drawn);
    sf_csr_free(&graph);
    sf_devices_close();
}

static void search_in_parts(sf_device_parts *parts, const sf_csr *graph)
{
    sf_bfs_result result = {0};
    for (uint32_t source = 0; source < 20; source++) {
        assert_int_equal(sf_device_parts_run(parts, source, &result, NULL), SF_OK);
        check(graph, source, &result);
    }
    sf_error error = {0};
    test_assert_fails(sf_device_parts_run(parts, 128, &result, &error), &error, SF_USAGE, "no vertex");
    sf_device_parts_close(parts);
}

static void several_devices_search_in_parts(void **state)
{
    (void)state;
    find("test:0");
    for (uint32_t count = 1; count <= 3; count++) {
        sf_csr graph = draw("7:4:3", count == 2);
        sf_kronecker kind = {.scale = 7, .edge_factor = 4, .seed = 3};
        sf_device *devices[3] = {sf_device_at(0), sf_device_at(4), sf_device_at(0)};
        sf_device_parts parts;
        assert_int_equal(sf_device_parts_open(&parts, devices, count, &graph, &fastest, NULL), SF_OK);
        search_in_parts(&parts, &graph);
        if (count != 2) { /* what is drawn on devices is undirected */
            assert_int_equal(sf_device_parts_generate(&parts, devices, count, &kind, &fastest, NULL), SF_OK);
            search_in_parts(&parts, &graph);
        }
        sf_csr_free(&graph);
    }
    sf_devices_close();
}

static void many_sources_on_a_device(void **state)
{
    (void)state;
    sf_device *device = find("test:0");
    sf_csr graph = draw("6:4:3", false);
    sf_device_graph copy;
    uint32_t sources[70], *levels = calloc(70 * 64, sizeof *levels),
                          *expected = calloc(70 * 64, sizeof *expected);
    for (uint32_t i = 0; i < 70; i++)
        sources[i] = i % 64;
    assert_int_equal(sf_device_graph_open(&copy, device, &graph, NULL), SF_OK);
    assert_int_equal(sf_device_bfs_many(&copy, sources, 70, levels, NULL, NULL, NULL), SF_OK);
    assert_int_equal(sf_bfs_many(&graph, sources, 70, 1, expected, NULL, NULL, NULL), SF_OK);
    assert_memory_equal(levels, expected, 70 * 64 * sizeof *levels);
    sf_error error = {0};
    sources[69] = 64;
    test_assert_fails(sf_device_bfs_many(&copy, sources, 70, levels, NULL, NULL, &error), &error, SF_USAGE,
                      "no vertex");
    free(levels);
    free(expected);
    sf_device_graph_close(&copy);
    sf_csr_free(&graph);
    sf_devices_close();
}

/* Windows in turn on the CPU, on both and on the device, and where that one falls away in the second job or
 * refuses the first. */
static void every_unit_searches_where_it_is_faster(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        bool always, leaves;
    } cases[] = {
        {"test:0", true, false}, {"test:0", false, false}, {"test:1", true, true}, {"test:2", true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_reaching reaching;
        sf_reaching_open(&reaching, find(cases[i].device), cases[i].always);
        reaching.contest.worth_ns = -1;
        for (uint32_t most = 1; most <= 5; most++) {
            sf_csr graph = draw("7:2:3", true);
            sf_reach_counts counts;
            uint32_t expected[2][128];
            reaching.contest.patience = 1;
            assert_int_equal(sf_bfs_count(&graph, most, 1, expected[0], expected[1], NULL, NULL), SF_OK);
            assert_int_equal(sf_reaching_search(&reaching, &counts, &graph, most, NULL), SF_OK);
            assert_memory_equal(counts.reached, expected[0], sizeof expected[0]);
            assert_memory_equal(counts.depth, expected[1], sizeof expected[1]);
            sf_reach_counts_free(&counts);
            sf_csr_free(&graph);
        }
        assert_int_equal(reaching.device == NULL, cases[i].leaves);
        uint32_t jobs = test_plugin_work_of(TEST_PLUGIN)->all_reached;
        if (cases[i].always && !cases[i].leaves) assert_int_equal(jobs, 5);
        assert_in_range(jobs, 1, 5);
        sf_devices_close();
    }
}

/* What cannot be done there comes back as SF_UNAVAILABLE, and the words say why. */
static void a_device_that_fails_is_left(void **state)
{
    (void)state;
    static const char *const words[] = {"fallen off the bus", "too large"};
    for (int i = 0; i < 2; i++) {
        sf_device *device = find(i == 0 ? "test:1" : "test:2");
        sf_csr graph = draw("6:4:3", false);
        sf_device_graph copy;
        sf_device_search search;
        sf_bfs_result result = {0};
        sf_error error = {0};
        assert_int_equal(sf_device_graph_open(&copy, device, &graph, NULL), SF_OK);
        assert_int_equal(sf_device_search_open(&search, &copy, &(sf_backend_search_options){0}, NULL), SF_OK);
        if (i == 0) assert_int_equal(sf_device_search_run(&search, 1, &result, NULL), SF_OK);
        test_assert_fails(sf_device_search_run(&search, 1, &result, &error), &error, SF_UNAVAILABLE,
                          words[i]);
        assert_null(result.levels);
        assert_int_equal(sf_device_sick(device, NULL), i == 0);
        sf_device_search_close(&search);
        sf_device_graph_close(&copy);
        sf_csr_free(&graph);
    }
    sf_devices_close();
}

/* Through the public functions: on the device that is named, on all together, and on the CPU where it fails
 * or refuses, with the reason told. */
static void a_search_runs_where_it_was_asked_to_or_says_why_not(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *ran, *note;
    } cases[] = {{"test:0", "test:0", NULL},
                 {"test:1", "cpu", "fallen off the bus"},
                 {"test:2", "cpu", "too large"},
                 {"cpu", "cpu", NULL}};
    sf_graph *graph;
    assert_int_equal(sf_graph_kronecker(&graph, "6:4:3", NULL, NULL, NULL), SF_OK);
    const uint32_t sources[] = {5, 9};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t count = 1; count <= 2; count++) {
            find(cases[i].asked);
            sf_search_options options = sf_search_options_default();
            options.device = cases[i].asked;
            options.repeat = count == 1 ? 3 : 1; /* it falls off after some jobs */
            sf_searches *searches;
            assert_int_equal(sf_graph_search(&searches, graph, sources, count, &options, NULL, NULL), SF_OK);
            sf_searches_columns found = {.size = sizeof found};
            sf_searches_get_columns(searches, &found);
            if (count == 1 || i != 1) {
                assert_string_equal(found.ran->device, cases[i].ran);
                if (cases[i].note != NULL)
                    assert_non_null(strstr(found.ran->note, cases[i].note));
                else
                    assert_string_equal(found.ran->note, "");
            }
            for (size_t s = 0; s < count; s++) {
                uint32_t expected[64];
                bfs_oracle_levels(&graph->csr, sources[s], expected);
                assert_memory_equal(found.levels + 64 * s, expected, sizeof expected);
            }
            sf_searches_free(searches);
            sf_devices_close();
        }
    }
    sf_graph_free(graph);
}

static void all_devices_search_together_or_one_many_times(void **state)
{
    (void)state;
    sf_graph *graph;
    assert_int_equal(sf_graph_kronecker(&graph, "7:4:3", NULL, NULL, NULL), SF_OK);
    setenv("TEST_PLUGIN_DEVICES", "ww", 1);
    find("test:0");
    const uint32_t sources[] = {5, 9};
    for (size_t round = 0; round < 5; round++) { /* so small a graph is divided where any is worth it */
        size_t count = 1 + round % 2;
        sf_devices_set_worth(round == 2 || round == 3 ? SF_DEVICE_SECONDS : 0, SF_MOST_DEVICES);
        sf_search_options options = sf_search_options_default();
        options.device = "test:all";
        options.enterprise = round == 4;
        options.features = SF_BFS_TS | SF_BFS_HC;
        sf_searches *searches;
        assert_int_equal(sf_graph_search(&searches, graph, sources, count, &options, NULL, NULL), SF_OK);
        sf_searches_columns found = {.size = sizeof found};
        sf_searches_get_columns(searches, &found);
        assert_string_equal(found.ran->device, round % 4 == 0 ? "test:all (2)" : "test:0");
        assert_string_equal(found.ran->engine, round == 4 ? "enterprise" : "auto");
        uint32_t expected[128];
        bfs_oracle_levels(&graph->csr, sources[count - 1], expected);
        assert_memory_equal(found.levels + 128 * (count - 1), expected, sizeof expected);
        sf_searches_free(searches);
    }
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    assert_int_equal(work->as_enterprise, 1);
    assert_int_equal(work->techniques, SF_BFS_TS | SF_BFS_HC);
    unsetenv("TEST_PLUGIN_DEVICES");
    sf_devices_close();
    sf_graph_free(graph);
}

static int search_small(void *context)
{
    sf_device *device = context;
    sf_kronecker kind = {.scale = 3, .edge_factor = 4, .seed = 1};
    sf_device_graph copy = {0};
    sf_device_search search = {0};
    sf_device_parts parts = {0};
    sf_bfs_result result = {0};
    sf_csr graph = {0};
    int status = sf_device_graph_generate(&copy, device, &kind, NULL);
    if (status == SF_OK) status = sf_device_graph_read(&graph, &copy, true, NULL);
    if (status == SF_OK)
        status = sf_device_search_open(&search, &copy, &(sf_backend_search_options){0}, NULL);
    if (status == SF_OK) status = sf_device_search_run(&search, 1, &result, NULL);
    graph.directed = true;
    if (status == SF_OK) status = sf_device_parts_open(&parts, &device, 1, &graph, &fastest, NULL);
    if (status == SF_OK) status = sf_device_parts_run(&parts, 1, &result, NULL);
    sf_device_parts_close(&parts);
    if (status == SF_OK) status = sf_device_parts_generate(&parts, &device, 1, &kind, &fastest, NULL);
    sf_bfs_result_free(&result);
    sf_device_parts_close(&parts);
    sf_device_search_close(&search);
    sf_device_graph_close(&copy);
    sf_csr_free(&graph);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(search_small, find("test:0"));
    sf_devices_close();
}

/* One thread prepares, all search. */
static void more_threads_are_expected_to_take_less(void **state)
{
    (void)state;
    double one = sf_bfs_cpu_seconds(1000, 9000, 24, 1), many = sf_bfs_cpu_seconds(1000, 9000, 24, 16);
    assert_true(many * 7 < one && one < many * 8);
    assert_true(sf_bfs_cpu_seconds(1000, 9000, 24, 0) == one);
    assert_true(sf_bfs_cpu_seconds(2000, 18000, 24, 16) == 2 * many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_threads_are_expected_to_take_less),
        cmocka_unit_test(a_device_searches),
        cmocka_unit_test(a_job_may_leave_levels_there_and_ask_for_times),
        cmocka_unit_test(a_device_draws_a_graph),
        cmocka_unit_test(several_devices_search_in_parts),
        cmocka_unit_test(many_sources_on_a_device),
        cmocka_unit_test(every_unit_searches_where_it_is_faster),
        cmocka_unit_test(a_device_that_fails_is_left),
        cmocka_unit_test(a_search_runs_where_it_was_asked_to_or_says_why_not),
        cmocka_unit_test(all_devices_search_together_or_one_many_times),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
