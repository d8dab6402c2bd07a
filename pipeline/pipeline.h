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
    const sf_input *sources;     /**< opened; owned by the pipeline from the call on, also on failure */
    size_t source_count;
    int64_t duration_ns;       /**< of stream time, from the first spike; 0: to the end */
    uint64_t handoff_room;     /**< maximum number of spikes waiting for the window thread; 0: 1,048,576 */
    const char *configuration; /**< as text, for outlets; borrowed until close; or NULL */
    const sf_provenance *provenance; /**< of the results; borrowed until close; or NULL */
    const struct sf_hop_recorder
        *recorder;    /**< records the stages' accesses; borrowed until close; or NULL */
    int64_t worth_ns; /**< as in sf_hops_options */
} sf_pipeline_options;

typedef struct sf_pipeline sf_pipeline;

/** Resolves units and episodes; nothing runs yet. SF_CONFIG with the wrong key as the place, as "watch.0". */
int sf_pipeline_open(sf_pipeline **out, const sf_pipeline_options *options, sf_error *error);

/** Describes the run: stream name, all units, configuration. */
const sf_stream_info *sf_pipeline_stream(const sf_pipeline *pipeline);

/** Before the start: adds an outlet for all messages; owned by the pipeline from the call on, also on
 * failure. */
int sf_pipeline_attach(sf_pipeline *pipeline, sf_outlet outlet, sf_error *error);

/** Starts the threads. */
int sf_pipeline_start(sf_pipeline *pipeline, sf_error *error);

/** Pushes a batch; called by the thread of a pushed source. SF_AGAIN, SF_END, or SF_USAGE for more spikes at
 * once than its ring can hold. */
int sf_pipeline_push(sf_pipeline *pipeline, size_t source, const sf_batch *batch, sf_error *error);
void sf_pipeline_end_source(sf_pipeline *pipeline, size_t source);

/** Waits up to timeout_ms for the end of the streams; true once everything accepted has been published. */
bool sf_pipeline_wait(sf_pipeline *pipeline, int timeout_ms);

/** Sends a command for triggers, or a mark. Any thread but the front's. SF_AGAIN if too many commands wait;
 * SF_UNAVAILABLE for a trigger that cannot be armed now. */
int sf_pipeline_order(sf_pipeline *pipeline, const sf_command *command, sf_error *error);

/** Applies the keys marked live in these options, which otherwise equal the run's, without losing a spike.
 * Any thread; errors as sf_control_change. */
int sf_pipeline_change(sf_pipeline *pipeline, const sf_live_options *options, sf_error *error);

struct sf_density_copy;

/** As sf_densities_copy (pipeline/density_copy.h). Any thread, until close. */
int sf_pipeline_copy_density(sf_pipeline *pipeline, struct sf_density_copy *copy, const char *density,
                             sf_error *error);

/** After the start: gives the source threads and the watching thread this priority, and the watching thread
 * the core; what the system refuses is logged. */
void sf_pipeline_hurry(sf_pipeline *pipeline, const sf_realtime *wanted);

/** Stops reading spikes; what was accepted is still processed. Any thread. */
void sf_pipeline_stop(sf_pipeline *pipeline);

/** Nobody may act any more: named triggers are no longer sent, and running pulses end. Any thread, and signal
 * handlers, once all outlets are attached. */
void sf_pipeline_halt(sf_pipeline *pipeline);
bool sf_pipeline_is_halted(const sf_pipeline *pipeline);

/** How many of the SF_LEAVE_MS since the halt the window thread still has for its current work; 0: none. */
#define SF_LEAVE_MS 2000
int sf_pipeline_leave_ms(const sf_pipeline *pipeline);

/** Abandons the window thread in its work, and closes all outlets, which keep what they were given. The
 * pipeline is not freed, because that thread may still read from it; the program must exit next. Returns
 * SF_CANCELLED, or the first failure. */
int sf_pipeline_abandon(sf_pipeline *pipeline, sf_error *error);

/** Stops, drains, closes outlets, frees. Returns the first failure of the run, if any. NULL is allowed. */
int sf_pipeline_close(sf_pipeline *pipeline, sf_error *error);

#endif
