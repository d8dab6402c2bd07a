/* SPDX-License-Identifier: Apache-2.0 */
/* Many searches at once (Then et al., VLDB 2014): bit i of a vertex's word stands for source i, so that one
 * pass over an edge serves all searches that have it in their frontier. */
#include "graph/search/bfs.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdatomic.h>
#include <string.h>

enum { WORD = 64, VERTICES_BETWEEN_LOOKS = 8192 };

/* Per vertex: the searches that have reached it, have it in their frontier, and find it in this level. */
typedef struct bits {
    uint64_t *seen, *frontier, *next;
    uint64_t found; /**< pairs of a search and a vertex */
} bits;

typedef struct many {
    const sf_csr *graph;
    const uint32_t *sources; /**< NULL: every vertex */
    size_t count;
    uint32_t most_levels;
    uint32_t *levels,
        *parents; /**< by source and vertex; parents may be NULL; levels: then counts are wanted */
    uint32_t *reached, *depth; /**< by source */
    bits *workers;
    const sf_progress *progress;
    atomic_bool stopped;
} many;

static void record(const many *m, size_t first, uint64_t found, uint32_t vertex, uint32_t level,
                   uint32_t parent)
{
    for (; found != 0 && m->levels != NULL; found &= found - 1) {
        size_t source = first + (size_t)__builtin_ctzll(found);
        size_t place = source * m->graph->vertex_count + vertex;
        m->levels[place] = level;
        if (m->parents != NULL) m->parents[place] = parent;
    }
}

/* ---- counts ---- */

/* 64 counters of 8 bits, of which plane p holds bit p. */
typedef struct planes {
    uint64_t bits[8];
    uint32_t words; /**< added: 255 at most */
} planes;

static void add_word(planes *p, uint64_t word)
{
    for (size_t i = 0; word != 0; i++) {
        uint64_t carry = p->bits[i] & word;
        p->bits[i] ^= word;
        word = carry;
    }
    p->words++;
}

static void move_counts(uint32_t *reached, planes *p)
{
    for (size_t i = 0; i < sizeof p->bits / sizeof p->bits[0]; i++)
        for (uint64_t left = p->bits[i]; left != 0; left &= left - 1)
            reached[__builtin_ctzll(left)] += UINT32_C(1) << i;
    *p = (planes){0};
}

/* Adds what each search has in its frontier to its counts. */
static void count_level(const many *m, const bits *b, size_t first, uint32_t level)
{
    planes p = {0};
    uint64_t any = 0;
    for (uint32_t v = 0; v < m->graph->vertex_count; v++) {
        if (b->frontier[v] == 0) continue;
        any |= b->frontier[v];
        add_word(&p, b->frontier[v]);
        if (p.words == UINT8_MAX) move_counts(m->reached + first, &p);
    }
    move_counts(m->reached + first, &p);
    for (; any != 0; any &= any - 1)
        m->depth[first + (size_t)__builtin_ctzll(any)] = level;
}

/* ---- searching ---- */

/* Nothing is reached by these searches. */
static void wipe(const many *m, size_t first, size_t count)
{
    size_t row = m->graph->vertex_count;
    if (m->levels != NULL) memset(m->levels + first * row, 0xff, count * row * sizeof *m->levels);
    if (m->parents != NULL) memset(m->parents + first * row, 0xff, count * row * sizeof *m->parents);
}

static void start(const many *m, bits *b, size_t first, size_t count)
{
    size_t bytes = m->graph->vertex_count * sizeof(uint64_t);
    memset(b->seen, 0, bytes);
    memset(b->frontier, 0, bytes);
    b->found = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t source = m->sources != NULL ? m->sources[first + i] : (uint32_t)(first + i);
        b->seen[source] |= UINT64_C(1) << i;
        b->frontier[source] |= UINT64_C(1) << i;
        record(m, first + i, 1, source, 0, source);
    }
}

/* Worker 0 is the caller's thread, which alone asks. Done are whole words, and of this one the share of what
 * its searches could find. */
static bool goes_on(many *m, const bits *b, size_t first)
{
    double done = (double)first + (double)b->found / m->graph->vertex_count;
    if (b == m->workers && !sf_progress_update(m->progress, "searching", done, (double)m->count))
        atomic_store(&m->stopped, true);
    return !atomic_load_explicit(&m->stopped, memory_order_relaxed);
}

static bool search_level(many *m, bits *b, size_t first, uint32_t level)
{
    const sf_csr *graph = m->graph;
    bool any = false;
    memset(b->next, 0, graph->vertex_count * sizeof *b->next);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (v % VERTICES_BETWEEN_LOOKS == 0 && !goes_on(m, b, first)) return false;
        for (uint64_t e = graph->offsets[v]; b->frontier[v] != 0 && e < graph->offsets[v + 1]; e++) {
            uint32_t neighbour = graph->targets[e];
            uint64_t found = b->frontier[v] & ~b->seen[neighbour];
            if (found == 0) continue;
            any = true;
            b->found += (uint64_t)__builtin_popcountll(found);
            b->seen[neighbour] |= found;
            b->next[neighbour] |= found;
            record(m, first, found, neighbour, level, v);
        }
    }
    uint64_t *frontier = b->frontier;
    b->frontier = b->next;
    b->next = frontier;
    return any;
}

static int search_word(void *context, unsigned worker, size_t word)
{
    many *m = context;
    bits *b = &m->workers[worker];
    size_t first = word * WORD, count = m->count - first < WORD ? m->count - first : WORD;
    start(m, b, first, count);
    bool counts = m->levels == NULL;
    if (counts) count_level(m, b, first, 0);
    for (uint32_t level = 1; level <= m->most_levels && search_level(m, b, first, level); level++)
        if (counts) count_level(m, b, first, level);
    if (!atomic_load_explicit(&m->stopped, memory_order_relaxed)) return 0;
    wipe(m, first, count); /* the level under way is not complete */
    return SF_CANCELLED;
}

static int alloc_bits(bits *b, size_t vertices)
{
    b->seen = sf_resize(NULL, vertices, sizeof *b->seen);
    b->frontier = sf_resize(NULL, vertices, sizeof *b->frontier);
    b->next = sf_resize(NULL, vertices, sizeof *b->next);
    return b->seen != NULL && b->frontier != NULL && b->next != NULL ? SF_OK : SF_NO_MEMORY;
}

static int search_all(many *m, unsigned threads, sf_error *error)
{
    size_t words = (m->count + WORD - 1) / WORD;
    threads = threads > words ? (unsigned)words : threads;
    m->workers = sf_alloc(threads, sizeof *m->workers);
    int status = m->workers != NULL ? SF_OK : SF_NO_MEMORY;
    for (unsigned i = 0; i < threads && status == SF_OK; i++)
        status = alloc_bits(&m->workers[i], m->graph->vertex_count);
    if (status == SF_OK) {
        wipe(m, 0, m->count);
        status = sf_parallel_for(threads, words, search_word, m);
    }
    for (unsigned i = 0; m->workers != NULL && i < threads; i++) {
        sf_free(m->workers[i].seen);
        sf_free(m->workers[i].frontier);
        sf_free(m->workers[i].next);
    }
    sf_free(m->workers);
    if (status == SF_CANCELLED) return sf_fail(error, status, NULL, "stopped before all were searched");
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

int sf_bfs_many(const sf_csr *graph, const uint32_t *sources, size_t count, unsigned threads,
                uint32_t *levels, uint32_t *parents, const sf_progress *progress, sf_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (sources[i] >= graph->vertex_count)
            return sf_fail(error, SF_USAGE, NULL, "there is no vertex %u: the graph has %u, counted from 0",
                           sources[i], graph->vertex_count);
    many m = {.graph = graph,
              .sources = sources,
              .count = count,
              .most_levels = UINT32_MAX,
              .levels = levels,
              .parents = parents,
              .progress = progress};
    return search_all(&m, threads, error);
}

int sf_bfs_count(const sf_csr *graph, uint32_t most_levels, unsigned threads, uint32_t *reached,
                 uint32_t *depth, const sf_progress *progress, sf_error *error)
{
    many m = {.graph = graph,
              .count = graph->vertex_count,
              .most_levels = most_levels,
              .reached = reached,
              .depth = depth,
              .progress = progress};
    memset(reached, 0, graph->vertex_count * sizeof *reached);
    return search_all(&m, threads, error);
}
