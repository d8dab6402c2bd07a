/* SPDX-License-Identifier: Apache-2.0 */
/* Edge lists (.el): a line `from to` or `from to weight` for every directed edge, ids from 0, `#` or `%` for
 * comments. A comment `# Nodes: N ...` says that there are vertices up to N - 1, edges or not. */
#include "graph/file.h"
#include "graph/scan.h"

#include "core/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_comment(const sf_scan *scan)
{
    return scan->word[0] == '#' || scan->word[0] == '%';
}

/* Two numbers on the first line that is no comment. */
static bool detect(const char *start, size_t size)
{
    sf_scan scan = sf_scan_start("", start, size);
    while (sf_scan_line(&scan)) {
        sf_scan ahead = scan;
        if (!sf_scan_word(&ahead) || is_comment(&ahead))
            continue;
        uint64_t ignored;
        return sf_scan_uint(&scan, "", 0, SF_NO_VERTEX - 1, &ignored, NULL) == SF_OK &&
               sf_scan_uint(&scan, "", 0, SF_NO_VERTEX - 1, &ignored, NULL) == SF_OK;
    }
    return false;
}

static void read_comment(sf_edge_list *list, sf_scan *scan)
{
    uint64_t nodes;
    if (sf_scan_word(scan) && sf_scan_word(scan) && strcmp(scan->word, "Nodes:") == 0 &&
        sf_scan_uint(scan, "", 0, SF_NO_VERTEX - 1, &nodes, NULL) == SF_OK && nodes > list->vertex_count)
        list->vertex_count = (uint32_t)nodes;
}

static int read_weight(sf_edge_list *list, sf_scan *scan, sf_error *error)
{
    sf_scan ahead = *scan;
    bool given = sf_scan_word(&ahead), weighted = list->edge_columns.count > 0;
    if (!given && !weighted)
        return SF_OK;
    if (!given)
        return sf_scan_fail(scan, error, "the edge has no weight, but those before it have one");
    if (!weighted && list->edge_count > 1)
        return sf_scan_fail(scan, error, "the edge has a weight, but those before it have none");
    size_t index = 0;
    if (!weighted && (sf_columns_add(&list->edge_columns, "weight", &index, error) != SF_OK ||
                      sf_columns_grow(&list->edge_columns, list->edge_count, error) != SF_OK))
        return SF_NO_MEMORY;
    return sf_scan_real(scan, "the weight of the edge",
                        &list->edge_columns.items[0].values[list->edge_count - 1], error);
}

static int parse(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error)
{
    sf_scan scan = sf_scan_start(path, text, size);
    list->directed = true;
    while (sf_scan_line(&scan)) {
        sf_scan ahead = scan;
        if (!sf_scan_word(&ahead))
            continue;
        if (is_comment(&ahead)) {
            read_comment(list, &scan);
            continue;
        }
        uint64_t from, to;
        int status = sf_scan_uint(&scan, "the vertex an edge leaves", 0, SF_NO_VERTEX - 1, &from, error);
        if (status == SF_OK)
            status = sf_scan_uint(&scan, "the vertex an edge enters", 0, SF_NO_VERTEX - 1, &to, error);
        if (status == SF_OK)
            status = sf_edge_list_add(list, (uint32_t)from, (uint32_t)to, error);
        if (status == SF_OK)
            status = read_weight(list, &scan, error);
        if (status == SF_OK)
            status = sf_scan_end(&scan, "the edge", error);
        if (status != SF_OK)
            return status;
        uint64_t greatest = from > to ? from : to;
        if (greatest >= list->vertex_count)
            list->vertex_count = (uint32_t)greatest + 1;
    }
    if (list->vertex_count == 0)
        return sf_scan_fail(&scan, error, "there is no edge, expected lines of two vertices");
    return SF_OK;
}

static int print(sf_text *out, const sf_csr *csr, sf_error *error)
{
    size_t index = sf_columns_find(&csr->edge_columns, "weight");
    sf_text_printf(out, "# Nodes: %u Edges: %" PRIu64 "\n", csr->vertex_count, sf_csr_edge_count(csr));
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
