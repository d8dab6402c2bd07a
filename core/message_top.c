/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "core/message.h"
#include "core/standing.h"
#include "core/thread.h"

#include <string.h>

/* ---- what stands out most ---- */

/* A window may have 100,000 episodes, each hop anew: they are sorted by the leading digits of a key, in time
 * that is linear, and those that are alike in these are then put right. */
_Static_assert(SF_STANDING_CLASSES <= 1 << 11, "a class is one digit");
enum { DIGIT = 11, DIGITS = 3, VALUES = 1 << DIGIT, REST = 64 - DIGITS * DIGIT };

typedef struct place {
    uint64_t above; /* the further above chance the less */
    uint32_t index;
    uint32_t class;
} place;

/* How far above chance, in about standard deviations, as a number that falls. */
static uint64_t key_of(const sf_episode_count *item)
{
    double above = sf_above_chance(item->count, item->expected);
    uint64_t bits;
    memcpy(&bits, &above, sizeof bits);
    return (bits >> 63) != 0 ? bits : ~(bits | UINT64_C(1) << 63);
}

static place place_of(const sf_episode_count *item, size_t index)
{
    return (place){.above = key_of(item),
                   .index = (uint32_t)index,
                   .class = sf_standing_class(item->q, item->folded_under[0] != '\0', item->episode.size)};
}

static size_t digit_of(const place *p, int digit)
{
    return digit == DIGITS ? p->class : p->above >> (REST + digit * DIGIT) & (VALUES - 1);
}

/* By one digit; what is alike in it stays in order. */
static void sort_by(place *into, const place *from, size_t count, int digit)
{
    uint32_t ends[VALUES] = {0}, end = 0;
    for (size_t i = 0; i < count; i++)
        ends[digit_of(&from[i], digit)]++;
    for (size_t value = 0; value < VALUES; value++) {
        uint32_t here = ends[value];
        ends[value] = end;
        end += here;
    }
    for (size_t i = 0; i < count; i++)
        into[ends[digit_of(&from[i], digit)]++] = from[i];
}

/* Those that are alike in all digits. */
static void put_right(place *order, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        place own = order[i];
        size_t to = i;
        for (; to > 0 && order[to - 1].class == own.class && order[to - 1].above > own.above; to--)
            order[to] = order[to - 1];
        order[to] = own;
    }
}

/* The episodes and their places, for threads. */
typedef struct ranking {
    sf_episode_count *items;
    size_t count;
    place *places;
    uint32_t *standing;
} ranking;

enum { AT_ONCE = 4096 };

static int place_some(void *context, unsigned worker, size_t number)
{
    const ranking *r = context;
    (void)worker;
    for (size_t i = number * AT_ONCE; i < (number + 1) * AT_ONCE && i < r->count; i++)
        r->places[i] = place_of(&r->items[i], i);
    return SF_OK;
}

static int tell_some(void *context, unsigned worker, size_t number)
{
    const ranking *r = context;
    (void)worker;
    for (size_t i = number * AT_ONCE; i < (number + 1) * AT_ONCE && i < r->count; i++)
        r->items[i].standing = r->standing[i];
    return SF_OK;
}

int sf_message_rank(sf_message *message, sf_error *error)
{
    sf_episodes_message *all = &message->episodes;
    size_t pieces = (all->count + AT_ONCE - 1) / AT_ONCE;
    place *order = sf_resize(NULL, 2 * all->count, sizeof *order);
    ranking r = {all->items, all->count, order, sf_resize(NULL, all->count, sizeof *r.standing)};
    if (order == NULL || r.standing == NULL) {
        sf_free(order);
        sf_free(r.standing);
        return sf_fail_memory(error);
    }
    place *sorted = order, *other = order + all->count;
    sf_parallel_for(sf_thread_cores(), pieces, place_some, &r);
    for (int digit = 0; digit <= DIGITS; digit++) {
        place *from = sorted;
        sort_by(other, from, all->count, digit);
        sorted = other;
        other = from;
    }
    put_right(sorted, all->count);
    for (size_t i = 0; i < all->count; i++)
        r.standing[sorted[i].index] = (uint32_t)(i + 1);
    sf_parallel_for(sf_thread_cores(), pieces, tell_some, &r);
    sf_free(order);
    sf_free(r.standing);
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
