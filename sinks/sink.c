/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/sink.h"

#include "core/clock.h"
#include "core/durations.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/thread.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const sf_sink_kind *const kinds[] = {&sf_sink_jsonl, &sf_sink_zmq,    &sf_sink_osc,     &sf_sink_hdf5,
                                            &sf_sink_web,   &sf_sink_serial, &sf_sink_command, &sf_sink_lsl};

#define TRIGGER_RING 1024
#define PATIENCE_NS (5 * SF_SECOND)
#define FLUSH_EVERY_NS SF_SECOND
#define CHECK_EVERY_NS SF_SECOND
#define STORAGE_BATCH 64 /* messages served in one turn on the storage thread, which serves others too */

typedef struct queued_trigger {
    uint64_t seq;
    int64_t time_ns, arrival_ns;
    sf_trigger_message trigger;
} queued_trigger;

/* Adds up what waits, also where a ring drops it. */
typedef struct queued_message {
    sf_message *message;
    size_t bytes;
    _Atomic size_t *waiting;
} queued_message;

struct sf_sink {
    const sf_sink_kind *kind;
    void *self;
    char name[SF_STATUS_NAME_SIZE];
    const char *address;
    sf_storage *storage; /* serves the sink; NULL: it has a thread of its own */
    sf_thread thread;
    sf_ring messages;       /* of queued_message */
    _Atomic size_t waiting; /* bytes in it */
    sf_ring triggers;       /* of queued_trigger */
    sf_ring delivered;      /* of sf_delivered, of a kind that acts: to the window thread */
    sf_raw_feed *raw;       /* of a recorder, else NULL */
    sf_bell work;           /* there is something in the rings, or the end is near */
    sf_bell room;           /* the ring of messages has room again */
    sf_bell halt;           /* a pulse is to end */
    atomic_bool polled, stopping, stuck, ready, halted;
    atomic_bool has_failed;    /* first_failure is written, and stays as it is */
    _Atomic int64_t ending_ns; /* monotonic; INT64_MAX while the run goes on */
    sf_durations took;         /* publishing */
    uint32_t wanted;           /* bits of topics */
    size_t top;                /* of episodes; 0: all */
    _Atomic uint64_t published, given_up, failed, triggers_settled;
    /* The rest belongs to the serving thread. */
    sf_message *offered; /* taken from a ring and not settled yet */
    sf_message trigger;  /* what `offered` points to for a trigger */
    sf_message *begun;   /* of which a part went out; NULL: none */
    int64_t begun_took_ns;
    int64_t offered_since_ns;
    int64_t told_left_ns; /* when the sink was closed, or what is left was told last */
    int64_t flush_due_ns; /* INT64_MAX: nothing to flush */
    int64_t check_due_ns; /* INT64_MAX: what was opened is gone, and that was said */
    sf_error first_failure;
};

/* ---- serving: on the sink's own thread or the storage thread ---- */

static void note_first_failure(sf_sink *sink, const sf_error *error)
{
    if (sink->first_failure.code != SF_OK) return;
    sink->first_failure = *error;
    atomic_store(&sink->has_failed, true);
    sf_log(SF_LOG_ERROR, "sink %s: %s; what fails is counted and the run goes on", sink->name, error->text);
}

static void note_failure(sf_sink *sink, const sf_error *error)
{
    atomic_fetch_add(&sink->failed, 1);
    note_first_failure(sink, error);
}

static void release_item(void *item)
{
    queued_message *queued = item;
    atomic_fetch_sub(queued->waiting, queued->bytes);
    sf_message_release(queued->message);
}

/* If the sink gets fewer episodes than the message has, picks those that stand out most; all of them if
 * memory is out. */
static sf_message *pick(const sf_sink *sink, sf_message *message)
{
    bool all = sink->top == 0 || message->topic != SF_TOPIC_EPISODES || message->episodes.count <= sink->top;
    sf_message *top = all ? NULL : sf_message_top(message, sink->top, NULL, 0);
    if (top == NULL) return message;
    sf_message_release(message);
    return top;
}

static bool pop_message(sf_sink *sink)
{
    queued_message queued;
    if (sf_ring_pop(&sink->messages, &queued, 1, release_item) == 0) return false;
    atomic_fetch_sub(&sink->waiting, queued.bytes);
    sink->offered = pick(sink, queued.message);
    return true;
}

/* Takes the next message out of the rings into `offered`: triggers first, then one that was begun. */
static bool take_next(sf_sink *sink)
{
    queued_trigger queued;
    if (sf_ring_pop(&sink->triggers, &queued, 1, NULL) == 1) {
        sink->trigger.topic = SF_TOPIC_TRIGGER;
        sink->trigger.seq = queued.seq;
        sink->trigger.time_ns = queued.time_ns;
        sink->trigger.arrival_ns = queued.arrival_ns;
        sink->trigger.trigger = queued.trigger;
        sink->offered = &sink->trigger;
    } else if (sink->begun != NULL) {
        sink->offered = sink->begun;
        sink->begun = NULL;
    } else if (pop_message(sink)) {
        if (sink->messages.policy == SF_RING_BLOCK) sf_bell_ring(&sink->room);
    } else {
        sink->offered = NULL;
    }
    sink->offered_since_ns = sf_clock_monotonic_ns();
    return sink->offered != NULL;
}

static void settle(sf_sink *sink, _Atomic uint64_t *counter)
{
    if (counter != NULL) atomic_fetch_add(counter, 1);
    if (sink->offered != &sink->trigger)
        sf_message_release(sink->offered);
    else
        atomic_fetch_add(&sink->triggers_settled, 1);
    sink->offered = NULL;
}

static bool is_told_of(const sf_sink *sink)
{
    return sink->kind->acts && sink->offered == &sink->trigger && sink->trigger.trigger.is_named;
}

static void tell_delivery(sf_sink *sink, const char *outcome)
{
    const sf_message *message = &sink->trigger;
    if (!is_told_of(sink)) return;
    sf_delivered told = {.trigger_seq = message->seq,
                         .time_ns = message->time_ns,
                         .arrival_ns = message->arrival_ns,
                         .at_ns = sf_clock_monotonic_ns(),
                         .outcome = outcome};
    memcpy(told.name, message->trigger.name, sizeof told.name);
    memcpy(told.sink, sink->name, sizeof told.sink);
    sf_ring_push(&sink->delivered, &told, 1);
}

/* True once the run is ending and the receiver has taken nothing for as long as we wait. */
static bool out_of_patience(const sf_sink *sink)
{
    int64_t ending = atomic_load(&sink->ending_ns);
    int64_t since = ending > sink->offered_since_ns ? ending : sink->offered_since_ns;
    return ending != INT64_MAX && sf_clock_monotonic_ns() - since >= PATIENCE_NS;
}

/* Ends the pulse that a trigger began, in time or as soon as the run is halted. */
static void hold_pulse(sf_sink *sink)
{
    const sf_sink_kind *kind = sink->kind;
    double length_ms = kind->pulse_ms != NULL ? kind->pulse_ms(sink->self) : 0;
    if (length_ms <= 0) return;
    int64_t until_ns = sf_clock_monotonic_ns() + (int64_t)(length_ms * 1e6), left_ns;
    while (!atomic_load(&sink->halted) && (left_ns = until_ns - sf_clock_monotonic_ns()) > 0)
        if (left_ns > 2 * SF_MILLISECOND)
            sf_bell_wait(&sink->halt, (int)(left_ns / SF_MILLISECOND) - 1);
        else
            sf_clock_sleep_until(until_ns);
    sf_error error = {0};
    if (kind->end_pulse(sink->self, &error) != SF_OK) note_failure(sink, &error);
}

static void flush_soon(sf_sink *sink)
{
    if (sink->kind->flush != NULL && sink->flush_due_ns == INT64_MAX)
        sink->flush_due_ns = sf_clock_monotonic_ns() + FLUSH_EVERY_NS;
}

/* Offers raw spikes and markers to a recorder; false where there are none. */
static bool serve_raw(sf_sink *sink)
{
    sf_raw_batch batch;
    if (sink->raw == NULL || !sf_raw_feed_take(sink->raw, &batch)) return false;
    sf_error error = {0};
    bool recorded = sink->kind->record(sink->self, &batch, &error) == SF_OK;
    if (recorded)
        flush_soon(sink);
    else
        note_first_failure(sink, &error);
    sf_raw_feed_settle(sink->raw, &batch, recorded);
    return true;
}

/* What came before a message is shown before it: all that waits, and no more, however fast more comes. */
static void serve_raw_before(sf_sink *sink)
{
    if (sink->raw == NULL || !sink->kind->shows) return;
    uint64_t put = sf_raw_feed_put_so_far(sink->raw);
    while (sf_raw_feed_taken_so_far(sink->raw) < put && serve_raw(sink))
        ;
}

/* With the parts of the message that went out before. */
static void note_took(sf_sink *sink, int64_t took_ns)
{
    bool is_trigger = sink->offered == &sink->trigger;
    sf_durations_add(&sink->took, took_ns + (is_trigger ? 0 : sink->begun_took_ns));
    if (!is_trigger) sink->begun_took_ns = 0;
}

/* Offers one message to the kind; false where there is none. */
static bool serve_message(sf_sink *sink)
{
    if (sink->offered == NULL && !take_next(sink)) return false;
    serve_raw_before(sink);
    bool too_old = is_told_of(sink) && sf_clock_monotonic_ns() >= sink->trigger.trigger.expires_ns;
    bool halted = is_told_of(sink) && atomic_load(&sink->halted);
    if (too_old || halted || atomic_load(&sink->stuck)) {
        tell_delivery(sink, too_old ? "too old" : "failed");
        settle(sink, &sink->given_up);
        return true;
    }
    sf_error error = {0};
    int64_t began_ns = sf_clock_monotonic_ns();
    int result = sink->kind->publish(sink->self, sink->offered, &error);
    if (result == SF_PUBLISH_PART) {
        sink->begun_took_ns += sf_clock_monotonic_ns() - began_ns;
        sink->begun = sink->offered;
        sink->offered = NULL;
        return true;
    }
    if (result != SF_PUBLISH_AGAIN && result != SF_PUBLISH_PASSED)
        note_took(sink, sf_clock_monotonic_ns() - began_ns);
    if (result == SF_PUBLISH_AGAIN) {
        if (out_of_patience(sink)) atomic_store(&sink->stuck, true);
        return true;
    }
    if (result == SF_PUBLISH_PASSED) {
        settle(sink, NULL);
        return true;
    }
    tell_delivery(sink, result < 0 ? "failed" : "sent");
    if (result < 0) {
        note_failure(sink, &error);
        settle(sink, NULL);
        return true;
    }
    if (sink->offered == &sink->trigger) hold_pulse(sink);
    settle(sink, &sink->published);
    flush_soon(sink);
    return true;
}

static bool serve(sf_sink *sink)
{
    bool any_raw = serve_raw(sink);
    return serve_message(sink) || any_raw;
}

static void flush(sf_sink *sink)
{
    sink->flush_due_ns = INT64_MAX;
    sf_error error = {0};
    if (sink->kind->flush(sink->self, &error) != SF_OK) note_failure(sink, &error);
}

static void check(sf_sink *sink, int64_t now_ns)
{
    sf_error error = {0};
    sink->check_due_ns = now_ns + CHECK_EVERY_NS;
    if (sink->kind->check(sink->self, &error) == SF_OK) return;
    sink->check_due_ns = INT64_MAX;
    note_failure(sink, &error);
}

/* What is due besides messages. */
static void keep_house(sf_sink *sink)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    if (sink->flush_due_ns != INT64_MAX && now_ns >= sink->flush_due_ns) flush(sink);
    if (sink->kind->check != NULL && sink->check_due_ns != INT64_MAX && now_ns >= sink->check_due_ns)
        check(sink, now_ns);
    if (sink->kind->ready != NULL && sink->kind->ready(sink->self)) atomic_store(&sink->ready, true);
}

/* What a recorder still holds at the end may take its time on a slow disk. */
static void tell_left(sf_sink *sink)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    if (sink->raw == NULL || sink->kind->shows || now_ns - sink->told_left_ns < SF_SECOND) return;
    uint64_t spikes = sf_raw_feed_put_so_far(sink->raw) - sf_raw_feed_taken_so_far(sink->raw);
    sf_log(SF_LOG_WARNING,
           "sink %s writes what it holds: %" PRIu64 " spikes and %" PRIu64 " messages are left", sink->name,
           spikes, (uint64_t)sf_ring_fill(&sink->messages));
    sink->told_left_ns = now_ns;
}

/* Serves all that was accepted, then closes the kind's part. */
static void finish(sf_sink *sink)
{
    while (serve(sink))
        tell_left(sink);
    if (sink->flush_due_ns != INT64_MAX) flush(sink);
    sf_error error = {0};
    if (sink->kind->close(sink->self, &error) != SF_OK) note_failure(sink, &error);
    sink->self = NULL;
}

static void wait_for_work(sf_sink *sink)
{
    if (sink->kind->wait != NULL)
        sink->kind->wait(sink->self, &sink->work);
    else
        sf_bell_wait(&sink->work, atomic_load(&sink->ready) ? 1000 : 10);
}

static void *run_thread(void *argument)
{
    sf_sink *sink = argument;
    while (!atomic_load(&sink->stopping)) {
        bool busy = serve(sink);
        keep_house(sink);
        if (!busy) wait_for_work(sink);
    }
    finish(sink);
    return NULL;
}

static bool poll_storage(void *argument)
{
    sf_sink *sink = argument;
    bool busy = true;
    for (int i = 0; busy && i < STORAGE_BATCH; i++)
        busy = serve(sink);
    keep_house(sink);
    return busy;
}

static int finish_on_storage(void *argument)
{
    finish(argument);
    return SF_OK;
}

/* ---- opening and closing ---- */

typedef struct open_call {
    sf_sink *sink;
    const sf_sink_settings *settings;
    const sf_stream_info *stream;
    sf_error *error;
} open_call;

static int open_kind(void *argument)
{
    open_call *call = argument;
    const sf_sink_kind *kind = call->sink->kind;
    int status = kind->examine != NULL ? kind->examine(call->settings, call->error) : SF_OK;
    return status == SF_OK ? kind->open(&call->sink->self, call->settings, call->stream, call->error)
                           : status;
}

void sf_sink_name(char name[SF_STATUS_NAME_SIZE], const char *kind, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, SF_STATUS_NAME_SIZE, "%s %s", kind, slash != NULL ? slash + 1 : path);
}

/* "zmq tcp://127.0.0.1:7710". Every sink tells it to all. */
static void make_name(sf_sink *sink, const sf_sink_settings *settings)
{
    const char *address = sink->address, *kind = sink->kind->settings.name;
    if (settings->path != NULL)
        sf_sink_name(sink->name, kind, address);
    else
        snprintf(sink->name, sizeof sink->name, "%s %.*s", kind, (int)strcspn(address, "#"), address);
}

static int start(sf_sink *sink, const sf_sink_settings *settings, const sf_stream_info *stream,
                 sf_error *error)
{
    open_call call = {sink, settings, stream, error};
    int status = sink->storage != NULL ? sf_storage_call(sink->storage, open_kind, &call) : open_kind(&call);
    if (status != SF_OK) return status;
    sink->address = sink->kind->address(sink->self);
    make_name(sink, settings);
    return settings->hold ? SF_OK : sf_sink_begin(sink, error);
}

static int begin_kind(void *argument)
{
    open_call *call = argument;
    return call->sink->kind->begin(call->sink->self, call->error);
}

int sf_sink_begin(sf_sink *sink, sf_error *error)
{
    open_call call = {.sink = sink, .error = error};
    int status = SF_OK;
    if (sink->kind->begin != NULL)
        status =
            sink->storage != NULL ? sf_storage_call(sink->storage, begin_kind, &call) : begin_kind(&call);
    if (status != SF_OK) return status;
    if (sink->storage == NULL)
        return sf_thread_start(&sink->thread, sink->kind->settings.name, run_thread, sink, error);
    status = sf_storage_add(sink->storage, poll_storage, sink, error);
    atomic_store(&sink->polled, status == SF_OK);
    return status;
}

/* As bits. */
static uint32_t find_topics(const sf_sink_settings *settings)
{
    uint32_t wanted = settings->topic_count == 0 ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < settings->topic_count; i++)
        wanted |= UINT32_C(1) << sf_keys_word(sf_topic_names, settings->topics[i]);
    return wanted;
}

int sf_sink_open_kind(sf_sink **out, const sf_sink_kind *kind, const sf_sink_settings *settings,
                      const sf_stream_info *stream, sf_storage *storage, sf_error *error)
{
    *out = NULL;
    if (kind->on_storage_thread && storage == NULL)
        return sf_fail(error, SF_INTERNAL, settings->type, "the %s sink needs the storage thread",
                       kind->settings.name);
    sf_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL) return sf_fail_memory(error);
    sink->kind = kind;
    sink->storage = kind->on_storage_thread ? storage : NULL;
    sink->wanted = find_topics(settings);
    sink->top = kind->picks ? 0 : settings->top;
    sink->flush_due_ns = INT64_MAX;
    atomic_init(&sink->ending_ns, INT64_MAX);
    atomic_init(&sink->ready, kind->ready == NULL);
    sf_ring_policy policy = kind->keeps && stream->virtual_clock ? SF_RING_BLOCK : settings->policy;
    int status = sf_ring_open(&sink->messages, sizeof(queued_message), settings->ring, policy, error);
    if (status == SF_OK)
        status =
            sf_ring_open(&sink->triggers, sizeof(queued_trigger), TRIGGER_RING, SF_RING_DROP_NEWEST, error);
    if (status == SF_OK && kind->acts)
        status =
            sf_ring_open(&sink->delivered, sizeof(sf_delivered), TRIGGER_RING, SF_RING_DROP_NEWEST, error);
    if (status == SF_OK && kind->record != NULL)
        status = sf_raw_feed_open(&sink->raw, kind->shows ? SF_SHOWN_SPIKES : SF_RAW_SPIKES, error);
    if (status == SF_OK) status = sf_bell_open(&sink->work, error);
    if (status == SF_OK) status = sf_bell_open(&sink->room, error);
    if (status == SF_OK) status = sf_bell_open(&sink->halt, error);
    if (status == SF_OK) status = start(sink, settings, stream, error);
    if (status != SF_OK) {
        sf_sink_close(sink, NULL);
        return status;
    }
    *out = sink;
    return SF_OK;
}

const sf_sink_kind *sf_sink_kind_at(size_t index)
{
    return index < sizeof kinds / sizeof kinds[0] ? kinds[index] : NULL;
}

int sf_sink_close(sf_sink *sink, sf_error *error)
{
    if (sink == NULL) return SF_OK;
    sf_sink_ending(sink);
    sink->told_left_ns = sf_clock_monotonic_ns();
    atomic_store(&sink->stopping, true);
    if (sink->thread.running) {
        sf_bell_ring(&sink->work);
        sf_thread_join(&sink->thread); /* it has finished everything */
    }
    if (atomic_load(&sink->polled)) sf_storage_remove(sink->storage, poll_storage, sink);
    if (sink->self != NULL && sink->storage != NULL)
        sf_storage_call(sink->storage, finish_on_storage, sink);
    else if (sink->self != NULL)
        finish(sink); /* its thread never started */
    sf_bell_close(&sink->work);
    sf_bell_close(&sink->room);
    sf_bell_close(&sink->halt);
    sf_ring_close(&sink->messages);
    sf_ring_close(&sink->triggers);
    sf_ring_close(&sink->delivered);
    sf_raw_feed_close(sink->raw);
    int status = (int)sink->first_failure.code;
    if (status != SF_OK && error != NULL) *error = sink->first_failure;
    sf_free(sink);
    return status;
}

/* ---- the publishing side ---- */

static void wake(void *user)
{
    sf_sink *sink = user;
    if (sink->storage != NULL)
        sf_storage_wake(sink->storage);
    else
        sf_bell_ring(&sink->work);
}

static bool push_message(sf_sink *sink, const queued_message *queued)
{
    size_t before = atomic_fetch_add(&sink->waiting, queued->bytes);
    bool fits = before == 0 || before + queued->bytes <= SF_SINK_BYTES;
    if (fits && sf_ring_push(&sink->messages, queued, 1) == 1) return true;
    atomic_fetch_sub(&sink->waiting, queued->bytes);
    if (!fits && sink->messages.policy != SF_RING_BLOCK)
        atomic_fetch_add(&sink->given_up, 1); /* the others the ring has counted */
    return false;
}

static bool is_wanted(const sf_sink *sink, sf_topic topic)
{
    return (sink->wanted >> topic & 1) != 0;
}

void sf_sink_publish(sf_sink *sink, sf_message *message)
{
    if (!is_wanted(sink, message->topic)) return;
    const queued_message queued = {message, sf_message_bytes(message), &sink->waiting};
    sf_message_keep(message);
    while (!push_message(sink, &queued)) {
        if (sink->messages.policy != SF_RING_BLOCK) {
            sf_message_release(message);
            break;
        }
        sf_bell_wait(&sink->room, 100);
    }
    wake(sink);
}

void sf_sink_trigger(sf_sink *sink, const sf_message *trigger)
{
    if (!is_wanted(sink, SF_TOPIC_TRIGGER)) return;
    const queued_trigger queued = {
        .seq = trigger->seq,
        .time_ns = trigger->time_ns,
        .arrival_ns = trigger->arrival_ns,
        .trigger = trigger->trigger,
    };
    sf_ring_push(&sink->triggers, &queued, 1);
    wake(sink);
}

void sf_sink_record(sf_sink *sink, const sf_raw_batch *batch, bool wait)
{
    if (sink->raw == NULL || (batch->spike_count == 0 && batch->marker_count == 0)) return;
    sf_raw_feed_put(sink->raw, batch, wait && !sink->kind->shows, wake, sink);
    if (!sink->kind->shows) /* which looks by itself, frame by frame */
        wake(sink);
}

void sf_sink_ending(sf_sink *sink)
{
    int64_t not_yet = INT64_MAX;
    atomic_compare_exchange_strong(&sink->ending_ns, &not_yet, sf_clock_monotonic_ns());
}

void sf_sink_halt(sf_sink *sink)
{
    atomic_store(&sink->halted, true);
    sf_bell_ring(&sink->halt);
}

bool sf_sink_ready(sf_sink *sink)
{
    return atomic_load(&sink->ready);
}

void sf_sink_status_get(sf_sink *sink, sf_sink_status *status)
{
    *status = (sf_sink_status){
        .published = atomic_load(&sink->published),
        .dropped = atomic_load(&sink->given_up) + sf_ring_dropped(&sink->messages) +
                   sf_ring_dropped(&sink->triggers),
        .failed = atomic_load(&sink->failed),
        .ring_fill = (uint32_t)sf_ring_fill(&sink->messages),
        .ring_size = (uint32_t)sink->messages.limit,
        .took = sf_durations_tell(&sink->took),
        .sync_max_ms = NAN,
        .disk_left_s = NAN,
        .refused = -1,
    };
    memcpy(status->name, sink->name, sizeof status->name);
    if (sink->raw != NULL && !sink->kind->shows) {
        sf_raw_counts raw = sf_raw_feed_count(sink->raw);
        status->spikes = raw.spikes;
        status->spikes_lost = raw.spikes_lost;
        status->markers = raw.markers;
        status->markers_lost = raw.markers_lost;
    }
    if (sink->kind->account != NULL) sink->kind->account(sink->self, status);
    bool has_failed = atomic_load(&sink->has_failed);
    snprintf(status->state, sizeof status->state, "%s", has_failed ? "failed" : "ok");
    if (has_failed) snprintf(status->note, sizeof status->note, "%.255s", sink->first_failure.text);
}

const char *sf_sink_address(sf_sink *sink)
{
    return sink->address;
}

bool sf_sink_delivered(sf_sink *sink, sf_delivered *next)
{
    return sink->kind->acts && sf_ring_pop(&sink->delivered, next, 1, NULL) == 1;
}

bool sf_sink_is_busy(sf_sink *sink)
{
    if (sink->raw != NULL && !sink->kind->shows && sf_raw_feed_is_busy(sink->raw)) return true;
    return sink->kind->acts && atomic_load(&sink->triggers_settled) < sf_ring_pushed(&sink->triggers);
}

/* ---- as an outlet ---- */

static bool outlet_delivered(void *self, sf_delivered *next)
{
    return sf_sink_delivered(self, next);
}

static bool outlet_busy(void *self)
{
    return sf_sink_is_busy(self);
}

static void outlet_publish(void *self, sf_message *message)
{
    sf_sink_publish(self, message);
}

static void outlet_trigger(void *self, const sf_message *trigger)
{
    sf_sink_trigger(self, trigger);
}

static void outlet_record(void *self, const sf_raw_batch *batch, bool wait)
{
    sf_sink_record(self, batch, wait);
}

static bool outlet_ready(void *self)
{
    return sf_sink_ready(self);
}

static void outlet_ending(void *self)
{
    sf_sink_ending(self);
}

static void outlet_halt(void *self)
{
    sf_sink_halt(self);
}

static void outlet_status(void *self, sf_sink_status *status)
{
    sf_sink_status_get(self, status);
}

static int outlet_close(void *self, sf_error *error)
{
    return sf_sink_close(self, error);
}

sf_outlet sf_sink_outlet(sf_sink *sink)
{
    static const sf_outlet_kind kind = {.publish = outlet_publish,
                                        .trigger = outlet_trigger,
                                        .record = outlet_record,
                                        .delivered = outlet_delivered,
                                        .busy = outlet_busy,
                                        .ready = outlet_ready,
                                        .ending = outlet_ending,
                                        .halt = outlet_halt,
                                        .status = outlet_status,
                                        .close = outlet_close};
    return (sf_outlet){&kind, sink};
}
