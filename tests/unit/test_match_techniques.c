/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each technique that saves matching work is seen at work: on a graph made so that it must act, what the
 * search tells of itself is as it must be. Counts alone do not show it: they are the same without any of
 * them.
 */
#include "support/support.h"

#include "graph/match/candidates.h"
#include "graph/match/match.h"
#include "graph/match/rows.h"

enum { A, B, C, D, E };

/* ---- graphs that are put together by hand ---- */

typedef struct sketch {
    sf_edge_list list;
    double labels[512], edge_labels[512];
    bool has_edge_labels;
} sketch;

static uint32_t add_vertex(sketch *s, int label)
{
    uint32_t v = s->list.vertex_count;
    assert_true(v < sizeof s->labels / sizeof *s->labels);
    s->labels[v] = label;
    assert_int_equal(sf_edge_list_set_vertices(&s->list, v + 1, NULL), SF_OK);
    return v;
}

static void add_edge(sketch *s, uint32_t v, uint32_t w)
{
    assert_int_equal(sf_edge_list_add(&s->list, v, w, NULL), SF_OK);
}

static void add_labelled_edge(sketch *s, uint32_t v, uint32_t w, int label)
{
    assert_true(s->list.edge_count < sizeof s->edge_labels / sizeof *s->edge_labels);
    s->edge_labels[s->list.edge_count] = label;
    s->has_edge_labels = true;
    add_edge(s, v, w);
}

typedef struct scene {
    sf_csr data;
    sf_match_index *index;
    sf_pattern pattern;
} scene;

static void add_labels(sf_columns *columns, const double *labels, size_t rows)
{
    size_t column;
    assert_int_equal(sf_columns_grow(columns, rows, NULL), SF_OK);
    assert_int_equal(sf_columns_add(columns, SF_LABEL_COLUMN, &column, NULL), SF_OK);
    memcpy(columns->items[column].values, labels, rows * sizeof *labels);
}

static sf_csr finish(sketch *s)
{
    sf_csr graph;
    add_labels(&s->list.vertex_columns, s->labels, s->list.vertex_count);
    if (s->has_edge_labels) add_labels(&s->list.edge_columns, s->edge_labels, s->list.edge_count);
    assert_int_equal(sf_csr_build(&graph, &s->list, 0, NULL), SF_OK);
    sf_edge_list_free(&s->list);
    return graph;
}

/* The labels of the pattern's vertices, and its edges by pairs of their numbers. */
static void open_scene(scene *made, sketch *s, const char *labels, const char *edges)
{
    *made = (scene){.data = finish(s)};
    assert_int_equal(sf_match_open(&made->index, &made->data, NULL), SF_OK);
    for (; *labels != '\0'; labels++)
        assert_int_equal(sf_pattern_add_vertex(&made->pattern, NULL, (uint32_t)(*labels - 'A'), NULL), SF_OK);
    for (; *edges != '\0'; edges += 2)
        assert_int_equal(sf_pattern_add_edge(&made->pattern, (uint32_t)(edges[0] - '0'),
                                             (uint32_t)(edges[1] - '0'), SF_ANY_LABEL, false, NULL),
                         SF_OK);
}

/* And a digit each for the labels of the pattern's edges. */
static void open_labelled_scene(scene *made, sketch *s, const char *labels, const char *edges,
                                const char *edge_labels)
{
    open_scene(made, s, labels, edges);
    for (size_t e = 0; e < made->pattern.edge_count; e++)
        made->pattern.edges[e].label = (uint32_t)(edge_labels[e] - '0');
}

static void close_scene(scene *s)
{
    sf_match_close(s->index);
    sf_pattern_free(&s->pattern);
    sf_csr_free(&s->data);
}

static sf_match_result run(const scene *s, const char *engine, unsigned without, uint64_t expected)
{
    sf_match_result result;
    const sf_match_options options = {.engine = engine, .threads = 1, .device = "cpu", .without = without};
    assert_int_equal(sf_match_run(s->index, &s->pattern, &options, &result, NULL, NULL), SF_OK);
    assert_int_equal(result.count, expected);
    return result;
}

/* ---- gvsm ---- */

/* A path A-B-C where 40 vertices are A, 10 are B and one is C: it begins at the C. */
static void gvsm_begins_where_fewest_vertices_are(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t c = add_vertex(&s, C), b[10];
    for (int i = 0; i < 10; i++)
        add_edge(&s, b[i] = add_vertex(&s, B), c);
    for (int i = 0; i < 40; i++)
        add_edge(&s, add_vertex(&s, A), b[i % 10]);
    scene path;
    open_scene(&path, &s, "ABC", "0112");
    static const uint32_t by_rank[] = {2, 1, 0}, as_given[] = {0, 1, 2};
    sf_match_result ranked = run(&path, "gvsm", 0, 40);
    assert_memory_equal(ranked.order, by_rank, sizeof by_rank);
    sf_match_result plain = run(&path, "gvsm", SF_GVSM_ORDER, 40);
    assert_memory_equal(plain.order, as_given, sizeof as_given);
    close_scene(&path);
}

/* One path A-B-C; five As alone, and five As that only have a B that has no C: the B is ruled out in the
 * first round, after its A, and the A by that in the second. */
static void gvsm_blacklists_what_matches_nothing(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t a = add_vertex(&s, A), b = add_vertex(&s, B), c = add_vertex(&s, C);
    add_edge(&s, a, b);
    add_edge(&s, b, c);
    for (int i = 0; i < 5; i++) {
        add_vertex(&s, A);
        a = add_vertex(&s, A);
        add_edge(&s, a, add_vertex(&s, B));
    }
    scene path;
    open_scene(&path, &s, "ABC", "0112");
    sf_match_result listed = run(&path, "gvsm", 0, 1), unlisted = run(&path, "gvsm", SF_GVSM_BLACKLIST, 1);
    static const uint64_t labelled[] = {11, 6, 1}, left[] = {1, 1, 1};
    assert_int_equal(listed.blacklisted, 15);
    assert_memory_equal(listed.labelled, labelled, sizeof labelled);
    assert_memory_equal(listed.candidates, left, sizeof left);
    assert_int_equal(unlisted.blacklisted, 0);
    assert_memory_equal(unlisted.candidates, labelled, sizeof labelled);
    close_scene(&path);
}

/* An A with two Bs, which is looked for, and ten As that share one B. */
static void open_forks(scene *forks)
{
    sketch s = {0};
    uint32_t shared = add_vertex(&s, B);
    for (int i = 0; i < 10; i++)
        add_edge(&s, add_vertex(&s, A), shared);
    uint32_t fork = add_vertex(&s, A);
    add_edge(&s, fork, add_vertex(&s, B));
    add_edge(&s, fork, add_vertex(&s, B));
    open_scene(forks, &s, "ABB", "0102");
}

enum { TWIGS_ALONE = SF_GVSM_BLACKLIST | SF_GVSM_IMPLICATION | SF_GVSM_TWINS | SF_GVSM_ORDER };

/* The test of the whole twig leaves the fork alone: it, its two Bs, and each of them below each. */
static void gvsm_tests_twigs_before_it_expands_them(void **state)
{
    (void)state;
    scene forks;
    open_forks(&forks);
    assert_int_equal(run(&forks, "gvsm", TWIGS_ALONE, 2).steps, 1 + 2 + 4);
    assert_true(run(&forks, "gvsm", TWIGS_ALONE | SF_GVSM_TWIGS, 2).steps > 11);
    close_scene(&forks);
}

/* The first of the ten fails the test, and nine others with it. */
static void gvsm_learns_from_a_failed_test(void **state)
{
    (void)state;
    scene forks;
    open_forks(&forks);
    unsigned implication = TWIGS_ALONE & ~(unsigned)SF_GVSM_IMPLICATION;
    assert_int_equal(run(&forks, "gvsm", implication, 2).implied, 9);
    assert_int_equal(run(&forks, "gvsm", TWIGS_ALONE, 2).implied, 0);
    close_scene(&forks);
}

/* A hundred Bs around an A are one branch: the A, and the B once and twice. */
static void gvsm_gives_twins_one_branch(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t a = add_vertex(&s, A);
    for (int i = 0; i < 100; i++)
        add_edge(&s, a, add_vertex(&s, B));
    scene star;
    open_scene(&star, &s, "ABB", "0102");
    sf_match_result merged = run(&star, "gvsm", 0, 100 * 99);
    assert_int_equal(merged.merged, 99);
    assert_int_equal(merged.steps, 3);
    sf_match_result apart = run(&star, "gvsm", SF_GVSM_TWINS, 100 * 99);
    assert_int_equal(apart.merged, 0);
    assert_int_equal(apart.steps, 1 + 100 + 100 * 100);
    close_scene(&star);
}

/* ---- gvsm by labels of edges ---- */

/* A has a hundred Bs along edges 0 and one along an edge 1, which alone is expanded. */
static void gvsm_expands_along_edges_with_the_label(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t a = add_vertex(&s, A);
    for (int i = 0; i < 100; i++)
        add_labelled_edge(&s, a, add_vertex(&s, B), 0);
    add_labelled_edge(&s, a, add_vertex(&s, B), 1);
    scene pair;
    open_labelled_scene(&pair, &s, "AB", "01", "1");
    assert_int_equal(run(&pair, "gvsm", TWIGS_ALONE, 1).steps, 2);
    close_scene(&pair);
}

/* A path A 0 B 1 C; Bs that have a C along an edge 0 alone, and so do their As. */
static void gvsm_blacklists_by_labels_of_edges(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t c = add_vertex(&s, C);
    for (int i = 0; i < 6; i++) {
        uint32_t b = add_vertex(&s, B);
        add_labelled_edge(&s, b, c, i == 0);
        add_labelled_edge(&s, add_vertex(&s, A), b, 0);
    }
    scene path;
    open_labelled_scene(&path, &s, "ABC", "0112", "01");
    static const uint64_t left[] = {1, 1, 1};
    sf_match_result result = run(&path, "gvsm", 0, 1);
    assert_int_equal(result.blacklisted, 10);
    assert_memory_equal(result.candidates, left, sizeof left);
    close_scene(&path);
}

/* Two As with the same two Bs, one A along edges 0 and the other along edges 1, which are looked for: that
 * the first fails says nothing of the second. Ten As that share a B along edges 1 fail together. */
static void gvsm_learns_from_failed_tests_by_labels_of_edges(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t b[] = {add_vertex(&s, B), add_vertex(&s, B)};
    for (int label = 0; label < 2; label++) {
        uint32_t a = add_vertex(&s, A);
        add_labelled_edge(&s, a, b[0], label);
        add_labelled_edge(&s, a, b[1], label);
    }
    unsigned implication = TWIGS_ALONE & ~(unsigned)SF_GVSM_IMPLICATION;
    scene forks;
    open_labelled_scene(&forks, &s, "ABB", "0102", "11");
    assert_int_equal(run(&forks, "gvsm", implication, 2).implied, 0);
    close_scene(&forks);

    s = (sketch){0};
    uint32_t shared = add_vertex(&s, B), fork = add_vertex(&s, A);
    for (int i = 0; i < 10; i++)
        add_labelled_edge(&s, add_vertex(&s, A), shared, 1);
    for (int i = 0; i < 2; i++)
        add_labelled_edge(&s, fork, add_vertex(&s, B), 1);
    open_labelled_scene(&forks, &s, "ABB", "0102", "11");
    assert_int_equal(run(&forks, "gvsm", implication, 2).implied, 9);
    close_scene(&forks);
}

/* Of a hundred Bs around an A fifty are there along edges 0 and fifty along edges 1: two branches. */
static void gvsm_gives_twins_by_labels_of_edges_one_branch(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t a = add_vertex(&s, A);
    for (int i = 0; i < 100; i++)
        add_labelled_edge(&s, a, add_vertex(&s, B), i % 2);
    scene star;
    open_labelled_scene(&star, &s, "ABBB", "010203", "001");
    sf_match_result merged = run(&star, "gvsm", 0, 50 * 49 * 50);
    assert_int_equal(merged.merged, 98);
    assert_int_equal(merged.steps, 4);
    assert_int_equal(run(&star, "gvsm", SF_GVSM_TWINS, 50 * 49 * 50).merged, 0);
    close_scene(&star);
}

/* Kinds that 32 bits cannot number: nothing is found by them, and the counts are the same. */
static void gvsm_does_without_too_many_kinds(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t a = add_vertex(&s, A);
    for (int i = 0; i < 100; i++)
        add_labelled_edge(&s, a, add_vertex(&s, B), i % 2);
    s.edge_labels[99] = UINT32_MAX - 1;
    scene star;
    open_labelled_scene(&star, &s, "ABB", "0102", "01");
    sf_match_result result = run(&star, "gvsm", 0, 50 * 49);
    assert_int_equal(result.merged, 0);
    assert_int_equal(result.steps, 1 + 100 + 50 * 100);
    close_scene(&star);
}

/* ---- auto ---- */

static void open_complete(scene *made, uint32_t vertices, const char *labels, const char *edges)
{
    sketch s = {0};
    for (uint32_t v = 0; v < vertices; v++)
        add_vertex(&s, A);
    for (uint32_t v = 0; v < vertices; v++)
        for (uint32_t w = 0; w < v; w++)
            add_edge(&s, v, w);
    open_scene(made, &s, labels, edges);
}

/* Each set of four vertices is met once of 24 times. */
static void auto_counts_alike_embeddings_once(void **state)
{
    (void)state;
    scene cliques;
    open_complete(&cliques, 12, "AAAA", "010203121323");
    sf_match_result result = run(&cliques, "auto", 0, 12 * 11 * 10 * 9);
    assert_int_equal(result.automorphisms, 24);
    assert_true(result.steps <= 12 + 12 * 11 / 2 + 12 * 11 * 10 / 6);
    close_scene(&cliques);
}

/* Leaves are counted, not tried: the steps are the centres. */
static void auto_multiplies_leaves_out(void **state)
{
    (void)state;
    scene stars;
    open_complete(&stars, 12, "AAAA", "010203");
    assert_int_equal(run(&stars, "auto", 0, 12 * 11 * 10 * 9).steps, 12);
    close_scene(&stars);
}

/*
 * Triangles A-B-C and A-D-E on one A, of which there are two. Each has five Bs and five Cs, all joined, and
 * 30 Ds and 30 Es, but its Ds are joined with the other's Es: every vertex has the neighbours it needs, and
 * no D goes with its A. That is the A's fault, so after the first B the others are not tried.
 */
static void auto_leaves_a_branch_that_others_spoil(void **state)
{
    (void)state;
    enum { AROUND = 5, FAR = 30 };
    sketch s = {0};
    uint32_t a[2], b[2][AROUND], c[2][AROUND], d[2][FAR], e[2][FAR];
    for (int side = 0; side < 2; side++) {
        a[side] = add_vertex(&s, A);
        for (int i = 0; i < AROUND; i++) {
            add_edge(&s, a[side], b[side][i] = add_vertex(&s, B));
            add_edge(&s, a[side], c[side][i] = add_vertex(&s, C));
        }
        for (int i = 0; i < AROUND * AROUND; i++)
            add_edge(&s, b[side][i / AROUND], c[side][i % AROUND]);
        for (int i = 0; i < FAR; i++) {
            add_edge(&s, a[side], d[side][i] = add_vertex(&s, D));
            add_edge(&s, a[side], e[side][i] = add_vertex(&s, E));
        }
    }
    for (int i = 0; i < FAR; i++) {
        add_edge(&s, d[0][i], e[1][i]);
        add_edge(&s, d[1][i], e[0][i]);
    }
    scene triangles;
    open_scene(&triangles, &s, "ABCDE", "010212030434");
    static const int sets[] = {SF_ROWS_ALWAYS, SF_ROWS_NEVER}; /* as bitmaps, as sorted lists */
    for (int i = 0; i < 2; i++) {
        sf_rows_when(sets[i]);
        sf_match_result result = run(&triangles, "auto", 0, 0);
        static const uint64_t left[] = {2, 2 * AROUND, 2 * AROUND, 2 * FAR, 2 * FAR};
        assert_memory_equal(result.candidates, left, sizeof left); /* nothing else has ruled any out */
        assert_int_equal(result.steps, 2 * (1 + 1 + FAR));
    }
    sf_rows_when(SF_ROWS_WORTH);
    close_scene(&triangles);
}

/* One C with two Bs of three As each, and 50 such Bs, each with a C that has a B and an A too few: all but
 * these are looked at where candidates are filtered, and only what is around the C where they grow. */
static void auto_looks_for_candidates_beside_others(void **state)
{
    (void)state;
    sketch s = {0};
    uint32_t c = add_vertex(&s, C);
    for (int i = 0; i < 52; i++) {
        uint32_t b = add_vertex(&s, B);
        add_edge(&s, b, i < 2 ? c : add_vertex(&s, D));
        for (int k = 0; k < 3; k++)
            add_edge(&s, add_vertex(&s, A), b);
    }
    scene path;
    open_scene(&path, &s, "CBA", "1021");
    static const uint64_t left[] = {1, 2, 6};
    sf_match_result grown = run(&path, "auto", 0, 6);
    sf_candidates_when(SF_CANDIDATES_FILTERED);
    sf_match_result filtered = run(&path, "auto", 0, 6);
    sf_candidates_when(SF_CANDIDATES_WORTH);
    assert_memory_equal(grown.candidates, left, sizeof left);
    assert_memory_equal(filtered.candidates, left, sizeof left);
    assert_int_equal(grown.tested, 1 + 2 + 6);
    assert_int_equal(filtered.tested, 1 + 52 + 52 * 3);
    assert_int_equal(grown.blacklisted, filtered.blacklisted);
    close_scene(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gvsm_begins_where_fewest_vertices_are),
        cmocka_unit_test(gvsm_blacklists_what_matches_nothing),
        cmocka_unit_test(gvsm_tests_twigs_before_it_expands_them),
        cmocka_unit_test(gvsm_learns_from_a_failed_test),
        cmocka_unit_test(gvsm_gives_twins_one_branch),
        cmocka_unit_test(gvsm_expands_along_edges_with_the_label),
        cmocka_unit_test(gvsm_blacklists_by_labels_of_edges),
        cmocka_unit_test(gvsm_learns_from_failed_tests_by_labels_of_edges),
        cmocka_unit_test(gvsm_gives_twins_by_labels_of_edges_one_branch),
        cmocka_unit_test(gvsm_does_without_too_many_kinds),
        cmocka_unit_test(auto_counts_alike_embeddings_once),
        cmocka_unit_test(auto_multiplies_leaves_out),
        cmocka_unit_test(auto_leaves_a_branch_that_others_spoil),
        cmocka_unit_test(auto_looks_for_candidates_beside_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
