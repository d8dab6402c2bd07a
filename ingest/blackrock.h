/* SPDX-License-Identifier: Apache-2.0 */
/** Sender that plays a recording as one of Blackrock's systems does. */
#ifndef SF_INGEST_BLACKROCK_H
#define SF_INGEST_BLACKROCK_H

#include "ingest/sending.h"

/**
 * Sends packets of protocol 4.2, with times in ticks, in datagrams to one address, and answers clients'
 * requests at the port before it. A message has two parts, a word and its data:
 * - "about": labels of channels, each ended by a NUL; sent first
 * - "packets": consecutive packets as in decode/cerebus.h
 * - "beat": uint64 time: heartbeat and monitor, which end a datagram
 */
extern const sf_sending_kind sf_sending_blackrock;

#define SF_BLACKROCK_HEADER 16
/** Channels per instrument; the channels of the next instrument count from 1 again. */
#define SF_BLACKROCK_FRONT_END 256
#define SF_BLACKROCK_DIGITAL 279 /**< channel of an instrument's digital input */

/** Writes the header of a packet. */
void sf_blackrock_header(unsigned char header[SF_BLACKROCK_HEADER], uint64_t time, uint32_t channel,
                         uint32_t type, size_t bytes, unsigned instrument);

#endif
