/* SPDX-License-Identifier: Apache-2.0 */
/* synfire bfs: levels and parents of everything that a source reaches, in a graph or a recording's graph. */
#include "app/connect.h"
#include "app/load.h"
#include "app/mining.h"

#include "core/backend/find.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/thread.h"
#include "graph/search/device.h"
#include "graph/store/kronecker.h"
#include "io/graph/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const app_option options[] = {
    {"source", "V",
     "where to start: the name of a unit or vertex, or #2 for index 2, counted from 0 (must be given); given "
     "again, one search from each, all at once"},
    {"directed", NULL,
     "follow edges in their direction only (default, but for Matrix Market: by its symmetry)"},
    {"undirected", NULL, "follow edges both ways"},
    {"kronecker", "SCALE:EDGEFACTOR:SEED",
     "search a Kronecker graph with Graph500's parameters instead of G"},
    {"direction", "auto|top-down|bottom-up", "auto (default) goes bottom-up while the frontier is large"},
    {"features", "ts,wb,hc,gamma",
     "on a GPU: search as Enterprise does, with these of its techniques: frontier queues, balanced work, "
     "hubs "
     "first, switch by hubs; `none` for none of them (default: the fastest way there is)"},
    {"repeat", "N", "search N times and give the median time (default 1)"},
    {"out", "FILE", "write a line `vertex level parent` for each vertex; -1 where no path leads"},
    {0},
};

typedef struct search {
    const app_call *call;
    sf_csr graph;
    uint32_t *sources; /**< as given */
    size_t source_count;
    uint32_t source;       /**< the first */
    uint32_t *levels;      /**< of several sources: a row of vertices for each */
    double seconds;        /**< of several sources: of all searches together */
    sf_bfs_result result;  /**< of the last repetition, with the median time */
    sf_reach_result paths; /**< of a recording's units, along edges; or none */
    const char *device;    /**< where it ran */
    sf_error why_not;      /**< it ran where it was asked to; the text is empty where it did */
} search;

/* How to search. */
typedef struct plan {
    sf_bfs_direction direction;
    bool chosen; /**< by --features */
    unsigned features;
    uint64_t repeat, threads;
    sf_device *devices[SF_MOST_DEVICES];
    uint32_t device_count; /**< 0: the CPU */
} plan;

static int read_list(sf_edge_list *list, const app_call *call, sf_error *error)
{
    const char *kronecker = app_value(call, "kronecker", NULL);
    if ((kronecker != NULL) == (call->argument_count > 0))
        return sf_fail(error, SF_USAGE, NULL, "takes a graph or --kronecker, and was given %s",
                       kronecker != NULL ? "both" : "neither");
    if (kronecker == NULL)
        return sf_graph_read(list, call->arguments[0], error);
    sf_kronecker kind;
    if (sf_kronecker_parse(&kind, kronecker, error) != SF_OK) {
        snprintf(error->place, sizeof error->place, "--kronecker");
        return SF_USAGE;
    }
    return sf_kronecker_edges(list, &kind, sf_thread_cores(), NULL, error);
}

static int load_graph(search *s, const app_call *call, sf_error *error)
{
    sf_edge_list list;
    static const char *const own[] = {"device", "threads", NULL};
    int status = app_refuse_recording_options(call, own, error);
    if (status == SF_OK)
        status = read_list(&list, call, error);
    if (status != SF_OK)
        return status;
    if (app_has(call, "undirected"))
        list.directed = false;
    status = sf_csr_build(&s->graph, &list, SF_CSR_SIMPLE, error);
    sf_edge_list_free(&list);
    return status;
}

/* The graph that is searched, a pair of units joined once, and the delays of paths in it along edges. */
static int search_units(search *s, const sf_connectivity *connectivity, const sf_units *units,
                        bool undirected, sf_error *error)
{
    sf_edge_list list;
    sf_csr parallel = {0};
    int status = sf_connectivity_list(&list, connectivity, units, error);
    if (status != SF_OK)
        return status;
    if (!undirected)
        status = sf_csr_build(&parallel, &list, 0, error);
    if (status == SF_OK && !undirected && s->source_count == 1)
        status = sf_connectivity_reach(&s->paths, connectivity, &parallel, s->source, UINT32_MAX, error);
    list.directed = list.directed && !undirected;
    if (status == SF_OK)
        status = sf_csr_build(&s->graph, &list, SF_CSR_SIMPLE, error);
    sf_csr_free(&parallel);
    sf_edge_list_free(&list);
    return status;
}

/* Every --source, by what reads a name: sf_units_resolve or sf_csr_resolve. */
static int read_sources(search *s, const app_call *call, const sf_units *units, sf_error *error)
{
    size_t from = 0, capacity = 0;
    int status = SF_OK;
    for (const char *given; status == SF_OK && (given = app_next_value(call, "source", &from)) != NULL;) {
        void *sources = s->sources;
        if (sf_reserve(&sources, &capacity, s->source_count + 1, sizeof *s->sources) != 0)
            return sf_fail_memory(error);
        s->sources = sources;
        uint32_t *next = &s->sources[s->source_count++];
        status = units != NULL ? sf_units_resolve(units, given, next, error)
                               : sf_csr_resolve(&s->graph, given, next, error);
    }
    if (status != SF_OK)
        snprintf(error->place, sizeof error->place, "--source");
    else
        s->source = s->sources[0];
    return status;
}

static int connect_recording(search *s, const app_call *call, sf_error *error)
{
    sf_recording recording;
    sf_connectivity connectivity = {0};
    int status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    status = read_sources(s, call, &recording.units, error);
    if (status == SF_OK)
        status = app_connect(&connectivity, call, &recording, error);
    if (status == SF_OK)
        status = search_units(s, &connectivity, &recording.units, app_has(call, "undirected"), error);
    sf_connectivity_free(&connectivity);
    sf_recording_free(&recording);
    return status;
}

static int load(search *s, const app_call *call, sf_error *error)
{
    if (app_has(call, "directed") && app_has(call, "undirected"))
        return sf_fail(error, SF_USAGE, "--undirected", "excludes --directed");
    if (!app_has(call, "source"))
        return sf_fail(error, SF_USAGE, "--source", "is missing: say which vertex or unit to start at");
    if (call->argument_count > 0 && !app_has(call, "kronecker") && app_is_recording(call->arguments[0]))
        return connect_recording(s, call, error);
    int status = load_graph(s, call, error);
    return status == SF_OK ? read_sources(s, call, NULL, error) : status;
}

static int read_direction(sf_bfs_direction *direction, const app_call *call, sf_error *error)
{
    static const char *const names[] = {"auto", "top-down", "bottom-up"};
    const char *given = app_value(call, "direction", names[0]);
    for (int i = 0; i < 3; i++) {
        if (strcmp(given, names[i]) == 0) {
            *direction = (sf_bfs_direction)i;
            return SF_OK;
        }
    }
    return sf_fail(error, SF_USAGE, "--direction", "is '%s', expected auto, top-down or bottom-up", given);
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int read_features(plan *p, const app_call *call, sf_error *error)
{
    static const char *const names[] = {"ts", "wb", "hc", "gamma"}; /* in the order of their bits */
    const char *given = app_value(call, "features", NULL);
    p->chosen = given != NULL;
    if (given == NULL || strcmp(given, "none") == 0)
        return SF_OK;
    for (const char *at = given;; at++) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < 4 && (strlen(names[i]) != length || strncmp(at, names[i], length) != 0))
            i++;
        if (i == 4)
            return sf_fail(error, SF_USAGE, "--features", "has '%.*s', expected ts, wb, hc, gamma or none",
                           (int)length, at);
        p->features |= 1u << i;
        at += length;
        if (*at == '\0')
            return SF_OK;
    }
}

/* The techniques are those of the kernels: a CPU searches otherwise, under no such names. */
static int find_for_features(plan *p, const char *name, sf_error *error)
{
    sf_error reason;
    int status =
        sf_devices_find(p->devices, 1, &p->device_count, strcmp(name, "auto") == 0 ? "cuda" : name, &reason);
    if (status == SF_OK && p->device_count == 0)
        return sf_fail(error, SF_USAGE, "--features",
                       "goes with a GPU, as --device cuda: the CPU has none of them");
    if (status == SF_USAGE)
        return sf_fail(error, SF_USAGE, "--device", "%s", reason.text);
    return status == SF_OK ? SF_OK : sf_fail(error, status, "--features", "needs a GPU: %s", reason.text);
}

static int choose_devices(plan *p, const search *s, const app_call *call, sf_error *error)
{
    const char *name = app_value(call, "device", "auto");
    if (p->chosen && strcmp(name, "cuda:all") != 0)
        return find_for_features(p, name, error);
    if (strcmp(name, "auto") == 0) {
        sf_device *device = sf_device_auto(sf_bfs_cpu_seconds(
            s->graph.vertex_count, sf_csr_edge_count(&s->graph), p->repeat * s->source_count));
        p->devices[0] = device;
        p->device_count = device != NULL;
        return SF_OK;
    }
    int status = sf_devices_find(p->devices, SF_MOST_DEVICES, &p->device_count, name, error);
    if (status != SF_OK)
        snprintf(error->place, sizeof error->place, "--device");
    else if (p->chosen)
        status = sf_fail(error, SF_USAGE, "--features", "goes with one device, not with %s", name);
    else if (p->device_count > 1 && s->source_count > 1)
        p->device_count = 1; /* as many searches as there are sources fill one */
    return status;
}

static int read_plan(plan *p, const search *s, const app_call *call, sf_error *error)
{
    *p = (plan){.repeat = 1};
    int status = app_uint(call, "repeat", 1, 1000000, &p->repeat, error);
    if (status == SF_OK)
        status = app_uint(call, "threads", 1, 4096, &p->threads, error);
    if (status == SF_OK)
        status = read_direction(&p->direction, call, error);
    if (status == SF_OK)
        status = read_features(p, call, error);
    return status == SF_OK ? choose_devices(p, s, call, error) : status;
}

/* Searches `repeat` times by run(prepared, ...); the result of the last gets the median time. */
static int search_repeatedly(search *s, uint64_t repeat,
                             int (*run)(void *prepared, uint32_t source, sf_bfs_result *result,
                                        sf_error *error),
                             void *prepared, sf_error *error)
{
    double *seconds = sf_resize(NULL, repeat, sizeof *seconds);
    int status = seconds != NULL ? SF_OK : sf_fail_memory(error);
    for (uint64_t i = 0; i < repeat && status == SF_OK; i++) {
        status = run(prepared, s->source, &s->result, error);
        seconds[i] = s->result.seconds;
    }
    if (status == SF_OK) {
        qsort(seconds, repeat, sizeof *seconds, compare_seconds);
        s->result.seconds = seconds[repeat / 2];
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

static int search_on_cpu(search *s, const plan *p, sf_error *error)
{
    sf_bfs_options how = {.direction = p->direction, .threads = (unsigned)p->threads};
    sf_bfs_search *prepared;
    int status = sf_bfs_open(&prepared, &s->graph, &how, error);
    if (status == SF_OK)
        status = search_repeatedly(s, p->repeat, run_on_cpu, prepared, error);
    sf_bfs_close(prepared);
    return status;
}

static int search_on_device(search *s, const plan *p, sf_error *error)
{
    sf_backend_search_options how = {
        .direction = p->direction, .enterprise = p->chosen, .features = p->features};
    sf_device_graph graph;
    sf_device_search prepared = {0};
    int status = sf_device_graph_open(&graph, p->devices[0], &s->graph, error);
    if (status == SF_OK)
        status = sf_device_search_open(&prepared, &graph, &how, error);
    if (status == SF_OK)
        status = search_repeatedly(s, p->repeat, run_on_device, &prepared, error);
    sf_device_search_close(&prepared);
    sf_device_graph_close(&graph);
    return status;
}

static int search_on_devices(search *s, const plan *p, sf_error *error)
{
    sf_device_parts parts;
    int status = sf_device_parts_open(&parts, p->devices, p->device_count, &s->graph, p->direction, error);
    if (status == SF_OK)
        status = search_repeatedly(s, p->repeat, run_on_devices, &parts, error);
    sf_device_parts_close(&parts);
    return status;
}

/* ---- several sources at once ---- */

static int many_on_device(search *s, sf_device *device, sf_error *error)
{
    sf_device_graph graph;
    int status = sf_device_graph_open(&graph, device, &s->graph, error);
    if (status == SF_OK)
        status = sf_device_bfs_many(&graph, s->sources, s->source_count, s->levels, NULL, error);
    sf_device_graph_close(&graph);
    return status;
}

/* What is of one search alone. */
static int refuse_of_one(const app_call *call, sf_error *error)
{
    static const char *const others[] = {"direction", "features", "repeat", "out"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (app_has(call, others[i])) {
            char place[32];
            snprintf(place, sizeof place, "--%s", others[i]);
            return sf_fail(error, SF_USAGE, place, "goes with one --source");
        }
    return SF_OK;
}

static int search_many(search *s, const app_call *call, sf_error *error)
{
    plan p;
    int status = refuse_of_one(call, error);
    if (status == SF_OK)
        status = read_plan(&p, s, call, error);
    if (status != SF_OK)
        return status;
    s->levels = sf_resize(NULL, s->source_count, (size_t)s->graph.vertex_count * sizeof *s->levels);
    if (s->levels == NULL)
        return sf_fail_memory(error);
    s->device = sf_device_name(p.devices[0]);
    double start = sf_clock_seconds();
    if (p.device_count > 0)
        status = many_on_device(s, p.devices[0], error);
    if (p.device_count > 0 && status == SF_UNAVAILABLE)
        s->why_not = *error;
    if (p.device_count == 0 || status == SF_UNAVAILABLE) {
        s->device = sf_device_name(NULL);
        start = sf_clock_seconds();
        status = sf_bfs_many(&s->graph, s->sources, s->source_count,
                             p.threads > 0 ? (unsigned)p.threads : sf_thread_cores(), s->levels, NULL, NULL,
                             error);
    }
    s->seconds = sf_clock_seconds() - start;
    return status;
}

/* How many vertices there are at each level of one source; level_sizes has room for every vertex. */
static uint32_t count_levels(uint64_t *level_sizes, const search *s, size_t i, uint64_t *reached)
{
    const uint32_t *levels = s->levels + i * s->graph.vertex_count;
    uint32_t depth = 0;
    *reached = 0;
    memset(level_sizes, 0, (size_t)s->graph.vertex_count * sizeof *level_sizes);
    for (uint32_t v = 0; v < s->graph.vertex_count; v++) {
        if (levels[v] == SF_UNREACHED)
            continue;
        level_sizes[levels[v]]++;
        depth = levels[v] > depth ? levels[v] : depth;
        ++*reached;
    }
    return depth;
}

static void print_many_json(sf_text *text, const search *s, uint64_t *sizes)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_uint(&json, "vertices", s->graph.vertex_count);
    sf_json_uint(&json, "edges", sf_csr_edge_count(&s->graph));
    sf_json_array(&json, "searches");
    for (size_t i = 0; i < s->source_count; i++) {
        uint64_t reached;
        uint32_t depth = count_levels(sizes, s, i, &reached);
        sf_json_object(&json, NULL);
        sf_json_uint(&json, "source", s->sources[i]);
        sf_json_string(&json, "source_name", s->graph.names != NULL ? s->graph.names[s->sources[i]] : NULL);
        sf_json_uint(&json, "reached", reached);
        sf_json_uint(&json, "depth", depth);
        sf_json_array(&json, "level_sizes");
        for (uint32_t level = 0; level <= depth; level++)
            sf_json_uint(&json, NULL, sizes[level]);
        sf_json_end_array(&json);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    sf_json_real(&json, "seconds", s->seconds);
    sf_json_string(&json, "device", s->device);
    app_device_json(&json, s->why_not.text);
    app_provenance_json(&json, s->call);
    sf_json_end_object(&json);
}

static void print_many_table(sf_text *text, const search *s, uint64_t *sizes)
{
    app_table table = {0};
    static const char *const head[] = {"source", "reached", "depth", "vertices at each level"};
    sf_text_printf(text, "%u vertices, %" PRIu64 " directed edges, %zu searches at once in %.3g s on %s\n\n",
                   s->graph.vertex_count, sf_csr_edge_count(&s->graph), s->source_count, s->seconds,
                   s->device);
    for (size_t c = 0; c < 4; c++)
        app_table_cell(&table, "%s", head[c]);
    for (size_t i = 0; i < s->source_count; i++) {
        uint64_t reached;
        uint32_t depth = count_levels(sizes, s, i, &reached);
        sf_text levels = {0};
        for (uint32_t level = 0; level <= depth && levels.length < 72; level++)
            sf_text_printf(&levels, level > 0 ? " %" PRIu64 : "%" PRIu64, sizes[level]);
        if (s->graph.names != NULL)
            app_table_cell(&table, "%s", s->graph.names[s->sources[i]]);
        else
            app_table_cell(&table, "#%u", s->sources[i]);
        app_table_cell(&table, "%" PRIu64, reached);
        app_table_cell(&table, "%u", depth);
        app_table_cell(&table, "%s", levels.data != NULL ? levels.data : "");
        sf_text_free(&levels);
    }
    app_table_print(&table, text, 4);
    if (text->length > 0 && !text->failed)
        text->data[--text->length] = '\0'; /* app_print ends the last line */
}

static int report_many(const search *s, sf_error *error)
{
    sf_text text = {0};
    uint64_t *sizes = sf_alloc(s->graph.vertex_count, sizeof *sizes);
    if (sizes == NULL)
        return sf_fail_memory(error);
    (s->call->json ? print_many_json : print_many_table)(&text, s, sizes);
    sf_free(sizes);
    return app_print(&text, error);
}

/* ---- one source ---- */

/* Where the plan says; what a device cannot do is done by the CPU, but for techniques it does not have. */
static int run_search(search *s, const app_call *call, sf_error *error)
{
    plan p;
    int status = read_plan(&p, s, call, error);
    if (status != SF_OK)
        return status;
    s->device = p.device_count > 1 ? "all devices" : sf_device_name(p.devices[0]);
    if (p.device_count > 1)
        status = search_on_devices(s, &p, error);
    else if (p.device_count == 1)
        status = search_on_device(s, &p, error);
    if (p.device_count > 0 && (status != SF_UNAVAILABLE || p.chosen))
        return status;
    if (p.device_count > 0)
        s->why_not = *error;
    s->device = sf_device_name(NULL);
    return search_on_cpu(s, &p, error);
}

static int64_t or_none(uint32_t value)
{
    return value == UINT32_MAX ? -1 : (int64_t)value;
}

static int write_out(const search *s, const char *path, sf_error *error)
{
    sf_text text = {0};
    for (uint32_t v = 0; v < s->graph.vertex_count; v++)
        sf_text_printf(&text, "%u %" PRId64 " %" PRId64 "\n", v, or_none(s->result.levels[v]),
                       or_none(s->result.parents[v]));
    int status = sf_file_write(&text, path, error);
    sf_text_free(&text);
    return status;
}

static double teps(const sf_bfs_result *result)
{
    return result->seconds > 0 ? (double)result->edges / result->seconds : 0;
}

static void print_json(sf_text *text, const search *s)
{
    const sf_bfs_result *result = &s->result;
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_uint(&json, "vertices", s->graph.vertex_count);
    sf_json_uint(&json, "edges", sf_csr_edge_count(&s->graph));
    sf_json_uint(&json, "source", s->source);
    sf_json_uint(&json, "reached", result->reached);
    sf_json_uint(&json, "depth", result->depth);
    sf_json_array(&json, "level_sizes");
    for (uint32_t level = 0; level <= result->depth; level++)
        sf_json_uint(&json, NULL, result->level_sizes[level]);
    sf_json_end_array(&json);
    sf_json_real(&json, "seconds", result->seconds);
    sf_json_real(&json, "teps", teps(result));
    sf_json_string(&json, "source_name", s->graph.names != NULL ? s->graph.names[s->source] : NULL);
    app_provenance_json(&json, s->call);
    sf_json_end_object(&json);
}

/* Names of the vertices of a level, as far as they fit on a line. */
static void name_level(sf_text *text, const search *s, uint32_t level)
{
    enum { WIDTH = 72 };
    sf_text_clear(text);
    for (uint32_t v = 0; v < s->graph.vertex_count; v++) {
        if (s->result.levels[v] != level)
            continue;
        if (text->length + strlen(s->graph.names[v]) > WIDTH) {
            sf_text_printf(text, " ...");
            return;
        }
        sf_text_printf(text, "%s%s", text->length > 0 ? " " : "", s->graph.names[v]);
    }
}

/* The least and the most that paths to a level take. */
static void delay_cell(app_table *table, const sf_reach_result *paths, uint32_t level)
{
    sf_delay range = {INT64_MAX, 0};
    for (size_t i = 0; i < paths->count; i++) {
        const sf_delay *path = &paths->delays[i];
        if (paths->levels[i] != level)
            continue;
        range.low_ns = path->low_ns < range.low_ns ? path->low_ns : range.low_ns;
        range.high_ns = path->high_ns > range.high_ns ? path->high_ns : range.high_ns;
    }
    app_table_cell(table, "(%g,%g]", (double)range.low_ns * 1e-6, (double)range.high_ns * 1e-6);
}

static void print_table(sf_text *text, const search *s)
{
    const sf_bfs_result *result = &s->result;
    bool named = s->graph.names != NULL;
    sf_text_printf(text, "%u vertices, %" PRIu64 " directed edges\n", s->graph.vertex_count,
                   sf_csr_edge_count(&s->graph));
    if (named)
        sf_text_printf(text, "from %s: ", s->graph.names[s->source]);
    else
        sf_text_printf(text, "from #%u: ", s->source);
    sf_text_printf(text,
                   "%" PRIu64 " vertices within %u hops, %.3g s on %s, %.3g directed edges/s (TEPS)\n\n",
                   result->reached, result->depth, result->seconds, s->device, teps(result));
    app_table table = {0};
    sf_text names = {0};
    app_table_cell(&table, "level");
    app_table_cell(&table, "vertices");
    bool timed = s->paths.count > 0;
    if (timed)
        app_table_cell(&table, "delay ms");
    if (named)
        app_table_cell(&table, "names");
    for (uint32_t level = 0; level <= result->depth; level++) {
        app_table_cell(&table, "%u", level);
        app_table_cell(&table, "%" PRIu64, result->level_sizes[level]);
        if (timed && level == 0)
            app_table_cell(&table, "0");
        else if (timed)
            delay_cell(&table, &s->paths, level);
        if (!named)
            continue;
        name_level(&names, s, level);
        app_table_cell(&table, "%s", names.data != NULL ? names.data : "");
    }
    app_table_print(&table, text, 2 + (size_t)timed + (size_t)named);
    text->failed |= names.failed;
    sf_text_free(&names);
    while (text->length > 0 && text->data[text->length - 1] == '\n')
        text->length--;
}

static int run(app_call *call, sf_error *error)
{
    search s = {.call = call};
    int status = load(&s, call, error);
    bool several = s.source_count > 1;
    if (status == SF_OK)
        status = several ? search_many(&s, call, error) : run_search(&s, call, error);
    if (status == SF_OK)
        app_device_warn(call, "searched", s.device, s.why_not.text);
    if (status == SF_OK && app_has(call, "out"))
        status = write_out(&s, app_value(call, "out", NULL), error);
    if (status == SF_OK && several) {
        status = report_many(&s, error);
    } else if (status == SF_OK) {
        sf_text text = {0};
        if (call->json)
            print_json(&text, &s);
        else
            print_table(&text, &s);
        status = app_print(&text, error);
    }
    sf_free(s.sources);
    sf_free(s.levels);
    sf_bfs_result_free(&s.result);
    sf_reach_result_free(&s.paths);
    sf_csr_free(&s.graph);
    return status;
}

const app_command app_command_bfs = {
    .name = "bfs",
    .alias = "reach",
    .group = "connect",
    .summary = "what a unit or vertex reaches, and in how many hops",
    .arguments = "G --source V",
    .least_arguments = 0,
    .most_arguments = 1,
    .example = "synfire bfs demo.h5 --source A --delay 4:6 --min-count 60",
    .notes =
        "G is a graph (Matrix Market .mtx, edge list .el: `from to [weight]` counted from 0, GraphML, .graph "
        "or "
        "synfire's .h5) or a recording, whose connectivity graph is searched. Vertices are counted from 0\n"
        "everywhere, also for .mtx. Loops and repeated edges are left out. TEPS is directed edges of the\n"
        "reached component over seconds. Of a recording the table says after what delay: bounds add up along "
        "a path.",
    .options = {options, app_search_connect_options, app_mining_options, app_engine_options,
                app_selection_options},
    .run = run,
};
