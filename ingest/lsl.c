/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lab Streaming Layer. `play` opens an outlet for spikes and one for markers: units are numbers, with names
 * and positions in the outlet's description; TTL edges are "TTL 3 on" and "TTL 3 off".
 */
#include "ingest/lsl.h"

#include "core/error.h"
#include "ingest/live_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int sf_lsl_parse(sf_lsl_query *query, const char *endpoint, sf_error *error)
{
    const char *begin = endpoint + strlen("lsl://");
    const char *equals = strncmp(endpoint, "lsl://", 6) == 0 ? strchr(begin, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - begin) : 0;
    if (length == 0 || length >= sizeof query->property || equals[1] == '\0' ||
        strlen(equals + 1) >= sizeof query->value || strpbrk(begin, "'\"[]()") != NULL)
        return sf_fail(error, SF_USAGE, endpoint,
                       "is no stream of LSL: expected lsl://PROPERTY=VALUE, as lsl://type=Spikes or "
                       "lsl://name=NAME");
    snprintf(query->property, sizeof query->property, "%.*s", (int)length, begin);
    snprintf(query->value, sizeof query->value, "%s", equals + 1);
    return SF_OK;
}

/* ---- the player ---- */

static int put(sf_sender *sender, const char *word, sf_part second, sf_part third, sf_error *error)
{
    static const double none = 0;
    const sf_part parts[] = {{word, strlen(word)}, {&none, sizeof none}, second, third};
    return sf_sender_put(sender, parts, 4, error);
}

static void append_position(sf_text *table, double um)
{
    if (isfinite(um)) sf_text_printf(table, "%.10g", um);
    sf_text_append(table, "", 1);
}

static int begin(sf_sender *sender, sf_error *error)
{
    static const int32_t shape[2] = {1, 0};
    char about[sizeof shape + sizeof(double)] = {0};
    memcpy(about, shape, sizeof shape);
    sf_text_clear(&sender->frame);
    for (size_t i = 0; i < sender->about->units.count; i++) {
        const sf_unit *unit = &sender->about->units.items[i];
        sf_text_append(&sender->frame, unit->name, strlen(unit->name) + 1);
        append_position(&sender->frame, unit->x_um);
        append_position(&sender->frame, unit->y_um);
    }
    if (sender->frame.failed) return sf_fail_memory(error);
    return put(sender, "about", (sf_part){about, sizeof about},
               (sf_part){sender->frame.data, sender->frame.length}, error);
}

static int put_spikes(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    sf_text_clear(&sender->frame);
    sf_text_clear(&sender->payload);
    for (size_t i = 0; i < batch->spike_count; i++) {
        const double time_s = (double)batch->spikes[i].time_ns * 1e-9, unit = batch->spikes[i].unit;
        sf_text_append(&sender->frame, (const char *)&time_s, sizeof time_s);
        sf_text_append(&sender->payload, (const char *)&unit, sizeof unit);
    }
    if (sender->frame.failed || sender->payload.failed) return sf_fail_memory(error);
    return put(sender, "spikes", (sf_part){sender->frame.data, sender->frame.length},
               (sf_part){sender->payload.data, sender->payload.length}, error);
}

static int put_marker(sf_sender *sender, const sf_marker *marker, sf_error *error)
{
    char text[SF_MARKER_TEXT_SIZE];
    const double time_s = (double)marker->time_ns * 1e-9;
    if (marker->kind == SF_MARKER_TTL)
        snprintf(text, sizeof text, "TTL %u %s", marker->line, marker->state != 0 ? "on" : "off");
    else
        snprintf(text, sizeof text, "%s", marker->text);
    return put(sender, "marker", (sf_part){&time_s, sizeof time_s}, (sf_part){text, strlen(text)}, error);
}

static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    int status = batch->spike_count > 0 ? put_spikes(sender, batch, error) : SF_OK;
    for (size_t i = 0; i < batch->marker_count && status == SF_OK; i++)
        status = put_marker(sender, &batch->markers[i], error);
    return status;
}

static const sf_sender_protocol sender = {
    .endpoint = "lsl://name=synfire", .sending = &sf_sending_lsl, .begin = begin, .batch = batch};

/* ---- the source ---- */

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "lsl://type=Spikes",
                                          .timeout_s = 10,
                                          .markers = "none",
                                          .electrodes = "learn",
                                          .learn_s = 5};

static const sf_key keys[] = {
    SF_LIVE_ENDPOINT("lsl://PROPERTY=VALUE: name, type, source_id, hostname"),
    SF_LIVE_TEXT("markers", markers, "of another stream beside it: its lsl://PROPERTY=VALUE"),
    SF_LIVE_ELECTRODES(
        "not where the stream's description has its units; learn: those that fire in the first learn_s; or a "
        "file: probeinterface, MaxLab's .cfg, Blackrock's .cmp, or name,x,y"),
    {0}};

const sf_protocol sf_protocol_lsl = {
    .source = {.settings = {"lsl", keys, sizeof(sf_live_settings), &defaults,
                            "Lab Streaming Layer, by liblsl"},
               .descriptors = SF_LSL_DESCRIPTORS,
               SF_LIVE_SOURCE},
    .name = "lsl",
    .system = "Lab Streaming Layer",
    .transport = &sf_transport_lsl,
    .sender = &sender,
    .start = "the program whose outlet is %s (every stream in reach is listed by LabRecorder)",
    .silent = "start the program with the outlet, and see with LabRecorder that it is in reach: "
              "lsl://name=NAME or lsl://type=TYPE must be what it is called",
};
