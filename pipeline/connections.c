/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/connections.h"

#include "analysis/links.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "graph/rows.h"
#include "mine/mine.h"

#include <math.h>
#include <string.h>

/* ---- recorded time ---- */

int sf_connections_blank(sf_connections *connections, sf_span span, sf_error *error)
{
    void *spans = connections->blanked;
    if (sf_reserve(&spans, &connections->blanked_capacity, connections->blanked_count + 1, sizeof span) != 0)
        return sf_fail_memory(error);
    connections->blanked = spans;
    connections->blanked[connections->blanked_count++] = span;
    return SF_OK;
}

/* Forgets blanked spans before the window: no later window contains them. */
static void forget_blanked(sf_connections *connections, sf_span window)
{
    size_t kept = 0;
    for (size_t i = 0; i < connections->blanked_count; i++)
        if (connections->blanked[i].stop_ns > window.start_ns)
            connections->blanked[kept++] = connections->blanked[i];
    connections->blanked_count = kept;
}

/* The window, of which parts are cut out: room for each to leave two where one was. */
static int begin_recorded(sf_tiling_job *job, const sf_connections_window *window, sf_error *error)
{
    void *spans = job->recorded;
    size_t most = 1 + job->connections->blanked_count;
    for (size_t i = 0; i < window->observed_count; i++)
        most += window->observed[i].count + 1;
    if (sf_reserve(&spans, &job->recorded_capacity, most, sizeof *job->recorded) != 0)
        return sf_fail_memory(error);
    job->recorded = spans;
    job->recorded[0] = job->window;
    job->recorded_count = 1;
    return SF_OK;
}

/* Removes [start, stop) from the recorded spans; if start equals stop, splits the span there. */
static void cut_out(sf_tiling_job *job, int64_t start_ns, int64_t stop_ns)
{
    sf_span *spans = job->recorded;
    size_t first = 0;
    while (first < job->recorded_count && spans[first].stop_ns <= start_ns)
        first++;
    size_t next = first;
    while (next < job->recorded_count && spans[next].start_ns < stop_ns)
        next++;
    if (next == first || start_ns > stop_ns) return;
    sf_span left[2];
    size_t count = 0;
    if (spans[first].start_ns < start_ns) left[count++] = (sf_span){spans[first].start_ns, start_ns};
    if (spans[next - 1].stop_ns > stop_ns) left[count++] = (sf_span){stop_ns, spans[next - 1].stop_ns};
    memmove(spans + first + count, spans + next, (job->recorded_count - next) * sizeof *spans);
    memcpy(spans + first, left, count * sizeof *left);
    job->recorded_count += count + first - next;
}

static int find_recorded(sf_tiling_job *job, const sf_connections_window *window, sf_error *error)
{
    sf_connections *connections = job->connections;
    forget_blanked(connections, job->window);
    int status = begin_recorded(job, window, error);
    if (status != SF_OK) return status;
    for (size_t i = 0; i < connections->blanked_count; i++)
        cut_out(job, connections->blanked[i].start_ns, connections->blanked[i].stop_ns);
    for (size_t i = 0; i < window->observed_count; i++) {
        const sf_observed *observed = &window->observed[i];
        int64_t until_ns = INT64_MIN;
        for (size_t k = 0; k < observed->count; k++) {
            cut_out(job, until_ns, observed->spans[k].start_ns);
            until_ns = observed->spans[k].stop_ns;
        }
        cut_out(job, until_ns, INT64_MAX);
    }
    return SF_OK;
}

/* ---- by spike-time tiling ---- */

static void tile(void *argument)
{
    sf_tiling_job *job = argument;
    sf_connections *connections = job->connections;
    const sf_live_options *config = connections->config;
    sf_progress progress = sf_background_progress(&connections->tiling);
    sf_sttc_options options = {.dt_ns = sf_seconds_to_ns(config->graph.dt_ms * 1e-3),
                               .recorded = {job->window.start_ns, job->window.stop_ns},
                               .observed = job->recorded,
                               .observed_count = job->recorded_count,
                               .surrogates = config->graph.surrogates,
                               .percentile = SF_STTC_PERCENTILE,
                               .seed = config->graph.seed,
                               .threads =
                                   config->mine.threads != 0 ? config->mine.threads : sf_thread_cores(),
                               .progress = &progress};
    sf_stretch stretch = {.spikes = job->spikes,
                          .spike_count = job->count,
                          .unit_spikes = job->unit_spikes,
                          .unit_count = connections->units->count};
    for (size_t k = 0; k < job->recorded_count; k++)
        stretch.duration_ns += job->recorded[k].stop_ns - job->recorded[k].start_ns;
    job->status = sf_links_of_tiling(&job->graph, &stretch, &options, &job->error);
}

/* The window that is tiled next. */
static int begin_filling(sf_connections *connections, const sf_connections_window *window, sf_error *error)
{
    sf_tiling_job *job = &connections->job;
    size_t count = (size_t)(window->last - window->first);
    if (sf_reserve(&job->spikes, &job->capacity, count + 1, sizeof *job->spikes) != 0)
        return sf_fail_memory(error);
    memcpy(job->unit_spikes, window->unit_spikes, connections->units->count * sizeof *job->unit_spikes);
    job->count = 0;
    job->last = window->last;
    job->window = window->span;
    connections->filled = window->first;
    connections->filling = true;
    return find_recorded(job, window, error);
}

/* Spikes that a hop copies; more where windows move on faster. */
#define FILL_SPIKES 65536

/* The next part of its spikes, and what the history will let go of; all of them where no hop waits. */
static void fill(sf_connections *connections, const sf_connections_window *window)
{
    sf_tiling_job *job = &connections->job;
    uint64_t until = connections->filled + FILL_SPIKES;
    until = until > window->first ? until : window->first;
    if (until > job->last || connections->tiling.place == SF_BACKGROUND_INSIDE) until = job->last;
    size_t count = (size_t)(until - connections->filled);
    if (count > 0)
        memcpy(job->spikes + job->count, sf_history_view(window->history, connections->filled),
               count * sizeof *job->spikes);
    job->count += count;
    connections->filled = until;
    connections->filling = until < job->last;
}

static int start_tiling(sf_connections *connections, const sf_connections_window *window, sf_error *error)
{
    if (!sf_background_is_idle(&connections->tiling)) return SF_OK;
    bool goes_on = connections->filling && connections->filled >= window->history->begin;
    int status = goes_on ? SF_OK : begin_filling(connections, window, error);
    if (status != SF_OK) return status;
    fill(connections, window);
    /* Without recorded time there are no shares of it to compute. */
    if (!connections->filling && connections->job.recorded_count > 0)
        sf_background_start(&connections->tiling);
    return SF_OK;
}

/* Takes the finished graph, if any, which is that of the newest window that is done. */
static int take_tiling(sf_connections *connections, sf_connectivity *snapshot, sf_span *window, bool *ready,
                       sf_error *error)
{
    sf_tiling_job *job = &connections->job;
    if (!sf_background_take(&connections->tiling)) return SF_OK;
    if (job->status == SF_CANCELLED) /* halted: nobody waits for it */
        return SF_OK;
    if (job->status != SF_OK) return sf_fail(error, job->error.code, job->error.place, "%s", job->error.text);
    sf_connectivity_free(snapshot);
    *snapshot = job->graph;
    job->graph = (sf_connectivity){0};
    *window = job->window;
    *ready = true;
    return SF_OK;
}

static int update_tiling(sf_connections *connections, const sf_connections_window *window,
                         sf_connectivity *snapshot, sf_span *span, bool *ready, sf_error *error)
{
    int status = take_tiling(connections, snapshot, span, ready, error);
    if (status == SF_OK) status = start_tiling(connections, window, error);
    if (status == SF_OK) /* on a virtual clock it is there already */
        status = take_tiling(connections, snapshot, span, ready, error);
    return status;
}

/* ---- by frequent episodes ---- */

static void tell_too_many(sf_connections *connections, bool too_many)
{
    if (too_many && !connections->too_many)
        sf_log(SF_LOG_WARNING,
               "more than %d pairs reach the threshold: there is no graph of such a window; ask for a higher "
               "threshold under mine",
               SF_CONNECTIONS_MOST);
    connections->too_many = too_many;
}

/* The frequent pairs of the window as a graph. */
static int take_pairs(sf_connections *connections, const sf_connections_window *window,
                      sf_connectivity *snapshot, bool *ready, sf_error *error)
{
    *ready = window->pair_count <= SF_CONNECTIONS_MOST;
    tell_too_many(connections, !*ready);
    if (!*ready) return SF_OK;
    const sf_stretch stretch = {.unit_spikes = window->unit_spikes,
                                .unit_count = connections->units->count,
                                .duration_ns =
                                    sf_observed_ns(window->observed, window->observed_count, window->span)};
    return sf_links_of_pairs(snapshot, window->pairs, window->pair_count, connections->delays, &stretch,
                             error);
}

/* ---- the interface ---- */

static int open_tiling(sf_connections *connections, bool virtual_clock, sf_error *error)
{
    connections->job.unit_spikes = sf_alloc(connections->units->count, sizeof *connections->job.unit_spikes);
    if (connections->job.unit_spikes == NULL) return sf_fail_memory(error);
    return sf_background_open(&connections->tiling, "synfire-tile", sf_background_inside(virtual_clock), tile,
                              &connections->job, error);
}

int sf_connections_open(sf_connections *connections, const sf_live_options *config, const sf_units *units,
                        const sf_delay *delays, sf_device *device, bool virtual_clock, sf_error *error)
{
    *connections = (sf_connections){
        .config = config, .units = units, .delays = delays, .job = {.connections = connections}};
    int status = sf_queries_open(&connections->queries, config, units, device, virtual_clock, error);
    if (status == SF_OK && config->graph.enabled && config->graph.metric == SF_LIVE_STTC)
        status = open_tiling(connections, virtual_clock, error);
    if (status != SF_OK) sf_connections_close(connections);
    return status;
}

void sf_connections_close(sf_connections *connections)
{
    sf_background_close(&connections->tiling);
    sf_queries_close(&connections->queries);
    sf_connectivity_free(&connections->snapshot);
    sf_connectivity_free(&connections->job.graph);
    sf_free(connections->job.spikes);
    sf_free(connections->job.unit_spikes);
    sf_free(connections->job.recorded);
    sf_free(connections->blanked);
    *connections = (sf_connections){0};
}

/* Tiling edges are tested by their own surrogates; without surrogates there is no p to limit. */
static sf_left_out leave_out(const sf_connections *connections, sf_connectivity *snapshot)
{
    sf_left_out left_out = sf_testing_limits(connections->config);
    if (snapshot->is_tiling && snapshot->surrogates == 0) return (sf_left_out){0};
    sf_connectivity_keep(snapshot, (sf_limits){left_out.max_p, left_out.max_q});
    left_out.count = snapshot->left_out;
    for (size_t i = 0; i < snapshot->left_out; i++)
        left_out.untested += isnan(snapshot->links[snapshot->count + i].p) ? 1 : 0;
    return left_out;
}

static int fill_message(sf_connections *connections, const sf_connectivity *snapshot, sf_graph_message *graph,
                        sf_error *error)
{
    graph->is_tiling = snapshot->is_tiling;
    graph->edges = snapshot->count;
    graph->pairs_tested = snapshot->surrogates > 0 ? snapshot->pairs : 0;
    graph->pairs_by_chance =
        sf_connectivity_by_chance(snapshot, (sf_limits){connections->config->significance.max_p,
                                                        connections->config->significance.max_q});
    int status =
        sf_connectivity_diff(&connections->snapshot, snapshot, &graph->changes, &graph->change_count, error);
    return status == SF_OK
               ? sf_queries_answer(&connections->queries, snapshot, graph, connections->parts_ns, error)
               : status;
}

int sf_connections_update(sf_connections *connections, const sf_connections_window *window,
                          sf_message **message, sf_error *error)
{
    *message = NULL;
    memset(connections->parts_ns, 0, sizeof connections->parts_ns);
    if (!connections->config->graph.enabled) return SF_OK;
    sf_connectivity snapshot = {0};
    sf_span span = window->span;
    bool ready = false;
    int status = connections->config->graph.metric != SF_LIVE_STTC
                     ? take_pairs(connections, window, &snapshot, &ready, error)
                     : update_tiling(connections, window, &snapshot, &span, &ready, error);
    if (status != SF_OK || !ready) {
        sf_connectivity_free(&snapshot);
        return status;
    }
    sf_message *filled = sf_message_new(SF_TOPIC_GRAPH);
    status = filled != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        if (window->testing != NULL) sf_testing_mark(window->testing, &snapshot);
        filled->graph.left_out = leave_out(connections, &snapshot);
        filled->graph.window = span;
        filled->graph.threshold = snapshot.is_tiling ? NAN : window->threshold;
        status = fill_message(connections, &snapshot, &filled->graph, error);
        if (window->testing != NULL)
            sf_testing_date(window->testing, filled->graph.changes, filled->graph.change_count, span.stop_ns);
    }
    if (status != SF_OK) {
        sf_message_release(filled);
        sf_connectivity_free(&snapshot);
        return status;
    }
    sf_connectivity_free(&connections->snapshot);
    connections->snapshot = snapshot;
    *message = filled;
    return SF_OK;
}
