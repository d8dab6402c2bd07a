/* SPDX-License-Identifier: Apache-2.0 */
/** Matching engines: one struct and one file each, the same counts from all. */
#ifndef SF_GRAPH_MATCH_ENGINE_H
#define SF_GRAPH_MATCH_ENGINE_H

#include "graph/match_query.h"
#include "graph/symmetry.h"

#include <stdatomic.h>

/** What one search is to do and where its result goes. */
typedef struct sf_match_job {
    const sf_query *query;
    const sf_symmetry *symmetry; /**< of the pattern, to divide by or to divide the work by; NULL: leave it */
    bool list;                   /**< hand over every embedding instead of counting */
    bool distinct;               /**< list only one of those that differ by a symmetry */
    uint64_t most;               /**< stop beyond so many embeddings; UINT64_MAX: never */
    double deadline;             /**< sf_clock_seconds at which to stop; 0: never */
    unsigned threads;
    const sf_progress *progress;
    size_t keep; /**< with list: room for so many in result->embeddings */
    sf_match_result *result;
} sf_match_job;

typedef struct sf_match_engine {
    const char *name;
    const char *summary; /**< for help: a few words */
    /** Fills count (of all embeddings where `list` is not set), truncated, order, candidates and steps. */
    int (*run)(const sf_match_job *job, sf_error *error);
} sf_match_engine;

extern const sf_match_engine sf_match_engine_auto;

/** Every engine; NULL-terminated. */
extern const sf_match_engine *const sf_match_engines[];

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
