/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/connections.h"

#include "core/error.h"
#include "core/memory.h"
#include "graph/sttc.h"

#include <string.h>

/* ---- by spike-time tiling
 * --------------------------------------------------------------------------------------------- */

static void tile(void *argument)
{
    sf_tiling_job *job = argument;
    sf_connections *connections = job->connections;
    const sf_config *config = connections->config;
    sf_progress progress = sf_background_progress(&connections->tiling);
    sf_sttc_options options = {.dt_ns = sf_seconds_to_ns(config->graph.dt_ms * 1e-3),
                               .recorded = {job->window.start_ns, job->window.stop_ns},
                               .surrogates = config->graph.surrogates,
                               .percentile = SF_STTC_PERCENTILE,
                               .seed = config->graph.seed,
                               .threads =
                                   config->mine.threads != 0 ? config->mine.threads : sf_thread_cores(),
                               .progress = &progress};
    sf_trains trains;
    job->status = sf_trains_split(&trains, job->spikes, job->count, connections->units->count, &job->error);
    if (job->status != SF_OK)
        return;
    job->status = sf_sttc_graph(&job->graph, &trains, &options, &job->error);
    if (job->status == SF_OK)
        job->status = sf_connectivity_set_rates(&job->graph, job->rates_hz, &job->error);
    sf_trains_free(&trains);
}

static int start_tiling(sf_connections *connections, const sf_connections_window *window, sf_error *error)
{
    sf_tiling_job *job = &connections->job;
    if (!sf_background_is_idle(&connections->tiling))
        return SF_OK;
    void *room = job->spikes;
    if (sf_reserve(&room, &job->capacity, window->count + 1, sizeof *window->spikes) != 0)
        return sf_fail_memory(error);
    job->spikes = room;
    if (window->count > 0)
        memcpy(job->spikes, window->spikes, window->count * sizeof *window->spikes);
    memcpy(job->rates_hz, window->rates_hz, connections->units->count * sizeof *job->rates_hz);
    job->count = window->count;
    job->window = window->span;
    sf_background_start(&connections->tiling);
    return SF_OK;
}

/* The graph of the newest window that is done, where there is one. */
static int take_tiling(sf_connections *connections, sf_connectivity *snapshot, sf_span *window, bool *ready,
                       sf_error *error)
{
    sf_tiling_job *job = &connections->job;
    if (!sf_background_take(&connections->tiling))
        return SF_OK;
    if (job->status != SF_OK)
        return sf_fail(error, job->error.code, job->error.place, "%s", job->error.text);
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
    if (status == SF_OK)
        status = start_tiling(connections, window, error);
    if (status == SF_OK) /* on a virtual clock it is there already */
        status = take_tiling(connections, snapshot, span, ready, error);
    return status;
}

/* ---- by frequent episodes
 * --------------------------------------------------------------------------------------------- */

/* The frequent pairs of the window as a graph. */
static int take_pairs(sf_connectivity *snapshot, const sf_connections *connections,
                      const sf_connections_window *window, sf_error *error)
{
    const sf_episodes_message *episodes = window->episodes;
    sf_link *links = sf_alloc(episodes->count, sizeof *links);
    if (links == NULL)
        return sf_fail_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < episodes->count; i++) {
        const sf_episode_count *item = &episodes->items[i];
        if (item->episode.size == 2 && (double)item->count >= window->threshold)
            links[count++] = (sf_link){.from = item->episode.units[0],
                                       .to = item->episode.units[1],
                                       .delay = item->episode.delays[0],
                                       .count = item->count,
                                       .expected = item->expected,
                                       .p = item->p};
    }
    int status = sf_connectivity_build(snapshot, (uint32_t)connections->units->count, links, count, error);
    if (status == SF_OK)
        status = sf_connectivity_set_rates(snapshot, window->rates_hz, error);
    sf_free(links);
    return status;
}

/* ---- the interface
 * ---------------------------------------------------------------------------------------------------- */

int sf_connections_open(sf_connections *connections, const sf_config *config, const sf_units *units,
                        bool virtual_clock, sf_error *error)
{
    *connections = (sf_connections){.config = config, .units = units, .job = {.connections = connections}};
    int status = sf_queries_open(&connections->queries, config, units, virtual_clock, error);
    if (status == SF_OK) {
        connections->job.rates_hz = sf_alloc(units->count, sizeof *connections->job.rates_hz);
        status = connections->job.rates_hz != NULL ? SF_OK : sf_fail_memory(error);
    }
    if (status == SF_OK && config->graph.enabled && config->graph.metric == SF_CONFIG_STTC)
        status = sf_background_open(&connections->tiling, "synfire-tile", virtual_clock, tile,
                                    &connections->job, error);
    if (status != SF_OK)
        sf_connections_close(connections);
    return status;
}

void sf_connections_close(sf_connections *connections)
{
    sf_background_close(&connections->tiling);
    sf_queries_close(&connections->queries);
    sf_connectivity_free(&connections->snapshot);
    sf_connectivity_free(&connections->job.graph);
    sf_free(connections->job.spikes);
    sf_free(connections->job.rates_hz);
    *connections = (sf_connections){0};
}

static int fill_message(sf_connections *connections, const sf_connectivity *snapshot, sf_graph_message *graph,
                        sf_error *error)
{
    graph->is_tiling = snapshot->is_tiling;
    graph->edges = snapshot->count;
    int status =
        sf_connectivity_diff(&connections->snapshot, snapshot, &graph->changes, &graph->change_count, error);
    return status == SF_OK ? sf_queries_answer(&connections->queries, snapshot, graph, error) : status;
}

int sf_connections_update(sf_connections *connections, const sf_connections_window *window,
                          sf_message **message, sf_error *error)
{
    *message = NULL;
    if (!connections->config->graph.enabled)
        return SF_OK;
    sf_connectivity snapshot = {0};
    sf_span span = window->span;
    bool ready = connections->config->graph.metric == SF_CONFIG_EPISODES;
    int status = ready ? take_pairs(&snapshot, connections, window, error)
                       : update_tiling(connections, window, &snapshot, &span, &ready, error);
    if (status != SF_OK || !ready) {
        sf_connectivity_free(&snapshot);
        return status;
    }
    sf_message *filled = sf_message_new(SF_TOPIC_GRAPH);
    status = filled != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        filled->graph.window = span;
        status = fill_message(connections, &snapshot, &filled->graph, error);
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
