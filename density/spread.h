/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The spreading kernel of the non-uniform Fourier transform: psi(v) = I0(b sqrt(1 - (v/8)^2)) / I0(b) for
 * |v| <= 8 cells (Kaiser and Bessel), b = 0.98 pi 16 3/4. With a grid of at least four cells per mode,
 *     sum_j psi(j - u) exp(i w j) = psi^(w) exp(i w u) (1 + e),  |e| < 1e-14 for |w| <= pi/2 and every u,
 * so a sample at u cells is known to the transform after 16 additions.
 */
#ifndef SF_DENSITY_SPREAD_H
#define SF_DENSITY_SPREAD_H

#include "core/backend/spread.h"

/**
 * psi at cell c - 7, for a sample at fraction f of its own cell, is
 * sum_p coefficients[p * SF_SPREAD_WIDTH + c] (2 f - 1)^p, p = 0..SF_SPREAD_DEGREE. Computed once; any
 * thread.
 */
const double *sf_spread_coefficients(void);

/** psi^(w) = integral of psi(v) exp(i w v) dv, |w| <= pi/2 per cell. */
double sf_spread_transform(double w);

#endif
