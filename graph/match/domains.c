/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search by bitmaps. Every vertex that is not matched yet has its domain: the candidates that go with all
 * that is matched. Matching a vertex cuts the domains of those after it by rows that are known beforehand
 * (graph/match/rows.h), so that what one step has found out is not found out again by the next; a domain that
 * becomes empty ends the branch at once. Its causes are the matched vertices that took something from it, and
 * where the vertex at hand is not among them, its other candidates would fail alike (failing sets, Han et
 * al., SIGMOD 2019). The last vertex of the core is not even stepped through: what its candidates leave of
 * the vertices after it is counted as bits of an intersection.
 */
#include "graph/match/rows.h"
#include "graph/match/search.h"
#include "graph/match/sorted.h"

#include "core/memory.h"

#include <string.h>

enum { ALIGNMENT = 64, MOST_IN_GROUP = SF_PLAN_GROUP };

/* What is left of every vertex after some steps. */
typedef struct level {
    const uint64_t *domain[SF_PATTERN_MOST];
    uint64_t cause[SF_PATTERN_MOST]; /* matched vertices that took something from it */
    uint64_t *room[SF_PATTERN_MOST]; /* for a domain that a step changes */
} level;

typedef struct domains {
    sf_searcher base;
    const sf_rows *rows;
    const sf_bitmap_loops *loops;
    void *memory;
    uint64_t *scratch[MOST_IN_GROUP + 1]; /* intersections of the vertices of a group */
    level *levels;                        /* one more than steps of the core */
} domains;

static const sf_plan *plan_of(const domains *s)
{
    return s->base.search->plan;
}

/* ---- matching a vertex ---- */

static bool is_empty(const uint64_t *set, uint32_t words)
{
    return sf_bitmap_next(set, 0, words * 64) == words * 64;
}

/* What a place leaves of a domain, in `room` where it takes something. NULL: nothing. */
static const uint64_t *cut(const domains *s, const sf_effect *effect, uint32_t place, const uint64_t *domain,
                           uint64_t *room)
{
    const uint32_t words = sf_rows_words(s->rows, effect->vertex);
    if (effect->rows != NULL)
        return s->loops->cut(room, domain, effect->rows + (size_t)place * words, words) ? room : NULL;
    if (!sf_bitmap_has(domain, place)) return domain;
    memcpy(room, domain, words * sizeof *room);
    sf_bitmap_clear(room, place);
    return is_empty(room, words) ? NULL : room;
}

/* Fills the level after a step whose vertex is matched with `place`; else *blame is why it fails. */
static bool match(domains *s, uint32_t depth, uint32_t place, uint64_t *blame)
{
    const sf_rows *rows = s->rows;
    const uint32_t u = plan_of(s)->steps[depth].vertex;
    const level *before = &s->levels[depth];
    level *after = &s->levels[depth + 1];
    s->base.place[u] = place;
    for (uint32_t i = depth + 1; i < plan_of(s)->count; i++) {
        const uint32_t x = plan_of(s)->steps[i].vertex;
        after->domain[x] = before->domain[x];
        after->cause[x] = before->cause[x];
    }
    for (uint32_t i = 0; i < rows->effect_counts[depth]; i++) {
        const sf_effect *effect = &rows->effects[depth][i];
        const uint32_t x = effect->vertex;
        after->domain[x] = cut(s, effect, place, before->domain[x], after->room[x]);
        after->cause[x] |= after->domain[x] != before->domain[x] ? sf_bit(u) : 0;
        if (after->domain[x] == NULL) {
            *blame = after->cause[x];
            return false;
        }
    }
    return true;
}

/* ---- counting what is after the core ---- */

/* A vertex of a group: its domain before the last step of the core, and what that step does to it. */
typedef struct tail {
    const uint64_t *domain;
    const sf_effect *effect; /* NULL: nothing */
    uint32_t vertex, words, size;
} tail;

typedef struct group {
    tail tails[SF_PATTERN_MOST];
    uint32_t count;
    bool is_fixed; /* the last step changes nothing in it */
    uint64_t ways; /* where it is fixed */
} group;

/* Bits that all of a subset and of what comes after it have in common: shared[subset]. */
static void count_shared(const domains *s, const uint64_t *const *sets, uint32_t count, uint32_t words,
                         uint32_t subset, const uint64_t *common, uint32_t next, uint32_t *shared)
{
    shared[subset] = s->loops->count(common, common, words);
    for (uint32_t i = next; i < count; i++) {
        uint64_t *both = s->scratch[__builtin_popcount(subset)];
        s->loops->cut(both, common, sets[i], words);
        count_shared(s, sets, count, words, subset | UINT32_C(1) << i, both, i + 1, shared);
    }
}

/* Ways to choose a different member of each set, or any where vertices may share one. */
static uint64_t count_choices(const domains *s, const uint64_t *const *sets, uint32_t count, uint32_t words)
{
    uint32_t shared[1 << MOST_IN_GROUP];
    bool are_same = true;
    for (uint32_t i = 1; i < count; i++)
        are_same = are_same && memcmp(sets[i], sets[0], words * sizeof *sets[0]) == 0;
    if (are_same) return sf_falling_factorial(s->loops->count(sets[0], sets[0], words), count);
    for (uint32_t i = 0; i < count; i++)
        count_shared(s, sets, count, words, UINT32_C(1) << i, sets[i], i + 1, shared);
    return sf_choices(shared, count);
}

/* Counts the choices of one tail after the last step of the core. */
static uint64_t count_tail(const domains *s, const tail *t, uint32_t place)
{
    if (t->effect == NULL) return t->size;
    if (t->effect->rows == NULL) return t->size - (sf_bitmap_has(t->domain, place) ? 1u : 0u);
    return s->loops->count(t->domain, t->effect->rows + (size_t)place * t->words, t->words);
}

static uint64_t count_group(domains *s, const group *g, uint32_t place)
{
    uint64_t product = 1;
    if (g->count == 1 || !s->base.search->injective) {
        for (uint32_t i = 0; i < g->count && product > 0; i++)
            product = sf_saturated_multiply(product, count_tail(s, &g->tails[i], place));
        return product;
    }
    level *after = &s->levels[plan_of(s)->core];
    const uint64_t *sets[MOST_IN_GROUP];
    for (uint32_t i = 0; i < g->count; i++) {
        const tail *t = &g->tails[i];
        sets[i] = t->effect != NULL ? cut(s, t->effect, place, t->domain, after->room[t->vertex]) : t->domain;
        if (sets[i] == NULL) return 0;
    }
    return count_choices(s, sets, g->count, g->tails[0].words);
}

static const sf_effect *effect_on(const sf_rows *rows, uint32_t depth, uint32_t u)
{
    for (uint32_t i = 0; i < rows->effect_counts[depth]; i++)
        if (rows->effects[depth][i].vertex == u) return &rows->effects[depth][i];
    return NULL;
}

static void look_at_group(domains *s, group *g, uint64_t vertices)
{
    const uint32_t last = plan_of(s)->core - 1;
    const level *before = &s->levels[last];
    g->count = 0;
    g->is_fixed = true;
    for (; vertices != 0; vertices &= vertices - 1) {
        const uint32_t u = sf_lowest(vertices);
        tail *t = &g->tails[g->count++];
        *t = (tail){.domain = before->domain[u],
                    .effect = effect_on(s->rows, last, u),
                    .vertex = u,
                    .words = sf_rows_words(s->rows, u)};
        if (t->effect == NULL || t->effect->rows == NULL)
            t->size = s->loops->count(t->domain, t->domain, t->words);
        g->is_fixed = g->is_fixed && t->effect == NULL;
    }
    g->ways = g->is_fixed ? count_group(s, g, 0) : 0;
}

static uint64_t causes_of(const domains *s, uint64_t vertices)
{
    uint64_t causes = 0;
    for (; vertices != 0; vertices &= vertices - 1)
        causes |= s->levels[plan_of(s)->core - 1].cause[sf_lowest(vertices)];
    return causes;
}

/* Embeddings of the places of the last vertex of the core, each of which is a step. *causes: why there are
 * none, if there are none. */
static uint64_t count_rest(domains *s, uint32_t place, uint32_t end, uint64_t *steps, uint64_t *causes)
{
    const sf_plan *plan = plan_of(s);
    const uint32_t last = plan->steps[plan->core - 1].vertex;
    const uint64_t *domain = s->levels[plan->core - 1].domain[last];
    group groups[SF_PATTERN_MOST];
    uint64_t sum = 0, fixed = 1;
    uint32_t changing = 0;
    *causes = causes_of(s, sf_bit(last));
    for (uint32_t g = 0; g < plan->group_count; g++) {
        group *at = &groups[changing];
        look_at_group(s, at, plan->groups[g]);
        if (at->is_fixed && at->ways == 0) {
            *causes = causes_of(s, plan->groups[g]);
            return 0;
        }
        *causes |= at->is_fixed ? 0 : causes_of(s, plan->groups[g]);
        fixed = sf_saturated_multiply(fixed, at->is_fixed ? at->ways : 1);
        changing += !at->is_fixed;
    }
    const tail *only = &groups[0].tails[0];
    if (changing == 1 && groups[0].count == 1 && only->effect->rows != NULL)
        return sf_saturated_multiply(fixed, s->loops->count_rows(only->domain, only->effect->rows,
                                                                 only->words, domain, place, end, steps));
    for (place = sf_bitmap_next(domain, place, end); place < end;
         place = sf_bitmap_next(domain, place + 1, end)) {
        uint64_t product = fixed;
        ++*steps;
        for (uint32_t g = 0; g < changing && product > 0; g++)
            product = sf_saturated_multiply(product, count_group(s, &groups[g], place));
        sum = sf_saturated_add(sum, product);
    }
    return sum;
}

/* The last step of the core, from a place on. */
static bool finish(domains *s, uint32_t place, uint32_t end, uint64_t *blame)
{
    uint64_t steps = 0, count = count_rest(s, place, end, &steps, blame);
    if (plan_of(s)->core > 1) /* candidates of the first step have been counted */
        sf_match_steps(&s->base.tally, steps);
    if (count > 0) sf_match_found(&s->base.tally, count, NULL);
    return count > 0;
}

/* ---- the search ---- */

/* These return whether an embedding was found (or the search stopped), else *blame names the matched vertices
 * that make it fail. */

static bool search_on(domains *s, uint32_t depth, uint32_t place, uint64_t *blame);

static bool is_last(const domains *s, uint32_t depth)
{
    return depth + 1 == plan_of(s)->core;
}

/* With one more vertex matched, goes on to the next. */
static bool try_place(domains *s, uint32_t depth, uint32_t place, uint64_t *blame)
{
    if (is_last(s, depth)) return finish(s, place, place + 1, blame);
    if (!match(s, depth, place, blame)) return false;
    const uint32_t next = plan_of(s)->steps[depth + 1].vertex;
    s->base.end[depth + 1] = s->rows->counts[s->rows->list_of[next]];
    return search_on(s, depth + 1, 0, blame);
}

/* The last step of the core, whose places are done at once. */
static bool finish_on(domains *s, uint32_t depth, uint32_t place, uint64_t *blame)
{
    s->base.at[depth] = place;
    if (sf_match_search_shares(&s->base, depth)) return true;
    bool found = finish(s, place, s->base.end[depth], blame);
    return found || (s->base.given >> depth & 1) != 0;
}

/* Places of a step, from one on. */
static bool search_on(domains *s, uint32_t depth, uint32_t place, uint64_t *blame)
{
    const uint32_t u = plan_of(s)->steps[depth].vertex;
    const uint64_t *domain = s->levels[depth].domain[u];
    uint64_t all = 0;
    bool found = false;
    s->base.given &= ~sf_bit(depth);
    if (is_last(s, depth)) return finish_on(s, depth, place, blame);
    for (place = sf_bitmap_next(domain, place, s->base.end[depth]); place < s->base.end[depth];
         place = sf_bitmap_next(domain, place + 1, s->base.end[depth])) {
        uint64_t one = 0;
        s->base.at[depth] = place;
        if (sf_match_step(&s->base.tally) || sf_match_search_shares(&s->base, depth)) return true;
        if (try_place(s, depth, place, &one)) {
            found = true;
        } else if ((one & sf_bit(u)) == 0) {
            *blame = one; /* whatever stands for u, the same fails */
            return found || (s->base.given >> depth & 1) != 0;
        } else {
            all |= one;
        }
    }
    *blame = (all & ~sf_bit(u)) | s->levels[depth].cause[u];
    return found || (s->base.given >> depth & 1) != 0;
}

static void search_root(sf_searcher *searcher, uint32_t candidate)
{
    domains *s = (domains *)searcher;
    uint64_t blame;
    try_place(s, 0, s->rows->places[plan_of(s)->steps[0].vertex][candidate], &blame);
}

static void search_part(sf_searcher *searcher, const sf_share_part *part)
{
    domains *s = (domains *)searcher;
    uint64_t blame;
    for (uint32_t d = 0; d < part->depth; d++)
        match(s, d, part->places[plan_of(s)->steps[d].vertex], &blame); /* as there, which fits */
    s->base.top = part->depth;
    s->base.end[part->depth] = part->last;
    search_on(s, part->depth, part->first, &blame);
}

static bool any_place(const sf_searcher *searcher, uint32_t step, uint32_t from)
{
    const domains *s = (const domains *)searcher;
    const uint64_t *domain = s->levels[step].domain[plan_of(s)->steps[step].vertex];
    return sf_bitmap_next(domain, from, s->base.end[step]) < s->base.end[step];
}

/* ---- room ---- */

static size_t words_of_level(const sf_rows *rows, uint32_t count)
{
    size_t words = 0;
    for (uint32_t u = 0; u < count; u++)
        words += sf_rows_words(rows, u);
    return words;
}

static int open_domains(sf_searcher *searcher)
{
    domains *s = (domains *)searcher;
    const sf_plan *plan = searcher->search->plan;
    const sf_rows *rows = s->rows = searcher->search->rows;
    uint32_t most = 0;
    s->loops = sf_bitmap_best();
    for (uint32_t u = 0; u < plan->count; u++)
        most = sf_rows_words(rows, u) > most ? sf_rows_words(rows, u) : most;
    size_t words = words_of_level(rows, plan->count) * (plan->core + 1) + (MOST_IN_GROUP + 1) * (size_t)most;
    s->levels = sf_alloc(plan->core + 1, sizeof *s->levels);
    s->memory = sf_resize(NULL, words * sizeof(uint64_t) + ALIGNMENT, 1);
    if (s->levels == NULL || s->memory == NULL) return SF_NO_MEMORY;
    uintptr_t begin = ((uintptr_t)s->memory + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint64_t *room = (uint64_t *)begin;
    for (uint32_t d = 0; d <= plan->core; d++) {
        for (uint32_t u = 0; u < plan->count; u++) {
            s->levels[d].room[u] = room;
            room += sf_rows_words(rows, u);
        }
    }
    for (uint32_t i = 0; i <= MOST_IN_GROUP; i++, room += most)
        s->scratch[i] = room;
    for (uint32_t u = 0; u < plan->count; u++)
        s->levels[0].domain[u] = rows->starts[u];
    return SF_OK;
}

static void close_domains(sf_searcher *searcher)
{
    domains *s = (domains *)searcher;
    sf_free(s->levels);
    sf_free(s->memory);
}

const sf_search_kind sf_search_by_domains = {.size = sizeof(domains),
                                             .open = open_domains,
                                             .close = close_domains,
                                             .root = search_root,
                                             .part = search_part,
                                             .any = any_place};
