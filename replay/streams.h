/* SPDX-License-Identifier: Apache-2.0 */
/** The recordings that one file holds side by side: wells of a plate, tables, segments. Only one is read at a
 * time. */
#ifndef SF_REPLAY_STREAMS_H
#define SF_REPLAY_STREAMS_H

#include "io/parcel.h"

typedef struct sf_side_stream {
    char *name;
    uint64_t spikes;
} sf_side_stream;

/** A session of a clock that steps back (replay/sessions.h), counted from 1. */
typedef uint32_t sf_session;
#define SF_SESSION_ANY 0             /* no session requested: as the file has them */
#define SF_SESSION_JOINED UINT32_MAX /* all of them, one after the other */

/** Zero-initialise, set `what`. */
typedef struct sf_streams {
    const char *what; /**< what a stream is, such as "Units table" */
    sf_side_stream *items;
    size_t count, capacity;
} sf_streams;

/** Appends a stream and copies its name. SF_NO_MEMORY; SF_DATA beyond 65536 streams. */
int sf_streams_add(sf_streams *streams, const char *name, uint64_t spikes, sf_error *error);
void sf_streams_free(sf_streams *streams);

/**
 * Sets *chosen to the name of the requested stream: an exact match, or the only one that begins with `asked`
 * and a slash, such as `well001` for `well001/rec0000`. `asked` NULL: the only stream. The rest of the name
 * may be a session, such as `session2` or `well001/joined`: *session, else SF_SESSION_ANY. SF_USAGE lists the
 * streams, with `path` as its place; *chosen is NULL if there are none.
 */
int sf_streams_choose(const sf_streams *streams, const char *asked, const char *path, const char **chosen,
                      sf_session *session, sf_error *error);

/** Whether the last component of this name may be that of a session. */
bool sf_streams_may_be_session(const char *asked);

/** Transfer from the reading program: sf_streams_put writes the streams to a parcel; sf_streams_take reads
 * them in the main process, where they are untrusted, and closes the parcel: SF_DATA. Nothing is left on
 * failure. */
void sf_streams_put(sf_parcel_writer *parcel, const sf_streams *streams);
int sf_streams_take(sf_streams *streams, sf_parcel *parcel, const char *path, sf_error *error);

#endif
