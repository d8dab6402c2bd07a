/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/known.h"

#include "core/backend/window.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"

#include <inttypes.h>

/* Spikes that one core sets apart in a second, and spikes of pairs that it holds against each other. */
#define APART_A_SECOND 3e8
#define HELD_A_SECOND 1.5e8

double sf_known_core_seconds(const sf_pair_count *pairs, size_t count, const uint64_t *unit_spikes,
                             size_t spike_count)
{
    double held = 0;
    for (size_t i = 0; i < count; i++)
        held += (double)(unit_spikes[pairs[i].from] + unit_spikes[pairs[i].to]);
    return (double)spike_count / APART_A_SECOND + held / HELD_A_SECOND;
}

/* Levels are in the order of their parents and steps. */
static int compare_nodes(const void *a, const void *b, void *context)
{
    (void)context;
    const sf_node *left = a, *right = b;
    if (left->parent != right->parent) return left->parent < right->parent ? -1 : 1;
    return left->step < right->step ? -1 : left->step > right->step;
}

static int take_pair(sf_tree *tree, const sf_mine_job *job, const sf_pair_count *pair,
                     const uint32_t *numbers, sf_error *error)
{
    uint32_t from = numbers[pair->from], to = numbers[pair->to];
    if (from == SF_LEFT_OUT || to == SF_LEFT_OUT)
        return sf_fail(error, SF_INTERNAL, NULL,
                       "a pair of units #%" PRIu32 " and #%" PRIu32 " counts %" PRIu32
                       ", more than one of them fires",
                       pair->from, pair->to, pair->count);
    if (!sf_pair_allowed(&job->pairs, from, to)) return SF_OK;
    if (tree->levels[1].count >= job->most) return sf_mine_fail_most(job->most, error);
    return sf_level_append(&tree->levels[1], from, pair->delay * tree->unit_count + to, pair->count) == SF_OK
               ? SF_OK
               : sf_fail_memory(error);
}

int sf_tree_take_pairs(sf_tree *tree, const sf_mine_job *job, const sf_pair_count *pairs, size_t count,
                       size_t unit_count, sf_error *error)
{
    sf_level *level = &tree->levels[1];
    uint32_t *numbers = sf_events_numbers(job->events, unit_count);
    int status = numbers != NULL ? SF_OK : sf_fail_memory(error);
    level->count = 0;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        if (pairs[i].count >= job->least) status = take_pair(tree, job, &pairs[i], numbers, error);
    sf_free(numbers);
    if (status != SF_OK) return status;
    sf_platform_sort(level->nodes, level->count, sizeof *level->nodes, compare_nodes, NULL);
    return sf_tree_link(tree, 2, error);
}

int sf_tree_find_silent(const sf_tree *tree, const sf_events *events, bool *silent, size_t unit_count,
                        bool *chains, sf_error *error)
{
    const sf_level *level = &tree->levels[1];
    bool *ends = sf_alloc(tree->unit_count, sizeof *ends);
    *chains = false;
    if (ends == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < level->count; i++)
        ends[level->nodes[i].suffix] = true;
    for (size_t u = 0; u < unit_count; u++)
        silent[u] = true;
    for (size_t i = 0; i < level->count; i++) {
        uint32_t from = level->nodes[i].parent, to = level->nodes[i].suffix;
        sf_node_range next = sf_tree_children(tree, 1, to);
        if (!ends[from] && next.begin == next.end) continue;
        silent[events->unit[from]] = silent[events->unit[to]] = false;
        *chains = true;
    }
    sf_free(ends);
    return SF_OK;
}
