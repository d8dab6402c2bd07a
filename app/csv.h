/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CSV for programs: a line of column names, then a line per row, the last without a newline. Cells are quoted
 * where necessary (RFC 4180), numbers are the shortest that read back the same, and unknown values are empty
 * cells. docs/formats.md lists the columns of every command.
 */
#ifndef SF_APP_CSV_H
#define SF_APP_CSV_H

#include "core/text.h"

#include <synfire/table.h>

typedef struct app_csv {
    sf_text *out;
    bool in_row; /**< the current row already has a cell */
    bool leads;  /**< app_csv_lead applies to it */
} app_csv;

/** Makes every table started by app_csv_start from now on begin with this column, after an earlier leading
 * one, with `cell` in every row; for an existing leading column, changes its cell from now on. At most two.
 * Borrowed; NULL: an empty cell. */
void app_csv_lead(const char *column, const char *cell);

/** Starts a table. `columns` is the first line as text; the first function prints, the second writes to a
 * file. */
app_csv app_csv_start(sf_text *out, const char *columns);
app_csv app_csv_start_file(sf_text *out, const char *columns);
/** Appends the names of a table's columns, without its lists; a pair takes two. */
void app_csv_heads(sf_text *out, const sf_table *table);
/** As app_csv_start, with these columns. */
app_csv app_csv_start_table(sf_text *out, const sf_table *table);
/** Appends the cells of one of its rows to the row that was begun. */
void app_csv_cells(app_csv *csv, const sf_table *table, size_t row);
/** Appends a row of a table of structs, of which this is one. */
void app_csv_struct(app_csv *csv, const sf_table *table, const void *row);
/** Appends a whole table, its columns first. */
void app_csv_table(sf_text *out, const sf_table *table);
void app_csv_row(app_csv *csv);                      /**< begins a row */
void app_csv_string(app_csv *csv, const char *cell); /**< NULL: empty */
void app_csv_uint(app_csv *csv, uint64_t cell);
void app_csv_real(app_csv *csv, double cell);             /**< not finite: empty */
void app_csv_milliseconds(app_csv *csv, int64_t time_ns); /**< exact */
void app_csv_seconds(app_csv *csv, int64_t time_ns);      /**< exact */

#endif
