/* SPDX-License-Identifier: Apache-2.0 */
/** What of graphs and candidate spaces lies on a device (graph/match/made_space.h puts it there). */
#ifndef SF_GRAPH_MATCH_THERE_H
#define SF_GRAPH_MATCH_THERE_H

#include "core/backend/device.h"

struct sf_backend_data;
struct sf_backend_space;

/** Of a graph. Zero-initialise. */
typedef struct sf_match_there {
    sf_device *device;
    struct sf_backend_data *data; /**< or NULL */
    double spared;                /**< seconds that it would have saved, had it been there */
} sf_match_there;

/** Gives it back, once its spaces are. */
void sf_match_there_close(sf_match_there *there);

void sf_match_there_close_space(sf_device *device, struct sf_backend_space *space);

#endif
