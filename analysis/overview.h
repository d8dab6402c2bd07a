/* SPDX-License-Identifier: Apache-2.0 */
/** What a recording is like, before any analysis: what `synfire info` tells and what analyses warn of. */
#ifndef SF_ANALYSIS_OVERVIEW_H
#define SF_ANALYSIS_OVERVIEW_H

#include "core/recording.h"

/** An inter-spike interval shorter than this breaks the refractory period of a single neuron. */
#define SF_REFRACTORY_NS INT64_C(2000000)

/** Two detections no further apart than this on neighbouring electrodes are likely one spike. */
#define SF_DUPLICATE_NS INT64_C(250000)

typedef struct sf_unit_overview {
    uint64_t spikes;
    uint64_t short_intervals; /**< inter-spike intervals under SF_REFRACTORY_NS */
} sf_unit_overview;

typedef struct sf_overview {
    sf_unit_overview *units;   /**< one a unit */
    int64_t first_ns, last_ns; /**< spikes; both 0 where there are none */
    /** Declared or observed time; where the file declares none, from the first spike to the last. */
    int64_t duration_ns;
    int64_t tick_ns; /**< the smallest time step between two spikes; 0 where there are not two times */
    uint64_t intervals, short_intervals;
    uint64_t repeats;           /**< spikes at most SF_DUPLICATE_NS after one of the same unit */
    uint64_t neighbour_repeats; /**< the others that come so after one of a neighbouring unit */
    uint64_t array_events;   /**< ticks in which a quarter of the units with spikes, and at least 5, spike */
    size_t active_units;     /**< with spikes */
    size_t electrodes;       /**< different positions; 0 where positions tell nothing */
    double pitch_um;         /**< least distance of two positions; NaN without them */
    double x_um[2], y_um[2]; /**< least and greatest */
    const char *kind;        /**< of all units, or "mixed" */
} sf_overview;

/** Neighbours are units at most 1.5 pitches apart: the eight around one on a square grid, the six on a
 * hexagonal one. */
int sf_overview_make(sf_overview *overview, const sf_recording *recording, sf_error *error);
void sf_overview_free(sf_overview *overview);

/** Spikes per second of the recorded duration; NaN where that is not longer than a microsecond. */
double sf_overview_rate_hz(const sf_overview *overview, uint64_t spikes);

#endif
