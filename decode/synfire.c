/* SPDX-License-Identifier: Apache-2.0 */
/* synfire's own stream; docs/wire.md says what a receiver does with what it gets. */
#include "decode/decoder.h"

#include "core/error.h"
#include "core/log.h"
#include "decode/numbering.h"
#include "decode/wire.h"

#include <inttypes.h>
#include <string.h>

typedef struct stream {
    sf_decoder decoder;
    uint64_t run;
    sf_numbering numbering;
    uint64_t spikes, markers; /* number that arrived in this run, for comparison with the sender's totals */
    uint64_t lost_run;        /* a new run whose hello has not arrived; 0: none */
    sf_wire_data data;
    bool told[SF_WIRE_FAULTS]; /* in the log */
    uint16_t other_version;    /* the last one that was refused */
} stream;

static int leave_out(stream *it, sf_wire_fault fault, sf_error *error)
{
    sf_decoder *decoder = &it->decoder;
    if (fault == SF_WIRE_MEMORY) return sf_fail_memory(error);
    if (fault == SF_WIRE_VERSION && !decoder->is_known)
        return sf_fail(
            error, SF_DATA, decoder->name,
            "the sender speaks version %u of the protocol, this program version %d: use the same release of "
            "synfire on both sides",
            it->other_version, SF_WIRE_PROTOCOL);
    if (fault == SF_WIRE_VERSION)
        sf_decoder_leave_out(decoder, "refused a frame of protocol version %u; this program reads version %d",
                             it->other_version, SF_WIRE_PROTOCOL);
    else
        sf_decoder_leave_out(decoder, "a frame %s", sf_wire_fault_text(fault));
    if (decoder->is_known && !it->told[fault])
        sf_log(fault == SF_WIRE_VERSION ? SF_LOG_ERROR : SF_LOG_WARNING, "%s: %s", decoder->name,
               decoder->fault);
    it->told[fault] |= decoder->is_known;
    return SF_AGAIN;
}

/* What was read and counted since the last batch. */
static int complete(stream *it, int64_t clock_ns)
{
    sf_batch *batch = &it->decoder.batch;
    batch->spikes = it->data.spikes;
    batch->spike_count = it->data.spike_count;
    batch->markers = it->data.markers;
    batch->marker_count = it->data.marker_count;
    batch->out_of_range = it->data.unknown_units;
    batch->clock_ns = clock_ns;
    batch->heard = true;
    it->spikes += batch->spike_count + batch->out_of_range;
    it->markers += batch->marker_count;
    return SF_OK;
}

/* ---- runs ---- */

static bool same_names(const sf_units *a, const sf_units *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->items[i].name, b->items[i].name) == 0;
    return same;
}

/* The stream is known from here on; if data came before, it was joined in the middle. */
static int join_stream(stream *it, sf_recording *about, const sf_wire_stream *told)
{
    sf_decoder *decoder = &it->decoder;
    decoder->about = *about;
    decoder->is_known = true;
    decoder->can_wait = (told->flags & SF_WIRE_WAITS) != 0;
    decoder->virtual_clock = (told->flags & SF_WIRE_VIRTUAL) != 0;
    decoder->own_pace = (told->flags & SF_WIRE_PACED) != 0;
    return SF_OK;
}

static int restart(stream *it, sf_recording *about, sf_error *error)
{
    sf_decoder *decoder = &it->decoder;
    int status = SF_OK;
    if (!same_names(&about->units, &decoder->about.units))
        status = sf_fail(
            error, SF_DATA, decoder->name,
            "the sender started again with other units: found %zu units, expected the same %zu as before",
            about->units.count, decoder->about.units.count);
    sf_recording_clear(about);
    if (status != SF_OK) return status;
    sf_log(SF_LOG_WARNING, "%s: the sender started again", decoder->name);
    decoder->batch.restarts++;
    return SF_OK;
}

/* Only its hello makes a run known. */
static int begin_run(stream *it, const sf_wire_header *header, sf_part frame, sf_error *error)
{
    sf_decoder *decoder = &it->decoder;
    if (header->kind != SF_WIRE_HELLO && !decoder->is_known)
        return SF_AGAIN; /* the hello is repeated every second */
    if (header->kind != SF_WIRE_HELLO) {
        decoder->batch.gaps += it->lost_run != header->run;
        decoder->batch.gap_lost++;
        decoder->batch.heard = true;
        it->lost_run = header->run;
        return SF_AGAIN;
    }
    sf_recording about;
    sf_wire_stream told;
    sf_wire_fault fault = sf_wire_read_hello(&about, &told, frame.data, frame.size);
    if (fault != SF_WIRE_SOUND) return leave_out(it, fault, error);
    decoder->has_origin = told.origin_ns != INT64_MIN;
    decoder->origin_ns = told.origin_ns;
    int status = decoder->is_known ? restart(it, &about, error) : join_stream(it, &about, &told);
    if (status != SF_OK) return status;
    it->run = header->run;
    it->lost_run = 0;
    sf_numbering_begin(&it->numbering, header->sequence);
    it->spikes = it->markers = 0;
    return complete(it, header->clock_ns);
}

/* ---- frames of the run ---- */

/* Checks the sequence number; false if the frame is a duplicate. */
static bool follow_sequence(stream *it, const sf_wire_header *header)
{
    sf_batch *counts = &it->decoder.batch;
    sf_numbered is = sf_numbering_follow(&it->numbering, header->sequence, header->kind == SF_WIRE_END);
    if (is.broken) leave_out(it, SF_WIRE_SEQUENCE, NULL);
    if (is.anew) {
        sf_log(SF_LOG_WARNING, "%s: the sender numbers its frames anew", it->decoder.name);
        it->spikes = it->markers = 0;
        counts->restarts++;
    }
    counts->gaps += is.gaps;
    counts->gap_lost += is.lost;
    return is.read;
}

/* A frame of an unknown kind, or longer than its kind, still counts in the sequence of the run. */
static bool is_numbered(const stream *it, const sf_wire_header *header, size_t size)
{
    bool is_whole = header->version == SF_WIRE_PROTOCOL && size >= SF_WIRE_HEADER_SIZE;
    return is_whole && it->decoder.is_known && header->run == it->run;
}

/* Counts what the sender's totals of its run have beyond what arrived. */
static void settle_account(stream *it, uint64_t spikes, uint64_t markers)
{
    sf_batch *counts = &it->decoder.batch;
    counts->has_totals = true;
    counts->missing_spikes = spikes > it->spikes ? (int64_t)(spikes - it->spikes) : 0;
    counts->missing_markers = markers > it->markers ? (int64_t)(markers - it->markers) : 0;
    if (spikes > it->spikes || markers > it->markers)
        sf_log(SF_LOG_WARNING,
               "%s: of %" PRIu64 " spikes and %" PRIu64 " markers that the sender sent in this run, %" PRId64
               " spikes and %" PRId64 " markers did not come",
               it->decoder.name, spikes, markers, counts->missing_spikes, counts->missing_markers);
}

/* A repeated hello adds nothing, but a difference shows that it was damaged on the way. */
static sf_wire_fault check_hello(const stream *it, sf_part frame)
{
    sf_recording about;
    sf_wire_stream told;
    sf_wire_fault fault = sf_wire_read_hello(&about, &told, frame.data, frame.size);
    if (fault == SF_WIRE_SOUND && !same_names(&about.units, &it->decoder.about.units)) fault = SF_WIRE_UNITS;
    sf_recording_clear(&about);
    return fault;
}

static int read_frame(stream *it, const sf_wire_header *header, sf_part frame, sf_error *error)
{
    uint64_t spikes = 0, markers = 0;
    sf_wire_fault fault = SF_WIRE_SOUND;
    if (header->kind == SF_WIRE_DATA)
        fault = sf_wire_read_data(&it->data, it->decoder.about.units.count, frame.data, frame.size);
    else if (header->kind == SF_WIRE_END)
        fault = sf_wire_read_end(&spikes, &markers, frame.data, frame.size);
    else if (header->kind == SF_WIRE_HELLO)
        fault = check_hello(it, frame);
    if (fault != SF_WIRE_SOUND) return leave_out(it, fault, error);
    it->decoder.has_ended = header->kind == SF_WIRE_END;
    if (it->decoder.has_ended) settle_account(it, spikes, markers);
    return complete(it, header->clock_ns);
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    stream *it = (stream *)decoder;
    sf_wire_header header = {0};
    sf_wire_fault fault =
        count == 1 ? sf_wire_read_header(&header, parts[0].data, parts[0].size) : SF_WIRE_FOREIGN;
    if (fault == SF_WIRE_VERSION) it->other_version = header.version;
    if (fault != SF_WIRE_SOUND) {
        if (is_numbered(it, &header, parts[0].size) && !follow_sequence(it, &header)) return SF_AGAIN;
        return leave_out(it, fault, error);
    }
    it->data.spike_count = it->data.marker_count = 0; /* they went out with the last batch */
    it->data.unknown_units = 0;
    if (!decoder->is_known || header.run != it->run) return begin_run(it, &header, parts[0], error);
    return follow_sequence(it, &header) ? read_frame(it, &header, parts[0], error) : SF_AGAIN;
}

static int measure(sf_decoder *decoder, const void *bytes, size_t size, size_t *whole, sf_error *error)
{
    stream *it = (stream *)decoder;
    sf_wire_header header;
    sf_wire_fault fault;
    *whole = sf_wire_measure(bytes, size, &fault);
    if (*whole > 0) return SF_OK;
    if (fault == SF_WIRE_VERSION && sf_wire_read_header(&header, bytes, size) == fault)
        it->other_version = header.version;
    int status = leave_out(it, fault, error);
    return status < 0 ? status : SF_OK;
}

static void close_stream(sf_decoder *decoder)
{
    sf_wire_data_free(&((stream *)decoder)->data);
}

const sf_decoder_kind sf_decoder_synfire = {
    .name = "synfire",
    .size = sizeof(stream),
    .most_bytes = SF_WIRE_MOST_BYTES,
    .decode = decode,
    .measure = measure,
    .magic = {"SYNF", 4},
    .close = close_stream,
};
