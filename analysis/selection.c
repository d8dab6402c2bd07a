/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/selection.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/filter.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sf_selection defaults = {.size = sizeof defaults};

void sf_selection_init(void *selection, size_t size)
{
    sf_options_init(selection, size, &defaults, sizeof defaults);
}

int sf_selection_read(sf_selection *own, const sf_selection *given, sf_error *error)
{
    return sf_options_read(own, &defaults, sizeof defaults, given, "selection", error);
}

/* ---- spans of time ---- */

/* Ordered and disjoint. */
typedef struct span_list {
    sf_span *items;
    size_t count, capacity;
} span_list;

static int add_span(span_list *list, sf_span span, sf_error *error)
{
    void *items = list->items;
    if (sf_reserve(&items, &list->capacity, list->count + 1, sizeof *list->items) != 0)
        return sf_fail_memory(error);
    list->items = items;
    list->items[list->count++] = span;
    return SF_OK;
}

/* What is in both lists. */
static int intersect(span_list *both, const sf_span *a, size_t a_count, const sf_span *b, size_t b_count,
                     sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0, j = 0; status == SF_OK && i < a_count && j < b_count;) {
        sf_span common = {a[i].start_ns > b[j].start_ns ? a[i].start_ns : b[j].start_ns,
                          a[i].stop_ns < b[j].stop_ns ? a[i].stop_ns : b[j].stop_ns};
        if (common.start_ns < common.stop_ns)
            status = add_span(both, common, error);
        if (a[i].stop_ns < b[j].stop_ns)
            i++;
        else
            j++;
    }
    return status;
}

/* Asked of ascending times, with *at 0 before the first. */
static bool is_inside(const sf_span *spans, size_t count, size_t *at, int64_t time_ns)
{
    while (*at < count && spans[*at].stop_ns <= time_ns)
        ++*at;
    return *at < count && spans[*at].start_ns <= time_ns;
}

static void keep_markers_in(sf_recording *recording, const sf_span *spans, size_t span_count)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < recording->marker_count; i++)
        if (is_inside(spans, span_count, &at, recording->markers[i].time_ns))
            recording->markers[kept++] = recording->markers[i];
    recording->marker_count = kept;
}

static size_t keep_spikes_in(sf_spike *spikes, size_t count, const sf_span *spans, size_t span_count)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        if (is_inside(spans, span_count, &at, spikes[i].time_ns))
            spikes[kept++] = spikes[i];
    return kept;
}

/* Keeps the spikes and the exposure inside the spans. */
static int restrict_to(sf_recording *recording, const sf_span *spans, size_t count, const char *cause,
                       sf_error *error)
{
    span_list exposure = {0};
    const sf_span *whole = recording->observed_count > 0 ? recording->observed : &recording->recorded;
    size_t whole_count = recording->observed_count > 0 ? recording->observed_count : 1;
    int status = intersect(&exposure, whole, whole_count, spans, count, error);
    if (status != SF_OK) {
        sf_free(exposure.items);
        return status;
    }
    size_t kept = keep_spikes_in(recording->spikes, recording->spike_count, spans, count);
    if (kept < recording->spike_count)
        sf_recording_drop(recording, cause, recording->spike_count - kept)->chosen = true;
    recording->spike_count = kept;
    recording->other_count = keep_spikes_in(recording->others, recording->other_count, spans, count);
    sf_free(recording->observed);
    recording->observed = NULL;
    recording->observed_count = 0;
    recording->recorded.stop_ns = recording->recorded.start_ns;
    if (exposure.count > 0)
        recording->recorded =
            (sf_span){exposure.items[0].start_ns, exposure.items[exposure.count - 1].stop_ns};
    if (exposure.count > 1) {
        recording->observed = exposure.items;
        recording->observed_count = exposure.count;
    } else {
        sf_free(exposure.items);
    }
    return SF_OK;
}

/* ---- duplicates ---- */

static int remove_duplicates(sf_recording *recording, const sf_selection *selection, sf_error *error)
{
    sf_dedup dedup;
    int status = sf_dedup_open(&dedup, &recording->units, selection->dedup_ns, selection->dedup_um, error);
    if (status != SF_OK)
        return status;
    size_t kept = 0;
    for (size_t i = 0; i < recording->spike_count; i++)
        if (sf_dedup_keeps(&dedup, &recording->spikes[i]))
            recording->spikes[kept++] = recording->spikes[i];
    sf_recording_drop(recording, "duplicate", recording->spike_count - kept);
    recording->spike_count = kept;
    sf_dedup_close(&dedup);
    return SF_OK;
}

/* ---- units ---- */

/* A name in double quotes is a name, even `"#3"`. */
static int choose_quoted(const sf_units *units, const char *name, bool *chosen, sf_error *error)
{
    uint32_t unit = sf_units_find(units, name);
    if (unit == SF_NO_UNIT)
        return sf_fail(error, SF_USAGE, "units", "no unit is named \"%s\"", name);
    chosen[unit] = true;
    return SF_OK;
}

/* Marks the units that one field of the list names. */
static int choose(const sf_units *units, char **rest, bool *chosen, sf_error *error)
{
    *rest += strspn(*rest, " \t");
    bool quoted = **rest == '"';
    const char *field = sf_text_field(rest, ',');
    if (quoted)
        return choose_quoted(units, field, chosen, error);
    uint32_t first, last;
    sf_error reason;
    const char *dash = field[0] == '#' ? strstr(field, "-#") : NULL;
    char from[16];
    if (dash != NULL)
        snprintf(from, sizeof from, "%.*s", (int)(dash - field), field);
    if (sf_units_resolve(units, dash != NULL ? from : field, &first, &reason) != SF_OK ||
        sf_units_resolve(units, dash != NULL ? dash + 1 : field, &last, &reason) != SF_OK)
        return sf_fail(error, SF_USAGE, "units", "%s", reason.text);
    if (last < first)
        return sf_fail(error, SF_USAGE, "units", "the range %s ends before it starts", field);
    for (uint32_t unit = first; unit <= last; unit++)
        chosen[unit] = true;
    return SF_OK;
}

/* The chosen ones, by index and name. */
static int tell_units(sf_selected *told, const sf_units *units, const bool *chosen, sf_error *error)
{
    size_t count = 0;
    for (size_t u = 0; u < units->count; u++)
        count += chosen[u];
    uint32_t *indices = sf_resize(NULL, count, sizeof *indices);
    const char **names = sf_alloc(count, sizeof *names);
    told->unit_count = 0; /* names so far */
    told->units = indices;
    told->names = names;
    if (indices == NULL || names == NULL)
        return sf_fail_memory(error);
    for (size_t u = 0; u < units->count; u++) {
        if (!chosen[u])
            continue;
        indices[told->unit_count] = (uint32_t)u;
        names[told->unit_count] = sf_copy_string(units->items[u].name);
        if (names[told->unit_count++] == NULL)
            return sf_fail_memory(error);
    }
    return SF_OK;
}

/* Spikes of units that are not chosen become those of the others; how many stay. */
static int part_units(sf_recording *recording, const bool *chosen, size_t *stay, sf_error *error)
{
    size_t kept = 0, left = 0;
    for (size_t i = 0; i < recording->spike_count; i++)
        left += !chosen[recording->spikes[i].unit];
    sf_spike *others = sf_resize(NULL, left, sizeof *others);
    if (others == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++)
        if (chosen[recording->spikes[i].unit])
            recording->spikes[kept++] = recording->spikes[i];
        else
            others[i - kept] = recording->spikes[i];
    sf_free(recording->others);
    recording->others = others;
    recording->other_count = left;
    *stay = kept;
    return SF_OK;
}

static int keep_units(sf_recording *recording, const char *list, sf_selected *told, sf_error *error)
{
    bool *chosen = sf_alloc(recording->units.count, sizeof *chosen);
    char *copy = chosen != NULL ? sf_copy_string(list) : NULL;
    int status = copy != NULL ? SF_OK : sf_fail_memory(error);
    for (char *rest = copy; status == SF_OK && rest != NULL;)
        status = choose(&recording->units, &rest, chosen, error);
    size_t kept = 0;
    if (status == SF_OK)
        status = part_units(recording, chosen, &kept, error);
    if (status == SF_OK) {
        if (kept < recording->spike_count)
            sf_recording_drop(recording, "unit not selected", recording->spike_count - kept)->chosen = true;
        recording->spike_count = kept;
        status = tell_units(told, &recording->units, chosen, error);
    }
    sf_free(copy);
    sf_free(chosen);
    return status;
}

/* ---- blanking ---- */

static int tell_blanking(sf_selected *told, const sf_selection *selection, sf_error *error)
{
    told->marker = sf_copy_string(selection->blank);
    told->blank_from_ns = selection->blank_from_ns;
    told->blank_to_ns = selection->blank_to_ns;
    return told->marker != NULL ? SF_OK : sf_fail_memory(error);
}

static int blank_markers(sf_recording *recording, const sf_selection *selection, sf_selected *told,
                         sf_error *error)
{
    if (selection->blank_from_ns >= selection->blank_to_ns)
        return sf_fail(error, SF_USAGE, "blank", "found %g to %g ms, expected the first before the second",
                       (double)selection->blank_from_ns * 1e-6, (double)selection->blank_to_ns * 1e-6);
    int status = SF_OK;
    span_list open = {0}; /* what stays */
    int64_t open_from = INT64_MIN;
    size_t found = 0;
    const sf_blank blank = {selection->blank, selection->blank_from_ns, selection->blank_to_ns};
    for (size_t i = 0; status == SF_OK && i < recording->marker_count; i++) {
        sf_span span;
        if (!sf_blank_span(&blank, &recording->markers[i], &span))
            continue;
        found++;
        status = add_span(&open, (sf_span){open_from, span.start_ns}, error); /* nothing where two overlap */
        open_from = span.stop_ns;
    }
    if (status == SF_OK && found == 0)
        status = sf_fail(error, SF_USAGE, "blank", "this recording has no marker '%s' among its %zu",
                         selection->blank, recording->marker_count);
    if (status == SF_OK)
        status = add_span(&open, (sf_span){open_from, INT64_MAX}, error);
    if (status == SF_OK)
        status = restrict_to(recording, open.items, open.count, "blanked", error);
    if (status == SF_OK)
        status = tell_blanking(told, selection, error);
    sf_free(open.items);
    return status;
}

/* ---- epochs ---- */

int sf_epochs_check(const sf_epoch *epochs, size_t count, const char *place, sf_status code, sf_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (epochs[i].span.start_ns >= epochs[i].span.stop_ns)
            return sf_fail(error, code, place, "the epoch that starts at %.9g s is empty",
                           (double)epochs[i].span.start_ns * 1e-9);
    for (size_t i = 1; i < count; i++)
        if (epochs[i].span.start_ns < epochs[i - 1].span.stop_ns)
            return sf_fail(error, code, place, "the epochs that start at %.9g s and %.9g s overlap",
                           (double)epochs[i - 1].span.start_ns * 1e-9,
                           (double)epochs[i].span.start_ns * 1e-9);
    return SF_OK;
}

/* Refuses times of which nothing was recorded, and says when it was; seconds that were meant as ms are seen.
 */
static int refuse_outside(const char *option, int64_t asked_ns, sf_span recorded, sf_error *error)
{
    int64_t thousandth = asked_ns / 1000;
    bool as_ms = thousandth > recorded.start_ns && thousandth < recorded.stop_ns;
    char meant[96] = "";
    if (as_ms)
        snprintf(meant, sizeof meant, ": times are in seconds, and %.9g ms are %.9g s",
                 (double)asked_ns * 1e-9, (double)thousandth * 1e-9);
    return sf_fail(error, SF_USAGE, option, "%.9g s is %s the recording, which is from %.9g to %.9g s%s",
                   (double)asked_ns * 1e-9, asked_ns < recorded.stop_ns ? "before" : "after",
                   (double)recorded.start_ns * 1e-9, (double)recorded.stop_ns * 1e-9, meant);
}

/* The first may overlap the recording as if it were in seconds; all others are beyond it, and as ms all are
 * in it. */
static bool are_in_ms(const span_list *spans, sf_span recorded)
{
    size_t count = spans->count;
    const sf_span *last = &spans->items[count - 1];
    return count > 1 && spans->items[1].start_ns >= recorded.stop_ns &&
           last->stop_ns / 1000 > recorded.start_ns && last->stop_ns / 1000 <= recorded.stop_ns &&
           spans->items[0].start_ns < recorded.stop_ns;
}

static int tell_epochs(sf_selected *told, const sf_selection *selection, sf_error *error)
{
    sf_epoch *epochs = sf_resize(NULL, selection->epoch_count, sizeof *epochs);
    told->epochs_path = selection->epochs_path != NULL ? sf_copy_string(selection->epochs_path) : NULL;
    told->epochs = epochs;
    if (epochs == NULL || (told->epochs_path == NULL) != (selection->epochs_path == NULL))
        return sf_fail_memory(error);
    memcpy(epochs, selection->epochs, selection->epoch_count * sizeof *epochs);
    told->epoch_count = selection->epoch_count;
    return SF_OK;
}

static int keep_epochs(sf_recording *recording, const sf_selection *selection, sf_span recorded,
                       sf_selected *told, sf_error *error)
{
    int status = sf_epochs_check(selection->epochs, selection->epoch_count, "epochs", SF_USAGE, error);
    if (status == SF_OK)
        status = tell_epochs(told, selection, error);
    span_list spans = {0};
    for (size_t i = 0; status == SF_OK && i < selection->epoch_count; i++)
        status = add_span(&spans, selection->epochs[i].span, error);
    if (status == SF_OK && recorded.start_ns < recorded.stop_ns && selection->epoch_count > 0) {
        const sf_span *last = &spans.items[spans.count - 1];
        if (are_in_ms(&spans, recorded))
            status = sf_fail(
                error, SF_USAGE, "epochs",
                "they end at %.9g s, and the recording is from %.9g to %.9g s: times are in seconds, and "
                "these lie in it as ms",
                (double)last->stop_ns * 1e-9, (double)recorded.start_ns * 1e-9,
                (double)recorded.stop_ns * 1e-9);
        else if (spans.items[0].start_ns >= recorded.stop_ns)
            status = refuse_outside("epochs", spans.items[0].start_ns, recorded, error);
        else if (last->stop_ns <= recorded.start_ns)
            status = refuse_outside("epochs", last->stop_ns, recorded, error);
    }
    if (status == SF_OK) {
        keep_markers_in(recording, spans.items, spans.count);
        status = restrict_to(recording, spans.items, spans.count, "outside the epochs", error);
    }
    sf_free(spans.items);
    return status;
}

/* ---- the whole ---- */

/* The time meant in a recording whose first spike is at first_ns; `otherwise` where none was given. */
static int64_t resolve(sf_time_point point, int64_t first_ns, int64_t otherwise)
{
    if (!point.given)
        return otherwise;
    return point.from_first ? sf_time_plus(first_ns, point.ns) : point.ns;
}

static int keep_times(sf_recording *recording, const sf_selection *selection, sf_span recorded,
                      int64_t first_ns, sf_selected *told, sf_error *error)
{
    sf_span span = {resolve(selection->from, first_ns, INT64_MIN),
                    resolve(selection->to, first_ns, INT64_MAX)};
    if (span.start_ns >= span.stop_ns)
        return sf_fail(error, SF_USAGE, "to", "%.9g s is not after --from, %.9g s",
                       (double)span.stop_ns * 1e-9, (double)span.start_ns * 1e-9);
    if (recorded.start_ns < recorded.stop_ns && span.start_ns >= recorded.stop_ns)
        return refuse_outside("from", span.start_ns, recorded, error);
    if (recorded.start_ns < recorded.stop_ns && span.stop_ns <= recorded.start_ns)
        return refuse_outside("to", span.stop_ns, recorded, error);
    if (selection->from.given)
        told->from_ns = span.start_ns;
    if (selection->to.given)
        told->to_ns = span.stop_ns;
    told->from_given |= selection->from.given;
    told->to_given |= selection->to.given;
    keep_markers_in(recording, &span, 1);
    return restrict_to(recording, &span, 1, "outside --from and --to", error);
}

static int cut(sf_recording *recording, const sf_selection *selection, sf_selected *told, sf_error *error)
{
    int64_t first_ns =
        recording->spike_count > 0 ? recording->spikes[0].time_ns : recording->recorded.start_ns;
    const sf_span recorded = recording->recorded; /* before anything is left out */
    int status = SF_OK;
    if (selection->dedup_ns > 0)
        status = remove_duplicates(recording, selection, error);
    if (status == SF_OK && selection->units != NULL)
        status = keep_units(recording, selection->units, told, error);
    if (status == SF_OK && selection->blank != NULL)
        status = blank_markers(recording, selection, told, error);
    if (status == SF_OK && selection->epochs != NULL)
        status = keep_epochs(recording, selection, recorded, told, error);
    if (status == SF_OK && (selection->from.given || selection->to.given))
        status = keep_times(recording, selection, recorded, first_ns, told, error);
    return status;
}

int sf_selection_keep(sf_recording *recording, const sf_selection *selection, sf_error *error)
{
    sf_selected told = {0};
    int status = cut(recording, selection, &told, error);
    sf_selected_free(&told);
    sf_free(recording->others); /* a piece is not all there is */
    recording->others = NULL;
    recording->other_count = 0;
    return status;
}

/* What is known of the recording itself, and how much is left of it. */
static int tell_rest(sf_selected *told, const sf_recording *recording, const sf_selection *selection,
                     sf_error *error)
{
    if (selection->dedup_ns > 0) {
        told->dedup_ns = selection->dedup_ns;
        told->dedup_um = selection->dedup_um;
    }
    told->spikes = told->spikes_in_file = recording->spike_count;
    memcpy(told->dropped, recording->dropped, sizeof told->dropped);
    told->dropped_count = recording->dropped_count;
    for (size_t i = 0; i < told->dropped_count; i++)
        told->spikes_in_file += told->dropped[i].count;
    told->duration_ns = sf_recording_duration_ns(recording);
    told->data = sf_recording_hash(recording);
    if (told->recording == NULL && recording->path != NULL)
        told->recording = sf_copy_string(recording->path);
    if (told->format == NULL && recording->format != NULL)
        told->format = sf_copy_string(recording->format);
    bool whole = (told->recording != NULL) == (recording->path != NULL) &&
                 (told->format != NULL) == (recording->format != NULL);
    return whole ? SF_OK : sf_fail_memory(error);
}

static int tell_stream(sf_selected *told, const sf_selection *selection, sf_error *error)
{
    if (selection->stream == NULL)
        return SF_OK;
    told->stream = sf_copy_string(selection->stream);
    return told->stream != NULL ? SF_OK : sf_fail_memory(error);
}

/* What was chosen before cannot be told beside what is chosen now of the same kind. */
static int check_again(const sf_selected *before, const sf_selection *selection, sf_error *error)
{
    const struct {
        const char *kind;
        bool before, now;
    } kinds[] = {
        {"stream", before->stream != NULL, selection->stream != NULL},
        {"units", before->units != NULL, selection->units != NULL},
        {"epochs", before->epochs != NULL, selection->epochs != NULL},
        {"blank", before->marker != NULL, selection->blank != NULL},
        {"dedup", before->dedup_ns > 0, selection->dedup_ns > 0},
        {"from", before->from_given, selection->from.given},
        {"to", before->to_given, selection->to.given},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].before && kinds[i].now)
            return sf_fail(error, SF_USAGE, kinds[i].kind,
                           "was chosen already when this recording was cut down: choose from the whole one");
    return SF_OK;
}

int sf_selection_apply(sf_recording *recording, const sf_selection *selection, sf_error *error)
{
    if (recording->selected == NULL) {
        recording->selected = sf_alloc(1, sizeof *recording->selected);
        if (recording->selected == NULL)
            return sf_fail_memory(error);
        recording->selected->unit_count = recording->selected->units_in_file = recording->units.count;
    }
    int status = check_again(recording->selected, selection, error);
    if (status == SF_OK)
        status = cut(recording, selection, recording->selected, error);
    if (status == SF_OK)
        status = tell_rest(recording->selected, recording, selection, error);
    if (status == SF_OK)
        status = tell_stream(recording->selected, selection, error);
    return status;
}
