/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_searches [DEVICE [KIND]]   cuda, or none: the CPU alone; KIND: that row alone, with its levels
 *
 * Every way of searching on twenty kinds of graphs, with hubs and without, of few levels and of thousands.
 * The medians of searches from the same random sources of the greatest component, in ms; and how `auto`
 * stands beside the best of its own ways (1: it is the best). All answers of a kind are compared: levels are
 * equal.
 */
#include "core/backend/find.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "graph/search/device.h"
#include "graph/store/csr.h"
#include "graph/store/kronecker.h"
#include "graph/store/power_law.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SOURCES = 9, WAYS = 8, MOST_SHOWN = 40 };

/* ---- graphs ---- */

typedef struct drawing {
    sf_edge_list list;
    size_t room;
    uint32_t n, counter;
} drawing;

static uint32_t draw(drawing *d, uint32_t below)
{
    philox4x32_ctr_t at = {{d->counter++, 0, 0, 0x5ea2c4}};
    philox4x32_key_t key = {{11, 0}};
    return (uint32_t)(((uint64_t)philox4x32(at, key).v[0] * below) >> 32);
}

static void link(drawing *d, uint32_t from, uint32_t to)
{
    if (from != to && d->list.edge_count < d->room) d->list.edges[d->list.edge_count++] = (sf_edge){from, to};
}

/* Unions of random cycles: every vertex has `degree` neighbours, an even number, less what falls together. */
static void regular(drawing *d, double degree, double unused)
{
    (void)unused;
    uint32_t *order = sf_resize(NULL, d->n, sizeof *order);
    for (int cycle = 0; order != NULL && cycle < (int)ceil(degree / 2); cycle++) {
        for (uint32_t i = 0; i < d->n; i++)
            order[i] = i;
        for (uint32_t i = d->n - 1; i > 0; i--) {
            uint32_t j = draw(d, i + 1), kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        bool half = cycle * 2 + 1 > (int)degree - 1 && (int)degree % 2 == 1; /* a matching, not a cycle */
        for (uint32_t i = 0; i + 1 < d->n; i += half ? 2 : 1)
            link(d, order[i], order[i + 1]);
    }
    sf_free(order);
}

static void uniform(drawing *d, double degree, double unused)
{
    (void)unused;
    for (uint64_t e = 0; e < (uint64_t)(d->n * degree / 2); e++)
        link(d, draw(d, d->n), draw(d, d->n));
}

/* Watts and Strogatz: a ring, each linked to the next few, some links led elsewhere. */
static void small_world(drawing *d, double degree, double rewired)
{
    for (uint32_t v = 0; v < d->n; v++)
        for (uint32_t k = 1; k <= (uint32_t)degree / 2; k++)
            link(d, v, draw(d, 1u << 20) < rewired * (1u << 20) ? draw(d, d->n) : (v + k) % d->n);
}

/* A square of cells, each linked to all within `reach` cells, with a chance; and shortcuts of random ends. */
static void plane(drawing *d, double reach, double shortcuts)
{
    uint32_t side = (uint32_t)sqrt(d->n);
    int far = (int)reach;
    for (uint32_t v = 0; v < side * side; v++)
        for (int dy = 0; dy <= far; dy++)
            for (int dx = dy > 0 ? -far : 1; dx <= far; dx++) {
                int x = (int)(v % side) + dx, y = (int)(v / side) + dy;
                if (dx * dx + dy * dy <= far * far && x >= 0 && x < (int)side && y < (int)side)
                    link(d, v, (uint32_t)y * side + (uint32_t)x);
            }
    for (uint64_t e = 0; e < (uint64_t)(d->n * shortcuts); e++)
        link(d, draw(d, d->n), draw(d, d->n));
}

static void cube(drawing *d, double unused, double also)
{
    (void)unused;
    (void)also;
    uint32_t side = (uint32_t)cbrt(d->n + 0.5);
    for (uint32_t v = 0; v < side * side * side; v++) {
        if (v % side + 1 < side) link(d, v, v + 1);
        if (v / side % side + 1 < side) link(d, v, v + side);
        if (v / side / side + 1 < side) link(d, v, v + side * side);
    }
}

/* Every vertex hangs on one before it: `arity` a parent, or a random one (0). */
static void tree(drawing *d, double arity, double unused)
{
    (void)unused;
    for (uint32_t v = 1; v < d->n; v++)
        link(d, v, arity > 0 ? (v - 1) / (uint32_t)arity : draw(d, v));
}

/* Barabasi and Albert: each new vertex is linked to `degree` / 2 ends of edges. */
static void attached(drawing *d, double degree, double unused)
{
    (void)unused;
    for (uint32_t v = 1; v < d->n; v++)
        for (uint32_t k = 0; k < (uint32_t)degree / 2; k++) {
            const sf_edge *e =
                d->list.edge_count > 0 ? &d->list.edges[draw(d, (uint32_t)d->list.edge_count)] : NULL;
            link(d, v, e == NULL ? 0 : draw(d, 2) ? e->from : e->to);
        }
}

/* Communities of 1,000, `degree` within and `between` out of each. */
static void communities(drawing *d, double degree, double between)
{
    for (uint32_t v = 0; v < d->n; v++) {
        uint32_t first = v / 1000 * 1000, size = d->n - first < 1000 ? d->n - first : 1000;
        for (uint32_t k = 0; k < (uint32_t)degree / 2; k++)
            link(d, v, first + draw(d, size));
        if (draw(d, 1u << 20) < between / 2 * (1u << 20)) link(d, v, draw(d, d->n));
    }
}

typedef struct kind {
    const char *name;
    void (*make)(drawing *d, double a,
                 double b); /**< NULL: a Kronecker graph of scale and edge factor a, b; or by a power law */
    uint32_t n;
    double a, b;
} kind;

static const kind kinds[] = {
    {"regular-3", regular, 1000000, 3, 0},
    {"regular-8", regular, 1000000, 8, 0},
    {"regular-32", regular, 500000, 32, 0},
    {"uniform-4", uniform, 1000000, 4, 0},
    {"uniform-16", uniform, 1000000, 16, 0},
    {"small-world-0.01", small_world, 1000000, 8, 0.01},
    {"small-world-0.1", small_world, 1000000, 8, 0.1},
    {"grid", plane, 4000000, 1, 0},
    {"geometric", plane, 1000000, 3, 0},
    {"geometric-shortcuts", plane, 1000000, 3, 0.01},
    {"geometric-small-world", plane, 1000000, 2, 0.1},
    {"cube", cube, 1000000, 0, 0},
    {"binary-tree", tree, 1000000, 2, 0},
    {"random-tree", tree, 1000000, 0, 0},
    {"path", tree, 20000, 1, 0},
    {"attached-8", attached, 1000000, 8, 0},
    {"communities", communities, 1000000, 16, 0.2},
    {"power-law", NULL, 1000000, 16, 0},
    {"kronecker-18", NULL, 0, 18, 16},
    {"kronecker-20", NULL, 0, 20, 16},
};

static int make_edges(sf_edge_list *list, const kind *k, sf_error *error)
{
    if (k->make == NULL && k->n == 0) {
        char text[32];
        sf_kronecker kronecker;
        snprintf(text, sizeof text, "%.0f:%.0f:1", k->a, k->b);
        int status = sf_kronecker_parse(&kronecker, text, error);
        return status == SF_OK ? sf_kronecker_edges(list, &kronecker, 1, NULL, error) : status;
    }
    if (k->make == NULL)
        return sf_power_law_edges(list, &(sf_power_law){k->n, (uint64_t)(k->n * k->a / 2), 0.7, 10, 0, 5},
                                  error);
    drawing d = {.n = k->n, .room = (size_t)k->n * 20};
    d.list.vertex_count = k->n;
    d.list.edges = sf_alloc(d.room, sizeof *d.list.edges);
    d.list.edge_capacity = d.room;
    if (d.list.edges == NULL) return sf_fail_memory(error);
    k->make(&d, k->a, k->b);
    *list = d.list;
    return SF_OK;
}

/* ---- searches ---- */

typedef struct bench {
    const kind *kind;
    sf_csr graph;
    uint32_t sources[SOURCES];
    uint64_t sums[SOURCES]; /**< of levels, by the first way */
    double ms[WAYS];
    size_t ways;
    bool wrong, shows;
} bench;

static int draw_sources(bench *b, sf_error *error)
{
    sf_bfs_result result = {0};
    drawing d = {.counter = 1u << 30};
    uint32_t root = 0;
    for (int tries = 0; tries < 50 && result.reached < b->graph.vertex_count / 2; tries++) {
        sf_bfs_result_free(&result);
        root = draw(&d, b->graph.vertex_count);
        int status = sf_bfs(&result, &b->graph, root, UINT32_MAX, error);
        if (status != SF_OK) return status;
    }
    for (size_t i = 0; i < SOURCES; i++)
        do
            b->sources[i] = draw(&d, b->graph.vertex_count);
        while (result.levels[b->sources[i]] == UINT32_MAX);
    sf_bfs_result_free(&result);
    return SF_OK;
}

static void keep(bench *b, size_t i, const sf_bfs_result *result)
{
    uint64_t sum = 1;
    for (uint32_t v = 0; v < b->graph.vertex_count; v++)
        sum = sum * 31 + result->levels[v];
    if (b->ways == 0) b->sums[i] = sum;
    b->wrong |= sum != b->sums[i];
}

static void show(const bench *b, const char *name, const sf_backend_level *log, uint32_t count)
{
    if (!b->shows) return;
    printf("  %s:", name);
    for (uint32_t i = 0; i < count && i < MOST_SHOWN; i++)
        printf(" %llu%s%.1f", (unsigned long long)log[i].found, log[i].bottom_up ? "^" : "v",
               log[i].seconds * 1e6);
    printf("\n");
}

static int search_here(bench *b, const char *name, const sf_bfs_options *options, sf_error *error)
{
    sf_bfs_search *search = NULL;
    double took[SOURCES];
    int status = options != NULL ? sf_bfs_open(&search, &b->graph, options, error) : SF_OK;
    for (size_t i = 0; i <= SOURCES && status == SF_OK; i++) { /* the first twice */
        size_t of = i > 0 ? i - 1 : 0;
        sf_bfs_result result = {0};
        status = search != NULL ? sf_bfs_run(search, b->sources[of], &result, error)
                                : sf_bfs(&result, &b->graph, b->sources[of], UINT32_MAX, error);
        if (status != SF_OK) break;
        took[of] = result.seconds * 1e3;
        keep(b, of, &result);
        if (search != NULL && i == SOURCES) show(b, name, sf_bfs_levels(search), result.depth + 1);
        sf_bfs_result_free(&result);
    }
    sf_bfs_close(search);
    sf_reals_sort(took, SOURCES);
    b->ms[b->ways++] = took[SOURCES / 2];
    return status;
}

static int search_there(bench *b, const char *name, const sf_device_graph *graph, sf_bfs_direction direction,
                        sf_error *error)
{
    sf_device_search search;
    double took[SOURCES];
    sf_backend_level log[MOST_SHOWN];
    int status =
        sf_device_search_open(&search, graph, &(sf_backend_search_options){.direction = direction}, error);
    if (status != SF_OK) return status;
    uint32_t n = b->graph.vertex_count;
    sf_bfs_result result = {.levels = sf_alloc(n, sizeof *result.levels)};
    for (size_t i = 0; i <= 3 * SOURCES && status == SF_OK && result.levels != NULL; i++) {
        size_t of = i % SOURCES;
        sf_backend_bfs_job job = {
            .source = b->sources[of], .levels = result.levels, .log = log, .log_room = MOST_SHOWN};
        status = sf_device_search_job(&search, &job, error);
        took[of] = i < SOURCES ? job.seconds * 1e3 : fmin(took[of], job.seconds * 1e3);
        keep(b, of, &result);
        if (i == 3 * SOURCES) show(b, name, log, job.depth + 1);
    }
    sf_free(result.levels);
    sf_device_search_close(&search);
    sf_reals_sort(took, SOURCES);
    b->ms[b->ways++] = took[SOURCES / 2];
    return status;
}

static int run_ways(bench *b, sf_device *device, sf_error *error)
{
    static const char *const names[] = {"auto", "top-down", "bottom-up"};
    int status = search_here(b, "queue", NULL, error);
    for (unsigned threads = 1; threads != UINT32_MAX && status == SF_OK;
         threads = threads == 1 ? 0 : UINT32_MAX)
        status = search_here(b, names[0], &(sf_bfs_options){.threads = threads}, error);
    if (status != SF_OK || device == NULL) return status;
    sf_device_graph graph;
    status = sf_device_graph_open(&graph, device, &b->graph, error);
    if (status != SF_OK) return status;
    for (int direction = SF_BFS_AUTO; direction <= SF_BFS_BOTTOM_UP && status == SF_OK; direction++)
        status = search_there(b, names[direction], &graph, (sf_bfs_direction)direction, error);
    sf_device_graph_close(&graph);
    return status;
}

static int run(const kind *k, sf_device *device, bool shows, sf_error *error)
{
    bench b = {.kind = k, .shows = shows};
    sf_edge_list list = {0};
    int status = make_edges(&list, k, error);
    if (status == SF_OK) status = sf_csr_build(&b.graph, &list, SF_CSR_SIMPLE, error);
    sf_edge_list_free(&list);
    if (status == SF_OK) status = draw_sources(&b, error);
    if (status == SF_OK) status = run_ways(&b, device, error);
    if (status == SF_OK) {
        printf("%-22s %9u %9llu", k->name, b.graph.vertex_count,
               (unsigned long long)sf_csr_edge_count(&b.graph));
        for (size_t i = 0; i < b.ways; i++)
            printf(" %9.4f", b.ms[i]);
        printf("  %5.2f", b.ms[0] / b.ms[1]);
        if (device != NULL) printf(" %5.2f", fmin(fmin(b.ms[3], b.ms[4]), b.ms[5]) / b.ms[3]);
        printf("%s\n", b.wrong ? "  LEVELS DIFFER" : "");
        fflush(stdout);
    }
    sf_csr_free(&b.graph);
    return status == SF_OK && b.wrong ? SF_INTERNAL : status;
}

int main(int argc, char **argv)
{
    sf_error error = {.text = "levels differ"};
    sf_device *device = NULL;
    int status = argc > 1 && strcmp(argv[1], "none") != 0 ? sf_device_find(&device, argv[1], &error) : SF_OK;
    printf("%-22s %9s %9s %9s %9s %9s %9s %9s %9s  queue/auto, best/auto\n", "graph", "vertices", "edges",
           "queue", "auto, 1", "auto, all", "device", "top-down", "bottom-up");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == SF_OK; i++)
        if (argc < 3 || strcmp(argv[2], kinds[i].name) == 0)
            status = run(&kinds[i], device, argc > 2, &error);
    if (status != SF_OK) fprintf(stderr, "bench_searches: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
