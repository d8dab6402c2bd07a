/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long rewired graphs take, on the CPU and on every device: for their census, and for a pattern that is
 * counted on the CPU.
 *   bench_rewire [GRAPHS [DEVICE [THREADS]]]
 * Graphs as recordings of 26 to 4,096 units give them. A time is the best of three runs; the sum is
 * that of all means, the same everywhere.
 */
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/random.h"
#include "core/text.h"
#include "core/thread.h"
#include "graph/motif/census.h"
#include "graph/motif/rewire.h"
#include "graph/motif/spread.h"
#include "io/graph/pattern.h"

#include <math.h>
#include <stdio.h>

enum { RUNS = 3, SIZES = 6 };

static const struct {
    uint32_t vertices, edges;
} sizes[SIZES] = {{26, 441}, {60, 1200}, {419, 4647}, {800, 20000}, {1024, 30000}, {4096, 120000}};

static int draw(sf_csr *graph, uint32_t vertices, uint32_t edges, sf_error *error)
{
    sf_edge_list list = {.directed = true};
    sf_random random = sf_random_start(1, vertices);
    int status = sf_edge_list_set_vertices(&list, vertices, error);
    for (uint32_t e = 0; e < edges && status == SF_OK; e++) {
        double hub = sf_random_uniform(&random); /* ends crowd at the first vertices */
        uint32_t from = (uint32_t)(hub * sqrt(hub) * vertices);
        uint32_t to = (uint32_t)sf_random_below(&random, vertices);
        status = from != to ? sf_edge_list_add(&list, from, to, error) : SF_OK;
    }
    if (status == SF_OK) status = sf_csr_build(graph, &list, SF_CSR_DROP_DUPLICATES, error);
    sf_edge_list_free(&list);
    return status;
}

/* One measure on one device; sum is that of all means, by which devices can be compared. */
static int measure(const sf_csr *graph, const sf_measure *taken, const sf_rewired_options *options,
                   sf_ran *place, double *best, double *sum, sf_error *error)
{
    sf_spread spreads[SF_TRIADS];
    double counts[SF_TRIADS] = {0};
    *best = INFINITY;
    for (int run = 0; run < RUNS; run++) {
        double start = sf_clock_seconds();
        int status = sf_spread_find(spreads, counts, graph, taken, options, place, NULL, error);
        if (status != SF_OK) return status;
        *best = fmin(*best, sf_clock_seconds() - start);
    }
    *sum = 0;
    for (size_t i = 0; i < taken->count; i++)
        *sum += spreads[i].mean;
    return SF_OK;
}

static int print_row(int size, const sf_rewired_options *options, sf_error *error)
{
    sf_csr graph;
    sf_pattern loop = {0};
    const sf_match_options searched = {.device = "cpu"};
    const sf_pattern_set set = {&loop, &searched, 1};
    const sf_measure taken[2] = {sf_measure_census(), sf_measure_patterns(&set)};
    sf_ran place;
    double seconds[2] = {0}, sums[2] = {0};
    int status = draw(&graph, sizes[size].vertices, sizes[size].edges, error);
    if (status != SF_OK) return status;
    status = sf_motif_read(&loop, "feed-forward-loop", true, error);
    for (int i = 0; i < 2 && status == SF_OK; i++)
        status = measure(&graph, &taken[i], options, &place, &seconds[i], &sums[i], error);
    if (status == SF_OK)
        printf("| %u | %llu | %u | %s | %u | %.4f | %.4f | %.6f %.6f | %s\n", graph.vertex_count,
               (unsigned long long)sf_csr_edge_count(&graph), options->graphs, place.device, options->threads,
               seconds[0], seconds[1], sums[0], sums[1], place.note);
    fflush(stdout);
    sf_pattern_free(&loop);
    sf_csr_free(&graph);
    return status;
}

static int print_rows(sf_rewired_options options, const char *device, sf_error *error)
{
    int status = SF_OK;
    options.device = device;
    for (int size = 0; size < SIZES && status == SF_OK; size++)
        status = print_row(size, &options, error);
    return status;
}

int main(int count, char **arguments)
{
    uint64_t graphs = 1000, threads = sf_thread_cores();
    sf_error error = {0};
    if ((count > 1 && (!sf_parse_uint(arguments[1], 1000000, &graphs) || graphs < 2)) ||
        (count > 3 && (!sf_parse_uint(arguments[3], 4096, &threads) || threads < 1))) {
        fprintf(stderr, "expected [GRAPHS [DEVICE [THREADS]]]\n");
        return 1;
    }
    sf_rewired_options options = {.graphs = (uint32_t)graphs, .seed = 1, .threads = (unsigned)threads};
    printf("| vertices | edges | graphs | device | threads | census, s | feed-forward loops, s | sums |\n"
           "|---|---|---|---|---|---|---|---|\n");
    int status = print_rows(options, count > 2 ? arguments[2] : "cpu", &error);
    for (uint32_t i = 0; count <= 2 && status == SF_OK && i < sf_device_count(); i++)
        status = print_rows(options, sf_device_name(sf_device_at(i)), &error);
    if (status != SF_OK) fprintf(stderr, "%s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
