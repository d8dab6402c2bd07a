/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Puts the spikes of several sources into one stream in order of (time, unit), behind a watermark: a spike
 * goes through once every source has promised that nothing before it will come. A promise is the source's
 * clock, or its newest spike less the allowed lateness. What breaks a promise is late: counted, not given
 * out. Units are numbered through: those of a source follow those of the sources before it.
 *
 * As long as no source is left behind for stalling, the stream depends only on what the sources send, not on
 * timing: a replay on a virtual clock (stall_ns 0) gives the same stream every time.
 */
#ifndef SF_WINDOW_MERGE_H
#define SF_WINDOW_MERGE_H

#include "window/inlet.h"

typedef struct sf_merge_settings {
    const sf_inlet_settings *inlets; /**< one per source */
    size_t inlet_count;
    /** A source that holds the others up for so long (monotonic clock) without promising anything new is left
     * behind until it does. 0: never. */
    int64_t stall_ns;
    bool drop_duplicates; /**< of spikes of one unit at one time only the first goes through */
    size_t batch;         /**< spikes a pull yields at most; 0: 4096 */
} sf_merge_settings;

/** What a pull yields; valid until the next. */
typedef struct sf_merged {
    const sf_spike *spikes;     /**< in stream order, none before those of earlier pulls */
    const int64_t *arrivals_ns; /**< monotonic clock when each of them arrived */
    size_t spike_count;
    const sf_marker *markers; /**< in time order */
    size_t marker_count;
    int64_t watermark_ns; /**< every spike before this time has gone through; INT64_MIN: not known yet */
    bool more;            /**< pull again at once */
    bool ended; /**< all sources ended and nothing waits: the watermark is just after the last spike, or the
                   last clock where that is later */
} sf_merged;

typedef struct sf_merge sf_merge;

/** SF_USAGE for no source, no room, a negative time, or more units than 32 bits number; SF_NO_MEMORY. */
int sf_merge_open(sf_merge **merge, const sf_merge_settings *settings, sf_error *error);

/** After the threads of all sources ended. */
void sf_merge_close(sf_merge *merge);

/** The inlet of a source: for its own thread. */
sf_inlet *sf_merge_inlet(const sf_merge *merge, size_t index);

/** Takes in what came and yields what may go; now_ns is the monotonic clock. One thread; real-time safe. */
void sf_merge_pull(sf_merge *merge, int64_t now_ns, sf_merged *merged);

#endif
