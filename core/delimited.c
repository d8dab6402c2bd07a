/* SPDX-License-Identifier: Apache-2.0 */
#include "core/delimited.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    sf_delimited *table;
    const char *place;
    char *at; /* the next byte; cells are ended in place, so that what is written lies before it */
    size_t line;
    char separator;
} reader;

static int refuse(const reader *r, size_t line, sf_error *error, const char *words)
{
    char place[256];
    snprintf(place, sizeof place, "%.200s:%zu", r->place, line);
    return sf_fail(error, SF_DATA, place, "%s", words);
}

/* What parts the names of the first line. */
static char find_separator(const char *text)
{
    size_t counts[3] = {0};
    bool quoted = false;
    for (; *text != '\0' && (quoted || (*text != '\n' && *text != '\r')); text++) {
        quoted ^= *text == '"';
        const char *found = quoted ? NULL : strchr(",;\t", *text);
        if (found != NULL) counts[*found == ',' ? 0 : *found == ';' ? 1 : 2]++;
    }
    return counts[0] > 0 ? ',' : counts[1] > 0 ? ';' : counts[2] > 0 ? '\t' : ',';
}

static bool is_blank(const reader *r, char c)
{
    return c == ' ' || (c == '\t' && r->separator != '\t');
}

static bool ends_line(char c)
{
    return c == '\n' || c == '\r' || c == '\0';
}

static int read_quoted(reader *r, char **cell, sf_error *error)
{
    size_t line = r->line;
    char *to = *cell = ++r->at;
    for (; *r->at != '"' || r->at[1] == '"'; r->at++) {
        if (*r->at == '\0') return refuse(r, line, error, "a quote begins here and does not end");
        r->line += *r->at == '\n';
        r->at += *r->at == '"';
        *to++ = *r->at;
    }
    r->at++; /* the quote, in whose place the end stands where nothing was doubled */
    while (is_blank(r, *r->at))
        r->at++;
    if (*r->at != r->separator && !ends_line(*r->at))
        return refuse(r, line, error,
                      "text stands behind the quote that ends a cell: a quote inside one is written twice");
    *to = '\0';
    return SF_OK;
}

static void read_plain(reader *r, char **cell, char **end)
{
    *cell = r->at;
    while (*r->at != r->separator && !ends_line(*r->at))
        r->at++;
    *end = r->at;
    while (*end > *cell && is_blank(r, (*end)[-1]))
        (*end)--;
}

/* One cell and what parts it from the next; *last: that was the end of the line. */
static int read_cell(reader *r, bool *last, sf_error *error)
{
    char *cell, *end = NULL;
    while (is_blank(r, *r->at))
        r->at++;
    int status = SF_OK;
    if (*r->at == '"')
        status = read_quoted(r, &cell, error);
    else
        read_plain(r, &cell, &end);
    if (status != SF_OK) return status;
    *last = *r->at != r->separator;
    if (*r->at == '\r' && r->at[1] == '\n') r->at++;
    r->line += *last && *r->at != '\0';
    r->at += *r->at != '\0';
    if (end != NULL) *end = '\0';
    if (sf_reserve(&r->table->cells, &r->table->cell_capacity, r->table->cell_count + 1,
                   sizeof *r->table->cells) != 0)
        return sf_fail_memory(error);
    r->table->cells[r->table->cell_count++] = cell;
    return SF_OK;
}

static int read_line(reader *r, sf_error *error)
{
    sf_delimited *table = r->table;
    size_t before = table->cell_count, line = r->line;
    if (sf_reserve(&table->lines, &table->line_capacity, table->line_count + 1, sizeof *table->lines) != 0)
        return sf_fail_memory(error);
    table->lines[table->line_count++] = line;
    int status = SF_OK;
    for (bool last = false; status == SF_OK && !last;)
        status = read_cell(r, &last, error);
    if (status != SF_OK) return status;
    size_t cells = table->cell_count - before;
    if (table->column_count == 0) {
        table->column_count = cells;
        return SF_OK;
    }
    table->row_count++;
    if (cells == table->column_count) return SF_OK;
    char words[128];
    snprintf(words, sizeof words, "found %zu cell%s, expected %zu as in the first line", cells,
             cells == 1 ? "" : "s", table->column_count);
    return refuse(r, line, error, words);
}

static int check_names(const reader *r, sf_error *error)
{
    const sf_delimited *table = r->table;
    if (table->column_count == 0)
        return sf_fail(error, SF_DATA, r->place, "is empty: expected a first line of names");
    for (size_t c = 0; c < table->column_count; c++) {
        char words[256];
        if (table->cells[c][0] == '\0') {
            snprintf(words, sizeof words, "column %zu has no name", c + 1);
            return refuse(r, table->lines[0], error, words);
        }
        if (sf_delimited_column(table, table->cells[c]) < c) {
            snprintf(words, sizeof words, "two columns are named '%.100s'", table->cells[c]);
            return refuse(r, table->lines[0], error, words);
        }
    }
    return SF_OK;
}

int sf_delimited_parse(sf_delimited *table, const char *text, size_t length, const char *place,
                       sf_error *error)
{
    *table = (sf_delimited){0};
    if (length > 0 && memchr(text, '\0', length) != NULL)
        return sf_fail(error, SF_DATA, place, "is no text: it holds a byte of value 0");
    size_t mark = sf_utf8_mark(text, length);
    table->text = sf_resize(NULL, length - mark + 1, 1);
    if (table->text == NULL) return sf_fail_memory(error);
    if (length > mark) memcpy(table->text, text + mark, length - mark);
    table->text[length - mark] = '\0';
    reader r = {.table = table, .place = place, .at = table->text, .line = 1};
    int status = SF_OK;
    while (*r.at != '\0' && status == SF_OK) {
        size_t blank = strspn(r.at, " \t");
        if (!ends_line(r.at[blank])) {
            if (r.separator == '\0') r.separator = find_separator(r.at);
            status = read_line(&r, error);
            continue;
        }
        r.at += blank;
        r.at += r.at[0] == '\r' && r.at[1] == '\n';
        r.line += *r.at != '\0';
        r.at += *r.at != '\0';
    }
    return status == SF_OK ? check_names(&r, error) : status;
}

void sf_delimited_free(sf_delimited *table)
{
    sf_free(table->text);
    sf_free(table->cells);
    sf_free(table->lines);
    *table = (sf_delimited){0};
}

size_t sf_delimited_column(const sf_delimited *table, const char *name)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(table->cells[c], name) == 0) return c;
    return SIZE_MAX;
}
