/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/connections.h"

#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>

int sf_connections_open(sf_connections *connections, const sf_config *config, const sf_units *units,
                        sf_error *error)
{
    *connections = (sf_connections){.enabled = config->graph.enabled, .units = units};
    uint32_t count = config->graph.reach_count;
    connections->queries = sf_alloc(count, sizeof *connections->queries);
    if (connections->queries == NULL)
        return sf_fail_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        const sf_config_reach *reach = &config->graph.reach[i];
        sf_error reason;
        connections->queries[i].hops = reach->hops;
        if (sf_units_resolve(units, reach->from, &connections->queries[i].source, &reason) != SF_OK) {
            char key[48];
            snprintf(key, sizeof key, "graph.reach.%" PRIu32 ".from", i);
            sf_connections_close(connections);
            return sf_config_refuse(config, key, error, "%s", reason.text);
        }
    }
    connections->query_count = count;
    return SF_OK;
}

void sf_connections_close(sf_connections *connections)
{
    sf_connectivity_free(&connections->snapshot);
    sf_free(connections->queries);
    *connections = (sf_connections){0};
}

/* The frequent pairs of the window as a graph. */
static int take_snapshot(sf_connectivity *snapshot, const sf_connections *connections,
                         const sf_episodes_message *episodes, double threshold, sf_error *error)
{
    sf_link *links = sf_alloc(episodes->count, sizeof *links);
    if (links == NULL)
        return sf_fail_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < episodes->count; i++) {
        const sf_episode_count *item = &episodes->items[i];
        if (item->episode.size == 2 && (double)item->count >= threshold)
            links[count++] = (sf_link){.from = item->episode.units[0],
                                       .to = item->episode.units[1],
                                       .delay = item->episode.delays[0],
                                       .count = item->count,
                                       .expected = item->expected,
                                       .p = item->p};
    }
    int status = sf_connectivity_build(snapshot, (uint32_t)connections->units->count, links, count, error);
    sf_free(links);
    return status;
}

static int answer_queries(sf_graph_message *graph, const sf_connections *connections,
                          const sf_connectivity *snapshot, sf_error *error)
{
    if (connections->query_count == 0)
        return SF_OK;
    graph->reach = sf_alloc(connections->query_count, sizeof *graph->reach);
    if (graph->reach == NULL)
        return sf_fail_memory(error);
    sf_csr csr;
    int status = sf_connectivity_csr(&csr, snapshot, NULL, error);
    if (status != SF_OK)
        return status;
    for (size_t i = 0; i < connections->query_count && status == SF_OK; i++) {
        const struct sf_reach_query *query = &connections->queries[i];
        status = sf_connectivity_reach(&graph->reach[i], &csr, query->source, query->hops, error);
        graph->reach_count += status == SF_OK;
    }
    sf_csr_free(&csr);
    return status;
}

int sf_connections_update(sf_connections *connections, const sf_episodes_message *episodes, double threshold,
                          sf_message **message, sf_error *error)
{
    *message = NULL;
    if (!connections->enabled)
        return SF_OK;
    sf_connectivity snapshot = {0};
    int status = take_snapshot(&snapshot, connections, episodes, threshold, error);
    if (status != SF_OK)
        return status;
    sf_message *filled = sf_message_new(SF_TOPIC_GRAPH);
    status = filled != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        sf_graph_message *graph = &filled->graph;
        graph->window = episodes->window;
        graph->edges = snapshot.count;
        status = sf_connectivity_diff(&connections->snapshot, &snapshot, &graph->changes,
                                      &graph->change_count, error);
        if (status == SF_OK)
            status = answer_queries(graph, connections, &snapshot, error);
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
