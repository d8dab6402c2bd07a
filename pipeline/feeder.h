/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The thread of one source: reads batches, lets through what is believed of their times (window/continuity.h)
 * and offers that to the source's inlet. Of a live source it also knows, by the monotonic clock, whether its
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
    int64_t max_age_ns;                /**< the least that a trigger allows; 0: none asks for one */
    int64_t patience_ns;               /**< a sender that is not heard for so long is lost */
    const sf_aligned_settings *pulses; /**< that it shares; of the call; NULL: none */
} sf_feeder_settings;

/** A line in the log that comes again while its count grows. */
typedef struct sf_feeder_line {
    uint64_t count; /**< when it was written last, at_ns of the monotonic clock; 0: never */
    int64_t at_ns;
} sf_feeder_line;

typedef struct sf_feeder {
    sf_feeders *all;
    sf_feeder_settings settings;
    sf_continuity *continuity;  /**< NULL: a recording, whose times were looked at when it was read */
    sf_aligned *aligned;        /**< NULL: it shares no pulses */
    const sf_inlet *reference;  /**< whose stream time `aligned` tells; NULL: its own */
    int64_t reference_shift_ns; /**< of that stream, as it was seen last */
    sf_due due;                 /**< of the present epoch */
    sf_pace pace;               /**< likewise */
    bool pace_was_told;         /**< in the log */
    bool fresh;                 /**< no time of the present run has come */
    int64_t began_ns;           /**< monotonic clock when it began to read */
    bool first_ended;
    uint64_t first_spikes, first_old; /**< of its first seconds, and of these older than max_age_ns */
    bool behind_was_told;             /**< in the log, of the present epoch */
    sf_thread thread;
    sf_bell room;              /**< rung after each pull while `waiting` */
    atomic_bool waiting;       /**< the inlet had no room */
    _Atomic int state;         /**< sf_source_state */
    atomic_bool gone;          /**< lost for as long again, and its connection is closed */
    atomic_bool cut;           /**< it goes on after the asked duration: not ended, however far it was read */
    _Atomic int64_t heard_ns;  /**< monotonic clock when it was heard last */
    _Atomic int64_t behind_ns; /**< of sf_source_status */
    _Atomic int64_t missing_spikes, missing_markers; /**< by the sender's totals; -1: not known */
    _Atomic uint64_t silences;                       /**< times that it stalled */
    sf_continuity_counts told;                       /**< what was logged */
    sf_feeder_line late, unknown;                    /**< likewise, of spikes that were left out */
    int status;                                      /**< of the source, once its thread ended */
    sf_error error;
} sf_feeder;

/** A live source: one whose sender may fall silent. */
bool sf_feeder_is_live(const sf_feeder *feeder);

/** A source without a thread here: its owner pushes what it has. */
bool sf_feeder_is_pushed(const sf_feeder *feeder);

int sf_feeder_open(sf_feeder *feeder, sf_feeders *all, const sf_feeder_settings *settings, sf_error *error);
int sf_feeder_start(sf_feeder *feeder, sf_error *error); /**< its thread, where it has one */

/** Of a source that is pushed, which has no `read` and no thread here: its owner's thread offers a batch.
 * SF_AGAIN where there is no room and nothing was taken, SF_END once the run has ended. Who merges is not
 * woken. Real-time safe. */
int sf_feeder_push(sf_feeder *feeder, const sf_batch *batch);
void sf_feeder_finish(sf_feeder *feeder);

/** Likewise, where the run is stopped before the source ended. */
void sf_feeder_leave(sf_feeder *feeder);

/** Any thread; a snapshot. */
void sf_feeder_status(const sf_feeder *feeder, sf_source_status *status);

/** Why something that was sent is not analysed: the counts of sf_source_status. */
typedef enum sf_loss {
    SF_LOSS_GAPS, /**< breaks in its numbering */
    SF_LOSS_MALFORMED,
    SF_LOSS_LATE,
    SF_LOSS_DROPPED,
    SF_LOSS_LEAPS,
    SF_LOSS_OUT_OF_RANGE,
    SF_LOSS_CAUSES
} sf_loss;

/** What makes a source's spikes unfit to act on; the counts only grow. */
typedef struct sf_feeder_faults {
    bool silent;                   /**< a live one, longer than it may be */
    uint64_t silences;             /**< of it so far, with those that ended already */
    uint64_t lost[SF_LOSS_CAUSES]; /**< frames, or spikes */
    uint64_t steps;                /**< of its clock, and new beginnings; */
    uint64_t steps_ahead;          /**< of these, those ahead */
} sf_feeder_faults;

/** Bits of the causes that disarm. */
unsigned sf_loss_disarming(const sf_live_safe_loss *safe);

/** Bits of the causes that make a hole in the stream: all of known units, and what disarms. */
unsigned sf_loss_holes(const sf_live_safe_loss *safe);

/** What was lost by these causes. */
uint64_t sf_feeder_lost(const sf_feeder_faults *faults, unsigned causes);

/** Any thread, real-time safe. What came with a batch is counted before the batch is offered. */
void sf_feeder_look(const sf_feeder *feeder, sf_feeder_faults *faults);

/** Its thread has ended, or was never started. */
void sf_feeder_close(sf_feeder *feeder);

#endif
