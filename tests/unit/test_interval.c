/* SPDX-License-Identifier: Apache-2.0 */
/* What saves the interval engine work is seen at work, in what it tells of a job: counts are the same
 * without. */
#include "support/support.h"

#include "mine/engine.h"

enum { A, B, C, REPEATS = 20, APART = 100 };

static sf_mine_tally mine(const sf_spike *spikes, size_t count, uint32_t units, size_t expected[3])
{
    const sf_delay delay = {0, 50};
    sf_events events;
    sf_tree tree = {.unit_count = units, .delay_count = 1};
    sf_mine_tally tally = {0};
    double seconds[SF_EPISODE_MAX_SIZE + 1];
    assert_int_equal(sf_events_open(&events, spikes, count, units, NULL, NULL), SF_OK);
    for (uint32_t u = 0; u < units; u++)
        assert_int_equal(sf_level_append(&tree.levels[0], 0, u, events.first[u + 1] - events.first[u]),
                         SF_OK);
    const sf_mine_job job = {.events = &events,
                             .delays = &delay,
                             .delay_count = 1,
                             .least = REPEATS / 2,
                             .max_size = 3,
                             .most = 1000,
                             .threads = 1,
                             .tally = &tally};
    assert_int_equal(sf_engine_interval.mine(&tree, seconds, &job, NULL), SF_OK);
    for (int size = 2; size <= 3; size++)
        assert_int_equal(tree.levels[size - 1].count, expected[size - 1]);
    sf_tree_free(&tree);
    sf_events_close(&events);
    return tally;
}

/* A is followed by B, and another B by C: what follows A-B is looked for after neither of them. */
static void pairs_that_never_meet_are_not_joined(void **state)
{
    (void)state;
    sf_spike spikes[4 * REPEATS];
    for (uint32_t i = 0; i < 4 * REPEATS; i++) {
        static const uint32_t units[] = {A, B, B, C};
        spikes[i] = (sf_spike){.time_ns = i / 2 * APART + i % 2, .unit = units[i % 4]};
    }
    size_t found[] = {0, 2, 0};
    sf_mine_tally tally = mine(spikes, 4 * REPEATS, 3, found);
    assert_int_equal(tally.bounded, 1); /* C after A-B */
    assert_int_equal(tally.walked, 2);  /* B after A, and C after B: few spikes lie between */
    assert_int_equal(tally.merged, 0);
}

/* Between A and B fire 40 of 800 units that never fire again: to look at each would take longer than to hold
 * the trains of A and B side by side. */
static void crowds_are_not_walked_through(void **state)
{
    (void)state;
    enum { BETWEEN = 40, ROUND = BETWEEN + 2, UNITS = 2 + REPEATS * BETWEEN };
    static sf_spike spikes[REPEATS * ROUND];
    for (uint32_t i = 0; i < REPEATS * ROUND; i++) {
        uint32_t round = i / ROUND, place = i % ROUND;
        uint32_t unit = place == 0 ? A : place == ROUND - 1 ? B : 1 + round * BETWEEN + place;
        spikes[i] = (sf_spike){.time_ns = round * APART + place, .unit = unit};
    }
    size_t found[] = {0, 1, 0};
    sf_mine_tally tally = mine(spikes, REPEATS * ROUND, UNITS, found);
    assert_int_equal(tally.merged, 1);
    assert_int_equal(tally.walked, 0);
}

/* Of A-B-A, A-B-B, A-B-C, A-B-A, ... the two nodes before the last are found once, in each of the blocks that
 * are handed out. */
static void neighbours_share_their_prefix(void **state)
{
    (void)state;
    enum { EPISODES = 300, SIZE = 3, BLOCK = 64 };
    static uint32_t units[EPISODES * SIZE], delays[EPISODES * (SIZE - 1)], counts[EPISODES];
    sf_spike spikes[3 * REPEATS];
    sf_events events;
    for (uint32_t i = 0; i < 3 * REPEATS; i++)
        spikes[i] = (sf_spike){.time_ns = i, .unit = i % 3};
    for (uint32_t i = 0; i < EPISODES; i++) {
        units[i * SIZE + 1] = B;
        units[i * SIZE + 2] = i % 3;
    }
    assert_int_equal(sf_events_open(&events, spikes, 3 * REPEATS, 3, NULL, NULL), SF_OK);
    const sf_delay delay = {0, 2};
    const sf_candidates candidates = {SIZE, EPISODES, units, delays, &delay, 1};
    sf_count_tally tally = {0};
    const sf_count_job job = {
        .events = &events, .last = events.count, .candidates = &candidates, .threads = 1, .tally = &tally};
    assert_int_equal(sf_engine_interval.count(counts, &job, NULL), SF_OK);
    assert_int_equal(tally.shared, (EPISODES - (EPISODES + BLOCK - 1) / BLOCK) * (SIZE - 1));
    assert_int_equal(counts[2], REPEATS); /* A-B-C */
    sf_events_close(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_that_never_meet_are_not_joined),
        cmocka_unit_test(crowds_are_not_walked_through),
        cmocka_unit_test(neighbours_share_their_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
