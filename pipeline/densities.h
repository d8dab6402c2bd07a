/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configured densities. Each follows the window by adding the samples that enter and removing those that
 * leave (analysis/quantity.h, density/live.h), and chooses its bandwidth again once the configured share of
 * them has changed. Rates are those of the newest SF_DENSITY_RATES hops. One thread.
 *
 * The clock's step is detected in the stream. When spikes show that the step differs from the assumed one,
 * densities of intervals are rebuilt from the window; that only happens within the first spikes.
 *
 * States share only data that does not change, so `mine.threads` threads update them in a hop. Any other
 * thread may copy a state: density_copy.h.
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

/** Maximum number of newest hops whose rates are used. */
#define SF_DENSITY_RATES 1000

/** The changes of one hop. */
typedef struct sf_window_change {
    const sf_spike *entered; /**< all spikes of the hop */
    size_t entered_count;
    sf_span hop; /**< since the previous hop: shorter than hop_ns if the stream ended in it, longer if windows
                    were skipped */
    int64_t hop_ns;
    int64_t window_start_ns; /**< start of the window that ends with the hop */
} sf_window_change;

/** One configured density: of one unit or episode, of all of them, or of positions, which has no states. */
typedef struct sf_density_plan {
    sf_quantity quantity;
    sf_quantity_state *window;      /**< the samples in the window, by state */
    sf_state_samples entered, left; /**< scratch */
    bool every;
    int64_t first_unit; /**< of state 0; -1: the states are of episodes */
    uint32_t grid;
    sf_moving_plan live;       /**< shared by the states */
    sf_moving_density *states; /**< one per series of `window` */
    char (*labels)[64];        /**< of each state */
    unsigned worker_count;     /**< maximum number of threads that update the states */
    sf_device *device;         /**< may draw the densities of all units or episodes; or NULL */
    bool always;               /**< use the device whatever it costs */
    sf_telling telling;
    size_t *due;           /**< scratch: the states published in this hop, ... */
    sf_message **messages; /**< ... and their messages */
    sf_positions positions;
} sf_density_plan;

typedef struct sf_densities {
    pthread_mutex_t lock; /**< protects everything that changes in a hop, for sf_densities_copy */
    bool lockable;
    sf_span window; /**< the states belong to it */
    sf_density_plan *plans;
    size_t count;
    sf_tick tick;                      /**< of the stream's clock */
    int64_t tick_ns;                   /**< the step in use, updated from `tick`; 0: not known yet */
    int64_t last_ns;                   /**< of the newest spike, once there is one */
    bool begun;                        /**< a hop has come */
    uint64_t shown_end;                /**< positions before it have been processed */
    int64_t shown_stop_ns;             /**< end of the window that was processed last */
    uint64_t hops;                     /**< number of complete hops, ... */
    int64_t hops_ns[SF_DENSITY_RATES]; /**< ... and the start of the newest ones: a ring */
} sf_densities;

typedef struct sf_densities_setup {
    const sf_live_options *config;
    const sf_units *units;
    const sf_observed *observed; /**< times at which units were observed, as in sf_quantity_setup */
    size_t observed_count;
    sf_device *device; /**< the run's, if it may draw densities; NULL: CPU only */
    bool always;       /**< use the device whatever it costs */
} sf_densities_setup;

/** Resolves units, episodes and methods. SF_CONFIG, SF_NO_MEMORY. */
int sf_densities_open(sf_densities *densities, const sf_densities_setup *setup, sf_error *error);
void sf_densities_close(sf_densities *densities);

/** Adds the spikes of the next hop and removes those that left the window. SF_NO_MEMORY. */
int sf_densities_slide(sf_densities *densities, const sf_window_change *change, sf_error *error);

/**
 * Call after each hop: calls publish, which takes ownership, with a message for each density of one unit or
 * episode, and for each density of `every` whose bandwidth was chosen again. Densities with fewer than
 * SF_SAMPLES_LEAST samples, or only equal samples, get no message. SF_NO_MEMORY.
 */
int sf_densities_tell(sf_densities *densities, sf_span window,
                      void (*publish)(void *user, sf_message *message), void *user, sf_error *error);

/** Where the newest densities were drawn; the device if any were drawn on it: "cpu", "cuda:0". */
const char *sf_densities_device(const sf_densities *densities);

#endif
