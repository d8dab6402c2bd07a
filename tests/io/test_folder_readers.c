/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of .npy files as sorters and the Open Ephys GUI write them, made here: the same spikes come out of
 * each, and what is damaged in them is said. */
#include "support/folders.h"
#include "support/support.h"

#include "core/memory.h"
#include "io/npy.h"
#include "replay/recording_file.h"

#include <math.h>
#include <unistd.h>

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = test_folder_new();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    free(folder);
    return 0;
}

static void make_afresh(void (*fill)(const char *folder))
{
    remove_folder(NULL);
    make_folder(NULL);
    fill(folder);
}

#define S SF_UNIT_SORTED
#define M SF_UNIT_MULTI_UNIT
#define N SF_UNIT_NOISE

typedef struct layout {
    void (*fill)(const char *folder);
    const char *stream, *format, *names[3];
    double x_um[3], y_um[3];
    sf_unit_kind kinds[3];
    size_t markers;
} layout;

static const layout layouts[] = {
    {test_fill_phy, NULL, "Phy", {"2", "5", "9"}, {0, 20, 0}, {0, 0, 40}, {S, M, N}, 0},
    {test_fill_spikeinterface,
     "segment0",
     "SpikeInterface folder",
     {"a", "b", "c"},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {S, S, S},
     0},
    {test_fill_npz,
     NULL,
     "SpikeInterface npz",
     {"7", "8", "9"},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {S, S, S},
     0},
    {test_fill_npz_of_names,
     NULL,
     "SpikeInterface npz",
     {"n7", "µ8", "x"},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {S, S, S},
     0},
    {test_fill_open_ephys,
     NULL,
     "Open Ephys 0.6.7",
     {"E 1", "E 2", "T:3"},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {M, M, S},
     2},
    {test_fill_open_ephys_before_0_6,
     "spikes",
     "Open Ephys 0.5.5",
     {"E 1", "E 2", "T:3"},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {M, M, S},
     2},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static sf_recording read_good(const char *stream, double rate_hz)
{
    sf_recording recording;
    sf_error error = {0};
    if (sf_recording_read(&recording, folder, &(sf_reading){.stream = stream, .rate_hz = rate_hz}, NULL,
                          &error) != SF_OK)
        fail_msg("%s", error.text);
    return recording;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) < 1e-9;
}

static void check(const sf_recording *recording, const layout *expected)
{
    static const int64_t times[] = {100000000, 500000000, 500000000, 1250000000, 2000000000, 3000000000};
    static const int units[] = {2, 0, 1, 0, 1, 0};
    assert_string_equal(recording->format, expected->format);
    assert_int_equal(recording->units.count, 3);
    assert_int_equal(recording->spike_count, 6);
    for (int i = 0; i < 6; i++) {
        const sf_unit *unit = &recording->units.items[recording->spikes[i].unit];
        assert_int_equal(recording->spikes[i].time_ns, times[i]);
        assert_string_equal(unit->name, expected->names[units[i]]);
        if (!same(expected->x_um[units[i]], unit->x_um) || !same(expected->y_um[units[i]], unit->y_um))
            fail_msg("%s: %s is at %g, %g", expected->format, unit->name, unit->x_um, unit->y_um);
        assert_int_equal(unit->kind, expected->kinds[units[i]]);
    }
    assert_int_equal(recording->marker_count, expected->markers);
}

static void the_same_spikes_are_in_all(void **state)
{
    (void)state;
    for (int i = 0; i < LAYOUTS; i++) {
        make_afresh(layouts[i].fill);
        sf_recording recording = read_good(layouts[i].stream, 0);
        check(&recording, &layouts[i]);
        sf_recording_clear(&recording);
    }
}

static void assert_refused(const sf_reading *how, sf_status code, const char *words)
{
    sf_recording recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&recording, folder, how, NULL, &error), &error, code, words);
    assert_null(recording.spikes);
}

static void what_is_asked_for_is_read(void **state)
{
    (void)state;
    make_afresh(test_fill_spikeinterface);
    assert_refused(NULL, SF_USAGE,
                   "there are 2 segments; choose one with --stream, or '*' for each: segment0 (6 spikes), "
                   "segment1 (1 spikes)");
    sf_recording recording = read_good("segment1", 20000);
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.spikes[0].time_ns, 350000);
    assert_int_equal(recording.units.count, 3); /* the silent ones, too */
    sf_recording_clear(&recording);

    make_afresh(test_fill_phy);
    assert_refused(&(sf_reading){.stream = "x"}, SF_USAGE, "there is no stream 'x'");
    test_folder_take(folder, "params.py");
    assert_refused(NULL, SF_DATA, "looked for sample_rate in params.py): give --rate HZ");
    recording = read_good(NULL, 20000);
    check(&recording, &layouts[0]);
    sf_recording_clear(&recording);
    /* Before curation there are templates alone, and where nobody says where channels are, positions are not
     * known. */
    test_folder_take(folder, "spike_clusters.npy");
    test_folder_take(folder, "channel_positions.npy");
    recording = read_good(NULL, 20000);
    assert_string_equal(recording.units.items[0].name, "0");
    assert_true(isnan(recording.units.items[0].x_um));
    sf_recording_clear(&recording);

    make_afresh(test_fill_open_ephys);
    recording = read_good("probe", 0);
    assert_int_equal(recording.markers[0].line, 2);
    assert_int_equal(recording.markers[0].state, 1);
    assert_int_equal(recording.markers[1].time_ns, 1500000000);
    sf_recording_clear(&recording);
}

/* Sparse templates say in another file which channel a column is. */
static void sparse_templates_are_read(void **state)
{
    (void)state;
    static const double columns[] = {0, 2, 1, 2, 1, 0, 1, 0, 2};
    make_afresh(test_fill_phy);
    test_folder_array(folder, "templates_ind.npy", "<f8", "(3, 3)", 9, columns);
    sf_recording recording = read_good(NULL, 0);
    const sf_unit *unit =
        &recording.units.items[sf_units_find(&recording.units, "5")]; /* template 0: column 1 */
    assert_true(unit->x_um == 0 && unit->y_um == 40);
    assert_int_equal(unit->electrode, 12);
    sf_recording_clear(&recording);
}

/* Writes an array of a folder again in another form: by column, as MATLAB does, where `high` rows are `wide`
 * times `deep` numbers of `width` bytes; and with the header of a version of the format. */
static void write_in_form(const char *name, int version, bool by_column, size_t width, size_t high,
                          size_t wide, size_t deep)
{
    unsigned char before[2048], after[2048];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(before, 1, sizeof before, file), head = before[8] + 256U * before[9],
           more = version > 1 ? 2 : 0;
    fclose(file);
    assert_int_equal(size, 10 + head + width * high * wide * deep);
    memcpy(after, before, 10);
    after[6] = (unsigned char)version;
    memset(after + 10, 0, more); /* four bytes of length, not two */
    memcpy(after + 10 + more, before + 10, size - 10);
    char *order = by_column ? strstr((char *)after + 10 + more, "False") : NULL;
    if (order != NULL)
        memcpy(order, "True ", 5);
    for (size_t i = 0; by_column && i < high; i++)
        for (size_t j = 0; j < wide; j++)
            for (size_t k = 0; k < deep; k++)
                memcpy(after + 10 + more + head + width * ((k * wide + j) * high + i),
                       before + 10 + head + width * ((i * wide + j) * deep + k), width);
    test_folder_put(folder, name, after, size + more);
}

static void arrays_come_by_column_and_of_later_versions(void **state)
{
    (void)state;
    static const double columns[] = {0, 2, 1, 0, 1, 2, 0, 1, 2};
    for (int version = 1; version <= 3; version++) {
        for (int by_column = 0; by_column < 2; by_column++) {
            make_afresh(test_fill_phy);
            write_in_form("templates.npy", version, by_column, 4, 3, 2, 3);
            write_in_form("channel_positions.npy", version, by_column, 8, 3, 1, 2);
            write_in_form("channel_map.npy", version, by_column, 4, 3, 1, 1);
            write_in_form("spike_times.npy", version, by_column, 8, 6, 1, 1);
            sf_recording recording = read_good(NULL, 0);
            check(&recording, &layouts[0]);
            sf_recording_clear(&recording);
        }
    }
    test_folder_array(folder, "templates_ind.npy", "<f8", "(3, 3)", 9, columns);
    write_in_form("templates_ind.npy", 1, true, 8, 3, 1, 3);
    sf_recording recording = read_good(NULL, 0);
    const sf_unit *unit = &recording.units.items[sf_units_find(&recording.units, "5")];
    assert_true(unit->x_um == 0 && unit->y_um == 40);
    sf_recording_clear(&recording);
}

/* Streams have their own rates, and electrodes numbers from 1. */
static void streams_of_open_ephys_are_chosen(void **state)
{
    (void)state;
    static const char two[] =
        "{\"GUI version\": \"0.6.7\", \"spikes\": ["
        "{\"name\": \"E\", \"stream_name\": \"a\", \"folder\": \"one\", \"sample_rate\": 30000},"
        "{\"name\": \"T\", \"stream_name\": \"b\", \"folder\": \"two\", \"sample_rate\": 15000}]}";
    make_afresh(test_fill_open_ephys);
    test_folder_put(folder, "structure.oebin", two, strlen(two));
    assert_refused(
        NULL, SF_USAGE,
        "there are 2 streams; choose one with --stream, or '*' for each: a (5 spikes), b (1 spikes)");
    sf_recording recording = read_good("b", 0);
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.spikes[0].time_ns, 200000000);
    sf_recording_clear(&recording);
}

/* Units are their numbers, in whatever order records have their fields. */
static void numbered_units_of_spikeinterface_are_read(void **state)
{
    (void)state;
    static const char about[] = "{\"sampling_frequency\": 10000, \"unit_ids\": [70, 9], \"num_segments\": 1}";
    static const double rows[] = {0, 0, 1000, 0, 1, 2000};
    test_folder_array(folder, "spikes.npy",
                      "[('segment_index', '<i4'), ('unit_index', '<i4'), ('sample_index', '<i8')]", "(2,)", 6,
                      rows);
    test_folder_put(folder, "numpysorting_info.json", about, strlen(about));
    sf_recording recording = read_good(NULL, 0);
    assert_string_equal(recording.units.items[0].name, "70");
    assert_int_equal(recording.spikes[1].time_ns, 200000000);
    assert_string_equal(recording.units.items[recording.spikes[1].unit].name, "9");
    sf_recording_clear(&recording);
}

/* ---- damage ---- */

static void damaged_folders_are_refused(void **state)
{
    (void)state;
    static const double two[] = {1, 2}, far[] = {1, 2, 3, 4, 5, 9e18};
    static const struct {
        void (*fill)(const char *folder);
        const char *file; /* is taken away, or has two numbers, or the text */
        const char *text;
        const char *words;
    } cases[] = {
        {test_fill_phy, "spike_clusters.npy", "two", "it holds 2 numbers and there are 6 spikes"},
        {test_fill_phy, "spike_templates.npy", "two", "it holds 2 numbers and there are 6 spikes"},
        {test_fill_phy, "spike_times.npy", "far", "spike 5 is at sample 9000000000000000000"},
        {test_fill_phy, "spike_times.npy", "\x93NUMPY\1\0v\0{", "is a damaged .npy file"},
        {test_fill_phy, "spike_times.npy", "no array", "is a damaged .npy file"},
        {test_fill_phy, "channel_positions.npy", "two", "expected an x and a y of each channel"},
        {test_fill_phy, "channel_map.npy", "two", "it holds 2 channels and 3 have positions"},
        {test_fill_phy, "templates_ind.npy", "two", "expected the channels of 3 templates"},
        {test_fill_phy, "params.py", "sample_rate = -3\n", "says -3 samples a second"},
        {test_fill_spikeinterface, "numpysorting_info.json", "{", "line 1: "},
        {test_fill_spikeinterface, "numpysorting_info.json", "{}", "holds no list unit_ids"},
        {test_fill_spikeinterface, "numpysorting_info.json", "{\"num_segments\": 0, \"unit_ids\": []}",
         "it has 0 segments"},
        {test_fill_spikeinterface, "spikes.npy", "two", "holds no numbers named segment_index"},
        {test_fill_npz, "sorting_cached.npz", "PK", "this is no whole archive of arrays"},
        {test_fill_open_ephys, "structure.oebin", "[]", "no spike times: structure.oebin lists no spikes"},
        {test_fill_open_ephys, "structure.oebin", "{\"spikes\": [{}]}", "lists spikes without a folder"},
        {test_fill_open_ephys, "structure.oebin", "{\"spikes\": [{\"folder\": \"../x\"}]}",
         "without a folder"},
        {test_fill_open_ephys, "spikes/one/electrode_indices.npy", NULL,
         "there is no file spike_electrode_indices.npy"},
        {test_fill_open_ephys, "spikes/one/clusters.npy", "two", "it holds 2 numbers and there are 5 spikes"},
        {test_fill_open_ephys, "events/TTL/sample_numbers.npy", "far",
         "it holds 6 numbers and there are 2 spikes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_afresh(cases[i].fill);
        const char *text = cases[i].text;
        if (text == NULL)
            test_folder_take(folder, cases[i].file);
        else if (strcmp(text, "two") == 0)
            test_folder_array(folder, cases[i].file, "<i8", "(2,)", 2, two);
        else if (strcmp(text, "far") == 0)
            test_folder_array(folder, cases[i].file, "<i8", "(6,)", 6, far);
        else
            test_folder_put(folder, cases[i].file, text, strlen(text));
        assert_refused(NULL, SF_DATA, cases[i].words);
    }
    make_afresh(test_fill_phy);
    test_folder_take(folder, "spike_times.npy");
    assert_refused(NULL, SF_NO_INPUT, "this is a directory, expected a recording file or a folder of Phy");
    test_folder_put(folder, ".zgroup", "{}", 2);
    assert_refused(NULL, SF_DATA, "this is a zarr folder");
}

/* Cut anywhere, an archive or an array is damaged. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    static const char *const files[] = {"sorting_cached.npz", "spike_times.npy"};
    for (int i = 0; i < 2; i++) {
        make_afresh(i == 0 ? test_fill_npz : test_fill_phy);
        char path[4096], bytes[8192];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (size_t length = 0; length < size; length += 1 + size / 60) {
            test_folder_put(folder, files[i], bytes, length);
            assert_refused(NULL, SF_DATA, "");
        }
    }
}

static int open_and_free(void *context)
{
    sf_recording recording;
    sf_error error;
    int status = sf_recording_read(&recording, folder, context, NULL, &error);
    sf_recording_clear(&recording);
    return status;
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    for (int i = 0; i < LAYOUTS; i++) {
        make_afresh(layouts[i].fill);
        sf_reading how = {.stream = layouts[i].stream};
        test_fail_every_allocation(open_and_free, &how);
    }
}

/* ---- arrays ---- */

static void arrays_of_every_type_are_read(void **state)
{
    (void)state;
    static const char *const types[] = {"<i8", ">i8", "<i4", ">u4", "<u2", "|i1", "|u1", "<f8", ">f4", "<u8"};
    static const double numbers[] = {1, 100, 3};
    char path[4096];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        int64_t *values;
        size_t count;
        test_folder_array(folder, "x.npy", types[i], "(3,)", 3, numbers);
        snprintf(path, sizeof path, "%s/x.npy", folder);
        assert_int_equal(sf_npy_load_integers(path, &values, &count, NULL), SF_OK);
        assert_int_equal(count, 3);
        assert_true(values[0] == 1 && values[1] == 100 && values[2] == 3);
        sf_free(values);
    }
    static const double zeros[] = {0, 0, 0};
    test_folder_array(folder, "x.npy", "<c8", "(3,)", 3, zeros);
    sf_npy npy;
    sf_error error;
    test_assert_fails(sf_npy_open(&npy, path, 0, 0, &error), &error, SF_DATA, "holds no plain integers");
    test_folder_array(folder, "x.npy", "<i8", "(99999999999999999999,)", 3, zeros);
    test_assert_fails(sf_npy_open(&npy, path, 0, 0, &error), &error, SF_DATA, "is no array");
    test_folder_array(folder, "x.npy", "<i8", "(4294967296, 4294967296)", 3, zeros);
    test_assert_fails(sf_npy_open(&npy, path, 0, 0, &error), &error, SF_DATA, "expected 4294967296 x");
    test_folder_array(folder, "x.npy", "<i8", "(4,)", 3, zeros);
    test_assert_fails(sf_npy_open(&npy, path, 0, 0, &error), &error, SF_DATA, "expected 4 x 1 numbers of 8");
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(the_same_spikes_are_in_all),
        WITH_FOLDER(what_is_asked_for_is_read),
        WITH_FOLDER(sparse_templates_are_read),
        WITH_FOLDER(damaged_folders_are_refused),
        WITH_FOLDER(cut_files_are_refused),
        WITH_FOLDER(no_failed_allocation_leaks),
        WITH_FOLDER(arrays_of_every_type_are_read),
        WITH_FOLDER(arrays_come_by_column_and_of_later_versions),
        WITH_FOLDER(streams_of_open_ephys_are_chosen),
        WITH_FOLDER(numbered_units_of_spikeinterface_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
