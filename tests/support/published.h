/* SPDX-License-Identifier: Apache-2.0 */
/** Reading published messages back with parsers that are not ours, and checking them field by field. */
#ifndef SF_TESTS_PUBLISHED_H
#define SF_TESTS_PUBLISHED_H

#include "core/message.h"

#include <jansson.h>

/** One JSON document or one MessagePack value; fails the test on anything else. Free with json_decref. */
json_t *test_parse_json(const char *text, size_t length);
json_t *test_parse_msgpack(const void *data, size_t length);

/**
 * Asserts that the map holds what docs/messages.md says for this message: every field with its value, and no
 * field besides.
 */
void test_check_published(const json_t *map, const sf_message *message, const sf_stream_info *stream);

#endif
