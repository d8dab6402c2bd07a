/* SPDX-License-Identifier: Apache-2.0 */
/** Whether a breadth-first search is right: Graph500's five rules, and levels found the slow and obvious way.
 */
#ifndef SF_TESTS_BFS_ORACLE_H
#define SF_TESTS_BFS_ORACLE_H

#include "graph/search/bfs.h"

/**
 * NULL where levels and parents keep all five rules of Graph500 (and the totals agree with them), else a
 * sentence that names the rule. For directed graphs rule 3 reads: an edge leads at most one level down, and
 * never from the tree to the outside.
 */
const char *bfs_oracle_check(const sf_csr *graph, uint32_t source, const sf_bfs_result *result);

/** Levels by relaxing every edge until nothing changes; levels has vertex_count entries. */
void bfs_oracle_levels(const sf_csr *graph, uint32_t source, uint32_t *levels);

#endif
