/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/made_space.h"

#include "graph/match/candidates.h"
#include "graph/match/cost.h"
#include "graph/match/lend.h"
#include "graph/match/needs.h"

#include "core/backend/find.h"
#include "core/backend/match.h"
#include "core/backend/watch.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    MOST = SF_BACKEND_MATCH_MOST,
    BLOCK = 4096 /* data vertices that a thread of the CPU takes at a time */
};

static atomic_int wanted = SF_MADE_WORTH;

void sf_made_when(int when)
{
    atomic_store(&wanted, when);
}

/* ---- where ---- */

/* Attributes of edges and those of two vertices are compared on the CPU alone. */
static bool can_be(const sf_query *q)
{
    bool can = q->count <= MOST && !q->impossible && q->index->out->vertex_count > 0;
    for (size_t p = 0; p < q->pair_count && can; p++) {
        const sf_pair *pair = &q->pairs[p];
        can = pair->relation_count == 0;
        for (size_t i = pair->first_edge; i < pair->first_edge + pair->edge_count && can; i++)
            can = q->edges[i].term_count == 0;
    }
    return can;
}

static sf_device *find_device(const char *name, bool is_any, const sf_match_cost *cost)
{
    sf_device *device = NULL;
    if (is_any)
        device = sf_device_auto(cost->here, cost->there, NULL);
    else if (sf_device_find(&device, name, NULL) != SF_OK)
        return NULL;
    bool can = device != NULL && !sf_device_sick(device, NULL) && sf_device_backend(device)->match != NULL;
    return can ? device : NULL;
}

/* The graph goes to the device once queries have taken as long as copying it does: nobody knows how many more
 * will come, and so it takes no more than twice as long as it had to. */
sf_device *sf_made_device(const sf_query *query, const char *name, unsigned threads, double deadline)
{
    int when = atomic_load(&wanted);
    bool is_any = name == NULL || strcmp(name, "auto") == 0;
    if (when == SF_MADE_NEVER || (!is_any && strcmp(name, "cpu") == 0) || !can_be(query)) return NULL;
    sf_match_cost cost = sf_match_cost_of_space(query, threads, !is_any);
    if (when == SF_MADE_WORTH && cost.here <= cost.there) return NULL;
    sf_device *device = find_device(name, is_any, &cost);
    if (device == NULL) return NULL;
    sf_match_there *there = query->index->there;
    bool is_there = there->data != NULL && there->device == device;
    double copying = is_there ? 0 : sf_match_cost_of_copying(query->index);
    there->spared += cost.here - cost.there;
    if (deadline > 0 && sf_clock_seconds() + copying > deadline) return NULL;
    return when == SF_MADE_ALWAYS || there->spared > copying ? device : NULL;
}

/* ---- what a device is asked for ---- */

typedef struct asked {
    sf_space *space;
    unsigned threads;
    sf_need items[2 * SF_PATTERN_MOST];
    sf_backend_need listed[MOST][2 * SF_PATTERN_MOST];
    uint32_t *allowed[MOST];
    sf_backend_space_job job;
} asked;

static void ask_vertex(asked *a, uint32_t u)
{
    const sf_query *q = a->space->query;
    sf_needs n;
    sf_needs_list(&n, a->items, q, u);
    bool has_labels = q->index->label_count > 1; /* else degrees say it all */
    for (size_t i = 0; i < n.count && has_labels; i++)
        a->listed[u][i] = (sf_backend_need){n.items[i].label, n.items[i].count, n.items[i].out};
    sf_backend_space_vertex *v = &a->job.vertices[u];
    *v = (sf_backend_space_vertex){.label = has_labels ? q->labels[u] : SF_ANY_LABEL,
                                   .out_degree = n.out_degree,
                                   .in_degree = n.in_degree,
                                   .needs = a->listed[u],
                                   .need_count = has_labels ? (uint32_t)n.count : 0,
                                   .required = (uint32_t)q->required[u]};
    for (uint64_t left = q->required[u]; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        v->out |= (uint32_t)sf_query_leads(q, u, w) << w;
    }
}

/* What the pattern says of the attributes and loops of a vertex is looked up here. */
static int allow(asked *a, uint32_t u)
{
    int status = sf_query_allow(a->space->query, u, a->threads, &a->allowed[u]);
    a->job.vertices[u].allowed = a->allowed[u];
    return status;
}

static int ask(asked *a, sf_error *error)
{
    int status = SF_OK;
    a->job.count = a->space->query->count;
    a->job.rounds = SF_CANDIDATES_ROUNDS;
    for (uint32_t u = 0; u < a->job.count && status == SF_OK; u++) {
        ask_vertex(a, u);
        status = allow(a, u);
    }
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* ---- on the device ---- */

static void take_answer(sf_space *s, const sf_backend_space_answer *answer)
{
    s->is_empty = answer->is_empty;
    s->useless = s->query->index->out->vertex_count - (answer->is_empty ? 0 : answer->useful);
    for (uint32_t u = 0; u < s->query->count; u++) {
        s->counts[u] = answer->counts[u];
        s->twin[u] = answer->twin[u];
        s->labelled[u] = u < answer->filtered ? sf_match_members(s->query->index, s->query->labels[u]) : 0;
    }
}

static bool *flag_of(sf_backend_link *link, bool out, bool absent)
{
    if (out) return absent ? &link->no_out : &link->out;
    return absent ? &link->no_in : &link->in;
}

/* All that a pair of vertices says, from w to u. */
static sf_backend_link link_of(const sf_query *q, uint32_t w, uint32_t u, sf_backend_link_edge *edges)
{
    const sf_pair *pair = sf_query_pair(q, w, u);
    sf_backend_link link = {.from = w, .to = u, .plain = pair->plain, .edges = edges};
    *flag_of(&link, w == pair->a, false) = pair->forward;
    *flag_of(&link, w != pair->a, false) = pair->backward;
    *flag_of(&link, w == pair->a, true) = pair->no_forward;
    *flag_of(&link, w != pair->a, true) = pair->no_backward;
    link.along = link.out;
    for (size_t i = pair->first_edge; i < pair->first_edge + pair->edge_count; i++) {
        const sf_bound_edge *edge = &q->edges[i];
        edges[link.edge_count++] = (sf_backend_link_edge){edge->label, edge->from == w, edge->absent};
    }
    return link;
}

typedef struct linking {
    const sf_space *space;
    sf_backend_link *links;
    sf_backend_link_edge *edges; /* of all links */
    uint64_t *totals;
    uint32_t count, number;
} linking;

static int link_held(void *context, sf_device *device, sf_error *failure)
{
    linking *l = context;
    return sf_device_backend(device)->match->space_link(l->space->made, l->links, l->count, &l->number,
                                                        l->totals, failure);
}

static int reserve_links(linking *l, size_t count, sf_error *error)
{
    size_t edges = l->space->query->edge_count;
    l->links = sf_alloc(count, sizeof *l->links);
    l->edges = sf_alloc(count * edges, sizeof *l->edges);
    l->totals = sf_alloc(count, sizeof *l->totals);
    return l->links != NULL && l->edges != NULL && l->totals != NULL ? SF_OK : sf_fail_memory(error);
}

static void free_links(linking *l)
{
    sf_free(l->links);
    sf_free(l->edges);
    sf_free(l->totals);
}

static int link_all(sf_space *s, sf_device *device, sf_error *failure)
{
    linking l = {.space = s};
    if (sf_space_name_links(s) != SF_OK) return sf_fail_memory(failure);
    int status = reserve_links(&l, s->links_count, failure);
    for (; l.count < s->links_count && status == SF_OK; l.count++)
        l.links[l.count] = link_of(s->query, s->links[l.count].from, s->links[l.count].to,
                                   l.edges + l.count * s->query->edge_count);
    if (status == SF_OK) status = link_held(&l, device, failure);
    for (size_t i = 0; i < s->links_count && status == SF_OK; i++)
        s->links[i].count = l.totals[i];
    free_links(&l);
    return status;
}

static int make_held(void *context, sf_device *device, sf_error *failure)
{
    asked *a = context;
    sf_space *s = a->space;
    sf_match_there *there = s->query->index->there;
    sf_backend_space_answer answer = {0};
    int status = sf_match_lend(s->query->index, device, a->job.watch, failure);
    if (status == SF_OK)
        status =
            sf_device_backend(device)->match->space_open(&s->made, there->data, &a->job, &answer, failure);
    if (status == SF_OK && answer.lost) {
        sf_match_forget(s->query->index);
        status = sf_fail(failure, SF_UNAVAILABLE, NULL,
                         "the graph was given back, since other jobs lacked memory");
    }
    if (status != SF_OK) return status;
    take_answer(s, &answer);
    return s->is_empty ? SF_OK : link_all(s, device, failure);
}

int sf_made_open(sf_space *space, const sf_query *query, sf_device *device, unsigned threads,
                 const sf_backend_watch *watch, sf_error *error)
{
    asked *a = sf_alloc(1, sizeof *a);
    if (a == NULL) return sf_fail_memory(error);
    sf_space_begin(space, query, threads);
    space->device = device;
    sf_match_recall(query->index, device);
    a->space = space;
    a->threads = threads;
    a->job.watch = watch;
    int status = ask(a, error);
    if (status == SF_OK) status = sf_device_do(device, make_held, a, error);
    for (uint32_t u = 0; u < MOST; u++)
        sf_free(a->allowed[u]);
    sf_free(a);
    if (status != SF_OK) sf_space_close(space);
    return status;
}

int sf_made_exclude(const sf_space *space, uint32_t w, uint32_t u, uint32_t *number, sf_error *error)
{
    linking l = {.space = space, .count = 1};
    int status = reserve_links(&l, 1, error);
    if (status == SF_OK) {
        l.links[0] = link_of(space->query, w, u, l.edges);
        l.links[0].excluded = true;
        status = sf_device_do(space->device, link_held, &l, error);
    }
    *number = status == SF_OK ? l.number : 0;
    free_links(&l);
    return status;
}

/* ---- to the host ---- */

/* One set of candidates, or one set of links. */
typedef struct reading {
    const sf_space *space;
    uint32_t vertex, *candidates, link;
    sf_links *links;
} reading;

static int read_held(void *context, sf_device *device, sf_error *failure)
{
    const reading *r = context;
    return sf_device_backend(device)->match->space_read(r->space->made, r->vertex, r->candidates, r->link,
                                                        r->links != NULL ? r->links->offsets : NULL,
                                                        r->links != NULL ? r->links->places : NULL, failure);
}

static int fetch_vertex(sf_space *s, uint32_t u, sf_error *error)
{
    s->candidates[u] = sf_arena_take(&s->room, s->counts[u], sizeof *s->candidates[u]);
    if (s->candidates[u] == NULL) return sf_fail_memory(error);
    reading r = {.space = s, .vertex = u, .candidates = s->candidates[u]};
    return sf_device_do(s->device, read_held, &r, error);
}

static int fetch_links(sf_space *s, uint32_t i, sf_error *error)
{
    sf_links *links = &s->links[i];
    links->offsets = sf_arena_take(&s->room, (size_t)s->counts[links->from] + 1, sizeof *links->offsets);
    links->places = sf_arena_take(&s->room, links->count, sizeof *links->places);
    if (links->offsets == NULL || links->places == NULL) return sf_fail_memory(error);
    reading r = {.space = s, .link = i, .links = links};
    return sf_device_do(s->device, read_held, &r, error);
}

static int look_around(const sf_backend_watch *watch, sf_error *error)
{
    return sf_backend_watch_stops(watch, "copying from the device")
               ? sf_fail(error, SF_CANCELLED, NULL, "was stopped while copying from the device")
               : SF_OK;
}

int sf_made_fetch(sf_space *space, const sf_backend_watch *watch, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t u = 0; u < space->query->count && status == SF_OK; u++)
        status = fetch_vertex(space, u, error);
    for (uint32_t i = 0; i < space->links_count && status == SF_OK; i++) {
        status = look_around(watch, error);
        if (status == SF_OK) status = fetch_links(space, i, error);
    }
    if (status == SF_OK) {
        sf_match_there_close_space(space->device, space->made);
        space->made = NULL;
    }
    return status;
}
