/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Negative controls of live tests (Lipsitch 2010): pairs of units drawn by the seed, tested as what is
 * wanted is, in each stretch. Evidence multiplies stretch by stretch, so that a test which is a little wrong
 * of unlinked pairs, time and again, ends in a false finding. Most pairs of units are not linked: if pairs
 * drawn at random stand out, the test is wrong in this stream, and nothing that it says is told.
 *
 * Each stretch is a bet that it is. A control with 0.1 < p <= 0.5 pays 2, one with 0.5 < p <= 0.9 nothing,
 * and any other gives the stake back: the middle of the distribution alone says where its centre is (Efron
 * 2004), and true links and their reverses among the controls lie beyond it. The mean over the controls of a
 * stretch pays at most 1 on average where p are right, so evidence (mine/evidence.h) that they are wrong
 * comes to SF_RANDOM_PAIRS_ALARM in at most one of 20 runs in which they are not. Then it begins anew, as all
 * evidence does.
 */
#ifndef SF_PIPELINE_RANDOM_PAIRS_H
#define SF_PIPELINE_RANDOM_PAIRS_H

#include "mine/evidence.h"

#include <stdbool.h>
#include <synfire/mine.h>

#define SF_RANDOM_PAIRS 40

/** Of fewer units too many pairs would be the tested ones. */
#define SF_RANDOM_PAIRS_LEAST_UNITS 6

#define SF_RANDOM_PAIRS_ALARM 20.0

/** An alarm lasts for so many stretches from the newest on. */
#define SF_RANDOM_PAIRS_ALARM_LASTS 40

/** What controls say. Zeroed: nothing yet. */
typedef struct sf_random_pairs {
    sf_evidence evidence; /**< since the last alarm */
    uint32_t alarmed;     /**< for so many stretches with controls; 0: there is none */
} sf_random_pairs;

/** What the p of a control pays. */
double sf_random_pair_pays(double p);

/** What all controls of a stretch have paid, in the mean of so many; 0 of them: nothing was said. */
void sf_random_pairs_take(sf_random_pairs *controls, double paid, size_t count);

/** How often units fire, in order. */
typedef struct sf_rates {
    uint32_t *order, *place; /**< units by their count, and where each is among them */
    size_t count;            /**< of units; 0: not known yet */
} sf_rates;

/** By the counts of units. SF_NO_MEMORY. */
int sf_rates_rank(sf_rates *rates, const uint32_t *counts, size_t count, sf_error *error);
void sf_rates_free(sf_rates *rates);

/** Which of so many pairs control `index` of a stretch is to be like. */
size_t sf_random_pair_choose(size_t pairs, uint64_t seed, uint64_t stretch, uint64_t index);

/**
 * Draws control `index` of a stretch: a pair of units that fire about as often as those of `like`, with its
 * delay; neither it nor its reverse. False where none is found.
 */
bool sf_random_pair_draw(sf_episode *control, const sf_episode *like, const sf_rates *rates, uint64_t seed,
                         uint64_t stretch, uint64_t index);

#endif
