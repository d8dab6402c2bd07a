/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/tell.h"

#include <math.h>
#include <string.h>

static bool tell_record(const sf_value *value, const char *key, const sf_encoding *as, void *to)
{
    as->map(to, key, value->record.column_count);
    bool told = sf_table_tell_row(&value->record, value->record_row, value->with, as, to);
    as->end_map(to);
    return told;
}

static void tell_pair(const sf_value *value, const char *key, const sf_encoding *as, void *to)
{
    as->list(to, key, 2);
    as->real(to, NULL, value->real);
    as->real(to, NULL, value->second);
    as->end_list(to);
}

static void tell_units(const sf_value *value, const char *key, const sf_encoding *as, void *to)
{
    as->list(to, key, value->group_size);
    for (size_t i = 0; i < value->group_size; i++)
        as->natural(to, NULL, value->group[i]);
    as->end_list(to);
}

/* NULL where the index is of no unit, which no table contains. */
static const char *name_of(const sf_value *value, uint32_t unit)
{
    if (value->units == NULL) return value->names[unit];
    return unit < value->units->count ? value->units->items[unit].name : NULL;
}

static void tell_names(const sf_value *value, const char *key, const sf_encoding *as, void *to)
{
    as->list(to, key, value->group_size);
    for (size_t i = 0; i < value->group_size; i++)
        as->string(to, NULL, name_of(value, value->group[i]));
    as->end_list(to);
}

static void tell_time(const sf_value *value, const char *key, const char *unit, const sf_encoding *as,
                      void *to)
{
    if (strcmp(unit, "s") == 0)
        as->seconds(to, key, value->integer);
    else
        as->milliseconds(to, key, value->integer);
}

static void tell_list_of_numbers(const double *numbers, size_t count, const char *key, const sf_encoding *as,
                                 void *to)
{
    as->list(to, key, count);
    for (size_t i = 0; i < count; i++)
        as->real(to, NULL, numbers != NULL ? numbers[i] : NAN);
    as->end_list(to);
}

static void tell_numbers(const sf_value *value, const char *key, const sf_encoding *as, void *to)
{
    size_t length = value->row_length;
    if (value->depth == 0)
        as->real(to, key, value->real);
    else if (value->depth == 1)
        tell_list_of_numbers(value->numbers, value->group_size, key, as, to);
    else {
        as->list(to, key, value->group_size / length);
        for (size_t i = 0; i < value->group_size; i += length)
            tell_list_of_numbers(value->numbers != NULL ? value->numbers + i : NULL, length, NULL, as, to);
        as->end_list(to);
    }
}

bool sf_value_tell(const sf_value *value, const char *key, const sf_column *column, const sf_encoding *as,
                   void *to)
{
    if (!value->known) {
        as->string(to, key, NULL);
        return !value->failed;
    }
    switch (column->type) {
    case SF_COLUMN_TEXT:
    case SF_COLUMN_ENTRY:
        as->string(to, key, value->text);
        break;
    case SF_COLUMN_COUNT:
    case SF_COLUMN_UNIT:
    case SF_COLUMN_ROW:
        as->natural(to, key, value->count);
        break;
    case SF_COLUMN_INTEGER:
        as->integer(to, key, value->integer);
        break;
    case SF_COLUMN_TIME:
        tell_time(value, key, column->unit, as, to);
        break;
    case SF_COLUMN_REAL:
        as->real(to, key, value->real);
        break;
    case SF_COLUMN_FLAG:
        as->boolean(to, key, value->flag);
        break;
    case SF_COLUMN_PAIR:
        tell_pair(value, key, as, to);
        break;
    case SF_COLUMN_UNITS:
        tell_units(value, key, as, to);
        break;
    case SF_COLUMN_NAMES:
        tell_names(value, key, as, to);
        break;
    case SF_COLUMN_NUMBERS:
        tell_numbers(value, key, as, to);
        break;
    case SF_COLUMN_RECORD:
        return tell_record(value, key, as, to);
    }
    return true;
}

static bool tell_one(const sf_table *table, const sf_column_row *column, size_t row, sf_value *value,
                     const sf_encoding *as, void *to)
{
    sf_table_read(table, column, row, 0, value);
    if (column->is.name == NULL)
        return sf_table_tell_row(&value->record, value->known ? value->record_row : SF_NO_ROW, value->with,
                                 as, to);
    return sf_value_tell(value, column->is.name, &column->is, as, to);
}

static bool tell_list(const sf_table *table, const sf_column_row *column, size_t row, sf_value *value,
                      const sf_encoding *as, void *to)
{
    size_t length;
    if (row == SF_NO_ROW || !column->length(column, table->of, row, &length)) {
        as->string(to, column->is.name, NULL);
        return true;
    }
    bool told = true, entries = column->is.type == SF_COLUMN_ENTRY;
    (entries ? as->map : as->list)(to, column->is.name, length);
    for (size_t item = 0; item < length; item++) {
        sf_table_read(table, column, row, item, value);
        told = sf_value_tell(value, entries ? value->key : NULL, &column->is, as, to) && told;
    }
    (entries ? as->end_map : as->end_list)(to);
    return told;
}

bool sf_table_tell_row(const sf_table *table, size_t row, const void *with, const sf_encoding *as, void *to)
{
    const sf_column_row *columns = table->columns;
    sf_value value = {.with = with};
    bool told = true;
    for (const sf_column_row *column = columns; column < columns + table->column_count; column++) {
        bool this_one = column->is.list ? tell_list(table, column, row, &value, as, to)
                                        : tell_one(table, column, row, &value, as, to);
        told = told && this_one;
    }
    if (value.room.data != NULL) sf_text_free(&value.room);
    return told;
}
