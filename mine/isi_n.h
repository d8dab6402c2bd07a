/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Network bursts by ISI_N (Bakkum et al., Front Comput Neurosci 7 (2014), 193), spike by spike.
 *
 * A spike of any unit meets the criterion where some N spikes in a row that it is one of last no longer than
 * `within`, from the first of them to the last. A burst is a run of such spikes, at least N; and once a burst
 * has N spikes, one with which the last N spikes last longer is not of it: what follows, where the criterion
 * is met still, is another burst, if it has N spikes. (Their program leaves out the first and the last N - 1
 * spikes of a recording; this one does not.)
 *
 * A burst is known when its N-th spike is known to meet the criterion, and its end by the next spike or the
 * time at which none can belong to it any more, whichever is first. A recording and a live stream are both
 * taken in this way. Real-time safe once it is open.
 */
#ifndef SF_MINE_ISI_N_H
#define SF_MINE_ISI_N_H

#include <synfire/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SF_ISI_N_MOST 4096 /**< N at most */

typedef struct sf_network_burst {
    uint64_t number;           /**< from 0 */
    int64_t first_ns, last_ns; /**< its first spike and its last one so far */
    uint64_t spikes;           /**< so far */
    size_t units;              /**< that fire in it, so far */
} sf_network_burst;

/** What a spike or the time brought: the sum of ... */
enum {
    SF_BURST_BEGAN = 1, /**< `burst` is known */
    SF_BURST_GREW = 2,  /**< by the spike */
    SF_BURST_ENDED = 4  /**< `burst` is over */
};

typedef struct sf_isi_n {
    uint64_t spikes_needed; /**< N */
    int64_t within_ns;
    uint64_t mask; /**< of the rings, of 2 N spikes or more */
    int64_t *times_ns;
    uint32_t *units;
    uint64_t *seen;          /**< by unit: the number + 1 of the last burst that it fired in */
    uint64_t taken;          /**< spikes so far */
    uint64_t known;          /**< bursts so far */
    uint64_t start, covered; /**< from start on, below covered, spikes meet the criterion */
    bool in_burst;
    sf_network_burst burst; /**< the newest that is known */
} sf_isi_n;

/** spikes_needed 2 to SF_ISI_N_MOST, within_ns > 0. SF_NO_MEMORY; close it whatever happened. */
int sf_isi_n_open(sf_isi_n *bursts, uint64_t spikes_needed, int64_t within_ns, size_t unit_count,
                  sf_error *error);
void sf_isi_n_close(sf_isi_n *bursts);

/** Takes a spike no earlier than the one before; unit < unit_count. What it brought. */
unsigned sf_isi_n_take(sf_isi_n *bursts, int64_t time_ns, uint32_t unit);

/** No spike before this time is to come: 0 or SF_BURST_ENDED. */
unsigned sf_isi_n_reach(sf_isi_n *bursts, int64_t time_ns);

/** No spike is to come: 0 or SF_BURST_ENDED. */
unsigned sf_isi_n_finish(sf_isi_n *bursts);

/** The time after which no spike belongs to the burst that goes on; INT64_MAX: none does. */
int64_t sf_isi_n_open_until_ns(const sf_isi_n *bursts);

#endif
