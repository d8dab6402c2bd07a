/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/measure/measure.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "graph/measure/modules.h"
#include "graph/measure/paths.h"
#include "graph/measure/shape.h"
#include "graph/search/bfs.h"

#include <math.h>
#include <string.h>

/* So many of the linked units are among the best. */
#define HUB_SHARE 0.2

/* ---- what rewired graphs are measured by, too ---- */

/* Means over all vertices, and over the pairs that a path joins. */
typedef struct path_means {
    double reachable, length, efficiency;
} path_means;

static path_means mean_paths(const sf_path_sums *sums, uint32_t count)
{
    double reached = 0, length = 0, inverse = 0, pairs = (double)count * ((double)count - 1);
    for (uint32_t v = 0; v < count; v++) {
        reached += (double)sums[v].reached;
        length += sums[v].length;
        inverse += sums[v].inverse;
    }
    return (path_means){.reachable = pairs > 0 ? reached / pairs : NAN,
                        .length = reached > 0 ? length / reached : NAN,
                        .efficiency = pairs > 0 ? inverse / pairs : NAN};
}

static double mean_clustering(const sf_clustering *clustering, const sf_net *net)
{
    double sum = 0;
    for (uint32_t v = 0; v < net->count; v++)
        sum += clustering[v].directed;
    return net->count > 0 ? sum / net->count : NAN;
}

/* What a network is compared with rewired ones by: `clubs` and the first numbers of `values`. */
typedef struct comparing {
    double resolution;
    uint64_t seed;
    size_t clubs;
} comparing;

static int take_numbers(const comparing *how, double *values, const sf_net *net, sf_error *error)
{
    uint32_t *module = sf_resize(NULL, net->count, sizeof *module);
    sf_clustering *clustering = sf_resize(NULL, net->count, sizeof *clustering);
    sf_path_sums *sums = sf_resize(NULL, net->count, sizeof *sums);
    sf_club *clubs = sf_alloc(how->clubs, sizeof *clubs);
    size_t found;
    bool held = module != NULL && clustering != NULL && sums != NULL && clubs != NULL;
    int status = held ? sf_clustering_find(clustering, net, error) : sf_fail_memory(error);
    if (status == SF_OK) status = sf_hop_sums(sums, net, error);
    if (status == SF_OK)
        status = sf_modules_find(module, &values[SF_COMPARED_MODULARITY], net, false, how->resolution,
                                 SF_MODULE_ORDERS, how->seed, error);
    if (status == SF_OK) status = sf_clubs_find(clubs, how->clubs, &found, net, error);
    if (status == SF_OK) {
        const path_means paths = mean_paths(sums, net->count);
        values[SF_COMPARED_CLUSTERING] = mean_clustering(clustering, net);
        values[SF_COMPARED_PATH_LENGTH] = paths.length;
        values[SF_COMPARED_EFFICIENCY] = paths.efficiency;
        for (size_t k = 0; k < how->clubs; k++)
            values[SF_COMPARED_MEASURES + k] = clubs[k].coefficient;
    }
    sf_free(module);
    sf_free(clustering);
    sf_free(sums);
    sf_free(clubs);
    return status;
}

static int measure_rewired(const void *what, double *values, const sf_csr *graph, const sf_progress *progress,
                           sf_error *error)
{
    (void)progress; /* one graph takes milliseconds */
    const sf_net_rule all = {0};
    sf_net net;
    int status = sf_net_build(&net, graph, &all, error);
    if (status == SF_OK) status = take_numbers(what, values, &net, error);
    sf_net_free(&net);
    return status;
}

static int compare_rewired(sf_network *network, const sf_csr *simple, const sf_measuring *how,
                           sf_error *error)
{
    const comparing by = {.resolution = how->resolution, .seed = how->seed, .clubs = network->club_count};
    const sf_measure measure = {
        .count = SF_COMPARED_MEASURES + by.clubs, .take = measure_rewired, .what = &by};
    sf_rewired_options options = sf_rewired_options_default();
    options.graphs = how->rewired;
    options.seed = how->seed;
    options.threads = how->threads;
    options.device = "cpu"; /* measuring them takes longer than rewiring them */
    double *values = sf_resize(NULL, measure.count, sizeof *values);
    sf_spread *spreads = sf_alloc(measure.count, sizeof *spreads);
    int status = values != NULL && spreads != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        values[SF_COMPARED_CLUSTERING] = network->clustering_directed;
        values[SF_COMPARED_PATH_LENGTH] = network->path_length;
        values[SF_COMPARED_EFFICIENCY] = network->efficiency;
        values[SF_COMPARED_MODULARITY] = network->modularity;
        for (size_t k = 0; k < by.clubs; k++)
            values[SF_COMPARED_MEASURES + k] = network->clubs[k].coefficient;
        status = sf_spread_find(spreads, values, simple, &measure, &options, NULL, how->progress, error);
    }
    if (status == SF_OK) {
        network->rewired = how->rewired;
        memcpy(network->beside, spreads, sizeof network->beside);
        for (size_t k = 0; k < by.clubs; k++) {
            network->clubs[k].rewired = spreads[SF_COMPARED_MEASURES + k].mean;
            network->clubs[k].z = spreads[SF_COMPARED_MEASURES + k].z;
        }
        network->small_world = network->clustering_directed / spreads[SF_COMPARED_CLUSTERING].mean /
                               (network->path_length / spreads[SF_COMPARED_PATH_LENGTH].mean);
    }
    sf_free(values);
    sf_free(spreads);
    return status;
}

/* ---- vertices ---- */

static double sum_weights(const sf_net *net, const sf_neighbours *edges, uint32_t v)
{
    double sum = 0;
    for (uint32_t e = edges->first[v]; e < edges->first[v + 1]; e++)
        sum += edges->weights[e];
    return sum * net->greatest;
}

static void count_edges(sf_vertex_measures *m, const sf_net *net, uint32_t v)
{
    m->degree = net->both.first[v + 1] - net->both.first[v];
    m->out_degree = net->directed ? net->out.first[v + 1] - net->out.first[v] : SF_NO_COUNT;
    m->in_degree = net->directed ? net->in.first[v + 1] - net->in.first[v] : SF_NO_COUNT;
    double out = net->weighted ? sum_weights(net, &net->out, v) : NAN;
    double in = net->weighted ? sum_weights(net, &net->in, v) : NAN;
    m->strength = net->directed ? out + in : out;
    m->out_strength = net->directed ? out : NAN;
    m->in_strength = net->directed ? in : NAN;
}

/* A column of the vertices, which is measured into an array of its own. */
static void put_column(sf_vertex_measures *vertices, size_t offset, const double *values, uint32_t count)
{
    for (uint32_t v = 0; v < count; v++)
        memcpy((char *)&vertices[v] + offset, &values[v], sizeof *values);
}

static double mean_column(const sf_vertex_measures *vertices, size_t offset, size_t count)
{
    double sum = 0;
    for (size_t v = 0; v < count; v++) {
        double value;
        memcpy(&value, (const char *)&vertices[v] + offset, sizeof value);
        sum += value;
    }
    return count > 0 ? sum / (double)count : NAN;
}

#define COLUMN(member) offsetof(sf_vertex_measures, member)
#define MEAN(member) mean_column(m->vertices, COLUMN(member), m->vertex_count)

/* Room for what is measured of every vertex in turn. */
typedef struct columns {
    double *values;
    sf_path_sums *sums;
    sf_clustering *clustering;
    uint32_t *module;
} columns;

static void close_columns(columns *c)
{
    sf_free(c->values);
    sf_free(c->sums);
    sf_free(c->clustering);
    sf_free(c->module);
}

static int open_columns(columns *c, uint32_t count, sf_error *error)
{
    *c = (columns){.values = sf_resize(NULL, count, sizeof *c->values),
                   .sums = sf_resize(NULL, count, sizeof *c->sums),
                   .clustering = sf_resize(NULL, count, sizeof *c->clustering),
                   .module = sf_resize(NULL, count, sizeof *c->module)};
    bool held = c->values != NULL && c->sums != NULL && c->clustering != NULL && c->module != NULL;
    return held ? SF_OK : sf_fail_memory(error);
}

static int measure_triangles(sf_network_measures *m, columns *c, const sf_net *net, sf_error *error)
{
    int status = sf_clustering_find(c->clustering, net, error);
    for (uint32_t v = 0; status == SF_OK && v < net->count; v++) {
        m->vertices[v].clustering = c->clustering[v].binary;
        m->vertices[v].clustering_directed = c->clustering[v].directed;
        m->vertices[v].clustering_weighted = net->weighted ? c->clustering[v].weighted : NAN;
    }
    return status;
}

/* Paths in edges, or by lengths: of every vertex, and in all. */
static int measure_paths(sf_network_measures *m, columns *c, const sf_net *net, bool by_length,
                         const sf_measuring *how, sf_error *error)
{
    sf_network *network = &m->network;
    int status = sf_betweenness(c->values, c->sums, net, by_length, how->threads, how->progress, error);
    if (status != SF_OK) return status;
    const path_means paths = mean_paths(c->sums, net->count);
    double most = 0;
    for (uint32_t v = 0; v < net->count; v++)
        most = fmax(most, c->values[v]);
    put_column(m->vertices, by_length ? COLUMN(betweenness_weighted) : COLUMN(betweenness), c->values,
               net->count);
    *(by_length ? &network->betweenness_weighted : &network->betweenness) = most;
    *(by_length ? &network->path_length_weighted : &network->path_length) = paths.length;
    *(by_length ? &network->efficiency_weighted : &network->efficiency) = paths.efficiency;
    network->reachable = paths.reachable;
    for (uint32_t v = 0; v < net->count; v++)
        c->values[v] = c->sums[v].reached > 0 ? c->sums[v].length / (double)c->sums[v].reached : NAN;
    put_column(m->vertices, by_length ? COLUMN(path_length_weighted) : COLUMN(path_length), c->values,
               net->count);
    status = sf_local_efficiency(c->values, net, by_length, how->threads, how->progress, error);
    if (status == SF_OK)
        put_column(m->vertices, by_length ? COLUMN(local_efficiency_weighted) : COLUMN(local_efficiency),
                   c->values, net->count);
    return status;
}

/* Modules of linked vertices: the number of the last, and one more. */
static uint64_t put_modules(sf_network_measures *m, size_t offset, const uint32_t *module)
{
    uint64_t modules = 0;
    for (size_t v = 0; v < m->vertex_count; v++) {
        uint64_t own = m->vertices[v].degree > 0 ? module[v] : SF_NO_COUNT;
        memcpy((char *)&m->vertices[v] + offset, &own, sizeof own);
        if (own != SF_NO_COUNT && own >= modules) modules = own + 1;
    }
    return modules;
}

static int measure_modules(sf_network_measures *m, columns *c, const sf_net *net, bool weighted,
                           const sf_measuring *how, sf_error *error)
{
    sf_network *network = &m->network;
    int status = sf_modules_find(c->module, weighted ? &network->modularity_weighted : &network->modularity,
                                 net, weighted, how->resolution, SF_MODULE_ORDERS, how->seed, error);
    if (status == SF_OK) status = sf_participation_find(c->values, c->module, net, weighted, error);
    if (status != SF_OK) return status;
    put_column(m->vertices, weighted ? COLUMN(participation_weighted) : COLUMN(participation), c->values,
               net->count);
    *(weighted ? &network->modules_weighted : &network->modules) =
        put_modules(m, weighted ? COLUMN(module_weighted) : COLUMN(module), c->module);
    if (weighted) return SF_OK;
    status = sf_module_degree_find(c->values, c->module, net, error);
    if (status == SF_OK) put_column(m->vertices, COLUMN(module_degree_z), c->values, net->count);
    return status;
}

/* ---- hubs ---- */

/* A point for every linked vertex that at most HUB_SHARE of them are as good as, itself included: the greater
 * the better. */
static void score(sf_network_measures *m, double *goodness, double *sorted)
{
    size_t linked = 0;
    for (size_t v = 0; v < m->vertex_count; v++)
        if (m->vertices[v].degree > 0)
            sorted[linked++] = goodness[v] = isnan(goodness[v]) ? -INFINITY : goodness[v];
    sf_reals_sort(sorted, linked);
    for (size_t v = 0; v < m->vertex_count; v++) {
        if (m->vertices[v].degree == 0) continue;
        size_t as_good = linked - sf_reals_lower_bound(sorted, linked, goodness[v]);
        m->vertices[v].hub_score += (double)as_good <= HUB_SHARE * (double)linked;
    }
}

static int find_hubs(sf_network_measures *m, sf_error *error)
{
    double *goodness = sf_resize(NULL, m->vertex_count, 2 * sizeof *goodness);
    if (goodness == NULL) return sf_fail_memory(error);
    for (int criterion = 0; criterion < 4; criterion++) {
        for (size_t v = 0; v < m->vertex_count; v++) {
            const sf_vertex_measures *of = &m->vertices[v];
            const double by[] = {(double)of->degree, of->betweenness, -of->path_length, -of->clustering};
            goodness[v] = by[criterion];
        }
        score(m, goodness, goodness + m->vertex_count);
    }
    for (size_t v = 0; v < m->vertex_count; v++) {
        m->vertices[v].hub = m->vertices[v].hub_score >= SF_HUB_SCORE;
        m->network.hubs += m->vertices[v].hub;
    }
    sf_free(goodness);
    return SF_OK;
}

/* ---- in all ---- */

static int count_components(sf_network *network, const sf_csr *simple, sf_error *error)
{
    uint32_t n = simple->vertex_count;
    uint32_t *component = sf_alloc(n, 2 * sizeof *component);
    if (component == NULL) return sf_fail_memory(error);
    uint32_t *sizes = component + n;
    network->components = sf_components(simple, component);
    for (uint32_t v = 0; v < n; v++)
        if (++sizes[component[v]] > network->largest_component)
            network->largest_component = sizes[component[v]];
    sf_free(component);
    return SF_OK;
}

static double reciprocity_of(const sf_net *net)
{
    uint64_t mutual = 0;
    for (uint32_t e = 0; e < net->both.first[net->count]; e++)
        mutual += net->ways[e] == 2; /* each pair is met from both ends, so this counts edges */
    return net->directed && net->edges > 0 ? (double)mutual / (double)net->edges : NAN;
}

static void sum_up(sf_network_measures *m, const sf_net *net)
{
    sf_network *network = &m->network;
    double n = net->count, pairs = net->directed ? n * (n - 1) : n * (n - 1) / 2;
    network->vertices = net->count;
    network->edges = net->edges;
    network->left_out = net->left_out;
    network->density = pairs > 0 ? (double)net->edges / pairs : NAN;
    network->degree = n > 0 ? (double)net->both.first[net->count] / n : NAN;
    network->reciprocity = reciprocity_of(net);
    for (uint32_t v = 0; v < net->count; v++)
        network->isolated += m->vertices[v].degree == 0;
    network->strength = MEAN(strength);
    network->clustering = MEAN(clustering);
    network->clustering_directed = MEAN(clustering_directed);
    network->clustering_weighted = MEAN(clustering_weighted);
    network->local_efficiency = MEAN(local_efficiency);
    network->local_efficiency_weighted = MEAN(local_efficiency_weighted);
    network->participation = MEAN(participation);
    network->participation_weighted = MEAN(participation_weighted);
}

static int open_clubs(sf_network *network, const sf_net *net, sf_error *error)
{
    size_t most = 0;
    for (uint32_t v = 0; v < net->count; v++)
        most = sf_net_degree(net, v) >= most ? sf_net_degree(net, v) + 1 : most;
    network->clubs = sf_alloc(most, sizeof *network->clubs);
    if (network->clubs == NULL) return sf_fail_memory(error);
    return sf_clubs_find(network->clubs, most, &network->club_count, net, error);
}

/* What nothing is told of where there are no weights. */
static void leave_out_weighted(sf_network_measures *m)
{
    sf_network *network = &m->network;
    network->path_length_weighted = network->efficiency_weighted = network->betweenness_weighted = NAN;
    network->modularity_weighted = NAN;
    network->modules_weighted = SF_NO_COUNT;
    for (size_t v = 0; v < m->vertex_count; v++) {
        sf_vertex_measures *of = &m->vertices[v];
        of->path_length_weighted = of->local_efficiency_weighted = of->betweenness_weighted = NAN;
        of->participation_weighted = NAN;
        of->module_weighted = SF_NO_COUNT;
    }
}

static int measure_vertices(sf_network_measures *m, const sf_csr *graph, const sf_net *net,
                            const sf_measuring *how, sf_error *error)
{
    columns c;
    int status = open_columns(&c, net->count, error);
    m->vertices = sf_alloc(net->count, sizeof *m->vertices);
    if (status == SF_OK && m->vertices == NULL) status = sf_fail_memory(error);
    for (uint32_t v = 0; status == SF_OK && v < net->count; v++) {
        m->vertices[v].unit = net->vertices[v];
        m->vertices[v].unit_name = graph->names != NULL ? graph->names[net->vertices[v]] : NULL;
        count_edges(&m->vertices[v], net, v);
    }
    m->vertex_count = status == SF_OK ? net->count : 0;
    if (status == SF_OK) status = measure_triangles(m, &c, net, error);
    if (!net->weighted) leave_out_weighted(m);
    for (int by = 0; by < (net->weighted ? 2 : 1) && status == SF_OK; by++) {
        status = measure_paths(m, &c, net, by == 1, how, error);
        if (status == SF_OK) status = measure_modules(m, &c, net, by == 1, how, error);
    }
    close_columns(&c);
    return status == SF_OK ? find_hubs(m, error) : status;
}

int sf_network_measures_find(sf_network_measures *m, const sf_csr *graph, const sf_measuring *how,
                             sf_error *error)
{
    static const sf_spread none = {NAN, NAN, NAN};
    sf_net net;
    sf_csr simple = {0};
    *m = (sf_network_measures){.network = {.small_world = NAN}};
    for (int i = 0; i < SF_COMPARED_MEASURES; i++)
        m->network.beside[i] = none;
    int status = sf_net_build(&net, graph, &how->rule, error);
    if (status == SF_OK) status = measure_vertices(m, graph, &net, how, error);
    if (status == SF_OK) {
        sum_up(m, &net);
        status = sf_net_topology(&simple, &net, error);
    }
    if (status == SF_OK) status = count_components(&m->network, &simple, error);
    if (status == SF_OK) status = open_clubs(&m->network, &net, error);
    if (status == SF_OK && how->rewired > 0 && net.edges > 1)
        status = compare_rewired(&m->network, &simple, how, error);
    sf_csr_free(&simple);
    sf_net_free(&net);
    return status;
}

void sf_network_measures_free(sf_network_measures *m)
{
    sf_free(m->network.clubs);
    sf_free(m->vertices);
    *m = (sf_network_measures){0};
}
