/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/motif/census.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

enum { AB = 1, BA = 2, BC = 4, CB = 8, AC = 16, CA = 32, BLOCK = 256 };

const sf_triad sf_triads[SF_TRIADS] = {
    {"003", 0},
    {"012", AB},
    {"102", AB | BA},
    {"021D", BA | BC},
    {"021U", AB | CB},
    {"021C", AB | BC},
    {"111D", AB | BA | CB},
    {"111U", AB | BA | BC},
    {"030T", AB | CB | AC},
    {"030C", BA | CB | AC},
    {"201", AB | BA | BC | CB},
    {"120D", BA | BC | AC | CA},
    {"120U", AB | CB | AC | CA},
    {"120C", AB | BC | AC | CA},
    {"210", AB | BC | CB | AC | CA},
    {"300", AB | BA | BC | CB | AC | CA},
};

/* The edges of a triad after its vertices were given other places. */
static uint8_t permute(uint8_t edges, const uint8_t places[3])
{
    static const uint8_t ends[6][2] = {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 2}, {2, 0}};
    uint8_t permuted = 0;
    for (int e = 0; e < 6; e++)
        for (int to = 0; (edges >> e & 1) != 0 && to < 6; to++)
            if (ends[to][0] == places[ends[e][0]] && ends[to][1] == places[ends[e][1]])
                permuted |= (uint8_t)(1 << to);
    return permuted;
}

void sf_triad_classes(uint8_t classes[SF_TRIAD_CODES])
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (uint8_t t = 0; t < SF_TRIADS; t++)
        for (int o = 0; o < 6; o++)
            classes[permute(sf_triads[t].edges, orders[o])] = t;
}

/* Neighbours in either direction, ascending, and how each is joined. */
enum { OUT = 1, IN = 2, MUTUAL = OUT | IN };

typedef struct neighbourhoods {
    uint64_t *offsets;
    uint32_t *targets;
    uint8_t *dyads;
} neighbourhoods;

static void free_neighbourhoods(neighbourhoods *n)
{
    sf_free(n->offsets);
    sf_free(n->targets);
    sf_free(n->dyads);
}

static void add_neighbour(neighbourhoods *n, uint64_t first, uint64_t *next, uint32_t target, uint8_t dyad)
{
    if (*next > first && n->targets[*next - 1] == target) {
        n->dyads[*next - 1] |= dyad;
        return;
    }
    n->targets[*next] = target;
    n->dyads[(*next)++] = dyad;
}

/* Merges the neighbours out of and into every vertex. */
static void merge_directions(neighbourhoods *n, const sf_csr *out, const sf_csr *in)
{
    uint64_t next = 0;
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        uint64_t o = out->offsets[v], i = in->offsets[v], first = next;
        n->offsets[v] = first;
        while (o < out->offsets[v + 1] || i < in->offsets[v + 1]) {
            bool from_out =
                i == in->offsets[v + 1] || (o < out->offsets[v + 1] && out->targets[o] <= in->targets[i]);
            uint32_t target = from_out ? out->targets[o++] : in->targets[i++];
            if (target != v) add_neighbour(n, first, &next, target, from_out ? OUT : IN);
        }
    }
    n->offsets[out->vertex_count] = next;
}

static int find_neighbourhoods(neighbourhoods *n, const sf_csr *graph, sf_error *error)
{
    uint64_t edges = sf_csr_edge_count(graph);
    sf_csr in;
    if (sf_csr_transpose(&in, graph, error) != SF_OK) return SF_NO_MEMORY;
    *n = (neighbourhoods){.offsets = sf_resize(NULL, (size_t)graph->vertex_count + 1, sizeof *n->offsets),
                          .targets = sf_resize(NULL, 2 * edges, sizeof *n->targets),
                          .dyads = sf_resize(NULL, 2 * edges, sizeof *n->dyads)};
    int status = SF_OK;
    if (n->offsets != NULL && n->targets != NULL && n->dyads != NULL)
        merge_directions(n, graph, &in);
    else
        status = sf_fail_memory(error);
    sf_csr_free(&in);
    return status;
}

typedef struct counting {
    neighbourhoods near;
    uint32_t vertex_count;
    uint8_t classes[SF_TRIAD_CODES];
    uint64_t (*tallies)[SF_TRIADS]; /* by worker */
    const sf_progress *progress;
} counting;

/* The triads of v and its neighbour u with every third vertex near either: those in which the pair is the
 * first of its joined pairs in the order of vertices are counted here, and no others. */
static void count_pair(const counting *c, uint64_t *tally, uint32_t v, uint64_t edge)
{
    const neighbourhoods *n = &c->near;
    uint32_t u = n->targets[edge];
    uint64_t i = n->offsets[v], j = n->offsets[u], near = 0;
    while (i < n->offsets[v + 1] || j < n->offsets[u + 1]) {
        uint32_t of_v = i < n->offsets[v + 1] ? n->targets[i] : SF_NO_VERTEX;
        uint32_t of_u = j < n->offsets[u + 1] ? n->targets[j] : SF_NO_VERTEX;
        uint32_t w = of_v < of_u ? of_v : of_u;
        uint8_t vw = of_v == w ? n->dyads[i++] : 0, uw = of_u == w ? n->dyads[j++] : 0;
        if (w == u || w == v) continue;
        near++;
        if (u < w || (v < w && vw == 0)) tally[c->classes[n->dyads[edge] | uw << 2 | vw << 4]]++;
    }
    tally[n->dyads[edge] == MUTUAL ? 2 : 1] += c->vertex_count - 2 - near;
}

static int count_block(void *context, unsigned worker, size_t block)
{
    const counting *c = context;
    uint32_t first = (uint32_t)block * BLOCK;
    uint32_t stop = c->vertex_count - first < BLOCK ? c->vertex_count : first + BLOCK;
    if (worker == 0 &&
        !sf_progress_update(c->progress, "triads", first, c->vertex_count)) /* the caller's thread */
        return SF_CANCELLED;
    for (uint32_t v = first; v < stop; v++)
        for (uint64_t e = c->near.offsets[v]; e < c->near.offsets[v + 1]; e++)
            if (c->near.targets[e] > v) count_pair(c, c->tallies[worker], v, e);
    return 0;
}

static uint64_t choose_three(uint64_t n)
{
    unsigned __int128 all = n < 3 ? 0 : (unsigned __int128)(n * (n - 1) / 2) * (n - 2) / 3;
    return all < UINT64_MAX ? (uint64_t)all : UINT64_MAX;
}

void sf_triad_complete(uint64_t census[SF_TRIADS], uint32_t vertex_count)
{
    uint64_t joined = 0, all = choose_three(vertex_count);
    for (int t = 1; t < SF_TRIADS; t++)
        joined += census[t];
    census[0] = all == UINT64_MAX ? all : all - joined;
}

static void add_tallies(uint64_t census[SF_TRIADS], const counting *c, unsigned threads)
{
    for (int t = 0; t < SF_TRIADS; t++) {
        census[t] = 0;
        for (unsigned i = 0; i < threads; i++)
            census[t] += c->tallies[i][t];
    }
    sf_triad_complete(census, c->vertex_count);
}

int sf_triad_census(uint64_t census[SF_TRIADS], const sf_csr *graph, unsigned threads,
                    const sf_progress *progress, sf_error *error)
{
    counting c = {.vertex_count = graph->vertex_count, .progress = progress};
    size_t blocks = ((size_t)graph->vertex_count + BLOCK - 1) / BLOCK;
    threads = threads > blocks ? (unsigned)blocks : threads;
    threads = threads > 0 ? threads : 1;
    int status = find_neighbourhoods(&c.near, graph, error);
    if (status == SF_OK) {
        c.tallies = sf_alloc(threads, sizeof *c.tallies);
        status = c.tallies != NULL ? SF_OK : sf_fail_memory(error);
    }
    if (status == SF_OK) {
        sf_triad_classes(c.classes);
        if (sf_parallel_for(threads, blocks, count_block, &c) != 0)
            status = sf_fail(error, SF_CANCELLED, NULL, "was stopped while triads were counted");
        else
            add_tallies(census, &c, threads);
    }
    sf_free(c.tallies);
    free_neighbourhoods(&c.near);
    return status;
}
