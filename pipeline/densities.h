/* SPDX-License-Identifier: Apache-2.0 */
/** The configured densities, estimated anew from the samples of each window. */
#ifndef SF_PIPELINE_DENSITIES_H
#define SF_PIPELINE_DENSITIES_H

#include "core/config.h"
#include "core/message.h"
#include "density/select.h"

/** One configured density. */
typedef struct sf_density_plan {
    sf_config_quantity quantity;
    uint32_t unit;      /**< isi and rate */
    sf_episode episode; /**< delay */
    const sf_selector *selector;
    uint32_t grid;
    char label[64];
    double *rates; /**< rate: of the newest hops, a ring */
    uint64_t hops; /**< rate: hops ever seen */
} sf_density_plan;

typedef struct sf_densities {
    sf_density_plan *plans;
    size_t count;
    double *samples; /**< scratch */
    size_t capacity;
} sf_densities;

/** Resolves units, episodes and methods. SF_CONFIG. */
int sf_densities_open(sf_densities *densities, const sf_config *config, const sf_units *units,
                      sf_error *error);
void sf_densities_close(sf_densities *densities);

/** What a hop shows to a density: the window's spikes and, at its end, those of the newest hop. */
typedef struct sf_window_view {
    sf_span window;
    const sf_spike *spikes;
    size_t count;
    size_t unit_count;
    size_t hop_first; /**< index of the first spike of the newest hop */
    int64_t hop_ns;
} sf_window_view;

/**
 * The message of density `index`, or NULL in *message where the window holds too few samples
 * (SF_SAMPLES_LEAST) or they are all equal. At most the newest SF_DENSITY_MOST samples are taken, so that no
 * hop is held up for long.
 */
int sf_densities_update(sf_densities *densities, size_t index, const sf_window_view *view,
                        sf_message **message, sf_error *error);

#define SF_DENSITY_MOST 100000

/** Rates are of the newest hops, so many at most. */
#define SF_DENSITY_RATES 4096

#endif
