/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The candidates of a mining run, laid out for counting in surrogates: those whose last unit is shifted, or,
 * on the mirrored side, those whose first one is. There the stream runs backwards and so do the episodes: a
 * spike at time t lies at (time of the last spike) - t, unit u of U is U - 1 - u, so that the order of spikes
 * at one instant is turned around too, and the prefix of a candidate is what its last units were. Pairs are
 * no candidates there: whichever of its units is shifted, the question is the same. Episodes in which a unit
 * occurs twice are no candidates of either side: shifted, its spikes move against its own others, which its
 * bursts and dead time do not allow.
 */
#ifndef SF_MINE_SURROGATE_SIDE_H
#define SF_MINE_SURROGATE_SIDE_H

#include "core/backend/surrogates.h"
#include "mine/events.h"
#include "mine/surrogate_scatter.h"
#include "mine/tree.h"

#include <synfire/mine.h>

#define SF_NO_CANDIDATE UINT64_MAX

/** What is asked; everything is borrowed until the side is closed. */
typedef struct sf_surrogate_request {
    const sf_events *events; /**< of the units of the tree */
    const sf_tree *tree;     /**< linked */
    sf_pair_rule pairs;
    uint32_t max_size;
    const sf_delay *delays; /**< tree->delay_count */
    const uint32_t *trains; /**< by unit of the tree: its index in the recording */
    int64_t origin_ns;      /**< of the events, after the time 0 of the rule */
    sf_surrogate_rule rule;
    /** Candidates are the frequent episodes alone; else all that the search looked at: the join of the
     * frequent prefixes and suffixes of each size. */
    bool found_only;
    bool *const *asked; /**< with it, [size - 1][node]: of these only those asked about; or NULL: all */
    const sf_progress *progress;
} sf_surrogate_request;

typedef struct sf_surrogate_side {
    sf_surrogate_plan plan; /**< level_count 0: there are no candidates */
    sf_events events;       /**< of this side: the request's own arrays, or turned ones */
    sf_surrogate_level levels[SF_EPISODE_MAX_SIZE];
    /** [level]: the number of candidates, also of levels beyond those of the plan: no p is asked for those,
     * so their surrogates are not counted, but the search has looked at them */
    uint64_t candidates[SF_EPISODE_MAX_SIZE];
    /** [level][candidate]: its count as recorded, where it is known, less its blur where that was taken off;
     * else UINT32_MAX */
    uint32_t *observed[SF_EPISODE_MAX_SIZE];
    /** By delay: the deviation of a recorded count from the mean of surrogates as a part of theirs
     * (mine/surrogate_scatter.h); 1 at first */
    double *ratios;
    sf_surrogate_saturation *saturations; /**< likewise, of counts that saturate; or NULL: none does */
    double *near; /**< by pair: how many pairs of spikes surrogates have within its delay
                   * (mine/surrogate_near.h); or NULL */
    /** [level][node of size level + 2 in the request's tree]: its candidate in that level, or
     * SF_NO_CANDIDATE */
    uint64_t *candidate_of[SF_EPISODE_MAX_SIZE];
    bool mirrored;
    struct sf_surrogate_turn *turn; /**< what the mirrored side owns */
} sf_surrogate_side;

/** SF_NO_MEMORY, SF_INTERNAL where the tree is not what it should be. The side must not move in memory. */
int sf_surrogate_side_open(sf_surrogate_side *side, const sf_surrogate_request *request, bool mirrored,
                           sf_error *error);

/** The relative deviation of the recorded count of a candidate of level k from the mean of its surrogates,
 * where the expected number is taken from rates. */
double sf_surrogate_side_ratio(const sf_surrogate_side *side, uint32_t k, uint64_t candidate, double mean);
void sf_surrogate_side_close(sf_surrogate_side *side); /**< a zeroed object is allowed */

#endif
