/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends a source's batches as a live stream that others subscribe to. A protocol is one struct of functions
 * and one file; this host goes on offering what slow subscribers have no room for, so that nothing is lost,
 * and says hello: to everyone who joins and once a second. One thread at a time.
 */
#ifndef SF_INGEST_SENDER_H
#define SF_INGEST_SENDER_H

#include "core/text.h"
#include "ingest/sending.h"
#include "window/source.h"

typedef struct sf_sender sf_sender;

/** Functions may be NULL where the protocol has nothing to say. */
typedef struct sf_sender_protocol {
    const char *endpoint;           /**< where none is given */
    const char *topic;              /**< as sf_sending_settings have it, like `answer` */
    const sf_sending_kind *sending; /**< how messages go out; NULL: by a ZeroMQ publisher */
    const char *(*answer)(const char *request, size_t size);
    int (*begin)(sf_sender *sender, sf_error *error); /**< once, before anybody is waited for */
    int (*hello)(sf_sender *sender, sf_error *error);
    int (*batch)(sf_sender *sender, const sf_batch *batch, sf_error *error);
    int (*end)(sf_sender *sender, sf_error *error);
} sf_sender_protocol;

typedef struct sf_sender_settings {
    const sf_sender_protocol *protocol;
    const char *endpoint; /**< NULL: the protocol's own */
    const char *name;     /**< of the stream */
    bool insecure;        /**< other machines may connect */
    sf_curve_server curve;
    bool virtual_clock; /**< stream time is not real time */
    bool own_pace;      /**< it passes faster or slower than real time */
    /** Asked every 50 ms while a subscriber has no room: false gives up with SF_CANCELLED. NULL: waits for
     * ever. */
    bool (*go_on)(void *user);
    void *user;
} sf_sender_settings;

/** Shared by the host and the protocols. */
struct sf_sender {
    sf_sender_settings settings;
    sf_sending *sending;
    const sf_recording *about; /**< borrowed: units and metadata */
    sf_text frame, payload;    /**< scratch of the protocols */
    uint64_t run;              /**< random, not 0 */
    uint64_t sequence;         /**< messages sent */
    int64_t origin_ns;         /**< wall clock (ns since 1970) at stream time 0; INT64_MIN: not known */
    int64_t clock_ns;          /**< stream time up to which everything was sent; INT64_MIN: nothing yet */
    uint64_t spikes, markers;  /**< sent */
    uint64_t sample;           /**< of protocols that send by samples: the next one */
    uint64_t ttl;              /**< state of the TTL lines, one bit each */
    uint64_t greeted;          /**< subscriptions that were there at the last hello */
    int64_t hello_due_ns;      /**< monotonic */
};

/** Binds. Fails as sf_sending_kind.open. settings' strings and about stay borrowed until close. */
int sf_sender_open(sf_sender **out, const sf_sender_settings *settings, const sf_recording *about,
                   sf_error *error);

/** Makes known that stream time passes as real time does and was 0 at this wall clock (ns since 1970). */
void sf_sender_set_origin(sf_sender *sender, int64_t origin_ns);

/** How many subscribe now. */
int64_t sf_sender_subscribers(sf_sender *sender);

/** Sends a batch, which may hold nothing but a clock; says hello first where it is due. */
int sf_sender_send(sf_sender *sender, const sf_batch *batch, sf_error *error);

/** Ends the stream in order. */
int sf_sender_end(sf_sender *sender, sf_error *error);

/** Closes; subscribers get linger_ms (-1: as long as they need) to fetch what was sent. NULL is allowed. */
void sf_sender_close(sf_sender *sender, int linger_ms);

/** For protocols: sends one message and counts it; waits while a subscriber has no room. */
int sf_sender_put(sf_sender *sender, const sf_part *parts, size_t count, sf_error *error);

/** For protocols with a message for each: spikes and TTL edges in the order of their times; what has no
 * function is left out. */
int sf_sender_each(sf_sender *sender, const sf_batch *batch,
                   int (*put_spike)(sf_sender *sender, const sf_spike *spike, sf_error *error),
                   int (*put_ttl)(sf_sender *sender, const sf_marker *marker, sf_error *error),
                   sf_error *error);

/** The samples that have passed at a time, to the nearest one. */
int64_t sf_sender_sample(int64_t time_ns, int64_t rate_hz);

#endif
