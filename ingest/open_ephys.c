/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ZMQ Interface plugin of the Open Ephys GUI. What it sends, and `play` as it: messages of two or three
 * frames, an envelope with its NUL, a JSON header, a payload. Every spike is a message with a waveform, which
 * a recording does not have: it gets a standard one of the recorded amplitude. Once a second a "data" message
 * of one zero sample tells the sampling rate and the clock, which spike messages do not carry. Text markers
 * have no place in this protocol.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "decode/fields.h"
#include "ingest/live_source.h"
#include "io/descriptors.h"

#include <math.h>
#include <string.h>

#define SAMPLE_RATE 30000
#define SAMPLES 40
#define PEAK 8             /* sample of the trough */
#define AMPLITUDE (-50.0f) /* where the recording has none */
#define SOURCE_NODE 100
#define TTL_EVENT 3

static sf_json begin_header(sf_sender *sender, const char *type)
{
    sf_text_clear(&sender->frame);
    sf_json json = sf_json_start(&sender->frame);
    sf_json_object(&json, NULL);
    sf_json_uint(&json, "message_num", sender->sequence + 1);
    sf_json_string(&json, "type", type);
    return json;
}

static void end_header(sf_json *json)
{
    sf_json_int(json, "timestamp", sf_clock_wall_ns() / SF_MILLISECOND);
    sf_json_end_object(json);
}

static int put_message(sf_sender *sender, sf_part envelope, sf_part payload, sf_error *error)
{
    if (sender->frame.failed) return sf_fail_memory(error);
    const sf_part parts[] = {envelope, {sender->frame.data, sender->frame.length}, payload};
    return sf_sender_put(sender, parts, 3, error);
}

static const sf_part data_envelope = {"DATA", 5}, event_envelope = {"EVENT", 6};

static int hello(sf_sender *sender, sf_error *error)
{
    const float zero = 0;
    int64_t clock = sender->clock_ns != INT64_MIN ? sender->clock_ns : sender->about->recorded.start_ns;
    sf_json json = begin_header(sender, "data");
    sf_json_object(&json, "content");
    sf_json_string(&json, "stream", sender->settings.name);
    sf_json_int(&json, "channel_num", 0);
    sf_json_string(&json, "channel_name", "CH1");
    sf_json_int(&json, "num_samples", 1);
    sf_json_int(&json, "sample_num", sf_sender_sample(clock, SAMPLE_RATE));
    sf_json_real(&json, "sample_rate", SAMPLE_RATE);
    sf_json_end_object(&json);
    sf_json_int(&json, "data_size", sizeof zero);
    end_header(&json);
    return put_message(sender, data_envelope, (sf_part){&zero, sizeof zero}, error);
}

/* A trough of the given amplitude and a slower, smaller hump after it. */
static void fill_waveform(float *samples, float amplitude)
{
    for (int i = 0; i < SAMPLES; i++) {
        float trough = (float)(i - PEAK) / 2.0f, hump = (float)(i - PEAK - 10) / 5.0f;
        samples[i] = amplitude * (expf(-trough * trough) - 0.3f * expf(-hump * hump));
    }
}

static int put_spike(sf_sender *sender, const sf_spike *spike, sf_error *error)
{
    float amplitude = isfinite(spike->amplitude) ? spike->amplitude : AMPLITUDE;
    float samples[SAMPLES];
    fill_waveform(samples, amplitude);
    sf_json json = begin_header(sender, "spike");
    sf_json_object(&json, "spike");
    sf_json_string(&json, "stream", sender->settings.name);
    sf_json_int(&json, "source_node", SOURCE_NODE);
    sf_json_string(&json, "electrode", sender->about->units.items[spike->unit].name);
    sf_json_int(&json, "sample_num", sf_sender_sample(spike->time_ns, SAMPLE_RATE));
    sf_json_int(&json, "num_channels", 1);
    sf_json_int(&json, "num_samples", SAMPLES);
    sf_json_int(&json, "sorted_id", 0);
    sf_json_array(&json, "threshold");
    sf_json_real(&json, NULL, amplitude / 2);
    sf_json_end_array(&json);
    sf_json_end_object(&json);
    end_header(&json);
    return put_message(sender, event_envelope, (sf_part){samples, sizeof samples}, error);
}

/* Packs line, state and the word of all lines into 10 bytes. */
static int put_ttl(sf_sender *sender, const sf_marker *marker, sf_error *error)
{
    if (marker->line < 64)
        sender->ttl = (sender->ttl & ~(UINT64_C(1) << marker->line)) | (uint64_t)(marker->state != 0)
                                                                           << marker->line;
    unsigned char payload[10] = {(unsigned char)marker->line, marker->state};
    for (int i = 0; i < 8; i++)
        payload[2 + i] = (unsigned char)(sender->ttl >> 8 * i);
    sf_json json = begin_header(sender, "event");
    sf_json_object(&json, "content");
    sf_json_string(&json, "stream", sender->settings.name);
    sf_json_int(&json, "source_node", SOURCE_NODE);
    sf_json_int(&json, "type", TTL_EVENT);
    sf_json_int(&json, "sample_num", sf_sender_sample(marker->time_ns, SAMPLE_RATE));
    sf_json_end_object(&json);
    sf_json_int(&json, "data_size", sizeof payload);
    end_header(&json);
    return put_message(sender, event_envelope, (sf_part){payload, sizeof payload}, error);
}

static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    return sf_sender_each(sender, batch, put_spike, put_ttl, error);
}

/* Answers requests of clients on the next port, of which only heartbeats matter. */
static const char *answer(const char *request, size_t size)
{
    static const sf_field row = {"type", SF_FIELD_TEXT, 0};
    char type[SF_FIELD_TEXT_SIZE];
    sf_fields fields = {.rows = &row, .count = 1};
    if (sf_fields_from_json(&fields, type, (sf_part){request, size}) != SF_DOCUMENT_WHOLE)
        return "JSON message could not be read";
    return fields.found != 0 && strcmp(type, "event") == 0 ? "message correctly parsed"
                                                           : "heartbeat received";
}

static const sf_sender_protocol sender = {
    .endpoint = "tcp://127.0.0.1:5556", .answer = answer, .hello = hello, .batch = batch};

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "tcp://127.0.0.1:5556",
                                          .timeout_s = 10,
                                          .electrodes = "learn",
                                          .learn_s = 5,
                                          .request = "auto",
                                          .topic = "first"};

static const sf_key keys[] = {
    SF_LIVE_ENDPOINT("of the plugin"),
    SF_LIVE_TEXT("stream", topic, "first: the one that the plugin sends first; or its name"),
    SF_LIVE_ANY_ELECTRODES,
    SF_LIVE_REAL("sample_rate_hz", sample_rate_hz, 0, 1e9, "0: as its data messages tell"),
    SF_LIVE_TEXT("heartbeat", request, "auto: to the port after the endpoint's; off; or an endpoint"),
    {0}};

const sf_protocol sf_protocol_open_ephys = {
    .source = {.settings = {"open-ephys", keys, sizeof(sf_live_settings), &defaults,
                            "the Open Ephys GUI's plugin ZMQ Interface"},
               .descriptors = SF_ZMQ_DESCRIPTORS + 2,
               SF_LIVE_SOURCE},
    .name = "open-ephys",
    .system = "Open Ephys' ZMQ Interface",
    .transport = &sf_transport_zmq,
    .sender = &sender,
    .queue = 65536,
    .start = "acquisition in the Open Ephys GUI, with the plugin ZMQ Interface sending on %s",
    .refused = "run the Open Ephys GUI with the plugin ZMQ Interface in the signal chain; its editor shows "
               "the port (5556 unless that was taken); let the port and the one after it through the "
               "firewall of that computer",
    .silent = "start acquisition in the Open Ephys GUI: the plugin sends only then; a Spike Detector must "
              "stand before ZMQ Interface, and its editor must name the stream",
};
