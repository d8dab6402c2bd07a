/* SPDX-License-Identifier: Apache-2.0 */
/* Laying spikes out by unit: the same on any number of threads, and as the words of events.h have it. */
#include "support/support.h"

#include "mine/events.h"

/* Each statement of events.h, spike by spike. */
static void check_layout(const sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                         const sf_events_choice *choice)
{
    size_t *fired = calloc(unit_count + 1, sizeof *fired), *next = calloc(unit_count + 1, sizeof *next);
    for (size_t i = 0; i < count; i++)
        fired[spikes[i].unit]++;
    uint32_t kept = 0, place = 0;
    for (uint32_t u = 0; u < unit_count; u++) {
        if ((choice->keep != NULL && !choice->keep[u]) || fired[u] < choice->least) {
            fired[u] = SIZE_MAX;
            continue;
        }
        assert_int_equal(events->unit[kept], u);
        assert_int_equal(events->first[kept++], place);
        next[u] = place;
        place += (uint32_t)fired[u];
    }
    assert_int_equal(events->unit_count, kept);
    assert_int_equal(events->first[kept], place);
    assert_int_equal(events->count, place);
    uint32_t position = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t unit = spikes[i].unit;
        if (fired[unit] == SIZE_MAX) continue;
        if (position == 0) assert_int_equal(events->origin_ns, spikes[i].time_ns);
        if (events->times[position] != spikes[i].time_ns - events->origin_ns ||
            events->unit[events->owner[position]] != unit || events->positions[next[unit]] != position ||
            events->unit_times[next[unit]] != events->times[position])
            fail_msg("spike %zu is laid out wrongly", i);
        next[unit]++;
        position++;
    }
    free(fired);
    free(next);
}

static void any_number_of_threads_gives_the_same_layout(void **state)
{
    (void)state;
    test_random random = test_random_start("layout", 1);
    for (int round = 0; round < 40; round++) {
        uint32_t units = 1 + (uint32_t)test_random_below(&random, round % 2 == 0 ? 5 : 3000);
        size_t most = round % 4 == 0 ? 600000 : 300;
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, test_random_below(&random, most), units,
                                          1 + (int64_t)test_random_below(&random, 500000));
        bool *keep = calloc(units, sizeof *keep);
        for (uint32_t u = 0; u < units; u++)
            keep[u] = test_random_below(&random, 4) > 0;
        sf_events_choice choice = {.keep = round % 3 == 0 ? NULL : keep,
                                   .least = (uint32_t)test_random_below(&random, 2 * most / units + 2),
                                   .threads = 1 + (unsigned)test_random_below(&random, 6)};
        sf_events events;
        assert_int_equal(sf_events_lay_out(&events, spikes, count, units, &choice, NULL), SF_OK);
        assert_null(events.unit_times);
        assert_int_equal(sf_events_time_units(&events, choice.threads, NULL), SF_OK);
        check_layout(&events, spikes, count, units, &choice);
        sf_events_close(&events);
        free(keep);
        free(spikes);
    }
}

/* Whichever thread meets it, the first spike that is wrong is the one told of. */
static void the_first_wrong_spike_is_told(void **state)
{
    (void)state;
    size_t count = 400000;
    sf_spike *spikes = calloc(count, sizeof *spikes);
    for (size_t i = 0; i < count; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)i / 2, .unit = i % 2};
    sf_events_choice choice = {.threads = 4};
    sf_events events;
    sf_error error;
    static const size_t wrong[] = {1, 65536, 133334, 399999};
    for (size_t i = sizeof wrong / sizeof wrong[0]; i-- > 0;) { /* those that come later stay wrong */
        char expected[128];
        if (i % 2 == 0)
            spikes[wrong[i]].unit = 2 + (uint32_t)i;
        else
            spikes[wrong[i]].time_ns -= 5;
        snprintf(expected, sizeof expected,
                 i % 2 == 0 ? "spike %zu is of unit #%zu, but there are 2 units"
                            : "spike %zu is out of order: expected order by time, then unit",
                 wrong[i], 2 + i);
        assert_int_equal(sf_events_lay_out(&events, spikes, count, 2, &choice, &error), SF_DATA);
        assert_string_equal(error.text, expected);
        assert_null(events.times);
    }
    free(spikes);

    sf_spike apart[] = {{.time_ns = INT64_MIN}, {.time_ns = INT64_MAX}};
    assert_int_equal(sf_events_lay_out(&events, apart, 2, 1, &choice, &error), SF_DATA);
    assert_string_equal(error.text, "the spikes span more than 292 years");
}

static int open_and_close(void *context)
{
    sf_spike *spikes = context;
    sf_events events;
    int status = sf_events_open(&events, spikes, 200000, 3, NULL, NULL);
    sf_events_close(&events);
    return status;
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    sf_spike *spikes = calloc(200000, sizeof *spikes);
    test_fail_every_allocation(open_and_close, spikes);
    free(spikes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_layout),
        cmocka_unit_test(the_first_wrong_spike_is_told),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
