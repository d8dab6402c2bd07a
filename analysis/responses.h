/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Responses to stimuli: compares the events of units, or of other trains, in a window after each marker with
 * those in windows of the same length before it. docs/responses.md has the definitions and pitfalls.
 *
 * A trial is a marker of the requested name. Its response window spans from_ns to to_ns after the marker; its
 * `baseline` windows lie end to end and end at the marker. An offset into the windows counts in a trial only
 * if all windows of the trial were recorded at that offset: what is blanked in one window is left out of all,
 * so that all have the same exposure. A trial without exposure is left out.
 *
 * The test: without a response it does not matter which window of a trial follows the marker. A permutation
 * draws, for every trial and for all items alike, the window that serves as the response window. p is the
 * fraction of permutations whose count deviates from the mean of the windows at least as far as the observed
 * one, on either side. The test enumerates all permutations if they are at most `permutations`, else it uses
 * that number of random ones and the observed one. Consecutive trials may be alike (long bursts, slow
 * rhythms), so the test is repeated with blocks of 2, 4, 8, ... trials that are permuted together, as long as
 * there are SF_LEAST_BLOCKS blocks; p is the largest. q corrects for all items: the fraction of permutations
 * in which the maximum over all items of the statistic over its standard deviation is as great (single step,
 * Westfall and Young 1993), again the largest over block lengths.
 */
#ifndef SF_ANALYSIS_RESPONSES_H
#define SF_ANALYSIS_RESPONSES_H

#include "core/keys.h"
#include "core/recording.h"

typedef struct sf_response_options {
    const char *marker;     /**< marker text, or ttl3 for a rising edge of TTL line 3; or NULL */
    int64_t from_ns, to_ns; /**< bounds of the response window, after the marker; 0 <= from < to */
    uint64_t baseline;      /**< number of windows before the marker; 1 to SF_MOST_BASELINE */
    int64_t before_ns,
        after_ns;   /**< histogram from before_ns to after_ns around the marker; both 0: from the start of the
                       first baseline window to one window length after the end of the response window */
    int64_t bin_ns; /**< bin width of the histogram; bins begin at multiples of it */
    uint64_t permutations; /**< 1 and more */
    uint64_t seed;
} sf_response_options;

#define SF_MOST_BASELINE 100
#define SF_MOST_RESPONSE_BINS 100000

/** Option rows, defaults, and the check that rows cannot express: SF_USAGE for an empty window, an empty
 * histogram, or one with too many bins. */
extern const sf_key_table sf_response_table;
#define SF_RESPONSE_OPTIONS (*(const sf_response_options *)sf_response_table.defaults)
int sf_response_check(const sf_response_options *options, sf_error *error);

/** Start of the histogram, a multiple of the bin width; *bins is its number of bins. */
int64_t sf_response_histogram(const sf_response_options *options, size_t *bins);

/** A marker, with the offsets that were recorded in all of its windows. */
typedef struct sf_trial {
    int64_t time_ns;                /**< of the marker */
    int64_t exposed_ns;             /**< of each of its windows */
    size_t first_part, parts;       /**< range in sf_responses.parts: the offsets that are exposed */
    uint64_t spikes, spikes_before; /**< of all items, in the response window; in all baseline windows */
    size_t answers;                 /**< items with a spike in the response window */
} sf_trial;

/** Response of a unit or another train. Latency is the time from the marker to the first spike in the
 * response window; for a baseline window it is measured as if a marker preceded that window by the same
 * offset. */
typedef struct sf_response {
    uint64_t spikes, spikes_before;       /**< number in all response windows; in all baseline windows */
    uint64_t answers, answers_before;     /**< windows with a spike */
    double latency_ns, latency_before_ns; /**< median; NaN: there is no spike */
    double jitter_ns, jitter_before_ns;   /**< standard deviation of latencies; NaN for fewer than two */
    double p, q;                          /**< NaN: in every trial all windows have the same count */
} sf_response;

typedef struct sf_response_room sf_response_room;

/** Zero-initialise. */
typedef struct sf_responses {
    sf_response_options options; /**< its marker is borrowed */
    size_t markers;              /**< of this name */
    sf_trial *trials;            /**< in order of time, without those that have no exposure */
    size_t trial_count, trial_room;
    sf_span *parts;
    size_t part_count, part_room;
    size_t overlapping; /**< number of trials whose first window begins before the previous response window
                           ends */
    int64_t exposed_ns; /**< of all response windows together */
    double interval_s, interval_cv; /**< mean and coefficient of variation of the time between trials; NaN if
                                       there are too few */
    int64_t first_ns;               /**< start of the first bin, relative to the marker */
    size_t bin_count;
    int64_t *bin_exposed_ns; /**< of all trials together */
    size_t item_count;
    sf_response *items;
    uint64_t *histogram;     /**< item_count rows of bin_count */
    uint64_t longest_block;  /**< trials in the longest blocks */
    double least_p;          /**< smallest p that this number of trials allows */
    sf_response_room *rooms; /**< per item, if trials are added one by one; else NULL */
    uint64_t *counts;        /**< likewise, room for those of a trial */
} sf_responses;

/** Ascending times of one item. */
typedef struct sf_event_train {
    const int64_t *times_ns;
    size_t count;
} sf_event_train;

/** Finds trials and exposure. SF_DATA if no marker has the name (the message lists the names), or no trial
 * has exposure; SF_NO_MEMORY. Free with sf_responses_free, also after an error. */
int sf_responses_open(sf_responses *responses, const sf_recording *recording,
                      const sf_response_options *options, sf_error *error);

/** Counts the events of the trains, one item each, and tests them. Call once. `threads` 0: all cores.
 * SF_NO_MEMORY. */
int sf_responses_take(sf_responses *responses, const sf_event_train *trains, size_t count, unsigned threads,
                      sf_error *error);

/** As sf_responses_take, for the trains of all units of a recording. */
int sf_responses_take_units(sf_responses *responses, const sf_recording *recording, unsigned threads,
                            sf_error *error);

/**
 * The same for trials that arrive one by one, in order, with `count` trains. Each call of sf_responses_add
 * gives a marker, the recorded spans around it, ordered and disjoint, and each train's events around it.
 * Intervals, p and baseline latencies are not computed. sf_responses_describe updates latencies and jitter to
 * all trials so far; its cost does not grow with the number of trials. SF_NO_MEMORY.
 */
int sf_responses_begin(sf_responses *responses, const sf_response_options *options, size_t count,
                       sf_error *error);
int sf_responses_add(sf_responses *responses, int64_t marker_ns, const sf_span *recorded, size_t count,
                     const sf_event_train *trains, sf_error *error);
void sf_responses_describe(sf_responses *responses);

void sf_responses_free(sf_responses *responses);

/** Time of offset 0 of a trial's window: 0 is the response window, 1 the last one before the marker. */
int64_t sf_response_window(const sf_response_options *options, const sf_trial *trial, uint64_t window);

/** Events per second of exposure; NaN without exposure. */
double sf_response_rate(uint64_t events, int64_t exposed_ns);

#endif
