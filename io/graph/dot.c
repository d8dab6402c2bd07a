/* SPDX-License-Identifier: Apache-2.0 */
/* Graphviz DOT, writing only: names as labels, columns of edges as attributes. */
#include "io/graph/file.h"

#include "core/error.h"

#include <inttypes.h>
#include <math.h>

static void print_quoted(sf_text *out, const char *value)
{
    sf_text_append(out, "\"", 1);
    for (const char *s = value; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\') sf_text_append(out, "\\", 1);
        sf_text_append(out, (unsigned char)*s < 0x20 ? " " : s, 1);
    }
    sf_text_append(out, "\"", 1);
}

static void print_attributes(sf_text *out, const sf_columns *columns, uint64_t row)
{
    const char *between = " [";
    for (size_t i = 0; i < columns->count; i++) {
        const sf_attribute *column = &columns->items[i];
        if (isnan(column->values[row])) continue;
        sf_text_printf(out, "%s", between);
        print_quoted(out, column->name);
        sf_text_append(out, "=", 1);
        if (sf_attribute_is_text(column))
            print_quoted(out, column->words.items[(size_t)column->values[row]]);
        else
            sf_text_printf(out, "%.17g", column->values[row]);
        between = ", ";
    }
    if (between[0] == ',') sf_text_append(out, "]", 1);
}

static int print(sf_text *out, const sf_csr *csr, sf_error *error)
{
    const char *arrow = csr->directed ? "->" : "--";
    sf_text_printf(out, "%s synfire {\n", csr->directed ? "digraph" : "graph");
    if (csr->provenance != NULL) {
        sf_text_printf(out, "  graph [provenance=");
        print_quoted(out, csr->provenance);
        sf_text_printf(out, "];\n");
    }
    for (uint32_t v = 0; v < csr->vertex_count; v++) {
        sf_text_printf(out, "  %u", v);
        if (csr->names != NULL) {
            sf_text_printf(out, " [label=");
            print_quoted(out, csr->names[v]);
            sf_text_append(out, "]", 1);
        }
        sf_text_printf(out, ";\n");
    }
    for (uint32_t v = 0; v < csr->vertex_count; v++) {
        for (uint64_t e = csr->offsets[v]; e < csr->offsets[v + 1]; e++) {
            if (!sf_csr_is_first(csr, v, e)) continue;
            sf_text_printf(out, "  %u %s %u", v, arrow, csr->targets[e]);
            print_attributes(out, &csr->edge_columns, e - csr->offsets[0]);
            sf_text_printf(out, ";\n");
        }
    }
    sf_text_printf(out, "}\n");
    return out->failed ? sf_fail_memory(error) : SF_OK;
}

const sf_graph_format sf_graph_dot = {.name = "Graphviz DOT", .endings = ".dot", .print = print};
