/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/tcp.h"

#include "core/error.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

static int find_addresses(struct addrinfo **addresses, const char *endpoint, const char *scheme, int type,
                          bool passive, sf_error *error)
{
    char host[256];
    const char *colon = strrchr(endpoint, ':');
    size_t begin = strlen(scheme);
    uint64_t port;
    *addresses = NULL;
    bool is_stream = type == SOCK_STREAM,
         any_port = is_stream && passive && colon != NULL && strcmp(colon, ":*") == 0;
    if (strncmp(endpoint, scheme, begin) != 0 || colon <= endpoint + begin ||
        !(any_port || (sf_parse_uint(colon + 1, 65535, &port) && (is_stream || port > 0))) ||
        (size_t)(colon - endpoint) - begin >= sizeof host)
        return sf_fail(error, SF_USAGE, endpoint, "is no endpoint: expected %sHOST:PORT", scheme);
    snprintf(host, sizeof host, "%.*s", (int)((size_t)(colon - endpoint) - begin), endpoint + begin);
    const struct addrinfo wanted = {.ai_family = AF_INET, /* as the rigs have it */
                                    .ai_socktype = type,
                                    .ai_flags = passive ? AI_PASSIVE : 0};
    int failure = getaddrinfo(passive && strcmp(host, "*") == 0 ? NULL : host, any_port ? "0" : colon + 1,
                              &wanted, addresses);
    if (failure != 0)
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "%s", gai_strerror(failure));
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
