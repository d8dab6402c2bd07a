/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and patterns from files, as synfire/graph.h offers them. */
#include "analysis/graph.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/graph/file.h"
#include "io/graph/pattern.h"

#include <stdio.h>

int sf_graph_open(sf_graph **graph, const char *path, const sf_graph_options *options,
                  const sf_progress *progress, sf_error *error)
{
    *graph = NULL;
    sf_graph_options how;
    sf_edge_list list;
    int status = sf_graph_options_read(&how, options, error);
    if (status == SF_OK) status = sf_graph_read(&list, path, progress, error);
    if (status != SF_OK) return status;
    if (how.directed && sf_graph_file_format(path) == &sf_graph_labelled)
        list.directed = true; /* other formats say themselves */
    status = sf_graph_of_list(graph, &list, &how, progress, error);
    if (status != SF_OK && error != NULL && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", path);
    return status;
}

sf_graph_file sf_graph_file_kind(const char *path)
{
    const sf_graph_format *format = sf_graph_file_format(path);
    return format == &sf_graph_pairs             ? SF_GRAPH_FILE_PAIRS
           : format != NULL                      ? SF_GRAPH_FILE_READ
           : sf_graph_written_only(path) != NULL ? SF_GRAPH_FILE_WRITTEN_ONLY
                                                 : SF_GRAPH_FILE_NONE;
}

int sf_graph_save(const sf_graph *graph, const char *path, const char *provenance, sf_error *error)
{
    if (graph == NULL) return sf_graph_check_ending(path, error);
    sf_csr csr = graph->csr; /* but for what made it */
    csr.provenance = provenance != NULL ? sf_copy_string(provenance) : NULL;
    int status = provenance != NULL && csr.provenance == NULL ? sf_fail_memory(error)
                                                              : sf_graph_write(&csr, path, error);
    sf_free(csr.provenance);
    return status;
}

int sf_motif_new(sf_motif **motif, const char *text, bool directed, sf_error *error)
{
    *motif = NULL;
    sf_motif *made = sf_alloc(1, sizeof *made);
    if (made == NULL) return sf_fail_memory(error);
    int status = sf_motif_read(&made->pattern, text, directed, error);
    if (status == SF_OK)
        *motif = made;
    else
        sf_motif_free(made);
    return status;
}
