/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An HDF5 file that is being written, whole or not at all, and the objects and tables of NWB 2 in it: each
 * with its types, its number and its references. Once something could not be written, nothing more is, and
 * closing says so.
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
    const char *tables;     /**< the namespace of NWB's tables and their columns; "hdmf-common" */
    uint64_t objects, hash; /**< from which objects' numbers are made: the same hash gives them again */
} sf_hdf_output;

/** A new file, or with `source` a copy of that one to go on in. SF_CANNOT_CREATE, SF_NO_INPUT, SF_IO;
 * sf_hdf_output_close whatever happened. */
int sf_hdf_output_open(sf_hdf_output *to, const char *path, const char *source, sf_existing existing,
                       uint64_t hash, sf_error *error);

/** Gives the file its name where `status` is SF_OK and all could be written, else takes it away. Returns the
 * status, or SF_IO. */
int sf_hdf_output_close(sf_hdf_output *to, int status, const char *path, sf_error *error);

/** sf_hdf_close takes it; negative where it failed. */
hid_t sf_hdf_put_group(sf_hdf_output *to, hid_t parent, const char *name);
/** A vector, or a matrix of rows x columns. */
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
/** An attribute that refers to the object at `path`. */
void sf_nwb_tell_target(sf_hdf_output *to, hid_t object, const char *name, hid_t at, const char *path);

/** What was just put becomes a column of the table. */
void sf_nwb_tell_column(sf_hdf_output *to, hid_t table, const char *name, const char *type,
                        const char *about);
/** It is one of rows of the table at the path `target` of the file. */
void sf_nwb_tell_rows(sf_hdf_output *to, hid_t table, const char *name, const char *target,
                      const char *about);
/** What the table is, and its columns in their order. */
void sf_nwb_tell_columns(sf_hdf_output *to, hid_t table, const char *about, const char *const *names,
                         size_t count);
/** The column `id`: 0, 1, ... */
void sf_nwb_put_ids(sf_hdf_output *to, hid_t table, size_t count);
/** The column `column` becomes ragged: ends of its rows. */
void sf_nwb_put_index(sf_hdf_output *to, hid_t table, const char *column, size_t count, const size_t *ends);

/** The frame of a file, and the recording's electrodes and units (`/units`, a row each), to the nanosecond.
 * provenance is JSON or NULL. SF_USAGE where seconds do not hold its times; SF_NO_MEMORY. */
int sf_nwb_put_recording(sf_hdf_output *to, const sf_recording *recording, const char *provenance,
                         sf_error *error);

#endif
