/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Variables of a MATLAB file (.mat) of any version: v7.3 is HDF5 (mat_hdf5.c); v5 to v7 are read by libmatio,
 * if available (mat_file.c). mat.c interprets them.
 */
#ifndef SF_REPLAY_MAT_H
#define SF_REPLAY_MAT_H

#include "io/hdf.h"

typedef enum sf_mat_kind {
    SF_MAT_OTHER, /**< a function, an object, or a value that was not read */
    SF_MAT_NUMBERS,
    SF_MAT_TEXT,
    SF_MAT_CELL,  /**< an array of values; also an array of structs */
    SF_MAT_STRUCT /**< its items are fields */
} sf_mat_kind;

typedef struct sf_mat_value sf_mat_value;
struct sf_mat_value {
    char *name; /**< of a variable or a field; NULL: an array element */
    sf_mat_kind kind;
    double *numbers;
    char *text;
    sf_mat_value *items;
    size_t count;    /**< numbers or items */
    size_t capacity; /**< of items */
    bool is_matrix;  /**< numeric, with more than one row and more than one column */
};

/** Maximum nesting depth of cells and structs. */
#define SF_MAT_DEEPEST 4

/** Variable in which MEA-NAP describes its spike detection. */
#define SF_MAT_DETECTION "spikeDetectionResult"

/** Whether the name of a variable or field denotes spike times. */
bool sf_mat_heads_times(const char *name);

/** Whether a variable of this name may hold spike times, their units, or their unit of time. Values that are
 * no vectors are read only then, since waveforms take a hundred times as much memory. */
bool sf_mat_is_wanted(const char *name);

/** Appends an item and copies its name; NULL: out of memory. */
sf_mat_value *sf_mat_add(sf_mat_value *to, const char *name);
void sf_mat_free(sf_mat_value *value);

/** Reads the variables of a file as fields of one struct; call sf_mat_free also on failure. SF_DATA,
 * SF_NO_MEMORY, SF_UNAVAILABLE. */
int sf_mat_load_hdf5(sf_mat_value *file, const sf_hdf_input *input, sf_error *error);
int sf_mat_load_file(sf_mat_value *file, const sf_hdf_input *input, sf_error *error);

/** Whether the file begins with the signature of v5 to v7. */
bool sf_mat_has_signature(const char *path);

/** Version of libmatio; NULL if built without it. */
const char *sf_mat_library(void);

#endif
