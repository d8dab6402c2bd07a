/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings from files by the public header, and that what is in memory gives the same results. */
#include "support/support.h"

#include <unistd.h>

static char *write_recording(int seconds)
{
    char *path = test_temporary_path(".csv");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < seconds; i++)
        fprintf(file, "A,%d.000\nB,%d.005\nC,%d.012\n", i, i, i);
    fclose(file);
    return path;
}

static sf_recording_columns columns_of(const sf_recording *recording)
{
    sf_recording_columns columns = {.size = sizeof columns};
    sf_recording_get_columns(recording, &columns);
    return columns;
}

static void a_selection_is_made_while_reading(void **state)
{
    (void)state;
    char *path = write_recording(100);
    sf_recording *recording;
    sf_error error;
    sf_selection selection = sf_selection_default();
    selection.units = "A,C";
    selection.from = (sf_time_point){.given = true, .ns = INT64_C(10000000000)};
    selection.to = (sf_time_point){.given = true, .ns = INT64_C(20000000000)};
    assert_int_equal(sf_recording_open(&recording, path, &selection, NULL, &error), SF_OK);
    const sf_recording_columns of = columns_of(recording);
    assert_string_equal(of.path, path);
    assert_string_equal(of.format,
                        "CSV: units of column 1, times of column 2 in s, as no unit of time is named");
    assert_int_equal(of.unit_count, 3);
    assert_string_equal(of.units[1].name, "B");
    assert_int_equal(of.spike_count, 20);
    assert_int_equal(of.spikes[1].time_ns, INT64_C(10012000000));
    assert_int_equal(of.selected->spikes_in_file, 300);
    assert_int_equal(of.dropped_count, 2);
    assert_int_equal(of.dropped[0].kind, SF_DROP_CHOSEN);
    sf_recording_free(recording);
    unlink(path);
    free(path);
}

static void what_cannot_be_opened_says_why(void **state)
{
    (void)state;
    sf_recording *recording;
    sf_error error;
    test_assert_fails(sf_recording_open(&recording, "/nonexistent.h5", NULL, NULL, &error), &error,
                      SF_NO_INPUT, NULL);
    assert_null(recording);
    char *path = write_recording(100);
    sf_selection selection = sf_selection_default();
    selection.units = "D";
    test_assert_fails(sf_recording_open(&recording, path, &selection, NULL, &error), &error, SF_USAGE, "'D'");
    assert_string_equal(error.place, "units");
    assert_null(recording);
    selection = sf_selection_default();
    selection.stream = "left";
    test_assert_fails(sf_recording_open(&recording, path, &selection, NULL, &error), &error, SF_USAGE,
                      "no stream 'left'");
    unlink(path);
    free(path);
}

static bool stop(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)done;
    (void)total;
    ++*(int *)user;
    return false;
}

static void reading_is_cancelled(void **state)
{
    (void)state;
    char *path = write_recording(50000); /* long enough that reading asks in between */
    int asked = 0;
    const sf_progress progress = {.update = stop, .user = &asked};
    sf_recording *recording;
    sf_error error;
    test_assert_fails(sf_recording_open(&recording, path, NULL, &progress, &error), &error, SF_CANCELLED,
                      NULL);
    assert_null(recording);
    assert_int_equal(asked, 1);
    unlink(path);
    free(path);
}

/* What a program copies out of a file and gives back as its own is mined and told as the file is. */
static void memory_and_file_give_the_same(void **state)
{
    (void)state;
    char *path = write_recording(100);
    sf_recording *file, *memory;
    sf_error error;
    assert_int_equal(sf_recording_open(&file, path, NULL, NULL, &error), SF_OK);
    const sf_recording_columns of = columns_of(file);
    sf_recording_input input = sf_recording_input_default();
    input.units = of.units;
    input.unit_count = of.unit_count;
    input.spikes = of.spikes;
    input.spike_count = of.spike_count;
    assert_int_equal(sf_recording_new(&memory, &input, &error), SF_OK);
    assert_true(columns_of(memory).selected->data == of.selected->data);
    assert_int_equal(columns_of(memory).duration_ns, of.duration_ns);

    const sf_delay delays[] = {{4000000, 10000000}};
    sf_mining_options mining = sf_mining_options_default();
    mining.delays = delays;
    mining.threshold = 50;
    sf_episodes *of_file, *of_memory;
    sf_episodes_columns expected = {.size = sizeof expected}, found = expected;
    assert_int_equal(sf_mine(&of_file, file, &mining, NULL, &error), SF_OK);
    assert_int_equal(sf_mine(&of_memory, memory, &mining, NULL, &error), SF_OK);
    sf_episodes_get_columns(of_file, &expected);
    sf_episodes_get_columns(of_memory, &found);
    assert_int_equal(expected.count, 3);
    assert_int_equal(found.count, 3);
    assert_memory_equal(found.episodes, expected.episodes, 3 * sizeof *found.episodes);
    assert_memory_equal(found.counts, expected.counts, 3 * sizeof *found.counts);
    assert_memory_equal(found.expected, expected.expected, 3 * sizeof *found.expected);
    sf_episodes_free(of_file);
    sf_episodes_free(of_memory);
    sf_recording_free(memory);
    sf_recording_free(file);
    unlink(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_selection_is_made_while_reading),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(reading_is_cancelled),
        cmocka_unit_test(memory_and_file_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
