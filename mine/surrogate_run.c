/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_run.h"

#include "core/error.h"
#include "core/memory.h"
#include "mine/device.h"
#include "mine/surrogates.h"

#include <math.h>
#include <stdio.h>

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

/* ---- on a device ---- */

static int run_held(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t least,
                    sf_device *device, sf_error *error)
{
    const sf_backend *backend = sf_device_backend(device);
    const sf_backend_surrogates *family = backend->surrogates;
    sf_backend_stream *stream = NULL;
    sf_backend_surrogate_job *job = NULL;
    sf_stream spikes = sf_events_stream(&side->events);
    int status = backend->stream_open(&stream, sf_device_opened(device), &spikes, error);
    if (status == SF_OK)
        status = family->open(&job, stream, &side->plan, error);
    if (status == SF_OK)
        status = family->tally(job, 0, outcome->surrogates, outcome->tallies, error);
    if (status == SF_OK) {
        find_scales(outcome);
        status = family->maxima(job, 0, outcome->surrogates, least, outcome->scales, outcome->maxima, error);
    }
    family->close(job);
    backend->stream_close(stream);
    return status;
}

static int run_there(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t least,
                     sf_device *device, sf_error *error)
{
    if (sf_device_backend(device)->surrogates == NULL)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%s does not count in surrogates",
                       sf_device_name(device));
    int status = sf_device_hold(device, error);
    if (status != SF_OK)
        return status;
    sf_error failure = {0};
    status = run_held(outcome, side, least, device, &failure);
    return sf_device_release(device, status, &failure, error);
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
                     uint32_t least, sf_device **device, unsigned threads, char note[256], sf_error *error)
{
    sf_error reason = {0};
    int status = open_outcome(outcome, side, surrogates) == SF_OK ? SF_UNAVAILABLE : sf_fail_memory(&reason);
    if (status == SF_UNAVAILABLE && *device != NULL) {
        status = run_there(outcome, side, least, *device, &reason);
        if (status == SF_UNAVAILABLE) {
            snprintf(note, 256, "%.255s", reason.text);
            *device = NULL;
        }
    }
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
