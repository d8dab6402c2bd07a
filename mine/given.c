/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/given.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "mine/found.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Consecutive units of a given episode, as steps of the tree. */
typedef struct part {
    uint32_t size, steps[SF_EPISODE_MAX_SIZE];
} part;

typedef struct layout {
    const sf_mine_input *input;
    const sf_episode *episodes;
    size_t count;
    sf_mine_found *found;
    uint32_t *number; /* by unit of the recording: its number in the tree */
    part *parts;      /* in the order of the tree's nodes: by size, then by steps; from size 1 */
    size_t part_count;
    size_t first[SF_EPISODE_MAX_SIZE + 2]; /* by size: where its parts begin */
} layout;

/* ---- units and delays ---- */

static int number_units(layout *l, sf_error *error)
{
    size_t units = l->input->units->count;
    uint32_t kept = 0;
    l->number = sf_alloc(units, sizeof *l->number);
    l->found->units = sf_resize(NULL, units, sizeof *l->found->units);
    if (l->number == NULL || l->found->units == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < l->count; i++)
        for (uint32_t k = 0; k < l->episodes[i].size; k++)
            l->number[l->episodes[i].units[k]] = 1;
    for (uint32_t u = 0; u < units; u++)
        if (l->number[u] != 0) {
            l->number[u] = kept;
            l->found->units[kept++] = u;
        }
    l->found->tree.unit_count = kept;
    return SF_OK;
}

static int list_delays(layout *l, sf_error *error)
{
    size_t links = 0;
    for (size_t i = 0; i < l->count; i++)
        links += l->episodes[i].size - 1;
    sf_delay *delays = l->found->delays = sf_resize(NULL, links, sizeof *delays);
    if (delays == NULL) return sf_fail_memory(error);
    l->found->tree.delay_count = (uint32_t)sf_episodes_delays(delays, l->episodes, l->count);
    return SF_OK;
}

/* ---- parts ---- */

static int compare_parts(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    for (uint32_t i = 0; i < x->size; i++)
        if (x->steps[i] != y->steps[i]) return x->steps[i] < y->steps[i] ? -1 : 1;
    return 0;
}

/* Orders the parts and drops repeats. */
static void unite_parts(layout *l)
{
    size_t kept = 0;
    if (l->part_count > 0) qsort(l->parts, l->part_count, sizeof *l->parts, compare_parts);
    for (size_t i = 0; i < l->part_count; i++)
        if (kept == 0 || compare_parts(&l->parts[kept - 1], &l->parts[i]) != 0)
            l->parts[kept++] = l->parts[i];
    l->part_count = kept;
}

/* The `size` units of an episode that begin at `from`. */
static part part_of(const layout *l, const sf_episode *episode, uint32_t from, uint32_t size)
{
    const sf_tree *tree = &l->found->tree;
    part made = {.size = size, .steps = {l->number[episode->units[from]]}};
    for (uint32_t k = 1; k < size; k++) {
        uint32_t delay = sf_delays_find(l->found->delays, tree->delay_count, &episode->delays[from + k - 1]);
        made.steps[k] = delay * tree->unit_count + l->number[episode->units[from + k]];
    }
    return made;
}

static int list_parts(layout *l, sf_error *error)
{
    size_t room = l->found->tree.unit_count;
    for (size_t i = 0; i < l->count; i++)
        room += (size_t)l->episodes[i].size * (l->episodes[i].size - 1) / 2;
    l->parts = sf_resize(NULL, room, sizeof *l->parts);
    if (l->parts == NULL) return sf_fail_memory(error);
    for (uint32_t u = 0; u < l->found->tree.unit_count; u++)
        l->parts[l->part_count++] = (part){.size = 1, .steps = {u}};
    for (size_t i = 0; i < l->count; i++)
        for (uint32_t size = 2; size <= l->episodes[i].size; size++)
            for (uint32_t from = 0; from + size <= l->episodes[i].size; from++)
                l->parts[l->part_count++] = part_of(l, &l->episodes[i], from, size);
    unite_parts(l);
    for (size_t i = 0; i < l->part_count; i++)
        l->first[l->parts[i].size + 1] = i + 1;
    for (uint32_t size = 2; size < SF_EPISODE_MAX_SIZE + 2; size++)
        l->first[size] = l->first[size] > l->first[size - 1] ? l->first[size] : l->first[size - 1];
    return SF_OK;
}

/* Where a part of this size is in its level. */
static uint32_t find_part(const layout *l, const part *wanted)
{
    const part *level = l->parts + l->first[wanted->size];
    const part *found = bsearch(wanted, level, l->first[wanted->size + 1] - l->first[wanted->size],
                                sizeof *wanted, compare_parts);
    return (uint32_t)(found - level);
}

/* ---- counts ---- */

static sf_episode spell(const layout *l, const part *of)
{
    sf_episode episode = {.size = of->size};
    for (uint32_t k = 0; k < of->size; k++) {
        episode.units[k] = l->found->units[of->steps[k] % l->found->tree.unit_count];
        if (k > 0) episode.delays[k - 1] = l->found->delays[of->steps[k] / l->found->tree.unit_count];
    }
    return episode;
}

/* Counts all parts of two and more units, in their order. */
static int count_parts(const layout *l, uint64_t *counts, unsigned threads, const sf_progress *progress,
                       sf_error *error)
{
    size_t pairs = l->first[2], longer = l->part_count - pairs;
    sf_episode *episodes = sf_resize(NULL, longer, sizeof *episodes);
    if (episodes == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < longer; i++)
        episodes[i] = spell(l, &l->parts[pairs + i]);
    sf_counter *counter;
    int status = sf_counter_open(&counter, l->input->spikes, l->input->spike_count, l->input->units->count,
                                 episodes, longer, NULL, threads, error);
    if (status == SF_OK) {
        sf_counter_tell(counter, progress);
        status = sf_counter_count(counter, NULL, counts + pairs, error);
        sf_counter_close(counter);
    }
    sf_free(episodes);
    for (size_t i = 0; status == SF_OK && i < l->input->spike_count; i++) {
        uint32_t unit = l->input->spikes[i].unit, node = l->number[unit];
        counts[node] += l->found->tree.unit_count > 0 && l->found->units[node] == unit;
    }
    return status;
}

/* ---- the result ---- */

static int grow_tree(layout *l, const uint64_t *counts, sf_error *error)
{
    sf_tree *tree = &l->found->tree;
    for (size_t i = 0; i < l->part_count; i++) {
        part prefix = l->parts[i];
        uint32_t size = prefix.size--;
        uint32_t parent = size > 1 ? find_part(l, &prefix) : 0;
        if (sf_level_append(&tree->levels[size - 1], parent, l->parts[i].steps[size - 1],
                            (uint32_t)counts[i]) != SF_OK)
            return sf_fail_memory(error);
    }
    int status = SF_OK;
    for (uint32_t size = 2; size <= SF_EPISODE_MAX_SIZE && status == SF_OK; size++)
        status = sf_tree_link(tree, size, error);
    return status;
}

static int list_items(const layout *l, sf_mine_result *result, const uint64_t *counts, sf_error *error)
{
    result->items = sf_resize(NULL, l->count, sizeof *result->items);
    if (result->items == NULL) return sf_fail_memory(error);
    for (uint32_t size = 2; size <= SF_EPISODE_MAX_SIZE; size++) {
        l->found->asked[size - 1] = sf_alloc(l->found->tree.levels[size - 1].count, sizeof(bool));
        if (l->found->asked[size - 1] == NULL) return sf_fail_memory(error);
    }
    for (size_t i = 0; i < l->count; i++) {
        part whole = part_of(l, &l->episodes[i], 0, l->episodes[i].size);
        uint32_t node = find_part(l, &whole);
        result->items[result->count++] =
            (sf_mine_item){.size = whole.size,
                           .node = node,
                           .count = (uint32_t)counts[l->first[whole.size] + node],
                           .expected = NAN,
                           SF_NO_VERDICT,
                           .strength = NAN};
        if (whole.size > 1) l->found->asked[whole.size - 1][node] = true;
        for (uint32_t k = 0; k + 1 < whole.size; k++) { /* the links, which a test of the chain asks about */
            part link = part_of(l, &l->episodes[i], k, 2);
            l->found->asked[1][find_part(l, &link)] = true;
        }
    }
    return SF_OK;
}

static int lay_out(layout *l, sf_mine_result *result, unsigned threads, const sf_progress *progress,
                   sf_error *error)
{
    int status = number_units(l, error);
    if (status == SF_OK) status = list_delays(l, error);
    if (status == SF_OK) status = list_parts(l, error);
    if (status != SF_OK) return status;
    uint64_t *counts = sf_alloc(l->part_count, sizeof *counts);
    status = counts != NULL ? count_parts(l, counts, threads, progress, error) : sf_fail_memory(error);
    if (status == SF_OK) status = grow_tree(l, counts, error);
    if (status == SF_OK) status = list_items(l, result, counts, error);
    sf_free(counts);
    return status;
}

int sf_mine_given(sf_mine_result **out, sf_mining_options *mining, const sf_mine_input *input,
                  const sf_episode *episodes, size_t count, unsigned threads, const sf_progress *progress,
                  sf_error *error)
{
    *out = NULL;
    sf_mine_result *result = sf_alloc(1, sizeof *result);
    if (result != NULL) result->found = sf_alloc(1, sizeof *result->found);
    if (result == NULL || result->found == NULL) {
        sf_mine_result_free(result);
        return sf_fail_memory(error);
    }
    layout l = {.input = input, .episodes = episodes, .count = count, .found = result->found};
    int status = lay_out(&l, result, threads, progress, error);
    sf_free(l.number);
    sf_free(l.parts);
    if (status != SF_OK) {
        sf_mine_result_free(result);
        return status;
    }
    *mining = sf_mining_options_default();
    mining->delays = result->found->delays;
    mining->delay_count = result->found->tree.delay_count;
    mining->threads = threads;
    mining->max_size = 2;
    for (size_t i = 0; i < count; i++)
        mining->max_size = episodes[i].size > mining->max_size ? episodes[i].size : mining->max_size;
    *out = result;
    return SF_OK;
}
