/* SPDX-License-Identifier: Apache-2.0 */
/* Work beside the hops that is halted: nobody waits for it, and it ends by its progress. */
#include "core/clock.h"
#include "pipeline/background.h"
#include "support/support.h"

typedef struct endless {
    sf_background background;
    atomic_bool begun;
    int ended; /* times */
    bool left; /* nobody ended it */
} endless;

#define PATIENCE_NS (20 * SF_SECOND)

/* Until its progress says so; a test of what no longer does is to fail, and not to hang. */
static void work(void *of)
{
    endless *it = of;
    const sf_progress progress = sf_background_progress(&it->background);
    atomic_store(&it->begun, true);
    const int64_t until_ns = sf_clock_monotonic_ns() + PATIENCE_NS;
    while (!it->left && sf_progress_update(&progress, "counting", 0, 1))
        it->left = sf_clock_monotonic_ns() > until_ns;
    it->ended++;
}

static void nobody_waits_for_work_that_is_halted(void **state)
{
    (void)state;
    endless it = {0};
    assert_int_equal(sf_background_open(&it.background, "test", SF_BACKGROUND_AWAITED, work, &it, NULL),
                     SF_OK);
    sf_background_start(&it.background);
    while (!atomic_load(&it.begun))
        ;
    sf_background_halt(&it.background);
    sf_background_wait(&it.background);
    while (!sf_background_take(&it.background))
        ;
    assert_int_equal(it.ended, 1);
    sf_background_start(&it.background); /* likewise, when it is started again */
    sf_background_wait(&it.background);
    sf_background_close(&it.background);
    assert_false(it.left);
}

static void work_inside_ends_where_it_is_halted(void **state)
{
    (void)state;
    endless it = {0};
    assert_int_equal(sf_background_open(&it.background, "test", SF_BACKGROUND_INSIDE, work, &it, NULL),
                     SF_OK);
    sf_background_halt(&it.background);
    sf_background_start(&it.background);
    assert_true(sf_background_take(&it.background));
    assert_int_equal(it.ended, 1);
    sf_background_close(&it.background);
    assert_false(it.left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nobody_waits_for_work_that_is_halted),
                                       cmocka_unit_test(work_inside_ends_where_it_is_halted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
