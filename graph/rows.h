/* SPDX-License-Identifier: Apache-2.0 */
/** The options of graphs, a row each (core/keys.h). */
#ifndef SF_GRAPH_ROWS_H
#define SF_GRAPH_ROWS_H

#include "core/keys.h"

#include <synfire/graph.h>

#define SF_STTC_PERCENTILE 0.95 /**< of shifts that a pair exceeds to be an edge */

extern const sf_key_table sf_graph_table, sf_tiling_table, sf_search_table, sf_match_table, sf_rewired_table,
    sf_network_options_table, sf_drive_table;

#endif
