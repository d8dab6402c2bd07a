/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/labels.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

/* ---- from markers ---- */

typedef struct labels {
    sf_epoch *items;
    size_t count, capacity;
    bool open; /* the last one has no end yet */
} labels;

static void end_last(labels *into, int64_t time_ns, int64_t hold_ns)
{
    if (!into->open) return;
    sf_span *span = &into->items[into->count - 1].span;
    span->stop_ns = time_ns;
    if (hold_ns > 0 && time_ns - span->start_ns > hold_ns) span->stop_ns = span->start_ns + hold_ns;
    into->count -= span->stop_ns <= span->start_ns; /* two markers at one time: the later one holds */
    into->open = false;
}

static int begin(labels *into, int64_t time_ns, const char *label, sf_error *error)
{
    if (sf_reserve(&into->items, &into->capacity, into->count + 1, sizeof *into->items) != 0)
        return sf_fail_memory(error);
    sf_epoch *epoch = &into->items[into->count++];
    *epoch = (sf_epoch){.span = {time_ns, time_ns}};
    snprintf(epoch->label, sizeof epoch->label, "%s", label);
    into->open = true;
    return SF_OK;
}

/* Whether a text ends the label that is open. */
static bool ends(const labels *into, const char *text)
{
    size_t length = strlen(text);
    return into->open && length > 4 && strcmp(text + length - 4, " end") == 0 &&
           strncmp(into->items[into->count - 1].label, text, length - 4) == 0;
}

static int take_marker(labels *into, const sf_marker *marker, int line, int64_t hold_ns, sf_error *error)
{
    bool text = marker->kind == SF_MARKER_TEXT;
    if (text != (line < 0) || (!text && marker->line != line) ||
        (text && strncmp(marker->text, "synfire:", 8) == 0))
        return SF_OK;
    bool over = text && ends(into, marker->text);
    end_last(into, marker->time_ns, hold_ns);
    return over ? SF_OK
                : begin(into, marker->time_ns,
                        text                 ? marker->text
                        : marker->state != 0 ? "high"
                                             : "low",
                        error);
}

/* Uses texts if there are any, else the only TTL line that has edges. */
static int choose_line(const sf_recording_columns *of, int *line, sf_error *error)
{
    bool edges = false;
    for (size_t i = 0; i < of->marker_count; i++) {
        const sf_marker *marker = &of->markers[i];
        if (marker->kind == SF_MARKER_TEXT && strncmp(marker->text, "synfire:", 8) != 0) {
            *line = -1;
            return SF_OK;
        }
    }
    for (size_t i = 0; i < of->marker_count; i++) {
        if (of->markers[i].kind != SF_MARKER_TTL) continue;
        if (edges && of->markers[i].line != *line)
            return sf_fail(error, SF_DATA, NULL,
                           "there are TTL edges of line %d and of line %d: one of them is to be named", *line,
                           of->markers[i].line);
        *line = of->markers[i].line;
        edges = true;
    }
    return edges ? SF_OK : sf_fail(error, SF_DATA, NULL, "there are no markers in this recording");
}

int sf_labels_of_markers(sf_epoch **epochs, size_t *count, const sf_recording *recording, int line,
                         int64_t hold_ns, sf_error *error)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    labels into = {0};
    int wanted = line, status = line < 0 ? choose_line(&of, &wanted, error) : SF_OK;
    for (size_t i = 0; i < of.marker_count && status == SF_OK; i++)
        status = take_marker(&into, &of.markers[i], wanted, hold_ns, error);
    if (status == SF_OK) end_last(&into, of.recorded.stop_ns, hold_ns);
    if (status == SF_OK && into.count == 0)
        status = sf_fail(error, SF_DATA, NULL, "there are no TTL edges of line %d", wanted);
    if (status != SF_OK) {
        sf_free(into.items);
        into = (labels){0};
    }
    *epochs = into.items;
    *count = into.count;
    return status;
}

/* ---- windows ---- */

/* Index of the last epoch that begins at or before a time, or `count`. */
static size_t epoch_at(const sf_epoch *epochs, size_t count, int64_t time_ns)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (epochs[middle].span.start_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : count;
}

typedef enum placed { IN_ONE, IN_SEVERAL, IN_NONE } placed;

/* Position of a window: within one epoch, or within adjoining epochs of one label. */
static placed place(const sf_span *window, const sf_epoch *epochs, size_t count, size_t *which)
{
    size_t first = epoch_at(epochs, count, window->start_ns), i = first < count ? first : 0;
    if (first < count && window->start_ns < epochs[first].span.stop_ns) {
        *which = first;
        while (epochs[i].span.stop_ns < window->stop_ns && i + 1 < count &&
               epochs[i + 1].span.start_ns == epochs[i].span.stop_ns &&
               strcmp(epochs[i + 1].label, epochs[i].label) == 0)
            i++;
        return epochs[i].span.stop_ns >= window->stop_ns ? IN_ONE : IN_SEVERAL;
    }
    i = first < count ? first + 1 : 0;
    return i < count && epochs[i].span.start_ns < window->stop_ns ? IN_SEVERAL : IN_NONE;
}

static bool is_recorded(const sf_recording_columns *of, const sf_span *window)
{
    if (window->start_ns < of->recorded.start_ns || window->stop_ns > of->recorded.stop_ns) return false;
    for (size_t i = 0; i < of->observed_count; i++)
        if (of->observed[i].start_ns <= window->start_ns && of->observed[i].stop_ns >= window->stop_ns)
            return true;
    return of->observed_count == 0;
}

static int number_label(sf_labelled *labelled, const char *name, uint16_t *number, sf_error *error)
{
    for (*number = 0; *number < labelled->name_count; (*number)++)
        if (strcmp(labelled->names[*number], name) == 0) return SF_OK;
    if (labelled->name_count == SF_MOST_LABELS)
        return sf_fail(error, SF_DATA, NULL, "there are more than %d labels: a rule is for a few",
                       SF_MOST_LABELS);
    snprintf(labelled->names[labelled->name_count++], sizeof *labelled->names, "%s", name);
    return SF_OK;
}

/* Renumbers labels by decreasing number of windows, ties by first appearance, so that the lower number wins
 * ties. */
static void order_by_frequency(sf_labelled *labelled, size_t window_count)
{
    size_t counts[SF_MOST_LABELS] = {0};
    uint16_t order[SF_MOST_LABELS], number[SF_MOST_LABELS];
    char names[SF_MOST_LABELS][sizeof *labelled->names];
    for (size_t i = 0; i < window_count; i++)
        if (labelled->labels[i] != SF_NO_LABEL) counts[labelled->labels[i]]++;
    for (uint16_t c = 0, at; c < labelled->name_count; c++) {
        for (at = c; at > 0 && counts[order[at - 1]] < counts[c]; at--)
            order[at] = order[at - 1];
        order[at] = c;
    }
    memcpy(names, labelled->names, labelled->name_count * sizeof *names);
    for (uint16_t c = 0; c < labelled->name_count; c++) {
        number[order[c]] = c;
        memcpy(labelled->names[c], names[order[c]], sizeof *names);
    }
    for (size_t i = 0; i < window_count; i++)
        if (labelled->labels[i] != SF_NO_LABEL) labelled->labels[i] = number[labelled->labels[i]];
}

static void count_stretches(sf_labelled *labelled, size_t window_count)
{
    uint16_t before = SF_NO_LABEL;
    for (size_t i = 0; i < window_count; i++) {
        uint16_t label = labelled->labels[i];
        if (label == SF_NO_LABEL) continue;
        labelled->stretches += label != before;
        before = label;
    }
}

int sf_label_windows(sf_labelled *labelled, const sf_recording *recording, const sf_span *windows,
                     size_t window_count, const sf_epoch *epochs, size_t epoch_count, sf_error *error)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    *labelled = (sf_labelled){.names = sf_alloc(SF_MOST_LABELS, sizeof *labelled->names),
                              .labels = sf_resize(NULL, window_count, sizeof *labelled->labels)};
    if (labelled->names == NULL || labelled->labels == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t i = 0; i < window_count && status == SF_OK; i++) {
        size_t which = 0;
        placed where = place(&windows[i], epochs, epoch_count, &which);
        labelled->labels[i] = SF_NO_LABEL;
        labelled->mixed += where == IN_SEVERAL;
        labelled->without += where == IN_NONE;
        if (where != IN_ONE) continue;
        if (!is_recorded(&of, &windows[i])) {
            labelled->unrecorded++;
            continue;
        }
        labelled->labelled++;
        status = number_label(labelled, epochs[which].label, &labelled->labels[i], error);
    }
    if (status == SF_OK && labelled->labelled > 0) {
        order_by_frequency(labelled, window_count);
        count_stretches(labelled, window_count);
    }
    return status;
}

void sf_labelled_free(sf_labelled *labelled)
{
    sf_free(labelled->names);
    sf_free(labelled->labels);
    *labelled = (sf_labelled){0};
}
