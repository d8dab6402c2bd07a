/* SPDX-License-Identifier: Apache-2.0 */
/** The CL1's WebSocket, both ends: ws://HOST:PORT, or with a path, else that of its live stream. */
#ifndef SF_INGEST_CORTICAL_H
#define SF_INGEST_CORTICAL_H

#include "ingest/sending.h"
#include "ingest/transport.h"

#define SF_CORTICAL_PATH "/_/ws/live_streaming"
#define SF_CORTICAL_SPIKES "cl_spikes"
#define SF_CORTICAL_STIMS "cl_stims"

typedef struct sf_cortical_place {
    char tcp[280]; /**< tcp://HOST:PORT */
    char host[270], path[256];
} sf_cortical_place;

/** SF_USAGE where the text is no such endpoint. */
int sf_cortical_parse(sf_cortical_place *place, const char *endpoint, sf_error *error);

/** Subscribes to spikes, stimuli and the data streams that `markers` names, "none" or with commas. Messages
 * are as decode/cortical.c has them. */
extern const sf_transport_kind sf_transport_cortical;

/** A server. A message is a stream's name, a text, and where some follow the bytes: they go to those who
 * subscribed to the stream, spikes and stimuli to all who subscribed to these. A message of one part is the
 * text that everybody gets who connects from then on. Who subscribes to spikes counts as a listener. */
extern const sf_sending_kind sf_sending_cortical;

#endif
