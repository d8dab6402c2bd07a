/* SPDX-License-Identifier: Apache-2.0 */
/* What a CL1 sends, by texts and bytes written by hand. */
#include "support/decoded.h"
#include "support/support.h"

#include "core/log.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLES 75

static void feed(test_decoded *it, const char *word, const void *bytes, size_t size)
{
    const void *const parts[] = {word, bytes};
    const size_t sizes[] = {strlen(word), size};
    test_decoded_message(it, parts, sizes, bytes != NULL ? 2 : 1);
}

static void text(test_decoded *it, const char *json)
{
    feed(it, "text", json, strlen(json));
}

/* Timestamps, channels that are padded to eight bytes, and waveforms whose trough is given; NULL: of stims.
 */
static size_t put_events(unsigned char *to, const uint64_t *frames, const uint8_t *channels,
                         const float *troughs, size_t count)
{
    size_t padded = (count + 7) / 8 * 8, at = 8 * count + padded;
    memset(to, 0, at);
    for (size_t i = 0; i < count; i++)
        test_little(to + 8 * i, frames[i], 8);
    memcpy(to + 8 * count, channels, count);
    for (size_t i = 0; troughs != NULL && i < count; i++) {
        const float samples[SAMPLES] = {[3] = 12.5f, [25] = troughs[i], [40] = 3};
        for (size_t k = 0; k < SAMPLES; k++, at += 4) {
            uint32_t bits;
            memcpy(&bits, &samples[k], sizeof bits);
            test_little(to + at, bits, 4);
        }
    }
    return at;
}

static void spike(test_decoded *it, uint64_t frame, uint8_t channel)
{
    unsigned char bytes[8 + 8 + 4 * SAMPLES];
    text(it, "{\"status\":\"cl_spikes\",\"spike_count\":1}");
    feed(it, "binary", bytes, put_events(bytes, &frame, &channel, &(float){-50}, 1));
}

#define RESET                                                                                                \
    "{\"status\":\"reset\",\"frames_per_second\":25000,\"reset_visualiser\":false,\"is_paused\":false}"

static const sf_unit given_units[] = {{.name = "8"}, {.name = "tip"}, {.name = "9"}};
static const int32_t numbers[] = {9, 8, 200};

static sf_decoder_options options(void)
{
    return (sf_decoder_options){.size = sizeof(sf_decoder_options),
                                .protocol = "cortical",
                                .units = given_units,
                                .unit_count = 3,
                                .channels = numbers};
}

static void open_given(test_decoded *it)
{
    const sf_decoder_options given = options();
    test_decoded_open(it, &given);
    feed(it, "open", NULL, 0);
    text(it, RESET);
}

/* With numbers it is those that count, whatever the units are called. */
static void spikes_are_read(void **state)
{
    (void)state;
    test_decoded it;
    unsigned char bytes[9 * 8 + 16 + 9 * 4 * SAMPLES];
    const uint64_t frames[9] = {25000, 25001, 25002, 25003, 25004, 25005, 25006, 25007, 123456789012};
    const uint8_t channels[9] = {8, 9, 200, 8, 8, 8, 8, 8, 9};
    const float troughs[9] = {-42, -43.5f, -44, -45, -46, -47, -48, -49, 0};
    open_given(&it);
    assert_true(it.is_known);
    text(&it, "{\"status\":\"cl_spikes\",\"spike_count\":9}");
    feed(&it, "binary", bytes, put_events(bytes, frames, channels, troughs, 9));
    test_decoded_require(&it,
                         "1000000000 tip -42\n1000040000 8 -43.5\n1000080000 9 -44\n1000120000 tip -45\n"
                         "1000160000 tip -46\n1000200000 tip -47\n1000240000 tip -48\n1000280000 tip -49\n"
                         "4938271560480000 8 12.5\n");
    spike(&it, 123456789013, 7);
    assert_int_equal(it.out_of_range, 1);
    assert_int_equal(it.malformed + it.gaps + it.restarts, 0);
    test_decoded_close(&it);
}

static void channels_are_learnt(void **state)
{
    (void)state;
    const sf_decoder_options given = {.size = sizeof given, .protocol = "cortical", .learn_s = 0.001};
    test_decoded it;
    test_decoded_open(&it, &given);
    spike(&it, 100, 12); /* before it is known how long a frame is */
    spike(&it, 101, 3);
    assert_false(it.is_known);
    text(&it, RESET);
    spike(&it, 125, 255);
    test_decoded_require(&it, "4000000 12 -50\n4040000 3 -50\n5000000 255 -50\n");
    assert_string_equal(it.units[0].name, "3");
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
}

static void stims_and_entries_are_markers(void **state)
{
    (void)state;
    test_decoded it;
    unsigned char bytes[64];
    const uint64_t frames[3] = {50000, 50000, 50001};
    const uint8_t channels[3] = {8, 12, 8};
    open_given(&it);
    text(&it, "{\"status\":\"cl_stims\",\"stim_count\":3}");
    feed(&it, "binary", bytes, put_events(bytes, frames, channels, NULL, 3));
    text(&it, "{\"status\":\"cl_stims\",\"stim_count\":1}"); /* goes on in the same frame */
    feed(&it, "binary", bytes, put_events(bytes, frames + 2, channels + 1, NULL, 1));
    text(&it, "{\"status\":\"new_data\",\"data_stream\":\"score\",\"timestamp\":50002}");
    feed(&it, "binary", "\xc0", 1);
    text(&it, "{\"status\":\"new_data\",\"data_stream\":\"empty\",\"timestamp\":50003}"); /* has no bytes */
    text(&it, "{\"timestamp\":50004,\"status\":\"new_data\",\"data_stream\":\"a \\u00e9\"}");
    feed(&it, "passed", &(uint64_t){5000000}, 8); /* longer than is read, which is not read anyway */
    test_decoded_require(&it, "2000000000 text stim\n2000000000 text stim 8\n2000000000 text stim 12\n"
                              "2000040000 text stim\n2000040000 text stim 8\n2000040000 text stim 12\n"
                              "2000080000 text score\n2000120000 text empty\n2000160000 text a \xc3\xa9\n");
    text(&it, "{\"status\":\"attributes_reset\",\"data_stream\":\"score\",\"attributes\":{\"x\":NaN}}");
    text(&it, "{\"status\":\"of another version\"}");
    feed(&it, "binary", "abc", 3);
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
}

/* ---- timing ---- */

static void count_warning(void *user, sf_log_level level, const char *line)
{
    (void)line;
    *(size_t *)user += level == SF_LOG_WARNING;
}

/* Since the last time. */
static size_t warnings(void)
{
    size_t count = 0;
    sf_log_drain(count_warning, &count);
    return count;
}

/* A playback at another speed says so in frames a second; its timestamps stay what they were. */
static void the_rate_of_frames_is_the_first(void **state)
{
    (void)state;
    test_decoded it;
    warnings();
    open_given(&it);
    assert_int_equal(warnings(), 0);
    text(&it, "{\"status\":\"timing\",\"frames_per_second\":50000,\"is_paused\":false}");
    assert_int_equal(warnings(), 1);
    spike(&it, 25000, 9);
    test_decoded_require(&it, "1000000000 8 -50\n");
    text(&it, "{\"status\":\"timing\",\"frames_per_second\":25000,\"is_paused\":true}");
    assert_int_equal(warnings(), 1);
    for (int i = 0; i < 1000; i++) /* no flood of them */
        text(&it, i % 2 == 0 ? "{\"status\":\"timing\",\"frames_per_second\":1000}"
                             : "{\"status\":\"timing\",\"frames_per_second\":2000}");
    assert_in_range(warnings(), 1, 11);
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
    sf_decoder_options given = options();
    test_decoded_open(&it, &given);
    text(&it, "{\"status\":\"reset\",\"frames_per_second\":20000}");
    assert_int_equal(warnings(), 1); /* unusual */
    spike(&it, 25000, 9);
    test_decoded_require(&it, "1250000000 8 -50\n");
    test_decoded_close(&it);
    given.sample_rate_hz = 10000; /* said, and not what is told */
    test_decoded_open(&it, &given);
    text(&it, RESET);
    assert_int_equal(warnings(), 1);
    spike(&it, 25000, 9);
    test_decoded_require(&it, "2500000000 8 -50\n");
    test_decoded_close(&it);
}

static void a_wrong_rate_is_told(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0", "-25000", "1e300", "\"25000\"", "null"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const sf_decoder_options given = options();
        char json[80];
        test_decoded it;
        test_decoded_open(&it, &given);
        snprintf(json, sizeof json, "{\"status\":\"reset\",\"frames_per_second\":%s}", wrong[i]);
        text(&it, json);
        assert_int_equal(it.malformed, 1);
        assert_false(it.is_known);
        test_decoded_close(&it);
    }
}

/* Nothing is numbered. But a server that is behind says that the stream is set anew, and leaves out. */
static void a_jump_of_a_stream_set_anew_is_a_gap(void **state)
{
    (void)state;
    test_decoded it;
    open_given(&it);
    spike(&it, 1000, 9);
    spike(&it, 101000, 9); /* four seconds of silence */
    spike(&it, 126000, 9);
    text(&it, RESET); /* a second later */
    assert_int_equal(it.gaps, 0);
    spike(&it, 151000, 9); /* another second */
    assert_int_equal(it.gaps, 0);
    spike(&it, 251000, 9);
    spike(&it, 275999, 9);
    assert_int_equal(it.gaps, 0);
    text(&it, RESET); /* the simulator says so once it has sent what comes after */
    assert_int_equal(it.gaps, 1);
    text(&it, RESET);
    spike(&it, 301000, 9); /* or before: a second and a frame */
    assert_int_equal(it.gaps, 2);
    spike(&it, 401000, 9);
    text(&it, "{\"status\":\"reset\",\"frames_per_second\":25000,\"is_paused\":true}"); /* after a silence */
    assert_int_equal(it.gaps, 2);
    text(&it, RESET);
    spike(&it, 1000, 9); /* back: a new epoch, which the times tell */
    feed(&it, "open", NULL, 0);
    text(&it, RESET);
    spike(&it, 900000, 9); /* another connection */
    assert_int_equal(it.gaps, 2);
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
}

static void times_that_step_back_are_kept_apart(void **state)
{
    (void)state;
    test_decoded it;
    unsigned char bytes[2 * (8 + 4 * SAMPLES) + 8];
    open_given(&it);
    text(&it, "{\"status\":\"cl_spikes\",\"spike_count\":2}");
    feed(&it, "binary", bytes,
         put_events(bytes, (uint64_t[]){50000, 75000}, (uint8_t[]){9, 9}, (float[]){-1, -2}, 2));
    text(&it, "{\"status\":\"reset\",\"frames_per_second\":25000,\"reset_visualiser\":true}");
    text(&it, "{\"status\":\"cl_spikes\",\"spike_count\":2}");
    feed(&it, "binary", bytes,
         put_events(bytes, (uint64_t[]){25000, 55000}, (uint8_t[]){9, 9}, (float[]){-3, -4}, 2));
    test_decoded_require(&it, "2000000000 8 -1\n3000000000 8 -2\n1000000000 8 -3\n2200000000 8 -4\n");
    test_decoded_close(&it);
}

/* ---- what is damaged ---- */

static void texts_that_are_damaged_are_counted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "hello",
        "[1,2]",
        "{}",
        "{\"state\":\"reset\"}",
        "{\"status\":7}",
        "{\"status\":\"cl_spikes\"}",
        "{\"status\":\"cl_spikes\",\"spike_count\":-1}",
        "{\"status\":\"cl_spikes\",\"spike_count\":1.5}",
        "{\"status\":\"cl_spikes\",\"spike_count\":9223372036854775807}",
        "{\"status\":\"cl_spikes\",\"spike_count\":99999999999999999999999999}",
        "{\"status\":\"cl_stims\",\"spike_count\":3}",
        "{\"status\":\"new_data\",\"timestamp\":5}",
        "{\"status\":\"new_data\",\"data_stream\":\"x\"}",
        "{\"status\":\"new_data\",\"data_stream\":\"\",\"timestamp\":5}",
        "{\"status\":\"new_data\",\"data_stream\":\"x\",\"timestamp\":9223372036854775807}",
        "{\"status\":\"timing\",\"is_paused\":false}"};
    test_decoded it;
    open_given(&it);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        text(&it, texts[i]);
        if (it.malformed != i + 1)
            fail_msg("case %zu is counted %d times: %s", i, (int)(it.malformed - i), it.fault);
    }
    test_decoded_require(&it, "");
    test_decoded_close(&it);
}

/* A number of events that the bytes are too short for, or too long. */
static void bytes_must_be_as_long_as_was_announced(void **state)
{
    (void)state;
    test_decoded it;
    unsigned char bytes[2 * (8 + 4 * SAMPLES) + 8];
    size_t size = put_events(bytes, (uint64_t[]){5000, 7500}, (uint8_t[]){9, 9}, (float[]){-1, -2}, 2),
           faults = 0;
    open_given(&it);
    for (size_t i = 0; i <= size + 1; i++) {
        unsigned char *cut = malloc(i > 0 ? i : 1); /* a block of its own, so that reading on is found */
        memset(cut, 0, i);
        memcpy(cut, bytes, i < size ? i : size);
        text(&it, "{\"status\":\"cl_spikes\",\"spike_count\":2}");
        feed(&it, "binary", cut, i);
        free(cut);
        faults += i != size;
        assert_int_equal(it.malformed, faults);
    }
    test_decoded_require(&it, "200000000 8 -1\n300000000 8 -2\n");
    text(&it, "{\"status\":\"cl_stims\",\"stim_count\":524288}");
    feed(&it, "binary", bytes, size);
    assert_int_equal(it.malformed, ++faults);
    feed(&it, "binary", bytes, size); /* nobody announced these */
    assert_int_equal(it.malformed, ++faults);
    text(&it, "{\"status\":\"cl_spikes\",\"spike_count\":2}"); /* its bytes do not come */
    text(&it, RESET);
    assert_int_equal(it.malformed, ++faults);
    text(&it, "{\"status\":\"cl_spikes\",\"spike_count\":20000}");
    feed(&it, "passed", &(uint64_t){6 << 20}, 8); /* more than is read: once */
    text(&it, RESET);
    assert_int_equal(it.malformed, ++faults);
    text(&it, "{\"status\":\"cl_spikes\",\"spike_count\":2}");
    feed(&it, "open", NULL, 0); /* the connection broke off in between */
    text(&it, RESET);
    assert_int_equal(it.malformed, faults);
    put_events(bytes, (uint64_t[]){UINT64_MAX, 8000}, (uint8_t[]){9, 9}, (float[]){-1, -2}, 2);
    text(&it, "{\"status\":\"cl_spikes\",\"spike_count\":2}");
    feed(&it, "binary", bytes, size);
    assert_int_equal(it.malformed, ++faults);
    test_decoded_require(&it, "320000000 8 -2\n");
    feed(&it, "binary", NULL, 0);
    feed(&it, "frame", "x", 1);
    assert_int_equal(it.malformed, faults + 2);
    test_decoded_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_are_read),
        cmocka_unit_test(channels_are_learnt),
        cmocka_unit_test(stims_and_entries_are_markers),
        cmocka_unit_test(the_rate_of_frames_is_the_first),
        cmocka_unit_test(a_wrong_rate_is_told),
        cmocka_unit_test(a_jump_of_a_stream_set_anew_is_a_gap),
        cmocka_unit_test(times_that_step_back_are_kept_apart),
        cmocka_unit_test(texts_that_are_damaged_are_counted),
        cmocka_unit_test(bytes_must_be_as_long_as_was_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
