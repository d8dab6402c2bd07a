/* SPDX-License-Identifier: Apache-2.0 */
/** Writes simulations to files. Errors are as in synfire/synfire.h; one object from one thread at a time. */
#ifndef SF_TOOLS_SIMULATE_H
#define SF_TOOLS_SIMULATE_H

#include "replay/simulation_settings.h"

#include <synfire/recording.h>

/** Builds a recording without spikes, with the units that the simulation will have, so that chains can be
 * read by unit names. */
int sf_simulation_names(sf_recording **units, const sf_simulation_settings *settings, sf_error *error);

/** What was simulated. Free with sf_simulated_free. */
typedef struct sf_simulated {
    char *settings; /**< the options that reproduce it, defaults written out */
    uint64_t spikes, duplicates;
    size_t unit_count, marker_count;
    sf_span recorded;
    size_t chain_count;
    const sf_episode *chains;
    uint64_t *planted; /**< how often each chain was planted */
    void *own;
} sf_simulated;

/**
 * Simulates into a file of synfire's own layout, which also records what was planted; on failure leaves no
 * file. An existing file is replaced if sf_recording_spare allows. SF_USAGE if the settings contradict each
 * other; SF_CANCELLED. Sets `settings->description`.
 */
int sf_simulation_save(sf_simulated *made, const char *path, const sf_simulation_settings *settings,
                       const sf_progress *progress, sf_error *error);
void sf_simulated_free(sf_simulated *made);

#endif
