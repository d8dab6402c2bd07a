/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Densities of one plan on a device: what sf_moving_select and sf_moving_draw make of many at once, the same
 * but for rounding. Bandwidths agree within 1e-9 of them, averages within 1e-9 of the highest.
 *
 * The states stay on the CPU, where samples come and go, and those asked for are sent each time, 32 KB each
 * of intervals. Memory of the device: that, and the pictures.
 *
 * Every function may return SF_UNAVAILABLE: the device has failed, or has no room. Then only closing is left,
 * and the CPU does the work. One thread.
 */
#ifndef SF_DENSITY_MOVING_THERE_H
#define SF_DENSITY_MOVING_THERE_H

#include "core/backend/device.h"
#include "density/picture.h"

typedef struct sf_moving_there sf_moving_there;

/** For densities of this plan, drawn by this view. SF_UNAVAILABLE also where the plugin has no such jobs, or
 * the plan's frame is too large for the device. SF_NO_MEMORY. */
int sf_moving_there_open(sf_moving_there **there, sf_device *device, const sf_moving_plan *plan,
                         const sf_moving_view *view, sf_error *error);
void sf_moving_there_close(sf_moving_there *there); /**< NULL is allowed */

/**
 * Chooses bandwidths of states[which[i]], i < count, each of which is due (sf_moving_due), and draws them.
 * The states stay as they are. `plan` is the one it was opened for, whose tick may have changed since.
 * Copies states on up to `threads` threads. SF_NO_MEMORY.
 */
int sf_moving_there_draw(sf_moving_there *there, const sf_moving_plan *plan, const sf_moving_density *states,
                         const size_t *which, size_t count, unsigned threads, sf_error *error);

/** Picture i of those drawn last, whose h is 0 where all samples are equal, and the averages over its bins.
 * Until the next call. */
const sf_moving_picture *sf_moving_there_picture(const sf_moving_there *there, size_t i,
                                                 const double **values);

#endif
