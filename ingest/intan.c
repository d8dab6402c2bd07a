/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TCP spike output of Intan RHX. `play` acts as such a server: chunks of 14 bytes. Units are channels
 * A-000 to H-127 by index, and unsorted; sample 0 is the start of the recording. Markers are not sent.
 */
#include "core/error.h"
#include "ingest/live_source.h"

#include <stdio.h>
#include <string.h>

#define SAMPLE_RATE 30000
#define PORTS 8
#define PORT_CHANNELS 128
#define MAGIC UINT32_C(0x3ae2710f)
#define UNCLASSIFIED 0x40

static int put_spike(sf_sender *sender, const sf_spike *spike, sf_error *error)
{
    unsigned char chunk[14];
    char name[24];
    const uint32_t magic = MAGIC;
    uint32_t sample =
        (uint32_t)sf_sender_sample(spike->time_ns - sender->about->recorded.start_ns, SAMPLE_RATE);
    snprintf(name, sizeof name, "%c-%03u", 'A' + (int)(spike->unit / PORT_CHANNELS),
             spike->unit % PORT_CHANNELS);
    memcpy(chunk, &magic, sizeof magic);
    memcpy(chunk + 4, name, 5);
    memcpy(chunk + 9, &sample, sizeof sample);
    chunk[13] = UNCLASSIFIED;
    return sf_sender_put(sender, &(sf_part){chunk, sizeof chunk}, 1, error);
}

static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    return sf_sender_each(sender, batch, put_spike, NULL, error);
}

static int begin(sf_sender *sender, sf_error *error)
{
    if (sender->about->units.count > (size_t)PORTS * PORT_CHANNELS)
        return sf_fail(error, SF_DATA, sender->settings.name, "found %zu units, this protocol has at most %d",
                       sender->about->units.count, PORTS * PORT_CHANNELS);
    return SF_OK;
}

static const sf_sender_protocol sender = {
    .endpoint = "tcp://127.0.0.1:5002", .sending = &sf_sending_tcp, .begin = begin, .batch = batch};

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "tcp://127.0.0.1:5002",
                                          .timeout_s = 10,
                                          .electrodes = "learn",
                                          .learn_s = 5,
                                          .sample_rate_hz = SAMPLE_RATE};

static const sf_key keys[] = {SF_LIVE_ENDPOINT("of RHX"),
                              SF_LIVE_ANY_ELECTRODES,
                              SF_LIVE_REAL("sample_rate_hz", sample_rate_hz, 1, 1e9, "as RHX is set to"),
                              {0}};

const sf_protocol sf_protocol_intan = {
    .source = {.settings = {"intan", keys, sizeof(sf_live_settings), &defaults,
                            "the spike output of Intan RHX"},
               .descriptors = 3,
               SF_LIVE_SOURCE},
    .name = "intan",
    .system = "Intan RHX",
    .transport = &sf_transport_tcp,
    .sender = &sender,
    .start = "RHX with its spike output sending on %s",
    .refused = "in RHX, Network > Remote TCP Control > Spike Output: host 0.0.0.0, port 5002, Connect; it "
               "waits for one client, and for none while it has one",
    .silent = "press Run in RHX, and set TCPDataOutputEnabledSpike of the channels that are to be sent "
              "(their right-click menu)",
    .written = 10 * 128,
    .written_by = "TCPNumberDataBlocksPerWrite (10 blocks of 128 samples by default)",
};
