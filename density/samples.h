/* SPDX-License-Identifier: Apache-2.0 */
/** The samples that a density is estimated from: what makes them usable, and their moments. */
#ifndef SF_DENSITY_SAMPLES_H
#define SF_DENSITY_SAMPLES_H

#include <synfire/error.h>

/**
 * Under this many samples a bandwidth says more about chance than about the data: commands and live views
 * report "not enough data" instead of a number. The functions below this level take any n >= 2.
 */
#define SF_SAMPLES_LEAST 50

/**
 * Values nearer to each other than this are the same but for rounding: some units in the last place of the
 * largest, as which a value is read, computed or stored.
 */
double sf_samples_noise(double least, double most);

/** From this mean number of samples in the place of one on, samples count as tied by a clock. */
#define SF_SAMPLES_TIED 1.5

/** Rows of d numbers each, row-major. Zero-initialise before filling. */
typedef struct sf_samples {
    double *values;
    size_t n;
    size_t d;
    double tick; /**< d = 1: the step of the clock that rounded them, in their unit; 0: not known, or none */
} sf_samples;

void sf_samples_free(sf_samples *samples);

/** SF_DATA where n < SF_SAMPLES_LEAST. */
int sf_samples_check_enough(size_t n, sf_error *error);

/** Moments of one column, exactly centred: V = sum (x - mean)^2 / (n - 1), sigma = sqrt(V). */
typedef struct sf_moments {
    double least, most;
    double mean, variance, sigma;
} sf_moments;

/** n < 2, a value that is not finite, and all values equal but for rounding are SF_DATA. */
int sf_moments_find(sf_moments *moments, const double *samples, size_t n, sf_error *error);

/** Hands over (x - mean) / sigma of every sample (free with sf_free); sets *moments. SF_DATA, SF_NO_MEMORY.
 */
int sf_samples_standardise(double **standardised, sf_moments *moments, const double *samples, size_t n,
                           sf_error *error);

/**
 * The clock behind tied samples: *tick is the smallest step between neighbouring values that is over `noise`
 * (smaller ones are rounding), *multiplicity the mean number of samples in the place of a sample, itself
 * included, 1 without ties; the tick is infinite where all values are one. n >= 1. SF_NO_MEMORY.
 */
int sf_samples_find_tick(double *tick, double *multiplicity, const double *samples, size_t n, double noise);

/** Sets samples->tick to what sf_samples_find_tick finds, where there are ties (d = 1) of several values.
 * SF_NO_MEMORY. */
int sf_samples_find_clock(sf_samples *samples, sf_error *error);

/** The places that a clock has: phase + k tick for every whole k; a tick of 0: there is none. */
typedef struct sf_ticks {
    double tick, phase;
} sf_ticks;

/** The clock ticks that samples (d = 1) lie on, if all of them do. */
sf_ticks sf_samples_ticks(const sf_samples *samples);

/**
 * The ends of the range from < x < to moved to where the ticks that lie in it begin and end: half a tick
 * before the first and behind the last. Equal where none does.
 */
void sf_ticks_cut(const sf_ticks *ticks, double *from, double *to);

/**
 * Hands over the values of one column, ascending (free with sf_free). `spread`: those of one tick evenly over
 * it, where the tick is known: m samples that a clock calls k ticks lie from k - 1/2 to k + 1/2.
 * SF_NO_MEMORY.
 */
int sf_samples_sorted(double **sorted, const sf_samples *samples, bool spread, sf_error *error);

#endif
