/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Responses to stimuli: what units, or any other trains of events, do in a window after each marker, beside
 * what they do in windows of the same length before it. docs/responses.md has the definitions and says what
 * misleads.
 *
 * A trial is a marker of the name that was asked for. Its response window is from from_ns to to_ns after it,
 * and its `baseline` windows lie one after the other and end at it. An offset into the windows counts in a
 * trial only where all of its windows were recorded at that offset: what is blanked in one is left out of
 * all, so each has the same exposure. A trial without any is left out.
 *
 * The test: without a response it does not matter which of the windows of a trial comes after the marker. A
 * permutation draws the one that is taken for the response, of every trial, for all items alike; p is the
 * share of permutations whose count is as far from the mean of the windows as the one that was found, or
 * further, on either side; all permutations are taken where they are no more than `permutations`, else so
 * many random ones and the one that was found. Trials that follow each other may be alike (long bursts, slow
 * rhythms), so the same is done with blocks of 2, 4, 8, ... trials that are permuted together, as long as
 * there are SF_LEAST_BLOCKS blocks, and p is the largest. q corrects for all items: by the share of
 * permutations in which the greatest of all their statistics, each over its standard deviation, is as great
 * (single step, Westfall and Young 1993), of blocks of each length, again the largest.
 */
#ifndef SF_ANALYSIS_RESPONSES_H
#define SF_ANALYSIS_RESPONSES_H

#include "core/keys.h"
#include "core/recording.h"

typedef struct sf_response_options {
    const char *marker;          /**< its text, or ttl3 for a rising edge of line 3; or NULL */
    int64_t from_ns, to_ns;      /**< of the response window, after the marker; 0 <= from < to */
    uint64_t baseline;           /**< windows before it; 1 to SF_MOST_BASELINE */
    int64_t before_ns, after_ns; /**< the histogram is from before_ns to after_ns around the marker; both 0:
                                   from the first baseline window to the end of the response window and as
                                   long again as that is */
    int64_t bin_ns;              /**< of the histogram, whose bins begin at multiples of it */
    uint64_t permutations;       /**< 1 and more */
    uint64_t seed;
} sf_response_options;

#define SF_MOST_BASELINE 100
#define SF_MOST_RESPONSE_BINS 100000

/** Their rows, their defaults, and what rows do not say: SF_USAGE of a window that is empty, of a histogram
 * that is, or of one of too many bins. */
extern const sf_key_table sf_response_table;
#define SF_RESPONSE_OPTIONS (*(const sf_response_options *)sf_response_table.defaults)
int sf_response_check(const sf_response_options *options, sf_error *error);

/** Where the histogram begins: a multiple of the bin; and its bins. */
int64_t sf_response_histogram(const sf_response_options *options, size_t *bins);

/** Some of the offsets into the windows of a trial. */
typedef struct sf_trial {
    int64_t time_ns;                /**< of the marker */
    int64_t exposed_ns;             /**< of each of its windows */
    size_t first_part, parts;       /**< of sf_responses.parts: the offsets that are exposed */
    uint64_t spikes, spikes_before; /**< of all items, in the response window and in all those before */
    size_t answers;                 /**< items with a spike in the response window */
} sf_trial;

/** Of a unit or another train. Latencies are of the first spike in a window from the marker on, and of the
 * windows before it as if it stood as long before each as before the response window. */
typedef struct sf_response {
    uint64_t spikes, spikes_before;       /**< in response windows; in all baseline windows */
    uint64_t answers, answers_before;     /**< windows with a spike */
    double latency_ns, latency_before_ns; /**< median; NaN: there is no spike */
    double jitter_ns, jitter_before_ns;   /**< standard deviation; NaN of fewer than two */
    double p, q;                          /**< NaN: its windows all count the same, in every trial */
} sf_response;

typedef struct sf_response_room sf_response_room;

/** Zero-initialise. */
typedef struct sf_responses {
    sf_response_options options; /**< its marker is borrowed */
    size_t markers;              /**< of this name */
    sf_trial *trials;            /**< in order of time; those without exposure are none */
    size_t trial_count, trial_room;
    sf_span *parts;
    size_t part_count, part_room;
    size_t overlapping; /**< trials whose first window begins before the response window of the one before
                           ends */
    int64_t exposed_ns; /**< of all response windows together */
    double interval_s, interval_cv; /**< between trials, mean and coefficient of variation; NaN of too few */
    int64_t first_ns;               /**< where the first bin begins, after the marker */
    size_t bin_count;
    int64_t *bin_exposed_ns; /**< of all trials together */
    size_t item_count;
    sf_response *items;
    uint64_t *histogram;     /**< item_count rows of bin_count */
    uint64_t longest_block;  /**< trials in the longest blocks */
    double least_p;          /**< the least p that there could be with so many trials */
    sf_response_room *rooms; /**< by item, of trials that come one by one; or NULL */
    uint64_t *counts;        /**< likewise, room for those of a trial */
} sf_responses;

/** Ascending times of one item. */
typedef struct sf_event_train {
    const int64_t *times_ns;
    size_t count;
} sf_event_train;

/** Finds trials and exposure. SF_DATA: no marker is called so, which the sentence tells the names of, or none
 * has exposure; SF_NO_MEMORY. sf_responses_free whatever happened. */
int sf_responses_open(sf_responses *responses, const sf_recording *recording,
                      const sf_response_options *options, sf_error *error);

/** Counts the events of these trains, one an item, and tests them. Once. SF_NO_MEMORY. `threads` 0: all. */
int sf_responses_take(sf_responses *responses, const sf_event_train *trains, size_t count, unsigned threads,
                      sf_error *error);

/** The trains of all units of a recording, as the former. */
int sf_responses_take_units(sf_responses *responses, const sf_recording *recording, unsigned threads,
                            sf_error *error);

/**
 * The same of trials that come one by one, in order: of so many trains; each with what was recorded around
 * its marker, ordered and disjoint, and with what of the trains lies around it. Neither intervals nor p nor
 * latencies of baseline windows are known. After sf_responses_describe, whose cost does not grow with the
 * trials, latencies and jitter are of all trials so far. SF_NO_MEMORY.
 */
int sf_responses_begin(sf_responses *responses, const sf_response_options *options, size_t count,
                       sf_error *error);
int sf_responses_add(sf_responses *responses, int64_t marker_ns, const sf_span *recorded, size_t count,
                     const sf_event_train *trains, sf_error *error);
void sf_responses_describe(sf_responses *responses);

void sf_responses_free(sf_responses *responses);

/** The window `window` of a trial, 0 the response, 1 the last before the marker: where its offset 0 is. */
int64_t sf_response_window(const sf_response_options *options, const sf_trial *trial, uint64_t window);

/** Hertz of so many events in this exposure; NaN of none. */
double sf_response_rate(uint64_t events, int64_t exposed_ns);

#endif
