/* SPDX-License-Identifier: Apache-2.0 */
/** Making small HDF5 files in tests, by HDF5 itself. Every step asserts that it worked. */
#ifndef SF_TESTS_HDF_FILES_H
#define SF_TESTS_HDF_FILES_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

hid_t test_hdf_create(const char *path);
void test_hdf_close(hid_t file); /**< asserts that nothing in it is still open */

/** Missing groups on the way to a path are made. columns 0: a vector; rows and columns 0: a scalar. */
void test_hdf_numbers(hid_t file, const char *path, hid_t stored, size_t rows, size_t columns,
                      const double *values);
/** size 0: variable-length strings, else fixed ones of that size. count 0: a scalar. */
void test_hdf_strings(hid_t file, const char *path, size_t size, size_t count, const char *const *strings);
/** A column of so many numbers of which none is stored. */
void test_hdf_hollow(hid_t file, const char *path, size_t rows);
/** A column in one chunk that this filter has packed: deflate, or one that libhdf5 does not have here, whose
 * bytes are then nothing that could be read. */
void test_hdf_packed(hid_t file, const char *path, H5Z_filter_t filter, size_t rows, const double *values);
/** A table whose rows have several fields; texts are variable-length strings. No more than 8 fields. */
typedef struct test_hdf_field {
    const char *name;
    hid_t stored;          /**< of numbers */
    const double *numbers; /**< one a row, or NULL: texts */
    const char *const *texts;
} test_hdf_field;
void test_hdf_table(hid_t file, const char *path, size_t rows, const test_hdf_field *fields, size_t count);
void test_hdf_group(hid_t file, const char *path);
void test_hdf_attribute(hid_t file, const char *path, const char *name, bool variable, const char *text);

/** An attribute that is a number. */
void test_hdf_attribute_number(hid_t file, const char *path, const char *name, hid_t stored, double number);

/** Replaces a dataset or group that a test wants different. */
void test_hdf_remove(hid_t file, const char *path);

/**
 * Small recordings that every reader takes: CARMEN with 3 trains and 6 spikes (one at 0.5 s in each of a and
 * b), NWB with 3 units and 6 spikes on 4 electrodes, NWB 1 with 3 units, of which unit_list names one, and 6
 * spikes.
 */
void test_hdf_fill_carmen(hid_t file);
void test_hdf_fill_nwb(hid_t file);
void test_hdf_fill_nwb_1(hid_t file);

#endif
