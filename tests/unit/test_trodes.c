/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes of Trodes, by MessagePack written by hand. */
#include "support/decoded.h"
#include "support/support.h"

#include "decode/fields.h"

#include <stdlib.h>
#include <string.h>

static void message(test_decoded *it, const char *bytes, size_t size)
{
    const void *const parts[] = {bytes};
    test_decoded_message(it, parts, &size, 1);
}

#define MESSAGE(it, text) message(it, text, sizeof text - 1)

/* {"localTimestamp": 30000, "nTrodeId": 7, "cluster": 0}, its numbers as small as they go. */
#define SPIKE                                                                                                \
    "\x83\xaelocalTimestamp\xcd\x75\x30\xa8nTrodeId\x07\xa7"                                                 \
    "cluster\x00"

static sf_decoder_options options(void)
{
    static const sf_unit units[] = {{.name = "nt7"}, {.name = "deep"}};
    static const int32_t numbers[] = {-1, 8};
    return (sf_decoder_options){.size = sizeof(sf_decoder_options),
                                .protocol = "trodes",
                                .units = units,
                                .unit_count = 2,
                                .channels = numbers};
}

static void spikes_are_read(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    test_decoded it;
    test_decoded_open(&it, &given);
    MESSAGE(&it, SPIKE);
    test_decoded_require(&it, "1000000000 nt7 nan\n");
    /* In another order, with wider numbers, a name in a long text, and keys that are none of ours. */
    MESSAGE(&it,
            "\xde\x00\x05\xd9\x08nTrodeId\xd3\x00\x00\x00\x00\x00\x00\x00\x08\xa1x\x92\x81\x01\xc0\xc4\x02zz"
            "\xa7"
            "cluster\xcb\x40\x00\x00\x00\x00\x00\x00\x00\xa1y\xd8"
            "0123456789abcdef0"
            "\xaelocalTimestamp\xce\x00\x00\x75\x31");
    test_decoded_require(&it, "1000033333 deep nan\n");
    MESSAGE(&it, "\x82\xaelocalTimestamp\x01\xa8nTrodeId\x09");
    assert_int_equal(it.out_of_range, 1);
    assert_int_equal(it.malformed, 0);
    test_decoded_close(&it);
}

/* At 30 kHz the 32 bits of the sample number wrap after 39.8 hours. */
static void a_counter_that_wraps_goes_on(void **state)
{
    (void)state;
    const sf_decoder_options given = options();
    test_decoded it;
    test_decoded_open(&it, &given);
    MESSAGE(&it, "\x82\xaelocalTimestamp\xce\xff\xff\xff\xe2\xa8nTrodeId\x07"); /* 2^32 - 30 */
    MESSAGE(&it, "\x82\xaelocalTimestamp\x00\xa8nTrodeId\x07");
    test_decoded_require(&it, "143165575533333 nt7 nan\n143165576533333 nt7 nan\n");
    test_decoded_close(&it);
}

static void clusters_are_units_of_their_own(void **state)
{
    (void)state;
    const sf_decoder_options given = {.size = sizeof given, .protocol = "trodes", .learn_s = 0.001};
    test_decoded it;
    test_decoded_open(&it, &given);
    MESSAGE(&it, "\x83\xaelocalTimestamp\x01\xa8nTrodeId\x07\xa7"
                 "cluster\x02");
    MESSAGE(&it, SPIKE);
    test_decoded_require(&it, "33333 nt7:2 nan\n1000000000 nt7 nan\n");
    test_decoded_close(&it);
}

static void what_is_damaged_is_counted(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"", 0},
        {"\xc1", 1},
        {"\x93\x01\x02\x03", 4},
        {"\x81\xaelocalTimestamp\x01", 17},
        {"\x82\xaelocalTimestamp\x01\xa8nTrodeId\xff", 27},
        {"\x82\xaelocalTimestamp\x01\xa8nTrodeId\xd0\xf9", 28}, /* -7 in a byte */
        {"\x82\xaelocalTimestamp\xa1x\xa8nTrodeId\x01", 28},
        {"\x82\xaelocalTimestamp\xcb\x3f\xe0\0\0\0\0\0\0\xa8nTrodeId\x01", 35},
        {"\x82\xaelocalTimestamp\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xa8nTrodeId\x01", 35},
        {"\xdf\xff\xff\xff\xff", 5},
        {"\x81\xdd\xff\xff\xff\xff\x01", 7},
        {"\x81\xdb\xff\xff\xff\xff\x01", 7},
    };
    const sf_decoder_options given = options();
    test_decoded it;
    test_decoded_open(&it, &given);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        message(&it, cases[i].bytes, cases[i].size);
        if (it.malformed != i + 1) fail_msg("case %zu is not counted", i);
    }
    uint64_t before = it.malformed;
    for (size_t size = 0; size + 1 < sizeof SPIKE; size++) { /* wherever it is cut */
        char *cut = malloc(size + 1);
        memcpy(cut, SPIKE, size);
        message(&it, cut, size);
        free(cut);
        assert_int_equal(it.malformed, before + size + 1);
    }
    MESSAGE(&it, SPIKE "x");
    assert_int_equal(it.malformed, before + sizeof SPIKE);
    test_decoded_require(&it, "");
    test_decoded_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_are_read),
        cmocka_unit_test(a_counter_that_wraps_goes_on),
        cmocka_unit_test(clusters_are_units_of_their_own),
        cmocka_unit_test(what_is_damaged_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
