/* SPDX-License-Identifier: Apache-2.0 */
/** Selects one of the streams that a sender multiplexes, each with its own electrodes, sample numbers and
 * rate. */
#ifndef SF_DECODE_CHOSEN_STREAM_H
#define SF_DECODE_CHOSEN_STREAM_H

#include "decode/rig.h"

#define SF_OTHER_STREAMS_TOLD 16 /**< maximum number of other streams that are reported by name */

/** A stream that is not read. */
typedef struct sf_other_stream {
    char name[80]; /**< its beginning */
    uint64_t messages;
} sf_other_stream;

typedef struct sf_chosen_stream {
    bool is_chosen; /**< the stream was given */
    sf_other_stream others[SF_OTHER_STREAMS_TOLD];
    size_t other_count;
} sf_chosen_stream;

void sf_chosen_stream_open(sf_chosen_stream *choice, const sf_decoder *decoder);

/**
 * Whether a message of this stream is to be read: the stream is the one given in the options, else the first
 * stream with a message that `chooses`; the name "" belongs to every stream. Counts messages of other
 * streams, and logs the stream's name at the first, second, fourth, ... of them.
 */
bool sf_chosen_stream_reads(sf_chosen_stream *choice, sf_rig *rig, const char *name, bool chooses);

#endif
