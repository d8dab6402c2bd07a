/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory.h"
#include "core/message.h"

#include <math.h>
#include <string.h>

/* What an episode stands out by: its q, then how far it counts above chance, then its count. */
typedef struct worth {
    double q, above;
    uint64_t count;
    size_t index;
} worth;

static worth worth_of(const sf_episode_count *item, size_t index)
{
    double expected = isnan(item->expected) ? 0 : item->expected;
    return (worth){.q = isnan(item->q) ? 1 : item->q,
                   .above = ((double)item->count - expected) / sqrt(expected + 1),
                   .count = item->count,
                   .index = index};
}

static bool is_above(const worth *a, const worth *b)
{
    if (a->q != b->q)
        return a->q < b->q;
    if (a->above != b->above)
        return a->above > b->above;
    return a->count != b->count ? a->count > b->count : a->index < b->index;
}

/* A heap with the least on top: what comes in takes that one's place. */
static void replace_least(worth *heap, size_t count, worth in)
{
    size_t at = 0;
    for (size_t below; (below = 2 * at + 1) < count; at = below) {
        if (below + 1 < count && is_above(&heap[below], &heap[below + 1]))
            below++;
        if (!is_above(&in, &heap[below]))
            break;
        heap[at] = heap[below];
    }
    heap[at] = in;
}

static void add_to_heap(worth *heap, size_t count, worth in)
{
    size_t at = count;
    for (; at > 0 && is_above(&heap[(at - 1) / 2], &in); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = in;
}

/* keep[i]: item i is among the `most`. False: no memory. */
static bool find_top(bool *keep, const sf_episodes_message *all, size_t most)
{
    worth *heap = sf_resize(NULL, most, sizeof *heap);
    if (heap == NULL)
        return false;
    for (size_t i = 0; i < all->count; i++) {
        worth item = worth_of(&all->items[i], i);
        if (i < most)
            add_to_heap(heap, i, item);
        else if (most > 0 && is_above(&item, &heap[0]))
            replace_least(heap, most, item);
    }
    for (size_t i = 0; i < most; i++)
        keep[heap[i].index] = true;
    sf_free(heap);
    return true;
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
    bool made = top != NULL && keep != NULL && find_top(keep, all, most < all->count ? most : all->count);
    if (made) {
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
