/* SPDX-License-Identifier: Apache-2.0 */
/* GraphML: writing. Columns become keys, names the key "name". */
#include "io/graph/graphml.h"

#include "core/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool detect(const char *start, size_t size)
{
    return memmem(start, size, "<graphml", 8) != NULL;
}

/* XML allows no control characters but white space, and only valid UTF-8: the rest becomes U+FFFD. */
static void print_escaped(sf_text *out, const char *value)
{
    for (const char *s = value; *s != '\0';) {
        size_t length = sf_utf8_length(s);
        const char *entity = *s == '&'   ? "&amp;"
                             : *s == '<' ? "&lt;"
                             : *s == '>' ? "&gt;"
                             : *s == '"' ? "&quot;"
                                         : NULL;
        bool is_control = (unsigned char)*s < 0x20 && *s != '\t' && *s != '\n' && *s != '\r';
        if (entity != NULL)
            sf_text_append(out, entity, strlen(entity));
        else if (length == 0 || is_control)
            sf_text_append(out, "\xef\xbf\xbd", 3);
        else
            sf_text_append(out, s, length);
        s += length > 0 ? length : 1;
    }
}

static void print_keys(sf_text *out, const sf_columns *columns, const char *kind)
{
    for (size_t i = 0; i < columns->count; i++) {
        sf_text_printf(out, "  <key id=\"%s%zu\" for=\"%s\" attr.name=\"", kind, i, kind);
        print_escaped(out, columns->items[i].name);
        sf_text_printf(out, "\" attr.type=\"%s\"/>\n",
                       sf_attribute_is_text(&columns->items[i]) ? "string" : "double");
    }
}

static void print_row(sf_text *out, const sf_columns *columns, const char *kind, uint64_t row)
{
    for (size_t i = 0; i < columns->count; i++) {
        const sf_attribute *column = &columns->items[i];
        double value = column->values[row];
        if (isnan(value)) continue;
        sf_text_printf(out, "<data key=\"%s%zu\">", kind, i);
        if (sf_attribute_is_text(column))
            print_escaped(out, column->words.items[(size_t)value]);
        else
            sf_text_printf(out, "%.17g", value);
        sf_text_printf(out, "</data>");
    }
}

static int print(sf_text *out, const sf_csr *csr, sf_error *error)
{
    sf_text_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    if (csr->names != NULL)
        sf_text_printf(out, "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n");
    if (csr->provenance != NULL)
        sf_text_printf(out, "  <key id=\"provenance\" for=\"graph\" attr.name=\"provenance\" "
                            "attr.type=\"string\"/>\n");
    print_keys(out, &csr->vertex_columns, "node");
    print_keys(out, &csr->edge_columns, "edge");
    sf_text_printf(out, "  <graph edgedefault=\"%s\">\n", csr->directed ? "directed" : "undirected");
    if (csr->provenance != NULL) {
        sf_text_printf(out, "    <data key=\"provenance\">");
        print_escaped(out, csr->provenance);
        sf_text_printf(out, "</data>\n");
    }
    for (uint32_t v = 0; v < csr->vertex_count; v++) {
        sf_text_printf(out, "    <node id=\"n%u\">", v);
        if (csr->names != NULL) {
            sf_text_printf(out, "<data key=\"name\">");
            print_escaped(out, csr->names[v]);
            sf_text_printf(out, "</data>");
        }
        print_row(out, &csr->vertex_columns, "node", v);
        sf_text_printf(out, "</node>\n");
    }
    for (uint32_t v = 0; v < csr->vertex_count; v++) {
        for (uint64_t e = csr->offsets[v]; e < csr->offsets[v + 1]; e++) {
            if (!sf_csr_is_first(csr, v, e)) continue;
            sf_text_printf(out, "    <edge source=\"n%u\" target=\"n%u\">", v, csr->targets[e]);
            print_row(out, &csr->edge_columns, "edge", e - csr->offsets[0]);
            sf_text_printf(out, "</edge>\n");
        }
    }
    sf_text_printf(out, "  </graph>\n</graphml>\n");
    return out->failed ? sf_fail_memory(error) : SF_OK;
}

const sf_graph_format sf_graph_graphml = {.name = "GraphML",
                                          .endings = ".graphml",
                                          .detect = detect,
#ifdef SYNFIRE_HAVE_IO
                                          .parse = sf_graphml_parse,
#endif
                                          .print = print};
