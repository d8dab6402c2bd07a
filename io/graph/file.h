/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graph files. A format is one struct in one file; io/graph/file.c holds the registry. Reading selects the
 * format by content (if inconclusive, by file name ending), writing by the ending.
 */
#ifndef SF_IO_GRAPH_FILE_H
#define SF_IO_GRAPH_FILE_H

#include "core/text.h"
#include "graph/store/csr.h"

typedef struct sf_graph_format {
    const char *name;
    const char *endings; /**< ".el .edges" */
    /** Whether a file that begins with these bytes (at most 4096) is certainly of this format. */
    bool (*detect)(const char *start, size_t size);
    /** Parses a text in memory into an empty list; `path` is for messages. NULL: not a text format, or
     * write-only. */
    int (*parse)(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error);
    /** Appends the graph as text. NULL: not a text format, or read-only. */
    int (*print)(sf_text *out, const sf_csr *csr, sf_error *error);
    /** Binary formats read and write files themselves. */
    bool (*is_file)(const char *path);
    int (*read)(sf_edge_list *list, const char *path, sf_error *error);
    int (*write)(const sf_csr *csr, const char *path, sf_error *error);
} sf_graph_format;

extern const sf_graph_format sf_graph_matrix_market, sf_graph_edge_list, sf_graph_pairs, sf_graph_labelled,
    sf_graph_graphml, sf_graph_dot, sf_graph_hdf5;

/** Format of an existing graph file that can be read; NULL if it is no graph. */
const sf_graph_format *sf_graph_file_format(const char *path);

/** Name of the format of an existing file, if synfire only writes that format; else NULL. */
const char *sf_graph_written_only(const char *path);

/** Reads a graph; *list is empty on failure. SF_NO_INPUT, SF_DATA (`path:line`), SF_IO, SF_CANCELLED. */
int sf_graph_read(sf_edge_list *list, const char *path, const sf_progress *progress, sf_error *error);

/** True where the ending of the name is one that sf_graph_write knows; else SF_USAGE lists them. */
int sf_graph_check_ending(const char *path, sf_error *error);

/** Writes by the ending of the name. SF_USAGE, SF_CANNOT_CREATE, SF_IO. */
int sf_graph_write(const sf_csr *csr, const char *path, sf_error *error);

/**
 * Maximum number of vertices that a file of `file_bytes` may declare without listing them. Every vertex with
 * an edge takes more than a byte, and up to a million isolated vertices are allowed; so memory stays in
 * proportion to the size of the file.
 */
uint64_t sf_graph_most_vertices(uint64_t file_bytes);

/** SF_DATA if a file declares more vertices than sf_graph_most_vertices. */
int sf_graph_check_vertices(uint64_t vertices, uint64_t file_bytes, const char *place, sf_error *error);

/** Appends a name with control characters replaced by spaces, so that it stays on one line. */
void sf_graph_print_line(sf_text *out, const char *name);

#endif
