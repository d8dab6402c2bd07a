/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What one process read of a file, laid out in shared memory for another: a head, then fields, each a number
 * of values of one size, in an order that the writer and the reader of each kind of content agree on. The
 * form is private to one version of synfire.
 *
 * The writer may have been broken by the file that it read, so whoever takes fields out believes nothing: a
 * field that leaves the parcel, or has values of another size, makes the parcel `damaged`, and everything
 * taken from then on is empty. What values mean is checked by those who take them.
 */
#ifndef SF_IO_PARCEL_H
#define SF_IO_PARCEL_H

#include <synfire/error.h>

/* ---- writing ---- */

#define SF_PARCEL_BLOCK 65536

/** Zero-initialise, set fd to an empty file. After a write has failed, `failed` is set and the rest does
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

/** A field whose values come later: where they begin in the file. */
uint64_t sf_parcel_put_empty(sf_parcel_writer *writer, size_t count, size_t size);

/** Some of its values, from any thread; false where writing fails, after which the parcel is not to be
 * finished with SF_OK. */
bool sf_parcel_fill(const sf_parcel_writer *writer, uint64_t at, const void *values, size_t bytes);

void sf_parcel_put_number(sf_parcel_writer *writer, uint64_t number);
void sf_parcel_put_text(sf_parcel_writer *writer, const char *text); /**< NULL: none */

/** Writes what is left, and the head last: with SF_OK the content counts, else only the error. False where
 * writing failed; the error can be written even then. */
bool sf_parcel_finish(sf_parcel_writer *writer, int status, const sf_error *error);

/* ---- reading ---- */

typedef struct sf_parcel {
    const char *at, *end; /**< fields not yet taken */
    bool damaged;
    void *mapping; /**< NULL: the fields are the caller's memory */
    size_t mapped;
} sf_parcel;

/**
 * Maps the parcel in a file in memory that is sealed, so that no one changes it any more; what is written
 * into the mapping stays private to this process. The status that the writer had, its error where that is a
 * failure; SF_DATA where this is no parcel, SF_UNAVAILABLE where another version of synfire wrote it; `path`
 * is the place of those errors. Only SF_OK leaves something to close.
 */
int sf_parcel_map(sf_parcel *parcel, int fd, const char *path, sf_error *error);
void sf_parcel_close(
    sf_parcel *parcel); /**< zero-initialised, or over the caller's memory, it is just forgotten */

/** The values of the next field, aligned to 16 bytes, as long-lived as the parcel; NULL where there are none.
 */
void *sf_parcel_take(sf_parcel *parcel, size_t size, size_t *count);

/** The same where the number of values is known; NULL also where it is another, which is damage. */
void *sf_parcel_take_exactly(sf_parcel *parcel, size_t size, size_t count);
uint64_t sf_parcel_take_number(sf_parcel *parcel);
const char *sf_parcel_take_text(sf_parcel *parcel); /**< NULL: none */

/** SF_DATA, in words for a parcel of which the parts make no sense. */
int sf_parcel_refuse(const char *path, sf_error *error);

#endif
