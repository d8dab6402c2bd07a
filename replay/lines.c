/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/lines.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"

#include <string.h>

int sf_lines_open(sf_lines *lines, const char *path, sf_error *error)
{
    *lines = (sf_lines){.path = path};
    sf_text text = {0};
    int status = sf_file_read(&text, path, error);
    if (status == SF_OK && text.length == 0)
        status = sf_fail(error, SF_DATA, path, "the file is empty");
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

sf_lines sf_lines_over(const char *path, char *text, size_t size)
{
    return (sf_lines){.path = path, .text = text, .at = text, .end = text + size};
}

char *sf_lines_next(sf_lines *lines)
{
    if (lines->at >= lines->end)
        return NULL;
    char *line = lines->at;
    char *stop = memchr(line, '\n', (size_t)(lines->end - line));
    if (stop == NULL)
        stop = lines->end;
    *stop = '\0';
    lines->at = stop + 1;
    lines->number++;
    return line;
}

int sf_lines_refuse(const sf_lines *lines, const char *expected, const char *found, sf_error *error)
{
    char shown[41];
    sf_visible_printf(shown, sizeof shown, "%s", found);
    return sf_fail(error, SF_DATA, lines->path, "line %zu: expected %s, found '%s'", lines->number, expected,
                   shown);
}
