/* SPDX-License-Identifier: Apache-2.0 */
#include "core/message.h"

#include "core/clock.h"
#include "core/memory.h"

#include <math.h>

const char *const sf_topic_names[] = {"episodes", "trigger",     "density",  "graph",          "status",
                                      "decision", "delivery",    "features", "features_names", "burst",
                                      "response", "criticality", NULL};

const char *sf_topic_name(sf_topic topic)
{
    return sf_topic_names[topic];
}

sf_message *sf_message_new(sf_topic topic)
{
    sf_message *message = sf_alloc(1, sizeof *message);
    if (message == NULL) return NULL;
    message->topic = topic;
    message->references = 1;
    return message;
}

void sf_reach_result_free(sf_reach_result *reach)
{
    sf_free(reach->units);
    sf_free(reach->levels);
    sf_free(reach->parents);
    sf_free(reach->delays);
    *reach = (sf_reach_result){0};
}

void sf_message_keep(sf_message *message)
{
    __atomic_fetch_add(&message->references, 1, __ATOMIC_RELAXED);
}

static void free_graph(sf_graph_message *graph)
{
    sf_free(graph->changes);
    for (size_t i = 0; i < graph->reach_count; i++)
        sf_reach_result_free(&graph->reach[i]);
    sf_free(graph->reach);
    sf_free(graph->reach_all.reached);
    sf_free(graph->reach_all.depth);
    sf_free(graph->components.of_unit);
    for (size_t i = 0; i < graph->motif_count; i++) {
        sf_free(graph->motifs[i].pattern);
        sf_free(graph->motifs[i].embeddings);
    }
    sf_free(graph->motifs);
    sf_free(graph->triads);
    sf_free(graph->measures);
}

static void free_parts(sf_message *message)
{
    switch (message->topic) {
    case SF_TOPIC_EPISODES:
        sf_free(message->episodes.items);
        sf_free(message->episodes.rules);
        break;
    case SF_TOPIC_TRIGGER:
    case SF_TOPIC_DECISION:
    case SF_TOPIC_DELIVERY:
    case SF_TOPIC_BURST:
        break;
    case SF_TOPIC_DENSITY:
        sf_free(message->density.values);
        break;
    case SF_TOPIC_GRAPH:
        free_graph(&message->graph);
        break;
    case SF_TOPIC_STATUS:
        sf_free(message->status.unit_rates_hz);
        sf_free(message->status.sources);
        sf_free(message->status.sinks);
        sf_free(message->status.triggers);
        break;
    case SF_TOPIC_FEATURES:
        sf_free(message->features.values);
        break;
    case SF_TOPIC_RESPONSE:
        sf_free(message->response.bins);
        sf_free(message->response.units);
        sf_free(message->response.chains);
        sf_free(message->response.bin_exposed_ns);
        break;
    case SF_TOPIC_CRITICALITY:
        sf_free(message->criticality.cautions);
        break;
    case SF_TOPIC_FEATURES_NAMES:
        for (size_t i = 0; i < message->features_names.count; i++)
            sf_free(message->features_names.names[i]);
        sf_free(message->features_names.names);
        break;
    case SF_TOPIC_COUNT:
        break;
    }
}

void sf_message_release(sf_message *message)
{
    if (message == NULL || __atomic_fetch_sub(&message->references, 1, __ATOMIC_ACQ_REL) > 1) return;
    free_parts(message);
    sf_free(message);
}

static size_t graph_bytes(const sf_graph_message *graph)
{
    enum { BY_UNIT = 3 * sizeof(uint32_t) }; /* reach_all and components, at most */
    size_t bytes = graph->change_count * sizeof *graph->changes + graph->reach_count * sizeof *graph->reach +
                   graph->motif_count * sizeof *graph->motifs + graph->triad_count * sizeof *graph->triads +
                   graph->unit_count * BY_UNIT + graph->measure_count * sizeof *graph->measures;
    for (size_t i = 0; i < graph->reach_count; i++)
        bytes += graph->reach[i].count * (3 * sizeof(uint32_t) + sizeof(sf_delay));
    for (size_t i = 0; i < graph->motif_count; i++)
        bytes += graph->motifs[i].kept * graph->motifs[i].size * sizeof(uint32_t);
    return bytes;
}

static size_t array_bytes(const sf_message *message)
{
    const sf_status_message *status = &message->status;
    switch (message->topic) {
    case SF_TOPIC_EPISODES:
        return message->episodes.count * sizeof *message->episodes.items +
               message->episodes.rule_count * sizeof *message->episodes.rules;
    case SF_TOPIC_DENSITY:
        return message->density.count * sizeof *message->density.values;
    case SF_TOPIC_GRAPH:
        return graph_bytes(&message->graph);
    case SF_TOPIC_STATUS:
        return status->unit_count * sizeof *status->unit_rates_hz +
               status->source_count * sizeof *status->sources + status->sink_count * sizeof *status->sinks +
               status->trigger_count * sizeof *status->triggers;
    case SF_TOPIC_FEATURES:
        return message->features.count * sizeof *message->features.values;
    case SF_TOPIC_RESPONSE:
        return message->response.unit_count * sizeof *message->response.units +
               message->response.chain_count * sizeof *message->response.chains +
               (message->response.unit_count + message->response.chain_count) * message->response.bin_count *
                   sizeof(uint64_t) +
               message->response.bin_count * sizeof *message->response.bin_exposed_ns;
    case SF_TOPIC_CRITICALITY:
        return message->criticality.caution_count * sizeof *message->criticality.cautions;
    case SF_TOPIC_FEATURES_NAMES:
        return message->features_names.count * (sizeof(char *) + SF_TRIGGER_NAME_SIZE);
    case SF_TOPIC_TRIGGER:
    case SF_TOPIC_DECISION:
    case SF_TOPIC_DELIVERY:
    case SF_TOPIC_BURST:
    case SF_TOPIC_COUNT:
        break;
    }
    return 0;
}

size_t sf_message_bytes(const sf_message *message)
{
    return sizeof *message + array_bytes(message);
}

double sf_message_age_ms(const sf_message *message)
{
    if (message->arrival_ns == 0) return NAN;
    return (double)(sf_clock_monotonic_ns() - message->arrival_ns) * 1e-6;
}

const char *const sf_source_state_names[] = {"live", "stalled", "lost", "ended", "failed", NULL};

const char *sf_source_state_name(sf_source_state state)
{
    return sf_source_state_names[state];
}
