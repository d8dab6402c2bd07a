/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes that are sent to a device before they are laid out: what each unit fires is counted there. */
#include "support/plugin_work.h"
#include "support/trials.h"

#include "core/backend/find.h"
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
        if (raw.count > 1) refuse(&raw, spoil(&raw, &random), device);
        free((void *)raw.spikes);
    }
}

static void units_are_counted_where_spikes_lie(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < sf_device_count(); d++)
        units_are_counted_on(sf_device_at(d));
    sf_devices_close();
    test_use_devices("w");
    units_are_counted_on(sf_device_at(0));
    sf_devices_close();
}

/* ---- in a job ---- */

/* Pairs of spikes, this far apart. */
static void start_pairs(test_trial *t, uint32_t units, int64_t apart_ns)
{
    test_trial_start(t, units);
    t->count = 200;
    t->spikes = calloc(t->count, sizeof *t->spikes);
    for (size_t i = 0; i < t->count; i++)
        t->spikes[i] = (sf_spike){.time_ns = (int64_t)(i / 2) * apart_ns + (int64_t)(i % 2 * 3),
                                  .unit = (uint32_t)(i % 2)};
    t->delays[0] = (sf_delay){0, 5};
    t->options.threshold = 10;
}

static void refuse_on(test_trial *t, const char *device, sf_error *error)
{
    sf_mine_input input = {
        .spikes = t->spikes, .spike_count = t->count, .units = &t->units, .duration_ns = 1000};
    sf_mine_result *result;
    t->options.device = device;
    assert_int_equal(sf_mine_spikes(&result, &input, &t->options, NULL, error), SF_DATA);
}

/* One device counts; spikes out of order are told of as the CPU does, which then has counted. */
static void one_device_counts_for_itself(void **state)
{
    (void)state;
    test_trial t;
    start_pairs(&t, 2, 10);
    test_use_devices("w");
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    uint32_t counted = work->units_counted;
    sf_mine_result *here = test_trial_mine(&t, "cpu");
    assert_int_equal(work->units_counted - counted, 0);
    sf_mine_result *there = test_trial_mine(&t, "test:0");
    assert_int_equal(work->units_counted - counted, 1);
    assert_int_equal(here->count, 1);
    test_assert_same_result(there, here);
    sf_mine_result_free(here);
    sf_mine_result_free(there);
    sf_error told, expected;
    t.spikes[17].time_ns = 0;
    refuse_on(&t, "cpu", &expected);
    refuse_on(&t, "test:0", &told);
    assert_string_equal(told.text, expected.text);
    sf_devices_close();
    test_trial_end(&t);
}

/* A century of five units does not fit into 64 bits: then the CPU lays out, and the device mines all the
 * same. */
static void spikes_that_cannot_be_packed_are_laid_out_here(const char *device)
{
    test_trial t;
    start_pairs(&t, 5, INT64_C(31536000) * 1000000000);
    sf_mine_result *here = test_trial_mine(&t, "cpu"), *there = test_trial_mine(&t, device);
    assert_string_equal(there->ran.device, device);
    assert_int_equal(here->count, 1);
    test_assert_same_result(there, here);
    sf_mine_result_free(here);
    sf_mine_result_free(there);
    test_trial_end(&t);
}

static void a_century_is_mined(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < sf_device_count(); d++)
        spikes_that_cannot_be_packed_are_laid_out_here(sf_device_name(sf_device_at(d)));
    sf_devices_close();
    test_use_devices("w");
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    uint32_t copied = work->copied, raw = work->raw;
    spikes_that_cannot_be_packed_are_laid_out_here("test:0");
    assert_int_equal(work->copied - copied, 1);
    assert_int_equal(work->raw - raw, 0);
    sf_devices_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_counted_where_spikes_lie),
        cmocka_unit_test(one_device_counts_for_itself),
        cmocka_unit_test(a_century_is_mined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
