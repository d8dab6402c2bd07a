/* SPDX-License-Identifier: Apache-2.0 */
/** A graph lent to a device: a copy stays there for the queries to come, as long as the index is open. */
#ifndef SF_GRAPH_MATCH_LEND_H
#define SF_GRAPH_MATCH_LEND_H

#include "graph/match/index.h"

/** Gives back what another device than this one has of the graph. No device is held. */
void sf_match_recall(const sf_match_index *index, sf_device *device);

/** Copies the graph to a device that is held, unless it is there: index->there->data. As data_open of
 * core/backend/match.h. One that is refused is not copied again for spaces to save time. */
int sf_match_lend(const sf_match_index *index, sf_device *device, const struct sf_backend_watch *watch,
                  sf_error *failure);

/** The device, which is held, has given it back. For spaces it has to pay again before it is copied again. */
void sf_match_forget(const sf_match_index *index);

/** How a device is told of lists. Borrowed. */
struct sf_backend_labelled sf_match_lists_lent(const sf_label_lists *lists);

#endif
