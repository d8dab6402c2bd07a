/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intan RHX, its TCP output of spikes: chunks of 14 bytes, each with a magic number, the channel's name, the
 * low 32 bits of the sample number, and what the spike was taken for.
 */
#include "decode/rig.h"

#include "core/little.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHUNK 14
#define NAME 5
#define DEFAULT_HZ 30000.0
#define PORT_CHANNELS 128
#define UNCLASSIFIED 0x40
#define ARTEFACT 0x80

static const unsigned char magic[4] = {0x0f, 0x71, 0xe2, 0x3a};

#define CROSSING ":1" /* suffix of a crossing's name until it is known whether RHX sorts */

typedef struct intan {
    sf_rig rig;
    sf_rig_counter samples;
    bool sorts;      /* something else than 1 was sent */
    bool is_settled; /* whether it does, with the units */
} intan;

/* Units 1 to 4 are bits; 0: unsorted; -1: anything else. */
static int sorted_of(unsigned char id)
{
    static const unsigned char ids[] = {UNCLASSIFIED, 1, 2, 4, 8};
    for (int i = 0; i < 5; i++)
        if (ids[i] == id) return i;
    return -1;
}

/* "B-017" is the number 145 among channels that were given. */
static int32_t number_of(const char *name)
{
    uint64_t number;
    if (name[0] < 'A' || name[0] > 'Z' || !sf_parse_uint(name + 2, PORT_CHANNELS - 1, &number)) return -1;
    return (name[0] - 'A') * PORT_CHANNELS + (int32_t)number;
}

static bool is_name(const unsigned char *bytes)
{
    for (size_t i = 0; i < NAME; i++)
        if (bytes[i] <= ' ' || bytes[i] > '~') return false;
    return true;
}

/* Without a hoop RHX marks every crossing with 1, which is then no neuron: units are channels. */
static int settle(intan *it, sf_error *error)
{
    sf_units *units = &it->rig.decoder.about.units;
    it->is_settled = true;
    if (it->sorts || !it->rig.decoder.learns) return SF_OK;
    for (size_t i = 0; i < units->count; i++)
        ((char *)units->items[i].name)[strlen(units->items[i].name) - strlen(CROSSING)] = '\0';
    return sf_units_finish(units, error);
}

static void name_unit(const intan *it, const char *channel, int id, char name[NAME + 4])
{
    bool has_units = it->rig.decoder.given.has_units;
    snprintf(name, NAME + 4, id > 0 ? "%s:%d" : "%s", channel, id);
    if (has_units ? sf_units_find(&it->rig.decoder.about.units, name) == SF_NO_UNIT
                  : it->is_settled && !it->sorts)
        snprintf(name, NAME + 4, "%s", channel);
}

static int take(intan *it, const unsigned char *chunk, sf_error *error)
{
    char name[NAME + 1] = {0}, sorted[NAME + 4];
    uint32_t unit;
    int id = sorted_of(chunk[13]);
    memcpy(name, chunk + 4, NAME);
    int64_t sample = sf_rig_count_on(&it->samples, sf_little_32(chunk + 9), 32);
    sf_rig_hear(&it->rig);
    if (chunk[13] == ARTEFACT) {
        it->rig.decoder.batch.out_of_range++;
        return SF_OK;
    }
    it->sorts |= !it->is_settled && id != 1;
    name_unit(it, name, id, sorted);
    int status = sf_rig_find(&it->rig, sorted, number_of(name), &unit, error);
    return status == SF_OK && unit != SF_NO_UNIT ? sf_rig_spike(&it->rig, unit, sample, NAN, error) : status;
}

static bool is_spike(const sf_part *parts, size_t count)
{
    const unsigned char *chunk = count == 1 ? parts[0].data : NULL;
    return chunk != NULL && parts[0].size == CHUNK && memcmp(chunk, magic, sizeof magic) == 0 &&
           is_name(chunk + 4) && (sorted_of(chunk[13]) >= 0 || chunk[13] == ARTEFACT);
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    intan *it = (intan *)decoder;
    int status = SF_OK;
    sf_rig_begin(&it->rig);
    if (is_spike(parts, count))
        status = take(it, parts[0].data, error);
    else
        sf_decoder_leave_out(decoder, "a chunk that is no spike");
    if (status == SF_OK) status = sf_rig_end(&it->rig, error);
    if (status >= 0 && decoder->is_known && !it->is_settled && settle(it, error) != SF_OK)
        return SF_NO_MEMORY;
    return status;
}

static int measure(sf_decoder *decoder, const void *bytes, size_t size, size_t *whole, sf_error *error)
{
    (void)error;
    *whole = size < sizeof magic ? size + 1 : CHUNK;
    if (memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) != 0) {
        sf_decoder_leave_out(decoder, "bytes that are no spike");
        *whole = 0;
    }
    return SF_OK;
}

static int open_intan(sf_decoder *decoder, sf_error *error)
{
    if (decoder->given.sample_rate_hz == 0) decoder->given.sample_rate_hz = DEFAULT_HZ;
    return sf_rig_open(decoder, error);
}

const sf_decoder_kind sf_decoder_intan = {
    .name = "intan",
    .size = sizeof(intan),
    .most_bytes = CHUNK,
    .open = open_intan,
    .decode = decode,
    .measure = measure,
    .magic = {magic, sizeof magic},
    .gave = sf_rig_gave,
    .close = sf_rig_close,
};
