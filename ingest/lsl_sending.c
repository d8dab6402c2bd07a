/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outlets of Lab Streaming Layer: "NAME", of type Spikes with one int32, the unit's number; and "NAME
 * markers", of type Markers with one text. Messages are as in decode/lsl.c. Stream time is not on LSL's
 * clock, so the first event is sent with the current time, and all others at their distance from it. liblsl
 * does not block: an inlet that is a million samples behind loses the oldest.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "ingest/lsl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FETCH_NS SF_SECOND /* that inlets get to fetch what was sent */

typedef struct outlets {
    sf_sending sending;
    const sf_lsl *lsl;
    char name[192];
    sf_lsl_outlet spikes, markers;
    bool has_base, is_heard;
    int64_t base_ns; /* LSL's clock less stream time */
} outlets;

/* Writes units into the description as decode/lsl.c reads them. */
static void describe(const sf_lsl *lsl, sf_lsl_node node, const void *of)
{
    const sf_part *table = of;
    static const char *const keys[] = {"label", "x_um", "y_um"};
    sf_lsl_node units = lsl->append_child(node, "units");
    const char *text = table->data, *end = text + table->size;
    while (text < end) {
        sf_lsl_node unit = lsl->append_child(units, "unit");
        for (size_t i = 0; i < 3 && text < end; i++, text += strlen(text) + 1)
            if (*text != '\0') lsl->append_child_value(unit, keys[i], text);
    }
}

static int open_outlets(outlets *it, sf_part table, sf_error *error)
{
    char name[sizeof it->name + 16];
    snprintf(name, sizeof name, "%s markers", it->name);
    it->spikes = sf_lsl_open_outlet(it->lsl, it->name, "Spikes", SF_LSL_INT32, describe, &table);
    it->markers = sf_lsl_open_outlet(it->lsl, name, "Markers", SF_LSL_STRING, NULL, NULL);
    return it->spikes != NULL && it->markers != NULL
               ? SF_OK
               : sf_fail(error, SF_UNAVAILABLE, it->sending.address, "liblsl cannot open an outlet");
}

/* LSL reports whether anybody listens, but not how many. */
static int64_t update(sf_sending *sending)
{
    outlets *it = (outlets *)sending;
    bool is_heard = it->spikes != NULL && it->lsl->have_consumers(it->spikes) != 0;
    sending->joined += is_heard && !it->is_heard;
    it->is_heard = is_heard;
    return is_heard ? INT32_MAX : 0;
}

static double stamp_of(outlets *it, double time_s)
{
    int64_t time_ns = llround(time_s * 1e9);
    if (!it->has_base) it->base_ns = llround(it->lsl->local_clock() * 1e9) - time_ns;
    it->has_base = true;
    return (double)(it->base_ns + time_ns) * 1e-9;
}

static double real_at(sf_part part, size_t index)
{
    double value;
    memcpy(&value, (const char *)part.data + index * sizeof value, sizeof value);
    return value;
}

static int put(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    outlets *it = (outlets *)sending;
    const char *word = parts[0].data;
    int32_t failure = 0;
    (void)count; /* four, always */
    if (strcmp(word, "about") == 0) {
        int status = open_outlets(it, parts[3], error);
        return status == SF_OK ? SF_SENT : status;
    }
    for (size_t i = 0; i < parts[2].size / sizeof(double); i++) {
        double stamp_s = stamp_of(it, real_at(parts[2], i));
        const char *text = parts[3].data;
        if (strcmp(word, "marker") == 0) {
            failure |= it->lsl->push_sample_strtp(it->markers, &text, stamp_s, 1);
        } else {
            const int32_t unit = (int32_t)real_at(parts[3], i);
            failure |= it->lsl->push_sample_itp(it->spikes, &unit, stamp_s,
                                                (i + 1) * sizeof(double) == parts[2].size);
        }
    }
    return failure == 0 ? SF_SENT : sf_fail(error, SF_IO, sending->address, "liblsl refused a sample");
}

static void close_outlets(sf_sending *sending, int linger_ms)
{
    outlets *it = (outlets *)sending;
    if (linger_ms != 0 && it->spikes != NULL && it->lsl->have_consumers(it->spikes) != 0)
        sf_clock_sleep_until(sf_clock_monotonic_ns() + FETCH_NS);
    if (it->spikes != NULL) it->lsl->destroy_outlet(it->spikes);
    if (it->markers != NULL) it->lsl->destroy_outlet(it->markers);
    sf_free(it);
}

static int open_sending(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    sf_lsl_query query;
    *out = NULL;
    int status = sf_lsl_parse(&query, settings->endpoint, error);
    if (status == SF_OK && strcmp(query.property, "name") != 0)
        status =
            sf_fail(error, SF_USAGE, settings->endpoint, "expected lsl://name=NAME of the stream to send");
    if (status == SF_OK && !settings->insecure)
        status = sf_lsl_refuse(settings->endpoint, "--insecure", error);
    const sf_lsl *lsl;
    if (status == SF_OK) status = sf_lsl_load(&lsl, error);
    if (status != SF_OK) return status;
    outlets *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->sending.kind = &sf_sending_lsl;
    it->lsl = lsl;
    snprintf(it->name, sizeof it->name, "%s", query.value);
    snprintf(it->sending.address, sizeof it->sending.address, "lsl://name=%s", query.value);
    *out = &it->sending;
    return SF_OK;
}

const sf_sending_kind sf_sending_lsl = {
    .open = open_sending, .update = update, .put = put, .close = close_outlets};
