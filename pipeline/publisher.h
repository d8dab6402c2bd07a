/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers each message within its topic and hands it to every outlet. */
#ifndef SF_PIPELINE_PUBLISHER_H
#define SF_PIPELINE_PUBLISHER_H

#include "core/outlet.h"

typedef struct sf_publisher {
    sf_outlet *outlets;
    size_t outlet_count;
    uint64_t seq[SF_TOPIC_COUNT];
} sf_publisher;

/** Window thread. Numbers and hands over; the caller's reference goes with it. NULL is allowed and does
 * nothing. */
void sf_publish(sf_publisher *publisher, sf_message *message);

/** Front thread: hands raw spikes and markers to the outlets that record. */
void sf_publish_raw(const sf_publisher *publisher, const sf_raw_batch *batch, bool wait);

/** Front thread: real-time safe. `trigger` is copied by each outlet. */
void sf_publish_trigger(sf_publisher *publisher, sf_message *trigger);

#endif
