/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of synfire/live.h: it does not matter how a stream is cut, and what is damaged is left out,
 * counted and told of. */
#include "support/support.h"

#include "decode/decoder.h"
#include "decode/wire.h"

#include <math.h>

#define UNITS 5

/* ---- streams ---- */

typedef struct sent {
    sf_text frame; /* the newest */
    sf_text bytes; /* all of them, one after the other */
    size_t ends[512];
    size_t count;
    sf_wire_header header;
    sf_recording table;
} sent;

static void begin(sent *it, size_t units)
{
    *it = (sent){.header = {.run = 77, .clock_ns = INT64_MIN}};
    for (size_t i = 0; i < units; i++)
        assert_int_equal(sf_units_add(&it->table.units, &(sf_unit){.x_um = (double)i}, NULL), SF_OK);
    assert_int_equal(sf_units_finish(&it->table.units, NULL), SF_OK);
    assert_int_equal(sf_recording_set_metadata(&it->table, "species", "rat", NULL), SF_OK);
}

static void clear(sent *it)
{
    sf_text_free(&it->frame);
    sf_text_free(&it->bytes);
    sf_recording_clear(&it->table);
}

static void put(sent *it)
{
    sf_text_append(&it->bytes, it->frame.data, it->frame.length);
    assert_true(it->count < sizeof it->ends / sizeof it->ends[0] && !it->bytes.failed);
    it->ends[it->count++] = it->bytes.length;
    it->header.sequence++;
}

static void put_hello(sent *it)
{
    sf_wire_put_hello(&it->frame, &it->header, "by hand", &(sf_wire_stream){.flags = SF_WIRE_VIRTUAL},
                      &it->table);
    put(it);
}

static void put_data(sent *it, const sf_spike *spikes, size_t count, const sf_marker *markers, size_t marked)
{
    sf_wire_put_data(&it->frame, &it->header, spikes, count, markers, marked);
    put(it);
}

static void put_spike(sent *it, int64_t time_ns, uint32_t unit)
{
    it->header.clock_ns = time_ns;
    put_data(it, &(sf_spike){.time_ns = time_ns, .unit = unit, .amplitude = NAN}, 1, NULL, 0);
}

static void put_random_frame(sent *it, test_random *random)
{
    int64_t time = it->header.clock_ns != INT64_MIN ? it->header.clock_ns : 0;
    sf_spike spikes[40];
    size_t count = test_random_below(random, 40), marked = test_random_below(random, 3);
    for (size_t i = 0; i < count; i++)
        spikes[i] = (sf_spike){.time_ns = time + (int64_t)i * 1000,
                               .unit = (uint32_t)test_random_below(random, UNITS + 1),
                               .amplitude = -50};
    const sf_marker markers[2] = {{.time_ns = time, .kind = SF_MARKER_TTL, .line = 3},
                                  {.time_ns = time + 5, .kind = SF_MARKER_TEXT, .text = "SYNF"}};
    switch (test_random_below(random, 8)) {
    case 0:
        put_hello(it);
        break;
    case 1:
        sf_wire_put_heartbeat(&it->frame, &it->header);
        put(it);
        break;
    case 2: /* frames are lost */
        it->header.sequence += 1 + test_random_below(random, 5);
        break;
    case 3: /* the sender starts again */
        it->header = (sf_wire_header){.run = it->header.run + test_random_below(random, 2)};
        put_hello(it);
        break;
    default:
        it->header.clock_ns = time + 40000;
        put_data(it, spikes, count, markers, marked);
    }
}

static void make_stream(sent *it, test_random *random)
{
    begin(it, UNITS);
    put_hello(it);
    for (size_t i = test_random_below(random, 60); i > 0; i--)
        put_random_frame(it, random);
    if (test_random_below(random, 2) == 0) {
        sf_wire_put_end(&it->frame, &it->header, 1000, 10);
        put(it);
    }
}

/* Bytes are changed, lost and added. */
static void damage(sent *it, test_random *random)
{
    for (size_t i = test_random_below(random, 6); i > 0; i--) {
        size_t at = test_random_below(random, it->bytes.length), left = it->bytes.length - at;
        size_t lost = test_random_below(random, left < 100 ? left : 100);
        switch (test_random_below(random, 3)) {
        case 0:
            it->bytes.data[at] = (char)test_random_bits(random);
            break;
        case 1:
            memmove(it->bytes.data + at, it->bytes.data + at + lost, left - lost);
            it->bytes.length -= lost;
            break;
        default:
            sf_text_append(&it->bytes, "SYNF SYN", 8);
            memmove(it->bytes.data + at + 8, it->bytes.data + at, left);
            memcpy(it->bytes.data + at, "SYNF SYN", 8);
        }
    }
}

/* ---- what is taken ---- */

typedef struct taken {
    sf_text order; /* spikes, markers and watermarks, in the order they came */
    uint64_t malformed, out_of_range, gaps, gap_lost, restarts;
    int64_t missing_spikes, missing_markers;
    int status; /* SF_AGAIN: the stream may go on */
} taken;

static void keep(taken *all, const sf_decoded *decoded)
{
    for (size_t i = 0; i < decoded->spike_count; i++)
        sf_text_printf(&all->order, "%lld u%u %g\n", (long long)decoded->spikes[i].time_ns,
                       decoded->spikes[i].unit, (double)decoded->spikes[i].amplitude);
    for (size_t i = 0; i < decoded->marker_count; i++)
        sf_text_printf(&all->order, "%lld kind %u %s\n", (long long)decoded->markers[i].time_ns,
                       decoded->markers[i].kind, decoded->markers[i].text);
    if (decoded->watermark_ns != INT64_MIN)
        sf_text_printf(&all->order, "until %lld\n", (long long)decoded->watermark_ns);
    assert_true(decoded->spike_count + decoded->marker_count == 0 || decoded->is_known);
    assert_true((decoded->malformed > 0) == (decoded->fault != NULL));
    all->malformed += decoded->malformed;
    all->out_of_range += decoded->out_of_range;
    all->gaps += decoded->gaps;
    all->gap_lost += decoded->gap_lost;
    all->restarts += decoded->restarts;
    if (decoded->missing_spikes >= 0) {
        all->missing_spikes = decoded->missing_spikes;
        all->missing_markers = decoded->missing_markers;
    }
}

static void take_all(taken *all, sf_decoder *decoder)
{
    sf_decoded decoded = {.size = sizeof decoded};
    while ((all->status = sf_decoder_take(decoder, &decoded, NULL)) == SF_OK)
        keep(all, &decoded);
}

static sf_decoder *open_decoder(void)
{
    sf_decoder *decoder;
    assert_int_equal(sf_decoder_open(&decoder, NULL, NULL), SF_OK);
    return decoder;
}

/* Feeds pieces of 1 to `most` bytes; SIZE_MAX: all at once. */
static taken decode_bytes(const sent *it, test_random *random, size_t most)
{
    sf_decoder *decoder = open_decoder();
    taken all = {.status = SF_AGAIN, .missing_spikes = -1, .missing_markers = -1};
    for (size_t at = 0, size; at < it->bytes.length && all.status == SF_AGAIN; at += size) {
        size_t left = it->bytes.length - at;
        size = most == SIZE_MAX ? left : 1 + test_random_below(random, most);
        size = size < left ? size : left;
        char *piece = malloc(size); /* a block of its own, so that a read beyond the end is found */
        memcpy(piece, it->bytes.data + at, size);
        assert_int_equal(sf_decoder_feed(decoder, piece, size, SF_FEED_BYTES, NULL), SF_OK);
        free(piece);
        take_all(&all, decoder);
    }
    sf_decoder_close(decoder);
    return all;
}

static taken decode_messages(const sent *it)
{
    sf_decoder *decoder = open_decoder();
    taken all = {.status = SF_AGAIN, .missing_spikes = -1, .missing_markers = -1};
    for (size_t i = 0, at = 0; i < it->count && all.status == SF_AGAIN; at = it->ends[i++]) {
        assert_int_equal(
            sf_decoder_feed(decoder, it->bytes.data + at, it->ends[i] - at, SF_FEED_MESSAGE, NULL), SF_OK);
        take_all(&all, decoder);
    }
    sf_decoder_close(decoder);
    return all;
}

/* What was counted before a stream that nothing can be made of is told with the next batch: there is none. */
static void assert_same(taken *one, taken *other)
{
    assert_int_equal(one->status, other->status);
    assert_int_equal(one->order.length, other->order.length);
    if (one->order.length > 0) assert_string_equal(one->order.data, other->order.data);
    sf_text order = one->order;
    sf_text_free(&other->order);
    one->order = (sf_text){0};
    if (one->status >= 0) assert_memory_equal(one, other, sizeof *one);
    one->order = order;
}

/* ---- tests ---- */

static void cutting_changes_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("decoder cuts", 1);
    uint64_t malformed = 0, restarts = 0, ends = 0;
    for (int round = 0; round < test_rounds(300); round++) {
        sent it;
        make_stream(&it, &random);
        if (round % 2 == 1) damage(&it, &random);
        taken whole = decode_bytes(&it, NULL, SIZE_MAX);
        for (size_t most = 1; most <= 10000; most *= 10) {
            taken cut = decode_bytes(&it, &random, most);
            assert_same(&whole, &cut);
        }
        if (round % 2 == 0) {
            taken messages = decode_messages(&it);
            assert_same(&whole, &messages);
        }
        malformed += whole.malformed;
        restarts += whole.restarts;
        ends += whole.status == SF_END;
        sf_text_free(&whole.order);
        clear(&it);
    }
    assert_true(test_is_short() || (malformed > 50 && restarts > 50 && ends > 50));
}

/* What is between two frames costs no frame, however it looks. */
static void a_stream_of_bytes_is_found_again(void **state)
{
    (void)state;
    static const char *const between[] = {"x", "SYN", "SYNF", "SYNFSYNF", "a line of text\n"};
    for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
        sent it;
        begin(&it, UNITS);
        put_hello(&it);
        put_spike(&it, 10, 1);
        sf_text_append(&it.bytes, between[i], strlen(between[i]));
        put_spike(&it, 20, 2);
        put_spike(&it, 30, 3);
        taken all = decode_bytes(&it, NULL, SIZE_MAX);
        assert_string_equal(all.order.data,
                            "10 u1 nan\nuntil 10\n20 u2 nan\nuntil 20\n30 u3 nan\nuntil 30\n");
        assert_true(all.malformed >= 1 && all.gap_lost == 0);
        sf_text_free(&all.order);
        clear(&it);
    }
}

static void a_long_table_may_come_byte_by_byte(void **state)
{
    (void)state;
    test_random random = test_random_start("decoder table", 2);
    sent it;
    begin(&it, 3000);
    put_hello(&it);
    put_spike(&it, 10, 2999);
    taken all = decode_bytes(&it, &random, 1);
    assert_string_equal(all.order.data, "10 u2999 nan\nuntil 10\n");
    sf_text_free(&all.order);
    clear(&it);
}

static void expect_fault(sf_decoder *decoder, const void *bytes, size_t size, const char *expected)
{
    sf_decoded decoded = {.size = sizeof decoded};
    assert_int_equal(sf_decoder_feed(decoder, bytes, size, SF_FEED_MESSAGE, NULL), SF_OK);
    assert_int_equal(sf_decoder_take(decoder, &decoded, NULL), SF_OK);
    assert_int_equal(decoded.malformed, 1);
    assert_int_equal(decoded.spike_count, 0);
    assert_string_equal(decoded.fault, expected);
    assert_int_equal(sf_decoder_take(decoder, &decoded, NULL), SF_AGAIN);
}

static void a_damaged_frame_has_one_sentence(void **state)
{
    (void)state;
    sent it;
    begin(&it, UNITS);
    put_hello(&it);
    sf_decoder *decoder = open_decoder();
    sf_decoded decoded = {.size = sizeof decoded};
    expect_fault(decoder, "hello?", 6, "a frame does not begin as a frame of this protocol");
    assert_int_equal(sf_decoder_feed(decoder, it.frame.data, it.frame.length, SF_FEED_MESSAGE, NULL), SF_OK);
    assert_int_equal(sf_decoder_take(decoder, &decoded, NULL), SF_OK);
    assert_true(decoded.is_known && decoded.malformed == 0 && decoded.fault == NULL && decoded.virtual_clock);
    assert_true(decoded.unit_count == UNITS && decoded.units[4].x_um == 4 && decoded.metadata_count == 1);
    assert_string_equal(decoded.name, "by hand");
    assert_string_equal(decoded.metadata[0].value, "rat");
    expect_fault(decoder, "", 0, "a frame does not begin as a frame of this protocol");
    sf_wire_put_heartbeat(&it.frame, &it.header);
    expect_fault(decoder, it.frame.data, 20, "a frame ends before what it announces");
    it.frame.data[4] = 2;
    expect_fault(decoder, it.frame.data, it.frame.length,
                 "refused a frame of protocol version 2; this program reads version 1");
    const sf_spike spikes[] = {{.time_ns = 50}, {.time_ns = 40}};
    sf_wire_put_data(&it.frame, &it.header, spikes, 2, NULL, 0);
    expect_fault(decoder, it.frame.data, it.frame.length, "a frame has times that go back");
    it.header.sequence++; /* a hello that is repeated */
    put_hello(&it);
    expect_fault(decoder, it.frame.data, it.frame.length - 1, "a frame ends before what it announces");
    sent other;
    begin(&other, UNITS - 1);
    other.header = it.header;
    put_hello(&other);
    expect_fault(decoder, other.frame.data, other.frame.length,
                 "a frame names other units than those of this run");
    clear(&other);
    sf_decoder_close(decoder);
    clear(&it);
}

/* A message of several parts is none of this protocol, and one of too many or too long ones is not kept. */
static void a_message_has_one_part(void **state)
{
    (void)state;
    sent it;
    begin(&it, UNITS);
    put_hello(&it);
    sf_decoder *decoder = open_decoder();
    char *long_part = calloc(1, SF_WIRE_MOST_BYTES);
    for (int parts = 2; parts < 40; parts += 18) {
        for (int i = 1; i < parts; i++)
            assert_int_equal(sf_decoder_feed(decoder, long_part, SF_WIRE_MOST_BYTES, SF_FEED_PART, NULL),
                             SF_OK);
        expect_fault(decoder, it.frame.data, it.frame.length,
                     "a frame does not begin as a frame of this protocol");
    }
    free(long_part);
    assert_true(decoder->input.capacity <= 2 * SF_WIRE_MOST_BYTES);
    sf_decoded decoded = {.size = sizeof decoded};
    assert_int_equal(sf_decoder_feed(decoder, it.frame.data, it.frame.length, SF_FEED_MESSAGE, NULL), SF_OK);
    assert_int_equal(sf_decoder_take(decoder, &decoded, NULL), SF_OK);
    assert_true(decoded.is_known);
    sf_decoder_close(decoder);
    clear(&it);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    sf_decoder *decoder;
    sf_error error;
    sf_decoder_options options = {.size = sizeof options, .protocol = "morse", .name = "tcp://rig"};
    test_assert_fails(sf_decoder_open(&decoder, &options, &error), &error, SF_USAGE,
                      "found morse, expected synfire");
    assert_null(decoder);
    sf_decoder_close(decoder);

    sent it;
    begin(&it, UNITS);
    put_hello(&it);
    options.protocol = "synfire";
    sf_decoded decoded = {.size = sizeof decoded};
    assert_int_equal(sf_decoder_open(&decoder, &options, NULL), SF_OK);
    assert_int_equal(sf_decoder_take(decoder, &decoded, NULL), SF_AGAIN);
    assert_int_equal(sf_decoder_feed(decoder, it.frame.data, it.frame.length, SF_FEED_MESSAGE, NULL), SF_OK);
    assert_int_equal(sf_decoder_feed(decoder, it.frame.data, it.frame.length, SF_FEED_MESSAGE, NULL),
                     SF_AGAIN);
    assert_int_equal(sf_decoder_take(decoder, &decoded, NULL), SF_OK);
    test_assert_fails(sf_decoder_feed(decoder, "x", 1, SF_FEED_BYTES, &error), &error, SF_USAGE,
                      "found a stream of bytes, expected messages");
    assert_string_equal(error.place, "tcp://rig");

    it.header.run++;
    assert_int_equal(sf_units_add(&it.table.units, &(sf_unit){.name = "one more"}, NULL), SF_OK);
    put_hello(&it);
    assert_int_equal(sf_decoder_feed(decoder, it.frame.data, it.frame.length, SF_FEED_MESSAGE, NULL), SF_OK);
    test_assert_fails(sf_decoder_take(decoder, &decoded, &error), &error, SF_DATA,
                      "found 6 units, expected the same 5");
    sf_decoder_close(decoder);

    decoder = open_decoder();
    it.frame.data[4] = 7;
    assert_int_equal(sf_decoder_feed(decoder, it.frame.data, it.frame.length, SF_FEED_BYTES, NULL), SF_OK);
    test_assert_fails(sf_decoder_take(decoder, &decoded, &error), &error, SF_DATA,
                      "version 7 of the protocol, this program version 1");
    sf_decoder_close(decoder);
    clear(&it);
}

static int decode_little(void *context)
{
    const sent *it = context;
    sf_decoder *decoder;
    int status = sf_decoder_open(&decoder, NULL, NULL);
    sf_decoded decoded = {.size = sizeof decoded};
    if (status == SF_OK)
        status = sf_decoder_feed(decoder, it->bytes.data, it->bytes.length, SF_FEED_BYTES, NULL);
    while (status == SF_OK)
        status = sf_decoder_take(decoder, &decoded, NULL);
    sf_decoder_close(decoder);
    return status == SF_AGAIN ? SF_OK : status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sent it;
    begin(&it, UNITS);
    put_hello(&it);
    put_spike(&it, 10, 1);
    it.header.run++;
    put_hello(&it);
    test_fail_every_allocation(decode_little, &it);
    clear(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutting_changes_nothing),
        cmocka_unit_test(a_stream_of_bytes_is_found_again),
        cmocka_unit_test(a_long_table_may_come_byte_by_byte),
        cmocka_unit_test(a_damaged_frame_has_one_sentence),
        cmocka_unit_test(a_message_has_one_part),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
