/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The segment-shift test as docs/episodes.md tells it, one episode and one surrogate at a time: trains are
 * shifted spike by spike, streams rebuilt and counted by the oracle. Of the library it has the random numbers
 * alone, and what the blur's share was measured to be.
 */
#ifndef SF_TESTS_SIGNIFICANCE_ORACLE_H
#define SF_TESTS_SIGNIFICANCE_ORACLE_H

#include <stddef.h>
#include <synfire/mine.h>

typedef struct oracle_shifting {
    const sf_spike *spikes; /* the whole recording */
    size_t count;
    int64_t width_ns, segment_ns;
    uint64_t seed;
    uint32_t surrogates;
    double divisor;
} oracle_shifting;

typedef struct oracle_verdict {
    double p, p_last, p_first, p_links, expected; /* p_first and p_links NaN of pairs */
} oracle_verdict;

/** Of an episode in which no unit returns. */
oracle_verdict oracle_significance(const oracle_shifting *how, const sf_episode *episode);

/** Of a chain of 3 or more units, tested by every split into two groups, those with their own unit 0 fixed.
 */
oracle_verdict oracle_splits(const oracle_shifting *how, const sf_episode *episode);

#endif
