/* SPDX-License-Identifier: Apache-2.0 */
/** Endpoints of TCP and UDP: tcp://HOST:PORT, udp://HOST:PORT. */
#ifndef SF_INGEST_TCP_H
#define SF_INGEST_TCP_H

#include <netdb.h>
#include <stdbool.h>
#include <synfire/error.h>

/** Whether these are endpoints to connect to, of UDP also to bind: SF_USAGE. No name is looked up. */
int sf_tcp_check(const char *endpoint, sf_error *error);
int sf_udp_check(const char *endpoint, sf_error *error);

/** The addresses of an endpoint, to be freed by freeaddrinfo; `passive`: to bind, and * is all of this
 * machine's. SF_USAGE where it is no endpoint, SF_UNAVAILABLE where the name is not known. */
int sf_tcp_addresses(struct addrinfo **addresses, const char *endpoint, bool passive, sf_error *error);
/** The same for UDP, without port 0 or *. */
int sf_udp_addresses(struct addrinfo **addresses, const char *endpoint, bool passive, sf_error *error);

#define SF_TCP_PLACE_SIZE 32

/** Listens at the endpoint with a backlog of `waiting` connections. *listener is a non-blocking socket,
 * `place` its address such as "127.0.0.1:4711". SF_USAGE, SF_UNAVAILABLE; *listener is then -1. */
int sf_tcp_listen(int *listener, char place[SF_TCP_PLACE_SIZE], const char *endpoint, int waiting,
                  sf_error *error);

#endif
