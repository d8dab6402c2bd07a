/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trodes of SpikeGadgets: a map in MessagePack for each spike (localTimestamp in samples, of 32 bits, which
 * wrap after 39.8 h at 30 kHz; nTrodeId; cluster). It numbers nothing.
 */
#include "decode/fields.h"
#include "decode/rig.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MOST_BYTES (1u << 20)
#define DEFAULT_HZ 30000.0

typedef struct spike {
    int64_t sample, electrode, cluster;
} spike;

enum { SAMPLE, ELECTRODE, CLUSTER };

static const sf_field rows[] = {
    [SAMPLE] = {"localTimestamp", SF_FIELD_WHOLE, offsetof(spike, sample)},
    [ELECTRODE] = {"nTrodeId", SF_FIELD_WHOLE, offsetof(spike, electrode)},
    [CLUSTER] = {"cluster", SF_FIELD_WHOLE, offsetof(spike, cluster)},
};

typedef struct trodes {
    sf_rig rig;
    sf_rig_counter samples;
} trodes;

static int take(trodes *it, const spike *told, sf_error *error)
{
    sf_rig *rig = &it->rig;
    char name[64];
    uint32_t unit;
    int length = snprintf(name, sizeof name, "nt%" PRId64, told->electrode);
    if (told->cluster > 0) snprintf(name + length, sizeof name - (size_t)length, ":%" PRId64, told->cluster);
    int status = sf_rig_find(rig, name, (int32_t)told->electrode, &unit, error);
    bool has_low_bits = told->sample >= 0 && told->sample <= UINT32_MAX;
    int64_t sample = has_low_bits ? sf_rig_count_on(&it->samples, (uint64_t)told->sample, 32) : told->sample;
    return status == SF_OK && unit != SF_NO_UNIT ? sf_rig_spike(rig, unit, sample, NAN, error) : status;
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    sf_rig *rig = (sf_rig *)decoder;
    spike told = {0};
    sf_fields fields = {.rows = rows, .count = sizeof rows / sizeof rows[0]};
    sf_rig_begin(rig);
    bool is_read = count == 1 && sf_fields_from_msgpack(&fields, &told, parts[0]) == SF_DOCUMENT_WHOLE &&
                   (fields.found & 3u) == 3u && told.electrode >= 0 &&
                   told.electrode < SF_DECODER_MOST_CHANNELS;
    if (!is_read) {
        sf_decoder_leave_out(decoder, "no spike of Trodes: %zu bytes", count > 0 ? parts[0].size : 0);
        return sf_rig_end(rig, error);
    }
    int status = take((trodes *)decoder, &told, error);
    return status == SF_OK ? sf_rig_end(rig, error) : status;
}

static int open_trodes(sf_decoder *decoder, sf_error *error)
{
    if (decoder->given.sample_rate_hz == 0) decoder->given.sample_rate_hz = DEFAULT_HZ;
    return sf_rig_open(decoder, error);
}

const sf_decoder_kind sf_decoder_trodes = {
    .name = "trodes",
    .size = sizeof(trodes),
    .most_bytes = MOST_BYTES,
    .open = open_trodes,
    .decode = decode,
    .gave = sf_rig_gave,
    .close = sf_rig_close,
};
