/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The input side: one thread per source reads batches and offers them to the merge; the front thread merges,
 * watches, decides on triggers, and passes everything to the recorders and then to the windows. The front
 * thread is real-time: it never allocates, locks, or touches files or sockets. It works in turns; a thread
 * that pushes may take a turn in its place.
 */
#ifndef SF_PIPELINE_FRONT_H
#define SF_PIPELINE_FRONT_H

#include "core/durations.h"
#include "core/realtime.h"
#include "pipeline/control.h"
#include "pipeline/features.h"
#include "window/merge.h"

typedef struct sf_front {
    sf_merge *merge;
    sf_feeders feeders;
    sf_pulse_train *train; /**< pulses of the first source that shares some; NULL: none does */
    sf_thread thread;
    sf_handoff *handoff;
    sf_publisher *publisher;
    sf_control control;
    sf_features features;
    int64_t duration_ns; /**< 0: to the end */
    int64_t limit_ns;    /**< spikes from here on are dropped; INT64_MAX until the first spike */
    int64_t began_ns;    /**< monotonic clock at the first spike, or at the release; 0: before it */
    /** on a virtual clock, the stretch length at whose ends the windows catch up; else 0 */
    int64_t stretch_ns;
    int64_t next_ns;          /**< end of the current stretch */
    sf_durations turns;       /**< durations of its thread's turns that did something */
    sf_durations latency;     /**< from arrival until watched, of the oldest spike of a turn */
    sf_feeder_faults *faults; /**< by source, as last read */
    int64_t reached_ns;       /**< current stream time; INT64_MIN: none yet */
    uint64_t steps_ahead;     /**< forward steps of source clocks seen in the stream */
    bool over;                /**< the limit was reached: later spikes are dropped */
    bool at_once;             /**< a pushing thread takes a turn itself if no other thread has one */
    bool ended;               /**< the turn was the last */
    atomic_bool turning;      /**< a thread has a turn and owns everything above in this struct */
    atomic_bool wanted;       /**< the front thread waits for its turn */
} sf_front;

/** Resolves watched episodes and opens the merge. Handoff, board and publisher are borrowed. SF_CONFIG,
 * SF_NO_MEMORY. */
int sf_front_open(sf_front *front, const sf_live_options *config, const sf_inputs *inputs,
                  int64_t duration_ns, sf_handoff *handoff, const sf_board *board, sf_publisher *publisher,
                  sf_error *error);

/** Starts all threads; sources are read only after sf_front_release. */
int sf_front_start(sf_front *front, sf_error *error);
void sf_front_release(sf_front *front);

/** Pushes a batch of a pushed source, as sf_feeder_push. The calling thread takes a turn of the front thread,
 * or wakes it. */
int sf_front_push(sf_front *front, size_t source, const sf_batch *batch);

/** Stops reading sources; what was read is still processed. Any thread. */
void sf_front_stop(sf_front *front);

/** Sends a command to the front thread. Any thread; returns what sf_control_order does. */
int sf_front_order(sf_front *front, const sf_command *order, sf_error *error);

/** Sets the priority of the started threads, as sf_pipeline_hurry. */
void sf_front_hurry(sf_front *front, const sf_realtime *wanted);

/** Any thread: as sf_control_change. */
int sf_front_change(sf_front *front, const sf_live_options *options, sf_error *error);

/** Adds the durations of its work to a status, after the stages of the windows. Any thread. */
void sf_front_tell(const sf_front *front, sf_status_message *status);

/** True if some source is live and in real time, so that a status by wall clock makes sense. Any thread. */
bool sf_front_is_live(const sf_front *front);

/** Waits until all its threads have ended and returns the first failure of a source. */
int sf_front_join(sf_front *front, sf_error *error);
void sf_front_close(sf_front *front);

#endif
