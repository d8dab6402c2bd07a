/* SPDX-License-Identifier: Apache-2.0 */
/* Files as recording systems and sorters write them, made here: the same spikes come out of each, and what is
 * damaged in them is said. */
#include "support/recordings.h"
#include "support/support.h"
#include "support/systems.h"

#include "core/memory.h"
#include "io/hdf.h"
#include "replay/reader.h"
#include "replay/recording_file.h"
#include "support/read_hdf5.h"

#include <math.h>
#include <unistd.h>

static char *path;

static int make_path(void **state)
{
    (void)state;
    sf_hdf_begin();
    path = test_temporary_path(".bin"); /* the name tells nothing */
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    free(path);
    return 0;
}

typedef struct layout {
    void (*fill)(hid_t file);
    const char *stream, *format;
    const char *names[3];    /* of what spikes at 0.5, 1.25, 3; at 0.5, 2; at 0.1 s */
    double x_um[3], y_um[3]; /* NaN: none */
    sf_unit_kind kinds[3];
    double stop_s; /* of recorded time from 0 on, as the file says; 0: it does not */
    const char *well;
    uint64_t dropped[2];
    size_t markers;
} layout;

#define S SF_UNIT_SORTED
#define M SF_UNIT_MULTI_UNIT
#define N SF_UNIT_NOISE

static const layout layouts[] = {
    {test_fill_maxwell_old,
     NULL,
     "MaxWell 20160704",
     {"441", "220", "0"},
     {17.5, 0, 0},
     {35, 17.5, 0},
     {M, M, M},
     0,
     NULL,
     {1, 1},
     0},
    {test_fill_maxwell_new,
     "well000/rec0000",
     "MaxWell 20190530",
     {"441", "220", "0"},
     {17.5, 0, 0},
     {35, 17.5, 0},
     {M, M, M},
     5,
     "well000",
     {1, 1},
     0},
    {test_fill_bxr_2,
     NULL,
     "3Brain BXR 2",
     {"Ch2.2", "Ch2.7", "Ch2.2:2"},
     {42, 252, 42},
     {42, 42, 42},
     {M, M, S},
     4,
     NULL,
     {0},
     2},
    {test_fill_bxr_3,
     "A1",
     "3Brain BXR 3",
     {"Ch1.1", "Ch1.2", "Ch1.3"},
     {0, 60, 120},
     {0, 0, 0},
     {M, M, M},
     4,
     "A1",
     {0},
     0},
    {test_fill_mcs,
     NULL,
     "MCS DataManager",
     {"E8", "12", "C3"},
     {800, 0, 400},
     {1400, 200, 400},
     {M, M, M},
     4,
     NULL,
     {0},
     3},
    {test_fill_mcs_cmos,
     NULL,
     "MCS CMOS-MEA",
     {"12", "66", "700"},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {M, M, M},
     0,
     NULL,
     {0},
     0},
    {test_fill_kwik,
     "0",
     "Kwik",
     {"2", "5", "9"},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {S, M, N},
     0,
     NULL,
     {0},
     0},
    {test_fill_herding_spikes,
     NULL,
     "HerdingSpikes 2",
     {"0", "1", "2"},
     {10, 52, 94},
     {20, 20, 62},
     {S, S, S},
     0,
     NULL,
     {0},
     0},
    {test_fill_cortical,
     NULL,
     "Cortical Labs CL1, version SDK",
     {"0", "1", "2"},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {M, M, M},
     4,
     NULL,
     {0},
     6},
    {test_fill_nwb_events,
     NULL,
     "NWB 2.5.0 spike events",
     {"node-101.stream.A", "node-101.stream.B", "node-101.stream.C"},
     {50, 100, 75},
     {5, 5, 5},
     {M, M, M},
     0,
     NULL,
     {0},
     3},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static void make(void (*fill)(hid_t file))
{
    hid_t file = test_hdf_create(path);
    fill(file);
    test_hdf_close(file);
}

static sf_recording read_good(const char *stream, double rate_hz)
{
    sf_recording recording;
    sf_error error = {0};
    if (sf_recording_read(&recording, path, &(sf_reading){.stream = stream, .rate_hz = rate_hz}, NULL,
                          &error) != SF_OK)
        fail_msg("%s", error.text);
    return recording;
}

static void check_spikes(const sf_recording *recording, const layout *expected)
{
    static const struct {
        int64_t ns;
        int unit;
    } spikes[] = {{100000000, 2},  {500000000, 0},  {500000000, 1},
                  {1250000000, 0}, {2000000000, 1}, {3000000000, 0}};
    bool kwik = expected->fill == test_fill_kwik; /* whose samples have 256ths */
    uint32_t units[3];
    assert_int_equal(recording->spike_count, 6);
    for (int i = 0; i < 3; i++) {
        units[i] = sf_units_find(&recording->units, expected->names[i]);
        assert_int_not_equal(units[i], SF_NO_UNIT);
    }
    for (int i = 0; i < 6; i++) {
        int64_t part = kwik && i == 2 ? 25000 : kwik && i == 5 ? 49805 : 0;
        size_t found = 0;
        while (found < 6 && (recording->spikes[found].time_ns != spikes[i].ns + part ||
                             recording->spikes[found].unit != units[spikes[i].unit]))
            found++;
        if (found == 6)
            fail_msg("%s: no spike of %s at %lld ns", expected->format, expected->names[spikes[i].unit],
                     (long long)spikes[i].ns);
    }
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) < 1e-9;
}

static void check_units(const sf_recording *recording, const layout *expected)
{
    assert_int_equal(recording->units.count, 3);
    for (int i = 0; i < 3; i++) {
        const sf_unit *unit = &recording->units.items[sf_units_find(&recording->units, expected->names[i])];
        if (!same(expected->x_um[i], unit->x_um) || !same(expected->y_um[i], unit->y_um))
            fail_msg("%s: %s is at %g, %g", expected->format, unit->name, unit->x_um, unit->y_um);
        assert_int_equal(unit->kind, expected->kinds[i]);
        assert_true(expected->well == NULL ? unit->well == NULL
                                           : unit->well != NULL && strcmp(unit->well, expected->well) == 0);
    }
}

static void the_same_spikes_are_in_all(void **state)
{
    (void)state;
    for (int i = 0; i < LAYOUTS; i++) {
        const layout *expected = &layouts[i];
        make(expected->fill);
        sf_recording recording = read_good(expected->stream, 0);
        assert_string_equal(recording.format, expected->format);
        check_spikes(&recording, expected);
        check_units(&recording, expected);
        assert_int_equal(recording.declared, expected->stop_s > 0);
        if (recording.declared)
            assert_int_equal(recording.recorded.stop_ns, (int64_t)(expected->stop_s * 1e9));
        size_t causes = expected->dropped[1] > 0 ? 2 : 0;
        assert_int_equal(recording.dropped_count, causes);
        for (size_t k = 0; k < causes; k++)
            assert_int_equal(recording.dropped[k].count, expected->dropped[k]);
        assert_int_equal(recording.marker_count, expected->markers);
        sf_recording_clear(&recording);
    }
}

static void assert_marker(const sf_recording *recording, size_t i, int64_t time_ns, const char *text)
{
    assert_int_equal(recording->markers[i].time_ns, time_ns);
    assert_string_equal(recording->markers[i].text, text);
}

static void markers_are_read(void **state)
{
    (void)state;
    make(test_fill_bxr_2);
    sf_recording recording = read_good(NULL, 0);
    assert_marker(&recording, 0, 1000000000, "light");
    assert_marker(&recording, 1, 1500000000, "light end");
    sf_recording_clear(&recording);
    make(test_fill_mcs);
    recording = read_good(NULL, 0);
    assert_marker(&recording, 0, 1000000000, "event 0");
    assert_marker(&recording, 1, 2000000000, "event 0");
    assert_marker(&recording, 2, 2250000000, "event 0 end");
    sf_recording_clear(&recording);
    make(test_fill_cortical);
    recording = read_good(NULL, 0);
    static const char *const stims[] = {"stim", "stim 0", "stim 2"};
    for (size_t i = 0; i < 3; i++) { /* of one time, in any order */
        size_t found = 0;
        for (size_t k = 0; k < 3; k++)
            found += recording.markers[k].time_ns == 1000000000 &&
                     strcmp(recording.markers[k].text, stims[i]) == 0;
        assert_int_equal(found, 1);
    }
    assert_int_equal(recording.markers[3].time_ns, 2000000000);
    assert_marker(&recording, 5, 2500000000, "score");
    sf_recording_clear(&recording);
    make(test_fill_nwb_events);
    recording = read_good(NULL, 0);
    assert_int_equal(recording.markers[0].kind, SF_MARKER_TTL);
    assert_int_equal(recording.markers[0].line, 2);
    assert_int_equal(recording.markers[0].state, 1);
    assert_int_equal(recording.markers[1].state, 0);
    assert_int_equal(recording.markers[1].time_ns, 1500000000);
    assert_marker(&recording, 2, 2500000000, "hello");
    sf_recording_clear(&recording);
}

/* ---- one of several ---- */

static void assert_refused(const sf_reading *how, sf_status code, const char *words)
{
    sf_recording recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&recording, path, how, NULL, &error), &error, code, words);
    assert_null(recording.spikes);
    assert_null(strchr(error.text, '\n'));
}

static void streams_are_chosen(void **state)
{
    (void)state;
    make(test_fill_maxwell_new);
    assert_refused(NULL, SF_USAGE,
                   "there are 3 recordings; choose one with --stream: well000/rec0000 (8 "
                   "spikes), well000/rec0001 (1 "
                   "spikes), well001/rec0000 (1 spikes)");
    assert_refused(&(sf_reading){.stream = "well000"}, SF_USAGE, "there is no recording 'well000'; there is");
    sf_recording recording = read_good("well001", 0); /* which has one */
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.spikes[0].time_ns, 100000000);
    sf_recording_clear(&recording);
    /* The other two places are as good as the first. */
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/wells");
    test_hdf_group(file, "/recordings/rec0000");
    H5Lcreate_soft("/data_store/data0002", file, "/recordings/rec0000/well001", H5P_DEFAULT, H5P_DEFAULT);
    test_hdf_close(file);
    recording = read_good("well001/rec0000", 0);
    assert_string_equal(recording.units.items[0].well, "well001");
    sf_recording_clear(&recording);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/recordings");
    test_hdf_close(file);
    recording = read_good("data0000", 0);
    assert_int_equal(recording.spike_count, 6);
    assert_null(recording.units.items[0].well);
    sf_recording_clear(&recording);

    make(test_fill_bxr_3);
    assert_refused(NULL, SF_USAGE,
                   "there are 2 wells; choose one with --stream: A1 (6 spikes), B2 (1 spikes)");
    make(test_fill_kwik);
    assert_refused(NULL, SF_USAGE, "there are 2 channel groups");
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_group(file, "/channel_groups/1/clusters/original/7"); /* which nobody has judged */
    test_hdf_attribute_number(file, "/channel_groups/1/clusters/original/7", "cluster_group", H5T_STD_I64LE,
                              3);
    test_hdf_close(file);
    recording = read_good("1", 0);
    assert_string_equal(recording.units.items[0].name, "7");
    assert_int_equal(recording.units.items[0].kind, SF_UNIT_UNKNOWN);
    sf_recording_clear(&recording);

    make(test_fill_mcs);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ocopy(file, "/Data/Recording_0", file, "/Data/Recording_1", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    test_hdf_remove(file, "/Data/Recording_1/TimeStampStream/Stream_0/TimeStampEntity_0");
    test_hdf_close(file);
    assert_refused(NULL, SF_USAGE,
                   "there are 2 spike streams; choose one with --stream: Recording_0/Stream_0 (6 "
                   "spikes), Recording_1/Stream_0 (3 spikes)");
    recording = read_good("Recording_1", 0);
    assert_int_equal(recording.spike_count, 3);
    sf_recording_clear(&recording);
}

#define STAMPS "/Data/Recording_0/TimeStampStream/Stream_0"
#define SEGMENTS "/Data/Recording_0/SegmentStream/Stream_0"

static void set_subtype(hid_t file, const char *stream, const char *subtype)
{
    assert_true(H5Adelete_by_name(file, stream, "DataSubType", H5P_DEFAULT) >= 0);
    test_hdf_attribute(file, stream, "DataSubType", false, subtype);
}

/* Where time stamps are missing, are of something else or are a table alone, as of streams that are empty,
 * the cut-outs have the times, and their labels are in another table. */
static void segments_are_read_instead(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        make(test_fill_mcs);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        if (kind == 0)
            test_hdf_remove(file, "/Data/Recording_0/TimeStampStream");
        else if (kind == 1)
            set_subtype(file, STAMPS, "Artefact");
        for (int i = 0; kind == 2 && i < 3; i++) {
            char name[80];
            snprintf(name, sizeof name, STAMPS "/TimeStampEntity_%d", i);
            test_hdf_remove(file, name);
        }
        test_hdf_close(file);
        sf_recording recording = read_good(NULL, 0);
        check_spikes(&recording, &layouts[4]);
        check_units(&recording, &layouts[4]);
        sf_recording_clear(&recording);
    }
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT); /* averages are no spikes */
    test_hdf_remove(file, "/Data/Recording_0/TimeStampStream");
    set_subtype(file, SEGMENTS, "Average");
    test_hdf_close(file);
    assert_refused(NULL, SF_DATA, "holds no stream of spikes");
}

/* Times are in 10 to the exponent of the table, and in seconds by its unit; which fields else it has, and who
 * wrote it, does not matter. */
static void time_stamps_are_in_units_of_their_table(void **state)
{
    (void)state;
    static const double ids[] = {0, 5}, more[] = {1, 1}, stamps[] = {500, 2000};
    static const struct {
        double exponent;
        const char *unit;
        int64_t last_ns; /* 0: refused */
    } cases[] = {{-6, "s", 2000000}, {-3, "s  \r\n", 2000000000}, {-9, "s", 2000}, {-3, "V", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const units[] = {cases[i].unit, cases[i].unit};
        const double exponents[] = {cases[i].exponent, cases[i].exponent};
        hid_t file = test_hdf_create(path);
        test_hdf_attribute_number(file, "/", "McsHdf5Version", H5T_STD_I32LE, 1);
        test_hdf_table(file, STAMPS "/InfoTimeStamp", 2,
                       (const test_hdf_field[]){{"GroupID", H5T_STD_I32LE, more, NULL},
                                                {"Exponent", H5T_STD_I32LE, exponents, NULL},
                                                {"Unit", 0, NULL, units},
                                                {"TimeStampEntityID", H5T_STD_I64LE, ids, NULL}},
                       4);
        test_hdf_numbers(file, STAMPS "/TimeStampEntity_5", H5T_STD_I64LE, 1, 2, stamps);
        test_hdf_close(file);
        if (cases[i].last_ns == 0) {
            assert_refused(NULL, SF_DATA, "row 0 of InfoTimeStamp has its times in 'V', expected s");
            continue;
        }
        sf_recording recording = read_good(NULL, 0);
        assert_int_equal(recording.spike_count, 2);
        assert_int_equal(recording.spikes[1].time_ns, cases[i].last_ns);
        assert_string_equal(recording.units.items[recording.spikes[1].unit].name, "5");
        sf_recording_clear(&recording);
    }
}

/* Columns are digits or letters without I and Q; what is no such label has no position. */
static void labels_say_where_electrodes_are(void **state)
{
    (void)state;
    static const double ids[] = {0, 1, 2, 3, 4, 5}, x[] = {800, 1500, 0, NAN, NAN, NAN},
                        y[] = {0, 1500, 700, NAN, NAN, NAN};
    static const char *const labels[] = {"J1", "R16", "18", "I1", "19", "Ref"};
    hid_t file = test_hdf_create(path);
    test_hdf_attribute(file, "/", "McsHdf5ProtocolType", false, "RawData");
    test_hdf_table(file, STAMPS "/InfoTimeStamp", 6,
                   (const test_hdf_field[]){{"TimeStampEntityID", H5T_STD_I32LE, ids, NULL},
                                            {"SourceChannelLabels", 0, NULL, labels}},
                   2);
    test_hdf_attribute(file, "/Data", "MeaName", true, "256MEA100/30iR-ITO");
    test_hdf_close(file);
    sf_recording recording = read_good(NULL, 0);
    assert_int_equal(recording.units.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const sf_unit *unit = &recording.units.items[sf_units_find(&recording.units, labels[i])];
        if (!same(x[i], unit->x_um) || !same(y[i], unit->y_um))
            fail_msg("%s is at %g, %g", labels[i], unit->x_um, unit->y_um);
    }
    sf_recording_clear(&recording);
}

/* ---- sampling rates ---- */

static void rates_are_of_the_file_or_given(void **state)
{
    (void)state;
    make(test_fill_herding_spikes);
    sf_recording recording = read_good(NULL, 20000); /* who says so knows better */
    assert_int_equal(recording.spikes[0].time_ns, 50000000);
    assert_string_equal(test_metadata(&recording, "sampling_rate"), "20000");
    sf_recording_clear(&recording);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/Sampling");
    test_hdf_close(file);
    assert_refused(NULL, SF_DATA,
                   "does not say how many samples a second has (looked for /Sampling): give --rate HZ");
    recording = read_good(NULL, 10000);
    check_spikes(&recording, &layouts[7]);
    sf_recording_clear(&recording);

    make(test_fill_mcs); /* which has no samples */
    assert_refused(&(sf_reading){.rate_hz = 10000}, SF_USAGE, "--rate is for those that count samples");

    make(test_fill_bxr_2); /* a rate that is no integer: times are exact to the nanosecond all the same */
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/3BRecInfo/3BRecVars/SamplingRate");
    test_hdf_numbers(file, "/3BRecInfo/3BRecVars/SamplingRate", H5T_IEEE_F64LE, 0, 0,
                     (double[]){7022.058819854542});
    test_hdf_close(file);
    recording = read_good(NULL, 0);
    assert_int_equal(recording.spikes[0].time_ns, 142408377); /* 1000 / 7022.058819854542 s */
    sf_recording_clear(&recording);
}

/* Of BXR 3 the attribute counts, then the frame rate of the converter: there may be those of other things.
 * Channels count by rows of 64 from 0. */
static void rates_and_channels_of_bxr_3(void **state)
{
    (void)state;
    static const char *const settings[] = {"{\"Camera\": {\"FrameRate\": 30, \"Model\": \"Accura\"}, "
                                           "\"TimeConverter\": {\"FrameRate\": 10000}, "
                                           "\"MeaPlate\": {\"Model\": \"Stimulo\"}}"};
    static const double frames[] = {1000, 2000}, channels[] = {65, 4095};
    hid_t file = test_hdf_create(path);
    test_hdf_strings(file, "/ExperimentSettings", 0, 1, settings);
    test_hdf_numbers(file, "/Well_A1/SpikeTimes", H5T_STD_I64LE, 2, 0, frames);
    test_hdf_numbers(file, "/Well_A1/SpikeChIdxs", H5T_STD_I32LE, 2, 0, channels);
    test_hdf_close(file);
    sf_recording recording = read_good(NULL, 0);
    assert_int_equal(recording.spikes[0].time_ns, 100000000);
    assert_string_equal(recording.units.items[0].name, "Ch2.2");
    assert_string_equal(recording.units.items[1].name, "Ch64.64");
    assert_true(recording.units.items[0].x_um == 81 && recording.units.items[1].y_um == 63 * 81);
    sf_recording_clear(&recording);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_attribute_number(file, "/", "SamplingRate", H5T_IEEE_F64LE, 20000);
    test_hdf_close(file);
    recording = read_good(NULL, 0);
    assert_int_equal(recording.spikes[0].time_ns, 50000000);
    sf_recording_clear(&recording);
}

/* A negative number is no cluster, and what is of none is noise. */
static void what_no_cluster_has_is_noise(void **state)
{
    (void)state;
    make(test_fill_herding_spikes);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/cluster_id");
    test_hdf_numbers(file, "/cluster_id", H5T_STD_I32LE, 6, 0, (double[]){-1, 0, 1, 0, 1, 0});
    test_hdf_close(file);
    sf_recording recording = read_good(NULL, 0);
    const sf_unit *noise = &recording.units.items[sf_units_find(&recording.units, "-1")];
    assert_int_equal(noise->kind, SF_UNIT_NOISE);
    assert_true(isnan(noise->x_um));
    sf_recording_clear(&recording);
}

/* Clusters that HDF5 would convert to others, as of 0.5 to 0. */
static void clusters_that_are_none_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        make(test_fill_herding_spikes);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        test_hdf_remove(file, "/cluster_id");
        test_hdf_numbers(file, "/cluster_id", i == 0 ? H5T_IEEE_F64LE : H5T_STD_U64LE, 6, 0,
                         (double[]){0, i == 0 ? 0.5 : 0x1p63, 1, 0, 1, 0});
        test_hdf_close(file);
        sf_recording recording;
        sf_error error = {0};
        test_assert_fails(sf_recording_read(&recording, path, NULL, NULL, &error), &error, SF_DATA,
                          "/cluster_id is damaged (a value is negative, too large or no whole number");
    }
}

/* ---- damage ---- */

typedef struct damage {
    void (*fill)(hid_t file);
    const char *stream, *object;
    size_t rows; /* of numbers in its place; 0: it is removed */
    double values[3];
    const char *words;
} damage;

static const damage damages[] = {
    {test_fill_maxwell_old,
     NULL,
     "/proc0/spikeTimes",
     0,
     {0},
     "no spike times: this MaxWell file holds voltages"},
    {test_fill_maxwell_old, NULL, "/proc0/spikeTimes", 2, {1, 2}, "has no field frameno"},
    {test_fill_maxwell_old, NULL, "/mapping", 2, {1, 2}, "/mapping has no field channel"},
    {test_fill_maxwell_new,
     "well000/rec0000",
     "/data_store/data0000/settings/sampling",
     0,
     {0},
     "looked for settings/sampling"},
    {test_fill_maxwell_new,
     "well000/rec0000",
     "/data_store/data0000/settings/sampling",
     1,
     {-4},
     "damaged: settings/sampling says -4"},
    {test_fill_maxwell_new,
     "well000/rec0000",
     "/data_store/data0000/settings/mapping",
     0,
     {0},
     "there is no dataset settings/mapping"},
    {test_fill_bxr_2,
     NULL,
     "/3BResults/3BChEvents/SpikeTimes",
     0,
     {0},
     "no spike times: this is a 3Brain BXR file without"},
    {test_fill_bxr_2, NULL, "/3BResults/3BChEvents/SpikeChIDs", 2, {1, 2}, "SpikeTimes has 6 rows and"},
    {test_fill_bxr_2, NULL, "/3BResults/3BChEvents/SpikeUnits", 2, {1, 2}, "there are 6 spikes and"},
    {test_fill_bxr_2,
     NULL,
     "/3BRecInfo/3BRecVars/SamplingRate",
     0,
     {0},
     "looked for /3BRecInfo/3BRecVars/SamplingRate"},
    {test_fill_bxr_2, NULL, "/3BRecInfo/3BRecVars/SamplingRate", 1, {NAN}, "give --rate HZ"},
    {test_fill_bxr_3,
     "A1",
     "/Well_A1/SpikeChIdxs",
     3,
     {-1, 0, 0},
     "SpikeTimes has 6 rows and SpikeChIdxs has 3"},
    {test_fill_bxr_3, "B2", "/Well_B2/SpikeChIdxs", 1, {-1}, "spike 0 is of unit 0 of channel -1"},
    {test_fill_bxr_3, "A1", "/ExperimentSettings", 0, {0}, "FrameRate in /ExperimentSettings"},
    {test_fill_mcs,
     NULL,
     "/Data/Recording_0",
     0,
     {0},
     "no spike times: this Multi Channel Systems DataManager"},
    {test_fill_mcs, NULL, STAMPS "/TimeStampEntity_1", 1, {9e18}, "spike 0 of TimeStampEntity_1 is at"},
    {test_fill_mcs, NULL, STAMPS "/InfoTimeStamp", 2, {1, 2}, "InfoTimeStamp has no field TimeStampEntityID"},
    {test_fill_mcs_cmos, NULL, "/Spike Explorer", 0, {0}, "without a table SpikeData"},
    {test_fill_kwik, "0", "/channel_groups", 0, {0}, "no spike times: this is a Kwik file without"},
    {test_fill_kwik, "0", "/recordings/0", 0, {0}, "the attribute sample_rate in /recordings"},
    {test_fill_kwik, "0", "/channel_groups/0/spikes/clusters/main", 2, {1, 2}, "clusters/main has 2"},
    {test_fill_kwik, "0", "/channel_groups/0/spikes/time_fractional", 2, {1, 2}, "time_fractional has 2"},
    {test_fill_herding_spikes, NULL, "/cluster_id", 2, {1, 2}, "/times has 6 rows and /cluster_id has 2"},
    {test_fill_herding_spikes, NULL, "/centres", 3, {1, 2, 3}, "/centres are not an x and a y"},
    {test_fill_herding_spikes, NULL, "/Sampling", 1, {1e-3}, "damaged: /Sampling says 0.001"},
    {test_fill_cortical, NULL, "/spikes", 0, {0}, "was made without the table /spikes"},
    {test_fill_cortical, NULL, "/spikes", 2, {1, 2}, "/spikes has no field timestamp"},
    {test_fill_cortical, NULL, "/stims", 2, {1, 2}, "/stims has no field timestamp"},
    {test_fill_nwb_events,
     NULL,
     "/acquisition/node-101.stream.A/timestamps",
     2,
     {1, NAN},
     "spike 1 of unit 'node-101.stream.A' (#0) is at nan s"},
    {test_fill_nwb_events,
     NULL,
     "/acquisition/node-101.stream.B/electrodes",
     1,
     {3},
     "is at electrode row 3 of 3"},
    {test_fill_nwb_events,
     NULL,
     "/acquisition/node-100.stream.TTL/data",
     1,
     {1},
     "there are 1 events and 2 times"},
    {test_fill_nwb_events, NULL, "/acquisition/node-100.stream.TTL/data", 2, {1, 0}, "a TTL edge 0 at 1.5 s"},
};

static void damaged_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const damage *it = &damages[i];
        make(it->fill);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        test_hdf_remove(file, it->object);
        if (it->rows > 0) test_hdf_numbers(file, it->object, H5T_IEEE_F64LE, it->rows, 0, it->values);
        test_hdf_close(file);
        assert_refused(&(sf_reading){.stream = it->stream}, SF_DATA, it->words);
    }
}

/* ---- what is not there all the same ---- */

static void channels_by_their_table(void **state)
{
    (void)state;
    static const double rows[] = {10, 20}, columns[] = {30, 40}, ids[] = {70, 65};
    make(test_fill_bxr_2);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_table(file, "/3BResults/3BInfo/MeaChs2ChIDsVector", 2,
                   (const test_hdf_field[]){{"Row", H5T_STD_I16LE, rows, NULL},
                                            {"Col", H5T_STD_I16LE, columns, NULL},
                                            {"ID", H5T_STD_I32LE, ids, NULL}},
                   3);
    test_hdf_close(file);
    sf_recording recording = read_good(NULL, 0);
    const sf_unit *unit = &recording.units.items[sf_units_find(&recording.units, "Ch10.30")];
    assert_true(unit->x_um == 29 * 42 && unit->y_um == 9 * 42);
    sf_recording_clear(&recording);
}

static void spikes_alone_set_the_first_frame(void **state)
{
    (void)state;
    make(test_fill_maxwell_old);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/sig");
    test_hdf_close(file);
    sf_recording recording = read_good(NULL, 0);
    assert_int_equal(recording.spike_count, 7); /* nothing is before the first */
    assert_int_equal(recording.spikes[0].time_ns, 0);
    assert_int_equal(recording.spikes[1].time_ns, 101000000);
    assert_true(recording.spikes[0].amplitude == -1);
    sf_recording_clear(&recording);

    make(test_fill_maxwell_new);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/data_store/data0000/groups");
    test_hdf_close(file);
    recording = read_good("well000/rec0000", 0);
    assert_int_equal(recording.spike_count, 7);
    assert_int_equal(recording.spikes[1].time_ns, 101000000);
    assert_false(recording.declared);
    sf_recording_clear(&recording);
}

/* Two electrodes on one channel are one unit, and so is an electrode with two channels, whose spikes count
 * once. */
static void shared_channels_and_electrodes_are_one_unit(void **state)
{
    (void)state;
    static const double channels[] = {5, 5, 7, 8, 3}, electrodes[] = {100, 101, 102, 102, 103},
                        x[] = {0, 17.5, 35, 35, 50}, frames[] = {1100, 1200, 1200, 1300}, of[] = {5, 7, 8, 3};
    make(test_fill_maxwell_new);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/data_store/data0000/settings/mapping");
    test_hdf_table(file, "/data_store/data0000/settings/mapping", 5,
                   (const test_hdf_field[]){{"channel", H5T_STD_I32LE, channels, NULL},
                                            {"electrode", H5T_STD_I32LE, electrodes, NULL},
                                            {"x", H5T_IEEE_F64LE, x, NULL},
                                            {"y", H5T_IEEE_F64LE, x, NULL}},
                   4);
    test_hdf_remove(file, "/data_store/data0000/spikes");
    test_hdf_table(file, "/data_store/data0000/spikes", 4,
                   (const test_hdf_field[]){{"frameno", H5T_STD_I64LE, frames, NULL},
                                            {"channel", H5T_STD_I32LE, of, NULL}},
                   2);
    test_hdf_close(file);
    sf_recording recording = read_good("well000/rec0000", 0);
    assert_int_equal(recording.units.count, 3);
    assert_string_equal(recording.units.items[0].name, "100");
    assert_string_equal(recording.units.items[1].name, "102");
    assert_int_equal(recording.spike_count, 3);
    assert_int_equal(recording.dropped_count, 1);
    assert_string_equal(recording.dropped[0].cause, "on a second channel of an electrode");
    assert_string_equal(
        test_metadata(&recording, "routing"),
        "channel 5 has electrodes 100 and 101, and is one unit at the first; electrode 102 has "
        "channels 7 and 8, of which the second is left out");
    sf_recording_clear(&recording);
}

/* Where its recordings are tells a new file from an old one, be there a routing at the root as well. */
static void a_new_file_may_look_like_an_old_one(void **state)
{
    (void)state;
    make(test_fill_maxwell_new);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ocopy(file, "/data_store/data0000/settings/mapping", file, "/mapping", H5P_DEFAULT,
                        H5P_DEFAULT) >= 0);
    test_hdf_close(file);
    sf_recording recording = read_good("well000/rec0000", 0);
    check_spikes(&recording, &layouts[1]);
    check_units(&recording, &layouts[1]);
    sf_recording_clear(&recording);
}

/* ---- Cortical Labs ---- */

/* The fixture with numbers in place of attributes, and spikes on one channel at these frames. */
static void make_cortical(const char *attribute, double number, double channel, const double *frames)
{
    const double channels[] = {channel, channel};
    make(test_fill_cortical);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Adelete(file, attribute) >= 0);
    test_hdf_attribute_number(file, "/", attribute, H5T_IEEE_F64LE, number);
    test_hdf_remove(file, "/spikes");
    test_hdf_table(file, "/spikes", 2,
                   (const test_hdf_field[]){{"timestamp", H5T_STD_I64LE, frames, NULL},
                                            {"channel", H5T_STD_U8LE, channels, NULL}},
                   2);
    test_hdf_close(file);
}

static void change_attribute(const char *name, const char *text)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Adelete(file, name) >= 0);
    if (text != NULL) test_hdf_attribute(file, "/", name, false, text);
    test_hdf_close(file);
}

/* The array of the vendor's own analyses has four grounds and a reference, which are no units unless they
 * fired; where a ground did, the array is another. */
static void channels_of_a_cl1_have_places(void **state)
{
    (void)state;
    static const double frames[] = {2500, 5000};
    static const struct {
        double channel;
        size_t units;
        bool has_places;
    } cases[] = {{10, 59, true}, {4, 60, true}, {7, 64, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_cortical("channel_count", 64, cases[i].channel, frames);
        sf_recording recording = read_good(NULL, 0);
        assert_int_equal(recording.units.count, cases[i].units);
        const sf_unit *unit = &recording.units.items[sf_units_find(&recording.units, "33")];
        assert_int_equal(unit->electrode, 33);
        assert_true(cases[i].has_places ? unit->x_um == 800 && unit->y_um == 200 : isnan(unit->x_um));
        assert_int_equal(sf_units_find(&recording.units, "63") == SF_NO_UNIT, cases[i].has_places);
        char name[16];
        snprintf(name, sizeof name, "%g", cases[i].channel);
        assert_int_equal(recording.spikes[0].unit, sf_units_find(&recording.units, name));
        sf_recording_clear(&recording);
    }
}

/* Of frames that count from the start of the recording, from that of the device, and of which nobody says. */
static void frames_count_from_what_the_file_says(void **state)
{
    (void)state;
    static const char absolute[] = "(dp0\nVstim_and_spike_timestamps_relative_to_start\np1\nI00\ns.";
    static const double late[] = {12500, 25000}, early[] = {2500, 25000};
    static const struct {
        const char *format;
        const double *frames;
        int64_t first_ns;
        const char *said;
    } cases[] = {{absolute, late, 100000000, NULL},
                 {absolute, early, -300000000, NULL},
                 {NULL, late, 100000000, "start_timestamp was subtracted, as none is less"},
                 {NULL, early, 100000000, "from the start of the recording, as one is less"},
                 {"1", late, 100000000, "start_timestamp was subtracted, as none is less"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_cortical("start_timestamp", 10000, 1, cases[i].frames);
        change_attribute("file_format", cases[i].format);
        sf_recording recording = read_good(NULL, 0);
        assert_int_equal(recording.spikes[0].time_ns, cases[i].first_ns);
        const char *clock = test_metadata(&recording, "clock");
        assert_true(cases[i].said == NULL ? clock == NULL : strstr(clock, cases[i].said) != NULL);
        assert_string_equal(recording.format, "Cortical Labs CL1");
        sf_recording_clear(&recording);
    }
}

static void what_a_cl1_says_of_itself_is_checked(void **state)
{
    (void)state;
    static const double frames[] = {2500, 5000};
    make_cortical("channel_count", 3, 3, frames);
    assert_refused(NULL, SF_DATA,
                   "row 0 of /spikes is on channel 3, and channel_count says that there are 3");
    make_cortical("channel_count", 2, 1, frames);
    assert_refused(NULL, SF_DATA, "row 1 of /stims is on channel 2, and channel_count says that there are 2");
    make_cortical("channel_count", 257, 1, frames);
    assert_refused(NULL, SF_DATA, "channel_count is 257, expected 1 to 256");
    make_cortical("start_timestamp", 0x1p62, 1, frames);
    assert_refused(NULL, SF_DATA, "damaged: start_timestamp is frame 4.6");
    make(test_fill_cortical);
    change_attribute("frames_per_second", "F25000.0\n.");
    sf_recording recording = read_good(NULL, 0);
    assert_int_equal(recording.spikes[5].time_ns, 3000000000);
    sf_recording_clear(&recording);
    change_attribute("frames_per_second", "(lp0\n.");
    assert_refused(NULL, SF_DATA, "looked for the attribute frames_per_second");
    recording = read_good(NULL, 50000);
    assert_int_equal(recording.spikes[5].time_ns, 1500000000);
    sf_recording_clear(&recording);
}

/* By its length, its end, the voltages of one that was not finished; a damaged one is not believed. */
static void how_long_a_cl1_recorded(void **state)
{
    (void)state;
    static const double voltages[8] = {0};
    static const struct {
        const char *length;
        double end, stop_s;
    } cases[] = {{"I90000\n.", 0, 3.6}, {"N.", 110000, 4}, {"I0\n.", 0, 0}, {"I-4\n.", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make(test_fill_cortical);
        change_attribute("duration_frames", cases[i].length);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        test_hdf_attribute_number(file, "/", "end_timestamp", H5T_STD_I64LE, cases[i].end);
        test_hdf_close(file);
        sf_recording recording = read_good(NULL, 0);
        assert_int_equal(recording.declared, cases[i].stop_s > 0);
        if (recording.declared)
            assert_int_equal(recording.recorded.stop_ns, (int64_t)(cases[i].stop_s * 1e9));
        assert_int_equal(test_metadata(&recording, "recorded") != NULL, i == 3);
        sf_recording_clear(&recording);
    }
    make(test_fill_cortical);
    change_attribute("duration_frames", "I0\n.");
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_numbers(file, "/samples", H5T_STD_I16LE, 4, 2, voltages);
    test_hdf_close(file);
    sf_recording recording = read_good(NULL, 0);
    assert_non_null(test_metadata(&recording, "recorded")); /* 0.16 ms, before which no spike lies */
    sf_recording_clear(&recording);
}

/* In this process, as the reading program does it. */
static int read_here(void *context)
{
    const layout *of = context;
    sf_hdf_input input = {.path = path, .stream = of->stream};
    sf_recording recording = {0};
    sf_error error;
    int status = sf_hdf_open_file(&input, &error);
    if (status == SF_OK) status = test_read_hdf5(&recording, &input, &error);
    sf_recording_clear(&recording);
    sf_hdf_close(input.file);
    return status;
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    sf_reading how = {.stream = "A1"};
    make(test_fill_bxr_3);
    test_fail_every_allocation(test_read_and_free, &(test_reading){path, &how});
    for (int i = 0; i < LAYOUTS; i++) {
        layout of = layouts[i];
        make(of.fill);
        test_fail_every_allocation(read_here, &of);
    }
}

#define WITH_PATH(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PATH(the_same_spikes_are_in_all),
        WITH_PATH(markers_are_read),
        WITH_PATH(streams_are_chosen),
        WITH_PATH(segments_are_read_instead),
        WITH_PATH(time_stamps_are_in_units_of_their_table),
        WITH_PATH(labels_say_where_electrodes_are),
        WITH_PATH(rates_and_channels_of_bxr_3),
        WITH_PATH(clusters_that_are_none_are_refused),
        WITH_PATH(what_no_cluster_has_is_noise),
        WITH_PATH(shared_channels_and_electrodes_are_one_unit),
        WITH_PATH(a_new_file_may_look_like_an_old_one),
        WITH_PATH(rates_are_of_the_file_or_given),
        WITH_PATH(damaged_files_are_refused),
        WITH_PATH(channels_by_their_table),
        WITH_PATH(spikes_alone_set_the_first_frame),
        WITH_PATH(channels_of_a_cl1_have_places),
        WITH_PATH(frames_count_from_what_the_file_says),
        WITH_PATH(what_a_cl1_says_of_itself_is_checked),
        WITH_PATH(how_long_a_cl1_recorded),
        WITH_PATH(no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
