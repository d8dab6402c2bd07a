/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The count of an episode by Sastry and Unnikrishnan (Neural Computation 22, 2010; arXiv:0808.3511).
 *
 * In steps of dT = 1 ms an occurrence starts with probability p = (1 - exp(-r dT)) e0^(N - 1): the first unit
 * fires, and each of the N - 1 links holds with the conditional probability e0. It then takes T steps, in
 * which no other is counted. So the count in L steps is that of a renewal process with
 *     F(L) = (1 - p) F(L - 1) + p (1 + F(L - T)),
 *     G(L) = (1 - p) G(L - 1) + p (1 + G(L - T) + 2 F(L - T)),  V = G - F^2,
 * for which, with mu = 1 / p + T - 1 the mean number of steps from one to the next, to about one part in a
 * million
 *     F = L / mu,  V = L (1 - p) / (p^2 mu^3).
 */
#include "mine/analytic.h"

#include <math.h>

#define STEPS_A_SECOND 1e3

static double step_fires(double rate_hz)
{
    return -expm1(-rate_hz / STEPS_A_SECOND);
}

sf_analytic sf_analytic_count(uint32_t size, double first_hz, double span_s, double seconds, double link)
{
    double p = step_fires(first_hz) * pow(link, size - 1.0);
    if (!(p > 0)) return (sf_analytic){0, 0};
    double mean_steps = 1 / p + span_s * STEPS_A_SECOND - 1, steps = seconds * STEPS_A_SECOND;
    return (sf_analytic){.expected = steps / mean_steps,
                         .variance = steps * (1 - p) / (p * p * mean_steps * mean_steps * mean_steps)};
}

double sf_analytic_p(sf_analytic null, double count)
{
    double above = count - null.expected;
    return above > 0 ? null.variance / (null.variance + above * above) : 1;
}

double sf_analytic_strength(uint32_t size, double first_hz, double span_s, double seconds, double count)
{
    /* F = count solved for p, then for e0. A count that no p explains, since occurrences are shorter than
     * their longest, means links that always hold. */
    double steps_each = seconds * STEPS_A_SECOND / count - span_s * STEPS_A_SECOND + 1;
    double starts = step_fires(first_hz) * steps_each; /* chances to start for each that does */
    return starts > 1 ? pow(1 / starts, 1 / (size - 1.0)) : 1;
}
