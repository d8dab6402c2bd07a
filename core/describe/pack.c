/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/pack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what a column is packed as ---- */

/* The bytes that a text takes at most; 0: it has no bound. */
static size_t text_bytes(const sf_column *is)
{
    size_t most = is->bytes;
    for (size_t i = 0; is->words != NULL && is->words[i] != NULL; i++)
        most = strlen(is->words[i]) > most ? strlen(is->words[i]) : most;
    return most;
}

static bool is_array(const sf_column *is)
{
    return is->list && is->most > 0;
}

/* A list that is not packed item by item is packed as its length alone. */
static bool is_length(const sf_column *is, bool by_item)
{
    return is->list && !is_array(is) && (!by_item || is->type >= SF_COLUMN_UNITS);
}

static bool is_packed(const sf_column *is, bool within)
{
    if (is->again || (within && is->list)) return false;
    switch (is->type) {
    case SF_COLUMN_TEXT:
        return !is->list && text_bytes(is) > 0;
    case SF_COLUMN_NAMES:
    case SF_COLUMN_ENTRY:
    case SF_COLUMN_NUMBERS:
        return false;
    case SF_COLUMN_UNITS:
        return is->list;
    default:
        return true;
    }
}

/* A count that the struct holds in 32 bits: it is never null. */
static bool is_narrow(const sf_column_row *column)
{
    return column->form == SF_FORM_WHOLE;
}

static sf_packed_type type_of(const sf_column_row *column)
{
    switch (column->is.type) {
    case SF_COLUMN_FLAG:
        return SF_PACKED_FLAG;
    case SF_COLUMN_UNIT:
        return SF_PACKED_WHOLE;
    case SF_COLUMN_TEXT:
        return SF_PACKED_TEXT;
    case SF_COLUMN_PAIR:
    case SF_COLUMN_REAL:
    case SF_COLUMN_TIME:
        return SF_PACKED_REAL;
    case SF_COLUMN_INTEGER:
        return SF_PACKED_INTEGER;
    default:
        return is_narrow(column)         ? SF_PACKED_WHOLE
               : column->is.null != NULL ? SF_PACKED_INTEGER
                                         : SF_PACKED_COUNT;
    }
}

sf_packed_field sf_pack_field(const sf_column_row *column)
{
    static const size_t sizes[] = {[SF_PACKED_FLAG] = 1,
                                   [SF_PACKED_WHOLE] = sizeof(uint32_t),
                                   [SF_PACKED_COUNT] = sizeof(uint64_t),
                                   [SF_PACKED_INTEGER] = sizeof(int64_t),
                                   [SF_PACKED_REAL] = sizeof(double),
                                   [SF_PACKED_TEXT] = 1};
    const sf_column *is = &column->is;
    sf_packed_field field = {.type = type_of(column),
                             .items = is_array(is) ? is->most : 0,
                             .parts = is->type == SF_COLUMN_PAIR ? 2 : 1};
    size_t count = is->type == SF_COLUMN_TEXT ? text_bytes(is) : field.items > 0 ? field.items : 1;
    field.bytes = count * field.parts * sizes[field.type];
    return field;
}

/* ---- fields ---- */

typedef struct listing {
    sf_packed_field *fields;
    size_t count, most;
    bool by_item;
} listing;

static void add_field(listing *to, sf_packed_field field, const char *prefix, const char *name)
{
    snprintf(field.name, sizeof field.name, "%s%s", prefix, name);
    if (to->count < to->most) to->fields[to->count] = field;
    to->count++;
}

static void add_fields(listing *to, const sf_table *table, const char *prefix)
{
    const sf_column_row *columns = table->columns;
    for (size_t i = 0; i < table->column_count; i++) {
        const sf_column *is = &columns[i].is;
        const char *name = is->list && to->by_item && is->first_name != NULL ? is->first_name : is->name;
        if (!is_packed(is, prefix[0] != '\0')) continue;
        if (is_length(is, to->by_item)) {
            add_field(to, (sf_packed_field){.type = SF_PACKED_COUNT, .bytes = sizeof(uint64_t), .parts = 1},
                      prefix, name);
        } else if (is->type == SF_COLUMN_RECORD) {
            char inner[64];
            snprintf(inner, sizeof inner, "%s%s_", prefix, name);
            const sf_table record = sf_column_record(&columns[i]);
            add_fields(to, &record, inner);
        } else if (is->type == SF_COLUMN_PAIR && !is_array(is)) {
            const sf_packed_field number = {.type = SF_PACKED_REAL, .bytes = sizeof(double), .parts = 1};
            add_field(to, number, prefix, is->first_name);
            add_field(to, number, prefix, is->second_name);
        } else {
            add_field(to, sf_pack_field(&columns[i]), prefix, name);
        }
    }
}

size_t sf_pack_fields(const sf_table *table, bool by_item, sf_packed_field *fields, size_t most)
{
    listing to = {.fields = fields, .most = most, .by_item = by_item};
    add_fields(&to, table, "");
    return to.count;
}

/* ---- values ---- */

static char *put(char *to, const void *bytes, size_t count)
{
    memcpy(to, bytes, count);
    return to + count;
}

static char *put_real(char *to, double real)
{
    return put(to, &real, sizeof real);
}

static char *put_count(char *to, uint64_t count)
{
    return put(to, &count, sizeof count);
}

static char *put_text(char *to, const char *text, size_t bytes)
{
    size_t length = text != NULL ? strnlen(text, bytes) : 0;
    memset(to, 0, bytes);
    if (length > 0) memcpy(to, text, length);
    return to + bytes;
}

static uint64_t count_of(const sf_column *is, const sf_value *value)
{
    return is->type == SF_COLUMN_FLAG ? value->flag : value->count;
}

static double real_of(const sf_column *is, const sf_value *value)
{
    if (!value->known) return NAN;
    if (is->type == SF_COLUMN_REAL || is->type == SF_COLUMN_PAIR || is->type == SF_COLUMN_TIME)
        return value->real;
    return is->type == SF_COLUMN_INTEGER ? (double)value->integer : (double)count_of(is, value);
}

static int64_t integer_of(const sf_column *is, const sf_value *value)
{
    if (is->type == SF_COLUMN_INTEGER) return value->known ? value->integer : INT64_MIN;
    return value->known ? (int64_t)count_of(is, value) : -1;
}

char *sf_pack_value(char *to, sf_packed_type type, const sf_column *is, const sf_value *value)
{
    const bool known = value->known;
    uint32_t whole;
    int64_t integer;
    switch (type) {
    case SF_PACKED_FLAG:
        *to = (char)(known && value->flag);
        return to + 1;
    case SF_PACKED_WHOLE:
        whole = known ? (uint32_t)value->count : is->type == SF_COLUMN_UNIT ? UINT32_MAX : 0;
        return put(to, &whole, sizeof whole);
    case SF_PACKED_COUNT:
        return put_count(to, known ? value->count : 0);
    case SF_PACKED_INTEGER:
        integer = integer_of(is, value);
        return put(to, &integer, sizeof integer);
    case SF_PACKED_REAL:
        to = put_real(to, real_of(is, value));
        return is->type == SF_COLUMN_PAIR ? put_real(to, known ? value->second : NAN) : to;
    default:
        return put_text(to, known ? value->text : NULL, text_bytes(is));
    }
}

static char *put_value(char *to, const sf_column_row *column, const sf_value *value)
{
    if (column->is.type == SF_COLUMN_REAL) return put_real(to, value->known ? value->real : NAN); /* most */
    return sf_pack_value(to, type_of(column), &column->is, value);
}

static char *put_array(char *to, const sf_table *table, const sf_column_row *column, size_t row,
                       sf_value *value)
{
    size_t length = 0;
    bool known = column->length(column, table->of, row, &length);
    for (size_t item = 0; item < column->is.most; item++) {
        if (known && item < length)
            sf_table_read(table, column, row, item, value);
        else
            value->known = false;
        to = put_value(to, column, value);
    }
    return to;
}

static char *put_length(char *to, const sf_table *table, const sf_column_row *column, size_t row)
{
    size_t length = 0;
    bool known = column->length(column, table->of, row, &length);
    return put_count(to, known ? length : 0);
}

/* Of a record that is null. */
static char *put_nulls(char *to, const sf_table *table)
{
    const sf_column_row *columns = table->columns;
    const sf_value null = {0};
    for (size_t i = 0; i < table->column_count; i++) {
        if (!is_packed(&columns[i].is, true)) continue;
        const sf_table record = sf_column_record(&columns[i]);
        to = columns[i].is.type == SF_COLUMN_RECORD ? put_nulls(to, &record)
                                                    : put_value(to, &columns[i], &null);
    }
    return to;
}

/* ---- rows ---- */

static char *pack_row(char *to, const sf_table *table, size_t row, size_t item, bool within, const void *with)
{
    const sf_column_row *columns = table->columns;
    const bool by_item = item != SF_WHOLE_ROW;
    sf_value value = {.with = with};
    for (size_t i = 0; i < table->column_count; i++) {
        const sf_column_row *column = &columns[i];
        const sf_column *is = &column->is;
        if (!is_packed(is, within)) continue;
        if (is_array(is)) {
            to = put_array(to, table, column, row, &value);
        } else if (is_length(is, by_item)) {
            to = put_length(to, table, column, row);
        } else {
            sf_table_read(table, column, row, is->list ? item : 0, &value);
            if (is->type != SF_COLUMN_RECORD)
                to = put_value(to, column, &value);
            else if (value.known)
                to = pack_row(to, &value.record, value.record_row, SF_WHOLE_ROW, true, with);
            else
                to = put_nulls(to, &value.record);
        }
    }
    if (value.room.data != NULL) sf_text_free(&value.room);
    return to;
}

char *sf_pack_row(char *to, const sf_table *table, size_t row, size_t item, const void *with)
{
    return pack_row(to, table, row, item, false, with);
}
