/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/control.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/message_rows.h"
#include "mine/mine.h"
#include "pipeline/trials.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_ORDERS 256
#define SPIN_NS SF_MILLISECOND /* a delay that is over sooner than this is not slept for */

/* ---- time ---- */

/* The time that triggers use: time_ns itself on a virtual clock, else the monotonic clock. */
static int64_t now_at(const sf_control *control, int64_t time_ns)
{
    return control->setup.inputs->virtual_clock ? time_ns : sf_clock_monotonic_ns();
}

static int64_t in_ns(double milliseconds)
{
    return (int64_t)(milliseconds * 1e6);
}

/* ---- carrying out ---- */

static void note_arming(sf_trigger_post *posted, const char *by, int64_t at_ns)
{
    atomic_store_explicit(&posted->armed_by, by, memory_order_relaxed);
    atomic_store_explicit(&posted->armed_at_ns, at_ns, memory_order_relaxed);
}

static void post(const sf_control *control, uint32_t trigger, int64_t now_ns)
{
    sf_trigger_state state = sf_triggers_state(control->triggers, trigger, now_ns);
    sf_trigger_post *posted = &control->posts[trigger];
    const char *by = atomic_load_explicit(&posted->armed_by, memory_order_relaxed);
    if (state.why != SF_TRIGGER_OF_ITSELF)
        note_arming(posted, NULL, INT64_MIN);
    else if (by == NULL) /* nobody ordered it */
        note_arming(posted, "configuration", control->stream_ns);
    atomic_store_explicit(&posted->why, (unsigned)state.why, memory_order_relaxed);
    atomic_store_explicit(&posted->waiting, state.waiting, memory_order_relaxed);
    atomic_store_explicit(&posted->armed_until_ns, state.armed_until_ns, memory_order_relaxed);
    atomic_store_explicit(&posted->completed, state.completed, memory_order_relaxed);
    atomic_store_explicit(&posted->sent, state.sent, memory_order_relaxed);
    atomic_store_explicit(&posted->sham, state.sham, memory_order_relaxed);
    atomic_store_explicit(&posted->withheld, state.withheld, memory_order_relaxed);
}

static void post_all(const sf_control *control, int64_t now_ns)
{
    for (uint32_t i = 0; i < control->trigger_count; i++)
        post(control, i, now_ns);
}

static void add_verdict(const sf_control *control, uint32_t watched, sf_message *message)
{
    sf_trigger_message *trigger = &message->trigger;
    sf_verdict verdict =
        watched != UINT32_MAX ? sf_board_read(control->setup.board, watched) : sf_verdict_untested;
    trigger->p = verdict.p;
    trigger->q = verdict.q;
    trigger->p_age_s = sf_verdict_age_s(&verdict, message->time_ns);
    trigger->tests = verdict.tests;
    trigger->least_q = verdict.least_q;
    trigger->not_tested = verdict.not_tested;
}

static void send_watched(sf_control *control, const sf_completion *completion, int64_t arrival_ns)
{
    sf_message *message = &control->messages[completion->episode];
    message->trigger.occurrence = completion->occurrence;
    message->time_ns = completion->spike_times_ns[completion->size - 1];
    message->arrival_ns = arrival_ns;
    message->trigger.decided_ns = now_at(control, message->time_ns);
    add_verdict(control, completion->episode, message);
    memcpy(message->trigger.spike_times_ns, completion->spike_times_ns,
           completion->size * sizeof *completion->spike_times_ns);
    sf_publish_trigger(control->setup.publisher, message);
}

/* The number of the message. */
static uint64_t send_trigger(sf_control *control, const sf_decision *decision)
{
    const sf_cause *occurrence = &decision->occurrence;
    sf_message *message = &control->messages[control->setup.config->watch_count + decision->trigger];
    bool real_time = !control->setup.inputs->virtual_clock;
    int64_t most_ns = sf_triggers_settings(control->triggers, decision->trigger)->max_age_ns;
    message->trigger.occurrence = occurrence->number;
    message->time_ns = occurrence->time_ns;
    message->arrival_ns = real_time ? occurrence->arrival_ns : sf_clock_monotonic_ns();
    message->trigger.decided_ns = decision->decided_ns;
    message->trigger.expires_ns =
        real_time && most_ns > 0 ? sf_time_plus(decision->since_ns, most_ns) : INT64_MAX;
    add_verdict(control, control->boards[decision->trigger], message);
    memcpy(message->trigger.spike_times_ns, occurrence->spike_times_ns,
           occurrence->size * sizeof *occurrence->spike_times_ns);
    sf_publish_trigger(control->setup.publisher, message);
    return message->seq;
}

/* What is recorded from now on may be the artefact of what is sent now. In real time, the stream lags as much
 * as when its newest spike arrived. */
static void blank_after(sf_control *control, const sf_decision *decision, int64_t now_ns)
{
    int64_t length_ns = in_ns(control->setup.config->triggers[decision->trigger].blank_ms);
    if (length_ns == 0 || decision->outcome == SF_OUTCOME_WITHHELD) return;
    sf_span span = {now_ns, sf_time_plus(now_ns, length_ns)};
    if (!control->setup.inputs->virtual_clock) {
        int64_t since_ns = now_ns - control->newest_arrival_ns;
        span.start_ns = control->newest_ns;
        span.stop_ns = sf_time_plus(sf_time_plus(control->newest_ns, since_ns > 0 ? since_ns : 0), length_ns);
    }
    sf_filter_blank(control->filter, span);
}

static void take(sf_control *control, const sf_trigger_event *event, int64_t now_ns)
{
    const sf_trigger_event off = {.kind = SF_EVENT_DISARM, .trigger = SF_ALL_TRIGGERS};
    if (atomic_load(&control->halted) && !control->disarmed) {
        control->disarmed = true;
        take(control, &off, now_ns);
    }
    const sf_decision *decisions;
    control->asked_ns = now_ns;
    size_t count = sf_triggers_take(control->triggers, event, now_ns, &decisions);
    for (size_t i = 0; i < count; i++) {
        const sf_decision *decision = &decisions[i];
        blank_after(control, decision, now_ns);
        uint64_t seq = decision->outcome == SF_OUTCOME_SENT ? send_trigger(control, decision) : 0;
        sf_handoff_decide(control->setup.handoff, &(sf_decided){.trigger = decision->trigger,
                                                                .outcome = decision->outcome,
                                                                .reason = decision->reason,
                                                                .trigger_seq = seq,
                                                                .occurrence = decision->occurrence.number,
                                                                .time_ns = decision->occurrence.time_ns,
                                                                .arrival_ns = decision->occurrence.arrival_ns,
                                                                .decided_ns = decision->decided_ns});
        post(control, decision->trigger, now_ns);
    }
}

/* ---- what completes ---- */

/* On a virtual clock the time of a delay's end is that at which it is over. */
static void pass(sf_control *control, int64_t now_ns)
{
    const sf_trigger_event over = {.kind = SF_EVENT_TIME};
    int64_t next_ns;
    while ((next_ns = sf_triggers_next_ns(control->triggers)) <= now_ns)
        take(control, &over, control->setup.inputs->virtual_clock ? next_ns : now_ns);
}

static void complete(sf_control *control, const sf_completion *completion, int64_t arrival_ns)
{
    const sf_watched *watched = &control->watched[completion->episode];
    int64_t time_ns = completion->spike_times_ns[completion->size - 1], now_ns = now_at(control, time_ns);
    sf_cause occurrence = {.time_ns = time_ns,
                           .arrival_ns = control->setup.inputs->virtual_clock ? now_ns : arrival_ns,
                           .q = sf_board_read(control->setup.board, completion->episode).q,
                           .number = completion->occurrence,
                           .size = completion->size};
    memcpy(occurrence.spike_times_ns, completion->spike_times_ns, sizeof occurrence.spike_times_ns);
    pass(control, now_ns);
    take(control,
         &(sf_trigger_event){
             .kind = SF_EVENT_COMPLETED, .trigger = watched->trigger, .occurrence = &occurrence},
         now_ns);
    post(control, watched->trigger, now_ns);
}

static void watch_one(sf_control *control, const sf_spike *spike, int64_t arrival_ns)
{
    const sf_completion *completions;
    size_t completed = sf_watch_advance(control->watch, spike, &completions);
    for (size_t c = 0; c < completed; c++)
        if (control->watched[completions[c].episode].trigger == UINT32_MAX)
            send_watched(control, &completions[c], arrival_ns);
        else
            complete(control, &completions[c], arrival_ns);
}

/* ---- network bursts ---- */

/* Completes the triggers that wait for this of a burst that had `before` spikes. */
static void fire(sf_control *control, sf_live_trigger_on on, uint64_t before, int64_t time_ns,
                 int64_t arrival_ns)
{
    const sf_live_options *config = control->setup.config;
    int64_t now_ns = now_at(control, time_ns);
    now_ns = now_ns > control->asked_ns ? now_ns : control->asked_ns;
    for (uint32_t i = 0; i < control->trigger_count; i++) {
        uint64_t wanted = config->triggers[i].spike;
        if (config->triggers[i].on != on ||
            (on == SF_LIVE_ON_BURST && (before >= wanted || control->bursts.burst.spikes < wanted)))
            continue;
        pass(control, now_ns);
        const sf_cause cause = {.time_ns = time_ns,
                                .arrival_ns = control->setup.inputs->virtual_clock ? now_ns : arrival_ns,
                                .q = NAN,
                                .number = sf_triggers_state(control->triggers, i, now_ns).completed + 1};
        take(control, &(sf_trigger_event){.kind = SF_EVENT_COMPLETED, .trigger = i, .occurrence = &cause},
             now_ns);
        post(control, i, now_ns);
    }
}

static void tell_burst(sf_control *control, bool ended, int64_t time_ns, int64_t arrival_ns)
{
    bool real_time = !control->setup.inputs->virtual_clock;
    sf_handoff_burst(control->setup.handoff,
                     &(sf_burst_news){.ended = ended,
                                      .burst = control->bursts.burst,
                                      .time_ns = time_ns,
                                      .arrival_ns = real_time ? arrival_ns : sf_clock_monotonic_ns()});
    if (ended) fire(control, SF_LIVE_ON_BURST_END, 0, time_ns, arrival_ns);
}

/* No spike before this time is to come: the burst that goes on may be over since before. */
static void reach_bursts(sf_control *control, int64_t time_ns)
{
    int64_t until_ns = control->bursts_wanted ? sf_isi_n_open_until_ns(&control->bursts) : INT64_MAX;
    if (until_ns >= time_ns) return;
    sf_isi_n_finish(&control->bursts);
    tell_burst(control, true, until_ns, control->newest_arrival_ns + (until_ns - control->newest_ns));
}

static void watch_bursts(sf_control *control, const sf_spike *spike, int64_t arrival_ns)
{
    uint64_t before = control->bursts.burst.spikes;
    unsigned brought = sf_isi_n_take(&control->bursts, spike->time_ns, spike->unit);
    if ((brought & SF_BURST_BEGAN) != 0) tell_burst(control, false, spike->time_ns, arrival_ns);
    if ((brought & (SF_BURST_BEGAN | SF_BURST_GREW)) != 0)
        fire(control, SF_LIVE_ON_BURST, (brought & SF_BURST_BEGAN) != 0 ? 0 : before, spike->time_ns,
             arrival_ns);
    if ((brought & SF_BURST_ENDED) != 0) tell_burst(control, true, spike->time_ns, arrival_ns);
}

/* ---- the stream ---- */

void sf_control_expect(sf_control *control, const sf_marker *markers, size_t count)
{
    control->markers = markers;
    control->marker_count = control->filter != NULL ? count : 0;
}

static void mark_until(sf_control *control, int64_t time_ns)
{
    for (; control->marker_count > 0 && control->markers->time_ns <= time_ns; control->marker_count--)
        sf_filter_mark(control->filter, control->markers++);
}

static bool is_analysed(sf_control *control, const sf_spike *spike)
{
    mark_until(control, spike->time_ns);
    sf_filter_cause cause = sf_filter_take(control->filter, spike);
    if (cause != SF_FILTER_KEPT) atomic_fetch_add_explicit(&control->dropped[cause], 1, memory_order_relaxed);
    return cause == SF_FILTER_KEPT;
}

/* The first spikes of all may have waited for this run: triggers are armed behind them. */
static void await_spikes(sf_control *control)
{
    if (control->began || control->setup.inputs->virtual_clock) return;
    int64_t now_ns = sf_clock_monotonic_ns();
    control->began = true;
    sf_triggers_await(control->triggers, now_ns);
    post_all(control, now_ns);
}

static void note_age(sf_control *control, int64_t due_ns)
{
    if (!sf_triggers_waits(control->triggers)) return;
    int64_t now_ns = sf_clock_monotonic_ns();
    sf_triggers_on_time(control->triggers, now_ns - due_ns, now_ns);
    post_all(control, now_ns);
}

sf_analysed sf_control_watch(sf_control *control, const sf_spike *spikes, const int64_t *arrivals_ns,
                             size_t count)
{
    bool filters = control->filter != NULL;
    sf_analysed analysed = {filters ? control->kept : spikes,
                            filters ? control->kept_arrivals_ns : arrivals_ns, filters ? 0 : count};
    if (count == 0) return analysed;
    await_spikes(control);
    control->stream_ns = spikes[count - 1].time_ns;
    bool looks = control->watched_count > 0 || filters || control->bursts_wanted;
    for (size_t i = 0; i < count && looks; i++) {
        reach_bursts(control, spikes[i].time_ns);
        if (control->setup.inputs->virtual_clock) /* what is sent is in one order in every replay */
            pass(control, spikes[i].time_ns);
        control->newest_ns = spikes[i].time_ns;
        control->newest_arrival_ns = arrivals_ns[i];
        if (filters && !is_analysed(control, &spikes[i])) continue;
        if (filters) {
            control->kept[analysed.count] = spikes[i];
            control->kept_arrivals_ns[analysed.count++] = arrivals_ns[i];
        }
        watch_one(control, &spikes[i], arrivals_ns[i]);
        if (control->bursts_wanted) watch_bursts(control, &spikes[i], arrivals_ns[i]);
    }
    note_age(control, arrivals_ns[count - 1]);
    return analysed;
}

void sf_control_reach(sf_control *control, int64_t watermark_ns)
{
    if (watermark_ns > control->stream_ns) control->stream_ns = watermark_ns;
    mark_until(control, INT64_MAX);
    reach_bursts(control, watermark_ns);
    if (control->setup.inputs->virtual_clock) pass(control, watermark_ns);
}

void sf_control_end(sf_control *control)
{
    const sf_trigger_event end = {.kind = SF_EVENT_DISARM, .trigger = SF_ALL_TRIGGERS};
    if (control->bursts_wanted && sf_isi_n_finish(&control->bursts) != 0)
        tell_burst(control, true, control->stream_ns, control->newest_arrival_ns);
    if (sf_triggers_next_ns(control->triggers) < INT64_MAX)
        take(control, &end, now_at(control, control->stream_ns));
}

int sf_control_sleep_ms(const sf_control *control, int most)
{
    int64_t next_ns = sf_triggers_next_ns(control->triggers);
    if (next_ns == INT64_MAX || control->setup.inputs->virtual_clock) return most;
    int64_t left_ms = (next_ns - sf_clock_monotonic_ns() - SPIN_NS) / SF_MILLISECOND;
    return left_ms < 0 ? 0 : left_ms < most ? (int)left_ms : most;
}

/* ---- faults of sources ---- */

static uint64_t bit_of(size_t source)
{
    return UINT64_C(1) << (source < 63 ? source : 63); /* those beyond share one */
}

static void command(sf_control *control, const sf_trigger_event *event)
{
    int64_t now_ns = now_at(control, control->stream_ns);
    take(control, event, now_ns);
    post_all(control, now_ns);
}

static void fault(sf_control *control, uint64_t sources, sf_trigger_reason reason)
{
    command(control, &(sf_trigger_event){.kind = SF_EVENT_FAULT, .sources = sources, .reason = reason});
}

static void look_at(sf_control *control, size_t source, const sf_feeder_faults *now)
{
    sf_feeder_faults *known = &control->known[source];
    uint64_t bit = bit_of(source);
    unsigned causes = sf_loss_disarming(&control->setup.config->safe_loss);
    if (sf_feeder_lost(now, causes) > sf_feeder_lost(known, causes))
        fault(control, bit, SF_TRIGGER_SOURCE_LOST);
    if (now->steps > known->steps) fault(control, bit, SF_TRIGGER_SOURCE_STEPPED);
    if (now->silences > known->silences || (now->silent && !known->silent))
        fault(control, bit, SF_TRIGGER_SOURCE_SILENT);
    *known = *now;
    control->silent = now->silent ? control->silent | bit : control->silent & ~bit;
}

/* The first of these sources that is silent now; NULL: none is. Any thread. */
static const sf_feeder *silent_of(const sf_control *control, uint64_t sources)
{
    const sf_feeders *feeders = control->setup.feeders;
    for (size_t i = 0; i < feeders->count; i++) {
        sf_feeder_faults now;
        sf_feeder_look(&feeders->items[i], &now);
        if (now.silent && (sources & bit_of(i)) != 0) return &feeders->items[i];
    }
    return NULL;
}

/* ---- orders ---- */

static void obey(sf_control *control, const sf_command *order)
{
    bool later = order->kind == SF_COMMAND_FIRE && order->time_ns > control->stream_ns;
    int64_t now_ns = now_at(control, later ? order->time_ns : control->stream_ns);
    sf_trigger_event event = {.trigger = order->trigger, .arm_ns = order->arm_ns, .reason = order->reason};
    sf_cause occurrence = {.time_ns = order->time_ns, .arrival_ns = order->arrival_ns, .q = NAN};
    sf_marker marker = {.time_ns = control->stream_ns, .kind = SF_MARKER_TEXT};
    if (control->disarmed && (order->kind == SF_COMMAND_ARM || order->kind == SF_COMMAND_RENEW)) return;
    switch (order->kind) {
    case SF_COMMAND_ARM:
        event.kind = SF_EVENT_ARM;
        command(control, &event);
        for (uint32_t i = 0; i < control->trigger_count; i++)
            if (order->trigger == SF_ALL_TRIGGERS || order->trigger == i)
                note_arming(&control->posts[i], order->by, control->stream_ns);
        if (control->silent != 0) /* what a silent source needs stays disarmed */
            fault(control, control->silent, SF_TRIGGER_SOURCE_SILENT);
        break;
    case SF_COMMAND_RENEW:
        event.kind = SF_EVENT_RENEW;
        command(control, &event);
        break;
    case SF_COMMAND_DISARM:
        event.kind = SF_EVENT_DISARM;
        command(control, &event);
        break;
    case SF_COMMAND_FIRE:
        event.kind = SF_EVENT_COMPLETED;
        event.occurrence = &occurrence;
        pass(control, now_ns);
        occurrence.number = sf_triggers_state(control->triggers, order->trigger, now_ns).completed + 1;
        take(control, &event, now_ns);
        post(control, order->trigger, now_ns);
        break;
    case SF_COMMAND_MARK:
        memcpy(marker.text, order->text, sizeof marker.text);
        sf_publish_raw(control->setup.publisher, &(sf_raw_batch){.markers = &marker, .marker_count = 1},
                       false);
        if (control->filter != NULL) sf_filter_mark(control->filter, &marker);
        break;
    }
}

/* If one of the requested triggers cannot be armed, refuses and arms none. Caller holds `ordering`. */
static int check_arming(const sf_control *control, uint32_t trigger, sf_error *error)
{
    if (atomic_load(&control->halted))
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the run is being stopped: nothing is armed any more");
    for (uint32_t i = 0; i < control->trigger_count; i++) {
        if (trigger != SF_ALL_TRIGGERS && trigger != i) continue;
        const sf_feeder *silent = silent_of(control, control->changed[i].sources);
        if (silent != NULL)
            return sf_fail(error, SF_UNAVAILABLE, control->setup.config->triggers[i].name,
                           "its source %s is silent: nothing was armed", silent->settings.source->name);
    }
    return SF_OK;
}

int sf_control_order(sf_control *control, const sf_command *order, sf_error *error)
{
    pthread_mutex_lock(&control->ordering);
    int status = order->kind == SF_COMMAND_ARM ? check_arming(control, order->trigger, error) : SF_OK;
    if (status == SF_OK && sf_ring_push(&control->orders, order, 1) == 0)
        status = sf_fail(error, SF_AGAIN, NULL, "too many commands wait: ask again");
    pthread_mutex_unlock(&control->ordering);
    return status;
}

static void take_changes(sf_control *control)
{
    for (uint32_t i = 0; i < control->trigger_count; i++)
        sf_triggers_change(control->triggers, i, &control->changed[i]);
    atomic_store_explicit(&control->changing, false, memory_order_release);
}

void sf_control_halt(sf_control *control)
{
    atomic_store(&control->halted, true);
}

void sf_control_look(sf_control *control, const sf_feeder_faults *faults)
{
    if (atomic_load(&control->halted) && !control->disarmed)
        command(control, &(sf_trigger_event){.kind = SF_EVENT_DISARM, .trigger = SF_ALL_TRIGGERS});
    for (size_t i = 0; i < control->setup.feeders->count && control->trigger_count > 0; i++)
        look_at(control, i, &faults[i]);
    if (atomic_load_explicit(&control->changing, memory_order_acquire)) take_changes(control);
    sf_command order;
    while (sf_ring_pop(&control->orders, &order, 1, NULL) == 1)
        obey(control, &order);
    if (!control->setup.inputs->virtual_clock && sf_triggers_next_ns(control->triggers) < INT64_MAX)
        pass(control, sf_clock_monotonic_ns());
}

/* ---- what others are told ---- */

/* The rate at which chance completes a trigger: its episode, if units are independent at their rates so far;
 * for a trigger that follows another, the rate at which chance makes the other be sent. NaN: not known, as
 * for rules. */
static double chance_hz(const sf_control *control, uint32_t trigger, const sf_hop_rates *rates)
{
    uint32_t followed = control->changed[trigger].follows, board = control->boards[trigger];
    if (followed != SF_NO_TRIGGER)
        return sf_trigger_sent_hz(&control->changed[followed], chance_hz(control, followed, rates));
    if (board == UINT32_MAX) return NAN;
    double seconds = (double)rates->so_far_ns * 1e-9;
    return sf_expected_episode(&control->watched[board].episode, rates->so_far, rates->so_far_ns) / seconds;
}

void sf_control_status(sf_control *control, uint32_t trigger, const sf_hop_rates *rates,
                       sf_trigger_status *status)
{
    const sf_trigger_post *posted = &control->posts[trigger];
    unsigned why = atomic_load_explicit(&posted->why, memory_order_relaxed);
    int64_t until_ns = atomic_load_explicit(&posted->armed_until_ns, memory_order_relaxed);
    bool ends = until_ns != INT64_MAX && !control->setup.inputs->virtual_clock;
    double left_s = ends ? (double)(until_ns - sf_clock_monotonic_ns()) * 1e-9 : NAN;
    if (why == SF_TRIGGER_OF_ITSELF && left_s <= 0) why = SF_TRIGGER_EXPIRED;
    pthread_mutex_lock(&control->ordering); /* of those who change the settings */
    double chance = chance_hz(control, trigger, rates);
    if (why == SF_TRIGGER_OF_ITSELF && silent_of(control, control->changed[trigger].sources) != NULL)
        why = SF_TRIGGER_SOURCE_SILENT; /* the front is about to see to it */
    pthread_mutex_unlock(&control->ordering);
    bool armed = why == SF_TRIGGER_OF_ITSELF;
    int64_t at_ns = atomic_load_explicit(&posted->armed_at_ns, memory_order_relaxed);
    *status = (sf_trigger_status){
        .not_armed = sf_trigger_reason_text((sf_trigger_reason)why),
        .armed_s = armed ? left_s : NAN,
        .armed_by = armed ? atomic_load_explicit(&posted->armed_by, memory_order_relaxed) : NULL,
        .armed_at_s = armed && at_ns != INT64_MIN ? (double)at_ns * 1e-9 : NAN,
        .completed = atomic_load_explicit(&posted->completed, memory_order_relaxed),
        .sent = atomic_load_explicit(&posted->sent, memory_order_relaxed),
        .sham = atomic_load_explicit(&posted->sham, memory_order_relaxed),
        .withheld = atomic_load_explicit(&posted->withheld, memory_order_relaxed),
        .waiting = atomic_load_explicit(&posted->waiting, memory_order_relaxed),
        .chance_per_min = 60 * chance};
    snprintf(status->name, sizeof status->name, "%s", control->setup.config->triggers[trigger].name);
}

void sf_control_count(const sf_control *control, sf_status_message *status)
{
    const _Atomic uint64_t *dropped = control->dropped;
    status->dedup_dropped = atomic_load_explicit(&dropped[SF_FILTER_DUPLICATE], memory_order_relaxed);
    status->blank_dropped = atomic_load_explicit(&dropped[SF_FILTER_MARKER], memory_order_relaxed);
    status->trigger_dropped = atomic_load_explicit(&dropped[SF_FILTER_OWN], memory_order_relaxed);
}

sf_message *sf_control_tell(const sf_control *control, const sf_decided *decided)
{
    const sf_trigger_message *trigger =
        &control->messages[control->setup.config->watch_count + decided->trigger].trigger;
    sf_message *message = sf_message_new(SF_TOPIC_DECISION);
    if (message == NULL) return NULL;
    bool real_time = !control->setup.inputs->virtual_clock;
    message->time_ns = decided->time_ns;
    message->arrival_ns = real_time ? decided->arrival_ns : sf_clock_monotonic_ns();
    message->decision =
        (sf_decision_message){.occurrence = decided->occurrence,
                              .outcome = sf_decision_words[decided->outcome],
                              .reason = sf_trigger_reason_text(decided->reason),
                              .trigger_seq = decided->trigger_seq,
                              .decided_ns = decided->decided_ns,
                              .wait_ms = (double)(decided->decided_ns - decided->arrival_ns) * 1e-6};
    memcpy(message->decision.name, trigger->name, sizeof trigger->name);
    memcpy(message->decision.id, trigger->id, sizeof trigger->id);
    return message;
}

/* ---- opening and closing ---- */

static uint64_t sources_of(const sf_control *control, const sf_episode *episode)
{
    uint64_t sources = 0;
    const sf_inputs *inputs = control->setup.inputs;
    for (uint32_t n = 0; n < episode->size; n++) {
        size_t source = 0, end = inputs->items[0].source->units.count;
        while (episode->units[n] >= end)
            end += inputs->items[++source].source->units.count;
        sources |= bit_of(source);
    }
    return sources;
}

static sf_trigger_settings settings_of(const sf_live_options *config, uint32_t index, uint64_t sources)
{
    const sf_live_trigger *trigger = &config->triggers[index];
    return (sf_trigger_settings){.armed = trigger->armed,
                                 .arm_ns = sf_seconds_to_ns(trigger->arm_s),
                                 .max_age_ns = in_ns(trigger->max_age_ms),
                                 .refractory_ns = in_ns(trigger->refractory_ms),
                                 .most = trigger->most,
                                 .most_ns = sf_seconds_to_ns(trigger->most_s),
                                 .min_count = trigger->min_count,
                                 .within_ns = sf_seconds_to_ns(trigger->within_s),
                                 .max_q = trigger->max_q < 1 ? trigger->max_q : NAN,
                                 .delay_ns = in_ns(trigger->delay_ms),
                                 .delay_to_ns = in_ns(trigger->delay_to_ms),
                                 .sham = trigger->sham,
                                 .seed = trigger->seed,
                                 .sources = sources,
                                 .follows = trigger->on == SF_LIVE_ON_TRIGGER
                                                ? sf_live_find_trigger(config, trigger->follows)
                                                : SF_NO_TRIGGER};
}

static int check_change(const sf_control *control, const sf_trigger_settings *settings, uint32_t index,
                        sf_error *error)
{
    char place[40];
    const char *key = sf_triggers_refuse(control->triggers, index, settings);
    if (key == NULL) return SF_OK;
    snprintf(place, sizeof place, "triggers.%u.%s", index, key);
    return sf_live_refuse(place, error,
                          "this run remembers fewer: expected at most %d, or as many as it began with",
                          SF_TRIGGER_REMEMBERED);
}

int sf_control_change(sf_control *control, const sf_live_options *options, sf_error *error)
{
    int status = SF_OK;
    pthread_mutex_lock(&control->ordering);
    if (atomic_load_explicit(&control->changing, memory_order_acquire))
        status = sf_fail(error, SF_AGAIN, NULL, "the last change was not taken up yet: ask again");
    for (uint32_t i = 0; i < control->trigger_count && status == SF_OK; i++) {
        control->changed[i] = settings_of(options, i, 0);
        status = check_change(control, &control->changed[i], i, error);
    }
    if (status == SF_OK) atomic_store_explicit(&control->changing, true, memory_order_release);
    pthread_mutex_unlock(&control->ordering);
    return status;
}

static void fill_message(sf_message *message, const char *name, bool is_named, const sf_watched *watched,
                         const sf_units *units)
{
    message->topic = SF_TOPIC_TRIGGER;
    message->references = 1;
    message->trigger.expires_ns = INT64_MAX;
    message->trigger.is_named = is_named;
    snprintf(message->trigger.name, sizeof message->trigger.name, "%s", name);
    if (watched == NULL) return;
    message->trigger.size = watched->episode.size;
    sf_episode_id(message->trigger.id, &watched->episode, units);
}

/* Finds the episode of each trigger: its own, or that of the trigger it follows. */
static void resolve_triggers(sf_control *control, sf_trigger_settings *settings)
{
    const sf_live_options *config = control->setup.config;
    const sf_units *units = &control->setup.inputs->units;
    for (uint32_t i = 0; i < config->watch_count; i++)
        fill_message(&control->messages[i], control->watched[i].name, false, &control->watched[i], units);
    for (uint32_t i = 0; i < control->trigger_count; i++)
        control->boards[i] = UINT32_MAX;
    for (uint32_t i = config->watch_count; i < control->watched_count; i++)
        control->boards[control->watched[i].trigger] = i;
    for (uint32_t i = 0; i < control->trigger_count; i++) {
        settings[i] = settings_of(config, i, UINT64_MAX);
        if (settings[i].follows != SF_NO_TRIGGER) control->boards[i] = control->boards[settings[i].follows];
        const sf_watched *watched =
            control->boards[i] != UINT32_MAX ? &control->watched[control->boards[i]] : NULL;
        if (watched != NULL) settings[i].sources = sources_of(control, &watched->episode);
        fill_message(&control->messages[config->watch_count + i], config->triggers[i].name, true, watched,
                     units);
    }
}

static int open_triggers(sf_control *control, sf_error *error)
{
    size_t count = control->trigger_count;
    sf_trigger_settings *settings = sf_alloc(count, sizeof *settings);
    if (settings == NULL) return sf_fail_memory(error);
    resolve_triggers(control, settings);
    if (count > 0) memcpy(control->changed, settings, count * sizeof *settings);
    int status = sf_triggers_open(&control->triggers, settings, count, error);
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        post(control, i, 0);
    sf_free(settings);
    return status;
}

static int open_watch(sf_control *control, sf_error *error)
{
    const sf_units *units = &control->setup.inputs->units;
    int status = sf_watched_parse(control->watched, control->setup.config, units, error);
    if (status != SF_OK) return status;
    sf_episode *episodes = sf_alloc(control->watched_count, sizeof *episodes);
    if (episodes == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < control->watched_count; i++)
        episodes[i] = control->watched[i].episode;
    status = sf_watch_open(&control->watch, episodes, control->watched_count, units->count, 0, error);
    sf_free(episodes);
    return status;
}

/* Only graphs by spike-time tiling, responses and criticality ask what time was blanked. */
static void hand_blanked(void *user, sf_span span)
{
    const sf_control *control = user;
    const sf_live_graph *graph = &control->setup.config->graph;
    bool tiles = graph->enabled && graph->metric == SF_LIVE_STTC;
    if (tiles || sf_trials_wanted(control->setup.config) || control->setup.config->criticality.every_s > 0)
        sf_handoff_blank(control->setup.handoff, span);
}

/* Opens no filter if every spike is analysed. */
static int open_filter(sf_control *control, sf_error *error)
{
    const sf_live_options *config = control->setup.config;
    bool filters = config->dedup.ms > 0 || config->blank_count > 0;
    for (uint32_t i = 0; i < config->trigger_count; i++)
        filters = filters || config->triggers[i].blank_ms > 0;
    if (!filters) return SF_OK;
    control->blanks = sf_alloc(config->blank_count, sizeof *control->blanks);
    control->kept = sf_alloc(control->setup.batch, sizeof *control->kept);
    control->kept_arrivals_ns = sf_alloc(control->setup.batch, sizeof *control->kept_arrivals_ns);
    if (control->blanks == NULL || control->kept == NULL || control->kept_arrivals_ns == NULL)
        return sf_fail_memory(error);
    for (uint32_t i = 0; i < config->blank_count; i++)
        control->blanks[i] = (sf_blank){config->blank[i].marker, in_ns(config->blank[i].from_ms),
                                        in_ns(config->blank[i].to_ms)};
    const sf_filter_settings settings = {.units = &control->setup.inputs->units,
                                         .dedup_ns = in_ns(config->dedup.ms),
                                         .dedup_um = config->dedup.um,
                                         .blanks = control->blanks,
                                         .blank_count = config->blank_count,
                                         .blanked = hand_blanked,
                                         .user = control};
    return sf_filter_open(&control->filter, &settings, error);
}

int sf_control_open(sf_control *control, const sf_control_setup *setup, sf_error *error)
{
    const sf_live_options *config = setup->config;
    *control = (sf_control){.setup = *setup,
                            .watched_count = sf_watched_count(config),
                            .trigger_count = config->trigger_count,
                            .stream_ns = INT64_MIN,
                            .asked_ns = INT64_MIN};
    pthread_mutex_init(&control->ordering, NULL);
    control->lockable = true;
    control->watched = sf_alloc(control->watched_count, sizeof *control->watched);
    control->messages =
        sf_alloc((size_t)config->watch_count + config->trigger_count, sizeof *control->messages);
    control->boards = sf_alloc(config->trigger_count, sizeof *control->boards);
    control->posts = sf_alloc(config->trigger_count, sizeof *control->posts);
    control->changed = sf_alloc(config->trigger_count, sizeof *control->changed);
    control->known = sf_alloc(setup->inputs->count, sizeof *control->known);
    bool whole = control->watched != NULL && control->messages != NULL && control->boards != NULL &&
                 control->posts != NULL && control->changed != NULL && control->known != NULL;
    int status = whole ? open_watch(control, error) : sf_fail_memory(error);
    if (status == SF_OK) status = open_triggers(control, error);
    if (status == SF_OK) status = open_filter(control, error);
    control->bursts_wanted = config->bursts.within_ms > 0;
    if (status == SF_OK && control->bursts_wanted)
        status = sf_isi_n_open(&control->bursts, config->bursts.spikes, in_ns(config->bursts.within_ms),
                               setup->inputs->units.count, error);
    if (status == SF_OK)
        status = sf_ring_open(&control->orders, sizeof(sf_command), MOST_ORDERS, SF_RING_DROP_NEWEST, error);
    return status;
}

void sf_control_close(sf_control *control)
{
    sf_watch_close(control->watch);
    sf_isi_n_close(&control->bursts);
    sf_triggers_close(control->triggers);
    sf_filter_close(control->filter);
    sf_free(control->blanks);
    sf_free(control->kept);
    sf_free(control->kept_arrivals_ns);
    sf_free(control->watched);
    sf_free(control->messages);
    sf_free(control->boards);
    sf_free(control->posts);
    sf_free(control->changed);
    sf_free(control->known);
    sf_ring_close(&control->orders);
    if (control->lockable) pthread_mutex_destroy(&control->ordering);
    *control = (sf_control){0};
}
