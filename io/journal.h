/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The raw journal of a recorder: everything that goes into its HDF5 file, appended to a plain file before it
 * goes there, so that neither a kill nor a power loss takes more than what came since the last sync.
 * docs/formats.md has the layout. A record is a head of 40 bytes and what it holds, filled up to a multiple
 * of 8; all numbers are little-endian:
 *
 *   0  u32 "SFJ1"     4  u16 kind      6  u16 table (of SF_JOURNAL_ROWS)
 *   8  u32 length    12  u32 CRC-32C of what it holds
 *  16  u64 number of the record        24  u64 number of its first row among all of its kind and table
 *  32  u32 sf_journal_id                 36  u32 CRC-32C of the 36 bytes before
 *
 * The head has a sum of its own, so that a length can be believed before what it measures was read; the id
 * follows from the identity that the recorder draws for each file, so that blocks that a disk still has of an
 * older one are none of this. What is not whole is passed over up to the next record, and the numbers of rows
 * tell what is missing.
 */
#ifndef SF_IO_JOURNAL_H
#define SF_IO_JOURNAL_H

#include "core/recording.h"
#include "io/disk.h"

#include <stdbool.h>

#define SF_JOURNAL_VERSION 1

typedef enum sf_journal_kind {
    SF_JOURNAL_BEGIN = 1, /**< what is recorded: sf_journal_about */
    SF_JOURNAL_SPIKES,    /**< sf_spike as in memory: i64 time_ns, u32 unit, f32 amplitude */
    SF_JOURNAL_MARKERS,   /**< sf_marker as in memory: 64 bytes */
    SF_JOURNAL_ROWS,      /**< rows of a table of results, as in memory */
    SF_JOURNAL_LOST,      /**< sf_journal_lost, since the start of the run */
    SF_JOURNAL_END        /**< sf_span: what was recorded; written when the recording ends normally */
} sf_journal_kind;

typedef struct sf_journal_lost {
    uint64_t spikes, markers; /**< found no room */
} sf_journal_lost;

/** A table of results. Rows are read back only if this program has a table of the same form. */
typedef struct sf_journal_table {
    const char *name;
    uint64_t row_size;
    uint64_t form; /**< hash of the names, types and offsets of its fields */
} sf_journal_table;

/** What a recording is made from again. */
typedef struct sf_journal_about {
    const char *file;     /**< name of the HDF5 file, without its folder */
    const char *program;  /**< "synfire X.Y.Z" */
    const char *identity; /**< identity of the HDF5 file (core/recording.h); NULL: from an older program */
    const char *configuration; /**< as of sf_layout_options, or NULL */
    const char *provenance;    /**< as of sf_layout_options, or NULL */
    uint64_t part;             /**< of a rotated recording, from 1 */
    sf_recording recording;    /**< units, metadata, observed; recorded if it is declared */
    sf_journal_table *tables;
    size_t table_count;
} sf_journal_about;

/** The id in record heads: CRC-32C of the identity. */
uint32_t sf_journal_id(const char *identity);

/* ---- writing: one thread, but for what says otherwise ---- */

typedef struct sf_journal sf_journal;

typedef struct sf_journal_options {
    double sync_s;       /**< period at which a thread of its own syncs new data; 0: never */
    bool overwrite;      /**< replace an existing journal; without it the next free number is used
                            (io/output_file.h) */
    const sf_disk *disk; /**< borrowed until close; NULL: that of the operating system */
} sf_journal_options;

/** Creates and locks the file, and syncs its first record and its name to the disk. SF_CANNOT_CREATE, SF_IO.
 */
int sf_journal_create(sf_journal **journal, const char *path, const sf_journal_about *about,
                      const sf_journal_options *options, sf_error *error);

const char *sf_journal_path(const sf_journal *journal);

/** Records up to this many bytes allocate no memory. */
#define SF_JOURNAL_ROOM (1u << 18)

/** Appends a record. SF_IO with the operating system's reason, after which nothing may be appended;
 * SF_NO_MEMORY. */
int sf_journal_append(sf_journal *journal, sf_journal_kind kind, unsigned table, uint64_t first,
                      const void *rows, size_t size, sf_error *error);

/** SF_IO if a sync failed, or another program removed or truncated the file; reported once. */
int sf_journal_check(sf_journal *journal, sf_error *error);

/** Waits until everything appended so far is on the disk. */
int sf_journal_sync(sf_journal *journal, sf_error *error);

typedef struct sf_journal_counts {
    uint64_t bytes, syncs;
    int64_t worst_sync_ns;
} sf_journal_counts;

/** Any thread; a snapshot. */
sf_journal_counts sf_journal_count(const sf_journal *journal);

/**
 * Makes the journal obsolete once the open file `file` is on the disk: the journal's thread syncs that file,
 * closes the descriptor, and deletes the journal. Then call sf_journal_close as always.
 */
void sf_journal_retire(sf_journal *journal, int file);

/** Syncs, closes and frees; NULL is allowed. SF_IO. */
int sf_journal_close(sf_journal *journal, sf_error *error);

/* ---- reading: what a crash or a broken disk left; nothing is believed, memory is bounded by the file's
 * length ---- */

typedef struct sf_journal_record {
    sf_journal_kind kind;
    unsigned table;
    uint64_t first;
    const void *rows; /**< aligned to 8 bytes, until the next record is read */
    size_t size;
} sf_journal_record;

typedef struct sf_journal_reader {
    int fd;
    uint64_t length, at;
    uint64_t records;      /**< that were whole */
    uint64_t records_lost; /**< told by the numbers of those around them */
    uint64_t damaged;      /**< bytes that are no whole record */
    uint64_t next;         /**< number of the next record */
    uint32_t id;
    void *block; /**< what the newest record holds */
    size_t capacity;
} sf_journal_reader;

/** Begins at the start of an open file. SF_NO_INPUT if its length is unknown. */
int sf_journal_reader_open(sf_journal_reader *reader, int fd, const char *path, sf_error *error);
void sf_journal_reader_close(sf_journal_reader *reader); /**< leaves fd open */

/** The next whole record; SF_END, SF_NO_MEMORY. What cannot be read is damaged. */
int sf_journal_next(sf_journal_reader *reader, sf_journal_record *record, sf_error *error);

/** Parses a SF_JOURNAL_BEGIN record; free with sf_journal_about_free. SF_DATA. */
int sf_journal_about_read(sf_journal_about *about, const sf_journal_record *record, const char *path,
                          sf_error *error);
void sf_journal_about_free(sf_journal_about *about);

#endif
