/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tables.h"

#include "core/describe/table.h"
#include "core/message_rows.h"

#include <string.h>

static const sf_table *const tables[] = {&sf_episodes_columns_table,
                                         &sf_edges_columns_table,
                                         &sf_network_table,
                                         &sf_network_units_table,
                                         &sf_criticality_measures_table,
                                         &sf_avalanche_fits_table,
                                         &sf_avalanches_table,
                                         &sf_avalanche_shapes_table,
                                         &sf_autocorrelation_table,
                                         &sf_criticality_cautions_table,
                                         &sf_burst_units_table,
                                         &sf_network_bursts_table,
                                         &sf_bursts_table,
                                         &sf_burst_summary_table,
                                         &sf_sequence_summary_table,
                                         &sf_sequence_units_table,
                                         &sf_sequence_bursts_table,
                                         &sf_sequence_latencies_table,
                                         &sf_burst_similarity_table,
                                         &sf_sequence_chains_table,
                                         &sf_responses_table,
                                         &sf_response_histogram_table,
                                         &sf_response_trials_table};

enum { RESULTS = sizeof tables / sizeof *tables };

const sf_table *sf_table_at(size_t index)
{
    if (index < RESULTS) return tables[index];
    return index == RESULTS ? &sf_message_common_table : sf_message_table((sf_topic)(index - RESULTS - 1));
}

const sf_table *sf_table_find(const char *name)
{
    size_t i = 0;
    while (sf_table_at(i) != NULL && strcmp(sf_table_at(i)->name, name) != 0)
        i++;
    return sf_table_at(i);
}
