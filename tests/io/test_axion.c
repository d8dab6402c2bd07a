/* SPDX-License-Identifier: Apache-2.0 */
/* Files of AxIS (Axion BioSystems), written here byte by byte as AxionFileLoader has their entries. */
#include "support/axion_sums.h"
#include "support/recordings.h"
#include "support/support.h"

#include "core/memory.h"
#include "replay/recording_file.h"

#include <math.h>
#include <stdio.h>

/* ---- a writer ---- */

enum { NOTES = 1, CHANNELS = 2, SET = 3, DATA = 4, EXTENSION = 5, TAG = 6, COMBINED = 7, SKIP = 255 };
enum { WELL = 1, USER_NOTE = 2, STIMULUS = 5, ELECTRODES = 6, WAVEFORM = 7, LEDS = 9, VALUE = 11 };
enum { RECORD = 34, ROOM = 65536 };

static unsigned char bytes[ROOM], part[4096];
static size_t size, part_size, entries, list_at, room;

static void put_in(size_t *at, unsigned char *to, size_t most, const void *from, size_t count)
{
    assert_true(*at + count <= most);
    for (size_t i = 0; i < count; i++)
        to[(*at)++] = from != NULL ? ((const unsigned char *)from)[i] : 0;
}

static void put(const void *from, size_t count)
{
    put_in(&part_size, part, sizeof part, from, count);
}

static void number(uint64_t value, size_t width)
{
    unsigned char at[8];
    axion_put(at, value, width);
    put(at, width);
}

static void real(double value)
{
    put(&value, sizeof value);
}

static void words(const char *text)
{
    number(strlen(text), 4);
    put(text, strlen(text));
}

static void dates(int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 7; k++)
            number((uint64_t[]){2026, 11, 28, 9, 30, 15, 250}[k], 2);
}

static void sum(size_t from)
{
    number(axion_sum(part + from, part_size - from), 4);
}

static void begin_file(unsigned kind)
{
    memset(bytes, 0, sizeof bytes);
    size = 0;
    put_in(&size, bytes, ROOM, "AxionBio", 8);
    axion_put(bytes + 8, kind, 2);
    axion_put(bytes + 10, 1, 2);
    axion_put(bytes + 12, 3, 2);
    axion_put(bytes + 22, 600, 4);
    axion_put(bytes + 26, 1024, 8);
    size = 1024;
    list_at = 34;
    room = 123;
    entries = part_size = 0;
}

/* What was put since the last entry becomes one; a header that is full is followed by another. */
static void end_entry(unsigned type)
{
    if (entries == room) {
        list_at = size + 8;
        put_in(&size, bytes, ROOM, "AxionBio", 8);
        put_in(&size, bytes, ROOM, NULL, 1016);
        room = 126;
        entries = 0;
    }
    axion_put(bytes + list_at + 8 * entries++, (uint64_t)type << 56 | part_size, 8);
    put_in(&size, bytes, ROOM, part, part_size);
    part_size = 0;
}

static void write_bytes(size_t count)
{
    FILE *file = fopen(test_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void write_file(void)
{
    axion_mend(bytes, size);
    write_bytes(size);
}

/* Two electrodes of A1 and one of B12, on chips 0 and 2, and a channel of no electrode. */
static const unsigned char electrodes[][6] = {
    {1, 1, 3, 1, 0, 5}, {1, 1, 1, 2, 0, 6}, {12, 2, 1, 1, 2, 5}, {0, 0, 0, 0, 2, 9}};
enum { MAPPED = sizeof electrodes / sizeof electrodes[0] };

static void put_map(void)
{
    number(0x3000009, 4);
    number(MAPPED, 4);
    for (size_t i = 0; i < MAPPED; i++) {
        put(electrodes[i], 6);
        number(0, 2);
    }
    end_entry(CHANNELS);
}

static void put_record(int64_t start, int32_t trigger, unsigned chip, unsigned channel)
{
    number((uint64_t)start, 8);
    number(channel, 1);
    number(chip, 1);
    number((uint32_t)trigger, 4);
    real(1e-6);
    real(6);
    number(0xffff0001, 4);
}

/* At 0.5, 1.25 and 3 s on A1_31, at 0.5 and 2 s on A1_12, at 0.1 s on B12_11 (12,500 Hz), and one on a
 * channel of no electrode and on one that is in no map. */
static void put_records(void)
{
    put_record(1240, 10, 2, 5);
    put_record(6200, 50, 0, 5);
    put_record(6260, -10, 0, 6);
    put_record(7000, 0, 2, 9);
    put_record(7000, 0, 7, 7);
    put_record(15615, 10, 0, 5);
    put_record(24990, 10, 0, 6);
    put_record(37490, 10, 0, 5);
    end_entry(DATA);
}
enum { RECORDS = 8 };

/* Where it says that the data begin, and how much they are. */
static void put_combined(unsigned kind, double duration_s, size_t at, size_t length)
{
    number(1, 2);
    number(duration_s > 0, 2);
    number(kind, 2);
    number(0, 2);
    real(12500);
    real(1e-7);
    number(1, 4);
    number(1, 4);
    number(2, 4);
    number(8, 4);
    number(30, 4);
    dates(4);
    if (duration_s > 0) real(duration_s);
    words("Spikes");
    words("a detector");
    number(at, 8);
    number(length, 8);
    sum(0);
    size_t begin = part_size;
    number(MAPPED, 4);
    for (size_t i = 0; i < MAPPED; i++)
        number((uint64_t)electrodes[i][4] << 8 | electrodes[i][5], 2);
    words("Spikes");
    sum(begin);
    end_entry(COMBINED);
}
enum { COMBINED_BYTES = 128 + 6 + 10 + 4 + 2 * MAPPED + 4 + 6 + 4 };

static void put_new(double duration_s)
{
    begin_file(1);
    number(0xeeeeee, 3);
    end_entry(SKIP);
    put_map();
    put_combined(1, duration_s, size + COMBINED_BYTES + (duration_s > 0 ? 8 : 0), RECORDS * RECORD);
    put_records();
}

static void put_set(size_t at)
{
    real(12500);
    real(1e-7);
    dates(2);
    number(at, 8);
    number(1, 4);
    number(2, 4);
    number(30, 4);
    end_entry(SET);
}

static void put_old(unsigned file_kind, bool has_extension)
{
    begin_file(file_kind);
    size_t between = 8 + 8 * MAPPED + (has_extension ? 94 : 0);
    put_set(size + 64 + between);
    put_map();
    if (has_extension) {
        number(1, 4);
        number(1, 2);
        dates(2);
        put(NULL, 60);
        end_entry(EXTENSION);
    }
    put_records();
}

static void put_tag(unsigned type, unsigned guid, unsigned revision)
{
    unsigned char body[1024];
    size_t count = part_size;
    memcpy(body, part, count);
    part_size = 0;
    number(type, 2);
    dates(1);
    number(guid, 8);
    number(0, 8);
    number(revision, 4);
    put(body, count);
    end_entry(TAG);
}

static void put_event(double rate_hz, int64_t sample, int64_t length)
{
    real(rate_hz);
    number((uint64_t)sample, 8);
    number((uint64_t)length, 8);
}

static void put_note(const char *text, int64_t sample, int64_t length, unsigned guid, unsigned revision)
{
    put_event(12500, sample, length);
    number(0, 4);
    words(text);
    put_tag(USER_NOTE, guid, revision);
}

static void put_stimulus(int64_t sample, unsigned waveform, unsigned channels, unsigned block, unsigned guid)
{
    put_event(12500, sample, 0);
    number(0, 4);
    number(waveform, 8);
    number(0, 8);
    number(channels, 8);
    number(0, 8);
    number(block, 2);
    number(0, 2);
    put_tag(STIMULUS, guid, 0);
}

/* ---- reading ---- */

static sf_recording read_good(const char *stream, double rate_hz)
{
    sf_recording recording;
    sf_error error = {0};
    if (sf_recording_read(&recording, test_path, &(sf_reading){.stream = stream, .rate_hz = rate_hz}, NULL,
                          &error) != SF_OK)
        fail_msg("%s", error.text);
    return recording;
}

static void assert_refused(const char *stream, sf_status code, const char *why)
{
    sf_recording recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&recording, test_path, &(sf_reading){.stream = stream}, NULL, &error),
                      &error, code, why);
    assert_null(strchr(error.text, '\n'));
}

static void check_first_well(const sf_recording *recording)
{
    static const struct {
        int64_t ns;
        const char *name;
    } spikes[] = {{500000000, "A1_31"},
                  {500000000, "A1_12"},
                  {1250000000, "A1_31"},
                  {2000000000, "A1_12"},
                  {3000000000, "A1_31"}};
    assert_int_equal(recording->units.count, 2);
    assert_int_equal(recording->spike_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(recording->spikes[i].time_ns, spikes[i].ns);
        assert_string_equal(recording->units.items[recording->spikes[i].unit].name, spikes[i].name);
    }
    const sf_unit *unit = &recording->units.items[0];
    assert_string_equal(unit->well, "A1");
    assert_int_equal(unit->electrode, 31);
    assert_int_equal(unit->kind, SF_UNIT_MULTI_UNIT);
    assert_true(unit->x_um == 700 && unit->y_um == 0);
    assert_int_equal(recording->dropped_count, 1);
    assert_int_equal(recording->dropped[0].count, 2);
}

static void wells_are_streams(void **state)
{
    (void)state;
    put_new(4);
    write_file();
    assert_refused(NULL, SF_USAGE,
                   "there are 2 wells; choose one with --stream: A1 (5 spikes), B12 (1 spikes)");
    assert_refused("C1", SF_USAGE, "there is no well 'C1'");
    sf_recording recording = read_good("A1", 0);
    assert_string_equal(recording.format, "AxIS spike file, version 1.3");
    check_first_well(&recording);
    assert_true(recording.declared && recording.recorded.start_ns == 0);
    assert_int_equal(recording.recorded.stop_ns, 4000000000);
    assert_string_equal(test_metadata(&recording, "plate"), "CytoView MEA 96");
    assert_string_equal(test_metadata(&recording, "started"), "2026-11-28T09:30:15.250");
    assert_string_equal(test_metadata(&recording, "pitch_um"), "350");
    sf_recording_clear(&recording);
    recording = read_good("B12", 0);
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.spikes[0].time_ns, 100000000);
    assert_string_equal(recording.units.items[0].name, "B12_11");
    sf_recording_clear(&recording);
    recording = read_good("A1", 25000);
    assert_int_equal(recording.spikes[4].time_ns, 1500000000);
    sf_recording_clear(&recording);
}

/* The type of the data is in an extension of their header, or else that of the file; nobody says how long. */
static void older_headers_are_read(void **state)
{
    (void)state;
    for (int has_extension = 0; has_extension < 2; has_extension++) {
        put_old(has_extension ? 0 : 1, has_extension != 0);
        write_file();
        sf_recording recording = read_good("A1", 0);
        check_first_well(&recording);
        assert_false(recording.declared);
        assert_int_equal(recording.recorded.start_ns, 100000000); /* of the plate */
        assert_int_equal(recording.recorded.stop_ns, 3000000001);
        sf_recording_clear(&recording);
    }
    put_old(0, false);
    write_file();
    assert_refused(NULL, SF_DATA, "this file of AxIS holds voltages; detect spikes in AxIS Navigator");
}

/* A header of each kind for the same data is one set; another set has names of its own. */
static void sets_of_spikes_are_told_apart(void **state)
{
    (void)state;
    begin_file(1);
    size_t data = size + 64 + 8 + 8 * MAPPED + COMBINED_BYTES;
    put_set(data);
    put_map();
    put_combined(1, 0, data, RECORDS * RECORD);
    put_records();
    write_file();
    sf_recording recording = read_good("A1", 0);
    check_first_well(&recording);
    sf_recording_clear(&recording);
    put_combined(1, 2, size + COMBINED_BYTES + 8, RECORD);
    put_record(0, 1250, 0, 6);
    end_entry(DATA);
    write_file();
    assert_refused(NULL, SF_USAGE,
                   "there are 4 wells; choose one with --stream: 1/A1 (5 spikes), 1/B12 (1 spikes), 2/A1 (1 "
                   "spikes), 2/B12 (0 spikes)");
    recording = read_good("2/A1", 0);
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.spikes[0].time_ns, 100000000);
    assert_int_equal(recording.recorded.stop_ns, 2000000000);
    sf_recording_clear(&recording);
}

static void a_file_that_is_being_written_ends_anywhere(void **state)
{
    (void)state;
    put_old(1, true);
    axion_put(bytes + list_at + 8 * (entries - 1), (uint64_t)DATA << 56 | ((UINT64_C(1) << 56) - 1), 8);
    axion_mend(bytes, size);
    write_bytes(size - 7);
    sf_recording recording = read_good("A1", 0);
    assert_int_equal(recording.spike_count, 4);
    assert_string_equal(test_metadata(&recording, "cut"),
                        "the last spike has 27 of 34 bytes, and is left out");
    sf_recording_clear(&recording);
}

/* ---- tags ---- */

static void assert_marker(const sf_recording *recording, size_t i, int64_t time_ns, const char *text)
{
    assert_true(i < recording->marker_count);
    assert_int_equal(recording->markers[i].time_ns, time_ns);
    assert_string_equal(recording->markers[i].text, text);
}

static void the_latest_revision_of_a_note_counts(void **state)
{
    (void)state;
    put_new(4);
    put_note("draft", 12500, 0, 1, 0);
    put_note("drug\nin", 25000, 12500, 1, 2);
    put_note("second draft", 12500, 0, 1, 1);
    put_note("gone", 1000, 0, 2, 0);
    put_tag(0, 2, 1); /* deleted */
    put_note("caf\xe9", 6250, 0, 3, 0);
    put_event(0, 0, 0);
    put_tag(USER_NOTE, 4, 0);
    for (unsigned i = 0; i < 130; i++) /* more than a header has room for */
        put_note("many", 30000, 0, 100 + i, 0);
    write_file();
    sf_recording recording = read_good("B12", 0);
    assert_int_equal(recording.marker_count, 133);
    assert_marker(&recording, 0, 500000000, "caf\xc3\xa9");
    assert_marker(&recording, 1, 2000000000, "drug in");
    assert_marker(&recording, 132, 3000000000, "drug in end");
    assert_string_equal(test_metadata(&recording, "tags"), "1 is damaged and left out");
    sf_recording_clear(&recording);
}

static void put_group(unsigned id, unsigned column, unsigned row, bool is_light)
{
    number(id, 4);
    number(0x3000009, 4);
    number(1, 4);
    number(column | row << 8, 4);
    if (!is_light) number(0, 4);
}

static void stimuli_are_of_their_wells(void **state)
{
    (void)state;
    put_new(4);
    number(0, 2); /* blocks 3 and 4, of groups 5 and 6 */
    number(2, 2);
    for (unsigned block = 3; block < 5; block++) {
        number(block, 4);
        real(0.1);
        real(0.1);
        number(block + 2, 4);
        words("a block");
    }
    put_tag(WAVEFORM, 50, 0);
    number(0, 4);
    put_group(5, 1, 1, false);
    put_group(6, 12, 2, false);
    put_tag(ELECTRODES, 51, 0);
    number(1 << 16, 4);
    put_group(9, 12, 2, true);
    put_tag(LEDS, 52, 0);
    put_stimulus(12500, 50, 51, 3, 1);
    put_stimulus(25000, 50, 51, 4, 2);
    put_stimulus(31250, 50, 52, 7, 3); /* light, of no block: in all that the tag names */
    put_stimulus(37500, 50, 99, 3, 4); /* nobody says where */
    write_file();
    sf_recording recording = read_good("A1", 0);
    assert_int_equal(recording.marker_count, 2);
    assert_marker(&recording, 0, 1000000000, "stim");
    assert_marker(&recording, 1, 3000000000, "stim");
    assert_string_equal(test_metadata(&recording, "stimuli"),
                        "of 1 the file does not say in which wells: every well has them");
    sf_recording_clear(&recording);
    recording = read_good("B12", 0);
    assert_int_equal(recording.marker_count, 3);
    assert_marker(&recording, 0, 2000000000, "stim");
    assert_marker(&recording, 1, 2500000000, "stim");
    sf_recording_clear(&recording);
}

static void notes_and_values_are_metadata(void **state)
{
    (void)state;
    put_new(0);
    for (unsigned revision = 2; revision-- > 0;) { /* the last comes first */
        char text[50] = "";
        snprintf(text, sizeof text, "person %u", revision);
        put(text, 50);
        put("plate 7", 7);
        put(NULL, 543);
        number(revision, 4);
        dates(1);
    }
    end_entry(NOTES);
    words("RecordingName");
    words("plate 8");
    put_tag(VALUE, 1, 0);
    number(0x0101, 4);
    number(3, 4); /* active, a control; its colour */
    words("TTX");
    words("fresh");
    real(30e-6);
    number(6, 1);
    words("M");
    put_tag(WELL, 2, 0);
    write_file();
    sf_recording recording = read_good("A1", 0);
    assert_string_equal(test_metadata(&recording, "Investigator"), "person 1");
    assert_string_equal(test_metadata(&recording, "RecordingName"), "plate 8");
    assert_string_equal(test_metadata(&recording, "treatment"), "TTX 30 uM");
    assert_string_equal(test_metadata(&recording, "well_comment"), "fresh");
    assert_string_equal(test_metadata(&recording, "control"), "yes");
    assert_null(test_metadata(&recording, "well_active"));
    sf_recording_clear(&recording);
    recording = read_good("B12", 0);
    assert_null(test_metadata(&recording, "treatment"));
    sf_recording_clear(&recording);
}

/* ---- damage ---- */

static void damaged_headers_are_refused(void **state)
{
    (void)state;
    put_new(4);
    write_file();
    write_bytes(600);
    assert_refused(NULL, SF_DATA, "damaged: it ends in its header: it was cut off or changed");
    bytes[40] ^= 1;
    write_bytes(size);
    assert_refused(NULL, SF_DATA, "damaged: the checksum of its header is wrong");
    bytes[40] ^= 1;
    write_bytes(size - 40);
    assert_refused(NULL, SF_DATA, "damaged: an entry of type 4 at byte");
    put_new(4);
    write_file();
    bytes[1024 + 3 + 8 + 8 * MAPPED + 20] ^= 1; /* of the header of data */
    write_bytes(size);
    assert_refused(NULL, SF_DATA, "damaged: the checksum of a header of data is wrong");
    put_new(4);
    bytes[10] = 0;
    write_file();
    assert_refused(NULL, SF_DATA,
                   "this file of AxIS is of version 0.3, and 1.x is read: export its spike list");
    put_new(4);
    axion_put(bytes + 26, 1 << 20, 8);
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: its entries begin at byte 1048576");
    begin_file(1);
    for (int i = 0; i < 123; i++)
        end_entry(SKIP);
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: it ends where its next header is");
    put_in(&size, bytes, ROOM, NULL, 1024);
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: the checksum of its next header is wrong");
    begin_file(1);
    write_file();
    assert_refused(NULL, SF_DATA, "this file of AxIS holds neither spikes nor voltages");
}

static void damaged_entries_are_refused(void **state)
{
    (void)state;
    begin_file(1);
    put_combined(1, 4, 2000, RECORD);
    write_file();
    assert_refused(NULL, SF_DATA, "there is no map of channels before the header of data at byte 1024");
    begin_file(1);
    number(1, 4);
    number(2, 4);
    end_entry(CHANNELS);
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: the map of channels at byte 1024 has 8 bytes and needs others");
    begin_file(1);
    put(NULL, 20);
    end_entry(COMBINED);
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: the header of data at byte 1024 has 20 bytes");
    begin_file(1);
    put(NULL, 20);
    end_entry(TAG);
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: a tag at byte 1024 has 20 bytes");
    put_new(4);
    axion_put(bytes + 1024 + 3 + 8 + 4, 9, 2); /* another channel in place of the first */
    write_file();
    assert_refused(NULL, SF_DATA, "names channel 5 of chip 0, which the map of channels has not");
    put_new(4);
    bytes[1024 + 3 + 8 + 8 + 5] = 5; /* the second is on that of the first */
    write_file();
    assert_refused(NULL, SF_DATA, "names channel 6 of chip 0");
    put_old(1, true);
    bytes[1024 + 64 + 8 + 8 + 5] = 5;
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: its map has channel 5 of chip 0 twice");
}

static void damaged_spikes_are_refused(void **state)
{
    (void)state;
    begin_file(1);
    put_set(1024);
    put_map();
    put_records();
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: its spikes should begin at byte 1024, where no data do");
    begin_file(1);
    put_set(1024 + 64);
    put_records();
    write_file();
    assert_refused(NULL, SF_DATA, "it has spikes and no map of the channels that they are on");
    begin_file(1);
    put_map();
    put_combined(1, 0, 1024, 1 << 20);
    write_file();
    assert_refused(NULL, SF_DATA,
                   "damaged: its spikes take 1048576 bytes from byte 1024 on, and the file has");
    begin_file(1);
    put_map();
    put_combined(1, 0, 1024, RECORD + 1);
    write_file();
    assert_refused(NULL, SF_DATA, "damaged: its spikes take 35 bytes, and a record has 34");
    put_new(4);
    axion_put(bytes + 1024 + 3 + 8 + 8 * MAPPED + 24, 2, 4);
    write_file();
    assert_refused(NULL, SF_DATA,
                   "damaged: a record of its spikes has 2 channels, 1 sets, 2 samples of 2 bytes");
    put_new(4);
    axion_put(bytes + size - RECORD, INT64_MAX, 8);
    write_file();
    assert_refused(NULL, SF_DATA,
                   "a spike on channel 5 of chip 0 is at sample 9223372036854775807 and 10 more");
    put_new(4);
    axion_put(bytes + size - RECORD, INT64_MAX / 2, 8);
    write_file();
    assert_refused("A1", SF_DATA, "which at 12500 Hz is beyond 146 years");
    put_new(4);
    axion_put(bytes + 1024 + 3 + 8 + 8 * MAPPED + 8, 0, 8);
    write_file();
    assert_refused("A1", SF_DATA, "looked for the header of its spikes");
    put_new(1e300);
    write_file();
    sf_recording recording = read_good("A1", 0);
    assert_false(recording.declared);
    assert_non_null(strstr(test_metadata(&recording, "recorded"), "it is not believed"));
    sf_recording_clear(&recording);
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    sf_reading how = {.stream = "A1"};
    put_new(4);
    put_note("a note", 12500, 100, 1, 0);
    put_stimulus(12500, 50, 51, 3, 2);
    words("key");
    words("value");
    put_tag(VALUE, 3, 0);
    write_file();
    test_fail_every_allocation(test_read_and_free, &(test_reading){test_path, &how});
}

#define WITH_FILE(test) test_with_file(test, ".bin") /* the name tells nothing */

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(wells_are_streams),
        WITH_FILE(older_headers_are_read),
        WITH_FILE(sets_of_spikes_are_told_apart),
        WITH_FILE(a_file_that_is_being_written_ends_anywhere),
        WITH_FILE(the_latest_revision_of_a_note_counts),
        WITH_FILE(stimuli_are_of_their_wells),
        WITH_FILE(notes_and_values_are_metadata),
        WITH_FILE(damaged_headers_are_refused),
        WITH_FILE(damaged_entries_are_refused),
        WITH_FILE(damaged_spikes_are_refused),
        WITH_FILE(no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
