/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the fuzz targets of HDF5 files share. HDF5 1.10 itself crashes and loops on damaged files, so it is
 * not what is fuzzed here: the input says what to change in a good file, HDF5 makes the change, and our
 * readers of layouts meet every kind of content in a file that is whole. Bytes that are no HDF5 file are for
 * the process that reads files from outside.
 */
#ifndef SF_TESTS_FUZZ_HDF_IMAGE_H
#define SF_TESTS_FUZZ_HDF_IMAGE_H

#include "io/hdf.h"

#include <stdint.h>

/** The bytes as a file in memory that can be written, or a negative id; closed by sf_hdf_close. */
hid_t fuzz_open_image(const uint8_t *data, size_t size);

/** What a target reads: good files to begin with, and the objects and attributes that its readers look for.
 */
typedef struct fuzz_layout {
    const char *const
        *images; /**< files of tests/fuzz/images; the first byte chooses, one more: an empty file */
    const char *const *objects;    /**< paths; both lists end in NULL */
    const char *const *attributes; /**< names */
} fuzz_layout;

/** A file in memory that was changed as the input says: its bytes are steps that replace, add or remove
 * objects and attributes. */
hid_t fuzz_make_file(const fuzz_layout *layout, const uint8_t *data, size_t size);

#endif
