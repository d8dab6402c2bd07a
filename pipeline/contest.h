/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Chooses between the CPU and a device for a job of every hop, which gives the same results on both: while
 * the CPU takes long enough for it to matter, both do an occasional hop, and the device takes over if it
 * needs less than half the time. The caller does the work; this keeps the times and decides. One thread.
 */
#ifndef SF_PIPELINE_CONTEST_H
#define SF_PIPELINE_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

/** If the CPU takes less than this for a hop, a comparison is not worthwhile. */
#define SF_CONTEST_WORTH_NS INT64_C(1000000)

/** Number of hops between two comparisons. */
#define SF_CONTEST_PATIENCE 100

typedef struct sf_contest {
    int64_t worth_ns;  /**< SF_CONTEST_WORTH_NS */
    int64_t here_ns;   /**< time of the newest hop on the CPU */
    uint32_t patience; /**< hops until the next comparison */
} sf_contest;

/** Resets the contest; the first comparison comes after `patience` hops at the earliest. */
static inline void sf_contest_begin(sf_contest *contest, uint32_t patience)
{
    *contest = (sf_contest){.worth_ns = SF_CONTEST_WORTH_NS, .patience = patience};
}

/** Call after a hop on the CPU that set here_ns. True if the device should now be compared. */
static inline bool sf_contest_due(sf_contest *contest)
{
    contest->patience -= contest->patience > 0;
    return contest->patience == 0 && contest->here_ns > contest->worth_ns;
}

/** Decides whether the device takes over: there_ns is its time for the hop that took the CPU here_ns. If not,
 * the next comparison is SF_CONTEST_PATIENCE hops away. */
static inline bool sf_contest_won(sf_contest *contest, int64_t there_ns)
{
    contest->patience = SF_CONTEST_PATIENCE;
    return there_ns < contest->here_ns / 2;
}

#endif
