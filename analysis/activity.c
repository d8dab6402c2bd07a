/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/activity.h"
#include "analysis/unit_times.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"
#include "core/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const sf_measure_kind *sf_measure_about(sf_measured measure)
{
#define PLAIN(place, ...) {__VA_ARGS__, false},
#define CHANCE(place, ...) {__VA_ARGS__, true},
    static const sf_measure_kind kinds[SF_MEASURES] = {SF_MEASURES_ARE(PLAIN, CHANCE)};
    return &kinds[measure];
}

/* ---- units ---- */

typedef struct trains {
    sf_unit_times by_unit;
    int64_t *intervals_ns; /* room for those of one */
} trains;

static int sort_by_unit(trains *t, const sf_recording *recording, sf_error *error)
{
    t->intervals_ns = sf_resize(NULL, recording->spike_count, sizeof *t->intervals_ns);
    return t->intervals_ns != NULL ? sf_unit_times_take(&t->by_unit, recording, error)
                                   : sf_fail_memory(error);
}

static void free_trains(trains *t)
{
    sf_unit_times_free(&t->by_unit);
    sf_free(t->intervals_ns);
}

/* Index after the last spike in the observed interval of the given spike; beyond it nothing is known. */
static size_t end_of_stretch(const sf_recording *recording, const int64_t *times_ns, size_t from,
                             size_t count)
{
    size_t s = 0, end = from + 1;
    if (recording->observed_count == 0) return count;
    while (s + 1 < recording->observed_count && recording->observed[s].stop_ns <= times_ns[from])
        s++;
    while (end < count && times_ns[end] < recording->observed[s].stop_ns)
        end++;
    return end;
}

typedef struct moments {
    uint64_t count;
    double mean, squares; /* Welford's: of differences from the mean */
} moments;

static void add_intervals(moments *m, const int64_t *times_ns, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        double interval = (double)(times_ns[i + 1] - times_ns[i]);
        if (interval <= 0) continue;
        double before = interval - m->mean;
        m->mean += before / (double)++m->count;
        m->squares += before * (interval - m->mean);
    }
}

/* Burst limits of a unit, from the intervals of all its observed intervals. */
static sf_burst_limits find_limits(int64_t *intervals_ns, const sf_recording *recording,
                                   const int64_t *times_ns, size_t count, const sf_burst_rule *rule)
{
    size_t intervals = 0;
    for (size_t from = 0, end; from < count; from = end) {
        end = end_of_stretch(recording, times_ns, from, count);
        for (size_t i = from; i + 1 < end; i++)
            intervals_ns[intervals++] = times_ns[i + 1] - times_ns[i];
    }
    return sf_burst_limits_find(intervals_ns, intervals, rule);
}

static int look_at_unit(sf_activity *activity, sf_unit_activity *unit, const sf_recording *recording,
                        const int64_t *times_ns, size_t count, int64_t *intervals_ns,
                        const sf_activity_options *options, sf_error *error)
{
    moments m = {0};
    int status = SF_OK;
    unit->limits = find_limits(intervals_ns, recording, times_ns, count, &options->bursts);
    unit->spikes = count;
    unit->rate_hz = activity->duration_s > 0 ? (double)count / activity->duration_s : NAN;
    unit->active = unit->rate_hz >= options->network.active_hz;
    unit->first_burst = activity->unit_bursts.count;
    for (size_t from = 0, end; from < count && status == SF_OK; from = end) {
        size_t before = activity->unit_bursts.count;
        end = end_of_stretch(recording, times_ns, from, count);
        add_intervals(&m, times_ns + from, end - from);
        status = sf_unit_bursts_find(&activity->unit_bursts, times_ns + from, end - from, &options->bursts,
                                     &unit->limits, error);
        for (size_t b = before; b < activity->unit_bursts.count; b++)
            activity->unit_bursts.items[b].first += from;
    }
    unit->bursts = activity->unit_bursts.count - unit->first_burst;
    for (size_t b = 0; b < unit->bursts; b++)
        unit->in_bursts += activity->unit_bursts.items[unit->first_burst + b].spikes;
    unit->intervals = m.count;
    unit->isi_cv = m.count >= SF_LEAST_INTERVALS ? sqrt(m.squares / (double)(m.count - 1)) / m.mean : NAN;
    return status;
}

/* ---- electrodes ---- */

typedef struct place {
    double x, y;
} place;

static int by_place(const void *a, const void *b)
{
    const place *one = a, *other = b;
    int order = (one->x > other->x) - (one->x < other->x);
    return order != 0 ? order : (one->y > other->y) - (one->y < other->y);
}

static int count_electrodes(sf_activity *activity, const sf_recording *recording, sf_error *error)
{
    size_t count = 0, distinct = 0;
    bool numbers = true, positions = true;
    place *places = sf_alloc(activity->unit_count, sizeof *places);
    if (places == NULL) return sf_fail_memory(error);
    for (size_t u = 0; u < activity->unit_count; u++) {
        numbers = numbers && recording->units.items[u].electrode >= 0;
        positions =
            positions && isfinite(recording->units.items[u].x_um) && isfinite(recording->units.items[u].y_um);
    }
    for (size_t u = 0; u < activity->unit_count; u++) {
        const sf_unit *unit = &recording->units.items[u];
        if (activity->units[u].active)
            places[count++] = numbers ? (place){unit->electrode, 0} : (place){unit->x_um, unit->y_um};
    }
    if (count > 0 && (numbers || positions)) qsort(places, count, sizeof *places, by_place);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || by_place(&places[i], &places[i - 1]) != 0;
    activity->active_electrodes = numbers || positions ? distinct : SIZE_MAX;
    sf_free(places);
    return SF_OK;
}

/* ---- all of it ---- */

int sf_activity_find(sf_activity *activity, const sf_recording *recording, const sf_activity_options *options,
                     sf_error *error)
{
    trains t = {0};
    *activity = (sf_activity){.unit_count = recording->units.count,
                              .spikes = recording->spike_count,
                              .duration_s = (double)sf_recording_duration_ns(recording) / (double)SF_SECOND,
                              .units = sf_alloc(recording->units.count, sizeof *activity->units)};
    int status = activity->units == NULL ? sf_fail_memory(error) : sort_by_unit(&t, recording, error);
    for (size_t u = 0; status == SF_OK && u < activity->unit_count; u++) {
        status =
            look_at_unit(activity, &activity->units[u], recording, t.by_unit.times_ns + t.by_unit.first[u],
                         t.by_unit.first[u + 1] - t.by_unit.first[u], t.intervals_ns, options, error);
        activity->active_units += activity->units[u].active;
    }
    if (status == SF_OK) status = count_electrodes(activity, recording, error);
    if (status == SF_OK) status = sf_bursts_find(&activity->network, recording, &options->network, error);
    free_trains(&t);
    return status;
}

void sf_activity_free(sf_activity *activity)
{
    sf_free(activity->units);
    sf_free(activity->unit_bursts.items);
    sf_bursts_free(&activity->network);
    *activity = (sf_activity){0};
}

/* ---- in numbers ---- */

/* Over active units that have one. */
static double median_cv(const sf_activity *activity)
{
    double *values = sf_alloc(activity->unit_count, sizeof *values), median = NAN;
    size_t count = 0;
    for (size_t u = 0; values != NULL && u < activity->unit_count; u++)
        if (activity->units[u].active && isfinite(activity->units[u].isi_cv))
            values[count++] = activity->units[u].isi_cv;
    if (values != NULL) median = sf_reals_median(values, count);
    sf_free(values);
    return median;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Sums over all bursts of all rounds. */
typedef struct totals {
    double rounds;
    double unit_bursts, unit_seconds, unit_spikes, unit_shares; /* of active units */
    double bursts, seconds, spikes, units;                      /* of the network */
} totals;

static void add_units(totals *t, const sf_activity *activity)
{
    for (size_t u = 0; u < activity->unit_count; u++) {
        const sf_unit_activity *unit = &activity->units[u];
        if (!unit->active) continue;
        t->unit_bursts += (double)unit->bursts;
        t->unit_spikes += (double)unit->in_bursts;
        t->unit_shares += share((double)unit->in_bursts, (double)unit->spikes);
        for (size_t b = 0; b < unit->bursts; b++) {
            const sf_unit_burst *burst = &activity->unit_bursts.items[unit->first_burst + b];
            t->unit_seconds += (double)(burst->last_ns - burst->first_ns) / (double)SF_SECOND;
        }
    }
}

static void add_network(totals *t, const sf_bursts *bursts)
{
    t->bursts += (double)bursts->count;
    for (size_t b = 0; b < bursts->count; b++) {
        t->spikes += (double)bursts->members[b].spikes;
        t->units += (double)bursts->members[b].units;
        t->seconds += (double)(bursts->items[b].stop_ns - bursts->items[b].start_ns) / (double)SF_SECOND;
    }
}

static void measure_bursts(double *values, const totals *t, const sf_activity *activity)
{
    double active = (double)activity->active_units, minutes = activity->duration_s / 60;
    values[SF_MEASURE_BURST_RATE] = share(t->unit_bursts / active, minutes * t->rounds);
    values[SF_MEASURE_BURST_SHARE] = share(t->unit_shares, active * t->rounds);
    values[SF_MEASURE_BURST_DURATION] = share(t->unit_seconds, t->unit_bursts);
    values[SF_MEASURE_BURST_SPIKES] = share(t->unit_spikes, t->unit_bursts);
    values[SF_MEASURE_NETWORK_RATE] = share(t->bursts, minutes * t->rounds);
    values[SF_MEASURE_NETWORK_DURATION] = share(t->seconds, t->bursts);
    values[SF_MEASURE_NETWORK_SHARE] = share(t->spikes, (double)activity->spikes * t->rounds);
    values[SF_MEASURE_NETWORK_UNITS] = share(t->units, t->bursts * active);
}

void sf_activity_measure(const sf_activity *activity, double values[SF_MEASURES])
{
    totals t = {.rounds = 1};
    double rate = 0;
    for (size_t u = 0; u < activity->unit_count; u++)
        rate += activity->units[u].active ? activity->units[u].rate_hz : 0;
    values[SF_MEASURE_RATE] = share(rate, (double)activity->active_units);
    values[SF_MEASURE_ACTIVE] = (double)activity->active_units;
    values[SF_MEASURE_ISI_CV] = median_cv(activity);
    add_units(&t, activity);
    add_network(&t, &activity->network);
    measure_bursts(values, &t, activity);
}

/* ---- by chance ---- */

#define SLOT_NS (10 * SF_SECOND)

/* The recorded time as one piece. */
typedef struct timeline {
    const sf_span *spans;
    size_t count;
    int64_t length_ns;
    int64_t *before_ns; /* recorded time before each span */
} timeline;

static int open_timeline(timeline *t, const sf_recording *recording, sf_error *error)
{
    bool all = recording->observed_count == 0;
    *t = (timeline){.spans = all ? &recording->recorded : recording->observed,
                    .count = all ? 1 : recording->observed_count};
    t->before_ns = sf_alloc(t->count, sizeof *t->before_ns);
    if (t->before_ns == NULL) return sf_fail_memory(error);
    for (size_t s = 0; s < t->count; s++) {
        t->before_ns[s] = t->length_ns;
        t->length_ns += t->spans[s].stop_ns - t->spans[s].start_ns;
    }
    return SF_OK;
}

/* The 10 s slot of a span (or its shorter rest) that contains the time; a time outside all spans is a slot of
 * its own. */
static sf_span slot_at(const timeline *t, size_t *span, int64_t time_ns)
{
    while (*span < t->count && t->spans[*span].stop_ns <= time_ns)
        ++*span;
    if (*span == t->count || t->spans[*span].start_ns > time_ns) return (sf_span){time_ns, time_ns + 1};
    const sf_span *of = &t->spans[*span];
    int64_t start_ns = time_ns - (time_ns - of->start_ns) % SLOT_NS;
    return (sf_span){start_ns, of->stop_ns - start_ns < SLOT_NS ? of->stop_ns : start_ns + SLOT_NS};
}

/* Draws `count` random spike times in the slot, no two closer than the dead time: the gaps between sorted
 * uniform numbers are exponential variables over their sum. */
static void fill_slot(int64_t *times_ns, size_t count, sf_span slot, int64_t dead_ns, double *room,
                      sf_random *random)
{
    double length = (double)(slot.stop_ns - slot.start_ns), sum = 0;
    double dead = fmin((double)dead_ns, length / (double)count);
    for (size_t i = 0; i < count; i++)
        room[i] = sum += sf_random_exponential(random);
    sum += sf_random_exponential(random);
    for (size_t i = 0; i < count; i++)
        times_ns[i] =
            slot.start_ns + (int64_t)(room[i] / sum * (length - dead * (double)count) + dead * (double)i);
}

static void draw_train(int64_t *drawn_ns, const int64_t *times_ns, size_t count, const timeline *t,
                       double *room, sf_random *random)
{
    int64_t dead_ns = INT64_MAX;
    size_t span = 0;
    for (size_t i = 0; i + 1 < count; i++)
        if (times_ns[i + 1] - times_ns[i] < dead_ns) dead_ns = times_ns[i + 1] - times_ns[i];
    for (size_t from = 0, to; from < count; from = to) {
        sf_span slot = slot_at(t, &span, times_ns[from]);
        for (to = from + 1; to < count && times_ns[to] < slot.stop_ns; to++)
            ;
        fill_slot(drawn_ns + from, to - from, slot, dead_ns, room, random);
    }
}

/* Index of the span that contains a position in recorded time. */
static size_t span_at(const timeline *t, int64_t recorded_ns)
{
    size_t low = 0, high = t->count; /* the last that begins no later */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (t->before_ns[middle] <= recorded_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Circularly shifts each train as a whole in recorded time. */
static void shift_trains(sf_recording *shifted, const sf_recording *recording, const timeline *t,
                         int64_t *offsets_ns, sf_spike *room, sf_random *random)
{
    for (size_t u = 0; u < recording->units.count; u++)
        offsets_ns[u] = (int64_t)sf_random_below(random, (uint64_t)t->length_ns);
    for (size_t i = 0, s = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        while (s + 1 < t->count && t->spans[s + 1].start_ns <= spike->time_ns)
            s++;
        int64_t within_ns = spike->time_ns - t->spans[s].start_ns; /* beside all spans: what comes of it */
        int64_t at_ns = (t->before_ns[s] + within_ns + offsets_ns[spike->unit]) % t->length_ns;
        at_ns += at_ns < 0 ? t->length_ns : 0;
        size_t to = span_at(t, at_ns);
        shifted->spikes[i] = *spike;
        shifted->spikes[i].time_ns = t->spans[to].start_ns + at_ns - t->before_ns[to];
    }
    sf_spikes_sort_within(shifted->spikes, room, shifted->spike_count);
}

/* What both kinds of drawing work with. */
typedef struct drawing {
    const sf_recording *recording;
    const sf_activity_options *options;
    timeline timeline;
    trains trains;
    int64_t *times_ns; /* of a train; offsets of all */
    double *room;
    sf_spike *spikes, *spare;
    totals totals;
    sf_unit_chance *by_unit; /* or NULL */
} drawing;

static int draw_units(drawing *d, sf_activity *drawn, uint64_t seed, uint64_t round, sf_error *error)
{
    int status = SF_OK;
    sf_random random = sf_random_start(seed, 2 * round);
    drawn->unit_bursts.count = 0;
    for (size_t u = 0; status == SF_OK && u < drawn->unit_count; u++) {
        size_t first = d->trains.by_unit.first[u], count = d->trains.by_unit.first[u + 1] - first;
        drawn->units[u] = (sf_unit_activity){0};
        draw_train(d->times_ns, d->trains.by_unit.times_ns + first, count, &d->timeline, d->room, &random);
        status = look_at_unit(drawn, &drawn->units[u], d->recording, d->times_ns, count,
                              d->trains.intervals_ns, d->options, error);
        if (d->by_unit != NULL) {
            d->by_unit[u].bursts += (double)drawn->units[u].bursts;
            d->by_unit[u].in_bursts += (double)drawn->units[u].in_bursts;
        }
    }
    add_units(&d->totals, drawn);
    return status;
}

static int draw_network(drawing *d, uint64_t seed, uint64_t round, sf_error *error)
{
    sf_recording shifted = *d->recording;
    sf_bursts bursts;
    sf_random random = sf_random_start(seed, 2 * round + 1);
    shifted.spikes = d->spikes;
    shift_trains(&shifted, d->recording, &d->timeline, d->times_ns, d->spare, &random);
    int status = sf_bursts_find(&bursts, &shifted, &d->options->network, error);
    if (status == SF_OK) add_network(&d->totals, &bursts);
    sf_bursts_free(&bursts);
    return status;
}

static int open_drawing(drawing *d, sf_error *error)
{
    size_t count = d->recording->spike_count, units = d->recording->units.count;
    d->times_ns = sf_resize(NULL, count > units ? count : units, sizeof *d->times_ns);
    d->room = sf_resize(NULL, count, sizeof *d->room);
    d->spikes = sf_resize(NULL, count, sizeof *d->spikes);
    d->spare = sf_resize(NULL, count, sizeof *d->spare);
    if (d->times_ns == NULL || d->room == NULL || d->spikes == NULL || d->spare == NULL)
        return sf_fail_memory(error);
    int status = open_timeline(&d->timeline, d->recording, error);
    return status == SF_OK ? sort_by_unit(&d->trains, d->recording, error) : status;
}

static void close_drawing(drawing *d)
{
    sf_free(d->timeline.before_ns);
    sf_free(d->times_ns);
    sf_free(d->room);
    sf_free(d->spikes);
    sf_free(d->spare);
    free_trains(&d->trains);
}

int sf_activity_chance(double chance[SF_MEASURES], sf_unit_chance *units, const sf_recording *recording,
                       const sf_activity_options *options, uint64_t seed, sf_error *error)
{
    drawing d = {
        .recording = recording, .options = options, .totals = {.rounds = SF_CHANCE_ROUNDS}, .by_unit = units};
    for (size_t u = 0; units != NULL && u < recording->units.count; u++)
        units[u] = (sf_unit_chance){0};
    sf_activity drawn;
    int status = sf_activity_find(&drawn, recording, options, error);
    for (int m = 0; m < SF_MEASURES; m++)
        chance[m] = NAN;
    if (status == SF_OK && drawn.duration_s > 0 && drawn.active_units > 0) {
        status = open_drawing(&d, error);
        for (uint64_t round = 0; round < SF_CHANCE_ROUNDS && status == SF_OK; round++) {
            status = draw_units(&d, &drawn, seed, round, error);
            if (status == SF_OK) status = draw_network(&d, seed, round, error);
        }
        for (size_t u = 0; units != NULL && u < recording->units.count; u++) {
            units[u].bursts /= SF_CHANCE_ROUNDS; /* once: a mean of shares added up could pass 1 */
            units[u].in_bursts /= SF_CHANCE_ROUNDS;
        }
        measure_bursts(chance, &d.totals, &drawn);
        for (int m = SF_MEASURE_BURST_RATE; m <= SF_MEASURE_NETWORK_UNITS; m++)
            chance[m] = isnan(chance[m]) ? 0 : chance[m];
    }
    close_drawing(&d);
    sf_activity_free(&drawn);
    return status;
}

int sf_activity_shift(sf_recording *shifted, const sf_recording *recording, uint64_t seed, uint64_t round,
                      sf_error *error)
{
    timeline t;
    size_t count = recording->spike_count;
    int64_t *offsets_ns = sf_alloc(recording->units.count, sizeof *offsets_ns);
    sf_spike *spare = sf_resize(NULL, count, sizeof *spare);
    sf_random random = sf_random_start(seed, 2 * round + 1);
    *shifted = *recording;
    shifted->spikes = sf_resize(NULL, count, sizeof *shifted->spikes);
    int status = open_timeline(&t, recording, error);
    if (status == SF_OK && (offsets_ns == NULL || spare == NULL || shifted->spikes == NULL))
        status = sf_fail_memory(error);
    if (status == SF_OK && t.length_ns > 0)
        shift_trains(shifted, recording, &t, offsets_ns, spare, &random);
    else if (status == SF_OK && count > 0)
        memcpy(shifted->spikes, recording->spikes, count * sizeof *shifted->spikes);
    sf_free(t.before_ns);
    sf_free(offsets_ns);
    sf_free(spare);
    return status;
}
