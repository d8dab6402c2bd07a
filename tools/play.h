/* SPDX-License-Identifier: Apache-2.0 */
/** A recording as a live stream. Errors are as in synfire/synfire.h; one object from one thread at a time. */
#ifndef SF_TOOLS_PLAY_H
#define SF_TOOLS_PLAY_H

#include <synfire/recording.h>

/** Reads a speed as people write it: times as fast as recorded, or max, which is 0. SF_USAGE. */
int sf_speed_parse(double *speed, const char *text, sf_error *error);

typedef struct sf_playing {
    const char *name;     /**< name of the stream */
    const char *endpoint; /**< NULL: the protocol's default */
    const char *protocol; /**< a protocol of ingest/protocol.h, such as "synfire" */
    bool insecure;        /**< other machines may connect */
    const char *key,
        *clients; /**< files of keys (docs/operations.md), NULL: none; only synfire's protocol has them */
    bool loop;
    double speed; /**< relative to the recording; 0: as fast as the receiver takes it, on a virtual clock */
    uint64_t subscribers; /**< number to wait for before the start */
    /** Called with the address it sends to, before subscribers are waited for. */
    void (*ready)(void *user, const char *address);
    /** Called while it waits: false stops it, and it waits for nobody any longer. */
    bool (*go_on)(void *user);
    void *user;
} sf_playing;

typedef struct sf_played {
    bool began; /**< all subscribers connected; then the following is valid even if it was stopped */
    uint64_t spikes, markers;
    double seconds;
    int64_t late_ns; /**< maximum time by which a batch was sent late */
} sf_played;

/** Sends a recording as a live stream until its end or SF_CANCELLED. When it loops, later rounds get later
 * times. */
int sf_play(sf_played *told, sf_recording *recording, const sf_playing *playing, const sf_progress *progress,
            sf_error *error);

#endif
