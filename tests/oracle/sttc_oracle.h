/* SPDX-License-Identifier: Apache-2.0 */
/** The spike-time tiling coefficient by its definition: every pair of spikes, every nanosecond's cover by its
 * nearest spike. */
#ifndef SF_TESTS_STTC_ORACLE_H
#define SF_TESTS_STTC_ORACLE_H

#include "analysis/sttc.h"

/** Small times only: the tiles are counted nanosecond by nanosecond. */
double sttc_oracle(sf_train a, sf_train b, int64_t dt_ns, sf_recorded recorded);

#endif
