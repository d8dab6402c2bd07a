/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends the batches of a source as a live stream that others subscribe to. A protocol is one struct of
 * functions in one file. This host retries while slow subscribers have no room, so that nothing is lost, and
 * sends the hello: to every new subscriber and once a second. One thread at a time.
 */
#ifndef SF_INGEST_SENDER_H
#define SF_INGEST_SENDER_H

#include "core/text.h"
#include "ingest/sending.h"
#include "window/source.h"

typedef struct sf_sender sf_sender;

/** A function is NULL if the protocol has no message for it. */
typedef struct sf_sender_protocol {
    const char *endpoint;           /**< where none is given */
    const char *topic;              /**< as in sf_sending_settings, like `answer` */
    const sf_sending_kind *sending; /**< how messages are sent; NULL: by a ZeroMQ publisher */
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
    bool own_pace;      /**< stream time passes faster or slower than real time */
    /** Called every 50 ms while a subscriber has no room: false gives up with SF_CANCELLED. NULL: waits
     * without limit. */
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
    int64_t origin_ns;         /**< wall clock (ns since 1970) at stream time 0; INT64_MIN: unknown */
    int64_t clock_ns;          /**< stream time up to which everything was sent; INT64_MIN: nothing yet */
    uint64_t spikes, markers;  /**< sent */
    uint64_t sample;           /**< next sample, for protocols that send samples */
    uint64_t ttl;              /**< state of the TTL lines, one bit each */
    uint64_t greeted;          /**< number of subscriptions at the last hello */
    int64_t hello_due_ns;      /**< monotonic */
};

/** Opens the sender. Errors as sf_sending_kind.open. Borrows the strings of `settings` and `about` until
 * close. */
int sf_sender_open(sf_sender **out, const sf_sender_settings *settings, const sf_recording *about,
                   sf_error *error);

/** Announces that stream time passes in real time and was 0 at this wall clock (ns since 1970). */
void sf_sender_set_origin(sf_sender *sender, int64_t origin_ns);

/** How many subscribe now. */
int64_t sf_sender_subscribers(sf_sender *sender);

/** Sends a batch, which may hold only a clock; sends a hello first if one is due. */
int sf_sender_send(sf_sender *sender, const sf_batch *batch, sf_error *error);

/** Ends the stream in order. */
int sf_sender_end(sf_sender *sender, sf_error *error);

/** Closes; unsent messages remain for subscribers for linger_ms (-1: without limit). NULL is allowed. */
void sf_sender_close(sf_sender *sender, int linger_ms);

/** For protocols: sends one message and counts it; waits while a subscriber has no room. */
int sf_sender_put(sf_sender *sender, const sf_part *parts, size_t count, sf_error *error);

/** For protocols with one message per event: calls the functions for spikes and TTL edges in time order;
 * skips events without a function. */
int sf_sender_each(sf_sender *sender, const sf_batch *batch,
                   int (*put_spike)(sf_sender *sender, const sf_spike *spike, sf_error *error),
                   int (*put_ttl)(sf_sender *sender, const sf_marker *marker, sf_error *error),
                   sf_error *error);

/** Number of samples that have passed at a time, rounded to nearest. */
int64_t sf_sender_sample(int64_t time_ns, int64_t rate_hz);

#endif
