/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/fitted.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/reals.h"

#include <math.h>

/* x^s e^-x / Gamma(s + 1), the front of both expansions. */
static double gamma_front(double s, double x)
{
    return exp(s * log(x) - x - sf_platform_log_gamma(s + 1));
}

/* The regularised lower incomplete gamma function P(s, x): for whole s the probability that a Poisson number
 * with mean x is s or more. By its power series below the mean of the gamma distribution, and beyond by the
 * continued fraction of 1 - P (Abramowitz and Stegun 6.5.29 and 6.5.31), evaluated as Lentz does. */
static double lower_gamma(double s, double x)
{
    if (x < s + 1) {
        double term = 1, sum = 1;
        for (int k = 1; term > sum * 1e-16; k++) {
            term *= x / (s + k);
            sum += term;
        }
        return gamma_front(s, x) * sum;
    }
    double b = x + 1 - s, c = 1e300, d = 1 / b, fraction = d, change = 0;
    for (int k = 1; fabs(change - 1) > 1e-14 && k < 100000; k++) {
        double a = -k * (k - s);
        b += 2;
        d = 1 / (a * d + b);
        c = b + a / c;
        change = c * d;
        fraction *= change;
    }
    return 1 - gamma_front(s, x) * s * fraction;
}

/* What a next number of events with (x - mean) / deviation = t is worth as a deviate of a known normal
 * distribution, where mean and deviation come from n others: it has Student's distribution with n - 1 degrees
 * of freedom but for a factor, and Wallace's formula (Annals of Mathematical Statistics 30, 1959) makes it
 * normal. */
static double known_deviate(double t, double n)
{
    double freedom = n - 1, square = t * t / (1 + 1 / n);
    double deviate = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(square / freedom));
    return t > 0 ? deviate : -deviate;
}

double sf_fitted_tail(double mean, double variance, uint32_t sample, double count)
{
    double deviation = sqrt(variance);
    double known = mean + deviation * known_deviate((count - mean) / deviation, sample);
    /* X = unit * Y with Y of a Poisson distribution. Steps of X are 1, those of Y are 1 too: halves of both
     * make the distributions meet between the steps. */
    double unit = variance / mean;
    double steps = (known - 0.5) / unit + 0.5;
    return steps > 0 ? lower_gamma(steps, mean / unit) : 1;
}

int sf_false_discovery(double *p, size_t count, uint64_t tested, sf_error *error)
{
    sf_rank *ranked = sf_resize(NULL, count, sizeof *ranked);
    if (ranked == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        ranked[i] = (sf_rank){p[i], i};
    sf_ranks_sort(ranked, count);
    double q = 1;
    for (size_t rank = count; rank > 0; rank--) {
        q = fmin(q, ranked[rank - 1].amount * (double)tested / (double)rank);
        p[ranked[rank - 1].index] = q;
    }
    sf_free(ranked);
    return SF_OK;
}
