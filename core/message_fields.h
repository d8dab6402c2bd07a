/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The fields of every published message, told once for all encodings (docs/messages.md lists them for
 * people).
 */
#ifndef SF_CORE_MESSAGE_FIELDS_H
#define SF_CORE_MESSAGE_FIELDS_H

#include "core/message.h"

/**
 * How one encoding writes values, one after the other. key is NULL inside lists and at the top; maps and
 * lists are told their size when they open. A number that is not finite is written as the encoding's null.
 */
typedef struct sf_encoding {
    void (*map)(void *to, const char *key, size_t fields);
    void (*end_map)(void *to);
    void (*list)(void *to, const char *key, size_t items);
    void (*end_list)(void *to);
    void (*string)(void *to, const char *key, const char *value);
    void (*integer)(void *to, const char *key, int64_t value);
    void (*natural)(void *to, const char *key, uint64_t value);
    void (*real)(void *to, const char *key, double value);
    void (*boolean)(void *to, const char *key, bool value);
    void (*seconds)(void *to, const char *key, int64_t time_ns);
    void (*milliseconds)(void *to, const char *key, int64_t time_ns);
} sf_encoding;

/** Writes the message as one map. Its topic is below SF_TOPIC_COUNT, its units below stream->units->count. */
void sf_message_tell(const sf_message *message, const sf_stream_info *stream, const sf_encoding *as,
                     void *to);

#endif
