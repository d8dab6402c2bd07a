/* SPDX-License-Identifier: Apache-2.0 */
/**
 * From the front thread (merge and watch) to the window thread: spikes in order, then a watermark that
 * guarantees them. Spikes read after a watermark include every spike before it.
 */
#ifndef SF_PIPELINE_HANDOFF_H
#define SF_PIPELINE_HANDOFF_H

#include "core/ring.h"
#include "core/thread.h"
#include "mine/isi_n.h"
#include "pipeline/trigger.h"

#include <synfire/recording.h>

/** What became of a completion, to be published. */
typedef struct sf_decided {
    uint32_t trigger;
    sf_outcome outcome;
    sf_trigger_reason reason;
    uint64_t trigger_seq; /**< 0: nothing was sent */
    uint64_t occurrence;
    int64_t time_ns, arrival_ns, decided_ns;
} sf_decided;

/** The begin or end of a network burst. */
typedef struct sf_burst_news {
    bool ended;
    sf_network_burst burst;
    int64_t time_ns, arrival_ns;
} sf_burst_news;

typedef struct sf_handoff {
    sf_ring spikes;
    sf_ring bursts;  /**< of sf_burst_news */
    sf_ring decided; /**< of sf_decided */
    sf_ring blanked; /**< of sf_span */
    sf_ring trials;  /**< of int64_t: markers of stimuli */
    _Atomic int64_t watermark_ns, arrival_ns;
    _Atomic int64_t settled_ns; /**< the windows have processed everything before this time */
    _Atomic int64_t leapt_ns;   /**< stream time after the last forward step of its clock; INT64_MIN: none */
    _Atomic int64_t began_ns;   /**< time of the first merged spike; INT64_MAX: none yet */
    atomic_bool ended;
    atomic_bool abandoned; /**< nobody empties it any more, so nothing waits for that */
    sf_bell filled, emptied;
    bool at_leisure; /**< the windows are not woken for each watermark, because the pushing thread would pay
                        for that */
    int64_t rung_ns; /**< monotonic clock when the front last woke them */
} sf_handoff;

/** How long the windows wait for a watermark; `at leisure`, the wait for one that nobody wakes them for. */
#define SF_HANDOFF_LEISURE_MS 5
#define SF_HANDOFF_WAIT_MS 100

/** block: the front waits while there is no room; otherwise what does not fit is dropped, and the ring counts
 * it. SF_NO_MEMORY. */
int sf_handoff_open(sf_handoff *handoff, uint64_t room, bool block, sf_error *error);
void sf_handoff_close(sf_handoff *handoff);

/** Front: passes spikes on; waits for room with `block`. arrival_ns is that of the newest spike. */
void sf_handoff_put(sf_handoff *handoff, const sf_spike *spikes, size_t count, int64_t arrival_ns);

/** Windows: number of spikes passed on so far. By then, blanked spans and trial markers up to these spikes
 * are available, too. */
uint64_t sf_handoff_put_so_far(const sf_handoff *handoff);

/** Windows: the next spikes among the first `until` that were passed on, so none that came since. They stay
 * in place until released; 0: none. */
size_t sf_handoff_look(sf_handoff *handoff, uint64_t until, const sf_spike **spikes);
void sf_handoff_release(sf_handoff *handoff, size_t count);

/** Front: passes a decision on, as spikes. */
void sf_handoff_decide(sf_handoff *handoff, const sf_decided *decided);

/** Windows: takes the next decision; false if there is none. */
bool sf_handoff_next(sf_handoff *handoff, sf_decided *decided);

/** Front: passes news of a network burst on; windows: take the next, false if there is none. */
void sf_handoff_burst(sf_handoff *handoff, const sf_burst_news *news);
bool sf_handoff_next_burst(sf_handoff *handoff, sf_burst_news *news);

/** Front: passes the marker of a stimulus on, before any spike of its time; windows: take the next, false if
 * there is none. */
void sf_handoff_trial(sf_handoff *handoff, int64_t marker_ns);
bool sf_handoff_next_trial(sf_handoff *handoff, int64_t *marker_ns);

/** Front: passes on a span whose spikes are not analysed, before any spike of its time. */
void sf_handoff_blank(sf_handoff *handoff, sf_span span);

/** Windows: takes the next such span; false if there is none. */
bool sf_handoff_next_blanked(sf_handoff *handoff, sf_span *span);

/** Windows: discards everything unread. */
void sf_handoff_drop(sf_handoff *handoff);

/** Whether this number of spikes can be put without waiting. */
bool sf_handoff_has_room(const sf_handoff *handoff, uint64_t spikes);

/** Whether the front waits while there is no room. */
bool sf_handoff_waits(const sf_handoff *handoff);

/** Windows: everything before this time is processed; INT64_MAX: everything there will ever be. */
void sf_handoff_settle(sf_handoff *handoff, int64_t watermark_ns);

/** Front: waits until the windows have processed everything before this time; call it after putting all of
 * that. */
void sf_handoff_await(sf_handoff *handoff, int64_t time_ns);

/** The windows will process nothing more, and the front no longer waits for them. Any thread. */
void sf_handoff_abandon(sf_handoff *handoff);

/** Front: everything before this time has been put; `ended`: nothing will follow. */
void sf_handoff_promise(sf_handoff *handoff, int64_t watermark_ns, bool ended);

#endif
