/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/web_edges.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMPARE(a, b)                                                                                        \
    if ((a) != (b)) return (a) < (b) ? -1 : 1

static int by_place(const void *first, const void *second)
{
    const sf_edge_change *a = first, *b = second;
    COMPARE(a->from, b->from);
    COMPARE(a->to, b->to);
    COMPARE(a->delay.low_ns, b->delay.low_ns);
    COMPARE(a->delay.high_ns, b->delay.high_ns);
    return 0;
}

static int by_worth(const void *first, const void *second)
{
    const sf_edge_change *a = *(const sf_edge_change *const *)first,
                         *b = *(const sf_edge_change *const *)second;
    double a_q = isnan(a->q) ? 2 : a->q, b_q = isnan(b->q) ? 2 : b->q;
    COMPARE(a_q, b_q);
    COMPARE(b->weight, a->weight);
    return by_place(a, b);
}

int sf_web_edges_apply(sf_web_edges *edges, const sf_graph_message *graph, sf_error *error)
{
    sf_edge_change *changes = sf_alloc(graph->change_count, sizeof *changes);
    sf_edge_change *merged = sf_alloc(edges->count + graph->change_count, sizeof *merged);
    if (changes == NULL || merged == NULL) {
        sf_free(changes);
        sf_free(merged);
        return sf_fail_memory(error);
    }
    if (graph->change_count > 0) memcpy(changes, graph->changes, graph->change_count * sizeof *changes);
    qsort(changes, graph->change_count, sizeof *changes, by_place);
    size_t count = 0, old = 0;
    for (size_t i = 0; i < graph->change_count; i++) {
        int order = 1;
        while (old < edges->count && (order = by_place(&edges->items[old], &changes[i])) < 0)
            merged[count++] = edges->items[old++];
        old += old < edges->count && order == 0 ? 1 : 0; /* replaced or removed */
        if (!changes[i].removed) merged[count++] = changes[i];
    }
    while (old < edges->count)
        merged[count++] = edges->items[old++];
    sf_free(changes);
    sf_free(edges->items);
    *edges = (sf_web_edges){merged, count};
    return SF_OK;
}

void sf_web_edges_encode(const sf_web_edges *edges, sf_text *frame)
{
    const sf_edge_change **order = sf_alloc(edges->count, sizeof *order);
    if (order == NULL) {
        frame->failed = true;
        return;
    }
    for (size_t i = 0; i < edges->count; i++)
        order[i] = &edges->items[i];
    qsort(order, edges->count, sizeof *order, by_worth);
    size_t told = edges->count < SF_WEB_EDGES_MOST ? edges->count : SF_WEB_EDGES_MOST;
    const uint32_t counts[2] = {(uint32_t)edges->count, (uint32_t)told};
    sf_text_append(frame, (const char *)counts, sizeof counts);
    for (size_t i = 0; i < told; i++) {
        const sf_edge_change *edge = order[i];
        const float row[9] = {(float)edge->from,
                              (float)edge->to,
                              (float)edge->delay.low_ns * 1e-6F,
                              (float)edge->delay.high_ns * 1e-6F,
                              edge->count > 0 ? (float)edge->count : NAN,
                              (float)edge->weight,
                              (float)edge->p,
                              (float)edge->q,
                              (float)edge->least_q};
        sf_text_append(frame, (const char *)row, sizeof row);
    }
    sf_free(order);
}

void sf_web_edges_free(sf_web_edges *edges)
{
    sf_free(edges->items);
    *edges = (sf_web_edges){0};
}
