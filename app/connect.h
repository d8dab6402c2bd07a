/* SPDX-License-Identifier: Apache-2.0 */
/** The connectivity graph of a recording, by the options that `graph` and whatever searches a recording
 * share. */
#ifndef SF_APP_CONNECT_H
#define SF_APP_CONNECT_H

#include "app/mining.h"

#include <synfire/graph.h>

/** --metric --episodes --surrogates --seed; for compare and for match without --episodes. */
extern const app_option app_connect_options[], app_compare_connect_options[], app_match_connect_options[];

/**
 * Builds the graph by --metric: of frequent two-node episodes, by the options of mine and of significance, or
 * of spike-time tiling. Options that do not go with the metric are refused. Where `stop` is not NULL, a
 * signal leaves the graph of the edges found by then, tested or not. SF_USAGE.
 */
int app_connect(sf_graph **graph, const app_call *call, const sf_recording *recording,
                const sf_graph_options *as, app_stop *stop, sf_error *error);

/** Who drives whom by these options; a delay that the recording's clock does not tell apart is doubted. As
 * sf_graph_of_drive. */
int app_connect_drive(sf_graph **graph, const app_call *call, const sf_recording *recording,
                      const sf_drive_options *drive, const sf_graph_options *as, sf_error *error);

/** How spike trains are tiled, by --delay, --preset, --min-distance, --surrogates and --seed. SF_USAGE. */
int app_connect_tiling(sf_tiling_options *options, const app_call *call, sf_error *error);

/** The same of a recording that is still to be read; nothing but what `graph` takes. */
int app_connect_file(sf_graph **graph, const app_call *call, const char *path, const sf_graph_options *as,
                     sf_error *error);

/** True for a file that is there and is no graph. Pairs of numbers are one, unless an option is given that is
 * of recordings. */
bool app_is_recording(const app_call *call, const char *path);

/** Tells of pairs of numbers that they were taken for edges. */
void app_tell_pairs(const app_call *call, const char *path);

/** Where an option that only recordings take was given with a graph file: SF_USAGE. `but` names those that
 * the command has for graphs too and ends with NULL. */
int app_refuse_recording_options(const app_call *call, const char *const *but, sf_error *error);

#endif
