/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A table as people write it: a first line of names, then a line a row (RFC 4180). Commas part the cells, or,
 * where the first line has none outside of quotes, semicolons or tabs, as spreadsheets write them in some
 * languages. A cell in double quotes is taken as it is and may hold separators, line breaks and doubled
 * quotes; of others the blanks around are left out. Empty lines are passed over.
 */
#ifndef SF_CORE_DELIMITED_H
#define SF_CORE_DELIMITED_H

#include <stddef.h>
#include <synfire/error.h>

/** Zero-initialise. */
typedef struct sf_delimited {
    size_t column_count, row_count; /**< the line of names is no row */
    char *text;                     /**< what the cells point into */
    char **cells;                   /**< row by row, the names first */
    size_t *lines;                  /**< the 1-based line that each row begins on; first that of the names */
    size_t cell_count, cell_capacity, line_count, line_capacity;
} sf_delimited;

/**
 * Reads `length` bytes; `place` is the file's name in sentences. SF_DATA, with the line, for rows of another
 * number of cells than there are names, names that are empty or there twice, quotes without an end, text
 * behind a quote, and bytes of value 0; SF_NO_MEMORY. sf_delimited_free whatever happened.
 */
int sf_delimited_parse(sf_delimited *table, const char *text, size_t length, const char *place,
                       sf_error *error);
void sf_delimited_free(sf_delimited *table);

/** The column of this name, or SIZE_MAX. */
size_t sf_delimited_column(const sf_delimited *table, const char *name);

static inline const char *sf_delimited_name(const sf_delimited *table, size_t column)
{
    return table->cells[column];
}

static inline const char *sf_delimited_cell(const sf_delimited *table, size_t row, size_t column)
{
    return table->cells[(row + 1) * table->column_count + column];
}

/** The line that a row begins on. */
static inline size_t sf_delimited_line(const sf_delimited *table, size_t row)
{
    return table->lines[row + 1];
}

#endif
