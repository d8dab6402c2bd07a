/* SPDX-License-Identifier: Apache-2.0 */
#include "support/graphs.h"
#include "support/hdf_files.h"

#include <math.h>

#define GRAPH(body)                                                                                          \
    "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">" body "</graphml>"

static void graphml_reads_keys_defaults_and_later_nodes(void **state)
{
    (void)state;
    static const char text[] = GRAPH(
        "<key id=\"n\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>"
        "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"><default> 1.5 </default></key>"
        "<key id=\"c\" for=\"node\" attr.name=\"class\" attr.type=\"string\"><default>none</default></key>"
        "<key id=\"b\" for=\"all\" attr.name=\"flag\" attr.type=\"boolean\"/>"
        "<graph edgedefault=\"directed\"><data key=\"b\">ignored</data>"
        "<edge source=\"x\" target=\"y\"><data key=\"b\">True</data></edge>"
        "<node id=\"y\"><data key=\"n\">a &amp; b</data><data key=\"c\">inhibitory</data></node>"
        "<node id=\"x\"/><edge source=\"y\" target=\"x\"><data key=\"w\">-2</data>"
        "<data key=\"b\"> NaN </data></edge></graph>");
    sf_edge_list list;
    sf_error error;
    if (test_graph_parse(&list, &sf_graph_graphml, text, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(list.vertex_count, 2);
    assert_int_equal(list.edge_count, 2);
    assert_true(list.directed);
    assert_string_equal(list.names[0], "x");
    assert_string_equal(list.names[1], "a & b");
    const sf_attribute *weight = &list.edge_columns.items[sf_columns_find(&list.edge_columns, "weight")];
    test_assert_same(weight->values[0], 1.5);
    test_assert_same(weight->values[1], -2);
    const sf_attribute *flag = &list.edge_columns.items[sf_columns_find(&list.edge_columns, "flag")];
    test_assert_same(flag->values[0], 1);
    assert_true(isnan(flag->values[1]));
    const sf_attribute *class = &list.vertex_columns.items[sf_columns_find(&list.vertex_columns, "class")];
    assert_string_equal(class->words.items[(size_t) class->values[0]], "none");
    assert_string_equal(class->words.items[(size_t) class->values[1]], "inhibitory");
    sf_edge_list_free(&list);
}

static void graphml_refuses_with_the_line(void **state)
{
    (void)state;
    static const test_refusal cases[] = {
        {"", NULL, "well-formed"},
        {"<graphml>", NULL, "well-formed"},
        {GRAPH(""), NULL, "no <graph>"},
        {GRAPH("<graph/>"), NULL, "edgedefault"},
        {GRAPH("<graph edgedefault=\"up\"/>"), NULL, "\"up\""},
        {GRAPH("<graph edgedefault=\"directed\"><graph edgedefault=\"directed\"/></graph>"), NULL, "nested"},
        {GRAPH("<graph edgedefault=\"directed\"/><graph edgedefault=\"directed\"/>"), NULL, "second graph"},
        {GRAPH("<graph edgedefault=\"directed\"><node/></graph>"), NULL, "without an id"},
        {GRAPH("<graph edgedefault=\"directed\"><node id=\"a\"/><node id=\"a\"/></graph>"), NULL,
         "second node"},
        {GRAPH("<graph edgedefault=\"directed\"><edge source=\"a\"/></graph>"), NULL, "without a target"},
        {GRAPH("<graph edgedefault=\"directed\"><edge source=\"a\" target=\"b\"/></graph>"), NULL, "'a'"},
        {GRAPH("<graph edgedefault=\"directed\"><node id=\"a\"/><edge source=\"a\" target=\"a\" "
               "directed=\"false\"/></graph>"),
         NULL, "one kind"},
        {GRAPH("<graph edgedefault=\"directed\"><hyperedge/></graph>"), NULL, "hyperedge"},
        {GRAPH("<graph edgedefault=\"directed\"><node id=\"a\"><data key=\"k\">1</data></node></graph>"),
         NULL, "'k'"},
        {GRAPH("<key id=\"k\" for=\"edge\" attr.type=\"int\"/><graph edgedefault=\"directed\"><node "
               "id=\"a\"><data key=\"k\">1</data></node></graph>"),
         NULL, "other elements"},
        {GRAPH("<key id=\"k\" for=\"node\" attr.type=\"int\"/><graph edgedefault=\"directed\"><node "
               "id=\"a\"><data key=\"k\">one</data></node></graph>"),
         NULL, "'one'"},
        {GRAPH("<key id=\"k\"/><key id=\"k\"/>"), NULL, "second key"},
        {GRAPH("<key id=\"k\"><default><key id=\"l\"/></default></key>"), NULL, "<key> inside <default>"},
        {GRAPH("<graph edgedefault=\"directed\"><node id=\"a\"><node id=\"b\"/></node></graph>"), NULL,
         "<node> inside <node>"},
        {GRAPH("<default>1</default>"), NULL, "<default> inside <graphml>"},
        {"<!DOCTYPE g [<!ENTITY a \"x\">]>" GRAPH(""), "file:1", "the entity 'a'"},
        {GRAPH("<graph edgedefault=\"directed\"><node id=\"a\"/><key id=\"k\"/></graph>"), NULL, "too late"},
    };
    test_graph_refusals(&sf_graph_graphml, cases, sizeof cases / sizeof cases[0]);
}

/* Every element of GraphML at every place inside the data of a node, of an edge and of the graph: nothing
 * there may change what the data belong to. Elements of other namespaces may stand there, with their text. */
static void nothing_inside_data_is_taken_for_the_graph(void **state)
{
    (void)state;
    static const char *const places[] = {
        "<node id=\"c\"><data key=\"w\">1.5%s</data></node>",
        "<edge source=\"a\" target=\"b\"><data key=\"w\">1.5%s</data></edge>",
        "<data key=\"w\">1.5%s</data>",
    };
    static const char *const elements[] = {"<node id=\"d\"/>",
                                           "<node id=\"d\"><data key=\"w\">2</data></node>",
                                           "<edge source=\"a\" target=\"b\"/>",
                                           "<data key=\"w\">2</data>",
                                           "<key id=\"x\"/>",
                                           "<default>7</default>",
                                           "<graph edgedefault=\"directed\"/>",
                                           "<graphml/>",
                                           "<hyperedge/>",
                                           "<port/>"};
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        for (size_t e = 0; e <= sizeof elements / sizeof elements[0]; e++) {
            bool foreign = e == sizeof elements / sizeof elements[0];
            char inside[256], text[1024];
            snprintf(inside, sizeof inside, places[p],
                     foreign ? "<y:node xmlns:y=\"urn:editor\" id=\"d\"><y:edge/></y:node>" : elements[e]);
            snprintf(text, sizeof text,
                     GRAPH("<key id=\"w\" for=\"all\" attr.type=\"double\"/><graph edgedefault=\"directed\">"
                           "<node id=\"a\"/><node id=\"b\"/>%s</graph>"),
                     inside);
            sf_edge_list list;
            sf_error error;
            int status = test_graph_parse(&list, &sf_graph_graphml, text, &error);
            assert_int_equal(status, foreign ? SF_OK : SF_DATA);
            if (!foreign) {
                assert_non_null(strstr(error.text, "inside <data>"));
                sf_edge_list_free(&list);
                continue;
            }
            assert_int_equal(list.vertex_count, p == 0 ? 3 : 2);
            if (p == 0) test_assert_same(list.vertex_columns.items[0].values[2], 1.5);
            if (p == 1) test_assert_same(list.edge_columns.items[0].values[0], 1.5);
            sf_edge_list_free(&list);
        }
    }
}

/* What yEd and Gephi write: data of the file, ports, labels as names, which a key "name" comes before. */
static void what_editors_write_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *names[2];
        size_t columns; /* of nodes */
    } cases[] = {
        {GRAPH("<key for=\"node\" id=\"d4\" attr.name=\"url\" attr.type=\"string\"/>"
               "<key for=\"node\" id=\"d6\" yfiles.type=\"nodegraphics\"/>"
               "<key for=\"graphml\" id=\"d7\" yfiles.type=\"resources\"/>"
               "<key for=\"edge\" id=\"d9\" yfiles.type=\"edgegraphics\"/>"
               "<graph edgedefault=\"directed\"><node id=\"a\"><data key=\"d6\">"
               "<y:ShapeNode xmlns:y=\"urn:y\"> <y:Fill>red</y:Fill><y:NodeLabel>PV "
               "1<y:Model>m</y:Model>\n</y:NodeLabel>"
               "<y:NodeLabel>2nd</y:NodeLabel></y:ShapeNode></data></node><node id=\"b\"><port name=\"N\">"
               "<data key=\"d4\">x</data></port></node><edge source=\"a\" target=\"b\" sourceport=\"N\">"
               "<data key=\"d9\"><y:Line xmlns:y=\"urn:y\"/></data></edge></graph><data key=\"d7\">r</data>"),
         {"PV 1", "b"},
         1},
        {GRAPH("<key id=\"label\" for=\"node\" attr.name=\"Label\" attr.type=\"string\"/>"
               "<graph edgedefault=\"directed\"><node id=\"a\"><data key=\"label\">E12</data></node>"
               "<node id=\"b\"/><edge source=\"a\" target=\"b\"/></graph>"),
         {"E12", "b"},
         1},
        {GRAPH("<key id=\"l\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>"
               "<key id=\"n\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>"
               "<graph edgedefault=\"directed\"><node id=\"a\"><data key=\"n\">A</data><data "
               "key=\"l\">E12</data>"
               "</node><node id=\"b\"/><edge source=\"a\" target=\"b\"/></graph>"),
         {"A", "b"},
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_edge_list list;
        sf_error error = {0};
        if (test_graph_parse(&list, &sf_graph_graphml, cases[i].text, &error) != SF_OK)
            fail_msg("%zu: %s", i, error.text);
        assert_int_equal(list.vertex_count, 2);
        assert_int_equal(list.edge_count, 1);
        assert_int_equal(list.vertex_columns.count, cases[i].columns);
        for (size_t v = 0; v < 2; v++)
            assert_string_equal(list.names[v], cases[i].names[v]);
        sf_edge_list_free(&list);
    }
}

static void assert_same_columns(const sf_columns *a, const sf_columns *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        size_t same = sf_columns_find(b, a->items[i].name); /* HDF5 has them by name */
        assert_true(same != SF_NO_COLUMN);
        const sf_attribute *x = &a->items[i], *y = &b->items[same];
        for (size_t row = 0; row < a->rows; row++) {
            if (isnan(x->values[row]))
                assert_true(isnan(y->values[row]));
            else if (sf_attribute_is_text(x))
                assert_string_equal(x->words.items[(size_t)x->values[row]],
                                    y->words.items[(size_t)y->values[row]]);
            else
                test_assert_same(x->values[row], y->values[row]);
        }
    }
}

static void graphs_come_back_whole(void **state)
{
    (void)state;
    static const char *const endings[] = {".graphml", ".h5"};
    for (int i = 0; i < 4; i++) {
        sf_csr graph = test_graph_make(i / 2), back = test_graph_round_trip(&graph, endings[i % 2]);
        assert_int_equal(back.directed, graph.directed);
        assert_int_equal(back.vertex_count, 4);
        assert_int_equal(sf_csr_edge_count(&back), sf_csr_edge_count(&graph));
        assert_memory_equal(back.targets, graph.targets, sf_csr_edge_count(&graph) * sizeof(uint32_t));
        for (size_t v = 0; v < 4; v++)
            assert_string_equal(back.names[v], graph.names[v]);
        assert_same_columns(&graph.edge_columns, &back.edge_columns);
        assert_same_columns(&graph.vertex_columns, &back.vertex_columns);
        sf_csr_free(&back);
        sf_csr_free(&graph);
    }
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_graph_fail_allocations(".graphml");
    test_graph_fail_allocations(".h5");
}

/* A graph file whose parts disagree: something is gone, or other numbers stand in its place. */
static void damaged_hdf5_graphs_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        size_t rows; /* of what takes its place */
        double values[5];
        const char *words;
    } cases[] = {
        {"/edges/from", 0, {0}, "no dataset from"},
        {"/edges", 0, {0}, "no group /edges"},
        {"/vertices", 0, {0}, "no group /vertices"},
        {"/edges/columns/weight", 3, {1, 2, 3}, "'weight' has 3 rows, expected 5"},
        {"/edges/to", 4, {1, 2, 2, 0}, "/edges/from has 5 rows and /edges/to 4"},
        {"/edges/to", 5, {1, 2, 2, 0, 4}, "/edges/to, row 4: found 4, expected one of the 4 vertices"},
        {"/edges/from", 5, {0, 1, 2, -1, 0}, "/edges/from, row 3: found -1"},
        {"/edges/from", 5, {4294967296, 1, 2, 3, 0}, "/edges/from, row 0: found 4294967296"},
    };
    sf_csr graph = test_graph_make(true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = test_temporary_path(".h5");
        assert_int_equal(sf_graph_write(&graph, path, NULL), SF_OK);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        test_hdf_remove(file, cases[i].path);
        if (cases[i].rows > 0)
            test_hdf_numbers(file, cases[i].path, H5T_NATIVE_INT64, cases[i].rows, 0, cases[i].values);
        test_hdf_close(file);
        sf_edge_list list;
        sf_error error = {0};
        test_assert_fails(sf_graph_read(&list, path, NULL, &error), &error, SF_DATA, cases[i].words);
        remove(path);
        free(path);
    }
    sf_csr_free(&graph);
}

/* Columns that each declare as much as is let through, and store nothing. */
static void columns_of_hdf5_graphs_are_bounded_together(void **state)
{
    (void)state;
    char *path = test_temporary_path(".h5");
    hid_t file = test_hdf_create(path);
    test_hdf_attribute(file, "/", "synfire", false, "graph");
    test_hdf_attribute(file, "/", "layout", false, "1");
    test_hdf_attribute(file, "/", "directed", false, "1");
    test_hdf_group(file, "/vertices");
    test_hdf_attribute(file, "/vertices", "count", false, "1000000");
    for (int i = 0; i < 40; i++) {
        char name[64];
        snprintf(name, sizeof name, "/vertices/columns/c%d", i);
        test_hdf_hollow(file, name, 1000000);
    }
    test_hdf_close(file);
    sf_edge_list list;
    sf_error error = {0};
    test_assert_fails(sf_graph_read(&list, path, NULL, &error), &error, SF_DATA,
                      "more than the file can hold");
    remove(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphml_reads_keys_defaults_and_later_nodes),
        cmocka_unit_test(graphml_refuses_with_the_line),
        cmocka_unit_test(nothing_inside_data_is_taken_for_the_graph),
        cmocka_unit_test(what_editors_write_is_read),
        cmocka_unit_test(graphs_come_back_whole),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(damaged_hdf5_graphs_are_refused),
        cmocka_unit_test(columns_of_hdf5_graphs_are_bounded_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
