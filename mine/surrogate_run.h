/* SPDX-License-Identifier: Apache-2.0 */
/** One side of a mining run counted in surrogates, on devices or on the CPU. */
#ifndef SF_MINE_SURROGATE_RUN_H
#define SF_MINE_SURROGATE_RUN_H

#include "core/backend/ways.h"
#include "mine/surrogate_side.h"

typedef struct sf_surrogate_outcome {
    uint32_t surrogates;
    uint64_t candidate_count;
    /** By candidate of all levels. The scale is 1 / standard deviation, 0 where the counts are all the same;
     * `recorded` is the least count that reaches the edge of the observed one. */
    sf_surrogate_tally *tallies;
    sf_surrogate_scale *scales;
    sf_surrogate_reached *reached;
    double *maxima; /**< [level][surrogate]: as `compare` of sf_backend_surrogates has both */
} sf_surrogate_outcome;

/**
 * Counts are whole, and deviations of an observed count from the mean of its surrogates are stretched to
 * theirs (mine/surrogate_scatter.h), which puts it between whole counts. Rounding there would make one count
 * more or less of it, which matters where few are expected: so each count stands for all numbers from half
 * below to half above it. This is the lower edge of the observed count, stretched: what deviates from the
 * mean is a part, `ratio`, of what it is in surrogates.
 */
double sf_surrogate_edge(double mean, double observed, double ratio);

/** The least count that lies at the edge or beyond in part. */
uint32_t sf_surrogate_least_beyond(double edge);

/** The share of the numbers that a surrogate's count stands for that lie at the edge or beyond: 0 .. 1. */
double sf_surrogate_beyond(double edge, uint32_t count);

/** The sum of these shares over all surrogates. */
double sf_surrogate_as_extreme(double edge, const sf_surrogate_scale *scale,
                               const sf_surrogate_reached *reached);

/** Mean and scale of what these sums are of; `recorded` is left to the caller. */
sf_surrogate_scale sf_surrogate_scale_of(const sf_surrogate_tally *tally, uint32_t surrogates);

/** How far an observed count stands out of n surrogates, in their standard deviations, itself counted among
 * them; not further than one of them could. -INFINITY where all count the same, and it no more. */
double sf_surrogate_stands_out(double observed, double ratio, const sf_surrogate_scale *scale, uint32_t n);

/** A job, for its ways; to choose, the last three are enough. */
typedef struct sf_surrogate_work {
    sf_surrogate_outcome *outcome;
    const sf_surrogate_side *side;
    uint32_t least;
    sf_surrogate_kind kind;
    double core_seconds; /**< what one core would need, roughly */
    unsigned threads;
} sf_surrogate_work;

/** The ways of counting in surrogates; NULL-terminated. */
extern const sf_way *const sf_surrogate_ways[];

/**
 * Counts all candidates of the side in so many surrogates, once for their sums and, where the counts were too
 * many to keep, once more to compare them, among candidates that count `least` or more for the maxima. Each
 * device of the choice takes a share of the surrogates; what a device has failed at or refused those left
 * did, or the CPU. SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_surrogate_run(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t surrogates,
                     uint32_t least, sf_choice *choice, unsigned threads, sf_error *error);
void sf_surrogate_outcome_free(sf_surrogate_outcome *outcome); /**< a zeroed object is allowed */

#endif
