/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A source of spikes, live or replayed: one struct of functions per kind. The pipeline gives each its own
 * thread, which calls `read` until the end.
 */
#ifndef SF_WINDOW_SOURCE_H
#define SF_WINDOW_SOURCE_H

#include "core/keys.h"
#include "core/progress.h"
#include "core/recording.h"
#include "core/ring.h"

/** Valid until the next read of the same source. Spikes and markers are each in time order within a batch. */
typedef struct sf_batch {
    const sf_spike *spikes;
    size_t spike_count;
    const sf_marker *markers;
    size_t marker_count;
    int64_t clock_ns;   /**< the source's clock: it promises nothing earlier than this from now on; INT64_MIN:
                           none */
    int64_t arrival_ns; /**< monotonic clock at arrival */
    uint64_t gaps;      /**< breaks in the sequence numbers found with this batch */
    uint64_t gap_lost;  /**< batches lost in them */
    uint64_t malformed; /**< frames that could not be read, before this batch */
    uint64_t out_of_range;  /**< spikes of unknown units, left out of this batch */
    uint64_t other_streams; /**< what came of streams of the sender that are not read, before this batch */
    uint64_t restarts; /**< new runs of the sender that begin with this batch: its clock may be set back */
    bool heard;        /**< a live source: its sender sent this; not so where it only tells of faults */
    bool has_totals;   /**< the sender's account of its run came, and less arrived by: */
    int64_t missing_spikes, missing_markers;
    bool joins;      /**< times are of another epoch from this batch on, where base_ns ... */
    int64_t base_ns; /**< ... is to be where the stream is; set by window/continuity.h, not by sources */
    bool tells_due;  /**< a spike was due, by the monotonic clock, at its time and ... */
    int64_t due_offset_ns; /**< ... this; set by pipeline/feeder.h (window/due.h), not by sources */
} sf_batch;

typedef enum sf_read_result {
    SF_READ_BATCH = 1,   /**< the batch is filled; it may hold nothing but a clock */
    SF_READ_NOTHING = 0, /**< nothing within the timeout */
    SF_READ_END = 2      /**< the stream ended in order; nothing follows */
} sf_read_result;

typedef struct sf_source sf_source;

/** What is set of every source; a kind's own settings begin with it. */
typedef struct sf_source_settings {
    uint32_t ring; /**< spikes between the source and the merge */
    sf_ring_policy policy;
    /** one more than the line of TTL pulses that sources share; 0: none (window/pulses.h) */
    uint32_t pulses;
} sf_source_settings;

typedef struct sf_source_kind {
    sf_key_kind settings; /**< its name, as "replay" or "zmq", its keys and their defaults */
    bool is_live;         /**< its sender may fall silent */
    unsigned descriptors; /**< files and sockets that one takes at most */
    /** `kind` is this one. Of the settings and the files that they name, which are read; who sends is not
     * asked, and nothing is bound: what a configuration is checked by. Settings are borrowed until close.
     * What a key is the cause of has it for its place. NULL: a kind that no configuration names. */
    int (*open)(sf_source **out, const struct sf_source_kind *kind, const sf_source_settings *settings,
                sf_error *error);
    /** Once, before the first read: meets who sends, and waits for the unit table; progress (NULL is allowed)
     * may end that. Where it fails the source is still to be closed. NULL: open knew all. */
    int (*begin)(sf_source *source, const sf_progress *progress, sf_error *error);
    /** Waits at most timeout_ms. Returns an sf_read_result, or a negative sf_status after which it is closed.
     */
    int (*read)(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error);
    void (*close)(sf_source *source); /**< frees the source; called once its thread has ended */
    /** A live source: whether there is a connection to its sender. The thread that reads. */
    bool (*connected)(sf_source *source);
} sf_source_kind;

/** Every source begins with this. */
struct sf_source {
    const sf_source_kind *kind;
    char name[SF_STATUS_NAME_SIZE]; /**< for status: the recording's file name or the endpoint */
    const char *authentication;     /**< of sf_source_status */
    sf_units units;                 /**< known once it has begun */
    const sf_recording *origin;     /**< metadata for outputs, or NULL; valid while the source is open */
    bool can_wait;                  /**< the policy `block` is allowed; before it has begun: it may be */
    bool virtual_clock;             /**< as fast as possible: time is what the stream says */
    bool own_pace;                  /**< a recording that is played faster or slower than real time */
    bool has_origin;                /**< of the present run, its sender tells when stream time 0 was: */
    int64_t origin_ns;              /**< ... wall clock since 1970; both are set by the thread that reads */
    int64_t patience_ns;            /**< a live source whose sender is silent for so long is lost */
};

static inline int sf_source_begin(sf_source *source, const sf_progress *progress, sf_error *error)
{
    return source->kind->begin != NULL ? source->kind->begin(source, progress, error) : SF_OK;
}

#endif
