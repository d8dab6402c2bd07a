/* SPDX-License-Identifier: Apache-2.0 */
#include "density/device.h"

#include "core/error.h"

#include <stdio.h>
#include <string.h>

static void close_samples(void *on)
{
    sf_pair_device *self = on;
    sf_device_backend(self->device)->density->close(self->samples);
}

/* The CPU goes on; what kept the device from its work is told. */
static void leave(sf_pair_device *on, const sf_error *reason)
{
    if (on->samples != NULL)
        sf_device_discard(on->device, close_samples, on);
    on->device = NULL;
    on->samples = NULL;
    snprintf(on->note, sizeof on->note, "%.255s", reason->text);
}

static int choose(sf_pair_device *on, const char *name, double cpu_seconds, sf_error *error)
{
    if (name == NULL || strcmp(name, "auto") != 0)
        return sf_device_find(&on->device, name, error);
    on->device = sf_device_auto(cpu_seconds);
    if (on->device != NULL && sf_device_backend(on->device)->density == NULL)
        on->device = NULL;
    return SF_OK;
}

static int copy_samples(sf_pair_device *on, const double *columns, size_t n, size_t d, sf_error *reason)
{
    const sf_backend_density *density = sf_device_backend(on->device)->density;
    if (density == NULL)
        return sf_fail(reason, SF_UNAVAILABLE, NULL, "%s has no sums over pairs", sf_device_name(on->device));
    int status = sf_device_hold(on->device, reason);
    if (status != SF_OK)
        return status;
    sf_error failure = {0};
    status = density->open(&on->samples, sf_device_opened(on->device), columns, n, d, &failure);
    return sf_device_release(on->device, status, &failure, reason);
}

int sf_pair_device_open(sf_pair_device *on, const char *name, double cpu_seconds, const double *columns,
                        size_t n, size_t d, sf_error *error)
{
    *on = (sf_pair_device){0};
    int status = choose(on, name, cpu_seconds, error);
    if (status != SF_OK || on->device == NULL)
        return status;
    sf_error reason = {0};
    status = copy_samples(on, columns, n, d, &reason);
    if (status == SF_OK)
        return SF_OK;
    leave(on, &reason);
    return status == SF_UNAVAILABLE ? SF_OK : sf_fail(error, status, NULL, "%s", reason.text);
}

void sf_pair_device_close(sf_pair_device *on)
{
    if (on->samples != NULL)
        sf_device_discard(on->device, close_samples, on);
    *on = (sf_pair_device){0};
}

/* Ends a job that ran; one that the device did not do is the last it was asked for. */
static int end_job(sf_pair_device *on, int status, const sf_error *failure)
{
    sf_error reason = {0};
    status = sf_device_release(on->device, status, failure, &reason);
    if (status == SF_UNAVAILABLE)
        leave(on, &reason);
    return status;
}

/* SF_UNAVAILABLE where there is no device, or none any more. */
static int begin_job(sf_pair_device *on)
{
    sf_error reason = {0};
    if (on->device == NULL)
        return SF_UNAVAILABLE;
    int status = sf_device_hold(on->device, &reason);
    if (status == SF_UNAVAILABLE)
        leave(on, &reason);
    return status;
}

int sf_pair_device_functional(sf_pair_device *on, const double c[4], double g, const sf_progress *progress,
                              double *sum)
{
    sf_error failure = {0};
    int status = begin_job(on);
    if (status != SF_OK)
        return status;
    status = sf_device_backend(on->device)->density->functional(on->samples, c, g, progress, sum, &failure);
    return end_job(on, status, &failure);
}

int sf_pair_device_scores(sf_pair_device *on, const double *h, size_t count, const sf_progress *progress,
                          double *sums)
{
    int status = SF_OK;
    for (size_t first = 0; status == SF_OK && first < count; first += SF_BACKEND_MOST_BANDWIDTHS) {
        sf_error failure = {0};
        size_t left = count - first;
        status = begin_job(on);
        if (status != SF_OK)
            break;
        status = sf_device_backend(on->device)
                     ->density->scores(on->samples, h + first,
                                       left < SF_BACKEND_MOST_BANDWIDTHS ? left : SF_BACKEND_MOST_BANDWIDTHS,
                                       progress, sums + 4 * first, &failure);
        status = end_job(on, status, &failure);
    }
    return status;
}
