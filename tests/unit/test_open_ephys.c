/* SPDX-License-Identifier: Apache-2.0 */
/* The ZMQ Interface of Open Ephys, by messages written by hand as the plugin's source has them: JUCE's JSON
 * with its line ends, envelopes with their NUL, a payload. Not one of them is from our own player. */
#include "core/log.h"
#include "core/text.h"
#include "decode/fields.h"
#include "support/decoded.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

static const char spike_header[] = "{\r\n"
                                   "  \"message_num\": %d,\r\n"
                                   "  \"type\": \"spike\",\r\n"
                                   "  \"spike\": {\r\n"
                                   "    \"stream\": \"Rhythm Data\",\r\n"
                                   "    \"source_node\": 104,\r\n"
                                   "    \"electrode\": \"%s\",\r\n"
                                   "    \"sample_num\": %d,\r\n"
                                   "    \"num_channels\": 1,\r\n"
                                   "    \"num_samples\": 3,\r\n"
                                   "    \"sorted_id\": %d,\r\n"
                                   "    \"threshold\": [\r\n"
                                   "      -50.0\r\n"
                                   "    ]\r\n"
                                   "  },\r\n"
                                   "  \"timestamp\": 1751933546124\r\n"
                                   "}";

static const char event_header[] =
    "{\r\n  \"message_num\": %d,\r\n  \"type\": \"event\",\r\n  \"content\": {\r\n"
    "    \"stream\": \"Rhythm Data\",\r\n    \"source_node\": 101,\r\n"
    "    \"type\": %d,\r\n    \"sample_num\": %d\r\n  },\r\n"
    "  \"data_size\": 10,\r\n  \"timestamp\": 1751933546123\r\n}";

static const char data_header[] =
    "{\r\n  \"message_num\": %d,\r\n  \"type\": \"data\",\r\n  \"content\": {\r\n"
    "    \"stream\": \"Rhythm Data\",\r\n    \"channel_num\": 0,\r\n"
    "    \"channel_name\": \"CH1\",\r\n    \"num_samples\": 2,\r\n"
    "    \"sample_num\": %d,\r\n    \"sample_rate\": 30000.0\r\n  },\r\n"
    "  \"data_size\": 8,\r\n  \"timestamp\": 1751933546123\r\n}";

/* 3 samples, the trough -42 in the middle, and a peak further from zero: 0.0, -42.0, 80.0. */
static const unsigned char waveform[12] = {0, 0, 0, 0, 0x00, 0x00, 0x28, 0xc2, 0x00, 0x00, 0xa0, 0x42};
/* Line 2 goes up. */
static const unsigned char ttl[10] = {2, 1, 4, 0, 0, 0, 0, 0, 0, 0};
static const unsigned char samples[8] = {0};

static void message(test_decoded *it, const char *envelope, const char *header, size_t length,
                    const void *payload, size_t size)
{
    const void *const parts[] = {envelope, header, payload};
    const size_t sizes[] = {strlen(envelope) + 1, length, size};
    test_decoded_message(it, parts, sizes, size > 0 ? 3 : 2);
}

static void spike(test_decoded *it, int number, const char *electrode, int sample, int sorted)
{
    char header[1024];
    int length = snprintf(header, sizeof header, spike_header, number, electrode, sample, sorted);
    message(it, "EVENT", header, (size_t)length, waveform, sizeof waveform);
}

static void event(test_decoded *it, int number, int type, int sample, size_t size)
{
    char header[1024];
    int length = snprintf(header, sizeof header, event_header, number, type, sample);
    message(it, "EVENT", header, (size_t)length, ttl, size);
}

static void data(test_decoded *it, int number, int sample)
{
    char header[1024];
    int length = snprintf(header, sizeof header, data_header, number, sample);
    message(it, "DATA", header, (size_t)length, samples, sizeof samples);
}

static const sf_unit two_electrodes[] = {{.name = "Electrode 1"}, {.name = "shank B"}};
static const int32_t channels[] = {0, 6};

static sf_decoder_options options(void)
{
    return (sf_decoder_options){.size = sizeof(sf_decoder_options),
                                .protocol = "open-ephys",
                                .units = two_electrodes,
                                .unit_count = 2,
                                .channels = channels};
}

/* ---- tests ---- */

static void spikes_and_edges_have_times_by_sample(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    test_decoded it;
    test_decoded_open(&it, &given);
    spike(&it, 1, "Electrode 1", 30000, 0); /* before the rate is known: it is kept */
    test_decoded_require(&it, "");
    assert_false(it.is_known);
    data(&it, 2, 30000);
    test_decoded_require(
        &it, "1000000000 Electrode 1 -42\nuntil 996733333\n"); /* 100 samples before the block's end */
    spike(&it, 3, "Electrode 7", 30001, 0);                    /* channel 6 */
    test_decoded_require(&it, "1000033333 shank B -42\n");
    event(&it, 4, 3, 30002, sizeof ttl);
    test_decoded_require(&it, "1000066667 ttl2 1\n");
    event(&it, 5, 5, 30003, 4); /* a text: none of ours, and no fault */
    spike(&it, 6, "Electrode 3", 30004, 0);
    test_decoded_require(&it, "");
    assert_int_equal(it.out_of_range, 1);
    assert_int_equal(it.malformed + it.gaps + it.restarts, 0);
    test_decoded_close(&it);
}

static void a_gap_is_a_loss_and_a_restart_is_none(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    test_decoded it;
    test_decoded_open(&it, &given);
    data(&it, 100, 0); /* joined in the middle */
    assert_int_equal(it.gaps, 0);
    spike(&it, 104, "Electrode 1", 300, 0);
    assert_int_equal(it.gaps, 1);
    assert_int_equal(it.gap_lost, 3);
    spike(&it, 104, "Electrode 1", 300, 0); /* the same again */
    assert_int_equal(it.malformed, 1);
    data(&it, 1, 0); /* acquisition was started again */
    assert_int_equal(it.restarts, 1);
    assert_int_equal(it.gap_lost, 3);
    spike(&it, 2, "Electrode 1", 30, 0);
    data(&it, 1, 0);
    data(&it, 0, 0); /* a sender that counts from 0 */
    assert_int_equal(it.restarts, 3);
    spike(&it, 1, "Electrode 1", 30, 0);
    assert_int_equal(it.gap_lost, 3);
    test_decoded_require(
        &it,
        "until -3266667\n10000000 Electrode 1 -42\nuntil -3266667\n1000000 Electrode 1 -42\nuntil -3266667\n"
        "until -3266667\n1000000 Electrode 1 -42\n");
    test_decoded_close(&it);
}

static void collect(void *text, sf_log_level level, const char *line)
{
    (void)level;
    sf_text_printf(text, "%s\n", line);
}

static void of_stream(test_decoded *it, int number, const char *stream, double rate)
{
    char header[1024];
    int length = snprintf(header, sizeof header,
                          "{\"message_num\": %d, \"type\": \"data\", \"content\": {\"stream\": \"%s\", "
                          "\"sample_num\": 2000, \"sample_rate\": %g}}",
                          number, stream, rate);
    message(it, "DATA", header, (size_t)length, samples, sizeof samples);
    length =
        snprintf(header, sizeof header,
                 "{\"message_num\": %d, \"type\": \"spike\", \"spike\": {\"stream\": \"%s\", \"electrode\": "
                 "\"Electrode 1\", \"sample_num\": 3000, \"num_channels\": 1, \"num_samples\": 3}}",
                 number + 1, stream);
    message(it, "EVENT", header, (size_t)length, waveform, sizeof waveform);
}

/* The plugin's editor is set to another stream between two acquisitions: its Electrode 1 is another. */
static void another_stream_is_left_out(void **state)
{
    (void)state;
    for (int chosen = 0; chosen <= 1; chosen++) {
        sf_decoder_options given = options();
        sf_text log = {0};
        given.stream = chosen ? "Probe B" : NULL;
        sf_log_drain(collect, &log);
        sf_text_free(&log);
        test_decoded it;
        test_decoded_open(&it, &given);
        of_stream(&it, 1, "Probe A", 30000);
        test_decoded_require(&it, chosen ? "" : "until 63333333\n100000000 Electrode 1 -42\n");
        of_stream(&it, 1, "Probe B", 20000);
        test_decoded_require(&it, chosen ? "until 95000000\n150000000 Electrode 1 -42\n" : "");
        assert_int_equal(it.other_streams, 2);
        assert_int_equal(it.restarts, 1);
        assert_int_equal(it.malformed + it.gaps + it.out_of_range, 0);
        test_decoded_close(&it);
        sf_log_drain(collect, &log);
        assert_non_null(
            strstr(log.data, chosen ? "'Probe B' is read, and 'Probe A', which is sent as well, is not"
                                    : "'Probe A' is read, and 'Probe B', which is sent as well, is not"));
        sf_text_free(&log);
    }
}

static void another_rate_is_told_of(void **state)
{
    (void)state;
    for (int is_given = 0; is_given <= 1; is_given++) {
        sf_decoder_options given = options();
        sf_text log = {0};
        given.sample_rate_hz = is_given ? 30000 : 0;
        sf_log_drain(collect, &log);
        sf_text_free(&log);
        test_decoded it;
        test_decoded_open(&it, &given);
        of_stream(&it, 1, "Probe A", 30001); /* one clock, measured */
        if (!is_given) of_stream(&it, 3, "Probe A", 30000);
        sf_log_drain(collect, &log);
        assert_true(log.data == NULL || strstr(log.data, "samples at") == NULL);
        for (int i = 0; i < 3; i++)
            of_stream(&it, 5 + 2 * i, "Probe A", 20000);
        sf_log_drain(collect, &log);
        const char *told =
            strstr(log.data, "the rig says that it samples at 20000 Hz, and its samples are read at");
        assert_non_null(told);
        assert_non_null(strstr(told, is_given ? "is sample_rate_hz wrong?" : "start the run again"));
        assert_null(strstr(told + 1, "the rig says that it samples"));
        sf_text_free(&log);
        test_decoded_close(&it);
    }
}

/* A batch that waits is of the run before, also where several messages are fed before anything is taken. */
static void electrodes_are_learnt(void **state)
{
    (void)state;
    const sf_decoder_options given = {
        .size = sizeof given, .protocol = "open-ephys", .sample_rate_hz = 30000, .learn_s = 0.5};
    test_decoded it;
    test_decoded_open(&it, &given);
    spike(&it, 1, "tetrode 2", 3, 0);
    spike(&it, 2, "tetrode 1", 0, 0); /* a little earlier */
    spike(&it, 3, "tetrode 2", 6000, 4);
    assert_false(it.is_known);
    spike(&it, 4, "tetrode 1", 15000, 0);
    test_decoded_require(&it, "0 tetrode 1 -42\n100000 tetrode 2 -42\n200000000 tetrode 2:4 -42\n"
                              "500000000 tetrode 1 -42\n");
    assert_true(it.is_known);
    spike(&it, 5, "tetrode 9", 15001, 0); /* too late */
    assert_int_equal(it.out_of_range, 1);
    test_decoded_close(&it);
}

/* As the plugin does where names have characters beyond ASCII: as many bytes are missing at the end. */
static void a_cut_header_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    const sf_unit unit = {.name = "\xc3\x89lectrode \xce\xb1"};
    sf_decoder_options given = options();
    given.units = &unit;
    given.unit_count = 1;
    given.sample_rate_hz = 30000;
    test_decoded it;
    test_decoded_open(&it, &given);
    char header[1024];
    int length = snprintf(header, sizeof header, spike_header, 1, unit.name, 30, 0);
    message(&it, "EVENT", header, (size_t)length - 2, waveform, sizeof waveform);
    test_decoded_require(&it, "1000000 \xc3\x89lectrode \xce\xb1 -42\n");
    for (size_t left = 0; left < (size_t)length;
         left++) { /* wherever it is cut it is read whole or counted */
        int number = (int)left + 2;
        snprintf(header, sizeof header, spike_header, number, unit.name, 30, 0);
        uint64_t before = it.malformed;
        message(&it, "EVENT", header, left, waveform, sizeof waveform);
        bool was_read = it.told.length > 0;
        assert_true(was_read != (it.malformed == before + 1));
        test_decoded_require(&it, was_read ? "1000000 \xc3\x89lectrode \xce\xb1 -42\n" : "");
        assert_true(left > (size_t)length - 100 || !was_read); /* the waveform's shape is needed too */
    }
    assert_true(it.malformed > 100);
    assert_int_equal(it.restarts, 0);
    test_decoded_close(&it);
}

static void what_is_damaged_is_counted(void **state)
{
    (void)state;
    sf_decoder_options given = options();
    given.sample_rate_hz = 30000;
    test_decoded it;
    test_decoded_open(&it, &given);
    const struct {
        const char *envelope, *header;
        size_t payload;
        const char *fault;
    } cases[] = {
        {"MORSE", "{}", 0, "no message of Open Ephys"},
        {"EVENT", "", 0, "is cut"},
        {"EVENT", "[]", 0, "is no JSON"},
        {"EVENT", "{\"message_num\": 1", 0, "is cut"},
        {"EVENT", "{\"message_num\": 1,}", 0, "is no JSON"},
        {"EVENT", "{\"message_num\": \"1\", \"type\": \"data\"}", 0, "is no JSON"},
        {"EVENT", "{\"message_num\": 1.5, \"type\": \"data\"}", 0, "is no JSON"},
        {"EVENT", "{\"message_num\": 1e400}", 0, "is no JSON"},
        {"EVENT", "{\"message_num\": 99999999999999999999}", 0, "is no JSON"},
        {"EVENT", "{\"type\": \"data\"}", 0, "lacks a key"},
        {"EVENT", "{\"message_num\": 1, \"type\": \"dance\"}", 0, "of an unknown type"},
        {"EVENT", "{\"message_num\": 2, \"type\": \"\\ud800\"}", 0, "is no JSON"},
        {"EVENT", "{\"message_num\": 2, \"type\": \"\\u0000\"}", 0, "is no JSON"},
        {"EVENT", "{\"message_num\": 2, \"type\": \"\xff\"}", 0, "is no JSON"},
        {"DATA",
         "{\"message_num\": 2, \"type\": \"data\", \"content\": {\"sample_num\": 0, \"sample_rate\": 0}}", 8,
         "a sampling rate of 0 Hz"},
        {"EVENT",
         "{\"message_num\": 3, \"type\": \"spike\", \"spike\": {\"electrode\": \"Electrode 1\", "
         "\"sample_num\": 1, "
         "\"num_channels\": 1, \"num_samples\": 4}}",
         10, "whose waveform has 10 bytes"},
        {"EVENT",
         "{\"message_num\": 4, \"type\": \"spike\", \"spike\": {\"electrode\": \"Electrode 1\", "
         "\"sample_num\": 1, "
         "\"num_channels\": 4611686018427387904, \"num_samples\": 4}}",
         0, "whose waveform has 0 bytes"},
        {"EVENT", "{\"message_num\": 5, \"type\": \"event\", \"content\": {\"type\": 3, \"sample_num\": 1}}",
         0, "a TTL event of 0 bytes"},
        {"EVENT",
         "{\"message_num\": 6, \"type\": \"event\", \"content\": {\"type\": 3, \"sample_num\": "
         "9223372036854775807}}",
         10, "beyond 146 years"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        it.malformed = 0;
        message(&it, cases[i].envelope, cases[i].header, strlen(cases[i].header), ttl, cases[i].payload);
        if (it.malformed != 1 || strstr(it.fault, cases[i].fault) == NULL)
            fail_msg("case %zu: %d, '%s', expected '%s'", i, (int)it.malformed, it.fault, cases[i].fault);
        test_decoded_require(&it, "");
    }
    const void *const parts[] = {"EVENT"};
    test_decoded_message(&it, parts, (const size_t[]){6}, 1);
    assert_int_equal(it.malformed, 2);
    char deep[200] = "{\"a\":";
    memset(deep + 5, '[', sizeof deep - 5);
    message(&it, "EVENT", deep, sizeof deep, NULL, 0);
    assert_int_equal(it.malformed, 3);
    assert_int_equal(it.restarts + it.gaps, 0);
    spike(&it, 7, "Electrode 1", 30, 0);
    test_decoded_require(&it, "1000000 Electrode 1 -42\n");
    test_decoded_close(&it);
}

/* People give long names; one that has no room is said to be what it is, and its message counts as heard. */
static void long_names_are_names(void **state)
{
    (void)state;
    test_decoded it;
    char name[SF_FIELD_TEXT_SIZE + 1] = "", expected[SF_FIELD_TEXT_SIZE + 40];
    memset(name, 'e', SF_FIELD_TEXT_SIZE);
    const sf_unit longest = {.name = name + 1};
    sf_decoder_options given = options();
    given.units = &longest;
    given.unit_count = 1;
    test_decoded_open(&it, &given);
    data(&it, 1, 0);
    spike(&it, 2, name, 30, 0);
    assert_int_equal(it.malformed, 1);
    assert_non_null(strstr(it.fault, "a name that is too long"));
    spike(&it, 3, name + 1, 30, 0);
    assert_int_equal(it.gaps, 0);
    snprintf(expected, sizeof expected, "until -3266667\n1000000 %s -42\n", name + 1);
    test_decoded_require(&it, expected);
    test_decoded_close(&it);
}

/* ---- the reader of JSON by itself ---- */

typedef struct values {
    int64_t whole;
    double real;
    char text[SF_FIELD_TEXT_SIZE];
} values;

static void json_is_read_by_a_table(void **state)
{
    (void)state;
    static const sf_field rows[] = {{"a.b.whole", SF_FIELD_WHOLE, offsetof(values, whole)},
                                    {"real", SF_FIELD_REAL, offsetof(values, real)},
                                    {"text", SF_FIELD_TEXT, offsetof(values, text)}};
    sf_fields fields = {.rows = rows, .count = 3};
    values it = {0};
    static const char document[] =
        "{\"x\": [1, {\"real\": 7}, [], {}, null, true], \"a\": {\"whole\": 3, \"b\": {\"whole\": -12e1}},\n"
        "\"text\": \"\\u00e9\\ud83d\\ude00\\n\\/\", \"real\": 2, \"b\": {\"whole\": 5}}\n";
    assert_int_equal(sf_fields_from_json(&fields, &it, (sf_part){document, sizeof document - 1}),
                     SF_DOCUMENT_WHOLE);
    assert_int_equal(fields.found, 7);
    assert_int_equal(it.whole, -120);
    assert_true(it.real == 2);
    assert_string_equal(it.text, "\xc3\xa9\xf0\x9f\x98\x80\n/");
    for (size_t i = 0; i + 2 < sizeof document; i++) /* a block of its own, so that reading on is found */
    {
        char *cut = malloc(i + 1);
        memcpy(cut, document, i);
        assert_int_equal(sf_fields_from_json(&fields, &it, (sf_part){cut, i}), SF_DOCUMENT_CUT);
        free(cut);
    }
    assert_int_equal(sf_fields_from_json(&fields, &it, (sf_part){"{} x", 4}), SF_DOCUMENT_BAD);
    assert_int_equal(sf_fields_from_json(&fields, &it, (sf_part){"{}\0", 3}), SF_DOCUMENT_WHOLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_and_edges_have_times_by_sample),
        cmocka_unit_test(long_names_are_names),
        cmocka_unit_test(a_gap_is_a_loss_and_a_restart_is_none),
        cmocka_unit_test(another_stream_is_left_out),
        cmocka_unit_test(another_rate_is_told_of),
        cmocka_unit_test(electrodes_are_learnt),
        cmocka_unit_test(a_cut_header_is_read_as_far_as_it_goes),
        cmocka_unit_test(what_is_damaged_is_counted),
        cmocka_unit_test(json_is_read_by_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
