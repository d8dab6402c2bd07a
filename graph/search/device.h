/* SPDX-License-Identifier: Apache-2.0 */
/** Graphs and searches on an accelerator: what core/backend/graph.h and core/backend/bfs.h offer, in terms of
 * this module. */
#ifndef SF_GRAPH_SEARCH_DEVICE_H
#define SF_GRAPH_SEARCH_DEVICE_H

#include "core/backend/bfs.h"
#include "core/backend/device.h"
#include "graph/search/bfs.h"

/** A graph on a device. */
typedef struct sf_device_graph {
    sf_device *device;
    sf_backend_graph *graph;
    uint32_t vertex_count;
} sf_device_graph;

/**
 * Copies the lists of a graph to a device, both ways where it is directed. SF_UNAVAILABLE: the device cannot,
 * and the work is for the CPU; SF_CANCELLED. While sf_device_hold is held, `graph` goes to the backend's
 * jobs.
 */
int sf_device_graph_open_told(sf_device_graph *graph, sf_device *device, const sf_csr *csr,
                              const sf_progress *progress, sf_error *error);

static inline int sf_device_graph_open(sf_device_graph *graph, sf_device *device, const sf_csr *csr,
                                       sf_error *error)
{
    return sf_device_graph_open_told(graph, device, csr, NULL, error);
}

/** Draws a Kronecker graph on the device: what sf_csr_build makes of sf_kronecker_edges with SF_CSR_SIMPLE.
 */
int sf_device_graph_generate(sf_device_graph *graph, sf_device *device, const sf_kronecker *kind,
                             sf_error *error);

uint64_t sf_device_graph_edges(const sf_device_graph *graph);

/** Copies the out-lists back, as a graph of its own; without `targets` the offsets alone. */
int sf_device_graph_read(sf_csr *csr, sf_device_graph *graph, bool targets, sf_error *error);

void sf_device_graph_close(sf_device_graph *graph);

/** Searches of a graph on its device; the graph must outlive it. One thread at a time. */
typedef struct sf_device_search {
    const sf_device_graph *graph;
    sf_backend_search *search;
    double preparation;          /**< seconds that opening took */
    const sf_progress *progress; /**< NULL once opened: asked before a search, and between levels */
} sf_device_search;

int sf_device_search_open(sf_device_search *search, const sf_device_graph *graph,
                          const sf_backend_search_options *options, sf_error *error);
void sf_device_search_close(sf_device_search *search);

/** Runs a job: what is found stays on the device where the job has no place for it. SF_USAGE where the graph
 * has no such vertex. */
int sf_device_search_job(sf_device_search *search, sf_backend_bfs_job *job, sf_error *error);

/** As sf_bfs_run, on the device. */
int sf_device_search_run(sf_device_search *search, uint32_t source, sf_bfs_result *result, sf_error *error);

/** As sf_bfs_many, on the device. */
int sf_device_bfs_many(sf_device_graph *graph, const uint32_t *sources, size_t count, uint32_t *levels,
                       uint32_t *parents, const sf_progress *progress, sf_error *error);

/** As sf_bfs_count, on a device; the graph is copied there for it. */
int sf_device_bfs_count(sf_device *device, const sf_csr *graph, uint32_t most_levels, uint32_t *reached,
                        uint32_t *depth, const sf_progress *progress, sf_error *error);

/** A graph on several devices, as many vertices on each, for searches on all of them. */
typedef struct sf_device_parts {
    uint32_t count, vertex_count;
    sf_backend_search_options options;
    double preparation; /**< seconds that sorting (and where the graph came from here, copying) took */
    const sf_progress *progress; /**< as of sf_device_search */
    sf_device *devices[SF_MOST_DEVICES];
    sf_backend_part *parts[SF_MOST_DEVICES];
} sf_device_parts;

/** A device may be named several times. SF_UNAVAILABLE: one of them cannot. */
int sf_device_parts_open(sf_device_parts *parts, sf_device *const *devices, uint32_t count, const sf_csr *csr,
                         const sf_backend_search_options *options, sf_error *error);
/** The same of the graph of sf_device_graph_generate, which every device draws for itself: it needs to hold
 * the whole for that long. */
int sf_device_parts_generate(sf_device_parts *parts, sf_device *const *devices, uint32_t count,
                             const sf_kronecker *kind, const sf_backend_search_options *options,
                             sf_error *error);
void sf_device_parts_close(sf_device_parts *parts);

/** As sf_device_search_job, on all the devices. */
int sf_device_parts_job(sf_device_parts *parts, sf_backend_bfs_job *job, sf_error *error);

/** As sf_bfs_run, on all the devices. */
int sf_device_parts_run(sf_device_parts *parts, uint32_t source, sf_bfs_result *result, sf_error *error);

/** Roughly the seconds that the CPU needs to prepare a graph and run `searches` searches of it on `threads`
 * threads. */
double sf_bfs_cpu_seconds(uint64_t vertices, uint64_t edges, uint64_t searches, unsigned threads);

#endif
