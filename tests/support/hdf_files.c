/* SPDX-License-Identifier: Apache-2.0 */
#include "support/hdf_files.h"

#include "support/support.h"

hid_t test_hdf_create(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

void test_hdf_close(hid_t file)
{
    assert_int_equal(H5Fget_obj_count(file, H5F_OBJ_ALL), 1);
    assert_true(H5Fclose(file) >= 0);
}

static hid_t make_groups(void)
{
    hid_t list = H5Pcreate(H5P_LINK_CREATE);
    assert_true(list >= 0 && H5Pset_create_intermediate_group(list, 1) >= 0);
    return list;
}

static void write_dataset(hid_t file, const char *path, hid_t type, hid_t space, hid_t memory,
                          const void *values)
{
    hid_t links = make_groups();
    hid_t dataset = H5Dcreate2(file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    assert_true(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Pclose(links);
}

void test_hdf_numbers(hid_t file, const char *path, hid_t stored, size_t rows, size_t columns,
                      const double *values)
{
    static const double nothing;
    hsize_t size[2] = {rows, columns};
    hid_t space = rows == 0 && columns == 0 ? H5Screate(H5S_SCALAR)
                                            : H5Screate_simple(columns == 0 ? 1 : 2, size, NULL);
    assert_true(space >= 0);
    write_dataset(file, path, stored, space, H5T_NATIVE_DOUBLE, values != NULL ? values : &nothing);
    H5Sclose(space);
}

void test_hdf_strings(hid_t file, const char *path, size_t size, size_t count, const char *const *strings)
{
    hsize_t rows = count;
    hid_t space = count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &rows, NULL);
    hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(space >= 0 && H5Tset_size(type, size == 0 ? H5T_VARIABLE : size) >= 0);
    size_t written = count == 0 ? 1 : count;
    char *fixed = calloc(written, size + 1);
    for (size_t i = 0; size > 0 && i < written; i++)
        memcpy(fixed + i * size, strings[i], strnlen(strings[i], size));
    write_dataset(file, path, type, space, type, size == 0 ? (const void *)strings : fixed);
    free(fixed);
    H5Tclose(type);
    H5Sclose(space);
}

void test_hdf_hollow(hid_t file, const char *path, size_t rows)
{
    const hsize_t size = rows, chunk = 1024;
    hid_t space = H5Screate_simple(1, &size, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    const double nothing = 0; /* chosen, so that it is a value */
    assert_true(H5Pset_chunk(creation, 1, &chunk) >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0 &&
                H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &nothing) >= 0);
    hid_t dataset = H5Dcreate2(file, path, H5T_IEEE_F64LE, space, links, creation, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(links);
    H5Pclose(creation);
    H5Sclose(space);
}

void test_hdf_packed(hid_t file, const char *path, H5Z_filter_t filter, size_t rows, const double *values)
{
    const hsize_t size = rows, start = 0;
    hid_t space = H5Screate_simple(1, &size, NULL), creation = H5Pcreate(H5P_DATASET_CREATE),
          links = make_groups();
    bool known = filter == H5Z_FILTER_DEFLATE;
    assert_true(H5Pset_chunk(creation, 1, &size) >= 0);
    assert_true((known ? H5Pset_deflate(creation, 7)
                       : H5Pset_filter(creation, filter, H5Z_FLAG_OPTIONAL, 0, NULL)) >= 0);
    hid_t dataset = H5Dcreate2(file, path, H5T_IEEE_F64LE, space, links, creation, H5P_DEFAULT);
    assert_true(dataset >= 0);
    assert_true((known ? H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values)
                       : H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &start, sizeof *values, values)) >= 0);
    H5Dclose(dataset);
    H5Pclose(links);
    H5Pclose(creation);
    H5Sclose(space);
}

void test_hdf_table(hid_t file, const char *path, size_t rows, const test_hdf_field *fields, size_t count)
{
    enum { MOST = 8 };
    assert_true(count <= MOST);
    const hsize_t size = rows;
    hid_t text = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
    hid_t memory = H5Tcreate(H5T_COMPOUND, 8 * count), stored = H5Tcreate(H5T_COMPOUND, 64 * count);
    char *block = calloc(rows + 1, 8 * count);
    assert_true(H5Tset_size(text, H5T_VARIABLE) >= 0 && block != NULL);
    for (size_t k = 0; k < count; k++) {
        const test_hdf_field *field = &fields[k];
        bool numbers = field->numbers != NULL;
        assert_true(H5Tinsert(memory, field->name, 8 * k, numbers ? H5T_NATIVE_DOUBLE : text) >= 0);
        assert_true(H5Tinsert(stored, field->name, 64 * k, numbers ? field->stored : text) >= 0);
        for (size_t i = 0; i < rows; i++)
            memcpy(block + 8 * (count * i + k),
                   numbers ? (const void *)&field->numbers[i] : (const void *)&field->texts[i], 8);
    }
    write_dataset(file, path, stored, space, memory, block);
    free(block);
    H5Tclose(stored);
    H5Tclose(memory);
    H5Sclose(space);
    H5Tclose(text);
}

void test_hdf_attribute_number(hid_t file, const char *path, const char *name, hid_t stored, double number)
{
    hid_t object = H5Oopen(file, path, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &number) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Oclose(object);
}

void test_hdf_group(hid_t file, const char *path)
{
    hid_t links = make_groups();
    hid_t group = H5Gcreate2(file, path, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(group >= 0);
    H5Gclose(group);
    H5Pclose(links);
}

void test_hdf_attribute(hid_t file, const char *path, const char *name, bool variable, const char *text)
{
    hid_t object = H5Oopen(file, path, H5P_DEFAULT);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    assert_true(object >= 0 && H5Tset_size(type, variable ? H5T_VARIABLE : strlen(text) + 1) >= 0);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Awrite(attribute, type, variable ? (const void *)&text : text) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    H5Oclose(object);
}

void test_hdf_remove(hid_t file, const char *path)
{
    assert_true(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
}

void test_hdf_fill_carmen(hid_t file)
{
    static const double spikes[] = {0.5, 1.25, 3, 0.5, 2, 0.0000015};
    static const double counts[] = {3, 2, 1}, places[] = {100, 200, 100, -50, -50, 150.5}, age[] = {9};
    static const char *const names[] = {"a", "b", "c"}, *const species[] = {"mouse"}, *const cond[] = {"ctl"};
    test_hdf_numbers(file, "/spikes", H5T_IEEE_F64LE, 6, 0, spikes);
    test_hdf_numbers(file, "/sCount", H5T_STD_I32LE, 3, 0, counts);
    test_hdf_numbers(file, "/epos", H5T_IEEE_F64LE, 2, 3, places);
    test_hdf_strings(file, "/names", 8, 3, names);
    test_hdf_numbers(file, "/meta/age", H5T_STD_I32LE, 1, 0, age);
    test_hdf_strings(file, "/meta/species", 6, 1, species);
    test_hdf_strings(file, "/meta/cond", 4, 0, cond);
}

void test_hdf_fill_nwb(hid_t file)
{
    static const double spikes[] = {-0.5, 1.25, 3, 0.5, 2, 0.0000015}, ends[] = {3, 5, 6}, ids[] = {10, 7, 2};
    static const double rows[] = {0, 1, 3, 2}, row_ends[] = {2, 3, 4}, zeros[4] = {0},
                        electrode_ids[] = {5, 6, 7, 8};
    static const double x[] = {0, 20, 40, 60}, y[] = {1, 1, 1, 5}, intervals[] = {-1, 2, 4, 6, 1.5, 3, -1, 3};
    static const double interval_ends[] = {2, 3, 4};
    static const char *const qualities[] = {"good", "noise", "mua"}, *const subject[] = {"M1"};
    static const char *const session[] = {"s7"};
    test_hdf_attribute(file, "/", "nwb_version", true, "2.6.0");
    test_hdf_attribute(file, "/", "neurodata_type", true, "NWBFile");
    test_hdf_numbers(file, "/units/spike_times", H5T_IEEE_F64LE, 6, 0, spikes);
    test_hdf_numbers(file, "/units/spike_times_index", H5T_STD_U8LE, 3, 0, ends);
    test_hdf_numbers(file, "/units/id", H5T_STD_I64LE, 3, 0, ids);
    test_hdf_strings(file, "/units/quality", 0, 3, qualities);
    test_hdf_numbers(file, "/units/electrodes", H5T_STD_I32LE, 4, 0, rows);
    test_hdf_numbers(file, "/units/electrodes_index", H5T_STD_U32LE, 3, 0, row_ends);
    test_hdf_numbers(file, "/units/obs_intervals", H5T_IEEE_F64LE, 4, 2, intervals);
    test_hdf_numbers(file, "/units/obs_intervals_index", H5T_STD_U16LE, 3, 0, interval_ends);
    test_hdf_numbers(file, "/general/extracellular_ephys/electrodes/rel_x", H5T_IEEE_F32LE, 4, 0, x);
    test_hdf_numbers(file, "/general/extracellular_ephys/electrodes/rel_y", H5T_IEEE_F32LE, 4, 0, y);
    test_hdf_numbers(file, "/general/extracellular_ephys/electrodes/x", H5T_IEEE_F64LE, 4, 0, zeros);
    test_hdf_numbers(file, "/general/extracellular_ephys/electrodes/y", H5T_IEEE_F64LE, 4, 0, zeros);
    test_hdf_numbers(file, "/general/extracellular_ephys/electrodes/id", H5T_STD_I64LE, 4, 0, electrode_ids);
    test_hdf_strings(file, "/general/subject/subject_id", 0, 0, subject);
    test_hdf_strings(file, "/general/session_id", 0, 0, session);
}

#define UNIT_TIMES "/processing/sorting/UnitTimes"

void test_hdf_fill_nwb_1(hid_t file)
{
    static const double early[] = {-0.5, 1.25, 3}, late[] = {2, 0.5}, last[] = {0.0000015},
                        bounds[] = {0.5, 2, 3};
    static const char *const version[] = {"NWB-1.0.6"}, *const listed[] = {"unit_10"},
                             *const subject[] = {"M1"};
    static const char *const tags[] = {"light", "strong"}, *const about[] = {"pyramidal"};
    test_hdf_attribute(file, "/", "neurodata_type", true, "NWBFile"); /* some writers put it there */
    test_hdf_strings(file, "/nwb_version", 0, 0, version);
    test_hdf_strings(file, UNIT_TIMES "/unit_list", 0, 1, listed);
    test_hdf_numbers(file, UNIT_TIMES "/unit_10/times", H5T_IEEE_F64LE, 3, 0, early);
    test_hdf_strings(file, UNIT_TIMES "/unit_10/unit_description", 0, 0, about);
    test_hdf_numbers(file, UNIT_TIMES "/unit_2/times", H5T_IEEE_F32LE, 2, 0, late);
    test_hdf_numbers(file, UNIT_TIMES "/unit_1/times", H5T_IEEE_F64LE, 1, 0, last);
    test_hdf_group(file, UNIT_TIMES "/notes"); /* no unit */
    test_hdf_numbers(file, "/epochs/first/start_time", H5T_IEEE_F64LE, 0, 0, bounds);
    test_hdf_numbers(file, "/epochs/first/stop_time", H5T_IEEE_F64LE, 0, 0, bounds + 1);
    test_hdf_strings(file, "/epochs/first/tags", 0, 2, tags);
    test_hdf_numbers(file, "/epochs/second/start_time", H5T_IEEE_F64LE, 1, 0, bounds + 1);
    test_hdf_numbers(file, "/epochs/second/stop_time", H5T_IEEE_F64LE, 1, 0, bounds + 2);
    test_hdf_strings(file, "/general/subject/subject_id", 0, 0, subject);
}
