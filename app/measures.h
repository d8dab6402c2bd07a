/* SPDX-License-Identifier: Apache-2.0 */
/** `graph --measures`: network measures of a graph instead of its edges. */
#ifndef SF_APP_MEASURES_H
#define SF_APP_MEASURES_H

#include "app/mining.h"

#include <synfire/graph.h>

/** The option list. */
#define APP_MEASURES_OPTIONS                                                                                 \
    {"measures", NULL,                                                                                       \
     "tell what the network is like in place of its edges: strength, clustering, paths, efficiency, "        \
     "betweenness, modules, participation, hubs of every unit, and in all; of a graph file, too"},           \
        {.name = "threshold"}, {.name = "edge-density"}, {.name = "linked"}, {.name = "resolution"},         \
    {                                                                                                        \
        .name = "rewired"                                                                                    \
    }

/** SF_USAGE for options of measures without --measures, and for options that do not go with it. */
int app_measures_check(const app_call *call, sf_error *error);

/** Reads a graph file with the settings that measures need. */
int app_measures_open(sf_graph **graph, const app_call *call, const char *path, sf_error *error);

/** Measures by the options of the call; the tables live as long as the graph. */
int app_measures_take(sf_table *network, sf_table *units, sf_graph *graph, const app_call *call,
                      sf_error *error);

/** The number in a named column of a row; NaN if null, or no number. */
double app_measures_number(const sf_table *table, const char *column, size_t row);

/** The document of --json. */
extern const sf_table app_network_document;

/** Prints the measures: --json both tables, --csv the units. */
int app_measures_print(const sf_table *network, const sf_table *units, const sf_graph *graph,
                       const app_call *call, const app_stop *stop, sf_error *error);

#endif
