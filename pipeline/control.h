/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What follows when a watched episode completes: a message at once where it is only watched; where it is that
 * of a trigger, what pipeline/trigger.h decides. Decisions go to the window thread, which tells them. What
 * orders there are from outside come through a ring. Front thread, real-time safe, but for what says so.
 */
#ifndef SF_PIPELINE_CONTROL_H
#define SF_PIPELINE_CONTROL_H

#include "core/filter.h"
#include "mine/isi_n.h"
#include "pipeline/feeder.h"
#include "pipeline/handoff.h"
#include "pipeline/hop.h"
#include "pipeline/inputs.h"
#include "pipeline/options.h"
#include "pipeline/publisher.h"
#include "pipeline/trigger.h"
#include "pipeline/verdict.h"
#include "pipeline/watched.h"
#include "window/watch.h"

/** A trigger's state, which the front thread writes and others read. */
typedef struct sf_trigger_post {
    atomic_uint why, waiting;
    _Atomic int64_t armed_until_ns, armed_at_ns; /**< the second is stream time */
    const char *_Atomic armed_by;                /**< NULL: it is not armed */
    _Atomic uint64_t completed, sent, sham, withheld;
} sf_trigger_post;

typedef enum sf_command_kind {
    SF_COMMAND_ARM,
    SF_COMMAND_RENEW, /**< arms what is armed */
    SF_COMMAND_DISARM,
    SF_COMMAND_FIRE, /**< a trigger's cause, found by another thread */
    SF_COMMAND_MARK  /**< a text marker where the stream is */
} sf_command_kind;

typedef struct sf_command {
    sf_command_kind kind;
    uint32_t trigger;         /**< SF_ALL_TRIGGERS where it is about arming */
    int64_t arm_ns;           /**< 0: as configured */
    const char *by;           /**< of arming: a literal, who */
    sf_trigger_reason reason; /**< of disarming */
    int64_t time_ns;          /**< of a cause: stream time */
    int64_t arrival_ns;
    char text[SF_MARKER_TEXT_SIZE];
} sf_command;

/** What the front knows that control works with; borrowed. */
typedef struct sf_control_setup {
    const sf_live_options *config;
    const sf_inputs *inputs;
    const sf_feeders *feeders; /**< not opened yet */
    sf_handoff *handoff;
    const sf_board *board; /**< by watched episode */
    sf_publisher *publisher;
    size_t batch; /**< spikes that come at once, at most */
} sf_control_setup;

typedef struct sf_control {
    sf_control_setup setup;
    sf_filter *filter; /**< NULL: every spike is analysed */
    sf_blank *blanks;
    sf_spike *kept;            /**< room for a batch ... */
    int64_t *kept_arrivals_ns; /**< ... and when each came */
    const sf_marker *markers;  /**< that are ahead in the stream */
    size_t marker_count;
    _Atomic uint64_t dropped[SF_FILTER_CAUSES];
    int64_t newest_ns, newest_arrival_ns; /**< of the spike that is looked at */
    sf_watch *watch;
    sf_watched *watched;
    size_t watched_count, trigger_count;
    sf_message *messages; /**< filled in but for what a completion tells: watched ones, then triggers */
    uint32_t *boards;     /**< by trigger: the watched episode that it rests on; UINT32_MAX: none */
    sf_triggers *triggers;
    sf_trigger_post *posts;
    sf_feeder_faults *known;  /**< by source: what was looked at last */
    uint64_t silent;          /**< bit i: source i is */
    int64_t stream_ns;        /**< where the stream is */
    sf_ring orders;           /**< of sf_command */
    pthread_mutex_t ordering; /**< of those who order */
    sf_trigger_settings
        *changed;         /**< by trigger: what the front goes by, or is to from its next look on ... */
    atomic_bool changing; /**< ... while this is set, and the front's alone then */
    bool lockable;
    atomic_bool halted; /**< no trigger is sent any more ... */
    bool disarmed;      /**< ... which the front has seen to */
    bool began;         /**< spikes came */
    bool bursts_wanted;
    sf_isi_n bursts;  /**< where they are wanted */
    int64_t asked_ns; /**< the time that triggers went by last */
} sf_control;

/** Resolves watched episodes and triggers. */
int sf_control_open(sf_control *control, const sf_control_setup *setup, sf_error *error);
void sf_control_close(sf_control *control);

/** Any thread, and handlers of signals: from now on no trigger with a name is sent, and none can be armed. */
void sf_control_halt(sf_control *control);

/** Markers in time order, each before the spikes of its time and later ones are watched; borrowed until
 * sf_control_reach. */
void sf_control_expect(sf_control *control, const sf_marker *markers, size_t count);

/** Spikes that are analysed, and when each came; until the next call. */
typedef struct sf_analysed {
    const sf_spike *spikes;
    const int64_t *arrivals_ns;
    size_t count;
} sf_analysed;

/** Spikes in stream order. Returns which of them are analysed. */
sf_analysed sf_control_watch(sf_control *control, const sf_spike *spikes, const int64_t *arrivals_ns,
                             size_t count);

/** After each pull and before its spikes: faults, one of each source, then orders, then delays that are over.
 */
void sf_control_look(sf_control *control, const sf_feeder_faults *faults);

/** All before this stream time has been watched, and what markers were expected have come. */
void sf_control_reach(sf_control *control, int64_t watermark_ns);

/** The stream has ended: what waits is withheld. */
void sf_control_end(sf_control *control);

/** How long the front may sleep, at most so many milliseconds, for nothing to be late. */
int sf_control_sleep_ms(const sf_control *control, int most);

/** Any thread, which may wait for others that order. SF_AGAIN where there is no room; SF_UNAVAILABLE where a
 * trigger cannot be armed: a source of it is silent, or the run is being stopped. The caller then rings the
 * front's bell. */
int sf_control_order(sf_control *control, const sf_command *order, sf_error *error);

/**
 * Any thread: from the front's next look on triggers go by these options, which differ from the run's in keys
 * that are live only. SF_CONFIG with its key for what a trigger has no room for; SF_AGAIN where the last
 * change was not taken up yet.
 */
int sf_control_change(sf_control *control, const sf_live_options *options, sf_error *error);

/** Any thread, which may wait for those that order: trigger is below sf_live_options.trigger_count, and rates
 * are those of the stream so far. */
void sf_control_status(sf_control *control, uint32_t trigger, const sf_hop_rates *rates,
                       sf_trigger_status *status);

/** Any thread: how many spikes were not analysed, and why. */
void sf_control_count(const sf_control *control, sf_status_message *status);

/** Window thread: the message of a decision, or NULL where memory is out. */
sf_message *sf_control_tell(const sf_control *control, const sf_decided *decided);

#endif
