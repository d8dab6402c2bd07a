/* SPDX-License-Identifier: Apache-2.0 */
#include "app/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LEADS 2

static struct {
    const char *column, *cell;
} leads[MOST_LEADS];
static size_t lead_count;

void app_csv_lead(const char *column, const char *cell)
{
    if (lead_count < MOST_LEADS) {
        leads[lead_count].column = column;
        leads[lead_count++].cell = cell;
    }
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
    if (csv->in_row)
        sf_text_append(csv->out, ",", 1);
    csv->in_row = true;
}

/* Spreadsheets compute what begins so, and names come from outside. Numbers they may have. */
static bool is_formula(const char *cell)
{
    char *end;
    if (cell[0] == '\0' || strchr("=+-@\t\r", cell[0]) == NULL)
        return false;
    strtod(cell, &end);
    return end == cell || *end != '\0';
}

void app_csv_string(app_csv *csv, const char *cell)
{
    begin_cell(csv);
    if (cell == NULL)
        return;
    size_t length = strlen(cell);
    bool computes = is_formula(cell), plain = !computes && strpbrk(cell, ",\"\r\n") == NULL;
    if (plain && (length == 0 || (cell[0] != ' ' && cell[length - 1] != ' '))) {
        sf_text_append(csv->out, cell, length);
        return;
    }
    sf_text_printf(csv->out, computes ? "\"'" : "\"");
    for (; *cell != '\0'; cell++)
        sf_text_printf(csv->out, *cell == '"' ? "\"\"" : "%c", *cell);
    sf_text_append(csv->out, "\"", 1);
}

void app_csv_uint(app_csv *csv, uint64_t cell)
{
    begin_cell(csv);
    sf_text_printf(csv->out, "%" PRIu64, cell);
}

void app_csv_real(app_csv *csv, double cell)
{
    begin_cell(csv);
    if (isfinite(cell))
        sf_text_real(csv->out, cell);
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
