/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/publisher.h"

#include "core/clock.h"

void sf_publish(sf_publisher *publisher, sf_message *message)
{
    if (message == NULL) return;
    message->seq = ++publisher->seq[message->topic];
    if (sf_publisher_enter(publisher)) {
        for (size_t i = 0; i < publisher->outlet_count; i++)
            publisher->outlets[i].kind->publish(publisher->outlets[i].self, message);
        sf_publisher_leave(publisher);
    }
    sf_message_release(message);
}

bool sf_publisher_enter(sf_publisher *publisher)
{
    atomic_fetch_add(&publisher->inside, 1);
    if (!atomic_load(&publisher->left)) return true;
    sf_publisher_leave(publisher);
    return false;
}

void sf_publisher_leave(sf_publisher *publisher)
{
    atomic_fetch_sub(&publisher->inside, 1);
}

void sf_publisher_take_over(sf_publisher *publisher)
{
    atomic_store(&publisher->left, true);
    while (atomic_load(&publisher->inside) > 0)
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
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
