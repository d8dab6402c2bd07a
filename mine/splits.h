/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Chains tested by every split of their units into two groups, for chains whose links are weak alone.
 *
 * A chain is no chain where its units are of two groups that know nothing of each other. Whichever two groups
 * these are, the count then is that of surrogates in which one group is shifted as a whole against the other:
 * all trains of the group by the same offsets. Which split it is nobody knows, so a chain of N units is
 * tested by all 2^(N - 1) - 1 of them, and has the largest p (an intersection-union test: Berger,
 * Technometrics 24, 1982). q is corrected, by the maximum, for all splits of all chains of one test. That the
 * rest of the chain stays as it was recorded makes it sharper than tests of links: all links of a split are
 * broken at once.
 *
 * Only for chains that were chosen before their recording was looked at: mining chooses them by counts of
 * their parts, which a split breaks and the choice does not (mine/significance.h).
 *
 * Segment-shift blurs bursts as it does for the last unit of an episode (mine/surrogate_blur.h). What
 * recorded counts deviate less than surrogates (mine/surrogate_scatter.h) depends on how far one group may
 * move against the other: over the delay's width where the split cuts one link; where it cuts several, over
 * what is left of it, two thirds on average of two intervals that overlap at random; and on how the count
 * saturates, which is that of the whole chain whatever the split.
 */
#ifndef SF_MINE_SPLITS_H
#define SF_MINE_SPLITS_H

#include "core/backend/surrogate.h"
#include "mine/events.h"
#include "mine/tree.h"

#include <synfire/mine.h>

/** Splits double with each unit. */
#define SF_SPLITS_LARGEST 5

typedef struct sf_split_chain {
    uint32_t size;                     /**< 3 .. SF_SPLITS_LARGEST, of different units */
    uint32_t units[SF_SPLITS_LARGEST]; /**< of the events */
    sf_delay delays[SF_SPLITS_LARGEST - 1];
} sf_split_chain;

typedef struct sf_splits_request {
    const sf_events *events;
    const uint32_t *trains; /**< by unit of the events: its index in the recording */
    int64_t origin_ns;      /**< of the events, after the time 0 of the rule */
    sf_surrogate_rule rule; /**< segment-shift or shift */
    double divisor;         /**< segment-shift: the share that is blur is 1 / this */
    uint32_t surrogates;
    unsigned threads;
    const sf_progress *progress;
} sf_splits_request;

typedef struct sf_split_verdict {
    double p, q;
    double expected; /**< the mean count in surrogates of the split that explains most, and its blur */
} sf_split_verdict;

/** verdicts[i] is that of chain i. The same on any number of threads. SF_NO_MEMORY, SF_CANCELLED. */
int sf_splits_test(sf_split_verdict *verdicts, const sf_split_chain *chains, size_t count,
                   const sf_splits_request *request, sf_error *error);

#endif
