/* SPDX-License-Identifier: Apache-2.0 */
#include "support/graphs.h"

#include "core/file.h"

int test_graph_parse(sf_edge_list *list, const sf_graph_format *format, const char *text, sf_error *error)
{
    *list = (sf_edge_list){0};
    return format->parse(list, "file", text, strlen(text), error);
}

void test_graph_refusals(const sf_graph_format *format, const test_refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sf_edge_list list;
        sf_error error = {0};
        int status = test_graph_parse(&list, format, cases[i].text, &error);
        if (status == SF_OK) fail_msg("%s case %zu was accepted", format->name, i);
        test_assert_fails(status, &error, SF_DATA, cases[i].words);
        assert_int_equal(strncmp(error.place, "file", 4), 0);
        if (cases[i].place != NULL) assert_string_equal(error.place, cases[i].place);
        sf_edge_list_free(&list);
    }
}

sf_csr test_graph_make(bool directed)
{
    static const char *const names[] = {"A", "odd \"name\" <&>\xc3\xa9", "7", "new\nline"};
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 2}, {3, 0}, {0, 1}};
    sf_edge_list list = {.directed = directed};
    size_t weight, kind, layer;
    assert_int_equal(sf_columns_add(&list.edge_columns, "weight", &weight, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.edge_columns, "kind", &kind, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.vertex_columns, "layer", &layer, NULL), SF_OK);
    for (size_t v = 0; v < 4; v++) {
        assert_int_equal(sf_edge_list_add_named(&list, names[v], NULL), SF_OK);
        list.vertex_columns.items[layer].values[v] = (double)v / 3;
    }
    for (size_t e = 0; e < 5; e++) {
        assert_int_equal(sf_edge_list_add(&list, edges[e][0], edges[e][1], NULL), SF_OK);
        list.edge_columns.items[weight].values[e] = (double)e + 0.1;
        if (e % 2 == 0)
            assert_int_equal(sf_attribute_word(&list.edge_columns.items[kind], e == 2 ? "loop" : "\"a\" & b",
                                               &list.edge_columns.items[kind].values[e], NULL),
                             SF_OK);
    }
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    return graph;
}

sf_csr test_graph_round_trip(const sf_csr *graph, const char *ending)
{
    char *path = test_temporary_path(ending);
    sf_error error = {0};
    sf_edge_list list;
    sf_csr back = {0};
    if (sf_graph_write(graph, path, &error) != SF_OK || sf_graph_read(&list, path, NULL, &error) != SF_OK ||
        sf_csr_build(&back, &list, 0, &error) != SF_OK)
        fail_msg("%s: %s: %s", ending, error.place, error.text);
    sf_edge_list_free(&list);
    remove(path);
    free(path);
    return back;
}

static int write_read_and_build(void *context)
{
    const char *const *arguments = context;
    sf_text text = {0};
    sf_edge_list list = {0};
    sf_csr graph = {0};
    sf_error error;
    int status = sf_file_read(&text, arguments[0], &error);
    sf_text_free(&text);
    if (status == SF_OK) status = sf_graph_read(&list, arguments[0], NULL, &error);
    if (status == SF_OK) status = sf_csr_build(&graph, &list, 0, &error);
    if (status == SF_OK) status = sf_graph_write(&graph, arguments[1], &error);
    sf_csr_free(&graph);
    sf_edge_list_free(&list);
    return status;
}

void test_graph_fail_allocations(const char *ending)
{
    sf_csr graph = test_graph_make(false);
    char *path = test_temporary_path(ending), *copy = test_temporary_path(ending);
    assert_int_equal(sf_graph_write(&graph, path, NULL), SF_OK);
    const char *arguments[] = {path, copy};
    test_fail_every_allocation(write_read_and_build, arguments);
    remove(path);
    remove(copy);
    free(path);
    free(copy);
    sf_csr_free(&graph);
}
