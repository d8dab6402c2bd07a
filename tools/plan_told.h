/* SPDX-License-Identifier: Apache-2.0 */
/** The analysis of a plan, as named values: a command prints them as lines, rows or JSON. Errors are as in
 * synfire/synfire.h; one object from one thread at a time. */
#ifndef SF_TOOLS_PLAN_TOLD_H
#define SF_TOOLS_PLAN_TOLD_H

#include "core/arena.h"
#include "core/describe/column.h"
#include "plan/verdict.h"

/** An element of the model and what two functions do to it. */
typedef struct sf_plan_told_operation {
    const char *set, *element, *first, *second;
    bool commute;
    const char *aggregation; /**< or NULL */
} sf_plan_told_operation;

typedef struct sf_plan_told_verdict {
    sf_column_list flow, anti, output, decided_by; /**< names of elements, each once */
    sf_column_list operations;                     /**< sf_plan_told_operation, by set */
    bool shared, distributed, bernstein;
    sf_plan_answer answer;
} sf_plan_told_verdict;

/** Two consecutive functions, or a loop: one round of its body and the next. */
typedef struct sf_plan_told_pair {
    const char *first, *second; /**< for a loop its name and its variable */
    sf_column_list body;        /**< for a loop: names of its steps */
    sf_plan_told_verdict verdict;
} sf_plan_told_pair;

typedef struct sf_plan_told_access {
    const char *element, *operation;
} sf_plan_told_access;

typedef struct sf_plan_told_wait {
    const char *stage;
    sf_column_list elements; /**< names */
} sf_plan_told_wait;

typedef struct sf_plan_told_stage {
    const char *stage;
    sf_column_list in, out; /**< sf_plan_told_access */
    sf_column_list after;   /**< sf_plan_told_wait */
    sf_column_list beside;  /**< names of stages */
    const char *loop;       /**< or NULL */
    bool apart;
} sf_plan_told_stage;

typedef struct sf_plan_told {
    const char *file, *algorithm; /**< the file is borrowed; NULL: the pipeline itself */
    size_t step_count;
    sf_column_list pairs, loops; /**< sf_plan_told_pair */
    const char *form, *clock;    /**< clock: NULL for a file, which has no schedule either */
    sf_column_list schedule;     /**< sf_plan_told_stage */
    sf_arena memory;             /**< holds all of it */
} sf_plan_told;

/** The document: of an sf_plan_told. */
extern const sf_table sf_plan_document;

/**
 * Analyses the algorithm that a YAML file describes: which of its steps may run at the same time, and its
 * parallel form. Call sf_plan_told_free whatever is returned. SF_DATA with the place, SF_NO_INPUT.
 */
int sf_plan_tell_file(sf_plan_told *told, const char *path, sf_error *error);

/** The same for the pipeline's own hop, with the resulting schedule. virtual_clock: for a replay as fast as
 * possible. SF_NO_MEMORY. */
int sf_plan_tell_pipeline(sf_plan_told *told, bool virtual_clock, bool sequential, sf_error *error);

void sf_plan_told_free(sf_plan_told *told);

#endif
