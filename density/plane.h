/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The characteristic function of samples in two columns, phi(s, t) = sum_j w_j exp(i (s x_j + t y_j)): an
 * additive state as in characteristic.h, on a square grid, and the least-squares scores that follow from it.
 * Kernels are round, so columns with a covariance are whitened first (pairs.h). A sample costs 256 additions,
 * a spectrum one transform of (4 modes)^2 cells.
 */
#ifndef SF_DENSITY_PLANE_H
#define SF_DENSITY_PLANE_H

#include "density/fft.h"

/** Samples lie in [origin, origin + period] in each column; frequencies 2 pi k / period, |k| <= modes. */
typedef struct sf_plane_frame {
    double origin[2], period;
    size_t modes; /**< a power of two */
} sf_plane_frame;

#define SF_PLANE_MOST_MODES ((size_t)1 << 10) /**< 200 MB while it is transformed */

/** As sf_frame_for, for samples in a rectangle; good down to sf_plane_least_bandwidth, error 1e-14. */
sf_plane_frame sf_plane_frame_for(const double least[2], const double most[2], double b_least, double b_most);
double sf_plane_least_bandwidth(const sf_plane_frame *frame);

typedef struct sf_plane {
    sf_plane_frame frame;
    double weight, squares; /**< sums of w and w^2 */
    double *grid;           /**< rows of 4 modes cells and the spread's margin */
} sf_plane;

/** An empty state. SF_USAGE for a frame without extent; SF_NO_MEMORY. */
int sf_plane_open(sf_plane *plane, const sf_plane_frame *frame, sf_error *error);
void sf_plane_close(sf_plane *plane);

/** Adds n samples (x[i], y[i]) of weight w, or removes them with -w; returns how many lie in the frame. */
size_t sf_plane_add(sf_plane *plane, const double *x, const double *y, size_t n, double w);

/** Adds the samples of another state of the same frame; SF_USAGE where frames differ. */
int sf_plane_merge(sf_plane *plane, const sf_plane *other, sf_error *error);

/** Half the modes; the other half are their conjugates, and mode 0 is 1. */
typedef struct sf_plane_spectrum {
    double period;
    double n; /**< effective number of samples */
    size_t count;
    double *squares; /**< s^2 + t^2 of each mode */
    double *power;   /**< |phi / sum w|^2 */
} sf_plane_spectrum;

/** SF_DATA where the state holds less than two samples; SF_NO_MEMORY. */
int sf_plane_spectrum_open(sf_plane_spectrum *spectrum, const sf_plane *plane, sf_error *error);
void sf_plane_spectrum_close(sf_plane_spectrum *spectrum);

/** Least-squares cross-validation as an sf_score_function; context is the sf_plane_spectrum. */
int sf_plane_lscv(void *context, const double *b, size_t count, double *scores, double *slopes);

#endif
