/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a sender's messages go out: one struct of functions and one file, the counterpart of a transport. It
 * binds or connects, knows who listens, and waits for slow ones so that nothing is lost. One thread.
 */
#ifndef SF_INGEST_SENDING_H
#define SF_INGEST_SENDING_H

#include "core/part.h"
#include "io/publisher.h"

typedef struct sf_sending sf_sending;

typedef struct sf_sending_settings {
    const char *endpoint;
    const char *topic; /**< where the endpoint holds several streams: which */
    bool insecure;     /**< other machines may connect */
    sf_curve_server curve;
    /** What is answered to a request on the port after the endpoint's; NULL: nothing listens there. */
    const char *(*answer)(const char *request, size_t size);
} sf_sending_settings;

typedef struct sf_sending_kind {
    /** SF_USAGE where the text is no endpoint, or one for other machines and not `insecure`; SF_UNAVAILABLE
     * where it cannot be bound, or nobody is there to connect to. */
    int (*open)(sf_sending **out, const sf_sending_settings *settings, sf_error *error);
    /** Takes in who came and went; how many listen now. */
    int64_t (*update)(sf_sending *sending);
    /** Sends one message. Returns an sf_sent, or SF_IO. */
    int (*put)(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error);
    /** Listeners get linger_ms to fetch what was sent to them, -1: as long as they need. */
    void (*close)(sf_sending *sending, int linger_ms);
} sf_sending_kind;

/** Every sending begins with it. */
struct sf_sending {
    const sf_sending_kind *kind;
    char address[256]; /**< where it can be heard: a port 0 or * is a number here */
    uint64_t joined;   /**< listeners that ever came */
};

extern const sf_sending_kind sf_sending_zmq; /**< a ZeroMQ publisher */
extern const sf_sending_kind sf_sending_tcp; /**< a TCP server: the parts one after the other */

#endif
