/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes in eight bytes: each comes back as it was, and what does not fit is noticed. */
#include "support/support.h"

#include "core/packed_spikes.h"

enum { SPIKES = 300 };

/* In order, with ties, of units below unit_count. */
static void draw(sf_spike *spikes, test_random *random, int64_t first_ns, int64_t longest_pause_ns,
                 uint32_t unit_count)
{
    sf_spike last = {.time_ns = first_ns};
    for (size_t i = 0; i < SPIKES; i++) {
        int64_t pause = i > 0 ? (int64_t)test_random_below(random, (uint64_t)longest_pause_ns + 1) : 0;
        uint32_t least = pause == 0 ? last.unit : 0;
        last.time_ns += pause;
        last.unit = least + (uint32_t)test_random_below(random, unit_count - least);
        spikes[i] = last;
    }
}

static void spikes_come_back_and_ascend(void **state)
{
    (void)state;
    static const uint32_t unit_counts[] = {1, 2, 3, 64, 65, 4096, 70000, UINT32_MAX};
    static const int64_t firsts[] = {0, -5, INT64_MIN, INT64_C(36000000000000)};
    test_random random = test_random_start("packed", 11);
    for (size_t u = 0; u < sizeof unit_counts / sizeof unit_counts[0]; u++)
        for (size_t f = 0; f < sizeof firsts / sizeof firsts[0]; f++) {
            sf_spike spikes[SPIKES];
            uint64_t packed[SPIKES];
            sf_packing packing;
            draw(spikes, &random, firsts[f], f % 2 == 0 ? 3 : 10000000, unit_counts[u]);
            assert_true(sf_packing_find(&packing, spikes, SPIKES, unit_counts[u]));
            assert_true(sf_spikes_pack(packed, spikes, SPIKES, packing));
            assert_int_equal(sf_spikes_first_wrong(spikes, SPIKES, unit_counts[u]), SPIKES);
            for (size_t i = 0; i < SPIKES; i++) {
                assert_true(sf_packed_time_ns(packed[i], packing) == spikes[i].time_ns);
                assert_int_equal(sf_packed_unit(packed[i], packing), spikes[i].unit);
                assert_true(i == 0 || packed[i] >= packed[i - 1]);
            }
        }
}

/* One that is spoilt does not fit, or no longer ascends. */
static void what_is_wrong_is_noticed(void **state)
{
    (void)state;
    test_random random = test_random_start("packed wrong", 12);
    for (int round = 0; round < 300; round++) {
        const uint32_t units = 1 + (uint32_t)test_random_below(&random, 40);
        sf_spike spikes[SPIKES];
        uint64_t packed[SPIKES];
        sf_packing packing;
        draw(spikes, &random, 1000, 4, units);
        size_t wrong = 1 + test_random_below(&random, SPIKES - 2);
        bool of_no_unit = round % 2 == 0;
        if (of_no_unit)
            spikes[wrong].unit = units + (uint32_t)test_random_below(&random, 100);
        else
            spikes[wrong].time_ns = spikes[wrong - 1].time_ns - 1 - (int64_t)test_random_below(&random, 2000);
        assert_int_equal(sf_spikes_first_wrong(spikes, SPIKES, units), wrong);
        assert_true(sf_packing_find(&packing, spikes, SPIKES, units));
        bool fits = sf_spikes_pack(packed, spikes, SPIKES, packing);
        assert_true(!fits || sf_packed_unit(packed[wrong], packing) >= units ||
                    packed[wrong] < packed[wrong - 1]);
        assert_true(fits || of_no_unit || spikes[wrong].time_ns < 1000);
    }
}

static void spikes_that_last_too_long_are_not_packed(void **state)
{
    (void)state;
    sf_packing packing;
    uint64_t packed[2];
    sf_spike spikes[] = {{.time_ns = -3, .unit = 4095}, {.time_ns = ((int64_t)1 << 52) - 4, .unit = 4095}};
    assert_true(sf_packing_find(&packing, spikes, 2, 4096));
    assert_true(sf_spikes_pack(packed, spikes, 2, packing));
    assert_true(sf_packed_time_ns(packed[1], packing) == spikes[1].time_ns);
    assert_false(sf_packing_find(&packing, spikes, 2, 4097)); /* a bit more for the unit is one less */
    spikes[1].time_ns++;
    assert_false(sf_packing_find(&packing, spikes, 2, 4096));
    assert_false(sf_spikes_pack(packed, spikes, 2, (sf_packing){-3, 12}));
    spikes[0].time_ns = INT64_MIN;
    spikes[1].time_ns = INT64_MAX;
    assert_false(sf_packing_find(&packing, spikes, 2, 1));
    spikes[1] = spikes[0];
    spikes[0].time_ns = 0;
    assert_false(sf_packing_find(&packing, spikes, 2, 4096)); /* out of order */
    assert_true(sf_packing_find(&packing, NULL, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_come_back_and_ascend),
        cmocka_unit_test(what_is_wrong_is_noticed),
        cmocka_unit_test(spikes_that_last_too_long_are_not_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
