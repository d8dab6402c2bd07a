/* SPDX-License-Identifier: Apache-2.0 */
/** Both ends of the CL1's WebSocket: ws://HOST:PORT with an optional path, by default that of its live
 * stream. */
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

/** SF_USAGE if the text is not such an endpoint. */
int sf_cortical_parse(sf_cortical_place *place, const char *endpoint, sf_error *error);

/** Client. Subscribes to spikes, stimuli and the data streams that `markers` lists, separated by commas, or
 * "none". Messages are as in decode/cortical.c. */
extern const sf_transport_kind sf_transport_cortical;

/** Server. A message is the name of a stream, a text and, optionally, bytes; it goes to the clients that
 * subscribe to the stream, spikes and stimuli to those that subscribe to them. A message of one part is the
 * text that every client receives when it connects from then on. A client that subscribes to spikes counts as
 * a listener. */
extern const sf_sending_kind sf_sending_cortical;

#endif
