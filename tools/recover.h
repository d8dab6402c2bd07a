/* SPDX-License-Identifier: Apache-2.0 */
/** Recovers interrupted recordings. Errors are as in synfire/synfire.h; one object from one thread at a time.
 */
#ifndef SF_TOOLS_RECOVER_H
#define SF_TOOLS_RECOVER_H

#include <synfire/recording.h>

/** What was found of an interrupted recording, and what is lost. Free with sf_recovered_free. */
typedef struct sf_recovered {
    char *out;       /**< the file that was written; NULL: nothing to do, the recording is complete */
    char *file;      /**< the HDF5 file */
    char *journal;   /**< NULL: none */
    char *file_note; /**< why the HDF5 file was useless; NULL: it was read */
    sf_span recorded;
    bool ended;                               /**< the journal says that the recording ended properly */
    uint64_t journal_bytes, damaged_bytes;    /**< damaged_bytes: those that form no whole record */
    uint64_t records, records_lost;           /**< of the journal */
    uint64_t spikes, markers, rows;           /**< in the new file; rows: of result tables */
    uint64_t spikes_of_file, markers_of_file; /**< those of these that only the HDF5 file had */
    uint64_t spikes_missing, markers_missing; /**< recorded but in neither file, except at the end */
    uint64_t rows_missing;
    uint64_t rows_of_others;            /**< left out: a version with other tables wrote them */
    uint64_t spikes_lost, markers_lost; /**< never recorded, because the recorder had no room for them */
} sf_recovered;

/**
 * Builds a sound recording from what a recorder left at `path`, an HDF5 file or its journal, in a new file
 * (`out`; NULL: beside it, as run-recovered.h5). Neither is changed, and no file is replaced. SF_NO_INPUT;
 * SF_DATA if nothing can be recovered, or if the journal beside it belongs to another recording;
 * SF_UNAVAILABLE while it is being recorded; SF_CANNOT_CREATE, SF_CANCELLED.
 */
int sf_recover(sf_recovered *told, const char *path, const char *out, const sf_progress *progress,
               sf_error *error);
void sf_recovered_free(sf_recovered *told);

#endif
