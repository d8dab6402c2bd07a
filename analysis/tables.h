/* SPDX-License-Identifier: Apache-2.0 */
/** Column definitions of every result table, without rows. */
#ifndef SF_ANALYSIS_TABLES_H
#define SF_ANALYSIS_TABLES_H

#include <synfire/table.h>

extern const sf_table sf_episodes_columns_table, sf_edges_columns_table, sf_network_table,
    sf_network_units_table, sf_criticality_measures_table, sf_avalanche_fits_table, sf_avalanches_table,
    sf_avalanche_shapes_table, sf_autocorrelation_table, sf_criticality_cautions_table, sf_burst_units_table,
    sf_network_bursts_table, sf_bursts_table, sf_burst_summary_table, sf_sequence_summary_table,
    sf_sequence_units_table, sf_sequence_bursts_table, sf_sequence_latencies_table, sf_burst_similarity_table,
    sf_sequence_chains_table, sf_responses_table, sf_response_histogram_table, sf_response_trials_table;

/** A table definition together with the rows of a result. */
typedef struct sf_table_rows {
    const sf_table *table;
    const void *of;
    size_t rows;
} sf_table_rows;

static inline sf_table sf_table_with(const sf_table_rows *part)
{
    sf_table table = *part->table;
    table.of = part->of;
    table.row_count = part->rows;
    return table;
}

#endif
