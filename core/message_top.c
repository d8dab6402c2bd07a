/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "core/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <synfire/mine.h>

/* ---- what stands out most ---- */

/* Of how many episodes a window may have places are given hop by hop: a key each is sorted, not the episodes.
 */
typedef struct standing {
    bool significant, part;
    uint32_t size;
    double above; /* chance */
    uint32_t index;
} standing;

static standing standing_of(const sf_episode_count *item, size_t index)
{
    double expected = isnan(item->expected) ? 0 : item->expected;
    return (standing){.significant = item->q <= SF_SIGNIFICANT_Q,
                      .part = item->folded_under[0] != '\0',
                      .size = item->episode.size,
                      .above = ((double)item->count - expected) / sqrt(fmax(expected, 1)),
                      .index = (uint32_t)index};
}

static int by_standing(const void *left, const void *right)
{
    const standing *a = left, *b = right;
    if (a->significant != b->significant)
        return a->significant ? -1 : 1;
    if (a->part != b->part)
        return a->part ? 1 : -1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    if (a->above != b->above)
        return a->above > b->above ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

int sf_message_rank(sf_message *message, sf_error *error)
{
    sf_episodes_message *all = &message->episodes;
    standing *order = sf_resize(NULL, all->count, sizeof *order);
    if (order == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < all->count; i++)
        order[i] = standing_of(&all->items[i], i);
    if (all->count > 0)
        qsort(order, all->count, sizeof *order, by_standing);
    for (size_t i = 0; i < all->count; i++)
        all->items[order[i].index].standing = (uint32_t)(i + 1);
    sf_free(order);
    return SF_OK;
}

/* ---- those alone ---- */

static void find_top(bool *keep, const sf_episodes_message *all, size_t most)
{
    for (size_t i = 0; i < all->count; i++)
        keep[i] = all->items[i].standing <= most;
}

static void find_named(bool *keep, const sf_episodes_message *all, const char *const *ids, size_t count)
{
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < all->count; i++)
            keep[i] = keep[i] || memcmp(all->items[i].id, ids[k], SF_EPISODE_ID_SIZE) == 0;
}

static bool copy_kept(sf_episodes_message *into, const sf_episodes_message *all, const bool *keep)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += keep[i];
    *into = *all;
    into->items = sf_resize(NULL, count, sizeof *into->items);
    into->rules = sf_resize(NULL, all->rule_count, sizeof *into->rules);
    if (into->items == NULL || into->rules == NULL)
        return false;
    into->count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (keep[i])
            into->items[into->count++] = all->items[i];
    if (all->rule_count > 0)
        memcpy(into->rules, all->rules, all->rule_count * sizeof *into->rules);
    return true;
}

sf_message *sf_message_top(const sf_message *message, size_t most, const char *const *ids, size_t id_count)
{
    const sf_episodes_message *all = &message->episodes;
    sf_message *top = sf_message_new(SF_TOPIC_EPISODES);
    bool *keep = sf_alloc(all->count, sizeof *keep);
    bool made = top != NULL && keep != NULL;
    if (made) {
        find_top(keep, all, most);
        find_named(keep, all, ids, id_count);
        top->seq = message->seq;
        top->time_ns = message->time_ns;
        top->arrival_ns = message->arrival_ns;
        made = copy_kept(&top->episodes, all, keep);
    }
    sf_free(keep);
    if (made)
        return top;
    sf_message_release(top);
    return NULL;
}
