/* SPDX-License-Identifier: Apache-2.0 */
/* Searches as the program asks for them: whichever way, then the totals, and what is wanted on the host. */
#include "gpu/search/search.cuh"

#include "gpu/families.cuh"

extern "C" {
#include "core/clock.h"
}

struct sf_backend_search {
    sf_backend_graph *graph;
    sf_gpu_persistent *persistent; /* or NULL */
    sf_gpu_enterprise *enterprise; /* or NULL */
    sf_gpu_array levels, parents, log, summary;
    double preparation;
};

namespace
{

__global__ void sum_up(sf_gpu_summary *summary, const uint32_t *levels, sf_gpu_lists out, uint32_t count)
{
    unsigned long long reached = 0, edges = 0;
    for (uint64_t v = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; v < count;
         v += (uint64_t)gridDim.x * blockDim.x) {
        if (levels[v] == UINT32_MAX) continue;
        reached++;
        edges += out.offsets[v + 1] - out.offsets[v];
    }
    atomicAdd(&summary->reached, reached);
    atomicAdd(&summary->edges, edges);
}

} // namespace

int sf_gpu_sum_reached(sf_backend_device *device, sf_gpu_summary *summary, const uint32_t *levels,
                       sf_gpu_lists out, uint32_t count, sf_error *error)
{
    sum_up<<<device->properties.multiProcessorCount * 4, 256, 0, device->work>>>(summary, levels, out, count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static void close_search(sf_backend_search *search)
{
    if (search == NULL) return;
    sf_backend_device *device = search->graph->device;
    cudaSetDevice(device->ordinal);
    sf_gpu_persistent_close(search->persistent);
    sf_gpu_enterprise_close(search->enterprise);
    sf_gpu_array *arrays[] = {&search->levels, &search->parents, &search->log, &search->summary};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(device, array);
    sf_free(search);
}

static int open_results(sf_backend_search *search, sf_error *error)
{
    sf_backend_device *device = search->graph->device;
    size_t bytes = search->graph->vertex_count * sizeof(uint32_t);
    int status = sf_gpu_array_open(device, &search->levels, bytes, error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &search->parents, bytes, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &search->log, SF_GPU_LOG * sizeof(sf_gpu_level), error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &search->summary, sizeof(sf_gpu_summary), error);
    return status;
}

static int open_search(sf_backend_search **opened, sf_backend_graph *graph,
                       const sf_backend_search_options *options, sf_error *error)
{
    *opened = NULL;
    SF_GPU_TRY(cudaSetDevice(graph->device->ordinal));
    double start = sf_clock_seconds();
    sf_backend_search *search = (sf_backend_search *)sf_alloc(1, sizeof *search);
    if (search == NULL) return sf_fail_memory(error);
    search->graph = graph;
    int status = open_results(search, error);
    if (status == SF_OK && options->enterprise)
        status =
            sf_gpu_enterprise_open(&search->enterprise, graph, 0, graph->vertex_count, options,
                                   (uint32_t *)search->levels.data, (uint32_t *)search->parents.data, error);
    else if (status == SF_OK)
        status = sf_gpu_persistent_open(&search->persistent, graph, options->direction, error);
    if (status == SF_OK)
        status = sf_gpu_check(cudaStreamSynchronize(graph->device->work), "cudaStreamSynchronize", error);
    search->preparation = sf_clock_seconds() - start;
    if (status == SF_OK)
        *opened = search;
    else
        close_search(search);
    return status;
}

static double preparation(const sf_backend_search *search)
{
    return search->preparation;
}

/* Enterprise is run by the host, and its log is there; it goes where that of the other way is. */
static int run_enterprise(sf_backend_search *search, const sf_backend_bfs_job *job, sf_gpu_level *log,
                          sf_gpu_summary *summary, sf_error *error)
{
    sf_backend_device *device = search->graph->device;
    int status =
        sf_gpu_enterprise_run(&search->enterprise, 1, job->source, log, summary, job->progress, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaEventRecord(device->timed[1], device->work));
    status = sf_gpu_upload(device, search->log.data, log, summary->logged * sizeof *log, error);
    return status == SF_OK ? sf_gpu_upload(device, search->summary.data, summary, sizeof *summary, error)
                           : status;
}

static int run_persistent(sf_backend_search *search, uint32_t source, sf_error *error)
{
    sf_backend_device *device = search->graph->device;
    int status = sf_gpu_persistent_run(search->persistent, source, (uint32_t *)search->levels.data,
                                       (uint32_t *)search->parents.data, (sf_gpu_level *)search->log.data,
                                       (sf_gpu_summary *)search->summary.data, error);
    if (status == SF_OK) SF_GPU_TRY(cudaEventRecord(device->timed[1], device->work));
    return status;
}

static int search_timed(sf_backend_search *search, sf_backend_bfs_job *job, sf_error *error)
{
    sf_backend_device *device = search->graph->device;
    SF_GPU_TRY(cudaMemsetAsync(search->summary.data, 0, search->summary.bytes, device->work));
    SF_GPU_TRY(cudaEventRecord(device->timed[0], device->work));
    int status;
    if (search->enterprise != NULL) {
        sf_gpu_level log[SF_GPU_LOG];
        sf_gpu_summary summary;
        status = run_enterprise(search, job, log, &summary, error);
    } else {
        status = run_persistent(search, job->source, error);
    }
    if (status != SF_OK) return status;
    status = sf_gpu_sum_reached(device, (sf_gpu_summary *)search->summary.data,
                                (const uint32_t *)search->levels.data, search->graph->out,
                                search->graph->vertex_count, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaStreamSynchronize(device->work));
    float milliseconds = 0;
    SF_GPU_TRY(cudaEventElapsedTime(&milliseconds, device->timed[0], device->timed[1]));
    job->seconds = milliseconds / 1e3;
    return SF_OK;
}

static uint32_t told_levels(const sf_gpu_summary *summary, const sf_backend_bfs_job *job)
{
    return summary->logged < job->log_room ? summary->logged : job->log_room;
}

void sf_gpu_tell_log(const sf_gpu_level *levels, const sf_gpu_summary *summary, sf_backend_bfs_job *job)
{
    unsigned long long before = summary->begin;
    for (uint32_t i = 0, count = told_levels(summary, job); i < count; i++) {
        job->log[i] = sf_backend_level{levels[i].found, (double)(levels[i].stamp - before) * 1e-9,
                                       levels[i].bottom_up != 0};
        before = levels[i].stamp;
    }
}

int sf_gpu_read_log(sf_backend_device *device, const sf_gpu_array *log, const sf_gpu_summary *summary,
                    sf_backend_bfs_job *job, sf_error *error)
{
    uint32_t count = told_levels(summary, job);
    if (count == 0) return SF_OK;
    sf_gpu_level *levels = (sf_gpu_level *)sf_resize(NULL, count, sizeof *levels);
    if (levels == NULL) return sf_fail_memory(error);
    int status = sf_gpu_download(device, levels, log->data, count * sizeof *levels, error);
    if (status == SF_OK) sf_gpu_tell_log(levels, summary, job);
    sf_free(levels);
    return status;
}

static int run(sf_backend_search *search, sf_backend_bfs_job *job, sf_error *error)
{
    sf_backend_device *device = search->graph->device;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    sf_gpu_summary summary;
    int status = search_timed(search, job, error);
    if (status == SF_OK)
        status = sf_gpu_download(device, &summary, search->summary.data, sizeof summary, error);
    if (status == SF_OK && job->levels != NULL)
        status = sf_gpu_download(device, job->levels, search->levels.data, search->levels.bytes, error);
    if (status == SF_OK && job->parents != NULL)
        status = sf_gpu_download(device, job->parents, search->parents.data, search->parents.bytes, error);
    if (status == SF_OK) status = sf_gpu_read_log(device, &search->log, &summary, job, error);
    if (status != SF_OK) return status;
    job->reached = summary.reached;
    job->edges = summary.edges;
    job->depth = summary.depth;
    return SF_OK;
}

const sf_backend_bfs sf_gpu_bfs = {
    .open = open_search,
    .close = close_search,
    .preparation = preparation,
    .run = run,
    .many = sf_gpu_search_many,
    .count = sf_gpu_search_count,
    .part_open = sf_gpu_part_open,
    .part_take = sf_gpu_part_take,
    .part_close = sf_gpu_part_close,
    .run_parts = sf_gpu_run_parts,
};
