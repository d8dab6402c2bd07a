/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A source that shares pulses with others (window/pulses.h), between what is believed of its times and its
 * inlet. The first of them is the reference: its pulses are noted, and it goes through as it is. The others'
 * times become those of the reference's stream; until they can, spikes and markers are held, the newest
 * million of them. One thread, but for what is looked at.
 */
#ifndef SF_PIPELINE_ALIGNED_H
#define SF_PIPELINE_ALIGNED_H

#include "core/message.h"
#include "window/inlet.h"
#include "window/pulses.h"

typedef struct sf_aligned_settings {
    const char *name; /**< of the source, for the log; borrowed */
    uint16_t line;    /**< of its TTL edges */
    sf_pulse_train *train;
    const sf_inlet *reference; /**< whose stream time it is; NULL: it is the reference itself */
} sf_aligned_settings;

typedef struct sf_aligned sf_aligned;

int sf_aligned_open(sf_aligned **aligned, const sf_aligned_settings *settings, sf_error *error);
void sf_aligned_close(sf_aligned *aligned); /**< NULL is allowed */

/** Takes a batch in; what goes on because of it comes from sf_aligned_next, all of which is to be fetched
 * before the next call. SF_NO_MEMORY. */
int sf_aligned_take(sf_aligned *aligned, const sf_batch *batch, sf_error *error);
bool sf_aligned_next(sf_aligned *aligned, sf_batch *batch);

/** The source ended: what is held is left out. */
void sf_aligned_end(sf_aligned *aligned);

/** Any thread, real-time safe: spikes that were left out here. */
uint64_t sf_aligned_left_out(const sf_aligned *aligned);

/** Any thread: adds what is held and left out here, and says how the clocks lie. */
void sf_aligned_look(sf_aligned *aligned, sf_source_status *status);

#endif
