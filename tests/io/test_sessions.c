/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that lie on one another, as their clock began anew or a counter overflowed: told, and taken one by
 * one or one after the other, in text, trains and samples alike. */
#include "support/folders.h"
#include "support/hdf_files.h"
#include "support/support.h"

#include "core/memory.h"
#include "io/hdf.h"
#include "replay/recording_file.h"

#include <unistd.h>

static char *path, *folder;

static int make_paths(void **state)
{
    (void)state;
    sf_hdf_begin();
    path = test_temporary_path(".bin");
    folder = test_folder_new();
    return 0;
}

static int remove_paths(void **state)
{
    (void)state;
    unlink(path);
    test_folder_remove(folder);
    free(path);
    free(folder);
    return 0;
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Two sessions of two units, from 100 to 400 s and from 100.5 to 399.5 s, in the order of the file. */
static void write_in_order(void)
{
    write_text(
        "unit,time_s\na,100\nb,101\na,102\nb,200\na,201\nb,300\na,400\nb,100.5\na,101.5\nb,200.5\na,201.5\n"
        "b,399.5\n");
}

/* The same, one unit after the other. */
static void write_trains(void)
{
    hid_t file = test_hdf_create(path);
    static const double spikes[] = {100, 102, 201, 400, 101.5, 201.5, 101, 200, 300, 100.5, 200.5, 399.5},
                        counts[] = {6, 6}, places[] = {0, 100, 0, 0};
    static const char *const names[] = {"a", "b"};
    test_hdf_numbers(file, "/spikes", H5T_IEEE_F64LE, 12, 0, spikes);
    test_hdf_numbers(file, "/sCount", H5T_STD_I32LE, 2, 0, counts);
    test_hdf_numbers(file, "/epos", H5T_IEEE_F64LE, 2, 2, places);
    test_hdf_strings(file, "/names", 8, 2, names);
    test_hdf_close(file);
}

static void write_samples(const char *place)
{
    static const double samples[] = {1000000, 1010000, 1020000, 2000000, 2010000, 3000000,
                                     4000000, 1005000, 1015000, 2005000, 2015000, 3995000},
                        clusters[] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
    test_folder_array(place, "spike_times.npy", "<i8", "(12,)", 12, samples);
    test_folder_array(place, "spike_clusters.npy", "<i4", "(12,)", 12, clusters);
    test_folder_put(place, "params.py", "sample_rate = 10000\n", 20);
}

typedef struct taken {
    size_t spikes, observed;
    double first_s, last_s;
    const char *clock, *sessions; /* a part of what they say; NULL: nothing */
} taken;

static void check(const char *place, const char *stream, taken expected)
{
    sf_recording recording;
    sf_error error = {0};
    const sf_reading how = {.stream = stream};
    if (sf_recording_read(&recording, place, &how, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    const char *clock = test_metadata(&recording, "clock"), *sessions = test_metadata(&recording, "sessions");
    assert_int_equal(recording.spike_count, expected.spikes);
    assert_int_equal(recording.observed_count, expected.observed);
    assert_int_equal(recording.spikes[0].time_ns, sf_seconds_to_ns(expected.first_s));
    assert_int_equal(recording.spikes[recording.spike_count - 1].time_ns, sf_seconds_to_ns(expected.last_s));
    if (expected.sessions == NULL) /* from its own first spike */
        assert_int_equal(recording.recorded.start_ns, recording.spikes[0].time_ns);
    if (clock == NULL || strstr(clock, expected.clock) == NULL)
        fail_msg("%s: the clock is said to be '%s', expected '%s'", stream, clock, expected.clock);
    if ((sessions == NULL) != (expected.sessions == NULL) ||
        (sessions != NULL && strcmp(sessions, expected.sessions) != 0))
        fail_msg("%s: '%s' is said of sessions, expected '%s'", stream, sessions, expected.sessions);
    sf_recording_clear(&recording);
}

static void check_list(const char *place, const char *first, uint64_t spikes, size_t count)
{
    sf_streams streams;
    assert_int_equal(sf_recording_list(&streams, place, NULL, NULL), SF_OK);
    assert_int_equal(streams.count, count);
    if (count > 0) {
        assert_string_equal(streams.items[0].name, first);
        assert_true(streams.items[0].spikes == spikes);
    }
    sf_streams_free(&streams);
}

static void refuse(const char *place, const char *stream, const char *words)
{
    sf_recording recording;
    sf_error error = {0};
    const sf_reading how = {.stream = stream};
    test_assert_fails(sf_recording_read(&recording, place, &how, NULL, &error), &error, SF_USAGE, words);
}

static void test_parts(void **state)
{
    (void)state;
    static void (*const write[])(void) = {write_in_order, write_trains};
    for (int i = 0; i < 3; i++) {
        const char *place = i < 2 ? path : folder;
        if (i < 2)
            write[i]();
        else
            write_samples(folder);
        const char *first = i == 1 ? "unit a steps back 298.5 s, once; 2 of 2 units step back"
                                   : "steps back 199.5 s, once; 2 of 2 units step back";
        check(place, NULL, (taken){12, 0, 100, 400, first, "session1 (7 spikes), session2 (5 spikes)"});
        check(place, "session1", (taken){7, 0, 100, 400, "session 1 of 2: ", NULL});
        check(place, "session2", (taken){5, 0, 100.5, 399.5, "session 2 of 2: ", NULL});
        check(place, "joined",
              (taken){12, 2, 100, 700.5, "one after the other, session2 301 s later than in the file", NULL});
        check_list(place, "session1", 7, 2);
        refuse(place, "session3", "there is no session 3; there is session1 (7 spikes), session2 (5 spikes)");
        refuse(place, "session0", "session0");
        refuse(place, "A1/session1", "A1/session1");
    }
}

/* What does not step back has no sessions, nor has what is in no order at all. */
static void test_none(void **state)
{
    (void)state;
    write_text("a,1\nb,1.5\na,2\nb,1.9\na,3\n");
    check_list(path, NULL, 0, 0);
    refuse(path, "session1", "there are no sessions to choose");
    refuse(path, "joined", "there are no sessions to choose");
    refuse(path, "x", "there is no stream 'x' to choose");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 200; i++)
        fprintf(file, "a,%d\n", i * 37 % 200);
    fclose(file);
    check_list(path, NULL, 0, 0);
}

/* Of a well its sessions; a well whose clock goes on stays as it is. */
static void test_wells(void **state)
{
    (void)state;
    write_text("well,unit,time_s\nA1,a,10\nA1,b,20\nA1,a,30\nA1,a,11\nA1,b,21\nB1,a,5\nB1,a,40\n");
    sf_streams streams;
    assert_int_equal(sf_recording_list(&streams, path, NULL, NULL), SF_OK);
    static const char *const names[] = {"A1/session1", "A1/session2", "B1"};
    assert_int_equal(streams.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(streams.items[i].name, names[i]);
    sf_streams_free(&streams);
    check(path, "A1",
          (taken){5, 0, 10, 30, "2 sessions lie on one another",
                  "A1/session1 (3 spikes), A1/session2 (2 spikes)"});
    check(path, "A1/session2", (taken){2, 0, 11, 21, "session 2 of 2", NULL});
    refuse(path, "B1/session1", "there are no sessions to choose");
    refuse(path, NULL, "choose one with --stream: A1 (5 spikes), B1 (2 spikes)");
    write_text("well,unit,time_s\nA1,a,10\nA1,a,30\nA1,b,20\nA1,a,11\nA1,b,20.5\n"); /* by trains */
    check(path, NULL,
          (taken){5, 0, 10, 30, "units that do not step back are taken to be of the first",
                  "session1 (4 spikes), session2 (1 spikes)"});
}

/* 2^32 us are 4294.967296 s, and 2^32 samples at 20 kHz 214748.3648 s, which a signed counter has halved. */
static void test_overflow(void **state)
{
    (void)state;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("unit,time_us\n", file);
    for (uint64_t i = 0; i < 2000; i++)
        fprintf(file, "%c,%u\n", (int)('a' + i % 3), (uint32_t)(4280000000 + i * 23457 + i % 7));
    fclose(file);
    check(path, "joined",
          (taken){
              2000, 0, 4280, 4326.890547,
              "session2 4294.9673 s later than in the file: a counter of 32 bits overflows every 4294.9673 s",
              NULL});
    check(path, NULL,
          (taken){2000, 0, 0.021729, 4294.965567, "a counter of 32 bits overflows every 4294.9673 s: unit",
                  "session1 (639 spikes), session2 (1361 spikes)"});
    double samples[400], clusters[400];
    for (int64_t i = 0; i < 400; i++) {
        int64_t sample = INT64_C(2147000000) + i * 3001;
        samples[i] = (double)(sample < INT64_C(2147483648) ? sample : sample - INT64_C(4294967296));
        clusters[i] = (double)(i % 2);
    }
    test_folder_array(folder, "spike_times.npy", "<i4", "(400,)", 400, samples);
    test_folder_array(folder, "spike_clusters.npy", "<i4", "(400,)", 400, clusters);
    test_folder_put(folder, "params.py", "sample_rate = 20000\n", 20);
    check(folder, "joined",
          (taken){400, 0, 107350, 107350 + 399 * 0.15005, "a counter of 32 bits overflows every 214748.365 s",
                  NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parts, make_paths, remove_paths),
        cmocka_unit_test_setup_teardown(test_none, make_paths, remove_paths),
        cmocka_unit_test_setup_teardown(test_wells, make_paths, remove_paths),
        cmocka_unit_test_setup_teardown(test_overflow, make_paths, remove_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
