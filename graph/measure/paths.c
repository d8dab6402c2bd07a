/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/measure/paths.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- in edges, from 64 vertices at once ---- */

enum { TOGETHER = 64 };

/* Adds what a level reaches to the sums of the sources whose bits are set. */
static void add_level(sf_path_sums *sums, uint64_t bits, uint32_t level)
{
    for (; bits != 0; bits &= bits - 1) {
        sf_path_sums *sum = &sums[__builtin_ctzll(bits)];
        sum->reached++;
        sum->length += level;
        sum->inverse += 1.0 / level;
    }
}

/* From vertices first .. first + count - 1; `words` has room for three words a vertex. */
static void search_together(sf_path_sums *sums, const sf_neighbours *in, uint32_t vertices, uint32_t first,
                            uint32_t count, uint64_t *words)
{
    uint64_t *seen = words, *now = words + vertices, *next = now + vertices, all = 0, any = 1;
    memset(words, 0, 2 * (size_t)vertices * sizeof *words);
    for (uint32_t i = 0; i < count; i++)
        all |= seen[first + i] = now[first + i] = (uint64_t)1 << i;
    for (uint32_t level = 1; any != 0; level++) {
        any = 0;
        for (uint32_t v = 0; v < vertices; v++) {
            uint64_t bits = 0;
            if (seen[v] != all)
                for (uint32_t e = in->first[v]; e < in->first[v + 1]; e++)
                    bits |= now[in->ids[e]];
            next[v] = bits & ~seen[v];
            any |= next[v];
            add_level(sums, next[v], level);
        }
        for (uint32_t v = 0; v < vertices; v++)
            seen[v] |= next[v];
        uint64_t *swapped = now;
        now = next;
        next = swapped;
    }
}

static void sum_hops(sf_path_sums *sums, const sf_neighbours *in, uint32_t vertices, uint64_t *words)
{
    memset(sums, 0, vertices * sizeof *sums);
    for (uint32_t first = 0; first < vertices; first += TOGETHER) {
        uint32_t left = vertices - first;
        search_together(sums + first, in, vertices, first, left < TOGETHER ? left : TOGETHER, words);
    }
}

int sf_hop_sums(sf_path_sums *sums, const sf_net *net, sf_error *error)
{
    uint64_t *words = sf_resize(NULL, net->count, 3 * sizeof *words);
    if (words == NULL) return sf_fail_memory(error);
    sum_hops(sums, &net->in, net->count, words);
    sf_free(words);
    return SF_OK;
}

/* ---- from one vertex ---- */

typedef struct waiting {
    double distance;
    uint32_t vertex;
} waiting;

/* One search: the vertices in the order in which their distance became final, their distances, and the number
 * of shortest paths to each. */
typedef struct search {
    double *distance, *paths, *share;
    uint32_t *order;
    waiting *heap;
    uint32_t found;
    size_t waits;
} search;

static void close_search(search *s)
{
    sf_free(s->distance);
    sf_free(s->order);
    sf_free(s->heap);
}

static int open_search(search *s, uint32_t vertices, size_t edges, sf_error *error)
{
    *s = (search){.distance = sf_resize(NULL, vertices, 3 * sizeof *s->distance),
                  .order = sf_resize(NULL, vertices, sizeof *s->order),
                  .heap = sf_resize(NULL, edges + 1, sizeof *s->heap)};
    if (s->distance == NULL || s->order == NULL || s->heap == NULL) return sf_fail_memory(error);
    s->paths = s->distance + vertices;
    s->share = s->paths + vertices;
    return SF_OK;
}

static void push(search *s, double distance, uint32_t vertex)
{
    size_t at = s->waits++;
    for (; at > 0 && s->heap[(at - 1) / 2].distance > distance; at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = (waiting){distance, vertex};
}

static waiting pop(search *s)
{
    const waiting top = s->heap[0], last = s->heap[--s->waits];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->waits; at = child) {
        child += child + 1 < s->waits && s->heap[child + 1].distance < s->heap[child].distance;
        if (s->heap[child].distance >= last.distance) break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = last;
    return top;
}

/* The next vertex reached: of those that wait the nearest, or where all edges are as long the first. */
static bool next_vertex(search *s, bool by_length, uint32_t *vertex, uint32_t *read)
{
    if (!by_length) {
        *vertex = *read < s->found ? s->order[*read] : SF_NO_VERTEX;
        return (*read)++ < s->found;
    }
    while (s->waits > 0) {
        const waiting w = pop(s);
        if (w.distance > s->distance[w.vertex]) continue; /* it was reached on a shorter path */
        s->order[s->found++] = w.vertex;
        *vertex = w.vertex;
        return true;
    }
    return false;
}

/* Dijkstra's search, or in edges a breadth-first one. */
static void search_from(search *s, const sf_neighbours *out, uint32_t vertices, uint32_t source,
                        bool by_length)
{
    for (uint32_t v = 0; v < vertices; v++) {
        s->distance[v] = INFINITY;
        s->paths[v] = 0;
    }
    s->distance[source] = 0;
    s->paths[source] = 1;
    s->found = by_length ? 0 : 1;
    s->waits = 0;
    s->order[0] = source;
    if (by_length) push(s, 0, source);
    for (uint32_t v, read = 0; next_vertex(s, by_length, &v, &read);)
        for (uint32_t e = out->first[v]; e < out->first[v + 1]; e++) {
            uint32_t w = out->ids[e];
            double distance = s->distance[v] + (by_length ? out->lengths[e] : 1);
            if (distance < s->distance[w]) {
                s->distance[w] = distance;
                s->paths[w] = s->paths[v];
                if (by_length)
                    push(s, distance, w);
                else
                    s->order[s->found++] = w;
            } else if (distance <= s->distance[w]) { /* as short */
                s->paths[w] += s->paths[v];
            }
        }
}

static sf_path_sums sum_search(const search *s)
{
    sf_path_sums sum = {.reached = s->found - 1};
    for (uint32_t i = 1; i < s->found; i++) {
        sum.length += s->distance[s->order[i]];
        sum.inverse += 1 / s->distance[s->order[i]];
    }
    return sum;
}

/* From the farthest vertex back: what depends on each is shared among those before it on shortest paths. */
static void add_dependencies(double *betweenness, const search *s, const sf_neighbours *out, bool by_length)
{
    for (uint32_t i = s->found; i-- > 0;) {
        uint32_t v = s->order[i];
        s->share[v] = 0;
        for (uint32_t e = out->first[v]; e < out->first[v + 1]; e++) {
            uint32_t w = out->ids[e];
            double distance = s->distance[v] + (by_length ? out->lengths[e] : 1);
            if (distance <= s->distance[w]) /* never less */
                s->share[v] += s->paths[v] / s->paths[w] * (1 + s->share[w]);
        }
        if (i > 0) betweenness[v] += s->share[v];
    }
}

/* ---- all vertices ---- */

/* the number of parts that sources are divided into; their sums are added in order */
enum { PARTS = 64 };

typedef struct work {
    const sf_net *net;
    bool by_length;
    unsigned threads;
    const sf_progress *progress;
    double *out; /* betweenness, PARTS rows; or efficiency */
    sf_path_sums *sums;
    search *searches; /* by worker */
    uint32_t *local;  /* by worker, of local efficiency: the number of each vertex among the neighbours */
    size_t done_of;
    atomic_size_t done;
    atomic_bool stop;
} work;

static bool goes_on(work *w, unsigned worker)
{
    size_t done = atomic_fetch_add(&w->done, 1);
    if (worker == 0 && !sf_progress_update(w->progress, "measuring", (double)done, (double)w->done_of))
        atomic_store(&w->stop, true);
    return !atomic_load(&w->stop);
}

static int search_part(void *context, unsigned worker, size_t part)
{
    work *w = context;
    const sf_net *net = w->net;
    search *s = &w->searches[worker];
    for (uint32_t v = (uint32_t)part; v < net->count; v += PARTS) {
        if (!goes_on(w, worker)) return SF_CANCELLED;
        search_from(s, &net->out, net->count, v, w->by_length);
        add_dependencies(w->out + part * net->count, s, &net->out, w->by_length);
        if (w->sums != NULL) w->sums[v] = sum_search(s);
    }
    return SF_OK;
}

static void close_work(work *w)
{
    for (unsigned t = 0; w->searches != NULL && t < w->threads; t++)
        close_search(&w->searches[t]);
    sf_free(w->searches);
    sf_free(w->local);
}

static int open_work(work *w, sf_error *error)
{
    w->threads = w->threads > 0 ? w->threads : sf_thread_cores();
    w->searches = sf_alloc(w->threads, sizeof *w->searches);
    int status = w->searches != NULL ? SF_OK : sf_fail_memory(error);
    for (unsigned t = 0; t < w->threads && status == SF_OK; t++)
        status = open_search(&w->searches[t], w->net->count, w->net->out.first[w->net->count], error);
    return status;
}

static int run_work(work *w, size_t items, int (*body)(void *, unsigned, size_t), sf_error *error)
{
    int status = items > 0 ? sf_parallel_for(w->threads, items, body, w) : SF_OK;
    if (status == SF_CANCELLED) return sf_fail(error, status, NULL, "stopped while measuring");
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

int sf_betweenness(double *betweenness, sf_path_sums *sums, const sf_net *net, bool by_length,
                   unsigned threads, const sf_progress *progress, sf_error *error)
{
    uint32_t n = net->count;
    work w = {.net = net,
              .by_length = by_length,
              .threads = threads,
              .progress = progress,
              .sums = sums,
              .done_of = n,
              .out = sf_alloc(n, PARTS * sizeof(double))};
    int status = w.out != NULL ? open_work(&w, error) : sf_fail_memory(error);
    if (status == SF_OK) status = run_work(&w, n < PARTS ? n : PARTS, search_part, error);
    for (uint32_t v = 0; v < n && status == SF_OK; v++) {
        betweenness[v] = 0;
        for (uint32_t part = 0; part < PARTS; part++)
            betweenness[v] += w.out[(size_t)part * n + v];
        betweenness[v] = n > 2 ? betweenness[v] / ((double)(n - 1) * (double)(n - 2)) : 0;
    }
    close_work(&w);
    sf_free(w.out);
    return status;
}

/* ---- neighbourhoods ---- */

/* The edges among the neighbours of a vertex, who are numbered in their order. */
typedef struct neighbourhood {
    uint32_t count;
    sf_neighbours edges;
    sf_path_sums *sums;
    uint64_t *words;
} neighbourhood;

static void close_neighbourhood(neighbourhood *h)
{
    sf_free(h->edges.first);
    sf_free(h->edges.ids);
    sf_free(h->edges.lengths);
    sf_free(h->sums);
    sf_free(h->words);
}

/* By the edges from each vertex, or into it. `number` is all SF_NO_VERTEX before and after. */
static int open_neighbourhood(neighbourhood *h, const sf_neighbours *from, const uint32_t *members,
                              uint32_t count, uint32_t *number)
{
    size_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        number[members[i]] = i;
        most += from->first[members[i] + 1] - from->first[members[i]];
    }
    *h = (neighbourhood){.count = count,
                         .edges = {.first = sf_resize(NULL, count + 1, sizeof *h->edges.first),
                                   .ids = sf_resize(NULL, most, sizeof *h->edges.ids),
                                   .lengths = sf_resize(NULL, most, sizeof *h->edges.lengths)},
                         .sums = sf_resize(NULL, count, sizeof *h->sums),
                         .words = sf_resize(NULL, count, 3 * sizeof *h->words)};
    bool held = h->edges.first != NULL && h->edges.ids != NULL && h->edges.lengths != NULL &&
                h->sums != NULL && h->words != NULL;
    uint32_t at = 0;
    for (uint32_t i = 0; i < count && held; i++) {
        h->edges.first[i] = at;
        for (uint32_t e = from->first[members[i]]; e < from->first[members[i] + 1]; e++)
            if (number[from->ids[e]] != SF_NO_VERTEX) {
                h->edges.ids[at] = number[from->ids[e]];
                h->edges.lengths[at++] = from->lengths[e];
            }
    }
    if (held) h->edges.first[count] = at;
    for (uint32_t i = 0; i < count; i++)
        number[members[i]] = SF_NO_VERTEX;
    return held ? SF_OK : SF_NO_MEMORY;
}

/* The sum of 1 / distance over ordered pairs. */
static double sum_inverse(const neighbourhood *h, bool by_length, search *s)
{
    double sum = 0;
    if (!by_length) sum_hops(h->sums, &h->edges, h->count, h->words);
    for (uint32_t i = 0; i < h->count; i++) {
        if (by_length) {
            search_from(s, &h->edges, h->count, i, true);
            h->sums[i] = sum_search(s);
        }
        sum += h->sums[i].inverse;
    }
    return sum;
}

static int measure_neighbourhood(void *context, unsigned worker, size_t v)
{
    work *w = context;
    const sf_net *net = w->net;
    uint32_t first = net->both.first[v], k = net->both.first[v + 1] - first;
    neighbourhood h;
    if (!goes_on(w, worker)) return SF_CANCELLED;
    w->out[v] = 0;
    if (k < 2) return SF_OK;
    int status = open_neighbourhood(&h, w->by_length ? &net->out : &net->in, net->both.ids + first, k,
                                    w->local + (size_t)worker * net->count);
    if (status == SF_OK)
        w->out[v] = sum_inverse(&h, w->by_length, &w->searches[worker]) / ((double)k * (double)(k - 1));
    close_neighbourhood(&h);
    return status;
}

int sf_local_efficiency(double *efficiency, const sf_net *net, bool by_length, unsigned threads,
                        const sf_progress *progress, sf_error *error)
{
    work w = {.net = net,
              .by_length = by_length,
              .threads = threads,
              .progress = progress,
              .out = efficiency,
              .done_of = net->count};
    int status = open_work(&w, error);
    if (status == SF_OK) {
        w.local = sf_resize(NULL, w.threads, (net->count + 1) * sizeof *w.local);
        status = w.local != NULL ? SF_OK : sf_fail_memory(error);
    }
    if (status == SF_OK) {
        memset(w.local, 0xff, (size_t)w.threads * net->count * sizeof *w.local);
        status = run_work(&w, net->count, measure_neighbourhood, error);
    }
    close_work(&w);
    return status;
}
