/* SPDX-License-Identifier: Apache-2.0 */
/** The recordings that one file holds side by side: wells of a plate, tables, segments. One of them is read.
 */
#ifndef SF_REPLAY_STREAMS_H
#define SF_REPLAY_STREAMS_H

#include "io/parcel.h"

typedef struct sf_side_stream {
    char *name;
    uint64_t spikes;
} sf_side_stream;

/** One of the sessions of a clock that steps back (replay/sessions.h): 1 is the first. */
typedef uint32_t sf_session;
#define SF_SESSION_ANY 0             /* none is asked for: as the file has them */
#define SF_SESSION_JOINED UINT32_MAX /* all of them, one after the other */

/** Zero-initialise, set `what`. */
typedef struct sf_streams {
    const char *what; /**< what one of them is, as "Units table" */
    sf_side_stream *items;
    size_t count, capacity;
} sf_streams;

/** Appends one; its name is copied. SF_NO_MEMORY; SF_DATA beyond 65536 of them. */
int sf_streams_add(sf_streams *streams, const char *name, uint64_t spikes, sf_error *error);
void sf_streams_free(sf_streams *streams);

/**
 * *chosen is the name of the one that is asked for: of that name, or the only one of which it is the
 * beginning up to a slash, as `well001` of `well001/rec0000`. asked NULL: the only one. What is left of the
 * name may be a session, as `session2` or `well001/joined`: *session, else SF_SESSION_ANY. SF_USAGE lists
 * them, with `path` as its place; *chosen is NULL where there are none.
 */
int sf_streams_choose(const sf_streams *streams, const char *asked, const char *path, const char **chosen,
                      sf_session *session, sf_error *error);

/** True where the last part of this name, if it is one, may be that of a session. */
bool sf_streams_may_be_session(const char *asked);

/** On their way from the reading program: what it writes, and what its answer holds, which is not believed
 * and closed: SF_DATA. Nothing is left on failure. */
void sf_streams_put(sf_parcel_writer *parcel, const sf_streams *streams);
int sf_streams_take(sf_streams *streams, sf_parcel *parcel, const char *path, sf_error *error);

#endif
