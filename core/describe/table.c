/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe/table.h"

size_t sf_table_length(const sf_table *table, size_t column, size_t row, bool *known)
{
    const sf_column_row *of = sf_table_row_of(table, column);
    size_t length = 1;
    bool is_known = row != SF_NO_ROW && (of->length == NULL || of->length(of, table->of, row, &length));
    if (known != NULL)
        *known = is_known;
    return is_known ? length : 0;
}

void sf_table_get(const sf_table *table, size_t column, size_t row, size_t item, sf_value *value)
{
    const sf_column_row *of = sf_table_row_of(table, column);
    value->known = false;
    value->failed = false;
    value->record_row = 0;
    if (row != SF_NO_ROW)
        of->get(of, table->of, row, item, value);
    if (of->is.type == SF_COLUMN_RECORD) {
        const void *record = value->record.of;
        value->record = sf_table_record(table, column);
        value->record.row_count = value->record_row + 1;
        value->record.of = record;
    }
}
