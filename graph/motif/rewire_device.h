/* SPDX-License-Identifier: Apache-2.0 */
/** Many rewired graphs of one graph at once, on an accelerator: what core/backend/rewire.h offers. */
#ifndef SF_GRAPH_MOTIF_REWIRE_DEVICE_H
#define SF_GRAPH_MOTIF_REWIRE_DEVICE_H

#include "core/backend/device.h"
#include "graph/motif/census.h"
#include "graph/motif/rewire.h"

/** Graphs first .. first + count - 1 of the seed; either answer may be NULL. */
typedef struct sf_rewired_graphs {
    uint64_t seed;
    uint32_t first, count;
    sf_edge *ends;                 /**< count * rewiring->moving, each as sf_rewire_ends gives them */
    uint64_t (*triads)[SF_TRIADS]; /**< count: the census of each */
    const sf_progress *progress;   /**< asked now and then */
} sf_rewired_graphs;

/** Whether the device rewires graphs: as `supports` of sf_way. */
int sf_rewires(const void *job, const sf_device *device, sf_error *why);

/** SF_UNAVAILABLE: the device cannot, and the CPU is to do it; SF_CANCELLED, SF_NO_MEMORY. */
int sf_rewire_on_device(sf_device *device, const sf_rewiring *rewiring, const sf_rewired_graphs *graphs,
                        sf_error *error);

#endif
