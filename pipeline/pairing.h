/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts of all pairs in each window, on the CPU (window/pair_counts.h) or on a device
 * (window/pairs_there.h), with the same results. A device named in the configuration always counts. With
 * `auto` the faster one does (contest.h): the device adopts the window, and both count in the next hop; if
 * spikes are too dense for the CPU, the device counts at once. If a device refuses or fails, the CPU takes
 * over within the hop. One thread.
 */
#ifndef SF_PIPELINE_PAIRING_H
#define SF_PIPELINE_PAIRING_H

#include "pipeline/contest.h"
#include "window/pair_counts.h"
#include "window/pairs_there.h"

/** A window with more pairs at the threshold is not mined: nobody looks at that many, and publishing them
 * takes long. */
#define SF_PAIRING_MOST 1000000

/** The first comparison comes early, while the device has little to adopt. If the first hop is expected to
 * take the CPU longer than this (ns), the device counts without a comparison. */
#define SF_PAIRING_FIRST 3
#define SF_PAIRING_SURE_NS 5e7

/** As sf_pair_counts_open; the delays are borrowed until close. */
typedef struct sf_pairing_setup {
    size_t unit_count;
    const sf_delay *delays;
    size_t delay_count;
    bool self;
    size_t most;
    unsigned threads;  /**< on the CPU */
    sf_device *device; /**< of the run, or NULL */
    bool always;       /**< use the device whatever it costs */
    bool alone;        /**< ... and nothing else: if the device refuses or fails, open and slide return
                          SF_UNAVAILABLE */
    uint64_t piece;    /**< as sf_pairs_there_open */
    uint64_t position; /**< position of the initially empty window */
} sf_pairing_setup;

/** Zero-initialised, there is nothing to close. */
typedef struct sf_pairing {
    sf_pairing_setup setup; /**< device NULL: the CPU counts from now on */
    sf_pair_counts *here;   /**< NULL: only the device counts */
    sf_pairs_there *there;  /**< NULL: only the CPU counts */
    sf_contest contest;
    bool has_slid;
    double sure_ns; /**< SF_PAIRING_SURE_NS */
} sf_pairing;

int sf_pairing_open(sf_pairing *pairing, const sf_pairing_setup *setup, sf_error *error);
void sf_pairing_close(sf_pairing *pairing);

/** Whether it is open. */
bool sf_pairing_counts(const sf_pairing *pairing);

/** As sf_pair_counts_slide and sf_pair_counts_found. */
int sf_pairing_slide(sf_pairing *pairing, const sf_history *history, uint64_t begin, uint64_t end,
                     uint32_t least, sf_error *error);
const sf_pair_count *sf_pairing_found(const sf_pairing *pairing, size_t *count);

/** Where the newest pairs were counted: "cpu", "cuda:0". */
const char *sf_pairing_device(const sf_pairing *pairing);

#endif
