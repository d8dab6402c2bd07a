/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decides which completions of watched episodes become triggers. Events go in with the current time,
 * decisions come out with their reasons: this code reads no clock and sends nothing. All memory is allocated
 * at open.
 *
 * `now_ns` never decreases. For a stream in real time it is the monotonic clock, because tissue and
 * stimulator need the rest in real time; on a virtual clock it is stream time, and so are arrival times. Only
 * the condition on the count uses stream time always: it compares times of spikes.
 *
 * A completion must pass in this order: the trigger is armed, the completion is young enough, it is the nth
 * within the configured time, q is small enough. Then it waits for its delay. After the delay: the trigger is
 * still armed, the wait was not too long, the last one is long enough ago, and there were not too many. What
 * passes is sent, or, for the sham share, treated like a sent one except for the sending.
 */
#ifndef SF_PIPELINE_TRIGGER_H
#define SF_PIPELINE_TRIGGER_H

#include <synfire/mine.h>

#define SF_NO_TRIGGER UINT32_MAX
#define SF_ALL_TRIGGERS UINT32_MAX

/** Time within which a starting run has caught up. */
#define SF_TRIGGER_START_NS (3 * INT64_C(1000000000))

/** Minimum number of completions, and of sent ones, that a trigger remembers, for later changes of its
 * settings; it remembers more if its count and rate limits look back further. */
#define SF_TRIGGER_REMEMBERED 64

/** Maximum number of completions of a trigger that wait for their delay. */
#define SF_TRIGGER_WAITING 64

/** Why a trigger was withheld, or why it is not armed. */
typedef enum sf_trigger_reason {
    SF_TRIGGER_OF_ITSELF,      /**< no reason: sent, armed */
    SF_TRIGGER_DISARMED,       /**< by command, or never armed */
    SF_TRIGGER_EXPIRED,        /**< arming was not renewed */
    SF_TRIGGER_OLD,            /**< too long since its last spike arrived; disarms */
    SF_TRIGGER_SOURCE_SILENT,  /**< the next three: a source of the trigger had a fault; they disarm */
    SF_TRIGGER_SOURCE_LOST,    /**< frames or spikes */
    SF_TRIGGER_SOURCE_STEPPED, /**< its clock */
    SF_TRIGGER_COUNT,          /**< too few recent completions */
    SF_TRIGGER_Q,
    SF_TRIGGER_REFRACTORY,
    SF_TRIGGER_RATE,
    SF_TRIGGER_NO_ROOM /**< too many wait for their delay */
} sf_trigger_reason;

/** "disarmed", "too old", "source stalled", ...: a literal; NULL for SF_TRIGGER_OF_ITSELF. */
const char *sf_trigger_reason_text(sf_trigger_reason reason);

typedef struct sf_trigger_settings {
    bool armed;     /**< from the start */
    int64_t arm_ns; /**< arming lasts this long; 0: to the end */
    /** maximum time since its last spike arrived, or since its delay ended; 0: no limit */
    int64_t max_age_ns;
    int64_t refractory_ns; /**< minimum time between two */
    uint32_t most;         /**< maximum number sent, 0: no limit, ... */
    int64_t most_ns;       /**< ... within this time */
    uint32_t min_count;    /**< number of completions it takes, the current one included; 0 or 1: one, ... */
    int64_t within_ns;     /**< ... the first of them with its last spike less than this before */
    double max_q;          /**< NaN: no condition; a completion without q does not pass a limit */
    int64_t delay_ns, delay_to_ns; /**< range, bounds included, from which each delay is drawn */
    double sham;                   /**< the share that is only reported as sent */
    uint64_t seed;                 /**< for delays and shams */
    uint64_t sources;              /**< bit i: a fault of source i disarms it */
    uint32_t follows; /**< index, lower than its own, of the trigger whose sending completes this one;
                         SF_NO_TRIGGER */
} sf_trigger_settings;

/** A completion that may become a trigger. */
typedef struct sf_cause {
    int64_t time_ns;    /**< stream time: of its last spike */
    int64_t arrival_ns; /**< by the clock of now_ns */
    double q;           /**< NaN: none */
    uint64_t number;    /**< number of the completion in the run */
    uint32_t size;      /**< 0: no episode */
    int64_t spike_times_ns[SF_EPISODE_MAX_SIZE];
} sf_cause;

typedef enum sf_trigger_event_kind {
    SF_EVENT_TIME, /**< a delay is over: handles the first such */
    SF_EVENT_COMPLETED,
    SF_EVENT_ARM,
    SF_EVENT_RENEW, /**< extends the arming of an armed trigger */
    SF_EVENT_DISARM,
    SF_EVENT_FAULT /**< of a source */
} sf_trigger_event_kind;

typedef struct sf_trigger_event {
    sf_trigger_event_kind kind;
    uint32_t trigger; /**< for arming and disarming also SF_ALL_TRIGGERS */
    const sf_cause *occurrence;
    int64_t arm_ns;           /**< duration of arming; 0: as in its settings */
    uint64_t sources;         /**< fault: bits of the sources */
    sf_trigger_reason reason; /**< fault or disarming: why; SF_TRIGGER_OF_ITSELF: by command */
} sf_trigger_event;

typedef enum sf_outcome { SF_OUTCOME_SENT, SF_OUTCOME_SHAM, SF_OUTCOME_WITHHELD } sf_outcome;

typedef struct sf_decision {
    uint32_t trigger;
    sf_outcome outcome;
    sf_trigger_reason reason;
    int64_t decided_ns;
    int64_t since_ns; /**< start of its age: when it arrived, or when its delay ended */
    sf_cause occurrence;
} sf_decision;

typedef struct sf_trigger_state {
    sf_trigger_reason why;  /**< why it is not armed; SF_TRIGGER_OF_ITSELF: it is armed */
    int64_t armed_until_ns; /**< INT64_MAX: to the end */
    uint32_t waiting;       /**< number waiting for their delay */
    uint64_t completed;     /**< = sent + sham + withheld + waiting */
    uint64_t sent, sham, withheld;
} sf_trigger_state;

typedef struct sf_triggers sf_triggers;

/** SF_NO_MEMORY. The settings are copied. */
int sf_triggers_open(sf_triggers **triggers, const sf_trigger_settings *settings, size_t count,
                     sf_error *error);
void sf_triggers_close(sf_triggers *triggers);

/**
 * Takes an event and returns the number of decisions, in order; they are valid until the next call. First
 * take an SF_EVENT_TIME for each delay that is over by now (sf_triggers_next_ns). Arming from the start
 * counts from the first call. Real-time safe.
 */
size_t sf_triggers_take(sf_triggers *triggers, const sf_trigger_event *event, int64_t now_ns,
                        const sf_decision **decisions);

/**
 * The stream begins, and its first spikes may have waited for the run. Call before taking any event: triggers
 * that are armed from the start and have an age limit become armed only once a spike is on time, within
 * SF_TRIGGER_START_NS. Until then, and for good if none is, they are disarmed as too old. Real-time safe.
 */
void sf_triggers_await(sf_triggers *triggers, int64_t now_ns);

/** Reports the age of the newest spike. Real-time safe. */
void sf_triggers_on_time(sf_triggers *triggers, int64_t age_ns, int64_t now_ns);

/** Whether any trigger still waits for a spike on time. */
bool sf_triggers_waits(const sf_triggers *triggers);

/** Which setting, "most" or "min_count", a trigger cannot be given later because it does not remember enough;
 * NULL: it can. Any thread. */
const char *sf_triggers_refuse(const sf_triggers *triggers, uint32_t index,
                               const sf_trigger_settings *settings);

/**
 * Changes a trigger's settings: duration of arming, age, refractory time, rate, count, q and share of shams;
 * the rest stays, including what it has sent and what waits. Real-time safe.
 */
void sf_triggers_change(sf_triggers *triggers, uint32_t index, const sf_trigger_settings *settings);

/** The present settings. */
const sf_trigger_settings *sf_triggers_settings(const sf_triggers *triggers, uint32_t index);

/**
 * The rate at which a trigger that stays armed, with q within its limit, is sent (without shams) if
 * completions are random with rate completed_hz. The refractory time and the rate limit each turn away what
 * Erlang's loss formula gives for random completions; for both together, and after `min_count`, this is an
 * approximation (tests/property/test_trigger.c says how good).
 */
double sf_trigger_sent_hz(const sf_trigger_settings *settings, double completed_hz);

/** When the next delay ends; INT64_MAX: nothing waits. */
int64_t sf_triggers_next_ns(const sf_triggers *triggers);

/** The state after the last event, with what has expired by now. */
sf_trigger_state sf_triggers_state(const sf_triggers *triggers, uint32_t index, int64_t now_ns);

#endif
