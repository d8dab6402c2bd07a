/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/network_oracle.h"

#include <math.h>
#include <string.h>

typedef double matrix[SLOW_NETWORK_MOST][SLOW_NETWORK_MOST];

static double greatest(const slow_net *net)
{
    double most = 0;
    for (size_t i = 0; i < net->count; i++)
        for (size_t j = 0; j < net->count; j++)
            most = fmax(most, net->weights[i][j]);
    return most;
}

/* The matrix as measures take it: of ones, or of weights over the greatest. */
static void take(matrix a, const slow_net *net, bool weighted)
{
    double most = greatest(net);
    memset(a, 0, sizeof(matrix));
    for (size_t i = 0; i < net->count; i++)
        for (size_t j = 0; j < net->count; j++)
            a[i][j] = net->weights[i][j] <= 0 ? 0 : weighted ? net->weights[i][j] / most : 1;
}

/* ---- paths: every simple path from one vertex to another is walked ---- */

typedef struct walk {
    const slow_net *net;
    bool weighted;
    double most;
    size_t to, path[SLOW_NETWORK_MOST], steps;
    bool on[SLOW_NETWORK_MOST];
    const bool *allowed;
    double best, paths, through[SLOW_NETWORK_MOST];
} walk;

static void go(walk *w, size_t at, double length)
{
    if (length > w->best) return;
    if (at == w->to) {
        if (length < w->best) {
            w->best = length;
            w->paths = 0;
            memset(w->through, 0, sizeof w->through);
        }
        w->paths++;
        for (size_t i = 1; i < w->steps; i++)
            w->through[w->path[i]]++;
        return;
    }
    w->on[at] = true;
    w->path[w->steps++] = at;
    for (size_t next = 0; next < w->net->count; next++)
        if (w->net->weights[at][next] > 0 && !w->on[next] && (w->allowed == NULL || w->allowed[next]))
            go(w, next, length + (w->weighted ? w->most / w->net->weights[at][next] : 1));
    w->steps--;
    w->on[at] = false;
}

static walk walk_between(const slow_net *net, size_t from, size_t to, bool weighted, const bool *allowed)
{
    walk w = {.net = net,
              .weighted = weighted,
              .most = greatest(net),
              .to = to,
              .allowed = allowed,
              .best = INFINITY};
    go(&w, from, 0);
    return w;
}

static double local_efficiency(const slow_net *net, size_t v, bool weighted)
{
    bool near[SLOW_NETWORK_MOST] = {false};
    double sum = 0, k = 0;
    for (size_t i = 0; i < net->count; i++)
        k += near[i] = i != v && (net->weights[v][i] > 0 || net->weights[i][v] > 0);
    for (size_t i = 0; i < net->count; i++)
        for (size_t j = 0; j < net->count; j++)
            if (i != j && near[i] && near[j]) sum += 1 / walk_between(net, i, j, weighted, near).best;
    return k > 1 ? sum / (k * (k - 1)) : 0;
}

static void measure_paths(sf_network *network, sf_vertex_measures *vertices, const slow_net *net,
                          bool weighted)
{
    double joined = 0, length = 0, inverse = 0, between[SLOW_NETWORK_MOST] = {0}, most = 0, local = 0;
    size_t n = net->count;
    double pairs = (double)n * ((double)n - 1);
    for (size_t i = 0; i < n; i++) {
        double own = 0, reached = 0;
        for (size_t j = 0; j < n; j++) {
            walk w = walk_between(net, i, j, weighted, NULL);
            if (i == j || isinf(w.best)) continue;
            reached++;
            own += w.best;
            inverse += 1 / w.best;
            for (size_t v = 0; v < n; v++)
                between[v] += w.through[v] / w.paths;
        }
        joined += reached;
        length += own;
        *(weighted ? &vertices[i].path_length_weighted : &vertices[i].path_length) = own / reached;
        double here = local_efficiency(net, i, weighted);
        *(weighted ? &vertices[i].local_efficiency_weighted : &vertices[i].local_efficiency) = here;
        local += here / (double)n;
    }
    for (size_t v = 0; v < n; v++) {
        double share = n > 2 ? between[v] / (((double)n - 1) * ((double)n - 2)) : 0;
        *(weighted ? &vertices[v].betweenness_weighted : &vertices[v].betweenness) = share;
        most = fmax(most, share);
    }
    network->reachable = n > 1 ? joined / pairs : NAN;
    *(weighted ? &network->path_length_weighted : &network->path_length) = length / joined;
    *(weighted ? &network->efficiency_weighted : &network->efficiency) = n > 1 ? inverse / pairs : NAN;
    *(weighted ? &network->betweenness_weighted : &network->betweenness) = most;
    *(weighted ? &network->local_efficiency_weighted : &network->local_efficiency) = n > 0 ? local : NAN;
}

/* ---- degrees and triangles ---- */

static void count_edges(sf_vertex_measures *of, const slow_net *net, size_t v)
{
    double in = 0, out = 0;
    of->degree = 0;
    uint64_t to = 0, from = 0;
    for (size_t w = 0; w < net->count; w++) {
        of->degree += net->weights[v][w] > 0 || net->weights[w][v] > 0;
        from += net->weights[v][w] > 0;
        to += net->weights[w][v] > 0;
        out += net->weights[v][w];
        in += net->weights[w][v];
    }
    of->in_degree = net->directed ? to : SF_NO_COUNT;
    of->out_degree = net->directed ? from : SF_NO_COUNT;
    of->strength = net->directed ? in + out : out;
    of->in_strength = net->directed ? in : NAN;
    of->out_strength = net->directed ? out : NAN;
}

/* Fagiolo 2007, equation 8, by the sum over all j and k of the matrices S = root + root transposed. */
static double fagiolo(const slow_net *net, size_t v, bool weighted)
{
    matrix a;
    double sum = 0, total = 0, mutual = 0;
    take(a, net, weighted);
    for (size_t j = 0; j < net->count; j++) {
        total += (net->weights[v][j] > 0) + (net->weights[j][v] > 0);
        mutual += net->weights[v][j] > 0 && net->weights[j][v] > 0;
        for (size_t k = 0; k < net->count; k++)
            sum += (cbrt(a[v][j]) + cbrt(a[j][v])) * (cbrt(a[j][k]) + cbrt(a[k][j])) *
                   (cbrt(a[k][v]) + cbrt(a[v][k]));
    }
    double possible = 2 * (total * (total - 1) - 2 * mutual);
    return possible > 0 ? sum / possible : 0;
}

static double watts_strogatz(const slow_net *net, size_t v)
{
    slow_net both = *net;
    both.directed = false;
    for (size_t i = 0; i < net->count; i++)
        for (size_t j = 0; j < net->count; j++)
            both.weights[i][j] = net->weights[i][j] > 0 || net->weights[j][i] > 0;
    double closed = 0, pairs = 0;
    for (size_t i = 0; i < net->count; i++)
        for (size_t j = 0; j < i; j++)
            if (both.weights[v][i] > 0 && both.weights[v][j] > 0) {
                pairs++;
                closed += both.weights[i][j];
            }
    return pairs > 0 ? closed / pairs : 0;
}

static void count_components(sf_network *network, const slow_net *net)
{
    size_t of[SLOW_NETWORK_MOST];
    for (size_t v = 0; v < net->count; v++)
        of[v] = v;
    for (size_t round = 0; round < net->count; round++)
        for (size_t i = 0; i < net->count; i++)
            for (size_t j = 0; j < net->count; j++)
                if (net->weights[i][j] > 0) of[i] = of[j] = of[i] < of[j] ? of[i] : of[j];
    for (size_t v = 0; v < net->count; v++) {
        uint64_t size = 0;
        for (size_t w = 0; w < net->count; w++)
            size += of[w] == v;
        network->components += size > 0;
        network->largest_component = size > network->largest_component ? size : network->largest_component;
    }
}

void slow_network_measure(sf_network *network, sf_vertex_measures *vertices, const slow_net *net)
{
    double n = (double)net->count, both = 0;
    *network = (sf_network){.vertices = net->count};
    for (size_t v = 0; v < net->count; v++) {
        vertices[v] = (sf_vertex_measures){.unit = (uint32_t)v};
        count_edges(&vertices[v], net, v);
        vertices[v].clustering = watts_strogatz(net, v);
        vertices[v].clustering_directed = fagiolo(net, v, false);
        vertices[v].clustering_weighted = fagiolo(net, v, true);
        network->isolated += vertices[v].degree == 0;
        network->degree += (double)vertices[v].degree / n;
        network->strength += vertices[v].strength / n;
        network->clustering += vertices[v].clustering / n;
        network->clustering_directed += vertices[v].clustering_directed / n;
        network->clustering_weighted += vertices[v].clustering_weighted / n;
        for (size_t w = 0; w < net->count; w++) {
            network->edges += net->weights[v][w] > 0 && (net->directed || w < v);
            both += net->weights[v][w] > 0 && net->weights[w][v] > 0;
        }
    }
    double pairs = net->directed ? n * (n - 1) : n * (n - 1) / 2;
    network->density = pairs > 0 ? (double)network->edges / pairs : NAN;
    network->reciprocity = net->directed && network->edges > 0 ? both / (double)network->edges : NAN;
    if (net->count == 0)
        network->degree = network->strength = network->clustering = network->clustering_directed =
            network->clustering_weighted = NAN;
    measure_paths(network, vertices, net, false);
    measure_paths(network, vertices, net, true);
    count_components(network, net);
}

/* ---- modules ---- */

double slow_modularity(const slow_net *net, const uint64_t *module, bool weighted, double resolution)
{
    matrix a;
    double total = 0, sum = 0, out[SLOW_NETWORK_MOST] = {0}, in[SLOW_NETWORK_MOST] = {0};
    take(a, net, weighted);
    for (size_t i = 0; i < net->count; i++)
        for (size_t j = 0; j < net->count; j++) {
            total += a[i][j];
            out[i] += a[i][j];
            in[j] += a[i][j];
        }
    for (size_t i = 0; i < net->count; i++)
        for (size_t j = 0; j < net->count; j++)
            if (module[i] == module[j]) sum += a[i][j] - resolution * out[i] * in[j] / total;
    return sum / total;
}

static double best_from(const slow_net *net, bool weighted, double resolution, uint64_t *module, size_t v,
                        uint64_t used)
{
    if (v == net->count) return slow_modularity(net, module, weighted, resolution);
    double best = -INFINITY;
    for (module[v] = 0; module[v] <= used; module[v]++) {
        uint64_t own = module[v];
        best = fmax(best, best_from(net, weighted, resolution, module, v + 1, own == used ? used + 1 : used));
        module[v] = own;
    }
    return best;
}

double slow_best_modularity(const slow_net *net, bool weighted, double resolution)
{
    uint64_t module[SLOW_NETWORK_MOST] = {0};
    return best_from(net, weighted, resolution, module, 0, 0);
}

double slow_participation(const slow_net *net, const uint64_t *module, bool weighted, size_t v)
{
    matrix a;
    double all = 0, to[SLOW_NETWORK_MOST] = {0}, squares = 0;
    take(a, net, weighted);
    for (size_t w = 0; w < net->count; w++) {
        double between = a[v][w] + a[w][v];
        all += between;
        if (between > 0) to[module[w]] += between;
    }
    for (size_t m = 0; m < net->count; m++)
        squares += to[m] * to[m];
    return all > 0 ? 1 - squares / (all * all) : 0;
}

static double within(const slow_net *net, const uint64_t *module, size_t v)
{
    double edges = 0;
    for (size_t w = 0; w < net->count; w++)
        if (module[w] == module[v])
            edges += (net->weights[v][w] > 0) + (net->directed && net->weights[w][v] > 0);
    return edges;
}

double slow_module_degree_z(const slow_net *net, const uint64_t *module, size_t v)
{
    double members = 0, mean = 0, variance = 0;
    for (size_t w = 0; w < net->count; w++)
        if (module[w] == module[v]) {
            members++;
            mean += within(net, module, w);
        }
    mean /= members;
    for (size_t w = 0; w < net->count; w++)
        if (module[w] == module[v]) variance += pow(within(net, module, w) - mean, 2) / members;
    return variance > 0 ? (within(net, module, v) - mean) / sqrt(variance) : NAN;
}

/* ---- the rich club ---- */

double slow_rich_club(const slow_net *net, size_t k)
{
    double pairs = 0, joined = 0;
    bool rich[SLOW_NETWORK_MOST];
    for (size_t v = 0; v < net->count; v++) {
        size_t edges = 0;
        for (size_t w = 0; w < net->count; w++)
            edges += (size_t)(net->weights[v][w] > 0) + (size_t)(net->directed && net->weights[w][v] > 0);
        rich[v] = edges > k;
    }
    for (size_t v = 0; v < net->count; v++)
        for (size_t w = 0; w < net->count; w++)
            if (v != w && rich[v] && rich[w]) {
                pairs++;
                joined += net->weights[v][w] > 0;
            }
    return pairs > 0 ? joined / pairs : NAN;
}
