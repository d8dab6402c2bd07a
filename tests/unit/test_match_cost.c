/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search is expected to take, and what samples of it tell: on graphs where it is known.
 */
#include "support/support.h"

#include "graph/match/cost.h"
#include "graph/match/match.h"
#include "graph/match/rows.h"

#include <math.h>

/* ---- a ring, where every vertex is as the next ---- */

enum { NEIGHBOURS = 20 }; /* the ten before it, and after it */

typedef struct scene {
    sf_csr data;
    sf_match_index *index;
    sf_pattern pattern;
    sf_query query;
    sf_space space;
    sf_symmetry symmetry;
    sf_plan plan;
} scene;

/* Pairs of letters are edges. */
static void open_scene(scene *s, uint32_t vertices, bool directed, const char *edges)
{
    sf_edge_list list = {.directed = directed};
    *s = (scene){.pattern.directed = directed};
    assert_int_equal(sf_edge_list_set_vertices(&list, vertices, NULL), SF_OK);
    for (uint32_t v = 0; v < vertices; v++)
        for (uint32_t k = 1; k <= NEIGHBOURS / 2; k++)
            assert_int_equal(sf_edge_list_add(&list, v, (v + k) % vertices, NULL), SF_OK);
    assert_int_equal(sf_csr_build(&s->data, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    for (const char *e = edges; *e != '\0'; e += 2) {
        for (uint32_t last = (uint32_t)(e[1] - 'a'); s->pattern.vertex_count <= last;)
            assert_int_equal(sf_pattern_add_vertex(&s->pattern, NULL, SF_ANY_LABEL, NULL), SF_OK);
        assert_int_equal(sf_pattern_add_edge(&s->pattern, (uint32_t)(e[0] - 'a'), (uint32_t)(e[1] - 'a'),
                                             SF_ANY_LABEL, false, NULL),
                         SF_OK);
    }
    assert_int_equal(sf_match_open(&s->index, &s->data, NULL), SF_OK);
    assert_int_equal(sf_query_open(&s->query, s->index, &s->pattern, SF_ISOMORPHISM, NULL), SF_OK);
    assert_int_equal(sf_space_open(&s->space, &s->query, 1, NULL), SF_OK);
    sf_plan_make(&s->plan, &s->space, NULL, 0);
}

static void close_scene(scene *s)
{
    sf_space_close(&s->space);
    sf_query_close(&s->query);
    sf_match_close(s->index);
    sf_pattern_free(&s->pattern);
    sf_csr_free(&s->data);
}

/* ---- samples ---- */

static sf_match_sample sample(const scene *s, sf_match_result *result)
{
    const sf_match_job job = {.query = &s->query, .threads = 1, .most = UINT64_MAX, .result = result};
    sf_match_search search = {.job = &job, .space = &s->space, .plan = &s->plan, .injective = true};
    return sf_match_sample_tree(&search);
}

/* A path of five, all of it searched: each step has the 20 neighbours of the one before, of which one to
 * three are taken. */
static void samples_tell_how_much_is_gone_through(void **state)
{
    (void)state;
    enum { VERTICES = 200 };
    scene s;
    sf_match_result result = {0};
    open_scene(&s, VERTICES, false, "abbccdde");
    double expected = VERTICES, paths = VERTICES;
    for (int step = 1; step < 5; step++, paths *= NEIGHBOURS - 1)
        expected += paths * NEIGHBOURS;
    sf_match_sample found = sample(&s, &result);
    assert_true(fabs(found.steps / expected - 1) < 0.1);
    assert_true(fabs(found.tried / (expected - VERTICES) - 1) < 0.1);
    assert_true(found.seconds > 0);
    close_scene(&s);
}

/* With the ends of it counted by products a device tries none of their candidates. */
static void what_is_counted_is_not_tried(void **state)
{
    (void)state;
    enum { VERTICES = 200 };
    scene s;
    sf_match_result result = {0};
    open_scene(&s, VERTICES, false, "abbc");
    sf_plan_make(&s.plan, &s.space, NULL, 1);
    assert_int_equal(s.plan.core, 2);
    sf_match_sample found = sample(&s, &result);
    assert_true(fabs(found.tried / (VERTICES * NEIGHBOURS) - 1) < 0.01);
    close_scene(&s);
}

/* ---- seconds ---- */

static void threads_do_not_shorten_what_is_short(void **state)
{
    (void)state;
    scene s;
    const sf_terms none = {0};
    open_scene(&s, 50, false, "abbc");
    const sf_match_sample brief = {.seconds = 1e-4, .steps = 2000, .tried = 2000};
    const sf_match_sample lengthy = {.seconds = 10, .steps = 1e8, .tried = 1e8};
    double one = sf_match_cost_of_search(&s.space, &none, &brief, 1).here;
    assert_true(sf_match_cost_of_search(&s.space, &none, &brief, 16).here == one);
    double alone = sf_match_cost_of_search(&s.space, &none, &lengthy, 1).here;
    double together = sf_match_cost_of_search(&s.space, &none, &lengthy, 16).here;
    assert_true(together < alone / 4 && together > alone / 16);
    close_scene(&s);
}

static void a_device_wins_by_size_alone(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {50, 1000, 20000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        scene s;
        open_scene(&s, sizes[i], false, "abbccd");
        sf_match_cost cost = sf_match_cost_of_space(&s.query, 1, false);
        assert_int_equal(cost.there<cost.here, i> 0);
        assert_true(sf_match_cost_of_space(&s.query, 16, false).here <= cost.here);
        close_scene(&s);
    }
}

/* Of two edges between the same two, one is looked for among the edges of each neighbour along the other. */
static void pairs_with_more_than_one_edge_cost_more(void **state)
{
    (void)state;
    scene one, two;
    open_scene(&one, 1000, true, "ab");
    open_scene(&two, 1000, true, "abba");
    double plain = sf_match_cost_of_space(&one.query, 1, false).here;
    assert_true(sf_match_cost_of_space(&two.query, 1, false).here > 5 * plain);
    close_scene(&one);
    close_scene(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_tell_how_much_is_gone_through),
        cmocka_unit_test(what_is_counted_is_not_tried),
        cmocka_unit_test(threads_do_not_shorten_what_is_short),
        cmocka_unit_test(a_device_wins_by_size_alone),
        cmocka_unit_test(pairs_with_more_than_one_edge_cost_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
