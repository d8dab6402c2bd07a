/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which completions of watched episodes become triggers. Events go in with the time that it is, decisions
 * come out with their reasons: no clock is read here and nothing is sent. All memory is taken at open.
 *
 * `now_ns` never goes back. It is the monotonic clock where the stream runs in real time, since it is tissue
 * and stimulator that need the rest, and the stream's own time on a virtual clock, where arrival times are
 * times of the stream too. Only the condition on the count is about the stream: it is by times of spikes.
 *
 * Of a completion is asked in this order: is the trigger armed, is the completion young enough, is it the nth
 * within the time asked for, is q small enough. What passes waits for its delay. When that is over: is the
 * trigger armed still, did it wait no longer than it should, is the last one long enough ago, were there not
 * too many. What passes this as well is sent, or, for the share that is sham, treated alike in all but the
 * sending.
 */
#ifndef SF_PIPELINE_TRIGGER_H
#define SF_PIPELINE_TRIGGER_H

#include <synfire/mine.h>

#define SF_NO_TRIGGER UINT32_MAX
#define SF_ALL_TRIGGERS UINT32_MAX

/** A run that begins has caught up by then. */
#define SF_TRIGGER_START_NS (3 * INT64_C(1000000000))

/** A trigger remembers as many completions, and as many that were sent, as its count and rate look back on,
 * and at least so many: what a later setting of them may ask for. */
#define SF_TRIGGER_REMEMBERED 64

/** How many completions of a trigger may wait for their delay. */
#define SF_TRIGGER_WAITING 64

/** Why a trigger was withheld, or why it is not armed. */
typedef enum sf_trigger_reason {
    SF_TRIGGER_OF_ITSELF,      /**< there is none: sent, armed */
    SF_TRIGGER_DISARMED,       /**< by command, or never armed */
    SF_TRIGGER_EXPIRED,        /**< arming was not renewed */
    SF_TRIGGER_OLD,            /**< too long since its last spike arrived; disarms */
    SF_TRIGGER_SOURCE_SILENT,  /**< the next three: a source of the trigger had a fault; they disarm */
    SF_TRIGGER_SOURCE_LOST,    /**< frames or spikes */
    SF_TRIGGER_SOURCE_STEPPED, /**< its clock */
    SF_TRIGGER_COUNT,          /**< too few of late */
    SF_TRIGGER_Q,
    SF_TRIGGER_REFRACTORY,
    SF_TRIGGER_RATE,
    SF_TRIGGER_NO_ROOM /**< too many wait for their delay */
} sf_trigger_reason;

/** "disarmed", "too old", "source stalled", ...: a literal; NULL of SF_TRIGGER_OF_ITSELF. */
const char *sf_trigger_reason_text(sf_trigger_reason reason);

typedef struct sf_trigger_settings {
    bool armed;                    /**< from the beginning */
    int64_t arm_ns;                /**< arming lasts so long; 0: to the end */
    int64_t max_age_ns;            /**< since its last spike arrived, or since its delay was over; 0: any */
    int64_t refractory_ns;         /**< least time between two */
    uint32_t most;                 /**< at most so many, 0: any number, ... */
    int64_t most_ns;               /**< ... within so long */
    uint32_t min_count;            /**< it takes so many completions, this one among them, 0 or 1: one, ... */
    int64_t within_ns;             /**< ... the first of them with its last spike less than so long before */
    double max_q;                  /**< NaN: no condition; without a q no trigger passes one */
    int64_t delay_ns, delay_to_ns; /**< drawn anew for each, both included */
    double sham;                   /**< the share that is only said to have been sent */
    uint64_t seed;                 /**< of delays and shams */
    uint64_t sources;              /**< bit i: a fault of source i disarms it */
    uint32_t follows; /**< what this trigger, of lower index, sends, completes this one; SF_NO_TRIGGER */
} sf_trigger_settings;

/** What may become a trigger. */
typedef struct sf_cause {
    int64_t time_ns;    /**< stream time: of its last spike */
    int64_t arrival_ns; /**< by the clock of now_ns */
    double q;           /**< NaN: none */
    uint64_t number;    /**< of the completion in the run */
    uint32_t size;      /**< 0: no episode */
    int64_t spike_times_ns[SF_EPISODE_MAX_SIZE];
} sf_cause;

typedef enum sf_trigger_event_kind {
    SF_EVENT_TIME, /**< a delay is over: the first of those that are */
    SF_EVENT_COMPLETED,
    SF_EVENT_ARM,
    SF_EVENT_RENEW, /**< arms what is armed, for another while */
    SF_EVENT_DISARM,
    SF_EVENT_FAULT /**< of a source */
} sf_trigger_event_kind;

typedef struct sf_trigger_event {
    sf_trigger_event_kind kind;
    uint32_t trigger; /**< of arming and disarming also SF_ALL_TRIGGERS */
    const sf_cause *occurrence;
    int64_t arm_ns;           /**< for so long; 0: as its settings say */
    uint64_t sources;         /**< of a fault: bits */
    sf_trigger_reason reason; /**< of a fault, and of disarming: why, SF_TRIGGER_OF_ITSELF: by command */
} sf_trigger_event;

typedef enum sf_outcome { SF_OUTCOME_SENT, SF_OUTCOME_SHAM, SF_OUTCOME_WITHHELD } sf_outcome;

typedef struct sf_decision {
    uint32_t trigger;
    sf_outcome outcome;
    sf_trigger_reason reason;
    int64_t decided_ns;
    int64_t since_ns; /**< its age counts from here: when it arrived, or when its delay was over */
    sf_cause occurrence;
} sf_decision;

typedef struct sf_trigger_state {
    sf_trigger_reason why;  /**< it is not armed; SF_TRIGGER_OF_ITSELF: it is */
    int64_t armed_until_ns; /**< INT64_MAX: to the end */
    uint32_t waiting;       /**< for their delay */
    uint64_t completed;     /**< = sent + sham + withheld + waiting */
    uint64_t sent, sham, withheld;
} sf_trigger_state;

typedef struct sf_triggers sf_triggers;

/** SF_NO_MEMORY. The settings are copied. */
int sf_triggers_open(sf_triggers **triggers, const sf_trigger_settings *settings, size_t count,
                     sf_error *error);
void sf_triggers_close(sf_triggers *triggers);

/**
 * Takes an event and returns how many decisions were made, in order; they are valid until the next call. An
 * event is taken after all delays that are over by now (sf_triggers_next_ns), one SF_EVENT_TIME each. Arming
 * from the beginning counts from the first call. Real-time safe.
 */
size_t sf_triggers_take(sf_triggers *triggers, const sf_trigger_event *event, int64_t now_ns,
                        const sf_decision **decisions);

/**
 * The stream begins, and what is first of it may have waited for the run: before anything else was taken,
 * what is armed from the beginning and asks for an age becomes armed only once a spike is on time, within
 * SF_TRIGGER_START_NS. Until then, and for good where none is, it is disarmed as too old. Real-time safe.
 */
void sf_triggers_await(sf_triggers *triggers, int64_t now_ns);

/** The newest spike was this old. Real-time safe. */
void sf_triggers_on_time(sf_triggers *triggers, int64_t age_ns, int64_t now_ns);

/** Whether any trigger still waits for a spike on time. */
bool sf_triggers_waits(const sf_triggers *triggers);

/** Which of these, "most" or "min_count", a trigger cannot be given later, as it does not remember enough;
 * NULL: it can. Any thread. */
const char *sf_triggers_refuse(const sf_triggers *triggers, uint32_t index,
                               const sf_trigger_settings *settings);

/**
 * From now on a trigger goes by these: how long arming lasts, its age, refractory time, rate, count, q and
 * share of shams; all else of it stays as it is, what it has sent and what waits among it. Real-time safe.
 */
void sf_triggers_change(sf_triggers *triggers, uint32_t index, const sf_trigger_settings *settings);

/** What it goes by now. */
const sf_trigger_settings *sf_triggers_settings(const sf_triggers *triggers, uint32_t index);

/**
 * How often a trigger that stays armed, with a q within its limit, is sent where it is completed so often at
 * random, shams left out. The refractory time and the limit of the rate each turn away what Erlang's loss
 * formula gives for random completions; of both together, and after `min_count`, this is an approximation
 * (tests/property/test_trigger.c says how good).
 */
double sf_trigger_sent_hz(const sf_trigger_settings *settings, double completed_hz);

/** When the next delay is over; INT64_MAX: nothing waits. */
int64_t sf_triggers_next_ns(const sf_triggers *triggers);

/** As of the last event, and of now for what has expired. */
sf_trigger_state sf_triggers_state(const sf_triggers *triggers, uint32_t index, int64_t now_ns);

#endif
