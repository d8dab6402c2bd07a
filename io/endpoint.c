/* SPDX-License-Identifier: Apache-2.0 */
#include "io/endpoint.h"

#include "core/error.h"
#include "core/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    if (address->sa_family != AF_INET6) return false;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

/* Whether `host` is the name of an interface; if so, whether all its addresses are loopback addresses. */
static bool is_interface(const char *host, bool *loopback)
{
    struct ifaddrs *all = NULL;
    bool found = false;
    if (getifaddrs(&all) != 0) return false;
    *loopback = true;
    for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
        if (strcmp(one->ifa_name, host) != 0) continue;
        found = true;
        const struct sockaddr *address = one->ifa_addr;
        if (address != NULL && (address->sa_family == AF_INET || address->sa_family == AF_INET6))
            *loopback = *loopback && is_loopback(address);
    }
    freeifaddrs(all);
    return found;
}

/* Resolves numbers in every notation (0 is all addresses) and host names; a name that does not resolve cannot
 * be bound. */
static bool leads_out(const char *host)
{
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    if (getaddrinfo(host, NULL, &wanted, &all) != 0) return false;
    bool out = false;
    for (const struct addrinfo *one = all; one != NULL; one = one->ai_next)
        out = out || !is_loopback(one->ai_addr);
    freeaddrinfo(all);
    return out;
}

static bool host_is_public(const char *host)
{
    bool loopback;
    if (strcmp(host, "*") == 0) return true;
    if (is_interface(host, &loopback)) return !loopback;
    return leads_out(host);
}

bool sf_endpoint_is_public(const char *endpoint)
{
    static const char *const networks[] = {"pgm://",  "epgm://", "norm://", "udp://",
                                           "tipc://", "vmci://", "ws://",   "wss://"};
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        if (begins(endpoint, networks[i])) return true;
    if (!begins(endpoint, "tcp://")) return false;
    const char *address = endpoint + strlen("tcp://"), *colon = strrchr(address, ':');
    size_t length = colon != NULL ? (size_t)(colon - address) : strlen(address);
    if (length >= 2 && address[0] == '[' && address[length - 1] == ']') {
        address++;
        length -= 2;
    }
    char host[256];
    if (length >= sizeof host) return true;
    snprintf(host, sizeof host, "%.*s", (int)length, address);
    return host_is_public(host);
}

int sf_endpoint_refuse(const char *endpoint, const char *permit, sf_error *error)
{
    return sf_fail(error, SF_USAGE, endpoint,
                   "other machines could connect there, and nobody is asked who they are: bind to 127.0.0.1 "
                   "and tunnel, as with ssh -L, or say %s",
                   permit);
}

bool sf_endpoint_split(const char *endpoint, char host[256], char port[8])
{
    const char *colon = strrchr(endpoint, ':');
    uint64_t number;
    if (colon == NULL || colon == endpoint || !sf_parse_uint(colon + 1, UINT16_MAX, &number)) return false;
    size_t length = (size_t)(colon - endpoint), brackets = endpoint[0] == '[' && colon[-1] == ']' ? 1 : 0;
    if (length - 2 * brackets >= 256 || (brackets == 0 && memchr(endpoint, ':', length) != NULL))
        return false;
    snprintf(host, 256, "%.*s", (int)(length - 2 * brackets), endpoint + brackets);
    snprintf(port, 8, "%u", (unsigned)number);
    return true;
}

/* libzmq also accepts IPv6 addresses without brackets. */
static bool has_port(const char *address)
{
    const char *colon = strrchr(address, ':');
    uint64_t port;
    return colon != NULL && colon != address &&
           (strcmp(colon, ":*") == 0 || sf_parse_uint(colon + 1, UINT16_MAX, &port));
}

/* As libzmq has it, which then waits for ever for a port that there is not. */
static bool is_peer(const char *address)
{
    static const char others[] = ".-:%;[]_*";
    const char *colon = strrchr(address, ':'), *at = address;
    uint64_t port;
    if (!isalnum((unsigned char)*at) && *at != '[' && *at != ':') return false;
    while (isalnum((unsigned char)*at) || (*at != '\0' && strchr(others, *at) != NULL))
        at++;
    return *at == '\0' && colon != NULL && colon != address && sf_parse_uint(colon + 1, UINT16_MAX, &port) &&
           port > 0;
}

/* Other than tcp. */
static bool is_other(const char *endpoint)
{
    if (begins(endpoint, "ipc://"))
        return endpoint[6] != '\0' && strlen(endpoint + 6) < sizeof((struct sockaddr_un *)NULL)->sun_path;
    return (begins(endpoint, "pgm://") && endpoint[6] != '\0') ||
           (begins(endpoint, "epgm://") && endpoint[7] != '\0');
}

int sf_endpoint_check(const char *endpoint, sf_error *error)
{
    if ((begins(endpoint, "tcp://") && has_port(endpoint + strlen("tcp://"))) || is_other(endpoint))
        return SF_OK;
    return sf_fail(error, SF_USAGE, endpoint,
                   "is no ZeroMQ endpoint: expected tcp://ADDRESS:PORT (address * for all) or ipc://PATH");
}

int sf_endpoint_check_peer(const char *endpoint, sf_error *error)
{
    if ((begins(endpoint, "tcp://") && is_peer(endpoint + strlen("tcp://"))) || is_other(endpoint))
        return SF_OK;
    return sf_fail(error, SF_USAGE, endpoint,
                   "is no ZeroMQ endpoint to connect to: expected tcp://HOST:PORT or ipc://PATH");
}
