/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where messages go. Each kind of sink is one struct of functions and one file; this host gives it a thread,
 * a ring and a full-ring policy. The HDF5 recorder is served by the storage thread instead of its own.
 * What a message holds once encoded is in docs/messages.md.
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

/** What a configuration says of one sink; strings are borrowed for the call of sf_sink_open_kind. A kind that
 * takes more has a struct of its own that begins with this one. */
typedef struct sf_sink_settings {
    const char *type;     /**< "jsonl", "zmq", "osc", "hdf5", "web" */
    const char *path;     /**< jsonl ("-" is stdout), hdf5 */
    const char *endpoint; /**< zmq: bound; osc: osc.udp://HOST:PORT/ or
                             HOST:PORT; web: HOST:PORT, bound */
    sf_sink_encoding encoding;
    uint32_t ring; /**< messages; zmq: also how many a subscriber may be behind */
    sf_ring_policy policy;
    char **topics; /**< those that it gets, by name; none: all */
    uint32_t topic_count;
    uint32_t top;              /**< of the episodes of a window, those that stand out most; 0: all */
    bool insecure;             /**< zmq, web: other machines may connect */
    uint32_t wait_subscribers; /**< zmq: hold the start until there are so many subscriptions */
    bool hold;                 /**< nothing is replaced, and nothing served, before sf_sink_begin */
    bool overwrite;            /**< hdf5, jsonl: replace an existing file; else it has a numbered successor */
    const char *key, *clients; /**< zmq: of sf_curve_server */
    const sf_orders *orders;   /**< web: of whoever has the control socket's token; NULL: nobody orders */
} sf_sink_settings;

/** Messages that wait for a sink take no more memory than this, whatever `ring` allows; a larger one waits
 * alone. Beyond it a message is dropped, or waited for with the policy `block`. */
#define SF_SINK_BYTES ((size_t)256 << 20)

/** What all sinks have: ring 1024, drop-oldest; the rest zero. */
#define SF_SINK_DEFAULTS .ring = 1024, .policy = SF_RING_DROP_OLDEST

typedef struct sf_sink sf_sink;

/** What a kind's `publish` says where it did not fail. */
typedef enum sf_publish_result {
    SF_PUBLISH_TAKEN = 0,
    SF_PUBLISH_AGAIN = 1,  /**< the receiver has no room; after a short wait offer the same message again */
    SF_PUBLISH_PASSED = 2, /**< it is not for this sink */
    SF_PUBLISH_PART = 3    /**< a part of it went out: offer it again at once, after triggers that wait */
} sf_publish_result;

/**
 * One kind of sink. All functions but `open` and `begin` run on the sink's thread; `self` is what open
 * returned, and stream stays valid until close.
 */
typedef struct sf_sink_kind {
    sf_key_kind settings;   /**< first: its name, its keys and their defaults */
    unsigned descriptors;   /**< files and sockets that one takes at most, a few for subscribers among them */
    bool on_storage_thread; /**< open and begin run there too */
    bool keeps;    /**< writes a file: on a virtual clock the run waits for it, whatever the policy */
    bool shows;    /**< takes raw spikes to show them: nobody waits for it, and what it has no room for is not
                      lost but not shown */
    bool is_tried; /**< open takes what another program may have, needs no units and changes nothing: a run
                      tries it before it waits for its sources */
    bool picks;    /**< `top` is its own matter */
    bool acts; /**< somebody may act on its triggers: those that are too old are kept from it, and it is told
                  what became of each that has a name */
    int (*open)(void **self, const sf_sink_settings *settings, const sf_stream_info *stream, sf_error *error);
    /** Before open, and by itself where a configuration is checked: what can be said of the settings and of
     * the files that they name, without whoever is to receive; nothing is bound or written. May be NULL. */
    int (*examine)(const sf_sink_settings *settings, sf_error *error);
    /** Before all that follows: the run will be, so that what is to be replaced may go. Where it is never
     * called, close leaves everything as it was. May be NULL. */
    int (*begin)(void *self, sf_error *error);
    /** An sf_publish_result, or a negative status; after a failure it is called for further messages all the
     * same. */
    int (*publish)(void *self, const sf_message *message, sf_error *error);
    /** What a trigger that was published begins ends after so many ms, by end_pulse, which is called sooner
     * where the run is halted. Both NULL, or 0: nothing. */
    double (*pulse_ms)(void *self);
    int (*end_pulse)(void *self, sf_error *error);
    /** Recorders, and kinds that show: takes raw spikes and markers in order, whole or with a negative
     * status; else NULL. */
    int (*record)(void *self, const sf_raw_batch *batch, sf_error *error);
    /** About once a second, whether anything was published or not: is what was opened still there? Said once.
     * May be NULL. */
    int (*check)(void *self, sf_error *error);
    /** In place of waiting for the bell: serves what else it has until the bell rings or some time has
     * passed. May be NULL; not on the storage thread. */
    void (*wait)(void *self, sf_bell *work);
    int (*flush)(void *self, sf_error *error); /**< about once a second and before close; may be NULL */
    void (*account)(void *self,
                    sf_sink_status *status);   /**< any thread: what only this kind knows; may be NULL */
    int (*close)(void *self, sf_error *error); /**< always frees */
    const char *(*address)(void *self);        /**< what was really bound or opened, for people; constant.
                                           Behind a # is what no other sink is to tell */
    bool (*ready)(void *self); /**< the start need not wait for it (any more); NULL: at once */
} sf_sink_kind;

/**
 * Opens a sink of a kind and starts its thread. storage may be NULL where no recorder is wanted. SF_CONFIG
 * for settings that cannot be, SF_CANNOT_CREATE for a file, SF_UNAVAILABLE for a port or host.
 */
int sf_sink_open_kind(sf_sink **sink, const sf_sink_kind *kind, const sf_sink_settings *settings,
                      const sf_stream_info *stream, sf_storage *storage, sf_error *error);

/** Of a sink that was opened on hold: begins. Once, by the thread that opened it. */
int sf_sink_begin(sf_sink *sink, sf_error *error);

/**
 * Hands a message over (the sink keeps its own reference). One thread calls this: the window path. With the
 * policy `block`, and on a virtual clock where the kind keeps, it waits while the ring is full; otherwise it
 * never waits.
 */
void sf_sink_publish(sf_sink *sink, sf_message *message);

/**
 * The watch path's own entry, by value and with a ring of its own that is served before the other: never
 * waits, allocates or locks, whatever the policy. A trigger that finds the ring full is dropped and counted.
 */
void sf_sink_trigger(sf_sink *sink, const sf_message *trigger);

/**
 * The front thread's own entry: raw spikes and markers for a recorder, by value and with rings of their own,
 * served beside the messages; other kinds pass them over. With `wait` it returns once a recorder had room,
 * which a source that can wait allows; otherwise it never waits, allocates or locks, and what finds no room
 * is lost and counted.
 */
void sf_sink_record(sf_sink *sink, const sf_raw_batch *batch, bool wait);

/**
 * The run is ending: from now on a receiver that takes nothing for five seconds is given up, and what it did
 * not take is dropped and counted. Any thread; frees a publisher that such a receiver blocks.
 */
void sf_sink_ending(sf_sink *sink);

/** The run was told to stop: a pulse that is under way ends now, and of a kind that acts no further trigger
 * with a name goes out. Any thread; safe in a handler of signals. */
void sf_sink_halt(sf_sink *sink);

/** What a sink with a path is called: its kind and the file's own name, without folders. */
void sf_sink_name(char name[SF_STATUS_NAME_SIZE], const char *kind, const char *path);

bool sf_sink_ready(sf_sink *sink); /**< any thread */

/**
 * Any thread. Every message accepted is, once the ring is empty, in exactly one of published, dropped and
 * failed; a failed flush counts as one more failed. `state` and `note` tell of the first failure.
 */
void sf_sink_status_get(sf_sink *sink, sf_sink_status *status);
const char *sf_sink_address(sf_sink *sink);

/** Window thread: what became of the next trigger with a name that was handed over, in order; false where
 * there is no news. Of a kind that acts. */
bool sf_sink_delivered(sf_sink *sink, sf_delivered *next);

/** Any thread: of triggers, or of spikes and markers to record, that were handed over some are not settled
 * yet. */
bool sf_sink_is_busy(sf_sink *sink);

/** The sink as the pipeline takes it, which closes it. */
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
