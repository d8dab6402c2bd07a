/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How bandwidths are found, the same on the CPU and on GPUs: the formulas between the functionals Psi_r(g) of
 * a spectrum (density/spectrum.h), whose sums each does in its own way, and the search for where a derivative
 * is zero.
 */
#ifndef SF_DENSITY_SHARED_BANDWIDTH_H
#define SF_DENSITY_SHARED_BANDWIDTH_H

#include "core/anywhere.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define SF_SQRT_PI 1.77245385090551602730
#define SF_SQRT_2PI 2.50662827463100050242

/** The last of the modes 0 .. modes of a period that a kernel of bandwidth b lets through: beyond it exp(-b^2
 * t^2/2) is below 1e-21. */
static inline SF_ANYWHERE size_t sf_modes_through(double period, size_t modes, double b)
{
    double k = 10 * period / (2 * 3.14159265358979323846 * b);
    return k < (double)modes ? (size_t)k + 1 : modes;
}

/* ---- rules that are right for a normal density, as factors of sigma ---- */

static inline SF_ANYWHERE double sf_silverman(double n)
{
    return pow(4 / (3 * n), 0.2);
}

static inline SF_ANYWHERE double sf_scott(double n)
{
    return pow(n, -0.2);
}

/* ---- PLUG-IN (density/bandwidth.h), of n samples whose sigma is 1 ---- */

#define SF_PLUGIN_PSI8 (105 / (32 * SF_SQRT_PI)) /**< of the normal density */

/** The pilot bandwidth for Psi_6: K_6(0) = -15 / sqrt(2 pi). */
static inline SF_ANYWHERE double sf_plugin_first(double n)
{
    return pow(-2 * (-15 / SF_SQRT_2PI) / (SF_PLUGIN_PSI8 * n), 1.0 / 9);
}

/** That for Psi_4: K_4(0) = 3 / sqrt(2 pi). */
static inline SF_ANYWHERE double sf_plugin_second(double n, double psi6)
{
    return pow(-2 * (3 / SF_SQRT_2PI) / (psi6 * n), 1.0 / 7);
}

static inline SF_ANYWHERE double sf_plugin_bandwidth(double n, double psi4)
{
    return pow(1 / (2 * SF_SQRT_PI) / (psi4 * n), 1.0 / 5);
}

/* ---- ISJ (density/spectral.h): F_j(t) = |Psi_2j(sqrt(2 t))| ---- */

enum {
    SF_ISJ_FIRST = 7, /**< the stage whose functional is taken at the variance in question, */
    SF_ISJ_LAST = 2,  /**< and that which the variance that it reproduces is made of */
    SF_ISJ_STEPS = 40 /**< from the least bandwidth that is tried to the most, at equal ratios */
};

/** The kernel variance at which F_s is taken, F_(s+1) being f. */
static inline SF_ANYWHERE double sf_isj_stage(int s, double n, double f)
{
    double odd = 1; /* (2s - 1)!! */
    for (int k = 3; k <= 2 * s - 1; k += 2)
        odd *= k;
    double k0 = odd / SF_SQRT_2PI, c = (1 + 0.70710678118654752440 / (1 << s)) / 3; /* 2^-(s + 1/2) */
    return pow(2 * c * k0 / (n * f), 2.0 / (3 + 2 * s));
}

/** The kernel variance that comes of the last stage. */
static inline SF_ANYWHERE double sf_isj_variance(double n, double f)
{
    return pow(2 * n * SF_SQRT_PI * f, -2.0 / 5);
}

/* ---- searches ---- */

#define SF_SEARCH_POINTS 200     /**< most points of a search */
#define SF_SEARCH_MOST_MINIMA 64 /**< of a curve; it has no more turns worth telling apart */

/** Place i = 0..steps of those at equal ratios. */
static inline SF_ANYWHERE double sf_search_step(double least, double most, size_t i, size_t steps)
{
    return least * pow(most / least, (double)i / (double)steps);
}

/**
 * Two bandwidths, at which a derivative is negative and positive, and the one between them that is looked at
 * for its zero. False position with the Illinois rule, which halves the weight of an end that stays, so that
 * both ends close in.
 */
typedef struct sf_bracket {
    double below, above, slope_below, slope_above;
    double at;    /**< looked at last; at first the upper end */
    bool settled; /**< it moves by less than 1e-12 of it */
    int kept;     /**< the end that stayed last: -1 the lower, 1 the upper */
    int rounds;
} sf_bracket;

static inline SF_ANYWHERE sf_bracket sf_bracket_begin(double below, double above, double slope_below,
                                                      double slope_above)
{
    sf_bracket b = {below, above, slope_below, slope_above, above, false, 0, 0};
    return b;
}

/** Whether there is a bandwidth to look at, b->at, for sf_bracket_take. */
static inline SF_ANYWHERE bool sf_bracket_next(sf_bracket *b)
{
    if (b->rounds == 200 || !(b->above / b->below - 1 > 1e-13)) return false;
    double at = b->below + (b->above - b->below) * b->slope_below / (b->slope_below - b->slope_above);
    if (!(at > b->below && at < b->above)) at = sqrt(b->below * b->above);
    if (at <= b->below || at >= b->above) return false;
    b->settled = b->rounds++ > 0 && fabs(at - b->at) <= 1e-12 * at;
    b->at = at;
    return true;
}

/** Takes the derivative at b->at; false: that is near enough. */
static inline SF_ANYWHERE bool sf_bracket_take(sf_bracket *b, double slope)
{
    if (slope == 0 || b->settled) return false;
    if (slope < 0) {
        b->below = b->at;
        b->slope_below = slope;
        b->slope_above = b->kept == 1 ? b->slope_above / 2 : b->slope_above;
        b->kept = 1;
    } else {
        b->above = b->at;
        b->slope_above = slope;
        b->slope_below = b->kept == -1 ? b->slope_below / 2 : b->slope_below;
        b->kept = -1;
    }
    return true;
}

#endif
