/* SPDX-License-Identifier: Apache-2.0 */
/* The Event Broadcaster of Open Ephys in both of its forms, by events written by hand as its source has them.
 */
#include "core/clock.h"
#include "core/log.h"
#include "core/text.h"
#include "support/decoded.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void message(test_decoded *it, const char kind[2], const void *body, size_t size)
{
    const void *const parts[] = {kind, body};
    test_decoded_message(it, parts, (const size_t[]){2, size}, 2);
}

static void json(test_decoded *it, const char kind[2], const char *text)
{
    message(it, kind, text, strlen(text));
}

static const char ttl_kind[2] = {0, 0}, spike_kind[2] = {1, 0};

/* Node 104, stream 7, electrode 2, sample 30000, 1.5 s, neuron 3; a stereotrode: two thresholds, 2 by 2
 * samples. */
static const unsigned char raw_spike[50] = {
    2, 2, 104,  0,    7, 0, 2,    0,    0x30, 0x75, 0,    0, 0,
    0, 0, 0,    0,    0, 0, 0,    0,    0,    0xf8, 0x3f, 3, 0, /* base */
    0, 0, 0xc8, 0xc2, 0, 0, 0xc8, 0xc2,                         /* thresholds -100 */
    0, 0, 0,    0,    0, 0, 0x28, 0xc2,                         /* 0, -42 */
    0, 0, 0x80, 0x3f, 0, 0, 0x20, 0x41                          /* 1, 10 */
};
/* Line 2 up at sample 30000 of stream 7. */
static const unsigned char raw_ttl[34] = {1, 3, 101, 0, 7, 0,    0,    0, 0x30, 0x75, 0, 0, 0, 0, 0, 0, 0,
                                          0, 0, 0,   0, 0, 0xf8, 0x3f, 2, 1,    4,    0, 0, 0, 0, 0, 0, 0};

static const sf_unit electrodes[] = {{.name = "Electrode 1"}, {.name = "Electrode 3"}};

static sf_decoder_options options(void)
{
    return (sf_decoder_options){.size = sizeof(sf_decoder_options),
                                .protocol = "event-broadcaster",
                                .units = electrodes,
                                .unit_count = 2};
}

static void json_events_are_read(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    test_decoded it;
    test_decoded_open(&it, &given);
    json(&it, spike_kind,
         "{\r\n  \"event_type\": \"spike\",\r\n  \"stream\": \"Rhythm\",\r\n  \"source_node\": 105,\r\n"
         "  \"electrode\": \"Electrode 1\",\r\n  \"num_channels\": 2,\r\n  \"sample_rate\": 30000.0,\r\n"
         "  \"sample_number\": 30000,\r\n  \"sorted_id\": 0,\r\n  \"amp1\": 21.5,\r\n  \"amp2\": 210.0\r\n}");
    test_decoded_require(&it, "1000000000 Electrode 1 -210\n"); /* a trough is negative here */
    json(&it, ttl_kind,
         "{\"event_type\":\"ttl\",\"stream\":\"Rhythm\",\"source_node\":101,\"sample_rate\":30000.0,"
         "\"channel_name\":\"TTL\",\"sample_number\":30003,\"line\":2,\"state\":true}");
    json(&it, ttl_kind,
         "{\"event_type\":\"ttl\",\"stream\":\"Rhythm\",\"sample_rate\":30000.0,\"sample_number\":30006,"
         "\"line\":2,\"state\":0}");
    test_decoded_require(&it, "1000100000 ttl2 1\n1000200000 ttl2 0\n");
    json(&it, ttl_kind, /* another stream, whose samples count otherwise */
         "{\"event_type\":\"ttl\",\"stream\":\"PXI\",\"sample_rate\":5000.0,\"sample_number\":1,"
         "\"line\":2,\"state\":0}");
    test_decoded_require(&it, "");
    assert_int_equal(it.other_streams, 1);
    assert_int_equal(it.out_of_range, 0);
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
}

static void collect(void *text, sf_log_level level, const char *line)
{
    (void)level;
    sf_text_printf(text, "%s\n", line);
}

static void the_first_spike_says_which_stream_is_read(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    sf_text log = {0};
    sf_log_drain(collect, &log);
    sf_text_free(&log);
    test_decoded it;
    test_decoded_open(&it, &given);
    const char *other = "{\"event_type\":\"ttl\",\"stream\":\"Digital\",\"sample_rate\":5000.0,"
                        "\"sample_number\":1,\"line\":2,\"state\":1}";
    json(&it, ttl_kind, other);
    test_decoded_require(&it, "");
    for (int i = 0; i < 3; i++) {
        json(&it, spike_kind,
             "{\"event_type\":\"spike\",\"stream\":\"Probe\",\"electrode\":\"Electrode 3\","
             "\"sample_rate\":30000,\"sample_number\":30000,\"sorted_id\":0}");
        test_decoded_require(&it, "1000000000 Electrode 3 nan\n");
        json(&it, ttl_kind, other);
    }
    test_decoded_require(&it, "");
    assert_int_equal(it.other_streams, 4); /* that which came before the first spike, too */
    assert_int_equal(it.out_of_range, 0);
    test_decoded_close(&it);
    sf_log_drain(collect, &log);
    assert_non_null(strstr(log.data, "TTL events of the stream 'Digital' came before any spike"));
    assert_non_null(strstr(log.data, "reads the stream 'Probe'"));
    assert_non_null(
        strstr(log.data, "'Probe' is read, and 'Digital', which is sent as well, is not (2 messages"));
    assert_non_null(strstr(log.data, "(4 messages"));
    assert_null(strstr(log.data, "(3 messages"));
    sf_text_free(&log);
}

static void spike_of(test_decoded *it, const char *electrode)
{
    char text[300];
    snprintf(text, sizeof text,
             "{\"event_type\":\"spike\",\"stream\":\"R\",\"electrode\":\"%s\",\"sample_rate\":1000,"
             "\"sample_number\":5,\"sorted_id\":0}",
             electrode);
    json(it, spike_kind, text);
}

static void electrodes_of_one_number_are_told_of(void **state)
{
    (void)state;
    static const sf_unit sites[] = {{.name = "tip"}, {.name = "base"}};
    static const int32_t numbers[] = {0, 1};
    sf_decoder_options given = options();
    given.units = sites;
    given.channels = numbers;
    for (int other = 0; other <= 1; other++) {
        sf_text log = {0};
        sf_log_drain(collect, &log);
        sf_text_free(&log);
        test_decoded it;
        test_decoded_open(&it, &given);
        spike_of(&it, "Electrode 1");
        spike_of(&it, "Electrode 1");
        spike_of(&it, other ? "Tetrode 1" : "Electrode 2");
        test_decoded_require(&it, other ? "5000000 tip nan\n5000000 tip nan\n5000000 tip nan\n"
                                        : "5000000 tip nan\n5000000 tip nan\n5000000 base nan\n");
        test_decoded_close(&it);
        sf_log_drain(collect, &log);
        const char *told =
            strstr(log.data, "several electrodes have the number 0 in the file of electrodes, 'Tetrode 1'");
        assert_true((told != NULL) == other);
        sf_text_free(&log);
    }
}

static void raw_events_are_read(void **state)
{
    (void)state;
    sf_decoder_options given = options();
    test_decoded it;
    test_decoded_open(&it, &given); /* by their time stamps, for want of a rate */
    message(&it, spike_kind, raw_spike, sizeof raw_spike);
    message(&it, ttl_kind, raw_ttl, sizeof raw_ttl);
    test_decoded_require(&it, "1500000000 Electrode 3 -42\n1500000000 ttl2 1\n");
    unsigned char unset[34];
    memcpy(unset, raw_ttl, sizeof unset);
    unset[22] = 0xf0; /* -1: the GUI has no time for it */
    unset[23] = 0xbf;
    message(&it, ttl_kind, unset, sizeof unset);
    assert_int_equal(it.malformed, 1);
    test_decoded_close(&it);

    given.sample_rate_hz = 30000;
    given.stream = "7";
    test_decoded_open(&it, &given);
    message(&it, ttl_kind, unset, sizeof unset);
    message(&it, spike_kind, raw_spike, sizeof raw_spike);
    test_decoded_require(&it, "1000000000 ttl2 1\n1000000000 Electrode 3 -42\n");
    given.stream = "8";
    test_decoded_close(&it);
    test_decoded_open(&it, &given);
    message(&it, spike_kind, raw_spike, sizeof raw_spike);
    test_decoded_require(&it, "");
    assert_int_equal(it.out_of_range, 0);
    test_decoded_close(&it);
}

/* What the plugin 0.3.0 sent in the GUI 1.0.1, of a made-up recording: a spike of its second stream, of 20
 * kHz, and an edge of its first. The File Reader has no time stamps (-1). */
static const char sent_spike[] =
    "020168001c2703006573020000000000000000000000f0bf0000000070c200009c40b81e6d4099992bc1999979c052b82e40"
    "8fc2153f14aeeec1b89eb2c2474131c33d6a69c35caf3fc347a1c9c285eba6c1703d49420ad78a4229dcb84299d9a14233b3"
    "4e423333e24166660c4152b82e40f5280641b81e6d40d6a360c09999f9bf3d0a83409999793f285cf3c03d0a83c0d6a3e0bf"
    "8fc215bf14ae473f14aec7be703da2403d0a83c0d6a3e0bf8fc295bfae4789c0999979c0f52854c0";
static const char sent_ttl[] = "010364001b270000acaa030000000000000000000000f0bf00000000000000000000";
static const char sent_json[] = "{\r\n  \"event_type\": \"spike\",\r\n  \"stream\": \"probeA\",\r\n  "
                                "\"source_node\": 106,\r\n  \"electrode\": "
                                "\"Electrode 1\",\r\n  \"num_channels\": 1,\r\n  \"sample_rate\": "
                                "30000.0,\r\n  \"sample_number\": 252,\r\n  "
                                "\"sorted_id\": 0,\r\n  \"amp1\": 245.114990234375\r\n}";

static void send_hex(test_decoded *it, const char *hex)
{
    unsigned char bytes[200];
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        const char digits[3] = {hex[2 * i], hex[2 * i + 1]};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    message(it, bytes[0] == 2 ? spike_kind : ttl_kind, bytes, size);
}

static void what_the_gui_sent_is_read(void **state)
{
    (void)state;
    static const sf_unit electrode = {.name = "Electrode 4"};
    sf_decoder_options given = options();
    given.units = &electrode;
    given.unit_count = 1;
    test_decoded it;
    test_decoded_open(&it, &given); /* without a rate there is no time */
    send_hex(&it, sent_spike);
    test_decoded_require(&it, "");
    assert_false(it.is_known);
    test_decoded_close(&it);
    for (int of_spike = 0; of_spike <= 1; of_spike++) {
        given.sample_rate_hz = of_spike ? 20000 : 30000;
        given.stream = of_spike ? "10012" : "10011";
        test_decoded_open(&it, &given);
        send_hex(&it, sent_spike);
        send_hex(&it, sent_ttl);
        test_decoded_require(&it, of_spike ? "8030650000 Electrode 4 -233.415\n" : "8010000000 ttl0 0\n");
        assert_int_equal(it.other_streams, 1);
        test_decoded_close(&it);
    }
    given = options();
    test_decoded_open(&it, &given);
    json(&it, spike_kind, sent_json);
    test_decoded_require(&it, "8400000 Electrode 1 -245.115\n");
    test_decoded_close(&it);
}

static void pause_ms(int64_t ms)
{
    sf_clock_sleep_until(sf_clock_monotonic_ns() + ms * SF_MILLISECOND);
}

static void raw_of(test_decoded *it, const unsigned char *event, size_t size, unsigned stream)
{
    unsigned char copy[sizeof raw_spike];
    memcpy(copy, event, size);
    copy[4] = (unsigned char)stream;
    message(it, event[0] == 2 ? spike_kind : ttl_kind, copy, size);
}

/* As the GUI that is started again, or loads its signal chain, sends the same two streams; heard of in
 * another order than that of their numbers, which is that of the streams. */
static void raw_streams_that_are_numbered_anew_are_found(void **state)
{
    (void)state;
    const char *spike = "1000000000 Electrode 3 -42\n";
    sf_text log = {0};
    sf_decoder_options given = options();
    given.sample_rate_hz = 30000;
    test_decoded it;
    test_decoded_open(&it, &given);
    raw_of(&it, raw_spike, sizeof raw_spike, 8);
    raw_of(&it, raw_ttl, sizeof raw_ttl, 9);
    test_decoded_require(&it, spike);
    pause_ms(600);
    raw_of(&it, raw_spike, sizeof raw_spike, 9); /* a pause, and the same numbers */
    raw_of(&it, raw_spike, sizeof raw_spike, 8);
    test_decoded_require(&it, spike);
    pause_ms(600);
    raw_of(&it, raw_spike, sizeof raw_spike, 12); /* a third stream that is first heard of now */
    raw_of(&it, raw_spike, sizeof raw_spike, 8);
    test_decoded_require(&it, spike);
    sf_log_drain(collect, &log);
    assert_true(log.data == NULL || strstr(log.data, "numbers its streams anew") == NULL);
    pause_ms(600);
    raw_of(&it, raw_spike, sizeof raw_spike, 6);
    raw_of(&it, raw_spike, sizeof raw_spike, 5);
    pause_ms(1100);
    test_decoded_require(&it, "");
    raw_of(&it, raw_spike, sizeof raw_spike, 6);
    raw_of(&it, raw_spike, sizeof raw_spike, 5);
    raw_of(&it, raw_ttl, sizeof raw_ttl, 5);
    raw_of(&it, raw_ttl, sizeof raw_ttl, 6);
    test_decoded_require(&it, "1000000000 Electrode 3 -42\n1000000000 ttl2 1\n");
    assert_int_equal(it.other_streams, 7);
    sf_log_drain(collect, &log);
    assert_non_null(strstr(log.data, "'5' is read from here on in place of '8'"));
    test_decoded_close(&it);
    sf_text_free(&log);
}

static void what_is_damaged_is_counted(void **state)
{
    (void)state;
    sf_decoder_options given = options();
    given.sample_rate_hz = 30000;
    test_decoded it;
    test_decoded_open(&it, &given);
    json(&it, ttl_kind, "{\"event_type\":\"ttl\",\"sample_number\":1,\"line\":2,\"state\":0}");
    test_decoded_require(&it, "33333 ttl2 0\n");
    const struct {
        const void *kind, *body;
        size_t kind_size, size;
    } cases[] = {
        {"\2", raw_ttl, 2, sizeof raw_ttl},
        {"ttl", raw_ttl, 3, sizeof raw_ttl},
        {ttl_kind, raw_ttl, 2, sizeof raw_ttl - 1},
        {ttl_kind, raw_spike, 2, sizeof raw_spike},
        {spike_kind, raw_spike, 2, 25},
        {spike_kind, raw_spike, 2, 27},
        {spike_kind, raw_ttl, 2, sizeof raw_ttl},
        {ttl_kind, "", 2, 0},
        {ttl_kind, "{\"event_type\":\"spike\",\"sample_number\":1,\"line\":2,\"state\":0}", 2, 59},
        {ttl_kind, "{\"event_type\":\"ttl\",\"sample_number\":1,\"line\":2,\"state\":7}", 2, 57},
        {ttl_kind, "{\"event_type\":\"ttl\",\"sample_number\":1,\"line\":-2,\"state\":0}", 2, 58},
        {ttl_kind, "{\"event_type\":\"ttl\",\"sample_number\":1,\"line\"", 2, 44},
        {ttl_kind, "{,", 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const void *const parts[] = {cases[i].kind, cases[i].body};
        test_decoded_message(&it, parts, (const size_t[]){cases[i].kind_size, cases[i].size}, 2);
        if (it.malformed != i + 1) fail_msg("case %zu is not counted", i);
        test_decoded_require(&it, "");
    }
    test_decoded_close(&it);
}

static void spike_at(test_decoded *it, int64_t ms)
{
    char text[200];
    snprintf(text, sizeof text,
             "{\"event_type\":\"spike\",\"stream\":\"R\",\"electrode\":\"Electrode 1\",\"sample_rate\":1000,"
             "\"sample_number\":%d,\"amp1\":1}",
             (int)ms);
    json(it, spike_kind, text);
}

static void ttl_at(test_decoded *it, int64_t ms)
{
    char text[200];
    snprintf(text, sizeof text,
             "{\"event_type\":\"ttl\",\"stream\":\"R\",\"sample_rate\":1000,\"sample_number\":%d,\"line\":1,"
             "\"state\":1}",
             (int)ms);
    json(it, ttl_kind, text);
}

/* The clock goes back while electrodes are learnt: what came before goes out before, the markers among it,
 * and what comes first of either goes out time by time. Those that overtake each other are sorted. */
static void a_clock_that_goes_back_is_not_sorted_in(void **state)
{
    (void)state;
    const sf_decoder_options learning = {
        .size = sizeof learning, .protocol = "event-broadcaster", .learn_s = 9};
    test_decoded it;
    test_decoded_open(&it, &learning);
    for (int64_t ms = 0; ms < 5000; ms += 1000) {
        spike_at(&it, 5000 + ms + 50);
        spike_at(&it, 5000 + ms);
        ttl_at(&it, 5000 + ms + 20);
    }
    test_decoded_require(&it, "");
    for (int64_t ms = 0; ms <= 5000; ms += 1000)
        spike_at(&it, 1000 + ms);
    assert_true(it.is_known); /* 4.05 s before it went back and 5 s since */
    test_decoded_require(&it,
                         "5000000000 Electrode 1 -1\n" /* its ttl is among the next */
                         "5050000000 Electrode 1 -1\n5020000000 ttl1 1\n"
                         "6000000000 Electrode 1 -1\n"
                         "6050000000 Electrode 1 -1\n7000000000 Electrode 1 -1\n7050000000 Electrode 1 -1\n"
                         "8000000000 Electrode 1 -1\n8050000000 Electrode 1 -1\n9000000000 Electrode 1 -1\n"
                         "9050000000 Electrode 1 -1\n"
                         "6020000000 ttl1 1\n7020000000 ttl1 1\n8020000000 ttl1 1\n9020000000 ttl1 1\n"
                         "1000000000 Electrode 1 -1\n2000000000 Electrode 1 -1\n3000000000 Electrode 1 -1\n"
                         "4000000000 Electrode 1 -1\n5000000000 Electrode 1 -1\n6000000000 Electrode 1 -1\n");
    assert_int_equal(it.out_of_range, 0);
    test_decoded_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_events_are_read),
        cmocka_unit_test(the_first_spike_says_which_stream_is_read),
        cmocka_unit_test(electrodes_of_one_number_are_told_of),
        cmocka_unit_test(raw_events_are_read),
        cmocka_unit_test(what_the_gui_sent_is_read),
        cmocka_unit_test(raw_streams_that_are_numbered_anew_are_found),
        cmocka_unit_test(what_is_damaged_is_counted),
        cmocka_unit_test(a_clock_that_goes_back_is_not_sorted_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
