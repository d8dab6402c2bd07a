/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A reader of one recording layout: one of these structs and one file. A new layout is one file and one line
 * in the table of replay/recording_file.c.
 */
#ifndef SF_REPLAY_READER_H
#define SF_REPLAY_READER_H

#include "core/progress.h"
#include "core/recording.h"
#include "replay/lines.h"

#include <hdf5.h>

typedef struct sf_input {
    const char *path;   /**< for messages */
    hid_t file;         /**< open for reading */
    bool live;          /**< a writer has it open or was killed: columns may differ in length */
    const char *stream; /**< which of several, or NULL */
    const sf_progress *progress;
} sf_input;

typedef struct sf_reader {
    /** Existence of objects and attributes only; reads no data. */
    bool (*recognises)(hid_t file);
    /**
     * Fills format, units, spikes and markers in any order, and what the file has of recorded, observed and
     * metadata. What follows for every layout (unique names, order, the default of `recorded`) is the
     * caller's, as is freeing a half-filled recording after an error. A layout that is known and not read
     * fails here with what the file is.
     */
    int (*read)(sf_recording *recording, const sf_input *input, sf_error *error);
} sf_reader;

extern const sf_reader sf_reader_synfire;

/** What sf_recording_read does once the file is open: finds the layout, reads it, puts spikes in order. */
int sf_recording_read_hdf5(sf_recording *recording, hid_t file, bool live, const char *path,
                           const char *stream, const sf_progress *progress, sf_error *error);

/** Sets recording->format; SF_NO_MEMORY. */
int sf_reader_set_format(sf_recording *recording, sf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Reads `name,seconds` lines, with or without a header. Units are ordered by name, numbers in names by value.
 * The units are finished and the spikes are not in order yet.
 */
int sf_csv_read(sf_recording *recording, const sf_lines *lines, const sf_progress *progress, sf_error *error);

#endif
