/* SPDX-License-Identifier: Apache-2.0 */
/* Engine gvsm: the method of Meng, Lin and Tan (High Technology Letters 32, 2022) on CPU threads.
 *
 * The pattern is cut into twigs, trees of two levels. For each twig in turn, `expand` puts the neighbours of
 * the data vertex of its root into the next layer of a prefix tree of partial embeddings, entries {vid, idx}
 * of which idx points to the layer above, so that shared beginnings are stored once; `join` drops those that
 * break an edge or a condition with what is above them. Five things save work, each of which can be left out
 * without changing any count: a blacklist of data vertices that can match nothing; implication (a vertex
 * whose neighbours are among another's fails a twig that the other failed); twins (data vertices with equal
 * neighbours share one branch and are multiplied out at the end); the order of vertices; and the local test
 * of a twig itself.
 *
 * A layer is filled in pieces that are cut by the sum of degrees of the entries above, so that memory is
 * bounded: pattern vertices times the larger of the greatest degree and PIECE. */
#include "graph/match/gvsm/gvsm.h"

#include "graph/match/kinds.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdio.h>
#include <string.h>

enum {
    PIECE = 1 << 14,     /* entries of a layer at a time */
    ROOTS = 256,         /* data vertices of the first layer that a thread takes at a time */
    BLACKLIST_ROUNDS = 2 /* the paper stops after the first ones */
};

/* ---- what a vertex needs around it ---- */

static void add_need(sf_gvsm_needs *n, bool out, uint32_t edge, uint32_t label, bool injective)
{
    for (size_t i = 0; i < n->count; i++) {
        sf_backend_twig_need *need = &n->items[i];
        if (need->out == out && need->edge == edge && need->label == label) {
            need->count += injective; /* of homomorphisms only the kinds of labels count */
            return;
        }
    }
    if (n->count < sizeof n->items / sizeof n->items[0])
        n->items[n->count++] = (sf_backend_twig_need){edge, label, 1, out};
}

/* Whether an earlier edge of the pair asks for the same. */
static bool is_asked_before(const sf_query *q, const sf_pair *pair, size_t edge)
{
    const sf_bound_edge *of = &q->edges[edge];
    for (size_t i = pair->first_edge; i < edge; i++)
        if (!q->edges[i].absent && q->edges[i].from == of->from && q->edges[i].label == of->label)
            return true;
    return false;
}

/* By the labels of the edges between u and w, of which each may be another data edge: every label counts w
 * once. */
static void add_labelled_needs(sf_gvsm_needs *n, const sf_gvsm *g, const sf_pair *pair, uint32_t u,
                               uint32_t w)
{
    for (size_t i = pair->first_edge; i < pair->first_edge + pair->edge_count; i++) {
        const sf_bound_edge *edge = &g->query->edges[i];
        if (edge->absent || edge->label == SF_ANY_LABEL || is_asked_before(g->query, pair, i)) continue;
        add_need(n, edge->from == u, sf_kinds_label(g->index, edge->label), g->query->labels[w],
                 g->injective);
    }
}

static void add_needs(sf_gvsm_needs *n, const sf_gvsm *g, uint32_t u, uint64_t neighbours)
{
    for (; neighbours != 0; neighbours &= neighbours - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(neighbours);
        const sf_pair *pair = sf_query_pair(g->query, u, w);
        if (u == pair->a ? pair->forward : pair->backward)
            add_need(n, true, SF_ANY_LABEL, g->query->labels[w], g->injective);
        if (u == pair->a ? pair->backward : pair->forward)
            add_need(n, false, SF_ANY_LABEL, g->query->labels[w], g->injective);
        if (g->by_kinds) add_labelled_needs(n, g, pair, u, w);
    }
}

/* ---- blacklist ---- */

static bool can_match_something(const sf_gvsm *g, uint32_t v)
{
    uint32_t label = sf_match_label(g->index, v);
    for (uint32_t u = 0; u < g->query->count; u++)
        if ((g->query->labels[u] == label || g->query->labels[u] == SF_ANY_LABEL) &&
            sf_gvsm_meets(g, &g->around[u], v))
            return true;
    return false;
}

/* Later vertices of a round may see what earlier ones became: the list only grows sooner. Words belong to one
 * thread each. */
static int blacklist_block(void *context, unsigned index, size_t block)
{
    (void)index;
    sf_gvsm *g = context;
    uint32_t n = g->index->out->vertex_count;
    for (uint64_t v = block * 64; v < n && v < (block + 1) * 64; v++) {
        if (sf_gvsm_is_blacklisted(g, (uint32_t)v) || can_match_something(g, (uint32_t)v)) continue;
        uint64_t word = g->blacklist[block] | sf_bit((uint32_t)(v % 64));
        __atomic_store_n(&g->blacklist[block], word, __ATOMIC_RELAXED);
    }
    return 0;
}

static void make_blacklist(sf_gvsm *g)
{
    size_t words = ((size_t)g->index->out->vertex_count + 63) / 64;
    for (int round = 0; round < BLACKLIST_ROUNDS; round++)
        sf_parallel_for(g->job->threads, words, blacklist_block, g);
    for (size_t w = 0; w < words; w++)
        g->job->result->blacklisted += (uint64_t)__builtin_popcountll(g->blacklist[w]);
}

/* ---- order and twigs ---- */

/* g(u) = data vertices left for the label / (degree of u * distinct labels around it). */
static double rank(const sf_gvsm *g, uint32_t u)
{
    const sf_query *q = g->query;
    const sf_match_index *index = g->index;
    bool any = q->labels[u] == SF_ANY_LABEL;
    uint64_t first = any ? 0 : index->by_label[q->labels[u]];
    uint64_t last = any ? index->out->vertex_count : index->by_label[q->labels[u] + 1], left = 0;
    for (uint64_t i = first; i < last; i++)
        left += !sf_gvsm_is_blacklisted(g, index->members[i]);
    double degree = 0, kinds = 0;
    for (uint64_t w = q->required[u]; w != 0; w &= w - 1) {
        uint32_t neighbour = (uint32_t)__builtin_ctzll(w);
        bool seen = false;
        for (uint64_t x = q->required[u] & (sf_bit(neighbour) - 1); x != 0; x &= x - 1)
            seen |= q->labels[__builtin_ctzll(x)] == q->labels[neighbour];
        degree++;
        kinds += !seen;
    }
    return (double)left / (degree > 0 ? degree * kinds : 1);
}

static uint32_t least_of(const double *ranks, uint64_t set)
{
    uint32_t best = (uint32_t)__builtin_ctzll(set);
    for (; set != 0; set &= set - 1)
        if (ranks[__builtin_ctzll(set)] < ranks[best]) best = (uint32_t)__builtin_ctzll(set);
    return best;
}

/* The first edge of the pair that must be there and has a label; NULL where there is none. */
static const sf_bound_edge *labelled_edge(const sf_query *q, const sf_pair *pair)
{
    for (size_t i = pair->first_edge; i < pair->first_edge + pair->edge_count; i++)
        if (!q->edges[i].absent && q->edges[i].label != SF_ANY_LABEL) return &q->edges[i];
    return NULL;
}

/* The pair asks for an edge with a label, and for nothing else. */
static bool is_one_edge(const sf_pair *pair, const sf_bound_edge *edge)
{
    return pair->edge_count == 1 && edge->term_count == 0 && pair->forward != pair->backward &&
           !pair->no_forward && !pair->no_backward && pair->relation_count == 0;
}

static void add_layer(sf_gvsm *g, uint32_t *count, uint64_t above, uint32_t u, uint32_t parent)
{
    const sf_query *q = g->query;
    sf_gvsm_layer *l = &g->layers[(*count)++];
    *l = (sf_gvsm_layer){
        .vertex = u, .parent = parent, .edge = SF_ANY_LABEL, .checked = q->constrained[u] & above};
    if (parent == SF_NO_VERTEX) return;
    const sf_pair *pair = sf_query_pair(q, parent, u);
    const sf_bound_edge *edge = g->by_kinds ? labelled_edge(q, pair) : NULL;
    l->out = edge != NULL ? edge->from == parent : parent == pair->a ? pair->forward : pair->backward;
    if (edge != NULL) l->edge = sf_kinds_label(g->index, edge->label);
    if (edge != NULL ? is_one_edge(pair, edge) : pair->plain)
        l->checked &= ~sf_bit(parent); /* the twig is all that is said */
}

/* Twigs: the root with the smallest rank among the matched vertices that still have unmatched neighbours, and
 * these as its children, smallest rank first. */
static void make_layers(sf_gvsm *g)
{
    const sf_query *q = g->query;
    double ranks[SF_PATTERN_MOST];
    uint64_t left = q->count == 64 ? UINT64_MAX : sf_bit(q->count) - 1, above = 0;
    uint32_t count = 0;
    for (uint32_t u = 0; u < q->count; u++)
        ranks[u] = (g->features & SF_GVSM_ORDER) != 0 ? rank(g, u) : u;
    while (left != 0) {
        uint64_t roots = 0;
        for (uint64_t w = above; w != 0; w &= w - 1)
            if ((q->required[__builtin_ctzll(w)] & left) != 0) roots |= w & -w;
        if (roots == 0) {
            uint32_t first = least_of(ranks, left);
            add_layer(g, &count, above, first, SF_NO_VERTEX);
            above |= sf_bit(first);
            left &= ~sf_bit(first);
            continue;
        }
        uint32_t root = least_of(ranks, roots);
        uint64_t children = q->required[root] & left;
        add_needs(&g->twig[root], g, root, children);
        for (uint32_t i = 0; i < count; i++)
            g->layers[i].has_twig |= g->layers[i].vertex == root;
        while (children != 0) {
            uint32_t child = least_of(ranks, children);
            add_layer(g, &count, above, child, root);
            above |= sf_bit(child);
            left &= ~sf_bit(child);
            children &= ~sf_bit(child);
        }
    }
}

static void break_symmetry(sf_gvsm *g)
{
    uint64_t greater[SF_PATTERN_MOST];
    uint32_t order[SF_PATTERN_MOST];
    for (uint32_t i = 0; i < g->query->count; i++)
        order[i] = g->layers[i].vertex;
    sf_symmetry_break(g->job->symmetry, order, g->query->count, greater);
    for (uint32_t i = 0; i < g->query->count; i++)
        g->layers[i].greater = greater[order[i]];
}

/* ---- expand ---- */

static void expand(sf_gvsm_worker *w, uint32_t depth, uint32_t idx, const uint32_t *list, size_t count,
                   uint32_t *end)
{
    const sf_gvsm_layer *l = &w->g->layers[depth];
    for (size_t i = 0; i < count; i++) {
        bool is_repeated = l->parent != SF_NO_VERTEX && i > 0 && list[i] == list[i - 1];
        if (!is_repeated && sf_gvsm_is_candidate(w, l, list[i]))
            w->entries[depth][(*end)++] = (sf_backend_node){list[i], idx};
    }
}

/* ---- the whole tree, piece by piece ---- */

/* Everything below the first `count` entries of a layer. Pieces of the next layer end before the sum of
 * degrees passes what it can hold. */
static void search(sf_gvsm_worker *w, uint32_t depth, uint32_t count)
{
    const sf_gvsm *g = w->g;
    if (depth + 1 == g->query->count) {
        sf_gvsm_count(w, depth, 0, count);
        return;
    }
    const sf_gvsm_layer *next = &g->layers[depth + 1];
    uint64_t room = g->greatest_degree > PIECE ? g->greatest_degree : PIECE;
    for (uint32_t idx = 0; idx < count;) {
        uint32_t end = 0;
        for (uint64_t sum = 0; idx < count; idx++) {
            size_t below;
            if (next->parent != SF_NO_VERTEX) sf_gvsm_read_path(w, depth, idx);
            const uint32_t *list =
                sf_gvsm_below(g, next, next->parent != SF_NO_VERTEX ? w->path[next->parent] : 0, &below);
            if (sum > 0 && sum + below > room) break;
            sum += below;
            expand(w, depth + 1, idx, list, below, &end);
        }
        search(w, depth + 1, sf_gvsm_join(w, depth + 1, 0, end));
    }
}

static int search_roots(void *context, unsigned index, size_t block)
{
    sf_gvsm_worker *w = (sf_gvsm_worker *)context + index;
    sf_gvsm *g = w->g;
    size_t count, first = block * ROOTS;
    const uint32_t *list = sf_gvsm_below(g, &g->layers[0], 0, &count);
    uint32_t end = 0;
    expand(w, 0, 0, list + first, count - first < ROOTS ? count - first : ROOTS, &end);
    search(w, 0, sf_gvsm_join(w, 0, 0, end));
    atomic_fetch_add(&g->watch.done, 1);
    return atomic_load(&g->watch.stop);
}

/* ---- preparation ---- */

static bool has_edge_labels(const sf_query *q)
{
    bool any = false;
    for (size_t e = 0; e < q->edge_count; e++)
        any |= q->edges[e].label != SF_ANY_LABEL;
    return any;
}

/* Techniques that rely on neighbours and kinds of edges being all that counts are left out where more is
 * said. */
static unsigned choose_features(const sf_gvsm *g)
{
    const sf_match_job *job = g->job;
    const sf_query *q = g->query;
    bool has_more = q->semantics == SF_INDUCED || q->term_total > 0 || q->relation_count > 0;
    bool has_absent = false;
    for (size_t p = 0; p < q->pair_count; p++)
        has_absent |= q->pairs[p].no_forward || q->pairs[p].no_backward;
    for (size_t e = 0; e < q->edge_count; e++)
        has_absent |= q->edges[e].absent;
    unsigned features = ~job->without;
    if (has_more || has_absent) features &= ~(unsigned)SF_GVSM_IMPLICATION;
    if (job->list || (has_edge_labels(q) && !g->by_kinds) || q->term_total > 0 || q->relation_count > 0)
        features &= ~(unsigned)SF_GVSM_TWINS;
    return features;
}

static int find_kinds(sf_gvsm *g, sf_error *error)
{
    if (!has_edge_labels(g->query)) return SF_OK;
    int status = sf_kinds_find(g->index, g->job->threads, error);
    g->by_kinds = g->index->kinds->out.directory != NULL;
    return status;
}

static int alloc_gvsm(sf_gvsm *g, sf_error *error)
{
    size_t n = g->index->out->vertex_count;
    g->blacklist = sf_alloc((n + 63) / 64, sizeof *g->blacklist);
    g->match = sf_alloc(n * g->query->count, 1);
    if (g->blacklist == NULL || g->match == NULL) return sf_fail_memory(error);
    const sf_relatives *known = &g->index->relatives[g->by_kinds];
    int status = SF_OK;
    if ((g->features & SF_GVSM_TWINS) != 0)
        status = sf_twins_find(g->index, g->by_kinds, g->job->threads, error);
    if (status == SF_OK && (g->features & SF_GVSM_IMPLICATION) != 0)
        status = sf_implied_find(g->index, g->by_kinds, g->job->threads, error);
    if ((g->features & SF_GVSM_TWINS) != 0 && known->twins.merged > 0) g->twins = known->twins;
    if ((g->features & SF_GVSM_IMPLICATION) != 0) g->implied = known->implied;
    return status;
}

static void prepare(sf_gvsm *g)
{
    const sf_query *q = g->query;
    for (uint32_t u = 0; u < q->count; u++)
        add_needs(&g->around[u], g, u, q->required[u]);
    if ((g->features & SF_GVSM_BLACKLIST) != 0) make_blacklist(g);
    make_layers(g);
    if (g->job->list && g->job->distinct) break_symmetry(g);
    for (uint32_t i = 0; i < q->count; i++) /* parts of their own list all vertices with a label */
        if (i > 0 && g->layers[i].parent == SF_NO_VERTEX) g->greatest_degree = g->index->out->vertex_count;
    for (uint32_t v = 0; v < g->index->out->vertex_count; v++) {
        uint64_t out = sf_csr_degree(g->index->out, v), in = sf_csr_degree(g->index->in, v);
        uint64_t degree = out > in ? out : in;
        g->greatest_degree = degree > g->greatest_degree ? degree : g->greatest_degree;
    }
}

static int open_worker(sf_gvsm_worker *w, sf_gvsm *g, bool is_caller)
{
    *w = (sf_gvsm_worker){.g = g, .tally = {.watch = &g->watch, .is_caller = is_caller}};
    size_t room = g->greatest_degree > PIECE ? g->greatest_degree : PIECE;
    for (uint32_t i = 0; i < g->query->count; i++) {
        w->entries[i] = sf_resize(NULL, i == 0 ? ROOTS : room, sizeof **w->entries);
        if (w->entries[i] == NULL) return SF_NO_MEMORY;
    }
    return SF_OK;
}

static void close_worker(sf_gvsm_worker *w)
{
    for (uint32_t i = 0; i < SF_PATTERN_MOST; i++)
        sf_free(w->entries[i]);
}

static int search_all(sf_gvsm *g, sf_error *error)
{
    size_t count;
    sf_gvsm_below(g, &g->layers[0], 0, &count);
    size_t blocks = (count + ROOTS - 1) / ROOTS;
    unsigned threads = g->job->threads > blocks && blocks > 0 ? (unsigned)blocks : g->job->threads, open = 0;
    sf_gvsm_worker *workers = sf_alloc(threads, sizeof *workers);
    const sf_match_tally **tallies = sf_resize(NULL, threads, sizeof *tallies);
    int status = workers != NULL && tallies != NULL ? SF_OK : SF_NO_MEMORY;
    for (; status == SF_OK && open < threads; open++) {
        status = open_worker(&workers[open], g, open == 0);
        tallies[open] = &workers[open].tally;
    }
    if (status == SF_OK) {
        g->watch.total = (double)blocks;
        sf_parallel_for(threads, blocks, search_roots, workers);
        status = sf_match_finish(&g->watch, tallies, threads, error);
    } else {
        status = sf_fail_memory(error);
    }
    for (unsigned i = 0; i < open; i++)
        close_worker(&workers[i]);
    sf_free(workers);
    sf_free(tallies);
    return status;
}

static int search_here(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    return search_all(job, error);
}

static int search_there(void *job, sf_crew *crew, sf_error *error)
{
    return sf_gvsm_on_device(job, crew->members[0].device, error);
}

/* Without an estimate: a device is taken only where it is asked for. */
const sf_way sf_match_gvsm_here = {.engine = "gvsm", .run = search_here};
const sf_way sf_match_gvsm_there = {
    .engine = "gvsm", .on_devices = true, .supports = sf_gvsm_supports, .run = search_there};

/* Lists are the CPU's: there the same come first every time. */
static int search_anywhere(sf_gvsm *g, sf_error *error)
{
    sf_ran ran;
    const char *device = g->job->list ? "cpu" : g->job->device;
    int status = sf_match_choose_and_run("gvsm", device, g, &ran, error);
    sf_match_tell(g->job->result, &ran);
    return status;
}

static void describe(const sf_gvsm *g)
{
    sf_match_result *result = g->job->result;
    result->implied = atomic_load(&g->implied_tests);
    result->merged = g->twins.merged;
    for (uint32_t i = 0; i < g->query->count; i++) {
        uint32_t u = result->order[i] = g->layers[i].vertex;
        size_t count;
        const sf_gvsm_layer any = {.vertex = u, .parent = SF_NO_VERTEX};
        const uint32_t *list = sf_gvsm_below(g, &any, 0, &count);
        result->labelled[u] = count;
        result->candidates[u] = 0;
        for (size_t j = 0; j < count; j++)
            result->candidates[u] += !sf_gvsm_is_blacklisted(g, list[j]);
    }
}

static int run_gvsm(const sf_match_job *job, sf_error *error)
{
    sf_gvsm g = {.job = job,
                 .query = job->query,
                 .index = job->query->index,
                 .injective = job->query->semantics != SF_HOMOMORPHISM,
                 .watch = {.job = job, .factor = 1}};
    if (job->query->impossible) {
        job->result->blacklisted = g.index->out->vertex_count;
        return SF_OK;
    }
    int status = find_kinds(&g, error);
    g.features = choose_features(&g);
    if (status == SF_OK) status = alloc_gvsm(&g, error);
    if (status == SF_OK) {
        prepare(&g);
        status = search_anywhere(&g, error);
    }
    if (status == SF_OK) describe(&g);
    sf_free(g.blacklist);
    sf_free(g.match);
    return status;
}

const sf_match_engine sf_match_engine_gvsm = {"gvsm", run_gvsm};
