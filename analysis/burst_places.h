/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Aligns network bursts with each other and tests whether events (a unit's spikes, a chain's occurrences)
 * keep one place in them. docs/sequences.md describes the test.
 */
#ifndef SF_ANALYSIS_BURST_PLACES_H
#define SF_ANALYSIS_BURST_PLACES_H

#include "core/recording.h"

/** Whether the events keep one place in the bursts. */
typedef struct sf_sequence_place {
    /** mean time of the events in the window, relative to the sequence's begin; NaN: none */
    double place_ms;
    double jitter_ms;   /**< standard deviation of the events in the window; NaN for fewer than two */
    uint64_t kept;      /**< bursts with an event in the window */
    double kept_chance; /**< mean of the drawings */
    double p, q;        /**< NaN: not tested */
} sf_sequence_place;

typedef struct sf_sequence_burst {
    sf_span span;
    size_t first_spike, spikes; /**< among those of the recording */
    uint64_t units;             /**< of the backbone that take part */
    double mean_similarity;     /**< similarity to the mean of all other bursts' positions; NaN: no order */
    int64_t begin_ns; /**< begin of the sequence in this burst: time of its first place, as estimated from the
                         burst's units */
    uint64_t kept;    /**< placed units that fire there */
} sf_sequence_burst;

/** Events within bursts, ordered by burst: each event's burst, and its rank among the spikes of that burst.
 */
typedef struct sf_burst_train {
    const uint32_t *bursts, *ranks;
    size_t count;
} sf_burst_train;

/** Bursts, spikes and settings of a place test; all pointers are borrowed. */
typedef struct sf_burst_frame {
    const sf_spike *spikes; /**< of the recording */
    const sf_sequence_burst *bursts;
    size_t burst_count;
    int64_t window_ns;
    uint64_t surrogates, seed;
} sf_burst_frame;

/** Cells of a scan's window. */
#define SF_PLACE_CELLS 20

/** Scratch memory for scans; zero-initialise, and free `steps` with sf_free. */
typedef struct sf_place_scan {
    int32_t *steps;
    size_t capacity;
} sf_place_scan;

/** Finds the window [first, first + width) that contains an event in the most bursts; middle_ns is the middle
 * of the positions that reach this maximum. moved[burst] rotates the burst's events by that many ranks within
 * the burst (NULL: no rotation). Times are relative to zero_ns[burst]. */
typedef struct sf_best_place {
    uint64_t kept;
    int64_t middle_ns;
} sf_best_place;
int sf_burst_place_find(sf_best_place *best, sf_place_scan *scan, const sf_burst_frame *frame,
                        const sf_burst_train *train, const int64_t *zero_ns, const uint32_t *moved,
                        sf_error *error);

/** Tests the place of the train; `stream` selects the random numbers. Fills all of *place except q. */
int sf_burst_place_test(sf_sequence_place *place, const sf_burst_frame *frame, const sf_burst_train *train,
                        const int64_t *zero_ns, uint64_t stream, sf_error *error);

/**
 * Similarity of the train's time courses in different bursts: the mean cosine over all pairs of bursts with
 * an event, each event convolved with an exponential that decays with the width of the window (van Rossum,
 * Neural Comput 13, 2001, doi:10.1162/089976601300014321; the mean over pairs after Schreiber et al.,
 * Neurocomputing 52, 2003, doi:10.1016/S0925-2312(02)00838-X). 1: all events at the same times, 0: none near
 * another. NaN for fewer than two such bursts.
 */
typedef struct sf_burst_shape {
    double shape;
    double chance; /**< mean of the same measure over SF_SHAPE_DRAWINGS rotated trains */
} sf_burst_shape;

#define SF_SHAPE_DRAWINGS 20

/** Rotates the trains as sf_burst_place_test does for the same `stream`. SF_NO_MEMORY. */
int sf_burst_shape_find(sf_burst_shape *shape, const sf_burst_frame *frame, const sf_burst_train *train,
                        const int64_t *zero_ns, uint64_t stream, sf_error *error);

/** Sets *off_ns to the offset from the place of the burst's nearest event; false: no event lies in the
 * window. *next is the index of the burst's first event, and is advanced past its last. */
bool sf_burst_place_nearest(int64_t *off_ns, const sf_burst_frame *frame, const sf_burst_train *train,
                            size_t *next, size_t burst, int64_t zero_ns, int64_t middle_ns);

/** Lateness of each of `count` trains in each burst relative to its own place, and the weight of each train.
 */
typedef struct sf_lateness {
    size_t count, burst_count;
    int64_t *late_ns; /**< [train * burst_count + burst]; INT64_MIN: not known */
    double *weight;   /**< of each train */
} sf_lateness;

/** Computes zero_ns[train * burst_count + burst], the weighted median lateness of the other trains; leaves
 * the value unchanged where no lateness is known. `one_ns` (or NULL) receives, per burst, the median of all
 * trains. SF_NO_MEMORY. */
int sf_burst_zero(int64_t *zero_ns, int64_t *one_ns, const sf_lateness *late, sf_error *error);

#endif
