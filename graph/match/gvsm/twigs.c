/* SPDX-License-Identifier: Apache-2.0 */
/* Engine gvsm with a device, as in section 4 of the paper: the device expands layers and the CPU joins them.
 *
 * A layer is cut into pieces by binary search in the sums of degrees, so that a piece has about as many
 * neighbours as PACE times what the last piece left after its join. Three pieces are under way at once,
 * copied to the device, expanded or copied back, while the threads here join the one before. When a layer is
 * full it is searched below before more is added, so that memory is bounded.
 *
 * Where the pattern compares no attributes of edges or of two vertices, layers stay on the device: it joins
 * them too, and only counts the last one. A layer that would be too large is cut above, and what is below one
 * part is searched after what is below another. With a threshold, as in the paper, only small layers stay:
 * where one outgrows it, the pipeline searches what is below the same first layer, whose layers above were
 * small. */
#include "graph/match/gvsm/gvsm.h"

#include "graph/match/kinds.h"
#include "graph/match/lend.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

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
    bool stays;                       /* layers are joined on the device too */
    sf_backend_join_edge *edges;      /* by what */
    sf_backend_twig layers[SF_PATTERN_MOST];
    uint32_t *allowed[SF_PATTERN_MOST];
    uint64_t *skipped;
    sf_backend_watch watch;
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

/* ---- join ---- */

static void join_block(void *context, unsigned worker, size_t block)
{
    const task *work = context;
    sf_gvsm_worker *w = &work->t->workers[worker];
    uint32_t first = work->first + (uint32_t)block * BLOCK;
    work->t->kept[block] = sf_gvsm_join(w, work->depth, first, block_end(work, first));
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

/* ---- expand ---- */

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
    if (status != SF_OK) return status;
    sf_backend_node *to = t->entries[depth] + *end;
    for (uint32_t i = 0; i < count; i++)
        to[i] = (sf_backend_node){found[i].vid, found[i].idx + p->first};
    task work = {.t = t, .depth = depth, .first = *end, .end = *end + count};
    uint32_t joined = run_and_pack(&work, join_block);
    t->last_joined = joined - *end;
    *end = joined;
    return SF_OK;
}

/* ---- layers that stay on the device ---- */

static void note_descent(twigs *t, const sf_backend_descent *d)
{
    sf_match_result *result = t->g->job->result;
    result->stayed += d->reached - d->layer;
    result->twigs += d->twigs;
    result->kernels += d->kernels;
    result->device_s += d->seconds;
    sf_match_found(&t->workers[0].tally, d->found, NULL);
    sf_match_steps(&t->workers[0].tally, d->tried);
}

/* Everything below some entries of a layer that is on the device, or is sent there as its first. */
static int search_there(twigs *t, sf_backend_descent d)
{
    int status = t->backend->twigs_descend(t->expander, &d, &t->failure);
    if (status != SF_OK) return status;
    note_descent(t, &d);
    if (d.left == 1 && d.reached == d.layer)
        return sf_fail(&t->failure, SF_UNAVAILABLE, NULL,
                       "what is below one vertex does not stay on a device");
    uint32_t first = d.reached > d.layer ? 0 : d.first, parts = d.parts < d.left ? d.parts : d.left;
    for (uint64_t p = 0; p < parts && status == SF_OK && !atomic_load(&t->g->watch.stop); p++) {
        uint32_t begin = (uint32_t)(p * d.left / parts), end = (uint32_t)((p + 1) * d.left / parts);
        status = search_there(
            t, (sf_backend_descent){.layer = d.reached, .first = first + begin, .count = end - begin});
    }
    return status;
}

/* ---- the whole tree ---- */

/* Pieces of one layer that are under way, the oldest first. */
typedef struct flight {
    piece pieces[SLOTS];
    uint32_t sent, joined; /* so far: piece i is in slot i % SLOTS */
    uint32_t total;        /* neighbours under way */
} flight;

/* Sends pieces as long as there is a slot, and room for all that can come back. */
static int send_pieces(twigs *t, uint32_t depth, flight *f, uint32_t *next, uint32_t count, uint32_t end)
{
    uint32_t asked = t->g->job->slots > 0 && t->g->job->slots < SLOTS ? t->g->job->slots : SLOTS;
    uint32_t slots = (t->g->features & SF_GVSM_PIPELINE) != 0 ? asked : 1;
    int status = SF_OK;
    while (status == SF_OK && f->sent - f->joined < slots && *next < count) {
        piece p = cut_piece(t, depth, *next, count);
        if ((uint64_t)end + f->total + p.total > t->room) break;
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
    while (status == SF_OK && !atomic_load(&t->g->watch.stop)) {
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
    t->g->job->result->pieces += f.sent;
    return status;
}

/* Below the first layer, by the device alone unless a layer outgrows the threshold. */
static int search_small(twigs *t, uint32_t begun)
{
    sf_backend_descent d = {.count = begun, .entries = t->entries[0]};
    int status = t->backend->twigs_descend(t->expander, &d, &t->failure);
    if (status != SF_OK) return status;
    note_descent(t, &d);
    return d.left > 0 ? search_below(t, 0, begun) : SF_OK; /* nothing was found yet where something is left */
}

static int search_begun(twigs *t, uint32_t begun)
{
    uint64_t threshold = t->g->job->threshold;
    if (!t->stays || t->g->query->count == 1 || begun == 0 || (threshold > 0 && begun > threshold))
        return search_below(t, 0, begun);
    return threshold > 0 ? search_small(t, begun)
                         : search_there(t, (sf_backend_descent){.count = begun, .entries = t->entries[0]});
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
        uint32_t begun = run_and_pack(&work, begin_block);
        status = search_begun(t, begun);
        first += size;
        atomic_store(&t->g->watch.done, first);
    }
    return status;
}

/* ---- preparation ---- */

static int skip_vertices(twigs *t)
{
    const sf_gvsm *g = t->g;
    uint32_t n = g->index->out->vertex_count;
    t->skipped = sf_alloc(((size_t)n + 63) / 64, sizeof *t->skipped);
    if (t->skipped == NULL) return SF_NO_MEMORY;
    memcpy(t->skipped, g->blacklist, ((size_t)n + 63) / 64 * sizeof *t->skipped);
    for (uint32_t v = 0; v < n && g->twins.first != NULL; v++)
        if (g->twins.first[v] != v) t->skipped[v / 64] |= UINT64_C(1) << v % 64;
    return SF_OK;
}

/* What is asked of a layer, and edges to an earlier one that the twig or a label says already. */
typedef struct asking {
    const sf_gvsm *g;
    const sf_gvsm_layer *layer;
    sf_backend_twig *to;
    sf_backend_join_edge *edges;
    bool told[2]; /* by direction: out is 1 */
} asking;

static void ask(asking *a, uint32_t earlier, uint32_t label, bool out, bool absent)
{
    a->edges[a->to->edge_count++] = (sf_backend_join_edge){label, (uint8_t)earlier, out, absent};
}

/* Edges that have labels. False where more is said of them, which a device does not know. */
static bool ask_labelled(asking *a, uint32_t earlier, const sf_pair *pair)
{
    const sf_gvsm *g = a->g;
    const sf_gvsm_layer *l = a->layer;
    uint32_t u = l->vertex, x = g->layers[earlier].vertex;
    for (size_t i = pair->first_edge; i < pair->first_edge + pair->edge_count; i++) {
        const sf_bound_edge *edge = &g->query->edges[i];
        if (edge->term_count > 0 || !g->by_kinds) return false;
        uint32_t label = sf_kinds_label(g->index, edge->label);
        bool out = edge->from == u, is_twigs = l->parent == x && l->edge == label && l->out != out;
        if (edge->absent || !is_twigs) ask(a, earlier, label, out, edge->absent);
        a->told[out] |= !edge->absent;
    }
    return true;
}

/* All edges between the layer and an earlier one. */
static bool ask_pair(asking *a, uint32_t earlier)
{
    const sf_gvsm_layer *l = a->layer;
    uint32_t u = l->vertex, x = a->g->layers[earlier].vertex;
    const sf_pair *pair = (l->checked >> x & 1) != 0 ? sf_query_pair(a->g->query, u, x) : NULL;
    if (pair == NULL) return true;
    for (int out = 0; out < 2; out++)
        a->told[out] = l->parent == x && l->out != (out != 0);
    if (pair->relation_count > 0 || !ask_labelled(a, earlier, pair)) return false;
    for (int out = 0; out < 2; out++) {
        bool forward = (u == pair->a) == (out != 0);
        if ((forward ? pair->forward : pair->backward) && !a->told[out])
            ask(a, earlier, SF_ANY_LABEL, out != 0, false);
        if (forward ? pair->no_forward : pair->no_backward) ask(a, earlier, SF_ANY_LABEL, out != 0, true);
    }
    return true;
}

/* Lets layers stay on the device where it can tell all that the pattern asks for. */
static int describe_joins(twigs *t)
{
    const sf_query *q = t->g->query;
    uint32_t edges = 0;
    t->stays = (t->g->features & SF_GVSM_STAY) != 0;
    t->edges = sf_alloc(q->edge_count + 2 * q->pair_count, sizeof *t->edges);
    if (t->edges == NULL) return SF_NO_MEMORY;
    for (uint32_t i = 0; i < q->count && t->stays; i++) {
        asking a = {t->g, &t->g->layers[i], &t->layers[i], t->edges + edges, {false}};
        for (uint32_t d = i; d-- > 0 && t->stays;)
            t->stays = ask_pair(&a, d);
        t->layers[i].edges = a.edges;
        edges += t->layers[i].edge_count;
    }
    return SF_OK;
}

static uint32_t layer_of(const sf_gvsm *g, uint32_t u)
{
    uint32_t i = 0;
    while (g->layers[i].vertex != u)
        i++;
    return i;
}

static int describe_layer(twigs *t, uint32_t i)
{
    const sf_gvsm *g = t->g;
    const sf_gvsm_layer *l = &g->layers[i];
    bool has_needs = l->has_twig && (g->features & SF_GVSM_TWIGS) != 0;
    int status = i > 0 ? sf_query_allow(g->query, l->vertex, g->job->threads, &t->allowed[i]) : SF_OK;
    t->layers[i] = (sf_backend_twig){.parent = i > 0 ? layer_of(g, l->parent) : 0,
                                     .label = g->query->labels[l->vertex],
                                     .edge = l->edge,
                                     .out = l->out,
                                     .allowed = t->allowed[i],
                                     .needs = g->twig[l->vertex].items,
                                     .need_count = has_needs ? (uint32_t)g->twig[l->vertex].count : 0};
    return status;
}

/* Where other jobs were given the graph's memory since, it is sent again. */
static int open_twigs(twigs *t, sf_device *device, const sf_backend_twig_job *job)
{
    const sf_match_index *index = t->g->index;
    bool lost = false;
    int status = sf_match_lend(index, device, job->watch, &t->failure);
    if (status == SF_OK)
        status = t->backend->twigs_open(&t->expander, index->there->data, job, &lost, &t->failure);
    if (!lost) return status;
    sf_match_forget(index);
    return open_twigs(t, device, job);
}

static int open_expander(twigs *t, sf_device *device)
{
    const sf_gvsm *g = t->g;
    uint64_t threshold = g->job->threshold;
    t->watch = sf_match_who_waits(g->job);
    sf_backend_twig_job job = {.watch = &t->watch,
                               .label_count = g->index->label_count,
                               .blacklist = g->blacklist,
                               .implied = g->implied,
                               .layers = t->layers,
                               .layer_count = g->query->count,
                               .twins = g->twins.first != NULL ? g->twins.size : NULL,
                               .injective = g->injective,
                               .pairs = (g->features & SF_GVSM_PAIRS) != 0,
                               .most_entries = t->most_piece,
                               .most_kept =
                                   threshold > 0 && threshold < t->room ? (uint32_t)threshold : t->room};
    if (g->by_kinds) {
        job.out_kinds = sf_match_lists_lent(&g->index->kinds->out);
        job.in_kinds = sf_match_lists_lent(&g->index->kinds->in);
    }
    int status = skip_vertices(t);
    for (uint32_t i = 0; i < g->query->count && status == SF_OK; i++)
        status = describe_layer(t, i);
    if (status == SF_OK) status = describe_joins(t);
    job.skipped = t->skipped;
    job.descends = t->stays;
    return status == SF_OK ? open_twigs(t, device, &job) : sf_fail_memory(&t->failure);
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
    if (failed || t->ends == NULL || t->kept == NULL) return sf_fail_memory(&t->failure);
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
        sf_free(t->allowed[i]);
    }
    sf_free(t->ends);
    sf_free(t->edges);
    sf_free(t->kept);
    sf_free(t->workers);
    sf_free(t->skipped);
    if (t->team != NULL) sf_team_close(t->team);
}

/* The CPU begins anew. */
static void forget(sf_gvsm *g)
{
    sf_match_result *result = g->job->result;
    g->watch = (sf_match_watch){.job = g->job, .factor = 1};
    result->pieces = result->stayed = result->twigs = result->kernels = 0;
    result->device_s = 0;
}

/* Counts are taken from the workers only where nothing failed. */
static int finish(twigs *t, int status, sf_error *error)
{
    unsigned threads = sf_team_size(t->team);
    const sf_match_tally **tallies = sf_resize(NULL, threads, sizeof *tallies);
    if (tallies == NULL) status = sf_fail_memory(error);
    for (unsigned i = 0; tallies != NULL && i < threads; i++)
        tallies[i] = &t->workers[i].tally;
    if (status == SF_OK)
        status = sf_match_finish(&t->g->watch, tallies, threads, error);
    else
        forget(t->g);
    sf_free(tallies);
    return status;
}

int sf_gvsm_supports(const void *job, const sf_device *device, sf_error *error)
{
    const sf_gvsm *g = job;
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
static int search_held(void *context, sf_device *device, sf_error *failure)
{
    twigs *t = context;
    int status = sf_team_open(&t->team, t->g->job->threads, &t->failure);
    if (status == SF_OK) status = open_workers(t);
    if (status == SF_OK) status = open_expander(t, device);
    if (status == SF_OK) status = search_all(t);
    if (status == SF_CANCELLED && sf_match_is_late(t->g->job)) { /* before anything was found */
        atomic_store(&t->g->watch.truncated, true);
        status = SF_OK;
    }
    uint64_t implied = 0;
    t->backend->twigs_close(t->expander, &implied);
    atomic_fetch_add(&t->g->implied_tests, implied);
    *failure = t->failure;
    return status;
}

int sf_gvsm_on_device(sf_gvsm *g, sf_device *device, sf_error *error)
{
    twigs *t = sf_alloc(1, sizeof *t);
    if (t == NULL) return sf_fail_memory(error);
    uint64_t most = g->greatest_degree > MOST_PIECE ? g->greatest_degree : MOST_PIECE;
    t->g = g;
    t->backend = sf_device_backend(device)->match;
    t->most_piece = (uint32_t)most;
    t->room = most > ROOM ? (uint32_t)most : ROOM;
    sf_match_recall(g->index, device);
    int status = sf_device_do(device, search_held, t, error);
    if (t->workers != NULL) status = finish(t, status, error);
    close_twigs(t);
    sf_free(t);
    return status;
}
