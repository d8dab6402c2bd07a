/* SPDX-License-Identifier: Apache-2.0 */
/** What a run hands everything to: a sink, or a queue that a program reads. One struct of functions per kind.
 */
#ifndef SF_CORE_OUTLET_H
#define SF_CORE_OUTLET_H

#include "core/message.h"

/** Spikes in stream order and markers in time order, as they came out of the merge. */
typedef struct sf_raw_batch {
    const sf_spike *spikes;
    size_t spike_count;
    const sf_marker *markers;
    size_t marker_count;
    uint64_t spikes_lost, markers_lost; /**< a recorder's: so far, that found no room on the way to it */
} sf_raw_batch;

/** What became of a trigger with a name, where somebody may act on it. */
typedef struct sf_delivered {
    char name[SF_TRIGGER_NAME_SIZE], sink[SF_STATUS_NAME_SIZE];
    uint64_t trigger_seq;
    int64_t time_ns, arrival_ns;
    int64_t at_ns;       /**< monotonic clock when it was handed to the socket or line, or given up */
    const char *outcome; /**< a literal: "sent", "failed", "too old" */
} sf_delivered;

/** Functions that say so may be NULL. */
typedef struct sf_outlet_kind {
    /** Window thread: all messages but triggers. Keeps a reference of its own where it wants the message
     * later. */
    void (*publish)(void *self, sf_message *message);
    /** Front thread: must be real-time safe, and copy what it keeps. May be NULL. */
    void (*trigger)(void *self, const sf_message *trigger);
    /** Front thread: with `wait` it may wait for room, otherwise it must be real-time safe. May be NULL. */
    void (*record)(void *self, const sf_raw_batch *batch, bool wait);
    /** Window thread: what became of the next trigger, in order; false where there is no news. May be NULL.
     */
    bool (*delivered)(void *self, sf_delivered *next);
    bool (*busy)(void *self);  /**< any thread: of some triggers, or of what is recorded, it is not known yet.
                                  May  be NULL where that is */
    bool (*ready)(void *self); /**< the start need not wait for it (any more). NULL: at once */
    void (*ending)(void *self); /**< any thread: the run is ending. May be NULL */
    void (*halt)(void *self);   /**< any thread, and handlers of signals: nobody is to act any more. May be
                                   NULL */
    void (*status)(void *self,
                   sf_sink_status *status); /**< any thread. NULL: it is not among the sinks of a status */
    /** Window thread: adds to a status what is of no sink alone. May be NULL. */
    void (*tell)(void *self, sf_status_message *status);
    int (*close)(void *self,
                 sf_error *error); /**< hands on what it has and frees; its first failure. May be NULL */
} sf_outlet_kind;

typedef struct sf_outlet {
    const sf_outlet_kind *kind;
    void *self;
} sf_outlet;

#endif
