/* SPDX-License-Identifier: Apache-2.0 */
/* synfire's own layout: what is written is read back, also while it is being written and after a kill. */
#include "support/support.h"

#include "core/memory.h"
#include "io/hdf.h"
#include "io/layout.h"
#include "replay/reader.h"
#include "replay/recording_file.h"
#include "sinks/storage.h"
#include "support/read_hdf5.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const sf_layout_options plain = {.kind = "recording", .configuration = "a: 1\n"};
static const sf_layout_options live = {.kind = "recording", .live = true};

static sf_recording make_about(void)
{
    sf_recording about = {0};
    for (int i = 0; i < 4; i++) {
        char name[24];
        snprintf(name, sizeof name, "unit %d", i);
        sf_unit unit = {.name = name,
                        .x_um = 100.5 * i,
                        .y_um = i == 3 ? NAN : -3,
                        .kind = (sf_unit_kind)i,
                        .electrode = i - 1,
                        .well = i == 2 ? "B2" : NULL};
        assert_int_equal(sf_units_add(&about.units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&about.units, NULL), SF_OK);
    assert_int_equal(sf_recording_set_metadata(&about, "species", "mouse \xc2\xb5", NULL), SF_OK);
    assert_int_equal(sf_recording_set_metadata(&about, "age", "P9", NULL), SF_OK);
    about.observed = sf_alloc(2, sizeof *about.observed);
    about.observed_count = 2;
    about.observed[0] = (sf_span){-5, 1000};
    about.observed[1] = (sf_span){2000, INT64_C(1000000000000)};
    return about;
}

#define SPIKES 40000

static sf_spike spike_at(size_t i)
{
    return (sf_spike){
        .time_ns = (int64_t)(i / 2) * 1000003, .unit = (uint32_t)(i & 3), .amplitude = (float)i};
}

static int append_all(sf_layout *layout, size_t count)
{
    static sf_spike spikes[SPIKES];
    for (size_t i = 0; i < count; i++)
        spikes[i] = spike_at(i);
    sf_marker markers[2] = {{.time_ns = 7, .kind = SF_MARKER_TTL, .state = 1, .line = 3},
                            {.time_ns = 9, .kind = SF_MARKER_TEXT, .text = "light on"}};
    int status = sf_layout_append_spikes(layout, spikes, count / 3, NULL);
    if (status == SF_OK)
        status = sf_layout_append_spikes(layout, spikes + count / 3, count - count / 3, NULL);
    return status == SF_OK ? sf_layout_append_markers(layout, markers, 2, NULL) : status;
}

static void assert_same_units(const sf_units *read, const sf_units *written)
{
    assert_int_equal(read->count, written->count);
    for (size_t i = 0; i < read->count; i++) {
        const sf_unit *a = &read->items[i], *b = &written->items[i];
        assert_string_equal(a->name, b->name);
        assert_true(a->x_um == b->x_um && (a->y_um == b->y_um || (isnan(a->y_um) && isnan(b->y_um))));
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->electrode, b->electrode);
        assert_true((a->well == NULL) == (b->well == NULL) &&
                    (a->well == NULL || strcmp(a->well, b->well) == 0));
    }
}

static void assert_spikes(const sf_recording *recording, size_t count)
{
    assert_int_equal(recording->spike_count, count);
    for (size_t i = 0; i < count; i++) {
        sf_spike expected = spike_at(i);
        assert_memory_equal(&recording->spikes[i], &expected, sizeof expected);
    }
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    sf_error error = {0};
    char *path = test_temporary_path(".h5");
    sf_recording about = make_about(), back;
    sf_layout *layout;
    assert_int_equal(sf_layout_create(&layout, path, &about, &plain, &error), SF_OK);
    assert_int_equal(append_all(layout, SPIKES), SF_OK);
    sf_span recorded = {-1000, INT64_C(30000000000)};
    assert_int_equal(sf_layout_close(layout, &recorded, &error), SF_OK);

    assert_int_equal(sf_recording_read(&back, path, NULL, NULL, &error), SF_OK);
    assert_string_equal(back.format, "synfire 1");
    assert_string_equal(back.path, path);
    assert_same_units(&back.units, &about.units);
    assert_spikes(&back, SPIKES);
    assert_int_equal(back.marker_count, 2);
    assert_int_equal(back.markers[0].line, 3);
    assert_int_equal(back.markers[0].state, 1);
    assert_int_equal(back.markers[0].kind, SF_MARKER_TTL);
    assert_string_equal(back.markers[1].text, "light on");
    assert_true(back.declared && back.recorded.start_ns == recorded.start_ns &&
                back.recorded.stop_ns == recorded.stop_ns);
    assert_int_equal(back.observed_count, 2);
    assert_memory_equal(back.observed, about.observed, 2 * sizeof *about.observed);
    assert_string_equal(test_metadata(&back, "species"), "mouse \xc2\xb5");
    assert_string_equal(test_metadata(&back, "age"), "P9");
    assert_non_null(test_metadata(&back, "program"));
    assert_int_equal(back.dropped_count, 0);
    sf_recording_clear(&back);

    /* A second file of the name is refused unless the first may go; a refused one is not touched. */
    test_assert_fails(sf_layout_create(&layout, path, &about, &plain, &error), &error, SF_CANNOT_CREATE,
                      "already");
    sf_layout_options replace = plain;
    replace.overwrite = true;
    assert_int_equal(sf_layout_create(&layout, path, &about, &replace, &error), SF_OK);
    assert_int_equal(sf_layout_close(layout, NULL, &error), SF_OK);
    assert_int_equal(sf_recording_read(&back, path, NULL, NULL, &error), SF_OK);
    assert_int_equal(back.spike_count, 0);
    assert_false(back.declared);
    sf_recording_clear(&back);
    sf_recording_clear(&about);
    unlink(path);
    free(path);
}

/* A child writes, flushes, appends without flushing, and is killed. */
static void what_was_flushed_survives_a_kill(void **state)
{
    (void)state;
    sf_error error = {0};
    char *path = test_temporary_path(".h5");
    sf_recording about = make_about(), back;
    pid_t child = fork();
    if (child == 0) {
        sf_layout *layout;
        if (sf_layout_create(&layout, path, &about, &live, NULL) == SF_OK &&
            sf_layout_start_live(layout, NULL) == SF_OK && append_all(layout, SPIKES) == SF_OK &&
            sf_layout_flush(layout, true, NULL) == SF_OK && append_all(layout, 300) == SF_OK)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int ended;
    waitpid(child, &ended, 0);
    assert_true(WIFSIGNALED(ended));
    assert_int_equal(sf_recording_read(&back, path, NULL, NULL, &error), SF_OK);
    assert_in_range(back.spike_count, SPIKES, SPIKES + 300);
    assert_false(back.declared);
    sf_recording_clear(&back);
    sf_recording_clear(&about);
    unlink(path);
    free(path);
}

/* Another process that reads the file when asked, since HDF5 shares what one process opens twice. It starts
 * before the file is opened here. */
typedef struct other_process {
    pid_t id;
    int ask, answer;
} other_process;

typedef struct what_it_read {
    int status;
    size_t spikes;
    char text[256];
} what_it_read;

static void serve(const char *path, int asked, int answer)
{
    for (char byte; read(asked, &byte, 1) == 1;) {
        sf_recording recording;
        sf_error error = {0};
        what_it_read result = {.status = sf_recording_read(&recording, path, NULL, NULL, &error)};
        result.spikes = recording.spike_count;
        snprintf(result.text, sizeof result.text, "%.255s", error.text);
        sf_recording_clear(&recording);
        if (write(answer, &result, sizeof result) != sizeof result) break;
    }
    _exit(0);
}

static other_process start_other(const char *path)
{
    int ask[2], answer[2];
    assert_true(pipe(ask) == 0 && pipe(answer) == 0);
    pid_t id = fork();
    if (id == 0) {
        close(ask[1]);
        serve(path, ask[0], answer[1]);
    }
    close(ask[0]);
    close(answer[1]);
    return (other_process){id, ask[1], answer[0]};
}

static what_it_read ask_other(const other_process *other)
{
    what_it_read result;
    assert_int_equal(write(other->ask, "", 1), 1);
    assert_int_equal(read(other->answer, &result, sizeof result), sizeof result);
    return result;
}

static void stop_other(const other_process *other)
{
    close(other->ask);
    close(other->answer);
    waitpid(other->id, NULL, 0);
}

/* Who overwrites the file while it is written does not have the writer wait for metadata that were right,
 * once. */
static void a_writer_tries_what_it_wrote_once(void **state)
{
    (void)state;
    char *path = test_temporary_path(".h5");
    sf_recording about = make_about();
    sf_layout *layout;
    sf_error error;
    assert_int_equal(sf_layout_create(&layout, path, &about, &live, &error), SF_OK);
    assert_int_equal(sf_layout_start_live(layout, &error), SF_OK);
    unsigned tries = 0;
    hid_t access = H5Fget_access_plist(sf_layout_file(layout));
    assert_true(H5Pget_metadata_read_attempts(access, &tries) >= 0);
    assert_int_equal(tries, 1);
    H5Pclose(access);
    sf_layout_abandon(layout);
    sf_recording_clear(&about);
    unlink(path);
    free(path);
}

static void a_live_file_is_read_while_it_grows(void **state)
{
    (void)state;
    sf_error error = {0};
    char *path = test_temporary_path(".h5");
    other_process other = start_other(path);
    sf_recording about = make_about(), back;
    sf_layout *layout;
    assert_int_equal(sf_layout_create(&layout, path, &about, &live, &error), SF_OK);
    assert_int_equal(sf_layout_start_live(layout, &error), SF_OK);
    for (size_t round = 0; round < 3; round++) {
        sf_spike spikes[1000];
        for (size_t i = 0; i < 1000; i++)
            spikes[i] = spike_at(round * 1000 + i);
        assert_int_equal(sf_layout_append_spikes(layout, spikes, 1000, &error), SF_OK);
        assert_int_equal(sf_layout_flush(layout, true, &error), SF_OK);
        what_it_read result = ask_other(&other);
        if (result.status != SF_OK) fail_msg("%s", result.text);
        assert_int_equal(result.spikes, (round + 1) * 1000);
    }
    sf_span recorded = {0, INT64_C(20000000000)};
    assert_int_equal(sf_layout_close(layout, &recorded, &error), SF_OK);
    stop_other(&other);
    assert_int_equal(sf_recording_read(&back, path, NULL, NULL, &error), SF_OK);
    assert_spikes(&back, 3000);
    assert_true(back.declared && back.recorded.stop_ns == recorded.stop_ns);
    sf_recording_clear(&back);
    sf_recording_clear(&about);
    unlink(path);
    free(path);
}

static void a_file_that_another_program_writes_is_refused(void **state)
{
    (void)state;
    sf_error error = {0};
    char *path = test_temporary_path(".h5");
    other_process other = start_other(path);
    sf_recording about = make_about();
    sf_layout *layout;
    assert_int_equal(sf_layout_create(&layout, path, &about, &plain, &error), SF_OK);
    assert_int_equal(sf_layout_flush(layout, true, &error), SF_OK);
    what_it_read result = ask_other(&other);
    assert_int_equal(result.status, SF_NO_INPUT);
    assert_string_equal(result.text, "another program has this file open to write");
    assert_int_equal(sf_layout_close(layout, NULL, &error), SF_OK);
    assert_int_equal(ask_other(&other).status, SF_OK);
    stop_other(&other);
    sf_recording_clear(&about);
    unlink(path);
    free(path);
}

/* Columns of different lengths: what a writer leaves that was killed between two of them. */
static void a_killed_file_is_read_to_its_shortest_column(void **state)
{
    (void)state;
    sf_error error = {0};
    char *path = test_temporary_path(".h5");
    sf_recording about = make_about(), back;
    pid_t child = fork();
    if (child == 0) {
        sf_layout *layout;
        int64_t times[50] = {0};
        if (sf_layout_create(&layout, path, &about, &live, NULL) != SF_OK ||
            sf_layout_start_live(layout, NULL) != SF_OK || append_all(layout, 300) != SF_OK)
            _exit(1);
        hid_t column = sf_hdf_open(sf_layout_file(layout), "/spikes/time_ns");
        if (sf_layout_column_append(column, H5T_NATIVE_INT64, times, 50, NULL) == SF_OK &&
            sf_layout_flush(layout, true, NULL) == SF_OK)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int ended;
    waitpid(child, &ended, 0);
    assert_true(WIFSIGNALED(ended));
    assert_int_equal(sf_recording_read(&back, path, NULL, NULL, &error), SF_OK);
    assert_spikes(&back, 300);
    assert_int_equal(back.dropped_count, 1);
    assert_int_equal(back.dropped[0].count, 50);
    sf_recording_clear(&back);
    sf_recording_clear(&about);
    unlink(path);
    free(path);
}

static void what_cannot_be_written_is_said(void **state)
{
    (void)state;
    sf_error error = {0};
    sf_recording about = make_about();
    sf_layout *layout;
    test_assert_fails(sf_layout_create(&layout, "/no/such/folder/x.h5", &about, &plain, &error), &error,
                      SF_CANNOT_CREATE, "No such file or directory");
    assert_null(layout);

    /* A full disk, as a limit on the size of files, in a process of its own. */
    char *path = test_temporary_path(".h5");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {200000, 200000};
        setrlimit(RLIMIT_FSIZE, &limit);
        if (sf_layout_create(&layout, path, &about, &live, &error) != SF_OK ||
            sf_layout_start_live(layout, &error) != SF_OK)
            _exit(1);
        int status = SF_OK;
        for (int i = 0; status == SF_OK && i < 10; i++) {
            status = append_all(layout, SPIKES);
            if (status == SF_OK) status = sf_layout_flush(layout, true, &error);
        }
        bool said = status == SF_IO;
        sf_layout_close(layout, NULL, &error);
        sf_recording_clear(&about);
        free(path);
        exit(said ? 0 : 2); /* exit, so that what HDF5 does then is part of the test */
    }
    int ended;
    waitpid(child, &ended, 0);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    sf_recording_clear(&about);
    unlink(path);
    free(path);
}

static int write_and_read(void *context)
{
    const char *path = context;
    sf_error error;
    sf_recording about = {.path = NULL}, back = {0};
    sf_unit unit = {.name = "a", .well = "A1"};
    sf_layout *layout = NULL;
    int status = sf_units_add(&about.units, &unit, &error);
    if (status == SF_OK) status = sf_units_finish(&about.units, &error);
    if (status == SF_OK) status = sf_recording_set_metadata(&about, "age", "9", &error);
    sf_layout_options options = {.kind = "recording", .overwrite = true};
    if (status == SF_OK) status = sf_layout_create(&layout, path, &about, &options, &error);
    sf_spike spike = {.time_ns = 5};
    sf_marker marker = {.time_ns = 5};
    if (status == SF_OK) status = sf_layout_append_spikes(layout, &spike, 1, &error);
    if (status == SF_OK) status = sf_layout_append_markers(layout, &marker, 1, &error);
    sf_layout_close(layout, NULL, &error);
    if (status == SF_OK) status = sf_recording_read(&back, path, NULL, NULL, &error);
    sf_recording_clear(&back);
    sf_hdf_input input = {.path = path};
    if (status == SF_OK) /* and what the reading program does, where a failed allocation can be seen */
        status = sf_hdf_open_file(&input, &error);
    if (status == SF_OK) {
        status = test_read_hdf5(&back, &input, &error);
        sf_hdf_close(input.file);
    }
    sf_recording_clear(&back);
    sf_recording_clear(&about);
    return status;
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    char *path = test_temporary_path(".h5");
    test_fail_every_allocation(write_and_read, path);
    unlink(path);
    free(path);
}

typedef struct counter {
    atomic_int polls, left;
} counter;

static bool poll_counter(void *argument)
{
    counter *counts = argument;
    atomic_fetch_add(&counts->polls, 1);
    return atomic_load(&counts->left) > 0 && atomic_fetch_sub(&counts->left, 1) > 1;
}

static int add_one(void *argument)
{
    return ++*(int *)argument;
}

static int open_storage(void *context)
{
    (void)context;
    sf_storage *storage;
    sf_error error;
    counter counts = {0};
    int status = sf_storage_open(&storage, &error);
    if (status != SF_OK) return status;
    status = sf_storage_add(storage, poll_counter, &counts, &error);
    sf_storage_remove(storage, poll_counter, &counts);
    sf_storage_close(storage);
    return status;
}

static void the_storage_thread_serves_calls_and_recorders(void **state)
{
    (void)state;
    sf_storage *storage;
    sf_error error;
    assert_int_equal(sf_storage_open(&storage, &error), SF_OK);
    int value = 0;
    for (int i = 1; i <= 100; i++)
        assert_int_equal(sf_storage_call(storage, add_one, &value), i);
    counter counts = {0};
    atomic_store(&counts.left, 500); /* "more to do" is served at once, not every 100 ms */
    assert_int_equal(sf_storage_add(storage, poll_counter, &counts, &error), SF_OK);
    while (atomic_load(&counts.left) > 0)
        usleep(100);
    int before = atomic_load(&counts.polls);
    assert_true(before >= 500);
    sf_storage_wake(storage);
    while (atomic_load(&counts.polls) == before)
        usleep(100);
    sf_storage_remove(storage, poll_counter, &counts);
    int after = atomic_load(&counts.polls);
    assert_int_equal(sf_storage_call(storage, add_one, &value), 101);
    assert_int_equal(atomic_load(&counts.polls), after);
    sf_storage_close(storage);
    test_fail_every_allocation(open_storage, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(what_was_flushed_survives_a_kill),
        cmocka_unit_test(a_writer_tries_what_it_wrote_once),
        cmocka_unit_test(a_live_file_is_read_while_it_grows),
        cmocka_unit_test(a_file_that_another_program_writes_is_refused),
        cmocka_unit_test(a_killed_file_is_read_to_its_shortest_column),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(no_failed_allocation_leaks),
        cmocka_unit_test(the_storage_thread_serves_calls_and_recorders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
