/* SPDX-License-Identifier: Apache-2.0 */
#include "density/aggregate.h"

#include "core/error.h"
#include "core/normal.h"
#include "core/progress.h"
#include "density/kernels.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

double sf_range_total(const sf_range_moments *moments)
{
    return moments->first + moments->pivot * moments->share;
}

double sf_range_average(const sf_range_moments *moments)
{
    return moments->share > 0 ? moments->pivot + moments->first / moments->share : NAN;
}

double sf_range_variance(const sf_range_moments *moments)
{
    double from_pivot = moments->share > 0 ? moments->first / moments->share : NAN;
    return moments->second / moments->share - from_pivot * from_pivot;
}

/* The pivot: the middle of the part of the range where samples lie, or, if the range lies beside them, its
 * nearer end. */
static double pivot_of(double from, double to, double least, double most)
{
    double low = fmax(from, fmin(least, to)), high = fmin(to, fmax(most, from));
    return low + (high - low) / 2;
}

/* What the kernel at x has at the end of a range times both, from the pivot; at an open end nothing. */
static double density_at(double end, double x, double h)
{
    return isinf(end) ? 0 : (x + end) * sf_normal_density((end - x) / h);
}

/* The kernel at x with bandwidth h: its integrals from `from` to `to`, all counted from the pivot. */
static void add_kernel(sf_range_moments *moments, double x, double h, double from, double to)
{
    double below = (from - x) / h, above = (to - x) / h;
    double mass = sf_normal_between(below, above), drop = sf_normal_density(above) - sf_normal_density(below);
    moments->share += mass;
    moments->first += x * mass - h * drop;
    moments->second += (x * x + h * h) * mass - h * (density_at(to, x, h) - density_at(from, x, h));
}

/* A kernel of y = ln x: E[x^k] is exp(k y + k^2 h^2 / 2) times the share of a normal shifted by k h^2. */
static void add_log_kernel(sf_range_moments *moments, double y, double h, double from, double to)
{
    double below = from > 0 ? (log(from) - y) / h : -INFINITY, above = to > 0 ? (log(to) - y) / h : -INFINITY;
    moments->share += sf_normal_between(below, above);
    moments->first += exp(y + 0.5 * h * h) * sf_normal_between(below - h, above - h);
    moments->second += exp(2 * y + 2 * h * h) * sf_normal_between(below - 2 * h, above - 2 * h);
}

static int check_range(double h, double from, double to, sf_error *error)
{
    if (!(h > 0) || !isfinite(h))
        return sf_fail(error, SF_USAGE, NULL, "found the bandwidth %g, expected a number above 0", h);
    if (!(from < to))
        return sf_fail(error, SF_USAGE, NULL, "found the range %g to %g, expected its start before its end",
                       from, to);
    return SF_OK;
}

/* Summed over ticks instead of integrated: by Euler and Maclaurin, -tick^2/24 [g'] for g of 1, v and v^2
 * times the kernel at x, v from the pivot. Kernels are as wide as a tick, or wider. */
static void sum_over_ticks(sf_range_moments *moments, double x, double h, double end, double square)
{
    if (!isfinite(end)) return;
    double z = (end - x) / h, f = sf_normal_density(z) / h, slope = -z * f / h;
    moments->share -= square * slope;
    moments->first -= square * (f + end * slope);
    moments->second -= square * (2 * end * f + end * end * slope);
}

/* Where kernels are integrated: between ends, counted from the pivot, or over ticks. */
typedef struct cut_range {
    double from, to, pivot;
    sf_ticks ticks;
} cut_range;

/* Kernel i, whose sample is one of those that were not mirrored. */
static void add_clocked(sf_range_moments *sums, const sf_kernels *kernels, size_t i, const cut_range *cut)
{
    double x = sf_axis_value(kernels->domain, kernels->at[i]), pivot = cut->pivot;
    double tick = cut->ticks.tick, nominal = cut->ticks.phase + tick * round((x - cut->ticks.phase) / tick);
    if (i < kernels->count - kernels->n || !(x > cut->from && x < cut->to)) return;
    sums->share += 1;
    sums->first += nominal - pivot;
    sums->second += (nominal - pivot) * (nominal - pivot);
}

static void add_kernels(sf_range_moments *sums, const sf_kernels *kernels, const cut_range *cut)
{
    double pivot = cut->pivot, from = cut->from - pivot, to = cut->to - pivot, tick = cut->ticks.tick;
    for (size_t i = 0; i < kernels->count; i++) {
        double x = kernels->at[i] - pivot, h = kernels->width[i];
        bool is_log = kernels->domain == SF_DOMAIN_LOG;
        if (tick > 0 && (h > kernels->h || (!is_log && kernels->h <= tick))) {
            add_clocked(sums, kernels, i, cut);
        } else if (is_log) {
            add_log_kernel(sums, kernels->at[i], h, from, to);
        } else {
            add_kernel(sums, x, h, from, to);
            sum_over_ticks(sums, x, h, to, tick * tick / 24);
            sum_over_ticks(sums, x, h, from, -tick * tick / 24);
        }
    }
}

int sf_range_moments_direct(sf_range_moments *moments, const sf_samples *samples, double h, sf_domain domain,
                            double from, double to, sf_error *error)
{
    *moments = (sf_range_moments){0};
    sf_kernels kernels;
    int status = check_range(h, from, to, error);
    if (status == SF_OK) status = sf_kernels_open(&kernels, samples, h, domain, error);
    if (status != SF_OK) return status;
    cut_range cut = {.from = from, .to = to, .ticks = sf_samples_ticks(samples)};
    sf_ticks_cut(&cut.ticks, &cut.from, &cut.to);
    if (domain == SF_DOMAIN_REFLECT) { /* nothing lies under 0 */
        cut.from = fmax(cut.from, 0);
        cut.to = fmax(cut.to, 0);
    }
    double n = (double)kernels.n;
    if (domain != SF_DOMAIN_LOG)
        cut.pivot =
            pivot_of(cut.from, cut.to, kernels.at[kernels.count - kernels.n], kernels.at[kernels.count - 1]);
    sf_range_moments sums = {0};
    if (cut.from < cut.to) add_kernels(&sums, &kernels, &cut);
    sf_kernels_close(&kernels);
    *moments = (sf_range_moments){
        .pivot = cut.pivot, .share = sums.share / n, .first = sums.first / n, .second = sums.second / n};
    return SF_OK;
}

/* Term by term of f(x) = 1/P sum_k conj(phi_k) exp(-b^2 t^2/2) exp(i t (x - origin)). */
void sf_range_moments_spectral(sf_range_moments *moments, const sf_spectrum *spectrum, double b, double from,
                               double to)
{
    double period = spectrum->frame.period, pivot = from + (to - from) / 2, half = (to - from) / 2;
    double away = pivot - spectrum->frame.origin; /* phi is relative to the origin: turn it to the pivot */
    double sums[3] = {2 * half, 0, 2 * half * half * half / 3};
    for (size_t k = 1; k <= spectrum->frame.modes; k++) {
        double t = 2 * PI * (double)k / period, damping = exp(-0.5 * b * b * t * t);
        if (damping < 1e-19) break;
        double cosine = cos(t * away), sine = sin(t * away);
        double re = spectrum->re[k] * cosine + spectrum->im[k] * sine;
        double im = spectrum->im[k] * cosine - spectrum->re[k] * sine;
        double c = cos(t * half), s = sin(t * half), t2 = t * t;
        /* integrals of v^p exp(i t v) from -half to half; real for even p, imaginary for odd */
        sums[0] += 2 * damping * re * 2 * s / t;
        sums[1] += 2 * damping * im * 2 * (s / t2 - half * c / t);
        sums[2] += 2 * damping * re * 2 * (half * half * s / t + 2 * half * c / t2 - 2 * s / (t2 * t));
    }
    *moments = (sf_range_moments){
        .pivot = pivot, .share = sums[0] / period, .first = sums[1] / period, .second = sums[2] / period};
}

/* ---- boxes ---- */

enum { MOST_COLUMNS = 16, PANELS = 256, NODES = 8, LATTICE = 256, ROWS = 4096 };

/* What lies further out of a kernel is nothing (3e-12). */
#define FAR 7.0

/* Kernels of covariance root root', rows counted from the pivot in the last column. */
typedef struct box {
    size_t d;
    const double *from, *to;
    double pivot;
    double sigma[MOST_COLUMNS];              /* of each column alone */
    double root[MOST_COLUMNS][MOST_COLUMNS]; /* lower triangle */
} box;

static void add_moments(sf_range_moments *moments, const sf_range_moments *own, double weight)
{
    moments->share += weight * own->share;
    moments->first += weight * own->first;
    moments->second += weight * own->second;
}

/* The integrals of a kernel's last column at x with width h, in the box, times `weight`. */
static void add_last(sf_range_moments *moments, const box *in, double x, double h, double weight)
{
    size_t last = in->d - 1;
    sf_range_moments own = {0};
    add_kernel(&own, x - in->pivot, h, in->from[last] - in->pivot, in->to[last] - in->pivot);
    add_moments(moments, &own, weight);
}

/* Two columns: integrates over the first in panels as narrow as the kernel is slanted, and over the second in
 * closed form. */
static void add_leaning(sf_range_moments *moments, const box *in, const double *row)
{
    static const double nodes[NODES / 2] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                            0.9602898564975363};
    static const double weights[NODES / 2] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                              0.1012285362903763};
    double width = in->root[0][0], slope = in->root[1][0], rest = in->root[1][1];
    double from = fmax((in->from[0] - row[0]) / width, -FAR), to = fmin((in->to[0] - row[0]) / width, FAR);
    double panels = fmin(ceil((to - from) / fmin(1, 2 * rest / fabs(slope))), PANELS);
    double half = (to - from) / (2 * panels);
    for (double p = 0; p < panels; p++)
        for (int i = 0; i < NODES; i++) {
            double z = from + half * (2 * p + 1 + (i % 2 ? 1 : -1) * nodes[i / 2]);
            add_last(moments, in, row[1] + slope * z, rest, half * weights[i / 2] * sf_normal_density(z));
        }
}

/* What rows of two columns gave, the latest of each hash: spikes are many, electrodes few. */
enum { REMEMBERED = 1024 };

typedef struct remembered {
    bool filled;
    double row[2];
    sf_range_moments gave;
} remembered;

static const sf_range_moments *leaning_of(remembered known[REMEMBERED], const box *in, const double *row)
{
    uint64_t bits[2];
    memcpy(bits, row, sizeof bits);
    uint64_t hash = (bits[0] ^ bits[1] * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd1342543de82ef95);
    remembered *of = &known[hash >> 54];
    if (!of->filled || of->row[0] != row[0] || of->row[1] != row[1]) {
        *of = (remembered){.filled = true, .row = {row[0], row[1]}};
        add_leaning(&of->gave, in, row);
    }
    return &of->gave;
}

/* The place below which a share of `below` lies, at most 1/2; above it for the rest, for its digits. */
static double quantile(double below, double above)
{
    double p = fmin(below, above), sign = below < above ? -1 : 1;
    double z = sqrt(-2 * log(p)) - 0.5; /* then Newton on the logarithm, which is concave: from the outside */
    for (int i = 0; i < 6; i++) {
        double tail = 0.5 * erfc(z * M_SQRT1_2);
        z += tail / sf_normal_density(z) * log(tail / p);
    }
    return sign * z;
}

/* More columns: column after column, each cut to the box given those before it, at points of a lattice. */
static void add_by_lattice(sf_range_moments *moments, const box *in, const double *row, size_t sample)
{
    static const double generators[MOST_COLUMNS - 1] = {
        0.4142135623730950, 0.7320508075688772, 0.2360679774997896, 0.6457513110645906, 0.3166247903553998,
        0.6055512754639893, 0.1231056256176605, 0.3588989435406735, 0.7958315233127195, 0.3851648071345040,
        0.5677643628300219, 0.0827625302982196, 0.4031242374328485, 0.5574385243020004, 0.8556546004010439};
    for (size_t k = 0; k < LATTICE; k++) {
        double z[MOST_COLUMNS], weight = 1.0 / LATTICE, at = row[0];
        for (size_t c = 0; c + 1 < in->d; c++) {
            double below = (in->from[c] - at) / in->root[c][c], above = (in->to[c] - at) / in->root[c][c];
            double cut = 0.5 * erfc(-below * M_SQRT1_2), rest = 0.5 * erfc(above * M_SQRT1_2);
            double mass = sf_normal_between(below, above);
            double u = fmod(generators[c] * (double)(k + 1 + LATTICE * sample), 1);
            weight *= mass;
            if (!(weight > 1e-300)) break;
            z[c] = quantile(fmax(cut + u * mass, 1e-300), fmax(rest + (1 - u) * mass, 1e-300));
            at = row[c + 1];
            for (size_t b = 0; b <= c; b++)
                at += in->root[c + 1][b] * z[b];
        }
        if (weight > 1e-300) add_last(moments, in, at, in->root[in->d - 1][in->d - 1], weight);
    }
}

/* A kernel at x from the pivot with width h, all of which is in the box. */
static void add_whole(sf_range_moments *moments, double x, double h)
{
    moments->share += 1;
    moments->first += x;
    moments->second += x * x + h * h;
}

/* Kernels all in the box or all outside it, as most are, need no integration. */
static void add_row(sf_range_moments *moments, const box *in, const double *row, size_t sample,
                    remembered known[REMEMBERED])
{
    bool whole = true;
    for (size_t c = 0; c < in->d; c++) {
        double reach = FAR * in->sigma[c];
        if (row[c] + reach < in->from[c] || row[c] - reach > in->to[c]) return;
        whole = whole && row[c] - reach > in->from[c] && row[c] + reach < in->to[c];
    }
    size_t last = in->d - 1;
    if (whole)
        add_whole(moments, row[last] - in->pivot, in->sigma[last]);
    else if (in->d == 1)
        add_last(moments, in, row[last], in->sigma[last], 1);
    else if (in->d == 2)
        add_moments(moments, leaning_of(known, in, row), 1);
    else
        add_by_lattice(moments, in, row, sample);
}

/* Cholesky's root of h^2 times the covariance. */
static int find_root(box *in, const double *rows, size_t n, double h, sf_error *error)
{
    size_t d = in->d;
    double mean[MOST_COLUMNS] = {0};
    for (size_t i = 0; i < n * d; i++)
        mean[i % d] += (rows[i] - rows[i % d]) / (double)n;
    for (size_t c = 0; c < d; c++)
        mean[c] += rows[c];
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b <= a; b++)
                in->root[a][b] += (rows[i * d + a] - mean[a]) * (rows[i * d + b] - mean[b]) / (double)(n - 1);
    for (size_t a = 0; a < d; a++) {
        double variance = in->root[a][a];
        in->sigma[a] = h * sqrt(variance);
        for (size_t b = 0; b <= a; b++) {
            for (size_t c = 0; c < b; c++)
                in->root[a][b] -= in->root[a][c] * in->root[b][c];
            in->root[a][b] = a == b ? sqrt(in->root[a][a]) : in->root[a][b] / in->root[b][b];
        }
        if (!(in->root[a][a] > 1e-10 * sqrt(variance)))
            return sf_fail(
                error, SF_DATA, NULL,
                "the covariance is singular: column %zu is equal values, or follows from the others", a + 1);
    }
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++)
            in->root[a][b] *= h;
    return SF_OK;
}

int sf_box_moments(sf_range_moments *moments, const double *rows, size_t n, size_t d, double h,
                   const double *from, const double *to, const sf_progress *progress, sf_error *error)
{
    *moments = (sf_range_moments){0};
    box in = {.d = d, .from = from, .to = to};
    int status = SF_OK;
    for (size_t c = 0; status == SF_OK && c < d; c++)
        status = check_range(h, from[c], to[c], error);
    if (status == SF_OK && n < 2)
        status = sf_fail(error, SF_DATA, NULL, "found %zu samples, expected at least 2", n);
    if (status == SF_OK) status = sf_domain_check(SF_DOMAIN_LINE, rows, n * d, error);
    if (status == SF_OK) status = find_root(&in, rows, n, h, error);
    if (status != SF_OK) return status;
    double least = rows[d - 1], most = least;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, rows[i * d + d - 1]);
        most = fmax(most, rows[i * d + d - 1]);
    }
    in.pivot = pivot_of(from[d - 1], to[d - 1], least, most);
    sf_range_moments sums = {0};
    remembered known[REMEMBERED] = {0};
    for (size_t i = 0; i < n; i++) {
        if (i % ROWS == 0 && !sf_progress_update(progress, "integrals", (double)i, (double)n))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped before the integrals were complete");
        add_row(&sums, &in, rows + i * d, i, known);
    }
    double count = (double)n;
    *moments = (sf_range_moments){.pivot = in.pivot,
                                  .share = sums.share / count,
                                  .first = sums.first / count,
                                  .second = sums.second / count};
    return SF_OK;
}

/*
 * At a sample (x, y) the kernel's second coordinate is y + slope z + rest, z the first one in units of its
 * width h s_x: slope = h s_xy / s_x, and rest, which does not depend on z, has variance h^2 (s_yy - s_xy^2 /
 * s_xx). The range cuts z only.
 */
int sf_linked_moments(sf_range_moments *moments, const double *rows, size_t n, double h, double from,
                      double to, sf_error *error)
{
    *moments = (sf_range_moments){0};
    int status = check_range(h, from, to, error);
    if (status == SF_OK && n < 2)
        status = sf_fail(error, SF_DATA, NULL, "found %zu samples, expected at least 2", n);
    if (status == SF_OK) status = sf_domain_check(SF_DOMAIN_LINE, rows, 2 * n, error);
    if (status != SF_OK) return status;
    double count = (double)n, x_mean = 0, y_mean = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        x_mean += (rows[2 * i] - rows[0]) / count;
        y_mean += (rows[2 * i + 1] - rows[1]) / count;
    }
    x_mean += rows[0];
    y_mean += rows[1];
    for (size_t i = 0; i < n; i++) {
        double x = rows[2 * i] - x_mean, y = rows[2 * i + 1] - y_mean;
        xx += x * x / (count - 1);
        xy += x * y / (count - 1);
        yy += y * y / (count - 1);
    }
    if (!(xx > 0)) return sf_fail(error, SF_DATA, NULL, "all values of the first column are equal");
    double width = h * sqrt(xx), slope = h * xy / sqrt(xx), rest = h * h * fmax(yy - xy * xy / xx, 0);
    moments->pivot = y_mean;
    for (size_t i = 0; i < n; i++) {
        double below = (from - rows[2 * i]) / width, above = (to - rows[2 * i]) / width;
        double y = rows[2 * i + 1] - y_mean, mass = sf_normal_between(below, above),
               drop = sf_normal_density(above) - sf_normal_density(below);
        double squares = mass - ((isinf(above) ? 0 : above * sf_normal_density(above)) -
                                 (isinf(below) ? 0 : below * sf_normal_density(below)));
        moments->share += mass / count;
        moments->first += (y * mass - slope * drop) / count;
        moments->second += ((y * y + rest) * mass - 2 * y * slope * drop + slope * slope * squares) / count;
    }
    return SF_OK;
}

static bool is_inside(const double *row, const double *from, const double *to, size_t ranges)
{
    for (size_t c = 0; c < ranges; c++)
        if (!(row[c] > from[c] && row[c] < to[c])) return false;
    return true;
}

void sf_box_moments_exact(sf_range_moments *moments, const double *rows, size_t n, size_t d,
                          const double *from, const double *to, size_t ranges)
{
    double fourth = 0;
    *moments = (sf_range_moments){.pivot = n > 0 ? rows[d - 1] : 0};
    for (size_t i = 0; i < n; i++) {
        double y = rows[i * d + d - 1] - moments->pivot;
        if (!is_inside(rows + i * d, from, to, ranges)) continue;
        moments->share++;
        moments->first += y;
        moments->second += y * y;
    }
    double average = sf_range_average(moments), variance = sf_range_variance(moments);
    for (size_t i = 0; i < n; i++)
        if (is_inside(rows + i * d, from, to, ranges))
            fourth += pow(rows[i * d + d - 1] - average, 4) / moments->share;
    moments->kurtosis = variance > 0 ? fourth / (variance * variance) : 0;
    moments->share /= (double)n;
    moments->first /= (double)n;
    moments->second /= (double)n;
}
