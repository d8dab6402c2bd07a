/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/table.h"

#include <string.h>

size_t sf_table_find_column(const sf_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(sf_table_column(table, i)->name, name) == 0) return i;
    return SIZE_MAX;
}

size_t sf_table_length(const sf_table *table, size_t column, size_t row, bool *known)
{
    const sf_column_row *of = sf_table_row_of(table, column);
    size_t length = 1;
    bool is_known = row != SF_NO_ROW && (of->length == NULL || of->length(of, table->of, row, &length));
    if (known != NULL) *known = is_known;
    return is_known ? length : 0;
}

void sf_table_get(const sf_table *table, size_t column, size_t row, size_t item, sf_value *value)
{
    sf_table_read(table, sf_table_row_of(table, column), row, item, value);
}
