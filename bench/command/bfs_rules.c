/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/command/bfs_rules.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdlib.h>

/* What a level's frontier has, and what a bottom-up step from it reads. */
typedef struct level_costs {
    uint64_t edges, hubs;
    uint64_t reads, saved; /* by those that the step finds */
    uint64_t later_edges;  /* of what is one level below the next, and so on: each read whole */
} level_costs;

static int by_falling_degree(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

int app_bfs_tau(uint64_t *tau, const sf_csr *graph, sf_error *error)
{
    *tau = UINT64_MAX;
    if (graph->vertex_count <= APP_BFS_HUBS) return SF_OK;
    uint64_t *degrees = sf_resize(NULL, graph->vertex_count, sizeof *degrees);
    if (degrees == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        degrees[v] = sf_csr_degree(graph, v);
    qsort(degrees, graph->vertex_count, sizeof *degrees, by_falling_degree);
    *tau = degrees[APP_BFS_HUBS];
    sf_free(degrees);
    return SF_OK;
}

/* A vertex that the step from the level above finds: its neighbours up to the first in that frontier. */
static void read_up(level_costs *above, const sf_csr *graph, const uint32_t *levels, uint32_t v, uint64_t tau)
{
    uint64_t at = graph->offsets[v];
    while (levels[graph->targets[at]] + 1 != levels[v])
        at++;
    above->reads += at - graph->offsets[v] + 1;
    above->saved += sf_csr_degree(graph, graph->targets[at]) > tau;
}

/* Bottom-up from the frontier of a level on. */
static app_bfs_switch switch_at(const level_costs *costs, uint32_t depth, uint32_t level, uint64_t unreached)
{
    app_bfs_switch found = {.level = level};
    for (uint32_t l = 0; l <= depth; l++) {
        if (l < level) {
            found.reads += costs[l].edges;
            continue;
        }
        found.bottom_up += costs[l].reads + costs[l].later_edges + unreached;
        found.saved += costs[l].saved;
    }
    found.reads += found.bottom_up;
    return found;
}

static void find_switches(app_bfs_rules *rules, const level_costs *costs, uint32_t depth, uint64_t unreached)
{
    uint32_t gamma = depth + 1, alpha = depth + 1;
    uint64_t left = rules->edges;
    rules->best = rules->never = switch_at(costs, depth, depth + 1, unreached);
    for (uint32_t l = 0; l <= depth; l++) {
        app_bfs_switch here = switch_at(costs, depth, l, unreached);
        rules->best = here.reads < rules->best.reads ? here : rules->best;
        if (gamma > depth && rules->hubs > 0 && sf_bfs_gamma((uint32_t)costs[l].hubs, rules->hubs)) gamma = l;
        if (alpha > depth && costs[l].edges > left / APP_BFS_ALPHA) alpha = l;
        double share = rules->hubs > 0 ? (double)costs[l].hubs / rules->hubs : 0;
        rules->gamma_most = share > rules->gamma_most ? share : rules->gamma_most;
        left -= costs[l].edges;
    }
    rules->gamma = switch_at(costs, depth, gamma, unreached);
    rules->alpha = switch_at(costs, depth, alpha, unreached);
}

int app_bfs_rules_count(app_bfs_rules *rules, const sf_csr *graph, const sf_bfs_result *result, uint64_t tau,
                        sf_error *error)
{
    uint32_t depth = result->depth;
    uint64_t unreached = 0;
    *rules = (app_bfs_rules){.edges = sf_csr_edge_count(graph)};
    level_costs *costs = sf_alloc((size_t)depth + 1, sizeof *costs);
    if (costs == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint32_t level = result->levels[v];
        uint64_t degree = sf_csr_degree(graph, v);
        rules->hubs += degree > tau;
        if (level == SF_UNREACHED) {
            unreached += degree;
            continue;
        }
        costs[level].edges += degree;
        costs[level].hubs += degree > tau;
        if (level > 0) read_up(&costs[level - 1], graph, result->levels, v, tau);
    }
    uint64_t below = 0;
    for (uint32_t l = depth + 1; l-- > 0;) {
        costs[l].later_edges = below; /* of levels l + 2 and on */
        below += l < depth ? costs[l + 1].edges : 0;
    }
    find_switches(rules, costs, depth, unreached);
    sf_free(costs);
    return SF_OK;
}
