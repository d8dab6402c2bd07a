/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/store/csr.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/named.h"
#include "core/thread.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Neighbour lists on the way to a graph; origins names the edge of the list that each came from. */
typedef struct neighbours {
    uint64_t *offsets;
    uint32_t *targets;
    uint64_t *origins; /* NULL where no column needs them */
} neighbours;

static void free_neighbours(neighbours *lists)
{
    sf_free(lists->offsets);
    sf_free(lists->targets);
    sf_free(lists->origins);
    *lists = (neighbours){0};
}

static int alloc_neighbours(neighbours *lists, uint32_t vertices, uint64_t edges, bool origins,
                            sf_error *error)
{
    *lists = (neighbours){.offsets = sf_alloc((size_t)vertices + 1, sizeof *lists->offsets),
                          .targets = sf_resize(NULL, edges, sizeof *lists->targets),
                          .origins = origins ? sf_resize(NULL, edges, sizeof *lists->origins) : NULL};
    if (lists->offsets != NULL && lists->targets != NULL && (lists->origins != NULL || !origins))
        return SF_OK;
    free_neighbours(lists);
    return sf_fail(error, SF_NO_MEMORY, NULL,
                   "out of memory for a graph of %u vertices and %" PRIu64 " edges", vertices, edges);
}

/* Counts in offsets[v + 1] become starts; after the scatter, which advances starts, restore_starts undoes it.
 */
static void sum_counts(uint64_t *offsets, uint32_t vertices)
{
    for (uint32_t v = 0; v < vertices; v++)
        offsets[v + 1] += offsets[v];
}

static void restore_starts(uint64_t *offsets, uint32_t vertices)
{
    memmove(offsets + 1, offsets, vertices * sizeof *offsets);
    offsets[0] = 0;
}

static void put(neighbours *lists, uint32_t at, uint32_t target, uint64_t origin)
{
    uint64_t place = lists->offsets[at]++;
    lists->targets[place] = target;
    if (lists->origins != NULL) lists->origins[place] = origin;
}

static bool is_dropped(const sf_edge *edge, unsigned flags)
{
    return (flags & SF_CSR_DROP_LOOPS) != 0 && edge->from == edge->to;
}

static bool has_reverse(const sf_edge_list *list, const sf_edge *edge)
{
    return !list->directed && edge->from != edge->to;
}

/* ---- sharing the work ---- */

/* Edges from which further threads pay. */
enum { LARGE = 1 << 20 };

/* Every worker makes the lists of a share of the vertices: all of them read all edges, and take their own. So
 * lists come out the same with any number of threads, and no two write to one. */
typedef struct shares {
    uint32_t vertices;
    unsigned count;
} shares;

typedef struct range {
    uint32_t first, size;
} range;

static shares divide(uint32_t vertices, uint64_t edges)
{
    return (shares){vertices, edges < LARGE ? 1 : sf_thread_cores()};
}

static range range_of(const shares *s, size_t share)
{
    uint32_t first = (uint32_t)((uint64_t)s->vertices * share / s->count);
    return (range){first, (uint32_t)((uint64_t)s->vertices * (share + 1) / s->count) - first};
}

static bool is_in(range own, uint32_t vertex)
{
    return vertex - own.first < own.size;
}

/* ---- telling how far it is ---- */

enum { EDGES_AT_ONCE = 1 << 18 };

/* Only the caller's thread asks for progress, once per this many edges of a pass; all threads stop when it
 * says so. */
typedef struct telling {
    const sf_progress *progress;
    unsigned pass, passes; /* over all edges; the one under way */
    uint64_t edges;
    atomic_bool stopped;
} telling;

static bool go_on(telling *told, unsigned worker, uint64_t done)
{
    double all = (double)told->edges;
    if (atomic_load_explicit(&told->stopped, memory_order_relaxed)) return false;
    if (worker == 0 && !sf_progress_update(told->progress, "building the graph",
                                           told->pass * all + (double)done, told->passes * all))
        atomic_store_explicit(&told->stopped, true, memory_order_relaxed);
    return !atomic_load_explicit(&told->stopped, memory_order_relaxed);
}

/* A pass of every share. */
static int run_pass(telling *told, unsigned count, int (*body)(void *, unsigned, size_t), void *context,
                    sf_error *error)
{
    sf_parallel_for(count, count, body, context);
    told->pass++;
    return atomic_load(&told->stopped)
               ? sf_fail(error, SF_CANCELLED, NULL, "was stopped while the graph was built")
               : SF_OK;
}

/* ---- grouping by head ---- */

typedef struct grouping {
    neighbours *heads;
    const sf_edge_list *list;
    unsigned flags;
    shares shares;
    telling *told;
} grouping;

/* Where the edges end that are looked at before the next question. */
static size_t some_edges(const sf_edge_list *list, size_t e)
{
    return list->edge_count - e < EDGES_AT_ONCE ? list->edge_count : e + EDGES_AT_ONCE;
}

static int count_heads(void *context, unsigned worker, size_t share)
{
    const grouping *g = context;
    const sf_edge_list *list = g->list;
    range own = range_of(&g->shares, share);
    for (size_t e = 0; e < list->edge_count && go_on(g->told, worker, e);)
        for (size_t stop = some_edges(list, e); e < stop; e++) {
            const sf_edge *edge = &list->edges[e];
            if (is_dropped(edge, g->flags)) continue;
            if (is_in(own, edge->to)) g->heads->offsets[edge->to + 1]++;
            if (is_in(own, edge->from) && has_reverse(list, edge)) g->heads->offsets[edge->from + 1]++;
        }
    return 0;
}

static int put_heads(void *context, unsigned worker, size_t share)
{
    const grouping *g = context;
    const sf_edge_list *list = g->list;
    range own = range_of(&g->shares, share);
    for (size_t e = 0; e < list->edge_count && go_on(g->told, worker, e);)
        for (size_t stop = some_edges(list, e); e < stop; e++) {
            const sf_edge *edge = &list->edges[e];
            if (is_dropped(edge, g->flags)) continue;
            if (is_in(own, edge->to)) put(g->heads, edge->to, edge->from, e);
            if (is_in(own, edge->from) && has_reverse(list, edge)) put(g->heads, edge->from, edge->to, e);
        }
    return 0;
}

/* How many edges the lists will hold. */
static int check_edges(uint64_t *edges, const sf_edge_list *list, unsigned flags, sf_error *error)
{
    *edges = 0;
    for (size_t e = 0; e < list->edge_count; e++) {
        const sf_edge *edge = &list->edges[e];
        if (edge->from >= list->vertex_count || edge->to >= list->vertex_count)
            return sf_fail(error, SF_DATA, NULL,
                           "edge %zu joins vertices %u and %u, but there are %u vertices (counted from 0)", e,
                           edge->from, edge->to, list->vertex_count);
        if (!is_dropped(edge, flags)) *edges += has_reverse(list, edge) ? 2 : 1;
    }
    return SF_OK;
}

/* The tails of every vertex's incoming edges, in the order of the list. */
static int group_by_head(neighbours *heads, const sf_edge_list *list, unsigned flags, bool origins,
                         telling *told, sf_error *error)
{
    uint64_t edges;
    int status = check_edges(&edges, list, flags, error);
    if (status == SF_OK) status = alloc_neighbours(heads, list->vertex_count, edges, origins, error);
    if (status != SF_OK) return status;
    grouping g = {heads, list, flags, divide(list->vertex_count, list->edge_count), told};
    status = run_pass(told, g.shares.count, count_heads, &g, error);
    sum_counts(heads->offsets, list->vertex_count);
    if (status == SF_OK) status = run_pass(told, g.shares.count, put_heads, &g, error);
    restore_starts(heads->offsets, list->vertex_count);
    return status;
}

/* ---- turning edges round ---- */

typedef struct turning {
    neighbours *out;
    const uint64_t *offsets, *origins;
    const uint32_t *targets, *order;
    shares shares;
    telling *told;
} turning;

static int count_turned(void *context, unsigned worker, size_t share)
{
    const turning *t = context;
    range own = range_of(&t->shares, share);
    uint64_t first = t->offsets[0], end = t->offsets[t->shares.vertices];
    for (uint64_t e = first; e < end && go_on(t->told, worker, e - first);)
        for (uint64_t stop = end - e < EDGES_AT_ONCE ? end : e + EDGES_AT_ONCE; e < stop; e++)
            if (is_in(own, t->targets[e])) t->out->offsets[t->targets[e] + 1]++;
    return 0;
}

static int put_turned(void *context, unsigned worker, size_t share)
{
    const turning *t = context;
    range own = range_of(&t->shares, share);
    uint64_t done = 0, ask = 0;
    for (uint32_t i = 0; i < t->shares.vertices; i++) {
        uint32_t v = t->order != NULL ? t->order[i] : i;
        if (done >= ask && !go_on(t->told, worker, done)) break;
        ask = done >= ask ? done + EDGES_AT_ONCE : ask;
        done += t->offsets[v + 1] - t->offsets[v];
        for (uint64_t e = t->offsets[v]; e < t->offsets[v + 1]; e++)
            if (is_in(own, t->targets[e]))
                put(t->out, t->targets[e], v, t->origins != NULL ? t->origins[e] : 0);
    }
    return 0;
}

/* Takes the edges of one vertex after the other, by `order` (NULL: ascending), to the lists of their targets.
 */
static int transpose(neighbours *out, const uint64_t *offsets, const uint32_t *targets,
                     const uint64_t *origins, const uint32_t *order, uint32_t vertices, telling *told,
                     sf_error *error)
{
    uint64_t edges = offsets[vertices] - offsets[0];
    if (alloc_neighbours(out, vertices, edges, origins != NULL, error) != SF_OK) return SF_NO_MEMORY;
    turning t = {out, offsets, origins, targets, order, divide(vertices, edges), told};
    int status = run_pass(told, t.shares.count, count_turned, &t, error);
    sum_counts(out->offsets, vertices);
    if (status == SF_OK) status = run_pass(told, t.shares.count, put_turned, &t, error);
    restore_starts(out->offsets, vertices);
    if (status != SF_OK) free_neighbours(out);
    return status;
}

static void drop_duplicates(neighbours *lists, uint32_t vertices)
{
    uint64_t kept = 0, start = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        uint64_t stop = lists->offsets[v + 1], first = kept;
        for (uint64_t e = start; e < stop; e++) {
            if (kept > first && lists->targets[kept - 1] == lists->targets[e]) continue;
            lists->targets[kept] = lists->targets[e];
            if (lists->origins != NULL) lists->origins[kept] = lists->origins[e];
            kept++;
        }
        start = stop;
        lists->offsets[v + 1] = kept;
    }
}

static int copy_names(sf_csr *csr, char **names, sf_error *error)
{
    csr->names = sf_alloc(csr->vertex_count, sizeof *csr->names);
    for (uint32_t v = 0; csr->names != NULL && v < csr->vertex_count; v++) {
        csr->names[v] = sf_copy_string(names[v]);
        if (csr->names[v] == NULL) return sf_fail_memory(error);
    }
    return csr->names != NULL ? SF_OK : sf_fail_memory(error);
}

static bool has_numbers(const sf_attribute *column, size_t rows)
{
    size_t row = 0;
    while (row < rows && isnan(column->values[row]))
        row++;
    return !sf_attribute_is_text(column) && (row < rows || rows == 0);
}

/* The column "label" as integers; *labels stays NULL where there is none. Text is an attribute like any
 * other.
 */
static int read_labels(uint32_t **labels, const sf_columns *columns, const char *what, sf_error *error)
{
    size_t index = sf_columns_find(columns, SF_LABEL_COLUMN);
    if (index == SF_NO_COLUMN || !has_numbers(&columns->items[index], columns->rows)) return SF_OK;
    *labels = sf_resize(NULL, columns->rows, sizeof **labels);
    if (*labels == NULL) return sf_fail_memory(error);
    for (size_t row = 0; row < columns->rows; row++) {
        double label = columns->items[index].values[row];
        if (!(label >= 0 && label <= UINT32_MAX - 1 && label == floor(label)))
            return sf_fail(error, SF_DATA, NULL,
                           "the label of %s %zu is %g; expected an integer from 0 to %u on every %s", what,
                           row, label, UINT32_MAX - 1, what);
        (*labels)[row] = (uint32_t)label;
    }
    return SF_OK;
}

static int copy_columns(sf_csr *csr, const sf_edge_list *list, const uint64_t *origins, sf_error *error)
{
    int status = SF_OK;
    if (list->vertex_columns.count > 0)
        status = sf_columns_pick(&csr->vertex_columns, &list->vertex_columns, NULL, csr->vertex_count, error);
    if (status == SF_OK && list->edge_columns.count > 0)
        status =
            sf_columns_pick(&csr->edge_columns, &list->edge_columns, origins, sf_csr_edge_count(csr), error);
    if (status == SF_OK) status = read_labels(&csr->vertex_labels, &csr->vertex_columns, "vertex", error);
    if (status == SF_OK) status = read_labels(&csr->edge_labels, &csr->edge_columns, "edge", error);
    return status;
}

int sf_csr_build_told(sf_csr *csr, const sf_edge_list *list, unsigned flags, const sf_progress *progress,
                      sf_error *error)
{
    neighbours heads = {0}, tails = {0};
    telling told = {.progress = progress, .passes = 4, .edges = list->edge_count};
    *csr = (sf_csr){.vertex_count = list->vertex_count, .directed = list->directed};
    int status = group_by_head(&heads, list, flags, list->edge_columns.count > 0, &told, error);
    if (status == SF_OK)
        status = transpose(&tails, heads.offsets, heads.targets, heads.origins, NULL, list->vertex_count,
                           &told, error);
    free_neighbours(&heads);
    if (status == SF_OK) {
        if ((flags & SF_CSR_DROP_DUPLICATES) != 0) drop_duplicates(&tails, list->vertex_count);
        csr->offsets = tails.offsets;
        csr->targets = tails.targets;
        status = copy_columns(csr, list, tails.origins, error);
        sf_free(tails.origins);
    }
    if (status == SF_OK && list->names != NULL) status = copy_names(csr, list->names, error);
    if (status != SF_OK) sf_csr_free(csr);
    return status;
}

static int transpose_in_order(sf_csr *transposed, const sf_csr *csr, const uint32_t *order,
                              const sf_progress *progress, sf_error *error)
{
    neighbours lists;
    telling told = {.progress = progress, .passes = 2, .edges = sf_csr_edge_count(csr)};
    *transposed = (sf_csr){0};
    int status = transpose(&lists, csr->offsets, csr->targets, NULL, order, csr->vertex_count, &told, error);
    if (status == SF_OK)
        *transposed = (sf_csr){.vertex_count = csr->vertex_count,
                               .directed = csr->directed,
                               .offsets = lists.offsets,
                               .targets = lists.targets};
    return status;
}

int sf_csr_transpose_told(sf_csr *transposed, const sf_csr *csr, const sf_progress *progress, sf_error *error)
{
    return transpose_in_order(transposed, csr, NULL, progress, error);
}

static uint64_t greatest_degree(const sf_csr *csr)
{
    uint64_t greatest = 0;
    for (uint32_t v = 0; v < csr->vertex_count; v++)
        if (sf_csr_degree(csr, v) > greatest) greatest = sf_csr_degree(csr, v);
    return greatest;
}

/* Vertices by falling degree: a counting sort; place[d] is where the next one of degree greatest - d goes. */
static void order_by_degree(uint32_t *order, uint64_t *place, const sf_csr *csr, uint64_t greatest)
{
    for (uint32_t v = 0; v < csr->vertex_count; v++)
        place[greatest - sf_csr_degree(csr, v) + 1]++;
    for (uint64_t d = 0; d < greatest; d++)
        place[d + 1] += place[d];
    for (uint32_t v = 0; v < csr->vertex_count; v++)
        order[place[greatest - sf_csr_degree(csr, v)]++] = v;
}

int sf_csr_transpose_by_degree(sf_csr *transposed, const sf_csr *csr, const sf_progress *progress,
                               sf_error *error)
{
    *transposed = (sf_csr){0};
    uint64_t greatest = greatest_degree(csr);
    uint32_t *order = sf_resize(NULL, csr->vertex_count, sizeof *order);
    uint64_t *place = sf_alloc(greatest + 2, sizeof *place);
    int status = SF_NO_MEMORY;
    if (order != NULL && place != NULL) {
        order_by_degree(order, place, csr, greatest);
        status = transpose_in_order(transposed, csr, order, progress, error);
    } else {
        sf_fail_memory(error);
    }
    sf_free(order);
    sf_free(place);
    return status;
}

void sf_csr_free(sf_csr *csr)
{
    for (uint32_t v = 0; csr->names != NULL && v < csr->vertex_count; v++)
        sf_free(csr->names[v]);
    sf_free(csr->names);
    sf_free(csr->offsets);
    sf_free(csr->targets);
    sf_free(csr->vertex_labels);
    sf_free(csr->edge_labels);
    sf_columns_free(&csr->vertex_columns);
    sf_columns_free(&csr->edge_columns);
    sf_free(csr->provenance);
    *csr = (sf_csr){0};
}

/* ---- one vertex ---- */

static const char *name_at(const void *csr, size_t i)
{
    return ((const sf_csr *)csr)->names[i];
}

static uint32_t next_named(const sf_csr *csr, uint32_t from, const char *name)
{
    while (from < csr->vertex_count && strcmp(csr->names[from], name) != 0)
        from++;
    return from < csr->vertex_count ? from : SF_NO_NAMED;
}

static uint32_t find_name(const void *csr, const char *name)
{
    return next_named(csr, 0, name);
}

int sf_csr_resolve(const sf_csr *csr, const char *text, uint32_t *vertex, sf_error *error)
{
    const sf_named named = {.one = "vertex",
                            .many = "vertices",
                            .things = csr,
                            .count = csr->vertex_count,
                            .name = csr->names != NULL ? name_at : NULL,
                            .find = find_name,
                            .list = "the file"};
    int status = sf_named_resolve(&named, text, vertex, error);
    if (status != SF_OK || csr->names == NULL || text[0] == '#') return status;
    uint32_t second = next_named(csr, *vertex + 1, csr->names[*vertex]);
    if (second == SF_NO_NAMED) return SF_OK;
    return sf_fail(error, SF_USAGE, NULL, "several vertices are named '%s': write #%u, #%u, ...",
                   csr->names[*vertex], *vertex, second);
}

uint64_t sf_csr_find(const sf_csr *csr, uint32_t from, uint32_t to)
{
    uint64_t low = csr->offsets[from], high = csr->offsets[from + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (csr->targets[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < csr->offsets[from + 1] && csr->targets[low] == to ? low : UINT64_MAX;
}
