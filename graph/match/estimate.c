/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/estimate.h"

#include "graph/match/lists.h"

#include "core/random.h"

enum { LEAST_DESCENTS = 256, MOST_DESCENTS = 8192 }; /* into the tree of the search */

/* The share of a search that estimating it may take. */
#define ESTIMATING 0.02

/* Lists: what the candidates of a step take, and each entry of the lists that hold them. */
#define STEP_SECONDS 80e-9
#define ENTRY_SECONDS 1.7e-9

/* Bitmaps: what a candidate takes, one of the last step of the core, and each word that it cuts. */
#define MATCH_SECONDS 25e-9
#define COUNT_SECONDS 6e-9
#define WORD_SECONDS 0.25e-9

/* What finding the candidates of a step by lists takes. */
static double list_seconds(const sf_lists *s, const sf_order_step *step)
{
    double entries = s->length[step->vertex];
    for (uint64_t left = step->joined; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), length;
        sf_space_adjacent(s->base.search->space, w, step->vertex, s->base.place[w], &length);
        entries += length;
    }
    return STEP_SECONDS + ENTRY_SECONDS * entries;
}

/* What going through the candidates of a step by bitmaps takes: each cuts the domains of later vertices;
 * those of the last step of the core only count what they leave. */
static double domain_seconds(const sf_lists *s, uint32_t depth)
{
    const sf_rows *rows = s->base.search->rows;
    uint32_t core = s->base.search->plan->core;
    double words = 0;
    if (depth >= core)
        return 0;
    for (uint32_t i = 0; i < rows->effect_counts[depth]; i++)
        words += sf_rows_words(rows, rows->effects[depth][i].vertex);
    double each = (depth + 1 < core ? MATCH_SECONDS : COUNT_SECONDS) + WORD_SECONDS * words;
    return each * s->length[s->base.search->plan->steps[depth].vertex];
}

/* Sums over random ways down the tree: what it would take to search trees all of whose branches are like
 * those met, the embeddings in them, and what the descents took themselves. */
typedef struct estimate {
    sf_random random;
    double seconds, found, cost;
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

static void descend_once(sf_lists *s, estimate *e)
{
    const sf_plan *plan = s->base.search->plan;
    double branches = 1;
    uint32_t depth = 0;
    for (; depth < plan->count; depth++) {
        const sf_order_step *step = &plan->steps[depth];
        uint32_t u = step->vertex;
        sf_lists_find(s, step);
        double seconds = list_seconds(s, step);
        e->seconds += branches * (s->base.search->rows != NULL ? domain_seconds(s, depth) : seconds);
        e->cost += depth > 0 ? seconds : STEP_SECONDS; /* the first candidates are no list */
        if (depth >= plan->core)
            continue; /* not searched, only counted */
        if (s->length[u] == 0)
            break;
        branches *= draw_candidate(s, &e->random, depth);
        s->vertex[u] = s->base.search->space->candidates[u][s->base.place[u]];
        bool is_used = s->base.search->injective && s->user[s->vertex[u]] != 0;
        if (is_used || sf_lists_broken(s, u, step->checked, s->vertex[u]) != SF_NO_VERTEX)
            break;
        s->user[s->vertex[u]] = s->base.search->injective;
    }
    e->found += depth == plan->count ? branches : 0;
    e->descents++;
    for (uint32_t i = 0; i < depth && i < plan->core; i++)
        s->user[s->vertex[plan->steps[i].vertex]] = 0;
}

double sf_match_estimate(sf_match_search *search)
{
    const sf_match_job *job = search->job;
    estimate e = {.random = sf_random_start(1, 0)};
    sf_lists s = {.base.search = search};
    int status = sf_lists_open(&s.base);
    while (status == SF_OK && (e.descents < LEAST_DESCENTS ||
                               (e.descents < MOST_DESCENTS && e.cost < ESTIMATING * e.seconds / e.descents)))
        descend_once(&s, &e);
    sf_lists_close(&s.base);
    double seconds = e.seconds / (e.descents > 0 ? e.descents : 1);
    if (job->list && e.found > (double)job->most * e.descents)
        seconds *= (double)job->most * e.descents / e.found;
    return status == SF_OK ? seconds / (job->list ? 1 : job->threads) : 0;
}
