/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_GRAPH_MATCH_ESTIMATE_H
#define SF_GRAPH_MATCH_ESTIMATE_H

#include "graph/match/search.h"

/**
 * Seconds that the CPU would need, by the size of the tree (Knuth, Mathematics of Computation 29, 1975), of
 * random descents into it. Listing ends early where there is more than is asked for.
 */
double sf_match_estimate(sf_match_search *search);

#endif
