/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/terms.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_TERMS = 256, MOST_PAIRS = SF_TERM_MOST * (SF_TERM_MOST - 1) / 2 };

/* A search of fewer steps is over before terms are planned. */
#define WORTH_PLANNING 3e5

/* Steps of terms that are worth one of a search. Links are taken for independent, which around hubs they are
 * not: what is expected of many vertices, as a search matches, is too little by more than of the few of a
 * component (6 to 30 times with 7 vertices of a power-law graph). */
#define STEP_RATIO 0.5

/* Of the steps that a search takes, for how many one term is planned. */
#define STEPS_PER_TERM 2e4

static atomic_int wanted = SF_TERMS_WORTH;

typedef struct planner {
    const sf_space *space;
    const sf_query *query;
    uint64_t near[SF_TERM_MOST]; /* of a vertex: what is said something of, and what it is kept apart from */
    struct {
        uint32_t u, w;
        bool left_out;
    } pairs[MOST_PAIRS]; /* that only must not share a data vertex */
    uint32_t pair_count;
    sf_summand *terms;
    size_t count;
    bool too_many;
    double budget; /* terms that may still be planned */
    double logs[SF_TERM_MOST]
               [SF_TERM_MOST]; /* of the term at hand: of counts, and of the share that is joined */
    double *costs;             /* of a component; -1: not known yet */
    uint8_t *first;            /* the block that splits it */
} planner;

static uint64_t bit(uint32_t u)
{
    return UINT64_C(1) << u;
}

static uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

void sf_terms_when(int when)
{
    atomic_store(&wanted, when);
}

/* ---- the tree of a term ---- */

static void estimate_blocks(planner *p, const sf_summand *t)
{
    const sf_space *s = p->space;
    for (uint32_t a = 0; a < t->count; a++) {
        double least = INFINITY;
        for (uint64_t left = t->members[a]; left != 0; left &= left - 1)
            least = fmin(least, s->counts[lowest(left)]);
        p->logs[a][a] = log(least);
        for (uint32_t b = 0; b < a; b++) {
            double share = 1;
            for (uint64_t us = t->members[a]; us != 0; us &= us - 1) {
                uint32_t u = lowest(us);
                for (uint64_t ws = t->members[b] & p->query->required[u]; ws != 0; ws &= ws - 1) {
                    uint32_t w = lowest(ws);
                    double links = (double)s->links[s->links_of[w][u]].count;
                    share = fmin(share, links / ((double)s->counts[w] * s->counts[u]));
                }
            }
            p->logs[a][b] = p->logs[b][a] = log(fmax(share, 1e-30));
        }
    }
}

/* Ways to match a set of blocks, if links were independent. */
static double expected(const planner *p, uint32_t blocks)
{
    double sum = 0;
    for (uint32_t left = blocks; left != 0; left &= left - 1) {
        uint32_t a = lowest(left);
        for (uint32_t others = left; others != 0; others &= others - 1)
            sum += p->logs[a][lowest(others)];
    }
    return fmin(exp(sum), 1e300);
}

static uint32_t neighbours(const sf_summand *t, uint32_t blocks)
{
    uint32_t near = 0;
    for (uint32_t left = blocks; left != 0; left &= left - 1)
        near |= t->near[lowest(left)];
    return near & ~blocks;
}

/* The component of `blocks` that holds the first of them. */
static uint32_t first_component(const sf_summand *t, uint32_t blocks)
{
    uint32_t component = blocks & (0 - blocks), more = component;
    while (more != 0) {
        more = neighbours(t, component) & blocks;
        component |= more;
    }
    return component;
}

/* Steps to count a component, by the best block to begin with: it is matched once for each way to match what
 * bears on the component, since counts are remembered. */
static double cost_of(planner *p, const sf_summand *t, uint32_t component)
{
    if ((component & (component - 1)) == 0)
        return 0; /* the bits of a set */
    if (p->costs[component] >= 0)
        return p->costs[component];
    uint32_t bearing = neighbours(t, component);
    double least = INFINITY;
    for (uint32_t left = component; left != 0; left &= left - 1) {
        uint32_t v = lowest(left);
        double cost = expected(p, bearing | 1u << v);
        for (uint32_t rest = component & ~(1u << v), part; rest != 0 && cost < least; rest &= ~part) {
            part = first_component(t, rest);
            cost += cost_of(p, t, part);
        }
        if (cost < least || left == component) {
            least = cost;
            p->first[component] = (uint8_t)v;
        }
    }
    return p->costs[component] = least;
}

/* Returns the block that splits the component. */
static uint32_t grow_tree(planner *p, sf_summand *t, uint32_t component, uint32_t above)
{
    bool is_one = (component & (component - 1)) == 0;
    uint32_t v = is_one ? lowest(component) : p->first[component];
    t->below[v] = component;
    t->above[v] = above;
    t->bearing[v] = neighbours(t, component);
    t->reached[v] = expected(p, t->bearing[v]);
    for (uint32_t rest = component & ~(1u << v), part; rest != 0; rest &= ~part) {
        part = first_component(t, rest);
        t->children[v] |= 1u << grow_tree(p, t, part, above | 1u << v);
    }
    return v;
}

static void plan_term(planner *p, sf_summand *t)
{
    estimate_blocks(p, t);
    for (uint32_t component = 0; component < 1u << t->count; component++)
        p->costs[component] = -1;
    t->work = 0;
    for (uint32_t rest = (1u << t->count) - 1, part; rest != 0; rest &= ~part) {
        part = first_component(t, rest);
        t->work += cost_of(p, t, part);
        t->roots |= 1u << grow_tree(p, t, part, 0);
    }
    p->budget -= 1;
}

/* ---- inclusion and exclusion ---- */

static bool are_near(const planner *p, uint64_t block, uint64_t other)
{
    for (uint64_t left = block; left != 0; left &= left - 1)
        if ((p->near[lowest(left)] & other) != 0)
            return true;
    return false;
}

static uint32_t block_of(const sf_summand *t, uint32_t u)
{
    uint32_t b = 0;
    while ((t->members[b] & bit(u)) == 0)
        b++;
    return b;
}

static void add_term(planner *p, const sf_summand *t)
{
    for (size_t i = 0; i < p->count; i++) {
        sf_summand *same = &p->terms[i];
        if (same->count == t->count && memcmp(same->members, t->members, sizeof t->members) == 0) {
            same->factor += t->factor;
            return;
        }
    }
    p->too_many = p->too_many || p->count == MOST_TERMS;
    if (!p->too_many)
        p->terms[p->count++] = *t;
}

/* The larger of the two goes into the smaller, so that equal terms have equal blocks. */
static sf_summand merged(const sf_summand *t, uint32_t a, uint32_t b)
{
    sf_summand m = *t;
    uint32_t into = a < b ? a : b, from = a < b ? b : a;
    m.members[into] |= m.members[from];
    m.count--;
    memmove(&m.members[from], &m.members[from + 1], (m.count - from) * sizeof *m.members);
    m.members[m.count] = 0;
    m.factor = -m.factor;
    return m;
}

/* Without the conditions of the pairs from `pair` on that are left out, less what they forbid. */
static void expand(planner *p, const sf_summand *t, uint32_t pair)
{
    for (; pair < p->pair_count && !p->too_many; pair++) {
        if (!p->pairs[pair].left_out)
            continue;
        uint32_t a = block_of(t, p->pairs[pair].u), b = block_of(t, p->pairs[pair].w);
        if (a == b)
            return; /* all of it is forbidden */
        if (are_near(p, t->members[a], t->members[b]))
            continue; /* the two differ anyway */
        sf_summand less = merged(t, a, b);
        expand(p, &less, pair + 1);
    }
    add_term(p, t);
}

static void find_near(const planner *p, sf_summand *t)
{
    for (uint32_t a = 0; a < t->count; a++) {
        for (uint32_t b = 0; b < t->count; b++) {
            if (a == b || !are_near(p, t->members[a], t->members[b]))
                continue;
            t->near[a] |= 1u << b;
            for (uint32_t i = 0; i < p->pair_count; i++) {
                uint64_t ends = bit(p->pairs[i].u) | bit(p->pairs[i].w);
                if (!p->pairs[i].left_out && (ends & t->members[a]) != 0 && (ends & t->members[b]) != 0)
                    t->apart[a] |= 1u << b;
            }
        }
    }
}

/* Steps of all terms as pairs are left out now; infinite where there are too many. */
static double make_terms(planner *p)
{
    const uint32_t vertices = p->query->count;
    sf_summand whole = {.factor = 1, .count = vertices};
    double work = 0;
    p->count = 0;
    p->too_many = false;
    for (uint32_t u = 0; u < vertices; u++) {
        whole.members[u] = bit(u);
        p->near[u] = p->query->constrained[u];
    }
    for (uint32_t i = 0; i < p->pair_count; i++) {
        if (p->pairs[i].left_out)
            continue;
        p->near[p->pairs[i].u] |= bit(p->pairs[i].w);
        p->near[p->pairs[i].w] |= bit(p->pairs[i].u);
    }
    expand(p, &whole, 0);
    size_t kept = 0;
    for (size_t i = 0; i < p->count && !p->too_many; i++)
        if (p->terms[i].factor != 0)
            p->terms[kept++] = p->terms[i];
    p->count = kept;
    for (size_t i = 0; i < p->count; i++) {
        find_near(p, &p->terms[i]);
        plan_term(p, &p->terms[i]);
        work += p->terms[i].work;
    }
    return p->too_many ? INFINITY : work;
}

/* From what is left out now, changes one pair after another as long as that saves steps. */
static double improve(planner *p)
{
    double work = make_terms(p);
    for (bool again = true; again && p->budget > 0;) {
        again = false;
        for (uint32_t i = 0; i < p->pair_count && p->budget > 0; i++) {
            p->pairs[i].left_out = !p->pairs[i].left_out;
            double changed = make_terms(p);
            again = again || changed < work;
            if (changed < work)
                work = changed;
            else
                p->pairs[i].left_out = !p->pairs[i].left_out;
        }
    }
    return work;
}

/* All conditions kept, or all left out, and the best from there. */
static double choose_pairs(planner *p)
{
    bool kept[MOST_PAIRS];
    double work = improve(p);
    for (uint32_t i = 0; i < p->pair_count; i++) {
        kept[i] = p->pairs[i].left_out;
        p->pairs[i].left_out = true;
    }
    bool is_better = improve(p) < work;
    for (uint32_t i = 0; i < p->pair_count && !is_better; i++)
        p->pairs[i].left_out = kept[i];
    return make_terms(p);
}

/* ---- what the search would take ---- */

static double steps_of(planner *p, const sf_plan *plan)
{
    sf_summand whole = {.count = plan->count};
    uint32_t matched = 0;
    double steps = 0;
    for (uint32_t u = 0; u < plan->count; u++)
        whole.members[u] = bit(u);
    estimate_blocks(p, &whole);
    for (uint32_t i = 0; i < plan->core; i++) {
        matched |= 1u << plan->steps[i].vertex;
        steps += expected(p, matched);
    }
    return steps / (double)plan->factor;
}

static void find_pairs(planner *p)
{
    const sf_query *q = p->query;
    if (q->semantics == SF_HOMOMORPHISM)
        return;
    for (uint32_t u = 0; u < q->count; u++) {
        for (uint32_t w = 0; w < u; w++) {
            if ((q->constrained[u] & bit(w)) != 0 || !sf_query_can_share(q, u, w))
                continue;
            p->pairs[p->pair_count].u = u;
            p->pairs[p->pair_count].w = w;
            p->pairs[p->pair_count++].left_out = false;
        }
    }
}

static int plan_terms(planner *p, const sf_plan *plan, int when, bool *is_worth)
{
    p->terms = sf_alloc(MOST_TERMS, sizeof *p->terms);
    p->costs = sf_resize(NULL, (size_t)1 << SF_TERM_MOST, sizeof *p->costs);
    p->first = sf_resize(NULL, (size_t)1 << SF_TERM_MOST, sizeof *p->first);
    if (p->terms == NULL || p->costs == NULL || p->first == NULL)
        return SF_NO_MEMORY;
    double steps = steps_of(p, plan);
    if (when == SF_TERMS_WORTH && steps < WORTH_PLANNING)
        return SF_OK;
    find_pairs(p);
    p->budget = fmin(10 + steps / STEPS_PER_TERM, 5000);
    double work = choose_pairs(p);
    *is_worth = !p->too_many && (when == SF_TERMS_ALWAYS || work * STEP_RATIO < steps);
    return SF_OK;
}

int sf_terms_open(sf_terms *terms, const sf_space *space, const sf_plan *plan, sf_error *error)
{
    *terms = (sf_terms){0};
    planner p = {.space = space, .query = space->query};
    int when = atomic_load(&wanted);
    bool is_worth = false;
    if (when == SF_TERMS_NEVER || plan->count > SF_TERM_MOST)
        return SF_OK;
    int status = plan_terms(&p, plan, when, &is_worth);
    sf_free(p.costs);
    sf_free(p.first);
    if (status == SF_OK && is_worth) {
        terms->items = p.terms;
        terms->count = p.count;
        for (size_t i = 0; i < p.count; i++)
            terms->work += p.terms[i].work;
    } else {
        sf_free(p.terms);
    }
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

void sf_terms_close(sf_terms *terms)
{
    sf_free(terms->items);
    *terms = (sf_terms){0};
}
