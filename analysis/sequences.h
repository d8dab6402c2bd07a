/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Do the units of a network fire in the same order in every burst, and which units keep their place?
 *
 * Order of a burst, by first and last spikes. Among the n backbone units that fire in the burst, unit u has
 * rank f by its first spike and rank l by its last spike, both 0 to n - 1, ties at their middle. Its position
 * is d = (f + l) / (n - 1) - 1, from -1 to 1. A unit that fires often fires both first and last, so its rate
 * does not move its position. The similarity of two bursts is the cosine of their positions over the units of
 * both; time reversal of a burst gives -d, and the opposite similarity.
 *
 * By first spikes alone d = 2 f / (n - 1) - 1, and time reversal gives the position by last spikes, 1 - 2 l /
 * (n - 1): a fast unit is early either way, so its rate does not produce a small p. By rate peaks f is the
 * rank of the spike around which the unit fires most relative to the network: time is counted in spikes of
 * the whole burst, as the null model does, and the peak is where the unit's own spikes are densest under a
 * Gaussian with a standard deviation of half a window, at least one spike, cut off at four standard
 * deviations; with several peaks the middle between the first and the last. Time reversal gives -d.
 *
 * Is there a sequence? Null model: in each burst all units follow one time course, each with a rate of its
 * own, and a train reversed along that time course is as likely as the train itself. Each burst then has an
 * independent random direction. p is the fraction of direction assignments whose mean similarity between
 * bursts is at least the observed one: over all assignments if there are few bursts, else over `surrogates`
 * drawings ((1 + k) / (1 + n)).
 *
 * Which units keep their place? Bursts are aligned by the other backbone units (the weighted median of their
 * lateness), and a window of `window_ns` is moved to where the unit fires in most bursts. Null model: within
 * each burst the unit's train is rotated to start at a random place of the burst, counted in spikes of the
 * whole network; its rate, its intervals and the time course of the burst are preserved. q corrects p among
 * backbone units (Benjamini and Hochberg).
 *
 * There is a sequence if both tests agree for at least three units, and the units that keep their place are
 * ordered among themselves: the same order test on these units alone, at a fifth of alpha because the same
 * bursts chose them, and a mean similarity of at least `least_similarity`. Two further conditions exclude
 * units without a mutual order. First, several units that fire first in no particular order, together with
 * one that fires late, would be similar because of that one: at least a quarter of the similarity must remain
 * without any one unit, computed from the positions of the others relative to their mean in each burst.
 * Second, a unit with many other spikes appears late among units without an order: in each burst the spikes
 * of placed units between the first place and the last (half a window around) are reassigned at random among
 * these units, each keeping its number of spikes there; its other spikes stay. The similarity must exceed
 * that of such drawings, p at alpha.
 */
#ifndef SF_ANALYSIS_SEQUENCES_H
#define SF_ANALYSIS_SEQUENCES_H

#include "analysis/burst_places.h"
#include "core/keys.h"
#include "mine/bursts.h"

/** What a unit's rank in a burst is of. */
typedef enum sf_sequence_order {
    SF_ORDER_FIRST_LAST,  /**< its first spike and its last one */
    SF_ORDER_FIRST_SPIKE, /**< its first spike */
    SF_ORDER_RATE_PEAK    /**< the spike around which it fires most */
} sf_sequence_order;

extern const char *const sf_sequence_order_names[]; /**< by sf_sequence_order, up to NULL */

typedef struct sf_sequence_options {
    sf_sequence_order order_by;
    double backbone;       /**< minimum fraction of bursts in which a backbone unit takes part */
    uint64_t least_spikes; /**< minimum number of spikes for a unit to take part in a burst */
    int64_t window_ns; /**< width of a unit's place; 0: a fiftieth of the median duration, at least 10 ms */
    double least_similarity; /**< minimum similarity of the placed units' order for a sequence */
    uint64_t surrogates;
    double alpha; /**< maximum p of a sequence, and maximum q of its units */
    uint64_t seed;
} sf_sequence_options;

/** Their rows and their defaults. */
extern const sf_key_table sf_sequence_table;
#define SF_SEQUENCE_OPTIONS (*(const sf_sequence_options *)sf_sequence_table.defaults)

/** Units of a sequence, at least. */
#define SF_SEQUENCE_LEAST 3

/** Divisor of alpha for the order of the placed units, because the same bursts chose these units. */
#define SF_SEQUENCE_CHOSEN 5

/** 1 / (minimum fraction of the similarity that must remain without any one placed unit). */
#define SF_SEQUENCE_LEFT 4

/** Maximum number of bursts for which all direction assignments are enumerated. */
#define SF_SEQUENCE_COUNTED 14

typedef struct sf_sequence_unit {
    uint32_t unit;
    uint64_t bursts; /**< that it takes part in */
    double share;    /**< of all; NaN without any */
    double spikes;   /**< in such a burst, mean */
    bool backbone;
    double first_ms; /**< median time of its first spike from the start of the burst */
    double position; /**< mean of d over the bursts; NaN: not a backbone unit */
    sf_sequence_place place;
    sf_burst_shape shape; /**< NaN: it is not of the backbone */
    bool placed;          /**< q <= alpha */
    bool member;          /**< of a sequence: placed */
    uint64_t order;       /**< rank of a member by place, from 1; else 0 */
} sf_sequence_unit;

/** Zero-initialise. */
typedef struct sf_sequences {
    size_t unit_count, burst_count, backbone, members;
    size_t ordered;    /**< bursts that have an order */
    int64_t window_ns; /**< that places were looked for by */
    sf_sequence_unit *units;
    sf_sequence_burst *bursts;
    int64_t *first_ns;  /**< first spike of unit u in burst b at [u * burst_count + b]; INT64_MIN: none */
    double *similarity; /**< between bursts b and c at [b * burst_count + c]; NaN if one has no order */
    double mean_similarity, p;          /**< NaN of fewer than two ordered bursts */
    size_t placed;                      /**< backbone units whose place has q <= alpha */
    double placed_similarity, placed_p; /**< of the order of the placed units among themselves */
    double without_one; /**< minimum similarity after removing one placed unit; NaN for fewer than three */
    double dealt_p; /**< p of the test that reassigns their spikes; NaN: another condition already excludes a
                       sequence */
    bool counted;   /**< p is of all signs */
    bool sequence;  /**< result, as defined above; its members are the placed units */
    /* For placing other events: the begin of each burst as estimated by each backbone unit (INT64_MIN: no
     * estimate), and the weight of each unit. */
    uint32_t *backbone_units;
    int64_t *told_ns;
    double *worth;
} sf_sequences;

/** Sets q of the places that have a p (Benjamini and Hochberg). SF_NO_MEMORY. */
int sf_sequences_correct(sf_sequence_place **places, size_t count, sf_error *error);

/** Finds sequences in the given bursts; the recording must hold its spikes. SF_NO_MEMORY. Free with
 * sf_sequences_free, also after an error. */
int sf_sequences_find(sf_sequences *sequences, const sf_recording *recording, const sf_bursts *bursts,
                      const sf_sequence_options *options, sf_error *error);
void sf_sequences_free(sf_sequences *sequences);

/** Tests whether events at times_ns (ascending) keep one place in the bursts, which are aligned by all
 * backbone units except `without`. Does not set q. `stream` < 2^31 selects the random numbers. SF_NO_MEMORY.
 */
int sf_sequences_place(sf_sequence_place *place, const sf_sequences *sequences, const sf_recording *recording,
                       const int64_t *times_ns, size_t count, const uint32_t *without, size_t without_count,
                       const sf_sequence_options *options, uint64_t stream, sf_error *error);

#endif
