/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/csv.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 255
#define LEAST_SWAPPED 20 /* spikes that tell whether columns are swapped */
#define LINES_PER_UPDATE 65536

typedef struct csv {
    sf_recording *recording;
    sf_lines lines;
    size_t capacity;
    int exponent; /* by which times become ns: 9 of seconds, 6 of ms */
    sf_error *error;
} csv;

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
    static const char form[] = "a unit's name, a comma and a time in seconds"; /* or what separates here */
    char original[64]; /* fields are cut in place, and a refusal shows the line */
    snprintf(original, sizeof original, "%s", line);
    char *rest = line;
    const char *name = sf_lines_field(&in->lines, &rest);
    if (rest == NULL)
        return name[0] == '\0' ? SF_OK : sf_lines_refuse(&in->lines, form, original, in->error);
    char *time = sf_lines_field(&in->lines, &rest);
    if (rest != NULL)
        return sf_lines_refuse(&in->lines, form, original, in->error);
    if (in->lines.number == 1 && is_heading(time)) {
        in->exponent = sf_lines_exponent(time);
        return SF_OK;
    }
    if (name[0] == '\0' || strlen(name) > LONGEST_NAME)
        return sf_lines_refuse(&in->lines, "a unit's name of 1 to 255 bytes", name, in->error);
    int64_t time_ns;
    double number;
    if (is_heading(time) && sf_parse_real(name, &number))
        return sf_lines_refuse(&in->lines, "name,seconds in this order", original, in->error);
    if (!sf_lines_scaled(&in->lines, time, in->exponent, &time_ns) || time_ns < 0 ||
        time_ns >= SF_TIME_LIMIT_NS)
        return sf_lines_refuse(&in->lines, "a time from 0 to 4.6e9 seconds", time, in->error);
    return add_spike(in, name, time_ns);
}

/* Times where names should be: nearly every line names another unit, all of them numbers. */
static int refuse_swapped(const csv *in)
{
    const sf_units *units = &in->recording->units;
    size_t spikes = in->recording->spike_count;
    if (spikes < LEAST_SWAPPED || 2 * units->count < spikes)
        return SF_OK;
    double time;
    for (size_t i = 0; i < units->count; i++)
        if (!sf_parse_real(units->items[i].name, &time))
            return SF_OK;
    return sf_fail(
        in->error, SF_DATA, in->lines.path,
        "%zu lines name %zu units, all of them numbers: these are times. Expected name,seconds: swap "
        "the columns",
        spikes, units->count);
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

static int read_lines(csv *in, const sf_progress *progress)
{
    sf_lines *lines = &in->lines;
    for (char *line; (line = sf_lines_next(lines)) != NULL;) {
        int status = read_line(in, line);
        if (status != SF_OK)
            return status;
        if (lines->number % LINES_PER_UPDATE == 0 &&
            !sf_progress_update(progress, "reading", (double)(lines->at - lines->text),
                                (double)(lines->end - lines->text)))
            return sf_fail(in->error, SF_CANCELLED, lines->path, "stopped while reading");
    }
    if (in->recording->spike_count == 0)
        return sf_fail(in->error, SF_DATA, lines->path,
                       "no spikes: expected lines of a unit's name, a comma and a time in seconds");
    int status = refuse_swapped(in);
    return status == SF_OK ? order_units(in->recording, in->error) : status;
}

int sf_csv_read_lines(sf_recording *recording, const sf_lines *lines, const sf_progress *progress,
                      sf_error *error)
{
    *recording = (sf_recording){0};
    csv in = {.recording = recording, .lines = *lines, .exponent = 9, .error = error};
    recording->path = sf_copy_string(lines->path);
    recording->format = sf_copy_string("CSV");
    int status = recording->path != NULL && recording->format != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = read_lines(&in, progress);
    if (status == SF_OK)
        status = sf_recording_finish(recording, error);
    if (status != SF_OK)
        sf_recording_clear(recording);
    return status;
}

int sf_csv_read(sf_recording *recording, const char *path, const sf_progress *progress, sf_error *error)
{
    *recording = (sf_recording){0};
    sf_lines lines;
    sf_error reason;
    int status = sf_lines_open(&lines, path, &reason);
    if (status == SF_DATA)
        return sf_fail(error, SF_DATA, path, "this is neither HDF5 nor lines of name,seconds: %s",
                       reason.text);
    if (status != SF_OK)
        return sf_fail(error, reason.code, reason.place, "%s", reason.text);
    status = sf_csv_read_lines(recording, &lines, progress, error);
    sf_lines_close(&lines);
    return status;
}
