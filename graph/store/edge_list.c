/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/store/edge_list.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

static void clear_column(sf_attribute *column)
{
    sf_words_free(&column->words);
    sf_free(column->values);
    sf_free(column->name);
    *column = (sf_attribute){0};
}

void sf_columns_free(sf_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        clear_column(&columns->items[i]);
    sf_free(columns->items);
    *columns = (sf_columns){0};
}

int sf_columns_add(sf_columns *columns, const char *name, size_t *index, sf_error *error)
{
    sf_attribute *items = sf_resize(columns->items, columns->count + 1, sizeof *items);
    if (items == NULL) return sf_fail_memory(error);
    columns->items = items;
    sf_attribute *column = &items[columns->count];
    *column = (sf_attribute){.name = sf_copy_string(name),
                             .values = sf_resize(NULL, columns->capacity, sizeof *column->values)};
    if (column->name == NULL || column->values == NULL) {
        clear_column(column);
        return sf_fail_memory(error);
    }
    for (size_t row = 0; row < columns->rows; row++)
        column->values[row] = NAN;
    *index = columns->count++;
    return SF_OK;
}

size_t sf_columns_find(const sf_columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->items[i].name, name) == 0) return i;
    return SF_NO_COLUMN;
}

int sf_columns_grow(sf_columns *columns, size_t rows, sf_error *error)
{
    if (rows > columns->capacity) {
        size_t capacity = columns->capacity + columns->capacity / 2;
        capacity = capacity < rows ? rows : capacity;
        for (size_t i = 0; i < columns->count; i++) {
            double *values = sf_resize(columns->items[i].values, capacity, sizeof *values);
            if (values == NULL) return sf_fail_memory(error);
            columns->items[i].values = values;
        }
        columns->capacity = capacity;
    }
    for (size_t i = 0; i < columns->count; i++)
        for (size_t row = columns->rows; row < rows; row++)
            columns->items[i].values[row] = NAN;
    columns->rows = rows;
    return SF_OK;
}

int sf_attribute_word(sf_attribute *column, const char *word, double *value, sf_error *error)
{
    uint32_t number;
    int status = sf_words_add(&column->words, word, &number, error);
    if (status == SF_OK) *value = number;
    return status;
}

int sf_columns_pick(sf_columns *to, const sf_columns *from, const uint64_t *rows, size_t count,
                    sf_error *error)
{
    int status = sf_columns_grow(to, count, error);
    for (size_t i = 0; status == SF_OK && i < from->count; i++) {
        const sf_attribute *column = &from->items[i];
        size_t index;
        status = sf_columns_add(to, column->name, &index, error);
        double ignored;
        for (size_t w = 0; status == SF_OK && w < column->words.count; w++)
            status = sf_attribute_word(&to->items[index], column->words.items[w], &ignored, error);
        for (size_t row = 0; status == SF_OK && row < count; row++)
            to->items[index].values[row] = column->values[rows != NULL ? rows[row] : row];
    }
    return status;
}

/* Told of now and then. */
static bool goes_on(const sf_edge_list *list)
{
    uint64_t done = list->edge_count, all = list->expected_edges;
    return done % 4096 != 0 ||
           sf_progress_update(list->progress, "reading", (double)done, (double)(all > done ? all : done + 1));
}

int sf_edge_list_add(sf_edge_list *list, uint32_t from, uint32_t to, sf_error *error)
{
    if (!goes_on(list))
        return sf_fail(error, SF_CANCELLED, NULL, "was stopped after %zu edges", list->edge_count);
    void *edges = list->edges;
    if (sf_reserve(&edges, &list->edge_capacity, list->edge_count + 1, sizeof *list->edges) != 0)
        return sf_fail_memory(error);
    list->edges = edges;
    if (list->edge_columns.count > 0 &&
        sf_columns_grow(&list->edge_columns, list->edge_count + 1, error) != SF_OK)
        return SF_NO_MEMORY;
    list->edges[list->edge_count++] = (sf_edge){from, to};
    return SF_OK;
}

int sf_edge_list_set_vertices(sf_edge_list *list, uint32_t count, sf_error *error)
{
    if (list->vertex_columns.count > 0 && sf_columns_grow(&list->vertex_columns, count, error) != SF_OK)
        return SF_NO_MEMORY;
    list->vertex_count = count;
    return SF_OK;
}

int sf_edge_list_add_named(sf_edge_list *list, const char *name, sf_error *error)
{
    if (list->vertex_count == UINT32_MAX)
        return sf_fail(error, SF_DATA, NULL, "more than %u vertices", UINT32_MAX);
    void *names = list->names;
    if (sf_reserve(&names, &list->name_capacity, (size_t)list->vertex_count + 1, sizeof *list->names) != 0)
        return sf_fail_memory(error);
    list->names = names;
    char *copy = sf_copy_string(name);
    if (copy == NULL) return sf_fail_memory(error);
    if (sf_edge_list_set_vertices(list, list->vertex_count + 1, error) != SF_OK) {
        sf_free(copy);
        return SF_NO_MEMORY;
    }
    list->names[list->vertex_count - 1] = copy;
    return SF_OK;
}

void sf_edge_list_free(sf_edge_list *list)
{
    for (uint32_t v = 0; list->names != NULL && v < list->vertex_count; v++)
        sf_free(list->names[v]);
    sf_free(list->names);
    sf_free(list->edges);
    sf_columns_free(&list->vertex_columns);
    sf_columns_free(&list->edge_columns);
    *list = (sf_edge_list){0};
}
