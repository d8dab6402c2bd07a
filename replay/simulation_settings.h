/* SPDX-License-Identifier: Apache-2.0 */
/** Settings of a simulation (replay/simulation.h). */
#ifndef SF_REPLAY_SIMULATION_SETTINGS_H
#define SF_REPLAY_SIMULATION_SETTINGS_H

#include "core/keys.h"

#include <synfire/mine.h>

#define SF_SIMULATION_DUPLICATE_NS INT64_C(250000)
#define SF_SIMULATION_APART_NS INT64_C(20000000) /**< minimum period of markers; a pulse lasts half of it */

typedef struct sf_simulation_chain {
    sf_episode episode; /**< units < unit_count */
    double rate_hz;     /**< occurrences a second */
} sf_simulation_chain;

typedef struct sf_simulation_settings {
    uint64_t seed;
    uint32_t unit_count;
    double rate_hz; /**< of each unit, outside bursts and chains */
    int64_t start_ns, duration_ns;
    int64_t refractory_ns;
    const sf_simulation_chain *chains; /**< borrowed for the call of sf_simulation_open */
    size_t chain_count;
    int64_t jitter_ns;    /**< standard deviation of a planted delay before it is kept inside its interval */
    double burst_rate_hz; /**< bursts shared by all units start as a Poisson process; 0: none */
    int64_t burst_sigma_ns;
    double burst_spikes;     /**< mean number of extra spikes of a unit in a burst, before the refractory time
                                applies */
    double duplicates;       /**< fraction of spikes that an adjacent unit detects again */
    double pitch_um;         /**< distance of adjacent units on the square grid */
    int64_t marker_every_ns; /**< period of markers (a pulse on TTL line 0 and a text); 0: no markers */
    double evoked;           /**< fraction of the pulses that each chain follows */
    int64_t evoked_after_ns; /**< delay of that occurrence, with the jitter of delays */
    const char *description; /**< stored as the metadata `simulation`, or NULL; borrowed like `chains` */
} sf_simulation_settings;

/** Options, defaults and rows (core/keys.h): 26 units at 10 Hz for 60 s, 2 ms refractory, 0.5 ms jitter, seed
 * 1; no chains, bursts, duplicates, markers. */
extern const sf_key_table sf_simulation_table;

static inline void sf_simulation_settings_default(sf_simulation_settings *settings)
{
    *settings = *(const sf_simulation_settings *)sf_simulation_table.defaults;
}

#endif
