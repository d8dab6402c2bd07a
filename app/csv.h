/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CSV for programs: a line of columns, then a line a row, the last without its end. Cells are quoted where
 * they must be (RFC 4180), numbers are the shortest that read back the same, and what is not known is an
 * empty cell. docs/formats.md has the columns of every command.
 */
#ifndef SF_APP_CSV_H
#define SF_APP_CSV_H

#include "core/text.h"

#include <synfire/table.h>

typedef struct app_csv {
    sf_text *out;
    bool in_row; /**< a cell stands before in this row */
    bool leads;  /**< app_csv_lead is of it */
} app_csv;

/** From now on every table that app_csv_start starts begins with this column, after one that was led before,
 * and it holds `cell` in every row, from now on where it is one of those. Two at most. Borrowed; NULL: an
 * empty cell. */
void app_csv_lead(const char *column, const char *cell);

/** `columns` as they stand in the first line: of what is printed, and of a file. */
app_csv app_csv_start(sf_text *out, const char *columns);
app_csv app_csv_start_file(sf_text *out, const char *columns);
/** Appends the names of a table's columns, without its lists; a pair takes two. */
void app_csv_heads(sf_text *out, const sf_table *table);
/** The same as app_csv_start with these. */
app_csv app_csv_start_table(sf_text *out, const sf_table *table);
/** The cells of a row of it, in the row that was begun. */
void app_csv_cells(app_csv *csv, const sf_table *table, size_t row);
/** A row of a table of structs, of which this is one. */
void app_csv_struct(app_csv *csv, const sf_table *table, const void *row);
/** All of a table, its columns first. */
void app_csv_table(sf_text *out, const sf_table *table);
void app_csv_row(app_csv *csv);                      /**< begins one */
void app_csv_string(app_csv *csv, const char *cell); /**< NULL: empty */
void app_csv_uint(app_csv *csv, uint64_t cell);
void app_csv_real(app_csv *csv, double cell);             /**< not finite: empty */
void app_csv_milliseconds(app_csv *csv, int64_t time_ns); /**< exact */
void app_csv_seconds(app_csv *csv, int64_t time_ns);      /**< exact */

#endif
