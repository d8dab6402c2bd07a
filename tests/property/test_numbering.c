/* SPDX-License-Identifier: Apache-2.0 */
/* Sequence numbers against the truth: streams that lose frames, send some twice, break numbers, and number
 * anew. */
#include "support/support.h"

#include "decode/numbering.h"

typedef struct account {
    uint64_t read, lost, gaps, broken, anew;
} account;

static void follow(sf_numbering *numbering, account *all, uint64_t number, bool last)
{
    sf_numbered is = sf_numbering_follow(numbering, number, last);
    all->read += is.read;
    all->lost += is.lost;
    all->gaps += is.gaps;
    all->broken += is.broken;
    all->anew += is.anew;
    assert_true(is.read || is.lost == 0);
}

/* Follows a run that was joined by `first`; a number of 0 in the list ends it. */
static account follow_all(uint64_t first, const uint64_t *numbers, bool ends)
{
    sf_numbering numbering;
    account all = {0};
    sf_numbering_begin(&numbering, first);
    for (size_t i = 0; numbers[i] != 0; i++)
        follow(&numbering, &all, numbers[i], ends && numbers[i + 1] == 0);
    return all;
}

static void one_broken_number_costs_no_frame(void **state)
{
    (void)state;
    const uint64_t far = UINT64_C(1) << 63;
    const struct {
        uint64_t first, numbers[9];
        bool ends;
        account account;
    } cases[] = {
        {10, {11, 12, far, 14, 15}, false, {.read = 5, .broken = 1}},
        {10, {11, far, far, 14, 15}, false, {.read = 5, .broken = 2}}, /* the same one twice */
        {10, {11, 12, 17, 14, 15}, false, {.read = 5, .broken = 1}},   /* as if four were lost */
        {10, {11, far, 14, 15}, false, {.read = 4, .broken = 1, .lost = 1, .gaps = 1}},
        {10, {11, 14, 15, 16}, false, {.read = 4, .lost = 2, .gaps = 1}},
        {10, {11, 13, 15, 17, 18}, false, {.read = 5, .lost = 3, .gaps = 3}}, /* every second one */
        {10, {11, far, far + 1, far + 2}, false, {.read = 4, .lost = far - 12, .gaps = 1}},
        {10, {11, 11, 12, 10, 13}, false, {.read = 3, .broken = 2}}, /* some come twice */
        {10, {11, 14}, true, {.read = 2, .lost = 2, .gaps = 1}},     /* the end of the stream */
        {10, {11, far}, true, {.read = 2}},
        {far, {11, 12, 13, 14}, false, {.read = 4}}, /* the first was broken */
        {10, {far, 12, 13}, false, {.read = 3, .broken = 1}},
        {100, {101, 102, 1, 2, 3, 4, 5}, false, {.read = 4, .broken = 3, .anew = 1}}, /* it numbers anew */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        account found = follow_all(cases[i].first, cases[i].numbers, cases[i].ends);
        if (memcmp(&found, &cases[i].account, sizeof found) != 0)
            fail_msg("case %zu: read %d lost %llu gaps %d broken %d anew %d", i, (int)found.read,
                     (unsigned long long)found.lost, (int)found.gaps, (int)found.broken, (int)found.anew);
    }
}

/* A broken number is followed by two sound ones, so that what it was can be told. */
static void losses_are_counted_to_the_frame(void **state)
{
    (void)state;
    test_random random = test_random_start("numbering", 43);
    uint64_t losses = 0, breaks = 0;
    for (int round = 0; round < 500; round++) {
        uint64_t next = test_random_below(&random, 1000);
        sf_numbering numbering;
        account all = {0}, truth = {0};
        sf_numbering_begin(&numbering, next++);
        follow(&numbering, &all, next++, false);
        unsigned sound = 0;
        for (int i = 0; i < 400; i++, next++) {
            bool clean = i > 396;
            if (!clean && sound > 2 && test_random_below(&random, 10) == 0) {
                uint64_t lost = 1 + test_random_below(&random, 50);
                next += lost;
                truth.lost += lost;
                truth.gaps++;
                sound = 0;
            } else if (!clean && sound > 2 && test_random_below(&random, 10) == 0) {
                follow(&numbering, &all,
                       next + 1 + (test_random_bits(&random) >> test_random_below(&random, 63)), false);
                truth.broken++;
                sound = 0;
                continue;
            } else if (!clean && sound > 2 && test_random_below(&random, 10) == 0) {
                follow(&numbering, &all, test_random_below(&random, next), false); /* was there before */
                truth.broken++;
                next--;
                sound = 0;
                continue;
            }
            follow(&numbering, &all, next, false);
            sound++;
        }
        assert_int_equal(all.lost, truth.lost);
        assert_int_equal(all.gaps, truth.gaps);
        assert_int_equal(all.broken, truth.broken);
        assert_int_equal(all.anew, 0);
        losses += truth.lost;
        breaks += truth.broken;
    }
    assert_true(losses > 10000 && breaks > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_broken_number_costs_no_frame),
        cmocka_unit_test(losses_are_counted_to_the_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
