/* SPDX-License-Identifier: Apache-2.0 */
/** Summaries of many episodes on several ranks: each has those of its stretch of the stream. */
#ifndef SF_WINDOW_SUMMARIES_H
#define SF_WINDOW_SUMMARIES_H

#include "window/summary.h"

/** Zeroed ones, all empty at position 0; NULL: no memory. */
sf_summary *sf_summaries_new(size_t count);
void sf_summaries_free(sf_summary *summaries, size_t count); /**< NULL is allowed */

/**
 * counts[i] = what episode i counts in the stretches of all ranks, which follow one another in their order
 * from position 0 on. All summaries of a rank are of one stretch. `status` is how they were made
 * (core/ranks.h).
 */
int sf_summaries_count(uint64_t *counts, const sf_summary *summaries, size_t count, int status,
                       sf_error *error);

#endif
