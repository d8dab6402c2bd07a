/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/live_source.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/electrodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 50 /* how often a wait checks whether to stop */
#define BACKLOG_NS (SF_SECOND / 10)
#define IN_NANOSECONDS 1e9 /* rate given to the decoder if it reads times, not samples */

typedef struct live_source {
    sf_source source;
    const sf_protocol *protocol;
    const sf_live_settings *settings;
    sf_transport_settings wanted;
    sf_transport *transport;
    sf_decoder *decoder;
    char endpoint[256], beside[280]; /* the other is a socket beside the rig's data */
    sf_batch first;                  /* what came with what made the stream known */
    bool has_first;
} live_source;

/* ---- reading ---- */

/* A new run of the sender has another. */
static void tell_origin(live_source *it)
{
    it->source.has_origin = it->decoder->has_origin;
    it->source.origin_ns = it->decoder->origin_ns;
}

static int read_first(live_source *it, sf_batch *batch)
{
    *batch = it->first;
    it->has_first = false;
    tell_origin(it);
    return SF_READ_BATCH;
}

int sf_live_source_read(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error)
{
    live_source *it = (live_source *)source;
    const sf_transport_kind *transport = it->transport->kind;
    if (it->has_first) return read_first(it, batch);
    *batch = (sf_batch){.clock_ns = INT64_MIN};
    int64_t deadline = sf_clock_monotonic_ns() + timeout_ms * SF_MILLISECOND;
    int status = sf_decoder_next(it->decoder, batch, error);
    while (status == SF_AGAIN) {
        /* With counts waiting, read further data only if it is already there. */
        int64_t until = sf_decoder_has_counts(it->decoder) ? 0 : deadline;
        status = transport->receive(it->transport, it->decoder, until, error);
        if (status != SF_OK) break;
        status = sf_decoder_next(it->decoder, batch, error);
        if (status == SF_AGAIN && sf_clock_monotonic_ns() >= deadline) break;
    }
    if (status == SF_AGAIN && sf_decoder_has_counts(it->decoder)) {
        sf_decoder_give(it->decoder, batch);
        status = SF_OK;
    }
    tell_origin(it);
    return status == SF_OK      ? SF_READ_BATCH
           : status == SF_AGAIN ? SF_READ_NOTHING
           : status == SF_END   ? SF_READ_END
                                : status;
}

bool sf_live_source_connected(sf_source *source)
{
    const live_source *it = (const live_source *)source;
    return it->transport->kind->connected(it->transport);
}

void sf_live_source_close(sf_source *source)
{
    live_source *it = (live_source *)source;
    if (it->transport != NULL) it->transport->kind->close(it->transport);
    sf_decoder_close(it->decoder);
    sf_free(it);
}

/* ---- opening ---- */

/* The socket beside the rig's data, by default one port further; NULL: none is wanted or there can be none.
 */
static const char *request_of(live_source *it)
{
    const char *wanted = it->settings->request;
    if (wanted == NULL || strcmp(wanted, "off") == 0) return NULL;
    if (strcmp(wanted, "auto") != 0) return wanted;
    const char *colon = strrchr(it->endpoint, ':');
    uint64_t port;
    if (strncmp(it->endpoint, "tcp://", 6) != 0 || !sf_parse_uint(colon + 1, 65534, &port)) return NULL;
    snprintf(it->beside, sizeof it->beside, "%.*s:%u", (int)(colon - it->endpoint), it->endpoint,
             (unsigned)port + 1);
    return it->beside;
}

static int pass_on(int status, const sf_error *reason, sf_error *error)
{
    if (status != SF_OK && error != NULL) {
        *error = *reason;
        error->code = (sf_status)status;
    }
    return status;
}

static int open_transport(live_source *it, sf_error *error)
{
    it->wanted = (sf_transport_settings){.endpoint = it->endpoint,
                                         .topic = it->settings->topic,
                                         .field = it->settings->field,
                                         .time_field = it->settings->time_field,
                                         .sample_field = it->settings->sample_field,
                                         .markers = it->settings->markers,
                                         .curve = {it->settings->key, it->settings->server_key},
                                         .request = request_of(it),
                                         .device = it->settings->device,
                                         .questions = it->protocol->questions,
                                         .most_bytes = it->decoder->kind->most_bytes,
                                         .queue = it->protocol->queue};
    sf_error reason = {0};
    int status = it->protocol->transport->open(&it->transport, &it->wanted, &reason);
    if (status == SF_USAGE) return sf_fail(error, SF_CONFIG, "endpoint", "%s %s", reason.place, reason.text);
    return pass_on(status, &reason, error);
}

/* Electrodes of a system with a fixed array, or from a file; none if they are to be learnt. */
static int find_electrodes(const live_source *it, sf_electrodes *electrodes, sf_error *error)
{
    const char *wanted = it->settings->electrodes;
    if (wanted == NULL || strcmp(wanted, "learn") == 0) return SF_OK;
    if (it->protocol->array != NULL && strcmp(wanted, "array") == 0)
        return it->protocol->array(electrodes, error);
    return sf_electrodes_read(electrodes, wanted, error);
}

static int open_decoder(live_source *it, sf_error *error)
{
    const sf_live_settings *settings = it->settings;
    sf_electrodes electrodes = {0};
    sf_decoder_options options = {
        .size = sizeof options,
        .protocol = it->protocol->name,
        .name = it->endpoint,
        .sample_rate_hz = settings->sample_rate_hz,
        .learn_s = settings->learn_s,
        .stream = settings->topic != NULL && strcmp(settings->topic, "first") != 0 ? settings->topic : NULL,
        .layout = it->protocol->layouts != NULL ? it->protocol->layouts[settings->layout] : NULL};
    sf_error reason = {0};
    int status = find_electrodes(it, &electrodes, &reason);
    if (status == SF_NO_MEMORY) {
        sf_electrodes_free(&electrodes);
        return sf_fail_memory(error);
    }
    if (status != SF_OK) return sf_fail(error, SF_CONFIG, "electrodes", "%s: %s", reason.place, reason.text);
    options.units = electrodes.units.items;
    options.unit_count = electrodes.units.count;
    options.channels = electrodes.channels;
    status = sf_decoder_open(&it->decoder, &options, &reason);
    sf_electrodes_free(&electrodes);
    return pass_on(status == SF_USAGE ? SF_CONFIG : status, &reason, error);
}

/* Fails with a description of what arrived instead of a stream. */
static int refuse(const live_source *it, double waited_s, sf_error *error)
{
    const sf_decoder *decoder = it->decoder;
    char start[512];
    if (decoder->wants != NULL)
        return sf_fail(error, SF_UNAVAILABLE, it->endpoint, "in %g s came no %s", waited_s, decoder->wants);
    if (decoder->fault[0] != '\0')
        return sf_fail(error, SF_DATA, it->endpoint,
                       "what comes from there is no stream of %s: %s; is another program sending?",
                       it->protocol->system, decoder->fault);
    snprintf(start, sizeof start, it->protocol->start, it->endpoint);
    return sf_fail(error, SF_UNAVAILABLE, it->endpoint,
                   "no stream came within %g s: start %s, or correct the endpoint", waited_s, start);
}

/* Discards counts of what was left out before the stream is known. */
static int wait_until_known(live_source *it, double timeout_s, const sf_progress *progress, sf_error *error)
{
    const sf_transport_kind *transport = it->transport->kind;
    int64_t start = sf_clock_monotonic_ns();
    int status = SF_AGAIN;
    while (!it->decoder->is_known && (status == SF_AGAIN || status == SF_OK)) {
        bool is_learning = it->decoder->learns && it->decoder->wants != NULL;
        double patience_s = timeout_s + (is_learning ? it->settings->learn_s : 0);
        int64_t deadline = timeout_s < 0 ? INT64_MAX : start + (int64_t)(patience_s * 1e9);
        int64_t now = sf_clock_monotonic_ns(), look = now + PATIENCE_MS * SF_MILLISECOND;
        status = transport->receive(it->transport, it->decoder, deadline < look ? deadline : look, error);
        if (status == SF_OK) status = sf_decoder_next(it->decoder, &it->first, error);
        if (status == SF_AGAIN && !it->decoder->is_known && now >= deadline)
            status = refuse(it, patience_s, error);
        else if (status == SF_AGAIN && !sf_progress_update(progress, "waiting for the stream",
                                                           (double)(now - start) * 1e-9, patience_s))
            status = sf_fail(error, SF_CANCELLED, it->endpoint, "stopped");
    }
    if (it->decoder->is_known && it->decoder->learns)
        sf_log(SF_LOG_INFO,
               "%s: %zu unit%s fired in the first %g s, and no other is known: set learn_s, or electrodes, "
               "for more",
               it->endpoint, it->decoder->about.units.count, it->decoder->about.units.count == 1 ? "" : "s",
               it->settings->learn_s);
    it->has_first = status == SF_OK &&
                    (it->first.spike_count + it->first.marker_count > 0 || it->first.other_streams > 0);
    return status == SF_AGAIN ? SF_OK : status;
}

static bool has_keys(const live_source *it)
{
    bool wanted = false;
    const sf_curve_client client = {it->settings->key, it->settings->server_key};
    return sf_curve_client_wanted(&wanted, &client, NULL) == SF_OK && wanted;
}

int sf_live_source_open(sf_source **out, const sf_source_kind *kind, const sf_source_settings *common,
                        sf_error *error)
{
    const sf_live_settings *settings = (const sf_live_settings *)common;
    *out = NULL;
    live_source *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->source.kind = kind;
    it->source.can_wait = ((const sf_protocol *)kind)->may_wait;
    it->protocol = (const sf_protocol *)kind;
    it->settings = settings;
    snprintf(it->source.name, sizeof it->source.name, "%s", settings->endpoint);
    snprintf(it->endpoint, sizeof it->endpoint, "%s", settings->endpoint);
    int status = SF_OK;
    if (strlen(settings->endpoint) >= sizeof it->endpoint)
        status = sf_fail(error, SF_CONFIG, "endpoint", "found %zu bytes, expected at most %zu",
                         strlen(settings->endpoint), sizeof it->endpoint - 1);
    if (status == SF_OK) status = open_decoder(it, error);
    if (status == SF_OK) status = open_transport(it, error);
    if (status != SF_OK) {
        sf_live_source_close(&it->source);
        return status;
    }
    *out = &it->source;
    return SF_OK;
}

int sf_live_source_begin(sf_source *source, const sf_progress *progress, sf_error *error)
{
    live_source *it = (live_source *)source;
    int status = it->transport->kind->connect(it->transport, error);
    if (status == SF_OK) status = wait_until_known(it, it->settings->timeout_s, progress, error);
    if (status != SF_OK) return status;
    const sf_decoder *decoder = it->decoder;
    it->source.units = decoder->about.units; /* borrowed; about owns them */
    it->source.origin = &decoder->about;
    it->source.can_wait = decoder->can_wait;
    it->source.virtual_clock = decoder->virtual_clock;
    it->source.own_pace = decoder->own_pace;
    it->source.authentication = has_keys(it) ? "curve" : "none";
    it->source.patience_ns = it->settings->timeout_s > 0 ? sf_seconds_to_ns(it->settings->timeout_s) : 0;
    return SF_OK;
}

/* ---- listening ---- */

typedef struct listening {
    sf_live_heard *heard;
    bool has_first; /* of a time that came: */
    int64_t first_ns, first_arrival_ns, newest_ns, newest_arrival_ns;
    int64_t least_ns, most_ns; /* from time to arrival */
    bool has_jumped;
    int64_t known_ns; /* when the stream became known, or nearly: */
    bool backlog;     /* spikes that were kept until then, and so arrived earlier, may still be handed out */
} listening;

static int64_t newest_of(const sf_batch *batch)
{
    int64_t newest = batch->clock_ns;
    if (batch->spike_count > 0 && batch->spikes[batch->spike_count - 1].time_ns > newest)
        newest = batch->spikes[batch->spike_count - 1].time_ns;
    return newest;
}

/* A batch with only a clock that lags behind the spikes, as a filter requires it, adds nothing. */
static bool is_promise_behind(const listening *it, const sf_batch *batch, int64_t newest)
{
    return batch->spike_count == 0 && it->has_first && newest <= it->newest_ns &&
           it->newest_ns - newest < SF_SECOND;
}

static void note_time(listening *it, const sf_batch *batch)
{
    int64_t newest = newest_of(batch);
    if (newest == INT64_MIN || batch->arrival_ns == 0 || is_promise_behind(it, batch, newest)) return;
    int64_t behind;
    if (__builtin_sub_overflow(batch->arrival_ns, newest, &behind)) return;
    if (!it->has_first) {
        it->has_first = true;
        it->first_ns = newest;
        it->first_arrival_ns = batch->arrival_ns;
        it->least_ns = it->most_ns = behind;
    }
    it->has_jumped = it->has_jumped || batch->restarts > 0 ||
                     (it->newest_arrival_ns != 0 && newest < it->newest_ns - SF_SECOND / 10);
    it->newest_ns = newest;
    it->newest_arrival_ns = batch->arrival_ns;
    it->least_ns = behind < it->least_ns ? behind : it->least_ns;
    it->most_ns = behind > it->most_ns ? behind : it->most_ns;
}

static void note_batch(listening *it, const sf_batch *batch, const char *told)
{
    sf_live_heard *heard = it->heard;
    heard->spikes += batch->spike_count;
    heard->markers += batch->marker_count;
    heard->malformed += batch->malformed;
    heard->gaps += batch->gaps;
    heard->gap_lost += batch->gap_lost;
    heard->out_of_range += batch->out_of_range;
    heard->other_streams += batch->other_streams;
    heard->restarts += batch->restarts;
    if (batch->malformed > 0) snprintf(heard->fault, sizeof heard->fault, "%s", told);
    if (!it->backlog) note_time(it, batch);
}

/* Reads what arrives within one wait; SF_AGAIN if that is nothing. */
static int hear_next(live_source *source, listening *it, int64_t until_ns, sf_error *error)
{
    sf_batch batch = {.clock_ns = INT64_MIN};
    int64_t now_ns = sf_clock_monotonic_ns(), look_ns = now_ns + PATIENCE_MS * SF_MILLISECOND;
    look_ns = look_ns < until_ns ? look_ns : until_ns;
    if (source->decoder->is_known) {
        int result = sf_live_source_read(
            &source->source, &batch, (int)((look_ns - now_ns + SF_MILLISECOND - 1) / SF_MILLISECOND), error);
        if (result == SF_READ_BATCH) note_batch(it, &batch, source->decoder->told);
        it->backlog = it->backlog && result == SF_READ_BATCH && batch.arrival_ns - it->known_ns < BACKLOG_NS;
        return result == SF_READ_BATCH     ? SF_OK
               : result == SF_READ_NOTHING ? SF_AGAIN
               : result == SF_READ_END     ? SF_END
                                           : result;
    }
    int status = source->transport->kind->receive(source->transport, source->decoder, look_ns, error);
    if (status == SF_OK) status = sf_decoder_next(source->decoder, &batch, error);
    it->known_ns = sf_clock_monotonic_ns();
    if (status == SF_OK) note_batch(it, &batch, source->decoder->told);
    return status;
}

static int hear_until(live_source *source, listening *it, int64_t until_ns, const sf_progress *progress,
                      sf_error *error)
{
    int64_t begin_ns = sf_clock_monotonic_ns(), now_ns;
    int status = SF_AGAIN;
    while ((now_ns = sf_clock_monotonic_ns()) < until_ns && (status == SF_AGAIN || status == SF_OK)) {
        status = hear_next(source, it, until_ns, error);
        if ((status == SF_OK || status == SF_AGAIN) &&
            !sf_progress_update(progress, "listening", (double)(now_ns - begin_ns) * 1e-9,
                                (double)(until_ns - begin_ns) * 1e-9))
            return sf_fail(error, SF_CANCELLED, source->endpoint, "stopped");
    }
    return status == SF_AGAIN ? SF_OK : status;
}

static void tell_names(sf_live_heard *heard, const sf_units *units)
{
    size_t length = 0;
    for (size_t i = 0; i < units->count && i < 4 && length < sizeof heard->names; i++)
        length += (size_t)snprintf(heard->names + length, sizeof heard->names - length, "%s%s",
                                   i > 0 ? ", " : "", units->items[i].name);
}

static double rate_of(const sf_recording *about)
{
    const char *rate = sf_recording_metadata(about, "sampling_rate");
    double hz;
    return rate != NULL && sf_parse_real(rate, &hz) && hz < IN_NANOSECONDS ? hz : 0;
}

static void tell_heard(const live_source *source, const listening *it)
{
    sf_live_heard *heard = it->heard;
    sf_decoder *decoder = source->decoder;
    sf_batch rest;
    if (sf_decoder_has_counts(decoder)) {
        sf_decoder_give(decoder, &rest);
        note_batch(&(listening){.heard = heard, .backlog = true}, &rest, decoder->told);
    }
    if (heard->fault[0] == '\0') snprintf(heard->fault, sizeof heard->fault, "%s", decoder->fault);
    heard->is_connected = source->transport->kind->connected(source->transport);
    heard->seen = source->transport->seen;
    heard->has_come = decoder->input.begun;
    heard->is_known = decoder->is_known;
    heard->wants = decoder->wants;
    if (decoder->is_known) {
        heard->units = decoder->about.units.count;
        heard->rate_hz = rate_of(&decoder->about);
        tell_names(heard, &decoder->about.units);
    }
    heard->stream_s = (double)(it->newest_ns - it->first_ns) * 1e-9;
    heard->passed_s = (double)(it->newest_arrival_ns - it->first_arrival_ns) * 1e-9;
    heard->spread_ms = (double)(it->most_ns - it->least_ns) * 1e-6;
    heard->is_timed = it->has_first && !it->has_jumped && !decoder->virtual_clock && !decoder->own_pace &&
                      heard->passed_s >= 0.5;
}

int sf_live_source_hear(sf_live_heard *heard, const sf_source_kind *kind, const sf_source_settings *settings,
                        double seconds, const sf_progress *progress, sf_error *error)
{
    *heard = (sf_live_heard){0};
    sf_live_settings own = *(const sf_live_settings *)settings;
    if (own.learn_s > seconds / 4) own.learn_s = seconds / 4;
    sf_source *opened;
    listening it = {.heard = heard, .backlog = true};
    sf_error reason = {0};
    int64_t until_ns = sf_clock_monotonic_ns() + sf_seconds_to_ns(seconds);
    int status = sf_live_source_open(&opened, kind, &own.common, &reason);
    live_source *source = (live_source *)opened;
    if (status == SF_OK) status = source->transport->kind->connect(source->transport, &reason);
    if (status == SF_OK) {
        status = hear_until(source, &it, until_ns, progress, &reason);
        tell_heard(source, &it);
    }
    if (source != NULL) sf_live_source_close(opened);
    heard->has_ended = status == SF_END;
    if (status == SF_UNAVAILABLE || status == SF_DATA)
        snprintf(heard->failure, sizeof heard->failure, "%s: %s", reason.place, reason.text);
    else if (status != SF_OK && status != SF_END)
        return pass_on(status, &reason, error);
    return SF_OK;
}
