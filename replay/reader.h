/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A reader of one recording layout: one of these structs and one file. A new layout is one file and one line
 * in the table of replay/recording_file.c.
 */
#ifndef SF_REPLAY_READER_H
#define SF_REPLAY_READER_H

#include "core/recording.h"
#include "io/hdf.h"

typedef struct sf_reader {
    bool has_streams; /**< knows what to do with a stream's name */
    /** Existence of objects and attributes only; reads no data. */
    bool (*recognises)(hid_t file);
    /**
     * Fills format, units, spikes and markers in any order, and what the file has of recorded, observed and
     * metadata. What follows for every layout (unique names, order, the default of `recorded`) is the
     * caller's, as is freeing a half-filled recording after an error. A layout that is known and not read
     * fails here with what the file is.
     */
    int (*read)(sf_recording *recording, const sf_hdf_input *input, sf_error *error);
} sf_reader;

extern const sf_reader sf_reader_synfire, sf_reader_carmen, sf_reader_nwb, sf_reader_nwb_1, sf_reader_foreign;

/** What every refusal for want of spikes says was looked for. */
#define SF_LOOKED_FOR                                                                                        \
    "looked for /spikes with /sCount (CARMEN), spike_times in /units or /processing (NWB 2), times in "      \
    "/processing/*/UnitTimes (NWB 1) and the attribute "                                                     \
    "synfire (synfire)"

/** Finds the layout of a file that is open, reads it, puts spikes in order; no other process does it. */
int sf_recording_read_hdf5(sf_recording *recording, const sf_hdf_input *input, sf_error *error);

/**
 * Fills recording->spikes from spike trains one after the other: train i is seconds[ends[i - 1]] to
 * seconds[ends[i]], not included. Refuses what is not finite, leaves int64 nanoseconds or, unless
 * negative_times, is before zero, with the train and the place in it. `ends` ascends from 0 to the length of
 * seconds.
 */
typedef struct sf_trains_in_seconds {
    const double *seconds;
    const size_t *ends;
    size_t count;
    bool negative_times;
} sf_trains_in_seconds;

int sf_trains_take(sf_recording *recording, const sf_trains_in_seconds *trains, const char *path,
                   sf_error *error);

/** Sets metadata `key` from the text of the dataset at `path`, where there is one that is not empty.
 * SF_NO_MEMORY. */
int sf_reader_metadata(sf_recording *recording, hid_t file, const char *path, const char *key,
                       sf_error *error);

/** Sets recording->format; SF_NO_MEMORY. */
int sf_reader_set_format(sf_recording *recording, sf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
