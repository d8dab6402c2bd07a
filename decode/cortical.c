/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cortical Labs CL1, what its WebSocket /_/ws/live_streaming sends: a text in JSON that says what comes, and
 * after most of them the bytes of it. A message here is two parts, a word and what came: "text", "binary", or
 * "passed", whose second part is the length of a message that was too long to be kept; a message "open" of
 * one part says that a connection began.
 *
 * Times are frames since the device started, channels numbers of one byte. Nothing is numbered, so what is
 * lost cannot be counted. The layout is that of _websocket_subprocess.py of the vendor's cl-sdk 1.0.0, whose
 * frames_per_second is the speed at which to show the stream: of a playback at another speed it is not the
 * rate of the timestamps, which stays what it was at first.
 */
#include "decode/fields.h"
#include "decode/rig.h"

#include "core/little.h"
#include "core/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES (4u << 20) /* of a message */
#define USUAL_HZ 25000.0
#define JUMP_S 1.0 /* minimum jump that is reported; a server that is two seconds behind drops events */
#define SAMPLES 75 /* of a spike, float32 */

typedef enum announced { NOTHING, SPIKES, STIMS, ENTRY } announced;

typedef struct cortical {
    sf_rig rig;
    announced next; /* what the bytes that come next are */
    int64_t count;  /* of them */
    bool has_stim;
    int64_t stim;    /* the frame of the last one */
    double shown_hz; /* latest frames_per_second; 0: none yet */
    bool is_paused, foreign_was_told;
    uint64_t speeds, pauses, jumps; /* that were told */
    bool is_anew;                   /* the stream, since the last event */
    bool has_last;                  /* ... */
    int64_t last;                   /* frame of the last event of this connection */
    double ahead_s;                 /* size of the last unexplained jump; 0: none */
    int64_t jumped;                 /* to this frame */
} cortical;

typedef struct header {
    char status[SF_FIELD_TEXT_SIZE], stream[SF_FIELD_TEXT_SIZE];
    int64_t spike_count, stim_count, timestamp, is_paused;
    double hz;
} header;

enum { STATUS, STREAM, SPIKE_COUNT, STIM_COUNT, TIMESTAMP, PAUSED, HZ };

static const sf_field rows[] = {
    [STATUS] = {"status", SF_FIELD_TEXT, offsetof(header, status)},
    [STREAM] = {"data_stream", SF_FIELD_TEXT, offsetof(header, stream)},
    [SPIKE_COUNT] = {"spike_count", SF_FIELD_WHOLE, offsetof(header, spike_count)},
    [STIM_COUNT] = {"stim_count", SF_FIELD_WHOLE, offsetof(header, stim_count)},
    [TIMESTAMP] = {"timestamp", SF_FIELD_WHOLE, offsetof(header, timestamp)},
    [PAUSED] = {"is_paused", SF_FIELD_WHOLE, offsetof(header, is_paused)},
    [HZ] = {"frames_per_second", SF_FIELD_REAL, offsetof(header, hz)},
};

static bool has(const sf_fields *fields, int row)
{
    return (fields->found >> row & 1) != 0;
}

/* ---- timing ---- */

/* Limits logging, because a server may report the same thing endlessly. */
static bool is_due(uint64_t count)
{
    return (count & (count - 1)) == 0;
}

/* The first stated rate is that of the timestamps. */
static void take_rate(cortical *it, const header *told)
{
    const char *name = it->rig.decoder.name;
    double known = (double)it->rig.rate_uhz * 1e-6;
    if ((it->shown_hz != 0 && told->hz == it->shown_hz) || !sf_rig_set_rate(&it->rig, told->hz)) return;
    it->shown_hz = told->hz;
    if (known == 0 && told->hz != USUAL_HZ)
        sf_log(SF_LOG_WARNING,
               "%s: says that it has %g frames a second, a CL1 has %g: where it is a playback at another "
               "speed, set "
               "sample_rate_hz to %g",
               name, told->hz, USUAL_HZ, USUAL_HZ);
    else if (known != 0 && told->hz != known && is_due(++it->speeds))
        sf_log(SF_LOG_WARNING,
               "%s: says that it shows %g frames a second; timestamps are read at %g, as before: it is a "
               "playback "
               "at another speed, or sample_rate_hz is wrong",
               name, told->hz, known);
}

static double rate_of(const cortical *it)
{
    return it->rig.rate_uhz != 0 ? (double)it->rig.rate_uhz * 1e-6 : USUAL_HZ;
}

static void note_jump(cortical *it, double ahead_s)
{
    sf_decoder *decoder = &it->rig.decoder;
    it->ahead_s = 0;
    decoder->batch.gaps++;
    if (is_due(++it->jumps))
        sf_log(SF_LOG_WARNING,
               "%s: the stream was set anew and goes on %.3f s ahead: how much of it was not sent cannot be "
               "known",
               decoder->name, ahead_s);
}

/* A server that fell behind, or whose time was moved, says that the stream is set anew, before the first
 * events from there or after them; so it does at its first frame, and where it is paused. */
static void note_anew(cortical *it, bool is_of_pause)
{
    it->is_anew = true;
    if (it->ahead_s > 0 && !is_of_pause && it->last >= it->jumped &&
        (double)(it->last - it->jumped) < JUMP_S * rate_of(it))
        note_jump(it, it->ahead_s);
}

static void take_timing(cortical *it, const sf_fields *fields, const header *told)
{
    sf_rig *rig = &it->rig;
    bool was_paused = it->is_paused;
    sf_rig_hear(rig);
    if (has(fields, HZ))
        take_rate(it, told);
    else
        sf_decoder_leave_out(&rig->decoder, "a status '%s' without frames_per_second", told->status);
    if (has(fields, PAUSED)) it->is_paused = told->is_paused != 0;
    if (it->is_paused != was_paused && is_due(++it->pauses))
        sf_log(SF_LOG_WARNING, "%s: %s", rig->decoder.name, it->is_paused ? "is paused" : "goes on");
    if (strcmp(told->status, "reset") == 0) note_anew(it, it->is_paused != was_paused);
}

/* Follows the frame number of a spike or stimulus. */
static void follow(cortical *it, int64_t frame)
{
    double ahead_s = it->has_last ? (double)(frame - it->last) / rate_of(it) : 0;
    if (ahead_s > JUMP_S && it->is_anew)
        note_jump(it, ahead_s);
    else if (ahead_s > JUMP_S) {
        it->ahead_s = ahead_s;
        it->jumped = frame;
    }
    it->is_anew = false;
    it->has_last = true;
    it->last = frame;
}

/* ---- what was announced ---- */

static bool is_count(int64_t count, size_t bytes_each)
{
    return count >= 0 && (uint64_t)count <= MOST_BYTES / bytes_each;
}

static void announce(cortical *it, announced what, bool is_told, int64_t count)
{
    if (!is_told || !is_count(count, sizeof(uint64_t)))
        sf_decoder_leave_out(&it->rig.decoder, "%s of which it is not said how many",
                             what == SPIKES ? "spikes" : "stims");
    it->next = !is_told || !is_count(count, sizeof(uint64_t)) ? ENTRY : count > 0 ? what : NOTHING;
    it->count = count;
}

static int take_entry(cortical *it, const sf_fields *fields, const header *told, sf_error *error)
{
    it->next = ENTRY;
    if (has(fields, STREAM) && told->stream[0] != '\0' && has(fields, TIMESTAMP))
        return sf_rig_text(&it->rig, told->timestamp, told->stream, error);
    sf_decoder_leave_out(&it->rig.decoder, "an entry of a data stream without its name or its time");
    return SF_OK;
}

/* Unknown statuses are skipped. User-published attributes may be invalid JSON (such as NaN): fields found
 * before the fault count. */
static int take_text(cortical *it, sf_part text, sf_error *error)
{
    header told = {0};
    sf_fields fields = {.rows = rows, .count = sizeof rows / sizeof rows[0]};
    sf_fields_from_json(&fields, &told, text);
    if (it->next == SPIKES || it->next == STIMS)
        sf_decoder_leave_out(&it->rig.decoder, "%s were announced and did not come",
                             it->next == SPIKES ? "spikes" : "stims");
    it->next = ENTRY;
    if (!has(&fields, STATUS)) {
        sf_decoder_leave_out(&it->rig.decoder, "a text without a status: %zu bytes", text.size);
        return SF_OK;
    }
    if (strcmp(told.status, "reset") == 0 || strcmp(told.status, "timing") == 0) {
        it->next = NOTHING;
        take_timing(it, &fields, &told);
    } else if (strcmp(told.status, "cl_spikes") == 0)
        announce(it, SPIKES, has(&fields, SPIKE_COUNT), told.spike_count);
    else if (strcmp(told.status, "cl_stims") == 0)
        announce(it, STIMS, has(&fields, STIM_COUNT), told.stim_count);
    else if (strcmp(told.status, "new_data") == 0)
        return take_entry(it, &fields, &told, error);
    else
        sf_rig_hear(&it->rig);
    return SF_OK;
}

/* ---- bytes ---- */

/* Timestamps and channels; each section begins at a multiple of eight bytes. */
typedef struct events {
    const unsigned char *frames, *channels, *samples;
    size_t count;
} events;

/* False if the length of the bytes does not match the number of events. */
static bool see_events(events *to, sf_part bytes, size_t count, size_t sample_bytes)
{
    size_t channels = (count + 7) / 8 * 8;
    const unsigned char *begin = bytes.data;
    *to = (events){begin, begin + 8 * count, begin + 8 * count + channels, count};
    return bytes.size == 8 * count + channels + sample_bytes * count;
}

static bool take_frame(cortical *it, const events *all, size_t i, int64_t *frame)
{
    *frame = (int64_t)sf_little_64(all->frames + 8 * i);
    if (*frame >= 0) {
        follow(it, *frame);
        return true;
    }
    sf_decoder_leave_out(&it->rig.decoder, "a timestamp beyond 2^63 frames");
    return false;
}

static void tell_foreign(cortical *it, unsigned channel)
{
    if (it->foreign_was_told) return;
    it->foreign_was_told = true;
    sf_log(SF_LOG_WARNING,
           "%s: channel %u is none of the electrodes that were given: its spikes are left out, as those of "
           "others "
           "that are none will be (out_of_range)",
           it->rig.decoder.name, channel);
}

/* A channel is named by its number, which could be the name of another electrode in an electrode file: with a
 * file, the number is used as the channel number. */
static int find_unit(cortical *it, unsigned channel, uint32_t *unit, sf_error *error)
{
    const sf_decoder_given *given = &it->rig.decoder.given;
    char name[8];
    if (given->channels == 0) {
        snprintf(name, sizeof name, "%u", channel);
        return sf_rig_find(&it->rig, name, -1, unit, error);
    }
    *unit = channel < given->channels ? given->of_channel[channel] : SF_NO_UNIT;
    if (*unit == SF_NO_UNIT) {
        it->rig.decoder.batch.out_of_range++;
        tell_foreign(it, channel);
    }
    return SF_OK;
}

static int take_spikes(cortical *it, sf_part bytes, sf_error *error)
{
    const size_t sample_bytes = SAMPLES * sizeof(float);
    events all;
    int status = SF_OK;
    if (!see_events(&all, bytes, (size_t)it->count, sample_bytes)) {
        sf_decoder_leave_out(&it->rig.decoder, "%zu bytes for %" PRId64 " spikes", bytes.size, it->count);
        return SF_OK;
    }
    for (size_t i = 0; i < all.count && status == SF_OK; i++) {
        int64_t frame;
        uint32_t unit;
        if (!take_frame(it, &all, i, &frame)) continue;
        status = find_unit(it, all.channels[i], &unit, error);
        if (status == SF_OK && unit != SF_NO_UNIT)
            status = sf_rig_spike(
                &it->rig, unit, frame,
                sf_rig_amplitude(all.samples + sample_bytes * i, sample_bytes, SF_RIG_FLOAT32), error);
    }
    return status;
}

/* A stimulus becomes a marker of its channel; all stimuli of one frame together become one marker. */
static int take_stims(cortical *it, sf_part bytes, sf_error *error)
{
    events all;
    int status = SF_OK;
    if (!see_events(&all, bytes, (size_t)it->count, 0)) {
        sf_decoder_leave_out(&it->rig.decoder, "%zu bytes for %" PRId64 " stims", bytes.size, it->count);
        return SF_OK;
    }
    for (size_t i = 0; i < all.count && status == SF_OK; i++) {
        int64_t frame;
        char label[16];
        if (!take_frame(it, &all, i, &frame)) continue;
        snprintf(label, sizeof label, "stim %u", all.channels[i]);
        if (!it->has_stim || frame != it->stim) status = sf_rig_text(&it->rig, frame, "stim", error);
        it->has_stim = true;
        it->stim = frame;
        if (status == SF_OK) status = sf_rig_text(&it->rig, frame, label, error);
    }
    return status;
}

static int take_binary(cortical *it, sf_part bytes, sf_error *error)
{
    announced what = it->next;
    it->next = NOTHING;
    sf_rig_hear(&it->rig);
    if (what == NOTHING)
        sf_decoder_leave_out(&it->rig.decoder, "%zu bytes that were not announced", bytes.size);
    return what == SPIKES  ? take_spikes(it, bytes, error)
           : what == STIMS ? take_stims(it, bytes, error)
                           : SF_OK;
}

/* Only spikes and stimuli count as lost in a message that was too long. */
static int pass_over(cortical *it, sf_part length)
{
    uint64_t bytes = 0;
    if (length.size == sizeof bytes) memcpy(&bytes, length.data, sizeof bytes);
    if (it->next != ENTRY)
        sf_decoder_leave_out(&it->rig.decoder, "a message of %" PRIu64 " bytes: at most %u are read", bytes,
                             MOST_BYTES);
    it->next = ENTRY;
    return SF_OK;
}

static int take(cortical *it, const sf_part *parts, size_t count, sf_error *error)
{
    if (count == 1 && sf_part_is(parts[0], "open")) {
        it->next = NOTHING;
        it->has_stim = it->has_last = it->is_anew = false;
        it->ahead_s = 0;
        return SF_OK;
    }
    if (count == 2 && sf_part_is(parts[0], "text")) return take_text(it, parts[1], error);
    if (count == 2 && sf_part_is(parts[0], "binary")) return take_binary(it, parts[1], error);
    if (count == 2 && sf_part_is(parts[0], "passed")) return pass_over(it, parts[1]);
    sf_decoder_leave_out(&it->rig.decoder, "no message of a WebSocket");
    return SF_OK;
}

static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    cortical *it = (cortical *)decoder;
    sf_rig_begin(&it->rig);
    int status = take(it, parts, count, error);
    return status == SF_OK ? sf_rig_end(&it->rig, error) : status;
}

const sf_decoder_kind sf_decoder_cortical = {
    .name = "cortical",
    .size = sizeof(cortical),
    .most_bytes = MOST_BYTES + 16,
    .open = sf_rig_open,
    .decode = decode,
    .gave = sf_rig_gave,
    .close = sf_rig_close,
};
