/* SPDX-License-Identifier: Apache-2.0 */
/** What `match` holds counts against, and the triad census, which it prints where a pattern would stand. */
#ifndef SF_APP_REWIRED_H
#define SF_APP_REWIRED_H

#include "app/document.h"
#include "app/mining.h"

#include <synfire/graph.h>

/** What to hold counts against, and where that was done. */
typedef struct app_rewired {
    bool asked; /**< --rewired was given */
    sf_rewired_options options;
    sf_ran ran;
    uint32_t made; /**< of the graphs asked for; fewer where a signal stopped them */
} app_rewired;

/** --rewired, with --seed, --threads and --device, which other lists have. */
int app_rewired_parse(app_rewired *rewired, const app_call *call, sf_error *error);

/** sf_graph_rewire of one pattern, or with none of all triads, and a warning where a device that was named
 * did not do it. A signal leaves the numbers of the graphs that were made. */
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

/** Counts, holds against rewired graphs where options ask for it, and prints. */
int app_census(const app_call *call, const sf_graph *graph, app_rewired *rewired, sf_error *error);

#endif
