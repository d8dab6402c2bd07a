/* SPDX-License-Identifier: Apache-2.0 */
/** Who drives whom by the definitions of the methods: trains are rows of zeros and ones, every filter is laid
 * on every bin, every regressor is a column, every sum runs over all bins. */
#ifndef SF_TESTS_DRIVE_ORACLE_H
#define SF_TESTS_DRIVE_ORACLE_H

#include "core/recording.h"

#include <synfire/graph.h>

/** measure[from * units + to]: the statistic of the regression, the values of the others; at most 6 units,
 * 1,300 bins of a millisecond in three spans, and 64 regressors. */
void drive_oracle(double *measure, sf_drive_method method, const sf_spike *spikes, size_t count, size_t units,
                  const sf_span *observed, size_t observed_count, uint32_t first_lag, uint32_t last_lag);

#endif
