/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decoders: what a live system sends, as bytes, becomes batches of spikes and markers. How the bytes come is
 * not known here; a source has the socket, a program (synfire/live.h) whatever it likes. A protocol is one
 * struct of functions and one file. The host, decoder.c, keeps what was fed until it makes a message or a
 * frame, and hands that to the protocol; the protocol keeps what it must know from one to the next: its run,
 * its numbers, its clock.
 */
#ifndef SF_DECODE_DECODER_H
#define SF_DECODE_DECODER_H

#include "core/part.h"
#include "window/source.h"

#include <synfire/live.h>

#define SF_DECODER_PARTS 8                 /**< of a message, at most */
#define SF_DECODER_MOST_CHANNELS (1 << 20) /**< of a rig: their numbers are less */

typedef struct sf_decoder_kind {
    const char *name;  /**< of the protocol, as sf_decoder_options names it */
    size_t size;       /**< of its decoder, which begins with sf_decoder; zeroed before the first message */
    size_t most_bytes; /**< of a message: a longer one is none of this protocol */
    /**
     * Decodes one message; a frame of a stream of bytes is a message of one part. `count` 0: it was longer
     * than most_bytes or had more parts than SF_DECODER_PARTS, and was not kept. Spikes and what else there
     * is to tell go into decoder->batch; its arrays stay as they are until the next call. SF_OK: the batch is
     * complete and goes out; SF_AGAIN: it is not, or the message held nothing; what cannot be read is left
     * out by sf_decoder_leave_out. A negative status ends the decoder's use.
     */
    int (*decode)(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error);
    int (*open)(sf_decoder *decoder, sf_error *error); /**< may be NULL; options are in `given` */
    /** A batch of `decoder` went out, and its counts are zero again; more may be put there, and goes out
     * next. May be NULL. */
    void (*gave)(sf_decoder *decoder);
    /**
     * A stream of bytes: how long the frame is that begins here, as far as `size` bytes tell. Once *whole is
     * no more than `size`, it is the whole frame; before, it is how many must be there to ask again. 0: no
     * frame begins here, and that was told by sf_decoder_leave_out; the host then goes on to where the bytes
     * of `magic` are next. An answer depends on the bytes alone, not on how many more are there. NULL: the
     * protocol needs messages.
     */
    int (*measure)(sf_decoder *decoder, const void *bytes, size_t size, size_t *whole, sf_error *error);
    sf_part magic;                      /**< of `measure`: what every frame begins with */
    void (*close)(sf_decoder *decoder); /**< frees what the protocol has of its own */
} sf_decoder_kind;

/** What was fed and is not decoded yet; the host's own. */
typedef struct sf_decoder_input {
    unsigned char *bytes; /**< from .. to of them count */
    size_t capacity, from, to;
    size_t part_ends[SF_DECODER_PARTS], part_count;
    bool too_much;  /**< the message is not kept */
    bool whole;     /**< there is something to decode: nothing more may be fed */
    bool begun;     /**< was fed before ... */
    bool of_bytes;  /**< ... with a stream of bytes; else with messages */
    size_t wanted;  /**< bytes that a frame needs before it is looked at again */
    bool is_astray; /**< looks for the next magic */
} sf_decoder_input;

/** What the options say of a rig, as its decoder keeps it. */
typedef struct sf_decoder_given {
    bool has_units;       /**< `about` has them from the start; else they are learnt */
    uint32_t *of_channel; /**< the unit of each number; SF_NO_UNIT: none */
    size_t channels;
    double sample_rate_hz, learn_s;
    char layout[16];  /**< "": to be found out */
    char stream[512]; /**< "": that of the first spike */
} sf_decoder_given;

/** Every decoder begins with this. */
struct sf_decoder {
    const sf_decoder_kind *kind;
    char name[256];                         /**< of the stream, for sentences and the log */
    sf_recording about;                     /**< units, metadata and the stream's own name, once ... */
    bool is_known;                          /**< ... they are known */
    bool has_ended;                         /**< in order: nothing follows */
    bool can_wait, virtual_clock, own_pace; /**< as sf_source has them */
    bool has_origin;                        /**< as sf_source has it, and ... */
    int64_t origin_ns;
    sf_decoder_given given;
    bool learns;       /**< becomes known only after learn_s of the stream */
    const char *wants; /**< not known yet: what must come before it is, a literal; NULL: anything */
    bool is_ready;     /**< set by `gave`: what it put there goes out before anything else is decoded */
    bool once_more;    /**< set by `decode` beside SF_OK: what it was given is to be decoded again */
    sf_batch batch;    /**< what is told next; begins empty, and zeroed but for clock_ns, INT64_MIN */
    char fault[160];   /**< the last frame that was left out since the last batch: a sentence, or empty */
    char told[160];    /**< the same, of the batch that went out */
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

/** A protocol's kind by its name, or NULL. */
const sf_decoder_kind *sf_decoder_find(const char *name);

/** A stream of bytes broke off, and what is fed next is another one: half a frame is left out. */
void sf_decoder_break(sf_decoder *decoder);

/** Counts a message or frame that cannot be read; the sentence says why. */
void sf_decoder_leave_out(sf_decoder *decoder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** As sf_decoder_take, but it says SF_AGAIN where all there is to tell are counts; they stay for later. */
int sf_decoder_next(sf_decoder *decoder, sf_batch *batch, sf_error *error);

/** Whether there are such counts, and a batch of them. */
bool sf_decoder_has_counts(const sf_decoder *decoder);
void sf_decoder_give(sf_decoder *decoder, sf_batch *batch);

#endif
