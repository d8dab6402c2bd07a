/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/density_oracle.h"

#include "density/kernels.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

static const real pi = 3.14159265358979323846264338327950288L;

static real k6(real x)
{
    return (x * x * x * x * x * x - 15 * x * x * x * x + 45 * x * x - 15) * expl(-x * x / 2) / sqrtl(2 * pi);
}

static real k4(real x)
{
    return (x * x * x * x - 6 * x * x + 3) * expl(-x * x / 2) / sqrtl(2 * pi);
}

static real psi(real (*kernel)(real), int r, const double *samples, size_t n, real g)
{
    real sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum += kernel(((real)samples[i] - (real)samples[j]) / g);
    return sum / ((real)n * (real)n * powl(g, r + 1));
}

sf_plugin check_plugin(const double *samples, size_t n)
{
    real count = (real)n, mean = 0, variance = 0;
    for (size_t i = 0; i < n; i++)
        mean += (real)samples[i] / count;
    for (size_t i = 0; i < n; i++)
        variance += ((real)samples[i] - mean) * ((real)samples[i] - mean) / (count - 1);
    real sigma = sqrtl(variance);
    real psi8 = 105 / (32 * sqrtl(pi) * powl(sigma, 9));
    real g1 = powl(-2 * k6(0) / (psi8 * count), 1.0L / 9);
    real psi6 = psi(k6, 6, samples, n, g1);
    real g2 = powl(-2 * k4(0) / (psi6 * count), 1.0L / 7);
    real psi4 = psi(k4, 4, samples, n, g2);
    real h = powl(1 / (2 * sqrtl(pi)) / (psi4 * count), 1.0L / 5);
    return (sf_plugin){.variance = (double)variance,
                       .sigma = (double)sigma,
                       .psi8 = (double)psi8,
                       .g1 = (double)g1,
                       .psi6 = (double)psi6,
                       .g2 = (double)g2,
                       .psi4 = (double)psi4,
                       .h = (double)h};
}

/* The inverse of the d x d matrix in place, by Gauss-Jordan elimination; returns the determinant. */
static real invert(real *matrix, size_t d)
{
    real work[16][32], determinant = 1;
    for (size_t r = 0; r < d; r++)
        for (size_t c = 0; c < 2 * d; c++)
            work[r][c] = c < d ? matrix[r * d + c] : c - d == r;
    for (size_t p = 0; p < d; p++) {
        real pivot = work[p][p]; /* a covariance has positive pivots */
        determinant *= pivot;
        for (size_t c = 0; c < 2 * d; c++)
            work[p][c] /= pivot;
        for (size_t r = 0; r < d; r++) {
            real factor = work[r][p];
            for (size_t c = 0; r != p && c < 2 * d; c++)
                work[r][c] -= factor * work[p][c];
        }
    }
    for (size_t r = 0; r < d; r++)
        for (size_t c = 0; c < d; c++)
            matrix[r * d + c] = work[r][c + d];
    return determinant;
}

double check_lscv(const double *rows, size_t n, size_t d, double h)
{
    real mean[16] = {0}, covariance[256] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < d; c++)
            mean[c] += (real)rows[i * d + c] / (real)n;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++)
                covariance[a * d + b] +=
                    ((real)rows[i * d + a] - mean[a]) * ((real)rows[i * d + b] - mean[b]) / (real)(n - 1);
    real root = sqrtl(invert(covariance, d));
    real height = 1 / (powl(2 * pi, d / 2.0L) * root), height2 = 1 / (powl(4 * pi, d / 2.0L) * root);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            real y = 0;
            for (size_t a = 0; a < d; a++)
                for (size_t b = 0; b < d; b++)
                    y += ((real)rows[i * d + a] - (real)rows[j * d + a]) * covariance[a * d + b] *
                         ((real)rows[i * d + b] - (real)rows[j * d + b]);
            real hh = (real)h * (real)h;
            sum += height2 * expl(-y / (4 * hh)) - 2 * height * expl(-y / (2 * hh));
        }
    return (double)(powl(h, -(real)d) * (2 * sum / ((real)n * (real)n) + height2 / (real)n));
}

void check_characteristic(double t, const double *samples, const double *w, size_t n, double *re, double *im)
{
    real sum_re = 0, sum_im = 0;
    for (size_t j = 0; j < n; j++) {
        sum_re += (w != NULL ? w[j] : 1) * cosl((real)t * (real)samples[j]);
        sum_im += (w != NULL ? w[j] : 1) * sinl((real)t * (real)samples[j]);
    }
    *re = (double)sum_re;
    *im = (double)sum_im;
}

double check_density(double x, const double *samples, size_t n, double h)
{
    real sum = 0;
    for (size_t j = 0; j < n; j++) {
        real z = ((real)x - (real)samples[j]) / (real)h;
        sum += expl(-z * z / 2) / sqrtl(2 * pi);
    }
    return (double)(sum / ((real)n * (real)h));
}

/* ---- the generator of the check values ---- */

static double uniform(uint64_t set, uint64_t k)
{
    uint64_t z = UINT64_C(0x4B444500) + set + k * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static double ratio(const double *above, const double *below, double r)
{
    double a = above[7], b = below[7];
    for (int i = 6; i >= 0; i--) {
        a = a * r + above[i];
        b = b * r + below[i];
    }
    return a / b;
}

/* Inverse of the normal distribution function: M. J. Wichura, Algorithm AS 241 (PPND16), 1988. */
static double normal_quantile(double p)
{
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) return q * ratio(a, b, 0.180625 - q * q);
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5);
    return q < 0 ? -x : x;
}

/* u and z: the row's uniforms and the normals made of them. */
static void gauss16_row(double *row, const double *u, const double *z)
{
    (void)u;
    row[0] = z[0];
    for (int j = 1; j < 16; j++)
        row[j] = 0.5 * row[j - 1] + z[j];
}

static void isi_row(double *row, const double *u, const double *z)
{
    row[0] = u[0] < 0.3 ? 2 + 4 * exp(0.4 * z[1]) : 2 + 50 * exp(0.7 * z[1]);
}

static void rate_row(double *row, const double *u, const double *z)
{
    row[0] = u[0] < 0.5 ? 6 + 1.2 * z[1] : u[0] < 0.8 ? 20 + 4 * z[1] : 60 + 8 * z[1];
}

static void delay_row(double *row, const double *u, const double *z)
{
    row[0] = u[0] < 0.8 ? 12 + 0.8 * z[1] : 10 - 15 * log(u[1]);
}

static void array8_row(double *row, const double *u, const double *z)
{
    int c = (int)floor(12 * u[0]);
    row[0] = 200 * (c % 4) + 35 * z[1];
    row[1] = 200 * (c / 4) + 35 * z[2];
    row[2] = -60 - 8 * c + 12 * z[3];
    row[3] = 0.3 + 0.02 * (c % 5) + 0.03 * z[4];
    row[4] = 0.8 * (c - 5.5) + z[5];
    row[5] = 0.6 * ((5 * c) % 12 - 5.5) + z[6];
    row[6] = 0.5 * row[4] + z[7];
    row[7] = -0.3 * row[5] + 0.5 * z[8];
}

double *check_samples(const char *set, size_t n, size_t *columns)
{
    static const struct {
        const char *name;
        uint64_t number;
        size_t width, columns;
        void (*row)(double *row, const double *u, const double *z);
    } sets[] = {{"gauss16", 1, 16, 16, gauss16_row},
                {"isi", 2, 2, 1, isi_row},
                {"rate", 3, 2, 1, rate_row},
                {"delay", 4, 2, 1, delay_row},
                {"array8", 5, 9, 8, array8_row}};
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        if (strcmp(sets[s].name, set) != 0) continue;
        *columns = sets[s].columns;
        double *rows = malloc(n * sets[s].columns * sizeof *rows);
        for (size_t i = 0; rows != NULL && i < n; i++) {
            double u[16], z[16];
            for (size_t k = 0; k < sets[s].width; k++) {
                u[k] = uniform(sets[s].number, i * sets[s].width + k + 1);
                z[k] = normal_quantile(u[k]);
            }
            sets[s].row(rows + i * sets[s].columns, u, z);
        }
        return rows;
    }
    return NULL;
}

int check_kernels(double *values, const double *points, size_t count, const double *samples, size_t n,
                  double h, sf_domain domain, unsigned threads, sf_error *error)
{
    sf_samples column = {.values = (double *)(uintptr_t)samples, .n = n, .d = 1};
    sf_kernels kernels;
    int status = sf_kernels_open(&kernels, &column, h, domain, error);
    double *places = malloc((count + 1) * sizeof *places);
    for (size_t k = 0; k < count; k++)
        places[k] = domain == SF_DOMAIN_LOG && points[k] <= 0 ? -INFINITY : sf_axis_of(domain, points[k]);
    if (status == SF_OK) status = sf_kernels_density(&kernels, values, places, count, threads, NULL, error);
    free(places);
    sf_kernels_close(&kernels);
    return status;
}
