/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NORMAL_95 1.959963984540054
#define TIES 1e-9 /* statistics so close are equal but for rounding */

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
    if (x <= 0 || x >= 1)
        return x >= 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double sf_student_p(double t, double degrees)
{
    if (isnan(t) || !(degrees > 0))
        return NAN;
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

/* ---- one measure ---- */

/* Its values that are known, first those of the first group. */
typedef struct column {
    size_t n[2];
    double *values;    /* n[0] + n[1] */
    size_t *positions; /* of each among all replicates, groups one after the other; of pairs the pair's */
} column;

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
    return exp(lgamma(degrees / 2) - lgamma((degrees - 1) / 2)) * sqrt(2 / degrees);
}

static void set_g(sf_compared *of, double d, double factor, double variance)
{
    double half = NORMAL_95 * sqrt(variance);
    of->g = d * factor;
    of->g_low = of->g - half;
    of->g_high = of->g + half;
}

static void set_t(sf_compared *of, double error, double degrees, bool tested)
{
    double half = error > 0 ? sf_student_quantile(0.05, degrees) * error : 0;
    of->low = of->difference - half;
    of->high = of->difference + half;
    if (tested)
        of->p =
            sf_student_p(error > 0 ? of->difference / error : copysign(INFINITY, of->difference), degrees);
}

static void describe_groups(sf_compared *of, bool tested)
{
    double n = (double)of->n[0], m = (double)of->n[1], degrees = n + m - 2;
    double v = of->sd[0] * of->sd[0] / n, w = of->sd[1] * of->sd[1] / m;
    double pooled = sqrt(((n - 1) * of->sd[0] * of->sd[0] + (m - 1) * of->sd[1] * of->sd[1]) / degrees);
    set_t(of, sqrt(v + w), (v + w) * (v + w) / (v * v / (n - 1) + w * w / (m - 1)), tested);
    if (pooled > 0) {
        double g = of->difference / pooled * correction(degrees);
        set_g(of, of->difference / pooled, correction(degrees), 1 / n + 1 / m + g * g / (2 * (n + m)));
    }
}

static void describe_pairs(sf_compared *of, const double *first, const double *differences, bool tested)
{
    size_t count = of->n[0];
    double n = (double)count, sd = sd_of(differences, count), both = 0;
    double pooled = sqrt((of->sd[0] * of->sd[0] + of->sd[1] * of->sd[1]) / 2);
    set_t(of, sd / sqrt(n), n - 1, tested);
    for (size_t i = 0; i < count; i++)
        both += (first[i] - of->mean[0]) * (first[i] + differences[i] - of->mean[1]) / (n - 1);
    if (count > 2 && of->sd[0] > 0 && of->sd[1] > 0) {
        double d = of->difference / pooled, r = both / (of->sd[0] * of->sd[1]), factor = correction(n - 1);
        set_g(of, d, factor, (1 / n + d * d / (2 * n)) * 2 * (1 - r) * factor * factor);
    }
}

static bool varies(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return true;
    return false;
}

static void describe(sf_compared *of, const column *c, bool paired, const double *differences, bool tested)
{
    *of = (sf_compared){.n = {c->n[0], c->n[1]},
                        .difference = NAN,
                        .low = NAN,
                        .high = NAN,
                        .g = NAN,
                        .g_low = NAN,
                        .g_high = NAN,
                        .p = NAN,
                        .q = NAN,
                        .least = NAN};
    for (int g = 0; g < 2; g++) {
        const double *values = c->values + (g == 0 ? 0 : c->n[0]);
        of->mean[g] = c->n[g] > 0 ? mean_of(values, c->n[g]) : NAN;
        of->sd[g] = sd_of(values, c->n[g]);
    }
    of->difference = of->mean[1] - of->mean[0];
    if (c->n[0] < 2 || c->n[1] < 2 || !varies(c->values, c->n[0] + c->n[1]))
        return;
    if (paired)
        describe_pairs(of, c->values, differences, tested);
    else
        describe_groups(of, tested);
}

/* ---- ranks ---- */

typedef struct ranked {
    double value;
    size_t index;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *one = a, *other = b;
    return (one->value > other->value) - (one->value < other->value);
}

/* In place of each value its rank, from 1; of equal ones the mean of theirs. Of differences the rank of their
 * size with their sign; those that are 0 stay and have none. */
static void rank(double *values, size_t count, bool signs, ranked *room)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!signs || values[i] != 0)
            room[kept++] = (ranked){signs ? fabs(values[i]) : values[i], i};
    if (kept > 0)
        qsort(room, kept, sizeof *room, by_value);
    for (size_t first = 0, end; first < kept; first = end) {
        for (end = first + 1; end < kept && room[end].value == room[first].value; end++)
            ;
        double place = (double)(first + 1 + end) / 2;
        for (size_t i = first; i < end; i++)
            values[room[i].index] = signs ? copysign(place, values[room[i].index]) : place;
    }
}

/* ---- dealing ---- */

/* What is dealt: in_second[i] of all replicates, or of pairs whether pair i is turned round. */
typedef struct dealer {
    size_t count, second; /* replicates, and of them in the second group; pairs, and nothing */
    bool paired, exact;
    uint64_t dealings, at;
    bool *in_second;
    size_t *chosen; /* the combination that is on */
    sf_random random;
} dealer;

/* How many dealings there are, or most + 1 where they are more than that. */
static uint64_t count_dealings(const dealer *d, uint64_t most)
{
    double count = 1;
    for (size_t i = 1; i <= (d->paired ? d->count : d->second); i++)
        count = d->paired ? count * 2 : count * (double)(d->count - d->second + i) / (double)i;
    return count > (double)most + 0.5 ? most + 1 : (uint64_t)(count + 0.5);
}

/* The next combination in lexicographic order. */
static void next_combination(dealer *d)
{
    size_t k = d->second;
    while (k > 0 && d->chosen[k - 1] == d->count - d->second + k - 1)
        k--;
    if (k == 0)
        return;
    d->chosen[k - 1]++;
    for (; k < d->second; k++)
        d->chosen[k] = d->chosen[k - 1] + 1;
}

static void deal_all(dealer *d)
{
    if (d->paired) {
        for (size_t i = 0; i < d->count; i++)
            d->in_second[i] = d->at >> i & 1;
        return;
    }
    memset(d->in_second, 0, d->count * sizeof *d->in_second);
    for (size_t k = 0; k < d->second; k++)
        d->in_second[d->chosen[k]] = true;
    next_combination(d);
}

static uint64_t below(dealer *d, uint64_t limit)
{
    uint64_t drawn, most = UINT64_MAX - UINT64_MAX % limit;
    do
        drawn = sf_random_bits(&d->random);
    while (drawn >= most);
    return drawn % limit;
}

/* By chance (Fisher and Yates). */
static void deal_one(dealer *d)
{
    for (size_t i = 0; i < d->count; i++)
        d->in_second[i] = d->paired ? sf_random_bits(&d->random) >> 63 : i >= d->count - d->second;
    for (size_t i = d->count; !d->paired && i > 1; i--) {
        size_t k = (size_t)below(d, i);
        bool kept = d->in_second[i - 1];
        d->in_second[i - 1] = d->in_second[k];
        d->in_second[k] = kept;
    }
}

static void deal(dealer *d)
{
    if (d->exact)
        deal_all(d);
    else
        deal_one(d);
    d->at++;
}

/* ---- the test ---- */

typedef struct testing {
    const sf_contrast_input *in;
    column *columns;
    double *scale; /* of each measure: by what a sum is divided; 0: it is not tested */
    double *found;
    uint64_t *as_great, *as_great_of_all;
    dealer dealer;
} testing;

/* How far apart this dealing puts the groups; less than 0 where one of them has no value. */
static double statistic(const column *c, double scale, const dealer *d)
{
    size_t n[2] = {0};
    double sum[2] = {0};
    size_t count = d->paired ? c->n[0] : c->n[0] + c->n[1];
    for (size_t i = 0; i < count; i++) {
        int g = d->in_second[c->positions[i]];
        n[g]++;
        sum[g] += c->values[i];
    }
    if (d->paired)
        return fabs(sum[0] - sum[1]) * scale;
    if (n[0] == 0 || n[1] == 0)
        return -1;
    double a = (double)n[0], b = (double)n[1];
    return fabs(sum[0] / a - sum[1] / b) * scale / sqrt(1 / a + 1 / b);
}

/* One over the standard deviation of what is dealt. Values are moved to a mean of 0 first, which changes no
 * difference and keeps rounding small. */
static double scale_of(column *c, bool paired)
{
    size_t count = paired ? c->n[0] : c->n[0] + c->n[1];
    double mean = paired ? 0 : mean_of(c->values, count), squares = 0;
    for (size_t i = 0; i < count; i++) {
        c->values[i] -= mean;
        squares += c->values[i] * c->values[i];
    }
    return squares > 0 ? 1 / sqrt(paired ? squares : squares / (double)(count - 1)) : 0;
}

static void take_dealing(testing *t)
{
    double greatest = 0;
    for (size_t m = 0; m < t->in->measure_count; m++) {
        if (t->scale[m] == 0)
            continue;
        double value = statistic(&t->columns[m], t->scale[m], &t->dealer);
        greatest = value > greatest ? value : greatest;
        t->as_great[m] += value >= t->found[m] * (1 - TIES);
    }
    for (size_t m = 0; m < t->in->measure_count; m++)
        t->as_great_of_all[m] += t->scale[m] != 0 && greatest >= t->found[m] * (1 - TIES);
}

/* What was found is the dealing in which the second group holds the second one. */
static void find_statistics(testing *t)
{
    dealer *d = &t->dealer;
    for (size_t i = 0; i < d->count; i++)
        d->in_second[i] = !d->paired && i >= d->count - d->second;
    for (size_t m = 0; m < t->in->measure_count; m++)
        t->found[m] = statistic(&t->columns[m], t->scale[m], d);
}

/* The least share that a dealing, and its mirror image where there is one, can have. */
static double least_p(const sf_compared *of, const dealer *d, bool ranks)
{
    double ways = 1;
    for (size_t i = 1; i <= (d->paired ? of->n[0] : of->n[1]); i++)
        ways *= d->paired ? 2 : (double)(of->n[0] + i) / (double)i;
    double least = (d->paired || ranks || of->n[0] == of->n[1] ? 2 : 1) / ways;
    return d->exact ? least : fmax(least, 1 / (double)d->dealings);
}

static void test_by_dealing(testing *t, sf_contrast *contrast)
{
    dealer *d = &t->dealer;
    uint64_t all = count_dealings(d, t->in->most);
    d->exact = all <= t->in->most;
    d->dealings = d->exact ? all : t->in->most;
    d->random = sf_random_start(t->in->seed, 0);
    for (size_t k = 0; k < d->second; k++)
        d->chosen[k] = k;
    find_statistics(t);
    if (!d->exact) /* what was found is one of them */
        take_dealing(t);
    for (uint64_t i = !d->exact; i < d->dealings; i++) {
        deal(d);
        take_dealing(t);
    }
    contrast->dealings = d->dealings;
    contrast->exact = d->exact;
    for (size_t m = 0; m < t->in->measure_count; m++) {
        sf_compared *of = &contrast->measures[m];
        if (t->scale[m] == 0)
            continue;
        of->p = (double)t->as_great[m] / (double)d->dealings;
        of->q = (double)t->as_great_of_all[m] / (double)d->dealings;
        of->least = least_p(of, d, t->in->by == SF_COMPARED_RANKS);
    }
}

static int by_p(const void *a, const void *b)
{
    const sf_compared *one = *(sf_compared *const *)a, *other = *(sf_compared *const *)b;
    return (one->p > other->p) - (one->p < other->p);
}

/* Holm's q of those that have a p; `order` has room for all. */
static void correct_by_holm(sf_contrast *contrast, size_t count, sf_compared **order)
{
    size_t tested = 0;
    double before = 0;
    for (size_t m = 0; m < count; m++)
        if (!isnan(contrast->measures[m].p))
            order[tested++] = &contrast->measures[m];
    if (tested > 0)
        qsort(order, tested, sizeof(sf_compared *), by_p);
    for (size_t i = 0; i < tested; i++) {
        before = fmax(before, fmin(1, (double)(tested - i) * order[i]->p));
        order[i]->q = before;
        order[i]->least = 0;
    }
}

/* The values of a measure that are known, of pairs where both are. */
static void take_column(column *c, const sf_contrast_input *in, size_t m)
{
    size_t count = 0, stride = in->measure_count;
    for (int g = 0; g < 2; g++)
        for (size_t i = 0; i < in->counts[g]; i++) {
            double value = in->values[g][i * stride + m];
            if (isnan(value) || (in->paired && isnan(in->values[1 - g][i * stride + m])))
                continue;
            c->values[count] = value;
            c->positions[count++] = in->paired || g == 0 ? i : in->counts[0] + i;
            c->n[g]++;
        }
}

static void take_measure(testing *t, size_t m, sf_compared *of, double *differences, ranked *room)
{
    column *c = &t->columns[m];
    const sf_contrast_input *in = t->in;
    take_column(c, in, m);
    for (size_t i = 0; in->paired && i < c->n[0]; i++)
        differences[i] = c->values[c->n[0] + i] - c->values[i];
    describe(of, c, in->paired, differences, in->by == SF_COMPARED_WELCH);
    size_t dealt = in->paired ? c->n[0] : c->n[0] + c->n[1];
    bool told = c->n[0] >= 2 && c->n[1] >= 2 && varies(c->values, c->n[0] + c->n[1]);
    if (in->by == SF_COMPARED_WELCH || !told)
        return;
    if (in->paired)
        memcpy(c->values, differences, dealt * sizeof *differences);
    if (in->by == SF_COMPARED_RANKS)
        rank(c->values, dealt, in->paired, room);
    t->scale[m] = scale_of(c, in->paired);
}

static int open_testing(testing *t, size_t all, sf_error *error)
{
    size_t measures = t->in->measure_count;
    t->columns = sf_alloc(measures, sizeof *t->columns);
    t->scale = sf_alloc(measures, sizeof *t->scale);
    t->found = sf_alloc(measures, sizeof *t->found);
    t->as_great = sf_alloc(measures, sizeof *t->as_great);
    t->as_great_of_all = sf_alloc(measures, sizeof *t->as_great_of_all);
    t->dealer.in_second = sf_alloc(all, sizeof *t->dealer.in_second);
    t->dealer.chosen = sf_alloc(all, sizeof *t->dealer.chosen);
    bool there = t->columns != NULL && t->scale != NULL && t->found != NULL && t->as_great != NULL &&
                 t->as_great_of_all != NULL && t->dealer.in_second != NULL && t->dealer.chosen != NULL;
    for (size_t m = 0; there && m < measures; m++) {
        t->columns[m].values = sf_resize(NULL, all, sizeof(double));
        t->columns[m].positions = sf_resize(NULL, all, sizeof(size_t));
        there = t->columns[m].values != NULL && t->columns[m].positions != NULL;
    }
    return there ? SF_OK : sf_fail_memory(error);
}

static void close_testing(testing *t)
{
    for (size_t m = 0; t->columns != NULL && m < t->in->measure_count; m++) {
        sf_free(t->columns[m].values);
        sf_free(t->columns[m].positions);
    }
    sf_free(t->columns);
    sf_free(t->scale);
    sf_free(t->found);
    sf_free(t->as_great);
    sf_free(t->as_great_of_all);
    sf_free(t->dealer.in_second);
    sf_free(t->dealer.chosen);
}

int sf_contrast_find(sf_contrast *contrast, const sf_contrast_input *input, sf_error *error)
{
    size_t all = input->counts[0] + input->counts[1];
    testing t = {.in = input,
                 .dealer = {.paired = input->paired,
                            .count = input->paired ? input->counts[0] : all,
                            .second = input->paired ? 0 : input->counts[1]}};
    *contrast = (sf_contrast){.measures = sf_alloc(input->measure_count, sizeof *contrast->measures)};
    double *differences = sf_alloc(all, sizeof *differences);
    ranked *room = sf_alloc(all, sizeof *room);
    sf_compared **order = sf_alloc(input->measure_count, sizeof(sf_compared *));
    int status = contrast->measures == NULL || differences == NULL || room == NULL || order == NULL
                     ? sf_fail_memory(error)
                     : open_testing(&t, all, error);
    for (size_t m = 0; status == SF_OK && m < input->measure_count; m++)
        take_measure(&t, m, &contrast->measures[m], differences, room);
    if (status == SF_OK && input->by == SF_COMPARED_WELCH)
        correct_by_holm(contrast, input->measure_count, order);
    else if (status == SF_OK)
        test_by_dealing(&t, contrast);
    close_testing(&t);
    sf_free(differences);
    sf_free(room);
    sf_free(order);
    return status;
}

void sf_contrast_free(sf_contrast *contrast)
{
    sf_free(contrast->measures);
    *contrast = (sf_contrast){0};
}
