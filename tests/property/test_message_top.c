/* SPDX-License-Identifier: Apache-2.0 */
/* Places are those of one order, and the episodes that stand out, the first of them, stay in the order of the
 * message. */
#include "support/messages.h"
#include "support/support.h"

#include "core/memory.h"
#include "core/message.h"

#include <math.h>

enum { MOST = 300 };

static double value_of(test_random *random)
{
    return test_random_below(random, 4) == 0 ? (double)NAN : (double)test_random_below(random, 6) / 5;
}

static sf_message *make(test_random *random, size_t count)
{
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    message->seq = 7;
    message->time_ns = 8;
    message->arrival_ns = 9;
    message->episodes.items = sf_alloc(count, sizeof *message->episodes.items);
    message->episodes.rules = sf_alloc(2, sizeof *message->episodes.rules);
    message->episodes.rules[1].count = 11;
    message->episodes.rule_count = 2;
    message->episodes.count = message->episodes.counted = count;
    for (size_t i = 0; i < count; i++) {
        sf_episode_count *item = &message->episodes.items[i];
        item->episode.size = 2 + (uint32_t)test_random_below(random, 3);
        item->q = value_of(random) / 10;
        if (test_random_below(random, 3) == 0)
            snprintf(item->folded_under, sizeof item->folded_under, "%016zx", count);
        item->expected = value_of(random) + (double)test_random_below(random, 3) * 1e-9;
        item->count = test_random_below(random, 3);
        snprintf(item->id, sizeof item->id, "%016zx", i);
    }
    return message;
}

static double above_chance(const sf_episode_count *item)
{
    double expected = isnan(item->expected) ? 0 : item->expected;
    return ((double)item->count - expected) / sqrt(expected > 1 ? expected : 1);
}

/* Whether a comes before b, for each pair anew. */
static bool is_before(const sf_episode_count *a, const sf_episode_count *b)
{
    double keys[2][5];
    for (int k = 0; k < 2; k++) {
        const sf_episode_count *item = k == 0 ? a : b;
        keys[k][0] = item->q <= 0.05 ? 1 : 0;
        keys[k][1] = item->folded_under[0] == '\0' ? 1 : 0;
        keys[k][2] = above_chance(item) > 0 ? 1 : 0;
        keys[k][3] = item->episode.size;
        keys[k][4] = above_chance(item);
    }
    for (int key = 0; key < 5; key++)
        if (keys[0][key] != keys[1][key]) return keys[0][key] > keys[1][key];
    return a < b;
}

static void check(test_random *random)
{
    size_t count = test_random_below(random, MOST), most = test_random_below(random, MOST);
    sf_message *message = make(random, count);
    assert_int_equal(sf_message_rank(message, NULL, NULL), SF_OK);
    const char *ids[] = {"0000000000000003", "no such episode."};
    size_t id_count = test_random_below(random, 3);
    sf_message *top = sf_message_top(message, most, ids, id_count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const sf_episode_count *item = &message->episodes.items[i];
        size_t before = 0;
        for (size_t k = 0; k < count; k++)
            before += k != i && is_before(&message->episodes.items[k], item);
        assert_int_equal(item->standing, before + 1);
        if (before >= most && !(id_count > 0 && i == 3)) continue;
        assert_true(kept < top->episodes.count);
        test_assert_same_counts(&top->episodes.items[kept++], item, 1);
    }
    assert_int_equal(top->episodes.count, kept);
    assert_int_equal(top->episodes.counted, count);
    assert_int_equal(top->episodes.rule_count, 2);
    assert_int_equal(top->episodes.rules[1].count, 11);
    assert_true(top->seq == 7 && top->time_ns == 8 && top->arrival_ns == 9);
    sf_message_release(top);
    sf_message_release(message);
}

static void those_that_stand_out_are_kept(void **state)
{
    (void)state;
    test_random random = test_random_start("stand out", 3);
    for (int i = 0; i < 300; i++)
        check(&random);
}

/* As one thread places them. */
static void a_team_places_alike(void **state)
{
    (void)state;
    test_random random = test_random_start("stand out, by a team", 5);
    sf_team *team = NULL;
    assert_int_equal(sf_team_open(&team, 3, NULL), SF_OK);
    for (int i = 0; i < 4; i++) {
        size_t count = 20000 + test_random_below(&random, 20000);
        sf_message *message = make(&random, count);
        for (size_t k = 0; k < count; k++)
            message->episodes.items[k].count = test_random_below(&random, 400);
        uint32_t *alone = sf_alloc(count, sizeof *alone);
        assert_int_equal(sf_message_rank(message, NULL, NULL), SF_OK);
        for (size_t k = 0; k < count; k++)
            alone[k] = message->episodes.items[k].standing;
        assert_int_equal(sf_message_rank(message, team, NULL), SF_OK);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(message->episodes.items[k].standing, alone[k]);
        for (size_t k = 0; k < count; k++) {
            size_t a = test_random_below(&random, count), b = test_random_below(&random, count);
            if (a != b)
                assert_int_equal(is_before(&message->episodes.items[a], &message->episodes.items[b]),
                                 alone[a] < alone[b]);
        }
        sf_free(alone);
        sf_message_release(message);
    }
    sf_team_close(team);
}

static int pick(void *context)
{
    if (sf_message_rank(context, NULL, NULL) != SF_OK) return SF_NO_MEMORY;
    sf_message *top = sf_message_top(context, 5, NULL, 0);
    sf_message_release(top);
    return top != NULL ? SF_OK : SF_NO_MEMORY;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_random random = test_random_start("stand out", 4);
    sf_message *message = make(&random, 20);
    test_fail_every_allocation(pick, message);
    sf_message_release(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_stand_out_are_kept),
        cmocka_unit_test(a_team_places_alike),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
