/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device of a run, which holds the window's spikes. The CPU does what the device cannot do or no longer
 * does; the status message says so. Window thread only, except for what discovery mines.
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

/** Opens the device that `device` of the configuration names; with `auto` and `cuda:all`, the first one.
 * SF_UNAVAILABLE if a named device is missing. */
int sf_accelerator_open(sf_accelerator *accelerator, const sf_live_options *config, sf_error *error);
void sf_accelerator_close(sf_accelerator *accelerator);

/** Copies new spikes of the history to the device, without stopping its work. SF_NO_MEMORY. */
int sf_accelerator_append(sf_accelerator *accelerator, const sf_history *history, sf_error *error);

/**
 * Gives jobs the window of positions first .. last - 1 on the device; *resident is NULL if the device does
 * not have it. It stays unchanged until the next call, by when no job may use it. SF_NO_MEMORY.
 */
int sf_accelerator_hold(sf_accelerator *accelerator, const sf_history *history, uint64_t first, uint64_t last,
                        sf_resident **resident, sf_error *error);

/** Fills the fields of a status that describe the device. */
void sf_accelerator_status(const sf_accelerator *accelerator, sf_status_message *status);

#endif
