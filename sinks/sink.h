/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where messages go. Each kind of sink is one struct of functions and one file; this code gives it a thread,
 * a ring and a policy for a full ring. The storage thread serves the HDF5 recorder, which has no thread of
 * its own. docs/messages.md describes encoded messages.
 */
#ifndef SF_SINKS_SINK_H
#define SF_SINKS_SINK_H

#include "core/keys.h"
#include "core/message.h"
#include "core/orders.h"
#include "core/outlet.h"
#include "core/ring.h"
#include "core/thread.h"
#include "sinks/raw_feed.h"
#include "sinks/storage.h"

typedef enum sf_sink_encoding { SF_ENCODE_MSGPACK, SF_ENCODE_JSON } sf_sink_encoding;

/** The configuration of one sink; strings are borrowed during sf_sink_open_kind. A kind with more settings
 * has its own struct that begins with this one. */
typedef struct sf_sink_settings {
    const char *type;     /**< "jsonl", "zmq", "osc", "hdf5", "web" */
    const char *path;     /**< jsonl ("-" is stdout), hdf5 */
    const char *endpoint; /**< zmq: bound; osc: osc.udp://HOST:PORT/ or
                             HOST:PORT; web: HOST:PORT, bound */
    sf_sink_encoding encoding;
    uint32_t ring; /**< messages; zmq: also how far a subscriber may be behind */
    sf_ring_policy policy;
    char **topics; /**< names of the topics that it gets; none: all */
    uint32_t topic_count;
    uint32_t top;  /**< maximum number of episodes of a window, those that stand out most; 0: all */
    bool insecure; /**< zmq, web: other machines may connect */
    uint32_t wait_subscribers; /**< zmq: hold the start until there are this many subscriptions */
    bool hold;                 /**< replace and serve nothing before sf_sink_begin */
    bool overwrite;            /**< hdf5, jsonl: replace an existing file; else the new file gets a number */
    const char *key, *clients; /**< zmq: as in sf_curve_server */
    const sf_orders *orders;   /**< web: for holders of the control socket's token; NULL: no orders */
} sf_sink_settings;

/** Maximum memory of the messages that wait for a sink, whatever `ring` allows; a larger message waits alone.
 * Beyond it a message is dropped, or with the policy `block` waits. */
#define SF_SINK_BYTES ((size_t)256 << 20)

/** Defaults of all sinks: ring 1024, drop-oldest; the rest zero. */
#define SF_SINK_DEFAULTS .ring = 1024, .policy = SF_RING_DROP_OLDEST

typedef struct sf_sink sf_sink;

/** Results of a kind's `publish`, unless it fails. */
typedef enum sf_publish_result {
    SF_PUBLISH_TAKEN = 0,
    SF_PUBLISH_AGAIN = 1,  /**< the receiver has no room; offer the same message again after a short wait */
    SF_PUBLISH_PASSED = 2, /**< the message is not for this sink */
    SF_PUBLISH_PART = 3    /**< part of it was sent: offer it again at once, after waiting triggers */
} sf_publish_result;

/**
 * One kind of sink. All functions except `open` and `begin` run on the sink's thread; `self` is what open
 * returned, and stream stays valid until close.
 */
typedef struct sf_sink_kind {
    sf_key_kind settings; /**< first member: its name, its keys and their defaults */
    /** maximum number of files and sockets of one sink, including a few for subscribers */
    unsigned descriptors;
    bool on_storage_thread; /**< open and begin run there, too */
    bool keeps;    /**< writes a file: on a virtual clock the run waits for it, whatever the policy */
    bool shows;    /**< takes raw spikes to show them: nobody waits for it, and spikes that do not fit are not
                      counted as lost */
    bool is_tried; /**< open claims resources that another program may hold, needs no units and changes
                      nothing: a run tries it before it waits for its sources */
    bool picks;    /**< it applies `top` itself */
    bool acts;     /**< somebody may act on its triggers: too old ones are kept from it, and it reports what
                      became of each named one */
    int (*open)(void **self, const sf_sink_settings *settings, const sf_stream_info *stream, sf_error *error);
    /** Called before open, and alone when a configuration is checked: checks the settings and the files that
     * they name, without the receiver; binds and writes nothing. May be NULL. */
    int (*examine)(const sf_sink_settings *settings, sf_error *error);
    /** Called before all that follows, when the run is certain: what is to be replaced may now be removed. If
     * it is never called, close leaves everything as it was. May be NULL. */
    int (*begin)(void *self, sf_error *error);
    /** Returns an sf_publish_result, or a negative status; after a failure further messages are still passed.
     */
    int (*publish)(void *self, const sf_message *message, sf_error *error);
    /** A published trigger may start a pulse: pulse_ms is its length, after which end_pulse is called, or
     * sooner if the run is halted. Both NULL, or length 0: no pulse. */
    double (*pulse_ms)(void *self);
    int (*end_pulse)(void *self, sf_error *error);
    /** For recorders and kinds that show; else NULL: takes raw spikes and markers in order, all of them or
     * returns a negative status. */
    int (*record)(void *self, const sf_raw_batch *batch, sf_error *error);
    /** Called about once a second, published or not: checks that what was opened still exists, and reports a
     * loss once. May be NULL. */
    int (*check)(void *self, sf_error *error);
    /** Called instead of waiting for the bell: does the kind's other work until the bell rings or some time
     * has passed. May be NULL; not on the storage thread. */
    void (*wait)(void *self, sf_bell *work);
    int (*flush)(void *self, sf_error *error); /**< about once a second and before close; may be NULL */
    void (*account)(void *self,
                    sf_sink_status *status);   /**< any thread: adds what only this kind knows; may be NULL */
    int (*close)(void *self, sf_error *error); /**< always frees */
    const char *(*address)(void *self); /**< what was actually bound or opened, for people; constant. The part
                                           after a # is not shown by other sinks */
    bool (*ready)(void *self); /**< whether the start need not wait for it (any more); NULL: always */
} sf_sink_kind;

/**
 * Opens a sink of a kind and starts its thread. storage may be NULL if no recorder is configured. SF_CONFIG
 * for invalid settings, SF_CANNOT_CREATE for a file, SF_UNAVAILABLE for a port or host.
 */
int sf_sink_open_kind(sf_sink **sink, const sf_sink_kind *kind, const sf_sink_settings *settings,
                      const sf_stream_info *stream, sf_storage *storage, sf_error *error);

/** Begins a sink that was opened with `hold`. Call once, from the thread that opened it. */
int sf_sink_begin(sf_sink *sink, sf_error *error);

/**
 * Passes a message to the sink, which takes its own reference. Only the window thread calls this. With the
 * policy `block`, and on a virtual clock if the kind keeps, it waits while the ring is full; otherwise it
 * never waits.
 */
void sf_sink_publish(sf_sink *sink, sf_message *message);

/**
 * For the watch path: copies a trigger into a ring of its own, which is served before the other; never waits,
 * allocates or locks, whatever the policy. A trigger that finds the ring full is dropped and counted.
 */
void sf_sink_trigger(sf_sink *sink, const sf_message *trigger);

/**
 * For the front thread: copies raw spikes and markers for a recorder into rings of their own, served beside
 * the messages; other kinds ignore them. With `wait`, which sources that can wait allow, it returns once the
 * recorder had room; otherwise it never waits, allocates or locks, and what does not fit is lost and counted.
 */
void sf_sink_record(sf_sink *sink, const sf_raw_batch *batch, bool wait);

/**
 * The run is ending: from now on a receiver that takes nothing for five seconds is given up, and what it did
 * not take is dropped and counted. Unblocks a publisher that waits for such a receiver. Any thread.
 */
void sf_sink_ending(sf_sink *sink);

/** The run was told to stop: ends a running pulse, and a kind that acts sends no further named trigger. Any
 * thread; safe in a signal handler. */
void sf_sink_halt(sf_sink *sink);

/** Writes the name of a sink with a path: its kind and the file name without folders. */
void sf_sink_name(char name[SF_STATUS_NAME_SIZE], const char *kind, const char *path);

bool sf_sink_ready(sf_sink *sink); /**< any thread */

/**
 * Any thread. Once the ring is empty, every accepted message is counted in exactly one of published, dropped
 * and failed; a failed flush counts as one more failed. `state` and `note` describe the first failure.
 */
void sf_sink_status_get(sf_sink *sink, sf_sink_status *status);
const char *sf_sink_address(sf_sink *sink);

/** For a kind that acts: what became of the next named trigger passed to it, in order; false if there is no
 * news. Window thread. */
bool sf_sink_delivered(sf_sink *sink, sf_delivered *next);

/** Whether some triggers, or spikes and markers to record, that were passed on are not settled yet. Any
 * thread. */
bool sf_sink_is_busy(sf_sink *sink);

/** The sink as an outlet of the pipeline, which closes it. */
sf_outlet sf_sink_outlet(sf_sink *sink);

/** Drains what was accepted, flushes, closes, frees. Returns the first failure of the sink's life, if any. */
int sf_sink_close(sf_sink *sink, sf_error *error);

/* ---- encodings ---- */

/** Appends a published message as one MessagePack map. */
void sf_message_to_msgpack(sf_text *text, const sf_message *message, const sf_stream_info *stream);

/* ---- the registry ---- */

extern const sf_sink_kind sf_sink_jsonl, sf_sink_zmq, sf_sink_osc, sf_sink_hdf5, sf_sink_web, sf_sink_serial,
    sf_sink_command, sf_sink_lsl;

/** NULL beyond the last. */
const sf_sink_kind *sf_sink_kind_at(size_t index);

#endif
