/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/publisher.h"

void sf_publish(sf_publisher *publisher, sf_message *message)
{
    if (message == NULL)
        return;
    message->seq = ++publisher->seq[message->topic];
    for (size_t i = 0; i < publisher->outlet_count; i++)
        publisher->outlets[i].kind->publish(publisher->outlets[i].self, message);
    sf_message_release(message);
}

void sf_publish_raw(const sf_publisher *publisher, const sf_raw_batch *batch, bool wait)
{
    for (size_t i = 0; i < publisher->outlet_count; i++)
        if (publisher->outlets[i].kind->record != NULL)
            publisher->outlets[i].kind->record(publisher->outlets[i].self, batch, wait);
}

void sf_publish_trigger(sf_publisher *publisher, sf_message *trigger)
{
    trigger->seq = ++publisher->seq[SF_TOPIC_TRIGGER];
    for (size_t i = 0; i < publisher->outlet_count; i++)
        if (publisher->outlets[i].kind->trigger != NULL)
            publisher->outlets[i].kind->trigger(publisher->outlets[i].self, trigger);
}
