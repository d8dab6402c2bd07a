/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counting candidates in surrogates on an accelerator (core/backend/surrogate.h). mine/surrogates.c is the
 * same on the CPU, and every number below is the same there to the last bit.
 *
 * Only the last unit of a candidate is shifted; its prefix, the episode without the last unit, stays as it
 * was recorded. For the prefix keep the list of (end, latest start), as the interval engine does: ends and
 * starts are positions in the recorded stream, and both ascend. In a surrogate a spike of the last unit, now
 * at time t, belongs to the last end e of the list whose time is < t - low, if that is >= t - high. It makes
 * an occurrence (start of e, t). The count takes, in order of (t, unit), greedily each occurrence that starts
 * after the end of the last one taken: where the start has (time, unit) > (t, last unit) of that end. So with
 *     after(t, unit) = how many recorded spikes have (time, unit) <= (t, unit)
 * an occurrence is taken if start >= restart, and then restart = after(t, unit); restart begins as 0. Of
 * spikes of one unit that share an instant any may be the one that counts: the count is the same.
 *
 * Shifting the first unit of a candidate is the mirror image, and no business of the backend: the caller
 * turns time and episodes around, and gives a second job with `mirrored` set.
 */
#ifndef SF_CORE_BACKEND_SURROGATES_H
#define SF_CORE_BACKEND_SURROGATES_H

#include "core/backend/episodes.h"
#include "core/backend/surrogate.h"

/**
 * All prefixes of one size and the candidates that they begin. Level k (0-based) holds the prefixes of k + 1
 * units and candidates of k + 2. Steps are delay index * unit_count + unit.
 */
typedef struct sf_surrogate_level {
    uint32_t prefix_count;
    /** prefix_count, or NULL at level 0, where prefix u is unit u: the prefix without its last unit, in the
     * level before. Ascending. */
    const uint32_t *parents;
    const uint32_t *steps; /**< prefix_count, or NULL at level 0: the prefix's last delay and unit */
    /** prefix_count + 1: what extends prefix i are candidates first[i] .. first[i + 1] - 1 of this level */
    const uint64_t *first;      /**< a level may have no candidates, and later ones still have some */
    const uint32_t *candidates; /**< first[prefix_count]: the last steps, ascending for each prefix */
} sf_surrogate_level;

/** Arrays are borrowed until the job is closed. */
typedef struct sf_surrogate_plan {
    sf_surrogate_rule rule;
    /** By unit of the stream: the number of its train. */
    const uint32_t *trains;
    /**
     * The stream's times against those the rule speaks of: a spike at `time` of the stream was fired at
     * origin_ns + time, and in a mirrored stream at origin_ns - time; where the rule puts it goes the same
     * way back, and may be negative. Spike i of a train of n is the rule's number i, or n - 1 - i.
     */
    int64_t origin_ns;
    bool mirrored;
    const sf_delay *delays;
    uint32_t delay_count;
    uint32_t level_count; /**< 1 .. SF_EPISODE_MAX_SIZE - 1 */
    const sf_surrogate_level *levels;
    const sf_progress *progress; /**< asked now and then; false: SF_CANCELLED */
} sf_surrogate_plan;

/** One candidate over all surrogates. Sums of squares stay below 2^64. */
typedef struct sf_surrogate_tally {
    uint64_t sum, sum_squares; /**< of the counts */
} sf_surrogate_tally;

/** What the counts of a candidate in surrogates are held against. */
typedef struct sf_surrogate_scale {
    /** What standardises them: (count - mean) * scale, in this order and never as one operation. scale 0: the
     * candidate takes no part. */
    double mean, scale;
    uint32_t recorded; /**< what surrogates may reach; UINT32_MAX, which none does: nobody asks */
} sf_surrogate_scale;

/** How many surrogates count as much as was recorded, and more. */
typedef struct sf_surrogate_reached {
    uint32_t as_much; /**< `recorded` of the scale, or more */
    uint32_t more;
} sf_surrogate_reached;

typedef struct sf_backend_surrogate_job sf_backend_surrogate_job;

/** Functions return what sf_backend says. Calls are made while the device is held. */
typedef struct sf_backend_surrogates {
    /**
     * Takes the plan for a stream of this backend, which stays open as long as the job, and makes the lists
     * of all prefixes. SF_UNAVAILABLE where they or the candidates do not fit.
     */
    int (*open)(sf_backend_surrogate_job **job, sf_backend_stream *stream, const sf_surrogate_plan *plan,
                sf_error *error);
    void (*close)(sf_backend_surrogate_job *job); /**< NULL is allowed */

    /**
     * Counts every candidate in surrogates first .. first + count - 1. tallies holds those of all candidates,
     * level after level; each is set to its sums over these surrogates.
     */
    int (*tally)(sf_backend_surrogate_job *job, uint32_t first, uint32_t count, sf_surrogate_tally *tallies,
                 sf_error *error);

    /**
     * Of the same surrogates, which a tally has seen before (its counts may have been kept): reached[c] is
     * set to how many of them have candidate c as often as scales[c].recorded, and maxima[level *
     * count + i] is the largest standardised count in surrogate first + i among the level's candidates that
     * count `least` or more there and whose scale is not 0; -INFINITY where there is none.
     */
    int (*compare)(sf_backend_surrogate_job *job, uint32_t first, uint32_t count, uint32_t least,
                   const sf_surrogate_scale *scales, sf_surrogate_reached *reached, double *maxima,
                   sf_error *error);
} sf_backend_surrogates;

#endif
