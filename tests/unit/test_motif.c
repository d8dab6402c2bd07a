/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "graph/match/match.h"
#include "graph/motif/motif.h"
#include "io/graph/file.h"
#include "io/graph/pattern.h"

static sf_pattern parse(const char *text)
{
    sf_pattern pattern;
    sf_error error;
    if (sf_motif_parse(&pattern, "pattern", text, strlen(text), &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return pattern;
}

static void a_pattern_reads_as_it_says(void **state)
{
    (void)state;
    sf_pattern p = parse("# strong feed-forward loop, no edge back\n"
                         "A -> B [count >= 10]\r\n"
                         "B -> C [count >= 10, delay < 8e0]; A -> C\n"
                         "C !> A [kind != \"gap \\\"x\\\"\"]\n\n"
                         "A.class = \"excitatory\"; A.label = 3\n"
                         "A.rate > C.rate\n"
                         "B ~> A  # the last line has no end");
    assert_true(p.directed);
    assert_int_equal(p.vertex_count, 3);
    assert_string_equal(p.vertices[2].name, "C");
    assert_int_equal(p.edge_count, 5);
    assert_int_equal(p.edges[1].from, 1);
    assert_int_equal(p.edges[1].to, 2);
    assert_int_equal(p.edges[1].term_count, 2);
    assert_string_equal(p.edges[1].terms[1].attribute, "delay");
    assert_int_equal(p.edges[1].terms[1].comparison, SF_LESS);
    test_assert_same(p.edges[1].terms[1].number, 8);
    assert_true(p.edges[3].absent && p.edges[4].absent && !p.edges[2].absent);
    assert_string_equal(p.edges[3].terms[0].word, "gap \"x\"");
    assert_int_equal(p.vertices[0].label, 3);
    assert_int_equal(p.vertices[0].term_count, 1);
    assert_string_equal(p.vertices[0].terms[0].word, "excitatory");
    assert_int_equal(p.relation_count, 1);
    assert_int_equal(p.relations[0].left, 0);
    assert_int_equal(p.relations[0].right, 2);
    assert_int_equal(p.relations[0].comparison, SF_GREATER);
    sf_pattern_free(&p);
}

static void macros_and_triads_unfold(void **state)
{
    (void)state;
    sf_pattern p = parse("pair(x, y) { x -> y; y -> x }\n"
                         "chain(x, y, z)\n{\n  pair(x, y)\n  y -> z [w > -1]\n}\n"
                         "chain(A, B, C); chain(C, A, D)\nA === B\n");
    assert_int_equal(p.vertex_count, 4);
    assert_int_equal(p.edge_count, 6);
    assert_int_equal(p.edges[5].from, 0); /* A -> D */
    assert_int_equal(p.edges[5].to, 3);
    test_assert_same(p.edges[5].terms[0].number, -1);
    assert_int_equal(p.exchange_count, 1);
    sf_pattern_free(&p);
    p = parse("030T");
    assert_int_equal(p.vertex_count, 3);
    assert_int_equal(p.edge_count, 6);
    size_t absent = 0;
    for (size_t e = 0; e < 6; e++)
        absent += p.edges[e].absent;
    assert_int_equal(absent, 3);
    sf_pattern_free(&p);
    p = parse("X -> Y; 201(Y, Z, X)");
    assert_int_equal(p.vertex_count, 3);
    assert_int_equal(p.edge_count, 7);
    sf_pattern_free(&p);
}

static void errors_point_at_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {"", "p:1:1", "no vertex"},
        {"# only this", "p:1:12", "no vertex"},
        {"A", "p:1:2", "expected ->"},
        {"A -> ", "p:1:6", "the vertex that the edge enters"},
        {"A -> B C", "p:1:8", "after a statement"},
        {"A -> B\nA => C", "p:2:3", "expected ->"},
        {"A -> B [count 5]", "p:1:15", "expected ="},
        {"A -> B [count = x]", "p:1:17", "expected a number"},
        {"A -> B [count = 1", "p:1:18", "expected ]"},
        {"A -> B [= 1]", "p:1:9", "attribute of the edge"},
        {"A -> B [k < \"x\"]", "p:1:13", "= and !="},
        {"A -> B [k = \"x]\n", "p:1:13", "not closed"},
        {"A.rate > B", "p:1:10", "vertex.attribute"},
        {"A.rate > A.rate", "p:1:10", "itself"},
        {"A.label = 1.5", "p:1:3", "integer"},
        {"A.label = 1; A.label = 2", "p:1:16", "contradicts"},
        {"A === A", "p:1:7", "itself"},
        {"f(A, B)", "p:1:1", "no macro 'f'"},
        {"f(x) { x -> y }; f(A)", "p:1:13", "no parameter"},
        {"f(x) { f(x) }; f(A)", NULL, "16 deep"}, /* a macro that calls itself */
        {"f(x, y) { x -> y }\nf(A)", "p:2:1", "more vertices"},
        {"f(x) { x -> x }\nf(A, B)", "p:2:6", "one vertex too many"},
        {"f(x) { x -> x", "p:1:1", "no }"},
        {"f(x) { }\nf(x) { }", "p:2:1", "second macro"},
        {"A -> B; 030T", "p:1:9", "stands alone"},
        {"030T(A, B, A)", "p:1:1", "different"},
        {"031X", "p:1:1", "neither a name"},
        {"A -> B $", "p:1:8", "'$'"},
        {"A -> B }", "p:1:8", "after a statement"},
        {"A123456789012345678901234567890123456789012345678901234567890123456789 -> B", "p:1:1",
         "longer than 63"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_pattern pattern;
        sf_error error = {0};
        int status = sf_motif_parse(&pattern, "p", cases[i].text, strlen(cases[i].text), &error);
        if (status == SF_OK) fail_msg("case %zu was accepted: %s", i, cases[i].text);
        test_assert_fails(status, &error, SF_DATA, cases[i].words);
        if (cases[i].place != NULL && strcmp(error.place, cases[i].place) != 0)
            fail_msg("case %zu: place %s, expected %s (%s)", i, error.place, cases[i].place, error.text);
    }
    char many[2048] = "";
    for (int v = 0; v < 65; v++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "A -> v%d\n", v);
    sf_pattern pattern;
    sf_error error = {0};
    test_assert_fails(sf_motif_parse(&pattern, "p", many, strlen(many), &error), &error, SF_DATA,
                      "at most 64");
    assert_string_equal(error.place, "p:64:6");
}

/* Ten uses of a macro that uses another ten times, and so on: 10^15 statements in a few lines. */
static void macros_cannot_write_out_without_end(void **state)
{
    (void)state;
    sf_text text = {0};
    sf_text_printf(&text, "m0(x, y) { x -> y }\n");
    for (int m = 1; m < 16; m++) {
        sf_text_printf(&text, "m%d(x, y) { ", m);
        for (int use = 0; use < 10; use++)
            sf_text_printf(&text, "m%d(x, y); ", m - 1);
        sf_text_printf(&text, "}\n");
    }
    sf_text_printf(&text, "m15(A, B)\n");
    sf_pattern pattern;
    sf_error error = {0};
    test_assert_fails(sf_motif_parse(&pattern, "p", text.data, text.length, &error), &error, SF_DATA,
                      "10,001st statement");
    sf_text_free(&text);
}

static void words_that_are_no_pattern_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *given;
        int status;
        const char *words;
    } cases[] = {
        {"chain-17", SF_USAGE, "chain-N, diverging-N or converging-N (N from 2 to 16)"},
        {"chain-1", SF_USAGE, "N from 2"},
        {"feed-forward", SF_USAGE, "expected feed-forward-loop"},
        {"loops.motif", SF_NO_INPUT, "no such file"},
        {"no/such", SF_NO_INPUT, "no such file"},
        {"A -> ", SF_DATA, "the vertex that the edge enters"},
        {" ", SF_DATA, "no vertex"},
        {"031T", SF_DATA, "nor a triad"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_pattern pattern;
        sf_error error = {0};
        test_assert_fails(sf_motif_read(&pattern, cases[i].given, true, &error), &error, cases[i].status,
                          cases[i].words);
    }
}

/* ---- what the patterns count ---- */

static uint64_t count(sf_match_index *index, const char *text, bool distinct)
{
    sf_pattern pattern = parse(text);
    sf_match_options options = {.distinct = distinct, .threads = 1};
    sf_match_result result;
    sf_error error;
    if (sf_match_run(index, &pattern, &options, &result, NULL, &error) != SF_OK)
        fail_msg("%s: %s", text, error.text);
    assert_false(result.truncated);
    uint64_t found = result.count;
    sf_match_result_free(&result);
    sf_pattern_free(&pattern);
    return found;
}

static sf_csr read_graph(const char *relative, bool directed)
{
    char *path = test_data_path(relative);
    sf_csr graph = {0};
    if (path == NULL) return graph;
    sf_edge_list list;
    sf_error error;
    if (sf_graph_read(&list, path, NULL, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    list.directed = directed;
    assert_int_equal(sf_csr_build(&graph, &list, SF_CSR_SIMPLE, NULL), SF_OK);
    sf_edge_list_free(&list);
    free(path);
    return graph;
}

/* Feed-forward loops of the worm, and the triads that they are part of. */
static void the_worm_has_the_known_counts(void **state)
{
    (void)state;
    sf_csr graph = read_graph("subgraph/celegans/celegans_chem.edges", true);
    if (graph.offsets == NULL) skip();
    assert_int_equal(graph.vertex_count, 419);
    assert_int_equal(sf_csr_edge_count(&graph), 4647);
    sf_match_index *index;
    assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
    uint64_t loops = count(index, "A -> B; B -> C; A -> C", false);
    assert_int_equal(loops, 14324);
    assert_int_equal(count(index, "A -> B; B -> C; A -> C; C !> A; B !> A; C ~> B", false), 2965);
    assert_int_equal(count(index, "030T", true), 2965);
    assert_int_equal(loops, count(index, "030T", true) + 2 * count(index, "120D", true) +
                                2 * count(index, "120U", true) + count(index, "120C", true) +
                                3 * count(index, "210", true) + 6 * count(index, "300", true));
    assert_true(count(index, "A -> B [weight >= 10]; B -> C; A -> C", false) < loops);
    sf_match_close(index);
    sf_csr_free(&graph);
}

static void exchangeable_vertices_count_once(void **state)
{
    (void)state;
    sf_edge_list list = {.directed = true, .vertex_count = 5};
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {0, 4}, {3, 4}};
    for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++)
        assert_int_equal(sf_edge_list_add(&list, edges[e][0], edges[e][1], NULL), SF_OK);
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    sf_match_index *index;
    assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
    /* A cycle is three embeddings of one: a count must not drop it because of how its vertices are numbered.
     */
    assert_int_equal(count(index, "A -> B; B -> C; C -> A", false), 3);
    assert_int_equal(count(index, "A -> B; B -> C; C -> A", true), 1);
    assert_int_equal(count(index, "A -> B; B -> C; C -> A; A === B; B === C", false), 1);
    assert_int_equal(count(index, "A -> B; A -> C", false), 6);
    assert_int_equal(count(index, "A -> B; A -> C; B === C", false), 3);
    assert_int_equal(count(index, "A -> B; A -> C", true), 3);
    static const char *const refused[] = {"A -> B; A === B", "A -> B; C -> D; A === C"};
    for (size_t i = 0; i < 2; i++) {
        sf_pattern pattern = parse(refused[i]);
        sf_match_result result;
        sf_error error = {0};
        test_assert_fails(sf_match_run(index, &pattern, &(sf_match_options){0}, &result, NULL, &error),
                          &error, SF_USAGE, "===");
        sf_pattern_free(&pattern);
    }
    assert_int_equal(count(index, "A -> B; C -> D; A === C; B === D", false) * 2,
                     count(index, "A -> B; C -> D", false));
    sf_match_close(index);
    sf_csr_free(&graph);
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    sf_edge_list list = {.directed = true, .vertex_count = 2};
    size_t column;
    assert_int_equal(sf_columns_add(&list.edge_columns, "kind", &column, NULL), SF_OK);
    assert_int_equal(sf_edge_list_add(&list, 0, 1, NULL), SF_OK);
    assert_int_equal(
        sf_attribute_word(&list.edge_columns.items[0], "gap", &list.edge_columns.items[0].values[0], NULL),
        SF_OK);
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    sf_match_index *index;
    assert_int_equal(sf_match_open(&index, &graph, NULL), SF_OK);
    static const struct {
        const char *text;
        sf_match_options options;
        const char *words;
    } cases[] = {
        {"A -> B [weight > 1]", {0}, "no attribute 'weight'; they have: kind"},
        {"A -> B; A.rate > 1", {0}, "no attribute 'rate'; they have: none"},
        {"A -> B [kind > 1]", {0}, "holds text"},
        {"A -> B; A.label = 1", {0}, "labels"},
        {"A -> B [label = 1]", {0}, "labels"},
        {"A -> B", {.engine = "quantum"}, "no matching engine 'quantum'"},
        {"A -> B", {.distinct = true, .semantics = SF_HOMOMORPHISM}, "homomorphisms"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_pattern pattern = parse(cases[i].text);
        sf_match_result result;
        sf_error error = {0};
        test_assert_fails(sf_match_run(index, &pattern, &cases[i].options, &result, NULL, &error), &error,
                          SF_USAGE, cases[i].words);
        sf_pattern_free(&pattern);
    }
    assert_int_equal(count(index, "A -> B [kind = \"gap\"]", false), 1);
    assert_int_equal(count(index, "A -> B [kind = \"chemical\"]", false), 0);
    sf_match_close(index);
    sf_csr_free(&graph);
}

static int parse_and_match(void *context)
{
    sf_match_index *index = NULL;
    sf_pattern pattern;
    sf_match_result result = {0};
    static const char text[] =
        "f(x, y) { x -> y [weight > 0, kind = \"k\"] }\nf(A, B); f(B, C); A.rate > C.rate\nC !> A";
    int status = sf_motif_parse(&pattern, "p", text, sizeof text - 1, NULL);
    if (status == SF_OK) status = sf_match_open(&index, context, NULL);
    if (status == SF_OK)
        status =
            sf_match_run(index, &pattern, &(sf_match_options){.keep = 3, .threads = 1}, &result, NULL, NULL);
    sf_match_result_free(&result);
    sf_match_close(index);
    sf_pattern_free(&pattern);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_edge_list list = {.directed = true};
    size_t weight, kind, rate, label;
    assert_int_equal(sf_columns_add(&list.edge_columns, "weight", &weight, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.edge_columns, "kind", &kind, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.vertex_columns, "rate", &rate, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.vertex_columns, SF_LABEL_COLUMN, &label, NULL), SF_OK);
    assert_int_equal(sf_edge_list_set_vertices(&list, 6, NULL), SF_OK);
    for (uint32_t v = 0; v < 6; v++) {
        list.vertex_columns.items[rate].values[v] = 6 - (double)v;
        list.vertex_columns.items[label].values[v] = v % 2;
        for (uint32_t w = v + 1; w < 6; w++) {
            assert_int_equal(sf_edge_list_add(&list, v, w, NULL), SF_OK);
            list.edge_columns.items[weight].values[list.edge_count - 1] = 1;
            assert_int_equal(sf_attribute_word(&list.edge_columns.items[kind], "k",
                                               &list.edge_columns.items[kind].values[list.edge_count - 1],
                                               NULL),
                             SF_OK);
        }
    }
    sf_csr graph;
    assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    test_fail_every_allocation(parse_and_match, &graph);
    sf_csr_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_reads_as_it_says),
        cmocka_unit_test(macros_and_triads_unfold),
        cmocka_unit_test(errors_point_at_the_place),
        cmocka_unit_test(macros_cannot_write_out_without_end),
        cmocka_unit_test(words_that_are_no_pattern_are_refused),
        cmocka_unit_test(the_worm_has_the_known_counts),
        cmocka_unit_test(exchangeable_vertices_count_once),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
