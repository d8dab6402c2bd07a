/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A family of jobs of backends: the counts of all pairs in a window that slides, which stay on the device.
 * What they are and how they move along is told at window/pair_counts.h; window/pairs_there.h is the caller's
 * side.
 */
#ifndef SF_CORE_BACKEND_PAIRS_H
#define SF_CORE_BACKEND_PAIRS_H

#include "core/backend/episodes.h"
#include "core/backend/tracks.h"

typedef struct sf_backend_pairs sf_backend_pairs;

/** A pair that reaches the threshold. */
typedef struct sf_backend_pair {
    uint32_t from, to, delay, count;
} sf_backend_pair;

struct sf_backend_pair_counting {
    /** An empty window. self: a unit may follow itself. */
    int (*open)(sf_backend_pairs **pairs, sf_backend_device *device, uint32_t unit_count,
                const sf_delay *delays, uint32_t delay_count, bool self, sf_error *error);
    void (*close)(sf_backend_pairs *pairs); /**< NULL is allowed */
    /** The spikes of a segment come to the window, whose spikes as far as the longest delay reaches back come
     * before it in the stream, and no others. */
    int (*enter)(sf_backend_pairs *pairs, sf_backend_stream *stream, const sf_backend_segment *segment,
                 sf_error *error);
    /**
     * The stream's spikes before the segment go; the segment is what stays of the window, as far as the
     * longest delay at least. *left: of so many pairs that is not enough to tell their counts, which are as
     * before then. `rest`: the call before left some, of the same window, and those alone are looked at.
     * Where `whole` all of the window is there, and none is left.
     */
    int (*leave)(sf_backend_pairs *pairs, sf_backend_stream *stream, const sf_backend_segment *segment,
                 bool rest, bool whole, uint64_t *left, sf_error *error);
    /** Fills in pairs with a count of `least`, 1 or more, in no order; *count is how many there are: those
     * beyond `most` are not filled in. */
    int (*find)(sf_backend_pairs *pairs, uint32_t least, sf_backend_pair *found, uint64_t most,
                uint64_t *count, sf_error *error);
};

#endif
