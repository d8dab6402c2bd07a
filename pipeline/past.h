/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stretches of a stream that are over, as tests go by them. The spikes of slow units wait until there are
 * enough of them, and the shape of what units share (mine/sharpness.h) is that of all stretches before the
 * one that is tested: what is tested has no say in how, and of bursts of all sizes no stretch has enough.
 */
#ifndef SF_PIPELINE_PAST_H
#define SF_PIPELINE_PAST_H

#include "mine/significance.h"

/** A shape is that of the newest stretches with so many spikes together, of the units that fire most in each;
 * of one stretch in any case. */
#define SF_PAST_MOST_SPIKES 1000000

/** Spikes of stretches one after the other, in order. */
typedef struct sf_past_spikes {
    sf_spike *spikes;
    size_t count, capacity;
    struct sf_stretch_mark {
        uint64_t number;
        size_t first; /**< of its spikes */
    } * marks;
    size_t mark_count, mark_capacity;
} sf_past_spikes;

typedef struct sf_past_shape {
    uint64_t since;
    sf_test_shape shape; /**< of stretches before */
    sf_delay span;       /**< that it was asked for */
} sf_past_shape;

/** One thread's. Zeroed: nothing was yet. */
typedef struct sf_past {
    sf_past_spikes waiting; /**< what tests may still ask for */
    sf_past_spikes shaping; /**< what shapes are measured in */
    sf_past_shape *shapes;
    size_t shape_count, shape_capacity;
} sf_past;

void sf_past_free(sf_past *past);

/** Lets go of stretches before `oldest`, and in those that are left of the units that nothing waits for:
 * `waits` by unit. */
void sf_past_forget(sf_past *past, uint64_t oldest, const bool *waits);

/** A stretch that is over: what tests ask for from now on. SF_NO_MEMORY. */
int sf_past_append(sf_past *past, uint64_t number, const sf_spike *spikes, size_t count, sf_error *error);

/** The same stretch: for the shape of those after it. SF_NO_MEMORY. */
int sf_past_learn(sf_past *past, uint64_t number, const sf_spike *spikes, size_t count, size_t unit_count,
                  sf_error *error);

/** Spikes of the stretches from this one on, until the next call of the three above. */
const sf_spike *sf_past_since(const sf_past *past, uint64_t since, size_t *count);

/**
 * The shape for tests of stretches from `since` on, by the stretches before it; measured when it is first
 * asked for. *shape is NULL where there were none; else it is valid until the next call. As
 * sf_significance_shape.
 */
int sf_past_find_shape(sf_past *past, const sf_test_shape **shape, uint64_t since, size_t unit_count,
                       sf_delay span, const sf_significance_options *options, const sf_progress *progress,
                       sf_error *error);

#endif
