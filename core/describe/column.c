/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/column.h"

#include <synfire/mine.h>

#include <math.h>
#include <string.h>

/* ---- elements of a member ---- */

/* NULL where the member is. */
static const void *element_of(const sf_column_row *column, const void *of, size_t row)
{
    static const size_t sizes[] = {
        [SF_COLUMN_TEXT] = sizeof(char *),     [SF_COLUMN_COUNT] = sizeof(uint64_t),
        [SF_COLUMN_REAL] = sizeof(double),     [SF_COLUMN_FLAG] = sizeof(bool),
        [SF_COLUMN_UNIT] = sizeof(uint32_t),   [SF_COLUMN_ROW] = sizeof(uint64_t),
        [SF_COLUMN_INTEGER] = sizeof(int64_t), [SF_COLUMN_TIME] = sizeof(int64_t),
        [SF_COLUMN_PAIR] = sizeof(double[2]),
    };
    const char *elements = of;
    if (column->member != SF_ROWS_THEMSELVES)
        memcpy(&elements, (const char *)of + column->member, sizeof elements);
    size_t stride = column->element > 0 ? column->element : sizes[column->is.type];
    elements = elements != NULL ? elements + row * stride + column->within : NULL;
    if (elements == NULL || !column->through)
        return elements;
    const char *other = *(const char *const *)(const void *)elements;
    return other != NULL ? other + column->inside : NULL;
}

static void take(sf_value *value, const sf_column *is, const void *at)
{
    switch (is->type) {
    case SF_COLUMN_TEXT:
        sf_value_set_text(value, *(const char *const *)at);
        break;
    case SF_COLUMN_COUNT:
    case SF_COLUMN_ROW:
        sf_value_set_count(value, *(const uint64_t *)at);
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
        take(value, &column->is, element);
}

bool sf_column_list_length(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    const sf_column_list *list = element_of(column, of, row);
    *length = list->count;
    return list->items != NULL;
}

void sf_column_list_item(const sf_column_row *column, const void *of, size_t row, size_t item,
                         sf_value *value)
{
    sf_column_row one = *column;
    const sf_column_list *list = element_of(column, of, row);
    one.member = SF_ROWS_THEMSELVES;
    one.element = column->item;
    one.within = 0;
    sf_column_value(&one, list->items, item, 0, value);
}

/* ---- members of a struct ---- */

static const void *member_of(const sf_column_row *column, const void *of)
{
    return (const char *)of + column->member;
}

static void set_integer(const sf_column_row *column, sf_value *value, int64_t integer)
{
    value->known = integer >= 0 || column->is.null == NULL;
    value->integer = integer;
    value->count = (uint64_t)integer;
}

void sf_member_natural(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row, (void)item;
    value->known = true;
    value->count = *(const uint64_t *)member_of(column, of);
}

void sf_member_whole(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row, (void)item;
    value->known = true;
    value->count = *(const uint32_t *)member_of(column, of);
}

void sf_member_integer(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row, (void)item;
    set_integer(column, value, *(const int64_t *)member_of(column, of));
}

void sf_member_real(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row, (void)item;
    sf_value_set_real(value, *(const double *)member_of(column, of));
}

void sf_member_flag(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row, (void)item;
    value->known = true;
    value->flag = *(const bool *)member_of(column, of);
}

static void set_letters(const sf_column_row *column, sf_value *value, const char *text)
{
    bool empty = text != NULL && text[0] == '\0' && column->is.null != NULL;
    sf_value_set_text(value, empty ? NULL : text);
}

void sf_member_letters(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row, (void)item;
    set_letters(column, value, member_of(column, of));
}

void sf_member_text(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row, (void)item;
    set_letters(column, value, *(const char *const *)member_of(column, of));
}

void sf_member_record(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row, (void)item;
    value->known = true;
    value->record.of = member_of(column, of);
}

static const void *item_of(const sf_column_row *column, const void *of, size_t item, size_t size)
{
    return *(const char *const *)member_of(column, of) + item * size;
}

void sf_members_whole(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row;
    value->known = true;
    value->count = *(const uint32_t *)item_of(column, of, item, sizeof(uint32_t));
}

void sf_members_real(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row;
    sf_value_set_real(value, *(const double *)item_of(column, of, item, sizeof(double)));
}

void sf_members_text(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row;
    sf_value_set_text(value, *(const char *const *)item_of(column, of, item, sizeof(char *)));
}

void sf_members_record(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    (void)row;
    value->known = true;
    value->record.of = item_of(column, of, item, column->element);
}

bool sf_members_length(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    (void)row;
    memcpy(length, (const char *)of + column->count, sizeof *length);
    return true;
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
    if (value->room.failed)
        sf_text_free(&value->room);
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
