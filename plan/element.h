/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Elements of a model, an array of trees: m[3,k,q] is child q of child k of tree 3, m[2].n the parameter n of
 * element m[2]. A tree that has a name is written by it: counts, counts[k]. An index is a number, or a
 * variable of which one does not know the value yet. A name without a parameter means the element and every
 * element below it; a parameter is an element of its own, which no name without it covers.
 */
#ifndef SF_PLAN_ELEMENT_H
#define SF_PLAN_ELEMENT_H

#include "core/text.h"

#define SF_PLAN_LEVELS 8
#define SF_PLAN_NONE UINT32_MAX

typedef enum sf_plan_index_kind {
    SF_PLAN_NUMBER,
    SF_PLAN_VARIABLE,
    SF_PLAN_ANY /**< every child: what a loop over them leaves behind */
} sf_plan_index_kind;

typedef struct sf_plan_index {
    sf_plan_index_kind kind;
    uint32_t number; /**< the number, or that of the variable */
    bool primed;     /**< written q': the same variable, marked by the reader's choice */
} sf_plan_index;

typedef struct sf_plan_element {
    uint32_t tree;
    uint32_t depth; /**< indices after the tree's */
    sf_plan_index at[SF_PLAN_LEVELS];
    uint32_t parameter; /**< the number of its name, or SF_PLAN_NONE */
} sf_plan_element;

/** Names by their numbers; what an element is written with. */
typedef struct sf_plan_names {
    char **items;
    size_t count, capacity;
} sf_plan_names;

/** The number of a name, which is added when it is new, or SF_PLAN_NONE when memory is out. */
uint32_t sf_plan_name(sf_plan_names *names, const char *text, size_t length);
void sf_plan_names_free(sf_plan_names *names);

/** What sf_plan_element_read returns when memory is out. */
extern const char sf_plan_no_memory[];

/**
 * Reads "m[3,k,q'].mi", or "counts[k]" where `trees` has that name. Returns NULL and fills *element, or a
 * static sentence that says what was expected; *at is then where in the text. Variables and parameters become
 * names.
 */
const char *sf_plan_element_read(sf_plan_element *element, const char *text, const sf_plan_names *trees,
                                 sf_plan_names *variables, sf_plan_names *parameters, size_t *at);

/** Appends it as it is read. */
void sf_plan_element_write(sf_text *text, const sf_plan_element *element, const sf_plan_names *trees,
                           const sf_plan_names *variables, const sf_plan_names *parameters);

bool sf_plan_element_same(const sf_plan_element *one, const sf_plan_element *other);

/** Whether all that `part` names is named by `whole` too. */
bool sf_plan_element_covers(const sf_plan_element *whole, const sf_plan_element *part);

/**
 * What both may touch, where they may touch the same: true, and *common is the narrower of the two. `loop` is
 * a variable that has another value in `other` than in `one`, or SF_PLAN_NONE: other variables of one name
 * have one value, of two names perhaps the same.
 */
bool sf_plan_element_meet(sf_plan_element *common, const sf_plan_element *one, const sf_plan_element *other,
                          uint32_t loop);

#endif
