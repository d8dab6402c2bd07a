/* SPDX-License-Identifier: Apache-2.0 */
/** All samples of one column at once as a spectrum in units of their sigma, over a range of bandwidths. */
#ifndef SF_DENSITY_BATCH_H
#define SF_DENSITY_BATCH_H

#include "density/samples.h"
#include "density/spectrum.h"

typedef struct sf_score_batch {
    size_t n;
    sf_moments moments;     /**< of the samples as they came */
    double *z;              /**< (x - mean) / sigma; x / sigma where reflected */
    double tick;            /**< of the clock that rounded the samples, in z; 0: not known */
    bool reflect;           /**< the spectrum is that of the samples and their mirror images about 0 */
    sf_spectrum spectrum;   /**< of z */
    double b_least, b_most; /**< bandwidths of z that it serves */
    bool ticking;           /**< b_least is the tick of the clock that rounded the samples */
} sf_score_batch;

/** Of one column. SF_DATA as sf_moments_find; SF_NO_MEMORY. */
int sf_batch_open(sf_score_batch *batch, const sf_samples *samples, bool reflect, double b_least,
                  double b_most, sf_error *error);
void sf_batch_close(sf_score_batch *batch);

/**
 * Raises b_least to the tick of the clock where that is known, or samples are tied: under it a density shows
 * the clock. Never above b_most.
 */
int sf_batch_hold_at_tick(sf_score_batch *batch, sf_error *error);

/** Makes the spectrum again for a b_least a quarter as large. False where ticks or memory forbid it. */
bool sf_batch_can_widen(const sf_score_batch *batch);
int sf_batch_widen(sf_score_batch *batch, sf_error *error);

#endif
