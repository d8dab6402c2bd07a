/* SPDX-License-Identifier: Apache-2.0 */
/** Episodes that were found or counted, with all their columns: the result behind <synfire/mine.h>. */
#ifndef SF_ANALYSIS_EPISODES_H
#define SF_ANALYSIS_EPISODES_H

#include "analysis/limits.h"
#include "analysis/windows.h"
#include "mine/bursts.h"
#include "mine/correlogram.h"
#include "mine/significance.h"

#include <math.h>

typedef struct sf_ratio_interval {
    double low, high; /**< NaN where nothing is expected */
} sf_ratio_interval;

struct sf_episodes {
    const sf_recording *recording;
    uint64_t *unit_spikes; /**< how many each unit has */
    int64_t tick_ns;
    sf_bursts bursts;
    sf_span *spans; /**< of the options, copied */
    size_t span_count;
    bool wants_details, keeps_stopped;
    sf_stopped stopped;

    size_t given;        /**< number of given episodes, before limits left some out */
    char registered[65]; /**< SHA-256 of the file in which they were registered, or "" */

    /* Of mining; NULL or zero if the episodes were given. */
    sf_mine_result *result;
    sf_mining_options mining;  /* as requested; the caller owns its pointers, except `delays` */
    const char *threshold_why; /* where none was asked for */
    sf_delay *delays;
    sf_limits limits;
    bool is_tested;
    sf_significance significance;
    size_t worth, returning, passing;
    size_t chains, parts; /* among all significant ones, also those not selected: sf_episodes_fold */
    size_t *items;        /**< which of the result is told of */

    /* Columns, as sf_episodes_columns has them. */
    size_t count;
    sf_episode *episodes;
    uint64_t *counts;
    uint64_t *needed;
    double *expected, *ratio_low, *ratio_high, *strength, *p, *q, *p_last, *p_first, *p_links,
        *expected_given_rest;
    sf_not_tested *not_tested;
    bool *worth_showing;
    sf_details *details;
    uint64_t *reverse;
    double *asymmetry;
    uint16_t *one_electrode;
    size_t *parents;
    uint64_t *stretches;
    uint64_t *span_counts;
    sf_windows windows;
    uint64_t *window_counts;
    sf_correlogram *correlograms;
    size_t correlogram_count;
    sf_ran ran;
};

/** Creates a result without episodes. Borrows the recording and copies the spans. SF_USAGE, SF_NO_MEMORY. */
int sf_episodes_new(sf_episodes **episodes, const sf_recording *recording, const sf_span *spans,
                    size_t span_count, sf_error *error);

/** Allocates the columns for `count` episodes. SF_NO_MEMORY. */
int sf_episodes_reserve(sf_episodes *episodes, size_t count, sf_error *error);

/** Allocates the columns of test results, initialised to "not known". SF_NO_MEMORY. */
int sf_episodes_reserve_verdicts(sf_episodes *episodes, sf_error *error);

/** Copies the test results of `item` to row i. */
void sf_episodes_take_verdict(sf_episodes *e, size_t i, const sf_mine_item *item);

/** Moves row `from` to row `to`: its counts and test results. */
void sf_episodes_move(sf_episodes *e, size_t from, size_t to);

/** Implements sf_episodes_test for given episodes, which already have their counts. */
int sf_episodes_test_given(sf_episodes *episodes, const sf_significance_options *options,
                           const sf_progress *progress, sf_error *error);

/** Frees the columns; the state is again that after sf_episodes_new. */
void sf_episodes_clear(sf_episodes *episodes);

/** Fails if the named device does not exist or cannot be used; the error names the option. SF_USAGE,
 * SF_UNAVAILABLE. */
int sf_check_device(const char *device, sf_error *error);

/** The count expected by rates. */
double sf_episodes_expect(const sf_episodes *episodes, const sf_episode *episode);

/**
 * Fills the detail columns and the counts per span, using `counter`; counts and expected counts must already
 * be set. SF_NO_MEMORY, SF_CANCELLED. After a cancellation, or if the work before was stopped, only columns
 * that are cheap to compute are filled.
 */
int sf_episodes_detail(sf_episodes *episodes, sf_counter *counter, const sf_progress *progress,
                       sf_error *error);

/**
 * Sets `parents` of the selected episodes, and counts chains and parts of chains among all significant
 * episodes with sf_fold. Does nothing if neither details nor a test were requested. Call after the test and
 * before the details. SF_NO_MEMORY.
 */
int sf_episodes_fold(sf_episodes *episodes, sf_error *error);

/** Counts the counter's `count` episodes in each span; *counts is a new array with one row per span. *counted
 * (or NULL) is the number of episodes that were counted, fewer than `count` after SF_CANCELLED. SF_NO_MEMORY.
 */
int sf_spans_count(uint64_t **counts, size_t *counted, sf_counter *counter, size_t count,
                   const sf_span *spans, size_t span_count, const char *what, const sf_progress *progress,
                   sf_error *error);

/** Whether the result is usable after work that ended with `status`: it succeeded, or it was cancelled and
 * the options keep partial results; then records `where` unless an earlier step was stopped. */
bool sf_episodes_keep(sf_episodes *episodes, int status, sf_stopped where);

/** Whether item i of a surrogate-tested result is worth a closer look, as defined in sf_episodes_columns. */
bool sf_worth_showing(const sf_mine_result *result, size_t i, int64_t duration_ns);

/** 95 % interval of count / expected for a Poisson count, by Byar's approximation. */
sf_ratio_interval sf_ratio_interval_of(uint64_t count, double expected);

/** (forth - back) / (forth + back): 1 if only forth, 0 if both are equal; NaN if both are 0. */
static inline double sf_asymmetry(uint64_t forth, uint64_t back)
{
    double sum = (double)forth + (double)back;
    return sum > 0 ? ((double)forth - (double)back) / sum : NAN;
}

#endif
