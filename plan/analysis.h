/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which steps of an algorithm may run at once. Two passes over the composition: task parallelism holds each
 * step against the next of its level, data parallelism holds each loop's body against itself one round later.
 * Neighbours that may all run at once with each other become one group: of three or more, every pair is
 * judged.
 */
#ifndef SF_PLAN_ANALYSIS_H
#define SF_PLAN_ANALYSIS_H

#include "plan/verdict.h"

typedef struct sf_plan_pair {
    uint32_t first, second; /**< steps */
    sf_plan_verdict verdict;
} sf_plan_pair;

/** Steps of one level that follow each other and run at once, or a single one. */
typedef struct sf_plan_group {
    size_t begin, count;      /**< within the level */
    bool shared, distributed; /**< every pair may run on one model, or on copies */
    sf_plan_answer answer;
} sf_plan_group;

/** A level: the composition itself (loop is SF_PLAN_NONE), or the body of a loop. */
typedef struct sf_plan_level {
    uint32_t loop;
    sf_plan_verdict verdict; /**< loops: of one round and the next */
    sf_plan_group *groups;   /**< all steps of the level, in order */
    size_t group_count;
} sf_plan_level;

/** Levels come before the levels inside them; pairs are in the order in which they were judged. */
typedef struct sf_plan_analysis {
    sf_plan_pair *pairs;
    size_t pair_count, pair_capacity;
    sf_plan_level *levels;
    size_t level_count, level_capacity;
} sf_plan_analysis;

/** The composition has no cycle. Free with sf_plan_analysis_free whatever happened. SF_NO_MEMORY. */
int sf_plan_analyse(sf_plan_analysis *analysis, const sf_plan_algorithm *algorithm, sf_error *error);
void sf_plan_analysis_free(sf_plan_analysis *analysis);

/** The level of a loop, or of the composition (SF_PLAN_NONE). */
const sf_plan_level *sf_plan_level_of(const sf_plan_analysis *analysis, uint32_t loop);

/** The steps of a level, in the order in which they run. */
const uint32_t *sf_plan_level_steps(const sf_plan_algorithm *algorithm, uint32_t loop, size_t *count);

/**
 * Appends the parallel form in the notation of the source: "1RPar = (loope [0,1] [0,p] ...) ∘ f0". The step
 * that runs first stands last.
 */
void sf_plan_write_form(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_analysis *analysis);

#endif
