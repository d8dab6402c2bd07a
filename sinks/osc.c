/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Open Sound Control over UDP, for programs that take nothing else. Types are fixed per address and only i, f
 * and s, since not every client takes 64-bit types: a time is two integers, seconds and microseconds. UDP may
 * lose packets, so what belongs to a hop follows a /synfire/window with the hop's number. The graph has no
 * OSC form.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "sinks/sink.h"

#include <lo/lo.h>
#include <math.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#define DENSITY_POINTS 64

#define SLICE 64 /* of counts or rates: a trigger waits for no more */

typedef struct osc_sink {
    lo_address to;
    char *url;
    size_t done; /* counts or rates of the message at hand that went out */
} osc_sink;

static int close_osc(void *self, sf_error *error)
{
    (void)error;
    osc_sink *sink = self;
    if (sink->to != NULL) lo_address_free(sink->to);
    sf_free(sink->url);
    sf_free(sink);
    return SF_OK;
}

static const char scheme[] = "osc.udp://";

/* HOST:PORT or osc.udp://HOST:PORT/ as the latter; NULL where memory is out. */
static char *make_url(const char *endpoint)
{
    sf_text url = {0};
    if (strstr(endpoint, "://") == NULL) sf_text_append(&url, scheme, sizeof scheme - 1);
    sf_text_append(&url, endpoint, strlen(endpoint));
    if (!url.failed && url.data[url.length - 1] != '/') sf_text_append(&url, "/", 1);
    if (url.failed) sf_text_free(&url);
    return url.data;
}

static bool names_host_and_port(const char *url)
{
    if (strncmp(url, scheme, sizeof scheme - 1) != 0) return false;
    const char *host = url + sizeof scheme - 1;
    const char *colon = strrchr(host, ':');
    if (colon == NULL || colon == host) return false;
    char digits[8];
    uint64_t port;
    snprintf(digits, sizeof digits, "%.*s", (int)strcspn(colon + 1, "/"), colon + 1);
    return sf_parse_uint(digits, UINT16_MAX, &port) && port > 0;
}

/* liblo looks the host up only when it sends: a name that does not exist is to be told at the start. */
static int check_host(const osc_sink *sink, sf_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    int failure =
        getaddrinfo(lo_address_get_hostname(sink->to), lo_address_get_port(sink->to), &hints, &found);
    if (failure == 0)
        freeaddrinfo(found);
    else
        return sf_fail(error, SF_CONFIG, "endpoint", "%s: cannot find the host: %s", sink->url,
                       gai_strerror(failure));
    return SF_OK;
}

static int connect_to(osc_sink *sink, const char *endpoint, sf_error *error)
{
    sink->url = make_url(endpoint);
    if (sink->url == NULL) return sf_fail_memory(error);
    if (names_host_and_port(sink->url)) sink->to = lo_address_new_from_url(sink->url);
    if (sink->to == NULL)
        return sf_fail(error, SF_CONFIG, endpoint,
                       "is no OSC receiver: expected HOST:PORT or osc.udp://HOST:PORT/");
    return check_host(sink, error);
}

static int open_osc(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                    sf_error *error)
{
    (void)stream;
    if (settings->endpoint == NULL || settings->endpoint[0] == '\0')
        return sf_fail(error, SF_CONFIG, "endpoint",
                       "an osc sink needs the receiver's endpoint, such as 127.0.0.1:7720");
    osc_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL) return sf_fail_memory(error);
    int status = connect_to(sink, settings->endpoint, error);
    if (status != SF_OK) {
        close_osc(sink, NULL);
        return status;
    }
    *self = sink;
    return SF_OK;
}

/* Nothing is sent: a receiver of datagrams need not be there. */
static int examine_osc(const sf_sink_settings *settings, sf_error *error)
{
    void *sink = NULL;
    int status = open_osc(&sink, settings, NULL, error);
    return status == SF_OK ? close_osc(sink, NULL) : status;
}

/* ---- values in the types of OSC ---- */

static int32_t clamp(uint64_t value)
{
    return value < INT32_MAX ? (int32_t)value : INT32_MAX;
}

/* What was not computed is -1: not every client survives a NaN. */
static float real(double value)
{
    return isfinite(value) ? (float)value : -1.0F;
}

typedef struct osc_time {
    int32_t seconds, microseconds; /* rounded down; microseconds 0..999999 */
} osc_time;

static osc_time split(int64_t time_ns)
{
    int64_t seconds = time_ns / SF_SECOND, rest = time_ns % SF_SECOND;
    if (rest < 0) {
        seconds--;
        rest += SF_SECOND;
    }
    seconds = seconds > INT32_MAX ? INT32_MAX : seconds < INT32_MIN ? INT32_MIN : seconds;
    return (osc_time){(int32_t)seconds, (int32_t)(rest / 1000)};
}

/* ---- messages ---- */

static int check_sent(const osc_sink *sink, int sent, sf_error *error)
{
    if (sent >= 0) return SF_OK;
    return sf_fail(error, SF_IO, sink->url, "cannot send to %s: %s", sink->url, lo_address_errstr(sink->to));
}

/* A part of the counts or rates of the current message. */
typedef struct slice {
    size_t begin, end;
    bool is_last;
} slice;

static slice next_slice(const osc_sink *sink, size_t count)
{
    size_t end = count - sink->done > SLICE ? sink->done + SLICE : count;
    return (slice){sink->done, end, end == count};
}

static int settle_slice(osc_sink *sink, slice at, int sent, sf_error *error)
{
    int status = check_sent(sink, sent, error);
    sink->done = status == SF_OK && !at.is_last ? at.end : 0;
    return sink->done > 0 ? SF_PUBLISH_PART : status;
}

/* What a rule says of a full window, and then that it changed. */
static int send_prediction(osc_sink *sink, const sf_prediction *rule)
{
    int sent = 0;
    if (rule->label[0] != '\0')
        sent = lo_send(sink->to, "/synfire/rule", "ssi", rule->rule, rule->label, clamp(rule->count));
    if (sent >= 0 && rule->changed)
        sent = lo_send(sink->to, "/synfire/rule/change", "sss", rule->rule, rule->label, rule->before);
    return sent;
}

static int send_episodes(osc_sink *sink, const sf_episodes_message *episodes, sf_error *error)
{
    osc_time from = split(episodes->window.start_ns), to = split(episodes->window.stop_ns);
    int sent = 0;
    if (sink->done == 0)
        sent = lo_send(sink->to, "/synfire/window", "iiiii", clamp(episodes->hop), from.seconds,
                       from.microseconds, to.seconds, to.microseconds);
    slice at = next_slice(sink, episodes->count);
    for (size_t i = at.begin; sent >= 0 && i < at.end; i++) {
        const sf_episode_count *item = &episodes->items[i];
        sent = lo_send(sink->to, "/synfire/episode/count", "sif", item->id, clamp(item->count),
                       (double)real(item->p));
        if (sent >= 0 && isfinite(item->q))
            sent = lo_send(sink->to, "/synfire/episode/significance", "sfff", item->id, (double)real(item->p),
                           (double)real(item->q), (double)real(item->p_age_s));
    }
    for (size_t i = 0; sent >= 0 && at.is_last && i < episodes->rule_count; i++)
        sent = send_prediction(sink, &episodes->rules[i]);
    return settle_slice(sink, at, sent, error);
}

static int send_trigger(osc_sink *sink, const sf_message *message, sf_error *error)
{
    osc_time time = split(message->time_ns);
    const sf_trigger_message *trigger = &message->trigger;
    int sent = 0;
    if (trigger
            ->is_named) { /* of letters, digits, - and _: part of an address, which receivers dispatch by */
        char address[sizeof "/synfire/fire/" + SF_TRIGGER_NAME_SIZE];
        snprintf(address, sizeof address, "/synfire/fire/%s", trigger->name);
        sent = lo_send(sink->to, address, "iii", time.seconds, time.microseconds, clamp(trigger->occurrence));
    }
    if (sent >= 0)
        sent = lo_send(sink->to, "/synfire/trigger", "sii", trigger->id, time.seconds, time.microseconds);
    if (sent >= 0 && isfinite(trigger->q))
        sent = lo_send(sink->to, "/synfire/trigger/significance", "sfff", trigger->id,
                       (double)real(trigger->p), (double)real(trigger->q), (double)real(trigger->p_age_s));
    return check_sent(sink, sent, error);
}

/* One a source: who, how it is, whole seconds of silence; and by how much it is behind. */
static int send_sources(osc_sink *sink, const sf_status_message *status, sf_error *error)
{
    int sent = 0;
    for (size_t i = 0; sent >= 0 && i < status->source_count; i++) {
        const sf_source_status *source = &status->sources[i];
        sent = lo_send(sink->to, "/synfire/source", "ssi", source->name, sf_source_state_name(source->state),
                       clamp((uint64_t)(source->silent_ns / SF_SECOND)));
        if (sent >= 0 && source->behind_ns >= 0)
            sent = lo_send(sink->to, "/synfire/source/behind", "sf", source->name,
                           (double)source->behind_ns * 1e-9);
    }
    return check_sent(sink, sent, error);
}

static int send_status(osc_sink *sink, const sf_status_message *status, sf_error *error)
{
    int sent = 0;
    if (sink->done == 0 && send_sources(sink, status, error) != SF_OK) return SF_IO;
    slice at = next_slice(sink, status->unit_count);
    for (size_t unit = at.begin; sent >= 0 && unit < at.end; unit++)
        sent =
            lo_send(sink->to, "/synfire/rate", "if", clamp(unit), (double)real(status->unit_rates_hz[unit]));
    return settle_slice(sink, at, sent, error);
}

/* Averages over DENSITY_POINTS bins of the same range: what each takes of a bin of the message, by length. */
static void rebin(double *values, const sf_density_message *density)
{
    double stretch = (double)density->count / DENSITY_POINTS;
    for (int i = 0; i < DENSITY_POINTS; i++) {
        double from = i * stretch, to = from + stretch, sum = 0;
        for (size_t k = (size_t)from; k < density->count && (double)k < to; k++)
            sum += density->values[k] * (fmin(to, (double)k + 1) - fmax(from, (double)k));
        values[i] = sum / stretch;
    }
}

static int send_density(osc_sink *sink, const sf_density_message *density, sf_error *error)
{
    if (density->count == 0 || density->rows > 0) /* a plane has no room in 64 numbers */
        return SF_OK;
    lo_message message = lo_message_new();
    if (message == NULL) return sf_fail_memory(error);
    double values[DENSITY_POINTS], step = density->grid_step * (double)density->count / DENSITY_POINTS;
    rebin(values, density);
    lo_message_add_string(message, density->quantity);
    lo_message_add_float(message, real(density->grid_start + (step - density->grid_step) / 2));
    lo_message_add_float(message, real(step));
    for (int i = 0; i < DENSITY_POINTS; i++)
        lo_message_add_float(message, real(values[i]));
    int sent = lo_send_message(sink->to, "/synfire/density", message);
    lo_message_free(message);
    return check_sent(sink, sent, error);
}

static int publish_osc(void *self, const sf_message *message, sf_error *error)
{
    switch (message->topic) {
    case SF_TOPIC_EPISODES:
        return send_episodes(self, &message->episodes, error);
    case SF_TOPIC_TRIGGER:
        return send_trigger(self, message, error);
    case SF_TOPIC_DENSITY:
        return send_density(self, &message->density, error);
    case SF_TOPIC_STATUS:
        return send_status(self, &message->status, error);
    default:
        return SF_PUBLISH_TAKEN;
    }
}

static const char *address_osc(void *self)
{
    return ((osc_sink *)self)->url;
}

static const sf_sink_settings defaults = {SF_SINK_DEFAULTS, .endpoint = "127.0.0.1:7720"};

#define ROW sf_sink_settings
static const sf_key keys[] = {
    TEXT("endpoint", endpoint, .use = SF_KEY_WRITES, .what = "HOST:PORT that listens"),
    {0},
};
#undef ROW

const sf_sink_kind sf_sink_osc = {
    .settings = {"osc", keys, sizeof(sf_sink_settings), &defaults, "Open Sound Control over UDP"},
    .descriptors = 4,
    .is_tried = true,
    .acts = true,
    .open = open_osc,
    .examine = examine_osc,
    .publish = publish_osc,
    .close = close_osc,
    .address = address_osc,
};
