/* SPDX-License-Identifier: Apache-2.0 */
/** Comparison of `match` counts with rewired graphs, and the triad census, which `match` prints in place of a
 * pattern. */
#ifndef SF_APP_REWIRED_H
#define SF_APP_REWIRED_H

#include "app/document.h"
#include "app/mining.h"

#include <synfire/graph.h>

/** The requested comparison, and where it ran. */
typedef struct app_rewired {
    bool asked; /**< --rewired was given */
    sf_rewired_options options;
    sf_ran ran;
    uint32_t made; /**< number of graphs made; fewer than requested if a signal stopped it */
} app_rewired;

/** --rewired; uses --seed, --threads and --device of other lists. */
int app_rewired_parse(app_rewired *rewired, const app_call *call, sf_error *error);

/** Calls sf_graph_rewire for one pattern, or without one for all triads, and warns if a named device did not
 * do it. After a signal, the numbers cover the graphs made so far. */
int app_rewired_find(sf_spread *spreads, const uint64_t *counts, const sf_graph *graph, const sf_motif *motif,
                     const sf_match_options *match, app_rewired *rewired, app_stop *stop,
                     const app_call *call, sf_error *error);

extern const sf_table app_triads_table;

/** Rows of a record, of an app_rewired: `rewired` is empty, or a member of it and a point. */
#define APP_ROWS_REWIRED(rewired)                                                                            \
    SF_FIELD_IS(COUNT, "graphs", rewired made, "rewired at random, each with the same degrees"),             \
        APP_ROW_DEVICE(rewired ran), APP_ROW_DEVICE_NOTE(rewired ran)
#define APP_NO_REWIRED .null = "without --rewired, and where a signal came before the first"

/** Of the triad census. */
extern const sf_table app_census_document;

/** Counts, compares with rewired graphs if requested, and prints. */
int app_census(const app_call *call, const sf_graph *graph, app_rewired *rewired, sf_error *error);

#endif
