/* SPDX-License-Identifier: Apache-2.0 */
/**
 * When a spike of a live stream was due: what waits in a socket, in the sender, or for a run that was itself
 * stopped is old when it is read, and only the stream can say so.
 *
 * The *difference* of a frame is its arrival on the monotonic clock less its time in the stream. The smallest
 * of an epoch is that of a stream on time; what comes with a larger one is behind by the rest. One frame
 * alone proves nothing, as its time stamp may be broken: the smallest but one counts. So that a stream whose
 * clock is slow does not grow old, the smallest is followed with SF_DUE_DRIFT_PPM of the time that has
 * passed. What stays behind for good is on time again at that pace: 20 ms in 40 s.
 *
 * A stream that was late from the beginning cannot be seen like this, but where its sender tells its origin.
 * One thread; nothing here allocates.
 */
#ifndef SF_WINDOW_DUE_H
#define SF_WINDOW_DUE_H

#include <stdbool.h>
#include <stdint.h>

/** Quartz clocks part by 200 ppm at most, and one that is being set (NTP) by 500. */
#define SF_DUE_DRIFT_PPM 500

/** The most that a clock may have drifted since an origin that the stream reports, which may be hours in the
 * past. */
#define SF_DUE_ORIGIN_PPM 100

/** Zeroed: a new epoch, of which nothing has come. */
typedef struct sf_due {
    bool began;
    int64_t began_ns;  /**< arrival of the epoch's first frame */
    int64_t lowest_ns; /**< of the differences, each less the drift allowed since began_ns */
    int64_t second_ns; /**< the next */
} sf_due;

/** A frame that ends at time_ns of the stream arrived. By its origin the stream's time 0 was at origin_ns of
 * the monotonic clock; INT64_MAX: not known. Only the epoch's first frame asks for that. */
void sf_due_take(sf_due *due, int64_t time_ns, int64_t arrival_ns, int64_t origin_ns);

/** Monotonic clock less stream time, now_ns, of a stream on time; after the first frame. */
int64_t sf_due_offset_ns(const sf_due *due, int64_t now_ns);

/** When what is at time_ns of the stream and arrived was due: not after it arrived, nor more than 2^61 ns (73
 * years) before, so that an age never overflows. Monotonic clock. */
int64_t sf_due_at(int64_t offset_ns, int64_t time_ns, int64_t arrival_ns);

#endif
