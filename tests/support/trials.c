/* SPDX-License-Identifier: Apache-2.0 */
#include "support/trials.h"

#include "core/backend/crew.h"

void test_make_units(sf_units *units, uint32_t count)
{
    *units = (sf_units){0};
    for (uint32_t i = 0; i < count; i++) {
        sf_unit unit = {.x_um = 10.0 * i, .y_um = 0, .electrode = -1};
        assert_int_equal(sf_units_add(units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(units, NULL), SF_OK);
}

void test_trial_start(test_trial *trial, uint32_t units)
{
    *trial = (test_trial){0};
    test_make_units(&trial->units, units);
    trial->options = sf_mining_options_default();
    trial->options.delays = trial->delays;
    trial->options.delay_count = 1;
    trial->options.threads = 1;
}

void test_trial_end(test_trial *trial)
{
    free(trial->spikes);
    sf_units_free(&trial->units);
}

static int mine(sf_mine_result **result, const test_trial *trial, sf_error *error)
{
    sf_mine_input input = {
        .spikes = trial->spikes, .spike_count = trial->count, .units = &trial->units, .duration_ns = 1000};
    return sf_mine_spikes(result, &input, &trial->options, NULL, error);
}

sf_mine_result *test_trial_mine(test_trial *trial, const char *device)
{
    sf_mine_result *result;
    sf_error error;
    trial->options.device = device;
    if (mine(&result, trial, &error) != SF_OK) fail_msg("on %s: %s", device, error.text);
    return result;
}

void test_assert_same_result(const sf_mine_result *found, const sf_mine_result *expected)
{
    assert_int_equal(found->level_count, expected->level_count);
    for (uint32_t i = 0; i < found->level_count; i++) {
        assert_int_equal(found->levels[i].candidates, expected->levels[i].candidates);
        assert_int_equal(found->levels[i].frequent, expected->levels[i].frequent);
    }
    assert_int_equal(found->count, expected->count);
    for (size_t i = 0; i < found->count; i++) {
        assert_int_equal(found->items[i].size, expected->items[i].size);
        assert_int_equal(found->items[i].node, expected->items[i].node);
        assert_int_equal(found->items[i].count, expected->items[i].count);
        sf_episode left, right;
        sf_mine_result_episode(found, i, &left);
        sf_mine_result_episode(expected, i, &right);
        assert_memory_equal(&left, &right, sizeof left);
    }
}

void test_use_devices(const char *characters)
{
    sf_error error;
    setenv("TEST_PLUGIN_DEVICES", characters, 1);
    sf_devices_set_worth(0, SF_MOST_DEVICES);
    if (sf_devices_use(TEST_PLUGIN, &error) != SF_OK) fail_msg("%s %s", error.place, error.text);
    assert_int_equal(sf_device_count(), strlen(characters));
}

int test_load_and_mine(void *trial)
{
    sf_mine_result *result = NULL;
    int status = sf_devices_use(TEST_PLUGIN, NULL);
    if (status == SF_OK) status = mine(&result, trial, NULL);
    sf_mine_result_free(result);
    sf_devices_close();
    return status;
}
