/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/redis.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/descriptors.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SYNFIRE_HAVE_HIREDIS
#include <hiredis/hiredis.h>

#define CONNECT_MS 500
#define ANSWER_MS 5000
#define AGAIN_NS (SF_SECOND / 2)
#define ENTRIES "256" /* asked for at once */
#define KEPT "100000" /* approximate number of entries that the player keeps in its stream */
#define MOST_PARTS 16

static int split(char *host, size_t size, int *port, const char *endpoint, sf_error *error)
{
    const char *colon = strrchr(endpoint, ':');
    uint64_t number;
    if (strncmp(endpoint, "redis://", 8) != 0 || colon <= endpoint + 8 ||
        !sf_parse_uint(colon + 1, 65535, &number) || (size_t)(colon - endpoint) - 8 >= size)
        return sf_fail(error, SF_USAGE, endpoint, "is no endpoint: expected redis://HOST:PORT");
    snprintf(host, size, "%.*s", (int)(colon - endpoint) - 8, endpoint + 8);
    *port = (int)number;
    return SF_OK;
}

static struct timeval milliseconds(int count)
{
    return (struct timeval){.tv_sec = count / 1000, .tv_usec = count % 1000 * 1000};
}

/* NULL where nobody is there. */
static redisContext *call(const char *host, int port)
{
    redisContext *context = redisConnectWithTimeout(host, port, milliseconds(CONNECT_MS));
    if (context != NULL &&
        (context->err != 0 || redisSetTimeout(context, milliseconds(ANSWER_MS)) != REDIS_OK)) {
        redisFree(context);
        context = NULL;
    }
    return context;
}

/* ---- reading ---- */

typedef struct reader {
    sf_transport transport;
    char host[256], endpoint[256], last[64]; /* last: id of the last entry; "": not connected yet */
    char topic[128], field[64], time_field[64], sample_field[64];
    int port;
    redisContext *context;
    redisReply *reply; /* entries that came, from `next` on */
    size_t next;
    int64_t again_ns;
    atomic_bool connected;
} reader;

static void hang_up(reader *it)
{
    if (atomic_exchange(&it->connected, false))
        sf_log(SF_LOG_WARNING, "%s: the connection ended (%s); connecting again", it->endpoint,
               it->context->errstr);
    if (it->context != NULL) redisFree(it->context);
    it->context = NULL;
    it->again_ns = sf_clock_monotonic_ns() + AGAIN_NS;
}

static void drop_reply(reader *it)
{
    if (it->reply != NULL) freeReplyObject(it->reply);
    it->reply = NULL;
    it->next = 0;
}

static const redisReply *item(const redisReply *list, size_t index, int type)
{
    bool is_there = list != NULL && list->type == REDIS_REPLY_ARRAY && index < list->elements &&
                    list->element[index]->type == type;
    return is_there ? list->element[index] : NULL;
}

static void note_last(reader *it, const redisReply *entry)
{
    const redisReply *id = item(entry, 0, REDIS_REPLY_STRING);
    if (id != NULL && id->len < sizeof it->last) snprintf(it->last, sizeof it->last, "%s", id->str);
}

/* Entries already in the stream are from the past. */
static void connect_to(reader *it)
{
    it->context = call(it->host, it->port);
    if (it->context == NULL) {
        it->again_ns = sf_clock_monotonic_ns() + AGAIN_NS;
        return;
    }
    atomic_store(&it->connected, true);
    if (it->last[0] != '\0') return;
    redisReply *newest = redisCommand(it->context, "XREVRANGE %s + - COUNT 1", it->topic);
    if (newest == NULL) {
        hang_up(it);
        return;
    }
    snprintf(it->last, sizeof it->last, "0-0");
    note_last(it, item(newest, 0, REDIS_REPLY_ARRAY));
    freeReplyObject(newest);
}

/* Requests new entries; false if there are none. */
static bool ask(reader *it, int64_t wait_ms, sf_decoder *decoder)
{
    it->reply = wait_ms > 0
                    ? redisCommand(it->context, "XREAD COUNT " ENTRIES " BLOCK %lld STREAMS %s %s",
                                   (long long)wait_ms, it->topic, it->last)
                    : redisCommand(it->context, "XREAD COUNT " ENTRIES " STREAMS %s %s", it->topic, it->last);
    if (it->reply == NULL) {
        hang_up(it);
        return false;
    }
    if (it->reply->type == REDIS_REPLY_ERROR) {
        sf_decoder_leave_out(decoder, "Redis says: %s", it->reply->str);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + wait_ms * SF_MILLISECOND);
    }
    if (it->reply->type == REDIS_REPLY_ARRAY) return true;
    drop_reply(it);
    return false;
}

static sf_part value_of(const redisReply *fields, const char *name)
{
    for (size_t i = 0; fields != NULL && i + 1 < fields->elements; i += 2) {
        const redisReply *key = item(fields, i, REDIS_REPLY_STRING),
                         *value = item(fields, i + 1, REDIS_REPLY_STRING);
        if (key != NULL && value != NULL && strcmp(key->str, name) == 0)
            return (sf_part){value->str, value->len};
    }
    return (sf_part){"", 0};
}

static int feed_entry(reader *it, sf_decoder *decoder, sf_error *error)
{
    const redisReply *stream = item(it->reply, 0, REDIS_REPLY_ARRAY);
    const redisReply *entries = item(stream, 1, REDIS_REPLY_ARRAY);
    const redisReply *entry = item(entries, it->next++, REDIS_REPLY_ARRAY);
    const redisReply *id = item(entry, 0, REDIS_REPLY_STRING), *fields = item(entry, 1, REDIS_REPLY_ARRAY);
    const sf_part parts[] = {id != NULL ? (sf_part){id->str, id->len} : (sf_part){"", 0},
                             value_of(fields, it->time_field), value_of(fields, it->field),
                             value_of(fields, it->sample_field)};
    const size_t count = sizeof parts / sizeof parts[0];
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = sf_decoder_feed(decoder, parts[i].data, parts[i].size,
                                 i + 1 < count ? SF_FEED_PART : SF_FEED_MESSAGE, error);
    note_last(it, entry);
    if (entries == NULL || it->next >= entries->elements) drop_reply(it);
    return status;
}

static int receive(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error)
{
    reader *it = (reader *)transport;
    int64_t now = sf_clock_monotonic_ns();
    int64_t left_ms = deadline_ns > now ? (deadline_ns - now + SF_MILLISECOND - 1) / SF_MILLISECOND : 0;
    if (it->reply != NULL) return feed_entry(it, decoder, error);
    if (it->context == NULL && now >= it->again_ns) connect_to(it);
    if (it->context == NULL) {
        sf_clock_sleep_until(deadline_ns);
        return SF_AGAIN;
    }
    return ask(it, left_ms < 1000 ? left_ms : 1000, decoder) ? feed_entry(it, decoder, error) : SF_AGAIN;
}

static bool is_connected(const sf_transport *transport)
{
    return atomic_load(&((const reader *)transport)->connected);
}

static void close_reader(sf_transport *transport)
{
    reader *it = (reader *)transport;
    drop_reply(it);
    if (it->context != NULL) redisFree(it->context);
    sf_free(it);
}

/* The connection itself is tried again and again, while it is waited for. */
static int expect_server(sf_transport *transport, sf_error *error)
{
    return sf_descriptors_check(1, ((const reader *)transport)->endpoint, error);
}

static int open_reader(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    *out = NULL;
    reader *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->transport.kind = &sf_transport_redis;
    snprintf(it->endpoint, sizeof it->endpoint, "%s", settings->endpoint);
    snprintf(it->topic, sizeof it->topic, "%s", settings->topic);
    snprintf(it->field, sizeof it->field, "%s", settings->field);
    snprintf(it->time_field, sizeof it->time_field, "%s", settings->time_field);
    snprintf(it->sample_field, sizeof it->sample_field, "%s", settings->sample_field);
    int status = split(it->host, sizeof it->host, &it->port, it->endpoint, error);
    if (status != SF_OK) {
        close_reader(&it->transport);
        return status;
    }
    *out = &it->transport;
    return SF_OK;
}

/* ---- writing ---- */

typedef struct writer {
    sf_sending sending;
    redisContext *context;
    char topic[128];
} writer;

/* Clients that are blocked wait for an entry of some stream. */
static int64_t update(sf_sending *sending)
{
    writer *it = (writer *)sending;
    redisReply *clients = redisCommand(it->context, "INFO clients");
    const char *line = clients != NULL && clients->type == REDIS_REPLY_STRING
                           ? strstr(clients->str, "blocked_clients:")
                           : NULL;
    int64_t waiting = line != NULL ? strtoll(line + strlen("blocked_clients:"), NULL, 10) : 0;
    freeReplyObject(clients);
    return waiting;
}

static int put(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    writer *it = (writer *)sending;
    const char *words[MOST_PARTS + 6] = {"XADD", it->topic, "MAXLEN", "~", KEPT, "*"};
    size_t sizes[MOST_PARTS + 6] = {4, strlen(it->topic), 6, 1, strlen(KEPT), 1};
    for (size_t i = 0; i < count && i < MOST_PARTS; i++) {
        words[6 + i] = parts[i].data;
        sizes[6 + i] = parts[i].size;
    }
    redisReply *reply = redisCommandArgv(it->context, (int)count + 6, words, sizes);
    bool is_sent = reply != NULL && reply->type == REDIS_REPLY_STRING;
    int status = is_sent ? SF_SENT
                         : sf_fail(error, SF_IO, sending->address, "%s",
                                   reply != NULL && reply->type == REDIS_REPLY_ERROR ? reply->str
                                                                                     : it->context->errstr);
    freeReplyObject(reply);
    return status;
}

static void close_writer(sf_sending *sending, int linger_ms)
{
    writer *it = (writer *)sending;
    (void)linger_ms; /* Redis has it */
    if (it->context != NULL) redisFree(it->context);
    sf_free(it);
}

static int open_writer(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    char host[256];
    int port;
    *out = NULL;
    writer *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->sending.kind = &sf_sending_redis;
    snprintf(it->topic, sizeof it->topic, "%s", settings->topic);
    snprintf(it->sending.address, sizeof it->sending.address, "%s", settings->endpoint);
    int status = split(host, sizeof host, &port, settings->endpoint, error);
    if (status == SF_OK && (it->context = call(host, port)) == NULL)
        status = sf_fail(error, SF_UNAVAILABLE, settings->endpoint, "no Redis server answers there");
    if (status != SF_OK) {
        close_writer(&it->sending, 0);
        return status;
    }
    *out = &it->sending;
    return SF_OK;
}

const sf_transport_kind sf_transport_redis = {.descriptors = 1,
                                              .open = open_reader,
                                              .connect = expect_server,
                                              .receive = receive,
                                              .connected = is_connected,
                                              .close = close_reader};
const sf_sending_kind sf_sending_redis = {
    .open = open_writer, .update = update, .put = put, .close = close_writer};

#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *sf_redis_version(void)
{
    return DOTTED(HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
}

#else

const char *sf_redis_version(void)
{
    return NULL;
}

static int refuse(sf_error *error)
{
    return sf_fail(error, SF_UNAVAILABLE, "redis", "this synfire was built without hiredis");
}

static int open_reader(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    (void)settings;
    *out = NULL;
    return refuse(error);
}

static int open_writer(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    (void)settings;
    *out = NULL;
    return refuse(error);
}

const sf_transport_kind sf_transport_redis = {.open = open_reader};
const sf_sending_kind sf_sending_redis = {.open = open_writer};

#endif
