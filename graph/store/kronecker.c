/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/store/kronecker.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SCALE = 31, BLOCK = 1 << 16 };

/* A,B,C: three chances, and something left for the fourth. */
static int parse_chances(sf_kronecker *graph, const char *text, sf_error *error)
{
    char a[32], b[32], c[32], rest;
    if (sscanf(text, "%31[^,],%31[^,],%31[^,]%c", a, b, c, &rest) == 3 && sf_parse_real(a, &graph->a) &&
        sf_parse_real(b, &graph->b) && sf_parse_real(c, &graph->c) && graph->a > 0 && graph->b >= 0 &&
        graph->c >= 0 && graph->a + graph->b + graph->c < 1)
        return SF_OK;
    return sf_fail(
        error, SF_USAGE, NULL,
        "has the chances '%s', expected A,B,C such as 0.45,0.15,0.15: A over 0, and less than 1 in "
        "all",
        text);
}

int sf_kronecker_parse(sf_kronecker *graph, const char *text, sf_error *error)
{
    char scale[32], factor[32], seed[32], chances[96] = "", rest;
    uint64_t value;
    *graph = (sf_kronecker){0};
    int found = sscanf(text, "%31[^:]:%31[^:]:%31[^:]:%95[^:]%c", scale, factor, seed, chances, &rest);
    size_t colons = 0;
    for (const char *at = text; (at = strchr(at, ':')) != NULL; at++)
        colons++;
    if ((found != 3 && found != 4) || colons + 1 != (size_t)found)
        return sf_fail(error, SF_USAGE, NULL,
                       "is '%s', expected SCALE:EDGEFACTOR:SEED such as 20:16:1, or with chances "
                       "20:16:1:0.45,0.15,0.15",
                       text);
    if (!sf_parse_uint(scale, MOST_SCALE, &value) || value == 0)
        return sf_fail(error, SF_USAGE, NULL, "has the scale '%s', expected 1 to %d", scale, MOST_SCALE);
    graph->scale = (unsigned)value;
    if (!sf_parse_uint(factor, 1 << 20, &graph->edge_factor) || graph->edge_factor == 0)
        return sf_fail(error, SF_USAGE, NULL, "has the edge factor '%s', expected 1 to %d", factor, 1 << 20);
    if (!sf_parse_uint(seed, UINT64_MAX, &graph->seed))
        return sf_fail(error, SF_USAGE, NULL, "has the seed '%s', expected an integer", seed);
    return found == 4 ? parse_chances(graph, chances, error) : SF_OK;
}

typedef struct drawing {
    const sf_kronecker *graph;
    sf_edge *edges;
    uint64_t count;
    const sf_progress *progress;
} drawing;

static int draw_block(void *context, unsigned worker, size_t block)
{
    const drawing *d = context;
    if (worker == 0 &&
        !sf_progress_update(d->progress, "drawing edges", (double)block * BLOCK, (double)d->count))
        return SF_CANCELLED; /* worker 0 is the caller's thread */
    uint64_t stop = (block + 1) * (uint64_t)BLOCK < d->count ? (block + 1) * (uint64_t)BLOCK : d->count;
    for (uint64_t i = block * (uint64_t)BLOCK; i < stop; i++)
        d->edges[i] = sf_kronecker_edge(d->graph, i);
    return 0;
}

int sf_kronecker_edges(sf_edge_list *list, const sf_kronecker *graph, unsigned threads,
                       const sf_progress *progress, sf_error *error)
{
    uint64_t count = graph->edge_factor << graph->scale;
    *list = (sf_edge_list){.vertex_count = UINT32_C(1) << graph->scale,
                           .edges = sf_resize(NULL, count, sizeof *list->edges)};
    if (list->edges == NULL) return sf_fail_memory(error);
    list->edge_count = list->edge_capacity = count;
    drawing d = {.graph = graph, .edges = list->edges, .count = count, .progress = progress};
    if (sf_parallel_for(threads, (count + BLOCK - 1) / BLOCK, draw_block, &d) == 0) return SF_OK;
    sf_edge_list_free(list);
    return sf_fail(error, SF_CANCELLED, NULL, "was stopped while edges were drawn");
}
