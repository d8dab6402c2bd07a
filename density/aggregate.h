/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Approximate aggregates: COUNT, SUM, AVG and VAR of the values in a range, answered from a density instead
 * of the data. Closed forms for Gaussian kernels (Andrzejewski, Gramacki and Gramacki 2010, section 3).
 */
#ifndef SF_DENSITY_AGGREGATE_H
#define SF_DENSITY_AGGREGATE_H

#include "density/evaluate.h"
#include "density/samples.h"
#include "density/spectrum.h"

/**
 * Integrals of f(x), (x - pivot) f(x) and (x - pivot)^2 f(x) over a range; the pivot keeps digits where
 * values are large beside the range. For N rows COUNT is share * N, and SUM is N times sf_range_total.
 */
typedef struct sf_range_moments {
    double pivot;
    double share, first, second;
    double kurtosis; /**< fourth central moment over the squared variance; 0: not known */
} sf_range_moments;

double sf_range_total(const sf_range_moments *moments);    /**< integral of x f(x) */
double sf_range_average(const sf_range_moments *moments);  /**< NaN for an empty range, */
double sf_range_variance(const sf_range_moments *moments); /**< and this too */

/**
 * From the samples, O(n): of the density of sf_kernels_open, between the values from < to. Of samples that
 * lie on the ticks of a clock it is what the density gives to the ticks in from < x < to: it is summed over
 * them, and a kernel that would be held at a tick has all of its sample in that tick. SF_USAGE for another
 * order or h <= 0, SF_DATA for samples outside the domain; SF_NO_MEMORY.
 */
int sf_range_moments_direct(sf_range_moments *moments, const sf_samples *samples, double h, sf_domain domain,
                            double from, double to, sf_error *error);

/**
 * From a spectrum, O(modes) and without the samples: the same within 1e-12 of the scale of x, for from < to
 * inside the frame's period, and b from sf_frame_least_bandwidth to the largest that the frame was made for.
 */
void sf_range_moments_spectral(sf_range_moments *moments, const sf_spectrum *spectrum, double b, double from,
                               double to);

/**
 * Of the last of d columns in a box, from[c] < x_c < to[c]: the integrals of the density whose kernels have
 * covariance h^2 times that of the samples, as sf_density_evaluate_plane evaluates it. One column is as
 * sf_range_moments_direct. Within 1e-7 for two columns; of three and more, of which no such integral has a
 * closed form, by a lattice of 256 points a sample (Genz 1992), about 1e-4. SF_USAGE as above; SF_DATA where
 * the covariance is singular; SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_box_moments(sf_range_moments *moments, const double *rows, size_t n, size_t d, double h,
                   const double *from, const double *to, const sf_progress *progress, sf_error *error);

/**
 * Of the second of two columns where the first lies in a range: the integrals of f(x, y), (y - pivot) f(x, y)
 * and (y - pivot)^2 f(x, y) over from < x < to and every y. The kernel's covariance is h^2 times that of the
 * samples. SF_USAGE as above; SF_DATA for fewer than 2 samples, or a first column of equal values.
 */
int sf_linked_moments(sf_range_moments *moments, const double *rows, size_t n, double h, double from,
                      double to, sf_error *error);

/** What the integrals say of n rows; those at a bandwidth smaller by sqrt 2 say how far smoothing goes. Sets
 * all but `exact`, which becomes NaN. */
void sf_aggregate_tell(sf_aggregate *answer, sf_aggregate_kind kind, const sf_range_moments *moments,
                       const sf_range_moments *sharper, uint64_t n);

/** COUNT, SUM, AVG or VAR of n rows, of which these are the integrals. */
double sf_aggregate_of(sf_aggregate_kind kind, const sf_range_moments *moments, uint64_t n);

/** Without a density: of the last of d columns, of the rows whose first `ranges` columns lie in theirs. */
void sf_box_moments_exact(sf_range_moments *moments, const double *rows, size_t n, size_t d,
                          const double *from, const double *to, size_t ranges);

#endif
