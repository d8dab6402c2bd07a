/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/tree.h"

#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>

void sf_tree_free(sf_tree *tree)
{
    for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE; i++)
        sf_free(tree->levels[i].nodes);
    *tree = (sf_tree){0};
}

int sf_level_append(sf_level *level, uint32_t parent, uint32_t step, uint32_t count)
{
    void *nodes = level->nodes;
    if (level->count == UINT32_MAX ||
        sf_reserve(&nodes, &level->capacity, level->count + 1, sizeof *level->nodes) != 0)
        return SF_NO_MEMORY;
    level->nodes = nodes;
    level->nodes[level->count++] = (sf_node){.parent = parent, .step = step, .count = count};
    return SF_OK;
}

sf_node_range sf_tree_children(const sf_tree *tree, uint32_t size, size_t node)
{
    const sf_level *level = &tree->levels[size - 1];
    size_t end = node + 1 < level->count ? level->nodes[node + 1].first_child : tree->levels[size].count;
    return (sf_node_range){level->nodes[node].first_child, end};
}

void sf_tree_steps(const sf_tree *tree, uint32_t size, size_t node, uint32_t *steps)
{
    while (size > 0) {
        const sf_node *at = &tree->levels[--size].nodes[node];
        steps[size] = at->step;
        node = at->parent;
    }
}

/* The child of a node by its step, by bisection, or SIZE_MAX. */
static size_t find_child(const sf_tree *tree, uint32_t size, size_t node, uint32_t step)
{
    if (node == SF_NO_NODE) return SIZE_MAX;
    sf_node_range range = sf_tree_children(tree, size, node);
    const sf_node *children = tree->levels[size].nodes;
    size_t end = range.end;
    while (range.begin < range.end) {
        size_t middle = range.begin + (range.end - range.begin) / 2;
        if (children[middle].step < step)
            range.begin = middle + 1;
        else
            range.end = middle;
    }
    return range.begin < end && children[range.begin].step == step ? range.begin : SIZE_MAX;
}

int sf_tree_link(sf_tree *tree, uint32_t size, sf_error *error)
{
    sf_level *level = &tree->levels[size - 1];
    sf_level *before = &tree->levels[size - 2];
    size_t child = 0;
    for (size_t i = 0; i < before->count; i++) {
        before->nodes[i].first_child = (uint32_t)child;
        while (child < level->count && level->nodes[child].parent == i)
            child++;
    }
    for (size_t i = 0; i < level->count; i++) {
        sf_node *node = &level->nodes[i];
        size_t suffix = size == 2
                            ? node->step % tree->unit_count
                            : find_child(tree, size - 2, before->nodes[node->parent].suffix, node->step);
        if ((suffix == SIZE_MAX && !tree->cut) || child != level->count)
            return sf_fail(error, SF_INTERNAL, NULL,
                           "the frequent episodes of size %" PRIu32 " do not fit those of size %" PRIu32,
                           size, size - 1);
        node->suffix = suffix != SIZE_MAX ? (uint32_t)suffix : SF_NO_NODE;
    }
    if (!tree->cut) tree->complete = size;
    return SF_OK;
}

bool sf_tree_returns(const sf_tree *tree, uint32_t size, size_t prefix, uint32_t step)
{
    uint32_t steps[SF_EPISODE_MAX_SIZE];
    sf_tree_steps(tree, size - 1, prefix, steps);
    steps[size - 1] = step;
    for (uint32_t a = 1; a < size; a++)
        for (uint32_t b = 0; b < a; b++)
            if (steps[a] % tree->unit_count == steps[b] % tree->unit_count) return true;
    return false;
}

bool sf_pair_allowed(const sf_pair_rule *rule, uint32_t from, uint32_t to)
{
    if (from == to) return rule->self;
    if (rule->min_distance_um <= 0) return true;
    double distance = hypot(rule->x_um[from] - rule->x_um[to], rule->y_um[from] - rule->y_um[to]);
    return !(distance < rule->min_distance_um); /* true where a position is unknown */
}

/* What may follow the prefix at hand: for pairs every step there is, else the children of its suffix. */
static sf_node_range followers(const sf_join *join)
{
    if (join->parent >= join->tree->levels[join->size - 2].count) return (sf_node_range){0, 0};
    if (join->size == 2) return (sf_node_range){0, (size_t)join->tree->delay_count * join->tree->unit_count};
    const sf_node *prefix = &join->tree->levels[join->size - 2].nodes[join->parent];
    return sf_tree_children(join->tree, join->size - 2, prefix->suffix);
}

sf_join sf_join_start(const sf_tree *tree, const sf_pair_rule *rule, uint32_t size)
{
    sf_join join = {.tree = tree, .rule = rule, .size = size};
    join.last = followers(&join);
    return join;
}

bool sf_join_next(sf_join *join, uint32_t *parent, uint32_t *step)
{
    const sf_level *before = &join->tree->levels[join->size - 2];
    while (join->parent < before->count) {
        if (join->last.begin == join->last.end) {
            join->parent++;
            join->last = followers(join);
            continue;
        }
        size_t last = join->last.begin++;
        *parent = (uint32_t)join->parent;
        *step = join->size == 2 ? (uint32_t)last : before->nodes[last].step;
        if (join->size > 2 || sf_pair_allowed(join->rule, *parent, *step % join->tree->unit_count))
            return true;
    }
    return false;
}

uint64_t sf_join_count(const sf_tree *tree, const sf_pair_rule *rule, uint32_t size)
{
    const sf_level *before = &tree->levels[size - 2];
    uint64_t count = 0;
    if (size > 2) {
        for (size_t i = 0; i < before->count; i++) {
            sf_node_range range = sf_tree_children(tree, size - 2, before->nodes[i].suffix);
            count += range.end - range.begin;
        }
        return count;
    }
    uint64_t units = tree->unit_count;
    if (rule->min_distance_um <= 0)
        return (rule->self ? units * units : units * (units - (units > 0))) * tree->delay_count;
    for (uint32_t from = 0; from < units; from++)
        for (uint32_t to = 0; to < units; to++)
            count += sf_pair_allowed(rule, from, to);
    return count * tree->delay_count;
}
