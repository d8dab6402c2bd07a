/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The newest spikes of the merged stream on a device. Those of each hop are appended as soon as they are
 * known, while the device works on an earlier window; a job on a whole window then copies nothing.
 *
 * Every function may return SF_UNAVAILABLE: the device has failed, or has no room. The caller's answer is
 * always to do the work on the CPU.
 */
#ifndef SF_WINDOW_RESIDENT_H
#define SF_WINDOW_RESIDENT_H

#include "core/backend/stream.h"
#include "core/backend/window.h"
#include "window/history.h"

typedef struct sf_resident sf_resident;

/** Opens the device if need be. SF_UNAVAILABLE also where its plugin keeps no windows. */
int sf_resident_open(sf_resident **resident, sf_device *device, sf_error *error);
void sf_resident_close(sf_resident *resident); /**< NULL is allowed */

sf_device *sf_resident_device(const sf_resident *resident);

/**
 * Copies what is new at the end of the history. Waits for no job. What finds no room is left to the next
 * sf_resident_hold, as is everything before the first of them.
 */
int sf_resident_append(sf_resident *resident, const sf_history *history, sf_error *error);

/**
 * Keeps the history's spikes at positions first .. last - 1 for sf_resident_stream, whatever is appended
 * later. Copies those that are not there yet; only where room has to be made does it wait for a job, and copy
 * all of them anew. No stream may be in the making.
 */
int sf_resident_hold(sf_resident *resident, const sf_history *history, uint64_t first, uint64_t last,
                     sf_error *error);

/** The spikes that are held as a stream that jobs take; any thread, but one at a time. */
int sf_resident_stream(sf_device_stream **stream, sf_resident *resident, const sf_backend_layout *layout,
                       sf_error *error);

/**
 * Holds positions first .. last - 1 and makes a stream of them, all units with the numbers that they have;
 * *stream is NULL where there is no spike. SF_DATA for a unit that does not exist.
 */
int sf_resident_lay_out(sf_device_stream **stream, sf_resident *resident, const sf_history *history,
                        uint64_t first, uint64_t last, uint32_t unit_count, sf_error *error);

#endif
