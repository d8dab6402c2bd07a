/* SPDX-License-Identifier: Apache-2.0 */
/**
 * synfire's own HDF5 layout, version 1 (docs/formats.md): what `simulate` and the recorder write and replay
 * reads. HDF5 calls are made by one thread only: call these through sf_storage_call (sinks/storage.h)
 * wherever another thread of the same process may use HDF5.
 *
 *   /            attributes: synfire = "recording" | "graph" | "result" | "occurrences", layout = 1,
 *                program, created, start_ns and stop_ns (the recorded span; both
 *                INT64_MIN while it is open-ended), configuration (YAML, optional),
 *                part (of a recording in several files), identity (as in its journal)
 *   /units/      name (fixed strings), x_um, y_um, kind (u8), electrode (i32),
 *                well (fixed strings)
 *   /spikes/     time_ns (i64), unit (u32), amplitude (f32): equal lengths,
 *                ordered by (time_ns, unit)
 *   /markers/    time_ns (i64), kind (u8), state (u8), line (u16), text (fixed strings)
 *   /metadata    attributes: one string each
 *   /observed    (n, 2) i64 ns, where there are observation intervals
 *   /truth/      simulate only: episodes (fixed strings), occurrence_chain (u32),
 *                occurrence_times_ns (n, 16) i64
 *   /results/    what the recorder adds (sinks/hdf5)
 *
 * Rows of time_ns that were never written read as INT64_MIN, those of unit as 4294967295: what a killed
 * writer announced but did not store.
 */
#ifndef SF_IO_LAYOUT_H
#define SF_IO_LAYOUT_H

#include "core/recording.h"

#include <hdf5.h>

/** Version of the layout; readers refuse a later one. */
#define SF_LAYOUT_VERSION 1

typedef struct sf_layout sf_layout; /**< a file being written */

typedef struct sf_layout_options {
    const char *kind;          /**< "recording" or "occurrences" */
    const char *configuration; /**< YAML, or NULL */
    const char *provenance;    /**< JSON (core/provenance.h), or NULL */
    const char *identity;      /**< of a recorder's file (core/recording.h), or NULL */
    const char *recording;     /**< path of what the file was made from, kept as text, or NULL */
    uint32_t part;             /**< of a recording in several files, from 1; 0: it is in one */
    bool without_streams;      /**< no /spikes and no /markers: nothing is to be appended to them */
    bool live;      /**< for single-writer multiple-reader appends; readers from sf_layout_start_live on */
    bool overwrite; /**< replace a file that is there, whole at once; without it such a file is refused ... */
    bool numbered;  /**< ... or with this has a successor, as run-2.h5 of run.h5 */
} sf_layout_options;

/**
 * Creates the file, locked against other writers (io/output_file.h), with units, metadata and observation
 * intervals of `about` (its spikes are not written). On failure no file is left. SF_CANNOT_CREATE.
 */
int sf_layout_create(sf_layout **layout, const char *path, const sf_recording *about,
                     const sf_layout_options *options, sf_error *error);

/** The name that it has or, where it replaces a file, takes: a live one by sf_layout_commit, else when it
 * is closed. */
const char *sf_layout_path(const sf_layout *layout);

/** Where the file, or its folder, was moved, its path is the present one from here on. */
void sf_layout_follow(sf_layout *layout);

/** SF_IO where the file or its folder was removed, or the file was cut by somebody else since the last flush.
 */
int sf_layout_check(const sf_layout *layout, sf_error *error);

/** The open file, to add further groups and datasets before sf_layout_start_live. */
hid_t sf_layout_file(const sf_layout *layout);

/** From here on no object may be created, only appended to; readers may open the file. */
int sf_layout_start_live(sf_layout *layout, sf_error *error);

/** Gives a live file its name; a file that it replaces is gone. SF_IO. */
int sf_layout_commit(sf_layout *layout, sf_error *error);

int sf_layout_append_spikes(sf_layout *layout, const sf_spike *spikes, size_t count, sf_error *error);
int sf_layout_append_markers(sf_layout *layout, const sf_marker *markers, size_t count, sf_error *error);

/** Everything appended is seen by readers and survives a kill from here on, with `sync` a power loss too.
 * After a failure (a full disk) only abandon the file. */
int sf_layout_flush(sf_layout *layout, bool sync, sf_error *error);

/** The file as the operating system has it open, until close; to be asked of and synchronised only. */
int sf_layout_descriptor(const sf_layout *layout);

/**
 * Writes the recorded span (NULL: leaves it open-ended) and closes; always frees; NULL is allowed. A file
 * that was not live and could not be written is taken away.
 */
int sf_layout_close(sf_layout *layout, const sf_span *recorded, sf_error *error);

/** Closes, frees, and takes the file away; what it was to replace is left as it is. NULL is allowed. */
void sf_layout_discard(sf_layout *layout);

/**
 * Closes and frees after an append or a flush failed, writing nothing more: the file stays as it is, and
 * reads back up to the last flush. (A normal close would write an index of rows that are not there.)
 */
void sf_layout_abandon(sf_layout *layout);

/* ---- columns: datasets that grow ---- */

/**
 * Creates a chunked, growing dataset of `type` under `parent`; chunk is in rows; columns 1 for a plain
 * vector. Rows of 64-bit integers that were never written read as INT64_MIN, of 32-bit ones as SF_NO_UNIT.
 * Returns its id, to be closed by H5Dclose, or a negative one with the error filled in.
 */
hid_t sf_layout_column(hid_t parent, const char *name, hid_t type, hsize_t chunk, hsize_t columns,
                       sf_error *error);

/** Appends rows of memory type `type`. SF_IO, with the operating system's reason (disk full, ...). */
int sf_layout_column_append(hid_t column, hid_t type, const void *rows, hsize_t count, sf_error *error);

#endif
