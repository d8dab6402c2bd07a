/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "oracle/match_oracle.h"

#include <math.h>

/* ---- random graphs and patterns
 * ------------------------------------------------------------------------------- */

typedef struct kind {
    bool directed, labelled, edge_labelled, attributed;
    uint32_t labels;
} kind;

static void add_columns(sf_edge_list *list, test_random *random, const kind *k)
{
    size_t index;
    if (k->labelled) {
        assert_int_equal(sf_columns_add(&list->vertex_columns, SF_LABEL_COLUMN, &index, NULL), SF_OK);
        for (size_t v = 0; v < list->vertex_count; v++)
            list->vertex_columns.items[index].values[v] = (double)(3 * test_random_below(random, k->labels));
    }
    if (k->edge_labelled) {
        assert_int_equal(sf_columns_add(&list->edge_columns, SF_LABEL_COLUMN, &index, NULL), SF_OK);
        for (size_t e = 0; e < list->edge_count; e++)
            list->edge_columns.items[index].values[e] = (double)test_random_below(random, 2);
    }
    if (!k->attributed)
        return;
    assert_int_equal(sf_columns_add(&list->vertex_columns, "rate", &index, NULL), SF_OK);
    for (size_t v = 0; v < list->vertex_count; v++)
        list->vertex_columns.items[index].values[v] =
            test_random_below(random, 8) == 0 ? NAN : (double)test_random_below(random, 4);
    assert_int_equal(sf_columns_add(&list->vertex_columns, "class", &index, NULL), SF_OK);
    for (size_t v = 0; v < list->vertex_count; v++)
        assert_int_equal(sf_column_word(&list->vertex_columns.items[index],
                                        test_random_below(random, 2) ? "excitatory" : "inhibitory",
                                        &list->vertex_columns.items[index].values[v], NULL),
                         SF_OK);
    assert_int_equal(sf_columns_add(&list->edge_columns, "count", &index, NULL), SF_OK);
    for (size_t e = 0; e < list->edge_count; e++)
        list->edge_columns.items[index].values[e] = (double)test_random_below(random, 5);
}

static sf_csr draw_graph(test_random *random, const kind *k)
{
    sf_edge_list list = {.directed = k->directed};
    uint32_t vertices = (uint32_t)test_random_below(random, 12) + 1;
    assert_int_equal(sf_edge_list_set_vertices(&list, vertices, NULL), SF_OK);
    uint64_t edges = test_random_below(random, (uint64_t)vertices * 4);
    for (uint64_t e = 0; e < edges; e++)
        assert_int_equal(sf_edge_list_add(&list, (uint32_t)test_random_below(random, vertices),
                                          (uint32_t)test_random_below(random, vertices), NULL),
                         SF_OK);
    if (k->labelled || k->attributed)
        assert_int_equal(sf_columns_grow(&list.vertex_columns, vertices, NULL), SF_OK);
    if (k->edge_labelled || k->attributed)
        assert_int_equal(sf_columns_grow(&list.edge_columns, list.edge_count, NULL), SF_OK);
    add_columns(&list, random, k);
    sf_csr graph;
    sf_error error;
    if (sf_csr_build(&graph, &list, 0, &error) != SF_OK)
        fail_msg("%s", error.text);
    sf_edge_list_free(&list);
    return graph;
}

static void draw_terms(sf_pattern *pattern, test_random *random)
{
    for (uint32_t u = 0; u < pattern->vertex_count; u++) {
        sf_pattern_vertex *vertex = &pattern->vertices[u];
        if (test_random_below(random, 4) == 0)
            assert_int_equal(sf_terms_add(&vertex->terms, &vertex->term_count, "rate",
                                          (sf_comparison)test_random_below(random, 6),
                                          (double)test_random_below(random, 4), NULL, NULL),
                             SF_OK);
        if (test_random_below(random, 6) == 0)
            assert_int_equal(sf_terms_add(&vertex->terms, &vertex->term_count, "class",
                                          (sf_comparison)test_random_below(random, 2), 0,
                                          test_random_below(random, 9) ? "inhibitory" : "unheard of", NULL),
                             SF_OK);
    }
    for (size_t e = 0; e < pattern->edge_count; e++)
        if (test_random_below(random, 3) == 0)
            assert_int_equal(sf_terms_add(&pattern->edges[e].terms, &pattern->edges[e].term_count, "count",
                                          (sf_comparison)test_random_below(random, 6),
                                          (double)test_random_below(random, 5), NULL, NULL),
                             SF_OK);
    uint32_t n = pattern->vertex_count;
    if (n > 1 && test_random_below(random, 2) == 0) {
        uint32_t left = (uint32_t)test_random_below(random, n);
        sf_relation relation = {left, (left + 1) % n, (char *)(uintptr_t) "rate", (char *)(uintptr_t) "rate",
                                (sf_comparison)test_random_below(random, 6)};
        assert_int_equal(sf_pattern_add_relation(pattern, &relation, NULL), SF_OK);
    }
}

static sf_pattern draw_pattern(test_random *random, const kind *k, uint32_t most)
{
    sf_pattern pattern = {.directed = k->directed};
    uint32_t vertices = (uint32_t)test_random_below(random, most) + 1;
    for (uint32_t u = 0; u < vertices; u++) {
        uint32_t label = k->labelled && test_random_below(random, 4) != 0
                             ? (uint32_t)(3 * test_random_below(random, k->labels))
                             : SF_ANY_LABEL;
        assert_int_equal(sf_pattern_add_vertex(&pattern, NULL, label, NULL), SF_OK);
    }
    uint64_t edges = test_random_below(random, 2 * (uint64_t)vertices + 1);
    bool is_star = test_random_below(random, 3) == 0;
    for (uint64_t e = 0; e < edges; e++) {
        uint32_t label = k->edge_labelled && test_random_below(random, 3) == 0
                             ? (uint32_t)test_random_below(random, 2)
                             : SF_ANY_LABEL;
        /* First a path or a star, so that most patterns hang together. */
        bool is_frame = e + 1 < vertices;
        uint32_t to = is_frame ? (uint32_t)e + 1 : (uint32_t)test_random_below(random, vertices);
        uint32_t from = !is_frame ? (uint32_t)test_random_below(random, vertices) : is_star ? 0 : (uint32_t)e;
        assert_int_equal(
            sf_pattern_add_edge(&pattern, from, to, label, test_random_below(random, 8) == 0, NULL), SF_OK);
    }
    if (k->attributed)
        draw_terms(&pattern, random);
    return pattern;
}

/* ---- engines beside the oracle
 * --------------------------------------------------------------------------------- */

/* What the techniques of gvsm did over the whole test: each must have had something to do. */
static uint64_t implied, merged, blacklisted;

static sf_match_result run(sf_match_index *index, const sf_pattern *pattern, const sf_match_options *options)
{
    sf_match_result result;
    sf_error error;
    if (sf_match_run(index, pattern, options, &result, &error) != SF_OK)
        fail_msg("%s", error.text);
    implied += result.implied;
    merged += result.merged;
    blacklisted += result.blacklisted;
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
    if (expected < 2)
        return;
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

static void check_semantics(sf_match_index *index, const sf_csr *data, const sf_pattern *pattern,
                            sf_semantics semantics, sf_match_options options)
{
    uint64_t expected = match_oracle(data, pattern, semantics);
    options.semantics = semantics;
    check_count(index, pattern, &options, expected);
    check_listing(index, data, pattern, options, expected);
    if (semantics == SF_HOMOMORPHISM || pattern->relation_count > 0)
        return;
    for (uint32_t u = 0; u < pattern->vertex_count; u++)
        if (pattern->vertices[u].term_count > 0)
            return;
    for (size_t e = 0; e < pattern->edge_count; e++)
        if (pattern->edges[e].term_count > 0)
            return;
    uint64_t symmetries = match_oracle_automorphisms(pattern);
    options.distinct = true;
    assert_int_equal(expected % symmetries, 0);
    check_listing(index, data, pattern, options, expected / symmetries);
}

static void counts_are_those_of_the_oracle(void **state)
{
    (void)state;
    test_random random = test_random_start("match", 12);
    for (int round = 0; round < 1500; round++) {
        kind k = {.directed = test_random_below(&random, 2),
                  .labelled = test_random_below(&random, 2),
                  .edge_labelled = test_random_below(&random, 4) == 0,
                  .attributed = test_random_below(&random, 3) == 0,
                  .labels = (uint32_t)test_random_below(&random, 3) + 1};
        sf_csr data = draw_graph(&random, &k);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        sf_pattern pattern = draw_pattern(&random, &k, data.vertex_count > 8 ? 4 : 6);
        const sf_match_options engines[] = {
            {.engine = "auto", .threads = 1},
            {.engine = "gvsm", .threads = 1, .without = (unsigned)test_random_below(&random, 32)}};
        for (int e = 0; e < 2; e++) {
            check_semantics(index, &data, &pattern, SF_ISOMORPHISM, engines[e]);
            check_semantics(index, &data, &pattern, SF_INDUCED, engines[e]);
            check_semantics(index, &data, &pattern, SF_HOMOMORPHISM, engines[e]);
        }
        sf_pattern_free(&pattern);
        sf_match_close(index);
        sf_csr_free(&data);
    }
    assert_true(implied > 0 && merged > 0 && blacklisted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
