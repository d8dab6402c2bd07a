/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/measure/shape.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* ---- triangles ---- */

typedef struct sides {
    double binary, directed, weighted;
} sides;

static sides side_of(const sf_net *net, uint32_t edge)
{
    return (sides){1, net->ways[edge], net->roots[edge]};
}

static void add_triangle(sf_clustering *to, const sides *a, const sides *b, const sides *c)
{
    to->binary += a->binary * b->binary * c->binary;
    to->directed += a->directed * b->directed * c->directed;
    to->weighted += a->weighted * b->weighted * c->weighted;
}

/* Every triangle v < u < w once. `at[w]` is the edge from v to w, or UINT32_MAX. */
static void add_triangles(sf_clustering *sums, const sf_net *net, uint32_t v, uint32_t *at)
{
    const sf_neighbours *both = &net->both;
    uint32_t from = both->first[v], to = both->first[v + 1];
    while (from < to && both->ids[from] < v)
        from++;
    for (uint32_t e = from; e < to; e++)
        at[both->ids[e]] = e;
    for (uint32_t e = from; e < to; e++) {
        uint32_t u = both->ids[e];
        for (uint32_t f = both->first[u + 1]; f-- > both->first[u] && both->ids[f] > u;) {
            uint32_t w = both->ids[f];
            if (at[w] == UINT32_MAX) continue;
            const sides a = side_of(net, e), b = side_of(net, f), c = side_of(net, at[w]);
            add_triangle(&sums[v], &a, &b, &c);
            add_triangle(&sums[u], &a, &b, &c);
            add_triangle(&sums[w], &a, &b, &c);
        }
    }
    for (uint32_t e = from; e < to; e++)
        at[both->ids[e]] = UINT32_MAX;
}

/* Of the triangles of v the shares of those that it could have, in whichever direction; directed ones are
 * counted in both orders of the other two. */
static void divide(sf_clustering *sum, const sf_net *net, uint32_t v)
{
    double k = 0, total = 0, mutual = 0;
    for (uint32_t e = net->both.first[v]; e < net->both.first[v + 1]; e++) {
        k++;
        total += net->ways[e];
        mutual += net->ways[e] == 2;
    }
    double pairs = k * (k - 1) / 2, directed = total * (total - 1) - 2 * mutual;
    sum->binary = pairs > 0 ? sum->binary / pairs : 0;
    sum->directed = directed > 0 ? sum->directed / directed : 0;
    sum->weighted = directed > 0 ? sum->weighted / directed : 0;
}

int sf_clustering_find(sf_clustering *clustering, const sf_net *net, sf_error *error)
{
    uint32_t *at = sf_resize(NULL, net->count, sizeof *at);
    if (at == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < net->count; v++) {
        at[v] = UINT32_MAX;
        clustering[v] = (sf_clustering){0, 0, 0};
    }
    for (uint32_t v = 0; v < net->count; v++)
        add_triangles(clustering, net, v, at);
    for (uint32_t v = 0; v < net->count; v++)
        divide(&clustering[v], net, v);
    sf_free(at);
    return SF_OK;
}

/* ---- the rich club ---- */

int sf_clubs_find(sf_club *clubs, size_t room, size_t *count, const sf_net *net, sf_error *error)
{
    uint32_t most = 0;
    *count = 0;
    for (uint32_t v = 0; v < net->count; v++)
        most = sf_net_degree(net, v) > most ? sf_net_degree(net, v) : most;
    /* vertices[k] have the degree k, and edges[k] join one of it to one of that or more */
    uint64_t *vertices = sf_alloc((size_t)most + 1, 2 * sizeof *vertices);
    if (vertices == NULL) return sf_fail_memory(error);
    uint64_t *edges = vertices + most + 1;
    uint64_t vertices_left = net->count, edges_left = net->edges;
    for (uint32_t v = 0; v < net->count; v++) {
        uint32_t own = sf_net_degree(net, v);
        vertices[own]++;
        for (uint32_t e = net->out.first[v]; e < net->out.first[v + 1]; e++) {
            uint32_t other = sf_net_degree(net, net->out.ids[e]);
            edges[own < other ? own : other] += net->directed || net->out.ids[e] > v;
        }
    }
    for (uint32_t k = 0; k <= most && *count < room; k++) {
        vertices_left -= vertices[k];
        edges_left -= edges[k];
        if (vertices_left < 2) break;
        double pairs = (double)vertices_left * (double)(vertices_left - 1) / (net->directed ? 1 : 2);
        clubs[(*count)++] = (sf_club){.degree = k,
                                      .vertices = vertices_left,
                                      .edges = edges_left,
                                      .coefficient = (double)edges_left / pairs,
                                      .rewired = NAN,
                                      .z = NAN};
    }
    sf_free(vertices);
    return SF_OK;
}

/* ---- modules ---- */

static double edge_between(const sf_net *net, uint32_t edge, bool weighted)
{
    return weighted ? net->both.weights[edge] : net->ways[edge];
}

int sf_participation_find(double *participation, const uint32_t *module, const sf_net *net, bool weighted,
                          sf_error *error)
{
    double *to = sf_alloc(net->count, sizeof *to); /* each module */
    if (to == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < net->count; v++) {
        const uint32_t *first = &net->both.first[v];
        double all = 0, squares = 0;
        for (uint32_t e = first[0]; e < first[1]; e++) {
            all += edge_between(net, e, weighted);
            to[module[net->both.ids[e]]] += edge_between(net, e, weighted);
        }
        for (uint32_t e = first[0]; e < first[1]; e++) {
            double *there = &to[module[net->both.ids[e]]];
            squares += *there / all * (*there / all);
            *there = 0;
        }
        participation[v] = all > 0 ? 1 - squares : 0;
    }
    sf_free(to);
    return SF_OK;
}

int sf_module_degree_find(double *z, const uint32_t *module, const sf_net *net, sf_error *error)
{
    typedef struct moments {
        double count, sum, squares;
    } moments;
    moments *of = sf_alloc(net->count, sizeof *of);
    if (of == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < net->count; v++) {
        z[v] = 0;
        for (uint32_t e = net->both.first[v]; e < net->both.first[v + 1]; e++)
            z[v] += module[net->both.ids[e]] == module[v] ? net->ways[e] : 0;
        if (!net->directed) z[v] /= 2;
        of[module[v]].count++;
        of[module[v]].sum += z[v];
    }
    for (uint32_t v = 0; v < net->count; v++) {
        double difference = z[v] - of[module[v]].sum / of[module[v]].count;
        of[module[v]].squares += difference * difference;
    }
    for (uint32_t v = 0; v < net->count; v++) {
        const moments *m = &of[module[v]];
        z[v] = m->squares > 0 ? (z[v] - m->sum / m->count) / sqrt(m->squares / m->count) : NAN;
    }
    sf_free(of);
    return SF_OK;
}
