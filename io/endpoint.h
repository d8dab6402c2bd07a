/* SPDX-License-Identifier: Apache-2.0 */
/** Who can reach what is bound: nothing here asks who connects, so only this machine may, unless told. */
#ifndef SF_IO_ENDPOINT_H
#define SF_IO_ENDPOINT_H

#include <synfire/error.h>

/**
 * Whether another machine could connect to what is bound to this endpoint (tcp://HOST:PORT, ipc://PATH, ...):
 * true for every address but those of the loopback interface, for `*`, for interfaces and for names that lead
 * to such addresses, private networks among them. What cannot be bound at all may be told either way. May
 * look a name up.
 */
bool sf_endpoint_is_public(const char *endpoint);

/** The parts of HOST:PORT or [ADDRESS]:PORT with a port of at most 65535; false where it is none. */
bool sf_endpoint_split(const char *endpoint, char host[256], char port[8]);

/** Refuses what no ZeroMQ socket can be bound to, whatever is bound already: SF_USAGE with the endpoint as
 * its place. */
int sf_endpoint_check(const char *endpoint, sf_error *error);

/** The same of what a ZeroMQ socket could connect to, which has a host and a port; no host is looked up. */
int sf_endpoint_check_peer(const char *endpoint, sf_error *error);

/** The refusal: SF_USAGE with `endpoint` as its place and what to do; `permit` is what allows it, as
 * "--insecure". */
int sf_endpoint_refuse(const char *endpoint, const char *permit, sf_error *error);

#endif
