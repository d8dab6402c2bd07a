/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/queries.h"

#include "analysis/graph.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "graph/measure/modules.h"
#include "graph/motif/census.h"
#include "graph/motif/motif.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Number of edges per thread of the census, half a millisecond of work or more. */
#define CENSUS_EDGES_EACH 2000

/* ---- opening ---- */

static int resolve_sources(sf_queries *queries, const sf_units *units, sf_error *error)
{
    const sf_live_options *config = queries->config;
    for (uint32_t i = 0; i < config->graph.reach_count; i++) {
        sf_error reason;
        queries->reach[i].hops = config->graph.reach[i].hops;
        if (sf_units_resolve(units, config->graph.reach[i].from, &queries->reach[i].source, &reason) == SF_OK)
            continue;
        char key[48];
        snprintf(key, sizeof key, "graph.reach.%" PRIu32 ".from", i);
        return sf_live_refuse(key, error, "%s", reason.text);
    }
    return SF_OK;
}

/* A pattern may ask for what edges of these graphs do not carry: a search in an empty one tells. */
static int try_pattern(const sf_queries *queries, const sf_pattern *pattern, const sf_match_options *options,
                       sf_error *error)
{
    double no_rates[1];
    const sf_connectivity empty = {.is_tiling = queries->config->graph.metric == SF_LIVE_STTC,
                                   .surrogates = queries->config->graph.surrogates,
                                   .rates_hz = no_rates};
    sf_csr csr;
    sf_match_index *index = NULL;
    sf_match_result result;
    int status = sf_connectivity_csr(&csr, &empty, NULL, error);
    if (status == SF_OK) status = sf_match_open(&index, &csr, error);
    if (status == SF_OK) status = sf_match_run(index, pattern, options, &result, NULL, error);
    if (status == SF_OK) sf_match_result_free(&result);
    sf_match_close(index);
    sf_csr_free(&csr);
    return status;
}

static int read_pattern(sf_pattern *pattern, const sf_live_options *config, const char *given,
                        sf_error *error)
{
    if (config->motif_new == NULL) return sf_motif_of_text(pattern, given, error);
    sf_motif *motif;
    int status = config->motif_new(&motif, given, config->graph.metric != SF_LIVE_STTC, error);
    if (status != SF_OK) return status;
    *pattern = motif->pattern;
    motif->pattern = (sf_pattern){0};
    sf_motif_free(motif);
    return SF_OK;
}

static int read_patterns(sf_queries *queries, sf_error *error)
{
    const sf_live_options *config = queries->config;
    for (uint32_t i = 0; i < config->graph.pattern_count; i++) {
        const sf_live_pattern *wanted = &config->graph.patterns[i];
        sf_error reason = {0};
        queries->options[i] = (sf_match_options){
            .keep = wanted->limit,
            .threads = 1,
            .time_limit_s = queries->time_limit_s,
            .device = strcmp(config->device, "cpu") == 0 ? "cpu" : NULL}; /* else by the work */
        int status = read_pattern(&queries->patterns[i], config, wanted->pattern, &reason);
        queries->pattern_count += status == SF_OK;
        if (status == SF_OK)
            status = try_pattern(queries, &queries->patterns[i], &queries->options[i], &reason);
        if (status == SF_NO_MEMORY) return sf_fail_memory(error);
        if (status == SF_OK) continue;
        char key[48];
        snprintf(key, sizeof key, "graph.patterns.%" PRIu32 ".pattern", i);
        return sf_live_refuse(key, error, "%s%s%s", reason.place, reason.place[0] != '\0' ? ": " : "",
                              reason.text);
    }
    return SF_OK;
}

/* How many counts a comparison with rewired graphs is of: those of patterns, then those of triads. */
static size_t count_counts(const sf_queries *queries)
{
    const sf_live_graph *config = &queries->config->graph;
    return config->pattern_count + (config->census ? SF_TRIADS : 0);
}

static void compare(void *argument)
{
    sf_rewired_job *job = argument;
    sf_queries *queries = job->queries;
    const sf_live_options *config = queries->config;
    size_t patterns = queries->pattern_count;
    const sf_pattern_set set = {queries->patterns, queries->options, patterns};
    const sf_measure searches = sf_measure_patterns(&set), census = sf_measure_census();
    sf_progress progress = sf_background_progress(&queries->rewiring);
    sf_rewired_options options = {.graphs = config->graph.rewired,
                                  .seed = config->graph.seed,
                                  .threads = config->mine.threads,
                                  .device = "cpu"}; /* a hop's counting would wait for one that rewires */
    int64_t began_ns = sf_clock_monotonic_ns();
    job->status = SF_OK;
    if (patterns > 0)
        job->status = sf_spread_find(job->spreads, job->counts, &job->graph, &searches, &options, NULL,
                                     &progress, &job->error);
    if (job->status == SF_OK && config->graph.census)
        job->status = sf_spread_find(job->spreads + patterns, job->counts + patterns, &job->graph, &census,
                                     &options, NULL, &progress, &job->error);
    sf_csr_free(&job->graph);
    job->took_ns = sf_clock_monotonic_ns() - began_ns;
}

/* Measures of the units with an edge. Modules use a single order of units: nobody waits for a better one. */
static int put_measures(sf_measuring_job *job, const sf_net *net)
{
    uint32_t *module = sf_resize(NULL, net->count, sizeof *module);
    job->measures = sf_alloc(net->count, sizeof *job->measures);
    int status = module != NULL && job->measures != NULL ? SF_OK : sf_fail_memory(&job->error);
    if (status == SF_OK) status = sf_modules_find(module, &job->modularity, net, true, 1, 1, 1, &job->error);
    for (uint32_t v = 0; v < net->count && status == SF_OK; v++)
        job->measures[job->count++] =
            (sf_unit_measures){.unit = net->vertices[v],
                               .degree = net->both.first[v + 1] - net->both.first[v],
                               .strength = sf_net_strength(net, v),
                               .module = module[v]};
    sf_free(module);
    return status;
}

static void measure(void *argument)
{
    sf_measuring_job *job = argument;
    const sf_net_rule rule = {.linked = true};
    sf_csr graph;
    sf_net net;
    job->count = 0;
    job->status = sf_connectivity_csr(&graph, &job->graph, NULL, &job->error);
    if (job->status != SF_OK) return;
    job->status = sf_net_build(&net, &graph, &rule, &job->error);
    if (job->status == SF_OK) job->status = put_measures(job, &net);
    sf_net_free(&net);
    sf_csr_free(&graph);
}

/* All but what needs units. */
static int open_patterns(sf_queries *queries, const sf_live_options *config, bool virtual_clock,
                         sf_error *error)
{
    uint32_t patterns = config->graph.pattern_count;
    *queries = (sf_queries){.config = config, .job = {.queries = queries}};
    size_t counts = count_counts(queries);
    if (!virtual_clock && patterns > 0)
        queries->time_limit_s = config->window.hop_s * SF_QUERIES_SHARE / patterns;
    queries->reach = sf_alloc(config->graph.reach_count, sizeof *queries->reach);
    queries->patterns = sf_alloc(patterns, sizeof *queries->patterns);
    queries->options = sf_alloc(patterns, sizeof *queries->options);
    queries->spreads = sf_alloc(counts, sizeof *queries->spreads);
    queries->job.counts = sf_alloc(counts, sizeof *queries->job.counts);
    queries->job.spreads = sf_alloc(counts, sizeof *queries->job.spreads);
    if (queries->reach == NULL || queries->patterns == NULL || queries->options == NULL ||
        queries->spreads == NULL || queries->job.counts == NULL || queries->job.spreads == NULL)
        return sf_fail_memory(error);
    return read_patterns(queries, error);
}

int sf_queries_open(sf_queries *queries, const sf_live_options *config, const sf_units *units,
                    sf_device *device, bool virtual_clock, sf_error *error)
{
    int status = open_patterns(queries, config, virtual_clock, error);
    const bool is_asked = strcmp(config->device, "auto") != 0;
    queries->asked = is_asked && device != NULL ? sf_device_name(device) : NULL;
    sf_reaching_open(&queries->reaching, device, is_asked);
    if (status == SF_OK) status = resolve_sources(queries, units, error);
    if (status == SF_OK && config->graph.rewired > 0 && count_counts(queries) > 0)
        status = sf_background_open(&queries->rewiring, "synfire-rewire", sf_background_inside(virtual_clock),
                                    compare, &queries->job, error);
    if (status == SF_OK && config->graph.measures > 0)
        status = sf_background_open(&queries->measuring, "synfire-measure",
                                    sf_background_inside(virtual_clock), measure, &queries->measured, error);
    if (status != SF_OK) sf_queries_close(queries);
    return status;
}

void sf_queries_close(sf_queries *queries)
{
    sf_background_close(&queries->rewiring);
    sf_background_close(&queries->measuring);
    sf_free(queries->measured.graph.links);
    sf_free(queries->measured.measures);
    for (size_t i = 0; i < queries->pattern_count; i++)
        sf_pattern_free(&queries->patterns[i]);
    sf_csr_free(&queries->job.graph);
    sf_free(queries->reach);
    sf_free(queries->patterns);
    sf_free(queries->options);
    sf_free(queries->spreads);
    sf_free(queries->job.counts);
    sf_free(queries->job.spreads);
    *queries = (sf_queries){0};
}

/* ---- counts beside those of rewired graphs ---- */

static int take_spreads(sf_queries *queries, int64_t *took_ns, sf_error *error)
{
    const sf_rewired_job *job = &queries->job;
    if (!sf_background_take(&queries->rewiring)) return SF_OK;
    *took_ns += job->took_ns;
    if (job->status == SF_CANCELLED) /* halted: nobody waits for it */
        return SF_OK;
    if (job->status != SF_OK) return sf_fail(error, job->error.code, job->error.place, "%s", job->error.text);
    for (size_t i = 0; i < count_counts(queries); i++)
        queries->spreads[i] = (sf_motif_spread){.graphs = queries->config->graph.rewired,
                                                .window = job->window,
                                                .count = (uint64_t)job->counts[i],
                                                .mean = job->spreads[i].mean,
                                                .sd = job->spreads[i].sd,
                                                .z = job->spreads[i].z};
    return SF_OK;
}

/* Starts where the last comparison is done. A lower bound cannot be compared. The graph goes to the job. */
static void start_spreads(sf_queries *queries, sf_csr *csr, const sf_graph_message *message)
{
    sf_rewired_job *job = &queries->job;
    if (!sf_background_is_idle(&queries->rewiring)) return;
    for (size_t i = 0; i < message->motif_count; i++) {
        if (message->motifs[i].truncated) return;
        job->counts[i] = (double)message->motifs[i].count;
    }
    for (size_t i = 0; i < message->triad_count; i++)
        job->counts[message->motif_count + i] = (double)message->triads[i].count;
    job->graph = *csr;
    *csr = (sf_csr){0};
    job->window = message->window;
    sf_background_start(&queries->rewiring);
}

static int compare_counts(sf_queries *queries, sf_csr *csr, sf_graph_message *message, int64_t *took_ns,
                          sf_error *error)
{
    int status = take_spreads(queries, took_ns, error);
    if (status != SF_OK) return status;
    start_spreads(queries, csr, message);
    status = take_spreads(queries, took_ns, error); /* on a virtual clock it is there already */
    for (size_t i = 0; i < message->motif_count && status == SF_OK; i++)
        message->motifs[i].spread = queries->spreads[i];
    for (size_t i = 0; i < message->triad_count && status == SF_OK; i++)
        message->triads[i].spread = queries->spreads[message->motif_count + i];
    return status;
}

/* ---- answers ---- */

/* Of all patterns of a window. */
static void note_device(sf_queries *queries, size_t i, const char *device)
{
    if (i == 0)
        snprintf(queries->matched_on, sizeof queries->matched_on, "%s", device);
    else if (strcmp(queries->matched_on, device) != 0)
        queries->matched_on[0] = '\0';
}

static int match_pattern(sf_motif_result *motif, sf_queries *queries, sf_match_index *index, size_t i,
                         sf_error *error)
{
    sf_match_result result;
    sf_match_options options = queries->options[i];
    options.device = queries->asked != NULL ? queries->asked : options.device;
    motif->pattern = sf_copy_string(queries->config->graph.patterns[i].pattern);
    if (motif->pattern == NULL) return sf_fail_memory(error);
    int status = sf_match_run(index, &queries->patterns[i], &options, &result, NULL, error);
    if (status != SF_OK) return status;
    note_device(queries, i, result.ran.device);
    motif->count = result.count;
    motif->truncated = result.truncated;
    motif->size = result.vertex_count;
    motif->kept = result.kept;
    motif->embeddings = result.embeddings;
    return SF_OK;
}

static int match_patterns(sf_queries *queries, const sf_csr *csr, sf_graph_message *message, sf_error *error)
{
    sf_match_index *index;
    message->motifs = sf_alloc(queries->pattern_count, sizeof *message->motifs);
    if (message->motifs == NULL) return sf_fail_memory(error);
    int status = sf_match_open(&index, csr, error);
    if (status != SF_OK) return status;
    for (size_t i = 0; i < queries->pattern_count && status == SF_OK; i++)
        status = match_pattern(&message->motifs[message->motif_count++], queries, index, i, error);
    sf_match_close(index);
    return status;
}

/* Number of threads such that each has CENSUS_EDGES_EACH edges. */
static unsigned census_threads(const sf_live_options *config, const sf_csr *csr)
{
    uint64_t useful = csr->offsets[csr->vertex_count] / CENSUS_EDGES_EACH;
    unsigned most = config->mine.threads != 0 ? config->mine.threads : sf_thread_cores();
    return useful < 1 ? 1 : useful < most ? (unsigned)useful : most;
}

static int take_census(const sf_live_options *config, const sf_csr *csr, sf_graph_message *message,
                       sf_error *error)
{
    uint64_t census[SF_TRIADS];
    message->triads = sf_alloc(SF_TRIADS, sizeof *message->triads);
    if (message->triads == NULL) return sf_fail_memory(error);
    int status = sf_triad_census(census, csr, census_threads(config, csr), NULL, error);
    for (size_t t = 0; t < SF_TRIADS && status == SF_OK; t++) {
        sf_triad_result *triad = &message->triads[message->triad_count++];
        snprintf(triad->name, sizeof triad->name, "%s", sf_triads[t].name);
        triad->count = census[t];
    }
    return status;
}

/* ---- measures of units ---- */

/* Moves finished measures into the message. */
static int take_measures(sf_queries *queries, sf_graph_message *message, sf_error *error)
{
    sf_measuring_job *job = &queries->measured;
    if (!sf_background_take(&queries->measuring)) return SF_OK;
    if (job->status != SF_OK) return sf_fail(error, job->error.code, job->error.place, "%s", job->error.text);
    sf_free(message->measures);
    message->measures = job->measures;
    message->measure_count = job->count;
    message->modularity = job->modularity;
    message->measured_in = job->window;
    message->measured = true;
    job->measures = NULL;
    return SF_OK;
}

static int measure_units(sf_queries *queries, const sf_connectivity *snapshot, sf_graph_message *message,
                         sf_error *error)
{
    sf_measuring_job *job = &queries->measured;
    int status = take_measures(queries, message, error);
    queries->due = queries->due || queries->answered % queries->config->graph.measures == 0;
    queries->answered++;
    if (status != SF_OK || !queries->due || !sf_background_is_idle(&queries->measuring)) return status;
    if (sf_reserve(&job->graph.links, &job->capacity, snapshot->count, sizeof *job->graph.links) != 0)
        return sf_fail_memory(error);
    if (snapshot->count > 0)
        memcpy(job->graph.links, snapshot->links, snapshot->count * sizeof *job->graph.links);
    job->graph.unit_count = snapshot->unit_count;
    job->graph.is_tiling = snapshot->is_tiling;
    job->graph.count = snapshot->count;
    job->window = message->window;
    queries->due = false;
    sf_background_start(&queries->measuring);
    return take_measures(queries, message, error); /* on a virtual clock they are there already */
}

static int follow_paths(sf_queries *queries, const sf_connectivity *snapshot, const sf_csr *csr,
                        sf_graph_message *message, sf_error *error)
{
    const sf_live_graph *config = &queries->config->graph;
    int status = SF_OK;
    message->reach = sf_alloc(config->reach_count, sizeof *message->reach);
    if (message->reach == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < config->reach_count && status == SF_OK; i++)
        status = sf_connectivity_reach(&message->reach[message->reach_count++], snapshot, csr,
                                       queries->reach[i].source, queries->reach[i].hops, error);
    if (status == SF_OK && config->reach_all > 0)
        status = sf_reaching_search(&queries->reaching, &message->reach_all, csr, config->reach_all, error);
    if (status == SF_OK && config->components)
        status = sf_connectivity_components(&message->components, csr, error);
    return status;
}

/* The time since *since_ns, which becomes now. */
static int64_t lap(int64_t *since_ns)
{
    int64_t before_ns = *since_ns;
    *since_ns = sf_clock_monotonic_ns();
    return *since_ns - before_ns;
}

static int ask(sf_queries *queries, const sf_connectivity *snapshot, sf_csr *csr, sf_graph_message *message,
               int64_t *parts_ns, sf_error *error)
{
    const sf_live_graph *config = &queries->config->graph;
    int64_t now_ns = sf_clock_monotonic_ns();
    int status = follow_paths(queries, snapshot, csr, message, error);
    parts_ns[SF_PART_REACH] += lap(&now_ns);
    if (status == SF_OK && queries->pattern_count > 0) {
        status = match_patterns(queries, csr, message, error);
        parts_ns[SF_PART_PATTERNS] += lap(&now_ns);
    }
    if (status == SF_OK && config->census) {
        status = take_census(queries->config, csr, message, error);
        parts_ns[SF_PART_CENSUS] += lap(&now_ns);
    }
    if (status == SF_OK && config->rewired > 0 && count_counts(queries) > 0)
        status = compare_counts(queries, csr, message, &parts_ns[SF_PART_REWIRE], error);
    return status;
}

static bool is_nothing_asked(const sf_live_graph *config)
{
    return config->reach_count == 0 && config->reach_all == 0 && !config->components &&
           config->pattern_count == 0 && !config->census;
}

int sf_queries_answer(sf_queries *queries, const sf_connectivity *snapshot, sf_graph_message *message,
                      int64_t *parts_ns, sf_error *error)
{
    sf_csr csr;
    message->unit_count = snapshot->unit_count;
    message->modularity = NAN;
    int status =
        queries->config->graph.measures > 0 ? measure_units(queries, snapshot, message, error) : SF_OK;
    if (status != SF_OK || is_nothing_asked(&queries->config->graph)) return status;
    status = queries->pattern_count > 0 ? sf_connectivity_csr(&csr, snapshot, NULL, error)
                                        : sf_connectivity_shape(&csr, snapshot, error);
    if (status != SF_OK) return status;
    status = ask(queries, snapshot, &csr, message, parts_ns, error);
    sf_csr_free(&csr);
    return status;
}
