/* SPDX-License-Identifier: Apache-2.0 */
/** The connectivity graph of a recording, by the options shared by `graph` and all commands that search a
 * recording. */
#ifndef SF_APP_CONNECT_H
#define SF_APP_CONNECT_H

#include "app/mining.h"

#include <synfire/graph.h>

/** --metric --episodes --surrogates --seed; for compare and for match without --episodes. */
extern const app_option app_connect_options[], app_compare_connect_options[], app_match_connect_options[];

/**
 * Builds the graph by --metric: of frequent two-node episodes, with the options of mine and of significance,
 * or of spike-time tiling. Options that do not fit the metric are refused. If `stop` is not NULL, a signal
 * yields the graph of the edges found so far, tested or not. SF_USAGE.
 */
int app_connect(sf_graph **graph, const app_call *call, const sf_recording *recording,
                const sf_graph_options *as, app_stop *stop, sf_error *error);

/** Builds the graph of who drives whom by these options; records a doubt for delays finer than the
 * recording's clock. Errors as sf_graph_of_drive. */
int app_connect_drive(sf_graph **graph, const app_call *call, const sf_recording *recording,
                      const sf_drive_options *drive, const sf_graph_options *as, sf_error *error);

/** Reads how to tile spike trains, from --delay, --preset, --min-distance, --surrogates and --seed. SF_USAGE.
 */
int app_connect_tiling(sf_tiling_options *options, const app_call *call, sf_error *error);

/** Loads the recording at `path` and builds its graph as app_connect does; frees the recording. */
int app_connect_file(sf_graph **graph, const app_call *call, const char *path, const sf_graph_options *as,
                     sf_error *error);

/** True for an existing file that is no graph. Pairs of numbers count as a graph, unless an option is given
 * that only recordings take. */
bool app_is_recording(const app_call *call, const char *path);

/** Reports that pairs of numbers were read as edges. */
void app_tell_pairs(const app_call *call, const char *path);

/** SF_USAGE if an option that only recordings take was given with a graph file. `but`, ended by NULL, names
 * options that the command also has for graphs. */
int app_refuse_recording_options(const app_call *call, const char *const *but, sf_error *error);

#endif
