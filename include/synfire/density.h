/* SPDX-License-Identifier: Apache-2.0 */
/** How the timing and the places of spikes are distributed: samples, their bandwidths and their densities. */
#ifndef SYNFIRE_DENSITY_H
#define SYNFIRE_DENSITY_H

#include <synfire/mine.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is told of spikes as samples of a distribution. */
typedef enum sf_quantity {
    SF_QUANTITY_ISI,     /**< s between two spikes of a unit that follow each other; none across a gap */
    SF_QUANTITY_DELAY,   /**< s between the spikes of a link in each counted occurrence of an episode */
    SF_QUANTITY_RATE,    /**< Hz, of a unit in each bin that lies wholly in a stretch of observation */
    SF_QUANTITY_POSITION /**< um, two columns: where on the array each spike was seen */
} sf_quantity;

#ifdef __cplusplus
}
#endif
#endif
