/* SPDX-License-Identifier: Apache-2.0 */
/** The triad census by looking at every set of three vertices. */
#ifndef SF_TESTS_CENSUS_ORACLE_H
#define SF_TESTS_CENSUS_ORACLE_H

#include "graph/motif/census.h"

void census_oracle(uint64_t census[SF_TRIADS], const sf_csr *graph);

#endif
