/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings in HDF5 made here: what is read of them, and what is said of damaged and foreign ones. */
#include "support/hdf_files.h"
#include "support/recordings.h"
#include "support/support.h"

#include "core/memory.h"
#include "io/hdf.h"
#include "io/layout.h"
#include "replay/recording_file.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
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

static void assert_refused(sf_status code, const char *words)
{
    sf_recording recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&recording, path, NULL, NULL, &error), &error, code, words);
    assert_int_equal(recording.spike_count, 0);
    assert_null(recording.spikes);
    assert_string_equal(error.place, path);
    assert_null(strchr(error.text, '\n'));
}

static sf_recording read_good(void)
{
    sf_recording recording;
    sf_error error = {0};
    if (sf_recording_read(&recording, path, NULL, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    return recording;
}

static void assert_spike(const sf_recording *recording, size_t at, int64_t time_ns, uint32_t unit)
{
    assert_int_equal(recording->spikes[at].time_ns, time_ns);
    assert_int_equal(recording->spikes[at].unit, unit);
}

/* ---- CARMEN ---- */

static void carmen_is_read(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_string_equal(recording.format, "CARMEN");
    assert_int_equal(recording.spike_count, 6);
    assert_spike(&recording, 0, 1500, 2);
    assert_spike(&recording, 1, 500000000, 0); /* equal times in the order of units */
    assert_spike(&recording, 2, 500000000, 1);
    assert_spike(&recording, 5, 3000000000, 0);
    assert_true(isnan(recording.spikes[0].amplitude));
    const sf_unit *units = recording.units.items;
    assert_int_equal(recording.units.count, 3);
    assert_string_equal(units[1].name, "b");
    assert_true(units[0].x_um == 100 && units[1].x_um == 200 && units[0].y_um == -50 &&
                units[2].y_um == 150.5);
    assert_int_equal(units[0].kind, SF_UNIT_UNKNOWN);
    assert_false(recording.declared);
    assert_true(recording.recorded.start_ns == 1500 && recording.recorded.stop_ns == 3000000001);
    assert_string_equal(test_metadata(&recording, "age"), "9");
    assert_string_equal(test_metadata(&recording, "condition"), "ctl");
    assert_string_equal(test_metadata(&recording, "species"), "mouse");
    sf_recording_clear(&recording);
}

/* Two trains give a position matrix of 2 by 2, whose first row is x all the same; a shared place means
 * sorting. */
static void carmen_variants_are_read(void **state)
{
    (void)state;
    static const double spikes[] = {1, 2}, counts[] = {2, 0}, places[] = {10, 20, 30, 40},
                        shared[] = {1, 1, 2, 2};
    static const double recorded[] = {0.5, 9};
    hid_t file = test_hdf_create(path);
    test_hdf_numbers(file, "/spikes", H5T_IEEE_F32LE, 2, 0, spikes);
    test_hdf_numbers(file, "/sCount", H5T_STD_I64LE, 2, 0, counts);
    test_hdf_numbers(file, "/epos", H5T_STD_I32LE, 2, 2, places);
    test_hdf_numbers(file, "/recordingtime", H5T_IEEE_F64LE, 2, 0, recorded);
    test_hdf_close(file);
    sf_recording recording = read_good();
    const sf_unit *units = recording.units.items;
    assert_true(units[0].x_um == 10 && units[1].x_um == 20 && units[0].y_um == 30 && units[1].y_um == 40);
    assert_string_equal(units[0].name, "e1");
    assert_string_equal(units[1].name, "e2");
    assert_true(recording.declared && recording.recorded.start_ns == 500000000 &&
                recording.recorded.stop_ns == 9000000000);
    sf_recording_clear(&recording);

    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/epos");
    test_hdf_numbers(file, "/epos", H5T_IEEE_F64LE, 2, 2, shared);
    test_hdf_close(file);
    recording = read_good();
    assert_int_equal(recording.units.items[0].kind, SF_UNIT_SORTED);
    assert_false(sf_units_have_geometry(&recording.units));
    sf_recording_clear(&recording);
}

/* What the layout says of an array is a name; positions are what the file has. A duration from the first
 * spike to the last is no recorded time, and what else the lab puts beside it is no spike. */
static void what_carmen_says_besides_is_told(void **state)
{
    (void)state;
    static const double duration[] = {77}, old[] = {9.5};
    static const char *const array[] = {"APS_64x64_42um"}, *const wells[] = {"A1", "A1", "A1"};
    for (size_t scalar = 0; scalar < 2; scalar++) {
        hid_t file = test_hdf_create(path);
        test_hdf_fill_carmen(file);
        test_hdf_strings(file, "/array", 15, 1 - scalar, array);
        test_hdf_remove(file, "/meta/age");
        test_hdf_numbers(file, "/meta/age", H5T_IEEE_F64LE, 1 - scalar, 0, old);
        test_hdf_numbers(file, "/summary/duration", H5T_IEEE_F64LE, 1, 0, duration);
        test_hdf_strings(file, "/units", 3, 3, wells);
        test_hdf_strings(file, "/well", 3, 3, wells);
        test_hdf_close(file);
        sf_recording recording = read_good();
        assert_string_equal(test_metadata(&recording, "array"), "APS_64x64_42um");
        assert_string_equal(test_metadata(&recording, "age"), "9.5");
        assert_true(recording.units.items[1].x_um == 200 && recording.units.items[2].y_um == 150.5);
        assert_false(recording.declared);
        assert_int_equal(recording.spike_count, 6);
        sf_recording_clear(&recording);
    }
}

/* One chunk, packed, is what R writes; what a missing filter packed is said, and a virtual dataset is of
 * another file. */
static void packed_columns_are_read(void **state)
{
    (void)state;
    static const double spikes[] = {0.5, 1.25, 3, 0.5, 2, 0.0000015};
    static const H5Z_filter_t filters[] = {H5Z_FILTER_DEFLATE, 401};
    for (size_t i = 0; i < 2; i++) {
        hid_t file = test_hdf_create(path);
        test_hdf_fill_carmen(file);
        test_hdf_remove(file, "/spikes");
        test_hdf_packed(file, "/spikes", filters[i], 6, spikes);
        test_hdf_close(file);
        if (filters[i] == 401) {
            assert_refused(SF_DATA, "/spikes cannot be read (it is packed by HDF5 filter 401, which is not "
                                    "installed here; where it is, `h5repack -f NONE` unpacks it)");
            continue;
        }
        sf_recording recording = read_good();
        assert_spike(&recording, 0, 1500, 2);
        assert_spike(&recording, 5, 3000000000, 0);
        sf_recording_clear(&recording);
    }
    const hsize_t size = 6;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_remove(file, "/spikes");
    hid_t space = H5Screate_simple(1, &size, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_virtual(creation, space, "other.h5", "/spikes", space) >= 0);
    H5Dclose(H5Dcreate2(file, "/spikes", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Sclose(space);
    test_hdf_close(file);
    assert_refused(SF_DATA, "/spikes refers to another file");
}

/* A filter that changes nothing and counts how often a chunk is unpacked. */
static size_t unpacked;

static size_t count_unpacked(unsigned flags, size_t values, const unsigned value[], size_t bytes,
                             size_t *room, void **buffer)
{
    (void)values, (void)value, (void)room, (void)buffer;
    unpacked += (flags & H5Z_FLAG_REVERSE) != 0;
    return bytes;
}

/* Looks here and there, as pieces of a file are found, unpack each chunk once: one that is larger than what
 * libhdf5 keeps by itself (1 MiB), and several that are together. */
static void chunks_are_unpacked_once(void **state)
{
    (void)state;
    enum { ROWS = 400000 };
    static const hsize_t chunks[] = {ROWS, ROWS / 8};
    static const H5Z_class2_t counter = {H5Z_CLASS_T_VERS, 402, 1, 1, "counter", NULL, NULL, count_unpacked};
    const hsize_t size = ROWS;
    double *values = calloc(ROWS, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < ROWS; i++)
        values[i] = (double)i;
    assert_true(H5Zregister(&counter) >= 0);
    for (size_t k = 0; k < 2; k++) {
        hid_t file = test_hdf_create(path), space = H5Screate_simple(1, &size, NULL),
              creation = H5Pcreate(H5P_DATASET_CREATE);
        assert_true(H5Pset_chunk(creation, 1, &chunks[k]) >= 0 &&
                    H5Pset_filter(creation, 402, 0, 0, NULL) >= 0);
        hid_t made = H5Dcreate2(file, "/spikes", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        assert_true(H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        H5Dclose(made);
        H5Pclose(creation);
        H5Sclose(space);
        test_hdf_close(file);
        sf_hdf_input input = {.path = path};
        size_t length;
        assert_int_equal(sf_hdf_open_file(&input, NULL), SF_OK);
        hid_t column = sf_hdf_open_column(input.file, "/spikes", path, &length, NULL);
        assert_true(column >= 0 && length == ROWS);
        unpacked = 0;
        for (size_t i = 0; i < 200; i++) {
            double found;
            size_t row = i * 77777 % ROWS;
            assert_true(sf_hdf_read_rows(column, H5T_NATIVE_DOUBLE, row, 1, &found));
            assert_true(found == (double)row);
        }
        assert_int_equal(unpacked, ROWS / chunks[k]);
        sf_hdf_close(column);
        sf_hdf_close(input.file);
    }
    H5Zunregister(402);
    free(values);
}

static void a_recording_may_be_almost_empty(void **state)
{
    (void)state;
    static const double one[] = {7.5}, count[] = {1}, none[] = {0, 0};
    hid_t file = test_hdf_create(path);
    test_hdf_numbers(file, "/spikes", H5T_IEEE_F64LE, 1, 0, one);
    test_hdf_numbers(file, "/sCount", H5T_STD_I32LE, 1, 0, count);
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.units.count, 1);
    assert_spike(&recording, 0, 7500000000, 0);
    sf_recording_clear(&recording);

    hsize_t nothing = 0;
    file = test_hdf_create(path);
    hid_t space = H5Screate_simple(1, &nothing, NULL);
    H5Dclose(H5Dcreate2(file, "/spikes", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    test_hdf_numbers(file, "/sCount", H5T_STD_I32LE, 2, 0, none);
    test_hdf_close(file);
    recording = read_good();
    assert_int_equal(recording.spike_count, 0);
    assert_int_equal(recording.units.count, 2);
    sf_recording_clear(&recording);
}

/* Takes the good CARMEN file, replaces one dataset by numbers, and expects the sentence. */
static void assert_damaged_carmen(const char *dataset, size_t rows, size_t columns, const double *values,
                                  const char *words)
{
    hid_t file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_remove(file, dataset);
    test_hdf_numbers(file, dataset, H5T_IEEE_F64LE, rows, columns, values);
    test_hdf_close(file);
    assert_refused(SF_DATA, words);
}

static void damaged_carmen_is_refused(void **state)
{
    (void)state;
    assert_damaged_carmen("/sCount", 3, 0, (double[]){3, 2, 2}, "/sCount says 7 spikes and /spikes holds 6");
    assert_damaged_carmen("/sCount", 3, 0, (double[]){3, 4, -1}, "/sCount says -1 spikes of train 2");
    assert_damaged_carmen("/sCount", 3, 0, (double[]){9e18, 9e18, 9e18}, "/sCount says");
    assert_damaged_carmen("/spikes", 6, 0, (double[]){1, NAN, 3, 4, 5, 6},
                          "spike 1 of unit 'a' (#0) is at nan s");
    assert_damaged_carmen("/spikes", 6, 0, (double[]){1, 2, 3, 4, INFINITY, 6},
                          "spike 1 of unit 'b' (#1) is at inf s");
    assert_damaged_carmen("/spikes", 6, 0, (double[]){1, 2, 3, 4, 5, -6}, "which is negative");
    assert_damaged_carmen("/spikes", 6, 0, (double[]){1, 2, 3, 4, 5, 1e10}, "out of range");
    assert_damaged_carmen("/epos", 3, 2, (double[]){1, 2, 3, 4, 5, 6}, "/epos is 3 by 2");
    assert_damaged_carmen("/epos", 2, 2, (double[]){1, 2, 3, 4}, "expected 2 by 3");
    assert_damaged_carmen("/names", 3, 0, (double[]){1, 2, 3}, "/names does not hold text");

    hid_t file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_remove(file, "/names");
    test_hdf_strings(file, "/names", 3, 2, (const char *const[]){"a", "b"});
    test_hdf_remove(file, "/spikes");
    test_hdf_strings(file, "/spikes", 3, 1, (const char *const[]){"a"});
    test_hdf_close(file);
    assert_refused(SF_DATA, "/spikes does not hold numbers");

    file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_remove(file, "/names");
    test_hdf_strings(file, "/names", 3, 2, (const char *const[]){"a", "b"});
    test_hdf_close(file);
    assert_refused(SF_DATA, "there are 2 names and 3 trains");
}

/* Unsorted trains and repeated times are no damage: the first are put in order, the second kept. */
static void disorder_and_repeats_are_read(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_remove(file, "/spikes");
    test_hdf_numbers(file, "/spikes", H5T_IEEE_F64LE, 6, 0, (double[]){3, 1, 1, 9, 0, 1});
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_int_equal(recording.spike_count, 6);
    assert_spike(&recording, 0, 0, 1);
    assert_spike(&recording, 1, 1000000000, 0);
    assert_spike(&recording, 2, 1000000000, 0);
    assert_spike(&recording, 3, 1000000000, 2);
    sf_recording_clear(&recording);
}

/* A shape may promise terabytes: nothing is allocated for what the file does not store. */
static void promised_sizes_are_checked(void **state)
{
    (void)state;
    hsize_t size = (hsize_t)1 << 40, chunk = 1024;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_remove(file, "/spikes");
    hid_t space = H5Screate_simple(1, &size, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, &chunk);
    H5Dclose(H5Dcreate2(file, "/spikes", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Sclose(space);
    test_hdf_close(file);
    assert_refused(SF_DATA, "its shape says 1099511627776 values and it stores 0 bytes");
}

/* Links out of the file are not followed: a recording cannot make synfire read another file. */
static void other_files_are_not_followed(void **state)
{
    (void)state;
    char *other = test_temporary_path(".h5");
    hid_t file = test_hdf_create(other);
    test_hdf_fill_carmen(file);
    test_hdf_close(file);
    file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_remove(file, "/spikes");
    assert_true(H5Lcreate_external(other, "/spikes", file, "/spikes", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    test_hdf_close(file);
    assert_refused(SF_DATA, "/spikes (a link into another file, '");

    file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_remove(file, "/spikes");
    hsize_t size = 6;
    hid_t space = H5Screate_simple(1, &size, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_external(creation, other, 0, 48) >= 0);
    H5Dclose(H5Dcreate2(file, "/spikes", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Sclose(space);
    test_hdf_close(file);
    assert_refused(SF_DATA, "/spikes refers to another file");
    unlink(other);
    free(other);

    file = test_hdf_create(path); /* a link inside the file is as good as the dataset */
    test_hdf_fill_carmen(file);
    assert_true(H5Lmove(file, "/spikes", file, "/meta/here", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_soft("/meta/here", file, "/spikes", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_int_equal(recording.spike_count, 6);
    sf_recording_clear(&recording);
}

/* ---- NWB ---- */

static void nwb_is_read(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_string_equal(recording.format, "NWB 2.6.0 units");
    assert_int_equal(recording.spike_count, 6);
    assert_spike(&recording, 0, -500000000, 0); /* times before the reference are legal */
    assert_spike(&recording, 1, 1500, 2);
    const sf_unit *units = recording.units.items;
    assert_string_equal(units[0].name, "10");
    assert_string_equal(units[2].name, "2");
    assert_int_equal(units[0].kind, SF_UNIT_SORTED);
    assert_int_equal(units[1].kind, SF_UNIT_NOISE);
    assert_int_equal(units[2].kind, SF_UNIT_MULTI_UNIT);
    assert_true(units[0].x_um == 10 && units[0].y_um == 1); /* between its two electrodes */
    assert_int_equal(units[0].electrode, -1);
    assert_true(units[1].x_um == 60 && units[1].y_um == 5);
    assert_int_equal(units[1].electrode, 8);
    /* Units are observed in [-1,2] [4,6], [1.5,3], [-1,3]: together [-1,3] and [4,6]. */
    assert_true(recording.declared && recording.observed_count == 2);
    assert_int_equal(recording.observed[0].stop_ns, 3000000000);
    assert_int_equal(recording.observed[1].start_ns, 4000000000);
    assert_int_equal(sf_recording_duration_ns(&recording), 6000000000);
    assert_string_equal(test_metadata(&recording, "subject"), "M1");
    assert_string_equal(test_metadata(&recording, "session"), "s7");
    sf_recording_clear(&recording);
}

/* Words of a person count before a sorter's, and `unsorted` leaves it to the next column. */
static void nwb_labels_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *column, *labels[3], *next, *others[3];
        sf_unit_kind kinds[3];
    } columns[] = {
        {"quality", {"noise", "good", "mua"}, NULL, {0}, {SF_UNIT_NOISE, SF_UNIT_SORTED, SF_UNIT_MULTI_UNIT}},
        {"group", {"noise", "good", "mua"}, NULL, {0}, {SF_UNIT_NOISE, SF_UNIT_SORTED, SF_UNIT_MULTI_UNIT}},
        {"KSLabel", {"mua", "good", "noise"}, NULL, {0}, {SF_UNIT_MULTI_UNIT, SF_UNIT_SORTED, SF_UNIT_NOISE}},
        {"ks_label",
         {"mua", "good", "noise"},
         NULL,
         {0},
         {SF_UNIT_MULTI_UNIT, SF_UNIT_SORTED, SF_UNIT_NOISE}},
        {"group",
         {"noise", "unsorted", "unsorted"},
         "KSLabel",
         {"good", "mua", "good"},
         {SF_UNIT_NOISE, SF_UNIT_MULTI_UNIT, SF_UNIT_SORTED}},
        {"quality",
         {"mua", "unsorted", "shank 2"},
         "ks_label",
         {"good", "noise", "mua"},
         {SF_UNIT_MULTI_UNIT, SF_UNIT_NOISE, SF_UNIT_MULTI_UNIT}},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        char place[64];
        hid_t file = test_hdf_create(path);
        test_hdf_fill_nwb(file);
        test_hdf_remove(file, "/units/quality");
        snprintf(place, sizeof place, "/units/%s", columns[i].column);
        test_hdf_strings(file, place, 0, 3, columns[i].labels);
        snprintf(place, sizeof place, "/units/%s", columns[i].next != NULL ? columns[i].next : "");
        if (columns[i].next != NULL) test_hdf_strings(file, place, 0, 3, columns[i].others);
        test_hdf_close(file);
        sf_recording recording = read_good();
        for (size_t u = 0; u < 3; u++)
            if (recording.units.items[u].kind != columns[i].kinds[u])
                fail_msg("%s, unit %zu is %d", columns[i].column, u, (int)recording.units.items[u].kind);
        sf_recording_clear(&recording);
    }
}

/* What the table may lack: geometry (zeros are none), ids, electrodes; and an electrode a unit without an
 * index. */
static void sparse_nwb_is_read(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "y", "x"};
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_remove(file, "/general/extracellular_ephys/electrodes/rel_x");
    test_hdf_remove(file, "/units/id");
    test_hdf_remove(file, "/units/obs_intervals");
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_string_equal(recording.units.items[2].name, "2");
    assert_false(sf_units_have_geometry(&recording.units));
    assert_true(isnan(recording.units.items[0].x_um));
    assert_false(recording.declared);
    sf_recording_clear(&recording);

    file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_remove(file, "/units/electrodes");
    test_hdf_remove(file, "/units/electrodes_index");
    test_hdf_numbers(file, "/units/electrodes", H5T_STD_I64LE, 3, 0, (double[]){3, 0, 1});
    test_hdf_strings(file, "/units/unit_name", 4, 3, names);
    test_hdf_close(file);
    recording = read_good();
    assert_true(recording.units.items[0].x_um == 60 && recording.units.items[2].x_um == 20);
    assert_int_equal(recording.units.items[0].electrode, 8);
    assert_string_equal(recording.units.items[0].name, "x");
    assert_string_equal(recording.units.items[2].name, "x_2");
    sf_recording_clear(&recording);
}

#define ELECTRODES "/general/extracellular_ephys/electrodes/"

/* Positions on the probe come before those in the brain, and either only where they tell electrodes apart. */
static void nwb_positions_are_those_that_differ(void **state)
{
    (void)state;
    static const double probe[] = {0, 20, 40, 60}, brain[] = {1, 2, 3, 4},
                        point[] = {26.63, 26.63, 26.63, 26.63}, untold[] = {NAN, NAN, NAN, NAN};
    const struct {
        const double *rel_x, *x;
        double first_x; /* of the second unit, which is at row 3 */
    } cases[] = {{probe, brain, 60},  {NULL, brain, 4},    {point, brain, 4},  {untold, brain, 4},
                 {probe, untold, 60}, {point, point, NAN}, {NULL, point, NAN}, {untold, untold, NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hid_t file = test_hdf_create(path);
        test_hdf_fill_nwb(file);
        static const char *const columns[] = {"rel_x", "rel_y", "x", "y"};
        for (size_t k = 0; k < 4; k++) {
            char name[80];
            const double *values = k < 2 ? cases[i].rel_x : cases[i].x;
            snprintf(name, sizeof name, ELECTRODES "%s", columns[k]);
            test_hdf_remove(file, name);
            if (values != NULL) test_hdf_numbers(file, name, H5T_IEEE_F64LE, 4, 0, values);
        }
        test_hdf_close(file);
        sf_recording recording = read_good();
        double x_um = recording.units.items[1].x_um;
        if (isnan(cases[i].first_x) ? !isnan(x_um) : x_um != cases[i].first_x)
            fail_msg("case %zu: at %g", i, x_um);
        sf_recording_clear(&recording);
    }
    static const double elsewhere[] = {1000, 1100, 1100, 1200, 1200, 1300, 1000, 1300};
    hid_t outside = test_hdf_create(path);
    test_hdf_fill_nwb(outside);
    test_hdf_remove(outside, "/units/obs_intervals");
    test_hdf_numbers(outside, "/units/obs_intervals", H5T_IEEE_F64LE, 4, 2, elsewhere);
    test_hdf_close(outside);
    sf_recording unobserved = read_good();
    assert_string_equal(test_metadata(&unobserved, "observed"),
                        "no spike lies where obs_intervals say it was observed, 1000 to 1300 s: they are "
                        "not believed");
    assert_false(unobserved.declared); /* it lasts as long as its spikes, and not from them to there */
    assert_int_equal(unobserved.observed_count, 0);
    assert_int_equal(unobserved.recorded.start_ns, unobserved.spikes[0].time_ns);
    assert_int_equal(unobserved.recorded.stop_ns, unobserved.spikes[unobserved.spike_count - 1].time_ns + 1);
    sf_recording_clear(&unobserved);
    hid_t file = test_hdf_create(path); /* neither a region nor a column of electrodes */
    test_hdf_fill_nwb(file);
    test_hdf_remove(file, "/units/electrodes");
    test_hdf_remove(file, "/units/electrodes_index");
    test_hdf_attribute_number(file, "/units/spike_times", "resolution", H5T_IEEE_F64LE, 0.00005);
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_false(sf_units_have_geometry(&recording.units));
    assert_int_equal(recording.units.items[1].electrode, -1);
    assert_string_equal(test_metadata(&recording, "resolution_s"), "5e-05");
    assert_int_equal(recording.tick_ns, 50000); /* as the file says, whatever its few spikes have in common */
    sf_recording_clear(&recording);
}

/* rel_x and rel_y are of each group its own: groups that lie on one another are set side by side, and shanks
 * that do not are left. */
static void nwb_groups_that_overlap_are_set_apart(void **state)
{
    (void)state;
    static const double level[] = {0, 0, 0, 0}, places[2][4] = {{0, 20, 0, 20}, {0, 20, 40, 60}},
                        expected[2] = {10040, 60}; /* of the second unit, at row 3 */
    static const char *const groups[] = {"probe A", "probe A", "probe B", "probe B"};
    for (size_t i = 0; i < 2; i++) {
        hid_t file = test_hdf_create(path);
        test_hdf_fill_nwb(file);
        test_hdf_remove(file, ELECTRODES "rel_x");
        test_hdf_remove(file, ELECTRODES "rel_y");
        test_hdf_numbers(file, ELECTRODES "rel_x", H5T_IEEE_F64LE, 4, 0, places[i]);
        test_hdf_numbers(file, ELECTRODES "rel_y", H5T_IEEE_F64LE, 4, 0, level);
        test_hdf_strings(file, ELECTRODES "group_name", 0, 4, groups);
        test_hdf_close(file);
        sf_recording recording = read_good();
        assert_true(recording.units.items[1].x_um == expected[i]);
        if (i == 0)
            assert_string_equal(test_metadata(&recording, "positions"),
                                "relative to each of 2 electrode groups, which are laid side by side");
        else
            assert_null(test_metadata(&recording, "positions"));
        sf_recording_clear(&recording);
    }
    char *real = test_data_path("cases/nwb/two_probes.nwb");
    if (real == NULL) skip();
    sf_recording recording;
    assert_int_equal(sf_recording_read(&recording, real, NULL, NULL, NULL), SF_OK);
    const sf_unit *units = recording.units.items;
    assert_int_equal(recording.units.count, 3); /* p0u0, p1u0, p0u1 */
    assert_true(fabs(units[0].x_um - units[1].x_um) >= 10000);
    assert_true(fabs(units[0].x_um - units[2].x_um) == 500);
    sf_recording_clear(&recording);
    free(real);
}

static void units_of_nwb_in_another_file_are_named(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_remove(file, "/units");
    assert_true(H5Lcreate_external("spikes.nwb", "/units", file, "/units", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    test_hdf_close(file);
    assert_refused(SF_DATA, "its /units is a link into another file, 'spikes.nwb', which is not followed");
}

/* A table that links lead to from elsewhere is one table all the same. */
static void links_to_a_table_of_nwb_are_one_table(void **state)
{
    (void)state;
    sf_recording recording;
    for (int version = 1; version <= 2; version++) {
        hid_t file = test_hdf_create(path);
        if (version == 1) {
            test_hdf_fill_nwb_1(file);
            test_hdf_group(file, "/processing/a");
            assert_true(H5Lcreate_soft("/processing/sorting/UnitTimes", file, "/processing/a/UnitTimes",
                                       H5P_DEFAULT, H5P_DEFAULT) >= 0);
        } else {
            test_hdf_fill_nwb(file);
            test_hdf_group(file, "/processing/a");
            assert_true(H5Lcreate_soft("/units", file, "/processing/a/one", H5P_DEFAULT, H5P_DEFAULT) >= 0);
            assert_true(H5Lcreate_soft("/units", file, "/processing/a/two", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        }
        test_hdf_close(file);
        sf_error error = {0};
        if (sf_recording_read(&recording, path, NULL, NULL, &error) != SF_OK)
            fail_msg("NWB %d: %s", version, error.text);
        assert_int_equal(recording.spike_count, 6);
        sf_recording_clear(&recording);
    }
}

/* NWB 2 has its version as an attribute, NWB 1 as a dataset, and so had betas of NWB 2. */
static void versions_of_nwb_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *attribute, *type, *dataset, *format;
    } cases[] = {{"2.1.0", NULL, NULL, "NWB 2.1.0 units"},
                 {NULL, "NWBFile", NULL, "NWB 2 units"},
                 {NULL, "NWBFile", "2.0b", "NWB 2 units"},
                 {NULL, NULL, "NWB-2.0.0", "NWB 2 units"},
                 {NULL, NULL, "1.0.5", "NWB 1.0.5 unit times"},
                 {NULL, "NWBFile", "NWB-1.0.6", "NWB 1.0.6 unit times"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hid_t file = test_hdf_create(path);
        test_hdf_fill_nwb(file);
        test_hdf_numbers(file, "/processing/m/UnitTimes/u/times", H5T_IEEE_F64LE, 1, 0, (double[]){1});
        H5Adelete(file, "nwb_version");
        H5Adelete(file, "neurodata_type");
        if (cases[i].attribute != NULL)
            test_hdf_attribute(file, "/", "nwb_version", i % 2 == 0, cases[i].attribute);
        if (cases[i].type != NULL) test_hdf_attribute(file, "/", "neurodata_type", i % 2 == 0, cases[i].type);
        if (cases[i].dataset != NULL)
            test_hdf_strings(file, "/nwb_version", i % 2 == 0 ? 0 : 12, i % 2, &cases[i].dataset);
        test_hdf_close(file);
        sf_recording recording = read_good();
        assert_string_equal(recording.format, cases[i].format);
        sf_recording_clear(&recording);
    }
}

/* Spikes as an electrode detected them are read where nobody sorted them. */
static void units_come_before_spike_events(void **state)
{
    (void)state;
    static const char series[] = "/acquisition/e";
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_numbers(file, "/acquisition/e/timestamps", H5T_IEEE_F64LE, 1, 0, (double[]){9});
    test_hdf_attribute(file, series, "neurodata_type", true, "SpikeEventSeries");
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_string_equal(recording.format, "NWB 2.6.0 units");
    sf_recording_clear(&recording);

    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT); /* a table elsewhere is as good */
    test_hdf_group(file, "/processing/ecephys");
    assert_true(H5Lmove(file, "/units", file, "/processing/ecephys/sorted", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    test_hdf_close(file);
    recording = read_good();
    assert_string_equal(recording.format, "NWB 2.6.0 units");
    assert_int_equal(recording.spike_count, 6);
    sf_recording_clear(&recording);

    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT); /* and one without times is none */
    test_hdf_remove(file, "/processing/ecephys/sorted/spike_times");
    test_hdf_close(file);
    recording = read_good();
    assert_string_equal(recording.format, "NWB 2.6.0 spike events");
    assert_int_equal(recording.spike_count, 1);
    sf_recording_clear(&recording);
}

static void assert_marker(const sf_recording *recording, size_t i, int64_t time_ns, const char *text)
{
    assert_int_equal(recording->markers[i].time_ns, time_ns);
    assert_int_equal(recording->markers[i].kind, SF_MARKER_TEXT);
    assert_string_equal(recording->markers[i].text, text);
}

static void fill_intervals(hid_t file)
{
    static const double starts[] = {0, 2.5, 3}, stops[] = {1, 3, NAN}, ends[] = {1, 1, 3}, trials[] = {0.5};
    static const char *const tags[] = {"rest", "light", "weak"};
    test_hdf_fill_nwb(file);
    test_hdf_numbers(file, "/intervals/epochs/start_time", H5T_IEEE_F64LE, 3, 0, starts);
    test_hdf_numbers(file, "/intervals/epochs/stop_time", H5T_IEEE_F64LE, 3, 0, stops);
    test_hdf_strings(file, "/intervals/epochs/tags", 0, 3, tags);
    test_hdf_numbers(file, "/intervals/epochs/tags_index", H5T_STD_U8LE, 3, 0, ends);
    test_hdf_numbers(file, "/intervals/trials/start_time", H5T_IEEE_F32LE, 1, 0, trials);
    test_hdf_numbers(file, "/intervals/trials/stop_time", H5T_IEEE_F32LE, 1, 0, trials);
    test_hdf_group(file, "/intervals/notes");
}

static void intervals_of_nwb_are_markers(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    fill_intervals(file);
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_int_equal(recording.marker_count, 7);
    assert_marker(&recording, 0, 0, "rest");
    assert_marker(&recording, 1, 500000000, "trials");
    assert_marker(&recording, 2, 500000000, "trials end");
    assert_marker(&recording, 3, 1000000000, "rest end");
    assert_marker(&recording, 4, 2500000000, "epochs"); /* it has no tags */
    assert_marker(&recording, 5, 3000000000, "epochs end");
    assert_marker(&recording, 6, 3000000000, "light,weak"); /* without a stop */
    sf_recording_clear(&recording);

    static const struct {
        const char *dataset;
        size_t rows;
        double values[3];
        const char *words;
    } bad[] = {{"/intervals/epochs/stop_time", 2, {1, 2}, "epochs has 3 starts and 2 stops"},
               {"/intervals/epochs/tags_index", 2, {1, 3}, "tags_index has 2 rows and there are 3 intervals"},
               {"/intervals/epochs/tags_index", 3, {1, 2, 9}, "row 2 of tags_index is 9"},
               {"/intervals/epochs/start_time", 3, {0, 1, 1e300}, "the interval light,weak is at 1e+300 s"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        file = test_hdf_create(path);
        fill_intervals(file);
        test_hdf_remove(file, bad[i].dataset);
        test_hdf_numbers(file, bad[i].dataset, H5T_IEEE_F64LE, bad[i].rows, 0, bad[i].values);
        test_hdf_close(file);
        assert_refused(SF_DATA, bad[i].words);
    }
}

static void assert_damaged_nwb(const char *dataset, size_t rows, const double *values, const char *words)
{
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_remove(file, dataset);
    if (rows > 0) test_hdf_numbers(file, dataset, H5T_IEEE_F64LE, rows, 0, values);
    test_hdf_close(file);
    assert_refused(SF_DATA, words);
}

static void damaged_nwb_is_refused(void **state)
{
    (void)state;
    assert_damaged_nwb("/units/spike_times_index", 3, (double[]){3, 5, 7}, "row 2 of spike_times_index is 7");
    assert_damaged_nwb("/units/spike_times_index", 3, (double[]){3, 2, 6}, "row 1 of spike_times_index is 2");
    assert_damaged_nwb("/units/spike_times_index", 3, (double[]){3, 4, 5},
                       "spike_times_index ends at 5 and spike_times holds 6");
    assert_damaged_nwb("/units/spike_times_index", 0, NULL, "there is no dataset spike_times_index");
    assert_damaged_nwb("/units/spike_times", 0, NULL, "no spike times: this NWB file has no Units table");
    assert_damaged_nwb("/units/spike_times", 6, (double[]){1, 2, 3, 4, 5, NAN}, "unit '2' (#2) is at nan s");
    assert_damaged_nwb("/units/id", 2, (double[]){1, 2}, "2 unit ids and 3 trains");
    assert_damaged_nwb("/units/electrodes", 4, (double[]){0, 1, 2, 4}, "electrode row 4 of 4");
    assert_damaged_nwb("/units/electrodes_index", 2, (double[]){2, 4},
                       "electrodes has 2 rows and there are 3 units");
    assert_damaged_nwb("/units/electrodes_index", 0, NULL, "electrodes has 4 rows and there are 3 units");
    assert_damaged_nwb("/units/obs_intervals", 4, (double[]){1, 2, 3, 4}, "row 0 of obs_intervals");

    /* NWB 2.0 beta kept region references in the index. */
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_remove(file, "/units/spike_times_index");
    hsize_t size = 1;
    hid_t space = H5Screate_simple(1, &size, NULL);
    H5Dclose(H5Dcreate2(file, "/units/spike_times_index", H5T_STD_REF_OBJ, space, H5P_DEFAULT, H5P_DEFAULT,
                        H5P_DEFAULT));
    H5Sclose(space);
    test_hdf_close(file);
    assert_refused(SF_DATA, "NWB 2.0 beta");
}

/* ---- NWB 1 ---- */

static void nwb_1_is_read(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb_1(file);
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_string_equal(recording.format, "NWB 1.0.6 unit times");
    assert_int_equal(recording.spike_count, 6);
    /* What unit_list names comes first, then the others as people count. */
    static const char *const names[] = {"unit_10", "unit_1", "unit_2"};
    assert_int_equal(recording.units.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(recording.units.items[i].name, names[i]);
        assert_int_equal(recording.units.items[i].kind, SF_UNIT_SORTED);
        assert_true(isnan(recording.units.items[i].x_um));
    }
    assert_spike(&recording, 0, -500000000, 0);
    assert_spike(&recording, 1, 1500, 1);
    assert_spike(&recording, 2, 500000000, 2);
    assert_spike(&recording, 3, 1250000000, 0);
    assert_spike(&recording, 4, 2000000000, 2);
    assert_spike(&recording, 5, 3000000000, 0);
    assert_int_equal(recording.marker_count, 4);
    assert_marker(&recording, 0, 500000000, "light,strong");
    assert_marker(&recording, 1, 2000000000, "light,strong end");
    assert_marker(&recording, 2, 2000000000, "second"); /* it has no tags */
    assert_marker(&recording, 3, 3000000000, "second end");
    assert_string_equal(test_metadata(&recording, "subject"), "M1");
    sf_recording_clear(&recording);

    /* Without unit_list, and with a unit that never fires. */
    file = test_hdf_create(path);
    test_hdf_fill_nwb_1(file);
    test_hdf_remove(file, "/processing/sorting/UnitTimes/unit_list");
    hsize_t none = 0;
    hid_t space = H5Screate_simple(1, &none, NULL);
    hid_t silent =
        H5Gcreate2(file, "/processing/sorting/UnitTimes/silent", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(H5Dcreate2(silent, "times", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(silent);
    H5Sclose(space);
    test_hdf_close(file);
    recording = read_good();
    assert_int_equal(recording.units.count, 4);
    assert_string_equal(recording.units.items[0].name, "silent");
    assert_string_equal(recording.units.items[1].name, "unit_1");
    assert_string_equal(recording.units.items[3].name, "unit_10");
    assert_int_equal(recording.spike_count, 6);
    sf_recording_clear(&recording);
}

static void damaged_nwb_1_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *dataset;
        size_t rows; /* of what takes its place; none: nothing does */
        double values[3];
        const char *words;
    } cases[] = {
        {"/processing/sorting/UnitTimes/unit_10/times", 0, {0}, "unit_list names 'unit_10', and no group"},
        {"/processing/sorting/UnitTimes/unit_2/times", 3, {1, NAN, 2}, "unit 'unit_2' (#2) is at nan s"},
        {"/processing/sorting/UnitTimes/unit_2/times", 2, {1, 1e11}, "at 1e+11 s, which is out of range"},
        {"/processing/sorting", 0, {0}, "no spike times: this NWB 1 file has no units with them"},
        {"/epochs/first/stop_time", 2, {1, 2}, "stop_time of the epoch first holds 2 values"},
        {"/epochs/first/stop_time", 1, {1e300}, "the interval light,strong is at 1e+300 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hid_t file = test_hdf_create(path);
        test_hdf_fill_nwb_1(file);
        test_hdf_remove(file, cases[i].dataset);
        if (cases[i].rows > 0)
            test_hdf_numbers(file, cases[i].dataset, H5T_IEEE_F64LE, cases[i].rows, 0, cases[i].values);
        test_hdf_close(file);
        assert_refused(SF_DATA, cases[i].words);
    }
    static const char *const words[] = {"soon"};
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb_1(file);
    test_hdf_remove(file, "/processing/sorting/UnitTimes/unit_2/times");
    test_hdf_strings(file, "/processing/sorting/UnitTimes/unit_2/times", 0, 1, words);
    test_hdf_close(file);
    assert_refused(SF_DATA, "unit_2/times does not hold numbers");

    /* Many units that each declare as much as is let through, and store nothing. */
    file = test_hdf_create(path);
    test_hdf_fill_nwb_1(file);
    for (int i = 0; i < 100; i++) {
        char name[80];
        snprintf(name, sizeof name, "/processing/sorting/UnitTimes/hollow_%d/times", i);
        test_hdf_hollow(file, name, 1 << 20);
    }
    test_hdf_close(file);
    assert_refused(SF_DATA, "more than the file can hold");
}

static void one_of_several_modules_is_chosen(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb_1(file);
    test_hdf_numbers(file, "/processing/shank_1/UnitTimes/a/times", H5T_IEEE_F64LE, 2, 0, (double[]){1, 2});
    test_hdf_group(file, "/processing/empty/UnitTimes");
    test_hdf_close(file);
    assert_refused(SF_USAGE,
                   "there are 2 UnitTimes groups; choose one with --stream: "
                   "processing/shank_1/UnitTimes (2 spikes), processing/sorting/UnitTimes (6 spikes)");
    sf_recording recording;
    assert_int_equal(sf_recording_read(&recording, path,
                                       &(sf_reading){.stream = "processing/shank_1/UnitTimes"}, NULL, NULL),
                     SF_OK);
    assert_int_equal(recording.spike_count, 2);
    sf_recording_clear(&recording);
}

static void one_of_several_tables_is_chosen(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_numbers(file, "/processing/sorting/more/spike_times", H5T_IEEE_F64LE, 2, 0, (double[]){1, 2});
    test_hdf_numbers(file, "/processing/sorting/more/spike_times_index", H5T_STD_I8LE, 1, 0, (double[]){2});
    test_hdf_close(file);
    assert_refused(SF_USAGE, "--stream: units (6 spikes), "
                             "processing/sorting/more (2 spikes)");
    sf_recording recording;
    sf_error error;
    assert_int_equal(
        sf_recording_read(&recording, path, &(sf_reading){.stream = "processing/sorting/more"}, NULL, &error),
        SF_OK);
    assert_int_equal(recording.spike_count, 2);
    sf_recording_clear(&recording);
    test_assert_fails(sf_recording_read(&recording, path, &(sf_reading){.stream = "nothing"}, NULL, &error),
                      &error, SF_USAGE, "there is no Units table 'nothing'");

    file = test_hdf_create(path); /* a layout without streams does not ignore the option */
    test_hdf_fill_carmen(file);
    test_hdf_close(file);
    test_assert_fails(sf_recording_read(&recording, path, &(sf_reading){.stream = "units"}, NULL, &error),
                      &error, SF_USAGE, "no stream 'units'");
}

/* ---- layouts that are not read ---- */

static void foreign_layouts_are_named(void **state)
{
    (void)state;
    static const char *const one[] = {"NWB-1.0.6"};
    static const struct {
        const char *group, *dataset, *attribute, *value, *words;
    } layouts[] = {
        {"/acquisition", NULL, NULL, NULL, "no spike times: looked for those of synfire, CARMEN"},
        {"/other", "/Well_A1/Raw", NULL, NULL, "no spike times: this is a 3Brain BRW file of raw voltages"},
        {"/other", "/3BData/Raw", NULL, NULL, "raw voltages; detect spikes in BrainWave"},
        {"/other", "/Well_A1/EventsBasedSparseRaw", NULL, NULL, "raw voltages; detect spikes in BrainWave"},
        {"/other", "/Well_A1/WaveletBasedEncodedRaw", NULL, NULL, "export them as a .bxr file"},
        {"/other", "/Well_A1/StoredChIdxs", NULL, NULL, "a 3Brain file with neither voltages nor SpikeTimes"},
        {"/3BRecInfo/3BRecVars", NULL, NULL, NULL, "a 3Brain file with neither voltages nor SpikeTimes"},
        {"/acquisition/ephys", NULL, "nwb_version", "2.5.0", "sort its voltages and add the units"},
        {"/acquisition", "/nwb_version", NULL, NULL, "this NWB 1 file has no units with them"},
        {"/Data/Recording_0/AnalogStream", NULL, "McsHdf5ProtocolType", "RawData",
         "this Multi Channel Systems DataManager file holds no stream of spikes; detect them in MC_Rack"},
        {"/Acquisition", NULL, "ID.Type", "McsData",
         "a Multi Channel Systems CMOS-MEA file without a table SpikeData; detect spikes with "
         "CMOS-MEA-Tools"},
        {"/channel_groups", NULL, "kwik_version", "2", "this is a Kwik file without"},
        {"/wells", "/version", NULL, NULL, "this MaxWell file holds voltages"},
        {"/proc0", "/version", NULL, NULL,
         "this file holds /proc0, /version"}, /* not all that has a version */
    };
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        hid_t file = test_hdf_create(path);
        test_hdf_group(file, layouts[i].group);
        if (layouts[i].dataset != NULL) test_hdf_strings(file, layouts[i].dataset, 0, 0, one);
        if (layouts[i].attribute != NULL)
            test_hdf_attribute(file, "/", layouts[i].attribute, i % 2 == 0, layouts[i].value);
        test_hdf_close(file);
        assert_refused(SF_DATA, layouts[i].words);
    }

    hid_t file = test_hdf_create(path);
    test_hdf_group(file, "/mystery");
    test_hdf_close(file);
    assert_refused(SF_DATA, "this file holds /mystery");
    file = test_hdf_create(path);
    test_hdf_close(file);
    assert_refused(SF_DATA, "this file holds nothing");
}

/* ---- synfire's own ---- */

static void write_own_ended(const char *kind, const sf_span *recorded)
{
    sf_recording about = {0};
    sf_unit unit = {.name = "a", .x_um = 1, .y_um = 2};
    sf_layout *layout;
    sf_layout_options options = {.kind = kind, .overwrite = true};
    sf_spike spikes[] = {{.time_ns = 5}, {.time_ns = 7}};
    assert_int_equal(sf_units_add(&about.units, &unit, NULL), SF_OK);
    assert_int_equal(sf_units_finish(&about.units, NULL), SF_OK);
    assert_int_equal(sf_layout_create(&layout, path, &about, &options, NULL), SF_OK);
    assert_int_equal(sf_layout_append_spikes(layout, spikes, 2, NULL), SF_OK);
    assert_int_equal(sf_layout_close(layout, recorded, NULL), SF_OK);
    sf_recording_clear(&about);
}

static void write_own(const char *kind)
{
    write_own_ended(kind, &(sf_span){0, 10});
}

static void assert_damaged_own(const char *dataset, size_t rows, const double *values, const char *words)
{
    write_own("recording");
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, dataset);
    if (rows > 0)
        test_hdf_numbers(file, dataset, strcmp(dataset, "/spikes/unit") == 0 ? H5T_STD_U32LE : H5T_STD_I64LE,
                         rows, 0, values);
    test_hdf_close(file);
    assert_refused(SF_DATA, words);
}

/* A column of `rows` values of which none was written, in chunks of so many or in one piece. */
static void announce(hid_t file, const char *dataset, hid_t type, hsize_t rows, hsize_t chunk)
{
    hid_t space = H5Screate_simple(1, &rows, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk > 0) assert_true(H5Pset_chunk(creation, 1, &chunk) >= 0);
    hid_t column = H5Dcreate2(file, dataset, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(column >= 0);
    H5Dclose(column);
    H5Pclose(creation);
    H5Sclose(space);
}

/* Units that HDF5 would convert to others are refused; so are those that were announced and never written. */
static void strange_units_are_refused(void **state)
{
    (void)state;
    const hid_t types[] = {H5T_STD_I32LE, H5T_STD_I8LE, H5T_IEEE_F64LE};
    for (size_t i = 0; i < 3; i++) {
        write_own("recording");
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        test_hdf_remove(file, "/spikes/unit");
        test_hdf_numbers(file, "/spikes/unit", types[i], 2, 0, (double[]){0, -1});
        test_hdf_close(file);
        assert_refused(SF_DATA, "/spikes/unit holds signed or real numbers");
    }
    static const char *const columns[] = {"/spikes/unit", "/spikes/time_ns", "/units/x_um"};
    for (size_t i = 0; i < 6; i++) {
        write_own("recording");
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        test_hdf_remove(file, columns[i / 2]);
        announce(file, columns[i / 2], i / 2 == 0 ? H5T_STD_U32LE : H5T_STD_I64LE, i < 4 ? 2 : 1, i % 2);
        test_hdf_close(file);
        assert_refused(SF_DATA, "it was never written");
    }
    assert_damaged_own("/spikes/unit", 2, (double[]){0, 4294967295},
                       "row 1 of /spikes/unit was never written");
}

/* What a killed writer leaves, once h5clear made it a normal file: the span is open and columns differ. */
static void unfinished_synfire_files_are_read(void **state)
{
    (void)state;
    write_own_ended("recording", NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    test_hdf_remove(file, "/spikes/time_ns");
    test_hdf_numbers(file, "/spikes/time_ns", H5T_STD_I64LE, 4, 0, (double[]){5, -0x1p63, 6, 7});
    test_hdf_close(file);
    sf_recording recording = read_good();
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.dropped[0].count, 3);
    assert_false(recording.declared);
    sf_recording_clear(&recording);
}

static void damaged_synfire_files_are_refused(void **state)
{
    (void)state;
    assert_damaged_own("/spikes/unit", 2, (double[]){0, 1}, "spike 1 is of unit #1 and there are 1 units");
    assert_damaged_own("/spikes/unit", 1, (double[]){0}, "/spikes/time_ns has 2 rows and /spikes/unit has 1");
    assert_damaged_own("/spikes/unit", 0, NULL, "there is no dataset /spikes/unit");
    assert_damaged_own("/spikes/time_ns", 2, (double[]){5, -0x1p63},
                       "row 1 of /spikes/time_ns was never written");
    assert_damaged_own("/spikes/time_ns", 2, (double[]){5, 5e18},
                       "times reach from 5e-09 s to 5e+09 s, beyond 146 years");
    assert_damaged_own("/units/x_um", 2, (double[]){5, 6}, "/units/name has 1 rows and /units/x_um has 2");
    write_own("graph");
    assert_refused(SF_DATA, "this is a synfire file of kind graph, expected a recording");
    write_own("result");
    sf_recording recording = read_good();
    assert_int_equal(recording.spike_count, 2);
    sf_recording_clear(&recording);

    write_own("recording");
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    int later = SF_LAYOUT_VERSION + 1;
    hid_t attribute = H5Aopen(file, "layout", H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT, &later) >= 0);
    H5Aclose(attribute);
    test_hdf_close(file);
    assert_refused(SF_DATA, "written by a later synfire");
}

/* ---- files that are no recording ---- */

static void write_bytes(const char *bytes, size_t size)
{
    unlink(path); /* some file systems write a file that is cut to nothing out to the disk */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    unlink(path);
    assert_refused(SF_NO_INPUT, "No such file");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(SF_NO_INPUT, "this is a directory, expected a recording file or a folder of Phy");
    rmdir(path);
    sf_recording recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&recording, "/dev/zero", NULL, NULL, &error), &error, SF_NO_INPUT,
                      "this is a device");
    write_bytes("", 0);
    assert_refused(SF_DATA, "the file is empty");
    write_bytes("\x93NUMPY\x01\x00v\x00", 10);
    assert_refused(SF_DATA, "neither HDF5 nor lines of name,seconds");
    write_bytes("\x89HDF", 4);
    assert_refused(SF_DATA, "this HDF5 file is damaged");
    write_bytes("\x89HDF\r\n\x1a\ngarbage", 15);
    assert_refused(SF_DATA, "this HDF5 file is damaged");
    if (geteuid() != 0) {
        chmod(path, 0);
        assert_refused(SF_NO_INPUT, "Permission denied");
    }
}

static size_t read_bytes(const char *from, char **bytes)
{
    struct stat about;
    FILE *file = fopen(from, "rb");
    assert_true(file != NULL && fstat(fileno(file), &about) == 0);
    *bytes = malloc((size_t)about.st_size);
    assert_int_equal(fread(*bytes, 1, (size_t)about.st_size, file), (size_t)about.st_size);
    fclose(file);
    return (size_t)about.st_size;
}

/* Cut anywhere, a file is damaged, and never crashes or is half read. */
static void assert_cuts_are_refused(int usual)
{
    char *bytes;
    size_t size = read_bytes(path, &bytes), cuts = (size_t)test_rounds(usual);
    for (size_t i = 0; i < cuts; i++) {
        size_t length = i < 16 ? 4 + i : i * size / cuts;
        write_bytes(bytes, length);
        assert_refused(SF_DATA, "damaged");
    }
    free(bytes);
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_close(file);
    assert_cuts_are_refused(200);
    file = test_hdf_create(path);
    test_hdf_fill_nwb(file);
    test_hdf_close(file);
    assert_cuts_are_refused(200);
    file = test_hdf_create(path);
    test_hdf_fill_nwb_1(file);
    test_hdf_close(file);
    assert_cuts_are_refused(200);
    write_own("recording");
    assert_cuts_are_refused(200);
    char *real = test_data_path("recordings/Torborg2004_2001-10-22-0.h5");
    if (real == NULL) return;
    char *bytes;
    size_t size = read_bytes(real, &bytes);
    write_bytes(bytes, size);
    free(bytes);
    free(real);
    assert_cuts_are_refused(100);
}

/* Damage to the bytes gives a recording or a refusal. The seed is fixed, and no file with variable-length
 * strings is among them: damage to those makes HDF5 1.10 itself loop or crash. */
static void overwritten_bytes_do_no_harm(void **state)
{
    (void)state;
    test_random random = {.state = 11};
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0) {
            hid_t file = test_hdf_create(path);
            test_hdf_fill_carmen(file);
            test_hdf_close(file);
        } else {
            write_own("recording");
        }
        char *bytes;
        size_t size = read_bytes(path, &bytes);
        for (int i = 0; i < test_rounds(300); i++) {
            size_t at = test_random_below(&random, size);
            char before = bytes[at];
            bytes[at] = (char)test_random_bits(&random);
            write_bytes(bytes, size);
            bytes[at] = before;
            sf_recording recording;
            sf_error error = {0};
            int status = sf_recording_read(&recording, path, NULL, NULL, &error);
            if (status != SF_OK && status != SF_DATA) fail_msg("status %d: %s", status, error.text);
            sf_recording_clear(&recording);
        }
        free(bytes);
    }
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_carmen(file);
    test_hdf_close(file);
    test_fail_every_allocation(test_read_and_free, &(test_reading){path, NULL});
    file = test_hdf_create(path);
    fill_intervals(file);
    test_hdf_close(file);
    test_fail_every_allocation(test_read_and_free, &(test_reading){path, NULL});
    file = test_hdf_create(path);
    test_hdf_fill_nwb_1(file);
    test_hdf_close(file);
    test_fail_every_allocation(test_read_and_free, &(test_reading){path, NULL});
    write_own("recording");
    test_fail_every_allocation(test_read_and_free, &(test_reading){path, NULL});
    write_bytes("name,seconds\nb,2\na,1\n", 21);
    test_fail_every_allocation(test_read_and_free, &(test_reading){path, NULL});
}

static bool stop_at_once(void *user, const char *what, double done, double total)
{
    (void)user, (void)what, (void)done, (void)total;
    return false;
}

static void reading_can_be_stopped(void **state)
{
    (void)state;
    write_own("recording");
    sf_progress progress = {.update = stop_at_once};
    sf_recording recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&recording, path, NULL, &progress, &error), &error, SF_CANCELLED,
                      "stopped");
    assert_null(recording.units.items);
}

#define WITH_PATH(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PATH(carmen_is_read),
        WITH_PATH(carmen_variants_are_read),
        WITH_PATH(what_carmen_says_besides_is_told),
        WITH_PATH(packed_columns_are_read),
        WITH_PATH(chunks_are_unpacked_once),
        WITH_PATH(a_recording_may_be_almost_empty),
        WITH_PATH(damaged_carmen_is_refused),
        WITH_PATH(disorder_and_repeats_are_read),
        WITH_PATH(promised_sizes_are_checked),
        WITH_PATH(other_files_are_not_followed),
        WITH_PATH(nwb_is_read),
        WITH_PATH(nwb_labels_are_read),
        WITH_PATH(intervals_of_nwb_are_markers),
        WITH_PATH(sparse_nwb_is_read),
        WITH_PATH(nwb_positions_are_those_that_differ),
        WITH_PATH(nwb_groups_that_overlap_are_set_apart),
        WITH_PATH(units_of_nwb_in_another_file_are_named),
        WITH_PATH(links_to_a_table_of_nwb_are_one_table),
        WITH_PATH(versions_of_nwb_are_told_apart),
        WITH_PATH(units_come_before_spike_events),
        WITH_PATH(damaged_nwb_is_refused),
        WITH_PATH(nwb_1_is_read),
        WITH_PATH(damaged_nwb_1_is_refused),
        WITH_PATH(one_of_several_modules_is_chosen),
        WITH_PATH(one_of_several_tables_is_chosen),
        WITH_PATH(foreign_layouts_are_named),
        WITH_PATH(strange_units_are_refused),
        WITH_PATH(unfinished_synfire_files_are_read),
        WITH_PATH(damaged_synfire_files_are_refused),
        WITH_PATH(what_is_no_file_is_refused),
        WITH_PATH(cut_files_are_refused),
        WITH_PATH(overwritten_bytes_do_no_harm),
        WITH_PATH(no_failed_allocation_leaks),
        WITH_PATH(reading_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
