/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench analyses: what a hop of 100 ms costs in each analysis that a live run does beside the stages of its
 * hops, at 4,096 units and 100,000 spikes a second, in processor time, so that what else runs on the machine
 * does not count: network bursts, at a criterion that half of the spikes meet; responses to a stimulus each
 * second, with a message each; responses that are switched off; the branching ratio of the last 100 s, each
 * 10 s, and spike-time tiling of the last 10 s, both of which are estimated in threads of their own; and each
 * second the measures of a graph of five edges a unit, by chance. Row `together` is all of them in the same
 * hop. A hop begins once the trial before it is counted, as in a run, where hops are 100 ms apart: else
 * trials would pile up here, and with them the spikes that they need.
 */
#include "bench/command/stream.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/message.h"
#include "core/random.h"
#include "core/reals.h"
#include "core/spare.h"
#include "mine/isi_n.h"
#include "pipeline/connections.h"
#include "pipeline/criticality.h"
#include "pipeline/trials.h"
#include "replay/simulation.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define HOP_NS (100 * SF_MILLISECOND)
#define SECONDS 60
#define WINDOW_NS (10 * SF_SECOND)
#define EDGES_EACH 5
#define BURST_SPIKES 1000
#define BURST_WITHIN_NS (10 * SF_MILLISECOND)

enum { BURSTS, RESPONSES, OFF, CRITICALITY, TILING, MEASURES, TOGETHER, ROWS };

static const char *const parts[] = {
    [BURSTS] = "bursts", [RESPONSES] = "responses", [OFF] = "off",    [CRITICALITY] = "criticality",
    [TILING] = "tiling", [MEASURES] = "measures",   [TOGETHER] = NULL};

typedef struct analyses {
    bool wanted[TOGETHER];
    sf_publisher publisher; /**< without an outlet */
    sf_inputs inputs;
    sf_isi_n bursts;
    sf_trials trials, off;
    sf_criticality_run criticality;
    sf_live_options tiled, measured; /* what they are configured by */
    sf_connections tiling;
    sf_history history; /**< of the window that is tiled */
    uint64_t *unit_spikes;
    sf_queries measures;
    sf_connectivity graph; /**< that is measured */
    uint64_t bursts_ended;
    double *ms[ROWS]; /**< of each hop */
    size_t hops;
} analyses;

/* ---- a hop ---- */

static int take_bursts(analyses *a, const sf_spike *spikes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned brought = sf_isi_n_reach(&a->bursts, spikes[i].time_ns) |
                           sf_isi_n_take(&a->bursts, spikes[i].time_ns, spikes[i].unit);
        a->bursts_ended += (brought & SF_BURST_ENDED) != 0;
    }
    return SF_OK;
}

static int take_trials(sf_trials *trials, sf_publisher *publisher, const sf_spike *spikes, size_t count,
                       int64_t until_ns, sf_error *error)
{
    int status = sf_trials_feed(trials, spikes, count, error);
    return status == SF_OK ? sf_trials_reach(trials, until_ns, 0, publisher, error) : status;
}

/* In no other thread than the caller's: the estimate is made beside. */
static double thread_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int take_criticality(analyses *a, const sf_spike *spikes, size_t count, int64_t until_ns,
                            sf_error *error)
{
    int status = sf_criticality_run_feed(&a->criticality, spikes, count, error);
    return status == SF_OK ? sf_criticality_run_reach(&a->criticality, until_ns, 0, &a->publisher, error)
                           : status;
}

/* As the hops do: the history and the counts are theirs. */
static int keep_window(analyses *a, const sf_spike *spikes, size_t count, int64_t until_ns, sf_error *error)
{
    uint64_t first = a->history.begin;
    int status = sf_history_append(&a->history, spikes, count, error);
    if (status != SF_OK) return status;
    for (size_t i = 0; i < count; i++)
        a->unit_spikes[spikes[i].unit]++;
    uint64_t keep = sf_history_find(&a->history, until_ns - WINDOW_NS);
    for (const sf_spike *spike = sf_history_view(&a->history, first); first < keep; first++, spike++)
        a->unit_spikes[spike->unit]--;
    sf_history_drop_before(&a->history, keep);
    return SF_OK;
}

static int take_tiling(analyses *a, int64_t until_ns, sf_error *error)
{
    const sf_connections_window window = {.span = {until_ns - WINDOW_NS, until_ns},
                                          .history = &a->history,
                                          .first = a->history.begin,
                                          .last = a->history.end,
                                          .unit_spikes = a->unit_spikes};
    sf_message *message;
    int status = sf_connections_update(&a->tiling, &window, &message, error);
    sf_message_release(message);
    return status;
}

static int take_measures(analyses *a, sf_error *error)
{
    int64_t parts_ns[SF_PARTS] = {0};
    sf_message *message = sf_message_new(SF_TOPIC_GRAPH);
    int status = message != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_queries_answer(&a->measures, &a->graph, &message->graph, parts_ns, error);
    sf_message_release(message);
    return status;
}

static int take_one(analyses *a, int which, const sf_spike *spikes, size_t count, int64_t until_ns,
                    sf_error *error)
{
    switch (which) {
    case BURSTS:
        return take_bursts(a, spikes, count);
    case RESPONSES:
        return take_trials(&a->trials, &a->publisher, spikes, count, until_ns, error);
    case CRITICALITY:
        return take_criticality(a, spikes, count, until_ns, error);
    case TILING:
        return take_tiling(a, until_ns, error);
    case MEASURES:
        return take_measures(a, error);
    default:
        return take_trials(&a->off, &a->publisher, spikes, count, until_ns, error);
    }
}

static int take_hop(analyses *a, const sf_spike *spikes, size_t count, int64_t until_ns, sf_error *error)
{
    int status = SF_OK;
    a->ms[TOGETHER][a->hops] = 0;
    if (a->wanted[RESPONSES] && (until_ns - HOP_NS) % SF_SECOND == 0)
        status = sf_trials_mark(&a->trials, until_ns - HOP_NS, error);
    if (status == SF_OK && a->wanted[TILING]) status = keep_window(a, spikes, count, until_ns, error);
    for (int which = 0; status == SF_OK && which < TOGETHER; which++) {
        if (!a->wanted[which]) continue;
        double began_ms = thread_ms();
        status = take_one(a, which, spikes, count, until_ns, error);
        a->ms[which][a->hops] = thread_ms() - began_ms;
        a->ms[TOGETHER][a->hops] += a->ms[which][a->hops];
    }
    a->hops++;
    sf_background_wait(&a->trials.background);
    return status;
}

/* ---- the stream ---- */

/* Spikes of hops that are not over yet. */
typedef struct rest {
    sf_spike *spikes;
    size_t count, room, taken;
} rest;

static int take_hops(analyses *a, rest *r, size_t hops, int64_t done_ns, sf_error *error)
{
    int status = SF_OK;
    while (status == SF_OK && a->hops < hops && ((int64_t)a->hops + 1) * HOP_NS <= done_ns) {
        int64_t until_ns = ((int64_t)a->hops + 1) * HOP_NS;
        size_t count = sf_spikes_lower_bound(r->spikes + r->taken, r->count - r->taken, until_ns);
        status = take_hop(a, r->spikes + r->taken, count, until_ns, error);
        r->taken += count;
    }
    r->count -= r->taken;
    memmove(r->spikes, r->spikes + r->taken, r->count * sizeof *r->spikes);
    r->taken = 0;
    return status;
}

static int take_stream(analyses *a, sf_simulation *simulation, size_t hops, sf_error *error)
{
    rest r = {0};
    int status = SF_OK;
    while (status == SF_OK && a->hops < hops && !app_stop_requested()) {
        const sf_spike *spikes;
        size_t count;
        status = sf_simulation_next(simulation, &spikes, &count, error);
        if (status == SF_OK && sf_reserve(&r.spikes, &r.room, r.count + count, sizeof *r.spikes) != 0)
            status = sf_fail_memory(error);
        if (status != SF_OK) break;
        memcpy(r.spikes + r.count, spikes, count * sizeof *spikes);
        r.count += count;
        status = take_hops(a, &r, hops, count > 0 ? sf_simulation_done_ns(simulation) : INT64_MAX, error);
    }
    sf_free(r.spikes);
    return status == SF_OK && app_stop_requested() ? sf_fail(error, SF_CANCELLED, NULL, "stopped") : status;
}

/* ---- the whole ---- */

/* Of each unit an edge to each fifth of the units, with counts of up to three times what is expected. */
static int make_graph(sf_connectivity *graph, sf_error *error)
{
    const uint32_t part = BENCH_UNITS / EDGES_EACH;
    sf_random random = sf_random_start(1, 0);
    graph->unit_count = BENCH_UNITS;
    graph->links = sf_alloc((size_t)BENCH_UNITS * EDGES_EACH, sizeof *graph->links);
    if (graph->links == NULL) return sf_fail_memory(error);
    for (uint32_t from = 0; from < BENCH_UNITS; from++)
        for (uint32_t k = 0; k < EDGES_EACH; k++)
            graph->links[graph->count++] =
                (sf_link){.from = from,
                          .to = k * part + (uint32_t)sf_random_below(&random, part),
                          .delay = {0, SF_MILLISECOND},
                          .count = 21 + sf_random_below(&random, 40),
                          .expected = 20};
    return SF_OK;
}

static int open_graphs(analyses *a, sf_error *error)
{
    a->tiled = a->measured = sf_live_options_default();
    a->tiled.graph.metric = SF_LIVE_STTC;
    a->measured.graph.measures = 10;
    a->history.span_ns = WINDOW_NS;
    a->unit_spikes = sf_alloc(BENCH_UNITS, sizeof *a->unit_spikes);
    int status = a->unit_spikes != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_connections_open(&a->tiling, &a->tiled, &a->inputs.units, NULL, NULL, false, error);
    if (status == SF_OK)
        sf_background_halt(&a->tiling.tiling); /* so that others begin: each lasts for minutes */
    if (status == SF_OK)
        status = sf_queries_open(&a->measures, &a->measured, &a->inputs.units, NULL, false, error);
    return status == SF_OK ? make_graph(&a->graph, error) : status;
}

static int open_all(analyses *a, size_t hops, sf_error *error)
{
    sf_live_options config = sf_live_options_default();
    sf_spare_begin(); /* as a run does */
    int status = sf_isi_n_open(&a->bursts, BURST_SPIKES, BURST_WITHIN_NS, BENCH_UNITS, error);
    a->inputs.units.count = BENCH_UNITS;
    if (status == SF_OK) status = sf_trials_open(&a->off, &config, &a->inputs, error);
    config.responses.marker = "light";
    config.criticality.every_s = 10;
    if (status == SF_OK) status = sf_trials_open(&a->trials, &config, &a->inputs, error);
    if (status == SF_OK) status = sf_criticality_run_open(&a->criticality, &config, &a->inputs, true, error);
    if (status == SF_OK) status = open_graphs(a, error);
    a->trials.began_ns = a->criticality.began_ns = 0;
    for (int row = 0; status == SF_OK && row < ROWS; row++)
        status = (a->ms[row] = sf_alloc(hops, sizeof *a->ms[row])) != NULL ? SF_OK : sf_fail_memory(error);
    return status;
}

static void close_all(analyses *a)
{
    sf_spare_end();
    sf_isi_n_close(&a->bursts);
    sf_trials_close(&a->off);
    sf_trials_close(&a->trials);
    sf_criticality_run_close(&a->criticality);
    sf_connections_close(&a->tiling);
    sf_queries_close(&a->measures);
    sf_connectivity_free(&a->graph);
    sf_history_free(&a->history);
    sf_free(a->unit_spikes);
    for (int row = 0; row < ROWS; row++)
        sf_free(a->ms[row]);
}

/* Sorts the times on the way. */
static void tell(app_bench_rows *rows, const char *name, double *ms, size_t count)
{
    double sum = 0;
    sf_reals_sort(ms, count);
    for (size_t i = 0; i < count; i++)
        sum += ms[i];
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "analysis", name);
    app_bench_number(rows, "mean_ms", count > 0 ? sum / (double)count : NAN);
    app_bench_number(rows, "p50_ms", count > 0 ? ms[(count - 1) / 2] : NAN);
    app_bench_number(rows, "p99_ms", count > 0 ? ms[(count - 1) * 99 / 100] : NAN);
    app_bench_number(rows, "max_ms", count > 0 ? ms[count - 1] : NAN);
    app_bench_number(rows, "hops", (double)count);
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    analyses a = {0};
    app_bench_options options;
    sf_simulation *simulation = NULL;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = BENCH_UNITS;
    settings.rate_hz = (double)BENCH_RATE_HZ / BENCH_UNITS;
    int status = app_bench_read(&options, call, error);
    const double seconds = options.seconds > 0 ? options.seconds : SECONDS;
    settings.duration_ns = status == SF_OK ? sf_seconds_to_ns(seconds) : 0;
    size_t hops = (size_t)(settings.duration_ns / HOP_NS);
    for (int which = 0; which < TOGETHER; which++)
        a.wanted[which] = app_bench_wants(call, parts[which]);
    if (status == SF_OK) status = open_all(&a, hops, error);
    if (status == SF_OK) status = sf_simulation_open(&simulation, &settings, error);
    if (status == SF_OK) status = take_stream(&a, simulation, hops, error);
    for (int which = 0; status == SF_OK && which < TOGETHER; which++)
        if (a.wanted[which]) tell(rows, parts[which], a.ms[which], a.hops);
    if (status == SF_OK && call->argument_count != 2) tell(rows, "together", a.ms[TOGETHER], a.hops);
    sf_simulation_close(simulation);
    close_all(&a);
    return status;
}

static const char *const options[] = {"seconds", NULL};

const app_bench app_bench_analyses = {.name = "analyses", .parts = parts, .options = options, .run = run};
