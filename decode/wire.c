/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/wire.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

#define SPIKE_SIZE 16
#define MARKER_SIZE 64
#define TOTALS_SIZE 16
#define COUNTS_SIZE 8 /* bytes of the spike and marker counts of a data frame */
#define TABLE_SIZE 20 /* what a hello says before its strings */
#define STRING_SIZE 4 /* the length of a string */
#define PLACE_SIZE 21 /* a unit before its name */
#define LEAST_UNIT_SIZE (PLACE_SIZE + 2 * STRING_SIZE) /* without name and well */

static const char magic[4] = {'S', 'Y', 'N', 'F'};

const char *sf_wire_fault_text(sf_wire_fault fault)
{
    static const char *const texts[SF_WIRE_FAULTS] = {
        "is sound",
        "does not begin as a frame of this protocol",
        "is of another version of the protocol",
        "is of an unknown kind",
        "ends before what it announces",
        "goes on after what it announces",
        "has a table with a broken text, an unknown kind of unit or too much metadata",
        "has times that go back",
        "has a marker of an unknown kind",
        "has a sequence number that was there before, or that is far ahead",
        "names other units than those of this run",
        "found no memory",
    };
    return texts[fault];
}

/* ---- writing ---- */

static void put_bytes(sf_text *frame, const void *bytes, size_t count)
{
    sf_text_append(frame, bytes, count);
}

/* Stores the low `size` bytes of a number, little-endian. */
static inline void store(unsigned char *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t load(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void put_number(sf_text *frame, uint64_t value, size_t size)
{
    unsigned char bytes[8];
    store(bytes, value, size);
    put_bytes(frame, bytes, size);
}

static void put_real(sf_text *frame, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(frame, bits, 8);
}

static void put_string(sf_text *frame, const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    put_number(frame, length, 4);
    if (length > 0) put_bytes(frame, text, length);
}

static void put_header(sf_text *frame, const sf_wire_header *header, sf_wire_kind kind)
{
    sf_text_clear(frame);
    put_bytes(frame, magic, sizeof magic);
    put_number(frame, SF_WIRE_PROTOCOL, 2);
    put_number(frame, (uint64_t)kind, 2);
    put_number(frame, header->run, 8);
    put_number(frame, header->sequence, 8);
    put_number(frame, (uint64_t)header->clock_ns, 8);
}

void sf_wire_put_hello(sf_text *frame, const sf_wire_header *header, const char *name,
                       const sf_wire_stream *stream, const sf_recording *about)
{
    put_header(frame, header, SF_WIRE_HELLO);
    put_number(frame, (uint64_t)stream->origin_ns, 8);
    put_number(frame, stream->flags, 4);
    put_number(frame, about->units.count, 4);
    put_number(frame, about->metadata_count, 4);
    put_string(frame, name);
    for (size_t i = 0; i < about->units.count; i++) {
        const sf_unit *unit = &about->units.items[i];
        put_real(frame, unit->x_um);
        put_real(frame, unit->y_um);
        put_number(frame, (uint32_t)unit->electrode, 4);
        put_number(frame, (uint64_t)unit->kind, 1);
        put_string(frame, unit->name);
        put_string(frame, unit->well);
    }
    for (size_t i = 0; i < about->metadata_count; i++) {
        put_string(frame, about->metadata[i].key);
        put_string(frame, about->metadata[i].value);
    }
}

/* Collects spikes in a block of wire bytes, to append many at once. */
static void put_spikes(sf_text *frame, const sf_spike *spikes, size_t count)
{
    enum { BLOCK = 128 };
    unsigned char block[BLOCK * SPIKE_SIZE];
    for (size_t done = 0; done < count;) {
        size_t filled = 0;
        for (; filled < BLOCK && done < count; filled++, done++) {
            unsigned char *to = block + filled * SPIKE_SIZE;
            uint32_t amplitude;
            memcpy(&amplitude, &spikes[done].amplitude, sizeof amplitude);
            store(to, (uint64_t)spikes[done].time_ns, 8);
            store(to + 8, spikes[done].unit, 4);
            store(to + 12, amplitude, 4);
        }
        put_bytes(frame, block, filled * SPIKE_SIZE);
    }
}

static void put_marker(sf_text *frame, const sf_marker *marker)
{
    char text[SF_MARKER_TEXT_SIZE] = {0};
    memcpy(text, marker->text, strnlen(marker->text, sizeof text - 1));
    put_number(frame, (uint64_t)marker->time_ns, 8);
    put_number(frame, marker->kind, 1);
    put_number(frame, marker->state, 1);
    put_number(frame, marker->line, 2);
    put_number(frame, 0, 4);
    put_bytes(frame, text, sizeof text);
}

void sf_wire_put_data(sf_text *frame, const sf_wire_header *header, const sf_spike *spikes,
                      size_t spike_count, const sf_marker *markers, size_t marker_count)
{
    put_header(frame, header, SF_WIRE_DATA);
    put_number(frame, spike_count, 4);
    put_number(frame, marker_count, 4);
    put_spikes(frame, spikes, spike_count);
    for (size_t i = 0; i < marker_count; i++)
        put_marker(frame, &markers[i]);
}

void sf_wire_put_heartbeat(sf_text *frame, const sf_wire_header *header)
{
    put_header(frame, header, SF_WIRE_HEARTBEAT);
}

void sf_wire_put_end(sf_text *frame, const sf_wire_header *header, uint64_t spikes, uint64_t markers)
{
    put_header(frame, header, SF_WIRE_END);
    put_number(frame, spikes, 8);
    put_number(frame, markers, 8);
}

/* ---- reading ---- */

/* Unread rest of a frame; the first read beyond its end sets the fault, and later reads return zeros. */
typedef struct reader {
    const unsigned char *at;
    size_t left;
    sf_wire_fault fault;
} reader;

static const unsigned char *take(reader *in, size_t count)
{
    if (in->fault == SF_WIRE_SOUND && count > in->left) in->fault = SF_WIRE_SHORT;
    if (in->fault != SF_WIRE_SOUND) return NULL;
    const unsigned char *bytes = in->at;
    in->at += count;
    in->left -= count;
    return bytes;
}

static uint64_t take_number(reader *in, size_t size)
{
    const unsigned char *bytes = take(in, size);
    return bytes != NULL ? load(bytes, size) : 0;
}

static double take_real(reader *in)
{
    uint64_t bits = take_number(in, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Reads a new string; NULL with the fault set. */
static char *take_string(reader *in)
{
    size_t length = take_number(in, 4);
    const unsigned char *bytes = take(in, length);
    if (bytes == NULL) return NULL;
    if (memchr(bytes, '\0', length) != NULL) {
        in->fault = SF_WIRE_TABLE;
        return NULL;
    }
    char *text = sf_alloc(length + 1, 1);
    if (text == NULL)
        in->fault = SF_WIRE_MEMORY;
    else
        memcpy(text, bytes, length);
    return text;
}

static sf_wire_fault finish(const reader *in)
{
    return in->fault == SF_WIRE_SOUND && in->left > 0 ? SF_WIRE_LONG : in->fault;
}

/* The frame after its header, which sf_wire_read_header has checked. */
static reader body_of(const void *frame, size_t size)
{
    reader in = {.at = frame, .left = size};
    take(&in, SF_WIRE_HEADER_SIZE);
    return in;
}

sf_wire_fault sf_wire_read_header(sf_wire_header *header, const void *frame, size_t size)
{
    *header = (sf_wire_header){0};
    reader in = {.at = frame, .left = size};
    const unsigned char *begin = take(&in, sizeof magic);
    if (begin == NULL || memcmp(begin, magic, sizeof magic) != 0) return SF_WIRE_FOREIGN;
    header->version = (uint16_t)take_number(&in, 2);
    if (in.fault == SF_WIRE_SOUND && header->version != SF_WIRE_PROTOCOL) return SF_WIRE_VERSION;
    header->kind = (uint16_t)take_number(&in, 2);
    header->run = take_number(&in, 8);
    header->sequence = take_number(&in, 8);
    header->clock_ns = (int64_t)take_number(&in, 8);
    if (in.fault != SF_WIRE_SOUND) return in.fault;
    if (header->kind < SF_WIRE_HELLO || header->kind > SF_WIRE_END) return SF_WIRE_KIND;
    return header->kind == SF_WIRE_HEARTBEAT ? finish(&in) : SF_WIRE_SOUND;
}

/*
 * The length of a hello depends on its strings, each of which states its length. The sum of minimum lengths
 * is required before anything is scanned, so that a table that arrives byte by byte is not rescanned for
 * every byte.
 */
static uint64_t measure_hello(const unsigned char *bytes, size_t size)
{
    uint64_t at = SF_WIRE_HEADER_SIZE + TABLE_SIZE, least = STRING_SIZE;
    if (size < at) return at;
    uint64_t units = load(bytes + 44, 4), entries = load(bytes + 48, 4);
    least += units * LEAST_UNIT_SIZE + entries * 2 * STRING_SIZE;
    uint64_t known = at + least; /* bytes that are looked at */
    for (uint64_t i = 0; i < 1 + 2 * units + 2 * entries && at + least <= SF_WIRE_MOST_BYTES; i++) {
        uint64_t before = i % 2 == 1 && i < 2 * units ? PLACE_SIZE : 0;
        if (at + before + STRING_SIZE > known) known = at + least;
        if (known > size) return known;
        at += before + STRING_SIZE + load(bytes + at + before, STRING_SIZE);
        least -= before + STRING_SIZE;
    }
    return at + least;
}

static uint64_t measure_kind(sf_wire_kind kind, const unsigned char *bytes, size_t size)
{
    uint64_t counted = SF_WIRE_HEADER_SIZE + COUNTS_SIZE;
    switch (kind) {
    case SF_WIRE_HELLO:
        return measure_hello(bytes, size);
    case SF_WIRE_DATA:
        return size < counted
                   ? counted
                   : counted + load(bytes + 32, 4) * SPIKE_SIZE + load(bytes + 36, 4) * MARKER_SIZE;
    case SF_WIRE_END:
        return SF_WIRE_HEADER_SIZE + TOTALS_SIZE;
    default:
        return SF_WIRE_HEADER_SIZE;
    }
}

size_t sf_wire_measure(const void *bytes, size_t size, sf_wire_fault *fault)
{
    sf_wire_header header;
    *fault = SF_WIRE_SOUND;
    if (memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) != 0)
        *fault = SF_WIRE_FOREIGN;
    else if (size < sizeof magic)
        return size + 1;
    else if (size < SF_WIRE_HEADER_SIZE)
        return SF_WIRE_HEADER_SIZE;
    else
        *fault = sf_wire_read_header(&header, bytes, SF_WIRE_HEADER_SIZE);
    uint64_t whole = *fault == SF_WIRE_SOUND ? measure_kind(header.kind, bytes, size) : 0;
    if (whole > SF_WIRE_MOST_BYTES) *fault = SF_WIRE_FOREIGN;
    return *fault == SF_WIRE_SOUND ? (size_t)whole : 0;
}

static void take_unit(reader *in, sf_units *units)
{
    sf_unit unit = {0};
    unit.x_um = take_real(in);
    unit.y_um = take_real(in);
    unit.electrode = (int32_t)(uint32_t)take_number(in, 4);
    const unsigned char *kind = take(in, 1);
    char *name = take_string(in), *well = take_string(in);
    if (in->fault == SF_WIRE_SOUND && *kind > SF_UNIT_NOISE) in->fault = SF_WIRE_TABLE;
    if (in->fault == SF_WIRE_SOUND) {
        unit.kind = (sf_unit_kind)*kind;
        unit.name = name;
        unit.well = well[0] != '\0' ? well : NULL;
        if (sf_units_add(units, &unit, NULL) != SF_OK) in->fault = SF_WIRE_MEMORY;
    }
    sf_free(name);
    sf_free(well);
}

static void take_metadata(reader *in, sf_recording *about)
{
    char *key = take_string(in), *value = take_string(in);
    if (in->fault == SF_WIRE_SOUND && sf_recording_set_metadata(about, key, value, NULL) != SF_OK)
        in->fault = SF_WIRE_MEMORY;
    sf_free(key);
    sf_free(value);
}

sf_wire_fault sf_wire_read_hello(sf_recording *about, sf_wire_stream *stream, const void *frame, size_t size)
{
    *about = (sf_recording){0};
    reader in = body_of(frame, size);
    stream->origin_ns = (int64_t)take_number(&in, 8);
    stream->flags = (uint32_t)take_number(&in, 4);
    uint64_t unit_count = take_number(&in, 4), metadata_count = take_number(&in, 4);
    about->path = take_string(&in);
    if (in.fault == SF_WIRE_SOUND && unit_count > in.left / LEAST_UNIT_SIZE) in.fault = SF_WIRE_SHORT;
    if (in.fault == SF_WIRE_SOUND && metadata_count > SF_WIRE_MOST_METADATA) in.fault = SF_WIRE_TABLE;
    for (uint64_t i = 0; in.fault == SF_WIRE_SOUND && i < unit_count; i++)
        take_unit(&in, &about->units);
    for (uint64_t i = 0; in.fault == SF_WIRE_SOUND && i < metadata_count; i++)
        take_metadata(&in, about);
    sf_wire_fault fault = finish(&in);
    if (fault == SF_WIRE_SOUND) {
        about->format = sf_copy_string("synfire stream 1");
        if (about->format == NULL || sf_units_finish(&about->units, NULL) != SF_OK) fault = SF_WIRE_MEMORY;
    }
    if (fault != SF_WIRE_SOUND) sf_recording_clear(about);
    return fault;
}

/* Copies out spikes of known units; times must not go back. */
static sf_wire_fault take_spikes(reader *in, sf_wire_data *data, size_t count, size_t unit_count)
{
    int64_t last = INT64_MIN;
    const unsigned char *bytes = take(in, count * SPIKE_SIZE);
    for (size_t i = 0; i < count; i++, bytes += SPIKE_SIZE) {
        sf_spike spike = {.time_ns = (int64_t)load(bytes, 8), .unit = (uint32_t)load(bytes + 8, 4)};
        uint32_t amplitude = (uint32_t)load(bytes + 12, 4);
        memcpy(&spike.amplitude, &amplitude, sizeof amplitude);
        if (spike.time_ns < last) return SF_WIRE_ORDER;
        last = spike.time_ns;
        if (spike.unit < unit_count)
            data->spikes[data->spike_count++] = spike;
        else
            data->unknown_units++;
    }
    return SF_WIRE_SOUND;
}

static sf_wire_fault take_markers(reader *in, sf_wire_data *data, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sf_marker *marker = &data->markers[data->marker_count++];
        *marker = (sf_marker){.time_ns = (int64_t)take_number(in, 8)};
        marker->kind = (uint8_t)take_number(in, 1);
        marker->state = (uint8_t)take_number(in, 1);
        marker->line = (uint16_t)take_number(in, 2);
        take_number(in, 4);
        const unsigned char *text = take(in, SF_MARKER_TEXT_SIZE);
        memcpy(marker->text, text, SF_MARKER_TEXT_SIZE - 1);
        if (marker->kind != SF_MARKER_TTL && marker->kind != SF_MARKER_TEXT) return SF_WIRE_MARKER;
        if (i > 0 && marker->time_ns < marker[-1].time_ns) return SF_WIRE_ORDER;
    }
    return SF_WIRE_SOUND;
}

static int make_room(sf_wire_data *data, size_t spike_count, size_t marker_count)
{
    void *spikes = data->spikes, *markers = data->markers;
    if (sf_reserve(&spikes, &data->spike_capacity, spike_count, sizeof *data->spikes) != 0) return -1;
    data->spikes = spikes;
    if (sf_reserve(&markers, &data->marker_capacity, marker_count, sizeof *data->markers) != 0) return -1;
    data->markers = markers;
    return 0;
}

sf_wire_fault sf_wire_read_data(sf_wire_data *data, size_t unit_count, const void *frame, size_t size)
{
    data->spike_count = data->marker_count = 0;
    data->unknown_units = 0;
    reader in = body_of(frame, size);
    uint64_t spike_count = take_number(&in, 4), marker_count = take_number(&in, 4);
    /* Counts of 32 bits: no overflow. */
    uint64_t announced = spike_count * SPIKE_SIZE + marker_count * MARKER_SIZE;
    if (in.fault != SF_WIRE_SOUND || announced > in.left) return SF_WIRE_SHORT;
    if (announced < in.left) return SF_WIRE_LONG;
    if (make_room(data, spike_count, marker_count) != 0) return SF_WIRE_MEMORY;
    sf_wire_fault fault = take_spikes(&in, data, spike_count, unit_count);
    if (fault == SF_WIRE_SOUND) fault = take_markers(&in, data, marker_count);
    if (fault != SF_WIRE_SOUND) {
        data->spike_count = data->marker_count = 0;
        data->unknown_units = 0;
    }
    return fault;
}

void sf_wire_data_free(sf_wire_data *data)
{
    sf_free(data->spikes);
    sf_free(data->markers);
    *data = (sf_wire_data){0};
}

sf_wire_fault sf_wire_read_end(uint64_t *spikes, uint64_t *markers, const void *frame, size_t size)
{
    reader in = body_of(frame, size);
    *spikes = take_number(&in, 8);
    *markers = take_number(&in, 8);
    return finish(&in);
}
