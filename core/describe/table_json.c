/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

static void put_value(sf_json *json, const char *key, const sf_column *column, const sf_value *value)
{
    if (!value->known) {
        sf_json_null(json, key);
        return;
    }
    switch (column->type) {
    case SF_COLUMN_TEXT:
        sf_json_string(json, key, value->text);
        break;
    case SF_COLUMN_COUNT:
    case SF_COLUMN_UNIT:
    case SF_COLUMN_ROW:
        sf_json_uint(json, key, value->count);
        break;
    case SF_COLUMN_REAL:
        sf_json_real(json, key, value->real);
        break;
    case SF_COLUMN_FLAG:
        sf_json_bool(json, key, value->flag);
        break;
    case SF_COLUMN_TIME:
        (strcmp(column->unit, "s") == 0 ? sf_json_seconds : sf_json_milliseconds)(json, key, value->time_ns);
        break;
    case SF_COLUMN_PAIR:
        sf_json_array(json, key);
        sf_json_real(json, NULL, value->real);
        sf_json_real(json, NULL, value->second);
        sf_json_end_array(json);
        break;
    case SF_COLUMN_RECORD:
        sf_json_object(json, key);
        sf_table_json_row(json, &value->record, value->record_row);
        sf_json_end_object(json);
        break;
    }
}

static void put_list(sf_json *json, const sf_table *table, size_t column, size_t row, sf_value *value)
{
    const sf_column *is = sf_table_column(table, column);
    bool known;
    size_t length = sf_table_length(table, column, row, &known);
    if (!known) {
        sf_json_null(json, is->name);
        return;
    }
    sf_json_array(json, is->name);
    for (size_t item = 0; item < length; item++) {
        sf_table_get(table, column, row, item, value);
        put_value(json, NULL, is, value);
    }
    sf_json_end_array(json);
}

void sf_table_json_row(sf_json *json, const sf_table *table, size_t row)
{
    sf_value value = {0};
    for (size_t column = 0; column < table->column_count; column++) {
        const sf_column *is = sf_table_column(table, column);
        if (is->list) {
            put_list(json, table, column, row, &value);
        } else {
            sf_table_get(table, column, row, 0, &value);
            put_value(json, is->name, is, &value);
        }
        json->out->failed = json->out->failed || value.failed;
    }
    sf_value_free(&value);
}

void sf_table_json_fields(sf_json *json, const sf_table *table, const void *of)
{
    sf_table one = *table;
    one.of = of;
    sf_table_json_row(json, &one, of != NULL ? 0 : SF_NO_ROW);
}

void sf_table_json_struct(sf_json *json, const sf_table *table, const void *of)
{
    sf_json_object(json, NULL);
    sf_table_json_fields(json, table, of);
    sf_json_end_object(json);
}

void sf_table_json_rows(sf_json *json, const char *key, const sf_table *table)
{
    sf_json_array(json, key);
    for (size_t row = 0; row < table->row_count; row++) {
        sf_json_object(json, NULL);
        sf_table_json_row(json, table, row);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

/* All rows of one column, of a pair one of both numbers. */
static void put_column(sf_json *json, const sf_table *table, size_t column, bool second)
{
    sf_column is = *sf_table_column(table, column);
    sf_value value = {0};
    if (is.type == SF_COLUMN_PAIR) {
        is.type = SF_COLUMN_REAL;
        is.name = second ? is.second_name : is.first_name;
    }
    sf_json_object(json, is.name);
    sf_json_string(json, "type", sf_column_type_name(is.type));
    sf_json_bool(json, "nullable", is.null != NULL);
    sf_json_array(json, "values");
    for (size_t row = 0; row < table->row_count; row++) {
        sf_table_get(table, column, row, 0, &value);
        if (second)
            value.real = value.second;
        put_value(json, NULL, &is, &value);
        json->out->failed = json->out->failed || value.failed;
    }
    sf_json_end_array(json);
    sf_json_end_object(json);
    sf_value_free(&value);
}

static void put_columns(sf_json *json, const sf_table *table)
{
    sf_json_object(json, NULL);
    for (size_t column = 0; column < table->column_count; column++) {
        const sf_column *is = sf_table_column(table, column);
        if (sf_column_is_single(is))
            put_column(json, table, column, false);
        if (sf_column_is_single(is) && is->type == SF_COLUMN_PAIR)
            put_column(json, table, column, true);
    }
    sf_json_end_object(json);
}

int sf_table_json(const sf_table *table, bool by_column, char **text, sf_error *error)
{
    sf_text written = {0};
    sf_json json = sf_json_start(&written);
    *text = NULL;
    if (by_column)
        put_columns(&json, table);
    else
        sf_table_json_rows(&json, NULL, table);
    if (written.failed) {
        sf_text_free(&written);
        return sf_fail_memory(error);
    }
    *text = written.data;
    return SF_OK;
}

/* ---- the columns themselves ---- */

const char *sf_column_type_name(sf_column_type type)
{
    static const char *const names[] = {
        [SF_COLUMN_TEXT] = "text", [SF_COLUMN_COUNT] = "count", [SF_COLUMN_REAL] = "real",
        [SF_COLUMN_FLAG] = "flag", [SF_COLUMN_UNIT] = "unit",   [SF_COLUMN_ROW] = "row",
        [SF_COLUMN_TIME] = "time", [SF_COLUMN_PAIR] = "pair",   [SF_COLUMN_RECORD] = "record"};
    return names[type];
}

void sf_table_json_columns(sf_json *json, const char *key, const sf_table *table)
{
    sf_json_array(json, key);
    for (size_t i = 0; i < table->column_count; i++) {
        const sf_column *is = sf_table_column(table, i);
        sf_json_object(json, NULL);
        sf_json_string(json, "name", is->name);
        sf_json_string(json, "type", sf_column_type_name(is->type));
        sf_json_bool(json, "list", is->list);
        sf_json_string(json, "unit", is->unit);
        sf_json_string(json, "about", is->about);
        sf_json_string(json, "null", is->null);
        sf_json_string(json, "item_null", is->item_null);
        sf_json_string(json, "first_name", is->first_name);
        sf_json_string(json, "second_name", is->second_name);
        sf_table record = sf_table_record(table, i); /* has none, but of a record */
        sf_table_json_columns(json, "columns", &record);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}
