/* SPDX-License-Identifier: Apache-2.0 */
/** Compares the chains that a simulation planted with the episodes that were found. */
#ifndef SF_ANALYSIS_PLANTED_H
#define SF_ANALYSIS_PLANTED_H

#include <synfire/live.h>

/** One planted occurrence: the times of its spikes, in the order of the chain's units; zero beyond its size.
 */
typedef struct sf_occurrence {
    uint32_t chain;
    int64_t times_ns[SF_EPISODE_MAX_SIZE];
} sf_occurrence;

/** What was planted. */
typedef struct sf_truth {
    sf_episode *chains;
    size_t chain_count;
    sf_occurrence *occurrences; /**< ordered by the time of the first spike */
    size_t occurrence_count;
} sf_truth;

void sf_truth_free(sf_truth *truth);

typedef struct sf_planted_chain {
    sf_episode chain;
    uint64_t planted;       /**< how often, whole within the window */
    sf_episode_count found; /**< the episode found for it; size 0: none */
} sf_planted_chain;

typedef struct sf_planted {
    sf_planted_chain *chains;
    size_t chain_count;
    size_t others; /**< episodes that are no part of a chain */
} sf_planted;

/**
 * For each chain selects the longest counted episode that is the chain or a part of it, and among equally
 * long ones the most frequent. A part has the same consecutive units, and each of its delay intervals
 * overlaps the planted one. SF_NO_MEMORY.
 */
int sf_planted_compare(sf_planted *planted, const sf_truth *truth, const sf_episodes_message *found,
                       sf_error *error);
void sf_planted_free(sf_planted *planted);

#endif
