/* SPDX-License-Identifier: Apache-2.0 */
#include "core/message.h"

#include "core/clock.h"
#include "core/memory.h"

#include <math.h>

const char *sf_topic_name(sf_topic topic)
{
    static const char *const names[] = {"episodes", "trigger", "density", "graph",
                                        "status",   "spikes",  "markers"};
    return names[topic];
}

sf_message *sf_message_new(sf_topic topic)
{
    sf_message *message = sf_alloc(1, sizeof *message);
    if (message == NULL)
        return NULL;
    message->topic = topic;
    atomic_init(&message->references, 1);
    return message;
}

void sf_message_keep(sf_message *message)
{
    atomic_fetch_add_explicit(&message->references, 1, memory_order_relaxed);
}

static void free_parts(sf_message *message)
{
    switch (message->topic) {
    case SF_TOPIC_EPISODES:
        sf_free(message->episodes.items);
        break;
    case SF_TOPIC_TRIGGER:
        break;
    case SF_TOPIC_DENSITY:
        sf_free(message->density.values);
        break;
    case SF_TOPIC_GRAPH:
        sf_free(message->graph.changes);
        for (size_t i = 0; i < message->graph.reach_count; i++) {
            sf_free(message->graph.reach[i].units);
            sf_free(message->graph.reach[i].levels);
            sf_free(message->graph.reach[i].parents);
        }
        sf_free(message->graph.reach);
        break;
    case SF_TOPIC_STATUS:
        sf_free(message->status.unit_rates_hz);
        sf_free(message->status.sources);
        sf_free(message->status.sinks);
        break;
    case SF_TOPIC_SPIKES:
        sf_free(message->spikes.items);
        break;
    case SF_TOPIC_MARKERS:
        sf_free(message->markers.items);
        break;
    }
}

void sf_message_release(sf_message *message)
{
    if (message == NULL || atomic_fetch_sub_explicit(&message->references, 1, memory_order_acq_rel) > 1)
        return;
    free_parts(message);
    sf_free(message);
}

double sf_message_age_ms(const sf_message *message)
{
    if (message->arrival_ns == 0)
        return NAN;
    return (double)(sf_clock_monotonic_ns() - message->arrival_ns) * 1e-6;
}
