/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PLUG-IN, whoever finds its functionals; and by direct sums over pairs. Samples are standardised first,
 * because sigma^9 and g^7 of raw data leave the range where rounding is harmless.
 */
#include "density/bandwidth.h"

#include "core/error.h"
#include "density/pairs.h"
#include "density/shared/bandwidth.h"

#include <math.h>

/* K_r(z) sqrt(2 pi) = c[0] + c[1] z^2 + c[2] z^4 + c[3] z^6, times exp(-z^2/2). */
static const double k6[4] = {-15, 45, -15, 1};
static const double k4[4] = {3, -6, 1, 0};

int sf_plugin_steps(sf_plugin *plugin, const sf_moments *moments, double n,
                    int (*psi)(void *context, int r, double g, double *value), void *context)
{
    double psi6 = 0, psi4 = 0, g1 = sf_plugin_first(n);
    int status = psi(context, 6, g1, &psi6);
    if (status != SF_OK) return status;
    double g2 = sf_plugin_second(n, psi6);
    status = psi(context, 4, g2, &psi4);
    if (status != SF_OK) return status;
    double h = sf_plugin_bandwidth(n, psi4);
    double sigma = moments->sigma;
    *plugin = (sf_plugin){
        .variance = moments->variance,
        .sigma = sigma,
        .psi8 = SF_PLUGIN_PSI8 / pow(sigma, 9),
        .g1 = g1 * sigma,
        .psi6 = psi6 / pow(sigma, 7),
        .g2 = g2 * sigma,
        .psi4 = psi4 / pow(sigma, 5),
        .h = h * sigma,
    };
    return SF_OK;
}

typedef struct direct_psi {
    sf_pairs *pairs;
    int round;
} direct_psi;

/* Psi_r(g) = 1/(n^2 g^(r+1)) sum_i sum_j K_r((zi - zj)/g), the diagonal included; asked for twice. */
static int find_psi(void *context, int r, double g, double *value)
{
    direct_psi *direct = context;
    const double *coefficients = r == 6 ? k6 : k4;
    double n = (double)direct->pairs->n, sum;
    int status = sf_pairs_functional(direct->pairs, coefficients, g, direct->round++, 2, &sum);
    if (status == SF_OK) *value = (2 * sum / n + coefficients[0]) / (n * pow(g, r + 1) * SF_SQRT_2PI);
    return status;
}

int sf_pairs_plugin(sf_plugin *plugin, sf_pairs *pairs, sf_error *error)
{
    *plugin = (sf_plugin){0};
    direct_psi direct = {.pairs = pairs};
    sf_moments moments = {.sigma = pairs->sigma, .variance = pairs->sigma * pairs->sigma};
    int status = sf_plugin_steps(plugin, &moments, (double)pairs->n, find_psi, &direct);
    if (status == SF_CANCELLED)
        sf_fail(error, SF_CANCELLED, NULL, "stopped before the pair sums were complete");
    return status == SF_NO_MEMORY ? sf_fail_memory(error) : status;
}
