/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/selection.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/filter.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/seconds.h"
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
        if (common.start_ns < common.stop_ns) status = add_span(both, common, error);
        if (a[i].stop_ns < b[j].stop_ns)
            i++;
        else
            j++;
    }
    return status;
}

/* Whether a time is inside a span; call with ascending times, *at initially 0. */
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
        if (is_inside(spans, span_count, &at, spikes[i].time_ns)) spikes[kept++] = spikes[i];
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
        sf_recording_drop(recording, cause, recording->spike_count - kept)->kind = SF_DROP_CHOSEN;
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
    if (status != SF_OK) return status;
    size_t kept = 0;
    for (size_t i = 0; i < recording->spike_count; i++)
        if (sf_dedup_keeps(&dedup, &recording->spikes[i])) recording->spikes[kept++] = recording->spikes[i];
    sf_recording_drop(recording, "duplicate", recording->spike_count - kept);
    recording->spike_count = kept;
    sf_dedup_close(&dedup);
    return SF_OK;
}

/* ---- units ---- */

/* Per unit: whether the list contains it, and whether the list names it individually rather than in a range.
 */
typedef struct choice {
    bool *chosen, *named;
} choice;

/* A name in double quotes is always a name, even `"#3"`. */
static int choose_quoted(const sf_units *units, const char *name, choice *of, sf_error *error)
{
    uint32_t unit = sf_units_find(units, name);
    if (unit == SF_NO_UNIT) return sf_fail(error, SF_USAGE, "units", "no unit is named \"%s\"", name);
    of->chosen[unit] = of->named[unit] = true;
    return SF_OK;
}

/* Marks the units that one field of the list names. */
static int choose(const sf_units *units, char **rest, choice *of, sf_error *error)
{
    *rest += strspn(*rest, " \t");
    bool quoted = **rest == '"';
    const char *field = sf_text_field(rest, ',');
    if (quoted) return choose_quoted(units, field, of, error);
    uint32_t first, last;
    sf_error reason;
    const char *dash = field[0] == '#' ? strstr(field, "-#") : NULL;
    char from[16];
    if (dash != NULL) snprintf(from, sizeof from, "%.*s", (int)(dash - field), field);
    if (sf_units_resolve(units, dash != NULL ? from : field, &first, &reason) != SF_OK ||
        sf_units_resolve(units, dash != NULL ? dash + 1 : field, &last, &reason) != SF_OK)
        return sf_fail(error, SF_USAGE, "units", "%s", reason.text);
    if (last < first) return sf_fail(error, SF_USAGE, "units", "the range %s ends before it starts", field);
    for (uint32_t unit = first; unit <= last; unit++)
        of->chosen[unit] = true;
    of->named[first] = of->named[first] || dash == NULL;
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
    if (indices == NULL || names == NULL) return sf_fail_memory(error);
    for (size_t u = 0; u < units->count; u++) {
        if (!chosen[u]) continue;
        indices[told->unit_count] = (uint32_t)u;
        names[told->unit_count] = sf_copy_string(units->items[u].name);
        if (names[told->unit_count++] == NULL) return sf_fail_memory(error);
    }
    return SF_OK;
}

/* Moves the spikes of units that are not chosen to `others`; *stay is the number of the rest. */
static int part_units(sf_recording *recording, const bool *chosen, size_t *stay, sf_error *error)
{
    size_t kept = 0, left = 0;
    for (size_t i = 0; i < recording->spike_count; i++)
        left += !chosen[recording->spikes[i].unit];
    sf_spike *others = sf_resize(NULL, left, sizeof *others);
    if (others == NULL) return sf_fail_memory(error);
    if (left == 0) /* memory that is not written to stays shared with the process that filled it */
        kept = recording->spike_count;
    for (size_t i = kept; i < recording->spike_count; i++)
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

static int read_list(choice *of, const sf_units *units, const char *list, sf_error *error)
{
    char *copy = sf_copy_string(list);
    int status = copy != NULL ? SF_OK : sf_fail_memory(error);
    for (char *rest = copy; status == SF_OK && rest != NULL;)
        status = choose(units, &rest, of, error);
    sf_free(copy);
    return status;
}

/* ---- kinds ---- */

#define ALL_KINDS                                                                                            \
    (1U << SF_UNIT_UNKNOWN | 1U << SF_UNIT_SORTED | 1U << SF_UNIT_MULTI_UNIT | 1U << SF_UNIT_NOISE)

/* The kinds of a list as bits. */
static int read_kinds(unsigned *kinds, const char *list, sf_error *error)
{
    char *copy = sf_copy_string(list);
    int status = copy != NULL ? SF_OK : sf_fail_memory(error);
    *kinds = 0;
    for (char *rest = copy; status == SF_OK && rest != NULL;) {
        const char *word = sf_text_field(&rest, ',');
        sf_unit_kind kind = SF_UNIT_UNKNOWN;
        if (strcmp(word, "all") == 0)
            *kinds = ALL_KINDS;
        else if (sf_unit_kind_of(word, &kind))
            *kinds |= 1U << kind;
        else
            status = sf_fail(error, SF_USAGE, "kind",
                             "found '%s', expected a list of good, mua, unsorted and noise, or all", word);
    }
    sf_free(copy);
    return status;
}

/* Word for units of this kind in such a list. */
static const char *word_of(sf_unit_kind kind)
{
    static const char *const words[] = {"unsorted", "good", "mua", "noise"};
    return words[kind];
}

static int refuse_kinds(const sf_units *units, const char *asked, sf_error *error)
{
    size_t counts[4] = {0};
    char there[96] = "";
    for (size_t u = 0; u < units->count; u++)
        counts[units->items[u].kind]++;
    for (int k = 0; k < 4; k++)
        if (counts[k] > 0)
            snprintf(there + strlen(there), sizeof there - strlen(there), "%s%zu %s",
                     there[0] != '\0' ? ", " : "", counts[k], word_of((sf_unit_kind)k));
    return sf_fail(error, SF_USAGE, "kind", "no unit is of the kind %s: there are %s", asked, there);
}

/* Removes noise units that were not requested, which are no neurons, before duplicates are searched. */
static void drop_noise(sf_recording *recording, const choice *of, const bool *wanted, bool listed)
{
    const sf_unit *units = recording->units.items;
    size_t kept = 0, labelled = 0, others = 0;
    bool any = false;
    for (size_t u = 0; u < recording->units.count; u++)
        any = any || (units[u].kind == SF_UNIT_NOISE && !wanted[u]);
    if (!any) return;
    for (size_t i = 0; i < recording->spike_count; i++) {
        uint32_t unit = recording->spikes[i].unit;
        if (units[unit].kind != SF_UNIT_NOISE || wanted[unit])
            recording->spikes[kept++] = recording->spikes[i];
        else if (of->chosen[unit])
            labelled++;
        else
            others++;
    }
    recording->spike_count = kept;
    if (labelled > 0) sf_recording_drop(recording, SF_DROP_NOISE, labelled);
    if (others > 0 && listed)
        sf_recording_drop(recording, "unit not selected", others)->kind = SF_DROP_CHOSEN;
}

/* Combines both lists into the units to analyse, `of->chosen`. `wanted` has room for each unit. */
static int choose_kinds(choice *of, bool *wanted, sf_recording *recording, const sf_selection *selection,
                        sf_selected *told, sf_error *error)
{
    const sf_units *units = &recording->units;
    bool by_default = selection->kind == NULL || strcmp(selection->kind, SF_KINDS_ANALYSED) == 0;
    unsigned kinds = ALL_KINDS;
    int status = selection->kind != NULL ? read_kinds(&kinds, selection->kind, error) : SF_OK;
    if (status == SF_OK && selection->units != NULL) status = read_list(of, units, selection->units, error);
    if (status != SF_OK) return status;
    size_t left = 0;
    for (size_t u = 0; u < units->count; u++) {
        sf_unit_kind kind = units->items[u].kind;
        of->chosen[u] = of->chosen[u] || selection->units == NULL;
        wanted[u] = (kinds >> kind & 1) != 0 || (by_default && of->named[u]);
        told->noise_units += kind == SF_UNIT_NOISE && !wanted[u] && of->chosen[u];
        left += wanted[u] && of->chosen[u];
    }
    if (left == 0 && units->count > 0 && selection->kind != NULL)
        return refuse_kinds(units, selection->kind, error);
    drop_noise(recording, of, wanted, selection->units != NULL);
    for (size_t u = 0; u < units->count; u++)
        of->chosen[u] = of->chosen[u] && wanted[u];
    if (selection->units == NULL && left < units->count) told->unit_count = left;
    if (by_default) return SF_OK;
    told->kinds = sf_copy_string(selection->kind);
    return told->kinds != NULL ? SF_OK : sf_fail_memory(error);
}

static int choose_units(choice *of, sf_recording *recording, const sf_selection *selection, sf_selected *told,
                        sf_error *error)
{
    bool *wanted = sf_alloc(recording->units.count, sizeof *wanted);
    int status =
        wanted != NULL ? choose_kinds(of, wanted, recording, selection, told, error) : sf_fail_memory(error);
    sf_free(wanted);
    return status;
}

static int keep_units(sf_recording *recording, const choice *of, const sf_selection *selection,
                      sf_selected *told, sf_error *error)
{
    size_t kept = 0;
    int status = part_units(recording, of->chosen, &kept, error);
    if (status != SF_OK) return status;
    if (kept < recording->spike_count)
        sf_recording_drop(recording,
                          selection->units != NULL ? "unit not selected" : "of other kinds of units",
                          recording->spike_count - kept)
            ->kind = SF_DROP_CHOSEN;
    recording->spike_count = kept;
    return selection->units != NULL ? tell_units(told, &recording->units, of->chosen, error) : SF_OK;
}

/* ---- when it was recorded ---- */

/* Applies the recorded span that the caller declares; observed spans of the file must lie within it. */
static int declare(sf_recording *recording, const sf_selection *selection, sf_error *error)
{
    sf_span said = selection->recorded;
    size_t count = recording->spike_count;
    if (said.start_ns == 0 && said.stop_ns == 0) return SF_OK;
    if (said.start_ns >= said.stop_ns)
        return sf_fail(error, SF_USAGE, "recorded", "ends at %s s, before it starts",
                       sf_seconds_of(said.stop_ns).text);
    if (count > 0 && recording->spikes[count - 1].time_ns == said.stop_ns)
        said.stop_ns++; /* a spike at the very end */
    if (count > 0 && (recording->spikes[0].time_ns < said.start_ns ||
                      recording->spikes[count - 1].time_ns >= said.stop_ns))
        return sf_fail(error, SF_USAGE, "recorded", "found %s to %s s, and there are spikes from %s to %s s",
                       sf_seconds_of(said.start_ns).text, sf_seconds_of(said.stop_ns).text,
                       sf_seconds_of(recording->spikes[0].time_ns).text,
                       sf_seconds_of(recording->spikes[count - 1].time_ns).text);
    sf_recording_clip_observed(recording, said);
    recording->recorded = said;
    recording->declared = true;
    return SF_OK;
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
        if (!sf_blank_span(&blank, &recording->markers[i], &span)) continue;
        found++;
        status = add_span(&open, (sf_span){open_from, span.start_ns}, error); /* nothing where two overlap */
        open_from = span.stop_ns;
    }
    if (status == SF_OK && found == 0)
        status = sf_fail(error, SF_USAGE, "blank", "this recording has no marker '%s' among its %zu",
                         selection->blank, recording->marker_count);
    if (status == SF_OK) status = add_span(&open, (sf_span){open_from, INT64_MAX}, error);
    if (status == SF_OK) status = restrict_to(recording, open.items, open.count, "blanked", error);
    if (status == SF_OK) status = tell_blanking(told, selection, error);
    sf_free(open.items);
    return status;
}

/* ---- epochs ---- */

int sf_epochs_check(const sf_epoch *epochs, size_t count, const char *place, sf_status code, sf_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (epochs[i].span.start_ns >= epochs[i].span.stop_ns)
            return sf_fail(error, code, place, "the epoch that starts at %s s is empty",
                           sf_seconds_of(epochs[i].span.start_ns).text);
    for (size_t i = 1; i < count; i++)
        if (epochs[i].span.start_ns < epochs[i - 1].span.stop_ns)
            return sf_fail(error, code, place, "the epochs that start at %s s and %s s overlap",
                           sf_seconds_of(epochs[i - 1].span.start_ns).text,
                           sf_seconds_of(epochs[i].span.start_ns).text);
    return SF_OK;
}

/* Refuses times outside the recorded span, and states that span; suggests ms if the seconds look like ms. */
static int refuse_outside(const char *option, int64_t asked_ns, sf_span recorded, sf_error *error)
{
    int64_t thousandth = asked_ns / 1000;
    bool as_ms = thousandth > recorded.start_ns && thousandth < recorded.stop_ns;
    char meant[112] = "";
    if (as_ms)
        snprintf(meant, sizeof meant, ": times are in seconds, and %s ms are %s s",
                 sf_seconds_of(asked_ns).text, sf_seconds_of(thousandth).text);
    return sf_fail(error, SF_USAGE, option, "%s s is %s the recording, which is from %s to %s s%s",
                   sf_seconds_of(asked_ns).text, asked_ns < recorded.stop_ns ? "before" : "after",
                   sf_seconds_of(recorded.start_ns).text, sf_seconds_of(recorded.stop_ns).text, meant);
}

/* True if, read as seconds, all spans but the first lie beyond the recording, and read as ms all lie within
 * it. */
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
    if (status == SF_OK) status = tell_epochs(told, selection, error);
    span_list spans = {0};
    for (size_t i = 0; status == SF_OK && i < selection->epoch_count; i++)
        status = add_span(&spans, selection->epochs[i].span, error);
    if (status == SF_OK && recorded.start_ns < recorded.stop_ns && selection->epoch_count > 0) {
        const sf_span *last = &spans.items[spans.count - 1];
        if (are_in_ms(&spans, recorded))
            status =
                sf_fail(error, SF_USAGE, "epochs",
                        "they end at %s s, and the recording is from %s to %s s: times are in seconds, and "
                        "these lie in it as ms",
                        sf_seconds_of(last->stop_ns).text, sf_seconds_of(recorded.start_ns).text,
                        sf_seconds_of(recorded.stop_ns).text);
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

/* Absolute time of a point, for a first spike at first_ns; `otherwise` if none was given. */
static int64_t resolve(sf_time_point point, int64_t first_ns, int64_t otherwise)
{
    if (!point.given) return otherwise;
    return point.from_first ? sf_time_plus(first_ns, point.ns) : point.ns;
}

static int keep_times(sf_recording *recording, const sf_selection *selection, sf_span recorded,
                      int64_t first_ns, sf_selected *told, sf_error *error)
{
    sf_span span = {resolve(selection->from, first_ns, INT64_MIN),
                    resolve(selection->to, first_ns, INT64_MAX)};
    if (span.start_ns >= span.stop_ns)
        return sf_fail(error, SF_USAGE, "to", "%s s is not after --from, %s s",
                       sf_seconds_of(span.stop_ns).text, sf_seconds_of(span.start_ns).text);
    if (recorded.start_ns < recorded.stop_ns && span.start_ns >= recorded.stop_ns)
        return refuse_outside("from", span.start_ns, recorded, error);
    if (recorded.start_ns < recorded.stop_ns && span.stop_ns <= recorded.start_ns)
        return refuse_outside("to", span.stop_ns, recorded, error);
    if (selection->from.given) told->from_ns = span.start_ns;
    if (selection->to.given) told->to_ns = span.stop_ns;
    told->from_given |= selection->from.given;
    told->to_given |= selection->to.given;
    keep_markers_in(recording, &span, 1);
    return restrict_to(recording, &span, 1, "outside --from and --to", error);
}

static int cut_chosen(sf_recording *recording, const sf_selection *selection, choice *of, sf_selected *told,
                      sf_error *error)
{
    int64_t first_ns =
        recording->spike_count > 0 ? recording->spikes[0].time_ns : recording->recorded.start_ns;
    const sf_span recorded = recording->recorded; /* before anything is left out */
    bool limits_units = selection->units != NULL || selection->kind != NULL;
    int status = limits_units ? choose_units(of, recording, selection, told, error) : SF_OK;
    if (status == SF_OK && selection->dedup_ns > 0) status = remove_duplicates(recording, selection, error);
    if (status == SF_OK && limits_units) status = keep_units(recording, of, selection, told, error);
    if (status == SF_OK && selection->blank != NULL)
        status = blank_markers(recording, selection, told, error);
    if (status == SF_OK && selection->epochs != NULL)
        status = keep_epochs(recording, selection, recorded, told, error);
    if (status == SF_OK && (selection->from.given || selection->to.given))
        status = keep_times(recording, selection, recorded, first_ns, told, error);
    return status;
}

static int cut(sf_recording *recording, const sf_selection *selection, sf_selected *told, sf_error *error)
{
    int status = declare(recording, selection, error);
    if (status != SF_OK) return status;
    choice of = {.chosen = sf_alloc(recording->units.count, sizeof(bool)),
                 .named = sf_alloc(recording->units.count, sizeof(bool))};
    status = of.chosen != NULL && of.named != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK &&
        told->recorded.start_ns == told->recorded.stop_ns) { /* of the whole, not of a part */
        told->recorded = recording->recorded;
        told->declared = recording->declared || recording->observed_count > 0;
    }
    if (status == SF_OK) status = cut_chosen(recording, selection, &of, told, error);
    sf_free(of.chosen);
    sf_free(of.named);
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

/* Records the properties of the recording itself, and how much of it is left. */
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
        told->spikes_in_file += told->dropped[i].kind != SF_DROP_LOST ? told->dropped[i].count : 0;
    told->duration_ns = sf_recording_duration_ns(recording);
    told->data = sf_recording_hash(recording);
    if (told->recording == NULL && recording->path != NULL) told->recording = sf_copy_string(recording->path);
    if (told->format == NULL && recording->format != NULL) told->format = sf_copy_string(recording->format);
    bool whole = (told->recording != NULL) == (recording->path != NULL) &&
                 (told->format != NULL) == (recording->format != NULL);
    return whole ? SF_OK : sf_fail_memory(error);
}

static int tell_stream(sf_selected *told, const sf_selection *selection, sf_error *error)
{
    if (selection->stream == NULL) return SF_OK;
    told->stream = sf_copy_string(selection->stream);
    return told->stream != NULL ? SF_OK : sf_fail_memory(error);
}

/* Refuses a second selection of the same kind, because `selected` can describe only one. */
static int check_again(const sf_selected *before, const sf_selection *selection, sf_error *error)
{
    const struct {
        const char *kind;
        bool before, now;
    } kinds[] = {
        {"stream", before->stream != NULL, selection->stream != NULL},
        {"units", before->units != NULL, selection->units != NULL},
        {"kind", before->kinds != NULL, selection->kind != NULL},
        {"recorded", before->declared, selection->recorded.start_ns != selection->recorded.stop_ns},
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
        if (recording->selected == NULL) return sf_fail_memory(error);
        recording->selected->unit_count = recording->selected->units_in_file = recording->units.count;
    }
    int status = check_again(recording->selected, selection, error);
    if (status == SF_OK) status = cut(recording, selection, recording->selected, error);
    if (status == SF_OK) status = tell_rest(recording->selected, recording, selection, error);
    if (status == SF_OK) status = tell_stream(recording->selected, selection, error);
    return status;
}
