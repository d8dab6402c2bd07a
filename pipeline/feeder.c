/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/feeder.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define STALLED_NS SF_SECOND
#define READ_MS 50
#define BEHIND_NS SF_SECOND /* of which the log says something */
#define FIRST_NS (3 * SF_SECOND)
#define OLD_SHARE 10 /* a share of one old spike in OLD_SHARE is no accident */

bool sf_feeder_is_live(const sf_feeder *feeder)
{
    return feeder->settings.source->kind->is_live;
}

bool sf_feeder_is_pushed(const sf_feeder *feeder)
{
    return feeder->settings.source->kind->read == NULL;
}

/* ---- what was sent and is not analysed ---- */

static sf_continuity_counts believed(const sf_feeder *feeder)
{
    return feeder->continuity != NULL ? sf_continuity_count(feeder->continuity) : (sf_continuity_counts){0};
}

static uint64_t count_late(const sf_inlet_counts *in, const sf_continuity_counts *of)
{
    return in->late + of->late;
}

unsigned sf_loss_disarming(const sf_live_safe_loss *safe)
{
    return (unsigned)safe->gaps << SF_LOSS_GAPS | (unsigned)safe->malformed << SF_LOSS_MALFORMED |
           (unsigned)safe->late << SF_LOSS_LATE | (unsigned)safe->dropped << SF_LOSS_DROPPED |
           (unsigned)safe->leaps << SF_LOSS_LEAPS | (unsigned)safe->out_of_range << SF_LOSS_OUT_OF_RANGE;
}

unsigned sf_loss_holes(const sf_live_safe_loss *safe)
{
    return ((1u << SF_LOSS_OUT_OF_RANGE) - 1) | sf_loss_disarming(safe);
}

uint64_t sf_feeder_lost(const sf_feeder_faults *faults, unsigned causes)
{
    uint64_t lost = 0;
    for (unsigned cause = 0; cause < SF_LOSS_CAUSES; cause++)
        lost += causes >> cause & 1 ? faults->lost[cause] : 0;
    return lost;
}

/* ---- what is logged ---- */

/* Repeated events are logged the first, second, fourth, eighth ... time. */
static bool worth_a_line(uint64_t before, uint64_t now)
{
    return now > before && UINT64_C(1) << (63 - __builtin_clzll(now)) > before;
}

static void log_continuity(sf_feeder *feeder)
{
    const char *name = feeder->settings.source->name;
    sf_continuity_counts now = sf_continuity_count(feeder->continuity);
    if (worth_a_line(feeder->told.undone, now.undone))
        sf_log(SF_LOG_WARNING,
               "%s: a time stamp that the stream did not go on from (%" PRIu64 " so far, %" PRIu64
               " spikes left out)",
               name, now.undone, now.leaps);
    if (worth_a_line(feeder->told.steps, now.steps))
        sf_log(SF_LOG_WARNING, "%s: its clock stepped ahead (%" PRIu64 " so far), and the stream with it",
               name, now.steps);
    if (worth_a_line(feeder->told.epochs, now.epochs))
        sf_log(SF_LOG_WARNING,
               "%s: its clock began anew (%" PRIu64 " so far); its times are joined on where the stream is",
               name, now.epochs);
    feeder->told = now;
}

#define LEFT_OUT_LINE_NS (60 * SF_SECOND)

/* Logs spikes that are not analysed the first time and then, while it continues, every minute. */
static void log_left_out(const sf_feeder *feeder, sf_feeder_line *line, uint64_t count, const char *text)
{
    if (count == line->count) return;
    int64_t now_ns = sf_clock_monotonic_ns();
    if (line->count > 0 && now_ns - line->at_ns < LEFT_OUT_LINE_NS) return;
    sf_log(SF_LOG_WARNING, "%s: %" PRIu64 " spikes %s", feeder->settings.source->name, count, text);
    *line = (sf_feeder_line){.count = count, .at_ns = now_ns};
}

static void log_losses(sf_feeder *feeder)
{
    sf_inlet_counts in = sf_inlet_count(feeder->settings.inlet);
    log_left_out(feeder, &feeder->late, count_late(&in, &feeder->told),
                 "came too late so far and were left out; see merge.lateness_ms");
    log_left_out(
        feeder, &feeder->unknown, in.out_of_range + in.left_out,
        "so far are of units that the source did not name, and were left out; see safe_loss.out_of_range");
}

/* ---- whether the sender is heard ---- */

static void set_state(sf_feeder *feeder, sf_source_state state)
{
    if (atomic_exchange(&feeder->state, (int)state) == (int)state || !sf_feeder_is_live(feeder)) return;
    atomic_fetch_add(&feeder->all->changes, 1);
    sf_bell_ring(feeder->all->changed);
}

static void hear(sf_feeder *feeder, int64_t now_ns)
{
    double silent_s = (double)(now_ns - atomic_load(&feeder->heard_ns)) * 1e-9;
    int before = atomic_load(&feeder->state);
    uint64_t silences = atomic_load(&feeder->silences);
    if (before == SF_SOURCE_LOST || (before == SF_SOURCE_STALLED && worth_a_line(silences - 1, silences)))
        sf_log(SF_LOG_WARNING, "%s: goes on after %.1f s", feeder->settings.source->name, silent_s);
    atomic_store(&feeder->heard_ns, now_ns);
    atomic_store(&feeder->gone, false);
    set_state(feeder, SF_SOURCE_LIVE);
}

static void stall(sf_feeder *feeder)
{
    uint64_t before = atomic_fetch_add(&feeder->silences, 1);
    if (worth_a_line(before, before + 1))
        sf_log(SF_LOG_WARNING, "%s: nothing for %g s: stalled", feeder->settings.source->name,
               (double)STALLED_NS * 1e-9);
    set_state(feeder, SF_SOURCE_STALLED);
}

static void lose(sf_feeder *feeder, bool connected)
{
    sf_log(SF_LOG_ERROR, "%s: nothing for %g s: lost; %s", feeder->settings.source->name,
           (double)feeder->settings.patience_ns * 1e-9,
           connected ? "its sender is still connected and is waited for" : "its sender is not there");
    set_state(feeder, SF_SOURCE_LOST);
}

/* A sender that is gone may come back, as long as another source keeps the run going. */
static void give_up_where_all_are_gone(sf_feeder *feeder)
{
    sf_feeders *all = feeder->all;
    atomic_store(&feeder->gone, true);
    for (size_t i = 0; i < all->count; i++) {
        int state = atomic_load(&all->items[i].state);
        if (!atomic_load(&all->items[i].gone) && state != SF_SOURCE_ENDED && state != SF_SOURCE_FAILED)
            return;
    }
    atomic_store(&all->abandoned, true);
    atomic_store(&all->stopping, true);
}

/* Something came, after the run itself may have been stopped: then this looks before what came goes on. */
static void look_back(sf_feeder *feeder, int64_t now_ns)
{
    if (now_ns - atomic_load(&feeder->heard_ns) >= STALLED_NS && !feeder->settings.source->virtual_clock &&
        atomic_load(&feeder->state) == SF_SOURCE_LIVE)
        stall(feeder);
}

/* Nothing came. On a virtual clock, where every run must be the same, only losses are reported. */
static void miss(sf_feeder *feeder, int64_t now_ns)
{
    sf_source *source = feeder->settings.source;
    int64_t patience_ns = feeder->settings.patience_ns, silent_ns = now_ns - atomic_load(&feeder->heard_ns);
    bool connected = source->kind->connected(source);
    int state = atomic_load(&feeder->state);
    if (silent_ns >= patience_ns && state != SF_SOURCE_LOST)
        lose(feeder, connected);
    else if (silent_ns >= STALLED_NS && state == SF_SOURCE_LIVE && !source->virtual_clock)
        stall(feeder);
    if (silent_ns >= 2 * patience_ns && !connected) give_up_where_all_are_gone(feeder);
}

/* ---- when spikes were due ---- */

/* A recording comes when the run asks for it, and what is replayed at another pace or as fast as possible is
 * due at no time. */
static bool has_due_times(const sf_feeder *feeder)
{
    const sf_source *source = feeder->settings.source;
    return sf_feeder_is_live(feeder) && !source->virtual_clock && !source->own_pace;
}

/* The furthest that a batch reaches; INT64_MIN: it has no times. */
static int64_t end_of(const sf_batch *batch)
{
    int64_t end_ns = batch->clock_ns;
    if (batch->spike_count > 0 && batch->spikes[batch->spike_count - 1].time_ns > end_ns)
        end_ns = batch->spikes[batch->spike_count - 1].time_ns;
    return end_ns;
}

/* Its times are of another epoch, or of a new run: they say nothing of when those before were due. */
static void begin_epoch_of_due(sf_feeder *feeder, const sf_batch *batch)
{
    int64_t shift_ns = feeder->reference != NULL ? sf_inlet_count(feeder->reference).shift_ns : 0;
    if (!batch->joins && batch->restarts == 0 && shift_ns == feeder->reference_shift_ns) return;
    feeder->reference_shift_ns = shift_ns;
    feeder->due = (sf_due){0};
    feeder->pace = (sf_pace){0};
    feeder->fresh = feeder->fresh || batch->restarts > 0;
    feeder->behind_was_told = false;
}

#define LOOKS 8
#define QUICK_NS (SF_MILLISECOND / 100)

/* The monotonic clock less the wall clock. Where this thread is held between its looks at the two, what was
 * due seems to have been due earlier, never later. */
static int64_t monotonic_less_wall_ns(void)
{
    int64_t most_ns = INT64_MIN;
    for (int i = 0; i < LOOKS; i++) {
        int64_t begin_ns = sf_clock_monotonic_ns(), less_ns = begin_ns - sf_clock_wall_ns();
        most_ns = less_ns > most_ns ? less_ns : most_ns;
        if (sf_clock_monotonic_ns() - begin_ns < QUICK_NS) break;
    }
    return most_ns;
}

/* Monotonic clock at stream time 0, by the sender's origin; INT64_MAX: not known. The origin belongs to the
 * first times of a run: a clock that restarts during a run has none. */
static int64_t origin_of(const sf_feeder *feeder)
{
    const sf_source *source = feeder->settings.source;
    if (!source->has_origin || !feeder->fresh || feeder->reference != NULL) return INT64_MAX;
    return sf_time_plus(source->origin_ns, monotonic_less_wall_ns());
}

static void log_behind(sf_feeder *feeder, int64_t behind_ns)
{
    if (behind_ns < BEHIND_NS || feeder->behind_was_told) return;
    feeder->behind_was_told = true;
    sf_log(SF_LOG_WARNING, "%s: its spikes come %.1f s after they were due", feeder->settings.source->name,
           (double)behind_ns * 1e-9);
}

static void look_at_pace(sf_feeder *feeder, int64_t end_ns, int64_t arrival_ns)
{
    double pace = sf_pace_take(&feeder->pace, end_ns, arrival_ns);
    if (pace == 0 || feeder->pace_was_told) return;
    feeder->pace_was_told = true;
    sf_log(SF_LOG_WARNING,
           "%s: its clock passes %.3g s in each second: is its sampling rate the one that it is read with "
           "(sample_rate_hz)? All delays and rates are wrong by as much",
           feeder->settings.source->name, pace);
}

/* A rig that writes seldom has old spikes in each of its writes. Its first seconds tell, once. */
static void look_at_first(sf_feeder *feeder, const sf_batch *judged)
{
    int64_t most_ns = feeder->settings.max_age_ns, arrival_ns = judged->arrival_ns;
    if (most_ns == 0 || feeder->first_ended) return;
    for (size_t i = 0; i < judged->spike_count; i++) {
        int64_t due_ns = sf_due_at(judged->due_offset_ns, judged->spikes[i].time_ns, arrival_ns);
        feeder->first_spikes++;
        feeder->first_old += arrival_ns - due_ns > most_ns;
    }
    feeder->first_ended = arrival_ns - feeder->began_ns >= FIRST_NS;
    if (feeder->first_ended && feeder->first_old * OLD_SHARE > feeder->first_spikes)
        sf_log(SF_LOG_WARNING,
               "%s: of its first %" PRIu64 " spikes %.0f %% were older than max_age_ms (%g) when they came: "
               "triggers on them do not stay armed",
               feeder->settings.source->name, feeder->first_spikes,
               100 * (double)feeder->first_old / (double)feeder->first_spikes, (double)most_ns * 1e-6);
}

/* Says of a batch when its spikes were due. What came before the run was ready to read says nothing of the
 * time that the way takes. */
static sf_batch judge_due(sf_feeder *feeder, const sf_batch *batch)
{
    sf_batch judged = *batch;
    if (!has_due_times(feeder)) return judged;
    begin_epoch_of_due(feeder, batch);
    int64_t end_ns = end_of(batch), arrival_ns = batch->arrival_ns;
    if (end_ns != INT64_MIN && arrival_ns >= feeder->began_ns) {
        sf_due_take(&feeder->due, end_ns, arrival_ns, origin_of(feeder));
        look_at_pace(feeder, end_ns, arrival_ns);
        feeder->fresh = false;
    }
    if (!feeder->due.began) return judged;
    judged.tells_due = true;
    judged.due_offset_ns = sf_due_offset_ns(&feeder->due, arrival_ns);
    look_at_first(feeder, &judged);
    if (end_ns != INT64_MIN) {
        int64_t behind_ns = arrival_ns - sf_due_at(judged.due_offset_ns, end_ns, arrival_ns);
        atomic_store(&feeder->behind_ns, behind_ns);
        log_behind(feeder, behind_ns);
    }
    return judged;
}

/* ---- the thread ---- */

/* While the run itself has no room, the sender is not to blame for what is not heard. */
static void offer(sf_feeder *feeder, const sf_batch *batch)
{
    const sf_batch judged = judge_due(feeder, batch);
    while (!sf_inlet_offer(feeder->settings.inlet, &judged)) {
        atomic_store(&feeder->waiting, true);
        sf_bell_ring(&feeder->all->filled);
        sf_bell_wait(&feeder->room, 10);
        atomic_store(&feeder->heard_ns, sf_clock_monotonic_ns());
    }
    sf_bell_ring(&feeder->all->filled);
}

static int align(sf_feeder *feeder, const sf_batch *batch)
{
    sf_batch next;
    if (feeder->aligned == NULL) {
        offer(feeder, batch);
        return SF_OK;
    }
    int status = sf_aligned_take(feeder->aligned, batch, &feeder->error);
    while (status == SF_OK && sf_aligned_next(feeder->aligned, &next))
        offer(feeder, &next);
    return status;
}

static int offer_believed(sf_feeder *feeder)
{
    sf_batch batch;
    int status = SF_OK;
    while (status == SF_OK && sf_continuity_next(feeder->continuity, &batch))
        status = align(feeder, &batch);
    log_continuity(feeder);
    return status;
}

static int take(sf_feeder *feeder, const sf_batch *batch)
{
    int status = feeder->continuity == NULL ? align(feeder, batch)
                                            : sf_continuity_take(feeder->continuity, batch, &feeder->error);
    if (status == SF_OK && feeder->continuity != NULL) status = offer_believed(feeder);
    log_losses(feeder);
    return status;
}

/* Reads once; an sf_read_result, or a negative status. */
static int read_once(sf_feeder *feeder)
{
    sf_source *source = feeder->settings.source;
    sf_batch batch;
    int result = source->kind->read(source, &batch, READ_MS, &feeder->error);
    if (result == SF_READ_BATCH) {
        if (sf_feeder_is_live(feeder)) look_back(feeder, sf_clock_monotonic_ns());
        int status = take(feeder, &batch);
        if (status != SF_OK) return status;
        if (batch.has_totals) {
            atomic_store(&feeder->missing_spikes, batch.missing_spikes);
            atomic_store(&feeder->missing_markers, batch.missing_markers);
        }
    }
    if (!sf_feeder_is_live(feeder)) return result;
    if (result == SF_READ_BATCH && batch.heard)
        hear(feeder, sf_clock_monotonic_ns());
    else if (result == SF_READ_NOTHING || result == SF_READ_BATCH)
        miss(feeder, sf_clock_monotonic_ns());
    return result;
}

/* How the source ended, for the run's exit code. One that the run left before its end stays as it was. */
static void conclude(sf_feeder *feeder, int result)
{
    const char *name = feeder->settings.source->name;
    if (result < 0) {
        feeder->status = result;
        sf_log(SF_LOG_ERROR, "%s: %s; the run goes on without it", name, feeder->error.text);
    } else if (result != SF_READ_END && atomic_load(&feeder->gone) && atomic_load(&feeder->all->abandoned)) {
        feeder->status =
            sf_fail(&feeder->error, SF_UNAVAILABLE, name,
                    "the sender is gone: nothing came for %g s, its connection is closed and its "
                    "stream has no end; what had come is published",
                    2e-9 * (double)feeder->settings.patience_ns);
    }
    if (result < 0 || result == SF_READ_END)
        set_state(feeder, result < 0 ? SF_SOURCE_FAILED : SF_SOURCE_ENDED);
}

static void *feed(void *argument)
{
    sf_feeder *feeder = argument;
    sf_feeders *all = feeder->all;
    while (!atomic_load(&all->released) && !atomic_load(&all->stopping))
        sf_bell_wait(&feeder->room, 20);
    feeder->began_ns = sf_clock_monotonic_ns();
    atomic_store(&feeder->heard_ns, feeder->began_ns);
    int result = SF_READ_NOTHING;
    while (!atomic_load(&all->stopping) && result >= 0 && result != SF_READ_END)
        result = read_once(feeder);
    if (feeder->continuity != NULL) {
        sf_continuity_end(feeder->continuity);
        int status = offer_believed(feeder);
        result = status != SF_OK ? status : result;
    }
    if (feeder->aligned != NULL) sf_aligned_end(feeder->aligned);
    conclude(feeder, result);
    sf_inlet_end(feeder->settings.inlet);
    sf_bell_ring(&all->filled);
    return NULL;
}

/* ---- a source that is pushed ---- */

int sf_feeder_push(sf_feeder *feeder, const sf_batch *batch)
{
    if (atomic_load(&feeder->all->stopping) || atomic_load(&feeder->state) == SF_SOURCE_ENDED) return SF_END;
    if (!sf_inlet_has_room(feeder->settings.inlet, batch->spike_count, batch->marker_count)) return SF_AGAIN;
    sf_inlet_offer(feeder->settings.inlet, batch);
    return SF_OK;
}

void sf_feeder_finish(sf_feeder *feeder)
{
    set_state(feeder, SF_SOURCE_ENDED);
    sf_feeder_leave(feeder);
}

void sf_feeder_leave(sf_feeder *feeder)
{
    sf_inlet_end(feeder->settings.inlet);
    sf_bell_ring(&feeder->all->filled);
}

/* ---- opening and closing ---- */

int sf_feeder_open(sf_feeder *feeder, sf_feeders *all, const sf_feeder_settings *settings, sf_error *error)
{
    *feeder = (sf_feeder){.all = all, .settings = *settings, .fresh = true};
    feeder->reference = settings->pulses != NULL ? settings->pulses->reference : NULL;
    atomic_init(&feeder->behind_ns, -1);
    if (feeder->settings.patience_ns < STALLED_NS) feeder->settings.patience_ns = STALLED_NS;
    atomic_init(&feeder->missing_spikes, -1);
    atomic_init(&feeder->missing_markers, -1);
    int status = sf_bell_open(&feeder->room, error);
    if (status == SF_OK && sf_feeder_is_live(feeder))
        status = sf_continuity_open(
            &feeder->continuity,
            &(sf_continuity_settings){.leap_ns = settings->leap_ns, .lateness_ns = settings->lateness_ns},
            error);
    if (status == SF_OK && settings->pulses != NULL)
        status = sf_aligned_open(&feeder->aligned, settings->pulses, error);
    return status;
}

int sf_feeder_start(sf_feeder *feeder, sf_error *error)
{
    if (sf_feeder_is_pushed(feeder)) return SF_OK;
    return sf_thread_start(&feeder->thread, "synfire-source", feed, feeder, error);
}

void sf_feeder_close(sf_feeder *feeder)
{
    sf_continuity_close(feeder->continuity);
    sf_aligned_close(feeder->aligned);
    sf_bell_close(&feeder->room);
}

void sf_feeder_look(const sf_feeder *feeder, sf_feeder_faults *faults)
{
    int state = atomic_load(&feeder->state);
    sf_inlet_counts in = sf_inlet_count(feeder->settings.inlet);
    sf_continuity_counts of = believed(feeder);
    uint64_t left_out = feeder->aligned != NULL ? sf_aligned_left_out(feeder->aligned) : 0;
    *faults = (sf_feeder_faults){.silent = state == SF_SOURCE_STALLED || state == SF_SOURCE_LOST ||
                                           state == SF_SOURCE_FAILED,
                                 .silences = atomic_load(&feeder->silences),
                                 .lost = {[SF_LOSS_GAPS] = in.gaps,
                                          [SF_LOSS_MALFORMED] = in.malformed,
                                          [SF_LOSS_LATE] = count_late(&in, &of),
                                          [SF_LOSS_DROPPED] = in.dropped,
                                          [SF_LOSS_LEAPS] = of.leaps + left_out,
                                          [SF_LOSS_OUT_OF_RANGE] = in.out_of_range + in.left_out},
                                 .steps = in.restarts + of.steps + of.epochs,
                                 .steps_ahead = of.steps};
}

static int64_t silent_for(const sf_feeder *feeder)
{
    int state = atomic_load(&feeder->state);
    bool heard = state == SF_SOURCE_ENDED || (state == SF_SOURCE_LIVE && atomic_load(&feeder->all->stopping));
    bool told = sf_feeder_is_live(feeder) && atomic_load(&feeder->all->released) && !heard &&
                (!feeder->settings.source->virtual_clock || state == SF_SOURCE_LOST);
    int64_t heard_ns = atomic_load(&feeder->heard_ns);
    return told && heard_ns != 0 ? sf_clock_monotonic_ns() - heard_ns : 0;
}

void sf_feeder_status(const sf_feeder *feeder, sf_source_status *status)
{
    sf_inlet_counts in = sf_inlet_count(feeder->settings.inlet);
    sf_continuity_counts of = believed(feeder);
    int state = atomic_load(&feeder->state);
    if (state == SF_SOURCE_ENDED && atomic_load(&feeder->cut)) state = SF_SOURCE_LIVE;
    *status = (sf_source_status){.state = (sf_source_state)state,
                                 .silent_ns = silent_for(feeder),
                                 .behind_ns = atomic_load(&feeder->behind_ns),
                                 .spikes = in.offered + in.left_out + of.held + of.leaps + of.late,
                                 .held = of.held,
                                 .late = count_late(&in, &of),
                                 .duplicate = in.duplicate,
                                 .out_of_range = in.out_of_range + in.left_out,
                                 .dropped = in.dropped,
                                 .leaps = of.leaps,
                                 .missing_spikes = atomic_load(&feeder->missing_spikes),
                                 .markers = in.markers,
                                 .markers_late = in.markers_late,
                                 .markers_dropped = in.markers_dropped,
                                 .markers_left_out = of.markers_left_out,
                                 .missing_markers = atomic_load(&feeder->missing_markers),
                                 .gaps = in.gaps,
                                 .gap_lost = in.gap_lost,
                                 .malformed = in.malformed,
                                 .other_streams = in.other_streams,
                                 .restarts = in.restarts,
                                 .undone = of.undone,
                                 .steps = of.steps,
                                 .epochs = of.epochs,
                                 .shift_ns = in.shift_ns,
                                 .ring_fill = (uint32_t)in.ring_fill,
                                 .ring_size = (uint32_t)in.ring_size,
                                 .lateness_max_ns = in.lateness_max_ns,
                                 .ended = in.ended,
                                 .pulse_ns = INT64_MIN,
                                 .drift_ppm = NAN,
                                 .residual_us = NAN};
    if (feeder->aligned != NULL) sf_aligned_look(feeder->aligned, status);
    status->authentication = feeder->settings.source->authentication;
    snprintf(status->name, sizeof status->name, "%s", feeder->settings.source->name);
}
