/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What discovery keeps from one window to the next: the window's spikes, and the exact counts of all its
 * pairs, which only the spikes that came and went change (pairing.h). Mining then begins with the pairs that
 * are frequent, and does not count any.
 *
 * Following a window costs the spikes that came and went, mining it anew those of the window, so counts are
 * kept where that is less by what both take a spike: not while a window is new, nor where windows hardly
 * overlap, unless hops would wait for a device that mines anew (SF_KEPT_PAIRS_ANEW); nor where the pairs
 * would not fit into SF_KEPT_PAIRS_BYTES, or on the device. Results are the same either way.
 *
 * One thread at a time.
 */
#ifndef SF_PIPELINE_KEPT_PAIRS_H
#define SF_PIPELINE_KEPT_PAIRS_H

#include "pipeline/pairing.h"

/** Counts of all pairs, at 2 bytes each, are not kept beyond this by the CPU. */
#define SF_KEPT_PAIRS_BYTES (UINT64_C(1) << 30)

/** On the CPU a spike that comes or goes takes about so many times what one of a window takes that is mined
 * anew, for the pairs of both (bench_discovery). */
#define SF_KEPT_PAIRS_COST 2.0

/** On a device it takes about so many times what a spike takes there that lies within a delay of one of a
 * window mined anew, for each unit that it may make a pair with: there every pair is looked at. */
#define SF_KEPT_PAIRS_COST_THERE 1.0

/** Mining a window anew is one job of a device, with so many pairs of spikes within a delay some 5 ms of a
 * GPU. Where hops want it meanwhile, longer ones are followed in any case. */
#define SF_KEPT_PAIRS_ANEW 5e8

/** A job of a device moves the window by so many spikes times units at most, some milliseconds of a GPU: hops
 * want it meanwhile. */
#define SF_KEPT_PAIRS_PIECE (UINT64_C(1) << 28)

/** Zero-initialised there is nothing to close. */
typedef struct sf_kept_pairs {
    sf_pairing_setup setup;
    sf_history history;            /**< the newest window, and what the pairs are still to lose */
    uint64_t begin, end;           /**< the window shown last */
    uint64_t came;                 /**< spikes of it that the one before did not have */
    sf_pairing pairs;              /**< closed: none are kept */
    uint64_t kept_begin, kept_end; /**< of this window */
    double cost_there;             /**< SF_KEPT_PAIRS_COST_THERE */
    double most_anew;  /**< SF_KEPT_PAIRS_ANEW, or where no hop waits for the device INFINITY, as at first */
    bool given_up[2];  /**< memory was out, here or there */
    uint64_t followed; /**< windows that were */
} sf_kept_pairs;

/** setup: which pairs; the device is where windows may be followed that are mined on one, or NULL. */
void sf_kept_pairs_open(sf_kept_pairs *kept, const sf_pairing_setup *setup);
void sf_kept_pairs_close(sf_kept_pairs *kept);

/** The window that is mined next: positions begin .. end - 1 of the stream, neither of which ever descends.
 */
void sf_kept_pairs_show(sf_kept_pairs *kept, uint64_t begin, uint64_t end);

/** Spikes at positions first .. end - 1, of which those that were not taken before are copied: all of the
 * window, and for pairs to be followed all that came since the window before. SF_NO_MEMORY. */
int sf_kept_pairs_take(sf_kept_pairs *kept, const sf_spike *spikes, uint64_t first, uint64_t end,
                       sf_error *error);

/** The spikes of the window shown last, valid until the next is shown. */
const sf_spike *sf_kept_pairs_spikes(const sf_kept_pairs *kept, size_t *count);

/**
 * The pairs of the window that count `least`, 1 or more, as sf_pairing_found, valid until the next call; or
 * NULL: it is to be mined anew. `there`: on a device, where windows are mined anew, too.
 */
const sf_pair_count *sf_kept_pairs_follow(sf_kept_pairs *kept, uint32_t least, bool there, size_t *count);

#endif
