/* SPDX-License-Identifier: Apache-2.0 */
/** The columns of every published message, in every encoding. */
#ifndef SF_CORE_MESSAGE_ROWS_H
#define SF_CORE_MESSAGE_ROWS_H

#include "core/describe/tell.h"
#include "core/message.h"

/** Those of a topic, "message-status", which follow those that every message has; without rows. */
const sf_table *sf_message_table(sf_topic topic);

/** Those that every message has: "message". */
extern const sf_table sf_message_common_table;

/** What was decided of a trigger; and by what edges are, as sf_live_metric. NULL behind the last. */
extern const char *const sf_decision_words[], *const sf_metric_words[];

/** What the columns of messages are given to name values by (sf_value.with). */
typedef struct sf_message_names {
    const sf_message *message;
    const sf_stream_info *stream;
} sf_message_names;

/** A message as the one row of its topic's table. */
sf_table sf_message_row(const sf_message *message);

/** Writes the message as one map. Its topic is below SF_TOPIC_COUNT, its units below stream->units->count.
 * False where memory was lacking. */
bool sf_message_tell(const sf_message *message, const sf_stream_info *stream, const sf_encoding *as,
                     void *to);

#endif
