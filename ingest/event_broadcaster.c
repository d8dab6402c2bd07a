/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Event Broadcaster of the Open Ephys GUI. `play` sends its JSON form: a message of two bytes, the kind
 * of the event, and a header. A recording has no thresholds and no further channels. Text markers are not
 * sent.
 */
#include "core/error.h"
#include "core/json.h"
#include "ingest/live_source.h"
#include "io/descriptors.h"

#include <math.h>

#define SAMPLE_RATE 30000
#define AMPLITUDE (-50.0f) /* where the recording has none */
#define SOURCE_NODE 105

static int put_event(sf_sender *sender, uint16_t kind, sf_error *error)
{
    if (sender->frame.failed) return sf_fail_memory(error);
    const sf_part parts[] = {{&kind, sizeof kind}, {sender->frame.data, sender->frame.length}};
    return sf_sender_put(sender, parts, 2, error);
}

static sf_json begin_event(sf_sender *sender, const char *type, int64_t time_ns)
{
    sf_text_clear(&sender->frame);
    sf_json json = sf_json_start(&sender->frame);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "event_type", type);
    sf_json_string(&json, "stream", sender->settings.name);
    sf_json_int(&json, "source_node", SOURCE_NODE);
    sf_json_real(&json, "sample_rate", SAMPLE_RATE);
    sf_json_int(&json, "sample_number", sf_sender_sample(time_ns, SAMPLE_RATE));
    return json;
}

static int put_spike(sf_sender *sender, const sf_spike *spike, sf_error *error)
{
    float amplitude = isfinite(spike->amplitude) ? spike->amplitude : AMPLITUDE;
    sf_json json = begin_event(sender, "spike", spike->time_ns);
    sf_json_string(&json, "electrode", sender->about->units.items[spike->unit].name);
    sf_json_int(&json, "num_channels", 1);
    sf_json_int(&json, "sorted_id", 0);
    sf_json_real(&json, "amp1", -(double)amplitude);
    sf_json_end_object(&json);
    return put_event(sender, 1, error);
}

static int put_ttl(sf_sender *sender, const sf_marker *marker, sf_error *error)
{
    sf_json json = begin_event(sender, "ttl", marker->time_ns);
    sf_json_string(&json, "channel_name", "TTL Event Channel");
    sf_json_int(&json, "line", marker->line);
    sf_json_bool(&json, "state", marker->state != 0);
    sf_json_end_object(&json);
    return put_event(sender, 0, error);
}

static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    return sf_sender_each(sender, batch, put_spike, put_ttl, error);
}

static const sf_sender_protocol sender = {.endpoint = "tcp://127.0.0.1:5557", .batch = batch};

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "tcp://127.0.0.1:5557",
                                          .timeout_s = 10,
                                          .electrodes = "learn",
                                          .learn_s = 5,
                                          .topic = "first"};

static const sf_key keys[] = {
    SF_LIVE_ENDPOINT("of the plugin"),
    SF_LIVE_TEXT("stream", topic, "first: that of the first spike; or its name, of raw events its number"),
    SF_LIVE_ANY_ELECTRODES,
    SF_LIVE_REAL("sample_rate_hz", sample_rate_hz, 0, 1e9,
                 "0: as JSON tells it, and of raw events their time stamps"),
    {0}};

const sf_protocol sf_protocol_event_broadcaster = {
    .source = {.settings = {"event-broadcaster", keys, sizeof(sf_live_settings), &defaults,
                            "the Open Ephys GUI's plugin Event Broadcaster"},
               .descriptors = SF_ZMQ_DESCRIPTORS,
               SF_LIVE_SOURCE},
    .name = "event-broadcaster",
    .system = "Open Ephys' Event Broadcaster",
    .transport = &sf_transport_zmq,
    .sender = &sender,
    .queue = 65536,
    .start = "acquisition in the Open Ephys GUI, with the plugin Event Broadcaster sending on %s",
    .refused = "run the Open Ephys GUI with the plugin Event Broadcaster after the Spike Detector; its "
               "editor shows the port; let it through the firewall",
    .silent =
        "start acquisition in the Open Ephys GUI, with a Spike Detector before Event Broadcaster; beside ZMQ "
        "Interface, which has 5556 and 5557, set the port in its editor to another, as 5558: it sends "
        "nothing where it did not get its port",
};
