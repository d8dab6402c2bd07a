/* SPDX-License-Identifier: Apache-2.0 */
/* Known counts: 40 queries on the HPRD graph, and small graphs whose embeddings in themselves are their
 * automorphisms. */
#include "support/support.h"

#include "core/backend/find.h"
#include "graph/match/match.h"
#include "graph/motif/motif.h"
#include "io/graph/file.h"
#include "support/graphs.h"

static bool read_list(sf_edge_list *list, const char *relative)
{
    char *path = test_data_path(relative);
    if (path == NULL) return false;
    sf_error error;
    if (sf_graph_read(list, path, NULL, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    free(path);
    return true;
}

static sf_pattern read_pattern(const char *relative)
{
    sf_edge_list list;
    sf_pattern pattern;
    assert_true(read_list(&list, relative));
    assert_int_equal(sf_pattern_of_graph(&pattern, &list, NULL), SF_OK);
    sf_edge_list_free(&list);
    return pattern;
}

static sf_csr read_graph(const char *relative)
{
    sf_edge_list list;
    sf_csr graph = {0};
    if (!read_list(&list, relative)) return graph;
    assert_int_equal(sf_csr_build(&graph, &list, SF_CSR_SIMPLE, NULL), SF_OK);
    sf_edge_list_free(&list);
    return graph;
}

static uint64_t count(sf_match_index *index, const sf_pattern *pattern, sf_match_options options)
{
    sf_match_result result;
    sf_error error;
    if (sf_match_run(index, pattern, &options, &result, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    uint64_t found = result.count;
    sf_match_result_free(&result);
    return found;
}

/* Both engines, on every device that is there. */
static void check_devices(sf_match_index *index, const sf_pattern *pattern, sf_match_options options,
                          uint64_t expected)
{
    for (uint32_t d = 0; d < sf_device_count(); d++) {
        options.device = sf_device_name(sf_device_at(d));
        options.engine = "auto";
        assert_true(count(index, pattern, options) == expected);
        options.engine = "gvsm";
        assert_true(count(index, pattern, options) == expected);
    }
}

/* A pattern with its vertices in another order. */
static sf_pattern shuffle(const sf_pattern *pattern, test_random *random)
{
    uint32_t n = pattern->vertex_count, order[SF_PATTERN_MOST], place[SF_PATTERN_MOST];
    for (uint32_t u = 0; u < n; u++)
        order[u] = u;
    for (uint32_t u = n; u-- > 1;) {
        uint32_t w = (uint32_t)test_random_below(random, u + 1), swapped = order[u];
        order[u] = order[w];
        order[w] = swapped;
    }
    sf_pattern shuffled = {.directed = pattern->directed};
    for (uint32_t u = 0; u < n; u++) {
        place[order[u]] = u;
        assert_int_equal(sf_pattern_add_vertex(&shuffled, NULL, pattern->vertices[order[u]].label, NULL),
                         SF_OK);
    }
    for (size_t e = pattern->edge_count; e-- > 0;)
        assert_int_equal(sf_pattern_add_edge(&shuffled, place[pattern->edges[e].to],
                                             place[pattern->edges[e].from], SF_ANY_LABEL, false, NULL),
                         SF_OK);
    return shuffled;
}

static void the_queries_on_hprd_have_their_counts(void **state)
{
    (void)state;
    sf_csr graph = read_graph("subgraph/hprd/HPRD.graph");
    char *path = test_data_path("subgraph/hprd/expected.txt");
    if (graph.offsets == NULL || path == NULL) skip();
    sf_match_index *index;
    assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    free(path);
    test_random random = test_random_start("hprd", 21);
    char name[64];
    unsigned long long expected;
    int queries = 0;
    for (; fscanf(file, "%63[^:]:%llu ", name, &expected) == 2; queries++) {
        char relative[128];
        snprintf(relative, sizeof relative, "subgraph/hprd/query/%s.graph", name);
        sf_pattern pattern = read_pattern(relative), shuffled = shuffle(&pattern, &random);
        assert_int_equal(count(index, &pattern, (sf_match_options){.threads = 1}), expected);
        assert_int_equal(count(index, &shuffled, (sf_match_options){.threads = 1}), expected);
        assert_int_equal(count(index, &pattern, (sf_match_options){.threads = 2, .engine = "gvsm"}),
                         expected);
        check_devices(index, &pattern, (sf_match_options){0}, expected);
        uint64_t induced = count(index, &pattern, (sf_match_options){.semantics = SF_INDUCED, .threads = 1});
        uint64_t homomorphisms =
            count(index, &pattern, (sf_match_options){.semantics = SF_HOMOMORPHISM, .threads = 2});
        assert_true(induced <= expected && expected <= homomorphisms);
        sf_pattern_free(&pattern);
        sf_pattern_free(&shuffled);
    }
    assert_int_equal(queries, 40);
    fclose(file);
    sf_match_close(index);
    sf_csr_free(&graph);
}

/* A graph of up to ten vertices: a digit of `labels` each, and its edges as pairs of digits. */
static sf_edge_list make_toy(const char *labels, const char *edges)
{
    size_t n = strlen(labels), m = (strlen(edges) + 1) / 3;
    char text[512];
    int length = snprintf(text, sizeof text, "t %zu %zu\n", n, m);
    for (size_t v = 0; v < n; v++)
        length += snprintf(text + length, sizeof text - (size_t)length, "v %zu %c\n", v, labels[v]);
    for (size_t e = 0; e < m; e++)
        length += snprintf(text + length, sizeof text - (size_t)length, "e %c %c\n", edges[3 * e],
                           edges[3 * e + 1]);
    sf_edge_list list;
    sf_error error;
    if (test_graph_parse(&list, &sf_graph_labelled, text, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return list;
}

static void graphs_match_themselves_by_their_automorphisms(void **state)
{
    (void)state;
    static const struct {
        const char *labels, *edges;
        uint64_t automorphisms;
    } toys[] = {
        {"0000", "01 02 03 12 13 23", 24},                                   /* all joined */
        {"0000", "01 12 23 03", 8},                                          /* a ring */
        {"0101", "01 12 23 03", 4},                                          /* of two kinds in turn */
        {"0000", "01 12 23 03 02", 4},                                       /* with a chord */
        {"00000", "01 12 23 34 04", 10},                                     /* a ring of five */
        {"00000", "01 12 23 34 04 02", 2},                                   /* with a chord */
        {"0000000000", "01 12 23 34 04 05 16 27 38 49 57 79 69 68 58", 120}, /* Petersen's */
    };
    for (size_t i = 0; i < sizeof toys / sizeof toys[0]; i++) {
        uint64_t expected = toys[i].automorphisms;
        sf_edge_list list = make_toy(toys[i].labels, toys[i].edges);
        sf_csr graph;
        sf_pattern pattern;
        sf_match_index *index;
        assert_int_equal(sf_pattern_of_graph(&pattern, &list, NULL), SF_OK);
        assert_int_equal(sf_csr_build(&graph, &list, SF_CSR_SIMPLE, NULL), SF_OK);
        sf_edge_list_free(&list);
        assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
        assert_int_equal(count(index, &pattern, (sf_match_options){.threads = 1}), expected);
        assert_int_equal(count(index, &pattern, (sf_match_options){.semantics = SF_INDUCED, .threads = 1}),
                         expected);
        assert_int_equal(count(index, &pattern, (sf_match_options){.engine = "gvsm", .threads = 1}),
                         expected);
        check_devices(index, &pattern, (sf_match_options){0}, expected);
        check_devices(index, &pattern, (sf_match_options){.semantics = SF_INDUCED}, expected);
        assert_int_equal(count(index, &pattern, (sf_match_options){.distinct = true, .threads = 1}), 1);
        sf_match_close(index);
        sf_pattern_free(&pattern);
        sf_csr_free(&graph);
    }
}

static void the_worm_has_its_loops(void **state)
{
    (void)state;
    static const struct {
        const char *motif;
        uint64_t count;
    } loops[] = {{"A -> B; B -> C; A -> C", 14324}, {"A -> B; B -> C; A -> C; B !> A; C !> B; C !> A", 2965}};
    sf_edge_list list;
    if (!read_list(&list, "subgraph/celegans/celegans_chem.edges")) skip();
    list.directed = true;
    sf_csr graph;
    sf_match_index *index;
    assert_int_equal(sf_csr_build(&graph, &list, SF_CSR_DROP_DUPLICATES, NULL), SF_OK);
    sf_edge_list_free(&list);
    assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
    for (int i = 0; i < 2; i++) {
        sf_pattern pattern;
        assert_int_equal(sf_motif_parse(&pattern, "pattern", loops[i].motif, strlen(loops[i].motif), NULL),
                         SF_OK);
        assert_int_equal(count(index, &pattern, (sf_match_options){.threads = 1}), loops[i].count);
        check_devices(index, &pattern, (sf_match_options){0}, loops[i].count);
        sf_pattern_free(&pattern);
    }
    sf_match_close(index);
    sf_csr_free(&graph);
}

/* ---- large counts and limits ---- */

static sf_csr make_star(uint32_t leaves)
{
    sf_edge_list list = {.vertex_count = leaves + 1};
    for (uint32_t v = 1; v <= leaves; v++)
        assert_int_equal(sf_edge_list_add(&list, 0, v, NULL), SF_OK);
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    return graph;
}

static sf_pattern make_star_pattern(uint32_t leaves)
{
    sf_pattern pattern = {0};
    for (uint32_t u = 0; u <= leaves; u++)
        assert_int_equal(sf_pattern_add_vertex(&pattern, NULL, SF_ANY_LABEL, NULL), SF_OK);
    for (uint32_t u = 1; u <= leaves; u++)
        assert_int_equal(sf_pattern_add_edge(&pattern, 0, u, SF_ANY_LABEL, false, NULL), SF_OK);
    return pattern;
}

static void leaves_are_multiplied_not_enumerated(void **state)
{
    (void)state;
    sf_csr graph = make_star(1000);
    sf_match_index *index;
    assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
    sf_pattern pattern = make_star_pattern(6);
    uint64_t expected = 1000ull * 999 * 998 * 997 * 996 * 995;
    assert_true(count(index, &pattern, (sf_match_options){.threads = 1}) == expected);
    assert_true(count(index, &pattern, (sf_match_options){.distinct = true, .threads = 1}) == expected / 720);
    assert_true(count(index, &pattern, (sf_match_options){.engine = "gvsm", .threads = 2}) == expected);
    check_devices(index, &pattern, (sf_match_options){0}, expected);
    uint64_t power = 1000ull * 1000 * 1000 * 1000 * 1000 * 1000;
    assert_true(count(index, &pattern, (sf_match_options){.semantics = SF_HOMOMORPHISM, .threads = 1}) ==
                power + 1000); /* or the centre stands for every leaf, and any leaf for the centre */
    sf_pattern_free(&pattern);
    pattern = make_star_pattern(12);
    assert_true(count(index, &pattern, (sf_match_options){.semantics = SF_HOMOMORPHISM, .threads = 1}) ==
                UINT64_MAX); /* 10^36 does not fit */
    check_devices(index, &pattern, (sf_match_options){.semantics = SF_HOMOMORPHISM}, UINT64_MAX);
    sf_pattern_free(&pattern);
    sf_match_close(index);
    sf_csr_free(&graph);
}

static sf_csr make_complete(uint32_t vertices)
{
    sf_edge_list list = {.vertex_count = vertices};
    for (uint32_t v = 0; v < vertices; v++)
        for (uint32_t w = 0; w < v; w++)
            assert_int_equal(sf_edge_list_add(&list, v, w, NULL), SF_OK);
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    return graph;
}

static sf_pattern make_cycle(uint32_t vertices)
{
    sf_pattern pattern = {0};
    for (uint32_t u = 0; u < vertices; u++)
        assert_int_equal(sf_pattern_add_vertex(&pattern, NULL, SF_ANY_LABEL, NULL), SF_OK);
    for (uint32_t u = 0; u < vertices; u++)
        assert_int_equal(sf_pattern_add_edge(&pattern, u, (u + 1) % vertices, SF_ANY_LABEL, false, NULL),
                         SF_OK);
    return pattern;
}

static bool stop_at_once(void *user, const char *what, double done, double total)
{
    (void)user;
    (void)what;
    (void)done;
    (void)total;
    return false;
}

static void stop_a_long_search(const char *engine, const char *device)
{
    sf_csr graph = make_complete(60);
    sf_pattern pattern =
        make_cycle(12); /* more embeddings than can be counted one by one: without a limit this never ends */
    sf_match_index *index;
    assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
    sf_match_result result;
    sf_match_options options = {.engine = engine, .device = device, .threads = 2, .time_limit_s = 0.05};
    assert_int_equal(sf_match_run(index, &pattern, &options, &result, NULL, NULL), SF_OK);
    assert_true(result.truncated);
    sf_match_result_free(&result);
    options =
        (sf_match_options){.engine = engine, .device = device, .threads = 2, .limit = 100000, .keep = 10};
    assert_int_equal(sf_match_run(index, &pattern, &options, &result, NULL, NULL), SF_OK);
    assert_true(result.truncated && result.count == 100000 && result.kept == 10);
    sf_match_result_free(&result);
    const sf_progress progress = {.update = stop_at_once};
    options = (sf_match_options){.engine = engine, .device = device, .threads = 2};
    sf_error error = {0};
    test_assert_fails(sf_match_run(index, &pattern, &options, &result, &progress, &error), &error,
                      SF_CANCELLED, NULL);
    sf_match_close(index);
    sf_pattern_free(&pattern);
    sf_csr_free(&graph);
}

static void limits_and_cancelling_stop_a_long_search(void **state)
{
    (void)state;
    stop_a_long_search("auto", "cpu");
    stop_a_long_search("gvsm", "cpu");
    for (uint32_t d = 0; d < sf_device_count(); d++) {
        stop_a_long_search("auto", sf_device_name(sf_device_at(d)));
        stop_a_long_search("gvsm", sf_device_name(sf_device_at(d)));
    }
}

static void cliques_and_cycles_on_all_threads(void **state)
{
    (void)state;
    sf_csr graph = make_complete(25);
    sf_match_index *index;
    assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
    sf_pattern cycle = make_cycle(6);
    uint64_t expected = 25ull * 24 * 23 * 22 * 21 * 20;
    assert_true(count(index, &cycle, (sf_match_options){.threads = 3}) == expected);
    check_devices(index, &cycle, (sf_match_options){0}, expected);
    assert_true(count(index, &cycle, (sf_match_options){.distinct = true, .threads = 3}) == expected / 12);
    check_devices(index, &cycle, (sf_match_options){.distinct = true}, expected / 12);
    assert_true(count(index, &cycle, (sf_match_options){.semantics = SF_INDUCED, .threads = 3}) == 0);
    sf_pattern_free(&cycle);
    sf_match_close(index);
    sf_csr_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queries_on_hprd_have_their_counts),
        cmocka_unit_test(graphs_match_themselves_by_their_automorphisms),
        cmocka_unit_test(the_worm_has_its_loops),
        cmocka_unit_test(leaves_are_multiplied_not_enumerated),
        cmocka_unit_test(limits_and_cancelling_stop_a_long_search),
        cmocka_unit_test(cliques_and_cycles_on_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
