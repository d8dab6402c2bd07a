/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "decode/wire.h"

#include <math.h>

static char *random_name(test_random *random, size_t most)
{
    static char name[64];
    size_t length = test_random_below(random, most + 1);
    for (size_t i = 0; i < length; i++)
        name[i] = (char)(1 + test_random_below(random, 255));
    name[length] = '\0';
    return name;
}

static sf_recording random_table(test_random *random)
{
    sf_recording about = {0};
    size_t units = test_random_below(random, 20), entries = test_random_below(random, 5);
    for (size_t i = 0; i < units; i++) {
        char name[96], well[64];
        snprintf(name, sizeof name, "%zu%s", i, random_name(random, 40));
        snprintf(well, sizeof well, "%s", random_name(random, 3));
        sf_unit unit = {.name = name,
                        .x_um = test_random_below(random, 4) == 0 ? NAN : test_random_unit(random) * 1e4,
                        .y_um = -test_random_unit(random),
                        .kind = (sf_unit_kind)test_random_below(random, 4),
                        .electrode = (int32_t)test_random_bits(random),
                        .well = well[0] != '\0' ? well : NULL};
        assert_int_equal(sf_units_add(&about.units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&about.units, NULL), SF_OK);
    for (size_t i = 0; i < entries; i++) {
        char key[96];
        snprintf(key, sizeof key, "%zu%s", i, random_name(random, 10));
        assert_int_equal(sf_recording_set_metadata(&about, key, random_name(random, 60), NULL), SF_OK);
    }
    return about;
}

static sf_wire_header random_header(test_random *random)
{
    return (sf_wire_header){.run = test_random_bits(random),
                            .sequence = test_random_bits(random),
                            .clock_ns = (int64_t)test_random_bits(random)};
}

/* Reads a frame as a receiver does: the header, then what its kind says. */
static sf_wire_fault read_any(const void *frame, size_t size, size_t unit_count, sf_wire_data *data,
                              sf_recording *about)
{
    sf_wire_header header;
    sf_wire_stream stream;
    uint64_t spikes, markers;
    sf_wire_fault fault = sf_wire_read_header(&header, frame, size);
    if (fault != SF_WIRE_SOUND) return fault;
    switch (header.kind) {
    case SF_WIRE_HELLO:
        return sf_wire_read_hello(about, &stream, frame, size);
    case SF_WIRE_DATA:
        return sf_wire_read_data(data, unit_count, frame, size);
    case SF_WIRE_END:
        return sf_wire_read_end(&spikes, &markers, frame, size);
    default:
        return SF_WIRE_SOUND;
    }
}

/* Every beginning of a sound frame is short, every continuation long, and no broken byte does harm. */
static void hurt(test_random *random, const sf_text *frame, size_t unit_count)
{
    sf_wire_data data = {0};
    sf_recording about = {0};
    for (size_t length = 0; length < frame->length; length += 1 + frame->length / 200) {
        char *cut = malloc(length + 1); /* a block of its own, so that a read beyond the end is found */
        memcpy(cut, frame->data, length);
        sf_wire_fault fault = read_any(cut, length, unit_count, &data, &about);
        assert_int_equal(fault, length < 4 ? SF_WIRE_FOREIGN : SF_WIRE_SHORT);
        free(cut);
    }
    char *more = malloc(frame->length + 7);
    memcpy(more, frame->data, frame->length);
    memset(more + frame->length, 0, 7);
    assert_int_equal(read_any(more, frame->length + 7, unit_count, &data, &about), SF_WIRE_LONG);
    for (int i = 0; i < 50; i++) {
        memcpy(more, frame->data, frame->length);
        for (int k = 0; k < 3; k++)
            more[test_random_below(random, frame->length)] = (char)test_random_bits(random);
        if (read_any(more, frame->length, unit_count, &data, &about) == SF_WIRE_SOUND)
            sf_recording_clear(&about);
    }
    free(more);
    sf_wire_data_free(&data);
    assert_null(about.units.items);
}

static void check_header(const sf_wire_header *header, const sf_text *frame, sf_wire_kind kind)
{
    sf_wire_header read;
    assert_int_equal(sf_wire_read_header(&read, frame->data, frame->length), SF_WIRE_SOUND);
    assert_int_equal(read.version, SF_WIRE_PROTOCOL);
    assert_int_equal(read.kind, kind);
    assert_true(read.run == header->run && read.sequence == header->sequence &&
                read.clock_ns == header->clock_ns);
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static void unit_tables_come_back_as_sent(void **state)
{
    (void)state;
    test_random random = test_random_start("wire hello", 1);
    sf_text frame = {0};
    for (int round = 0; round < 200; round++) {
        sf_recording sent = random_table(&random), got;
        sf_wire_header header = random_header(&random);
        sf_wire_stream stream = {(int64_t)test_random_bits(&random), (uint32_t)test_random_bits(&random)};
        sf_wire_stream stream_read;
        sf_wire_put_hello(&frame, &header, "some stream", &stream, &sent);
        assert_false(frame.failed);
        check_header(&header, &frame, SF_WIRE_HELLO);
        assert_int_equal(sf_wire_read_hello(&got, &stream_read, frame.data, frame.length), SF_WIRE_SOUND);
        assert_true(stream_read.origin_ns == stream.origin_ns && stream_read.flags == stream.flags);
        assert_string_equal(got.path, "some stream");
        assert_int_equal(got.units.count, sent.units.count);
        for (size_t i = 0; i < sent.units.count; i++) {
            const sf_unit *a = &sent.units.items[i], *b = &got.units.items[i];
            assert_string_equal(a->name, b->name);
            assert_true(same_text(a->well, b->well));
            assert_memory_equal(&a->x_um, &b->x_um, sizeof a->x_um);
            assert_memory_equal(&a->y_um, &b->y_um, sizeof a->y_um);
            assert_true(a->kind == b->kind && a->electrode == b->electrode);
            assert_int_equal(sf_units_find(&got.units, a->name), i);
        }
        assert_int_equal(got.metadata_count, sent.metadata_count);
        for (size_t i = 0; i < sent.metadata_count; i++) {
            assert_string_equal(got.metadata[i].key, sent.metadata[i].key);
            assert_string_equal(got.metadata[i].value, sent.metadata[i].value);
        }
        hurt(&random, &frame, 0);
        sf_recording_clear(&sent);
        sf_recording_clear(&got);
    }
    sf_text_free(&frame);
}

/* A random data frame's content, in time order. */
static sf_wire_data random_data(test_random *random, uint32_t unit_count)
{
    sf_wire_data data = {.spike_count = test_random_below(random, 400),
                         .marker_count = test_random_below(random, 5)};
    data.spikes = sf_alloc(data.spike_count, sizeof *data.spikes);
    data.markers = sf_alloc(data.marker_count, sizeof *data.markers);
    int64_t time = (int64_t)test_random_bits(random) / 4;
    for (size_t i = 0; i < data.spike_count; i++) {
        time += (int64_t)test_random_below(random, UINT64_C(1) << test_random_below(random, 40));
        uint32_t amplitude = (uint32_t)test_random_bits(random); /* any bits, also of NaN */
        data.spikes[i] = (sf_spike){.time_ns = time, .unit = (uint32_t)test_random_below(random, unit_count)};
        memcpy(&data.spikes[i].amplitude, &amplitude, sizeof amplitude);
    }
    for (size_t i = 0; i < data.marker_count; i++) {
        sf_marker *marker = &data.markers[i];
        *marker = (sf_marker){.time_ns = time + (int64_t)i,
                              .kind = i % 2 == 0 ? SF_MARKER_TTL : SF_MARKER_TEXT,
                              .state = (uint8_t)test_random_below(random, 2),
                              .line = (uint16_t)test_random_bits(random)};
        snprintf(marker->text, sizeof marker->text, "%.47s", random_name(random, 60));
    }
    return data;
}

static void spikes_and_markers_come_back_as_sent(void **state)
{
    (void)state;
    test_random random = test_random_start("wire data", 2);
    sf_text frame = {0};
    sf_wire_data got = {0};
    for (int round = 0; round < 300; round++) {
        sf_wire_data sent = random_data(&random, 50);
        sf_wire_header header = random_header(&random);
        sf_wire_put_data(&frame, &header, sent.spikes, sent.spike_count, sent.markers, sent.marker_count);
        check_header(&header, &frame, SF_WIRE_DATA);
        assert_int_equal(frame.length, 40 + 16 * sent.spike_count + 64 * sent.marker_count);
        assert_int_equal(sf_wire_read_data(&got, 50, frame.data, frame.length), SF_WIRE_SOUND);
        assert_int_equal(got.spike_count, sent.spike_count);
        assert_int_equal(got.marker_count, sent.marker_count);
        assert_true(sent.spike_count == 0 ||
                    memcmp(got.spikes, sent.spikes, sent.spike_count * sizeof *sent.spikes) == 0);
        assert_true(sent.marker_count == 0 ||
                    memcmp(got.markers, sent.markers, sent.marker_count * sizeof *sent.markers) == 0);

        /* With a smaller table the others are left out, and counted. */
        size_t known = 0;
        for (size_t i = 0; i < sent.spike_count; i++)
            known += sent.spikes[i].unit < 20;
        assert_int_equal(sf_wire_read_data(&got, 20, frame.data, frame.length), SF_WIRE_SOUND);
        assert_int_equal(got.spike_count, known);
        assert_int_equal(got.unknown_units, sent.spike_count - known);
        hurt(&random, &frame, 50);
        sf_wire_data_free(&sent);
    }
    sf_wire_data_free(&got);
    sf_text_free(&frame);
}

static void small_frames_come_back_as_sent(void **state)
{
    (void)state;
    test_random random = test_random_start("wire small", 3);
    sf_text frame = {0};
    sf_wire_header header = random_header(&random);
    sf_wire_put_heartbeat(&frame, &header);
    check_header(&header, &frame, SF_WIRE_HEARTBEAT);
    hurt(&random, &frame, 0);
    sf_wire_put_end(&frame, &header, 12345678901, 7);
    check_header(&header, &frame, SF_WIRE_END);
    uint64_t spikes, markers;
    assert_int_equal(sf_wire_read_end(&spikes, &markers, frame.data, frame.length), SF_WIRE_SOUND);
    assert_true(spikes == 12345678901 && markers == 7);
    hurt(&random, &frame, 0);
    sf_text_free(&frame);
}

/* The bytes that docs/wire.md prints. */
static void the_bytes_are_those_of_the_specification(void **state)
{
    (void)state;
    static const unsigned char expected[] = {
        'S',  'Y',  'N',  'F',  1,    0,    2,    0,    /* magic, version, kind: data */
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* run */
        5,    0,    0,    0,    0,    0,    0,    0,    /* sequence */
        0x00, 0xca, 0x9a, 0x3b, 0,    0,    0,    0,    /* clock: 1 s */
        1,    0,    0,    0,    1,    0,    0,    0,    /* one spike, one marker */
        0xff, 0xc9, 0x9a, 0x3b, 0,    0,    0,    0,
        3,    0,    0,    0,    0,    0,    0xa0, 0xc2, /* 999999999 ns, unit 3, -80 */
        0x00, 0x65, 0xcd, 0x1d, 0,    0,    0,    0,
        2,    0,    0,    0,    0,    0,    0,    0, /* 0.5 s, text */
        'g',  'o',
    };
    sf_wire_header header = {.run = UINT64_C(0x0102030405060708), .sequence = 5, .clock_ns = 1000000000};
    sf_spike spike = {.time_ns = 999999999, .unit = 3, .amplitude = -80};
    sf_marker marker = {.time_ns = 500000000, .kind = SF_MARKER_TEXT, .text = "go"};
    sf_text frame = {0};
    sf_wire_put_data(&frame, &header, &spike, 1, &marker, 1);
    assert_int_equal(frame.length, 120);
    assert_memory_equal(frame.data, expected, sizeof expected);
    for (size_t i = sizeof expected; i < frame.length; i++)
        assert_int_equal(frame.data[i], 0);
    sf_text_free(&frame);
}

static sf_wire_fault read_changed(const sf_text *frame, size_t at, char value)
{
    char *copy = malloc(frame->length);
    memcpy(copy, frame->data, frame->length);
    copy[at] = value;
    sf_wire_data data = {0};
    sf_recording about;
    sf_wire_fault fault = read_any(copy, frame->length, 10, &data, &about);
    sf_wire_data_free(&data);
    free(copy);
    return fault;
}

static void each_fault_has_its_name(void **state)
{
    (void)state;
    sf_text frame = {0};
    sf_wire_header header = {.run = 1}, read;
    sf_spike spikes[2] = {{.time_ns = 1000}, {.time_ns = 2000}};
    sf_marker markers[2] = {{.time_ns = 1, .kind = SF_MARKER_TTL}, {.time_ns = 2, .kind = SF_MARKER_TTL}};
    sf_wire_put_data(&frame, &header, spikes, 2, markers, 2);
    assert_int_equal(read_changed(&frame, 0, 'x'), SF_WIRE_FOREIGN);
    assert_int_equal(read_changed(&frame, 4, 9), SF_WIRE_VERSION);
    frame.data[4] = 9;
    assert_int_equal(sf_wire_read_header(&read, frame.data, frame.length), SF_WIRE_VERSION);
    assert_int_equal(read.version, 9);
    frame.data[4] = 1;
    assert_int_equal(read_changed(&frame, 6, 0), SF_WIRE_KIND);
    assert_int_equal(read_changed(&frame, 6, 5), SF_WIRE_KIND);
    assert_int_equal(read_changed(&frame, 32, 1), SF_WIRE_LONG);
    assert_int_equal(read_changed(&frame, 35, 1), SF_WIRE_SHORT);
    assert_int_equal(read_changed(&frame, 40 + 7, 1), SF_WIRE_ORDER);       /* the first spike is late */
    assert_int_equal(read_changed(&frame, 72 + 7, 1), SF_WIRE_ORDER);       /* the first marker is */
    assert_int_equal(read_changed(&frame, 72 + 64 + 8, 3), SF_WIRE_MARKER); /* a kind that is none */

    sf_recording about = {0};
    assert_int_equal(sf_units_add(&about.units, &(sf_unit){.name = (char[]){"ab"}}, NULL), SF_OK);
    sf_wire_put_hello(&frame, &header, "s", &(sf_wire_stream){0}, &about);
    assert_int_equal(read_changed(&frame, 57 + 20, 4), SF_WIRE_TABLE);    /* the kind of unit */
    assert_int_equal(read_changed(&frame, 57 + 25, '\0'), SF_WIRE_TABLE); /* NUL in the name */
    assert_int_equal(read_changed(&frame, 46, 1), SF_WIRE_SHORT);         /* 65537 units */
    assert_int_equal(read_changed(&frame, 49, 4), SF_WIRE_TABLE);         /* 1024 metadata entries */
    sf_recording_clear(&about);
    for (int fault = 0; fault < SF_WIRE_FAULTS; fault++) {
        assert_true(strlen(sf_wire_fault_text((sf_wire_fault)fault)) > 3);
    }
    sf_text_free(&frame);
}

/* A table that repeats one name is read in time that grows with its length, not its square. */
static void repeated_names_are_made_unique(void **state)
{
    (void)state;
    sf_recording about = {0}, got;
    for (int i = 0; i < 60000; i++)
        assert_int_equal(sf_units_add(&about.units, &(sf_unit){.name = (char[]){"e"}}, NULL), SF_OK);
    sf_text frame = {0};
    sf_wire_put_hello(&frame, &(sf_wire_header){0}, "", &(sf_wire_stream){0}, &about);
    sf_wire_stream stream;
    assert_int_equal(sf_wire_read_hello(&got, &stream, frame.data, frame.length), SF_WIRE_SOUND);
    assert_string_equal(got.units.items[59999].name, "e_60000");
    sf_recording_clear(&about);
    sf_recording_clear(&got);
    sf_text_free(&frame);
}

static int read_hello_and_data(void *context)
{
    sf_recording about, *table = context;
    sf_wire_stream stream = {0};
    sf_text frame = {0};
    sf_wire_data data = {0};
    sf_spike spike = {.time_ns = 1};
    sf_marker marker = {.time_ns = 1, .kind = SF_MARKER_TTL};
    sf_wire_put_hello(&frame, &(sf_wire_header){0}, "name", &stream, table);
    int status = SF_NO_MEMORY;
    if (!frame.failed && sf_wire_read_hello(&about, &stream, frame.data, frame.length) == SF_WIRE_SOUND) {
        sf_recording_clear(&about);
        sf_wire_put_data(&frame, &(sf_wire_header){0}, &spike, 1, &marker, 1);
        if (!frame.failed && sf_wire_read_data(&data, 1, frame.data, frame.length) == SF_WIRE_SOUND)
            status = SF_OK;
    }
    sf_wire_data_free(&data);
    sf_text_free(&frame);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("wire memory", 4);
    sf_recording table = random_table(&random);
    test_fail_every_allocation(read_hello_and_data, &table);
    sf_recording_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unit_tables_come_back_as_sent),
        cmocka_unit_test(spikes_and_markers_come_back_as_sent),
        cmocka_unit_test(small_frames_come_back_as_sent),
        cmocka_unit_test(the_bytes_are_those_of_the_specification),
        cmocka_unit_test(each_fault_has_its_name),
        cmocka_unit_test(repeated_names_are_made_unique),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
