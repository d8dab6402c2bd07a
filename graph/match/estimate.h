/* SPDX-License-Identifier: Apache-2.0 */
/** The size of a search, by samples of it. */
#ifndef SF_GRAPH_MATCH_ESTIMATE_H
#define SF_GRAPH_MATCH_ESTIMATE_H

#include "graph/match/search.h"

/** What it takes to search the tree of which some ways down are known. */
typedef struct sf_match_sample {
    double seconds; /**< one thread of the CPU */
    double steps;   /**< of these: candidates that are gone through */
    double tried;   /**< candidates that a device tries */
} sf_match_sample;

/**
 * By the size of the tree (Knuth, Mathematics of Computation 29, 1975), of random descents into it. Listing
 * ends early where there is more than is asked for. All 0 where memory is out.
 */
sf_match_sample sf_match_sample_tree(sf_match_search *search);

#endif
