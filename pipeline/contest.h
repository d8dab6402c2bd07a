/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who does a job of every hop, the CPU or a device, with the same results: while the CPU takes long enough
 * for it to matter, both do a hop now and then, and the device goes on if it takes less than half the time.
 * What both do is the caller's; these are the times and the verdict. One thread.
 */
#ifndef SF_PIPELINE_CONTEST_H
#define SF_PIPELINE_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

/** A hop that takes the CPU less is not worth a comparison. */
#define SF_CONTEST_WORTH_NS INT64_C(1000000)

/** So many hops lie between two comparisons. */
#define SF_CONTEST_PATIENCE 100

typedef struct sf_contest {
    int64_t worth_ns;  /**< SF_CONTEST_WORTH_NS */
    int64_t here_ns;   /**< the newest hop took on the CPU */
    uint32_t patience; /**< hops until the next comparison */
} sf_contest;

/** The first comparison is after `patience` hops at the earliest. */
static inline void sf_contest_begin(sf_contest *contest, uint32_t patience)
{
    *contest = (sf_contest){.worth_ns = SF_CONTEST_WORTH_NS, .patience = patience};
}

/** After a hop on the CPU, once here_ns is known: whether the device is due. */
static inline bool sf_contest_due(sf_contest *contest)
{
    contest->patience -= contest->patience > 0;
    return contest->patience == 0 && contest->here_ns > contest->worth_ns;
}

/** Whether the device goes on, which took so long for what took the CPU here_ns. Where it does not, it is
 * some time to the next comparison. */
static inline bool sf_contest_won(sf_contest *contest, int64_t there_ns)
{
    contest->patience = SF_CONTEST_PATIENCE;
    return there_ns < contest->here_ns / 2;
}

#endif
