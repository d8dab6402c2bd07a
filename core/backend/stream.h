/* SPDX-License-Identifier: Apache-2.0 */
/** Spikes on a device, and jobs on them; the answer to SF_UNAVAILABLE is to do the work elsewhere. */
#ifndef SF_CORE_BACKEND_STREAM_H
#define SF_CORE_BACKEND_STREAM_H

#include "core/backend/device.h"
#include "core/backend/episodes.h"

typedef struct sf_device_stream sf_device_stream;

/** Whether the device has the engine for this; NULL has none. */
bool sf_device_supports(const sf_device *device, sf_operation operation, const char *engine);

int sf_device_stream_open(sf_device_stream **stream, sf_device *device, const sf_stream *spikes,
                          sf_error *error);
void sf_device_stream_close(sf_device_stream *stream); /**< NULL is allowed */

/** For jobs of other families, which hold its device; borrowed. */
sf_backend_stream *sf_device_stream_made(const sf_device_stream *stream);

int sf_device_count_episodes(sf_device_stream *stream, const sf_backend_count *job, sf_error *error);
int sf_device_mine(sf_device_stream *stream, const sf_backend_mine *job, sf_error *error);

/** Takes over a stream that a family has made on this device, which is held. SF_NO_MEMORY: it is closed. */
int sf_device_stream_adopt(sf_device_stream **stream, sf_device *device, sf_backend_stream *made,
                           sf_error *error);

#endif
