/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mines a window in the background, from the pairs that the hop counted in it, or that are known from the
 * previous window (kept_pairs.h). The first hop after mining is done takes the result; on a virtual clock,
 * the hop that started it does.
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

/** Minimum threshold for a rate or fraction: in a first, short window it would otherwise mean almost no
 * occurrences. */
#define SF_DISCOVERY_LEAST 5

/** A result with more frequent episodes than this is discarded: nobody looks at that many, and processing
 * them takes long. */
#define SF_DISCOVERY_MOST SF_PAIRING_MOST

/** Upper bound of one device job of growing episodes from pairs (sf_mine_input), some milliseconds of a GPU,
 * because hops need the device meanwhile. */
#define SF_DISCOVERY_PIECE 4e7

/** Where windows are mined whose pairs are not known. */
typedef enum sf_discovery_place {
    SF_DISCOVERY_NOWHERE_YET,
    SF_DISCOVERY_HERE,
    SF_DISCOVERY_THERE
} sf_discovery_place;

/** How the newest mining went. */
typedef struct sf_discovered {
    char device[32];       /**< where it ran; empty: none yet */
    char device_note[256]; /**< why not on the intended device; or empty */
    double seconds;
} sf_discovered;

/** Spikes at positions begin .. end - 1 of the stream. */
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
    /* The window thread's: spikes since the last mined window, the newer array behind the older one; those
     * that no window holds any more are dropped. */
    sf_arrived arrived[2];
    /* The job: the window thread's while idle, the miner's while busy. */
    sf_arrived handed[2]; /* previously arrived spikes; swapped with `arrived` */
    uint64_t begin, end;  /* the window's positions */
    sf_kept_pairs kept;   /* the window's spikes, and the known pairs of the previous window */
    bool pairs_known;     /* the hop also delivered this window's pairs: */
    sf_pair_count *pairs;
    size_t pair_count, pair_room;
    sf_discovery_place place;
    double piece; /* SF_DISCOVERY_PIECE, or 0 if no hop waits for the device */
    uint64_t *unit_spikes;
    sf_span window;
    int64_t observed_ns;
    sf_resident *resident;
    sf_tracking pinned; /* stay tracked whatever is found */
    sf_episode *found;  /* the most remarkable first */
    size_t found_count;
    sf_tracking next; /* these episodes, ready for tracking */
    int status;
    sf_error error;
    sf_discovered how;
    sf_discovered taken; /**< the window thread's: how the newest result taken was mined */
    uint32_t too_many;   /* likewise: consecutive results with too many episodes, ... */
    uint32_t resting;    /* ... and the number of windows to skip for that */
    bool late;           /* likewise: a window was due while the last one was still being mined */
    uint64_t missed;     /* likewise: windows that were due and never mined */
} sf_discovery;

/** What a discovery works with, all borrowed until it is closed. */
typedef struct sf_discovery_setup {
    const sf_live_options *config;
    const sf_units *units;
    const char *device;        /**< where it may mine, as a configuration names it */
    sf_device *there;          /**< may follow pairs, and count what is found; or NULL */
    const sf_tracking *pinned; /**< always tracked; or NULL: nothing. Used during the call only */
    bool inside;               /**< the window thread mines */
} sf_discovery_setup;

int sf_discovery_open(sf_discovery *discovery, const sf_discovery_setup *setup, sf_error *error);
void sf_discovery_close(sf_discovery *discovery);

/** A window to mine. */
typedef struct sf_discovery_window {
    sf_span span;
    int64_t observed_ns;         /**< how much of it was observed, for the counts expected by chance */
    uint64_t begin, end;         /**< positions in the stream, which never decrease from window to window */
    const sf_spike *spikes;      /**< spikes at these positions; new ones are copied */
    const uint64_t *unit_spikes; /**< number of spikes of each unit; copied */
    sf_resident *resident;      /**< the same spikes on the device, kept until the result is taken; or NULL */
    bool pairs_known;           /**< all pairs in it have been counted, at the delays of the discovery: */
    const sf_pair_count *pairs; /**< the pairs that reach the threshold, as from sf_pairing_found; copied */
    size_t pair_count;
} sf_discovery_window;

/** Call for every window that is due for mining: true if it may be mined, that is if the last one is done and
 * taken. After a result with too many episodes, 1 to 63 windows are skipped, so that no thread keeps working
 * for nothing. */
bool sf_discovery_may_start(sf_discovery *discovery);

/** Call for the windows between: true if this one may be mined to replace one that came too early. */
bool sf_discovery_may_start_late(sf_discovery *discovery);

/** Copies the new spikes of the newest window. Call it in each hop, also while a window is being mined, so
 * that no hop has many spikes to copy. SF_NO_MEMORY. */
int sf_discovery_see(sf_discovery *discovery, const sf_discovery_window *window, sf_error *error);

/** Calls sf_discovery_see and starts mining the window; only while idle. SF_NO_MEMORY. */
int sf_discovery_start(sf_discovery *discovery, const sf_discovery_window *window, sf_error *error);

/**
 * Takes a result if one is *ready. *next, owned by the caller, is then the list to track from now on: the
 * pinned episodes and the frequent ones of two and more units, at most track_most of them, chosen by highest
 * excess over chance in standard deviations, (count - expected) / sqrt(max(expected, 1)); `found` keeps them
 * in that order until the next start. If the threshold admitted too many episodes, that is logged and there
 * is no result; any other failure of the mining is returned.
 */
int sf_discovery_take(sf_discovery *discovery, bool *ready, sf_tracking *next, sf_error *error);

/** The configured threshold, as a count, for a window of this length and number of spikes; at least
 * SF_DISCOVERY_LEAST unless min_count is configured. */
double sf_discovery_threshold(const sf_live_options *config, sf_span window, uint64_t spikes);

#endif
