/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Adaptive limits of the intervals within bursts, from the histogram of the intervals of a train (or of N
 * spikes of a network).
 *
 * logISI (Pasquale, Martinoia and Chiappalone, J Comput Neurosci 29 (2010), 213-229): intervals of 1 ms and
 * more are counted in ten bins a decade, and the histogram is smoothed over five bins by local regression (a
 * line, tri-cube weights). A peak is a bin above all others within two bins. The valley is the first least
 * bin between the highest peak of short intervals and a later peak, where 1 - valley / sqrt(peak * peak),
 * the void parameter, is 0.7 or more.
 *
 * CMA (Kapucu et al., Front Comput Neurosci 6 (2012), 38), with the bins of Cotterill et al. (J Neurophysiol
 * 116 (2016), 306-321): the cumulative moving average of a histogram with a thousand bins over the range of
 * the intervals has its maximum M; the limit is the middle of the bin after it where the average comes
 * closest to alpha M, and alpha follows from the skewness of the average.
 */
#ifndef SF_MINE_INTERVAL_LIMITS_H
#define SF_MINE_INTERVAL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sf_interval_valley {
    bool has_short_peak; /**< a peak lies below short_ns */
    int64_t at_ns;       /**< the lower edge of the bin of the valley; 0: there is none */
} sf_interval_valley;

sf_interval_valley sf_interval_valley_find(const int64_t *intervals_ns, size_t count, int64_t short_ns);

/** The least bin between the highest peak and the next highest that a void of 0.7 or more parts from it, on
 * either side: its lower edge. 0: there is none. */
int64_t sf_interval_valley_of_peaks(const int64_t *intervals_ns, size_t count);

/**
 * Spikes with intervals of core_ns at most are the core of a burst, which goes on in both directions while
 * intervals are of extend_ns at most; extend_ns >= core_ns.
 */
typedef struct sf_interval_limits {
    int64_t core_ns, extend_ns; /**< core_ns < 0: nothing is a burst */
} sf_interval_limits;

/** By logISI: 100 ms alone where the valley lacks or is at 1 s or more; none without a peak below 100 ms. */
sf_interval_limits sf_interval_limits_log(const int64_t *intervals_ns, size_t count);

/** By CMA; none of intervals that are all the same. */
sf_interval_limits sf_interval_limits_cma(const int64_t *intervals_ns, size_t count);

#endif
