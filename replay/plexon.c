/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plexon's .plx, version 100 and later: a header of 7,504 bytes, one header for each spike, event and
 * continuous channel, and blocks up to the end of the file. A block has 16 bytes with its type, channel and
 * time, and waveforms or voltages, which are skipped. All numbers are little-endian; the layouts are those of
 * PL_FileHeader, PL_ChanHeader, PL_EventHeader and PL_DataBlockHeader in Plexon's published Plexon.h. Each
 * unit sorted on a channel is a unit; events become text markers, except those for start and stop of the
 * recording.
 */
#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/file.h"
#include "replay/binary.h"
#include "replay/classes.h"
#include "replay/folder.h"
#include "replay/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 7504,
    SPIKE_HEADER_BYTES = 1020,
    EVENT_HEADER_BYTES = 296, /* the header of a continuous channel has the same size */
    BLOCK_BYTES = 16,
    AT_ONCE = 256 * 1024,
    MOST_WORDS = 131072, /* maximum words of a block: 4 waveforms of the largest 16-bit length */
    NAME_BYTES = 32,
    NAME_ROOM = 2 * NAME_BYTES + 1,
    CHANNELS = 65536, /* numbers that a block can name */
    LETTERS = 26,     /* units that Plexon names by a letter */
    INVALID = SF_CLASSES - 1,
    OLDEST = 100,
    NEWEST = 107 /* newest version that Plexon published; other vendors' programs write 200 */
};

enum { SPIKE = 1, EVENT = 4, CONTINUOUS = 5 }; /* types of blocks */
enum { STROBED = 257, START = 258, STOP = 259, PAUSE = 260, RESUME = 261 };

#define AGAIN "export it from Plexon's programs again"

typedef struct channel {
    char name[NAME_ROOM]; /* UTF-8 */
    uint16_t number;
} channel;

typedef struct plx {
    int file;
    const char *path;
    sf_recording *recording;
    sf_error *error;
    uint64_t length; /* of the file */
    uint64_t at;     /* of the next block */
    int32_t version;
    double rate_hz;
    double last_tick; /* as the header has it */
    unsigned trodalness;
    channel *spikes, *events; /* in the order of their headers */
    size_t spike_count, event_count, continuous_count;
    uint32_t spike_of[CHANNELS], event_of[CHANNELS]; /* by channel number: 1 + index of its header */
    bool is_continuous[CHANNELS];                    /* by number: there were blocks */
    sf_classes classes;
    size_t spike_capacity, marker_capacity;
    sf_span *spans; /* from start to stop events; the last is open while recording runs */
    size_t span_count, span_capacity;
    bool runs;
    int64_t latest_ns;
    size_t left_out; /* trains of other wires */
    unsigned char block[AT_ONCE];
    uint64_t block_at;
    size_t block_size;
} plx;

/* The version is a small number, whose upper bytes are 0, as in no text. */
static bool recognises(const char *path)
{
    char begin[8];
    return sf_binary_begin(path, begin, sizeof begin) && memcmp(begin, "PLEX", 4) == 0 && begin[6] == 0 &&
           begin[7] == 0;
}

static int read_bytes(const plx *in, void *to, size_t size, uint64_t offset)
{
    return sf_file_read_all_at(in->file, to, size, offset, in->path, in->error);
}

/* ---- headers ---- */

/* Reads the numbers of headers, which must fit in the file. */
static int check_counts(const plx *in, const unsigned char *header)
{
    const int32_t counts[] = {(int32_t)sf_little_32(header + 140), (int32_t)sf_little_32(header + 144),
                              (int32_t)sf_little_32(header + 148)};
    uint64_t needed = HEADER_BYTES;
    for (size_t i = 0; i < 3; i++)
        needed += counts[i] < 0 ? in->length + 1
                                : (uint64_t)counts[i] * (i == 0 ? SPIKE_HEADER_BYTES : EVENT_HEADER_BYTES);
    if (needed <= in->length) return SF_OK;
    return sf_fail(in->error, SF_DATA, in->path,
                   "damaged: it says that it has %" PRId32 " spike, %" PRId32 " event and %" PRId32
                   " continuous channels, and its %" PRIu64
                   " bytes do not hold their headers: it was cut off, or its header is wrong; " AGAIN,
                   counts[0], counts[1], counts[2], in->length);
}

static int set_text(const plx *in, const char *key, const unsigned char *from, size_t size)
{
    char text[512];
    sf_binary_text(text, sizeof text, from, size);
    sf_binary_trim(text);
    return sf_reader_metadata_text(in->recording, key, text, in->error);
}

/* Start of the recording, by the computer's clock. */
static int set_date(const plx *in, const unsigned char *at)
{
    char text[64];
    uint32_t numbers[6];
    for (size_t i = 0; i < 6; i++)
        numbers[i] = sf_little_32(at + 4 * i);
    if (numbers[0] < 1970 || numbers[0] > 9999 || numbers[1] < 1 || numbers[1] > 12 || numbers[2] < 1 ||
        numbers[2] > 31 || numbers[3] > 23 || numbers[4] > 59 || numbers[5] > 60)
        return SF_OK;
    snprintf(text, sizeof text, "%04u-%02u-%02uT%02u:%02u:%02u", numbers[0], numbers[1], numbers[2],
             numbers[3], numbers[4], numbers[5]);
    return sf_recording_set_metadata(in->recording, "session_start_time", text, in->error);
}

static int set_about(const plx *in, const unsigned char *header)
{
    int32_t waveform_hz = (int32_t)sf_little_32(header + 188);
    bool has_software = in->version >= 106 && in->version <= NEWEST;
    int status = sf_reader_set_format(in->recording, in->error, "Plexon PLX %" PRId32, in->version);
    if (status == SF_OK)
        status = sf_reader_metadata_real(in->recording, "sampling_rate", in->rate_hz, in->error);
    if (status == SF_OK && waveform_hz > 0)
        status = sf_reader_metadata_real(in->recording, "waveform_sampling_rate", waveform_hz, in->error);
    if (status == SF_OK) status = set_text(in, "comment", header + 8, 128);
    if (status == SF_OK) status = set_date(in, header + 160);
    if (status == SF_OK && has_software) status = set_text(in, "software", header + 210, 18);
    if (status == SF_OK && has_software) status = set_text(in, "processing_software", header + 228, 18);
    return status;
}

static int read_header(plx *in, double given_hz)
{
    unsigned char header[256];
    if (in->length < HEADER_BYTES)
        return sf_fail(in->error, SF_DATA, in->path,
                       "damaged: it is cut off in its header, after %" PRIu64 " of %d bytes: " AGAIN,
                       in->length, HEADER_BYTES);
    int status = read_bytes(in, header, sizeof header, 0);
    if (status != SF_OK) return status;
    in->version = (int32_t)sf_little_32(header + 4);
    if (in->version < OLDEST)
        return sf_fail(in->error, SF_DATA, in->path,
                       "is a Plexon file (.plx) of version %" PRId32 ", and 100 and later are read: " AGAIN,
                       in->version);
    status = check_counts(in, header);
    if (status != SF_OK) return status;
    in->spike_count = sf_little_32(header + 140);
    in->event_count = sf_little_32(header + 144);
    in->continuous_count = sf_little_32(header + 148);
    in->last_tick = sf_little_real(header + 192);
    in->trodalness = in->version >= 103 ? header[200] : 1;
    in->rate_hz = (int32_t)sf_little_32(header + 136);
    status = sf_reader_check_rate(&in->rate_hz, given_hz, in->path, "ADFrequency in its header", in->error);
    if (status != SF_OK) return status;
    in->recording->tick_ns = llround(1e9 / in->rate_hz);
    return set_about(in, header);
}

/* Reads the header of a channel: its name, and the number by which blocks refer to it. */
static int take_channel(const plx *in, channel *to, const unsigned char *header, bool is_event)
{
    int32_t number = (int32_t)sf_little_32(header + (is_event ? NAME_BYTES : 2 * NAME_BYTES));
    sf_binary_text(to->name, sizeof to->name, header, NAME_BYTES);
    sf_binary_trim(to->name);
    if (number < 0 || number >= CHANNELS)
        return sf_fail(in->error, SF_DATA, in->path,
                       "damaged: the header of %s channel '%s' has the number %" PRId32
                       ", expected 0 to %d: " AGAIN,
                       is_event ? "event" : "spike", to->name, number, CHANNELS - 1);
    to->number = (uint16_t)number;
    if (to->name[0] == '\0')
        snprintf(to->name, sizeof to->name, "%s%" PRId32, is_event ? "event" : "ch", number);
    return SF_OK;
}

/* Reads `count` headers of one kind; `place_of` maps a channel number to 1 + the index of its header. */
static int read_channels(plx *in, channel **channels, uint32_t *place_of, size_t count, bool is_event)
{
    size_t each = is_event ? EVENT_HEADER_BYTES : SPIKE_HEADER_BYTES;
    *channels = sf_alloc(count, sizeof **channels);
    int status = *channels != NULL ? SF_OK : sf_fail_memory(in->error);
    for (size_t i = 0; status == SF_OK && i < count; i++, in->at += each) {
        unsigned char header[SPIKE_HEADER_BYTES];
        channel *of = &(*channels)[i];
        status = read_bytes(in, header, each, in->at);
        if (status == SF_OK) status = take_channel(in, of, header, is_event);
        if (status == SF_OK && place_of[of->number] != 0 && !is_event)
            return sf_fail(in->error, SF_DATA, in->path,
                           "damaged: spike channels '%s' and '%s' both have the number %u: " AGAIN,
                           (*channels)[place_of[of->number] - 1].name, of->name, of->number);
        if (status == SF_OK && place_of[of->number] == 0) place_of[of->number] = (uint32_t)i + 1;
    }
    return status;
}

static int read_headers(plx *in, double given_hz)
{
    int status = read_header(in, given_hz);
    in->at = HEADER_BYTES;
    if (status == SF_OK) status = read_channels(in, &in->spikes, in->spike_of, in->spike_count, false);
    if (status == SF_OK) status = sf_classes_open(&in->classes, in->spike_count, in->error);
    if (status == SF_OK) status = read_channels(in, &in->events, in->event_of, in->event_count, true);
    in->at += (uint64_t)in->continuous_count * EVENT_HEADER_BYTES;
    return status;
}

/* ---- blocks ---- */

/* What the 16 bytes of a block say. */
typedef struct block {
    uint64_t at; /* in the file */
    uint16_t type, channel, unit;
    uint64_t bytes; /* with what follows them */
    int64_t time_ns;
} block;

static int refuse_block(const plx *in, const block *of, const char *what, unsigned found,
                        const char *expected)
{
    return sf_fail(in->error, SF_DATA, in->path,
                   "damaged: the block at byte %" PRIu64 " is of %s %u, expected %s: " AGAIN, of->at, what,
                   found, expected);
}

static int take_block(const plx *in, block *to, const unsigned char *from)
{
    uint64_t tick = (uint64_t)sf_little_16(from + 2) << 32 | sf_little_32(from + 4);
    uint64_t words = (uint64_t)sf_little_16(from + 12) * sf_little_16(from + 14);
    *to = (block){.at = in->at,
                  .type = sf_little_16(from),
                  .channel = sf_little_16(from + 8),
                  .unit = sf_little_16(from + 10),
                  .bytes = BLOCK_BYTES + 2 * words};
    if (to->type != SPIKE && to->type != EVENT && to->type != CONTINUOUS)
        return refuse_block(in, to, "type", to->type, "1 (spike), 4 (event) or 5 (continuous)");
    if (words > MOST_WORDS)
        return sf_fail(in->error, SF_DATA, in->path,
                       "damaged: the block at byte %" PRIu64 " has %u waveforms of %u words: " AGAIN, to->at,
                       sf_little_16(from + 12), sf_little_16(from + 14));
    if (!sf_samples_to_ns((int64_t)tick, in->rate_hz, &to->time_ns))
        return sf_fail(in->error, SF_DATA, in->path,
                       "damaged: the block at byte %" PRIu64 " is of tick %" PRIu64
                       ", which at %g Hz is beyond 146 years: " AGAIN,
                       to->at, tick, in->rate_hz);
    return SF_OK;
}

/* -1 is what Offline Sorter invalidated. */
static int take_spike(plx *in, const block *of)
{
    uint32_t place = in->spike_of[of->channel];
    if (place == 0) return refuse_block(in, of, "spike channel", of->channel, "one that a header has");
    unsigned class = of->unit == UINT16_MAX ? INVALID : of->unit;
    if (of->unit != UINT16_MAX && of->unit >= INVALID)
        return refuse_block(in, of, "unit", of->unit, "-1 to 254");
    sf_recording *recording = in->recording;
    if (sf_reserve(&recording->spikes, &in->spike_capacity, recording->spike_count + 1,
                   sizeof *recording->spikes) != 0)
        return sf_fail_memory(in->error);
    recording->spikes[recording->spike_count++] = (sf_spike){
        .time_ns = of->time_ns, .unit = sf_classes_key(&in->classes, place - 1, class), .amplitude = NAN};
    return SF_OK;
}

/* A start event while recording runs, such as the one for a resume, has no effect. */
static int start(plx *in, int64_t time_ns)
{
    if (in->runs) return SF_OK;
    if (sf_reserve(&in->spans, &in->span_capacity, in->span_count + 1, sizeof *in->spans) != 0)
        return sf_fail_memory(in->error);
    in->spans[in->span_count++] = (sf_span){time_ns, time_ns};
    in->runs = true;
    return SF_OK;
}

static int stop(plx *in, int64_t time_ns)
{
    if (in->runs) in->spans[in->span_count - 1].stop_ns = time_ns;
    in->runs = false;
    return SF_OK;
}

static int take_event(plx *in, const block *of)
{
    char text[NAME_ROOM + 8];
    uint32_t place = in->event_of[of->channel];
    if (of->channel == START || of->channel == RESUME) return start(in, of->time_ns);
    if (of->channel == STOP || of->channel == PAUSE) return stop(in, of->time_ns);
    const char *name = place > 0 ? in->events[place - 1].name : NULL;
    if (of->channel == STROBED)
        snprintf(text, sizeof text, "%s %u", name != NULL ? name : "Strobed", of->unit);
    else if (name != NULL)
        snprintf(text, sizeof text, "%s", name);
    else
        snprintf(text, sizeof text, "event%u", of->channel);
    return sf_reader_mark(in->recording, &in->marker_capacity, of->time_ns, text, "", in->error);
}

/* The 16 bytes at in->at; reads large chunks of the file if blocks are small. */
static int look(plx *in, const unsigned char **found)
{
    bool is_held = in->at >= in->block_at && in->at + BLOCK_BYTES <= in->block_at + in->block_size;
    int status = SF_OK;
    if (!is_held) {
        uint64_t left = in->length - in->at;
        in->block_at = in->at;
        in->block_size = left < AT_ONCE ? (size_t)left : AT_ONCE;
        status = read_bytes(in, in->block, in->block_size, in->at);
    }
    *found = in->block + (in->at - in->block_at);
    return status;
}

/* Reads blocks up to the end of the file, or to a truncated block. */
static int read_blocks(plx *in)
{
    int status = SF_OK;
    while (status == SF_OK && in->length - in->at >= BLOCK_BYTES) {
        const unsigned char *from;
        block of = {0};
        status = look(in, &from);
        if (status == SF_OK) status = take_block(in, &of, from);
        if (status != SF_OK || of.bytes > in->length - in->at) break;
        if (of.type == SPIKE)
            status = take_spike(in, &of);
        else if (of.type == EVENT)
            status = take_event(in, &of);
        else
            in->is_continuous[of.channel] = true;
        in->latest_ns = of.time_ns > in->latest_ns ? of.time_ns : in->latest_ns;
        in->at += of.bytes;
    }
    sf_spike *fewer = sf_resize(in->recording->spikes, in->recording->spike_count, sizeof *fewer);
    in->recording->spikes = fewer != NULL ? fewer : in->recording->spikes;
    return status;
}

/* ---- units ---- */

/* Number of a unit's spikes, and a hash of them in file order. */
typedef struct train {
    uint64_t count, hash;
} train;

static train *hash_trains(const plx *in)
{
    size_t keys = sf_classes_count(&in->classes);
    train *trains = sf_alloc(keys, sizeof *trains);
    for (size_t i = 0; trains != NULL && i < keys; i++)
        trains[i].hash = SF_HASH_START;
    for (size_t i = 0; trains != NULL && i < in->recording->spike_count; i++) {
        const sf_spike *spike = &in->recording->spikes[i];
        train *of = &trains[spike->unit];
        of->count++;
        of->hash = sf_hash_integer(of->hash, (uint64_t)spike->time_ns);
    }
    return trains;
}

static bool is_multitrode(const plx *in)
{
    return in->trodalness == 2 || in->trodalness == 4;
}

static unsigned trode_of(const plx *in, const channel *of)
{
    return (of->number > 0 ? of->number - 1u : 0u) / in->trodalness;
}

static size_t header_of(const plx *in, const channel *of)
{
    return (size_t)(of - in->spikes);
}

/* True if another wire of the electrode, with a lower number, has the same spikes in this class. */
static bool has_twin(const plx *in, const channel *of, unsigned class, const train *trains)
{
    const train *own = &trains[header_of(in, of) * SF_CLASSES + class];
    for (unsigned number = trode_of(in, of) * in->trodalness + 1; number < of->number; number++) {
        uint32_t place = in->spike_of[number];
        const train *other = place > 0 ? &trains[(place - 1) * SF_CLASSES + class] : NULL;
        if (other != NULL && other->count == own->count && other->hash == own->hash) return true;
    }
    return false;
}

/* Letters as Plexon and NeuroExplorer use them: sig001U is unsorted, sig001a the first sorted unit. */
static int add_unit(const plx *in, const channel *of, unsigned class)
{
    char name[NAME_ROOM + 16];
    if (class <= LETTERS)
        snprintf(name, sizeof name, "%s%c", of->name, class == 0 ? 'U' : (char)('a' + (int)class - 1));
    else if (class == INVALID)
        snprintf(name, sizeof name, "%s:invalid", of->name);
    else
        snprintf(name, sizeof name, "%s:%u", of->name, class);
    const sf_unit unit = {.name = name,
                          .x_um = NAN,
                          .y_um = NAN,
                          .kind = class == 0         ? SF_UNIT_MULTI_UNIT
                                  : class == INVALID ? SF_UNIT_NOISE
                                                     : SF_UNIT_SORTED,
                          .electrode = of->number};
    return sf_units_add(&in->recording->units, &unit, in->error);
}

/* The units of a channel that has fired. */
static int add_classes(plx *in, const channel *of, uint32_t *units, const train *trains)
{
    int status = SF_OK;
    for (unsigned class = 0; status == SF_OK && class < SF_CLASSES; class ++) {
        size_t key = header_of(in, of) * SF_CLASSES + class;
        bool is_left_out = in->classes.seen[key] != 0 && trains != NULL && has_twin(in, of, class, trains);
        units[key] = is_left_out ? SF_NO_UNIT : (uint32_t)in->recording->units.count;
        in->left_out += is_left_out;
        if (in->classes.seen[key] != 0 && !is_left_out) status = add_unit(in, of, class);
    }
    return status;
}

/* A channel without spikes is an unsorted unit; further wires of an electrode are omitted. */
static int number_units(plx *in)
{
    uint32_t *units = sf_resize(NULL, sf_classes_count(&in->classes), sizeof *units);
    train *trains = is_multitrode(in) ? hash_trains(in) : NULL;
    int status = units == NULL || (is_multitrode(in) && trains == NULL) ? sf_fail_memory(in->error) : SF_OK;
    for (size_t i = 0; status == SF_OK && i < in->spike_count; i++) {
        const channel *of = &in->spikes[i];
        if (sf_classes_has(&in->classes, i))
            status = add_classes(in, of, units, trains);
        else if (!is_multitrode(in) || of->number == trode_of(in, of) * in->trodalness + 1)
            status = add_unit(in, of, 0);
    }
    if (status == SF_OK) sf_classes_take_units(in->recording, units);
    sf_free(trains);
    sf_free(units);
    return status;
}

/* ---- how long ---- */

/* The header's LastTimestamp gives the duration from tick 0 on; 0 if the file was not closed. */
static int take_last_tick(const plx *in)
{
    int64_t stop_ns;
    if (in->last_tick == 0) return SF_OK;
    if (!(in->last_tick > 0 && in->last_tick < 0x1p53) ||
        !sf_samples_to_ns((int64_t)in->last_tick, in->rate_hz, &stop_ns))
        return sf_reader_disbelieve(in->recording, "LastTimestamp in its header", in->error);
    in->recording->recorded = (sf_span){0, stop_ns};
    in->recording->declared = true;
    return SF_OK;
}

/* A recording without a stop event lasted to LastTimestamp, or to the last block. */
static void end_last(plx *in)
{
    sf_span *last = &in->spans[in->span_count - 1];
    int64_t stop_ns;
    if (!in->runs) return;
    last->stop_ns = in->latest_ns;
    if (in->last_tick > 0 && in->last_tick < 0x1p53 &&
        sf_samples_to_ns((int64_t)in->last_tick, in->rate_hz, &stop_ns) && stop_ns > last->stop_ns)
        last->stop_ns = stop_ns;
}

/* Whether starts and stops alternate in time order; drops spans of length 0. */
static bool are_in_order(plx *in)
{
    size_t kept = 0;
    for (size_t i = 0; i < in->span_count; i++) {
        sf_span span = in->spans[i];
        if (span.stop_ns < span.start_ns || (kept > 0 && span.start_ns < in->spans[kept - 1].stop_ns))
            return false;
        if (span.start_ns < span.stop_ns) in->spans[kept++] = span;
    }
    in->span_count = kept;
    return true;
}

/* Stop times are inclusive. Merges spans that touch. */
static void take_spans(plx *in)
{
    sf_recording *recording = in->recording;
    size_t count = 1;
    for (size_t i = 1; i < in->span_count; i++) {
        if (in->spans[i].start_ns > in->spans[count - 1].stop_ns)
            in->spans[count++] = in->spans[i];
        else
            in->spans[count - 1].stop_ns = in->spans[i].stop_ns;
    }
    recording->recorded = (sf_span){in->spans[0].start_ns, in->spans[count - 1].stop_ns};
    recording->declared = true;
    if (count < 2) return;
    for (size_t i = 0; i < count; i++)
        in->spans[i].stop_ns++;
    recording->recorded.stop_ns++;
    recording->observed = in->spans;
    recording->observed_count = count;
    in->spans = NULL;
}

static int tell_cut(const plx *in)
{
    char told[160];
    snprintf(told, sizeof told,
             "up to where the file was cut: the last %" PRIu64 " bytes are no whole block and are left out",
             in->length - in->at);
    in->recording->recorded.stop_ns = in->latest_ns + 1;
    return sf_recording_set_metadata(in->recording, "recorded", told, in->error);
}

static int take_recorded(plx *in)
{
    if (in->span_count > 0 && in->at == in->length)
        end_last(in);
    else if (in->span_count > 0 && in->runs)
        in->spans[in->span_count - 1].stop_ns = in->latest_ns;
    bool in_order = are_in_order(in);
    if (!in_order) return sf_reader_disbelieve(in->recording, "its events of start and stop", in->error);
    if (in->span_count > 0) take_spans(in);
    int status = in->span_count == 0 && in->at == in->length ? take_last_tick(in) : SF_OK;
    if (status == SF_OK && in->at < in->length) status = tell_cut(in);
    return status;
}

/* ---- the whole ---- */

static size_t count_continuous(const plx *in)
{
    size_t count = 0;
    for (size_t i = 0; i < CHANNELS; i++)
        count += in->is_continuous[i];
    return count;
}

static int tell_left_out(const plx *in)
{
    char told[128];
    size_t continuous = count_continuous(in);
    int status = SF_OK;
    snprintf(told, sizeof told, "signals of %zu continuous channel%s", continuous,
             continuous == 1 ? "" : "s");
    if (continuous > 0) status = sf_recording_set_metadata(in->recording, "left_out", told, in->error);
    snprintf(told, sizeof told, "%zu train%s left out: %s spikes are those of another wire of the %s",
             in->left_out, in->left_out == 1 ? " is" : "s are", in->left_out == 1 ? "its" : "their",
             in->trodalness == 2 ? "stereotrode" : "tetrode");
    if (status == SF_OK && in->left_out > 0)
        status = sf_recording_set_metadata(in->recording, "wires", told, in->error);
    return status;
}

static int refuse_without_spikes(const plx *in)
{
    return sf_fail(in->error, SF_DATA, in->path,
                   "no spike times: this Plexon file of version %" PRId32
                   " has signals of %zu continuous channels, %zu markers and no spikes; detect and sort them "
                   "in Offline Sorter",
                   in->version, count_continuous(in), in->recording->marker_count);
}

static int read_open(plx *in, const sf_reading *how)
{
    int status = read_headers(in, how->rate_hz);
    if (status == SF_OK) status = read_blocks(in);
    if (status == SF_OK && in->recording->spike_count == 0) status = refuse_without_spikes(in);
    if (status == SF_OK) status = number_units(in);
    if (status == SF_OK) status = take_recorded(in);
    return status == SF_OK ? tell_left_out(in) : status;
}

static int read_file(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    struct stat about;
    plx *in = sf_alloc(1, sizeof *in);
    if (in == NULL) return sf_fail_memory(error);
    in->path = path;
    in->recording = recording;
    in->error = error;
    in->file = open(path, O_RDONLY | O_CLOEXEC);
    int status = in->file >= 0 && fstat(in->file, &about) == 0
                     ? SF_OK
                     : sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    if (status == SF_OK) {
        in->length = (uint64_t)about.st_size;
        status = read_open(in, how);
    }
    if (in->file >= 0) close(in->file);
    sf_free(in->spikes);
    sf_free(in->events);
    sf_free(in->spans);
    sf_classes_free(&in->classes);
    sf_free(in);
    return status;
}

const sf_folder_reader sf_folder_plexon = {.recognises = recognises, .read = read_file};
