/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/search/device.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- graphs ---- */

static sf_backend_lists lists_of(const sf_csr *csr)
{
    return (sf_backend_lists){csr->offsets, csr->targets};
}

/* Copies `arrays` to the device, or draws a graph there where they are NULL. */
static int make(sf_device_graph *graph, const sf_backend_arrays *arrays, const sf_kronecker *kind,
                sf_error *error)
{
    int status = sf_device_hold(graph->device, error);
    if (status != SF_OK) return status;
    const sf_backend_graphs *graphs = sf_device_backend(graph->device)->graphs;
    sf_backend_device *opened = sf_device_opened(graph->device);
    sf_error failure = {0};
    if (graphs == NULL)
        status = sf_fail(&failure, SF_UNAVAILABLE, NULL, "%s takes no graphs", sf_device_name(graph->device));
    else if (arrays != NULL)
        status = graphs->open(&graph->graph, opened, arrays, &failure);
    else
        status = graphs->generate(&graph->graph, opened, kind, &failure);
    return sf_device_release(graph->device, status, &failure, error);
}

int sf_device_graph_open_told(sf_device_graph *graph, sf_device *device, const sf_csr *csr,
                              const sf_progress *progress, sf_error *error)
{
    *graph = (sf_device_graph){.device = device, .vertex_count = csr->vertex_count};
    sf_csr turned = {0};
    int status = csr->directed ? sf_csr_transpose_told(&turned, csr, progress, error) : SF_OK;
    if (status != SF_OK) return status;
    sf_backend_arrays arrays = {.vertex_count = csr->vertex_count,
                                .directed = csr->directed,
                                .out = lists_of(csr),
                                .in = lists_of(csr->directed ? &turned : csr)};
    status = make(graph, &arrays, NULL, error);
    sf_csr_free(&turned);
    return status;
}

int sf_device_graph_generate(sf_device_graph *graph, sf_device *device, const sf_kronecker *kind,
                             sf_error *error)
{
    *graph = (sf_device_graph){.device = device, .vertex_count = UINT32_C(1) << kind->scale};
    return make(graph, NULL, kind, error);
}

uint64_t sf_device_graph_edges(const sf_device_graph *graph)
{
    return sf_device_backend(graph->device)->graphs->edge_count(graph->graph);
}

int sf_device_graph_read(sf_csr *csr, sf_device_graph *graph, bool targets, sf_error *error)
{
    *csr = (sf_csr){.vertex_count = graph->vertex_count,
                    .offsets = sf_resize(NULL, (size_t)graph->vertex_count + 1, sizeof *csr->offsets)};
    if (targets) csr->targets = sf_resize(NULL, sf_device_graph_edges(graph), sizeof *csr->targets);
    bool complete = csr->offsets != NULL && (csr->targets != NULL || !targets);
    int status = complete ? sf_device_hold(graph->device, error) : sf_fail_memory(error);
    if (status == SF_OK) {
        sf_error failure = {0};
        status = sf_device_backend(graph->device)
                     ->graphs->read(graph->graph, csr->offsets, csr->targets, &failure);
        status = sf_device_release(graph->device, status, &failure, error);
    }
    if (status != SF_OK) sf_csr_free(csr);
    return status;
}

static void close_graph(void *object)
{
    const sf_device_graph *graph = object;
    sf_device_backend(graph->device)->graphs->close(graph->graph);
}

void sf_device_graph_close(sf_device_graph *graph)
{
    if (graph->graph != NULL) sf_device_discard(graph->device, close_graph, graph);
    *graph = (sf_device_graph){0};
}

/* ---- searches ---- */

static int fail_source(uint32_t source, uint32_t vertices, sf_error *error)
{
    return sf_fail(error, SF_USAGE, NULL, "there is no vertex %u: the graph has %u, counted from 0", source,
                   vertices);
}

/* Holds the device for a search; it is not held where it has none. */
static int hold_bfs(sf_device *device, const sf_backend_bfs **bfs, sf_error *error)
{
    int status = sf_device_hold(device, error);
    if (status != SF_OK) return status;
    *bfs = sf_device_backend(device)->bfs;
    if (*bfs != NULL) return SF_OK;
    sf_error failure;
    status =
        sf_fail(&failure, SF_UNAVAILABLE, NULL, "%s has no breadth-first search", sf_device_name(device));
    return sf_device_release(device, status, &failure, error);
}

int sf_device_search_open(sf_device_search *search, const sf_device_graph *graph,
                          const sf_backend_search_options *options, sf_error *error)
{
    *search = (sf_device_search){.graph = graph};
    const sf_backend_bfs *bfs;
    int status = hold_bfs(graph->device, &bfs, error);
    if (status != SF_OK) return status;
    sf_error failure = {0};
    status = bfs->open(&search->search, graph->graph, options, &failure);
    if (status == SF_OK) search->preparation = bfs->preparation(search->search);
    return sf_device_release(graph->device, status, &failure, error);
}

static void close_search(void *object)
{
    const sf_device_search *search = object;
    sf_device_backend(search->graph->device)->bfs->close(search->search);
}

void sf_device_search_close(sf_device_search *search)
{
    if (search->search != NULL) sf_device_discard(search->graph->device, close_search, search);
    *search = (sf_device_search){0};
}

int sf_device_search_job(sf_device_search *search, sf_backend_bfs_job *job, sf_error *error)
{
    const sf_device_graph *graph = search->graph;
    if (job->source >= graph->vertex_count) return fail_source(job->source, graph->vertex_count, error);
    int status = sf_device_hold(graph->device, error);
    if (status != SF_OK) return status;
    sf_error failure = {0};
    status = sf_device_backend(graph->device)->bfs->run(search->search, job, &failure);
    return sf_device_release(graph->device, status, &failure, error);
}

static int count_levels(sf_bfs_result *result, uint32_t vertices, sf_error *error)
{
    sf_free(result->level_sizes);
    result->level_sizes = sf_alloc((size_t)result->depth + 1, sizeof *result->level_sizes);
    if (result->level_sizes == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < vertices; v++)
        if (result->levels[v] != SF_UNREACHED) result->level_sizes[result->levels[v]]++;
    return SF_OK;
}

/* Room for the answer of a job, which `result` may hold already. */
static int start_result(sf_bfs_result *result, sf_backend_bfs_job *job, uint32_t vertices, sf_error *error)
{
    if (result->levels == NULL) result->levels = sf_resize(NULL, vertices, sizeof *result->levels);
    if (result->parents == NULL) result->parents = sf_resize(NULL, vertices, sizeof *result->parents);
    job->levels = result->levels;
    job->parents = result->parents;
    return result->levels != NULL && result->parents != NULL ? SF_OK : sf_fail_memory(error);
}

/* Takes over what the job answers; after a failure, `result` is empty. */
static int finish_result(sf_bfs_result *result, const sf_backend_bfs_job *job, uint32_t vertices, int status,
                         sf_error *error)
{
    result->reached = job->reached;
    result->edges = job->edges;
    result->depth = job->depth;
    result->seconds = job->seconds;
    if (status == SF_OK) status = count_levels(result, vertices, error);
    if (status != SF_OK) sf_bfs_result_free(result);
    return status;
}

int sf_device_search_run(sf_device_search *search, uint32_t source, sf_bfs_result *result, sf_error *error)
{
    uint32_t vertices = search->graph->vertex_count;
    sf_backend_bfs_job job = {.source = source, .progress = search->progress};
    int status = start_result(result, &job, vertices, error);
    if (status == SF_OK) status = sf_device_search_job(search, &job, error);
    return finish_result(result, &job, vertices, status, error);
}

int sf_device_bfs_many(sf_device_graph *graph, const uint32_t *sources, size_t count, uint32_t *levels,
                       uint32_t *parents, const sf_progress *progress, sf_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (sources[i] >= graph->vertex_count) return fail_source(sources[i], graph->vertex_count, error);
    const sf_backend_bfs *bfs;
    int status = hold_bfs(graph->device, &bfs, error);
    if (status != SF_OK) return status;
    sf_error failure = {0};
    status = bfs->many(graph->graph, sources, count, levels, parents, progress, &failure);
    return sf_device_release(graph->device, status, &failure, error);
}

int sf_device_bfs_count(sf_device *device, const sf_csr *graph, uint32_t most_levels, uint32_t *reached,
                        uint32_t *depth, const sf_progress *progress, sf_error *error)
{
    const sf_backend_bfs *bfs;
    int status = hold_bfs(device, &bfs, error);
    if (status != SF_OK) return status;
    sf_error failure = {0};
    sf_backend_lists out = lists_of(graph);
    status = bfs->count(sf_device_opened(device), &out, graph->vertex_count, most_levels, reached, depth,
                        progress, &failure);
    return sf_device_release(device, status, &failure, error);
}

/* ---- several devices ---- */

/* As many vertices in each, but that a part begins with a word of a bitmap. */
static sf_backend_cut cut_evenly(uint32_t vertices, uint32_t parts)
{
    sf_backend_cut cut = {.count = parts};
    for (uint32_t i = 1; i < parts; i++)
        cut.first[i] = (uint32_t)((uint64_t)vertices * i / parts / 32 * 32);
    cut.first[parts] = vertices;
    return cut;
}

static int open_part(sf_device_parts *parts, uint32_t i, const sf_backend_arrays *arrays, sf_error *error)
{
    sf_device *device = parts->devices[i];
    sf_backend_cut cut = cut_evenly(parts->vertex_count, parts->count);
    const sf_backend_bfs *bfs;
    int status = hold_bfs(device, &bfs, error);
    if (status != SF_OK) return status;
    sf_error failure = {0};
    double start = sf_clock_seconds();
    status = bfs->part_open(&parts->parts[i], sf_device_opened(device), arrays, &cut, i, &parts->options,
                            &failure);
    parts->preparation += sf_clock_seconds() - start;
    return sf_device_release(device, status, &failure, error);
}

int sf_device_parts_open(sf_device_parts *parts, sf_device *const *devices, uint32_t count, const sf_csr *csr,
                         const sf_backend_search_options *options, sf_error *error)
{
    *parts = (sf_device_parts){.count = count, .vertex_count = csr->vertex_count, .options = *options};
    memcpy(parts->devices, devices, count * sizeof(sf_device *));
    sf_csr turned = {0};
    int status = csr->directed ? sf_csr_transpose(&turned, csr, error) : SF_OK;
    sf_backend_arrays arrays = {.vertex_count = csr->vertex_count,
                                .directed = csr->directed,
                                .out = lists_of(csr),
                                .in = lists_of(csr->directed ? &turned : csr)};
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = open_part(parts, i, &arrays, error);
    sf_csr_free(&turned);
    if (status != SF_OK) sf_device_parts_close(parts);
    return status;
}

static int generate_part(sf_device_parts *parts, uint32_t i, const sf_kronecker *kind, sf_error *error)
{
    sf_device *device = parts->devices[i];
    sf_backend_cut cut = cut_evenly(parts->vertex_count, parts->count);
    sf_device_graph whole;
    const sf_backend_bfs *bfs;
    int status = sf_device_graph_generate(&whole, device, kind, error);
    if (status == SF_OK) status = hold_bfs(device, &bfs, error);
    if (status == SF_OK) {
        sf_error failure = {0};
        double start = sf_clock_seconds();
        status = bfs->part_take(&parts->parts[i], whole.graph, &cut, i, &parts->options, &failure);
        parts->preparation += sf_clock_seconds() - start;
        status = sf_device_release(device, status, &failure, error);
    }
    sf_device_graph_close(&whole);
    return status;
}

int sf_device_parts_generate(sf_device_parts *parts, sf_device *const *devices, uint32_t count,
                             const sf_kronecker *kind, const sf_backend_search_options *options,
                             sf_error *error)
{
    *parts =
        (sf_device_parts){.count = count, .vertex_count = UINT32_C(1) << kind->scale, .options = *options};
    memcpy(parts->devices, devices, count * sizeof(sf_device *));
    int status = SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = generate_part(parts, i, kind, error);
    if (status != SF_OK) sf_device_parts_close(parts);
    return status;
}

typedef struct held_part {
    sf_device *device;
    sf_backend_part *part;
} held_part;

static void close_part(void *object)
{
    const held_part *held = object;
    sf_device_backend(held->device)->bfs->part_close(held->part);
}

void sf_device_parts_close(sf_device_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        if (parts->parts[i] != NULL)
            sf_device_discard(parts->devices[i], close_part,
                              &(held_part){parts->devices[i], parts->parts[i]});
    *parts = (sf_device_parts){0};
}

static int compare_places(const void *first, const void *second)
{
    const sf_device *a = *(sf_device *const *)first, *b = *(sf_device *const *)second;
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

/* The devices of the parts, each once, in the one order in which whoever holds several holds them. */
static uint32_t distinct_devices(const sf_device_parts *parts, sf_device *devices[SF_MOST_DEVICES])
{
    uint32_t kept = 0;
    memcpy(devices, parts->devices, parts->count * sizeof(sf_device *));
    qsort(devices, parts->count, sizeof(sf_device *), compare_places);
    for (uint32_t i = 0; i < parts->count; i++)
        if (kept == 0 || devices[kept - 1] != devices[i]) devices[kept++] = devices[i];
    return kept;
}

/* Runs the job with all devices held. A failure counts as that of the first. */
static int run_held(sf_device_parts *parts, sf_backend_bfs_job *job, sf_error *error)
{
    sf_device *devices[SF_MOST_DEVICES];
    uint32_t count = distinct_devices(parts, devices), held = 0;
    int status = SF_OK;
    while (held < count && (status = sf_device_hold(devices[held], error)) == SF_OK)
        held++;
    sf_error failure = {0};
    int outcome = SF_OK;
    if (held == count)
        outcome = sf_device_backend(devices[0])->bfs->run_parts(parts->parts, parts->count, job, &failure);
    while (held > 0) {
        held--;
        int answer = sf_device_release(devices[held], held == 0 ? outcome : SF_OK, &failure, error);
        status = status == SF_OK ? answer : status;
    }
    return status;
}

int sf_device_parts_job(sf_device_parts *parts, sf_backend_bfs_job *job, sf_error *error)
{
    if (job->source >= parts->vertex_count) return fail_source(job->source, parts->vertex_count, error);
    return run_held(parts, job, error);
}

int sf_device_parts_run(sf_device_parts *parts, uint32_t source, sf_bfs_result *result, sf_error *error)
{
    sf_backend_bfs_job job = {.source = source, .progress = parts->progress};
    int status = start_result(result, &job, parts->vertex_count, error);
    if (status == SF_OK) status = sf_device_parts_job(parts, &job, error);
    return finish_result(result, &job, parts->vertex_count, status, error);
}

/* ---- choosing ---- */

/* Edges per second of one core: preparing (one thread) and searching (all threads) touch every edge a few
 * times. */
#define EDGES_A_SECOND 3e8

double sf_bfs_cpu_seconds(uint64_t vertices, uint64_t edges, uint64_t searches, unsigned threads)
{
    double passes = 2 + (double)searches / (threads > 0 ? threads : 1);
    return ((double)vertices + (double)edges) * passes / EDGES_A_SECOND;
}
