/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of networks for synfire/graph.h and for comparing recordings. */
#include "analysis/activity.h"
#include "analysis/graph.h"
#include "analysis/tables.h"

#include "core/error.h"
#include "core/options.h"
#include "graph/rows.h"

int sf_network_measure(sf_network_measures *measures, const sf_graph *graph, const bool *takes_part,
                       uint32_t rewired, sf_error *error)
{
    const sf_measuring how = {
        .rule = {.takes_part = takes_part, .alike = true}, .resolution = 1, .seed = 1, .rewired = rewired};
    return sf_network_measures_find(measures, &graph->csr, &how, error);
}

static sf_measuring measuring_of(const sf_network_options *options, const sf_progress *progress)
{
    return (sf_measuring){.rule = {.threshold = options->threshold,
                                   .density = options->edge_density,
                                   .linked = options->linked},
                          .resolution = options->resolution > 0 ? options->resolution : 1,
                          .seed = options->seed > 0 ? options->seed : 1,
                          .rewired = options->rewired,
                          .threads = options->threads,
                          .progress = progress};
}

int sf_graph_measure(sf_graph *graph, const sf_network_options *options, sf_table *network,
                     sf_table *vertices, const sf_progress *progress, sf_error *error)
{
    sf_network_options own;
    int status = sf_keys_read(&sf_network_options_table, &own, options, "network options", error);
    if (status != SF_OK) return status;
    const sf_measuring how = measuring_of(&own, progress);
    sf_network_measures_free(&graph->measures);
    status = sf_network_measures_find(&graph->measures, &graph->csr, &how, error);
    *network = sf_network_table;
    network->row_count = status == SF_OK;
    network->of = &graph->measures.network;
    *vertices = sf_network_units_table;
    vertices->row_count = graph->measures.vertex_count;
    vertices->of = graph->measures.vertices;
    return status;
}
