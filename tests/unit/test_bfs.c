/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "graph/search/device.h"
#include "graph/store/kronecker.h"
#include "graph/store/power_law.h"
#include "io/graph/file.h"
#include "oracle/bfs_oracle.h"

#include <math.h>
#include <sys/mman.h>

/* Hash of the edges of 12:16:1: other devices must draw the same ones. */
#define KRONECKER_12_16_1 UINT64_C(0x58bb0b586c07d3c8)

/* ---- graphs to search ---- */

static sf_edge_list start_list(uint32_t vertices, bool directed)
{
    return (sf_edge_list){.vertex_count = vertices, .directed = directed};
}

static void add(sf_edge_list *list, uint32_t from, uint32_t to)
{
    assert_int_equal(sf_edge_list_add(list, from, to, NULL), SF_OK);
}

static sf_csr build(sf_edge_list *list, unsigned flags)
{
    sf_csr graph;
    sf_error error;
    if (sf_csr_build(&graph, list, flags, &error) != SF_OK) fail_msg("%s", error.text);
    sf_edge_list_free(list);
    return graph;
}

static sf_csr make_star(uint32_t leaves)
{
    sf_edge_list list = start_list(leaves + 1, false);
    for (uint32_t v = 1; v <= leaves; v++)
        add(&list, 0, v);
    return build(&list, 0);
}

static sf_csr make_path(uint32_t vertices)
{
    sf_edge_list list = start_list(vertices, false);
    for (uint32_t v = 1; v < vertices; v++)
        add(&list, v - 1, v);
    return build(&list, 0);
}

static sf_csr make_complete(uint32_t vertices)
{
    sf_edge_list list = start_list(vertices, false);
    for (uint32_t v = 0; v < vertices; v++)
        for (uint32_t w = 0; w < v; w++)
            add(&list, v, w);
    return build(&list, 0);
}

static sf_csr make_random(test_random *random, unsigned flags)
{
    uint32_t vertices = (uint32_t)test_random_below(random, 60) + 1;
    sf_edge_list list = start_list(vertices, test_random_below(random, 2) == 0);
    uint64_t edges = test_random_below(random, 3 * (uint64_t)vertices);
    for (uint64_t e = 0; e < edges; e++)
        add(&list, (uint32_t)test_random_below(random, vertices),
            (uint32_t)test_random_below(random, vertices));
    return build(&list, flags);
}

static void check(const sf_csr *graph, uint32_t source, const sf_bfs_result *result, const char *how)
{
    const char *wrong = bfs_oracle_check(graph, source, result);
    if (wrong != NULL) fail_msg("from %u %s: %s", source, how, wrong);
}

static void search_one_way(const sf_csr *graph, uint32_t source, const sf_bfs_options *options,
                           const sf_bfs_result *plain)
{
    char how[64];
    snprintf(how, sizeof how, "direction %d, %u threads", options->direction, options->threads);
    sf_bfs_search *search;
    sf_bfs_result result = {0};
    assert_int_equal(sf_bfs_open(&search, graph, options, NULL), SF_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(sf_bfs_run(search, source, &result, NULL), SF_OK);
        check(graph, source, &result, how);
        assert_memory_equal(result.levels, plain->levels, graph->vertex_count * sizeof *plain->levels);
    }
    double seconds = 0;
    for (uint32_t level = 0; level <= result.depth; level++) {
        assert_int_equal(sf_bfs_levels(search)[level].found, plain->level_sizes[level]);
        seconds += sf_bfs_levels(search)[level].seconds;
    }
    assert_true(seconds <= result.seconds);
    sf_bfs_result_free(&result);
    sf_bfs_close(search);
}

/* Every way of the parallel search, twice each in the same memory, gives the levels of the plain one. */
static void search_every_way(const sf_csr *graph, uint32_t source, const sf_bfs_result *plain)
{
    for (unsigned way = 0; way < 9; way++) {
        sf_bfs_options options = {
            .direction = (sf_bfs_direction)(way % 3), .threads = way < 3 ? 1 : 3, .sorted = way >= 6};
        search_one_way(graph, source, &options, plain);
    }
}

enum { LOGGED = 64 };

/* What a job tells without levels and parents. */
static void check_job(const sf_backend_bfs_job *job, const sf_bfs_result *plain, const char *how)
{
    if (job->reached != plain->reached || job->edges != plain->edges || job->depth != plain->depth)
        fail_msg("%s: %llu reached, %llu edges, %u deep", how, (unsigned long long)job->reached,
                 (unsigned long long)job->edges, job->depth);
    for (uint32_t level = 0; level <= plain->depth && level < LOGGED; level++)
        if (job->log[level].found != plain->level_sizes[level] || job->log[level].seconds < 0)
            fail_msg("%s: level %u has %llu vertices, in %g s", how, level,
                     (unsigned long long)job->log[level].found, job->log[level].seconds);
}

static void search_on_device(sf_device_graph *graph, const sf_csr *csr, uint32_t source,
                             const sf_backend_search_options *options, const sf_bfs_result *plain)
{
    sf_device_search search;
    sf_bfs_result result = {0};
    sf_error error;
    char how[64];
    snprintf(how, sizeof how, "on %s, direction %d, features %x", sf_device_name(graph->device),
             options->direction, options->features);
    if (sf_device_search_open(&search, graph, options, &error) != SF_OK) fail_msg("%s: %s", how, error.text);
    for (int times = options->enterprise ? 1 : 2; times > 0; times--) {
        if (sf_device_search_run(&search, source, &result, &error) != SF_OK)
            fail_msg("%s: %s", how, error.text);
        check(csr, source, &result, how);
        assert_memory_equal(result.levels, plain->levels, csr->vertex_count * sizeof *plain->levels);
    }
    sf_backend_level log[LOGGED];
    sf_backend_bfs_job job = {.source = source, .log = log, .log_room = LOGGED};
    assert_int_equal(sf_device_search_job(&search, &job, NULL), SF_OK);
    check_job(&job, plain, how);
    sf_bfs_result_free(&result);
    sf_device_search_close(&search);
}

enum { PARTS = 3 };

/* All devices in turn, or one. */
static void choose_devices(sf_device *devices[PARTS])
{
    for (uint32_t i = 0; i < PARTS; i++)
        devices[i] = sf_device_at(i % sf_device_count());
}

static void run_parts(sf_device_parts *parts, const sf_csr *graph, uint32_t source,
                      const sf_bfs_result *plain)
{
    sf_bfs_result result = {0};
    sf_error error;
    if (sf_device_parts_run(parts, source, &result, &error) != SF_OK) fail_msg("%s", error.text);
    check(graph, source, &result, "in parts");
    assert_memory_equal(result.levels, plain->levels, graph->vertex_count * sizeof *plain->levels);
    sf_backend_level log[LOGGED];
    sf_backend_bfs_job job = {.source = source, .log = log, .log_room = LOGGED};
    assert_int_equal(sf_device_parts_job(parts, &job, NULL), SF_OK);
    check_job(&job, plain, "in parts");
    sf_bfs_result_free(&result);
    sf_device_parts_close(parts);
}

static void search_in_parts(const sf_csr *graph, uint32_t source, const sf_backend_search_options *options,
                            const sf_bfs_result *plain)
{
    sf_device *devices[PARTS];
    sf_device_parts parts;
    sf_error error;
    choose_devices(devices);
    if (sf_device_parts_open(&parts, devices, PARTS, graph, options, &error) != SF_OK)
        fail_msg("%s", error.text);
    run_parts(&parts, graph, source, plain);
}

/* Parts of a graph that the devices draw themselves. */
static void search_in_drawn_parts(const sf_csr *graph, const sf_kronecker *kind, uint32_t source,
                                  const sf_bfs_result *plain)
{
    sf_device *devices[PARTS];
    sf_device_parts parts;
    sf_error error;
    choose_devices(devices);
    for (int enterprise = 0; enterprise < 2; enterprise++) {
        const sf_backend_search_options options = {.enterprise = enterprise == 1, .features = SF_BFS_TS};
        if (sf_device_parts_generate(&parts, devices, PARTS, kind, &options, &error) != SF_OK)
            fail_msg("%s", error.text);
        run_parts(&parts, graph, source, plain);
    }
}

/* The fastest way in every direction, then the 48 ways of Enterprise: 3 directions, 16 sets of features. All
 * of them where that is soon done; else some, and the next graph goes on with others. In parts one of each.
 */
enum { ENTERPRISE_WAYS = 48 };

static sf_backend_search_options enterprise_way(unsigned way)
{
    return (sf_backend_search_options){
        .direction = (sf_bfs_direction)(way % 3), .enterprise = true, .features = way / 3 % 16};
}

static void search_on_devices(const sf_csr *graph, uint32_t source, const sf_bfs_result *plain)
{
    static unsigned next, next_parted;
    if (sf_device_count() > 0) {
        const sf_backend_search_options options = {.direction = (sf_bfs_direction)(next_parted % 3)},
                                        enterprise = enterprise_way(7 * next_parted);
        search_in_parts(graph, source, &options, plain);
        search_in_parts(graph, source, &enterprise, plain);
        next_parted++;
    }
    bool few = test_is_short(), all = !few && graph->vertex_count > 60 && plain->depth < 500;
    for (uint32_t i = 0; i < sf_device_count(); i++) {
        sf_device_graph copy;
        sf_error error;
        if (sf_device_graph_open(&copy, sf_device_at(i), graph, &error) != SF_OK) fail_msg("%s", error.text);
        for (unsigned direction = 0; direction < (few ? 1 : 3); direction++) {
            sf_backend_search_options options = {.direction = (sf_bfs_direction)((next + direction) % 3)};
            search_on_device(&copy, graph, source, &options, plain);
        }
        for (unsigned way = 0; way < (all ? ENTERPRISE_WAYS : few ? 1 : 2); way++, next++) {
            const sf_backend_search_options options = enterprise_way(next);
            search_on_device(&copy, graph, source, &options, plain);
        }
        sf_device_graph_close(&copy);
    }
}

/* Searches, holds the result against the rules, and gives it back. */
static sf_bfs_result search(const sf_csr *graph, uint32_t source)
{
    sf_bfs_result result;
    sf_error error;
    if (sf_bfs(&result, graph, source, UINT32_MAX, &error) != SF_OK) fail_msg("%s", error.text);
    check(graph, source, &result, "by a queue");
    search_every_way(graph, source, &result);
    search_on_devices(graph, source, &result);
    return result;
}

static void expect(sf_csr *graph, uint32_t source, uint64_t reached, uint32_t depth)
{
    sf_bfs_result result = search(graph, source);
    assert_int_equal(result.reached, reached);
    assert_int_equal(result.depth, depth);
    sf_bfs_result_free(&result);
}

/* ---- tests ---- */

static void random_graphs_have_the_levels_of_relaxation(void **state)
{
    (void)state;
    test_random random = test_random_start("bfs", 3);
    for (int round = 0; round < test_rounds(300); round++) {
        static const unsigned flags[] = {0, SF_CSR_DROP_LOOPS, SF_CSR_DROP_DUPLICATES, SF_CSR_SIMPLE};
        sf_csr graph = make_random(&random, flags[round % 4]);
        uint32_t source = (uint32_t)test_random_below(&random, graph.vertex_count), levels[64];
        sf_bfs_result result = search(&graph, source);
        bfs_oracle_levels(&graph, source, levels);
        assert_memory_equal(result.levels, levels, graph.vertex_count * sizeof *levels);
        sf_bfs_result_free(&result);
        sf_csr_free(&graph);
    }
}

static void shapes_are_searched_right(void **state)
{
    (void)state;
    uint32_t leaves = test_is_short() ? 2100 : 70000;
    sf_csr star = make_star(leaves);
    expect(&star, 0, leaves + 1, 1);
    expect(&star, leaves, leaves + 1, 2); /* the last vertex is the source */
    sf_csr_free(&star);
    uint32_t length = test_is_short() ? 8 : 2000;
    sf_csr path = make_path(length);
    expect(&path, 0, length, length - 1);
    expect(&path, length / 2, length, length / 2);
    sf_csr_free(&path);
    sf_csr complete = make_complete(100);
    expect(&complete, 57, 100, 1);
    sf_csr_free(&complete);
    sf_csr single = make_path(1);
    expect(&single, 0, 1, 0);
    sf_csr_free(&single);
}

static void parts_that_no_path_reaches_stay_unreached(void **state)
{
    (void)state;
    sf_edge_list list = start_list(8, true); /* 0 -> 1 -> 2, 3 -> 4, 5 alone with a loop, 6 and 7 alone */
    add(&list, 0, 1);
    add(&list, 1, 2);
    add(&list, 3, 4);
    add(&list, 5, 5);
    sf_csr graph = build(&list, 0);
    expect(&graph, 0, 3, 2);
    expect(&graph, 3, 2, 1); /* 3 has no in-edges, and 4 none out */
    expect(&graph, 4, 1, 0);
    expect(&graph, 5, 1, 0);
    expect(&graph, 7, 1, 0);
    uint32_t component[8];
    assert_int_equal(sf_components(&graph, component), 5);
    static const uint32_t expected[8] = {0, 0, 0, 3, 3, 5, 6, 7};
    assert_memory_equal(component, expected, sizeof expected);
    sf_csr_free(&graph);
}

static void degrees_at_the_edges_of_the_queues(void **state)
{
    (void)state;
    static const uint32_t degrees[] = {31, 32, 33, 255, 256, 257, 65535, 65536, 65537};
    size_t count = test_is_short() ? 3 : sizeof degrees / sizeof degrees[0];
    for (size_t i = 0; i < count; i++) {
        sf_csr star = make_star(degrees[i]);
        assert_int_equal(sf_csr_degree(&star, 0), degrees[i]);
        expect(&star, 1, degrees[i] + 1, 2);
        sf_csr_free(&star);
    }
}

static void loops_and_duplicates_are_kept_or_removed(void **state)
{
    (void)state;
    static const struct {
        unsigned flags;
        bool directed;
        uint64_t edges;
    } cases[] = {{0, true, 6},
                 {SF_CSR_DROP_LOOPS, true, 4},
                 {SF_CSR_DROP_DUPLICATES, true, 4},
                 {SF_CSR_SIMPLE, true, 3},
                 {0, false, 10},
                 {SF_CSR_DROP_LOOPS, false, 8},
                 {SF_CSR_DROP_DUPLICATES, false, 5},
                 {SF_CSR_SIMPLE, false, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i += test_is_short() ? 4 : 1) {
        sf_edge_list list = start_list(3, cases[i].directed);
        static const uint32_t edges[][2] = {{0, 1}, {0, 1}, {1, 0}, {2, 2}, {2, 2}, {1, 2}};
        for (size_t e = 0; e < 6; e++)
            add(&list, edges[e][0], edges[e][1]);
        sf_csr graph = build(&list, cases[i].flags);
        assert_int_equal(sf_csr_edge_count(&graph), cases[i].edges);
        expect(&graph, 0, 3, 2);
        sf_csr_free(&graph);
    }
}

/* Lists that several threads build, of more edges than one would be left alone with. */
static void large_lists_are_built_the_same(void **state)
{
    (void)state;
    const uint32_t vertices = 5000;
    for (int directed = 0; directed < 2; directed++) {
        sf_edge_list list = start_list(vertices, directed == 1);
        uint64_t *degrees = calloc(vertices, sizeof *degrees);
        for (uint32_t e = 0; e < (1 << 20) + 5; e++) {
            uint32_t from = (uint32_t)((uint64_t)e * 2654435761u % vertices), to = e % 4999;
            add(&list, from, to);
            degrees[from]++;
            degrees[to] += directed == 0 && from != to;
        }
        sf_csr graph = build(&list, 0), turned, back;
        assert_int_equal(sf_csr_transpose(&turned, &graph, NULL), SF_OK);
        assert_int_equal(sf_csr_transpose(&back, &turned, NULL), SF_OK);
        for (uint32_t v = 0; v < vertices; v++) {
            assert_int_equal(sf_csr_degree(&graph, v), degrees[v]);
            for (uint64_t e = graph.offsets[v] + 1; e < graph.offsets[v + 1]; e++)
                assert_true(graph.targets[e - 1] <= graph.targets[e]);
        }
        assert_memory_equal(graph.offsets, back.offsets, (vertices + 1) * sizeof *graph.offsets);
        assert_memory_equal(graph.targets, back.targets, sf_csr_edge_count(&graph) * sizeof *graph.targets);
        sf_csr_free(&back);
        sf_csr_free(&turned);
        sf_csr_free(&graph);
        free(degrees);
    }
}

/* Columns follow their edges through sorting and removal; of duplicates the first is kept. */
static void columns_follow_their_edges(void **state)
{
    (void)state;
    sf_edge_list list = start_list(3, false);
    size_t weight;
    assert_int_equal(sf_columns_add(&list.edge_columns, "weight", &weight, NULL), SF_OK);
    static const uint32_t edges[][2] = {{2, 1}, {0, 1}, {1, 2}, {1, 1}};
    for (size_t e = 0; e < 4; e++) {
        add(&list, edges[e][0], edges[e][1]);
        list.edge_columns.items[0].values[e] = (double)(10 + e);
    }
    sf_csr graph = build(&list, SF_CSR_SIMPLE);
    assert_int_equal(sf_csr_edge_count(&graph), 4);
    test_assert_same(graph.edge_columns.items[0].values[sf_csr_find(&graph, 1, 2)], 10);
    test_assert_same(graph.edge_columns.items[0].values[sf_csr_find(&graph, 2, 1)], 10);
    test_assert_same(graph.edge_columns.items[0].values[sf_csr_find(&graph, 1, 0)], 11);
    assert_true(sf_csr_find(&graph, 0, 2) == UINT64_MAX);
    sf_csr_free(&graph);
}

/* Offsets past 2^31 on a small graph: its targets lie behind 8 GiB of address space that is never touched. */
static int compare_ids(const void *first, const void *second)
{
    uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;
    return (a > b) - (a < b);
}

static void lists_by_degree_hold_the_transpose(void **state)
{
    (void)state;
    test_random random = test_random_start("lists by degree", 14);
    for (int round = 0; round < 100; round++) {
        sf_edge_list list = {.directed = round % 2 == 0};
        uint32_t vertices = 1 + (uint32_t)test_random_below(&random, 40);
        assert_int_equal(sf_edge_list_set_vertices(&list, vertices, NULL), SF_OK);
        for (uint64_t i = test_random_below(&random, 200); i > 0; i--)
            add(&list, (uint32_t)test_random_below(&random, vertices),
                (uint32_t)test_random_below(&random, vertices));
        sf_csr graph, plain, sorted;
        assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
        sf_edge_list_free(&list);
        assert_int_equal(sf_csr_transpose(&plain, &graph, NULL), SF_OK);
        assert_int_equal(sf_csr_transpose_by_degree(&sorted, &graph, NULL, NULL), SF_OK);
        assert_memory_equal(sorted.offsets, plain.offsets, (vertices + 1) * sizeof *plain.offsets);
        for (uint32_t v = 0; v < vertices; v++) {
            uint32_t *targets = sorted.targets + sorted.offsets[v];
            for (uint64_t i = 1; i < sf_csr_degree(&sorted, v); i++)
                assert_true(sf_csr_degree(&graph, targets[i - 1]) >= sf_csr_degree(&graph, targets[i]));
            qsort(targets, sf_csr_degree(&sorted, v), sizeof *targets, compare_ids);
        }
        assert_memory_equal(sorted.targets, plain.targets, sf_csr_edge_count(&plain) * sizeof *plain.targets);
        sf_csr_free(&graph);
        sf_csr_free(&plain);
        sf_csr_free(&sorted);
    }
}

/* ---- what levels tell of themselves ---- */

/* Vertices in a row, 100 that are all joined, and more in a row. */
enum { ROW = 10, KNOT = 100, TAIL = 40, ROW_KNOT_TAIL = ROW + KNOT + TAIL };

static sf_csr make_knot(void)
{
    sf_edge_list list = start_list(ROW_KNOT_TAIL, false);
    for (uint32_t v = 1; v < ROW_KNOT_TAIL; v++)
        add(&list, v - 1, v);
    for (uint32_t v = ROW; v < ROW + KNOT; v++)
        for (uint32_t w = ROW; w + 1 < v; w++)
            add(&list, w, v);
    return build(&list, 0);
}

/* The row leads to one vertex of the knot, which finds the others from above. They have nearly all edges that
 * are left: the first vertex of the tail is looked for from below. It is one of few again, until at the end
 * any frontier has its share of what is left: TOLD levels are looked at. */
enum { TOLD = ROW + 2 + 20 };

static bool is_up(uint32_t level, sf_bfs_direction direction)
{
    return direction == SF_BFS_AUTO ? level == ROW + 2 : direction == SF_BFS_BOTTOM_UP && level > 0;
}

static void check_levels(const sf_backend_level *log, uint32_t depth, sf_bfs_direction direction,
                         const char *where)
{
    assert_int_equal(depth, ROW + 1 + TAIL);
    for (uint32_t level = 0; level < TOLD; level++)
        if (log[level].bottom_up != is_up(level, direction))
            fail_msg("on %s, direction %d, level %u: bottom-up %d", where, direction, level,
                     log[level].bottom_up);
}

static void wide_levels_are_searched_from_below(void **state)
{
    (void)state;
    sf_csr graph = make_knot();
    sf_bfs_result result = {0};
    for (int way = 0; way < 6; way++) {
        sf_bfs_options options = {
            .direction = (sf_bfs_direction)(way % 3), .threads = way < 3 ? 1 : 2, .sorted = way >= 3};
        sf_bfs_search *search;
        assert_int_equal(sf_bfs_open(&search, &graph, &options, NULL), SF_OK);
        assert_int_equal(sf_bfs_run(search, 0, &result, NULL), SF_OK);
        check_levels(sf_bfs_levels(search), result.depth, options.direction, "cpu");
        sf_bfs_close(search);
    }
    sf_bfs_result_free(&result);
    sf_csr_free(&graph);
}

/* From below, the neighbour of greatest degree is asked first: of several in the frontier it is the parent.
 * 0 is joined with 1 .. 3 and they with 4; 2 has more neighbours, and 3 most. */
static void hubs_are_asked_first(void **state)
{
    (void)state;
    sf_edge_list list = start_list(20, false);
    for (uint32_t v = 1; v < 4; v++) {
        add(&list, 0, v);
        add(&list, v, 4);
    }
    add(&list, 2, 5);
    for (uint32_t v = 6; v < 20; v++)
        add(&list, 3, v);
    sf_csr graph = build(&list, 0);
    for (int sorted = 0; sorted < 2; sorted++) {
        const sf_bfs_options options = {.direction = SF_BFS_BOTTOM_UP, .threads = 1, .sorted = sorted};
        sf_bfs_search *search;
        sf_bfs_result result = {0};
        assert_int_equal(sf_bfs_open(&search, &graph, &options, NULL), SF_OK);
        assert_int_equal(sf_bfs_run(search, 0, &result, NULL), SF_OK);
        assert_int_equal(result.levels[4], 2);
        assert_int_equal(result.parents[4], 3);
        sf_bfs_result_free(&result);
        sf_bfs_close(search);
    }
    sf_csr_free(&graph);
}

/* 1,000 hubs of which the first `reached` are neighbours of the source, and all of the last vertex; each has
 * leaves of its own. Enterprise holds at most 1,024 to be hubs. */
enum { HUBS = 1000, LEAVES = 3, OF_HUBS = 2 + HUBS + HUBS * LEAVES };

static sf_csr make_hubs(uint32_t reached)
{
    sf_edge_list list = start_list(OF_HUBS, false);
    for (uint32_t h = 0; h < HUBS; h++) {
        if (h < reached) add(&list, 0, 1 + h);
        add(&list, 1 + h, OF_HUBS - 1);
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
            add(&list, 1 + h, 1 + HUBS + h * LEAVES + leaf);
    }
    return build(&list, 0);
}

/* On one device, or in parts. */
static bool second_level_is_up(sf_device *device, uint32_t reached, unsigned features, bool parted)
{
    sf_csr csr = make_hubs(reached);
    sf_device_graph graph = {0};
    sf_device_search search = {0};
    sf_device_parts parts = {0};
    sf_device *devices[PARTS] = {device, device, device};
    sf_backend_level log[LOGGED];
    sf_backend_bfs_job job = {.source = 0, .log = log, .log_room = LOGGED};
    const sf_backend_search_options options = {.enterprise = true, .features = features};
    if (parted) {
        assert_int_equal(sf_device_parts_open(&parts, devices, PARTS, &csr, &options, NULL), SF_OK);
        assert_int_equal(sf_device_parts_job(&parts, &job, NULL), SF_OK);
    } else {
        assert_int_equal(sf_device_graph_open(&graph, device, &csr, NULL), SF_OK);
        assert_int_equal(sf_device_search_open(&search, &graph, &options, NULL), SF_OK);
        assert_int_equal(sf_device_search_job(&search, &job, NULL), SF_OK);
    }
    assert_int_equal(log[1].found, reached);
    assert_false(log[1].bottom_up);
    sf_device_parts_close(&parts);
    sf_device_search_close(&search);
    sf_device_graph_close(&graph);
    sf_csr_free(&csr);
    return log[2].bottom_up;
}

static void gamma_is_over_30_percent(void **state)
{
    (void)state;
    static const uint32_t hubs[] = {1, 10, 999, 1000, 1024};
    for (size_t i = 0; i < sizeof hubs / sizeof hubs[0]; i++)
        for (uint32_t reached = 0; reached <= hubs[i]; reached++)
            assert_int_equal(sf_bfs_gamma(reached, hubs[i]), 100 * reached > 30 * hubs[i]);
}

/* By gamma, a level turns when over 30 % of the hubs are in the frontier. The source and the last vertex are
 * hubs, too. Without gamma it is the edges that leave the frontier: those of 250 hubs are more than a
 * fourteenth of what is left, those of 20 are not. */
static void enterprise_turns_by_its_hubs(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    static const struct {
        uint32_t reached;
        unsigned features;
        bool up;
    } cases[] = {{250, SF_BFS_GAMMA, false}, {250, SF_BFS_GAMMA | SF_BFS_TS, false},
                 {350, SF_BFS_GAMMA, true},  {350, SF_BFS_GAMMA | SF_BFS_TS, true},
                 {250, SF_BFS_TS, true},     {20, SF_BFS_TS, false}};
    const size_t count = sizeof cases / sizeof cases[0];
    for (uint32_t d = 0; d < sf_device_count(); d++)
        for (size_t i = 0; i < 2 * count; i++) {
            uint32_t reached = cases[i % count].reached;
            unsigned features = cases[i % count].features;
            if (second_level_is_up(sf_device_at(d), reached, features, i >= count) != cases[i % count].up)
                fail_msg("%s, %u hubs, features %#x, in parts %d: bottom-up %d",
                         sf_device_name(sf_device_at(d)), reached, features, i >= count,
                         !cases[i % count].up);
        }
    sf_devices_close();
}

/* The levels of the fastest way from vertex 0; returns the greatest. */
static uint32_t log_on_device(sf_device *device, const sf_csr *csr, sf_backend_level log[LOGGED])
{
    sf_device_graph graph;
    sf_device_search search;
    sf_backend_bfs_job job = {.source = 0, .log = log, .log_room = LOGGED};
    const sf_backend_search_options options = {.direction = SF_BFS_AUTO};
    assert_int_equal(sf_device_graph_open(&graph, device, csr, NULL), SF_OK);
    assert_int_equal(sf_device_search_open(&search, &graph, &options, NULL), SF_OK);
    assert_int_equal(sf_device_search_job(&search, &job, NULL), SF_OK);
    sf_device_search_close(&search);
    sf_device_graph_close(&graph);
    return job.depth;
}

/* The fastest way of each device, by its own thresholds: the knot is searched from below, the rows are not.
 */
static void devices_search_wide_levels_from_below(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    sf_csr csr = make_knot();
    for (uint32_t d = 0; d < sf_device_count(); d++) {
        sf_backend_level log[LOGGED];
        uint32_t depth = log_on_device(sf_device_at(d), &csr, log);
        check_levels(log, depth, SF_BFS_AUTO, sf_device_name(sf_device_at(d)));
    }
    sf_csr_free(&csr);
    sf_devices_close();
}

/* A wide level of a tree has a large part of the edges that are left, but fewer than there are vertices left,
 * each of which would look along one at least: on the CPU all levels but that of the leaves come from above.
 */
static void trees_are_searched_from_above(void **state)
{
    (void)state;
    enum { DEPTH = 14 };
    sf_edge_list list = start_list((1u << (DEPTH + 1)) - 1, false);
    for (uint32_t v = 1; v < list.vertex_count; v++)
        add(&list, (v - 1) / 2, v);
    sf_csr tree = build(&list, 0);
    sf_bfs_search *search = NULL;
    sf_bfs_result result = {0};
    assert_int_equal(sf_bfs_open(&search, &tree, &(sf_bfs_options){.threads = 1}, NULL), SF_OK);
    assert_int_equal(sf_bfs_run(search, 0, &result, NULL), SF_OK);
    assert_int_equal(result.depth, DEPTH);
    for (uint32_t level = 0; level < DEPTH; level++)
        assert_false(sf_bfs_levels(search)[level].bottom_up);
    assert_true(sf_bfs_levels(search)[DEPTH].bottom_up);
    sf_bfs_result_free(&result);
    sf_bfs_close(search);
    sf_csr_free(&tree);
}

/* Vertices joined at random, all near each other, and one of them with a row, from whose middle others hang.
 */
enum { BULK = 40000, JOINED = 8 * BULK, HUB_EDGES = 200, HANGING = 60, REACHED = BULK + TAIL + HANGING };

static sf_csr make_bulk(void)
{
    sf_edge_list list = start_list(REACHED + 30, false); /* the last ones have no edge */
    test_random random = test_random_start("bulk", 1);
    for (uint32_t v = 1; v < BULK; v++)
        add(&list, (uint32_t)test_random_below(&random, v), v);
    for (uint32_t e = 0; e < JOINED; e++)
        add(&list, (uint32_t)test_random_below(&random, BULK), (uint32_t)test_random_below(&random, BULK));
    for (uint32_t e = 0; e < HUB_EDGES; e++)
        add(&list, 0, (uint32_t)test_random_below(&random, BULK));
    for (uint32_t v = BULK; v < BULK + TAIL; v++)
        add(&list, v - 1, v);
    for (uint32_t v = BULK + TAIL; v < REACHED; v++)
        add(&list, BULK + TAIL / 2, v);
    return build(&list, 0);
}

/* When few vertices are left, a device that can have 16 blocks searches for them apart, from below, while it
 * writes out all others: by its rule it would search the row from above. */
static void the_last_vertices_are_found_apart(void **state)
{
    (void)state;
    sf_csr csr = make_bulk();
    static const uint32_t sources[] = {0, BULK + TAIL - 1, REACHED - 1, REACHED};
    for (size_t i = test_is_short() ? 2 : 0; i < sizeof sources / sizeof sources[0]; i++) {
        sf_bfs_result result = search(&csr, sources[i]);
        assert_int_equal(result.reached, sources[i] < REACHED ? REACHED : 1);
        sf_bfs_result_free(&result);
    }
    for (uint32_t d = 0; d < sf_device_count(); d++) {
        sf_backend_level log[LOGGED];
        uint32_t depth = log_on_device(sf_device_at(d), &csr, log);
        for (uint32_t level = depth - TAIL / 2; level <= depth; level++)
            assert_true(log[level].bottom_up);
    }
    sf_csr_free(&csr);
    sf_devices_close();
}

static void offsets_are_64_bit(void **state)
{
    (void)state;
    const uint64_t base = (UINT64_C(1) << 31) + 5;
    sf_csr small = make_path(50);
    uint64_t edges = sf_csr_edge_count(&small);
    size_t bytes = (base + edges) * sizeof(uint32_t);
    void *space =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) {
        sf_csr_free(&small);
        skip();
    }
    uint64_t offsets[51];
    sf_csr large = {.vertex_count = 50, .offsets = offsets, .targets = space};
    for (uint32_t v = 0; v <= 50; v++)
        offsets[v] = small.offsets[v] + base;
    memcpy(large.targets + base, small.targets, edges * sizeof(uint32_t));
    expect(&large, 0, 50, 49);
    sf_csr turned;
    assert_int_equal(sf_csr_transpose(&turned, &large, NULL), SF_OK);
    expect(&turned, 49, 50, 49);
    sf_csr_free(&turned);
    sf_csr_free(&small);
    munmap(space, bytes);
}

static void a_search_can_be_cut_and_a_source_must_exist(void **state)
{
    (void)state;
    sf_csr path = make_path(10);
    sf_bfs_result result;
    assert_int_equal(sf_bfs(&result, &path, 4, 2, NULL), SF_OK);
    assert_int_equal(result.reached, 5);
    assert_int_equal(result.depth, 2);
    assert_true(result.levels[7] == SF_UNREACHED);
    sf_bfs_result_free(&result);
    sf_error error = {0};
    test_assert_fails(sf_bfs(&result, &path, 10, 2, &error), &error, SF_USAGE, "no vertex 10");
    sf_bfs_search *search;
    sf_bfs_result again = {0};
    assert_int_equal(sf_bfs_open(&search, &path, &(sf_bfs_options){0}, NULL), SF_OK);
    test_assert_fails(sf_bfs_run(search, 10, &again, &error), &error, SF_USAGE, "no vertex 10");
    sf_bfs_close(search);
    sf_csr_free(&path);
    sf_edge_list list = start_list(2, true);
    add(&list, 0, 2);
    sf_csr graph;
    test_assert_fails(sf_csr_build(&graph, &list, 0, &error), &error, SF_DATA, "2 vertices");
    sf_edge_list_free(&list);
}

/* A row of expected.txt: what a search must find. */
static void check_row(const char *path, bool undirected, const unsigned long long numbers[6],
                      const char *histogram)
{
    sf_edge_list list;
    sf_error error;
    if (sf_graph_read(&list, path, NULL, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    list.directed = !undirected;
    sf_csr graph = build(&list, SF_CSR_SIMPLE);
    sf_bfs_result result = search(&graph, (uint32_t)numbers[2]);
    assert_int_equal(graph.vertex_count, numbers[0]);
    assert_int_equal(sf_csr_edge_count(&graph), numbers[1]);
    assert_int_equal(result.reached, numbers[3]);
    assert_int_equal(result.depth, numbers[4]);
    assert_int_equal(result.edges, numbers[5]);
    uint32_t level = 0;
    char *end;
    for (const char *s = histogram; *s != '\0' && *s != '\n'; s = end + strspn(end, " ")) {
        unsigned long long size = strtoull(s, &end, 10);
        if (strncmp(end, "...", 3) == 0) { /* the rest is counted from the end */
            uint32_t left = 0;
            end += 3;
            for (const char *p = end + strspn(end, " "); *p != '\0'; p += strspn(p, " ")) {
                left++;
                p += strcspn(p, " ");
            }
            level = result.depth + 1 - left;
            continue;
        }
        assert_true(level <= result.depth);
        assert_int_equal(result.level_sizes[level++], size);
    }
    assert_int_equal(level, result.depth + 1);
    sf_bfs_result_free(&result);
    sf_csr_free(&graph);
}

static void the_karate_club(void **state)
{
    (void)state;
    static const char club[] = SYNFIRE_SOURCE "/tests/data/karate.mtx";
    check_row(club, true, (const unsigned long long[]){34, 156, 0, 34, 3, 156}, "1 16 9 8");
    check_row(club, true, (const unsigned long long[]){34, 156, 30, 34, 4, 156}, "1 4 20 8 1");
}

static void every_row_of_the_expected_file(void **state)
{
    (void)state;
    char *path = test_data_path("bfs/expected.txt");
    if (path == NULL || test_rounds(0) > 0) skip();
    FILE *file = fopen(path, "r");
    free(path);
    assert_non_null(file);
    char line[512];
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char name[64], kind[32], histogram[256];
        unsigned long long n[6];
        if (sscanf(line, "%63s | %31s | %llu | %llu | %llu | %llu | %llu | %llu | %255[^|]", name, kind,
                   &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], histogram) != 9)
            continue;
        histogram[strcspn(histogram, "\n")] = '\0';
        for (size_t length = strlen(histogram); length > 0 && histogram[length - 1] == ' ';)
            histogram[--length] = '\0';
        char relative[128];
        snprintf(relative, sizeof relative, "bfs/%s", name);
        path = test_data_path(relative);
        assert_non_null(path);
        if (!test_is_short() || rows % 4 == 0) check_row(path, strcmp(kind, "undirected") == 0, n, histogram);
        free(path);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 13);
}

/* The same levels on a device, and parents that keep the rules. */
static void many_on_a_device(const sf_csr *graph, const uint32_t *sources, size_t count,
                             const uint32_t *expected)
{
    sf_device_graph copy;
    sf_error error;
    uint32_t n = graph->vertex_count;
    uint32_t *levels = calloc(count * n, sizeof *levels), *parents = calloc(count * n, sizeof *parents);
    if (sf_device_graph_open(&copy, sf_device_at(0), graph, &error) != SF_OK ||
        sf_device_bfs_many(&copy, sources, count, levels, parents, NULL, &error) != SF_OK)
        fail_msg("%s", error.text);
    assert_memory_equal(levels, expected, count * n * sizeof *levels);
    for (size_t i = 0; i < count; i++) {
        sf_bfs_result alone;
        assert_int_equal(sf_bfs(&alone, graph, sources[i], UINT32_MAX, NULL), SF_OK);
        memcpy(alone.parents, parents + i * n, n * sizeof *parents);
        check(graph, sources[i], &alone, "among many on a device");
        sf_bfs_result_free(&alone);
    }
    assert_int_equal(sf_device_bfs_many(&copy, sources, count, levels, NULL, NULL, NULL), SF_OK);
    assert_memory_equal(levels, expected, count * n * sizeof *levels);
    free(levels);
    free(parents);
    sf_device_graph_close(&copy);
}

/* How far all vertices reach, on every device that is there as on the CPU. */
static void count_on_devices(const sf_csr *graph, uint32_t most)
{
    uint32_t n = graph->vertex_count;
    uint32_t *expected = calloc(2 * (size_t)n, sizeof *expected),
             *found = calloc(2 * (size_t)n, sizeof *found);
    assert_int_equal(sf_bfs_count(graph, most, 2, expected, expected + n, NULL, NULL), SF_OK);
    for (uint32_t i = 0; i < sf_device_count(); i++) {
        sf_error error;
        memset(found, 0, 2 * (size_t)n * sizeof *found);
        if (sf_device_bfs_count(sf_device_at(i), graph, most, found, found + n, NULL, &error) != SF_OK)
            fail_msg("%s", error.text);
        assert_memory_equal(found, expected, 2 * (size_t)n * sizeof *found);
    }
    free(expected);
    free(found);
}

static void many_sources_at_once_are_as_each_alone(void **state)
{
    (void)state;
    test_random random = test_random_start("many", 7);
    for (int round = 0; round < 40; round++) {
        sf_csr graph = make_random(&random, round % 2 ? SF_CSR_SIMPLE : 0);
        uint32_t n = graph.vertex_count, sources[150];
        size_t count = test_random_below(&random, 150) + 1;
        uint32_t *levels = calloc(count * n, sizeof *levels), *parents = calloc(count * n, sizeof *parents);
        for (size_t i = 0; i < count; i++)
            sources[i] = (uint32_t)test_random_below(&random, n);
        assert_int_equal(
            sf_bfs_many(&graph, sources, count, 2, levels, round % 3 ? parents : NULL, NULL, NULL), SF_OK);
        if (sf_device_count() > 0 && round < test_rounds(40))
            many_on_a_device(&graph, sources, count, levels);
        for (size_t i = 0; i < count; i++) {
            sf_bfs_result alone;
            assert_int_equal(sf_bfs(&alone, &graph, sources[i], UINT32_MAX, NULL), SF_OK);
            assert_memory_equal(levels + i * n, alone.levels, n * sizeof *levels);
            if (round % 3) {
                memcpy(alone.parents, parents + i * n, n * sizeof *parents);
                check(&graph, sources[i], &alone, "among many");
            }
            sf_bfs_result_free(&alone);
        }
        uint32_t most = (uint32_t)test_random_below(&random, 5), reached[64], depth[64];
        assert_true(n <= 64);
        assert_int_equal(sf_bfs_count(&graph, most, 2, reached, depth, NULL, NULL), SF_OK);
        for (uint32_t v = 0; v < n; v++) {
            sf_bfs_result alone;
            assert_int_equal(sf_bfs(&alone, &graph, v, most, NULL), SF_OK);
            assert_int_equal(reached[v], alone.reached);
            assert_int_equal(depth[v], alone.depth);
            sf_bfs_result_free(&alone);
        }
        count_on_devices(&graph, most);
        sf_error error = {0};
        sources[count - 1] = n;
        test_assert_fails(sf_bfs_many(&graph, sources, count, 2, levels, NULL, NULL, &error), &error,
                          SF_USAGE, "no vertex");
        free(levels);
        free(parents);
        sf_csr_free(&graph);
    }
}

/* 70 sources, in two words, of which some have no edge. */
static void search_from_many(const sf_csr *graph)
{
    enum { COUNT = 70 };
    uint32_t n = graph->vertex_count, sources[COUNT];
    uint32_t *levels = calloc((size_t)COUNT * n, sizeof *levels);
    for (uint32_t i = 0; i < COUNT; i++)
        sources[i] = i * 57 % n;
    assert_int_equal(sf_bfs_many(graph, sources, COUNT, 2, levels, NULL, NULL, NULL), SF_OK);
    for (uint32_t i = 0; i < COUNT; i += 23) {
        sf_bfs_result alone;
        assert_int_equal(sf_bfs(&alone, graph, sources[i], UINT32_MAX, NULL), SF_OK);
        assert_memory_equal(levels + (size_t)i * n, alone.levels, n * sizeof *levels);
        sf_bfs_result_free(&alone);
    }
    if (sf_device_count() > 0) many_on_a_device(graph, sources, COUNT, levels);
    free(levels);
}

static void kronecker_graphs_are_the_same_everywhere(void **state)
{
    (void)state;
    sf_kronecker kind;
    assert_int_equal(sf_kronecker_parse(&kind, "12:16:1", NULL), SF_OK);
    sf_edge_list list, again;
    assert_int_equal(sf_kronecker_edges(&list, &kind, 1, NULL, NULL), SF_OK);
    assert_int_equal(sf_kronecker_edges(&again, &kind, 3, NULL, NULL), SF_OK);
    assert_int_equal(list.edge_count, 16 << 12);
    assert_memory_equal(list.edges, again.edges, list.edge_count * sizeof *list.edges);
    sf_edge_list_free(&again);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t e = 0; e < list.edge_count; e++)
        hash = ((hash ^ list.edges[e].from) * UINT64_C(0x100000001b3) ^ list.edges[e].to) *
               UINT64_C(0x100000001b3);
    assert_true(hash == KRONECKER_12_16_1);
    sf_csr graph = build(&list, SF_CSR_SIMPLE);
    uint32_t hub = 0, isolated = 0;
    for (uint32_t v = 0; v < graph.vertex_count; v++) {
        hub = sf_csr_degree(&graph, v) > sf_csr_degree(&graph, hub) ? v : hub;
        isolated += sf_csr_degree(&graph, v) == 0;
    }
    assert_true(sf_csr_degree(&graph, hub) >
                500); /* skewed as such graphs are, many vertices without edges */
    assert_in_range(isolated, graph.vertex_count / 10, graph.vertex_count / 2);
    sf_bfs_result result = search(&graph, hub);
    assert_true(result.reached > graph.vertex_count / 2);
    sf_bfs_result_free(&result);
    search_from_many(&graph);
    sf_csr_free(&graph);
    static const char *const bad[] = {"",
                                      "20",
                                      "20:16",
                                      "0:16:1",
                                      "32:16:1",
                                      "20:0:1",
                                      "20:16:x",
                                      "20:16:1:2",
                                      "20:16:1:",
                                      "20:16:1:.5,.5",
                                      "20:16:1:0,.5,.4",
                                      "20:16:1:.5,.3,.2",
                                      "20:16:1:.5,-.1,.2",
                                      "20:16:1:.5,.1,.2:",
                                      "20:16:1:.5,.1,.2,.1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sf_error error = {0};
        test_assert_fails(sf_kronecker_parse(&kind, bad[i], &error), &error, SF_USAGE, NULL);
    }
}

static void devices_draw_the_same_kronecker_graph(void **state)
{
    (void)state;
    static const char *const kinds[] = {"1:1:1", "3:40:2", "12:16:1:0.45,0.15,0.15", "17:16:9"};
    if (test_no_device()) skip();
    for (int i = 0; i < 4 && i < test_rounds(4); i++) {
        sf_kronecker kind;
        sf_edge_list list;
        sf_device_graph drawn;
        sf_csr found;
        sf_error error;
        assert_int_equal(sf_kronecker_parse(&kind, kinds[i], NULL), SF_OK);
        assert_int_equal(sf_kronecker_edges(&list, &kind, 2, NULL, NULL), SF_OK);
        sf_csr graph = build(&list, SF_CSR_SIMPLE);
        if (sf_device_graph_generate(&drawn, sf_device_at(0), &kind, &error) != SF_OK ||
            sf_device_graph_read(&found, &drawn, true, &error) != SF_OK)
            fail_msg("%s", error.text);
        assert_memory_equal(found.offsets, graph.offsets, (graph.vertex_count + 1) * sizeof *graph.offsets);
        assert_memory_equal(found.targets, graph.targets, sf_csr_edge_count(&graph) * sizeof *graph.targets);
        uint32_t source = 0;
        while (source + 1 < graph.vertex_count && sf_csr_degree(&graph, source) == 0)
            source++;
        sf_bfs_result result = search(&graph, source);
        search_in_drawn_parts(&graph, &kind, source, &result);
        sf_bfs_result_free(&result);
        sf_csr_free(&found);
        sf_device_graph_close(&drawn);
        sf_csr_free(&graph);
    }
}

/* With the scrambling undone, each bit of the two ends falls into the quadrants by their chances. */
static void check_quadrants(const char *text, const double *chances)
{
    sf_kronecker kind;
    sf_edge_list list;
    assert_int_equal(sf_kronecker_parse(&kind, text, NULL), SF_OK);
    assert_int_equal(sf_kronecker_edges(&list, &kind, 2, NULL, NULL), SF_OK);
    uint32_t back[1 << 7];
    for (uint32_t v = 0; v < list.vertex_count; v++)
        back[sf_kronecker_scramble(v, &kind)] = v;
    for (unsigned bit = 0; bit < kind.scale; bit++) {
        double counts[4] = {0}, n = (double)list.edge_count;
        for (size_t e = 0; e < list.edge_count; e++)
            counts[2 * (back[list.edges[e].from] >> bit & 1) + (back[list.edges[e].to] >> bit & 1)]++;
        for (int q = 0; q < 4; q++)
            assert_true(fabs(counts[q] - n * chances[q]) < 5 * sqrt(n * chances[q] * (1 - chances[q])));
    }
    sf_edge_list_free(&list);
}

static void quadrants_have_their_chances(void **state)
{
    (void)state;
    check_quadrants("7:2000:1", (const double[]){0.57, 0.19, 0.19, 0.05});
    check_quadrants("7:2000:1:0.57,0.19,0.19", (const double[]){0.57, 0.19, 0.19, 0.05});
    check_quadrants("7:2000:2:0.45,0.15,0.15", (const double[]){0.45, 0.15, 0.15, 0.25});
    check_quadrants("5:9000:3:0.2,0.3,0.4", (const double[]){0.2, 0.3, 0.4, 0.1});
    sf_kronecker plain, said;
    assert_int_equal(sf_kronecker_parse(&plain, "10:4:1", NULL), SF_OK);
    assert_int_equal(sf_kronecker_parse(&said, "10:4:1:0.57,0.19,0.19", NULL), SF_OK);
    for (uint64_t i = 0; i < 4096; i++) {
        sf_edge a = sf_kronecker_edge(&plain, i), b = sf_kronecker_edge(&said, i);
        assert_true(a.from == b.from && a.to == b.to);
    }
}

/* As many labels as are asked for, alike in number, in the order of their random numbers; the edges stay. */
static void labels_are_drawn_apart_from_edges(void **state)
{
    (void)state;
    enum { VERTICES = 5000, EDGES = 20000 };
    sf_edge_list plain, list;
    assert_int_equal(sf_power_law_edges(&plain, &(sf_power_law){VERTICES, EDGES, 0.7, 10, 0, 9}, NULL),
                     SF_OK);
    for (uint32_t labels = 1; labels <= 64; labels *= 4) {
        assert_int_equal(
            sf_power_law_edges(&list, &(sf_power_law){VERTICES, EDGES, 0.7, 10, labels, 9}, NULL), SF_OK);
        assert_memory_equal(list.edges, plain.edges, EDGES * sizeof *list.edges);
        const double *values = list.vertex_columns.items[0].values;
        sf_random random = sf_random_start(9, 1);
        size_t counts[64] = {0};
        for (size_t v = 0; v < VERTICES; v++) {
            assert_true(values[v] == (double)sf_random_below(&random, labels));
            counts[(size_t)values[v]]++;
        }
        double p = 1.0 / labels, n = VERTICES;
        for (uint32_t l = 0; l < labels; l++)
            assert_true(fabs((double)counts[l] - n * p) <= 5 * sqrt(n * p * (1 - p)));
        sf_edge_list_free(&list);
    }
    sf_edge_list_free(&plain);
}

/* Every vertex appears once: the scrambling is a bijection, whatever the scale. */
static void kronecker_labels_are_a_permutation(void **state)
{
    (void)state;
    for (unsigned scale = 1; scale <= 9; scale++) {
        sf_kronecker kind = {.scale = scale, .edge_factor = 4096, .seed = scale};
        sf_edge_list list;
        assert_int_equal(sf_kronecker_edges(&list, &kind, 1, NULL, NULL), SF_OK);
        bool seen[512] = {false};
        size_t distinct = 0;
        for (size_t e = 0; e < list.edge_count; e++) {
            assert_true(list.edges[e].from < list.vertex_count && list.edges[e].to < list.vertex_count);
            distinct += !seen[list.edges[e].from];
            seen[list.edges[e].from] = true;
        }
        assert_int_equal(distinct, list.vertex_count);
        sf_edge_list_free(&list);
    }
}

static int search_a_path(void *context)
{
    (void)context;
    sf_edge_list list = start_list(0, false);
    sf_csr graph = {0};
    sf_bfs_result result = {0};
    size_t index;
    int status = SF_OK;
    for (int v = 0; v < 4 && status == SF_OK; v++)
        status = sf_edge_list_add_named(&list, "name", NULL);
    if (status == SF_OK) status = sf_columns_add(&list.edge_columns, SF_LABEL_COLUMN, &index, NULL);
    for (uint32_t v = 0; v < 3 && status == SF_OK; v++)
        status = sf_edge_list_add(&list, v, v + 1, NULL);
    for (size_t e = 0; e < list.edge_count; e++)
        list.edge_columns.items[0].values[e] = 1;
    if (status == SF_OK) status = sf_csr_build(&graph, &list, SF_CSR_SIMPLE, NULL);
    if (status == SF_OK) status = sf_bfs(&result, &graph, 0, UINT32_MAX, NULL);
    sf_bfs_result_free(&result);
    sf_bfs_search *search = NULL;
    graph.directed = true;
    if (status == SF_OK) status = sf_bfs_open(&search, &graph, &(sf_bfs_options){.threads = 2}, NULL);
    if (status == SF_OK) status = sf_bfs_run(search, 0, &result, NULL);
    sf_bfs_close(search);
    sf_bfs_result_free(&result);
    uint32_t source = 1, levels[4];
    if (status == SF_OK) status = sf_bfs_many(&graph, &source, 1, 1, levels, NULL, NULL, NULL);
    sf_csr_free(&graph);
    sf_edge_list_free(&list);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(search_a_path, NULL);
}

static bool allow(void *user, const char *what, double done, double total)
{
    (void)what;
    assert_true(done >= 0 && done <= total);
    return --*(long *)user >= 0;
}

/* However far it comes: a search that is kept is complete, and of the others there is nothing. */
static void many_searches_that_are_stopped_are_whole_or_empty(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    sf_edge_list list;
    sf_csr graph;
    sf_kronecker kind;
    assert_int_equal(sf_kronecker_parse(&kind, "9:8:3", NULL), SF_OK);
    assert_int_equal(sf_kronecker_edges(&list, &kind, 1, NULL, NULL), SF_OK);
    assert_int_equal(sf_csr_build(&graph, &list, SF_CSR_SIMPLE, NULL), SF_OK);
    sf_edge_list_free(&list);
    uint32_t n = graph.vertex_count, sources[COUNT];
    uint32_t *whole = calloc((size_t)COUNT * n, sizeof *whole),
             *levels = calloc((size_t)COUNT * n, sizeof *levels);
    for (uint32_t i = 0; i < COUNT; i++)
        sources[i] = i * 2 % n;
    assert_int_equal(sf_bfs_many(&graph, sources, COUNT, 1, whole, NULL, NULL, NULL), SF_OK);
    size_t kept = 0, calls = 0;
    for (int status = SF_CANCELLED; status != SF_OK; calls++) {
        long left = (long)calls;
        const sf_progress progress = {allow, &left};
        status = sf_bfs_many(&graph, sources, COUNT, 1, levels, NULL, &progress, NULL);
        assert_true(status == SF_OK || status == SF_CANCELLED);
        for (size_t i = 0, row = 0; i < COUNT; i++, row += n) {
            bool is_whole = levels[row + sources[i]] == 0;
            kept += is_whole;
            for (uint32_t v = 0; v < n; v++)
                assert_int_equal(levels[row + v], is_whole ? whole[row + v] : SF_UNREACHED);
        }
    }
    assert_true(calls > 12 && kept > COUNT &&
                kept < calls * COUNT); /* some were stopped, in each of four words */
    free(whole);
    free(levels);
    sf_csr_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_have_the_levels_of_relaxation),
        cmocka_unit_test(many_searches_that_are_stopped_are_whole_or_empty),
        cmocka_unit_test(shapes_are_searched_right),
        cmocka_unit_test(parts_that_no_path_reaches_stay_unreached),
        cmocka_unit_test(degrees_at_the_edges_of_the_queues),
        cmocka_unit_test(loops_and_duplicates_are_kept_or_removed),
        cmocka_unit_test(large_lists_are_built_the_same),
        cmocka_unit_test(columns_follow_their_edges),
        cmocka_unit_test(lists_by_degree_hold_the_transpose),
        cmocka_unit_test(wide_levels_are_searched_from_below),
        cmocka_unit_test(hubs_are_asked_first),
        cmocka_unit_test(gamma_is_over_30_percent),
        cmocka_unit_test(enterprise_turns_by_its_hubs),
        cmocka_unit_test(devices_search_wide_levels_from_below),
        cmocka_unit_test(trees_are_searched_from_above),
        cmocka_unit_test(the_last_vertices_are_found_apart),
        cmocka_unit_test(offsets_are_64_bit),
        cmocka_unit_test(a_search_can_be_cut_and_a_source_must_exist),
        cmocka_unit_test(many_sources_at_once_are_as_each_alone),
        cmocka_unit_test(kronecker_graphs_are_the_same_everywhere),
        cmocka_unit_test(devices_draw_the_same_kronecker_graph),
        cmocka_unit_test(kronecker_labels_are_a_permutation),
        cmocka_unit_test(quadrants_have_their_chances),
        cmocka_unit_test(labels_are_drawn_apart_from_edges),
        cmocka_unit_test(the_karate_club),
        cmocka_unit_test(every_row_of_the_expected_file),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    cmocka_set_test_filter(getenv("SYNFIRE_TEST_ONLY")); /* or all, where it is not set */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
