/* SPDX-License-Identifier: Apache-2.0 */
/* Large blocks are kept while somebody wants that, as many as fit, and serve who asks for about as much next.
 */
#include "support/support.h"

#include "core/memory.h"
#include "core/spare.h"

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)

static void a_large_block_comes_back(void **state)
{
    (void)state;
    long live = sf_memory_live();
    sf_spare_begin();
    char *first = sf_resize(NULL, 3 * MB - 50 * KB, 1);
    assert_int_equal(sf_memory_live(), live + 1);
    sf_free(first);
    assert_int_equal(sf_memory_live(), live);
    assert_null(sf_spare_take(MB)); /* which is not half of it */
    assert_null(sf_spare_take(4 * MB));
    char *second = sf_resize(NULL, 3 * MB - 10 * KB, 1); /* a little more, for which there was room */
    assert_ptr_equal(second, first);
    assert_null(sf_spare_take(3 * MB));
    sf_free(second);
    char *third = sf_alloc(2 * MB, 1);
    assert_ptr_equal(third, first);
    for (size_t i = 0; i < 2 * MB; i += KB)
        assert_int_equal(third[i], 0);
    sf_free(third);
    sf_spare_end();
    assert_null(sf_spare_take(3 * MB));
}

static void small_ones_and_very_large_ones_do_not(void **state)
{
    (void)state;
    sf_spare_begin();
    static const size_t sizes[] = {KB, SF_SPARE_LARGE / 2, SF_SPARE_BYTES / 2 + MB};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sf_free(sf_resize(NULL, sizes[i], 1));
        assert_null(sf_spare_take(sizes[i]));
    }
    sf_spare_end();
}

/* The best of those that fit; of more than there is room for the newest. */
static void the_oldest_go(void **state)
{
    (void)state;
    sf_spare_begin();
    void *blocks[6];
    for (size_t i = 0; i < 6; i++)
        blocks[i] = sf_resize(NULL, 50 * MB + i * 4 * MB, 1);
    for (size_t i = 0; i < 6; i++)
        sf_free(blocks[i]); /* 360 MB */
    assert_ptr_equal(sf_spare_take(50 * MB), blocks[3]);
    assert_ptr_equal(sf_spare_take(50 * MB), blocks[4]);
    free(blocks[3]);
    free(blocks[4]);
    sf_spare_end();
    assert_null(sf_spare_take(70 * MB));
}

/* Nobody keeps anything: freed is freed. The last of several ends it. */
static void nothing_is_kept_without_a_run(void **state)
{
    (void)state;
    sf_free(sf_resize(NULL, 3 * MB, 1));
    assert_null(sf_spare_take(3 * MB));
    sf_spare_begin();
    sf_spare_begin();
    sf_free(sf_resize(NULL, 3 * MB, 1));
    sf_spare_end();
    void *block = sf_resize(NULL, 3 * MB, 1);
    assert_null(sf_spare_take(3 * MB));
    sf_spare_end();
    sf_free(block);
    assert_null(sf_spare_take(3 * MB));
}

static void rooms_grow_in_eighths(void **state)
{
    (void)state;
    for (size_t bytes = SF_SPARE_LARGE; bytes < 2 * SF_SPARE_BYTES; bytes += bytes / 7) {
        size_t room = sf_spare_room(bytes);
        assert_true(room >= bytes && room - bytes <= bytes / 8);
        assert_true(bytes <= SF_SPARE_BYTES || room == bytes);
        assert_true(sf_spare_room(room) == room);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_block_comes_back),
        cmocka_unit_test(small_ones_and_very_large_ones_do_not),
        cmocka_unit_test(the_oldest_go),
        cmocka_unit_test(nothing_is_kept_without_a_run),
        cmocka_unit_test(rooms_grow_in_eighths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
