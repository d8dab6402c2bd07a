/* SPDX-License-Identifier: Apache-2.0 */
/* CSV: a unit's name and a time in seconds on each line. Times are read in decimal, to the nanosecond. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 255
#define LINES_PER_UPDATE 65536

typedef struct csv {
    sf_recording *recording;
    const char *path;
    size_t line; /* 1-based */
    size_t capacity;
    sf_error *error;
} csv;

/* The beginning of what was found, without characters that would disturb a terminal. */
static const char *shown(const char *found, char (*text)[41])
{
    size_t i = 0;
    for (; i < sizeof *text - 1 && found[i] != '\0'; i++)
        (*text)[i] = iscntrl((unsigned char)found[i]) ? '?' : found[i];
    (*text)[i] = '\0';
    return *text;
}

static int refuse(const csv *in, const char *expected, const char *found)
{
    char text[41];
    return sf_fail(in->error, SF_DATA, in->path, "line %zu: expected %s, found '%s'", in->line, expected,
                   shown(found, &text));
}

/* Cuts the field off at its comma (NULL: the line ends with it) and strips spaces and double quotes around
 * it. */
static char *take_field(char **rest)
{
    char *field = *rest, *write;
    while (*field == ' ' || *field == '\t')
        field++;
    if (*field == '"') { /* quotes may hold commas; "" is a quote */
        char *read = ++field;
        for (write = field; *read != '\0' && (*read != '"' || read[1] == '"'); read++) {
            read += *read == '"';
            *write++ = *read;
        }
        *rest = strchr(read, ',');
    } else {
        *rest = strchr(field, ',');
        write = *rest != NULL ? *rest : field + strlen(field);
        while (write > field && isspace((unsigned char)write[-1]))
            write--;
    }
    if (*rest != NULL)
        *(*rest)++ = '\0';
    *write = '\0';
    return field;
}

/* A header's second column is a word, and not one that a broken export writes for a number. */
static bool is_heading(const char *field)
{
    return (isalpha((unsigned char)*field) || *field == '_') && strncasecmp(field, "nan", 3) != 0 &&
           strncasecmp(field, "inf", 3) != 0;
}

static int add_spike(csv *in, const char *name, int64_t time_ns)
{
    sf_recording *recording = in->recording;
    uint32_t unit;
    int status = sf_units_intern(&recording->units, name, &unit, in->error);
    if (status != SF_OK)
        return status;
    void *spikes = recording->spikes;
    if (sf_reserve(&spikes, &in->capacity, recording->spike_count + 1, sizeof(sf_spike)) != 0)
        return sf_fail_memory(in->error);
    recording->spikes = spikes;
    recording->spikes[recording->spike_count++] =
        (sf_spike){.time_ns = time_ns, .unit = unit, .amplitude = NAN};
    return SF_OK;
}

static int read_line(csv *in, char *line)
{
    char original[41];
    shown(line, &original);
    char *rest = line;
    const char *name = take_field(&rest);
    if (name[0] == '\0' && rest == NULL)
        return SF_OK; /* a blank line */
    if (rest == NULL)
        return refuse(in, "a unit's name, a comma and a time in seconds", original);
    const char *time = take_field(&rest);
    if (rest != NULL)
        return refuse(in, "two fields, a unit's name and a time in seconds", original);
    int64_t time_ns;
    if (in->line == 1 && is_heading(time))
        return SF_OK;
    if (name[0] == '\0' || strlen(name) > LONGEST_NAME)
        return refuse(in, "a unit's name of 1 to 255 bytes", name);
    if (!sf_parse_scaled(time, 9, &time_ns) || time_ns < 0)
        return refuse(in, "a time of 0 or more seconds (to 292 years)", time);
    return add_spike(in, name, time_ns);
}

static int compare_names(const void *a, const void *b)
{
    const sf_unit *left = a, *right = b;
    int order = strverscmp(left->name, right->name);
    return order != 0 ? order : strcmp(left->name, right->name);
}

/* Puts units in the order of their names, so that an index does not depend on which unit fires first. */
static int order_units(sf_recording *recording, sf_error *error)
{
    sf_units *units = &recording->units;
    uint32_t *moved = sf_alloc(units->count, sizeof *moved);
    if (moved == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < units->count; i++)
        units->items[i].electrode = (int32_t)i; /* where it was, for the moment */
    qsort(units->items, units->count, sizeof *units->items, compare_names);
    for (size_t i = 0; i < units->count; i++) {
        moved[units->items[i].electrode] = (uint32_t)i;
        units->items[i].electrode = -1;
    }
    for (size_t i = 0; i < recording->spike_count; i++)
        recording->spikes[i].unit = moved[recording->spikes[i].unit];
    sf_free(moved);
    return SF_OK;
}

int sf_csv_read(sf_recording *recording, const char *path, char *text, size_t size,
                const sf_progress *progress, sf_error *error)
{
    csv in = {.recording = recording, .path = path, .error = error};
    char *line = text, *end = text + size;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        line += 3; /* byte order mark */
    int status = sf_reader_set_format(recording, error, "CSV");
    while (status == SF_OK && line < end) {
        in.line++;
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL)
            stop = end;
        *stop = '\0';
        status = read_line(&in, line);
        line = stop + 1;
        if (status == SF_OK && in.line % LINES_PER_UPDATE == 0 &&
            !sf_progress_update(progress, "reading", (double)(line - text), (double)size))
            status = sf_fail(error, SF_CANCELLED, path, "stopped while reading");
    }
    if (status == SF_OK && recording->spike_count == 0)
        status = sf_fail(error, SF_DATA, path,
                         "no spikes: expected lines of a unit's name, a comma and a time in seconds");
    return status == SF_OK ? order_units(recording, error) : status;
}
