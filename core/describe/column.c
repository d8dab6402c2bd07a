/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/column.h"

#include <synfire/mine.h>

#include <math.h>
#include <string.h>

/* ---- elements of a member ---- */

/* Bytes that an element or item takes that is no struct. */
static size_t size_of(const sf_column_row *column)
{
    static const size_t sizes[] = {
        [SF_COLUMN_TEXT] = sizeof(char *),     [SF_COLUMN_COUNT] = sizeof(uint64_t),
        [SF_COLUMN_REAL] = sizeof(double),     [SF_COLUMN_FLAG] = sizeof(bool),
        [SF_COLUMN_UNIT] = sizeof(uint32_t),   [SF_COLUMN_ROW] = sizeof(uint64_t),
        [SF_COLUMN_INTEGER] = sizeof(int64_t), [SF_COLUMN_TIME] = sizeof(int64_t),
        [SF_COLUMN_PAIR] = sizeof(double[2]),
    };
    return column->form == SF_FORM_WHOLE ? sizeof(uint32_t) : sizes[column->is.type];
}

/* NULL where the member is. */
static const void *element_of(const sf_column_row *column, const void *of, size_t row)
{
    const char *elements = of;
    if (column->member != SF_ROWS_THEMSELVES)
        memcpy(&elements, (const char *)of + column->member, sizeof elements);
    size_t stride = column->element > 0 ? column->element : size_of(column);
    elements = elements != NULL ? elements + row * stride + column->within : NULL;
    if (elements == NULL || !column->through) return elements;
    const char *other = *(const char *const *)(const void *)elements;
    return other != NULL ? other + column->inside : NULL;
}

static void take_count(sf_value *value, const sf_column_row *column, const void *at)
{
    const bool may_be_null = column->is.null != NULL;
    switch (column->form) {
    case SF_FORM_WHOLE:
        value->known = true;
        value->count = *(const uint32_t *)at;
        break;
    case SF_FORM_SIGNED:
        value->known = *(const int64_t *)at >= 0 || !may_be_null;
        value->count = *(const uint64_t *)at;
        break;
    default:
        value->known = *(const uint64_t *)at != SF_NO_COUNT || !may_be_null;
        value->count = *(const uint64_t *)at;
    }
}

static void take_text(sf_value *value, const sf_column_row *column, const void *at)
{
    const char *text = column->form == SF_FORM_LETTERS ? at : *(const char *const *)at;
    bool none = column->form == SF_FORM_LETTERS && text[0] == '\0' && column->is.null != NULL;
    sf_value_set_text(value, none ? NULL : text);
}

static void take(sf_value *value, const sf_column_row *column, const void *at)
{
    const sf_column *is = &column->is;
    switch (is->type) {
    case SF_COLUMN_TEXT:
        take_text(value, column, at);
        break;
    case SF_COLUMN_COUNT:
    case SF_COLUMN_ROW:
        take_count(value, column, at);
        break;
    case SF_COLUMN_UNIT:
        sf_value_set_count(value, *(const uint32_t *)at == UINT32_MAX ? SF_NO_COUNT : *(const uint32_t *)at);
        break;
    case SF_COLUMN_REAL:
        sf_value_set_real(value, *(const double *)at);
        break;
    case SF_COLUMN_FLAG:
        value->known = true;
        value->flag = *(const bool *)at;
        break;
    case SF_COLUMN_TIME:
        sf_value_set_time(value, is, *(const int64_t *)at);
        break;
    case SF_COLUMN_INTEGER:
        value->known = true;
        value->integer = *(const int64_t *)at;
        break;
    case SF_COLUMN_PAIR:
        sf_value_set_pair(value, ((const double *)at)[0], ((const double *)at)[1]);
        value->known |= is->item_null != NULL && (isfinite(value->real) || isfinite(value->second));
        break;
    case SF_COLUMN_RECORD:
        value->known = true;
        value->record.of = at;
        break;
    case SF_COLUMN_UNITS:
    case SF_COLUMN_NAMES:
    case SF_COLUMN_ENTRY:
    case SF_COLUMN_NUMBERS:
        break; /* a function of their own reads them */
    }
}

void sf_column_value(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    const void *element = element_of(column, of, row);
    (void)item;
    if (element != NULL && column->word != NULL)
        sf_value_set_text(value, column->word(element));
    else if (element != NULL)
        take(value, column, element);
}

bool sf_column_items_length(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    const char *items = *(const char *const *)element_of(column, of, row);
    memcpy(length, (const char *)of + row * column->element + column->count, sizeof *length);
    return items != NULL || column->is.null == NULL;
}

void sf_column_item(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    const char *items = *(const char *const *)element_of(column, of, row);
    const char *at = items + item * (column->item > 0 ? column->item : size_of(column));
    if (column->word != NULL)
        sf_value_set_text(value, column->word(at));
    else
        take(value, column, at);
}

void sf_column_pointed(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)item;
    sf_value_set_record(value, *(const void *const *)element_of(column, of, row), 0);
}

void sf_column_own_row(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)column;
    (void)row;
    sf_value_set_record(value, of, item);
}

bool sf_column_rows_length(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    const sf_table *table = element_of(column, of, row);
    *length = table->row_count;
    return table->columns != NULL || column->is.null == NULL;
}

void sf_column_row_of(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    const sf_table *table = element_of(column, of, row);
    sf_value_set_record(value, item < table->row_count ? table->of : NULL, item);
}

/* ---- values ---- */

void sf_value_set_count(sf_value *value, uint64_t count)
{
    value->known = count != SF_NO_COUNT;
    value->count = count;
}

void sf_value_set_real(sf_value *value, double real)
{
    value->known = isfinite(real);
    value->real = real;
}

void sf_value_set_pair(sf_value *value, double first, double second)
{
    value->known = isfinite(first) && isfinite(second);
    value->real = first;
    value->second = second;
}

void sf_value_set_time(sf_value *value, const sf_column *is, int64_t time_ns)
{
    value->known = true;
    value->integer = time_ns;
    value->real = (double)time_ns / (strcmp(is->unit, "s") == 0 ? 1e9 : 1e6);
}

void sf_value_set_delay(sf_value *value, int64_t low_ns, int64_t high_ns)
{
    sf_value_set_pair(value, (double)low_ns / 1e6, (double)high_ns / 1e6);
}

void sf_value_set_text(sf_value *value, const char *text)
{
    value->known = text != NULL;
    value->text = text;
}

sf_text *sf_value_room(sf_value *value)
{
    if (value->room.failed) sf_text_free(&value->room);
    value->room.length = 0;
    return &value->room;
}

void sf_value_set_room(sf_value *value)
{
    value->failed = value->room.failed;
    sf_value_set_text(value, value->failed ? NULL : value->room.data);
}

void sf_value_free(sf_value *value)
{
    sf_text_free(&value->room);
    *value = (sf_value){0};
}
