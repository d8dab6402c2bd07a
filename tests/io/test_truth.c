/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "io/layout.h"
#include "replay/truth.h"

#include <unistd.h>

#define MS SF_MILLISECOND

typedef struct fixture {
    char *path;
    sf_recording recording;
    sf_truth truth;
} fixture;

static int set_up(void **state)
{
    static const sf_simulation_chain chains[] = {
        {{3, {0, 1, 2}, {{4 * MS, 6 * MS}, {4 * MS, 6 * MS}}}, 2.0},
        {{2, {2, 29}, {{0, 1234567}}}, 5.0},
    };
    fixture *fix = calloc(1, sizeof *fix);
    fix->path = test_temporary_path(".h5");
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = 30;
    settings.chains = chains;
    settings.chain_count = 2;
    assert_int_equal(sf_simulate(&fix->recording, &fix->truth, &settings, NULL, NULL), SF_OK);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    fixture *fix = *state;
    unlink(fix->path);
    free(fix->path);
    sf_recording_clear(&fix->recording);
    sf_truth_free(&fix->truth);
    free(fix);
    return 0;
}

static int write_file(const fixture *fix, const sf_truth *truth)
{
    sf_layout *layout;
    const sf_layout_options how = {.kind = "recording", .overwrite = true};
    int status = sf_layout_create(&layout, fix->path, &fix->recording, &how, NULL);
    if (status != SF_OK) return status;
    if (truth != NULL) status = sf_truth_write(layout, truth, &fix->recording.units, NULL);
    int closed = sf_layout_close(layout, &fix->recording.recorded, NULL);
    return status != SF_OK ? status : closed;
}

static void truth_reads_back_as_written(void **state)
{
    fixture *fix = *state;
    assert_int_equal(write_file(fix, &fix->truth), SF_OK);
    assert_true(sf_truth_in_file(fix->path));
    sf_truth read;
    sf_error error = {0};
    assert_int_equal(sf_truth_read(&read, fix->path, &fix->recording.units, &error), SF_OK);
    assert_int_equal(read.chain_count, 2);
    assert_memory_equal(read.chains, fix->truth.chains, 2 * sizeof *read.chains);
    assert_true(read.occurrence_count > 300 && read.occurrence_count == fix->truth.occurrence_count);
    for (size_t i = 0; i < read.occurrence_count; i++) {
        assert_int_equal(read.occurrences[i].chain, fix->truth.occurrences[i].chain);
        assert_memory_equal(read.occurrences[i].times_ns, fix->truth.occurrences[i].times_ns,
                            sizeof read.occurrences[i].times_ns);
    }
    sf_truth_free(&read);

    sf_truth nothing = {0};
    assert_int_equal(write_file(fix, &nothing), SF_OK);
    assert_int_equal(sf_truth_read(&read, fix->path, &fix->recording.units, &error), SF_OK);
    assert_int_equal(read.chain_count + read.occurrence_count, 0);
    sf_truth_free(&read);
}

static void files_without_sound_truth_are_refused(void **state)
{
    fixture *fix = *state;
    sf_truth read;
    sf_error error;
    assert_false(sf_truth_in_file(fix->path));
    test_assert_fails(sf_truth_read(&read, fix->path, &fix->recording.units, &error), &error, SF_NO_INPUT,
                      NULL);

    assert_int_equal(write_file(fix, NULL), SF_OK);
    assert_false(sf_truth_in_file(fix->path));
    test_assert_fails(sf_truth_read(&read, fix->path, &fix->recording.units, &error), &error, SF_DATA,
                      "/truth");

    fix->truth.occurrences[7].chain = 2;
    assert_int_equal(write_file(fix, &fix->truth), SF_OK);
    test_assert_fails(sf_truth_read(&read, fix->path, &fix->recording.units, &error), &error, SF_DATA,
                      "row 7: found chain 2 of 2");

    sf_units few = {0};
    assert_int_equal(sf_units_add(&few, &fix->recording.units.items[0], NULL), SF_OK);
    assert_int_equal(sf_units_finish(&few, NULL), SF_OK);
    test_assert_fails(sf_truth_read(&read, fix->path, &few, &error), &error, SF_DATA, "row 0: column");
    sf_units_free(&few);

    hid_t file = H5Fopen(fix->path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t times = H5Dopen2(file, "truth/occurrence_times_ns", H5P_DEFAULT);
    H5Dset_extent(times, (hsize_t[]){5, 16});
    H5Dclose(times);
    H5Fclose(file);
    test_assert_fails(sf_truth_read(&read, fix->path, &fix->recording.units, &error), &error, SF_DATA,
                      "80 times");
    assert_null(read.chains);
}

static int write_and_read(void *context)
{
    fixture *fix = context;
    int status = write_file(fix, &fix->truth);
    sf_truth read = {0};
    if (status == SF_OK) status = sf_truth_read(&read, fix->path, &fix->recording.units, NULL);
    sf_truth_free(&read);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    test_fail_every_allocation(write_and_read, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(truth_reads_back_as_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_without_sound_truth_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failed_allocations_leak_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
