/* SPDX-License-Identifier: Apache-2.0 */
/** Subgraph matching by trying every data vertex for every pattern vertex, and automorphisms by trying every
 * permutation. */
#ifndef SF_TESTS_MATCH_ORACLE_H
#define SF_TESTS_MATCH_ORACLE_H

#include "graph/match/match.h"

uint64_t match_oracle(const sf_csr *data, const sf_pattern *pattern, sf_semantics semantics);

/** True where these data vertices are an embedding. */
bool match_oracle_is_embedding(const sf_csr *data, const sf_pattern *pattern, sf_semantics semantics,
                               const uint32_t *vertices);

/** Permutations of the pattern that keep labels and edges; patterns without terms and relations only. */
uint64_t match_oracle_automorphisms(const sf_pattern *pattern);

#endif
