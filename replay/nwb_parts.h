/* SPDX-License-Identifier: Apache-2.0 */
/** What both versions of NWB have in common: where tables are, metadata, and intervals that become
 * markers. */
#ifndef SF_REPLAY_NWB_PARTS_H
#define SF_REPLAY_NWB_PARTS_H

#include "replay/reader.h"

/** NWB 2, by its version, which betas had as a dataset, or where there is none by its type. */
bool sf_nwb_is_2(hid_t file);

/** The table of electrodes, and which rows of it belong to each unit. Zero-initialise;
 * sf_nwb_free_electrodes. */
typedef struct sf_nwb_electrodes {
    double *x, *y; /**< NULL: no usable geometry */
    int64_t *ids;
    size_t count;
    size_t groups_apart; /**< groups of electrodes that lay on one another and were moved along x; 0: none */
    int64_t *rows;       /**< electrodes of unit i: rows[ends[i - 1]] to rows[ends[i]] */
    size_t *ends;
} sf_nwb_electrodes;

/** The table alone, without rows of units; nothing where there is none. */
int sf_nwb_open_electrodes(sf_nwb_electrodes *all, const sf_hdf_input *input, sf_error *error);
/** The same, and the rows that the column `electrodes` of a table with so many units names. */
int sf_nwb_read_electrodes(sf_nwb_electrodes *all, hid_t units_table, size_t units, const sf_hdf_input *input,
                           sf_error *error);
/** A unit is in the middle of its electrodes; it has an electrode number where it has one electrode. */
void sf_nwb_place_unit(sf_unit *unit, const sf_nwb_electrodes *all, size_t index);
/** Where groups were moved, the metadata `positions` says so. SF_NO_MEMORY. */
int sf_nwb_tell_positions(sf_recording *recording, const sf_nwb_electrodes *all, sf_error *error);
void sf_nwb_free_electrodes(sf_nwb_electrodes *all);

/** The ends of the rows of a ragged column, which ascend and end where the column does; sf_free takes *ends.
 */
int sf_nwb_read_ends(hid_t table, const char *column, size_t length, const char *path, size_t **ends,
                     size_t *rows, sf_error *error);

/** Calls `visit` with the path `processing/MODULE/NAME` of all that the modules of /processing hold, until it
 * returns non-zero. */
void sf_nwb_each_processed(hid_t file, int (*visit)(void *context, const char *path), void *context);

/** Subject, session and the like, as far as the file has them. SF_NO_MEMORY. */
int sf_nwb_read_metadata(sf_recording *recording, hid_t file, sf_error *error);

/** Where markers of intervals go. */
typedef struct sf_nwb_markers {
    sf_recording *recording;
    const char *path;
    size_t capacity; /**< of the recording's markers */
    sf_error *error;
} sf_nwb_markers;

/** Adds markers `label` and `label end`; a bound that is NaN has none. SF_DATA, SF_NO_MEMORY. */
int sf_nwb_add_interval(sf_nwb_markers *to, double start_s, double stop_s, const char *label);

/** The name of an interval: its tags, with commas, else `otherwise`. */
void sf_nwb_name_interval(char label[SF_MARKER_TEXT_SIZE], char *const *tags, size_t count,
                          const char *otherwise);

#endif
