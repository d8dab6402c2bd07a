/* SPDX-License-Identifier: Apache-2.0 */
/* bench bfs: every way of searching on one Kronecker graph, or that of a file, from the same 64 random
 * sources; what rules of switching direction read; and how searching goes faster with threads. */
#include "bench/command/bench.h"
#include "bench/command/bfs_rules.h"

#include "core/backend/find.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/reals.h"
#include "core/thread.h"
#include "graph/search/device.h"
#include "graph/store/kronecker.h"
#include "io/graph/file.h"

#include <Random123/philox.h>
#include <math.h>
#include <string.h>

enum { SOURCES = 64 };

typedef struct benchmark {
    const app_call *call;
    sf_csr graph;
    const char *file; /**< of the graph; NULL: it is drawn */
    sf_kronecker kind;
    /** Of each source: edges of its component as they were drawn or listed, loops and repeats among them and
     * each counted once, as Graph500 has it; NaN where they are not here. */
    double tuples[SOURCES];
    unsigned threads;
    uint32_t sources[SOURCES];
    double seconds[SOURCES];
    double edges[SOURCES];
    double graph_seconds; /**< drawing the graph and sorting it into lists */
    double first_seconds; /**< of all sources, by the first way: on the CPU the plain queue */
} benchmark;

static int parse(benchmark *b, sf_error *error)
{
    app_bench_options options;
    int status = app_bench_read(&options, b->call, error);
    b->threads = options.threads;
    b->file = app_value(b->call, "graph", NULL);
    if (status == SF_OK && b->file != NULL && app_has(b->call, "kronecker"))
        status = sf_fail(error, SF_USAGE, "--graph", "does not go with --kronecker: it is the graph");
    if (status == SF_OK)
        status = sf_kronecker_parse(&b->kind, app_value(b->call, "kronecker", "20:16:1"), error);
    for (size_t i = 0; i < SOURCES; i++)
        b->tuples[i] = NAN;
    return status;
}

static int make_list(const benchmark *b, sf_edge_list *list, sf_error *error)
{
    if (b->file == NULL) return sf_kronecker_edges(list, &b->kind, b->threads, NULL, error);
    int status = sf_graph_read(list, b->file, NULL, error);
    if (status == SF_OK) list->directed = false; /* as Graph500 has graphs */
    return status;
}

static int draw_sources(benchmark *b, sf_error *error);

/* Edges of the list in the component of each source. */
static int count_tuples(benchmark *b, const sf_edge_list *list, sf_error *error)
{
    uint32_t n = b->graph.vertex_count;
    uint32_t *component = sf_resize(NULL, n, sizeof *component);
    uint64_t *edges = sf_alloc(n, sizeof *edges);
    if (component == NULL || edges == NULL) {
        sf_free(component);
        sf_free(edges);
        return sf_fail_memory(error);
    }
    sf_components(&b->graph, component);
    for (uint64_t e = 0; e < list->edge_count; e++)
        edges[component[list->edges[e].from]]++;
    for (size_t i = 0; i < SOURCES; i++)
        b->tuples[i] = (double)edges[component[b->sources[i]]];
    sf_free(component);
    sf_free(edges);
    return SF_OK;
}

/* The graph, its sources, and what Graph500 counts for each. */
static int build(benchmark *b, sf_error *error)
{
    sf_edge_list list;
    double start = sf_clock_seconds();
    int status = make_list(b, &list, error);
    if (status != SF_OK) return status;
    status = sf_csr_build(&b->graph, &list, SF_CSR_SIMPLE, error);
    b->graph_seconds = sf_clock_seconds() - start;
    if (status == SF_OK) status = draw_sources(b, error);
    if (status == SF_OK) status = count_tuples(b, &list, error);
    sf_edge_list_free(&list);
    return status;
}

/* Random vertices with an edge, drawn by the seed of the graph; the same ones may come twice. */
static int draw_sources(benchmark *b, sf_error *error)
{
    if (sf_csr_edge_count(&b->graph) == 0)
        return sf_fail(error, SF_USAGE, b->file != NULL ? "--graph" : "--kronecker",
                       "gives a graph without edges");
    uint32_t counter = 0;
    for (size_t i = 0; i < SOURCES; i++) {
        do {
            philox4x32_key_t key = {{(uint32_t)b->kind.seed, (uint32_t)(b->kind.seed >> 32)}};
            philox4x32_ctr_t at = {{counter++, 0, 0, 0xbf5}};
            b->sources[i] = philox4x32(at, key).v[0] % b->graph.vertex_count;
        } while (sf_csr_degree(&b->graph, b->sources[i]) == 0);
    }
    return SF_OK;
}

/* What a search must move at least: levels and parents of all vertices, and a twentieth of the edges, which
 * is what a direction-optimising search looks at (4.8 % measured by Liu and Huang). */
static double floor_bytes(const benchmark *b)
{
    return 8.0 * b->graph.vertex_count + 0.05 * 4 * (double)sf_csr_edge_count(&b->graph);
}

static void report(benchmark *b, app_bench_rows *rows, const char *device, const char *search,
                   unsigned threads, double preparation)
{
    double total = 0, inverse = 0, inverse_tuples = 0, rates[SOURCES];
    for (size_t i = 0; i < SOURCES; i++) {
        total += b->seconds[i];
        rates[i] = b->edges[i] / b->seconds[i];
        inverse += b->seconds[i] / b->edges[i];
        inverse_tuples += b->seconds[i] / b->tuples[i];
    }
    sf_reals_sort(b->seconds, SOURCES);
    sf_reals_sort(rates, SOURCES);
    if (b->first_seconds == 0) b->first_seconds = total;
    double median = b->seconds[SOURCES / 2];
    app_bench_row(rows, device);
    app_bench_text(rows, "search", search);
    app_bench_number(rows, "threads", threads);
    app_bench_number(rows, "vertices", b->graph.vertex_count);
    app_bench_number(rows, "edges", (double)sf_csr_edge_count(&b->graph));
    app_bench_number(rows, "median_ms", median * 1e3);
    app_bench_number(rows, "worst_ms", b->seconds[SOURCES - 1] * 1e3);
    app_bench_number(rows, "teps", SOURCES / inverse);
    app_bench_number(rows, "median_teps", rates[(SOURCES - 1) / 2]);
    app_bench_number(rows, "graph500_teps", SOURCES / inverse_tuples);
    app_bench_number(rows, "ratio", b->first_seconds / total);
    app_bench_number(rows, "floor_mb", floor_bytes(b) * 1e-6);
    app_bench_number(rows, "floor_gb_per_s", floor_bytes(b) / median * 1e-9);
    app_bench_number(rows, "preparation_ms", preparation * 1e3);
    app_bench_number(rows, "graph_ms", b->graph_seconds * 1e3);
}

/* The source whose time is the median. */
static uint32_t median_source(const benchmark *b)
{
    double sorted[SOURCES];
    memcpy(sorted, b->seconds, sizeof sorted);
    sf_reals_sort(sorted, SOURCES);
    size_t middle = 0;
    while (b->seconds[middle] != sorted[SOURCES / 2])
        middle++;
    return b->sources[middle];
}

/* The levels of a search, as rows. */
static void report_levels(app_bench_rows *rows, const char *device, const char *search, uint32_t source,
                          double seconds, const sf_backend_level *levels, uint32_t count)
{
    for (uint32_t level = 0; level < count; level++) {
        app_bench_row(rows, device);
        app_bench_text(rows, "search", search);
        app_bench_number(rows, "source", source);
        app_bench_number(rows, "level", level);
        app_bench_text(rows, "direction", levels[level].bottom_up ? "bottom-up" : "top-down");
        app_bench_number(rows, "found", (double)levels[level].found);
        app_bench_number(rows, "us", levels[level].seconds * 1e6);
        app_bench_number(rows, "search_us", seconds * 1e6);
    }
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
        if (!go_on(b, name, i)) return sf_fail(error, SF_CANCELLED, NULL, "was stopped");
        int status = sf_bfs(&result, &b->graph, b->sources[i], UINT32_MAX, error);
        if (status != SF_OK) return status;
        b->seconds[i] = result.seconds;
        b->edges[i] = (double)result.edges;
        sf_bfs_result_free(&result);
    }
    if (!app_has(b->call, "levels")) report(b, rows, "cpu", name, 1, 0);
    return SF_OK;
}

static int run_search(benchmark *b, app_bench_rows *rows, const sf_bfs_options *options, sf_error *error)
{
    static const char *const names[] = {"auto", "top-down", "bottom-up"};
    const char *name = options->sorted ? "auto, sorted lists" : names[options->direction];
    sf_bfs_search *search;
    sf_bfs_result result = {0};
    int status = sf_bfs_open(&search, &b->graph, options, error);
    if (status != SF_OK) return status;
    status = sf_bfs_run(search, b->sources[0], &result, error); /* the first one touches fresh memory */
    for (size_t i = 0; i < SOURCES && status == SF_OK; i++) {
        if (!go_on(b, name, i))
            status = sf_fail(error, SF_CANCELLED, NULL, "was stopped");
        else
            status = sf_bfs_run(search, b->sources[i], &result, error);
        b->seconds[i] = result.seconds;
        b->edges[i] = (double)result.edges;
    }
    bool levels = app_has(b->call, "levels");
    if (status == SF_OK && levels) status = sf_bfs_run(search, median_source(b), &result, error);
    if (status == SF_OK && levels)
        report_levels(rows, "cpu", name, median_source(b), result.seconds, sf_bfs_levels(search),
                      result.depth + 1);
    else if (status == SF_OK)
        report(b, rows, "cpu", name, options->threads, sf_bfs_preparation(search));
    sf_bfs_result_free(&result);
    sf_bfs_close(search);
    return status;
}

static int run_on_cpu(benchmark *b, app_bench_rows *rows, sf_error *error)
{
    int status = build(b, error);
    if (status == SF_OK) status = run_queue(b, rows, error);
    const sf_bfs_options ways[] = {{.direction = SF_BFS_TOP_DOWN, .threads = b->threads},
                                   {.direction = SF_BFS_BOTTOM_UP, .threads = b->threads},
                                   {.direction = SF_BFS_AUTO, .threads = 1},
                                   {.direction = SF_BFS_AUTO, .threads = 1, .sorted = true},
                                   {.direction = SF_BFS_AUTO, .threads = b->threads},
                                   {.direction = SF_BFS_AUTO, .threads = b->threads, .sorted = true}};
    size_t count = sizeof ways / sizeof ways[0] - (b->threads > 1 ? 0 : 2);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = run_search(b, rows, &ways[i], error);
    sf_csr_free(&b->graph);
    return status;
}

/* ---- on devices ---- */

/* A way to search on a device or several. */
typedef struct way {
    const char *name, *device;
    int (*run)(void *search, sf_backend_bfs_job *job, sf_error *error);
    void *search;
    double preparation;
} way;

static int run_on_one(void *search, sf_backend_bfs_job *job, sf_error *error)
{
    return sf_device_search_job(search, job, error);
}

static int run_on_several(void *parts, sf_backend_bfs_job *job, sf_error *error)
{
    return sf_device_parts_job(parts, job, error);
}

/* Every source once, levels and parents left on the device; the first search goes twice. */
static int search_all(benchmark *b, const way *w, sf_error *error)
{
    sf_backend_bfs_job job = {.source = b->sources[0]};
    int status = w->run(w->search, &job, error);
    for (size_t i = 0; i < SOURCES && status == SF_OK; i++) {
        if (!go_on(b, w->name, i)) return sf_fail(error, SF_CANCELLED, NULL, "was stopped");
        job.source = b->sources[i];
        status = w->run(w->search, &job, error);
        b->seconds[i] = job.seconds;
        b->edges[i] = (double)job.edges;
    }
    return status;
}

/* Once more, from the source whose time is the median. */
static int search_levels(benchmark *b, app_bench_rows *rows, const way *w, sf_error *error)
{
    enum { MOST_LEVELS = 64 };
    sf_backend_level log[MOST_LEVELS];
    sf_backend_bfs_job job = {.source = median_source(b), .log = log, .log_room = MOST_LEVELS};
    int status = w->run(w->search, &job, error);
    uint32_t count = job.depth < MOST_LEVELS ? job.depth + 1 : MOST_LEVELS;
    if (status == SF_OK) report_levels(rows, w->device, w->name, job.source, job.seconds, log, count);
    return status;
}

/* Of the levels of one search where they are asked for, else of all searches. */
static int measure(benchmark *b, app_bench_rows *rows, const way *w, sf_error *error)
{
    int status = search_all(b, w, error);
    if (status == SF_OK && app_has(b->call, "levels")) return search_levels(b, rows, w, error);
    if (status == SF_OK) report(b, rows, w->device, w->name, 0, w->preparation);
    return status;
}

static int run_one_way(benchmark *b, app_bench_rows *rows, const sf_device_graph *graph, const char *name,
                       const sf_backend_search_options *options, sf_error *error)
{
    sf_device_search search;
    int status = sf_device_search_open(&search, graph, options, error);
    if (status != SF_OK) return status;
    way w = {name, sf_device_name(graph->device), run_on_one, &search, search.preparation};
    status = measure(b, rows, &w, error);
    sf_device_search_close(&search);
    return status;
}

/* The fastest way, then Enterprise with one technique more at a time, as in its paper's ablation. */
static const struct {
    const char *name;
    sf_backend_search_options options;
} device_ways[] = {
    {"auto", {0}},
    {"enterprise without features", {.enterprise = true}},
    {"enterprise ts", {.enterprise = true, .features = SF_BFS_TS}},
    {"enterprise ts,wb", {.enterprise = true, .features = SF_BFS_TS | SF_BFS_WB}},
    {"enterprise ts,wb,hc", {.enterprise = true, .features = SF_BFS_TS | SF_BFS_WB | SF_BFS_HC}},
    {"enterprise ts,wb,hc,gamma",
     {.enterprise = true, .features = SF_BFS_TS | SF_BFS_WB | SF_BFS_HC | SF_BFS_GAMMA}},
};
enum { DEVICE_WAYS = sizeof device_ways / sizeof device_ways[0] };

static int run_every_way(benchmark *b, app_bench_rows *rows, const sf_device_graph *graph, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; i < DEVICE_WAYS && status == SF_OK; i++)
        status = run_one_way(b, rows, graph, device_ways[i].name, &device_ways[i].options, error);
    return status;
}

/* Draws the graph and the sources; with the graph on the device, its offsets are here. */
static int draw(benchmark *b, sf_device_graph *graph, sf_device *device, sf_error *error)
{
    double start = sf_clock_seconds();
    *graph = (sf_device_graph){0};
    if (b->file != NULL) {
        int built = build(b, error);
        return built == SF_OK ? sf_device_graph_open(graph, device, &b->graph, error) : built;
    }
    int status = sf_device_graph_generate(graph, device, &b->kind, error);
    b->graph_seconds = sf_clock_seconds() - start;
    if (status == SF_OK) status = sf_device_graph_read(&b->graph, graph, false, error);
    return status == SF_OK ? draw_sources(b, error) : status;
}

static int run_on_device(benchmark *b, app_bench_rows *rows, sf_device *device, sf_error *error)
{
    sf_device_graph graph;
    int status = draw(b, &graph, device, error);
    if (status == SF_OK) status = run_every_way(b, rows, &graph, error);
    sf_device_graph_close(&graph);
    sf_csr_free(&b->graph);
    return status;
}

static int run_in_parts(benchmark *b, app_bench_rows *rows, sf_device *const *devices, uint32_t count,
                        const char *name, const sf_backend_search_options *options, sf_error *error)
{
    sf_device_parts parts;
    int status = sf_device_parts_generate(&parts, devices, count, &b->kind, options, error);
    char device[32];
    snprintf(device, sizeof device, "%u devices", count);
    way w = {name, device, run_on_several, &parts, parts.preparation};
    if (status == SF_OK) status = measure(b, rows, &w, error);
    sf_device_parts_close(&parts);
    return status;
}

/* Every way on one device, then on all of them together. */
static int run_on_devices(benchmark *b, app_bench_rows *rows, sf_device *const *devices, uint32_t count,
                          sf_error *error)
{
    sf_device_graph graph;
    int status = draw(b, &graph, devices[0], error);
    if (status == SF_OK) status = run_every_way(b, rows, &graph, error);
    sf_device_graph_close(&graph);
    for (size_t i = 0; i < DEVICE_WAYS && status == SF_OK; i++)
        status = run_in_parts(b, rows, devices, count, device_ways[i].name, &device_ways[i].options, error);
    sf_csr_free(&b->graph);
    return status;
}

/* ---- rules of switching ---- */

typedef struct rule_sums {
    const char *name;
    double level, reads, bottom_up, saved;
    size_t switched; /* of how many sources it comes before the last level */
} rule_sums;

static void add_up(rule_sums *sums, const app_bfs_switch *found, uint32_t depth)
{
    sums->level += found->level;
    sums->reads += (double)found->reads;
    sums->bottom_up += (double)found->bottom_up;
    sums->saved += (double)found->saved;
    sums->switched += found->level <= depth;
}

static void report_source(app_bench_rows *rows, uint32_t source, const char *rule,
                          const app_bfs_switch *found, const app_bfs_rules *rules)
{
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "rule", rule);
    app_bench_number(rows, "source", source);
    app_bench_number(rows, "switch_level", found->level);
    app_bench_number(rows, "reads", (double)found->reads);
    app_bench_number(rows, "bottom_up_reads", (double)found->bottom_up);
    app_bench_number(rows, "hub_saved", (double)found->saved);
    app_bench_number(rows, "gamma_most", rules->gamma_most);
}

static void report_rule(app_bench_rows *rows, const benchmark *b, const rule_sums *sums, double best,
                        double gamma_most, uint32_t hubs)
{
    double edges = (double)sf_csr_edge_count(&b->graph);
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "rule", sums->name);
    app_bench_number(rows, "vertices", b->graph.vertex_count);
    app_bench_number(rows, "edges", edges);
    app_bench_number(rows, "hubs", hubs);
    app_bench_number(rows, "gamma_most", gamma_most / SOURCES);
    app_bench_number(rows, "switched", (double)sums->switched);
    app_bench_number(rows, "switch_level", sums->level / SOURCES);
    app_bench_number(rows, "reads_share", sums->reads / SOURCES / edges);
    app_bench_number(rows, "over_best", sums->reads / best);
    app_bench_number(rows, "hub_cache_saves", sums->saved / sums->bottom_up);
}

/* gamma against alpha, and what the hub cache saves of the bottom-up reads of each. */
static int run_rules(benchmark *b, app_bench_rows *rows, sf_error *error)
{
    rule_sums sums[] = {
        {.name = "gamma over 30 %"}, {.name = "alpha 14"}, {.name = "the best level"}, {.name = "never"}};
    enum { RULES = sizeof sums / sizeof sums[0] };
    double gamma_most = 0;
    uint64_t tau;
    app_bfs_rules rules = {0};
    int status = app_bfs_tau(&tau, &b->graph, error);
    for (size_t i = 0; i < SOURCES && status == SF_OK; i++) {
        sf_bfs_result result;
        if (!go_on(b, "rules", i)) return sf_fail(error, SF_CANCELLED, NULL, "was stopped");
        status = sf_bfs(&result, &b->graph, b->sources[i], UINT32_MAX, error);
        if (status != SF_OK) return status;
        uint32_t depth = result.depth;
        status = app_bfs_rules_count(&rules, &b->graph, &result, tau, error);
        sf_bfs_result_free(&result);
        if (status != SF_OK) return status;
        const app_bfs_switch *found[RULES] = {&rules.gamma, &rules.alpha, &rules.best, &rules.never};
        for (size_t r = 0; r < RULES; r++) {
            add_up(&sums[r], found[r], depth);
            if (app_has(b->call, "levels"))
                report_source(rows, b->sources[i], sums[r].name, found[r], &rules);
        }
        gamma_most += rules.gamma_most;
    }
    for (size_t r = 0; r < RULES && status == SF_OK && !app_has(b->call, "levels"); r++)
        report_rule(rows, b, &sums[r], sums[2].reads, gamma_most, rules.hubs);
    return status;
}

/* ---- threads ---- */

static int search_with(benchmark *b, unsigned threads, double *teps, double *median, sf_error *error)
{
    const sf_bfs_options options = {.direction = SF_BFS_AUTO, .threads = threads};
    sf_bfs_search *search;
    sf_bfs_result result = {0};
    double edges = 0, seconds = 0;
    int status = sf_bfs_open(&search, &b->graph, &options, error);
    if (status != SF_OK) return status;
    status = sf_bfs_run(search, b->sources[0], &result, error);
    for (size_t i = 0; i < SOURCES && status == SF_OK; i++) {
        status = go_on(b, "scaling", i) ? sf_bfs_run(search, b->sources[i], &result, error)
                                        : sf_fail(error, SF_CANCELLED, NULL, "was stopped");
        b->seconds[i] = result.seconds;
        seconds += result.seconds;
        edges += (double)result.edges;
    }
    sf_bfs_result_free(&result);
    sf_bfs_close(search);
    sf_reals_sort(b->seconds, SOURCES);
    *median = b->seconds[SOURCES / 2];
    *teps = edges / seconds; /* a source in a component of two vertices weighs little */
    return status;
}

static void report_scaling(app_bench_rows *rows, const benchmark *b, const char *kind, unsigned threads,
                           double median, double teps, double first)
{
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "scaling", kind);
    app_bench_number(rows, "threads", threads);
    app_bench_number(rows, "vertices", b->graph.vertex_count);
    app_bench_number(rows, "edges", (double)sf_csr_edge_count(&b->graph));
    app_bench_number(rows, "median_ms", median * 1e3);
    app_bench_number(rows, "teps", teps);
    app_bench_number(rows, "speedup", teps / first);
    app_bench_number(rows, "efficiency", teps / first / threads);
}

/* On 1, 2, 4, ... threads: strong, the same graph; weak, one that has twice the vertices for twice the
 * threads, and so the same of each. */
static int run_scaling(benchmark *b, app_bench_rows *rows, bool weak, sf_error *error)
{
    double first = 0, teps = 0, median = 0;
    const sf_kronecker kind = b->kind;
    int status = weak ? SF_OK : build(b, error);
    for (unsigned threads = 1; threads <= b->threads && status == SF_OK; threads *= 2) {
        if (weak) status = build(b, error);
        if (status == SF_OK) status = search_with(b, threads, &teps, &median, error);
        first = threads == 1 ? teps : first;
        if (status == SF_OK) report_scaling(rows, b, weak ? "weak" : "strong", threads, median, teps, first);
        if (weak) sf_csr_free(&b->graph);
        b->kind.scale += weak;
    }
    sf_csr_free(&b->graph);
    b->kind = kind;
    return status;
}

static int run_counted(benchmark *b, app_bench_rows *rows, sf_error *error)
{
    int status = build(b, error);
    if (status == SF_OK) status = run_rules(b, rows, error);
    sf_csr_free(&b->graph);
    return status;
}

static const char *const parts[] = {"ways", "rules", "scaling", NULL};

static int run_parts(benchmark *b, app_bench_rows *rows, sf_error *error)
{
    bool named = b->call->argument_count > 1;
    int status = SF_OK;
    if (app_bench_wants(b->call, "ways")) status = run_on_cpu(b, rows, error);
    if (status == SF_OK && named && app_bench_wants(b->call, "rules")) status = run_counted(b, rows, error);
    if (status == SF_OK && named && app_bench_wants(b->call, "scaling"))
        status = run_scaling(b, rows, false, error);
    if (status == SF_OK && named && app_bench_wants(b->call, "scaling") && b->file == NULL)
        status = run_scaling(b, rows, true, error);
    return status;
}

static int refuse_devices(const app_call *call, sf_error *error)
{
    for (size_t i = 1; i < call->argument_count; i++)
        if (strcmp(call->arguments[i], "ways") != 0)
            return sf_fail(error, SF_USAGE, "--device", "goes with the part ways: %s is the CPU's",
                           call->arguments[i]);
    return SF_OK;
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    benchmark b = {.call = call};
    sf_device *devices[SF_MOST_DEVICES];
    uint32_t count = 0;
    int status = parse(&b, error);
    if (status == SF_OK && strcmp(app_value(call, "device", "cpu"), "cpu") != 0)
        status = refuse_devices(call, error);
    if (status == SF_OK)
        status = sf_devices_find(devices, SF_MOST_DEVICES, &count, app_value(call, "device", "cpu"), error);
    if (status == SF_OK && count > 1 && b.file != NULL)
        status = sf_fail(error, SF_USAGE, "--graph", "goes with one device: several draw their graph");
    if (status != SF_OK) return status;
    if (count == 0) return run_parts(&b, rows, error);
    return count == 1 ? run_on_device(&b, rows, devices[0], error)
                      : run_on_devices(&b, rows, devices, count, error);
}

static const char *const options[] = {"kronecker", "graph", "threads", "device", "levels", NULL};

const app_bench app_bench_bfs = {.name = "bfs", .parts = parts, .options = options, .run = run};
