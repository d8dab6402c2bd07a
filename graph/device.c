/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/device.h"

#include "core/error.h"

static sf_backend_lists lists_of(const sf_csr *csr)
{
    return (sf_backend_lists){csr->offsets, csr->targets};
}

static int upload(sf_device_graph *graph, const sf_backend_arrays *arrays, sf_error *error)
{
    int status = sf_device_hold(graph->device, error);
    if (status != SF_OK)
        return status;
    const sf_backend *backend = sf_device_backend(graph->device);
    sf_error failure = {0};
    if (backend->graphs == NULL)
        status = sf_fail(&failure, SF_UNAVAILABLE, NULL, "%s takes no graphs", sf_device_name(graph->device));
    else
        status = backend->graphs->open(&graph->graph, sf_device_opened(graph->device), arrays, &failure);
    return sf_device_release(graph->device, status, &failure, error);
}

int sf_device_graph_open(sf_device_graph *graph, sf_device *device, const sf_csr *csr, sf_error *error)
{
    *graph = (sf_device_graph){.device = device};
    sf_csr turned = {0};
    int status = csr->directed ? sf_csr_transpose(&turned, csr, error) : SF_OK;
    if (status != SF_OK)
        return status;
    sf_backend_arrays arrays = {.vertex_count = csr->vertex_count,
                                .directed = csr->directed,
                                .out = lists_of(csr),
                                .in = lists_of(csr->directed ? &turned : csr)};
    status = upload(graph, &arrays, error);
    sf_csr_free(&turned);
    return status;
}

static void close_graph(void *object)
{
    const sf_device_graph *graph = object;
    sf_device_backend(graph->device)->graphs->close(graph->graph);
}

void sf_device_graph_close(sf_device_graph *graph)
{
    if (graph->graph != NULL)
        sf_device_discard(graph->device, close_graph, graph);
    *graph = (sf_device_graph){0};
}
