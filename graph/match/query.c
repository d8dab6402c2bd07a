/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/query.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 4096 }; /* data vertices that a thread takes at a time */

/* ---- attributes ---- */

/* The column of an attribute. The delay of a connection is the upper bound of its interval. */
static const sf_attribute *find_column(const sf_columns *columns, const char *attribute)
{
    size_t index = sf_columns_find(columns, attribute);
    if (index == SF_NO_COLUMN && strcmp(attribute, "delay") == 0) index = sf_columns_find(columns, "high_ms");
    return index != SF_NO_COLUMN ? &columns->items[index] : NULL;
}

static int fail_unknown(const sf_columns *columns, const char *attribute, const char *what, sf_error *error)
{
    char known[256] = "";
    for (size_t i = 0, length = 0; i < columns->count && length < sizeof known; i++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "",
                                   columns->items[i].name);
    return sf_fail(error, SF_USAGE, NULL, "the %s of the graph have no attribute '%s'; they have: %s", what,
                   attribute, columns->count > 0 ? known : "none");
}

static int bind_term(sf_query *q, const sf_columns *columns, const sf_term *term, const char *what,
                     sf_error *error)
{
    const sf_attribute *column = find_column(columns, term->attribute);
    if (column == NULL) return fail_unknown(columns, term->attribute, what, error);
    if ((term->word != NULL) != sf_attribute_is_text(column))
        return sf_fail(error, SF_USAGE, NULL,
                       "the attribute '%s' holds %s, and the pattern compares it with %s", term->attribute,
                       sf_attribute_is_text(column) ? "text" : "numbers",
                       term->word != NULL ? "text" : "a number");
    if (term->word != NULL && term->comparison != SF_EQUAL && term->comparison != SF_NOT_EQUAL)
        return sf_fail(error, SF_USAGE, NULL, "the attribute '%s' holds text, which %s does not compare",
                       term->attribute, sf_comparison_name(term->comparison));
    void *terms = q->terms;
    if (sf_reserve(&terms, &q->term_capacity, q->term_total + 1, sizeof *q->terms) != 0)
        return sf_fail_memory(error);
    q->terms = terms;
    sf_bound_term *bound = &q->terms[q->term_total++];
    *bound = (sf_bound_term){column->values, term->comparison, term->number};
    if (term->word != NULL) {
        uint32_t number = sf_words_find(&column->words, term->word);
        bound->number = number != SF_NO_WORD ? (double)number : -1;
    }
    return SF_OK;
}

static int bind_terms(sf_query *q, const sf_columns *columns, const sf_term *terms, size_t count,
                      const char *what, size_t *first, sf_error *error)
{
    *first = q->term_total;
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = bind_term(q, columns, &terms[i], what, error);
    return status;
}

/* ---- vertices, edges, relations ---- */

static int bind_vertices(sf_query *q, const sf_pattern *pattern, sf_error *error)
{
    const sf_csr *data = q->index->out;
    int status = SF_OK;
    for (uint32_t u = 0; u < q->count && status == SF_OK; u++) {
        const sf_pattern_vertex *vertex = &pattern->vertices[u];
        q->labels[u] = SF_ANY_LABEL;
        if (vertex->label != SF_ANY_LABEL && data->vertex_labels == NULL)
            return sf_fail(error, SF_USAGE, NULL,
                           "the pattern's vertices have labels and the graph's have none");
        if (vertex->label != SF_ANY_LABEL) {
            q->labels[u] = sf_match_dense_label(q->index, vertex->label);
            q->impossible |= q->labels[u] == SF_ANY_LABEL;
        }
        q->term_count[u] = vertex->term_count;
        status = bind_terms(q, &data->vertex_columns, vertex->terms, vertex->term_count, "vertices",
                            &q->first_term[u], error);
    }
    return status;
}

/* In an undirected pattern every edge is taken as one from its smaller end. */
static void ends_of(const sf_pattern *pattern, const sf_pattern_edge *edge, uint32_t *from, uint32_t *to)
{
    bool turn = !pattern->directed && edge->from > edge->to;
    *from = turn ? edge->to : edge->from;
    *to = turn ? edge->from : edge->to;
}

/* Lists the pairs that the pattern says anything about: bit b of said[a]. Returns their number. */
static size_t list_pairs(uint64_t said[SF_PATTERN_MOST], const sf_query *q, const sf_pattern *pattern)
{
    size_t count = 0;
    for (uint32_t a = 0; a < q->count; a++) /* what is not an edge is a condition too where it is induced */
        said[a] = q->semantics == SF_INDUCED ? UINT64_MAX >> (SF_PATTERN_MOST - q->count) : 0;
    for (size_t e = 0; e < pattern->edge_count; e++) {
        said[pattern->edges[e].from] |= sf_bit(pattern->edges[e].to);
        said[pattern->edges[e].to] |= sf_bit(pattern->edges[e].from);
    }
    for (size_t r = 0; r < pattern->relation_count; r++) {
        said[pattern->relations[r].left] |= sf_bit(pattern->relations[r].right);
        said[pattern->relations[r].right] |= sf_bit(pattern->relations[r].left);
    }
    for (uint32_t a = 0; a < q->count; a++) {
        said[a] &= ~sf_bit(a); /* loops are bound by themselves */
        count += (size_t)__builtin_popcountll(said[a]);
    }
    return count / 2;
}

static int find_pairs(sf_query *q, const sf_pattern *pattern, sf_error *error)
{
    uint64_t said[SF_PATTERN_MOST];
    q->pairs = sf_resize(NULL, list_pairs(said, q, pattern), sizeof *q->pairs);
    if (q->pairs == NULL) return sf_fail_memory(error);
    memset(q->pair_of, 0xff, q->count * sizeof *q->pair_of);
    for (uint32_t a = 0; a < q->count; a++) {
        q->constrained[a] = said[a];
        for (uint64_t left = said[a] >> a << a; left != 0; left &= left - 1) {
            uint32_t b = sf_lowest(left);
            q->pairs[q->pair_count] = (sf_pair){.a = a, .b = b};
            q->pair_of[a][b] = q->pair_of[b][a] = (uint16_t)q->pair_count++;
        }
    }
    return SF_OK;
}

static int bind_edge(sf_query *q, const sf_pattern *pattern, const sf_pattern_edge *edge, sf_error *error)
{
    const sf_csr *data = q->index->out;
    sf_bound_edge *bound = &q->edges[q->edge_count++];
    *bound = (sf_bound_edge){.label = edge->label, .absent = edge->absent, .term_count = edge->term_count};
    ends_of(pattern, edge, &bound->from, &bound->to);
    if (edge->label != SF_ANY_LABEL && data->edge_labels == NULL)
        return sf_fail(error, SF_USAGE, NULL, "the pattern's edges have labels and the graph's have none");
    return bind_terms(q, &data->edge_columns, edge->terms, edge->term_count, "edges", &bound->first_term,
                      error);
}

static bool is_bare(const sf_pattern_edge *edge)
{
    return edge->label == SF_ANY_LABEL && edge->term_count == 0;
}

/* What edges between two vertices require of the pair, and, of bare ones, what they forbid: all that these
 * say. Whether there are others and loops, each of which is then bound. */
static void note_edges(sf_query *q, const sf_pattern *pattern, bool *has_more, bool *has_loops)
{
    *has_more = *has_loops = false;
    for (size_t e = 0; e < pattern->edge_count; e++) {
        const sf_pattern_edge *edge = &pattern->edges[e];
        uint32_t from, to;
        ends_of(pattern, edge, &from, &to);
        *has_more = *has_more || !is_bare(edge);
        *has_loops = *has_loops || from == to;
        if (from == to || (edge->absent && !is_bare(edge))) continue;
        sf_pair *pair = &q->pairs[q->pair_of[from][to]];
        bool forward = from == pair->a;
        if (edge->absent)
            *(forward ? &pair->no_forward : &pair->no_backward) = true;
        else
            *(forward ? &pair->forward : &pair->backward) = true;
    }
}

/* Edges between a and b, both ways, of which more is said than that they are there. */
static int bind_pair(sf_query *q, sf_pair *pair, const sf_pattern *pattern, sf_error *error)
{
    for (size_t e = 0; e < pattern->edge_count; e++) {
        const sf_pattern_edge *edge = &pattern->edges[e];
        if (is_bare(edge) || !((edge->from == pair->a && edge->to == pair->b) ||
                               (edge->from == pair->b && edge->to == pair->a)))
            continue;
        int status = bind_edge(q, pattern, edge, error);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

static int bind_relations(sf_query *q, sf_pair *pair, const sf_pattern *pattern, sf_error *error)
{
    const sf_columns *columns = &q->index->out->vertex_columns;
    pair->first_relation = q->relation_count;
    for (size_t r = 0; r < pattern->relation_count; r++) {
        const sf_relation *relation = &pattern->relations[r];
        if (!((relation->left == pair->a && relation->right == pair->b) ||
              (relation->left == pair->b && relation->right == pair->a)))
            continue;
        const sf_attribute *left = find_column(columns, relation->left_attribute);
        const sf_attribute *right = find_column(columns, relation->right_attribute);
        if (left == NULL || right == NULL)
            return fail_unknown(columns, left == NULL ? relation->left_attribute : relation->right_attribute,
                                "vertices", error);
        bool is_order = relation->comparison != SF_EQUAL && relation->comparison != SF_NOT_EQUAL;
        if ((sf_attribute_is_text(left) || sf_attribute_is_text(right)) && (left != right || is_order))
            return sf_fail(error, SF_USAGE, NULL,
                           "'%s' and '%s' hold text, of which one attribute can be compared "
                           "with itself by = and != only",
                           relation->left_attribute, relation->right_attribute);
        q->relations[q->relation_count++] = (sf_bound_relation){relation->left, relation->right, left->values,
                                                                right->values, relation->comparison};
    }
    pair->relation_count = q->relation_count - pair->first_relation;
    return SF_OK;
}

static int bind_loops(sf_query *q, const sf_pattern *pattern, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t u = 0; u < q->count; u++) {
        q->first_loop[u] = q->edge_count;
        for (size_t e = 0; e < pattern->edge_count && status == SF_OK; e++)
            if (pattern->edges[e].from == u && pattern->edges[e].to == u)
                status = bind_edge(q, pattern, &pattern->edges[e], error);
        q->loop_count[u] = q->edge_count - q->first_loop[u];
    }
    return status;
}

/* What follows from the flags once they are all known. */
static void finish_pair(sf_query *q, sf_pair *pair, bool directed)
{
    if (q->semantics == SF_INDUCED) {
        pair->no_forward |= !pair->forward;
        pair->no_backward |= directed && !pair->backward;
    }
    q->impossible |= (pair->forward && pair->no_forward) || (pair->backward && pair->no_backward);
    if (pair->forward || pair->backward) {
        q->required[pair->a] |= sf_bit(pair->b);
        q->required[pair->b] |= sf_bit(pair->a);
    }
    pair->plain = pair->forward != pair->backward && !pair->no_forward && !pair->no_backward &&
                  pair->edge_count == 0 && pair->relation_count == 0;
}

static int bind(sf_query *q, const sf_pattern *pattern, sf_error *error)
{
    q->edges = sf_resize(NULL, pattern->edge_count, sizeof *q->edges);
    q->relations = sf_resize(NULL, pattern->relation_count, sizeof *q->relations);
    if (q->edges == NULL || q->relations == NULL) return sf_fail_memory(error);
    int status = bind_vertices(q, pattern, error);
    if (status == SF_OK) status = find_pairs(q, pattern, error);
    bool has_more = false, has_loops = false;
    if (status == SF_OK) note_edges(q, pattern, &has_more, &has_loops);
    for (size_t p = 0; p < q->pair_count && status == SF_OK; p++) {
        sf_pair *pair = &q->pairs[p];
        pair->first_edge = q->edge_count;
        if (has_more) status = bind_pair(q, pair, pattern, error);
        pair->edge_count = q->edge_count - pair->first_edge;
        if (status == SF_OK) status = bind_relations(q, pair, pattern, error);
        if (status == SF_OK) finish_pair(q, pair, pattern->directed);
    }
    return status == SF_OK && has_loops ? bind_loops(q, pattern, error) : status;
}

int sf_query_open(sf_query *query, const sf_match_index *index, const sf_pattern *pattern,
                  sf_semantics semantics, sf_error *error)
{
    memset(query, 0, offsetof(sf_query, pair_of));
    query->index = index;
    query->semantics = semantics;
    query->count = pattern->vertex_count;
    if (pattern->vertex_count == 0) return sf_fail(error, SF_USAGE, NULL, "the pattern has no vertex");
    if (!pattern->directed && index->out->directed)
        return sf_fail(error, SF_USAGE, NULL, "the pattern is undirected and the graph directed");
    int status = bind(query, pattern, error);
    if (status != SF_OK) sf_query_close(query);
    return status;
}

void sf_query_close(sf_query *query)
{
    sf_free(query->pairs);
    sf_free(query->edges);
    sf_free(query->terms);
    sf_free(query->relations);
    memset(query, 0, offsetof(sf_query, pair_of));
}

/* ---- whether data fits ---- */

static bool terms_hold(const sf_query *q, size_t first, size_t count, size_t row)
{
    for (size_t i = first; i < first + count; i++)
        if (!sf_compare(q->terms[i].values[row], q->terms[i].comparison, q->terms[i].number)) return false;
    return true;
}

/* Whether one of the parallel edges from v to w has the label and meets the terms. */
static bool has_such_edge(const sf_query *q, const sf_bound_edge *edge, uint32_t v, uint32_t w)
{
    const sf_csr *data = q->index->out;
    uint64_t e = sf_csr_find(data, v, w);
    for (; e < data->offsets[v + 1] && data->targets[e] == w; e++) {
        size_t row = e - data->offsets[0];
        if ((edge->label == SF_ANY_LABEL || data->edge_labels[row] == edge->label) &&
            terms_hold(q, edge->first_term, edge->term_count, row))
            return true;
    }
    return false;
}

bool sf_query_vertex_fits(const sf_query *q, uint32_t u, uint32_t v)
{
    if (!terms_hold(q, q->first_term[u], q->term_count[u], v)) return false;
    for (size_t l = q->first_loop[u]; l < q->first_loop[u] + q->loop_count[u]; l++)
        if (has_such_edge(q, &q->edges[l], v, v) == q->edges[l].absent) return false;
    return true;
}

typedef struct allowing {
    const sf_query *query;
    uint32_t u, *bits;
} allowing;

static int allow_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const allowing *a = context;
    const sf_match_index *index = a->query->index;
    uint32_t label = a->query->labels[a->u];
    for (size_t v = block * BLOCK; v < (block + 1) * BLOCK && v < index->out->vertex_count; v++) {
        bool is_member = label == SF_ANY_LABEL || sf_match_label(index, (uint32_t)v) == label;
        if (is_member && sf_query_vertex_fits(a->query, a->u, (uint32_t)v))
            a->bits[v / 32] |= UINT32_C(1) << v % 32;
    }
    return 0;
}

int sf_query_allow(const sf_query *q, uint32_t u, unsigned threads, uint32_t **allowed)
{
    *allowed = NULL;
    if (q->term_count[u] == 0 && q->loop_count[u] == 0) return SF_OK;
    size_t vertices = q->index->out->vertex_count, blocks = (vertices + BLOCK - 1) / BLOCK;
    allowing job = {q, u, sf_alloc((vertices + 31) / 32, sizeof *job.bits)};
    *allowed = job.bits;
    return job.bits != NULL ? sf_parallel_for(threads, blocks, allow_block, &job) : SF_NO_MEMORY;
}

bool sf_query_pair_fits(const sf_query *q, const sf_pair *pair, uint32_t va, uint32_t vb)
{
    const sf_csr *data = q->index->out;
    if (pair->forward || pair->no_forward)
        if ((sf_csr_find(data, va, vb) != UINT64_MAX) != pair->forward) return false;
    if (pair->backward || pair->no_backward)
        if ((sf_csr_find(data, vb, va) != UINT64_MAX) != pair->backward) return false;
    for (size_t i = pair->first_edge; i < pair->first_edge + pair->edge_count; i++) {
        const sf_bound_edge *edge = &q->edges[i];
        bool forward = edge->from == pair->a;
        if (has_such_edge(q, edge, forward ? va : vb, forward ? vb : va) == edge->absent) return false;
    }
    for (size_t i = pair->first_relation; i < pair->first_relation + pair->relation_count; i++) {
        const sf_bound_relation *relation = &q->relations[i];
        bool forward = relation->left == pair->a;
        if (!sf_compare(relation->left_values[forward ? va : vb], relation->comparison,
                        relation->right_values[forward ? vb : va]))
            return false;
    }
    return true;
}
