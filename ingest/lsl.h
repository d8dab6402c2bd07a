/* SPDX-License-Identifier: Apache-2.0 */
/** Streams of Lab Streaming Layer, named by lsl://PROPERTY=VALUE. */
#ifndef SF_INGEST_LSL_H
#define SF_INGEST_LSL_H

#include "ingest/sending.h"
#include "ingest/transport.h"
#include "io/lsl.h"

/** The property by which streams are selected, such as "name", "type", "source_id" or "hostname". */
typedef struct sf_lsl_query {
    char property[64], value[192];
} sf_lsl_query;

/** SF_USAGE where the text is none. */
int sf_lsl_parse(sf_lsl_query *query, const char *endpoint, sf_error *error);

extern const sf_transport_kind sf_transport_lsl; /**< inlets; messages are as listed in decode/lsl.c */
extern const sf_sending_kind sf_sending_lsl;     /**< outlets, of the same messages */

#endif
