/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix Market coordinate files (.mtx): an entry (i, j) is an edge from i to j, whatever its value; ids are
 * 1-based in the file and 0-based everywhere else. Dense ("array") files are refused. A value becomes the
 * column "weight" (of a complex one, the modulus). Names of vertices stand in comments:
 * io/graph/vertex_names.h.
 */
#include "io/graph/file.h"
#include "io/graph/vertex_names.h"

#include "core/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define WEIGHT "weight"

typedef enum field { PATTERN, REAL, INTEGER, COMPLEX } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN } symmetry;

static const char *const field_names[] = {"pattern", "real", "integer", "complex", NULL};
static const char *const symmetry_names[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};

typedef struct header {
    field field;
    symmetry symmetry;
    uint64_t size, entries;
} header;

static bool detect(const char *start, size_t size)
{
    static const char banner[] = "%%MatrixMarket";
    return size >= sizeof banner - 1 && strncasecmp(start, banner, sizeof banner - 1) == 0;
}

static int read_choice(sf_scan *scan, const char *const *choices, const char *expected, int *choice,
                       sf_error *error)
{
    bool present = sf_scan_word(scan);
    for (*choice = 0; present && choices[*choice] != NULL; ++*choice)
        if (strcasecmp(scan->word, choices[*choice]) == 0) return SF_OK;
    if (!present) return sf_scan_fail(scan, error, "the header ends early, expected %s", expected);
    return sf_scan_fail(scan, error, "the header says '%s', expected %s", scan->word, expected);
}

static int read_banner(sf_scan *scan, header *head, sf_error *error)
{
    static const char *const banners[] = {"%%MatrixMarket", NULL}, *const objects[] = {"matrix", NULL},
                             *const layouts[] = {"coordinate", NULL};
    int ignored, field_choice = 0, symmetry_choice = 0;
    if (!sf_scan_line(scan))
        return sf_scan_fail(scan, error,
                            "the file is empty, expected a line beginning with %%%%MatrixMarket");
    if (read_choice(scan, banners, "%%MatrixMarket", &ignored, error) != SF_OK ||
        read_choice(scan, objects, "'matrix'", &ignored, error) != SF_OK ||
        read_choice(scan, layouts, "'coordinate' (a dense 'array' is no graph)", &ignored, error) != SF_OK ||
        read_choice(scan, field_names, "pattern, real, integer or complex", &field_choice, error) != SF_OK ||
        read_choice(scan, symmetry_names, "general, symmetric, skew-symmetric or hermitian", &symmetry_choice,
                    error) != SF_OK)
        return SF_DATA;
    head->field = (field)field_choice;
    head->symmetry = (symmetry)symmetry_choice;
    if (head->symmetry == HERMITIAN && head->field != COMPLEX)
        return sf_scan_fail(scan, error,
                            "the header says '%s hermitian', but only complex matrices are hermitian",
                            field_names[head->field]);
    if (head->symmetry == SKEW_SYMMETRIC && head->field == PATTERN)
        return sf_scan_fail(scan, error, "the header says 'pattern skew-symmetric', but signs need values");
    return sf_scan_end(scan, "the header", error);
}

/* The size line follows comments and blank lines. */
static int read_size(sf_scan *scan, header *head, size_t file_bytes, sf_vertex_names *names, sf_error *error)
{
    bool found = false;
    while (!found && sf_scan_line(scan)) {
        sf_scan ahead = *scan;
        found = sf_scan_word(&ahead) && ahead.word[0] != '%';
        if (strcmp(ahead.word, "%") == 0 && sf_vertex_names_read(names, ahead, 1, error) != SF_OK)
            return SF_NO_MEMORY;
    }
    if (!found)
        return sf_scan_fail(scan, error, "the file ends before the line of rows, columns and entries");
    uint64_t columns;
    if (sf_scan_uint(scan, "the number of rows", 0, SF_NO_VERTEX - 1, &head->size, error) != SF_OK ||
        sf_scan_uint(scan, "the number of columns", 0, SF_NO_VERTEX - 1, &columns, error) != SF_OK ||
        sf_scan_uint(scan, "the number of entries", 0, UINT64_MAX, &head->entries, error) != SF_OK ||
        sf_scan_end(scan, "the number of entries", error) != SF_OK)
        return SF_DATA;
    if (head->size != columns)
        return sf_scan_fail(scan, error,
                            "the matrix has %" PRIu64 " rows and %" PRIu64
                            " columns, expected the square matrix of a graph",
                            head->size, columns);
    return sf_scan_check_vertices(scan, head->size, file_bytes, error);
}

static int read_value(sf_scan *scan, field kind, double *weight, sf_error *error)
{
    double imaginary = 0;
    *weight = NAN;
    if (kind == PATTERN) return SF_OK;
    if (sf_scan_real(scan, "the value of the entry", weight, error) != SF_OK ||
        (kind == COMPLEX &&
         sf_scan_real(scan, "the imaginary part of the entry", &imaginary, error) != SF_OK))
        return SF_DATA;
    if (kind == INTEGER && *weight != floor(*weight))
        return sf_scan_fail(scan, error, "found '%s', expected an integer as the header says", scan->word);
    if (kind == COMPLEX) *weight = hypot(*weight, imaginary);
    return SF_OK;
}

static int add_edge(sf_edge_list *list, uint32_t from, uint32_t to, double weight, sf_error *error)
{
    int status = sf_edge_list_add(list, from, to, error);
    if (status != SF_OK) return status;
    if (list->edge_columns.count > 0) list->edge_columns.items[0].values[list->edge_count - 1] = weight;
    return SF_OK;
}

static int read_entry(sf_edge_list *list, sf_scan *scan, const header *head, sf_error *error)
{
    uint64_t row, column;
    double weight;
    if (sf_scan_uint(scan, "the row of the entry", 1, head->size, &row, error) != SF_OK ||
        sf_scan_uint(scan, "the column of the entry", 1, head->size, &column, error) != SF_OK ||
        read_value(scan, head->field, &weight, error) != SF_OK ||
        sf_scan_end(scan, "the entry", error) != SF_OK)
        return SF_DATA;
    if (head->symmetry == SKEW_SYMMETRIC && row == column)
        return sf_scan_fail(scan, error,
                            "entry (%" PRIu64 ", %" PRIu64 ") is on the diagonal, which a "
                            "skew-symmetric file leaves out",
                            row, column);
    uint32_t from = (uint32_t)(row - 1), to = (uint32_t)(column - 1);
    int status = add_edge(list, from, to, weight, error);
    if (status == SF_OK && head->symmetry == SKEW_SYMMETRIC) /* the mirrored value has the other sign */
        status = add_edge(list, to, from, -weight, error);
    return status;
}

static int read_entries(sf_edge_list *list, sf_scan *scan, const header *head, sf_error *error)
{
    uint64_t found = 0;
    while (sf_scan_line(scan)) {
        sf_scan ahead = *scan;
        if (!sf_scan_word(&ahead) || ahead.word[0] == '%') /* as some programs put comments here, too */
            continue;
        if (found == head->entries)
            return sf_scan_fail(scan, error,
                                "found '%s' after the %" PRIu64 " entries that the size line gives",
                                ahead.word, head->entries);
        int status = read_entry(list, scan, head, error);
        if (status != SF_OK) return status;
        found++;
    }
    if (found < head->entries)
        return sf_scan_fail(scan, error, "the file ends after %" PRIu64 " entries, expected %" PRIu64, found,
                            head->entries);
    return SF_OK;
}

static int parse(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error)
{
    sf_scan scan = sf_scan_start(path, text, size);
    header head = {0};
    sf_vertex_names names = {0};
    int status = read_banner(&scan, &head, error);
    if (status == SF_OK) status = read_size(&scan, &head, size, &names, error);
    if (status == SF_OK) list->vertex_count = (uint32_t)head.size;
    sf_vertex_names_give(&names, list);
    if (status != SF_OK) return status;
    size_t weight;
    if (head.field != PATTERN && sf_columns_add(&list->edge_columns, WEIGHT, &weight, error) != SF_OK)
        return SF_NO_MEMORY;
    list->directed = head.symmetry == GENERAL || head.symmetry == SKEW_SYMMETRIC;
    return read_entries(list, &scan, &head, error);
}

/* An undirected graph is written as the lower triangle of a symmetric matrix. */
static bool is_written(const sf_csr *csr, uint32_t from, uint64_t edge)
{
    return csr->directed || csr->targets[edge] <= from;
}

static uint64_t end_of_parallel(const sf_csr *csr, uint32_t from, uint64_t edge)
{
    uint64_t next = edge + 1;
    while (next < csr->offsets[from + 1] && csr->targets[next] == csr->targets[edge])
        next++;
    return next;
}

static void print_head(sf_text *out, const sf_csr *csr, bool weighted)
{
    uint64_t entries = 0;
    for (uint32_t v = 0; v < csr->vertex_count; v++)
        for (uint64_t e = csr->offsets[v]; e < csr->offsets[v + 1]; e = end_of_parallel(csr, v, e))
            entries += is_written(csr, v, e);
    sf_text_printf(out, "%%%%MatrixMarket matrix coordinate %s %s\n", weighted ? "real" : "pattern",
                   csr->directed ? "general" : "symmetric");
    sf_vertex_names_print(out, csr, '%', 1);
    sf_text_printf(out, "%u %u %" PRIu64 "\n", csr->vertex_count, csr->vertex_count, entries);
}

/* A matrix has one entry per pair, so weights of parallel edges are added. */
static int print(sf_text *out, const sf_csr *csr, sf_error *error)
{
    size_t index = sf_columns_find(&csr->edge_columns, WEIGHT);
    const double *weights = index != SF_NO_COLUMN ? csr->edge_columns.items[index].values : NULL;
    print_head(out, csr, weights != NULL);
    for (uint32_t v = 0; v < csr->vertex_count; v++) {
        for (uint64_t e = csr->offsets[v], next; e < csr->offsets[v + 1]; e = next) {
            next = end_of_parallel(csr, v, e);
            if (!is_written(csr, v, e)) continue;
            double sum = 0;
            for (uint64_t i = e; weights != NULL && i < next; i++)
                sum += weights[i - csr->offsets[0]];
            if (!isfinite(sum))
                return sf_fail(error, SF_DATA, NULL,
                               "the edge from %u to %u has no finite weight, and Matrix Market needs one", v,
                               csr->targets[e]);
            sf_text_printf(out, "%u %u", v + 1, csr->targets[e] + 1);
            if (weights != NULL) sf_text_printf(out, " %.17g", sum);
            sf_text_append(out, "\n", 1);
        }
    }
    return out->failed ? sf_fail_memory(error) : SF_OK;
}

const sf_graph_format sf_graph_matrix_market = {
    .name = "Matrix Market", .endings = ".mtx", .detect = detect, .parse = parse, .print = print};
