/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_patterns [DEVICE]   cuda, or none: the CPU alone
 *
 * What patterns and the triad census cost a hop: random graphs of so many units and directed edges, patterns
 * on one thread, as a hop has it, on the device, and where `auto` chooses. The median of several searches;
 * making the index of the graph is apart. The same counts are found on both.
 */
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"
#include "graph/match/match.h"
#include "graph/motif/census.h"
#include "graph/motif/motif.h"

#include <Random123/philox.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TIMES 5

static const char *const patterns[] = {"reciprocal-pair", "feed-forward-loop", "chain-4",
                                       "A -> B; B -> C; C -> D; D -> A",
                                       "A -> B; A -> C; A -> D; B -> C; B -> D; C -> D"};

static int draw(sf_csr *graph, uint32_t units, uint32_t each)
{
    uint64_t count = 0;
    *graph = (sf_csr){.vertex_count = units,
                      .directed = true,
                      .offsets = sf_alloc(units + 1, sizeof *graph->offsets),
                      .targets = sf_alloc((size_t)units * units, sizeof *graph->targets)};
    if (graph->offsets == NULL || graph->targets == NULL) return SF_NO_MEMORY;
    for (uint32_t from = 0; from < units; from++) {
        graph->offsets[from] = count;
        for (uint32_t to = 0; to < units; to++) {
            philox4x32_ctr_t counter = {{from, to, 0, 0}};
            philox4x32_key_t key = {{7, 0}};
            if (from != to && philox4x32(counter, key).v[0] % units < each) graph->targets[count++] = to;
        }
    }
    graph->offsets[units] = count;
    return SF_OK;
}

/* One way to search. */
typedef struct way {
    const char *device; /* NULL: auto */
    double ms;
    uint64_t count;
    char ran[32];
} way;

static int search(way *w, sf_match_index *index, const sf_pattern *pattern, sf_error *error)
{
    double took[TIMES];
    sf_match_options options = {.threads = 1, .device = w->device};
    for (size_t i = 0; i < TIMES; i++) {
        sf_match_result result;
        double start = sf_clock_seconds();
        int status = sf_match_run(index, pattern, &options, &result, NULL, error);
        if (status != SF_OK) return status;
        took[i] = (sf_clock_seconds() - start) * 1e3;
        w->count = result.count;
        memcpy(w->ran, result.ran.device, sizeof w->ran);
        sf_match_result_free(&result);
    }
    sf_reals_sort(took, TIMES);
    w->ms = took[TIMES / 2];
    return SF_OK;
}

static int compare(sf_match_index *index, const char *text, const char *device, sf_error *error)
{
    sf_pattern pattern;
    way ways[] = {{"cpu", 0, 0, ""}, {device, 0, 0, ""}, {NULL, 0, 0, ""}};
    int status = sf_motif_of_text(&pattern, text, error);
    if (status != SF_OK) return status;
    for (size_t i = 0; i < 3 && status == SF_OK; i++)
        if (i != 1 || device != NULL) status = search(&ways[i], index, &pattern, error);
    if (status == SF_OK)
        printf("  %-46s cpu %9.2f ms, device %9.2f, auto %9.2f on %s; %" PRIu64 "%s\n", text, ways[0].ms,
               ways[1].ms, ways[2].ms, ways[2].ran, ways[0].count,
               ways[0].count == ways[2].count && (device == NULL || ways[0].count == ways[1].count)
                   ? ""
                   : " DIFFERENT");
    sf_pattern_free(&pattern);
    return status;
}

static int take_census(const sf_csr *graph, unsigned threads, sf_error *error)
{
    double took[TIMES];
    uint64_t census[SF_TRIADS];
    for (size_t i = 0; i < TIMES; i++) {
        double start = sf_clock_seconds();
        int status = sf_triad_census(census, graph, threads, NULL, error);
        if (status != SF_OK) return status;
        took[i] = (sf_clock_seconds() - start) * 1e3;
    }
    sf_reals_sort(took, TIMES);
    printf("  census on %2u threads %35.2f ms\n", threads, took[TIMES / 2]);
    return SF_OK;
}

static int bench(uint32_t units, uint32_t each, const char *device, sf_error *error)
{
    sf_csr graph;
    sf_match_index *index = NULL;
    int status = draw(&graph, units, each);
    double start = sf_clock_seconds();
    if (status == SF_OK) status = sf_match_open(&index, &graph, error);
    if (status == SF_OK)
        printf("%" PRIu32 " units, %" PRIu64 " edges, index %.2f ms\n", units, graph.offsets[units],
               (sf_clock_seconds() - start) * 1e3);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && status == SF_OK; i++)
        status = compare(index, patterns[i], device, error);
    if (status == SF_OK) status = take_census(&graph, 1, error);
    if (status == SF_OK) status = take_census(&graph, sf_thread_cores(), error);
    fflush(stdout);
    sf_match_close(index);
    sf_csr_free(&graph);
    return status;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : NULL;
    static const uint32_t jobs[][2] = {{60, 20}, {512, 20}, {1240, 20}, {4096, 5}, {4096, 20}, {4096, 60}};
    sf_error error = {.text = "out of memory"};
    sf_device *started = NULL;
    int status = device != NULL ? sf_device_find(&started, device, &error) : SF_OK;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs && status == SF_OK; i++)
        status = bench(jobs[i][0], jobs[i][1], device, &error);
    if (status != SF_OK) fprintf(stderr, "bench_patterns: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
