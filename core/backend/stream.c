/* SPDX-License-Identifier: Apache-2.0 */
#include "core/backend/stream.h"

#include "core/error.h"
#include "core/memory.h"

struct sf_device_stream {
    sf_device *device;
    sf_backend_stream *stream;
};

static const sf_backend_episodes *family(const sf_device *device)
{
    return sf_device_backend(device)->episodes;
}

bool sf_device_supports(const sf_device *device, sf_operation operation, const char *engine)
{
    return device != NULL && family(device) != NULL && sf_device_opened(device) != NULL &&
           family(device)->supports(sf_device_opened(device), operation, engine);
}

/* ---- streams ---- */

typedef struct opening {
    const sf_stream *spikes;
    sf_backend_stream *made;
} opening;

static int open_held(void *context, sf_device *device, sf_error *failure)
{
    opening *o = context;
    return family(device)->stream_open(&o->made, sf_device_opened(device), o->spikes, failure);
}

static void close_made(void *context)
{
    const sf_device_stream *stream = context;
    family(stream->device)->stream_close(stream->stream);
}

int sf_device_stream_open(sf_device_stream **opened, sf_device *device, const sf_stream *spikes,
                          sf_error *error)
{
    opening o = {.spikes = spikes};
    *opened = NULL;
    sf_device_stream *stream = sf_alloc(1, sizeof *stream);
    if (stream == NULL) return sf_fail_memory(error);
    int status = sf_device_do(device, open_held, &o, error);
    if (status == SF_OK) {
        *stream = (sf_device_stream){device, o.made};
        *opened = stream;
    } else {
        sf_free(stream);
    }
    return status;
}

int sf_device_stream_adopt(sf_device_stream **stream, sf_device *device, sf_backend_stream *made,
                           sf_error *error)
{
    *stream = sf_alloc(1, sizeof **stream);
    if (*stream == NULL) {
        family(device)->stream_close(made);
        return sf_fail_memory(error);
    }
    **stream = (sf_device_stream){device, made};
    return SF_OK;
}

void sf_device_stream_close(sf_device_stream *stream)
{
    if (stream != NULL) sf_device_discard(stream->device, close_made, stream);
    sf_free(stream);
}

sf_backend_stream *sf_device_stream_made(const sf_device_stream *stream)
{
    return stream->stream;
}

/* ---- jobs ---- */

typedef struct stream_job {
    sf_backend_stream *stream;
    const sf_backend_count *count; /* or */
    const sf_backend_mine *mine;
} stream_job;

static int run_held(void *context, sf_device *device, sf_error *failure)
{
    const stream_job *job = context;
    return job->count != NULL ? family(device)->count(job->stream, job->count, failure)
                              : family(device)->mine(job->stream, job->mine, failure);
}

int sf_device_count_episodes(sf_device_stream *stream, const sf_backend_count *job, sf_error *error)
{
    return sf_device_do(stream->device, run_held, &(stream_job){stream->stream, job, NULL}, error);
}

int sf_device_mine(sf_device_stream *stream, const sf_backend_mine *job, sf_error *error)
{
    return sf_device_do(stream->device, run_held, &(stream_job){stream->stream, NULL, job}, error);
}
