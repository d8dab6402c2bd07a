/* SPDX-License-Identifier: Apache-2.0 */
/* Files of epochs. */
#include "analysis/selection.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "replay/csv_form.h"
#include "replay/lines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_epochs(const void *a, const void *b)
{
    const sf_epoch *left = a, *right = b;
    return (left->span.start_ns > right->span.start_ns) - (left->span.start_ns < right->span.start_ns);
}

static int read_epoch(sf_epoch *epoch, const sf_lines *lines, int exponent, char *line, sf_error *error)
{
    static const char form[] = "start,stop,label in seconds, the start before the stop";
    char original[64];
    snprintf(original, sizeof original, "%s", line);
    char *rest = line;
    char none[] = "";
    char *start = sf_lines_field(lines, &rest);
    char *stop = rest != NULL ? sf_lines_field(lines, &rest) : none;
    const char *label = rest != NULL ? sf_lines_field(lines, &rest) : none;
    if (rest != NULL || start[0] == '+' || stop[0] == '+' || /* not from the first spike here */
        !sf_lines_scaled(lines, start, exponent, &epoch->span.start_ns) ||
        !sf_lines_scaled(lines, stop, exponent, &epoch->span.stop_ns) ||
        epoch->span.start_ns >= epoch->span.stop_ns)
        return sf_lines_refuse(lines, form, original, error);
    snprintf(epoch->label, sizeof epoch->label, "%s", label);
    return SF_OK;
}

/* Interprets the first line, if it is words: the second one gives the unit of times; SF_CSV_NOT_READ for an
 * unsupported unit. */
static bool take_heading(const sf_lines *lines, char *line, int *exponent)
{
    if (lines->number != 1 || !isalpha((unsigned char)line[strspn(line, " \t\r\"")])) return false;
    char *rest = line;
    sf_lines_field(lines, &rest);
    int scale = rest != NULL ? sf_csv_scale(sf_lines_field(lines, &rest)) : SF_CSV_NO_SCALE;
    *exponent = scale != SF_CSV_NO_SCALE ? scale : *exponent;
    return true;
}

static int check(const sf_epoch *epochs, size_t count, const char *path, sf_error *error)
{
    if (count == 0)
        return sf_fail(error, SF_DATA, path, "no epochs: expected lines of start,stop,label in seconds");
    return sf_epochs_check(epochs, count, path, SF_DATA, error);
}

int sf_epochs_read(sf_epoch **epochs, size_t *count, const char *path, sf_error *error)
{
    *epochs = NULL;
    *count = 0;
    sf_lines lines;
    int status = sf_lines_open(&lines, path, error);
    void *list = NULL;
    size_t length = 0, capacity = 0;
    int exponent = 9;
    for (char *line; status == SF_OK && (line = sf_lines_next(&lines)) != NULL;) {
        bool is_blank = line[strspn(line, " \t\r\"")] == '\0';
        if (is_blank || take_heading(&lines, line, &exponent)) continue;
        if (exponent == SF_CSV_NOT_READ)
            status = sf_fail(error, SF_DATA, path,
                             "line 1: its unit of time is not read: expected s, ms, us or ns, as "
                             "start_ms,stop_ms,label");
        else if (sf_reserve(&list, &capacity, length + 1, sizeof **epochs) != 0)
            status = sf_fail_memory(error);
        else
            status = read_epoch((sf_epoch *)list + length++, &lines, exponent, line, error);
    }
    if (status == SF_OK && length > 0) qsort(list, length, sizeof **epochs, compare_epochs);
    if (status == SF_OK) status = check(list, length, path, error);
    sf_lines_close(&lines);
    if (status != SF_OK) {
        sf_free(list);
        return status;
    }
    *epochs = list;
    *count = length;
    return SF_OK;
}
