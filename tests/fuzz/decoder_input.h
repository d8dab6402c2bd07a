/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder of synfire/live.h and what a sender may send it: as a message, and as a stream of bytes in one
 * piece and in small ones, of which the two must give the same. */
#ifndef SF_FUZZ_DECODER_INPUT_H
#define SF_FUZZ_DECODER_INPUT_H

#include <stdlib.h>
#include <string.h>
#include <synfire/live.h>

typedef struct decoder_input {
    const char *protocol;
    const void *greeting; /* makes the stream known; NULL: it needs none */
    size_t greeting_size;
    const sf_unit *units; /* of a rig */
    size_t unit_count;
} decoder_input;

/* What was taken: counts, and a sum over spikes and markers. */
typedef struct decoder_sum {
    uint64_t batches, spikes, markers, lost, sum;
    int status;
    bool of_rig;
} decoder_sum;

static inline void decoder_require(bool condition)
{
    if (!condition) abort();
}

static inline void decoder_take_all(sf_decoder *decoder, decoder_sum *sum)
{
    sf_decoded decoded = {.size = sizeof decoded};
    while ((sum->status = sf_decoder_take(decoder, &decoded, NULL)) == SF_OK) {
        sum->batches += decoded.watermark_ns != INT64_MIN;
        sum->spikes += decoded.spike_count;
        sum->markers += decoded.marker_count;
        sum->lost += decoded.malformed + decoded.out_of_range + decoded.gap_lost + decoded.restarts;
        for (size_t i = 0; i < decoded.spike_count; i++) {
            decoder_require(decoded.spikes[i].unit < decoded.unit_count);
            decoder_require(i == 0 || decoded.spikes[i - 1].time_ns <= decoded.spikes[i].time_ns);
            uint64_t spike = (uint64_t)decoded.spikes[i].time_ns + decoded.spikes[i].unit;
            /* Rigs' spikes are put in order as far as they go out together. */
            sum->sum = sum->of_rig ? sum->sum + spike * spike : 31 * sum->sum + spike;
        }
        for (size_t i = 0; i < decoded.marker_count; i++)
            decoder_require(memchr(decoded.markers[i].text, '\0', SF_MARKER_TEXT_SIZE) != NULL);
        decoder_require((decoded.malformed > 0) == (decoded.fault != NULL));
    }
}

static inline sf_decoder *decoder_open(const decoder_input *input)
{
    sf_decoder *decoder;
    const sf_decoder_options options = {.size = sizeof options,
                                        .protocol = input->protocol,
                                        .units = input->units,
                                        .unit_count = input->unit_count};
    decoder_require(sf_decoder_open(&decoder, &options, NULL) == SF_OK);
    return decoder;
}

static inline decoder_sum decoder_bytes(const decoder_input *input, const uint8_t *data, size_t size,
                                        bool cut)
{
    sf_decoder *decoder = decoder_open(input);
    decoder_sum sum = {.status = SF_AGAIN, .of_rig = input->units != NULL};
    if (input->greeting != NULL)
        decoder_require(
            sf_decoder_feed(decoder, input->greeting, input->greeting_size, SF_FEED_BYTES, NULL) == SF_OK);
    decoder_take_all(decoder, &sum);
    for (size_t at = 0, piece; at < size && sum.status == SF_AGAIN; at += piece) {
        piece = cut ? 1 + data[at] % 37u : size;
        piece = piece < size - at ? piece : size - at;
        decoder_require(sf_decoder_feed(decoder, data + at, piece, SF_FEED_BYTES, NULL) == SF_OK);
        decoder_take_all(decoder, &sum);
    }
    sf_decoder_close(decoder);
    return sum;
}

static inline void decoder_message(const decoder_input *input, const uint8_t *data, size_t size)
{
    sf_decoder *decoder = decoder_open(input);
    decoder_sum sum = {.of_rig = input->units != NULL};
    if (input->greeting != NULL)
        decoder_require(
            sf_decoder_feed(decoder, input->greeting, input->greeting_size, SF_FEED_MESSAGE, NULL) == SF_OK);
    decoder_take_all(decoder, &sum);
    decoder_require(sf_decoder_feed(decoder, data, size, SF_FEED_MESSAGE, NULL) == SF_OK);
    decoder_take_all(decoder, &sum);
    sf_decoder_close(decoder);
}

static inline void decoder_run(const decoder_input *input, const uint8_t *data, size_t size)
{
    decoder_message(input, data, size);
    decoder_sum whole = decoder_bytes(input, data, size, false), cut = decoder_bytes(input, data, size, true);
    decoder_require(whole.status == cut.status && whole.sum == cut.sum && whole.batches == cut.batches &&
                    whole.spikes == cut.spikes && whole.markers == cut.markers &&
                    (whole.status < 0 || whole.lost == cut.lost));
}

#endif
