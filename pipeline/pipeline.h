/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The live pipeline: sources -> merge -> watch -> windows -> mining -> graph, density -> sinks.
 *
 * Threads: one per source; the front thread merges, watches and hands raw spikes and markers to the recorders
 * (real-time: no allocation, lock or file); the window thread does the work of each hop; the discovery thread
 * re-mines windows in the background; each sink has its own. With sources on a virtual clock (replay at speed
 * max) discovery runs inside its hop, so that a run is deterministic.
 */
#ifndef SF_PIPELINE_PIPELINE_H
#define SF_PIPELINE_PIPELINE_H

#include "core/realtime.h"
#include "pipeline/control.h"
#include "pipeline/inputs.h"
#include "pipeline/options.h"
#include "pipeline/publisher.h"

typedef struct sf_pipeline_options {
    const sf_live_options *live; /**< resolved; borrowed until close */
    const sf_input *sources;     /**< opened: the pipeline's from the call on, whether it succeeds or not */
    size_t source_count;
    int64_t duration_ns;                    /**< of stream time, from the first spike; 0: to the end */
    uint64_t handoff_room;                  /**< spikes that may wait for the window thread; 0: 1,048,576 */
    const char *configuration;              /**< as text, for outlets; borrowed until close; or NULL */
    const sf_provenance *provenance;        /**< of the results; borrowed until close; or NULL */
    const struct sf_hop_recorder *recorder; /**< of the stages' accesses; borrowed until close; or NULL */
    int64_t worth_ns;                       /**< as of sf_hops_options */
} sf_pipeline_options;

typedef struct sf_pipeline sf_pipeline;

/** Resolves units and episodes. Nothing runs yet. SF_CONFIG with the key that is wrong, as "watch.0", for its
 * place. */
int sf_pipeline_open(sf_pipeline **out, const sf_pipeline_options *options, sf_error *error);

/** What the run is about: stream name, all units, configuration. */
const sf_stream_info *sf_pipeline_stream(const sf_pipeline *pipeline);

/** Before the start: an outlet for all messages, the pipeline's from the call on, whether it succeeds or not.
 */
int sf_pipeline_attach(sf_pipeline *pipeline, sf_outlet outlet, sf_error *error);

/** Starts the threads. */
int sf_pipeline_start(sf_pipeline *pipeline, sf_error *error);

/** The thread of a source that is pushed. SF_AGAIN, SF_END, or SF_USAGE for more at once than its ring ever
 * holds. */
int sf_pipeline_push(sf_pipeline *pipeline, size_t source, const sf_batch *batch, sf_error *error);
void sf_pipeline_end_source(sf_pipeline *pipeline, size_t source);

/** Waits up to timeout_ms for the end of the streams; true once everything accepted has been published. */
bool sf_pipeline_wait(sf_pipeline *pipeline, int timeout_ms);

/** Any thread but the front's: something for triggers, or a mark. SF_AGAIN where too much waits;
 * SF_UNAVAILABLE for a trigger that cannot be armed now. */
int sf_pipeline_order(sf_pipeline *pipeline, const sf_command *command, sf_error *error);

/** Any thread: the keys marked live in these options, which else are the run's, hold from now on, without a
 * spike lost; as sf_control_change. */
int sf_pipeline_change(sf_pipeline *pipeline, const sf_live_options *options, sf_error *error);

struct sf_density_copy;

/** Any thread, until it is closed: as sf_densities_copy (pipeline/density_copy.h). */
int sf_pipeline_copy_density(sf_pipeline *pipeline, struct sf_density_copy *copy, const char *density,
                             sf_error *error);

/** Once it has started: gives the threads by which spikes come, and the one that watches, this priority and
 * that one the core; what is refused is logged. */
void sf_pipeline_hurry(sf_pipeline *pipeline, const sf_realtime *wanted);

/** Any thread: no further spikes are read; what was accepted is worked off. */
void sf_pipeline_stop(sf_pipeline *pipeline);

/** Any thread, and handlers of signals, once all outlets are attached: nobody is to act any more. Triggers
 * with names are sent no longer, and pulses that are under way end. */
void sf_pipeline_halt(sf_pipeline *pipeline);
bool sf_pipeline_is_halted(const sf_pipeline *pipeline);

/** How many ms the window thread still has for what it is at, since the run was halted, of SF_LEAVE_MS; 0
 * where it has none left. */
#define SF_LEAVE_MS 2000
int sf_pipeline_leave_ms(const sf_pipeline *pipeline);

/** Leaves the window thread at what it does, and closes all outlets, which keep what they were given. The
 * pipeline is not freed, since that thread may still read of it: the program is to exit next. Returns
 * SF_CANCELLED, or the first failure. */
int sf_pipeline_abandon(sf_pipeline *pipeline, sf_error *error);

/** Stops, drains, closes outlets, frees. Returns the first failure of the run, if any. NULL is allowed. */
int sf_pipeline_close(sf_pipeline *pipeline, sf_error *error);

#endif
