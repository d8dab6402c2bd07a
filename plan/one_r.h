/* SPDX-License-Identifier: Apache-2.0 */
/**
 * 1R: the one attribute whose values predict the class best (Holte, Machine Learning 11 (1993), 63-90), as
 * the algorithm that Kholod (Software & Systems 2 (2018), 268-274) works out: each value predicts the class
 * that is most frequent with it, and the attribute with the fewest errors is kept. Its functions stand beside
 * what they are declared to read and change, and it runs by the parallel form derived from that.
 */
#ifndef SF_PLAN_ONE_R_H
#define SF_PLAN_ONE_R_H

#include "plan/executor.h"

/** Vectors with one value of each attribute, and a class. Borrowed. */
typedef struct sf_one_r_data {
    size_t vectors;
    uint32_t attributes, classes;  /**< classes below 65,536 */
    const uint32_t *value_counts;  /**< of each attribute, at most 65,535 */
    const uint16_t *const *values; /**< of each attribute, one a vector, below its count */
    const uint16_t *labels;        /**< one a vector, below `classes` */
} sf_one_r_data;

/** The rule. Of several equally frequent classes the first is predicted; of several equally good attributes
 * the first is kept. */
typedef struct sf_one_r_rule {
    uint32_t attribute; /**< SF_PLAN_NONE: of no vectors */
    uint64_t correct;   /**< vectors that it gets right */
    uint32_t value_count;
    uint16_t *predicted; /**< the class of each value; SF_ONE_R_NO_CLASS of one that no vector has */
} sf_one_r_rule;

#define SF_ONE_R_NO_CLASS UINT16_MAX

typedef struct sf_one_r_how {
    bool sequential;      /**< not by its parallel form */
    unsigned threads;     /**< as in sf_plan_program, as the next two */
    uint64_t least_calls; /**< 0: the form is kept to whatever it costs */
    bool copies;
} sf_one_r_how;

/** So many calls make up for waking threads. */
#define SF_ONE_R_LEAST_CALLS 20000

/** What 1R is: its functions by the algorithm's numbers, and the plan derived from them. */
typedef struct sf_one_r_plan {
    sf_plan_algorithm algorithm;
    sf_plan_analysis analysis;
    const sf_plan_declared *functions;
} sf_one_r_plan;

/** SF_NO_MEMORY. Any number of threads may train by one plan. */
int sf_one_r_plan_make(sf_one_r_plan *plan, sf_error *error);
void sf_one_r_plan_free(sf_one_r_plan *plan);

/** Makes the model of some data; sf_plan_model_free. `ran` may be NULL. SF_NO_MEMORY. */
int sf_one_r_train(sf_plan_model **model, const sf_one_r_plan *plan, const sf_one_r_data *data,
                   const sf_one_r_how *how, sf_plan_ran *ran, sf_error *error);

/** What a model has learnt. sf_free takes `predicted`. SF_NO_MEMORY. */
int sf_one_r_read(sf_one_r_rule *rule, const sf_plan_model *model, const sf_one_r_data *data,
                  sf_error *error);

#endif
