/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/factors.h"

#include "analysis/rare.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-24 /* squares of so little of all are 0 */
#define DEPENDENT 1e-9 /* a column whose remainder is smaller than this depends on earlier columns */

/* ---- what an effect is tested on ---- */

/* The observations on which an effect is tested, or their means over the levels of the other factor. */
typedef struct sample {
    size_t count, level_counts[2];
    size_t *levels[2];
    size_t *blocks;  /* permutation blocks: replicates, or those of the input */
    size_t *part_of; /* of each observation of the input */
    size_t parts;    /* that a mean is of */
    bool within;     /* blocks are replicates */
} sample;

static bool varies(const sf_factors_input *in, int factor)
{
    for (size_t i = 0; i < in->count; i++)
        for (size_t k = 0; k < i; k++)
            if (in->replicates[i] == in->replicates[k] && in->levels[factor][i] != in->levels[factor][k])
                return true;
    return false;
}

/* Numbers parts so that those of a block are consecutive. */
static void list_parts(sample *s, const sf_factors_input *in, const size_t *blocks, int averaged)
{
    for (size_t first = 0; first < in->count; first++) {
        bool is_new = true;
        for (size_t k = 0; k < first && is_new; k++)
            is_new = blocks != NULL && blocks[k] != blocks[first];
        for (size_t i = first; i < in->count && is_new; i++) {
            size_t k = first;
            if (blocks != NULL && blocks[i] != blocks[first]) continue;
            while (k < i && !(averaged >= 0 && in->replicates[k] == in->replicates[i]))
                k++;
            s->part_of[i] = k < i ? s->part_of[k] : s->count++;
            for (int f = 0; f < 2; f++)
                s->levels[f][s->part_of[i]] = f == averaged ? 0 : in->levels[f][i];
            s->blocks[s->part_of[i]] = first;
        }
    }
}

static int open_sample(sample *s, const sf_factors_input *in, sf_factor effect, sf_error *error)
{
    const bool varying[] = {varies(in, 0), varies(in, 1)};
    const int other = effect == SF_FACTOR_FIRST;
    *s = (sample){.level_counts = {in->level_counts[0], in->level_counts[1]},
                  .levels = {sf_alloc(in->count, sizeof(size_t)), sf_alloc(in->count, sizeof(size_t))},
                  .blocks = sf_alloc(in->count, sizeof(size_t)),
                  .part_of = sf_alloc(in->count, sizeof(size_t)),
                  .parts = 1,
                  .within = effect == SF_FACTOR_BOTH ? varying[0] || varying[1] : varying[effect]};
    if (s->levels[0] == NULL || s->levels[1] == NULL || s->blocks == NULL || s->part_of == NULL)
        return sf_fail_memory(error);
    const bool means = effect != SF_FACTOR_BOTH && !s->within && varying[other];
    if (means) {
        s->parts = in->level_counts[other];
        s->level_counts[other] = 1;
    }
    list_parts(s, in, s->within ? in->replicates : in->blocks, means ? other : -1);
    return SF_OK;
}

static void close_sample(sample *s)
{
    sf_free(s->levels[0]);
    sf_free(s->levels[1]);
    sf_free(s->blocks);
    sf_free(s->part_of);
}

/* Takes one measure of each part, minus its chance level; NaN if a part lacks it. */
static void take_values(double *values, size_t *parts, const sample *s, const sf_factors_input *in,
                        size_t measure)
{
    for (size_t i = 0; i < s->count; i++) {
        values[i] = 0;
        parts[i] = 0;
    }
    for (size_t i = 0; i < in->count; i++) {
        const size_t at = i * in->measure_count + measure;
        const double chance = in->chance != NULL ? in->chance[at] : NAN;
        values[s->part_of[i]] += (in->values[at] - (isnan(chance) ? 0 : chance)) / (double)s->parts;
        parts[s->part_of[i]]++;
    }
    for (size_t i = 0; i < s->count; i++)
        values[i] = parts[i] == s->parts ? values[i] : NAN;
}

/* ---- the model ---- */

/* The members of a sample that have a measure, ordered by block, and their linear model. Columns of `basis`
 * are orthonormal with mean 0 in each block: first the columns that are not tested, then those of the effect.
 */
typedef struct model {
    size_t count, *members, *block_of; /* block_of: block of each member */
    size_t block_count, *begins;       /* block b has members begins[b] .. begins[b + 1] - 1 */
    size_t rest, tested;               /* columns of either kind */
    double *basis;
    double length;   /* norm of the effect's first column before normalisation */
    double *weights; /* weights of clusters in the covariance; a cluster is a block, or a member */
    size_t cluster_count;
    size_t *group_of; /* group of each cluster: clusters with the same levels share a variance */
    double *freedom;  /* of groups: its degrees */
    size_t group_count;
    bool within, sound; /* sound: there are enough data for a test */
    /* room for one dealing */
    double *values, *left, *found, *scores, *parts, *covariance;
} model;

/* Levels that sum to zero. */
static double coded(size_t level, size_t count, size_t column)
{
    return level == column ? 1 : level == count - 1 ? -1 : 0;
}

static void take_off(double *from, const double *what, double times, size_t count)
{
    for (size_t i = 0; i < count; i++)
        from[i] -= times * what[i];
}

static void centre(const model *m, double *values)
{
    for (size_t b = 0; b < m->block_count; b++) {
        double sum = 0;
        for (size_t i = m->begins[b]; i < m->begins[b + 1]; i++)
            sum += values[i];
        for (size_t i = m->begins[b]; i < m->begins[b + 1]; i++)
            values[i] -= sum / (double)(m->begins[b + 1] - m->begins[b]);
    }
}

/* Adds column `at` to the basis; false if it depends on the columns before. */
static bool add_column(model *m, size_t at)
{
    double *column = m->basis + at * m->count, before = sqrt(sf_reals_product(column, column, m->count));
    centre(m, column);
    for (int twice = 0; twice < 2; twice++) /* once leaves rounding */
        for (size_t k = 0; k < at; k++) {
            const double *other = m->basis + k * m->count;
            take_off(column, other, sf_reals_product(column, other, m->count), m->count);
        }
    double length = sqrt(sf_reals_product(column, column, m->count));
    if (!(length > DEPENDENT * before)) return false;
    for (size_t i = 0; i < m->count; i++)
        column[i] /= length;
    if (at == m->rest) m->length = length;
    return true;
}

/* Adds the columns of one effect after `at` others; returns the number added, and in `asked` the number it
 * has. */
static size_t add_columns(model *m, const sample *s, sf_factor effect, size_t at, size_t *asked)
{
    const size_t counts[] = {s->level_counts[0], s->level_counts[1]};
    const size_t first = effect == SF_FACTOR_SECOND ? 2 : counts[0],
                 second = effect == SF_FACTOR_FIRST ? 2 : counts[1];
    size_t added = 0;
    *asked = 0;
    for (size_t a = 0; a + 1 < first; a++)
        for (size_t b = 0; b + 1 < second; b++) {
            double *column = m->basis + (at + added) * m->count;
            for (size_t i = 0; i < m->count; i++) {
                const size_t k = m->members[i];
                column[i] = (effect == SF_FACTOR_SECOND ? 1 : coded(s->levels[0][k], counts[0], a)) *
                            (effect == SF_FACTOR_FIRST ? 1 : coded(s->levels[1][k], counts[1], b));
            }
            added += add_column(m, at + added);
            ++*asked;
        }
    return added;
}

static size_t cluster_of(const model *m, size_t member)
{
    return m->within ? m->block_of[member] : member;
}

/* HC2: the residual of a value with leverage h has variance 1 - h times that of the value. */
static void weigh(model *m)
{
    m->cluster_count = m->within ? m->block_count : m->count;
    for (size_t i = 0; i < m->count; i++) {
        const size_t b = m->block_of[i];
        double free = 1 - 1 / (double)(m->begins[b + 1] - m->begins[b]);
        for (size_t k = 0; k < m->rest + m->tested; k++)
            free -= m->basis[k * m->count + i] * m->basis[k * m->count + i];
        m->weights[cluster_of(m, i)] += free;
    }
    for (size_t c = 0; c < m->cluster_count; c++) {
        const double own = m->within ? (double)(m->begins[c + 1] - m->begins[c] - 1) : 1;
        m->sound = m->sound && m->weights[c] > DEPENDENT;
        m->weights[c] = own / m->weights[c];
    }
}

/* Groups clusters by the levels that all members of each have in common. */
static void group(model *m, const sample *s)
{
    for (size_t i = 0; i < m->count; i++) {
        const size_t c = cluster_of(m, i), own = m->members[i];
        bool same[] = {true, true};
        for (size_t k = m->begins[m->block_of[i]]; m->within && k < m->begins[m->block_of[i] + 1]; k++)
            for (int f = 0; f < 2; f++)
                same[f] = same[f] && s->levels[f][m->members[k]] == s->levels[f][own];
        m->group_of[c] =
            (same[0] ? s->levels[0][own] * s->level_counts[1] : 0) + (same[1] ? s->levels[1][own] : 0);
    }
    for (size_t c = 0; c < m->cluster_count; c++)
        m->freedom[m->group_of[c]] += 1 / m->weights[c];
}

/* A block of one tells nothing. */
static void list_members(model *m, const sample *s, const double *values)
{
    for (size_t first = 0, end; first < s->count; first = end) {
        const size_t before = m->count;
        for (end = first; end < s->count && s->blocks[end] == s->blocks[first]; end++)
            if (!isnan(values[end])) {
                m->block_of[m->count] = m->block_count;
                m->members[m->count++] = end;
            }
        if (m->count < before + 2)
            m->count = before;
        else
            m->begins[++m->block_count] = m->count;
    }
}

static double statistic(model *m, const double *values, double *wald);

/* Whether there are enough clusters for a covariance of all columns, which then has full rank for any data.
 */
static bool has_full_rank(model *m)
{
    double wald;
    sf_random random = sf_random_start(1, 0);
    for (size_t i = 0; i < m->count; i++)
        m->values[i] = sf_random_normal(&random);
    centre(m, m->values);
    return isfinite(statistic(m, m->values, &wald));
}

static int open_model(model *m, const sample *s, sf_factor effect, const double *values, sf_error *error)
{
    const size_t n = s->count, groups = s->level_counts[0] * s->level_counts[1], columns = groups - 1;
    size_t asked = 0;
    *m = (model){.members = sf_alloc(n, sizeof(size_t)),
                 .block_of = sf_alloc(n, sizeof(size_t)),
                 .begins = sf_alloc(n + 1, sizeof(size_t)),
                 .basis = sf_alloc(n * (columns + 1), sizeof(double)),
                 .weights = sf_alloc(n, sizeof(double)),
                 .group_of = sf_alloc(n, sizeof(size_t)),
                 .freedom = sf_alloc(groups, sizeof(double)),
                 .group_count = groups,
                 .values = sf_alloc(n, sizeof(double)),
                 .left = sf_alloc(n, sizeof(double)),
                 .found = sf_alloc(columns + 1, sizeof(double)),
                 .scores = sf_alloc(n * (columns + 1), sizeof(double)),
                 .parts = sf_alloc(groups * (columns + 1) * (columns + 1), sizeof(double)),
                 .covariance = sf_alloc((columns + 1) * (columns + 1), sizeof(double)),
                 .within = s->within};
    if (m->members == NULL || m->block_of == NULL || m->begins == NULL || m->basis == NULL ||
        m->weights == NULL || m->group_of == NULL || m->freedom == NULL || m->values == NULL ||
        m->left == NULL || m->found == NULL || m->scores == NULL || m->parts == NULL || m->covariance == NULL)
        return sf_fail_memory(error);
    list_members(m, s, values);
    for (int other = 0; other < SF_FACTOR_EFFECTS; other++)
        if (other != (int)effect) m->rest += add_columns(m, s, (sf_factor)other, m->rest, &asked);
    m->tested = add_columns(m, s, effect, m->rest, &asked);
    m->sound = asked > 0 && m->tested == asked;
    weigh(m);
    group(m, s);
    m->sound = m->sound && has_full_rank(m);
    return SF_OK;
}

static void close_model(model *m)
{
    sf_free(m->members);
    sf_free(m->block_of);
    sf_free(m->begins);
    sf_free(m->basis);
    sf_free(m->weights);
    sf_free(m->group_of);
    sf_free(m->freedom);
    sf_free(m->values);
    sf_free(m->left);
    sf_free(m->found);
    sf_free(m->scores);
    sf_free(m->parts);
    sf_free(m->covariance);
}

/* ---- one dealing ---- */

/* Replaces the lower triangle of a covariance by its Cholesky factor L; false if it is rank-deficient. */
static bool factor(double *covariance, size_t count, double squares)
{
    for (size_t k = 0; k < count; k++) {
        double *row = covariance + k * count;
        row[k] -= sf_reals_product(row, row, k);
        if (!(row[k] > ROUNDING * squares)) return false;
        row[k] = sqrt(row[k]);
        for (size_t i = k + 1; i < count; i++)
            covariance[i * count + k] =
                (covariance[i * count + k] - sf_reals_product(covariance + i * count, row, k)) / row[k];
    }
    return true;
}

/* L^-1 of values that are `step` apart. */
static void solve(double *values, size_t step, const double *l, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        for (size_t j = 0; j < k; j++)
            values[k * step] -= l[k * count + j] * values[j * step];
        values[k * step] /= l[k * count + k];
    }
}

/* Johansen's A (1980), from the contributions of the groups to the covariance; for one column 1 over
 * Satterthwaite's degrees of freedom. */
static double spread_of(model *m)
{
    const size_t df = m->tested;
    double spread = 0;
    for (size_t g = 0; g < m->group_count; g++) {
        double *part = m->parts + g * df * df, trace = 0;
        for (size_t k = 0; k < df; k++)
            solve(part + k, df, m->covariance, df);
        for (size_t k = 0; k < df; k++)
            solve(part + k * df, 1, m->covariance, df);
        for (size_t k = 0; k < df; k++)
            trace += part[k * df + k];
        spread += m->freedom[g] > 0
                      ? (sf_reals_product(part, part, df * df) + trace * trace) / (2 * m->freedom[g])
                      : 0;
    }
    return spread;
}

/* Fits values with mean 0 in each block: the effect goes to `found`, the residuals to `left`; also the
 * covariance of the effect, per group and in total. */
static void fit(model *m, const double *values)
{
    const size_t n = m->count, df = m->tested;
    const double *basis = m->basis + m->rest * n;
    memcpy(m->left, values, n * sizeof *values);
    for (size_t k = 0; k < m->rest + df; k++) {
        const double *column = m->basis + k * n, part = sf_reals_product(values, column, n);
        take_off(m->left, column, part, n);
        if (k >= m->rest) m->found[k - m->rest] = part;
    }
    memset(m->scores, 0, m->cluster_count * df * sizeof *m->scores);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < df; k++)
            m->scores[cluster_of(m, i) * df + k] += basis[k * n + i] * m->left[i];
    memset(m->covariance, 0, df * df * sizeof *m->covariance);
    memset(m->parts, 0, m->group_count * df * df * sizeof *m->parts);
    for (size_t c = 0; c < m->cluster_count; c++)
        for (size_t k = 0; k < df; k++)
            for (size_t j = 0; j < df; j++) {
                const double of = m->weights[c] * m->scores[c * df + k] * m->scores[c * df + j];
                m->parts[m->group_of[c] * df * df + k * df + j] += of;
                m->covariance[k * df + j] += of;
            }
}

/* Sets `wald` to Wald's statistic, and returns the chi-square with the same p (Johansen's F by Bartlett's
 * logarithm), because permutations differ in their degrees of freedom. */
static double statistic(model *m, const double *values, double *wald)
{
    const double squares = sf_reals_product(values, values, m->count), df = (double)m->tested;
    fit(m, values);
    const double effect = sf_reals_product(m->found, m->found, m->tested);
    *wald = effect > ROUNDING * squares ? INFINITY : 0;
    if (!factor(m->covariance, m->tested, squares)) return *wald;
    solve(m->found, 1, m->covariance, m->tested);
    *wald = sf_reals_product(m->found, m->found, m->tested);
    const double spread = spread_of(m), freedom = df * (df + 2) / (3 * spread);
    return (freedom + df / 2 - 1) * log1p(df * *wald / (freedom * (df + 2 * spread - 6 * spread / (df + 2))));
}

/* Shuffles a sample within its blocks (Fisher and Yates); a permutation has its own random stream, so that
 * all measures are permuted alike. */
static void deal(size_t *order, const sample *s, uint64_t seed, uint64_t dealing)
{
    sf_random random = sf_random_start(seed, dealing);
    for (size_t first = 0, end; first < s->count; first = end) {
        for (end = first; end < s->count && s->blocks[end] == s->blocks[first]; end++)
            order[end] = end;
        for (size_t i = end; dealing > 0 && i > first + 1; i--) { /* the first is what was found */
            const size_t k = first + (size_t)sf_random_below(&random, i - first), kept = order[i - 1];
            order[i - 1] = order[k];
            order[k] = kept;
        }
    }
}

/* Members that have the measure take the values in permuted order. */
static void take_dealt(model *m, const double *left, const size_t *order, const sample *s)
{
    for (size_t at = 0, first = 0, end; first < s->count; first = end) {
        const bool own = at < m->count && s->blocks[m->members[at]] == s->blocks[first];
        for (end = first; end < s->count && s->blocks[end] == s->blocks[first]; end++)
            if (own && !isnan(left[order[end]])) m->values[at++] = left[order[end]];
    }
}

/* ---- tests ---- */

typedef struct testing {
    const sf_factors_input *in;
    sample sample;
    size_t *parts, *order;
    double *values;     /* of the sample */
    double *statistics; /* of each dealing of one measure */
    double *ascending;  /* these in order */
    double *greatest;   /* per permutation: maximum over the measures of the statistic over its rare value */
} testing;

static void close_testing(testing *t)
{
    close_sample(&t->sample);
    sf_free(t->parts);
    sf_free(t->order);
    sf_free(t->values);
    sf_free(t->statistics);
    sf_free(t->ascending);
    sf_free(t->greatest);
}

static int open_testing(testing *t, const sf_factors_input *in, sf_factor effect, sf_error *error)
{
    *t = (testing){.in = in,
                   .parts = sf_alloc(in->count, sizeof(size_t)),
                   .order = sf_alloc(in->count, sizeof(size_t)),
                   .values = sf_alloc(in->count, sizeof(double)),
                   .statistics = sf_alloc((size_t)in->most, sizeof(double)),
                   .ascending = sf_alloc((size_t)in->most, sizeof(double)),
                   .greatest = sf_alloc((size_t)in->most, sizeof(double))};
    if (t->parts == NULL || t->order == NULL || t->values == NULL || t->statistics == NULL ||
        t->ascending == NULL || t->greatest == NULL)
        return sf_fail_memory(error);
    return open_sample(&t->sample, in, effect, error);
}

static double share_from(const double *statistics, uint64_t count, double least)
{
    uint64_t as_great = 0;
    for (uint64_t i = 0; i < count; i++)
        as_great += statistics[i] >= least;
    return (double)as_great / (double)count;
}

/* Effect size from the values, which have mean 0 in each block, in `m->values`. */
static void describe(sf_factor_effect *of, model *m, sf_factor effect)
{
    const double *first = m->basis + m->rest * m->count;
    double squares = 0, freedom = (double)(m->count - m->block_count - m->rest - m->tested),
           df = (double)m->tested;
    for (size_t k = 0; k < m->tested; k++) {
        const double part = sf_reals_product(m->values, first + k * m->count, m->count);
        squares += part * part;
        if (m->tested == 1) /* coded 1 and -1 */
            of->difference = (effect == SF_FACTOR_BOTH ? 4 : -2) * part / m->length;
    }
    fit(m, m->values);
    const double left = sf_reals_product(m->left, m->left, m->count), f = squares / df / (left / freedom);
    of->eta_squared = squares / (squares + left);
    of->epsilon_squared = left > 0 ? (f - 1) * df / (f * df + freedom) : 1;
}

/* Residuals of the model without the effect, by index in the sample. */
static bool leave(testing *t, model *m)
{
    const double before = sf_reals_product(m->values, m->values, m->count);
    for (size_t k = 0; k < m->rest; k++) {
        const double *column = m->basis + k * m->count;
        take_off(m->values, column, sf_reals_product(m->values, column, m->count), m->count);
    }
    for (size_t i = 0; i < t->sample.count; i++)
        t->values[i] = NAN;
    for (size_t i = 0; i < m->count; i++)
        t->values[m->members[i]] = m->values[i];
    return sf_reals_product(m->values, m->values, m->count) > ROUNDING * before;
}

/* Sets `of->q` provisionally to the statistic over its rare value. */
static void test_by_dealing(testing *t, model *m, sf_factor_effect *of)
{
    double most = 0, wald;
    const uint64_t dealings = t->in->most;
    for (uint64_t i = 0; i < dealings; i++) {
        deal(t->order, &t->sample, t->in->seed, i);
        take_dealt(m, t->values, t->order, &t->sample);
        t->statistics[i] = statistic(m, m->values, &wald);
        of->statistic = i == 0 ? wald : of->statistic;
        most = fmax(most, t->statistics[i]);
    }
    of->p = share_from(t->statistics, dealings, sf_just_below(t->statistics[0]));
    of->least = share_from(t->statistics, dealings, sf_just_below(most));
    memcpy(t->ascending, t->statistics, (size_t)dealings * sizeof *t->ascending);
    const double rare = sf_rare_of(t->ascending, (size_t)dealings, (double)of->degrees);
    of->q = t->statistics[0] / rare;
    for (uint64_t i = 0; i < dealings; i++)
        t->greatest[i] = fmax(t->greatest[i], t->statistics[i] / rare);
}

static int test_measure(testing *t, sf_factor_effect *of, sf_factor effect, size_t measure, sf_error *error)
{
    model m;
    *of = (sf_factor_effect){.difference = NAN,
                             .eta_squared = NAN,
                             .epsilon_squared = NAN,
                             .statistic = NAN,
                             .p = NAN,
                             .q = NAN,
                             .least = NAN};
    take_values(t->values, t->parts, &t->sample, t->in, measure);
    int status = open_model(&m, &t->sample, effect, t->values, error);
    if (status == SF_OK) {
        of->n = m.count;
        of->degrees = m.tested;
        for (size_t i = 0; i < m.count; i++)
            m.values[i] = t->values[m.members[i]];
        centre(&m, m.values);
    }
    if (status == SF_OK && m.sound && sf_reals_product(m.values, m.values, m.count) > 0) {
        describe(of, &m, effect);
        if (leave(t, &m)) test_by_dealing(t, &m, of);
    }
    close_model(&m);
    return status;
}

/* ---- all of it ---- */

static int test_effect(sf_factors *factors, const sf_factors_input *in, sf_factor effect, sf_error *error)
{
    testing t;
    sf_factor_effect *of = factors->effects[effect];
    int status = open_testing(&t, in, effect, error);
    factors->within[effect] = t.sample.within;
    for (size_t k = 0; status == SF_OK && k < in->measure_count; k++)
        status = test_measure(&t, &of[k], effect, k, error);
    for (size_t k = 0; status == SF_OK && k < in->measure_count; k++)
        if (!isnan(of[k].p))
            of[k].q = fmax(of[k].p, share_from(t.greatest, in->most, sf_just_below(of[k].q)));
    close_testing(&t);
    return status;
}

int sf_factors_find(sf_factors *factors, const sf_factors_input *input, sf_error *error)
{
    int status = SF_OK;
    *factors = (sf_factors){0};
    for (int e = 0; e < SF_FACTOR_EFFECTS && status == SF_OK; e++) {
        factors->effects[e] = sf_alloc(input->measure_count, sizeof *factors->effects[e]);
        status = factors->effects[e] == NULL ? sf_fail_memory(error)
                                             : test_effect(factors, input, (sf_factor)e, error);
    }
    return status;
}

void sf_factors_free(sf_factors *factors)
{
    for (int e = 0; e < SF_FACTOR_EFFECTS; e++)
        sf_free(factors->effects[e]);
    *factors = (sf_factors){0};
}
