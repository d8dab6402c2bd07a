/* SPDX-License-Identifier: Apache-2.0 */
#include "density/aggregate.h"

#include "core/error.h"

#include <math.h>

#define PI 3.14159265358979323846
#define SQRT_2PI 2.50662827463100050242

static double bell(double z)
{
    return exp(-0.5 * z * z) / SQRT_2PI;
}

/* Phi(above) - Phi(below), without cancellation in either tail. */
static double between(double below, double above)
{
    if (below > 0)
        return 0.5 * (erfc(below * M_SQRT1_2) - erfc(above * M_SQRT1_2));
    return 0.5 * (erfc(-above * M_SQRT1_2) - erfc(-below * M_SQRT1_2));
}

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

/* The kernel at x with bandwidth h: its integrals from `from` to `to`, all counted from the pivot. */
static void add_kernel(sf_range_moments *moments, double x, double h, double from, double to)
{
    double below = (from - x) / h, above = (to - x) / h;
    double mass = between(below, above), drop = bell(above) - bell(below);
    moments->share += mass;
    moments->first += x * mass - h * drop;
    moments->second += (x * x + h * h) * mass - h * ((x + to) * bell(above) - (x + from) * bell(below));
}

/* A kernel of log x: E[x^k] is exp(k y + k^2 h^2 / 2) times the share of a normal shifted by k h^2. */
static void add_log_kernel(sf_range_moments *moments, double x, double h, double from, double to)
{
    double y = log(x);
    double below = from > 0 ? (log(from) - y) / h : -INFINITY, above = to > 0 ? (log(to) - y) / h : -INFINITY;
    moments->share += between(below, above);
    moments->first += x * exp(0.5 * h * h) * between(below - h, above - h);
    moments->second += x * x * exp(2 * h * h) * between(below - 2 * h, above - 2 * h);
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

int sf_range_moments_direct(sf_range_moments *moments, const double *samples, size_t n, double h,
                            sf_domain domain, double from, double to, sf_error *error)
{
    *moments = (sf_range_moments){0};
    int status = check_range(h, from, to, error);
    if (status == SF_OK)
        status = sf_domain_check(domain, samples, n, error);
    if (status == SF_OK && n == 0)
        status = sf_fail(error, SF_DATA, NULL, "found no sample, expected at least 1");
    if (status != SF_OK)
        return status;
    if (domain == SF_DOMAIN_REFLECT) { /* nothing lies under 0 */
        from = fmax(from, 0);
        to = fmax(to, 0);
    }
    double pivot = moments->pivot = domain == SF_DOMAIN_LOG ? 0 : from + (to - from) / 2;
    for (size_t i = 0; i < n; i++) {
        if (domain == SF_DOMAIN_LOG)
            add_log_kernel(moments, samples[i], h, from, to);
        else
            add_kernel(moments, samples[i] - pivot, h, from - pivot, to - pivot);
        if (domain == SF_DOMAIN_REFLECT)
            add_kernel(moments, -samples[i] - pivot, h, from - pivot, to - pivot);
    }
    moments->share /= (double)n;
    moments->first /= (double)n;
    moments->second /= (double)n;
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
        if (damping < 1e-19)
            break;
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

int sf_box_moments(sf_range_moments *moments, const double *rows, size_t n, size_t d, const double *h,
                   const double *from, const double *to, sf_error *error)
{
    size_t last = d - 1;
    double pivot = from[last] + (to[last] - from[last]) / 2;
    *moments = (sf_range_moments){.pivot = pivot};
    for (size_t c = 0; c < d; c++) {
        int status = check_range(h[c], from[c], to[c], error);
        if (status != SF_OK)
            return status;
    }
    int status = sf_domain_check(SF_DOMAIN_LINE, rows, n * d, error);
    if (status != SF_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        const double *row = rows + i * d;
        double others = 1 / (double)n;
        for (size_t c = 0; c < last; c++)
            others *= between((from[c] - row[c]) / h[c], (to[c] - row[c]) / h[c]);
        sf_range_moments own = {0};
        add_kernel(&own, row[last] - pivot, h[last], from[last] - pivot, to[last] - pivot);
        moments->share += others * own.share;
        moments->first += others * own.first;
        moments->second += others * own.second;
    }
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
    if (status == SF_OK)
        status = sf_domain_check(SF_DOMAIN_LINE, rows, 2 * n, error);
    if (status != SF_OK)
        return status;
    double count = (double)n, x_mean = 0, y_mean = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        x_mean += rows[2 * i] / count;
        y_mean += rows[2 * i + 1] / count;
    }
    for (size_t i = 0; i < n; i++) {
        double x = rows[2 * i] - x_mean, y = rows[2 * i + 1] - y_mean;
        xx += x * x / (count - 1);
        xy += x * y / (count - 1);
        yy += y * y / (count - 1);
    }
    if (!(xx > 0))
        return sf_fail(error, SF_DATA, NULL, "all values of the first column are equal");
    double width = h * sqrt(xx), slope = h * xy / sqrt(xx), rest = h * h * fmax(yy - xy * xy / xx, 0);
    moments->pivot = y_mean;
    for (size_t i = 0; i < n; i++) {
        double below = (from - rows[2 * i]) / width, above = (to - rows[2 * i]) / width;
        double y = rows[2 * i + 1] - y_mean, mass = between(below, above), drop = bell(above) - bell(below);
        double squares =
            mass - ((isinf(above) ? 0 : above * bell(above)) - (isinf(below) ? 0 : below * bell(below)));
        moments->share += mass / count;
        moments->first += (y * mass - slope * drop) / count;
        moments->second += ((y * y + rest) * mass - 2 * y * slope * drop + slope * slope * squares) / count;
    }
    return SF_OK;
}

void sf_box_moments_exact(sf_range_moments *moments, const double *rows, size_t n, size_t d,
                          const double *from, const double *to, size_t ranges)
{
    *moments = (sf_range_moments){.pivot = n > 0 ? rows[d - 1] : 0};
    for (size_t i = 0; i < n; i++) {
        const double *row = rows + i * d;
        bool inside = true;
        for (size_t c = 0; c < ranges; c++)
            inside = inside && row[c] > from[c] && row[c] < to[c];
        if (!inside)
            continue;
        double y = row[d - 1] - moments->pivot;
        moments->share++;
        moments->first += y;
        moments->second += y * y;
    }
    moments->share /= (double)n;
    moments->first /= (double)n;
    moments->second /= (double)n;
}
