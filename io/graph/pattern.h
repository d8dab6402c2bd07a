/* SPDX-License-Identifier: Apache-2.0 */
/** Patterns from files. */
#ifndef SF_IO_GRAPH_PATTERN_H
#define SF_IO_GRAPH_PATTERN_H

#include "graph/match/pattern.h"

/**
 * As sf_motif_of_text, but `given` may also name a graph file or a file in the motif language. `directed`
 * applies to graph files. SF_NO_INPUT if it looks like a file that does not exist.
 */
int sf_motif_read(sf_pattern *pattern, const char *given, bool directed, sf_error *error);

#endif
