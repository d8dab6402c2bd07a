/* SPDX-License-Identifier: Apache-2.0 */
#include "app/connect.h"

#include "analysis/sttc.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/preset.h"
#include "app/significance.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/memory.h"
#include "core/thread.h"
#include "io/graph/file.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define METRIC                                                                                               \
    {                                                                                                        \
        "metric", "episodes|sttc",                                                                           \
            "an edge is a frequent episode of two units (default), or a high spike-time tiling "             \
            "coefficient, whose half-width is the greatest delay (default 50 ms)"                            \
    }
#define OF_TILING                                                                                            \
    "sttc: keep pairs above the 95th percentile of N circular shifts of their own (default 200; 0: keep "    \
    "all)"

const app_option app_connect_options[] = {
    METRIC,
    {"surrogates", "N", "with --significance: how many (default 1000); " OF_TILING},
    {"seed", "N", "of random numbers: surrogates, shifts (default 1)"},
    {NULL, NULL, NULL},
};

const app_option app_search_connect_options[] = {
    METRIC,
    {"surrogates", "N", OF_TILING},
    {"seed", "N", "of random numbers: shifts (default 1)"},
    {NULL, NULL, NULL},
};

const app_option app_match_connect_options[] = {
    METRIC,
    {"surrogates", "N", OF_TILING},
    {"seed", "N", "of random numbers: shifts, rewired graphs (default 1)"},
    {NULL, NULL, NULL},
};

/* The first of these options that was given, or NULL. */
static const char *find_given(const app_call *call, const char *const *options)
{
    for (; *options != NULL; options++)
        if (app_has(call, *options))
            return *options;
    return NULL;
}

static int refuse(const char *option, const char *reason, sf_error *error)
{
    char place[48];
    snprintf(place, sizeof place, "--%s", option);
    return sf_fail(error, SF_USAGE, place, "%s", reason);
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

int app_refuse_recording_options(const app_call *call, const char *const *but, sf_error *error)
{
    const app_option *const lists[] = {app_search_connect_options, app_match_connect_options,
                                       app_mining_options, app_engine_options, app_selection_options};
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
        for (const app_option *option = lists[l]; option->name != NULL; option++)
            if (app_takes(call, lists[l]) && app_has(call, option->name) && !is_among(option->name, but))
                return refuse(option->name, "is for recordings, and this is a graph", error);
    return SF_OK;
}

/* ---- frequent episodes ---- */

static int link_episodes(sf_connectivity *graph, const sf_mine_result *result, const sf_recording *recording,
                         sf_error *error)
{
    sf_link *links = sf_alloc(result->count, sizeof *links);
    if (links == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < result->count; i++) {
        sf_episode episode;
        sf_mine_result_episode(result, i, &episode);
        links[i] = (sf_link){.from = episode.units[0],
                             .to = episode.units[1],
                             .delay = episode.delays[0],
                             .count = result->items[i].count,
                             .expected = result->items[i].expected,
                             .p = result->items[i].p,
                             .not_testable = sf_not_testable_text(result->items[i].not_testable)};
    }
    int status = sf_connectivity_build(graph, (uint32_t)recording->units.count, links, result->count, error);
    sf_free(links);
    return status;
}

/* What an option that is nothing to a graph by episodes goes with, of what this command has. */
static const char *companions(const app_call *call, const char *option)
{
    if (app_takes(call, app_connect_options))
        return "goes with --metric sttc or --significance";
    bool rewires = app_takes(call, app_match_connect_options) && strcmp(option, "seed") == 0;
    return rewires ? "goes with --metric sttc or --rewired" : "goes with --metric sttc";
}

static int connect_episodes(sf_connectivity *graph, const app_call *call, const sf_recording *recording,
                            sf_error *error)
{
    static const char *const others[] = {"surrogates", "seed", NULL}, *const of_shifts[] = {"surrogates",
                                                                                            NULL};
    bool tested = app_has(call, "significance") || app_has(call, "fdr");
    const char *given = tested ? NULL : find_given(call, app_has(call, "rewired") ? of_shifts : others);
    if (given != NULL)
        return refuse(given, companions(call, given), error);
    app_mining mining;
    app_significance significance = {0};
    sf_mine_result *result = NULL;
    int status = app_mining_parse(&mining, call, recording, error);
    if (status == SF_OK && tested)
        status = app_significance_parse(&significance, call, error);
    if (status != SF_OK)
        return status;
    mining.options.max_size = 2;
    status = app_mining_run(&result, &mining, call, recording, error);
    if (status == SF_OK)
        status = app_significance_run(&significance, result, &mining, call, recording, error);
    if (status == SF_OK) {
        app_not_testable_warn(call, &significance, recording);
        status = link_episodes(graph, result, recording, error);
    }
    sf_mine_result_free(result);
    return status;
}

/* ---- spike-time tiling ---- */

static int read_half_width(int64_t *dt, const app_call *call, sf_error *error)
{
    const app_preset *preset;
    int status = app_preset_get(call, &preset, error);
    *dt = status == SF_OK && preset != NULL && preset->sttc_ns > 0 ? preset->sttc_ns : 50 * SF_MILLISECOND;
    const char *text = app_value(call, "delay", NULL);
    if (status != SF_OK || text == NULL)
        return status;
    sf_delay delays[APP_MOST_DELAYS];
    size_t count;
    sf_error reason;
    if (sf_delays_parse(delays, APP_MOST_DELAYS, &count, text, &reason) != SF_OK)
        return refuse("delay", reason.text, error);
    *dt = 0;
    for (size_t i = 0; i < count; i++)
        *dt = delays[i].high_ns > *dt ? delays[i].high_ns : *dt;
    return SF_OK;
}

static int read_tiling(sf_sttc_options *options, const app_call *call, const sf_recording *recording,
                       sf_error *error)
{
    uint64_t surrogates = 200, seed = 1, threads = sf_thread_cores();
    int status = read_half_width(&options->dt_ns, call, error);
    if (status == SF_OK)
        status = app_uint(call, "surrogates", 0, 1000000, &surrogates, error);
    if (status == SF_OK)
        status = app_uint(call, "seed", 0, UINT64_MAX, &seed, error);
    if (status == SF_OK)
        status = app_uint(call, "threads", 1, 4096, &threads, error);
    if (surrogates > 0)
        app_tell_seed(call, seed);
    options->surrogates = (uint32_t)surrogates;
    options->percentile = SF_STTC_PERCENTILE;
    options->seed = seed;
    options->threads = (unsigned)threads;
    /* The end of a recorded span is excluded, and the coefficient takes both ends in. */
    options->recorded =
        (sf_recorded){recording->recorded.start_ns, recording->recorded.stop_ns - !recording->declared};
    return status;
}

static bool are_near(const sf_units *units, const sf_link *link, double um)
{
    const sf_unit *a = &units->items[link->from], *b = &units->items[link->to];
    return hypot(a->x_um - b->x_um, a->y_um - b->y_um) < um;
}

/* --min-distance for pairs, as mining has it. */
static int drop_near(sf_connectivity *graph, const app_call *call, const sf_recording *recording,
                     sf_error *error)
{
    double um = 0;
    int status = app_real(call, "min-distance", 0, 1e9, &um, error);
    if (status == SF_OK && um > 0 && !sf_units_have_geometry(&recording->units))
        return refuse("min-distance", "needs positions of units, which this recording does not hold", error);
    call->provenance->selected.min_distance_um = um;
    size_t kept = 0;
    for (size_t i = 0; status == SF_OK && i < graph->count; i++)
        if (!are_near(&recording->units, &graph->links[i], um))
            graph->links[kept++] = graph->links[i];
    graph->count = status == SF_OK ? kept : graph->count;
    return status;
}

static int connect_tiling(sf_connectivity *graph, const app_call *call, const sf_recording *recording,
                          sf_error *error)
{
    static const char *const others[] = {"min-count", "min-rate", "min-fraction", "self", "significance",
                                         "fdr",       NULL};
    static const char *const engines[] = {"engine", "device", NULL};
    const char *given = find_given(call, others);
    if (given == NULL && app_takes(call, app_engine_options))
        given = find_given(call, engines);
    if (given != NULL)
        return refuse(given, "goes with --metric episodes", error);
    sf_trains trains;
    sf_sttc_options options = {0};
    sf_progress progress = app_progress(call);
    int status = read_tiling(&options, call, recording, error);
    if (status == SF_OK)
        status = sf_trains_split(&trains, recording->spikes, recording->spike_count, recording->units.count,
                                 error);
    if (status != SF_OK)
        return status;
    options.progress = &progress;
    app_catch_signals();
    status = sf_sttc_graph(graph, &trains, &options, error);
    if (status == SF_OK)
        status = drop_near(graph, call, recording, error);
    sf_trains_free(&trains);
    return status;
}

/* Over recorded time, as `info` has them. */
static int add_rates(sf_connectivity *graph, const sf_recording *recording, sf_error *error)
{
    uint64_t *unit_spikes = sf_alloc(recording->units.count, sizeof *unit_spikes);
    if (unit_spikes == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++)
        unit_spikes[recording->spikes[i].unit]++;
    int status = sf_connectivity_set_rates(graph, unit_spikes, sf_recording_duration_ns(recording), error);
    sf_free(unit_spikes);
    return status;
}

int app_connect(sf_connectivity *graph, const app_call *call, const sf_recording *recording, sf_error *error)
{
    *graph = (sf_connectivity){0};
    const char *metric = app_value(call, "metric", "episodes");
    int status = SF_OK;
    if (strcmp(metric, "episodes") == 0)
        status = connect_episodes(graph, call, recording, error);
    else if (strcmp(metric, "sttc") == 0)
        status = connect_tiling(graph, call, recording, error);
    else
        return sf_fail(error, SF_USAGE, "--metric", "found '%s', expected episodes or sttc", metric);
    if (status == SF_OK)
        status = add_rates(graph, recording, error);
    if (status != SF_OK)
        sf_connectivity_free(graph);
    return status;
}

bool app_is_recording(const char *path)
{
    return access(path, R_OK) == 0 && sf_graph_file_format(path) == NULL &&
           sf_graph_written_only(path) == NULL;
}

int app_connect_file(sf_edge_list *list, const app_call *call, const char *path, sf_error *error)
{
    *list = (sf_edge_list){0};
    sf_recording recording;
    int status = app_load(call, path, &recording, error);
    if (status != SF_OK)
        return status;
    sf_connectivity graph;
    status = app_connect(&graph, call, &recording, error);
    if (status == SF_OK) {
        status = sf_connectivity_list(list, &graph, &recording.units, error);
        sf_connectivity_free(&graph);
    }
    sf_recording_free(&recording);
    return status;
}
