/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Surrogates whose spikes look at their neighbours, so that a train is moved as one. Both keep the number and
 * the order of a train's spikes, and its dead time: the shortest interval of the train, at most 4 ms. No
 * spike moves further than `width_ns` of the rule.
 *
 *   dither     uniform dithering with dead time (Stella, Bouss, Palm and Gruen 2022, eNeuro
 *              9.3.0505-21.2022): spikes move one after the other, in an order drawn anew for each train and
 *              surrogate. Each goes to any place within width_ns of where it was, equally likely, but not
 *              nearer to its neighbours than the dead time, be they moved or still to move. The order is that
 *              of a random number of each spike.
 *   joint-isi  joint-ISI dithering (Gerstein 2004, Acta Neurobiol Exp 64, 203; Louis, Gerstein, Gruen and
 *              Diesmann 2010, Front Comput Neurosci 4, 127): how often each interval is followed by each
 *              other is counted in bins of 1 ms up to 100 ms, and smoothed by a Gaussian of 2 ms above the
 *              dead time (8 times by 1 2 1 in both directions, in integers). A spike moves by whole bins; the
 *              place is drawn by how often the intervals to both neighbours, whose sum stays, follow each
 *              other. Where they last 100 ms or more together, it is dithered as above. First every second
 *              spike moves, then the others; the first and the last spike stay, and so do trains of fewer
 *              than three.
 *
 * Times are ns since time 0 of the rule, ascending; random numbers are those of core/backend/surrogate.h:
 * part `number` of the train. Integers only.
 */
#ifndef SF_MINE_DITHER_H
#define SF_MINE_DITHER_H

#include "core/backend/surrogate.h"

#include <stdbool.h>
#include <stddef.h>

/** What a train is moved by, the same in all surrogates. */
typedef struct sf_dither {
    int64_t dead_ns;
    /** joint-isi, of 3 spikes or more: of each sum of two bins the weights up to each first */
    uint64_t *sums;
} sf_dither;

/** Whether trains of that kind are moved here, and not spike by spike. */
static inline bool sf_is_dither(sf_surrogate_kind kind)
{
    return kind == SF_SURROGATE_DITHER || kind == SF_SURROGATE_JOINT_ISI;
}

/** SF_NO_MEMORY. */
int sf_dither_open(sf_dither *dither, sf_surrogate_kind kind, const int64_t *times, size_t count);
void sf_dither_close(sf_dither *dither); /**< a zeroed object is allowed */

/** Moves the train that it was opened with: count times, ascending, into `moved`. */
void sf_dither_train(int64_t *moved, const sf_dither *dither, const sf_surrogate_rule *rule,
                     uint32_t surrogate, uint32_t train, const int64_t *times, size_t count);

#endif
