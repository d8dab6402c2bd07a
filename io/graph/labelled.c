/* SPDX-License-Identifier: Apache-2.0 */
/* Labelled graphs of the subgraph matching literature (.graph): `t VERTICES EDGES`, then `v ID LABEL
 * [DEGREE]` for every vertex in order, then `e FROM TO [LABEL]`. Undirected; the degree is not needed and not
 * read. */
#include "io/graph/file.h"
#include "io/graph/vertex_names.h"

#include "core/error.h"

#include <inttypes.h>
#include <string.h>

typedef struct reader {
    sf_edge_list *list;
    sf_scan scan;
    sf_vertex_names names;
    bool started;
    uint64_t vertices, edges; /**< as the first line gives them */
    uint32_t seen;            /**< vertices so far */
} reader;

static bool detect(const char *start, size_t size)
{
    sf_scan scan = sf_scan_start("", start, size);
    uint64_t ignored;
    return sf_scan_line(&scan) && sf_scan_word(&scan) && strcmp(scan.word, "t") == 0 &&
           sf_scan_uint(&scan, "", 0, SF_NO_VERTEX - 1, &ignored, NULL) == SF_OK;
}

static int read_head(reader *r, sf_error *error)
{
    size_t index;
    if (r->started)
        return sf_scan_fail(&r->scan, error, "found a second line 't', expected one graph in the file");
    if (sf_scan_uint(&r->scan, "the number of vertices", 0, SF_NO_VERTEX - 1, &r->vertices, error) != SF_OK ||
        sf_scan_uint(&r->scan, "the number of edges", 0, UINT64_MAX, &r->edges, error) != SF_OK ||
        sf_scan_end(&r->scan, "the number of edges", error) != SF_OK)
        return SF_DATA;
    r->started = true;
    return sf_columns_add(&r->list->vertex_columns, SF_LABEL_COLUMN, &index, error);
}

static int read_vertex(reader *r, sf_error *error)
{
    uint64_t id, label;
    if (r->seen == r->vertices)
        return sf_scan_fail(&r->scan, error, "found one more vertex than the %" PRIu64 " of the first line",
                            r->vertices);
    if (sf_scan_uint(&r->scan, "the id of the vertex", r->seen, r->seen, &id, error) != SF_OK ||
        sf_scan_uint(&r->scan, "the label of the vertex", 0, UINT32_MAX - 1, &label, error) != SF_OK)
        return SF_DATA;
    if (sf_scan_word(&r->scan) && sf_scan_end(&r->scan, "the degree", error) != SF_OK) return SF_DATA;
    if (sf_edge_list_set_vertices(r->list, ++r->seen, error) != SF_OK) return SF_NO_MEMORY;
    r->list->vertex_columns.items[0].values[id] = (double)label;
    return SF_OK;
}

/* Either every edge has a label or none has. */
static int read_edge_label(reader *r, sf_error *error)
{
    sf_edge_list *list = r->list;
    sf_scan ahead = r->scan;
    bool given = sf_scan_word(&ahead), labelled = list->edge_columns.count > 0;
    if (!given && !labelled) return SF_OK;
    if (!given) return sf_scan_fail(&r->scan, error, "the edge has no label, but those before it have one");
    if (!labelled && list->edge_count > 1)
        return sf_scan_fail(&r->scan, error, "the edge has a label, but those before it have none");
    size_t index = 0;
    if (!labelled && (sf_columns_add(&list->edge_columns, SF_LABEL_COLUMN, &index, error) != SF_OK ||
                      sf_columns_grow(&list->edge_columns, list->edge_count, error) != SF_OK))
        return SF_NO_MEMORY;
    uint64_t label;
    if (sf_scan_uint(&r->scan, "the label of the edge", 0, UINT32_MAX - 1, &label, error) != SF_OK)
        return SF_DATA;
    list->edge_columns.items[0].values[list->edge_count - 1] = (double)label;
    return sf_scan_end(&r->scan, "the edge", error);
}

static int read_edge(reader *r, sf_error *error)
{
    uint64_t from, to;
    if (r->seen < r->vertices)
        return sf_scan_fail(&r->scan, error,
                            "found an edge after %u vertices, expected %" PRIu64 " vertices first", r->seen,
                            r->vertices);
    if (r->list->edge_count == r->edges)
        return sf_scan_fail(&r->scan, error, "found one more edge than the %" PRIu64 " of the first line",
                            r->edges);
    if (r->vertices == 0) return sf_scan_fail(&r->scan, error, "found an edge in a graph without vertices");
    if (sf_scan_uint(&r->scan, "the first end of the edge", 0, r->vertices - 1, &from, error) != SF_OK ||
        sf_scan_uint(&r->scan, "the second end of the edge", 0, r->vertices - 1, &to, error) != SF_OK)
        return SF_DATA;
    int status = sf_edge_list_add(r->list, (uint32_t)from, (uint32_t)to, error);
    return status == SF_OK ? read_edge_label(r, error) : status;
}

static int read_line(reader *r, sf_error *error)
{
    if (!sf_scan_word(&r->scan)) return SF_OK;
    if (r->scan.word[0] == '#') return sf_vertex_names_read(&r->names, r->scan, 0, error);
    char kind = r->scan.word[1] == '\0' ? r->scan.word[0] : '?';
    if (kind == 't') return read_head(r, error);
    if (kind != 'v' && kind != 'e')
        return sf_scan_fail(&r->scan, error, "the line begins with '%s', expected t, v or e", r->scan.word);
    if (!r->started)
        return sf_scan_fail(&r->scan, error, "found '%c' before the line 't VERTICES EDGES'", kind);
    return kind == 'v' ? read_vertex(r, error) : read_edge(r, error);
}

static int parse(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error)
{
    reader r = {.list = list, .scan = sf_scan_start(path, text, size)};
    int status = SF_OK;
    while (status == SF_OK && sf_scan_line(&r.scan))
        status = read_line(&r, error);
    sf_vertex_names_give(&r.names, list);
    if (status != SF_OK) return status;
    if (!r.started)
        return sf_scan_fail(&r.scan, error, "the file is empty, expected a line 't VERTICES EDGES'");
    if (r.seen != r.vertices || list->edge_count != r.edges)
        return sf_scan_fail(&r.scan, error,
                            "the file ends after %u vertices and %zu edges, expected %" PRIu64
                            " and %" PRIu64,
                            r.seen, list->edge_count, r.vertices, r.edges);
    return SF_OK;
}

static int print(sf_text *out, const sf_csr *csr, sf_error *error)
{
    if (csr->directed)
        return sf_fail(error, SF_USAGE, NULL, "a .graph file is undirected and this graph is directed");
    uint64_t edges = 0;
    for (uint32_t v = 0; v < csr->vertex_count; v++)
        for (uint64_t e = csr->offsets[v]; e < csr->offsets[v + 1]; e++)
            edges += sf_csr_is_first(csr, v, e);
    sf_text_printf(out, "t %u %" PRIu64 "\n", csr->vertex_count, edges);
    sf_vertex_names_print(out, csr, '#', 0);
    for (uint32_t v = 0; v < csr->vertex_count; v++)
        sf_text_printf(out, "v %u %u %" PRIu64 "\n", v,
                       csr->vertex_labels != NULL ? csr->vertex_labels[v] : 0, sf_csr_degree(csr, v));
    for (uint32_t v = 0; v < csr->vertex_count; v++) {
        for (uint64_t e = csr->offsets[v]; e < csr->offsets[v + 1]; e++) {
            if (!sf_csr_is_first(csr, v, e)) continue;
            sf_text_printf(out, "e %u %u", v, csr->targets[e]);
            if (csr->edge_labels != NULL) sf_text_printf(out, " %u", csr->edge_labels[e - csr->offsets[0]]);
            sf_text_append(out, "\n", 1);
        }
    }
    return out->failed ? sf_fail_memory(error) : SF_OK;
}

const sf_graph_format sf_graph_labelled = {
    .name = "labelled graph", .endings = ".graph", .detect = detect, .parse = parse, .print = print};
