/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/tables.h"

#include "graph/match/tuned.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "core/vector.h"

#include <string.h>

enum { CHUNKS = 64 };

/* The sum over the places of one block, `v`, of what its children came to. */
typedef struct product {
    const sf_outline *o;
    const sf_counts *tables;
    sf_match_tally *const *tallies;
    uint32_t v, row, column;
    bool has_row, has_column;
    uint64_t *weights;                     /* of the places of v: what only it bears on */
    const sf_counts *beside[SF_TERM_MOST]; /* what it and the row bear on */
    uint32_t beside_count;
    const uint64_t *dense; /* for each place of v one of the column's; NULL: */
    uint64_t *offsets;     /* of the places of v, in the places that it is linked with */
    uint32_t *links;
    size_t link_room;
    uint64_t *sets; /* of each thread */
    sf_counts *made;
    void *set_memory, *dense_memory;
    atomic_bool too_large;
} product;

SF_VECTOR_BODY void add_body(uint64_t *restrict sums, const uint64_t *restrict row, uint64_t factor,
                             uint32_t count)
{
    if (factor == 1) {
        for (uint32_t i = 0; i < count; i++)
            sums[i] += row[i];
    } else {
        for (uint32_t i = 0; i < count; i++)
            sums[i] += factor * row[i];
    }
}

SF_VECTOR_LEVELS(add_row, add_body,
                 (uint64_t *restrict sums, const uint64_t *restrict row, uint64_t factor, uint32_t count),
                 (sums, row, factor, count))

/* What the place of a leaves of b. */
static void find_set(const sf_outline *o, uint32_t a, uint32_t place, uint32_t b, uint64_t *set)
{
    const sf_joint *joint = &o->joints[a][b];
    const uint32_t words = o->words[b];
    memcpy(set, o->starts[b], words * sizeof *set);
    for (uint32_t i = 0; i < joint->count; i++)
        for (uint32_t k = 0; k < words; k++)
            set[k] &= joint->rows[i][(size_t)place * words + k];
    if (joint->apart) sf_bitmap_clear(set, place);
}

/* ---- what each place of the block counts for by itself ---- */

/* Whether just these two bear on the child's component; b may be the same block. */
static bool bear_on(const sf_summand *t, uint32_t child, uint32_t a, uint32_t b)
{
    return t->bearing[child] == (1u << a | 1u << b);
}

static int find_weights(product *p)
{
    const sf_outline *o = p->o;
    uint32_t place[SF_TERM_MOST] = {0};
    p->weights = sf_alloc(o->places[p->v], sizeof *p->weights);
    if (p->weights == NULL) return SF_NO_MEMORY;
    for (uint32_t q = 0; q < o->places[p->v]; q++) {
        uint64_t weight = sf_bitmap_has(o->starts[p->v], q);
        place[p->v] = q;
        for (uint32_t left = o->term->children[p->v]; left != 0; left &= left - 1)
            if (bear_on(o->term, sf_lowest(left), p->v, p->v))
                weight = sf_saturated_multiply(weight, sf_counts_at(&p->tables[sf_lowest(left)], place));
        p->weights[q] = weight;
        if (weight == UINT64_MAX) p->too_large = true;
    }
    return SF_OK;
}

/* ---- the columns ---- */

/* The same with the block as its row. */
static int turn(sf_counts *table, uint32_t row, const sf_outline *o)
{
    enum { TILE = 16 };
    if (table->row == row) return SF_OK;
    const uint32_t rows = o->places[table->row], columns = o->places[table->column];
    void *memory;
    uint64_t *turned = sf_outline_room(&memory, (size_t)rows * columns);
    if (turned == NULL) return SF_NO_MEMORY;
    for (uint32_t i = 0; i < rows; i += TILE)
        for (uint32_t j = 0; j < columns; j += TILE)
            for (uint32_t c = j; c < j + TILE && c < columns; c++)
                for (uint32_t r = i; r < i + TILE && r < rows; r++)
                    turned[(size_t)c * rows + r] = table->values[(size_t)r * columns + c];
    sf_free(table->memory);
    *table = (sf_counts){turned, row, table->row, rows, 1, table->most, memory};
    return SF_OK;
}

/* The product of what the block and the column bear on, where the two are linked. */
static int make_dense(product *p, const sf_counts *const *factors, uint32_t count)
{
    const sf_outline *o = p->o;
    const uint32_t columns = o->places[p->column];
    uint32_t place[SF_TERM_MOST] = {0};
    uint64_t *dense = sf_outline_room(&p->dense_memory, (size_t)o->places[p->v] * columns);
    if (dense == NULL) return SF_NO_MEMORY;
    memset(dense, 0, (size_t)o->places[p->v] * columns * sizeof *dense);
    for (uint32_t q = 0; q < o->places[p->v]; q++) {
        if (p->weights[q] == 0) continue;
        find_set(o, p->v, q, p->column, p->sets);
        place[p->v] = q;
        if (sf_match_steps(p->tallies[0], 1 + columns / VALUES_PER_STEP)) break; /* nobody will look at it */
        for (uint32_t r = sf_bitmap_next(p->sets, 0, columns); r < columns;
             r = sf_bitmap_next(p->sets, r + 1, columns)) {
            uint64_t value = 1;
            place[p->column] = r;
            for (uint32_t i = 0; i < count; i++)
                value = sf_saturated_multiply(value, sf_counts_at(factors[i], place));
            dense[(size_t)q * columns + r] = value;
        }
    }
    p->dense = dense;
    return SF_OK;
}

static int list_links(product *p)
{
    const sf_outline *o = p->o;
    const uint32_t columns = o->places[p->column], places = o->places[p->v];
    p->offsets = sf_alloc((size_t)places + 1, sizeof *p->offsets);
    int status = p->offsets != NULL ? SF_OK : SF_NO_MEMORY;
    for (uint32_t q = 0; q < places && status == SF_OK; q++) {
        uint64_t at = p->offsets[q];
        void *links = p->links;
        if (sf_reserve(&links, &p->link_room, at + columns, sizeof *p->links) != 0) status = SF_NO_MEMORY;
        p->links = links;
        bool is_wanted = status == SF_OK && p->weights[q] != 0;
        if (is_wanted && !sf_match_steps(p->tallies[0], 1 + columns / VALUES_PER_STEP)) {
            find_set(o, p->v, q, p->column, p->sets);
            for (uint32_t r = sf_bitmap_next(p->sets, 0, columns); r < columns;
                 r = sf_bitmap_next(p->sets, r + 1, columns))
                p->links[at++] = r;
        }
        p->offsets[q + 1] = at;
    }
    return status;
}

static int find_columns(product *p, sf_counts *tables, double *bound)
{
    const sf_summand *t = p->o->term;
    const sf_counts *factors[SF_TERM_MOST];
    uint32_t count = 0, only = 0;
    for (uint32_t left = t->children[p->v]; left != 0; left &= left - 1) {
        if (!bear_on(t, sf_lowest(left), p->v, p->column)) continue;
        only = sf_lowest(left);
        *bound *= (double)tables[only].most;
        factors[count++] = &tables[only];
    }
    bool is_near = (t->near[p->v] >> p->column & 1) != 0;
    if (count == 0 && is_near) return list_links(p);
    if (count != 1 || is_near) return make_dense(p, factors, count);
    int status = turn(&tables[only], p->v, p->o);
    p->dense = tables[only].values;
    return status;
}

/* ---- the sums ---- */

static uint64_t weight_of(const product *p, const uint32_t *place)
{
    uint64_t weight = p->weights[place[p->v]];
    for (uint32_t i = 0; i < p->beside_count && weight != 0; i++)
        weight = sf_saturated_multiply(weight, sf_counts_at(p->beside[i], place));
    return weight;
}

/* A row of the table, to whose sums each place of the block adds. Returns places gone through. */
static uint64_t fill_row(const product *p, uint32_t row, uint64_t *set, uint64_t *sums)
{
    const sf_outline *o = p->o;
    const uint32_t places = o->places[p->v], columns = p->has_column ? o->places[p->column] : 1;
    uint32_t place[SF_TERM_MOST] = {0};
    uint64_t steps = 0;
    place[p->row] = row;
    if (p->has_row)
        find_set(o, p->row, row, p->v, set);
    else
        memcpy(set, o->starts[p->v], o->words[p->v] * sizeof *set);
    for (uint32_t q = sf_bitmap_next(set, 0, places); q < places; q = sf_bitmap_next(set, q + 1, places)) {
        place[p->v] = q;
        uint64_t weight = weight_of(p, place);
        steps++;
        if (weight == 0) continue;
        if (!p->has_column) {
            *sums = sf_saturated_add(*sums, weight);
        } else if (p->dense != NULL) {
            add_row(sums, p->dense + (size_t)q * columns, weight, columns);
        } else {
            for (uint64_t l = p->offsets[q]; l < p->offsets[q + 1]; l++)
                sums[p->links[l]] += weight;
            steps += (p->offsets[q + 1] - p->offsets[q]) / VALUES_PER_STEP;
        }
    }
    return steps;
}

static int fill_rows(void *context, unsigned worker, size_t item)
{
    product *p = context;
    const uint32_t rows = p->has_row ? p->o->places[p->row] : 1;
    const uint32_t first = (uint32_t)((uint64_t)rows * item / CHUNKS),
                   end = (uint32_t)((uint64_t)rows * (item + 1) / CHUNKS);
    uint64_t *set = p->sets + (size_t)worker * p->o->words[p->v];
    for (uint32_t row = first; row < end; row++) {
        if (p->has_row && !sf_bitmap_has(p->o->starts[p->row], row)) continue;
        uint64_t steps = fill_row(p, row, set, p->made->values + row * p->made->down);
        if (sf_match_steps(p->tallies[worker], steps)) return SF_OK;
    }
    sf_match_advance(p->tallies[worker]->watch, p->o->term->effort[p->v] / CHUNKS);
    return SF_OK;
}

/* ---- tables ---- */

static int open_table(product *p)
{
    const sf_outline *o = p->o;
    const size_t columns = p->has_column ? o->places[p->column] : 1;
    const size_t values = columns * (p->has_row ? o->places[p->row] : 1);
    *p->made = (sf_counts){.row = p->row,
                           .column = p->column,
                           .down = p->has_row ? columns : 0,
                           .across = p->has_column ? 1 : 0};
    p->made->values = sf_outline_room(&p->made->memory, values);
    if (p->made->values == NULL) return SF_NO_MEMORY;
    memset(p->made->values, 0, values * sizeof *p->made->values);
    return SF_OK;
}

static void find_most(product *p)
{
    const size_t columns = p->has_column ? p->o->places[p->column] : 1;
    const size_t values = columns * (p->has_row ? p->o->places[p->row] : 1);
    uint64_t most = 0;
    for (size_t i = 0; i < values; i++)
        most = p->made->values[i] > most ? p->made->values[i] : most;
    p->made->most = most;
    if (most == UINT64_MAX) p->too_large = true;
}

/* Which of what bears on the component are the rows and the columns. */
static void find_sides(product *p)
{
    const sf_summand *t = p->o->term;
    const uint32_t bearing = t->bearing[p->v];
    p->has_row = bearing != 0;
    p->has_column = (bearing & (bearing - 1)) != 0;
    p->row = p->has_column ? t->rows[p->v] : p->has_row ? sf_lowest(bearing) : 0;
    p->column = p->has_column ? sf_lowest(bearing & ~(1u << p->row)) : 0;
}

static void find_beside(product *p, double *bound)
{
    const sf_summand *t = p->o->term;
    for (uint32_t left = p->has_row ? t->children[p->v] : 0; left != 0; left &= left - 1) {
        const uint32_t child = sf_lowest(left);
        if (!bear_on(t, child, p->v, p->row)) continue;
        p->beside[p->beside_count++] = &p->tables[child];
        *bound *= (double)p->tables[child].most;
    }
}

static int fill_table(product *p, sf_counts *tables, unsigned threads)
{
    double bound = p->o->places[p->v];
    uint64_t most = 1;
    p->sets = sf_outline_room(&p->set_memory, (size_t)threads * (p->o->words[p->v] + p->o->words[p->column]));
    int status = p->sets != NULL ? find_weights(p) : SF_NO_MEMORY;
    find_beside(p, &bound);
    if (status == SF_OK && p->has_column) status = find_columns(p, tables, &bound);
    if (status == SF_OK) status = open_table(p);
    if (status != SF_OK) return status;
    for (uint32_t q = 0; q < p->o->places[p->v]; q++)
        most = p->weights[q] > most ? p->weights[q] : most;
    if (p->has_column && bound * (double)most > 0x1p63) p->too_large = true;
    if (p->too_large || atomic_load(&p->tallies[0]->watch->stop)) return SF_OK;
    status = sf_parallel_for(p->o->term->effort[p->v] < WORTH_THREADS ? 1 : threads, CHUNKS, fill_rows, p);
    find_most(p);
    return status;
}

static int make_table(sf_counts *tables, const sf_outline *o, uint32_t v, sf_match_tally *const *tallies,
                      unsigned threads, bool *is_done)
{
    product p = {.o = o, .tables = tables, .tallies = tallies, .v = v, .made = &tables[v]};
    find_sides(&p);
    int status = fill_table(&p, tables, threads);
    *is_done = !p.too_large && !atomic_load(&tallies[0]->watch->stop);
    sf_free(p.weights);
    sf_free(p.offsets);
    sf_free(p.links);
    sf_free(p.set_memory);
    sf_free(p.dense_memory);
    return status;
}

/* After those of its children, which are of no use then. */
static int make_tables(sf_counts *tables, const sf_outline *o, uint32_t v, sf_match_tally *const *tallies,
                       unsigned threads, bool *is_done)
{
    int status = SF_OK;
    for (uint32_t left = o->term->children[v]; left != 0 && status == SF_OK && *is_done; left &= left - 1)
        status = make_tables(tables, o, sf_lowest(left), tallies, threads, is_done);
    if (status == SF_OK && *is_done) status = make_table(tables, o, v, tallies, threads, is_done);
    for (uint32_t left = o->term->children[v]; left != 0; left &= left - 1) {
        sf_free(tables[sf_lowest(left)].memory);
        tables[sf_lowest(left)] = (sf_counts){0};
    }
    return status;
}

int sf_tables_make(sf_counts *tables, const sf_outline *o, sf_match_tally *const *tallies, unsigned threads,
                   bool *is_done)
{
    const sf_summand *t = o->term;
    int status = SF_OK;
    *is_done = true;
    for (uint32_t b = 0; b < t->count && status == SF_OK && *is_done; b++)
        if ((t->tabled >> b & 1) != 0) status = make_tables(tables, o, b, tallies, threads, is_done);
    return status;
}

void sf_tables_free(sf_counts *tables)
{
    for (uint32_t b = 0; b < SF_TERM_MOST; b++) {
        sf_free(tables[b].memory);
        tables[b] = (sf_counts){0};
    }
}
