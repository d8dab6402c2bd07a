/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/operation.h"

#include <stddef.h>
#include <string.h>

/* Operations of one class commute with each other, and with nothing else; class 0 commutes with nothing at
 * all. */
typedef struct operation_facts {
    const char *name;
    int commuting_class;
    const char *aggregation;
} operation_facts;

enum { ALONE, READING, ADDING, LEAST, GREATEST };

static const operation_facts facts[SF_PLAN_OPERATIONS] = {
    [SF_PLAN_EXTRACT] = {"extract", READING, NULL},
    [SF_PLAN_COMPARE] = {"compare", READING, NULL},
    [SF_PLAN_ASSIGN] = {"assign", ALONE, NULL},
    [SF_PLAN_ADD] = {"add", ALONE, "union"},
    [SF_PLAN_REMOVE] = {"remove", ALONE, NULL},
    [SF_PLAN_INCREMENT] = {"increment", ADDING, "sum"},
    [SF_PLAN_SUM] = {"sum", ADDING, "sum"},
    [SF_PLAN_MINIMUM] = {"minimum", LEAST, "minimum"},
    [SF_PLAN_MAXIMUM] = {"maximum", GREATEST, "maximum"},
};

const char *sf_plan_operation_name(sf_plan_operation operation)
{
    return facts[operation].name;
}

sf_plan_operation sf_plan_operation_find(const char *name)
{
    int operation = 0;
    while (operation < SF_PLAN_OPERATIONS && strcmp(facts[operation].name, name) != 0)
        operation++;
    return (sf_plan_operation)operation;
}

bool sf_plan_commute(sf_plan_operation first, sf_plan_operation second)
{
    return facts[first].commuting_class != ALONE &&
           facts[first].commuting_class == facts[second].commuting_class;
}

const char *sf_plan_aggregation(sf_plan_operation first, sf_plan_operation second)
{
    const char *one = facts[first].aggregation, *other = facts[second].aggregation;
    return one != NULL && other != NULL && strcmp(one, other) == 0 ? one : NULL;
}
