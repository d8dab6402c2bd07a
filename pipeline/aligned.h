/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A source that shares pulses with others (window/pulses.h): the stage between checking its times
 * (window/continuity.h) and its inlet. The first such source is the reference: its pulses are noted, and its
 * batches pass unchanged. The others' times are converted to the reference's stream; until that is possible,
 * the newest million of their spikes and markers are held. One thread, except where a comment says otherwise.
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
    /** the source whose stream time is used; NULL: this source is the reference */
    const sf_inlet *reference;
} sf_aligned_settings;

typedef struct sf_aligned sf_aligned;

int sf_aligned_open(sf_aligned **aligned, const sf_aligned_settings *settings, sf_error *error);
void sf_aligned_close(sf_aligned *aligned); /**< NULL is allowed */

/** Takes a batch. Afterwards fetch all resulting batches with sf_aligned_next before the next call.
 * SF_NO_MEMORY. */
int sf_aligned_take(sf_aligned *aligned, const sf_batch *batch, sf_error *error);
bool sf_aligned_next(sf_aligned *aligned, sf_batch *batch);

/** The source ended: drops what is held. */
void sf_aligned_end(sf_aligned *aligned);

/** Number of spikes dropped by this stage. Any thread, real-time safe. */
uint64_t sf_aligned_left_out(const sf_aligned *aligned);

/** Adds to the status what this stage holds and has dropped, and the offset of the clocks. Any thread. */
void sf_aligned_look(sf_aligned *aligned, sf_source_status *status);

#endif
