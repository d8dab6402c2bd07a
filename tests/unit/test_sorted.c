/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "graph/match/sorted.h"

enum { MOST = 300 };

/* Ascending numbers below `range`, each with the chance share/8. */
static uint32_t draw(test_random *random, uint32_t *list, uint32_t range, uint32_t share)
{
    uint32_t count = 0;
    for (uint32_t value = 0; value < range && count < MOST; value++)
        if (test_random_below(random, 8) < share)
            list[count++] = value > 0 && range > 250 ? value + 0x7fffff00u : value; /* beyond 2^31 too */
    return count;
}

static bool is_in(const uint32_t *list, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == value) return true;
    return false;
}

static uint32_t intersect_slowly(uint32_t *out, const uint32_t *a, uint32_t a_count, const uint32_t *b,
                                 uint32_t b_count)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < a_count; i++)
        if (is_in(b, b_count, a[i])) out[count++] = a[i];
    return count;
}

static void intersections_are_those_of_the_definition(void **state)
{
    (void)state;
    test_random random = test_random_start("sorted", 31);
    for (int round = 0; round < 20000; round++) {
        uint32_t a[MOST], b[MOST], expected[MOST], found[MOST];
        uint32_t range = 1 + (uint32_t)test_random_below(&random, MOST);
        uint32_t a_count = draw(&random, a, range, 1 + (uint32_t)test_random_below(&random, 8));
        uint32_t b_count = draw(&random, b, range, (uint32_t)test_random_below(&random, 9));
        uint32_t count = intersect_slowly(expected, a, a_count, b, b_count);
        uint32_t *shorter = a_count <= b_count ? a : b;
        assert_int_equal(sf_sorted_intersect(found, a, a_count, b, b_count), count);
        assert_memory_equal(found, expected, count * sizeof *found);
        assert_int_equal(sf_sorted_intersect(shorter, a, a_count, b, b_count), count);
        assert_memory_equal(shorter, expected, count * sizeof *found);
    }
}

/* Ways to choose a different number from each list, one after the other. */
static uint64_t choose_slowly(uint32_t lists[][8], const uint32_t *counts, uint32_t count, uint32_t *chosen,
                              uint32_t depth)
{
    if (depth == count) return 1;
    uint64_t ways = 0;
    for (uint32_t i = 0; i < counts[depth]; i++) {
        chosen[depth] = lists[depth][i];
        if (!is_in(chosen, depth, chosen[depth]))
            ways += choose_slowly(lists, counts, count, chosen, depth + 1);
    }
    return ways;
}

static void choices_are_those_of_the_definition(void **state)
{
    (void)state;
    test_random random = test_random_start("choices", 32);
    for (int round = 0; round < 2000; round++) {
        uint32_t lists[5][8], counts[5], chosen[5], scratch[5 * 5 * 8];
        const uint32_t *places[5];
        uint32_t count = 1 + (uint32_t)test_random_below(&random, 5);
        for (uint32_t i = 0; i < count; i++) {
            counts[i] = draw(&random, lists[i], 8, (uint32_t)test_random_below(&random, 8));
            places[i] = lists[i];
        }
        assert_int_equal(sf_sorted_choices(places, counts, count, scratch),
                         choose_slowly(lists, counts, count, chosen, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intersections_are_those_of_the_definition),
        cmocka_unit_test(choices_are_those_of_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
