/* SPDX-License-Identifier: Apache-2.0 */
/** The ways of counting and of mining. */
#ifndef SF_MINE_WAYS_H
#define SF_MINE_WAYS_H

#include "core/backend/ways.h"
#include "mine/engine.h"
#include "mine/shares.h"

#include <synfire/mine.h>

/** A job of counting, for its ways. */
typedef struct sf_count_work {
    const sf_engine *engine;
    const sf_count_job *job;
    uint32_t *counts;
    sf_crew_events *on;
    double core_seconds; /**< what one core would need, roughly */
    unsigned threads;
} sf_count_work;

/** The ways of counting by each engine; NULL-terminated. */
extern const sf_way *const sf_count_ways[];

/** Those of mining by engines that search, whose jobs are those of mine.c. */
extern const sf_way *const sf_search_ways[];

/** Whether a device has an engine: SF_USAGE where not. */
int sf_engine_supports(const sf_engine *engine, sf_operation operation, const sf_device *device,
                       sf_error *why);

/** Whether the named device is present (else SF_UNAVAILABLE) and mines by the engine (else SF_USAGE). */
int sf_engine_check(const sf_engine *engine, const char *device, sf_error *error);

/** Roughly what one CPU core needs to find all pairs among `spikes` spikes within span_ns: accurate enough to
 * tell a millisecond from a second. */
double sf_mine_core_seconds(const sf_delay *delays, size_t delay_count, double spikes, double span_ns);

#endif
