/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What happens when a watched episode completes: if it is only watched, a message at once; if it belongs to a
 * trigger, what pipeline/trigger.h decides. Decisions go to the window thread, which publishes them. Commands
 * from outside arrive through a ring. Front thread and real-time safe, unless a comment says otherwise.
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

/** A trigger's state; the front thread writes it, others read it. */
typedef struct sf_trigger_post {
    atomic_uint why, waiting;
    _Atomic int64_t armed_until_ns, armed_at_ns; /**< the second is stream time */
    const char *_Atomic armed_by;                /**< NULL: it is not armed */
    _Atomic uint64_t completed, sent, sham, withheld;
} sf_trigger_post;

typedef enum sf_command_kind {
    SF_COMMAND_ARM,
    SF_COMMAND_RENEW, /**< extends the arming of an armed trigger */
    SF_COMMAND_DISARM,
    SF_COMMAND_FIRE, /**< the cause of a trigger occurred, as another thread found */
    SF_COMMAND_MARK  /**< a text marker at the current stream time */
} sf_command_kind;

typedef struct sf_command {
    sf_command_kind kind;
    uint32_t trigger;         /**< SF_ALL_TRIGGERS for commands about arming */
    int64_t arm_ns;           /**< 0: as configured */
    const char *by;           /**< arming: who did it, a literal */
    sf_trigger_reason reason; /**< disarming: why */
    int64_t time_ns;          /**< stream time of a cause */
    int64_t arrival_ns;
    char text[SF_MARKER_TEXT_SIZE];
} sf_command;

/** What control gets from the front; borrowed. */
typedef struct sf_control_setup {
    const sf_live_options *config;
    const sf_inputs *inputs;
    const sf_feeders *feeders; /**< not yet open */
    sf_handoff *handoff;
    const sf_board *board; /**< by watched episode */
    sf_publisher *publisher;
    size_t batch; /**< maximum number of spikes passed at once */
} sf_control_setup;

typedef struct sf_control {
    sf_control_setup setup;
    sf_filter *filter; /**< NULL: every spike is analysed */
    sf_blank *blanks;
    sf_spike *kept;            /**< capacity for one batch of analysed spikes ... */
    int64_t *kept_arrivals_ns; /**< ... and their arrival times */
    const sf_marker *markers;  /**< expected markers, not yet reached by the stream */
    size_t marker_count;
    _Atomic uint64_t dropped[SF_FILTER_CAUSES];
    int64_t newest_ns, newest_arrival_ns; /**< of the spike being watched */
    sf_watch *watch;
    sf_watched *watched;
    size_t watched_count, trigger_count;
    sf_message *messages; /**< prefilled except what a completion adds: watched ones, then triggers */
    uint32_t *boards;     /**< by trigger: index of the watched episode that fires it; UINT32_MAX: none */
    sf_triggers *triggers;
    sf_trigger_post *posts;
    sf_feeder_faults *known;  /**< by source: the faults at the last look */
    uint64_t silent;          /**< bit i: source i is silent */
    int64_t stream_ns;        /**< current stream time */
    sf_ring orders;           /**< sf_command items */
    pthread_mutex_t ordering; /**< held by a thread that sends a command */
    /** by trigger: the settings that the front uses, or will use from its next look on ... */
    sf_trigger_settings *changed;
    atomic_bool changing; /**< ... while this is set; then only the front may touch them */
    bool lockable;
    atomic_bool halted; /**< no trigger is sent any more ... */
    bool disarmed;      /**< ... and the front has disarmed them all */
    bool began;         /**< spikes have arrived */
    bool bursts_wanted;
    sf_isi_n bursts;  /**< if bursts_wanted */
    int64_t asked_ns; /**< time of the last update of the triggers */
} sf_control;

/** Resolves watched episodes and triggers. SF_CONFIG, SF_NO_MEMORY. */
int sf_control_open(sf_control *control, const sf_control_setup *setup, sf_error *error);
void sf_control_close(sf_control *control);

/** From now on no named trigger is sent, and none can be armed. Any thread, and signal handlers. */
void sf_control_halt(sf_control *control);

/** Announces markers in time order; each takes effect before spikes of its time and later are watched.
 * Borrowed until sf_control_reach. */
void sf_control_expect(sf_control *control, const sf_marker *markers, size_t count);

/** The analysed spikes and their arrival times; valid until the next call. */
typedef struct sf_analysed {
    const sf_spike *spikes;
    const int64_t *arrivals_ns;
    size_t count;
} sf_analysed;

/** Watches spikes in stream order. Returns those that are analysed. */
sf_analysed sf_control_watch(sf_control *control, const sf_spike *spikes, const int64_t *arrivals_ns,
                             size_t count);

/** Call after each pull, before its spikes: takes the faults of all sources (one entry each), then commands,
 * then ends delays that are over. */
void sf_control_look(sf_control *control, const sf_feeder_faults *faults);

/** Everything before this stream time has been watched, and the expected markers have passed. */
void sf_control_reach(sf_control *control, int64_t watermark_ns);

/** The stream has ended: withholds what waits. */
void sf_control_end(sf_control *control);

/** How many milliseconds the front may sleep without being late, at most `most`. */
int sf_control_sleep_ms(const sf_control *control, int most);

/** Sends a command to the front; the caller then rings the front's bell. Any thread; may wait for other
 * senders. SF_AGAIN if the ring is full; SF_UNAVAILABLE if a trigger cannot be armed: one of its sources is
 * silent, or the run is being stopped. */
int sf_control_order(sf_control *control, const sf_command *order, sf_error *error);

/**
 * From the front's next look on triggers use these options, which differ from the run's only in keys that may
 * change live. Any thread. SF_CONFIG with the key, if a trigger has no room for a setting; SF_AGAIN if the
 * front has not yet adopted the previous change.
 */
int sf_control_change(sf_control *control, const sf_live_options *options, sf_error *error);

/** Fills the status of a trigger, an index below sf_live_options.trigger_count. rates: of the stream so far.
 * Any thread; may wait for senders of commands. */
void sf_control_status(sf_control *control, uint32_t trigger, const sf_hop_rates *rates,
                       sf_trigger_status *status);

/** Adds to the status how many spikes were not analysed, by cause. Any thread. */
void sf_control_count(const sf_control *control, sf_status_message *status);

/** Builds the message of a decision; NULL if memory is out. Window thread. */
sf_message *sf_control_tell(const sf_control *control, const sf_decided *decided);

#endif
