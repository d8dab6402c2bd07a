/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/branching.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"

#include <math.h>
#include <stdlib.h>

/* ---- sums of blocks ---- */

/* Sums over the pairs of bins (t, t + k) of a block, after subtracting the mean of all bins. */
typedef struct sums {
    double pairs, x, y, xx, xy;
} sums;

typedef struct block {
    size_t from, to, end; /* from, to: its bins; end: that of its observed interval */
} block;

typedef struct blocks {
    const double *counts; /* less their mean */
    block *items;
    sums *of;                 /* lags of each */
    size_t count, lags, bins; /* bins: of a block */
} blocks;

static double dot(const double *a, const double *b, size_t count)
{
    double lanes[4] = {0}; /* so that the compiler may use vectors */
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t lane = 0; lane < 4; lane++)
            lanes[lane] += a[i + lane] * b[i + lane];
    for (; i < count; i++)
        lanes[0] += a[i] * b[i];
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

static double sum_of(const double *a, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i];
    return sum;
}

static void add_up_block(sums *of, const blocks *all, const block *b)
{
    const double *counts = all->counts;
    double x = sum_of(counts + b->from, b->to - b->from), y = x,
           xx = dot(counts + b->from, counts + b->from, b->to - b->from);
    size_t pairs = b->to - b->from;
    for (size_t k = 1; k <= all->lags; k++) {
        if (b->from + pairs + k > b->end && pairs > 0) { /* the last pair has no partner any more */
            pairs--;
            x -= counts[b->from + pairs];
            xx -= counts[b->from + pairs] * counts[b->from + pairs];
        } else if (pairs > 0)
            y += counts[b->from + pairs + k - 1];
        y = pairs > 0 ? y - counts[b->from + k - 1] : 0;
        of[k - 1] = (sums){(double)pairs, x, y, xx, dot(counts + b->from, counts + b->from + k, pairs)};
    }
}

/* Cuts each observed interval into whole blocks; a rest shorter than half a block is added to the last one.
 */
static int cut_blocks(blocks *all, const sf_population *population, sf_error *error)
{
    size_t capacity = 0;
    all->bins = population->bins / SF_BRANCHING_BLOCKS;
    all->bins = all->bins > all->lags ? all->bins : all->lags;
    for (size_t i = 0; i < population->interval_count; i++) {
        size_t end = population->first[i + 1];
        for (size_t from = population->first[i], to; from < end; from = to) {
            to = end - from < all->bins + all->bins / 2 ? end : from + all->bins;
            if (sf_reserve(&all->items, &capacity, all->count + 1, sizeof *all->items) != 0)
                return sf_fail_memory(error);
            all->items[all->count++] = (block){from, to, end};
        }
    }
    all->of = sf_alloc(all->count * all->lags, sizeof *all->of);
    if (all->of == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < all->count; i++)
        add_up_block(all->of + i * all->lags, all, &all->items[i]);
    return SF_OK;
}

/* Computes r_k from these blocks, each counted times[block] times. */
static void find_slopes(double *r, const blocks *all, const double *times)
{
    for (size_t k = 0; k < all->lags; k++) {
        sums s = {0};
        for (size_t i = 0; i < all->count; i++) {
            const sums *of = &all->of[i * all->lags + k];
            s.pairs += times[i] * of->pairs;
            s.x += times[i] * of->x;
            s.y += times[i] * of->y;
            s.xx += times[i] * of->xx;
            s.xy += times[i] * of->xy;
        }
        double variance = s.xx - s.x * s.x / s.pairs;
        r[k] = variance > 0 ? (s.xy - s.x * s.y / s.pairs) / variance : 0;
    }
}

/* ---- exponentials ---- */

/* b m^k + c, and its squared error. */
typedef struct decay {
    double m, b, c, squares;
} decay;

/* The best b (and c, with a constant) for a given m: linear least squares. */
static decay fit_given(const double *r, size_t lags, double m, bool constant)
{
    double n = (double)lags, e = 0, ee = 0, er = 0, sum = 0, rr = 0, power = 1;
    for (size_t k = 0; k < lags; k++) {
        power *= m;
        e += power;
        ee += power * power;
        er += power * r[k];
        sum += r[k];
        rr += r[k] * r[k];
    }
    if (!constant) return (decay){m, er / ee, 0, rr - er * er / ee};
    double spread = ee - e * e / n, common = er - e * sum / n;
    double b = spread > 1e-12 * ee ? common / spread : 0, c = (sum - b * e) / n;
    return (decay){m, b, c, rr - sum * sum / n - b * common};
}

static decay fit_tau(const double *r, size_t lags, double log_tau, bool constant)
{
    return fit_given(r, lags, exp(-exp(-log_tau)), constant);
}

#define GRID 40
#define LONGEST 100 /* time constants are searched up to this multiple of the longest lag, ... */

/* ... with a constant only up to the longest lag, because beyond it decay and constant cannot be told apart.
 * Searches a logarithmic grid, then by golden section around the best. */
static decay fit_decay(const double *r, size_t lags, bool constant)
{
    double from = log(0.1), step = (log((constant ? 1 : LONGEST) * (double)lags) - from) / GRID;
    size_t best = 0;
    decay found = fit_tau(r, lags, from, constant);
    for (size_t i = 1; i <= GRID; i++) {
        const decay at = fit_tau(r, lags, from + (double)i * step, constant);
        if (at.squares < found.squares) {
            found = at;
            best = i;
        }
    }
    const double golden = 0.6180339887498949;
    double low = from + ((double)best - 1) * step, high = from + ((double)best + 1) * step;
    double inner = high - golden * (high - low), outer = low + golden * (high - low);
    decay at_inner = fit_tau(r, lags, inner, constant), at_outer = fit_tau(r, lags, outer, constant);
    while (high - low > 1e-6) {
        if (at_inner.squares < at_outer.squares) {
            high = outer;
            outer = inner;
            at_outer = at_inner;
            at_inner = fit_tau(r, lags, inner = high - golden * (high - low), constant);
        } else {
            low = inner;
            inner = outer;
            at_inner = at_outer;
            at_outer = fit_tau(r, lags, outer = low + golden * (high - low), constant);
        }
    }
    return at_inner.squares < at_outer.squares ? at_inner : at_outer;
}

/* ---- the interval ---- */

typedef struct drawings {
    double m[SF_BRANCHING_ROUNDS];
    double first[SF_BRANCHING_ROUNDS];  /* mean of the first r_k */
    double offset[SF_BRANCHING_ROUNDS]; /* c */
    double times[];
} drawings;

#define FIRST 10 /* lags at which memory is looked for */

static double mean_of_first(const double *r, size_t lags)
{
    size_t count = lags < FIRST ? lags : FIRST;
    return sum_of(r, count) / (double)count;
}

static double spread_of(const double *values, size_t count)
{
    double mean = sum_of(values, count) / (double)count, squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

static void draw_blocks(double *times, size_t count, sf_random *random)
{
    for (size_t i = 0; i < count; i++)
        times[i] = 0;
    for (size_t i = 0; i < count; i++)
        times[sf_random_below(random, count)]++;
}

/* `room` holds the r_k of a drawing and the sums of their squares. */
static void draw_all(drawings *d, sf_branching *found, const blocks *all, double *room, uint64_t seed)
{
    size_t lags = all->lags;
    double *r = room, *sums_of = room + lags, *squares = room + 2 * lags, rounds = SF_BRANCHING_ROUNDS;
    sf_random random = sf_random_start(seed, 0);
    for (size_t round = 0; round < SF_BRANCHING_ROUNDS; round++) {
        draw_blocks(d->times, all->count, &random);
        find_slopes(r, all, d->times);
        for (size_t k = 0; k < lags; k++) {
            double away = r[k] - found->r[k];
            sums_of[k] += away;
            squares[k] += away * away;
        }
        d->m[round] = fit_decay(r, lags, false).m;
        d->first[round] = mean_of_first(r, lags);
        d->offset[round] = fit_given(r, lags, found->offset_m, true).c;
    }
    for (size_t k = 0; k < lags; k++)
        found->errors[k] = sqrt(fmax(0, squares[k] - sums_of[k] * sums_of[k] / rounds) / (rounds - 1));
    sf_reals_sort(d->m, SF_BRANCHING_ROUNDS);
}

/* The interval leaves out 2.5 % of the drawings on either side. */
static void find_interval(sf_branching *found, const drawings *d)
{
    found->low = d->m[SF_BRANCHING_ROUNDS / 40];
    found->high = d->m[SF_BRANCHING_ROUNDS - 1 - SF_BRANCHING_ROUNDS / 40];
}

static double tau_of(const sf_branching *found, double m)
{
    return m > 0 && m < 1 ? -(double)found->bin_ns * 1e-9 / log(m) : NAN;
}

/* ---- when not to believe it ---- */

/* The cosine of one frequency that best explains the residuals of the fit with a constant. */
typedef struct cosine {
    double cycles, amplitude, share; /* cycles: in a bin */
} cosine;

static cosine find_cosine(const double *rest, size_t lags)
{
    cosine best = {0};
    double all = dot(rest, rest, lags), n = (double)lags;
    for (size_t half = 3; half <= lags;
         half++) { /* frequencies from 1.5 cycles on, in steps of half a cycle */
        double omega = M_PI * (double)half / n, a = 0, b = 0;
        for (size_t k = 0; k < lags; k++) {
            a += rest[k] * cos(omega * (double)(k + 1));
            b += rest[k] * sin(omega * (double)(k + 1));
        }
        double squares = (a * a + b * b) * 2 / n;
        if (squares > best.share * all)
            best = (cosine){omega / (2 * M_PI), 2 * hypot(a, b) / n, squares / all};
    }
    return best;
}

static double root_mean_square(const double *values, size_t count)
{
    return sqrt(dot(values, values, count) / (double)count);
}

static void look_at_rest(sf_branching *found, const decay *with, double *rest)
{
    double power = 1, weighted = 0;
    for (size_t k = 0; k < found->lags; k++) {
        power *= with->m;
        rest[k] = found->r[k] - with->b * power - with->c;
    }
    const cosine wave = find_cosine(rest, found->lags);
    double error = root_mean_square(found->errors, found->lags), size = fabs(found->b);
    found->oscillation_hz = wave.cycles * 1e9 / (double)found->bin_ns;
    found->oscillation = wave.amplitude;
    if (wave.share > 0.5 && wave.amplitude > 0.1 * size && wave.amplitude > 3 * error)
        found->cautions |= SF_BRANCHING_OSCILLATION;
    power = 1;
    for (size_t k = 0; k < found->lags; k++) {
        power *= found->m;
        rest[k] = found->r[k] - found->b * power;
        weighted += found->errors[k] > 0 ? pow(rest[k] / found->errors[k], 2) : 0;
    }
    bool flagged = (found->cautions & (SF_BRANCHING_OSCILLATION | SF_BRANCHING_OFFSET)) != 0;
    if (!flagged && root_mean_square(rest, found->lags) > 0.1 * size && weighted > 4 * (double)found->lags)
        found->cautions |= SF_BRANCHING_MISFIT;
}

/* Tail probability of chi squared with `degrees` of freedom (Wilson and Hilferty 1931). */
static double chi_squared_p(double x, double degrees)
{
    double part = 2 / (9 * degrees);
    return erfc((cbrt(x / degrees) - (1 - part)) / sqrt(part) * M_SQRT1_2) / 2;
}

/* Variance of the mean of `bins` bins that the fit implies, without its constant. */
static double variance_of_mean(const sf_branching *found, const decay *fit, double bins)
{
    double m = fit->m, b = fit->b;
    double sum =
        m < 1 ? b * (m / (1 - m) - m * (1 - pow(m, bins)) / (bins * (1 - m) * (1 - m))) : b * bins / 2;
    return found->variance / bins * fmax(1 + 2 * sum, 0.01);
}

static double find_drift_p(const sf_branching *found, const blocks *all, const decay *fit)
{
    double chi = 0;
    for (size_t i = 0; i < all->count; i++) {
        const block *b = &all->items[i];
        double bins = (double)(b->to - b->from), mean = sum_of(all->counts + b->from, b->to - b->from) / bins;
        chi += mean * mean / variance_of_mean(found, fit, bins);
    }
    return chi_squared_p(chi, (double)all->count - 1);
}

/* Whether a constant beside the exponential is needed, and within the range of the lags. */
static bool needs_offset(const sf_branching *found, const drawings *d, const decay *without,
                         const decay *with)
{
    double tau = -1 / log(without->m), other = -1 / log(with->m);
    bool differs = without->squares > 2 * with->squares || fmax(tau, other) > 3 * fmin(tau, other);
    return differs && other < (double)found->lags / 2 &&
           fabs(with->c) > 3 * spread_of(d->offset, SF_BRANCHING_ROUNDS);
}

/* ---- all of it ---- */

/* Sets the interval and the cautions. */
static void judge(sf_branching *found, const blocks *all, drawings *d, const decay *without,
                  const decay *with, double *room, uint64_t seed)
{
    draw_all(d, found, all, room, seed);
    find_interval(found, d);
    const decay none = {0};
    bool remembers =
        without->b > 0 && mean_of_first(found->r, all->lags) >= 3 * spread_of(d->first, SF_BRANCHING_ROUNDS);
    bool offset = remembers && needs_offset(found, d, without, with);
    if (!remembers) {
        found->cautions |= SF_BRANCHING_NO_MEMORY;
        found->m = found->b = found->low = found->high = NAN;
    } else if (offset)
        found->cautions |= SF_BRANCHING_OFFSET;
    else if (-1 / log(without->m) > (double)found->lags / 2)
        found->cautions |= SF_BRANCHING_LONG;
    if (remembers) look_at_rest(found, with, room);
    found->drift_p = find_drift_p(found, all, !remembers ? &none : offset ? with : without);
    if (found->drift_p < 0.001) found->cautions |= SF_BRANCHING_DRIFT;
}

static void estimate(sf_branching *found, const blocks *all, drawings *d, double *room,
                     const sf_branching_options *options)
{
    for (size_t i = 0; i < all->count; i++)
        d->times[i] = 1;
    find_slopes(found->r, all, d->times);
    const decay without = fit_decay(found->r, all->lags, false), with = fit_decay(found->r, all->lags, true);
    found->m = without.m;
    found->b = without.b;
    found->offset_m = with.m;
    found->offset_b = with.b;
    found->offset = with.c;
    if (all->count < SF_BRANCHING_LEAST)
        found->cautions |= SF_BRANCHING_SHORT;
    else if (!options->alone)
        judge(found, all, d, &without, &with, room, options->seed);
    found->tau_s = tau_of(found, found->m);
    found->tau_low = tau_of(found, found->low);
    found->tau_high = tau_of(found, found->high);
}

static size_t longest_interval(const sf_population *population)
{
    size_t longest = 0;
    for (size_t i = 0; i < population->interval_count; i++)
        if (population->first[i + 1] - population->first[i] > longest)
            longest = population->first[i + 1] - population->first[i];
    return longest;
}

/* All zero except what the bins tell. */
static sf_branching begin(const sf_population *population, size_t lags)
{
    double bins = (double)population->bins;
    size_t most = longest_interval(population) / 4;
    return (sf_branching){.bin_ns = population->bin_ns,
                          .bins = population->bins,
                          .lags = lags < most ? lags : most,
                          .spikes = population->spikes,
                          .mean = bins > 0 ? (double)population->spikes / bins : NAN,
                          .variance = NAN,
                          .m = NAN,
                          .low = NAN,
                          .high = NAN,
                          .tau_s = NAN,
                          .tau_low = NAN,
                          .tau_high = NAN,
                          .b = NAN,
                          .offset_m = NAN,
                          .offset_b = NAN,
                          .offset = NAN,
                          .oscillation_hz = NAN,
                          .oscillation = NAN,
                          .drift_p = NAN};
}

static int find_of_counts(sf_branching *found, blocks *all, const sf_population *population,
                          const sf_branching_options *options, sf_error *error)
{
    drawings *d = NULL;
    double *room = sf_alloc(3 * all->lags, sizeof *room);
    int status = room == NULL ? sf_fail_memory(error) : cut_blocks(all, population, error);
    if (status == SF_OK) {
        found->blocks = all->count;
        d = sf_alloc(1, sizeof *d + all->count * sizeof *d->times);
        if (d == NULL)
            status = sf_fail_memory(error);
        else
            estimate(found, all, d, room, options);
    }
    sf_free(d);
    sf_free(room);
    sf_free(all->items);
    sf_free(all->of);
    return status;
}

int sf_branching_find(sf_branching *found, const sf_population *population,
                      const sf_branching_options *options, sf_error *error)
{
    *found = begin(population, options->lags);
    if (found->lags < SF_BRANCHING_LAGS || population->spikes == 0) {
        found->lags = 0;
        found->cautions = SF_BRANCHING_SHORT;
        return SF_OK;
    }
    double *counts = sf_alloc(population->bins, sizeof *counts);
    found->r = sf_alloc(found->lags, sizeof *found->r);
    found->errors = sf_alloc(found->lags, sizeof *found->errors);
    int status = counts == NULL || found->r == NULL || found->errors == NULL ? sf_fail_memory(error) : SF_OK;
    if (status == SF_OK) {
        blocks all = {.counts = counts, .lags = found->lags};
        for (size_t i = 0; i < population->bins; i++)
            counts[i] = population->counts[i] - found->mean;
        found->variance = dot(counts, counts, population->bins) / (double)population->bins;
        status = find_of_counts(found, &all, population, options, error);
    }
    sf_free(counts);
    return status;
}

void sf_branching_free(sf_branching *found)
{
    sf_free(found->r);
    sf_free(found->errors);
    *found = (sf_branching){0};
}
