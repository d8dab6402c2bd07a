/* SPDX-License-Identifier: Apache-2.0 */
/* How fast decoders of rigs are, by processor time: messages as the rigs send them, one after the other, from
 * memory. What is wanted: 100,000 spikes a second of Open Ephys, 20,000 frames a second of MaxLab Live with 4
 * kB of samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <synfire/live.h>
#include <time.h>

#define ROUNDS 200000

static void require(int condition)
{
    if (!condition) {
        fputs("a message was not taken\n", stderr);
        exit(1);
    }
}

static void feed(sf_decoder *decoder, const void *const *parts, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        require(sf_decoder_feed(decoder, parts[i], sizes[i], i + 1 < count ? SF_FEED_PART : SF_FEED_MESSAGE,
                                NULL) == SF_OK);
}

static uint64_t take(sf_decoder *decoder)
{
    sf_decoded decoded = {.size = sizeof decoded};
    uint64_t spikes = 0;
    while (sf_decoder_take(decoder, &decoded, NULL) == SF_OK)
        spikes += decoded.spike_count;
    return spikes;
}

static uint64_t open_ephys(sf_decoder *decoder)
{
    static const float waveform[40];
    static char header[512];
    uint64_t spikes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int length = snprintf(
            header, sizeof header,
            "{\r\n  \"message_num\": %d,\r\n  \"type\": \"spike\",\r\n  \"spike\": {\r\n    \"stream\": "
            "\"Rhythm Data\",\r\n"
            "    \"source_node\": 104,\r\n    \"electrode\": \"Electrode %d\",\r\n    \"sample_num\": %d,\r\n"
            "    \"num_channels\": 1,\r\n    \"num_samples\": 40,\r\n    \"sorted_id\": 0,\r\n"
            "    \"threshold\": [\r\n      -50.0\r\n    ]\r\n  },\r\n  \"timestamp\": 1751933546124\r\n}",
            i + 1, i % 64 + 1, i);
        feed(decoder, (const void *[]){"EVENT", header, waveform},
             (const size_t[]){6, (size_t)length, sizeof waveform}, 3);
        spikes += take(decoder);
    }
    return spikes;
}

static uint64_t maxwell(sf_decoder *decoder)
{
    static const float samples[1027];
    unsigned char spike[16] = {0};
    uint64_t spikes = 0;
    for (uint64_t frame = 10000; frame < 10000 + ROUNDS; frame++) {
        memcpy(spike, &frame, sizeof frame);
        spike[12] = (unsigned char)(frame % 64);
        feed(decoder, (const void *[]){&frame, samples, spike},
             (const size_t[]){sizeof frame, sizeof samples, sizeof spike}, 3);
        spikes += take(decoder);
    }
    return spikes;
}

static void put_header(unsigned char *to, uint64_t time, unsigned channel, unsigned type, unsigned words)
{
    memset(to, 0, 16);
    memcpy(to, &time, sizeof time);
    to[8] = (unsigned char)channel;
    to[10] = (unsigned char)type;
    to[12] = (unsigned char)words;
}

/* A datagram of a spike of 48 samples beside a sample of 256 channels. */
static uint64_t blackrock(sf_decoder *decoder)
{
    static unsigned char datagram[16 + 112 + 16 + 512];
    uint64_t spikes = 0;
    for (uint64_t tick = 10000; tick < 10000 + ROUNDS; tick++) {
        put_header(datagram, tick, (unsigned)tick % 63 + 1, 0, 28);
        put_header(datagram + 128, tick, 0, 5, 128);
        feed(decoder, (const void *[]){datagram}, (const size_t[]){sizeof datagram}, 1);
        spikes += take(decoder);
    }
    return spikes;
}

static void measure(const char *protocol, uint64_t (*run)(sf_decoder *decoder))
{
    static sf_unit units[64];
    static int32_t channels[64];
    static char names[64][24];
    for (int i = 0; i < 64; i++) {
        snprintf(names[i], sizeof names[i], "Electrode %d", i + 1);
        units[i].name = names[i];
        channels[i] = i;
    }
    const sf_decoder_options options = {.size = sizeof options,
                                        .protocol = protocol,
                                        .units = units,
                                        .unit_count = 64,
                                        .channels = channels,
                                        .sample_rate_hz = 30000};
    sf_decoder *decoder;
    require(sf_decoder_open(&decoder, &options, NULL) == SF_OK);
    clock_t start = clock();
    uint64_t spikes = run(decoder);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%-12s %8.0f messages/s of processor time, %llu of %d spikes\n", protocol, ROUNDS / seconds,
           (unsigned long long)spikes, ROUNDS);
    sf_decoder_close(decoder);
}

int main(void)
{
    measure("open-ephys", open_ephys);
    measure("maxwell", maxwell);
    measure("blackrock", blackrock);
    return 0;
}
