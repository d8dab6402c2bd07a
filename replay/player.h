/* SPDX-License-Identifier: Apache-2.0 */
/** A recording in memory, played as a source: as recorded, faster or slower, or as fast as it is read. */
#ifndef SF_REPLAY_PLAYER_H
#define SF_REPLAY_PLAYER_H

#include "window/source.h"

/**
 * Borrows `recording` (its spikes are handed out in place), which must stay unchanged until the source is
 * closed.
 *
 * speed > 0: stream time passes `speed` times as fast as the monotonic clock, from the first read on. Batches
 * hold at most 5 ms of stream time and come when that time is over; in silence a clock comes about every 20
 * ms. speed 0: batches of at most SF_PLAYER_BATCH spikes at once, on a virtual clock.
 *
 * With a batch's clock everything before that time has been given. The last batch brings the clock to the end
 * of the recorded span. A read returns within its timeout, or when a signal arrives. Fails with SF_USAGE on a
 * speed that is neither 0 nor from SF_PLAYER_SLOWEST to SF_PLAYER_FASTEST, and with SF_NO_MEMORY.
 */
int sf_player_open(sf_source **out, const sf_recording *recording, double speed, sf_error *error);

/** The recording, which is from sf_alloc, goes with the source when that is closed. */
void sf_player_keep(sf_source *source, sf_recording *recording);

/** A recording in a file, as a configuration names it. */
extern const sf_source_kind sf_source_replay;

#define SF_PLAYER_RING 65536 /* spikes between a player and the merge, where nothing else is said */
#define SF_PLAYER_BATCH 1024
#define SF_PLAYER_SLOWEST 1e-3
#define SF_PLAYER_FASTEST 1e6

/** Reads a speed as people write it: a number, or max, which is 0. False for what is none. */
bool sf_player_speed(const char *text, double *speed);

/** The stream time that is played: the recorded span, wider where spikes or markers lie outside it. */
sf_span sf_player_span(const sf_source *source);

/** Monotonic time at which the last batch was due; 0 with speed 0. */
int64_t sf_player_due_ns(const sf_source *source);

#endif
