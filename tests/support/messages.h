/* SPDX-License-Identifier: Apache-2.0 */
/** Streams and random messages for the tests of what a live run publishes. */
#ifndef SF_TESTS_MESSAGES_H
#define SF_TESTS_MESSAGES_H

#include "core/message.h"
#include "support/support.h"

/** A stream with `count` units of random, unusual, valid UTF-8 names. Free with test_stream_free. */
typedef struct test_stream {
    sf_units units;
    sf_stream_info info;
} test_stream;

void test_stream_make(test_stream *stream, test_random *random, size_t count);
void test_stream_free(test_stream *stream);

/** A message of any topic with every field filled at random: NaN, large counts, empty lists. seq is 1. */
sf_message *test_message_random(test_random *random, sf_topic topic, const sf_units *units);

/** Asserts that `count` counted episodes are the same, member by member: what lies between members is
 * nobody's. */
void test_assert_same_counts(const sf_episode_count *found, const sf_episode_count *expected, size_t count);

#endif
