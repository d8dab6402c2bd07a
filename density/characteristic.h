/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The empirical characteristic function of samples, phi(t) = sum_j w_j exp(i t x_j), as a state that samples
 * are added to and removed from. Bandwidths, densities and aggregates all follow from phi (spectrum.h); none
 * of them needs the samples again.
 *
 * The state is the spread grid of a non-uniform Fourier transform (spread.h): 16 additions a sample, and one
 * transform when something is asked. States of one frame add up.
 *
 * Error. phi_k is exact for the samples rounded to 2e-16 of the period, within 2e-14 sum |w|. Every removal
 * subtracts the same numbers that were added, so what adding and removing leaves is rounding alone: about
 * 1e-16 sqrt(additions to a cell) of the largest cell.
 */
#ifndef SF_DENSITY_CHARACTERISTIC_H
#define SF_DENSITY_CHARACTERISTIC_H

#include <synfire/error.h>

/** Where samples lie and which frequencies are kept. */
typedef struct sf_frame {
    double origin, period; /**< samples lie in [origin, origin + period] */
    size_t modes;          /**< M, a power of two: t_k = 2 pi k / period, k = 0..M */
} sf_frame;

#define SF_FRAME_MOST_MODES ((size_t)1 << 21)

/**
 * The frame for samples in [least, most] and Gaussian kernels with bandwidths from b_least to b_most: a gap
 * of 12.5 b_most keeps the periodic images under 1e-17, and t_M = 10 / b_least keeps what is cut off under it
 * for Psi_8 (and for Psi_14 under 1e-10 of its value). Where that takes more than SF_FRAME_MOST_MODES, it has
 * that many: sf_frame_least_bandwidth says down to which bandwidth it is good.
 */
sf_frame sf_frame_for(double least, double most, double b_least, double b_most);
double sf_frame_least_bandwidth(const sf_frame *frame);

typedef struct sf_characteristic {
    sf_frame frame;
    double weight;        /**< sum of w */
    double squares;       /**< sum of w^2; weight^2 / squares is the effective number of samples */
    double first, second; /**< sums of w v and w v^2, v = (x - origin) / period */
    double *grid;         /**< 4 modes cells and the spread's margin */
} sf_characteristic;

/** An empty state. SF_USAGE for a frame without extent; SF_NO_MEMORY. */
int sf_characteristic_open(sf_characteristic *state, const sf_frame *frame, sf_error *error);
void sf_characteristic_close(sf_characteristic *state);

/**
 * Adds n samples of weight w, or removes them with -w; real-time safe. Samples outside the frame (or not
 * finite) are left out: returns how many were taken.
 */
size_t sf_characteristic_add(sf_characteristic *state, const double *samples, size_t n, double w);

/** Adds the samples of another state of the same frame; SF_USAGE where frames differ. */
int sf_characteristic_merge(sf_characteristic *state, const sf_characteristic *other, sf_error *error);

/** Removes everything. */
void sf_characteristic_clear(sf_characteristic *state);

#endif
