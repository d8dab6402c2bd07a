/* SPDX-License-Identifier: Apache-2.0 */
/** The configured sources of a run, opened and closed together, and all their units in one table. */
#ifndef SF_PIPELINE_INPUTS_H
#define SF_PIPELINE_INPUTS_H

#include "analysis/quantity.h"
#include "core/config.h"
#include "core/progress.h"
#include "window/source.h"

typedef struct sf_input {
    sf_source *source;
    sf_recording recording; /**< what a replay source plays, where this object loaded it */
    uint32_t unit_offset;   /**< the source's unit 0 is this unit of the run */
    uint32_t ring;
    sf_ring_policy policy;
    int64_t patience_ns; /**< a live source that is silent for so long is lost */
} sf_input;

typedef struct sf_inputs {
    sf_input *items;
    size_t count;
    sf_units units; /**< of all sources, one after the other; with several, names get the source's in front */
    bool virtual_clock;    /**< every source runs on one: nothing waits for real time */
    sf_observed *observed; /**< of the recordings among them that tell when they were */
    size_t observed_count;
    const sf_recording *origin; /**< metadata for outputs: the one recording that is replayed, or NULL */
} sf_inputs;

/**
 * Opens the configured sources; where `recording` is not NULL it is replayed in their place at `speed` (0:
 * max) and stays the caller's. Live sources are waited for until their unit table is there; `progress` may
 * end the wait. SF_CONFIG where the policy is block and the source cannot wait.
 */
int sf_inputs_open(sf_inputs *inputs, const sf_config *config, const sf_recording *recording, double speed,
                   const sf_progress *progress, sf_error *error);
void sf_inputs_close(sf_inputs *inputs);

#endif
