/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MaxLab Live of MaxWell Biosystems. `play` sends like its server from version 24.1 on: one message per frame
 * of 50 us, with the frame number, 1,027 samples (zeros) and the spikes, whose channel is the index of the
 * unit. Frame 0 is the start of the recording. Markers are not sent.
 */
#include "core/error.h"
#include "ingest/live_source.h"
#include "io/descriptors.h"

#include <math.h>
#include <string.h>

#define FRAMES_HZ 20000
#define CHANNELS 1024
#define WELLS 24
#define SAMPLES 1027
#define SPIKE_BYTES 16

static int64_t frame_of(const sf_sender *sender, int64_t time_ns)
{
    return sf_sender_sample(time_ns - sender->about->recorded.start_ns, FRAMES_HZ);
}

static int put_frame(sf_sender *sender, sf_error *error)
{
    static const float samples[SAMPLES];
    uint64_t frame = sender->sample;
    if (sender->payload.failed) return sf_fail_memory(error);
    const sf_part parts[] = {
        {&frame, sizeof frame}, {samples, sizeof samples}, {sender->payload.data, sender->payload.length}};
    int status = sf_sender_put(sender, parts, sender->payload.length > 0 ? 3 : 2, error);
    sf_text_clear(&sender->payload);
    sender->sample++;
    return status;
}

static void add_spike(sf_sender *sender, const sf_spike *spike)
{
    unsigned char bytes[SPIKE_BYTES] = {0};
    int64_t frame = frame_of(sender, spike->time_ns);
    uint16_t channel = (uint16_t)(spike->unit % CHANNELS);
    memcpy(bytes, &frame, sizeof frame);
    memcpy(bytes + 8, &spike->amplitude, sizeof spike->amplitude);
    memcpy(bytes + 12, &channel, sizeof channel);
    bytes[14] = (unsigned char)(spike->unit / CHANNELS);
    sf_text_append(&sender->payload, (const char *)bytes, sizeof bytes);
}

/* Sends all frames up to the clock of the batch; a spike is sent with its own frame, or a later one if that
 * was already sent. */
static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    uint64_t until = (uint64_t)frame_of(sender, sender->clock_ns);
    int status = SF_OK;
    for (size_t spike = 0; status == SF_OK && (spike < batch->spike_count || sender->sample < until);) {
        while (spike < batch->spike_count &&
               frame_of(sender, batch->spikes[spike].time_ns) <= (int64_t)sender->sample)
            add_spike(sender, &batch->spikes[spike++]);
        status = put_frame(sender, error);
    }
    return status;
}

static int begin(sf_sender *sender, sf_error *error)
{
    if (sender->about->units.count > (size_t)CHANNELS * WELLS)
        return sf_fail(error, SF_DATA, sender->settings.name, "found %zu units, this protocol has at most %d",
                       sender->about->units.count, CHANNELS * WELLS);
    return SF_OK;
}

static const sf_sender_protocol sender = {.endpoint = "tcp://127.0.0.1:7205", .begin = begin, .batch = batch};

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "tcp://127.0.0.1:7205",
                                          .timeout_s = 10,
                                          .electrodes = "learn",
                                          .learn_s = 5,
                                          .sample_rate_hz = FRAMES_HZ};

static const char *const layouts[] = {"auto", "mxw16", "mxw24", NULL};

static const sf_key keys[] = {
    SF_LIVE_ENDPOINT("of the server"),
    SF_LIVE_ANY_ELECTRODES,
    SF_LIVE_REAL("sample_rate_hz", sample_rate_hz, 1, 1e9, "MaxOne; MaxTwo has 10000"),
    SF_LIVE_LAYOUT("layout", layouts, "of its spikes: mxw16 is 24.1 and later; auto: found out"),
    {0}};

const sf_protocol sf_protocol_maxwell = {
    .source = {.settings = {"maxwell", keys, sizeof(sf_live_settings), &defaults, "MaxLab Live's server"},
               .descriptors = SF_ZMQ_DESCRIPTORS,
               SF_LIVE_SOURCE},
    .name = "maxwell",
    .system = "MaxLab Live",
    .transport = &sf_transport_zmq,
    .sender = &sender,
    .layouts = layouts,
    .queue = 65536,
    .start = "MaxLab Live's server, which publishes filtered data and spikes on %s",
    .refused = "start MaxLab Live on that computer, and let port 7205 through its firewall",
    .silent = "load and download the routing in MaxLab Live: its server publishes from then on",
};
