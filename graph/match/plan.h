/* SPDX-License-Identifier: Apache-2.0 */
/** In which order a search goes through the vertices of a query, and what it checks at each. */
#ifndef SF_GRAPH_MATCH_PLAN_H
#define SF_GRAPH_MATCH_PLAN_H

#include "graph/match/space.h"
#include "graph/match/symmetry.h"

typedef struct sf_order_step {
    uint32_t vertex;
    uint64_t joined;  /**< earlier vertices that an edge must join it with: its candidates are intersected */
    uint64_t checked; /**< earlier vertices of which something else is said: checked one by one */
    uint64_t greater; /**< earlier vertices whose data vertex must have a smaller id */
    uint64_t decided; /**< vertices that become decided with this one: all they are joined with is matched */
} sf_order_step;

/**
 * The last vertices of the order have no later neighbours and nothing is said of any two of them: once the
 * first `core` vertices are matched, their candidates are known, and embeddings are counted by products.
 */
typedef struct sf_plan {
    uint32_t count, core;
    sf_order_step steps[SF_PATTERN_MOST];
    uint64_t factor; /**< the number of embeddings that each one found stands for */
    /** of the vertices after the core: those that can share a data vertex */
    uint64_t groups[SF_PATTERN_MOST];
    uint32_t group_count;
    double work; /**< estimated data vertices tried */
} sf_plan;

/** Counting a group takes 3^vertices steps: more are matched one by one. */
enum { SF_PLAN_GROUP = 8 };

/**
 * Orders greedily by the estimated number of candidates left. The end of the order is counted by products, in
 * groups of at most `most_in_group` vertices; 0: nothing is. Symmetries are broken where `symmetry` is given:
 * all of them where there are no products, else those that begin in the core. symmetry NULL: none.
 */
void sf_plan_make(sf_plan *plan, const sf_space *space, const sf_symmetry *symmetry, int most_in_group);

/** The same, beginning with this vertex. */
void sf_plan_make_from(sf_plan *plan, const sf_space *space, const sf_symmetry *symmetry, int most_in_group,
                       uint32_t first);

/** The step of a vertex that is after the core. */
static inline const sf_order_step *sf_plan_step(const sf_plan *plan, uint32_t vertex)
{
    uint32_t i = plan->core;
    while (plan->steps[i].vertex != vertex)
        i++;
    return &plan->steps[i];
}

#endif
