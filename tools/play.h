/* SPDX-License-Identifier: Apache-2.0 */
/** A recording as a live stream. Errors are as in synfire/synfire.h; one object from one thread at a time. */
#ifndef SF_TOOLS_PLAY_H
#define SF_TOOLS_PLAY_H

#include <synfire/recording.h>

/** Reads a speed as people write it: times as fast as recorded, or max, which is 0. SF_USAGE. */
int sf_speed_parse(double *speed, const char *text, sf_error *error);

typedef struct sf_playing {
    const char *name;     /**< of the stream */
    const char *endpoint; /**< NULL: the protocol's own */
    const char *protocol; /**< of ingest/protocol.h, as "synfire" */
    bool insecure;        /**< other machines may connect */
    const char *key,
        *clients; /**< files of keys (docs/operations.md), NULL: none; synfire's protocol alone has them */
    bool loop;
    double speed;         /**< times as fast as recorded; 0: as fast as it is taken, on a virtual clock */
    uint64_t subscribers; /**< waited for before the start */
    /** Where it sends, before subscribers are waited for. */
    void (*ready)(void *user, const char *address);
    /** Asked while it waits: false stops, and nobody is waited for any longer. */
    bool (*go_on)(void *user);
    void *user;
} sf_playing;

typedef struct sf_played {
    bool began; /**< all subscribers came; what follows is then told also of what was stopped */
    uint64_t spikes, markers;
    double seconds;
    int64_t late_ns; /**< the most that a batch was sent after it was due */
} sf_played;

/** Sends a recording as a live stream until its end or SF_CANCELLED. When it loops, its times are moved on.
 */
int sf_play(sf_played *told, sf_recording *recording, const sf_playing *playing, const sf_progress *progress,
            sf_error *error);

#endif
