/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BRAND: threshold crossings in a Redis stream. A message is the fields of one entry that matter: its id,
 * which Redis makes of the millisecond and a count; when it was written, on the sender's clock (8 bytes of
 * nanoseconds; empty: that of the id); a count for each channel (16 bits each) of what crossed in the entry's
 * bin; and the number of the sample at which the bin begins (4 bytes, which wrap, or 8; empty or not there:
 * it has none). All crossings of a bin have its time: that of its sample, where the first entry has one. When
 * it was written depends on what else its computer had to do.
 */
#include "decode/rig.h"

#include "core/little.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES (1u << 20)
#define MOST_CROSSINGS 1000 /* maximum crossings of a channel in a bin; a larger number is no spike count */
#define BY_NANOSECONDS 1e9
#define DEFAULT_HZ 30000.0

typedef struct brand {
    sf_rig rig;
    uint32_t channels;  /* of an entry; 0: none came yet */
    size_t sample_size; /* of its sample's number; 0: it has none */
    double sample_rate_hz;
    sf_rig_counter samples;
} brand;

/* Milliseconds of an entry's id, "1690000000000-0". */
static bool time_of_id(sf_part id, int64_t *time_ns)
{
    char text[32];
    uint64_t milliseconds;
    const char *dash = memchr(id.data, '-', id.size);
    size_t length = dash != NULL ? (size_t)(dash - (const char *)id.data) : id.size;
    if (length >= sizeof text) return false;
    memcpy(text, id.data, length);
    text[length] = '\0';
    if (!sf_parse_uint(text, INT64_MAX / 1000000, &milliseconds)) return false;
    *time_ns = (int64_t)milliseconds * 1000000;
    return true;
}

static bool time_of_entry(const sf_part *parts, int64_t *time_ns)
{
    if (parts[1].size == 0) return time_of_id(parts[0], time_ns);
    if (parts[1].size != sizeof(uint64_t)) return false;
    uint64_t stamp = sf_little_64(parts[1].data);
    *time_ns = (int64_t)stamp;
    return stamp < (uint64_t)SF_TIME_LIMIT_NS;
}

/* Learns as many units as the first entry has channels, unless units were given. */
static int learn(brand *it, size_t channels, sf_error *error)
{
    sf_decoder *decoder = &it->rig.decoder;
    int status = SF_OK;
    it->channels = (uint32_t)channels;
    for (size_t i = 0; i < channels && !decoder->given.has_units && status == SF_OK; i++) {
        char name[24];
        uint32_t unit;
        snprintf(name, sizeof name, "ch%zu", i);
        status = sf_rig_find(&it->rig, name, -1, &unit, error);
    }
    decoder->given.has_units = true;
    return status;
}

static int take_channel(brand *it, uint32_t channel, int64_t time, int16_t crossings, sf_error *error)
{
    char name[24];
    uint32_t unit;
    snprintf(name, sizeof name, "ch%u", channel);
    int status = sf_rig_find(&it->rig, name, (int32_t)channel, &unit, error);
    if (status != SF_OK || unit == SF_NO_UNIT) {
        it->rig.decoder.batch.out_of_range += status == SF_OK ? (uint64_t)(crossings - 1) : 0;
        return status;
    }
    for (int16_t i = 0; i < crossings && status == SF_OK; i++)
        status = sf_rig_spike(&it->rig, unit, time, NAN, error);
    return status;
}

/* Time of an entry in the stream's units; the first entry decides between samples and nanoseconds. */
static bool find_time(brand *it, const sf_part *parts, size_t count, int64_t *time)
{
    sf_part sample = count == 4 ? parts[3] : (sf_part){"", 0};
    if (it->channels == 0) it->sample_size = sample.size;
    if (it->sample_size == 0) return time_of_entry(parts, time);
    if (sample.size != it->sample_size || (sample.size != 4 && sample.size != 8)) return false;
    uint64_t low = sample.size == 4 ? sf_little_32(sample.data) : sf_little_64(sample.data);
    *time = sf_rig_count_on(&it->samples, low, 8 * (unsigned)sample.size);
    return true;
}

static int take(brand *it, int64_t time, sf_part counts, sf_error *error)
{
    bool is_first = it->channels == 0;
    if (is_first) sf_rig_set_rate(&it->rig, it->sample_size > 0 ? it->sample_rate_hz : BY_NANOSECONDS);
    int status = is_first ? learn(it, counts.size / 2, error) : SF_OK;
    for (uint32_t i = 0; i < it->channels && status == SF_OK; i++) {
        int16_t crossings = (int16_t)sf_little_16((const unsigned char *)counts.data + 2 * (size_t)i);
        if (crossings < 0 || crossings > MOST_CROSSINGS)
            sf_decoder_leave_out(&it->rig.decoder, "%d crossings of channel %u in one bin", crossings, i);
        else if (crossings > 0)
            status = take_channel(it, i, time, crossings, error);
    }
    sf_rig_clock(&it->rig, time, 0);
    return status;
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    brand *it = (brand *)decoder;
    int64_t time;
    sf_rig_begin(&it->rig);
    if (count < 3 || count > 4)
        sf_decoder_leave_out(decoder, "%zu parts, of which no entry is made", count);
    else if (!find_time(it, parts, count, &time))
        sf_decoder_leave_out(decoder, "an entry without a time");
    else if (parts[2].size == 0 || parts[2].size % 2 != 0 || parts[2].size / 2 > SF_RIG_MOST_UNITS ||
             (it->channels != 0 && parts[2].size / 2 != it->channels))
        sf_decoder_leave_out(decoder, "an entry with %zu bytes of crossings", parts[2].size);
    else {
        int status = take(it, time, parts[2], error);
        if (status != SF_OK) return status;
    }
    return sf_rig_end(&it->rig, error);
}

static int open_brand(sf_decoder *decoder, sf_error *error)
{
    double *given_hz = &decoder->given.sample_rate_hz;
    ((brand *)decoder)->sample_rate_hz = *given_hz > 0 ? *given_hz : DEFAULT_HZ;
    *given_hz = 0; /* before the first entry decides how the stream counts time */
    int status = sf_rig_open(decoder, error);
    decoder->learns = false;
    return status;
}

const sf_decoder_kind sf_decoder_brand = {
    .name = "brand",
    .size = sizeof(brand),
    .most_bytes = MOST_BYTES,
    .open = open_brand,
    .decode = decode,
    .gave = sf_rig_gave,
    .close = sf_rig_close,
};
