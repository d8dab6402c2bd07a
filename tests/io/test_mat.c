/* SPDX-License-Identifier: Apache-2.0 */
/* MATLAB files of spike times: v7.3 made by HDF5, and where libmatio is found, every version made by it. */
#include "support/hdf_files.h"
#include "support/recordings.h"
#include "support/support.h"

#include "core/memory.h"
#include "replay/mat.h"
#include "replay/recording_file.h"

#include <math.h>
#include <unistd.h>

static const double first[] = {0.5, 1.25, 3}, second[] = {0.5, 2}, third[] = {0.1};

static sf_recording read_good(const char *stream, double rate_hz)
{
    sf_recording recording;
    sf_error error = {0};
    const sf_reading how = {.stream = stream, .rate_hz = rate_hz};
    if (sf_recording_read(&recording, test_path, &how, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    return recording;
}

static void assert_refused(const char *stream, sf_status code, const char *words)
{
    sf_recording recording;
    sf_error error = {0};
    const sf_reading how = {.stream = stream};
    test_assert_fails(sf_recording_read(&recording, test_path, &how, NULL, &error), &error, code, words);
}

/* The six spikes, of units of these names. */
static void assert_spikes(const sf_recording *recording, const char *format, const char *const names[3])
{
    static const int64_t times[] = {100000000, 500000000, 500000000, 1250000000, 2000000000, 3000000000};
    static const uint32_t units[] = {2, 0, 1, 0, 1, 0};
    assert_string_equal(recording->format, format);
    assert_int_equal(recording->units.count, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(recording->units.items[i].name, names[i]);
    assert_int_equal(recording->spike_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(recording->spikes[i].time_ns, times[i]);
        assert_int_equal(recording->spikes[i].unit, units[i]);
    }
}

static const char *const channels[] = {"11", "12", "21"}, *const places[] = {"1", "2", "3"},
                         *const variables[] = {"sig001a", "sig001b", "sig002a"};

/* ---- v7.3, by HDF5 alone ---- */

static void put_vector(hid_t file, const char *name, size_t count, const double *values)
{
    test_hdf_numbers(file, name, H5T_IEEE_F64LE, count, 1, values);
    test_hdf_attribute(file, name, "MATLAB_class", false, "double");
}

static void put_cell(hid_t file, const char *name, size_t count, const char *const *elements)
{
    hobj_ref_t references[8];
    hsize_t size[2] = {count, 1};
    for (size_t i = 0; i < count; i++)
        assert_true(H5Rcreate(&references[i], file, elements[i], H5R_OBJECT, -1) >= 0);
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t dataset = H5Dcreate2(file, name, H5T_STD_REF_OBJ, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    assert_true(H5Dwrite(dataset, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

static void put_trains(hid_t file)
{
    static const char *const names[] = {"/#refs#/a", "/#refs#/b", "/#refs#/c"};
    put_vector(file, names[0], 3, first);
    put_vector(file, names[1], 2, second);
    put_vector(file, names[2], 1, third);
    put_cell(file, "spikeTimes", 3, names);
    test_hdf_attribute(file, "spikeTimes", "MATLAB_class", false, "cell");
}

static void cells_of_hdf5_are_units(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(test_path);
    put_trains(file);
    test_hdf_close(file);
    sf_recording recording = read_good(NULL, 0);
    assert_spikes(&recording,
                  "MATLAB: a unit of each cell of spikeTimes, times in s, as no unit of time is named",
                  places);
    sf_recording_clear(&recording);
    assert_refused("x", SF_USAGE, "there is no stream 'x' to choose");
}

/* A field of an array of structs is references, one for each element. */
static void arrays_of_structs_have_methods(void **state)
{
    (void)state;
    static const char *const names[] = {"/#refs#/a", "/#refs#/b", "/#refs#/c"};
    hid_t file = test_hdf_create(test_path);
    put_trains(file);
    H5Ldelete(file, "spikeTimes", H5P_DEFAULT);
    test_hdf_group(file, "spikeTimes");
    test_hdf_attribute(file, "spikeTimes", "MATLAB_class", false, "struct");
    put_cell(file, "spikeTimes/thr5", 3, names);
    put_cell(file, "spikeTimes/mea", 2, names);
    test_hdf_close(file);
    assert_refused(NULL, SF_USAGE,
                   "there are 2 methods; choose one with --stream: mea (5 spikes), thr5 (6 spikes)");
    sf_recording recording = read_good("thr5", 0);
    assert_spikes(&recording,
                  "MATLAB: a unit of each cell of spikeTimes, thr5, times in s, as no unit of time is named",
                  places);
    sf_recording_clear(&recording);
    recording = read_good("mea", 0);
    assert_int_equal(recording.spike_count, 5);
    assert_int_equal(recording.units.count, 3);
    sf_recording_clear(&recording);
}

static void vectors_are_a_table_or_units(void **state)
{
    (void)state;
    static const double samples[] = {12500, 31250, 75000, 12500, 50000, 2500},
                        ids[] = {11, 11, 11, 12, 12, 21}, rate[] = {25000};
    hid_t file = test_hdf_create(test_path);
    put_vector(file, "spike_samples", 6, samples);
    put_vector(file, "spike_clusters", 6, ids);
    put_vector(file, "fs", 1, rate);
    test_hdf_close(file);
    sf_recording recording = read_good(NULL, 0);
    assert_spikes(&recording, "MATLAB: units of a vector beside spike_samples, times in samples", channels);
    assert_int_equal(recording.tick_ns, 40000);
    sf_recording_clear(&recording);
    recording = read_good(NULL, 50000);
    assert_int_equal(recording.spikes[5].time_ns, 1500000000);
    sf_recording_clear(&recording);

    file = test_hdf_create(test_path);
    put_vector(file, "sig001a", 3, first);
    put_vector(file, "sig001b", 2, second);
    put_vector(file, "sig002a", 1, third);
    test_hdf_close(file);
    recording = read_good(NULL, 0);
    assert_int_equal(recording.units.count, 2); /* one number alone may be a setting */
    assert_int_equal(recording.spike_count, 5);
    assert_string_equal(recording.units.items[1].name, variables[1]);
    sf_recording_clear(&recording);
}

static void what_is_no_train_is_refused(void **state)
{
    (void)state;
    double axis[200], falling[] = {3, 2, 1}, matrix[] = {1, 2, 3, 4};
    for (int i = 0; i < 200; i++)
        axis[i] = 0.001 * i;
    hid_t file = test_hdf_create(test_path);
    put_vector(file, "t", 200, axis);
    put_vector(file, "v", 3, falling);
    test_hdf_close(file);
    assert_refused(NULL, SF_DATA, "t ascends in equal steps, as the time axis of a signal does");

    file = test_hdf_create(test_path);
    put_vector(file, "v", 3, falling);
    test_hdf_close(file);
    assert_refused(NULL, SF_DATA, "no spike times: this MATLAB file holds v; expected spikeTimes");

    file = test_hdf_create(test_path);
    test_hdf_numbers(file, "spike_times", H5T_IEEE_F64LE, 2, 2, matrix);
    test_hdf_attribute(file, "spike_times", "MATLAB_class", false, "double");
    test_hdf_close(file);
    assert_refused(NULL, SF_DATA, "spike_times is a matrix");

    file = test_hdf_create(test_path);
    put_trains(file);
    put_vector(file, "spike_times_ms", 3, first);
    test_hdf_close(file);
    assert_refused(NULL, SF_DATA, "both spikeTimes and spike_times_ms may be the times of spikes");
}

/* ---- by libmatio ---- */

#ifdef SYNFIRE_HAVE_MATIO

#include <matio.h>

static matvar_t *vector(const char *name, size_t count, const double *values)
{
    size_t size[] = {1, count};
    return Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, (void *)(uintptr_t)values, 0);
}

static matvar_t *text(const char *name, const char *value)
{
    size_t size[] = {1, strlen(value)};
    return Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UINT8, 2, size, (void *)(uintptr_t)value, 0);
}

static void write_variable(mat_t *file, matvar_t *variable, bool packed)
{
    assert_int_equal(Mat_VarWrite(file, variable, packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(variable);
}

static matvar_t *new_struct(const char *name, const char *const *fields, unsigned count)
{
    size_t one[] = {1, 1};
    return Mat_VarCreateStruct(name, 2, one, (const char **)(uintptr_t)fields, count);
}

/* As MEA-NAP saves what it detected: two methods, of which one found a spike less. */
static void write_detection(enum mat_ft version, bool packed, const char *unit)
{
    static const char *const methods[] = {"thr5", "bior1p5"}, *const params[] = {"unit", "fs", "duration"},
                             *const results[] = {"params"};
    static const double numbers[] = {11, 12, 21}, rate[] = {25000}, duration[] = {10}, waves[400];
    const double *trains[] = {first, second, third};
    const size_t counts[] = {3, 2, 1};
    size_t three[] = {1, 3}, wide[] = {20, 20};
    unlink(test_path);
    mat_t *file = Mat_CreateVer(test_path, NULL, version);
    assert_non_null(file);
    matvar_t *cell = Mat_VarCreate("spikeTimes", MAT_C_CELL, MAT_T_CELL, 2, three, NULL, 0);
    for (int i = 0; i < 3; i++) {
        matvar_t *of = new_struct(NULL, methods, 2);
        Mat_VarSetStructFieldByName(of, "thr5", 0, vector(NULL, counts[i], trains[i]));
        Mat_VarSetStructFieldByName(of, "bior1p5", 0, vector(NULL, i > 0 ? counts[i] : 2, trains[i]));
        Mat_VarSetCell(cell, i, of);
    }
    write_variable(file, cell, packed);
    write_variable(file, vector("channels", 3, numbers), packed);
    write_variable(
        file,
        Mat_VarCreate("spikeWaveforms", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, wide, (void *)(uintptr_t)waves, 0),
        packed);
    matvar_t *settings = new_struct("params", params, 3),
             *result = new_struct("spikeDetectionResult", results, 1);
    Mat_VarSetStructFieldByName(settings, "unit", 0, text(NULL, unit));
    Mat_VarSetStructFieldByName(settings, "fs", 0, vector(NULL, 1, rate));
    Mat_VarSetStructFieldByName(settings, "duration", 0, vector(NULL, 1, duration));
    Mat_VarSetStructFieldByName(result, "params", 0, settings);
    write_variable(file, result, packed);
    Mat_Close(file);
}

static void detections_of_every_version_are_read(void **state)
{
    (void)state;
    static const struct {
        enum mat_ft version;
        bool packed;
    } versions[] = {{MAT_FT_MAT5, false}, {MAT_FT_MAT5, true}, {MAT_FT_MAT73, false}};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        write_detection(versions[i].version, versions[i].packed, "s");
        assert_refused(NULL, SF_USAGE, "there are 2 methods; choose one with --stream: ");
        sf_recording recording = read_good("thr5", 0);
        assert_spikes(&recording,
                      "MATLAB: a unit of each cell of spikeTimes, thr5, times in s, as params.unit says",
                      channels);
        assert_int_equal(recording.units.items[2].electrode, 21);
        assert_true(recording.declared);
        assert_int_equal(sf_recording_duration_ns(&recording), 10000000000);
        sf_recording_clear(&recording);
        recording = read_good("bior1p5", 0);
        assert_int_equal(recording.spike_count, 5);
        sf_recording_clear(&recording);
        write_detection(versions[i].version, versions[i].packed, "ms");
        recording = read_good("thr5", 0);
        assert_int_equal(recording.spikes[5].time_ns, 3000000);
        sf_recording_clear(&recording);
        write_detection(versions[i].version, versions[i].packed, "weeks");
        assert_refused("thr5", SF_DATA, "params.unit is 'weeks', expected s, ms or frames");
    }
}

static void plain_variables_are_units(void **state)
{
    (void)state;
    static const double one[] = {7};
    mat_t *file = Mat_CreateVer(test_path, NULL, MAT_FT_MAT5);
    write_variable(file, vector("sig001a", 3, first), false);
    write_variable(file, vector("sig001b", 2, second), false);
    write_variable(file, vector("sig002a", 3, first), false);
    write_variable(file, vector("version", 1, one), false);
    write_variable(file, text("by", "hand"), false);
    Mat_Close(file);
    sf_recording recording = read_good(NULL, 0);
    assert_string_equal(recording.format,
                        "MATLAB: a unit of each vector, times in s, as no unit of time is named");
    assert_int_equal(recording.spike_count, 8);
    for (int i = 0; i < 3; i++)
        assert_string_equal(recording.units.items[i].name, variables[i]);
    sf_recording_clear(&recording);
    sf_error error = {0};
    test_assert_fails(sf_recording_spare(test_path, &error), &error, SF_CANNOT_CREATE, "is not replaced");
}

/* A file that is cut off is read where it is cut between two variables, and else refused. */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    char bytes[16384];
    for (int packed = 0; packed < 2; packed++) {
        write_detection(MAT_FT_MAT5, packed == 1, "s");
        FILE *file = fopen(test_path, "rb");
        size_t size = fread(bytes, 1, sizeof bytes, file), refused = 0;
        fclose(file);
        for (size_t length = 136; length < size; length += size / 16) {
            file = fopen(test_path, "wb");
            assert_int_equal(fwrite(bytes, 1, length, file), length);
            fclose(file);
            sf_recording recording;
            sf_error error = {0};
            if (sf_recording_read(&recording, test_path, &(sf_reading){.stream = "thr5"}, NULL, &error) ==
                SF_OK)
                sf_recording_clear(&recording);
            else
                refused += strstr(error.text, "damaged: it ends within a variable") != NULL;
        }
        assert_true(refused >= 12); /* of 16, some of which are between two */
    }
    assert_int_equal(sf_memory_live(), 0);
}

#else

static void without_the_library_it_is_said(void **state)
{
    (void)state;
    char head[128] = "MATLAB 5.0 MAT-file";
    memcpy(head + 124, "\0\1IM", 4);
    FILE *file = fopen(test_path, "wb");
    fwrite(head, 1, sizeof head, file);
    fclose(file);
    assert_null(sf_mat_library());
    assert_refused(NULL, SF_UNAVAILABLE, "this synfire was built without libmatio");
}

#endif

#define WITH_FILE(test) test_with_file(test, ".mat")

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(cells_of_hdf5_are_units),
        WITH_FILE(arrays_of_structs_have_methods),
        WITH_FILE(vectors_are_a_table_or_units),
        WITH_FILE(what_is_no_train_is_refused),
#ifdef SYNFIRE_HAVE_MATIO
        WITH_FILE(detections_of_every_version_are_read),
        WITH_FILE(plain_variables_are_units),
        WITH_FILE(damaged_files_are_refused),
#else
        WITH_FILE(without_the_library_it_is_said),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
