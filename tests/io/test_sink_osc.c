/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/sink.h"
#include "support/messages.h"
#include "support/sinks.h"

#include "core/clock.h"
#include "core/memory.h"

#include <lo/lo.h>
#include <math.h>

/* ---- a receiver that keeps what arrives as text ---- */

typedef struct receiver {
    lo_server server;
    char endpoint[64];
    size_t count;
    char lines[400][1200];
} receiver;

/* "/address ,types value value ..." with floats exact. */
static int keep(const char *path, const char *types, lo_arg **values, int count, lo_message message,
                void *user)
{
    (void)message;
    receiver *to = user;
    assert_true(to->count < sizeof to->lines / sizeof to->lines[0]);
    char *line = to->lines[to->count++];
    size_t room = sizeof to->lines[0], used = (size_t)snprintf(line, room, "%s ,%s", path, types);
    for (int i = 0; i < count; i++) {
        const char *value = (const char *)values[i]; /* four-byte aligned, which a lo_arg is not */
        int32_t whole;
        float real;
        memcpy(&whole, value, sizeof whole);
        memcpy(&real, value, sizeof real);
        if (types[i] == 'i')
            used += (size_t)snprintf(line + used, room - used, " %d", whole);
        else if (types[i] == 'f')
            used += (size_t)snprintf(line + used, room - used, " %.9g", (double)real);
        else
            used += (size_t)snprintf(line + used, room - used, " %s", value);
    }
    return 0;
}

static receiver *open_receiver(void)
{
    receiver *to = calloc(1, sizeof *to);
    to->server = lo_server_new(NULL, NULL);
    assert_non_null(to->server);
    lo_server_add_method(to->server, NULL, NULL, keep, to);
    snprintf(to->endpoint, sizeof to->endpoint, "127.0.0.1:%d", lo_server_get_port(to->server));
    return to;
}

static void receive(receiver *from, size_t count)
{
    while (from->count < count)
        assert_true(lo_server_recv_noblock(from->server, 30000) > 0);
}

static void close_receiver(receiver *to)
{
    lo_server_free(to->server);
    free(to);
}

static int open_osc(sf_sink **sink, const char *endpoint, sf_error *error)
{
    static const sf_units none;
    static const sf_stream_info stream = {.name = "s", .units = &none};
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.type = "osc";
    settings.endpoint = endpoint;
    return test_sink_open(sink, &settings, &stream, NULL, error);
}

static void publish(sf_sink *sink, sf_message *message)
{
    sf_sink_publish(sink, message);
    sf_message_release(message);
}

/* Publishes one message to a fresh receiver and returns it with `lines` lines; close with close_receiver. */
static receiver *send_one(sf_message *message, size_t lines)
{
    receiver *to = open_receiver();
    sf_sink *sink;
    assert_int_equal(open_osc(&sink, to->endpoint, NULL), SF_OK);
    if (message->topic == SF_TOPIC_TRIGGER) {
        sf_sink_trigger(sink, message);
        sf_message_release(message);
    } else {
        publish(sink, message);
    }
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    receive(to, lines);
    return to;
}

static void counts_follow_their_window(void **state)
{
    (void)state;
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    message->episodes.hop = 12;
    message->episodes.window = (sf_span){INT64_C(3600022000999), INT64_C(-1500000001)};
    message->episodes.count = 3;
    message->episodes.items = sf_alloc(3, sizeof *message->episodes.items);
    for (int i = 0; i < 3; i++)
        snprintf(message->episodes.items[i].id, SF_EPISODE_ID_SIZE, "%016x", i);
    message->episodes.items[0].count = 7;
    message->episodes.items[0].p = 0.25;
    message->episodes.items[0].q = 0.5;
    message->episodes.items[0].p_age_s = 1.5;
    message->episodes.items[1].q = message->episodes.items[2].q = NAN;
    message->episodes.rule_count = 3; /* of a partial window, as before, changed */
    message->episodes.rules = sf_alloc(3, sizeof *message->episodes.rules);
    message->episodes.rules[0] = (sf_prediction){.rule = "a", .count = 4};
    message->episodes.rules[1] = (sf_prediction){.rule = "b", .count = 5, .label = "on"};
    message->episodes.rules[2] =
        (sf_prediction){.rule = "c", .count = 6, .label = "on", .changed = true, .before = "off"};
    message->episodes.items[1].count = UINT64_C(1) << 40;
    message->episodes.items[1].p = NAN;
    receiver *to = send_one(message, 8);
    assert_string_equal(to->lines[0], "/synfire/window ,iiiii 12 3600 22000 -2 499999");
    assert_string_equal(to->lines[1], "/synfire/episode/count ,sif 0000000000000000 7 0.25");
    assert_string_equal(to->lines[2], "/synfire/episode/significance ,sfff 0000000000000000 0.25 0.5 1.5");
    assert_string_equal(to->lines[3], "/synfire/episode/count ,sif 0000000000000001 2147483647 -1");
    assert_string_equal(to->lines[4], "/synfire/episode/count ,sif 0000000000000002 0 0");
    assert_string_equal(to->lines[5], "/synfire/rule ,ssi b on 5");
    assert_string_equal(to->lines[6], "/synfire/rule ,ssi c on 6");
    assert_string_equal(to->lines[7], "/synfire/rule/change ,sss c on off");
    close_receiver(to);
}

static void triggers_carry_the_stream_time(void **state)
{
    (void)state;
    sf_message *message = sf_message_new(SF_TOPIC_TRIGGER);
    message->time_ns = INT64_C(7191554800123);
    strcpy(message->trigger.id, "00ff00ff00ff00ff");
    message->trigger.p = 0.25;
    message->trigger.q = 0.5;
    message->trigger.p_age_s = 1.5;
    receiver *to = send_one(message, 2);
    assert_string_equal(to->lines[0], "/synfire/trigger ,sii 00ff00ff00ff00ff 7191 554800");
    assert_string_equal(to->lines[1], "/synfire/trigger/significance ,sfff 00ff00ff00ff00ff 0.25 0.5 1.5");
    close_receiver(to);
}

static void sends_to_the_address_of(const char *name)
{
    char address[64 + SF_TRIGGER_NAME_SIZE];
    sf_message *message = sf_message_new(SF_TOPIC_TRIGGER);
    message->time_ns = INT64_C(7191554800123);
    strcpy(message->trigger.name, name);
    message->trigger.is_named = true;
    message->trigger.expires_ns = INT64_MAX;
    message->trigger.occurrence = 17;
    message->trigger.p = message->trigger.q = NAN;
    receiver *to = send_one(message, 2);
    snprintf(address, sizeof address, "/synfire/fire/%s ,iii 7191 554800 17", name);
    assert_string_equal(to->lines[0], address);
    assert_string_equal(to->lines[1], "/synfire/trigger ,sii  7191 554800");
    close_receiver(to);
}

/* Receivers dispatch by address, so none is cut: two long names that differ at their ends stay two. */
static void a_trigger_with_a_name_has_an_address(void **state)
{
    (void)state;
    char name[SF_TRIGGER_NAME_SIZE];
    sends_to_the_address_of("reward-2");
    for (size_t length = 1; length < sizeof name; length++) { /* OSC pads texts to four bytes */
        memset(name, 'n', length);
        name[length - 1] = (char)('0' + length % 10);
        name[length] = '\0';
        sends_to_the_address_of(name);
    }
}

static void rates_come_unit_by_unit(void **state)
{
    (void)state;
    sf_message *message = sf_message_new(SF_TOPIC_STATUS);
    message->status.unit_count = 3;
    message->status.unit_rates_hz = sf_alloc(3, sizeof(double));
    message->status.unit_rates_hz[1] = 12.5;
    message->status.unit_rates_hz[2] = NAN;
    receiver *to = send_one(message, 3);
    assert_string_equal(to->lines[0], "/synfire/rate ,if 0 0");
    assert_string_equal(to->lines[1], "/synfire/rate ,if 1 12.5");
    assert_string_equal(to->lines[2], "/synfire/rate ,if 2 -1");
    close_receiver(to);
}

/* They go out in parts, between which triggers may. */
static void many_rates_and_counts_come_once_each(void **state)
{
    (void)state;
    sf_message *message = sf_message_new(SF_TOPIC_STATUS);
    message->status.unit_count = 200;
    message->status.unit_rates_hz = sf_alloc(200, sizeof(double));
    receiver *to = send_one(message, 200);
    char line[64];
    for (int i = 0; i < 200; i++) {
        snprintf(line, sizeof line, "/synfire/rate ,if %d 0", i);
        assert_string_equal(to->lines[i], line);
    }
    close_receiver(to);
    message = sf_message_new(SF_TOPIC_EPISODES);
    message->episodes.count = 128;
    message->episodes.items = sf_alloc(128, sizeof *message->episodes.items);
    for (uint64_t i = 0; i < 128; i++)
        message->episodes.items[i] = (sf_episode_count){.count = i, .p = NAN, .q = NAN};
    message->episodes.rule_count = 1;
    message->episodes.rules = sf_alloc(1, sizeof *message->episodes.rules);
    message->episodes.rules[0] = (sf_prediction){.rule = "b", .count = 5, .label = "on"};
    to = send_one(message, 130);
    assert_string_equal(to->lines[0], "/synfire/window ,iiiii 0 0 0 0 0");
    for (int i = 0; i < 128; i++) {
        snprintf(line, sizeof line, "/synfire/episode/count ,sif  %d -1", i);
        assert_string_equal(to->lines[1 + i], line);
    }
    assert_string_equal(to->lines[129], "/synfire/rule ,ssi b on 5");
    close_receiver(to);
}

static void sources_say_how_they_are(void **state)
{
    (void)state;
    sf_message *message = sf_message_new(SF_TOPIC_STATUS);
    message->status.source_count = 2;
    message->status.sources = sf_alloc(2, sizeof *message->status.sources);
    message->status.sources[0] =
        (sf_source_status){.name = "a.h5", .state = SF_SOURCE_LIVE, .behind_ns = INT64_C(250000000)};
    message->status.sources[1] = (sf_source_status){.name = "tcp://127.0.0.1:7700",
                                                    .state = SF_SOURCE_LOST,
                                                    .silent_ns = INT64_C(12900000000),
                                                    .behind_ns = -1};
    message->status.unit_count = 1;
    message->status.unit_rates_hz = sf_alloc(1, sizeof(double));
    receiver *to = send_one(message, 4);
    assert_string_equal(to->lines[0], "/synfire/source ,ssi a.h5 live 0");
    assert_string_equal(to->lines[1], "/synfire/source/behind ,sf a.h5 0.25");
    assert_string_equal(to->lines[2], "/synfire/source ,ssi tcp://127.0.0.1:7700 lost 12");
    assert_string_equal(to->lines[3], "/synfire/rate ,if 0 0");
    close_receiver(to);
}

static sf_message *make_density(size_t count)
{
    sf_message *message = sf_message_new(SF_TOPIC_DENSITY);
    strcpy(message->density.quantity, "isi");
    message->density.grid_start = 0.5;
    message->density.grid_step = 0.25;
    message->density.count = count;
    message->density.values = sf_alloc(count, sizeof(double));
    for (size_t i = 0; i < count; i++)
        message->density.values[i] = (double)i * 2;
    return message;
}

/* Always 64 values, over the whole grid: their sum times the step is that of the message. */
static void densities_have_64_values(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 63, 64, 65, 127, 512};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        receiver *to = send_one(make_density(counts[c]), 1);
        char expected[1200] = "/synfire/density ,sff";
        for (int i = 0; i < 64; i++)
            strcat(expected, "f");
        strcat(expected, " isi ");
        assert_memory_equal(to->lines[0], expected, strlen(expected));
        char *at = to->lines[0] + strlen(expected);
        double count = (double)counts[c], start = strtod(at, &at), step = strtod(at, &at), sum = 0;
        assert_true(fabs(step - 0.25 * count / 64) < 1e-6 * step);
        assert_true(fabs(start - step / 2 - (0.5 - 0.125)) < 1e-6); /* the left edge of the first bin */
        for (int i = 0; i < 64; i++) {
            char *end;
            double value = strtod(at, &end);
            assert_true(end > at);
            double inside = 2 * floor((i + 0.5) * count / 64); /* of the bin that its middle lies in */
            assert_true(fabs(value - inside) <= 2 + 2 * count / 64);
            sum += value * step;
            at = end;
        }
        assert_string_equal(at, "");
        assert_true(fabs(sum - 0.25 * count * (count - 1)) <= 1e-5 * (1 + sum));
        close_receiver(to);
    }
}

/* Exactly 64 grid points are sent as they are. */
static void a_density_of_64_points_is_not_resampled(void **state)
{
    (void)state;
    sf_message *message = make_density(64);
    for (size_t i = 0; i < 64; i++)
        message->density.values[i] = i == 63 ? NAN : 1.0 / (double)(i + 1);
    sf_message_keep(message);
    receiver *to = send_one(message, 1);
    const char *at = strstr(to->lines[0], " 0.5 0.25 ") + strlen(" 0.5 0.25");
    for (size_t i = 0; i < 64; i++) {
        char *end;
        float value = strtof(at, &end);
        assert_true(value == (i == 63 ? -1.0F : (float)message->density.values[i]));
        at = end;
    }
    sf_message_release(message);
    close_receiver(to);
}

/* The graph and empty densities have no OSC form; nothing arrives before what comes after them. */
static void what_has_no_form_is_passed_over(void **state)
{
    (void)state;
    receiver *to = open_receiver();
    sf_sink *sink;
    char url[96];
    snprintf(url, sizeof url, "osc.udp://%s/", to->endpoint);
    assert_int_equal(open_osc(&sink, url, NULL), SF_OK);
    assert_string_equal(sf_sink_address(sink), url);
    publish(sink, sf_message_new(SF_TOPIC_GRAPH));
    publish(sink, make_density(0));
    publish(sink, sf_message_new(SF_TOPIC_EPISODES));
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    receive(to, 1);
    assert_string_equal(to->lines[0], "/synfire/window ,iiiii 0 0 0 0 0");
    close_receiver(to);
}

/* Nobody listens: UDP loses it, the run does not notice. */
static void a_missing_receiver_is_no_failure(void **state)
{
    (void)state;
    receiver *to = open_receiver();
    char endpoint[64];
    memcpy(endpoint, to->endpoint, sizeof endpoint);
    close_receiver(to);
    sf_sink *sink;
    assert_int_equal(open_osc(&sink, endpoint, NULL), SF_OK);
    for (int i = 0; i < 10; i++)
        publish(sink, sf_message_new(SF_TOPIC_EPISODES));
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
}

static void receivers_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"localhost",
                                      "7720",
                                      ":7720",
                                      "127.0.0.1:",
                                      "127.0.0.1:0",
                                      "127.0.0.1:70000",
                                      "127.0.0.1:x",
                                      "osc.tcp://127.0.0.1:7720/",
                                      "127.0.0.1:77200000000000000"};
    sf_sink *sink;
    sf_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        test_assert_fails(open_osc(&sink, bad[i], &error), &error, SF_CONFIG, "HOST:PORT");
    test_assert_fails(open_osc(&sink, NULL, &error), &error, SF_CONFIG, "endpoint");
    test_assert_fails(open_osc(&sink, "no.such.host.invalid:7720", &error), &error, SF_CONFIG,
                      "cannot find the host");
}

static int open_and_close(void *context)
{
    (void)context;
    sf_sink *sink;
    int status = open_osc(&sink, "127.0.0.1:7720", NULL);
    sf_sink_close(sink, NULL);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(open_and_close, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_follow_their_window),
        cmocka_unit_test(triggers_carry_the_stream_time),
        cmocka_unit_test(a_trigger_with_a_name_has_an_address),
        cmocka_unit_test(rates_come_unit_by_unit),
        cmocka_unit_test(many_rates_and_counts_come_once_each),
        cmocka_unit_test(sources_say_how_they_are),
        cmocka_unit_test(densities_have_64_values),
        cmocka_unit_test(a_density_of_64_points_is_not_resampled),
        cmocka_unit_test(what_has_no_form_is_passed_over),
        cmocka_unit_test(a_missing_receiver_is_no_failure),
        cmocka_unit_test(receivers_that_cannot_be_are_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
