/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A bound ZeroMQ socket that sends to whoever subscribes: what the sinks publish by and `play` sends by. It
 * is XPUB, which is PUB that also hands over the subscriptions, so that a start can wait for them. Each
 * subscriber has a queue of messages. One thread at a time.
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
    int64_t subscriptions; /**< at present, as of the last sf_publisher_update */
    uint64_t joined;       /**< subscriptions that ever came */
    char address[256];     /**< what was really bound: a port 0 or * is a number here */
    int queue;             /**< messages that a subscriber may be behind, at the sizes seen so far */
    size_t largest;        /**< bytes of the largest message sent */
} sf_zmq_publisher;

/** What a subscriber may be behind in bytes, so that a slow one takes no more memory: 256 MiB. */
#define SF_PUBLISHER_BYTES ((size_t)256 << 20)

typedef struct sf_publisher_settings {
    const char *endpoint;
    int queue; /**< messages kept for each subscriber; fewer where messages are so large that
                  SF_PUBLISHER_BYTES would not do */
    /** Nothing is sent while a subscriber's queue is full (ZMQ_XPUB_NODROP); without it libzmq leaves that
     * subscriber out and tells nobody. */
    bool lossless;
    bool insecure;      /**< other machines may connect (io/endpoint.h); with keys they may anyhow */
    const char *permit; /**< what would say so, as "--insecure" */
    sf_curve_server curve;
} sf_publisher_settings;

/**
 * Binds. SF_USAGE where the text is no endpoint, or one for other machines and not `insecure`; SF_UNAVAILABLE
 * where it cannot be bound (the port is in use, no such address, no descriptors left); of keys as
 * sf_curve_gate_open.
 */
int sf_publisher_open(sf_zmq_publisher *publisher, const sf_publisher_settings *settings, sf_error *error);

/** Takes in what subscribers said and returns how many subscriptions there are. */
int64_t sf_publisher_update(sf_zmq_publisher *publisher);

typedef enum sf_sent {
    SF_SENT = 0,
    SF_SENT_AGAIN =
        1 /**< for 50 ms a subscriber's queue was full, or a signal came: nothing was sent, offer it again */
} sf_sent;

/** Sends one message of 1 or more frames. Returns an sf_sent, or SF_IO. */
int sf_publisher_send(sf_zmq_publisher *publisher, const sf_part *parts, size_t count, sf_error *error);

/** Closes; subscribers get linger_ms to fetch what was sent to them, -1: as long as they need. */
void sf_publisher_close(sf_zmq_publisher *publisher, int linger_ms);

#endif
