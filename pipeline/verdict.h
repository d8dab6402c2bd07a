/* SPDX-License-Identifier: Apache-2.0 */
/** Test results of an episode, and how those of watched episodes reach the thread that watches. */
#ifndef SF_PIPELINE_VERDICT_H
#define SF_PIPELINE_VERDICT_H

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <synfire/error.h>

typedef struct sf_verdict {
    double p, q;            /**< NaN if not tested yet */
    int64_t tested_ns;      /**< end of the stretch that p belongs to; meaningless without a p */
    uint32_t tests;         /**< number of stretches that q is based on */
    double least_q;         /**< the lowest q that this number of tests can give */
    const char *not_tested; /**< why there is no p, a literal; NULL: there is one */
} sf_verdict;

/** The verdict on what has not been tested yet. */
extern const sf_verdict sf_verdict_untested;

/** not_tested of what was never tested, once the stream is over. */
extern const char sf_verdict_by_the_end[];

/** Stream seconds from the end of the stretch to this time; NaN without p. */
static inline double sf_verdict_age_s(const sf_verdict *verdict, int64_t time_ns)
{
    return isnan(verdict->p) ? NAN : (double)(time_ns - verdict->tested_ns) * 1e-9;
}

/** A verdict that one thread writes and others read; neither waits. */
typedef struct sf_posted {
    atomic_uint version; /**< odd while it is written */
    _Atomic double p, q, least_q;
    _Atomic int64_t tested_ns;
    atomic_uint tests;
    _Atomic(const char *) not_tested;
} sf_posted;

/** Verdicts by watched episode. */
typedef struct sf_board {
    sf_posted *posts;
    size_t count;
} sf_board;

/** SF_NO_MEMORY. */
int sf_board_open(sf_board *board, size_t count, sf_error *error);
void sf_board_close(sf_board *board);

/** Writes a verdict; one thread only. */
void sf_board_post(sf_board *board, size_t index, const sf_verdict *verdict);

/** Reads a verdict. If writing interferes three times in a row, returns that it is not known. Real-time safe.
 */
sf_verdict sf_board_read(const sf_board *board, size_t index);

#endif
