/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "analysis/connectivity.h"
#include "analysis/links.h"
#include "core/memory.h"
#include "mine/mine.h"

#include <math.h>

static sf_link link_of(uint32_t from, uint32_t to, int64_t low_ms, int64_t high_ms, uint64_t count)
{
    return (sf_link){.from = from,
                     .to = to,
                     .delay = {low_ms * 1000000, high_ms * 1000000},
                     .count = count,
                     .expected = (double)count / 2,
                     .p = NAN};
}

static void links_are_ordered_and_checked(void **state)
{
    (void)state;
    const sf_link links[] = {link_of(1, 0, 0, 5, 9), link_of(0, 1, 5, 10, 7), link_of(0, 1, 0, 5, 8)};
    sf_connectivity graph;
    assert_int_equal(sf_connectivity_build(&graph, 2, links, 3, NULL), SF_OK);
    assert_int_equal(graph.links[0].count, 8);
    assert_int_equal(graph.links[1].count, 7);
    assert_int_equal(graph.links[2].count, 9);
    sf_connectivity_free(&graph);
    sf_error error = {0};
    test_assert_fails(sf_connectivity_build(&graph, 1, links, 3, &error), &error, SF_DATA, "1 units");
    const sf_link twice[] = {links[0], links[0]};
    test_assert_fails(sf_connectivity_build(&graph, 2, twice, 2, &error), &error, SF_DATA, "same delay");
    assert_int_equal(sf_connectivity_build(&graph, 2, NULL, 0, NULL), SF_OK);
    sf_connectivity_free(&graph);
}

/* What a subscriber does with changes: an edge is replaced, added, or taken out. */
static size_t apply(sf_link *links, size_t count, const sf_edge_change *change)
{
    size_t i = 0;
    while (i < count && (links[i].from != change->from || links[i].to != change->to ||
                         memcmp(&links[i].delay, &change->delay, sizeof change->delay) != 0))
        i++;
    if (change->removed) {
        assert_true(i < count);
        links[i] = links[count - 1];
        return count - 1;
    }
    links[i] = (sf_link){.from = change->from,
                         .to = change->to,
                         .delay = change->delay,
                         .count = change->count,
                         .expected = change->expected,
                         .p = change->p};
    return i < count ? count : count + 1;
}

static size_t random_links(test_random *random, sf_link *links)
{
    size_t count = 0;
    for (uint32_t from = 0; from < 5; from++)
        for (uint32_t to = 0; to < 5; to++)
            for (int64_t low = 0; low < 3; low++)
                if (test_random_below(random, 3) == 0)
                    links[count++] = link_of(from, to, low, 5, test_random_below(random, 3));
    return count;
}

static void applying_the_changes_gives_the_next_snapshot(void **state)
{
    (void)state;
    test_random random = test_random_start("diff", 5);
    for (int round = 0; round < 300; round++) {
        sf_link links[75], next[75];
        size_t count = random_links(&random, links), next_count = random_links(&random, next), changes;
        sf_connectivity before, after, applied;
        sf_edge_change *change, *rest;
        assert_int_equal(sf_connectivity_build(&before, 5, links, count, NULL), SF_OK);
        assert_int_equal(sf_connectivity_build(&after, 5, next, next_count, NULL), SF_OK);
        assert_int_equal(sf_connectivity_diff(&before, &after, &change, &changes, NULL), SF_OK);
        for (size_t i = 0; i < changes; i++)
            count = apply(links, count, &change[i]);
        assert_int_equal(sf_connectivity_build(&applied, 5, links, count, NULL), SF_OK);
        assert_int_equal(applied.count, after.count);
        assert_int_equal(sf_connectivity_diff(&applied, &after, &rest, &changes, NULL), SF_OK);
        assert_int_equal(changes, 0);
        sf_free(change);
        sf_free(rest);
        sf_connectivity_free(&before);
        sf_connectivity_free(&after);
        sf_connectivity_free(&applied);
    }
}

static sf_units make_units(void)
{
    sf_units units = {0};
    static const char *const names[] = {"A", "B", "C", "D"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            sf_units_add(
                &units, &(sf_unit){.name = names[i], .x_um = 10 * (double)i, .y_um = i == 3 ? NAN : 5}, NULL),
            SF_OK);
    assert_int_equal(sf_units_finish(&units, NULL), SF_OK);
    return units;
}

/* A -> B twice, B -> C, C -> A; D alone. */
static sf_connectivity make_graph(void)
{
    const sf_link links[] = {link_of(0, 1, 0, 5, 10), link_of(0, 1, 5, 10, 4), link_of(1, 2, 0, 5, 6),
                             link_of(2, 0, 0, 5, 2)};
    sf_connectivity graph;
    assert_int_equal(sf_connectivity_build(&graph, 4, links, 4, NULL), SF_OK);
    return graph;
}

static void the_graph_for_searches_keeps_order_names_and_values(void **state)
{
    (void)state;
    sf_units units = make_units();
    sf_connectivity graph = make_graph();
    sf_csr csr;
    static const uint64_t unit_spikes[] = {3, 4, 0, 18};
    graph.links[3].p = 0.01;
    assert_int_equal(sf_connectivity_set_rates(&graph, unit_spikes, INT64_C(2000000000), NULL), SF_OK);
    assert_int_equal(sf_connectivity_csr(&csr, &graph, &units, NULL), SF_OK);
    assert_true(csr.directed);
    assert_string_equal(csr.names[3], "D");
    assert_int_equal(sf_csr_edge_count(&csr), 4);
    static const char *const columns[] = {"weight", "count", "expected", "low_ms", "high_ms", "p"};
    const double second_row[] = {2, 4, 2, 5, 10, NAN};
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(csr.edge_columns.items[i].name, columns[i]);
        test_assert_same(csr.edge_columns.items[i].values[1], second_row[i]);
    }
    static const char *const facts[] = {"rate", "x_um", "y_um"};
    const double last_row[] = {9, 30, NAN};
    assert_int_equal(csr.vertex_columns.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(csr.vertex_columns.items[i].name, facts[i]);
        test_assert_same(csr.vertex_columns.items[i].values[3], last_row[i]);
    }
    sf_csr_free(&csr);
    graph.links[3].p = NAN;
    assert_int_equal(sf_connectivity_csr(&csr, &graph, &units, NULL), SF_OK);
    assert_true(sf_columns_find(&csr.edge_columns, "p") == SF_NO_COLUMN); /* what was never computed */
    sf_csr_free(&csr);
    sf_connectivity_free(&graph);
    sf_units_free(&units);
}

static void reach_lists_units_by_level(void **state)
{
    (void)state;
    sf_connectivity graph = make_graph();
    sf_csr csr;
    assert_int_equal(sf_connectivity_csr(&csr, &graph, NULL, NULL), SF_OK);
    static const struct {
        uint32_t source, hops;
        size_t count;
        uint32_t units[3], levels[3], parents[3];
        int64_t high_ms[3];
    } cases[] = {
        {1, UINT32_MAX, 3, {1, 2, 0}, {0, 1, 2}, {SF_NO_UNIT, 1, 2}, {0, 5, 10}},
        {1, 1, 2, {1, 2}, {0, 1}, {SF_NO_UNIT, 1}, {0, 5}},
        {3, 5, 1, {3}, {0}, {SF_NO_UNIT}, {0}},
        {0, 0, 1, {0}, {0}, {SF_NO_UNIT}, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_reach_result reach;
        assert_int_equal(sf_connectivity_reach(&reach, &graph, &csr, cases[i].source, cases[i].hops, NULL),
                         SF_OK);
        assert_int_equal(reach.count, cases[i].count);
        size_t bytes = reach.count * sizeof(uint32_t);
        assert_memory_equal(reach.units, cases[i].units, bytes);
        assert_memory_equal(reach.levels, cases[i].levels, bytes);
        assert_memory_equal(reach.parents, cases[i].parents, bytes);
        for (size_t k = 0; k < reach.count; k++)
            assert_int_equal(reach.delays[k].high_ns, cases[i].high_ms[k] * 1000000);
        sf_reach_result_free(&reach);
    }
    sf_csr_free(&csr);
    sf_connectivity_free(&graph);
}

/* The smallest delay of all walks of exactly `hops` edges between two units. */
static sf_delay try_walks(const sf_connectivity *graph, uint32_t from, uint32_t to, uint32_t hops)
{
    sf_delay best = {INT64_MAX, INT64_MAX};
    if (hops == 0) return from == to ? (sf_delay){0, 0} : best;
    for (size_t i = 0; i < graph->count; i++) {
        const sf_link *link = &graph->links[i];
        bool back = graph->is_tiling && link->to == from;
        if (link->from != from && !back) continue;
        sf_delay rest = try_walks(graph, back ? link->from : link->to, to, hops - 1);
        if (rest.high_ns == INT64_MAX) continue;
        sf_delay walk = {rest.low_ns + link->delay.low_ns, rest.high_ns + link->delay.high_ns};
        if (walk.high_ns < best.high_ns || (walk.high_ns == best.high_ns && walk.low_ns < best.low_ns))
            best = walk;
    }
    return best;
}

static bool has_link(const sf_connectivity *graph, uint32_t from, uint32_t to, sf_delay delay)
{
    for (size_t i = 0; i < graph->count; i++) {
        const sf_link *link = &graph->links[i];
        bool joins = (link->from == from && link->to == to) ||
                     (graph->is_tiling && link->from == to && link->to == from);
        if (joins && link->delay.low_ns == delay.low_ns && link->delay.high_ns == delay.high_ns) return true;
    }
    return false;
}

static void path_delays_are_the_smallest_of_all_shortest_paths(void **state)
{
    (void)state;
    test_random random = test_random_start("path delays", 17);
    for (int round = 0; round < 150; round++) {
        bool is_tiling = round % 5 == 0;
        sf_link links[32];
        size_t count = 0;
        for (uint32_t from = 0; from < 6; from++)
            for (uint32_t to = 0; to < 6; to++)
                if ((!is_tiling || from < to) && count + 1 < 32 && test_random_below(&random, 3) == 0) {
                    int64_t low = is_tiling ? 0 : (int64_t)test_random_below(&random, 4);
                    int64_t high = is_tiling ? 9 : low + 1 + (int64_t)test_random_below(&random, 4);
                    links[count++] = link_of(from, to, low, high, 5);
                    if (!is_tiling && test_random_below(&random, 3) == 0)
                        links[count++] = link_of(from, to, low + 1, high + 1, 5);
                }
        sf_connectivity graph;
        sf_csr csr;
        sf_reach_result reach;
        uint32_t source = (uint32_t)test_random_below(&random, 6), hops = 1 + (uint32_t)round % 5;
        assert_int_equal(sf_connectivity_build(&graph, 6, links, count, NULL), SF_OK);
        graph.is_tiling = is_tiling;
        assert_int_equal(sf_connectivity_csr(&csr, &graph, NULL, NULL), SF_OK);
        assert_int_equal(sf_connectivity_reach(&reach, &graph, &csr, source, hops, NULL), SF_OK);
        for (size_t i = 0; i < reach.count; i++) {
            sf_delay expected = try_walks(&graph, source, reach.units[i], reach.levels[i]);
            assert_int_equal(reach.delays[i].low_ns, expected.low_ns);
            assert_int_equal(reach.delays[i].high_ns, expected.high_ns);
            for (size_t k = 0; k < reach.count; k++) { /* the parent is on such a path */
                sf_delay step = {reach.delays[i].low_ns - reach.delays[k].low_ns,
                                 reach.delays[i].high_ns - reach.delays[k].high_ns};
                if (reach.units[k] == reach.parents[i])
                    assert_true(has_link(&graph, reach.units[k], reach.units[i], step));
            }
        }
        sf_reach_result_free(&reach);
        sf_csr_free(&csr);
        sf_connectivity_free(&graph);
    }
}

static void edges_of_a_tiling_graph_carry_less(void **state)
{
    (void)state;
    const sf_link tiling = {
        .to = 1, .delay = {0, 50000000}, .expected = NAN, .p = 0.005, .q = NAN, .coefficient = -0.25};
    sf_connectivity graph;
    assert_int_equal(sf_connectivity_build(&graph, 2, &tiling, 1, NULL), SF_OK);
    graph.is_tiling = true;
    for (graph.surrogates = 0; graph.surrogates < 2; graph.surrogates++) { /* p and q are of a test */
        sf_csr csr;
        assert_int_equal(sf_connectivity_csr(&csr, &graph, NULL, NULL), SF_OK);
        assert_false(csr.directed);
        assert_int_equal(sf_csr_edge_count(&csr), 2);
        assert_int_equal(csr.edge_columns.count, graph.surrogates > 0 ? 4 : 2);
        sf_csr_free(&csr);
    }
    sf_connectivity_free(&graph);
}

/* Pairs in any order, with several delays that are in none either, are the links that each alone makes. */
static void pairs_become_links(void **state)
{
    (void)state;
    enum { UNITS = 7, DELAYS = 3, ROUNDS = 200 };
    const sf_delay delays[DELAYS] = {{1000000, 9000000}, {0, 5000000}, {0, 2000000}};
    test_random random = test_random_start("pairs as links", 6);
    for (int round = 0; round < ROUNDS; round++) {
        sf_pair_count pairs[UNITS * UNITS * DELAYS];
        sf_link links[UNITS * UNITS * DELAYS];
        uint64_t unit_spikes[UNITS];
        size_t count = 0;
        for (uint32_t u = 0; u < UNITS; u++)
            unit_spikes[u] = test_random_below(&random, 5) * 100;
        for (uint32_t i = 0; i < UNITS * UNITS * DELAYS; i++)
            if (test_random_below(&random, 3) == 0) {
                size_t at = test_random_below(&random, count + 1);
                pairs[count++] = pairs[at];
                pairs[at] = (sf_pair_count){i / DELAYS / UNITS, i / DELAYS % UNITS, i % DELAYS, i + 1};
            }
        for (size_t i = 0; i < count; i++) {
            const sf_episode pair = {
                .size = 2, .units = {pairs[i].from, pairs[i].to}, .delays = {delays[pairs[i].delay]}};
            links[i] = link_of(pairs[i].from, pairs[i].to, 0, 0, pairs[i].count);
            links[i].delay = pair.delays[0];
            links[i].expected = sf_expected_episode(&pair, unit_spikes, round > 0 ? INT64_C(7000000000) : 0);
        }
        const sf_stretch stretch = {.unit_spikes = unit_spikes,
                                    .unit_count = UNITS,
                                    .duration_ns = round > 0 ? INT64_C(7000000000) : 0};
        sf_connectivity graph, expected;
        assert_int_equal(sf_connectivity_build(&expected, UNITS, links, count, NULL), SF_OK);
        assert_int_equal(sf_links_of_pairs(&graph, pairs, count, delays, &stretch, NULL), SF_OK);
        assert_int_equal(graph.count, count);
        for (size_t i = 0; i < count; i++) {
            const sf_link *a = &graph.links[i], *b = &expected.links[i];
            assert_true(a->from == b->from && a->to == b->to && a->count == b->count);
            assert_memory_equal(&a->delay, &b->delay, sizeof a->delay);
            assert_memory_equal(&a->expected, &b->expected, sizeof a->expected);
            assert_true(isnan(a->p) && isnan(a->q) && isnan(a->expected_given_rest) && !a->not_tested);
        }
        sf_connectivity_free(&graph);
        sf_connectivity_free(&expected);
    }
}

/* Spikes in a gap are as if they were not there. */
static void tiling_passes_over_what_was_not_recorded(void **state)
{
    (void)state;
    enum { MS = 1000000 };
    static const sf_spike all[] = {{10 * MS, 0, 0}, {12 * MS, 1, 0}, {40 * MS, 0, 0},
                                   {50 * MS, 0, 0}, {51 * MS, 1, 0}, {52 * MS, 0, 0},
                                   {80 * MS, 1, 0}, {90 * MS, 0, 0}, {93 * MS, 1, 0}};
    static const sf_spike recorded[] = {
        {10 * MS, 0, 0}, {12 * MS, 1, 0}, {80 * MS, 1, 0}, {90 * MS, 0, 0}, {93 * MS, 1, 0}};
    static const sf_span spans[] = {{0, 30 * MS}, {60 * MS, 100 * MS}};
    static const uint64_t unit_spikes[] = {2, 3};
    const sf_sttc_options options = {
        .dt_ns = 5 * MS, .recorded = {0, 100 * MS}, .observed = spans, .observed_count = 2, .threads = 1};
    sf_stretch stretch = {
        .spikes = all, .spike_count = 9, .unit_spikes = unit_spikes, .unit_count = 2, .duration_ns = 70 * MS};
    sf_connectivity with, without;
    assert_int_equal(sf_links_of_tiling(&with, &stretch, &options, NULL), SF_OK);
    stretch.spikes = recorded;
    stretch.spike_count = 5;
    assert_int_equal(sf_links_of_tiling(&without, &stretch, &options, NULL), SF_OK);
    assert_int_equal(with.count, 1);
    assert_int_equal(without.count, 1);
    assert_true(with.links[0].coefficient == without.links[0].coefficient);
    sf_connectivity_free(&with);
    sf_connectivity_free(&without);
}

static int link_pairs(void *context)
{
    (void)context;
    static const sf_pair_count pairs[] = {{1, 0, 0, 5}, {0, 1, 0, 6}};
    static const sf_delay delay = {0, 1000000};
    static const uint64_t unit_spikes[] = {9, 9};
    const sf_stretch stretch = {.unit_spikes = unit_spikes, .unit_count = 2, .duration_ns = 1000000000};
    sf_connectivity graph;
    int status = sf_links_of_pairs(&graph, pairs, 2, &delay, &stretch, NULL);
    sf_connectivity_free(&graph);
    return status;
}

/* The same graph for what asks for no column. */
static void the_shape_has_no_columns(void **state)
{
    (void)state;
    const sf_link links[] = {link_of(0, 1, 0, 5, 3), link_of(1, 2, 0, 5, 4), link_of(1, 2, 5, 9, 2)};
    sf_connectivity graph;
    sf_csr whole, shape;
    assert_int_equal(sf_connectivity_build(&graph, 3, links, 3, NULL), SF_OK);
    assert_int_equal(sf_connectivity_csr(&whole, &graph, NULL, NULL), SF_OK);
    assert_int_equal(sf_connectivity_shape(&shape, &graph, NULL), SF_OK);
    assert_int_equal(shape.vertex_count, whole.vertex_count);
    assert_memory_equal(shape.offsets, whole.offsets, 4 * sizeof *shape.offsets);
    assert_memory_equal(shape.targets, whole.targets, 3 * sizeof *shape.targets);
    assert_true(whole.edge_columns.count > 0);
    assert_int_equal(shape.edge_columns.count, 0);
    sf_csr_free(&whole);
    sf_csr_free(&shape);
    sf_connectivity_free(&graph);
}

static int use_everything(void *context)
{
    const sf_link *links = context;
    sf_connectivity graph = {0}, none = {0};
    sf_csr csr = {0};
    sf_edge_change *changes = NULL;
    sf_reach_result reach = {0};
    sf_reach_counts all = {0};
    sf_components_result components = {0};
    size_t count;
    static const uint64_t unit_spikes[] = {1, 2, 3};
    int status = sf_connectivity_build(&graph, 3, links, 2, NULL);
    if (status == SF_OK) status = sf_connectivity_set_rates(&graph, unit_spikes, INT64_C(1000000000), NULL);
    if (status == SF_OK) status = sf_connectivity_diff(&none, &graph, &changes, &count, NULL);
    if (status == SF_OK) status = sf_connectivity_csr(&csr, &graph, NULL, NULL);
    if (status == SF_OK) status = sf_connectivity_reach(&reach, &graph, &csr, 0, 3, NULL);
    if (status == SF_OK) status = sf_connectivity_reach_all(&all, &csr, 2, NULL, NULL);
    if (status == SF_OK) status = sf_connectivity_components(&components, &csr, NULL);
    sf_reach_result_free(&reach);
    sf_reach_counts_free(&all);
    sf_free(components.of_unit);
    sf_free(changes);
    sf_csr_free(&csr);
    sf_connectivity_free(&graph);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_link links[] = {link_of(0, 1, 0, 5, 3), link_of(1, 2, 0, 5, 4)};
    test_fail_every_allocation(use_everything, links);
    test_fail_every_allocation(link_pairs, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiling_passes_over_what_was_not_recorded),
        cmocka_unit_test(links_are_ordered_and_checked),
        cmocka_unit_test(applying_the_changes_gives_the_next_snapshot),
        cmocka_unit_test(the_graph_for_searches_keeps_order_names_and_values),
        cmocka_unit_test(reach_lists_units_by_level),
        cmocka_unit_test(path_delays_are_the_smallest_of_all_shortest_paths),
        cmocka_unit_test(edges_of_a_tiling_graph_carry_less),
        cmocka_unit_test(pairs_become_links),
        cmocka_unit_test(the_shape_has_no_columns),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
