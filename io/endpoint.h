/* SPDX-License-Identifier: Apache-2.0 */
/** Who can connect to a bound endpoint. Synfire does not authenticate by default, so endpoints must be local
 * unless the user permits others. */
#ifndef SF_IO_ENDPOINT_H
#define SF_IO_ENDPOINT_H

#include <synfire/error.h>

/**
 * Whether another machine could connect to this endpoint (tcp://HOST:PORT, ipc://PATH, ...): true for every
 * address but those of the loopback interface, for `*`, for interfaces and for names that resolve to such
 * addresses, private networks included. Undefined for endpoints that cannot be bound. May resolve a host
 * name.
 */
bool sf_endpoint_is_public(const char *endpoint);

/** Splits HOST:PORT or [ADDRESS]:PORT, with a port of at most 65535; false if the text is not of this form.
 */
bool sf_endpoint_split(const char *endpoint, char host[256], char port[8]);

/** Refuses an endpoint that no ZeroMQ socket could ever bind: SF_USAGE with the endpoint as its place. */
int sf_endpoint_check(const char *endpoint, sf_error *error);

/** The same of what a ZeroMQ socket could connect to, which has a host and a port; no host is looked up. */
int sf_endpoint_check_peer(const char *endpoint, sf_error *error);

/** The refusal: SF_USAGE with `endpoint` as its place and what to do; `permit` is what allows it, as
 * "--insecure". */
int sf_endpoint_refuse(const char *endpoint, const char *permit, sf_error *error);

#endif
