/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "core/message.h"
#include "core/standing.h"

#include <string.h>

/* ---- what stands out most ---- */

/* A window may have 100,000 episodes, each hop anew: threads sort them by four digits of a short key, in time
 * that is linear, and those that are alike in these are then put right. */
_Static_assert(SF_STANDING_CLASSES <= 1 << 8, "a class is one digit");
enum { BITS = 8, DIGITS = 4, VALUES = 1 << BITS, MOST_PIECES = 16, LEAST_PIECE = 4096 };

typedef struct place {
    double above; /* chance, in about standard deviations */
    uint32_t index;
    uint32_t key; /* its class, then coarsely `above` */
} place;

/* In 24 bits, the less the further above chance: of a double those of its exponent that matter, and as many
 * of its fraction. */
static uint32_t coarse(double above)
{
    enum { FRACTION = 17, HALF = 1 << 23 };
    const uint64_t least = (uint64_t)(1023 - 16) << 52;
    double size = fmin(fabs(above), 0x1p46);
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    uint32_t magnitude = bits > least ? (uint32_t)((bits - least) >> (52 - FRACTION)) : 0;
    return above < 0 ? HALF + magnitude : HALF - 1 - magnitude;
}

static place place_of(const sf_episode_count *item, size_t index)
{
    double above = sf_above_chance(item->count, item->expected);
    uint32_t class = sf_standing_class(item->q, item->folded_under[0] != '\0', above, item->episode.size);
    return (place){.above = above, .index = (uint32_t)index, .key = class << 24 | coarse(above)};
}

/* Stretches of the episodes, for threads; a digit is sorted by as many counts for each stretch. */
typedef struct ranking {
    sf_episode_count *items;
    place *from, *into;
    size_t count, pieces;
    unsigned shift; /* of the digit */
    uint32_t ends[MOST_PIECES][VALUES];
} ranking;

static size_t begin_of(const ranking *r, size_t piece)
{
    return r->count * piece / r->pieces;
}

static void place_piece(void *context, unsigned worker, size_t piece)
{
    ranking *r = context;
    (void)worker;
    for (size_t i = begin_of(r, piece); i < begin_of(r, piece + 1); i++)
        r->from[i] = place_of(&r->items[i], i);
}

static void count_piece(void *context, unsigned worker, size_t piece)
{
    ranking *r = context;
    uint32_t *counts = r->ends[piece];
    (void)worker;
    memset(counts, 0, sizeof r->ends[piece]);
    for (size_t i = begin_of(r, piece); i < begin_of(r, piece + 1); i++)
        counts[r->from[i].key >> r->shift & (VALUES - 1)]++;
}

static void deal_out_piece(void *context, unsigned worker, size_t piece)
{
    ranking *r = context;
    uint32_t *ends = r->ends[piece];
    (void)worker;
    for (size_t i = begin_of(r, piece); i < begin_of(r, piece + 1); i++)
        r->into[ends[r->from[i].key >> r->shift & (VALUES - 1)]++] = r->from[i];
}

static void tell_piece(void *context, unsigned worker, size_t piece)
{
    ranking *r = context;
    (void)worker;
    for (size_t i = begin_of(r, piece); i < begin_of(r, piece + 1); i++)
        r->items[r->from[i].index].standing = (uint32_t)(i + 1);
}

static void for_pieces(ranking *r, sf_team *team, void (*body)(void *, unsigned, size_t))
{
    if (team != NULL && r->pieces > 1)
        sf_team_run(team, r->pieces, body, r);
    else
        for (size_t piece = 0; piece < r->pieces; piece++)
            body(r, 0, piece);
}

/* What is alike in a digit stays in order. */
static void sort_by(ranking *r, sf_team *team, int digit)
{
    r->shift = (unsigned)digit * BITS;
    for_pieces(r, team, count_piece);
    uint32_t end = 0;
    for (size_t value = 0; value < VALUES; value++)
        for (size_t piece = 0; piece < r->pieces; piece++) {
            uint32_t here = r->ends[piece][value];
            r->ends[piece][value] = end;
            end += here;
        }
    for_pieces(r, team, deal_out_piece);
    place *sorted = r->into;
    r->into = r->from;
    r->from = sorted;
}

/* Those that are alike in all digits. */
static void put_right(place *order, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        place own = order[i];
        size_t to = i;
        for (; to > 0 && order[to - 1].key == own.key && order[to - 1].above < own.above; to--)
            order[to] = order[to - 1];
        order[to] = own;
    }
}

int sf_message_rank(sf_message *message, sf_team *team, sf_error *error)
{
    sf_episodes_message *all = &message->episodes;
    place *places = sf_resize(NULL, 2 * all->count, sizeof *places);
    if (places == NULL) return sf_fail_memory(error);
    ranking r = {.items = all->items, .from = places, .into = places + all->count, .count = all->count};
    r.pieces = team == NULL ? 1 : sf_team_size(team) < MOST_PIECES ? sf_team_size(team) : MOST_PIECES;
    if (r.pieces > all->count / LEAST_PIECE + 1) r.pieces = all->count / LEAST_PIECE + 1;
    for_pieces(&r, team, place_piece);
    for (int digit = 0; digit < DIGITS; digit++)
        sort_by(&r, team, digit);
    put_right(r.from, all->count);
    for_pieces(&r, team, tell_piece);
    sf_free(places);
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
    if (into->items == NULL || into->rules == NULL) return false;
    into->count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (keep[i]) into->items[into->count++] = all->items[i];
    if (all->rule_count > 0) memcpy(into->rules, all->rules, all->rule_count * sizeof *into->rules);
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
    if (made) return top;
    sf_message_release(top);
    return NULL;
}
