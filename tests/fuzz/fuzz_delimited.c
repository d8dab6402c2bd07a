/* SPDX-License-Identifier: Apache-2.0 */
#include "core/delimited.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every cell is a string of the input's length at most, and every row begins behind the one before. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_delimited table;
    if (sf_delimited_parse(&table, (const char *)data, size, "input", NULL) == SF_OK) {
        size_t letters = 0;
        for (size_t row = 0; row < table.row_count; row++) {
            for (size_t column = 0; column < table.column_count; column++)
                letters += strlen(sf_delimited_cell(&table, row, column));
            if (row > 0 && sf_delimited_line(&table, row) <= sf_delimited_line(&table, row - 1)) abort();
        }
        if (letters > size || table.column_count == 0) abort();
        for (size_t column = 0; column < table.column_count; column++)
            if (sf_delimited_column(&table, sf_delimited_name(&table, column)) != column) abort();
    }
    sf_delimited_free(&table);
    return 0;
}
