/* SPDX-License-Identifier: Apache-2.0 */
/** Graphs and searches on an accelerator: what core/backend_graph.h offers, in terms of the graph module. */
#ifndef SF_GRAPH_DEVICE_H
#define SF_GRAPH_DEVICE_H

#include "core/backend_graph.h"
#include "core/csr.h"

/** A graph on a device. */
typedef struct sf_device_graph {
    sf_device *device;
    sf_backend_graph *graph;
} sf_device_graph;

/**
 * Copies the lists of a graph to a device, both ways where it is directed. SF_UNAVAILABLE: the device cannot,
 * and the work is for the CPU. While sf_device_hold is held, `graph` goes to the backend's jobs.
 */
int sf_device_graph_open(sf_device_graph *graph, sf_device *device, const sf_csr *csr, sf_error *error);
void sf_device_graph_close(sf_device_graph *graph);

#endif
