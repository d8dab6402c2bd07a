/* SPDX-License-Identifier: Apache-2.0 */
#include "io/samples_file.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "io/npy.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <synfire/density.h>

typedef struct row_reader {
    sf_samples *samples;
    size_t capacity; /* of samples->values */
    size_t count;    /* numbers read */
    const char *path;
    size_t line;     /* 1-based */
    bool named;      /* a row of column names was passed over */
    bool semicolons; /* separate fields: commas are decimal marks */
    sf_error *error;
} row_reader;

static int fail_here(const row_reader *reader, const char *expected, const char *found, size_t length)
{
    char place[256];
    snprintf(place, sizeof place, "%s:%zu", reader->path, reader->line);
    return sf_fail(reader->error, SF_DATA, place, "found '%.*s', expected %s", length < 40 ? (int)length : 40,
                   found, expected);
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static size_t field_length(const row_reader *reader, const char *at, const char *end)
{
    const char *between = reader->semicolons ? " \t\r;" : " \t\r,;";
    size_t length = 0;
    while (at + length < end && strchr(between, at[length]) == NULL)
        length++;
    return length;
}

/* A field as a number; NaN where it is none. */
static double number_of(const row_reader *reader, const char *at, size_t length)
{
    char copy[64];
    double value;
    if (length >= sizeof copy) return NAN;
    memcpy(copy, at, length);
    copy[length] = '\0';
    char *comma = reader->semicolons ? strchr(copy, ',') : NULL;
    if (comma != NULL) *comma = '.';
    return sf_parse_real(copy, &value) ? value : NAN;
}

/* Reads the field at *at and steps over it and one separator. */
static int read_field(row_reader *reader, const char **at, const char *end)
{
    size_t length = field_length(reader, *at, end);
    double value = number_of(reader, *at, length);
    if (isnan(value)) return fail_here(reader, "a finite number", *at, length);
    void *values = reader->samples->values;
    if (sf_reserve(&values, &reader->capacity, reader->count + 1, sizeof value) != 0)
        return sf_fail_memory(reader->error);
    reader->samples->values = values;
    reader->samples->values[reader->count++] = value;
    *at = skip_blanks(*at + length, end);
    if (*at < end && (**at == ',' || **at == ';')) {
        *at = skip_blanks(*at + 1, end);
        if (*at == end) return fail_here(reader, "a number after the last separator", "", 0);
    }
    return SF_OK;
}

/* A column's name rather than a number gone wrong: it begins with a letter, and is not nan or inf. */
static bool is_name(const row_reader *reader, const char *at, const char *end)
{
    char *stop;
    strtod(at, &stop);
    return (isalpha((unsigned char)*at) || *at == '"' || *at == '_') &&
           stop != at + field_length(reader, at, end);
}

static int read_row(row_reader *reader, const char *at, const char *end)
{
    at = skip_blanks(at, end);
    if (at == end || *at == '#') return SF_OK;
    if (reader->count == 0) reader->semicolons = memchr(at, ';', (size_t)(end - at)) != NULL;
    if (reader->count == 0 && !reader->named && is_name(reader, at, end)) {
        reader->named = true;
        return SF_OK;
    }
    size_t before = reader->count;
    while (at < end) {
        int status = read_field(reader, &at, end);
        if (status != SF_OK) return status;
    }
    size_t columns = reader->count - before;
    if (reader->samples->n == 0) reader->samples->d = columns;
    if (columns != reader->samples->d) {
        char place[256];
        snprintf(place, sizeof place, "%s:%zu", reader->path, reader->line);
        return sf_fail(reader->error, SF_DATA, place, "found %zu columns, expected %zu as in the first row",
                       columns, reader->samples->d);
    }
    reader->samples->n++;
    return SF_OK;
}

static int parse_text(sf_samples *samples, const char *path, const char *text, size_t size, sf_error *error)
{
    row_reader reader = {.samples = samples, .path = path, .line = 1, .error = error};
    if (memchr(text, '\0', size) != NULL)
        return sf_fail(error, SF_DATA, path, "is binary, expected numbers as text or a NumPy .npy file");
    for (const char *at = text, *end = text + size; at < end; reader.line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline != NULL ? newline : end;
        int status = read_row(&reader, at, line_end);
        if (status != SF_OK) return status;
        at = newline != NULL ? newline + 1 : end;
    }
    if (samples->n == 0)
        return sf_fail(error, SF_DATA, path, "holds no numbers: expected one row of numbers a line");
    return SF_OK;
}

static bool begins_with(const char *data, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(data, magic, length) == 0;
}

/* ---- NumPy's arrays ---- */

static int read_array(sf_samples *samples, const sf_npy *npy, const unsigned char *bytes, sf_error *error)
{
    samples->n = npy->shape[0];
    samples->d = npy->dimensions > 1 ? npy->shape[1] : 1;
    samples->values = sf_resize(NULL, npy->count, sizeof *samples->values);
    if (samples->values == NULL) return sf_fail_memory(error);
    for (size_t row = 0; row < samples->n; row++)
        for (size_t column = 0; column < samples->d; column++) {
            size_t index = npy->by_column ? column * samples->n + row : row * samples->d + column;
            double value = sf_npy_real(&npy->fields[0], bytes + index * npy->item);
            if (!isfinite(value))
                return sf_fail(error, SF_DATA, npy->path, "row %zu holds %g, expected finite numbers",
                               row + 1, value);
            samples->values[row * samples->d + column] = value;
        }
    return SF_OK;
}

static int parse_array(sf_samples *samples, const char *path, const char *data, size_t size, sf_error *error)
{
    sf_npy npy;
    int status = sf_npy_parse_header(&npy, path, data, size, size, error);
    if (status != SF_OK) return status;
    if (npy.fields[0].name[0] != '\0')
        return sf_fail(error, SF_DATA, path, "holds no plain integers or floating-point numbers");
    if (npy.dimensions < 1 || npy.dimensions > 2)
        return sf_fail(error, SF_DATA, path, "is no array of one or two dimensions");
    if (npy.count == 0) return sf_fail(error, SF_DATA, path, "holds no numbers");
    return read_array(samples, &npy, (const unsigned char *)data + npy.start, error);
}

int sf_samples_parse(sf_samples *samples, const char *path, const char *text, size_t size, sf_error *error)
{
    *samples = (sf_samples){0};
    int status;
    if (begins_with(text, size, SF_NPY_MAGIC, strlen(SF_NPY_MAGIC)))
        status = parse_array(samples, path, text, size, error);
    else if (begins_with(text, size, "\x89HDF\r\n\x1a\n", 8))
        status = sf_fail(error, SF_DATA, path,
                         "is an HDF5 file, expected numbers: --quantity takes them from a recording");
    else
        status = parse_text(samples, path, text, size, error);
    if (status != SF_OK) sf_samples_free(samples);
    return status;
}

int sf_samples_read(sf_samples *samples, const char *path, sf_error *error)
{
    *samples = (sf_samples){0};
    sf_text text = {0};
    int status = sf_file_read(&text, path, error);
    if (status == SF_OK) status = sf_samples_parse(samples, path, text.data, text.length, error);
    sf_text_free(&text);
    return status;
}

int sf_series_open(sf_series **series, const char *path, sf_error *error)
{
    sf_samples samples;
    *series = NULL;
    int status = sf_samples_read(&samples, path, error);
    if (status == SF_OK) status = sf_series_new(series, samples.values, samples.n, samples.d, error);
    sf_samples_free(&samples);
    return status;
}
