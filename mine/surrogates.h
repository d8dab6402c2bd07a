/* SPDX-License-Identifier: Apache-2.0 */
/** Counting candidates in surrogates on the CPU: what core/backend/surrogates.h says, number for number. */
#ifndef SF_MINE_SURROGATES_H
#define SF_MINE_SURROGATES_H

#include "core/backend/surrogates.h"
#include "mine/events.h"

#include <stdbool.h>

typedef struct sf_surrogate_counter sf_surrogate_counter;

/** The candidates of all levels of a plan. */
uint64_t sf_surrogate_candidates(const sf_surrogate_plan *plan);

/**
 * Events and plan are borrowed until close. A batch of surrogates is made at a time, and threads share out
 * the units that candidates begin or end with, so that no result depends on the number of threads. Memory:
 * for each thread a train in a batch of surrogates and lists of up to 64 MiB, or the lists of a unit, of
 * prefixes; where spikes move far, at most 64 MiB of surrogates, or one of them for each thread, and for each
 * thread the lists of all prefixes that grow from one path of them. SF_NO_MEMORY.
 */
int sf_surrogate_counter_open(sf_surrogate_counter **counter, const sf_events *events,
                              const sf_surrogate_plan *plan, unsigned threads, sf_error *error);
void sf_surrogate_counter_close(sf_surrogate_counter *counter); /**< NULL is allowed */

/** Tests: counters opened from now on count as if all spikes moved far; else, with `listed`, as if there were
 * few chains, and hold no more entries of lists, about; (false, SIZE_MAX) ends this. */
void sf_surrogate_counter_limit(bool moves_far, size_t listed);

/** As `tally` of sf_backend_surrogates. The counts are kept for `compare` where they take 256 MiB or less.
 * SF_CANCELLED, SF_NO_MEMORY. */
int sf_surrogate_counter_tally(sf_surrogate_counter *counter, uint32_t first, uint32_t count,
                               sf_surrogate_tally *tallies, sf_error *error);

/** As `compare` of sf_backend_surrogates. */
int sf_surrogate_counter_compare(sf_surrogate_counter *counter, uint32_t first, uint32_t count,
                                 uint32_t least, const sf_surrogate_scale *scales,
                                 sf_surrogate_reached *reached, double *maxima, sf_error *error);

#endif
