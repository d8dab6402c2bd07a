/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/best_delay.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/standing.h"
#include "mine/found.h"

/* ---- questions ---- */

bool sf_delays_overlap(const sf_delay *delays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (delays[i].low_ns < delays[k].high_ns && delays[k].low_ns < delays[i].high_ns) return true;
    return false;
}

static int compare_bounds(const void *a, const void *b, void *context)
{
    const sf_delay *delays = context, *left = &delays[*(const uint32_t *)a],
                   *right = &delays[*(const uint32_t *)b];
    if (left->low_ns != right->low_ns) return left->low_ns < right->low_ns ? -1 : 1;
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

/* From `begin` on in ascending order: those that overlap one another or one between them. */
static size_t end_of_group(const sf_delay *delays, const uint32_t *order, size_t begin, size_t count)
{
    int64_t reach_ns = delays[order[begin]].high_ns;
    size_t end = begin + 1;
    for (; end < count && delays[order[end]].low_ns < reach_ns; end++)
        if (delays[order[end]].high_ns > reach_ns) reach_ns = delays[order[end]].high_ns;
    return end;
}

int sf_delays_group(uint32_t *groups, const sf_delay *delays, size_t count, sf_error *error)
{
    uint32_t *order = sf_resize(NULL, count, sizeof *order);
    if (order == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sf_platform_sort(order, count, sizeof *order, compare_bounds, (void *)(uintptr_t)delays);
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = end_of_group(delays, order, begin, count);
        uint32_t first = order[begin];
        for (size_t i = begin; i < end; i++)
            first = order[i] < first ? order[i] : first;
        for (size_t i = begin; i < end; i++)
            groups[order[i]] = first;
    }
    sf_free(order);
    return SF_OK;
}

/* ---- what is kept ---- */

/* A pair in an interval. */
typedef struct standing {
    sf_pair_count pair;
    uint32_t group;
    double stands_out;
} standing;

/* What one question is about comes together, and the best of it first. */
static int compare_standings(const void *a, const void *b, void *context)
{
    (void)context;
    const standing *left = a, *right = b;
    if (left->pair.from != right->pair.from) return left->pair.from < right->pair.from ? -1 : 1;
    if (left->pair.to != right->pair.to) return left->pair.to < right->pair.to ? -1 : 1;
    if (left->group != right->group) return left->group < right->group ? -1 : 1;
    if (left->stands_out != right->stands_out) return left->stands_out > right->stands_out ? -1 : 1;
    return left->pair.delay < right->pair.delay ? -1 : left->pair.delay > right->pair.delay;
}

static bool same_question(const standing *a, const standing *b)
{
    return a->pair.from == b->pair.from && a->pair.to == b->pair.to && a->group == b->group;
}

static standing standing_of(const sf_mine_result *result, const sf_mine_item *item, const uint32_t *groups)
{
    const sf_mine_found *found = result->found;
    const sf_node *node = &found->tree.levels[1].nodes[item->node];
    uint32_t units = found->tree.unit_count, delay = node->step / units;
    double expected = isnan(item->expected_given_rest) ? item->expected : item->expected_given_rest;
    return (standing){
        .pair = {found->units[node->parent], found->units[node->step % units], delay, item->count},
        .group = groups[delay],
        .stands_out = sf_above_chance(item->count, expected)};
}

int sf_mine_best_delays(sf_pair_count **pairs, size_t *count, const sf_mine_result *result, sf_error *error)
{
    const sf_mine_found *found = result->found;
    uint32_t *groups = sf_resize(NULL, found->tree.delay_count, sizeof *groups);
    standing *all = sf_resize(NULL, result->count, sizeof *all);
    sf_pair_count *kept = sf_resize(NULL, result->count, sizeof *kept);
    int status = groups == NULL || all == NULL || kept == NULL ? sf_fail_memory(error) : SF_OK;
    size_t known = 0;
    *count = 0;
    if (status == SF_OK) status = sf_delays_group(groups, found->delays, found->tree.delay_count, error);
    for (size_t i = 0; status == SF_OK && i < result->count; i++)
        if (result->items[i].size == 2) all[known++] = standing_of(result, &result->items[i], groups);
    sf_platform_sort(all, known, sizeof *all, compare_standings, NULL);
    for (size_t i = 0; i < known; i++)
        if (i == 0 || !same_question(&all[i - 1], &all[i])) kept[(*count)++] = all[i].pair;
    sf_free(groups);
    sf_free(all);
    if (status != SF_OK) {
        sf_free(kept);
        kept = NULL;
    }
    *pairs = kept;
    return status;
}

/* ---- what it was chosen from ---- */

/* most: a p that holds whatever was chosen. */
static double corrected(double p, uint32_t choices, double most)
{
    return isnan(p) ? p : fmin(p * choices, most);
}

int sf_mine_correct_choice(sf_mine_result *result, sf_correction correction, sf_error *error)
{
    const sf_mine_found *found = result->found;
    uint32_t delays = found->tree.delay_count;
    uint32_t *groups = sf_resize(NULL, delays, sizeof *groups), *sizes = sf_alloc(delays, sizeof *sizes);
    int status = groups == NULL || sizes == NULL ? sf_fail_memory(error) : SF_OK;
    if (status == SF_OK) status = sf_delays_group(groups, found->delays, delays, error);
    for (uint32_t d = 0; status == SF_OK && d < delays; d++)
        sizes[groups[d]]++;
    for (size_t i = 0; status == SF_OK && i < result->count; i++) {
        sf_mine_item *item = &result->items[i];
        uint32_t steps[SF_EPISODE_MAX_SIZE], choices = 1;
        sf_tree_steps(&found->tree, item->size, item->node, steps);
        for (uint32_t k = 1; k < item->size; k++) {
            uint32_t own = sizes[groups[steps[k] / found->tree.unit_count]];
            choices = own > choices ? own : choices;
        }
        double most = correction == SF_CORRECTION_MAXIMUM && item->q < 1 ? item->q : 1;
        item->p = corrected(item->p, choices, most);
        item->p_last = corrected(item->p_last, choices, most);
        item->p_first = corrected(item->p_first, choices, most);
    }
    sf_free(groups);
    sf_free(sizes);
    return status;
}
