/* SPDX-License-Identifier: Apache-2.0 */
/** What a simulation planted, beside what was found. */
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
    sf_episode_count found; /**< of what was found of it, a row of size 0: nothing was */
} sf_planted_chain;

typedef struct sf_planted {
    sf_planted_chain *chains;
    size_t chain_count;
    size_t others; /**< episodes that are no part of a chain */
} sf_planted;

/**
 * Of each chain the longest episode with a count that is the chain or a part of it, and of those the most
 * frequent: a part has the same units in a row, and each of its delay intervals overlaps the planted one.
 * SF_NO_MEMORY.
 */
int sf_planted_compare(sf_planted *planted, const sf_truth *truth, const sf_episodes_message *found,
                       sf_error *error);
void sf_planted_free(sf_planted *planted);

#endif
