/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Small steps over HDF5 that every user of it needs. HDF5 prints nothing once sf_hdf_begin ran on a thread;
 * what it knows about a failure goes into the sentence instead. Files are not trusted: links that leave the
 * file are not followed, and a dataset must hold about as many bytes as its shape says before memory is taken
 * for it.
 *
 * Threads: HDF5 is used by one thread at a time (sinks/storage.h).
 */
#ifndef SF_IO_HDF_H
#define SF_IO_HDF_H

#include "core/text.h"
#include "io/parcel.h"

#include <hdf5.h>
#include <synfire/error.h>

/** Silences HDF5's own error printing on this thread; call it first in every function that others enter HDF5
 * by. */
void sf_hdf_begin(void);

/** As sf_fail, with the deepest reason that HDF5 noted (such as "No space left on device") added to the
 * sentence. */
int sf_hdf_fail(sf_error *error, sf_status code, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** True where the file begins as an HDF5 file does, be it damaged; asks nothing of HDF5. */
bool sf_hdf_has_signature(const char *path);

/** A file from outside, open to be read. */
typedef struct sf_hdf_input {
    hid_t file;
    bool live;          /**< a writer has it open or was killed: its columns may differ in length */
    const char *path;   /**< for messages */
    const char *stream; /**< which of several is asked for, or NULL */
    /** Of its spikes the part `part` of `parts` is asked for, where its layout can be read so; 0: all. */
    uint32_t part, parts;
    double rate_hz; /**< samples in a second, where the caller knows better than the file; 0: as it says */
    bool only_part; /**< what cannot be read so is refused */
} sf_hdf_input;

/**
 * Opens the file at input->path and sets the rest but `stream` and the part; one that a writer has open, or
 * left open when it was killed, for concurrent reading. SF_NO_INPUT, SF_DATA.
 */
int sf_hdf_open_file(sf_hdf_input *input, sf_error *error);

/** Opens the object at `path` (components separated by '/'), or returns a negative id where there is none. */
hid_t sf_hdf_open(hid_t at, const char *path);
void sf_hdf_close(hid_t object); /**< any kind of id; negative ids are allowed */

/** Appends the name of the file that the link at `path` leads to; false where it is none that leaves its own.
 */
bool sf_hdf_external_link(hid_t at, const char *path, sf_text *file);

bool sf_hdf_is_dataset(hid_t at, const char *path);
bool sf_hdf_is_group(hid_t at, const char *path);

/** Calls `visit` with the name of each member of a group, by name, until it returns non-zero; returns that,
 * or 0. */
int sf_hdf_each_member(hid_t group, int (*visit)(void *context, hid_t group, const char *name),
                       void *context);

/** Calls `visit` with each attribute's name and text (as below), by name, until it returns non-zero; returns
 * that, or 0. */
int sf_hdf_each_attribute(hid_t object, int (*visit)(void *context, const char *name, const char *text),
                          void *context);

/**
 * Appends the text of an attribute or of the first element of a dataset: fixed or variable-length strings,
 * scalar or array, without padding; numbers are printed. False where there is none, or it is neither text nor
 * a number.
 */
bool sf_hdf_attribute_text(hid_t object, const char *name, sf_text *text);
/** True where the attribute is text that begins so; takes no memory, so it never fails for want of it. */
bool sf_hdf_attribute_begins(hid_t object, const char *name, const char *beginning);

bool sf_hdf_dataset_text(hid_t at, const char *path, sf_text *text);
/** As sf_hdf_attribute_begins, of a dataset that is one text. */
bool sf_hdf_dataset_begins(hid_t at, const char *path, const char *beginning);

/**
 * Number of elements of a dataset of any rank, checked against the bytes stored for it. `place` and `path`
 * name it in the error. SF_DATA where it is missing, refers to other files, or claims more than it stores.
 */
int sf_hdf_length(hid_t at, const char *path, const char *place, size_t *length, sf_error *error);

/**
 * True where values of so many bytes in memory are in proportion to the file that holds the object. For what
 * is put together from several datasets, of which each alone may fit.
 */
bool sf_hdf_fits(hid_t object, uint64_t bytes);

/** Rank of a dataset and its first two sizes (1 beyond its rank), or -1 where there is none. */
int sf_hdf_shape(hid_t at, const char *path, size_t size[2]);

/** What kind of values a dataset holds; H5T_NO_CLASS where there is none. */
H5T_class_t sf_hdf_class(hid_t at, const char *path);

/** Reads a whole numeric dataset into a new block of `length` elements of memory type `type`; sf_free it. */
int sf_hdf_read(hid_t at, const char *path, const char *place, hid_t type, size_t size, void **values,
                size_t *length, sf_error *error);

/** The same of one field of a table whose rows have several; which else they have does not matter. */
int sf_hdf_read_field(hid_t at, const char *path, const char *field, const char *place, hid_t type,
                      size_t size, void **values, size_t *length, sf_error *error);
bool sf_hdf_has_field(hid_t at, const char *path, const char *field);

/** A dataset that is one number; false where there is none. */
bool sf_hdf_number(hid_t at, const char *path, double *number);
/** The same of an attribute. */
bool sf_hdf_attribute_number(hid_t object, const char *name, double *number);

/** Two numbers of a matrix of integers, of which no more than their chunks is read; false where they are not
 * there or cannot be read. */
bool sf_hdf_read_cells(hid_t at, const char *path, size_t row, size_t column, int64_t values[2]);

/**
 * Opens a vector of numbers to be read in parts; *length is checked as by sf_hdf_length. The id, closed by
 * sf_hdf_close, or a negative one with the error filled in (SF_DATA).
 */
hid_t sf_hdf_open_column(hid_t at, const char *path, const char *place, size_t *length, sf_error *error);

/** Reads rows start to start + count - 1 of such a column as memory type `type`; false where it is damaged.
 */
bool sf_hdf_read_rows(hid_t column, hid_t type, size_t start, size_t count, void *values);

/** Opens each object that a dataset of references names, in its order, and calls `visit` with it until that
 * returns non-zero; what refers to nothing is passed over. SF_DATA where there is no such dataset. */
int sf_hdf_each_reference(hid_t at, const char *path, const char *place,
                          int (*visit)(void *context, size_t i, hid_t object), void *context,
                          sf_error *error);

/** True where both paths lead to one object, as two links may. */
bool sf_hdf_is_same(hid_t at, const char *one, const char *other);

/** Reads a dataset of strings of either kind into a new array of new strings; sf_hdf_free_strings frees both.
 */
int sf_hdf_read_strings(hid_t at, const char *path, const char *place, char ***strings, size_t *count,
                        sf_error *error);
int sf_hdf_read_field_strings(hid_t at, const char *path, const char *field, const char *place,
                              char ***strings, size_t *count, sf_error *error);
void sf_hdf_free_strings(char **strings, size_t count);

/** Hands a whole numeric dataset over as one field of a parcel, or one of strings as their number and a text
 * each. Errors are those of sf_hdf_read and sf_hdf_read_strings. */
int sf_hdf_put(sf_parcel_writer *parcel, hid_t at, const char *path, const char *place, hid_t type,
               size_t size, sf_error *error);
int sf_hdf_put_strings(sf_parcel_writer *parcel, hid_t at, const char *path, const char *place,
                       sf_error *error);

/* ---- writing; a negative id or false is a failure, whose reason sf_hdf_fail knows ---- */

/** A type of strings of `size` bytes, their NUL among them; closed by sf_hdf_close. */
hid_t sf_hdf_string_type(size_t size);

/** A new attribute that holds one value, or one text. */
bool sf_hdf_write_attribute(hid_t object, const char *name, hid_t type, const void *value);
bool sf_hdf_write_text(hid_t object, const char *name, const char *text);

/** A new dataset of fixed shape: rows x columns, or a vector where columns is 1. */
bool sf_hdf_write_table(hid_t parent, const char *name, hid_t type, hsize_t rows, hsize_t columns,
                        const void *values);

#endif
