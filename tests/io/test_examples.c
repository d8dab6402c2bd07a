/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of examples/ run as people would run them, against sinks of this test. */
#include "sinks/sink.h"
#include "support/sinks.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct program {
    pid_t process;
    FILE *output; /* standard output and standard error */
} program;

/* Starts examples/NAME with these arguments (NULL ends them). */
static program start(const char *name, const char *const arguments[4])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[1024];
    snprintf(path, sizeof path, "%s/examples/%s", SYNFIRE_SOURCE, name);
    const char *python = getenv("SYNFIRE_PYTHON");
    program started = {.process = fork()};
    if (started.process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp(python, python, path, arguments[0], arguments[1], arguments[2], arguments[3], (char *)NULL);
        _exit(127);
    }
    assert_true(started.process > 0);
    close(ends[1]);
    started.output = fdopen(ends[0], "r");
    return started;
}

static void expect_line(program *from, const char *expected)
{
    char line[512];
    if (fgets(line, sizeof line, from->output) == NULL)
        fail_msg("no line where \"%s\" was expected", expected);
    line[strcspn(line, "\n")] = '\0';
    assert_string_equal(line, expected);
}

static void expect_end(program *from)
{
    char rest[4096];
    size_t length = fread(rest, 1, sizeof rest - 1, from->output);
    rest[length] = '\0';
    assert_string_equal(rest, "");
    fclose(from->output);
    int status;
    assert_int_equal(waitpid(from->process, &status, 0), from->process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool has_python(void)
{
    const char *python = getenv("SYNFIRE_PYTHON");
    if (python != NULL && python[0] != '\0') return true;
    printf("skipped: no python3 with the modules h5py, msgpack and zmq\n");
    return false;
}

/* ---- messages ---- */

static sf_units units;
static const sf_stream_info stream = {.name = "test", .units = &units};

static int make_units(void **state)
{
    (void)state;
    static char *const names[] = {"A", "B", "C"};
    for (size_t i = 0; i < 3; i++)
        if (sf_units_add(&units, &(sf_unit){.name = names[i], .electrode = -1}, NULL) != SF_OK) return -1;
    return sf_units_finish(&units, NULL);
}

static int free_units(void **state)
{
    (void)state;
    sf_units_free(&units);
    return 0;
}

static void set_count(sf_episode_count *item, const char *text, uint64_t count, double expected)
{
    assert_int_equal(sf_episode_parse(&item->episode, text, &units, NULL), SF_OK);
    snprintf(item->id, sizeof item->id, "%016llx", (unsigned long long)count);
    item->count = count;
    item->expected = expected;
    item->p = item->q = item->p_age_s = NAN;
    item->not_tested = "bursts too sharp";
}

static sf_message *make_window(uint64_t seq)
{
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    sf_episodes_message *episodes = &message->episodes;
    message->seq = seq;
    episodes->hop = seq - 1;
    episodes->window = (sf_span){(int64_t)seq * SF_SECOND, (int64_t)(seq + 10) * SF_SECOND};
    episodes->partial = seq == 1;
    episodes->spikes = 1000;
    episodes->count = 3;
    episodes->items = sf_alloc(3, sizeof *episodes->items);
    set_count(&episodes->items[0], "A -(0.5,5]-> B", 30, 28.25);
    set_count(&episodes->items[1], "A -(4,6]-> B -(5,10]-> C", 12, NAN);
    set_count(&episodes->items[2], "C -(0.5,5]-> A", 7, 1);
    episodes->items[0].q = episodes->items[2].q = 0.0125;
    episodes->items[0].not_tested = episodes->items[2].not_tested = NULL;
    return message;
}

static void publish(sf_sink *sink, sf_message *message)
{
    sf_sink_publish(sink, message);
    sf_message_release(message);
}

static void publish_trigger(sf_sink *sink, uint64_t seq)
{
    sf_message trigger = {.topic = SF_TOPIC_TRIGGER, .seq = seq, .time_ns = INT64_C(2000123456)};
    trigger.trigger.size = 2;
    trigger.trigger.p = trigger.trigger.q = NAN;
    trigger.trigger.occurrence = 5;
    snprintf(trigger.trigger.id, sizeof trigger.trigger.id, "%016x", 7);
    sf_sink_trigger(sink, &trigger);
}

/* Triggers overtake windows; where the order is to be known, wait. */
static void settle(sf_sink *sink, uint64_t published)
{
    sf_sink_status status;
    do
        sf_sink_status_get(sink, &status);
    while (status.published < published);
}

static sf_sink *open_sink(const char *type, const char *endpoint, sf_sink_encoding encoding)
{
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.type = type;
    settings.endpoint = endpoint;
    settings.encoding = encoding;
    settings.policy = SF_RING_BLOCK;
    settings.wait_subscribers = 1;
    sf_sink *sink;
    sf_error error;
    if (test_sink_open(&sink, &settings, &stream, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return sink;
}

static void wait_ready(sf_sink *sink)
{
    while (!sf_sink_ready(sink))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
}

static void the_subscriber_prints_what_it_gets(void **state)
{
    (void)state;
    if (!has_python()) skip();
    for (int json = 0; json < 2; json++) {
        sf_sink *sink = open_sink("zmq", "tcp://127.0.0.1:*", json ? SF_ENCODE_JSON : SF_ENCODE_MSGPACK);
        const char *const arguments[4] = {sf_sink_address(sink), "--top", "2", NULL};
        program subscriber = start("subscriber.py", arguments);
        wait_ready(sink);
        publish(sink, make_window(1));
        settle(sink, 1);
        publish_trigger(sink, 1);
        settle(sink, 2);
        publish(sink, make_window(4));
        sf_message *status = sf_message_new(SF_TOPIC_STATUS);
        status->seq = 1;
        status->status.source_count = 1;
        status->status.sources = sf_alloc(1, sizeof(sf_source_status));
        status->status.sources[0].late = 2;
        status->status.sources[0].dropped = 3;
        strcpy(status->status.sources[0].name, "tcp://rig");
        status->status.sources[0].state = SF_SOURCE_STALLED;
        status->status.sources[0].silent_ns = INT64_C(3000000000);
        status->status.last = true;
        publish(sink, status);
        expect_line(&subscriber, "window 1.000-11.000 s, partial: 1000 spikes, 3 episodes");
        expect_line(&subscriber, "      12  A -(4,6]-> B -(5,10]-> C  no q: bursts too sharp");
        expect_line(&subscriber, "       7 (1.0 expected)  C -(0.5,5]-> A  q 0.013");
        expect_line(&subscriber, "trigger 2.000123 s: C -(0.5,5]-> A, number 5");
        expect_line(&subscriber, "missed 2 messages of topic episodes: this program is too slow");
        expect_line(&subscriber, "window 4.000-14.000 s: 1000 spikes, 3 episodes");
        expect_line(&subscriber, "      12  A -(4,6]-> B -(5,10]-> C  no q: bursts too sharp");
        expect_line(&subscriber, "       7 (1.0 expected)  C -(0.5,5]-> A  q 0.013");
        expect_line(&subscriber, "source tcp://rig is stalled, nothing for 3 s");
        expect_line(&subscriber, "the run lost 5 more spikes or packets at its sources");
        expect_line(&subscriber, "the run has ended");
        expect_end(&subscriber);
        assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    }
}

static void the_subscriber_stops_after_its_count(void **state)
{
    (void)state;
    if (!has_python()) skip();
    sf_sink *sink = open_sink("zmq", "tcp://127.0.0.1:*", SF_ENCODE_MSGPACK);
    const char *const arguments[4] = {sf_sink_address(sink), "--count=2", "--top=0", NULL};
    program subscriber = start("subscriber.py", arguments);
    wait_ready(sink);
    for (uint64_t seq = 1; seq <= 5; seq++)
        publish(sink, make_window(seq));
    expect_line(&subscriber, "window 1.000-11.000 s, partial: 1000 spikes, 3 episodes");
    expect_line(&subscriber, "window 2.000-12.000 s: 1000 spikes, 3 episodes");
    expect_end(&subscriber);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
}

static void the_osc_receiver_prints_what_it_gets(void **state)
{
    (void)state;
    if (!has_python()) skip();
    const char *const arguments[4] = {"127.0.0.1:0", "--top=2", "--count=13", NULL};
    program receiver = start("osc_receiver.py", arguments);
    char line[128], address[64];
    assert_non_null(fgets(line, sizeof line, receiver.output));
    assert_int_equal(sscanf(line, "listening on %63s", address), 1);
    sf_sink *sink = open_sink("osc", address, SF_ENCODE_MSGPACK);
    publish(sink, make_window(1));
    settle(sink, 1);
    publish_trigger(sink, 1);
    settle(sink, 2);
    publish(sink, make_window(4));
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    expect_line(&receiver, "window 1.000000-11.000000 s (hop 0)");
    expect_line(&receiver, "trigger 2.000123 s: episode 0000000000000007");
    expect_line(&receiver, "      30  episode 000000000000001e  q 0.013");
    expect_line(&receiver, "      12  episode 000000000000000c");
    expect_line(&receiver, "missed 2 windows: UDP may lose packets");
    expect_line(&receiver, "window 4.000000-14.000000 s (hop 3)");
    expect_line(&receiver, "      30  episode 000000000000001e  q 0.013");
    expect_line(&receiver, "      12  episode 000000000000000c");
    expect_end(&receiver);
}

int main(void)
{
    alarm(120); /* a program that does not start never subscribes */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_subscriber_prints_what_it_gets),
        cmocka_unit_test(the_subscriber_stops_after_its_count),
        cmocka_unit_test(the_osc_receiver_prints_what_it_gets),
    };
    return cmocka_run_group_tests(tests, make_units, free_units);
}
