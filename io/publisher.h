/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A bound ZeroMQ socket that sends to all subscribers, used by the sinks and by `play`. It is XPUB: PUB that
 * also reports subscriptions, so that a start can wait for them. Each subscriber has a queue of messages. One
 * thread at a time.
 */
#ifndef SF_IO_PUBLISHER_H
#define SF_IO_PUBLISHER_H

#include "core/part.h"
#include "io/curve.h"

#include <synfire/error.h>

/** Zero-initialise. */
typedef struct sf_zmq_publisher {
    void *context;
    void *socket;
    sf_curve_gate *gate;   /**< who connects */
    int64_t subscriptions; /**< current number, as of the last sf_publisher_update */
    uint64_t joined;       /**< subscriptions that ever came */
    char address[256];     /**< bound address, with the actual port in place of 0 or * */
    int queue;             /**< maximum queued messages per subscriber, at the message sizes so far */
    size_t largest;        /**< bytes of the largest message sent */
} sf_zmq_publisher;

/** Maximum bytes queued for a subscriber, which bounds the memory that a slow one takes: 256 MiB. */
#define SF_PUBLISHER_BYTES ((size_t)256 << 20)

typedef struct sf_publisher_settings {
    const char *endpoint;
    int queue; /**< maximum messages queued per subscriber; fewer if large messages would exceed
                  SF_PUBLISHER_BYTES */
    /** Sends nothing while a subscriber's queue is full (ZMQ_XPUB_NODROP); otherwise libzmq silently drops
     * messages to that subscriber. */
    bool lossless;
    bool insecure;      /**< other machines may connect (io/endpoint.h); always allowed with keys */
    const char *permit; /**< what would say so, as "--insecure" */
    sf_curve_server curve;
} sf_publisher_settings;

/**
 * Binds the socket. SF_USAGE if the text is no endpoint, or is reachable from other machines and not
 * `insecure`; SF_UNAVAILABLE if it cannot be bound (port in use, no such address, no descriptors left);
 * errors of keys as sf_curve_gate_open.
 */
int sf_publisher_open(sf_zmq_publisher *publisher, const sf_publisher_settings *settings, sf_error *error);

/** Processes subscription messages and returns the number of subscriptions. */
int64_t sf_publisher_update(sf_zmq_publisher *publisher);

typedef enum sf_sent {
    SF_SENT = 0,
    SF_SENT_AGAIN = 1 /**< a queue stayed full for 50 ms, or a signal came: nothing was sent, send it again */
} sf_sent;

/** Sends one message of 1 or more frames. Returns an sf_sent, or SF_IO. */
int sf_publisher_send(sf_zmq_publisher *publisher, const sf_part *parts, size_t count, sf_error *error);

/** Closes; unsent messages remain for subscribers for linger_ms, -1: without limit. */
void sf_publisher_close(sf_zmq_publisher *publisher, int linger_ms);

#endif
