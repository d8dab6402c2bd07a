/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trodes of SpikeGadgets. Its service says on one port where it can be asked, and there where its spikes are
 * published; both in MessagePack. `play` is such a service: a map for each spike with its time in samples
 * since the recording's start, and a unit's index as nTrodeId. Markers have no place in it.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "decode/fields.h"
#include "ingest/live_source.h"
#include "io/descriptors.h"
#include "io/endpoint.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#define SAMPLE_RATE 30000
#define MOST_ANSWER 1024
#define ASK_EVERY_NS (SF_SECOND / 2) /* also the period of the service's announcements */
#define SPIKES "source.spikes"

/* ---- MessagePack, as much as is written ---- */

static void put_text(sf_text *to, const char *text)
{
    size_t length = strlen(text); /* below 32 it is in the head */
    const char head[] = {length < 32 ? (char)(0xa0 | length) : (char)0xd9, (char)length};
    sf_text_append(to, head, length < 32 ? 1 : 2);
    sf_text_append(to, text, length);
}

static void put_map(sf_text *to, unsigned pairs)
{
    const char head = (char)(0x80 | pairs);
    sf_text_append(to, &head, 1);
}

static void put_number(sf_text *to, uint32_t number)
{
    const char bytes[] = {(char)0xce, (char)(number >> 24), (char)(number >> 16), (char)(number >> 8),
                          (char)number};
    sf_text_append(to, bytes, sizeof bytes);
}

/* ---- asking where the spikes are ---- */

typedef struct asker {
    sf_transport transport;
    sf_transport_settings settings;
    char endpoint[256], service[SF_FIELD_TEXT_SIZE];
    void *context, *announced, *request; /* sockets; `request` is open once the service has announced it */
    bool is_asked;
    int64_t again_ns;
    sf_transport *spikes; /* once it is known where they are */
} asker;

static void *open_socket(void *context, int type, const char *endpoint)
{
    const int none = 0;
    const int64_t most = MOST_ANSWER;
    void *socket = zmq_socket(context, type);
    if (socket == NULL) return NULL;
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    if (type == ZMQ_SUB) zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    if (zmq_connect(socket, endpoint) == 0) return socket;
    zmq_close(socket);
    return NULL;
}

static void hear_service(asker *it)
{
    static const sf_field row = {"replyEndpoint", SF_FIELD_TEXT, 0};
    char bytes[MOST_ANSWER];
    sf_fields fields = {.rows = &row, .count = 1};
    int size = zmq_recv(it->announced, bytes, sizeof bytes, ZMQ_DONTWAIT);
    if (size < 0 || size > MOST_ANSWER) return;
    if (sf_fields_from_msgpack(&fields, it->service, (sf_part){bytes, (size_t)size}) != SF_DOCUMENT_WHOLE ||
        fields.found == 0)
        return;
    it->request = open_socket(it->context, ZMQ_REQ, it->service);
}

static void ask(asker *it, int64_t now_ns)
{
    sf_text question = {0};
    it->again_ns = now_ns + ASK_EVERY_NS;
    put_map(&question, 3);
    put_text(&question, "tag");
    put_text(&question, "get");
    put_text(&question, "name");
    put_text(&question, SPIKES);
    put_text(&question, "endpoint");
    put_text(&question, "");
    it->is_asked =
        !question.failed && zmq_send(it->request, question.data, question.length, ZMQ_DONTWAIT) >= 0;
    sf_text_free(&question);
}

/* Reads the endpoint of the spikes from the answer and connects to it; an empty text means that there is none
 * yet. */
static int take_answer(asker *it, sf_error *error)
{
    char bytes[MOST_ANSWER], place[SF_FIELD_TEXT_SIZE + 4];
    int size = zmq_recv(it->request, bytes, sizeof bytes, ZMQ_DONTWAIT);
    if (size < 0) return SF_OK;
    it->is_asked = false;
    size_t head = size > 1 && (unsigned char)bytes[0] == 0xd9 ? 2 : 1; /* its length is that of the message */
    size_t length = (size_t)size > head ? (size_t)size - head : 0;
    if (length == 0 || length >= sizeof place) return SF_OK;
    memcpy(place, bytes + head, length);
    place[length] = '\0';
    it->settings.endpoint = place;
    int status = sf_transport_zmq.open(&it->spikes, &it->settings, error);
    return status == SF_OK ? sf_transport_zmq.connect(it->spikes, error) : status;
}

static int find_spikes(asker *it, int64_t now_ns, sf_error *error)
{
    if (it->request == NULL) hear_service(it);
    if (it->request != NULL && it->is_asked) return take_answer(it, error);
    if (it->request != NULL && now_ns >= it->again_ns) ask(it, now_ns);
    return SF_OK;
}

static int receive(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error)
{
    asker *it = (asker *)transport;
    while (it->spikes == NULL) {
        int64_t now = sf_clock_monotonic_ns();
        int status = find_spikes(it, now, error);
        if (status != SF_OK) return status;
        if (it->spikes == NULL && now >= deadline_ns) return SF_AGAIN;
        if (it->spikes == NULL) sf_clock_sleep_until(now + 5 * SF_MILLISECOND);
    }
    return it->spikes->kind->receive(it->spikes, decoder, deadline_ns, error);
}

static bool is_connected(const sf_transport *transport)
{
    const asker *it = (const asker *)transport;
    return it->spikes != NULL && it->spikes->kind->connected(it->spikes);
}

static void close_asker(sf_transport *transport)
{
    asker *it = (asker *)transport;
    if (it->spikes != NULL) it->spikes->kind->close(it->spikes);
    if (it->request != NULL) zmq_close(it->request);
    if (it->announced != NULL) zmq_close(it->announced);
    if (it->context != NULL) zmq_ctx_term(it->context);
    sf_free(it);
}

static const sf_transport_kind transport;

static int listen_to_service(sf_transport *opened, sf_error *error)
{
    asker *it = (asker *)opened;
    int status = sf_descriptors_check(2 * SF_ZMQ_DESCRIPTORS, it->endpoint, error);
    if (status != SF_OK) return status;
    it->context = zmq_ctx_new();
    if (it->context == NULL)
        return sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot make a ZeroMQ context");
    it->announced = open_socket(it->context, ZMQ_SUB, it->endpoint);
    return it->announced != NULL ? SF_OK
                                 : sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot connect: %s",
                                           zmq_strerror(zmq_errno()));
}

static int open_asker(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    *out = NULL;
    asker *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->transport.kind = &transport;
    it->settings = *settings;
    snprintf(it->endpoint, sizeof it->endpoint, "%s", settings->endpoint);
    int status = sf_endpoint_check_peer(it->endpoint, error);
    if (status != SF_OK) {
        close_asker(&it->transport);
        return status;
    }
    *out = &it->transport;
    return SF_OK;
}

static const sf_transport_kind transport = {.descriptors = 2 * SF_ZMQ_DESCRIPTORS,
                                            .open = open_asker,
                                            .connect = listen_to_service,
                                            .receive = receive,
                                            .connected = is_connected,
                                            .close = close_asker};

/* ---- playing: the service, and the spikes ---- */

typedef struct service {
    sf_sending sending;
    sf_sending *spikes; /* a publisher of its own */
    sf_zmq_publisher announcer;
    void *reply;
    sf_text announcement;
    int64_t due_ns;
} service;

/* Answers every request with the endpoint of the spikes. */
static void answer(service *it)
{
    char question[MOST_ANSWER];
    sf_text place = {0};
    while (zmq_recv(it->reply, question, sizeof question, ZMQ_DONTWAIT) >= 0) {
        sf_text_clear(&place);
        put_text(&place, it->spikes->address);
        zmq_send(it->reply, place.data, place.length, ZMQ_DONTWAIT);
    }
    sf_text_free(&place);
}

static int64_t update(sf_sending *sending)
{
    service *it = (service *)sending;
    int64_t now = sf_clock_monotonic_ns();
    sf_publisher_update(&it->announcer);
    if (now >= it->due_ns) {
        it->due_ns = now + ASK_EVERY_NS / 5;
        sf_publisher_send(&it->announcer, &(sf_part){it->announcement.data, it->announcement.length}, 1,
                          NULL);
    }
    answer(it);
    int64_t listeners = it->spikes->kind->update(it->spikes);
    sending->joined = it->spikes->joined;
    return listeners;
}

static int put(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    service *it = (service *)sending;
    return it->spikes->kind->put(it->spikes, parts, count, error);
}

static void close_service(sf_sending *sending, int linger_ms)
{
    service *it = (service *)sending;
    if (it->spikes != NULL) it->spikes->kind->close(it->spikes, linger_ms);
    if (it->reply != NULL) zmq_close(it->reply);
    sf_publisher_close(&it->announcer, 0);
    sf_text_free(&it->announcement);
    sf_free(it);
}

/* Binds the reply socket to any port of the interface that the service uses. */
static int open_reply(service *it, const char *beside, sf_error *error)
{
    char endpoint[280], bound[256];
    size_t size = sizeof bound;
    const char *colon = strrchr(it->announcer.address, ':');
    const int64_t most = MOST_ANSWER;
    snprintf(endpoint, sizeof endpoint, "%.*s:*", (int)(colon - it->announcer.address),
             it->announcer.address);
    it->reply = zmq_socket(it->announcer.context, ZMQ_REP);
    if (it->reply == NULL || zmq_setsockopt(it->reply, ZMQ_MAXMSGSIZE, &most, sizeof most) != 0 ||
        zmq_bind(it->reply, endpoint) != 0 || zmq_getsockopt(it->reply, ZMQ_LAST_ENDPOINT, bound, &size) != 0)
        return sf_fail(error, SF_UNAVAILABLE, beside, "cannot bind: %s", zmq_strerror(zmq_errno()));
    put_map(&it->announcement, 1);
    put_text(&it->announcement, "replyEndpoint");
    put_text(&it->announcement, bound);
    return it->announcement.failed ? sf_fail_memory(error) : SF_OK;
}

static const sf_sending_kind sending;

static int open_service(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    *out = NULL;
    service *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    const sf_publisher_settings announced = {
        .endpoint = settings->endpoint, .queue = 16, .insecure = settings->insecure, .permit = "--insecure"};
    sf_sending_settings spikes = *settings;
    char endpoint[280];
    it->sending.kind = &sending;
    int status =
        strncmp(settings->endpoint, "tcp://", 6) == 0
            ? sf_publisher_open(&it->announcer, &announced, error)
            : sf_fail(error, SF_USAGE, settings->endpoint, "is no endpoint: expected tcp://ADDRESS:PORT");
    if (status == SF_OK) status = open_reply(it, settings->endpoint, error);
    if (status == SF_OK) {
        const char *colon = strrchr(it->announcer.address, ':');
        snprintf(endpoint, sizeof endpoint, "%.*s:*", (int)(colon - it->announcer.address),
                 it->announcer.address);
        spikes.endpoint = endpoint;
        status = sf_sending_zmq.open(&it->spikes, &spikes, error);
    }
    if (status != SF_OK) {
        close_service(&it->sending, 0);
        return status;
    }
    snprintf(it->sending.address, sizeof it->sending.address, "%s", it->announcer.address);
    *out = &it->sending;
    return SF_OK;
}

static const sf_sending_kind sending = {
    .open = open_service, .update = update, .put = put, .close = close_service};

static int put_spike(sf_sender *sender, const sf_spike *spike, sf_error *error)
{
    sf_text *map = &sender->frame;
    sf_text_clear(map);
    put_map(map, 3);
    put_text(map, "localTimestamp");
    put_number(map,
               (uint32_t)sf_sender_sample(spike->time_ns - sender->about->recorded.start_ns, SAMPLE_RATE));
    put_text(map, "nTrodeId");
    put_number(map, spike->unit);
    put_text(map, "cluster");
    put_number(map, 0);
    if (map->failed) return sf_fail_memory(error);
    return sf_sender_put(sender, &(sf_part){map->data, map->length}, 1, error);
}

static int batch(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    return sf_sender_each(sender, batch, put_spike, NULL, error);
}

static const sf_sender_protocol sender = {
    .endpoint = "tcp://127.0.0.1:49152", .sending = &sending, .batch = batch};

static const sf_live_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                          .endpoint = "tcp://127.0.0.1:49152",
                                          .timeout_s = 10,
                                          .electrodes = "learn",
                                          .learn_s = 5,
                                          .sample_rate_hz = SAMPLE_RATE};

static const sf_key keys[] = {SF_LIVE_ENDPOINT("of its service"),
                              SF_LIVE_ANY_ELECTRODES,
                              SF_LIVE_REAL("sample_rate_hz", sample_rate_hz, 1, 1e9, "of the hardware"),
                              {0}};

const sf_protocol sf_protocol_trodes = {
    .source = {.settings = {"trodes", keys, sizeof(sf_live_settings), &defaults,
                            "SpikeGadgets' Trodes, with ZMQ networking"},
               .descriptors = 2 * SF_ZMQ_DESCRIPTORS,
               SF_LIVE_SOURCE},
    .name = "trodes",
    .system = "Trodes",
    .transport = &transport,
    .sender = &sender,
    .queue = 65536,
    .start = "Trodes with ZMQ networking, its service on %s",
    .refused =
        "start Trodes with a workspace whose networking is ZMQ, not QSocket; its service is on port 49152",
    .silent = "networking of the workspace must be ZMQ; start streaming from the source in Trodes, and have "
              "spikes triggered. Where Trodes tells 127.0.0.1, run synfire on that computer",
};
