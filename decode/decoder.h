/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decoders turn the bytes that a live system sends into batches of spikes and markers. They do no input
 * themselves: a source feeds them from a socket, a program (synfire/live.h) from anywhere. A protocol is one
 * struct of functions in one file. The host, decoder.c, buffers input until it makes a message or a frame,
 * and passes that to the protocol, which keeps its own state between messages: its run, its sequence numbers,
 * its clock.
 */
#ifndef SF_DECODE_DECODER_H
#define SF_DECODE_DECODER_H

#include "core/part.h"
#include "window/source.h"

#include <synfire/live.h>

#define SF_DECODER_PARTS 8                 /**< of a message, at most */
#define SF_DECODER_MOST_CHANNELS (1 << 20) /**< of a rig: their numbers are less */

typedef struct sf_decoder_kind {
    const char *name;  /**< name of the protocol in sf_decoder_options */
    size_t size;       /**< size of its decoder struct, which begins with sf_decoder; zeroed before the first
                          message */
    size_t most_bytes; /**< maximum length of a message; a longer one does not belong to this protocol */
    /**
     * Decodes one message; a frame of a byte stream is a message of one part. `count` 0: the message was
     * longer than most_bytes or had more parts than SF_DECODER_PARTS, and was discarded. Adds spikes and
     * other results to decoder->batch, whose arrays must stay unchanged until the next call. Unreadable data
     * is reported with sf_decoder_leave_out. Returns SF_OK if the batch is complete and goes out; SF_AGAIN if
     * it is not, or the message held nothing; a negative status ends the use of the decoder.
     */
    int (*decode)(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error);
    int (*open)(sf_decoder *decoder, sf_error *error); /**< may be NULL; options are in `given` */
    /** Called after a batch of `decoder` went out and its counts were reset. May add to the batch, which then
     * goes out next. May be NULL. */
    void (*gave)(sf_decoder *decoder);
    /**
     * For byte streams: determines the length of the frame that begins at `bytes`, from the first `size`
     * bytes. If *whole <= size, it is the length of the frame; otherwise it is the number of bytes needed to
     * ask again. 0: no frame begins here, which was reported with sf_decoder_leave_out; the host then skips
     * to the next occurrence of `magic`. The answer must depend only on the bytes, not on how many follow.
     * NULL: the protocol needs messages.
     */
    int (*measure)(sf_decoder *decoder, const void *bytes, size_t size, size_t *whole, sf_error *error);
    sf_part magic;                      /**< bytes with which every frame begins (with `measure`) */
    void (*close)(sf_decoder *decoder); /**< frees the protocol's own state */
} sf_decoder_kind;

/** Input that is not decoded yet; private to the host. */
typedef struct sf_decoder_input {
    unsigned char *bytes; /**< from .. to of them count */
    size_t capacity, from, to;
    size_t part_ends[SF_DECODER_PARTS], part_count;
    bool too_much;  /**< the message is not kept */
    bool whole;     /**< a complete message waits to be decoded: no more input is accepted */
    bool begun;     /**< was fed before ... */
    bool of_bytes;  /**< ... with a byte stream; otherwise with messages */
    size_t wanted;  /**< number of bytes required before the frame is measured again */
    bool is_astray; /**< looks for the next magic */
} sf_decoder_input;

/** The options for a rig, as its decoder stores them. */
typedef struct sf_decoder_given {
    bool has_units;       /**< `about` has the units from the start; otherwise they are learnt */
    uint32_t *of_channel; /**< unit of each channel number; SF_NO_UNIT: none */
    size_t channels;
    double sample_rate_hz, learn_s;
    char layout[16];  /**< "": to be found out */
    char stream[512]; /**< "": that of the first spike */
} sf_decoder_given;

/** Every decoder begins with this. */
struct sf_decoder {
    const sf_decoder_kind *kind;
    char name[256];                         /**< name of the stream, for messages and the log */
    sf_recording about;                     /**< units, metadata and the stream's own name; valid once ... */
    bool is_known;                          /**< ... they are known */
    bool has_ended;                         /**< in order: nothing follows */
    bool can_wait, virtual_clock, own_pace; /**< as sf_source has them */
    bool has_origin;                        /**< as sf_source has it, and ... */
    int64_t origin_ns;
    sf_decoder_given given;
    bool learns;       /**< becomes known only after learn_s of the stream */
    const char *wants; /**< what must arrive before the stream is known (a literal); NULL: anything */
    bool is_ready;   /**< set by `gave`: the batch that it filled goes out before anything else is decoded */
    bool once_more;  /**< set by `decode` with SF_OK: the same message is to be decoded again */
    sf_batch batch;  /**< next batch; begins empty and zeroed except clock_ns, INT64_MIN */
    char fault[160]; /**< why the last frame since the last batch was left out, or empty */
    char told[160];  /**< the same, of the batch that went out */
    sf_decoder_input input;
};

extern const sf_decoder_kind sf_decoder_synfire;    /**< docs/wire.md */
extern const sf_decoder_kind sf_decoder_open_ephys; /**< docs/rigs.md, as all below */
extern const sf_decoder_kind sf_decoder_event_broadcaster;
extern const sf_decoder_kind sf_decoder_maxwell;
extern const sf_decoder_kind sf_decoder_intan;
extern const sf_decoder_kind sf_decoder_brand;
extern const sf_decoder_kind sf_decoder_trodes;
extern const sf_decoder_kind sf_decoder_lsl;
extern const sf_decoder_kind sf_decoder_blackrock;
extern const sf_decoder_kind sf_decoder_cortical;

/** The kind of a protocol by its name, or NULL. */
const sf_decoder_kind *sf_decoder_find(const char *name);

/** A byte stream broke off, and later input belongs to another one: discards half a frame. */
void sf_decoder_break(sf_decoder *decoder);

/** Counts a message or frame that cannot be read; the text says why. */
void sf_decoder_leave_out(sf_decoder *decoder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** As sf_decoder_take, but returns SF_AGAIN if the batch would hold only counts, which are kept for later. */
int sf_decoder_next(sf_decoder *decoder, sf_batch *batch, sf_error *error);

/** Whether such counts are waiting; sf_decoder_give returns a batch of them. */
bool sf_decoder_has_counts(const sf_decoder *decoder);
void sf_decoder_give(sf_decoder *decoder, sf_batch *batch);

#endif
