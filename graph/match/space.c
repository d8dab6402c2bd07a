/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/space.h"

#include "graph/match/needs.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <string.h>

enum {
    NO_LINKS = UINT16_MAX,
    BLOCK = 4096 /* candidates that a thread takes at a time; with fewer, threads are not worth starting */
};

/* ---- candidates of each vertex ---- */

static bool meets_needs(const sf_match_index *index, const sf_needs *n, uint32_t v)
{
    if ((n->out_kinds & ~index->out_kinds[v]) != 0 || (n->in_kinds & ~index->in_kinds[v]) != 0 ||
        sf_csr_degree(index->out, v) < n->out_degree || sf_csr_degree(index->in, v) < n->in_degree)
        return false;
    for (size_t i = 0; i < n->count && index->label_count > 1; i++) {
        size_t found;
        sf_match_neighbours(index, n->items[i].out, v, n->items[i].label, &found);
        if (found < n->items[i].count)
            return false;
    }
    return true;
}

/* Data vertices of which those go that do not pass a test, done by all threads. */
typedef struct sieve {
    const sf_space *space;
    uint32_t u;
    const sf_needs *needs;
    bool (*passes)(const struct sieve *s, uint32_t v);
    const uint32_t *vertices; /* NULL: 0, 1, 2, ... */
    uint32_t count;
    uint8_t *found; /* of each: whether it passes */
} sieve;

static uint32_t vertex_of(const sieve *s, size_t i)
{
    return s->vertices != NULL ? s->vertices[i] : (uint32_t)i;
}

static size_t blocks_of(uint32_t count)
{
    return ((size_t)count + BLOCK - 1) / BLOCK;
}

static int test_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const sieve *s = context;
    for (size_t i = block * BLOCK; i < s->count && i < (block + 1) * BLOCK; i++)
        s->found[i] = s->passes(s, vertex_of(s, i));
    return 0;
}

/* Those that pass are the candidates of u; *went: how many do not. */
static int sift(sf_space *space, sieve *s, uint32_t *went)
{
    s->found = sf_resize(NULL, s->count, 1);
    if (s->found == NULL)
        return SF_NO_MEMORY;
    sf_parallel_for(space->threads, blocks_of(s->count), test_block, s);
    uint64_t bit = UINT64_C(1) << s->u, *masks = space->query->index->masks;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t v = vertex_of(s, i);
        masks[v] = s->found[i] ? masks[v] | bit : masks[v] & ~bit;
        space->candidates[s->u][kept] = v;
        kept += s->found[i];
    }
    space->counts[s->u] = kept;
    *went = s->count - kept;
    sf_free(s->found);
    return SF_OK;
}

static bool fits_alone(const sieve *s, uint32_t v)
{
    return meets_needs(s->space->query->index, s->needs, v) && sf_query_vertex_fits(s->space->query, s->u, v);
}

static int filter_vertex(sf_space *s, uint32_t u, sf_error *error)
{
    const sf_query *q = s->query;
    const sf_match_index *index = q->index;
    uint32_t label = q->labels[u], went;
    bool any = label == SF_ANY_LABEL; /* members of all labels are not in the order of ids */
    uint64_t first = any ? 0 : index->by_label[label];
    sf_needs n;
    sf_needs_list(&n, q, u);
    sieve all = {.space = s, .u = u, .needs = &n, .passes = fits_alone};
    all.vertices = any ? NULL : index->members + first;
    all.count = any ? index->out->vertex_count : (uint32_t)(index->by_label[label + 1] - first);
    s->labelled[u] = all.count;
    s->candidates[u] = sf_resize(NULL, all.count, sizeof *s->candidates[u]);
    if (s->candidates[u] == NULL || sift(s, &all, &went) != SF_OK)
        return sf_fail_memory(error);
    return SF_OK;
}

/* ---- pruning by neighbours ---- */

static bool has_candidate_near(const sf_query *q, bool out, uint32_t v, uint32_t w)
{
    const uint64_t *masks = q->index->masks;
    size_t count;
    const uint32_t *list = sf_match_neighbours(q->index, out, v, q->labels[w], &count);
    for (size_t i = 0; i < count; i++)
        if ((masks[list[i]] >> w & 1) != 0)
            return true;
    return false;
}

/* Every neighbour that the pattern requires of u has a candidate next to v. */
static bool is_supported(const sf_query *q, uint32_t u, uint32_t v)
{
    for (uint64_t left = q->required[u]; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        if (!has_candidate_near(q, sf_query_leads(q, u, w), v, w))
            return false;
    }
    return true;
}

static bool has_support(const sieve *s, uint32_t v)
{
    return is_supported(s->space->query, s->u, v);
}

/* Candidates without support go. *changed tells whether any did. */
static int prune_vertex(sf_space *s, uint32_t u, bool *changed)
{
    uint32_t went = 0;
    sieve all = {
        .space = s, .u = u, .passes = has_support, .vertices = s->candidates[u], .count = s->counts[u]};
    int status = sift(s, &all, &went);
    *changed = went > 0;
    return status;
}

/* Only vertices next to one that lost candidates can lose some: `stale` names them. */
static int prune(sf_space *s, sf_error *error)
{
    const sf_query *q = s->query;
    uint64_t stale = q->count == 64 ? UINT64_MAX : (UINT64_C(1) << q->count) - 1;
    for (int round = 0; round < SF_SPACE_ROUNDS && stale != 0 && !s->is_empty; round++) {
        uint64_t now = stale;
        stale = 0;
        for (; now != 0; now &= now - 1) {
            uint32_t u = (uint32_t)__builtin_ctzll(now);
            bool changed;
            if (prune_vertex(s, u, &changed) != SF_OK)
                return sf_fail_memory(error);
            stale |= changed ? q->required[u] : 0;
            s->is_empty |= s->counts[u] == 0;
        }
    }
    return SF_OK;
}

static void clear_masks(const sf_space *s)
{
    for (uint32_t u = 0; u < s->query->count; u++)
        for (uint32_t i = 0; s->candidates[u] != NULL && i < s->counts[u]; i++)
            s->query->index->masks[s->candidates[u][i]] = 0;
}

static void find_twins(sf_space *s)
{
    for (uint32_t u = 0; u < s->query->count; u++) {
        uint32_t w = 0;
        while (s->counts[w] != s->counts[u] ||
               memcmp(s->candidates[w], s->candidates[u], s->counts[u] * sizeof *s->candidates[u]) != 0)
            w++;
        s->twin[u] = w;
    }
}

/* ---- candidates next to candidates ---- */

static int make_room(sf_links *links, uint64_t more)
{
    if (links->capacity >= links->count + more)
        return SF_OK;
    uint64_t capacity = links->capacity + links->capacity / 2;
    capacity = capacity < links->count + more ? links->count + more : capacity;
    uint32_t *places = sf_resize(links->places, capacity, sizeof *places);
    if (places == NULL)
        return SF_NO_MEMORY;
    links->places = places;
    links->capacity = capacity;
    return SF_OK;
}

/* Appends the places of u's candidates next to v, a candidate of w. */
static int link_vertex(const sf_space *s, sf_links *links, const sf_pair *pair, uint32_t w, uint32_t u,
                       uint32_t v)
{
    const sf_query *q = s->query;
    bool out = w == pair->a ? pair->forward : pair->backward; /* an edge from w to u is required */
    size_t count;
    const uint32_t *list = sf_match_neighbours(q->index, out, v, q->labels[u], &count);
    if (make_room(links, count) != SF_OK)
        return SF_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        uint32_t place = q->index->places[list[i]];
        if (place == 0 || (i > 0 && list[i] == list[i - 1]))
            continue;
        if (pair->plain ||
            sf_query_pair_fits(q, pair, w == pair->a ? v : list[i], w == pair->a ? list[i] : v))
            links->places[links->count++] = place - 1;
    }
    return SF_OK;
}

/* Appends the places of u's candidates that do not go with v, a candidate of w: only where an edge joins the
 * two can something absent be there. */
static int exclude_vertex(const sf_space *s, sf_links *links, const sf_pair *pair, uint32_t w, uint32_t u,
                          uint32_t v)
{
    const sf_query *q = s->query;
    size_t out_count, in_count, i = 0, j = 0;
    const uint32_t *out = sf_match_neighbours(q->index, true, v, q->labels[u], &out_count);
    const uint32_t *in = sf_match_neighbours(q->index, false, v, q->labels[u], &in_count);
    if (make_room(links, out_count + in_count) != SF_OK)
        return SF_NO_MEMORY;
    while (i < out_count || j < in_count) {
        uint32_t x = j == in_count || (i < out_count && out[i] < in[j]) ? out[i] : in[j];
        while (i < out_count && out[i] == x)
            i++;
        while (j < in_count && in[j] == x)
            j++;
        uint32_t place = q->index->places[x];
        if (place != 0 && !sf_query_pair_fits(q, pair, w == pair->a ? v : x, w == pair->a ? x : v))
            links->places[links->count++] = place - 1;
    }
    return SF_OK;
}

typedef int link_candidate(const sf_space *s, sf_links *links, const sf_pair *pair, uint32_t w, uint32_t u,
                           uint32_t v);

/* Lists of blocks of candidates, each in an array of its own until all are known. */
typedef struct link_job {
    const sf_space *space;
    sf_links *links;
    link_candidate *link;
    uint32_t w, u;
    sf_links *blocks;
} link_job;

/* Offsets count from the beginning of the block. */
static int link_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const link_job *j = context;
    const sf_space *s = j->space;
    const sf_pair *pair = sf_query_pair(s->query, j->w, j->u);
    for (size_t i = block * BLOCK; i < s->counts[j->w] && i < (block + 1) * BLOCK; i++) {
        j->links->offsets[i] = j->blocks[block].count;
        if (j->link(s, &j->blocks[block], pair, j->w, j->u, s->candidates[j->w][i]) != SF_OK)
            return SF_NO_MEMORY;
    }
    return SF_OK;
}

static int append_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const link_job *j = context;
    const sf_links *from = &j->blocks[block];
    memcpy(j->links->places + from->capacity, from->places, from->count * sizeof *from->places);
    for (size_t i = block * BLOCK; i < j->space->counts[j->w] && i < (block + 1) * BLOCK; i++)
        j->links->offsets[i] += from->capacity;
    return 0;
}

/* Puts the lists of all blocks after one another. `capacity` of a block becomes the place where it begins. */
static int join_blocks(link_job *j, size_t blocks)
{
    uint64_t total = 0;
    for (size_t b = 0; b < blocks; b++) {
        j->blocks[b].capacity = total;
        total += j->blocks[b].count;
    }
    j->links->places = sf_resize(NULL, total, sizeof *j->links->places);
    if (j->links->places == NULL)
        return SF_NO_MEMORY;
    sf_parallel_for(j->space->threads, blocks, append_block, j);
    j->links->count = j->links->capacity = total;
    return SF_OK;
}

static int build_links(const sf_space *s, sf_links *links, link_candidate *link, uint32_t w, uint32_t u)
{
    size_t blocks = blocks_of(s->counts[w]);
    link_job j = {.space = s, .links = links, .link = link, .w = w, .u = u, .blocks = links};
    links->offsets = sf_resize(NULL, (size_t)s->counts[w] + 1, sizeof *links->offsets);
    if (links->offsets == NULL)
        return SF_NO_MEMORY;
    int status = SF_OK;
    if (blocks == 1) {
        status = link_block(&j, 0, 0);
    } else {
        j.blocks = sf_alloc(blocks, sizeof *j.blocks);
        status = j.blocks != NULL ? sf_parallel_for(s->threads, blocks, link_block, &j) : SF_NO_MEMORY;
        if (status == SF_OK)
            status = join_blocks(&j, blocks);
        for (size_t b = 0; j.blocks != NULL && b < blocks; b++)
            sf_free(j.blocks[b].places);
        sf_free(j.blocks);
    }
    links->offsets[s->counts[w]] = links->count;
    return status;
}

/* While links to candidates of u are built, the index knows their places. */
static void note_places(const sf_space *s, uint32_t u, bool known)
{
    for (uint32_t i = 0; i < s->counts[u]; i++)
        s->query->index->places[s->candidates[u][i]] = known ? i + 1 : 0;
}

int sf_space_exclude(const sf_space *s, sf_links *links, uint32_t w, uint32_t u)
{
    *links = (sf_links){0};
    note_places(s, u, true);
    int status = build_links(s, links, exclude_vertex, w, u);
    note_places(s, u, false);
    return status;
}

void sf_links_free(sf_links *links)
{
    sf_free(links->offsets);
    sf_free(links->places);
    *links = (sf_links){0};
}

/* Links that are the same because both ends have the same candidates and labels and only the direction
 * counts. */
static uint16_t find_same(const sf_space *s, uint32_t w, uint32_t u)
{
    const sf_query *q = s->query;
    bool out = sf_query_leads(q, w, u);
    for (uint32_t x = 0; x < q->count && sf_query_pair(q, w, u)->plain; x++) {
        for (uint64_t left = q->required[x]; left != 0 && s->twin[x] == s->twin[w]; left &= left - 1) {
            uint32_t y = (uint32_t)__builtin_ctzll(left);
            if (s->links_of[x][y] != NO_LINKS && s->twin[y] == s->twin[u] && q->labels[y] == q->labels[u] &&
                sf_query_pair(q, x, y)->plain && out == sf_query_leads(q, x, y))
                return s->links_of[x][y];
        }
    }
    return NO_LINKS;
}

int sf_space_name_links(sf_space *s)
{
    size_t most = 0;
    const sf_query *q = s->query;
    for (uint32_t u = 0; u < q->count; u++)
        most += (size_t)__builtin_popcountll(q->required[u]);
    memset(s->links_of, 0xff, sizeof s->links_of);
    s->links = sf_alloc(most, sizeof *s->links);
    for (uint32_t u = 0; u < q->count && s->links != NULL; u++) {
        for (uint64_t left = q->required[u]; left != 0; left &= left - 1) {
            uint32_t w = (uint32_t)__builtin_ctzll(left);
            s->links_of[w][u] = find_same(s, w, u);
            if (s->links_of[w][u] != NO_LINKS)
                continue;
            s->links[s->links_count] = (sf_links){.from = (uint8_t)w, .to = (uint8_t)u};
            s->links_of[w][u] = (uint16_t)s->links_count++;
        }
    }
    return s->links != NULL ? SF_OK : SF_NO_MEMORY;
}

/* Links that lead to candidates of the same vertex stand together. */
static int link_all(sf_space *s, sf_error *error)
{
    int status = sf_space_name_links(s);
    for (size_t i = 0; i < s->links_count && status == SF_OK;) {
        uint32_t u = s->links[i].to;
        note_places(s, u, true);
        for (; i < s->links_count && s->links[i].to == u && status == SF_OK; i++)
            status = build_links(s, &s->links[i], link_vertex, s->links[i].from, u);
        note_places(s, u, false);
    }
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* Data vertices that are a candidate of nothing. */
static uint32_t count_useless(const sf_space *space)
{
    const sf_match_index *index = space->query->index;
    uint32_t useful = 0;
    for (int pass = 0; pass < 2; pass++) { /* marks them, then cleans up */
        for (uint32_t u = 0; u < space->query->count; u++) {
            for (uint32_t i = 0; i < space->counts[u]; i++) {
                uint64_t *mask = &index->masks[space->candidates[u][i]];
                useful += pass == 0 && *mask == 0;
                *mask = pass == 0;
            }
        }
    }
    return index->out->vertex_count - useful;
}

int sf_space_open(sf_space *space, const sf_query *query, unsigned threads, sf_error *error)
{
    memset(space, 0, sizeof *space);
    space->query = query;
    space->threads = threads;
    space->is_empty = query->impossible;
    int status = SF_OK;
    for (uint32_t u = 0; u < query->count && status == SF_OK && !space->is_empty; u++) {
        status = filter_vertex(space, u, error);
        space->is_empty |= space->counts[u] == 0;
    }
    if (status == SF_OK)
        status = prune(space, error);
    clear_masks(space);
    space->useless = query->index->out->vertex_count;
    if (status == SF_OK && !space->is_empty) {
        space->useless = count_useless(space);
        find_twins(space);
        status = link_all(space, error);
    }
    if (status != SF_OK)
        sf_space_close(space);
    return status;
}

void sf_space_close(sf_space *space)
{
    sf_match_there_close_space(space->device, space->made);
    for (uint32_t u = 0; u < SF_PATTERN_MOST; u++)
        sf_free(space->candidates[u]);
    for (size_t i = 0; i < space->links_count; i++)
        sf_links_free(&space->links[i]);
    sf_free(space->links);
    memset(space, 0, sizeof *space);
}
