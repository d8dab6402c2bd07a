/* SPDX-License-Identifier: Apache-2.0 */
/** What a decoder makes of messages that a test wrote by hand: a text of all that was taken. */
#ifndef TEST_SUPPORT_DECODED_H
#define TEST_SUPPORT_DECODED_H

#include "core/text.h"

#include <synfire/live.h>

typedef struct test_decoded {
    sf_decoder *decoder;
    sf_text told; /**< "1000 Electrode 1 -80", "2000 ttl3 1", "until 3000": times in ns, line by line */
    uint64_t malformed, out_of_range, gaps, gap_lost, other_streams, restarts;
    char fault[160]; /**< the last */
    bool is_known;
    const sf_unit *units; /**< once it is known; as long as the decoder */
    size_t unit_count;
} test_decoded;

void test_decoded_open(test_decoded *it, const sf_decoder_options *options);
void test_decoded_close(test_decoded *it);

/** Feeds a message of parts, and takes all there is. */
void test_decoded_message(test_decoded *it, const void *const *parts, const size_t *sizes, size_t count);

/** Feeds bytes of a stream. */
void test_decoded_bytes(test_decoded *it, const void *bytes, size_t size);

/** The low bytes of a number, as all these systems send it: little-endian. */
static inline void test_little(unsigned char *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

/** Requires what was told since the last time, and forgets it. */
void test_decoded_require(test_decoded *it, const char *told);

#endif
