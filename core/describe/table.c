/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/table.h"

#include <string.h>

static const sf_column_row *row_of(const sf_table *table, size_t column)
{
    return (const sf_column_row *)table->columns + column;
}

const sf_column *sf_table_column(const sf_table *table, size_t column)
{
    return &row_of(table, column)->is;
}

sf_table sf_table_record(const sf_table *table, size_t column)
{
    return sf_column_record(row_of(table, column));
}

size_t sf_table_find_column(const sf_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(row_of(table, i)->is.name, name) == 0)
            return i;
    return SIZE_MAX;
}

bool sf_table_applies(const sf_table *table, size_t column)
{
    const sf_column_row *of = row_of(table, column);
    return of->applies == NULL || of->applies(of, table->of);
}

size_t sf_table_length(const sf_table *table, size_t column, size_t row, bool *known)
{
    const sf_column_row *of = row_of(table, column);
    size_t length = 1;
    bool is_known = of->length == NULL || of->length(of, table->of, row, &length);
    if (known != NULL)
        *known = is_known;
    return is_known ? length : 0;
}

void sf_table_get(const sf_table *table, size_t column, size_t row, size_t item, sf_value *value)
{
    sf_table_read(table, row_of(table, column), row, item, value);
}
