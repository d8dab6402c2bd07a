/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/split.h"

#include "graph/match/tables.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <string.h>

enum { LEAST_MEMORY = 8, MOST_MEMORY = 20, CHUNKS = 64 }; /* memories as powers of two */

/* What all terms together are, as told of progress. */
#define ALL_OF_IT 1e9

/* How counts of the components of a term are remembered. */
typedef struct remembering {
    uint32_t covered;              /* blocks in tables, of which nothing is */
    uint32_t shifts[SF_TERM_MOST]; /* of a block: bits that tell its places apart */
    uint32_t memory[SF_TERM_MOST]; /* of a component: counts remembered, as a power of two; 0: none */
} remembering;

/* A count and what it is of, plus one; 0: nothing yet. What comes to the same place takes it. */
typedef struct recollection {
    uint64_t key, count;
} recollection;

/* What is left of every block. */
typedef struct level {
    const uint64_t *domain[SF_TERM_MOST];
    uint64_t *room[SF_TERM_MOST];
} level;

/* What one thread works with. */
typedef struct splitter {
    sf_match_tally tally;
    const sf_outline *o;
    const sf_counts *tables; /* of components that have one */
    const remembering *how;
    const sf_bitmap_loops *loops;
    void *memory;
    level levels[SF_TERM_MOST + 1];
    uint32_t place[SF_TERM_MOST];
    recollection *recollections[SF_TERM_MOST];
    size_t capacities[SF_TERM_MOST];
    uint64_t sum, recalled;
    bool is_open; /* for the term at hand */
} splitter;

/* ---- counting ---- */

/* What the place of block v leaves of x, in `room` where it takes something; NULL: nothing. */
static const uint64_t *cut(const splitter *s, uint32_t v, uint32_t x, const uint64_t *domain, uint64_t *room)
{
    const sf_joint *e = &s->o->joints[v][x];
    const uint32_t words = s->o->words[x], place = s->place[v];
    for (uint32_t i = 0; i < e->count; i++) {
        if (!s->loops->cut(room, domain, e->rows[i] + (size_t)place * words, words)) return NULL;
        domain = room;
    }
    if (e->apart && sf_bitmap_has(domain, place)) {
        if (domain != room) memcpy(room, domain, words * sizeof *room);
        sf_bitmap_clear(room, place);
        domain = room;
    }
    return domain;
}

static uint64_t count_places(splitter *s, uint32_t v, uint32_t depth, uint32_t place, uint32_t end);

/* Of the last block of a branch. */
static uint64_t count_leaf(const splitter *s, uint32_t v, uint32_t leaf, uint32_t depth)
{
    const sf_joint *e = &s->o->joints[v][leaf];
    const uint32_t words = s->o->words[leaf];
    const uint64_t *domain = s->levels[depth].domain[leaf];
    if (e->count == 1 && !e->apart)
        return s->loops->count(domain, e->rows[0] + (size_t)s->place[v] * words, words);
    domain = cut(s, v, leaf, domain, s->levels[depth + 1].room[leaf]);
    return domain != NULL ? s->loops->count(domain, domain, words) : 0;
}

/* A component with all that bears on it matched, the last of it in `v`. */
static uint64_t count_component(splitter *s, uint32_t v, uint32_t root, uint32_t depth)
{
    const sf_summand *t = s->o->term;
    const level *before = &s->levels[depth];
    level *after = &s->levels[depth + 1];
    for (uint32_t left = t->below[root] & ~s->how->covered; left != 0; left &= left - 1) {
        const uint32_t x = sf_lowest(left);
        after->domain[x] =
            (t->near[v] >> x & 1) != 0 ? cut(s, v, x, before->domain[x], after->room[x]) : before->domain[x];
        if (after->domain[x] == NULL) return 0;
    }
    return count_places(s, root, depth + 1, 0, s->o->words[root] * 64);
}

/* The same, from memory where it was counted before. */
static uint64_t recall_component(splitter *s, uint32_t v, uint32_t root, uint32_t depth)
{
    const remembering *how = s->how;
    if (how->memory[root] == 0) return count_component(s, v, root, depth);
    uint64_t key = 0;
    for (uint32_t left = s->o->term->bearing[root]; left != 0; left &= left - 1)
        key = key << how->shifts[sf_lowest(left)] | s->place[sf_lowest(left)];
    key++;
    recollection *r = &s->recollections[root][key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - how->memory[root])];
    if (r->key == key) {
        s->recalled++;
        return r->count;
    }
    uint64_t count = count_component(s, v, root, depth);
    *r = (recollection){key, count};
    return count;
}

/* The components that a place of v leaves. */
static uint64_t count_children(splitter *s, uint32_t v, uint32_t depth)
{
    const sf_summand *t = s->o->term;
    const uint32_t tabled = t->children[v] & t->tabled;
    uint64_t product = 1;
    for (uint32_t left = tabled; left != 0 && product != 0; left &= left - 1)
        product = sf_saturated_multiply(product, sf_counts_at(&s->tables[sf_lowest(left)], s->place));
    for (uint32_t left = t->children[v] & ~tabled; left != 0 && product != 0; left &= left - 1)
        if (t->children[sf_lowest(left)] == 0)
            product = sf_saturated_multiply(product, count_leaf(s, v, sf_lowest(left), depth));
    for (uint32_t left = t->children[v] & ~tabled; left != 0 && product != 0; left &= left - 1)
        if (t->children[sf_lowest(left)] != 0)
            product = sf_saturated_multiply(product, recall_component(s, v, sf_lowest(left), depth));
    return product;
}

static uint64_t count_places(splitter *s, uint32_t v, uint32_t depth, uint32_t place, uint32_t end)
{
    const sf_summand *t = s->o->term;
    const uint64_t *domain = s->levels[depth].domain[v];
    const uint32_t children = t->children[v], only = children != 0 ? sf_lowest(children) : 0;
    const sf_joint *e = &s->o->joints[v][only];
    if (children == 1u << only && (t->tabled & children) == 0 && t->children[only] == 0 && e->count == 1 &&
        !e->apart) {
        uint64_t steps = 0, count = s->loops->count_rows(s->levels[depth].domain[only], e->rows[0],
                                                         s->o->words[only], domain, place, end, &steps);
        sf_match_steps(&s->tally, steps);
        return count;
    }
    uint64_t sum = 0;
    for (place = sf_bitmap_next(domain, place, end); place < end;
         place = sf_bitmap_next(domain, place + 1, end)) {
        if (sf_match_step(&s->tally)) break;
        s->place[v] = place;
        sum = sf_saturated_add(sum, count_children(s, v, depth));
    }
    return sum;
}

/* ---- a term ---- */

/* Counts of components that depend on all that is matched are of no use again. */
static uint32_t memory_of(const sf_summand *t, const uint32_t *shifts, uint32_t root)
{
    uint32_t bits = 0, memory = LEAST_MEMORY;
    for (uint32_t left = t->bearing[root]; left != 0; left &= left - 1)
        bits += shifts[sf_lowest(left)];
    if (t->bearing[root] == t->above[root] || t->children[root] == 0 || bits > 63) return 0;
    while (memory < MOST_MEMORY && (double)(1u << memory) < 2 * t->reached[root])
        memory++;
    return memory;
}

static void find_memories(remembering *how, const sf_outline *o)
{
    how->covered = sf_summand_covered(o->term);
    for (uint32_t b = 0; b < o->term->count; b++) {
        how->shifts[b] = 0;
        while ((uint64_t)1 << how->shifts[b] < o->places[b])
            how->shifts[b]++;
    }
    for (uint32_t b = 0; b < o->term->count; b++)
        how->memory[b] = (how->covered >> b & 1) != 0 ? 0 : memory_of(o->term, how->shifts, b);
}

static int open_recollections(splitter *s, uint32_t root)
{
    size_t needed = s->how->memory[root] > 0 ? (size_t)1 << s->how->memory[root] : 0;
    void *memory = s->recollections[root];
    int status = sf_reserve(&memory, &s->capacities[root], needed, sizeof(recollection));
    s->recollections[root] = memory;
    if (status == 0 && needed > 0) memset(s->recollections[root], 0, needed * sizeof(recollection));
    return status == 0 ? SF_OK : SF_NO_MEMORY;
}

/* What is left of blocks is kept at every depth, but of those in tables. */
static int open_splitter(splitter *s)
{
    const sf_outline *o = s->o;
    const uint32_t searched = (uint32_t)(sf_bit(o->term->count) - 1) & ~s->how->covered;
    size_t words = 0;
    s->sum = 0;
    s->is_open = true;
    for (uint32_t left = searched; left != 0; left &= left - 1)
        words += o->words[sf_lowest(left)];
    sf_free(s->memory);
    uint64_t *room = sf_outline_room(&s->memory, words * o->term->count);
    if (room == NULL) return SF_NO_MEMORY;
    for (uint32_t left = searched; left != 0; left &= left - 1) {
        const uint32_t b = sf_lowest(left);
        s->levels[0].domain[b] = o->starts[b];
        for (uint32_t d = 1; d <= o->term->count; d++, room += o->words[b])
            s->levels[d].room[b] = room;
    }
    int status = SF_OK;
    for (uint32_t b = 0; b < o->term->count && status == SF_OK; b++)
        status = open_recollections(s, b);
    return status;
}

static void close_splitter(splitter *s)
{
    sf_free(s->memory);
    for (uint32_t b = 0; b < SF_TERM_MOST; b++)
        sf_free(s->recollections[b]);
}

/* ---- all terms ---- */

typedef struct run {
    sf_match_watch watch;
    sf_rows rows;
    sf_outline *outline;
    sf_counts tables[SF_TERM_MOST];
    remembering how;
    splitter *splitters; /* of each thread */
    sf_match_tally **tallies;
    unsigned threads;
    uint32_t root;     /* of the component at hand */
    double chunk_work; /* steps that a chunk of one is expected to take */
} run;

static int count_chunk(void *context, unsigned worker, size_t item)
{
    run *r = context;
    splitter *s = &r->splitters[worker];
    int status = s->is_open ? SF_OK : open_splitter(s);
    if (status != SF_OK) return status;
    uint64_t places = r->outline->places[r->root];
    uint32_t first = (uint32_t)(places * item / CHUNKS), end = (uint32_t)(places * (item + 1) / CHUNKS);
    s->sum = sf_saturated_add(s->sum, count_places(s, r->root, 0, first, end));
    sf_match_advance(&r->watch, r->chunk_work);
    return SF_OK;
}

static int count_root(run *r, uint32_t root, uint64_t *count)
{
    r->root = root;
    for (unsigned i = 0; i < r->threads; i++)
        r->splitters[i].is_open = false;
    int status = sf_parallel_for(r->threads, CHUNKS, count_chunk, r);
    *count = 0;
    for (unsigned i = 0; i < r->threads; i++)
        *count = sf_saturated_add(*count, r->splitters[i].is_open ? r->splitters[i].sum : 0);
    return status;
}

/* What tables do not do of a term, each component the same part of it. */
static double chunk_work_of(const sf_summand *t)
{
    double work = t->work;
    for (uint32_t left = sf_summand_covered(t); left != 0; left &= left - 1)
        work -= t->effort[sf_lowest(left)];
    return work > 0 ? work / (CHUNKS * __builtin_popcount(t->roots)) : 0;
}

/* The product of its components; UINT64_MAX where that is too large, or not known in time. */
static int count_outline(run *r, uint64_t *count)
{
    sf_summand searched = *r->outline->term; /* where its counts may not fit tables: without them */
    const sf_summand *t = r->outline->term;
    static const uint32_t nowhere[SF_TERM_MOST];
    bool is_done;
    r->chunk_work = chunk_work_of(t);
    int status = sf_tables_make(r->tables, r->outline, r->tallies, r->threads, &is_done);
    if (status == SF_OK && !is_done && !atomic_load(&r->watch.stop)) {
        sf_tables_free(r->tables);
        searched.tabled = 0;
        r->outline->term = t = &searched;
        is_done = true;
    }
    r->watch.job->result->tables += is_done ? (uint64_t)__builtin_popcount(t->tabled) : 0;
    *count = is_done ? 1 : UINT64_MAX;
    find_memories(&r->how, r->outline);
    for (uint32_t left = t->roots; left != 0 && status == SF_OK && is_done; left &= left - 1) {
        uint64_t one = 0;
        if ((t->tabled >> sf_lowest(left) & 1) != 0)
            one = sf_counts_at(&r->tables[sf_lowest(left)], nowhere);
        else
            status = count_root(r, sf_lowest(left), &one);
        *count = status == SF_OK ? sf_saturated_multiply(*count, one) : 0;
    }
    sf_tables_free(r->tables);
    return status;
}

static int count_term(run *r, const sf_summand *t, uint64_t *count)
{
    int status = sf_outline_open(r->outline, t, &r->rows);
    *count = 0;
    if (status == SF_OK) status = count_outline(r, count);
    sf_outline_close(r->outline);
    return status;
}

/* The sum of all terms; *is_done false where that is not known. */
static int add_terms(run *r, const sf_terms *terms, uint64_t *count, bool *is_done)
{
    uint64_t sums[2] = {0, 0}; /* of what is added, of what is taken away */
    int status = SF_OK;
    for (size_t i = 0; i < terms->count && status == SF_OK && !atomic_load(&r->watch.stop); i++) {
        const int64_t factor = terms->items[i].factor;
        uint64_t one, *sum = &sums[factor < 0];
        status = count_term(r, &terms->items[i], &one);
        *sum = sf_saturated_add(*sum, sf_saturated_multiply(one, (uint64_t)(factor < 0 ? -factor : factor)));
    }
    *is_done = status == SF_OK && !atomic_load(&r->watch.stop) && sums[0] != UINT64_MAX &&
               sums[1] != UINT64_MAX && sums[0] >= sums[1];
    *count = *is_done ? sums[0] - sums[1] : 0;
    return status;
}

static int open_run(run *r)
{
    r->outline = sf_alloc(1, sizeof *r->outline);
    r->splitters = sf_alloc(r->threads, sizeof *r->splitters);
    r->tallies = sf_resize(NULL, r->threads, sizeof *r->tallies);
    if (r->outline == NULL || r->splitters == NULL || r->tallies == NULL) return SF_NO_MEMORY;
    for (unsigned i = 0; i < r->threads; i++) {
        splitter *s = &r->splitters[i];
        s->tally = (sf_match_tally){.watch = &r->watch, .is_caller = i == 0};
        s->o = r->outline;
        s->tables = r->tables;
        s->how = &r->how;
        s->loops = sf_bitmap_best();
        r->tallies[i] = &s->tally;
    }
    return SF_OK;
}

static int run_terms(run *r, const sf_terms *terms, bool *is_done, sf_error *error)
{
    sf_match_result *result = r->watch.job->result;
    uint64_t count;
    int status = open_run(r);
    if (status == SF_OK) status = add_terms(r, terms, &count, is_done);
    for (unsigned i = 0; i < r->threads && r->splitters != NULL; i++) {
        result->recalled += r->splitters[i].recalled;
        close_splitter(&r->splitters[i]);
    }
    if (status == SF_OK) {
        sf_match_found(r->tallies[0], count, NULL);
        status = sf_match_finish(&r->watch, (const sf_match_tally *const *)r->tallies, r->threads, error);
    } else {
        sf_fail_memory(error);
    }
    result->terms = *is_done ? terms->count : 0;
    result->tables = *is_done ? result->tables : 0;
    sf_free(r->tallies);
    sf_free(r->outline);
    sf_free(r->splitters);
    return status;
}

int sf_split_run(const sf_match_job *job, const sf_space *space, const sf_terms *terms, bool *is_done,
                 sf_error *error)
{
    sf_match_job own = *job;
    *is_done = false;
    if (job->deadline > 0) own.deadline -= (job->deadline - sf_clock_seconds()) / 2;
    run r = {.watch = {.job = &own, .factor = 1, .total = ALL_OF_IT}, .threads = job->threads};
    r.watch.unit = terms->work > 0 ? ALL_OF_IT / terms->work : 0;
    int status = sf_rows_open_pairs(&r.rows, space, error);
    if (status == SF_OK && r.rows.is_open) status = run_terms(&r, terms, is_done, error);
    sf_rows_close(&r.rows);
    return status;
}
