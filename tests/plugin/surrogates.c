/* SPDX-License-Identifier: Apache-2.0 */
/* The test plugin counts in surrogates as the CPU does. */
#include "mine/surrogates.h"

#include "core/error.h"
#include "core/memory.h"
#include "plugin/plugin.h"

struct sf_backend_surrogate_job {
    sf_backend_device *device;
    sf_surrogate_counter *counter;
};

static void close_job(sf_backend_surrogate_job *job)
{
    if (job != NULL) sf_surrogate_counter_close(job->counter);
    sf_free(job);
}

static int open_job(sf_backend_surrogate_job **opened, sf_backend_stream *stream,
                    const sf_surrogate_plan *plan, sf_error *error)
{
    int status = test_begin_job(stream->device, error);
    if (status != SF_OK) return status;
    sf_backend_surrogate_job *job = sf_alloc(1, sizeof *job);
    if (job == NULL) return sf_fail_memory(error);
    job->device = stream->device;
    status = sf_surrogate_counter_open(&job->counter, &stream->events, plan, 1, error);
    *opened = status == SF_OK ? job : NULL;
    if (status != SF_OK) close_job(job);
    return status;
}

static int tally(sf_backend_surrogate_job *job, uint32_t first, uint32_t count, sf_surrogate_tally *tallies,
                 sf_error *error)
{
    int status = sf_surrogate_counter_tally(job->counter, first, count, tallies, error);
    if (status == SF_OK && test_is_lost(job->device))
        return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    return status;
}

static int compare(sf_backend_surrogate_job *job, uint32_t first, uint32_t count, uint32_t least,
                   const sf_surrogate_scale *scales, sf_surrogate_reached *reached, double *maxima,
                   sf_error *error)
{
    return sf_surrogate_counter_compare(job->counter, first, count, least, scales, reached, maxima, error);
}

const struct sf_backend_surrogates test_surrogates = {
    .open = open_job,
    .close = close_job,
    .tally = tally,
    .compare = compare,
};
