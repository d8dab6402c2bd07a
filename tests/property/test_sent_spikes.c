/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes that are sent to a device before they are laid out: what each unit fires is counted there. */
#include "support/plugin_work.h"
#include "support/support.h"

#include "core/backend/crew.h"
#include "core/backend/find.h"
#include "mine/mine.h"
#include "mine/resident.h"

#define MOST_COUNTED 9000u /* units: more than a block of a device has room for */

/* In order, of few units or many, some of them silent, with ties. */
static sf_raw_spikes draw(test_random *random)
{
    sf_raw_spikes raw = {.count = test_random_below(random, 3000),
                         .unit_count = test_random_below(random, 2) != 0
                                           ? 1 + test_random_below(random, 40)
                                           : MOST_COUNTED - test_random_below(random, 2000)};
    sf_spike *spikes = calloc(raw.count + 1, sizeof *spikes);
    sf_spike last = {.time_ns = -5};
    for (size_t i = 0; i < raw.count; i++) {
        int64_t pause = (int64_t)test_random_below(random, 3);
        uint32_t least = pause == 0 ? last.unit : 0;
        last.time_ns += pause;
        last.unit = least + (uint32_t)test_random_below(random, raw.unit_count - least);
        spikes[i] = last;
    }
    raw.spikes = spikes;
    return raw;
}

/* The spike that is wrong once one has been spoilt. */
static size_t spoil(sf_raw_spikes *raw, test_random *random)
{
    size_t i = 1 + test_random_below(random, raw->count - 1);
    sf_spike *own = (sf_spike *)&raw->spikes[i];
    if (test_random_below(random, 2) != 0)
        own->unit = (uint32_t)(raw->unit_count + test_random_below(random, 3));
    else
        own->time_ns = raw->spikes[i - 1].time_ns - 1;
    return i;
}

static void compare(const sf_raw_spikes *raw, sf_device *device)
{
    uint64_t *counted = calloc(raw->unit_count, sizeof *counted),
             *expected = calloc(raw->unit_count, sizeof *expected);
    sf_sent_spikes sent;
    assert_int_equal(sf_raw_spikes_send(&sent, raw, device, counted, NULL), SF_OK);
    for (size_t i = 0; i < raw->count; i++)
        expected[raw->spikes[i].unit]++;
    assert_memory_equal(counted, expected, raw->unit_count * sizeof *counted);
    sf_sent_spikes_close(&sent);
    free(counted);
    free(expected);
}

static void refuse(const sf_raw_spikes *raw, size_t wrong, sf_device *device)
{
    uint64_t *counted = calloc(raw->unit_count, sizeof *counted);
    sf_sent_spikes sent;
    sf_error error;
    char expected[64];
    snprintf(expected, sizeof expected, "spike %zu ", wrong);
    assert_int_equal(sf_raw_spikes_send(&sent, raw, device, counted, &error), SF_DATA);
    assert_memory_equal(error.text, expected, strlen(expected));
    assert_null(sent.device);
    free(counted);
}

static void units_are_counted_on(sf_device *device)
{
    test_random random = test_random_start("sent", 61);
    for (int round = 0, rounds = test_rounds(60); round < rounds; round++) {
        sf_raw_spikes raw = draw(&random);
        compare(&raw, device);
        if (raw.count > 1)
            refuse(&raw, spoil(&raw, &random), device);
        free((void *)raw.spikes);
    }
}

static void units_are_counted_where_spikes_lie(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < sf_device_count(); d++)
        units_are_counted_on(sf_device_at(d));
    sf_devices_close();
    setenv("TEST_PLUGIN_DEVICES", "w", 1);
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    units_are_counted_on(sf_device_at(0));
    sf_devices_close();
}

/* ---- in a job ---- */

static int mine_on(const char *device, sf_spike *spikes, size_t count, size_t *found, sf_error *error)
{
    sf_unit items[2] = {{.name = "A"}, {.name = "B"}};
    sf_units units = {.items = items, .count = 2};
    sf_delay delay = {0, 5};
    sf_mine_options options;
    sf_mine_options_default(&options);
    options.delays = &delay;
    options.delay_count = 1;
    options.threshold = 10;
    options.device = device;
    sf_mine_input input = {spikes, count, &units, 1000};
    sf_mine_result *result;
    int status = sf_mine_spikes(&result, &input, &options, NULL, error);
    *found = status == SF_OK ? result->count : 0;
    if (status == SF_OK)
        sf_mine_result_free(result);
    return status;
}

/* One device counts; spikes out of order are told of as the CPU does, which then has counted. */
static void one_device_counts_for_itself(void **state)
{
    (void)state;
    enum { SPIKES = 200 };
    sf_spike spikes[SPIKES];
    for (size_t i = 0; i < SPIKES; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)(i / 2 * 10 + i % 2 * 3), .unit = (uint32_t)(i % 2)};
    setenv("TEST_PLUGIN_DEVICES", "w", 1);
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    uint32_t counted = work->units_counted;
    size_t here, there;
    assert_int_equal(mine_on("cpu", spikes, SPIKES, &here, NULL), SF_OK);
    assert_int_equal(work->units_counted - counted, 0);
    assert_int_equal(mine_on("test:0", spikes, SPIKES, &there, NULL), SF_OK);
    assert_int_equal(work->units_counted - counted, 1);
    assert_int_equal(here, 1);
    assert_int_equal(there, 1);
    sf_error told, expected;
    spikes[17].time_ns = 0;
    assert_int_equal(mine_on("cpu", spikes, SPIKES, &here, &expected), SF_DATA);
    assert_int_equal(mine_on("test:0", spikes, SPIKES, &there, &told), SF_DATA);
    assert_string_equal(told.text, expected.text);
    sf_devices_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_counted_where_spikes_lie),
        cmocka_unit_test(one_device_counts_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
