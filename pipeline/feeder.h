/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The thread of one source: reads batches, passes on those with believable times (window/continuity.h), and
 * offers them to the source's inlet. For a live source it also tracks, by the monotonic clock, whether the
 * sender is heard.
 */
#ifndef SF_PIPELINE_FEEDER_H
#define SF_PIPELINE_FEEDER_H

#include "core/message.h"
#include "core/thread.h"
#include "pipeline/aligned.h"
#include "window/continuity.h"
#include "window/due.h"
#include "window/inlet.h"
#include "window/pace.h"

/** What the feeders of a run share. */
typedef struct sf_feeders {
    struct sf_feeder *items;
    size_t count;
    atomic_bool released, stopping;
    atomic_bool abandoned;    /**< every source has ended or its sender is gone: the run ends */
    _Atomic uint64_t changes; /**< changes of the state of a live source, to be published */
    sf_bell filled;           /**< a source offered something */
    sf_bell *changed;         /**< rung with `changes`; borrowed */
} sf_feeders;

typedef struct sf_feeder_settings {
    sf_source *source; /**< borrowed, like the inlet */
    sf_inlet *inlet;
    int64_t leap_ns, lateness_ns;      /**< of sf_continuity_settings */
    int64_t max_age_ns;                /**< the lowest max_age of any trigger; 0: none has one */
    int64_t patience_ns;               /**< a sender not heard for this long is lost */
    const sf_aligned_settings *pulses; /**< pulses that it shares; used during the call only; NULL: none */
} sf_feeder_settings;

/** A log line that is repeated while its count grows. */
typedef struct sf_feeder_line {
    uint64_t count; /**< value at the last write, at_ns on the monotonic clock; 0: never written */
    int64_t at_ns;
} sf_feeder_line;

typedef struct sf_feeder {
    sf_feeders *all;
    sf_feeder_settings settings;
    sf_continuity *continuity;  /**< NULL: a recording, whose times were checked when it was read */
    sf_aligned *aligned;        /**< NULL: it shares no pulses */
    const sf_inlet *reference;  /**< the source whose stream time `aligned` produces; NULL: its own */
    int64_t reference_shift_ns; /**< of that stream, when last read */
    sf_due due;                 /**< for the present epoch */
    sf_pace pace;               /**< likewise */
    bool pace_was_told;         /**< logged */
    bool fresh;                 /**< no time of the present run has arrived */
    int64_t began_ns;           /**< monotonic clock when it began to read */
    bool first_ended;
    uint64_t first_spikes,
        first_old;        /**< in its first seconds: spikes, and those of them older than max_age_ns */
    bool behind_was_told; /**< logged, for the present epoch */
    sf_thread thread;
    sf_bell room;        /**< rung after each pull while `waiting` */
    atomic_bool waiting; /**< the inlet had no room */
    _Atomic int state;   /**< sf_source_state */
    atomic_bool gone;    /**< lost for twice its patience, and its connection is closed */
    atomic_bool cut; /**< it continues beyond the requested duration: not ended, however far it was read */
    _Atomic int64_t heard_ns;                        /**< monotonic clock when it was last heard */
    _Atomic int64_t behind_ns;                       /**< of sf_source_status */
    _Atomic int64_t missing_spikes, missing_markers; /**< by the sender's totals; -1: not known */
    _Atomic uint64_t silences;                       /**< number of times that it stalled */
    sf_continuity_counts told;                       /**< counts already logged */
    sf_feeder_line late, unknown;                    /**< likewise, for spikes that were dropped */
    int status;                                      /**< error of the source, once its thread has ended */
    sf_error error;
} sf_feeder;

/** A live source: one whose sender may fall silent. */
bool sf_feeder_is_live(const sf_feeder *feeder);

/** A source without its own thread: its owner pushes its batches. */
bool sf_feeder_is_pushed(const sf_feeder *feeder);

int sf_feeder_open(sf_feeder *feeder, sf_feeders *all, const sf_feeder_settings *settings, sf_error *error);
int sf_feeder_start(sf_feeder *feeder, sf_error *error); /**< starts its thread, if it has one */

/** For a pushed source, which has no `read` and no thread: offers a batch from its owner's thread. Does not
 * wake the merging thread. SF_AGAIN if there is no room and nothing was accepted, SF_END once the run has
 * ended. Real-time safe. */
int sf_feeder_push(sf_feeder *feeder, const sf_batch *batch);
void sf_feeder_finish(sf_feeder *feeder);

/** Like sf_feeder_finish, but the run was stopped before the source ended. */
void sf_feeder_leave(sf_feeder *feeder);

/** Any thread; a snapshot. */
void sf_feeder_status(const sf_feeder *feeder, sf_source_status *status);

/** Why something that was sent is not analysed; the counts are those of sf_source_status. */
typedef enum sf_loss {
    SF_LOSS_GAPS, /**< breaks in the sender's numbering */
    SF_LOSS_MALFORMED,
    SF_LOSS_LATE,
    SF_LOSS_DROPPED,
    SF_LOSS_LEAPS,
    SF_LOSS_OUT_OF_RANGE,
    SF_LOSS_CAUSES
} sf_loss;

/** What makes a source's spikes unsafe to act on; the counts only grow. */
typedef struct sf_feeder_faults {
    bool silent;                   /**< a live source is silent for longer than allowed */
    uint64_t silences;             /**< number of silences so far, including past ones */
    uint64_t lost[SF_LOSS_CAUSES]; /**< frames, or spikes */
    uint64_t steps;                /**< steps and restarts of its clock */
    uint64_t steps_ahead;          /**< forward steps among these */
} sf_feeder_faults;

/** Bits of the causes that disarm. */
unsigned sf_loss_disarming(const sf_live_safe_loss *safe);

/** Bits of the causes that make a hole in the stream: all those that concern known units, and those that
 * disarm. */
unsigned sf_loss_holes(const sf_live_safe_loss *safe);

/** Number of losses by these causes. */
uint64_t sf_feeder_lost(const sf_feeder_faults *faults, unsigned causes);

/** Reads the faults. Any thread, real-time safe. Faults of a batch are counted before the batch is offered.
 */
void sf_feeder_look(const sf_feeder *feeder, sf_feeder_faults *faults);

/** Closes it after its thread has ended, or if it was never started. */
void sf_feeder_close(sf_feeder *feeder);

#endif
