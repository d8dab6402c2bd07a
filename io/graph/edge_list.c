/* SPDX-License-Identifier: Apache-2.0 */
/* Edge lists (.el): a line `from to` or `from to weight` for every directed edge, `#` or `%` for comments.
 * Ids are vertices counted from 0; a comment `# Nodes: N ...` says that there are vertices up to N - 1, edges
 * or not, and `# name 0 A` names vertex 0 (io/graph/vertex_names.h). Where an id is greater than a file of
 * this length can have vertices, as those of segmented neurons are, ids are names: the vertices are the ids
 * that occur, in ascending order. With commas between them they are pairs, which may be a recording, too. */
#include "io/graph/file.h"
#include "io/graph/vertex_names.h"

#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct reader {
    sf_edge_list *list;
    sf_scan scan;
    size_t file_bytes;
    sf_vertex_names names;
    bool wide;     /* an id is greater than that of any vertex of such a file */
    uint64_t *ids; /* ids of the vertices, ascending; NULL: an id is its vertex */
    size_t id_count, id_capacity;
} reader;

/* A comment or, for pairs, a heading. */
static bool is_comment(const sf_scan *scan)
{
    static const char *const headings[] = {"source", "from", "src", "pre"};
    bool heads = false;
    for (size_t i = 0; scan->commas && i < sizeof headings / sizeof headings[0]; i++)
        heads = heads || strcasecmp(scan->word, headings[i]) == 0;
    return heads || scan->word[0] == '#' || scan->word[0] == '%';
}

/* Two numbers on the first line that is no comment. */
static bool detect(const char *start, size_t size)
{
    sf_scan scan = sf_scan_start("", start, size);
    while (sf_scan_line(&scan)) {
        sf_scan ahead = scan;
        if (!sf_scan_word(&ahead) || is_comment(&ahead)) continue;
        uint64_t ignored;
        return sf_scan_uint(&scan, "", 0, UINT64_MAX, &ignored, NULL) == SF_OK &&
               sf_scan_uint(&scan, "", 0, UINT64_MAX, &ignored, NULL) == SF_OK;
    }
    return false;
}

/* The scan is positioned after the comment sign. */
static int read_comment(reader *r, sf_scan comment, sf_error *error)
{
    uint64_t nodes;
    sf_scan ahead = comment;
    if (!sf_scan_word(&ahead) || strcmp(ahead.word, "Nodes:") != 0 ||
        sf_scan_uint(&ahead, "", 0, UINT64_MAX, &nodes, NULL) != SF_OK || nodes <= r->list->vertex_count)
        return sf_vertex_names_read(&r->names, comment, 0, error);
    int status = sf_scan_check_vertices(&r->scan, nodes, r->file_bytes, error);
    if (status == SF_OK) r->list->vertex_count = (uint32_t)nodes;
    return status;
}

/* Advances to the next line that is no comment; *found is false at the end. */
static int next_edge(reader *r, bool *found, sf_error *error)
{
    int status = SF_OK;
    *found = false;
    while (status == SF_OK && sf_scan_line(&r->scan)) {
        sf_scan ahead = r->scan;
        if (!sf_scan_word(&ahead)) continue;
        *found = !is_comment(&ahead);
        if (*found) return SF_OK;
        if (!r->wide) status = read_comment(r, ahead, error);
    }
    return status;
}

static int read_ids(reader *r, uint64_t ids[2], sf_error *error)
{
    int status = sf_scan_uint(&r->scan, "the vertex an edge leaves", 0, UINT64_MAX, &ids[0], error);
    return status == SF_OK
               ? sf_scan_uint(&r->scan, "the vertex an edge enters", 0, UINT64_MAX, &ids[1], error)
               : status;
}

/* ---- ids as names ---- */

static int compare_ids(const void *first, const void *second)
{
    uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;
    return (a > b) - (a < b);
}

static int collect_ids(reader *r, sf_error *error)
{
    bool found;
    int status;
    while ((status = next_edge(r, &found, error)) == SF_OK && found) {
        void *ids = r->ids;
        if (sf_reserve(&ids, &r->id_capacity, r->id_count + 2, sizeof *r->ids) != 0)
            return sf_fail_memory(error);
        r->ids = ids;
        status = read_ids(r, r->ids + r->id_count, error);
        if (status != SF_OK) return status;
        r->id_count += 2;
    }
    return status;
}

static int name_vertices(reader *r, sf_error *error)
{
    size_t count = 0;
    qsort(r->ids, r->id_count, sizeof *r->ids, compare_ids);
    for (size_t i = 0; i < r->id_count; i++)
        if (count == 0 || r->ids[count - 1] != r->ids[i]) r->ids[count++] = r->ids[i];
    r->id_count = count;
    int status = SF_OK;
    for (size_t v = 0; v < count && status == SF_OK; v++) {
        char name[24];
        snprintf(name, sizeof name, "%" PRIu64, r->ids[v]);
        status = sf_edge_list_add_named(r->list, name, error);
    }
    return status;
}

static uint32_t vertex_of(const reader *r, uint64_t id)
{
    if (r->ids == NULL) return (uint32_t)id;
    const uint64_t *found = bsearch(&id, r->ids, r->id_count, sizeof id, compare_ids);
    return (uint32_t)(found - r->ids);
}

/* ---- edges ---- */

static int read_weight(sf_edge_list *list, sf_scan *scan, sf_error *error)
{
    sf_scan ahead = *scan;
    bool given = sf_scan_word(&ahead), weighted = list->edge_columns.count > 0;
    if (!given && !weighted) return SF_OK;
    if (!given) return sf_scan_fail(scan, error, "the edge has no weight, but those before it have one");
    if (!weighted && list->edge_count > 1)
        return sf_scan_fail(scan, error, "the edge has a weight, but those before it have none");
    size_t index = 0;
    if (!weighted && (sf_columns_add(&list->edge_columns, "weight", &index, error) != SF_OK ||
                      sf_columns_grow(&list->edge_columns, list->edge_count, error) != SF_OK))
        return SF_NO_MEMORY;
    return sf_scan_real(scan, "the weight of the edge",
                        &list->edge_columns.items[0].values[list->edge_count - 1], error);
}

static int read_edge(reader *r, const uint64_t ids[2], sf_error *error)
{
    sf_edge_list *list = r->list;
    uint32_t from = vertex_of(r, ids[0]), to = vertex_of(r, ids[1]), greatest = from > to ? from : to;
    int status = sf_edge_list_add(list, from, to, error);
    if (status == SF_OK) status = read_weight(list, &r->scan, error);
    if (status == SF_OK) status = sf_scan_end(&r->scan, "the edge", error);
    if (greatest >= list->vertex_count) list->vertex_count = greatest + 1;
    return status;
}

/* Reads all edges, or those before the first one with an id too large for a vertex number. */
static int read_edges(reader *r, sf_error *error)
{
    uint64_t most = sf_graph_most_vertices(r->file_bytes);
    bool found;
    int status;
    while ((status = next_edge(r, &found, error)) == SF_OK && found) {
        uint64_t ids[2];
        status = read_ids(r, ids, error);
        r->wide = r->wide || (status == SF_OK && (ids[0] >= most || ids[1] >= most));
        if (r->wide && r->ids == NULL) return SF_OK;
        if (status == SF_OK) status = read_edge(r, ids, error);
        if (status != SF_OK) return status;
    }
    return status;
}

/* Reads the text again from the start, with ids as names. */
static int read_wide(reader *r, sf_scan start, sf_error *error)
{
    sf_edge_list_free(r->list);
    r->list->directed = true;
    r->scan = start;
    int status = collect_ids(r, error);
    if (status == SF_OK) status = name_vertices(r, error);
    r->scan = start;
    if (status == SF_OK) status = read_edges(r, error);
    sf_free(r->ids);
    return status;
}

static int parse_from(sf_edge_list *list, sf_scan start, size_t size, sf_error *error)
{
    reader r = {.list = list, .scan = start, .file_bytes = size};
    list->directed = true;
    int status = read_edges(&r, error);
    if (status == SF_OK && r.wide) status = read_wide(&r, start, error);
    sf_vertex_names_give(&r.names, list);
    if (status == SF_OK && list->vertex_count == 0)
        status = sf_scan_fail(&r.scan, error, "there is no edge, expected lines of two vertices");
    return status;
}

static int parse(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error)
{
    return parse_from(list, sf_scan_start(path, text, size), size, error);
}

/* ---- with commas ---- */

/* Whether each complete line that is no comment has two ids and at most a weight. */
static bool detect_pairs(const char *start, size_t size)
{
    sf_scan scan = sf_scan_start("", start, size);
    size_t pairs = 0;
    scan.commas = true;
    while (sf_scan_line(&scan) && (scan.line_end < scan.end || pairs == 0)) {
        uint64_t ignored;
        double weight;
        sf_scan ahead = scan;
        if (!sf_scan_word(&ahead) || is_comment(&ahead)) continue;
        bool has_comma = memchr(scan.at, ',', (size_t)(scan.line_end - scan.at)) != NULL;
        if (!has_comma || sf_scan_uint(&scan, "", 0, UINT64_MAX, &ignored, NULL) != SF_OK ||
            sf_scan_uint(&scan, "", 0, UINT64_MAX, &ignored, NULL) != SF_OK)
            return false;
        ahead = scan;
        if (sf_scan_word(&ahead) && (sf_scan_real(&scan, "", &weight, NULL) != SF_OK || sf_scan_word(&scan)))
            return false;
        pairs++;
    }
    return pairs > 0;
}

static int parse_pairs(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error)
{
    sf_scan start = sf_scan_start(path, text, size);
    start.commas = true;
    return parse_from(list, start, size, error);
}

static int print(sf_text *out, const sf_csr *csr, sf_error *error)
{
    size_t index = sf_columns_find(&csr->edge_columns, "weight");
    sf_text_printf(out, "# Nodes: %u Edges: %" PRIu64 "\n", csr->vertex_count, sf_csr_edge_count(csr));
    sf_vertex_names_print(out, csr, '#', 0);
    for (uint32_t v = 0; v < csr->vertex_count; v++) {
        for (uint64_t e = csr->offsets[v]; e < csr->offsets[v + 1]; e++) {
            sf_text_printf(out, "%u %u", v, csr->targets[e]);
            if (index != SF_NO_COLUMN)
                sf_text_printf(out, " %.17g", csr->edge_columns.items[index].values[e - csr->offsets[0]]);
            sf_text_append(out, "\n", 1);
        }
    }
    return out->failed ? sf_fail_memory(error) : SF_OK;
}

const sf_graph_format sf_graph_edge_list = {
    .name = "edge list", .endings = ".el .edges", .detect = detect, .parse = parse, .print = print};

const sf_graph_format sf_graph_pairs = {
    .name = "edge list with commas", .endings = "", .detect = detect_pairs, .parse = parse_pairs};
