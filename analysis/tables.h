/* SPDX-License-Identifier: Apache-2.0 */
/** The columns of every table of results, without rows. */
#ifndef SF_ANALYSIS_TABLES_H
#define SF_ANALYSIS_TABLES_H

#include <synfire/table.h>

extern const sf_table sf_episodes_columns_table, sf_edges_columns_table, sf_network_table,
    sf_network_units_table, sf_criticality_measures_table, sf_avalanche_fits_table, sf_avalanches_table,
    sf_avalanche_shapes_table, sf_autocorrelation_table, sf_criticality_cautions_table;

#endif
