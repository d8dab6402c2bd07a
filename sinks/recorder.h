/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a recorder writes: HDF5 files, one after another if they are rotated, and for the growing one a
 * journal (io/journal.h), which gets everything first. A file is complete once it is closed and on the disk;
 * then its journal is removed. If the journal fails, the file continues alone; if the disk is nearly full,
 * the file is closed properly.
 *
 * Threads: the storage thread; sf_recorder_account any.
 */
#ifndef SF_SINKS_RECORDER_H
#define SF_SINKS_RECORDER_H

#include "io/disk.h"
#include "sinks/recorder_file.h"
#include "sinks/sink.h"

typedef struct sf_recorder_settings {
    sf_sink_settings sink; /**< first */
    bool journal;
    double sync_s; /**< interval of syncing the journal to the disk; 0: never by us */
    double rotate_mb,
        rotate_min;      /**< new file after this size in MB, or this many minutes of the stream; 0: none */
    double reserve_mb;   /**< disk space that the recording leaves free */
    const sf_disk *disk; /**< tests; borrowed until close. NULL: the operating system's */
} sf_recorder_settings;

#define SF_RECORDER_DEFAULTS .sink = {SF_SINK_DEFAULTS}, .journal = true, .sync_s = 0.5, .reserve_mb = 64

typedef struct sf_recorder sf_recorder;

/** Creates the first file, which becomes visible with sf_recorder_begin. Stream is borrowed until close. */
int sf_recorder_open(sf_recorder **recorder, const sf_recorder_settings *settings,
                     const sf_stream_info *stream, sf_error *error);
int sf_recorder_begin(sf_recorder *recorder, sf_error *error);

const char *sf_recorder_path(const sf_recorder *recorder); /**< of the first file */

/** Call before the rows of a message, which stay in one file: starts the next file if due. SF_IO; always,
 * once recording has failed. */
int sf_recorder_turn(sf_recorder *recorder, sf_error *error);
unsigned sf_recorder_part(const sf_recorder *recorder); /**< number of the file, from 1 */

/** Number of rows in a table of the file. */
uint64_t sf_recorder_rows(const sf_recorder *recorder, sf_recorder_table table);
int sf_recorder_append(sf_recorder *recorder, sf_recorder_table table, const void *rows, size_t count,
                       sf_error *error);
int sf_recorder_raw(sf_recorder *recorder, const sf_raw_batch *batch, sf_error *error);

/** Extends the recorded time to at least this. */
void sf_recorder_reach(sf_recorder *recorder, int64_t time_ns);

/** As in sf_sink_kind, once a second. */
int sf_recorder_check(sf_recorder *recorder, sf_error *error);
int sf_recorder_flush(sf_recorder *recorder, sf_error *error);
void sf_recorder_account(const sf_recorder *recorder, sf_sink_status *status);
int sf_recorder_close(sf_recorder *recorder, sf_error *error);

#endif
