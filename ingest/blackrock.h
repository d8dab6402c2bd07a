/* SPDX-License-Identifier: Apache-2.0 */
/** What plays a recording as one of Blackrock's systems does. */
#ifndef SF_INGEST_BLACKROCK_H
#define SF_INGEST_BLACKROCK_H

#include "ingest/sending.h"

/**
 * Sends packets of protocol 4.2, times in ticks, in datagrams to one address, and answers the questions of
 * clients at the port before it. Messages have two parts: a word, and what it is of.
 *   "about"    labels of channels, each ended by a NUL; to be put first
 *   "packets"  packets as decode/cerebus.h has them, one after the other
 *   "beat"     uint64 time: heartbeat and monitor, which end a datagram
 */
extern const sf_sending_kind sf_sending_blackrock;

#define SF_BLACKROCK_HEADER 16
#define SF_BLACKROCK_FRONT_END 256 /**< channels of an instrument; the next ones are numbered anew */
#define SF_BLACKROCK_DIGITAL 279   /**< the channel of the digital input of an instrument with so many */

/** Writes the header of a packet. */
void sf_blackrock_header(unsigned char header[SF_BLACKROCK_HEADER], uint64_t time, uint32_t channel,
                         uint32_t type, size_t bytes, unsigned instrument);

#endif
