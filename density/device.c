/* SPDX-License-Identifier: Apache-2.0 */
/* The way of sums over pairs on a device, which gets the samples with its first job. */
#include "density/pairs.h"

#include "core/backend/density.h"
#include "core/error.h"
#include "core/memory.h"

static const sf_backend_density *family(const sf_device *device)
{
    return sf_device_backend(device)->density;
}

static int supports(const void *job, const sf_device *device, sf_error *why)
{
    (void)job;
    return family(device) != NULL
               ? SF_OK
               : sf_fail(why, SF_UNAVAILABLE, NULL, "%s has no sums over pairs", sf_device_name(device));
}

/* What a device makes of a job. */
typedef struct device_sums {
    const sf_pair_sums *sums;
    sf_backend_samples *samples;
    double *four; /* by bandwidth, as the backend has them */
} device_sums;

static int copy_samples(void *context, sf_device *device, sf_error *failure)
{
    device_sums *d = context;
    const sf_pairs *pairs = d->sums->pairs;
    return family(device)->open(&d->samples, sf_device_opened(device), pairs->columns, pairs->n, pairs->d,
                                failure);
}

static int find_sums(void *context, sf_device *device, sf_error *failure)
{
    const device_sums *d = context;
    const sf_pair_sums *s = d->sums;
    if (s->h == NULL)
        return family(device)->functional(d->samples, s->c, s->g, s->pairs->progress, s->sum, failure);
    int status = SF_OK;
    for (size_t first = 0; status == SF_OK && first < s->count; first += SF_BACKEND_MOST_BANDWIDTHS) {
        size_t left = s->count - first,
               count = left < SF_BACKEND_MOST_BANDWIDTHS ? left : SF_BACKEND_MOST_BANDWIDTHS;
        status = family(device)->scores(d->samples, s->h + first, count, s->pairs->progress,
                                        d->four + 4 * first, failure);
    }
    return status;
}

static int sum_on_member(void *context, sf_member *member, size_t item, sf_error *error)
{
    (void)item;
    device_sums *d = context;
    d->samples = member->part;
    int status = d->samples != NULL ? SF_OK : sf_device_do(member->device, copy_samples, d, error);
    member->part = d->samples;
    return status == SF_OK ? sf_device_do(member->device, find_sums, d, error) : status;
}

/* The device's sums of e, e^2, e Y and e^2 Y become those of the job. */
static int run(void *job, sf_crew *crew, sf_error *error)
{
    const sf_pair_sums *s = job;
    device_sums d = {.sums = s};
    if (s->h != NULL) d.four = sf_resize(NULL, s->count, 4 * sizeof *d.four);
    if (s->h != NULL && d.four == NULL) return sf_fail_memory(error);
    int status = sf_crew_divide(crew, 1, sum_on_member, &d, error);
    for (size_t m = 0; status == SF_OK && s->h != NULL && m < s->count; m++) {
        s->sums[2 * m] = d.four[4 * m] - 2 * s->q * d.four[4 * m + 1];
        s->sums[2 * m + 1] = d.four[4 * m + 2] - 4 * s->q * d.four[4 * m + 3];
    }
    sf_free(d.four);
    return status;
}

static void close_samples(void *object)
{
    const sf_member *member = object;
    family(member->device)->close(member->part);
}

static void leave(sf_member *member)
{
    sf_device_discard(member->device, close_samples, member);
}

const sf_way sf_pairs_on_device = {
    .engine = "direct", .on_devices = true, .supports = supports, .run = run, .leave = leave};
