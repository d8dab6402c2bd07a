/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of networks beside their definitions, what must not matter to them, and graphs whose measures are
 * plain. tests/e2e/test_network.py holds them against networkx. */
#include "graph/measure/measure.h"
#include "graph/measure/modules.h"
#include "graph/measure/paths.h"
#include "oracle/network_oracle.h"
#include "support/support.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

static void assert_near(const char *what, double found, double expected)
{
    bool same = isnan(expected)      ? isnan(found)
                : isfinite(expected) ? fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected))
                                     : found == expected;
    if (!same) fail_msg("%s: found %.12g, expected %.12g", what, found, expected);
}

/* Few weights, so that several paths are equally short. */
static slow_net draw_net(test_random *random, size_t count, bool directed)
{
    slow_net net = {.count = count, .directed = directed};
    uint64_t dense = 1 + test_random_below(random, 7);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (i != j && (directed || i < j) && test_random_below(random, 10) < dense) {
                net.weights[i][j] = (double)(1u << test_random_below(random, 3));
                if (!directed) net.weights[j][i] = net.weights[i][j];
            }
    return net;
}

/* The graph, with loops, and with edges that have no weight above 0. */
static sf_csr make_csr(const slow_net *net)
{
    sf_edge_list list = {.directed = net->directed};
    sf_csr csr;
    size_t column, edges = 0;
    double weights[400];
    assert_int_equal(sf_edge_list_set_vertices(&list, (uint32_t)net->count, NULL), SF_OK);
    for (uint32_t i = 0; i < net->count; i++)
        for (uint32_t j = net->directed ? 0 : i; j < net->count; j++)
            for (int half = 0; half < 2; half++) { /* two parallel edges, whose weights add up */
                bool joined = net->weights[i][j] > 0;
                if (!joined && (half == 1 || (i + j) % 3 > 0)) continue;
                weights[edges++] = joined ? net->weights[i][j] / 2 : i == j ? 100 : -1;
                assert_int_equal(sf_edge_list_add(&list, i, j, NULL), SF_OK);
            }
    assert_int_equal(sf_columns_grow(&list.edge_columns, edges, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.edge_columns, "weight", &column, NULL), SF_OK);
    memcpy(list.edge_columns.items[column].values, weights, edges * sizeof *weights);
    assert_int_equal(sf_csr_build(&csr, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    return csr;
}

static sf_network_measures measure(const slow_net *net, const sf_measuring *how)
{
    sf_network_measures found;
    sf_error error;
    sf_csr csr = make_csr(net);
    if (sf_network_measures_find(&found, &csr, how, &error) != SF_OK) fail_msg("%s", error.text);
    sf_csr_free(&csr);
    return found;
}

static const sf_measuring plain = {.resolution = 1, .seed = 1, .threads = 1};

#define SAME(member) assert_near(#member, (double)found->member, (double)expected->member)

static void same_vertex(const sf_vertex_measures *found, const sf_vertex_measures *expected)
{
    assert_int_equal(found->unit, expected->unit);
    assert_int_equal(found->degree, expected->degree);
    assert_true(found->in_degree == expected->in_degree && found->out_degree == expected->out_degree);
    SAME(strength), SAME(in_strength), SAME(out_strength);
    SAME(clustering), SAME(clustering_directed), SAME(clustering_weighted);
    SAME(path_length), SAME(path_length_weighted);
    SAME(local_efficiency), SAME(local_efficiency_weighted);
    SAME(betweenness), SAME(betweenness_weighted);
}

static void same_network(const sf_network *found, const sf_network *expected)
{
    SAME(vertices), SAME(isolated), SAME(edges), SAME(density), SAME(degree), SAME(strength);
    SAME(reciprocity), SAME(components), SAME(largest_component), SAME(reachable);
    SAME(clustering), SAME(clustering_directed), SAME(clustering_weighted);
    SAME(path_length), SAME(path_length_weighted), SAME(efficiency), SAME(efficiency_weighted);
    SAME(local_efficiency), SAME(local_efficiency_weighted), SAME(betweenness), SAME(betweenness_weighted);
}

static void measures_are_as_their_definitions_have_them(void **state)
{
    (void)state;
    test_random random = test_random_start("network", 36);
    for (int round = 0; round < 120; round++) {
        slow_net net = draw_net(&random, 1 + test_random_below(&random, 7), round % 2 == 0);
        sf_network_measures found = measure(&net, &plain);
        sf_vertex_measures vertices[SLOW_NETWORK_MOST];
        sf_network network;
        slow_network_measure(&network, vertices, &net);
        assert_int_equal(found.vertex_count, net.count);
        for (size_t v = 0; v < net.count; v++)
            same_vertex(&found.vertices[v], &vertices[v]);
        same_network(&found.network, &network);
        for (size_t k = 0; k < found.network.club_count; k++)
            assert_near("rich club", found.network.clubs[k].coefficient, slow_rich_club(&net, k));
        assert_true(isnan(slow_rich_club(&net, found.network.club_count)));
        sf_network_measures_free(&found);
    }
}

/* Of eight vertices the greatest modularity of all partitions is known. */
static void modules_are_the_best_of_small_graphs(void **state)
{
    (void)state;
    test_random random = test_random_start("modules", 37);
    int best = 0, tried = 0;
    for (int round = 0; round < 60; round++) {
        slow_net net = draw_net(&random, 2 + test_random_below(&random, 7), round % 2 == 0);
        sf_network_measures found = measure(&net, &plain);
        for (int weighted = 0; weighted < 2 && found.network.edges > 0; weighted++) {
            uint64_t module[SLOW_NETWORK_MOST];
            for (size_t v = 0; v < net.count; v++) {
                const sf_vertex_measures *of = &found.vertices[v];
                module[v] = weighted ? of->module_weighted : of->module;
                if (of->degree == 0) {
                    assert_true(module[v] == SF_NO_COUNT);
                    module[v] = 100 + v;
                }
            }
            double told = weighted ? found.network.modularity_weighted : found.network.modularity;
            assert_near("modularity", told, slow_modularity(&net, module, weighted, 1));
            for (size_t v = 0; v < net.count; v++) {
                const sf_vertex_measures *of = &found.vertices[v];
                assert_near("participation", weighted ? of->participation_weighted : of->participation,
                            slow_participation(&net, module, weighted, v));
                if (weighted == 0)
                    assert_near("z", of->module_degree_z, slow_module_degree_z(&net, module, v));
            }
            best += told >= slow_best_modularity(&net, weighted, 1) - 1e-9;
            tried++;
        }
        sf_network_measures_free(&found);
    }
    assert_true(tried > 80);
    if (best < tried * 97 / 100) fail_msg("%d of %d are the best there are", best, tried);
}

/* Two rings of six and one edge between them. */
static slow_net two_rings(void)
{
    slow_net net = {.count = 12};
    for (size_t ring = 0; ring < 2; ring++)
        for (size_t i = 0; i < 6; i++) {
            size_t a = 6 * ring + i, b = 6 * ring + (i + 1) % 6;
            net.weights[a][b] = net.weights[b][a] = 1;
        }
    net.weights[0][6] = net.weights[6][0] = 1;
    return net;
}

static void modules_follow_the_resolution_and_are_numbered_by_size(void **state)
{
    (void)state;
    slow_net net = two_rings();
    sf_measuring how = plain;
    how.resolution = 0.3;
    sf_network_measures coarse = measure(&net, &how);
    assert_int_equal(coarse.network.modules, 2);
    for (size_t v = 0; v < 12; v++)
        assert_int_equal(coarse.vertices[v].module, v / 6);
    how.resolution = 3;
    sf_network_measures fine = measure(&net, &how);
    assert_true(fine.network.modules > 3);
    uint64_t sizes[12] = {0};
    for (size_t v = 0; v < 12; v++)
        sizes[fine.vertices[v].module]++;
    for (size_t m = 1; m < fine.network.modules; m++)
        assert_true(sizes[m] > 0 && sizes[m] <= sizes[m - 1]);
    sf_network_measures_free(&coarse);
    sf_network_measures_free(&fine);
}

/* Of one edge, or a line of two, no division is better than none: they are one module and not two. */
static void what_no_division_betters_is_one_module(void **state)
{
    (void)state;
    for (size_t edges = 1; edges < 3; edges++) {
        slow_net net = {.count = 5, .directed = true};
        for (size_t i = 0; i < edges; i++)
            net.weights[i][i + 1] = 1;
        sf_network_measures found = measure(&net, &plain);
        assert_int_equal(found.network.modules, 1);
        assert_true(found.network.modularity == 0);
        for (size_t v = 0; v <= edges; v++)
            assert_int_equal(found.vertices[v].module, 0);
        sf_network_measures_free(&found);
    }
}

/* A star: its centre has most edges, lies on all paths, is nearest to all, and none of its neighbours are
 * neighbours. Whoever is as good as all others is no hub. */
static void the_centre_of_a_star_is_its_hub(void **state)
{
    (void)state;
    slow_net net = {.count = 8};
    for (size_t v = 1; v < 7; v++)
        net.weights[0][v] = net.weights[v][0] = 1;
    sf_network_measures found = measure(&net, &plain);
    assert_int_equal(found.network.hubs, 1);
    assert_true(found.vertices[0].hub);
    assert_int_equal(found.vertices[0].hub_score, 3); /* clustering is 0 of all */
    assert_int_equal(found.vertices[1].hub_score, 0);
    assert_false(found.vertices[7].hub);
    sf_network_measures_free(&found);
}

static void rules_leave_out_edges_and_vertices(void **state)
{
    (void)state;
    slow_net net = {.count = 5};
    net.weights[0][1] = net.weights[1][0] = 4;
    net.weights[1][2] = net.weights[2][1] = 2;
    net.weights[2][3] = net.weights[3][2] = 2;
    net.weights[0][3] = net.weights[3][0] = 1;
    sf_measuring how = plain;
    how.rule.threshold = 2;
    sf_network_measures found = measure(&net, &how);
    assert_int_equal(found.network.edges, 3);
    assert_int_equal(found.network.left_out, 2); /* with one of a weight below 0 */
    assert_int_equal(found.network.isolated, 1);
    sf_network_measures_free(&found);
    how.rule = (sf_net_rule){.density = 0.2, .linked = true}; /* 2 of 10 pairs, and a third as strong */
    found = measure(&net, &how);
    assert_int_equal(found.network.edges, 3);
    assert_int_equal(found.network.vertices, 4);
    sf_network_measures_free(&found);
    how.rule.density = 0.1;
    found = measure(&net, &how);
    assert_int_equal(found.network.edges, 1);
    assert_int_equal(found.network.vertices, 2);
    sf_network_measures_free(&found);
}

/* ---- larger graphs ---- */

/* A ring where everyone knows the nearest eight, some edges going elsewhere (Watts and Strogatz 1998). */
static sf_csr small_world(uint32_t count, double elsewhere, bool directed)
{
    test_random random = test_random_start("small world", 38);
    sf_edge_list list = {.directed = directed};
    sf_csr csr;
    assert_int_equal(sf_edge_list_set_vertices(&list, count, NULL), SF_OK);
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t step = 1; step <= 4; step++) {
            bool goes = test_random_below(&random, 1000) < (uint64_t)(1000 * elsewhere);
            uint32_t to = goes ? (uint32_t)test_random_below(&random, count) : (v + step) % count;
            assert_int_equal(sf_edge_list_add(&list, v, to, NULL), SF_OK);
        }
    assert_int_equal(sf_csr_build(&csr, &list, SF_CSR_SIMPLE, NULL), SF_OK);
    sf_edge_list_free(&list);
    return csr;
}

/* Nearly as clustered as the ring, with paths as short as in random graphs; a random graph is none. */
static void small_worlds_stand_out_from_rewired_graphs(void **state)
{
    (void)state;
    sf_measuring how = plain;
    how.rewired = 20;
    how.threads = 2;
    for (int directed = 0; directed < 2; directed++) {
        sf_csr csr = small_world(300, 0.1, directed);
        sf_network_measures found;
        assert_int_equal(sf_network_measures_find(&found, &csr, &how, NULL), SF_OK);
        assert_int_equal(found.network.rewired, 20);
        assert_true(found.network.small_world > 5);
        assert_true(found.network.beside[SF_COMPARED_CLUSTERING].z > 20);
        assert_true(found.network.beside[SF_COMPARED_MODULARITY].z > 10);
        assert_true(found.network.beside[SF_COMPARED_EFFICIENCY].z < -3);
        assert_near("small world", found.network.small_world,
                    found.network.clustering_directed / found.network.beside[SF_COMPARED_CLUSTERING].mean /
                        found.network.path_length * found.network.beside[SF_COMPARED_PATH_LENGTH].mean);
        sf_network_measures_free(&found);
        sf_csr_free(&csr);
        csr = small_world(300, 1, directed);
        assert_int_equal(sf_network_measures_find(&found, &csr, &how, NULL), SF_OK);
        assert_true(found.network.small_world > 0.6 && found.network.small_world < 1.5);
        assert_true(fabs(found.network.beside[SF_COMPARED_MODULARITY].z) < 4);
        for (size_t k = 0; k < found.network.club_count; k++)
            assert_true(isnan(found.network.clubs[k].z) || fabs(found.network.clubs[k].z) < 6);
        sf_network_measures_free(&found);
        sf_csr_free(&csr);
    }
}

/* Searches from 64 vertices at once give the sums of searches from each. */
static void sums_of_hops_are_those_of_single_searches(void **state)
{
    (void)state;
    for (int directed = 0; directed < 2; directed++) {
        sf_csr csr = small_world(200, 0.3, directed);
        const sf_net_rule all = {0};
        sf_net net;
        double *between = sf_alloc(200, sizeof *between);
        sf_path_sums *one = sf_alloc(200, sizeof *one), *together = sf_alloc(200, sizeof *together);
        assert_int_equal(sf_net_build(&net, &csr, &all, NULL), SF_OK);
        assert_int_equal(sf_betweenness(between, one, &net, false, 1, NULL, NULL), SF_OK);
        assert_int_equal(sf_hop_sums(together, &net, NULL), SF_OK);
        for (size_t v = 0; v < 200; v++) {
            assert_int_equal(together[v].reached, one[v].reached);
            assert_near("length", together[v].length, one[v].length);
            assert_near("inverse", together[v].inverse, one[v].inverse);
        }
        sf_free(between), sf_free(one), sf_free(together);
        sf_net_free(&net);
        sf_csr_free(&csr);
    }
}

static void measure_threads(sf_network_measures *found, const sf_csr *csr, unsigned threads)
{
    sf_measuring how = plain;
    how.threads = threads;
    how.rewired = 5;
    assert_int_equal(sf_network_measures_find(found, csr, &how, NULL), SF_OK);
}

static void numbers_do_not_depend_on_threads(void **state)
{
    (void)state;
    sf_csr csr = small_world(200, 0.2, true);
    sf_network_measures one, three;
    measure_threads(&one, &csr, 1);
    measure_threads(&three, &csr, 3);
    assert_memory_equal(one.vertices, three.vertices, one.vertex_count * sizeof *one.vertices);
    assert_memory_equal(one.network.beside, three.network.beside, sizeof one.network.beside);
    sf_network_measures_free(&one);
    sf_network_measures_free(&three);
    sf_csr_free(&csr);
}

static bool stop_at_once(void *user, const char *what, double done, double total)
{
    (void)user, (void)what, (void)done, (void)total;
    return false;
}

static void a_stop_is_heard(void **state)
{
    (void)state;
    const sf_progress progress = {.update = stop_at_once};
    sf_csr csr = small_world(50, 0.2, true);
    sf_network_measures found;
    sf_measuring how = plain;
    how.progress = &progress;
    assert_int_equal(sf_network_measures_find(&found, &csr, &how, NULL), SF_CANCELLED);
    sf_network_measures_free(&found);
    sf_csr_free(&csr);
}

static int scenario(void *context)
{
    sf_network_measures found;
    sf_measuring how = plain;
    how.rewired = 2;
    int status = sf_network_measures_find(&found, context, &how, NULL);
    sf_network_measures_free(&found);
    return status;
}

static void memory_that_lacks_is_told(void **state)
{
    (void)state;
    sf_csr csr = small_world(20, 0.2, true);
    test_fail_every_allocation(scenario, &csr);
    sf_csr_free(&csr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_are_as_their_definitions_have_them),
        cmocka_unit_test(modules_are_the_best_of_small_graphs),
        cmocka_unit_test(modules_follow_the_resolution_and_are_numbered_by_size),
        cmocka_unit_test(what_no_division_betters_is_one_module),
        cmocka_unit_test(the_centre_of_a_star_is_its_hub),
        cmocka_unit_test(rules_leave_out_edges_and_vertices),
        cmocka_unit_test(small_worlds_stand_out_from_rewired_graphs),
        cmocka_unit_test(sums_of_hops_are_those_of_single_searches),
        cmocka_unit_test(numbers_do_not_depend_on_threads),
        cmocka_unit_test(a_stop_is_heard),
        cmocka_unit_test(memory_that_lacks_is_told),
    };
    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
