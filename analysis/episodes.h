/* SPDX-License-Identifier: Apache-2.0 */
/** Episodes that were found or counted, and what is told of them: the result behind <synfire/mine.h>. */
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

    size_t given;        /**< that were given, before limits left some out */
    char registered[65]; /**< SHA-256 of the file that they were registered in, or "" */

    /* What was found: NULL and nothing of episodes that were given. */
    sf_mine_result *result;
    sf_mining_options mining;  /* as asked for; pointers in it but `delays` are the caller's */
    const char *threshold_why; /* where none was asked for */
    sf_delay *delays;
    sf_limits limits;
    bool is_tested;
    sf_significance significance;
    size_t worth, returning, passing;
    size_t chains, parts; /* of what was found and is significant, told of or not: sf_episodes_fold */
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

/** A result without episodes yet. The recording is borrowed, the spans are copied. SF_USAGE, SF_NO_MEMORY. */
int sf_episodes_new(sf_episodes **episodes, const sf_recording *recording, const sf_span *spans,
                    size_t span_count, sf_error *error);

/** Makes room for the columns of `count` episodes. SF_NO_MEMORY. */
int sf_episodes_reserve(sf_episodes *episodes, size_t count, sf_error *error);

/** Makes room for what a test says, of given ones too; nothing is known yet. SF_NO_MEMORY. */
int sf_episodes_reserve_verdicts(sf_episodes *episodes, sf_error *error);

/** Fills row i with what a test said of it. */
void sf_episodes_take_verdict(sf_episodes *e, size_t i, const sf_mine_item *item);

/** Moves row `from` to row `to`: what is counted and its verdict. */
void sf_episodes_move(sf_episodes *e, size_t from, size_t to);

/** What a test says of given episodes, as sf_episodes_test; counts stand. */
int sf_episodes_test_given(sf_episodes *episodes, const sf_significance_options *options,
                           const sf_progress *progress, sf_error *error);

/** Releases the columns, back to what sf_episodes_new gave. */
void sf_episodes_clear(sf_episodes *episodes);

/** Refuses a device that there is not, naming the option. SF_USAGE, SF_UNAVAILABLE. */
int sf_check_device(const char *device, sf_error *error);

/** The count expected by rates. */
double sf_episodes_expect(const sf_episodes *episodes, const sf_episode *episode);

/**
 * Fills the columns under details, and the counts of spans, of episodes whose counts and expected counts
 * stand. `counter` counts them. SF_NO_MEMORY, SF_CANCELLED: what is kept then, or was stopped before, tells
 * only what takes no time.
 */
int sf_episodes_detail(sf_episodes *episodes, sf_counter *counter, const sf_progress *progress,
                       sf_error *error);

/**
 * Fills `parents` of what is told of, and counts the chains and parts of chains among all that is
 * significant, by sf_fold. Where nobody asked for details and nothing was tested it does nothing. After the
 * test, before details. SF_NO_MEMORY.
 */
int sf_episodes_fold(sf_episodes *episodes, sf_error *error);

/** counts: a row of the counter's `count` episodes for each span; *counted (or NULL) says of how many of
 * them: not of all after SF_CANCELLED. SF_NO_MEMORY. */
int sf_spans_count(uint64_t **counts, size_t *counted, sf_counter *counter, size_t count,
                   const sf_span *spans, size_t span_count, const char *what, const sf_progress *progress,
                   sf_error *error);

/** Work that ended so is told of: it is done, or was stopped and keeps what it has, which it then remembers.
 */
bool sf_episodes_keep(sf_episodes *episodes, int status, sf_stopped where);

/** Whether item i of a result that was tested by surrogates is worth a closer look: as sf_episodes_columns.
 */
bool sf_worth_showing(const sf_mine_result *result, size_t i, int64_t duration_ns);

/** The 95 % interval of count / expected, the count being one Poisson number: Byar's approximation. */
sf_ratio_interval sf_ratio_interval_of(uint64_t count, double expected);

/** (forth - back) / (forth + back): 1 all one way, 0 both ways alike; NaN where there is neither. */
static inline double sf_asymmetry(uint64_t forth, uint64_t back)
{
    double sum = (double)forth + (double)back;
    return sum > 0 ? ((double)forth - (double)back) / sum : NAN;
}

#endif
