/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Do the units of a network fire in the same order in every burst, and which of them keep their place?
 *
 * The order of a burst, by first and last spikes. Of its n backbone units that fire in it, unit u has the
 * rank f of its first spike and the rank l of its last one, both 0 to n - 1, ties at their middle. Its
 * position is d = (f + l) / (n - 1) - 1, from -1 to 1. A unit that fires often fires first and last, so that
 * its rate moves it nowhere. The similarity of two bursts is the cosine of their positions over the units of
 * both: a burst played backwards has -d, and the opposite similarity.
 *
 * By first spikes alone d = 2 f / (n - 1) - 1, and a burst played backwards has that of the last spikes,
 * 1 - 2 l / (n - 1): a fast unit is early either way, so that its rate makes no p. By rate peaks f is the
 * rank of the spike around which the unit fires most beside the network: time is counted in spikes of the
 * whole burst, as the null has it, and the spike is where the unit's own are densest under a Gaussian with a
 * standard deviation of half a window, of one spike at least, cut off at four of these; the middle of the
 * first and the last such where several are. A burst played backwards has -d.
 *
 * Is there a sequence? The null: in each burst all units follow one time course, each at a rate of its own,
 * and a train played backwards along that time course is as likely as it was. Then a coin says
 * which way a burst is played. p is the share of ways, drawn anew for every burst, whose mean similarity of
 * two bursts is at least that of the recording: of all ways where the bursts are few, else of `surrogates`
 * drawings ((1 + k) / (1 + n)).
 *
 * Which units keep their place? Bursts are laid above each other by the other backbone units (the weighted
 * median of how late each is), and a window of `window_ns` is moved to where the unit fires in most bursts.
 * Its null: within each burst its own train, as it is, begins at any other place of the burst, counted in
 * spikes of the whole network; its rate, its intervals and the burst's time course remain. q corrects p among
 * backbone units (Benjamini and Hochberg).
 *
 * There is a sequence where both say so, of three units or more, and where the units that keep their place
 * are in order among themselves: the same test of these alone, at a fifth of alpha, as the same bursts chose
 * them, and a mean similarity of `least_similarity`. Units that are first in any order are none. Together
 * with one that comes late by itself they would be similar by that unit alone: so a quarter of the similarity
 * has to be left without any one of them, of the positions of the others, from their mean in each burst.
 * And a unit that has many other spikes is late by itself among some that lead in any order. So in each burst
 * the spikes of placed units that lie between the first place and the last, half a window around, are dealt
 * anew among these units, each of which has as many as before; its other spikes stay. The similarity has to
 * be higher than such drawings give, p at alpha.
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
    double backbone;       /**< share of the bursts that a backbone unit takes part in */
    uint64_t least_spikes; /**< by which a unit takes part in a burst */
    int64_t window_ns; /**< width of a unit's place; 0: a fiftieth of the median duration, 10 ms at least */
    double least_similarity; /**< of the order of units that keep their place, for a sequence */
    uint64_t surrogates;
    double alpha; /**< p of a sequence, and q of its units, at most */
    uint64_t seed;
} sf_sequence_options;

/** Their rows and their defaults. */
extern const sf_key_table sf_sequence_table;
#define SF_SEQUENCE_OPTIONS (*(const sf_sequence_options *)sf_sequence_table.defaults)

/** Units of a sequence, at least. */
#define SF_SEQUENCE_LEAST 3

/** The order of units that were chosen by the same bursts has to have a p of alpha over this. */
#define SF_SEQUENCE_CHOSEN 5

/** What is left of their similarity without one of them has to be one over this. */
#define SF_SEQUENCE_LEFT 4

/** Bursts up to which all signs are counted. */
#define SF_SEQUENCE_COUNTED 14

typedef struct sf_sequence_unit {
    uint32_t unit;
    uint64_t bursts; /**< that it takes part in */
    double share;    /**< of all; NaN without any */
    double spikes;   /**< in such a burst, mean */
    bool backbone;
    double first_ms; /**< its first spike, from the start of the burst, median */
    double position; /**< mean of d over the bursts; NaN: it is not of the backbone */
    sf_sequence_place place;
    sf_burst_shape shape; /**< NaN: it is not of the backbone */
    bool placed;          /**< q <= alpha */
    bool member;          /**< of a sequence: placed */
    uint64_t order;       /**< of a member, from 1 on by place; else 0 */
} sf_sequence_unit;

/** Zero-initialise. */
typedef struct sf_sequences {
    size_t unit_count, burst_count, backbone, members;
    size_t ordered;    /**< bursts that have an order */
    int64_t window_ns; /**< that places were looked for by */
    sf_sequence_unit *units;
    sf_sequence_burst *bursts;
    int64_t *first_ns;  /**< first spike of unit u in burst b at [u * burst_count + b]; INT64_MIN: none */
    double *similarity; /**< of bursts b and c at [b * burst_count + c]; NaN where one has no order */
    double mean_similarity, p;          /**< NaN of fewer than two ordered bursts */
    size_t placed;                      /**< backbone units whose place has q <= alpha */
    double placed_similarity, placed_p; /**< of the order of these among themselves */
    double without_one; /**< placed_similarity without one of them, the least; NaN of fewer than three */
    double dealt_p;     /**< of their spikes dealt among them; NaN: something else says that there is none */
    bool counted;       /**< p is of all signs */
    bool sequence;      /**< see above; the placed units are its members */
    /* What other events are placed by: how each backbone unit tells each burst's begin (INT64_MIN: it does
     * not), and what it is worth. */
    uint32_t *backbone_units;
    int64_t *told_ns;
    double *worth;
} sf_sequences;

/** Sets q among these places (Benjamini and Hochberg), but of those without a p. SF_NO_MEMORY. */
int sf_sequences_correct(sf_sequence_place **places, size_t count, sf_error *error);

/** Of the spikes that the recording holds, in these bursts. SF_NO_MEMORY; sf_sequences_free whatever
 * happened. */
int sf_sequences_find(sf_sequences *sequences, const sf_recording *recording, const sf_bursts *bursts,
                      const sf_sequence_options *options, sf_error *error);
void sf_sequences_free(sf_sequences *sequences);

/** Whether these times, ascending, keep one place in the bursts, which are laid above each other by all
 * backbone units but `without`. q is not set. `stream` < 2^31 names the random numbers. SF_NO_MEMORY. */
int sf_sequences_place(sf_sequence_place *place, const sf_sequences *sequences, const sf_recording *recording,
                       const int64_t *times_ns, size_t count, const uint32_t *without, size_t without_count,
                       const sf_sequence_options *options, uint64_t stream, sf_error *error);

#endif
