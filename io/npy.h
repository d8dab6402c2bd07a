/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NumPy's .npy, versions 1 to 3: a magic string, a version, the length of a header, the header (a Python
 * dictionary as text with descr, fortran_order and shape), and the array's bytes. Arrays of numbers or of
 * texts in either byte order, and of records of these. An open one is read in blocks, so that no more is in
 * memory than what is asked for.
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
    char kind;     /**< f, i, u; U: text, four bytes a character */
    bool swapped;  /**< byte order is not this machine's */
    size_t width, offset;
} sf_npy_field;

/** Where the bytes of an array come from that no file holds as they are. */
typedef struct sf_npy_source sf_npy_source;
struct sf_npy_source {
    /** Reads `size` bytes from byte `offset` of the array on. Fast where offsets ascend. SF_DATA, SF_IO. */
    int (*read)(sf_npy_source *source, void *to, size_t size, uint64_t offset, sf_error *error);
    void (*close)(sf_npy_source *source);
};

typedef struct sf_npy {
    const char *path;      /**< for messages; the caller's */
    int file;              /**< -1: none */
    sf_npy_source *source; /**< NULL: the file */
    uint64_t start;        /**< of the first element in the file or the source */
    sf_npy_field fields[SF_NPY_MOST_FIELDS];
    size_t field_count, item; /**< item: bytes of an element */
    bool by_column;
    size_t shape[SF_NPY_MOST_DIMENSIONS], dimensions;
    size_t count; /**< elements: the product of the shape */
} sf_npy;

/** What the header of an array says that is all of data[0..size) or begins it; npy->start is where its
 * elements are. `length` bytes are there in all, which is held against the shape. SF_DATA, also of texts. */
int sf_npy_parse_header(sf_npy *npy, const char *path, const char *data, size_t size, uint64_t length,
                        sf_error *error);

/** The number at `from`, of a field that is one. */
double sf_npy_real(const sf_npy_field *field, const unsigned char *from);
int64_t sf_npy_integer(const sf_npy_field *field, const unsigned char *from); /**< as the nearest that fits */

/** Opens a file, or the `length` bytes from `offset` of one (0: to its end), for the functions below.
 * SF_NO_INPUT, SF_DATA. */
int sf_npy_open(sf_npy *npy, const char *path, uint64_t offset, uint64_t length, sf_error *error);
/** The same of `length` bytes that a source yields; sf_npy_close closes it, on failure this function does.
 * SF_DATA, SF_IO, SF_NO_MEMORY. */
int sf_npy_open_source(sf_npy *npy, const char *path, sf_npy_source *source, uint64_t length,
                       sf_error *error);
bool sf_npy_is_text(const sf_npy *npy); /**< elements are texts */
void sf_npy_close(sf_npy *npy);

/** Elements first to first + count - 1 in the order of the file, of the field `field` (NULL: they are numbers
 * themselves). SF_DATA where there is no such number. */
int sf_npy_read_integers(const sf_npy *npy, const char *field, size_t first, size_t count, int64_t *values,
                         sf_error *error);
int sf_npy_read_reals(const sf_npy *npy, size_t first, size_t count, double *values, sf_error *error);
/** The same of texts, which `take` gets one by one in UTF-8; what it returns ends it unless SF_OK. */
int sf_npy_read_texts(const sf_npy *npy, int (*take)(void *context, const char *text, sf_error *error),
                      void *context, sf_error *error);
/** A whole file of integers in a new block, sf_free takes it. */
int sf_npy_load_integers(const char *path, int64_t **values, size_t *count, sf_error *error);

#endif
