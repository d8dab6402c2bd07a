/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What discovery keeps from one window to the next: the window's spikes, and the exact counts of all its
 * pairs, which only the spikes that came and went change (window/pair_counts.h). Mining then begins with the
 * pairs that are frequent, and does not count any.
 *
 * Following a window costs the spikes that came and went, mining it anew those of the window, so counts are
 * kept where that is less by what both take a spike: not while a window is new, nor where windows hardly
 * overlap, nor where the pairs would not fit into SF_KEPT_PAIRS_BYTES. Results are the same either way.
 *
 * The caller's thread shows windows, a worker's follows them, never both at once.
 */
#ifndef SF_PIPELINE_KEPT_PAIRS_H
#define SF_PIPELINE_KEPT_PAIRS_H

#include "window/history.h"
#include "window/pair_counts.h"

/** Counts of all pairs, at 2 bytes each, are not kept beyond this. */
#define SF_KEPT_PAIRS_BYTES (UINT64_C(1) << 30)

/** A spike that comes or goes takes about so many times what one of a window takes that is mined anew, for
 * the pairs of both (bench_discovery). */
#define SF_KEPT_PAIRS_COST 2.0

/** As sf_pair_counts_open; the delays are borrowed until close. */
typedef struct sf_kept_pairs_setup {
    size_t unit_count;
    const sf_delay *delays;
    size_t delay_count;
    bool self;
    size_t most;
    unsigned threads;
} sf_kept_pairs_setup;

/** Zero-initialised there is nothing to close. */
typedef struct sf_kept_pairs {
    sf_kept_pairs_setup setup;
    sf_history history;            /**< the newest window, and what the pairs are still to lose */
    uint64_t begin, end;           /**< the newest window */
    uint64_t came;                 /**< spikes of it that the one before did not have */
    sf_pair_counts *pairs;         /**< NULL: none are kept */
    uint64_t kept_begin, kept_end; /**< of this window */
    bool given_up;                 /**< memory was out */
    uint64_t followed;             /**< windows that were */
} sf_kept_pairs;

void sf_kept_pairs_open(sf_kept_pairs *kept, const sf_kept_pairs_setup *setup);
void sf_kept_pairs_close(sf_kept_pairs *kept);

/**
 * The window to be mined next: positions begin .. end - 1 of the stream, and its spikes, of which those that
 * the window before did not have are copied. begin and end never descend. SF_NO_MEMORY.
 */
int sf_kept_pairs_show(sf_kept_pairs *kept, const sf_spike *spikes, uint64_t begin, uint64_t end,
                       sf_error *error);

/** The spikes of the window shown last, valid until the next is shown. */
const sf_spike *sf_kept_pairs_spikes(const sf_kept_pairs *kept, size_t *count);

/**
 * The pairs of the window that count `least`, 1 or more, none missing, and valid until the next call; or
 * NULL: it is to be mined anew. `mined_anew`: that is settled, and no counts are kept.
 */
const sf_pair_count *sf_kept_pairs_follow(sf_kept_pairs *kept, uint32_t least, bool mined_anew,
                                          size_t *count);

#endif
