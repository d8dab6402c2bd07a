/* SPDX-License-Identifier: Apache-2.0 */
#include "density/spectral.h"

#include "core/error.h"
#include "density/shared/bandwidth.h"

#include <math.h>

static int spectrum_psi(void *context, int r, double g, double *value)
{
    const sf_spectrum *spectrum = context; /* plugin steps are in units of sigma */
    *value = sf_spectrum_psi(spectrum, r, g * spectrum->sigma) * pow(spectrum->sigma, r + 1);
    return SF_OK;
}

int sf_spectral_plugin(sf_plugin *plugin, const sf_spectrum *spectrum, sf_error *error)
{
    /* From sums of squares, rounding alone makes a sigma of 1e-8 of the period. */
    if (!(spectrum->sigma > 1e-7 * spectrum->frame.period))
        return sf_fail(error, SF_DATA, NULL, "all samples are equal: a bandwidth needs different values");
    sf_moments moments = {.sigma = spectrum->sigma, .variance = spectrum->sigma * spectrum->sigma};
    return sf_plugin_steps(plugin, &moments, spectrum->n, spectrum_psi, (void *)(uintptr_t)spectrum);
}

/* F_j(t) = (-1)^j Psi_2j(sqrt(2 t)), the squared norm of the j-th derivative at kernel variance t. */
static double roughness(const sf_spectrum *spectrum, int j, double t)
{
    double psi = sf_spectrum_psi(spectrum, 2 * j, sqrt(2 * t));
    return j % 2 == 0 ? psi : -psi;
}

/* The kernel variance that five stages make of t: a good t reproduces itself. */
static double reproduced(const sf_spectrum *spectrum, double t)
{
    double f = roughness(spectrum, SF_ISJ_FIRST, t);
    for (int s = SF_ISJ_FIRST - 1; s >= SF_ISJ_LAST; s--)
        f = roughness(spectrum, s, sf_isj_stage(s, spectrum->n, f));
    return sf_isj_variance(spectrum->n, f);
}

/* Positive where b is smaller than what it reproduces. */
static double gain(const sf_spectrum *spectrum, double b)
{
    return log(reproduced(spectrum, b * b) / (b * b));
}

/* As a derivative to be zero: negative where b is too small. */
static int negative_gains(void *context, const double *b, size_t count, double *scores, double *slopes)
{
    for (size_t i = 0; i < count; i++) {
        scores[i] = 0;
        slopes[i] = -gain(context, b[i]);
    }
    return SF_OK;
}

double sf_spectral_isj(const sf_spectrum *spectrum, double b_least, double b_most)
{
    double before = b_least, gain_before = gain(spectrum, before);
    for (size_t i = 1; i <= SF_ISJ_STEPS && gain_before > 0; i++) {
        double b = sf_search_step(b_least, b_most, i, SF_ISJ_STEPS), gain_here = gain(spectrum, b);
        if (gain_here <= 0) {
            sf_score_point root = {.h = b};
            sf_search_refine(&root, before, b, -gain_before, -gain_here, negative_gains,
                             (void *)(uintptr_t)spectrum);
            return root.h;
        }
        before = b;
        gain_before = gain_here;
    }
    return NAN;
}

int sf_spectral_lscv(void *context, const double *b, size_t count, double *scores, double *slopes)
{
    for (size_t i = 0; i < count; i++)
        scores[i] = sf_spectrum_lscv(context, b[i], &slopes[i]);
    return SF_OK;
}

double sf_spectral_ties(const sf_spectrum *spectrum)
{
    size_t modes = spectrum->frame.modes;
    double sum = 0;
    for (size_t k = modes / 2; k <= modes; k++)
        sum += spectrum->power[k];
    return spectrum->n * sum / (double)(modes - modes / 2 + 1);
}
