/* SPDX-License-Identifier: Apache-2.0 */
/** `graph --measures`: what a graph is like as a network, in place of its edges. */
#ifndef SF_APP_MEASURES_H
#define SF_APP_MEASURES_H

#include "app/mining.h"

#include <synfire/graph.h>

/** In the list of options of a command. */
#define APP_MEASURES_OPTIONS                                                                                 \
    {"measures", NULL,                                                                                       \
     "tell what the network is like in place of its edges: strength, clustering, paths, efficiency, "        \
     "betweenness, modules, participation, hubs of every unit, and in all; of a graph file, too"},           \
        {.name = "threshold"}, {.name = "edge-density"}, {.name = "linked"}, {.name = "resolution"},         \
    {                                                                                                        \
        .name = "rewired"                                                                                    \
    }

/** SF_USAGE where options of measures stand without --measures, or others with it. */
int app_measures_check(const app_call *call, sf_error *error);

/** Reads the file of a graph as measures take it. */
int app_measures_open(sf_graph **graph, const app_call *call, const char *path, sf_error *error);

/** Measures by the options of the call; the tables live as long as the graph. */
int app_measures_take(sf_table *network, sf_table *units, sf_graph *graph, const app_call *call,
                      sf_error *error);

/** A number of a row, by the name of its column; NaN where it is null, or no number. */
double app_measures_number(const sf_table *table, const char *column, size_t row);

/** The document of --json. */
extern const sf_table app_network_document;

/** Prints them: --json both, --csv the units. */
int app_measures_print(const sf_table *network, const sf_table *units, const sf_graph *graph,
                       const app_call *call, const app_stop *stop, sf_error *error);

#endif
