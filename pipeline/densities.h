/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configured densities. Each follows the window by adding the samples that enter and removing those that
 * leave (density/live.h), and chooses its bandwidth again once the configured share of them has changed.
 *
 * A sample is in the window while the spike that completes it is: the later one of an interval, the last one
 * of an occurrence of an episode. Rates are those of the newest SF_DENSITY_RATES hops. One thread.
 *
 * The clock's step is found in the stream. Where its spikes show that it is another than was believed,
 * densities of intervals are made again from the window; that ends within the first spikes.
 */
#ifndef SF_PIPELINE_DENSITIES_H
#define SF_PIPELINE_DENSITIES_H

#include "core/message.h"
#include "core/recording.h"
#include "density/live.h"
#include "pipeline/options.h"
#include "pipeline/positions.h"

/** One configured density: of one unit or episode, or of every one; or of positions, which has no states. */
typedef struct sf_density_plan {
    sf_quantity quantity; /**< what becomes a sample of which state */
    bool every;
    uint32_t grid;
    sf_moving_plan live;       /**< shared by the states */
    sf_moving_density *states; /**< quantity.count of them */
    char (*labels)[64];        /**< of each state */
    sf_positions positions;
} sf_density_plan;

typedef struct sf_densities {
    sf_density_plan *plans;
    size_t count;
    double *points;  /**< scratch: the largest grid */
    sf_tick tick;    /**< of the stream's clock */
    int64_t tick_ns; /**< the step in use: it follows what is found of the clock; 0: not known yet */
    int64_t last_ns; /**< of the newest spike, once there is one */
} sf_densities;

/** Resolves units, episodes and methods. SF_CONFIG, SF_NO_MEMORY. */
int sf_densities_open(sf_densities *densities, const sf_live_options *config, const sf_units *units,
                      sf_error *error);
void sf_densities_close(sf_densities *densities);

/** Takes the spikes that entered and left with a hop. SF_NO_MEMORY. */
int sf_densities_slide(sf_densities *densities, const sf_window_change *change, sf_error *error);

/**
 * After each hop: calls publish with a message for each density of one unit or episode, and for each of
 * `every` whose bandwidth is chosen again; the callee owns it. Those with fewer than SF_SAMPLES_LEAST
 * samples, or with all samples equal, have none. SF_NO_MEMORY.
 */
int sf_densities_tell(sf_densities *densities, sf_span window,
                      void (*publish)(void *user, sf_message *message), void *user, sf_error *error);

#endif
