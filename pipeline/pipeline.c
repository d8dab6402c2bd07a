/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "pipeline/criticality.h"
#include "pipeline/density_copy.h"
#include "pipeline/front.h"
#include "pipeline/hops.h"
#include "pipeline/trials.h"

#include <stdio.h>
#include <string.h>

#define HANDOFF_ROOM (1u << 20)
#define LAST_MOMENT_NS (2 * SF_SECOND)

struct sf_pipeline {
    sf_inputs inputs;
    sf_stream_info stream;
    sf_publisher publisher;
    sf_handoff handoff;
    sf_front front;
    sf_board board; /**< what tests say of the watched episodes */
    sf_hops hops;
    sf_trials trials;
    sf_criticality_run criticality;
    sf_thread thread;      /**< the window thread */
    uint64_t changes_told; /**< of the states of live sources */
    int64_t opened_ns;     /**< monotonic clock */
    sf_bell done;
    atomic_bool finished;
    _Atomic int64_t halted_ns; /**< monotonic clock; 0: not halted */
    int status;                /**< of the window thread, once it ended */
    sf_error error;
};

/* ---- the window thread ---- */

static int tell_decisions(sf_pipeline *pipeline, sf_error *error)
{
    sf_decided decided;
    while (sf_handoff_next(&pipeline->handoff, &decided)) {
        sf_message *message = sf_control_tell(&pipeline->front.control, &decided);
        if (message == NULL) return sf_fail_memory(error);
        sf_publish(&pipeline->publisher, message);
    }
    return SF_OK;
}

static int tell_bursts(sf_pipeline *pipeline, sf_error *error)
{
    sf_burst_news news;
    while (sf_handoff_next_burst(&pipeline->handoff, &news)) {
        sf_message *message = sf_message_new(SF_TOPIC_BURST);
        if (message == NULL) return sf_fail_memory(error);
        message->time_ns = news.time_ns;
        message->arrival_ns = news.arrival_ns;
        message->burst = (sf_burst_message){.event = news.ended ? "end" : "begin",
                                            .burst = news.burst.number,
                                            .first_ns = news.burst.first_ns,
                                            .last_ns = news.burst.last_ns,
                                            .spikes = news.burst.spikes,
                                            .units = news.burst.units};
        sf_publish(&pipeline->publisher, message);
    }
    return SF_OK;
}

static int tell_found(sf_pipeline *pipeline, sf_error *error)
{
    int status = tell_decisions(pipeline, error);
    return status == SF_OK ? tell_bursts(pipeline, error) : status;
}

static int take_blanked(sf_pipeline *pipeline, sf_error *error)
{
    const sf_live_graph *graph = &pipeline->front.control.setup.config->graph;
    bool tiles = graph->enabled && graph->metric == SF_LIVE_STTC;
    sf_span span;
    int status = SF_OK;
    while (status == SF_OK && sf_handoff_next_blanked(&pipeline->handoff, &span)) {
        status = tiles ? sf_connections_blank(&pipeline->hops.graph, span, error) : SF_OK;
        if (status == SF_OK) status = sf_trials_blank(&pipeline->trials, span, error);
        if (status == SF_OK) status = sf_criticality_run_blank(&pipeline->criticality, span, error);
    }
    return status;
}

static int take_trials(sf_pipeline *pipeline, sf_error *error)
{
    int64_t marker_ns;
    int status = SF_OK;
    while (status == SF_OK && sf_handoff_next_trial(&pipeline->handoff, &marker_ns))
        status = sf_trials_mark(&pipeline->trials, marker_ns, error);
    return status;
}

static int tell_delivery(sf_pipeline *pipeline, const sf_delivered *delivered, sf_error *error)
{
    sf_message *message = sf_message_new(SF_TOPIC_DELIVERY);
    if (message == NULL) return sf_fail_memory(error);
    message->time_ns = delivered->time_ns;
    message->arrival_ns = delivered->arrival_ns;
    message->delivery =
        (sf_delivery_message){.trigger_seq = delivered->trigger_seq,
                              .outcome = delivered->outcome,
                              .sent_ns = delivered->at_ns,
                              .latency_ms = (double)(delivered->at_ns - delivered->arrival_ns) * 1e-6};
    memcpy(message->delivery.name, delivered->name, sizeof delivered->name);
    memcpy(message->delivery.sink, delivered->sink, sizeof delivered->sink);
    sf_publish(&pipeline->publisher, message);
    return SF_OK;
}

/* Disarms a trigger that a sink found too old: it is not sent again until a person has looked. */
static void disarm(sf_pipeline *pipeline, const sf_delivered *delivered)
{
    const sf_command command = {
        .kind = SF_COMMAND_DISARM,
        .trigger = sf_live_find_trigger(pipeline->front.control.setup.config, delivered->name),
        .reason = SF_TRIGGER_OLD};
    sf_front_order(&pipeline->front, &command, NULL);
}

static int tell_deliveries(sf_pipeline *pipeline, sf_error *error)
{
    int status = SF_OK;
    if (!sf_publisher_enter(&pipeline->publisher)) return SF_OK;
    for (size_t i = 0; i < pipeline->publisher.outlet_count && status == SF_OK; i++) {
        const sf_outlet *outlet = &pipeline->publisher.outlets[i];
        sf_delivered delivered;
        while (outlet->kind->delivered != NULL && status == SF_OK &&
               outlet->kind->delivered(outlet->self, &delivered)) {
            if (strcmp(delivered.outcome, "too old") == 0) disarm(pipeline, &delivered);
            status = tell_delivery(pipeline, &delivered, error);
        }
    }
    sf_publisher_leave(&pipeline->publisher);
    return status;
}

static bool is_any_busy(sf_publisher *publisher)
{
    bool busy = false;
    if (!sf_publisher_enter(publisher)) return false;
    for (size_t i = 0; i < publisher->outlet_count && !busy; i++)
        busy = publisher->outlets[i].kind->busy != NULL &&
               publisher->outlets[i].kind->busy(publisher->outlets[i].self);
    sf_publisher_leave(publisher);
    return busy;
}

/* At the end what was sent and recorded last is still on its way: sinks get a moment for it, so that the last
 * status has all of it. */
static int tell_last_deliveries(sf_pipeline *pipeline, sf_error *error)
{
    int64_t until_ns = sf_clock_monotonic_ns() + LAST_MOMENT_NS,
            halted_ns = atomic_load(&pipeline->halted_ns);
    if (halted_ns != 0 &&
        until_ns > halted_ns + LAST_MOMENT_NS / 2) /* the rest is for what is left of a hop */
        until_ns = halted_ns + LAST_MOMENT_NS / 2;
    while (is_any_busy(&pipeline->publisher) && sf_clock_monotonic_ns() < until_ns)
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    return tell_deliveries(pipeline, error);
}

static int advance(sf_pipeline *pipeline, int64_t watermark_ns, sf_error *error)
{
    int64_t arrival_ns = atomic_load_explicit(&pipeline->handoff.arrival_ns, memory_order_relaxed);
    pipeline->hops.leapt_ns = atomic_load(&pipeline->handoff.leapt_ns);
    int status = sf_hops_advance(&pipeline->hops, watermark_ns, error);
    pipeline->trials.began_ns = pipeline->criticality.began_ns = atomic_load(&pipeline->handoff.began_ns);
    if (status == SF_OK)
        status = sf_trials_reach(&pipeline->trials, watermark_ns, arrival_ns, &pipeline->publisher, error);
    return status == SF_OK ? sf_criticality_run_reach(&pipeline->criticality, watermark_ns, arrival_ns,
                                                      &pipeline->publisher, error)
                           : status;
}

/* Takes the spikes that were there when the watermark was read, with their events, and publishes each hop as
 * soon as it is closed, so that messages do not pile up if the stream is faster than the windows. */
static int work_off(sf_pipeline *pipeline, int64_t watermark_ns, sf_error *error)
{
    sf_handoff *handoff = &pipeline->handoff;
    const uint64_t until = sf_handoff_put_so_far(handoff);
    const sf_spike *spikes;
    size_t count;
    int status = take_blanked(pipeline, error); /* of all times up to these spikes */
    if (status == SF_OK) status = take_trials(pipeline, error);
    if (status == SF_OK) status = tell_found(pipeline, error);
    if (status == SF_OK) status = sf_features_tell(&pipeline->front.features, &pipeline->publisher, error);
    if (status == SF_OK) status = tell_deliveries(pipeline, error);
    while (status == SF_OK && (count = sf_handoff_look(handoff, until, &spikes)) > 0) {
        int64_t reached_ns = spikes[count - 1].time_ns;
        status = sf_hops_feed(&pipeline->hops, spikes, count,
                              atomic_load_explicit(&handoff->arrival_ns, memory_order_relaxed), error);
        if (status == SF_OK) status = sf_trials_feed(&pipeline->trials, spikes, count, error);
        if (status == SF_OK) status = sf_criticality_run_feed(&pipeline->criticality, spikes, count, error);
        sf_handoff_release(handoff, count);
        if (status == SF_OK) status = tell_found(pipeline, error);
        if (status == SF_OK)
            status = sf_features_tell(&pipeline->front.features, &pipeline->publisher, error);
        if (status == SF_OK) /* what comes later is not before it */
            status = advance(pipeline, reached_ns, error);
    }
    if (status == SF_OK && watermark_ns != INT64_MIN) status = advance(pipeline, watermark_ns, error);
    if (status == SF_OK) sf_handoff_settle(handoff, watermark_ns);
    return status;
}

/* After a failure: the front must not wait for room that nobody makes. */
static void let_go(sf_pipeline *pipeline)
{
    sf_front_stop(&pipeline->front);
    sf_handoff_settle(&pipeline->handoff, INT64_MAX);
    while (!atomic_load(&pipeline->handoff.ended)) {
        sf_handoff_drop(&pipeline->handoff);
        sf_features_drop(&pipeline->front.features);
        sf_bell_wait(&pipeline->handoff.filled, 20);
    }
}

/* Live, the status goes out by wall clock, and at once where a source falls silent or is back. */
static int tell_live(sf_pipeline *pipeline, sf_error *error)
{
    uint64_t changes = atomic_load(&pipeline->front.feeders.changes);
    bool due = sf_front_is_live(&pipeline->front) && sf_clock_monotonic_ns() >= pipeline->hops.tell_due_ns;
    if (!due && changes == pipeline->changes_told) return SF_OK;
    pipeline->changes_told = changes;
    return sf_hops_tell_status(&pipeline->hops, error);
}

static void *run(void *argument)
{
    sf_pipeline *pipeline = argument;
    sf_handoff *handoff = &pipeline->handoff;
    int status = SF_OK;
    for (bool ended = false; status == SF_OK && !ended;) {
        ended = atomic_load_explicit(&handoff->ended, memory_order_acquire);
        int64_t watermark_ns = atomic_load_explicit(&handoff->watermark_ns, memory_order_acquire);
        status = work_off(pipeline, watermark_ns, &pipeline->error);
        if (status == SF_OK && !ended) {
            bool went_on = false;
            status = tell_live(pipeline, &pipeline->error);
            if (status == SF_OK) status = sf_hops_go_on(&pipeline->hops, &went_on, &pipeline->error);
            if (!went_on)
                sf_bell_wait(&handoff->filled,
                             handoff->at_leisure ? SF_HANDOFF_LEISURE_MS : SF_HANDOFF_WAIT_MS);
        }
    }
    if (status == SF_OK)
        status = sf_trials_finish(&pipeline->trials, atomic_load(&handoff->watermark_ns),
                                  atomic_load(&handoff->arrival_ns), &pipeline->publisher, &pipeline->error);
    if (status == SF_OK)
        status = sf_criticality_run_finish(&pipeline->criticality, &pipeline->publisher, &pipeline->error);
    if (status == SF_OK) status = tell_last_deliveries(pipeline, &pipeline->error);
    if (status == SF_OK) status = sf_hops_finish(&pipeline->hops, &pipeline->error);
    pipeline->status = status;
    if (status != SF_OK) let_go(pipeline);
    atomic_store(&pipeline->finished, true);
    sf_bell_ring(&pipeline->done);
    return NULL;
}

/* ---- status ---- */

static int complete_status(void *user, const sf_hop_rates *rates, sf_status_message *status, sf_error *error)
{
    sf_pipeline *pipeline = user;
    const sf_feeders *feeders = &pipeline->front.feeders;
    status->sources = sf_alloc(feeders->count, sizeof *status->sources);
    status->triggers = sf_alloc(pipeline->front.control.trigger_count, sizeof *status->triggers);
    if (status->sources == NULL || status->triggers == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < feeders->count; i++)
        sf_feeder_status(&feeders->items[i], &status->sources[status->source_count++]);
    sf_control *control = &pipeline->front.control;
    status->watched = control->watched_count;
    const sf_features *features = &pipeline->front.features;
    status->watch_overflows = sf_watch_overflows(control->watch) + sf_features_overflows(features);
    status->features_lost = sf_features_dropped(features);
    for (uint32_t i = 0; i < control->trigger_count; i++)
        sf_control_status(control, i, rates, &status->triggers[status->trigger_count++]);
    sf_control_count(control, status);
    sf_criticality_run_tell(&pipeline->criticality, status);
    status->decisions_lost = sf_ring_dropped(&pipeline->handoff.decided);
    status->window_dropped = sf_ring_dropped(&pipeline->handoff.spikes);
    status->window_fill = sf_ring_fill(&pipeline->handoff.spikes);
    status->window_size = pipeline->handoff.spikes.limit;
    sf_front_tell(&pipeline->front, status);
    status->run_s = (double)(sf_clock_monotonic_ns() - pipeline->opened_ns) * 1e-9;
    return SF_OK;
}

/* Grows with all that makes the stream leap, or lose more than single spikes. */
static uint64_t count_breaks(void *user)
{
    sf_pipeline *pipeline = user;
    const sf_feeders *feeders = &pipeline->front.feeders;
    unsigned holes = sf_loss_holes(&pipeline->front.control.setup.config->safe_loss);
    uint64_t breaks = sf_ring_dropped(&pipeline->handoff.spikes) + atomic_load(&feeders->changes);
    for (size_t i = 0; i < feeders->count; i++) {
        sf_feeder_faults faults;
        sf_feeder_look(&feeders->items[i], &faults);
        breaks += sf_feeder_lost(&faults, holes) + faults.steps;
    }
    return breaks;
}

/* The window thread has found what a trigger waits for. */
static bool fire(void *user, uint32_t index, int64_t time_ns, int64_t arrival_ns)
{
    sf_pipeline *pipeline = user;
    const sf_command order = {
        .kind = SF_COMMAND_FIRE, .trigger = index, .time_ns = time_ns, .arrival_ns = arrival_ns};
    return sf_front_order(&pipeline->front, &order, NULL) == SF_OK;
}

/* ---- opening and closing ---- */

static bool all_can_wait(const sf_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->items[i].policy != SF_RING_BLOCK) return false;
    return true;
}

/* Every source is read as fast as what follows takes it: a recording, and no program that pushes. */
static bool all_are_replayed(const sf_inputs *inputs)
{
    bool all = all_can_wait(inputs);
    for (size_t i = 0; i < inputs->count; i++)
        all = all && inputs->items[i].source->kind->read != NULL;
    return all;
}

static int open_parts(sf_pipeline *pipeline, const sf_pipeline_options *options, sf_error *error)
{
    const sf_live_options *live = options->live;
    pipeline->stream =
        (sf_stream_info){.name = options->live->stream,
                         .units = &pipeline->inputs.units,
                         .configuration = options->configuration,
                         .provenance = options->provenance,
                         .origin = pipeline->inputs.origin,
                         .discovers = options->live->mine.every > 0,
                         .draws_graph = options->live->graph.enabled,
                         .virtual_clock = pipeline->inputs.virtual_clock,
                         .watch = options->live->watch,
                         .watch_count = options->live->watch_count,
                         .triggers = options->live->triggers,
                         .trigger_count = options->live->trigger_count,
                         .bursts = live->bursts.within_ms > 0 ? &live->bursts : NULL,
                         .responses = sf_trials_wanted(live) ? &live->responses : NULL,
                         .criticality = live->criticality.every_s > 0 ? &live->criticality : NULL};
    sf_hops_options hops = {.config = options->live,
                            .stream = &pipeline->stream,
                            .observed = pipeline->inputs.observed,
                            .observed_count = pipeline->inputs.observed_count,
                            .publisher = &pipeline->publisher,
                            .virtual_clock = pipeline->inputs.virtual_clock,
                            .waits = all_are_replayed(&pipeline->inputs),
                            .board = &pipeline->board,
                            .sources = {count_breaks, complete_status, pipeline},
                            .triggers = {fire, pipeline},
                            .recorder = options->recorder,
                            .worth_ns = options->worth_ns};
    int status = sf_board_open(&pipeline->board, sf_watched_count(options->live), error);
    if (status == SF_OK) status = sf_hops_open(&pipeline->hops, &hops, error);
    if (status == SF_OK) status = sf_trials_open(&pipeline->trials, live, &pipeline->inputs, error);
    if (status == SF_OK)
        status = sf_criticality_run_open(&pipeline->criticality, live, &pipeline->inputs,
                                         all_are_replayed(&pipeline->inputs), error);
    if (status == SF_OK)
        status = sf_handoff_open(&pipeline->handoff,
                                 options->handoff_room != 0 ? options->handoff_room : HANDOFF_ROOM,
                                 all_can_wait(&pipeline->inputs), error);
    if (status == SF_OK)
        status = sf_front_open(&pipeline->front, options->live, &pipeline->inputs, options->duration_ns,
                               &pipeline->handoff, &pipeline->board, &pipeline->publisher, error);
    return status == SF_OK ? sf_bell_open(&pipeline->done, error) : status;
}

int sf_pipeline_open(sf_pipeline **out, const sf_pipeline_options *options, sf_error *error)
{
    *out = NULL;
    sf_pipeline *pipeline = sf_alloc(1, sizeof *pipeline);
    if (pipeline == NULL) {
        sf_sources_close(options->sources, options->source_count);
        return sf_fail_memory(error);
    }
    pipeline->opened_ns = sf_clock_monotonic_ns();
    int status = sf_inputs_open(&pipeline->inputs, options->sources, options->source_count, error);
    if (status == SF_OK) status = open_parts(pipeline, options, error);
    if (status == SF_OK)
        *out = pipeline;
    else
        sf_pipeline_close(pipeline, NULL);
    return status;
}

const sf_stream_info *sf_pipeline_stream(const sf_pipeline *pipeline)
{
    return &pipeline->stream;
}

int sf_pipeline_attach(sf_pipeline *pipeline, sf_outlet outlet, sf_error *error)
{
    sf_publisher *publisher = &pipeline->publisher;
    void *outlets = sf_resize(publisher->outlets, publisher->outlet_count + 1, sizeof outlet);
    if (outlets == NULL) {
        if (outlet.kind->close != NULL) outlet.kind->close(outlet.self, NULL);
        return sf_fail_memory(error);
    }
    publisher->outlets = outlets;
    publisher->outlets[publisher->outlet_count++] = outlet;
    return SF_OK;
}

int sf_pipeline_start(sf_pipeline *pipeline, sf_error *error)
{
    int status = sf_thread_start(&pipeline->thread, "synfire-window", run, pipeline, error);
    return status == SF_OK ? sf_front_start(&pipeline->front, error) : status;
}

int sf_pipeline_push(sf_pipeline *pipeline, size_t source, const sf_batch *batch, sf_error *error)
{
    sf_feeder *feeder = &pipeline->front.feeders.items[source];
    size_t spikes = sf_inlet_most_spikes(feeder->settings.inlet),
           markers = sf_inlet_most_markers(feeder->settings.inlet);
    if (batch->spike_count > spikes || batch->marker_count > markers)
        return sf_fail(error, SF_USAGE, feeder->settings.source->name,
                       "found %zu spikes and %zu markers at once, expected at most %zu and %zu",
                       batch->spike_count, batch->marker_count, spikes, markers);
    return sf_front_push(&pipeline->front, source, batch);
}

void sf_pipeline_end_source(sf_pipeline *pipeline, size_t source)
{
    sf_feeder_finish(&pipeline->front.feeders.items[source]);
}

static bool all_ready(const sf_publisher *publisher)
{
    for (size_t i = 0; i < publisher->outlet_count; i++) {
        const sf_outlet *outlet = &publisher->outlets[i];
        if (outlet->kind->ready != NULL && !outlet->kind->ready(outlet->self)) return false;
    }
    return true;
}

bool sf_pipeline_wait(sf_pipeline *pipeline, int timeout_ms)
{
    if (all_ready(&pipeline->publisher))
        sf_front_release(&pipeline->front);
    else if (timeout_ms > 20)
        timeout_ms = 20;
    if (!atomic_load(&pipeline->finished)) sf_bell_wait(&pipeline->done, timeout_ms);
    return atomic_load(&pipeline->finished);
}

int sf_pipeline_order(sf_pipeline *pipeline, const sf_command *command, sf_error *error)
{
    return sf_front_order(&pipeline->front, command, error);
}

int sf_pipeline_copy_density(sf_pipeline *pipeline, sf_density_copy *copy, const char *density,
                             sf_error *error)
{
    return sf_densities_copy(copy, &pipeline->hops.densities, density, error);
}

void sf_pipeline_hurry(sf_pipeline *pipeline, const sf_realtime *wanted)
{
    sf_front_hurry(&pipeline->front, wanted);
}

int sf_pipeline_change(sf_pipeline *pipeline, const sf_live_options *options, sf_error *error)
{
    return sf_front_change(&pipeline->front, options, error);
}

void sf_pipeline_stop(sf_pipeline *pipeline)
{
    sf_front_stop(&pipeline->front);
    for (size_t i = 0; i < pipeline->publisher.outlet_count; i++) {
        const sf_outlet *outlet = &pipeline->publisher.outlets[i];
        if (outlet->kind->ending != NULL) outlet->kind->ending(outlet->self);
    }
}

/* Closes outlets in the order in which they were attached; returns the first failure. */
static int close_outlets(sf_publisher *publisher, sf_error *error)
{
    int first = SF_OK;
    for (size_t i = 0; i < publisher->outlet_count; i++) {
        const sf_outlet *outlet = &publisher->outlets[i];
        int status = outlet->kind->close != NULL
                         ? outlet->kind->close(outlet->self, first == SF_OK ? error : NULL)
                         : SF_OK;
        first = first == SF_OK ? status : first;
    }
    sf_free(publisher->outlets);
    return first;
}

void sf_pipeline_halt(sf_pipeline *pipeline)
{
    int64_t not_yet = 0;
    sf_control_halt(&pipeline->front.control);
    for (size_t i = 0; i < pipeline->publisher.outlet_count; i++)
        if (pipeline->publisher.outlets[i].kind->halt != NULL)
            pipeline->publisher.outlets[i].kind->halt(pipeline->publisher.outlets[i].self);
    atomic_compare_exchange_strong(&pipeline->halted_ns, &not_yet, sf_clock_monotonic_ns());
    sf_background_halt(&pipeline->criticality.background);
    sf_background_halt(&pipeline->hops.tests.background);
    sf_background_halt(&pipeline->hops.found.background);
    sf_background_halt(&pipeline->hops.graph.tiling);
    sf_background_halt(&pipeline->hops.graph.queries.rewiring);
    sf_bell_ring(&pipeline->front.feeders.filled);
}

bool sf_pipeline_is_halted(const sf_pipeline *pipeline)
{
    return atomic_load(&pipeline->halted_ns) != 0;
}

int sf_pipeline_leave_ms(const sf_pipeline *pipeline)
{
    int64_t gone_ns = sf_clock_monotonic_ns() - atomic_load(&pipeline->halted_ns);
    return gone_ns < SF_LEAVE_MS * SF_MILLISECOND ? (int)(SF_LEAVE_MS - gone_ns / SF_MILLISECOND) : 0;
}

int sf_pipeline_abandon(sf_pipeline *pipeline, sf_error *error)
{
    sf_pipeline_stop(pipeline);
    sf_handoff_abandon(&pipeline->handoff);
    int first = sf_front_join(&pipeline->front, error);
    sf_publisher_take_over(&pipeline->publisher);
    int closed = close_outlets(&pipeline->publisher, first == SF_OK ? error : NULL);
    first = first == SF_OK ? closed : first;
    return first != SF_OK ? first
                          : sf_fail(error, SF_CANCELLED, NULL,
                                    "the hop was left after %d s: what it would have published is missing",
                                    SF_LEAVE_MS / 1000);
}

int sf_pipeline_close(sf_pipeline *pipeline, sf_error *error)
{
    if (pipeline == NULL) return SF_OK;
    sf_pipeline_stop(pipeline);
    int first = sf_front_join(&pipeline->front, error);
    sf_thread_join(&pipeline->thread);
    if (first == SF_OK && pipeline->status != SF_OK)
        first = sf_fail(error, pipeline->status, pipeline->error.place, "%s", pipeline->error.text);
    int closed = close_outlets(&pipeline->publisher, first == SF_OK ? error : NULL);
    sf_front_close(&pipeline->front);
    sf_hops_close(&pipeline->hops);
    sf_trials_close(&pipeline->trials);
    sf_criticality_run_close(&pipeline->criticality);
    sf_board_close(&pipeline->board);
    sf_handoff_close(&pipeline->handoff);
    sf_inputs_close(&pipeline->inputs);
    sf_bell_close(&pipeline->done);
    sf_free(pipeline);
    return first == SF_OK ? closed : first;
}
