/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bursts laid above each other, and whether events keep one place in them. docs/sequences.md has the test.
 */
#ifndef SF_ANALYSIS_BURST_PLACES_H
#define SF_ANALYSIS_BURST_PLACES_H

#include "core/recording.h"

/** Whether the events keep one place in the bursts. */
typedef struct sf_sequence_place {
    double place_ms;    /**< mean of the events in the window, from the sequence's begin; NaN: none */
    double jitter_ms;   /**< standard deviation of the events in the window; NaN of fewer than two */
    uint64_t kept;      /**< bursts with an event in the window */
    double kept_chance; /**< mean of the drawings */
    double p, q;        /**< NaN: not tested */
} sf_sequence_place;

typedef struct sf_sequence_burst {
    sf_span span;
    size_t first_spike, spikes; /**< among those of the recording */
    uint64_t units;             /**< of the backbone that take part */
    double mean_similarity;     /**< with the mean of all other bursts' positions; NaN: it has no order */
    int64_t begin_ns;           /**< of the sequence: where the first place lies; as near as its units tell */
    uint64_t kept;              /**< placed units that fire there */
} sf_sequence_burst;

/** Events within bursts, a burst after the other: the burst of each, and its rank among the spikes of that.
 */
typedef struct sf_burst_train {
    const uint32_t *bursts, *ranks;
    size_t count;
} sf_burst_train;

/** What places are found by; all borrowed. */
typedef struct sf_burst_frame {
    const sf_spike *spikes; /**< of the recording */
    const sf_sequence_burst *bursts;
    size_t burst_count;
    int64_t window_ns;
    uint64_t surrogates, seed;
} sf_burst_frame;

/** Cells of a scan's window. */
#define SF_PLACE_CELLS 20

/** Room for scans; zero-initialise, and free `steps` with sf_free. */
typedef struct sf_place_scan {
    int32_t *steps;
    size_t capacity;
} sf_place_scan;

/** Bursts in which an event lies in the window [first, first + width), where these are most; the middle of
 * the places where they are. Each event moved on by `moved[burst]` ranks, round the burst; NULL: as it is.
 * Times are from `zero_ns` of each burst on. */
typedef struct sf_best_place {
    uint64_t kept;
    int64_t middle_ns;
} sf_best_place;
int sf_burst_place_find(sf_best_place *best, sf_place_scan *scan, const sf_burst_frame *frame,
                        const sf_burst_train *train, const int64_t *zero_ns, const uint32_t *moved,
                        sf_error *error);

/** Tests the train's place; `stream` names its random numbers. All of *place but q. */
int sf_burst_place_test(sf_sequence_place *place, const sf_burst_frame *frame, const sf_burst_train *train,
                        const int64_t *zero_ns, uint64_t stream, sf_error *error);

/**
 * How alike the train's time courses in two bursts are: the mean cosine, over all pairs of bursts with an
 * event, of its events there under exponentials that decay with the window's width (van Rossum, Neural Comput
 * 13, 2001, doi:10.1162/089976601300014321; the mean over pairs after Schreiber et al., Neurocomputing 52,
 * 2003, doi:10.1016/S0925-2312(02)00838-X). 1: all at the same times, 0: none near another. NaN of fewer than
 * two such bursts.
 */
typedef struct sf_burst_shape {
    double shape;
    double chance; /**< the same of trains moved round the burst, the mean of SF_SHAPE_DRAWINGS */
} sf_burst_shape;

#define SF_SHAPE_DRAWINGS 20

/** Moved as by sf_burst_place_test of the same `stream`. SF_NO_MEMORY. */
int sf_burst_shape_find(sf_burst_shape *shape, const sf_burst_frame *frame, const sf_burst_train *train,
                        const int64_t *zero_ns, uint64_t stream, sf_error *error);

/** The event of a burst that lies nearest to the place, from there; false: none lies in the window. `next`
 * is that of the burst's first event, and is moved behind its last. */
bool sf_burst_place_nearest(int64_t *off_ns, const sf_burst_frame *frame, const sf_burst_train *train,
                            size_t *next, size_t burst, int64_t zero_ns, int64_t middle_ns);

/** How late each of `count` trains is in each burst by its own place, and what it is worth. */
typedef struct sf_lateness {
    size_t count, burst_count;
    int64_t *late_ns; /**< [train * burst_count + burst]; INT64_MIN: not known */
    double *weight;   /**< of each train */
} sf_lateness;

/** zero_ns[train * burst_count + burst]: the weighted median of how late the others are; where none is known
 * it stays. `one_ns`, if not NULL: by burst, of all of them. SF_NO_MEMORY. */
int sf_burst_zero(int64_t *zero_ns, int64_t *one_ns, const sf_lateness *late, sf_error *error);

#endif
