/* SPDX-License-Identifier: Apache-2.0 */
/* Occurrences as HDF5: what was added reads back, and what is no such file is refused. */
#include "io/occurrence_file.h"

#include "core/clock.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "mine/mine.h"
#include "replay/recording_file.h"
#include "replay/simulation.h"
#include "support/hdf_files.h"
#include "support/support.h"

#include <unistd.h>

#define PATH "occurrences-test.h5"
#define EPISODES 3

static sf_recording recording;
static sf_episode episodes[EPISODES];
static sf_counter *counter;

static int write_file(void *context)
{
    (void)context;
    const double expected[EPISODES] = {0, 1.5, 3};
    sf_occurrences *occurrences;
    int status = sf_occurrences_list(&occurrences, &recording, episodes, expected, EPISODES, NULL, NULL);
    if (status == SF_OK) status = sf_occurrences_write(occurrences, PATH, "mine:\n  max_size: 3", "{}", NULL);
    sf_occurrences_free(occurrences);
    return status;
}

static int read_file(void *context)
{
    (void)context;
    sf_occurrence_set set;
    int status = sf_occurrence_file_read(&set, PATH, NULL);
    sf_occurrence_set_free(&set);
    return status;
}

static void check_episode(const sf_occurrence_set *set, size_t i)
{
    int64_t *times;
    size_t count;
    uint32_t size = episodes[i].size;
    assert_memory_equal(&set->episodes[i], &episodes[i], sizeof episodes[i]);
    test_assert_same(set->expected[i], 1.5 * (double)i);
    assert_int_equal(sf_counter_occurrences(counter, i, &times, &count, NULL), SF_OK);
    assert_int_equal(set->first[i + 1] - set->first[i], count);
    for (size_t k = 0; k < count; k++)
        for (uint32_t node = 0; node < SF_EPISODE_MAX_SIZE; node++)
            assert_int_equal(set->times_ns[set->first[i] + k][node],
                             node < size ? times[k * size + node] : INT64_MIN);
    sf_free(times);
}

static void test_reads_back(void **state)
{
    (void)state;
    sf_occurrence_set set;
    sf_error error;
    assert_int_equal(write_file(NULL), SF_OK);
    assert_true(sf_occurrence_file_is(PATH));
    assert_int_equal(sf_occurrence_file_read(&set, PATH, &error), SF_OK);
    assert_string_equal(set.recording, "a recording");
    assert_int_equal(set.units.count, recording.units.count);
    assert_string_equal(set.units.items[3].name, "D");
    assert_int_equal(set.count, EPISODES);
    assert_true(set.first[EPISODES] > 20);
    for (size_t i = 0; i < EPISODES; i++)
        check_episode(&set, i);
    sf_occurrence_set_free(&set);
}

/* As a program writes and reads them, by the public header alone. */
static void test_as_columns(void **state)
{
    (void)state;
    sf_occurrences *written, *read;
    sf_error error;
    sf_occurrences_columns of = {.size = sizeof of}, back = {.size = sizeof back};
    sf_recording_columns units = {.size = sizeof units};
    assert_int_equal(sf_occurrences_list(&written, &recording, episodes, NULL, EPISODES, NULL, NULL), SF_OK);
    assert_int_equal(sf_occurrences_write(written, PATH, NULL, NULL, &error), SF_OK);
    assert_int_equal(sf_occurrences_open(&read, PATH, &error), SF_OK);
    sf_occurrences_get_columns(written, &of);
    sf_occurrences_get_columns(read, &back);
    sf_recording_get_columns(back.recording, &units);
    assert_int_equal(units.unit_count, recording.units.count);
    assert_int_equal(units.spike_count, 0);
    assert_string_equal(units.units[3].name, "D");
    assert_string_equal(back.counted_in, "a recording");
    assert_int_equal(back.count, EPISODES);
    for (size_t i = 0; i < EPISODES; i++) {
        assert_memory_equal(&back.episodes[i], &episodes[i], sizeof episodes[i]);
        test_assert_same(back.expected[i], of.expected[i]);
        assert_true(of.counts[i] > 0 && back.counts[i] == of.counts[i]);
        assert_memory_equal(back.times_ns[i], of.times_ns[i],
                            of.counts[i] * episodes[i].size * sizeof **of.times_ns);
    }
    sf_occurrences_free(read);
    test_assert_fails(sf_occurrences_write(written, "/no-such/x.h5", NULL, NULL, &error), &error,
                      SF_CANNOT_CREATE, NULL);
    sf_occurrences_free(written);
    unlink(PATH);
    test_assert_fails(sf_occurrences_open(&read, PATH, &error), &error, SF_NO_INPUT, NULL);
    assert_null(read);
}

/* For those who read it with other programs. */
static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(write_file(NULL), SF_OK);
    sf_hdf_input input = {.path = PATH};
    sf_text text = {0};
    void *values;
    size_t length, shape[2];
    assert_int_equal(sf_hdf_open_file(&input, NULL), SF_OK);
    hid_t file = input.file;
    assert_true(sf_hdf_attribute_text(file, "configuration", &text));
    assert_string_equal(text.data, "mine:\n  max_size: 3");
    sf_text_free(&text);
    assert_false(sf_hdf_is_group(file, "spikes"));
    assert_int_equal(sf_hdf_shape(file, "episodes/units", shape), 2);
    assert_true(shape[0] == EPISODES && shape[1] == SF_EPISODE_MAX_SIZE);
    assert_int_equal(sf_hdf_read(file, "episodes/size", PATH, H5T_NATIVE_UINT32, 4, &values, &length, NULL),
                     SF_OK);
    for (size_t i = 0; i < EPISODES; i++)
        assert_int_equal(((uint32_t *)values)[i], episodes[i].size);
    sf_free(values);
    assert_int_equal(
        sf_hdf_read(file, "episodes/delay_high_ns", PATH, H5T_NATIVE_INT64, 8, &values, &length, NULL),
        SF_OK);
    assert_int_equal(((int64_t *)values)[0], episodes[0].delays[0].high_ns);
    assert_int_equal(((int64_t *)values)[1], INT64_MIN);
    sf_free(values);
    assert_int_equal(
        sf_hdf_read(file, "occurrences/episode", PATH, H5T_NATIVE_UINT32, 4, &values, &length, NULL), SF_OK);
    assert_int_equal(((uint32_t *)values)[length - 1], EPISODES - 1);
    sf_free(values);
    sf_hdf_close(file);
}

static void test_refused(void **state)
{
    (void)state;
    sf_occurrence_set set;
    sf_error error;
    assert_int_equal(sf_occurrence_file_read(&set, "no-such.h5", &error), SF_NO_INPUT);
    assert_false(sf_occurrence_file_is("no-such.h5"));
    assert_int_equal(write_file(NULL), SF_OK);
    hid_t file = H5Fopen(PATH, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "episodes/count", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    assert_int_equal(sf_occurrence_file_read(&set, PATH, &error), SF_DATA);
    assert_int_equal(write_file(NULL), SF_OK);
    file = H5Fopen(PATH, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t times = H5Dopen2(file, "occurrences/times_ns", H5P_DEFAULT);
    int64_t zeros[SF_EPISODE_MAX_SIZE] = {0};
    hsize_t start[2] = {0, 0}, one[2] = {1, SF_EPISODE_MAX_SIZE};
    hid_t space = H5Dget_space(times), memory = H5Screate_simple(2, one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
    assert_true(H5Dwrite(times, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, zeros) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(times);
    H5Fclose(file);
    assert_int_equal(sf_occurrence_file_read(&set, PATH, &error), SF_DATA);
    assert_non_null(strstr(error.text, "no occurrence of its episode"));
    sf_recording read = {0}; /* and it is no recording */
    assert_int_equal(sf_recording_read(&read, PATH, NULL, NULL, &error), SF_DATA);
    assert_non_null(strstr(error.text, "of kind occurrences"));
}

static void test_allocations(void **state)
{
    (void)state;
    test_fail_every_allocation(write_file, NULL);
    test_fail_every_allocation(read_file, NULL);
}

static int set_up(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = 6;
    settings.rate_hz = 30;
    if (sf_simulate(&recording, NULL, &settings, NULL, NULL) != SF_OK) return 1;
    sf_free(recording.path);
    recording.path = sf_copy_string("a recording");
    for (uint32_t i = 0; i < EPISODES; i++) {
        episodes[i] = (sf_episode){.size = i + 2};
        for (uint32_t n = 0; n < i + 2; n++)
            episodes[i].units[n] = (i + n) % 6;
        for (uint32_t n = 0; n <= i; n++)
            episodes[i].delays[n] = (sf_delay){n * 1000, 20 * SF_MILLISECOND};
    }
    return sf_counter_open(&counter, recording.spikes, recording.spike_count, recording.units.count, episodes,
                           EPISODES, NULL, 1, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    sf_counter_close(counter);
    sf_recording_clear(&recording);
    return unlink(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_back),  cmocka_unit_test(test_as_columns), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_allocations), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
