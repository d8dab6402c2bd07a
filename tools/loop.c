/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/loop.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/filter.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_MS 5  /* for so long a read waits at most */
#define READY_S 60 /* for so long subscribers are waited for */
#define DEFAULT_NAME "loop"

typedef struct loop {
    const sf_loop_setup *setup;
    sf_run_trips *trips;
    sf_message message;
    int64_t answer_ns; /* arrival of the first answer to the pulse in flight; INT64_MIN: none yet */
    bool under_way;
    sf_random random;
} loop;

static int64_t now_ns(const loop *it)
{
    return it->setup->now_ns != NULL ? it->setup->now_ns(it->setup->user) : sf_clock_monotonic_ns();
}

/* ---- what comes ---- */

static bool is_answer(const loop *it, const sf_marker *marker)
{
    sf_span span;
    return sf_blank_span(&(sf_blank){.marker = it->setup->marker}, marker, &span);
}

static void take(loop *it, const sf_batch *batch)
{
    for (size_t i = 0; i < batch->marker_count; i++) {
        if (!is_answer(it, &batch->markers[i])) continue;
        if (it->under_way && it->answer_ns == INT64_MIN)
            it->answer_ns = batch->arrival_ns;
        else
            it->trips->unexpected++;
    }
}

/* Reads until then, or until the pulse that is under way has come back. */
static int listen(loop *it, int64_t until_ns, sf_error *error)
{
    int64_t left_ns;
    while ((left_ns = until_ns - now_ns(it)) > 0 && (!it->under_way || it->answer_ns == INT64_MIN)) {
        sf_batch batch;
        int64_t left_ms = (left_ns + SF_MILLISECOND - 1) / SF_MILLISECOND;
        int result = it->setup->source->kind->read(it->setup->source, &batch,
                                                   (int)(left_ms < READ_MS ? left_ms : READ_MS), error);
        if (result < 0) return result;
        if (result == SF_READ_END)
            return sf_fail(error, SF_UNAVAILABLE, it->setup->source->name,
                           "the stream has ended after %u of %u pulses", it->trips->pulses,
                           it->setup->pulses);
        if (result == SF_READ_BATCH) take(it, &batch);
        if (!sf_progress_update(it->setup->progress, "waiting for pulses", it->trips->pulses,
                                it->setup->pulses))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped after %u of %u pulses", it->trips->pulses,
                           it->setup->pulses);
    }
    return SF_OK;
}

/* ---- what goes ---- */

static void send_pulse(loop *it, int64_t at_ns)
{
    sf_message *message = &it->message;
    message->seq = ++it->trips->pulses;
    message->time_ns = message->arrival_ns = at_ns;
    message->trigger.occurrence = message->seq;
    message->trigger.spike_times_ns[0] = at_ns;
    message->trigger.decided_ns = at_ns;
    it->setup->outlet.kind->trigger(it->setup->outlet.self, message);
}

/* Whether the sink reported that it could not send the newest pulse. */
static bool has_failed(const loop *it)
{
    sf_delivered told;
    bool failed = false;
    const sf_outlet *outlet = &it->setup->outlet;
    while (outlet->kind->delivered != NULL && outlet->kind->delivered(outlet->self, &told))
        failed = failed || (told.trigger_seq == it->message.seq && strcmp(told.outcome, "sent") != 0);
    return failed;
}

static int pulse(loop *it, sf_error *error)
{
    double share = 0.5 + sf_random_uniform(&it->random);
    int status = listen(it, now_ns(it) + (int64_t)((double)it->setup->apart_ns * share), error);
    if (status != SF_OK) return status;
    int64_t sent_ns = now_ns(it);
    it->under_way = true;
    it->answer_ns = INT64_MIN;
    send_pulse(it, sent_ns);
    status = listen(it, sent_ns + it->setup->wait_ns, error);
    it->under_way = false;
    bool failed = has_failed(it);
    if (it->answer_ns != INT64_MIN && it->answer_ns - sent_ns <= it->setup->wait_ns)
        it->trips->ms[it->trips->answered++] = (double)(it->answer_ns - sent_ns) * 1e-6;
    else if (failed)
        it->trips->failed++;
    else
        it->trips->lost++;
    return status;
}

/* ---- the whole ---- */

static void summarise(sf_run_trips *trips)
{
    size_t count = trips->answered;
    trips->median_ms = trips->p99_ms = trips->most_ms = NAN;
    if (count == 0) return;
    trips->median_ms = sf_reals_median(trips->ms, count);
    trips->p99_ms = trips->ms[(count * 99 + 99) / 100 - 1];
    trips->most_ms = trips->ms[count - 1];
}

int sf_loop_run(sf_run_trips *trips, const sf_loop_setup *setup, sf_error *error)
{
    loop it = {.setup = setup, .trips = trips, .random = sf_random_start(setup->seed, 0)};
    it.message = (sf_message){.topic = SF_TOPIC_TRIGGER, .references = 1};
    it.message.trigger = (sf_trigger_message){.size = 1,
                                              .p = NAN,
                                              .q = NAN,
                                              .p_age_s = NAN,
                                              .least_q = NAN,
                                              .expires_ns = INT64_MAX,
                                              .is_named = true,
                                              .not_tested = "a pulse of doctor --loop"};
    snprintf(it.message.trigger.name, sizeof it.message.trigger.name, "%s", setup->trigger);
    snprintf(it.message.trigger.id, sizeof it.message.trigger.id, "%016d", 0);
    int status = SF_OK;
    for (uint32_t i = 0; i < setup->pulses && status == SF_OK; i++)
        status = pulse(&it, error);
    summarise(trips);
    return status;
}

/* ---- of a configuration ---- */

static int find_sink(uint32_t *index, const sf_config *config, uint32_t wanted, sf_error *error)
{
    *index = wanted;
    if (wanted == UINT32_MAX)
        for (*index = 0; *index < config->sink_count && !sf_config_sink_kind(config, *index)->acts;)
            ++*index;
    if (*index >= config->sink_count)
        return sf_fail(error, SF_USAGE, "--sink",
                       wanted == UINT32_MAX
                           ? "no sink sends triggers: expected one of type serial, command, osc or zmq"
                           : "there is no sink %u",
                       wanted);
    if (!sf_config_sink_kind(config, *index)->acts)
        return sf_fail(error, SF_USAGE, "--sink", "sink %u (%s) sends no triggers", *index,
                       sf_config_sink_kind(config, *index)->settings.name);
    return SF_OK;
}

static int open_source(sf_source **source, const sf_run_loop_options *options, sf_error *error)
{
    const sf_config *config = options->config;
    sf_error reason = {0};
    *source = NULL;
    if (options->source >= config->source_count)
        return sf_fail(error, SF_USAGE, "--source", "there is no source %u", options->source);
    const sf_source_kind *kind = sf_config_source_kind(config, options->source);
    int status = kind->open(source, kind, sf_config_source(config, options->source), &reason);
    if (status == SF_OK) status = sf_source_begin(*source, options->progress, &reason);
    return sf_config_locate_item(config, "sources", options->source, status, &reason, error);
}

static int open_sink(sf_sink **sink, const sf_config *config, uint32_t index, const sf_stream_info *stream,
                     sf_error *error)
{
    sf_error reason = {0};
    *sink = NULL;
    int status = sf_sink_open_kind(sink, sf_config_sink_kind(config, index), sf_config_sink(config, index),
                                   stream, NULL, &reason);
    return sf_config_locate_item(config, "sinks", index, status, &reason, error);
}

/* Waits until the sink's receivers are connected. */
static int await_ready(sf_sink *sink, const sf_progress *progress, sf_error *error)
{
    int64_t until_ns = sf_clock_monotonic_ns() + READY_S * SF_SECOND;
    while (!sf_sink_ready(sink)) {
        if (!sf_progress_update(progress, "waiting for subscribers", 0, 1))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped");
        if (sf_clock_monotonic_ns() > until_ns)
            return sf_fail(error, SF_UNAVAILABLE, sf_sink_address(sink), "nobody subscribes");
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 5 * SF_MILLISECOND);
    }
    return SF_OK;
}

static const char *name_of(const sf_run_loop_options *options)
{
    if (options->trigger != NULL) return options->trigger;
    return options->config->live.trigger_count > 0 ? options->config->live.triggers[0].name : DEFAULT_NAME;
}

static int measure(sf_run_trips *trips, sf_source *source, sf_sink *sink, const sf_run_loop_options *options,
                   sf_error *error)
{
    const sf_loop_setup setup = {.source = source,
                                 .outlet = sf_sink_outlet(sink),
                                 .trigger = name_of(options),
                                 .marker = options->marker,
                                 .pulses = options->pulses,
                                 .apart_ns = (int64_t)(options->apart_ms * 1e6),
                                 .wait_ns = (int64_t)(options->wait_ms * 1e6),
                                 .seed = options->seed,
                                 .progress = options->progress};
    sf_sink_status about;
    sf_sink_status_get(sink, &about);
    snprintf(trips->source, sizeof trips->source, "%s", source->name);
    snprintf(trips->authentication, sizeof trips->authentication, "%s",
             source->authentication != NULL ? source->authentication : "");
    snprintf(trips->sink, sizeof trips->sink, "%s", about.name);
    int status = await_ready(sink, options->progress, error);
    return status == SF_OK ? sf_loop_run(trips, &setup, error) : status;
}

int sf_run_loop(sf_run_trips *trips, const sf_run_loop_options *options, sf_error *error)
{
    uint32_t index;
    sf_source *source = NULL;
    sf_sink *sink = NULL;
    *trips = (sf_run_trips){.median_ms = NAN, .p99_ms = NAN, .most_ms = NAN};
    int status = find_sink(&index, options->config, options->sink, error);
    if (status == SF_OK && (trips->ms = sf_alloc(options->pulses, sizeof *trips->ms)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK) status = open_source(&source, options, error);
    const sf_stream_info stream = {.name = options->config->live.stream,
                                   .units = source != NULL ? &source->units : NULL};
    if (status == SF_OK) status = open_sink(&sink, options->config, index, &stream, error);
    if (status == SF_OK) status = measure(trips, source, sink, options, error);
    int closed = sf_sink_close(sink, status == SF_OK && trips->failed == 0 ? error : NULL);
    if (source != NULL) source->kind->close(source);
    return status == SF_OK && trips->failed == 0 ? closed : status;
}

void sf_run_trips_free(sf_run_trips *trips)
{
    sf_free(trips->ms);
    *trips = (sf_run_trips){0};
}
