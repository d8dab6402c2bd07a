/* SPDX-License-Identifier: Apache-2.0 */
/**
 * May f and g, of which f comes first, run at the same time? FD = Out(f) and In(g), AD = In(f) and Out(g),
 * OD = Out(f) and Out(g) are what they have in common. Conditions, in their order: (1) for every element of
 * FD the two operations commute, else no; (2) for every element of AD and OD they commute: yes, on one model;
 * (3) whatever 2 gave, for every element of OD there is an aggregation: yes, each on its own copy, and the
 * changes are joined. Bernstein's condition, which is only sufficient, wants all three empty.
 * Source: Kholod, Software & Systems 2 (2018), pp. 268-274.
 */
#ifndef SF_PLAN_VERDICT_H
#define SF_PLAN_VERDICT_H

#include "plan/algorithm.h"

/** What two steps have in common, and whether that keeps them apart. */
typedef struct sf_plan_dependency {
    sf_plan_element element;
    sf_plan_operation first, second; /**< what f does to it, what g does */
    bool commute;
    const char *aggregation; /**< or NULL */
} sf_plan_dependency;

/** Ordered by element. */
typedef struct sf_plan_dependencies {
    sf_plan_dependency *items;
    size_t count, capacity;
} sf_plan_dependencies;

typedef enum sf_plan_answer {
    SF_PLAN_SEQUENTIAL, /**< one after the other */
    SF_PLAN_PARALLEL_S, /**< parallels: at once on one model */
    SF_PLAN_PARALLEL_D  /**< paralleld: at once on a copy each, and the changes joined */
} sf_plan_answer;

typedef struct sf_plan_verdict {
    sf_plan_dependencies flow, anti, output;
    /** Why there is no better answer, each element once: for none, what keeps them from running at once at
     * all; for paralleld, what keeps them from doing so on one model. */
    sf_plan_dependencies decided;
    bool shared;      /**< conditions 1 and 2 hold */
    bool distributed; /**< conditions 1 and 3 hold */
    bool bernstein;   /**< nothing in common at all */
    sf_plan_answer answer;
} sf_plan_verdict;

/** "none", "parallel_s", "parallel_d". */
const char *sf_plan_answer_name(sf_plan_answer answer);

/** What is allowed where shared and distributed memory are: shared memory needs no copy and no join. */
sf_plan_answer sf_plan_choose(bool shared, bool distributed);

/**
 * Judges f before g by what they read and change; `loop` as in sf_plan_element_meet, for two rounds of one
 * loop. Free with sf_plan_verdict_free whatever happened. SF_NO_MEMORY.
 */
int sf_plan_judge(sf_plan_verdict *verdict, const sf_plan_accesses *first_in,
                  const sf_plan_accesses *first_out, const sf_plan_accesses *second_in,
                  const sf_plan_accesses *second_out, uint32_t loop, sf_error *error);
void sf_plan_verdict_free(sf_plan_verdict *verdict);

#endif
