/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What pairs of units count as recorded, and what they would count in surrogates by segment-shift
 * (core/backend/surrogate.h), by the mean and the variance over all offsets instead of a draw of them.
 *
 * Let c(d) be the count, of occurrences that do not overlap, of one segment with the second train moved by d.
 * Offsets have a density that falls off linearly from 0 to the width w, and are drawn for each segment alone:
 * so surrogates count m, the sum over segments of the mean of c over that density, and scatter by the root of
 * V, the sum of its variances. Both are taken over stops from -w to w that lie a quarter of the largest delay
 * apart. So bursts that a unit has by itself, and counts that saturate, are in V as they are in surrogates.
 */
#ifndef SF_MINE_PAIR_SURVEY_H
#define SF_MINE_PAIR_SURVEY_H

#include "core/recording.h"

#include <synfire/mine.h>

/** So many units are looked at. */
#define SF_SURVEY_UNITS 64

/** The spikes of the units that are looked at: those wanted and then those that fire most. */
typedef struct sf_survey_spikes {
    int64_t *times; /**< since the first spike of all */
    uint8_t *slots; /**< of each the place of its unit in unit_of */
    size_t count, units;
    uint32_t unit_of[SF_SURVEY_UNITS];
    size_t busiest; /**< spikes of the unit that fires most, `others` aside */
} sf_survey_spikes;

typedef struct sf_survey_job {
    const sf_spike *spikes,
        *others; /**< either in order; `others` are of units that were left out, or NULL */
    size_t count, other_count, unit_count;
    const uint32_t *wanted; /**< units that come before those that fire more, or NULL */
    size_t wanted_count;
    size_t most_units; /**< at most SF_SURVEY_UNITS; 0: that number */
    sf_delay delay;
    int64_t width_ns, segment_ns; /**< of the shifts, more than 0 */
    unsigned threads;             /**< 0: all cores; they change nothing */
    const sf_progress *progress;  /**< or NULL */
    /** of this job's spikes, which several surveys may share; NULL: each its own */
    const sf_survey_spikes *chosen;
} sf_survey_job;

/** SF_NO_MEMORY; then it is empty. */
int sf_survey_spikes_open(sf_survey_spikes *chosen, const sf_survey_job *job);
void sf_survey_spikes_close(sf_survey_spikes *chosen);

typedef struct sf_surveyed_pair {
    double here, shifted, far; /**< c(0), m, and the mean of c(3 w) and c(-3 w) */
    double variance;           /**< V */
    double near;               /**< pairs of spikes within the delay, of which c(0) are occurrences */
    bool seen_twice;           /**< the two fire within half a millisecond more often than beside it */
} sf_surveyed_pair;

typedef struct sf_pair_survey {
    size_t units; /**< those wanted and then those that fire most, at most SF_SURVEY_UNITS */
    uint32_t unit_of[SF_SURVEY_UNITS];
    sf_surveyed_pair *pairs; /**< [first * units + second], with pairs of a unit and itself */
    size_t stops;            /**< offsets that m and V are of, evenly from -w to w */
    size_t stride;           /**< only the first of this many spikes of each segment was looked at */
} sf_pair_survey;

/** Linear in the spikes, and at most some 40 million steps. SF_NO_MEMORY, SF_CANCELLED; then it is empty. */
int sf_pair_survey_open(sf_pair_survey *told, const sf_survey_job *job);
void sf_pair_survey_close(sf_pair_survey *told);

#endif
