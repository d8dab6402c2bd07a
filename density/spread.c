/* SPDX-License-Identifier: Apache-2.0 */
#include "density/spread.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

typedef long double real;

#define PI 3.14159265358979323846264338327950288L
#define SHAPE (0.98L * PI * SF_SPREAD_WIDTH * 3 / 4)

enum { TERMS = SF_SPREAD_DEGREE + 1 };

static double coefficients[TERMS * SF_SPREAD_WIDTH];
static double bessel_of_shape;

/* The modified Bessel function of order 0, by its power series. */
static real bessel(real x)
{
    real sum = 1, term = 1;
    for (int k = 1; term > sum * 1e-21L; k++) {
        term *= x / 2 / k * (x / 2 / k);
        sum += term;
    }
    return sum;
}

static real psi(real v)
{
    real x = 2 * v / SF_SPREAD_WIDTH;
    return bessel(SHAPE * sqrtl(1 - x * x)) / bessel(SHAPE);
}

/* Chebyshev interpolation of psi over one cell, turned into powers of s = 2 f - 1. */
static void fit_cell(int cell)
{
    real values[TERMS], series[TERMS], powers[TERMS] = {0};
    for (int j = 0; j < TERMS; j++) {
        real s = cosl(PI * (j + 0.5L) / TERMS);
        values[j] = psi(cell - SF_SPREAD_BEFORE - (s + 1) / 2);
    }
    for (int p = 0; p < TERMS; p++) {
        series[p] = 0;
        for (int j = 0; j < TERMS; j++)
            series[p] += values[j] * cosl(PI * p * (j + 0.5L) / TERMS) * (p == 0 ? 1 : 2) / TERMS;
    }
    real before[TERMS] = {1}, now[TERMS] = {0, 1}; /* T0 and T1 as powers of s */
    for (int p = 0; p < TERMS; p++) {
        for (int k = 0; k < TERMS; k++)
            powers[k] += series[p] * before[k];
        real next[TERMS];
        for (int k = 0; k < TERMS; k++)
            next[k] = (k > 0 ? 2 * now[k - 1] : 0) - before[k];
        memcpy(before, now, sizeof now);
        memcpy(now, next, sizeof next);
    }
    for (int p = 0; p < TERMS; p++)
        coefficients[p * SF_SPREAD_WIDTH + cell] = (double)powers[p];
}

static void fit(void)
{
    bessel_of_shape = (double)bessel(SHAPE);
    for (int cell = 0; cell < SF_SPREAD_WIDTH; cell++)
        fit_cell(cell);
}

static void fit_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fit);
}

const double *sf_spread_coefficients(void)
{
    fit_once();
    return coefficients;
}

double sf_spread_transform(double w)
{
    fit_once();
    double half = w * SF_SPREAD_WIDTH / 2, s = sqrt((double)(SHAPE * SHAPE) - half * half);
    return SF_SPREAD_WIDTH * sinh(s) / (s * bessel_of_shape);
}
