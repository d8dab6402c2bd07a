/* SPDX-License-Identifier: Apache-2.0 */
/* Direction-optimising breadth-first search (Beamer, Asanovic, Patterson, SC 2012) on a team of threads.
 *
 * A level runs top-down from a queue, or bottom-up over bitmaps. Three things beyond the paper keep memory
 * traffic down: visited vertices are claimed in a bitmap of one bit each, which stays in the cache where an
 * array of levels does not; a bottom-up vertex first tries its neighbour of greatest degree, which a
 * sequential array holds, since in the wide levels that one nearly always is in the frontier; and levels and
 * parents are written once, those of unreached vertices at the end. */
#include "graph/search/bfs.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A level goes bottom-up when its frontier has more than 1 / ALPHA of the edges that are left, and an edge
 * for each vertex that is left, which looks along one at least; and back when the frontier shrinks under 1 /
 * BETA of the vertices. */
enum { ALPHA = 15, BETA = 18 };

enum {
    QUEUE_BLOCK = 64, /* vertices of the frontier a worker takes at a time, as it comes free */
    WORD_BLOCK = 64,  /* words of a bitmap: 4,096 vertices */
    BUFFER = 512,     /* found vertices a worker collects before it claims room in the queue */
    SMALL = 1 << 16   /* directed edges under which waking a second thread costs more than it gives */
};

typedef struct worker {
    uint64_t found; /**< vertices found in this level */
    uint64_t edges; /**< edges that leave them */
    uint32_t held;
    uint32_t buffer[BUFFER];
} worker;

struct sf_bfs_search {
    const sf_csr *graph;
    sf_csr turned;          /**< of a directed graph, or with sorted lists: its transpose */
    const sf_csr *incoming; /**< else the graph itself */
    bool sorted;
    sf_bfs_direction direction;
    sf_team *team;
    worker *workers;
    size_t words;         /**< of a bitmap */
    uint64_t *sourceless; /**< vertices without in-edges: none but the source is ever found */
    uint64_t *visited;    /**< found, or sourceless */
    uint64_t *frontier, *next;
    uint32_t *queue, *next_queue;
    uint32_t *hub; /**< of every vertex, the in-neighbour of greatest out-degree */
    double preparation;
    const sf_progress *progress;
    atomic_bool stopped;   /**< while hubs were looked for */
    sf_backend_level *log; /**< of the last search: its levels */
    size_t log_count, log_room;

    /* of the level under way */
    sf_bfs_result *result;
    uint32_t source;
    uint32_t level; /**< of the vertices that are looked for */
    uint64_t frontier_size;
    uint64_t reached; /**< in all levels so far */
    uint64_t queued;  /**< claimed places in next_queue */
};

static bool has_bit(const uint64_t *bits, uint32_t v)
{
    return (bits[v / 64] >> v % 64 & 1) != 0;
}

/* The bits of a word that stand for vertices: all but in the last one. */
static uint64_t word_mask(const sf_csr *graph, size_t word)
{
    uint64_t rest = graph->vertex_count - (uint64_t)word * 64;
    return rest >= 64 ? UINT64_MAX : (UINT64_C(1) << rest) - 1;
}

static size_t blocks_of(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

static size_t end_of_block(size_t block, size_t size, size_t count)
{
    return (block + 1) * size < count ? (block + 1) * size : count;
}

/* ---- preparation ---- */

static void find_hubs(void *context, unsigned index, size_t block)
{
    sf_bfs_search *s = context;
    const sf_csr *in = s->incoming;
    bool stopped = atomic_load_explicit(&s->stopped, memory_order_relaxed);
    if (!stopped && index == 0 &&
        !sf_progress_update(s->progress, "preparing", (double)(block * WORD_BLOCK), (double)s->words))
        atomic_store(&s->stopped, stopped = true);
    if (stopped) return;
    size_t stop = end_of_block(block, WORD_BLOCK, s->words);
    for (size_t w = block * WORD_BLOCK; w < stop; w++) {
        uint64_t without = 0;
        for (uint64_t bits = word_mask(in, w); bits != 0; bits &= bits - 1) {
            uint32_t v = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(bits);
            uint64_t greatest = 0;
            for (uint64_t e = in->offsets[v]; e < in->offsets[v + 1]; e++) {
                uint64_t degree = sf_csr_degree(s->graph, in->targets[e]);
                if (degree <= greatest) continue;
                greatest = degree;
                s->hub[v] = in->targets[e];
            }
            without |= greatest == 0 ? bits & -bits : 0;
        }
        s->sourceless[w] = without;
    }
}

static int alloc_search(sf_bfs_search *s, sf_error *error)
{
    size_t vertices = s->graph->vertex_count;
    s->words = blocks_of(vertices, 64);
    s->workers = sf_alloc(sf_team_size(s->team), sizeof *s->workers);
    s->sourceless = sf_alloc(s->words, sizeof *s->sourceless);
    s->visited = sf_alloc(s->words, sizeof *s->visited);
    s->frontier = sf_alloc(s->words, sizeof *s->frontier);
    s->next = sf_alloc(s->words, sizeof *s->next);
    s->queue = sf_alloc(vertices, sizeof *s->queue);
    s->next_queue = sf_alloc(vertices, sizeof *s->next_queue);
    s->hub = sf_alloc(vertices, sizeof *s->hub);
    bool complete = s->workers != NULL && s->sourceless != NULL && s->visited != NULL &&
                    s->frontier != NULL && s->next != NULL && s->queue != NULL && s->next_queue != NULL &&
                    s->hub != NULL;
    return complete ? SF_OK : sf_fail_memory(error);
}

int sf_bfs_open(sf_bfs_search **search, const sf_csr *graph, const sf_bfs_options *options, sf_error *error)
{
    *search = NULL;
    double start = sf_clock_seconds();
    sf_bfs_search *s = sf_alloc(1, sizeof *s);
    if (s == NULL) return sf_fail_memory(error);
    s->graph = s->incoming = graph;
    s->direction = options->direction;
    s->sorted = options->sorted;
    s->progress = options->progress;
    bool is_small = sf_csr_edge_count(graph) < SMALL;
    unsigned threads = options->threads != 0 ? options->threads : is_small ? 1 : sf_thread_cores();
    int status = sf_team_open(&s->team, threads, error);
    if (status == SF_OK) status = alloc_search(s, error);
    if (status == SF_OK && (graph->directed || options->sorted)) {
        status = options->sorted ? sf_csr_transpose_by_degree(&s->turned, graph, s->progress, error)
                                 : sf_csr_transpose_told(&s->turned, graph, s->progress, error);
        s->incoming = &s->turned;
    }
    if (status == SF_OK) sf_team_run(s->team, blocks_of(s->words, WORD_BLOCK), find_hubs, s);
    if (atomic_load(&s->stopped))
        status = sf_fail(error, SF_CANCELLED, NULL, "was stopped before the search");
    if (status != SF_OK) {
        sf_bfs_close(s);
        return status;
    }
    s->preparation = sf_clock_seconds() - start;
    *search = s;
    return SF_OK;
}

void sf_bfs_close(sf_bfs_search *s)
{
    if (s == NULL) return;
    sf_team_close(s->team);
    sf_csr_free(&s->turned);
    sf_free(s->workers);
    sf_free(s->sourceless);
    sf_free(s->visited);
    sf_free(s->frontier);
    sf_free(s->next);
    sf_free(s->queue);
    sf_free(s->next_queue);
    sf_free(s->hub);
    sf_free(s->log);
    sf_free(s);
}

double sf_bfs_preparation(const sf_bfs_search *search)
{
    return search->preparation;
}

const sf_backend_level *sf_bfs_levels(const sf_bfs_search *search)
{
    return search->log;
}

/* ---- top-down ---- */

static void flush(sf_bfs_search *s, worker *w)
{
    uint64_t place = __atomic_fetch_add(&s->queued, w->held, __ATOMIC_RELAXED);
    memcpy(s->next_queue + place, w->buffer, w->held * sizeof *w->buffer);
    w->held = 0;
}

/* True for the one thread that finds the vertex first. */
static inline bool claim(uint64_t *visited, uint32_t v)
{
    uint64_t bit = UINT64_C(1) << v % 64, *word = &visited[v / 64];
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) != 0) return false;
    return (__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) == 0;
}

/* Looks along the edges of a vertex of the frontier. What it finds goes to the queue. */
static inline void look_down(sf_bfs_search *s, worker *w, uint32_t v)
{
    const sf_csr *graph = s->graph;
    uint64_t end = graph->offsets[v + 1];
    for (uint64_t e = graph->offsets[v]; e < end; e++) {
        uint32_t neighbour = graph->targets[e];
        if (!claim(s->visited, neighbour)) continue;
        s->result->levels[neighbour] = s->level;
        s->result->parents[neighbour] = v;
        w->found++;
        w->edges += sf_csr_degree(graph, neighbour);
        w->buffer[w->held++] = neighbour;
        if (w->held == BUFFER) flush(s, w);
    }
}

static void search_down(void *context, unsigned index, size_t block)
{
    sf_bfs_search *s = context;
    size_t stop = end_of_block(block, QUEUE_BLOCK, s->frontier_size);
    for (size_t i = block * QUEUE_BLOCK; i < stop; i++)
        look_down(s, &s->workers[index], s->queue[i]);
}

/* The same of all the frontier by one thread, which shares nothing. */
static void search_down_alone(sf_bfs_search *s)
{
    const uint64_t *offsets = s->graph->offsets;
    const uint32_t *targets = s->graph->targets, *queue = s->queue;
    uint32_t *next = s->next_queue, *levels = s->result->levels, *parents = s->result->parents;
    uint32_t level = s->level;
    uint64_t *visited = s->visited, found = 0, edges = 0;
    for (uint64_t i = 0, count = s->frontier_size; i < count; i++)
        for (uint64_t e = offsets[queue[i]], end = offsets[queue[i] + 1]; e < end; e++) {
            uint32_t v = targets[e];
            uint64_t bit = UINT64_C(1) << v % 64;
            if ((visited[v / 64] & bit) != 0) continue;
            visited[v / 64] |= bit;
            levels[v] = level;
            parents[v] = queue[i];
            next[found++] = v;
            edges += offsets[v + 1] - offsets[v];
        }
    s->workers[0].found = found;
    s->workers[0].edges = edges;
}

/* ---- bottom-up ---- */

static inline bool find_parent(const sf_bfs_search *s, uint32_t v, uint32_t *parent)
{
    const uint64_t *frontier = s->frontier;
    *parent = s->hub[v];
    if (has_bit(frontier, *parent)) return true;
    const uint32_t *targets = s->incoming->targets;
    uint64_t end = s->incoming->offsets[v + 1];
    for (uint64_t e = s->incoming->offsets[v] + s->sorted; e < end; e++) { /* sorted, the hub is the first */
        *parent = targets[e];
        if (has_bit(frontier, *parent)) return true;
    }
    return false;
}

/* A worker owns the words of its block, so that nothing here is atomic. */
static void search_up(void *context, unsigned index, size_t block)
{
    sf_bfs_search *s = context;
    size_t stop = end_of_block(block, WORD_BLOCK, s->words);
    uint64_t count = 0;
    for (size_t word = block * WORD_BLOCK; word < stop; word++) {
        uint64_t found = 0;
        uint32_t first = (uint32_t)(word * 64), parent;
        uint64_t left = ~s->visited[word] & word_mask(s->graph, word);
        for (; left != 0; left &= left - 1) {
            uint32_t v = first + (uint32_t)__builtin_ctzll(left);
            if (!find_parent(s, v, &parent)) continue;
            s->result->levels[v] = s->level;
            s->result->parents[v] = parent;
            found |= left & -left;
        }
        s->next[word] = found;
        s->visited[word] |= found;
        count += (uint64_t)__builtin_popcountll(found);
    }
    s->workers[index].found += count;
}

/* ---- between the two ---- */

static void queue_to_bits(sf_bfs_search *s)
{
    memset(s->frontier, 0, s->words * sizeof *s->frontier);
    for (uint64_t i = 0; i < s->frontier_size; i++)
        s->frontier[s->queue[i] / 64] |= UINT64_C(1) << s->queue[i] % 64;
}

static void bits_to_queue(sf_bfs_search *s)
{
    uint64_t count = 0;
    for (size_t word = 0; word < s->words; word++)
        for (uint64_t bits = s->frontier[word]; bits != 0; bits &= bits - 1)
            s->queue[count++] = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
}

/* Runs one level on the team and gives how many vertices it found and the edges that leave them (0 after
 * bottom-up, which does not count them). */
static uint64_t run_level(sf_bfs_search *s, bool up, uint64_t *edges)
{
    unsigned size = sf_team_size(s->team);
    for (unsigned i = 0; i < size; i++)
        s->workers[i].found = s->workers[i].edges = 0;
    s->queued = 0;
    if (up)
        sf_team_run(s->team, blocks_of(s->words, WORD_BLOCK), search_up, s);
    else if (size == 1 || s->frontier_size <= QUEUE_BLOCK)
        search_down_alone(s);
    else
        sf_team_run(s->team, blocks_of(s->frontier_size, QUEUE_BLOCK), search_down, s);
    uint64_t found = 0;
    *edges = 0;
    for (unsigned i = 0; i < size; i++) {
        flush(s, &s->workers[i]);
        found += s->workers[i].found;
        *edges += s->workers[i].edges;
    }
    uint32_t *queue = s->queue;
    uint64_t *frontier = s->frontier;
    s->queue = s->next_queue;
    s->next_queue = queue;
    s->frontier = s->next;
    s->next = frontier;
    return found;
}

/* ---- the search ---- */

/* A level that is done: what it found since *begun, bottom-up or not; the next begins. */
static int append_level(sf_bfs_search *s, bool up, double *begun, sf_error *error)
{
    double now = sf_clock_seconds();
    void *log = s->log;
    if (sf_reserve(&log, &s->log_room, s->log_count + 1, sizeof *s->log) != 0) return sf_fail_memory(error);
    s->log = log;
    s->log[s->log_count++] = (sf_backend_level){s->frontier_size, now - *begun, up};
    *begun = now;
    return SF_OK;
}

/* Whether the next level goes bottom-up; `edges` leave the frontier and `left` lead from what is not visited.
 */
static bool choose_up(const sf_bfs_search *s, bool up, uint64_t edges, uint64_t left, uint64_t before)
{
    if (s->direction != SF_BFS_AUTO) return s->direction == SF_BFS_BOTTOM_UP;
    if (!up) return edges > left / ALPHA && edges > s->graph->vertex_count - s->reached;
    return s->frontier_size >= before || s->frontier_size > s->graph->vertex_count / BETA;
}

static int search_levels(sf_bfs_search *s, double begun, sf_error *error)
{
    uint64_t edges = sf_csr_degree(s->graph, s->source), left = sf_csr_edge_count(s->graph), before = 0;
    const double all = (double)left;
    bool up = false;
    s->log_count = 0;
    s->queue[0] = s->source;
    s->frontier_size = s->reached = 1;
    for (s->level = 1; s->frontier_size > 0; s->level++) {
        if (append_level(s, up, &begun, error) != SF_OK) return SF_NO_MEMORY;
        if (!sf_progress_update(s->progress, "searching", all - (double)left, all))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped: levels up to %u are complete", s->level - 1);
        left -= edges < left ? edges : left;
        bool next_up = choose_up(s, up, edges, left, before);
        if (next_up && !up) queue_to_bits(s);
        if (!next_up && up) bits_to_queue(s);
        up = next_up;
        before = s->frontier_size;
        s->frontier_size = run_level(s, up, &edges);
        s->reached += s->frontier_size;
    }
    return SF_OK;
}

static void finish_block(void *context, unsigned index, size_t block)
{
    (void)index;
    sf_bfs_search *s = context;
    size_t stop = end_of_block(block, WORD_BLOCK, s->words);
    for (size_t word = block * WORD_BLOCK; word < stop; word++) {
        uint32_t first = (uint32_t)(word * 64);
        uint64_t outside = (~s->visited[word] | s->sourceless[word]) & word_mask(s->graph, word);
        if (s->source / 64 == word) outside &= ~(UINT64_C(1) << s->source % 64);
        for (; outside != 0; outside &= outside - 1) {
            uint32_t v = first + (uint32_t)__builtin_ctzll(outside);
            s->result->levels[v] = SF_UNREACHED;
            s->result->parents[v] = SF_NO_VERTEX;
        }
    }
}

static void count_edges(void *context, unsigned index, size_t block)
{
    sf_bfs_search *s = context;
    size_t stop = end_of_block(block, WORD_BLOCK, s->words);
    for (size_t v = block * WORD_BLOCK * 64; v < stop * 64 && v < s->graph->vertex_count; v++)
        if (s->result->levels[v] != SF_UNREACHED)
            s->workers[index].edges += sf_csr_degree(s->graph, (uint32_t)v);
}

/* Totals that nobody measures as part of the search. */
static int summarise(sf_bfs_search *s, sf_error *error)
{
    sf_bfs_result *result = s->result;
    result->depth = (uint32_t)s->log_count - 1;
    result->level_sizes = sf_resize(NULL, s->log_count, sizeof *result->level_sizes);
    if (result->level_sizes == NULL) return sf_fail_memory(error);
    result->reached = result->edges = 0;
    for (size_t i = 0; i < s->log_count; i++)
        result->reached += result->level_sizes[i] = s->log[i].found;
    for (unsigned i = 0; i < sf_team_size(s->team); i++)
        s->workers[i].edges = 0;
    sf_team_run(s->team, blocks_of(s->words, WORD_BLOCK), count_edges, s);
    for (unsigned i = 0; i < sf_team_size(s->team); i++)
        result->edges += s->workers[i].edges;
    return SF_OK;
}

static int alloc_result(sf_bfs_result *result, uint32_t vertices, sf_error *error)
{
    if (result->levels == NULL) result->levels = sf_resize(NULL, vertices, sizeof *result->levels);
    if (result->parents == NULL) result->parents = sf_resize(NULL, vertices, sizeof *result->parents);
    sf_free(result->level_sizes);
    result->level_sizes = NULL;
    return result->levels != NULL && result->parents != NULL ? SF_OK : sf_fail_memory(error);
}

int sf_bfs_run(sf_bfs_search *s, uint32_t source, sf_bfs_result *result, sf_error *error)
{
    int status = SF_OK;
    if (source >= s->graph->vertex_count)
        status = sf_fail(error, SF_USAGE, NULL, "there is no vertex %u: the graph has %u, counted from 0",
                         source, s->graph->vertex_count);
    if (status == SF_OK) status = alloc_result(result, s->graph->vertex_count, error);
    if (status == SF_OK) {
        double start = sf_clock_seconds();
        s->result = result;
        s->source = source;
        memcpy(s->visited, s->sourceless, s->words * sizeof *s->visited);
        s->visited[source / 64] |= UINT64_C(1) << source % 64;
        result->levels[source] = 0;
        result->parents[source] = source;
        status = search_levels(s, start, error);
        sf_team_run(s->team, blocks_of(s->words, WORD_BLOCK), finish_block, s);
        result->seconds = sf_clock_seconds() - start;
    }
    if (status == SF_OK || status == SF_CANCELLED) {
        int told = summarise(s, error);
        status = told == SF_OK ? status : told;
    }
    if (status != SF_OK && status != SF_CANCELLED) sf_bfs_result_free(result);
    return status;
}
