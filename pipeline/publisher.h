/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers each message within its topic and hands it to every sink and to one observer. */
#ifndef SF_PIPELINE_PUBLISHER_H
#define SF_PIPELINE_PUBLISHER_H

#include "core/message.h"
#include "sinks/sink.h"

/**
 * observe is called with every message on the thread that publishes it (triggers come from the watch thread,
 * all else from the window thread); it keeps a reference if it wants the message later.
 */
typedef struct sf_observer {
    void (*observe)(void *user, sf_message *message);
    void *user;
} sf_observer;

typedef struct sf_publisher {
    sf_sink **sinks;
    size_t sink_count;
    sf_observer observer;
    uint64_t seq[SF_TOPIC_COUNT];
} sf_publisher;

/** Window thread. Numbers and hands over; the caller's reference goes with it. NULL is allowed and does
 * nothing. */
void sf_publish(sf_publisher *publisher, sf_message *message);

/** Front thread: hands raw spikes and markers to the sinks that record, as sf_sink_record does. */
void sf_publish_raw(const sf_publisher *publisher, const sf_raw_batch *batch, bool wait);

/** Watch thread: real-time safe as long as the observer is. `trigger` is copied by each sink. */
void sf_publish_trigger(sf_publisher *publisher, sf_message *trigger);

#endif
