/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What discovery keeps from one window to the next: the window's spikes, and the exact counts of all its
 * pairs, which change only with the spikes that enter and leave (pairing.h). Mining then starts from the
 * frequent pairs and counts none itself.
 *
 * Following a window costs time per spike that enters or leaves, mining it anew per spike of the window.
 * Counts are kept when following is cheaper by the measured cost per spike: not while a window fills, nor
 * when windows hardly overlap, unless hops would wait for a device that mines anew (SF_KEPT_PAIRS_ANEW); nor
 * when the pairs do not fit into SF_KEPT_PAIRS_BYTES, or on the device. Results are the same either way.
 *
 * One thread at a time.
 */
#ifndef SF_PIPELINE_KEPT_PAIRS_H
#define SF_PIPELINE_KEPT_PAIRS_H

#include "pipeline/pairing.h"

/** Maximum memory of the counts of all pairs on the CPU, at 2 bytes each. */
#define SF_KEPT_PAIRS_BYTES (UINT64_C(1) << 30)

/** CPU cost of a spike that enters or leaves, relative to the cost of a spike in a window that is mined anew,
 * for the pairs of both (bench_discovery). */
#define SF_KEPT_PAIRS_COST 2.0

/** Device cost of a spike that enters or leaves, for each unit that it may pair with (every pair is looked
 * at), relative to the cost of a spike within a delay of another in a window that is mined anew. */
#define SF_KEPT_PAIRS_COST_THERE 1.0

/** Mining a window anew is one device job; with this number of spike pairs within a delay it takes some 5 ms
 * of a GPU. If hops need the device meanwhile, windows with more pairs are always followed. */
#define SF_KEPT_PAIRS_ANEW 5e8

/** Maximum of spikes times units by which one device job moves the window, some milliseconds of a GPU,
 * because hops need the device meanwhile. */
#define SF_KEPT_PAIRS_PIECE (UINT64_C(1) << 28)

/** Zero-initialised it needs no close. */
typedef struct sf_kept_pairs {
    sf_pairing_setup setup;
    sf_history history;            /**< the newest window, and spikes that the pairs still have to lose */
    uint64_t begin, end;           /**< the window shown last */
    uint64_t came;                 /**< spikes of it that the previous window did not have */
    sf_pairing pairs;              /**< closed: none are kept */
    uint64_t kept_begin, kept_end; /**< of this window */
    double cost_there;             /**< SF_KEPT_PAIRS_COST_THERE */
    double most_anew;  /**< SF_KEPT_PAIRS_ANEW; INFINITY, the default, if no hop waits for the device */
    bool given_up[2];  /**< memory was out, on the host [0] or the device [1] */
    uint64_t followed; /**< number of windows that were followed */
} sf_kept_pairs;

/** setup: which pairs; its device is the one on which windows may be followed if they are mined on a device,
 * or NULL. */
void sf_kept_pairs_open(sf_kept_pairs *kept, const sf_pairing_setup *setup);
void sf_kept_pairs_close(sf_kept_pairs *kept);

/** Announces the window that is mined next: positions begin .. end - 1 of the stream, neither of which ever
 * decreases. */
void sf_kept_pairs_show(sf_kept_pairs *kept, uint64_t begin, uint64_t end);

/** Takes spikes at positions first .. end - 1 and copies those not taken before: all of the window, and to
 * follow pairs, all that came since the previous window. SF_NO_MEMORY. */
int sf_kept_pairs_take(sf_kept_pairs *kept, const sf_spike *spikes, uint64_t first, uint64_t end,
                       sf_error *error);

/** The spikes of the window shown last, valid until the next is shown. */
const sf_spike *sf_kept_pairs_spikes(const sf_kept_pairs *kept, size_t *count);

/**
 * The pairs of the window with a count of at least `least` (1 or more), as from sf_pairing_found, valid until
 * the next call; or NULL: mine the window anew. `there`: windows are mined on a device, so follow on the
 * device.
 */
const sf_pair_count *sf_kept_pairs_follow(sf_kept_pairs *kept, uint32_t least, bool there, size_t *count);

#endif
