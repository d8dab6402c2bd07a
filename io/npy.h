/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NumPy's .npy, versions 1 to 3: a magic string, a version, the length of a header, the header (a Python
 * dictionary as text with descr, fortran_order and shape), and the bytes of the array. Reads arrays of
 * numbers or texts in either byte order, and of records of these, in blocks, so that memory holds no more
 * than was requested.
 */
#ifndef SF_IO_NPY_H
#define SF_IO_NPY_H

#include <stdbool.h>
#include <synfire/error.h>

#define SF_NPY_MAGIC "\x93NUMPY"
#define SF_NPY_MOST_FIELDS 8
#define SF_NPY_MOST_DIMENSIONS 4

/** A number or a text of each element. */
typedef struct sf_npy_field {
    char name[48]; /**< "" where elements are no records */
    char kind;     /**< f, i, u; U: text, four bytes per character */
    bool swapped;  /**< byte order is not this machine's */
    size_t width, offset;
} sf_npy_field;

/** Source of the bytes of an array that is not stored plainly in a file, such as a compressed one. */
typedef struct sf_npy_source sf_npy_source;
struct sf_npy_source {
    /** Reads `size` bytes from byte `offset` of the array. Fast for ascending offsets. SF_DATA, SF_IO. */
    int (*read)(sf_npy_source *source, void *to, size_t size, uint64_t offset, sf_error *error);
    void (*close)(sf_npy_source *source);
};

typedef struct sf_npy {
    const char *path;      /**< for messages; the caller's */
    int file;              /**< -1: none */
    sf_npy_source *source; /**< NULL: the file */
    uint64_t start;        /**< offset of the first element in the file or the source */
    sf_npy_field fields[SF_NPY_MOST_FIELDS];
    size_t field_count, item; /**< item: bytes of an element */
    bool by_column;
    size_t shape[SF_NPY_MOST_DIMENSIONS], dimensions;
    size_t count; /**< elements: the product of the shape */
} sf_npy;

/** Parses an array's header from data[0..size), which holds the array or its beginning; sets npy->start to
 * the offset of its elements. Checks the shape against `length`, the total number of bytes. SF_DATA, also for
 * texts. */
int sf_npy_parse_header(sf_npy *npy, const char *path, const char *data, size_t size, uint64_t length,
                        sf_error *error);

/** Reads the number at `from`, of a numeric field. */
double sf_npy_real(const sf_npy_field *field, const unsigned char *from);
int64_t sf_npy_integer(const sf_npy_field *field, const unsigned char *from); /**< as the nearest that fits */

/** Opens a file, or the `length` bytes from `offset` of one (0: to its end), for the functions below.
 * SF_NO_INPUT, SF_DATA. */
int sf_npy_open(sf_npy *npy, const char *path, uint64_t offset, uint64_t length, sf_error *error);
/** The same for `length` bytes from a source. Takes ownership of the source: sf_npy_close closes it, on
 * failure this function does. SF_DATA, SF_IO, SF_NO_MEMORY. */
int sf_npy_open_source(sf_npy *npy, const char *path, sf_npy_source *source, uint64_t length,
                       sf_error *error);
bool sf_npy_is_text(const sf_npy *npy); /**< elements are texts */
void sf_npy_close(sf_npy *npy);

/** Reads elements first to first + count - 1 in file order, of the field `field` (NULL: the elements are
 * numbers). SF_DATA if there is no such numeric field. */
int sf_npy_read_integers(const sf_npy *npy, const char *field, size_t first, size_t count, int64_t *values,
                         sf_error *error);
int sf_npy_read_reals(const sf_npy *npy, size_t first, size_t count, double *values, sf_error *error);
/** The same for texts, which are passed to `take` one by one in UTF-8; any return value but SF_OK ends the
 * reading. */
int sf_npy_read_texts(const sf_npy *npy, int (*take)(void *context, const char *text, sf_error *error),
                      void *context, sf_error *error);
/** Reads a whole file of integers into a new block; free with sf_free. */
int sf_npy_load_integers(const char *path, int64_t **values, size_t *count, sf_error *error);

#endif
