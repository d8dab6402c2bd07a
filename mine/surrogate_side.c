/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_side.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdlib.h>

/* Everything turned around. */
typedef struct sf_surrogate_turn {
    sf_events events;
    sf_tree tree;
    uint32_t *trains;
    double *x_um, *y_um;
    uint32_t *forth[SF_EPISODE_MAX_SIZE]; /* [size - 1][node of the request's tree]: the turned node */
    uint32_t *back[SF_EPISODE_MAX_SIZE];  /* the other way */
} turn;

/* ---- the stream ---- */

static int turn_events(sf_events *to, const sf_events *from, sf_error *error)
{
    uint32_t units = from->unit_count, count = from->count;
    to->unit_count = units;
    to->count = count;
    to->times = sf_resize(NULL, count, sizeof *to->times);
    to->owner = sf_resize(NULL, count, sizeof *to->owner);
    to->positions = sf_resize(NULL, count, sizeof *to->positions);
    to->first = sf_alloc((size_t)units + 1, sizeof *to->first);
    if (to->times == NULL || to->owner == NULL || to->positions == NULL || to->first == NULL)
        return sf_fail_memory(error);
    for (uint32_t p = 0; p < count; p++) {
        to->times[p] = from->times[count - 1] - from->times[count - 1 - p];
        to->owner[p] = units - 1 - from->owner[count - 1 - p];
    }
    for (uint32_t u = 0; u < units; u++) {
        uint32_t old = units - 1 - u, spikes = from->first[old + 1] - from->first[old];
        to->first[u + 1] = to->first[u] + spikes;
        for (uint32_t i = 0; i < spikes; i++)
            to->positions[to->first[u] + i] = count - 1 - from->positions[from->first[old + 1] - 1 - i];
    }
    return SF_OK;
}

/* ---- the tree ---- */

/* A node to be: its place in the turned level, and where it comes from. */
typedef struct turned_node {
    uint32_t parent, step, count, from;
} turned_node;

static int compare_turned(const void *a, const void *b)
{
    const turned_node *left = a, *right = b;
    if (left->parent != right->parent) return left->parent < right->parent ? -1 : 1;
    return (left->step > right->step) - (left->step < right->step);
}

/* The turned node's parent is the turned suffix; its last link and unit are the episode's first. */
static turned_node turn_node(const turn *t, const sf_tree *tree, uint32_t size, uint32_t node)
{
    const sf_node *own = &tree->levels[size - 1].nodes[node];
    turned_node turned = {.count = own->count, .from = node};
    uint32_t steps[SF_EPISODE_MAX_SIZE], units = tree->unit_count;
    sf_tree_steps(tree, size, node, steps);
    turned.step = units - 1 - steps[0] % units;
    if (size > 1) {
        turned.parent = t->forth[size - 2][own->suffix];
        turned.step += steps[1] / units * units;
    }
    return turned;
}

static int turn_level(turn *t, const sf_tree *tree, uint32_t size, sf_error *error)
{
    size_t count = tree->levels[size - 1].count;
    turned_node *nodes = sf_resize(NULL, count, sizeof *nodes);
    uint32_t *forth = t->forth[size - 1] = sf_resize(NULL, count, sizeof *forth);
    uint32_t *back = t->back[size - 1] = sf_resize(NULL, count, sizeof *back);
    int status = nodes == NULL || forth == NULL || back == NULL ? sf_fail_memory(error) : SF_OK;
    for (uint32_t i = 0; status == SF_OK && i < count; i++)
        nodes[i] = turn_node(t, tree, size, i);
    if (status == SF_OK) qsort(nodes, count, sizeof *nodes, compare_turned);
    for (uint32_t i = 0; status == SF_OK && i < count; i++) {
        forth[nodes[i].from] = i;
        back[i] = nodes[i].from;
        if (sf_level_append(&t->tree.levels[size - 1], nodes[i].parent, nodes[i].step, nodes[i].count) !=
            SF_OK)
            status = sf_fail_memory(error);
    }
    sf_free(nodes);
    return status == SF_OK && size > 1 ? sf_tree_link(&t->tree, size, error) : status;
}

/* ---- turning a request ---- */

static int turn_request(sf_surrogate_request *request, turn *t, sf_error *error)
{
    uint32_t units = request->tree->unit_count;
    int status = turn_events(&t->events, request->events, error);
    t->tree.unit_count = units;
    t->tree.delay_count = request->tree->delay_count;
    for (uint32_t size = 1; size <= request->max_size && status == SF_OK; size++)
        status = turn_level(t, request->tree, size, error);
    if (status != SF_OK) return status;
    bool placed = request->pairs.min_distance_um > 0;
    t->trains = sf_resize(NULL, units, sizeof *t->trains);
    t->x_um = sf_resize(NULL, units, sizeof *t->x_um);
    t->y_um = sf_resize(NULL, units, sizeof *t->y_um);
    if (t->trains == NULL || t->x_um == NULL || t->y_um == NULL) return sf_fail_memory(error);
    for (uint32_t u = 0; u < units; u++) {
        t->trains[u] = request->trains[units - 1 - u];
        t->x_um[u] = placed ? request->pairs.x_um[units - 1 - u] : 0;
        t->y_um[u] = placed ? request->pairs.y_um[units - 1 - u] : 0;
    }
    if (request->events->count > 0) request->origin_ns += request->events->times[request->events->count - 1];
    request->events = &t->events;
    request->tree = &t->tree;
    request->trains = t->trains;
    request->pairs.x_um = t->x_um;
    request->pairs.y_um = t->y_um;
    return SF_OK;
}

/* ---- candidates ---- */

/* Candidates of one size, as they are listed: frequent ones come in the order of the tree's level. */
typedef struct listing {
    const sf_tree *tree;
    uint32_t size;
    sf_surrogate_level *level;
    uint64_t *first;
    uint32_t *candidates, *observed;
    uint64_t count;
    bool judges; /* a frequent episode is among them */
    size_t next_node;
    const sf_level *nodes;
    const uint32_t *back; /* or NULL: nodes are the request's own */
    uint64_t *candidate_of;
} listing;

static void list_candidate(listing *l, uint32_t parent, uint32_t step)
{
    uint64_t at = SF_NO_CANDIDATE;
    if (!sf_tree_returns(l->tree, l->size, parent, step)) {
        at = l->count++;
        l->first[parent + 1] = l->count;
        l->candidates[at] = step;
        l->observed[at] = UINT32_MAX;
    }
    if (l->next_node < l->nodes->count) {
        const sf_node *node = &l->nodes->nodes[l->next_node];
        if (node->parent == parent && node->step == step) {
            l->candidate_of[l->back != NULL ? l->back[l->next_node] : l->next_node] = at;
            l->next_node++;
            if (at != SF_NO_CANDIDATE) {
                l->observed[at] = node->count;
                l->judges = true;
            }
        }
    }
}

static void list_all(listing *l, const sf_surrogate_request *request, uint32_t size)
{
    if (request->found_only) {
        const bool *asked = request->asked != NULL ? request->asked[size - 1] : NULL;
        for (size_t i = 0; i < l->nodes->count; i++) {
            size_t own = l->back != NULL ? l->back[i] : i;
            if (asked == NULL || asked[own]) {
                list_candidate(l, l->nodes->nodes[i].parent, l->nodes->nodes[i].step);
            } else {
                l->candidate_of[own] = SF_NO_CANDIDATE;
                l->next_node++;
            }
        }
    } else {
        uint32_t parent, step;
        sf_join join = sf_join_start(request->tree, &request->pairs, size);
        while (sf_join_next(&join, &parent, &step))
            list_candidate(l, parent, step);
    }
    for (uint32_t i = 0; i < l->level->prefix_count; i++) /* prefixes without candidates */
        l->first[i + 1] = l->first[i + 1] > l->first[i] ? l->first[i + 1] : l->first[i];
}

static int list_prefixes(sf_surrogate_level *level, const sf_level *nodes, uint32_t size)
{
    level->prefix_count = (uint32_t)nodes->count;
    if (size == 1) return SF_OK;
    uint32_t *parents = sf_resize(NULL, nodes->count, sizeof *parents);
    uint32_t *steps = sf_resize(NULL, nodes->count, sizeof *steps);
    level->parents = parents;
    level->steps = steps;
    if (parents == NULL || steps == NULL) return SF_NO_MEMORY;
    for (size_t i = 0; i < nodes->count; i++) {
        parents[i] = nodes->nodes[i].parent;
        steps[i] = nodes->nodes[i].step;
    }
    return SF_OK;
}

/* The number of candidates of a size none of which is frequent: they are not listed. */
static uint64_t count_unlisted(const sf_surrogate_request *request, uint32_t size)
{
    uint32_t parent, step;
    uint64_t count = 0;
    sf_join join = sf_join_start(request->tree, &request->pairs, size);
    while (!request->found_only && sf_join_next(&join, &parent, &step))
        count += !sf_tree_returns(request->tree, size, parent, step);
    return count;
}

/* Fills the level of candidates of this size; *judges: some of them are frequent. */
static int list_level(sf_surrogate_side *side, const sf_surrogate_request *request, uint32_t size,
                      bool *judges, sf_error *error)
{
    sf_surrogate_level *level = &side->levels[size - 2];
    listing l = {.tree = request->tree,
                 .size = size,
                 .level = level,
                 .nodes = &request->tree->levels[size - 1],
                 .back = side->turn != NULL ? side->turn->back[size - 1] : NULL};
    bool none = side->mirrored && size == 2; /* pairs are candidates on the other side */
    uint64_t room = none                  ? 0
                    : request->found_only ? l.nodes->count
                                          : sf_join_count(request->tree, &request->pairs, size);
    int status = list_prefixes(level, &request->tree->levels[size - 2], size - 1);
    level->first = l.first = sf_alloc((size_t)level->prefix_count + 1, sizeof *l.first);
    level->candidates = l.candidates = sf_resize(NULL, room, sizeof *l.candidates);
    side->observed[size - 2] = l.observed = sf_resize(NULL, room, sizeof *l.observed);
    side->candidate_of[size - 2] = l.candidate_of = sf_resize(NULL, l.nodes->count, sizeof *l.candidate_of);
    if (status != SF_OK || l.first == NULL || l.candidates == NULL || l.observed == NULL ||
        l.candidate_of == NULL)
        return sf_fail_memory(error);
    if (!none) list_all(&l, request, size);
    side->candidates[size - 2] = l.count;
    *judges = l.judges;
    if (!none && l.next_node != l.nodes->count)
        return sf_fail(error, SF_INTERNAL, NULL, "a frequent episode of size %u is no candidate", size);
    return SF_OK;
}

/* ---- open and close ---- */

static int fill(sf_surrogate_side *side, const sf_surrogate_request *request, sf_error *error)
{
    side->events = *request->events;
    side->plan = (sf_surrogate_plan){.rule = request->rule,
                                     .trains = request->trains,
                                     .origin_ns = request->origin_ns,
                                     .mirrored = side->mirrored,
                                     .delays = request->delays,
                                     .delay_count = request->tree->delay_count,
                                     .levels = side->levels,
                                     .progress = request->progress};
    side->ratios = sf_resize(NULL, request->tree->delay_count, sizeof *side->ratios);
    int status = side->ratios != NULL ? SF_OK : sf_fail_memory(error);
    for (uint32_t d = 0; d < request->tree->delay_count && status == SF_OK; d++)
        side->ratios[d] = 1;
    for (uint32_t size = 2; size <= request->max_size && status == SF_OK; size++) {
        bool judges = false;
        if (size > 2 && request->tree->levels[size - 1].count == 0)
            side->candidates[size - 2] = count_unlisted(request, size);
        else
            status = list_level(side, request, size, &judges, error);
        if (judges || (size == 2 && side->candidates[0] > 0)) /* what pairs would need is told of all */
            side->plan.level_count = size - 1;
    }
    return status;
}

int sf_surrogate_side_open(sf_surrogate_side *side, const sf_surrogate_request *request, bool mirrored,
                           sf_error *error)
{
    *side = (sf_surrogate_side){.mirrored = mirrored};
    sf_surrogate_request turned = *request;
    int status = SF_OK;
    if (mirrored) {
        side->turn = sf_alloc(1, sizeof *side->turn);
        status = side->turn != NULL ? turn_request(&turned, side->turn, error) : sf_fail_memory(error);
    }
    if (status == SF_OK) status = fill(side, &turned, error);
    if (status != SF_OK) sf_surrogate_side_close(side);
    return status;
}

/* The prefix of a candidate of a level: candidates of it or of those before it end later. */
static uint32_t prefix_of(const sf_surrogate_level *level, uint64_t candidate)
{
    uint32_t low = 0, high = level->prefix_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (level->first[middle + 1] <= candidate)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A candidate of level k, whose units are those of the events. */
static sf_episode episode_of(const sf_surrogate_side *side, uint32_t k, uint64_t candidate)
{
    uint32_t units = side->events.unit_count, step = side->levels[k].candidates[candidate],
             prefix = prefix_of(&side->levels[k], candidate);
    sf_episode episode = {.size = k + 2};
    for (uint32_t node = k + 1; node > 0; node--) {
        episode.units[node] = step % units;
        episode.delays[node - 1] = side->plan.delays[step / units];
        if (node > 1) {
            const sf_surrogate_level *level = &side->levels[node - 1];
            step = level->steps[prefix];
            prefix = level->parents[prefix];
        }
    }
    episode.units[0] = prefix;
    return episode;
}

double sf_surrogate_side_ratio(const sf_surrogate_side *side, uint32_t k, uint64_t candidate, double mean)
{
    uint32_t delay = side->levels[k].candidates[candidate] / side->events.unit_count;
    if (side->saturations == NULL || side->events.count == 0) return side->ratios[delay];
    double near;
    if (k == 0) {
        near = side->near[candidate];
    } else {
        sf_episode episode = episode_of(side, k, candidate);
        near = sf_surrogate_near_by_rates(&side->events, &episode, mean);
    }
    return side->ratios[delay] * sf_surrogate_saturated(&side->saturations[delay], mean, near);
}

void sf_surrogate_side_close(sf_surrogate_side *side)
{
    for (uint32_t k = 0; k < SF_EPISODE_MAX_SIZE; k++) {
        sf_free((void *)side->levels[k].parents);
        sf_free((void *)side->levels[k].steps);
        sf_free((void *)side->levels[k].first);
        sf_free((void *)side->levels[k].candidates);
        sf_free(side->observed[k]);
        sf_free(side->candidate_of[k]);
        if (side->turn != NULL) {
            sf_free(side->turn->forth[k]);
            sf_free(side->turn->back[k]);
        }
    }
    if (side->turn != NULL) {
        sf_events_close(&side->turn->events);
        sf_tree_free(&side->turn->tree);
        sf_free(side->turn->trains);
        sf_free(side->turn->x_um);
        sf_free(side->turn->y_um);
    }
    sf_free(side->turn);
    sf_free(side->ratios);
    sf_free(side->saturations);
    sf_free(side->near);
    *side = (sf_surrogate_side){0};
}
