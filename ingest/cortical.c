/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cortical Labs CL1, or its simulator. `play` acts as such a server: for every 50 ms of the stream it sends
 * the spikes, then the stimuli, then all other markers, each as a text and bytes. Units are the electrodes of
 * the array in order, or the channels that their names give; frame 0 is the start of the recording. Markers
 * such as `stim 5` are stimuli, other texts entries of a data stream of that name; TTL edges are not sent.
 */
#include "ingest/cortical.h"

#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"
#include "ingest/live_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FRAMES_HZ 25000
#define WINDOW 1250 /* frames, 50 ms */
#define SAMPLES 75
#define TROUGH 25         /* the sample of the crossing */
#define MOST_AT_ONCE 4096 /* spikes of a message */
#define GRID 8
#define CHANNELS (GRID * GRID)
#define MOST_CHANNELS 256
#define REFERENCE 4
#define PITCH_UM 200 /* of the array 60MEA200/30iR, as replay/cortical.c has it */

/* ---- the array ---- */

static bool is_electrode(int channel)
{
    return channel != 0 && channel != GRID - 1 && channel != CHANNELS - GRID && channel != CHANNELS - 1 &&
           channel != REFERENCE;
}

/* All channels except the four grounds and the reference. */
static int tell_array(sf_electrodes *array, sf_error *error)
{
    array->channels = sf_alloc(CHANNELS, sizeof *array->channels);
    int status = array->channels != NULL ? SF_OK : sf_fail_memory(error);
    for (int i = 0; i < CHANNELS && status == SF_OK; i++) {
        char name[12];
        if (!is_electrode(i)) continue;
        snprintf(name, sizeof name, "%d", i);
        array->channels[array->units.count] = i;
        const sf_unit unit = {.name = name,
                              .x_um = (double)(i / GRID) * PITCH_UM,
                              .y_um = (double)(i % GRID) * PITCH_UM,
                              .kind = SF_UNIT_MULTI_UNIT,
                              .electrode = i};
        status = sf_units_add(&array->units, &unit, error);
    }
    return status;
}

/* ---- playing ---- */

/* Until a window ends, sender->payload holds its spikes and sender->frame its markers. */

static int64_t frame_of(const sf_sender *sender, int64_t time_ns)
{
    return sf_sender_sample(time_ns - sender->about->recorded.start_ns, FRAMES_HZ);
}

/* The channel that a unit is named by, or -1. */
static int named_channel(const sf_unit *unit)
{
    uint64_t channel;
    return sf_parse_uint(unit->name, MOST_CHANNELS - 1, &channel) ? (int)channel : -1;
}

static bool are_channels(const sf_units *units)
{
    for (size_t i = 0; i < units->count; i++)
        if (named_channel(&units->items[i]) < 0) return false;
    return true;
}

static int nth_electrode(size_t index)
{
    int channel = 0;
    for (size_t before = 0;; channel++)
        if (is_electrode(channel) && before++ == index) return channel;
}

/* sender->ttl: whether units are named by their channels. */
static unsigned char channel_of(const sf_sender *sender, uint32_t unit)
{
    const sf_units *units = &sender->about->units;
    return (unsigned char)(sender->ttl != 0 ? named_channel(&units->items[unit]) : nth_electrode(unit));
}

static int put(sf_sender *sender, const char *stream, const sf_text *text, sf_part bytes, sf_error *error)
{
    if (text->failed) return sf_fail_memory(error);
    return sf_sender_put(sender, (sf_part[]){{stream, strlen(stream)}, {text->data, text->length}, bytes}, 3,
                         error);
}

/* {"status":STATUS,COUNT:n} and the bytes. */
static int put_counted(sf_sender *sender, const char *status, const char *count_name, size_t count,
                       const sf_text *bytes, sf_error *error)
{
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "status", status);
    sf_json_uint(&json, count_name, count);
    sf_json_end_object(&json);
    int result = bytes->failed ? sf_fail_memory(error)
                               : put(sender, status, &text, (sf_part){bytes->data, bytes->length}, error);
    sf_text_free(&text);
    return result;
}

static void append_frame(sf_text *to, const sf_sender *sender, int64_t time_ns)
{
    const uint64_t frame = (uint64_t)frame_of(sender, time_ns);
    sf_text_append(to, (const char *)&frame, sizeof frame);
}

/* Sections begin at multiples of eight bytes. */
static void pad(sf_text *to)
{
    static const char zeros[8];
    sf_text_append(to, zeros, (8 - to->length % 8) % 8);
}

/* Only the extreme of a waveform is known. */
static void append_waveform(sf_text *to, float amplitude)
{
    float samples[SAMPLES];
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = isfinite(amplitude) ? 0 : NAN;
    samples[TROUGH] = amplitude;
    sf_text_append(to, (const char *)samples, sizeof samples);
}

static int put_spikes(sf_sender *sender, const sf_spike *spikes, size_t count, sf_error *error)
{
    sf_text bytes = {0};
    for (size_t i = 0; i < count; i++)
        append_frame(&bytes, sender, spikes[i].time_ns);
    for (size_t i = 0; i < count; i++) {
        const char channel = (char)channel_of(sender, spikes[i].unit);
        sf_text_append(&bytes, &channel, 1);
    }
    pad(&bytes);
    for (size_t i = 0; i < count; i++)
        append_waveform(&bytes, spikes[i].amplitude);
    int status = put_counted(sender, SF_CORTICAL_SPIKES, "spike_count", count, &bytes, error);
    sf_text_free(&bytes);
    return status;
}

/* Parses `stim 5`, a stimulus of channel 5; false for any other marker. */
static bool is_stim(const sf_marker *marker, unsigned char *channel)
{
    uint64_t number;
    bool is_one = marker->kind == SF_MARKER_TEXT && strncmp(marker->text, "stim ", 5) == 0 &&
                  sf_parse_uint(marker->text + 5, MOST_CHANNELS - 1, &number);
    if (is_one) *channel = (unsigned char)number;
    return is_one;
}

static int put_stims(sf_sender *sender, const sf_marker *markers, size_t count, sf_error *error)
{
    sf_text bytes = {0}, channels = {0};
    unsigned char channel;
    for (size_t i = 0; i < count; i++)
        if (is_stim(&markers[i], &channel)) {
            append_frame(&bytes, sender, markers[i].time_ns);
            sf_text_append(&channels, (const char *)&channel, 1);
        }
    size_t stims = channels.length;
    sf_text_append(&bytes, channels.data != NULL ? channels.data : "", channels.length);
    bytes.failed |= channels.failed;
    pad(&bytes);
    int status = stims > 0 || bytes.failed
                     ? put_counted(sender, SF_CORTICAL_STIMS, "stim_count", stims, &bytes, error)
                     : SF_OK;
    sf_text_free(&bytes);
    sf_text_free(&channels);
    return status;
}

/* The data of an entry is MessagePack; this entry's is empty. */
static int put_entry(sf_sender *sender, const sf_marker *marker, sf_error *error)
{
    static const char nil = (char)0xc0;
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "status", "new_data");
    sf_json_string(&json, "data_stream", marker->text);
    sf_json_int(&json, "timestamp", frame_of(sender, marker->time_ns));
    sf_json_end_object(&json);
    int status = put(sender, marker->text, &text, (sf_part){&nil, 1}, error);
    sf_text_free(&text);
    return status;
}

static int put_entries(sf_sender *sender, const sf_marker *markers, size_t count, sf_error *error)
{
    unsigned char channel;
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        if (markers[i].kind == SF_MARKER_TEXT && !is_stim(&markers[i], &channel) &&
            strcmp(markers[i].text, "stim") != 0 && markers[i].text[0] != '\0')
            status = put_entry(sender, &markers[i], error);
    return status;
}

/* What waits goes out. */
static int put_window(sf_sender *sender, sf_error *error)
{
    if (sender->payload.failed || sender->frame.failed) return sf_fail_memory(error);
    const sf_spike *spikes = (const void *)sender->payload.data;
    const sf_marker *markers = (const void *)sender->frame.data;
    size_t spike_count = sender->payload.length / sizeof *spikes,
           count = sender->frame.length / sizeof *markers;
    int status = SF_OK;
    for (size_t at = 0; at < spike_count && status == SF_OK; at += MOST_AT_ONCE)
        status = put_spikes(sender, spikes + at,
                            spike_count - at < MOST_AT_ONCE ? spike_count - at : MOST_AT_ONCE, error);
    if (status == SF_OK) status = put_stims(sender, markers, count, error);
    if (status == SF_OK) status = put_entries(sender, markers, count, error);
    sf_text_clear(&sender->payload);
    sf_text_clear(&sender->frame);
    return status;
}

/* Sends the waiting window if this time lies in another one. */
static int enter_window(sf_sender *sender, int64_t time_ns, sf_error *error)
{
    uint64_t window = (uint64_t)frame_of(sender, time_ns) / WINDOW;
    if (window <= sender->sample) return SF_OK;
    sender->sample = window;
    return put_window(sender, error);
}

static int keep_spike(sf_sender *sender, const sf_spike *spike, sf_error *error)
{
    int status = enter_window(sender, spike->time_ns, error);
    sf_text_append(&sender->payload, (const char *)spike, sizeof *spike);
    return status;
}

static int keep_marker(sf_sender *sender, const sf_marker *marker, sf_error *error)
{
    int status = enter_window(sender, marker->time_ns, error);
    sf_text_append(&sender->frame, (const char *)marker, sizeof *marker);
    return status;
}

/* Sends a window once the clock of the batch has passed its end. */
static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    size_t spike = 0, marker = 0;
    int status = SF_OK;
    while (status == SF_OK && (spike < batch->spike_count || marker < batch->marker_count)) {
        bool marker_next =
            marker < batch->marker_count &&
            (spike == batch->spike_count || batch->markers[marker].time_ns <= batch->spikes[spike].time_ns);
        status = marker_next ? keep_marker(sender, &batch->markers[marker++], error)
                             : keep_spike(sender, &batch->spikes[spike++], error);
    }
    return status == SF_OK ? enter_window(sender, sender->clock_ns, error) : status;
}

static int end(sf_sender *sender, sf_error *error)
{
    return put_window(sender, error);
}

/* What whoever connects is told first. */
static int greet(sf_sender *sender, sf_error *error)
{
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "status", "reset");
    sf_json_int(&json, "frames_per_second", FRAMES_HZ);
    sf_json_bool(&json, "reset_visualiser", false);
    sf_json_bool(&json, "is_paused", false);
    sf_json_end_object(&json);
    int status = text.failed ? sf_fail_memory(error)
                             : sf_sender_put(sender, &(sf_part){text.data, text.length}, 1, error);
    sf_text_free(&text);
    return status;
}

static int begin(sf_sender *sender, sf_error *error)
{
    const sf_units *units = &sender->about->units;
    const size_t most = CHANNELS - 5;
    sender->ttl = are_channels(units);
    if (sender->ttl == 0 && units->count > most)
        return sf_fail(error, SF_DATA, sender->settings.name,
                       "found %zu units, the array of a CL1 has %zu electrodes", units->count, most);
    return greet(sender, error);
}

static const sf_sender_protocol sender = {.endpoint = "ws://127.0.0.1:1025",
                                          .sending = &sf_sending_cortical,
                                          .begin = begin,
                                          .batch = batch,
                                          .end = end};

/* ---- the source ---- */

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "ws://127.0.0.1:1025",
                                          .timeout_s = 10,
                                          .electrodes = "array",
                                          .learn_s = 5,
                                          .markers = "none"};

static const sf_key keys[] = {
    SF_LIVE_ENDPOINT("ws://HOST:PORT, or with the path where it is not /_/ws/live_streaming"),
    SF_LIVE_TEXT("data_streams", markers, "of the application: names with commas; each entry is a marker"),
    SF_LIVE_ELECTRODES("array: the 59 of a CL1's array, with their places; learn: those that fire in the "
                       "first learn_s; or a file"),
    SF_LIVE_REAL("sample_rate_hz", sample_rate_hz, 0, 1e9, "0: frames a second, as it says at first"),
    {0}};

const sf_protocol sf_protocol_cortical = {
    .source = {.settings = {"cortical", keys, sizeof(sf_live_settings), &defaults,
                            "a CL1 of Cortical Labs, or its simulator"},
               .descriptors = 1,
               SF_LIVE_SOURCE},
    .name = "cortical",
    .system = "Cortical Labs CL1",
    .transport = &sf_transport_cortical,
    .sender = &sender,
    .array = tell_array,
    .start = "a program on the CL1, or one with its simulator, whose visualisation is on %s",
    .silent = "let a program open its neurons (`with cl.open() as neurons`), and see that its playback is "
              "not paused",
};
