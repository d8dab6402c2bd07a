/* SPDX-License-Identifier: Apache-2.0 */
/* Files of spikes of Blackrock's and Ripple's systems (.nev), made here: what is read of them, what lies
 * beside them, clocks that run back, and what is damaged in them. */
#include "support/blackrock.h"
#include "support/folders.h"
#include "support/support.h"

#include "replay/recording_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *folder;
static char path[4096];

static int make_folder(void **state)
{
    (void)state;
    folder = test_folder_new();
    snprintf(path, sizeof path, "%s/rec.nev", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    free(folder);
    return 0;
}

static sf_recording read_stream(const char *stream)
{
    sf_recording recording;
    sf_error error = {0};
    if (sf_recording_read(&recording, path, &(sf_reading){.stream = stream}, NULL, &error) != SF_OK)
        fail_msg("%s", error.text);
    return recording;
}

static sf_recording read_made(const test_nev *nev)
{
    test_nev_put(nev, folder, "rec.nev");
    return read_stream(NULL);
}

static void assert_refused(const test_nev *nev, sf_status code, const char *words)
{
    sf_recording recording;
    sf_error error = {0};
    test_nev_put(nev, folder, "rec.nev");
    test_assert_fails(sf_recording_read(&recording, path, NULL, NULL, &error), &error, code, words);
    assert_null(recording.spikes);
}

static const char *metadata_of(const sf_recording *recording, const char *key)
{
    for (size_t i = 0; i < recording->metadata_count; i++)
        if (strcmp(recording->metadata[i].key, key) == 0) return recording->metadata[i].value;
    return "";
}

static void assert_units(const sf_recording *recording, const char *expected)
{
    char names[512] = "";
    for (size_t i = 0; i < recording->units.count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s %s", i > 0 ? ", " : "",
                 recording->units.items[i].name, sf_unit_kind_name(recording->units.items[i].kind));
    assert_string_equal(names, expected);
}

static void assert_marker(const sf_recording *recording, size_t at, int64_t time_ns, const char *text)
{
    assert_true(at < recording->marker_count);
    assert_int_equal(recording->markers[at].kind, SF_MARKER_TEXT);
    assert_int_equal(recording->markers[at].time_ns, time_ns);
    assert_string_equal(recording->markers[at].text, text);
}

/* ---- what is read ---- */

static void spikes_units_and_markers_are_read(void **state)
{
    (void)state;
    static const int64_t times[] = {100000000, 500000000, 500000000, 1250000000, 2000000000, 3000000000};
    static const uint32_t units[] = {2, 0, 1, 0, 1, 0};
    test_fill_blackrock(folder);
    sf_recording recording = read_stream(NULL);
    assert_string_equal(recording.format, "Blackrock NEV 2.3");
    assert_units(&recording, "a:0 multi-unit, b:1 sorted, b:255 noise, c:0 multi-unit");
    assert_int_equal(recording.units.items[2].electrode, 2);
    assert_int_equal(recording.spike_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(recording.spikes[i].time_ns, times[i]);
        assert_int_equal(recording.spikes[i].unit, units[i]);
    }
    assert_int_equal(recording.marker_count, 3);
    assert_marker(&recording, 0, 533333333, "digital 513");
    assert_marker(&recording, 1, 1266666667, "serial 7");
    assert_marker(&recording, 2, 1500000000, "drug");
    assert_int_equal(recording.tick_ns, 33333);
    assert_false(recording.declared);
    assert_string_equal(metadata_of(&recording, "sampling_rate"), "30000");
    assert_string_equal(metadata_of(&recording, "session_start_time"), "2021-03-09T14:05:06.789Z");
    assert_string_equal(metadata_of(&recording, "software"), "Central");
    sf_recording_clear(&recording);
    sf_recording other;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&other, path, &(sf_reading){.stream = "x"}, NULL, &error), &error,
                      SF_USAGE, "there is no stream 'x'");
    assert_int_equal(sf_recording_read(&other, path, &(sf_reading){.rate_hz = 15000}, NULL, &error), SF_OK);
    assert_int_equal(other.spikes[0].time_ns, 200000000);
    sf_recording_clear(&other);
    assert_int_equal(sf_recording_read(&other, path, &(sf_reading){.rate_hz = 30000.5}, NULL, &error), SF_OK);
    assert_int_equal(other.spikes[0].time_ns, 99998333);
    sf_recording_clear(&other);
}

static void versions_name_electrodes_in_their_way(void **state)
{
    (void)state;
    test_nev nev;
    test_nev_begin(&nev, 2, 1, 30000, 32);
    test_nev_header(&nev, "NEUEVLBL", 128, NULL); /* without a text */
    test_nev_spike(&nev, 1, 128, 0);
    test_nev_spike(&nev, 2, 129, 17);
    sf_recording recording = read_made(&nev);
    assert_units(&recording, "chan128:0 multi-unit, ainp1:17 unknown");
    sf_recording_clear(&recording);

    /* 64 bits of time, nanoseconds since 1970, and electrodes that version 2 has not. */
    test_nev_begin(&nev, 3, 0, 1000000000, 32);
    test_nev_spike(&nev, 1700000000123456789, 2049, 3);
    test_nev_spike(&nev, 1700000001123456790, 129, 0);
    test_nev_packet(&nev, 1700000001123456791, 0xfff9, "", 0);
    recording = read_made(&nev);
    assert_string_equal(recording.format, "Blackrock NEV 3.0");
    assert_units(&recording, "chan129:0 multi-unit, chan2049:3 sorted");
    assert_int_equal(recording.spikes[0].time_ns, 1700000000123456789);
    assert_int_equal(recording.spikes[1].time_ns, 1700000001123456790);
    assert_int_equal(recording.recorded.stop_ns, 1700000001123456792);
    assert_string_equal(metadata_of(&recording, "skipped"), "1 packets that are neither spikes nor markers");
    sf_recording_clear(&recording);

    /* Ripple: 512 electrodes in version 2.2, and stimuli. */
    test_nev_begin(&nev, 2, 2, 30000, 32);
    test_nev_header(&nev, "NEUEVLBL", 512, "  elec 512 ");
    test_nev_spike(&nev, 30000, 512, 0);
    test_nev_packet(&nev, 30001, 5120 + 512, "", 0);
    test_nev_packet(&nev, 30002, 2049, "", 0);
    recording = read_made(&nev);
    assert_units(&recording, "elec 512:0 multi-unit");
    assert_marker(&recording, 0, 1000033333, "stim elec 512");
    sf_recording_clear(&recording);
}

static void spikes_of_one_tick_are_in_the_order_of_units(void **state)
{
    (void)state;
    test_nev nev;
    test_nev_begin(&nev, 2, 3, 30000, 16);
    test_nev_spike(&nev, 1, 9, 0);
    for (int electrode = 100; electrode > 0; electrode--) /* more than are put in order one by one */
        test_nev_spike(&nev, 2, electrode, 0);
    for (int class = 3; class >= 0; class --)
        test_nev_spike(&nev, 3, 1, class);
    sf_recording recording = read_made(&nev);
    assert_int_equal(recording.spike_count, 105);
    for (size_t i = 1; i < recording.spike_count; i++)
        assert_true(recording.spikes[i - 1].time_ns < recording.spikes[i].time_ns ||
                    recording.spikes[i - 1].unit < recording.spikes[i].unit);
    sf_recording_clear(&recording);
}

static void headers_and_comments_become_text(void **state)
{
    (void)state;
    test_nev nev;
    test_nev_begin(&nev, 2, 3, 30000, 128);
    memcpy(nev.bytes + 76, "dish 4 ", 7);
    test_nev_text(&nev, "ARRAYNME", "4566");
    test_nev_text(&nev, "ECOMMENT", "24 \xb5m of something that ");
    test_nev_text(&nev, "CCOMMENT", "goes on");
    test_nev_text(&nev, "ECOMMENT", "and another");
    test_nev_text(&nev, "DIGLABEL", "port");
    nev.bytes[nev.size - 8] = 1;
    test_nev_header(&nev, "NEUEVLBL", 1, "\xc2\xb5V");
    test_nev_spike(&nev, 0, 1, 0);
    test_nev_digital(&nev, 1, 1, 2);
    test_nev_digital(&nev, 2, 64, 2); /* at regular times */
    test_nev_comment(&nev, 3, 0, "caf\xe9 ", 5);
    test_nev_comment(&nev, 30000, 1, "\x3d\xd8\x00\xde\xb5\x00\x00\xd8x\x00", 10);
    char lengthy[90];
    memset(lengthy, 'x', sizeof lengthy);
    lengthy[46] = (char)0xe9; /* two bytes, of which there is room for one */
    test_nev_comment(&nev, 60000, 0, lengthy, sizeof lengthy);
    test_nev_comment(&nev, 60001, 0, " ", 1);
    sf_recording recording = read_made(&nev);
    assert_string_equal(metadata_of(&recording, "comment"),
                        "dish 4; 24 \xc2\xb5m of something that goes on; and another");
    assert_string_equal(metadata_of(&recording, "array"), "4566");
    assert_units(&recording, "\xc2\xb5V:0 multi-unit");
    assert_int_equal(recording.marker_count, 5);
    assert_marker(&recording, 0, 33333, "port 2");
    assert_marker(&recording, 1, 100000, "caf\xc3\xa9");
    assert_marker(&recording, 2, 1000000000, "\xf0\x9f\x98\x80\xc2\xb5\xef\xbf\xbdx");
    lengthy[46] = '\0';
    assert_marker(&recording, 3, 2000000000, lengthy);
    assert_marker(&recording, 4, 2000033333, "comment");
    assert_string_equal(metadata_of(&recording, "filter"), "");
    sf_recording_clear(&recording);
}

static void filters_are_told_where_they_are_one(void **state)
{
    (void)state;
    static const unsigned char filter[] = {0x90, 0xd0, 3, 0, 4, 0, 0, 0, 1, 0, 0xe0, 0x70, 0x72, 0};
    for (int differs = 0; differs < 2; differs++) {
        test_nev nev;
        test_nev_begin(&nev, 2, 3, 30000, 32);
        for (int i = 1; i < 3; i++) {
            test_nev_header(&nev, "NEUEVFLT", i, NULL);
            memcpy(nev.bytes + nev.size - 22, filter, sizeof filter);
            nev.bytes[nev.size - 22] = (unsigned char)(filter[0] + differs * i);
        }
        test_nev_spike(&nev, 0, 1, 0);
        sf_recording recording = read_made(&nev);
        assert_string_equal(metadata_of(&recording, "filter"), differs ? "" : "250 to 7500 Hz");
        sf_recording_clear(&recording);
    }
}

/* ---- clocks ---- */

static void a_clock_that_runs_back_makes_sessions(void **state)
{
    (void)state;
    test_nev nev;
    test_nev_begin(&nev, 2, 3, 30000, 32);
    for (int session = 0; session < 2; session++)
        for (uint64_t i = 0; i < 40; i++) {
            test_nev_spike(&nev, 3000 + i * 3000, 1 + (int)i % 2, 0);
            if (i == (session == 0 ? 30u : 5u)) test_nev_digital(&nev, 3000 + i * 3000, 1, session);
        }
    sf_recording recording = read_made(&nev);
    assert_int_equal(recording.spike_count, 80);
    assert_non_null(strstr(metadata_of(&recording, "clock"), "2 sessions lie on one another"));
    sf_recording_clear(&recording);
    recording = read_stream("session2");
    assert_int_equal(recording.spike_count, 40);
    assert_int_equal(recording.marker_count, 1);
    assert_string_equal(recording.markers[0].text, "digital 1");
    sf_recording_clear(&recording);
    recording = read_stream("joined");
    assert_int_equal(recording.spike_count, 80);
    assert_int_equal(recording.spikes[40].time_ns, 5100000000);
    sf_recording_clear(&recording);
}

static void what_was_before_the_clock_was_set_is_left_out(void **state)
{
    (void)state;
    test_nev nev;
    test_nev_begin(&nev, 2, 3, 30000, 32);
    test_nev_spike(&nev, 6000, 1, 0);
    test_nev_comment(&nev, 12000, 0, "early", 5);
    test_nev_spike(&nev, 24000, 7, 0);
    test_nev_spike(&nev, 300, 1, 0);
    test_nev_comment(&nev, 18000, 0, "late", 4); /* comments may be of times before */
    test_nev_spike(&nev, 21000, 2, 0);
    test_nev_spike(&nev, 18100, 2, 0); /* a packet out of order, by less than 0.1 s */
    test_nev_spike(&nev, 60000, 1, 0);
    test_nev_spike(&nev, 54000, 1, 0); /* and after a second it runs on */
    sf_recording recording = read_made(&nev);
    assert_units(&recording, "chan1:0 multi-unit, chan2:0 multi-unit");
    assert_int_equal(recording.spike_count, 5);
    assert_int_equal(recording.spikes[0].time_ns, 10000000);
    assert_int_equal(recording.dropped_count, 1);
    assert_int_equal(recording.dropped[0].count, 2);
    assert_int_equal(recording.marker_count, 1);
    assert_string_equal(recording.markers[0].text, "late");
    assert_int_equal(recording.recorded.start_ns, 10000000);
    sf_recording_clear(&recording);
}

/* ---- what lies beside ---- */

static void put_voltages(const char *name, const char *kind, const uint64_t (*stretches)[2], size_t count)
{
    static unsigned char bytes[1 << 21];
    size_t size = test_voltages(bytes, kind, stretches, count);
    assert_true(size <= sizeof bytes);
    test_folder_put(folder, name, bytes, size);
}

static void voltages_say_when_was_recorded(void **state)
{
    (void)state;
    test_fill_blackrock(folder);
    static const uint64_t one[][2] = {{600, 120000}}, paused[][2] = {{0, 30000}, {36000, 60000}},
                          set_anew[][2] = {{0, 6000}, {300, 120000}}, back[][2] = {{0, 60000}, {300, 6000}},
                          points[][2] = {{600, 1}, {700, 1}, {120000, 1}};
    const struct {
        const char *kind;
        const uint64_t (*stretches)[2];
        size_t count;
        int64_t start_ns, stop_ns;
        size_t observed;
    } files[] = {
        {"NEURALSG", one, 1, 0, 4000000000, 0},
        {"NEURALCD", one, 1, 20000000, 4020000000, 0},
        {"BRSMPGRP", one, 1, 20000000, 4020000000, 0},
        {"NEURALCD", paused, 2, 0, 3200000000, 2},
        {"BRSMPGRP", set_anew, 2, 10000000, 4010000000, 0},
        {"BRSMPGRP", points, 3, 20000000, 4000033333, 0},
        {"NEURALCD", back, 2, 0, 0, 0},
        {"NEURALXX", one, 1, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        put_voltages("rec.ns3", files[i].kind, files[i].stretches, files[i].count);
        sf_recording recording = read_stream(NULL);
        assert_int_equal(recording.declared, files[i].stop_ns > 0);
        if (files[i].stop_ns > 0 && (recording.recorded.start_ns != files[i].start_ns ||
                                     recording.recorded.stop_ns != files[i].stop_ns))
            fail_msg("%zu: %lld to %lld", i, (long long)recording.recorded.start_ns,
                     (long long)recording.recorded.stop_ns);
        assert_int_equal(recording.observed_count, files[i].observed);
        if (files[i].observed > 1) assert_int_equal(recording.observed[0].stop_ns, 1000000000);
        sf_recording_clear(&recording);
    }
    test_folder_take(folder, "rec.ns3");
}

static void a_map_beside_it_places_electrodes(void **state)
{
    (void)state;
    static const char map[] = "// made by hand\n\nArray, of two; columns\n//col row bank elec label\n"
                              "0\t9\tA\t1\t\"a\"\r\n3 2 A 2 b\n";
    test_fill_blackrock(folder);
    test_folder_put(folder, "rec.cmp", map, strlen(map));
    sf_recording recording = read_stream(NULL);
    assert_true(recording.units.items[0].x_um == 0 && recording.units.items[0].y_um == 3600);
    assert_true(recording.units.items[1].x_um == 1200 && recording.units.items[2].y_um == 800);
    assert_true(isnan(recording.units.items[3].x_um));
    const char *told = metadata_of(&recording, "positions");
    assert_non_null(strstr(told, "3 of 4 units by the name of their electrode"));
    assert_non_null(strstr(told, "400 um apart"));
    sf_recording_clear(&recording);

    /* By bank and pin where labels are of another recording; the one that the file names goes before. */
    static const char numbered[] = "1 1 A 1 elec1\n2 1 A 2 elec2\n2 2 B 1\n";
    test_nev nev;
    test_nev_begin(&nev, 2, 3, 30000, 32);
    test_nev_text(&nev, "MAPFILE", "C:\\maps\\array.cmp");
    test_nev_spike(&nev, 0, 33, 0);
    test_folder_put(folder, "array.cmp", numbered, strlen(numbered));
    recording = read_made(&nev);
    assert_true(recording.units.items[0].x_um == 800 && recording.units.items[0].y_um == 800);
    sf_recording_clear(&recording);

    /* What is no map, or of none of the units, is told. */
    static const char *const useless[] = {"1 1 A 7 x\n", "1 1 A 1 x\n1 2 A 1 y\n", "1 1 A 1 x\n1 2 A 2 x\n",
                                          "1 1 A 1 x\n1 2 A\n", "1 1 A 33 x\n"};
    for (size_t i = 0; i < sizeof useless / sizeof useless[0]; i++) {
        test_folder_put(folder, "array.cmp", useless[i], strlen(useless[i]));
        recording = read_stream(NULL);
        assert_true(isnan(recording.units.items[0].x_um));
        assert_non_null(strstr(metadata_of(&recording, "positions"), "the map beside it are not taken: "));
        sf_recording_clear(&recording);
    }
    test_folder_take(folder, "array.cmp");
    test_folder_take(folder, "rec.cmp");
}

/* ---- damage ---- */

static void a_last_packet_that_is_cut_is_told(void **state)
{
    (void)state;
    test_fill_blackrock(folder);
    test_nev nev;
    test_nev_begin(&nev, 2, 3, 30000, 32);
    test_nev_spike(&nev, 0, 1, 0);
    test_nev_spike(&nev, 30, 1, 0);
    nev.size -= 5;
    sf_recording recording = read_made(&nev);
    assert_int_equal(recording.spike_count, 1);
    assert_string_equal(metadata_of(&recording, "recorded"),
                        "up to where the file was cut: its last packet has "
                        "27 of 32 bytes and is left out");
    sf_recording_clear(&recording);
}

static void damaged_headers_are_refused(void **state)
{
    (void)state;
    test_nev good, nev;
    test_nev_begin(&good, 2, 3, 30000, 32);
    test_nev_header(&good, "NEUEVWAV", 1, NULL);
    test_nev_spike(&good, 0, 1, 0);
    const struct {
        size_t at;
        uint32_t value;
        const char *words;
    } damages[] = {
        {12, 367, "its header says 367 bytes of headers, expected at least 368"},
        {12, 401, "damaged: it was cut, and ends in its headers, after 400 of 401 bytes"},
        {16, 11, "its header says 11 bytes in a packet, expected 12 to 65536"},
        {16, 65537, "its header says 65537 bytes in a packet"},
        {20, 0, "does not say how many samples a second has (looked for the resolution of time stamps)"},
        {332, UINT32_MAX, "bytes of headers, expected"},
        {8, 4, "is of version 4.0, and 2.1 to 2.3 and 3.0 are read"},
        {8, 2, "is of version 2.0"},
        {8, 0x402, "is of version 2.4"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        nev = good;
        test_nev_change(&nev, damages[i].at, damages[i].value);
        assert_refused(&nev, SF_DATA, damages[i].words);
    }
    nev = good;
    nev.size = 335;
    assert_refused(&nev, SF_DATA, "damaged: it was cut, and ends in its headers, after 335 of 336 bytes");
    nev = good;
    nev.size -= 32;
    assert_refused(&nev, SF_DATA, "no spike times: this file of Blackrock's version 2.3 has 0 packets");
    nev = good;
    nev.size -= 32;
    test_nev_digital(&nev, 0, 1, 1);
    assert_refused(&nev, SF_DATA, "has 1 packets and none is of an electrode");
    test_nev_begin(&nev, 3, 0, 1000000000, 32);
    test_nev_spike(&nev, UINT64_C(1) << 63, 1, 0);
    assert_refused(&nev, SF_DATA, "damaged: packet 0 is at tick 9223372036854775808");
}

/* ---- more than one thread reads ---- */

enum { MANY = 1200000, PACKET = 16, ELECTRODES = 96, EACH_CLASSES = 3, DAMAGED_TICK_BYTE = 7 };

/* A digital input now and then; else a spike. Two packets have one tick, the higher unit first. */
static bool is_input(size_t packet)
{
    return packet % 1000 == 500;
}

static size_t unit_of(size_t packet)
{
    size_t unit = packet / 2 * 2654435761u % (ELECTRODES * EACH_CLASSES - 1);
    return packet % 2 == 0 ? unit + 1 : unit;
}

/* A file of version 3.0 with `MANY` packets, two on each millisecond. */
static void put_many(const size_t *damaged, size_t count)
{
    test_nev nev;
    test_nev_begin(&nev, 3, 0, 1000, PACKET);
    unsigned char *packets = calloc(MANY, PACKET);
    assert_non_null(packets);
    for (size_t i = 0; i < MANY; i++) {
        unsigned char *at = packets + i * PACKET;
        uint64_t tick = i / 2;
        uint16_t id = is_input(i) ? 0 : (uint16_t)(1 + unit_of(i) / EACH_CLASSES);
        memcpy(at, &tick, 8);
        memcpy(at + 8, &id, 2);
        at[10] = is_input(i) ? 1 : (unsigned char)(unit_of(i) % EACH_CLASSES);
        at[12] = (unsigned char)(i / 1000);
    }
    for (size_t i = 0; i < count; i++)
        packets[damaged[i] * PACKET + DAMAGED_TICK_BYTE] = 0x80;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(nev.bytes, 1, nev.size, file), nev.size);
    assert_int_equal(fwrite(packets, PACKET, MANY, file), MANY);
    assert_int_equal(fclose(file), 0);
    free(packets);
}

static void assert_spike(const sf_recording *recording, size_t at, size_t packet)
{
    const sf_spike *spike = &recording->spikes[at];
    if (spike->time_ns != (int64_t)(packet / 2) * 1000000 || spike->unit != unit_of(packet))
        fail_msg("spike %zu is of unit %u at %lld ns, and packet %zu of %zu", at, spike->unit,
                 (long long)spike->time_ns, packet, unit_of(packet));
}

static void many_packets_are_read_as_few_are(void **state)
{
    (void)state;
    put_many(NULL, 0);
    sf_recording recording = read_stream(NULL);
    assert_int_equal(recording.units.count, ELECTRODES * EACH_CLASSES);
    assert_int_equal(recording.marker_count, MANY / 1000);
    assert_int_equal(recording.spike_count, MANY - MANY / 1000);
    for (size_t i = 0, at = 0; i < MANY; i += 2) { /* of a tick the lower unit, which came second */
        assert_spike(&recording, at++, i + 1);
        if (!is_input(i)) assert_spike(&recording, at++, i);
    }
    for (size_t i = 0; i < MANY / 1000; i++) {
        char text[32];
        snprintf(text, sizeof text, "digital %zu", i % 256);
        assert_marker(&recording, i, (int64_t)(1000 * i + 500) / 2 * 1000000, text);
    }
    assert_true(recording.recorded.start_ns == 0 &&
                recording.recorded.stop_ns == (MANY / 2 - 1) * INT64_C(1000000) + 1);
    sf_recording_clear(&recording);
}

static void the_first_damage_of_many_is_told(void **state)
{
    (void)state;
    char words[64];
    const size_t damaged[] = {MANY - 1, MANY / 2 + 1, 30001};
    for (size_t i = 1; i <= sizeof damaged / sizeof damaged[0]; i++) {
        sf_recording recording;
        sf_error error = {0};
        put_many(damaged, i);
        snprintf(words, sizeof words, "damaged: packet %zu is at tick", damaged[i - 1]);
        test_assert_fails(sf_recording_read(&recording, path, NULL, NULL, &error), &error, SF_DATA, words);
    }
}

static int read_once(void *context)
{
    sf_recording recording;
    sf_error error = {0};
    (void)context;
    int status = sf_recording_read(&recording, path, NULL, NULL, &error);
    sf_recording_clear(&recording);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const uint64_t paused[][2] = {{0, 30000}, {36000, 60000}};
    static const char map[] = "0 9 A 1 a\n3 2 A 2 b\n";
    test_fill_blackrock(folder);
    test_folder_put(folder, "rec.cmp", map, strlen(map));
    put_voltages("rec.ns6", "NEURALCD", paused, 2);
    test_fail_every_allocation(read_once, NULL);
    test_folder_take(folder, "rec.cmp");
    test_folder_take(folder, "rec.ns6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_units_and_markers_are_read),
        cmocka_unit_test(versions_name_electrodes_in_their_way),
        cmocka_unit_test(spikes_of_one_tick_are_in_the_order_of_units),
        cmocka_unit_test(headers_and_comments_become_text),
        cmocka_unit_test(filters_are_told_where_they_are_one),
        cmocka_unit_test(a_clock_that_runs_back_makes_sessions),
        cmocka_unit_test(what_was_before_the_clock_was_set_is_left_out),
        cmocka_unit_test(voltages_say_when_was_recorded),
        cmocka_unit_test(a_map_beside_it_places_electrodes),
        cmocka_unit_test(a_last_packet_that_is_cut_is_told),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(many_packets_are_read_as_few_are),
        cmocka_unit_test(the_first_damage_of_many_is_told),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
