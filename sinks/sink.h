/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where messages go. Each kind of sink is one struct of functions and one file; this host gives it a thread,
 * a ring and a full-ring policy. The HDF5 recorder is served by the storage thread instead of its own.
 */
#ifndef SF_SINKS_SINK_H
#define SF_SINKS_SINK_H

#include "core/message.h"
#include "core/ring.h"
#include "core/storage.h"

typedef enum sf_sink_encoding { SF_ENCODE_DEFAULT, SF_ENCODE_MSGPACK, SF_ENCODE_JSON } sf_sink_encoding;

/** What a configuration says of one sink; strings are borrowed for the call of sf_sink_open. */
typedef struct sf_sink_settings {
    const char *type;     /**< "jsonl", "zmq", "osc", "hdf5" */
    const char *path;     /**< jsonl ("-" is stdout), hdf5 */
    const char *endpoint; /**< zmq: bound; osc: osc.udp://HOST:PORT/ or HOST:PORT */
    sf_sink_encoding encoding;
    uint32_t ring; /**< messages */
    sf_ring_policy policy;
    int wait_subscribers; /**< zmq: hold the start until so many subscribed */
    bool overwrite;       /**< hdf5, jsonl: replace an existing file */
} sf_sink_settings;

void sf_sink_settings_default(sf_sink_settings *settings);

typedef struct sf_sink sf_sink;

/**
 * One kind of sink. All functions but `open` run on the sink's thread; `self` is what open returned.
 */
typedef struct sf_sink_kind {
    const char *type;
    bool on_storage_thread;
    int (*open)(void **self, const sf_sink_settings *settings, const sf_stream_info *stream, sf_error *error);
    int (*publish)(void *self, const sf_message *message, sf_error *error);
    int (*flush)(void *self, sf_error *error); /**< about once a second and before close; may be NULL */
    int (*close)(void *self, sf_error *error); /**< always frees */
    const char *(*address)(void *self);        /**< what was really bound or opened, for people */
    int (*ready)(void *self);                  /**< 1 once the start need not wait for it; NULL: at once */
} sf_sink_kind;

/** Looks the type up, opens the sink and starts its thread. storage may be NULL where no recorder is wanted.
 */
int sf_sink_open(sf_sink **sink, const sf_sink_settings *settings, const sf_stream_info *stream,
                 sf_storage *storage, sf_error *error);

/**
 * Hands a message over (the sink keeps its own reference). One thread calls this: the window path. With the
 * policy `block` it waits while the ring is full, unless the sink has failed.
 */
void sf_sink_publish(sf_sink *sink, sf_message *message);

/** The watch path's own entry, by value and with a ring of its own: never waits, allocates or locks. */
void sf_sink_trigger(sf_sink *sink, const sf_message *trigger);

bool sf_sink_ready(sf_sink *sink);
void sf_sink_status_get(sf_sink *sink, sf_sink_status *status);
const char *sf_sink_address(sf_sink *sink);

/** Drains what was accepted, flushes, closes, frees. Returns the first failure of the sink's life, if any. */
int sf_sink_close(sf_sink *sink, sf_error *error);

/** Appends a message as one JSON object with no newline; the JSON lines and ZeroMQ sinks share it. */
void sf_message_to_json(sf_text *text, const sf_message *message, const sf_stream_info *stream);

#endif
