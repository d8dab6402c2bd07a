/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The ZeroMQ socket of a program beside a run, which either sends requests to its control socket or listens
 * to a sink. One thread.
 */
#ifndef SF_LIVE_ASKER_H
#define SF_LIVE_ASKER_H

#include "core/text.h"
#include "io/curve.h"

typedef struct sf_asker {
    void *context, *socket;
    const char *endpoint; /**< borrowed */
} sf_asker;

/** Connects. topic: the topic of a sink to listen to; NULL: for requests. Incoming messages are limited to 8
 * MiB. SF_USAGE for an invalid endpoint, SF_UNAVAILABLE. */
int sf_asker_open(sf_asker *asker, const char *endpoint, const char *topic, const sf_curve_client *curve,
                  sf_error *error);
void sf_asker_close(sf_asker *asker);

/** Appends a request with the token in this file and, unless key is NULL, a further key and its value. Errors
 * as sf_token_read. */
int sf_asker_request(sf_text *request, const char *token_file, const char *command, const char *key,
                     const char *value, sf_error *error);

/** Sends a request; earlier requests without an answer do not block it. SF_IO. */
int sf_asker_send(const sf_asker *asker, const sf_text *request, sf_error *error);

/** Waits up to timeout_ms and passes the last part of what came to `take`, whose status it returns; SF_AGAIN
 * if nothing came. */
int sf_asker_receive(const sf_asker *asker, int timeout_ms,
                     int (*take)(void *user, const char *bytes, size_t length, sf_error *error), void *user,
                     sf_error *error);

#endif
