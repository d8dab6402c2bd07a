/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of the window, and the answers to what is asked of it. */
#include "pipeline/connections.h"
#include "pipeline/discovery.h"
#include "pipeline/hop.h"

#include <string.h>

static int run(sf_hop *hop, sf_error *error);

const sf_stage sf_stage_graph = {
    .name = "graph",
    .in = "history extract; window extract; rates extract; pairs extract; tests extract",
    .out = "graph assign; sinks add",
    .rounds = {.loop = "searches",
               .round = "reach_u",
               .variable = "u",
               .from = "rates[1]",
               .to = "rates[n]",
               .in = "pairs extract",
               .out = "graph[u] assign"},
    .part = SF_PART_GRAPH,
    .run = run,
};

static int run(sf_hop *hop, sf_error *error)
{
    sf_message *message;
    const sf_hop_window *window = sf_read_window(hop);
    const sf_pairing *pairs = sf_read_pairs(hop);
    const sf_testing *tests = sf_read_tests(hop);
    sf_connections_window asked = {
        .span = window->span,
        .history = sf_read_history(hop),
        .first = window->begin,
        .last = window->end,
        .unit_spikes = sf_read_rates(hop)->spikes,
        .testing = tests,
        .observed = tests->observed,
        .observed_count = tests->observed_count,
        .threshold = sf_discovery_threshold(hop->config, window->span, window->end - window->begin)};
    if (sf_pairing_counts(pairs)) asked.pairs = sf_pairing_found(pairs, &asked.pair_count);
    sf_connections *graph = sf_change_graph(hop, SF_PLAN_ASSIGN);
    int status = sf_connections_update(graph, &asked, &message, error);
    memcpy(hop->parts_ns, graph->parts_ns, sizeof graph->parts_ns);
    if (message != NULL) message->time_ns = message->graph.window.stop_ns;
    sf_hop_publish(hop, message);
    return status;
}
