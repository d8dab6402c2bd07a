/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Significance while a stream goes on. The stream is cut into stretches, one after the other. What is counted
 * when a stretch begins (episodes that are watched or tracked, edges of the graph) is tested by surrogates in
 * the spikes of that stretch, in the background, once it is over: an episode never in spikes that it was
 * found in, and in no spike twice. Which episodes are tested is settled before the stretch, so that nothing
 * in it chooses among them.
 *
 * p is that of an episode's newest stretch by itself. q corrects for every look and for all that the run has
 * put to a test: evidence (mine/evidence.h) is gathered stretch by stretch, and q = price / evidence. Of the
 * c-th lot of m episodes that are new in a stretch each has the price m c (c + 1), so that all prices
 * together allow one in 20 runs, however long, a single q below 0.05 by chance.
 */
#ifndef SF_PIPELINE_TESTING_H
#define SF_PIPELINE_TESTING_H

#include "analysis/connectivity.h"
#include "analysis/quantity.h"
#include "mine/evidence.h"
#include "mine/significance.h"
#include "pipeline/background.h"
#include "pipeline/options.h"
#include "pipeline/tracking.h"
#include "pipeline/verdict.h"
#include "window/history.h"
#include "window/segment.h"

/** Stretches are no shorter, where their length is not given: in less, whether bursts are too sharp is not
 * known of units that fire once a second. */
#define SF_TESTING_LEAST_S 30

/** In real time tests take no more of it: a longer one is followed by stretches that are left out. */
#define SF_TESTING_MOST_SHARE 0.2

/** So many stretches long an episode is tested on that is not wanted any more: bursts may be rare. Then it is
 * forgotten; found again, it begins anew. */
#define SF_TESTING_KEEP 16

/** Of fewer occurrences in the mean of surrogates and stream a test would say nothing, and bet on it. All
 * shifts have that mean alike, so it does not choose among them. */
#define SF_TESTING_LEAST_COUNT 0.5

/** An episode that is or was tested. */
typedef struct sf_tested {
    sf_episode episode;
    sf_evidence evidence;
    double price;    /**< q = price / evidence */
    uint64_t wanted; /**< number of the last stretch at whose beginning it was wanted */
    sf_verdict verdict;
} sf_tested;

/** Ordered by sf_episode_compare. */
typedef struct sf_ledger {
    sf_tested *items;
    size_t count, capacity;
} sf_ledger;

/** What the worker says of an episode. */
typedef struct sf_test_outcome {
    sf_episode episode;
    int64_t
        longest_ns; /**< of its delays, where that is beyond those of discovery: shifts are longer; else 0 */
    bool kept;      /**< wanted in a stretch before, and not in this one */
    double p;
    const char *not_tested; /**< why there is none, a literal; or NULL */
} sf_test_outcome;

/** Spikes and what is to be tested in them. */
typedef struct sf_stretch_test {
    uint64_t number; /**< of the stretch, from 1 */
    sf_span span;
    sf_spike *spikes;
    size_t count, capacity;
    sf_test_outcome *episodes; /**< by longest_ns, then as compared */
    size_t episode_count, episode_capacity;
} sf_stretch_test;

/** How testing goes, for the status. */
typedef struct sf_testing_status {
    size_t tested;          /**< episodes, in the newest stretch that was */
    uint64_t tests, missed; /**< stretches tested, and those left out for the time that tests take */
    double seconds, share;  /**< of the newest: how long it took, and that by the length of its stretch */
    char device[32];        /**< that its surrogates were counted on; empty before */
    const char *not_tested; /**< why the newest stretch gave no p; NULL where it did, or there was none yet */
} sf_testing_status;

/** Window thread. Stays where it is while open. */
typedef struct sf_testing {
    const sf_live_options *config;
    const sf_units *units;
    const sf_observed *observed;
    size_t observed_count;
    sf_delay delays[64]; /**< of discovery */
    size_t delay_count;
    uint64_t hops; /**< of a stretch */
    int64_t length_ns;
    const char *device; /**< that surrogates may be counted on */
    sf_ledger ledger;
    uint64_t lots;                  /**< that had new episodes */
    bool truncated;                 /**< the newest lot had no room for all edges */
    uint64_t rest;                  /**< stretches that are left out, for the time that tests have taken */
    bool inside;                    /**< tests are made within their hop */
    bool open;                      /**< spikes are gathered for the stretch */
    bool begun;                     /**< the first one has begun */
    uint64_t copied;                /**< positions before it are in the stretch */
    uint64_t breaks, newest_breaks; /**< of the sources, when the stretch began and now */
    sf_stretch_test now;            /**< being gathered */
    sf_stretch_test job;            /**< the worker's while it is busy */
    sf_episode *watched;
    size_t watched_count;
    sf_board *board; /**< of the watched episodes */
    sf_background background;
    sf_testing_status status;
    int result; /**< of the job */
    sf_error error;
    double seconds;
    char ran_on[32];
} sf_testing;

typedef struct sf_testing_setup {
    const sf_live_options *config;
    const sf_units *units;
    const sf_observed *observed; /**< as in sf_hops_options, borrowed */
    size_t observed_count;
    const sf_tracking *pinned; /**< what is tracked from the stream's start: tested in the first stretch */
    bool inside;               /**< tests are made within their hop */
    const char *device;        /**< for surrogates, as synfire/device.h has it; borrowed */
    sf_board *board;
} sf_testing_setup;

/** The length of a stretch as the configuration has it. */
int64_t sf_testing_length_ns(const sf_live_options *config);

/** SF_NO_MEMORY; SF_CONFIG for an episode under `watch` that cannot be read. */
int sf_testing_open(sf_testing *testing, const sf_testing_setup *setup, sf_error *error);
void sf_testing_close(sf_testing *testing);

/**
 * A window has closed: takes its spikes in, hands a stretch that is over to the worker, and takes up what the
 * worker has done. breaks: a number that grows with everything that makes the stream leap or lose spikes.
 * SF_NO_MEMORY, and what testing fails with.
 */
int sf_testing_advance(sf_testing *testing, const sf_segment *segment, const sf_history *history,
                       uint64_t breaks, sf_error *error);

/** Where a stretch begins with the end of this window: settles what is tested in it. graph: the newest. */
int sf_testing_begin(sf_testing *testing, const sf_segment *segment, const sf_tracking *tracking,
                     const sf_connectivity *graph, sf_error *error);

/** The configured limits of what is told of, with nothing left out so far. */
static inline sf_left_out sf_testing_limits(const sf_live_options *config)
{
    return (sf_left_out){.max_p = config->significance.max_p, .max_q = config->significance.max_q};
}

/** What is known of an episode now. */
sf_verdict sf_testing_verdict(const sf_testing *testing, const sf_episode *episode);

/** Puts p, q and the reason where there is none into a graph's links. */
void sf_testing_mark(const sf_testing *testing, sf_connectivity *graph);

/** How old the p of changed edges are at the end of the window. */
void sf_testing_date(const sf_testing *testing, sf_edge_change *changes, size_t count, int64_t stop_ns);

#endif
