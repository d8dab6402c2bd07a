/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MaxLab Live of MaxWell Biosystems: a message for each sample frame, of its number, the samples (passed
 * over) and the spikes that were found. A spike has one of two layouts, by the version of MaxLab Live, and
 * the length of a message does not always tell which: 48 bytes are two of one and three of the other. What
 * tells is that every spike's frame lies shortly before the message's, and its channel exists.
 */
#include "decode/rig.h"

#include "core/error.h"
#include "core/little.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES (1u << 20) /* 4 kB of samples, or 40,000 spikes of a frame */
#define MAXONE_HZ 20000.0
#define CHANNELS 1024
#define WELLS 24
#define WELL_CHANNELS (CHANNELS * WELLS)
#define BEHIND 4096 /* maximum number of frames by which a filter of the rig may delay a spike */
#define FRAMES_AHEAD (INT64_C(1) << 40)

typedef struct maxwell_spike {
    uint64_t frame;
    uint32_t channel;
    uint8_t well;
    float amplitude;
} maxwell_spike;

typedef struct layout {
    const char *name;
    size_t size;
    maxwell_spike (*read)(const unsigned char *bytes);
} layout;

typedef struct maxwell {
    sf_rig rig;
    const layout *layout; /* NULL: not found out yet */
    uint32_t *units;      /* by well and channel, unit plus one; 0: not looked up */
} maxwell;

/* ---- the layouts ---- */

/* MaxLab Live 22: 7 bytes of padding, well, frame, channel, amplitude. */
static maxwell_spike read_24(const unsigned char *bytes)
{
    return (maxwell_spike){.frame = sf_little_64(bytes + 8),
                           .amplitude = sf_little_single(bytes + 20),
                           .channel = sf_little_32(bytes + 16),
                           .well = bytes[7]};
}

/* From 24.1 on: frame, amplitude, channel, well, padding. */
static maxwell_spike read_16(const unsigned char *bytes)
{
    return (maxwell_spike){.frame = sf_little_64(bytes),
                           .amplitude = sf_little_single(bytes + 8),
                           .channel = sf_little_16(bytes + 12),
                           .well = bytes[14]};
}

static const layout layouts[] = {{"mxw16", 16, read_16}, {"mxw24", 24, read_24}};

static bool is_near(const maxwell_spike *spike, uint64_t frame)
{
    return spike->frame <= frame && frame - spike->frame <= BEHIND;
}

static bool has_place(const maxwell_spike *spike)
{
    return spike->channel < CHANNELS && spike->well < WELLS;
}

/* Whether all spikes fit the layout, by frame and, with `strictly`, also by channel and well. */
static bool fits(const layout *one, sf_part spikes, uint64_t frame, bool strictly)
{
    if (spikes.size % one->size != 0) return false;
    for (size_t at = 0; at < spikes.size; at += one->size) {
        maxwell_spike spike = one->read((const unsigned char *)spikes.data + at);
        if (!is_near(&spike, frame) || (strictly && !has_place(&spike))) return false;
    }
    return true;
}

/* The layout that fits these spikes; NULL: none, or both, which a later message may resolve. */
static const layout *find_layout(maxwell *it, sf_part spikes, uint64_t frame)
{
    bool is_16 = fits(&layouts[0], spikes, frame, true), is_24 = fits(&layouts[1], spikes, frame, true);
    if (it->layout != NULL && fits(it->layout, spikes, frame, true)) return it->layout;
    if (it->rig.decoder.given.layout[0] == '\0' && is_16 != is_24) return it->layout = &layouts[is_24];
    bool is_known = it->layout != NULL && fits(it->layout, spikes, frame, false);
    return is_known ? it->layout : NULL;
}

/* ---- spikes ---- */

static int find_unit(maxwell *it, const maxwell_spike *spike, uint32_t *unit, sf_error *error)
{
    char name[24];
    uint32_t *known = &it->units[spike->well * CHANNELS + spike->channel];
    int32_t number = (int32_t)(spike->well * CHANNELS + spike->channel);
    if (*known != 0) {
        *unit = *known - 1;
        return SF_OK;
    }
    snprintf(name, sizeof name, spike->well == 0 ? "ch%u" : "ch%u/%u", spike->channel, spike->well);
    int status = sf_rig_find(&it->rig, name, number, unit, error);
    if (status == SF_OK && *unit != SF_NO_UNIT && it->rig.decoder.is_known) /* it may move until then */
        *known = *unit + 1;
    return status;
}

static int take_spikes(maxwell *it, sf_part spikes, uint64_t frame, sf_error *error)
{
    const layout *found = find_layout(it, spikes, frame);
    int status = SF_OK;
    if (found == NULL) {
        sf_decoder_leave_out(&it->rig.decoder,
                             "%zu bytes of spikes in frame %" PRIu64
                             " that are of neither layout, or of both",
                             spikes.size, frame);
        return SF_OK;
    }
    for (size_t at = 0; at < spikes.size && status == SF_OK; at += found->size) {
        maxwell_spike spike = found->read((const unsigned char *)spikes.data + at);
        uint32_t unit;
        if (!has_place(&spike)) {
            it->rig.decoder.batch.out_of_range++;
            continue;
        }
        status = find_unit(it, &spike, &unit, error);
        if (status == SF_OK && unit != SF_NO_UNIT)
            status = sf_rig_spike(&it->rig, unit, (int64_t)spike.frame, spike.amplitude, error);
    }
    return status;
}

/* ---- messages ---- */

/* Finds the part that holds spikes: the last of three; of two, the one that cannot be samples. */
static bool find_spikes(const sf_part *parts, size_t count, sf_part *spikes)
{
    *spikes = (sf_part){"", 0};
    if (count == 0 || count > 3 || parts[0].size != sizeof(uint64_t)) return false;
    if (count == 3)
        *spikes = parts[2];
    else if (count == 2 && parts[1].size < CHANNELS * sizeof(float))
        *spikes = parts[1];
    return true;
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    maxwell *it = (maxwell *)decoder;
    sf_part spikes;
    sf_rig_begin(&it->rig);
    if (!find_spikes(parts, count, &spikes)) {
        sf_decoder_leave_out(decoder, "no message of MaxLab Live: %zu parts", count);
        return sf_rig_end(&it->rig, error);
    }
    uint64_t frame = sf_little_64(parts[0].data);
    if (frame >= (uint64_t)FRAMES_AHEAD) {
        sf_decoder_leave_out(decoder, "frame number %" PRIu64, frame);
        return sf_rig_end(&it->rig, error);
    }
    if (!sf_rig_follow(&it->rig, (int64_t)frame, (int64_t)frame)) return sf_rig_pass(&it->rig);
    int status = spikes.size > 0 ? take_spikes(it, spikes, frame, error) : SF_OK;
    if (status != SF_OK) return status;
    sf_rig_clock(&it->rig, (int64_t)frame, BEHIND);
    return sf_rig_end(&it->rig, error);
}

static int open_maxwell(sf_decoder *decoder, sf_error *error)
{
    maxwell *it = (maxwell *)decoder;
    char *wanted = decoder->given.layout;
    it->units = sf_alloc(WELL_CHANNELS, sizeof *it->units);
    if (it->units == NULL) return sf_fail_memory(error);
    if (decoder->given.sample_rate_hz == 0) decoder->given.sample_rate_hz = MAXONE_HZ;
    if (strcmp(wanted, "auto") == 0) wanted[0] = '\0';
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (strcmp(wanted, layouts[i].name) == 0) it->layout = &layouts[i];
    if (wanted[0] != '\0' && it->layout == NULL)
        return sf_fail(error, SF_USAGE, "layout", "found '%s', expected auto, mxw16 or mxw24", wanted);
    return sf_rig_open(decoder, error);
}

static void close_maxwell(sf_decoder *decoder)
{
    sf_free(((maxwell *)decoder)->units);
    sf_rig_close(decoder);
}

const sf_decoder_kind sf_decoder_maxwell = {
    .name = "maxwell",
    .size = sizeof(maxwell),
    .most_bytes = MOST_BYTES,
    .open = open_maxwell,
    .decode = decode,
    .gave = sf_rig_gave,
    .close = close_maxwell,
};
