/* SPDX-License-Identifier: Apache-2.0 */
/** Counting by the interval engine in a part of the stream, whatever came before it. */
#ifndef SF_MINE_INTERVAL_H
#define SF_MINE_INTERVAL_H

#include "mine/engine.h"
#include "window/summary.h"

/**
 * summaries[i], which keeps its memory, becomes what the spikes at positions job->first <= p < job->last do
 * to the count of candidate i. Spikes from `before` on are their past: at least as far back as an occurrence
 * may last. Summaries count positions from `base` on, where those of the events begin at 0. SF_NO_MEMORY.
 */
int sf_interval_summarise(sf_summary *summaries, const sf_count_job *job, uint32_t before, uint64_t base,
                          sf_error *error);

#endif
