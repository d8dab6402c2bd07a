/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sessions of a recording whose clock runs back, begins anew or overflows: what was recorded apart has the
 * same times. Only the order in which a file has its spikes tells them apart, so that readers ask before they
 * put spikes in order. Each session is a stream, `session1` and so on (`A1/session1` of the well A1), and the
 * stream `joined` has all of them, one after the other.
 */
#ifndef SF_REPLAY_SESSIONS_H
#define SF_REPLAY_SESSIONS_H

#include "core/recording.h"
#include "replay/streams.h"

/**
 * Reads the order of the spikes, and either says in the metadata `clock` and `sessions` that sessions lie on
 * one another (asked SF_SESSION_ANY), keeps one of them, or puts them one after the other; `clock` then says
 * which. Markers follow their own order; where that does not step back as often, a session keeps none of
 * them. `stream` begins the names of sessions, as the one of several that the layout has, or is NULL.
 * SF_USAGE where the session is not there; SF_NO_MEMORY.
 */
int sf_sessions_take(sf_recording *recording, const char *stream, sf_session asked, sf_error *error);

/**
 * Appends to `streams` the sessions of the recording, which was read as the stream `of` (NULL: the layout has
 * no streams) and is not put in order yet; where its clock does not step back, `of` itself, if that is not
 * NULL. `is_alone`: the layout has no other, and its name is left out of theirs. SF_NO_MEMORY.
 */
int sf_sessions_list(sf_streams *streams, const sf_side_stream *of, bool is_alone,
                     const sf_recording *recording, sf_error *error);

/** Reads the stream of this name, NULL where the layout has no streams, and does not put it in order. */
typedef int sf_stream_read(sf_recording *recording, const char *stream, const void *context, sf_error *error);

/**
 * Appends to `streams` those that a layout has, `found`, each with its sessions in its place where its clock
 * steps back; `read` reads them one by one. One that cannot be read stays in the list, and whoever reads it
 * is told why. SF_NO_MEMORY.
 */
int sf_sessions_list_all(sf_streams *streams, const sf_streams *found, sf_stream_read *read,
                         const void *context, sf_error *error);

#endif
