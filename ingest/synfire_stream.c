/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/synfire_stream.h"

#include "core/clock.h"
#include "core/descriptors.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "ingest/byte_guard.h"
#include "ingest/numbering.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

/* libzmq counts the frames that wait, not their bytes: so many of the largest are 256 MiB. More wait in the
 * operating system's buffers and then with the sender. */
#define QUEUE_FRAMES 16
#define PATIENCE_MS 50 /* how often a wait looks whether it should stop */

typedef struct stream {
    sf_source source;
    void *context, *socket;
    sf_byte_guard *guard;
    char endpoint[256];
    sf_recording about; /* units, metadata and name of the stream */
    uint64_t run;
    sf_numbering numbering;
    uint64_t spikes, markers; /* that came of this run, as the sender counts them */
    uint64_t lost_run;        /* a new run whose hello has not come yet; 0: none */
    sf_wire_data data;
    uint64_t faults[SF_WIRE_FAULTS];
    uint16_t other_version; /* the last one that was refused */
    sf_batch counts;        /* what the next batch has to tell beside its spikes */
    bool ended;
} stream;

/* ---- frames ---- */

static void count_fault(stream *it, sf_wire_fault fault)
{
    if (it->faults[fault]++ == 0 && fault == SF_WIRE_VERSION)
        sf_log(SF_LOG_ERROR, "%s: refused a frame of protocol version %u; this program reads version %d",
               it->endpoint, it->other_version, SF_WIRE_PROTOCOL);
    else if (it->faults[fault] == 1)
        sf_log(SF_LOG_WARNING, "%s: a frame %s", it->endpoint, sf_wire_fault_text(fault));
    it->counts.malformed++;
}

/* Hands out what was read and counted since the last batch. */
static int give(stream *it, sf_batch *batch, int64_t clock_ns)
{
    *batch = it->counts;
    batch->spikes = it->data.spikes;
    batch->spike_count = it->data.spike_count;
    batch->markers = it->data.markers;
    batch->marker_count = it->data.marker_count;
    batch->out_of_range = it->data.unknown_units;
    batch->clock_ns = clock_ns;
    batch->arrival_ns = sf_clock_monotonic_ns();
    it->counts = (sf_batch){0};
    it->spikes += batch->spike_count + batch->out_of_range;
    it->markers += batch->marker_count;
    return SF_READ_BATCH;
}

static bool same_names(const sf_units *a, const sf_units *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->items[i].name, b->items[i].name) == 0;
    return same;
}

/* The sender began again: only its hello makes the new run known. */
static int begin_run(stream *it, const sf_wire_header *header, const void *frame, size_t size,
                     sf_error *error)
{
    if (header->kind != SF_WIRE_HELLO) {
        it->counts.gaps += it->lost_run != header->run;
        it->counts.gap_lost++;
        it->lost_run = header->run;
        return SF_OK;
    }
    sf_recording about;
    sf_wire_stream told;
    sf_wire_fault fault = sf_wire_read_hello(&about, &told, frame, size);
    if (fault == SF_WIRE_MEMORY)
        return sf_fail_memory(error);
    if (fault != SF_WIRE_SOUND) {
        count_fault(it, fault);
        return SF_OK;
    }
    int status = SF_OK;
    if (!same_names(&about.units, &it->about.units))
        status = sf_fail(
            error, SF_DATA, it->endpoint,
            "the sender started again with other units: found %zu units, expected the same %zu as before",
            about.units.count, it->about.units.count);
    sf_recording_clear(&about);
    if (status != SF_OK)
        return status;
    sf_log(SF_LOG_WARNING, "%s: the sender started again", it->endpoint);
    it->run = header->run;
    it->lost_run = 0;
    sf_numbering_begin(&it->numbering, header->sequence);
    it->spikes = it->markers = 0;
    it->counts.restarts++;
    return SF_OK;
}

/* Holds the sequence number against those before; false where the frame was there before. */
static bool follow_sequence(stream *it, const sf_wire_header *header)
{
    sf_numbered is = sf_numbering_follow(&it->numbering, header->sequence, header->kind == SF_WIRE_END);
    if (is.broken)
        count_fault(it, SF_WIRE_SEQUENCE);
    if (is.anew) {
        sf_log(SF_LOG_WARNING, "%s: the sender numbers its frames anew", it->endpoint);
        it->spikes = it->markers = 0;
        it->counts.restarts++;
    }
    it->counts.gaps += is.gaps;
    it->counts.gap_lost += is.lost;
    return is.read;
}

/* What the sender's account of its run has beyond what came. */
static void settle_account(stream *it, uint64_t spikes, uint64_t markers)
{
    it->counts.has_totals = true;
    it->counts.missing_spikes = spikes > it->spikes ? (int64_t)(spikes - it->spikes) : 0;
    it->counts.missing_markers = markers > it->markers ? (int64_t)(markers - it->markers) : 0;
    if (spikes > it->spikes || markers > it->markers)
        sf_log(SF_LOG_WARNING,
               "%s: of %" PRIu64 " spikes and %" PRIu64 " markers that the sender sent in this run, %" PRId64
               " spikes and %" PRId64 " markers did not come",
               it->endpoint, spikes, markers, it->counts.missing_spikes, it->counts.missing_markers);
}

/* Returns an sf_read_result or a negative status; SF_READ_NOTHING where the frame gave nothing. */
static int take_frame(stream *it, sf_batch *batch, const void *frame, size_t size, sf_error *error)
{
    sf_wire_header header;
    sf_wire_fault fault = sf_wire_read_header(&header, frame, size);
    if (fault == SF_WIRE_VERSION)
        it->other_version = header.version;
    it->data.spike_count = it->data.marker_count = 0;
    it->data.unknown_units = 0;
    if (fault == SF_WIRE_SOUND && header.run != it->run) {
        int status = begin_run(it, &header, frame, size, error);
        if (status != SF_OK)
            return status;
        it->counts.heard = true;
        return it->run == header.run ? give(it, batch, header.clock_ns) : SF_READ_NOTHING;
    }
    if (fault == SF_WIRE_SOUND && !follow_sequence(it, &header))
        return SF_READ_NOTHING;
    uint64_t spikes = 0, markers = 0;
    if (fault == SF_WIRE_SOUND && header.kind == SF_WIRE_DATA)
        fault = sf_wire_read_data(&it->data, it->about.units.count, frame, size);
    else if (fault == SF_WIRE_SOUND && header.kind == SF_WIRE_END)
        fault = sf_wire_read_end(&spikes, &markers, frame, size);
    if (fault == SF_WIRE_MEMORY)
        return sf_fail_memory(error);
    if (fault != SF_WIRE_SOUND) {
        count_fault(it, fault);
        return SF_READ_NOTHING;
    }
    it->ended = header.kind == SF_WIRE_END;
    if (it->ended)
        settle_account(it, spikes, markers);
    it->counts.heard = true;
    return give(it, batch, header.clock_ns);
}

/* ---- the socket ---- */

/* Takes the next message; false where none came in time. A message of several frames is never of this
 * protocol. */
static bool receive(stream *it, zmq_msg_t *message, int64_t deadline_ns, bool *several)
{
    *several = false;
    if (sf_byte_guard_gave_up(it->guard)) {
        zmq_disconnect(it->socket, it->endpoint); /* what libzmq has connected already it does not connect */
        zmq_connect(it->socket, it->endpoint);
    }
    int64_t left = (deadline_ns - sf_clock_monotonic_ns() + SF_MILLISECOND - 1) / SF_MILLISECOND;
    zmq_pollitem_t waiting = {.socket = it->socket, .events = ZMQ_POLLIN};
    if (zmq_msg_recv(message, it->socket, ZMQ_DONTWAIT) < 0 &&
        (left <= 0 || zmq_poll(&waiting, 1, (long)left) <= 0 ||
         zmq_msg_recv(message, it->socket, ZMQ_DONTWAIT) < 0))
        return false;
    sf_byte_guard_note(it->guard, zmq_msg_size(message));
    while (zmq_msg_more(message)) {
        *several = true;
        if (zmq_msg_recv(message, it->socket, ZMQ_DONTWAIT) < 0)
            break;
        sf_byte_guard_note(it->guard, zmq_msg_size(message));
    }
    return true;
}

static bool counted_anything(const sf_batch *counts)
{
    return counts->heard || counts->gaps > 0 || counts->gap_lost > 0 || counts->malformed > 0 ||
           counts->restarts > 0;
}

static int stream_read(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error)
{
    stream *it = (stream *)source;
    *batch = (sf_batch){.clock_ns = INT64_MIN};
    if (it->ended)
        return SF_READ_END;
    int64_t deadline = sf_clock_monotonic_ns() + timeout_ms * SF_MILLISECOND;
    int result = SF_READ_NOTHING;
    it->data.spike_count = it->data.marker_count = 0; /* they were given with the last batch */
    it->data.unknown_units = 0;
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (bool several; result == SF_READ_NOTHING && receive(it, &message, deadline, &several);) {
        if (several)
            count_fault(it, SF_WIRE_FOREIGN);
        else
            result = take_frame(it, batch, zmq_msg_data(&message), zmq_msg_size(&message), error);
        if (result == SF_READ_NOTHING && sf_clock_monotonic_ns() >= deadline)
            break;
    }
    zmq_msg_close(&message);
    it->counts.malformed += sf_byte_guard_cuts(it->guard);
    if (result == SF_READ_NOTHING && counted_anything(&it->counts))
        return give(it, batch, INT64_MIN);
    return result;
}

static void stream_close(sf_source *source)
{
    stream *it = (stream *)source;
    sf_byte_guard_close(it->guard);
    if (it->socket != NULL)
        zmq_close(it->socket);
    while (it->context != NULL && zmq_ctx_term(it->context) != 0 && zmq_errno() == EINTR)
        ;
    sf_recording_clear(&it->about);
    sf_wire_data_free(&it->data);
    sf_free(it);
}

static bool stream_connected(sf_source *source)
{
    return sf_byte_guard_connected(((stream *)source)->guard);
}

typedef struct stream_settings {
    sf_source_settings common;
    const char *endpoint;
    double timeout_s;
} stream_settings;

static const stream_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                         .endpoint = "tcp://127.0.0.1:7700",
                                         .timeout_s = 10};

static const sf_key keys[] = {
    {.name = "endpoint", .type = SF_KEY_TEXT, .offset = offsetof(stream_settings, endpoint)},
    {.name = "timeout_s",
     .type = SF_KEY_REAL,
     .offset = offsetof(stream_settings, timeout_s),
     .least = 0.001,
     .most = 86400},
    {0},
};

static int open_settings(sf_source **out, const sf_source_settings *common, const sf_progress *progress,
                         sf_error *error)
{
    const stream_settings *settings = (const stream_settings *)common;
    int timeout_ms = (int)(settings->timeout_s * 1e3);
    sf_error reason;
    int status = sf_stream_open(out, settings->endpoint, timeout_ms, progress, &reason);
    if (status == SF_USAGE)
        return sf_fail(error, SF_CONFIG, "endpoint", "%s %s", reason.place, reason.text);
    if (status != SF_OK)
        return sf_fail(error, status, reason.place, "%s", reason.text);
    (*out)->patience_ns = timeout_ms * SF_MILLISECOND;
    return SF_OK;
}

const sf_source_kind sf_source_zmq = {
    .settings = {"zmq", keys, sizeof(stream_settings), &defaults},
    .is_live = true,
    .descriptors = SF_ZMQ_DESCRIPTORS,
    .open = open_settings,
    .read = stream_read,
    .close = stream_close,
    .connected = stream_connected,
};

static int set_option(stream *it, int option, int value)
{
    return zmq_setsockopt(it->socket, option, &value, sizeof value);
}

/* A host that vanished without a word is noticed in about ten seconds. */
static bool keep_alive(stream *it)
{
    return set_option(it, ZMQ_TCP_KEEPALIVE, 1) == 0 && set_option(it, ZMQ_TCP_KEEPALIVE_IDLE, 4) == 0 &&
           set_option(it, ZMQ_TCP_KEEPALIVE_INTVL, 2) == 0 && set_option(it, ZMQ_TCP_KEEPALIVE_CNT, 3) == 0;
}

static int connect_socket(stream *it, sf_error *error)
{
    const int64_t most = SF_WIRE_MOST_BYTES; /* a larger frame closes the connection */
    int status = sf_descriptors_check(SF_ZMQ_DESCRIPTORS, it->endpoint, error);
    if (status != SF_OK)
        return status;
    it->context = zmq_ctx_new();
    if (it->context != NULL)
        it->socket = zmq_socket(it->context, ZMQ_SUB);
    if (it->socket == NULL || set_option(it, ZMQ_RCVHWM, QUEUE_FRAMES) != 0 ||
        set_option(it, ZMQ_LINGER, 0) != 0 || !keep_alive(it) ||
        zmq_setsockopt(it->socket, ZMQ_MAXMSGSIZE, &most, sizeof most) != 0 ||
        zmq_setsockopt(it->socket, ZMQ_SUBSCRIBE, "", 0) != 0)
        return sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot make a ZeroMQ socket: %s",
                       zmq_strerror(zmq_errno()));
    status = sf_byte_guard_open(&it->guard, it->context, it->socket, it->endpoint, error);
    if (status != SF_OK)
        return status;
    if (zmq_connect(it->socket, it->endpoint) != 0)
        return sf_fail(error, SF_USAGE, it->endpoint,
                       "is no ZeroMQ endpoint to connect to (%s): expected tcp://HOST:PORT or ipc://PATH",
                       zmq_strerror(zmq_errno()));
    return SF_OK;
}

/* ---- waiting for the first hello ---- */

/* What came instead of a stream, if anything did. */
static int refuse(const stream *it, int timeout_ms, sf_error *error)
{
    if (it->faults[SF_WIRE_VERSION] > 0)
        return sf_fail(
            error, SF_DATA, it->endpoint,
            "the sender speaks version %u of the protocol, this program version %d: use the same release of "
            "synfire on both sides",
            it->other_version, SF_WIRE_PROTOCOL);
    for (int fault = SF_WIRE_FOREIGN; fault < SF_WIRE_FAULTS; fault++)
        if (it->faults[fault] > 0)
            return sf_fail(
                error, SF_DATA, it->endpoint,
                "what comes from there is no synfire stream: a frame %s; is another program sending?",
                sf_wire_fault_text((sf_wire_fault)fault));
    return sf_fail(
        error, SF_UNAVAILABLE, it->endpoint,
        "no stream came within %g s: start its sender, as `synfire play RECORDING --to %s`, or correct the "
        "endpoint",
        timeout_ms * 1e-3, it->endpoint);
}

/* True once this frame was the hello. */
static bool take_hello(stream *it, const void *frame, size_t size)
{
    sf_wire_header header;
    sf_wire_stream told;
    sf_wire_fault fault = sf_wire_read_header(&header, frame, size);
    if (fault == SF_WIRE_VERSION)
        it->other_version = header.version;
    if (fault == SF_WIRE_SOUND && header.kind != SF_WIRE_HELLO)
        return false; /* joined in the middle: the hello is repeated every second */
    if (fault == SF_WIRE_SOUND)
        fault = sf_wire_read_hello(&it->about, &told, frame, size);
    if (fault != SF_WIRE_SOUND) {
        it->faults[fault]++;
        return false;
    }
    it->run = header.run;
    sf_numbering_begin(&it->numbering, header.sequence);
    it->source.can_wait = (told.flags & SF_WIRE_WAITS) != 0;
    it->source.virtual_clock = (told.flags & SF_WIRE_VIRTUAL) != 0;
    it->source.own_pace = (told.flags & SF_WIRE_PACED) != 0;
    return true;
}

static int wait_for_hello(stream *it, int timeout_ms, const sf_progress *progress, sf_error *error)
{
    int64_t start = sf_clock_monotonic_ns();
    int64_t deadline = timeout_ms < 0 ? INT64_MAX : start + timeout_ms * SF_MILLISECOND;
    bool found = false, several;
    zmq_msg_t message;
    zmq_msg_init(&message);
    int status = SF_OK;
    while (status == SF_OK && !found) {
        int64_t now = sf_clock_monotonic_ns(), look = now + PATIENCE_MS * SF_MILLISECOND;
        if (receive(it, &message, deadline < look ? deadline : look, &several)) {
            if (several)
                it->faults[SF_WIRE_FOREIGN]++;
            else
                found = take_hello(it, zmq_msg_data(&message), zmq_msg_size(&message));
        }
        it->faults[SF_WIRE_FOREIGN] += sf_byte_guard_cuts(it->guard);
        if (it->faults[SF_WIRE_MEMORY] > 0)
            status = sf_fail_memory(error);
        else if (!found && (now >= deadline || it->faults[SF_WIRE_VERSION] > 0))
            status = refuse(it, timeout_ms, error);
        else if (!found && !sf_progress_update(progress, "waiting for the stream",
                                               (double)(now - start) * 1e-9, (double)timeout_ms * 1e-3))
            status = sf_fail(error, SF_CANCELLED, it->endpoint, "stopped");
    }
    zmq_msg_close(&message);
    return status;
}

int sf_stream_open(sf_source **out, const char *endpoint, int timeout_ms, const sf_progress *progress,
                   sf_error *error)
{
    *out = NULL;
    stream *it = sf_alloc(1, sizeof *it);
    if (it == NULL)
        return sf_fail_memory(error);
    it->source.kind = &sf_source_zmq;
    snprintf(it->source.name, sizeof it->source.name, "%s", endpoint);
    snprintf(it->endpoint, sizeof it->endpoint, "%s", endpoint);
    int status = connect_socket(it, error);
    if (status == SF_OK)
        status = wait_for_hello(it, timeout_ms, progress, error);
    if (status != SF_OK) {
        stream_close(&it->source);
        return status;
    }
    memset(it->faults, 0, sizeof it->faults);
    it->source.units = it->about.units; /* borrowed; about owns them */
    it->source.origin = &it->about;
    *out = &it->source;
    return SF_OK;
}
