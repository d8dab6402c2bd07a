/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/match_cases.h"

#include <math.h>

match_kind match_draw_kind(test_random *random)
{
    return (match_kind){.directed = test_random_below(random, 2),
                        .labelled = test_random_below(random, 2),
                        .edge_labelled = test_random_below(random, 4) == 0,
                        .attributed = test_random_below(random, 3) == 0,
                        .labels = (uint32_t)test_random_below(random, 3) + 1};
}

static void add_columns(sf_edge_list *list, test_random *random, const match_kind *k)
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
    if (!k->attributed) return;
    assert_int_equal(sf_columns_add(&list->vertex_columns, "rate", &index, NULL), SF_OK);
    for (size_t v = 0; v < list->vertex_count; v++)
        list->vertex_columns.items[index].values[v] =
            test_random_below(random, 8) == 0 ? NAN : (double)test_random_below(random, 4);
    assert_int_equal(sf_columns_add(&list->vertex_columns, "class", &index, NULL), SF_OK);
    for (size_t v = 0; v < list->vertex_count; v++)
        assert_int_equal(sf_attribute_word(&list->vertex_columns.items[index],
                                           test_random_below(random, 2) ? "excitatory" : "inhibitory",
                                           &list->vertex_columns.items[index].values[v], NULL),
                         SF_OK);
    assert_int_equal(sf_columns_add(&list->edge_columns, "count", &index, NULL), SF_OK);
    for (size_t e = 0; e < list->edge_count; e++)
        list->edge_columns.items[index].values[e] = (double)test_random_below(random, 5);
}

sf_csr match_draw_graph(test_random *random, const match_kind *k)
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
    if (sf_csr_build(&graph, &list, 0, &error) != SF_OK) fail_msg("%s", error.text);
    sf_edge_list_free(&list);
    return graph;
}

static uint32_t draw_hub(test_random *random, uint32_t vertices)
{
    double unit = test_random_unit(random);
    return (uint32_t)(unit * unit * vertices);
}

sf_csr match_draw_hubs(test_random *random, const match_kind *k, uint32_t vertices, uint32_t edges)
{
    sf_edge_list list = {.directed = k->directed};
    assert_int_equal(sf_edge_list_set_vertices(&list, vertices, NULL), SF_OK);
    for (uint32_t e = 0; e < edges; e++)
        assert_int_equal(
            sf_edge_list_add(&list, draw_hub(random, vertices), draw_hub(random, vertices), NULL), SF_OK);
    if (k->labelled) assert_int_equal(sf_columns_grow(&list.vertex_columns, vertices, NULL), SF_OK);
    if (k->edge_labelled) assert_int_equal(sf_columns_grow(&list.edge_columns, list.edge_count, NULL), SF_OK);
    add_columns(&list, random, k);
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, SF_CSR_SIMPLE, NULL), SF_OK);
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

sf_pattern match_draw_pattern(test_random *random, const match_kind *k, uint32_t most)
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
    if (k->attributed) draw_terms(&pattern, random);
    return pattern;
}
