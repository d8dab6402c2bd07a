/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decoded.h"

#include "support/support.h"

#include <inttypes.h>
#include <stdio.h>

void test_decoded_open(test_decoded *it, const sf_decoder_options *options)
{
    sf_error error = {0};
    *it = (test_decoded){0};
    if (sf_decoder_open(&it->decoder, options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
}

void test_decoded_close(test_decoded *it)
{
    sf_decoder_close(it->decoder);
    sf_text_free(&it->told);
}

static void tell(test_decoded *it, const sf_decoded *decoded)
{
    for (size_t i = 0; i < decoded->spike_count; i++) {
        const sf_spike *spike = &decoded->spikes[i];
        assert_true(spike->unit < decoded->unit_count);
        sf_text_printf(&it->told, "%" PRId64 " %s %g\n", spike->time_ns, decoded->units[spike->unit].name,
                       (double)spike->amplitude);
    }
    for (size_t i = 0; i < decoded->marker_count; i++) {
        const sf_marker *marker = &decoded->markers[i];
        if (marker->kind == SF_MARKER_TTL)
            sf_text_printf(&it->told, "%" PRId64 " ttl%u %u\n", marker->time_ns, marker->line, marker->state);
        else
            sf_text_printf(&it->told, "%" PRId64 " text %s\n", marker->time_ns, marker->text);
    }
    if (decoded->watermark_ns != INT64_MIN)
        sf_text_printf(&it->told, "until %" PRId64 "\n", decoded->watermark_ns);
    it->malformed += decoded->malformed;
    it->out_of_range += decoded->out_of_range;
    it->gaps += decoded->gaps;
    it->gap_lost += decoded->gap_lost;
    it->other_streams += decoded->other_streams;
    it->restarts += decoded->restarts;
    it->is_known = decoded->is_known;
    it->units = decoded->units;
    it->unit_count = decoded->unit_count;
    if (decoded->fault != NULL) snprintf(it->fault, sizeof it->fault, "%s", decoded->fault);
}

static void take_all(test_decoded *it)
{
    sf_decoded decoded = {.size = sizeof decoded};
    sf_error error = {0};
    int status;
    while ((status = sf_decoder_take(it->decoder, &decoded, &error)) == SF_OK)
        tell(it, &decoded);
    if (status != SF_AGAIN && status != SF_END) fail_msg("%s", error.text);
}

void test_decoded_message(test_decoded *it, const void *const *parts, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sf_decoder_feed(it->decoder, parts[i], sizes[i],
                                         i + 1 < count ? SF_FEED_PART : SF_FEED_MESSAGE, NULL),
                         SF_OK);
    take_all(it);
}

void test_decoded_bytes(test_decoded *it, const void *bytes, size_t size)
{
    assert_int_equal(sf_decoder_feed(it->decoder, bytes, size, SF_FEED_BYTES, NULL), SF_OK);
    take_all(it);
}

void test_decoded_require(test_decoded *it, const char *told)
{
    assert_string_equal(it->told.length > 0 ? it->told.data : "", told);
    sf_text_clear(&it->told);
}
