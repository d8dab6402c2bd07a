/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of spikes and events (.nev) that Blackrock's systems write, versions 2.1 to 2.3 and 3.0, and
 * Ripple's, version 2.2. A header of 336 bytes is followed by headers of 32 bytes, which say what electrodes
 * are called, and by packets of one length: a time, a number that says what it is of, and what that has.
 * Numbers are little-endian. A unit is a class of an electrode. Neither waveforms nor voltages are read.
 */
#include "replay/blackrock.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/thread.h"
#include "io/file.h"
#include "replay/binary.h"
#include "replay/classes.h"
#include "replay/folder.h"
#include "replay/positions.h"
#include "replay/reader.h"
#include "replay/spike_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BASIC_BYTES 336
#define EXTENDED_BYTES 32
#define MOST_PACKET_BYTES 65536
#define MOST_ELECTRODE 2048
#define MOST_ELECTRODE_3 10000 /* of version 3 */
#define NOISE 255
#define MOST_SORTED 16
#define STIMULATED 5120 /* and the electrode, in files of Ripple */
#define STIMULATED_MOST 512
#define LABEL_ROOM 40
#define BLOCK_BYTES (256 * 1024)

enum { DIGITAL = 0, COMMENT = 0xffff };

typedef struct electrode {
    bool is_there; /* a header describes it: it is a unit even without spikes */
    char label[LABEL_ROOM];
} electrode;

typedef struct nev {
    int file;
    const char *path;
    sf_recording *recording;
    uint64_t length; /* of the file */
    unsigned version, minor;
    uint32_t header_bytes, packet_bytes, header_count;
    size_t time_bytes;
    uint64_t ticks_hz; /* frequency of the clock; 0: rate_hz is not an integer */
    double rate_hz;
    uint32_t most_electrode;
    electrode *electrodes;
    char inputs[2][LABEL_ROOM]; /* serial and digital */
    char map[LABEL_ROOM];
} nev;

/* What packets held. */
typedef struct taken {
    sf_recording held; /* spikes, with room for one per packet, and markers */
    size_t marker_capacity;
    sf_classes classes; /* by number of electrodes */
    uint64_t skipped, early;
    sf_span span; /* of packets */
    int64_t last_ns;
    bool begun, settled;
} taken;

static int refuse_reading(const nev *in, sf_error *error)
{
    return sf_fail(error, SF_IO, in->path, "cannot read: %s", strerror(errno));
}

static bool recognises(const char *path)
{
    char begin[8];
    return sf_binary_begin(path, begin, sizeof begin) &&
           (memcmp(begin, "NEURALEV", 8) == 0 || memcmp(begin, "BREVENTS", 8) == 0);
}

/* ---- text ---- */

static void take_text_16(char *to, size_t room, const unsigned char *from, size_t size)
{
    size_t length = 0;
    to[0] = '\0';
    for (size_t i = 0; i + 2 <= size; i += 2) {
        uint32_t code = sf_little_16(from + i), low = i + 4 <= size ? sf_little_16(from + i + 2) : 0;
        bool is_pair = code >= 0xd800 && code < 0xdc00 && low >= 0xdc00 && low < 0xe000;
        if (is_pair) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        if (code == 0 || !sf_binary_put_character(to, room, &length, code)) break;
        i += is_pair ? 2 : 0;
    }
}

static int set_text(const nev *in, const char *key, char *text, sf_error *error)
{
    sf_binary_trim(text);
    return sf_reader_metadata_text(in->recording, key, text, error);
}

/* ---- headers ---- */

static int refuse_header(const nev *in, const char *what, uint64_t found, const char *expected,
                         sf_error *error)
{
    return sf_fail(error, SF_DATA, in->path, "damaged: its header says %" PRIu64 " %s, expected %s", found,
                   what, expected);
}

static int check_header(const nev *in, sf_error *error)
{
    char expected[64];
    if ((in->version != 2 || in->minor < 1 || in->minor > 3) && in->version != 3)
        return sf_fail(error, SF_DATA, in->path, "is of version %u.%u, and 2.1 to 2.3 and 3.0 are read",
                       in->version, in->minor);
    uint64_t least = BASIC_BYTES + (uint64_t)in->header_count * EXTENDED_BYTES;
    if (in->header_bytes < least) {
        snprintf(expected, sizeof expected, "at least %" PRIu64, least);
        return refuse_header(in, "bytes of headers", in->header_bytes, expected, error);
    }
    if (in->header_bytes > in->length)
        return sf_fail(error, SF_DATA, in->path,
                       "damaged: it was cut, and ends in its headers, after %" PRIu64 " of %" PRIu32 " bytes",
                       in->length, in->header_bytes);
    uint32_t needed = (uint32_t)in->time_bytes + 8; /* what any packet has that is read */
    if (in->packet_bytes < needed || in->packet_bytes > MOST_PACKET_BYTES) {
        snprintf(expected, sizeof expected, "%" PRIu32 " to %d", needed, MOST_PACKET_BYTES);
        return refuse_header(in, "bytes in a packet", in->packet_bytes, expected, error);
    }
    return SF_OK;
}

/* Start of the recording in UTC; files without it have zeros. */
static int take_date(const nev *in, const unsigned char *at, sf_error *error)
{
    char text[64];
    unsigned year = sf_little_16(at), month = sf_little_16(at + 2), day = sf_little_16(at + 6);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31) return SF_OK;
    snprintf(text, sizeof text, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", year, month, day, sf_little_16(at + 8),
             sf_little_16(at + 10), sf_little_16(at + 12), sf_little_16(at + 14));
    return sf_recording_set_metadata(in->recording, "session_start_time", text, error);
}

static int read_basic(nev *in, double given_hz, sf_text *comment, sf_error *error)
{
    unsigned char at[BASIC_BYTES];
    char text[513];
    size_t got = sf_file_read_at(in->file, at, sizeof at, 0);
    if (got == SIZE_MAX) return refuse_reading(in, error);
    if (got < sizeof at)
        return sf_fail(error, SF_DATA, in->path,
                       "damaged: it was cut, and ends in its headers, after %zu of %d bytes", got,
                       BASIC_BYTES);
    in->version = at[8];
    in->minor = at[9];
    in->header_bytes = sf_little_32(at + 12);
    in->packet_bytes = sf_little_32(at + 16);
    in->header_count = sf_little_32(at + 332);
    in->time_bytes = in->version >= 3 ? 8 : 4;
    in->most_electrode = in->version >= 3 ? MOST_ELECTRODE_3 : MOST_ELECTRODE;
    in->rate_hz = sf_little_32(at + 20);
    int status = check_header(in, error);
    if (status == SF_OK)
        status =
            sf_reader_check_rate(&in->rate_hz, given_hz, in->path, "the resolution of time stamps", error);
    in->ticks_hz = in->rate_hz == floor(in->rate_hz) ? (uint64_t)in->rate_hz : 0;
    if (status == SF_OK)
        status = sf_reader_set_format(in->recording, error, "Blackrock NEV %u.%u", in->version, in->minor);
    if (status == SF_OK) status = sf_reader_metadata_real(in->recording, "sampling_rate", in->rate_hz, error);
    if (status == SF_OK) status = take_date(in, at + 28, error);
    sf_binary_text(text, sizeof text, at + 44, 32);
    if (status == SF_OK) status = set_text(in, "software", text, error);
    sf_binary_text(text, sizeof text, at + 76, in->version >= 3 ? 252 : 256);
    sf_binary_trim(text);
    sf_text_printf(comment, "%s", text);
    return status;
}

static void take_filter(sf_text *filter, bool *differs, const unsigned char *at)
{
    double one = sf_little_32(at + 10) * 1e-3, other = sf_little_32(at + 20) * 1e-3; /* mHz */
    sf_text text = {0};
    sf_text_printf(&text, "%g to %g Hz", fmin(one, other), fmax(one, other));
    if (filter->length == 0 && !text.failed)
        sf_text_append(filter, text.data, text.length);
    else if (text.failed || filter->failed || strcmp(filter->data, text.data) != 0)
        *differs = true;
    filter->failed = filter->failed || text.failed;
    sf_text_free(&text);
}

static void take_label(nev *in, const unsigned char *at)
{
    uint16_t id = sf_little_16(at + 8);
    if (id == 0 || id > in->most_electrode) return;
    sf_binary_text(in->electrodes[id].label, LABEL_ROOM, at + 10, 16);
    sf_binary_trim(in->electrodes[id].label);
}

typedef struct header_texts {
    sf_text *comment, *array, *filter;
    bool filters_differ;
} header_texts;

static void take_extended(nev *in, header_texts *to, const unsigned char *at)
{
    char text[64];
    uint16_t id = sf_little_16(at + 8);
    sf_binary_text(text, sizeof text, at + 8, EXTENDED_BYTES - 8);
    if (memcmp(at, "NEUEVWAV", 8) == 0 && id > 0 && id <= in->most_electrode) {
        in->electrodes[id].is_there = true;
    } else if (memcmp(at, "NEUEVLBL", 8) == 0) {
        take_label(in, at);
    } else if (memcmp(at, "NEUEVFLT", 8) == 0) {
        take_filter(to->filter, &to->filters_differ, at);
    } else if (memcmp(at, "DIGLABEL", 8) == 0 && at[24] <= 1) {
        sf_binary_text(in->inputs[at[24]], LABEL_ROOM, at + 8, 16);
        sf_binary_trim(in->inputs[at[24]]);
    } else if (memcmp(at, "ARRAYNME", 8) == 0) {
        sf_text_printf(to->array, "%s%s", to->array->length > 0 ? ", " : "", text);
    } else if (memcmp(at, "ECOMMENT", 8) == 0) {
        sf_text_printf(to->comment, "%s%s", to->comment->length > 0 ? "; " : "", text);
    } else if (memcmp(at, "CCOMMENT", 8) == 0) {
        sf_text_printf(to->comment, "%s", text);
    } else if (memcmp(at, "MAPFILE", 8) == 0 && in->map[0] == '\0') {
        snprintf(in->map, sizeof in->map, "%.38s", text);
    }
}

static int set_texts(const nev *in, header_texts *to, sf_error *error)
{
    if (to->comment->failed || to->array->failed || to->filter->failed) return sf_fail_memory(error);
    int status = to->comment->length > 0 ? set_text(in, "comment", to->comment->data, error) : SF_OK;
    if (status == SF_OK && to->array->length > 0) status = set_text(in, "array", to->array->data, error);
    if (status == SF_OK && to->filter->length > 0 && !to->filters_differ)
        status = set_text(in, "filter", to->filter->data, error);
    return status;
}

static int read_headers(nev *in, double given_hz, sf_error *error)
{
    sf_text comment = {0}, array = {0}, filter = {0};
    header_texts to = {.comment = &comment, .array = &array, .filter = &filter};
    unsigned char block[128 * EXTENDED_BYTES];
    int status = read_basic(in, given_hz, &comment, error);
    if (status == SF_OK &&
        (in->electrodes = sf_alloc(in->most_electrode + 1, sizeof *in->electrodes)) == NULL)
        status = sf_fail_memory(error);
    for (uint32_t i = 0; status == SF_OK && i < in->header_count; i += 128) {
        uint32_t count = in->header_count - i < 128 ? in->header_count - i : 128;
        size_t size = (size_t)count * EXTENDED_BYTES,
               got = sf_file_read_at(in->file, block, size, BASIC_BYTES + (uint64_t)i * EXTENDED_BYTES);
        if (got != size)
            status = got == SIZE_MAX ? refuse_reading(in, error)
                                     : sf_fail(error, SF_DATA, in->path, "became shorter as it was read");
        for (uint32_t k = 0; status == SF_OK && k < count; k++)
            take_extended(in, &to, block + (size_t)k * EXTENDED_BYTES);
    }
    if (status == SF_OK) status = set_texts(in, &to, error);
    sf_text_free(&comment);
    sf_text_free(&array);
    sf_text_free(&filter);
    return status;
}

/* ---- packets ---- */

static bool to_ns(const nev *in, uint64_t ticks, int64_t *time_ns)
{
    if (in->ticks_hz == 0) return ticks < INT64_MAX && sf_samples_to_ns((int64_t)ticks, in->rate_hz, time_ns);
    uint64_t seconds = ticks / in->ticks_hz, rest = ticks % in->ticks_hz;
    if (seconds >= (uint64_t)SF_TIME_LIMIT_NS / 1000000000u) return false;
    *time_ns = (int64_t)(seconds * 1000000000u + (rest * 1000000000u + in->ticks_hz / 2) / in->ticks_hz);
    return true;
}

static void name_electrode(const nev *in, uint32_t id, char name[LABEL_ROOM])
{
    const char *label = in->electrodes[id].label;
    if (label[0] != '\0')
        snprintf(name, LABEL_ROOM, "%.*s", LABEL_ROOM - 1, label);
    else if (in->version == 2 && in->minor == 1 && id > 128)
        snprintf(name, LABEL_ROOM, "ainp%" PRIu32, id - 128);
    else
        snprintf(name, LABEL_ROOM, "chan%" PRIu32, id);
}

static int mark_input(const nev *in, taken *to, int64_t time_ns, const unsigned char *of, sf_error *error)
{
    char text[LABEL_ROOM + 16];
    if ((of[0] & 1) == 0) { /* analog inputs of 2.1 and 2.2, and packets sent at regular times */
        to->skipped++;
        return SF_OK;
    }
    bool is_digital = (of[0] & 0x80) == 0;
    const char *label = in->inputs[is_digital];
    snprintf(text, sizeof text, "%s %u",
             label[0] != '\0' ? label
             : is_digital     ? "digital"
                              : "serial",
             sf_little_16(of + 2));
    return sf_reader_mark(&to->held, &to->marker_capacity, time_ns, text, "", error);
}

static int mark_comment(taken *to, int64_t time_ns, const unsigned char *of, size_t size, sf_error *error)
{
    char text[SF_MARKER_TEXT_SIZE];
    if (of[0] == 1)
        take_text_16(text, sizeof text, of + 6, size - 6);
    else
        sf_binary_text(text, sizeof text, of + 6, size - 6);
    sf_binary_trim(text);
    return sf_reader_mark(&to->held, &to->marker_capacity, time_ns, text[0] != '\0' ? text : "comment", "",
                          error);
}

static int mark_stimulus(const nev *in, taken *to, int64_t time_ns, uint32_t id, sf_error *error)
{
    char name[LABEL_ROOM], text[LABEL_ROOM + 8];
    name_electrode(in, id, name);
    snprintf(text, sizeof text, "stim %s", name);
    return sf_reader_mark(&to->held, &to->marker_capacity, time_ns, text, "", error);
}

#define STEP_NS 100000000 /* more than packets are out of order */

/* Discards what was read before the clock was reset at the start of the recording. */
static void begin_anew(taken *to)
{
    to->early += to->held.spike_count;
    to->held.spike_count = 0;
    to->held.marker_count = 0;
    sf_classes_forget(&to->classes);
    to->begun = false;
}

/* Follows the clock by packets that are written as events occur. */
static void follow_clock(taken *to, int64_t time_ns)
{
    if (!to->settled && to->begun && to->last_ns - time_ns >= STEP_NS) {
        begin_anew(to);
        to->settled = true;
    }
    if (!to->begun) to->span = (sf_span){time_ns, time_ns};
    to->begun = true;
    to->span.start_ns = time_ns < to->span.start_ns ? time_ns : to->span.start_ns;
    to->span.stop_ns = time_ns > to->span.stop_ns ? time_ns : to->span.stop_ns;
    to->settled = to->settled || to->span.stop_ns - to->span.start_ns >= SF_BLACKROCK_START_NS;
    to->last_ns = time_ns;
}

static int take_packet(const nev *in, taken *to, const unsigned char *packet, uint64_t number,
                       sf_error *error)
{
    uint64_t ticks = in->time_bytes == 8 ? sf_little_64(packet) : sf_little_32(packet);
    uint32_t id = sf_little_16(packet + in->time_bytes);
    const unsigned char *of = packet + in->time_bytes + 2;
    int64_t time_ns;
    if (!to_ns(in, ticks, &time_ns))
        return sf_fail(error, SF_DATA, in->path,
                       "damaged: packet %" PRIu64 " is at tick %" PRIu64
                       ", which at %g Hz is beyond 146 years",
                       number, ticks, in->rate_hz);
    if (id != COMMENT) follow_clock(to, time_ns);
    if (id > 0 && id <= in->most_electrode) {
        to->held.spikes[to->held.spike_count++] =
            (sf_spike){.time_ns = time_ns, .unit = sf_classes_key(&to->classes, id, of[0]), .amplitude = NAN};
        return SF_OK;
    }
    if (id == DIGITAL) return mark_input(in, to, time_ns, of, error);
    if (id == COMMENT) return mark_comment(to, time_ns, of, in->packet_bytes - in->time_bytes - 2, error);
    if (id > STIMULATED && id <= STIMULATED + STIMULATED_MOST)
        return mark_stimulus(in, to, time_ns, id - STIMULATED, error);
    to->skipped++;
    return SF_OK;
}

/* Reads packets [first, end), or until it is certain that the clock is not reset any more; *next is the index
 * after the last one read. */
static int read_packets(const nev *in, taken *to, uint64_t first, uint64_t end, uint64_t *next,
                        sf_error *error)
{
    const bool until_settled = !to->settled;
    size_t at_once = BLOCK_BYTES / in->packet_bytes;
    unsigned char *block = sf_resize(NULL, at_once, in->packet_bytes);
    int status = block != NULL ? SF_OK : sf_fail_memory(error);
    for (*next = first; status == SF_OK && *next < end && !(until_settled && to->settled);) {
        size_t count = end - *next < at_once ? (size_t)(end - *next) : at_once,
               size = count * in->packet_bytes,
               got = sf_file_read_at(in->file, block, size, in->header_bytes + *next * in->packet_bytes);
        if (got != size)
            status = got == SIZE_MAX ? refuse_reading(in, error)
                                     : sf_fail(error, SF_DATA, in->path, "became shorter as it was read");
        for (size_t k = 0; status == SF_OK && k < count; k++)
            status = take_packet(in, to, block + k * in->packet_bytes, *next + k, error);
        *next += count;
    }
    sf_free(block);
    return status;
}

/* ---- packets, by all cores ---- */

typedef struct part {
    taken own; /* owned by the worker, except the classes */
    int status;
    sf_error error;
} part;

typedef struct reading {
    const nev *in;
    sf_spike *spikes; /* of the packet that `first` numbers */
    uint64_t first;
    size_t count;
    part *parts;
    sf_classes *classes; /* by worker */
} reading;

static int read_part(void *context, unsigned worker, size_t index)
{
    reading *r = context;
    part *p = &r->parts[index];
    sf_classes *classes = &r->classes[worker];
    size_t begin = sf_spikes_part(r->count, index), end = sf_spikes_part(r->count, index + 1);
    uint64_t next;
    if (classes->seen == NULL) p->status = sf_classes_open(classes, r->in->most_electrode + 1, &p->error);
    p->own = (taken){.held.spikes = r->spikes + begin, .classes = *classes, .settled = true};
    if (p->status == SF_OK)
        p->status = read_packets(r->in, &p->own, r->first + begin, r->first + end, &next, &p->error);
    return p->status;
}

static void join_span(taken *to, const taken *from)
{
    if (!from->begun) return;
    to->span.start_ns = from->span.start_ns < to->span.start_ns ? from->span.start_ns : to->span.start_ns;
    to->span.stop_ns = from->span.stop_ns > to->span.stop_ns ? from->span.stop_ns : to->span.stop_ns;
}

static int join_markers(taken *to, const taken *from, sf_error *error)
{
    if (sf_reserve(&to->held.markers, &to->marker_capacity, to->held.marker_count + from->held.marker_count,
                   sizeof *to->held.markers) != 0)
        return sf_fail_memory(error);
    if (from->held.marker_count > 0)
        memcpy(to->held.markers + to->held.marker_count, from->held.markers,
               from->held.marker_count * sizeof *to->held.markers);
    to->held.marker_count += from->held.marker_count;
    return SF_OK;
}

/* Joins the parts in file order, so that the first error in the file is reported. */
static int join_parts(taken *to, const reading *r, unsigned workers, sf_error *error)
{
    sf_spike_part places[SF_SPIKE_PARTS + 1] = {{.count = to->held.spike_count}};
    size_t count = sf_spikes_parts(r->count);
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        const part *p = &r->parts[i];
        status = p->status;
        if (status != SF_OK)
            *error = p->error;
        else
            status = join_markers(to, &p->own, error);
        join_span(to, &p->own);
        to->skipped += p->own.skipped;
        places[i + 1] =
            (sf_spike_part){(size_t)(p->own.held.spikes - to->held.spikes), p->own.held.spike_count};
    }
    for (unsigned w = 0; w < workers; w++)
        sf_classes_join(&to->classes, &r->classes[w]);
    if (status == SF_OK) to->held.spike_count = sf_spike_parts_close(to->held.spikes, places, count + 1);
    return status;
}

/* Reads packets [first, end), in which the clock is not reset any more. */
static int read_rest(const nev *in, taken *to, uint64_t first, uint64_t end, sf_error *error)
{
    reading r = {.in = in, .spikes = to->held.spikes + first, .first = first, .count = (size_t)(end - first)};
    size_t parts = sf_spikes_parts(r.count);
    unsigned workers = sf_spikes_threads(r.count);
    r.parts = sf_alloc(parts, sizeof *r.parts);
    r.classes = sf_alloc(workers, sizeof *r.classes);
    int status = r.parts != NULL && r.classes != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        sf_parallel_for(workers, parts, read_part, &r);
        status = join_parts(to, &r, workers, error);
    }
    for (size_t i = 0; r.parts != NULL && i < parts; i++)
        sf_free(r.parts[i].own.held.markers);
    for (unsigned w = 0; r.classes != NULL && w < workers; w++)
        sf_classes_free(&r.classes[w]);
    sf_free(r.parts);
    sf_free(r.classes);
    return status;
}

static int read_all_packets(const nev *in, taken *to, sf_error *error)
{
    uint64_t packets = (in->length - in->header_bytes) / in->packet_bytes, next;
    /* Room for one spike per packet, whose bytes in the file are at least about as many. */
    to->held.spikes = sf_resize(NULL, (size_t)packets, sizeof *to->held.spikes);
    if (to->held.spikes == NULL) return sf_fail_memory(error);
    int status = sf_classes_open(&to->classes, in->most_electrode + 1, error);
    if (status == SF_OK) status = read_packets(in, to, 0, packets, &next, error);
    if (status == SF_OK && next < packets) status = read_rest(in, to, next, packets, error);
    sf_spike *fewer = sf_resize(to->held.spikes, to->held.spike_count, sizeof *fewer);
    to->held.spikes = fewer != NULL ? fewer : to->held.spikes;
    return status;
}

/* ---- units ---- */

static sf_unit_kind kind_of(unsigned class)
{
    return class == 0             ? SF_UNIT_MULTI_UNIT
           : class == NOISE       ? SF_UNIT_NOISE
           : class <= MOST_SORTED ? SF_UNIT_SORTED
                                  : SF_UNIT_UNKNOWN;
}

static int add_unit(const nev *in, uint32_t id, unsigned class, sf_error *error)
{
    char label[LABEL_ROOM], name[LABEL_ROOM + 8];
    name_electrode(in, id, label);
    snprintf(name, sizeof name, "%s:%u", label, class);
    const sf_unit unit = {
        .name = name, .x_um = NAN, .y_um = NAN, .kind = kind_of(class), .electrode = (int32_t)id};
    return sf_units_add(&in->recording->units, &unit, error);
}

/* Numbers units by electrode and class; an electrode without spikes is its unsorted class 0. */
static int number_units(const nev *in, const sf_classes *classes, sf_error *error)
{
    uint32_t *units = sf_resize(NULL, sf_classes_count(classes), sizeof *units);
    int status = units != NULL ? SF_OK : sf_fail_memory(error);
    for (uint32_t id = 1; status == SF_OK && id <= in->most_electrode; id++) {
        size_t first = (size_t)id * SF_CLASSES;
        bool has_fired = sf_classes_has(classes, id);
        for (unsigned class = 0; status == SF_OK && has_fired && class < SF_CLASSES; class ++) {
            units[first + class] = (uint32_t)in->recording->units.count;
            if (classes->seen[first + class] != 0) status = add_unit(in, id, class, error);
        }
        if (status == SF_OK && in->electrodes[id].is_there && !has_fired) status = add_unit(in, id, 0, error);
    }
    if (status == SF_OK) sf_classes_take_units(in->recording, units);
    sf_free(units);
    return status;
}

/* ---- a map of electrodes beside the file ---- */

static bool find_map(char path[SF_FOLDER_PATH], const nev *in)
{
    const char *slash = strrchr(in->path, '/'), *dot = strrchr(in->path, '.');
    int folder = slash != NULL ? (int)(slash - in->path) + 1 : 0;
    const char *name = in->map;
    for (const char *at = in->map; *at != '\0'; at++)
        name = *at == '/' || *at == '\\' || *at == ':' ? at + 1 : name;
    if (name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
        snprintf(path, SF_FOLDER_PATH, "%.*s%s", folder, in->path, name) < SF_FOLDER_PATH &&
        access(path, R_OK) == 0)
        return true;
    int stem = dot != NULL && (slash == NULL || dot > slash) ? (int)(dot - in->path) : (int)strlen(in->path);
    return snprintf(path, SF_FOLDER_PATH, "%.*s.cmp", stem, in->path) < SF_FOLDER_PATH &&
           access(path, R_OK) == 0;
}

/* Reads positions from the map that the file names, or that has the file's name and lies beside it. An
 * unusable map is reported, and the spikes are still read. */
static int take_map(const nev *in, sf_error *error)
{
    char path[SF_FOLDER_PATH], told[sizeof(sf_error) + 64];
    struct stat about;
    sf_error why = {0};
    if (!find_map(path, in) || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return SF_OK;
    int status = sf_positions_take(in->recording, path, &why);
    if (status == SF_OK) return SF_OK;
    if (status == SF_NO_MEMORY) return sf_fail_memory(error);
    snprintf(told, sizeof told, "the map beside it are not taken: %s", why.text);
    return sf_recording_set_metadata(in->recording, "positions", told, error);
}

/* ---- the whole ---- */

static int tell_rest(const nev *in, const taken *all, sf_error *error)
{
    char told[128];
    uint64_t rest = (in->length - in->header_bytes) % in->packet_bytes;
    int status = SF_OK;
    if (all->early > 0)
        sf_recording_drop(in->recording, "before its clock was set anew, at the start", all->early);
    if (all->skipped > 0) {
        snprintf(told, sizeof told, "%" PRIu64 " packets that are neither spikes nor markers", all->skipped);
        status = sf_recording_set_metadata(in->recording, "skipped", told, error);
    }
    if (status == SF_OK && rest > 0) {
        snprintf(told, sizeof told,
                 "up to where the file was cut: its last packet has %" PRIu64 " of %" PRIu32
                 " bytes and is left out",
                 rest, in->packet_bytes);
        status = sf_recording_set_metadata(in->recording, "recorded", told, error);
    }
    return status;
}

static int refuse_without_spikes(const nev *in, sf_error *error)
{
    uint64_t packets = (in->length - in->header_bytes) / in->packet_bytes;
    return sf_fail(error, SF_DATA, in->path,
                   "no spike times: this file of Blackrock's version %u.%u has %" PRIu64
                   " packets and none is of an electrode; record spikes in Central or Trellis, or sort its "
                   "voltages",
                   in->version, in->minor, packets);
}

static int take_packets(const nev *in, taken *all, sf_error *error)
{
    int status = read_all_packets(in, all, error);
    sf_recording *recording = in->recording;
    recording->spikes = all->held.spikes;
    recording->spike_count = all->held.spike_count;
    recording->markers = all->held.markers;
    recording->marker_count = all->held.marker_count;
    if (status == SF_OK && recording->spike_count == 0) status = refuse_without_spikes(in, error);
    if (status == SF_OK) status = number_units(in, &all->classes, error);
    sf_classes_free(&all->classes);
    return status;
}

static int read_open(nev *in, const sf_reading *how, sf_error *error)
{
    taken all = {0};
    int status = read_headers(in, how->rate_hz, error);
    if (status == SF_OK) status = take_packets(in, &all, error);
    if (status != SF_OK) return status;
    in->recording->tick_ns = llround(1e9 / in->rate_hz);
    in->recording->recorded = (sf_span){all.span.start_ns, all.span.stop_ns + 1};
    status = tell_rest(in, &all, error);
    if (status == SF_OK) status = take_map(in, error);
    return status == SF_OK ? sf_blackrock_recorded(in->recording, in->path, error) : status;
}

static int read_file(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    struct stat about;
    nev in = {.path = path, .recording = recording, .file = open(path, O_RDONLY | O_CLOEXEC)};
    if (in.file < 0 || fstat(in.file, &about) != 0) {
        int status = sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
        if (in.file >= 0) close(in.file);
        return status;
    }
    in.length = (uint64_t)about.st_size;
    int status = read_open(&in, how, error);
    sf_free(in.electrodes);
    close(in.file);
    return status;
}

const sf_folder_reader sf_folder_blackrock = {.recognises = recognises, .read = read_file};
