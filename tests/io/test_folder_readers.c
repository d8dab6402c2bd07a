/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of .npy files as sorters and the Open Ephys GUI write them, made here: the same spikes come out of
 * each, and what is damaged in them is said. */
#include "support/folders.h"
#include "support/recordings.h"
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
    {test_fill_npz_of_one,
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
                   "there are 2 segments; choose one with --stream: segment0 (6 spikes), "
                   "segment1 (1 spikes)");
    sf_recording recording = read_good("segment1", 20000);
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.spikes[0].time_ns, 350000);
    assert_int_equal(recording.units.count, 3); /* the silent ones, too */
    sf_recording_clear(&recording);

    make_afresh(test_fill_phy);
    assert_refused(&(sf_reading){.stream = "x"}, SF_USAGE, "there is no stream 'x'");
    static const char *const whole[] = {"sample_rate = 20_000\n", "sample_rate=10e3 * 2.0  # Hz\n",
                                        "sample_rate = 40000/2\n"};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        test_folder_put(folder, "params.py", whole[i], strlen(whole[i]));
        recording = read_good(NULL, 0);
        check(&recording, &layouts[0]);
        assert_int_equal(recording.tick_ns, 50000); /* of 20 kHz: its spikes are far apart */
        sf_recording_clear(&recording);
    }
    static const char *const halves[] = {"sample_rate = 20000 + 1\n", "sample_rate = 2 ** 4\n",
                                         "sample_rate = rate\n", "sample_rate = 20__000\n"};
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        test_folder_put(folder, "params.py", halves[i], strlen(halves[i]));
        assert_refused(NULL, SF_DATA, "expected a number, or a product of numbers");
    }
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

/* Clusters 0, 5 and 9, of which people and sorters say in each of their tables what they are; 0 as well. */
static void every_table_of_labels_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text, *over, *more; /* another table that it counts before */
        sf_unit_kind kinds[3];
    } tables[] = {
        {"cluster_group.tsv", "cluster_id\tgroup\n0\tnoise\n5\tgood\n9\tmua\n", NULL, NULL, {N, S, M}},
        {"cluster_group.csv", "cluster_id,group\n0,noise\n5,good\n9,mua\n", NULL, NULL, {N, S, M}},
        {"cluster_groups.csv",
         "cluster_id\tgroup\n0\tnoise\n5\tgood\n9\tmua\n",
         NULL,
         NULL,
         {N, S, M}}, /* phy 1 */
        {"cluster_KSLabel.tsv", "cluster_id\tKSLabel\n0\tmua\n5\tgood\n9\tmua\n", NULL, NULL, {M, S, M}},
        {"cluster_group.tsv",
         "cluster_id\tKSLabel\n0\tmua\n5\tgood\n9\tmua\n",
         NULL,
         NULL,
         {M, S, M}}, /* Kilosort 4 */
        {"cluster_info.tsv",
         "cluster_id\tKSLabel\tch\tgroup\n0\tgood\t1\tnoise\n5\tgood\t1\t\n9\tmua\t2\tunsorted\n",
         NULL,
         NULL,
         {N, S, M}},
        {"cluster_info.tsv", "id\tch\tgroup\n0\t1\tnoise\n5\t1\tgood\n9\t2\tmua\n", NULL, NULL, {N, S, M}},
        {"cluster_group.tsv",
         "cluster_id\tgroup\n0\tnoise\n5\tunsorted\n",
         "cluster_KSLabel.tsv",
         "cluster_id\tKSLabel\n0\tgood\n5\tgood\n9\tmua\n",
         {N, S, M}},
        {"cluster_groups.csv",
         "cluster_id\tgroup\n0\tnoise\n",
         "cluster_group.tsv",
         "cluster_id\tKSLabel\n0\tgood\n5\tgood\n9\tmua\n",
         {N, S, M}},
    };
    static const double clusters[] = {9, 0, 5, 0, 5, 0};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        make_afresh(test_fill_phy);
        test_folder_array(folder, "spike_clusters.npy", "<i4", "(6,)", 6, clusters);
        test_folder_take(folder, "cluster_KSLabel.tsv");
        test_folder_take(folder, "cluster_group.tsv");
        test_folder_take(folder, "cluster_info.tsv");
        test_folder_put(folder, tables[i].file, tables[i].text, strlen(tables[i].text));
        if (tables[i].over != NULL)
            test_folder_put(folder, tables[i].over, tables[i].more, strlen(tables[i].more));
        sf_recording recording = read_good(NULL, 0);
        for (size_t u = 0; u < 3; u++)
            if (recording.units.items[u].kind != tables[i].kinds[u])
                fail_msg("table %zu, %s: cluster %s is %d, expected %d", i, tables[i].file,
                         recording.units.items[u].name, (int)recording.units.items[u].kind,
                         (int)tables[i].kinds[u]);
        sf_recording_clear(&recording);
        sf_recording *analysed;
        assert_int_equal(sf_recording_open(&analysed, folder, NULL, NULL, NULL), SF_OK);
        assert_int_equal(analysed->spike_count,
                         tables[i].kinds[0] == N ? 3 : 6); /* cluster 0 is noise as any other */
        sf_recording_free(analysed);
    }
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
    if (order != NULL) memcpy(order, "True ", 5);
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
    assert_refused(NULL, SF_USAGE,
                   "there are 2 streams; choose one with --stream: a (5 spikes), b (1 spikes)");
    sf_recording recording = read_good("b", 0);
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.spikes[0].time_ns, 200000000);
    sf_recording_clear(&recording);
}

/* An electrode on which nothing was detected is a unit all the same. */
static void silent_electrodes_of_open_ephys_are_units(void **state)
{
    (void)state;
    static const char about[] =
        "{\"GUI version\": \"0.6.7\", \"spikes\": ["
        "{\"name\": \"E\", \"stream_name\": \"a\", \"folder\": \"one\", \"sample_rate\": 30000},"
        "{\"name\": \"T\", \"stream_name\": \"a\", \"folder\": \"two\", \"sample_rate\": 30000}]}";
    static const double none[] = {0};
    make_afresh(test_fill_open_ephys);
    test_folder_put(folder, "structure.oebin", about, strlen(about));
    test_folder_array(folder, "spikes/two/sample_numbers.npy", "<i8", "(0,)", 0, none);
    test_folder_array(folder, "spikes/two/electrode_indices.npy", "<u2", "(0,)", 0, none);
    test_folder_array(folder, "spikes/two/clusters.npy", "<u2", "(0,)", 0, none);
    sf_recording recording = read_good(NULL, 0);
    assert_int_equal(recording.spike_count, 5);
    assert_string_equal(recording.units.items[recording.units.count - 1].name, "T");
    sf_recording_clear(&recording);
    char *path = test_data_path("cases/openephys/o3_empty/Record Node 105/experiment1/recording1");
    if (path == NULL) skip();
    assert_int_equal(sf_recording_read(&recording, path, NULL, NULL, NULL), SF_OK);
    assert_int_equal(recording.units.count, 2);
    assert_string_equal(recording.units.items[1].name, "Electrode 2");
    sf_recording_clear(&recording);
    free(path);
}

/* As a program stores it that has no sign for its counter. */
static void negative_samples_without_a_sign_are_told(void **state)
{
    (void)state;
    static const double wide[] = {18446744073709551604.0, 10000, 10000, 25000, 40000, 60000},
                        narrow[] = {4294967284.0, 10000, 10000, 25000, 40000, 60000};
    make_afresh(test_fill_phy);
    test_folder_array(folder, "spike_times.npy", "<u4", "(6,)", 6, narrow);
    assert_refused(NULL, SF_DATA, "spike 0 is at sample 4294967284, which is -12 stored unsigned");
    test_folder_array(folder, "spike_times.npy", "<f8", "(6,)", 6, wide);
    assert_refused(NULL, SF_DATA,
                   "spike 0 is at a sample of 2^63 or more, as a negative one stored unsigned is");
}

static sf_recording read_archive(const char *name)
{
    char path[4096];
    sf_recording recording;
    sf_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (sf_recording_read(&recording, path, NULL, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    return recording;
}

static void archives_of_pynapple_are_read(void **state)
{
    (void)state;
    static const layout group = {.format = "pynapple TsGroup",
                                 .names = {"7", "8", "9"},
                                 .x_um = {NAN, NAN, NAN},
                                 .y_um = {NAN, NAN, NAN}};
    sf_recording recording;
    for (int packed = 0; packed < 2; packed++) {
        make_afresh(packed ? test_fill_pynapple_packed : test_fill_pynapple);
        recording = read_archive("group.npz");
        check(&recording, &group);
        assert_true(recording.declared);
        assert_int_equal(recording.observed_count, 2);
        assert_int_equal(sf_recording_duration_ns(&recording), 3750000000);
        sf_recording_clear(&recording);
    }
    test_fill_pynapple_epochs(folder);
    recording = read_archive("epochs.npz");
    assert_int_equal(recording.observed_count, 2);
    assert_int_equal(sf_recording_duration_ns(&recording), 3750000000);
    sf_recording_clear(&recording);
    test_fill_pynapple_ts(folder, false);
    recording = read_archive("ts.npz");
    assert_string_equal(recording.format, "pynapple Ts");
    assert_int_equal(recording.units.count, 1);
    assert_int_equal(recording.spike_count, 6);
    assert_false(recording.declared); /* nobody said how long was recorded */
    sf_recording_clear(&recording);
    test_fill_pynapple_ts(folder, true);
    char path[4096];
    sf_error error = {0};
    snprintf(path, sizeof path, "%s/ts.npz", folder);
    test_assert_fails(sf_recording_read(&recording, path, NULL, NULL, &error), &error, SF_DATA,
                      "this is a Tsd of pynapple, values over time");
}

/* The path to give is named where one of a folder's files is given, or a folder above; an archive of a
 * sorting alone is read under any name. */
static void what_is_near_a_folder_names_it(void **state)
{
    (void)state;
    char inside[4096], above[4096], words[4200];
    sf_recording recording;
    sf_error error = {0};
    static const struct {
        void (*fill)(const char *folder);
        const char *file;
    } cases[] = {{test_fill_phy, "params.py"},
                 {test_fill_phy, "spike_times.npy"},
                 {test_fill_open_ephys, "structure.oebin"},
                 {test_fill_open_ephys, "spikes/one/sample_numbers.npy"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_afresh(cases[i].fill);
        snprintf(inside, sizeof inside, "%s/%s", folder, cases[i].file);
        snprintf(words, sizeof words, "is one file of a recording that is a folder: give %s", folder);
        test_assert_fails(sf_recording_read(&recording, inside, NULL, NULL, &error), &error, SF_NO_INPUT,
                          words);
    }
    make_afresh(test_fill_phy);
    test_folder_put(folder, "deep/er/x", "x", 1); /* a folder inside one, and a table of clusters */
    snprintf(inside, sizeof inside, "%s/deep/er", folder);
    snprintf(words, sizeof words, "is a part of a recording that is a folder: give %s", folder);
    test_assert_fails(sf_recording_read(&recording, inside, NULL, NULL, &error), &error, SF_NO_INPUT, words);
    snprintf(inside, sizeof inside, "%s/cluster_group.tsv", folder);
    const char *clusters = "cluster_id\tgroup\n0\tnoise\n";
    test_folder_put(folder, "cluster_group.tsv", clusters, strlen(clusters));
    snprintf(words, sizeof words, "is one file of a recording that is a folder: give %s", folder);
    test_assert_fails(sf_recording_read(&recording, inside, NULL, NULL, &error), &error, SF_NO_INPUT, words);
    make_afresh(test_fill_open_ephys);
    test_folder_take(folder, "structure.oebin");
    test_folder_put(folder, "node/experiment1/recording1/structure.oebin", "{}", 2);
    snprintf(words, sizeof words,
             "this is a directory above a recording: give %s/node/experiment1/recording1", folder);
    assert_refused(NULL, SF_NO_INPUT, words);
    test_folder_put(folder, "node/experiment1/recording2/structure.oebin", "{}", 2);
    snprintf(above, sizeof above, "%s/node", folder);
    test_assert_fails(sf_recording_read(&recording, above, NULL, NULL, &error), &error, SF_NO_INPUT,
                      "this is a directory above 2 recordings: give one of them, as ");
    make_afresh(test_fill_npz);
    snprintf(inside, sizeof inside, "%s/sorting_cached.npz", folder);
    snprintf(above, sizeof above, "%s/mine.npz", folder);
    assert_int_equal(rename(inside, above), 0);
    assert_int_equal(sf_recording_read(&recording, above, NULL, NULL, &error), SF_OK);
    assert_string_equal(recording.format, "SpikeInterface npz");
    assert_int_equal(recording.spike_count, 6);
    assert_string_equal(recording.path, above);
    sf_recording_clear(&recording);
    assert_int_equal(remove(above), 0);
    test_folder_put(folder, "times.npy", "\x93NUMPY", 6);
    snprintf(inside, sizeof inside, "%s/times.npy", folder);
    test_assert_fails(sf_recording_read(&recording, inside, NULL, NULL, &error), &error, SF_DATA,
                      "this is a file of NumPy (.npy), which is not read: in Python");
    test_folder_put(folder, "a.csv.gz", "\x1f\x8b\x08\0", 4);
    snprintf(inside, sizeof inside, "%s/a.csv.gz", folder);
    test_assert_fails(sf_recording_read(&recording, inside, NULL, NULL, &error), &error, SF_DATA,
                      "this is a file of gzip (.gz), which is not read: `gunzip -k` unpacks it");
}

static void real_sampling_rates_of_phy_are_30000(void **state)
{
    (void)state;
    static const char *const cases[] = {"cases/phy/p7_underscore", "cases/phy/p7_expr"};
    for (size_t i = 0; i < 2; i++) {
        char *path = test_data_path(cases[i]);
        sf_recording recording;
        if (path == NULL) skip();
        assert_int_equal(sf_recording_read(&recording, path, NULL, NULL, NULL), SF_OK);
        assert_string_equal(test_metadata(&recording, "sampling_rate"), "30000");
        sf_recording_clear(&recording);
        free(path);
    }
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

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    for (int i = 0; i < LAYOUTS; i++) {
        make_afresh(layouts[i].fill);
        sf_reading how = {.stream = layouts[i].stream};
        test_fail_every_allocation(test_read_and_free, &(test_reading){folder, &how});
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
        WITH_FOLDER(every_table_of_labels_is_read),
        WITH_FOLDER(sparse_templates_are_read),
        WITH_FOLDER(damaged_folders_are_refused),
        WITH_FOLDER(cut_files_are_refused),
        WITH_FOLDER(no_failed_allocation_leaks),
        WITH_FOLDER(arrays_of_every_type_are_read),
        WITH_FOLDER(arrays_come_by_column_and_of_later_versions),
        WITH_FOLDER(streams_of_open_ephys_are_chosen),
        WITH_FOLDER(silent_electrodes_of_open_ephys_are_units),
        WITH_FOLDER(archives_of_pynapple_are_read),
        WITH_FOLDER(negative_samples_without_a_sign_are_told),
        WITH_FOLDER(what_is_near_a_folder_names_it),
        WITH_FOLDER(real_sampling_rates_of_phy_are_30000),
        WITH_FOLDER(numbered_units_of_spikeinterface_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
