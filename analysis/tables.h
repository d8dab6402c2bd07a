/* SPDX-License-Identifier: Apache-2.0 */
/** The columns of every table of results, without rows. */
#ifndef SF_ANALYSIS_TABLES_H
#define SF_ANALYSIS_TABLES_H

#include <synfire/table.h>

extern const sf_table sf_episodes_columns_table, sf_edges_columns_table, sf_network_table,
    sf_network_units_table;

#endif
