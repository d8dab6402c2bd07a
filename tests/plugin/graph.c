/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and breadth-first search on a test device: copies of the lists, searched by the queue of the CPU. */
#include "core/backend/bfs.h"
#include "core/error.h"
#include "core/memory.h"
#include "graph/search/bfs.h"
#include "graph/store/kronecker.h"
#include "plugin/plugin.h"

#include <string.h>

struct sf_backend_graph {
    sf_backend_device *device;
    sf_csr csr;
};

struct sf_backend_search {
    sf_backend_graph *graph;
};

/* The lists of a part; searches join them. */
struct sf_backend_part {
    sf_backend_device *device;
    uint32_t vertex_count, first;
    sf_csr csr;
    sf_backend_search_options options;
};

/* The lists of the vertices first .. last - 1. */
static int copy_lists(sf_csr *csr, const sf_backend_lists *lists, uint32_t first, uint32_t last,
                      sf_error *error)
{
    uint64_t base = lists->offsets[first], edges = lists->offsets[last] - base;
    *csr = (sf_csr){.vertex_count = last - first,
                    .offsets = sf_resize(NULL, (size_t)(last - first) + 1, sizeof *csr->offsets),
                    .targets = sf_resize(NULL, edges, sizeof *csr->targets)};
    if (csr->offsets == NULL || csr->targets == NULL) {
        sf_csr_free(csr);
        return sf_fail_memory(error);
    }
    for (uint32_t v = first; v <= last; v++)
        csr->offsets[v - first] = lists->offsets[v] - base;
    memcpy(csr->targets, lists->targets + base, edges * sizeof *csr->targets);
    return SF_OK;
}

static void close_graph(sf_backend_graph *graph)
{
    if (graph != NULL) sf_csr_free(&graph->csr);
    sf_free(graph);
}

static int new_graph(sf_backend_graph **graph, sf_backend_device *device, sf_error *error)
{
    *graph = sf_alloc(1, sizeof **graph);
    if (*graph == NULL) return sf_fail_memory(error);
    (*graph)->device = device;
    return SF_OK;
}

static int keep_or_close(sf_backend_graph **graph, int status)
{
    if (status != SF_OK) {
        close_graph(*graph);
        *graph = NULL;
    }
    return status;
}

static int open_graph(sf_backend_graph **graph, sf_backend_device *device, const sf_backend_arrays *arrays,
                      sf_error *error)
{
    int status = new_graph(graph, device, error);
    if (status != SF_OK) return status;
    status = copy_lists(&(*graph)->csr, &arrays->out, 0, arrays->vertex_count, error);
    return keep_or_close(graph, status);
}

static int generate(sf_backend_graph **graph, sf_backend_device *device, const sf_kronecker *kind,
                    sf_error *error)
{
    sf_edge_list list;
    int status = new_graph(graph, device, error);
    if (status != SF_OK) return status;
    status = sf_kronecker_edges(&list, kind, 1, NULL, error);
    if (status == SF_OK) status = sf_csr_build(&(*graph)->csr, &list, SF_CSR_SIMPLE, error);
    sf_edge_list_free(&list);
    return keep_or_close(graph, status);
}

static uint64_t edge_count(const sf_backend_graph *graph)
{
    return sf_csr_edge_count(&graph->csr);
}

static int read_graph(sf_backend_graph *graph, uint64_t *offsets, uint32_t *targets, sf_error *error)
{
    (void)error;
    const sf_csr *csr = &graph->csr;
    if (offsets != NULL) memcpy(offsets, csr->offsets, ((size_t)csr->vertex_count + 1) * sizeof *offsets);
    if (targets != NULL) memcpy(targets, csr->targets, sf_csr_edge_count(csr) * sizeof *targets);
    return SF_OK;
}

static int open_search(sf_backend_search **search, sf_backend_graph *graph,
                       const sf_backend_search_options *options, sf_error *error)
{
    (void)options;
    *search = sf_alloc(1, sizeof **search);
    if (*search == NULL) return sf_fail_memory(error);
    (*search)->graph = graph;
    return SF_OK;
}

static void close_search(sf_backend_search *search)
{
    sf_free(search);
}

static double preparation(const sf_backend_search *search)
{
    (void)search;
    return 0.25;
}

static int search_lists(const sf_csr *csr, sf_backend_device *device, sf_backend_bfs_job *job,
                        sf_error *error)
{
    sf_bfs_result result;
    int status = test_begin_job(device, error);
    if (status == SF_OK && test_is_lost(device))
        status = sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (status == SF_OK && !sf_progress_update(job->progress, "searching", 0, 1))
        status = sf_fail(error, SF_CANCELLED, NULL, "was stopped");
    if (status == SF_OK) status = sf_bfs(&result, csr, job->source, UINT32_MAX, error);
    if (status != SF_OK) return status;
    if (job->levels != NULL) memcpy(job->levels, result.levels, csr->vertex_count * sizeof *job->levels);
    if (job->parents != NULL) memcpy(job->parents, result.parents, csr->vertex_count * sizeof *job->parents);
    for (uint32_t level = 0; level <= result.depth && level < job->log_room; level++)
        job->log[level] = (sf_backend_level){.found = result.level_sizes[level], .seconds = 1e-6};
    job->reached = result.reached;
    job->edges = result.edges;
    job->depth = result.depth;
    job->seconds = result.seconds;
    sf_bfs_result_free(&result);
    return SF_OK;
}

static int run(sf_backend_search *search, sf_backend_bfs_job *job, sf_error *error)
{
    return search_lists(&search->graph->csr, search->graph->device, job, error);
}

static int many(sf_backend_graph *graph, const uint32_t *sources, size_t count, uint32_t *levels,
                uint32_t *parents, const sf_progress *progress, sf_error *error)
{
    int status = test_begin_job(graph->device, error);
    return status == SF_OK ? sf_bfs_many(&graph->csr, sources, count, 1, levels, parents, progress, error)
                           : status;
}

static int count(sf_backend_device *device, const sf_backend_lists *out, uint32_t vertex_count,
                 uint32_t most_levels, uint32_t *reached, uint32_t *depth, const sf_progress *progress,
                 sf_error *error)
{
    int status = test_begin_job(device, error);
    sf_csr csr = {0};
    test_plugin_work_done.all_reached++;
    if (status == SF_OK && test_is_lost(device))
        status = sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (status == SF_OK) status = copy_lists(&csr, out, 0, vertex_count, error);
    if (status == SF_OK) status = sf_bfs_count(&csr, most_levels, 1, reached, depth, progress, error);
    sf_csr_free(&csr);
    return status;
}

static void close_part(sf_backend_part *part)
{
    if (part != NULL) sf_csr_free(&part->csr);
    sf_free(part);
}

static int copy_part(sf_backend_part **opened, sf_backend_device *device, const sf_backend_lists *out,
                     const sf_backend_cut *cut, uint32_t index, const sf_backend_search_options *options,
                     sf_error *error)
{
    sf_backend_part *part = sf_alloc(1, sizeof *part);
    if (part == NULL) return sf_fail_memory(error);
    part->device = device;
    part->options = *options;
    part->vertex_count = cut->first[cut->count];
    part->first = cut->first[index];
    int status = copy_lists(&part->csr, out, part->first, cut->first[index + 1], error);
    if (status != SF_OK) close_part(part);
    *opened = status == SF_OK ? part : NULL;
    return status;
}

static int open_part(sf_backend_part **opened, sf_backend_device *device, const sf_backend_arrays *arrays,
                     const sf_backend_cut *cut, uint32_t index, const sf_backend_search_options *options,
                     sf_error *error)
{
    return copy_part(opened, device, &arrays->out, cut, index, options, error);
}

static int take_part(sf_backend_part **opened, const sf_backend_graph *graph, const sf_backend_cut *cut,
                     uint32_t index, const sf_backend_search_options *options, sf_error *error)
{
    sf_backend_lists out = {graph->csr.offsets, graph->csr.targets};
    return copy_part(opened, graph->device, &out, cut, index, options, error);
}

/* The whole graph again: the parts must be all of it, in order. */
static int join_parts(sf_csr *csr, sf_backend_part *const *parts, uint32_t count, sf_error *error)
{
    uint32_t vertices = 0;
    uint64_t edges = 0;
    for (uint32_t i = 0; i < count; i++)
        edges += sf_csr_edge_count(&parts[i]->csr);
    *csr = (sf_csr){.vertex_count = parts[0]->vertex_count,
                    .offsets = sf_resize(NULL, (size_t)parts[0]->vertex_count + 1, sizeof *csr->offsets),
                    .targets = sf_resize(NULL, edges, sizeof *csr->targets)};
    if (csr->offsets == NULL || csr->targets == NULL) return sf_fail_memory(error);
    edges = 0;
    for (uint32_t i = 0; i < count; i++) {
        const sf_csr *own = &parts[i]->csr;
        if (parts[i]->first != vertices || vertices + own->vertex_count > csr->vertex_count)
            return sf_fail(error, SF_IO, NULL, "part %u begins at %u, not at %u", i, parts[i]->first,
                           vertices);
        for (uint32_t v = 0; v < own->vertex_count; v++)
            csr->offsets[vertices++] = edges + own->offsets[v];
        memcpy(csr->targets + edges, own->targets, sf_csr_edge_count(own) * sizeof *own->targets);
        edges += sf_csr_edge_count(own);
    }
    csr->offsets[vertices] = edges;
    return vertices == csr->vertex_count ? SF_OK : sf_fail(error, SF_IO, NULL, "vertices are missing");
}

/* All parts have been opened for the same search. */
static int note_options(sf_backend_part *const *parts, uint32_t count, sf_error *error)
{
    const sf_backend_search_options *first = &parts[0]->options;
    for (uint32_t i = 1; i < count; i++)
        if (parts[i]->options.enterprise != first->enterprise ||
            parts[i]->options.features != first->features)
            return sf_fail(error, SF_IO, NULL, "part %u searches otherwise than the first", i);
    test_plugin_work_done.as_enterprise += first->enterprise;
    if (first->enterprise) test_plugin_work_done.techniques = first->features;
    return SF_OK;
}

static int run_parts(sf_backend_part *const *parts, uint32_t count, sf_backend_bfs_job *job, sf_error *error)
{
    sf_csr csr;
    int status = note_options(parts, count, error);
    if (status != SF_OK) return status;
    status = join_parts(&csr, parts, count, error);
    if (status == SF_OK) status = search_lists(&csr, parts[0]->device, job, error);
    sf_csr_free(&csr);
    return status;
}

const struct sf_backend_graphs test_graphs = {
    .open = open_graph,
    .generate = generate,
    .close = close_graph,
    .edge_count = edge_count,
    .read = read_graph,
};

const struct sf_backend_bfs test_bfs = {
    .open = open_search,
    .close = close_search,
    .preparation = preparation,
    .run = run,
    .many = many,
    .count = count,
    .part_open = open_part,
    .part_take = take_part,
    .part_close = close_part,
    .run_parts = run_parts,
};
