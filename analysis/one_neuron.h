/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two units whose spikes look like one neuron's. Electrodes side by side see a spike again with a lag that is
 * always the same and below a millisecond: a quarter of a millisecond holds three times what the lags of 1 to
 * 3 ms lead one to expect, and more by six standard errors. A sorter that splits a neuron leaves two units of
 * which none fires within a millisecond of the other, since the neuron cannot: a tenth of what the lags of 5
 * to 10 ms lead one to expect, where that is 20 or more.
 */
#ifndef SF_ANALYSIS_ONE_NEURON_H
#define SF_ANALYSIS_ONE_NEURON_H

#include "core/recording.h"

/** Electrodes that see one neuron are no further apart. */
#define SF_ONE_NEURON_UM 200.0

/** The spikes of a recording by unit. */
typedef struct sf_neurons {
    const sf_recording *recording;
    int64_t *times;
    size_t *first; /* by unit, and the count */
} sf_neurons;

/** The recording is borrowed; one that is not held has no trains, and nothing looks like one neuron. */
int sf_neurons_lay_out(sf_neurons *trains, const sf_recording *recording, sf_error *error);
void sf_neurons_free(sf_neurons *trains);

/** One electrode saw both, or their spikes look like one neuron's. Linear in their spikes. */
bool sf_neurons_look_alike(const sf_neurons *trains, uint32_t one, uint32_t other);

#endif
