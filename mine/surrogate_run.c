/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_run.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "mine/device.h"
#include "mine/surrogates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sums of counts are whole, so the variance loses nothing to cancellation until its very end. */
static void find_scales(sf_surrogate_outcome *outcome)
{
    unsigned __int128 n = outcome->surrogates;
    for (uint64_t i = 0; i < outcome->candidate_count; i++) {
        const sf_surrogate_tally *tally = &outcome->tallies[i];
        unsigned __int128 spread = n * tally->sum_squares - (unsigned __int128)tally->sum * tally->sum;
        double variance = (double)spread / ((double)n * ((double)n - 1));
        outcome->scales[i] =
            (sf_surrogate_scale){(double)tally->sum / (double)n, spread > 0 ? 1 / sqrt(variance) : 0};
    }
}

/* ---- on the CPU ---- */

static int run_here(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t least,
                    unsigned threads, sf_error *error)
{
    sf_surrogate_counter *counter;
    int status = sf_surrogate_counter_open(&counter, &side->events, &side->plan, threads, error);
    if (status == SF_OK)
        status = sf_surrogate_counter_tally(counter, 0, outcome->surrogates, outcome->tallies, error);
    if (status == SF_OK) {
        find_scales(outcome);
        status = sf_surrogate_counter_maxima(counter, 0, outcome->surrogates, least, outcome->scales,
                                             outcome->maxima, error);
    }
    sf_surrogate_counter_close(counter);
    return status;
}

/* ---- on devices ---- */

/* A device and its share of the surrogates. */
typedef struct member {
    sf_device *device;
    sf_surrogate_plan plan; /* the side's; progress is told by the first member alone */
    sf_backend_stream *stream;
    sf_backend_surrogate_job *job;
    uint32_t first, count;
    sf_surrogate_tally *tallies; /* of the first member: the outcome's */
    double *maxima;              /* [level][surrogate of the share] */
    sf_error reason;
} member;

typedef struct crew_run crew_run;

/* What a member does while its device is held. */
typedef int step_done(const crew_run *run, member *m, sf_error *error);

struct crew_run {
    sf_surrogate_outcome *outcome;
    const sf_surrogate_side *side;
    uint32_t least, count;
    step_done *step; /* at hand */
    member members[SF_MOST_DEVICES];
};

static int tally_share(const crew_run *run, member *m, sf_error *error)
{
    const sf_backend *backend = sf_device_backend(m->device);
    sf_stream spikes = sf_events_stream(&run->side->events);
    int status = backend->episodes->stream_open(&m->stream, sf_device_opened(m->device), &spikes, error);
    if (status == SF_OK)
        status = backend->surrogates->open(&m->job, m->stream, &m->plan, error);
    return status == SF_OK ? backend->surrogates->tally(m->job, m->first, m->count, m->tallies, error)
                           : status;
}

static int find_maxima(const crew_run *run, member *m, sf_error *error)
{
    return sf_device_backend(m->device)->surrogates->maxima(m->job, m->first, m->count, run->least,
                                                            run->outcome->scales, m->maxima, error);
}

static int hold_and_step(void *context, unsigned worker, size_t item)
{
    (void)worker;
    crew_run *run = context;
    member *m = &run->members[item];
    sf_error failure = {0};
    int status = sf_device_hold(m->device, &m->reason);
    return status == SF_OK ? sf_device_release(m->device, run->step(run, m, &failure), &failure, &m->reason)
                           : status;
}

/* All members at once. */
static int do_step(crew_run *run, step_done *step)
{
    run->step = step;
    return sf_parallel_for(run->count, run->count, hold_and_step, run);
}

/* What the member that ended a step has said. */
static int tell_reason(const crew_run *run, int status, sf_error *error)
{
    for (uint32_t i = 0; i < run->count; i++)
        if ((int)run->members[i].reason.code == status)
            *error = run->members[i].reason;
    return status;
}

static int open_members(crew_run *run, const sf_surrogate_devices *devices, sf_error *error)
{
    const sf_surrogate_plan *plan = &run->side->plan;
    uint32_t n = run->outcome->surrogates;
    run->count = devices->count < n ? devices->count : n;
    for (uint32_t i = 0; i < run->count; i++) {
        member *m = &run->members[i];
        m->device = devices->devices[i];
        if (sf_device_backend(m->device)->surrogates == NULL)
            return tell_reason(run,
                               sf_fail(&m->reason, SF_UNAVAILABLE, NULL, "%s does not count in surrogates",
                                       sf_device_name(m->device)),
                               error);
        m->plan = *plan;
        m->plan.progress = i == 0 ? plan->progress : NULL;
        m->first = (uint32_t)((uint64_t)n * i / run->count);
        m->count = (uint32_t)((uint64_t)n * (i + 1) / run->count) - m->first;
        m->tallies = i == 0 ? run->outcome->tallies
                            : sf_resize(NULL, run->outcome->candidate_count, sizeof *m->tallies);
        m->maxima = sf_resize(NULL, (size_t)plan->level_count * m->count, sizeof *m->maxima);
        if (m->tallies == NULL || m->maxima == NULL)
            return sf_fail_memory(error);
    }
    return SF_OK;
}

static void close_job(void *object)
{
    const member *m = object;
    const sf_backend *backend = sf_device_backend(m->device);
    backend->surrogates->close(m->job);
    backend->episodes->stream_close(m->stream);
}

static void close_members(crew_run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        member *m = &run->members[i];
        if (m->stream != NULL)
            sf_device_discard(m->device, close_job, m);
        if (i > 0)
            sf_free(m->tallies);
        sf_free(m->maxima);
    }
}

static void add_tallies(crew_run *run)
{
    for (uint32_t i = 1; i < run->count; i++)
        for (uint64_t c = 0; c < run->outcome->candidate_count; c++) {
            const sf_surrogate_tally *share = &run->members[i].tallies[c];
            run->outcome->tallies[c].sum += share->sum;
            run->outcome->tallies[c].sum_squares += share->sum_squares;
            run->outcome->tallies[c].at_least += share->at_least;
        }
}

static void gather_maxima(crew_run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const member *m = &run->members[i];
        for (uint32_t k = 0; k < run->side->plan.level_count; k++)
            memcpy(run->outcome->maxima + (size_t)k * run->outcome->surrogates + m->first,
                   m->maxima + (size_t)k * m->count, m->count * sizeof *m->maxima);
    }
}

/* Those that gave no reason to leave. */
static void keep_able(sf_surrogate_devices *devices, const crew_run *run)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < devices->count; i++)
        if (i >= run->count || run->members[i].reason.code != SF_UNAVAILABLE)
            devices->devices[left++] = devices->devices[i];
    devices->count = left;
}

static int share_out(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t least,
                     sf_surrogate_devices *devices, sf_error *error)
{
    crew_run run = {.outcome = outcome, .side = side, .least = least};
    int status = open_members(&run, devices, error);
    if (status == SF_OK) {
        status = do_step(&run, tally_share);
        if (status == SF_OK) {
            add_tallies(&run);
            find_scales(outcome);
            status = do_step(&run, find_maxima);
        }
        if (status == SF_OK)
            gather_maxima(&run);
        else
            tell_reason(&run, status, error);
    }
    if (status == SF_UNAVAILABLE)
        keep_able(devices, &run);
    close_members(&run);
    return status;
}

/* On the devices that are left, again, where one fails or refuses. */
static int run_there(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t least,
                     sf_surrogate_devices *devices, char note[256], sf_error *error)
{
    int status = SF_UNAVAILABLE;
    while (status == SF_UNAVAILABLE && devices->count > 0) {
        status = share_out(outcome, side, least, devices, error);
        if (status == SF_UNAVAILABLE)
            snprintf(note, 256, "%.255s", error->text);
    }
    return status;
}

/* ---- where ---- */

static int open_outcome(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t surrogates)
{
    *outcome = (sf_surrogate_outcome){.surrogates = surrogates,
                                      .candidate_count = sf_surrogate_candidates(&side->plan)};
    outcome->tallies = sf_resize(NULL, outcome->candidate_count, sizeof *outcome->tallies);
    outcome->scales = sf_resize(NULL, outcome->candidate_count, sizeof *outcome->scales);
    outcome->maxima = sf_resize(NULL, (size_t)side->plan.level_count * surrogates, sizeof *outcome->maxima);
    bool all = outcome->tallies != NULL && outcome->scales != NULL && outcome->maxima != NULL;
    return all ? SF_OK : SF_NO_MEMORY;
}

int sf_surrogate_run(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t surrogates,
                     uint32_t least, sf_surrogate_devices *devices, unsigned threads, char note[256],
                     sf_error *error)
{
    sf_error reason = {0};
    int status = open_outcome(outcome, side, surrogates) == SF_OK ? SF_UNAVAILABLE : sf_fail_memory(&reason);
    if (status == SF_UNAVAILABLE)
        status = run_there(outcome, side, least, devices, note, &reason);
    if (status == SF_UNAVAILABLE)
        status = run_here(outcome, side, least, threads, &reason);
    if (status != SF_OK) {
        sf_surrogate_outcome_free(outcome);
        if (error != NULL)
            *error = reason;
    }
    return status;
}

void sf_surrogate_outcome_free(sf_surrogate_outcome *outcome)
{
    sf_free(outcome->tallies);
    sf_free(outcome->scales);
    sf_free(outcome->maxima);
    *outcome = (sf_surrogate_outcome){0};
}
