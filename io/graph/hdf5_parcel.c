/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of an HDF5 file out of the parcel in which the reading program sent it (io/graph/hdf5_file.c),
 * field by field. */
#include "io/graph/hdf5_file.h"

#include "core/error.h"
#include "core/memory.h"
#include "graph/store/csr.h"

#include <math.h>
#include <string.h>

static int take_vertices(sf_edge_list *list, sf_parcel *parcel, const char *path, sf_error *error)
{
    list->directed = sf_parcel_take_number(parcel) != 0;
    uint64_t count = sf_parcel_take_number(parcel), named = sf_parcel_take_number(parcel);
    if (parcel->damaged || count >= SF_NO_VERTEX) return sf_parcel_refuse(path, error);
    if (named == 0) return sf_edge_list_set_vertices(list, (uint32_t)count, error);
    int status = SF_OK;
    for (uint64_t v = 0; status == SF_OK && v < count; v++) {
        const char *name = sf_parcel_take_text(parcel);
        status = name != NULL ? sf_edge_list_add_named(list, name, error) : sf_parcel_refuse(path, error);
    }
    return status;
}

static int take_edges(sf_edge_list *list, sf_parcel *parcel, const char *path, sf_error *error)
{
    size_t count;
    const sf_edge *edges = sf_parcel_take(parcel, sizeof *edges, &count);
    if (parcel->damaged) return sf_parcel_refuse(path, error);
    for (size_t i = 0; i < count; i++)
        if (edges[i].from >= list->vertex_count || edges[i].to >= list->vertex_count)
            return sf_parcel_refuse(path, error);
    list->edges = sf_resize(NULL, count, sizeof *list->edges);
    if (list->edges == NULL) return sf_fail_memory(error);
    if (count > 0) memcpy(list->edges, edges, count * sizeof *list->edges);
    list->edge_count = list->edge_capacity = count;
    return SF_OK;
}

/* Words are in the order of their numbers. */
static int take_words(sf_attribute *column, sf_parcel *parcel, const char *path, sf_error *error)
{
    uint64_t count = sf_parcel_take_number(parcel);
    int status = SF_OK;
    for (uint64_t w = 0; status == SF_OK && w < count; w++) {
        const char *word = sf_parcel_take_text(parcel);
        double number = 0;
        status =
            word != NULL ? sf_attribute_word(column, word, &number, error) : sf_parcel_refuse(path, error);
        if (status == SF_OK && number != (double)w) status = sf_parcel_refuse(path, error);
    }
    return status;
}

static bool is_word(double value, size_t words)
{
    return isnan(value) || (value >= 0 && value < (double)words && value == floor(value));
}

/* Allocates memory for values only after checking that the parcel has them. */
static int take_column(sf_columns *columns, size_t rows, sf_parcel *parcel, const char *path, sf_error *error)
{
    sf_attribute taken = {0};
    const char *name = sf_parcel_take_text(parcel);
    int status = take_words(&taken, parcel, path, error);
    const double *values = sf_parcel_take_exactly(parcel, sizeof *values, rows);
    if (status == SF_OK && (parcel->damaged || name == NULL)) status = sf_parcel_refuse(path, error);
    for (size_t row = 0; status == SF_OK && taken.words.count > 0 && row < rows; row++)
        if (!is_word(values[row], taken.words.count)) status = sf_parcel_refuse(path, error);
    size_t index;
    if (status == SF_OK) status = sf_columns_grow(columns, rows, error);
    if (status == SF_OK) status = sf_columns_add(columns, name, &index, error);
    if (status != SF_OK) {
        sf_words_free(&taken.words);
        return status;
    }
    columns->items[index].words = taken.words;
    if (rows > 0) memcpy(columns->items[index].values, values, rows * sizeof *values);
    return SF_OK;
}

static int take_columns(sf_columns *columns, size_t rows, sf_parcel *parcel, const char *path,
                        sf_error *error)
{
    uint64_t count = sf_parcel_take_number(parcel);
    int status = parcel->damaged ? sf_parcel_refuse(path, error) : SF_OK;
    for (uint64_t i = 0; status == SF_OK && i < count; i++)
        status = take_column(columns, rows, parcel, path, error);
    return status;
}

int sf_graph_hdf5_take(sf_edge_list *list, sf_parcel *parcel, const char *path, sf_error *error)
{
    *list = (sf_edge_list){0};
    int status = take_vertices(list, parcel, path, error);
    if (status == SF_OK) status = take_edges(list, parcel, path, error);
    if (status == SF_OK)
        status = take_columns(&list->vertex_columns, list->vertex_count, parcel, path, error);
    if (status == SF_OK) status = take_columns(&list->edge_columns, list->edge_count, parcel, path, error);
    if (status != SF_OK) sf_edge_list_free(list);
    return status;
}
