/* SPDX-License-Identifier: Apache-2.0 */
/* Engine gvsm with a device, as in section 4 of the paper: the device expands layers and the CPU joins them.
 *
 * A layer is cut into pieces by binary search in the sums of degrees, so that a piece has about as many
 * neighbours as PACE times what the last piece left after its join. Three pieces are under way at once,
 * copied to the device, expanded or copied back, while the threads here join the one before. When a layer is
 * full it is searched below before more is added, so that memory is bounded. */
#include "graph/match_gvsm.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/team.h"

#include <string.h>

enum {
    ROOM = 1 << 20,        /* entries of a layer at a time */
    MOST_PIECE = 1 << 18,  /* neighbours of a piece, unless one vertex has more */
    LEAST_PIECE = 1 << 13, /* fewer take the device as long */
    PACE = 4,
    BLOCK = 4096, /* entries that a thread takes at a time */
    SLOTS = SF_BACKEND_SLOTS
};

/* Part of a layer on the device: entries first .. first + count - 1, with `total` neighbours. */
typedef struct piece {
    uint32_t first, count, total;
} piece;

typedef struct twigs {
    sf_gvsm *g;
    const sf_backend_match *backend;
    sf_backend_twigs *expander;
    sf_team *team;
    sf_gvsm_worker *workers;
    uint32_t room, most_piece, last_joined;
    sf_backend_node *entries[SF_PATTERN_MOST];
    uint32_t *roots[SF_PATTERN_MOST]; /* of the entries of a layer: the data vertex that is expanded */
    uint64_t *sums[SF_PATTERN_MOST];  /* and how many neighbours they and those before have */
    uint32_t *ends;                   /* of a piece, in 32 bits */
    uint32_t *kept;                   /* of each block: where its entries end */
    sf_backend_twig layers[SF_PATTERN_MOST];
    uint64_t *skipped, *directory;
    uint32_t *no_labels;
    uint64_t *starts[2];
    sf_error failure;
} twigs;

/* A step of the team over entries first .. end - 1 of a layer. */
typedef struct task {
    twigs *t;
    uint32_t depth, first, end;
    const uint32_t *vertices; /* of the first layer */
} task;

static size_t blocks_of(uint32_t count)
{
    return ((size_t)count + BLOCK - 1) / BLOCK;
}

static uint32_t block_end(const task *work, uint32_t first)
{
    return work->end - first < BLOCK ? work->end : first + BLOCK;
}

/* ---- join
 * ----------------------------------------------------------------------------------------------------- */

static uint32_t drop_unfit(sf_gvsm_worker *w, uint32_t depth, uint32_t first, uint32_t end)
{
    const sf_query *q = w->g->query;
    uint32_t u = w->g->layers[depth].vertex, kept = first;
    if (q->term_count[u] == 0 && q->loop_count[u] == 0)
        return end;
    for (uint32_t i = first; i < end; i++)
        if (sf_query_vertex_fits(q, u, w->entries[depth][i].vid))
            w->entries[depth][kept++] = w->entries[depth][i];
    return kept;
}

static void join_block(void *context, unsigned worker, size_t block)
{
    const task *work = context;
    sf_gvsm_worker *w = &work->t->workers[worker];
    uint32_t first = work->first + (uint32_t)block * BLOCK;
    uint32_t end = drop_unfit(w, work->depth, first, block_end(work, first));
    work->t->kept[block] = sf_gvsm_join(w, work->depth, first, end);
}

static void begin_block(void *context, unsigned worker, size_t block)
{
    const task *work = context;
    sf_gvsm_worker *w = &work->t->workers[worker];
    uint32_t first = (uint32_t)block * BLOCK, end = first;
    for (uint32_t i = first; i < block_end(work, first); i++)
        if (sf_gvsm_is_candidate(w, &w->g->layers[0], work->vertices[i]))
            w->entries[0][end++] = (sf_backend_node){work->vertices[i], 0};
    work->t->kept[block] = sf_gvsm_join(w, 0, first, end);
}

/* Runs a step that leaves entries[first of a block .. kept of it - 1], and closes the gaps. Returns where the
 * entries end. */
static uint32_t run_and_pack(task *work, void (*body)(void *, unsigned, size_t))
{
    twigs *t = work->t;
    size_t blocks = blocks_of(work->end - work->first);
    sf_team_run(t->team, blocks, body, work);
    sf_backend_node *entries = t->entries[work->depth];
    uint32_t end = work->first;
    for (size_t b = 0; b < blocks; b++) {
        uint32_t first = work->first + (uint32_t)b * BLOCK, count = t->kept[b] - first;
        memmove(entries + end, entries + first, count * sizeof *entries);
        end += count;
    }
    return end;
}

static void count_block(void *context, unsigned worker, size_t block)
{
    const task *work = context;
    uint32_t first = work->first + (uint32_t)block * BLOCK;
    sf_gvsm_count(&work->t->workers[worker], work->depth, first, block_end(work, first));
}

/* ---- expand
 * --------------------------------------------------------------------------------------------------- */

static void find_roots(void *context, unsigned worker, size_t block)
{
    const task *work = context;
    twigs *t = work->t;
    sf_gvsm_worker *w = &t->workers[worker];
    const sf_gvsm_layer *next = &t->g->layers[work->depth + 1];
    uint32_t first = (uint32_t)block * BLOCK;
    for (uint32_t i = first; i < block_end(work, first); i++) {
        size_t below;
        sf_gvsm_read_path(w, work->depth, i);
        t->roots[work->depth][i] = w->path[next->parent];
        sf_gvsm_below(t->g, next, w->path[next->parent], &below);
        t->sums[work->depth][i] = below;
    }
}

/* Roots of the next layer's twig, and the sums of their degrees. */
static void prepare_layer(twigs *t, uint32_t depth, uint32_t count)
{
    task work = {.t = t, .depth = depth, .end = count};
    sf_team_run(t->team, blocks_of(count), find_roots, &work);
    for (uint32_t i = 1; i < count; i++)
        t->sums[depth][i] += t->sums[depth][i - 1];
}

/* The piece that begins at an entry: as long as its neighbours are no more than wanted, and at least one. */
static piece cut_piece(const twigs *t, uint32_t depth, uint32_t first, uint32_t count)
{
    const uint64_t *sums = t->sums[depth];
    uint64_t before = first > 0 ? sums[first - 1] : 0, wanted = (uint64_t)t->last_joined * PACE;
    wanted = wanted < LEAST_PIECE ? LEAST_PIECE : wanted > MOST_PIECE ? MOST_PIECE : wanted;
    uint32_t low = first, left = count - first < t->most_piece ? count - first : t->most_piece;
    while (left > 0) {
        uint32_t half = left / 2;
        bool fits = sums[low + half] - before <= wanted;
        low += fits ? half + 1 : 0;
        left = fits ? left - half - 1 : half;
    }
    uint32_t last = low > first ? low : first + 1;
    return (piece){first, last - first, (uint32_t)(sums[last - 1] - before)};
}

static int send_piece(twigs *t, uint32_t depth, uint32_t slot, const piece *p)
{
    const uint64_t *sums = t->sums[depth];
    uint64_t before = p->first > 0 ? sums[p->first - 1] : 0;
    for (uint32_t i = 0; i < p->count; i++)
        t->ends[i] = (uint32_t)(sums[p->first + i] - before);
    return t->backend->twigs_expand(t->expander, slot, depth + 1, t->roots[depth] + p->first, t->ends,
                                    p->count, &t->failure);
}

/* Joins an expanded piece behind the first `end` entries of its layer; *end is then where they end. */
static int join_piece(twigs *t, uint32_t depth, uint32_t slot, const piece *p, uint32_t *end)
{
    const sf_backend_node *found;
    uint32_t count = 0;
    int status = t->backend->twigs_collect(t->expander, slot, &found, &count, &t->failure);
    if (status != SF_OK)
        return status;
    sf_backend_node *to = t->entries[depth] + *end;
    for (uint32_t i = 0; i < count; i++)
        to[i] = (sf_backend_node){found[i].vid, found[i].idx + p->first};
    task work = {.t = t, .depth = depth, .first = *end, .end = *end + count};
    uint32_t joined = run_and_pack(&work, join_block);
    t->last_joined = joined - *end;
    *end = joined;
    return SF_OK;
}

/* ---- the whole tree
 * ------------------------------------------------------------------------------------------- */

/* Pieces of one layer that are under way, the oldest first. */
typedef struct flight {
    piece pieces[SLOTS];
    uint32_t sent, joined; /* so far: piece i is in slot i % SLOTS */
    uint32_t total;        /* neighbours under way */
} flight;

/* Sends pieces as long as there is a slot, and room for all that can come back. */
static int send_pieces(twigs *t, uint32_t depth, flight *f, uint32_t *next, uint32_t count, uint32_t end)
{
    int status = SF_OK;
    while (status == SF_OK && f->sent - f->joined < SLOTS && *next < count) {
        piece p = cut_piece(t, depth, *next, count);
        if ((uint64_t)end + f->total + p.total > t->room)
            break;
        status = send_piece(t, depth, f->sent % SLOTS, &p);
        f->pieces[f->sent++ % SLOTS] = p;
        f->total += p.total;
        *next += p.count;
    }
    return status;
}

static int search_below(twigs *t, uint32_t depth, uint32_t count)
{
    if (depth + 1 == t->g->query->count) {
        task work = {.t = t, .depth = depth, .end = count};
        sf_team_run(t->team, blocks_of(count), count_block, &work);
        return SF_OK;
    }
    flight f = {0};
    uint32_t next = 0, end = 0;
    prepare_layer(t, depth, count);
    int status = SF_OK;
    while (status == SF_OK) {
        status = send_pieces(t, depth, &f, &next, count, end);
        if (status == SF_OK && f.joined < f.sent) {
            piece p = f.pieces[f.joined % SLOTS];
            status = join_piece(t, depth + 1, f.joined++ % SLOTS, &p, &end);
            f.total -= p.total;
        } else if (status == SF_OK && end > 0) {
            status = search_below(t, depth + 1, end);
            end = 0;
        } else {
            break;
        }
    }
    return status;
}

static int search_all(twigs *t)
{
    size_t count;
    const uint32_t *vertices = sf_gvsm_below(t->g, &t->g->layers[0], 0, &count);
    t->g->watch.total = (double)count;
    int status = SF_OK;
    for (size_t first = 0; first < count && status == SF_OK && !atomic_load(&t->g->watch.stop);) {
        uint32_t size = count - first < ROOM ? (uint32_t)(count - first) : ROOM;
        task work = {.t = t, .end = size, .vertices = vertices + first};
        status = search_below(t, 0, run_and_pack(&work, begin_block));
        first += size;
        atomic_store(&t->g->watch.done, first);
    }
    return status;
}

/* ---- preparation
 * ---------------------------------------------------------------------------------------------- */

/* Lists of a graph without labels have one entry a vertex. */
static int describe_lists(twigs *t, sf_backend_labelled *to, bool out)
{
    const sf_match_index *index = t->g->index;
    const sf_csr *graph = out ? index->out : index->in;
    const sf_label_lists *lists = out ? &index->out_lists : &index->in_lists;
    uint32_t n = graph->vertex_count;
    if (lists->directory != NULL) {
        *to = (sf_backend_labelled){lists->directory, lists->labels, lists->starts, lists->targets};
        return SF_OK;
    }
    uint64_t *starts = t->starts[out] = sf_resize(NULL, (size_t)n + 1, sizeof *starts);
    if (starts == NULL)
        return SF_NO_MEMORY;
    for (uint32_t v = 0; v <= n; v++)
        starts[v] = graph->offsets[v] - graph->offsets[0];
    *to = (sf_backend_labelled){t->directory, t->no_labels, starts, graph->targets + graph->offsets[0]};
    return SF_OK;
}

static int describe_graph(twigs *t, sf_backend_twig_job *job)
{
    const sf_match_index *index = t->g->index;
    uint32_t n = index->out->vertex_count;
    t->directory = sf_resize(NULL, (size_t)n + 1, sizeof *t->directory);
    t->no_labels = sf_alloc(n, sizeof *t->no_labels);
    if (t->directory == NULL || t->no_labels == NULL)
        return SF_NO_MEMORY;
    for (uint32_t v = 0; v <= n; v++)
        t->directory[v] = v;
    int status = describe_lists(t, &job->out, true);
    job->in = job->out;
    return status == SF_OK && index->in != index->out ? describe_lists(t, &job->in, false) : status;
}

static int skip_vertices(twigs *t)
{
    const sf_gvsm *g = t->g;
    uint32_t n = g->index->out->vertex_count;
    t->skipped = sf_alloc(((size_t)n + 63) / 64, sizeof *t->skipped);
    if (t->skipped == NULL)
        return SF_NO_MEMORY;
    memcpy(t->skipped, g->blacklist, ((size_t)n + 63) / 64 * sizeof *t->skipped);
    for (uint32_t v = 0; v < n && g->twins.first != NULL; v++)
        if (g->twins.first[v] != v)
            t->skipped[v / 64] |= UINT64_C(1) << v % 64;
    return SF_OK;
}

static int open_expander(twigs *t, sf_device *device)
{
    const sf_gvsm *g = t->g;
    sf_backend_twig_job job = {.vertex_count = g->index->out->vertex_count,
                               .blacklist = g->blacklist,
                               .implied = g->implied,
                               .layers = t->layers,
                               .layer_count = g->query->count,
                               .most_entries = t->most_piece};
    for (uint32_t i = 0; i < g->query->count; i++) {
        const sf_gvsm_layer *l = &g->layers[i];
        bool has_needs = l->has_twig && (g->features & SF_GVSM_TWIGS) != 0;
        t->layers[i] = (sf_backend_twig){.label = g->query->labels[l->vertex],
                                         .out = l->out,
                                         .needs = g->twig[l->vertex].items,
                                         .need_count = has_needs ? (uint32_t)g->twig[l->vertex].count : 0};
    }
    int status = describe_graph(t, &job);
    if (status == SF_OK)
        status = skip_vertices(t);
    job.skipped = t->skipped;
    if (status != SF_OK)
        return sf_fail_memory(&t->failure);
    return t->backend->twigs_open(&t->expander, sf_device_opened(device), &job, &t->failure);
}

static int open_workers(twigs *t)
{
    unsigned threads = sf_team_size(t->team);
    t->workers = sf_alloc(threads, sizeof *t->workers);
    bool failed = t->workers == NULL;
    for (uint32_t i = 0; i < t->g->query->count && !failed; i++) {
        t->entries[i] = sf_resize(NULL, t->room, sizeof **t->entries);
        t->roots[i] = sf_resize(NULL, t->room, sizeof **t->roots);
        t->sums[i] = sf_resize(NULL, t->room, sizeof **t->sums);
        failed = t->entries[i] == NULL || t->roots[i] == NULL || t->sums[i] == NULL;
    }
    t->ends = sf_resize(NULL, t->most_piece, sizeof *t->ends);
    t->kept = sf_resize(NULL, blocks_of(t->room) + 1, sizeof *t->kept);
    if (failed || t->ends == NULL || t->kept == NULL)
        return sf_fail_memory(&t->failure);
    for (unsigned i = 0; i < threads; i++) {
        t->workers[i] = (sf_gvsm_worker){.g = t->g, .tally = {.watch = &t->g->watch, .is_caller = i == 0}};
        memcpy(t->workers[i].entries, t->entries, sizeof t->entries);
    }
    return SF_OK;
}

static void close_twigs(twigs *t)
{
    for (uint32_t i = 0; i < SF_PATTERN_MOST; i++) {
        sf_free(t->entries[i]);
        sf_free(t->roots[i]);
        sf_free(t->sums[i]);
    }
    sf_free(t->ends);
    sf_free(t->kept);
    sf_free(t->workers);
    sf_free(t->skipped);
    sf_free(t->directory);
    sf_free(t->no_labels);
    sf_free(t->starts[0]);
    sf_free(t->starts[1]);
    if (t->team != NULL)
        sf_team_close(t->team);
}

/* Counts are taken from the workers only where nothing failed: else the CPU begins anew. */
static int finish(twigs *t, int status, sf_error *error)
{
    unsigned threads = sf_team_size(t->team);
    const sf_match_tally **tallies = sf_resize(NULL, threads, sizeof *tallies);
    if (tallies == NULL)
        status = sf_fail_memory(error);
    for (unsigned i = 0; tallies != NULL && i < threads; i++)
        tallies[i] = &t->workers[i].tally;
    if (status == SF_OK)
        status = sf_match_finish(&t->g->watch, tallies, threads, error);
    else
        t->g->watch = (sf_match_watch){.job = t->g->job, .factor = 1};
    sf_free(tallies);
    return status;
}

static int check(const sf_gvsm *g, const sf_device *device, sf_error *error)
{
    const sf_backend_match *match = sf_device_backend(device)->match;
    if (match == NULL || match->twigs_open == NULL)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%s expands no twigs", sf_device_name(device));
    for (uint32_t i = 1; i < g->query->count; i++)
        if (g->layers[i].parent == SF_NO_VERTEX)
            return sf_fail(error, SF_UNAVAILABLE, NULL,
                           "the pattern is in several parts, which gvsm expands on the CPU");
    return SF_OK;
}

/* While the device is held. */
static int search_held(twigs *t, sf_device *device)
{
    int status = sf_team_open(&t->team, t->g->job->threads, &t->failure);
    if (status == SF_OK)
        status = open_workers(t);
    if (status == SF_OK)
        status = open_expander(t, device);
    if (status == SF_OK)
        status = search_all(t);
    uint64_t implied = 0;
    t->backend->twigs_close(t->expander, &implied);
    atomic_fetch_add(&t->g->implied_tests, implied);
    return status;
}

int sf_gvsm_on_device(sf_gvsm *g, sf_device *device, sf_error *error)
{
    int status = check(g, device, error);
    twigs *t = status == SF_OK ? sf_alloc(1, sizeof *t) : NULL;
    if (t == NULL)
        return status != SF_OK ? status : sf_fail_memory(error);
    uint64_t most = g->greatest_degree > MOST_PIECE ? g->greatest_degree : MOST_PIECE;
    t->g = g;
    t->backend = sf_device_backend(device)->match;
    t->most_piece = (uint32_t)most;
    t->room = most > ROOM ? (uint32_t)most : ROOM;
    status = sf_device_hold(device, error);
    if (status == SF_OK) {
        status = search_held(t, device);
        status = sf_device_release(device, status, &t->failure, error);
    }
    if (t->workers != NULL)
        status = finish(t, status, error);
    close_twigs(t);
    sf_free(t);
    return status;
}
