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

static sf_packed_field field_of(const sf_column_row *column)
{
    const sf_column *is = &column->is;
    sf_packed_field field = {.parts = 1, .items = is_array(is) ? is->most : 0};
    size_t count = field.items > 0 ? field.items : 1;
    switch (is->type) {
    case SF_COLUMN_FLAG:
        field.type = SF_PACKED_FLAG;
        field.bytes = count;
        break;
    case SF_COLUMN_UNIT:
        field.type = SF_PACKED_WHOLE;
        field.bytes = count * sizeof(uint32_t);
        break;
    case SF_COLUMN_TEXT:
        field.type = SF_PACKED_TEXT;
        field.bytes = text_bytes(is);
        break;
    case SF_COLUMN_PAIR:
        field.parts = 2;
        field.type = SF_PACKED_REAL;
        field.bytes = 2 * count * sizeof(double);
        break;
    case SF_COLUMN_REAL:
    case SF_COLUMN_TIME:
        field.type = SF_PACKED_REAL;
        field.bytes = count * sizeof(double);
        break;
    case SF_COLUMN_INTEGER:
        field.type = SF_PACKED_INTEGER;
        field.bytes = count * sizeof(int64_t);
        break;
    default:
        field.type = is->null != NULL    ? SF_PACKED_INTEGER
                     : is_narrow(column) ? SF_PACKED_WHOLE
                                         : SF_PACKED_COUNT;
        field.bytes = count * (is_narrow(column) ? sizeof(uint32_t) : sizeof(uint64_t));
    }
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
            add_field(to, field_of(&columns[i]), prefix, name);
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

static char *put_value(char *to, const sf_column_row *column, const sf_value *value)
{
    const sf_column *is = &column->is;
    const bool known = value->known;
    const int64_t integer = known ? value->integer : INT64_MIN;
    const uint32_t unit = known ? (uint32_t)value->count : UINT32_MAX, whole = known ? unit : 0;
    switch (is->type) {
    case SF_COLUMN_FLAG:
        *to = (char)(known && value->flag);
        return to + 1;
    case SF_COLUMN_UNIT:
        return put(to, &unit, sizeof unit);
    case SF_COLUMN_TEXT:
        return put_text(to, known ? value->text : NULL, text_bytes(is));
    case SF_COLUMN_INTEGER:
        return put(to, &integer, sizeof integer);
    case SF_COLUMN_REAL:
        return put_real(to, known ? value->real : NAN);
    case SF_COLUMN_TIME:
        return put_real(to, known ? (double)integer / (strcmp(is->unit, "s") == 0 ? 1e9 : 1e6) : NAN);
    case SF_COLUMN_PAIR:
        to = put_real(to, known ? value->real : NAN);
        return put_real(to, known ? value->second : NAN);
    default:
        if (is_narrow(column)) return put(to, &whole, sizeof whole);
        return put_count(to, known ? value->count : is->null != NULL ? UINT64_MAX : 0); /* or -1 */
    }
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
