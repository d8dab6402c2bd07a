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
} sf_raw_batch;

/** Functions that say so may be NULL. */
typedef struct sf_outlet_kind {
    /** Window thread: all messages but triggers. Keeps a reference of its own where it wants the message
     * later. */
    void (*publish)(void *self, sf_message *message);
    /** Front thread: must be real-time safe, and copy what it keeps. May be NULL. */
    void (*trigger)(void *self, const sf_message *trigger);
    /** Front thread: with `wait` it may wait for room, otherwise it must be real-time safe. May be NULL. */
    void (*record)(void *self, const sf_raw_batch *batch, bool wait);
    bool (*ready)(void *self);  /**< the start need not wait for it (any more). NULL: at once */
    void (*ending)(void *self); /**< any thread: the run is ending. May be NULL */
    void (*status)(void *self,
                   sf_sink_status *status); /**< any thread. NULL: it is not among the sinks of a status */
    int (*close)(void *self,
                 sf_error *error); /**< hands on what it has and frees; its first failure. May be NULL */
} sf_outlet_kind;

typedef struct sf_outlet {
    const sf_outlet_kind *kind;
    void *self;
} sf_outlet;

#endif
