/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A model as an algorithm works on it: trees of elements, each with a number, its parameters and its
 * children, all whole numbers. Several threads may work on one model where the plan allows it (parallels); or
 * each has a copy of what it may touch, and the changes made there are joined (paralleld). A copy knows what
 * was done to it: sums are joined by what was added, lists by what is new.
 */
#ifndef SF_PLAN_MODEL_H
#define SF_PLAN_MODEL_H

#include "plan/algorithm.h"

/** Where an element is: m[tree,at[0],...], or a parameter of it. */
typedef struct sf_plan_place {
    uint32_t tree, depth;
    uint32_t parameter; /**< or SF_PLAN_NONE */
    uint32_t at[SF_PLAN_LEVELS];
} sf_plan_place;

static inline sf_plan_place sf_plan_tree(uint32_t tree)
{
    return (sf_plan_place){.tree = tree, .parameter = SF_PLAN_NONE};
}

/** Child `index` of a place; at most SF_PLAN_LEVELS below a tree. */
static inline sf_plan_place sf_plan_child(sf_plan_place of, uint32_t index)
{
    of.at[of.depth++] = index;
    return of;
}

static inline sf_plan_place sf_plan_parameter(sf_plan_place of, uint32_t parameter)
{
    of.parameter = parameter;
    return of;
}

typedef struct sf_plan_model sf_plan_model;

/** Trees 0 .. trees - 1, empty; every element has `parameters` parameters, and all numbers are 0.
 * SF_NO_MEMORY. */
int sf_plan_model_new(sf_plan_model **model, uint32_t trees, uint32_t parameters, sf_error *error);
void sf_plan_model_free(sf_plan_model *model);

/**
 * A copy of what these accesses name; `values` has one for each variable in `scope`, and any index that is
 * not in scope stands for all. Others may change what is not named meanwhile. SF_NO_MEMORY.
 */
int sf_plan_model_clone(sf_plan_model **copy, const sf_plan_model *of, const sf_plan_accesses *accesses,
                        size_t access_count, const uint32_t *values, const bool *scope, sf_error *error);

/**
 * Does to a model what was done to a copy of it; what the copy added is moved. Joining copies in the order in
 * which their work would have been done gives lists in that order. `shared`: others work on the model.
 * SF_NO_MEMORY.
 */
int sf_plan_model_join(sf_plan_model *onto, sf_plan_model *copy, bool shared, sf_error *error);

/** Whether both hold the same elements with the same numbers in the same order. */
bool sf_plan_model_same(const sf_plan_model *one, const sf_plan_model *other);

/* One element. Where there is none of this place, or the copy does not have it: SF_INTERNAL, naming it. */

int sf_plan_model_read(const sf_plan_model *model, sf_plan_place place, int64_t *value, sf_error *error);

int sf_plan_model_count(const sf_plan_model *model, sf_plan_place place, uint32_t *children, sf_error *error);

/** assign, increment, sum, minimum or maximum by an amount. */
int sf_plan_model_change(sf_plan_model *model, sf_plan_place place, sf_plan_operation operation,
                         int64_t amount, bool shared, sf_error *error);

/** A new last child with this number. SF_NO_MEMORY. */
int sf_plan_model_add(sf_plan_model *model, sf_plan_place place, int64_t value, bool shared, sf_error *error);

/** Takes all children away. */
int sf_plan_model_remove(sf_plan_model *model, sf_plan_place place, bool shared, sf_error *error);

/** The number and the children of one element become those of another, parameters of children among them.
 * SF_NO_MEMORY. */
int sf_plan_model_assign(sf_plan_model *model, sf_plan_place to, sf_plan_place from, bool shared,
                         sf_error *error);

#endif
