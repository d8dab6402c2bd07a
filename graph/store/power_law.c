/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/store/power_law.h"

#include "core/random.h"

#include <math.h>

/* Where the chance falls like a power of the place, its sum is a power too, and can be turned round. */
static uint32_t draw_end(sf_random *random, const sf_power_law *graph)
{
    double power = 1 - graph->exponent;
    double low = pow(graph->offset, power), high = pow(graph->offset + graph->vertices, power);
    double at = pow(low + sf_random_uniform(random) * (high - low), 1 / power) - graph->offset;
    return at < graph->vertices - 1.0 ? (uint32_t)fmax(at, 0) : graph->vertices - 1;
}

static int draw_labels(sf_edge_list *list, const sf_power_law *graph, sf_error *error)
{
    size_t column;
    int status = sf_columns_grow(&list->vertex_columns, list->vertex_count, error);
    if (status == SF_OK) status = sf_columns_add(&list->vertex_columns, SF_LABEL_COLUMN, &column, error);
    if (status != SF_OK) return status;
    sf_random random = sf_random_start(graph->seed, 1);
    for (uint32_t v = 0; v < graph->vertices; v++)
        list->vertex_columns.items[column].values[v] = (double)sf_random_below(&random, graph->labels);
    return SF_OK;
}

int sf_power_law_edges(sf_edge_list *list, const sf_power_law *graph, sf_error *error)
{
    *list = (sf_edge_list){0};
    sf_random random = sf_random_start(graph->seed, 0);
    int status = sf_edge_list_set_vertices(list, graph->vertices, error);
    for (uint64_t e = 0; e < graph->edges && status == SF_OK;) {
        uint32_t from = draw_end(&random, graph), to = draw_end(&random, graph);
        if (from == to) continue;
        status = sf_edge_list_add(list, from, to, error);
        e++;
    }
    if (status == SF_OK && graph->labels > 0) status = draw_labels(list, graph, error);
    if (status != SF_OK) sf_edge_list_free(list);
    return status;
}
