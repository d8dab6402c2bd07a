/* SPDX-License-Identifier: Apache-2.0 */
#include "io/graph/scan.h"

#include "core/error.h"
#include "core/text.h"
#include "io/graph/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

sf_scan sf_scan_start(const char *path, const char *text, size_t size)
{
    return (sf_scan){.path = path, .next = text, .end = text + size};
}

bool sf_scan_line(sf_scan *scan)
{
    if (scan->next == scan->end) return false;
    const char *newline = memchr(scan->next, '\n', (size_t)(scan->end - scan->next));
    scan->at = scan->next;
    scan->line_end = newline != NULL ? newline : scan->end;
    scan->next = newline != NULL ? newline + 1 : scan->end;
    if (scan->line_end > scan->at && scan->line_end[-1] == '\r') scan->line_end--;
    scan->line++;
    return true;
}

static bool separates(const sf_scan *scan, char c)
{
    return c == ' ' || c == '\t' || (scan->commas && c == ',');
}

bool sf_scan_word(sf_scan *scan)
{
    while (scan->at < scan->line_end && separates(scan, *scan->at))
        scan->at++;
    size_t length = 0;
    scan->cut = false;
    for (; scan->at < scan->line_end && !separates(scan, *scan->at); scan->at++) {
        if (length < sizeof scan->word - 1)
            scan->word[length++] = *scan->at != '\0' ? *scan->at : '?';
        else
            scan->cut = true;
    }
    scan->word[length] = '\0';
    return length > 0;
}

static void print_place(const sf_scan *scan, char place[256])
{
    if (scan->line > 0)
        snprintf(place, 256, "%s:%zu", scan->path, scan->line);
    else
        snprintf(place, 256, "%s", scan->path);
}

int sf_scan_check_vertices(const sf_scan *scan, uint64_t vertices, uint64_t file_bytes, sf_error *error)
{
    char place[256];
    print_place(scan, place);
    return sf_graph_check_vertices(vertices, file_bytes, place, error);
}

int sf_scan_fail(const sf_scan *scan, sf_error *error, const char *format, ...)
{
    char place[256], text[512];
    print_place(scan, place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sf_fail(error, SF_DATA, place, "%s", text);
}

int sf_scan_uint(sf_scan *scan, const char *what, uint64_t least, uint64_t most, uint64_t *value,
                 sf_error *error)
{
    if (!sf_scan_word(scan)) return sf_scan_fail(scan, error, "the line ends before %s", what);
    /* The numbers of large graphs are nearly all short: read those without the general parser. */
    size_t length = 0;
    uint64_t number = 0;
    for (; length < 18 && scan->word[length] >= '0' && scan->word[length] <= '9'; length++)
        number = number * 10 + (uint64_t)(scan->word[length] - '0');
    bool whole = length > 0 && scan->word[length] == '\0';
    if (!whole && (scan->cut || !sf_parse_uint(scan->word, UINT64_MAX, &number)))
        return sf_scan_fail(scan, error, "found '%s', expected %s, an integer", scan->word, what);
    if (number < least || number > most)
        return sf_scan_fail(scan, error,
                            "%s is %" PRIu64 ", expected an integer from %" PRIu64 " to %" PRIu64, what,
                            number, least, most);
    *value = number;
    return SF_OK;
}

int sf_scan_real(sf_scan *scan, const char *what, double *value, sf_error *error)
{
    if (!sf_scan_word(scan)) return sf_scan_fail(scan, error, "the line ends before %s", what);
    if (scan->cut || !sf_parse_real(scan->word, value))
        return sf_scan_fail(scan, error, "found '%s', expected %s, a finite number", scan->word, what);
    return SF_OK;
}

int sf_scan_end(sf_scan *scan, const char *what, sf_error *error)
{
    if (!sf_scan_word(scan)) return SF_OK;
    return sf_scan_fail(scan, error, "found '%s' after %s", scan->word, what);
}
