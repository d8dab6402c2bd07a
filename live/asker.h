/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The ZeroMQ socket of a program beside a run: one that asks its control socket, or one that listens to a
 * sink. One thread.
 */
#ifndef SF_LIVE_ASKER_H
#define SF_LIVE_ASKER_H

#include "core/text.h"
#include "io/curve.h"

typedef struct sf_asker {
    void *context, *socket;
    const char *endpoint; /**< borrowed */
} sf_asker;

/** topic: that a sink publishes, to be heard; NULL: it asks. What comes is limited to 8 MiB. SF_USAGE for
 * what is no endpoint, SF_UNAVAILABLE. */
int sf_asker_open(sf_asker *asker, const char *endpoint, const char *topic, const sf_curve_client *curve,
                  sf_error *error);
void sf_asker_close(sf_asker *asker);

/** Appends a request with the token of this file; key: one more, with its value; or NULL. As sf_token_read.
 */
int sf_asker_request(sf_text *request, const char *token_file, const char *command, const char *key,
                     const char *value, sf_error *error);

/** SF_IO. What no answer came to does not hold it up. */
int sf_asker_send(const sf_asker *asker, const sf_text *request, sf_error *error);

/** What came is handed to `take`, its last part, and `take`'s status returned; SF_AGAIN where nothing came
 * within the time. */
int sf_asker_receive(const sf_asker *asker, int timeout_ms,
                     int (*take)(void *user, const char *bytes, size_t length, sf_error *error), void *user,
                     sf_error *error);

#endif
