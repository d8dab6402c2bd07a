/* SPDX-License-Identifier: Apache-2.0 */
/** The spike-time tiling coefficient by its definition: every pair of spikes, every nanosecond's cover by its
 * nearest spike. */
#ifndef SF_TESTS_STTC_ORACLE_H
#define SF_TESTS_STTC_ORACLE_H

#include "analysis/sttc.h"

/** Small times only: the tiles are counted nanosecond by nanosecond. */
double sttc_oracle(sf_train a, sf_train b, int64_t dt_ns, sf_recorded recorded);

/** The same where only the options' observed spans were recorded; no spike lies outside them. */
double sttc_oracle_in(sf_train a, sf_train b, const sf_sttc_options *options);

/** p and q of all pairs, by rows, each of every pair that has no silent unit: every surrogate is made, kept
 * and counted. At most 8 units of at most 64 spikes. */
void sttc_oracle_test(double *p, double *q, const sf_unit_trains *trains, const sf_sttc_options *options);

#endif
