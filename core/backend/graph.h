/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graphs on a device, which searches (core/backend/bfs.h) and matching share. Offsets are 64-bit, ids 32-bit,
 * as in graph/store/csr.h. Calls and statuses are as at sf_backend.
 */
#ifndef SF_CORE_BACKEND_GRAPH_H
#define SF_CORE_BACKEND_GRAPH_H

#include "core/backend/job.h"
#include "core/backend/kronecker.h"

/** Neighbour lists, borrowed for the call: v's are targets[offsets[v] .. offsets[v + 1]), ascending. */
typedef struct sf_backend_lists {
    const uint64_t *offsets; /**< vertex_count + 1; the first need not be 0 */
    const uint32_t *targets;
} sf_backend_lists;

typedef struct sf_backend_arrays {
    uint32_t vertex_count;
    bool directed;
    sf_backend_lists out;
    sf_backend_lists in; /**< of a directed graph; else not looked at: they are the same */
} sf_backend_arrays;

typedef struct sf_backend_graph sf_backend_graph;

typedef struct sf_backend_graphs {
    /** Copies a graph to the device. */
    int (*open)(sf_backend_graph **graph, sf_backend_device *device, const sf_backend_arrays *arrays,
                sf_error *error);
    /**
     * Draws a Kronecker graph on the device and sorts it into lists, without loops and repeated edges: the
     * graph that sf_csr_build makes of sf_kronecker_edges with SF_CSR_SIMPLE.
     */
    int (*generate)(sf_backend_graph **graph, sf_backend_device *device, const sf_kronecker *kind,
                    sf_error *error);
    void (*close)(sf_backend_graph *graph); /**< NULL is allowed */
    uint64_t (*edge_count)(const sf_backend_graph *graph);
    /** Copies the out-lists back: vertex_count + 1 offsets from 0 and edge_count targets; either may be NULL.
     */
    int (*read)(sf_backend_graph *graph, uint64_t *offsets, uint32_t *targets, sf_error *error);
} sf_backend_graphs;

#endif
