/* SPDX-License-Identifier: Apache-2.0 */
/* Selections of random recordings are those of the slow twin; wrong selections get a sentence. */
#include "oracle/slow_overview.h"
#include "oracle/slow_selection.h"
#include "support/support.h"

#include "analysis/selection.h"
#include "core/memory.h"
#include "core/provenance.h"

#include <math.h>
#include <unistd.h>

/* A few units on a small grid and spikes close enough that every rule bites; times up to `most` ns. */
static sf_recording random_recording(test_random *random, size_t spikes, int64_t most)
{
    sf_recording recording = {0};
    size_t units = 1 + test_random_below(random, 12);
    for (size_t i = 0; i < units; i++) {
        bool placed = test_random_below(random, 8) > 0;
        sf_unit unit = {.x_um = placed ? (double)test_random_below(random, 4) * 50 : NAN,
                        .y_um = (double)test_random_below(random, 4) * 50,
                        .electrode = -1};
        assert_int_equal(sf_units_add(&recording.units, &unit, NULL), SF_OK);
    }
    recording.spikes = sf_alloc(spikes, sizeof *recording.spikes);
    recording.spike_count = test_random_below(random, spikes);
    for (size_t i = 0; i < recording.spike_count; i++)
        recording.spikes[i] = (sf_spike){.time_ns = (int64_t)test_random_below(random, (uint64_t)most),
                                         .unit = (uint32_t)test_random_below(random, units)};
    recording.markers = sf_alloc(4, sizeof *recording.markers);
    recording.marker_count = test_random_below(random, 5);
    for (size_t i = 0; i < recording.marker_count; i++) {
        recording.markers[i] = (sf_marker){.time_ns = (int64_t)test_random_below(random, (uint64_t)most),
                                           .kind = SF_MARKER_TEXT};
        strcpy(recording.markers[i].text, test_random_below(random, 2) ? "light" : "other, one");
    }
    if (test_random_below(random, 2)) {
        recording.declared = true;
        recording.recorded = (sf_span){-5, most + 7};
    }
    assert_int_equal(sf_recording_finish(&recording, NULL), SF_OK);
    if (test_random_below(random, 3) == 0 && recording.declared) {
        recording.observed = sf_alloc(2, sizeof *recording.observed);
        recording.observed_count = 2;
        recording.observed[0] = (sf_span){0, most / 3};
        recording.observed[1] = (sf_span){most / 2, most};
    }
    return recording;
}

static void write_file(const char *path, const char *text)
{
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_true(file != NULL && fputs(text, file) >= 0);
    fclose(file);
}

/* Two epochs, in the wrong order in the file. */
static void write_epochs(const char *path, const sf_span epochs[2])
{
    char text[256];
    snprintf(text, sizeof text, "start,stop,label\n0.%09d,0.%09d,\"b, c\"\n0.%09d,0.%09d\n",
             (int)epochs[1].start_ns, (int)epochs[1].stop_ns, (int)epochs[0].start_ns,
             (int)epochs[0].stop_ns);
    write_file(path, text);
}

static void selections_are_those_of_the_twin(void **state)
{
    (void)state;
    test_random random = test_random_start("selections", 7);
    char *path = test_temporary_path(".csv");
    enum { MOST = 400 };
    for (int round = 0; round < 1500; round++) {
        sf_recording recording = random_recording(&random, 120, MOST);
        bool chosen[16] = {false};
        size_t last = recording.units.count - 1, first = test_random_below(&random, recording.units.count);
        for (size_t i = first; i <= last; i++)
            chosen[i] = true;
        chosen[0] = true;
        char list[64];
        snprintf(list, sizeof list, "e1,#%zu-#%zu", first, last);

        slow_selection slow = {.times = {INT64_MIN, INT64_MAX}};
        sf_selection selection = {0};
        if (test_random_below(&random, 2)) {
            selection.units = list;
            slow.units = chosen;
        }
        if (test_random_below(&random, 2)) {
            slow.times.start_ns = (int64_t)test_random_below(&random, MOST / 2);
            selection.from = (sf_time_point){.given = true, .ns = slow.times.start_ns};
        }
        if (test_random_below(&random, 2)) {
            int64_t origin =
                recording.spike_count > 0 ? recording.spikes[0].time_ns : recording.recorded.start_ns;
            selection.to = (sf_time_point){.given = true, .from_first = true, .ns = MOST};
            selection.to.ns -= (int64_t)test_random_below(&random, MOST / 2);
            slow.times.stop_ns = origin + selection.to.ns;
        }
        int64_t cut = 1 + (int64_t)test_random_below(&random, MOST);
        sf_span epochs[2] = {{cut / 4, cut / 2 + 1}, {cut / 2 + 1, cut + 1}};
        sf_epoch *read = NULL;
        if (test_random_below(&random, 3) == 0) {
            write_epochs(path, epochs);
            assert_int_equal(sf_epochs_read(&read, &selection.epoch_count, path, NULL), SF_OK);
            selection.epochs = read;
            slow.epochs = epochs;
            slow.epoch_count = 2;
        }
        if (test_random_below(&random, 2)) {
            selection.dedup_ns = slow.dedup_ns = 1 + (int64_t)test_random_below(&random, 6);
            selection.dedup_um = slow.dedup_um =
                sf_units_have_geometry(&recording.units) ? (double)test_random_below(&random, 3) * 50 : 0;
        }
        for (size_t i = 0; i < recording.marker_count && round % 2; i++)
            if (strcmp(recording.markers[i].text, "other, one") == 0) {
                selection.blank = slow.blank = "other, one";
                selection.blank_from_ns = slow.blank_from_ns = -10;
                selection.blank_to_ns = slow.blank_to_ns = 20;
            }

        sf_spike kept[120];
        size_t count = slow_select_spikes(kept, &recording, &slow);
        int64_t duration = slow_select_duration(&recording, &slow);
        size_t before = recording.spike_count;
        sf_error error = {0};
        int status = sf_selection_apply(&recording, &selection, &error);
        if (status != SF_OK && strstr(error.text, " the recording, which is from ") != NULL) {
            assert_int_equal(status, SF_USAGE);
            assert_int_equal(count + (size_t)duration, 0);
        } else if (status != SF_OK && selection.from.given && selection.to.given) {
            test_assert_fails(status, &error, SF_USAGE, "is not after --from");
            assert_true(slow.times.start_ns >= slow.times.stop_ns);
        } else {
            if (status != SF_OK) fail_msg("%s: %s", error.place, error.text);
            assert_int_equal(recording.spike_count, count);
            assert_memory_equal(recording.spikes, kept, count * sizeof *kept);
            assert_int_equal(sf_recording_duration_ns(&recording), duration);
            size_t dropped = 0;
            for (size_t i = 0; i < recording.dropped_count; i++)
                dropped += recording.dropped[i].count;
            assert_int_equal(dropped, before - count);
        }
        sf_release(read);
        sf_recording_clear(&recording);
    }
    unlink(path);
    free(path);
}

static sf_recording small_recording(void)
{
    sf_recording recording = {0};
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, i == 3 ? "odd, name" : "%d", i * 2);
        sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN};
        assert_int_equal(sf_units_add(&recording.units, &unit, NULL), SF_OK);
    }
    recording.spikes = sf_alloc(10, sizeof *recording.spikes);
    recording.spike_count = 10;
    for (int i = 0; i < 10; i++)
        recording.spikes[i] = (sf_spike){.time_ns = INT64_C(1000000000) * (i + 5), .unit = (uint32_t)i % 4};
    recording.markers = sf_alloc(3, sizeof *recording.markers);
    recording.marker_count = 3;
    recording.markers[0] = (sf_marker){.time_ns = 7000000000, .kind = SF_MARKER_TTL, .state = 1, .line = 2};
    recording.markers[1] = (sf_marker){.time_ns = 9000000000, .kind = SF_MARKER_TTL, .state = 0, .line = 2};
    recording.markers[2] = (sf_marker){.time_ns = 11000000000, .kind = SF_MARKER_TEXT, .text = "light"};
    assert_int_equal(sf_recording_finish(&recording, NULL), SF_OK);
    return recording;
}

static size_t count_after(const sf_selection *selection)
{
    sf_recording recording = small_recording();
    sf_error error = {0};
    if (sf_selection_apply(&recording, selection, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(recording.units.count, 4);
    size_t count = recording.spike_count;
    sf_recording_clear(&recording);
    return count;
}

#define AT(s) ((sf_time_point){.given = true, .ns = (int64_t)((s)*1e9)})
#define AFTER(s) ((sf_time_point){.given = true, .from_first = true, .ns = (int64_t)((s)*1e9)})

static void bounds_and_names_mean_what_they_say(void **state)
{
    (void)state;
    assert_int_equal(count_after(&(sf_selection){0}), 10);
    assert_int_equal(count_after(&(sf_selection){.from = AT(6), .to = AT(8)}), 2); /* `to` is excluded */
    assert_int_equal(count_after(&(sf_selection){.from = AFTER(1), .to = AFTER(3)}), 2);
    assert_int_equal(count_after(&(sf_selection){.from = AFTER(0)}), 10);
    assert_int_equal(count_after(&(sf_selection){.to = AT(14)}), 9);
    assert_int_equal(count_after(&(sf_selection){.from = AT(13.5), .to = AT(100)}), 1);
    assert_int_equal(count_after(&(sf_selection){.units = "2"}), 3); /* a name, not an index */
    assert_int_equal(count_after(&(sf_selection){.units = "#2"}), 2);
    assert_int_equal(count_after(&(sf_selection){.units = "#0-#1, \"odd, name\",0"}), 8);
    assert_int_equal(
        count_after(&(sf_selection){.blank = "ttl2", .blank_from_ns = -1500000000, .blank_to_ns = 1000000}),
        8);
    assert_int_equal(
        count_after(&(sf_selection){.blank = "light", .blank_from_ns = -1000000, .blank_to_ns = 5000000}), 9);
    assert_int_equal(count_after(&(sf_selection){.dedup_ns = 4000000000}),
                     6); /* a removed spike removes none */
}

static void assert_selection_fails(const sf_selection *selection, sf_status code, const char *place,
                                   const char *words)
{
    sf_recording recording = small_recording();
    sf_error error = {0};
    test_assert_fails(sf_selection_apply(&recording, selection, &error), &error, code, words);
    assert_string_equal(error.place, place);
    sf_recording_clear(&recording);
}

static void wrong_selections_are_refused(void **state)
{
    (void)state;
    static const sf_epoch overlapping[] = {{.span = {0, 9}}, {.span = {8, 10}}}, empty[] = {{.span = {7, 7}}},
                          before[] = {{.span = {0, 9}}, {.span = {9, 10}}};
    assert_selection_fails(&(sf_selection){.units = "7"}, SF_USAGE, "units", "no unit is named '7'");
    assert_selection_fails(&(sf_selection){.units = "2, \"#2\""}, SF_USAGE, "units",
                           "no unit is named \"#2\"");
    assert_selection_fails(&(sf_selection){.units = "1"}, SF_USAGE, "units", "written #1");
    assert_selection_fails(&(sf_selection){.units = "#2-#4"}, SF_USAGE, "units", "no unit has index #4");
    assert_selection_fails(&(sf_selection){.units = "#2-#1"}, SF_USAGE, "units", "ends before it starts");
    assert_selection_fails(&(sf_selection){.units = "0,,2"}, SF_USAGE, "units", "no unit is named ''");
    assert_selection_fails(&(sf_selection){.from = AT(8), .to = AT(8)}, SF_USAGE, "to", "is not after");
    assert_selection_fails(&(sf_selection){.from = AT(100)}, SF_USAGE, "from",
                           "100 s is after the recording, which is from 5 to 14 s");
    assert_selection_fails(&(sf_selection){.from = AT(9000)}, SF_USAGE, "from",
                           "times are in seconds, and 9000 ms are 9 s");
    assert_selection_fails(&(sf_selection){.to = AFTER(-2)}, SF_USAGE, "to", "3 s is before the recording");
    assert_selection_fails(&(sf_selection){.epochs = before, .epoch_count = 2}, SF_USAGE, "epochs",
                           "1e-08 s is before the recording, which is from 5 to 14 s");
    assert_selection_fails(&(sf_selection){.blank = "dark", .blank_from_ns = -1, .blank_to_ns = 1}, SF_USAGE,
                           "blank", "no marker 'dark' among its 3");
    assert_selection_fails(&(sf_selection){.blank = "light", .blank_from_ns = 1, .blank_to_ns = 1}, SF_USAGE,
                           "blank", "the first before the second");
    assert_selection_fails(&(sf_selection){.epochs = overlapping, .epoch_count = 2}, SF_USAGE, "epochs",
                           "overlap");
    assert_selection_fails(&(sf_selection){.epochs = empty, .epoch_count = 1}, SF_USAGE, "epochs", "empty");
    assert_selection_fails(&(sf_selection){.dedup_ns = 1, .dedup_um = 1}, SF_DATA, "dedup", "no positions");
}

static void epochs_files_are_checked(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"", "the file is empty"},
        {"start,stop,label\n", "no epochs"},
        {"1\n", "line 1: expected start,stop,label"},
        {"1,2\n3,3\n",
         "line 2: expected start,stop,label in seconds, the start before the stop, found '3,3'"},
        {"1,2,a,b\n", "line 1: expected"},
        {"+1,+2,a\n", "line 1: expected"},
        {"1,2\nfive,six\n", "line 2: expected"},
        {"4,6,a\n\n1,5,b\n", "the epochs that start at 1 s and 4 s overlap"},
    };
    char *path = test_temporary_path(".csv");
    sf_epoch *epochs;
    size_t count;
    sf_error error = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_file(path, bad[i][0]);
        test_assert_fails(sf_epochs_read(&epochs, &count, path, &error), &error, SF_DATA, bad[i][1]);
        assert_null(epochs);
    }
    write_file(path, "start,stop,label\n 3.5 , 4,\"second, quoted\"\n\n-1,3.5\r\n");
    assert_int_equal(sf_epochs_read(&epochs, &count, path, &error), SF_OK);
    assert_int_equal(count, 2);
    assert_true(epochs[0].span.start_ns == -1000000000 && epochs[1].span.start_ns == 3500000000);
    assert_string_equal(epochs[0].label, "");
    assert_string_equal(epochs[1].label, "second, quoted");
    sf_free(epochs);
    write_file(path, "start_ms,stop_ms,label\n3500,4000,a\n");
    assert_int_equal(sf_epochs_read(&epochs, &count, path, &error), SF_OK);
    assert_true(epochs[0].span.start_ns == 3500000000 && epochs[0].span.stop_ns == 4000000000);
    sf_free(epochs);
    write_file(path, "start,stop_min,label\n1,2,a\n");
    test_assert_fails(sf_epochs_read(&epochs, &count, path, &error), &error, SF_DATA,
                      "its unit of time is not read");
    unlink(path);
    test_assert_fails(sf_epochs_read(&epochs, &count, path, &error), &error, SF_NO_INPUT, "No such file");
    free(path);
}

/* What is told of a selection is what was cut: by index and name, in the recording's own time. */
static void a_selection_is_told(void **state)
{
    (void)state;
    sf_recording recording = small_recording();
    sf_error error = {0};
    const sf_selection selection = {.units = "\"odd, name\",#1",
                                    .from = AFTER(1),
                                    .to = AT(13),
                                    .blank = "light",
                                    .blank_from_ns = -1000000,
                                    .blank_to_ns = 1000000};
    if (sf_selection_apply(&recording, &selection, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    const sf_selected told = *recording.selected;
    assert_int_equal(told.unit_count, 2);
    assert_int_equal(told.units_in_file, 4);
    assert_int_equal(told.units[0], 1);
    assert_string_equal(told.names[0], "2");
    assert_int_equal(told.units[1], 3);
    assert_string_equal(told.names[1], "odd, name");
    assert_true(told.from_given && told.to_given);
    assert_int_equal(told.from_ns, 6000000000); /* the first spike is at 5 s */
    assert_int_equal(told.to_ns, 13000000000);
    assert_string_equal(told.marker, "light");
    assert_int_equal(told.blank_from_ns, -1000000);
    assert_int_equal(told.spikes, recording.spike_count);
    assert_int_equal(told.spikes_in_file, 10);
    assert_true(told.data == sf_recording_hash(&recording));
    sf_text words = {0};
    sf_provenance_words(&words, &(sf_provenance){.selected = told});
    assert_non_null(strstr(words.data, "of 2 of 4 units (2, odd, name) in "));
    assert_non_null(strstr(words.data, ", without -1 to 1 ms around each marker light, from 6 to 13 s"));
    sf_text_free(&words);
    sf_recording_clear(&recording);
}

/* Duplicates are removed before units and times are chosen, so their number is told as one of the whole
 * recording. */
static void duplicates_are_told_of_the_recording(void **state)
{
    (void)state;
    sf_recording recording = small_recording();
    sf_error error = {0};
    const sf_selection selection = {.units = "#0", .to = AT(6), .dedup_ns = 4000000000};
    if (sf_selection_apply(&recording, &selection, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    sf_text words = {0};
    const sf_selected told = *recording.selected;
    sf_provenance_words(&words, &(sf_provenance){.selected = told});
    assert_int_equal(told.spikes, 1);
    assert_non_null(strstr(words.data, "1 spikes of 1 of 4 units (0) in "));
    assert_non_null(strstr(words.data, ", less 4 duplicates of the recording's 10 spikes (at most 4000 ms "));
    sf_text_free(&words);
    sf_recording_clear(&recording);
}

/* What the run that recorded it tells of is not what the reader left out. */
static void what_is_lost_is_told_apart_from_what_is_left_out(void **state)
{
    (void)state;
    const sf_drop drops[] = {
        {"noise", SF_DROP_FOUND, 3}, {"late", SF_DROP_LOST, 5}, {"blank", SF_DROP_CHOSEN, 7}};
    sf_provenance provenance = {.of_recording = true};
    for (size_t i = 0; i < 3; i++)
        provenance.selected.dropped[provenance.selected.dropped_count++] = drops[i];
    sf_text text = {0};
    sf_provenance_print(&text, &provenance);
    assert_non_null(strstr(text.data, "\"left_out\":[{\"cause\":\"noise\",\"spikes\":3},"
                                      "{\"cause\":\"blank\",\"spikes\":7}],"
                                      "\"lost\":[{\"cause\":\"late\",\"spikes\":5}]"));
    sf_text_free(&text);
}

static int select_and_free(void *context)
{
    sf_recording recording = {0};
    sf_unit unit = {.x_um = 1};
    sf_error error;
    int status = sf_units_add(&recording.units, &unit, &error);
    if (status == SF_OK) {
        recording.spikes = sf_alloc(2, sizeof *recording.spikes);
        recording.markers = sf_alloc(1, sizeof *recording.markers);
        status = recording.spikes != NULL && recording.markers != NULL ? SF_OK : SF_NO_MEMORY;
    }
    if (status == SF_OK) {
        recording.spike_count = 2;
        recording.marker_count = 1;
        recording.spikes[1].time_ns = 10;
        recording.markers[0] = (sf_marker){.kind = SF_MARKER_TEXT, .text = ","};
        status = sf_recording_finish(&recording, &error);
    }
    const sf_epoch epochs[] = {{.span = {0, 1000000000}}, {.span = {2000000000, 3000000000}}};
    sf_selection selection = {.units = "e1",
                              .blank = ",",
                              .blank_from_ns = 1,
                              .blank_to_ns = 2,
                              .epochs = epochs,
                              .epoch_count = 2,
                              .epochs_path = context,
                              .dedup_ns = 1};
    selection.from.given = true;
    if (status == SF_OK) status = sf_selection_apply(&recording, &selection, &error);
    sf_overview *overview = NULL;
    if (status == SF_OK) status = sf_recording_overview(&overview, &recording, NULL, &error);
    sf_overview_free(overview);
    sf_recording_clear(&recording);
    return status;
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    char *path = test_temporary_path(".csv");
    write_file(path, "0,1\n2,3\n");
    test_fail_every_allocation(select_and_free, path);
    unlink(path);
    free(path);
}

/* NaN is equal to NaN here. */
static void assert_same(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static void overviews_are_those_of_the_twin(void **state)
{
    (void)state;
    test_random random = test_random_start("overviews", 21);
    for (int round = 0; round < 600; round++) {
        /* From nearly simultaneous to a spike in several refractory periods. */
        int64_t most = INT64_C(1) << (4 + test_random_below(&random, 25));
        sf_recording recording = random_recording(&random, 100, most);
        recording.declared = false;
        if (recording.spike_count > 0)
            recording.recorded = (sf_span){recording.spikes[0].time_ns,
                                           recording.spikes[recording.spike_count - 1].time_ns + 1};
        sf_free(recording.observed);
        recording.observed = NULL;
        recording.observed_count = 0;
        sf_overview_columns slow, fast = {.size = sizeof fast};
        sf_overview *overview;
        slow_overview(&slow, &recording);
        assert_int_equal(sf_recording_overview(&overview, &recording, NULL, NULL), SF_OK);
        sf_overview_get_columns(overview, &fast);
        assert_int_equal(fast.first_ns, slow.first_ns);
        assert_int_equal(fast.last_ns, slow.last_ns);
        if (recording.spike_count > 0) assert_int_equal(fast.duration_ns, slow.duration_ns);
        assert_int_equal(fast.tick_ns, recording.tick_ns);
        assert_int_equal(fast.intervals, slow.intervals);
        assert_int_equal(fast.short_intervals, slow.short_intervals);
        assert_int_equal(fast.repeats, slow.repeats);
        assert_int_equal(fast.neighbour_repeats, slow.neighbour_repeats);
        assert_int_equal(fast.array_events, slow.array_events);
        assert_int_equal(fast.active_units, slow.active_units);
        assert_int_equal(fast.electrodes, slow.electrodes);
        assert_same(fast.pitch_um, slow.pitch_um);
        for (int i = 0; i < 2; i++) {
            assert_same(fast.x_um[i], slow.x_um[i]);
            assert_same(fast.y_um[i], slow.y_um[i]);
        }
        sf_overview_free(overview);
        sf_recording_clear(&recording);
    }
}

static bool stop_at_once(void *user, const char *what, double done, double total)
{
    (void)user;
    (void)what;
    (void)done;
    (void)total;
    return false;
}

static void an_overview_is_cancelled(void **state)
{
    (void)state;
    sf_recording recording = small_recording();
    const sf_progress progress = {.update = stop_at_once};
    sf_overview *overview;
    sf_error error;
    test_assert_fails(sf_recording_overview(&overview, &recording, &progress, &error), &error, SF_CANCELLED,
                      NULL);
    assert_null(overview);
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selections_are_those_of_the_twin),
        cmocka_unit_test(bounds_and_names_mean_what_they_say),
        cmocka_unit_test(wrong_selections_are_refused),
        cmocka_unit_test(epochs_files_are_checked),
        cmocka_unit_test(a_selection_is_told),
        cmocka_unit_test(duplicates_are_told_of_the_recording),
        cmocka_unit_test(what_is_lost_is_told_apart_from_what_is_left_out),
        cmocka_unit_test(no_failed_allocation_leaks),
        cmocka_unit_test(overviews_are_those_of_the_twin),
        cmocka_unit_test(an_overview_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
