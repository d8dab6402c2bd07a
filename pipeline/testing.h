/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Significance while a stream goes on. The stream is cut into stretches, one after the other. What is counted
 * when a stretch begins (episodes that are watched or tracked, edges of the graph) is tested by surrogates in
 * the spikes of that stretch, in the background, once it is over: an episode never in spikes that it was
 * found in, and in no spike twice. Which episodes are tested is settled before the stretch, so that nothing
 * in it chooses among them; and so is how, by the shape of what units shared in all stretches before
 * (pipeline/past.h).
 *
 * An episode's own stretch is as many of these as give SF_TESTING_LEAST_COUNT occurrences in the mean of
 * surrogates and stream: fewer say nothing, and are a bet on it. All shifts have that mean alike, so it does
 * not choose among them.
 *
 * p is that of an episode's newest stretch by itself. q corrects for every look and for all that the run has
 * put to a test: evidence (mine/evidence.h) is gathered stretch by stretch, and q = price / evidence. Of the
 * c-th lot of m episodes that are new in a stretch each has the price m c (c + 1), so that all prices
 * together allow one in 20 runs, however long, a single q below 0.05 by chance. After so many tests q cannot
 * be less than least_q = price / evidence with 1 / (surrogates + 1), the least there is, for every p. A
 * chain's p, q and least_q are the
 * largest of its own and its links', which are tested with it: of a chain whose units are cut in two at a
 * link that is none, that link's are right, and no others.
 *
 * Where the test turns out to be wrong in this stream, as bursts are too sharp or pairs drawn at random stand
 * out (pipeline/random_pairs.h), there is neither p nor q, and evidence begins anew, at a new price.
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

/** Stretches are no shorter, where their length is not given: in less, whether bursts are too sharp is not
 * known of units that fire once a second. */
#define SF_TESTING_LEAST_S 30

/** In real time tests take no more of it: a longer one is followed by stretches that are left out. What is
 * replayed waits instead. */
#define SF_TESTING_MOST_SHARE 0.2

/** So many of its own stretches long an episode is tested on that is not wanted any more: bursts may be rare.
 * Then it is forgotten; found again, it begins anew. */
#define SF_TESTING_KEEP 16

/** An episode's own stretch is as long as gives so many occurrences in the mean of surrogates and stream, ...
 */
#define SF_TESTING_LEAST_COUNT 5

/** ... at most so long, or one stretch. */
#define SF_TESTING_MOST_S 600

/** The stretches that an episode is tested in next, together. */
typedef struct sf_own_stretch {
    uint64_t since; /**< number of the first */
    uint32_t have;  /**< that are over and could be tested, */
    uint32_t needs; /**< of so many, for the next look */
} sf_own_stretch;

/** An episode that is or was tested. */
typedef struct sf_tested {
    sf_episode episode;
    int64_t longest_ns; /**< as in sf_test_outcome */
    sf_evidence evidence;
    sf_evidence most; /**< what the same number of tests gives at most */
    double price;     /**< q = price / evidence; 0: begins with the next lot */
    uint64_t wanted;  /**< number of the last stretch at whose beginning it was wanted, ... */
    uint64_t listed;  /**< ... and that it was to be tested in */
    sf_own_stretch own;
    sf_verdict verdict; /**< without its links' */
} sf_tested;

/** Ordered by sf_episode_compare. */
typedef struct sf_ledger {
    sf_tested *items;
    size_t count, capacity;
} sf_ledger;

/** What the next stretch is to test. */
typedef struct sf_wanted {
    sf_episode episode;
    bool kept; /**< wanted in a stretch before, and not in this one */
} sf_wanted;

/** A pair drawn at random that waits for its one test. */
typedef struct sf_drawn_pair {
    sf_episode pair;
    int64_t longest_ns;
    sf_own_stretch own;
} sf_drawn_pair;

#define SF_NOT_DRAWN SIZE_MAX

/** What the worker says of an episode. */
typedef struct sf_test_outcome {
    sf_episode episode;
    int64_t
        longest_ns; /**< of its delays, where that is beyond those of discovery: shifts are longer; else 0 */
    uint64_t since;
    uint32_t have;
    size_t drawn; /**< which random pair it is; SF_NOT_DRAWN: none */
    double p;
    double mean;            /**< of surrogates and stream; NaN where neither was counted */
    const char *not_tested; /**< why there is none, a literal; or NULL */
} sf_test_outcome;

/** A stretch's spikes, and what is to be tested now that it is over. */
typedef struct sf_stretch_test {
    uint64_t number; /**< of the stretch, from 1 */
    sf_span span;
    sf_spike *spikes;
    size_t count, capacity;
    sf_test_outcome *outcomes; /**< by longest_ns, since, then as compared */
    size_t outcome_count, outcome_capacity;
    uint64_t oldest; /**< stretch that a test may still ask for */
    bool *waits;     /**< by unit: a test that began before this stretch may ask for its spikes */
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
    uint32_t most;      /**< stretches of an own one: a power of two, as are all such numbers */
    const char *device; /**< that surrogates may be counted on */
    sf_ledger ledger;
    double chance;                  /**< what a bet pays by chance (mine/evidence.h) */
    uint64_t lots;                  /**< that had new episodes */
    bool truncated;                 /**< the newest lot had no room for all edges */
    bool crowded;                   /**< nor for all that is tracked */
    uint64_t rest;                  /**< stretches that are left out, for the time that tests have taken */
    bool inside;                    /**< tests are made within their hop */
    bool waits;                     /**< the stream waits for them */
    bool open;                      /**< spikes are gathered for the stretch */
    bool begun;                     /**< the first one has begun */
    bool ended;                     /**< the stream has: the window that closes is the last */
    uint64_t copied;                /**< positions before it are in the stretch */
    uint64_t breaks, newest_breaks; /**< of the sources, when the stretch began and now */
    sf_wanted *wanted;              /**< in the stretch that is gathered */
    size_t wanted_count, wanted_capacity;
    sf_random_pairs random_pairs;
    sf_drawn_pair *drawn;
    size_t drawn_count, drawn_capacity;
    uint32_t *fired;     /**< by unit: spikes in the stretch that is gathered */
    sf_rates rates;      /**< in the newest stretch that was tested */
    sf_stretch_test now; /**< being gathered */
    sf_stretch_test job; /**< the worker's while it is busy, as is: */
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
    const sf_tracking *pinned; /**< what is tracked from the stream's start: tested in the first stretch */
    bool inside;               /**< tests are made within their hop */
    bool waits;                /**< a stretch that is over waits for the test before: none is left out */
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
