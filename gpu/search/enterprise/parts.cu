/* SPDX-License-Identifier: Apache-2.0 */
/* A graph in parts on several devices, searched as Enterprise does: opening, running, what is wanted on the
 * host. */
#include "gpu/families.cuh"
#include "gpu/search/enterprise/enterprise.cuh"

struct sf_gpu_enterprise_part {
    sf_backend_device *device;
    sf_backend_graph *graph; /* with the lists of its vertices */
    sf_gpu_enterprise *search;
    uint32_t first, own;          /* its vertices */
    sf_gpu_array levels, parents; /* of all */
    sf_gpu_array summary;
    bool acquainted; /* the others may read its memory, where they can */
};

void sf_gpu_enterprise_part_close(sf_gpu_enterprise_part *part)
{
    if (part == NULL) return;
    cudaSetDevice(part->device->ordinal);
    sf_gpu_enterprise_close(part->search);
    for (sf_gpu_array *array : {&part->levels, &part->parents, &part->summary})
        sf_gpu_array_close(part->device, array);
    sf_gpu_graphs.close(part->graph);
    sf_free(part);
}

int sf_gpu_enterprise_part_open(sf_gpu_enterprise_part **opened, const sf_backend_graph *graph,
                                const sf_backend_cut *cut, uint32_t index,
                                const sf_backend_search_options *options, sf_error *error)
{
    *opened = NULL;
    uint32_t first = cut->first[index], last = cut->first[index + 1];
    sf_gpu_enterprise_part *part = (sf_gpu_enterprise_part *)sf_alloc(1, sizeof *part);
    if (part == NULL) return sf_fail_memory(error);
    part->device = graph->device;
    part->first = first;
    part->own = last - first;
    size_t bytes = graph->vertex_count * sizeof(uint32_t);
    int status = sf_gpu_graph_cut(&part->graph, graph, first, last, error);
    if (status == SF_OK) status = sf_gpu_array_open(part->device, &part->levels, bytes, error);
    if (status == SF_OK) status = sf_gpu_array_open(part->device, &part->parents, bytes, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(part->device, &part->summary, sizeof(sf_gpu_summary), error);
    if (status == SF_OK)
        status = sf_gpu_enterprise_open(&part->search, part->graph, first, last, options,
                                        (uint32_t *)part->levels.data, (uint32_t *)part->parents.data, error);
    if (status == SF_OK) status = sf_gpu_enterprise_exchange_open(part->search, error);
    if (status == SF_OK)
        *opened = part;
    else
        sf_gpu_enterprise_part_close(part);
    return status;
}

/* Copies between devices that are joined then go the short way; others go by way of the host. */
static int acquaint(sf_gpu_enterprise_part *part, sf_gpu_enterprise_part *const *parts, uint32_t count,
                    sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        bool joined;
        status = sf_gpu_let_read(&joined, part->device, parts[i]->device, error);
    }
    part->acquainted = status == SF_OK;
    return status;
}

/* Waits for all devices and begins to take the time, or ends it. */
static int take_time(sf_gpu_enterprise_part *const *parts, uint32_t count, int which, sf_error *error)
{
    for (uint32_t i = 0; i < count && which == 0; i++) {
        sf_backend_device *device = parts[i]->device;
        SF_GPU_TRY(cudaSetDevice(device->ordinal));
        SF_GPU_TRY(cudaMemsetAsync(parts[i]->summary.data, 0, parts[i]->summary.bytes, device->work));
        SF_GPU_TRY(cudaStreamSynchronize(device->work));
    }
    for (uint32_t i = 0; i < count; i++) {
        sf_backend_device *device = parts[i]->device;
        SF_GPU_TRY(cudaSetDevice(device->ordinal));
        SF_GPU_TRY(cudaEventRecord(device->timed[which], device->work));
    }
    return SF_OK;
}

/* What the part found is counted and read; the job's seconds become the longest of its devices'. */
static int read_part(sf_gpu_enterprise_part *part, sf_backend_bfs_job *job, sf_error *error)
{
    sf_backend_device *device = part->device;
    const uint32_t *levels = (const uint32_t *)part->levels.data + part->first;
    const uint32_t *parents = (const uint32_t *)part->parents.data + part->first;
    sf_gpu_summary summary;
    size_t bytes = part->own * sizeof(uint32_t);
    float milliseconds = 0;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    SF_GPU_TRY(cudaStreamSynchronize(device->work));
    SF_GPU_TRY(cudaEventElapsedTime(&milliseconds, device->timed[0], device->timed[1]));
    job->seconds = milliseconds / 1e3 > job->seconds ? milliseconds / 1e3 : job->seconds;
    sf_gpu_lists lists = {part->graph->out.offsets + part->first, NULL};
    int status =
        sf_gpu_sum_reached(device, (sf_gpu_summary *)part->summary.data, levels, lists, part->own, error);
    if (status == SF_OK)
        status = sf_gpu_download(device, &summary, part->summary.data, sizeof summary, error);
    if (status == SF_OK && job->levels != NULL)
        status = sf_gpu_download(device, job->levels + part->first, levels, bytes, error);
    if (status == SF_OK && job->parents != NULL)
        status = sf_gpu_download(device, job->parents + part->first, parents, bytes, error);
    if (status == SF_OK) {
        job->reached += summary.reached;
        job->edges += summary.edges;
    }
    return status;
}

int sf_gpu_enterprise_run_parts(sf_gpu_enterprise_part *const *parts, uint32_t count, sf_backend_bfs_job *job,
                                sf_error *error)
{
    sf_gpu_enterprise *searches[SF_MOST_DEVICES];
    sf_gpu_level log[SF_GPU_LOG];
    sf_gpu_summary summary;
    int status = SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        searches[i] = parts[i]->search;
        if (!parts[i]->acquainted) status = acquaint(parts[i], parts, count, error);
    }
    if (status == SF_OK) status = take_time(parts, count, 0, error);
    if (status == SF_OK)
        status = sf_gpu_enterprise_run(searches, count, job->source, log, &summary, job->progress, error);
    if (status == SF_OK) status = take_time(parts, count, 1, error);
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = read_part(parts[i], job, error);
    if (status != SF_OK) return status;
    job->depth = summary.depth;
    sf_gpu_tell_log(log, &summary, job);
    return SF_OK;
}
