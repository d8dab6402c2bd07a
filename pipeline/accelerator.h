/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device of a run, with the window's spikes on it. What it cannot do, or no longer, the CPU does; the
 * status message says so. Window thread only, but for what discovery mines.
 */
#ifndef SF_PIPELINE_ACCELERATOR_H
#define SF_PIPELINE_ACCELERATOR_H

#include "core/message.h"
#include "pipeline/options.h"
#include "window/resident.h"

/** Zero-initialised, it is the CPU. */
typedef struct sf_accelerator {
    sf_device *device;     /**< NULL: the CPU */
    sf_resident *resident; /**< or NULL: no window is kept on the device */
} sf_accelerator;

/** The device that `device` of the configuration names, or with `auto` and `cuda:all` the first there is.
 * SF_UNAVAILABLE where a named one is missing. */
int sf_accelerator_open(sf_accelerator *accelerator, const sf_live_options *config, sf_error *error);
void sf_accelerator_close(sf_accelerator *accelerator);

/** Copies what is new in the history to the device, which goes on with what it does. SF_NO_MEMORY. */
int sf_accelerator_append(sf_accelerator *accelerator, const sf_history *history, sf_error *error);

/**
 * The window of positions first .. last - 1 on the device, for jobs: *resident is NULL where it has none. It
 * stays as it is until the next call, which no job on it may see. SF_NO_MEMORY.
 */
int sf_accelerator_hold(sf_accelerator *accelerator, const sf_history *history, uint64_t first, uint64_t last,
                        sf_resident **resident, sf_error *error);

/** Fills what a status says of the device. */
void sf_accelerator_status(const sf_accelerator *accelerator, sf_status_message *status);

#endif
