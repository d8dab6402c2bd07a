/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/rows.h"

#include "graph/match/tuned.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdatomic.h>
#include <string.h>

static atomic_int wanted = SF_ROWS_WORTH;

/* What a row is made of; equal ones are made once. */
typedef struct row_kind {
    uint32_t w, u; /* rows of w's places, of sets of u's */
    bool joined, excluded, greater, apart;
} row_kind;

typedef struct maker {
    sf_rows *rows;
    const sf_space *space;
    const sf_plan *plan;
    const sf_query *query;
    row_kind *made; /* of each table */
} maker;

/* ---- which rows ---- */

static row_kind kind_of(const maker *m, uint32_t w, const sf_order_step *step)
{
    const uint32_t u = step->vertex;
    return (row_kind){.w = w,
                      .u = u,
                      .joined = (step->joined & sf_bit(w)) != 0,
                      .excluded = (step->checked & sf_bit(w)) != 0,
                      .greater = (step->greater & sf_bit(w)) != 0,
                      .apart = m->query->semantics != SF_HOMOMORPHISM && sf_query_can_share(m->query, u, w)};
}

static bool needs_rows(const row_kind *k)
{
    return k->joined || k->excluded || k->greater;
}

/* Says the same of the same candidates. */
static bool is_same(const maker *m, const row_kind *a, const row_kind *b)
{
    const sf_space *s = m->space;
    return s->twin[a->w] == s->twin[b->w] && m->rows->list_of[a->w] == m->rows->list_of[b->w] &&
           m->rows->list_of[a->u] == m->rows->list_of[b->u] && a->joined == b->joined && !a->excluded &&
           !b->excluded && a->greater == b->greater && a->apart == b->apart &&
           (!a->joined || s->links_of[a->w][a->u] == s->links_of[b->w][b->u]);
}

static uint64_t bytes_of(const maker *m, const row_kind *k)
{
    return (uint64_t)m->rows->counts[m->rows->list_of[k->w]] * sf_rows_words(m->rows, k->u) *
           sizeof(uint64_t);
}

void sf_rows_when(int when)
{
    atomic_store(&wanted, when);
}

/* Rows say nothing of attributes of vertices that no edge joins. */
static bool can_be(const sf_query *q)
{
    for (size_t i = 0; i < q->pair_count; i++) {
        const sf_pair *pair = &q->pairs[i];
        if (pair->relation_count > 0 && (q->required[pair->a] & sf_bit(pair->b)) == 0) return false;
    }
    return true;
}

/* Whether rows are likely to save more than they take. */
static bool is_worth(const maker *m)
{
    uint64_t bytes = 0;
    double seconds = 0;
    if (atomic_load(&wanted) != SF_ROWS_WORTH) return atomic_load(&wanted) == SF_ROWS_ALWAYS;
    for (uint32_t i = 0; i < m->plan->core; i++) {
        for (uint32_t t = i + 1; t < m->plan->count; t++) {
            row_kind k = kind_of(m, m->plan->steps[i].vertex, &m->plan->steps[t]);
            if (!needs_rows(&k)) continue;
            double entries = 0, words = sf_rows_words(m->rows, k.u);
            if (k.joined) {
                uint64_t links = m->space->links[m->space->links_of[k.w][k.u]].count;
                entries = (double)links / m->space->counts[k.w];
                seconds += LINK_SECONDS * (double)links;
            }
            if (words > FEW_WORDS + WORDS_PER_ENTRY * entries) return false;
            bytes += bytes_of(m, &k);
        }
    }
    seconds += BYTE_SECONDS * (double)bytes;
    return bytes <= MOST_ROW_BYTES && seconds < LIST_STEP_SECONDS * m->plan->work;
}

/* ---- the common lists ---- */

/* What can share a data vertex, directly or by way of another, has a list in common. */
static void find_lists(maker *m)
{
    sf_rows *r = m->rows;
    uint32_t count = m->query->count;
    for (uint32_t u = 0; u < count; u++) {
        r->list_of[u] = u;
        for (uint32_t w = 0; w < u; w++) {
            if (!sf_query_can_share(m->query, u, w)) continue;
            uint32_t from = r->list_of[u], to = r->list_of[w];
            for (uint32_t x = 0; x <= u; x++)
                r->list_of[x] = r->list_of[x] == from ? to : r->list_of[x];
        }
    }
}

/* Appends what of `more` is not in the list; both ascend. */
static int merge(sf_rows *r, uint32_t list, const uint32_t *more, uint32_t count)
{
    uint32_t had = r->counts[list], i = 0, j = 0, n = 0;
    uint32_t *merged = sf_resize(NULL, (size_t)had + count, sizeof *merged);
    if (merged == NULL) return SF_NO_MEMORY;
    const uint32_t *own = r->lists[list];
    while (i < had || j < count) {
        uint32_t v = j == count || (i < had && own[i] < more[j]) ? own[i] : more[j];
        i += i < had && own[i] == v;
        j += j < count && more[j] == v;
        merged[n++] = v;
    }
    sf_free(r->lists[list]);
    r->lists[list] = merged;
    r->counts[list] = n;
    return SF_OK;
}

/* None before it has brought the same candidates into its list. */
static bool is_listed_first(const maker *m, uint32_t u)
{
    bool is_first = true;
    for (uint32_t w = 0; w < u; w++)
        is_first = is_first &&
                   (m->space->twin[w] != m->space->twin[u] || m->rows->list_of[w] != m->rows->list_of[u]);
    return is_first;
}

static int make_lists(maker *m)
{
    const sf_space *s = m->space;
    find_lists(m);
    for (uint32_t u = 0; u < m->query->count; u++)
        if (is_listed_first(m, u) &&
            merge(m->rows, m->rows->list_of[u], s->candidates[u], s->counts[u]) != SF_OK)
            return SF_NO_MEMORY;
    return SF_OK;
}

static uint64_t *make_sets(size_t sets, uint32_t words)
{
    return sf_alloc(sets * words, sizeof(uint64_t));
}

static int make_places(maker *m, uint32_t u)
{
    sf_rows *r = m->rows;
    const uint32_t *list = r->lists[r->list_of[u]], *candidates = m->space->candidates[u];
    r->places[u] = sf_resize(NULL, m->space->counts[u], sizeof *r->places[u]);
    r->starts[u] = make_sets(1, sf_rows_words(r, u));
    if (r->places[u] == NULL || r->starts[u] == NULL) return SF_NO_MEMORY;
    for (uint32_t i = 0, at = 0; i < m->space->counts[u]; i++) {
        while (list[at] != candidates[i])
            at++;
        r->places[u][i] = at;
        sf_bitmap_set(r->starts[u], at);
    }
    return SF_OK;
}

/* ---- rows ---- */

/* Bits after `place` stay. */
static void keep_greater(uint64_t *row, uint32_t words, uint32_t place)
{
    uint32_t first = (place + 1) / 64;
    memset(row, 0, first * sizeof *row);
    if (first < words) row[first] &= ~UINT64_C(0) << (place + 1) % 64;
}

static void fill_row(const maker *m, const row_kind *k, const sf_links *excluded, uint32_t i, uint64_t *row)
{
    const sf_rows *r = m->rows;
    const uint32_t *places = r->places[k->u], place = r->places[k->w][i], words = sf_rows_words(r, k->u);
    if (k->joined) {
        uint32_t count;
        const uint32_t *list = sf_space_adjacent(m->space, k->w, k->u, i, &count);
        for (uint32_t j = 0; j < count; j++)
            sf_bitmap_set(row, places[list[j]]);
    } else {
        memset(row, 0xff, words * sizeof *row);
    }
    for (uint64_t e = k->excluded ? excluded->offsets[i] : 0; k->excluded && e < excluded->offsets[i + 1];
         e++)
        sf_bitmap_clear(row, places[excluded->places[e]]);
    if (k->greater) keep_greater(row, words, place);
    if (k->apart) sf_bitmap_clear(row, place);
}

static int make_table(maker *m, const row_kind *k, uint64_t **table)
{
    sf_rows *r = m->rows;
    uint32_t words = sf_rows_words(r, k->u);
    sf_links excluded = {0};
    *table = make_sets(r->counts[r->list_of[k->w]], words);
    r->tables[r->table_count++] = *table;
    int status = *table != NULL ? SF_OK : SF_NO_MEMORY;
    if (status == SF_OK && k->excluded) status = sf_space_exclude(m->space, &excluded, k->w, k->u);
    for (uint32_t i = 0; status == SF_OK && i < m->space->counts[k->w]; i++)
        fill_row(m, k, &excluded, i, *table + (size_t)r->places[k->w][i] * words);
    sf_links_free(&excluded);
    return status;
}

/* The table of a kind, made where there is none that says the same. */
static int find_table(maker *m, const row_kind *k, const uint64_t **table)
{
    sf_rows *r = m->rows;
    uint64_t *made = NULL;
    int status = SF_OK;
    for (size_t o = 0; o < r->table_count && made == NULL; o++)
        made = is_same(m, &m->made[o], k) ? r->tables[o] : NULL;
    if (made == NULL && needs_rows(k)) {
        m->made[r->table_count] = *k;
        status = make_table(m, k, &made);
    }
    *table = made;
    return status;
}

static int make_effects(maker *m)
{
    sf_rows *r = m->rows;
    r->effects = sf_alloc(m->plan->core, sizeof *r->effects);
    int status = r->effects != NULL ? SF_OK : SF_NO_MEMORY;
    for (uint32_t i = 0; i < m->plan->core && status == SF_OK; i++) {
        for (uint32_t t = i + 1; t < m->plan->count && status == SF_OK; t++) {
            row_kind k = kind_of(m, m->plan->steps[i].vertex, &m->plan->steps[t]);
            sf_effect *effect = &r->effects[i][r->effect_counts[i]];
            *effect = (sf_effect){.vertex = k.u, .apart = k.apart};
            status = find_table(m, &k, &effect->rows);
            r->effect_counts[i] += effect->rows != NULL || k.apart;
        }
    }
    return status;
}

/* Builds candidates as sets, and room for tables of `kinds` kinds. */
static int make_all_places(maker *m, size_t kinds)
{
    m->made = sf_resize(NULL, kinds, sizeof *m->made);
    m->rows->tables = sf_alloc(kinds, sizeof *m->rows->tables);
    int status = m->made != NULL && m->rows->tables != NULL ? SF_OK : SF_NO_MEMORY;
    for (uint32_t u = 0; u < m->query->count && status == SF_OK; u++)
        status = make_places(m, u);
    return status;
}

static int leave_maker(maker *m, int status, sf_error *error)
{
    sf_free(m->made);
    if (!m->rows->is_open) sf_rows_close(m->rows);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

int sf_rows_open(sf_rows *rows, const sf_space *space, const sf_plan *plan, sf_error *error)
{
    *rows = (sf_rows){0};
    maker m = {rows, space, plan, space->query, NULL};
    bool is_short = plan->work < WORTH_ROWS && atomic_load(&wanted) == SF_ROWS_WORTH;
    if (is_short || !can_be(m.query)) return SF_OK;
    int status = make_lists(&m);
    if (status == SF_OK && is_worth(&m)) {
        status = make_all_places(&m, (size_t)plan->core * plan->count);
        if (status == SF_OK) status = make_effects(&m);
        rows->is_open = status == SF_OK;
    }
    return leave_maker(&m, status, error);
}

/* The kind of the row of pair (w, u), if w were matched first. */
static row_kind kind_of_pair(const maker *m, uint32_t w, uint32_t u)
{
    const sf_order_step step = {.vertex = u,
                                .joined = m->query->required[u],
                                .checked = m->query->constrained[u] & ~m->query->required[u]};
    return kind_of(m, w, &step);
}

/* By the counts of the lists. */
static bool have_room(const maker *m)
{
    uint64_t bytes = 0;
    for (uint32_t w = 0; w < m->query->count; w++) {
        for (uint64_t left = m->query->constrained[w]; left != 0; left &= left - 1) {
            row_kind k = kind_of_pair(m, w, sf_lowest(left));
            bytes += bytes_of(m, &k);
        }
    }
    return bytes <= MOST_ROW_BYTES && atomic_load(&wanted) != SF_ROWS_NEVER;
}

/* A list has no more than all candidates in it, and than the data vertices that any of its vertices may be.
 */
bool sf_rows_can_be_pairs(const sf_space *space)
{
    sf_rows rows = {0};
    maker m = {&rows, space, NULL, space->query, NULL};
    uint64_t sums[SF_PATTERN_MOST] = {0}, most[SF_PATTERN_MOST] = {0};
    find_lists(&m);
    for (uint32_t u = 0; u < m.query->count; u++) {
        const uint32_t list = rows.list_of[u];
        sums[list] += is_listed_first(&m, u) ? space->counts[u] : 0;
        most[list] = space->labelled[u] > most[list] ? space->labelled[u] : most[list];
        rows.counts[list] = (uint32_t)(sums[list] < most[list] ? sums[list] : most[list]);
    }
    return can_be(m.query) && have_room(&m);
}

static int make_pairs(maker *m)
{
    const uint32_t vertices = m->query->count;
    m->rows->between = sf_alloc(vertices, sizeof *m->rows->between);
    int status = m->rows->between != NULL ? SF_OK : SF_NO_MEMORY;
    for (uint32_t w = 0; w < vertices && status == SF_OK; w++) {
        for (uint64_t left = m->query->constrained[w]; left != 0 && status == SF_OK; left &= left - 1) {
            const uint32_t u = sf_lowest(left);
            row_kind k = kind_of_pair(m, w, u);
            status = find_table(m, &k, &m->rows->between[w][u]);
        }
    }
    return status;
}

int sf_rows_open_pairs(sf_rows *rows, const sf_space *space, sf_error *error)
{
    *rows = (sf_rows){0};
    maker m = {rows, space, NULL, space->query, NULL};
    const uint32_t vertices = space->query->count;
    if (!can_be(m.query)) return SF_OK;
    int status = make_lists(&m);
    if (status == SF_OK && have_room(&m)) {
        status = make_all_places(&m, (size_t)vertices * vertices);
        if (status == SF_OK) status = make_pairs(&m);
        rows->is_open = status == SF_OK;
    }
    return leave_maker(&m, status, error);
}

void sf_rows_close(sf_rows *rows)
{
    for (uint32_t u = 0; u < SF_PATTERN_MOST; u++) {
        sf_free(rows->lists[u]);
        sf_free(rows->places[u]);
        sf_free(rows->starts[u]);
    }
    for (size_t i = 0; i < rows->table_count; i++)
        sf_free(rows->tables[i]);
    sf_free(rows->tables);
    sf_free(rows->effects);
    sf_free(rows->between);
    *rows = (sf_rows){0};
}
