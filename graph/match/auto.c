/* SPDX-License-Identifier: Apache-2.0 */
/* Engine auto: depth-first search over the candidate space.
 *
 * A step intersects the candidates next to everything matched before it. Vertices at the end of the order, of
 * whom nothing is said together, are not searched but multiplied out. A failed branch reports which matched
 * vertices are to blame (failing sets, Han et al., SIGMOD 2019); where the vertex at hand is not among them,
 * its other candidates would fail alike and are skipped. Threads take candidates of the first vertex as they
 * come free, and when those are gone, parts of what others still search. */
#include "graph/match/device.h"
#include "graph/match/engine.h"
#include "graph/match/plan.h"
#include "graph/match/share.h"
#include "graph/match/sorted.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/thread.h"

#include <stdio.h>
#include <string.h>

enum {
    PATIENCE = 4096,      /* steps that one thread does before it shares what is left: starting others takes
                             as long */
    WORTH_A_LOOK = 2000,  /* estimated steps: fewer are done before a device has begun */
    LEAST_DESCENTS = 256, /* into the tree of the search, to estimate its size */
    MOST_DESCENTS = 8192
};

/* The share of a search that estimating it may take. */
#define ESTIMATING 0.02

/* What the CPU takes for the candidates of a step, and for each entry of the lists that hold them. */
#define STEP_SECONDS 80e-9
#define ENTRY_SECONDS 1.7e-9

typedef struct run {
    const sf_match_job *job;
    const sf_query *query;
    const sf_space *space;
    const sf_plan *plan;
    const sf_symmetry *symmetry; /* to divide the work by, or NULL */
    uint32_t *all;               /* 0, 1, 2, ...: every candidate of a vertex that nothing joins */
    bool injective;
    atomic_size_t next_root;
    sf_share *share; /* NULL on one thread */
    sf_match_watch watch;
    sf_plan own; /* of a device, */
    bool is_own; /* which has done it */
} run;

/* What one thread works with. */
typedef struct state {
    run *run;
    sf_match_tally tally;
    uint32_t vertex[SF_PATTERN_MOST]; /* data vertex of a pattern vertex */
    uint32_t place[SF_PATTERN_MOST];  /* its place among the candidates */
    const uint32_t *list[SF_PATTERN_MOST];
    uint32_t length[SF_PATTERN_MOST];
    uint32_t *buffer[SF_PATTERN_MOST]; /* room for its candidates */
    uint32_t *scratch;                 /* room for the lists of a group and their intersections */
    uint8_t *user;                     /* of a data vertex: one more than the pattern vertex it stands for */
    uint32_t cursor[SF_PATTERN_MOST];  /* of a step that is searched: the candidate at hand */
    uint32_t top;                      /* the first step whose candidates are this thread's to give away */
    uint64_t given;                    /* steps of which some were */
    uint64_t patience;                 /* steps of the search after which it leaves what is left */
} state;

static uint64_t bit(uint32_t u)
{
    return UINT64_C(1) << u;
}

/* ---- candidates ---- */

/* Adjacent candidates of all that u is joined with, the shortest list first. */
static void intersect(state *s, uint32_t u, uint64_t joined)
{
    const uint32_t *lists[SF_PATTERN_MOST];
    uint32_t lengths[SF_PATTERN_MOST], count = 0;
    for (; joined != 0; joined &= joined - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(joined), length;
        const uint32_t *list = sf_space_adjacent(s->run->space, w, u, s->place[w], &length);
        uint32_t i = count++;
        for (; i > 0 && lengths[i - 1] > length; i--) {
            lists[i] = lists[i - 1];
            lengths[i] = lengths[i - 1];
        }
        lists[i] = list;
        lengths[i] = length;
    }
    s->list[u] = count > 0 ? lists[0] : s->run->all;
    s->length[u] = count > 0 ? lengths[0] : s->run->space->counts[u];
    for (uint32_t i = 1; i < count; i++) {
        s->length[u] = sf_sorted_intersect(s->buffer[u], s->list[u], s->length[u], lists[i], lengths[i]);
        s->list[u] = s->buffer[u];
    }
}

/* Leaves out the candidates that are not greater than the data vertices of `greater`. */
static void cut_smaller(state *s, uint32_t u, uint64_t greater)
{
    uint32_t least = 0;
    for (uint64_t left = greater; left != 0; left &= left - 1) {
        uint32_t v = s->vertex[__builtin_ctzll(left)];
        least = v + 1 > least ? v + 1 : least;
    }
    const uint32_t *candidates = s->run->space->candidates[u], *list = s->list[u];
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

/* The first matched vertex with which v in the place of u breaks a condition, or SF_NO_VERTEX. */
static uint32_t find_broken(const state *s, uint32_t u, uint64_t checked, uint32_t v)
{
    const sf_query *q = s->run->query;
    for (; checked != 0; checked &= checked - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(checked);
        const sf_pair *pair = sf_query_pair(q, u, w);
        if (!sf_query_pair_fits(q, pair, u == pair->a ? v : s->vertex[w], u == pair->a ? s->vertex[w] : v))
            return w;
    }
    return SF_NO_VERTEX;
}

static void find_candidates(state *s, const sf_order_step *step)
{
    intersect(s, step->vertex, step->joined);
    if (step->greater != 0)
        cut_smaller(s, step->vertex, step->greater);
}

/* ---- the end of the order ---- */

/* Candidates of a vertex that is not searched, as data vertices: those that nothing matched uses and no
 * condition forbids. */
static uint32_t list_free(const state *s, const sf_order_step *step, uint32_t *out)
{
    uint32_t u = step->vertex, count = 0;
    const uint32_t *candidates = s->run->space->candidates[u];
    for (uint32_t i = 0; i < s->length[u]; i++) {
        uint32_t v = candidates[s->list[u][i]];
        if (s->run->injective && s->user[v] != 0)
            continue;
        if (step->checked == 0 || find_broken(s, u, step->checked, v) == SF_NO_VERTEX)
            out[count++] = v;
    }
    return count;
}

/* The same without the list, where nothing is checked: all but those that matched vertices use. */
static uint32_t count_free(const state *s, uint32_t u)
{
    const uint32_t *candidates = s->run->space->candidates[u], *list = s->list[u];
    const sf_plan *plan = s->run->plan;
    uint32_t count = s->length[u];
    for (uint32_t i = 0; i < plan->core && s->run->injective; i++) {
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

static uint64_t count_group(const state *s, uint64_t group)
{
    const uint32_t *lists[SF_PATTERN_MOST];
    uint32_t counts[SF_PATTERN_MOST], count = 0;
    uint32_t *next = s->scratch;
    const sf_order_step *first = sf_plan_step(s->run->plan, (uint32_t)__builtin_ctzll(group));
    bool is_single = (group & (group - 1)) == 0, are_same = true;
    if (is_single && first->checked == 0)
        return count_free(s, first->vertex);
    uint64_t product = 1;
    for (; group != 0; group &= group - 1, count++) {
        lists[count] = next;
        counts[count] = list_free(s, sf_plan_step(s->run->plan, (uint32_t)__builtin_ctzll(group)), next);
        next += counts[count];
        product = sf_saturated_multiply(product, counts[count]);
        are_same = are_same && counts[count] == counts[0] &&
                   memcmp(lists[count], lists[0], counts[0] * sizeof *lists[0]) == 0;
    }
    if (count == 1 || product == 0 || !s->run->injective)
        return product;
    return are_same ? sf_falling_factorial(counts[0], count) : sf_sorted_choices(lists, counts, count, next);
}

/* Every vertex of the core is matched: counts what the others make of it. */
static bool finish(state *s, uint64_t *blame)
{
    const sf_plan *plan = s->run->plan;
    uint64_t count = 1;
    for (uint32_t g = 0; g < plan->group_count && count > 0; g++)
        count = sf_saturated_multiply(count, count_group(s, plan->groups[g]));
    *blame = UINT64_MAX;
    if (count == 0)
        return false;
    sf_match_found(&s->tally, count, s->vertex);
    return true;
}

/* ---- the search ---- */

/* These return whether an embedding was found (or the search stopped), else *blame names the matched vertices
 * that make it fail. */

static bool search(state *s, uint32_t depth, uint64_t *blame);

/* Candidates of those vertices that are not searched and that a step decides: false where one has none. */
static bool find_decided(state *s, uint32_t depth, uint64_t *blame)
{
    const sf_plan *plan = s->run->plan;
    for (uint64_t left = plan->steps[depth].decided; left != 0; left &= left - 1) {
        const sf_order_step *step = sf_plan_step(plan, (uint32_t)__builtin_ctzll(left));
        find_candidates(s, step);
        if (s->length[step->vertex] == 0) {
            *blame = step->joined | step->greater;
            return false;
        }
    }
    return true;
}

/* With one more vertex matched, goes on to the next. */
static bool descend(state *s, uint32_t depth, uint64_t *blame)
{
    const sf_plan *plan = s->run->plan;
    if (!find_decided(s, depth, blame))
        return false;
    return depth + 1 == plan->core ? finish(s, blame) : search(s, depth + 1, blame);
}

static bool try_candidate(state *s, uint32_t depth, uint32_t place, uint64_t *blame)
{
    const sf_order_step *step = &s->run->plan->steps[depth];
    uint32_t u = step->vertex, v = s->run->space->candidates[u][place];
    if (s->run->injective && s->user[v] != 0) {
        *blame = bit(u) | bit((uint32_t)s->user[v] - 1);
        return false;
    }
    uint32_t broken = step->checked != 0 ? find_broken(s, u, step->checked, v) : SF_NO_VERTEX;
    if (broken != SF_NO_VERTEX) {
        *blame = bit(u) | bit(broken);
        return false;
    }
    s->vertex[u] = v;
    s->place[u] = place;
    s->user[v] = s->run->injective ? (uint8_t)(u + 1) : 0;
    bool found = descend(s, depth, blame);
    s->user[v] = 0;
    return found;
}

/* Candidates first .. last - 1 of a step, below what is matched before it. */
static sf_share_part part_of(const state *s, uint32_t depth, uint32_t first, uint32_t last)
{
    sf_share_part part = {.depth = depth, .first = first, .last = last};
    for (uint32_t k = 0; k < depth; k++)
        part.places[k] = s->place[s->run->plan->steps[k].vertex];
    return part;
}

/* Hands half of what is left of the shallowest step that has anything left to a thread that waits. What comes
 * of it is not known here, so such a step is to blame nobody. */
static void give_away(state *s, uint32_t depth)
{
    for (uint32_t d = s->top; d <= depth; d++) {
        uint32_t u = s->run->plan->steps[d].vertex, left = s->length[u] - s->cursor[d] - 1;
        if (left == 0)
            continue;
        sf_share_part part = part_of(s, d, s->length[u] - (left + 1) / 2, s->length[u]);
        if (sf_share_give(s->run->share, &part)) {
            s->length[u] = part.first;
            s->given |= bit(d);
        }
        return;
    }
}

/* True where the candidate at hand and those after it are others' now. */
static bool is_others(state *s, uint32_t depth)
{
    if (s->tally.steps > s->patience) {
        sf_share_part part =
            part_of(s, depth, s->cursor[depth], s->length[s->run->plan->steps[depth].vertex]);
        sf_share_leave(s->run->share, &part);
        return true;
    }
    if (s->run->share != NULL && sf_share_wanted(s->run->share) > 0)
        give_away(s, depth);
    return false;
}

/* Candidates of a step, from the one at its cursor on. */
static bool search_on(state *s, uint32_t depth, uint64_t *blame)
{
    const sf_order_step *step = &s->run->plan->steps[depth];
    uint32_t u = step->vertex;
    uint64_t all = 0;
    bool found = false;
    for (s->given &= ~bit(depth); s->cursor[depth] < s->length[u]; s->cursor[depth]++) {
        uint64_t one = 0;
        if (sf_match_step(&s->tally) || is_others(s, depth))
            return true;
        if (try_candidate(s, depth, s->list[u][s->cursor[depth]], &one)) {
            found = true;
        } else if ((one & bit(u)) == 0) {
            *blame = one; /* whatever stands for u, the same fails */
            return found || (s->given >> depth & 1) != 0;
        } else {
            all |= one;
        }
    }
    *blame = (all & ~bit(u)) | step->joined | step->greater;
    return found || (s->given >> depth & 1) != 0;
}

static bool search(state *s, uint32_t depth, uint64_t *blame)
{
    find_candidates(s, &s->run->plan->steps[depth]);
    s->cursor[depth] = 0;
    return search_on(s, depth, blame);
}

static void search_roots(state *s)
{
    run *r = s->run;
    const sf_order_step *step = &r->plan->steps[0];
    size_t roots = r->space->counts[step->vertex];
    uint64_t blame;
    s->top = 1;
    while (s->tally.steps <= s->patience) {
        size_t place = atomic_fetch_add_explicit(&r->next_root, 1, memory_order_relaxed);
        if (place >= roots || sf_match_step(&s->tally))
            return;
        try_candidate(s, 0, (uint32_t)place, &blame);
        atomic_fetch_add(&r->watch.done, 1);
    }
}

/* What another thread has handed over: its steps are matched as there, which fits. */
static void search_part(state *s, const sf_share_part *part)
{
    const sf_plan *plan = s->run->plan;
    uint64_t blame;
    for (uint32_t k = 0; k < part->depth; k++) {
        uint32_t u = plan->steps[k].vertex, v = s->run->space->candidates[u][part->places[k]];
        s->place[u] = part->places[k];
        s->vertex[u] = v;
        s->user[v] = s->run->injective ? (uint8_t)(u + 1) : 0;
        find_decided(s, k, &blame);
    }
    s->top = part->depth;
    find_candidates(s, &plan->steps[part->depth]);
    s->length[plan->steps[part->depth].vertex] = part->last;
    s->cursor[part->depth] = part->first;
    search_on(s, part->depth, &blame);
    for (uint32_t k = 0; k < part->depth; k++)
        s->user[s->vertex[plan->steps[k].vertex]] = 0;
}

static int search_by_thread(void *context, unsigned worker, size_t item)
{
    (void)item;
    state *s = (state *)context + worker;
    sf_share_part part;
    if (s->run->share != NULL)
        sf_share_enter(s->run->share);
    search_roots(s);
    while (s->run->share != NULL && sf_share_take(s->run->share, &part))
        search_part(s, &part);
    return 0;
}

/* ---- the whole ---- */

static int open_state(state *s, run *r, bool is_caller)
{
    *s = (state){.run = r, .tally = {.watch = &r->watch, .is_caller = is_caller}};
    size_t total = 0, greatest = 0;
    for (uint32_t u = 0; u < r->query->count; u++) {
        total += r->space->counts[u];
        greatest = r->space->counts[u] > greatest ? r->space->counts[u] : greatest;
    }
    uint32_t *room = sf_resize(NULL, 2 * total + 8 * greatest, sizeof *room);
    s->buffer[0] = room;
    s->user = sf_alloc(r->query->index->out->vertex_count, sizeof *s->user);
    if (room == NULL || s->user == NULL)
        return SF_NO_MEMORY;
    for (uint32_t u = 0; u < r->query->count; u++) {
        s->buffer[u] = room;
        room += r->space->counts[u];
    }
    s->scratch = room;
    return SF_OK;
}

static void close_state(state *s)
{
    sf_free(s->buffer[0]);
    sf_free(s->user);
}

/* 0, 1, 2, ... for the vertices that nothing before them is joined with. */
static int list_all(run *r)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < r->plan->count; i++) {
        const sf_order_step *step = &r->plan->steps[i];
        if (step->joined == 0 && r->space->counts[step->vertex] > most)
            most = r->space->counts[step->vertex];
    }
    r->all = sf_resize(NULL, most, sizeof *r->all);
    for (uint32_t i = 0; r->all != NULL && i < most; i++)
        r->all[i] = i;
    return r->all != NULL ? SF_OK : SF_NO_MEMORY;
}

/* One thread begins; where that does not end soon, all go on. */
static int search_by_all(run *r, state *states, unsigned *open)
{
    int status = open_state(&states[0], r, true);
    *open = 1;
    if (status != SF_OK)
        return status;
    r->watch.total = r->space->counts[r->plan->steps[0].vertex];
    states[0].patience = r->share != NULL ? PATIENCE : UINT64_MAX;
    search_roots(&states[0]);
    if (states[0].tally.steps <= states[0].patience || atomic_load(&r->watch.stop))
        return SF_OK;
    for (; *open < r->job->threads && status == SF_OK; ++*open)
        status = open_state(&states[*open], r, false);
    for (unsigned i = 0; i < *open; i++)
        states[i].patience = UINT64_MAX;
    if (status == SF_OK)
        sf_parallel_for(r->job->threads, r->job->threads, search_by_thread, states);
    r->job->result->shared = sf_share_count(r->share);
    r->job->result->given = sf_share_given(r->share);
    return status;
}

static int search_all(run *r, sf_error *error)
{
    unsigned threads = r->job->threads, open = 0;
    state *states = sf_alloc(threads, sizeof *states);
    const sf_match_tally **tallies = sf_resize(NULL, threads, sizeof *tallies);
    int status = states != NULL && tallies != NULL ? list_all(r) : SF_NO_MEMORY;
    if (status == SF_OK && threads > 1)
        status = sf_share_open(&r->share, threads, NULL);
    if (status == SF_OK)
        status = search_by_all(r, states, &open);
    for (unsigned i = 0; i < open && tallies != NULL; i++)
        tallies[i] = &states[i].tally;
    status = status == SF_OK ? sf_match_finish(&r->watch, tallies, open, error) : sf_fail_memory(error);
    sf_share_close(r->share);
    for (unsigned i = 0; i < open; i++)
        close_state(&states[i]);
    sf_free(states);
    sf_free(tallies);
    sf_free(r->all);
    return status;
}

/* ---- on a device ---- */

/* What finding the candidates of a step takes. */
static double step_seconds(const state *s, const sf_order_step *step)
{
    double entries = s->length[step->vertex];
    for (uint64_t left = step->joined; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), length;
        sf_space_adjacent(s->run->space, w, step->vertex, s->place[w], &length);
        entries += length;
    }
    return STEP_SECONDS + ENTRY_SECONDS * entries;
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
static double draw_candidate(state *s, sf_random *random, uint32_t depth)
{
    const sf_plan *plan = s->run->plan;
    const sf_space *space = s->run->space;
    uint32_t u = plan->steps[depth].vertex;
    bool is_first = depth == 0 && plan->core > 1 && plan->steps[1].joined == bit(u);
    const sf_links *links = is_first ? &space->links[space->links_of[u][plan->steps[1].vertex]] : NULL;
    if (is_first && links->count > 0) {
        uint32_t place = owner_of(links, space->counts[u], sf_random_below(random, links->count));
        s->place[u] = place;
        return (double)links->count / (double)(links->offsets[place + 1] - links->offsets[place]);
    }
    s->place[u] = s->list[u][sf_random_below(random, s->length[u])];
    return s->length[u];
}

static void descend_once(state *s, estimate *e)
{
    const sf_plan *plan = s->run->plan;
    double branches = 1;
    uint32_t depth = 0;
    for (; depth < plan->count; depth++) {
        const sf_order_step *step = &plan->steps[depth];
        uint32_t u = step->vertex;
        find_candidates(s, step);
        double seconds = step_seconds(s, step);
        e->seconds += branches * seconds;
        e->cost += depth > 0 ? seconds : STEP_SECONDS; /* the first candidates are no list */
        if (depth >= plan->core)
            continue; /* not searched, only counted */
        if (s->length[u] == 0)
            break;
        branches *= draw_candidate(s, &e->random, depth);
        s->vertex[u] = s->run->space->candidates[u][s->place[u]];
        bool is_used = s->run->injective && s->user[s->vertex[u]] != 0;
        if (is_used || find_broken(s, u, step->checked, s->vertex[u]) != SF_NO_VERTEX)
            break;
        s->user[s->vertex[u]] = s->run->injective;
    }
    e->found += depth == plan->count ? branches : 0;
    e->descents++;
    for (uint32_t i = 0; i < depth && i < plan->core; i++)
        s->user[s->vertex[plan->steps[i].vertex]] = 0;
}

/* What the CPU would need, by the size of the tree (Knuth, Mathematics of Computation 29, 1975). Listing ends
 * early where there is more than is asked for. */
static double estimate_seconds(const void *context)
{
    run *r = (run *)(uintptr_t)context;
    const sf_match_job *job = r->job;
    if (r->plan->work < WORTH_A_LOOK)
        return 0;
    estimate e = {.random = sf_random_start(1, 0)};
    state s;
    int status = open_state(&s, r, false);
    if (status == SF_OK)
        status = list_all(r);
    while (status == SF_OK && (e.descents < LEAST_DESCENTS ||
                               (e.descents < MOST_DESCENTS && e.cost < ESTIMATING * e.seconds / e.descents)))
        descend_once(&s, &e);
    double seconds = e.seconds / (e.descents > 0 ? e.descents : 1);
    if (job->list && e.found > (double)job->most * e.descents)
        seconds *= (double)job->most * e.descents / e.found;
    seconds /= job->list ? 1 : job->threads;
    job->result->estimate_s = seconds;
    close_state(&s);
    sf_free(r->all);
    r->all = NULL;
    return status == SF_OK ? seconds : 0;
}

static int search_here(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    return search_all(job, error);
}

/* Along a plan of its own. Where there is more than can be listed, the CPU lists the first. */
static int search_there(void *job, sf_crew *crew, sf_error *error)
{
    run *r = job;
    bool lists = r->job->list;
    sf_match_device_plan(&r->own, r->space, r->symmetry, !lists);
    r->own.factor = lists ? 1 : r->own.factor;
    int status = sf_match_on_device(crew->members[0].device, r->job, r->space, &r->own, &r->is_own, error);
    return status == SF_OK && !r->is_own ? search_all(r, error) : status;
}

const sf_way sf_match_auto_here = {.engine = "auto", .estimate = estimate_seconds, .run = search_here};
const sf_way sf_match_auto_there = {
    .engine = "auto", .on_devices = true, .supports = sf_match_supports, .run = search_there};

static int search_anywhere(run *r, sf_plan *plan, sf_error *error)
{
    sf_ran ran;
    int status = sf_match_choose_and_run("auto", r->job->device, r, &ran, error);
    if (r->is_own)
        *plan = r->own;
    else
        snprintf(ran.device, sizeof ran.device, "cpu");
    sf_match_tell(r->job->result, &ran);
    return status;
}

/* ---- the result ---- */

/* Data vertices that are a candidate of nothing. */
static uint64_t count_useless(const sf_space *space)
{
    const sf_match_index *index = space->query->index;
    uint64_t useful = 0;
    for (int pass = 0; pass < 2; pass++) { /* marks them, then cleans up */
        for (uint32_t u = 0; u < space->query->count; u++) {
            for (uint32_t i = 0; i < space->counts[u]; i++) {
                uint64_t *mask = &index->masks[space->candidates[u][i]];
                useful += pass == 0 && *mask == 0;
                *mask = pass == 0;
            }
        }
    }
    return index->out->vertex_count - useful;
}

static void describe(const sf_space *space, const sf_plan *plan, sf_match_result *result)
{
    result->blacklisted = space->is_empty ? space->query->index->out->vertex_count : count_useless(space);
    for (uint32_t i = 0; i < plan->count; i++) {
        result->order[i] = plan->steps[i].vertex;
        result->candidates[i] = space->counts[i];
        result->labelled[i] = space->labelled[i];
    }
}

static int run_auto(const sf_match_job *job, sf_error *error)
{
    sf_space space;
    int status = sf_space_open(&space, job->query, job->threads, error);
    if (status != SF_OK)
        return status;
    sf_plan plan = {.count = job->query->count, .factor = 1};
    for (uint32_t u = 0; u < plan.count; u++)
        plan.steps[u].vertex = u;
    bool symmetric = job->list ? job->distinct : job->query->semantics != SF_HOMOMORPHISM;
    if (!space.is_empty) {
        run r = {.job = job,
                 .query = job->query,
                 .space = &space,
                 .plan = &plan,
                 .symmetry = symmetric ? job->symmetry : NULL,
                 .injective = job->query->semantics != SF_HOMOMORPHISM};
        sf_plan_make(&plan, &space, r.symmetry, job->list ? 0 : SF_PLAN_GROUP);
        plan.factor = job->list ? 1 : plan.factor; /* one of each is listed */
        r.watch = (sf_match_watch){.job = job, .factor = plan.factor};
        status = search_anywhere(&r, &plan, error);
    }
    describe(&space, &plan, job->result);
    sf_space_close(&space);
    return status;
}

const sf_match_engine sf_match_engine_auto = {"auto", run_auto};
