/* SPDX-License-Identifier: Apache-2.0 */
#include "support/graphs.h"

#include <math.h>

static double value_of(const sf_edge_list *list, const char *column, size_t edge)
{
    size_t index = sf_columns_find(&list->edge_columns, column);
    assert_true(index != SF_NO_COLUMN);
    return list->edge_columns.items[index].values[edge];
}

static void matrix_market_reads_every_kind(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool directed;
        size_t edges;
        double last_weight;
    } cases[] = {
        {"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n", true, 2, NAN},
        {"%%matrixmarket MATRIX Coordinate PATTERN Symmetric\n%c\n\n 3 3 2\n2 1\n\n3 1\n", false, 2, NAN},
        {"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n% a comment\n3 1\n", true, 2, NAN},
        {"%%MatrixMarket matrix coordinate real general\r\n3 3 1\r\n1 2 -0.5e1\r\n", true, 1, -5},
        {"%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n2 1 7", false, 1, 7},
        {"%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n2 1 3 -4\n", false, 1, 5},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 1 2.5\n", true, 2, -2.5},
        {"%%MatrixMarket matrix coordinate real general\n3 3 0\n", true, 0, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_edge_list list;
        sf_error error;
        if (test_graph_parse(&list, &sf_graph_matrix_market, cases[i].text, &error) != SF_OK)
            fail_msg("case %zu: %s: %s", i, error.place, error.text);
        assert_int_equal(list.vertex_count, 3);
        assert_int_equal(list.directed, cases[i].directed);
        assert_int_equal(list.edge_count, cases[i].edges);
        if (!isnan(cases[i].last_weight))
            test_assert_same(value_of(&list, "weight", list.edge_count - 1), cases[i].last_weight);
        sf_edge_list_free(&list);
    }
}

#define HEAD "%%MatrixMarket matrix coordinate "

static void matrix_market_refuses_with_the_line(void **state)
{
    (void)state;
    static const test_refusal cases[] = {
        {"", "file", "empty"},
        {"1 1 1\n", "file:1", "expected %%MatrixMarket"},
        {"%%MatrixMarket matrix array real general\n", "file:1", "'array', expected 'coordinate'"},
        {HEAD "\n", "file:1", "ends early, expected pattern"},
        {HEAD "double general\n", "file:1", "'double'"},
        {HEAD "pattern hermitian\n", "file:1", "only complex"},
        {HEAD "pattern skew-symmetric\n", "file:1", "signs"},
        {HEAD "pattern general x\n", "file:1", "after the header"},
        {HEAD "pattern general\n% c\n", "file:2", "ends before the line of rows"},
        {HEAD "pattern general\n3 4 0\n", "file:2", "square"},
        {HEAD "pattern general\n3 3\n", "file:2", "before the number of entries"},
        {HEAD "pattern general\n4294967295 4294967295 0\n", "file:2", "4294967294"},
        {HEAD "pattern general\n99999999999999999999 1 1\n", "file:2", "found"},
        {HEAD "pattern general\n2000000000 2000000000 0\n", "file:2", "declares 2000000000 vertices"},
        {HEAD "pattern general\n2 2 1\n2 2 1 1\n", "file:3", "after the entry"},
        {HEAD "pattern general\n2 2 1\n0 1\n", "file:3",
         "row of the entry is 0, expected an integer from 1 to 2"},
        {HEAD "pattern general\n2 2 1\n1 3\n", "file:3", "column of the entry is 3"},
        {HEAD "real general\n2 2 1\n1 1\n", "file:3", "before the value"},
        {HEAD "real general\n2 2 1\n1 1 nan\n", "file:3", "finite"},
        {HEAD "integer general\n2 2 1\n1 1 1.5\n", "file:3", "an integer as the header says"},
        {HEAD "complex general\n2 2 1\n1 1 1\n", "file:3", "imaginary"},
        {HEAD "real skew-symmetric\n2 2 1\n1 1 1\n", "file:3", "diagonal"},
        {HEAD "pattern general\n2 2 2\n1 1\n", "file:3", "ends after 1 entries, expected 2"},
        {HEAD "pattern general\n2 2 1\n1 1\n1 2\n", "file:4", "after the 1 entries"},
        {HEAD "pattern general\n2 2 1\n1 -1\n", "file:3", "found '-1'"},
    };
    test_graph_refusals(&sf_graph_matrix_market, cases, sizeof cases / sizeof cases[0]);
}

static void edge_lists_and_labelled_graphs_read(void **state)
{
    (void)state;
    sf_edge_list list;
    assert_int_equal(test_graph_parse(&list, &sf_graph_edge_list, "# c\n0 1 2.5\n\n7\t3 -1\n", NULL), SF_OK);
    assert_int_equal(list.vertex_count, 8);
    assert_true(list.directed);
    test_assert_same(value_of(&list, "weight", 1), -1);
    sf_edge_list_free(&list);
    assert_int_equal(test_graph_parse(&list, &sf_graph_edge_list, "# Nodes: 5 Edges: 1\n0 1\n", NULL), SF_OK);
    assert_int_equal(list.vertex_count, 5);
    sf_edge_list_free(&list);
    assert_int_equal(test_graph_parse(&list, &sf_graph_labelled, "t 2 1\nv 0 5 1\nv 1 6\ne 0 1 9\n", NULL),
                     SF_OK);
    assert_int_equal(list.vertex_count, 2);
    assert_false(list.directed);
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
    assert_int_equal(graph.vertex_labels[1], 6);
    assert_int_equal(graph.edge_labels[1], 9);
    sf_csr_free(&graph);
    sf_edge_list_free(&list);
}

/* Ids of segmented neurons: the vertices are the ids that occur, in ascending order, by name. */
static void ids_beyond_the_file_are_names(void **state)
{
    (void)state;
    sf_edge_list list;
    static const char text[] = "# Nodes: 9\n5 7 0.5\n720575940621039146 5 1.5\n"
                               "18446744073709551615 720575940621039146 -2\n";
    static const char *const names[] = {"5", "7", "720575940621039146", "18446744073709551615"};
    assert_int_equal(test_graph_parse(&list, &sf_graph_edge_list, text, NULL), SF_OK);
    assert_int_equal(list.vertex_count, 4);
    assert_int_equal(list.edge_count, 3);
    assert_true(list.directed);
    for (size_t v = 0; v < 4; v++)
        assert_string_equal(list.names[v], names[v]);
    assert_memory_equal(list.edges, ((const sf_edge[]){{0, 1}, {2, 0}, {3, 2}}), 3 * sizeof(sf_edge));
    test_assert_same(value_of(&list, "weight", 2), -2);
    sf_edge_list_free(&list);
    /* The greatest id that is a vertex itself in a file of ten bytes, and greater ones, which are none. */
    assert_int_equal(test_graph_parse(&list, &sf_graph_edge_list, "0 1048585\n", NULL), SF_OK);
    assert_int_equal(list.vertex_count, (1 << 20) + 10);
    sf_edge_list_free(&list);
    static const char *const greater[] = {"0 1048586\n", "0 4000000000\n", "0 4294967294\n"};
    for (size_t i = 0; i < sizeof greater / sizeof greater[0]; i++) {
        assert_int_equal(test_graph_parse(&list, &sf_graph_edge_list, greater[i], NULL), SF_OK);
        assert_int_equal(list.vertex_count, 2);
        sf_edge_list_free(&list);
    }
}

/* Labels that matching compares are integers; text of that name, with or without gaps, is an attribute. */
static void labels_that_are_text_are_attributes(void **state)
{
    (void)state;
    for (int filled = 0; filled < 2; filled++) {
        sf_edge_list list = {0};
        sf_csr graph;
        size_t label;
        assert_int_equal(sf_edge_list_set_vertices(&list, 2, NULL), SF_OK);
        assert_int_equal(sf_columns_grow(&list.vertex_columns, 2, NULL), SF_OK);
        assert_int_equal(sf_columns_add(&list.vertex_columns, "label", &label, NULL), SF_OK);
        if (filled)
            assert_int_equal(sf_attribute_word(&list.vertex_columns.items[label], "inhibitory",
                                               &list.vertex_columns.items[label].values[0], NULL),
                             SF_OK);
        assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
        assert_null(graph.vertex_labels);
        sf_csr_free(&graph);
        list.vertex_columns.items[label].values[0] = 0.5;
        sf_words_free(&list.vertex_columns.items[label].words);
        assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_DATA);
        sf_edge_list_free(&list);
    }
}

static void edge_lists_and_labelled_graphs_refuse_with_the_line(void **state)
{
    (void)state;
    static const test_refusal lists[] = {
        {"", "file", "no edge"},
        {"0\n", "file:1", "ends before the vertex an edge enters"},
        {"0 1\n1 x\n", "file:2", "found 'x'"},
        {"0 1\n1 2 3\n", "file:2", "those before it have none"},
        {"0 1 1\n1 2\n", "file:2", "those before it have one"},
        {"0 1 1 1\n", "file:1", "after the edge"},
        {"0 99999999999999999999\n", "file:1", "found '99999999999999999999'"},
        {"# Nodes: 4000000000\n0 1\n", "file:1", "declares 4000000000 vertices"},
        {"0 4294967295\n1 x\n", "file:2", "found 'x'"},
    };
    test_graph_refusals(&sf_graph_edge_list, lists, sizeof lists / sizeof lists[0]);
    static const test_refusal labelled[] = {
        {"", "file", "empty"},
        {"v 0 0\n", "file:1", "before the line 't"},
        {"t 1 0\nt 1 0\n", "file:2", "second line 't'"},
        {"t 2 0\nv 0 0\nv 2 0\n", "file:3", "id of the vertex is 2, expected an integer from 1 to 1"},
        {"t 1 0\nv 0 0\nv 1 0\n", "file:3", "one more vertex"},
        {"t 2 1\nv 0 0\ne 0 1\n", "file:3", "after 1 vertices"},
        {"t 2 1\nv 0 0\nv 1 0\ne 0 2\n", "file:4", "second end"},
        {"t 2 1\nv 0 0\nv 1 0\ne 0 1\ne 0 1\n", "file:5", "one more edge"},
        {"t 2 2\nv 0 0\nv 1 0\ne 0 1 3\ne 0 1\n", "file:5", "no label"},
        {"t 2 2\nv 0 0\nv 1 0\ne 0 1\n", "file:4", "ends after 2 vertices and 1 edges"},
        {"t 1 0\nv 0 -1\n", "file:2", "label"},
        {"t 1 0\nw 0\n", "file:2", "begins with 'w'"},
        {"t 1 0\nv 0 0 3 4\n", "file:2", "after the degree"},
    };
    test_graph_refusals(&sf_graph_labelled, labelled, sizeof labelled / sizeof labelled[0]);
}

static void assert_named(const sf_csr *back)
{
    static const char *const names[] = {"A", "odd \"name\" <&>\xc3\xa9", "7", "new line"}; /* on one line */
    assert_non_null(back->names);
    for (size_t v = 0; v < 4; v++)
        assert_string_equal(back->names[v], names[v]);
}

static void graphs_come_back_as_they_were_written(void **state)
{
    (void)state;
    for (int directed = 0; directed < 2; directed++) {
        sf_csr graph = test_graph_make(directed);
        sf_csr back =
            test_graph_round_trip(&graph, ".mtx"); /* the parallel edges become one with both weights */
        assert_int_equal(back.directed, directed);
        assert_int_equal(sf_csr_edge_count(&back), directed ? 4 : 7);
        test_assert_same(back.edge_columns.items[0].values[sf_csr_find(&back, 0, 1)], 0.1 + 4.1);
        assert_named(&back);
        sf_csr_free(&back);
        back = test_graph_round_trip(&graph, ".el");
        assert_int_equal(sf_csr_edge_count(&back), sf_csr_edge_count(&graph));
        assert_memory_equal(back.targets, graph.targets, sf_csr_edge_count(&graph) * sizeof(uint32_t));
        assert_memory_equal(back.edge_columns.items[0].values, graph.edge_columns.items[0].values,
                            sf_csr_edge_count(&graph) * sizeof(double));
        assert_named(&back);
        sf_csr_free(&back);
        sf_csr_free(&graph);
    }
    sf_csr graph = test_graph_make(false), back = test_graph_round_trip(&graph, ".graph");
    assert_named(&back);
    assert_memory_equal(back.targets, graph.targets, sf_csr_edge_count(&graph) * sizeof(uint32_t));
    sf_csr_free(&back);
    sf_error error = {0};
    graph.directed = true;
    test_assert_fails(sf_graph_write(&graph, "x.graph", &error), &error, SF_USAGE, "undirected");
    test_assert_fails(sf_graph_write(&graph, "x.txt", &error), &error, SF_USAGE, ".graphml");
    test_assert_fails(sf_graph_write(&graph, "/no/such/folder/x.mtx", &error), &error, SF_CANNOT_CREATE,
                      NULL);
    sf_csr_free(&graph);
}

/* In a graph with names a word is one and #2 an index; without, a number can only be an index. */
static void vertices_are_found_by_name_and_index(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
        uint32_t vertex; /* UINT32_MAX: refused with */
        const char *words;
    } cases[] = {
        {"# name 0 2\n# name 1 #0\n# name 2 two words\n0 1\n1 2\n", "2", 0, NULL},
        {"# name 0 2\n# name 1 #0\n# name 2 two words\n0 1\n1 2\n", "#2", 2, NULL},
        {"# name 0 2\n# name 1 #0\n# name 2 two words\n0 1\n1 2\n", "#0", 0, NULL},
        {"# name 0 2\n# name 1 #0\n# name 2 two words\n0 1\n1 2\n", "\"#0\"", 1, NULL},
        {"# name 0 2\n# name 1 #0\n# name 2 two words\n0 1\n1 2\n", "two words", 2, NULL},
        {"# name 0 2\n# name 1 #0\n# name 2 two words\n0 1\n1 2\n", "1", UINT32_MAX, "is written #1"},
        {"# name 0 2\n# name 1 #0\n# name 2 two words\n0 1\n1 2\n", "two", UINT32_MAX,
         "did you mean 'two words'"},
        {"# name 0 2\n# name 1 #0\n# name 2 two words\n0 1\n1 2\n", "#3", UINT32_MAX, "#0 to #2"},
        {"# name 0 a\n# name 1 a\n0 1\n", "a", UINT32_MAX,
         "several vertices are named 'a': write #0, #1, ..."},
        {"# name 0 a\n# name 1 a\n0 1\n", "#1", 1, NULL},
        /* No names: one is missing, out of order, or too many; ids of more than 32 bits are names already. */
        {"# name 0 2\n0 1\n", "1", 1, NULL},
        {"# name 1 2\n# name 0 1\n0 1\n", "1", 1, NULL},
        {"# name 0 2\n# name 1 3\n# name 2 4\n0 1\n", "1", 1, NULL},
        {"# name 0\n# name 1 3\n0 1\n", "0", 0, NULL},
        {"# 0 2\n# 1 3\n0 1\n", "1", 1, NULL},
        {"0 1\n", "a", UINT32_MAX, "'a' cannot be a name: the vertices have none; write #2 for index 2"},
        {"# name 0 x\n# name 1 y\n720575940621039145 7\n", "7", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_edge_list list;
        sf_csr csr;
        sf_error error = {0};
        uint32_t vertex = UINT32_MAX;
        assert_int_equal(test_graph_parse(&list, &sf_graph_edge_list, cases[i].text, &error), SF_OK);
        assert_int_equal(sf_csr_build(&csr, &list, 0, &error), SF_OK);
        int status = sf_csr_resolve(&csr, cases[i].word, &vertex, &error);
        if (cases[i].words != NULL)
            test_assert_fails(status, &error, SF_USAGE, cases[i].words);
        else if (status != SF_OK || vertex != cases[i].vertex)
            fail_msg("case %zu: found %u (%s), expected %u", i, vertex, error.text, cases[i].vertex);
        sf_csr_free(&csr);
        sf_edge_list_free(&list);
    }
}

static void dot_quotes_what_needs_it(void **state)
{
    (void)state;
    sf_csr graph = test_graph_make(true);
    sf_text text = {0};
    assert_int_equal(sf_graph_dot.print(&text, &graph, NULL), SF_OK);
    assert_non_null(strstr(
        text.data, "digraph synfire {\n  0 [label=\"A\"];\n  1 [label=\"odd \\\"name\\\" <&>\xc3\xa9\"];"));
    assert_non_null(strstr(text.data, "  3 [label=\"new line\"];"));
    assert_non_null(strstr(text.data, "  2 -> 2 [\"weight\"=2.1000000000000001, \"kind\"=\"loop\"];"));
    sf_text_free(&text);
    sf_csr_free(&graph);
}

static void files_are_told_apart_by_content(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *ending;
        const sf_graph_format *format;
    } cases[] = {{HEAD "pattern general\n1 1 0\n", ".txt", &sf_graph_matrix_market},
                 {"t 1 0\nv 0 0\n", ".x", &sf_graph_labelled},
                 {"# edges\n0 1\n", ".x", &sf_graph_edge_list},
                 {"\xef\xbb\xbf% edges\n0 720575940621039146\n", ".x", &sf_graph_edge_list},
                 {"not one", ".mtx", &sf_graph_matrix_market},
                 {"A,0.5\nB,0.6\n", ".csv", NULL},
                 {"", ".csv", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = test_temporary_path(cases[i].ending);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(cases[i].text, file);
        fclose(file);
        assert_ptr_equal(sf_graph_file_format(path), cases[i].format);
        remove(path);
        free(path);
    }
    sf_edge_list list;
    sf_error error = {0};
    test_assert_fails(sf_graph_read(&list, "/no/such/file.mtx", NULL, &error), &error, SF_NO_INPUT, NULL);
    test_assert_fails(sf_graph_read(&list, "/tmp", NULL, &error), &error, SF_DATA, "no graph");
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    static const char *const endings[] = {".mtx", ".el", ".graph"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        test_graph_fail_allocations(endings[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_market_reads_every_kind),
        cmocka_unit_test(matrix_market_refuses_with_the_line),
        cmocka_unit_test(edge_lists_and_labelled_graphs_read),
        cmocka_unit_test(ids_beyond_the_file_are_names),
        cmocka_unit_test(labels_that_are_text_are_attributes),
        cmocka_unit_test(edge_lists_and_labelled_graphs_refuse_with_the_line),
        cmocka_unit_test(graphs_come_back_as_they_were_written),
        cmocka_unit_test(vertices_are_found_by_name_and_index),
        cmocka_unit_test(dot_quotes_what_needs_it),
        cmocka_unit_test(files_are_told_apart_by_content),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
