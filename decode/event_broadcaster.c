/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Event Broadcaster of the Open Ephys GUI: the kind of an event in two bytes, and the event as JSON or as
 * the GUI itself keeps it. It sends all streams of the GUI, of which one is taken, that of the first spike;
 * and it numbers no messages, so that what is lost on the way is not known. Raw events have a number for
 * their stream's name, which the GUI gives anew each time that it is started or its signal chain is loaded:
 * after a pause, numbers that are all new are of the same streams in the same order. JSON tells the sampling
 * rate. Raw events do not; where it was not given their time stamps in seconds are taken.
 */
#include "core/clock.h"
#include "core/little.h"
#include "core/log.h"
#include "decode/chosen_stream.h"
#include "decode/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (4u << 20)
#define SPIKE_BASE 26
#define TTL_BYTES 34
#define CHANNELS 4 /* of an electrode, at most: amp1 to amp4 */

#define MOST_STREAMS 16
/* Without any event for this long, acquisition may have been stopped. */
#define PAUSE_NS (INT64_C(500) * 1000000)
#define SETTLE_NS INT64_C(1000000000) /* without an old number: all are new */

enum { TTL = 0, SPIKE = 1 };

/* Stream numbers seen in one acquisition. */
typedef struct numbers {
    uint16_t of[MOST_STREAMS];
    size_t count;
} numbers;

typedef struct broadcaster {
    sf_rig rig;
    sf_chosen_stream choice;
    bool by_seconds; /* times are the time stamps of raw events */
    numbers present, next;
    int64_t heard_ns, next_ns; /* arrival of the newest raw event, and of the first of `next`; 0: none */
} broadcaster;

/* What one event says, in either form. */
typedef struct event {
    char type[SF_FIELD_TEXT_SIZE], stream[SF_FIELD_TEXT_SIZE], electrode[SF_FIELD_TEXT_SIZE];
    int64_t sample, sorted_id, line, state;
    bool is_raw;
    uint16_t number; /* of the stream, of a raw event */
    double rate, seconds, amplitudes[CHANNELS];
    float amplitude;
} event;

enum { TYPE, STREAM, ELECTRODE, SAMPLE, SORTED, LINE, STATE, RATE, AMPLITUDES };

static const sf_field rows[] = {
    [TYPE] = {"event_type", SF_FIELD_TEXT, offsetof(event, type)},
    [STREAM] = {"stream", SF_FIELD_TEXT, offsetof(event, stream)},
    [ELECTRODE] = {"electrode", SF_FIELD_TEXT, offsetof(event, electrode)},
    [SAMPLE] = {"sample_number", SF_FIELD_WHOLE, offsetof(event, sample)},
    [SORTED] = {"sorted_id", SF_FIELD_WHOLE, offsetof(event, sorted_id)},
    [LINE] = {"line", SF_FIELD_WHOLE, offsetof(event, line)},
    [STATE] = {"state", SF_FIELD_WHOLE, offsetof(event, state)},
    [RATE] = {"sample_rate", SF_FIELD_REAL, offsetof(event, rate)},
    [AMPLITUDES] = {"amp1", SF_FIELD_REAL, offsetof(event, amplitudes[0])},
    {"amp2", SF_FIELD_REAL, offsetof(event, amplitudes[1])},
    {"amp3", SF_FIELD_REAL, offsetof(event, amplitudes[2])},
    {"amp4", SF_FIELD_REAL, offsetof(event, amplitudes[3])},
};

#define BIT(row) (UINT32_C(1) << (row))

/* ---- JSON ---- */

/* The sender reports amplitudes as positive troughs; synfire uses negative ones. False if a key is missing.
 */
static bool read_json(event *it, int kind, sf_part body)
{
    sf_fields fields = {.rows = rows, .count = sizeof rows / sizeof rows[0]};
    uint32_t needed = BIT(TYPE) | BIT(SAMPLE) | (kind == SPIKE ? BIT(ELECTRODE) : BIT(LINE) | BIT(STATE));
    if (sf_fields_from_json(&fields, it, body) == SF_DOCUMENT_BAD || (fields.found & needed) != needed ||
        strcmp(it->type, kind == SPIKE ? "spike" : "ttl") != 0)
        return false;
    it->amplitude = NAN;
    for (int i = 0; i < CHANNELS; i++)
        if ((fields.found & BIT(AMPLITUDES + i)) != 0)
            it->amplitude = fminf(it->amplitude, (float)-it->amplitudes[i]);
    it->seconds = -1;
    return true;
}

/* ---- raw ---- */

/* The waveforms follow the thresholds of as many channels as the electrode's type has; a template's are not
 * known. */
static float raw_amplitude(const unsigned char *bytes, size_t size)
{
    static const size_t channels_of[] = {0, 1, 2, 4};
    size_t channels = bytes[1] < 4 ? channels_of[bytes[1]] : 0;
    size_t begin = SPIKE_BASE + 4 * channels;
    return channels > 0 && begin <= size ? sf_rig_amplitude(bytes + begin, size - begin, SF_RIG_FLOAT32)
                                         : NAN;
}

static bool read_raw(event *it, int kind, sf_part body)
{
    const unsigned char *bytes = body.data;
    unsigned sorted;
    if (kind == SPIKE ? body.size < SPIKE_BASE || bytes[0] != 2 || (body.size - SPIKE_BASE) % 4 != 0
                      : body.size < TTL_BYTES || bytes[0] != 1 || bytes[1] != 3)
        return false;
    it->sample = (int64_t)sf_little_64(bytes + 8);
    it->seconds = sf_little_real(bytes + 16);
    sorted = sf_little_16(bytes + 24);
    it->is_raw = true;
    it->number = sf_little_16(bytes + 4);
    snprintf(it->stream, sizeof it->stream, "%u", it->number);
    snprintf(it->electrode, sizeof it->electrode, "Electrode %u", sf_little_16(bytes + 6) + 1u);
    it->sorted_id = kind == SPIKE ? sorted : 0;
    it->line = kind == TTL ? bytes[24] : 0;
    it->state = kind == TTL ? bytes[25] : 0;
    if (kind == SPIKE) it->amplitude = raw_amplitude(bytes, body.size);
    return true;
}

/* ---- numbers of streams ---- */

static bool has_number(const numbers *all, uint16_t number)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->of[i] == number) return true;
    return false;
}

/* Inserts a number in ascending order, unless there are MOST_STREAMS already. */
static void add_number(numbers *all, uint16_t number)
{
    if (has_number(all, number) || all->count == MOST_STREAMS) return;
    size_t at = all->count++;
    for (; at > 0 && all->of[at - 1] > number; at--)
        all->of[at] = all->of[at - 1];
    all->of[at] = number;
}

static void go_over(broadcaster *it)
{
    sf_decoder *decoder = &it->rig.decoder;
    char *read = decoder->given.stream;
    size_t place = 0;
    while (place < it->present.count && (int)it->present.of[place] < atoi(read))
        place++;
    uint16_t number = it->next.of[place < it->next.count ? place : it->next.count - 1];
    it->present = it->next;
    it->next.count = 0;
    if (read[0] == '\0') return;
    if (it->choice.is_chosen) {
        sf_log(SF_LOG_WARNING,
               "%s: the GUI numbers its streams anew, and `stream` chooses '%.80s', which none is now: "
               "nothing is read; the names that JSON has stay",
               decoder->name, read);
        return;
    }
    sf_log(SF_LOG_WARNING,
           "%s: the GUI numbers its streams anew: '%u' is read from here on in place of '%.80s'; the names "
           "that JSON has stay",
           decoder->name, number, read);
    snprintf(read, sizeof decoder->given.stream, "%u", number);
}

/* Whether it is still unknown which of the new numbers belongs to the stream that is read. */
static bool is_unsettled(broadcaster *it, uint16_t number)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    bool paused = it->heard_ns != 0 && now_ns - it->heard_ns >= PAUSE_NS;
    it->heard_ns = now_ns;
    if (has_number(&it->present, number) || (it->next.count == 0 && !paused)) {
        add_number(&it->present, number);
        for (size_t i = 0; i < it->next.count; i++)
            add_number(&it->present, it->next.of[i]);
        it->next.count = 0;
        return false;
    }
    it->next_ns = it->next.count == 0 ? now_ns : it->next_ns;
    add_number(&it->next, number);
    if (now_ns - it->next_ns >= SETTLE_NS) go_over(it);
    return it->next.count > 0;
}

/* ---- what it comes to ---- */

/* Determines the time of an event; false if that is impossible. */
static bool place(broadcaster *it, event *told)
{
    sf_rig *rig = &it->rig;
    bool has_seconds = told->seconds >= 0 && told->seconds < 1e9;
    if (told->rate != 0 && !sf_rig_hear_rate(rig, told->rate)) return false;
    if (rig->rate_uhz == 0 && has_seconds) {
        it->by_seconds = true;
        sf_rig_set_rate(rig, 1e9);
    }
    if (it->by_seconds) told->sample = llround(has_seconds ? told->seconds * 1e9 : -1);
    if (it->by_seconds && !has_seconds) sf_decoder_leave_out(&rig->decoder, "an event without a time stamp");
    return !it->by_seconds || has_seconds;
}

static int take(broadcaster *it, event *told, int kind, sf_error *error)
{
    uint32_t unit;
    if (told->is_raw && is_unsettled(it, told->number)) {
        sf_rig_hear(&it->rig);
        it->rig.decoder.batch.other_streams++;
        return SF_OK;
    }
    /* A stream with TTL events only may come first, so a spike chooses the stream. */
    if (!sf_chosen_stream_reads(&it->choice, &it->rig, told->stream, kind == SPIKE) || !place(it, told))
        return SF_OK;
    if (kind == TTL) {
        if (told->line >= 0 && told->line <= UINT16_MAX && (told->state == 0 || told->state == 1))
            return sf_rig_ttl(&it->rig, told->sample, (unsigned)told->line, told->state == 1, error);
        sf_decoder_leave_out(&it->rig.decoder, "a TTL event of a line or state that there is not");
        return SF_OK;
    }
    int status = sf_rig_find_electrode(&it->rig, told->electrode, told->sorted_id, &unit, error);
    if (status != SF_OK || unit == SF_NO_UNIT) return status;
    return sf_rig_spike(&it->rig, unit, told->sample, told->amplitude, error);
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    broadcaster *it = (broadcaster *)decoder;
    uint16_t kind = UINT16_MAX;
    event told = {0};
    sf_rig_begin(&it->rig);
    if (count == 2 && parts[0].size == sizeof kind) kind = sf_little_16(parts[0].data);
    bool is_json = count == 2 && parts[1].size > 0 && *(const char *)parts[1].data == '{';
    if (kind > SPIKE)
        sf_decoder_leave_out(decoder, "no message of Open Ephys' Event Broadcaster: %zu parts", count);
    else if (!(is_json ? read_json(&told, kind, parts[1]) : read_raw(&told, kind, parts[1])))
        sf_decoder_leave_out(decoder, "a %s event of %zu bytes that cannot be read", is_json ? "JSON" : "raw",
                             parts[1].size);
    else {
        int status = take(it, &told, kind, error);
        if (status != SF_OK) return status;
    }
    return sf_rig_end(&it->rig, error);
}

static int open_broadcaster(sf_decoder *decoder, sf_error *error)
{
    sf_chosen_stream_open(&((broadcaster *)decoder)->choice, decoder);
    return sf_rig_open(decoder, error);
}

const sf_decoder_kind sf_decoder_event_broadcaster = {
    .name = "event-broadcaster",
    .size = sizeof(broadcaster),
    .most_bytes = MOST_BYTES,
    .open = open_broadcaster,
    .decode = decode,
    .gave = sf_rig_gave,
    .close = sf_rig_close,
};
