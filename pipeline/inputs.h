/* SPDX-License-Identifier: Apache-2.0 */
/** The opened sources of a run, and all their units in one table. */
#ifndef SF_PIPELINE_INPUTS_H
#define SF_PIPELINE_INPUTS_H

#include "analysis/quantity.h"
#include "window/source.h"

typedef struct sf_input {
    sf_source *source;
    uint32_t ring; /**< capacity in spikes between the source and the merge */
    sf_ring_policy policy;
    uint32_t pulses; /**< as in sf_source_settings */
} sf_input;

typedef struct sf_inputs {
    sf_input *items;
    size_t count;
    sf_units units; /**< of all sources, one after another; with several sources, names are prefixed with the
                       source's */
    bool virtual_clock;    /**< every source is on a virtual clock: nothing waits for real time */
    sf_observed *observed; /**< observed time of the recordings among them that state it */
    size_t observed_count;
    const sf_recording *origin; /**< metadata for outputs: the single replayed recording, or NULL */
} sf_inputs;

/** Takes ownership of the sources, and closes them on failure. SF_NO_MEMORY. */
int sf_inputs_open(sf_inputs *inputs, const sf_input *sources, size_t count, sf_error *error);
void sf_inputs_close(sf_inputs *inputs);

/** Closes sources that no run owns. */
void sf_sources_close(const sf_input *sources, size_t count);

#endif
