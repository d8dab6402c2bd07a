/* SPDX-License-Identifier: Apache-2.0 */
/** Patterns from files. */
#ifndef SF_IO_GRAPH_PATTERN_H
#define SF_IO_GRAPH_PATTERN_H

#include "graph/match/pattern.h"

/**
 * As sf_motif_of_text, or that of a file of a graph or in the motif language. `directed` is for files of
 * graphs. SF_NO_INPUT where it looks like a file that is not there.
 */
int sf_motif_read(sf_pattern *pattern, const char *given, bool directed, sf_error *error);

#endif
