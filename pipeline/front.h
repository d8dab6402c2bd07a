/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The way in: one thread per source reads batches and offers them to the merge; the front thread merges,
 * watches, decides on triggers, hands all to the recorders and then on to the windows. The front thread is
 * real-time: it never allocates, locks, or touches files or sockets. What it does is turns, one after the
 * other; a thread that pushes may have one in its place.
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
    sf_pulse_train *train; /**< of the first source that shares pulses with others; NULL: none does */
    sf_thread thread;
    sf_handoff *handoff;
    sf_publisher *publisher;
    sf_control control;
    sf_features features;
    int64_t duration_ns; /**< 0: to the end */
    int64_t limit_ns;    /**< spikes from here on are not taken; INT64_MAX until the first spike */
    int64_t began_ns;    /**< monotonic clock at the first spike, or at the release; 0: before it */
    int64_t stretch_ns; /**< on a virtual clock, of what is tested: at its end the windows catch up; else 0 */
    int64_t next_ns;    /**< the next end of one */
    sf_durations turns; /**< of its thread that did something */
    sf_durations latency;     /**< from arrival until watched, of the oldest spike of a turn */
    sf_feeder_faults *faults; /**< of each source, as they were looked at last */
    int64_t reached_ns;       /**< where the stream is; INT64_MIN: nowhere yet */
    uint64_t steps_ahead;     /**< of sources, that were found in the stream */
    bool over;                /**< the limit was reached: what still comes is let go */
    bool at_once;             /**< who pushes takes a turn by itself where nobody else has one */
    bool ended;               /**< the turn was the last */
    atomic_bool turning;      /**< a thread has a turn, and all above of this struct */
    atomic_bool wanted;       /**< the front thread waits for that one */
} sf_front;

/** Resolves watched episodes, opens the merge. Handoff, board and publisher are borrowed. */
int sf_front_open(sf_front *front, const sf_live_options *config, const sf_inputs *inputs,
                  int64_t duration_ns, sf_handoff *handoff, const sf_board *board, sf_publisher *publisher,
                  sf_error *error);

/** Starts all threads; sources are read once sf_front_release was called. */
int sf_front_start(sf_front *front, sf_error *error);
void sf_front_release(sf_front *front);

/** What a program pushes; as sf_feeder_push. Its thread takes a turn of the front thread's, or wakes that. */
int sf_front_push(sf_front *front, size_t source, const sf_batch *batch);

/** Sources are not read any more; what was read goes through. Any thread. */
void sf_front_stop(sf_front *front);

/** Any thread: something for the front thread to do; a status of sf_control_order. */
int sf_front_order(sf_front *front, const sf_command *order, sf_error *error);

/** Of threads that were started: as sf_pipeline_hurry. */
void sf_front_hurry(sf_front *front, const sf_realtime *wanted);

/** Any thread: as sf_control_change. */
int sf_front_change(sf_front *front, const sf_live_options *options, sf_error *error);

/** Any thread: how long its work takes, behind the stages of the windows. */
void sf_front_tell(const sf_front *front, sf_status_message *status);

/** Some source is live and in real time: there is something to be told by wall clock. Any thread. */
bool sf_front_is_live(const sf_front *front);

/** Waits for the end of all its threads and returns the first failure of a source. */
int sf_front_join(sf_front *front, sf_error *error);
void sf_front_close(sf_front *front);

#endif
