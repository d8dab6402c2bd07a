/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the real recordings comes out of them. */
#include "support/support.h"

#include "replay/recording_file.h"

#include <math.h>

typedef struct facts {
    const char *file, *format, *kind;
    size_t units, spikes;
    int64_t first_ns, last_ns, tick_ns;
    size_t electrodes; /* 0: no geometry */
    const char *metadata[2];
} facts;

#define NO_HEADING "CSV: units of column 1, times of column 2 in s, as no unit of time is named"

/* First and last spikes, counts, and where known the grid of times. tick_ns 0: not checked. */
static const facts known[] = {
    {"recordings/Demas2003_P9_CTRL_MY1_1A.h5",
     "CARMEN",
     "sorted",
     26,
     26911,
     21440700000,
     3573704800000,
     50000,
     23,
     {"age", "9"}},
    {"recordings/Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5",
     "CARMEN",
     "sorted",
     110,
     176940,
     3600022000000,
     7191554800000,
     50000,
     90,
     {"species", "mouse"}},
    {"recordings/Stafford2009_WT_37C_Dorsal_2008-10-11-0.h5",
     "CARMEN",
     "sorted",
     477,
     864412,
     508800000,
     7197260550000,
     50000,
     183,
     {"source", "Stafford2009"}},
    {"recordings/Maccione2014_P9_m1r2_bursts_filtered.h5",
     "CARMEN",
     "unknown",
     794,
     134771,
     3245910,
     1799865749156,
     129836,
     794,
     {"array", "APS_64x64_42um"}},
    {"recordings/Hennig2011_spikes_P5_Bic_10uM_16_Mar_2010_bic_day2.h5",
     "CARMEN",
     "unknown",
     57,
     339880,
     2500000,
     10802400100000,
     100000,
     57,
     {"condition", "bic"}}, /* scalar strings */
    {"recordings/Torborg2004_2001-10-22-0.h5",
     "CARMEN",
     "unknown",
     7,
     1781,
     2996300000,
     1215593550000,
     50000,
     7,
     {"condition", "2.88 microM FPL"}}, /* integer positions */
    {"recordings/Kirkby2013_02_B2KO_P5.h5",
     "CARMEN",
     "unknown",
     32,
     667,
     13815000000,
     1973800000000,
     10000000,
     32,
     {"genotype", "Beta2 KO"}}, /* no names, repeated times */
    {"recordings/Wong1993_P0.h5",
     "CARMEN",
     "sorted",
     39,
     13336,
     2799600000,
     1055615300000,
     50000,
     32,
     {"species", "ferret"}},
    {"recordings/mcs_2014-07-09_W8_standard_all_500Hz.h5",
     "MCS DataManager",
     "multi-unit",
     8,
     224,
     942000000,
     17700000000,
     2000000,
     0,
     {"array", "Linear8"}},
    {"recordings/pynapple_A8604-211122.nwb",
     "NWB 2.4.0 units",
     "sorted",
     3,
     21354,
     28133000,
     1087352833000,
     0,
     0,
     {"identifier", "A8604-211122"}},
    {"episodes/sample_stream.csv",
     NO_HEADING,
     "unknown",
     25,
     11272,
     1131454,
     19998906287,
     0,
     0,
     {NULL, NULL}},
    {"episodes/sim-64-size20.csv", NO_HEADING, "unknown", 64, 65428, 106518, 19999451676, 0, 0, {NULL, NULL}},
};

static sf_overview_columns overview_of(sf_overview **made, const sf_recording *recording)
{
    sf_overview_columns overview = {.size = sizeof overview};
    assert_int_equal(sf_recording_overview(made, recording, NULL, NULL), SF_OK);
    sf_overview_get_columns(*made, &overview);
    return overview;
}

static void assert_facts(const facts *expected, const sf_recording *recording)
{
    sf_overview *made;
    sf_overview_columns overview = overview_of(&made, recording);
    assert_string_equal(recording->format, expected->format);
    assert_string_equal(overview.kind, expected->kind);
    assert_int_equal(recording->units.count, expected->units);
    assert_int_equal(recording->spike_count, expected->spikes);
    assert_int_equal(overview.first_ns, expected->first_ns);
    assert_int_equal(overview.last_ns, expected->last_ns);
    if (!recording->declared) assert_int_equal(overview.duration_ns, expected->last_ns - expected->first_ns);
    assert_int_equal(overview.electrodes, expected->electrodes);
    assert_int_equal(sf_units_have_geometry(&recording->units), expected->electrodes > 0);
    if (expected->tick_ns > 0) assert_int_equal(overview.tick_ns, expected->tick_ns);
    if (expected->metadata[0] != NULL)
        assert_string_equal(test_metadata(recording, expected->metadata[0]), expected->metadata[1]);
    for (size_t i = 1; i < recording->spike_count; i++) {
        const sf_spike *a = &recording->spikes[i - 1], *b = &recording->spikes[i];
        assert_true(a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->unit <= b->unit));
    }
    sf_overview_free(made);
}

static void the_known_facts_come_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char *path = test_data_path(known[i].file);
        if (path == NULL) skip();
        sf_recording recording;
        sf_error error = {0};
        if (sf_recording_read(&recording, path, NULL, NULL, &error) != SF_OK) fail_msg("%s", error.text);
        assert_facts(&known[i], &recording);
        sf_recording_clear(&recording);
        free(path);
    }
}

/* 14.9 % of the spikes on the 4,096-electrode array follow one on an adjacent electrode within 0.25 ms; half
 * of the repeated times of the coarse text export are within one train. */
static void duplicates_are_counted(void **state)
{
    (void)state;
    sf_recording recording;
    sf_overview *made;
    sf_overview_columns overview;
    char *path = test_data_path(known[3].file);
    if (path == NULL) skip();
    assert_int_equal(sf_recording_read(&recording, path, NULL, NULL, NULL), SF_OK);
    overview = overview_of(&made, &recording);
    double share = (double)overview.neighbour_repeats / (double)recording.spike_count;
    assert_true(share > 0.1485 && share < 0.1495);
    assert_true(fabs(overview.pitch_um - 42) < 1e-9);
    sf_overview_free(made);
    sf_recording_clear(&recording);
    free(path);

    path = test_data_path(known[6].file);
    assert_int_equal(sf_recording_read(&recording, path, NULL, NULL, NULL), SF_OK);
    overview = overview_of(&made, &recording);
    assert_int_equal(overview.repeats, 63);
    assert_int_equal(overview.array_events, 4);
    sf_overview_free(made);
    sf_recording_clear(&recording);
    free(path);
}

/* Of the wells of a plate one is read; what lies outside its frames and its map is left out and counted. */
static void a_well_of_a_plate_is_read(void **state)
{
    (void)state;
    char *path = test_data_path("recordings/probeinterface_maxtwo_data.raw.h5");
    if (path == NULL) skip();
    sf_recording recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&recording, path, NULL, NULL, &error), &error, SF_USAGE,
                      "there are 12 recordings; choose one with --stream: well000/rec0000 (12 spikes)");
    assert_int_equal(
        sf_recording_read(&recording, path, &(sf_reading){.stream = "well001/rec0000"}, NULL, NULL), SF_OK);
    assert_int_equal(recording.units.count, 16);
    assert_int_equal(recording.spike_count, 55);
    assert_int_equal(recording.dropped[0].count, 125);
    assert_int_equal(recording.dropped[1].count, 4);
    assert_int_equal(recording.spikes[0].time_ns, 249100000);
    assert_string_equal(recording.units.items[0].well, "well001");
    sf_recording_clear(&recording);
    free(path);
}

/* Files of known layouts without spikes say so. */
static void files_without_spikes_are_refused(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"recordings/truncated_bxr.bxr",
         "no spike times: this is a 3Brain BXR file without /3BResults/3BChEvents"},
        {"recordings/pynwb_2.6.0_DynamicTableElectrodes.nwb",
         "no spike times: this NWB file has no Units table"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = test_data_path(files[i][0]);
        if (path == NULL) skip();
        sf_recording recording;
        sf_error error = {0};
        test_assert_fails(sf_recording_read(&recording, path, NULL, NULL, &error), &error, SF_DATA,
                          files[i][1]);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_known_facts_come_out),
        cmocka_unit_test(duplicates_are_counted),
        cmocka_unit_test(a_well_of_a_plate_is_read),
        cmocka_unit_test(files_without_spikes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
