/* SPDX-License-Identifier: Apache-2.0 */
/** The connectivity graph of each window: frequent two-node episodes as edges, and the configured queries on
 * it. */
#ifndef SF_PIPELINE_CONNECTIONS_H
#define SF_PIPELINE_CONNECTIONS_H

#include "core/config.h"
#include "core/message.h"
#include "graph/connectivity.h"

typedef struct sf_connections {
    bool enabled;
    const sf_units *units;
    sf_connectivity snapshot; /**< of the newest window */
    struct sf_reach_query {
        uint32_t source, hops;
    } * queries;
    size_t query_count;
} sf_connections;

/** Resolves the units that queries start from. SF_CONFIG. */
int sf_connections_open(sf_connections *connections, const sf_config *config, const sf_units *units,
                        sf_error *error);
void sf_connections_close(sf_connections *connections);

/**
 * Takes the window's counts: two-node episodes that reach the threshold become the new snapshot. *message is
 * the graph message (the caller's), or NULL where graphs are off.
 */
int sf_connections_update(sf_connections *connections, const sf_episodes_message *episodes, double threshold,
                          sf_message **message, sf_error *error);

#endif
