/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf_table.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "io/layout.h"

#include <string.h>

#define CHUNK 1024

/* ---- types ---- */

/* H5T_... are calls. */
static hid_t number_type(sf_packed_type type)
{
    const hid_t numbers[] = {[SF_PACKED_FLAG] = H5T_NATIVE_UINT8,
                             [SF_PACKED_WHOLE] = H5T_NATIVE_UINT32,
                             [SF_PACKED_COUNT] = H5T_NATIVE_UINT64,
                             [SF_PACKED_INTEGER] = H5T_NATIVE_INT64,
                             [SF_PACKED_REAL] = H5T_NATIVE_DOUBLE};
    return numbers[type];
}

static hid_t padded_text_type(size_t bytes)
{
    hid_t text = sf_hdf_string_type(bytes);
    if (text >= 0 && H5Tset_strpad(text, H5T_STR_NULLPAD) < 0) {
        sf_hdf_close(text);
        return H5I_INVALID_HID;
    }
    return text;
}

static hid_t field_type(const sf_packed_field *field)
{
    const hsize_t shape[] = {field->items, field->parts};
    if (field->type == SF_PACKED_TEXT) return padded_text_type(field->bytes);
    if (field->items > 0) return H5Tarray_create2(number_type(field->type), field->parts > 1 ? 2 : 1, shape);
    return H5Tcopy(number_type(field->type));
}

hid_t sf_hdf_row_type(const sf_packed_field *fields, size_t count, size_t size)
{
    if (fields[0].name[0] == '\0') return field_type(&fields[0]);
    hid_t row = H5Tcreate(H5T_COMPOUND, size);
    for (size_t i = 0, offset = 0; row >= 0 && i < count; offset += fields[i++].bytes) {
        hid_t type = field_type(&fields[i]);
        bool added = type >= 0 && H5Tinsert(row, fields[i].name, offset, type) >= 0;
        sf_hdf_close(type);
        if (!added) {
            sf_hdf_close(row);
            return H5I_INVALID_HID;
        }
    }
    return row;
}

/* ---- the values of a column, row after row ---- */

typedef struct flat {
    sf_packed_type type;
    size_t items, parts; /* of a list that is a matrix how many a row has, and 2 of pairs; else 0 and 1 */
    size_t count, *ends; /* values; of any other list how many there are up to the end of each row */
    void *values;        /* numbers, or the addresses of texts */
} flat;

/* As NWB has it: what cannot be null is whole. */
static sf_packed_type plain_type(const sf_column *is)
{
    if (is->type == SF_COLUMN_TEXT) return SF_PACKED_TEXT;
    const bool is_count =
        is->type == SF_COLUMN_COUNT || is->type == SF_COLUMN_FLAG || is->type == SF_COLUMN_UNIT;
    const bool is_whole = is->type == SF_COLUMN_ROW || (is->type == SF_COLUMN_UNIT && is->list) ||
                          (is_count && is->null == NULL);
    return is_whole ? SF_PACKED_INTEGER : SF_PACKED_REAL;
}

static bool make_room(flat *f, const sf_table *table, size_t column, bool packed)
{
    const sf_column *is = sf_table_column(table, column);
    const sf_packed_field field = sf_pack_field(sf_table_row_of(table, column));
    *f =
        (flat){.type = packed ? field.type : plain_type(is), .parts = field.parts, .count = table->row_count};
    if (packed && field.items > 0) {
        f->items = field.items;
        f->count *= field.items;
    } else if (is->list) {
        f->ends = sf_alloc(table->row_count, sizeof *f->ends);
        f->count = 0;
        for (size_t row = 0; f->ends != NULL && row < table->row_count; row++)
            f->ends[row] = f->count += sf_table_length(table, column, row, NULL);
    }
    f->values = sf_alloc(f->count * f->parts, sizeof(double));
    return f->values != NULL && (f->ends != NULL || f->items > 0 || !is->list);
}

static char *put_value(char *to, const flat *f, const sf_column *is, sf_value *value)
{
    if (f->type != SF_PACKED_TEXT) return sf_pack_value(to, f->type, is, value);
    char *text = value->failed ? NULL : sf_copy_string(value->known ? value->text : "");
    value->failed = text == NULL;
    memcpy(to, &text, sizeof text);
    return to + sizeof text;
}

static bool flatten(flat *f, const sf_table *table, size_t column, bool packed)
{
    if (!make_room(f, table, column, packed)) return false;
    sf_value value = {0};
    char *to = f->values;
    for (size_t row = 0; row < table->row_count && !value.failed; row++) {
        size_t length = sf_table_length(table, column, row, NULL), items = f->items > 0 ? f->items : length;
        for (size_t item = 0; item < items && !value.failed; item++) {
            value.known = false;
            if (item < length) sf_table_get(table, column, row, item, &value);
            to = put_value(to, f, sf_table_column(table, column), &value);
        }
    }
    bool failed = value.failed;
    sf_value_free(&value);
    return !failed;
}

static void flat_free(flat *f)
{
    for (size_t i = 0; i < f->count && f->type == SF_PACKED_TEXT && f->values != NULL; i++)
        sf_free(((char **)f->values)[i]);
    sf_free(f->values);
    sf_free(f->ends);
}

bool sf_hdf_table_write_column(hid_t group, const char *name, const sf_table *table, size_t column,
                               hid_t text, size_t **ends)
{
    flat f;
    bool written = flatten(&f, table, column, false) &&
                   sf_hdf_write_table(group, name, f.type == SF_PACKED_TEXT ? text : number_type(f.type),
                                      f.count, f.parts, f.values);
    *ends = f.ends;
    f.ends = NULL;
    flat_free(&f);
    return written;
}

/* ---- columns as packed ---- */

/* Texts one after the other, each of `size` bytes in the end: as many as the longest needs with its NUL, or
 * as the column says. NULL: memory is out. */
static char *join_texts(const flat *f, const sf_column *is, size_t *size)
{
    char *const *texts = f->values;
    *size = is->bytes + 1;
    for (size_t i = 0; i < f->count; i++)
        *size = strlen(texts[i]) + 1 > *size ? strlen(texts[i]) + 1 : *size;
    char *joined = sf_alloc(f->count, *size);
    for (size_t i = 0; i < f->count && joined != NULL; i++)
        memcpy(joined + i * *size, texts[i], strlen(texts[i]));
    return joined;
}

static int write_values(hid_t group, const sf_column *is, const flat *f, size_t rows, sf_error *error)
{
    size_t size = 0, width = f->parts * (f->items > 0 ? f->items : 1);
    char *texts = f->type == SF_PACKED_TEXT ? join_texts(f, is, &size) : NULL;
    if (f->type == SF_PACKED_TEXT && texts == NULL) return sf_fail_memory(error);
    hid_t type = f->type == SF_PACKED_TEXT ? sf_hdf_string_type(size) : H5Tcopy(number_type(f->type));
    hid_t column = sf_layout_column(group, is->name, type, CHUNK, width, error);
    int status = SF_CANNOT_CREATE;
    if (column >= 0)
        status = sf_layout_column_append(column, type, texts != NULL ? texts : f->values, rows, error);
    sf_hdf_close(column);
    sf_hdf_close(type);
    sf_free(texts);
    return status;
}

int sf_hdf_table_write(hid_t group, const sf_table *table, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; i < table->column_count && status == SF_OK; i++) {
        flat f;
        status = flatten(&f, table, i, true)
                     ? write_values(group, sf_table_column(table, i), &f, table->row_count, error)
                     : sf_fail_memory(error);
        flat_free(&f);
    }
    return status;
}
