/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/space.h"

#include "graph/match/candidates.h"
#include "graph/match/needs.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <string.h>

enum {
    NO_LINKS = UINT16_MAX,
    BLOCK = 4096 /* candidates that a thread takes at a time; with fewer, threads are not worth starting */
};

static bool are_twins(const sf_space *s, uint32_t u, uint32_t w)
{
    const uint32_t *a = s->candidates[u], *b = s->candidates[w];
    return s->counts[u] == s->counts[w] && a[0] == b[0] && memcmp(a, b, s->counts[u] * sizeof *a) == 0;
}

static void find_twins(sf_space *s)
{
    for (uint32_t u = 0; u < s->query->count; u++) {
        uint32_t w = 0;
        while (w < u && !are_twins(s, u, w))
            w++;
        s->twin[u] = w;
    }
}

/* ---- candidates next to candidates ---- */

/* Some lists after one another. */
typedef struct link_block {
    uint32_t *places;
    size_t count, capacity;
    uint64_t first; /* where they are to begin */
} link_block;

static int make_room(link_block *b, size_t more)
{
    void *places = b->places;
    int status = sf_reserve(&places, &b->capacity, b->count + more, sizeof *b->places);
    b->places = places;
    return status == 0 ? SF_OK : SF_NO_MEMORY;
}

/* Places of those in a list that are candidates, once where edges are parallel, without branches on which
 * are. Returns how many. */
static size_t link_plain(uint32_t *out, const uint32_t *places, const uint32_t *list, size_t count)
{
    size_t kept = 0;
    uint32_t last = SF_NO_VERTEX;
    for (size_t i = 0; i < count; i++) {
        const uint32_t v = list[i], place = places[v];
        out[kept] = place - 1;
        kept += (place != 0) & (v != last);
        last = v;
    }
    return kept;
}

/* Appends the places of u's candidates next to v, a candidate of w. */
static int link_vertex(const sf_space *s, link_block *block, const sf_pair *pair, uint32_t w, uint32_t u,
                       uint32_t v)
{
    const sf_query *q = s->query;
    bool out = w == pair->a ? pair->forward : pair->backward; /* an edge from w to u is required */
    size_t count;
    const uint32_t *list = sf_match_neighbours(q->index, out, v, q->labels[u], &count);
    if (make_room(block, count) != SF_OK) return SF_NO_MEMORY;
    size_t first = block->count;
    uint32_t *places = block->places + first;
    block->count += link_plain(places, q->index->places, list, count);
    if (pair->plain) return SF_OK;
    size_t end = block->count;
    block->count = first;
    for (; first < end; first++) {
        uint32_t x = s->candidates[u][block->places[first]];
        if (sf_query_pair_fits(q, pair, w == pair->a ? v : x, w == pair->a ? x : v))
            block->places[block->count++] = block->places[first];
    }
    return SF_OK;
}

/* Appends the places of u's candidates that do not go with v, a candidate of w: only where an edge joins the
 * two can something absent be there. */
static int exclude_vertex(const sf_space *s, link_block *block, const sf_pair *pair, uint32_t w, uint32_t u,
                          uint32_t v)
{
    const sf_query *q = s->query;
    size_t out_count, in_count, i = 0, j = 0;
    const uint32_t *out = sf_match_neighbours(q->index, true, v, q->labels[u], &out_count);
    const uint32_t *in = sf_match_neighbours(q->index, false, v, q->labels[u], &in_count);
    if (make_room(block, out_count + in_count) != SF_OK) return SF_NO_MEMORY;
    while (i < out_count || j < in_count) {
        uint32_t x = j == in_count || (i < out_count && out[i] < in[j]) ? out[i] : in[j];
        while (i < out_count && out[i] == x)
            i++;
        while (j < in_count && in[j] == x)
            j++;
        uint32_t place = q->index->places[x];
        if (place != 0 && !sf_query_pair_fits(q, pair, w == pair->a ? v : x, w == pair->a ? x : v))
            block->places[block->count++] = place - 1;
    }
    return SF_OK;
}

typedef int link_candidate(const sf_space *s, link_block *block, const sf_pair *pair, uint32_t w, uint32_t u,
                           uint32_t v);

/* What makes links: blocks are each in an array of its own until all are known, and used again for others. */
typedef struct linker {
    const sf_space *space;
    link_candidate *link;
    sf_arena *room; /* of what is made; NULL: of its own */
    link_block *blocks;
    size_t capacity; /* of the blocks */
    uint32_t w, u;
    uint64_t *offsets;
    uint32_t *places;
} linker;

static void *take_room(const linker *l, size_t count, size_t size)
{
    return l->room != NULL ? sf_arena_take(l->room, count, size) : sf_resize(NULL, count, size);
}

static int reserve_blocks(linker *l, size_t count)
{
    size_t before = l->capacity;
    void *blocks = l->blocks;
    if (sf_reserve(&blocks, &l->capacity, count, sizeof *l->blocks) != 0) return SF_NO_MEMORY;
    l->blocks = blocks;
    memset(l->blocks + before, 0, (l->capacity - before) * sizeof *l->blocks);
    return SF_OK;
}

static void close_linker(linker *l)
{
    for (size_t b = 0; b < l->capacity; b++)
        sf_free(l->blocks[b].places);
    sf_free(l->blocks);
}

/* Offsets count from the beginning of the block. */
static int fill_block(void *context, unsigned worker, size_t item)
{
    (void)worker;
    const linker *l = context;
    const sf_space *s = l->space;
    const sf_pair *pair = sf_query_pair(s->query, l->w, l->u);
    link_block *block = &l->blocks[item];
    block->count = 0;
    for (size_t i = item * BLOCK; i < s->counts[l->w] && i < (item + 1) * BLOCK; i++) {
        l->offsets[i] = block->count;
        if (l->link(s, block, pair, l->w, l->u, s->candidates[l->w][i]) != SF_OK) return SF_NO_MEMORY;
    }
    return SF_OK;
}

static int append_block(void *context, unsigned worker, size_t item)
{
    (void)worker;
    const linker *l = context;
    const link_block *block = &l->blocks[item];
    if (block->count > 0)
        memcpy(l->places + block->first, block->places, block->count * sizeof *block->places);
    for (size_t i = item * BLOCK; block->first > 0 && i < l->space->counts[l->w] && i < (item + 1) * BLOCK;
         i++)
        l->offsets[i] += block->first;
    return SF_OK;
}

/* All blocks on the threads, or what is one alone. */
static int for_blocks(linker *l, size_t count, int (*body)(void *context, unsigned worker, size_t item))
{
    return count == 1 ? body(l, 0, 0) : sf_parallel_for(l->space->threads, count, body, l);
}

static int build_links(linker *l, sf_links *links)
{
    size_t blocks = ((size_t)l->space->counts[l->w] + BLOCK - 1) / BLOCK;
    links->offsets = l->offsets = take_room(l, (size_t)l->space->counts[l->w] + 1, sizeof *l->offsets);
    int status = l->offsets != NULL ? reserve_blocks(l, blocks) : SF_NO_MEMORY;
    if (status == SF_OK) status = for_blocks(l, blocks, fill_block);
    for (size_t b = 0; b < blocks && status == SF_OK; b++) {
        l->blocks[b].first = links->count;
        links->count += l->blocks[b].count;
    }
    if (status == SF_OK) {
        links->places = l->places = take_room(l, links->count, sizeof *l->places);
        status = l->places != NULL ? for_blocks(l, blocks, append_block) : SF_NO_MEMORY;
        links->offsets[l->space->counts[l->w]] = links->count;
    }
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
    linker l = {.space = s, .link = exclude_vertex, .w = w, .u = u};
    *links = (sf_links){0};
    note_places(s, u, true);
    int status = build_links(&l, links);
    note_places(s, u, false);
    close_linker(&l);
    return status;
}

void sf_links_free(sf_links *links)
{
    sf_free(links->offsets);
    sf_free(links->places);
    *links = (sf_links){0};
}

/* Pattern vertices with the candidates of u. */
static uint64_t find_alike(const sf_space *s, uint32_t u)
{
    uint64_t alike = 0;
    for (uint32_t x = 0; x < s->query->count; x++)
        alike |= s->twin[x] == s->twin[u] ? sf_bit(x) : 0;
    return alike;
}

/* Links that are the same because both ends have the same candidates and labels and only the direction
 * counts. */
static uint16_t find_same(const sf_space *s, const uint64_t *alike, uint32_t w, uint32_t u)
{
    const sf_query *q = s->query;
    bool out = sf_query_leads(q, w, u), is_plain = sf_query_pair(q, w, u)->plain;
    for (uint64_t xs = is_plain ? alike[w] : 0; xs != 0; xs &= xs - 1) {
        uint32_t x = sf_lowest(xs);
        for (uint64_t ys = alike[u] & q->required[x]; ys != 0; ys &= ys - 1) {
            uint32_t y = sf_lowest(ys);
            if (s->links_of[x][y] != NO_LINKS && q->labels[y] == q->labels[u] &&
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
    uint64_t alike[SF_PATTERN_MOST];
    for (uint32_t u = 0; u < q->count; u++) {
        most += (size_t)__builtin_popcountll(q->required[u]);
        alike[u] = find_alike(s, u);
    }
    memset(s->links_of, 0xff, q->count * sizeof *s->links_of);
    s->links = sf_arena_take(&s->room, most, sizeof *s->links);
    for (uint32_t u = 0; u < q->count && s->links != NULL; u++) {
        for (uint64_t left = q->required[u]; left != 0; left &= left - 1) {
            uint32_t w = sf_lowest(left);
            s->links_of[w][u] = find_same(s, alike, w, u);
            if (s->links_of[w][u] != NO_LINKS) continue;
            s->links[s->links_count] = (sf_links){.from = (uint8_t)w, .to = (uint8_t)u};
            s->links_of[w][u] = (uint16_t)s->links_count++;
        }
    }
    return s->links != NULL ? SF_OK : SF_NO_MEMORY;
}

/* Links that lead to candidates of the same vertex stand together. */
static int link_all(sf_space *s)
{
    linker l = {.space = s, .link = link_vertex, .room = &s->room};
    int status = sf_space_name_links(s);
    for (size_t i = 0; i < s->links_count && status == SF_OK;) {
        l.u = s->links[i].to;
        note_places(s, l.u, true);
        for (; i < s->links_count && s->links[i].to == l.u && status == SF_OK; i++) {
            l.w = s->links[i].from;
            status = build_links(&l, &s->links[i]);
        }
        note_places(s, l.u, false);
    }
    close_linker(&l);
    return status;
}

void sf_space_begin(sf_space *space, const sf_query *query, unsigned threads)
{
    memset(space, 0, offsetof(sf_space, links_of));
    space->query = query;
    space->threads = threads;
    space->room = *query->index->room;
    *query->index->room = (sf_arena){0};
}

static int find_candidates(sf_space *s)
{
    sf_candidate_lists found;
    int status = sf_candidates_find(&found, s->query, s->threads, &s->room);
    memcpy(s->candidates, found.lists, sizeof s->candidates);
    memcpy(s->counts, found.counts, sizeof s->counts);
    memcpy(s->labelled, found.labelled, sizeof s->labelled);
    s->is_empty = found.is_empty;
    s->useless = s->query->index->out->vertex_count - (found.is_empty ? 0 : found.useful);
    s->tested = found.tested;
    return status;
}

int sf_space_open(sf_space *space, const sf_query *query, unsigned threads, sf_error *error)
{
    sf_space_begin(space, query, threads);
    int status = find_candidates(space);
    if (status == SF_OK && !space->is_empty) {
        find_twins(space);
        status = link_all(space);
    }
    if (status != SF_OK) sf_space_close(space);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* Its room is the next one's. */
static void give_back(sf_space *space)
{
    sf_arena *lent = space->query->index->room;
    sf_arena_empty(&space->room);
    if (lent->newest == NULL)
        *lent = space->room;
    else
        sf_arena_free(&space->room);
}

void sf_space_close(sf_space *space)
{
    sf_match_there_close_space(space->device, space->made);
    if (space->query != NULL) give_back(space);
    memset(space, 0, offsetof(sf_space, links_of));
}
