/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/terms.h"

#include "graph/match/rows.h"
#include "graph/match/tuned.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_TERMS = 256, MOST_PAIRS = SF_TERM_MOST * (SF_TERM_MOST - 1) / 2 };

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
    bool too_many, prefers_tables;
    double budget; /* terms that may still be planned */
    double logs[SF_TERM_MOST]
               [SF_TERM_MOST];    /* of the term at hand: of counts, and of the share that is joined */
    double places[SF_TERM_MOST];  /* at most, of a block's list */
    double *costs;                /* of a component; -1: not known yet */
    double *table_costs;          /* of its table; infinite: it cannot have one */
    uint8_t *first, *table_first; /* the block that splits it, with a search and with tables */
} planner;

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
            least = fmin(least, s->counts[sf_lowest(left)]);
        p->places[a] = 0;
        for (uint32_t u = 0; u < p->query->count; u++)
            if (sf_query_can_share(p->query, u, sf_lowest(t->members[a])))
                p->places[a] = fmax(p->places[a], (double)s->labelled[u]);
        p->logs[a][a] = log(least);
        for (uint32_t b = 0; b < a; b++) {
            double share = 1;
            for (uint64_t us = t->members[a]; us != 0; us &= us - 1) {
                uint32_t u = sf_lowest(us);
                for (uint64_t ws = t->members[b] & p->query->required[u]; ws != 0; ws &= ws - 1) {
                    uint32_t w = sf_lowest(ws);
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
        uint32_t a = sf_lowest(left);
        for (uint32_t others = left; others != 0; others &= others - 1)
            sum += p->logs[a][sf_lowest(others)];
    }
    return fmin(exp(sum), 1e300);
}

static uint32_t neighbours(const sf_summand *t, uint32_t blocks)
{
    uint32_t near = 0;
    for (uint32_t left = blocks; left != 0; left &= left - 1)
        near |= t->near[sf_lowest(left)];
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

/* Links of two blocks, or pairs where nothing joins them. */
static double pairs_of(const planner *p, uint32_t a, uint32_t b)
{
    return exp(p->logs[a][b] + p->logs[a][a] + p->logs[b][b]);
}

/* Steps of the sum over `v` for each place of `row` and of `column`. */
static double cost_by_rows(const planner *p, const sf_summand *t, uint32_t v, uint32_t row, uint32_t column,
                           bool is_dense)
{
    const double values = p->places[row] * p->places[column];
    double each;
    if (values > MOST_VALUES || p->places[v] * p->places[column] > MOST_VALUES) return INFINITY;
    is_dense = is_dense || (t->near[v] >> column & 1) == 0;
    if (is_dense)
        each = VALUE_STEPS * p->places[column];
    else
        each = fmin(HUBS * pairs_of(p, v, column) / p->places[v], p->places[column]) * LINK_STEPS;
    return pairs_of(p, row, v) * each +
           2 * VALUE_STEPS * (values + (is_dense ? p->places[v] * p->places[column] : 0));
}

/* Steps to make the table of a component from those of what block v leaves of it. */
static double cost_of_table(const planner *p, const sf_summand *t, uint32_t component, uint32_t v,
                            uint32_t *row)
{
    const uint32_t bearing = neighbours(t, component);
    uint32_t dense = 0;
    if (bearing == 0) return LINK_STEPS * p->places[v];
    const uint32_t a = sf_lowest(bearing), b = 31 - (uint32_t)__builtin_clz(bearing);
    *row = a;
    if (a == b) return LINK_STEPS * pairs_of(p, a, v) + WORD_STEPS * p->places[a] * p->places[v] / 64;
    for (uint32_t rest = component & ~(1u << v), part; rest != 0; rest &= ~part) {
        part = first_component(t, rest);
        dense |= neighbours(t, part);
    }
    double by_a = cost_by_rows(p, t, v, a, b, (dense >> b & 1) != 0);
    double by_b = cost_by_rows(p, t, v, b, a, (dense >> a & 1) != 0);
    *row = by_b < by_a ? b : a;
    return fmin(by_a, by_b);
}

static double cost_of_tables(planner *p, const sf_summand *t, uint32_t component)
{
    double least = INFINITY;
    if (p->table_costs[component] >= 0) return p->table_costs[component];
    const bool can_be = __builtin_popcount(neighbours(t, component)) <= 2;
    for (uint32_t left = can_be ? component : 0; left != 0; left &= left - 1) {
        uint32_t v = sf_lowest(left), row;
        double cost = cost_of_table(p, t, component, v, &row);
        for (uint32_t rest = component & ~(1u << v), part; rest != 0 && cost < least; rest &= ~part) {
            part = first_component(t, rest);
            cost += cost_of_tables(p, t, part);
        }
        if (cost < least) {
            least = cost;
            p->table_first[component] = (uint8_t)v;
        }
    }
    return p->table_costs[component] = least;
}

/* Steps to count a component, by the best block to begin with: it is matched once for each way to match what
 * bears on the component, since counts are remembered. */
static double cost_of(planner *p, const sf_summand *t, uint32_t component)
{
    if ((component & (component - 1)) == 0) return 0; /* the bits of a set */
    if (p->costs[component] >= 0) return p->costs[component];
    uint32_t bearing = neighbours(t, component);
    double least = INFINITY;
    for (uint32_t left = component; left != 0; left &= left - 1) {
        uint32_t v = sf_lowest(left);
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
    const double tabled = cost_of_tables(p, t, component);
    return p->costs[component] = p->prefers_tables && tabled < INFINITY ? tabled : fmin(least, tabled);
}

/* Returns the block that splits the component. */
static uint32_t grow_tree(planner *p, sf_summand *t, uint32_t component, uint32_t above, bool in_table)
{
    const bool is_one = (component & (component - 1)) == 0;
    const bool starts_table = !in_table && !is_one && p->table_costs[component] <= p->costs[component];
    const bool has_table = in_table || starts_table;
    const uint32_t v = is_one      ? sf_lowest(component)
                       : has_table ? p->table_first[component]
                                   : p->first[component];
    t->tabled |= starts_table ? 1u << v : 0;
    t->below[v] = component;
    t->above[v] = above;
    t->bearing[v] = neighbours(t, component);
    t->reached[v] = expected(p, t->bearing[v]);
    if (has_table) t->effort[v] = cost_of_table(p, t, component, v, &t->rows[v]);
    for (uint32_t rest = component & ~(1u << v), part; rest != 0; rest &= ~part) {
        part = first_component(t, rest);
        t->children[v] |= 1u << grow_tree(p, t, part, above | 1u << v, has_table);
    }
    return v;
}

static void plan_term(planner *p, sf_summand *t)
{
    estimate_blocks(p, t);
    for (uint32_t component = 0; component < 1u << t->count; component++)
        p->costs[component] = p->table_costs[component] = -1;
    t->work = 0;
    for (uint32_t rest = (1u << t->count) - 1, part; rest != 0; rest &= ~part) {
        part = first_component(t, rest);
        t->work += cost_of(p, t, part);
        t->roots |= 1u << grow_tree(p, t, part, 0, false);
    }
    p->budget -= 1;
}

/* ---- inclusion and exclusion ---- */

static bool are_near(const planner *p, uint64_t block, uint64_t other)
{
    for (uint64_t left = block; left != 0; left &= left - 1)
        if ((p->near[sf_lowest(left)] & other) != 0) return true;
    return false;
}

static uint32_t block_of(const sf_summand *t, uint32_t u)
{
    uint32_t b = 0;
    while ((t->members[b] & sf_bit(u)) == 0)
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
    if (!p->too_many) p->terms[p->count++] = *t;
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
        if (!p->pairs[pair].left_out) continue;
        uint32_t a = block_of(t, p->pairs[pair].u), b = block_of(t, p->pairs[pair].w);
        if (a == b) return;                                      /* all of it is forbidden */
        if (are_near(p, t->members[a], t->members[b])) continue; /* the two differ anyway */
        sf_summand less = merged(t, a, b);
        expand(p, &less, pair + 1);
    }
    add_term(p, t);
}

static void find_near(const planner *p, sf_summand *t)
{
    for (uint32_t a = 0; a < t->count; a++) {
        for (uint32_t b = 0; b < t->count; b++) {
            if (a == b || !are_near(p, t->members[a], t->members[b])) continue;
            t->near[a] |= 1u << b;
            for (uint32_t i = 0; i < p->pair_count; i++) {
                uint64_t ends = sf_bit(p->pairs[i].u) | sf_bit(p->pairs[i].w);
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
        whole.members[u] = sf_bit(u);
        p->near[u] = p->query->constrained[u];
    }
    for (uint32_t i = 0; i < p->pair_count; i++) {
        if (p->pairs[i].left_out) continue;
        p->near[p->pairs[i].u] |= sf_bit(p->pairs[i].w);
        p->near[p->pairs[i].w] |= sf_bit(p->pairs[i].u);
    }
    expand(p, &whole, 0);
    size_t kept = 0;
    for (size_t i = 0; i < p->count && !p->too_many; i++)
        if (p->terms[i].factor != 0) p->terms[kept++] = p->terms[i];
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
    bool is_better = p->prefers_tables || improve(p) < work;
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
        whole.members[u] = sf_bit(u);
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
    if (q->semantics == SF_HOMOMORPHISM) return;
    for (uint32_t u = 0; u < q->count; u++) {
        for (uint32_t w = 0; w < u; w++) {
            if ((q->constrained[u] & sf_bit(w)) != 0 || !sf_query_can_share(q, u, w)) continue;
            p->pairs[p->pair_count].u = u;
            p->pairs[p->pair_count].w = w;
            p->pairs[p->pair_count++].left_out = false;
        }
    }
}

static int open_planner(planner *p)
{
    const size_t sets = (size_t)1 << p->query->count;
    p->terms = sf_resize(NULL, MOST_TERMS, sizeof *p->terms);
    p->costs = sf_resize(NULL, sets, sizeof *p->costs);
    p->table_costs = sf_resize(NULL, sets, sizeof *p->table_costs);
    p->first = sf_resize(NULL, sets, sizeof *p->first);
    p->table_first = sf_resize(NULL, sets, sizeof *p->table_first);
    bool has_memory = p->terms != NULL && p->costs != NULL && p->table_costs != NULL && p->first != NULL &&
                      p->table_first != NULL;
    return has_memory ? SF_OK : SF_NO_MEMORY;
}

static void close_planner(planner *p)
{
    sf_free(p->costs);
    sf_free(p->table_costs);
    sf_free(p->first);
    sf_free(p->table_first);
    sf_free(p->terms);
}

/* Whether the terms found are worth it, for a search that takes `steps` steps. */
static bool plan_terms(planner *p, double steps, int when)
{
    find_pairs(p);
    p->prefers_tables = when == SF_TERMS_TABLED;
    p->budget = fmin(10 + steps / STEPS_PER_TERM, 5000);
    double work = choose_pairs(p);
    return !p->too_many && (when != SF_TERMS_WORTH || work * STEP_RATIO < steps);
}

int sf_terms_open(sf_terms *terms, const sf_space *space, const sf_plan *plan, sf_error *error)
{
    *terms = (sf_terms){0};
    int when = atomic_load(&wanted);
    if (when == SF_TERMS_NEVER || plan->count > SF_TERM_MOST) return SF_OK;
    planner p = {.space = space, .query = space->query};
    double steps = steps_of(&p, plan);
    if ((when == SF_TERMS_WORTH && steps < WORTH_PLANNING) || !sf_rows_can_be_pairs(space)) return SF_OK;
    int status = open_planner(&p);
    if (status == SF_OK && plan_terms(&p, steps, when)) {
        terms->items = p.terms;
        terms->count = p.count;
        for (size_t i = 0; i < p.count; i++)
            terms->work += p.terms[i].work;
        p.terms = NULL;
    }
    close_planner(&p);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

void sf_terms_close(sf_terms *terms)
{
    sf_free(terms->items);
    *terms = (sf_terms){0};
}
