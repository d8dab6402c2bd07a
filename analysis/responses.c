/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/responses.h"

#include "analysis/response_test.h"
#include "analysis/unit_times.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/marker.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* ---- windows ---- */

static int64_t length_of(const sf_response_options *options)
{
    return options->to_ns - options->from_ns;
}

int64_t sf_response_window(const sf_response_options *options, const sf_trial *trial, uint64_t window)
{
    return window == 0 ? trial->time_ns + options->from_ns
                       : trial->time_ns - (int64_t)window * length_of(options);
}

double sf_response_rate(uint64_t events, int64_t exposed_ns)
{
    return exposed_ns > 0 ? (double)events / ((double)exposed_ns * 1e-9) : NAN;
}

static int64_t floor_to(int64_t time_ns, int64_t step_ns)
{
    int64_t rest = time_ns % step_ns;
    return time_ns - (rest < 0 ? rest + step_ns : rest);
}

int64_t sf_response_histogram(const sf_response_options *options, size_t *bins)
{
    bool given = options->before_ns != 0 || options->after_ns != 0;
    int64_t from = given ? options->before_ns : -(int64_t)options->baseline * length_of(options);
    int64_t to = given ? options->after_ns : options->to_ns + length_of(options);
    int64_t first = floor_to(from, options->bin_ns);
    *bins = (size_t)((to - first + options->bin_ns - 1) / options->bin_ns);
    return first;
}

/* ---- exposure ---- */

/* Recorded spans, ordered and disjoint. */
typedef struct exposure {
    const sf_span *spans;
    size_t count;
} exposure;

static exposure exposure_of(const sf_recording *recording)
{
    return recording->observed_count > 0 ? (exposure){recording->observed, recording->observed_count}
                                         : (exposure){&recording->recorded, 1};
}

/* Index of the first span that ends after this time. */
static size_t first_after(const exposure *e, int64_t time_ns)
{
    size_t low = 0, high = e->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->spans[middle].stop_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int add_part(sf_responses *r, sf_span part, sf_error *error)
{
    if (sf_reserve(&r->parts, &r->part_room, r->part_count + 1, sizeof *r->parts) != 0)
        return sf_fail_memory(error);
    r->parts[r->part_count++] = part;
    return SF_OK;
}

/* Appends the recorded part of these offsets of a window that begins at `base`. */
static int add_recorded(sf_responses *r, sf_span offsets, int64_t base, const exposure *e, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = first_after(e, base + offsets.start_ns);
         status == SF_OK && i < e->count && e->spans[i].start_ns < base + offsets.stop_ns; i++) {
        int64_t start = e->spans[i].start_ns - base, stop = e->spans[i].stop_ns - base;
        sf_span part = {start > offsets.start_ns ? start : offsets.start_ns,
                        stop < offsets.stop_ns ? stop : offsets.stop_ns};
        if (part.start_ns < part.stop_ns) status = add_part(r, part, error);
    }
    return status;
}

/* Finds the offsets that were recorded in every window of the trial. */
static int expose(sf_responses *r, sf_trial *trial, const exposure *e, sf_error *error)
{
    size_t from = r->part_count;
    int status = add_part(r, (sf_span){0, length_of(&r->options)}, error);
    for (uint64_t w = 0; status == SF_OK && w <= r->options.baseline; w++) {
        size_t to = r->part_count;
        for (size_t i = from; status == SF_OK && i < to; i++)
            status = add_recorded(r, r->parts[i], sf_response_window(&r->options, trial, w), e, error);
        if (status == SF_OK) {
            memmove(r->parts + from, r->parts + to, (r->part_count - to) * sizeof *r->parts);
            r->part_count -= to - from;
        }
    }
    trial->first_part = from;
    trial->parts = r->part_count - from;
    trial->exposed_ns = 0;
    for (size_t i = from; i < r->part_count; i++)
        trial->exposed_ns += r->parts[i].stop_ns - r->parts[i].start_ns;
    return status;
}

/* Adds to each bin the time that was recorded. */
static void expose_bins(sf_responses *r, const sf_trial *trial, const exposure *e)
{
    int64_t bin_ns = r->options.bin_ns, from = trial->time_ns + r->first_ns,
            to = from + (int64_t)r->bin_count * bin_ns;
    for (size_t i = first_after(e, from); i < e->count && e->spans[i].start_ns < to; i++) {
        int64_t start = e->spans[i].start_ns > from ? e->spans[i].start_ns : from,
                stop = e->spans[i].stop_ns < to ? e->spans[i].stop_ns : to;
        while (start < stop) {
            size_t bin = (size_t)((start - from) / bin_ns);
            int64_t end = from + ((int64_t)bin + 1) * bin_ns;
            end = end < stop ? end : stop;
            r->bin_exposed_ns[bin] += end - start;
            start = end;
        }
    }
}

/* ---- trials ---- */

/* Of a marker that has exposure. */
static int add_trial(sf_responses *r, int64_t marker_ns, const exposure *e, sf_error *error)
{
    sf_trial trial = {.time_ns = marker_ns};
    r->markers++;
    if (sf_reserve(&r->trials, &r->trial_room, r->trial_count + 1, sizeof *r->trials) != 0)
        return sf_fail_memory(error);
    int status = expose(r, &trial, e, error);
    if (status != SF_OK || trial.exposed_ns == 0) return status;
    expose_bins(r, &trial, e);
    r->exposed_ns += trial.exposed_ns;
    r->trials[r->trial_count++] = trial;
    return SF_OK;
}

static int find_trials(sf_responses *r, const sf_recording *recording, sf_error *error)
{
    const exposure e = exposure_of(recording);
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < recording->marker_count; i++)
        if (sf_marker_is(&recording->markers[i], r->options.marker))
            status = add_trial(r, recording->markers[i].time_ns, &e, error);
    if (status == SF_OK && r->markers == 0)
        return sf_marker_fail_unknown(recording->markers, recording->marker_count, r->options.marker, error);
    if (status == SF_OK && r->trial_count == 0)
        return sf_fail(
            error, SF_DATA, NULL,
            "no window around any of %zu marker%s '%s' was recorded: blanked, or outside of what is "
            "looked at",
            r->markers, r->markers == 1 ? "" : "s", r->options.marker);
    return status;
}

static void look_at_intervals(sf_responses *r)
{
    double mean = 0, squares = 0;
    for (size_t t = 1; t < r->trial_count; t++) {
        double interval = (double)(r->trials[t].time_ns - r->trials[t - 1].time_ns), before = interval - mean;
        mean += before / (double)t;
        squares += before * (interval - mean);
        r->overlapping += sf_response_window(&r->options, &r->trials[t], r->options.baseline) <
                          r->trials[t - 1].time_ns + r->options.to_ns;
    }
    bool few = r->trial_count < 3;
    r->interval_s = r->trial_count < 2 ? NAN : mean * 1e-9;
    r->interval_cv = few || mean <= 0 ? NAN : sqrt(squares / (double)(r->trial_count - 2)) / mean;
}

static int open_empty(sf_responses *r, const sf_response_options *options, sf_error *error)
{
    *r = (sf_responses){.options = *options};
    r->first_ns = sf_response_histogram(options, &r->bin_count);
    r->bin_exposed_ns = sf_alloc(r->bin_count, sizeof *r->bin_exposed_ns);
    return r->bin_exposed_ns != NULL ? SF_OK : sf_fail_memory(error);
}

int sf_responses_open(sf_responses *r, const sf_recording *recording, const sf_response_options *options,
                      sf_error *error)
{
    int status = open_empty(r, options, error);
    if (status == SF_OK) status = find_trials(r, recording, error);
    if (status == SF_OK) look_at_intervals(r);
    return status;
}

/* ---- one train ---- */

/* Index of the first event at or after a time, searching from `low`, before which all events are earlier. */
static size_t seek(const sf_event_train *train, size_t low, int64_t time_ns)
{
    size_t high = train->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (train->times_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts the events of each window at exposed offsets; firsts_ns[w] is the offset of the first, if any. One
 * pass over the events, from the earliest window to the response. */
static void count_windows(const sf_responses *r, const sf_trial *trial, const sf_event_train *train,
                          uint64_t *counts, int64_t *firsts_ns)
{
    size_t at = 0;
    for (uint64_t w = r->options.baseline + 1; w-- > 0;) {
        int64_t base = sf_response_window(&r->options, trial, w);
        counts[w] = 0;
        for (size_t i = 0; i < trial->parts; i++) {
            const sf_span *part = &r->parts[trial->first_part + i];
            if (at < train->count && train->times_ns[at] < base + part->start_ns)
                at = seek(train, at, base + part->start_ns);
            size_t from = at;
            while (at < train->count && train->times_ns[at] < base + part->stop_ns)
                at++;
            if (counts[w] == 0 && at > from) firsts_ns[w] = train->times_ns[from] - base;
            counts[w] += at - from;
        }
    }
}

static void count_bins(const sf_responses *r, const sf_trial *trial, const sf_event_train *train,
                       uint64_t *bins)
{
    int64_t from = trial->time_ns + r->first_ns, to = from + (int64_t)r->bin_count * r->options.bin_ns;
    for (size_t i = seek(train, 0, from); i < train->count && train->times_ns[i] < to; i++)
        bins[(train->times_ns[i] - from) / r->options.bin_ns]++;
}

/* Running median of offsets: two heaps, the lower half with its maximum on top, and the upper half with its
 * minimum on top (negated, so that both heaps are alike); the lower half may have one more. */
typedef struct heap {
    int64_t *items;
    size_t count, room;
} heap;

typedef struct offsets {
    heap lower, upper;
    double mean, squares; /* Welford's running mean and sum of squared differences (1962) */
} offsets;

/* What is known of one train so far. */
struct sf_response_room {
    offsets after, before; /* first events of the response window; of the windows before the marker */
};

static int push(heap *h, int64_t item, sf_error *error)
{
    if (sf_reserve(&h->items, &h->room, h->count + 1, sizeof *h->items) != 0) return sf_fail_memory(error);
    size_t at = h->count++;
    for (; at > 0 && h->items[(at - 1) / 2] < item; at = (at - 1) / 2)
        h->items[at] = h->items[(at - 1) / 2];
    h->items[at] = item;
    return SF_OK;
}

/* Takes the top off and puts `item` in. */
static int64_t exchange(heap *h, int64_t item)
{
    int64_t top = h->items[0];
    size_t at = 0;
    for (size_t next = 1; next < h->count; next = 2 * at + 1) {
        next += next + 1 < h->count && h->items[next + 1] > h->items[next];
        if (h->items[next] <= item) break;
        h->items[at] = h->items[next];
        at = next;
    }
    h->items[at] = item;
    return top;
}

static int add_offset(offsets *to, int64_t offset_ns, sf_error *error)
{
    double before = (double)offset_ns - to->mean;
    to->mean += before / (double)(to->lower.count + to->upper.count + 1);
    to->squares += before * ((double)offset_ns - to->mean);
    if (to->lower.count > to->upper.count) {
        if (to->lower.items[0] > offset_ns) offset_ns = exchange(&to->lower, offset_ns);
        return push(&to->upper, -offset_ns, error);
    }
    if (to->upper.count > 0 && -to->upper.items[0] < offset_ns) offset_ns = -exchange(&to->upper, -offset_ns);
    return push(&to->lower, offset_ns, error);
}

/* Offsets in the response window are relative to its start; adding `from` makes them relative to the marker.
 */
static void describe(const offsets *of, int64_t from_ns, double *median_ns, double *spread_ns)
{
    size_t count = of->lower.count + of->upper.count;
    int64_t low = count > 0 ? of->lower.items[0] : 0,
            high = count % 2 == 0 && count > 0 ? -of->upper.items[0] : low;
    *median_ns = count == 0 ? NAN : (double)(low + high) / 2 + (double)from_ns;
    *spread_ns = count < 2 ? NAN : sqrt(of->squares / (double)(count - 1));
}

static void forget_offsets(offsets *of)
{
    of->lower.count = of->upper.count = 0;
    of->mean = of->squares = 0;
}

static void free_room(sf_response_room *room)
{
    sf_free(room->after.lower.items);
    sf_free(room->after.upper.items);
    sf_free(room->before.lower.items);
    sf_free(room->before.upper.items);
}

/* Counts the windows of a trial; *counts has room for each. */
static int take_trial(const sf_responses *r, sf_trial *trial, const sf_event_train *train, sf_response *item,
                      sf_response_room *room, uint64_t *counts, sf_error *error)
{
    int status = SF_OK;
    int64_t firsts_ns[SF_MOST_BASELINE + 1];
    count_windows(r, trial, train, counts, firsts_ns);
    for (uint64_t w = 0; status == SF_OK && w <= r->options.baseline; w++) {
        uint64_t count = counts[w];
        *(w == 0 ? &item->spikes : &item->spikes_before) += count;
        *(w == 0 ? &trial->spikes : &trial->spikes_before) += count;
        if (count == 0) continue;
        *(w == 0 ? &item->answers : &item->answers_before) += 1;
        if (w == 0 || r->rooms == NULL)
            status = add_offset(w == 0 ? &room->after : &room->before, firsts_ns[w], error);
    }
    trial->answers += counts[0] > 0;
    return status;
}

static void describe_item(const sf_responses *r, sf_response *item, const sf_response_room *room)
{
    int64_t from_ns = r->options.from_ns;
    describe(&room->after, from_ns, &item->latency_ns, &item->jitter_ns);
    describe(&room->before, from_ns, &item->latency_before_ns, &item->jitter_before_ns);
}

static int take_train(sf_responses *r, size_t i, const sf_event_train *train, sf_response_room *room,
                      uint64_t *counts, sf_response_rows *rows, sf_error *error)
{
    sf_response *item = &r->items[i];
    forget_offsets(&room->after);
    forget_offsets(&room->before);
    int status = sf_response_rows_begin(rows, error);
    for (size_t t = 0; status == SF_OK && t < r->trial_count; t++) {
        status = take_trial(r, &r->trials[t], train, item, room, counts, error);
        if (status == SF_OK) status = sf_response_rows_add(rows, (uint32_t)t, counts, error);
        count_bins(r, &r->trials[t], train, r->histogram + i * r->bin_count);
    }
    describe_item(r, item, room);
    return status;
}

/* ---- all trains ---- */

static int test(sf_responses *r, sf_response_rows *rows, unsigned threads, sf_error *error)
{
    sf_response_tested *tested = sf_alloc(r->item_count, sizeof *tested);
    int status = tested == NULL
                     ? sf_fail_memory(error)
                     : sf_response_test(tested, &r->longest_block, &r->least_p, rows, r->trial_count,
                                        r->options.permutations, r->options.seed, threads, error);
    for (size_t i = 0; status == SF_OK && i < r->item_count; i++) {
        r->items[i].p = tested[i].p;
        r->items[i].q = tested[i].q;
    }
    sf_free(tested);
    return status;
}

static int open_items(sf_responses *r, size_t count, sf_error *error)
{
    r->item_count = count;
    r->items = sf_alloc(count, sizeof *r->items);
    r->histogram = sf_alloc(count * r->bin_count, sizeof *r->histogram);
    return r->items != NULL && r->histogram != NULL ? SF_OK : sf_fail_memory(error);
}

int sf_responses_take(sf_responses *r, const sf_event_train *trains, size_t count, unsigned threads,
                      sf_error *error)
{
    size_t windows = (size_t)r->options.baseline + 1;
    sf_response_rows rows = {.windows = windows};
    sf_response_room room = {0};
    uint64_t *counts = sf_alloc(windows, sizeof *counts);
    int status = counts == NULL ? sf_fail_memory(error) : open_items(r, count, error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        status = take_train(r, i, &trains[i], &room, counts, &rows, error);
    if (status == SF_OK) status = test(r, &rows, threads, error);
    sf_response_rows_free(&rows);
    free_room(&room);
    sf_free(counts);
    return status;
}

int sf_responses_take_units(sf_responses *r, const sf_recording *recording, unsigned threads, sf_error *error)
{
    size_t count = recording->units.count;
    sf_unit_times times = {0};
    sf_event_train *trains = sf_alloc(count, sizeof *trains);
    int status = trains == NULL ? sf_fail_memory(error) : sf_unit_times_take(&times, recording, error);
    for (size_t u = 0; status == SF_OK && u < count; u++)
        trains[u] = (sf_event_train){times.times_ns + times.first[u], times.first[u + 1] - times.first[u]};
    if (status == SF_OK) status = sf_responses_take(r, trains, count, threads, error);
    sf_unit_times_free(&times);
    sf_free(trains);
    return status;
}

/* ---- trial by trial ---- */

int sf_responses_begin(sf_responses *r, const sf_response_options *options, size_t count, sf_error *error)
{
    int status = open_empty(r, options, error);
    if (status == SF_OK) status = open_items(r, count, error);
    r->rooms = sf_alloc(count, sizeof *r->rooms);
    r->counts = sf_alloc((size_t)options->baseline + 1, sizeof *r->counts);
    return status == SF_OK && (r->rooms == NULL || r->counts == NULL) ? sf_fail_memory(error) : status;
}

int sf_responses_add(sf_responses *r, int64_t marker_ns, const sf_span *recorded, size_t count,
                     const sf_event_train *trains, sf_error *error)
{
    const exposure e = {recorded, count};
    size_t before = r->trial_count;
    int status = add_trial(r, marker_ns, &e, error);
    if (status != SF_OK || r->trial_count == before) return status;
    sf_trial *trial = &r->trials[before];
    for (size_t i = 0; status == SF_OK && i < r->item_count; i++) {
        status = take_trial(r, trial, &trains[i], &r->items[i], &r->rooms[i], r->counts, error);
        count_bins(r, trial, &trains[i], r->histogram + i * r->bin_count);
    }
    return status;
}

void sf_responses_describe(sf_responses *r)
{
    for (size_t i = 0; i < r->item_count; i++)
        describe_item(r, &r->items[i], &r->rooms[i]);
}

void sf_responses_free(sf_responses *r)
{
    sf_free(r->trials);
    sf_free(r->parts);
    sf_free(r->bin_exposed_ns);
    sf_free(r->items);
    sf_free(r->histogram);
    for (size_t i = 0; r->rooms != NULL && i < r->item_count; i++)
        free_room(&r->rooms[i]);
    sf_free(r->rooms);
    sf_free(r->counts);
    *r = (sf_responses){0};
}
