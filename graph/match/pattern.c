/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/pattern.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>

const char *sf_comparison_name(sf_comparison comparison)
{
    static const char *const names[] = {"=", "!=", "<", "<=", ">", ">="};
    return names[comparison];
}

bool sf_compare(double left, sf_comparison comparison, double right)
{
    if (isnan(left) || isnan(right)) return false;
    switch (comparison) {
    case SF_EQUAL:
        return left == right;
    case SF_NOT_EQUAL:
        return left != right;
    case SF_LESS:
        return left < right;
    case SF_LESS_OR_EQUAL:
        return left <= right;
    case SF_GREATER:
        return left > right;
    case SF_GREATER_OR_EQUAL:
        return left >= right;
    }
    return false;
}

/* One element more, zeroed; patterns are small. NULL when memory is out. */
static void *grow(void **items, size_t count, size_t size)
{
    char *grown = sf_resize(*items, count + 1, size);
    if (grown == NULL) return NULL;
    *items = grown;
    for (size_t i = count * size; i < (count + 1) * size; i++)
        grown[i] = 0;
    return grown + count * size;
}

int sf_pattern_add_vertex(sf_pattern *pattern, const char *name, uint32_t label, sf_error *error)
{
    if (pattern->vertex_count == SF_PATTERN_MOST)
        return sf_fail(error, SF_DATA, NULL, "the pattern has more than %d vertices", SF_PATTERN_MOST);
    void *vertices = pattern->vertices;
    sf_pattern_vertex *vertex = grow(&vertices, pattern->vertex_count, sizeof *vertex);
    pattern->vertices = vertices;
    if (vertex == NULL) return sf_fail_memory(error);
    *vertex = (sf_pattern_vertex){.name = name != NULL ? sf_copy_string(name) : NULL, .label = label};
    if (name != NULL && vertex->name == NULL) return sf_fail_memory(error);
    pattern->vertex_count++;
    return SF_OK;
}

int sf_pattern_add_edge(sf_pattern *pattern, uint32_t from, uint32_t to, uint32_t label, bool absent,
                        sf_error *error)
{
    void *edges = pattern->edges;
    sf_pattern_edge *edge = grow(&edges, pattern->edge_count, sizeof *edge);
    pattern->edges = edges;
    if (edge == NULL) return sf_fail_memory(error);
    *edge = (sf_pattern_edge){.from = from, .to = to, .label = label, .absent = absent};
    pattern->edge_count++;
    return SF_OK;
}

static void free_terms(sf_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sf_free(terms[i].attribute);
        sf_free(terms[i].word);
    }
    sf_free(terms);
}

int sf_terms_add(sf_term **terms, size_t *count, const char *attribute, sf_comparison comparison,
                 double number, const char *word, sf_error *error)
{
    void *items = *terms;
    sf_term *term = grow(&items, *count, sizeof *term);
    *terms = items;
    if (term == NULL) return sf_fail_memory(error);
    ++*count;
    *term = (sf_term){.attribute = sf_copy_string(attribute),
                      .comparison = comparison,
                      .number = number,
                      .word = word != NULL ? sf_copy_string(word) : NULL};
    return term->attribute != NULL && (word == NULL || term->word != NULL) ? SF_OK : sf_fail_memory(error);
}

int sf_pattern_add_relation(sf_pattern *pattern, const sf_relation *relation, sf_error *error)
{
    void *relations = pattern->relations;
    sf_relation *added = grow(&relations, pattern->relation_count, sizeof *added);
    pattern->relations = relations;
    if (added == NULL) return sf_fail_memory(error);
    *added = *relation;
    added->left_attribute = sf_copy_string(relation->left_attribute);
    added->right_attribute = sf_copy_string(relation->right_attribute);
    pattern->relation_count++;
    return added->left_attribute != NULL && added->right_attribute != NULL ? SF_OK : sf_fail_memory(error);
}

int sf_pattern_add_exchange(sf_pattern *pattern, uint32_t left, uint32_t right, sf_error *error)
{
    void *exchanges = pattern->exchanges;
    sf_exchange *added = grow(&exchanges, pattern->exchange_count, sizeof *added);
    pattern->exchanges = exchanges;
    if (added == NULL) return sf_fail_memory(error);
    *added = (sf_exchange){left, right};
    pattern->exchange_count++;
    return SF_OK;
}

/* The label of a row, or any where there are no labels. */
static int label_of(const sf_columns *columns, size_t row, uint32_t *label, sf_error *error)
{
    size_t index = sf_columns_find(columns, SF_LABEL_COLUMN);
    *label = SF_ANY_LABEL;
    if (index == SF_NO_COLUMN) return SF_OK;
    double value = columns->items[index].values[row];
    if (sf_attribute_is_text(&columns->items[index]) ||
        !(value >= 0 && value < SF_ANY_LABEL && value == floor(value)))
        return sf_fail(error, SF_DATA, NULL, "a label of the pattern is no integer from 0 to %u",
                       SF_ANY_LABEL - 1);
    *label = (uint32_t)value;
    return SF_OK;
}

int sf_pattern_of_graph(sf_pattern *pattern, const sf_edge_list *list, sf_error *error)
{
    *pattern = (sf_pattern){.directed = list->directed};
    uint32_t label = SF_ANY_LABEL;
    int status = SF_OK;
    for (uint32_t v = 0; v < list->vertex_count && status == SF_OK; v++) {
        status = label_of(&list->vertex_columns, v, &label, error);
        if (status == SF_OK)
            status =
                sf_pattern_add_vertex(pattern, list->names != NULL ? list->names[v] : NULL, label, error);
    }
    for (size_t e = 0; e < list->edge_count && status == SF_OK; e++) {
        if (list->edges[e].from >= list->vertex_count || list->edges[e].to >= list->vertex_count)
            status = sf_fail(error, SF_DATA, NULL, "edge %zu of the pattern ends outside its %u vertices", e,
                             list->vertex_count);
        else
            status = label_of(&list->edge_columns, e, &label, error);
        if (status == SF_OK)
            status =
                sf_pattern_add_edge(pattern, list->edges[e].from, list->edges[e].to, label, false, error);
    }
    if (status != SF_OK) sf_pattern_free(pattern);
    return status;
}

void sf_pattern_free(sf_pattern *pattern)
{
    for (uint32_t v = 0; v < pattern->vertex_count; v++) {
        sf_free(pattern->vertices[v].name);
        free_terms(pattern->vertices[v].terms, pattern->vertices[v].term_count);
    }
    for (size_t e = 0; e < pattern->edge_count; e++)
        free_terms(pattern->edges[e].terms, pattern->edges[e].term_count);
    for (size_t r = 0; r < pattern->relation_count; r++) {
        sf_free(pattern->relations[r].left_attribute);
        sf_free(pattern->relations[r].right_attribute);
    }
    sf_free(pattern->vertices);
    sf_free(pattern->edges);
    sf_free(pattern->relations);
    sf_free(pattern->exchanges);
    *pattern = (sf_pattern){0};
}
