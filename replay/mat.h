/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Variables of a MATLAB file (.mat), whichever version wrote it: v7.3 is HDF5 (mat_hdf5.c), v5 to v7 are read
 * by libmatio where there is one (mat_file.c). What they mean is told in mat.c.
 */
#ifndef SF_REPLAY_MAT_H
#define SF_REPLAY_MAT_H

#include "io/hdf.h"

typedef enum sf_mat_kind {
    SF_MAT_OTHER, /**< a function, an object, or what was not read */
    SF_MAT_NUMBERS,
    SF_MAT_TEXT,
    SF_MAT_CELL,  /**< an array of values; one of structs, too */
    SF_MAT_STRUCT /**< its items are fields */
} sf_mat_kind;

typedef struct sf_mat_value sf_mat_value;
struct sf_mat_value {
    char *name; /**< of a variable or a field; NULL: of an element */
    sf_mat_kind kind;
    double *numbers;
    char *text;
    sf_mat_value *items;
    size_t count;    /**< numbers or items */
    size_t capacity; /**< of items */
    bool is_matrix;  /**< more than one row and more than one column of numbers */
};

/** A cell or struct lies within another as deep as this, and no deeper. */
#define SF_MAT_DEEPEST 4

/** The variable in which MEA-NAP says how it found spikes. */
#define SF_MAT_DETECTION "spikeDetectionResult"

/** True where a name says that its variable or field holds the times of spikes. */
bool sf_mat_heads_times(const char *name);

/** True where a variable of this name may say when spikes were, whose they are or how they are told: what is
 * no vector is read only then, as waveforms take a hundred times as much. */
bool sf_mat_is_wanted(const char *name);

/** Puts an item at the end, whose name is copied; NULL where there is no memory for it. */
sf_mat_value *sf_mat_add(sf_mat_value *to, const char *name);
void sf_mat_free(sf_mat_value *value);

/** The variables of a file as fields of one struct; sf_mat_free, on failure too. SF_DATA, SF_NO_MEMORY,
 * SF_UNAVAILABLE. */
int sf_mat_load_hdf5(sf_mat_value *file, const sf_hdf_input *input, sf_error *error);
int sf_mat_load_file(sf_mat_value *file, const sf_hdf_input *input, sf_error *error);

/** True where the file begins as v5 to v7 do. */
bool sf_mat_has_signature(const char *path);

/** Version of libmatio, or NULL where there is none. */
const char *sf_mat_library(void);

#endif
