/* SPDX-License-Identifier: Apache-2.0 */
/* Streams over real sockets: what is sent arrives, and what goes wrong on the way is counted by its cause. */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/thread.h"
#include "decode/wire.h"
#include "ingest/live_source.h"
#include "replay/player.h"
#include "replay/simulation.h"

#include <jansson.h>
#include <math.h>
#include <zmq.h>

#define PATIENCE_MS 20000 /* a test that works never waits so long */

static const char any_port[] = "tcp://127.0.0.1:*";

/* ---- a sender on its own thread ---- */

typedef struct test_sender {
    const sf_recording *recording;
    sf_sender *sender;
    int pieces; /* > 0: not the player's batches, but this many spikes a message, after all subscribed */
    atomic_size_t sent; /* of the pieces */
    int status;
    sf_thread thread;
} test_sender;

static int send_pieces(test_sender *it)
{
    const sf_recording *recording = it->recording;
    for (size_t i = 0; i < recording->spike_count; i += (size_t)it->pieces) {
        size_t left = recording->spike_count - i;
        sf_batch batch = {.spikes = recording->spikes + i,
                          .spike_count = left < (size_t)it->pieces ? left : (size_t)it->pieces,
                          .clock_ns = recording->spikes[i].time_ns};
        int status = sf_sender_send(it->sender, &batch, NULL);
        if (status != SF_OK) return status;
        atomic_store(&it->sent, i + batch.spike_count);
    }
    return SF_OK;
}

static int send_played(test_sender *it)
{
    sf_source *player;
    int status = sf_player_open(&player, it->recording, 0, NULL);
    sf_batch batch;
    while (status == SF_OK && player->kind->read(player, &batch, 50, NULL) == SF_READ_BATCH)
        status = sf_sender_send(it->sender, &batch, NULL);
    player->kind->close(player);
    return status;
}

static void *run_sender(void *argument)
{
    test_sender *it = argument;
    while (sf_sender_subscribers(it->sender) < 1)
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    it->status = it->pieces > 0 ? send_pieces(it) : send_played(it);
    if (it->status == SF_OK) it->status = sf_sender_end(it->sender, NULL);
    return NULL;
}

static void start_sending(test_sender *it, const sf_recording *recording, int pieces)
{
    *it = (test_sender){.recording = recording, .pieces = pieces};
    const sf_sender_settings settings = {.protocol = sf_protocol_synfire.sender,
                                         .endpoint = any_port,
                                         .name = "a stream",
                                         .virtual_clock = true};
    sf_error error = {0};
    if (sf_sender_open(&it->sender, &settings, recording, &error) != SF_OK) fail_msg("%s", error.text);
    assert_int_equal(sf_thread_start(&it->thread, "sender", run_sender, it, NULL), SF_OK);
}

static void finish_sending(test_sender *it)
{
    sf_thread_join(&it->thread);
    assert_int_equal(it->status, SF_OK);
    sf_sender_close(it->sender, -1);
}

/* As the configuration's source `zmq`, which keeps its settings while it is open. */
static int open_at(sf_source **source, const char *endpoint, int timeout_ms, const sf_progress *progress,
                   sf_error *error)
{
    static sf_live_settings settings;
    settings = *(const sf_live_settings *)sf_protocol_synfire.source.settings.defaults;
    settings.endpoint = endpoint;
    settings.timeout_s = timeout_ms * 1e-3;
    int status = sf_live_source_open(source, &sf_protocol_synfire.source, &settings.common, error);
    if (status == SF_OK && (status = sf_live_source_begin(*source, progress, error)) != SF_OK) {
        sf_live_source_close(*source);
        *source = NULL;
    }
    return status;
}

static sf_source *open_stream(const char *endpoint)
{
    sf_source *source;
    sf_error error = {0};
    if (open_at(&source, endpoint, PATIENCE_MS, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    return source;
}

/* Reads to the end; everything must be as recorded, and nothing counted. */
static void receive_all(sf_source *source, const sf_recording *recording)
{
    size_t spikes = 0, markers = 0;
    int64_t clock = INT64_MIN;
    for (;;) {
        sf_batch batch;
        sf_error error;
        int result = source->kind->read(source, &batch, 50, &error);
        if (result == SF_READ_END) break;
        if (result == SF_READ_NOTHING) continue;
        assert_int_equal(result, SF_READ_BATCH);
        assert_int_equal(batch.gaps + batch.gap_lost + batch.malformed + batch.out_of_range + batch.restarts,
                         0);
        assert_true(batch.clock_ns >= clock && batch.arrival_ns > 0);
        clock = batch.clock_ns;
        assert_true(spikes + batch.spike_count <= recording->spike_count);
        if (batch.spike_count > 0)
            assert_memory_equal(batch.spikes, recording->spikes + spikes,
                                batch.spike_count * sizeof *batch.spikes);
        for (size_t i = 0; i < batch.marker_count; i++)
            assert_memory_equal(&batch.markers[i], &recording->markers[markers + i], sizeof *batch.markers);
        spikes += batch.spike_count;
        markers += batch.marker_count;
    }
    assert_int_equal(spikes, recording->spike_count);
    assert_int_equal(markers, recording->marker_count);
}

static sf_recording simulated(double seconds, double rate_hz)
{
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = 40;
    settings.rate_hz = rate_hz;
    settings.duration_ns = (int64_t)(seconds * 1e9);
    settings.marker_every_ns = SF_SECOND;
    settings.description = "a test";
    sf_recording recording;
    assert_int_equal(sf_simulate(&recording, NULL, &settings, NULL, NULL), SF_OK);
    return recording;
}

static void a_played_recording_arrives_whole(void **state)
{
    (void)state;
    sf_recording recording = simulated(60, 100);
    test_sender sending;
    start_sending(&sending, &recording, 0);
    sf_source *source = open_stream(sending.sender->sending->address);
    assert_true(source->can_wait && source->virtual_clock);
    assert_int_equal(source->units.count, 40);
    assert_string_equal(source->units.items[39].name, "u39");
    assert_true(source->units.items[39].x_um == recording.units.items[39].x_um);
    assert_string_equal(source->origin->path, "a stream");
    assert_string_equal(test_metadata(source->origin, "simulation"), "a test");
    receive_all(source, &recording);
    assert_int_equal(source->kind->read(source, &(sf_batch){0}, 0, NULL), SF_READ_END);
    finish_sending(&sending);
    source->kind->close(source);
    sf_recording_clear(&recording);
}

/* Far more messages than all queues hold, and a reader that begins when they are full. */
static void a_sender_waits_for_a_slow_receiver(void **state)
{
    (void)state;
    sf_recording recording = simulated(60, 100);
    recording.marker_count = 0;
    test_sender sending;
    start_sending(&sending, &recording, 1);
    sf_source *source = open_stream(sending.sender->sending->address);
    for (size_t last = 1, sent = 0; sent != last;) {
        last = sent;
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 100 * SF_MILLISECOND);
        sent = atomic_load(&sending.sent);
    }
    assert_true(atomic_load(&sending.sent) < recording.spike_count);
    receive_all(source, &recording);
    finish_sending(&sending);
    source->kind->close(source);
    sf_recording_clear(&recording);
}

/* ---- frames made by hand ---- */

typedef struct bench {
    sf_zmq_publisher publisher;
    sf_recording table;
    sf_text frame;
    sf_wire_header header;
    sf_source *source;
    sf_thread thread;
    atomic_bool stop;
} bench;

static void put(bench *it, const void *data, size_t size)
{
    sf_error error = {0};
    if (sf_publisher_send(&it->publisher, &(sf_part){data, size}, 1, &error) != SF_SENT)
        fail_msg("%s", error.text);
}

static void put_hello(bench *it)
{
    sf_wire_put_hello(&it->frame, &it->header, "by hand", &(sf_wire_stream){.origin_ns = INT64_MIN},
                      &it->table);
    it->header.sequence++;
    put(it, it->frame.data, it->frame.length);
}

/* One spike a data frame; time and unit are as given. */
static void put_spike(bench *it, int64_t time_ns, uint32_t unit)
{
    const sf_spike spike = {.time_ns = time_ns, .unit = unit, .amplitude = NAN};
    it->header.clock_ns = time_ns;
    sf_wire_put_data(&it->frame, &it->header, &spike, 1, NULL, 0);
    it->header.sequence++;
    put(it, it->frame.data, it->frame.length);
}

/* Repeats the hello, as senders do, until the receiver has it; nothing is allocated here. */
static void *repeat_hello(void *argument)
{
    bench *it = argument;
    while (!atomic_load(&it->stop)) {
        for (int i = 0; i < 8; i++)
            it->frame.data[16 + i] = (char)(it->header.sequence >> 8 * i);
        it->header.sequence++;
        put(it, it->frame.data, it->frame.length);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 2 * SF_MILLISECOND);
    }
    return NULL;
}

static void make_table(sf_recording *table, size_t units)
{
    for (size_t i = 0; i < units; i++)
        assert_int_equal(sf_units_add(&table->units, &(sf_unit){.x_um = (double)i}, NULL), SF_OK);
    assert_int_equal(sf_units_finish(&table->units, NULL), SF_OK);
}

/* A publisher with a table of three units that is repeating its hello, in run 77. */
static void start_bench(bench *it)
{
    *it = (bench){.header = {.run = 77}};
    make_table(&it->table, 3);
    sf_error error = {0};
    const sf_publisher_settings settings = {.endpoint = any_port, .queue = 100000, .lossless = true};
    if (sf_publisher_open(&it->publisher, &settings, &error) != SF_OK) fail_msg("%s", error.text);
    sf_wire_put_hello(&it->frame, &it->header, "by hand", &(sf_wire_stream){.origin_ns = INT64_MIN},
                      &it->table);
    assert_int_equal(sf_thread_start(&it->thread, "hello", repeat_hello, it, NULL), SF_OK);
}

static void stop_hello(bench *it)
{
    atomic_store(&it->stop, true);
    sf_thread_join(&it->thread);
}

/* Connects, and reads away the hellos that were repeated. */
static void open_bench(bench *it)
{
    start_bench(it);
    it->source = open_stream(it->publisher.address);
    stop_hello(it);
    put_spike(it, -1, 0);
    sf_batch batch;
    do
        assert_true(it->source->kind->read(it->source, &batch, PATIENCE_MS, NULL) == SF_READ_BATCH);
    while (batch.spike_count == 0);
    assert_false(it->source->can_wait || it->source->virtual_clock);
}

static void close_bench(bench *it)
{
    if (it->source != NULL) it->source->kind->close(it->source);
    sf_publisher_close(&it->publisher, 0);
    sf_text_free(&it->frame);
    sf_recording_clear(&it->table);
}

/* The next batch; at most one wait, since what it tells was sent. */
static sf_batch next_batch(bench *it)
{
    sf_batch batch;
    sf_error error = {0};
    int result = it->source->kind->read(it->source, &batch, PATIENCE_MS, &error);
    if (result != SF_READ_BATCH) fail_msg("read gave %d %s", result, error.text);
    return batch;
}

static void gaps_are_counted(void **state)
{
    (void)state;
    bench it;
    open_bench(&it);
    put_spike(&it, 10, 1);
    it.header.sequence += 3;
    put_spike(&it, 20, 2);
    put_spike(&it, 30, 0);
    it.header.sequence += 1;
    sf_wire_put_end(&it.frame, &it.header, 9, 2); /* with the one that opened the stream */
    put(&it, it.frame.data, it.frame.length);
    sf_batch batch = next_batch(&it);
    assert_true(batch.spike_count == 1 && batch.gaps == 0 && batch.clock_ns == 10);
    batch = next_batch(&it);
    assert_true(batch.spikes[0].unit == 2 && batch.gaps == 0 && !batch.has_totals);
    batch = next_batch(&it); /* goes on from the number that was not expected */
    assert_true(batch.spike_count == 1 && batch.gaps == 1 && batch.gap_lost == 3);
    batch =
        next_batch(&it); /* the end tells of the frame before it that was lost, and what the frames held */
    assert_true(batch.spike_count == 0 && batch.gaps == 1 && batch.gap_lost == 1);
    assert_true(batch.has_totals && batch.missing_spikes == 9 - 4 && batch.missing_markers == 2);
    assert_int_equal(it.source->kind->read(it.source, &batch, 0, NULL), SF_READ_END);
    close_bench(&it);
}

static void collect(void *text, sf_log_level level, const char *line)
{
    (void)level;
    sf_text_printf(text, "%s\n", line);
}

static void every_fault_is_counted_and_told_of(void **state)
{
    (void)state;
    bench it;
    open_bench(&it);
    put(&it, "hello?", 6);
    put(&it, "", 0);
    const sf_part parts[] = {{"EVENT", 6}, {"{}", 2}};
    assert_int_equal(sf_publisher_send(&it.publisher, parts, 2, NULL), SF_SENT);
    sf_wire_put_heartbeat(&it.frame, &it.header);
    it.frame.data[4] = 2;
    put(&it, it.frame.data, it.frame.length);
    it.frame.data[4] = 1;
    it.frame.data[6] = 9;
    put(&it, it.frame.data,
        it.frame.length); /* has its place among the frames, as what follows: no gap beside the fault */
    put(&it, it.frame.data, 20);
    it.header.sequence++;
    sf_wire_put_heartbeat(&it.frame, &it.header);
    sf_text_append(&it.frame, "?", 1);
    put(&it, it.frame.data, it.frame.length);
    it.header.sequence++;
    const sf_spike spikes[] = {{.time_ns = 50}, {.time_ns = 40}};
    sf_wire_put_data(&it.frame, &it.header, spikes, 2, NULL, 0);
    put(&it, it.frame.data, it.frame.length);
    it.header.sequence++;
    const sf_marker marker = {.kind = 3};
    sf_wire_put_data(&it.frame, &it.header, NULL, 0, &marker, 1);
    put(&it, it.frame.data, it.frame.length);
    it.header.sequence++;
    sf_wire_put_data(&it.frame, &it.header, spikes, 1, NULL, 0);
    put(&it, it.frame.data, it.frame.length - 1);
    it.header.sequence--;
    put_spike(&it, 60, 0); /* its sequence number was there */
    it.header.sequence++;
    put_spike(&it, 70, 3); /* there are only three units */
    put_spike(&it, 80, 2);

    uint64_t malformed = 0, out_of_range = 0;
    size_t count = 0;
    sf_batch batch;
    do {
        batch = next_batch(&it);
        malformed += batch.malformed;
        out_of_range += batch.out_of_range;
        count += batch.spike_count;
        assert_int_equal(batch.gaps, 0);
    } while (batch.clock_ns != 80);
    assert_int_equal(count, 1);
    assert_int_equal(out_of_range, 1);
    static const struct {
        sf_wire_fault fault;
        uint64_t count;
    } expected[] = {
        {SF_WIRE_FOREIGN, 3}, {SF_WIRE_VERSION, 1},  {SF_WIRE_KIND, 1},
        {SF_WIRE_SHORT, 2},   {SF_WIRE_LONG, 1},     {SF_WIRE_ORDER, 1},
        {SF_WIRE_MARKER, 1},  {SF_WIRE_SEQUENCE, 1}, {SF_WIRE_TABLE, 0},
    };
    uint64_t sum = 0;
    sf_text log = {0};
    sf_log_drain(collect, &log);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) { /* each is told of once */
        const char *text = expected[i].fault == SF_WIRE_VERSION ? "of protocol version 2"
                                                                : sf_wire_fault_text(expected[i].fault);
        const char *told = strstr(log.data, text);
        assert_true((told != NULL) == (expected[i].count > 0));
        assert_true(told == NULL || strstr(told + 1, text) == NULL);
        sum += expected[i].count;
    }
    sf_text_free(&log);
    assert_int_equal(malformed, sum);
    close_bench(&it);
}

static void a_foreign_message_repeats_nothing(void **state)
{
    (void)state;
    bench it;
    open_bench(&it);
    put_spike(&it, 10, 1);
    sf_batch batch = next_batch(&it);
    assert_true(batch.spike_count == 1 && batch.heard);
    const sf_part parts[] = {{"EVENT", 6}, {"{}", 2}};
    assert_int_equal(sf_publisher_send(&it.publisher, parts, 2, NULL), SF_SENT);
    int result = SF_READ_NOTHING;
    for (int i = 0; i < 1200 && result == SF_READ_NOTHING; i++)
        result = it.source->kind->read(it.source, &batch, 100, NULL);
    assert_int_equal(result, SF_READ_BATCH);
    assert_true(batch.malformed == 1 && batch.spike_count == 0 && batch.marker_count == 0 && !batch.heard);
    for (int i = 0; i < 12000 && !it.source->kind->connected(it.source);
         i++) /* its guard looks now and then */
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 10 * SF_MILLISECOND);
    assert_true(it.source->kind->connected(it.source));
    close_bench(&it);
}

static void a_restart_is_a_new_run_and_no_gap(void **state)
{
    (void)state;
    bench it;
    open_bench(&it);
    put_spike(&it, 1000, 1);
    sf_batch batch = next_batch(&it);
    it.header = (sf_wire_header){.run = 78, .clock_ns = 5};
    put_hello(&it);
    put_spike(&it, 6, 2);
    batch = next_batch(&it);
    assert_true(batch.restarts == 1 && batch.gaps == 0 && batch.spike_count == 0 && batch.clock_ns == 5);
    batch = next_batch(&it);
    assert_true(batch.restarts == 0 && batch.spikes[0].time_ns == 6);

    /* Where the hello of a run is lost, what came before the next one is too, and is counted. */
    it.header = (sf_wire_header){.run = 79, .sequence = 1};
    put_spike(&it, 1, 0);
    put_spike(&it, 2, 0);
    put_hello(&it);
    put_spike(&it, 3, 0);
    uint64_t gaps = 0, lost = 0;
    do { /* what is counted is told at once, also before the hello comes */
        batch = next_batch(&it);
        gaps += batch.gaps;
        lost += batch.gap_lost;
    } while (batch.restarts == 0 && lost < 100);
    assert_true(gaps == 1 && lost == 2);
    batch = next_batch(&it);
    assert_true(batch.gaps == 0 && batch.spikes[0].time_ns == 3);

    sf_recording_clear(&it.table);
    make_table(&it.table, 4);
    it.header = (sf_wire_header){.run = 80};
    put_hello(&it);
    sf_error error;
    test_assert_fails(it.source->kind->read(it.source, &batch, PATIENCE_MS, &error), &error, SF_DATA,
                      "found 4 units, expected the same 3");
    close_bench(&it);
}

static void only_streams_of_this_version_are_opened(void **state)
{
    (void)state;
    sf_error error;
    sf_source *source;
    bench it;
    start_bench(&it);
    stop_hello(&it);
    test_assert_fails(open_at(&source, it.publisher.address, 100, NULL, &error), &error, SF_UNAVAILABLE,
                      "synfire play");
    it.stop = false;
    it.frame.data[4] = 7;
    assert_int_equal(sf_thread_start(&it.thread, "hello", repeat_hello, &it, NULL), SF_OK);
    test_assert_fails(open_at(&source, it.publisher.address, PATIENCE_MS, NULL, &error), &error, SF_DATA,
                      "version 7 of the protocol, this program version 1");
    stop_hello(&it);
    it.stop = false;
    it.frame.data[0] = 'X';
    assert_int_equal(sf_thread_start(&it.thread, "hello", repeat_hello, &it, NULL), SF_OK);
    test_assert_fails(open_at(&source, it.publisher.address, 1500, NULL, &error), &error, SF_DATA,
                      "no stream of synfire");
    stop_hello(&it);
    close_bench(&it);
    assert_null(source);
    test_assert_fails(open_at(&source, "nonsense", 100, NULL, &error), &error, SF_CONFIG, "tcp://HOST:PORT");
}

static bool stop_at_once(void *user, const char *what, double done, double total)
{
    (void)user, (void)what, (void)done, (void)total;
    return false;
}

static void a_wait_can_be_stopped(void **state)
{
    (void)state;
    sf_source *source;
    const sf_progress progress = {.update = stop_at_once};
    assert_int_equal(open_at(&source, "ipc:///tmp/synfire-test-nobody", -1, &progress, NULL), SF_CANCELLED);
    assert_null(source);
}

static void a_taken_port_is_told(void **state)
{
    (void)state;
    sf_recording nothing = {0};
    sf_sender_settings settings = {.protocol = sf_protocol_synfire.sender, .endpoint = any_port, .name = ""};
    sf_sender *first, *second;
    sf_error error;
    assert_int_equal(sf_sender_open(&first, &settings, &nothing, &error), SF_OK);
    settings.endpoint = first->sending->address;
    test_assert_fails(sf_sender_open(&second, &settings, &nothing, &error), &error, SF_UNAVAILABLE, "in use");
    assert_null(second);
    settings.endpoint = "tcp://here";
    test_assert_fails(sf_sender_open(&second, &settings, &nothing, &error), &error, SF_USAGE,
                      "tcp://ADDRESS:PORT");
    sf_sender_close(first, 0);
    sf_sender_close(NULL, 0);
}

/* ---- allocation failures ---- */

static int open_and_read(void *context)
{
    sf_source *source;
    int status = open_at(&source, context, PATIENCE_MS, NULL, NULL);
    if (status != SF_OK) return status;
    sf_batch batch;
    int result = source->kind->read(source, &batch, PATIENCE_MS, NULL);
    source->kind->close(source);
    return result < 0 ? result : SF_OK;
}

static int send_little(void *context)
{
    sf_sender_settings settings = {
        .protocol = sf_protocol_synfire.sender, .endpoint = any_port, .name = "small"};
    sf_sender *sender;
    int status = sf_sender_open(&sender, &settings, context, NULL);
    const sf_spike spike = {.time_ns = 1};
    if (status == SF_OK)
        status = sf_sender_send(sender, &(sf_batch){.spikes = &spike, .spike_count = 1, .clock_ns = 1}, NULL);
    if (status == SF_OK) status = sf_sender_end(sender, NULL);
    sf_sender_close(sender, 0);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    bench it;
    start_bench(&it);
    test_fail_every_allocation(open_and_read, it.publisher.address);
    test_fail_every_allocation(send_little, &it.table);
    stop_hello(&it);
    close_bench(&it);
}

/* ---- the other protocol ---- */

/* Receives one message of up to three frames; returns their number. */
static int receive_frames(void *socket, char frames[3][4096], size_t sizes[3])
{
    int count = 0, more = 1;
    while (more && count < 3) {
        int size = zmq_recv(socket, frames[count], 4095, 0);
        assert_in_range(size, 0, 4095);
        frames[count][size] = '\0';
        sizes[count++] = (size_t)size;
        size_t length = sizeof more;
        zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &length);
    }
    return count;
}

static void open_ephys_messages_are_as_the_plugin_sends_them(void **state)
{
    (void)state;
    sf_recording about = {.recorded = {0, SF_SECOND}};
    assert_int_equal(sf_units_add(&about.units, &(sf_unit){.name = (char[]){"Electrode \"1\""}}, NULL),
                     SF_OK);
    sf_sender_settings settings = {
        .protocol = sf_protocol_open_ephys.sender, .endpoint = any_port, .name = "Rhythm Data"};
    sf_sender *sender;
    assert_int_equal(sf_sender_open(&sender, &settings, &about, NULL), SF_OK);
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_SUB);
    int patience = PATIENCE_MS;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    assert_int_equal(zmq_connect(socket, sender->sending->address), 0);
    while (sf_sender_subscribers(sender) < 1)
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);

    const sf_spike spikes[] = {{.time_ns = 100000000, .amplitude = -80},
                               {.time_ns = -33333, .amplitude = NAN}};
    const sf_marker markers[] = {{.time_ns = 200000000, .kind = SF_MARKER_TTL, .line = 5, .state = 1},
                                 {.time_ns = 300000000, .kind = SF_MARKER_TEXT, .text = "not sent"}};
    sf_batch batch = {
        .spikes = spikes, .spike_count = 1, .markers = markers, .marker_count = 2, .clock_ns = 1};
    assert_int_equal(sf_sender_send(sender, &batch, NULL), SF_OK);
    batch = (sf_batch){.spikes = spikes + 1, .spike_count = 1, .clock_ns = 2};
    assert_int_equal(sf_sender_send(sender, &batch, NULL), SF_OK);
    assert_int_equal(sf_sender_end(sender, NULL), SF_OK);

    static const char *const types[] = {"data", "spike", "event", "spike"};
    static const json_int_t samples[] = {0, 3000, 6000, -1};
    for (int i = 0; i < 4; i++) {
        char frames[3][4096];
        size_t sizes[3];
        assert_int_equal(receive_frames(socket, frames, sizes), 3);
        assert_int_equal(sizes[0], i == 0 ? 5 : 6);
        assert_memory_equal(frames[0], i == 0 ? "DATA" : "EVENT", sizes[0]); /* with the NUL */
        json_t *header = json_loadb(frames[1], sizes[1], 0, NULL);
        assert_non_null(header);
        assert_int_equal(json_integer_value(json_object_get(header, "message_num")), i + 1);
        assert_string_equal(json_string_value(json_object_get(header, "type")), types[i]);
        assert_true(json_integer_value(json_object_get(header, "timestamp")) > INT64_C(1600000000000));
        bool is_spike = i % 2 == 1;
        json_t *content = json_object_get(header, is_spike ? "spike" : "content");
        assert_string_equal(json_string_value(json_object_get(content, "stream")), "Rhythm Data");
        assert_int_equal(json_integer_value(json_object_get(content, "sample_num")), samples[i]);
        if (is_spike) {
            float waveform[40];
            assert_null(json_object_get(header, "data_size"));
            assert_int_equal(sizes[2], sizeof waveform);
            memcpy(waveform, frames[2], sizeof waveform);
            assert_true(fabsf(waveform[8] - (i == 1 ? -80.0f : -50.0f)) < 2);
            assert_string_equal(json_string_value(json_object_get(content, "electrode")), "Electrode \"1\"");
            assert_int_equal(json_integer_value(json_object_get(content, "num_channels")), 1);
            assert_int_equal(json_integer_value(json_object_get(content, "num_samples")), 40);
            assert_int_equal(json_array_size(json_object_get(content, "threshold")), 1);
        } else {
            assert_int_equal(json_integer_value(json_object_get(header, "data_size")), sizes[2]);
        }
        if (i == 0) assert_true(json_number_value(json_object_get(content, "sample_rate")) == 30000);
        if (i == 2) {
            static const char payload[10] = {5, 1, 32};
            assert_int_equal(json_integer_value(json_object_get(content, "type")), 3);
            assert_memory_equal(frames[2], payload, 10);
        }
        json_decref(header);
    }
    zmq_close(socket);
    zmq_ctx_term(context);
    sf_sender_close(sender, 0);
    sf_units_free(&about.units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_played_recording_arrives_whole),
        cmocka_unit_test(a_sender_waits_for_a_slow_receiver),
        cmocka_unit_test(gaps_are_counted),
        cmocka_unit_test(every_fault_is_counted_and_told_of),
        cmocka_unit_test(a_foreign_message_repeats_nothing),
        cmocka_unit_test(a_restart_is_a_new_run_and_no_gap),
        cmocka_unit_test(only_streams_of_this_version_are_opened),
        cmocka_unit_test(a_wait_can_be_stopped),
        cmocka_unit_test(a_taken_port_is_told),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(open_ephys_messages_are_as_the_plugin_sends_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
