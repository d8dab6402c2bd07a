/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Network bursts, to tell an episode that recurs from one that happened often once, and to compare recordings
 * by, by one of two definitions.
 *
 * A rate above what is usual around it, with participation: spikes of all units are counted in bins of 100 ms
 * from the first spike on, and the mean of a bin is that of the recorded time within 30 s of it, so that a
 * rate that drifts makes none. A run of bins that each hold at least their mean is a burst where one, two or
 * four of them in a row hold together
 *
 *     at least 10 spikes, 1.5 times the mean m, and m + 4.5 sqrt(c m) + 3.2,
 *
 * and where the share `share` of the active units fires in it, two at least. c is the variance of the spikes
 * in a window, over their mean, of trains that have nothing in common: the sum of the variances of the single
 * trains over the sum of their means, at least 1, as of Poisson trains. So units that burst each at its own
 * times make the rule stricter. 3.2 is (4.5^2 - 1) / 6, for the skewness of a Poisson count (Cornish and
 * Fisher 1938). Of Poisson trains some windows of each length in ten hours stand out, at any rate.
 *
 * ISI_N (Bakkum et al., Front Comput Neurosci 7 (2014), 193): mine/isi_n.h. Its threshold is given, or the
 * valley of the histogram of ISI_N (mine/interval_limits.h); without a valley there is no burst. A valley at
 * 1 s or more may part activity from silence: sf_bursts says where it does.
 */
#ifndef SF_MINE_BURSTS_H
#define SF_MINE_BURSTS_H

#include "core/recording.h"

typedef enum sf_network_method { SF_NETWORK_RATE, SF_NETWORK_ISI_N } sf_network_method;

/** "rate", "isi-n"; NULL at the end. */
extern const char *const sf_network_method_names[];
const char *sf_network_method_word(const void *method); /**< of one, as sf_column_row has it */

/** A unit is active that fires at the rate `active_hz` or more over the recorded time. */
typedef struct sf_network_rule {
    double active_hz, share;
    sf_network_method method;
    uint64_t spikes;   /**< N of ISI_N: 2 to SF_ISI_N_MOST */
    int64_t within_ns; /**< the threshold of ISI_N; 0: the valley */
} sf_network_rule;

#define SF_NETWORK_RULE ((sf_network_rule){0.1, 0.25, SF_NETWORK_RATE, 10, 0})

typedef struct sf_burst_members {
    uint64_t spikes;
    size_t units; /**< active ones that fire in it */
} sf_burst_members;

typedef struct sf_bursts {
    sf_span *items; /**< in order, disjoint */
    size_t count;
    sf_burst_members *members; /**< of each */
    int64_t within_ns;         /**< the threshold of ISI_N that was used; 0: there was none */
    bool from_silence; /**< that threshold is a valley at 1 s or more, and bursts hold SF_BURSTS_ALL of the
                          spikes or more: it parts activity from silence, not bursts from other activity */
} sf_bursts;

#define SF_BURSTS_ALL 0.95

/** Finds bursts in the spikes that the recording holds; none in one that is read in pieces. SF_NO_MEMORY.
 * Free with sf_bursts_free. */
int sf_bursts_find(sf_bursts *bursts, const sf_recording *recording, const sf_network_rule *rule,
                   sf_error *error);
void sf_bursts_free(sf_bursts *bursts);

/** The burst that this time lies in, or SIZE_MAX. */
size_t sf_bursts_at(const sf_bursts *bursts, int64_t time_ns);

#endif
