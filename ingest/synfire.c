/* SPDX-License-Identifier: Apache-2.0 */
/* synfire's own protocol, docs/wire.md, and the source `zmq` of it. */
#include "core/error.h"
#include "decode/wire.h"
#include "ingest/live_source.h"
#include "io/descriptors.h"

static sf_wire_header next_header(const sf_sender *sender)
{
    return (sf_wire_header){.run = sender->run, .sequence = sender->sequence, .clock_ns = sender->clock_ns};
}

static int put_frame(sf_sender *sender, sf_error *error)
{
    if (sender->frame.failed) return sf_fail_memory(error);
    if (sender->frame.length > SF_WIRE_MOST_BYTES)
        return sf_fail(
            error, SF_DATA, sender->settings.name,
            "a frame of the stream takes %zu bytes, at most %u are sent: are there too many units?",
            sender->frame.length, SF_WIRE_MOST_BYTES);
    return sf_sender_put(sender, &(sf_part){sender->frame.data, sender->frame.length}, 1, error);
}

static int hello(sf_sender *sender, sf_error *error)
{
    const sf_wire_header header = next_header(sender);
    const sf_wire_stream stream = {.origin_ns = sender->origin_ns,
                                   .flags = SF_WIRE_WAITS |
                                            (sender->settings.virtual_clock ? SF_WIRE_VIRTUAL : 0) |
                                            (sender->settings.own_pace ? SF_WIRE_PACED : 0)};
    sf_wire_put_hello(&sender->frame, &header, sender->settings.name, &stream, sender->about);
    return put_frame(sender, error);
}

static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    const sf_wire_header header = next_header(sender);
    if (batch->spike_count == 0 && batch->marker_count == 0)
        sf_wire_put_heartbeat(&sender->frame, &header);
    else
        sf_wire_put_data(&sender->frame, &header, batch->spikes, batch->spike_count, batch->markers,
                         batch->marker_count);
    return put_frame(sender, error);
}

static int end(sf_sender *sender, sf_error *error)
{
    const sf_wire_header header = next_header(sender);
    sf_wire_put_end(&sender->frame, &header, sender->spikes, sender->markers);
    return put_frame(sender, error);
}

static const sf_sender_protocol sender = {
    .endpoint = "tcp://127.0.0.1:7700", .hello = hello, .batch = batch, .end = end};

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "tcp://127.0.0.1:7700",
                                          .timeout_s = 10,
                                          .key = SF_CURVE_NONE,
                                          .server_key = SF_CURVE_NONE};

static const sf_key keys[] = {
    SF_LIVE_ENDPOINT("what the sender has bound"),
    SF_LIVE_TEXT(
        "key", key,
        "a secret file of `synfire keys`, which is shown to a sender that lets in clients by theirs"),
    SF_LIVE_TEXT("server_key", server_key,
                 "beside it: the public file of that sender, which has to have the secret one"),
    {0}};

const sf_protocol sf_protocol_synfire = {
    .source = {.settings = {"zmq", keys, sizeof(sf_live_settings), &defaults,
                            "a live sender, as `synfire play`"},
               .descriptors = SF_ZMQ_DESCRIPTORS,
               SF_LIVE_SOURCE},
    .name = "synfire",
    .system = "synfire",
    .transport = &sf_transport_zmq,
    .sender = &sender,
    .may_wait = true,
    .queue = 16, /* libzmq counts frames, not bytes: so many of the largest are 256 MiB */
    .start = "its sender, as `synfire play RECORDING --to %s`",
};
