/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mining a window in the background, from the pairs that were counted in it by the hop, or that are known of
 * the window before (kept_pairs.h): its result is taken by the first hop after it is done, on a virtual clock
 * by the hop that asks for it.
 */
#ifndef SF_PIPELINE_DISCOVERY_H
#define SF_PIPELINE_DISCOVERY_H

#include "mine/mine.h"
#include "pipeline/background.h"
#include "pipeline/kept_pairs.h"
#include "pipeline/options.h"
#include "pipeline/tracking.h"
#include "window/resident.h"

#include <synfire/mine.h>

/** A rate or fraction asks for no fewer occurrences than this: in a first short window it would mean next to
 * none. */
#define SF_DISCOVERY_LEAST 5

/** A window with more frequent episodes than this is not taken up: nobody watches so many, and it takes long.
 */
#define SF_DISCOVERY_MOST SF_PAIRING_MOST

/** What grows from pairs is asked of a device in jobs of so much (sf_mine_input), some milliseconds of a
 * GPU: hops want it meanwhile. */
#define SF_DISCOVERY_PIECE 4e7

/** Where windows are mined that nothing is known of. */
typedef enum sf_discovery_place {
    SF_DISCOVERY_NOWHERE_YET,
    SF_DISCOVERY_HERE,
    SF_DISCOVERY_THERE
} sf_discovery_place;

/** How the newest mining went. */
typedef struct sf_discovered {
    char device[32];       /**< where it ran; empty: there was none yet */
    char device_note[256]; /**< why not where it should; or empty */
    double seconds;
} sf_discovered;

/** Spikes that came, at positions begin .. end - 1 of the stream. */
typedef struct sf_arrived {
    sf_spike *spikes;
    size_t room;
    uint64_t begin, end;
} sf_arrived;

typedef struct sf_discovery {
    const sf_live_options *config;
    const sf_units *units;
    const char *device;
    sf_device *there;
    sf_delay delays[SF_LIVE_MOST_DELAYS];
    size_t delay_count;
    sf_background background;
    /* The window thread's: what came since the last window that was mined, the newer behind the older; what
     * no window holds any more goes. */
    sf_arrived arrived[2];
    /* The job: the window thread's while idle, the miner's while busy. */
    sf_arrived handed[2]; /* what arrived before; the other's room */
    uint64_t begin, end;  /* the window's positions */
    sf_kept_pairs kept;   /* the window's spikes, and what is known of the pairs of the one before */
    bool pairs_known;     /* those of this one came with it: */
    sf_pair_count *pairs;
    size_t pair_count, pair_room;
    sf_discovery_place place;
    double piece; /* SF_DISCOVERY_PIECE, or 0 where no hop waits for the device */
    uint64_t *unit_spikes;
    sf_span window;
    int64_t observed_ns;
    sf_resident *resident;
    sf_tracking pinned; /* stay tracked whatever is found */
    sf_episode *found;  /* the most remarkable first */
    size_t found_count;
    sf_tracking next; /* they, to be tracked */
    int status;
    sf_error error;
    sf_discovered how;
    sf_discovered taken; /**< the window thread's: of the newest result that was taken */
    uint32_t too_many;   /* likewise: results in a row that held too many episodes, ... */
    uint32_t resting;    /* ... and windows that are passed over for it */
    bool late;           /* likewise: a window that was to be mined came while the last one was not done */
    uint64_t missed;     /* likewise: windows that were to be mined and never are */
} sf_discovery;

/** What a discovery works with, all borrowed until it is closed. */
typedef struct sf_discovery_setup {
    const sf_live_options *config;
    const sf_units *units;
    const char *device;        /**< where it may mine, as a configuration names it */
    sf_device *there;          /**< where it may follow pairs, and what it finds is counted; or NULL */
    const sf_tracking *pinned; /**< what is tracked in any case; or NULL, nothing. Only for the call */
    bool inside;               /**< the window thread mines */
} sf_discovery_setup;

int sf_discovery_open(sf_discovery *discovery, const sf_discovery_setup *setup, sf_error *error);
void sf_discovery_close(sf_discovery *discovery);

/** A window to mine. */
typedef struct sf_discovery_window {
    sf_span span;
    int64_t observed_ns;         /**< how much of it was observed, which chance is of */
    uint64_t begin, end;         /**< positions of the stream, which never descend from window to window */
    const sf_spike *spikes;      /**< those; copied as far as they are new */
    const uint64_t *unit_spikes; /**< how many each unit has; copied */
    sf_resident *resident;      /**< or NULL: the same spikes on the device, kept until the result is taken */
    bool pairs_known;           /**< somebody has counted all pairs in it, at the delays of the discovery: */
    const sf_pair_count *pairs; /**< those that reach the threshold, as sf_pairing_found; copied */
    size_t pair_count;
} sf_discovery_window;

/** Asked of every window that is to be mined: whether it may be, since the last one is done and taken. Where
 * that held too many episodes some are passed over, at first one and at most 63, so that no thread works for
 * nothing all the time. */
bool sf_discovery_may_start(sf_discovery *discovery);

/** Asked of the windows between: whether this one may be mined in place of one for which it was too early. */
bool sf_discovery_may_start_late(sf_discovery *discovery);

/** Copies the spikes of the newest window that are new: in each hop, also while a window is being mined, so
 * that no hop has many to copy. SF_NO_MEMORY. */
int sf_discovery_see(sf_discovery *discovery, const sf_discovery_window *window, sf_error *error);

/** Sees the window and starts mining it; only while idle. SF_NO_MEMORY. */
int sf_discovery_start(sf_discovery *discovery, const sf_discovery_window *window, sf_error *error);

/**
 * *ready: a result is there, and *next, the caller's, is what to track from now on: beside what is pinned the
 * frequent episodes of two and more units, at most track_most of them: those with the highest excess over
 * chance in standard deviations, (count - expected) / sqrt(max(expected, 1)), which `found` has in that order
 * until the next start. Where the threshold let too many through, that is logged and there is no result; any
 * other failure of the mining is returned.
 */
int sf_discovery_take(sf_discovery *discovery, bool *ready, sf_tracking *next, sf_error *error);

/** The threshold that the configuration means for a window of this length and number of spikes; at least
 * SF_DISCOVERY_LEAST unless min_count says otherwise. */
double sf_discovery_threshold(const sf_live_options *config, sf_span window, uint64_t spikes);

#endif
