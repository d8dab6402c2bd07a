/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_reach [DEVICE]   cuda, or none: the CPU alone
 *
 * What searches from every unit cost a hop: random graphs of so many units and directed edges, as far as they
 * reach and as far as four hops. The median of several; on the device with the copy of the graph there and
 * of the counts back. The same counts are found on both.
 */
#include "analysis/connectivity.h"
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/reals.h"

#include <Random123/philox.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TIMES 11

typedef struct job {
    uint32_t units, each; /* edges that leave a unit */
    uint32_t hops;
} job;

static int draw(sf_csr *graph, const job *j)
{
    uint64_t edges = (uint64_t)j->units * j->each;
    *graph = (sf_csr){.vertex_count = j->units,
                      .directed = true,
                      .offsets = sf_alloc(j->units + 1, sizeof *graph->offsets),
                      .targets = sf_alloc(edges, sizeof *graph->targets)};
    if (graph->offsets == NULL || graph->targets == NULL) return SF_NO_MEMORY;
    for (uint32_t v = 0; v <= j->units; v++)
        graph->offsets[v] = (uint64_t)v * j->each;
    for (uint64_t e = 0; e < edges; e++) {
        philox4x32_ctr_t counter = {{(uint32_t)e, 1, 0, 0}};
        philox4x32_key_t key = {{7, 0}};
        graph->targets[e] = philox4x32(counter, key).v[0] % j->units;
    }
    return SF_OK;
}

static int run(sf_reach_counts *counts, double *ms, const job *j, const sf_csr *graph, sf_device *device,
               sf_error *error)
{
    double took[TIMES];
    for (size_t i = 0; i < TIMES; i++) {
        sf_reach_counts_free(counts);
        double start = sf_clock_seconds();
        int status = sf_connectivity_reach_all(counts, graph, j->hops, device, error);
        took[i] = (sf_clock_seconds() - start) * 1e3;
        if (status != SF_OK) return status;
    }
    sf_reals_sort(took, TIMES);
    *ms = took[TIMES / 2];
    return SF_OK;
}

static bool are_same(const sf_reach_counts *a, const sf_reach_counts *b, uint32_t units)
{
    return memcmp(a->reached, b->reached, units * sizeof *a->reached) == 0 &&
           memcmp(a->depth, b->depth, units * sizeof *a->depth) == 0;
}

static int compare(const job *j, sf_device *device, sf_error *error)
{
    sf_csr graph;
    sf_reach_counts here = {0}, there = {0};
    double here_ms = 0, there_ms = 0;
    int status = draw(&graph, j);
    if (status == SF_OK) status = run(&here, &here_ms, j, &graph, NULL, error);
    if (status == SF_OK && device != NULL) status = run(&there, &there_ms, j, &graph, device, error);
    if (status == SF_OK && device != NULL && !are_same(&here, &there, j->units)) {
        snprintf(error->text, sizeof error->text, "the counts differ");
        status = SF_INTERNAL;
    }
    if (status == SF_OK) {
        printf("%6" PRIu32 " units, %8" PRIu64 " edges, ", j->units, (uint64_t)j->units * j->each);
        if (j->hops == UINT32_MAX)
            printf("all hops");
        else
            printf("%" PRIu32 " hops", j->hops);
        printf(": cpu %.2f ms", here_ms);
        if (device != NULL) printf(", %s %.2f ms", sf_device_name(device), there_ms);
        printf("\n");
    }
    sf_reach_counts_free(&here);
    sf_reach_counts_free(&there);
    sf_csr_free(&graph);
    return status;
}

int main(int argc, char **argv)
{
    static const job jobs[] = {{60, 10, UINT32_MAX},  {512, 20, UINT32_MAX}, {1024, 20, UINT32_MAX},
                               {4096, 2, UINT32_MAX}, {4096, 20, 4},         {4096, 20, UINT32_MAX},
                               {4096, 200, 4},        {20000, 20, 4}};
    sf_error error = {.text = "out of memory"};
    sf_device *device = NULL;
    int status = argc > 1 ? sf_device_find(&device, argv[1], &error) : SF_OK;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0] && status == SF_OK; i++)
        status = compare(&jobs[i], device, &error);
    if (status != SF_OK) fprintf(stderr, "bench_reach: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
