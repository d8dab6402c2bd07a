/* SPDX-License-Identifier: Apache-2.0 */
/** Of the streams that one sender has, each with its own electrodes, samples and rate, one is read. */
#ifndef SF_DECODE_CHOSEN_STREAM_H
#define SF_DECODE_CHOSEN_STREAM_H

#include "decode/rig.h"

#define SF_OTHER_STREAMS_TOLD 16 /**< of the others that are told of by name */

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
 * True where a message of this stream is read: of the one that was given, else of the first that `chooses`;
 * "" is of any. The others are counted, and told of by name, the first, second, fourth ... time.
 */
bool sf_chosen_stream_reads(sf_chosen_stream *choice, sf_rig *rig, const char *name, bool chooses);

#endif
