/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/trigger.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"

#include <math.h>

/* The newest times of something, up to `room` of them. */
typedef struct history {
    int64_t *times;
    uint32_t room;
    uint64_t count; /* ever */
} history;

typedef struct waiting {
    int64_t due_ns;
    uint64_t order; /* of two that are due at once the earlier goes first */
    sf_cause occurrence;
} waiting;

typedef struct trigger {
    sf_trigger_settings settings;
    sf_trigger_state state;
    history completed; /* times of last spikes */
    history sent;      /* shams among them */
    waiting *waits;    /* state.waiting of them; room for SF_TRIGGER_WAITING where it has a delay */
    uint64_t delayed;  /* ever */
    bool starts;       /* armed from the beginning, once a spike is on time */
} trigger;

struct sf_triggers {
    trigger *items;
    size_t count;
    int64_t *times; /* of all histories */
    waiting *waits; /* of all triggers */
    bool begun;
    bool delays;     /* some trigger has one */
    size_t starting; /* triggers that start */
    int64_t start_ends_ns;
    int64_t next_ns; /* when the next delay is over */
    sf_decision *decisions;
    size_t decision_count;
};

const char *sf_trigger_reason_text(sf_trigger_reason reason)
{
    static const char *const texts[] = {[SF_TRIGGER_OF_ITSELF] = NULL,
                                        [SF_TRIGGER_DISARMED] = "disarmed",
                                        [SF_TRIGGER_EXPIRED] = "arming expired",
                                        [SF_TRIGGER_OLD] = "too old",
                                        [SF_TRIGGER_SOURCE_SILENT] = "source stalled",
                                        [SF_TRIGGER_SOURCE_LOST] = "source lost spikes",
                                        [SF_TRIGGER_SOURCE_STEPPED] = "source stepped",
                                        [SF_TRIGGER_COUNT] = "too few",
                                        [SF_TRIGGER_Q] = "q too large",
                                        [SF_TRIGGER_REFRACTORY] = "refractory",
                                        [SF_TRIGGER_RATE] = "rate limit",
                                        [SF_TRIGGER_NO_ROOM] = "too many wait"};
    return texts[reason];
}

/* ---- opening ---- */

/* How many of the newest that were sent matter: the last for the refractory time, `most` for the rate. */
static uint32_t sent_room(const sf_trigger_settings *settings)
{
    return settings->most > SF_TRIGGER_REMEMBERED ? settings->most : SF_TRIGGER_REMEMBERED;
}

static uint32_t completed_room(const sf_trigger_settings *settings)
{
    return settings->min_count > SF_TRIGGER_REMEMBERED ? settings->min_count : SF_TRIGGER_REMEMBERED;
}

static size_t waiting_room(const sf_trigger_settings *settings)
{
    return settings->delay_ns > 0 || settings->delay_to_ns > 0 ? SF_TRIGGER_WAITING : 0;
}

static void place(sf_triggers *triggers, const sf_trigger_settings *settings)
{
    int64_t *times = triggers->times;
    waiting *waits = triggers->waits;
    for (size_t i = 0; i < triggers->count; i++) {
        trigger *item = &triggers->items[i];
        item->settings = settings[i];
        item->state.why = settings[i].armed ? SF_TRIGGER_OF_ITSELF : SF_TRIGGER_DISARMED;
        item->state.armed_until_ns = INT64_MAX;
        item->waits = waits;
        waits += waiting_room(&settings[i]);
        item->completed = (history){.times = times, .room = completed_room(&settings[i])};
        times += item->completed.room;
        item->sent = (history){.times = times, .room = sent_room(&settings[i])};
        times += item->sent.room;
    }
}

int sf_triggers_open(sf_triggers **out, const sf_trigger_settings *settings, size_t count, sf_error *error)
{
    *out = NULL;
    sf_triggers *triggers = sf_alloc(1, sizeof *triggers);
    if (triggers == NULL) return sf_fail_memory(error);
    size_t times = 0, waits = 0;
    for (size_t i = 0; i < count; i++) {
        times += (size_t)completed_room(&settings[i]) + sent_room(&settings[i]);
        waits += waiting_room(&settings[i]);
    }
    triggers->count = count;
    triggers->next_ns = INT64_MAX;
    triggers->delays = waits > 0;
    triggers->items = sf_alloc(count, sizeof *triggers->items);
    triggers->times = sf_alloc(times, sizeof *triggers->times);
    triggers->waits = sf_alloc(waits, sizeof *triggers->waits);
    /* One event may decide all that wait, and complete each trigger once, one after another. */
    triggers->decisions = sf_alloc(waits + count, sizeof *triggers->decisions);
    if (triggers->items == NULL || triggers->times == NULL || triggers->waits == NULL ||
        triggers->decisions == NULL) {
        sf_triggers_close(triggers);
        return sf_fail_memory(error);
    }
    place(triggers, settings);
    *out = triggers;
    return SF_OK;
}

void sf_triggers_close(sf_triggers *triggers)
{
    if (triggers == NULL) return;
    sf_free(triggers->items);
    sf_free(triggers->times);
    sf_free(triggers->waits);
    sf_free(triggers->decisions);
    sf_free(triggers);
}

/* ---- what speaks against it ---- */

static void remember(history *of, int64_t time_ns)
{
    of->times[of->count++ % of->room] = time_ns;
}

/* The nth newest, from 1. */
static bool is_newer(const history *of, uint32_t nth, int64_t now_ns, int64_t span_ns)
{
    return of->count >= nth && now_ns - of->times[(of->count - nth) % of->room] < span_ns;
}

static sf_trigger_reason why_not_armed(const trigger *item, int64_t now_ns)
{
    if (item->state.why == SF_TRIGGER_OF_ITSELF && now_ns >= item->state.armed_until_ns)
        return SF_TRIGGER_EXPIRED;
    return item->state.why;
}

static sf_trigger_reason why_too_old(const trigger *item, int64_t since_ns, int64_t now_ns)
{
    int64_t most = item->settings.max_age_ns;
    return most > 0 && now_ns - since_ns > most ? SF_TRIGGER_OLD : SF_TRIGGER_OF_ITSELF;
}

static sf_trigger_reason why_not_wanted(const trigger *item, const sf_cause *occurrence)
{
    const sf_trigger_settings *settings = &item->settings;
    if (settings->min_count > 1 &&
        !is_newer(&item->completed, settings->min_count, occurrence->time_ns, settings->within_ns))
        return SF_TRIGGER_COUNT;
    bool small_enough = isnan(settings->max_q) || occurrence->q <= settings->max_q;
    return small_enough ? SF_TRIGGER_OF_ITSELF : SF_TRIGGER_Q;
}

static sf_trigger_reason why_too_soon(const trigger *item, int64_t now_ns)
{
    const sf_trigger_settings *settings = &item->settings;
    if (is_newer(&item->sent, 1, now_ns, settings->refractory_ns)) return SF_TRIGGER_REFRACTORY;
    bool too_many = settings->most > 0 && is_newer(&item->sent, settings->most, now_ns, settings->most_ns);
    return too_many ? SF_TRIGGER_RATE : SF_TRIGGER_OF_ITSELF;
}

/* ---- deciding ---- */

/* Two streams of numbers a trigger: delays and shams. Each number depends on its place alone. */
static double draw(const sf_triggers *triggers, const trigger *item, unsigned stream, uint64_t index)
{
    uint64_t words[2];
    sf_random_block(words, item->settings.seed, 2 * (uint64_t)(item - triggers->items) + stream, index);
    return sf_random_unit(words[0]);
}

static int64_t draw_delay(const sf_triggers *triggers, trigger *item)
{
    const sf_trigger_settings *settings = &item->settings;
    int64_t spread = settings->delay_to_ns - settings->delay_ns;
    if (spread <= 0) return settings->delay_ns;
    return settings->delay_ns + (int64_t)(draw(triggers, item, 0, item->delayed++) * ((double)spread + 1));
}

static void decide(sf_triggers *triggers, trigger *item, const sf_cause *occurrence, sf_outcome outcome,
                   sf_trigger_reason reason, int64_t since_ns, int64_t now_ns)
{
    triggers->decisions[triggers->decision_count++] =
        (sf_decision){.trigger = (uint32_t)(item - triggers->items),
                      .outcome = outcome,
                      .reason = reason,
                      .decided_ns = now_ns,
                      .since_ns = since_ns,
                      .occurrence = *occurrence};
    item->state.sent += outcome == SF_OUTCOME_SENT;
    item->state.sham += outcome == SF_OUTCOME_SHAM;
    item->state.withheld += outcome == SF_OUTCOME_WITHHELD;
}

static void disarm(sf_triggers *triggers, trigger *item, sf_trigger_reason why, int64_t now_ns);

static void withhold(sf_triggers *triggers, trigger *item, const sf_cause *occurrence,
                     sf_trigger_reason reason, int64_t now_ns)
{
    decide(triggers, item, occurrence, SF_OUTCOME_WITHHELD, reason, occurrence->arrival_ns, now_ns);
    if (reason == SF_TRIGGER_OLD && !item->starts) disarm(triggers, item, reason, now_ns);
}

static void complete(sf_triggers *triggers, trigger *item, const sf_cause *occurrence, int64_t now_ns);

/* Its delay is over. */
static void send(sf_triggers *triggers, trigger *item, const sf_cause *occurrence, int64_t since_ns,
                 int64_t now_ns)
{
    sf_trigger_reason reason = why_not_armed(item, now_ns);
    if (reason == SF_TRIGGER_OF_ITSELF) reason = why_too_old(item, since_ns, now_ns);
    if (reason == SF_TRIGGER_OF_ITSELF) reason = why_too_soon(item, now_ns);
    if (reason != SF_TRIGGER_OF_ITSELF) {
        withhold(triggers, item, occurrence, reason, now_ns);
        return;
    }
    bool sham = item->settings.sham > 0 && draw(triggers, item, 1, item->sent.count) < item->settings.sham;
    remember(&item->sent, now_ns);
    decide(triggers, item, occurrence, sham ? SF_OUTCOME_SHAM : SF_OUTCOME_SENT, SF_TRIGGER_OF_ITSELF,
           since_ns, now_ns);
    if (sham) return;
    sf_cause followed = *occurrence;
    followed.arrival_ns = now_ns;
    uint32_t index = (uint32_t)(item - triggers->items);
    for (size_t i = (size_t)index + 1; i < triggers->count; i++)
        if (triggers->items[i].settings.follows == index)
            complete(triggers, &triggers->items[i], &followed, now_ns);
}

static void complete(sf_triggers *triggers, trigger *item, const sf_cause *occurrence, int64_t now_ns)
{
    item->state.completed++;
    remember(&item->completed, occurrence->time_ns);
    sf_trigger_reason reason = why_not_armed(item, now_ns);
    if (reason == SF_TRIGGER_OF_ITSELF) reason = why_too_old(item, occurrence->arrival_ns, now_ns);
    if (reason == SF_TRIGGER_OF_ITSELF) reason = why_not_wanted(item, occurrence);
    int64_t delay_ns = reason == SF_TRIGGER_OF_ITSELF ? draw_delay(triggers, item) : 0;
    if (delay_ns > 0 && item->state.waiting == SF_TRIGGER_WAITING) reason = SF_TRIGGER_NO_ROOM;
    if (reason != SF_TRIGGER_OF_ITSELF)
        withhold(triggers, item, occurrence, reason, now_ns);
    else if (delay_ns > 0)
        item->waits[item->state.waiting++] = (waiting){now_ns + delay_ns, item->state.completed, *occurrence};
    else
        send(triggers, item, occurrence, occurrence->arrival_ns, now_ns);
}

static void end_start(sf_triggers *triggers, trigger *item)
{
    triggers->starting -= item->starts;
    item->starts = false;
}

/* Withholds what waits at once, so that arming again does not bring it back. */
static void disarm(sf_triggers *triggers, trigger *item, sf_trigger_reason why, int64_t now_ns)
{
    if (why_not_armed(item, now_ns) == SF_TRIGGER_OF_ITSELF || why == SF_TRIGGER_DISARMED || item->starts)
        item->state.why = why;
    end_start(triggers, item);
    uint32_t count = item->state.waiting;
    item->state.waiting = 0;
    for (uint32_t i = 0; i < count; i++)
        decide(triggers, item, &item->waits[i].occurrence, SF_OUTCOME_WITHHELD, why,
               item->waits[i].occurrence.arrival_ns, now_ns);
}

static void arm(sf_triggers *triggers, trigger *item, int64_t for_ns, int64_t now_ns)
{
    end_start(triggers, item);
    int64_t lasts_ns = for_ns > 0 ? for_ns : item->settings.arm_ns;
    item->state.why = SF_TRIGGER_OF_ITSELF;
    item->state.armed_until_ns = lasts_ns > 0 ? sf_time_plus(now_ns, lasts_ns) : INT64_MAX;
}

/* ---- what waits ---- */

static waiting *next_of(const trigger *item)
{
    waiting *next = item->state.waiting > 0 ? &item->waits[0] : NULL;
    for (uint32_t i = 1; i < item->state.waiting; i++) {
        waiting *other = &item->waits[i];
        if (other->due_ns < next->due_ns || (other->due_ns == next->due_ns && other->order < next->order))
            next = other;
    }
    return next;
}

static waiting *find_next(const sf_triggers *triggers, trigger **of)
{
    waiting *next = NULL;
    for (size_t i = 0; i < triggers->count; i++) {
        waiting *other = next_of(&triggers->items[i]);
        if (other == NULL || (next != NULL && other->due_ns >= next->due_ns)) continue;
        next = other;
        *of = &triggers->items[i];
    }
    return next;
}

static void send_next(sf_triggers *triggers, int64_t now_ns)
{
    trigger *item;
    waiting *next = find_next(triggers, &item);
    if (next == NULL || next->due_ns > now_ns) return;
    const waiting due = *next;
    *next = item->waits[--item->state.waiting];
    send(triggers, item, &due.occurrence, due.due_ns, now_ns);
}

const char *sf_triggers_refuse(const sf_triggers *triggers, uint32_t index,
                               const sf_trigger_settings *settings)
{
    const trigger *item = &triggers->items[index];
    return settings->most > item->sent.room             ? "most"
           : settings->min_count > item->completed.room ? "min_count"
                                                        : NULL;
}

void sf_triggers_change(sf_triggers *triggers, uint32_t index, const sf_trigger_settings *settings)
{
    sf_trigger_settings *now = &triggers->items[index].settings;
    now->arm_ns = settings->arm_ns;
    now->max_age_ns = settings->max_age_ns;
    now->refractory_ns = settings->refractory_ns;
    now->most = settings->most;
    now->most_ns = settings->most_ns;
    now->min_count = settings->min_count;
    now->within_ns = settings->within_ns;
    now->max_q = settings->max_q;
    now->sham = settings->sham;
}

const sf_trigger_settings *sf_triggers_settings(const sf_triggers *triggers, uint32_t index)
{
    return &triggers->items[index].settings;
}

int64_t sf_triggers_next_ns(const sf_triggers *triggers)
{
    return triggers->next_ns;
}

/* ---- what chance sends ---- */

/* The share of random arrivals that find all of `places` taken, where each stays for as long as `load` others
 * arrive on average: Erlang's loss formula, which holds however long stays are distributed. */
static double share_lost(uint32_t places, double load)
{
    double lost = 1;
    for (uint32_t k = 1; k <= places; k++)
        lost *= load / (k + load * lost);
    return lost;
}

/* The share of random arrivals with `others` or more in the time before them, where `mean` are expected. */
static double share_near(uint32_t others, double mean)
{
    double term = exp(-mean), fewer = 0;
    for (uint32_t k = 0; k < others; k++) {
        fewer += term;
        term *= mean / (k + 1);
    }
    return fmax(1 - fewer, 0);
}

double sf_trigger_sent_hz(const sf_trigger_settings *settings, double completed_hz)
{
    double hz = completed_hz;
    if (settings->min_count > 1)
        hz *= share_near(settings->min_count - 1, hz * (double)settings->within_ns * 1e-9);
    if (settings->refractory_ns > 0) hz *= 1 - share_lost(1, hz * (double)settings->refractory_ns * 1e-9);
    if (settings->most > 0) hz *= 1 - share_lost(settings->most, hz * (double)settings->most_ns * 1e-9);
    return hz * (1 - settings->sham);
}

/* ---- events ---- */

static void begin(sf_triggers *triggers, int64_t now_ns)
{
    for (size_t i = 0; i < triggers->count; i++)
        if (triggers->items[i].settings.armed) arm(triggers, &triggers->items[i], 0, now_ns);
    triggers->begun = true;
}

void sf_triggers_await(sf_triggers *triggers, int64_t now_ns)
{
    if (triggers->begun) return;
    begin(triggers, now_ns);
    triggers->start_ends_ns = sf_time_plus(now_ns, SF_TRIGGER_START_NS);
    for (size_t i = 0; i < triggers->count; i++) {
        trigger *item = &triggers->items[i];
        item->starts = item->settings.armed && item->settings.max_age_ns > 0;
        triggers->starting += item->starts;
        if (item->starts) item->state.why = SF_TRIGGER_OLD;
    }
}

void sf_triggers_on_time(sf_triggers *triggers, int64_t age_ns, int64_t now_ns)
{
    for (size_t i = 0; i < triggers->count; i++) {
        trigger *item = &triggers->items[i];
        if (!item->starts) continue;
        if (now_ns > triggers->start_ends_ns)
            end_start(triggers, item);
        else if (age_ns <= item->settings.max_age_ns)
            arm(triggers, item, 0, now_ns);
    }
}

bool sf_triggers_waits(const sf_triggers *triggers)
{
    return triggers->starting > 0;
}

static bool is_meant(const sf_trigger_event *event, const sf_triggers *triggers, size_t index)
{
    if (event->kind == SF_EVENT_FAULT) return (triggers->items[index].settings.sources & event->sources) != 0;
    return event->trigger == SF_ALL_TRIGGERS || event->trigger == index;
}

/* An event that may be about several. */
static void command(sf_triggers *triggers, const sf_trigger_event *event, int64_t now_ns)
{
    for (size_t i = 0; i < triggers->count; i++) {
        if (!is_meant(event, triggers, i)) continue;
        bool renewed = event->kind == SF_EVENT_RENEW;
        if (event->kind == SF_EVENT_ARM ||
            (renewed && why_not_armed(&triggers->items[i], now_ns) == SF_TRIGGER_OF_ITSELF))
            arm(triggers, &triggers->items[i], event->arm_ns, now_ns);
        else if (!renewed)
            disarm(triggers, &triggers->items[i],
                   event->reason != SF_TRIGGER_OF_ITSELF ? event->reason : SF_TRIGGER_DISARMED, now_ns);
    }
}

size_t sf_triggers_take(sf_triggers *triggers, const sf_trigger_event *event, int64_t now_ns,
                        const sf_decision **decisions)
{
    triggers->decision_count = 0;
    *decisions = triggers->decisions;
    if (!triggers->begun) begin(triggers, now_ns);
    if (event->kind == SF_EVENT_TIME)
        send_next(triggers, now_ns);
    else if (event->kind == SF_EVENT_COMPLETED)
        complete(triggers, &triggers->items[event->trigger], event->occurrence, now_ns);
    else
        command(triggers, event, now_ns);
    trigger *item;
    const waiting *next = triggers->delays ? find_next(triggers, &item) : NULL;
    triggers->next_ns = next != NULL ? next->due_ns : INT64_MAX;
    return triggers->decision_count;
}

sf_trigger_state sf_triggers_state(const sf_triggers *triggers, uint32_t index, int64_t now_ns)
{
    sf_trigger_state state = triggers->items[index].state;
    state.why = why_not_armed(&triggers->items[index], now_ns);
    return state;
}
