/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorder writes, file by file: rotation, disks that fail or get full, and what its journal makes
 * good. */
#include "sinks/recorder.h"
#include "support/disk.h"
#include "support/messages.h"

#include "core/clock.h"
#include "core/memory.h"
#include "io/journal.h"
#include "replay/recording_file.h"
#include "sinks/recorder_rows.h"
#include "tools/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNITS 4
#define BATCH 100

typedef struct fixture {
    test_disk disk;
    test_stream stream;
    char *path;
    sf_recorder *recorder;
    size_t spikes; /* offered so far */
} fixture;

static fixture *make(sf_recorder_settings settings)
{
    test_random random = test_random_start("recorder", 21);
    fixture *fix = calloc(1, sizeof *fix);
    test_disk_make(&fix->disk);
    test_stream_make(&fix->stream, &random, UNITS);
    fix->path = test_temporary_path(".h5");
    settings.sink.path = fix->path;
    settings.disk = &fix->disk.disk;
    sf_error error;
    if (sf_recorder_open(&fix->recorder, &settings, &fix->stream.info, &error) != SF_OK ||
        sf_recorder_begin(fix->recorder, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return fix;
}

static char *name_part(const fixture *fix, unsigned part, const char *ending)
{
    char name[400];
    int stem = (int)strlen(fix->path) - 3;
    if (part == 1)
        snprintf(name, sizeof name, "%s%s", fix->path, ending);
    else
        snprintf(name, sizeof name, "%.*s-part%u.h5%s", stem, fix->path, part, ending);
    return strdup(name);
}

static void free_fixture(fixture *fix)
{
    for (unsigned part = 1; part <= 8; part++) {
        char *file = name_part(fix, part, ""), *journal = name_part(fix, part, ".journal");
        unlink(file);
        unlink(journal);
        free(file);
        free(journal);
    }
    test_disk_free(&fix->disk);
    test_stream_free(&fix->stream);
    free(fix->path);
    free(fix);
}

static sf_spike nth_spike(size_t n)
{
    return (sf_spike){(int64_t)n * SF_MILLISECOND, (uint32_t)(n % UNITS), (float)n};
}

static int offer(fixture *fix, sf_error *error)
{
    sf_spike spikes[BATCH];
    for (size_t i = 0; i < BATCH; i++)
        spikes[i] = nth_spike(fix->spikes + i);
    const sf_raw_batch batch = {.spikes = spikes, .spike_count = BATCH, .spikes_lost = fix->spikes / 1000};
    char row[512] = {0};
    const uint64_t seq = fix->spikes / BATCH + 1; /* which a row begins with */
    assert_true(sf_recorder_row_size(SF_TABLE_WINDOWS) <= sizeof row);
    memcpy(row, &seq, sizeof seq);
    int status = sf_recorder_turn(fix->recorder, error);
    if (status == SF_OK) status = sf_recorder_raw(fix->recorder, &batch, error);
    if (status == SF_OK) status = sf_recorder_append(fix->recorder, SF_TABLE_WINDOWS, row, 1, error);
    fix->spikes += BATCH;
    return status;
}

static void record(fixture *fix, size_t batches)
{
    sf_error error;
    for (size_t i = 0; i < batches; i++)
        if (offer(fix, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
}

/* The spikes of a file are those from `from` on; returns how many. */
static size_t check_file(const char *path, size_t from, sf_span *recorded)
{
    sf_recording back;
    sf_error error;
    if (sf_recording_read(&back, path, NULL, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    for (size_t i = 0; i < back.spike_count; i++) {
        sf_spike expected = nth_spike(from + i);
        assert_int_equal(back.spikes[i].time_ns, expected.time_ns);
        assert_int_equal(back.spikes[i].unit, expected.unit);
    }
    size_t count = back.spike_count;
    if (recorded != NULL) *recorded = back.recorded;
    sf_recording_clear(&back);
    return count;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static bool has_journal(const fixture *fix, unsigned part)
{
    char *journal = name_part(fix, part, ".journal");
    bool has = is_there(journal);
    free(journal);
    return has;
}

static uint64_t count_rows(const char *path, const char *table)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, table, H5P_DEFAULT);
    hid_t space = H5Dget_space(dataset);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return (uint64_t)count;
}

/* ---- rotation ---- */

static void check_parts(fixture *fix, unsigned parts)
{
    size_t spikes = 0;
    int64_t stop_ns = 0;
    uint64_t rows = 0;
    for (unsigned part = 1; part <= parts; part++) {
        char *path = name_part(fix, part, "");
        sf_span recorded;
        size_t count = check_file(path, spikes, &recorded);
        assert_true(count > 0);
        assert_int_equal(recorded.start_ns, stop_ns);
        stop_ns = recorded.stop_ns;
        spikes += count;
        rows += count_rows(path, "/results/windows");
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
              attribute = H5Aopen(file, "part", H5P_DEFAULT);
        int32_t number;
        assert_true(H5Aread(attribute, H5T_NATIVE_INT32, &number) >= 0);
        assert_int_equal(number, part);
        H5Aclose(attribute);
        H5Fclose(file);
        assert_false(has_journal(fix, part));
        free(path);
    }
    assert_int_equal(spikes, fix->spikes);
    assert_int_equal(rows, fix->spikes / BATCH);
    char *beyond = name_part(fix, parts + 1, "");
    assert_false(is_there(beyond));
    free(beyond);
}

static void a_recording_goes_on_in_further_files(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    settings.rotate_mb = 10 * (BATCH * 16 + (double)sf_recorder_row_size(SF_TABLE_WINDOWS)) / 1e6;
    fixture *by_size = make(settings);
    record(by_size, 25);
    assert_true(has_journal(by_size, 3));
    assert_int_equal(sf_recorder_part(by_size->recorder), 3);
    assert_int_equal(sf_recorder_rows(by_size->recorder, SF_TABLE_WINDOWS), 5);
    assert_int_equal(sf_recorder_close(by_size->recorder, NULL), SF_OK);
    check_parts(by_size, 3);
    free_fixture(by_size);
    settings = (sf_recorder_settings){SF_RECORDER_DEFAULTS};
    settings.rotate_min = 1.0 / 60;
    fixture *by_time = make(settings);
    record(by_time, 25);
    assert_int_equal(sf_recorder_close(by_time->recorder, NULL), SF_OK);
    check_parts(by_time, 3);
    free_fixture(by_time);
}

/* Its name is a folder's: the recording goes on where it is, and loses nothing. */
static void a_next_file_that_cannot_be_begun_ends_nothing(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    settings.rotate_mb = 10 * (BATCH * 16 + (double)sf_recorder_row_size(SF_TABLE_WINDOWS)) / 1e6;
    fixture *fix = make(settings);
    char *second = name_part(fix, 2, "");
    assert_int_equal(mkdir(second, 0777), 0);
    record(fix, 25);
    assert_int_equal(sf_recorder_part(fix->recorder), 1);
    assert_true(has_journal(fix, 1));
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    assert_int_equal(check_file(fix->path, 0, NULL), 25 * BATCH);
    rmdir(second);
    free(second);
    free_fixture(fix);
}

/* ---- what others do to its files ---- */

/* HDF5 reads what it wrote, and would try for ever where it is not there any more. */
static void a_file_that_somebody_cuts_is_left_and_recovered(void **state)
{
    (void)state;
    static const off_t lengths[] = {0, 500, 2000, 20000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        fixture *fix = make((sf_recorder_settings){SF_RECORDER_DEFAULTS});
        sf_error error;
        record(fix, 200);
        assert_int_equal(sf_recorder_flush(fix->recorder, &error), SF_OK);
        assert_int_equal(truncate(fix->path, lengths[i]), 0);
        test_assert_fails(offer(fix, &error), &error, SF_IO, "was cut while it was being written");
        assert_int_equal(sf_recorder_close(fix->recorder, &error), SF_OK);
        assert_true(has_journal(fix, 1));
        sf_recovered told;
        assert_int_equal(sf_recover(&told, fix->path, NULL, NULL, NULL), SF_OK);
        assert_int_equal(check_file(told.out, 0, NULL), 200 * BATCH);
        unlink(told.out);
        sf_recovered_free(&told);
        free_fixture(fix);
    }
}

/* The file itself goes on. */
static void a_journal_that_somebody_cuts_is_none(void **state)
{
    (void)state;
    fixture *fix = make((sf_recorder_settings){SF_RECORDER_DEFAULTS});
    char *journal = name_part(fix, 1, ".journal");
    sf_error error;
    record(fix, 20);
    assert_int_equal(truncate(journal, 100), 0);
    test_assert_fails(sf_recorder_flush(fix->recorder, &error), &error, SF_IO,
                      "was cut while it was being written");
    record(fix, 20);
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    assert_int_equal(check_file(fix->path, 0, NULL), 40 * BATCH);
    free(journal);
    free_fixture(fix);
}

/* ---- disks ---- */

static void a_nearly_full_disk_ends_a_recording_in_order(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    fixture *fix = make(settings);
    record(fix, 10);
    assert_int_equal(sf_recorder_check(fix->recorder, NULL), SF_OK);
    fix->disk.room = 63000000;
    sf_error error = {0};
    test_assert_fails(sf_recorder_check(fix->recorder, &error), &error, SF_IO,
                      "the disk is nearly full, 63 MB");
    assert_string_equal(error.place, fix->path);
    size_t whole = fix->spikes;
    test_assert_fails(offer(fix, &error), &error, SF_IO, "broke off earlier");
    assert_int_equal(sf_recorder_check(fix->recorder, &error), SF_OK); /* said once */
    assert_int_equal(sf_recorder_flush(fix->recorder, &error), SF_OK);
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    sf_span recorded;
    assert_int_equal(check_file(fix->path, 0, &recorded), whole);
    assert_int_equal(recorded.stop_ns, nth_spike(whole - 1).time_ns + 1);
    assert_false(has_journal(fix, 1));
    free_fixture(fix);
}

/* What comes at once at the start is no rate: 1 MB above the reserve is room for much more. */
static void a_rate_over_almost_no_time_ends_nothing(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    fixture *fix = make(settings);
    record(fix, 10);
    fix->disk.room = 65000000;
    sf_error error = {0};
    if (sf_recorder_check(fix->recorder, &error) != SF_OK) fail_msg("%s", error.text);
    record(fix, 1);
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    assert_int_equal(check_file(fix->path, 0, NULL), 11 * BATCH);
    free_fixture(fix);
}

static void a_large_journal_makes_room(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    settings.reserve_mb = 0.001;
    fixture *fix = make(settings);
    record(fix, 10);
    fix->disk.room = 500;
    assert_int_equal(sf_recorder_check(fix->recorder, NULL), SF_OK);
    assert_int_equal(sf_recorder_part(fix->recorder), 2);
    assert_false(has_journal(fix, 1));
    fix->disk.room = UINT64_MAX;
    record(fix, 3);
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    assert_int_equal(check_file(fix->path, 0, NULL), 10 * BATCH);
    char *second = name_part(fix, 2, "");
    assert_int_equal(check_file(second, 10 * BATCH, NULL), 3 * BATCH);
    free(second);
    free_fixture(fix);
}

static void the_file_goes_on_without_its_journal(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    fixture *fix = make(settings);
    record(fix, 2);
    fix->disk.write_fails = EIO;
    record(fix, 2);
    sf_error error = {0};
    test_assert_fails(sf_recorder_flush(fix->recorder, &error), &error, SF_IO, "cannot write to the journal");
    assert_int_equal(sf_recorder_flush(fix->recorder, &error), SF_OK); /* said once */
    record(fix, 2);
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    sf_span recorded;
    assert_int_equal(check_file(fix->path, 0, &recorded), fix->spikes);
    assert_true(has_journal(fix, 1)); /* as it broke off */
    free_fixture(fix);
}

/* A journal stays until its file is surely on the disk. */
static void a_file_that_is_not_on_the_disk_keeps_its_journal(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    settings.sync_s = 0;
    fixture *fix = make(settings);
    record(fix, 4);
    fix->disk.sync_fails = EIO;
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    assert_true(has_journal(fix, 1));
    unlink(fix->path);
    sf_recovered told;
    assert_int_equal(sf_recover(&told, fix->path, NULL, NULL, NULL), SF_OK);
    assert_true(told.ended);
    assert_string_equal(told.file_note, "there is none");
    assert_int_equal(check_file(told.out, 0, NULL), fix->spikes);
    assert_int_equal(count_rows(told.out, "/results/windows"), 4);
    unlink(told.out);
    sf_recovered_free(&told);
    free_fixture(fix);
}

/* ---- accounts ---- */

static void the_status_tells_of_journal_and_disk(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    settings.rotate_mb = 3 * (BATCH * 16 + (double)sf_recorder_row_size(SF_TABLE_WINDOWS)) / 1e6;
    settings.sync_s = 0;
    fixture *fix = make(settings);
    sf_sink_status status;
    sf_recorder_account(fix->recorder, &status);
    assert_true(isnan(status.disk_left_s));
    record(fix, 10); /* four files */
    assert_int_equal(sf_recorder_check(fix->recorder, NULL), SF_OK);
    sf_recorder_account(fix->recorder, &status);
    assert_true(status.syncs >= 4); /* each journal is there before anything is recorded */
    assert_true(status.journal_bytes >= 10 * (BATCH * 16 + 40 + sf_recorder_row_size(SF_TABLE_WINDOWS) + 40));
    assert_true(status.sync_max_ms >= 0);
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    free_fixture(fix);
}

static void what_found_no_room_is_in_the_journal(void **state)
{
    (void)state;
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    fixture *fix = make(settings);
    record(fix, 25);
    fix->disk.sync_fails = EIO;
    assert_int_equal(sf_recorder_close(fix->recorder, NULL), SF_OK);
    sf_recovered told;
    assert_int_equal(sf_recover(&told, fix->path, NULL, NULL, NULL), SF_OK);
    assert_int_equal(told.spikes_lost, 2);
    unlink(told.out);
    sf_recovered_free(&told);
    free_fixture(fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_goes_on_in_further_files),
        cmocka_unit_test(a_nearly_full_disk_ends_a_recording_in_order),
        cmocka_unit_test(a_next_file_that_cannot_be_begun_ends_nothing),
        cmocka_unit_test(a_file_that_somebody_cuts_is_left_and_recovered),
        cmocka_unit_test(a_journal_that_somebody_cuts_is_none),
        cmocka_unit_test(a_rate_over_almost_no_time_ends_nothing),
        cmocka_unit_test(a_large_journal_makes_room),
        cmocka_unit_test(the_file_goes_on_without_its_journal),
        cmocka_unit_test(a_file_that_is_not_on_the_disk_keeps_its_journal),
        cmocka_unit_test(the_status_tells_of_journal_and_disk),
        cmocka_unit_test(what_found_no_room_is_in_the_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
