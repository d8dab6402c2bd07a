/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/tell.h"
#include "core/error.h"
#include "core/memory.h"

/* ---- the encoding ---- */

static void map(void *to, const char *key, size_t fields)
{
    (void)fields;
    sf_json_object(to, key);
}

static void end_map(void *to)
{
    sf_json_end_object(to);
}

static void list(void *to, const char *key, size_t items)
{
    (void)items;
    sf_json_array(to, key);
}

static void end_list(void *to)
{
    sf_json_end_array(to);
}

static void string(void *to, const char *key, const char *value)
{
    sf_json_string(to, key, value);
}

static void integer(void *to, const char *key, int64_t value)
{
    sf_json_int(to, key, value);
}

static void natural(void *to, const char *key, uint64_t value)
{
    sf_json_uint(to, key, value);
}

static void real(void *to, const char *key, double value)
{
    sf_json_real(to, key, value);
}

static void boolean(void *to, const char *key, bool value)
{
    sf_json_bool(to, key, value);
}

static void seconds(void *to, const char *key, int64_t time_ns)
{
    sf_json_seconds(to, key, time_ns);
}

static void milliseconds(void *to, const char *key, int64_t time_ns)
{
    sf_json_milliseconds(to, key, time_ns);
}

const sf_encoding sf_json_encoding = {
    .map = map,
    .end_map = end_map,
    .list = list,
    .end_list = end_list,
    .string = string,
    .integer = integer,
    .natural = natural,
    .real = real,
    .boolean = boolean,
    .seconds = seconds,
    .milliseconds = milliseconds,
};

/* ---- rows ---- */

void sf_table_json_row(sf_json *json, const sf_table *table, size_t row)
{
    if (!sf_table_tell_row(table, row, NULL, &sf_json_encoding, json)) json->out->failed = true;
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
        if (second) value.real = value.second;
        if (!sf_value_tell(&value, NULL, &is, &sf_json_encoding, json)) json->out->failed = true;
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
        if (sf_column_is_single(is)) put_column(json, table, column, false);
        if (sf_column_is_single(is) && is->type == SF_COLUMN_PAIR) put_column(json, table, column, true);
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
        [SF_COLUMN_TEXT] = "text",       [SF_COLUMN_COUNT] = "count",  [SF_COLUMN_INTEGER] = "integer",
        [SF_COLUMN_REAL] = "real",       [SF_COLUMN_TIME] = "real",    [SF_COLUMN_FLAG] = "flag",
        [SF_COLUMN_UNIT] = "unit",       [SF_COLUMN_ROW] = "row",      [SF_COLUMN_PAIR] = "pair",
        [SF_COLUMN_UNITS] = "units",     [SF_COLUMN_NAMES] = "names",  [SF_COLUMN_ENTRY] = "entry",
        [SF_COLUMN_NUMBERS] = "numbers", [SF_COLUMN_RECORD] = "record"};
    return names[type];
}

/* `beyond`: what null means of all of them, or NULL. */
static void put_description(sf_json *json, const sf_column_row *column, const char *beyond)
{
    const sf_column *is = &column->is;
    const sf_table record = sf_column_record(column); /* has none, but of a record */
    sf_text null = {0};
    sf_text_printf(&null, "%s%s%s", is->null != NULL ? is->null : "",
                   is->null != NULL && beyond != NULL ? "; " : "", beyond != NULL ? beyond : "");
    sf_json_object(json, NULL);
    sf_json_string(json, "name", is->name);
    sf_json_string(json, "type", sf_column_type_name(is->type));
    sf_json_bool(json, "list", is->list);
    sf_json_string(json, "unit", is->unit);
    sf_json_string(json, "about", is->about);
    sf_json_string(json, "null", is->null != NULL || beyond != NULL ? null.data : NULL);
    sf_json_string(json, "item_null", is->item_null);
    sf_json_strings(json, "words", is->words);
    sf_json_string(json, "first_name", is->first_name);
    sf_json_string(json, "second_name", is->second_name);
    sf_json_string(json, "table", column->table != NULL ? column->table->name : NULL);
    sf_table_json_columns(json, "columns", &record);
    sf_json_end_object(json);
    json->out->failed = json->out->failed || null.failed;
    sf_text_free(&null);
}

static void put_described(sf_json *json, const sf_table *table, const char *beyond)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const sf_column_row *column = sf_table_row_of(table, i);
        const sf_table record = sf_column_record(column);
        if (column->is.name == NULL)
            put_described(json, &record, column->is.null);
        else
            put_description(json, column, beyond);
    }
}

void sf_table_json_columns(sf_json *json, const char *key, const sf_table *table)
{
    sf_json_array(json, key);
    put_described(json, table, NULL);
    sf_json_end_array(json);
}
