/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lab Streaming Layer: streams of samples at irregular times, of which each is a spike or a marker. LSL knows
 * none of these, so docs/rigs.md says which are read. A message is what an inlet gave, and begins with a
 * word:
 *
 *   about    type; channels and 1 where they are texts (int32 each), nominal rate (float64); the sender's
 *            units, if it tells them: name, x and y in um, each ended by a NUL. Again: it connected anew.
 *   spikes   correction; times; values (float64 each): a unit's number, or an electrode's and that of a
 *            neuron there
 *   name     correction; time; text: a spike of the unit of this name
 *   marker   correction; time; text: "TTL 3 on", "TTL 3 off", or anything
 *
 * Times are seconds of the sender's clock (float64). The correction, which makes them those of this
 * computer's, is an estimate that comes anew every few seconds: it is gone after at CORRECTION_SLOPE, so that
 * intervals stay what they are, unless it jumps by more than CORRECTION_STEP_NS: then the sender's clock is
 * another one.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "decode/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_BYTES (1u << 22)
#define MOST_SAMPLES 4096 /* of a message */
#define MOST_TEXT 127
#define BY_NANOSECONDS 1e9
#define CORRECTION_SLOPE 10000 /* one in so many, that is 100 ppm */
#define CORRECTION_STEP_NS (10 * SF_MILLISECOND)

typedef struct clock_of {
    bool is_set;
    int64_t offset_ns, newest_ns; /* offset of the sender's clock; newest sender time so far */
} clock_of;

typedef struct lsl {
    sf_rig rig;
    bool was_open, is_read; /* was_open: a stream connected; is_read: its content is readable */
    uint32_t channels;
    bool is_text;
    clock_of spikes, markers; /* of their senders */
    int64_t correction_ns;    /* of the message */
    uint32_t *units;          /* by the sender's number */
    size_t unit_count, unit_capacity;
} lsl;

/* ---- times ---- */

static bool nanoseconds_of(double seconds, int64_t *ns)
{
    if (!(fabs(seconds) < (double)SF_TIME_LIMIT_NS * 1e-9)) return false;
    double whole = floor(seconds);
    *ns = (int64_t)whole * SF_SECOND + llround((seconds - whole) * 1e9);
    return true;
}

/* Whether the sender's clock is still the same one. */
static bool is_same_clock(const clock_of *clock, int64_t offset_ns)
{
    int64_t by = offset_ns - clock->offset_ns;
    return !clock->is_set || (by <= CORRECTION_STEP_NS && by >= -CORRECTION_STEP_NS);
}

static int64_t time_on(clock_of *clock, int64_t stamp_ns, int64_t offset_ns)
{
    if (!clock->is_set || !is_same_clock(clock, offset_ns))
        *clock = (clock_of){.is_set = true, .offset_ns = offset_ns, .newest_ns = stamp_ns};
    if (stamp_ns > clock->newest_ns) {
        int64_t most = (stamp_ns - clock->newest_ns) / CORRECTION_SLOPE;
        int64_t by = offset_ns - clock->offset_ns;
        clock->offset_ns += by > most ? most : by < -most ? -most : by;
        clock->newest_ns = stamp_ns;
    }
    return sf_time_plus(stamp_ns, clock->offset_ns);
}

static double real_at(sf_part part, size_t index)
{
    double value;
    memcpy(&value, (const char *)part.data + index * sizeof value, sizeof value);
    return value;
}

/* ---- what the stream is ---- */

/* Adds a unit with the sender's name; its index is the sender's number. */
static int add_unit(lsl *it, const char *name, double x_um, double y_um, sf_error *error)
{
    sf_decoder *decoder = &it->rig.decoder;
    const sf_decoder_given *given = &decoder->given;
    sf_units *units = &decoder->about.units;
    uint32_t unit = sf_units_find(units, name);
    int status = SF_OK;
    if (unit == SF_NO_UNIT && it->unit_count < given->channels) unit = given->of_channel[it->unit_count];
    if (unit == SF_NO_UNIT && !decoder->is_known && !given->has_units) {
        status = sf_units_intern(units, name, &unit, error);
        if (status == SF_OK) {
            units->items[unit].x_um = x_um;
            units->items[unit].y_um = y_um;
        }
    }
    if (status == SF_OK &&
        sf_reserve(&it->units, &it->unit_capacity, it->unit_count + 1, sizeof *it->units) != 0)
        status = sf_fail_memory(error);
    if (status == SF_OK) it->units[it->unit_count++] = unit;
    return status;
}

static const char *next_text(sf_part *texts)
{
    const char *text = texts->data, *end = memchr(text, '\0', texts->size);
    if (end == NULL) return NULL;
    *texts = (sf_part){end + 1, texts->size - (size_t)(end + 1 - text)};
    return text;
}

static int add_units(lsl *it, sf_part table, sf_error *error)
{
    sf_decoder *decoder = &it->rig.decoder;
    const char *name, *x, *y;
    int status = SF_OK;
    it->unit_count = 0;
    while (status == SF_OK && table.size > 0 && it->unit_count < SF_RIG_MOST_UNITS &&
           (name = next_text(&table)) != NULL && (x = next_text(&table)) != NULL &&
           (y = next_text(&table)) != NULL) {
        double x_um = NAN, y_um = NAN;
        if (!sf_parse_real(x, &x_um) || !sf_parse_real(y, &y_um)) x_um = y_um = NAN;
        status = add_unit(it, name, x_um, y_um, error);
    }
    if (it->unit_count > 0) {
        decoder->given.has_units = true;
        decoder->learns = false;
    }
    return status;
}

static int take_about(lsl *it, const sf_part *parts, sf_error *error)
{
    sf_decoder *decoder = &it->rig.decoder;
    int32_t shape[2];
    char type[32];
    if (it->was_open && !sf_rig_begin_run(&it->rig)) return SF_OK;
    it->was_open = true;
    memcpy(shape, parts[2].data, sizeof shape);
    double rate_hz;
    memcpy(&rate_hz, (const char *)parts[2].data + sizeof shape, sizeof rate_hz);
    snprintf(type, sizeof type, "%.*s", (int)(parts[1].size < sizeof type ? parts[1].size : sizeof type - 1),
             (const char *)parts[1].data);
    it->is_text = shape[1] != 0;
    it->is_read = rate_hz == 0 && shape[0] >= 1 && shape[0] <= (it->is_text ? 1 : 2);
    it->channels = it->is_read ? (uint32_t)shape[0] : 0;
    it->spikes.is_set = false;
    if (!it->is_read) {
        sf_decoder_leave_out(
            decoder,
            "a stream of %s with %d channel%s at %g Hz, expected spikes at irregular times: one "
            "channel, or two of numbers",
            it->is_text ? "texts" : "numbers", (int)shape[0], shape[0] == 1 ? "" : "s", rate_hz);
        return SF_OK;
    }
    if (it->is_text && strcasecmp(type, "Markers") == 0) {
        decoder->given.has_units = true; /* none, and there will be none */
        decoder->learns = false;
    }
    return add_units(it, parts[3], error);
}

/* ---- samples ---- */

static int find_by_number(lsl *it, double number, double neuron, uint32_t *unit, sf_error *error)
{
    char name[48];
    *unit = SF_NO_UNIT;
    if (!(number >= 0 && number < SF_DECODER_MOST_CHANNELS && number == floor(number) &&
          neuron < SF_DECODER_MOST_CHANNELS && neuron == floor(neuron))) {
        sf_decoder_leave_out(&it->rig.decoder, "a spike of unit %g", number);
        return SF_OK;
    }
    if (it->channels == 1 && it->unit_count > 0) {
        *unit = number < (double)it->unit_count ? it->units[(size_t)number] : SF_NO_UNIT;
        it->rig.decoder.batch.out_of_range += *unit == SF_NO_UNIT;
        return SF_OK;
    }
    snprintf(name, sizeof name, neuron > 0 ? "%s%.0f:%.0f" : "%s%.0f", it->channels == 1 ? "u" : "ch", number,
             neuron);
    return sf_rig_find(&it->rig, name, (int32_t)number, unit, error);
}

static int take_spikes(lsl *it, const sf_part *parts, sf_error *error)
{
    size_t count = parts[2].size / sizeof(double);
    int64_t stamp_ns;
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        uint32_t unit;
        double stamp_s = real_at(parts[2], i);
        if (!nanoseconds_of(stamp_s, &stamp_ns)) {
            sf_decoder_leave_out(&it->rig.decoder, "a time stamp of %g s", stamp_s);
            continue;
        }
        status = find_by_number(it, real_at(parts[3], it->channels * i),
                                it->channels == 2 ? real_at(parts[3], 2 * i + 1) : 0, &unit, error);
        int64_t time_ns = time_on(&it->spikes, stamp_ns, it->correction_ns);
        if (status == SF_OK && unit != SF_NO_UNIT) status = sf_rig_spike(&it->rig, unit, time_ns, NAN, error);
    }
    return status;
}

/* "TTL 3 on" */
static bool is_edge(const char *text, unsigned *line, bool *state)
{
    char number[8];
    uint64_t value;
    const char *space = strncmp(text, "TTL ", 4) == 0 ? strchr(text + 4, ' ') : NULL;
    if (space == NULL || (size_t)(space - text) - 4 >= sizeof number) return false;
    snprintf(number, sizeof number, "%.*s", (int)(space - text) - 4, text + 4);
    *state = strcmp(space, " on") == 0;
    if (!sf_parse_uint(number, UINT16_MAX, &value) || (!*state && strcmp(space, " off") != 0)) return false;
    *line = (unsigned)value;
    return true;
}

static int take_text(lsl *it, bool is_marker, const sf_part *parts, sf_error *error)
{
    char text[MOST_TEXT + 1];
    int64_t stamp_ns;
    size_t size = parts[3].size < MOST_TEXT ? parts[3].size : MOST_TEXT;
    uint32_t unit;
    unsigned line;
    bool state;
    memcpy(text, parts[3].data, size);
    text[size] = '\0';
    if (!nanoseconds_of(real_at(parts[2], 0), &stamp_ns)) {
        sf_decoder_leave_out(&it->rig.decoder, "a time stamp of %g s", real_at(parts[2], 0));
        return SF_OK;
    }
    int64_t time_ns = time_on(is_marker ? &it->markers : &it->spikes, stamp_ns, it->correction_ns);
    if (is_marker)
        return is_edge(text, &line, &state) ? sf_rig_ttl(&it->rig, time_ns, line, state, error)
                                            : sf_rig_text(&it->rig, time_ns, text, error);
    int status = sf_rig_find(&it->rig, text, -1, &unit, error);
    return status == SF_OK && unit != SF_NO_UNIT ? sf_rig_spike(&it->rig, unit, time_ns, NAN, error) : status;
}

/* ---- messages ---- */

typedef enum word { ABOUT, SPIKES, NAME, MARKER, NONE } word;

/* Type of a message whose parts have the required form. */
static word word_of(lsl *it, const sf_part *parts, size_t count)
{
    if (count != 4) return NONE;
    if (sf_part_is(parts[0], "about"))
        return parts[2].size == 2 * sizeof(int32_t) + sizeof(double) ? ABOUT : NONE;
    if (parts[1].size != sizeof(double) || parts[2].size == 0 || parts[2].size % sizeof(double) != 0 ||
        !nanoseconds_of(real_at(parts[1], 0), &it->correction_ns))
        return NONE;
    if (sf_part_is(parts[0], "spikes"))
        return it->is_read && !it->is_text && parts[2].size <= MOST_SAMPLES * sizeof(double) &&
                       parts[3].size == it->channels * parts[2].size
                   ? SPIKES
                   : NONE;
    if (parts[2].size != sizeof(double)) return NONE;
    return sf_part_is(parts[0], "name") && it->is_read && it->is_text ? NAME
           : sf_part_is(parts[0], "marker")                           ? MARKER
                                                                      : NONE;
}

/* A jump of the correction means another clock, and so a new run. False: decode the message again. */
static bool follow_clock(lsl *it, word is)
{
    return (is != SPIKES && is != NAME) || is_same_clock(&it->spikes, it->correction_ns) ||
           sf_rig_begin_run(&it->rig);
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    lsl *it = (lsl *)decoder;
    int status = SF_OK;
    sf_rig_begin(&it->rig);
    word is = word_of(it, parts, count);
    if (is == NONE)
        sf_decoder_leave_out(decoder, "a message that is no sample of this stream");
    else if (!follow_clock(it, is))
        return sf_rig_pass(&it->rig);
    else if (is == ABOUT)
        status = take_about(it, parts, error);
    else if (is == SPIKES)
        status = take_spikes(it, parts, error);
    else
        status = take_text(it, is == MARKER, parts, error);
    if (status != SF_OK) return status;
    return decoder->once_more ? SF_OK : sf_rig_end(&it->rig, error);
}

static int open_lsl(sf_decoder *decoder, sf_error *error)
{
    decoder->given.sample_rate_hz = BY_NANOSECONDS;
    return sf_rig_open(decoder, error);
}

static void close_lsl(sf_decoder *decoder)
{
    sf_free(((lsl *)decoder)->units);
    sf_rig_close(decoder);
}

const sf_decoder_kind sf_decoder_lsl = {
    .name = "lsl",
    .size = sizeof(lsl),
    .most_bytes = MOST_BYTES,
    .open = open_lsl,
    .decode = decode,
    .gave = sf_rig_gave,
    .close = close_lsl,
};
