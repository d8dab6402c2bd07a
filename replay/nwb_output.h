/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Atomic writer of an HDF5 file, with the objects and tables of NWB 2: their types, object ids and
 * references. After the first failure nothing more is written, and sf_hdf_output_close reports it.
 */
#ifndef SF_REPLAY_NWB_OUTPUT_H
#define SF_REPLAY_NWB_OUTPUT_H

#include "core/recording.h"
#include "io/hdf.h"
#include "io/output_file.h"

typedef struct sf_hdf_output {
    sf_output_file own;
    hid_t file, text; /**< variable-length UTF-8 */
    bool failed;
    const char *tables;     /**< namespace of the types of NWB's tables and columns; "hdmf-common" */
    uint64_t objects, hash; /**< counter and seed of the object ids: the same hash gives the same ids */
} sf_hdf_output;

/** Creates a file, or a copy of `source` to extend. SF_CANNOT_CREATE, SF_NO_INPUT, SF_IO; call
 * sf_hdf_output_close also on failure. */
int sf_hdf_output_open(sf_hdf_output *to, const char *path, const char *source, sf_existing existing,
                       uint64_t hash, sf_error *error);

/** Commits the file if `status` is SF_OK and every write succeeded, else deletes it. Returns the status, or
 * SF_IO. */
int sf_hdf_output_close(sf_hdf_output *to, int status, const char *path, sf_error *error);

/** Creates a group; close with sf_hdf_close. Negative on failure. */
hid_t sf_hdf_put_group(sf_hdf_output *to, hid_t parent, const char *name);
/** Writes a vector, or a matrix of rows x columns. */
void sf_hdf_put_values(sf_hdf_output *to, hid_t parent, const char *name, hid_t type, size_t rows,
                       size_t columns, const void *values);
void sf_hdf_put_texts(sf_hdf_output *to, hid_t parent, const char *name, size_t count,
                      const char *const *texts);
/** A scalar. */
void sf_hdf_put_text(sf_hdf_output *to, hid_t parent, const char *name, const char *text);

/* ---- NWB ---- */

/** An attribute of text. */
void sf_nwb_tell(sf_hdf_output *to, hid_t object, const char *name, const char *text);
void sf_nwb_tell_type(sf_hdf_output *to, hid_t object, const char *space, const char *type);
/** A group of this type. */
hid_t sf_nwb_put_object(sf_hdf_output *to, hid_t parent, const char *name, const char *space,
                        const char *type);
/** Writes an attribute that refers to the object at `path`. */
void sf_nwb_tell_target(sf_hdf_output *to, hid_t object, const char *name, hid_t at, const char *path);

/** Marks the dataset just written as a column of the table. */
void sf_nwb_tell_column(sf_hdf_output *to, hid_t table, const char *name, const char *type,
                        const char *about);
/** Declares it a column of references to rows of the table at path `target`. */
void sf_nwb_tell_rows(sf_hdf_output *to, hid_t table, const char *name, const char *target,
                      const char *about);
/** Writes the table's description and the order of its columns. */
void sf_nwb_tell_columns(sf_hdf_output *to, hid_t table, const char *about, const char *const *names,
                         size_t count);
/** The column `id`: 0, 1, ... */
void sf_nwb_put_ids(sf_hdf_output *to, hid_t table, size_t count);
/** Makes `column` a ragged column by writing the end index of each row. */
void sf_nwb_put_index(sf_hdf_output *to, hid_t table, const char *column, size_t count, const size_t *ends);

/** Writes the file's frame, and the recording's electrodes and units (`/units`, one row each), to the
 * nanosecond. `provenance` is JSON or NULL. SF_USAGE if times do not fit in seconds; SF_NO_MEMORY. */
int sf_nwb_put_recording(sf_hdf_output *to, const sf_recording *recording, const char *provenance,
                         sf_error *error);

#endif
