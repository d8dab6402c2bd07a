/* SPDX-License-Identifier: Apache-2.0 */
/** A small graph to look for: what its vertices and edges must be like, in names and numbers that are not yet
 * bound to any data. */
#ifndef SF_GRAPH_MATCH_PATTERN_H
#define SF_GRAPH_MATCH_PATTERN_H

#include "graph/match/set.h"
#include "graph/store/csr.h"

#define SF_PATTERN_MOST 64 /**< vertices: a set of them is one word */
#define SF_ANY_LABEL UINT32_MAX

typedef enum sf_comparison {
    SF_EQUAL,
    SF_NOT_EQUAL,
    SF_LESS,
    SF_LESS_OR_EQUAL,
    SF_GREATER,
    SF_GREATER_OR_EQUAL
} sf_comparison;

/** "=", "!=", "<", "<=", ">", ">=". */
const char *sf_comparison_name(sf_comparison comparison);
bool sf_compare(double left, sf_comparison comparison, double right); /**< false where either is NaN */

/** attribute COMPARISON number | word, of a vertex or an edge. Text is compared by = and != only. */
typedef struct sf_term {
    char *attribute;
    sf_comparison comparison;
    double number;
    char *word; /**< NULL: number counts */
} sf_term;

/** left.attribute COMPARISON right.attribute, of two different vertices. */
typedef struct sf_relation {
    uint32_t left, right;
    char *left_attribute, *right_attribute;
    sf_comparison comparison;
} sf_relation;

typedef struct sf_pattern_vertex {
    char *name; /**< or NULL */
    uint32_t label;
    sf_term *terms; /**< all must hold */
    size_t term_count;
} sf_pattern_vertex;

typedef struct sf_pattern_edge {
    uint32_t from, to;
    uint32_t label;
    bool absent;    /**< no such edge may exist */
    sf_term *terms; /**< all must hold for one edge between the two */
    size_t term_count;
} sf_pattern_edge;

/** Two vertices that the author says can be exchanged, so that the pair counts once. */
typedef struct sf_exchange {
    uint32_t left, right;
} sf_exchange;

/** Zero-initialise. In an undirected pattern an edge stands for either direction. */
typedef struct sf_pattern {
    bool directed;
    sf_pattern_vertex *vertices;
    uint32_t vertex_count;
    sf_pattern_edge *edges;
    size_t edge_count;
    sf_relation *relations;
    size_t relation_count;
    sf_exchange *exchanges;
    size_t exchange_count;
} sf_pattern;

/** SF_DATA beyond SF_PATTERN_MOST vertices. The name is copied and may be NULL. */
int sf_pattern_add_vertex(sf_pattern *pattern, const char *name, uint32_t label, sf_error *error);

/** Adds an edge without terms; its index is edge_count - 1. */
int sf_pattern_add_edge(sf_pattern *pattern, uint32_t from, uint32_t to, uint32_t label, bool absent,
                        sf_error *error);

/** Appends a term to a growing array; attribute and word are copied, word may be NULL. */
int sf_terms_add(sf_term **terms, size_t *count, const char *attribute, sf_comparison comparison,
                 double number, const char *word, sf_error *error);

int sf_pattern_add_relation(sf_pattern *pattern, const sf_relation *relation, sf_error *error);
int sf_pattern_add_exchange(sf_pattern *pattern, uint32_t left, uint32_t right, sf_error *error);

/** The pattern of a small graph: its vertices, their labels (any, where it has none) and its edges. */
int sf_pattern_of_graph(sf_pattern *pattern, const sf_edge_list *list, sf_error *error);

void sf_pattern_free(sf_pattern *pattern);

#endif
