/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/ways.h"

#include "core/error.h"

/* Spikes within a delay that one core looks at in a second. */
#define PAIRS_A_SECOND 2.5e8

double sf_mine_core_seconds(const sf_delay *delays, size_t delay_count, double spikes, double span_ns)
{
    double inside = 0;
    for (size_t d = 0; d < delay_count; d++)
        inside += (double)(delays[d].high_ns - delays[d].low_ns) / (span_ns + 1);
    return spikes < 2 ? 0 : spikes * spikes * inside / PAIRS_A_SECOND;
}

int sf_engine_supports(const sf_engine *engine, sf_operation operation, const sf_device *device,
                       sf_error *why)
{
    if (sf_device_supports(device, operation, engine->name)) return SF_OK;
    return sf_fail(why, SF_USAGE, NULL, "the engine %s does not run on %s: choose another, or cpu",
                   engine->name, sf_device_name(device));
}

static int has_engine(const void *context, const sf_device *device, sf_error *why)
{
    const sf_engine *engine = context;
    return sf_engine_supports(engine, engine->mine != NULL ? SF_OPERATION_MINE : SF_OPERATION_COUNT, device,
                              why);
}

static double no_seconds(const void *context)
{
    (void)context;
    return 0;
}

int sf_engine_check(const sf_engine *engine, const char *device, sf_error *error)
{
    sf_crew crew;
    sf_crew_request request = {
        .device = device, .most = 1, .supports = has_engine, .seconds = no_seconds, .context = engine};
    return sf_crew_open(&crew, &request, error);
}

/* ---- ways of counting ---- */

static double estimate(const void *job)
{
    const sf_count_work *work = job;
    return work->core_seconds / work->threads;
}

static int count_here(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    const sf_count_work *work = job;
    return work->engine->count(work->counts, work->job, error);
}

static int supports(const void *job, const sf_device *device, sf_error *why)
{
    return sf_engine_supports(((const sf_count_work *)job)->engine, SF_OPERATION_COUNT, device, why);
}

static int count_there(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    const sf_count_work *work = job;
    return sf_crew_count(work->on, work->engine, work->counts, work->job, error);
}

#define HERE(variable, name) &(const sf_way){.engine = name, .estimate = estimate, .run = count_here},
#define THERE(name)                                                                                          \
    &(const sf_way){.engine = name,                                                                          \
                    .on_devices = true,                                                                      \
                    .supports = supports,                                                                    \
                    .run = count_there,                                                                      \
                    .leave = sf_crew_events_leave},
#define ANYWHERE(variable, name) HERE(variable, name) THERE(name)

const sf_way *const sf_count_ways[] = {SF_ENGINES(ANYWHERE, HERE) NULL};
