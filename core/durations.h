/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How long something takes that is done again and again: how many times, all of it together, the longest, and
 * quantiles from counts in classes of equal ratio, 32 an octave. One thread adds, any thread reads.
 */
#ifndef SF_CORE_DURATIONS_H
#define SF_CORE_DURATIONS_H

#ifndef __cplusplus
#include <stdatomic.h>
#endif
#include <synfire/live.h>

#define SF_DURATION_CLASSES 1920

typedef struct sf_durations {
    _Atomic uint64_t counts[SF_DURATION_CLASSES];
    _Atomic int64_t sum_ns, most_ns, last_ns;
} sf_durations;

/** Real-time safe. What is negative counts as 0. */
void sf_durations_add(sf_durations *durations, int64_t took_ns);

/** Quantiles are at most 2 % off, and never beyond the longest; NaN, as the longest, where there is none. */
sf_took sf_durations_tell(const sf_durations *durations);

#endif
