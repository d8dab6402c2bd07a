/* SPDX-License-Identifier: Apache-2.0 */
/* The round trip of a rig: of one whose delays are known to the nanosecond, and through a serial line and a
 * stream. */
#include "support/runs.h"

#include "core/clock.h"
#include "ingest/protocol.h"
#include "ingest/sender.h"
#include "tools/loop.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#define NEVER INT64_MAX

/* ---- a rig whose delays are known, and whose clock is that of the test ---- */

typedef struct rig {
    sf_source source; /* first */
    int64_t now_ns;
    const int64_t *delays_ns; /* of each pulse; NEVER: lost */
    size_t count, sent;
    int64_t due_ns; /* NEVER: nothing is on its way */
    int64_t sent_ns[512];
    uint64_t failing; /* the number of a pulse that cannot be sent */
    bool told;
    sf_marker edges[3];
} rig;

static int64_t rig_now(void *user)
{
    return ((rig *)user)->now_ns;
}

static void rig_trigger(void *self, const sf_message *trigger)
{
    rig *it = self;
    assert_true(trigger->trigger.is_named);
    assert_string_equal(trigger->trigger.name, "pulse");
    assert_int_equal(trigger->trigger.decided_ns, it->now_ns);
    it->told = trigger->seq != it->failing;
    it->sent_ns[it->sent] = it->now_ns;
    int64_t delay_ns = it->delays_ns[it->sent++ % it->count];
    it->due_ns = delay_ns == NEVER ? NEVER : it->now_ns + delay_ns;
}

static bool rig_delivered(void *self, sf_delivered *next)
{
    rig *it = self;
    if (it->told) return false;
    it->told = true;
    *next = (sf_delivered){.trigger_seq = it->failing, .outcome = "failed"};
    return true;
}

/* Beside the edge that answers there are its falling one and one of another line. */
static int rig_read(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error)
{
    (void)error;
    rig *it = (rig *)source;
    int64_t until_ns = it->now_ns + timeout_ms * SF_MILLISECOND;
    if (it->due_ns > until_ns) {
        it->now_ns = until_ns;
        return SF_READ_NOTHING;
    }
    it->now_ns = it->due_ns > it->now_ns ? it->due_ns : it->now_ns;
    it->edges[0] = (sf_marker){.kind = SF_MARKER_TTL, .line = 2, .state = 1};
    it->edges[1] = (sf_marker){.kind = SF_MARKER_TTL, .line = 3, .state = 1};
    it->edges[2] = (sf_marker){.kind = SF_MARKER_TTL, .line = 3, .state = 0};
    *batch = (sf_batch){.markers = it->edges, .marker_count = 3, .arrival_ns = it->due_ns};
    it->due_ns = NEVER;
    return SF_READ_BATCH;
}

static sf_run_trips measure(rig *it, uint32_t pulses, int64_t wait_ns, double *room)
{
    static const sf_source_kind kind = {.read = rig_read};
    static const sf_outlet_kind outlet = {.trigger = rig_trigger, .delivered = rig_delivered};
    sf_run_trips trips = {.ms = room};
    sf_error error = {0};
    it->source.kind = &kind;
    it->now_ns = 5000;
    it->due_ns = NEVER;
    it->told = true;
    const sf_loop_setup setup = {.source = &it->source,
                                 .outlet = {&outlet, it},
                                 .trigger = "pulse",
                                 .marker = "ttl3",
                                 .pulses = pulses,
                                 .apart_ns = 20 * SF_MILLISECOND,
                                 .wait_ns = wait_ns,
                                 .now_ns = rig_now,
                                 .user = it};
    assert_int_equal(sf_loop_run(&trips, &setup, &error), SF_OK);
    assert_int_equal(trips.pulses, pulses);
    assert_int_equal(trips.answered + trips.lost + trips.failed, pulses);
    return trips;
}

static void known_delays_come_out(void **state)
{
    (void)state;
    int64_t delays_ns[400];
    double room[400];
    for (int i = 0; i < 400; i++) /* 7.3 to 11.29 ms, in no order */
        delays_ns[i] = 7300000 + i * 7 % 400 * 10000;
    rig it = {.delays_ns = delays_ns, .count = 400};
    sf_run_trips trips = measure(&it, 400, 100 * SF_MILLISECOND, room);
    assert_int_equal(trips.answered, 400);
    assert_int_equal(trips.unexpected, 0);
    for (int i = 0; i < 400; i++)
        assert_true(fabs(trips.ms[i] - (7.3 + i * 0.01)) < 1e-9);
    assert_true(fabs(trips.median_ms - 9.295) < 1e-9);
    assert_true(fabs(trips.p99_ms - 11.25) < 1e-9);
    assert_true(fabs(trips.most_ms - 11.29) < 1e-9);
}

/* So that pulses fall anywhere in blocks of a fixed length. */
static void pulses_are_at_random_distances(void **state)
{
    (void)state;
    static const int64_t delay_ns[] = {1000000};
    double room[300];
    rig it = {.delays_ns = delay_ns, .count = 1};
    measure(&it, 300, 100 * SF_MILLISECOND, room);
    int tenths[10] = {0};
    for (int i = 1; i < 300; i++) {
        int64_t apart_ns = it.sent_ns[i] - it.sent_ns[i - 1] - delay_ns[0];
        assert_in_range(apart_ns, 10 * SF_MILLISECOND, 35 * SF_MILLISECOND);
        tenths[it.sent_ns[i] % (10 * SF_MILLISECOND) / SF_MILLISECOND]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(tenths[i], 10, 60);
}

static void what_is_lost_late_or_not_sent_is_told_apart(void **state)
{
    (void)state;
    static const int64_t delays_ns[] = {5000000, NEVER, 33000000, 30000000};
    double room[8];
    rig it = {.delays_ns = delays_ns, .count = 4, .failing = 6};
    sf_run_trips trips = measure(&it, 8, 30 * SF_MILLISECOND, room);
    assert_int_equal(trips.answered, 4); /* 5 and 30 ms, twice */
    assert_int_equal(trips.failed, 1);   /* the second of those that never come */
    assert_int_equal(trips.lost, 3);
    assert_int_equal(trips.unexpected, 2); /* those of 33 ms, while nothing was under way */
    assert_true(trips.most_ms == 30 && trips.ms[0] == 5);
}

/* ---- through a serial line and a stream of synfire's own ---- */

typedef struct echo {
    int line; /* our end of the terminal */
    int64_t delay_ns;
    atomic_bool stopping;
    sf_sender *sender;
    int64_t own_ns[64]; /* what the echo itself took, from a byte read to its edge handed over */
    size_t count;
} echo;

static void send_edge(echo *it, uint8_t level, sf_error *error)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    const sf_marker edge = {.time_ns = now_ns, .kind = SF_MARKER_TTL, .state = level};
    const sf_batch batch = {.markers = &edge, .marker_count = 1, .clock_ns = now_ns};
    assert_int_equal(sf_sender_send(it->sender, &batch, error), SF_OK);
}

static void *run_echo(void *argument)
{
    echo *it = argument;
    sf_error error;
    while (!atomic_load(&it->stopping)) {
        struct pollfd line = {.fd = it->line, .events = POLLIN};
        unsigned char byte;
        if (poll(&line, 1, 5) <= 0 || read(it->line, &byte, 1) != 1) {
            const sf_batch clock = {.clock_ns = sf_clock_monotonic_ns()};
            assert_int_equal(sf_sender_send(it->sender, &clock, &error), SF_OK);
            continue;
        }
        int64_t came_ns = sf_clock_monotonic_ns();
        if (byte != 1) continue;
        sf_clock_sleep_until(came_ns + it->delay_ns);
        int64_t goes_ns = sf_clock_monotonic_ns();
        send_edge(it, 1, &error);
        send_edge(it, 0, &error);
        assert_true(it->count < 64);
        it->own_ns[it->count++] = goes_ns - came_ns;
    }
    return NULL;
}

static int open_line(char *path)
{
    int ours, theirs;
    struct termios raw;
    assert_int_equal(openpty(&ours, &theirs, path, NULL, NULL), 0);
    tcgetattr(theirs, &raw);
    cfmakeraw(&raw);
    tcsetattr(theirs, TCSANOW, &raw);
    return ours; /* the other end stays open, as a board stays plugged in */
}

static int ascending(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

/* How long the ways took depends on the machine; that none came sooner than its echo does not, and the nth
 * fastest of all is no faster than the nth fastest echo. */
static void a_rig_that_echoes(void **state)
{
    (void)state;
    char path[64], yaml[512];
    sf_recording units = {.units = {0}};
    sf_error error = {0};
    const sf_sender_settings settings = {
        .protocol = sf_protocol_synfire.sender, .endpoint = "tcp://127.0.0.1:0", .name = "echo"};
    echo it = {.line = open_line(path), .delay_ns = 3 * SF_MILLISECOND};
    assert_int_equal(sf_sender_open(&it.sender, &settings, &units, &error), SF_OK);
    snprintf(yaml, sizeof yaml,
             "sources: [{type: zmq, endpoint: '%s', timeout_s: 60}]\n"
             "sinks: [{type: hdf5, path: never.h5}, {type: serial, path: %s, pulse_ms: 0}]\n",
             it.sender->sending->address, path);
    sf_config config = test_config(yaml);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_echo, &it), 0);
    sf_run_trips trips;
    const sf_run_loop_options options = {.config = &config,
                                         .sink = UINT32_MAX,
                                         .marker = "ttl0",
                                         .pulses = 40,
                                         .apart_ms = 4,
                                         .wait_ms = 60000};
    assert_int_equal(sf_run_loop(&trips, &options, &error), SF_OK);
    atomic_store(&it.stopping, true);
    pthread_join(thread, NULL);
    assert_int_equal(trips.answered, 40);
    assert_int_equal(trips.unexpected, 0);
    assert_int_equal(it.count, 40);
    qsort(it.own_ns, it.count, sizeof *it.own_ns, ascending);
    for (size_t i = 0; i < it.count; i++)
        assert_true(trips.ms[i] >= (double)it.own_ns[i] * 1e-6);
    printf("echo after %.3f ms, round trip %.3f ms (medians)\n", (double)it.own_ns[20] * 1e-6,
           trips.median_ms);
    sf_sender_close(it.sender, 0);
    sf_run_trips_free(&trips);
    sf_config_free(&config);
    close(it.line);
}

static void what_cannot_be_measured_is_refused(void **state)
{
    (void)state;
    sf_run_trips trips;
    sf_error error = {0};
    sf_config config = test_config("sources: [{type: zmq}]\nsinks: [{type: jsonl, path: x}]\n");
    sf_run_loop_options options = {.config = &config, .sink = UINT32_MAX, .marker = "ttl0", .pulses = 1};
    test_assert_fails(sf_run_loop(&trips, &options, &error), &error, SF_USAGE, "no sink sends triggers");
    options.sink = 0;
    test_assert_fails(sf_run_loop(&trips, &options, &error), &error, SF_USAGE,
                      "sink 0 (jsonl) sends no triggers");
    options.sink = 7;
    test_assert_fails(sf_run_loop(&trips, &options, &error), &error, SF_USAGE, "there is no sink 7");
    sf_config_free(&config);
    config = test_config("sinks: [{type: serial, path: /dev/null}]\n");
    options = (sf_run_loop_options){.config = &config, .marker = "ttl0", .pulses = 1};
    test_assert_fails(sf_run_loop(&trips, &options, &error), &error, SF_USAGE, "there is no source 0");
    sf_run_trips_free(&trips);
    sf_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_delays_come_out),
        cmocka_unit_test(pulses_are_at_random_distances),
        cmocka_unit_test(what_is_lost_late_or_not_sent_is_told_apart),
        cmocka_unit_test(a_rig_that_echoes),
        cmocka_unit_test(what_cannot_be_measured_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
