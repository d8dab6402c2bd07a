/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acts as one of Blackrock's systems: sends datagrams to one address, and at the port before it answers
 * clients that start it and ask what it is. Its monitors report the number of packets sent.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/little.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"
#include "decode/cerebus.h"
#include "ingest/blackrock.h"
#include "ingest/tcp.h"
#include "io/descriptors.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Maximum bytes of a datagram, unless one packet is longer: the size that Ethernet carries unfragmented. */
#define DATAGRAM 1400
#define AT_ONCE 16        /* number of channels described with a beat */
#define MOST_QUESTIONS 64 /* that are answered at a time */
#define CHANNEL_BYTES 664 /* of what is said of one */
#define PROCESSOR_BYTES (SF_CEREBUS_VERSION_AT + 4)
#define STATE_BYTES 24
#define HARD_RESET 20
#define STANDBY 30
#define RESET 40
#define ASK_CLOCK 0xdcu
#define TELL_CLOCK 0x5cu
#define WAIT_MS 50
#define ATTEMPTS 20 /* attempts to send a datagram while the system has no room for it */

typedef struct device {
    sf_sending sending;
    int socket; /* socket for sending and for requests */
    int probe;  /* connected to the destination: detects whether anybody listens */
    bool was_probed, is_heard;
    struct sockaddr_in to;
    sf_text labels;
    size_t described;         /* bytes of the labels whose channels were described, and ... */
    uint32_t described_count; /* ... how many those are */
    uint64_t time;            /* ticks */
    uint32_t sent;            /* packets since the last monitor */
    uint32_t monitors;
    unsigned char datagram[SF_CEREBUS_DATAGRAM];
    size_t size;
} device;

/* ---- packets ---- */

static void put_16(unsigned char *to, uint32_t value)
{
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
}

static void put_32(unsigned char *to, uint32_t value)
{
    put_16(to, value);
    put_16(to + 2, value >> 16);
}

void sf_blackrock_header(unsigned char header[SF_BLACKROCK_HEADER], uint64_t time, uint32_t channel,
                         uint32_t type, size_t bytes, unsigned instrument)
{
    put_32(header, (uint32_t)time);
    put_32(header + 4, (uint32_t)(time >> 32));
    put_16(header + 8, channel);
    put_16(header + 10, type);
    put_16(header + 12, (uint32_t)(bytes / 4));
    header[14] = (unsigned char)instrument;
    header[15] = 0;
}

static int flush(device *it, sf_error *error)
{
    if (it->size == 0) return SF_OK;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (sendto(it->socket, it->datagram, it->size, 0, (const struct sockaddr *)&it->to, sizeof it->to) >=
            0) {
            it->size = 0;
            return SF_OK;
        }
        if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) break;
        struct pollfd waiting = {.fd = it->socket, .events = POLLOUT};
        poll(&waiting, 1, WAIT_MS);
    }
    return sf_fail(error, SF_IO, it->sending.address, "cannot send: %s", strerror(errno));
}

/* A whole packet, with its header. */
static int put_packet(device *it, const unsigned char *packet, size_t bytes, sf_error *error)
{
    int status = it->size > 0 && it->size + bytes > DATAGRAM ? flush(it, error) : SF_OK;
    if (status != SF_OK) return status;
    memcpy(it->datagram + it->size, packet, bytes);
    it->size += bytes;
    it->sent++;
    return SF_OK;
}

static int put_system(device *it, uint32_t type, const unsigned char *payload, size_t bytes, sf_error *error)
{
    unsigned char packet[SF_CEREBUS_PACKET];
    sf_blackrock_header(packet, it->time, SF_CEREBUS_SYSTEM, type, bytes, 0);
    memcpy(packet + SF_BLACKROCK_HEADER, payload, bytes);
    return put_packet(it, packet, SF_BLACKROCK_HEADER + bytes, error);
}

static int put_packets(device *it, sf_part packets, sf_error *error)
{
    const unsigned char *bytes = packets.data;
    sf_cerebus_packet packet;
    int status = SF_OK;
    for (size_t at = 0, whole; status == SF_OK && at < packets.size; at += whole) {
        whole = sf_cerebus_read(SF_CEREBUS_41, bytes + at, packets.size - at, &packet);
        if (whole == 0) return sf_fail(error, SF_INTERNAL, it->sending.address, "no whole packet");
        status = put_packet(it, bytes + at, whole, error);
    }
    return status == SF_OK ? flush(it, error) : status;
}

/* ---- answers ---- */

static int put_state(device *it, uint32_t type, uint32_t level, sf_error *error)
{
    unsigned char payload[STATE_BYTES] = {0};
    put_32(payload, SF_CEREBUS_HZ);
    put_32(payload + 4, 48);
    put_32(payload + 8, 10);
    put_32(payload + SF_CEREBUS_LEVEL_AT, level);
    return put_system(it, type, payload, sizeof payload, error);
}

static int put_processor(device *it, uint32_t channels, sf_error *error)
{
    unsigned char payload[PROCESSOR_BYTES] = {0};
    static const char ident[] = "synfire player";
    put_32(payload, 1);
    memcpy(payload + SF_CEREBUS_IDENT_AT, ident, sizeof ident);
    put_32(payload + 72, 1);
    put_32(payload + 76, channels);
    put_32(payload + SF_CEREBUS_VERSION_AT, UINT32_C(4) << 16 | 2);
    return put_system(it, SF_CEREBUS_PROCESSOR, payload, sizeof payload, error);
}

/* Scale of the 16-bit samples: a quarter of a microvolt per step. */
static void put_scale(unsigned char *to)
{
    put_16(to, (uint16_t)-32764);
    put_16(to + 2, 32764);
    put_32(to + 4, (uint32_t)-8191);
    put_32(to + 8, 8191);
    put_32(to + 12, 1);
    to[16] = 'u';
    to[17] = 'V';
}

static int put_channel(device *it, unsigned at, uint32_t number, const char *label, uint32_t can,
                       uint32_t inputs, sf_error *error)
{
    unsigned char packet[SF_BLACKROCK_HEADER + CHANNEL_BYTES] = {0}, *payload = packet + SF_BLACKROCK_HEADER;
    sf_blackrock_header(packet, it->time, SF_CEREBUS_SYSTEM, SF_CEREBUS_CHANNEL, CHANNEL_BYTES, at);
    put_32(payload, number);
    put_32(payload + 4, 1);
    put_32(payload + 8, (number - 1) / 32 + 1);
    put_32(payload + 12, (number - 1) % 32 + 1);
    put_32(payload + SF_CEREBUS_CAPABILITIES_AT, can);
    put_32(payload + SF_CEREBUS_INPUTS_AT, inputs);
    put_scale(payload + 40);  /* of the hardware */
    put_scale(payload + 204); /* of those who use it */
    strncpy((char *)payload + SF_CEREBUS_LABEL_AT, label, SF_CEREBUS_LABEL);
    return put_packet(it, packet, sizeof packet, error);
}

/* The one whose label stands at *at. */
static int put_next_channel(device *it, size_t *at, uint32_t *number, sf_error *error)
{
    const char *label = it->labels.data + *at;
    unsigned instrument = *number / SF_BLACKROCK_FRONT_END;
    uint32_t channel = (*number)++ % SF_BLACKROCK_FRONT_END + 1;
    *at += strlen(label) + 1;
    /* capabilities: exists, connected, isolated, analog input */
    return put_channel(it, instrument, channel, label, 7 | SF_CEREBUS_IS_ANALOG, 0, error);
}

static int put_channels(device *it, sf_error *error)
{
    uint32_t number = 0;
    int status = SF_OK;
    for (size_t at = 0; status == SF_OK && at < it->labels.length;)
        status = put_next_channel(it, &at, &number, error);
    if (status == SF_OK) /* of 16 bits, sent where any changes */
        status = put_channel(it, 0, SF_BLACKROCK_DIGITAL, "digin", 3 | SF_CEREBUS_IS_DIGITAL, 0x1400, error);
    return status;
}

static uint32_t count_channels(const device *it)
{
    uint32_t count = 0;
    for (size_t at = 0; at < it->labels.length; count++)
        at += strlen(it->labels.data + at) + 1;
    return count;
}

static int describe_all(device *it, sf_error *error)
{
    int status = put_system(it, SF_CEREBUS_CONFIGURED, it->datagram, 0, error);
    if (status == SF_OK) status = put_processor(it, count_channels(it), error);
    if (status == SF_OK) status = put_channels(it, error);
    return status == SF_OK ? put_state(it, SF_CEREBUS_STATE, SF_CEREBUS_RUNNING, error) : status;
}

/* The system always runs; after a reset it reports the reset and then running. */
static int set_level(device *it, uint32_t level, sf_error *error)
{
    int status = put_state(it, SF_CEREBUS_RUN_LEVEL, level, error);
    if (status == SF_OK && (level == HARD_RESET || level == RESET))
        status = put_state(it, SF_CEREBUS_RUN_LEVEL, level == RESET ? SF_CEREBUS_RUNNING : STANDBY, error);
    return status;
}

static int echo_clock(device *it, const sf_cerebus_packet *of, sf_error *error)
{
    return put_system(it, TELL_CLOCK, of->payload, of->bytes, error);
}

static int answer(device *it, const unsigned char *bytes, size_t size, sf_error *error)
{
    sf_cerebus_packet packet;
    if (sf_cerebus_read(SF_CEREBUS_41, bytes, size, &packet) != size || packet.channel != SF_CEREBUS_SYSTEM)
        return SF_OK;
    int status = SF_OK;
    if (packet.type == SF_CEREBUS_SET_RUN_LEVEL && packet.bytes >= STATE_BYTES)
        status = set_level(it, sf_little_32(packet.payload + SF_CEREBUS_LEVEL_AT), error);
    else if (packet.type == SF_CEREBUS_ASK_ALL)
        status = describe_all(it, error);
    else if (packet.type == ASK_CLOCK)
        status = echo_clock(it, &packet, error);
    return status == SF_OK ? flush(it, error) : status;
}

static int answer_all(device *it, sf_error *error)
{
    unsigned char bytes[SF_CEREBUS_PACKET + 1];
    int status = SF_OK;
    for (int i = 0; i < MOST_QUESTIONS && status == SF_OK; i++) {
        ssize_t size = recv(it->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size < 0) break;
        status = answer(it, bytes, (size_t)size, error);
    }
    return status;
}

/* Describes a few channels at a time, unasked, because Central asks at its start and every receiver must have
 * room for the answers. */
static int describe_some(device *it, sf_error *error)
{
    int status = it->described == 0 ? put_processor(it, count_channels(it), error) : SF_OK;
    for (int i = 0; status == SF_OK && it->described < it->labels.length && i < AT_ONCE; i++)
        status = put_next_channel(it, &it->described, &it->described_count, error);
    return status;
}

static int put_beat(device *it, sf_part time, sf_error *error)
{
    unsigned char monitor[8];
    memcpy(&it->time, time.data, sizeof it->time);
    int status = it->described < it->labels.length ? describe_some(it, error) : SF_OK;
    if (status == SF_OK) status = put_system(it, SF_CEREBUS_HEARTBEAT, monitor, 0, error);
    put_32(monitor, it->sent + 1);
    put_32(monitor + 4, it->monitors);
    if (status == SF_OK) status = put_system(it, SF_CEREBUS_MONITOR, monitor, sizeof monitor, error);
    it->sent = 0;
    it->monitors++;
    return status == SF_OK ? flush(it, error) : status;
}

/* ---- sending ---- */

/* Sends an empty datagram: a computer on which nobody listens returns an error, if it reports that at all, as
 * the local one does. */
static int64_t update(sf_sending *sending)
{
    device *it = (device *)sending;
    int failure = 0;
    socklen_t size = sizeof failure;
    answer_all(it, NULL);
    if (it->is_heard) return 1;
    if (it->was_probed) getsockopt(it->probe, SOL_SOCKET, SO_ERROR, &failure, &size);
    it->is_heard = it->was_probed && failure == 0;
    sending->joined += it->is_heard;
    if (!it->is_heard) it->was_probed = send(it->probe, "", 0, 0) >= 0;
    return it->is_heard;
}

static int put(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    device *it = (device *)sending;
    int status = count == 2 ? answer_all(it, error)
                            : sf_fail(error, SF_INTERNAL, sending->address, "no message of two parts");
    if (status == SF_OK && sf_part_is(parts[0], "about"))
        sf_text_append(&it->labels, parts[1].data, parts[1].size);
    else if (status == SF_OK)
        status =
            sf_part_is(parts[0], "beat") ? put_beat(it, parts[1], error) : put_packets(it, parts[1], error);
    if (status == SF_OK && it->labels.failed) status = sf_fail_memory(error);
    return status == SF_OK ? SF_SENT : status;
}

static void close_device(sf_sending *sending, int linger_ms)
{
    device *it = (device *)sending;
    (void)linger_ms; /* what was sent is under way */
    if (it->socket >= 0) close(it->socket);
    if (it->probe >= 0) close(it->probe);
    sf_text_free(&it->labels);
    sf_free(it);
}

/* ---- opening ---- */

static int open_socket(const char *endpoint, sf_error *error)
{
    const int yes = 1;
    int it = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (it < 0)
        sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot make a socket: %s", strerror(errno));
    else
        setsockopt(it, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
    return it;
}

/* Binds the port before the destination's for requests; if it is in use, requests are not answered. */
static void bind_before(const device *it, bool is_local)
{
    uint16_t port = (uint16_t)(ntohs(it->to.sin_port) - 1);
    struct sockaddr_in own = {.sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(is_local ? INADDR_LOOPBACK : INADDR_ANY)};
    if (port == 0 || bind(it->socket, (const struct sockaddr *)&own, sizeof own) != 0)
        sf_log(SF_LOG_WARNING, "%s: cannot be asked at port %u: %s", it->sending.address, port,
               strerror(errno));
}

static int open_sockets(device *it, const sf_sending_settings *settings, sf_error *error)
{
    struct addrinfo *address;
    int status = sf_udp_addresses(&address, settings->endpoint, false, error);
    if (status != SF_OK) return status;
    memcpy(&it->to, address->ai_addr, sizeof it->to);
    freeaddrinfo(address);
    bool is_local = ntohl(it->to.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    if (!is_local && !settings->insecure)
        return sf_fail(error, SF_USAGE, settings->endpoint,
                       "sends to other machines: send to 127.0.0.1, or say --insecure");
    it->socket = open_socket(settings->endpoint, error);
    if (it->socket < 0 || (it->probe = open_socket(settings->endpoint, error)) < 0) return SF_UNAVAILABLE;
    if (connect(it->probe, (const struct sockaddr *)&it->to, sizeof it->to) != 0)
        return sf_fail(error, SF_UNAVAILABLE, settings->endpoint, "cannot send there: %s", strerror(errno));
    char host[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &it->to.sin_addr, host, sizeof host);
    snprintf(it->sending.address, sizeof it->sending.address, "udp://%s:%u", host, ntohs(it->to.sin_port));
    bind_before(it, is_local);
    return SF_OK;
}

static int open_device(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    *out = NULL;
    device *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->sending.kind = &sf_sending_blackrock;
    it->socket = it->probe = -1;
    int status = sf_descriptors_check(2, settings->endpoint, error);
    if (status == SF_OK) status = open_sockets(it, settings, error);
    if (status != SF_OK) {
        close_device(&it->sending, 0);
        return status;
    }
    *out = &it->sending;
    return SF_OK;
}

const sf_sending_kind sf_sending_blackrock = {
    .open = open_device, .update = update, .put = put, .close = close_device};
