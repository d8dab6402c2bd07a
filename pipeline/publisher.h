/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers each message within its topic and hands it to every outlet. */
#ifndef SF_PIPELINE_PUBLISHER_H
#define SF_PIPELINE_PUBLISHER_H

#include "core/outlet.h"

#include <stdatomic.h>

typedef struct sf_publisher {
    sf_outlet *outlets;
    size_t outlet_count;
    uint64_t seq[SF_TOPIC_COUNT];
    atomic_uint inside; /**< calls of outlets by the window thread that are under way */
    atomic_bool left;   /**< by the window thread, which calls no outlet any more */
} sf_publisher;

/** Window thread: what calls outlets stands between these two; false: they are no longer its own. */
bool sf_publisher_enter(sf_publisher *publisher);
void sf_publisher_leave(sf_publisher *publisher);

/** Another thread: takes the outlets from the window thread, once a call that is under way is over. */
void sf_publisher_take_over(sf_publisher *publisher);

/** Window thread. Numbers and hands over; the caller's reference goes with it. NULL is allowed and does
 * nothing. */
void sf_publish(sf_publisher *publisher, sf_message *message);

/** Front thread: hands raw spikes and markers to the outlets that record. */
void sf_publish_raw(const sf_publisher *publisher, const sf_raw_batch *batch, bool wait);

/** Front thread: real-time safe. `trigger` is copied by each outlet. */
void sf_publish_trigger(sf_publisher *publisher, sf_message *trigger);

#endif
