/* SPDX-License-Identifier: Apache-2.0 */
/** The reading half of GraphML, which needs libexpat; the format is declared in io/graph/file.h. */
#ifndef SF_IO_GRAPH_GRAPHML_H
#define SF_IO_GRAPH_GRAPHML_H

#include "io/graph/file.h"

/** As sf_graph_format.parse. */
int sf_graphml_parse(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error);

#endif
