/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An algorithm as a composition of functions over a model: which elements every function reads (In) and
 * changes (Out), and by which operation. A loop is a function too, which calls others for one element of the
 * model, or one vector of the data, after the other. Source: Kholod, Software & Systems 2 (2018),
 * pp. 268-274.
 */
#ifndef SF_PLAN_ALGORITHM_H
#define SF_PLAN_ALGORITHM_H

#include "plan/element.h"
#include "plan/operation.h"

#include <synfire/error.h>

typedef struct sf_plan_access {
    sf_plan_element element;
    sf_plan_operation operation;
} sf_plan_access;

typedef struct sf_plan_accesses {
    sf_plan_access *items;
    size_t count, capacity;
} sf_plan_accesses;

/** Adds an access, unless one by the same operation covers it; those that it covers go. SF_NO_MEMORY. */
int sf_plan_accesses_add(sf_plan_accesses *accesses, const sf_plan_access *access, sf_error *error);
void sf_plan_accesses_free(sf_plan_accesses *accesses);

typedef enum sf_plan_step_kind {
    SF_PLAN_FUNCTION,
    SF_PLAN_LOOP_ELEMENTS, /**< loope: for the elements `from` to `to` of the model */
    SF_PLAN_LOOP_DATA      /**< loopd: for the vectors `from` to `to` of the data */
} sf_plan_step_kind;

/** A function: given, or a loop over others. */
typedef struct sf_plan_step {
    char *name;
    sf_plan_step_kind kind;
    sf_plan_accesses in, out; /**< declared; for a loop over elements: that it reads them */
    uint32_t variable;        /**< loops: which one */
    char *from, *to;          /**< loops: first and last, as written: "[0,1]" */
    uint32_t first;           /**< loops over elements: of which child on, where `from` says a number */
    uint32_t *body;           /**< loops: numbers of steps, in the order in which they run */
    size_t body_count;
} sf_plan_step;

/** Zero-initialise; the owner fills it, sf_plan_algorithm_free takes all of it back. */
typedef struct sf_plan_algorithm {
    char *name;
    sf_plan_names trees; /**< names of the first ones; none: they are m[0], m[1], ... */
    sf_plan_names variables, parameters;
    size_t constant_count; /**< the number of leading variables whose value never changes */
    sf_plan_step *steps;
    size_t step_count, step_capacity;
    uint32_t *composition; /**< numbers of steps, in the order in which they run */
    size_t composition_count;
} sf_plan_algorithm;

void sf_plan_algorithm_free(sf_plan_algorithm *algorithm);

/**
 * Which variables have one value where a step stands: those of the loops around it, and constants. As long as
 * there are variables.
 */
typedef bool *sf_plan_scope;

/**
 * What a step reads and changes, as those see it who stand beside it: a loop has the accesses of its body,
 * with every index that is not in scope standing for all. Appends to in and out. SF_NO_MEMORY.
 */
int sf_plan_effects(sf_plan_accesses *in, sf_plan_accesses *out, const sf_plan_algorithm *algorithm,
                    uint32_t step, sf_plan_scope scope, sf_error *error);

/** The same of the body of a loop at one value of its variable. */
int sf_plan_body_effects(sf_plan_accesses *in, sf_plan_accesses *out, const sf_plan_algorithm *algorithm,
                         uint32_t loop, sf_plan_scope scope, sf_error *error);

#endif
