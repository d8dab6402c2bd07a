/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/tcp.h"

#include "core/error.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

int sf_tcp_addresses(struct addrinfo **addresses, const char *endpoint, bool passive, sf_error *error)
{
    char host[256];
    const char *colon = strrchr(endpoint, ':');
    uint64_t port;
    *addresses = NULL;
    bool any_port = passive && colon != NULL && strcmp(colon, ":*") == 0;
    if (strncmp(endpoint, "tcp://", 6) != 0 || colon <= endpoint + 6 ||
        !(any_port || sf_parse_uint(colon + 1, 65535, &port)) ||
        (size_t)(colon - endpoint) - 6 >= sizeof host)
        return sf_fail(error, SF_USAGE, endpoint, "is no endpoint: expected tcp://HOST:PORT");
    snprintf(host, sizeof host, "%.*s", (int)(colon - endpoint) - 6, endpoint + 6);
    const struct addrinfo wanted = {.ai_family = AF_INET, /* as the rigs have it */
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = passive ? AI_PASSIVE : 0};
    int failure = getaddrinfo(passive && strcmp(host, "*") == 0 ? NULL : host, any_port ? "0" : colon + 1,
                              &wanted, addresses);
    if (failure != 0)
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "%s", gai_strerror(failure));
    return SF_OK;
}
