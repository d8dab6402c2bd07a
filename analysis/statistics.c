/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics.h"

#include "analysis/rare.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/random.h"
#include "core/reals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NORMAL_95 1.959963984540054
#define LEVEL 0.05     /* of intervals */
#define ROUNDING 1e-24 /* a variance below this fraction of the sum of squares counts as 0 */
#define HELD 100000u   /* maximum number of permutations used for an interval */
#define HALVINGS 26    /* of the way to an end of an interval */

/* ---- Student's t ---- */

/* The incomplete beta function's continued fraction (Abramowitz and Stegun 26.5.8), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d, factor = 0;
    for (int m = 1; m < 1000 && fabs(factor - 1) > 1e-15; m++) {
        const double terms[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        for (int k = 0; k < 2; k++) {
            d = 1 + terms[k] * d;
            c = 1 + terms[k] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            factor = c * d;
            value *= factor;
        }
    }
    return value;
}

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1) return x >= 1;
    double front = exp(sf_platform_log_gamma(a + b) - sf_platform_log_gamma(a) - sf_platform_log_gamma(b) +
                       a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double sf_student_p(double t, double degrees)
{
    if (isnan(t) || !(degrees > 0)) return NAN;
    return isinf(t) ? 0 : incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double sf_student_quantile(double p, double degrees)
{
    double low = 0, high = 1;
    while (sf_student_p(high, degrees) > p && high < 1e300)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        double middle = low + (high - low) / 2;
        if (sf_student_p(middle, degrees) > p)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

/* ---- what is dealt ---- */

/* Replicates of one block, which are permuted among themselves. */
typedef struct block {
    size_t first;      /* of `members` */
    size_t counts[2];  /* of either group, the first one's first */
    double weight;     /* n m / (n + m) */
    double factors[2]; /* weights of the squared residuals of either group in the variance */
} block;

/* Blocks with replicates of both groups. Replicates are numbered through the first group, then the second. */
typedef struct design {
    size_t *members;   /* block after block */
    size_t *blocks_of; /* block of each replicate; SIZE_MAX: none */
    block *blocks;
    size_t block_count, counts[2];
    double weight;     /* of all blocks */
    double freedom[2]; /* degrees of freedom of either group's part of the variance */
} design;

static size_t replicate_count(const sf_contrast_input *in)
{
    return in->counts[0] + in->counts[1];
}

static double value_in(const double *const values[2], const sf_contrast_input *in, size_t measure,
                       size_t replicate)
{
    int g = replicate >= in->counts[0];
    return values[g][(replicate - (g ? in->counts[0] : 0)) * in->measure_count + measure];
}

static double chance_of(const sf_contrast_input *in, size_t measure, size_t replicate)
{
    return in->chance[0] == NULL ? NAN : value_in(in->chance, in, measure, replicate);
}

static size_t block_of(const sf_contrast_input *in, size_t replicate)
{
    int g = replicate >= in->counts[0];
    size_t i = replicate - (g ? in->counts[0] : 0);
    return in->paired ? i : in->blocks[0] == NULL ? 0 : in->blocks[g][i];
}

static size_t block_limit(const sf_contrast_input *in)
{
    return in->paired ? in->counts[0] : in->blocks[0] == NULL ? 1 : in->block_count;
}

/* Factors of MacKinnon and White's HC2 (1985): a^2 / (1 - h), where the difference is the sum of a times the
 * values and h is the leverage. Residuals that are 0 for any values add nothing. */
static void weigh(design *d)
{
    for (size_t b = 0; b < d->block_count; b++)
        d->weight += d->blocks[b].weight;
    for (size_t b = 0; b < d->block_count; b++) {
        block *of = &d->blocks[b];
        double n = (double)of->counts[0], m = (double)of->counts[1];
        for (int g = 0; g < 2; g++) {
            double away = (g ? n : -m) / (n + m), rest = 1 - 1 / (n + m) - away * away / d->weight;
            bool free = rest > 1e-9;
            of->factors[g] = free ? away * away / (d->weight * d->weight * rest) : 0;
            d->freedom[g] += free ? rest * (double)of->counts[g] : 0;
        }
    }
}

/* Design of the replicates that have these values; NULL: of all replicates. */
static int open_design(design *d, const sf_contrast_input *in, const double *values, sf_error *error)
{
    size_t all = replicate_count(in), limit = block_limit(in);
    d->members = sf_alloc(all, sizeof *d->members);
    d->blocks_of = sf_alloc(all, sizeof *d->blocks_of);
    d->blocks = sf_alloc(limit, sizeof *d->blocks);
    if (d->members == NULL || d->blocks_of == NULL || d->blocks == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < all; i++)
        d->blocks_of[i] = SIZE_MAX;
    for (size_t b = 0; b < limit; b++) {
        block *of = &d->blocks[d->block_count];
        *of = (block){.first = d->counts[0] + d->counts[1]};
        for (size_t i = 0; i < all; i++)
            if (block_of(in, i) == b && (values == NULL || !isnan(values[i]))) {
                d->members[of->first + of->counts[0] + of->counts[1]] = i;
                of->counts[i >= in->counts[0]]++;
            }
        if (of->counts[0] == 0 || of->counts[1] == 0) continue;
        size_t count = of->counts[0] + of->counts[1];
        of->weight = (double)of->counts[0] * (double)of->counts[1] / (double)count;
        for (size_t i = 0; i < count; i++)
            d->blocks_of[d->members[of->first + i]] = d->block_count;
        d->counts[0] += of->counts[0];
        d->counts[1] += of->counts[1];
        d->block_count++;
    }
    weigh(d);
    return SF_OK;
}

static void close_design(design *d)
{
    sf_free(d->members);
    sf_free(d->blocks_of);
    sf_free(d->blocks);
}

/* ---- dealing ---- */

/* Permutes the members of each block; the first ones in the resulting order form the first group. */
typedef struct dealer {
    const design *design;
    bool exact;
    uint64_t dealings, at;
    size_t *order;
    size_t *chosen; /* per block: places of the members that are in the second group */
    sf_random random;
} dealer;

/* In how many ways they can be dealt. */
static double ways_of(const design *d)
{
    double ways = 1;
    for (size_t b = 0; b < d->block_count; b++)
        for (size_t i = 1; i <= d->blocks[b].counts[1]; i++)
            ways *= (double)(d->blocks[b].counts[0] + i) / (double)i;
    return ways;
}

static int open_dealer(dealer *to, const design *d, bool may_be_exact, const sf_contrast_input *in,
                       sf_error *error)
{
    double ways = ways_of(d);
    size_t count = d->counts[0] + d->counts[1];
    bool exact = may_be_exact && ways < (double)in->most + 0.5;
    *to = (dealer){.design = d,
                   .exact = exact,
                   .dealings = exact ? (uint64_t)(ways + 0.5) : in->most,
                   .order = sf_alloc(count, sizeof *to->order),
                   .chosen = sf_alloc(d->counts[1], sizeof *to->chosen),
                   .random = sf_random_start(in->seed, 0)};
    if (to->order == NULL || to->chosen == NULL) return sf_fail_memory(error);
    memcpy(to->order, d->members, count * sizeof *to->order);
    for (size_t b = 0, at = 0; b < d->block_count; at += d->blocks[b++].counts[1])
        for (size_t k = 0; k < d->blocks[b].counts[1]; k++)
            to->chosen[at + k] = k;
    return SF_OK;
}

static void close_dealer(dealer *d)
{
    sf_free(d->order);
    sf_free(d->chosen);
}

/* Advances to the next combination in lexicographic order; after the last, returns false and restarts. */
static bool next_combination(size_t *chosen, size_t count, size_t of)
{
    size_t k = count;
    while (k > 0 && chosen[k - 1] == of - count + k - 1)
        k--;
    bool more = k > 0;
    if (more)
        chosen[--k]++;
    else
        chosen[0] = 0;
    for (k++; k < count; k++)
        chosen[k] = chosen[k - 1] + 1;
    return more;
}

static void deal_next(dealer *d)
{
    bool more = false;
    for (size_t b = 0, at = 0; b < d->design->block_count; b++) {
        const block *of = &d->design->blocks[b];
        const size_t *members = d->design->members + of->first, *chosen = d->chosen + at;
        size_t *first = d->order + of->first, *second = first + of->counts[0];
        for (size_t i = 0, k = 0; i < of->counts[0] + of->counts[1]; i++)
            if (k < of->counts[1] && chosen[k] == i)
                second[k++] = members[i];
            else
                *first++ = members[i];
        if (!more) more = next_combination(d->chosen + at, of->counts[1], of->counts[0] + of->counts[1]);
        at += of->counts[1];
    }
}

/* By chance (Fisher and Yates). */
static void deal_one(dealer *d)
{
    for (size_t b = 0; b < d->design->block_count; b++) {
        const block *of = &d->design->blocks[b];
        size_t *order = d->order + of->first;
        for (size_t i = of->counts[0] + of->counts[1]; i > 1; i--) {
            size_t k = (size_t)sf_random_below(&d->random, i), kept = order[i - 1];
            order[i - 1] = order[k];
            order[k] = kept;
        }
    }
}

/* Advances to the next permutation, or a random one; the first one is the observed assignment. */
static void deal(dealer *d)
{
    if (d->exact)
        deal_next(d);
    else if (d->at > 0)
        deal_one(d);
    d->at++;
}

/* ---- one measure ---- */

/* A permutation, reduced to the numbers that its statistic needs, if any shift s is subtracted from the
 * second group: the difference is effect - s taken, its variance in either group v[0] - 2 s v[1] + s^2 v[2].
 */
typedef struct dealt {
    double effect, taken, variance[2][3];
} dealt;

typedef struct measure {
    const sf_contrast_input *in;
    size_t which;
    design design;
    double *values; /* value of each replicate minus the mean of its block; NaN if missing */
    double *ranks;  /* likewise, for a test by ranks */
    double *sums;   /* per block and group: sums of the values, and of whether they are of the second group */
    int *groups;    /* that each replicate is dealt to */
    size_t *filled; /* of each block: members that are dealt */
    double squares; /* of values, in all */
    double scale;   /* of a difference of ranks */
    bool tested;
    dealt found;
    double found_statistic;
    double rare; /* what one dealing in twenty reaches */
    uint64_t as_great, as_great_of_all;
} measure;

static void take_groups(measure *m, const dealer *from)
{
    const design *d = &m->design;
    size_t count = from->design->counts[0] + from->design->counts[1];
    memset(m->filled, 0, d->block_count * sizeof *m->filled);
    for (size_t i = 0; i < count; i++) { /* those that have no value take no place */
        size_t replicate = from->order[i], b = d->blocks_of[replicate];
        if (b != SIZE_MAX) m->groups[replicate] = m->filled[b]++ >= d->blocks[b].counts[0];
    }
}

/* The least-squares difference within blocks. */
static double difference_of(const measure *m, const double *values, double *taken)
{
    const design *d = &m->design;
    double difference = 0;
    *taken = 0;
    for (size_t b = 0; b < d->block_count; b++) {
        const block *of = &d->blocks[b];
        double *sums = m->sums + 4 * b;
        memset(sums, 0, 4 * sizeof *sums);
        for (size_t i = 0; i < of->counts[0] + of->counts[1]; i++) {
            size_t replicate = d->members[of->first + i];
            sums[m->groups[replicate]] += values[replicate];
            sums[2 + m->groups[replicate]] += replicate >= m->in->counts[0];
        }
        double n = (double)of->counts[0], k = (double)of->counts[1];
        difference += of->weight * (sums[1] / k - sums[0] / n);
        *taken += of->weight * (sums[3] / k - sums[2] / n);
    }
    *taken /= d->weight;
    return difference / d->weight;
}

/* Fits block means and a difference to the permuted values. */
static dealt fit(measure *m)
{
    const design *d = &m->design;
    dealt to = {0};
    to.effect = difference_of(m, m->values, &to.taken);
    for (size_t b = 0; b < d->block_count; b++) {
        const block *of = &d->blocks[b];
        size_t count = of->counts[0] + of->counts[1];
        const double *sums = m->sums + 4 * b;
        double second = (double)of->counts[1] / (double)count, mean = (sums[0] + sums[1]) / (double)count;
        for (size_t i = 0; i < count; i++) {
            size_t replicate = d->members[of->first + i];
            int g = m->groups[replicate];
            double shifted = (replicate >= m->in->counts[0]) - second - to.taken * (g - second);
            double rest = m->values[replicate] - mean - to.effect * (g - second);
            to.variance[g][0] += of->factors[g] * rest * rest;
            to.variance[g][1] += of->factors[g] * rest * shifted;
            to.variance[g][2] += of->factors[g] * shifted * shifted;
        }
    }
    return to;
}

/* Variance of the difference at a shift, and its degrees of freedom by Satterthwaite. */
static double variance_of(const measure *m, const dealt *of, double shift, double *freedom)
{
    double variance = 0, parts = 0;
    for (int g = 0; g < 2; g++) {
        const double *v = of->variance[g];
        double part = fmax(0, v[0] - 2 * shift * v[1] + shift * shift * v[2]);
        variance += part;
        parts += part > 0 ? part * part / m->design.freedom[g] : 0;
    }
    double squares = m->squares + shift * shift * (double)(m->design.counts[0] + m->design.counts[1]);
    if (variance <= ROUNDING * squares) return 0;
    *freedom = variance * variance / parts;
    return variance;
}

/* Test statistic of a permutation: the standard normal deviate with the same p as t (Wallace 1959), because
 * permutations differ in their degrees of freedom. */
static double statistic(const measure *m, const dealt *of, double shift)
{
    double freedom = 0, variance = variance_of(m, of, shift, &freedom);
    double effect = of->effect - shift * of->taken;
    if (variance == 0) return effect * effect > ROUNDING * m->squares ? INFINITY : 0;
    return (8 * freedom + 1) / (8 * freedom + 3) *
           sqrt(freedom * log1p(effect * effect / (variance * freedom)));
}

static double statistic_dealt(measure *m, const dealer *from, dealt *to)
{
    double taken;
    take_groups(m, from);
    *to = fit(m);
    return m->ranks == NULL ? statistic(m, to, 0) : fabs(difference_of(m, m->ranks, &taken)) * m->scale;
}

/* Subtracts the mean of its block from each value, which changes no difference and reduces rounding errors.
 * Returns the sum of squares. */
static double centre(const design *d, double *values)
{
    double squares = 0;
    for (size_t b = 0; b < d->block_count; b++) {
        const size_t *members = d->members + d->blocks[b].first;
        size_t count = d->blocks[b].counts[0] + d->blocks[b].counts[1];
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += values[members[i]];
        for (size_t i = 0; i < count; i++) {
            values[members[i]] -= sum / (double)count;
            squares += values[members[i]] * values[members[i]];
        }
    }
    return squares;
}

/* ---- ranks ---- */

/* Replaces values by their ranks from 1, ties by their mean rank. With `signs`, replaces differences by the
 * signed rank of their size; zeros stay zero and get no rank. */
static void rank(double *values, size_t count, bool signs, sf_rank *room)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!signs || values[i] != 0) room[kept++] = (sf_rank){signs ? fabs(values[i]) : values[i], i};
    sf_ranks_sort(room, kept);
    for (size_t first = 0, end; first < kept; first = end) {
        for (end = first + 1; end < kept && room[end].amount == room[first].amount; end++)
            ;
        double place = (double)(first + 1 + end) / 2;
        for (size_t i = first; i < end; i++)
            values[room[i].index] = signs ? copysign(place, values[room[i].index]) : place;
    }
}

/* Ranks within blocks; for pairs the second gets the signed rank of the difference. */
static void rank_measure(measure *m, const double *raw, sf_rank *room, double *line)
{
    const design *d = &m->design;
    size_t first = m->in->counts[0];
    double variance = 0;
    for (size_t b = 0; m->in->paired && b < d->block_count; b++)
        line[b] = raw[d->members[2 * b + 1]] - raw[d->members[2 * b]];
    if (m->in->paired) rank(line, d->block_count, true, room);
    for (size_t b = 0; b < d->block_count; b++) {
        const block *of = &d->blocks[b];
        size_t count = of->counts[0] + of->counts[1];
        const size_t *members = d->members + of->first;
        double *own = m->in->paired ? line + b : line;
        for (size_t i = 0; !m->in->paired && i < count; i++)
            line[i] = raw[members[i]];
        if (!m->in->paired) rank(line, count, false, room);
        for (size_t i = 0; i < count; i++)
            m->ranks[members[i]] = !m->in->paired ? own[i] : members[i] < first ? 0 : *own;
    }
    centre(d, m->ranks);
    for (size_t b = 0; b < d->block_count; b++) {
        const block *of = &d->blocks[b];
        double squares = 0, count = (double)(of->counts[0] + of->counts[1]);
        for (size_t i = 0; i < of->counts[0] + of->counts[1]; i++)
            squares += m->ranks[d->members[of->first + i]] * m->ranks[d->members[of->first + i]];
        variance += of->weight * squares / (count - 1);
    }
    m->scale = variance > 0 ? d->weight / sqrt(variance) : 0;
}

/* ---- description of a measure ---- */

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static double sd_of(const double *values, size_t count)
{
    double mean = mean_of(values, count), squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
}

/* Hedges' correction for small samples. */
static double correction(double degrees)
{
    return exp(sf_platform_log_gamma(degrees / 2) - sf_platform_log_gamma((degrees - 1) / 2)) *
           sqrt(2 / degrees);
}

static void set_g(sf_compared *of, double d, double factor, double variance)
{
    double half = NORMAL_95 * sqrt(variance);
    of->g = d * factor;
    of->g_low = of->g - half;
    of->g_high = of->g + half;
}

static void describe_groups(sf_compared *of, const measure *m)
{
    const design *d = &m->design;
    double n = (double)(d->counts[0] + d->counts[1]), degrees = n - (double)d->block_count - 1;
    double square = (m->squares - d->weight * of->difference * of->difference) / degrees;
    if (degrees < 2 || !(square > SF_TIES * SF_TIES * m->squares)) return;
    double factor = correction(degrees), g = of->difference / sqrt(square) * factor;
    set_g(of, of->difference / sqrt(square), factor, 1 / d->weight + g * g / (2 * n));
}

/* Bonett's variance; the degrees of freedom for the mean of two correlated variances are Cousineau's. */
static void describe_pairs(sf_compared *of, const double *first, const double *second)
{
    double n = (double)of->n[0], a = of->sd[0] * of->sd[0], b = of->sd[1] * of->sd[1], both = 0;
    const double means[2] = {mean_of(first, of->n[0]), mean_of(second, of->n[0])};
    for (size_t i = 0; i < of->n[0]; i++)
        both += (first[i] - means[0]) * (second[i] - means[1]) / (n - 1);
    if (of->n[0] < 3 || !(a > 0 && b > 0)) return;
    double square = (a + b) / 2, d = of->difference / sqrt(square), r = both / sqrt(a * b);
    double factor = correction(2 * (n - 1) / (1 + r * r));
    double variance = d * d * (a * a + b * b + 2 * both * both) / (8 * square * square * (n - 1)) +
                      (a + b - 2 * both) / (square * (n - 1));
    set_g(of, d, factor, variance * factor * factor);
}

/* Student's t, Welch's of one block. */
static void test_by_t(sf_compared *of, const measure *m)
{
    double freedom = 1, error = sqrt(variance_of(m, &m->found, 0, &freedom));
    double half = error > 0 ? sf_student_quantile(LEVEL, freedom) * error : 0;
    of->low = of->difference - half;
    of->high = of->difference + half;
    of->p = sf_student_p(error > 0 ? of->difference / error : copysign(INFINITY, of->difference), freedom);
}

/* `lines` has room for the values of both groups. */
static void describe(sf_compared *of, measure *m, const double *raw, double *const lines[2])
{
    const design *d = &m->design;
    *of = (sf_compared){.difference = NAN,
                        .low = NAN,
                        .high = NAN,
                        .g = NAN,
                        .g_low = NAN,
                        .g_high = NAN,
                        .p = NAN,
                        .q = NAN,
                        .least = NAN};
    size_t counts[2] = {0};
    double chance[2] = {NAN, NAN};
    for (size_t i = 0; i < replicate_count(m->in); i++) {
        int g = i >= m->in->counts[0];
        m->groups[i] = g;
        if (d->blocks_of[i] == SIZE_MAX && (d->block_count > 0 || m->in->paired || isnan(raw[i]))) continue;
        lines[g][counts[g]++] = raw[i];
        double by_chance = chance_of(m->in, m->which, i);
        chance[g] = isnan(by_chance) ? chance[g] : by_chance + (isnan(chance[g]) ? 0 : chance[g]);
    }
    for (int g = 0; g < 2; g++) {
        of->n[g] = counts[g];
        of->chance[g] = chance[g] / (double)counts[g];
        of->mean[g] = counts[g] > 0 ? mean_of(lines[g], counts[g]) : NAN;
        of->mean[g] += isnan(of->chance[g]) ? 0 : of->chance[g];
        of->sd[g] = sd_of(lines[g], counts[g]);
    }
    if (d->block_count == 0) return;
    m->found = fit(m);
    of->difference = m->found.effect;
    m->tested = counts[0] >= 2 && counts[1] >= 2 && m->squares > 0;
    if (m->tested && m->in->paired)
        describe_pairs(of, lines[0], lines[1]);
    else if (m->tested)
        describe_groups(of, m);
}

/* ---- the tests ---- */

typedef struct testing {
    const sf_contrast_input *in;
    measure *measures;
    design all; /* replicates */
    dealt *held;
} testing;

/* Smallest p that a permutation (together with its mirror image, if it has one) can have. */
static double least_p(const measure *m, const dealer *d)
{
    bool mirrored = true;
    for (size_t b = 0; b < m->design.block_count; b++)
        mirrored = mirrored && m->design.blocks[b].counts[0] == m->design.blocks[b].counts[1];
    double least = (mirrored || m->ranks != NULL ? 2 : 1) / ways_of(&m->design);
    return d->exact ? least : fmax(least, 1 / (double)d->dealings);
}

/* Fraction of permutations at least as extreme as the observed one, after lowering the second group by
 * `shift`. */
static double p_at(const measure *m, const dealt *held, size_t count, double shift)
{
    double found = sf_just_below(statistic(m, &m->found, shift));
    size_t as_great = 0;
    for (size_t i = 0; i < count; i++)
        as_great += statistic(m, &held[i], shift) >= found;
    return (double)as_great / (double)count;
}

/* The furthest shift on this side that the test does not reject; NaN if it cannot reject any. */
static double end_of_interval(const measure *m, const dealt *held, size_t count, double step)
{
    double in = 0, out = step;
    for (int i = 0; i < HALVINGS && p_at(m, held, count, m->found.effect + out) > LEVEL; i++) {
        in = out;
        out *= 2;
    }
    if (p_at(m, held, count, m->found.effect + out) > LEVEL) return NAN;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = in + (out - in) / 2;
        if (p_at(m, held, count, m->found.effect + middle) > LEVEL)
            in = middle;
        else
            out = middle;
    }
    return m->found.effect + in + (out - in) / 2;
}

/* Permutes only the replicates that have the measure. */
static int test_alone(testing *t, measure *m, sf_compared *of, sf_error *error)
{
    dealer d;
    int status = open_dealer(&d, &m->design, true, t->in, error);
    uint64_t every = (d.dealings + HELD - 1) / HELD; /* dealing is held */
    size_t held = 0;
    double *statistics = status == SF_OK ? sf_resize(NULL, (size_t)d.dealings, sizeof *statistics) : NULL;
    if (status == SF_OK && statistics == NULL) status = sf_fail_memory(error);
    for (uint64_t i = 0; status == SF_OK && i < d.dealings; i++) {
        dealt now;
        deal(&d);
        statistics[i] = statistic_dealt(m, &d, &now);
        m->as_great += statistics[i] >= sf_just_below(m->found_statistic);
        if (i % every == 0) t->held[held++] = now;
    }
    if (status == SF_OK) {
        double freedom, step = sqrt(variance_of(m, &m->found, 0, &freedom));
        m->rare = sf_rare_of(statistics, (size_t)d.dealings, NORMAL_95);
        of->p = (double)m->as_great / (double)d.dealings;
        of->least = least_p(m, &d);
        of->low = step > 0 ? end_of_interval(m, t->held, held, -step) : of->difference;
        of->high = step > 0 ? end_of_interval(m, t->held, held, step) : of->difference;
    }
    sf_free(statistics);
    close_dealer(&d);
    return status;
}

/* Permutes all replicates with all their measures. If some lack a measure, the others are permuted by their
 * order in the common permutation. */
static int test_together(testing *t, sf_contrast *contrast, sf_error *error)
{
    dealer d;
    bool complete = true;
    for (size_t k = 0; k < t->in->measure_count; k++)
        for (size_t g = 0; g < 2; g++)
            complete =
                complete && (!t->measures[k].tested || t->measures[k].design.counts[g] == t->all.counts[g]);
    int status = open_dealer(&d, &t->all, complete, t->in, error);
    for (uint64_t i = 0; status == SF_OK && i < d.dealings; i++) {
        double greatest = 0;
        deal(&d);
        for (size_t k = 0; k < t->in->measure_count; k++) {
            dealt now;
            if (t->measures[k].tested)
                greatest = fmax(greatest, statistic_dealt(&t->measures[k], &d, &now) / t->measures[k].rare);
        }
        for (size_t k = 0; k < t->in->measure_count; k++) {
            measure *m = &t->measures[k];
            m->as_great_of_all += m->tested && greatest >= sf_just_below(m->found_statistic / m->rare);
        }
    }
    contrast->dealings = d.dealings;
    contrast->exact = d.exact;
    close_dealer(&d);
    return status;
}

static int test_by_dealing(testing *t, sf_contrast *contrast, sf_error *error)
{
    t->held = sf_resize(NULL, HELD, sizeof *t->held);
    int status = t->held == NULL ? sf_fail_memory(error) : SF_OK;
    for (size_t k = 0; status == SF_OK && k < t->in->measure_count; k++)
        if (t->measures[k].tested) status = test_alone(t, &t->measures[k], &contrast->measures[k], error);
    if (status == SF_OK) status = test_together(t, contrast, error);
    for (size_t k = 0; status == SF_OK && k < t->in->measure_count; k++) {
        measure *m = &t->measures[k];
        sf_compared *of = &contrast->measures[k];
        if (m->tested) of->q = fmax(of->p, (double)m->as_great_of_all / (double)contrast->dealings);
    }
    return status;
}

static int by_p(const void *a, const void *b)
{
    const sf_compared *one = *(sf_compared *const *)a, *other = *(sf_compared *const *)b;
    return (one->p > other->p) - (one->p < other->p);
}

/* Holm's q for the measures with a p; `order` has room for all. */
static void correct_by_holm(sf_contrast *contrast, size_t count, sf_compared **order)
{
    size_t tested = 0;
    double before = 0;
    for (size_t m = 0; m < count; m++)
        if (!isnan(contrast->measures[m].p)) order[tested++] = &contrast->measures[m];
    if (tested > 0) qsort(order, tested, sizeof(sf_compared *), by_p);
    for (size_t i = 0; i < tested; i++) {
        before = fmax(before, fmin(1, (double)(tested - i) * order[i]->p));
        order[i]->q = before;
        order[i]->least = 0;
    }
}

/* ---- all of it ---- */

static int open_measure(measure *m, const sf_contrast_input *in, size_t which, double *raw, sf_error *error)
{
    size_t all = replicate_count(in), limit = block_limit(in);
    m->in = in;
    m->which = which;
    m->values = sf_resize(NULL, all, sizeof *m->values);
    m->groups = sf_alloc(all, sizeof *m->groups);
    m->sums = sf_alloc(4 * limit, sizeof *m->sums);
    m->filled = sf_alloc(limit, sizeof *m->filled);
    if (m->values == NULL || m->groups == NULL || m->sums == NULL || m->filled == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < all; i++) {
        double chance = chance_of(in, which, i);
        raw[i] = value_in(in->values, in, which, i) - (isnan(chance) ? 0 : chance);
    }
    memcpy(m->values, raw, all * sizeof *raw);
    int status = open_design(&m->design, in, raw, error);
    if (status == SF_OK) m->squares = centre(&m->design, m->values);
    return status;
}

static void close_measure(measure *m)
{
    close_design(&m->design);
    sf_free(m->values);
    sf_free(m->ranks);
    sf_free(m->sums);
    sf_free(m->groups);
    sf_free(m->filled);
}

/* Computes the observed statistic, with which permutations are compared. */
static int begin_test(measure *m, const double *raw, sf_rank *room, double *line, sf_error *error)
{
    double taken;
    m->found_statistic = statistic(m, &m->found, 0);
    if (m->in->by != SF_COMPARED_RANKS) return SF_OK;
    m->ranks = sf_alloc(replicate_count(m->in), sizeof *m->ranks);
    if (m->ranks == NULL) return sf_fail_memory(error);
    rank_measure(m, raw, room, line);
    m->tested = m->scale > 0;
    m->found_statistic = fabs(difference_of(m, m->ranks, &taken)) * m->scale;
    return SF_OK;
}

/* `rooms` have one double per replicate, the first of them two. */
static int take_measures(testing *t, sf_contrast *contrast, double *const rooms[3], sf_rank *ranks,
                         sf_error *error)
{
    int status = open_design(&t->all, t->in, NULL, error);
    for (size_t k = 0; status == SF_OK && k < t->in->measure_count; k++) {
        measure *m = &t->measures[k];
        status = open_measure(m, t->in, k, rooms[0], error);
        if (status == SF_OK) describe(&contrast->measures[k], m, rooms[0], rooms + 1);
        if (status == SF_OK && m->tested && t->in->by == SF_COMPARED_WELCH)
            test_by_t(&contrast->measures[k], m);
        else if (status == SF_OK && m->tested)
            status = begin_test(m, rooms[0], ranks, rooms[1], error);
    }
    return status;
}

int sf_contrast_find(sf_contrast *contrast, const sf_contrast_input *input, sf_error *error)
{
    size_t all = replicate_count(input);
    testing t = {.in = input, .measures = sf_alloc(input->measure_count, sizeof *t.measures)};
    double *room = sf_alloc(3 * all, sizeof *room);
    sf_rank *ranks = sf_alloc(all, sizeof *ranks);
    sf_compared **order = sf_alloc(input->measure_count, sizeof(sf_compared *));
    *contrast = (sf_contrast){.measures = sf_alloc(input->measure_count, sizeof *contrast->measures)};
    double *const rooms[] = {room, room != NULL ? room + all : NULL, room != NULL ? room + 2 * all : NULL};
    int status =
        contrast->measures == NULL || t.measures == NULL || room == NULL || ranks == NULL || order == NULL
            ? sf_fail_memory(error)
            : take_measures(&t, contrast, rooms, ranks, error);
    contrast->blocks = t.all.block_count;
    if (status == SF_OK && input->by == SF_COMPARED_WELCH)
        correct_by_holm(contrast, input->measure_count, order);
    else if (status == SF_OK)
        status = test_by_dealing(&t, contrast, error);
    for (size_t k = 0; t.measures != NULL && k < input->measure_count; k++)
        close_measure(&t.measures[k]);
    close_design(&t.all);
    sf_free(t.measures);
    sf_free(t.held);
    sf_free(room);
    sf_free(ranks);
    sf_free(order);
    return status;
}

void sf_contrast_free(sf_contrast *contrast)
{
    sf_free(contrast->measures);
    *contrast = (sf_contrast){0};
}
