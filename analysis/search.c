/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search for synfire/graph.h: from one vertex or many, on the device that the options choose,
 * and on the CPU if that device cannot. */
#include "analysis/graph.h"

#include "core/backend/ways.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/reals.h"
#include "core/thread.h"
#include "graph/rows.h"
#include "graph/search/device.h"

#include <stdio.h>
#include <string.h>

struct sf_searches {
    sf_searches_columns columns;
    sf_bfs_result result;       /**< of one search: levels and parents */
    uint32_t *levels, *parents; /**< of several */
    uint64_t *reached, *level_sizes;
    uint32_t *depth;
    size_t *first_size;
    int64_t *path_low_ns, *path_high_ns;
    sf_ran ran;
};

typedef struct searching {
    const sf_graph *graph;
    const uint32_t *sources;
    size_t count;
    sf_search_options options;
    const sf_progress *progress;
    uint32_t done; /* of the searches that are repeated */
    bool stop;     /* a stop was requested during a repetition, which is finished */
    sf_searches *out;
} searching;

/* ---- one source ---- */

/* Progress of the preparation and the levels of a search, if several searches are one task. */
static bool tell_repeated(void *user, const char *what, double done, double total)
{
    searching *s = user;
    bool one = s->options.repeat == 1;
    if (!s->stop)
        s->stop =
            !sf_progress_update(s->progress, what, one ? done : s->done, one ? total : s->options.repeat);
    return !s->stop || s->done > 0;
}

/* Searches `repeat` times by run(prepared, ...); the result of the last gets the median time. */
static int search_repeatedly(searching *s,
                             int (*run)(void *prepared, uint32_t source, sf_bfs_result *result,
                                        sf_error *error),
                             void *prepared, sf_error *error)
{
    uint32_t repeat = s->options.repeat;
    sf_bfs_result *result = &s->out->result;
    double *seconds = sf_resize(NULL, repeat, sizeof *seconds);
    int status = seconds != NULL ? SF_OK : sf_fail_memory(error);
    s->done = 0;
    while (s->done < repeat && status == SF_OK) {
        status = run(prepared, s->sources[0], result, error);
        if (status != SF_OK) break;
        seconds[s->done++] = result->seconds;
        if (s->stop || !sf_progress_update(s->progress, "searching", s->done, repeat))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped after %u of %u searches", s->done, repeat);
    }
    if (s->done > 0 && (status == SF_OK || status == SF_CANCELLED)) {
        sf_reals_sort(seconds, s->done);
        result->seconds = seconds[s->done / 2];
    }
    sf_free(seconds);
    return status;
}

static int run_on_cpu(void *prepared, uint32_t source, sf_bfs_result *result, sf_error *error)
{
    return sf_bfs_run(prepared, source, result, error);
}

static int run_on_device(void *prepared, uint32_t source, sf_bfs_result *result, sf_error *error)
{
    return sf_device_search_run(prepared, source, result, error);
}

static int run_on_devices(void *prepared, uint32_t source, sf_bfs_result *result, sf_error *error)
{
    return sf_device_parts_run(prepared, source, result, error);
}

static int search_on_cpu(searching *s, sf_error *error)
{
    const sf_progress progress = {tell_repeated, s};
    sf_bfs_options how = {
        .direction = s->options.direction, .threads = s->options.threads, .progress = &progress};
    sf_bfs_search *prepared;
    int status = sf_bfs_open(&prepared, &s->graph->csr, &how, error);
    if (status == SF_OK) status = search_repeatedly(s, run_on_cpu, prepared, error);
    sf_bfs_close(prepared);
    return status;
}

static sf_backend_search_options on_device_as(const sf_search_options *options)
{
    return (sf_backend_search_options){
        .direction = options->direction, .enterprise = options->enterprise, .features = options->features};
}

static int search_on_device(searching *s, sf_device *device, sf_error *error)
{
    const sf_backend_search_options how = on_device_as(&s->options);
    const sf_progress progress = {tell_repeated, s};
    sf_device_graph graph;
    sf_device_search prepared = {0};
    int status = sf_device_graph_open_told(&graph, device, &s->graph->csr, &progress, error);
    if (status == SF_OK) status = sf_device_search_open(&prepared, &graph, &how, error);
    prepared.progress = &progress;
    if (status == SF_OK) status = search_repeatedly(s, run_on_device, &prepared, error);
    sf_device_search_close(&prepared);
    sf_device_graph_close(&graph);
    return status;
}

/* Each has a part of the vertices. */
static int search_on_devices(searching *s, sf_device *const *devices, uint32_t count, sf_error *error)
{
    const sf_backend_search_options how = on_device_as(&s->options);
    const sf_progress progress = {tell_repeated, s};
    sf_device_parts parts;
    int status = sf_device_parts_open(&parts, devices, count, &s->graph->csr, &how, error);
    parts.progress = &progress;
    if (status == SF_OK) status = search_repeatedly(s, run_on_devices, &parts, error);
    sf_device_parts_close(&parts);
    return status;
}

/* Finds the path with the shortest delay to every vertex, along the links of a recording. */
static int follow_delays(searching *s, sf_error *error)
{
    sf_searches *out = s->out;
    const sf_connectivity *links = &s->graph->links;
    sf_csr csr;
    sf_reach_result reach = {0};
    int status = sf_connectivity_csr(&csr, links, NULL,
                                     error); /* with every link, which the graph's own csr may lack */
    if (status == SF_OK)
        status = sf_connectivity_reach(&reach, links, &csr, s->sources[0], UINT32_MAX, error);
    if (status == SF_OK) {
        out->path_low_ns = sf_alloc(links->unit_count, sizeof *out->path_low_ns);
        out->path_high_ns = sf_alloc(links->unit_count, sizeof *out->path_high_ns);
        if (out->path_low_ns == NULL || out->path_high_ns == NULL) status = sf_fail_memory(error);
    }
    for (size_t i = 0; i < reach.count && status == SF_OK; i++) {
        out->path_low_ns[reach.units[i]] = reach.delays[i].low_ns;
        out->path_high_ns[reach.units[i]] = reach.delays[i].high_ns;
    }
    sf_reach_result_free(&reach);
    sf_csr_free(&csr);
    return status;
}

/* ---- several sources at once ---- */

static int many_on_device(searching *s, sf_device *device, sf_error *error)
{
    sf_device_graph graph;
    int status = sf_device_graph_open_told(&graph, device, &s->graph->csr, s->progress, error);
    if (status == SF_OK)
        status = sf_device_bfs_many(&graph, s->sources, s->count, s->out->levels, s->out->parents,
                                    s->progress, error);
    if (status == SF_CANCELLED) /* nothing has come from there */
        memset(s->out->levels, 0xff, s->count * s->graph->csr.vertex_count * sizeof *s->out->levels);
    sf_device_graph_close(&graph);
    return status;
}

static int many_on_cpu(searching *s, sf_error *error)
{
    unsigned threads = s->options.threads > 0 ? s->options.threads : sf_thread_cores();
    return sf_bfs_many(&s->graph->csr, s->sources, s->count, threads, s->out->levels, s->out->parents,
                       s->progress, error);
}

static int make_room(searching *s, sf_error *error)
{
    size_t row = (size_t)s->graph->csr.vertex_count * sizeof(uint32_t);
    s->out->levels = sf_resize(NULL, s->count, row);
    if (s->options.parents) s->out->parents = sf_resize(NULL, s->count, row);
    bool complete = s->out->levels != NULL && (!s->options.parents || s->out->parents != NULL);
    return complete ? SF_OK : sf_fail_memory(error);
}

/* ---- ways ---- */

static double estimate(const void *job)
{
    const searching *s = job;
    unsigned threads = s->options.threads > 0 ? s->options.threads : sf_thread_cores();
    return sf_bfs_cpu_seconds(s->graph->csr.vertex_count, sf_csr_edge_count(&s->graph->csr),
                              s->options.repeat * s->count, threads);
}

static int search_here(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    searching *s = job;
    return s->count == 1 ? search_on_cpu(s, error) : many_on_cpu(s, error);
}

/* Minimum number of vertices for several devices; with fewer, synchronising after every level costs more than
 * they save. */
#define LEAST_DIVIDED (UINT32_C(1) << 24)

/* Searches on the first of several devices alone, if the others would not make it faster; they are then
 * marked as unused. SF_UNAVAILABLE if the graph does not fit on it: it may fit on all together. */
static int search_on_first(searching *s, sf_crew *crew, sf_device *device, sf_error *error)
{
    int status = search_on_device(s, device, error);
    for (uint32_t i = 0; i < crew->count && status == SF_OK; i++)
        crew->members[i].out = crew->members[i].device != device;
    return status;
}

static int search_there(void *job, sf_crew *crew, sf_error *error)
{
    searching *s = job;
    bool divides = s->graph->csr.vertex_count >= LEAST_DIVIDED || sf_devices_worth(0) > 1;
    sf_device *devices[SF_MOST_DEVICES];
    uint32_t left = 0;
    for (uint32_t i = 0; i < crew->count; i++)
        if (!crew->members[i].out) devices[left++] = crew->members[i].device;
    if (s->count > 1) return many_on_device(s, devices[0], error);
    int status = left == 1 || !divides ? search_on_first(s, crew, devices[0], error) : SF_UNAVAILABLE;
    return left > 1 && status == SF_UNAVAILABLE ? search_on_devices(s, devices, left, error) : status;
}

/* The names of Enterprise's techniques apply to its kernels only; the CPU search has none. */
static const sf_way on_cpu = {.engine = "auto", .estimate = estimate, .run = search_here};
static const sf_way on_devices = {.engine = "auto", .on_devices = true, .run = search_there};
static const sf_way as_enterprise = {.engine = "enterprise", .on_devices = true, .run = search_there};
const sf_way *const sf_bfs_ways[] = {&on_cpu, &on_devices, &as_enterprise, NULL};

/* What is of one search alone. */
static int refuse_of_one(const sf_search_options *options, sf_error *error)
{
    const char *option = options->direction != SF_BFS_AUTO ? "direction"
                         : options->enterprise             ? "features"
                         : options->repeat > 1             ? "repeat"
                                                           : NULL;
    return option != NULL ? sf_fail(error, SF_USAGE, option, "goes with one source") : SF_OK;
}

static int choose_for_enterprise(sf_choice *choice, const searching *s, sf_error *error)
{
    const char *name = s->options.device;
    const sf_how how = {.engine = "enterprise",
                        .device = name == NULL || strcmp(name, "auto") == 0 ? "cuda" : name,
                        .most = SF_MOST_DEVICES};
    sf_error reason;
    if (strcmp(how.device, "cpu") == 0)
        return sf_fail(error, SF_USAGE, "features",
                       "goes with a GPU, as --device cuda: the CPU has none of them");
    int status = sf_choose(choice, sf_bfs_ways, &how, s, &reason);
    if (status == SF_USAGE) return sf_fail(error, SF_USAGE, "device", "%s", reason.text);
    return status == SF_OK ? SF_OK : sf_fail(error, status, "features", "needs a GPU: %s", reason.text);
}

static int choose(sf_choice *choice, const searching *s, sf_error *error)
{
    if (s->options.enterprise) return choose_for_enterprise(choice, s, error);
    /* several sources run as that many searches, which fill one device */
    const sf_how how = {.device = s->options.device, .most = s->count > 1 ? 1 : SF_MOST_DEVICES};
    int status = sf_choose(choice, sf_bfs_ways, &how, s, error);
    if (status != SF_OK && error != NULL) snprintf(error->place, sizeof error->place, "device");
    return status;
}

/* ---- what was found ---- */

static uint32_t greatest_level(const uint32_t *levels, uint32_t vertices)
{
    uint32_t depth = 0;
    for (uint32_t v = 0; v < vertices; v++)
        depth = levels[v] != SF_UNREACHED && levels[v] > depth ? levels[v] : depth;
    return depth;
}

/* Number of vertices that each search reaches, and their levels. */
static int count_levels(searching *s, sf_error *error)
{
    sf_searches *out = s->out;
    sf_searches_columns *columns = &out->columns;
    uint32_t vertices = columns->vertex_count;
    size_t sizes = 0;
    out->reached = sf_alloc(s->count, sizeof *out->reached);
    out->depth = sf_alloc(s->count, sizeof *out->depth);
    out->first_size = sf_alloc(s->count, sizeof *out->first_size);
    if (out->reached == NULL || out->depth == NULL || out->first_size == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < s->count; i++) {
        out->first_size[i] = sizes;
        out->depth[i] = greatest_level(columns->levels + i * vertices, vertices);
        sizes += (size_t)out->depth[i] + 1;
    }
    out->level_sizes = sf_alloc(sizes, sizeof *out->level_sizes);
    if (out->level_sizes == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < s->count; i++) {
        const uint32_t *levels = columns->levels + i * vertices;
        for (uint32_t v = 0; v < vertices; v++) {
            if (levels[v] == SF_UNREACHED) continue;
            out->reached[i]++;
            out->level_sizes[out->first_size[i] + levels[v]]++;
        }
    }
    columns->reached = out->reached;
    columns->depth = out->depth;
    columns->first_size = out->first_size;
    columns->level_sizes = out->level_sizes;
    return SF_OK;
}

/* Whether a stopped search has any result. */
static bool has_some(const searching *s)
{
    const sf_searches *out = s->out;
    if (s->count == 1) return out->result.levels != NULL;
    bool any = false;
    for (size_t i = 0; i < s->count && out->levels != NULL; i++)
        any = any || out->levels[i * s->graph->csr.vertex_count + s->sources[i]] == 0;
    return any;
}

static int search(searching *s, sf_error *error)
{
    sf_searches *out = s->out;
    sf_searches_columns *columns = &out->columns;
    columns->source_count = s->count;
    columns->vertex_count = s->graph->csr.vertex_count;
    columns->ran = &out->ran;
    bool one = s->count == 1;
    sf_choice choice;
    int status = one ? SF_OK : refuse_of_one(&s->options, error);
    if (status == SF_OK && !one) status = make_room(s, error);
    if (status == SF_OK) status = choose(&choice, s, error);
    if (status == SF_OK) status = sf_choice_run(&choice, s, &out->ran, error);
    bool as_found = s->graph->of_units && s->graph->csr.directed != s->graph->links.is_tiling;
    if (status == SF_OK && one && as_found) status = follow_delays(s, error);
    if (one) {
        out->ran.seconds = out->result.seconds;
        columns->edges = out->result.edges;
        columns->repeated = s->done;
    }
    columns->levels = one ? out->result.levels : out->levels;
    columns->parents = one ? out->result.parents : out->parents;
    columns->path_low_ns = out->path_low_ns;
    columns->path_high_ns = out->path_high_ns;
    bool stopped = status == SF_CANCELLED && s->options.stopped != NULL && has_some(s);
    if (s->options.stopped != NULL) *s->options.stopped = stopped;
    if (status != SF_OK && !stopped) return status;
    int counted = count_levels(s, error);
    return counted == SF_OK ? status : counted;
}

int sf_graph_search(sf_searches **searches, const sf_graph *graph, const uint32_t *sources, size_t count,
                    const sf_search_options *options, const sf_progress *progress, sf_error *error)
{
    *searches = NULL;
    searching s = {.graph = graph, .sources = sources, .count = count, .progress = progress};
    int status = sf_keys_read(&sf_search_table, &s.options, options, "search options", error);
    if (status == SF_OK && count == 0)
        status = sf_fail(error, SF_USAGE, NULL, "there is no source to search from");
    for (size_t i = 0; i < count && status == SF_OK; i++)
        if (sources[i] >= graph->csr.vertex_count)
            status = sf_fail(error, SF_USAGE, NULL, "there is no vertex %u: the graph has %u, counted from 0",
                             sources[i], graph->csr.vertex_count);
    if (status != SF_OK) return status;
    s.options.repeat = s.options.repeat > 0 ? s.options.repeat : 1;
    s.out = sf_alloc(1, sizeof *s.out);
    status = s.out != NULL ? search(&s, error) : sf_fail_memory(error);
    if (status == SF_OK || (status == SF_CANCELLED && s.options.stopped != NULL && *s.options.stopped))
        *searches = s.out;
    else
        sf_searches_free(s.out);
    return status;
}

void sf_searches_get_columns(const sf_searches *searches, sf_searches_columns *columns)
{
    sf_columns_fill(columns, &searches->columns, sizeof searches->columns);
}

void sf_searches_free(sf_searches *searches)
{
    if (searches == NULL) return;
    sf_bfs_result_free(&searches->result);
    void *const arrays[] = {searches->levels,      searches->parents,     searches->reached,
                            searches->depth,       searches->first_size,  searches->level_sizes,
                            searches->path_low_ns, searches->path_high_ns};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sf_free(arrays[i]);
    sf_free(searches);
}

/* ---- queries ---- */

int sf_graph_reach_all(const sf_graph *graph, uint32_t most_hops, unsigned threads, uint32_t *reached,
                       uint32_t *depth, const sf_progress *progress, sf_error *error)
{
    return sf_bfs_count(&graph->csr, most_hops, threads > 0 ? threads : sf_thread_cores(), reached, depth,
                        progress, error);
}

uint32_t sf_graph_components(const sf_graph *graph, uint32_t *component)
{
    return sf_components(&graph->csr, component);
}
