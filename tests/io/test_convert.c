/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings in every layout that is written come back as they were, as far as the layout has a place for it.
 */
#include "support/folders.h"
#include "support/recordings.h"
#include "support/support.h"
#include "support/systems.h"

#include "core/memory.h"
#include "io/hdf.h"
#include "replay/convert.h"
#include "replay/recording_file.h"

#include <math.h>
#include <unistd.h>

static const char *const layouts[] = {"synfire", "nwb", "carmen", "csv"};
enum { SYNFIRE, NWB, CARMEN, CSV, LAYOUTS };

/* Everything that recordings have, with odd names and times on both sides of a second. */
static sf_recording make_whole(bool negative)
{
    static const struct {
        const char *name, *well;
        double x, y;
        sf_unit_kind kind;
        int32_t electrode;
    } units[] = {{"a, \"b\"", "A1", 10, 20, SF_UNIT_SORTED, 7},
                 {"b\xc3\xa9 2", "A1", 30.25, -20, SF_UNIT_MULTI_UNIT, -1},
                 {"c", NULL, 1e-3, 0, SF_UNIT_NOISE, 0},
                 {"d silent", NULL, 40, 50, SF_UNIT_UNKNOWN, 3}};
    static const int64_t times[] = {-1500000001, 1, 500000000, 500000000, 1234567891, 7200000000001};
    static const uint32_t of[] = {0, 2, 0, 1, 1, 0};
    sf_recording recording = {.declared = true, .recorded = {-2000000000, 7300000000000}};
    for (size_t u = 0; u < 4; u++) {
        const sf_unit unit = {.name = units[u].name,
                              .well = units[u].well,
                              .x_um = units[u].x,
                              .y_um = units[u].y,
                              .kind = units[u].kind,
                              .electrode = units[u].electrode};
        assert_int_equal(sf_units_add(&recording.units, &unit, NULL), SF_OK);
    }
    recording.spikes = sf_alloc(6, sizeof *recording.spikes);
    for (size_t i = negative ? 0 : 1; i < 6; i++)
        recording.spikes[recording.spike_count++] =
            (sf_spike){.time_ns = times[i], .unit = of[i], .amplitude = i == 2 ? -3.5f : NAN};
    if (!negative) recording.recorded.start_ns = 0;
    assert_int_equal(sf_recording_set_metadata(&recording, "species", "mouse", NULL), SF_OK);
    assert_int_equal(sf_recording_set_metadata(&recording, "condition", "dark", NULL), SF_OK);
    recording.markers = sf_alloc(1, sizeof *recording.markers);
    recording.markers[0] = (sf_marker){.time_ns = 5, .kind = SF_MARKER_TEXT, .text = "light"};
    recording.marker_count = 1;
    assert_int_equal(sf_recording_finish(&recording, NULL), SF_OK);
    return recording;
}

static uint32_t same_unit(const sf_recording *back, const sf_recording *recording, uint32_t unit)
{
    uint32_t found = sf_units_find(&back->units, recording->units.items[unit].name);
    assert_int_not_equal(found, SF_NO_UNIT);
    return found;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* Spikes, by names of units: at equal times units may stand in another order. */
static void assert_same_spikes(const sf_recording *back, const sf_recording *recording)
{
    assert_int_equal(back->spike_count, recording->spike_count);
    uint32_t *units = sf_alloc(recording->units.count, sizeof *units);
    for (uint32_t u = 0; u < recording->units.count; u++)
        units[u] = sf_units_find(&back->units, recording->units.items[u].name);
    size_t i = 0;
    while (i < recording->spike_count) {
        size_t end = i;
        uint64_t sum = 0, back_sum = 0;
        while (end < recording->spike_count &&
               recording->spikes[end].time_ns == recording->spikes[i].time_ns) {
            assert_int_equal(back->spikes[end].time_ns, recording->spikes[end].time_ns);
            sum += units[recording->spikes[end].unit] * UINT64_C(0x9e3779b97f4a7c15) >> 16;
            back_sum += back->spikes[end].unit * UINT64_C(0x9e3779b97f4a7c15) >> 16;
            end++;
        }
        assert_true(sum == back_sum);
        i = end;
    }
    sf_free(units);
}

static void assert_same_units(const sf_recording *back, const sf_recording *recording, int layout)
{
    assert_int_equal(back->units.count, recording->units.count);
    for (uint32_t u = 0; u < recording->units.count; u++) {
        const sf_unit *unit = &recording->units.items[u],
                      *other = &back->units.items[same_unit(back, recording, u)];
        if (!same(unit->x_um, other->x_um) || !same(unit->y_um, other->y_um))
            fail_msg("%s is at %g, %g and comes back at %g, %g", unit->name, unit->x_um, unit->y_um,
                     other->x_um, other->y_um);
        if (layout == CARMEN) continue;
        assert_int_equal(other->kind, unit->kind);
        assert_int_equal(other->electrode, unit->electrode);
    }
}

/* What comes back; the words of what does not are checked. */
static sf_recording send_round(const sf_recording *recording, int layout, const char *path,
                               const char *lost_words)
{
    const sf_conversion *to;
    sf_text lost;
    sf_error error = {0};
    sf_recording back;
    unlink(path);
    assert_int_equal(sf_conversion_find(&to, layouts[layout], path, &error), SF_OK);
    if (sf_recording_convert(recording, path, to, "{}", &lost, &error) != SF_OK)
        fail_msg("%s: %s", layouts[layout], error.text);
    if (lost_words != NULL) assert_string_equal(lost.data != NULL ? lost.data : "", lost_words);
    sf_text_free(&lost);
    if (sf_recording_read(&back, path, NULL, NULL, &error) != SF_OK)
        fail_msg("%s: %s", layouts[layout], error.text);
    return back;
}

static void all_comes_back(void **state)
{
    (void)state;
    static const char *const lost[] = {
        "", "2 wells of units, 1 amplitudes, 1 markers, 2 entries of metadata",
        "3 kinds, 3 electrodes' numbers, 2 wells of units, 1 amplitudes, 1 markers",
        "1 units without spikes, 4 positions, 3 kinds, 3 electrodes' numbers, 2 wells of units, 1 "
        "amplitudes, 1 markers, 2 "
        "entries of metadata, 1 declared recorded span"};
    char *path = test_temporary_path(".bin");
    for (int layout = 0; layout < LAYOUTS; layout++) {
        bool negative = layout == SYNFIRE || layout == NWB;
        sf_recording recording = make_whole(negative),
                     back = send_round(&recording, layout, path, lost[layout]);
        assert_same_spikes(&back, &recording);
        if (layout != CSV) {
            assert_same_units(&back, &recording, layout);
            assert_true(back.declared && back.recorded.start_ns == recording.recorded.start_ns &&
                        back.recorded.stop_ns == recording.recorded.stop_ns);
        }
        if (layout == SYNFIRE || layout == CARMEN) {
            assert_string_equal(test_metadata(&back, "species"), "mouse");
            assert_string_equal(test_metadata(&back, "condition"), "dark");
        }
        if (layout == SYNFIRE) {
            assert_int_equal(back.marker_count, 1);
            assert_string_equal(back.markers[0].text, "light");
            assert_string_equal(back.units.items[0].well, "A1");
            assert_true(back.spikes[2].amplitude == -3.5f);
        }
        sf_recording_clear(&back);
        sf_recording_clear(&recording);
    }
    unlink(path);
    free(path);
}

/* Seconds in layouts that have them hold the nanosecond, or the file is not written. */
static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    char *path = test_temporary_path(".bin");
    sf_recording recording = make_whole(true);
    sf_text lost;
    sf_error error;
    test_assert_fails(sf_recording_convert(&recording, path, &sf_convert_csv, NULL, &lost, &error), &error,
                      SF_USAGE, "no times before 0, and the first spike is at -1.5 s");
    recording.spikes[5].time_ns = (INT64_C(1) << 62) - 1;
    test_assert_fails(sf_recording_convert(&recording, path, &sf_convert_nwb, NULL, &lost, &error), &error,
                      SF_USAGE, "do not hold to the nanosecond");
    assert_int_equal(access(path, F_OK), -1);
    sf_recording_clear(&recording);

    recording = make_whole(false);
    const sf_conversion *to;
    test_assert_fails(sf_conversion_find(&to, NULL, "x.dat", &error), &error, SF_USAGE,
                      "its name does not say a layout");
    test_assert_fails(sf_conversion_find(&to, "phy", "x.h5", &error), &error, SF_USAGE,
                      "found 'phy', expected synfire");
    sf_recording back = send_round(&recording, CARMEN, path, NULL);
    sf_recording_clear(&back);
    test_assert_fails(sf_recording_convert(&recording, path, &sf_convert_nwb, NULL, &lost, &error), &error,
                      SF_CANNOT_CREATE, "but a recording, which is not replaced");
    sf_recording_clear(&recording);
    unlink(path);
    free(path);
}

static void real_recordings_come_back(void **state)
{
    (void)state;
    static const char *const files[] = {"recordings/Demas2003_P9_CTRL_MY1_1A.h5",
                                        "recordings/Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5",
                                        "recordings/Maccione2014_P9_m1r2_bursts_filtered.h5",
                                        "recordings/Torborg2004_2001-10-22-0.h5",
                                        "recordings/Kirkby2013_02_B2KO_P5.h5",
                                        "recordings/Wong1993_P0.h5",
                                        "recordings/pynapple_A8604-211122.nwb",
                                        "recordings/mcs_2014-07-09_W8_standard_all_500Hz.h5"};
    char *path = test_temporary_path(".bin");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sf_recording recording;
        if (!test_load_recording(&recording, files[i])) {
            free(path);
            skip();
        }
        for (int layout = 0; layout < LAYOUTS; layout++) {
            sf_recording back = send_round(&recording, layout, path, NULL);
            assert_same_spikes(&back, &recording);
            if (layout == SYNFIRE || layout == CARMEN) assert_same_units(&back, &recording, layout);
            sf_recording_clear(&back);
        }
        sf_recording_clear(&recording);
    }
    unlink(path);
    free(path);
}

static int write_all(void *context)
{
    const sf_recording *recording = context;
    sf_text lost = {0};
    sf_error error;
    char *path = test_temporary_path(".bin");
    int status = SF_OK;
    for (int layout = 0; status == SF_OK && layout < LAYOUTS; layout++) {
        const sf_conversion *to;
        unlink(path);
        status = sf_conversion_find(&to, layouts[layout], path, &error);
        if (status == SF_OK) status = sf_recording_convert(recording, path, to, NULL, &lost, &error);
        sf_text_free(&lost);
    }
    unlink(path);
    free(path);
    return status == SF_IO ? SF_NO_MEMORY : status; /* of what could not be made nothing is written */
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    sf_recording recording = make_whole(false);
    test_fail_every_allocation(write_all, &recording);
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_comes_back),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(real_recordings_come_back),
        cmocka_unit_test(no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
