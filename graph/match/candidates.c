/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/candidates.h"

#include "graph/match/needs.h"

#include "core/memory.h"
#include "core/thread.h"

#include <stdatomic.h>
#include <string.h>

enum {
    BLOCK = 4096,   /* candidates that a thread takes at a time; with fewer, threads are not worth starting */
    MOST_MOVED = 64 /* candidates that are put in order one by one */
};

static atomic_int wanted = SF_CANDIDATES_WORTH;

typedef struct finder {
    sf_candidate_lists *made;
    sf_arena *room;
    unsigned threads;
    const sf_query *query;
    const sf_match_index *index;
    int when;
    double degree;                     /* mean number of neighbours with a label */
    uint8_t order[SF_PATTERN_MOST];    /* in which candidates were found */
    uint8_t from[SF_PATTERN_MOST];     /* of what is not found: where it can grow from, */
    uint32_t fewest[SF_PATTERN_MOST];  /* which has so few candidates; UINT32_MAX: nowhere */
    uint64_t pending[SF_PATTERN_MOST]; /* neighbours that may not have a candidate next to all of its own */
    uint64_t found;
    uint32_t count; /* of the order */
    sf_needs *needs;
} finder;

void sf_candidates_when(int when)
{
    atomic_store(&wanted, when);
}

/* ---- what a candidate must have around it ---- */

/* So many neighbours with a label, and among them a candidate of each of `who`. */
static bool has_near(const sf_match_index *index, bool out, uint32_t v, uint32_t label, uint32_t least,
                     uint64_t who)
{
    size_t count;
    const uint32_t *list = sf_match_neighbours(index, out, v, label, &count);
    for (size_t i = 0; i < count && who != 0; i++)
        who &= ~index->masks[list[i]];
    return count >= least && who == 0;
}

/* A candidate of each of `who` next to v, and where it counts as many neighbours of each label as u has. */
static bool has_around(const finder *f, uint32_t u, uint64_t who, bool counts, uint32_t v)
{
    const sf_needs *n = &f->needs[u];
    for (size_t i = 0; i < n->count; i++) {
        const sf_need *need = &n->items[i];
        const uint64_t of = need->who & who;
        if ((counts || of != 0) &&
            !has_near(f->index, need->out, v, need->label, counts ? need->count : 0, of))
            return false;
    }
    return ((n->any_out & who) == 0 || has_near(f->index, true, v, SF_ANY_LABEL, 0, n->any_out & who)) &&
           ((n->any_in & who) == 0 || has_near(f->index, false, v, SF_ANY_LABEL, 0, n->any_in & who));
}

static bool has_support(const finder *f, uint32_t u, uint64_t who, uint32_t v)
{
    return has_around(f, u, who, false, v);
}

/* All that u asks for but its label. */
static bool fits(const finder *f, uint32_t u, uint64_t who, uint32_t v)
{
    const sf_needs *n = &f->needs[u];
    const sf_match_index *index = f->index;
    return (n->out_kinds & ~index->out_kinds[v]) == 0 && (n->in_kinds & ~index->in_kinds[v]) == 0 &&
           sf_csr_degree(index->out, v) >= n->out_degree && sf_csr_degree(index->in, v) >= n->in_degree &&
           has_around(f, u, who, true, v) && sf_query_vertex_fits(f->query, u, v);
}

/* ---- tests of many ---- */

/* Data vertices of which those become candidates of u that pass. */
typedef struct sieve {
    const finder *f;
    uint32_t u;
    uint64_t who;
    bool (*passes)(const finder *f, uint32_t u, uint64_t who, uint32_t v);
    const uint32_t *vertices; /* NULL: 0, 1, 2, ... */
    uint32_t count;
    uint8_t *found; /* of each, where there are many: whether it passes */
} sieve;

static uint32_t vertex_of(const sieve *s, size_t i)
{
    return s->vertices != NULL ? s->vertices[i] : (uint32_t)i;
}

static int test_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const sieve *s = context;
    for (size_t i = block * BLOCK; i < s->count && i < (block + 1) * BLOCK; i++)
        s->found[i] = s->passes(s->f, s->u, s->who, vertex_of(s, i));
    return 0;
}

/* Candidates are kept as they are tested: tests look at what is said of other vertices than u. */
static uint32_t sift_few(const sieve *s, uint32_t *kept)
{
    uint64_t *masks = s->f->index->masks, set = sf_bit(s->u);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t v = vertex_of(s, i);
        bool passes = s->passes(s->f, s->u, s->who, v);
        masks[v] = passes ? masks[v] | set : masks[v] & ~set;
        kept[count] = v;
        count += passes;
    }
    return count;
}

static int sift_many(sieve *s, uint32_t *kept, uint32_t *count)
{
    uint64_t *masks = s->f->index->masks, set = sf_bit(s->u);
    s->found = sf_resize(NULL, s->count, 1);
    if (s->found == NULL) return SF_NO_MEMORY;
    sf_parallel_for(s->f->threads, ((size_t)s->count + BLOCK - 1) / BLOCK, test_block, s);
    *count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t v = vertex_of(s, i);
        masks[v] = s->found[i] ? masks[v] | set : masks[v] & ~set;
        kept[*count] = v;
        *count += s->found[i];
    }
    sf_free(s->found);
    return SF_OK;
}

/* `kept` may be the vertices. */
static int sift(sieve *s, uint32_t *kept, uint32_t *count)
{
    if (s->count > BLOCK) return sift_many(s, kept, count);
    *count = sift_few(s, kept);
    return SF_OK;
}

/* ---- candidates of each vertex ---- */

/* Data vertices with the label, ascending; NULL: all. */
static const uint32_t *members_of(const sf_match_index *index, uint32_t label, uint32_t *count)
{
    if (label == SF_ANY_LABEL) { /* members of all labels are not in the order of ids */
        *count = index->out->vertex_count;
        return NULL;
    }
    *count = (uint32_t)(index->by_label[label + 1] - index->by_label[label]);
    return index->members + index->by_label[label];
}

/* Among all with its label. */
static int filter_vertex(finder *f, uint32_t u, uint64_t who)
{
    sf_candidate_lists *c = f->made;
    sieve all = {.f = f, .u = u, .who = who, .passes = fits};
    all.vertices = members_of(f->index, f->query->labels[u], &all.count);
    c->tested += all.count;
    return sift(&all, c->lists[u], &c->counts[u]);
}

/* In ascending order: one by one, or by looking at all that can be. */
static void put_in_order(const finder *f, uint32_t u, uint32_t *list, uint32_t count)
{
    if (count > MOST_MOVED) {
        uint32_t all, kept = 0;
        const uint32_t *members = members_of(f->index, f->query->labels[u], &all);
        for (uint32_t i = 0; i < all; i++) {
            uint32_t v = members != NULL ? members[i] : i;
            if ((f->index->masks[v] & sf_bit(u)) != 0) list[kept++] = v;
        }
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t v = list[i], j = i;
        for (; j > 0 && list[j - 1] > v; j--)
            list[j] = list[j - 1];
        list[j] = v;
    }
}

/* Among the neighbours of candidates of w. */
static void grow_vertex(finder *f, uint32_t u, uint32_t w)
{
    sf_candidate_lists *c = f->made;
    const bool out = sf_query_leads(f->query, w, u);
    const bool is_seen = f->index->in == f->index->out || !sf_query_leads(f->query, u, w); /* all of w */
    const uint64_t who = f->query->required[u] & f->found & ~(is_seen ? sf_bit(w) : 0);
    uint64_t *masks = f->index->masks;
    uint32_t *list = c->lists[u], count = 0;
    for (uint32_t i = 0; i < c->counts[w]; i++) {
        size_t near;
        const uint32_t *neighbours =
            sf_match_neighbours(f->index, out, c->lists[w][i], f->query->labels[u], &near);
        for (size_t n = 0; n < near; n++) {
            uint32_t v = neighbours[n];
            if ((masks[v] & sf_bit(u)) != 0) continue;
            c->tested++;
            if (fits(f, u, who, v)) {
                masks[v] |= sf_bit(u);
                list[count++] = v;
            }
        }
    }
    put_in_order(f, u, list, count);
    c->counts[u] = count;
}

/* ---- which comes next ---- */

static uint32_t members_count(const finder *f, uint32_t u)
{
    uint32_t count;
    members_of(f->index, f->query->labels[u], &count);
    return count;
}

/* One that is joined with what is found, where that has fewest candidates; else one whose label fewest data
 * vertices have, for the neighbours that it asks for. */
static uint32_t next_vertex(const finder *f)
{
    uint32_t next = SF_NO_VERTEX;
    double least = 0;
    for (uint32_t u = 0; u < f->query->count; u++) {
        if ((f->found & sf_bit(u)) != 0) continue;
        const bool is_joined = f->fewest[u] != UINT32_MAX;
        const double size = is_joined ? f->fewest[u]
                                      : UINT32_MAX + (double)members_count(f, u) /
                                                         (1 + __builtin_popcountll(f->query->required[u]));
        if (next == SF_NO_VERTEX || size < least) {
            next = u;
            least = size;
        }
    }
    return f->when == SF_CANDIDATES_FILTERED ? sf_lowest(~f->found) : next;
}

/* Neighbours of what it can grow from are fewer than what has its label. */
static bool can_grow(const finder *f, uint32_t u)
{
    if (f->fewest[u] == UINT32_MAX || f->when != SF_CANDIDATES_WORTH)
        return f->when == SF_CANDIDATES_GROWN && f->fewest[u] != UINT32_MAX;
    return f->fewest[u] * (1 + f->degree) < members_count(f, u);
}

static void note_found(finder *f, uint32_t u)
{
    const uint32_t count = f->made->counts[u];
    f->order[f->count++] = (uint8_t)u;
    f->found |= sf_bit(u);
    for (uint64_t left = f->query->required[u] & ~f->found; left != 0; left &= left - 1) {
        const uint32_t w = sf_lowest(left);
        if (count < f->fewest[w]) {
            f->fewest[w] = count;
            f->from[w] = (uint8_t)u;
        }
    }
}

static int find_vertex(finder *f, uint32_t u)
{
    sf_candidate_lists *c = f->made;
    const uint64_t known = f->when == SF_CANDIDATES_FILTERED ? 0 : f->query->required[u] & f->found;
    sf_need *items = sf_arena_take(f->room, 2 * SF_PATTERN_MOST, sizeof *items);
    if (items == NULL) return SF_NO_MEMORY;
    sf_needs_list(&f->needs[u], items, f->query, u);
    sf_arena_trim(f->room, items, f->needs[u].count * sizeof *items);
    c->labelled[u] = members_count(f, u);
    c->lists[u] = sf_arena_take(f->room, c->labelled[u], sizeof *c->lists[u]);
    int status = c->lists[u] != NULL ? SF_OK : SF_NO_MEMORY;
    if (status == SF_OK && can_grow(f, u))
        grow_vertex(f, u, f->from[u]);
    else if (status == SF_OK)
        status = filter_vertex(f, u, known);
    if (status != SF_OK) return status;
    sf_arena_trim(f->room, c->lists[u], c->counts[u] * sizeof *c->lists[u]);
    f->pending[u] = f->query->required[u] & ~known;
    c->is_empty = c->counts[u] == 0;
    note_found(f, u);
    return SF_OK;
}

/* ---- pruning by neighbours ---- */

/* Candidates without support go, and those next to them may have lost theirs. */
static int prune_vertex(finder *f, uint32_t u)
{
    sf_candidate_lists *c = f->made;
    const uint32_t before = c->counts[u];
    sieve all = {.f = f,
                 .u = u,
                 .who = f->pending[u],
                 .passes = has_support,
                 .vertices = c->lists[u],
                 .count = before};
    f->pending[u] = 0;
    int status = sift(&all, c->lists[u], &c->counts[u]);
    for (uint64_t left = c->counts[u] < before ? f->query->required[u] : 0; left != 0; left &= left - 1)
        f->pending[sf_lowest(left)] |= sf_bit(u);
    c->is_empty = c->is_empty || c->counts[u] == 0;
    return status;
}

/* Back and forth along the order. A device goes through all in each round that were to be looked at before.
 */
static int prune(finder *f)
{
    const bool as_device = f->when == SF_CANDIDATES_FILTERED;
    int status = SF_OK;
    for (int round = 0; round < SF_CANDIDATES_ROUNDS && !f->made->is_empty; round++) {
        uint64_t stale = 0;
        for (uint32_t u = 0; u < f->query->count; u++)
            stale |= f->pending[u] != 0 ? sf_bit(u) : 0;
        for (uint32_t i = 0; i < f->count && stale != 0 && status == SF_OK; i++) {
            const uint32_t u = f->order[as_device || round % 2 != 0 ? i : f->count - 1 - i];
            if (f->pending[u] != 0 && (!as_device || (stale & sf_bit(u)) != 0)) status = prune_vertex(f, u);
        }
    }
    return status;
}

/* Masks are zero again. Returns how many data vertices are a candidate of something. */
static uint32_t clear_masks(const finder *f)
{
    uint32_t useful = 0;
    for (uint32_t o = 0; o < f->count; o++) {
        const uint32_t u = f->order[o];
        for (uint32_t i = 0; i < f->made->counts[u]; i++) {
            uint64_t *mask = &f->index->masks[f->made->lists[u][i]];
            useful += *mask != 0;
            *mask = 0;
        }
    }
    return useful;
}

int sf_candidates_find(sf_candidate_lists *found, const sf_query *query, unsigned threads, sf_arena *room)
{
    const sf_match_index *index = query->index;
    finder f = {.made = found,
                .room = room,
                .threads = threads,
                .query = query,
                .index = index,
                .when = atomic_load(&wanted)};
    f.degree =
        (double)sf_csr_edge_count(index->out) / ((double)index->out->vertex_count * index->label_count);
    f.needs = sf_arena_take(room, query->count, sizeof *f.needs);
    memset(f.fewest, 0xff, sizeof f.fewest);
    memset(found, 0, sizeof *found);
    found->is_empty = query->impossible;
    int status = f.needs != NULL ? SF_OK : SF_NO_MEMORY;
    while (status == SF_OK && !found->is_empty && f.count < query->count)
        status = find_vertex(&f, next_vertex(&f));
    if (status == SF_OK) status = prune(&f);
    found->useful = clear_masks(&f);
    return status;
}
