/* SPDX-License-Identifier: Apache-2.0 */
/* What was planted is told beside the longest part of it that was found. */
#include "support/support.h"

#include "analysis/planted.h"

static sf_episode episode(uint32_t size, const uint32_t *units, int64_t low_ns, int64_t high_ns)
{
    sf_episode made = {.size = size};
    for (uint32_t i = 0; i < size; i++) {
        made.units[i] = units[i];
        if (i > 0) made.delays[i - 1] = (sf_delay){low_ns, high_ns};
    }
    return made;
}

static void the_longest_part_is_told(void **state)
{
    (void)state;
    static const uint32_t abcd[] = {0, 1, 2, 3}, ef[] = {4, 5}, bcd[] = {1, 2, 3}, ab[] = {0, 1},
                          cd[] = {2, 3}, ac[] = {0, 2};
    sf_episode chains[] = {episode(4, abcd, 4, 6), episode(2, ef, 4, 6)};
    sf_occurrence occurrences[] = {{.chain = 0, .times_ns = {5, 10, 15, 20}},
                                   {.chain = 0, .times_ns = {10, 15, 20, 25}},
                                   {.chain = 1, .times_ns = {12, 17}},
                                   {.chain = 0, .times_ns = {85, 90, 95, 100}}};
    const sf_truth truth = {
        .chains = chains, .chain_count = 2, .occurrences = occurrences, .occurrence_count = 4};
    sf_episode_count found[] = {
        {.episode = episode(1, abcd, 0, 0), .count = 50}, /* a unit: part of nothing, and nothing else */
        {.episode = episode(2, ab, 5, 9), .count = 9},    /* a part: the delays overlap */
        {.episode = episode(3, bcd, 4, 6), .count = 2},   /* the longest part */
        {.episode = episode(3, bcd, 5, 9), .count = 3},   /* as long, and more often */
        {.episode = episode(2, cd, 6, 9), .count = 20},   /* no delay of the chain is over 6 */
        {.episode = episode(2, ac, 4, 6), .count = 20},   /* not in a row */
        {.episode = episode(4, abcd, 4, 6), .count = 0},  /* was tracked, did not occur */
    };
    const sf_episodes_message message = {.window = {10, 100}, .items = found, .count = 7};
    sf_planted planted;
    assert_int_equal(sf_planted_compare(&planted, &truth, &message, NULL), SF_OK);
    assert_int_equal(planted.chain_count, 2);
    assert_int_equal(planted.chains[0].planted, 1); /* one begins before the window, one ends at its end */
    assert_int_equal(planted.chains[0].found.episode.size, 3);
    assert_int_equal(planted.chains[0].found.count, 3);
    assert_int_equal(planted.chains[1].planted, 1);
    assert_int_equal(planted.chains[1].found.episode.size, 0);
    assert_int_equal(planted.others, 2);
    sf_planted_free(&planted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_part_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
