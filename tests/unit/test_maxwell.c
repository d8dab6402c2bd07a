/* SPDX-License-Identifier: Apache-2.0 */
/* MaxLab Live's spikes in both layouts, by bytes written by hand from the two definitions. */
#include "support/decoded.h"
#include "support/support.h"

#include "decode/decoder.h"

#include <string.h>

/* Frame 10000, amplitude -42, channel 7, well 0. */
#define FRAME 0x10, 0x27, 0, 0, 0, 0, 0, 0
static const unsigned char new_spike[16] = {FRAME, 0, 0, 0x28, 0xc2, 7, 0, 0, 0};
static const unsigned char old_spike[24] = {0, 0, 0, 0, 0, 0, 0, 0, FRAME, 7, 0, 0, 0, 0, 0, 0x28, 0xc2};

static void frame(test_decoded *it, uint64_t number, bool has_samples, const void *spikes, size_t size)
{
    static const float samples[1027];
    unsigned char bytes[8];
    const void *parts[3] = {bytes, samples, spikes};
    size_t sizes[3] = {sizeof bytes, sizeof samples, size}, count = size > 0 ? 3 : 2;
    test_little(bytes, number, sizeof bytes);
    if (!has_samples) {
        parts[1] = spikes;
        sizes[1] = size;
        count--;
    }
    test_decoded_message(it, parts, sizes, count);
}

static const sf_unit routed[] = {{.name = "4711", .electrode = 4711}, {.name = "1200", .electrode = 1200}};
static const int32_t channels[] = {7, 1031}; /* the second: channel 7 of well 1 */

static sf_decoder_options options(const char *layout)
{
    return (sf_decoder_options){.size = sizeof(sf_decoder_options),
                                .protocol = "maxwell",
                                .units = routed,
                                .unit_count = 2,
                                .channels = channels,
                                .layout = layout};
}

static void both_layouts_are_read(void **state)
{
    (void)state;
    const sf_decoder_options given = options("auto");
    test_decoded it;
    test_decoded_open(&it, &given);
    frame(&it, 10000, true, new_spike, sizeof new_spike); /* 20 kHz: 0.5 s; the clock is 4096 frames behind */
    test_decoded_require(&it, "500000000 4711 -42\nuntil 295200000\n");
    unsigned char well_one[16];
    memcpy(well_one, new_spike, 16);
    well_one[14] = 1;
    frame(&it, 10001, false, well_one, sizeof well_one);
    test_decoded_require(&it, "500000000 1200 -42\nuntil 295250000\n");
    frame(&it, 10002, true, old_spike, sizeof old_spike); /* another version of the server */
    test_decoded_require(&it, "500000000 4711 -42\nuntil 295300000\n");
    frame(&it, 10003, true, NULL, 0);
    test_decoded_require(&it, "until 295350000\n");
    assert_int_equal(it.malformed + it.gaps + it.restarts + it.out_of_range, 0);
    test_decoded_close(&it);
}

/* Units are learnt as long as frames go on for, however far behind them the clock is. */
static void units_are_learnt_for_as_long_as_asked(void **state)
{
    (void)state;
    const sf_decoder_options given = {
        .size = sizeof given, .protocol = "maxwell", .layout = "mxw16", .learn_s = 0.1};
    test_decoded it;
    unsigned char spike[16] = {0};
    test_decoded_open(&it, &given);
    for (uint64_t number = 0; number < 2000; number += 1000) { /* 50 ms apart */
        test_little(spike, number, sizeof number);
        spike[12] = (unsigned char)(number / 1000);
        frame(&it, number, true, spike, sizeof spike);
        test_decoded_require(&it, "");
    }
    frame(&it, 2000, true, NULL, 0);
    assert_int_equal(it.out_of_range, 0);
    test_decoded_require(&it, "0 ch0 0\n50000000 ch1 0\nuntil -104800000\n");
    test_decoded_close(&it);
}

/* Two spikes of the one are as long as three of the other. */
static void forty_eight_bytes_are_told_apart(void **state)
{
    (void)state;
    unsigned char two[48], three[48];
    for (size_t i = 0; i < 2; i++)
        memcpy(two + 24 * i, old_spike, 24);
    for (size_t i = 0; i < 3; i++)
        memcpy(three + 16 * i, new_spike, 16);
    const sf_decoder_options given = options(NULL);
    for (int first = 0; first < 2; first++) {
        test_decoded it;
        test_decoded_open(&it, &given);
        frame(&it, 10010 + (uint64_t)first, true, first ? two : three, 48);
        frame(&it, 10011 + (uint64_t)first, true, first ? three : two, 48);
        size_t spikes = 0;
        for (const char *at = it.told.data; (at = strstr(at, "500000000 4711 -42\n")) != NULL; at++)
            spikes++;
        assert_int_equal(spikes, 5);
        assert_int_equal(it.malformed, 0);
        test_decoded_close(&it);
    }
}

/* At the very beginning of a run the padding of the one may be a frame of the other. */
/* braindance's server has 1,025 channels. */
static void a_channel_that_there_is_not_leaves_the_others(void **state)
{
    (void)state;
    const sf_decoder_options given = options("auto");
    test_decoded it;
    unsigned char two[48];
    memcpy(two, old_spike, 24);
    memcpy(two + 24, old_spike, 24);
    test_little(two + 16, 1024, 4);
    test_decoded_open(&it, &given);
    frame(&it, 10000, true, old_spike, 24);
    frame(&it, 10001, true, two, 48);
    test_decoded_require(&it, "500000000 4711 -42\nuntil 295200000\n500000000 4711 -42\nuntil 295250000\n");
    assert_int_equal(it.out_of_range, 1);
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
}

/* Its file of 50 ms is begun anew again and again while units are learnt: each time is told where it is. */
static void runs_while_units_are_learnt_begin_anew(void **state)
{
    (void)state;
    const sf_decoder_options given = {.size = sizeof given, .protocol = "maxwell", .learn_s = 0.18};
    sf_batch batch;
    sf_decoder *decoder;
    unsigned char number[8], spike[16];
    uint64_t restarts = 0, runs[12] = {0};
    size_t count = 0;
    assert_int_equal(sf_decoder_open(&decoder, &given, NULL), SF_OK);
    for (uint64_t i = 0; i < 12; i++) { /* three frames a run, 49.95 ms */
        uint64_t now = i % 3 == 2 ? 999 : 400 * (i % 3);
        memcpy(spike, new_spike, sizeof spike);
        test_little(number, now, 8);
        test_little(spike, now, 8);
        assert_int_equal(sf_decoder_feed(decoder, number, 8, SF_FEED_PART, NULL), SF_OK);
        assert_int_equal(sf_decoder_feed(decoder, spike, 16, SF_FEED_MESSAGE, NULL), SF_OK);
        while (sf_decoder_next(decoder, &batch, NULL) == SF_OK) {
            restarts += batch.restarts;
            for (size_t k = 0; k < batch.spike_count && count < 12; k++)
                runs[count++] = restarts;
        }
    }
    assert_int_equal(count, 12);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(runs[i], i / 3);
    sf_decoder_close(decoder);
}

static void what_may_be_either_is_counted_unless_told(void **state)
{
    (void)state;
    unsigned char both[48] = {0};
    sf_decoder_options given = options("auto");
    test_decoded it;
    test_decoded_open(&it, &given);
    frame(&it, 100, true, both, 48);
    assert_int_equal(it.malformed, 1);
    assert_non_null(strstr(it.fault, "neither layout, or of both"));
    test_decoded_close(&it);
    given.layout = "mxw24";
    test_decoded_open(&it, &given);
    frame(&it, 100, true, both, 48);
    assert_int_equal(it.malformed, 0);
    assert_int_equal(it.out_of_range, 2); /* channel 0 is not routed */
    frame(&it, 10000, true, new_spike, sizeof new_spike);
    assert_int_equal(it.malformed, 1); /* it was told */
    test_decoded_close(&it);
    sf_decoder *decoder;
    sf_error error;
    given.layout = "mxw23";
    test_assert_fails(sf_decoder_open(&decoder, &given, &error), &error, SF_USAGE, "auto, mxw16 or mxw24");
}

static void frames_that_are_missing_are_lost_and_restarts_are_not(void **state)
{
    (void)state;
    const sf_decoder_options given = options("auto");
    test_decoded it;
    test_decoded_open(&it, &given);
    frame(&it, 5000, true, NULL, 0);
    frame(&it, 5003, true, NULL, 0);
    assert_int_equal(it.gap_lost, 2);
    frame(&it, 5003, true, NULL, 0);
    assert_int_equal(it.malformed, 1);
    frame(&it, 17, true, NULL, 0);
    assert_int_equal(it.restarts, 1);
    frame(&it, 18, true, NULL, 0);
    assert_int_equal(it.gaps, 1);
    test_decoded_close(&it);
}

static void what_is_damaged_is_counted(void **state)
{
    (void)state;
    const sf_decoder_options given = options("auto");
    const uint64_t numbers[] = {10000, 10001, 10002, 10003, 10004}, far = UINT64_MAX;
    test_decoded it;
    test_decoded_open(&it, &given);
    unsigned char late[16], beyond[16], channel[16];
    memcpy(late, new_spike, 16);
    memcpy(beyond, new_spike, 16);
    memcpy(channel, new_spike, 16);
    late[1] = 1;      /* frame 272 */
    beyond[7] = 0x80; /* a frame that is to come */
    channel[13] = 4;  /* 1031 */
    const struct {
        const void *parts[4];
        size_t sizes[4], count;
    } cases[] = {
        {{"1234567"}, {7}, 1},
        {{&far}, {8}, 1},
        {{&numbers[0], late, late}, {8, 16, 16}, 3},
        {{&numbers[1], beyond, beyond}, {8, 16, 16}, 3},
        {{&numbers[2], channel, channel}, {8, 16, 16}, 3},
        {{&numbers[3], late, new_spike}, {8, 16, 15}, 3},
        {{&numbers[4], late, late, late}, {8, 16, 16, 16}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_decoded_message(&it, cases[i].parts, cases[i].sizes, cases[i].count);
        assert_int_equal(it.malformed, i + 1);
        assert_null(strstr(it.fault, "before"));
    }
    assert_null(strstr(it.told.length > 0 ? it.told.data : "", "4711"));
    test_decoded_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_layouts_are_read),
        cmocka_unit_test(units_are_learnt_for_as_long_as_asked),
        cmocka_unit_test(forty_eight_bytes_are_told_apart),
        cmocka_unit_test(a_channel_that_there_is_not_leaves_the_others),
        cmocka_unit_test(runs_while_units_are_learnt_begin_anew),
        cmocka_unit_test(what_may_be_either_is_counted_unless_told),
        cmocka_unit_test(frames_that_are_missing_are_lost_and_restarts_are_not),
        cmocka_unit_test(what_is_damaged_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
