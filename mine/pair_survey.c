/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/pair_survey.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/reals.h"
#include "core/thread.h"
#include "core/vector.h"
#include "mine/surrogate_scatter.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS UINT64_C(40000000)

#define SEEN_TWICE_NS (SF_MILLISECOND / 2)

enum { MOST_STOPS = SF_MOST_STOPS, LEAST_STOPS = 12 };

/* What a pair of units counts over the segments. */
typedef struct cell {
    uint64_t shifted;          /* times the weight of all stops */
    uint64_t variance;         /* times the square of it */
    uint64_t here, far;        /* as recorded; moved by three widths, to both sides together */
    uint64_t near;             /* pairs of spikes within the delay, as recorded */
    uint32_t together, beside; /* spikes up to half a millisecond apart; up to 1.5 ms */
} cell;

/* Spikes, for bounds that ascend: low <= time < high. */
typedef struct sliding {
    size_t first, last;
} sliding;

/* A pair's count at all stops: where the last occurrence ended, and how many there are. */
typedef struct lane {
    int64_t last[MOST_STOPS];
    int64_t counts[MOST_STOPS];
} lane;

/* What a worker needs of each pair. */
typedef struct scratch {
    cell *cells;
    int64_t *last; /* where the last occurrence ended */
    uint32_t *counts;
    /* Of a segment: by spike the spikes that may precede it at any stop, and the spikes by unit. */
    sliding *windows;
    size_t *by_unit, *unit_first;
    size_t length; /* room */
    lane *lanes;   /* of pairs with one second unit: [first unit][stop] */
} scratch;

typedef struct survey {
    const sf_survey_job *job;
    const int64_t *times; /* of sf_survey_spikes, as these: */
    const uint8_t *slots;
    size_t count, units, cells;
    size_t *begins; /* of segments: places of first spikes, and the count */
    size_t segments;
    size_t stride; /* only the first of this many spikes of a segment is looked at */
    /* Where the second train is moved to, and what weight that has. */
    int64_t by_ns[MOST_STOPS], weights[MOST_STOPS];
    size_t stop_count, lanes; /* lanes: a multiple of 8; those behind the stops weigh nothing */
    uint64_t weight;          /* of all stops */
    scratch *workers;
    unsigned threads;
    _Atomic uint64_t near; /* pairs of spikes within the delay */
    _Atomic size_t done;   /* segments, of both passes */
} survey;

/* ---- the units ---- */

/* A job's spikes and others, cut where a part of the spikes begins; parts do not wait for one another. */
typedef struct chooser {
    const sf_survey_job *job;
    sf_survey_spikes *to;
    uint8_t *slots;   /* by unit: its place among those chosen, or UINT8_MAX */
    uint64_t *counts; /* by part and unit: spikes, and then others */
    size_t parts, others[SF_SPIKE_PARTS + 1], chosen[SF_SPIKE_PARTS]; /* where a part's first ones are */
} chooser;

/* At one time spikes come before others. */
static void cut_others(chooser *c)
{
    const sf_survey_job *job = c->job;
    size_t at = 0;
    for (size_t part = 1; part < c->parts; part++) {
        int64_t begin_ns = job->spikes[sf_spikes_part(job->count, part)].time_ns;
        while (at < job->other_count && job->others[at].time_ns < begin_ns)
            at++;
        c->others[part] = at;
    }
    c->others[c->parts] = job->other_count;
}

static int count_part(void *context, unsigned worker, size_t part)
{
    chooser *c = context;
    const sf_survey_job *job = c->job;
    uint64_t *spikes = c->counts + 2 * part * job->unit_count, *others = spikes + job->unit_count;
    (void)worker;
    for (size_t i = sf_spikes_part(job->count, part); i < sf_spikes_part(job->count, part + 1); i++)
        spikes[job->spikes[i].unit]++;
    for (size_t i = c->others[part]; i < c->others[part + 1]; i++)
        others[job->others[i].unit]++;
    return SF_OK;
}

/* The number of spikes of a unit in all parts; `from` is unit_count for the others. */
static uint64_t count_of(const chooser *c, size_t from, size_t unit)
{
    uint64_t sum = 0;
    for (size_t part = 0; part < c->parts; part++)
        sum += c->counts[2 * part * c->job->unit_count + from + unit];
    return sum;
}

/* Those that are to be tested first, then those that fire most. */
static int rank_units(chooser *c)
{
    const sf_survey_job *job = c->job;
    sf_survey_spikes *s = c->to;
    sf_rank *ranked = sf_alloc(job->unit_count, sizeof *ranked);
    if (ranked == NULL) return SF_NO_MEMORY;
    for (size_t u = 0; u < job->unit_count; u++) {
        uint64_t spikes = count_of(c, 0, u);
        s->busiest = spikes > s->busiest ? spikes : s->busiest;
        ranked[u] = (sf_rank){-(double)(spikes + count_of(c, job->unit_count, u)), u};
        c->slots[u] = UINT8_MAX;
    }
    for (size_t i = 0; i < job->wanted_count; i++)
        ranked[job->wanted[i]].amount -= (double)(job->count + job->other_count);
    sf_ranks_sort(ranked, job->unit_count);
    size_t most = job->most_units > 0 ? job->most_units : SF_SURVEY_UNITS;
    for (s->units = 0; s->units < most && s->units < job->unit_count; s->units++) {
        if (ranked[s->units].amount == 0) break;
        s->unit_of[s->units] = (uint32_t)ranked[s->units].index;
        c->slots[ranked[s->units].index] = (uint8_t)s->units;
    }
    sf_free(ranked);
    return SF_OK;
}

/* Where what is chosen of each part goes, and room for all of it. */
static int make_room(chooser *c)
{
    sf_survey_spikes *s = c->to;
    for (size_t part = 0; part < c->parts; part++) {
        const uint64_t *counts = c->counts + 2 * part * c->job->unit_count;
        c->chosen[part] = s->count;
        for (size_t i = 0; i < s->units; i++)
            s->count += counts[s->unit_of[i]] + counts[c->job->unit_count + s->unit_of[i]];
    }
    s->times = sf_resize(NULL, s->count, sizeof *s->times);
    s->slots = sf_resize(NULL, s->count, sizeof *s->slots);
    return s->times != NULL && s->slots != NULL ? SF_OK : SF_NO_MEMORY;
}

static int64_t first_time(const sf_survey_job *job)
{
    int64_t first_ns = job->count > 0 ? job->spikes[0].time_ns : INT64_MAX;
    return job->other_count > 0 && job->others[0].time_ns < first_ns ? job->others[0].time_ns : first_ns;
}

static int choose_part(void *context, unsigned worker, size_t part)
{
    const chooser *c = context;
    const sf_survey_job *job = c->job;
    int64_t first_ns = first_time(job);
    size_t at = sf_spikes_part(job->count, part), end = sf_spikes_part(job->count, part + 1),
           other = c->others[part], other_end = c->others[part + 1], to = c->chosen[part];
    (void)worker;
    while (at < end || other < other_end) {
        bool is_other =
            at == end || (other < other_end && job->others[other].time_ns < job->spikes[at].time_ns);
        const sf_spike *spike = is_other ? &job->others[other++] : &job->spikes[at++];
        if (c->slots[spike->unit] == UINT8_MAX) continue;
        c->to->times[to] = spike->time_ns - first_ns;
        c->to->slots[to++] = c->slots[spike->unit];
    }
    return SF_OK;
}

int sf_survey_spikes_open(sf_survey_spikes *s, const sf_survey_job *job)
{
    *s = (sf_survey_spikes){0};
    chooser c = {.job = job, .to = s, .parts = sf_spikes_parts(job->count)};
    unsigned all = sf_spikes_threads(job->count),
             threads = job->threads > 0 && job->threads < all ? job->threads : all;
    c.slots = sf_resize(NULL, job->unit_count, sizeof *c.slots);
    c.counts = sf_alloc(2 * c.parts * job->unit_count, sizeof *c.counts);
    int status = c.slots != NULL && c.counts != NULL ? SF_OK : SF_NO_MEMORY;
    if (status == SF_OK) {
        cut_others(&c);
        sf_parallel_for(threads, c.parts, count_part, &c);
        status = rank_units(&c);
    }
    if (status == SF_OK) status = make_room(&c);
    if (status == SF_OK) sf_parallel_for(threads, c.parts, choose_part, &c);
    sf_free(c.slots);
    sf_free(c.counts);
    if (status != SF_OK) sf_survey_spikes_close(s);
    return status;
}

void sf_survey_spikes_close(sf_survey_spikes *s)
{
    sf_free(s->times);
    sf_free(s->slots);
    *s = (sf_survey_spikes){0};
}

/* The first spike of [low, high) at or after a time, or high. */
static size_t first_between(const survey *s, size_t low, size_t high, int64_t time_ns)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->times[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same from `at` on, in steps of the logarithm of how far it is. */
static size_t first_behind(const survey *s, size_t at, int64_t time_ns)
{
    size_t step = 1;
    while (at + step < s->count && s->times[at + step] < time_ns)
        step *= 2;
    return first_between(s, at, at + step < s->count ? at + step : s->count, time_ns);
}

/* Those that hold no spike are left out. */
static int cut_segments(survey *s)
{
    size_t capacity = 0, i = 0;
    void *begins = NULL;
    for (;; s->segments++) {
        if (sf_reserve(&begins, &capacity, s->segments + 1, sizeof *s->begins) != 0) return SF_NO_MEMORY;
        s->begins = begins;
        s->begins[s->segments] = i;
        if (i == s->count) return SF_OK;
        int64_t segment_ns = s->job->segment_ns, begin_ns = s->times[i] / segment_ns * segment_ns;
        i = first_behind(s, i, sf_time_plus(begin_ns, segment_ns));
    }
}

/* ---- where trains are moved to ---- */

/* Evenly from -w to w, a quarter of the largest delay apart, and no further than the delay is long; weights
 * fall off linearly from 0. */
static void choose_stops(survey *s)
{
    sf_delay delay = s->job->delay;
    int64_t quarter = delay.high_ns / 4, length = delay.high_ns - delay.low_ns;
    int64_t apart = quarter < length ? quarter : length;
    int64_t half = apart > 0 ? (s->job->width_ns + apart - 1) / apart : MOST_STOPS;
    size_t count = half < MOST_STOPS / 2 ? 2 * (size_t)half : MOST_STOPS;
    s->stop_count = count < LEAST_STOPS ? LEAST_STOPS : count;
    for (size_t k = 0; k < s->stop_count; k++) {
        double from_middle = (double)(2 * k + 1) - (double)s->stop_count;
        s->by_ns[k] = llrint(from_middle / (double)s->stop_count * (double)s->job->width_ns);
        s->weights[k] = (int64_t)s->stop_count - (int64_t)fabs(from_middle);
        s->weight += (uint64_t)s->weights[k];
    }
    s->lanes = (s->stop_count + 7) / 8 * 8;
}

/* ---- counting ---- */

static void slide(sliding *w, const survey *s, int64_t low_ns, int64_t high_ns)
{
    while (w->first < s->count && s->times[w->first] < low_ns)
        w->first++;
    w->last = w->last < w->first ? w->first : w->last;
    while (w->last < s->count && s->times[w->last] < high_ns)
        w->last++;
}

static sliding open_window(const survey *s, int64_t low_ns)
{
    size_t first = first_between(s, 0, s->count, low_ns);
    return (sliding){first, first};
}

/* Occurrences that do not overlap of all pairs whose second spike is of [begin, end), moved by so much. */
static void count_moved(const survey *s, scratch *w, size_t begin, size_t end, int64_t by_ns)
{
    sf_delay delay = s->job->delay;
    memset(w->counts, 0, s->cells * sizeof *w->counts);
    for (size_t c = 0; c < s->cells; c++)
        w->last[c] = INT64_MIN;
    sliding window = open_window(s, s->times[begin] + by_ns - delay.high_ns);
    for (size_t j = begin; j < end; j++) {
        int64_t stop_ns = s->times[j] + by_ns;
        slide(&window, s, stop_ns - delay.high_ns, stop_ns - delay.low_ns);
        for (size_t i = window.first; i < window.last; i++) {
            size_t c = s->slots[i] * s->units + s->slots[j];
            if (s->times[i] > w->last[c]) {
                w->last[c] = stop_ns;
                w->counts[c]++;
            }
        }
    }
}

/* An occurrence at each stop that lies within the delay. */
SF_VECTOR_BODY void take_body(lane *into, const survey *s, int64_t first_ns, int64_t second_ns)
{
    int64_t low_ns = s->job->delay.low_ns, high_ns = s->job->delay.high_ns;
    for (size_t k = 0; k < s->lanes; k++) {
        int64_t stop_ns = second_ns + s->by_ns[k], apart_ns = stop_ns - first_ns, last_ns = into->last[k];
        int64_t takes = (apart_ns > low_ns) & (apart_ns <= high_ns) & (first_ns > last_ns);
        into->counts[k] += takes;
        into->last[k] = takes ? stop_ns : last_ns;
    }
}

/* All spikes of a unit with what may precede them. */
SF_VECTOR_BODY void row_body(scratch *w, const survey *s, size_t begin, size_t unit)
{
    for (size_t n = w->unit_first[unit]; n < w->unit_first[unit + 1]; n++) {
        size_t j = w->by_unit[n];
        sliding window = w->windows[j - begin];
        for (size_t i = window.first; i < window.last; i++)
            take_body(&w->lanes[s->slots[i]], s, s->times[i], s->times[j]);
    }
}

SF_VECTOR_LEVELS(count_row, row_body, (scratch * w, const survey *s, size_t begin, size_t unit),
                 (w, s, begin, unit))

/* Adds up what pairs with a second unit count, and forgets it. */
SF_VECTOR_BODY void sum_body(scratch *w, const survey *s, size_t unit)
{
    for (size_t u = 0; u < s->units; u++) {
        lane *own = &w->lanes[u];
        int64_t sum = 0, squares = 0;
        for (size_t k = 0; k < s->lanes; k++) {
            int64_t weighted = s->weights[k] * own->counts[k];
            sum += weighted;
            squares += weighted * own->counts[k];
            own->counts[k] = 0;
            own->last[k] = INT64_MIN;
        }
        cell *to = &w->cells[u * s->units + unit];
        to->shifted += (uint64_t)sum;
        to->variance += s->weight * (uint64_t)squares - (uint64_t)sum * (uint64_t)sum;
    }
}

SF_VECTOR_LEVELS(sum_row, sum_body, (scratch * w, const survey *s, size_t unit), (w, s, unit))

static int lay_out(const survey *s, scratch *w, size_t begin, size_t end)
{
    size_t length = end - begin;
    if (length > w->length) {
        void *windows = sf_resize(w->windows, length, sizeof *w->windows);
        w->windows = windows != NULL ? windows : w->windows;
        void *by_unit = sf_resize(w->by_unit, length, sizeof *w->by_unit);
        w->by_unit = by_unit != NULL ? by_unit : w->by_unit;
        if (windows == NULL || by_unit == NULL) return SF_NO_MEMORY;
        w->length = length;
    }
    int64_t before_ns = s->by_ns[0] - s->job->delay.high_ns,
            after_ns = s->by_ns[s->stop_count - 1] - s->job->delay.low_ns;
    sliding window = open_window(s, s->times[begin] + before_ns);
    memset(w->unit_first, 0, (s->units + 1) * sizeof *w->unit_first);
    for (size_t j = begin; j < end; j++) {
        slide(&window, s, s->times[j] + before_ns, s->times[j] + after_ns);
        w->windows[j - begin] = window;
        w->unit_first[s->slots[j] + 1]++;
    }
    for (size_t u = 0; u < s->units; u++)
        w->unit_first[u + 1] += w->unit_first[u];
    for (size_t j = end; j-- > begin;) /* from behind: each comes to where its unit begins */
        w->by_unit[--w->unit_first[s->slots[j] + 1]] = j;
    for (size_t u = 0; u < s->units; u++) /* which is one place on */
        w->unit_first[u] = w->unit_first[u + 1];
    w->unit_first[s->units] = length;
    return SF_OK;
}

static int count_stops(const survey *s, scratch *w, size_t begin, size_t end)
{
    int status = lay_out(s, w, begin, end);
    for (size_t u = 0; u < s->units && status == SF_OK; u++)
        if (w->unit_first[u] < w->unit_first[u + 1]) {
            count_row(w, s, begin, u);
            sum_row(w, s, u);
        }
    return status;
}

static void count_near(const survey *s, scratch *w, size_t begin, size_t end)
{
    sf_delay delay = s->job->delay;
    sliding window = open_window(s, s->times[begin] - delay.high_ns);
    for (size_t j = begin; j < end; j++) {
        slide(&window, s, s->times[j] - delay.high_ns, s->times[j] - delay.low_ns);
        for (size_t i = window.first; i < window.last; i++)
            w->cells[s->slots[i] * s->units + s->slots[j]].near++;
    }
}

/* Spikes of two units that may be one. */
static void count_together(const survey *s, scratch *w, size_t begin, size_t end)
{
    sliding window = open_window(s, s->times[begin] - 3 * SEEN_TWICE_NS);
    for (size_t j = begin; j < end; j++) {
        slide(&window, s, s->times[j] - 3 * SEEN_TWICE_NS, s->times[j] + 3 * SEEN_TWICE_NS + 1);
        for (size_t i = window.first; i < window.last; i++) {
            cell *c = &w->cells[s->slots[i] * s->units + s->slots[j]];
            if (llabs(s->times[i] - s->times[j]) <= SEEN_TWICE_NS)
                c->together++;
            else
                c->beside++;
        }
    }
}

/* Only the caller's thread tells how far it is, and asks. */
static int end_segment(survey *s, unsigned worker)
{
    double done = (double)(atomic_fetch_add(&s->done, 1) + 1);
    return worker != 0 ||
                   sf_progress_update(s->job->progress, "looking at bursts", done, 2 * (double)s->segments)
               ? SF_OK
               : SF_CANCELLED;
}

static int size_segment(void *context, unsigned worker, size_t item)
{
    survey *s = context;
    sf_delay delay = s->job->delay;
    uint64_t sum = 0;
    sliding window = open_window(s, s->times[s->begins[item]] - delay.high_ns);
    for (size_t j = s->begins[item]; j < s->begins[item + 1]; j++) {
        slide(&window, s, s->times[j] - delay.high_ns, s->times[j] - delay.low_ns);
        sum += window.last - window.first;
    }
    atomic_fetch_add(&s->near, sum);
    return end_segment(s, worker);
}

static int count_segment(void *context, unsigned worker, size_t item)
{
    survey *s = context;
    scratch *w = &s->workers[worker];
    size_t begin = s->begins[item], length = s->begins[item + 1] - begin;
    size_t end = begin + (length + s->stride - 1) / s->stride;
    int64_t far = SF_DISPLACED_WIDTHS * s->job->width_ns;
    count_moved(s, w, begin, end, 0);
    for (size_t c = 0; c < s->cells; c++)
        w->cells[c].here += w->counts[c];
    for (int side = -1; side <= 1; side += 2) {
        count_moved(s, w, begin, end, side * far);
        for (size_t c = 0; c < s->cells; c++)
            w->cells[c].far += w->counts[c];
    }
    if (count_stops(s, w, begin, end) != SF_OK) return SF_NO_MEMORY;
    count_near(s, w, begin, end);
    count_together(s, w, begin, end);
    return end_segment(s, worker);
}

static int open_workers(survey *s)
{
    s->workers = sf_alloc(s->threads, sizeof *s->workers);
    if (s->workers == NULL) return SF_NO_MEMORY;
    for (unsigned t = 0; t < s->threads; t++) {
        scratch *w = &s->workers[t];
        w->cells = sf_alloc(s->cells, sizeof *w->cells);
        w->last = sf_alloc(s->cells, sizeof *w->last);
        w->counts = sf_alloc(s->cells, sizeof *w->counts);
        w->unit_first = sf_alloc(s->units + 1, sizeof *w->unit_first);
        w->lanes = sf_alloc(s->units, sizeof *w->lanes);
        if (w->cells == NULL || w->last == NULL || w->counts == NULL || w->unit_first == NULL ||
            w->lanes == NULL)
            return SF_NO_MEMORY;
        for (size_t u = 0; u < s->units; u++)
            for (size_t k = 0; k < MOST_STOPS; k++)
                w->lanes[u].last[k] = INT64_MIN;
    }
    return SF_OK;
}

static void close_workers(survey *s)
{
    for (unsigned t = 0; s->workers != NULL && t < s->threads; t++) {
        scratch *w = &s->workers[t];
        sf_free(w->cells);
        sf_free(w->last);
        sf_free(w->counts);
        sf_free(w->windows);
        sf_free(w->by_unit);
        sf_free(w->unit_first);
        sf_free(w->lanes);
    }
    sf_free(s->workers);
}

/* Into the cells of the first. */
static void add_workers(const survey *s)
{
    for (unsigned t = 1; t < s->threads; t++)
        for (size_t c = 0; c < s->cells; c++) {
            cell *to = &s->workers[0].cells[c];
            const cell *from = &s->workers[t].cells[c];
            to->shifted += from->shifted;
            to->variance += from->variance;
            to->here += from->here;
            to->far += from->far;
            to->near += from->near;
            to->together += from->together;
            to->beside += from->beside;
        }
}

static int count_pairs(survey *s)
{
    choose_stops(s);
    int status = cut_segments(s);
    if (status == SF_OK) status = sf_parallel_for(s->threads, s->segments, size_segment, s);
    if (status != SF_OK) return status;
    s->stride = (size_t)(s->near / (MOST_STEPS / s->stop_count)) + 1;
    status = open_workers(s);
    if (status == SF_OK) status = sf_parallel_for(s->threads, s->segments, count_segment, s);
    if (status == SF_OK) add_workers(s);
    return status;
}

/* ---- what is told ---- */

/* Spikes that two electrodes see, or that a sorter gave to two units, lie closer together, by more than three
 * standard errors, than those around them. */
static bool is_seen_twice(const cell *c)
{
    double expected = c->beside / 2.0;
    return c->together - expected > 3 * sqrt(1.5 * expected + 1);
}

static int tell_pairs(sf_pair_survey *told, const survey *s, const sf_survey_spikes *spikes)
{
    told->pairs = sf_resize(NULL, s->cells, sizeof *told->pairs);
    if (told->pairs == NULL) return SF_NO_MEMORY;
    double weight = (double)s->weight;
    for (size_t i = 0; i < s->cells; i++) {
        const cell *c = &s->workers[0].cells[i];
        told->pairs[i] = (sf_surveyed_pair){.here = (double)c->here,
                                            .shifted = (double)c->shifted / weight,
                                            .far = (double)c->far / 2,
                                            .near = (double)c->near,
                                            .variance = (double)c->variance / (weight * weight),
                                            .seen_twice = is_seen_twice(c)};
    }
    told->units = s->units;
    told->stops = s->stop_count;
    told->stride = s->stride;
    memcpy(told->unit_of, spikes->unit_of, sizeof told->unit_of);
    return SF_OK;
}

static int survey_spikes(sf_pair_survey *told, const sf_survey_job *job, const sf_survey_spikes *spikes)
{
    survey s = {.job = job,
                .times = spikes->times,
                .slots = spikes->slots,
                .count = spikes->count,
                .units = spikes->units,
                .cells = spikes->units * spikes->units,
                .stride = 1,
                .threads = job->threads > 0 ? job->threads : sf_thread_cores()};
    int status = count_pairs(&s);
    if (status == SF_OK) status = tell_pairs(told, &s, spikes);
    close_workers(&s);
    sf_free(s.begins);
    return status;
}

int sf_pair_survey_open(sf_pair_survey *told, const sf_survey_job *job)
{
    *told = (sf_pair_survey){.stride = 1};
    if (job->count + job->other_count == 0) return SF_OK;
    if (job->chosen != NULL) return survey_spikes(told, job, job->chosen);
    sf_survey_spikes own;
    int status = sf_survey_spikes_open(&own, job);
    if (status == SF_OK) status = survey_spikes(told, job, &own);
    sf_survey_spikes_close(&own);
    return status;
}

void sf_pair_survey_close(sf_pair_survey *told)
{
    sf_free(told->pairs);
    *told = (sf_pair_survey){0};
}
