/* SPDX-License-Identifier: Apache-2.0 */
/** What is known of a plan, as values with names: a command prints them as lines, rows or JSON. Errors are as
 * in synfire/synfire.h; one object from one thread at a time. */
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

/** Two functions that follow each other, or a loop: one round of its body and the next. */
typedef struct sf_plan_told_pair {
    const char *first, *second; /**< of a loop its name and its variable */
    sf_column_list body;        /**< of a loop: names of steps */
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
    const char *form, *clock;    /**< the clock is NULL of a file, as the schedule is */
    sf_column_list schedule;     /**< sf_plan_told_stage */
    sf_arena memory;             /**< of all of it */
} sf_plan_told;

/** The document: of an sf_plan_told. */
extern const sf_table sf_plan_document;

/**
 * What is known of the algorithm that a YAML file describes: which of its steps may run at the same time, and
 * its parallel form. Free with sf_plan_told_free whatever happened. SF_DATA with its place, SF_NO_INPUT.
 */
int sf_plan_tell_file(sf_plan_told *told, const char *path, sf_error *error);

/** The same of the pipeline's own hop, and the schedule that follows. virtual_clock: as it is replayed as
 * fast as it goes. SF_NO_MEMORY. */
int sf_plan_tell_pipeline(sf_plan_told *told, bool virtual_clock, bool sequential, sf_error *error);

void sf_plan_told_free(sf_plan_told *told);

#endif
