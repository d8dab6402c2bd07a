/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the bytes of a live system come: one struct of functions and one file. A transport connects, connects
 * again where a connection ends, bounds what it keeps, and hands what came to a decoder. One thread at a
 * time, but for `connected`.
 */
#ifndef SF_INGEST_TRANSPORT_H
#define SF_INGEST_TRANSPORT_H

#include "decode/decoder.h"
#include "io/curve.h"

typedef struct sf_transport sf_transport;

typedef struct sf_transport_settings {
    const char *endpoint; /**< as "tcp://127.0.0.1:5556" */
    const char *topic;    /**< of transports that choose what they get: a stream, a key, ...; or NULL */
    const char *field, *time_field, *sample_field; /**< of what has several, which are taken */
    /** of transports that take a stream of them beside the other: its endpoint, or "none" */
    const char *markers;
    sf_curve_client curve; /**< of ZeroMQ */
    const char *request;   /**< where the rig is asked or told that somebody listens; or NULL */
    const char *device;    /**< of UDP: the address whose datagrams count; "any" or NULL: of every one */
    /** of UDP: datagrams that `request` is asked by, up to an empty one; or NULL */
    const sf_part *questions;
    size_t most_bytes; /**< of a message's part */
    int queue;         /**< messages that may wait for this program */
} sf_transport_settings;

typedef struct sf_transport_kind {
    unsigned descriptors; /**< files and sockets that one takes at most */
    /** Opens by the settings, which are borrowed until close, and by the files that they name; binds nothing
     * and resolves no host. SF_USAGE where the text is no endpoint, SF_CONFIG with the key of another
     * setting, SF_UNAVAILABLE where a library is missing. */
    int (*open)(sf_transport **out, const sf_transport_settings *settings, sf_error *error);
    /** Once, before anything is received: SF_UNAVAILABLE where nothing can be opened. That nobody is there
     * yet is no failure. */
    int (*connect)(sf_transport *transport, sf_error *error);
    /** Hands the next message, or some bytes, to the decoder; SF_AGAIN where none came until the deadline on
     * the monotonic clock. */
    int (*receive)(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error);
    bool (*connected)(const sf_transport *transport); /**< any thread */
    void (*close)(sf_transport *transport);
} sf_transport_kind;

/** What a transport saw of the other side; zeros where it does not look. */
typedef struct sf_transport_seen {
    int failure;                    /**< errno of the newest attempt to connect, where that failed */
    uint64_t connections;           /**< that were made */
    uint64_t ended;                 /**< of those, by the other side */
    uint32_t buffer, buffer_wanted; /**< bytes that may wait in the system: granted, and asked for */
    uint32_t dropped;               /**< datagrams that found no room there */
    bool is_shared;                 /**< another program listens at the same port */
} sf_transport_seen;

/** Every transport begins with it. */
struct sf_transport {
    const sf_transport_kind *kind;
    sf_transport_seen seen; /**< the thread that receives */
};

extern const sf_transport_kind sf_transport_zmq; /**< subscribes to a ZeroMQ publisher */
extern const sf_transport_kind sf_transport_tcp; /**< a stream of bytes from a TCP server */
extern const sf_transport_kind sf_transport_udp; /**< datagrams that are sent to a port of this computer */

#endif
