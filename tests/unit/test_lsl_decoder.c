/* SPDX-License-Identifier: Apache-2.0 */
/* Lab Streaming Layer: what inlets give, written by hand. */
#include "support/decoded.h"
#include "support/support.h"

#include <math.h>

static const sf_decoder_options learning = {.size = sizeof learning, .protocol = "lsl", .learn_s = 1};

static void message(test_decoded *it, const char *word, const void *first, size_t first_size,
                    const void *second, size_t second_size, const void *third, size_t third_size)
{
    const void *const parts[] = {word, first, second, third};
    test_decoded_message(it, parts, (const size_t[]){strlen(word), first_size, second_size, third_size}, 4);
}

static void about(test_decoded *it, const char *type, int32_t channels, int32_t is_text, double rate_hz,
                  const char *table, size_t size)
{
    char shape[16];
    memcpy(shape, &channels, 4);
    memcpy(shape + 4, &is_text, 4);
    memcpy(shape + 8, &rate_hz, 8);
    message(it, "about", type, strlen(type), shape, sizeof shape, table, size);
}

static void spike(test_decoded *it, double correction_s, double stamp_s, double unit)
{
    message(it, "spikes", &correction_s, 8, &stamp_s, 8, &unit, 8);
}

static void text(test_decoded *it, const char *word, double stamp_s, const char *told)
{
    const double none = 0;
    message(it, word, &none, 8, &stamp_s, 8, told, strlen(told));
}

static void numbers_are_units_of_the_senders_table(void **state)
{
    (void)state;
    static const char table[] = {"left\0"
                                 "10\0"
                                 "20\0"
                                 "right\0\0\0"};
    const double correction = 0.5, stamps[2] = {1.25, 1.000000001}, units[2] = {1, 0};
    test_decoded it;
    test_decoded_open(&it, &learning);
    about(&it, "Spikes", 1, 0, 0, table, sizeof table - 1);
    assert_true(it.is_known); /* nothing to learn */
    message(&it, "spikes", &correction, 8, stamps, 16, units, 16);
    test_decoded_require(&it, "1500000001 left nan\n1750000000 right nan\n");
    spike(&it, 0.5, 2, 2); /* beyond the table */
    assert_int_equal(it.out_of_range, 1);
    spike(&it, 0.5, 2, 0.5);
    spike(&it, 0.5, 2, -1);
    spike(&it, 0.5, NAN, 1);
    spike(&it, NAN, 2, 1);
    spike(&it, 0.5, 1e300, 1);
    assert_int_equal(it.malformed, 5);
    text(&it, "name", 3, "left"); /* it is no stream of texts */
    message(&it, "spikes", &correction, 8, stamps, 16, units, 8);
    message(&it, "sp", &correction, 8, stamps, 8, units, 8);
    assert_int_equal(it.malformed, 8);
    test_decoded_require(&it, "");
    test_decoded_close(&it);
}

static void pairs_and_texts_are_learnt(void **state)
{
    (void)state;
    const double none = 0, stamps[3] = {1, 1.5, 2.5}, pairs[6] = {4, 0, 4, 2, 7, 0};
    test_decoded it;
    test_decoded_open(&it, &learning);
    about(&it, "", 2, 0, 0, "", 0);
    assert_false(it.is_known);
    message(&it, "spikes", &none, 8, stamps, 24, pairs, 48);
    assert_true(it.is_known);
    test_decoded_require(&it, "1000000000 ch4 nan\n1500000000 ch4:2 nan\n2500000000 ch7 nan\n");
    test_decoded_close(&it);

    test_decoded_open(&it, &learning);
    about(&it, "Spikes", 1, 1, 0, "", 0);
    text(&it, "name", 1, "CA1");
    text(&it, "marker", 1.5, "TTL 12 on");
    text(&it, "marker", 1.6, "TTL 12 off");
    text(&it, "marker", 1.7, "TTL twelve on");
    text(&it, "name", 2.5, "CA3");
    test_decoded_require(&it,
                         "1000000000 CA1 nan\n2500000000 CA3 nan\n1500000000 ttl12 1\n1600000000 ttl12 0\n"
                         "1700000000 text TTL twelve on\n");
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
}

static void a_files_channels_are_the_numbers(void **state)
{
    (void)state;
    static const sf_unit given[] = {{.name = "tip"}, {.name = "shaft"}};
    static const int32_t numbers[] = {3, 1};
    const sf_decoder_options options = {
        .size = sizeof options, .protocol = "lsl", .units = given, .unit_count = 2, .channels = numbers};
    test_decoded it;
    test_decoded_open(&it, &options);
    about(&it, "Spikes", 1, 0, 0, "", 0);
    spike(&it, 0, 1, 3);
    spike(&it, 0, 2, 0);
    test_decoded_require(&it, "1000000000 tip nan\n");
    assert_int_equal(it.out_of_range, 1);
    about(&it, "Spikes", 1, 0, 0, "x\0\0\0shaft\0\0\0", 12); /* by name, and by place */
    spike(&it, 0, 3, 1);
    spike(&it, 0, 4, 0);
    test_decoded_require(&it, "3000000000 shaft nan\n");
    assert_int_equal(it.out_of_range, 2);
    test_decoded_close(&it);
}

/* An estimate that wanders bends no interval by more than 100 ppm; one that jumps is another clock. */
static void corrections_are_gone_after(void **state)
{
    (void)state;
    test_decoded it;
    test_decoded_open(&it, &learning);
    about(&it, "Spikes", 1, 0, 0, "a\0\0\0", 4);
    spike(&it, 0, 10, 0);
    spike(&it, 0.001, 11, 0); /* 0.1 ms of it */
    spike(&it, 0.001, 20, 0);
    spike(&it, 0.001, 30, 0);
    spike(&it, 0, 30.5, 0);
    test_decoded_require(&it, "10000000000 a nan\n11000100000 a nan\n20001000000 a nan\n30001000000 a nan\n"
                              "30500950000 a nan\n");
    assert_int_equal(it.restarts, 0);
    spike(&it, -5, 31, 0);
    test_decoded_require(&it, "26000000000 a nan\n");
    assert_int_equal(it.restarts, 1);
    test_decoded_close(&it);
}

static void connecting_anew_is_a_run(void **state)
{
    (void)state;
    test_decoded it;
    test_decoded_open(&it, &learning);
    about(&it, "Spikes", 1, 0, 0, "a\0\0\0b\0\0\0", 8);
    spike(&it, 0, 10, 1);
    about(&it, "Spikes", 1, 0, 0, "b\0\0\0z\0\0\0", 8); /* it calls them otherwise; z is none of this run's */
    spike(&it, 2, 1, 0);
    spike(&it, 2, 2, 1);
    test_decoded_require(&it, "10000000000 b nan\n3000000000 b nan\n");
    assert_int_equal(it.restarts, 1);
    assert_int_equal(it.out_of_range, 1);
    test_decoded_close(&it);
}

static void other_streams_are_said(void **state)
{
    (void)state;
    static const struct {
        int32_t channels, is_text;
        double rate_hz;
        const char *told;
    } cases[] = {{64, 0, 1000, "a stream of numbers with 64 channels at 1000 Hz, expected spikes"},
                 {1, 0, 250, "a stream of numbers with 1 channel at 250 Hz"},
                 {2, 1, 0, "a stream of texts with 2 channels at 0 Hz"},
                 {-1, 0, 0, "a stream of numbers with -1 channels"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_decoded it;
        test_decoded_open(&it, &learning);
        about(&it, "EEG", cases[i].channels, cases[i].is_text, cases[i].rate_hz, "", 0);
        assert_int_equal(it.malformed, 1);
        if (strstr(it.fault, cases[i].told) == NULL) fail_msg("%s", it.fault);
        test_decoded_close(&it);
    }
}

/* A source of markers alone has no units, and is known at once. Long texts are cut between letters. */
static void markers_alone_are_a_stream(void **state)
{
    (void)state;
    test_decoded it;
    test_decoded_open(&it, &learning);
    about(&it, "Markers", 1, 1, 0, "", 0);
    assert_true(it.is_known);
    text(&it, "marker", 1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9 and more");
    test_decoded_require(&it, "1000000000 text aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
    test_decoded_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_units_of_the_senders_table),
        cmocka_unit_test(pairs_and_texts_are_learnt),
        cmocka_unit_test(a_files_channels_are_the_numbers),
        cmocka_unit_test(corrections_are_gone_after),
        cmocka_unit_test(connecting_anew_is_a_run),
        cmocka_unit_test(other_streams_are_said),
        cmocka_unit_test(markers_alone_are_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
