/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ZMQ Interface plugin of the Open Ephys GUI: an envelope, a JSON header, and a payload. It sends the
 * stream that its editor names, which may be another in the next acquisition, whose electrodes have the same
 * names: the first one is read. Of the events TTL edges alone are sent. "data" messages tell the sampling
 * rate and that time passes; their samples are passed over. The plugin cuts a header by as many bytes as its
 * names have beyond ASCII: where the keys that are needed stand wholly before the cut, it is read.
 */
#include "core/clock.h"
#include "decode/chosen_stream.h"
#include "decode/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (4u << 20) /* a block of samples, or the waveform of a spike */
#define TTL_EVENT 3
#define TTL_BYTES 10
/* Samples at the end of a block: OVERFLOW_BUFFER_SAMPLES / 2 of the Spike Detector, 0.6 to 1.0. */
#define LEFT_TO_NEXT 100

typedef struct open_ephys {
    sf_rig rig;
    sf_chosen_stream choice;
} open_ephys;

typedef struct header {
    int64_t number;
    char type[SF_FIELD_TEXT_SIZE], stream[SF_FIELD_TEXT_SIZE], electrode[SF_FIELD_TEXT_SIZE];
    int64_t sample, samples, channels, sorted_id, event;
    double rate;
} header;

enum {
    NUMBER,
    TYPE,
    STREAM,
    SPIKE_STREAM,
    ELECTRODE,
    SPIKE_SAMPLE,
    CHANNELS,
    SPIKE_SAMPLES,
    SORTED,
    EVENT,
    SAMPLE,
    SAMPLES,
    RATE
};

static const sf_field rows[] = {
    [NUMBER] = {"message_num", SF_FIELD_WHOLE, offsetof(header, number)},
    [TYPE] = {"type", SF_FIELD_TEXT, offsetof(header, type)},
    [STREAM] = {"content.stream", SF_FIELD_TEXT, offsetof(header, stream)},
    [SPIKE_STREAM] = {"spike.stream", SF_FIELD_TEXT, offsetof(header, stream)},
    [ELECTRODE] = {"spike.electrode", SF_FIELD_TEXT, offsetof(header, electrode)},
    [SPIKE_SAMPLE] = {"spike.sample_num", SF_FIELD_WHOLE, offsetof(header, sample)},
    [CHANNELS] = {"spike.num_channels", SF_FIELD_WHOLE, offsetof(header, channels)},
    [SPIKE_SAMPLES] = {"spike.num_samples", SF_FIELD_WHOLE, offsetof(header, samples)},
    [SORTED] = {"spike.sorted_id", SF_FIELD_WHOLE, offsetof(header, sorted_id)},
    [EVENT] = {"content.type", SF_FIELD_WHOLE, offsetof(header, event)},
    [SAMPLE] = {"content.sample_num", SF_FIELD_WHOLE, offsetof(header, sample)},
    [SAMPLES] = {"content.num_samples", SF_FIELD_WHOLE, offsetof(header, samples)},
    [RATE] = {"content.sample_rate", SF_FIELD_REAL, offsetof(header, rate)},
};

#define BIT(row) (UINT32_C(1) << (row))

typedef struct kind_of_message {
    const char *type;
    uint32_t needed;
    int (*take)(sf_rig *rig, const header *about, sf_part payload, sf_error *error);
} kind_of_message;

/* ---- spikes ---- */

static int take_spike(sf_rig *rig, const header *about, sf_part payload, sf_error *error)
{
    uint32_t unit;
    int64_t floats = (int64_t)(payload.size / sizeof(float));
    bool fits = about->channels > 0 && about->samples >= 0 && about->channels <= floats + 1 &&
                about->samples <= floats && about->channels * about->samples == floats &&
                payload.size % sizeof(float) == 0;
    if (!fits) {
        sf_decoder_leave_out(&rig->decoder, "a spike whose waveform has %zu bytes", payload.size);
        return SF_OK;
    }
    int status = sf_rig_find_electrode(rig, about->electrode, about->sorted_id, &unit, error);
    if (status != SF_OK || unit == SF_NO_UNIT) return status;
    return sf_rig_spike(rig, unit, about->sample,
                        sf_rig_amplitude(payload.data, payload.size, SF_RIG_FLOAT32), error);
}

/* ---- events and data ---- */

static int take_event(sf_rig *rig, const header *about, sf_part payload, sf_error *error)
{
    const unsigned char *bytes = payload.data;
    sf_rig_hear(rig);
    if (about->event != TTL_EVENT) return SF_OK;
    if (payload.size != TTL_BYTES || bytes[1] > 1) {
        sf_decoder_leave_out(&rig->decoder, "a TTL event of %zu bytes", payload.size);
        return SF_OK;
    }
    return sf_rig_ttl(rig, about->sample, bytes[0], bytes[1] == 1, error);
}

/* The spikes of a block precede its samples, except those whose waveforms the end of the block cuts: the
 * Spike Detector leaves them to the next block. */
static int take_data(sf_rig *rig, const header *about, sf_part payload, sf_error *error)
{
    (void)payload;
    (void)error;
    sf_rig_hear(rig);
    if (sf_rig_hear_rate(rig, about->rate))
        sf_rig_clock(rig, sf_time_plus(about->sample, about->samples), LEFT_TO_NEXT);
    return SF_OK;
}

/* ---- messages ---- */

static const kind_of_message kinds[] = {
    {"spike", BIT(ELECTRODE) | BIT(SPIKE_SAMPLE) | BIT(CHANNELS) | BIT(SPIKE_SAMPLES), take_spike},
    {"event", BIT(EVENT) | BIT(SAMPLE), take_event},
    {"data", BIT(SAMPLE) | BIT(RATE), take_data},
};

static const kind_of_message *kind_of(const header *about, uint32_t found)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].type, about->type) == 0)
            return (found & kinds[i].needed) == kinds[i].needed ? &kinds[i] : NULL;
    return NULL;
}

/* The envelope is sent with its NUL, although the manual shows none. */
static bool is_envelope(sf_part part)
{
    static const char *const words[] = {"EVENT", "DATA", "SPIKE"};
    size_t size = part.size;
    size -= size > 0 && ((const char *)part.data)[size - 1] == '\0';
    for (size_t i = 0; i < 3; i++)
        if (strlen(words[i]) == size && memcmp(words[i], part.data, size) == 0) return true;
    return false;
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    open_ephys *it = (open_ephys *)decoder;
    sf_rig *rig = &it->rig;
    header about = {0};
    sf_fields fields = {.rows = rows, .count = sizeof rows / sizeof rows[0]};
    sf_rig_begin(rig);
    if (count < 2 || count > 3 || !is_envelope(parts[0])) {
        sf_decoder_leave_out(decoder, "no message of Open Ephys' ZMQ Interface: %zu parts", count);
        return sf_rig_end(rig, error);
    }
    sf_document state = sf_fields_from_json(&fields, &about, parts[1]);
    const kind_of_message *kind = kind_of(&about, fields.found);
    bool is_numbered = state != SF_DOCUMENT_BAD && (fields.found & BIT(NUMBER)) != 0;
    if (is_numbered && !sf_rig_follow(rig, about.number, 1)) return sf_rig_pass(rig);
    if (!is_numbered || kind == NULL) {
        sf_decoder_leave_out(decoder, "a header that %s",
                             state == SF_DOCUMENT_BAD   ? "is no JSON"
                             : state == SF_DOCUMENT_CUT ? "is cut before what is needed of it"
                             : fields.is_long           ? "has a name that is too long"
                                                        : "lacks a key or is of an unknown type");
        return sf_rig_end(rig, error);
    }
    if (!sf_chosen_stream_reads(&it->choice, rig, about.stream, true)) return sf_rig_end(rig, error);
    int status = kind->take(rig, &about, count == 3 ? parts[2] : (sf_part){"", 0}, error);
    return status == SF_OK ? sf_rig_end(rig, error) : status;
}

static int open_decoder(sf_decoder *decoder, sf_error *error)
{
    sf_chosen_stream_open(&((open_ephys *)decoder)->choice, decoder);
    return sf_rig_open(decoder, error);
}

const sf_decoder_kind sf_decoder_open_ephys = {
    .name = "open-ephys",
    .size = sizeof(open_ephys),
    .most_bytes = MOST_BYTES,
    .open = open_decoder,
    .decode = decode,
    .gave = sf_rig_gave,
    .close = sf_rig_close,
};
