/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs an algorithm: in the order of its description, or by the parallel form that was derived from what its
 * functions declare. parallels: on one model, whose numbers are added to indivisibly. paralleld: each share
 * of the work on a copy of what it declares; the changes are joined in the order of the description. Both end
 * with the same model where the declarations are true.
 */
#ifndef SF_PLAN_EXECUTOR_H
#define SF_PLAN_EXECUTOR_H

#include "plan/analysis.h"
#include "plan/model.h"

typedef struct sf_plan_program sf_plan_program;

/** A function as it is called, and what it works on. */
typedef struct sf_plan_call {
    const sf_plan_program *program;
    sf_plan_model *model;
    bool shared; /**< others work on this model */
    uint32_t step;
    const uint32_t *values; /**< of every variable: the child or the vector that its loop is at */
    int status;             /**< of its accesses: the first failure stays, and whoever ran it sees it */
    sf_error *error;
} sf_plan_call;

/** What a function is declared to do, beside the code that does it. A table of them is an algorithm. */
typedef struct sf_plan_declared {
    const char *name;
    /** "m[3,k,q',p'] compare; m[3,k,q'].mi compare", or NULL: nothing. */
    const char *in, *out;
    void (*run)(sf_plan_call *call); /**< for sf_plan_execute */
    /* Loops, which have a variable: */
    bool over_data;
    const char *variable, *from, *to; /**< of elements: the children of the element that `from` is one of */
    const char *body;                 /**< "f2 f4": in the order in which they run */
} sf_plan_declared;

/** A table of functions, and how they are put together: names between spaces. */
typedef struct sf_plan_declaration {
    const char *name;
    const sf_plan_declared *functions; /**< the last has no name */
    const char *trees;                 /**< by what elements are called; NULL: m[0], m[1], ... */
    const char *constants;             /**< or NULL: there are none */
    const char *composition;
} sf_plan_declaration;

/** Fills an algorithm. Constants are numbered first, then variables as they appear; parameters as they
 * appear. SF_INTERNAL for a declaration that cannot be read, SF_NO_MEMORY. */
int sf_plan_declare(sf_plan_algorithm *algorithm, const sf_plan_declaration *declared, sf_error *error);

struct sf_plan_program {
    const sf_plan_algorithm *algorithm;
    const sf_plan_declared *functions; /**< by the algorithm's numbers */
    const sf_plan_analysis *analysis;  /**< NULL: one after the other */
    void *context;                     /**< of its functions */
    size_t vectors;                    /**< rounds of a loop over data */
    const uint32_t *constants;         /**< the values of the algorithm's constants */
    unsigned threads;                  /**< 0: all cores */
    uint64_t least_calls; /**< the number of function calls from which on running them in parallel pays; fewer
                             run in order */
    bool copies;          /**< paralleld also where parallels is allowed too */
    /** Told of every access, from any thread; or NULL. */
    void (*seen)(void *recorder, const sf_plan_call *call, sf_plan_place place, sf_plan_operation operation);
    void *recorder;
};

/** How it ran. */
typedef struct sf_plan_ran {
    double seconds, at_once_seconds; /**< of them with several shares to run at once, on one thread too */
    size_t shared, copied;           /**< how often on one model, and on copies */
} sf_plan_ran;

/** `ran` may be NULL. SF_NO_MEMORY, or what a function failed with: the model is then as it was left. */
int sf_plan_execute(const sf_plan_program *program, sf_plan_model *model, sf_plan_ran *ran, sf_error *error);

/* What functions do to the model. After a failure, which the call keeps, they do nothing and give 0. */

/** extract or compare. */
int64_t sf_plan_call_read(sf_plan_call *call, sf_plan_place place, sf_plan_operation operation);
uint32_t sf_plan_call_children(sf_plan_call *call, sf_plan_place place); /**< extract: how many */
void sf_plan_call_change(sf_plan_call *call, sf_plan_place place, sf_plan_operation operation,
                         int64_t amount);
void sf_plan_call_add(sf_plan_call *call, sf_plan_place place, int64_t value);
void sf_plan_call_remove(sf_plan_call *call, sf_plan_place place);
void sf_plan_call_assign(sf_plan_call *call, sf_plan_place to, sf_plan_place from); /**< extract, assign */

#endif
