/* SPDX-License-Identifier: Apache-2.0 */
/** Answers requests on a ZeroMQ REP socket beside what a sender publishes. One thread. */
#ifndef SF_INGEST_RESPONDER_H
#define SF_INGEST_RESPONDER_H

#include <stddef.h>
#include <synfire/error.h>

typedef struct sf_responder sf_responder;

/** Binds the port after that of `address`, which is bound (tcp://HOST:PORT); where it is no TCP port, or the
 * next one is taken, there is a warning and no responder: *out is NULL. */
int sf_responder_open(sf_responder **out, void *context, const char *address,
                      const char *(*answer)(const char *request, size_t size), sf_error *error);

/** Answers what was asked. NULL is allowed. */
void sf_responder_tend(sf_responder *responder);

void sf_responder_close(sf_responder *responder); /**< before its context; NULL is allowed */

#endif
