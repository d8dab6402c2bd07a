/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a live run publishes, before any encoding. The pipeline fills messages; each sink encodes them on its
 * own thread. A message is immutable once shared and reference-counted, since several sinks hold it at once.
 */
#ifndef SF_CORE_MESSAGE_H
#define SF_CORE_MESSAGE_H

#include "core/episode.h"
#include "core/provenance.h"
#include "core/thread.h"

#include <synfire/live.h>

/** Version of the published schema: the `v` of every message. */
#define SF_MESSAGE_VERSION 3

/** "episodes", "trigger", "density", "graph", "status", "decision", "delivery", "features",
 * "features_names", "burst", "response", "criticality". */
const char *sf_topic_name(sf_topic topic);
extern const char *const sf_topic_names[]; /**< up to NULL */

/** What stays the same for a whole run; sinks get it when they open and may keep the pointer. */
typedef struct sf_stream_info {
    const char *name; /**< the `stream` of every message */
    const sf_units *units;
    const char *configuration;       /**< the resolved configuration as YAML */
    const sf_provenance *provenance; /**< of the run's results; NULL: not known */
    const sf_recording *origin; /**< metadata that travels with the data; NULL for a live stream without */
    bool discovers;             /**< episodes are looked for, beside those that are named */
    bool draws_graph;           /**< there is a connectivity graph */
    bool virtual_clock;         /**< every source is replayed as fast as everything keeps up */
    const char *const *watch;   /**< the episodes that are watched, as people wrote them */
    size_t watch_count;
    const sf_live_trigger *triggers; /**< those with a name */
    size_t trigger_count;
    const sf_live_bursts *bursts;           /**< NULL: no network bursts are looked for */
    const sf_live_responses *responses;     /**< NULL: nor responses to a stimulus */
    const sf_live_criticality *criticality; /**< NULL: nor is the branching ratio estimated */
} sf_stream_info;

/** "live", "stalled", "lost", "ended", "failed". */
const char *sf_source_state_name(sf_source_state state);
extern const char *const sf_source_state_names[];   /**< up to NULL */
extern const char *const sf_authentication_names[]; /**< of a source that comes over a network; up to NULL */

/** Of a result outside any message. */
void sf_reach_result_free(sf_reach_result *reach);

/** A zeroed message with one reference, or NULL. Arrays inside come from sf_alloc and are owned by the
 * message. */
sf_message *sf_message_new(sf_topic topic);
void sf_message_keep(sf_message *message); /**< any thread */

/** Appends a message as one JSON object with no newline. */
void sf_message_to_json(sf_text *text, const sf_message *message, const sf_stream_info *stream);

/** Milliseconds since the newest spike in it arrived; NaN where it holds none. */
double sf_message_age_ms(const sf_message *message);

/**
 * Gives each episode of an `episodes` message its `standing`, its place by what stands out most
 * (core/standing.h). The message is not shared yet. By a team, or by the caller alone (NULL). SF_NO_MEMORY.
 */
int sf_message_rank(sf_message *message, sf_team *team, sf_error *error);

/**
 * A copy of an `episodes` message with the `most` episodes that stand out most, by `standing`, in the order
 * in which they were; and beside them those with one of these ids, each of SF_EPISODE_ID_SIZE bytes. NULL: no
 * memory.
 */
sf_message *sf_message_top(const sf_message *message, size_t most, const char *const *ids, size_t id_count);

/** Bytes of memory that a message and its arrays take; names and patterns, which are short, are estimated. */
size_t sf_message_bytes(const sf_message *message);

#endif
