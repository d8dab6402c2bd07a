/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Data that one process read from a file, laid out in shared memory for another: a head, then fields. A field
 * is an array of values of one size; writer and reader of a kind of content agree on the order of fields. The
 * form is private to one version of synfire.
 *
 * The file may have compromised the writer, so the reader trusts nothing: a field that exceeds the parcel, or
 * has values of another size, marks the parcel `damaged`, and all later fields read as empty. The caller
 * validates the values themselves.
 */
#ifndef SF_IO_PARCEL_H
#define SF_IO_PARCEL_H

#include <synfire/error.h>

/* ---- writing ---- */

#define SF_PARCEL_BLOCK 65536

/** Zero-initialise, then set fd to an empty file. After a failed write `failed` is set and later calls do
 * nothing. */
typedef struct sf_parcel_writer {
    int fd;
    bool failed;
    uint64_t length; /**< of the fields so far */
    size_t held;     /**< bytes in block, not yet written */
    char block[SF_PARCEL_BLOCK];
} sf_parcel_writer;

/** count values of `size` bytes. */
void sf_parcel_put(sf_parcel_writer *writer, const void *values, size_t count, size_t size);

/** Appends a field to be filled later; returns the offset of its values in the file. */
uint64_t sf_parcel_put_empty(sf_parcel_writer *writer, size_t count, size_t size);

/** Writes some of these values; any thread. False on a failed write, after which the parcel must not be
 * finished with SF_OK. */
bool sf_parcel_fill(const sf_parcel_writer *writer, uint64_t at, const void *values, size_t bytes);

void sf_parcel_put_number(sf_parcel_writer *writer, uint64_t number);
void sf_parcel_put_text(sf_parcel_writer *writer, const char *text); /**< NULL: none */

/** Flushes, and writes the head last: with SF_OK the content is valid, else only the error. False if a write
 * failed; the error may be written even then. */
bool sf_parcel_finish(sf_parcel_writer *writer, int status, const sf_error *error);

/* ---- reading ---- */

typedef struct sf_parcel {
    const char *at, *end; /**< fields not yet taken */
    bool damaged;
    void *mapping; /**< NULL: the caller owns the fields' memory */
    size_t mapped;
} sf_parcel;

/**
 * Maps a parcel from a sealed memory file, which can no longer change; writes to the mapping stay private to
 * this process. Returns the writer's status, with its error on failure; SF_DATA if it is no parcel,
 * SF_UNAVAILABLE if another version of synfire wrote it; `path` is the place of those errors. Close the
 * parcel only after SF_OK.
 */
int sf_parcel_map(sf_parcel *parcel, int fd, const char *path, sf_error *error);
void sf_parcel_close(
    sf_parcel *parcel); /**< if zero-initialised or over the caller's memory, frees nothing */

/** Values of the next field, aligned to 16 bytes and valid as long as the parcel; NULL if there are none. */
void *sf_parcel_take(sf_parcel *parcel, size_t size, size_t *count);

/** The same for a known number of values; NULL also for another number, which marks the parcel damaged. */
void *sf_parcel_take_exactly(sf_parcel *parcel, size_t size, size_t count);
uint64_t sf_parcel_take_number(sf_parcel *parcel);
const char *sf_parcel_take_text(sf_parcel *parcel); /**< NULL: none */

/** Fails with SF_DATA, saying that the parcel is inconsistent. */
int sf_parcel_refuse(const char *path, sf_error *error);

#endif
