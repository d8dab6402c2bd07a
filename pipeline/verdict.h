/* SPDX-License-Identifier: Apache-2.0 */
/** What tests say of an episode, and how those of watched episodes get to the thread that watches. */
#ifndef SF_PIPELINE_VERDICT_H
#define SF_PIPELINE_VERDICT_H

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <synfire/error.h>

typedef struct sf_verdict {
    double p, q;            /**< NaN where there is none yet */
    int64_t tested_ns;      /**< end of the stretch that p is of; without a p it means nothing */
    uint32_t tests;         /**< stretches that q is of */
    double least_q;         /**< that so many tests can give */
    const char *not_tested; /**< why there is no p, a literal; NULL: there is one */
} sf_verdict;

/** Of what has not been tested yet. */
extern const sf_verdict sf_verdict_untested;

/** Why it never was, once the stream is over. */
extern const char sf_verdict_by_the_end[];

/** Stream seconds from the end of the stretch to this time; NaN where there is no p. */
static inline double sf_verdict_age_s(const sf_verdict *verdict, int64_t time_ns)
{
    return isnan(verdict->p) ? NAN : (double)(time_ns - verdict->tested_ns) * 1e-9;
}

/** A verdict that one thread writes and another reads; neither waits. */
typedef struct sf_posted {
    atomic_uint version; /**< odd while it is written */
    _Atomic double p, q, least_q;
    _Atomic int64_t tested_ns;
    atomic_uint tests;
    _Atomic(const char *) not_tested;
} sf_posted;

/** By watched episode. */
typedef struct sf_board {
    sf_posted *posts;
    size_t count;
} sf_board;

/** SF_NO_MEMORY. */
int sf_board_open(sf_board *board, size_t count, sf_error *error);
void sf_board_close(sf_board *board);

/** The one writer. */
void sf_board_post(sf_board *board, size_t index, const sf_verdict *verdict);

/** Real-time safe. What was read while it was written, three times in a row, is taken as not known. */
sf_verdict sf_board_read(const sf_board *board, size_t index);

#endif
