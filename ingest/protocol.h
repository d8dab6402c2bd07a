/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of protocols: what a configuration names as a source, what `synfire play` sends, and what
 * docs/rigs.md lists. A row is one file; it says how bytes come, what makes spikes of them, and what sends
 * the like.
 */
#ifndef SF_INGEST_PROTOCOL_H
#define SF_INGEST_PROTOCOL_H

#include "ingest/sender.h"
#include "ingest/transport.h"
#include "io/electrodes.h"

/** What a configuration says of a live source; a protocol has the keys that mean something to it. */
typedef struct sf_live_settings {
    sf_source_settings common;
    const char *endpoint;
    double timeout_s;
    const char *electrodes; /**< "learn", "array" where the protocol has one, or a file (io/electrodes.h) */
    double learn_s, sample_rate_hz;
    const char *request; /**< "auto", "off", or an endpoint */
    const char *device;  /**< "any", or the address that datagrams must come from */
    uint32_t layout;     /**< of sf_protocol.layouts */
    const char *topic, *field, *time_field, *sample_field;
    const char *markers;          /**< "none", or an endpoint */
    const char *key, *server_key; /**< of sf_curve_client; rigs have none */
} sf_live_settings;

/** Rows of keys that protocols share. */
#define SF_LIVE_TEXT(NAME, MEMBER, WHAT)                                                                     \
    {                                                                                                        \
        .name = NAME, .type = SF_KEY_TEXT, .offset = offsetof(sf_live_settings, MEMBER), .what = WHAT        \
    }
#define SF_LIVE_REAL(NAME, MEMBER, LEAST, MOST, WHAT)                                                        \
    {                                                                                                        \
        .name = NAME, .type = SF_KEY_REAL, .offset = offsetof(sf_live_settings, MEMBER), .least = LEAST,     \
        .most = MOST, .what = WHAT                                                                           \
    }
#define SF_LIVE_ENDPOINT(WHAT)                                                                               \
    SF_LIVE_TEXT("endpoint", endpoint, WHAT),                                                                \
        SF_LIVE_REAL("timeout_s", timeout_s, 0.001, 86400,                                                   \
                     "how long to wait for what tells the units; a sender that is silent for longer is "     \
                     "lost; after as long again without a connection a run of lost sources alone ends")
#define SF_LIVE_ELECTRODES(WHAT)                                                                             \
    SF_LIVE_TEXT("electrodes", electrodes, WHAT),                                                            \
        SF_LIVE_REAL("learn_s", learn_s, 0.001, 86400, "where they are learnt")
#define SF_LIVE_ANY_ELECTRODES                                                                               \
    SF_LIVE_ELECTRODES("learn: those that fire in the first learn_s; or a file: probeinterface, MaxLab's "   \
                       ".cfg, Blackrock's .cmp, or name,x,y")
#define SF_LIVE_LAYOUT(NAME, LAYOUTS, WHAT)                                                                  \
    {                                                                                                        \
        .name = NAME, .type = SF_KEY_CHOICE, .offset = offsetof(sf_live_settings, layout), .words = LAYOUTS, \
        .what = WHAT                                                                                         \
    }

typedef struct sf_protocol {
    sf_source_kind source; /**< first: a configuration's kind of source is its protocol */
    const char *name;      /**< of its decoder too: as `play --protocol` and sf_decoder_options have it */
    const char *system;    /**< what speaks it, for people */
    const sf_transport_kind *transport;
    const sf_sender_protocol *sender; /**< what plays it */
    const char *const *layouts;       /**< by sf_live_settings.layout; NULL: there is one */
    const sf_part *questions;         /**< as sf_transport_settings has them */
    int queue;                        /**< messages that may wait for this program */
    bool may_wait;                    /**< some senders wait for this program: the policy `block` */
    /** Fills in the electrodes of the array that all of these systems have; NULL: they differ. */
    int (*array)(sf_electrodes *array, sf_error *error);
    const char *start;      /**< what to do where no stream came: a format for the endpoint */
    const char *refused;    /**< what to press where nothing listens there; NULL: as `start` */
    const char *silent;     /**< and where it is reached and sends nothing */
    uint32_t written;       /**< samples that the rig sends at once by default; 0: as they come */
    const char *written_by; /**< its setting that says so */
} sf_protocol;

extern const sf_protocol sf_protocol_synfire, sf_protocol_open_ephys, sf_protocol_event_broadcaster,
    sf_protocol_maxwell, sf_protocol_intan, sf_protocol_brand, sf_protocol_trodes, sf_protocol_lsl,
    sf_protocol_blackrock, sf_protocol_cortical;

/** All of them, and NULL at the end. */
extern const sf_protocol *const sf_protocols[];

/** A protocol by its name, or NULL; SF_USAGE with all names. */
int sf_protocol_find(const sf_protocol **protocol, const char *name, sf_error *error);

#endif
