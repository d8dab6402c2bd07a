/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Frequent episodes, size by size, as a tree: a node is an episode, its parent the episode without the last
 * unit. Levels are in lexicographic order of their steps, so the children of a node lie side by side in the
 * next level, in ascending order of step, and the children of parents in the order of the parents.
 *
 * A node takes 20 bytes whatever its size, so millions of episodes fit.
 */
#ifndef SF_MINE_TREE_H
#define SF_MINE_TREE_H

#include <synfire/mine.h>

typedef struct sf_node {
    uint32_t parent;      /**< in the level before; 0 for size 1 */
    uint32_t step;        /**< last link and last unit: delay index * unit_count + unit; size 1: the unit */
    uint32_t suffix;      /**< in the level before: the episode without its first unit; 0 for size 1;
                               SF_NO_NODE where a tree is cut and does not hold it */
    uint32_t first_child; /**< in the level after; its children end where those of the next node begin */
    uint32_t count;       /**< non-overlapped occurrences */
} sf_node;

typedef struct sf_level {
    sf_node *nodes;
    size_t count, capacity;
} sf_level;

/** Units are those of the sf_events mined, which all are frequent: node u of size 1 is unit u. */
typedef struct sf_tree {
    uint32_t unit_count;
    uint32_t delay_count;
    sf_level levels[SF_EPISODE_MAX_SIZE]; /**< levels[size - 1] */
    uint32_t complete;                    /**< sizes up to this one are linked, and so complete */
    bool cut; /**< the search was stopped: beyond `complete` are those found, some without their suffix */
} sf_tree;

#define SF_NO_NODE UINT32_MAX

void sf_tree_free(sf_tree *tree); /**< a zeroed tree is allowed */

/** Appends a node to the level of this size; suffix and first_child are left to sf_tree_link. SF_NO_MEMORY.
 */
int sf_level_append(sf_level *level, uint32_t parent, uint32_t step, uint32_t count);

/**
 * Once the level of this size is complete, or its search cut: sets its suffixes and its parents' children.
 * Every part of a frequent episode is frequent, so the suffix is there; SF_INTERNAL where an engine lost it.
 */
int sf_tree_link(sf_tree *tree, uint32_t size, sf_error *error);

typedef struct sf_node_range {
    size_t begin, end;
} sf_node_range;

/** Where the children of a node of this size lie in the level after. */
sf_node_range sf_tree_children(const sf_tree *tree, uint32_t size, size_t node);

/** The steps of a node of this size, first to last. */
void sf_tree_steps(const sf_tree *tree, uint32_t size, size_t node, uint32_t *steps);

/** Whether a unit occurs twice in the episode that extends a prefix (size - 1 units) by this step. */
bool sf_tree_returns(const sf_tree *tree, uint32_t size, size_t prefix, uint32_t step);

/** Which ordered pairs of units may follow each other at all. */
typedef struct sf_pair_rule {
    bool self;                 /**< a unit may follow itself directly */
    double min_distance_um;    /**< different units closer than this may not; 0: any distance */
    const double *x_um, *y_um; /**< by unit of the tree, NaN where unknown; used where min_distance_um > 0 */
} sf_pair_rule;

bool sf_pair_allowed(const sf_pair_rule *rule, uint32_t from, uint32_t to);

/**
 * The join that makes the candidates of a size from the level before: a frequent prefix and a frequent suffix
 * that overlap in all but one unit each. It is complete, and yields them in the order of the level to be.
 * Size 2 pairs all units, by the rule.
 */
typedef struct sf_join {
    const sf_tree *tree;
    const sf_pair_rule *rule;
    uint32_t size;
    size_t parent;      /**< the prefix at hand */
    sf_node_range last; /**< what may follow it and was not yielded yet */
} sf_join;

/** size >= 2; all levels before it are linked. */
sf_join sf_join_start(const sf_tree *tree, const sf_pair_rule *rule, uint32_t size);

/** The next candidate: its prefix in the level before and its last step. False at the end. */
bool sf_join_next(sf_join *join, uint32_t *parent, uint32_t *step);

/** How many candidates the join of this size yields. */
uint64_t sf_join_count(const sf_tree *tree, const sf_pair_rule *rule, uint32_t size);

#endif
