/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Significance tests during a stream. The stream is cut into consecutive stretches. What is counted when a
 * stretch begins (watched or tracked episodes, edges of the graph) is tested by surrogates in the spikes of
 * that stretch, in the background, once it is over: an episode is never tested in spikes in which it was
 * found, and in no spike twice. Which episodes are tested is fixed before the stretch, so nothing in it
 * selects them; so is the method, by the shape of what units shared in all earlier stretches
 * (pipeline/past.h).
 *
 * The stretch of a single episode joins as many of these as give SF_TESTING_LEAST_COUNT occurrences in the
 * mean of surrogates and stream: fewer carry no information but still cost a bet. That mean is the same for
 * all shifts, so it does not select among them.
 *
 * p is that of an episode's newest stretch alone. q corrects for every look and for everything that the run
 * has tested: evidence (mine/evidence.h) accumulates over stretches, and q = price / evidence. In the c-th
 * lot, m episodes that are new in a stretch, each has the price m c (c + 1), so that with all prices together
 * only one in 20 runs, however long, has a single q below 0.05 by chance. After a given number of tests q
 * cannot be below least_q = price / evidence with p = 1 / (surrogates + 1), the smallest possible, in every
 * test. A chain's p, q and least_q are the largest of its own and those of its links, which are tested with
 * it: if a false link splits a chain's units in two, only that link's values are right.
 *
 * If the test turns out to be wrong in this stream, because bursts are too sharp or randomly drawn pairs
 * stand out (pipeline/random_pairs.h), there is neither p nor q, and evidence starts again, at a new price.
 */
#ifndef SF_PIPELINE_TESTING_H
#define SF_PIPELINE_TESTING_H

#include "analysis/connectivity.h"
#include "analysis/quantity.h"
#include "mine/evidence.h"
#include "mine/significance.h"
#include "pipeline/background.h"
#include "pipeline/options.h"
#include "pipeline/past.h"
#include "pipeline/random_pairs.h"
#include "pipeline/tracking.h"
#include "pipeline/verdict.h"
#include "window/history.h"
#include "window/segment.h"

/** Minimum stretch length, unless it is configured: in less time it is unknown whether bursts are too sharp
 * for units that fire once a second. */
#define SF_TESTING_LEAST_S 30

/** Maximum share of time that tests may take in real time: after a longer test, stretches are skipped. A
 * replayed stream waits instead. */
#define SF_TESTING_MOST_SHARE 0.2

/** Number of its own stretches for which an episode is still tested after nobody wants it any more, because
 * bursts may be rare. Then it is forgotten; if found again, it starts anew. */
#define SF_TESTING_KEEP 16

/** An episode's own stretch is long enough for this number of occurrences in the mean of surrogates and
 * stream, ... */
#define SF_TESTING_LEAST_COUNT 5

/** ... but at most this long, or one stretch. */
#define SF_TESTING_MOST_S 600

/** The stretches in which an episode is tested next, together. */
typedef struct sf_own_stretch {
    uint64_t since; /**< number of the first */
    uint32_t have;  /**< stretches that are over and could be tested, ... */
    uint32_t needs; /**< ... of this number needed for the next test */
} sf_own_stretch;

/** An episode that is or was tested. */
typedef struct sf_tested {
    sf_episode episode;
    int64_t longest_ns; /**< as in sf_test_outcome */
    sf_evidence evidence;
    sf_evidence most; /**< the maximum that the same number of tests can give */
    double price;     /**< q = price / evidence; 0: it joins the next lot */
    uint64_t wanted;  /**< number of the last stretch at whose beginning it was wanted, ... */
    uint64_t listed;  /**< ... and of the last in which it was to be tested */
    sf_own_stretch own;
    sf_verdict verdict; /**< without those of its links */
} sf_tested;

/** Ordered by sf_episode_compare. */
typedef struct sf_ledger {
    sf_tested *items;
    size_t count, capacity;
} sf_ledger;

/** An episode to test in the next stretch. */
typedef struct sf_wanted {
    sf_episode episode;
    bool kept; /**< wanted in an earlier stretch, but not in this one */
} sf_wanted;

/** A randomly drawn pair that waits for its single test. */
typedef struct sf_drawn_pair {
    sf_episode pair;
    int64_t longest_ns;
    sf_own_stretch own;
} sf_drawn_pair;

#define SF_NOT_DRAWN SIZE_MAX

/** The worker's result for an episode. */
typedef struct sf_test_outcome {
    sf_episode episode;
    /** of its delays, where that is beyond those of discovery: shifts are longer; else 0 */
    int64_t longest_ns;
    uint64_t since;
    uint32_t have;
    size_t drawn; /**< index of the random pair; SF_NOT_DRAWN: none */
    double p;
    double mean;            /**< of surrogates and stream; NaN if neither was counted */
    const char *not_tested; /**< why there is no p, a literal; or NULL */
} sf_test_outcome;

/** A stretch's spikes, and what to test now that it is over. */
typedef struct sf_stretch_test {
    uint64_t number; /**< number of the stretch, from 1 */
    sf_span span;
    sf_spike *spikes;
    size_t count, capacity;
    sf_test_outcome *outcomes; /**< ordered by longest_ns, since, then by sf_episode_compare */
    size_t outcome_count, outcome_capacity;
    uint64_t oldest; /**< oldest stretch that a test may still need */
    bool *waits;     /**< by unit: a test that began before this stretch may need its spikes */
} sf_stretch_test;

/** The state of testing, for the status. */
typedef struct sf_testing_status {
    size_t tested; /**< number of episodes in the newest tested stretch */
    uint64_t tests,
        missed;            /**< stretches tested, and stretches skipped because of the time that tests take */
    double seconds, share; /**< newest test: its duration, and that divided by the length of its stretch */
    char device[32];       /**< device that counted its surrogates; empty before */
    const char *not_tested; /**< why the newest stretch gave no p; NULL if it did, or there is none yet */
} sf_testing_status;

/** Window thread. Must not move while open. */
typedef struct sf_testing {
    const sf_live_options *config;
    const sf_units *units;
    const sf_observed *observed;
    size_t observed_count;
    sf_delay delays[64]; /**< of discovery */
    size_t delay_count;
    uint64_t hops; /**< in a stretch */
    int64_t length_ns;
    uint32_t most;      /**< maximum number of stretches in an episode's own one: a power of two, as all such
                           numbers are */
    const char *device; /**< device that may count surrogates */
    sf_ledger ledger;
    double chance;   /**< what a bet pays by chance (mine/evidence.h) */
    uint64_t lots;   /**< number of lots with new episodes */
    bool truncated;  /**< the newest lot had no room for all edges */
    bool crowded;    /**< nor for all tracked episodes */
    uint64_t rest;   /**< number of stretches to skip, because of the time that tests have taken */
    bool inside;     /**< tests run within their hop */
    bool waits;      /**< the stream waits for tests */
    bool open;       /**< spikes are being gathered for the stretch */
    bool begun;      /**< the first stretch has begun */
    bool ended;      /**< the stream has ended: the closing window is the last */
    uint64_t copied; /**< positions before it have been copied into the stretch */
    uint64_t breaks, newest_breaks; /**< of the sources, when the stretch began and now */
    sf_wanted *wanted;              /**< in the stretch being gathered */
    size_t wanted_count, wanted_capacity;
    sf_random_pairs random_pairs;
    sf_drawn_pair *drawn;
    size_t drawn_count, drawn_capacity;
    uint32_t *fired;     /**< by unit: spikes in the stretch being gathered */
    sf_rates rates;      /**< in the newest stretch that was tested */
    sf_stretch_test now; /**< the stretch being gathered */
    sf_stretch_test job; /**< the worker's while it is busy, like `past` */
    sf_past past;
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
    const sf_tracking *pinned; /**< tracked from the stream's start: tested in the first stretch */
    bool inside;               /**< tests run within their hop */
    bool waits;                /**< a finished stretch waits for the previous test: none is skipped */
    const char *device;        /**< for surrogates, as synfire/device.h has it; borrowed */
    sf_board *board;
} sf_testing_setup;

/** The configured length of a stretch. */
int64_t sf_testing_length_ns(const sf_live_options *config);

/** SF_NO_MEMORY; SF_CONFIG for an episode under `watch` that cannot be read. */
int sf_testing_open(sf_testing *testing, const sf_testing_setup *setup, sf_error *error);
void sf_testing_close(sf_testing *testing);

/**
 * Call when a window has closed: takes its spikes, passes a finished stretch to the worker, and adopts the
 * worker's results. breaks: a number that grows with everything that makes the stream leap or lose spikes.
 * SF_NO_MEMORY, and errors of the test.
 */
int sf_testing_advance(sf_testing *testing, const sf_segment *segment, const sf_history *history,
                       uint64_t breaks, sf_error *error);

/** If a stretch begins with the end of this window: fixes what is tested in it. graph: the newest.
 * SF_NO_MEMORY. */
int sf_testing_begin(sf_testing *testing, const sf_segment *segment, const sf_tracking *tracking,
                     const sf_connectivity *graph, sf_error *error);

/** The configured limits of what is published, with nothing left out so far. */
static inline sf_left_out sf_testing_limits(const sf_live_options *config)
{
    return (sf_left_out){.max_p = config->significance.max_p, .max_q = config->significance.max_q};
}

/** The present verdict on an episode. */
sf_verdict sf_testing_verdict(const sf_testing *testing, const sf_episode *episode);

/** Sets p, q, and the reason for a missing p, in the links of a graph. */
void sf_testing_mark(const sf_testing *testing, sf_connectivity *graph);

/** Sets the age of the p of changed edges, at the end of the window. */
void sf_testing_date(const sf_testing *testing, sf_edge_change *changes, size_t count, int64_t stop_ns);

#endif
