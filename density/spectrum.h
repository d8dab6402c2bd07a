/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What follows from a characteristic function: functionals of the density, the cross-validation score for any
 * bandwidth, the density itself and its integrals, each a sum over modes (density.md of the documentation
 * derives them). Bandwidths are those of a Gaussian kernel in the unit of the samples, and not under
 * sf_frame_least_bandwidth.
 */
#ifndef SF_DENSITY_SPECTRUM_H
#define SF_DENSITY_SPECTRUM_H

#include "density/characteristic.h"
#include "density/fft.h"

typedef struct sf_spectrum {
    sf_frame frame;
    double n;      /**< effective number of samples, (sum w)^2 / sum w^2 */
    double weight; /**< sum of w */
    double mean;
    double deviation; /**< sqrt of the samples' variance, divisor n - 1 */
    double sigma;     /**< the same, and once they are reflected that of them and their mirror images */
    double *re; /**< phi(t_k) / sum w relative to the origin: sum w exp(i t_k (x - origin)), k = 0..modes */
    double *im;
    double *power;   /**< |phi(t_k) / sum w|^2 */
    double *squares; /**< t_k^2 */
    double *correction;
    double *scratch;
    sf_fft *fft;
} sf_spectrum;

/** Room for the spectrum of states of this frame. SF_NO_MEMORY. */
int sf_spectrum_open(sf_spectrum *spectrum, const sf_frame *frame, sf_error *error);
void sf_spectrum_close(sf_spectrum *spectrum);

/**
 * Transforms a state of the spectrum's frame; allocates nothing. SF_DATA where the state holds less than the
 * weight of two equal samples.
 */
int sf_spectrum_update(sf_spectrum *spectrum, const sf_characteristic *state, sf_error *error);

/**
 * Makes it the spectrum of the samples and their mirror images about 0, n as before: for quantities that
 * cannot be negative. The frame's origin and the mean are 0 then.
 */
void sf_spectrum_reflect(sf_spectrum *spectrum);

/** Psi_r(g) = 1/(W^2 g^(r+1)) sum_i sum_j w_i w_j K_r((xi - xj)/g), r even: the diagonal included. */
double sf_spectrum_psi(const sf_spectrum *spectrum, int r, double g);

/** Least-squares cross-validation score g(b); *slope (or NULL) is its derivative. */
double sf_spectrum_lscv(const sf_spectrum *spectrum, double b, double *slope);

/**
 * Its sums over any modes, for spectra of more columns: with e = exp(-b^2 t^2/2), *score is the sum of
 * power (e^2 - 2 e) and *slope that of power t^2 (e - e^2), so that d score / d b = 2 b slope.
 */
void sf_modes_lscv(const double *squares, const double *power, size_t count, double b, double *score,
                   double *slope);

/**
 * The density with bandwidth b at `count` points, averaged over `width` around each (0: at the point): over
 * bins side by side, values times width are shares. values may be points.
 */
void sf_spectrum_density(const sf_spectrum *spectrum, double b, double width, const double *points,
                         size_t count, double *values);

#endif
