/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Helper functions over HDF5. After sf_hdf_begin HDF5 prints nothing on that thread; its reason for a failure
 * is added to synfire's message instead. Files are untrusted: external links are not followed, and a dataset
 * must store about as many bytes as its shape implies before memory is allocated for it.
 *
 * Threads: HDF5 is used by one thread at a time (sinks/storage.h).
 */
#ifndef SF_IO_HDF_H
#define SF_IO_HDF_H

#include "core/text.h"
#include "io/parcel.h"

#include <hdf5.h>
#include <synfire/error.h>

/** Silences HDF5's error printing on this thread; call it first in every function that is an entry to HDF5.
 */
void sf_hdf_begin(void);

/** As sf_fail, with the innermost reason that HDF5 recorded (such as "No space left on device") added to the
 * message. */
int sf_hdf_fail(sf_error *error, sf_status code, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** True if the file begins with the HDF5 signature, even if it is damaged; does not call HDF5. */
bool sf_hdf_has_signature(const char *path);

/** A file from outside, open to be read. */
typedef struct sf_hdf_input {
    hid_t file;
    bool live;          /**< a writer has it open or was killed: its columns may differ in length */
    const char *path;   /**< for messages */
    const char *stream; /**< the requested one of several streams, or NULL */
    /** Requests part `part` of `parts` of the spikes, if the layout can be read in parts; parts 0: all. */
    uint32_t part, parts;
    double rate_hz; /**< sampling rate in Hz given by the caller; 0: that of the file */
    bool only_part; /**< what cannot be read so is refused */
} sf_hdf_input;

/**
 * Opens the file at input->path and sets the other members except `stream` and the part. A file that a writer
 * has open, or left open when it was killed, is opened for concurrent reading. SF_NO_INPUT, SF_DATA.
 */
int sf_hdf_open_file(sf_hdf_input *input, sf_error *error);

/** Opens the object at `path` (components separated by '/'); a negative id if it does not exist. */
hid_t sf_hdf_open(hid_t at, const char *path);
void sf_hdf_close(hid_t object); /**< any kind of id; negative ids are allowed */

/** Appends the name of the file that an external link at `path` refers to; false if it is no external link.
 */
bool sf_hdf_external_link(hid_t at, const char *path, sf_text *file);

bool sf_hdf_is_dataset(hid_t at, const char *path);
bool sf_hdf_is_group(hid_t at, const char *path);

/** Calls `visit` with each member of a group, ordered by name, until it returns non-zero; returns that, or 0.
 */
int sf_hdf_each_member(hid_t group, int (*visit)(void *context, hid_t group, const char *name),
                       void *context);

/** Calls `visit` with each attribute's name and text (as below), ordered by name, until it returns non-zero;
 * returns that, or 0. */
int sf_hdf_each_attribute(hid_t object, int (*visit)(void *context, const char *name, const char *text),
                          void *context);

/**
 * Appends the text of an attribute or of the first element of a dataset: fixed or variable-length strings,
 * scalar or array, without padding; numbers are printed. False if it does not exist, or is neither text nor a
 * number.
 */
bool sf_hdf_attribute_text(hid_t object, const char *name, sf_text *text);
/** Whether the attribute is a text with this beginning; allocates nothing, so it cannot fail for lack of
 * memory. */
bool sf_hdf_attribute_begins(hid_t object, const char *name, const char *beginning);

bool sf_hdf_dataset_text(hid_t at, const char *path, sf_text *text);
/** As sf_hdf_attribute_begins, for a dataset that is one text. */
bool sf_hdf_dataset_begins(hid_t at, const char *path, const char *beginning);

/**
 * Number of elements of a dataset of any rank, checked against its stored bytes. `place` and `path` name it
 * in the error. SF_DATA if it is missing, refers to other files, or claims more than it stores.
 */
int sf_hdf_length(hid_t at, const char *path, const char *place, size_t *length, sf_error *error);

/**
 * Whether `bytes` bytes of memory are in proportion to the size of the file that holds the object. For data
 * combined from several datasets, each of which may be small enough.
 */
bool sf_hdf_fits(hid_t object, uint64_t bytes);

/** Rank of a dataset and its first two sizes (1 beyond its rank); -1 if it does not exist. */
int sf_hdf_shape(hid_t at, const char *path, size_t size[2]);

/** Type class of a dataset's values; H5T_NO_CLASS if it does not exist. */
H5T_class_t sf_hdf_class(hid_t at, const char *path);

/** Reads a whole numeric dataset into a new block of `length` elements of memory type `type`; free with
 * sf_free. */
int sf_hdf_read(hid_t at, const char *path, const char *place, hid_t type, size_t size, void **values,
                size_t *length, sf_error *error);

/** The same for one field of a compound dataset; its other fields do not matter. */
int sf_hdf_read_field(hid_t at, const char *path, const char *field, const char *place, hid_t type,
                      size_t size, void **values, size_t *length, sf_error *error);
bool sf_hdf_has_field(hid_t at, const char *path, const char *field);

/** Reads a dataset that is one number; false if there is none. */
bool sf_hdf_number(hid_t at, const char *path, double *number);
/** The same of an attribute. */
bool sf_hdf_attribute_number(hid_t object, const char *name, double *number);

/** Reads the integers at rows `row` and row + 1 of a matrix column, decompressing no more than their chunks;
 * false if they do not exist or cannot be read. */
bool sf_hdf_read_cells(hid_t at, const char *path, size_t row, size_t column, int64_t values[2]);

/**
 * Opens a numeric vector for reading in ranges; *length is checked as by sf_hdf_length. Returns the id, to
 * close with sf_hdf_close, or a negative one with the error filled in (SF_DATA).
 */
hid_t sf_hdf_open_column(hid_t at, const char *path, const char *place, size_t *length, sf_error *error);

/** Reads rows start to start + count - 1 of such a vector as memory type `type`; false if it is damaged. */
bool sf_hdf_read_rows(hid_t column, hid_t type, size_t start, size_t count, void *values);

/** Opens each object of a dataset of references in order and calls `visit` until it returns non-zero; skips
 * null references. SF_DATA if there is no such dataset. */
int sf_hdf_each_reference(hid_t at, const char *path, const char *place,
                          int (*visit)(void *context, size_t i, hid_t object), void *context,
                          sf_error *error);

/** Whether both paths lead to the same object, as two links may. */
bool sf_hdf_is_same(hid_t at, const char *one, const char *other);

/** Reads a dataset of fixed or variable-length strings into a new array of new strings; sf_hdf_free_strings
 * frees both. */
int sf_hdf_read_strings(hid_t at, const char *path, const char *place, char ***strings, size_t *count,
                        sf_error *error);
int sf_hdf_read_field_strings(hid_t at, const char *path, const char *field, const char *place,
                              char ***strings, size_t *count, sf_error *error);
void sf_hdf_free_strings(char **strings, size_t count);

/** Writes a whole numeric dataset to the parcel as one field, or a dataset of strings as their number and one
 * text each. Errors as sf_hdf_read and sf_hdf_read_strings. */
int sf_hdf_put(sf_parcel_writer *parcel, hid_t at, const char *path, const char *place, hid_t type,
               size_t size, sf_error *error);
int sf_hdf_put_strings(sf_parcel_writer *parcel, hid_t at, const char *path, const char *place,
                       sf_error *error);

/* ---- writing: a negative id or false is a failure, whose reason sf_hdf_fail reports ---- */

/** Type of strings of `size` bytes including the NUL; close with sf_hdf_close. */
hid_t sf_hdf_string_type(size_t size);

/** Writes a new attribute that holds one value, or one text. */
bool sf_hdf_write_attribute(hid_t object, const char *name, hid_t type, const void *value);
bool sf_hdf_write_text(hid_t object, const char *name, const char *text);

/** Creates a dataset of fixed shape: rows x columns, or a vector if columns is 1. */
bool sf_hdf_write_table(hid_t parent, const char *name, hid_t type, hsize_t rows, hsize_t columns,
                        const void *values);

#endif
