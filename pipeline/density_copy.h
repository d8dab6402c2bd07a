/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a configured density is in the newest window, without its samples, for whoever asks while the run goes
 * on. The states change under a lock, for as long as the density stage of a hop takes; it is taken here while
 * one state is copied, some 10 us (32 KB of intervals): no longer does the window thread wait for who asks.
 * Transforms, bandwidths and answers are made from the copy.
 */
#ifndef SF_PIPELINE_DENSITY_COPY_H
#define SF_PIPELINE_DENSITY_COPY_H

#include "density/synopsis.h"
#include "pipeline/densities.h"

typedef struct sf_density_copy {
    char density[64];     /**< as messages call it: "isi A" */
    const char *quantity; /**< "isi" */
    const char *name;     /**< of the unit or link, within `density` */
    int64_t unit;         /**< its index; -1: a link */
    sf_span window;
    uint64_t left_out; /**< samples outside the range that the run keeps of this quantity */
    sf_synopsis synopsis;
} sf_density_copy;

/**
 * Any thread, while they are open: the density that messages call so. SF_USAGE for one that there is none of,
 * and for positions; SF_DATA with fewer than SF_SAMPLES_LEAST samples in the window, or equal ones;
 * SF_NO_MEMORY. Stays where it is until it is closed.
 */
int sf_densities_copy(sf_density_copy *copy, sf_densities *densities, const char *density, sf_error *error);
void sf_density_copy_close(sf_density_copy *copy);

#endif
