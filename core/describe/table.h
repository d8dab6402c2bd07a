/* SPDX-License-Identifier: Apache-2.0 */
/** How a table is walked, whatever its columns are, and what writes its rows as JSON. */
#ifndef SF_CORE_DESCRIBE_TABLE_H
#define SF_CORE_DESCRIBE_TABLE_H

#include "core/describe/column.h"
#include "core/json.h"

/** `column` < table->column_count. */
static inline const sf_column_row *sf_table_row_of(const sf_table *table, size_t column)
{
    return (const sf_column_row *)table->columns + column;
}

static inline const sf_column *sf_table_column(const sf_table *table, size_t column)
{
    return &sf_table_row_of(table, column)->is;
}

/** The columns of the records of a column of that type, as a table without rows. */
static inline sf_table sf_table_record(const sf_table *table, size_t column)
{
    return sf_column_record(sf_table_row_of(table, column));
}

/** The place of the column with this name, or SIZE_MAX. */
size_t sf_table_find_column(const sf_table *table, const char *name);

/** False where the result has no such column: it was not asked for. */
static inline bool sf_table_applies(const sf_table *table, size_t column)
{
    const sf_column_row *row = sf_table_row_of(table, column);
    return row->applies == NULL || row->applies(row, table->of);
}

/** The number of values of a column in a row: 1 without a list. A list that is null has 0, and *known (which
 * may be NULL) becomes false. */
size_t sf_table_length(const sf_table *table, size_t column, size_t row, bool *known);

/** Reads one value: `item` is 0 but in lists. */
void sf_table_get(const sf_table *table, size_t column, size_t row, size_t item, sf_value *value);

/** The tables that results and messages of this library have, without rows, one after the other: NULL beyond
 * the last. */
const sf_table *sf_table_at(size_t index);

/** The one with that name, or NULL. */
const sf_table *sf_table_find(const char *name);

/** The columns of a row as fields of the object that is open. A text that lacks memory fails the JSON. */
void sf_table_json_row(sf_json *json, const sf_table *table, size_t row);

/** The same of a table of structs, of which `of` is one; NULL: every column is null. */
void sf_table_json_fields(sf_json *json, const sf_table *table, const void *of);

/** These as an object of an array. */
void sf_table_json_struct(sf_json *json, const sf_table *table, const void *of);

/** The rows as an array of objects. */
void sf_table_json_rows(sf_json *json, const char *key, const sf_table *table);

/** The columns themselves: an array of name, type, unit, about, null. */
void sf_table_json_columns(sf_json *json, const char *key, const sf_table *table);

/** "count", "real", ... */
const char *sf_column_type_name(sf_column_type type);

#endif
