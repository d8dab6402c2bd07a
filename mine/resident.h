/* SPDX-License-Identifier: Apache-2.0 */
/** Mining spikes that a device lays out: the CPU only counts what each unit fires. */
#ifndef SF_MINE_RESIDENT_H
#define SF_MINE_RESIDENT_H

#include "core/backend/stream.h"
#include "mine/events.h"
#include "window/resident.h"

/** The events as backends take them; borrows their arrays. */
sf_stream sf_events_stream(const sf_events *events);

/** The outlined events of a recording of `unit_count` units as a stream on the device that holds them. */
int sf_events_resident_stream(sf_device_stream **stream, const sf_events *events, size_t unit_count,
                              sf_resident *resident, sf_error *error);

/** A recording's spikes as they are. */
typedef struct sf_raw_spikes {
    const sf_spike *spikes;
    size_t count, unit_count;
} sf_raw_spikes;

/** They, or a stretch of them, on a device, before it is known which units are kept. Zero-initialise. */
typedef struct sf_sent_spikes {
    sf_device *device;        /**< NULL: they are nowhere */
    sf_backend_spikes *there; /**< owned */
    size_t count, unit_count;
} sf_sent_spikes;

/**
 * Sends the spikes to a device, and counts there what each unit fires where unit_spikes, of raw->unit_count,
 * is given. SF_UNAVAILABLE where they have no room as they are, or the plugin does not lay them out:
 * sf_events_stream may do. With unit_spikes SF_DATA where a spike is out of order or of no unit.
 */
int sf_raw_spikes_send(sf_sent_spikes *sent, const sf_raw_spikes *raw, sf_device *device,
                       uint64_t *unit_spikes, sf_error *error);
void sf_sent_spikes_close(sf_sent_spikes *sent); /**< a zeroed object is allowed */

/** The outlined events as a stream on the device that spikes were sent to. */
int sf_events_sent_stream(sf_device_stream **stream, const sf_events *events, const sf_sent_spikes *sent,
                          sf_error *error);

/** Both, on a device that gets the spikes as they are; the second alone, where `sent` says that so many are
 * there already. It is closed. */
int sf_events_raw_stream(sf_device_stream **stream, const sf_events *events, const sf_raw_spikes *raw,
                         sf_sent_spikes *sent, sf_device *device, sf_error *error);

#endif
