/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/estimate.h"

#include "graph/match/lists.h"
#include "graph/match/tuned.h"

#include "core/random.h"

#include <math.h>

enum { LEAST_DESCENTS = 32, MOST_DESCENTS = 8192 }; /* into the tree of the search */

/* Lengths of the lists that hold the candidates of a step. */
typedef struct lengths {
    double sum, least;
} lengths;

static lengths lengths_of(const sf_lists *s, const sf_order_step *step)
{
    lengths l = {0, s->base.search->space->counts[step->vertex]};
    for (uint64_t left = step->joined; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), length;
        sf_space_adjacent(s->base.search->space, w, step->vertex, s->base.place[w], &length);
        l.sum += length;
        l.least = length < l.least ? length : l.least;
    }
    return l;
}

/* What going through the candidates of a step by bitmaps takes: each cuts the domains of later vertices;
 * those of the last step of the core only count what they leave. */
static double domain_seconds(const sf_lists *s, uint32_t depth)
{
    const sf_rows *rows = s->base.search->rows;
    uint32_t core = s->base.search->plan->core;
    double words = 0;
    for (uint32_t i = 0; i < rows->effect_counts[depth]; i++)
        words += sf_rows_words(rows, rows->effects[depth][i].vertex);
    double each = (depth + 1 < core ? MATCH_SECONDS : COUNT_SECONDS) + WORD_SECONDS * words;
    return each * s->length[s->base.search->plan->steps[depth].vertex];
}

/* Vertices after the core that must differ are counted by inclusion and exclusion over all sets of them. */
static double group_seconds(const sf_lists *s, uint64_t group)
{
    const sf_match_search *search = s->base.search;
    double sets = exp2(__builtin_popcountll(group)), entries = 0;
    if ((group & (group - 1)) == 0 || !search->injective) return 0;
    if (search->rows != NULL) {
        double words = sf_rows_words(search->rows, (uint32_t)__builtin_ctzll(group));
        return sets * (SET_SECONDS + WORD_SECONDS * words);
    }
    for (; group != 0; group &= group - 1)
        entries += s->length[__builtin_ctzll(group)];
    return sets * (SET_SECONDS + ENTRY_SECONDS * entries);
}

/* Whether a device counts a vertex after the core by the length of its one list; else it tries a list. */
static bool is_counted(const sf_plan *plan, const sf_order_step *step)
{
    for (uint32_t g = 0; g < plan->group_count; g++)
        if (plan->groups[g] == UINT64_C(1) << step->vertex)
            return step->checked == 0 && step->greater == 0 && (step->joined & (step->joined - 1)) == 0;
    return false;
}

/* Sums over random ways down the tree, as if all branches were like those met; and what the descents took
 * themselves. */
typedef struct estimate {
    sf_random random;
    sf_match_sample all;
    double found, cost;
    uint32_t descents;
} estimate;

/* The candidate to which link e of its vertex belongs. */
static uint32_t owner_of(const sf_links *links, uint32_t candidates, uint64_t e)
{
    uint32_t low = 0;
    for (uint32_t left = candidates; left > 1;) { /* the last that begins no later */
        uint32_t half = left / 2;
        low += links->offsets[low + half] <= e ? half : 0;
        left -= half;
    }
    return low;
}

/* Draws one of the candidates of a step and returns for how many it stands. The first is drawn by its links
 * to the second, since most of the tree hangs on hubs. */
static double draw_candidate(sf_lists *s, sf_random *random, uint32_t depth)
{
    const sf_plan *plan = s->base.search->plan;
    const sf_space *space = s->base.search->space;
    uint32_t u = plan->steps[depth].vertex;
    bool is_first = depth == 0 && plan->core > 1 && plan->steps[1].joined == UINT64_C(1) << u;
    const sf_links *links = is_first ? &space->links[space->links_of[u][plan->steps[1].vertex]] : NULL;
    if (is_first && links->count > 0) {
        uint32_t place = owner_of(links, space->counts[u], sf_random_below(random, links->count));
        s->base.place[u] = place;
        return (double)links->count / (double)(links->offsets[place + 1] - links->offsets[place]);
    }
    s->base.place[u] = s->list[u][sf_random_below(random, s->length[u])];
    return s->length[u];
}

/* Adds a step that the search reaches `branches` times and whose candidates are known; returns what the step
 * took on this descent. */
static double add_step(sf_lists *s, estimate *e, uint32_t depth, double branches)
{
    const sf_plan *plan = s->base.search->plan;
    const sf_order_step *step = &plan->steps[depth];
    const bool is_core = depth < plan->core, by_rows = s->base.search->rows != NULL;
    lengths l = lengths_of(s, step);
    double seconds = LIST_STEP_SECONDS + ENTRY_SECONDS * (l.sum + s->length[step->vertex]);
    if (by_rows)
        e->all.seconds += branches * (is_core ? domain_seconds(s, depth) : 0);
    else
        e->all.seconds += branches * seconds;
    e->all.steps += is_core ? branches * s->length[step->vertex] : 0;
    e->all.tried += depth > 0 && (is_core || !is_counted(plan, step)) ? branches * l.least : 0;
    return depth > 0 ? seconds : LIST_STEP_SECONDS; /* the first candidates are no list */
}

static void descend_once(sf_lists *s, estimate *e)
{
    const sf_plan *plan = s->base.search->plan;
    double branches = 1;
    uint32_t depth = 0;
    for (; depth < plan->count; depth++) {
        const sf_order_step *step = &plan->steps[depth];
        uint32_t u = step->vertex;
        sf_lists_find(s, step);
        e->cost += add_step(s, e, depth, branches);
        if (depth >= plan->core) continue; /* not searched, only counted */
        if (s->length[u] == 0) break;
        branches *= draw_candidate(s, &e->random, depth);
        s->vertex[u] = s->base.search->space->candidates[u][s->base.place[u]];
        bool is_used = s->base.search->injective && s->user[s->vertex[u]] != 0;
        if (is_used || sf_lists_broken(s, u, step->checked, s->vertex[u]) != SF_NO_VERTEX) break;
        s->user[s->vertex[u]] = s->base.search->injective;
    }
    for (uint32_t g = 0; g < plan->group_count && depth == plan->count; g++)
        e->all.seconds += branches * group_seconds(s, plan->groups[g]);
    e->found += depth == plan->count ? branches : 0;
    e->descents++;
    for (uint32_t i = 0; i < depth && i < plan->core; i++)
        s->user[s->vertex[plan->steps[i].vertex]] = 0;
}

sf_match_sample sf_match_sample_tree(sf_match_search *search)
{
    const sf_match_job *job = search->job;
    estimate e = {.random = sf_random_start(1, 0)};
    sf_lists s = {.base.search = search};
    int status = sf_lists_open(&s.base);
    while (status == SF_OK &&
           (e.descents < LEAST_DESCENTS ||
            (e.descents < MOST_DESCENTS && e.cost < ESTIMATING * e.all.seconds / e.descents)))
        descend_once(&s, &e);
    sf_lists_close(&s.base);
    if (status != SF_OK) return (sf_match_sample){0};
    double share = job->list && e.found > (double)job->most * e.descents ? (double)job->most / e.found
                                                                         : 1.0 / e.descents;
    return (sf_match_sample){e.all.seconds * share, e.all.steps * share, e.all.tried * share};
}
