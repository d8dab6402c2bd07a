/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/match_oracle.h"

#include <string.h>

static bool meets_term(const sf_columns *columns, size_t row, const sf_term *term)
{
    size_t index = sf_columns_find(columns, term->attribute);
    if (index == SF_NO_COLUMN) return false;
    const sf_attribute *column = &columns->items[index];
    double value = column->values[row];
    if (term->word == NULL)
        return !sf_attribute_is_text(column) && sf_compare(value, term->comparison, term->number);
    if (!sf_attribute_is_text(column) || value != value) return false;
    bool equal = strcmp(column->words.items[(size_t)value], term->word) == 0;
    return term->comparison == SF_EQUAL ? equal : !equal;
}

static bool meets_terms(const sf_columns *columns, size_t row, const sf_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!meets_term(columns, row, &terms[i])) return false;
    return true;
}

/* Whether a data edge from v to w meets the conditions of a pattern edge. */
static bool has_edge(const sf_csr *data, uint32_t v, uint32_t w, const sf_pattern_edge *edge)
{
    for (uint64_t e = data->offsets[v]; e < data->offsets[v + 1]; e++) {
        size_t row = e - data->offsets[0];
        if (data->targets[e] != w) continue;
        if (edge == NULL) return true;
        if (edge->label != SF_ANY_LABEL &&
            (data->edge_labels == NULL || data->edge_labels[row] != edge->label))
            continue;
        if (meets_terms(&data->edge_columns, row, edge->terms, edge->term_count)) return true;
    }
    return false;
}

static bool meets_relation(const sf_csr *data, const sf_relation *relation, const uint32_t *vertices)
{
    const sf_columns *columns = &data->vertex_columns;
    size_t left = sf_columns_find(columns, relation->left_attribute);
    size_t right = sf_columns_find(columns, relation->right_attribute);
    return left != SF_NO_COLUMN && right != SF_NO_COLUMN &&
           sf_compare(columns->items[left].values[vertices[relation->left]], relation->comparison,
                      columns->items[right].values[vertices[relation->right]]);
}

static bool is_pattern_edge(const sf_pattern *pattern, uint32_t u, uint32_t w)
{
    for (size_t e = 0; e < pattern->edge_count; e++) {
        const sf_pattern_edge *edge = &pattern->edges[e];
        if (edge->absent) continue;
        if ((edge->from == u && edge->to == w) || (!pattern->directed && edge->from == w && edge->to == u))
            return true;
    }
    return false;
}

/* Conditions of the first `count` pattern vertices. */
static bool holds(const sf_csr *data, const sf_pattern *pattern, sf_semantics semantics,
                  const uint32_t *vertices, uint32_t count)
{
    for (uint32_t u = 0; u < count; u++) {
        const sf_pattern_vertex *vertex = &pattern->vertices[u];
        if (vertex->label != SF_ANY_LABEL &&
            (data->vertex_labels == NULL || data->vertex_labels[vertices[u]] != vertex->label))
            return false;
        if (!meets_terms(&data->vertex_columns, vertices[u], vertex->terms, vertex->term_count)) return false;
        for (uint32_t w = 0; w < count; w++) {
            if (w == u) continue;
            if (semantics != SF_HOMOMORPHISM && vertices[u] == vertices[w]) return false;
            if (semantics == SF_INDUCED && !is_pattern_edge(pattern, u, w) &&
                has_edge(data, vertices[u], vertices[w], NULL))
                return false;
        }
    }
    for (size_t e = 0; e < pattern->edge_count; e++) {
        const sf_pattern_edge *edge = &pattern->edges[e];
        if (edge->from < count && edge->to < count &&
            has_edge(data, vertices[edge->from], vertices[edge->to], edge) == edge->absent)
            return false;
    }
    for (size_t r = 0; r < pattern->relation_count; r++)
        if (pattern->relations[r].left < count && pattern->relations[r].right < count &&
            !meets_relation(data, &pattern->relations[r], vertices))
            return false;
    return true;
}

static uint64_t extend(const sf_csr *data, const sf_pattern *pattern, sf_semantics semantics,
                       uint32_t *vertices, uint32_t depth)
{
    if (depth == pattern->vertex_count) return 1;
    uint64_t count = 0;
    for (uint32_t v = 0; v < data->vertex_count; v++) {
        vertices[depth] = v;
        if (holds(data, pattern, semantics, vertices, depth + 1))
            count += extend(data, pattern, semantics, vertices, depth + 1);
    }
    return count;
}

uint64_t match_oracle(const sf_csr *data, const sf_pattern *pattern, sf_semantics semantics)
{
    uint32_t vertices[SF_PATTERN_MOST] = {0};
    return extend(data, pattern, semantics, vertices, 0);
}

bool match_oracle_is_embedding(const sf_csr *data, const sf_pattern *pattern, sf_semantics semantics,
                               const uint32_t *vertices)
{
    return holds(data, pattern, semantics, vertices, pattern->vertex_count);
}

/* Whether the pattern has an edge of this kind, in either direction where it is undirected. */
static bool has_pattern_edge(const sf_pattern *pattern, uint32_t u, uint32_t w, uint32_t label, bool absent)
{
    for (size_t e = 0; e < pattern->edge_count; e++) {
        const sf_pattern_edge *edge = &pattern->edges[e];
        bool same = edge->from == u && edge->to == w;
        bool turned = !pattern->directed && edge->from == w && edge->to == u;
        if ((same || turned) && edge->label == label && edge->absent == absent) return true;
    }
    return false;
}

static bool is_automorphism(const sf_pattern *pattern, const uint32_t *image)
{
    for (uint32_t u = 0; u < pattern->vertex_count; u++)
        if (pattern->vertices[u].label != pattern->vertices[image[u]].label) return false;
    for (size_t e = 0; e < pattern->edge_count; e++) {
        const sf_pattern_edge *edge = &pattern->edges[e];
        if (!has_pattern_edge(pattern, image[edge->from], image[edge->to], edge->label, edge->absent))
            return false;
    }
    return true;
}

static uint64_t permute(const sf_pattern *pattern, uint32_t *image, uint32_t depth)
{
    if (depth == pattern->vertex_count) return is_automorphism(pattern, image);
    uint64_t count = 0;
    for (uint32_t v = 0; v < pattern->vertex_count; v++) {
        bool taken = false;
        for (uint32_t i = 0; i < depth; i++)
            taken |= image[i] == v;
        image[depth] = v;
        if (!taken) count += permute(pattern, image, depth + 1);
    }
    return count;
}

uint64_t match_oracle_automorphisms(const sf_pattern *pattern)
{
    uint32_t image[SF_PATTERN_MOST] = {0};
    return permute(pattern, image, 0);
}
