/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of synfire/recording.h: from memory, parts of them, and what is in them. */
#include "analysis/selection.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"

#include <math.h>
#include <string.h>

static const sf_recording_input defaults = {.size = sizeof defaults};

void sf_recording_input_init(void *input, size_t size)
{
    sf_options_init(input, size, &defaults, sizeof defaults);
}

/* ---- from memory ---- */

static int add_units(sf_recording *recording, const sf_recording_input *input, sf_error *error)
{
    const sf_unit nowhere = {.x_um = NAN, .y_um = NAN, .electrode = -1};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < input->unit_count; i++)
        status = sf_units_add(&recording->units, input->units != NULL ? &input->units[i] : &nowhere, error);
    return status;
}

static int add_spikes(sf_recording *recording, const sf_recording_input *input, sf_error *error)
{
    for (size_t i = 0; i < input->spike_count; i++)
        if (input->spikes[i].unit >= input->unit_count)
            return sf_fail(error, SF_USAGE, "spikes", "spike %zu is of unit %u, expected less than %zu", i,
                           input->spikes[i].unit, input->unit_count);
    recording->spikes = sf_resize(NULL, input->spike_count, sizeof *recording->spikes);
    if (recording->spikes == NULL) return sf_fail_memory(error);
    if (input->spike_count > 0)
        memcpy(recording->spikes, input->spikes, input->spike_count * sizeof *recording->spikes);
    recording->spike_count = input->spike_count;
    recording->sorted = !sf_spikes_are_sorted(recording->spikes, recording->spike_count);
    return SF_OK;
}

static int add_markers(sf_recording *recording, const sf_recording_input *input, sf_error *error)
{
    for (size_t i = 0; i < input->marker_count; i++) {
        const sf_marker *marker = &input->markers[i];
        if ((marker->kind != SF_MARKER_TTL && marker->kind != SF_MARKER_TEXT) ||
            memchr(marker->text, '\0', SF_MARKER_TEXT_SIZE) == NULL)
            return sf_fail(error, SF_USAGE, "markers",
                           "marker %zu is of kind %u, expected %d or %d and a text that ends within %d bytes",
                           i, marker->kind, SF_MARKER_TTL, SF_MARKER_TEXT, SF_MARKER_TEXT_SIZE);
    }
    recording->markers = sf_resize(NULL, input->marker_count, sizeof *recording->markers);
    if (recording->markers == NULL) return sf_fail_memory(error);
    if (input->marker_count > 0)
        memcpy(recording->markers, input->markers, input->marker_count * sizeof *recording->markers);
    recording->marker_count = input->marker_count;
    return SF_OK;
}

static int add_times(sf_recording *recording, const sf_recording_input *input, sf_error *error)
{
    if (input->recorded != NULL) {
        recording->recorded = *input->recorded;
        recording->declared = true;
    }
    if (recording->recorded.start_ns > recording->recorded.stop_ns)
        return sf_fail(error, SF_USAGE, "recorded", "ends before it starts");
    for (size_t i = 0; i < input->observed_count; i++)
        if (input->observed[i].start_ns >= input->observed[i].stop_ns ||
            (i > 0 && input->observed[i].start_ns < input->observed[i - 1].stop_ns))
            return sf_fail(error, SF_USAGE, "observed",
                           "interval %zu is empty, or starts before the one before it has ended", i);
    if (input->observed_count == 0) return SF_OK;
    recording->observed = sf_resize(NULL, input->observed_count, sizeof *recording->observed);
    if (recording->observed == NULL) return sf_fail_memory(error);
    memcpy(recording->observed, input->observed, input->observed_count * sizeof *recording->observed);
    recording->observed_count = input->observed_count;
    return SF_OK;
}

static int fill(sf_recording *recording, const sf_recording_input *input, sf_error *error)
{
    int status = add_units(recording, input, error);
    if (status == SF_OK) status = add_spikes(recording, input, error);
    if (status == SF_OK) status = add_markers(recording, input, error);
    if (status == SF_OK) status = add_times(recording, input, error);
    for (size_t i = 0; status == SF_OK && i < input->metadata_count; i++)
        status =
            sf_recording_set_metadata(recording, input->metadata[i].key, input->metadata[i].value, error);
    if (status == SF_OK) status = sf_recording_finish(recording, error);
    const sf_selection all = {.size = sizeof all};
    return status == SF_OK ? sf_selection_apply(recording, &all, error) : status;
}

int sf_recording_new(sf_recording **out, const sf_recording_input *input, sf_error *error)
{
    *out = NULL;
    sf_recording_input own;
    int status = sf_options_read(&own, &defaults, sizeof defaults, input, "recording", error);
    if (status != SF_OK) return status;
    sf_recording *recording = sf_alloc(1, sizeof *recording);
    if (recording == NULL) return sf_fail_memory(error);
    status = fill(recording, &own, error);
    if (status == SF_OK)
        *out = recording;
    else
        sf_recording_free(recording);
    return status;
}

void sf_recording_free(sf_recording *recording)
{
    if (recording == NULL) return;
    sf_recording_clear(recording);
    sf_free(recording);
}

/* ---- parts ---- */

int sf_recording_select(sf_recording **out, const sf_recording *recording, const sf_selection *selection,
                        sf_error *error)
{
    *out = NULL;
    sf_selection own;
    int status = sf_selection_read(&own, selection, error);
    if (status == SF_OK && own.stream != NULL)
        status = sf_fail(error, SF_USAGE, "stream", "is chosen when a file is opened, not of what was read");
    if (status == SF_OK && (own.columns != NULL || own.positions != NULL))
        status = sf_fail(error, SF_USAGE, own.columns != NULL ? "columns" : "positions",
                         "is told when a file is opened, not of what was read");
    if (status == SF_OK) status = sf_recording_check_held(recording, error);
    if (status != SF_OK) return status;
    sf_recording *part = sf_alloc(1, sizeof *part);
    if (part == NULL) return sf_fail_memory(error);
    status = sf_recording_copy(part, recording, error);
    if (status == SF_OK) status = sf_selection_apply(part, &own, error);
    if (status == SF_OK)
        *out = part;
    else
        sf_recording_free(part);
    return status;
}

static sf_span meet(sf_span a, sf_span b)
{
    sf_span both = {a.start_ns > b.start_ns ? a.start_ns : b.start_ns,
                    a.stop_ns < b.stop_ns ? a.stop_ns : b.stop_ns};
    both.stop_ns = both.stop_ns > both.start_ns ? both.stop_ns : both.start_ns;
    return both;
}

/* A view of the recording within the span: everything is borrowed except `observed`. */
static int view(sf_recording *part, const sf_recording *recording, sf_span span, sf_error *error)
{
    size_t first = sf_spikes_lower_bound(recording->spikes, recording->spike_count, span.start_ns);
    size_t end = sf_spikes_lower_bound(recording->spikes, recording->spike_count, span.stop_ns);
    size_t marker = 0;
    *part = *recording;
    part->borrowed = true;
    part->selected = NULL;
    part->observed = NULL;
    part->observed_count = 0;
    part->spikes += first;
    part->spike_count = end > first ? end - first : 0;
    size_t other = sf_spikes_lower_bound(recording->others, recording->other_count, span.start_ns);
    part->other_count = sf_spikes_lower_bound(recording->others, recording->other_count, span.stop_ns);
    part->other_count -= part->other_count > other ? other : part->other_count;
    part->others = recording->others != NULL ? recording->others + other : NULL;
    while (marker < recording->marker_count && recording->markers[marker].time_ns < span.start_ns)
        marker++;
    part->markers += marker;
    part->marker_count = 0;
    while (marker + part->marker_count < recording->marker_count &&
           part->markers[part->marker_count].time_ns < span.stop_ns)
        part->marker_count++;
    part->recorded = meet(recording->recorded, span);
    if (recording->observed_count == 0) return SF_OK;
    part->observed = sf_resize(NULL, recording->observed_count, sizeof *part->observed);
    if (part->observed == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < recording->observed_count; i++) {
        sf_span both = meet(recording->observed[i], span);
        if (both.stop_ns > both.start_ns) part->observed[part->observed_count++] = both;
    }
    if (part->observed_count == 0) /* nothing was recorded there */
        part->recorded.stop_ns = part->recorded.start_ns;
    return SF_OK;
}

int sf_recording_part(sf_recording **out, const sf_recording *recording, sf_span span, sf_error *error)
{
    *out = NULL;
    int status = sf_recording_check_held(recording, error);
    sf_recording *part = status == SF_OK ? sf_alloc(1, sizeof *part) : NULL;
    if (part == NULL) return status == SF_OK ? sf_fail_memory(error) : status;
    status = view(part, recording, span, error);
    if (status == SF_OK)
        *out = part;
    else
        sf_recording_free(part);
    return status;
}

/* ---- reading ---- */

void sf_recording_get_columns(const sf_recording *recording, sf_recording_columns *columns)
{
    const sf_recording_columns own = {
        .path = recording->path,
        .format = recording->format,
        .unit_count = recording->units.count,
        .units = recording->units.items,
        .spike_count = sf_recording_spike_count(recording),
        .spikes = recording->spikes,
        .marker_count = recording->marker_count,
        .markers = recording->markers,
        .recorded = recording->recorded,
        .declared = recording->declared,
        .sorted = recording->sorted,
        .observed_count = recording->observed_count,
        .observed = recording->observed,
        .duration_ns = sf_recording_duration_ns(recording),
        .tick_ns = recording->tick_ns,
        .metadata_count = recording->metadata_count,
        .metadata = recording->metadata,
        .dropped_count = recording->dropped_count,
        .dropped = recording->dropped,
        .selected = recording->selected,
    };
    sf_columns_fill(columns, &own, sizeof own);
}

int sf_recording_find_unit(const sf_recording *recording, const char *text, uint32_t *unit, sf_error *error)
{
    return sf_units_resolve(&recording->units, text, unit, error);
}
