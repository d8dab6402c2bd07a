/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/power_fit.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/random.h"
#include "core/reals.h"

#include <math.h>
#include <stdlib.h>

/* ---- Hurwitz' zeta function ---- */

#define FAR                                                                                                  \
    20 /* from here on three terms of Euler and Maclaurin are exact to 12 digits for exponents up to 4, 8    \
          for 10 */

/* It and its derivative by a. */
typedef struct zeta {
    double value, slope;
} zeta;

static zeta zeta_at(double a, double x)
{
    zeta sum = {0, 0};
    for (; x < FAR; x++) {
        double term = pow(x, -a);
        sum.value += term;
        sum.slope -= log(x) * term;
    }
    const double l = log(x), power = exp(-a * l), over = 1 / (x * x);
    const double whole = power * x / (a - 1);
    const double one = a / 12, three = -a * (a + 1) * (a + 2) / 720,
                 five = a * (a + 1) * (a + 2) * (a + 3) * (a + 4) / 30240;
    const double d_three = -(3 * a * a + 6 * a + 2) / 720,
                 d_five = five * (1 / a + 1 / (a + 1) + 1 / (a + 2) + 1 / (a + 3) + 1 / (a + 4));
    const double rest = 0.5 + (one + (three + five * over) * over) / x,
                 d_rest = (1.0 / 12 + (d_three + d_five * over) * over) / x;
    sum.value += whole + power * rest;
    sum.slope += -l * whole - whole / (a - 1) + power * (d_rest - l * rest);
    return sum;
}

double sf_hurwitz_zeta(double a, double x)
{
    return zeta_at(a, x).value;
}

/* ---- the values ---- */

#define TALLIED 65536 /* most values are small: those are counted instead of sorted */

/* Distinct values in order; the number of each, and from each on; and the logarithms of the values. */
typedef struct histogram {
    uint64_t *values;
    double *counts, *from, *logs; /* from, logs: sums over it and all above */
    size_t size, room;
    uint64_t *tally; /* number of each value below TALLIED, up to `end`; 0 between uses */
    uint64_t *large; /* the others as they come */
    size_t end, large_count, large_room;
    bool failed; /* for want of memory */
} histogram;

static int open_histogram(histogram *h, sf_error *error)
{
    *h = (histogram){.tally = sf_alloc(TALLIED, sizeof *h->tally)};
    return h->tally != NULL ? SF_OK : sf_fail_memory(error);
}

static void close_histogram(histogram *h)
{
    sf_free(h->values);
    sf_free(h->counts);
    sf_free(h->from);
    sf_free(h->logs);
    sf_free(h->tally);
    sf_free(h->large);
}

static void add_value(histogram *h, uint64_t value)
{
    if (value < TALLIED) {
        h->tally[value]++;
        h->end = value >= h->end ? (size_t)value + 1 : h->end;
    } else if (sf_reserve(&h->large, &h->large_room, h->large_count + 1, sizeof *h->large) != 0) {
        h->failed = true;
    } else {
        h->large[h->large_count++] = value;
    }
}

static int make_room(histogram *h, size_t room)
{
    double **const sums[] = {&h->counts, &h->from, &h->logs};
    if (sf_reserve(&h->values, &h->room, room, sizeof *h->values) != 0) return SF_NO_MEMORY;
    for (size_t i = 0; i < 3; i++) {
        double *grown = sf_resize(*sums[i], h->room + 1, sizeof *grown);
        if (grown == NULL) return SF_NO_MEMORY;
        *sums[i] = grown;
    }
    return SF_OK;
}

static void add_up(histogram *h)
{
    h->from[h->size] = h->logs[h->size] = 0;
    for (size_t i = h->size; i-- > 0;) {
        h->from[i] = h->from[i + 1] + h->counts[i];
        h->logs[i] = h->logs[i + 1] + h->counts[i] * log((double)h->values[i]);
    }
}

static void add_some(histogram *h, uint64_t value, uint64_t count)
{
    if (h->size == 0 || h->values[h->size - 1] != value) {
        h->values[h->size] = value;
        h->counts[h->size++] = 0;
    }
    h->counts[h->size - 1] += (double)count;
}

/* Builds the histogram from the added values, and resets them. */
static int fill_histogram(histogram *h)
{
    size_t distinct = h->large_count;
    for (size_t value = 0; value < h->end; value++)
        distinct += h->tally[value] > 0;
    if (h->failed || make_room(h, distinct) != SF_OK) return SF_NO_MEMORY;
    h->size = 0;
    for (size_t value = 0; value < h->end; value++) {
        if (h->tally[value] > 0) add_some(h, value, h->tally[value]);
        h->tally[value] = 0;
    }
    sf_counts_sort(h->large, h->large_count);
    for (size_t i = 0; i < h->large_count; i++)
        add_some(h, h->large[i], 1);
    h->end = h->large_count = 0;
    add_up(h);
    return SF_OK;
}

/* ---- the fit ---- */

/* Solves for the exponent whose mean logarithm is that of the data: regula falsi (Illinois). */
static double find_exponent(double mean_log, double xmin)
{
    double low = 1 + 1e-6, high = SF_POWER_STEEPEST;
    zeta at = zeta_at(high, xmin);
    double f_high = -at.slope / at.value - mean_log;
    if (f_high >= 0) return SF_POWER_STEEPEST;
    at = zeta_at(low, xmin);
    double f_low = -at.slope / at.value - mean_log;
    for (int i = 0; i < 100 && high - low > 1e-10; i++) {
        double middle = i % 4 == 3 ? (low + high) / 2 : (low * f_high - high * f_low) / (f_high - f_low);
        at = zeta_at(middle, xmin);
        double f = -at.slope / at.value - mean_log;
        if (fabs(f) < 1e-13) return middle;
        if (f > 0) {
            low = middle;
            f_low = f;
            f_high /= 2;
        } else {
            high = middle;
            f_high = f;
            f_low /= 2;
        }
    }
    return (low + high) / 2;
}

/* Kolmogorov-Smirnov distance from the value `first` on. Between two values of the data the fit grows and the
 * data do not, so the maximum is at a value or just before the next. Stops once it reaches `most`. */
static double find_distance(const histogram *h, size_t first, double a, double most)
{
    const double all = sf_hurwitz_zeta(a, (double)h->values[first]);
    double distance = 0;
    for (size_t i = first; i < h->size && distance < most; i++) {
        double below = 1 - sf_hurwitz_zeta(a, (double)h->values[i]) / all,
               upto = 1 - sf_hurwitz_zeta(a, (double)h->values[i] + 1) / all;
        distance = fmax(distance, fabs(1 - h->from[i] / h->from[first] - below));
        distance = fmax(distance, fabs(1 - h->from[i + 1] / h->from[first] - upto));
    }
    return distance;
}

typedef struct power {
    size_t first; /* index in the histogram; SIZE_MAX: no fit */
    double exponent, distance;
} power;

static power fit_from(const histogram *h, size_t first, double most)
{
    double a = find_exponent(h->logs[first] / h->from[first], (double)h->values[first]);
    return (power){first, a, find_distance(h, first, a, most)};
}

/* With more candidates for xmin, tries only this number, evenly spaced in logarithm. */
#define TRIED 200

static power fit_power(const histogram *h, uint64_t xmin)
{
    power best = {SIZE_MAX, NAN, INFINITY};
    size_t last = 0;
    while (last + 1 < h->size && h->from[last + 1] >= SF_POWER_TAIL)
        last++;
    double step = last < TRIED ? 0 : log((double)h->values[last]) / TRIED, next = -INFINITY;
    if (h->size < 2 || h->from[0] < SF_POWER_TAIL) return best;
    for (size_t i = 0; i <= last && i + 1 < h->size; i++) {
        if (xmin > 0 && h->values[i] < xmin) continue;
        if (xmin == 0 && step > 0 && log((double)h->values[i]) < next) continue;
        next = log((double)h->values[i]) + step;
        power here = fit_from(h, i, best.distance);
        if (here.distance < best.distance) best = here;
        if (xmin > 0) break;
    }
    return best;
}

/* ---- other distributions ---- */

/* ln of the upper tail of the normal distribution; beyond 30 by its asymptotic series. */
static double log_above(double z)
{
    double over = 1 / (z * z);
    if (z > 30) return -z * z / 2 - log(z * sqrt(2 * M_PI)) + log1p(over * (-1 + over * (3 - 15 * over)));
    return log(erfc(z * M_SQRT1_2) / 2);
}

/* The same between two places. */
static double log_between(double below, double above)
{
    if (above < 0) { /* the mirror image */
        double turned = -above;
        above = -below;
        below = turned;
    }
    if (below > 0) return log_above(below) + log1p(-exp(log_above(above) - log_above(below)));
    return log((erfc(-above * M_SQRT1_2) - erfc(-below * M_SQRT1_2)) / 2);
}

typedef struct tail {
    const histogram *h;
    size_t first;
} tail;

/* A lognormal as seen at xmin: the slope (ln xmin - mean) / sd^2 is the exponent minus 1 of the power law
 * that it approaches as its sd grows. */
typedef struct lognormal {
    double slope, sd;
} lognormal;

#define WIDEST 50 /* it is a power law in all but name */

static double log_lognormal(const tail *t, const lognormal *l, double x)
{
    double shift = l->slope * l->sd, xmin = (double)t->h->values[t->first];
    return log_between(shift + log((x - 0.5) / xmin) / l->sd, shift + log((x + 0.5) / xmin) / l->sd);
}

static double log_lognormal_tail(const tail *t, const lognormal *l)
{
    double xmin = (double)t->h->values[t->first];
    return log_above(l->slope * l->sd + log((xmin - 0.5) / xmin) / l->sd);
}

static double likelihood_of(const tail *t, const lognormal *l)
{
    const histogram *h = t->h;
    double sum = 0;
    if (!(l->sd > 1e-2 && l->sd < WIDEST && fabs(l->slope) < 100)) return -INFINITY;
    for (size_t i = t->first; i < h->size; i++)
        sum += h->counts[i] * log_lognormal(t, l, (double)h->values[i]);
    sum -= h->from[t->first] * log_lognormal_tail(t, l);
    return isfinite(sum) ? sum : -INFINITY;
}

/* Vertex of the two-dimensional Nelder-Mead simplex: slope and ln sd. */
typedef struct vertex {
    double at[2], value;
} vertex;

static vertex vertex_at(const tail *t, double slope, double log_sd)
{
    return (vertex){{slope, log_sd}, likelihood_of(t, &(lognormal){slope, exp(log_sd)})};
}

static vertex towards(const tail *t, const vertex *from, const vertex *middle, double times)
{
    return vertex_at(t, middle->at[0] + times * (from->at[0] - middle->at[0]),
                     middle->at[1] + times * (from->at[1] - middle->at[1]));
}

static void sort_vertices(vertex v[3])
{
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && v[k].value > v[k - 1].value; k--) {
            const vertex other = v[k];
            v[k] = v[k - 1];
            v[k - 1] = other;
        }
}

/* Climbs from there. */
static vertex climb(const tail *t, const vertex *start)
{
    double slope = start->at[0], log_sd = start->at[1];
    vertex v[3] = {*start, vertex_at(t, slope + 0.2, log_sd), vertex_at(t, slope, log_sd + 0.3)};
    for (int round = 0; round < 300; round++) {
        sort_vertices(v);
        if (v[0].value - v[2].value < 1e-9 && fabs(v[0].at[0] - v[2].at[0]) < 1e-6) break;
        const vertex middle = {{(v[0].at[0] + v[1].at[0]) / 2, (v[0].at[1] + v[1].at[1]) / 2}, 0};
        vertex turned = towards(t, &v[2], &middle, -1);
        if (turned.value > v[0].value) {
            vertex further = towards(t, &v[2], &middle, -2);
            v[2] = further.value > turned.value ? further : turned;
        } else if (turned.value > v[1].value)
            v[2] = turned;
        else {
            vertex nearer = towards(t, &v[2], &middle, turned.value > v[2].value ? -0.5 : 0.5);
            if (nearer.value > fmax(turned.value, v[2].value))
                v[2] = nearer;
            else
                for (int i = 1; i < 3; i++)
                    v[i] = towards(t, &v[i], &v[0], 0.5);
        }
    }
    sort_vertices(v);
    return v[0];
}

/* A simplex may converge too early, so it is restarted as long as that improves the likelihood. */
static vertex fit_lognormal(const tail *t)
{
    const histogram *h = t->h;
    double n = h->from[t->first], mean = h->logs[t->first] / n, squares = 0;
    for (size_t i = t->first; i < h->size; i++)
        squares += h->counts[i] * pow(log((double)h->values[i]) - mean, 2);
    double sd = fmax(sqrt(squares / n), 0.1), slope = (log((double)h->values[t->first]) - mean) / (sd * sd);
    vertex best = vertex_at(t, slope, log(sd));
    for (int start = 0; start < 30; start++) {
        const vertex found = climb(t, &best);
        bool higher = found.value > best.value + 1e-4;
        best = found;
        if (!higher) break;
    }
    return best;
}

/* Vuong's ratio of the log likelihoods of each value of the tail under the power law and the alternative. */
static sf_rival compare(const tail *t, const double *power_logs, const double *other_logs)
{
    const histogram *h = t->h;
    double n = h->from[t->first], sum = 0, squares = 0;
    for (size_t i = t->first; i < h->size; i++)
        sum += h->counts[i] * (power_logs[i] - other_logs[i]);
    for (size_t i = t->first; i < h->size; i++)
        squares += h->counts[i] * pow(power_logs[i] - other_logs[i] - sum / n, 2);
    double ratio = squares > 0 ? sum / sqrt(squares) : NAN;
    return (sf_rival){ratio, erfc(fabs(ratio) * M_SQRT1_2)};
}

static int compare_both(sf_power_fit *fit, const tail *t, sf_error *error)
{
    const histogram *h = t->h;
    double *power_logs = sf_alloc(2 * h->size, sizeof *power_logs);
    if (power_logs == NULL) return sf_fail_memory(error);
    double *logs = power_logs + h->size;
    double xmin = (double)h->values[t->first], all = log(sf_hurwitz_zeta(fit->exponent, xmin)), sum = 0;
    for (size_t i = t->first; i < h->size; i++) {
        power_logs[i] = -fit->exponent * log((double)h->values[i]) - all;
        sum += h->counts[i] * ((double)h->values[i] - xmin);
    }
    const vertex best = fit_lognormal(t);
    const lognormal likeliest = {best.at[0], exp(best.at[1])};
    double above = log_lognormal_tail(t, &likeliest);
    for (size_t i = t->first; i < h->size; i++)
        logs[i] = log_lognormal(t, &likeliest, (double)h->values[i]) - above;
    fit->lognormal = compare(t, power_logs, logs);
    double rate = log1p(h->from[t->first] / sum); /* 1 / mean excess */
    for (size_t i = t->first; i < h->size; i++)
        logs[i] = log(-expm1(-rate)) - rate * ((double)h->values[i] - xmin);
    fit->exponential = compare(t, power_logs, logs);
    sf_free(power_logs);
    return SF_OK;
}

/* ---- drawings ---- */

#define TABLED 4096

typedef struct drawing {
    const histogram *h;
    const sf_power_fit *fit;
    size_t first;
    double all, below;        /* below: share of the values under xmin */
    double above[TABLED + 1]; /* the probability of xmin + i and more */
    uint32_t guide[TABLED];   /* guide table: index of the value below xmin at the quantile i / TABLED */
} drawing;

/* Last value below xmin whose preceding share is at most `share`; searches from `place`, which must not be
 * later. */
static size_t place_below(const drawing *d, double share, size_t place)
{
    const histogram *h = d->h;
    double left = share * (h->from[0] - h->from[d->first]);
    while (place + 1 < d->first && h->from[0] - h->from[place + 1] <= left)
        place++;
    return place;
}

static void open_drawing(drawing *d, const histogram *h, const sf_power_fit *fit, size_t first)
{
    d->h = h;
    d->fit = fit;
    d->first = first;
    d->all = sf_hurwitz_zeta(fit->exponent, (double)fit->xmin);
    d->below = 1 - h->from[first] / h->from[0];
    d->above[0] = 1;
    for (size_t i = 0; i < TABLED; i++)
        d->above[i + 1] = fmax(0, d->above[i] - pow((double)(fit->xmin + i), -fit->exponent) / d->all);
    for (size_t i = 0; i < TABLED; i++)
        d->guide[i] = (uint32_t)place_below(d, (double)i / TABLED, i > 0 ? d->guide[i - 1] : 0);
}

/* The greatest x with at least this upper tail probability. */
static uint64_t draw_far(const drawing *d, double u)
{
    double low = (double)(d->fit->xmin + TABLED), high = 2 * low;
    while (high < 1e15 && sf_hurwitz_zeta(d->fit->exponent, high) / d->all >= u) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (sf_hurwitz_zeta(d->fit->exponent, middle) / d->all >= u)
            low = middle;
        else
            high = middle;
    }
    return (uint64_t)low;
}

static uint64_t draw_above(const drawing *d, double u)
{
    size_t low = 0, high = TABLED; /* above[low] >= u > above[high] */
    if (d->above[TABLED] >= u) return draw_far(d, u);
    while (low < 8 && d->above[low + 1] >= u)
        low++;
    if (d->above[low + 1] < u) return d->fit->xmin + low;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (d->above[middle] >= u)
            low = middle;
        else
            high = middle;
    }
    return d->fit->xmin + low;
}

static uint64_t draw_below(const drawing *d, double u)
{
    return d->h->values[place_below(d, u, d->guide[(size_t)(u * TABLED)])];
}

static int draw(histogram *drawn, const drawing *d, size_t count, uint64_t seed, uint32_t round)
{
    sf_random random = sf_random_start(seed, round);
    for (size_t i = 0; i < count; i++)
        add_value(drawn, sf_random_uniform(&random) < d->below
                             ? draw_below(d, sf_random_uniform(&random))
                             : draw_above(d, 1 - sf_random_uniform(&random)));
    return fill_histogram(drawn);
}

static int find_p(sf_power_fit *fit, const histogram *h, size_t first, const sf_power_options *options,
                  sf_error *error)
{
    size_t count = (size_t)fit->count;
    histogram drawn;
    drawing *d = sf_alloc(1, sizeof *d);
    int status = open_histogram(&drawn, error);
    if (status == SF_OK && d == NULL) status = sf_fail_memory(error);
    double further = 0, fitted = 0, sum = 0, squares = 0;
    if (status == SF_OK) open_drawing(d, h, fit, first);
    for (uint32_t r = 0; r < options->rounds && status == SF_OK; r++) {
        if (!sf_progress_update(options->progress, "drawing from the power law", r, options->rounds))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped");
        else if (draw(&drawn, d, count, options->seed, r) != SF_OK)
            status = sf_fail_memory(error);
        const power found = status == SF_OK ? fit_power(&drawn, 0) : (power){.first = SIZE_MAX};
        if (found.first == SIZE_MAX) continue;
        fitted++;
        further += found.distance >= fit->distance;
        sum += found.exponent;
        squares += found.exponent * found.exponent;
    }
    if (status == SF_OK && fitted > 1) {
        double sd = sqrt(fmax(0, squares - sum * sum / fitted) / (fitted - 1));
        fit->p = (further + 1) / (fitted + 1); /* the data are one of them */
        fit->low = fit->exponent - 1.96 * sd;
        fit->high = fit->exponent + 1.96 * sd;
    }
    close_histogram(&drawn);
    sf_free(d);
    return status;
}

/* ---- all of it ---- */

/* By the curvature of the likelihood. */
static double standard_error(double a, double xmin, double n)
{
    double step = 1e-4;
    double curvature = (log(sf_hurwitz_zeta(a + step, xmin)) - 2 * log(sf_hurwitz_zeta(a, xmin)) +
                        log(sf_hurwitz_zeta(a - step, xmin))) /
                       (step * step);
    return 1 / sqrt(n * curvature);
}

static int fit_values(sf_power_fit *fit, const histogram *h, const sf_power_options *options, sf_error *error)
{
    const power found = fit_power(h, options->xmin);
    fit->most = h->size > 0 ? h->values[h->size - 1] : 0;
    if (found.first == SIZE_MAX) return SF_OK;
    fit->xmin = h->values[found.first];
    fit->tail = (uint64_t)h->from[found.first];
    fit->exponent = found.exponent;
    fit->distance = found.distance;
    fit->error = standard_error(found.exponent, (double)fit->xmin, h->from[found.first]);
    const tail t = {h, found.first};
    int status = compare_both(fit, &t, error);
    return status == SF_OK && options->rounds > 0 ? find_p(fit, h, found.first, options, error) : status;
}

int sf_power_fit_find(sf_power_fit *fit, const uint64_t *values, size_t count,
                      const sf_power_options *options, sf_error *error)
{
    histogram h;
    *fit = (sf_power_fit){.count = count,
                          .exponent = NAN,
                          .error = NAN,
                          .low = NAN,
                          .high = NAN,
                          .distance = NAN,
                          .p = NAN,
                          .lognormal = {NAN, NAN},
                          .exponential = {NAN, NAN}};
    int status = open_histogram(&h, error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        add_value(&h, values[i]);
    if (status == SF_OK && fill_histogram(&h) != SF_OK) status = sf_fail_memory(error);
    if (status == SF_OK) status = fit_values(fit, &h, options, error);
    close_histogram(&h);
    return status;
}
