/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers each message within its topic and passes it to every outlet. */
#ifndef SF_PIPELINE_PUBLISHER_H
#define SF_PIPELINE_PUBLISHER_H

#include "core/outlet.h"

#include <stdatomic.h>

typedef struct sf_publisher {
    sf_outlet *outlets;
    size_t outlet_count;
    uint64_t seq[SF_TOPIC_COUNT];
    atomic_uint inside; /**< number of running outlet calls by the window thread */
    atomic_bool left;   /**< the window thread may call no outlet any more */
} sf_publisher;

/** The window thread puts its outlet calls between these two; false: the outlets are no longer its own. */
bool sf_publisher_enter(sf_publisher *publisher);
void sf_publisher_leave(sf_publisher *publisher);

/** Takes the outlets from the window thread, after its running call has ended. Another thread. */
void sf_publisher_take_over(sf_publisher *publisher);

/** Numbers a message and passes it on; takes over the caller's reference. NULL is allowed and does nothing.
 * Window thread. */
void sf_publish(sf_publisher *publisher, sf_message *message);

/** Passes raw spikes and markers to the outlets that record. Front thread. */
void sf_publish_raw(const sf_publisher *publisher, const sf_raw_batch *batch, bool wait);

/** Passes a trigger on; each outlet copies it. Front thread; real-time safe. */
void sf_publish_trigger(sf_publisher *publisher, sf_message *trigger);

#endif
