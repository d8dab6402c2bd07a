/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Synthetic recordings with planted chains, for demonstrations and tests.
 *
 * Model. All units share one hazard: a constant, plus a Gaussian bump for every burst; after each spike of a
 * unit its hazard is zero for the refractory time. The constant is chosen so that without bursts and chains
 * the mean rate is `rate_hz`: hazard = rate / (1 - rate * refractory). Occurrences of a chain start as a
 * Poisson process; each delay is normal around the middle of its interval and redrawn until it lies inside.
 * The hazard is also zero for the refractory time before a planted spike, so that every planted spike is
 * kept. An occurrence that would come too close to an earlier planted spike of the same unit, or would not
 * end within the recording, is not planted. A spike may be detected again, with smaller amplitude and up to
 * SF_SIMULATION_DUPLICATE_NS later, by an adjacent unit of the square grid; such duplicates ignore the
 * refractory time.
 *
 * The same settings give the same spikes. Each stream of random numbers serves one purpose and one unit, so
 * adding duplicates or markers leaves the other spikes unchanged.
 */
#ifndef SF_REPLAY_SIMULATION_H
#define SF_REPLAY_SIMULATION_H

#include "analysis/planted.h"
#include "core/progress.h"
#include "core/recording.h"
#include "replay/simulation_settings.h"

/** Units of the simulation: A to Z, then u26, u27, ...; positions on a square grid. */
int sf_simulation_units(sf_units *units, const sf_simulation_settings *settings, sf_error *error);

typedef struct sf_simulation sf_simulation;

/**
 * Plans the recording: units, markers, bursts and planted spikes are in memory from here on. SF_USAGE if the
 * settings contradict each other.
 */
int sf_simulation_open(sf_simulation **simulation, const sf_simulation_settings *settings, sf_error *error);

/** Units, markers, metadata and recorded span; no spikes. Valid until close. */
const sf_recording *sf_simulation_about(const sf_simulation *simulation);
const sf_truth *sf_simulation_truth(const sf_simulation *simulation);

/**
 * Generates the next spikes in (time, unit) order, about half a million at a time and valid until the next
 * call; *count 0: the recording is complete. Memory does not grow with the duration.
 */
int sf_simulation_next(sf_simulation *simulation, const sf_spike **spikes, size_t *count, sf_error *error);

/** End of the time for which spikes are complete so far. */
int64_t sf_simulation_done_ns(const sf_simulation *simulation);

/** Number of spikes so far that are duplicate detections. */
uint64_t sf_simulation_duplicates(const sf_simulation *simulation);

/**
 * Runs an opened simulation to its end, into a file that also holds the planted chains; on failure leaves no
 * file. Replaces an existing simulation or empty file of that name, nothing else: SF_CANNOT_CREATE.
 * SF_CANCELLED.
 */
int sf_simulation_write(sf_simulation *simulation, const char *path, uint64_t *spike_count,
                        const sf_progress *progress, sf_error *error);

void sf_simulation_close(sf_simulation *simulation);

/** Generates the whole recording at once; `truth` may be NULL. */
int sf_simulate(sf_recording *recording, sf_truth *truth, const sf_simulation_settings *settings,
                const sf_progress *progress, sf_error *error);

#endif
