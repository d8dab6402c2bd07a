/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/search/bfs.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

/* The queue holds every reached vertex in the order of levels; returns how many. */
static uint32_t search(sf_bfs_result *result, uint32_t *queue, const sf_csr *graph, uint32_t source,
                       uint32_t most_levels)
{
    uint32_t *levels = result->levels, *parents = result->parents;
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        levels[v] = parents[v] = UINT32_MAX;
    levels[source] = 0;
    parents[source] = source;
    queue[0] = source;
    uint32_t count = 1;
    for (uint32_t head = 0; head < count && levels[queue[head]] < most_levels; head++) {
        uint32_t v = queue[head];
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
            uint32_t neighbour = graph->targets[e];
            if (levels[neighbour] != SF_UNREACHED) continue;
            levels[neighbour] = levels[v] + 1;
            parents[neighbour] = v;
            queue[count++] = neighbour;
        }
    }
    return count;
}

static int summarise(sf_bfs_result *result, const uint32_t *queue, const sf_csr *graph, sf_error *error)
{
    result->depth = result->levels[queue[result->reached - 1]];
    result->level_sizes = sf_alloc((size_t)result->depth + 1, sizeof *result->level_sizes);
    if (result->level_sizes == NULL) return sf_fail_memory(error);
    for (uint64_t i = 0; i < result->reached; i++) {
        result->level_sizes[result->levels[queue[i]]]++;
        result->edges += sf_csr_degree(graph, queue[i]);
    }
    return SF_OK;
}

int sf_bfs(sf_bfs_result *result, const sf_csr *graph, uint32_t source, uint32_t most_levels, sf_error *error)
{
    *result = (sf_bfs_result){0};
    if (source >= graph->vertex_count)
        return sf_fail(error, SF_USAGE, NULL, "there is no vertex %u: the graph has %u, counted from 0",
                       source, graph->vertex_count);
    result->levels = sf_resize(NULL, graph->vertex_count, sizeof *result->levels);
    result->parents = sf_resize(NULL, graph->vertex_count, sizeof *result->parents);
    uint32_t *queue = sf_resize(NULL, graph->vertex_count, sizeof *queue);
    int status = SF_NO_MEMORY;
    if (result->levels != NULL && result->parents != NULL && queue != NULL) {
        double start = sf_clock_seconds();
        result->reached = search(result, queue, graph, source, most_levels);
        result->seconds = sf_clock_seconds() - start;
        status = summarise(result, queue, graph, error);
    }
    sf_free(queue);
    if (status == SF_OK) return SF_OK;
    sf_bfs_result_free(result);
    return sf_fail_memory(error);
}

void sf_bfs_result_free(sf_bfs_result *result)
{
    sf_free(result->levels);
    sf_free(result->parents);
    sf_free(result->level_sizes);
    *result = (sf_bfs_result){0};
}
