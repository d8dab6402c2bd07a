/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/tcp.h"

#include "core/error.h"
#include "core/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct spelt {
    char host[256];
    const char *port; /* "0": any */
} spelt;

static int split(spelt *at, const char *endpoint, const char *scheme, int type, bool passive, sf_error *error)
{
    const char *colon = strrchr(endpoint, ':');
    size_t begin = strlen(scheme);
    uint64_t port;
    bool is_stream = type == SOCK_STREAM,
         any_port = is_stream && passive && colon != NULL && strcmp(colon, ":*") == 0;
    if (strncmp(endpoint, scheme, begin) != 0 || colon <= endpoint + begin ||
        !(any_port || (sf_parse_uint(colon + 1, 65535, &port) && ((is_stream && passive) || port > 0))) ||
        (size_t)(colon - endpoint) - begin >= sizeof at->host)
        return sf_fail(error, SF_USAGE, endpoint, "is no endpoint: expected %sHOST:PORT", scheme);
    snprintf(at->host, sizeof at->host, "%.*s", (int)((size_t)(colon - endpoint) - begin), endpoint + begin);
    at->port = any_port ? "0" : colon + 1;
    return SF_OK;
}

int sf_tcp_check(const char *endpoint, sf_error *error)
{
    spelt at;
    return split(&at, endpoint, "tcp://", SOCK_STREAM, false, error);
}

int sf_udp_check(const char *endpoint, sf_error *error)
{
    spelt at;
    return split(&at, endpoint, "udp://", SOCK_DGRAM, false, error);
}

static int find_addresses(struct addrinfo **addresses, const char *endpoint, const char *scheme, int type,
                          bool passive, sf_error *error)
{
    spelt at;
    *addresses = NULL;
    int status = split(&at, endpoint, scheme, type, passive, error);
    if (status != SF_OK) return status;
    const struct addrinfo wanted = {.ai_family = AF_INET, /* as the rigs have it */
                                    .ai_socktype = type,
                                    .ai_flags = passive ? AI_PASSIVE : 0};
    int failure =
        getaddrinfo(passive && strcmp(at.host, "*") == 0 ? NULL : at.host, at.port, &wanted, addresses);
    if (failure != 0) return sf_fail(error, SF_UNAVAILABLE, endpoint, "%s", gai_strerror(failure));
    return SF_OK;
}

int sf_tcp_addresses(struct addrinfo **addresses, const char *endpoint, bool passive, sf_error *error)
{
    return find_addresses(addresses, endpoint, "tcp://", SOCK_STREAM, passive, error);
}

int sf_udp_addresses(struct addrinfo **addresses, const char *endpoint, bool passive, sf_error *error)
{
    return find_addresses(addresses, endpoint, "udp://", SOCK_DGRAM, passive, error);
}

static bool bind_to(int listener, const struct addrinfo *address, int waiting, char place[SF_TCP_PLACE_SIZE])
{
    struct sockaddr_in bound;
    socklen_t size = sizeof bound;
    char host[INET_ADDRSTRLEN];
    const int yes = 1;
    bool is_bound = setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                    bind(listener, address->ai_addr, address->ai_addrlen) == 0 &&
                    listen(listener, waiting) == 0 &&
                    getsockname(listener, (struct sockaddr *)&bound, &size) == 0;
    if (is_bound && inet_ntop(AF_INET, &bound.sin_addr, host, sizeof host) != NULL)
        snprintf(place, SF_TCP_PLACE_SIZE, "%s:%u", host, ntohs(bound.sin_port));
    return is_bound;
}

int sf_tcp_listen(int *listener, char place[SF_TCP_PLACE_SIZE], const char *endpoint, int waiting,
                  sf_error *error)
{
    struct addrinfo *address;
    *listener = -1;
    int status = sf_tcp_addresses(&address, endpoint, true, error);
    if (status != SF_OK) return status;
    int made = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0 || !bind_to(made, address, waiting, place)) {
        status = sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot bind: %s", strerror(errno));
        if (made >= 0) close(made);
    } else {
        *listener = made;
    }
    freeaddrinfo(address);
    return status;
}
