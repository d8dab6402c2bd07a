/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs on the device: their lists, copied there and back. */
#include "gpu/search/graph.cuh"

#include "gpu/families.cuh"

namespace
{

__global__ void subtract(uint64_t *offsets, uint64_t base, uint32_t count)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        offsets[i] -= base;
}

} // namespace

int sf_gpu_upload_lists(sf_backend_device *device, sf_gpu_lists *lists, sf_gpu_array memory[2],
                        const sf_backend_lists *from, uint32_t vertex_count, uint32_t first, uint32_t last,
                        sf_error *error)
{
    if (vertex_count > SF_GPU_MOST_VERTICES)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%u vertices are more than the %u that the device takes",
                       vertex_count, SF_GPU_MOST_VERTICES);
    uint64_t base = from->offsets[0], begin = from->offsets[first], edges = from->offsets[last] - begin;
    int status =
        sf_gpu_array_send(device, &memory[0], from->offsets, ((size_t)vertex_count + 1) * sizeof base, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &memory[1], from->targets + begin, edges * sizeof *from->targets,
                                   error);
    if (status != SF_OK) return status;
    uint64_t *offsets = (uint64_t *)memory[0].data;
    if (base != 0) {
        subtract<<<device->properties.multiProcessorCount * 4, 256, 0, device->work>>>(offsets, base,
                                                                                       vertex_count + 1);
        SF_GPU_LAUNCHED();
    }
    *lists = sf_gpu_lists{offsets, (const uint32_t *)memory[1].data - (begin - base)};
    return SF_OK;
}

static void close_graph(sf_backend_graph *graph)
{
    if (graph == NULL) return;
    cudaSetDevice(graph->device->ordinal);
    for (sf_gpu_array &array : graph->memory)
        sf_gpu_array_close(graph->device, &array);
    sf_free(graph);
}

int sf_gpu_graph_open(sf_backend_graph **opened, sf_backend_device *device, const sf_backend_arrays *arrays,
                      uint32_t first, uint32_t last, sf_error *error)
{
    *opened = NULL;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    sf_backend_graph *graph = (sf_backend_graph *)sf_alloc(1, sizeof *graph);
    if (graph == NULL) return sf_fail_memory(error);
    graph->device = device;
    graph->vertex_count = arrays->vertex_count;
    graph->directed = arrays->directed;
    graph->edge_count = arrays->out.offsets[arrays->vertex_count] - arrays->out.offsets[0];
    int status = sf_gpu_upload_lists(device, &graph->out, graph->memory, &arrays->out, graph->vertex_count,
                                     first, last, error);
    graph->in = graph->out;
    if (status == SF_OK && arrays->directed)
        status = sf_gpu_upload_lists(device, &graph->in, graph->memory + 2, &arrays->in, graph->vertex_count,
                                     first, last, error);
    if (status == SF_OK)
        *opened = graph;
    else
        close_graph(graph);
    return status;
}

static int cut_lists(sf_backend_device *device, sf_gpu_lists *lists, sf_gpu_array memory[2],
                     const sf_gpu_lists *from, uint32_t vertex_count, uint32_t first, uint32_t last,
                     sf_error *error)
{
    uint64_t begin = 0, end = 0;
    int status = sf_gpu_download(device, &begin, from->offsets + first, sizeof begin, error);
    if (status == SF_OK) status = sf_gpu_download(device, &end, from->offsets + last, sizeof end, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &memory[0], ((size_t)vertex_count + 1) * sizeof begin, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &memory[1], (end - begin) * sizeof *from->targets, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemcpyAsync(memory[0].data, from->offsets, memory[0].bytes, cudaMemcpyDeviceToDevice,
                               device->work));
    SF_GPU_TRY(cudaMemcpyAsync(memory[1].data, from->targets + begin, memory[1].bytes,
                               cudaMemcpyDeviceToDevice, device->work));
    *lists = sf_gpu_lists{(const uint64_t *)memory[0].data, (const uint32_t *)memory[1].data - begin};
    return SF_OK;
}

int sf_gpu_graph_cut(sf_backend_graph **opened, const sf_backend_graph *from, uint32_t first, uint32_t last,
                     sf_error *error)
{
    *opened = NULL;
    sf_backend_graph *graph = (sf_backend_graph *)sf_alloc(1, sizeof *graph);
    if (graph == NULL) return sf_fail_memory(error);
    graph->device = from->device;
    graph->vertex_count = from->vertex_count;
    graph->directed = from->directed;
    graph->edge_count = from->edge_count;
    int status = cut_lists(graph->device, &graph->out, graph->memory, &from->out, graph->vertex_count, first,
                           last, error);
    graph->in = graph->out;
    if (status == SF_OK && graph->directed)
        status = cut_lists(graph->device, &graph->in, graph->memory + 2, &from->in, graph->vertex_count,
                           first, last, error);
    if (status == SF_OK)
        *opened = graph;
    else
        close_graph(graph);
    return status;
}

static int open_graph(sf_backend_graph **opened, sf_backend_device *device, const sf_backend_arrays *arrays,
                      sf_error *error)
{
    return sf_gpu_graph_open(opened, device, arrays, 0, arrays->vertex_count, error);
}

static uint64_t edge_count(const sf_backend_graph *graph)
{
    return graph->edge_count;
}

static int read_graph(sf_backend_graph *graph, uint64_t *offsets, uint32_t *targets, sf_error *error)
{
    sf_backend_device *device = graph->device;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    int status = SF_OK;
    if (offsets != NULL)
        status = sf_gpu_download(device, offsets, graph->out.offsets,
                                 ((size_t)graph->vertex_count + 1) * sizeof *offsets, error);
    if (status == SF_OK && targets != NULL)
        status =
            sf_gpu_download(device, targets, graph->out.targets, graph->edge_count * sizeof *targets, error);
    return status;
}

const sf_backend_graphs sf_gpu_graphs = {
    .open = open_graph,
    .generate = sf_gpu_generate,
    .close = close_graph,
    .edge_count = edge_count,
    .read = read_graph,
};
