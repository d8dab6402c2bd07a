/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blackrock's Cerebus, CerePlex and Gemini. `play` acts as such a system: a unit "elec5:2" is the second
 * neuron sorted on the channel labelled elec5; a unit of any other name is the unsorted spikes of a channel
 * of that name. Every spike has a standard waveform of the recorded amplitude. TTL edges become events of the
 * digital input, other markers comments. Tick 0 is the start of the recording.
 */
#include "ingest/blackrock.h"

#include "core/error.h"
#include "decode/cerebus.h"
#include "ingest/live_source.h"

#include <math.h>
#include <string.h>

#define INSTRUMENTS 4
#define SAMPLES 48
#define TROUGH 11           /* the sample where it is */
#define AMPLITUDE (-200.0f) /* where the recording has none */
#define BEAT_TICKS (SF_CEREBUS_HZ / 100)
#define TTL_LINES 16

/* ---- channels ---- */

typedef struct place {
    uint16_t channel; /* from 1 */
    uint8_t instrument, sorted;
} place;

/* "elec5:2" is of the channel "elec5". */
static size_t label_length(const char *name, uint8_t *sorted)
{
    size_t length = strlen(name);
    bool is_sorted = length > 2 && name[length - 2] == ':' && name[length - 1] >= '0' &&
                     name[length - 1] <= '0' + SF_CEREBUS_SORTED;
    *sorted = is_sorted ? (uint8_t)(name[length - 1] - '0') : 0;
    return is_sorted ? length - 2 : length;
}

/* Returns the index of a label, and appends the label if it is new. */
static size_t number_of(sf_text *labels, const char *name, size_t length)
{
    size_t number = 0;
    for (size_t at = 0; at < labels->length; number++) {
        size_t there = strlen(labels->data + at);
        if (there == length && memcmp(labels->data + at, name, length) == 0) return number;
        at += there + 1;
    }
    sf_text_append(labels, name, length);
    sf_text_append(labels, "", 1);
    return number;
}

/* Keeps the places of the units in `payload` as long as the sender lives. */
static int begin(sf_sender *sender, sf_error *error)
{
    const sf_units *units = &sender->about->units;
    sf_text_clear(&sender->frame);
    for (size_t i = 0; i < units->count; i++) {
        place to = {0};
        size_t length = label_length(units->items[i].name, &to.sorted);
        size_t number = number_of(&sender->frame, units->items[i].name, length);
        if (number >= (size_t)SF_BLACKROCK_FRONT_END * INSTRUMENTS)
            return sf_fail(error, SF_DATA, sender->settings.name,
                           "found units of more than %d channels, which is all that this protocol has",
                           SF_BLACKROCK_FRONT_END * INSTRUMENTS);
        to.channel = (uint16_t)(number % SF_BLACKROCK_FRONT_END + 1);
        to.instrument = (uint8_t)(number / SF_BLACKROCK_FRONT_END);
        sf_text_append(&sender->payload, (const char *)&to, sizeof to);
    }
    if (sender->frame.failed || sender->payload.failed) return sf_fail_memory(error);
    const sf_part parts[] = {{"about", 5}, {sender->frame.data, sender->frame.length}};
    return sf_sender_put(sender, parts, 2, error);
}

/* ---- packets ---- */

static uint64_t tick_of(const sf_sender *sender, int64_t time_ns)
{
    return (uint64_t)sf_sender_sample(time_ns - sender->about->recorded.start_ns, SF_CEREBUS_HZ);
}

static void add_packet(sf_sender *sender, const place *of, uint64_t time, uint32_t type, const void *payload,
                       size_t bytes)
{
    unsigned char header[SF_BLACKROCK_HEADER];
    sf_blackrock_header(header, time, of->channel, type, bytes, of->instrument);
    sf_text_append(&sender->frame, (const char *)header, sizeof header);
    sf_text_append(&sender->frame, payload, bytes);
}

static int put_spike(sf_sender *sender, const sf_spike *spike, sf_error *error)
{
    struct {
        float pattern[3];
        int16_t peak, trough, samples[SAMPLES];
    } payload = {.peak = 0};
    place of;
    float amplitude = isfinite(spike->amplitude) ? spike->amplitude : AMPLITUDE;
    (void)error;
    memcpy(&of, sender->payload.data + spike->unit * sizeof of, sizeof of);
    for (int i = 0; i < SAMPLES; i++) {
        float trough = (float)(i - TROUGH) / 3.0f, hump = (float)(i - TROUGH - 14) / 7.0f;
        float at = amplitude * (expf(-trough * trough) - 0.3f * expf(-hump * hump));
        int16_t sample = (int16_t)lrintf(fmaxf(-32767, fminf(32767, i == TROUGH ? amplitude : at)));
        payload.samples[i] = sample;
        payload.peak = sample > payload.peak ? sample : payload.peak;
        payload.trough = sample < payload.trough ? sample : payload.trough;
    }
    add_packet(sender, &of, tick_of(sender, spike->time_ns), of.sorted, &payload, sizeof payload);
    return SF_OK;
}

static void put_ttl(sf_sender *sender, const sf_marker *marker)
{
    uint32_t line = UINT32_C(1) << marker->line;
    sender->ttl = marker->state != 0 ? sender->ttl | line : sender->ttl & ~(uint64_t)line;
    const uint32_t payload[] = {(uint32_t)sender->ttl, line, 1};
    add_packet(sender, &(place){.channel = SF_BLACKROCK_DIGITAL}, tick_of(sender, marker->time_ns), 0,
               payload, sizeof payload);
}

static void put_comment(sf_sender *sender, const sf_marker *marker)
{
    unsigned char payload[SF_CEREBUS_COMMENT_40 + SF_CEREBUS_COMMENT_BYTES] = {0};
    uint64_t time = tick_of(sender, marker->time_ns);
    size_t length = strlen(marker->text);
    length = length < SF_CEREBUS_COMMENT_BYTES - 1 ? length : SF_CEREBUS_COMMENT_BYTES - 1;
    memcpy(payload + 4, &time, sizeof time);
    memcpy(payload + SF_CEREBUS_COMMENT_40, marker->text, length);
    add_packet(sender, &(place){.channel = SF_CEREBUS_SYSTEM}, time, SF_CEREBUS_COMMENT, payload,
               sizeof payload);
}

static void put_marker(sf_sender *sender, const sf_marker *marker)
{
    if (marker->kind == SF_MARKER_TEXT)
        put_comment(sender, marker);
    else if (marker->kind == SF_MARKER_TTL && marker->line < TTL_LINES)
        put_ttl(sender, marker);
}

/* Adds markers among the spikes, in time order. */
static int add_batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    size_t spike = 0, marker = 0;
    int status = SF_OK;
    sf_text_clear(&sender->frame);
    while (status == SF_OK && (spike < batch->spike_count || marker < batch->marker_count)) {
        if (marker < batch->marker_count &&
            (spike == batch->spike_count || batch->markers[marker].time_ns <= batch->spikes[spike].time_ns))
            put_marker(sender, &batch->markers[marker++]);
        else
            status = put_spike(sender, &batch->spikes[spike++], error);
    }
    return sender->frame.failed ? sf_fail_memory(error) : status;
}

static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    int status = add_batch(sender, batch, error);
    const sf_part packets[] = {{"packets", 7}, {sender->frame.data, sender->frame.length}};
    if (status == SF_OK && sender->frame.length > 0) status = sf_sender_put(sender, packets, 2, error);
    uint64_t now = sender->clock_ns != INT64_MIN ? tick_of(sender, sender->clock_ns) : 0;
    if (status != SF_OK || now < sender->sample) return status;
    sender->sample = now + BEAT_TICKS;
    const sf_part beat[] = {{"beat", 4}, {&now, sizeof now}};
    return sf_sender_put(sender, beat, 2, error);
}

static const sf_sender_protocol sender = {
    .endpoint = "udp://127.0.0.1:51002", .sending = &sf_sending_blackrock, .begin = begin, .batch = batch};

/* ---- the source ---- */

/* The request that every client sends, to which a system answers (to all) with what it is and the names of
 * its channels. It is the same for all 16-byte headers: no data follows. */
static const unsigned char ask_311[] = {1, 0, 0, 0, 0, 0x80, SF_CEREBUS_ASK_ALL, 0};
static const unsigned char ask_40[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, SF_CEREBUS_ASK_ALL, 0, 0, 0, 0, 0};

static const sf_part questions[] = {{ask_40, sizeof ask_40}, {ask_311, sizeof ask_311}, {NULL, 0}};

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "udp://127.0.0.1:51002",
                                          .timeout_s = 10,
                                          .device = "any",
                                          .request = "off",
                                          .electrodes = "learn",
                                          .learn_s = 5};

static const char *const layouts[] = {"auto", "3.11", "4.0", "4.1", "4.2", NULL};

static const sf_key keys[] = {
    SF_LIVE_ENDPOINT("an address of this computer, its network's broadcast address, or 0.0.0.0"),
    SF_LIVE_TEXT("device", device, "or the address that datagrams must come from, as 192.168.137.128"),
    SF_LIVE_TEXT(
        "ask", request,
        "off: nothing is sent; or where the system is asked for labels, as udp://192.168.137.128:51001"),
    SF_LIVE_LAYOUT("protocol", layouts, "auto: found out"),
    SF_LIVE_REAL("sample_rate_hz", sample_rate_hz, 0, 1e9,
                 "0: found out; 30000: ticks; 1e9: nanoseconds, as Gemini has them"),
    SF_LIVE_ELECTRODES("learn: those that fire in the first learn_s; or a file, whose channels are numbers "
                       "of channels, from 1"),
    {0}};

const sf_protocol sf_protocol_blackrock = {
    .source = {.settings = {"blackrock", keys, sizeof(sf_live_settings), &defaults,
                            "Cerebus, CerePlex and Gemini, by UDP"},
               .descriptors = 1,
               SF_LIVE_SOURCE},
    .name = "blackrock",
    .system = "Blackrock",
    .transport = &sf_transport_udp,
    .sender = &sender,
    .layouts = layouts,
    .questions = questions,
    .start = "the system, with Central or another client that sets it running, sending to %s",
    .silent =
        "start Central, which sets the system running, and let the UDP port through the firewall; this "
        "computer needs an address as 192.168.137.50, and the port must be the one that the system sends to",
};
