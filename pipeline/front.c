/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/front.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/marker.h"
#include "core/memory.h"
#include "pipeline/testing.h"
#include "pipeline/trials.h"

#include <math.h>

#define BATCH 4096 /* spikes that a pull yields at most */
#define IDLE_MS 20 /* between turns in which nothing comes */

/* ---- the front thread ---- */

/* How many of the spikes come before the end of the asked duration. */
static size_t within_duration(sf_front *front, const sf_merged *merged)
{
    if (front->over) return 0;
    if (front->duration_ns > 0 && front->limit_ns == INT64_MAX && merged->spike_count > 0) {
        front->limit_ns = sf_time_plus(merged->spikes[0].time_ns, front->duration_ns);
        front->began_ns = merged->arrivals_ns[0];
    }
    front->over = merged->watermark_ns >= front->limit_ns;
    return sf_spikes_lower_bound(merged->spikes, merged->spike_count, front->limit_ns);
}

static void wake_feeders(sf_front *front)
{
    for (size_t i = 0; i < front->feeders.count; i++)
        if (atomic_exchange(&front->feeders.items[i].waiting, false))
            sf_bell_ring(&front->feeders.items[i].room);
}

static void look(sf_front *front)
{
    for (size_t i = 0; i < front->feeders.count; i++)
        sf_feeder_look(&front->feeders.items[i], &front->faults[i]);
    sf_control_look(&front->control, front->faults);
}

/* If a stretch has ended by this time, waits until the windows have caught up, and carries out the commands
 * that they send. */
static void catch_up(sf_front *front, int64_t time_ns)
{
    if (front->next_ns == INT64_MIN || time_ns < front->next_ns) return;
    int64_t end_ns = time_ns - (time_ns - front->next_ns) % front->stretch_ns;
    sf_handoff_await(front->handoff, end_ns);
    look(front);
    front->next_ns = sf_time_plus(end_ns, front->stretch_ns);
}

/* Number of the spikes that come before the next end of a stretch. On a virtual clock, what triggers know of
 * tests, and when rules fire them, must not depend on how far the windows have got. */
static size_t within_stretch(sf_front *front, const sf_spike *spikes, size_t count)
{
    if (front->stretch_ns == 0 || count == 0) return count;
    if (front->next_ns == INT64_MIN) front->next_ns = sf_time_plus(spikes[0].time_ns, front->stretch_ns);
    catch_up(front, spikes[0].time_ns);
    return sf_spikes_lower_bound(spikes, count, front->next_ns);
}

/* On a virtual clock, how often the windows must catch up: every stretch of a test, or every hop if rules
 * fire triggers; 0 if nobody waits for the windows. */
static int64_t choose_stretch_ns(const sf_live_options *config, bool virtual_clock)
{
    bool tested = sf_watched_count(config) > 0 && config->significance.kind != 0, ruled = false;
    for (uint32_t i = 0; i < config->trigger_count; i++)
        ruled = ruled || config->triggers[i].on == SF_LIVE_ON_RULE;
    if (!virtual_clock || (!tested && !ruled)) return 0;
    return ruled ? sf_seconds_to_ns(config->window.hop_s) : sf_testing_length_ns(config);
}

static bool leaps_to(sf_front *front, int64_t time_ns)
{
    bool leaps = front->reached_ns != INT64_MIN &&
                 time_ns > sf_time_plus(front->reached_ns, SF_CONTINUITY_AHEAD_NS / 2);
    if (time_ns > front->reached_ns) front->reached_ns = time_ns;
    return leaps;
}

/* Time that a clock stepped over was not recorded: it gets neither windows nor bins. */
static void note_leaps(sf_front *front, const sf_merged *merged)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < front->feeders.count; i++)
        steps += front->faults[i].steps_ahead;
    bool stepped = steps != front->steps_ahead;
    size_t count = merged->spike_count;
    int64_t leapt_ns = INT64_MIN;
    for (size_t i = stepped || count == 0 ? 0 : count - 1; i < count;
         i++) /* else the last says where it is */
        if (leaps_to(front, merged->spikes[i].time_ns)) leapt_ns = merged->spikes[i].time_ns;
    if (leaps_to(front, merged->watermark_ns)) leapt_ns = merged->watermark_ns;
    if (!stepped || leapt_ns == INT64_MIN) return;
    atomic_store(&front->handoff->leapt_ns, leapt_ns);
    front->steps_ahead = steps;
}

/* Stimuli, ahead of the spikes after them. */
static void hand_trials(sf_front *front, const sf_merged *merged)
{
    const sf_live_options *config = front->control.setup.config;
    for (size_t i = 0; sf_trials_wanted(config) && i < merged->marker_count; i++)
        if (sf_marker_is(&merged->markers[i], config->responses.marker))
            sf_handoff_trial(front->handoff, merged->markers[i].time_ns);
}

/* Marks sources that continue beyond the requested duration as not ended, however far ahead their threads
 * have read. */
static void cut_sources(sf_front *front)
{
    for (size_t i = 0; i < front->feeders.count; i++) {
        sf_feeder *feeder = &front->feeders.items[i];
        atomic_store(&feeder->cut, sf_inlet_stop_ns(feeder->settings.inlet) >= front->limit_ns);
    }
}

static void hand_on(sf_front *front, const sf_merged *merged)
{
    bool was_over = front->over;
    size_t count = within_duration(front, merged);
    if (was_over) return;
    size_t done = 0;
    if (count > 0 && atomic_load(&front->handoff->began_ns) == INT64_MAX)
        atomic_store(&front->handoff->began_ns, merged->spikes[0].time_ns);
    hand_trials(front, merged);
    sf_control_expect(&front->control, merged->markers, merged->marker_count);
    do {
        const sf_spike *spikes = merged->spikes + done;
        size_t part = within_stretch(front, spikes, count - done);
        sf_analysed analysed = sf_control_watch(&front->control, spikes, merged->arrivals_ns + done, part);
        sf_features_take(&front->features, analysed.spikes, analysed.arrivals_ns, analysed.count);
        const sf_raw_batch raw = {.spikes = spikes,
                                  .spike_count = part,
                                  .markers = merged->markers,
                                  .marker_count = done == 0 ? merged->marker_count : 0};
        sf_publish_raw(front->publisher, &raw, sf_handoff_waits(front->handoff));
        done += part;
        sf_handoff_put(front->handoff, analysed.spikes, analysed.count,
                       part > 0 ? merged->arrivals_ns[done - 1] : 0);
    } while (done < count);
    int64_t watermark_ns = merged->watermark_ns < front->limit_ns ? merged->watermark_ns : front->limit_ns;
    if (!merged->ended) catch_up(front, watermark_ns);
    sf_control_reach(&front->control, watermark_ns);
    if (front->over || merged->ended) sf_control_end(&front->control);
    sf_features_reach(&front->features, watermark_ns, front->over || merged->ended);
    sf_handoff_promise(front->handoff, watermark_ns, front->over || merged->ended);
    if (front->over) {
        cut_sources(front);
        sf_front_stop(front);
    }
}

static bool all_silent(const sf_front *front)
{
    for (size_t i = 0; i < front->feeders.count; i++)
        if (atomic_load(&front->feeders.items[i].state) == SF_SOURCE_LIVE) return false;
    return true;
}

/* While no sender is heard, stream time stands still: then the requested duration passes by wall clock. */
static void end_in_silence(sf_front *front, int64_t now_ns)
{
    if (front->duration_ns == 0 || !atomic_load(&front->feeders.released)) return;
    if (front->began_ns == 0) front->began_ns = now_ns;
    if (now_ns - front->began_ns >= front->duration_ns && all_silent(front)) sf_front_stop(front);
}

/* Turns in which nothing came are its waiting. */
static void time_turn(sf_front *front, const sf_merged *merged, int64_t began_ns)
{
    if (merged->spike_count == 0) return;
    int64_t now_ns = sf_clock_monotonic_ns();
    sf_durations_add(&front->turns, now_ns - began_ns);
    sf_durations_add(&front->latency, now_ns - merged->arrivals_ns[0]);
}

void sf_front_tell(const sf_front *front, sf_status_message *status)
{
    sf_stage_status *watch = &status->stages[status->stage_count++];
    *watch = (sf_stage_status){
        .name = "watch", .share = NAN, .device = "cpu", .took = sf_durations_tell(&front->turns)};
    watch->last_ms = (double)atomic_load_explicit(&front->turns.last_ns, memory_order_relaxed) * 1e-6;
    watch->max_ms =
        watch->took.count > 0 ? watch->took.max_ms : 0; /* before the first spikes, as of a stage */
    status->latency = sf_durations_tell(&front->latency);
}

static bool begin_turn(sf_front *front)
{
    return !atomic_exchange(&front->turning, true);
}

/* The front thread says that it waits, and then looks again: either it sees this end, or this sees it wait.
 */
static void end_turn(sf_front *front)
{
    atomic_store(&front->turning, false);
    if (atomic_exchange(&front->wanted, false)) sf_bell_ring(&front->feeders.filled);
}

/* Takes a turn. Returns how many ms the next one may wait; 0: there is more to do, or it was the last. */
static int take_turn(sf_front *front)
{
    sf_merged merged;
    int64_t now_ns = sf_clock_monotonic_ns();
    sf_merge_pull(front->merge, now_ns, &merged);
    look(front);
    sf_features_look(&front->features, front->faults);
    note_leaps(front, &merged);
    hand_on(front, &merged);
    wake_feeders(front);
    time_turn(front, &merged, now_ns);
    front->ended = merged.ended;
    if (merged.more || merged.ended) return 0;
    end_in_silence(front, now_ns);
    return sf_control_sleep_ms(&front->control, IDLE_MS);
}

static void *run(void *argument)
{
    sf_front *front = argument;
    for (bool ended = false; !ended;) {
        int sleep_ms = IDLE_MS;
        if (begin_turn(front)) {
            sleep_ms = front->ended ? 0 : take_turn(front);
            ended = front->ended;
            end_turn(front);
        } else {
            atomic_store(&front->wanted, true);
            sleep_ms = atomic_load(&front->turning) ? IDLE_MS : 0;
        }
        if (sleep_ms > 0) sf_bell_wait(&front->feeders.filled, sleep_ms);
    }
    return NULL;
}

/* ---- what a program pushes ---- */

/* False if the front thread must continue: a turn that waited for the windows would delay the pushing thread.
 */
static bool turn_at_once(sf_front *front)
{
    if (!front->at_once || !begin_turn(front)) return false;
    bool may = !front->ended && sf_handoff_has_room(front->handoff, BATCH);
    bool done = may && take_turn(front) == IDLE_MS;
    end_turn(front);
    return done;
}

int sf_front_push(sf_front *front, size_t source, const sf_batch *batch)
{
    int status = sf_feeder_push(&front->feeders.items[source], batch);
    if (status == SF_OK && !turn_at_once(front)) sf_bell_ring(&front->feeders.filled);
    return status;
}

/* ---- opening and closing ---- */

/* If stream time does not follow real time, a long silence is a leap like any other. */
static int64_t doubted_leap_ns(const sf_live_options *config, const sf_source *source)
{
    bool in_real_time = !source->virtual_clock && !source->own_pace;
    return in_real_time ? sf_seconds_to_ns(config->merge.leap_s) : 0;
}

/* The least that a trigger allows; 0: any age will do. */
static int64_t least_max_age_ns(const sf_live_options *config)
{
    double least_ms = 0;
    for (uint32_t i = 0; i < config->trigger_count; i++) {
        double most_ms = config->triggers[i].max_age_ms;
        if (most_ms > 0 && (least_ms == 0 || most_ms < least_ms)) least_ms = most_ms;
    }
    return (int64_t)(least_ms * 1e6);
}

static int64_t lateness_ns(const sf_live_options *config)
{
    return (int64_t)(config->merge.lateness_ms * 1e6);
}

/* What a read source has sent and was not taken yet waits in its transport, which pushes back on the sender
 * or counts what it loses. So the ring of a read source waits for room, whatever its policy, which applies to
 * the hand-over to the windows: after a start or a pause of this thread a backlog comes faster than it can be
 * merged. For a pushed source, the ring uses the policy. */
static sf_ring_policy ring_policy(const sf_input *input)
{
    return input->source->kind->read != NULL ? SF_RING_BLOCK : input->policy;
}

static int open_merge(sf_front *front, const sf_live_options *config, const sf_inputs *inputs,
                      sf_error *error)
{
    sf_inlet_settings *settings = sf_alloc(inputs->count, sizeof *settings);
    if (settings == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < inputs->count; i++)
        settings[i] = (sf_inlet_settings){.unit_count = inputs->items[i].source->units.count,
                                          .lateness_ns = lateness_ns(config),
                                          .ring = inputs->items[i].ring,
                                          .policy = ring_policy(&inputs->items[i])};
    int64_t stall_ns = inputs->virtual_clock ? 0 : (int64_t)(config->merge.stall_ms * 1e6);
    sf_merge_settings merge = {.inlets = settings,
                               .inlet_count = inputs->count,
                               .stall_ns = stall_ns,
                               .drop_duplicates = config->merge.drop_duplicates,
                               .batch = BATCH};
    int status = sf_merge_open(&front->merge, &merge, error);
    sf_free(settings);
    return status;
}

/* Settings by which a source that shares pulses is aligned; the first such source is the reference. */
static int choose_pulses(sf_front *front, const sf_inputs *inputs, size_t index, sf_aligned_settings *pulses,
                         sf_error *error)
{
    const sf_input *input = &inputs->items[index];
    size_t first = 0;
    while (inputs->items[first].pulses == 0)
        first++;
    int status = front->train == NULL ? sf_pulse_train_open(&front->train, error) : SF_OK;
    *pulses = (sf_aligned_settings){.name = input->source->name,
                                    .line = (uint16_t)(input->pulses - 1),
                                    .train = front->train,
                                    .reference = first != index ? sf_merge_inlet(front->merge, first) : NULL};
    return status;
}

static int open_feeders(sf_front *front, const sf_live_options *config, const sf_inputs *inputs,
                        sf_error *error)
{
    sf_feeders *all = &front->feeders;
    all->changed = &front->handoff->filled;
    all->items = sf_alloc(inputs->count, sizeof *all->items);
    front->faults = sf_alloc(inputs->count, sizeof *front->faults);
    bool has_room = all->items != NULL && front->faults != NULL;
    int status = has_room ? sf_bell_open(&all->filled, error) : sf_fail_memory(error);
    for (size_t i = 0; i < inputs->count && status == SF_OK; i++) {
        sf_aligned_settings pulses;
        bool is_aligned = inputs->items[i].pulses != 0;
        if (is_aligned) status = choose_pulses(front, inputs, i, &pulses, error);
        if (status != SF_OK) break;
        const sf_feeder_settings settings = {
            .pulses = is_aligned ? &pulses : NULL,
            .source = inputs->items[i].source,
            .inlet = sf_merge_inlet(front->merge, i),
            .leap_ns = doubted_leap_ns(config, inputs->items[i].source),
            .lateness_ns = lateness_ns(config),
            .max_age_ns = least_max_age_ns(config),
            .patience_ns = inputs->items[i].source->patience_ns,
        };
        status = sf_feeder_open(&all->items[all->count++], all, &settings, error);
    }
    return status;
}

int sf_front_open(sf_front *front, const sf_live_options *config, const sf_inputs *inputs,
                  int64_t duration_ns, sf_handoff *handoff, const sf_board *board, sf_publisher *publisher,
                  sf_error *error)
{
    *front = (sf_front){.handoff = handoff,
                        .publisher = publisher,
                        .duration_ns = duration_ns,
                        .limit_ns = INT64_MAX,
                        .stretch_ns = choose_stretch_ns(config, inputs->virtual_clock),
                        .next_ns = INT64_MIN,
                        .at_once = config->watch_at_once && !inputs->virtual_clock,
                        .reached_ns = INT64_MIN};
    handoff->at_leisure = front->at_once;
    const sf_control_setup control = {.config = config,
                                      .inputs = inputs,
                                      .feeders = &front->feeders,
                                      .handoff = handoff,
                                      .board = board,
                                      .publisher = publisher,
                                      .batch = BATCH};
    int status = open_merge(front, config, inputs, error);
    if (status == SF_OK) status = sf_control_open(&front->control, &control, error);
    const sf_features_setup features = {config, inputs, &front->feeders, handoff};
    if (status == SF_OK) status = sf_features_open(&front->features, &features, error);
    if (status == SF_OK) status = open_feeders(front, config, inputs, error);
    if (status != SF_OK) sf_front_close(front);
    return status;
}

int sf_front_start(sf_front *front, sf_error *error)
{
    sf_feeders *all = &front->feeders;
    int status = sf_thread_start(&front->thread, "synfire-front", run, front, error);
    for (size_t i = 0; i < all->count && status == SF_OK; i++)
        status = sf_feeder_start(&all->items[i], error);
    if (status == SF_OK) return SF_OK;
    /* Nobody feeds these inlets: end them here, so that the front thread comes to its end. */
    sf_front_stop(front);
    for (size_t i = 0; i < all->count; i++)
        if (!all->items[i].thread.running) sf_inlet_end(all->items[i].settings.inlet);
    if (!front->thread.running) /* nobody else tells the windows that nothing comes */
        sf_handoff_promise(front->handoff, INT64_MIN, true);
    return status;
}

void sf_front_release(sf_front *front)
{
    if (atomic_exchange(&front->feeders.released, true)) return;
    for (size_t i = 0; i < front->feeders.count; i++)
        sf_bell_ring(&front->feeders.items[i].room);
}

void sf_front_stop(sf_front *front)
{
    atomic_store(&front->feeders.stopping, true);
    for (size_t i = 0; i < front->feeders.count; i++)
        if (sf_feeder_is_pushed(&front->feeders.items[i])) sf_feeder_leave(&front->feeders.items[i]);
}

int sf_front_order(sf_front *front, const sf_command *order, sf_error *error)
{
    int status = sf_control_order(&front->control, order, error);
    sf_bell_ring(&front->feeders.filled);
    return status;
}

/* Source threads get the lower priority, so that they do not delay the one that watches. */
void sf_front_hurry(sf_front *front, const sf_realtime *wanted)
{
    sf_realtime of_source = {.priority = wanted->priority > 1 ? wanted->priority - 1 : wanted->priority,
                             .core = SF_REALTIME_ANY_CORE};
    for (size_t i = 0; i < front->feeders.count; i++)
        sf_realtime_thread(&front->feeders.items[i].thread, front->feeders.items[i].settings.source->name,
                           &of_source);
    sf_realtime_got got = sf_realtime_thread(&front->thread, "watching", wanted);
    if (got.priority > 0 || got.pinned)
        sf_log(SF_LOG_INFO, "watching: real-time priority %u%s", got.priority,
               got.pinned ? ", on a core of its own" : "");
}

int sf_front_change(sf_front *front, const sf_live_options *options, sf_error *error)
{
    int status = sf_control_change(&front->control, options, error);
    sf_bell_ring(&front->feeders.filled);
    return status;
}

bool sf_front_is_live(const sf_front *front)
{
    bool live = false;
    for (size_t i = 0; i < front->feeders.count; i++) {
        const sf_feeder *feeder = &front->feeders.items[i];
        bool told = !feeder->settings.source->virtual_clock || atomic_load(&feeder->state) == SF_SOURCE_LOST;
        live = live || (sf_feeder_is_live(feeder) && told);
    }
    return live && atomic_load(&front->feeders.released);
}

int sf_front_join(sf_front *front, sf_error *error)
{
    int first = SF_OK;
    for (size_t i = 0; i < front->feeders.count; i++) {
        sf_feeder *feeder = &front->feeders.items[i];
        sf_thread_join(&feeder->thread);
        if (first == SF_OK && feeder->status != SF_OK)
            first = sf_fail(error, feeder->status, feeder->error.place, "%s", feeder->error.text);
    }
    sf_thread_join(&front->thread);
    return first;
}

void sf_front_close(sf_front *front)
{
    for (size_t i = 0; i < front->feeders.count; i++)
        sf_feeder_close(&front->feeders.items[i]);
    sf_free(front->feeders.items);
    sf_free(front->faults);
    sf_pulse_train_close(front->train);
    sf_bell_close(&front->feeders.filled);
    if (front->merge != NULL) sf_merge_close(front->merge);
    sf_control_close(&front->control);
    sf_features_close(&front->features);
    *front = (sf_front){0};
}
