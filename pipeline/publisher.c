/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/publisher.h"

void sf_publish(sf_publisher *publisher, sf_message *message)
{
    if (message == NULL)
        return;
    message->seq = ++publisher->seq[message->topic];
    for (size_t i = 0; i < publisher->sink_count; i++)
        sf_sink_publish(publisher->sinks[i], message);
    if (publisher->observer.observe != NULL)
        publisher->observer.observe(publisher->observer.user, message);
    sf_message_release(message);
}

void sf_publish_raw(const sf_publisher *publisher, const sf_raw_batch *batch, bool wait)
{
    for (size_t i = 0; i < publisher->sink_count; i++)
        sf_sink_record(publisher->sinks[i], batch, wait);
}

void sf_publish_trigger(sf_publisher *publisher, sf_message *trigger)
{
    trigger->seq = ++publisher->seq[SF_TOPIC_TRIGGER];
    for (size_t i = 0; i < publisher->sink_count; i++)
        sf_sink_trigger(publisher->sinks[i], trigger);
    if (publisher->observer.observe != NULL)
        publisher->observer.observe(publisher->observer.user, trigger);
}
