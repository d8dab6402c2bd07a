/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a search for a pattern takes, on the CPU and on a device: what says where it is done, by the
 * constants of tuned.h. Seconds of a device are of one that is running.
 */
#ifndef SF_GRAPH_MATCH_COST_H
#define SF_GRAPH_MATCH_COST_H

#include "graph/match/estimate.h"
#include "graph/match/terms.h"

/** Seconds of what is left to be done. */
typedef struct sf_match_cost {
    double here, there;
} sf_match_cost;

/** The cost of building the space of a query on `threads` threads and of the shortest search in it. sends:
 * what the CPU builds is copied to a device. */
sf_match_cost sf_match_cost_of_space(const sf_query *query, unsigned threads, bool sends);

/** The cost of copying the graph to a device, unless it is there already. */
double sf_match_cost_of_copying(const sf_match_index *index);

/** The cost of a search or, on the CPU, of a sum of terms if there is one. A space on the host has to be sent
 * to the device; a space that a device built has to be fetched, and then the sample describes the search on
 * that device alone. */
sf_match_cost sf_match_cost_of_search(const sf_space *space, const sf_terms *terms,
                                      const sf_match_sample *sample, unsigned threads);

/** The cost of everything on the CPU alone, for a space that a device built, if links were independent. */
double sf_match_cost_here(const sf_space *space, const sf_plan *plan, unsigned threads);

/** Steps of the core of a plan, if links were independent: around hubs they are not, and these are too few,
 * ten times and more. */
double sf_match_core_steps(const sf_space *space, const sf_plan *plan);

#endif
