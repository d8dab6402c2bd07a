/* SPDX-License-Identifier: Apache-2.0 */
#include "io/graph/vertex_names.h"

#include "io/graph/file.h"

#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <string.h>

int sf_vertex_names_read(sf_vertex_names *names, sf_scan comment, uint64_t first, sf_error *error)
{
    uint64_t number;
    if (names->broken || !sf_scan_word(&comment) || strcmp(comment.word, "name") != 0 ||
        sf_scan_uint(&comment, "", 0, UINT64_MAX, &number, NULL) != SF_OK)
        return SF_OK;
    names->broken = number != first + names->named.vertex_count;
    if (names->broken || comment.at == comment.line_end) return SF_OK;
    size_t length = (size_t)(comment.line_end - comment.at - 1);
    char *name = sf_alloc(length + 1, 1);
    if (name == NULL) return sf_fail_memory(error);
    memcpy(name, comment.at + 1, length);
    int status = sf_edge_list_add_named(&names->named, name, error);
    sf_free(name);
    return status;
}

void sf_vertex_names_give(sf_vertex_names *names, sf_edge_list *list)
{
    if (!names->broken && names->named.vertex_count == list->vertex_count && list->names == NULL) {
        list->names = names->named.names;
        list->name_capacity = names->named.name_capacity;
        names->named = (sf_edge_list){0};
    }
    sf_edge_list_free(&names->named);
}

void sf_vertex_names_print(sf_text *out, const sf_csr *csr, char sign, uint64_t first)
{
    if (csr->provenance != NULL) sf_text_printf(out, "%c provenance %s\n", sign, csr->provenance);
    for (uint32_t v = 0; csr->names != NULL && v < csr->vertex_count; v++) {
        sf_text_printf(out, "%c name %" PRIu64 " ", sign, first + v);
        sf_graph_print_line(out, csr->names[v]);
        sf_text_append(out, "\n", 1);
    }
}
