/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configured densities. Each follows the window by adding the samples that enter and removing those that
 * leave (analysis/quantity.h, density/live.h), and chooses its bandwidth again once the configured share of
 * them has changed. Rates are those of the newest SF_DENSITY_RATES hops. One thread.
 *
 * The clock's step is found in the stream. Where its spikes show that it is another than was believed,
 * densities of intervals are made again from the window; that ends within the first spikes.
 *
 * States have nothing in common but what does not change: those of a hop are followed on `mine.threads`
 * threads. Any other thread may copy one: density_copy.h.
 */
#ifndef SF_PIPELINE_DENSITIES_H
#define SF_PIPELINE_DENSITIES_H

#include "core/message.h"
#include "core/recording.h"
#include "density/live.h"
#include "pipeline/options.h"
#include "pipeline/positions.h"
#include "pipeline/telling.h"

#include <pthread.h>

/** Rates are of so many of the newest hops at most. */
#define SF_DENSITY_RATES 1000

/** What a hop brings. */
typedef struct sf_window_change {
    const sf_spike *entered; /**< all of the hop */
    size_t entered_count;
    sf_span hop; /**< since the one before: shorter than hop_ns where the stream ended in it, longer where
                    windows were left out */
    int64_t hop_ns;
    int64_t window_start_ns; /**< of the window after it */
} sf_window_change;

/** One configured density: of one unit or episode, or of every one; or of positions, which has no states. */
typedef struct sf_density_plan {
    sf_quantity quantity;
    sf_quantity_state *window;      /**< the samples in the window, by state */
    sf_state_samples entered, left; /**< scratch */
    bool every;
    int64_t first_unit; /**< of state 0; -1: the states are of episodes */
    uint32_t grid;
    sf_moving_plan live;       /**< shared by the states */
    sf_moving_density *states; /**< as many as the window has */
    char (*labels)[64];        /**< of each state */
    unsigned worker_count;     /**< threads that follow them, at most */
    sf_device *device;         /**< that may draw those of every unit or episode; or NULL */
    bool always;               /**< whatever that costs */
    sf_telling telling;
    size_t *due;           /**< scratch: the states that are told of in this hop, */
    sf_message **messages; /**< and their messages */
    sf_positions positions;
} sf_density_plan;

typedef struct sf_densities {
    pthread_mutex_t lock; /**< of all that changes in a hop, for sf_densities_copy */
    bool lockable;
    sf_span window; /**< that the states are of */
    sf_density_plan *plans;
    size_t count;
    sf_tick tick;          /**< of the stream's clock */
    int64_t tick_ns;       /**< the step in use: it follows what is found of the clock; 0: not known yet */
    int64_t last_ns;       /**< of the newest spike, once there is one */
    bool begun;            /**< a hop came */
    uint64_t shown_end;    /**< positions before it were shown to them */
    int64_t shown_stop_ns; /**< end of the window that was shown last */
    uint64_t hops;         /**< whole ones that came, */
    int64_t hops_ns[SF_DENSITY_RATES]; /**< and where the newest of them begin: a ring */
} sf_densities;

typedef struct sf_densities_setup {
    const sf_live_options *config;
    const sf_units *units;
    const sf_observed *observed; /**< where units are known to be observed, as sf_quantity_setup has it */
    size_t observed_count;
    sf_device *device; /**< of the run, where it may draw densities; NULL: the CPU alone */
    bool always;       /**< whatever that costs */
} sf_densities_setup;

/** Resolves units, episodes and methods. SF_CONFIG, SF_NO_MEMORY. */
int sf_densities_open(sf_densities *densities, const sf_densities_setup *setup, sf_error *error);
void sf_densities_close(sf_densities *densities);

/** Takes the spikes of the next hop, and lets go of what the window no longer holds. SF_NO_MEMORY. */
int sf_densities_slide(sf_densities *densities, const sf_window_change *change, sf_error *error);

/**
 * After each hop: calls publish with a message for each density of one unit or episode, and for each of
 * `every` whose bandwidth is chosen again; the callee owns it. Those with fewer than SF_SAMPLES_LEAST
 * samples, or with all samples equal, have none. SF_NO_MEMORY.
 */
int sf_densities_tell(sf_densities *densities, sf_span window,
                      void (*publish)(void *user, sf_message *message), void *user, sf_error *error);

/** Where the newest were drawn, a device if any were there: "cpu", "cuda:0". */
const char *sf_densities_device(const sf_densities *densities);

#endif
