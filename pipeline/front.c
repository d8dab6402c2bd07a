/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/front.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- sources
 * --------------------------------------------------------------------------------------------------- */

static void offer(sf_feeder *feeder, const sf_batch *batch)
{
    while (!sf_inlet_offer(feeder->inlet, batch)) {
        atomic_store(&feeder->waiting, true);
        sf_bell_ring(&feeder->front->bell);
        sf_bell_wait(&feeder->room, 10);
    }
    sf_bell_ring(&feeder->front->bell);
}

static void *feed(void *argument)
{
    sf_feeder *feeder = argument;
    sf_front *front = feeder->front;
    while (!atomic_load(&front->released) && !atomic_load(&front->stopping))
        sf_bell_wait(&feeder->room, 20);
    int result = SF_READ_NOTHING;
    while (!atomic_load(&front->stopping) && result >= 0 && result != SF_READ_END) {
        sf_batch batch;
        result = feeder->source->kind->read(feeder->source, &batch, 50, &feeder->error);
        if (result == SF_READ_BATCH)
            offer(feeder, &batch);
    }
    if (result < 0) {
        feeder->status = result;
        sf_log(SF_LOG_ERROR, "%s: %s; the run goes on without it", feeder->source->name, feeder->error.text);
    }
    sf_inlet_end(feeder->inlet);
    sf_bell_ring(&front->bell);
    return NULL;
}

/* ---- watching
 * -------------------------------------------------------------------------------------------------- */

static void publish_completion(sf_front *front, const sf_completion *completion, int64_t arrival_ns)
{
    sf_message *trigger = &front->triggers[completion->episode];
    trigger->trigger.occurrence = completion->occurrence;
    trigger->time_ns = completion->spike_times_ns[completion->size - 1];
    trigger->arrival_ns = arrival_ns;
    memcpy(trigger->trigger.spike_times_ns, completion->spike_times_ns,
           completion->size * sizeof *completion->spike_times_ns);
    sf_publish_trigger(front->publisher, trigger);
}

static void watch(sf_front *front, const sf_spike *spikes, const int64_t *arrivals_ns, size_t count)
{
    if (front->watched == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const sf_completion *completions;
        size_t completed = sf_watch_advance(front->watch, &spikes[i], &completions);
        for (size_t c = 0; c < completed; c++)
            publish_completion(front, &completions[c], arrivals_ns[i]);
    }
}

/* ---- the front thread
 * ------------------------------------------------------------------------------------------ */

/* How many of the spikes come before the end of the asked duration. */
static size_t within_duration(sf_front *front, const sf_merged *merged)
{
    if (front->over)
        return 0;
    if (front->duration_ns > 0 && front->limit_ns == INT64_MAX && merged->spike_count > 0)
        front->limit_ns = merged->spikes[0].time_ns + front->duration_ns;
    front->over = merged->watermark_ns >= front->limit_ns;
    return sf_spikes_lower_bound(merged->spikes, merged->spike_count, front->limit_ns);
}

static void wake_feeders(sf_front *front)
{
    for (size_t i = 0; i < front->feeder_count; i++)
        if (atomic_exchange(&front->feeders[i].waiting, false))
            sf_bell_ring(&front->feeders[i].room);
}

static void hand_on(sf_front *front, const sf_merged *merged)
{
    bool was_over = front->over;
    size_t count = within_duration(front, merged);
    if (was_over)
        return;
    watch(front, merged->spikes, merged->arrivals_ns, count);
    const sf_raw_batch raw = {merged->spikes, count, merged->markers, merged->marker_count};
    sf_publish_raw(front->publisher, &raw, sf_handoff_waits(front->handoff));
    sf_handoff_put(front->handoff, merged->spikes, count, count > 0 ? merged->arrivals_ns[count - 1] : 0);
    int64_t watermark_ns = merged->watermark_ns < front->limit_ns ? merged->watermark_ns : front->limit_ns;
    sf_handoff_promise(front->handoff, watermark_ns, front->over || merged->ended);
    if (front->over)
        sf_front_stop(front);
}

static void *run(void *argument)
{
    sf_front *front = argument;
    for (;;) {
        sf_merged merged;
        sf_merge_pull(front->merge, sf_clock_monotonic_ns(), &merged);
        hand_on(front, &merged);
        wake_feeders(front);
        if (merged.ended)
            return NULL;
        if (!merged.more)
            sf_bell_wait(&front->bell, 20);
    }
}

/* ---- opening and closing
 * --------------------------------------------------------------------------------------- */

/* A live sender's time stamps may break; those of a recording were looked at when it was read, and on a
 * virtual clock a long silence is a leap like any other. */
static int64_t doubted_leap_ns(const sf_config *config, const sf_source *source)
{
    bool live = !source->virtual_clock && strcmp(source->kind->type, "replay") != 0;
    return live ? sf_seconds_to_ns(config->merge.leap_s) : 0;
}

static int open_merge(sf_front *front, const sf_config *config, const sf_inputs *inputs, sf_error *error)
{
    sf_inlet_settings *settings = sf_alloc(inputs->count, sizeof *settings);
    if (settings == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < inputs->count; i++)
        settings[i] = (sf_inlet_settings){.unit_count = inputs->items[i].source->units.count,
                                          .lateness_ns = (int64_t)(config->merge.lateness_ms * 1e6),
                                          .ring = inputs->items[i].ring,
                                          .policy = inputs->items[i].policy,
                                          .leap_ns = doubted_leap_ns(config, inputs->items[i].source)};
    int64_t stall_ns = inputs->virtual_clock ? 0 : (int64_t)(config->merge.stall_ms * 1e6);
    sf_merge_settings merge = {.inlets = settings,
                               .inlet_count = inputs->count,
                               .stall_ns = stall_ns,
                               .drop_duplicates = config->merge.drop_duplicates};
    int status = sf_merge_open(&front->merge, &merge, error);
    sf_free(settings);
    return status;
}

static int open_watch(sf_front *front, const sf_config *config, const sf_units *units, sf_error *error)
{
    size_t count = config->watch_count;
    sf_episode *episodes = sf_alloc(count, sizeof *episodes);
    front->triggers = sf_alloc(count, sizeof *front->triggers);
    int status = episodes != NULL && front->triggers != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        sf_error reason;
        if (sf_episode_parse(&episodes[i], config->watch[i], units, &reason) != SF_OK) {
            char key[32];
            snprintf(key, sizeof key, "watch.%zu", i);
            status = sf_config_refuse(config, key, error, "%s: %s", reason.place, reason.text);
            break;
        }
        sf_message *trigger = &front->triggers[i];
        trigger->topic = SF_TOPIC_TRIGGER;
        atomic_init(&trigger->references, 1);
        trigger->trigger.size = episodes[i].size;
        sf_episode_id(trigger->trigger.id, &episodes[i], units);
    }
    if (status == SF_OK)
        status = sf_watch_open(&front->watch, episodes, count, units->count, 0, error);
    front->watched = status == SF_OK ? count : 0;
    sf_free(episodes);
    return status;
}

int sf_front_open(sf_front *front, const sf_config *config, const sf_inputs *inputs, int64_t duration_ns,
                  sf_handoff *handoff, sf_publisher *publisher, sf_error *error)
{
    *front = (sf_front){
        .handoff = handoff, .publisher = publisher, .duration_ns = duration_ns, .limit_ns = INT64_MAX};
    int status = open_merge(front, config, inputs, error);
    if (status == SF_OK)
        status = open_watch(front, config, &inputs->units, error);
    if (status == SF_OK)
        status = sf_bell_open(&front->bell, error);
    if (status == SF_OK) {
        front->feeders = sf_alloc(inputs->count, sizeof *front->feeders);
        status = front->feeders != NULL ? SF_OK : sf_fail_memory(error);
    }
    for (size_t i = 0; i < inputs->count && status == SF_OK; i++) {
        sf_feeder *feeder = &front->feeders[front->feeder_count++];
        feeder->front = front;
        feeder->source = inputs->items[i].source;
        feeder->inlet = sf_merge_inlet(front->merge, i);
        status = sf_bell_open(&feeder->room, error);
    }
    if (status != SF_OK)
        sf_front_close(front);
    return status;
}

int sf_front_start(sf_front *front, sf_error *error)
{
    int status = sf_thread_start(&front->thread, "synfire-front", run, front, error);
    for (size_t i = 0; i < front->feeder_count && status == SF_OK; i++)
        status =
            sf_thread_start(&front->feeders[i].thread, "synfire-source", feed, &front->feeders[i], error);
    if (status == SF_OK)
        return SF_OK;
    /* Nobody feeds these inlets: end them here, so that the front thread comes to its end. */
    sf_front_stop(front);
    for (size_t i = 0; i < front->feeder_count; i++)
        if (!front->feeders[i].thread.running)
            sf_inlet_end(front->feeders[i].inlet);
    return status;
}

void sf_front_release(sf_front *front)
{
    if (atomic_exchange(&front->released, true))
        return;
    for (size_t i = 0; i < front->feeder_count; i++)
        sf_bell_ring(&front->feeders[i].room);
}

void sf_front_stop(sf_front *front)
{
    atomic_store(&front->stopping, true);
}

int sf_front_join(sf_front *front, sf_error *error)
{
    int first = SF_OK;
    for (size_t i = 0; i < front->feeder_count; i++) {
        sf_feeder *feeder = &front->feeders[i];
        sf_thread_join(&feeder->thread);
        if (first == SF_OK && feeder->status != SF_OK)
            first = sf_fail(error, feeder->status, feeder->error.place, "%s", feeder->error.text);
    }
    sf_thread_join(&front->thread);
    return first;
}

void sf_front_close(sf_front *front)
{
    for (size_t i = 0; i < front->feeder_count; i++)
        sf_bell_close(&front->feeders[i].room);
    sf_free(front->feeders);
    if (front->merge != NULL)
        sf_merge_close(front->merge);
    if (front->watch != NULL)
        sf_watch_close(front->watch);
    sf_free(front->triggers);
    sf_bell_close(&front->bell);
    *front = (sf_front){0};
}
