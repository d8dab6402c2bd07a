/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Synthetic recordings with planted chains, for demonstrations and tests.
 *
 * Model. Each unit fires by a hazard that all units share: a constant, plus a Gaussian bump for every burst;
 * after each of its spikes the hazard is zero for the refractory time. The constant is chosen so that without
 * bursts and chains the mean rate is `rate_hz`: hazard = rate / (1 - rate * refractory). Occurrences of a
 * chain start as a Poisson process; each delay is normal around the middle of its interval and redrawn until
 * it lies inside. The hazard is also zero for the refractory time before a planted spike, so every planted
 * spike is there. An occurrence that would come too close to an earlier planted spike of the same unit, or
 * that does not end within the recording, is not planted. A spike may be detected again, smaller and up to
 * SF_SIMULATION_DUPLICATE_NS later, by an adjacent unit of the square grid; such duplicates know no
 * refractory time.
 *
 * The same settings give the same spikes. Streams of random numbers belong to one purpose and one unit, so
 * adding duplicates or markers leaves the other spikes as they were.
 */
#ifndef SF_REPLAY_SIMULATION_H
#define SF_REPLAY_SIMULATION_H

#include "analysis/planted.h"
#include "core/progress.h"
#include "core/recording.h"
#include "replay/simulation_settings.h"

/** Units as the simulation will have them: A to Z, then u26, u27, ...; positions on a square grid. */
int sf_simulation_units(sf_units *units, const sf_simulation_settings *settings, sf_error *error);

typedef struct sf_simulation sf_simulation;

/**
 * Plans the recording: units, markers, bursts and planted spikes are in memory from here on. SF_USAGE where
 * the settings contradict each other.
 */
int sf_simulation_open(sf_simulation **simulation, const sf_simulation_settings *settings, sf_error *error);

/** Units, markers, metadata and recorded span; no spikes. Valid until close. */
const sf_recording *sf_simulation_about(const sf_simulation *simulation);
const sf_truth *sf_simulation_truth(const sf_simulation *simulation);

/**
 * The next spikes in (time, unit) order, about half a million at a time and valid until the next call; *count
 * 0: the recording is complete. Memory does not grow with the duration.
 */
int sf_simulation_next(sf_simulation *simulation, const sf_spike **spikes, size_t *count, sf_error *error);

/** The end of the time that is complete so far. */
int64_t sf_simulation_done_ns(const sf_simulation *simulation);

/** Spikes so far that are second detections. */
uint64_t sf_simulation_duplicates(const sf_simulation *simulation);

/**
 * Runs a simulation that was opened to its end, into a file that also holds what was planted, or leaves none.
 * A simulation or an empty file of that name is replaced, nothing else: SF_CANNOT_CREATE. SF_CANCELLED.
 */
int sf_simulation_write(sf_simulation *simulation, const char *path, uint64_t *spike_count,
                        const sf_progress *progress, sf_error *error);

void sf_simulation_close(sf_simulation *simulation);

/** The whole recording at once. truth may be NULL. */
int sf_simulate(sf_recording *recording, sf_truth *truth, const sf_simulation_settings *settings,
                const sf_progress *progress, sf_error *error);

#endif
