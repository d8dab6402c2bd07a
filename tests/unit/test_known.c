/* SPDX-License-Identifier: Apache-2.0 */
/* What pairs that are known spare: only spikes that can be part of something longer are laid out. */
#include "support/support.h"

#include "mine/known.h"

enum { UNITS = 8, REPEATS = 5 };

/* Unit 0 is too silent to be mined; the others fire one after the other. */
static void lay_out(sf_events *events, const bool *silent)
{
    sf_spike spikes[UNITS * REPEATS];
    size_t count = 0;
    for (uint32_t i = 0; i < REPEATS; i++)
        for (uint32_t u = i < 2 ? 0 : 1; u < UNITS; u++)
            spikes[count++] = (sf_spike){.time_ns = 100 * i + u, .unit = u};
    const sf_events_choice choice = {.least = REPEATS, .silent = silent, .threads = 1};
    assert_int_equal(sf_events_lay_out(events, spikes, count, UNITS, &choice, NULL), SF_OK);
}

static void take(sf_tree *tree, const sf_events *events, const sf_pair_count *pairs, size_t count)
{
    const sf_mine_job job = {
        .events = events, .delay_count = 2, .pairs = {.self = true}, .least = REPEATS, .most = 100};
    *tree = (sf_tree){.unit_count = events->unit_count, .delay_count = 2};
    for (uint32_t u = 0; u < events->unit_count; u++)
        assert_int_equal(sf_level_append(&tree->levels[0], 0, u, REPEATS), SF_OK);
    assert_int_equal(sf_tree_take_pairs(tree, &job, pairs, count, UNITS, NULL), SF_OK);
}

static void expect_silent(const sf_pair_count *pairs, size_t count, const char *expected)
{
    sf_events events;
    sf_tree tree;
    bool silent[UNITS], chains;
    lay_out(&events, NULL);
    take(&tree, &events, pairs, count);
    assert_int_equal(sf_tree_find_silent(&tree, &events, silent, UNITS, &chains, NULL), SF_OK);
    for (size_t u = 0; u < UNITS; u++)
        assert_int_equal(silent[u], expected[u] == '-');
    assert_int_equal(chains, strspn(expected, "-") < UNITS);
    sf_tree_free(&tree);
    sf_events_close(&events);
}

static void units_of_chains_are_not_silent(void **state)
{
    (void)state;
    /* 1-2-3, whatever the delays, and a unit that follows itself; 4-5 and 7-5 lead nowhere. */
    static const sf_pair_count chain[] = {{2, 3, 1, 6}, {4, 5, 0, 5}, {1, 2, 0, 7}, {7, 5, 0, 5}};
    static const sf_pair_count again[] = {{4, 5, 0, 5}, {6, 6, 1, 5}};
    static const sf_pair_count rare[] = {{2, 3, 1, 4}, {1, 2, 0, 7}};
    expect_silent(chain, 4, "-123----");
    expect_silent(again, 2, "------6-");
    expect_silent(rare, 2, "--------");
    expect_silent(NULL, 0, "--------");
}

static void levels_are_in_order(void **state)
{
    (void)state;
    static const sf_pair_count pairs[] = {{2, 3, 1, 6}, {2, 1, 1, 8}, {2, 7, 0, 9}, {1, 5, 1, 5}};
    static const uint32_t counts[] = {5, 9, 8, 6};
    sf_events events;
    sf_tree tree;
    lay_out(&events, NULL);
    take(&tree, &events, pairs, 4);
    assert_int_equal(tree.levels[1].count, 4);
    assert_int_equal(tree.complete, 2);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tree.levels[1].nodes[i].count, counts[i]);
    sf_tree_free(&tree);
    sf_events_close(&events);
}

/* They keep their number, and so do all others. */
static void silent_units_have_no_spikes(void **state)
{
    (void)state;
    const bool silent[UNITS] = {[1] = true, [4] = true, [5] = true};
    sf_events events;
    lay_out(&events, silent);
    assert_int_equal(events.unit_count, UNITS - 1);
    assert_int_equal(events.count, 4 * REPEATS);
    for (uint32_t u = 0; u < events.unit_count; u++) {
        assert_int_equal(events.unit[u], u + 1);
        assert_int_equal(events.first[u + 1] - events.first[u], silent[u + 1] ? 0 : REPEATS);
    }
    assert_int_equal(events.origin_ns, 2);
    for (uint32_t p = 0; p < events.count; p++) {
        static const uint32_t units[] = {2, 3, 6, 7};
        assert_int_equal(events.unit[events.owner[p]], units[p % 4]);
        assert_int_equal(events.times[p], 100 * (p / 4) + units[p % 4] - 2);
    }
    sf_events_close(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_chains_are_not_silent),
        cmocka_unit_test(levels_are_in_order),
        cmocka_unit_test(silent_units_have_no_spikes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
