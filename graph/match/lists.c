/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search by sorted lists: a step intersects the candidates next to everything matched before it. Vertices
 * at the end of the order, of whom nothing is said together, are not searched but multiplied out. A failed
 * branch reports which matched vertices are to blame (failing sets, Han et al., SIGMOD 2019); where the
 * vertex at hand is not among them, its other candidates would fail alike and are skipped.
 */
#include "graph/match/lists.h"

#include "graph/match/sorted.h"

#include "core/memory.h"

#include <string.h>

/* ---- candidates ---- */

/* Adjacent candidates of all that u is joined with, the shortest list first. */
static void intersect(sf_lists *s, uint32_t u, uint64_t joined)
{
    const uint32_t *lists[SF_PATTERN_MOST];
    uint32_t lengths[SF_PATTERN_MOST], count = 0;
    for (; joined != 0; joined &= joined - 1) {
        uint32_t w = sf_lowest(joined), length;
        const uint32_t *list = sf_space_adjacent(s->base.search->space, w, u, s->base.place[w], &length);
        uint32_t i = count++;
        for (; i > 0 && lengths[i - 1] > length; i--) {
            lists[i] = lists[i - 1];
            lengths[i] = lengths[i - 1];
        }
        lists[i] = list;
        lengths[i] = length;
    }
    s->list[u] = count > 0 ? lists[0] : s->all;
    s->length[u] = count > 0 ? lengths[0] : s->base.search->space->counts[u];
    for (uint32_t i = 1; i < count; i++) {
        s->length[u] = sf_sorted_intersect(s->buffer[u], s->list[u], s->length[u], lists[i], lengths[i]);
        s->list[u] = s->buffer[u];
    }
}

/* Leaves out the candidates that are not greater than the data vertices of `greater`. */
static void cut_smaller(sf_lists *s, uint32_t u, uint64_t greater)
{
    uint32_t least = 0;
    for (uint64_t left = greater; left != 0; left &= left - 1) {
        uint32_t v = s->vertex[sf_lowest(left)];
        least = v + 1 > least ? v + 1 : least;
    }
    const uint32_t *candidates = s->base.search->space->candidates[u], *list = s->list[u];
    uint32_t low = 0, count = s->length[u];
    while (count > 0) {
        uint32_t half = count / 2;
        if (candidates[list[low + half]] < least) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    s->list[u] += low;
    s->length[u] -= low;
}

uint32_t sf_lists_broken(const sf_lists *s, uint32_t u, uint64_t checked, uint32_t v)
{
    const sf_query *q = s->base.search->space->query;
    for (; checked != 0; checked &= checked - 1) {
        uint32_t w = sf_lowest(checked);
        const sf_pair *pair = sf_query_pair(q, u, w);
        if (!sf_query_pair_fits(q, pair, u == pair->a ? v : s->vertex[w], u == pair->a ? s->vertex[w] : v))
            return w;
    }
    return SF_NO_VERTEX;
}

void sf_lists_find(sf_lists *s, const sf_order_step *step)
{
    intersect(s, step->vertex, step->joined);
    if (step->greater != 0) cut_smaller(s, step->vertex, step->greater);
}

/* ---- the end of the order ---- */

/* Candidates of a vertex that is not searched, as data vertices: those that nothing matched uses and no
 * condition forbids. */
static uint32_t list_free(const sf_lists *s, const sf_order_step *step, uint32_t *out)
{
    uint32_t u = step->vertex, count = 0;
    const uint32_t *candidates = s->base.search->space->candidates[u];
    for (uint32_t i = 0; i < s->length[u]; i++) {
        uint32_t v = candidates[s->list[u][i]];
        if (s->base.search->injective && s->user[v] != 0) continue;
        if (step->checked == 0 || sf_lists_broken(s, u, step->checked, v) == SF_NO_VERTEX) out[count++] = v;
    }
    return count;
}

/* The same without the list, where nothing is checked: all but those that matched vertices use. */
static uint32_t count_free(const sf_lists *s, uint32_t u)
{
    const uint32_t *candidates = s->base.search->space->candidates[u], *list = s->list[u];
    const sf_plan *plan = s->base.search->plan;
    uint32_t count = s->length[u];
    for (uint32_t i = 0; i < plan->core && s->base.search->injective; i++) {
        uint32_t v = s->vertex[plan->steps[i].vertex], low = 0;
        for (uint32_t left = s->length[u]; left > 0;) {
            uint32_t half = left / 2;
            bool less = candidates[list[low + half]] < v;
            low += less ? half + 1 : 0;
            left = less ? left - half - 1 : half;
        }
        count -= low < s->length[u] && candidates[list[low]] == v;
    }
    return count;
}

static uint64_t count_group(const sf_lists *s, uint64_t group)
{
    const uint32_t *lists[SF_PATTERN_MOST];
    uint32_t counts[SF_PATTERN_MOST], count = 0;
    uint32_t *next = s->scratch;
    const sf_order_step *first = sf_plan_step(s->base.search->plan, sf_lowest(group));
    bool is_single = (group & (group - 1)) == 0, are_same = true;
    if (is_single && first->checked == 0) return count_free(s, first->vertex);
    uint64_t product = 1;
    for (; group != 0; group &= group - 1, count++) {
        lists[count] = next;
        counts[count] = list_free(s, sf_plan_step(s->base.search->plan, sf_lowest(group)), next);
        next += counts[count];
        product = sf_saturated_multiply(product, counts[count]);
        are_same = are_same && counts[count] == counts[0] &&
                   memcmp(lists[count], lists[0], counts[0] * sizeof *lists[0]) == 0;
    }
    if (count == 1 || product == 0 || !s->base.search->injective) return product;
    return are_same ? sf_falling_factorial(counts[0], count) : sf_sorted_choices(lists, counts, count, next);
}

/* Every vertex of the core is matched: counts what the others make of it. */
static bool finish(sf_lists *s, uint64_t *blame)
{
    const sf_plan *plan = s->base.search->plan;
    uint64_t count = 1;
    for (uint32_t g = 0; g < plan->group_count && count > 0; g++)
        count = sf_saturated_multiply(count, count_group(s, plan->groups[g]));
    *blame = UINT64_MAX;
    if (count == 0) return false;
    sf_match_found(&s->base.tally, count, s->vertex);
    return true;
}

/* ---- the search ---- */

/* These return whether an embedding was found (or the search stopped), else *blame names the matched vertices
 * that make it fail. */

static bool search(sf_lists *s, uint32_t depth, uint64_t *blame);

/* Candidates of those vertices that are not searched and that a step decides: false where one has none. */
static bool find_decided(sf_lists *s, uint32_t depth, uint64_t *blame)
{
    const sf_plan *plan = s->base.search->plan;
    for (uint64_t left = plan->steps[depth].decided; left != 0; left &= left - 1) {
        const sf_order_step *step = sf_plan_step(plan, sf_lowest(left));
        sf_lists_find(s, step);
        if (s->length[step->vertex] == 0) {
            *blame = step->joined | step->greater;
            return false;
        }
    }
    return true;
}

/* With one more vertex matched, goes on to the next. */
static bool descend(sf_lists *s, uint32_t depth, uint64_t *blame)
{
    const sf_plan *plan = s->base.search->plan;
    if (!find_decided(s, depth, blame)) return false;
    return depth + 1 == plan->core ? finish(s, blame) : search(s, depth + 1, blame);
}

static bool try_candidate(sf_lists *s, uint32_t depth, uint32_t place, uint64_t *blame)
{
    const sf_order_step *step = &s->base.search->plan->steps[depth];
    uint32_t u = step->vertex, v = s->base.search->space->candidates[u][place];
    if (s->base.search->injective && s->user[v] != 0) {
        *blame = sf_bit(u) | sf_bit((uint32_t)s->user[v] - 1);
        return false;
    }
    uint32_t broken = step->checked != 0 ? sf_lists_broken(s, u, step->checked, v) : SF_NO_VERTEX;
    if (broken != SF_NO_VERTEX) {
        *blame = sf_bit(u) | sf_bit(broken);
        return false;
    }
    s->vertex[u] = v;
    s->base.place[u] = place;
    s->user[v] = s->base.search->injective ? (uint8_t)(u + 1) : 0;
    bool found = descend(s, depth, blame);
    s->user[v] = 0;
    return found;
}

/* Candidates of a step, from the one at its cursor on. */
static bool search_on(sf_lists *s, uint32_t depth, uint64_t *blame)
{
    const sf_order_step *step = &s->base.search->plan->steps[depth];
    uint32_t u = step->vertex;
    uint64_t all = 0;
    bool found = false;
    for (s->base.given &= ~sf_bit(depth); s->base.at[depth] < s->base.end[depth]; s->base.at[depth]++) {
        uint64_t one = 0;
        if (sf_match_step(&s->base.tally) || sf_match_search_shares(&s->base, depth)) return true;
        if (try_candidate(s, depth, s->list[u][s->base.at[depth]], &one)) {
            found = true;
        } else if ((one & sf_bit(u)) == 0) {
            *blame = one; /* whatever stands for u, the same fails */
            return found || (s->base.given >> depth & 1) != 0;
        } else {
            all |= one;
        }
    }
    *blame = (all & ~sf_bit(u)) | step->joined | step->greater;
    return found || (s->base.given >> depth & 1) != 0;
}

static bool search(sf_lists *s, uint32_t depth, uint64_t *blame)
{
    sf_lists_find(s, &s->base.search->plan->steps[depth]);
    s->base.at[depth] = 0;
    s->base.end[depth] = s->length[s->base.search->plan->steps[depth].vertex];
    return search_on(s, depth, blame);
}

/* Searches a part that another thread handed over. Both match the same steps, so its partial embedding fits
 * here. */
static void search_part(sf_searcher *searcher, const sf_share_part *part)
{
    sf_lists *s = (sf_lists *)searcher;
    const sf_plan *plan = s->base.search->plan;
    uint64_t blame;
    for (uint32_t k = 0; k < part->depth; k++) {
        uint32_t u = plan->steps[k].vertex, v = s->base.search->space->candidates[u][part->places[u]];
        s->base.place[u] = part->places[u];
        s->vertex[u] = v;
        s->user[v] = s->base.search->injective ? (uint8_t)(u + 1) : 0;
        find_decided(s, k, &blame);
    }
    s->base.top = part->depth;
    sf_lists_find(s, &plan->steps[part->depth]);
    s->base.end[part->depth] = part->last;
    s->base.at[part->depth] = part->first;
    search_on(s, part->depth, &blame);
    for (uint32_t k = 0; k < part->depth; k++)
        s->user[s->vertex[plan->steps[k].vertex]] = 0;
}

static void search_root(sf_searcher *searcher, uint32_t candidate)
{
    uint64_t blame;
    try_candidate((sf_lists *)searcher, 0, candidate, &blame);
}

/* ---- room ---- */

/* The most candidates of a vertex that nothing before it is joined with. */
static uint32_t most_of_all(const sf_match_search *search)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < search->plan->count; i++) {
        const sf_order_step *step = &search->plan->steps[i];
        if (step->joined == 0 && search->space->counts[step->vertex] > most)
            most = search->space->counts[step->vertex];
    }
    return most;
}

int sf_lists_open(sf_searcher *searcher)
{
    sf_lists *s = (sf_lists *)searcher;
    const sf_space *space = searcher->search->space;
    const sf_query *query = space->query;
    size_t total = 0, greatest = 0;
    uint32_t most = most_of_all(searcher->search);
    for (uint32_t u = 0; u < query->count; u++) {
        total += space->counts[u];
        greatest = space->counts[u] > greatest ? space->counts[u] : greatest;
    }
    uint32_t *room = sf_resize(NULL, 2 * total + SF_PLAN_GROUP * greatest + most, sizeof *room);
    s->buffer[0] = room;
    s->user = searcher->tally.is_caller ? query->index->users
                                        : sf_alloc(query->index->out->vertex_count, sizeof *s->user);
    if (room == NULL || s->user == NULL) return SF_NO_MEMORY;
    for (uint32_t u = 0; u < query->count; u++) {
        s->buffer[u] = room;
        room += space->counts[u];
    }
    s->all = room;
    for (uint32_t i = 0; i < most; i++)
        s->all[i] = i;
    s->scratch = room + most;
    return SF_OK;
}

void sf_lists_close(sf_searcher *searcher)
{
    sf_lists *s = (sf_lists *)searcher;
    sf_free(s->buffer[0]);
    if (!searcher->tally.is_caller) sf_free(s->user);
}

const sf_search_kind sf_search_by_lists = {.size = sizeof(sf_lists),
                                           .open = sf_lists_open,
                                           .close = sf_lists_close,
                                           .root = search_root,
                                           .part = search_part};
