/* SPDX-License-Identifier: Apache-2.0 */
/**
 * synfire's own stream protocol, version 1, as bytes; docs/wire.md is the specification. One message is one
 * frame, independent of the transport. Reading trusts nothing: every length, count and unit is checked before
 * it is used.
 *
 * Writing fills `frame` from its beginning; frame->failed reports that memory ran out. Frames are
 * little-endian on every machine. Threads: no state.
 */
#ifndef SF_DECODE_WIRE_H
#define SF_DECODE_WIRE_H

#include "core/recording.h"
#include "core/text.h"

#define SF_WIRE_PROTOCOL 1
#define SF_WIRE_HEADER_SIZE 32
#define SF_WIRE_MOST_METADATA 1000
/** Maximum size of a frame: a million spikes, or some 300,000 units with their names. */
#define SF_WIRE_MOST_BYTES (16u << 20)

typedef enum sf_wire_kind {
    SF_WIRE_HELLO = 1,     /**< the stream and its units */
    SF_WIRE_DATA = 2,      /**< spikes and markers */
    SF_WIRE_HEARTBEAT = 3, /**< nothing but the clock */
    SF_WIRE_END = 4        /**< the run is over; totals */
} sf_wire_kind;

/** What every frame begins with. */
typedef struct sf_wire_header {
    uint16_t version;  /**< set by reading; writing always writes SF_WIRE_PROTOCOL */
    uint16_t kind;     /**< sf_wire_kind; filled in by reading */
    uint64_t run;      /**< random for each start of a sender */
    uint64_t sequence; /**< counts the frames of a run, of every kind, from 0 */
    int64_t clock_ns;  /**< no later spike or marker is before this time; INT64_MIN: no clock */
} sf_wire_header;

/** What is wrong with a frame. */
typedef enum sf_wire_fault {
    SF_WIRE_SOUND = 0,
    SF_WIRE_FOREIGN,  /**< does not begin as a frame of this protocol */
    SF_WIRE_VERSION,  /**< of another version */
    SF_WIRE_KIND,     /**< of an unknown kind */
    SF_WIRE_SHORT,    /**< ends before what it announces */
    SF_WIRE_LONG,     /**< goes on after what it announces */
    SF_WIRE_TABLE,    /**< a text holds a NUL, a unit is of unknown kind, or there is too much metadata */
    SF_WIRE_ORDER,    /**< times go back within the frame */
    SF_WIRE_MARKER,   /**< a marker of an unknown kind */
    SF_WIRE_SEQUENCE, /**< duplicate sequence number; detected by the receiver, not by the codec */
    SF_WIRE_UNITS,    /**< a repeated hello names other units than the first; detected likewise */
    SF_WIRE_MEMORY,   /**< an allocation failed; the frame may be sound */
    SF_WIRE_FAULTS
} sf_wire_fault;

/** A clause for sentences: "is not a frame of this protocol". */
const char *sf_wire_fault_text(sf_wire_fault fault);

#define SF_WIRE_WAITS 1u   /**< the sender waits for slow receivers, so a receiver may block it */
#define SF_WIRE_VIRTUAL 2u /**< as fast as possible: stream time is unrelated to real time */
#define SF_WIRE_PACED 4u   /**< playback: stream time passes faster or slower than real time */

/** What a hello says about a stream, besides its units and metadata. */
typedef struct sf_wire_stream {
    int64_t origin_ns; /**< wall clock (ns since 1970 UTC) at stream time 0; INT64_MIN: unknown, or not in
                          real time */
    uint32_t flags;    /**< SF_WIRE_WAITS | SF_WIRE_VIRTUAL | SF_WIRE_PACED */
} sf_wire_stream;

void sf_wire_put_hello(sf_text *frame, const sf_wire_header *header, const char *name,
                       const sf_wire_stream *stream, const sf_recording *about);
void sf_wire_put_data(sf_text *frame, const sf_wire_header *header, const sf_spike *spikes,
                      size_t spike_count, const sf_marker *markers, size_t marker_count);
void sf_wire_put_heartbeat(sf_text *frame, const sf_wire_header *header);
void sf_wire_put_end(sf_text *frame, const sf_wire_header *header, uint64_t spikes, uint64_t markers);

/** Reads the header. With SF_WIRE_VERSION only the version is filled in. */
sf_wire_fault sf_wire_read_header(sf_wire_header *header, const void *frame, size_t size);

/**
 * For consecutive frames: determines the length of the frame that begins at `bytes`, from the first `size`
 * bytes. If the result is <= size, it is the length of the frame; otherwise it is the number of bytes needed
 * to ask again. 0: no frame begins here, as `fault` says. The answer depends only on the bytes, not on how
 * many more were supplied.
 */
size_t sf_wire_measure(const void *bytes, size_t size, sf_wire_fault *fault);

/**
 * Reads a hello: units and metadata, the stream's name as `path`, "synfire stream 1" as `format`. Free with
 * sf_recording_clear; empty after a fault.
 */
sf_wire_fault sf_wire_read_hello(sf_recording *about, sf_wire_stream *stream, const void *frame, size_t size);

/** Content of a data frame; the arrays are reused from frame to frame. Zero-initialise. */
typedef struct sf_wire_data {
    sf_spike *spikes;
    size_t spike_count, spike_capacity;
    sf_marker *markers;
    size_t marker_count, marker_capacity;
    uint64_t unknown_units; /**< number of spikes left out because their unit is not in the table */
} sf_wire_data;

sf_wire_fault sf_wire_read_data(sf_wire_data *data, size_t unit_count, const void *frame, size_t size);
void sf_wire_data_free(sf_wire_data *data);

sf_wire_fault sf_wire_read_end(uint64_t *spikes, uint64_t *markers, const void *frame, size_t size);

#endif
