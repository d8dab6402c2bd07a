/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/live.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/thread.h"
#include "pipeline/pushed.h"

#include <pthread.h>
#include <stdio.h>

#define POLL_MS 20 /* how often a wait looks whether the run has begun or ended */
#define SPARE 4    /* triggers that a program may keep before another one is allocated */

/* A trigger waits by value: the thread that watches allocates nothing. */
typedef struct waiting_trigger {
    uint64_t seq;
    int64_t time_ns, arrival_ns;
    sf_trigger_message trigger;
} waiting_trigger;

struct sf_live {
    sf_live_options options;
    sf_pipeline *pipeline;
    sf_live_owner owner;
    /* Messages come from the window thread, which may lock, in a circle from `first` on. */
    pthread_mutex_t lock;
    sf_message **messages;
    uint32_t first, waiting;
    sf_ring triggers;         /* of waiting_trigger */
    sf_message *spare[SPARE]; /* triggers to hand out, again once the program has released them */
    sf_bell filled;           /* there is something in the rings */
    sf_bell room;             /* there is room for messages again */
    atomic_bool leaving;      /* nobody takes messages any more */
};

/* ---- the queue: an outlet that the program empties ---- */

static bool is_wanted(const sf_live *live, sf_topic topic)
{
    return (live->options.topics & 1u << topic) != 0;
}

/* Puts a message into the queue; false where it is full and its policy is to wait. */
static bool put(sf_live *live, sf_message *message)
{
    sf_message *dropped = NULL;
    uint32_t room = live->options.queue;
    pthread_mutex_lock(&live->lock);
    bool full = live->waiting == room, kept = !full || live->options.queue_policy == SF_RING_DROP_OLDEST;
    if (full && kept) {
        dropped = live->messages[live->first];
        live->first = (live->first + 1) % room;
        live->waiting--;
    }
    if (kept) live->messages[(live->first + live->waiting++) % room] = message;
    pthread_mutex_unlock(&live->lock);
    sf_message_release(dropped);
    return kept;
}

static void queue_publish(void *self, sf_message *message)
{
    sf_live *live = self;
    if (!is_wanted(live, message->topic)) return;
    sf_message_keep(message);
    bool kept = false;
    while (!atomic_load(&live->leaving) && !(kept = put(live, message)) &&
           live->options.queue_policy == SF_RING_BLOCK)
        sf_bell_wait(&live->room, 100);
    if (!kept) sf_message_release(message);
    sf_bell_ring(&live->filled);
}

static void queue_trigger(void *self, const sf_message *trigger)
{
    sf_live *live = self;
    if (live->options.on_trigger != NULL) live->options.on_trigger(live->options.user, trigger);
    if (!is_wanted(live, SF_TOPIC_TRIGGER)) return;
    const waiting_trigger waiting = {trigger->seq, trigger->time_ns, trigger->arrival_ns, trigger->trigger};
    sf_ring_push(&live->triggers, &waiting, 1);
    sf_bell_ring(&live->filled);
}

static const sf_outlet_kind queue_kind = {.publish = queue_publish, .trigger = queue_trigger};

static sf_message *spare_message(sf_live *live)
{
    for (size_t i = 0; i < SPARE; i++)
        if (__atomic_load_n(&live->spare[i]->references, __ATOMIC_ACQUIRE) == 1) {
            sf_message_keep(live->spare[i]);
            return live->spare[i];
        }
    return sf_message_new(SF_TOPIC_TRIGGER);
}

static void fill_trigger(sf_message *message, const waiting_trigger *waiting)
{
    message->topic = SF_TOPIC_TRIGGER;
    message->seq = waiting->seq;
    message->time_ns = waiting->time_ns;
    message->arrival_ns = waiting->arrival_ns;
    message->trigger = waiting->trigger;
}

static int take_trigger(sf_live *live, const waiting_trigger *waiting, sf_message **message, sf_error *error)
{
    *message = spare_message(live);
    if (*message == NULL) return sf_fail_memory(error);
    fill_trigger(*message, waiting);
    return SF_OK;
}

/* SF_AGAIN where nothing waits. Triggers first: somebody may act on them. */
static int take(sf_live *live, sf_message **message, sf_error *error)
{
    waiting_trigger waiting;
    if (sf_ring_pop(&live->triggers, &waiting, 1, NULL) == 1)
        return take_trigger(live, &waiting, message, error);
    pthread_mutex_lock(&live->lock);
    bool any = live->waiting > 0;
    if (any) {
        *message = live->messages[live->first];
        live->first = (live->first + 1) % live->options.queue;
        live->waiting--;
    }
    pthread_mutex_unlock(&live->lock);
    sf_bell_ring(&live->room);
    return any ? SF_OK : SF_AGAIN;
}

int sf_live_next(sf_live *live, sf_message **message, int timeout_ms, sf_error *error)
{
    int64_t until_ns = sf_clock_monotonic_ns() + timeout_ms * SF_MILLISECOND;
    for (;;) {
        bool ended = sf_pipeline_wait(live->pipeline, 0);
        *message = NULL;
        int status = take(live, message, error);
        if (status != SF_AGAIN) return status;
        if (ended) return SF_END;
        int64_t left_ms = (until_ns - sf_clock_monotonic_ns() + SF_MILLISECOND - 1) / SF_MILLISECOND;
        if (left_ms <= 0) return SF_AGAIN;
        sf_bell_wait(&live->filled, left_ms < POLL_MS ? (int)left_ms : POLL_MS);
    }
}

/* ---- what goes in ---- */

static int push(sf_live *live, uint32_t source, const sf_batch *batch, sf_error *error)
{
    if (source >= live->options.source_count)
        return sf_fail(error, SF_USAGE, NULL, "found source %u, expected one of the %u of this run", source,
                       live->options.source_count);
    return sf_pipeline_push(live->pipeline, source, batch, error);
}

int sf_live_push(sf_live *live, uint32_t source, const sf_spike *spikes, size_t count, int64_t watermark_ns,
                 sf_error *error)
{
    bool ends = watermark_ns == INT64_MAX;
    const sf_batch batch = {.spikes = spikes,
                            .spike_count = count,
                            .clock_ns = ends ? INT64_MIN : watermark_ns,
                            .arrival_ns = sf_clock_monotonic_ns()};
    int status = push(live, source, &batch, error);
    if (status == SF_OK && ends) sf_pipeline_end_source(live->pipeline, source);
    return status;
}

int sf_live_tick(sf_live *live, uint32_t source, const sf_spike *spikes, size_t count, int64_t watermark_ns,
                 sf_message *triggers, size_t most, size_t *taken, sf_error *error)
{
    waiting_trigger waiting;
    *taken = 0;
    int status = sf_live_push(live, source, spikes, count, watermark_ns, error);
    while (status == SF_OK && *taken < most && sf_ring_pop(&live->triggers, &waiting, 1, NULL) == 1)
        fill_trigger(&triggers[(*taken)++], &waiting);
    return status;
}

int sf_live_mark(sf_live *live, uint32_t source, const sf_marker *markers, size_t count, sf_error *error)
{
    const sf_batch batch = {.markers = markers,
                            .marker_count = count,
                            .clock_ns = INT64_MIN,
                            .arrival_ns = sf_clock_monotonic_ns()};
    return push(live, source, &batch, error);
}

/* ---- what is told of messages ---- */

int sf_live_json(const sf_live *live, const sf_message *message, char **json, sf_error *error)
{
    sf_text text = {0};
    sf_message_to_json(&text, message, sf_pipeline_stream(live->pipeline));
    *json = text.failed ? NULL : text.data;
    if (!text.failed) return SF_OK;
    sf_text_free(&text);
    return sf_fail_memory(error);
}

const char *sf_live_unit_name(const sf_live *live, uint32_t unit)
{
    const sf_units *units = sf_pipeline_stream(live->pipeline)->units;
    return unit < units->count ? units->items[unit].name : NULL;
}

size_t sf_live_print_episode(const sf_live *live, const sf_episode *episode, char *text, size_t size)
{
    sf_text whole = {0};
    sf_episode_print(&whole, episode, sf_pipeline_stream(live->pipeline)->units);
    size_t length = whole.failed ? 0 : whole.length;
    if (size > 0) snprintf(text, size, "%s", length > 0 ? whole.data : "");
    sf_text_free(&whole);
    return length;
}

/* ---- opening and closing ---- */

static int open_queue(sf_live *live, sf_error *error)
{
    const sf_live_options *options = &live->options;
    live->messages = sf_alloc(options->queue, sizeof *live->messages);
    int status = live->messages != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; i < SPARE && status == SF_OK; i++)
        status = (live->spare[i] = sf_message_new(SF_TOPIC_TRIGGER)) != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_ring_open(&live->triggers, sizeof(waiting_trigger), options->queue, SF_RING_DROP_NEWEST,
                              error);
    if (status == SF_OK) status = sf_bell_open(&live->filled, error);
    if (status == SF_OK) status = sf_bell_open(&live->room, error);
    return status == SF_OK ? sf_pipeline_attach(live->pipeline, (sf_outlet){&queue_kind, live}, error)
                           : status;
}

int sf_live_start(sf_live **out, sf_pipeline *pipeline, const sf_live_options *options, sf_live_owner owner,
                  sf_error *error)
{
    *out = NULL;
    sf_live *live = sf_alloc(1, sizeof *live);
    if (live == NULL) {
        sf_pipeline_close(pipeline, NULL);
        if (owner.close != NULL) owner.close(owner.self);
        return sf_fail_memory(error);
    }
    pthread_mutex_init(&live->lock, NULL);
    live->options = *options;
    live->pipeline = pipeline;
    live->owner = owner;
    int status = open_queue(live, error);
    if (status == SF_OK) status = sf_pipeline_start(pipeline, error);
    if (status == SF_OK)
        *out = live;
    else
        sf_live_close(live, NULL);
    return status;
}

/* The options of a program's own run, which the pipeline borrows, live as long as its pipeline. */
static void free_options(void *options)
{
    sf_free(options);
}

static int open_pipeline(sf_pipeline **pipeline, const sf_live_options *options, uint64_t handoff_room,
                         sf_error *error)
{
    size_t count = options->source_count;
    sf_input *inputs = sf_alloc(count, sizeof *inputs);
    int status = inputs != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = sf_pushed_open(&inputs[i], &options->sources[i], error);
    if (status == SF_OK) {
        const sf_pipeline_options wanted = {
            .live = options, .sources = inputs, .source_count = count, .handoff_room = handoff_room};
        status = sf_pipeline_open(pipeline, &wanted, error);
    } else if (inputs != NULL) {
        sf_sources_close(inputs, count);
    }
    sf_free(inputs);
    return status;
}

/* A pushing thread must not wait for messages that it would take itself, nor for windows. */
static int check_at_once(const sf_live_options *options, sf_error *error)
{
    if (!options->watch_at_once) return SF_OK;
    if (options->queue_policy == SF_RING_BLOCK)
        return sf_live_refuse("watch_at_once", error,
                              "found a queue_policy of block, expected drop-oldest or drop-newest");
    for (uint32_t i = 0; i < options->source_count; i++)
        if (options->sources[i].virtual_clock)
            return sf_live_refuse("watch_at_once", error, "found a source on a virtual clock, expected none");
    return SF_OK;
}

static int read_options(sf_live_options *own, const sf_live_options *options, sf_error *error)
{
    int status = sf_options_read(own, &sf_live_defaults, sizeof *own, options, "sf_live_options", error);
    if (status == SF_OK && (own->source_count == 0 || own->sources == NULL))
        status = sf_live_refuse("sources", error, "found none, expected at least one source");
    if (status == SF_OK && own->queue == 0)
        status = sf_live_refuse("queue", error, "found 0, expected room for at least one message");
    if (status == SF_OK) status = check_at_once(own, error);
    return status == SF_OK ? sf_live_resolve(own, error) : status;
}

int sf_live_open_room(sf_live **live, const sf_live_options *options, uint64_t handoff_room, sf_error *error)
{
    *live = NULL;
    sf_live_options *own = sf_alloc(1, sizeof *own);
    if (own == NULL) return sf_fail_memory(error);
    sf_pipeline *pipeline;
    int status = read_options(own, options, error);
    if (status == SF_OK) status = open_pipeline(&pipeline, own, handoff_room, error);
    if (status != SF_OK) {
        sf_free(own);
        return status;
    }
    return sf_live_start(live, pipeline, own, (sf_live_owner){free_options, own}, error);
}

int sf_live_open(sf_live **live, const sf_live_options *options, sf_error *error)
{
    return sf_live_open_room(live, options, 0, error);
}

void sf_live_finish(sf_live *live)
{
    sf_pipeline_stop(live->pipeline);
}

void sf_live_halt(sf_live *live)
{
    sf_pipeline_halt(live->pipeline);
}

bool sf_live_is_halted(const sf_live *live)
{
    return sf_pipeline_is_halted(live->pipeline);
}

int sf_live_leave_ms(const sf_live *live)
{
    return sf_pipeline_leave_ms(live->pipeline);
}

int sf_live_abandon(sf_live *live, sf_error *error)
{
    atomic_store(&live->leaving, true);
    sf_bell_ring(&live->room);
    return sf_pipeline_abandon(live->pipeline, error);
}

int sf_live_close(sf_live *live, sf_error *error)
{
    if (live == NULL) return SF_OK;
    atomic_store(&live->leaving, true);
    sf_bell_ring(&live->room);
    int status = sf_pipeline_close(live->pipeline, error);
    for (uint32_t i = 0; i < live->waiting; i++)
        sf_message_release(live->messages[(live->first + i) % live->options.queue]);
    sf_free(live->messages);
    for (size_t i = 0; i < SPARE; i++)
        sf_message_release(live->spare[i]);
    pthread_mutex_destroy(&live->lock);
    sf_ring_close(&live->triggers);
    sf_bell_close(&live->filled);
    sf_bell_close(&live->room);
    if (live->owner.close != NULL) live->owner.close(live->owner.self);
    sf_free(live);
    return status;
}
