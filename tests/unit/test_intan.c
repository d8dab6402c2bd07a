/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes of Intan RHX, by bytes written by hand from its description. */
#include "support/decoded.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/log.h"
#include "decode/rig.h"

#include <string.h>
#include <time.h>

/* A-000, sample 1000, unit 1. */
static const unsigned char one[14] = {0x0f, 0x71, 0xe2, 0x3a, 'A', '-', '0', '0', '0', 0xe8, 3, 0, 0, 1};

static void chunk(unsigned char to[14], const char *name, uint32_t sample, unsigned char id)
{
    memcpy(to, one, 14);
    memcpy(to + 4, name, 5);
    test_little(to + 9, sample, 4);
    to[13] = id;
}

static void spike(test_decoded *it, const char *name, uint32_t sample, unsigned char id)
{
    unsigned char bytes[14];
    chunk(bytes, name, sample, id);
    test_decoded_bytes(it, bytes, sizeof bytes);
}

static const sf_unit channels_given[] = {{.name = "A-000:1"}, {.name = "tip"}, {.name = "B-001"}};
static const int32_t numbers[] = {-1, 1, 500};

static sf_decoder_options options(void)
{
    return (sf_decoder_options){.size = sizeof(sf_decoder_options),
                                .protocol = "intan",
                                .units = channels_given,
                                .unit_count = 3,
                                .channels = numbers};
}

static void spikes_are_read(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    test_decoded it;
    test_decoded_open(&it, &given);
    test_decoded_bytes(&it, one, sizeof one);
    spike(&it, "A-001", 30000, 8); /* neuron 4 of channel 1 */
    spike(&it, "A-001", 30001, 0x40);
    spike(&it, "B-001", 30002, 0x40);
    test_decoded_require(
        &it, "33333333 A-000:1 nan\n1000000000 tip nan\n1000033333 tip nan\n1000066667 B-001 nan\n");
    spike(&it, "B-001", 30003, 0x80); /* likely an artefact */
    spike(&it, "C-001", 30003, 0x40);
    assert_int_equal(it.out_of_range, 2);
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
}

/* After 39 hours the sample number begins anew, and stream time goes on. */
static void a_wrap_is_gone_through(void **state)
{
    (void)state;
    sf_decoder_options given = options();
    given.sample_rate_hz = 1000;
    test_decoded it;
    test_decoded_open(&it, &given);
    spike(&it, "A-001", UINT32_MAX - 4, 1);
    spike(&it, "A-001", 5, 1);
    spike(&it, "A-001", UINT32_MAX, 1); /* a little late */
    test_decoded_require(&it,
                         "4294967291000000 tip nan\n4294967301000000 tip nan\n4294967295000000 tip nan\n");
    test_decoded_close(&it);
}

static void bytes_may_be_cut_and_broken_anywhere(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    unsigned char bytes[14 * 6];
    for (int i = 0; i < 6; i++)
        chunk(bytes + 14 * i, "A-001", 30000 + (uint32_t)i, 1);
    bytes[14 + 2] = 0;      /* its magic */
    bytes[3 * 14 + 13] = 3; /* two neurons at once */
    bytes[4 * 14 + 5] = 7;  /* no name */
    static const char told[] = "1000000000 tip nan\n1000066667 tip nan\n1000166667 tip nan\n";
    for (size_t piece = 1; piece <= sizeof bytes; piece++) {
        test_decoded it;
        test_decoded_open(&it, &given);
        for (size_t at = 0; at < sizeof bytes; at += piece)
            test_decoded_bytes(&it, bytes + at, piece < sizeof bytes - at ? piece : sizeof bytes - at);
        test_decoded_require(&it, told);
        assert_int_equal(it.malformed, 3);
        test_decoded_close(&it);
    }
}

/* What is no spike is told once its magic is wrong, not only once a chunk's length has come. */
static void a_broken_magic_is_told_at_once(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    for (size_t cut = 0; cut < 4; cut++) {
        test_decoded it;
        test_decoded_open(&it, &given);
        test_decoded_bytes(&it, (const unsigned char[]){0x0f, 0x71, 0, 0x3a, 'A'}, cut);
        assert_int_equal(it.malformed, cut > 2);
        test_decoded_bytes(&it, &(const unsigned char[]){0x0f, 0x71, 0, 0x3a, 'A'}[cut], 5 - cut);
        assert_int_equal(it.malformed, 1);
        test_decoded_close(&it);
    }
}

/* RHX stopped and run again: one read takes the end of one run and the beginning of the next. */
static void a_run_that_begins_within_a_read_comes_after(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    const uint32_t samples[] = {90000, 90060, 90030, 93000, 300, 330, 600, 630, 90090};
    unsigned char bytes[14 * 9];
    test_decoded it;
    test_decoded_open(&it, &given);
    for (size_t i = 0; i < 9; i++)
        chunk(bytes + 14 * i, "A-001", samples[i], 1);
    test_decoded_bytes(&it, bytes, sizeof bytes);
    test_decoded_require(&it,
                         "3000000000 tip nan\n3002000000 tip nan\n3001000000 tip nan\n3100000000 tip nan\n"
                         "10000000 tip nan\n11000000 tip nan\n20000000 tip nan\n21000000 tip nan\n"
                         "3003000000 tip nan\n");
    test_decoded_close(&it);
}

/* What was kept while units were learnt goes out by when it came, so that nothing takes it for a clock that
 * stepped. */
static void what_was_learnt_from_goes_out_as_it_came(void **state)
{
    (void)state;
    const sf_decoder_options given = {
        .size = sizeof given, .protocol = "intan", .sample_rate_hz = 1000, .learn_s = 1};
    const uint32_t samples[] = {0, 500, 490, 1000}; /* the third is before the second */
    static const int64_t in_order[] = {0, 490, 500, 1000};
    static const size_t with[] = {0, 1, 1, 3};
    int64_t came[4], told[4], times[4];
    size_t count = 0;
    unsigned char bytes[14];
    sf_batch batch;
    sf_decoder *decoder;
    assert_int_equal(sf_decoder_open(&decoder, &given, NULL), SF_OK);
    for (size_t i = 0; i < 4; i++) {
        const struct timespec pause = {.tv_nsec = SF_RIG_STEP_NS + 10000000};
        nanosleep(&pause, NULL);
        chunk(bytes, "A-001", samples[i], 1);
        came[i] = sf_clock_monotonic_ns();
        assert_int_equal(sf_decoder_feed(decoder, bytes, sizeof bytes, SF_FEED_BYTES, NULL), SF_OK);
        while (sf_decoder_next(decoder, &batch, NULL) == SF_OK)
            for (size_t k = 0; k < batch.spike_count; k++, count++) {
                assert_in_range(count, 0, 3);
                times[count] = batch.spikes[k].time_ns;
                told[count] = batch.arrival_ns;
            }
    }
    assert_int_equal(count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(times[i], in_order[i] * SF_MILLISECOND);
        assert_in_range(told[i] - came[with[i]], 0, SF_RIG_STEP_NS);
    }
    sf_decoder_close(decoder);
}

static void collect(void *text, sf_log_level level, const char *line)
{
    (void)level;
    sf_text_printf(text, "%s\n", line);
}

/* The first second shows what electrodes there are, and whether RHX sorts. */
static void learn(test_decoded *it, const char *const *channels, const unsigned char *ids, uint32_t count)
{
    const sf_decoder_options given = {
        .size = sizeof given, .protocol = "intan", .sample_rate_hz = 1000, .learn_s = 1};
    test_decoded_open(it, &given);
    for (uint32_t i = 0; i < count; i++)
        spike(it, channels[i], 1000 * i / (count - 1), ids[i]);
}

/* No hoop is drawn: all are marked 1. */
static void plain_crossings_are_of_their_channels(void **state)
{
    (void)state;
    test_decoded it;
    sf_text log = {0};
    sf_log_drain(collect, &log);
    sf_text_clear(&log);
    learn(&it, (const char *const[]){"B-003", "A-010", "A-002"}, (const unsigned char[]){1, 1, 1}, 3);
    test_decoded_require(&it, "0 B-003 nan\n500000000 A-010 nan\n1000000000 A-002 nan\n");
    static const char *const order[] = {"A-002", "A-010", "B-003"};
    assert_int_equal(it.unit_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(it.units[i].name, order[i]);
    spike(&it, "A-002", 1001, 1);
    spike(&it, "A-010", 1002, 2); /* a hoop was drawn since */
    spike(&it, "A-003", 1003, 1); /* slow to fire */
    spike(&it, "A-004", 1004, 1);
    test_decoded_require(&it, "1001000000 A-002 nan\n1002000000 A-010 nan\n");
    assert_int_equal(it.out_of_range, 2);
    test_decoded_close(&it);
    sf_log_drain(collect, &log);
    assert_non_null(strstr(log.data, "'A-003' is heard of for the first time after the 1 s"));
    assert_null(strstr(log.data, "A-004"));
    sf_text_free(&log);
}

static void neurons_are_units_where_rhx_sorts(void **state)
{
    (void)state;
    test_decoded it;
    learn(&it, (const char *const[]){"A-010", "A-002", "A-002", "A-002"},
          (const unsigned char[]){1, 1, 0x40, 1}, 4);
    test_decoded_require(
        &it, "0 A-010:1 nan\n333000000 A-002:1 nan\n666000000 A-002 nan\n1000000000 A-002:1 nan\n");
    test_decoded_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_are_read),
        cmocka_unit_test(a_wrap_is_gone_through),
        cmocka_unit_test(bytes_may_be_cut_and_broken_anywhere),
        cmocka_unit_test(a_broken_magic_is_told_at_once),
        cmocka_unit_test(a_run_that_begins_within_a_read_comes_after),
        cmocka_unit_test(plain_crossings_are_of_their_channels),
        cmocka_unit_test(neurons_are_units_where_rhx_sorts),
        cmocka_unit_test(what_was_learnt_from_goes_out_as_it_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
