/* SPDX-License-Identifier: Apache-2.0 */
/* synfire's HDF5 graph (.h5): root attributes synfire = "graph", layout = 1, directed; /vertices/name and a
 * dataset per column under /vertices/columns; /edges/from, /edges/to (u32, an undirected edge once) and
 * /edges/columns. HDF5 is called from one thread only, as in io/layout.h. */
#include "io/graph/hdf5_file.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/apart.h"
#include "io/hdf_about.h"
#include "io/output_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LAYOUT 1

/* ---- writing ---- */

/* Where to write and what to say about failures. */
typedef struct writer {
    const char *path;
    sf_error *error;
} writer;

static int check(const writer *w, bool written, const char *what)
{
    return written ? SF_OK : sf_hdf_fail(w->error, SF_IO, w->path, "cannot write '%s'", what);
}

static int write_vector(const writer *w, hid_t group, const char *name, hid_t type, const void *values,
                        size_t count)
{
    return check(w, sf_hdf_write_table(group, name, type, count, 1, values), name);
}

typedef const char *(*string_at)(const void *context, size_t row);

static int write_strings(const writer *w, hid_t group, const char *name, string_at get, const void *context,
                         size_t count)
{
    size_t width = 1;
    for (size_t i = 0; i < count; i++)
        width = strlen(get(context, i)) + 1 > width ? strlen(get(context, i)) + 1 : width;
    char *cells = sf_alloc(count, width);
    if (cells == NULL) return sf_fail_memory(w->error);
    for (size_t i = 0; i < count; i++)
        memcpy(cells + i * width, get(context, i), strlen(get(context, i)));
    hid_t type = sf_hdf_string_type(width);
    H5Tset_cset(type, H5T_CSET_UTF8);
    int status = write_vector(w, group, name, type, cells, count);
    sf_hdf_close(type);
    sf_free(cells);
    return status;
}

static const char *name_at(const void *names, size_t row)
{
    return ((char *const *)names)[row];
}

static const char *word_at(const void *context, size_t row)
{
    const sf_attribute *column = context;
    return isnan(column->values[row]) ? "" : column->words.items[(size_t)column->values[row]];
}

static int write_column(const writer *w, hid_t group, const sf_attribute *column, size_t rows)
{
    char name[128]; /* a slash would make a group */
    snprintf(name, sizeof name, "%s", column->name);
    for (char *s = name; *s != '\0'; s++)
        *s = *s == '/' ? '_' : *s;
    if (sf_attribute_is_text(column)) return write_strings(w, group, name, word_at, column, rows);
    return write_vector(w, group, name, H5T_NATIVE_DOUBLE, column->values, rows);
}

static int write_columns(const writer *w, hid_t group, const sf_columns *columns)
{
    hid_t inside = H5Gcreate2(group, "columns", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int status = check(w, inside >= 0, "columns");
    for (size_t i = 0; status == SF_OK && i < columns->count; i++)
        status = write_column(w, inside, &columns->items[i], columns->rows);
    sf_hdf_close(inside);
    return status;
}

static int write_vertices(const writer *w, hid_t file, const sf_csr *csr)
{
    hid_t group = H5Gcreate2(file, "vertices", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int status = check(w, group >= 0, "/vertices");
    if (status == SF_OK)
        status =
            check(w, sf_hdf_write_attribute(group, "count", H5T_NATIVE_UINT32, &csr->vertex_count), "count");
    if (status == SF_OK && csr->names != NULL)
        status = write_strings(w, group, "name", name_at, csr->names, csr->vertex_count);
    if (status == SF_OK) status = write_columns(w, group, &csr->vertex_columns);
    sf_hdf_close(group);
    return status;
}

/* The edges as they are written: both ends, and the row of each in edge_columns. */
typedef struct edge_table {
    uint32_t *from, *to;
    uint64_t *rows;
    size_t count;
} edge_table;

static int list_edges(edge_table *table, const sf_csr *csr)
{
    size_t most = sf_csr_edge_count(csr);
    table->from = sf_resize(NULL, most, sizeof *table->from);
    table->to = sf_resize(NULL, most, sizeof *table->to);
    table->rows = sf_resize(NULL, most, sizeof *table->rows);
    if (table->from == NULL || table->to == NULL || table->rows == NULL) return SF_NO_MEMORY;
    for (uint32_t v = 0; v < csr->vertex_count; v++) {
        for (uint64_t e = csr->offsets[v]; e < csr->offsets[v + 1]; e++) {
            if (!sf_csr_is_first(csr, v, e)) continue;
            table->from[table->count] = v;
            table->to[table->count] = csr->targets[e];
            table->rows[table->count++] = e - csr->offsets[0];
        }
    }
    return SF_OK;
}

static int write_edge_group(const writer *w, hid_t file, const edge_table *table, const sf_columns *columns)
{
    hid_t group = H5Gcreate2(file, "edges", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int status = check(w, group >= 0, "/edges");
    if (status == SF_OK)
        status = write_vector(w, group, "from", H5T_NATIVE_UINT32, table->from, table->count);
    if (status == SF_OK) status = write_vector(w, group, "to", H5T_NATIVE_UINT32, table->to, table->count);
    if (status == SF_OK) status = write_columns(w, group, columns);
    sf_hdf_close(group);
    return status;
}

static int write_edges(const writer *w, hid_t file, const sf_csr *csr)
{
    edge_table table = {0};
    sf_columns columns = {0};
    int status = list_edges(&table, csr) == SF_OK ? SF_OK : sf_fail_memory(w->error);
    if (status == SF_OK)
        status = sf_columns_pick(&columns, &csr->edge_columns, table.rows, table.count, w->error);
    if (status == SF_OK) status = write_edge_group(w, file, &table, &columns);
    sf_columns_free(&columns);
    sf_free(table.from);
    sf_free(table.to);
    sf_free(table.rows);
    return status;
}

static bool write_root(hid_t file, const sf_csr *csr)
{
    uint32_t layout = LAYOUT, directed = csr->directed;
    return sf_hdf_write_text(file, "synfire", "graph") &&
           sf_hdf_write_attribute(file, "layout", H5T_NATIVE_UINT32, &layout) &&
           sf_hdf_write_text(file, "program", "synfire " SYNFIRE_VERSION) &&
           sf_hdf_write_attribute(file, "directed", H5T_NATIVE_UINT32, &directed) &&
           (csr->provenance == NULL || sf_hdf_write_text(file, "provenance", csr->provenance));
}

static int write_file(const sf_csr *csr, const char *path, sf_error *error)
{
    sf_hdf_begin();
    sf_output_file output;
    int opened = sf_output_file_open(&output, path, SF_EXISTING_REPLACE, error);
    if (opened != SF_OK) return opened;
    hid_t access =
        H5Pcreate(H5P_FILE_ACCESS); /* for attributes of any length; HDF5 1.8 can read such files */
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    hid_t file = H5Fcreate(sf_output_file_name(&output), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    sf_hdf_close(access);
    if (file < 0) {
        sf_output_file_close(&output, false);
        return sf_hdf_fail(error, SF_CANNOT_CREATE, path, "cannot create the file");
    }
    writer w = {.path = path, .error = error};
    int status = check(&w, write_root(file, csr), "the attributes");
    if (status == SF_OK) status = write_vertices(&w, file, csr);
    if (status == SF_OK) status = write_edges(&w, file, csr);
    if (H5Fclose(file) < 0 && status == SF_OK)
        status = sf_hdf_fail(error, SF_IO, path, "cannot close the file");
    if (status == SF_OK) status = sf_output_file_commit(&output, error);
    sf_output_file_close(&output, status == SF_OK); /* half a file is worse than none */
    return status;
}

/* ---- reading ---- */

static bool is_graph(const char *path)
{
    sf_hdf_about about;
    return sf_hdf_about_read(&about, path) && strcmp(about.kind, "graph") == 0;
}

/* An attribute that holds one unsigned number. */
static int read_number(hid_t object, const char *name, uint64_t most, uint64_t *value, const char *path,
                       sf_error *error)
{
    sf_text text = {0};
    bool found = sf_hdf_attribute_text(object, name, &text), failed = text.failed;
    bool good = found && !failed && text.data != NULL && sf_parse_uint(text.data, most, value);
    int status = SF_OK;
    if (failed)
        status = sf_fail_memory(error);
    else if (!good)
        status =
            sf_fail(error, SF_DATA, path, "the attribute '%s' is '%s', expected an integer up to %" PRIu64,
                    name, text.data != NULL ? text.data : "missing", most);
    sf_text_free(&text);
    return status;
}

typedef struct column_reader {
    sf_columns *columns;
    const char *path;
    sf_error *error;
} column_reader;

static int read_words(const column_reader *r, hid_t group, const char *name, sf_attribute *column)
{
    char **cells;
    size_t rows;
    int status = sf_hdf_read_strings(group, name, r->path, &cells, &rows, r->error);
    if (status != SF_OK) return status;
    for (size_t row = 0; status == SF_OK && row < rows; row++)
        if (cells[row][0] != '\0')
            status = sf_attribute_word(column, cells[row], &column->values[row], r->error);
    sf_hdf_free_strings(cells, rows);
    return status;
}

static int read_numbers(const column_reader *r, hid_t group, const char *name, sf_attribute *column)
{
    void *values;
    size_t rows;
    int status =
        sf_hdf_read(group, name, r->path, H5T_NATIVE_DOUBLE, sizeof(double), &values, &rows, r->error);
    if (status == SF_OK && rows > 0) memcpy(column->values, values, rows * sizeof(double));
    sf_free(values);
    return status;
}

/* Checks the column's length before allocating memory, because the file alone claims the number of vertices.
 */
static int read_column(void *context, hid_t group, const char *name)
{
    const column_reader *r = context;
    size_t index, rows;
    int status = sf_hdf_length(group, name, r->path, &rows, r->error);
    if (status == SF_OK && rows != r->columns->rows)
        return sf_fail(r->error, SF_DATA, r->path, "the column '%s' has %zu rows, expected %zu", name, rows,
                       r->columns->rows);
    if (status == SF_OK && !sf_hdf_fits(group, (uint64_t)(r->columns->count + 1) * rows * sizeof(double)))
        return sf_fail(r->error, SF_DATA, r->path,
                       "up to the column '%s' there are %zu columns of %zu rows, more than the file can hold",
                       name, r->columns->count + 1, rows);
    if (status == SF_OK) status = sf_columns_add(r->columns, name, &index, r->error);
    if (status != SF_OK) return status;
    bool is_text = sf_hdf_class(group, name) == H5T_STRING;
    return is_text ? read_words(r, group, name, &r->columns->items[index])
                   : read_numbers(r, group, name, &r->columns->items[index]);
}

static int read_columns(sf_columns *columns, hid_t group, size_t rows, const char *path, sf_error *error)
{
    if (!sf_hdf_is_group(group, "columns")) return SF_OK;
    column_reader r = {.columns = columns, .path = path, .error = error};
    if (sf_columns_grow(columns, rows, error) != SF_OK) return SF_NO_MEMORY;
    hid_t inside = sf_hdf_open(group, "columns");
    int status = sf_hdf_each_member(inside, read_column, &r);
    sf_hdf_close(inside);
    return status;
}

static int read_names(sf_edge_list *list, hid_t group, uint64_t expected, const char *path, sf_error *error)
{
    char **names;
    size_t count;
    int status = sf_hdf_read_strings(group, "name", path, &names, &count, error);
    if (status != SF_OK) return status;
    if (count != expected)
        status =
            sf_fail(error, SF_DATA, path, "there are %zu names for %" PRIu64 " vertices", count, expected);
    for (size_t v = 0; status == SF_OK && v < count; v++)
        status = sf_edge_list_add_named(list, names[v], error);
    sf_hdf_free_strings(names, count);
    return status;
}

static int read_vertices(sf_edge_list *list, hid_t file, const char *path, sf_error *error)
{
    if (!sf_hdf_is_group(file, "vertices"))
        return sf_fail(error, SF_DATA, path, "the graph has no group /vertices");
    hid_t group = sf_hdf_open(file, "vertices");
    uint64_t count = 0;
    hsize_t file_bytes = 0;
    H5Fget_filesize(file, &file_bytes);
    int status = read_number(group, "count", SF_NO_VERTEX - 1, &count, path, error);
    if (status == SF_OK) status = sf_graph_check_vertices(count, file_bytes, path, error);
    if (status == SF_OK)
        status = sf_hdf_is_dataset(group, "name") ? read_names(list, group, count, path, error)
                                                  : sf_edge_list_set_vertices(list, (uint32_t)count, error);
    if (status == SF_OK) status = read_columns(&list->vertex_columns, group, count, path, error);
    sf_hdf_close(group);
    return status;
}

/* Reads one end of every edge, as 64-bit numbers so that values out of range are detected, not clipped. */
static int read_ends(int64_t **ends, size_t *count, const sf_edge_list *list, hid_t group, const char *name,
                     const char *path, sf_error *error)
{
    void *values = NULL;
    int status = sf_hdf_read(group, name, path, H5T_NATIVE_INT64, sizeof **ends, &values, count, error);
    *ends = values;
    for (size_t row = 0; status == SF_OK && row < *count; row++)
        if ((*ends)[row] < 0 || (*ends)[row] >= list->vertex_count)
            status = sf_fail(error, SF_DATA, path,
                             "/edges/%s, row %zu: found %" PRId64 ", expected one of the %u vertices, from 0",
                             name, row, (*ends)[row], list->vertex_count);
    return status;
}

static int add_edges(sf_edge_list *list, hid_t group, const char *path, sf_error *error)
{
    int64_t *from = NULL, *to = NULL;
    size_t count = 0, to_count = 0;
    int status = read_ends(&from, &count, list, group, "from", path, error);
    if (status == SF_OK) status = read_ends(&to, &to_count, list, group, "to", path, error);
    if (status == SF_OK && count != to_count)
        status = sf_fail(error, SF_DATA, path, "/edges/from has %zu rows and /edges/to %zu", count, to_count);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        status = sf_edge_list_add(list, (uint32_t)from[i], (uint32_t)to[i], error);
    sf_free(from);
    sf_free(to);
    return status;
}

static int read_edges(sf_edge_list *list, hid_t file, const char *path, sf_error *error)
{
    if (!sf_hdf_is_group(file, "edges"))
        return sf_fail(error, SF_DATA, path, "the graph has no group /edges");
    hid_t group = sf_hdf_open(file, "edges");
    int status = add_edges(list, group, path, error);
    if (status == SF_OK) status = read_columns(&list->edge_columns, group, list->edge_count, path, error);
    sf_hdf_close(group);
    return status;
}

int sf_graph_hdf5_read(sf_edge_list *list, hid_t file, const char *path, sf_error *error)
{
    uint64_t layout = 0, directed = 0;
    int status = read_number(file, "layout", LAYOUT, &layout, path, error);
    if (status == SF_OK) status = read_number(file, "directed", 1, &directed, path, error);
    list->directed = directed != 0;
    if (status == SF_OK) status = read_vertices(list, file, path, error);
    if (status == SF_OK) status = read_edges(list, file, path, error);
    return status;
}

/* ---- through the reading program ---- */

static void put_columns(sf_parcel_writer *parcel, const sf_columns *columns)
{
    sf_parcel_put_number(parcel, columns->count);
    for (size_t i = 0; i < columns->count; i++) {
        const sf_attribute *column = &columns->items[i];
        sf_parcel_put_text(parcel, column->name);
        sf_parcel_put_number(parcel, column->words.count);
        for (size_t w = 0; w < column->words.count; w++)
            sf_parcel_put_text(parcel, column->words.items[w]);
        sf_parcel_put(parcel, column->values, columns->rows, sizeof *column->values);
    }
}

int sf_graph_hdf5_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    sf_edge_list list = {0};
    int status = sf_graph_hdf5_read(&list, input->file, input->path, error);
    if (status == SF_OK) {
        sf_parcel_put_number(parcel, list.directed);
        sf_parcel_put_number(parcel, list.vertex_count);
        sf_parcel_put_number(parcel, list.names != NULL);
        for (uint32_t v = 0; list.names != NULL && v < list.vertex_count; v++)
            sf_parcel_put_text(parcel, list.names[v]);
        sf_parcel_put(parcel, list.edges, list.edge_count, sizeof *list.edges);
        put_columns(parcel, &list.vertex_columns);
        put_columns(parcel, &list.edge_columns);
    }
    sf_edge_list_free(&list);
    return status;
}

static int read_file(sf_edge_list *list, const char *path, sf_error *error)
{
    sf_parcel parcel;
    struct stat about;
    int status = sf_apart_read(&parcel, "graph", path, NULL, list->progress, error);
    if (status != SF_OK) return status;
    status = sf_graph_hdf5_take(list, &parcel, path, error);
    sf_parcel_close(&parcel);
    if (status == SF_OK && stat(path, &about) == 0) /* a number that no field of the parcel can confirm */
        status = sf_graph_check_vertices(list->vertex_count, (uint64_t)about.st_size, path, error);
    return status;
}

const sf_graph_format sf_graph_hdf5 = {
    .name = "synfire HDF5", .endings = ".h5", .is_file = is_graph, .read = read_file, .write = write_file};
