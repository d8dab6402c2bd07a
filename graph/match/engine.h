/* SPDX-License-Identifier: Apache-2.0 */
/** Matching engines: one struct and one file each, the same counts from all. */
#ifndef SF_GRAPH_MATCH_ENGINE_H
#define SF_GRAPH_MATCH_ENGINE_H

#include "core/backend/job.h"
#include "core/backend/ways.h"
#include "core/progress.h"
#include "graph/match/query.h"
#include "graph/match/result.h"
#include "graph/match/symmetry.h"

#include <stdatomic.h>

/** What one search is to do and where its result goes. */
typedef struct sf_match_job {
    const sf_query *query;
    const sf_symmetry *symmetry; /**< of the pattern, to divide by or to divide the work by; NULL: leave it */
    bool list;                   /**< hand over every embedding instead of counting */
    bool distinct;               /**< list only one of those that differ by a symmetry */
    uint64_t most;               /**< stop once there are more embeddings than this; UINT64_MAX: never */
    double deadline;             /**< sf_clock_seconds at which to stop; 0: never */
    unsigned threads;
    unsigned builders; /**< threads that prepare, also where one lists */
    const sf_progress *progress;
    const char *device; /**< as in sf_match_options */
    unsigned without;   /**< sf_gvsm_feature bits */
    uint32_t slots;     /**< as in sf_match_options, */
    uint64_t threshold; /**< and this */
    size_t keep;        /**< with list: the maximum number of embeddings to return in result->embeddings */
    sf_match_result *result;
} sf_match_job;

/* ---- what every engine counts with: limits, time, cancelling, embeddings handed over ---- */

/** Shared by the threads of a run. */
typedef struct sf_match_watch {
    const sf_match_job *job;
    uint64_t factor;             /**< the number of embeddings that each one found stands for */
    double total;                /**< of `done`, for progress */
    double unit;                 /**< of sums of terms: what an expected step adds to `done` */
    atomic_uint_least64_t found; /**< before the factor */
    atomic_size_t kept, done;
    atomic_bool stop, truncated, cancelled;
    size_t room; /**< of result->embeddings; only one thread lists */
    bool no_room;
} sf_match_watch;

/** Of one thread. */
typedef struct sf_match_tally {
    sf_match_watch *watch;
    bool is_caller; /**< the thread that progress is told from */
    uint64_t count, reported, steps;
} sf_match_tally;

/** Whether the time for the job is over. */
bool sf_match_is_late(const sf_match_job *job);

/** For a device that does a part of the job. */
static inline sf_backend_watch sf_match_who_waits(const sf_match_job *job)
{
    return (sf_backend_watch){job->deadline, job->progress};
}

/** Progress of a sum of terms: this many of the expected steps are done. */
static inline void sf_match_advance(sf_match_watch *watch, double steps)
{
    atomic_fetch_add(&watch->done, (size_t)(steps * watch->unit));
}

/** Counts a step and looks now and then at the clock and at what other threads found: true where to stop. */
bool sf_match_step(sf_match_tally *tally);

/** The same for many steps at once. */
bool sf_match_steps(sf_match_tally *tally, uint64_t steps);

/** Counts embeddings; with `list` it is one, whose data vertices by pattern vertex are handed over. */
void sf_match_found(sf_match_tally *tally, uint64_t count, const uint32_t *vertices);

/** Fills count, truncated, steps, kept and automorphisms of the result. SF_CANCELLED, SF_NO_MEMORY. */
int sf_match_finish(const sf_match_watch *watch, const sf_match_tally *const *tallies, unsigned threads,
                    sf_error *error);

/* ---- engines ---- */

typedef struct sf_match_engine {
    const char *name;
    /** Fills count (of all embeddings where `list` is not set), truncated, order, candidates and steps. */
    int (*run)(const sf_match_job *job, sf_error *error);
} sf_match_engine;

/** Every engine, one per line: its file defines an sf_match_engine and its implementations on the host and on
 * devices. */
#define SF_MATCH_ENGINES(ENGINE)                                                                             \
    ENGINE(auto)                                                                                             \
    ENGINE(gvsm)

#define SF_MATCH_ENGINE_DECLARED(name)                                                                       \
    extern const sf_match_engine sf_match_engine_##name;                                                     \
    extern const sf_way sf_match_##name##_here, sf_match_##name##_there;
SF_MATCH_ENGINES(SF_MATCH_ENGINE_DECLARED)

/** The ways of all engines' searches; NULL-terminated. */
extern const sf_way *const sf_match_ways[];

/** Searches by the engine where `device` says: `job` is what its ways take. */
int sf_match_choose_and_run(const char *engine, const char *device, void *job, sf_ran *ran, sf_error *error);

/** A match may search twice, first to list and then to count: a device that did one of them is told of. */
void sf_match_tell(sf_match_result *result, const sf_ran *ran);

/** UINT64_MAX where a sum or product does not fit. */
static inline uint64_t sf_saturated_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t sf_saturated_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
