/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a function does to an element of its model, and what is known of every operation: which others it
 * commutes with, and whether changes made apart can be joined. Source: Kholod, Software & Systems 2 (2018),
 * pp. 268-274.
 */
#ifndef SF_PLAN_OPERATION_H
#define SF_PLAN_OPERATION_H

#include <stdbool.h>

typedef enum sf_plan_operation {
    SF_PLAN_EXTRACT,   /**< reads it */
    SF_PLAN_COMPARE,   /**< reads it to compare it with another */
    SF_PLAN_ASSIGN,    /**< gives it a value whatever it was */
    SF_PLAN_ADD,       /**< puts new elements below it */
    SF_PLAN_REMOVE,    /**< takes elements below it away */
    SF_PLAN_INCREMENT, /**< adds a whole number, without looking at the value */
    SF_PLAN_SUM,       /**< adds a number, likewise */
    SF_PLAN_MINIMUM,   /**< keeps the smaller of it and a number, likewise */
    SF_PLAN_MAXIMUM,   /**< keeps the greater, likewise */
    SF_PLAN_OPERATIONS
} sf_plan_operation;

/** "extract", "compare", ...; what a plan's file says. */
const char *sf_plan_operation_name(sf_plan_operation operation);

/** The operation of this name, or SF_PLAN_OPERATIONS. */
sf_plan_operation sf_plan_operation_find(const char *name);

/** Whether two operations on one element give the same in either order. */
bool sf_plan_commute(sf_plan_operation first, sf_plan_operation second);

/** How changes by both, made on copies of one element, are joined ("sum", "union", ...), or NULL. */
const char *sf_plan_aggregation(sf_plan_operation first, sf_plan_operation second);

#endif
