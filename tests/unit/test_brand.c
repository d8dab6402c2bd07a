/* SPDX-License-Identifier: Apache-2.0 */
/* BRAND's entries of threshold crossings, by bytes written by hand. */
#include "support/decoded.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void entry(test_decoded *it, const char *id, const void *stamp, size_t stamp_size, const void *counts,
                  size_t size)
{
    const void *const parts[] = {id, stamp, counts};
    test_decoded_message(it, parts, (const size_t[]){strlen(id), stamp_size, size}, 3);
}

/* 1,000,000,000 ns; channel 0 crossed twice, channel 1 never, channel 2 once. */
static const unsigned char second[8] = {0x00, 0xca, 0x9a, 0x3b, 0, 0, 0, 0};
static const unsigned char crossings[6] = {2, 0, 0, 0, 1, 0};

static const sf_decoder_options options = {.size = sizeof options, .protocol = "brand"};

static void every_crossing_is_a_spike(void **state)
{
    (void)state;
    test_decoded it;
    test_decoded_open(&it, &options);
    entry(&it, "1690000000000-0", second, 8, crossings, 6);
    assert_true(it.is_known); /* all channels, though one was silent */
    test_decoded_require(&it,
                         "1000000000 ch0 nan\n1000000000 ch0 nan\n1000000000 ch2 nan\nuntil 1000000000\n");
    static const unsigned char other[6] = {0, 0, 1, 0, 0, 0};
    entry(&it, "1500-7", "", 0, other, 6); /* by Redis' clock */
    test_decoded_require(&it, "1500000000 ch1 nan\nuntil 1500000000\n");
    assert_int_equal(it.malformed + it.out_of_range, 0);
    test_decoded_close(&it);
}

static void entry_at(test_decoded *it, uint64_t number, size_t sample_size)
{
    unsigned char sample[8];
    test_little(sample, number, sample_size);
    const void *const parts[] = {"1-0", second, crossings, sample};
    test_decoded_message(it, parts, (const size_t[]){3, 8, 6, sample_size}, 4);
}

static void a_bin_is_at_its_sample(void **state)
{
    (void)state;
    test_decoded it;
    test_decoded_open(&it, &options);
    entry_at(&it, UINT32_MAX - 29, 4); /* at 30 kHz; wraps */
    test_decoded_require(&it, "143165575533333 ch0 nan\n143165575533333 ch0 nan\n143165575533333 ch2 nan\n"
                              "until 143165575533333\n");
    entry_at(&it, 0, 4);
    test_decoded_require(&it, "143165576533333 ch0 nan\n143165576533333 ch0 nan\n143165576533333 ch2 nan\n"
                              "until 143165576533333\n");
    entry_at(&it, 0, 0); /* what has one has all */
    entry_at(&it, 30, 2);
    assert_int_equal(it.malformed, 2);
    test_decoded_close(&it);

    sf_decoder_options given = options;
    given.sample_rate_hz = 1e9; /* a rig that is timed by PTP */
    test_decoded_open(&it, &given);
    entry_at(&it, UINT64_C(6000000000), 8);
    test_decoded_require(&it,
                         "6000000000 ch0 nan\n6000000000 ch0 nan\n6000000000 ch2 nan\nuntil 6000000000\n");
    test_decoded_close(&it);
}

/* The bytes of `"key": "hex"` in a line; how many. */
static size_t take_hex(const char *line, const char *key, unsigned char *bytes, size_t most)
{
    size_t size = 0;
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
    const char *at = strstr(line, quoted);
    unsigned byte;
    for (at += at != NULL ? strlen(quoted) : 0; at != NULL && size < most && sscanf(at, "%2x", &byte) == 1;
         at += 2)
        bytes[size++] = (unsigned char)byte;
    return size;
}

/* What BRAND's own node sent: threshold crossings of made-up data on whole milliseconds of the rig, that were
 * written when its computer came to it. */
static void crossings_of_the_real_node_are_at_their_samples(void **state)
{
    (void)state;
    char *path = test_data_path("cases/rigs/brand-thresholdExtraction.jsonl");
    if (path == NULL) skip();
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    test_decoded it;
    test_decoded_open(&it, &options);
    char line[4096];
    size_t entries = 0, spikes = 0;
    for (; fgets(line, sizeof line, file) != NULL; entries++) {
        unsigned char stamp[8], counts[256], sample[8];
        const void *const parts[] = {"1-0", stamp, counts, sample};
        const size_t sizes[] = {3, take_hex(line, "ts", stamp, sizeof stamp),
                                take_hex(line, "crossings", counts, sizeof counts),
                                take_hex(line, "timestamps", sample, sizeof sample)};
        test_decoded_message(&it, parts, sizes, 4);
    }
    fclose(file);
    free(path);
    assert_int_equal(entries, 180);
    assert_int_equal(it.malformed + it.out_of_range, 0);
    for (const char *at = it.told.data; (at = strstr(at, " ch")) != NULL; at++, spikes++)
        assert_memory_equal(at - 6, "000000", 6);
    assert_int_equal(spikes, 31);
    test_decoded_close(&it);
}

static void channels_that_no_unit_has_are_counted(void **state)
{
    (void)state;
    const sf_unit tip = {.name = "tip"};
    const int32_t number = 2;
    sf_decoder_options given = options;
    given.units = &tip;
    given.unit_count = 1;
    given.channels = &number;
    test_decoded it;
    test_decoded_open(&it, &given);
    entry(&it, "1-0", second, 8, crossings, 6);
    test_decoded_require(&it, "1000000000 tip nan\nuntil 1000000000\n");
    assert_int_equal(it.out_of_range, 2);
    test_decoded_close(&it);
}

static void what_is_damaged_is_counted(void **state)
{
    (void)state;
    static const unsigned char negative[6] = {0xff, 0xff, 0, 0, 0, 0}, far[8] = {0, 0, 0, 0, 0, 0, 0, 0xff};
    test_decoded it;
    test_decoded_open(&it, &options);
    entry(&it, "1-0", second, 8, crossings, 6);
    sf_text_clear(&it.told);
    const struct {
        const char *id;
        const void *stamp, *counts;
        size_t stamp_size, size;
    } cases[] = {
        {"1-0", second, crossings, 7, 6},
        {"x", "", crossings, 0, 6},
        {"", "", crossings, 0, 6},
        {"1-0", far, crossings, 8, 6},
        {"1-0", second, crossings, 8, 0},
        {"1-0", second, crossings, 8, 5},
        {"1-0", second, crossings, 8, 4},
        {"1-0", second, negative, 8, 6},
        {"99999999999999999999999999999999-0", "", crossings, 0, 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        entry(&it, cases[i].id, cases[i].stamp, cases[i].stamp_size, cases[i].counts, cases[i].size);
        if (it.malformed != i + 1) fail_msg("case %zu is not counted", i);
    }
    assert_null(strstr(it.told.data, "ch"));
    test_decoded_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_crossing_is_a_spike),
        cmocka_unit_test(a_bin_is_at_its_sample),
        cmocka_unit_test(crossings_of_the_real_node_are_at_their_samples),
        cmocka_unit_test(channels_that_no_unit_has_are_counted),
        cmocka_unit_test(what_is_damaged_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
