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
        if (burst.spikes > 0) bursts[found++] = burst;
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

/* ---- limits from the histogram ---- */

static double interval(const int64_t *times_ns, size_t i)
{
    return (double)(times_ns[i + 1] - times_ns[i]);
}

/* Bursts are the runs at the wider limit that hold a run of `least` spikes at the narrower one, intervals in
 * ns. */
static size_t runs_with_core(sf_unit_burst *bursts, const int64_t *times_ns, size_t count, double core,
                             double wider, uint64_t least)
{
    size_t found = 0;
    for (size_t first = 0; first < count; first++)
        for (size_t last = first + 1; last < count; last++) {
            bool is_run = (first == 0 || interval(times_ns, first - 1) > wider) &&
                          (last + 1 == count || interval(times_ns, last) > wider);
            for (size_t i = first; i < last; i++)
                is_run = is_run && interval(times_ns, i) <= wider;
            bool has_core = false;
            for (size_t from = first; is_run && from + least - 1 <= last; from++) {
                bool close = true;
                for (size_t i = from; i + 1 < from + least; i++)
                    close = close && interval(times_ns, i) <= core;
                has_core = has_core || close;
            }
            if (is_run && has_core)
                bursts[found++] = (sf_unit_burst){first, last - first + 1, times_ns[first], times_ns[last]};
        }
    return found;
}

/* Local linear regression at x over these points: the normal equations by Cramer's rule. */
static double regress(const double *xs, const double *ys, double x)
{
    double most = 0, a = 0, b = 0, d = 0, e = 0, f = 0;
    for (int i = 0; i < 5; i++)
        most = fmax(most, fabs(xs[i] - x));
    for (int i = 0; i < 5; i++) {
        double u = fabs(xs[i] - x) / most, w = (1 - u * u * u) * (1 - u * u * u) * (1 - u * u * u);
        a += w;
        b += w * xs[i];
        d += w * xs[i] * xs[i];
        e += w * ys[i];
        f += w * xs[i] * ys[i];
    }
    double slope = (a * f - b * e) / (a * d - b * b);
    return (e - slope * b) / a + slope * x;
}

/* 0: no peak of short ones; -1: no valley; else ms. */
static double log_valley(const int64_t *times_ns, size_t count)
{
    double edges[200], held[200] = {0}, smooth[200], xs[200], longest = 10;
    int bins = 0;
    for (size_t i = 0; i + 1 < count; i++)
        while (interval(times_ns, i) * 1e-6 > longest)
            longest *= 10;
    for (double decade = 1; decade < longest * 0.99; decade *= 10)
        for (int tenth = 0; tenth < 10; tenth++)
            edges[bins++] = decade * pow(10, tenth / 10.0);
    for (int bin = 0; bin < bins; bin++) {
        xs[bin] = bin;
        for (size_t i = 0; i + 1 < count; i++) {
            double ms = interval(times_ns, i) * 1e-6;
            held[bin] +=
                ms >= edges[bin] * (1 - 1e-12) && (bin + 1 == bins || ms < edges[bin + 1] * (1 - 1e-12));
        }
    }
    for (int bin = 0; bin < bins; bin++) {
        int from = bin < 2 ? 0 : bin > bins - 3 ? bins - 5 : bin - 2;
        smooth[bin] = regress(xs + from, held + from, bin);
    }
    bool peak[200] = {false};
    int highest = -1;
    for (int bin = 1; bin + 1 < bins; bin++) {
        peak[bin] = true;
        for (int other = 0; other < bins; other++)
            if (other != bin && other >= bin - 2 && other <= bin + 2 && !(smooth[bin] - smooth[other] > 1e-9))
                peak[bin] = false;
        if (peak[bin] && edges[bin] < 100 * (1 - 1e-12) &&
            (highest < 0 || smooth[bin] - smooth[highest] > 1e-9))
            highest = bin;
    }
    for (int bin = highest + 1; highest >= 0 && bin < bins; bin++) {
        int least = highest;
        for (int between = highest; between <= bin; between++)
            least = smooth[least] - smooth[between] > 1e-9 ? between : least;
        if (peak[bin] && 1 - fmax(smooth[least], 0) / sqrt(smooth[highest] * smooth[bin]) >= 0.7)
            return edges[least];
    }
    return highest < 0 ? 0 : -1;
}

size_t oracle_log_isi(sf_unit_burst *bursts, const int64_t *times_ns, size_t count, uint64_t least_spikes)
{
    double valley = log_valley(times_ns, count);
    if (valley == 0) return 0;
    if (valley < 0 || valley >= 999.9999) valley = 100;
    return runs_with_core(bursts, times_ns, count, round(fmin(valley, 100) * 1e6), round(valley * 1e6),
                          least_spikes);
}

size_t oracle_cma(sf_unit_burst *bursts, const int64_t *times_ns, size_t count, uint64_t least_spikes)
{
    double least = INFINITY, most = 0, mean = 0, squares = 0, cubes = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        least = fmin(least, interval(times_ns, i));
        most = fmax(most, interval(times_ns, i));
    }
    if (count < 3 || least == most) return 0;
    double width = (most - least) / (most - least < 1e6 ? 10 : 1000), sum = 0;
    size_t bins = (size_t)floor(most / width + 1 + 1e-10), top = 0, at[2];
    double *cma = calloc(bins, sizeof *cma);
    for (size_t i = 0; i + 1 < count; i++) {
        size_t bin = 0; /* (bin width, (bin + 1) width], but for R's tolerance */
        while (interval(times_ns, i) > ((double)bin + 1 + 1e-7) * width)
            bin++;
        cma[bin]++;
    }
    for (size_t bin = 0; bin < bins; bin++) {
        sum += cma[bin];
        cma[bin] = sum / (double)(bin + 1);
        top = cma[bin] > cma[top] ? bin : top;
        mean += cma[bin] / (double)bins;
    }
    for (size_t bin = 0; bin < bins; bin++) {
        squares += pow(cma[bin] - mean, 2);
        cubes += pow(cma[bin] - mean, 3);
    }
    double skew = cubes / (double)bins / pow(squares / ((double)bins - 1), 1.5);
    double alpha[2] = {skew < 1   ? 1
                       : skew < 4 ? 0.7
                       : skew < 9 ? 0.5
                                  : 0.3,
                       skew < 4   ? 0.5
                       : skew < 9 ? 0.3
                                  : 0.1};
    for (int k = 0; k < 2; k++) {
        at[k] = top;
        for (size_t bin = top; bin < bins; bin++)
            if (fabs(cma[bin] - alpha[k] * cma[top]) < fabs(cma[at[k]] - alpha[k] * cma[top])) at[k] = bin;
    }
    free(cma);
    double core = ceil(((double)at[0] + 0.5) * width) - 1, wider = ceil(((double)at[1] + 0.5) * width) - 1;
    return runs_with_core(bursts, times_ns, count, core, fmax(core, wider), least_spikes);
}

/* ---- Poisson surprise ---- */

/* -log of the sum of the terms from `least` on, each from its logarithm. */
static double surprise(const int64_t *times_ns, size_t first, size_t spikes, double mean_interval)
{
    double mean = (double)(times_ns[first + spikes - 1] - times_ns[first]) / mean_interval, tail = 0;
    double least = (double)spikes - 1;
    if (mean == 0) return INFINITY;
    double top = fmax(least, mean), scale = top * log(mean) - mean - lgamma(top + 1);
    for (double k = least; k < least + 300 + 10 * mean; k++)
        tail += exp(k * log(mean) - mean - lgamma(k + 1) - scale);
    return -scale - log(tail);
}

size_t oracle_surprise(sf_unit_burst *bursts, const int64_t *times_ns, size_t count,
                       const sf_burst_rule *rule)
{
    size_t found = 0, n = 0;
    double mean = count > 1 ? (double)(times_ns[count - 1] - times_ns[0]) / (double)(count - 1) : 0;
    while (n + 2 < count) {
        if (!(interval(times_ns, n) < mean / 2 && interval(times_ns, n + 1) < mean / 2)) {
            n++;
            continue;
        }
        size_t first = n, spikes = 3;
        for (bool grows = true; grows;) {
            double now = surprise(times_ns, first, spikes, mean);
            grows = false;
            for (size_t more = 1; more <= 10 && first + spikes + more <= count && !grows; more++) {
                if (surprise(times_ns, first, spikes + more, mean) > now) {
                    spikes += more;
                    grows = true;
                } else if (interval(times_ns, first + spikes + more - 2) > 2 * mean)
                    break;
            }
        }
        while (spikes > 3 &&
               surprise(times_ns, first + 1, spikes - 1, mean) > surprise(times_ns, first, spikes, mean)) {
            first++;
            spikes--;
        }
        if (surprise(times_ns, first, spikes, mean) >= rule->least_surprise && spikes >= rule->least_spikes)
            bursts[found++] = (sf_unit_burst){first, spikes, times_ns[first], times_ns[first + spikes - 1]};
        n = first + spikes;
    }
    return found;
}

/* ---- ISI_N ---- */

size_t oracle_isi_n(size_t *first, size_t *spikes, const int64_t *times_ns, size_t count, size_t needed,
                    int64_t within_ns)
{
    bool *meets = calloc(count + 1, sizeof *meets), in_burst = false;
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t from = i + 1 > needed ? i + 1 - needed : 0; from <= i; from++)
            meets[i] = meets[i] ||
                       (from + needed <= count && times_ns[from + needed - 1] - times_ns[from] <= within_ns);
    for (size_t i = 0; i <= count; i++) {
        bool far = in_burst && i < count && spikes[found] >= needed &&
                   times_ns[i] - times_ns[i + 1 - needed] > within_ns;
        if (in_burst && (i == count || !meets[i] || far)) {
            found += spikes[found] >= needed;
            in_burst = false;
        }
        if (i == count || !meets[i]) continue;
        if (!in_burst) {
            first[found] = i;
            spikes[found] = 0;
            in_burst = true;
        }
        spikes[found]++;
    }
    free(meets);
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
    if (recording->spike_count == 0) return 0;
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
        if (burst && is_shared(&t, rule, span.start_ns, span.stop_ns)) spans[found++] = span;
    }
    free(held);
    free(means);
    return found;
}
