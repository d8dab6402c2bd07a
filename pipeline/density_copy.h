/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A copy of a configured density in the newest window, without its samples, for threads that query a run in
 * progress. The density stage of a hop holds a lock while states change; this code holds it while it copies
 * one state, some 10 us (32 KB of intervals), so the window thread never waits longer than that. Transforms,
 * bandwidths and answers are computed from the copy.
 */
#ifndef SF_PIPELINE_DENSITY_COPY_H
#define SF_PIPELINE_DENSITY_COPY_H

#include "density/synopsis.h"
#include "pipeline/densities.h"

typedef struct sf_density_copy {
    char density[64];     /**< its name in messages: "isi A" */
    const char *quantity; /**< "isi" */
    const char *name;     /**< of the unit or link, within `density` */
    int64_t unit;         /**< its index; -1: a link */
    sf_span window;
    uint64_t left_out; /**< samples outside the range that the run keeps of this quantity */
    sf_synopsis synopsis;
} sf_density_copy;

/**
 * Copies the density that messages call `density`. Any thread, while `densities` is open. SF_USAGE for an
 * unknown density, and for positions; SF_DATA with fewer than SF_SAMPLES_LEAST samples in the window, or only
 * equal ones; SF_NO_MEMORY. The copy must not move until it is closed.
 */
int sf_densities_copy(sf_density_copy *copy, sf_densities *densities, const char *density, sf_error *error);
void sf_density_copy_close(sf_density_copy *copy);

#endif
