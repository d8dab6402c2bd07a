/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a sender's messages are sent: one struct of functions in one file, the counterpart of a transport. It
 * binds or connects, counts listeners, and waits for slow ones so that nothing is lost. One thread.
 */
#ifndef SF_INGEST_SENDING_H
#define SF_INGEST_SENDING_H

#include "core/part.h"
#include "io/publisher.h"

typedef struct sf_sending sf_sending;

typedef struct sf_sending_settings {
    const char *endpoint;
    const char *topic; /**< name of the stream, if the endpoint holds several */
    bool insecure;     /**< other machines may connect */
    sf_curve_server curve;
    /** Returns the answer to a request on the port after that of the endpoint; NULL: no such port is opened.
     */
    const char *(*answer)(const char *request, size_t size);
} sf_sending_settings;

typedef struct sf_sending_kind {
    /** SF_USAGE if the text is no endpoint, or is reachable from other machines and not `insecure`;
     * SF_UNAVAILABLE if it cannot be bound, or no peer answers. */
    int (*open)(sf_sending **out, const sf_sending_settings *settings, sf_error *error);
    /** Processes new and closed connections; returns the number of listeners. */
    int64_t (*update)(sf_sending *sending);
    /** Sends one message. Returns an sf_sent, or SF_IO. */
    int (*put)(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error);
    /** Closes; unsent messages remain for listeners for linger_ms, -1: without limit. */
    void (*close)(sf_sending *sending, int linger_ms);
} sf_sending_kind;

/** Every sending begins with it. */
struct sf_sending {
    const sf_sending_kind *kind;
    char address[256]; /**< bound address, with the actual port in place of 0 or * */
    uint64_t joined;   /**< listeners that ever came */
};

extern const sf_sending_kind sf_sending_zmq; /**< a ZeroMQ publisher */
extern const sf_sending_kind sf_sending_tcp; /**< a TCP server that sends the parts as one byte stream */

#endif
