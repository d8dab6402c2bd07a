/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "ingest/responder.h"
#include "ingest/sending.h"

#include <stdio.h>

#define QUEUE_MESSAGES 1000

typedef struct zmq_sending {
    sf_sending sending;
    sf_zmq_publisher publisher;
    sf_responder *responder; /* NULL: none */
} zmq_sending;

static int64_t update(sf_sending *sending)
{
    zmq_sending *it = (zmq_sending *)sending;
    sf_responder_tend(it->responder);
    int64_t listeners = sf_publisher_update(&it->publisher);
    sending->joined = it->publisher.joined;
    return listeners;
}

static int put(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    return sf_publisher_send(&((zmq_sending *)sending)->publisher, parts, count, error);
}

static void close_sending(sf_sending *sending, int linger_ms)
{
    zmq_sending *it = (zmq_sending *)sending;
    sf_responder_close(it->responder);
    sf_publisher_close(&it->publisher, linger_ms);
    sf_free(it);
}

static int open_sending(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    *out = NULL;
    zmq_sending *it = sf_alloc(1, sizeof *it);
    if (it == NULL)
        return sf_fail_memory(error);
    const sf_publisher_settings wanted = {.endpoint = settings->endpoint,
                                          .queue = QUEUE_MESSAGES,
                                          .lossless = true,
                                          .insecure = settings->insecure,
                                          .permit = "--insecure",
                                          .curve = settings->curve};
    it->sending.kind = &sf_sending_zmq;
    int status = sf_publisher_open(&it->publisher, &wanted, error);
    if (status == SF_OK && settings->answer != NULL)
        status = sf_responder_open(&it->responder, it->publisher.context, it->publisher.address,
                                   settings->answer, error);
    snprintf(it->sending.address, sizeof it->sending.address, "%s", it->publisher.address);
    if (status != SF_OK) {
        close_sending(&it->sending, 0);
        return status;
    }
    *out = &it->sending;
    return SF_OK;
}

const sf_sending_kind sf_sending_zmq = {
    .open = open_sending, .update = update, .put = put, .close = close_sending};
