/* SPDX-License-Identifier: Apache-2.0 */
#include "core/recording.h"

#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/seconds.h"
#include "core/thread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_pieces(sf_pieces *pieces)
{
    if (pieces == NULL) return;
    if (pieces->close != NULL) pieces->close(pieces);
    sf_free(pieces->unit_spikes);
    sf_free(pieces->own_spikes);
    sf_free(pieces);
}

/* What a part shares with the whole. */
static void free_own(sf_recording *recording)
{
    sf_free(recording->path);
    sf_free(recording->format);
    sf_units_free(&recording->units);
    if (!recording->is_mapped) {
        sf_free(recording->spikes);
        sf_free(recording->markers);
    }
    sf_free(recording->others);
    if (recording->mapping != NULL) recording->unmap(recording->mapping, recording->mapped_bytes);
    for (size_t i = 0; i < recording->metadata_count; i++) {
        sf_free((char *)recording->metadata[i].key);
        sf_free((char *)recording->metadata[i].value);
    }
    sf_free(recording->metadata);
    free_pieces(recording->pieces);
}

size_t sf_recording_spike_count(const sf_recording *recording)
{
    return recording->pieces != NULL ? recording->pieces->spike_count : recording->spike_count;
}

int sf_recording_check_held(const sf_recording *recording, sf_error *error)
{
    if (recording->pieces == NULL) return SF_OK;
    return sf_fail(error, SF_USAGE, "memory",
                   "this needs all spikes at once, and the recording was opened to be read in pieces");
}

void sf_recording_clear(sf_recording *recording)
{
    if (!recording->borrowed) free_own(recording);
    sf_free(recording->observed);
    if (recording->selected != NULL) sf_selected_free(recording->selected);
    sf_free(recording->selected);
    *recording = (sf_recording){0};
}

static int copy_rest(sf_recording *to, const sf_recording *from, sf_error *error)
{
    to->path = from->path != NULL ? sf_copy_string(from->path) : NULL;
    to->format = from->format != NULL ? sf_copy_string(from->format) : NULL;
    to->selected = from->selected != NULL ? sf_alloc(1, sizeof *to->selected) : NULL;
    if ((to->path == NULL) != (from->path == NULL) || (to->format == NULL) != (from->format == NULL) ||
        (to->selected == NULL) != (from->selected == NULL))
        return sf_fail_memory(error);
    int status = to->selected != NULL ? sf_selected_copy(to->selected, from->selected, error) : SF_OK;
    for (size_t i = 0; status == SF_OK && i < from->metadata_count; i++)
        status = sf_recording_set_metadata(to, from->metadata[i].key, from->metadata[i].value, error);
    return status == SF_OK ? sf_units_copy(&to->units, &from->units, error) : status;
}

int sf_recording_copy(sf_recording *to, const sf_recording *from, sf_error *error)
{
    *to = (sf_recording){.spike_count = from->spike_count,
                         .other_count = from->other_count,
                         .marker_count = from->marker_count,
                         .recorded = from->recorded,
                         .declared = from->declared,
                         .sorted = from->sorted,
                         .tick_ns = from->tick_ns,
                         .observed_count = from->observed_count,
                         .dropped_count = from->dropped_count};
    memcpy(to->dropped, from->dropped, sizeof to->dropped);
    to->spikes = sf_resize(NULL, from->spike_count, sizeof *to->spikes);
    to->others = from->others != NULL ? sf_resize(NULL, from->other_count, sizeof *to->others) : NULL;
    to->markers = sf_resize(NULL, from->marker_count, sizeof *to->markers);
    to->observed = sf_resize(NULL, from->observed_count, sizeof *to->observed);
    int status = to->spikes != NULL && (to->others == NULL) == (from->others == NULL) &&
                         to->markers != NULL && to->observed != NULL
                     ? copy_rest(to, from, error)
                     : sf_fail_memory(error);
    if (status != SF_OK) {
        sf_recording_clear(to);
        return status;
    }
    memcpy(to->spikes, from->spikes, from->spike_count * sizeof *to->spikes);
    if (from->other_count > 0) memcpy(to->others, from->others, from->other_count * sizeof *to->others);
    if (from->marker_count > 0) memcpy(to->markers, from->markers, from->marker_count * sizeof *to->markers);
    if (from->observed_count > 0)
        memcpy(to->observed, from->observed, from->observed_count * sizeof *to->observed);
    return SF_OK;
}

static sf_metadata_entry *find_entry(const sf_recording *recording, const char *key)
{
    for (size_t i = 0; i < recording->metadata_count; i++)
        if (strcmp(recording->metadata[i].key, key) == 0) return &recording->metadata[i];
    return NULL;
}

const char *sf_recording_metadata(const sf_recording *recording, const char *key)
{
    const sf_metadata_entry *entry = find_entry(recording, key);
    return entry != NULL ? entry->value : NULL;
}

int sf_recording_set_metadata(sf_recording *recording, const char *key, const char *value, sf_error *error)
{
    char *copy = sf_copy_string(value);
    if (copy == NULL) return sf_fail_memory(error);
    sf_metadata_entry *entry = find_entry(recording, key);
    if (entry != NULL) {
        sf_free((char *)entry->value);
        entry->value = copy;
        return SF_OK;
    }
    if (recording->metadata_count == SF_MOST_METADATA) {
        sf_free(copy);
        return sf_fail(error, SF_DATA, recording->path,
                       "holds more than %d entries of metadata, expected fewer", SF_MOST_METADATA);
    }
    sf_metadata_entry *grown =
        sf_resize(recording->metadata, recording->metadata_count + 1, sizeof *recording->metadata);
    if (grown != NULL) recording->metadata = grown;
    char *key_copy = grown != NULL ? sf_copy_string(key) : NULL;
    if (key_copy == NULL) {
        sf_free(copy);
        return sf_fail_memory(error);
    }
    grown[recording->metadata_count++] = (sf_metadata_entry){.key = key_copy, .value = copy};
    return SF_OK;
}

sf_drop *sf_drops_add(sf_drop drops[SF_DROP_CAUSES], size_t *drop_count, const char *cause, uint64_t count)
{
    size_t i = 0;
    while (i < *drop_count && strcmp(drops[i].cause, cause) != 0)
        i++;
    if (i == SF_DROP_CAUSES) i = SF_DROP_CAUSES - 1;
    if (i == *drop_count) {
        drops[i] = (sf_drop){0};
        snprintf(drops[i].cause, sizeof drops[i].cause, "%s", cause);
        ++*drop_count;
    }
    drops[i].count += count;
    return &drops[i];
}

sf_drop *sf_recording_drop(sf_recording *recording, const char *cause, uint64_t count)
{
    return sf_drops_add(recording->dropped, &recording->dropped_count, cause, count);
}

int64_t sf_recording_duration_ns(const sf_recording *recording)
{
    if (recording->observed_count == 0) return recording->recorded.stop_ns - recording->recorded.start_ns;
    int64_t total = 0;
    for (size_t i = 0; i < recording->observed_count; i++)
        total += recording->observed[i].stop_ns - recording->observed[i].start_ns;
    return total;
}

size_t sf_spikes_lower_bound(const sf_spike *spikes, size_t count, int64_t time_ns)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spikes[middle].time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int compare_markers(const void *a, const void *b)
{
    const sf_marker *left = a, *right = b;
    return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static bool fits(sf_span span)
{
    return span.start_ns > -SF_TIME_LIMIT_NS && span.stop_ns < SF_TIME_LIMIT_NS;
}

/* Spikes and markers are in order. */
static int check_times(const sf_recording *recording, sf_error *error)
{
    size_t spikes = recording->spike_count, markers = recording->marker_count,
           observed = recording->observed_count;
    const sf_span none = {0};
    sf_span spans[] = {
        recording->declared ? recording->recorded : none,
        spikes > 0 ? (sf_span){recording->spikes[0].time_ns, recording->spikes[spikes - 1].time_ns} : none,
        markers > 0 ? (sf_span){recording->markers[0].time_ns, recording->markers[markers - 1].time_ns}
                    : none,
        observed > 0 ? (sf_span){recording->observed[0].start_ns, recording->observed[observed - 1].stop_ns}
                     : none,
    };
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        if (!fits(spans[i]))
            return sf_fail(error, SF_DATA, recording->path,
                           "damaged: times reach from %g s to %g s, beyond 146 years",
                           (double)spans[i].start_ns * 1e-9, (double)spans[i].stop_ns * 1e-9);
    return SF_OK;
}

#define TOLD_BEYOND_NS 1000000 /* less may be the length of a sample, or rounding */

/* Where the file says how long was recorded and has spikes beyond that, these were recorded too; where all
 * lie beyond it, what it says is of something else. */
static int widen_recorded(sf_recording *recording, sf_span spikes, sf_error *error)
{
    sf_span *recorded = &recording->recorded, said = *recorded;
    bool beside = recording->path != NULL && /* what a program says stands */
                  (spikes.stop_ns <= said.start_ns || spikes.start_ns >= said.stop_ns);
    bool was_declared = recording->declared;
    if (was_declared ? beside : said.start_ns == said.stop_ns) {
        *recorded = spikes;
        recording->declared = false;
    }
    if (recorded->start_ns > spikes.start_ns) recorded->start_ns = spikes.start_ns;
    if (recorded->stop_ns < spikes.stop_ns) recorded->stop_ns = spikes.stop_ns;
    if (!was_declared || recording->path == NULL ||
        (said.start_ns - recorded->start_ns < TOLD_BEYOND_NS &&
         recorded->stop_ns - said.stop_ns < TOLD_BEYOND_NS))
        return SF_OK;
    char told[256];
    snprintf(told, sizeof told, "%s to %s s by the file, whose spikes lie from %s to %s s: %s",
             sf_seconds_of(said.start_ns).text, sf_seconds_of(said.stop_ns).text,
             sf_seconds_of(spikes.start_ns).text, sf_seconds_of(spikes.stop_ns - 1).text,
             recording->declared ? "it is taken to be as long" : "it is not believed");
    return sf_recording_set_metadata(recording, "recorded", told, error);
}

void sf_recording_clip_observed(sf_recording *recording, sf_span within)
{
    size_t kept = 0;
    for (size_t i = 0; i < recording->observed_count; i++) {
        sf_span span = recording->observed[i];
        span.start_ns = span.start_ns > within.start_ns ? span.start_ns : within.start_ns;
        span.stop_ns = span.stop_ns < within.stop_ns ? span.stop_ns : within.stop_ns;
        if (span.start_ns < span.stop_ns) recording->observed[kept++] = span;
    }
    recording->observed_count = kept;
}

static int put_in_place(void *context, const sf_spike *ordered, size_t first, size_t count)
{
    sf_spike *to = context;
    memcpy(to + first, ordered, count * sizeof *to);
    return SF_OK;
}

/* Spikes that are mapped were put in order by who left them there. */
static int order_spikes(sf_recording *recording, sf_error *error)
{
    size_t count = recording->spike_count;
    if (sf_spikes_are_sorted(recording->spikes, count)) return SF_OK;
    if (recording->is_mapped || count < SF_SPIKES_FOR_THREADS)
        return sf_spikes_sort(recording->spikes, count, error);
    sf_spike *ordered = sf_resize(NULL, count, sizeof *ordered);
    if (ordered == NULL || sf_spikes_order(recording->spikes, count, put_in_place, ordered) != SF_OK) {
        sf_free(ordered);
        return sf_fail_memory(error);
    }
    sf_free(recording->spikes);
    recording->spikes = ordered;
    return SF_OK;
}

int sf_recording_finish(sf_recording *recording, sf_error *error)
{
    int status = sf_units_finish(&recording->units, error);
    if (status == SF_OK && recording->spike_count > 0) status = order_spikes(recording, error);
    if (status != SF_OK) return status;
    if (recording->marker_count > 0)
        qsort(recording->markers, recording->marker_count, sizeof *recording->markers, compare_markers);
    status = check_times(recording, error);
    if (status != SF_OK) return status;
    if (recording->spike_count == 0) return SF_OK;
    sf_span spikes = {recording->spikes[0].time_ns,
                      recording->spikes[recording->spike_count - 1].time_ns + 1};
    status = widen_recorded(recording, spikes, error);
    if (status != SF_OK) return status;
    if (recording->tick_ns > 0 ||
        recording->is_part) /* as the file says; a part does not tell that of the whole */
        return SF_OK;
    sf_tick tick = {0};
    for (size_t i = 1; i < recording->spike_count; i++)
        sf_tick_add(&tick, recording->spikes[i].time_ns - recording->spikes[i - 1].time_ns);
    recording->tick_ns = sf_tick_find(&tick);
    return SF_OK;
}

typedef struct digest_parts {
    const sf_recording *recording;
    sf_digest parts[SF_SPIKE_PARTS];
} digest_parts;

static int digest_part(void *context, unsigned worker, size_t part)
{
    (void)worker;
    digest_parts *d = context;
    size_t count = d->recording->spike_count, end = sf_spikes_part(count, part + 1);
    sf_digest own = SF_DIGEST_EMPTY;
    for (size_t i = sf_spikes_part(count, part); i < end; i++)
        sf_spikes_digest(&own, &d->recording->spikes[i], i > 0);
    d->parts[part] = own;
    return 0;
}

static sf_digest digest_of_spikes(const sf_recording *recording)
{
    digest_parts d = {.recording = recording};
    size_t parts = sf_spikes_parts(recording->spike_count);
    sf_parallel_for(sf_spikes_threads(recording->spike_count), parts, digest_part, &d);
    sf_digest all = SF_DIGEST_EMPTY;
    for (size_t i = 0; i < parts; i++)
        all = sf_digest_join(all, d.parts[i]);
    return all;
}

uint64_t sf_recording_hash(const sf_recording *recording)
{
    uint64_t hash = SF_HASH_START;
    for (size_t u = 0; u < recording->units.count; u++)
        hash =
            sf_hash_bytes(hash, recording->units.items[u].name, strlen(recording->units.items[u].name) + 1);
    sf_digest digest = recording->pieces != NULL ? recording->pieces->digest : SF_DIGEST_EMPTY;
    digest = sf_digest_join(digest, digest_of_spikes(recording));
    return sf_hash_integer(hash, digest.value);
}

void sf_spikes_digest(sf_digest *digest, const sf_spike *spike, bool follows)
{
    sf_digest_add(digest, follows ? (uint64_t)(spike->time_ns - spike[-1].time_ns) : 0);
    sf_digest_add(digest, (uint64_t)spike->unit + 1);
}

void sf_tick_add(sf_tick *tick, int64_t step_ns)
{
    uint32_t at = tick->count;
    if (step_ns <= 0 || (at == SF_TICK_STEPS && step_ns >= tick->steps[at - 1])) return;
    while (at > 0 && tick->steps[at - 1] > step_ns)
        at--;
    if (at > 0 && tick->steps[at - 1] == step_ns) return;
    tick->count += tick->count < SF_TICK_STEPS;
    memmove(&tick->steps[at + 1], &tick->steps[at], (tick->count - 1 - at) * sizeof *tick->steps);
    tick->steps[at] = step_ns;
}

static int64_t common_divisor(const sf_tick *tick)
{
    int64_t found = 0;
    for (uint32_t i = 0; i < tick->count; i++)
        for (int64_t next = tick->steps[i], rest; next != 0; next = rest) {
            rest = found % next;
            found = next;
        }
    return found;
}

/* So many steps that lie by chance within a sixteenth of multiples of one length are one in 8^7 lengths. */
#define ENOUGH_STEPS 8
#define MOST_PARTS 4096          /* of the smallest step */
#define SINCE_1970_NS 500.0      /* the steps between times that are doubles of seconds since 1970 */
#define FINER_THAN_A_CLOCK_NS 10 /* as is what was drawn, and no clock stamped */

/* *length, which is a first guess of it, becomes the length of which all steps are multiples, as far as times
 * are rounded to `grid_ns`. */
static bool fits_all(double *length, const sf_tick *tick, double grid_ns)
{
    double products = 0, squares = 0;
    for (uint32_t i = 0; i < tick->count;
         i++) { /* each step makes it more exact for the next, which is longer */
        double step = (double)tick->steps[i], times = round(step / *length);
        if (fabs(step - times * *length) > *length / 4) return false;
        products += times * step;
        squares += times * times;
        *length = products / squares;
    }
    double rounding = fmin(*length / 16, fmax(1.5 * grid_ns, SINCE_1970_NS));
    for (uint32_t i = 0; i < tick->count; i++) {
        double step = (double)tick->steps[i];
        if (fabs(step - round(step / *length) * *length) > rounding) return false;
    }
    return true;
}

int64_t sf_tick_find(const sf_tick *tick)
{
    int64_t found = common_divisor(tick);
    bool fits = false;
    for (int parts = 1; parts <= MOST_PARTS && tick->count >= ENOUGH_STEPS && !fits; parts++) {
        double length = (double)tick->steps[0] / parts;
        fits = fits_all(&length, tick, (double)found);
        if (fits) found = llround(length);
    }
    return found < FINER_THAN_A_CLOCK_NS ? 0 : found;
}
