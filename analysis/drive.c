/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/drive.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/normal.h"
#include "core/poisson.h"
#include "core/reals.h"
#include "core/thread.h"

#include <math.h>

/* ---- pairs by themselves ---- */

typedef struct comparison {
    const sf_drive_job *job;
    const sf_drive_way *way;
    sf_drive_pairs *pairs;
    sf_binned repeats;
    uint32_t reach;
    uint32_t *counts;       /* per worker, of all units, twice */
    double *after, *before; /* per unit: fraction of bins within the lags after a spike; before a spike */
    double edge_filter[SF_DRIVE_EDGE_LAGS], edge_tries;
} comparison;

static uint32_t bin_at(const sf_binned *trains, size_t place)
{
    return trains->spikes[trains->places[place]].bin;
}

/* Fraction of bins up to `last` bins after a spike of the unit, each counted once. For bins before a spike
 * the fraction is the same, except for a few cut off at the ends of recorded time. */
static double tiled_share(const sf_binned *trains, size_t unit, uint32_t last)
{
    double tiled = 0;
    for (size_t i = trains->first[unit]; i < trains->first[unit + 1]; i++) {
        uint32_t next = i + 1 < trains->first[unit + 1] ? bin_at(trains, i + 1) - bin_at(trains, i) : last;
        tiled += next < last ? next : last;
    }
    return tiled / trains->bins;
}

/* Number of spikes of `from` that are followed by one of `to` within first_lag .. last_lag bins. */
static double count_followed(const sf_drive_job *job, size_t from, size_t to)
{
    const sf_binned *trains = job->trains;
    size_t next = trains->first[to], end = trains->first[to + 1], followed = 0;
    for (size_t i = trains->first[from]; i < trains->first[from + 1]; i++) {
        uint32_t bin = bin_at(trains, i);
        while (next < end && bin_at(trains, next) < bin + job->first_lag)
            next++;
        followed += next < end && bin_at(trains, next) <= bin + job->last_lag;
    }
    return (double)followed;
}

/* Number of spikes of `to` that are preceded by one of `from` within these lags. */
static double count_preceded(const sf_drive_job *job, size_t from, size_t to)
{
    const sf_binned *trains = job->trains;
    size_t next = trains->first[from], end = trains->first[from + 1], preceded = 0;
    for (size_t i = trains->first[to]; i < trains->first[to + 1]; i++) {
        uint32_t bin = bin_at(trains, i);
        while (next < end && bin_at(trains, next) + job->last_lag < bin)
            next++;
        preceded += next < end && bin_at(trains, next) + job->first_lag <= bin;
    }
    return (double)preceded;
}

/* Converts z, the maximum of `tried` normal variables, to the normal variable with the same tail probability
 * and sign (Sidak 1967). The null then has a single mode, not one on either side of 0. */
static double as_of_one(double z, double tried)
{
    double away = fabs(z), least = sqrt(fmax(0, away * away - 2 * log(fmax(tried, 1))));
    if (tried <= 1 || away > 6) /* the approximation then errs by less than a hundredth */
        return copysign(least, z);
    double p = -expm1(tried * log1p(-erfc(away * M_SQRT1_2))), step = 1;
    for (int round = 0; round < 50 && fabs(step) > 1e-9; round++) {
        step = (erfc(least * M_SQRT1_2) - p) / (2 * sf_normal_density(least));
        least = fmax(0, least + step);
    }
    return copysign(least, z);
}

static void find_pair(const comparison *c, size_t from, size_t to, const uint32_t *counts,
                      const uint32_t *repeats)
{
    const sf_drive_job *job = c->job;
    const sf_binned *trains = job->trains;
    sf_drive_pair pair = {.counts = counts,
                          .repeats = repeats,
                          .from_spikes = sf_binned_spikes(trains, from),
                          .to_spikes = sf_binned_spikes(trains, to),
                          .bins = trains->bins,
                          .edge_filter = c->edge_filter,
                          .edge_tries = c->edge_tries,
                          .first_lag = job->first_lag,
                          .last_lag = job->last_lag};
    if (!(pair.from_spikes > 0 && pair.to_spikes > 0)) return;
    if (c->way->repeats) pair.to_repeats = sf_binned_spikes(&c->repeats, to);
    if (c->way->tiles) {
        pair.from_tiled = c->after[from], pair.to_tiled = c->after[to];
        pair.followed = count_followed(job, from, to), pair.preceded = count_preceded(job, from, to);
    }
    sf_drive_found found = c->way->find(&pair);
    size_t place = from * trains->unit_count + to;
    double value = isfinite(found.value) ? found.value : 0;
    c->pairs->value[place] = value;
    c->pairs->statistic[place] = found.error > 0 ? as_of_one(value / found.error, found.tried) : value;
    c->pairs->first[place] = (uint8_t)found.first;
    c->pairs->last[place] = (uint8_t)found.last;
    for (uint32_t lag = job->first_lag; lag <= job->last_lag; lag++)
        c->pairs->counts[place] += counts[lag];
}

static int compare_unit(void *context, unsigned worker, size_t unit)
{
    const comparison *c = context;
    const sf_binned *trains = c->job->trains;
    const size_t lags = 2 * (size_t)c->reach + 1;
    uint32_t *counts = c->counts + worker * 2 * trains->unit_count * lags,
             *repeats = counts + trains->unit_count * lags;
    if (worker == 0 &&
        !sf_progress_update(c->job->progress, "lags", (double)unit, (double)trains->unit_count))
        return SF_CANCELLED;
    sf_lags_count(counts, trains, (uint32_t)unit, c->reach);
    if (c->way->repeats) sf_lags_count_of(repeats, trains, (uint32_t)unit, &c->repeats, c->reach);
    for (size_t to = 0; to < trains->unit_count; to++)
        if (to != unit) find_pair(c, unit, to, counts + to * lags + c->reach, repeats + to * lags + c->reach);
    return SF_OK;
}

static int compare_pairs(sf_drive_pairs *pairs, const sf_drive_job *job, sf_error *error)
{
    const sf_binned *trains = job->trains;
    comparison c = {
        .job = job, .way = &sf_drive_ways[job->method], .pairs = pairs, .reach = sf_drive_reach(job)};
    c.counts =
        sf_resize(NULL, job->threads, 2 * trains->unit_count * (2 * (size_t)c.reach + 1) * sizeof *c.counts);
    c.after = sf_resize(NULL, trains->unit_count, sizeof *c.after);
    int status = c.counts != NULL && c.after != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK && c.way->repeats) status = sf_binned_repeats(&c.repeats, trains, error);
    for (size_t u = 0; status == SF_OK && u < trains->unit_count; u++)
        c.after[u] = tiled_share(trains, u, job->last_lag - job->first_lag + 1);
    sf_drive_edge_filter(c.edge_filter);
    c.edge_tries = sf_drive_edge_tries(c.edge_filter, job->last_lag - job->first_lag + 1);
    if (status == SF_OK && sf_parallel_for(job->threads, trains->unit_count, compare_unit, &c) != SF_OK)
        status = sf_fail(error, SF_CANCELLED, NULL, "stopped while units were compared");
    sf_binned_close(&c.repeats);
    sf_free(c.counts);
    sf_free(c.after);
    return status;
}

/* ---- all pairs ---- */

int sf_drive_pairs_open(sf_drive_pairs *pairs, const sf_drive_job *job, sf_error *error)
{
    size_t units = job->trains->unit_count;
    *pairs = (sf_drive_pairs){.unit_count = units,
                              .value = sf_alloc(units, units * sizeof *pairs->value),
                              .statistic = sf_alloc(units, units * sizeof *pairs->statistic),
                              .counts = sf_alloc(units, units * sizeof *pairs->counts),
                              .first = sf_alloc(units, units),
                              .last = sf_alloc(units, units)};
    bool complete = pairs->value != NULL && pairs->statistic != NULL && pairs->counts != NULL &&
                    pairs->first != NULL && pairs->last != NULL;
    int status = complete ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = (job->method == SF_DRIVE_REGRESSION ? sf_drive_regress : compare_pairs)(pairs, job, error);
    if (status != SF_OK) sf_drive_pairs_close(pairs);
    return status;
}

void sf_drive_pairs_close(sf_drive_pairs *pairs)
{
    sf_free(pairs->value);
    sf_free(pairs->statistic);
    sf_free(pairs->counts);
    sf_free(pairs->first);
    sf_free(pairs->last);
    *pairs = (sf_drive_pairs){0};
}

double sf_drive_expected(const sf_drive_job *job, size_t from, size_t to)
{
    double lags = job->last_lag - job->first_lag + 1;
    return sf_binned_spikes(job->trains, from) * sf_binned_spikes(job->trains, to) * lags / job->trains->bins;
}

/* ---- few coincidences ---- */

/* At lags first .. last. */
static double count_coincidences(const sf_binned *trains, size_t from, size_t to, uint32_t first,
                                 uint32_t last)
{
    size_t low = trains->first[to], high = low, end = trains->first[to + 1], count = 0;
    for (size_t i = trains->first[from]; i < trains->first[from + 1]; i++) {
        uint32_t bin = bin_at(trains, i);
        while (low < end && bin_at(trains, low) < bin + first)
            low++;
        while (high < end && bin_at(trains, high) <= bin + last)
            high++;
        count += high > low ? high - low : 0;
    }
    return (double)count;
}

/* The normal deviate, 0 to 38, with upper tail probability p. */
static double normal_beyond(double p)
{
    double low = 0, high = 38;
    for (int round = 0; round < 50; round++) {
        double middle = (low + high) / 2;
        *(0.5 * erfc(middle * M_SQRT1_2) > p ? &low : &high) = middle;
    }
    return low;
}

double sf_drive_most_score(const sf_drive_pairs *pairs, const sf_drive_job *job, size_t from, size_t to)
{
    size_t place = from * pairs->unit_count + to;
    uint32_t first = pairs->first[place], last = pairs->last[place];
    double windows = (double)(job->last_lag - job->first_lag + 1) / (last - first + 1),
           expected = sf_drive_expected(job, from, to) / windows;
    if (!(expected < SF_DRIVE_LEAST_EXPECTED)) return INFINITY;
    double count = count_coincidences(job->trains, from, to, first, last);
    return normal_beyond(fmin(1, windows * exp(-sf_poisson_surprise(expected, count))));
}

/* ---- what most pairs are like ---- */

static double median_of(const double *ascending, size_t count)
{
    return count == 0 ? 0 : (ascending[(count - 1) / 2] + ascending[count / 2]) / 2;
}

#define NORMAL_QUARTILE 0.6744897501960817

sf_drive_null sf_drive_null_of(double *statistics, size_t count)
{
    sf_reals_sort(statistics, count);
    sf_drive_null null = {.median = median_of(statistics, count)};
    size_t half = count / 2;
    null.below = (null.median - median_of(statistics, half)) / NORMAL_QUARTILE;
    null.above = (median_of(statistics + (count - half), half) - null.median) / NORMAL_QUARTILE;
    return null;
}

double sf_drive_standardise(const sf_drive_null *null, double statistic)
{
    double away = statistic - null->median, spread = away < 0 ? null->below : null->above;
    return spread > 0 ? away / spread : 0;
}

/* Those on one side, the furthest first. */
static void judge_side(double *confidence, const sf_rank *ranks, size_t count, size_t pairs)
{
    double least = 1;
    for (size_t i = count; i-- > 0;) {
        double by_chance = (double)pairs * 0.5 * erfc(-ranks[i].amount * M_SQRT1_2);
        least = fmin(least, by_chance / (double)(i + 1));
        confidence[ranks[i].index] = 1 - least;
    }
}

int sf_drive_confidence(double *confidence, const double *scores, size_t count, sf_error *error)
{
    sf_rank *ranks = sf_resize(NULL, count, sizeof *ranks);
    if (ranks == NULL) return sf_fail_memory(error);
    for (int sign = -1; sign <= 1; sign += 2) {
        size_t side = 0;
        for (size_t i = 0; i < count; i++)
            if (scores[i] * sign > 0)
                ranks[side++] = (sf_rank){.amount = -scores[i] * sign, .index = i};
            else if (!(scores[i] < 0 || scores[i] > 0))
                confidence[i] = 0;
        sf_ranks_sort(ranks, side);
        judge_side(confidence, ranks, side, count);
    }
    sf_free(ranks);
    return SF_OK;
}
