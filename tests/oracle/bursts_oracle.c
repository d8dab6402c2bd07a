/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/bursts_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Spikes from..to, both included, that no interval over `within` parts. */
static sf_unit_burst from_first_short(const int64_t *times_ns, size_t from, size_t to,
                                      const sf_burst_rule *rule)
{
    for (size_t i = from; i < to; i++)
        if (times_ns[i + 1] - times_ns[i] <= rule->begin_ns)
            return (sf_unit_burst){i, to - i + 1, times_ns[i], times_ns[to]};
    return (sf_unit_burst){.spikes = 0};
}

static size_t remove_at(sf_unit_burst *bursts, size_t count, size_t i)
{
    memmove(bursts + i, bursts + i + 1, (count - i - 1) * sizeof *bursts);
    return count - 1;
}

size_t oracle_unit_bursts(sf_unit_burst *bursts, const int64_t *times_ns, size_t count,
                          const sf_burst_rule *rule)
{
    size_t found = 0, i = 0;
    for (size_t from = 0; from < count;) {
        size_t to = from;
        while (to + 1 < count && times_ns[to + 1] - times_ns[to] <= rule->within_ns)
            to++;
        sf_unit_burst burst = from_first_short(times_ns, from, to, rule);
        if (burst.spikes > 0)
            bursts[found++] = burst;
        from = to + 1;
    }
    while (i + 1 < found) {
        if (bursts[i + 1].first_ns - bursts[i].last_ns >= rule->apart_ns) {
            i++;
            continue;
        }
        bursts[i].last_ns = bursts[i + 1].last_ns;
        bursts[i].spikes = bursts[i + 1].first - bursts[i].first + bursts[i + 1].spikes;
        found = remove_at(bursts, found, i + 1);
        i = 0;
    }
    for (i = 0; i < found;)
        if (bursts[i].last_ns - bursts[i].first_ns < rule->least_ns || bursts[i].spikes < rule->least_spikes)
            found = remove_at(bursts, found, i);
        else
            i++;
    return found;
}

/* ---- of the network ---- */

#define BIN 100000000

typedef struct table {
    const sf_recording *recording;
    int64_t origin, bins;
    double recorded; /* ns */
} table;

static double overlap(sf_span a, int64_t start, int64_t stop)
{
    int64_t from = a.start_ns > start ? a.start_ns : start, to = a.stop_ns < stop ? a.stop_ns : stop;
    return to > from ? (double)(to - from) : 0;
}

static double recorded_within(const sf_recording *r, int64_t start, int64_t stop)
{
    double sum = r->observed_count == 0 ? overlap(r->recorded, start, stop) : 0;
    for (size_t i = 0; i < r->observed_count; i++)
        sum += overlap(r->observed[i], start, stop);
    return sum;
}

/* Spikes in [start, stop), of one unit or of all (SIZE_MAX). */
static double count_within(const sf_recording *r, size_t unit, int64_t start, int64_t stop)
{
    double count = 0;
    for (size_t i = 0; i < r->spike_count; i++)
        count += r->spikes[i].time_ns >= start && r->spikes[i].time_ns < stop &&
                 (unit == SIZE_MAX || r->spikes[i].unit == unit);
    return count;
}

static double held_by(const table *t, int64_t bin)
{
    return count_within(t->recording, SIZE_MAX, t->origin + bin * BIN, t->origin + (bin + 1) * BIN);
}

static double mean_of(const table *t, int64_t bin)
{
    int64_t middle = t->origin + bin * BIN + BIN / 2, away = INT64_C(30000000000);
    double within = recorded_within(t->recording, middle - away, middle + away);
    return count_within(t->recording, SIZE_MAX, middle - away, middle + away) * BIN / fmax(within, BIN);
}

/* Variance over mean of the spikes in windows of so many bins, of trains that have nothing in common. */
static double clumping(const table *t, int64_t length)
{
    double variance = 0, mean = 0, windows = t->recorded / (double)(length * BIN);
    for (size_t unit = 0; unit < t->recording->units.count; unit++) {
        double squares = 0, sum = 0;
        for (int64_t first = 0; first < t->bins; first += length) {
            double held =
                count_within(t->recording, unit, t->origin + first * BIN, t->origin + (first + length) * BIN);
            squares += held * held;
            sum += held;
        }
        variance += squares / windows - (sum / windows) * (sum / windows);
        mean += sum / windows;
    }
    return fmax(1, variance / mean);
}

static bool stands_out(const double *held, const double *means, int64_t length, double clumps)
{
    double sum = 0, mean = 0;
    for (int64_t i = 0; i < length; i++) {
        sum += held[i];
        mean += means[i];
    }
    return sum >= 10 && sum >= 1.5 * mean && sum >= mean + 4.5 * sqrt(clumps * mean) + (4.5 * 4.5 - 1) / 6;
}

static bool is_shared(const table *t, const sf_network_rule *rule, int64_t start, int64_t stop)
{
    size_t active = 0, fire = 0;
    for (size_t unit = 0; unit < t->recording->units.count; unit++) {
        bool is_active =
            count_within(t->recording, unit, INT64_MIN, INT64_MAX) >= rule->active_hz * t->recorded * 1e-9;
        active += is_active;
        fire += is_active && count_within(t->recording, unit, start, stop) > 0;
    }
    return fire >= 2 && (double)fire >= rule->share * (double)active;
}

size_t oracle_network_bursts(sf_span *spans, const sf_recording *recording, const sf_network_rule *rule)
{
    table t = {.recording = recording, .recorded = recorded_within(recording, INT64_MIN, INT64_MAX)};
    size_t found = 0;
    if (recording->spike_count == 0)
        return 0;
    t.origin = recording->spikes[0].time_ns;
    t.bins = (recording->spikes[recording->spike_count - 1].time_ns - t.origin) / BIN + 1;
    double *held = calloc((size_t)t.bins, sizeof *held), *means = calloc((size_t)t.bins, sizeof *means);
    const double clumps[] = {clumping(&t, 1), clumping(&t, 2), clumping(&t, 4)};
    for (int64_t bin = 0; bin < t.bins; bin++) {
        held[bin] = held_by(&t, bin);
        means[bin] = mean_of(&t, bin);
    }
    for (int64_t from = 0, to; from < t.bins; from = to + 1) {
        bool burst = false;
        for (to = from; to < t.bins && held[to] > 0 && held[to] >= means[to]; to++)
            ;
        for (int scale = 0; scale < 3; scale++)
            for (int64_t at = from, length = INT64_C(1) << scale; at + length <= to; at++)
                burst = burst || stands_out(held + at, means + at, length, clumps[scale]);
        const sf_span span = {t.origin + from * BIN, t.origin + to * BIN};
        if (burst && is_shared(&t, rule, span.start_ns, span.stop_ns))
            spans[found++] = span;
    }
    free(held);
    free(means);
    return found;
}
