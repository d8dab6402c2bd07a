/* SPDX-License-Identifier: Apache-2.0 */
#include "app/connect.h"

#include "app/load.h"
#include "app/mining.h"
#include "app/preset.h"
#include "app/significance.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define METRIC                                                                                               \
    {                                                                                                        \
        "metric", "episodes|sttc",                                                                           \
            "an edge is a frequent episode of two units (default), or a high spike-time tiling "             \
            "coefficient, whose half-width is the greatest delay (default 50 ms)"                            \
    }
/* The first two as above, the others as sf_drive_method. */
#define METRIC_OR_DRIVE                                                                                      \
    {                                                                                                        \
        "metric", "episodes|sttc|regression|excess|tspe|transfer-entropy|directed-sttc",                     \
            "an edge is a frequent episode of two units (default), a high spike-time tiling coefficient, "   \
            "whose half-width is the greatest delay (default 50 ms), or, by the others, a unit that "        \
            "excites or inhibits another within --delay (default 1:15)"                                      \
    }
#define SURROGATES                                                                                           \
    {                                                                                                        \
        "surrogates", NULL,                                                                                  \
            "with --significance: how many (default 1000); sttc: keep pairs above the 95th percentile of N " \
            "circular shifts of their own, each within its epoch (default 200; 0: keep all); of edges with " \
            "a sign: segment-shift surrogates (default 0)"                                                   \
    }

const app_option app_connect_options[] = {
    METRIC_OR_DRIVE,
    {.name = "max-false"},
    {"episodes", "FILE",
     "edges are the links of these episodes: lines as A -(0,5]-> B, or the document of `synfire mine "
     "--json`; tested, q corrects for these alone"},
    SURROGATES,
    {"seed", NULL,
     "of random numbers: surrogates, shifts; of --measures modules and rewired graphs (default 1)"},
    {NULL, NULL, NULL},
};

const app_option app_compare_connect_options[] = {
    METRIC,
    SURROGATES,
    {"seed", NULL, "of random numbers: surrogates, shifts, permutations (default 1)"},
    {NULL, NULL, NULL},
};

const app_option app_match_connect_options[] = {
    METRIC_OR_DRIVE,    {.name = "max-false"},
    SURROGATES,         {"seed", NULL, "of random numbers: surrogates, shifts, rewired graphs (default 1)"},
    {NULL, NULL, NULL},
};

static bool is_among(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

int app_refuse_recording_options(const app_call *call, const char *const *but, sf_error *error)
{
    const app_option *const lists[] = {app_connect_options, app_match_connect_options, app_mining_options,
                                       app_engine_options,  app_significance_options,  app_selection_options};
    int status = SF_OK;
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
        for (const app_option *option = lists[l]; status == SF_OK && option->name != NULL; option++) {
            const char *const one[] = {option->name, NULL};
            if (app_takes(call, lists[l]) && !is_among(option->name, but))
                status = app_refuse(call, one, "is for recordings, and this is a graph", error);
        }
    return status;
}

/* ---- frequent episodes ---- */

/* Refuses options that an untested graph of episodes does not use; the error names the options of this
 * command that they go with. */
static int refuse_surrogates(const app_call *call, sf_error *error)
{
    static const char *const surrogates[] = {"surrogates", NULL}, *const seed[] = {"seed", NULL};
    const char *with = "goes with --metric sttc or --significance";
    int status = app_refuse(call, surrogates, with, error);
    if (status != SF_OK || app_has(call, "rewired") || app_has(call, "measures")) return status;
    bool rewires = app_takes(call, app_match_connect_options);
    return app_refuse(call, seed, rewires ? "goes with --metric sttc, --significance or --rewired" : with,
                      error);
}

static void tell_test(const sf_episodes *pairs, const app_call *call)
{
    sf_episodes_columns told = {.size = sizeof told};
    sf_episodes_get_columns(pairs, &told);
    app_significance_warn(call, &told);
    app_not_tested_warn(call, told.significance);
}

/* A test of edges, or that nothing asks for one in vain. */
static int parse_test(app_test *test, const app_call *call, sf_error *error)
{
    static const char *const of_tests[] = {"significance", "fdr", "max-p", "max-q", NULL};
    bool tested = false;
    for (size_t i = 0; of_tests[i] != NULL; i++)
        tested = tested || app_has(call, of_tests[i]);
    *test = (app_test){.asked = false};
    return tested ? app_test_parse(test, call, error) : refuse_surrogates(call, error);
}

static int take_stopped(app_stop *stop, int status, const sf_episodes_columns *told, sf_error *error)
{
    if (status == SF_CANCELLED)
        sf_fail(error, status, NULL,
                told->stopped == SF_STOPPED_SEARCHING ? "stopped: these are not all edges, and none is tested"
                                                      : "stopped: all edges are here, and none is tested");
    return app_stop_take(stop, status, app_stopped_name(told), error);
}

static int connect_episodes(sf_graph **graph, const app_call *call, const sf_recording *recording,
                            const sf_graph_options *as, app_stop *stop, sf_error *error)
{
    app_mining mining;
    app_test test;
    sf_episodes *pairs;
    int status = app_mining_parse(&mining, call, error);
    if (status == SF_OK) status = parse_test(&test, call, error);
    if (status != SF_OK) return status;
    mining.options.max_size = 2;
    mining.options.max_p = mining.options.max_q = 0; /* of the graph, which knows reverse links by then */
    mining.options.significance = app_test_options(&test);
    mining.options.keep_stopped = stop != NULL;
    status = app_mining_run(&pairs, &mining, call, recording, error);
    if (pairs == NULL) return status;
    sf_episodes_columns told = {.size = sizeof told};
    sf_episodes_get_columns(pairs, &told);
    if (stop != NULL) take_stopped(stop, status, &told, error);
    app_nothing_warn(&mining, call, recording, &told);
    tell_test(pairs, call);
    status = sf_graph_of_episodes(graph, pairs, as, error);
    sf_episodes_free(pairs);
    return status == SF_USAGE ? app_name_option(call, status, error) : status;
}

/* ---- given episodes ---- */

static int by_episode(const void *a, const void *b)
{
    const sf_episode *x = a, *y = b;
    for (uint32_t i = 0; i < 2; i++)
        if (x->units[i] != y->units[i]) return x->units[i] < y->units[i] ? -1 : 1;
    if (x->delays[0].low_ns != y->delays[0].low_ns) return x->delays[0].low_ns < y->delays[0].low_ns ? -1 : 1;
    return (x->delays[0].high_ns > y->delays[0].high_ns) - (x->delays[0].high_ns < y->delays[0].high_ns);
}

/* Every link of the episodes, once; free with sf_free. NULL where memory is out. */
static sf_episode *list_links(const sf_episode *episodes, size_t count, size_t *link_count)
{
    size_t links = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        links += episodes[i].size - 1;
    sf_episode *pairs = sf_alloc(links, sizeof *pairs);
    if (pairs == NULL) return NULL;
    for (size_t i = 0, next = 0; i < count; i++)
        for (uint32_t link = 0; link + 1 < episodes[i].size; link++)
            pairs[next++] = (sf_episode){.size = 2,
                                         .units = {episodes[i].units[link], episodes[i].units[link + 1]},
                                         .delays = {episodes[i].delays[link]}};
    if (links > 0) qsort(pairs, links, sizeof *pairs, by_episode);
    for (size_t i = 0; i < links; i++)
        if (i == 0 || by_episode(&pairs[i], &pairs[i - 1]) != 0) pairs[kept++] = pairs[i];
    *link_count = kept;
    return pairs;
}

static int count_links(sf_episodes **counted, const app_call *call, const sf_recording *recording,
                       const sf_episode *pairs, size_t count, sf_error *error)
{
    const sf_progress progress = app_progress(call);
    sf_counting_options how = sf_counting_options_default();
    app_test test = {.asked = false};
    int status = app_options_read(call, &sf_counting_table, &how, error);
    how.max_p = how.max_q = 0; /* of the graph */
    if (status == SF_OK) status = parse_test(&test, call, error);
    how.significance = app_test_options(&test);
    app_catch_signals();
    if (status == SF_OK)
        status =
            app_name_option(call, sf_count(counted, recording, pairs, count, &how, &progress, error), error);
    return status;
}

static int connect_given(sf_graph **graph, const app_call *call, const sf_recording *recording,
                         const sf_graph_options *as, sf_error *error)
{
    static const char *const others[] = {"delay",   "min-count",    "min-rate", "min-fraction",
                                         "repeats", "min-distance", NULL};
    sf_episode *episodes = NULL, *pairs = NULL;
    sf_episodes *counted = NULL;
    size_t count, links = 0;
    int status =
        app_refuse(call, others, "is for edges that are looked for, and --episodes gives them", error);
    if (status == SF_OK)
        status = app_episodes_read(&episodes, &count, app_value(call, "episodes", ""), recording, error);
    if (status == SF_OK) app_episodes_warn(call, episodes, count);
    if (status == SF_OK && (pairs = list_links(episodes, count, &links)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK) status = count_links(&counted, call, recording, pairs, links, error);
    if (status == SF_OK) tell_test(counted, call);
    if (status == SF_OK) status = sf_graph_of_episodes(graph, counted, as, error);
    sf_episodes_free(counted);
    sf_free(pairs);
    sf_free(episodes);
    return status;
}

/* ---- spike-time tiling ---- */

static int read_half_width(int64_t *dt, const app_call *call, sf_error *error)
{
    const app_preset *preset;
    int status = app_preset_get(call, &preset, error);
    if (status == SF_OK && preset != NULL && preset->sttc_ns > 0) *dt = preset->sttc_ns;
    app_mining given = {0};
    if (status == SF_OK) status = app_options_read(call, &app_mining_table, &given, error);
    if (status == SF_OK && app_has(call, "delay")) *dt = 0;
    for (size_t i = 0; status == SF_OK && i < given.options.delay_count; i++)
        *dt = given.delays[i].high_ns > *dt ? given.delays[i].high_ns : *dt;
    return status;
}

int app_connect_tiling(sf_tiling_options *options, const app_call *call, sf_error *error)
{
    *options = sf_tiling_options_default();
    int status = read_half_width(&options->half_width_ns, call, error);
    if (status == SF_OK) status = app_options_read(call, &sf_tiling_table, options, error);
    if (options->surrogates > 0) app_tell_seed(call, options->seed);
    call->provenance->min_distance_um = options->min_distance_um;
    return status;
}

/* The lowest p and q that surrogates can give: those of a pair that no surrogate reaches. */
static void warn_few_surrogates(const app_call *call, uint32_t surrogates, const sf_graph_options *as)
{
    double least = 1 / (1.0 + surrogates), most = 1 - sf_tiling_options_default().percentile;
    if (as->max_p > 0 && as->max_p < most) most = as->max_p;
    if (as->max_q > 0 && as->max_q < most) most = as->max_q;
    if (surrogates > 0 && least > most + 1e-9)
        app_doubt(call, "%u surrogates give no p or q below %.2g, so no pair can be an edge: take %.0f",
                  surrogates, least, ceil(1 / most - 1 - 1e-9));
}

static int connect_tiling(sf_graph **graph, const app_call *call, const sf_recording *recording,
                          const sf_graph_options *as, app_stop *stop, sf_error *error)
{
    static const char *const others[] = {"episodes", "min-count",    "min-rate", "min-fraction",
                                         "repeats",  "significance", "fdr",      NULL};
    static const char *const engines[] = {"engine", "device", NULL};
    static const char with[] = "goes with --metric episodes";
    sf_tiling_options options;
    const sf_progress progress = app_progress(call);
    int status = app_refuse(call, others, with, error);
    if (status == SF_OK && app_takes(call, app_engine_options))
        status = app_refuse(call, engines, with, error);
    if (status == SF_OK) status = app_connect_tiling(&options, call, error);
    if (status != SF_OK) return status;
    warn_few_surrogates(call, options.surrogates, as);
    app_catch_signals();
    uint32_t made;
    options.made = stop != NULL ? &made : NULL;
    status = sf_graph_of_tiling(graph, recording, &options, as, &progress, error);
    if (*graph != NULL) app_limits_warn(call);
    if (*graph != NULL && stop != NULL) return app_stop_take(stop, status, "testing", error);
    return status == SF_USAGE ? app_name_option(call, status, error) : status;
}

/* ---- who drives whom ---- */

static int read_drive(sf_drive_options *options, const app_call *call, sf_error *error)
{
    sf_tiling_options tiling = sf_tiling_options_default(); /* whose options of these names it shares */
    app_mining given = {0};
    int status = app_options_read(call, &sf_drive_table, options, error);
    if (status == SF_OK) status = app_options_read(call, &sf_tiling_table, &tiling, error);
    if (status == SF_OK) status = app_options_read(call, &app_mining_table, &given, error);
    if (status == SF_OK && app_has(call, "delay") && given.options.delay_count > 1)
        status = sf_fail(error, SF_USAGE, "--delay",
                         "found %zu intervals, expected one: --metric %s looks at all of it",
                         given.options.delay_count, app_value(call, "metric", ""));
    if (status != SF_OK) return status;
    options->surrogates = app_has(call, "surrogates") ? tiling.surrogates : 0;
    options->seed = tiling.seed;
    options->min_distance_um = tiling.min_distance_um;
    options->threads = tiling.threads;
    if (app_has(call, "delay")) {
        options->low_ns = given.delays[0].low_ns;
        options->high_ns = given.delays[0].high_ns;
    }
    if (options->surrogates > 0) app_tell_seed(call, options->seed);
    call->provenance->min_distance_um = options->min_distance_um;
    return SF_OK;
}

int app_connect_drive(sf_graph **graph, const app_call *call, const sf_recording *recording,
                      const sf_drive_options *drive, const sf_graph_options *as, sf_error *error)
{
    bool given = drive->low_ns != 0 || drive->high_ns != 0;
    const sf_delay delay =
        given ? (sf_delay){drive->low_ns, drive->high_ns} : (sf_delay){SF_DRIVE_LOW_NS, SF_DRIVE_HIGH_NS};
    const sf_progress progress = app_progress(call);
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    app_delay_doubt(call, delay, of.tick_ns);
    return sf_graph_of_drive(graph, recording, drive, as, &progress, error);
}

static int connect_drive(sf_graph **graph, const app_call *call, const sf_recording *recording,
                         const sf_graph_options *as, sf_drive_method method, sf_error *error)
{
    static const char *const others[] = {"episodes",     "min-count", "min-rate",
                                         "min-fraction", "preset",    "repeats",
                                         "significance", "fdr",       NULL};
    static const char *const engines[] = {"engine", "device", NULL};
    static const char with[] = "goes with --metric episodes";
    sf_drive_options options = sf_drive_options_default();
    int status = app_refuse(call, others, with, error);
    if (status == SF_OK && app_takes(call, app_engine_options))
        status = app_refuse(call, engines, with, error);
    if (status == SF_OK) status = read_drive(&options, call, error);
    if (status != SF_OK) return status;
    options.method = method;
    app_catch_signals();
    status = app_connect_drive(graph, call, recording, &options, as, error);
    return status == SF_USAGE ? app_name_option(call, status, error) : status;
}

int app_connect(sf_graph **graph, const app_call *call, const sf_recording *recording,
                const sf_graph_options *as, app_stop *stop, sf_error *error)
{
    enum { EPISODES, TILING, DRIVE };
    static const char *const of_drive[] = {"max-false", NULL};
    int metric = EPISODES; /* the place of the word */
    sf_graph_options how = *as;
    *graph = NULL;
    int status = app_options_read(call, &sf_graph_table, &how, error);
    if (status == SF_OK) status = app_word(call, "metric", &metric, error);
    if (status == SF_OK && metric >= DRIVE)
        return connect_drive(graph, call, recording, &how, (sf_drive_method)(metric - DRIVE), error);
    if (status == SF_OK)
        status = app_refuse(call, of_drive, "goes with a --metric of edges that have a sign", error);
    if (status != SF_OK) return status;
    if (metric == TILING) return connect_tiling(graph, call, recording, &how, stop, error);
    if (app_takes(call, app_connect_options) && app_has(call, "episodes"))
        return connect_given(graph, call, recording, &how, error);
    return connect_episodes(graph, call, recording, &how, stop, error);
}

bool app_is_recording(const app_call *call, const char *path)
{
    static const char *const of_graphs[] = {"device", "threads", "seed", "max-p", "max-q", NULL};
    sf_graph_file kind = sf_graph_file_kind(path);
    if (access(path, R_OK) != 0) return false;
    return kind == SF_GRAPH_FILE_NONE ||
           (kind == SF_GRAPH_FILE_PAIRS && app_refuse_recording_options(call, of_graphs, NULL) != SF_OK);
}

void app_tell_pairs(const app_call *call, const char *path)
{
    if (sf_graph_file_kind(path) == SF_GRAPH_FILE_PAIRS)
        app_warn(call, "%s: read as edges, FROM,TO; --columns unit,time_s reads it as a recording", path);
}

int app_connect_file(sf_graph **graph, const app_call *call, const char *path, const sf_graph_options *as,
                     sf_error *error)
{
    *graph = NULL;
    sf_recording *recording;
    int status = app_load(call, path, &recording, error);
    if (status != SF_OK) return status;
    status = app_connect(graph, call, recording, as, NULL, error);
    sf_recording_free(recording);
    return status;
}
