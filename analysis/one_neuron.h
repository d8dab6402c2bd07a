/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Detects two units whose spikes look like those of one neuron. Neighbouring electrodes record the same spike
 * at a fixed lag below 1 ms: some quarter of a millisecond then holds more than three times the count
 * expected from lags of 1 to 3 ms, and exceeds it by six standard errors. A sorter that splits a neuron
 * leaves two units that never fire within 1 ms of each other, because of the refractory period: at most a
 * tenth of the count expected from lags of 5 to 10 ms, if that expectation is at least 20.
 */
#ifndef SF_ANALYSIS_ONE_NEURON_H
#define SF_ANALYSIS_ONE_NEURON_H

#include "core/recording.h"

/** Maximum distance of electrodes that record the same neuron. */
#define SF_ONE_NEURON_UM 200.0

/** The spikes of a recording by unit. */
typedef struct sf_neurons {
    const sf_recording *recording;
    int64_t *times;
    size_t *first; /* by unit, and the count */
} sf_neurons;

/** Borrows the recording. If its spikes are not in memory there are no trains, and no pair looks like one
 * neuron. */
int sf_neurons_lay_out(sf_neurons *trains, const sf_recording *recording, sf_error *error);
void sf_neurons_free(sf_neurons *trains);

/** True if one electrode recorded both units, or if their spikes look like one neuron's. Time is linear in
 * the number of their spikes. */
bool sf_neurons_look_alike(const sf_neurons *trains, uint32_t one, uint32_t other);

#endif
