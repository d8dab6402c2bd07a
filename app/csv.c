/* SPDX-License-Identifier: Apache-2.0 */
#include "app/csv.h"

#include "core/describe/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LEADS 2

static struct {
    const char *column, *cell;
} leads[MOST_LEADS];
static size_t lead_count;

void app_csv_lead(const char *column, const char *cell)
{
    size_t at = 0;
    while (at < lead_count && strcmp(leads[at].column, column) != 0)
        at++;
    if (at == MOST_LEADS) return;
    leads[at].column = column;
    leads[at].cell = cell;
    lead_count = at < lead_count ? lead_count : at + 1;
}

app_csv app_csv_start(sf_text *out, const char *columns)
{
    for (size_t i = 0; i < lead_count; i++)
        sf_text_printf(out, "%s,", leads[i].column);
    app_csv csv = app_csv_start_file(out, columns);
    csv.leads = lead_count > 0;
    return csv;
}

app_csv app_csv_start_file(sf_text *out, const char *columns)
{
    sf_text_printf(out, "%s", columns);
    return (app_csv){.out = out};
}

void app_csv_row(app_csv *csv)
{
    sf_text_append(csv->out, "\n", 1);
    csv->in_row = false;
    for (size_t i = 0; csv->leads && i < lead_count; i++)
        app_csv_string(csv, leads[i].cell);
}

static void begin_cell(app_csv *csv)
{
    if (csv->in_row) sf_text_append(csv->out, ",", 1);
    csv->in_row = true;
}

void app_csv_string(app_csv *csv, const char *cell)
{
    begin_cell(csv);
    if (cell == NULL) return;
    size_t length = strlen(cell);
    bool is_padded = length > 0 && (cell[0] == ' ' || cell[length - 1] == ' ');
    if (is_padded || sf_text_is_formula(cell) || strpbrk(cell, ",\"\r\n") != NULL)
        sf_text_cell(csv->out, cell);
    else
        sf_text_append(csv->out, cell, length);
}

void app_csv_uint(app_csv *csv, uint64_t cell)
{
    begin_cell(csv);
    sf_text_printf(csv->out, "%" PRIu64, cell);
}

void app_csv_real(app_csv *csv, double cell)
{
    begin_cell(csv);
    if (isfinite(cell)) sf_text_real(csv->out, cell);
}

void app_csv_milliseconds(app_csv *csv, int64_t time_ns)
{
    begin_cell(csv);
    sf_text_scaled(csv->out, time_ns, 6);
}

void app_csv_seconds(app_csv *csv, int64_t time_ns)
{
    begin_cell(csv);
    sf_text_scaled(csv->out, time_ns, 9);
}

/* ---- tables ---- */

void app_csv_heads(sf_text *out, const sf_table *table)
{
    const char *comma = "";
    for (size_t i = 0; i < table->column_count; i++) {
        const sf_column *is = sf_table_column(table, i);
        if (!sf_column_is_single(is)) continue;
        if (is->type == SF_COLUMN_PAIR)
            sf_text_printf(out, "%s%s,%s", comma, is->first_name, is->second_name);
        else
            sf_text_printf(out, "%s%s", comma, is->name);
        comma = ",";
    }
}

app_csv app_csv_start_table(sf_text *out, const sf_table *table)
{
    app_csv csv = app_csv_start(out, "");
    app_csv_heads(out, table);
    return csv;
}

static void put_value(app_csv *csv, const sf_column *is, const sf_value *value)
{
    char integer[24];
    switch (is->type) {
    case SF_COLUMN_TEXT:
        app_csv_string(csv, value->known ? value->text : NULL);
        break;
    case SF_COLUMN_REAL:
        app_csv_real(csv, value->known ? value->real : NAN);
        break;
    case SF_COLUMN_PAIR:
        app_csv_real(csv, value->known ? value->real : NAN);
        app_csv_real(csv, value->known ? value->second : NAN);
        break;
    case SF_COLUMN_FLAG:
    case SF_COLUMN_COUNT:
    case SF_COLUMN_UNIT:
    case SF_COLUMN_ROW:
        if (value->known)
            app_csv_uint(csv, is->type == SF_COLUMN_FLAG ? value->flag : value->count);
        else
            app_csv_string(csv, NULL);
        break;
    case SF_COLUMN_INTEGER:
        snprintf(integer, sizeof integer, "%" PRId64, value->integer);
        app_csv_string(csv, value->known ? integer : NULL);
        break;
    case SF_COLUMN_TIME:
        if (!value->known)
            app_csv_string(csv, NULL);
        else if (strcmp(is->unit, "s") == 0)
            app_csv_seconds(csv, value->integer);
        else
            app_csv_milliseconds(csv, value->integer);
        break;
    case SF_COLUMN_UNITS:
    case SF_COLUMN_NAMES:
    case SF_COLUMN_ENTRY:
    case SF_COLUMN_NUMBERS:
    case SF_COLUMN_RECORD:
        break; /* have no place among these columns */
    }
}

void app_csv_struct(app_csv *csv, const sf_table *table, const void *row)
{
    sf_table one = *table;
    one.of = row;
    app_csv_row(csv);
    app_csv_cells(csv, &one, 0);
}

void app_csv_table(sf_text *out, const sf_table *table)
{
    app_csv csv = app_csv_start_table(out, table);
    for (size_t row = 0; row < table->row_count; row++) {
        app_csv_row(&csv);
        app_csv_cells(&csv, table, row);
    }
}

void app_csv_cells(app_csv *csv, const sf_table *table, size_t row)
{
    sf_value value = {0};
    for (size_t i = 0; i < table->column_count; i++) {
        const sf_column *is = sf_table_column(table, i);
        if (!sf_column_is_single(is)) continue;
        sf_table_get(table, i, row, 0, &value);
        put_value(csv, is, &value);
        csv->out->failed = csv->out->failed || value.failed;
    }
    sf_value_free(&value);
}
