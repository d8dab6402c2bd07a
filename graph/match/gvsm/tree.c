/* SPDX-License-Identifier: Apache-2.0 */
/* The prefix tree of partial embeddings of the engine gvsm: which data vertices may become entries of a
 * layer, which entries fit those above them, and how many embeddings the entries of the last layer are. */
#include "graph/match/gvsm/gvsm.h"

#include "graph/match/kinds.h"

enum { NOT_YET, YES, NO };

/* ---- candidates ---- */

static bool has_around(const sf_gvsm *g, const sf_backend_twig_need *n, uint32_t v)
{
    size_t count;
    uint32_t found = 0;
    const uint32_t *list = sf_kinds_neighbours(g->index, n->out, v, n->edge, n->label, &count);
    for (size_t i = 0; i < count && found < n->count; i++)
        found += !sf_gvsm_is_blacklisted(g, list[i]);
    return found >= n->count;
}

bool sf_gvsm_meets(const sf_gvsm *g, const sf_gvsm_needs *n, uint32_t v)
{
    for (size_t i = 0; i < n->count; i++)
        if (!has_around(g, &n->items[i], v)) return false;
    return true;
}

/* The local test of a twig, remembered for each data vertex. Two threads may both do it; they agree. */
static bool passes_twig(sf_gvsm_worker *w, uint32_t u, uint32_t v)
{
    sf_gvsm *g = w->g;
    if ((g->features & SF_GVSM_TWIGS) == 0) return true;
    uint8_t *cell = &g->match[(size_t)u * g->index->out->vertex_count + v];
    uint8_t known = __atomic_load_n(cell, __ATOMIC_RELAXED);
    if (known == NOT_YET && g->implied != NULL && g->implied[v] != SF_NO_VERTEX &&
        __atomic_load_n(cell - v + g->implied[v], __ATOMIC_RELAXED) == NO) {
        atomic_fetch_add_explicit(&g->implied_tests, 1, memory_order_relaxed);
        known = NO;
    }
    if (known == NOT_YET) known = sf_gvsm_meets(g, &g->twig[u], v) ? YES : NO;
    __atomic_store_n(cell, known, __ATOMIC_RELAXED);
    return known == YES;
}

bool sf_gvsm_is_candidate(sf_gvsm_worker *w, const sf_gvsm_layer *l, uint32_t v)
{
    const sf_gvsm *g = w->g;
    if (sf_gvsm_is_blacklisted(g, v) || (g->twins.first != NULL && g->twins.first[v] != v)) return false;
    return sf_query_vertex_fits(g->query, l->vertex, v) && (!l->has_twig || passes_twig(w, l->vertex, v));
}

const uint32_t *sf_gvsm_below(const sf_gvsm *g, const sf_gvsm_layer *l, uint32_t parent, size_t *count)
{
    uint32_t label = g->query->labels[l->vertex];
    if (l->parent != SF_NO_VERTEX)
        return sf_kinds_neighbours(g->index, l->out, parent, l->edge, label, count);
    uint64_t first = label == SF_ANY_LABEL ? 0 : g->index->by_label[label];
    uint64_t last = label == SF_ANY_LABEL ? g->index->out->vertex_count : g->index->by_label[label + 1];
    *count = last - first;
    return g->index->members + first;
}

/* ---- join ---- */

void sf_gvsm_read_path(sf_gvsm_worker *w, uint32_t depth, uint32_t idx)
{
    for (uint32_t i = depth + 1; i-- > 0;) {
        const sf_backend_node *e = &w->entries[i][idx];
        w->path[w->g->layers[i].vertex] = e->vid;
        idx = e->idx;
    }
}

static bool fits_path(const sf_gvsm_worker *w, uint32_t depth, uint32_t v)
{
    const sf_gvsm *g = w->g;
    const sf_gvsm_layer *l = &g->layers[depth];
    uint32_t u = l->vertex, same = 0;
    for (uint32_t i = 0; i < depth && g->injective; i++)
        same += w->path[g->layers[i].vertex] == v;
    if (same >= (g->twins.first != NULL ? g->twins.size[v] : 1)) return false;
    for (uint64_t left = l->greater; left != 0; left &= left - 1)
        if (w->path[__builtin_ctzll(left)] >= v) return false;
    for (uint64_t left = l->checked; left != 0; left &= left - 1) {
        uint32_t x = (uint32_t)__builtin_ctzll(left);
        const sf_pair *pair = sf_query_pair(g->query, u, x);
        if (!sf_query_pair_fits(g->query, pair, u == pair->a ? v : w->path[x], u == pair->a ? w->path[x] : v))
            return false;
    }
    return true;
}

uint32_t sf_gvsm_join(sf_gvsm_worker *w, uint32_t depth, uint32_t first, uint32_t end)
{
    uint32_t kept = first, above = UINT32_MAX;
    for (uint32_t i = first; i < end; i++) {
        sf_backend_node e = w->entries[depth][i];
        if (sf_match_step(&w->tally)) return first;
        if (depth > 0 && e.idx != above) sf_gvsm_read_path(w, depth - 1, e.idx);
        above = e.idx;
        if (fits_path(w, depth, e.vid)) w->entries[depth][kept++] = e;
    }
    return kept;
}

/* ---- count ---- */

/* Twins stand for one another: n of them for m pattern vertices in n (n - 1) ... ways, or n^m. */
static uint64_t count_twins(const sf_gvsm_worker *w)
{
    const sf_gvsm *g = w->g;
    uint64_t ways = 1;
    for (uint32_t u = 0; g->twins.first != NULL && u < g->query->count; u++) {
        uint64_t used = 0;
        for (uint32_t x = 0; x < u && g->injective; x++)
            used += w->path[x] == w->path[u];
        ways = sf_saturated_multiply(ways, g->twins.size[w->path[u]] - used);
    }
    return ways;
}

void sf_gvsm_count(sf_gvsm_worker *w, uint32_t depth, uint32_t first, uint32_t end)
{
    if (w->g->twins.first == NULL && !w->g->job->list) {
        sf_match_found(&w->tally, end - first, NULL);
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        sf_gvsm_read_path(w, depth, i);
        sf_match_found(&w->tally, count_twins(w), w->path);
    }
}
