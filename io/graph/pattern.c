/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns from files. */
#include "io/graph/pattern.h"

#include "graph/motif/motif.h"
#include "io/graph/file.h"

#include "core/error.h"
#include "core/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_graph(sf_pattern *pattern, const char *path, bool directed, sf_error *error)
{
    sf_edge_list list;
    int status = sf_graph_read(&list, path, NULL, error);
    if (status != SF_OK) return status;
    list.directed = directed;
    status = sf_pattern_of_graph(pattern, &list, error);
    if (status != SF_OK && error->place[0] == '\0') snprintf(error->place, sizeof error->place, "%s", path);
    sf_edge_list_free(&list);
    return status;
}

static int read_motif(sf_pattern *pattern, const char *path, sf_error *error)
{
    sf_text text = {0};
    int status = sf_file_read(&text, path, error);
    if (status == SF_OK)
        status = sf_motif_parse(pattern, path, text.data != NULL ? text.data : "", text.length, error);
    sf_text_free(&text);
    return status;
}

int sf_motif_read(sf_pattern *pattern, const char *given, bool directed, sf_error *error)
{
    *pattern = (sf_pattern){0};
    sf_text named = {0};
    bool is_name = sf_motif_named(&named, given);
    sf_text_free(&named);
    if (!is_name && access(given, F_OK) == 0)
        return sf_graph_file_format(given) != NULL ? read_graph(pattern, given, directed, error)
                                                   : read_motif(pattern, given, error);
    int status = sf_motif_of_text(pattern, given, error);
    if (status == SF_USAGE && strpbrk(given, "./") != NULL)
        return sf_fail(error, SF_NO_INPUT, given, "there is no such file");
    return status;
}
