/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/measure/modules.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"

#include <math.h>
#include <string.h>

/* A move that gains less than this share of what all edges weigh is none: rounding would go round for ever.
 */
#define LEAST_GAIN 1e-10

/* Vertices, or modules found so far, as vertices of a smaller graph. */
typedef struct level {
    uint32_t count;
    uint32_t *first, *ids; /* of other vertices, in either direction */
    double *weights;       /* of both directions together */
    double *out, *in;      /* strengths, what is inside a vertex included */
} level;

typedef struct search {
    double total, resolution;
    sf_random random;
    uint32_t *order, *touched, *sizes;
    double *to, *module_out, *module_in; /* by module; `to`: of the vertex in hand, 0 in between */
} search;

static void close_level(level *l)
{
    sf_free(l->first);
    sf_free(l->ids);
    sf_free(l->weights);
    sf_free(l->out);
    sf_free(l->in);
    *l = (level){0};
}

static int open_level(level *l, uint32_t count, size_t edges, sf_error *error)
{
    *l = (level){.count = count,
                 .first = sf_alloc((size_t)count + 1, sizeof *l->first),
                 .ids = sf_resize(NULL, edges, sizeof *l->ids),
                 .weights = sf_resize(NULL, edges, sizeof *l->weights),
                 .out = sf_alloc(count, sizeof *l->out),
                 .in = sf_alloc(count, sizeof *l->in)};
    bool held = l->first != NULL && l->ids != NULL && l->weights != NULL && l->out != NULL && l->in != NULL;
    return held ? SF_OK : sf_fail_memory(error);
}

static double strength(const sf_neighbours *edges, uint32_t v, bool weighted)
{
    double sum = 0;
    for (uint32_t e = edges->first[v]; e < edges->first[v + 1]; e++)
        sum += weighted ? edges->weights[e] : 1;
    return sum;
}

static int level_of_net(level *l, const sf_net *net, bool weighted, sf_error *error)
{
    uint32_t edges = net->both.first[net->count];
    int status = open_level(l, net->count, edges, error);
    if (status != SF_OK) return status;
    memcpy(l->first, net->both.first, ((size_t)net->count + 1) * sizeof *l->first);
    for (uint32_t e = 0; e < edges; e++) {
        l->ids[e] = net->both.ids[e];
        l->weights[e] = weighted ? net->both.weights[e] : net->ways[e];
    }
    for (uint32_t v = 0; v < net->count; v++) {
        l->out[v] = strength(&net->out, v, weighted);
        l->in[v] = strength(&net->in, v, weighted);
    }
    return SF_OK;
}

static double total_of(const level *l)
{
    double total = 0;
    for (uint32_t v = 0; v < l->count; v++)
        total += l->out[v];
    return total;
}

static void close_search(search *s)
{
    sf_free(s->order);
    sf_free(s->touched);
    sf_free(s->sizes);
    sf_free(s->to);
    sf_free(s->module_out);
    sf_free(s->module_in);
}

static int open_search(search *s, uint32_t count, double total, double resolution, sf_error *error)
{
    *s = (search){.total = total,
                  .resolution = resolution,
                  .order = sf_resize(NULL, count, sizeof *s->order),
                  .touched = sf_resize(NULL, count, sizeof *s->touched),
                  .sizes = sf_resize(NULL, (size_t)count + 1, sizeof *s->sizes),
                  .to = sf_alloc(count, sizeof *s->to),
                  .module_out = sf_resize(NULL, count, sizeof *s->module_out),
                  .module_in = sf_resize(NULL, count, sizeof *s->module_in)};
    bool held = s->order != NULL && s->touched != NULL && s->sizes != NULL && s->to != NULL &&
                s->module_out != NULL && s->module_in != NULL;
    return held ? SF_OK : sf_fail_memory(error);
}

static void shuffle(search *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = (uint32_t)sf_random_below(&s->random, i + 1);
        s->order[i] = s->order[k];
        s->order[k] = i;
    }
}

/* ---- moving ---- */

/* What v gains in a module that it is not in, in weight. */
static double gain(const search *s, const level *l, uint32_t v, uint32_t module)
{
    double expected = (l->out[v] * s->module_in[module] + l->in[v] * s->module_out[module]) / s->total;
    return s->to[module] - s->resolution * expected;
}

static void join_module(search *s, const level *l, uint32_t v, uint32_t module, int sign)
{
    s->module_out[module] += sign * l->out[v];
    s->module_in[module] += sign * l->in[v];
}

/* Moves v to where it gains most: true where that is another module. */
static bool move(search *s, const level *l, uint32_t *module, uint32_t v)
{
    uint32_t own = module[v], best = own, touched = 0;
    for (uint32_t e = l->first[v]; e < l->first[v + 1]; e++) {
        uint32_t m = module[l->ids[e]];
        if (s->to[m] == 0) s->touched[touched++] = m;
        s->to[m] += l->weights[e];
    }
    join_module(s, l, v, own, -1);
    double most = gain(s, l, v, own) + LEAST_GAIN * s->total;
    for (uint32_t i = 0; i < touched; i++) {
        double gained = gain(s, l, v, s->touched[i]);
        if (gained > most) {
            most = gained;
            best = s->touched[i];
        }
    }
    join_module(s, l, v, best, 1);
    for (uint32_t i = 0; i < touched; i++)
        s->to[s->touched[i]] = 0;
    module[v] = best;
    return best != own;
}

/* Moves vertices until none gains by it: true where one has moved. */
static bool move_all(search *s, const level *l, uint32_t *module)
{
    bool any = false, moved = true;
    for (uint32_t m = 0; m < l->count; m++)
        s->module_out[m] = s->module_in[m] = 0;
    for (uint32_t v = 0; v < l->count; v++)
        join_module(s, l, v, module[v], 1);
    shuffle(s, l->count);
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < l->count; i++)
            moved |= move(s, l, module, s->order[i]);
        any |= moved;
    }
    return any;
}

/* Numbers modules from 0 by their first vertices; how many they are. `number` has room for all. */
static uint32_t number_modules(uint32_t *module, uint32_t count, uint32_t *number)
{
    uint32_t modules = 0;
    for (uint32_t v = 0; v < count; v++)
        number[v] = SF_NO_VERTEX;
    for (uint32_t v = 0; v < count; v++) {
        if (number[module[v]] == SF_NO_VERTEX) number[module[v]] = modules++;
        module[v] = number[module[v]];
    }
    return modules;
}

/* ---- modules as vertices ---- */

/* The members of each module, one module after the other in s->order, which begin at s->sizes. */
static void list_members(search *s, const uint32_t *module, uint32_t count, uint32_t modules)
{
    memset(s->sizes, 0, ((size_t)modules + 1) * sizeof *s->sizes);
    for (uint32_t v = 0; v < count; v++)
        s->sizes[module[v]]++;
    for (uint32_t m = 1; m <= modules; m++)
        s->sizes[m] += s->sizes[m - 1];
    for (uint32_t v = count; v-- > 0;)
        s->order[--s->sizes[module[v]]] = v;
}

static int join_members(level *small, search *s, const level *l, const uint32_t *module, uint32_t modules,
                        sf_error *error)
{
    int status = open_level(small, modules, l->first[l->count], error);
    if (status != SF_OK) return status;
    list_members(s, module, l->count, modules);
    uint32_t at = 0;
    for (uint32_t m = 0; m < modules; m++) {
        uint32_t touched = 0;
        for (uint32_t i = s->sizes[m]; i < s->sizes[m + 1]; i++) {
            uint32_t v = s->order[i];
            small->out[m] += l->out[v];
            small->in[m] += l->in[v];
            for (uint32_t e = l->first[v]; e < l->first[v + 1]; e++) {
                uint32_t to = module[l->ids[e]];
                if (to != m && s->to[to] == 0) s->touched[touched++] = to;
                s->to[to] += to != m ? l->weights[e] : 0;
            }
        }
        for (uint32_t i = 0; i < touched; i++) {
            small->ids[at] = s->touched[i];
            small->weights[at++] = s->to[s->touched[i]];
            s->to[s->touched[i]] = 0;
        }
        small->first[m + 1] = at;
    }
    return SF_OK;
}

/* Moves vertices, then whole modules, as long as that gains. */
static int climb(uint32_t *module, search *s, const level *base, uint32_t *own, sf_error *error)
{
    level l = {0};
    int status = SF_OK;
    move_all(s, base, module);
    for (bool moved = true; moved && status == SF_OK;) {
        uint32_t modules = number_modules(module, base->count, s->touched);
        close_level(&l);
        status = join_members(&l, s, base, module, modules, error);
        for (uint32_t m = 0; m < modules; m++)
            own[m] = m;
        moved = status == SF_OK && move_all(s, &l, own);
        for (uint32_t v = 0; v < base->count && moved; v++)
            module[v] = own[module[v]];
    }
    close_level(&l);
    return status;
}

/* Modules whose vertices do not hang together by edges within become several: which gains, too. */
static void split(uint32_t *module, search *s, const level *base, uint32_t *part)
{
    uint32_t parts = 0;
    for (uint32_t v = 0; v < base->count; v++)
        part[v] = SF_NO_VERTEX;
    for (uint32_t v = 0; v < base->count; v++) {
        uint32_t found = 1;
        if (part[v] != SF_NO_VERTEX) continue;
        s->touched[0] = v;
        part[v] = parts;
        for (uint32_t i = 0; i < found; i++)
            for (uint32_t e = base->first[s->touched[i]]; e < base->first[s->touched[i] + 1]; e++) {
                uint32_t w = base->ids[e];
                if (module[w] == module[v] && part[w] == SF_NO_VERTEX) {
                    part[w] = parts;
                    s->touched[found++] = w;
                }
            }
        parts++;
    }
    memcpy(module, part, base->count * sizeof *module);
}

/* ---- modularity ---- */

/* By s->module_out and s->module_in, which it fills. */
static double modularity_of(search *s, const level *base, const uint32_t *module)
{
    double inside = 0, expected = 0;
    for (uint32_t m = 0; m < base->count; m++)
        s->module_out[m] = s->module_in[m] = 0;
    for (uint32_t v = 0; v < base->count; v++) {
        join_module(s, base, v, module[v], 1);
        for (uint32_t e = base->first[v]; e < base->first[v + 1]; e++)
            inside += module[base->ids[e]] == module[v] ? base->weights[e] : 0;
    }
    for (uint32_t m = 0; m < base->count; m++)
        expected += s->module_out[m] * s->module_in[m];
    return inside / 2 / s->total - s->resolution * expected / (s->total * s->total);
}

/* ---- the best of several orders ---- */

static int find_once(uint32_t *module, double *modularity, search *s, const level *base, uint32_t *own,
                     sf_error *error)
{
    double before;
    int status = SF_OK;
    for (uint32_t v = 0; v < base->count; v++)
        module[v] = v;
    *modularity = -INFINITY;
    do {
        before = *modularity;
        status = climb(module, s, base, own, error);
        if (status == SF_OK) {
            split(module, s, base, own);
            *modularity = modularity_of(s, base, module);
        }
    } while (status == SF_OK && *modularity > before + LEAST_GAIN);
    return status;
}

/* The largest first, vertices without an edge last. `number` has room for all. */
static int number_by_size(uint32_t *module, const level *base, uint32_t *number, sf_error *error)
{
    uint32_t modules = number_modules(module, base->count, number);
    sf_rank *ranks = sf_alloc(modules, sizeof *ranks);
    if (ranks == NULL) return sf_fail_memory(error);
    for (uint32_t m = 0; m < modules; m++)
        ranks[m].index = m;
    for (uint32_t v = 0; v < base->count; v++)
        ranks[module[v]].amount -= base->first[v + 1] > base->first[v];
    sf_ranks_sort(ranks, modules);
    for (uint32_t m = 0; m < modules; m++)
        number[ranks[m].index] = m;
    for (uint32_t v = 0; v < base->count; v++)
        module[v] = number[module[v]];
    sf_free(ranks);
    return SF_OK;
}

/* Where no division is better than none, as of a single edge, what has edges is one module. */
static void leave_whole(uint32_t *module, double *modularity, const search *s, const level *base)
{
    double whole = 1 - s->resolution;
    uint32_t any = UINT32_MAX;
    if (!(*modularity <= whole + LEAST_GAIN)) return;
    *modularity = whole;
    for (uint32_t v = 0; v < base->count; v++) {
        bool linked = base->first[v + 1] > base->first[v];
        any = linked && any == UINT32_MAX ? v : any;
        module[v] = linked ? any : v;
    }
}

int sf_modules_find(uint32_t *module, double *modularity, const sf_net *net, bool weighted, double resolution,
                    uint32_t orders, uint64_t seed, sf_error *error)
{
    level base;
    search s = {0};
    uint32_t n = net->count;
    uint32_t *tried = sf_resize(NULL, n, sizeof *tried), *own = sf_resize(NULL, n, sizeof *own);
    int status = level_of_net(&base, net, weighted, error);
    if (status == SF_OK) status = open_search(&s, n, total_of(&base), resolution, error);
    if (status == SF_OK && (tried == NULL || own == NULL)) status = sf_fail_memory(error);
    for (uint32_t v = 0; v < n && status == SF_OK; v++)
        module[v] = v;
    *modularity = NAN;
    for (uint32_t i = 0; i < orders && status == SF_OK && s.total > 0; i++) {
        double found;
        s.random = sf_random_start(seed, i);
        status = find_once(tried, &found, &s, &base, own, error);
        if (status == SF_OK && !(found <= *modularity)) {
            *modularity = found;
            memcpy(module, tried, n * sizeof *module);
        }
    }
    if (status == SF_OK) leave_whole(module, modularity, &s, &base);
    if (status == SF_OK) status = number_by_size(module, &base, own, error);
    close_search(&s);
    close_level(&base);
    sf_free(tried);
    sf_free(own);
    return status;
}
