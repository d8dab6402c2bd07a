/* SPDX-License-Identifier: Apache-2.0 */
/** Responses as their definition says it: every instant looked up by itself, every permutation summed anew.
 */
#ifndef SF_TESTS_RESPONSES_ORACLE_H
#define SF_TESTS_RESPONSES_ORACLE_H

#include "analysis/responses.h"

/** Whether this instant was recorded. */
bool oracle_is_recorded(const sf_recording *recording, int64_t time_ns);

/** Spikes of a unit in a window of a trial at offsets that were recorded in all windows of the trial, and the
 * offset of the first of them, or -1. */
uint64_t oracle_response_count(const sf_recording *recording, const sf_response_options *options,
                               int64_t marker_ns, uint64_t window, uint32_t unit, int64_t *first_ns);

/** The recorded time of each window of a trial, in whole steps of `step_ns`. */
int64_t oracle_response_exposure(const sf_recording *recording, const sf_response_options *options,
                                 int64_t marker_ns, int64_t step_ns);

/** p and q of each item from counts[(item * trials + trial) * (baseline + 1) + window]; NaN where no count of
 * it differs from another of its trial. */
void oracle_response_test(double *p, double *q, const uint64_t *counts, size_t items, size_t trials,
                          const sf_response_options *options);

#endif
