/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sessions of a recording whose clock steps back, restarts or overflows, so that separate sessions have the
 * same times. Only the order of spikes in the file tells them apart, so readers call this before they sort.
 * Each session is a stream, `session1` and so on (`A1/session1` of the well A1), and the stream `joined` has
 * all of them in sequence.
 */
#ifndef SF_REPLAY_SESSIONS_H
#define SF_REPLAY_SESSIONS_H

#include "core/recording.h"
#include "replay/streams.h"

/**
 * Detects sessions from the order of the spikes. Asked for SF_SESSION_ANY, only records in the metadata
 * `clock` and `sessions` that sessions overlap; else keeps one session or joins all in sequence, and `clock`
 * says which. Markers are split by their own order; a session keeps none of them if their clock does not step
 * back equally often. `stream` is the prefix of session names if the layout has several streams, or NULL.
 * SF_USAGE if the session does not exist; SF_NO_MEMORY.
 */
int sf_sessions_take(sf_recording *recording, const char *stream, sf_session asked, sf_error *error);

/**
 * Appends the sessions of a recording to `streams`. The recording was read as the stream `of` (NULL: the
 * layout has no streams) and is not sorted yet. If its clock does not step back, appends `of` itself, unless
 * NULL. `is_alone`: the layout has no other stream, whose name is then left out of the session names.
 * SF_NO_MEMORY.
 */
int sf_sessions_list(sf_streams *streams, const sf_side_stream *of, bool is_alone,
                     const sf_recording *recording, sf_error *error);

/** Reads the stream of this name (NULL: the layout has no streams) without sorting it. */
typedef int sf_stream_read(sf_recording *recording, const char *stream, const void *context, sf_error *error);

/**
 * Appends the streams `found` to `streams`, replacing those whose clock steps back by their sessions; `read`
 * reads them one by one. A stream that cannot be read stays in the list, and reading it reports the error.
 * SF_NO_MEMORY.
 */
int sf_sessions_list_all(sf_streams *streams, const sf_streams *found, sf_stream_read *read,
                         const void *context, sf_error *error);

#endif
