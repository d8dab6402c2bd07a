/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "oracle/match_cases.h"
#include "oracle/match_oracle.h"

#include "core/vector.h"
#include "graph/match/candidates.h"
#include "graph/match/rows.h"
#include "graph/match/terms.h"

/* ---- engines beside the oracle ---- */

/* What the techniques of gvsm did over the whole test: each must have had something to do. */
static uint64_t implied, merged, blacklisted, by_bitmaps, by_terms, taken_away, recalled, tables;

static sf_match_result run(sf_match_index *index, const sf_pattern *pattern, const sf_match_options *options)
{
    sf_match_result result;
    sf_error error;
    if (sf_match_run(index, pattern, options, &result, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    implied += result.implied;
    merged += result.merged;
    blacklisted += result.blacklisted;
    by_bitmaps += result.by_bitmaps;
    by_terms += result.terms > 0;
    taken_away += result.terms > 1;
    recalled += result.recalled;
    tables += result.tables;
    return result;
}

static void check_listing(sf_match_index *index, const sf_csr *data, const sf_pattern *pattern,
                          sf_match_options options, uint64_t expected)
{
    options.keep = 40;
    sf_match_result result = run(index, pattern, &options);
    assert_int_equal(result.count, expected);
    assert_false(result.truncated);
    assert_int_equal(result.kept, expected < 40 ? expected : 40);
    for (size_t i = 0; i < result.kept; i++) {
        const uint32_t *row = result.embeddings + i * pattern->vertex_count;
        assert_true(match_oracle_is_embedding(data, pattern, options.semantics, row));
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(row, result.embeddings + j * pattern->vertex_count,
                                    pattern->vertex_count * sizeof *row);
    }
    sf_match_result_free(&result);
    if (expected < 2) return;
    options.limit = expected - 1;
    result = run(index, pattern, &options);
    assert_int_equal(result.count, expected - 1);
    assert_true(result.truncated);
    sf_match_result_free(&result);
}

static void check_count(sf_match_index *index, const sf_pattern *pattern, const sf_match_options *options,
                        uint64_t expected)
{
    sf_match_result result = run(index, pattern, options);
    if (result.count != expected)
        fail_msg("%s without %#x found %llu embeddings, expected %llu (semantics %d)", options->engine,
                 options->without, (unsigned long long)result.count, (unsigned long long)expected,
                 options->semantics);
    assert_false(result.truncated);
    sf_match_result_free(&result);
}

/* The engine auto with sets as lists and as bitmaps, with all that processors have for them, and split. */
static const struct {
    int rows, level, terms, candidates;
} ways[] = {{SF_ROWS_WORTH, SF_VECTOR_AVX512, SF_TERMS_WORTH, SF_CANDIDATES_WORTH},
            {SF_ROWS_NEVER, SF_VECTOR_AVX512, SF_TERMS_NEVER, SF_CANDIDATES_FILTERED},
            {SF_ROWS_ALWAYS, SF_VECTOR_BASE, SF_TERMS_NEVER, SF_CANDIDATES_GROWN},
            {SF_ROWS_ALWAYS, SF_VECTOR_AVX2, SF_TERMS_NEVER, SF_CANDIDATES_WORTH},
            {SF_ROWS_ALWAYS, SF_VECTOR_AVX512, SF_TERMS_NEVER, SF_CANDIDATES_FILTERED},
            {SF_ROWS_WORTH, SF_VECTOR_AVX512, SF_TERMS_ALWAYS, SF_CANDIDATES_GROWN},
            {SF_ROWS_WORTH, SF_VECTOR_AVX512, SF_TERMS_TABLED, SF_CANDIDATES_GROWN}};

enum { WAYS = sizeof ways / sizeof ways[0] };

static void go(int way)
{
    sf_rows_when(ways[way].rows);
    sf_vector_limit(ways[way].level);
    sf_terms_when(ways[way].terms);
    sf_candidates_when(ways[way].candidates);
}

static void check_semantics(sf_match_index *index, const sf_csr *data, const sf_pattern *pattern,
                            sf_semantics semantics, sf_match_options options)
{
    uint64_t expected = match_oracle(data, pattern, semantics);
    options.semantics = semantics;
    check_count(index, pattern, &options, expected);
    check_listing(index, data, pattern, options, expected);
    if (semantics == SF_HOMOMORPHISM || pattern->relation_count > 0) return;
    for (uint32_t u = 0; u < pattern->vertex_count; u++)
        if (pattern->vertices[u].term_count > 0) return;
    for (size_t e = 0; e < pattern->edge_count; e++)
        if (pattern->edges[e].term_count > 0) return;
    uint64_t symmetries = match_oracle_automorphisms(pattern);
    options.distinct = true;
    assert_int_equal(expected % symmetries, 0);
    check_listing(index, data, pattern, options, expected / symmetries);
}

static void counts_are_those_of_the_oracle(void **state)
{
    (void)state;
    test_random random = test_random_start("match", 12);
    for (int round = 0; round < test_rounds(1500); round++) {
        match_kind k = match_draw_kind(&random);
        sf_csr data = match_draw_graph(&random, &k);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        sf_pattern pattern = match_draw_pattern(&random, &k, data.vertex_count > 8 ? 4 : 6);
        const sf_match_options engines[] = {
            {.engine = "auto", .threads = 1},
            {.engine = "gvsm", .threads = 1, .without = (unsigned)test_random_below(&random, 32)}};
        for (int e = 0; e < 2; e++) {
            go(round % WAYS);
            check_semantics(index, &data, &pattern, SF_ISOMORPHISM, engines[e]);
            check_semantics(index, &data, &pattern, SF_INDUCED, engines[e]);
            check_semantics(index, &data, &pattern, SF_HOMOMORPHISM, engines[e]);
        }
        sf_pattern_free(&pattern);
        sf_match_close(index);
        sf_csr_free(&data);
    }
    go(0);
    assert_true(test_is_short() || (implied > 0 && merged > 0 && blacklisted > 0 && by_bitmaps > 1000));
    assert_true(test_is_short() || (by_terms > 300 && taken_away > 0 && tables > 300));
}

static bool has_edge_labels(const sf_pattern *pattern)
{
    bool any = false;
    for (size_t e = 0; e < pattern->edge_count; e++)
        any |= pattern->edges[e].label != SF_ANY_LABEL;
    return any;
}

/* All that gvsm can do without, of patterns with labels of edges, directed and not, with loops and parallel
 * edges. */
static void techniques_leave_counts_by_labels_of_edges(void **state)
{
    (void)state;
    enum {
        TECHNIQUES = SF_GVSM_BLACKLIST | SF_GVSM_IMPLICATION | SF_GVSM_TWINS | SF_GVSM_ORDER | SF_GVSM_TWIGS
    };
    test_random random = test_random_start("edge labels", 18);
    implied = merged = blacklisted = 0;
    for (int round = 0; round < test_rounds(300); round++) {
        match_kind k = match_draw_kind(&random);
        k.edge_labelled = true;
        k.attributed = round % 8 == 0;
        sf_csr data = match_draw_graph(&random, &k);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        for (int p = 0; p < 2; p++) {
            sf_pattern pattern = match_draw_pattern(&random, &k, 5);
            sf_match_options options = {
                .engine = "gvsm", .threads = 1, .semantics = (sf_semantics)test_random_below(&random, 3)};
            uint64_t expected = match_oracle(&data, &pattern, options.semantics);
            for (; options.without <= TECHNIQUES && has_edge_labels(&pattern); options.without++)
                check_count(index, &pattern, &options, expected);
            sf_pattern_free(&pattern);
        }
        sf_match_close(index);
        sf_csr_free(&data);
    }
    assert_true(test_is_short() || (implied > 0 && merged > 0 && blacklisted > 0));
}

/* A path along an edge 0 and an edge 1, in more vertices than a thread takes at a time when it lists kinds.
 */
static void kinds_of_large_graphs_count_as_links_do(void **state)
{
    (void)state;
    test_random random = test_random_start("kinds", 19);
    for (int round = 0; round < 4; round++) {
        match_kind k = {
            .directed = round % 2 != 0, .labelled = round > 1, .edge_labelled = true, .labels = 2};
        sf_csr data = match_draw_hubs(&random, &k, 10000, 15000);
        sf_match_index *index;
        sf_pattern path = {.directed = k.directed};
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        for (uint32_t u = 0; u < 3; u++)
            assert_int_equal(
                sf_pattern_add_vertex(&path, NULL, k.labelled ? 3 * (u % 2) : SF_ANY_LABEL, NULL), SF_OK);
        for (uint32_t u = 0; u < 2; u++)
            assert_int_equal(sf_pattern_add_edge(&path, u, u + 1, u, false, NULL), SF_OK);
        sf_match_options options = {.device = "cpu", .threads = 3};
        uint64_t expected = run(index, &path, &options).count;
        options.engine = "gvsm";
        assert_int_equal(run(index, &path, &options).count, expected);
        assert_true(expected > 1000);
        sf_pattern_free(&path);
        sf_match_close(index);
        sf_csr_free(&data);
    }
}

/* Sets of many words, of vertices with labels and without, and what few can tell apart: more vertices at the
 * end of the order than one. */
static void bitmaps_count_as_lists_do(void **state)
{
    (void)state;
    test_random random = test_random_start("bitmaps", 14);
    uint64_t counted = 0;
    for (int round = 0; round < 24; round++) {
        match_kind k = {.directed = round % 2 != 0, .labelled = round % 3 != 0, .labels = 2};
        uint32_t vertices = 100 + (uint32_t)test_random_below(&random, 500);
        sf_csr data = match_draw_hubs(&random, &k, vertices, 2 * vertices);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        sf_pattern pattern = match_draw_pattern(&random, &k, 5);
        sf_match_options options = {
            .semantics = (sf_semantics)(round / 2 % 3), .device = "cpu", .threads = 1, .time_limit_s = 20};
        go(1);
        sf_match_result expected = run(index, &pattern, &options);
        assert_false(expected.by_bitmaps);
        for (int way = 2; way < WAYS && !expected.truncated; way++) {
            go(way);
            options.threads = way % 2 == 0 ? 1 : 3;
            sf_match_result result = run(index, &pattern, &options);
            assert_true(result.by_bitmaps || result.terms > 0 || expected.blacklisted == vertices);
            assert_int_equal(result.count, expected.count);
            counted += result.count > 0 && result.by_bitmaps;
        }
        sf_pattern_free(&pattern);
        sf_match_close(index);
        sf_csr_free(&data);
    }
    go(0);
    assert_true(counted > 20);
}

/* A spine of six vertices with a branch at each inner one. */
static void open_spine(sf_pattern *tree, bool directed)
{
    static const char edges[] = "abbccddeefbgchdi";
    *tree = (sf_pattern){.directed = directed};
    for (uint32_t u = 0; u < 9; u++)
        assert_int_equal(sf_pattern_add_vertex(tree, NULL, 3 * (u % 3), NULL), SF_OK);
    for (const char *e = edges; *e != '\0'; e += 2)
        assert_int_equal(sf_pattern_add_edge(tree, (uint32_t)(e[0] - 'a'), (uint32_t)(e[1] - 'a'),
                                             SF_ANY_LABEL, false, NULL),
                         SF_OK);
}

/* A search goes through all ways to match most of a tree, while terms go through the ways to match what bears
 * on a component. Both count the same. */
static void what_falls_apart_is_counted_apart(void **state)
{
    (void)state;
    test_random random = test_random_start("split", 15);
    recalled = 0;
    for (int round = 0; round < 4; round++) {
        match_kind k = {.directed = round % 2 != 0, .labelled = true, .labels = 3};
        sf_pattern tree;
        sf_csr data = match_draw_hubs(&random, &k, 150, 900);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        open_spine(&tree, k.directed);
        sf_match_options options = {.device = "cpu", .threads = 1};
        go(4);
        sf_match_result searched = run(index, &tree, &options);
        go(5);
        options.threads = 1 + 2 * (unsigned)(round / 2);
        sf_match_result split = run(index, &tree, &options);
        assert_int_equal(searched.terms, 0);
        assert_true(split.terms > 0 || searched.count == 0);
        assert_int_equal(split.count, searched.count);
        sf_pattern_free(&tree);
        sf_match_close(index);
        sf_csr_free(&data);
    }
    go(0);
    assert_true(recalled > 100);
}

/* A ring of 5 to 7 vertices and a vertex beside two of them or one: components that two blocks bear on, whose
 * tables are made of others, by rows and by columns. */
static void open_ring(sf_pattern *pattern, test_random *random, const match_kind *k)
{
    uint32_t ring = 5 + (uint32_t)test_random_below(random, 3);
    *pattern = (sf_pattern){.directed = k->directed};
    for (uint32_t u = 0; u <= ring; u++)
        assert_int_equal(
            sf_pattern_add_vertex(pattern, NULL, 3 * (uint32_t)test_random_below(random, 2), NULL), SF_OK);
    for (uint32_t u = 0; u < ring; u++)
        assert_int_equal(sf_pattern_add_edge(pattern, u, (u + 1) % ring, SF_ANY_LABEL, false, NULL), SF_OK);
    for (uint32_t i = 0; i <= test_random_below(random, 2); i++)
        assert_int_equal(sf_pattern_add_edge(pattern, 3 * i, ring, SF_ANY_LABEL, false, NULL), SF_OK);
}

static void tables_count_as_searches_do(void **state)
{
    (void)state;
    test_random random = test_random_start("tables", 17);
    uint64_t split = 0;
    tables = 0;
    for (int round = 0; round < test_rounds(60); round++) {
        match_kind k = {.directed = round % 3 == 0, .labelled = true, .labels = 2};
        sf_pattern pattern;
        sf_csr data = match_draw_hubs(&random, &k, 60, 180);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        open_ring(&pattern, &random, &k);
        sf_match_options options = {.semantics = (sf_semantics)(round % 3),
                                    .device = "cpu",
                                    .threads = 1 + 2 * (unsigned)(round % 2)};
        go(4);
        sf_match_result searched = run(index, &pattern, &options);
        go(6);
        sf_match_result result = run(index, &pattern, &options);
        assert_int_equal(result.count, searched.count);
        split += result.terms > 0 && result.count > 0;
        sf_pattern_free(&pattern);
        sf_match_close(index);
        sf_csr_free(&data);
    }
    go(0);
    assert_true(test_is_short() || (split > 30 && tables > 100));
}

typedef struct told {
    int calls, stop_at, moved;
    double last, share;
} told;

static bool tell(void *user, const char *what, double done, double total)
{
    told *t = user;
    assert_string_equal(what, "matching");
    assert_true(done >= t->last && done <= total);
    t->moved += done > t->last;
    t->last = done;
    t->share = done / total;
    return ++t->calls != t->stop_at;
}

/* A ring that is all tables on one thread: that tables are made is told of, also while one is made, and it
 * stops when it is to, at once. */
static void tables_tell_how_far_they_are_and_stop(void **state)
{
    (void)state;
    test_random random = test_random_start("told", 19);
    match_kind k = {.directed = false, .labelled = true, .labels = 1};
    sf_csr data = match_draw_hubs(&random, &k, 700, 7000);
    sf_pattern ring = {0};
    sf_match_index *index;
    for (uint32_t u = 0; u < 6; u++)
        assert_int_equal(sf_pattern_add_vertex(&ring, NULL, 0, NULL), SF_OK);
    for (uint32_t u = 0; u < 6; u++)
        assert_int_equal(sf_pattern_add_edge(&ring, u, (u + 1) % 6, SF_ANY_LABEL, false, NULL), SF_OK);
    assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
    const sf_match_options options = {.device = "cpu", .threads = 1, .semantics = SF_HOMOMORPHISM};
    told all = {0};
    sf_match_result result;
    go(6);
    const sf_progress progress = {tell, &all};
    assert_int_equal(sf_match_run(index, &ring, &options, &result, &progress, NULL), SF_OK);
    assert_int_equal(result.terms, 1); /* a walk may meet itself: nothing is taken away */
    assert_int_equal(result.tables, 1);
    assert_true(all.calls > 20 && all.moved > 20 && all.share > 0.9);
    for (int at = 1; at <= all.calls; at += 1 + all.calls / 8) {
        told some = {.stop_at = at};
        const sf_progress impatient = {tell, &some};
        assert_int_equal(sf_match_run(index, &ring, &options, &result, &impatient, NULL), SF_CANCELLED);
        assert_int_equal(some.calls, at);
    }
    go(0);
    sf_pattern_free(&ring);
    sf_match_close(index);
    sf_csr_free(&data);
}

/* Terms of a search are planned only where the bitmaps that they are counted by would have room, which is
 * asked by the numbers of candidates: of a space on a device there is nothing else. */
static void terms_are_not_planned_without_room(void **state)
{
    (void)state;
    test_random random = test_random_start("room", 20);
    match_kind k = {.directed = false, .labelled = true, .labels = 3};
    sf_csr data = match_draw_hubs(&random, &k, 150, 900);
    sf_pattern tree;
    sf_match_index *index;
    sf_query query;
    sf_space space;
    sf_plan plan;
    open_spine(&tree, k.directed);
    assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
    assert_int_equal(sf_query_open(&query, index, &tree, SF_ISOMORPHISM, NULL), SF_OK);
    assert_int_equal(sf_space_open(&space, &query, 1, NULL), SF_OK);
    sf_plan_make(&plan, &space, NULL, SF_PLAN_GROUP);
    sf_terms_when(SF_TERMS_ALWAYS);
    for (int large = 0; large < 2; large++) {
        sf_terms terms;
        for (uint32_t u = 0; u < query.count && large; u++)
            space.counts[u] = space.labelled[u] = 100000;
        assert_int_equal(sf_terms_open(&terms, &space, &plan, NULL), SF_OK);
        assert_true((terms.items != NULL) == !large);
        sf_terms_close(&terms);
    }
    go(0);
    sf_space_close(&space);
    sf_query_close(&query);
    sf_pattern_free(&tree);
    sf_match_close(index);
    sf_csr_free(&data);
}

/* Left to itself, auto splits what a search would be long at, and only that. */
static void a_long_search_is_split(void **state)
{
    (void)state;
    test_random random = test_random_start("long", 16);
    match_kind k = {.directed = false, .labelled = true, .labels = 3};
    go(0);
    for (int large = 0; large < 2; large++) {
        sf_pattern tree;
        sf_csr data = match_draw_hubs(&random, &k, large ? 1000 : 30, large ? 30000 : 60);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        open_spine(&tree, k.directed);
        sf_match_options options = {.device = "cpu", .threads = 1};
        assert_int_equal(run(index, &tree, &options).terms > 0, large);
        sf_pattern_free(&tree);
        sf_match_close(index);
        sf_csr_free(&data);
    }
}

/* Graphs with hubs and a search of some ten milliseconds: threads have nothing to do but what they take from
 * one. Whether one waits when another looks is the scheduler's: again, until it was so. */
static void share_by(int way)
{
    test_random random = test_random_start("share", 13);
    uint64_t shared = 0, given = 0;
    sf_pattern cycle = {0};
    for (uint32_t u = 0; u < 6; u++)
        assert_int_equal(sf_pattern_add_vertex(&cycle, NULL, SF_ANY_LABEL, NULL), SF_OK);
    for (uint32_t u = 0; u < 6; u++)
        assert_int_equal(sf_pattern_add_edge(&cycle, u, (u + 1) % 6, SF_ANY_LABEL, false, NULL), SF_OK);
    go(way);
    for (int round = 0; round < 200 && (round < 6 || given == 0); round++) {
        match_kind k = {.directed = round % 2 != 0};
        cycle.directed = k.directed;
        sf_csr data = match_draw_hubs(&random, &k, 60, 500);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        sf_match_options options = {.semantics = (sf_semantics)(round % 3), .device = "cpu", .threads = 1};
        sf_match_result expected = run(index, &cycle, &options);
        options.threads = 5;
        sf_match_result result = run(index, &cycle, &options);
        assert_int_equal(result.count, expected.count);
        shared += result.shared;
        given += result.given;
        sf_match_close(index);
        sf_csr_free(&data);
    }
    go(0);
    sf_pattern_free(&cycle);
    assert_true(shared > given && given > 0);
}

static void threads_share_one_root(void **state)
{
    (void)state;
    share_by(1);
    share_by(4);
}

static int count_cycles(void *context)
{
    sf_match_index *index = NULL;
    sf_match_result result = {0};
    const sf_pattern *pattern = context;
    sf_edge_list list = {0};
    sf_csr data = {0};
    int status = sf_edge_list_set_vertices(&list, 30, NULL);
    for (uint32_t v = 0; v < 30 && status == SF_OK; v++)
        for (uint32_t k = 1; k <= 5 && status == SF_OK; k++)
            status = sf_edge_list_add(&list, v, (v + k) % 30, NULL);
    if (status == SF_OK) status = sf_csr_build(&data, &list, 0, NULL);
    if (status == SF_OK) status = sf_match_open(&index, &data, NULL);
    if (status == SF_OK)
        status = sf_match_run(index, pattern, &(sf_match_options){.device = "cpu", .threads = 3}, &result,
                              NULL, NULL);
    assert_true(status != SF_OK || result.shared > 0 || result.terms > 0);
    sf_match_result_free(&result);
    sf_match_close(index);
    sf_csr_free(&data);
    sf_edge_list_free(&list);
    return status;
}

static void lose_every_allocation(int way, uint32_t length)
{
    sf_pattern cycle = {0};
    for (uint32_t u = 0; u < length; u++)
        assert_int_equal(sf_pattern_add_vertex(&cycle, NULL, SF_ANY_LABEL, NULL), SF_OK);
    for (uint32_t u = 0; u < length; u++)
        assert_int_equal(sf_pattern_add_edge(&cycle, u, (u + 1) % length, SF_ANY_LABEL, false, NULL), SF_OK);
    go(way);
    test_fail_every_allocation(count_cycles, &cycle);
    go(0);
    sf_pattern_free(&cycle);
}

/* Terms allocate: of a cycle of 7 some thousand times, and all is done again for each. */
static void no_memory_is_no_crash(void **state)
{
    (void)state;
    lose_every_allocation(1, 7);
    lose_every_allocation(4, 7);
    lose_every_allocation(5, 6);
    lose_every_allocation(6, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_oracle),
        cmocka_unit_test(techniques_leave_counts_by_labels_of_edges),
        cmocka_unit_test(kinds_of_large_graphs_count_as_links_do),
        cmocka_unit_test(bitmaps_count_as_lists_do),
        cmocka_unit_test(what_falls_apart_is_counted_apart),
        cmocka_unit_test(tables_count_as_searches_do),
        cmocka_unit_test(tables_tell_how_far_they_are_and_stop),
        cmocka_unit_test(terms_are_not_planned_without_room),
        cmocka_unit_test(a_long_search_is_split),
        cmocka_unit_test(threads_share_one_root),
        cmocka_unit_test(no_memory_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
