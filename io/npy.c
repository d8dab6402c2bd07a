/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's .npy: a magic string, a version, the length of a header, the header (a Python dictionary as text
 * with descr, fortran_order and shape), and the array's bytes. Format: numpy.lib.format, versions 1 to 3.
 */
#include "io/samples_file.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct npy_array {
    char kind;    /* f, i, u */
    size_t width; /* bytes of a number */
    bool swapped; /* byte order is not this machine's */
    bool by_column;
    size_t rows, columns;
    const unsigned char *bytes;
} npy_array;

/* What follows `'key':` in the header, blanks skipped, or NULL. */
static const char *find_key(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (at == NULL)
        return NULL;
    at += strlen(key);
    return at + strspn(at, " ");
}

static bool read_type(npy_array *array, const char *at)
{
    if (at == NULL || at[0] != '\'' || at[1] == '\0' || strchr("<>|=", at[1]) == NULL)
        return false;
    char order = at[1];
    array->kind = at[2];
    char *end = NULL;
    array->width = array->kind != '\0' ? strtoul(at + 3, &end, 10) : 0;
    array->swapped = order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
    bool integer = (array->kind == 'i' || array->kind == 'u') &&
                   (array->width == 1 || array->width == 2 || array->width == 4 || array->width == 8);
    bool real = array->kind == 'f' && (array->width == 4 || array->width == 8);
    return (integer || real) && *end == '\'';
}

/* "(n,)" or "(n, d)" */
static bool read_shape(npy_array *array, const char *at)
{
    if (at == NULL || at[0] != '(' || strspn(at + 1, "0123456789") == 0)
        return false;
    char *end;
    array->rows = strtoul(at + 1, &end, 10);
    array->columns = 1;
    if (*end++ != ',')
        return false;
    end += strspn(end, " ");
    if (strspn(end, "0123456789") > 0)
        array->columns = strtoul(end, &end, 10);
    return *end == ')';
}

static double read_number(const npy_array *array, size_t index)
{
    const unsigned char *from = array->bytes + index * array->width;
    unsigned char bytes[8];
    for (size_t b = 0; b < array->width; b++)
        bytes[b] = from[array->swapped ? array->width - 1 - b : b];
#define SF_NUMBER(type)                                                                                      \
    {                                                                                                        \
        type number;                                                                                         \
        memcpy(&number, bytes, sizeof number);                                                               \
        return (double)number;                                                                               \
    }
    if (array->kind == 'f' && array->width == 8)
        SF_NUMBER(double)
    if (array->kind == 'f')
        SF_NUMBER(float)
    if (array->kind == 'i' && array->width == 8)
        SF_NUMBER(int64_t)
    if (array->kind == 'i' && array->width == 4)
        SF_NUMBER(int32_t)
    if (array->kind == 'i' && array->width == 2)
        SF_NUMBER(int16_t)
    if (array->kind == 'i')
        SF_NUMBER(int8_t)
    if (array->width == 8)
        SF_NUMBER(uint64_t)
    if (array->width == 4)
        SF_NUMBER(uint32_t)
    if (array->width == 2)
        SF_NUMBER(uint16_t)
    SF_NUMBER(uint8_t)
#undef SF_NUMBER
}

static int read_array(sf_samples *samples, const npy_array *array, const char *path, sf_error *error)
{
    samples->values = sf_resize(NULL, array->rows * array->columns, sizeof *samples->values);
    if (samples->values == NULL)
        return sf_fail_memory(error);
    samples->n = array->rows;
    samples->d = array->columns;
    for (size_t row = 0; row < array->rows; row++)
        for (size_t column = 0; column < array->columns; column++) {
            size_t index = array->by_column ? column * array->rows + row : row * array->columns + column;
            double value = read_number(array, index);
            if (!isfinite(value))
                return sf_fail(error, SF_DATA, path, "row %zu holds %g, expected finite numbers", row + 1,
                               value);
            samples->values[row * array->columns + column] = value;
        }
    return SF_OK;
}

int sf_npy_parse(sf_samples *samples, const char *path, const char *data, size_t size, sf_error *error)
{
    const unsigned char *bytes = (const unsigned char *)data;
    const char *damaged = "is a damaged .npy file: its header does not end within it";
    size_t prefix = size > 6 && bytes[6] == 1 ? 10 : 12;
    if (size < prefix)
        return sf_fail(error, SF_DATA, path, "%s", damaged);
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (prefix == 12)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > size - prefix)
        return sf_fail(error, SF_DATA, path, "%s", damaged);
    char *header = sf_resize(NULL, length + 1, 1);
    if (header == NULL)
        return sf_fail_memory(error);
    memcpy(header, data + prefix, length);
    header[length] = '\0';
    npy_array array = {.bytes = bytes + prefix + length};
    const char *order = find_key(header, "'fortran_order':");
    array.by_column = order != NULL && strncmp(order, "True", 4) == 0;
    bool typed = read_type(&array, find_key(header, "'descr':"));
    bool shaped = read_shape(&array, find_key(header, "'shape':"));
    sf_free(header);
    if (!typed)
        return sf_fail(error, SF_DATA, path, "holds no plain integers or floating-point numbers");
    if (!shaped)
        return sf_fail(error, SF_DATA, path, "is no array of one or two dimensions");
    size_t have = size - prefix - length;
    if (array.rows == 0 || array.columns == 0)
        return sf_fail(error, SF_DATA, path, "holds no numbers");
    if (array.columns > have || array.rows > have || have / array.width / array.columns != array.rows ||
        have % (array.width * array.columns) != 0)
        return sf_fail(error, SF_DATA, path, "holds %zu bytes of data, expected %zu x %zu numbers of %zu",
                       have, array.rows, array.columns, array.width);
    return read_array(samples, &array, path, error);
}
