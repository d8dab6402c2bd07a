/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Whether the clock of a live stream goes as fast as time does: where a rig samples at 20 kHz and is read as
 * 30, it passes 0.667 s in each second, and all delays and rates are wrong by as much.
 *
 * Spans of SF_PACE_NS of arrivals are looked at, each for itself. A sender that is held up is slow in one and
 * fast in the next; only two spans in succession that agree tell of the clock. One thread; nothing here
 * allocates.
 */
#ifndef SF_WINDOW_PACE_H
#define SF_WINDOW_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define SF_PACE_NS (5 * INT64_C(1000000000))
#define SF_PACE_SETTLES_NS INT64_C(1000000000) /**< what waited for the run comes at once before */
#define SF_PACE_WRONG 0.05                     /**< further from 1 no clock of a rig goes */
#define SF_PACE_ALIKE 0.02                     /**< no further apart two spans agree */

/** Zeroed: of a new epoch. */
typedef struct sf_pace {
    bool began, settled;
    int64_t time_ns, arrival_ns; /**< where the present span begins */
    double last;                 /**< of the span before; 0: there was none */
} sf_pace;

/** A frame that ends at time_ns of the stream arrived (monotonic clock). Seconds of the stream in each
 * second, where that is plainly wrong; else 0. */
double sf_pace_take(sf_pace *pace, int64_t time_ns, int64_t arrival_ns);

#endif
