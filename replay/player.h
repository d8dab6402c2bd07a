/* SPDX-License-Identifier: Apache-2.0 */
/** Plays a recording in memory as a source: at recorded speed, faster, slower, or as fast as it is read. */
#ifndef SF_REPLAY_PLAYER_H
#define SF_REPLAY_PLAYER_H

#include "window/source.h"

/**
 * Borrows `recording`, whose spikes are handed out in place and must not change until the source is closed.
 *
 * speed > 0: stream time passes `speed` times as fast as the monotonic clock, from the first read on. Batches
 * hold at most 5 ms of stream time and are delivered when that time is over; in silence the source sends a
 * clock about every 20 ms. speed 0: batches of at most SF_PLAYER_BATCH spikes immediately, on a virtual
 * clock.
 *
 * The clock of a batch states that all spikes before that time have been delivered. The last batch advances
 * the clock to the end of the recorded span. A read returns within its timeout, or when a signal arrives.
 * SF_USAGE for a speed that is neither 0 nor from SF_PLAYER_SLOWEST to SF_PLAYER_FASTEST; SF_NO_MEMORY.
 */
int sf_player_open(sf_source **out, const sf_recording *recording, double speed, sf_error *error);

/** Makes the source own the recording, which is from sf_alloc, and free it when closed. */
void sf_player_keep(sf_source *source, sf_recording *recording);

/** Source kind of a configuration: a recording in a file. */
extern const sf_source_kind sf_source_replay;

#define SF_PLAYER_RING 65536 /* default number of spikes between a player and the merge */
#define SF_PLAYER_BATCH 1024
#define SF_PLAYER_SLOWEST 1e-3
#define SF_PLAYER_FASTEST 1e6

/** Parses a speed: a number, or max, which is 0. False if the text is neither. */
bool sf_player_speed(const char *text, double *speed);

/** The stream time that is played: the recorded span, extended to spikes and markers outside it. */
sf_span sf_player_span(const sf_source *source);

/** Monotonic time at which the last batch was due; 0 for speed 0. */
int64_t sf_player_due_ns(const sf_source *source);

#endif
