/* SPDX-License-Identifier: Apache-2.0 */
/** The options of graphs, a row each (core/keys.h). */
#ifndef SF_GRAPH_ROWS_H
#define SF_GRAPH_ROWS_H

#include "core/keys.h"

#include <synfire/graph.h>

extern const sf_key_table sf_graph_table;

#endif
