/* SPDX-License-Identifier: Apache-2.0 */
/* Watched episodes complete as often as they are counted, and with spikes that are an occurrence. */
#include "support/support.h"

#include "core/episode.h"
#include "core/memory.h"
#include "oracle/count_oracle.h"
#include "window/watch.h"

#define EPISODES 6

static bool has_spike(const sf_spike *spikes, size_t count, uint32_t unit, int64_t time)
{
    for (size_t i = 0; i < count; i++)
        if (spikes[i].unit == unit && spikes[i].time_ns == time) return true;
    return false;
}

/* An occurrence of the episode in the spikes so far, completed by the last of them, not before
 * `previous_end`. */
static void check_completion(const sf_completion *completion, const sf_episode *episode,
                             const sf_spike *spikes, size_t count, int64_t previous_end)
{
    const int64_t *times = completion->spike_times_ns;
    assert_int_equal(completion->size, episode->size);
    assert_int_equal(times[episode->size - 1], spikes[count - 1].time_ns);
    assert_true(times[0] >= previous_end);
    for (uint32_t n = 0; n < episode->size; n++) {
        assert_true(has_spike(spikes, count, episode->units[n], times[n]));
        assert_true(n == 0 || sf_delay_holds(episode->delays[n - 1], times[n - 1], times[n]));
    }
}

static void completions_are_the_count(void **state)
{
    (void)state;
    test_random random = test_random_start("watch", 51);
    uint64_t total = 0;
    for (int round = 0; round < 3000; round++) {
        sf_spike *spikes;
        uint32_t units = 1 + (uint32_t)test_random_below(&random, 4);
        size_t count = test_random_stream(&random, &spikes, test_random_below(&random, 100), units,
                                          10 + (int64_t)test_random_below(&random, 150));
        sf_episode episodes[EPISODES];
        uint64_t completed[EPISODES] = {0};
        int64_t last_end[EPISODES];
        for (size_t e = 0; e < EPISODES; e++) {
            episodes[e] = test_random_episode(&random, 5, units, 25);
            last_end[e] = INT64_MIN;
        }
        sf_watch *watch;
        assert_int_equal(sf_watch_open(&watch, episodes, EPISODES, units, 128, NULL), SF_OK);
        sf_memory_fail_after(0); /* nothing is allocated from here on */
        for (size_t i = 0; i < count; i++) {
            const sf_completion *completions;
            size_t done = sf_watch_advance(watch, &spikes[i], &completions);
            for (size_t c = 0; c < done; c++) {
                uint32_t e = completions[c].episode;
                assert_int_equal(completions[c].occurrence, ++completed[e]);
                check_completion(&completions[c], &episodes[e], spikes, i + 1, last_end[e]);
                last_end[e] = spikes[i].time_ns;
            }
            if (round % 100 == 0) /* at every moment */
                for (size_t e = 0; e < EPISODES; e++)
                    assert_int_equal(completed[e], oracle_count(spikes, i + 1, &episodes[e]));
        }
        sf_memory_fail_after(-1);
        for (size_t e = 0; e < EPISODES; e++) {
            assert_int_equal(completed[e], oracle_count(spikes, count, &episodes[e]));
            total += completed[e];
        }
        assert_int_equal(sf_watch_overflows(watch), 0);
        sf_watch_close(watch);
        free(spikes);
    }
    assert_true(total > 20000);
}

/* The one that starts latest is told: A12 -> B15, not A10 -> B15. */
static void the_latest_start_is_told(void **state)
{
    (void)state;
    const sf_episode episode = {.size = 2, .units = {0, 1}, .delays = {{2, 10}}};
    const sf_spike spikes[] = {{10, 0, 0}, {12, 0, 0}, {13, 0, 0}, {15, 1, 0}};
    const sf_completion *completions;
    sf_watch *watch;
    assert_int_equal(sf_watch_open(&watch, &episode, 1, 2, 0, NULL), SF_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(sf_watch_advance(watch, &spikes[i], &completions), 0);
    assert_int_equal(sf_watch_advance(watch, &spikes[3], &completions), 1);
    assert_int_equal(completions[0].spike_times_ns[0], 12);
    assert_int_equal(completions[0].spike_times_ns[1], 15);
    sf_watch_close(watch);
}

static void want_of_room_is_told_and_stale_partials_need_none(void **state)
{
    (void)state;
    const sf_episode episode = {.size = 2, .units = {0, 1}, .delays = {{3, 10}}};
    const sf_completion *completions;
    sf_watch *watch;
    assert_int_equal(sf_watch_open(&watch, &episode, 1, 2, 8, NULL), SF_OK);
    for (int64_t time = 0; time < 10000; time++)
        sf_watch_advance(watch, &(sf_spike){time, 0, 0}, &completions);
    for (int i = 0; i < 100; i++) /* at one time */
        sf_watch_advance(watch, &(sf_spike){10000, 0, 0}, &completions);
    assert_int_equal(sf_watch_overflows(watch), 0);
    assert_int_equal(sf_watch_advance(watch, &(sf_spike){10000, 1, 0}, &completions), 1);
    assert_int_equal(completions[0].spike_times_ns[0], 9996);
    sf_watch_close(watch);

    assert_int_equal(sf_watch_open(&watch, &episode, 1, 2, 2, NULL), SF_OK);
    for (int64_t time = 0; time < 5; time++)
        sf_watch_advance(watch, &(sf_spike){time, 0, 0}, &completions);
    assert_int_equal(sf_watch_overflows(watch), 3); /* until 4 the spikes at 0 and 1 still have to wait */
    sf_watch_close(watch);
}

static int open_and_close(void *context)
{
    (void)context;
    const sf_episode episodes[] = {{.size = 1, .units = {2}},
                                   {.size = 3, .units = {0, 1, 0}, .delays = {{0, 5}, {5, 9}}}};
    sf_watch *watch;
    int status = sf_watch_open(&watch, episodes, 2, 3, 0, NULL);
    sf_watch_close(watch);
    return status;
}

static void bad_episodes_and_no_memory_leave_nothing(void **state)
{
    (void)state;
    const sf_episode episode = {.size = 2, .units = {0, 3}, .delays = {{0, 5}}};
    sf_watch *watch;
    sf_error error;
    test_assert_fails(sf_watch_open(&watch, &episode, 1, 3, 0, &error), &error, SF_DATA, "unit #3");
    assert_null(watch);
    test_fail_every_allocation(open_and_close, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completions_are_the_count),
        cmocka_unit_test(the_latest_start_is_told),
        cmocka_unit_test(want_of_room_is_told_and_stale_partials_need_none),
        cmocka_unit_test(bad_episodes_and_no_memory_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
