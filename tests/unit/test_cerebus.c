/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes of Blackrock's systems, by datagrams written by hand from the three headers. */
#include "support/decoded.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { OF_311, OF_40, OF_41 };

typedef struct datagram {
    unsigned char bytes[16384];
    size_t size;
} datagram;

static void put(datagram *to, uint64_t value, int bytes)
{
    test_little(to->bytes + to->size, value, (size_t)bytes);
    to->size += (size_t)bytes;
}

static void fill(datagram *to, int byte, size_t count)
{
    memset(to->bytes + to->size, byte, count);
    to->size += count;
}

static void header(datagram *to, int protocol, uint64_t time, int channel, int type, int words,
                   int instrument)
{
    put(to, time, protocol == OF_311 ? 4 : 8);
    put(to, (uint64_t)channel, 2);
    put(to, (uint64_t)type, protocol == OF_41 ? 2 : 1);
    put(to, (uint64_t)words, protocol == OF_311 ? 1 : 2);
    if (protocol != OF_311) {
        put(to, (uint64_t)instrument, 1);
        put(to, 0, protocol == OF_40 ? 2 : 1);
    }
}

/* With a waveform of four samples, of which -7 * (unit + 1) is the least. */
static void spike_of(datagram *to, int protocol, uint64_t time, int channel, int unit, int instrument)
{
    header(to, protocol, time, channel, unit, 6, instrument);
    fill(to, 0, 12);
    put(to, 9, 2);
    put(to, (uint64_t)-50, 2);
    put(to, 3, 2);
    put(to, (uint64_t)(-7 * ((int64_t)unit + 1)), 2);
    put(to, 9, 2);
    put(to, 0, 2);
}

static void spike(datagram *to, int protocol, uint64_t time, int channel, int unit)
{
    spike_of(to, protocol, time, channel, unit, 0);
}

static void samples(datagram *to, int protocol, uint64_t time, int group, int channels)
{
    header(to, protocol, time, 0, group, channels / 2, 0);
    fill(to, 0x11, (size_t)channels * 2);
}

static void heartbeat(datagram *to, int protocol, uint64_t time)
{
    header(to, protocol, time, 0x8000, 0, 0, 0);
}

static void monitor_of(datagram *to, int protocol, uint64_t time, int sent, int number, int instrument)
{
    header(to, protocol, time, 0x8000, 1, protocol == OF_41 ? 2 : 1, instrument);
    put(to, (uint64_t)sent, 4);
    if (protocol == OF_41) put(to, (uint64_t)number, 4);
}

static void monitor(datagram *to, int protocol, uint64_t time, int sent, int number)
{
    monitor_of(to, protocol, time, sent, number, 0);
}

static void processor(datagram *to, int protocol, const char *ident, int minor)
{
    header(to, protocol, 1, 0x8000, 0x21, 28, 0);
    fill(to, 0, 8);
    memcpy(to->bytes + to->size, ident, strlen(ident));
    fill(to, 0, 0);
    memset(to->bytes + to->size + strlen(ident), 0, 64 - strlen(ident));
    to->size += 64;
    fill(to, 1, 36);
    put(to, (uint64_t)minor, 2);
    put(to, 4, 2);
}

static void label_of(datagram *to, int protocol, int channel, const char *label, int can, int inputs,
                     int instrument)
{
    header(to, protocol, 1, 0x8000, 0x40, 166, instrument);
    size_t begin = to->size;
    put(to, (uint64_t)channel, 4);
    fill(to, 0, 12);
    put(to, (uint64_t)can, 4);
    put(to, 0, 4);
    put(to, (uint64_t)inputs, 4);
    fill(to, 0, 168 - 28);
    memcpy(to->bytes + to->size, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    memcpy(to->bytes + to->size, label, strlen(label));
    to->size = begin + 664;
    memset(to->bytes + begin + 184, 0, 664 - 184);
}

static void label(datagram *to, int protocol, int channel, const char *name)
{
    label_of(to, protocol, channel, name, 0x107, 0, 0);
}

static void input(datagram *to, int protocol, uint64_t time, int channel, uint32_t value, uint32_t changed,
                  int why)
{
    header(to, protocol, time, channel, 0, 3, 0);
    put(to, value, 4);
    put(to, changed, 4);
    put(to, (uint64_t)why, 4);
}

static void comment(datagram *to, int protocol, uint64_t time, int set, const char *text, size_t size)
{
    header(to, protocol, time, 0x8000, 0x31, protocol == OF_311 ? 34 : 36, 0);
    put(to, (uint64_t)set, 1);
    fill(to, 0, protocol == OF_311 ? 7 : 15);
    memcpy(to->bytes + to->size, text, size);
    memset(to->bytes + to->size + size, 0, 128 - size);
    to->size += 128;
}

/* A block of its own, so that a sanitizer sees what is read beyond it. */
static void send(test_decoded *it, datagram *from)
{
    unsigned char *bytes = malloc(from->size > 0 ? from->size : 1);
    memcpy(bytes, from->bytes, from->size);
    const void *const parts[] = {bytes};
    test_decoded_message(it, parts, &from->size, 1);
    free(bytes);
    from->size = 0;
}

static void open_with(test_decoded *it, const char *protocol, double hz, double learn_s)
{
    const sf_decoder_options options = {.size = sizeof options,
                                        .protocol = "blackrock",
                                        .layout = protocol,
                                        .sample_rate_hz = hz,
                                        .learn_s = learn_s};
    test_decoded_open(it, &options);
}

static sf_decoder_options with_file(void)
{
    static const sf_unit units[] = {
        {.name = "elec1"}, {.name = "elec1:2"}, {.name = "ninth"}, {.name = "elec1/3"}};
    static const int32_t channels[] = {-1, -1, 9, -1};
    return (sf_decoder_options){.size = sizeof(sf_decoder_options),
                                .protocol = "blackrock",
                                .units = units,
                                .unit_count = 4,
                                .channels = channels,
                                .sample_rate_hz = 30000};
}

/* ---- which protocol ---- */

/* Spikes among samples, heartbeats and previews; noise is none. */
static void spikes_of_every_protocol_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"3.11", "4.0", "4.1", "4.2", "auto", "auto", "auto"};
    static const int protocols[] = {OF_311, OF_40, OF_41, OF_41, OF_311, OF_40, OF_41};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int of = protocols[i];
        test_decoded it;
        datagram one = {0};
        open_with(&it, names[i], 30000, 0.001);
        heartbeat(&one, of, 29990);
        samples(&one, of, 29999, 5, 256);
        spike(&one, of, 30000, 5, 0);
        header(&one, of, 30000, 0x8005, 1, 151, 0); /* a preview of what noise of the mains is, by 4.1 */
        fill(&one, 2, 604);
        spike(&one, of, 30001, 256, 255);
        spike(&one, of, 30030, 256, 5);
        heartbeat(&one, of, 30030);
        send(&it, &one);
        test_decoded_require(&it, "1000000000 chan5:0 -7\n1001000000 chan256:5 -42\nuntil 901000000\n");
        assert_int_equal(it.out_of_range, 1);
        assert_int_equal(it.malformed, 0);
        test_decoded_close(&it);
    }
}

/* Without a waveform the least of it is told all the same. */
static void a_spike_may_have_no_waveform(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 30000, 0.001);
    spike(&one, OF_41, 30000, 1, 0);
    header(&one, OF_41, 30030, 1, 0, 4, 0);
    fill(&one, 0, 12);
    put(&one, 9, 2);
    put(&one, (uint64_t)-50, 2);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 chan1:0 -7\n1001000000 chan1:0 -50\n");
    test_decoded_close(&it);
}

/* Packets without anything in them are the same in 4.0 and 4.1. */
static void what_may_be_two_protocols_waits(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 30000, 0.001);
    for (int i = 0; i < 20; i++) {
        heartbeat(&one, OF_41, 300 * (uint64_t)i);
        send(&it, &one);
    }
    assert_false(it.is_known);
    assert_int_equal(it.malformed, 0);
    spike(&one, OF_40, 30000, 1, 0);
    spike(&one, OF_40, 30030, 1, 0);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 chan1:0 -7\n1001000000 chan1:0 -7\n");
    test_decoded_close(&it);
}

/* Bytes that both are: a packet of the newer kind, whose words are packets of the older one. */
static void what_may_be_old_or_new_is_not_read(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 30000, 0.001);
    put(&one, 7, 4); /* 3.11: a digital input, of words that are the rest of one in 4.1 */
    put(&one, 3, 2);
    put(&one, 0, 1);
    put(&one, 3, 1);
    put(&one, 2, 2);
    put(&one, 1, 2);
    put(&one, 1, 2);
    fill(&one, 0, 6);
    send(&it, &one);
    assert_int_equal(it.malformed, 1);
    assert_non_null(strstr(it.fault, "3.11 or of a newer one"));
    spike(&one, OF_311, 30000, 1, 0);
    spike(&one, OF_311, 30030, 1, 0);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 chan1:0 -7\n1001000000 chan1:0 -7\n");
    test_decoded_close(&it);
}

/* A datagram that somebody made up first does not hold for ever. */
static void a_protocol_found_wrongly_is_left(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 30000, 0.001);
    spike(&one, OF_40, 0, 1, 0);
    spike(&one, OF_40, 30, 1, 0);
    send(&it, &one);
    test_decoded_require(&it, "0 chan1:0 -7\n1000000 chan1:0 -7\n");
    for (int i = 1; i <= 17; i++) {
        spike(&one, OF_41, 30000, 1, 0);
        send(&it, &one);
        assert_int_equal(it.malformed, i < 16 ? i : 16);
    }
    test_decoded_require(&it, "1000000000 chan1:0 -7\n");
    test_decoded_close(&it);
    /* One that was named does. */
    open_with(&it, "4.0", 30000, 0.001);
    for (int i = 1; i <= 40; i++) {
        spike(&one, OF_41, 30000, 1, 0);
        send(&it, &one);
    }
    assert_int_equal(it.malformed, 40);
    test_decoded_require(&it, "");
    test_decoded_close(&it);
}

static void an_unknown_protocol_is_refused(void **state)
{
    (void)state;
    sf_decoder *decoder;
    sf_error error = {0};
    const sf_decoder_options options = {.size = sizeof options, .protocol = "blackrock", .layout = "3.10"};
    assert_int_equal(sf_decoder_open(&decoder, &options, &error), SF_USAGE);
    assert_string_equal(error.text, "found '3.10', expected auto, 3.11, 4.0, 4.1 or 4.2");
}

/* ---- what time counts ---- */

/* Beats come every 10 ms: three steps tell, and what came before waits for them. */
static void beats_tell_what_time_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t begin, step;
    } cases[] = {{30000, 300}, {1000000000, 10000000}};
    for (int k = 0; k < 2; k++) {
        test_decoded it;
        datagram one = {0};
        open_with(&it, "auto", 0, 0.03);
        for (int i = 0; i < 4; i++) {
            uint64_t time = cases[k].begin + cases[k].step * (uint64_t)i;
            spike(&one, OF_41, time, 1 + i, 0);
            heartbeat(&one, OF_41, time);
            send(&it, &one);
            assert_int_equal(it.is_known, i == 3);
        }
        test_decoded_require(&it, "1000000000 chan1:0 -7\n1010000000 chan2:0 -7\n1020000000 chan3:0 -7\n"
                                  "1030000000 chan4:0 -7\nuntil 930000000\n");
        test_decoded_close(&it);
    }
}

/* Only Gemini counts nanoseconds; a player of files counts ticks by the newest protocol, too. */
static void what_it_is_tells_what_time_counts(void **state)
{
    (void)state;
    static const struct {
        const char *ident;
        uint64_t time;
    } cases[] = {{"Blackrock Gemini Hub 1", 2000000000}, {"256-Channel player", 60000}};
    for (int k = 0; k < 2; k++) {
        test_decoded it;
        datagram one = {0};
        open_with(&it, "auto", 0, 0.001);
        spike(&one, OF_41, cases[k].time, 1, 0);
        spike(&one, OF_41, cases[k].time + cases[k].time, 2, 0);
        send(&it, &one);
        assert_false(it.is_known);
        processor(&one, OF_41, cases[k].ident, 2);
        send(&it, &one);
        test_decoded_require(&it, "2000000000 chan1:0 -7\n4000000000 chan2:0 -7\n");
        test_decoded_close(&it);
    }
}

/* Nothing but 3.11 counts ticks always; a system may say how many there are in a second. */
static void the_oldest_counts_ticks(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 0, 0.001);
    spike(&one, OF_311, 60000, 1, 0);
    spike(&one, OF_311, 60030, 1, 0);
    send(&it, &one);
    test_decoded_require(&it, "2000000000 chan1:0 -7\n2001000000 chan1:0 -7\n");
    test_decoded_close(&it);
    open_with(&it, "auto", 0, 0.001);
    header(&one, OF_40, 1, 0x8000, 0x12, 6, 0);
    put(&one, 20000, 4);
    fill(&one, 0, 20);
    processor(&one, OF_40, "NSP", 0);
    spike(&one, OF_40, 20000, 1, 0);
    spike(&one, OF_40, 20020, 1, 0);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 chan1:0 -7\n1001000000 chan1:0 -7\n");
    test_decoded_close(&it);
}

/* 32 bits of ticks are through after 39.8 hours. */
static void time_of_32_bits_goes_on(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "3.11", 0, 0.001);
    spike(&one, OF_311, UINT32_MAX - 29, 1, 0);
    send(&it, &one);
    spike(&one, OF_311, 0, 1, 0);
    spike(&one, OF_311, UINT32_MAX - 14, 1, 0); /* a little behind */
    spike(&one, OF_311, 30, 1, 0);
    send(&it, &one);
    test_decoded_require(&it, "143165575533333 chan1:0 -7\n143165576033333 chan1:0 -7\n"
                              "143165576533333 chan1:0 -7\n143165577533333 chan1:0 -7\n");
    test_decoded_close(&it);
}

/* A clock that was set to 0 begins anew, also where its 32 bits were more than half through. */
static void a_clock_that_is_reset_begins_anew(void **state)
{
    (void)state;
    for (int of = OF_311; of <= OF_41; of++) {
        test_decoded it;
        datagram one = {0};
        open_with(&it, "auto", 30000, 0.001);
        spike(&one, of, 3000000000, 1, 0);
        spike(&one, of, 3000000030, 1, 0);
        heartbeat(&one, of, 3000000030);
        send(&it, &one);
        spike(&one, of, 60, 1, 0);
        heartbeat(&one, of, 60);
        spike(&one, of, 30, 1, 0);
        send(&it, &one);
        spike(&one, of, 90, 1, 0);
        send(&it, &one);
        test_decoded_require(&it,
                             "100000000000000 chan1:0 -7\n100000001000000 chan1:0 -7\nuntil 99999901000000\n"
                             "1000000 chan1:0 -7\n2000000 chan1:0 -7\nuntil -98000000\n3000000 chan1:0 -7\n");
        assert_int_equal(it.gaps, 0);
        test_decoded_close(&it);
    }
}

/* ---- names ---- */

static void channels_are_called_by_their_labels(void **state)
{
    (void)state;
    for (int of = OF_311; of <= OF_41; of++) {
        test_decoded it;
        datagram one = {0};
        open_with(&it, "auto", 30000, 0.1);
        spike(&one, of, 30000, 2, 1); /* before its label comes */
        label(&one, of, 1, "elec1");
        label(&one, of, 2, " elec10 ");
        label(&one, of, 3, "elec1"); /* as the first */
        label(&one, of, 4, "a label of 16 ch");
        label(&one, of, 5, "bell\a");
        label(&one, of, 6, "\xb5V"); /* Latin-1 */
        for (int i = 1; i <= 6; i++)
            spike(&one, of, 30000 + 3000 * (uint64_t)(i > 5), i, 0);
        send(&it, &one);
        test_decoded_require(
            &it, "1000000000 elec10:1 -14\n1000000000 elec1:0 -7\n1000000000 elec10:0 -7\n"
                 "1000000000 chan3:0 -7\n1000000000 a label of 16 ch:0 -7\n1000000000 chan5:0 -7\n"
                 "1100000000 \xc2\xb5V:0 -7\n");
        assert_string_equal(it.units[3].name, "elec1:0"); /* in the order of names */
        assert_int_equal(it.units[3].electrode, 1);
        assert_int_equal(it.units[3].kind, SF_UNIT_MULTI_UNIT);
        assert_string_equal(it.units[5].name, "elec10:1");
        assert_int_equal(it.units[5].kind, SF_UNIT_SORTED);
        label(&one, of, 1, "other"); /* a unit keeps its name */
        spike(&one, of, 36000, 1, 0);
        spike(&one, of, 36000, 7, 0);
        spike(&one, of, 36000, 7, 0);
        send(&it, &one);
        test_decoded_require(&it, "1200000000 elec1:0 -7\n");
        assert_int_equal(it.out_of_range, 2);
        assert_int_equal(it.malformed, 0);
        test_decoded_close(&it);
    }
}

/* One alone has names without its number. */
static void instruments_are_told_apart(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 30000, 0.001);
    label_of(&one, OF_41, 1, "elec1", 0x107, 0, 0);
    label_of(&one, OF_41, 1, "elec1", 0x107, 0, 2);
    spike_of(&one, OF_41, 30000, 1, 0, 0);
    spike_of(&one, OF_41, 30000, 1, 0, 2);
    spike_of(&one, OF_41, 30030, 2, 1, 2);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 elec1:0 -7\n1000000000 elec1/2:0 -7\n1001000000 chan2/2:1 -14\n");
    test_decoded_close(&it);
    open_with(&it, "auto", 30000, 0.001);
    label_of(&one, OF_41, 1, "elec1", 0x107, 0, 2);
    spike_of(&one, OF_41, 30000, 1, 0, 2);
    spike_of(&one, OF_41, 30030, 2, 1, 2);
    send(&it, &one);
    spike_of(&one, OF_41, 30060, 1, 0, 1);
    spike_of(&one, OF_41, 30060, 1, 0, 2);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 elec1:0 -7\n1001000000 chan2:1 -14\n1002000000 elec1:0 -7\n");
    assert_int_equal(it.out_of_range, 1);
    test_decoded_close(&it);
}

static void a_file_says_what_units_there_are(void **state)
{
    (void)state;
    const sf_decoder_options given = with_file();
    test_decoded it;
    datagram one = {0};
    test_decoded_open(&it, &given);
    spike(&one, OF_41, 30000, 9, 3); /* by its number */
    spike(&one, OF_41, 30001, 1, 0); /* no label yet */
    label(&one, OF_41, 1, "elec1");
    spike(&one, OF_41, 30003, 1, 0);
    spike(&one, OF_41, 30004, 1, 1); /* its electrode's */
    spike(&one, OF_41, 30005, 1, 2); /* one of its own */
    label_of(&one, OF_41, 1, "elec1", 0x107, 0, 3);
    spike_of(&one, OF_41, 30006, 1, 0, 3);
    spike_of(&one, OF_41, 30007, 9, 0, 3); /* as of any instrument */
    spike_of(&one, OF_41, 30008, 10, 0, 0);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 ninth -28\n1000100000 elec1 -7\n1000133333 elec1 -14\n"
                              "1000166667 elec1:2 -21\n1000200000 elec1/3 -7\n1000233333 ninth -7\n");
    assert_int_equal(it.out_of_range, 2);
    test_decoded_close(&it);
}

/* ---- markers ---- */

static void inputs_and_comments_are_markers(void **state)
{
    (void)state;
    for (int of = OF_311; of <= OF_41; of++) {
        test_decoded it;
        datagram one = {0};
        open_with(&it, "auto", 30000, 0.001);
        label_of(&one, of, 280, "serial", 0x403, 0x4002, 0);
        input(&one, of, 30000, 279, 5, 0xffff0004, 1); /* before it is told: shorter than any spike */
        label_of(&one, of, 279, "digin", 0x403, 0x1400, 0);
        input(&one, of, 30030, 279, 513, 0x201, 2);
        input(&one, of, 30060, 280, 65, 65, 0);
        comment(&one, of, 30090, 0, "caf\xe9", 4);
        comment(&one, of, 30090, 0, "caf\xc3\xa9", 5);
        comment(&one, of, 30090, 1, "a\0\xe9\0=\xd8\0\xde", 8);
        comment(&one, of, 30090, 255, "", 0);
        heartbeat(&one, of, 60000);
        comment(&one, of, 30120, 0, "typed long ago", 14);
        send(&it, &one);
        static const char told[] = "1000000000 ttl2 1\n";
        assert_memory_equal(it.told.data, told, sizeof told - 1);
        assert_non_null(strstr(it.told.data,
                               "1000000000 ttl31 0\n1001000000 text digin 513\n1002000000 text serial 65\n"
                               "1003000000 text caf\xc3\xa9\n1003000000 text caf\xc3\xa9\n"
                               "1003000000 text a\xc3\xa9\xf0\x9f\x98\x80\n1003000000 text comment\n"
                               "2000000000 text typed long ago\nuntil 1900000000\n"));
        assert_int_equal(it.malformed, 0);
        test_decoded_close(&it);
    }
}

/* What moves is neither a spike nor an input; other inputs than spikes' have lines of their own. */
static void other_channels_are_passed_over(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 30000, 0.001);
    label_of(&one, OF_41, 273, "gyro", 0x1003, 0, 0);
    spike(&one, OF_41, 30000, 1, 0);
    spike(&one, OF_41, 30000, 273, 0);
    header(&one, OF_41, 30030, 279, 0, 3, 1);
    put(&one, 1, 4);
    put(&one, 1, 4);
    put(&one, 1, 4);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 chan1:0 -7\n1001000000 ttl32 1\n");
    test_decoded_close(&it);
}

/* ---- losses ---- */

static void monitors_tell_what_was_lost(void **state)
{
    (void)state;
    for (int of = OF_311; of <= OF_41; of++) {
        test_decoded it;
        datagram one = {0};
        open_with(&it, "auto", 30000, 0.001);
        spike(&one, of, 30000, 1, 0);
        monitor(&one, of, 30030, 500, 1); /* the first only begins */
        send(&it, &one);
        spike(&one, of, 30060, 1, 0);
        samples(&one, of, 30060, 5, 4);
        monitor(&one, of, 30330, 3, 2);
        send(&it, &one);
        assert_int_equal(it.gap_lost, 0);
        spike(&one, of, 30360, 1, 0);
        monitor(&one, of, 30630, 7, 3);
        send(&it, &one);
        assert_int_equal(it.gaps, 1);
        assert_int_equal(it.gap_lost, 5);
        spike(&one, of, 31500, 1, 0);
        monitor(&one, of, 31530, 5, 6); /* two of them are not there: of 6 packets each, and 3 of this one */
        send(&it, &one);
        assert_int_equal(it.gap_lost, 5 + 2 * 6 + 3);
        assert_int_equal(it.gaps, 2);
        monitor(&one, of, 31830, 2000000000, 7); /* nobody sends so many */
        send(&it, &one);
        assert_int_equal(it.malformed, 1);
        monitor(&one, of, 61830, 2, 7); /* it paused, and said so where it numbers them */
        send(&it, &one);
        monitor(&one, of, 300, 1, 1); /* it counts anew */
        send(&it, &one);
        assert_int_equal(it.gap_lost, 20);
        test_decoded_close(&it);
    }
}

/* Each counts its own where several do. */
static void every_instrument_counts_its_own(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 30000, 0.001);
    monitor_of(&one, OF_41, 30000, 1, 1, 0);
    monitor_of(&one, OF_41, 30000, 1, 1, 1);
    send(&it, &one);
    for (int i = 0; i < 3; i++)
        spike_of(&one, OF_41, 30030, 1, 0, 1);
    monitor_of(&one, OF_41, 30300, 3, 2, 0);
    monitor_of(&one, OF_41, 30300, 4, 2, 1);
    send(&it, &one);
    assert_int_equal(it.gaps, 1);
    assert_int_equal(it.gap_lost, 2);
    test_decoded_close(&it);
}

/* ---- damage ---- */

static void what_is_damaged_is_counted_once(void **state)
{
    (void)state;
    for (int of = OF_311; of <= OF_41; of++) {
        test_decoded it;
        datagram one = {0}, whole = {0};
        open_with(&it, of == OF_311 ? "3.11" : of == OF_40 ? "4.0" : "4.1", 30000, 0.001);
        spike(&whole, of, 30000, 1, 0);
        spike(&whole, of, 30030, 1, 0);
        size_t first = whole.size / 2;
        uint64_t bad = 0;
        for (size_t size = 1; size < whole.size; size++) { /* wherever it is cut */
            one = whole;
            one.size = size;
            send(&it, &one);
            bad += size != first;
            assert_int_equal(it.malformed, bad);
        }
        test_decoded_require(&it, "");       /* the first packet, of which units are not learnt yet */
        send(&it, &one);                     /* an empty one asks whether anybody is there */
        header(&one, of, 30000, 1, 6, 6, 0); /* sorted as nothing is */
        fill(&one, 0, 24);
        spike(&one, of, 30060, 1, 0);
        send(&it, &one);
        assert_int_equal(it.malformed, bad + 1);
        label(&one, of, 0, "none");
        label(&one, of, 70000, "none");
        header(&one, of, 30000, 2049, 0, 6, 0);
        fill(&one, 0, 24);
        send(&it, &one);
        assert_int_equal(it.malformed, bad + 4);
        if (of != OF_311) {
            spike(&one, of, UINT64_MAX, 1, 0);
            spike(&one, of, INT64_MAX, 1, 0);
            spike_of(&one, of, 30000, 1, 0, 16);
            send(&it, &one);
            assert_int_equal(it.malformed, bad + 7);
        }
        test_decoded_require(&it, "1000000000 chan1:0 -7\n1002000000 chan1:0 -7\n");
        const void *const parts[] = {"a", "b"};
        const size_t sizes[] = {1, 1};
        test_decoded_message(&it, parts, sizes, 2);
        assert_non_null(strstr(it.fault, "2 parts"));
        test_decoded_close(&it);
    }
}

/* What is no protocol of Blackrock's does not decide which it is. */
static void what_is_no_packet_decides_nothing(void **state)
{
    (void)state;
    test_decoded it;
    datagram one = {0};
    open_with(&it, "auto", 30000, 0.001);
    for (int i = 1; i <= 40; i++) {
        fill(&one, i, 60 + (size_t)i);
        send(&it, &one);
        assert_int_equal(it.malformed, i);
    }
    heartbeat(&one, OF_40, 300); /* 4.0 or 4.1 */
    send(&it, &one);
    for (int i = 0; i < 17; i++) { /* neither: all are looked at again */
        spike(&one, OF_311, 30000, 1, 0);
        send(&it, &one);
    }
    assert_int_equal(it.malformed, 56);
    spike(&one, OF_311, 30030, 1, 0);
    send(&it, &one);
    test_decoded_require(&it, "1000000000 chan1:0 -7\n1001000000 chan1:0 -7\n");
    test_decoded_close(&it);
}

static int read_once(void *context)
{
    datagram one = {0};
    sf_decoder *decoder;
    const sf_decoder_options options = {.size = sizeof options, .protocol = "blackrock", .learn_s = 0.001};
    (void)context;
    processor(&one, OF_41, "NSP", 1);
    label(&one, OF_41, 1, "elec1");
    spike(&one, OF_41, 30000, 1, 0);
    spike_of(&one, OF_41, 30030, 2, 1, 1);
    comment(&one, OF_41, 30030, 0, "here", 4);
    int status = sf_decoder_open(&decoder, &options, NULL);
    if (status != SF_OK) return status;
    status = sf_decoder_feed(decoder, one.bytes, one.size, SF_FEED_MESSAGE, NULL);
    sf_decoded decoded = {.size = sizeof decoded};
    while (status == SF_OK)
        status = sf_decoder_take(decoder, &decoded, NULL);
    sf_decoder_close(decoder);
    return status == SF_AGAIN ? SF_OK : status;
}

static void where_memory_is_out_nothing_leaks(void **state)
{
    (void)state;
    test_fail_every_allocation(read_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_of_every_protocol_are_read),
        cmocka_unit_test(a_spike_may_have_no_waveform),
        cmocka_unit_test(what_may_be_two_protocols_waits),
        cmocka_unit_test(what_may_be_old_or_new_is_not_read),
        cmocka_unit_test(a_protocol_found_wrongly_is_left),
        cmocka_unit_test(an_unknown_protocol_is_refused),
        cmocka_unit_test(beats_tell_what_time_counts),
        cmocka_unit_test(what_it_is_tells_what_time_counts),
        cmocka_unit_test(the_oldest_counts_ticks),
        cmocka_unit_test(time_of_32_bits_goes_on),
        cmocka_unit_test(a_clock_that_is_reset_begins_anew),
        cmocka_unit_test(channels_are_called_by_their_labels),
        cmocka_unit_test(instruments_are_told_apart),
        cmocka_unit_test(a_file_says_what_units_there_are),
        cmocka_unit_test(inputs_and_comments_are_markers),
        cmocka_unit_test(other_channels_are_passed_over),
        cmocka_unit_test(monitors_tell_what_was_lost),
        cmocka_unit_test(every_instrument_counts_its_own),
        cmocka_unit_test(what_is_damaged_is_counted_once),
        cmocka_unit_test(what_is_no_packet_decides_nothing),
        cmocka_unit_test(where_memory_is_out_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
