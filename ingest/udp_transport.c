/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the datagrams that are sent to a port of this computer, many at a time. It sends nothing but the
 * questions that it was given an address for. The port may be shared: another program that listens there
 * keeps its own, as far as the system lets both hear.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "ingest/tcp.h"
#include "ingest/transport.h"
#include "io/descriptors.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define AT_ONCE 32                /* datagrams that are taken at a time */
#define ROOM 65536                /* of a datagram: the largest has 65,507 bytes */
#define BUFFER (32 * 1024 * 1024) /* bytes that may wait: what fast rigs send in a second */
#define SILENT_NS (5 * SF_SECOND)
#define ASK_NS (2 * SF_SECOND) /* once more: a question, or some of the answers, may be lost */
#define ASKED 2

typedef union overflow {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(uint32_t))];
} overflow;

typedef struct listener {
    sf_transport transport;
    const sf_transport_settings *settings;
    int socket;
    char endpoint[256];
    bool has_device;
    struct in_addr device;
    struct in_addr first; /* who sent the first datagram that counts; 0: none came */
    bool several_were_told;
    struct sockaddr_in request; /* port 0: nobody is asked */
    const sf_part *questions;
    unsigned asked; /* since it was silent */
    int64_t ask_ns;
    uint32_t buffer;          /* bytes that were granted */
    uint32_t dropped, warned; /* datagrams that the system dropped because its buffer was full; their number
                                 at the last warning */
    uint64_t strangers;       /* datagrams from elsewhere */
    _Atomic int64_t heard_ns; /* when something came last; INT64_MIN: never */
    unsigned count, next;     /* of those that were taken at a time */
    struct mmsghdr taken[AT_ONCE];
    struct iovec parts[AT_ONCE];
    struct sockaddr_in from[AT_ONCE];
    overflow controls[AT_ONCE];
    unsigned char bytes[AT_ONCE][ROOM];
} listener;

/* ---- receiving ---- */

/* Linux counts the datagrams that it dropped since the socket was opened. */
static void note_dropped(listener *it, struct msghdr *of)
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(of); at != NULL; at = CMSG_NXTHDR(of, at))
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SO_RXQ_OVFL)
            memcpy(&it->dropped, CMSG_DATA(at), sizeof it->dropped);
    it->transport.seen.dropped = it->dropped;
    if (it->dropped == it->warned || it->dropped - it->warned < it->warned) return;
    it->warned = it->dropped;
    sf_log(SF_LOG_WARNING,
           "%s: this computer dropped %" PRIu32 " datagrams so far, as its buffer of %" PRIu32
           " bytes was full: let net.core.rmem_max be %d, or give the run a processor of its own",
           it->endpoint, it->dropped, it->buffer, BUFFER);
}

static void note_stranger(listener *it, const struct sockaddr_in *from)
{
    char address[INET_ADDRSTRLEN];
    it->strangers++;
    if ((it->strangers & (it->strangers - 1)) != 0) return;
    inet_ntop(AF_INET, &from->sin_addr, address, sizeof address);
    sf_log(SF_LOG_WARNING, "%s: %" PRIu64 " datagrams so far from elsewhere, the last from %s, are left out",
           it->endpoint, it->strangers, address);
}

/* Asks once something was heard, since a system that does not run answers nothing; from the port that it
 * sends to. */
static void ask(listener *it, int64_t now_ns)
{
    if (it->request.sin_port == 0 || it->asked == ASKED || now_ns < it->ask_ns) return;
    it->asked++;
    it->ask_ns = now_ns + ASK_NS;
    for (const sf_part *at = it->questions; at->size > 0; at++)
        if (sendto(it->socket, at->data, at->size, MSG_DONTWAIT, (const struct sockaddr *)&it->request,
                   sizeof it->request) < 0 &&
            it->asked == 1)
            sf_log(SF_LOG_WARNING, "%s: cannot ask for the configuration: %s", it->endpoint, strerror(errno));
}

static void note_heard(listener *it)
{
    int64_t now = sf_clock_monotonic_ns(), before = atomic_load(&it->heard_ns);
    atomic_store(&it->heard_ns, now);
    if (before == INT64_MIN || now - before > SILENT_NS) {
        it->asked = 0;
        it->ask_ns = now;
    }
    ask(it, now);
}

/* Two systems that send to one port may number their channels alike: the decoder cannot tell them apart. */
static void note_sender(listener *it, struct in_addr from)
{
    char first[INET_ADDRSTRLEN], other[INET_ADDRSTRLEN];
    if (it->first.s_addr == 0) it->first = from;
    if (it->first.s_addr == from.s_addr || it->several_were_told) return;
    it->several_were_told = true;
    inet_ntop(AF_INET, &it->first, first, sizeof first);
    inet_ntop(AF_INET, &from, other, sizeof other);
    sf_log(SF_LOG_WARNING,
           "%s: datagrams come from %s and from %s, and all are read: `device` takes those of one",
           it->endpoint, first, other);
}

static void fill(listener *it)
{
    for (unsigned i = 0; i < AT_ONCE; i++) {
        it->parts[i] = (struct iovec){it->bytes[i], ROOM};
        it->taken[i].msg_hdr = (struct msghdr){.msg_name = &it->from[i],
                                               .msg_namelen = sizeof it->from[i],
                                               .msg_iov = &it->parts[i],
                                               .msg_iovlen = 1,
                                               .msg_control = it->controls[i].bytes,
                                               .msg_controllen = sizeof it->controls[i].bytes};
    }
    int count = recvmmsg(it->socket, it->taken, AT_ONCE, MSG_DONTWAIT, NULL);
    it->count = count > 0 ? (unsigned)count : 0;
    it->next = 0;
    if (it->count == 0) return;
    note_heard(it);
    note_dropped(it, &it->taken[it->count - 1].msg_hdr);
}

/* The next datagram that has arrived from the device; false where none has. */
static bool take_next(listener *it, sf_decoder *decoder, unsigned *index)
{
    if (it->next == it->count) fill(it);
    while (it->next < it->count) {
        *index = it->next++;
        if (!it->has_device || it->from[*index].sin_addr.s_addr == it->device.s_addr) {
            note_sender(it, it->from[*index].sin_addr);
            return true;
        }
        note_stranger(it, &it->from[*index]);
        decoder->batch.other_streams++;
    }
    return false;
}

static int receive(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error)
{
    listener *it = (listener *)transport;
    unsigned index;
    for (bool was_interrupted = false; !take_next(it, decoder, &index);) {
        int64_t now = sf_clock_monotonic_ns();
        if (now >= deadline_ns || was_interrupted) return SF_AGAIN;
        struct pollfd waiting = {.fd = it->socket, .events = POLLIN};
        int64_t wait_ms = (deadline_ns - now + SF_MILLISECOND - 1) / SF_MILLISECOND;
        was_interrupted = poll(&waiting, 1, (int)(wait_ms < 1000 ? wait_ms : 1000)) < 0 && errno == EINTR;
    }
    return sf_decoder_feed(decoder, it->bytes[index], it->taken[index].msg_len, SF_FEED_MESSAGE, error);
}

/* UDP has no connection: the rig counts as connected as long as something comes. */
static bool is_connected(const sf_transport *transport)
{
    int64_t heard_ns = atomic_load(&((const listener *)transport)->heard_ns);
    return heard_ns != INT64_MIN && sf_clock_monotonic_ns() - heard_ns < SILENT_NS;
}

/* ---- opening ---- */

static void close_listener(sf_transport *transport)
{
    listener *it = (listener *)transport;
    if (it->socket >= 0) close(it->socket);
    sf_free(it);
}

/* Whatever the system grants is good enough to begin with; what is too little shows by what it drops. */
static void ask_for_room(listener *it)
{
    const int wanted = BUFFER, yes = 1;
    int granted = 0;
    socklen_t size = sizeof granted;
    if (setsockopt(it->socket, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0)
        setsockopt(it->socket, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
    setsockopt(it->socket, SOL_SOCKET, SO_RXQ_OVFL, &yes, sizeof yes);
    getsockopt(it->socket, SOL_SOCKET, SO_RCVBUF, &granted, &size);
    it->buffer = granted > 0 ? (uint32_t)granted / 2 : 0; /* Linux counts its own overhead, too */
    it->transport.seen.buffer = it->buffer;
    it->transport.seen.buffer_wanted = BUFFER;
    sf_log(it->buffer < BUFFER ? SF_LOG_WARNING : SF_LOG_INFO,
           "%s: %" PRIu32 " of %d bytes of buffer were granted%s", it->endpoint, it->buffer, BUFFER,
           it->buffer < BUFFER ? ": net.core.rmem_max says how many may be" : "");
}

/* The port is shared with others who share it. */
static int bind_shared(listener *it, const struct addrinfo *to, sf_error *error)
{
    const int yes = 1;
    bool is_bound = bind(it->socket, to->ai_addr, to->ai_addrlen) == 0;
    int failure = is_bound ? 0 : errno;
    bool is_shared = failure == EADDRINUSE;
    setsockopt(it->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (is_shared) {
        is_bound = bind(it->socket, to->ai_addr, to->ai_addrlen) == 0;
        failure = is_bound ? 0 : errno;
    }
    if (!is_bound)
        return sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot bind: %s%s", strerror(failure),
                       failure == EADDRNOTAVAIL ? ": expected an address of this computer, the broadcast "
                                                  "address of its network, or 0.0.0.0"
                                                : "");
    it->transport.seen.is_shared = is_shared;
    if (is_shared)
        sf_log(SF_LOG_WARNING,
               "%s: another program listens there: both hear what is broadcast, and what is sent to this "
               "computer alone comes to the one that was started last",
               it->endpoint);
    return SF_OK;
}

static int take_device(listener *it, const char *device, sf_error *error)
{
    it->has_device = device != NULL && strcmp(device, "any") != 0;
    if (it->has_device && inet_pton(AF_INET, device, &it->device) != 1)
        return sf_fail(error, SF_CONFIG, "device",
                       "found '%s', expected any, or an address as 192.168.137.128", device);
    return SF_OK;
}

static bool is_to_ask(const sf_transport_settings *settings)
{
    return settings->request != NULL && settings->questions != NULL;
}

static int check_request(const sf_transport_settings *settings, sf_error *error)
{
    if (!is_to_ask(settings) || sf_udp_check(settings->request, NULL) == SF_OK) return SF_OK;
    return sf_fail(error, SF_CONFIG, "ask", "found '%s', expected off, or udp://HOST:PORT",
                   settings->request);
}

static int find_asked(listener *it, sf_error *error)
{
    const sf_transport_settings *settings = it->settings;
    struct addrinfo *address;
    sf_error reason = {0};
    if (!is_to_ask(settings)) return SF_OK;
    int status = sf_udp_addresses(&address, settings->request, false, &reason);
    if (status != SF_OK) return sf_fail(error, status, "ask", "%s: %s", reason.place, reason.text);
    memcpy(&it->request, address->ai_addr, sizeof it->request);
    it->questions = settings->questions;
    freeaddrinfo(address);
    return SF_OK;
}

static int listen_at(listener *it, sf_error *error)
{
    struct addrinfo *address;
    int status = sf_udp_addresses(&address, it->endpoint, true, error);
    if (status != SF_OK) return status;
    it->socket = socket(address->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (it->socket < 0)
        status = sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot make a socket: %s", strerror(errno));
    if (status == SF_OK) {
        ask_for_room(it);
        status = bind_shared(it, address, error);
    }
    freeaddrinfo(address);
    return status;
}

static int start_listening(sf_transport *transport, sf_error *error)
{
    listener *it = (listener *)transport;
    int status = find_asked(it, error);
    if (status == SF_OK) status = sf_descriptors_check(1, it->endpoint, error);
    return status == SF_OK ? listen_at(it, error) : status;
}

static int open_listener(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    *out = NULL;
    listener *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->transport.kind = &sf_transport_udp;
    it->socket = -1;
    atomic_store(&it->heard_ns, INT64_MIN);
    snprintf(it->endpoint, sizeof it->endpoint, "%s", settings->endpoint);
    it->settings = settings;
    int status = take_device(it, settings->device, error);
    if (status == SF_OK) status = check_request(settings, error);
    if (status == SF_OK) status = sf_udp_check(it->endpoint, error);
    if (status != SF_OK) {
        close_listener(&it->transport);
        return status;
    }
    *out = &it->transport;
    return SF_OK;
}

const sf_transport_kind sf_transport_udp = {
    .descriptors = 1,
    .open = open_listener,
    .connect = start_listening,
    .receive = receive,
    .connected = is_connected,
    .close = close_listener,
};
