/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BRAND's threshold crossings over Redis. `play` adds one entry per millisecond, as the node
 * thresholdExtraction does: `sync` and `timestamps`, the sample at which it begins; `ts`, nanoseconds since
 * the start of the recording; and `crossings`, the number of spikes of each unit. Markers are not sent.
 */
#include "core/clock.h"
#include "core/error.h"
#include "ingest/live_source.h"
#include "ingest/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BIN_NS SF_MILLISECOND
#define SAMPLE_RATE 30000
#define BIN_SAMPLES (SAMPLE_RATE / 1000)
#define STREAM "thresholdExtraction"

static int64_t bin_of(const sf_sender *sender, int64_t time_ns)
{
    return (time_ns - sender->about->recorded.start_ns) / BIN_NS;
}

static int put_bin(sf_sender *sender, sf_error *error)
{
    uint64_t stamp = sender->sample * (uint64_t)BIN_NS;
    uint32_t sample = (uint32_t)(sender->sample * BIN_SAMPLES); /* wraps, as the rig's does */
    char sync[48];
    size_t length = (size_t)snprintf(sync, sizeof sync, "{\"nsp_idx_1\": %" PRIu32 "}", sample);
    const sf_part parts[] = {{"sync", 4},        {sync, length},
                             {"timestamps", 10}, {&sample, sizeof sample},
                             {"ts", 2},          {&stamp, sizeof stamp},
                             {"crossings", 9},   {sender->payload.data, sender->payload.length}};
    int status = sf_sender_put(sender, parts, sizeof parts / sizeof parts[0], error);
    memset(sender->payload.data, 0, sender->payload.length);
    sender->sample++;
    return status;
}

static void count_spike(sf_sender *sender, const sf_spike *spike)
{
    int16_t count;
    char *at = sender->payload.data + sizeof count * spike->unit;
    memcpy(&count, at, sizeof count);
    count++;
    memcpy(at, &count, sizeof count);
}

/* Sends a bin once the next one has begun, or the clock of the batch has passed its end. */
static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    uint64_t until = (uint64_t)bin_of(sender, sender->clock_ns);
    int status = SF_OK;
    size_t spike = 0;
    while (status == SF_OK && (spike < batch->spike_count || sender->sample < until)) {
        while (spike < batch->spike_count &&
               (uint64_t)bin_of(sender, batch->spikes[spike].time_ns) <= sender->sample)
            count_spike(sender, &batch->spikes[spike++]);
        if (sender->sample < until || spike < batch->spike_count) status = put_bin(sender, error);
    }
    return status;
}

static int begin(sf_sender *sender, sf_error *error)
{
    const int16_t none = 0;
    for (size_t i = 0; i < sender->about->units.count; i++)
        sf_text_append(&sender->payload, (const char *)&none, sizeof none);
    return sender->payload.failed ? sf_fail_memory(error) : SF_OK;
}

static int end(sf_sender *sender, sf_error *error)
{
    return put_bin(sender, error);
}

static const sf_sender_protocol sender = {.endpoint = "redis://127.0.0.1:6379",
                                          .topic = STREAM,
                                          .sending = &sf_sending_redis,
                                          .begin = begin,
                                          .batch = batch,
                                          .end = end};

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "redis://127.0.0.1:6379",
                                          .timeout_s = 10,
                                          .electrodes = "learn",
                                          .topic = STREAM,
                                          .field = "crossings",
                                          .time_field = "ts",
                                          .sample_field = "timestamps",
                                          .sample_rate_hz = SAMPLE_RATE};

static const sf_key keys[] = {
    SF_LIVE_ENDPOINT("of Redis"),
    SF_LIVE_TEXT("stream", topic, "the stream's key"),
    SF_LIVE_TEXT("field", field, "of an entry: counts of 16 bits, one a channel"),
    SF_LIVE_TEXT(
        "time_field", time_field,
        "when it was written, nanoseconds in 8 bytes; where an entry has none, its id tells the time"),
    SF_LIVE_TEXT("sample_field", sample_field,
                 "the sample at which its bin begins, in 4 or 8 bytes; where the first entry has none its "
                 "time is taken"),
    SF_LIVE_REAL("sample_rate_hz", sample_rate_hz, 1, 1e9, "of sample_field"),
    SF_LIVE_TEXT("electrodes", electrodes,
                 "learn: as many channels as the first entry has; or a file: probeinterface, MaxLab's .cfg, "
                 "Blackrock's .cmp, or name,x,y"),
    {0}};

const sf_protocol sf_protocol_brand = {
    .source = {.settings = {"brand", keys, sizeof(sf_live_settings), &defaults,
                            "threshold crossings of BRAND, in a stream of Redis"},
               .descriptors = 1,
               SF_LIVE_SOURCE},
    .name = "brand",
    .system = "BRAND",
    .transport = &sf_transport_redis,
    .sender = &sender,
    .start = "Redis and the graph whose node adds threshold crossings, reachable at %s",
    .refused = "start redis-server on that computer, listening there (`bind`), and let port 6379 through its "
               "firewall",
    .silent = "start the graph whose node adds threshold crossings; the key `stream` must be the nickname of "
              "that node",
};
