/* SPDX-License-Identifier: Apache-2.0 */
/** Simulations into files. Errors are as in synfire/synfire.h; one object from one thread at a time. */
#ifndef SF_TOOLS_SIMULATE_H
#define SF_TOOLS_SIMULATE_H

#include "replay/simulation_settings.h"

#include <synfire/recording.h>

/** A recording without spikes, of the units that the simulation will have: chains are read by their names. */
int sf_simulation_names(sf_recording **units, const sf_simulation_settings *settings, sf_error *error);

/** What was made. Free with sf_simulated_free. */
typedef struct sf_simulated {
    char *settings; /**< the options that make it again, defaults written out */
    uint64_t spikes, duplicates;
    size_t unit_count, marker_count;
    sf_span recorded;
    size_t chain_count;
    const sf_episode *chains;
    uint64_t *planted; /**< how often each chain was planted */
    void *own;
} sf_simulated;

/**
 * Simulates into a file of synfire's own, which also holds what was planted, or leaves none. What is there is
 * replaced as sf_recording_spare allows. SF_USAGE where the settings
 * contradict each other; SF_CANCELLED. `settings->description` is set here.
 */
int sf_simulation_save(sf_simulated *made, const char *path, const sf_simulation_settings *settings,
                       const sf_progress *progress, sf_error *error);
void sf_simulated_free(sf_simulated *made);

#endif
