/* SPDX-License-Identifier: Apache-2.0 */
/* Engine gvsm with a device, as in section 4 of the paper: the device expands layers and the CPU joins them.
 *
 * A layer is cut into pieces by binary search in the sums of degrees, so that a piece has about as many
 * neighbours as PACE times what the last piece left after its join. Three pieces are under way at once,
 * copied to the device, expanded or copied back, while the threads here join the one before. When a layer is
 * full it is searched below before more is added, so that memory is bounded.
 *
 * Where the pattern says nothing but edges and labels, layers stay on the device: it joins them too, and only
 * counts the last one. A layer that would be too large is cut above, and what is below one part is searched
 * after what is below another. With a threshold, as in the paper, only small layers stay: where one outgrows
 * it, the pipeline searches what is below the same first layer, whose layers above were small. */
#include "graph/match/gvsm/gvsm.h"

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
    bool stays;                       /* layers are joined on the device too */
    uint8_t *checks;                  /* by what */
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

/* ---- join ---- */

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
    if (status != SF_OK)
        return status;
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
    if (status != SF_OK)
        return status;
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

/* What edges say of two layers, as bits; false where more is said. */
static bool describe_pair(const sf_gvsm *g, uint32_t later, uint32_t earlier, uint8_t *checks)
{
    uint32_t u = g->layers[later].vertex, x = g->layers[earlier].vertex;
    unsigned bits = (g->layers[later].greater >> x & 1) != 0 ? SF_CHECK_GREATER : 0;
    const sf_pair *pair = (g->layers[later].checked >> x & 1) != 0 ? sf_query_pair(g->query, u, x) : NULL;
    if (pair != NULL) {
        bool is_first = u == pair->a;
        bits |= (is_first ? pair->forward : pair->backward) ? SF_CHECK_OUT : 0u;
        bits |= (is_first ? pair->backward : pair->forward) ? SF_CHECK_IN : 0u;
        bits |= (is_first ? pair->no_forward : pair->no_backward) ? SF_CHECK_NO_OUT : 0u;
        bits |= (is_first ? pair->no_backward : pair->no_forward) ? SF_CHECK_NO_IN : 0u;
    }
    *checks = (uint8_t)bits;
    return pair == NULL || (pair->edge_count == 0 && pair->relation_count == 0);
}

/* Lets layers stay on the device where it can tell all that the pattern asks for. */
static int describe_joins(twigs *t, sf_backend_twig_job *job)
{
    const sf_gvsm *g = t->g;
    uint32_t n = g->query->count;
    t->stays = (g->features & SF_GVSM_STAY) != 0;
    t->checks = sf_alloc((size_t)n * n, 1);
    if (t->checks == NULL)
        return SF_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t u = g->layers[i].vertex;
        t->stays = t->stays && g->query->term_count[u] == 0 && g->query->loop_count[u] == 0;
        for (uint32_t d = 0; d < i; d++)
            t->stays = describe_pair(g, i, d, &t->checks[i * n + d]) && t->stays;
    }
    job->checks = t->stays ? t->checks : NULL;
    return SF_OK;
}

static uint32_t layer_of(const sf_gvsm *g, uint32_t u)
{
    uint32_t i = 0;
    while (g->layers[i].vertex != u)
        i++;
    return i;
}

static void describe_layer(const sf_gvsm *g, uint32_t i, sf_backend_twig *to)
{
    const sf_gvsm_layer *l = &g->layers[i];
    bool has_needs = l->has_twig && (g->features & SF_GVSM_TWIGS) != 0;
    *to = (sf_backend_twig){.parent = i > 0 ? layer_of(g, l->parent) : 0,
                            .label = g->query->labels[l->vertex],
                            .out = l->out,
                            .needs = g->twig[l->vertex].items,
                            .need_count = has_needs ? (uint32_t)g->twig[l->vertex].count : 0};
}

static int open_expander(twigs *t, sf_device *device)
{
    const sf_gvsm *g = t->g;
    uint64_t threshold = g->job->threshold;
    sf_backend_twig_job job = {.vertex_count = g->index->out->vertex_count,
                               .blacklist = g->blacklist,
                               .implied = g->implied,
                               .layers = t->layers,
                               .layer_count = g->query->count,
                               .vertex_labels = g->index->labels,
                               .twins = g->twins.first != NULL ? g->twins.size : NULL,
                               .injective = g->injective,
                               .pairs = (g->features & SF_GVSM_PAIRS) != 0,
                               .most_entries = t->most_piece,
                               .most_kept =
                                   threshold > 0 && threshold < t->room ? (uint32_t)threshold : t->room};
    for (uint32_t i = 0; i < g->query->count; i++)
        describe_layer(g, i, &t->layers[i]);
    int status = describe_graph(t, &job);
    if (status == SF_OK)
        status = skip_vertices(t);
    if (status == SF_OK)
        status = describe_joins(t, &job);
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
    sf_free(t->checks);
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
    if (tallies == NULL)
        status = sf_fail_memory(error);
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
    if (status == SF_OK)
        status = open_workers(t);
    if (status == SF_OK)
        status = open_expander(t, device);
    if (status == SF_OK)
        status = search_all(t);
    uint64_t implied = 0;
    t->backend->twigs_close(t->expander, &implied);
    atomic_fetch_add(&t->g->implied_tests, implied);
    *failure = t->failure;
    return status;
}

int sf_gvsm_on_device(sf_gvsm *g, sf_device *device, sf_error *error)
{
    twigs *t = sf_alloc(1, sizeof *t);
    if (t == NULL)
        return sf_fail_memory(error);
    uint64_t most = g->greatest_degree > MOST_PIECE ? g->greatest_degree : MOST_PIECE;
    t->g = g;
    t->backend = sf_device_backend(device)->match;
    t->most_piece = (uint32_t)most;
    t->room = most > ROOM ? (uint32_t)most : ROOM;
    int status = sf_device_do(device, search_held, t, error);
    if (t->workers != NULL)
        status = finish(t, status, error);
    close_twigs(t);
    sf_free(t);
    return status;
}
