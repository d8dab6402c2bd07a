/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/significance_oracle.h"

#include "core/random.h"
#include "oracle/count_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shifting ---- */

/* One of 0 .. limit - 1: 64 random bits as a fraction of 2^64, times the limit. */
static int64_t one_of(uint64_t bits, int64_t limit)
{
    return (int64_t)(((unsigned __int128)bits * (unsigned __int128)limit) >> 64);
}

/* Where a spike of this train goes that was fired so long after the first spike of the recording. */
static int64_t shift(const oracle_shifting *how, uint32_t surrogate, uint32_t train, int64_t since)
{
    uint64_t stream = (UINT64_C(1) << 63) + (UINT64_C(1) << 32) + surrogate, of_train = (uint64_t)train << 32;
    uint64_t words[2];
    sf_random_block(words, how->seed, stream, of_train + UINT32_MAX);
    int64_t segment = (since + one_of(words[0], how->segment_ns)) / how->segment_ns;
    sf_random_block(words, how->seed, stream, of_train + (uint64_t)segment);
    return since + one_of(words[1], how->width_ns + 1) - one_of(words[0], how->width_ns + 1);
}

static int by_time_and_unit(const void *a, const void *b)
{
    const sf_spike *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return (left->unit > right->unit) - (left->unit < right->unit);
}

/* A surrogate, or (number < 0) the whole train of one end displaced by a distance. */
typedef struct move {
    bool first;
    int64_t number, distance_ns;
} move;

/* The count with the unit at that end replaced by its moved train: a unit of its own, which at one instant
 * comes right after the recorded one, or right before it where it is the episode's first. */
static uint64_t count_moved(const oracle_shifting *how, sf_episode episode, move m)
{
    uint32_t end = m.first ? 0 : episode.size - 1, moved = episode.units[end];
    sf_spike *all = malloc((2 * how->count + 1) * sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < how->count; i++) {
        sf_spike spike = how->spikes[i];
        int64_t start = how->spikes[0].time_ns, since = spike.time_ns - start;
        all[count++] = (sf_spike){.time_ns = spike.time_ns, .unit = 2 * spike.unit + m.first};
        if (spike.unit != moved) continue;
        since = m.number < 0 ? since + m.distance_ns : shift(how, (uint32_t)m.number, moved, since);
        all[count++] = (sf_spike){.time_ns = start + since, .unit = 2 * moved + !m.first};
    }
    for (uint32_t i = 0; i < episode.size; i++)
        episode.units[i] = 2 * episode.units[i] + m.first;
    episode.units[end] = 2 * moved + !m.first;
    qsort(all, count, sizeof *all, by_time_and_unit);
    uint64_t found = oracle_count(all, count, &episode);
    free(all);
    return found;
}

/* ---- how much less a recorded count deviates ---- */

/* How likely the difference of two uniform numbers of 0 .. 1 is below x. */
static double likely_below(double x)
{
    if (x <= -1) return 0;
    if (x >= 1) return 1;
    return x < 0 ? (1 + x) * (1 + x) / 2 : 1 - (1 - x) * (1 - x) / 2;
}

/* Every lag by itself, in steps so small that they do not matter; steps end at the delay's bounds. */
static double ratio(const oracle_shifting *how, sf_delay delay)
{
    enum { STEPS = 20000 };
    double width = (double)how->width_ns, low = (double)delay.low_ns / width,
           high = (double)delay.high_ns / width;
    double step = (high - low) / STEPS, deviation = 0, surrogates = 0;
    long before = (long)ceil(4 / step) + 1, after = before; /* of steps, to either side of the delay */
    for (long i = -before; i < STEPS + after; i++) {
        double lag = low + ((double)i + 0.5) * step, far = 0;
        for (int side = -1; side <= 1; side += 2)
            far += (lag + 3 * side > low && lag + 3 * side <= high) / 2.0;
        double within = i >= 0 && i < STEPS, reached = likely_below(high - lag) - likely_below(low - lag);
        double left = within - (within - far) / how->divisor - reached;
        deviation += left * left;
        surrogates += within * within - reached * reached;
    }
    return sqrt(deviation / surrogates);
}

/* ---- counts that saturate ---- */

/* Of a train with `crowd` spikes expected in the delay: how alike two counts are, so many delays apart. */
static double alike(double crowd, double apart)
{
    if (fabs(apart) >= 1) return 0;
    return crowd < 1e-9 ? 1 - fabs(apart) : (exp(-crowd * fabs(apart)) - exp(-crowd)) / (1 - exp(-crowd));
}

/* The root of how much the recorded count varies around the mean of 64 offsets, against how much they do. */
static double saturated_ratio(const oracle_shifting *how, double delays, double crowd)
{
    enum { OFFSETS = 64, ALL = OFFSETS + 3 };
    double at[ALL], weight[ALL], recorded = 0, within = 0, sum = 0;
    for (int i = 0; i < OFFSETS; i++) {
        at[i] = (2 * i + 1 - OFFSETS) / (double)OFFSETS;
        sum += 1 - fabs(at[i]);
    }
    for (int i = 0; i < OFFSETS; i++)
        weight[i] = -(1 - fabs(at[i])) / sum;
    for (int i = 0; i < 3; i++) {
        at[OFFSETS + i] = 3 * (i - 1);
        weight[OFFSETS + i] = i == 1 ? 1 - 1 / how->divisor : 0.5 / how->divisor;
    }
    for (int i = 0; i < ALL; i++)
        for (int k = 0; k < ALL; k++) {
            double part = weight[i] * weight[k] * alike(crowd, (at[i] - at[k]) * delays);
            recorded += part;
            within += i < OFFSETS && k < OFFSETS ? part : 0;
        }
    return sqrt(recorded / (1 - within));
}

/* Where such a part of the pairs is counted, with the crowd that makes it so, against where all are. */
static double at_part(const oracle_shifting *how, double delays, double part)
{
    double low = 0, high = 40;
    while (high - low > 1e-10) {
        double middle = (low + high) / 2;
        if ((1 - exp(-middle)) / middle > part)
            low = middle;
        else
            high = middle;
    }
    return saturated_ratio(how, delays, low) / saturated_ratio(how, delays, 0);
}

static double counted_of(double mean, double near)
{
    return near > mean ? mean / near : 1;
}

/* The part of the pairs of the last unit's spikes and what ends before them that is counted, by the numbers
 * of spikes alone: from the chain's first spike to its last. */
static double counted_by_rates(const oracle_shifting *how, const sf_episode *episode, bool backwards,
                               double mean)
{
    double spikes[SF_EPISODE_MAX_SIZE] = {0}, first = NAN, last = NAN;
    for (size_t i = 0; i < how->count; i++)
        for (uint32_t k = 0; k < episode->size; k++)
            if (how->spikes[i].unit == episode->units[k]) {
                last = (double)(how->spikes[i].time_ns - how->spikes[0].time_ns);
                first = isnan(first) ? last : first;
                spikes[backwards ? episode->size - 1 - k : k]++;
            }
    double ends = spikes[0], of_delay = 0;
    for (uint32_t k = 1; k < episode->size; k++) {
        if (k > 1) /* a spike of unit k - 1 ends one where any end lies within the delay before it */
            ends = spikes[k - 1] * (1 - exp(-ends * of_delay));
        const sf_delay *delay = &episode->delays[backwards ? episode->size - 1 - k : k - 1];
        of_delay = (double)(delay->high_ns - delay->low_ns) / (last - first + 1);
    }
    double own = spikes[episode->size - 1], crowd = (ends + own) * of_delay;
    return counted_of(mean, fmin(ends * own * of_delay, mean * crowd / (1 - exp(-crowd))));
}

/* The same of a pair, by how likely each two of its spikes are brought into the delay. */
static double counted_of_pair(const oracle_shifting *how, const sf_episode *pair, double mean)
{
    double near = 0, width = (double)how->width_ns;
    for (size_t a = 0; a < how->count; a++)
        for (size_t b = 0; b < how->count; b++)
            if (how->spikes[a].unit == pair->units[0] && how->spikes[b].unit == pair->units[1]) {
                double lag = (double)(how->spikes[b].time_ns - how->spikes[a].time_ns);
                near += likely_below(((double)pair->delays[0].high_ns - lag) / width) -
                        likely_below(((double)pair->delays[0].low_ns - lag) / width);
            }
    return counted_of(mean, near);
}

/* By how much more an end's recorded count deviates, as trains fill the delay: known at every 32nd. */
static double saturation(const oracle_shifting *how, const sf_episode *episode, bool first, double mean)
{
    const sf_delay *delay = &episode->delays[first ? 0 : episode->size - 2];
    double at = 32 * (episode->size == 2 ? counted_of_pair(how, episode, mean)
                                         : counted_by_rates(how, episode, first, mean)),
           delays = (double)how->width_ns / (double)(delay->high_ns - delay->low_ns);
    int below = at < 31 ? (int)at : 31;
    double lower = at_part(how, delays, below / 32.0), upper = at_part(how, delays, (below + 1) / 32.0);
    return lower + (at - below) * (upper - lower);
}

/* ---- the verdict ---- */

typedef struct half_verdict {
    double p, expected;
} half_verdict;

static half_verdict judge_end(const oracle_shifting *how, const sf_episode *episode, bool first)
{
    double recorded = (double)oracle_count(how->spikes, how->count, episode), mean = 0;
    double far = (double)(count_moved(how, *episode, (move){first, -1, 3 * how->width_ns}) +
                          count_moved(how, *episode, (move){first, -1, -3 * how->width_ns})) /
                 2;
    double blur = rint((recorded - far) / how->divisor);
    uint64_t *counts = malloc(how->surrogates * sizeof *counts), sum = 0;
    for (uint32_t s = 0; s < how->surrogates; s++)
        sum += counts[s] = count_moved(how, *episode, (move){first, s, 0});
    mean = (double)sum / how->surrogates;
    double part =
        ratio(how, episode->delays[first ? 0 : episode->size - 2]) * saturation(how, episode, first, mean);
    double edge = mean + (recorded - blur - 0.5 - mean) / part, as_much = 0;
    uint64_t more = 0;
    for (uint32_t s = 0; s < how->surrogates; s++) {
        double upper = (double)counts[s] + 0.5, lower = (double)counts[s] - 0.5;
        if (edge <= lower)
            more++;
        else if (edge < upper)
            as_much += upper - edge;
    }
    free(counts);
    return (half_verdict){(1 + (double)more + as_much) / (1.0 + how->surrogates), mean + blur};
}

oracle_verdict oracle_significance(const oracle_shifting *how, const sf_episode *episode)
{
    half_verdict last = judge_end(how, episode, false);
    if (episode->size == 2) return (oracle_verdict){last.p, last.p, NAN, NAN, last.expected};
    half_verdict first = judge_end(how, episode, true);
    double links = 0;
    for (uint32_t k = 0; k + 1 < episode->size; k++) {
        sf_episode link = {
            .size = 2, .units = {episode->units[k], episode->units[k + 1]}, .delays = {episode->delays[k]}};
        links = fmax(links, judge_end(how, &link, false).p);
    }
    return (oracle_verdict){fmax(fmax(last.p, first.p), links), last.p, first.p, links,
                            fmax(last.expected, first.expected)};
}

/* ---- splits ---- */

/* How many pairs of a spike of the last unit and one that ends the units before it lie within the delay. */
static double near_last(const sf_spike *all, size_t count, const sf_episode *episode)
{
    bool *ends = malloc((count + 1) * sizeof *ends), *next = malloc((count + 1) * sizeof *next);
    double near = 0;
    for (size_t i = 0; i < count; i++)
        ends[i] = all[i].unit == episode->units[0];
    for (uint32_t k = 1; k < episode->size; k++) {
        sf_delay delay = episode->delays[k - 1];
        near = 0;
        for (size_t i = 0; i < count; i++) {
            double before = 0;
            for (size_t j = 0; j < count && all[i].unit == episode->units[k]; j++) {
                int64_t lag = all[i].time_ns - all[j].time_ns;
                before += ends[j] && lag > delay.low_ns && lag <= delay.high_ns;
            }
            next[i] = before > 0;
            near += before;
        }
        memcpy(ends, next, count * sizeof *ends);
    }
    free(ends);
    free(next);
    return near;
}

/* The count with the units of `group` moved, all by what their first unit's train is moved by: the stream is
 * rebuilt. Units keep their order at one instant. *near is what near_last tells, where it is asked for. */
static uint64_t count_group(const oracle_shifting *how, const sf_episode *episode, uint32_t group, move m,
                            double *near)
{
    sf_spike *all = malloc((how->count + 1) * sizeof *all);
    uint32_t leader = episode->units[__builtin_ctz(group)];
    for (size_t i = 0; i < how->count; i++) {
        all[i] = how->spikes[i];
        int64_t start = how->spikes[0].time_ns, since = all[i].time_ns - start;
        for (uint32_t k = 0; k < episode->size; k++)
            if (episode->units[k] == all[i].unit && (group >> k & 1) != 0)
                all[i].time_ns = start + (m.number < 0 ? since + m.distance_ns
                                                       : shift(how, (uint32_t)m.number, leader, since));
    }
    qsort(all, how->count, sizeof *all, by_time_and_unit);
    uint64_t found = oracle_count(all, how->count, episode);
    if (near != NULL) *near += near_last(all, how->count, episode);
    free(all);
    return found;
}

/* The delay that stands for the links that a split cuts. */
static sf_delay cut_by(const sf_episode *episode, uint32_t group)
{
    double sum = 0;
    int cuts = 0;
    for (uint32_t k = 1; k < episode->size; k++)
        if ((group >> k & 1) != (group >> (k - 1) & 1)) {
            sum += (double)(episode->delays[k - 1].high_ns - episode->delays[k - 1].low_ns);
            cuts++;
        }
    return (sf_delay){0, (int64_t)(cuts == 1 ? sum : 2 * sum / cuts / 3)};
}

static half_verdict judge_split(const oracle_shifting *how, const sf_episode *episode, uint32_t group)
{
    double recorded = (double)oracle_count(how->spikes, how->count, episode), sum = 0, as_much = 0, near = 0;
    double far = (double)(count_group(how, episode, group, (move){false, -1, 3 * how->width_ns}, NULL) +
                          count_group(how, episode, group, (move){false, -1, -3 * how->width_ns}, NULL)) /
                 2;
    double blur = rint((recorded - far) / how->divisor);
    double *counts = malloc(how->surrogates * sizeof *counts);
    for (uint32_t s = 0; s < how->surrogates; s++)
        sum += counts[s] = (double)count_group(how, episode, group, (move){false, s, 0}, &near);
    double mean = sum / how->surrogates;
    sf_delay cut = cut_by(episode, group);
    double part = ratio(how, cut) * at_part(how, (double)how->width_ns / (double)(cut.high_ns - cut.low_ns),
                                            counted_of(mean, near / how->surrogates));
    double edge = mean + (recorded - blur - 0.5 - mean) / part;
    for (uint32_t s = 0; s < how->surrogates; s++)
        as_much += fmin(1, fmax(0, counts[s] + 0.5 - edge));
    free(counts);
    return (half_verdict){(1 + as_much) / (1.0 + how->surrogates), mean + blur};
}

oracle_verdict oracle_splits(const oracle_shifting *how, const sf_episode *episode)
{
    oracle_verdict worst = {0, NAN, NAN, NAN, 0};
    for (uint32_t group = 2; group < UINT32_C(1) << episode->size; group += 2) {
        half_verdict own = judge_split(how, episode, group);
        worst.p = fmax(worst.p, own.p);
        worst.expected = fmax(worst.expected, own.expected);
    }
    return worst;
}
