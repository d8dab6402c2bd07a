/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Past stretches of a stream, for tests. The spikes of slow units are kept until there are enough of them.
 * The shape of what units share (mine/sharpness.h) is measured in all stretches before the tested one: the
 * tested data does not influence how it is tested, and no single stretch contains bursts of all sizes.
 */
#ifndef SF_PIPELINE_PAST_H
#define SF_PIPELINE_PAST_H

#include "mine/significance.h"

/** A shape is measured in the newest stretches that together have this number of spikes, of the units that
 * fire most in each; in at least one stretch. */
#define SF_PAST_MOST_SPIKES 1000000

/** Spikes of consecutive stretches, in order. */
typedef struct sf_past_spikes {
    sf_spike *spikes;
    size_t count, capacity;
    struct sf_stretch_mark {
        uint64_t number;
        size_t first; /**< index of its first spike */
    } * marks;
    size_t mark_count, mark_capacity;
} sf_past_spikes;

typedef struct sf_past_shape {
    uint64_t since;
    sf_test_shape shape; /**< of the stretches before `since` */
    sf_delay span;       /**< the delays it was measured for */
} sf_past_shape;

/** One thread only. Zeroed: nothing yet. */
typedef struct sf_past {
    sf_past_spikes waiting; /**< spikes that tests may still need */
    sf_past_spikes shaping; /**< spikes in which shapes are measured */
    sf_past_shape *shapes;
    size_t shape_count, shape_capacity;
} sf_past;

void sf_past_free(sf_past *past);

/** Drops stretches before `oldest`, and from the others the spikes of units for which nothing waits (`waits`
 * by unit). */
void sf_past_forget(sf_past *past, uint64_t oldest, const bool *waits);

/** Adds a finished stretch for later tests. SF_NO_MEMORY. */
int sf_past_append(sf_past *past, uint64_t number, const sf_spike *spikes, size_t count, sf_error *error);

/** Adds the same stretch for the shapes of later stretches. SF_NO_MEMORY. */
int sf_past_learn(sf_past *past, uint64_t number, const sf_spike *spikes, size_t count, size_t unit_count,
                  sf_error *error);

/** Spikes of the stretches from `since` on, valid until the next of the three calls above. */
const sf_spike *sf_past_since(const sf_past *past, uint64_t since, size_t *count);

/**
 * The shape for tests of stretches from `since` on, by the stretches before; measured on first request.
 * *shape is NULL if there are none; else it is valid until the next call. Errors as sf_significance_shape.
 */
int sf_past_find_shape(sf_past *past, const sf_test_shape **shape, uint64_t since, size_t unit_count,
                       sf_delay span, const sf_significance_options *options, const sf_progress *progress,
                       sf_error *error);

#endif
