/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder of messages of several parts, and what a sender may send it. An input is a run of parts: two
 * bytes of length, of which the highest bit says that another part of the same message follows, and as many
 * bytes. */
#ifndef SF_FUZZ_MESSAGE_INPUT_H
#define SF_FUZZ_MESSAGE_INPUT_H

#include "decoder_input.h"

/* Feeds part by part; what does not fit into the input is cut. */
static inline void message_feed(sf_decoder *decoder, decoder_sum *sum, const uint8_t *data, size_t size)
{
    size_t at = 0;
    bool more = false;
    while (at + 2 <= size && sum->status == SF_AGAIN) {
        size_t length = (size_t)(data[at] | (data[at + 1] & 0x7f) << 8);
        more = (data[at + 1] & 0x80) != 0;
        at += 2;
        length = length < size - at ? length : size - at;
        uint8_t *part = malloc(length > 0 ? length : 1); /* a block of its own, so that reading on is found */
        memcpy(part, data + at, length);
        at += length;
        decoder_require(sf_decoder_feed(decoder, part, length, more ? SF_FEED_PART : SF_FEED_MESSAGE, NULL) ==
                        SF_OK);
        free(part);
        if (!more) decoder_take_all(decoder, sum);
    }
}

static inline void message_run(const sf_decoder_options *options, const uint8_t *data, size_t size)
{
    sf_decoder *decoder;
    decoder_sum sum = {.status = SF_AGAIN};
    decoder_require(sf_decoder_open(&decoder, options, NULL) == SF_OK);
    message_feed(decoder, &sum, data, size);
    sf_decoder_close(decoder);
}

#endif
