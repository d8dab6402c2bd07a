/* SPDX-License-Identifier: Apache-2.0 */
/**
 * From the front thread (merge and watch) to the window thread: spikes in order, then a watermark that
 * vouches for them. What is taken after reading a watermark includes every spike before it.
 */
#ifndef SF_PIPELINE_HANDOFF_H
#define SF_PIPELINE_HANDOFF_H

#include "core/ring.h"
#include "core/thread.h"
#include "mine/isi_n.h"
#include "pipeline/trigger.h"

#include <synfire/recording.h>

/** What became of a completion, to be told. */
typedef struct sf_decided {
    uint32_t trigger;
    sf_outcome outcome;
    sf_trigger_reason reason;
    uint64_t trigger_seq; /**< 0: nothing was sent */
    uint64_t occurrence;
    int64_t time_ns, arrival_ns, decided_ns;
} sf_decided;

/** A network burst is known, or over. */
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
    _Atomic int64_t settled_ns; /**< the windows are done with all that comes before */
    _Atomic int64_t
        leapt_ns; /**< where the stream was after its clock stepped ahead last; INT64_MIN: never */
    _Atomic int64_t began_ns; /**< the first spike that was merged; INT64_MAX: none yet */
    atomic_bool ended;
    atomic_bool abandoned; /**< nobody empties it any more: nothing waits for that */
    sf_bell filled, emptied;
    bool at_leisure; /**< the windows are not woken for each promise: whoever pushes would pay for that */
    int64_t rung_ns; /**< when the front woke them last, by the monotonic clock */
} sf_handoff;

/** How long the windows wait for a promise: at leisure that of one that nobody woke them for. */
#define SF_HANDOFF_LEISURE_MS 5
#define SF_HANDOFF_WAIT_MS 100

/** block: the front waits while there is no room; otherwise what does not fit is dropped and counted by the
 * ring. */
int sf_handoff_open(sf_handoff *handoff, uint64_t room, bool block, sf_error *error);
void sf_handoff_close(sf_handoff *handoff);

/** Front: hands over; waits for room with `block`. arrival_ns is of the newest spike. */
void sf_handoff_put(sf_handoff *handoff, const sf_spike *spikes, size_t count, int64_t arrival_ns);

/** Windows: how many spikes have been handed over so far. What was blanked, and what trials began, up to
 * these is there by then. */
uint64_t sf_handoff_put_so_far(const sf_handoff *handoff);

/** Windows: the next spikes, of the first `until` that were handed over: none that came since. They stay
 * where they are until they are released; 0: there is none. */
size_t sf_handoff_look(sf_handoff *handoff, uint64_t until, const sf_spike **spikes);
void sf_handoff_release(sf_handoff *handoff, size_t count);

/** Front: the same as with spikes, with a decision. */
void sf_handoff_decide(sf_handoff *handoff, const sf_decided *decided);

/** Windows: the next decision; false where there is none. */
bool sf_handoff_next(sf_handoff *handoff, sf_decided *decided);

/** Front: the same with a network burst; windows: the next one, false where there is none. */
void sf_handoff_burst(sf_handoff *handoff, const sf_burst_news *news);
bool sf_handoff_next_burst(sf_handoff *handoff, sf_burst_news *news);

/** Front: the same with the marker of a stimulus, before any spike of its time; windows: the next one. */
void sf_handoff_trial(sf_handoff *handoff, int64_t marker_ns);
bool sf_handoff_next_trial(sf_handoff *handoff, int64_t *marker_ns);

/** Front: the same with a span whose spikes are not analysed, before any spike of its time. */
void sf_handoff_blank(sf_handoff *handoff, sf_span span);

/** Windows: the next such span; false where there is none. */
bool sf_handoff_next_blanked(sf_handoff *handoff, sf_span *span);

/** Windows: all that is there goes unread. */
void sf_handoff_drop(sf_handoff *handoff);

/** Whether so many spikes can be put without waiting. */
bool sf_handoff_has_room(const sf_handoff *handoff, uint64_t spikes);

/** Whether the front waits while there is no room. */
bool sf_handoff_waits(const sf_handoff *handoff);

/** Windows: done with all that comes before this time; INT64_MAX: with everything there will be. */
void sf_handoff_settle(sf_handoff *handoff, int64_t watermark_ns);

/** Front: waits until they are done with all before this time, which all has been put of. */
void sf_handoff_await(sf_handoff *handoff, int64_t time_ns);

/** Any thread: the windows are left as they are, and the front no longer waits for them. */
void sf_handoff_abandon(sf_handoff *handoff);

/** Front: everything before this time has been put; `ended`: nothing follows at all. */
void sf_handoff_promise(sf_handoff *handoff, int64_t watermark_ns, bool ended);

#endif
