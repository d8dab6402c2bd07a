/* SPDX-License-Identifier: Apache-2.0 */
/* Plexon's .plx, written here byte by byte as their headers are published. */
#include "support/recordings.h"
#include "support/support.h"

#include "core/memory.h"
#include "replay/binary.h"
#include "replay/recording_file.h"

#include <math.h>

/* ---- a writer ---- */

enum {
    SPIKE = 1,
    EVENT = 4,
    CONTINUOUS = 5,
    STROBED = 257,
    START = 258,
    STOP = 259,
    PAUSE = 260,
    RESUME = 261
};

static unsigned char bytes[65536];
static size_t size;

static void put_number(size_t at, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        bytes[at + i] = (unsigned char)(value >> 8 * i);
}

static void put_real(size_t at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(at, bits, 8);
}

/* Without the end of the text: all is zero before. */
static void put_text(size_t at, const char *text)
{
    while (*text != '\0')
        bytes[at++] = (unsigned char)*text++;
}

/* A header of a file of 1 kHz, without channels. */
static void begin(int version, double last, int trodalness)
{
    memset(bytes, 0, sizeof bytes);
    put_text(0, "PLEX");
    put_number(4, (uint64_t)version, 4);
    put_text(8, "a \265comment ");
    put_number(136, 1000, 4);
    put_number(160, 2019, 4);
    put_number(164, 7, 4);
    put_number(168, 23, 4);
    put_number(188, 40000, 4);
    put_real(192, last);
    bytes[200] = (unsigned char)trodalness;
    put_text(210, "OmniPlex");
    size = 7504;
}

static void add_header(size_t count_at, size_t number_at, size_t width, int number, const char *name)
{
    put_text(size, name);
    put_number(size + number_at, (uint64_t)number, 4);
    put_number(count_at, sf_little_32(bytes + count_at) + 1, 4);
    size += width;
}

static void add_spikes_of(int number, const char *name)
{
    add_header(140, 64, 1020, number, name);
}

static void add_events_of(int number, const char *name)
{
    add_header(144, 32, 296, number, name);
}

static void add_block(int type, uint64_t tick, int channel, int unit, int waveforms, int words)
{
    put_number(size, (uint64_t)type, 2);
    put_number(size + 2, tick >> 32, 2);
    put_number(size + 4, tick, 4);
    put_number(size + 8, (uint64_t)channel, 2);
    put_number(size + 10, (uint64_t)unit, 2);
    put_number(size + 12, (uint64_t)waveforms, 2);
    put_number(size + 14, (uint64_t)words, 2);
    size += 16 + 2 * (size_t)(waveforms * words);
}

static void add_spike(uint64_t tick, int channel, int unit)
{
    add_block(SPIKE, tick, channel, unit, 1, 8);
}

static void add_event(uint64_t tick, int channel, int value)
{
    add_block(EVENT, tick, channel, value, 0, 0);
}

/* Two channels, and one that never fires; no events. */
static void begin_three(double last)
{
    begin(106, last, 1);
    add_spikes_of(7, "sig007");
    add_spikes_of(2, "sig\351 2  ");
    add_spikes_of(9, "");
}

static void save(void)
{
    FILE *out = fopen(test_path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
}

static sf_recording read_good(const char *stream)
{
    sf_recording recording;
    sf_error error = {0};
    save();
    if (sf_recording_read(&recording, test_path, &(sf_reading){.stream = stream}, NULL, &error) != SF_OK)
        fail_msg("%s", error.text);
    return recording;
}

static void assert_refused(const char *words)
{
    sf_recording recording;
    sf_error error = {0};
    save();
    test_assert_fails(sf_recording_read(&recording, test_path, NULL, NULL, &error), &error, SF_DATA, words);
    assert_int_equal(sf_memory_live(), 0);
}

static void assert_metadata(const sf_recording *recording, const char *key, const char *value)
{
    const char *found = test_metadata(recording, key);
    if (value == NULL)
        assert_null(found);
    else if (found == NULL)
        fail_msg("no metadata %s", key);
    else
        assert_string_equal(found, value);
}

static void assert_unit(const sf_recording *recording, size_t i, const char *name, sf_unit_kind kind,
                        int electrode)
{
    const sf_unit *unit = &recording->units.items[i];
    assert_true(i < recording->units.count);
    assert_string_equal(unit->name, name);
    assert_int_equal(unit->kind, kind);
    assert_int_equal(unit->electrode, electrode);
    assert_true(isnan(unit->x_um));
}

/* ---- what is read ---- */

static void units_are_what_was_sorted_on_channels(void **state)
{
    (void)state;
    begin_three(1000);
    add_spike(10, 2, 0);
    add_spike(20, 7, 26);
    add_spike(20, 2, 1);
    add_spike(30, 7, 1);
    add_spike(40, 7, 0xffff);
    add_spike(50, 7, 27);
    add_block(CONTINUOUS, 60, 3, 0, 1, 100);
    add_block(SPIKE, 70, 7, 1, 0, 32); /* without a waveform */
    sf_recording recording = read_good(NULL);
    assert_string_equal(recording.format, "Plexon PLX 106");
    assert_int_equal(recording.units.count, 7);
    assert_unit(&recording, 0, "sig007a", SF_UNIT_SORTED, 7);
    assert_unit(&recording, 1, "sig007z", SF_UNIT_SORTED, 7);
    assert_unit(&recording, 2, "sig007:27", SF_UNIT_SORTED, 7);
    assert_unit(&recording, 3, "sig007:invalid", SF_UNIT_NOISE, 7);
    assert_unit(&recording, 4, "sig\303\251 2U", SF_UNIT_MULTI_UNIT, 2); /* Latin-1 */
    assert_unit(&recording, 5, "sig\303\251 2a", SF_UNIT_SORTED, 2);
    assert_unit(&recording, 6, "ch9U", SF_UNIT_MULTI_UNIT, 9);
    static const struct {
        int64_t ms;
        uint32_t unit;
    } spikes[] = {{10, 4}, {20, 1}, {20, 5}, {30, 0}, {40, 3}, {50, 2}, {70, 0}};
    assert_int_equal(recording.spike_count, sizeof spikes / sizeof spikes[0]);
    for (size_t i = 0; i < recording.spike_count; i++) {
        assert_int_equal(recording.spikes[i].time_ns, spikes[i].ms * 1000000);
        assert_int_equal(recording.spikes[i].unit, spikes[i].unit);
    }
    assert_int_equal(recording.tick_ns, 1000000);
    assert_true(recording.declared);
    assert_int_equal(recording.recorded.start_ns, 0);
    assert_int_equal(recording.recorded.stop_ns, 1000000000);
    assert_metadata(&recording, "comment", "a \302\265comment");
    assert_metadata(&recording, "sampling_rate", "1000");
    assert_metadata(&recording, "waveform_sampling_rate", "40000");
    assert_metadata(&recording, "session_start_time", "2019-07-23T00:00:00");
    assert_metadata(&recording, "software", "OmniPlex");
    assert_metadata(&recording, "left_out", "signals of 1 continuous channel");
    assert_metadata(&recording, "recorded", NULL);
    sf_recording_clear(&recording);
}

static void times_have_40_bits(void **state)
{
    (void)state;
    begin_three(0);
    add_spike(UINT64_C(0x80000000), 7, 1); /* no sign */
    add_spike(UINT64_C(0x0300000005), 7, 1);
    sf_recording recording = read_good(NULL);
    assert_int_equal(recording.spikes[0].time_ns, INT64_C(0x80000000) * 1000000);
    assert_int_equal(recording.spikes[1].time_ns, INT64_C(0x0300000005) * 1000000);
    assert_false(recording.declared); /* the program did not close the file */
    sf_recording_clear(&recording);
}

static void events_are_markers(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } marks[] = {{5, "KBD1"}, {6, "Words 40000"}, {7, "event12"}};
    begin_three(100);
    add_events_of(3, "KBD1");
    add_events_of(STROBED, "Words");
    add_spike(1, 7, 1);
    add_event(5, 3, 0);
    add_event(6, STROBED, 40000);
    add_event(7, 12, 0);
    sf_recording recording = read_good(NULL);
    assert_int_equal(recording.marker_count, sizeof marks / sizeof marks[0]);
    for (size_t i = 0; i < recording.marker_count; i++) {
        assert_int_equal(recording.markers[i].time_ns, marks[i].ms * 1000000);
        assert_string_equal(recording.markers[i].text, marks[i].text);
    }
    sf_recording_clear(&recording);
}

/* ---- when was recorded ---- */

static void assert_recorded(const int events[][2], size_t count, const int64_t spans_ms[][2], size_t spans)
{
    begin_three(900);
    for (size_t i = 0; i < count; i++)
        add_event((uint64_t)events[i][0], events[i][1], 0);
    add_spike(150, 7, 1);
    sf_recording recording = read_good(NULL);
    assert_true(recording.declared);
    int64_t more = spans > 1; /* stops belong to what was recorded */
    assert_int_equal(recording.recorded.start_ns, spans_ms[0][0] * 1000000);
    assert_int_equal(recording.recorded.stop_ns, spans_ms[spans - 1][1] * 1000000 + more);
    assert_int_equal(recording.observed_count, spans > 1 ? spans : 0);
    for (size_t i = 0; spans > 1 && i < spans; i++) {
        assert_int_equal(recording.observed[i].start_ns, spans_ms[i][0] * 1000000);
        assert_int_equal(recording.observed[i].stop_ns, spans_ms[i][1] * 1000000 + 1);
    }
    assert_metadata(&recording, "recorded", NULL);
    sf_recording_clear(&recording);
}

#define RECORDED(events, spans)                                                                              \
    assert_recorded(events, sizeof(events) / sizeof(events)[0], spans, sizeof(spans) / sizeof(spans)[0])

static void starts_and_stops_say_when_was_recorded(void **state)
{
    (void)state;
    RECORDED(((const int[][2]){{100, START}, {800, STOP}}), ((const int64_t[][2]){{100, 800}}));
    RECORDED(((const int[][2]){{100, START}, {300, STOP}, {400, START}, {800, STOP}}),
             ((const int64_t[][2]){{100, 300}, {400, 800}}));
    RECORDED(
        ((const int[][2]){{100, START}, {300, PAUSE}, {300, STOP}, {400, RESUME}, {400, START}, {800, STOP}}),
        ((const int64_t[][2]){{100, 300}, {400, 800}}));
    RECORDED(((const int[][2]){{100, START}, {300, STOP}, {400, START}}),
             ((const int64_t[][2]){{100, 300}, {400, 900}}));
    RECORDED(((const int[][2]){{100, START}, {300, STOP}, {300, START}, {700, STOP}}),
             ((const int64_t[][2]){{100, 700}}));
    RECORDED(((const int[][2]){{50, STOP}, {100, START}, {800, STOP}}), ((const int64_t[][2]){{100, 800}}));
    RECORDED(((const int[][2]){{50, STOP}}), ((const int64_t[][2]){{0, 900}}));
}

static void what_cannot_be_is_not_believed(void **state)
{
    (void)state;
    begin_three(-5);
    add_spike(150, 7, 1);
    sf_recording recording = read_good(NULL);
    assert_false(recording.declared);
    assert_metadata(&recording, "recorded",
                    "by LastTimestamp in its header, which is damaged: it is not believed");
    sf_recording_clear(&recording);
    begin_three(900);
    add_spike(150, 7, 1);
    add_event(500, START, 0);
    add_event(300, STOP, 0);
    recording = read_good(NULL);
    assert_false(recording.declared);
    assert_metadata(&recording, "recorded",
                    "by its events of start and stop, which is damaged: it is not believed");
    sf_recording_clear(&recording);
}

static void a_file_that_was_cut_is_read_up_to_there(void **state)
{
    (void)state;
    for (int with_start = 0; with_start < 2; with_start++) {
        begin_three(900);
        if (with_start) add_event(100, START, 0);
        add_spike(150, 7, 1);
        add_spike(160, 7, 1);
        size -= 3;
        sf_recording recording = read_good(NULL);
        assert_int_equal(recording.spike_count, 1);
        assert_int_equal(recording.declared, with_start);
        assert_int_equal(recording.recorded.start_ns, with_start ? 100000000 : 0);
        assert_int_equal(recording.recorded.stop_ns, 150000001);
        assert_metadata(
            &recording, "recorded",
            "up to where the file was cut: the last 29 bytes are no whole block and are left out");
        sf_recording_clear(&recording);
    }
}

static void a_clock_that_steps_back_makes_sessions(void **state)
{
    (void)state;
    begin_three(0);
    for (int session = 0; session < 2; session++)
        for (uint64_t i = 0; i < 20; i++)
            add_spike(5000 + 500 * i, 7, 1);
    sf_recording recording = read_good("session2");
    assert_int_equal(recording.spike_count, 20);
    sf_recording_clear(&recording);
}

/* ---- several wires ---- */

static void wires_of_a_tetrode_count_once(void **state)
{
    (void)state;
    begin(106, 900, 4);
    for (int number = 1; number <= 12; number++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", number);
        add_spikes_of(number, name);
    }
    for (uint64_t tick = 10; tick < 100; tick += 10)
        for (int wire = 1; wire <= 4; wire++) {
            add_spike(tick, wire, tick == 50 ? 2 : 1);
            if (wire != 3 || tick != 20) add_spike(tick + 1, 4 + wire, 1);
        }
    sf_recording recording = read_good(NULL);
    assert_int_equal(recording.units.count, 5);
    assert_unit(&recording, 0, "w1a", SF_UNIT_SORTED, 1);
    assert_unit(&recording, 1, "w1b", SF_UNIT_SORTED, 1);
    assert_unit(&recording, 2, "w5a", SF_UNIT_SORTED, 5);
    assert_unit(&recording, 3, "w7a", SF_UNIT_SORTED, 7); /* a spike is missing on this wire */
    assert_unit(&recording, 4, "w9U", SF_UNIT_MULTI_UNIT, 9);
    assert_int_equal(recording.spike_count, 9 + 9 + 8);
    assert_metadata(&recording, "wires",
                    "8 trains are left out: their spikes are those of another wire of the tetrode");
    sf_recording_clear(&recording);
    bytes[200] = 1; /* of single electrodes, what fires together stays */
    recording = read_good(NULL);
    assert_int_equal(recording.spike_count, 4 * 9 + 4 * 9 - 1);
    assert_metadata(&recording, "wires", NULL);
    sf_recording_clear(&recording);
}

/* ---- what is refused ---- */

static void damage_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at; /* in the file, or behind the headers */
        bool is_behind;
        uint64_t value;
        size_t width;
        const char *words;
    } cases[] = {
        {4, false, 99, 4, "is a Plexon file (.plx) of version 99, and 100 and later are read"},
        {136, false, 0, 4, "does not say how many samples a second has (looked for ADFrequency"},
        {136, false, 0xffffffff, 4, "damaged: ADFrequency in its header says -1 samples a second"},
        {140, false, 0xffffffff, 4, "it says that it has -1 spike, 0 event and 0 continuous channels"},
        {140, false, 1000, 4,
         "it says that it has 1000 spike, 0 event and 0 continuous channels, and its 10628 bytes"},
        {148, false, 0x7fffffff, 4, "and 2147483647 continuous channels"},
        {7504 + 64, false, 70000, 4,
         "the header of spike channel 'sig007' has the number 70000, expected 0 to 65535"},
        {7504 + 64, false, 2, 4, "spike channels 'sig007' and 'sig\303\251 2' both have the number 2"},
        {0, true, 3, 2, "the block at byte 10564 is of type 3, expected 1 (spike), 4 (event) or 5"},
        {8, true, 55, 2, "the block at byte 10564 is of spike channel 55, expected one that a header has"},
        {10, true, 255, 2, "the block at byte 10564 is of unit 255, expected -1 to 254"},
        {12, true, 0xffffffff, 4, "the block at byte 10564 has 65535 waveforms of 65535 words"},
        {2, true, 0xffff, 2, "is of tick 281470681743370, which at 1000 Hz is beyond 146 years"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin_three(900);
        size_t headers = size;
        add_spike(10, 7, 1);
        add_spike(20, 7, 1);
        put_number(cases[i].at + (cases[i].is_behind ? headers : 0), cases[i].value, cases[i].width);
        assert_refused(cases[i].words);
    }
}

static void files_that_are_cut_off_are_refused(void **state)
{
    (void)state;
    begin_three(900);
    add_spike(10, 7, 1);
    size = 7503;
    assert_refused("it is cut off in its header, after 7503 of 7504 bytes");
    size = 10000;
    assert_refused("and its 10000 bytes do not hold their headers: it was cut off");
    size = 10564;
    assert_refused(
        "no spike times: this Plexon file of version 106 has signals of 0 continuous channels, 0 markers");
}

static void memory_may_be_short(void **state)
{
    (void)state;
    begin(106, 900, 2);
    add_spikes_of(1, "one");
    add_spikes_of(2, "two");
    add_events_of(STROBED, "Words");
    for (uint64_t i = 0; i < 4; i++) {
        add_event(100 * i, START, 0);
        add_event(100 * i + 3, STROBED, 1);
        add_spike(100 * i + 5, 1, 1);
        add_spike(100 * i + 5, 2, 1);
        add_event(100 * i + 50, STOP, 0);
    }
    save();
    test_fail_every_allocation(test_read_and_free, &(test_reading){test_path, NULL});
}

int main(void)
{
#define WITH_FILE(test) test_with_file(test, ".plx")
    const struct CMUnitTest tests[] = {
        WITH_FILE(units_are_what_was_sorted_on_channels),
        WITH_FILE(times_have_40_bits),
        WITH_FILE(events_are_markers),
        WITH_FILE(starts_and_stops_say_when_was_recorded),
        WITH_FILE(what_cannot_be_is_not_believed),
        WITH_FILE(a_file_that_was_cut_is_read_up_to_there),
        WITH_FILE(a_clock_that_steps_back_makes_sessions),
        WITH_FILE(wires_of_a_tetrode_count_once),
        WITH_FILE(damage_is_refused),
        WITH_FILE(files_that_are_cut_off_are_refused),
        WITH_FILE(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
