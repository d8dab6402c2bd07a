/* SPDX-License-Identifier: Apache-2.0 */
/** Mining spikes that a device holds already: the CPU lays nothing out. */
#ifndef SF_MINE_RESIDENT_H
#define SF_MINE_RESIDENT_H

#include "core/backend.h"
#include "mine/events.h"
#include "window/resident.h"

/**
 * The events of the units chosen as far as the numbers of spikes tell: unit_count, unit, count, first and
 * origin_ns are those of sf_events_lay_out, the arrays by position and by place are NULL. SF_DATA for more
 * spikes than can be mined at once, SF_NO_MEMORY.
 */
int sf_events_outline(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                      const uint64_t *unit_spikes, const sf_events_choice *choice, sf_error *error);

/** The outlined events of a recording of `unit_count` units as a stream on the device that holds them. */
int sf_events_resident_stream(sf_device_stream **stream, const sf_events *events, size_t unit_count,
                              sf_resident *resident, sf_error *error);

#endif
