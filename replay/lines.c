/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/lines.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <string.h>

int sf_lines_open(sf_lines *lines, const char *path, sf_error *error)
{
    *lines = (sf_lines){.path = path};
    sf_text text = {0};
    int status = sf_file_read(&text, path, error);
    if (status == SF_OK && text.length == 0)
        status = sf_fail(error, SF_DATA, path, "the file is empty");
    else if (status == SF_OK && text.length >= 2 &&
             (memcmp(text.data, "\xff\xfe", 2) == 0 || memcmp(text.data, "\xfe\xff", 2) == 0))
        status = sf_fail(error, SF_DATA, path, "this is UTF-16, expected UTF-8 or Latin-1: save it as UTF-8");
    else if (status == SF_OK && memchr(text.data, '\0', text.length) != NULL)
        status = sf_fail(error, SF_DATA, path, "this is no text: it holds bytes of value zero");
    if (status != SF_OK) {
        sf_text_free(&text);
        return status;
    }
    *lines = sf_lines_over(path, text.data, text.length);
    return SF_OK;
}

void sf_lines_close(sf_lines *lines)
{
    sf_free(lines->text);
    *lines = (sf_lines){0};
}

/* True if this may be one field, in which a comma is a decimal mark. */
static bool is_field(const char *field, const char *end)
{
    const char *comma = memchr(field, ',', (size_t)(end - field));
    if (comma == NULL) return true;
    return comma > field && isdigit((unsigned char)comma[-1]) && isdigit((unsigned char)comma[1]) &&
           memchr(comma + 1, ',', (size_t)(end - comma - 1)) == NULL;
}

/* True if this character separates the first two fields, or occurs more often than commas. */
static bool separates(char separator, const char *line, const char *end)
{
    const char *first = memchr(line, separator, (size_t)(end - line));
    if (first == NULL) return false;
    size_t found = 0, commas = 0;
    for (const char *at = line; at < end; at++) {
        found += *at == separator;
        commas += *at == ',';
    }
    if (found >= 2 && found > commas) /* as between the words of a heading, whatever commas they contain */
        return true;
    const char *second = memchr(first + 1, separator, (size_t)(end - first - 1));
    return is_field(line, first) && is_field(first + 1, second != NULL ? second : end);
}

/* Blanks separate if nothing else does. */
static char blank_or_comma(const char *line, const char *end)
{
    bool quoted = false, between = false;
    for (const char *at = line; at < end; at++) {
        if (*at == ',' || *at == ';' || *at == '\t') return ',';
        quoted = quoted != (*at == '"');
        between = between || (*at == ' ' && !quoted && at > line && strspn(at, " ") < (size_t)(end - at));
    }
    return between ? ' ' : ',';
}

static char find_separator(const char *text, const char *end)
{
    const char *line = text + strspn(text, " \t\r\n");
    const char *line_end = line + strcspn(line, "\r\n");
    if (line >= end) return ',';
    const char *begin = line;
    const char *quote = *line == '"' ? memchr(line + 1, '"', (size_t)(line_end - line - 1)) : NULL;
    line = quote != NULL ? quote : line; /* what is quoted may hold separators */
    return separates(';', line, line_end)    ? ';'
           : separates('\t', line, line_end) ? '\t'
                                             : blank_or_comma(begin, line_end);
}

sf_lines sf_lines_over(const char *path, char *text, size_t size)
{
    return (sf_lines){.path = path,
                      .text = text,
                      .at = text,
                      .end = text + size,
                      .separator = find_separator(text, text + size)};
}

void sf_lines_separate_anew(sf_lines *lines)
{
    if (lines->at < lines->end) /* after the last line it is beyond */
        lines->separator = find_separator(lines->at, lines->end);
}

char *sf_lines_next(sf_lines *lines)
{
    if (lines->at >= lines->end) return NULL;
    char *line = lines->at;
    char *stop = memchr(line, '\n', (size_t)(lines->end - line));
    if (stop == NULL) stop = lines->end;
    *stop = '\0';
    lines->at = stop + 1;
    lines->number++;
    return line;
}

char *sf_lines_field(const sf_lines *lines, char **rest)
{
    if (lines->separator != ' ') return sf_text_field(rest, lines->separator);
    *rest += strspn(*rest, " ");
    char *field = sf_text_field(rest, ' ');
    if (*rest != NULL && (*rest)[strspn(*rest, " \r")] == '\0') /* blanks at the end of a line */
        *rest = NULL;
    return field;
}

bool sf_lines_scaled(const sf_lines *lines, char *field, int exponent, int64_t *value)
{
    char *comma = lines->separator != ',' ? strchr(field, ',') : NULL;
    if (comma != NULL) *comma = '.';
    return sf_parse_scaled(field, exponent, value);
}

int sf_lines_refuse(const sf_lines *lines, const char *expected, const char *found, sf_error *error)
{
    char shown[41];
    sf_visible_printf(shown, sizeof shown, "%s", found);
    return sf_fail(error, SF_DATA, lines->path, "line %zu: expected %s, found '%s'", lines->number, expected,
                   shown);
}
