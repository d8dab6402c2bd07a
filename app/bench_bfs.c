/* SPDX-License-Identifier: Apache-2.0 */
/* bench bfs: every way of searching on one Kronecker graph, from the same 64 random sources. */
#include "app/bench.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/thread.h"
#include "graph/bfs.h"
#include "graph/kronecker.h"

#include <Random123/philox.h>
#include <stdlib.h>

enum { SOURCES = 64 };

typedef struct benchmark {
    const app_call *call;
    sf_csr graph;
    uint64_t seed;
    unsigned threads;
    uint32_t sources[SOURCES];
    double seconds[SOURCES];
    double edges[SOURCES];
    double plain_seconds; /**< of all sources by the queue */
} benchmark;

static int prepare(benchmark *b, sf_error *error)
{
    sf_kronecker kind;
    uint64_t threads = sf_thread_cores();
    int status = app_uint(b->call, "threads", 1, 1024, &threads, error);
    if (status == SF_OK)
        status = sf_kronecker_parse(&kind, app_value(b->call, "kronecker", "20:16:1"), error);
    if (status != SF_OK)
        return status;
    b->seed = kind.seed;
    b->threads = (unsigned)threads;
    sf_edge_list list;
    status = sf_kronecker_edges(&list, &kind, b->threads, error);
    if (status == SF_OK)
        status = sf_csr_build(&b->graph, &list, SF_CSR_SIMPLE, error);
    sf_edge_list_free(&list);
    return status;
}

/* Random vertices with an edge, drawn by the seed of the graph; the same ones may come twice. */
static void draw_sources(benchmark *b)
{
    uint32_t counter = 0;
    for (size_t i = 0; i < SOURCES; i++) {
        do {
            philox4x32_key_t key = {{(uint32_t)b->seed, (uint32_t)(b->seed >> 32)}};
            philox4x32_ctr_t at = {{counter++, 0, 0, 0xbf5}};
            b->sources[i] = philox4x32(at, key).v[0] % b->graph.vertex_count;
        } while (sf_csr_degree(&b->graph, b->sources[i]) == 0);
    }
}

static int compare(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static void report(benchmark *b, app_bench_rows *rows, const char *search, unsigned threads,
                   double preparation)
{
    double total = 0, inverse = 0;
    for (size_t i = 0; i < SOURCES; i++) {
        total += b->seconds[i];
        inverse += b->seconds[i] / b->edges[i];
    }
    qsort(b->seconds, SOURCES, sizeof *b->seconds, compare);
    if (b->plain_seconds == 0)
        b->plain_seconds = total;
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "search", search);
    app_bench_number(rows, "threads", threads);
    app_bench_number(rows, "vertices", b->graph.vertex_count);
    app_bench_number(rows, "edges", (double)sf_csr_edge_count(&b->graph));
    app_bench_number(rows, "median_ms", b->seconds[SOURCES / 2] * 1e3);
    app_bench_number(rows, "teps", SOURCES / inverse);
    app_bench_number(rows, "ratio", b->plain_seconds / total);
    app_bench_number(rows, "preparation_ms", preparation * 1e3);
}

static bool go_on(const benchmark *b, const char *search, size_t done)
{
    sf_progress progress = app_progress(b->call);
    return sf_progress_update(&progress, search, (double)done, SOURCES);
}

static int run_queue(benchmark *b, app_bench_rows *rows, sf_error *error)
{
    static const char name[] = "queue";
    for (size_t i = 0; i < SOURCES; i++) {
        sf_bfs_result result;
        if (!go_on(b, name, i))
            return sf_fail(error, SF_CANCELLED, NULL, "was stopped");
        int status = sf_bfs(&result, &b->graph, b->sources[i], UINT32_MAX, error);
        if (status != SF_OK)
            return status;
        b->seconds[i] = result.seconds;
        b->edges[i] = (double)result.edges;
        sf_bfs_result_free(&result);
    }
    report(b, rows, name, 1, 0);
    return SF_OK;
}

static int run_search(benchmark *b, app_bench_rows *rows, const sf_bfs_options *options, sf_error *error)
{
    static const char *const names[] = {"auto", "top-down", "bottom-up"};
    const char *name = options->sorted ? "auto, sorted lists" : names[options->direction];
    sf_bfs_search *search;
    sf_bfs_result result = {0};
    int status = sf_bfs_open(&search, &b->graph, options, error);
    if (status != SF_OK)
        return status;
    status = sf_bfs_run(search, b->sources[0], &result, error); /* the first one touches fresh memory */
    for (size_t i = 0; i < SOURCES && status == SF_OK; i++) {
        if (!go_on(b, name, i))
            status = sf_fail(error, SF_CANCELLED, NULL, "was stopped");
        else
            status = sf_bfs_run(search, b->sources[i], &result, error);
        b->seconds[i] = result.seconds;
        b->edges[i] = (double)result.edges;
    }
    if (status == SF_OK)
        report(b, rows, name, options->threads, sf_bfs_preparation(search));
    sf_bfs_result_free(&result);
    sf_bfs_close(search);
    return status;
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    benchmark b = {.call = call};
    int status = prepare(&b, error);
    if (status == SF_OK && sf_csr_edge_count(&b.graph) == 0)
        status = sf_fail(error, SF_USAGE, "--kronecker", "gives a graph without edges");
    if (status == SF_OK) {
        draw_sources(&b);
        status = run_queue(&b, rows, error);
    }
    const sf_bfs_options ways[] = {{.direction = SF_BFS_TOP_DOWN, .threads = b.threads},
                                   {.direction = SF_BFS_BOTTOM_UP, .threads = b.threads},
                                   {.direction = SF_BFS_AUTO, .threads = 1},
                                   {.direction = SF_BFS_AUTO, .threads = 1, .sorted = true},
                                   {.direction = SF_BFS_AUTO, .threads = b.threads},
                                   {.direction = SF_BFS_AUTO, .threads = b.threads, .sorted = true}};
    size_t count = sizeof ways / sizeof ways[0] - (b.threads > 1 ? 0 : 2);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = run_search(&b, rows, &ways[i], error);
    sf_csr_free(&b.graph);
    return status;
}

const app_bench app_bench_bfs = {.name = "bfs", .run = run};
