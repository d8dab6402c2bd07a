/* SPDX-License-Identifier: Apache-2.0 */
/** A graph as it is read or put together: edges in any order, with columns of values beside them. */
#ifndef SF_GRAPH_STORE_EDGE_LIST_H
#define SF_GRAPH_STORE_EDGE_LIST_H

#include "core/edge.h"
#include "core/progress.h"
#include "core/words.h"

#include <synfire/error.h>

/**
 * One value per row. A column of text holds indices into `words`, which are distinct; NaN stands where a row
 * has no value. The column named "label" holds, as integers, the labels that matching compares.
 */
typedef struct sf_attribute {
    char *name;
    double *values;
    sf_words words; /**< none for a column of numbers */
} sf_attribute;

#define SF_LABEL_COLUMN "label"
#define SF_NO_COLUMN SIZE_MAX

/** Columns of equal length; zero-initialise. */
typedef struct sf_columns {
    sf_attribute *items;
    size_t count;
    size_t rows, capacity; /**< every column has room for `capacity` values */
} sf_columns;

/** Adds a column, NaN in every row, and gives its index; the name is copied. */
int sf_columns_add(sf_columns *columns, const char *name, size_t *index, sf_error *error);

/** Index of the column of this name, or SF_NO_COLUMN. */
size_t sf_columns_find(const sf_columns *columns, const char *name);

/** Makes the tables `rows` long, NaN in what is new. */
int sf_columns_grow(sf_columns *columns, size_t rows, sf_error *error);

/** True for a column of text; one without any value counts as numbers. */
static inline bool sf_attribute_is_text(const sf_attribute *column)
{
    return column->words.count > 0;
}

/** The value that stands for `word` in a column of text; the word is copied when it is new. */
int sf_attribute_word(sf_attribute *column, const char *word, double *value, sf_error *error);

/** Adds to `to` every column of `from`, with the rows picked by `rows` (NULL: all in order). */
int sf_columns_pick(sf_columns *to, const sf_columns *from, const uint64_t *rows, size_t count,
                    sf_error *error);

void sf_columns_free(sf_columns *columns);

/** Zero-initialise before use. */
typedef struct sf_edge_list {
    uint32_t vertex_count;
    bool directed; /**< false: an edge stands for both directions */
    sf_edge *edges;
    size_t edge_count, edge_capacity;
    char **names; /**< of vertices, or NULL */
    size_t name_capacity;
    sf_columns vertex_columns; /**< no columns, or vertex_count rows */
    sf_columns edge_columns;   /**< no columns, or edge_count rows */
    /** NULL, or called as edges are added, with about this total; it may stop that */
    const sf_progress *progress;
    uint64_t expected_edges;
} sf_edge_list;

/** Appends an edge; both ends must be under vertex_count by the time of sf_csr_build. SF_CANCELLED. */
int sf_edge_list_add(sf_edge_list *list, uint32_t from, uint32_t to, sf_error *error);

/** Appends a vertex; the name is copied. A list has a name for every vertex or for none. */
int sf_edge_list_add_named(sf_edge_list *list, const char *name, sf_error *error);

/** Sets the number of vertices of a list without names. */
int sf_edge_list_set_vertices(sf_edge_list *list, uint32_t count, sf_error *error);

void sf_edge_list_free(sf_edge_list *list);

#endif
