/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/lines.h"

#include "core/error.h"
#include "core/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads until `size` bytes or the end; negative on failure. */
static ssize_t read_all(int file, char *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(file, to + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int sf_lines_open(sf_lines *lines, const char *path, sf_error *error)
{
    *lines = (sf_lines){.path = path};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) {
        int reason = errno;
        if (file >= 0)
            close(file);
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(reason));
    }
    size_t size = S_ISREG(about.st_mode) ? (size_t)about.st_size : 0;
    char *text = sf_resize(NULL, size + 1, 1);
    ssize_t length = text != NULL ? read_all(file, text, size) : 0;
    int reason = errno;
    close(file);
    if (text == NULL)
        return sf_fail_memory(error);
    int status = SF_OK;
    if (length < 0)
        status = sf_fail(error, SF_IO, path, "cannot read: %s", strerror(reason));
    else if (length == 0)
        status = sf_fail(error, SF_DATA, path, "the file is empty");
    else if (memchr(text, '\0', (size_t)length) != NULL)
        status = sf_fail(error, SF_DATA, path, "this is no text: it holds bytes of value zero");
    if (status != SF_OK) {
        sf_free(text);
        return status;
    }
    text[length] = '\0';
    *lines = sf_lines_over(path, text, (size_t)length);
    return SF_OK;
}

void sf_lines_close(sf_lines *lines)
{
    sf_free(lines->text);
    *lines = (sf_lines){0};
}

sf_lines sf_lines_over(const char *path, char *text, size_t size)
{
    size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return (sf_lines){.path = path, .text = text, .at = text + mark, .end = text + size};
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

char *sf_lines_field(char **rest)
{
    char *field = *rest, *end;
    while (*field == ' ' || *field == '\t')
        field++;
    if (*field == '"') {
        char *from = ++field;
        for (end = field; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"'; /* "" is a quote */
            *end++ = *from;
        }
        *rest = strchr(from, ',');
    } else {
        *rest = strchr(field, ',');
        end = *rest != NULL ? *rest : field + strlen(field);
        while (end > field && isspace((unsigned char)end[-1]))
            end--;
    }
    if (*rest != NULL)
        *(*rest)++ = '\0';
    *end = '\0';
    return field;
}

int sf_lines_refuse(const sf_lines *lines, const char *expected, const char *found, sf_error *error)
{
    char shown[41];
    size_t i = 0;
    for (; i < sizeof shown - 1 && found[i] != '\0'; i++)
        shown[i] = iscntrl((unsigned char)found[i]) ? '?' : found[i];
    shown[i] = '\0';
    return sf_fail(error, SF_DATA, lines->path, "line %zu: expected %s, found '%s'", lines->number, expected,
                   shown);
}
