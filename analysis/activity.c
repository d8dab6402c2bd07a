/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/activity.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const sf_measure_kind *sf_measure_about(sf_measured measure)
{
    static const sf_measure_kind kinds[SF_MEASURES] = {
        [SF_MEASURE_RATE] = {"rate_hz", "Hz", "firing rate, Hz", "mean firing rate of active units"},
        [SF_MEASURE_ACTIVE] = {"active_units", "", "active units", "units that are active"},
        [SF_MEASURE_ISI_CV] = {"isi_cv", "", "CV of intervals",
                               "coefficient of variation of inter-spike intervals, median over active units"},
        [SF_MEASURE_BURST_RATE] = {"burst_rate", "1/min", "bursts of a unit, 1/min",
                                   "bursts of a unit a minute, mean over active units"},
        [SF_MEASURE_BURST_SHARE] = {"burst_share", "", "spikes in bursts, share",
                                    "share of a unit's spikes in its bursts, mean over active units"},
        [SF_MEASURE_BURST_DURATION] = {"burst_s", "s", "burst, s",
                                       "duration of a burst of an active unit, mean over bursts"},
        [SF_MEASURE_BURST_SPIKES] = {"burst_spikes", "", "spikes in a burst",
                                     "spikes in such a burst, mean over bursts"},
        [SF_MEASURE_NETWORK_RATE] = {"network_burst_rate", "1/min", "network bursts, 1/min",
                                     "network bursts a minute"},
        [SF_MEASURE_NETWORK_DURATION] = {"network_burst_s", "s", "network burst, s",
                                         "duration of a network burst, mean"},
        [SF_MEASURE_NETWORK_SHARE] = {"network_burst_share", "", "spikes in network bursts, share",
                                      "share of all spikes in network bursts"},
        [SF_MEASURE_NETWORK_UNITS] = {"network_burst_units", "", "units in network bursts, share",
                                      "share of active units that fire in a network burst, mean"},
        [SF_MEASURE_DENSITY] = {"density", "", "edge density",
                                "edges between active units, of the ordered pairs that there are"},
        [SF_MEASURE_DEGREE] = {"degree", "", "neighbours of a unit",
                               "neighbours of an active unit in the graph, mean"},
        [SF_MEASURE_CLUSTERING] = {"clustering", "", "clustering",
                                   "share of a unit's pairs of neighbours that are neighbours, mean"},
        [SF_MEASURE_RECIPROCITY] = {"reciprocity", "", "reciprocity",
                                    "share of edges whose reverse is an edge too"},
        [SF_MEASURE_CHAINS] = {"chains", "", "chains", "significant chains of three and more units"},
    };
    return &kinds[measure];
}

/* ---- units ---- */

/* The times of each unit in turn: those of unit u are times[first[u] .. first[u + 1]). */
typedef struct trains {
    int64_t *times_ns;
    size_t *first;
} trains;

static int sort_by_unit(trains *t, const sf_recording *recording, sf_error *error)
{
    size_t units = recording->units.count, *first = t->first = sf_alloc(units + 2, sizeof *first);
    t->times_ns = sf_resize(NULL, recording->spike_count, sizeof *t->times_ns);
    if (first == NULL || t->times_ns == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++)
        first[recording->spikes[i].unit + 2]++;
    for (size_t u = 0; u < units; u++)
        first[u + 2] += first[u + 1];
    for (size_t i = 0; i < recording->spike_count; i++)
        t->times_ns[first[recording->spikes[i].unit + 1]++] = recording->spikes[i].time_ns;
    return SF_OK;
}

/* Where the stretch of observation ends that the spike lies in: nothing is known of what lies behind it. */
static size_t end_of_stretch(const sf_recording *recording, const int64_t *times_ns, size_t from,
                             size_t count)
{
    size_t s = 0, end = from + 1;
    if (recording->observed_count == 0)
        return count;
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
        if (interval <= 0)
            continue;
        double before = interval - m->mean;
        m->mean += before / (double)++m->count;
        m->squares += before * (interval - m->mean);
    }
}

static int look_at_unit(sf_activity *activity, sf_unit_activity *unit, const sf_recording *recording,
                        const int64_t *times_ns, size_t count, const sf_activity_options *options,
                        sf_error *error)
{
    moments m = {0};
    int status = SF_OK;
    unit->spikes = count;
    unit->rate_hz = activity->duration_s > 0 ? (double)count / activity->duration_s : NAN;
    unit->active = unit->rate_hz >= options->active_hz;
    unit->first_burst = activity->unit_bursts.count;
    for (size_t from = 0, end; from < count && status == SF_OK; from = end) {
        size_t before = activity->unit_bursts.count;
        end = end_of_stretch(recording, times_ns, from, count);
        add_intervals(&m, times_ns + from, end - from);
        status =
            sf_unit_bursts_find(&activity->unit_bursts, times_ns + from, end - from, &options->bursts, error);
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
    if (places == NULL)
        return sf_fail_memory(error);
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
    if (count > 0 && (numbers || positions))
        qsort(places, count, sizeof *places, by_place);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || by_place(&places[i], &places[i - 1]) != 0;
    activity->active_electrodes = numbers || positions ? distinct : SIZE_MAX;
    sf_free(places);
    return SF_OK;
}

/* ---- the array ---- */

static int look_at_bursts(sf_activity *activity, const sf_recording *recording,
                          const sf_activity_options *options, sf_error *error)
{
    sf_bursts bursts;
    size_t spike = 0, *last = sf_alloc(activity->unit_count, sizeof *last); /* burst, from 1, it fired in */
    int status = last == NULL ? sf_fail_memory(error)
                              : sf_bursts_find(&bursts, recording->spikes, recording->spike_count,
                                               sf_recording_duration_ns(recording), error);
    if (status == SF_OK &&
        (activity->array_bursts = sf_alloc(bursts.count, sizeof *activity->array_bursts)) == NULL)
        status = sf_fail_memory(error);
    for (size_t b = 0; status == SF_OK && b < bursts.count; b++) {
        sf_array_burst *burst = &activity->array_bursts[activity->array_burst_count++];
        burst->span = bursts.items[b];
        while (recording->spikes[spike].time_ns < burst->span.start_ns)
            spike++;
        for (; spike < recording->spike_count && recording->spikes[spike].time_ns < burst->span.stop_ns;
             spike++) {
            uint32_t unit = recording->spikes[spike].unit;
            burst->spikes++;
            burst->units += activity->units[unit].active && last[unit] != b + 1;
            last[unit] = b + 1;
        }
        burst->is_network = burst->units >= 2 &&
                            (double)burst->units >= options->network_share * (double)activity->active_units;
    }
    if (last != NULL)
        sf_bursts_free(&bursts);
    sf_free(last);
    return status;
}

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
        status = look_at_unit(activity, &activity->units[u], recording, t.times_ns + t.first[u],
                              t.first[u + 1] - t.first[u], options, error);
        activity->active_units += activity->units[u].active;
    }
    if (status == SF_OK)
        status = count_electrodes(activity, recording, error);
    if (status == SF_OK)
        status = look_at_bursts(activity, recording, options, error);
    sf_free(t.times_ns);
    sf_free(t.first);
    return status;
}

void sf_activity_free(sf_activity *activity)
{
    sf_free(activity->units);
    sf_free(activity->unit_bursts.items);
    sf_free(activity->array_bursts);
    *activity = (sf_activity){0};
}

/* ---- in numbers ---- */

static int by_value(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* Over active units that have one. */
static double median_cv(const sf_activity *activity)
{
    double *values = sf_alloc(activity->unit_count, sizeof *values), median = NAN;
    size_t count = 0;
    for (size_t u = 0; values != NULL && u < activity->unit_count; u++)
        if (activity->units[u].active && isfinite(activity->units[u].isi_cv))
            values[count++] = activity->units[u].isi_cv;
    if (count > 0) {
        qsort(values, count, sizeof *values, by_value);
        median = (values[(count - 1) / 2] + values[count / 2]) / 2;
    }
    sf_free(values);
    return median;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static void measure_units(const sf_activity *activity, double *values)
{
    double rate = 0, bursts = 0, in_bursts = 0, spikes = 0, seconds = 0;
    for (size_t u = 0; u < activity->unit_count; u++) {
        const sf_unit_activity *unit = &activity->units[u];
        if (!unit->active)
            continue;
        rate += unit->rate_hz;
        bursts += (double)unit->bursts;
        spikes += (double)unit->in_bursts;
        in_bursts += share((double)unit->in_bursts, (double)unit->spikes);
        for (size_t b = 0; b < unit->bursts; b++) {
            const sf_unit_burst *burst = &activity->unit_bursts.items[unit->first_burst + b];
            seconds += (double)(burst->last_ns - burst->first_ns) / (double)SF_SECOND;
        }
    }
    double active = (double)activity->active_units;
    values[SF_MEASURE_RATE] = share(rate, active);
    values[SF_MEASURE_ACTIVE] = active;
    values[SF_MEASURE_BURST_RATE] = share(bursts / active, activity->duration_s / 60);
    values[SF_MEASURE_BURST_SHARE] = share(in_bursts, active);
    values[SF_MEASURE_BURST_DURATION] = share(seconds, bursts);
    values[SF_MEASURE_BURST_SPIKES] = share(spikes, bursts);
}

void sf_activity_measure(const sf_activity *activity, double values[SF_MEASURES])
{
    double bursts = 0, spikes = 0, seconds = 0, units = 0;
    for (size_t b = 0; b < activity->array_burst_count; b++) {
        const sf_array_burst *burst = &activity->array_bursts[b];
        if (!burst->is_network)
            continue;
        bursts++;
        spikes += (double)burst->spikes;
        units += (double)burst->units;
        seconds += (double)(burst->span.stop_ns - burst->span.start_ns) / (double)SF_SECOND;
    }
    measure_units(activity, values);
    values[SF_MEASURE_ISI_CV] = median_cv(activity);
    values[SF_MEASURE_NETWORK_RATE] = share(bursts, activity->duration_s / 60);
    values[SF_MEASURE_NETWORK_DURATION] = share(seconds, bursts);
    values[SF_MEASURE_NETWORK_SHARE] = share(spikes, (double)activity->spikes);
    values[SF_MEASURE_NETWORK_UNITS] = share(units, bursts * (double)activity->active_units);
}
